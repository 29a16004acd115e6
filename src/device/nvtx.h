/* SPDX-License-Identifier: MIT
 *
 * NVTX: named ranges that NVIDIA's tools show beside the kernels. Since version 3 it is no library: the program itself
 * has a table of functions, empty at first, and a tool (Nsight Systems, Compute) names a library of its own in
 * NVTX_INJECTION64_PATH that fills it. Up to CUDA 12 there was libnvToolsExt, too, which does the same inside. Numbers
 * and layouts are those of nvtxTypes.h of NVTX 3.
 */
#ifndef ROOFTILE_DEVICE_NVTX_H
#define ROOFTILE_DEVICE_NVTX_H

#include "gpu.h"

enum nvtx_module { NVTX_CORE = 1, NVTX_CUDA, NVTX_OPENCL, NVTX_CUDART, NVTX_CORE2, NVTX_SYNC, NVTX_MODULES };
enum nvtx_core { NVTX_RANGE_PUSH = 9, NVTX_RANGE_POP = 11, NVTX_CORE_FUNCTIONS = 16 };
enum nvtx_table { NVTX_CALLBACKS = 1, NVTX_VERSION_INFO = 3 };

typedef void (*nvtx_function)(void);
struct nvtx_callbacks {
    size_t size;
    /* Where the functions of a module are to be put: `count` places, of which the first is nobody's. 1: there are such.
     */
    int (*functions_of)(int module, nvtx_function ***places, unsigned *count);
};
struct nvtx_version_info {
    size_t size;
    uint32_t version, reserved;
    void (*set_tool_version)(uint32_t version);
};
typedef const void *(*nvtx_get_table)(uint32_t table);
/* What a tool's library exports as InitializeInjectionNvtx2; 0: it failed. */
typedef int (*nvtx_start_tool)(nvtx_get_table get_table);

#endif
