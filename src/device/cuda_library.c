/* SPDX-License-Identifier: MIT */
#include "cuda.h"

#define AT(function) offsetof(struct cuda, api.function)
#define REQUIRED(function, parameters) {#function, AT(function), true},
#define OPTIONAL(function, parameters) {#function, AT(function), false},
const struct vendor_symbol cuda_symbols[] = {CUDA_REQUIRED(REQUIRED) CUDA_OPTIONAL(OPTIONAL){NULL, 0, false}};

#define NEED(feature, function)                                                                                        \
    {                                                                                                                  \
        feature,                                                                                                       \
        {                                                                                                              \
#function, AT(function), false                                                                             \
        }                                                                                                              \
    }
const struct gpu_need cuda_needs[] = {
    NEED(SPACE_PINNED, cuMemHostAlloc),
    NEED(SPACE_PINNED, cuMemFreeHost),
    NEED(SPACE_MANAGED, cuMemAllocManaged),
    NEED(SPACE_PEER, cuDeviceCanAccessPeer),
    NEED(SPACE_PEER, cuCtxEnablePeerAccess),
    NEED(GPU_GRAPHS, cuStreamBeginCapture_v2),
    NEED(GPU_GRAPHS, cuStreamEndCapture),
    NEED(GPU_GRAPHS, cuGraphInstantiateWithFlags),
    NEED(GPU_GRAPHS, cuGraphLaunch),
    NEED(GPU_GRAPHS, cuGraphExecDestroy),
    NEED(GPU_GRAPHS, cuGraphDestroy),
    NEED(GPU_COOPERATIVE, cuLaunchCooperativeKernel),
    NEED(GPU_OCCUPANCY, cuOccupancyMaxActiveBlocksPerMultiprocessor),
    {0, {NULL, 0, false}},
};

/* First the loader's own folders. The others are where containers and WSL mount the driver; the toolkit's folder
 * "stubs" has a library to link with, which must not be found. */
bool cuda_search(struct gpu_search *search)
{
    static const char *const places[] = {CUDA_NAME, "/usr/local/nvidia/lib64/" CUDA_NAME,
                                         "/usr/lib/wsl/lib/" CUDA_NAME};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i)
        if (gpu_try_library(search, places[i], false) == GPU_USABLE)
            return true;
    return false;
}
