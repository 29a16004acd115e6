/* SPDX-License-Identifier: MIT
 *
 * NVTX: named ranges that Nsight Systems shows beside the kernels, through the library of CUDA 12 and older. (Newer
 * ones have a header only, which would have to be compiled in.) The library is looked for when the first range begins.
 */
#ifndef ROOFTILE_DEVICE_NVTX_H
#define ROOFTILE_DEVICE_NVTX_H

#include <stdbool.h>

#include "rooftile/err.h"

struct nvtx {
    bool tried;
    int (*push)(const char *name);
    int (*pop)(void);
};

/* ERR_UNSUPPORTED, naming the library looked for, where there is none. ROOFTILE_NVTX_LIBRARY names another. */
enum status nvtx_push(struct nvtx *nvtx, const char *name, struct err *err);
void nvtx_pop(struct nvtx *nvtx); /* nothing without a library */

#endif
