/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_SKELETON_H
#define ROOFTILE_SKELETON_H

#include "rooftile/base.h"

/* Prefix of a comment that asks for facts that only the author knows. The author removes it after filling them in. */
#define SKELETON_ASKS "to fill in: "

struct codeobj_kernel;

/* An observed launch. An argument is a buffer (elements above 0), a value, bytes (of a struct), or null. */
struct seen_argument {
    const char *dtype; /* of a buffer; "" unknown: bytes */
    uint64_t elements;
    const char *value;          /* NULL: none */
    const unsigned char *bytes; /* size_bytes of the code object's argument; NULL: none */
};
struct seen_launch {
    const char *name, *summary; /* of the manifest */
    uint64_t grid[3], block[3], shared_bytes;
    const struct seen_argument *args; /* one per explicit argument of the kernel */
};

/* Returns the text of a manifest for a kernel of the code object at `path`, which the manifest names as `image`.
 * Arguments come from the metadata and from Triton's files next to it (the .json, and the .ttir for types). The
 * manifest can be read and planned unchanged; comments say what to fill in. */
const char *skeleton_write(const char *image, const char *path, const struct codeobj_kernel *kernel,
                           struct arena *arena);

/* The same for an observed launch: the manifest has the launch's sizes and can be run unchanged. */
const char *skeleton_of_launch(const char *image, const char *path, const struct codeobj_kernel *kernel,
                               const struct seen_launch *seen, struct arena *arena);

#endif
