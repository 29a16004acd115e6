/* SPDX-License-Identifier: MIT */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip.h"

/* Of the names that the loader is asked for: Debian 12 has 5, and the newest must not be a matter of a new release. */
enum { NEWEST_MAJOR = 30, OLDEST_MAJOR = 5 };

#define AT(function) offsetof(struct hip, api.function)
#define REQUIRED(function, parameters) {#function, AT(function), true},
#define OPTIONAL(function, parameters) {#function, AT(function), false},
const struct vendor_symbol hip_symbols[] = {
    HIP_REQUIRED(REQUIRED) HIP_OPTIONAL(OPTIONAL){"hipGetErrorName", AT(hipGetErrorName), false},
    /* Older libraries have this function under its C++ name. */
    {"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
     AT(hipExtModuleLaunchKernel), false},
    {NULL, 0, false},
};

#define NEED(feature, function)                                                                                        \
    {                                                                                                                  \
        feature,                                                                                                       \
        {                                                                                                              \
#function, AT(function), false                                                                             \
        }                                                                                                              \
    }
const struct gpu_need hip_needs[] = {
    NEED(SPACE_PINNED, hipHostMalloc),
    NEED(SPACE_PINNED, hipHostFree),
    NEED(SPACE_PINNED_COARSE, hipHostMalloc),
    NEED(SPACE_PINNED_COARSE, hipHostFree),
    NEED(SPACE_MANAGED, hipMallocManaged),
    NEED(SPACE_FINE, hipExtMallocWithFlags),
    NEED(SPACE_PEER, hipDeviceCanAccessPeer),
    NEED(SPACE_PEER, hipDeviceEnablePeerAccess),
    NEED(GPU_GRAPHS, hipStreamBeginCapture),
    NEED(GPU_GRAPHS, hipStreamEndCapture),
    NEED(GPU_GRAPHS, hipGraphInstantiate),
    NEED(GPU_GRAPHS, hipGraphLaunch),
    NEED(GPU_GRAPHS, hipGraphExecDestroy),
    NEED(GPU_GRAPHS, hipGraphDestroy),
    NEED(GPU_COOPERATIVE, hipModuleLaunchCooperativeKernel),
    NEED(GPU_OCCUPANCY, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor),
    NEED(GPU_OWN_TIMES, hipExtModuleLaunchKernel),
    {0, {NULL, 0, false}},
};

/* "libamdhip64.so" and "libamdhip64.so.7.2", but no "libamdhip64.so.debug". */
static bool is_library(const char *path)
{
    const char *stem = strrchr(path, '/');
    const char *version = stem ? stem + 1 + strlen(HIP_STEM) : "";
    return stem && version[strspn(version, ".0123456789")] == '\0';
}

/* The library of the highest version below folders of a shell pattern; numbers compare as numbers: core-10 is above
 * core-7. */
static bool try_folders(struct gpu_search *search, const char *pattern)
{
    struct text files = {0};
    glob_t found = {0};
    const char *best = NULL;
    text_addf(&files, "%s/" HIP_STEM "*", pattern);
    if (glob(files.data, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; ++i)
            if (is_library(found.gl_pathv[i]) && (!best || strverscmp(found.gl_pathv[i], best) > 0))
                best = found.gl_pathv[i];
    const bool usable = best && gpu_try_library(search, best, true) == GPU_USABLE;
    globfree(&found);
    text_release(&files);
    return usable;
}

/* The folders that the user put before the loader's own are searched like the others, highest version first. */
static bool try_loader_folders(struct gpu_search *search)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    bool usable = false;
    while (path && *path && !usable) {
        struct text folder = {0};
        const size_t length = strcspn(path, ":");
        text_addn(&folder, path, length);
        usable = length && try_folders(search, folder.data);
        text_release(&folder);
        path += length + (path[length] == ':');
    }
    return usable;
}

/* The loader knows its folders, and finds exact names only: each major version is asked for, last the link of
 * development packages. One that it finds and cannot load is the news. */
static bool try_loader(struct gpu_search *search)
{
    enum gpu_found found = GPU_ABSENT;
    char name[64];
    for (int major = NEWEST_MAJOR; major >= OLDEST_MAJOR - 1 && found == GPU_ABSENT; --major) {
        snprintf(name, sizeof(name), major >= OLDEST_MAJOR ? HIP_STEM ".%d" : HIP_STEM, major);
        found = gpu_try_library(search, name, false);
    }
    return found == GPU_USABLE;
}

bool hip_search(struct gpu_search *search)
{
    const char *rocm = getenv("ROCM_PATH");
    if (rocm && *rocm) {
        struct text folder = {0};
        text_addf(&folder, "%s/lib", rocm);
        const bool usable = try_folders(search, folder.data);
        text_release(&folder);
        if (usable)
            return true;
    }
    return try_folders(search, "/opt/rocm/lib") || try_folders(search, "/opt/rocm/core*/lib") ||
           try_loader_folders(search) || try_loader(search);
}
