/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_SKELETON_H
#define ROOFTILE_SKELETON_H

#include "rooftile/arena.h"

struct codeobj_kernel;

/* The text of a manifest for a kernel of the code object at `path`, which the manifest names as `image`: arguments from
 * the metadata, and from what Triton wrote beside the file (the .json, and the .ttir for types). It can be read and
 * planned as it is; comments say what to fill in. */
const char *skeleton_write(const char *image, const char *path, const struct codeobj_kernel *kernel,
                           struct arena *arena);

#endif
