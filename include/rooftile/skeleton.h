/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_SKELETON_H
#define ROOFTILE_SKELETON_H

#include "rooftile/base.h"

/* The beginning of a comment that asks for what only the author knows, and who removes it when it is filled in. */
#define SKELETON_ASKS "to fill in: "

struct codeobj_kernel;

/* One launch that was seen. An argument is a buffer (elements above 0), a value, bytes (of a struct), or null. */
struct seen_argument {
    const char *dtype; /* of a buffer; "" unknown: bytes */
    uint64_t elements;
    const char *value;          /* NULL: none */
    const unsigned char *bytes; /* size_bytes of the code object's argument; NULL: none */
};
struct seen_launch {
    const char *name, *summary; /* of the manifest */
    uint64_t grid[3], block[3], shared_bytes;
    const struct seen_argument *args; /* as many as the kernel has explicit ones */
};

/* The text of a manifest for a kernel of the code object at `path`, which the manifest names as `image`: arguments from
 * the metadata, and from what Triton wrote beside the file (the .json, and the .ttir for types). It can be read and
 * planned as it is; comments say what to fill in. */
const char *skeleton_write(const char *image, const char *path, const struct codeobj_kernel *kernel,
                           struct arena *arena);

/* The same where a launch of it was seen: it has that launch's sizes and runs as it is. */
const char *skeleton_of_launch(const char *image, const char *path, const struct codeobj_kernel *kernel,
                               const struct seen_launch *seen, struct arena *arena);

#endif
