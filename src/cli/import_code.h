/* SPDX-License-Identifier: MIT
 *
 * Finds the code of a trace's kernels in folders of Triton's cache or of launches that kerncap captured.
 */
#ifndef ROOFTILE_IMPORT_CODE_H
#define ROOFTILE_IMPORT_CODE_H

#include "rooftile/import.h"

/* For each row whose code is in the folders and whose launch is in the trace or the capture, writes a manifest into
 * *manifests: the folder OUT with .kernels in place of .json. That manifest becomes the row's kernel; the previous
 * kernel then serves on the CPU device only. *manifests is NULL if nothing was found. */
enum status import_code(struct import *import, const char *const *folders, size_t count, const char *out,
                        const char **manifests, struct arena *arena, struct err *err);

#endif
