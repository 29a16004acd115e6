/* SPDX-License-Identifier: MIT
 *
 * The code of a trace's kernels, found in folders where Triton keeps what it compiled, or where kerncap kept a launch.
 */
#ifndef ROOFTILE_IMPORT_CODE_H
#define ROOFTILE_IMPORT_CODE_H

#include "rooftile/import.h"

/* Writes a manifest for each row of which the folders have the code and the trace, or the capture, has the launch, into
 * *manifests: the folder OUT without .json and with .kernels. The row's kernel is then that one, and what stood for it
 * before stands for it on the CPU device alone. *manifests is NULL where nothing was found. */
enum status import_code(struct import *import, const char *const *folders, size_t count, const char *out,
                        const char **manifests, struct arena *arena, struct err *err);

#endif
