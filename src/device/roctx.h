/* SPDX-License-Identifier: MIT
 *
 * ROCTX: named ranges that rocprofv3 shows beside the kernels, through whichever of ROCm's libraries is there, or
 * through the one that ROOFTILE_ROCTX_LIBRARY names.
 */
#ifndef ROOFTILE_DEVICE_ROCTX_H
#define ROOFTILE_DEVICE_ROCTX_H

#include "gpu.h"

/* The profiler of ROCm 6.2 and later knows ranges of the first, older ones those of the second. */
#define ROCTX_NEW "librocprofiler-sdk-roctx.so"
#define ROCTX_OLD "libroctx64.so"
#define ROCTX_MISSING "neither " ROCTX_NEW " nor " ROCTX_OLD " can be loaded"

void roctx_find(struct gpu_ranges *ranges); /* gpu_vendor.find_ranges */

#endif
