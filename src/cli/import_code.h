/* SPDX-License-Identifier: MIT
 *
 * The code of a trace's kernels, found in folders where Triton keeps what it compiled, or where kerncap kept a launch.
 */
#ifndef ROOFTILE_IMPORT_CODE_H
#define ROOFTILE_IMPORT_CODE_H

#include "rooftile/import.h"

/* For each row whose code is in the folders and whose launch is in the trace or the capture, writes a manifest into
 * *manifests: the folder OUT with .kernels in place of .json. That is then the row's kernel, and the one before stands
 * for it on the CPU device only. *manifests is NULL if nothing was found. */
enum status import_code(struct import *import, const char *const *folders, size_t count, const char *out,
                        const char **manifests, struct arena *arena, struct err *err);

#endif
