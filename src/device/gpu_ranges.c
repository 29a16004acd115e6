/* SPDX-License-Identifier: MIT
 *
 * Named ranges of profilers: two functions, begin and end, of whichever library is there.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvtx.h"

static bool use_library(struct gpu_ranges *ranges, const char *path, const char *push_name, const char *pop_name)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void (*const push)(void) = library ? library_function(library, push_name) : NULL;
    void (*const pop)(void) = library ? library_function(library, pop_name) : NULL;
    if (!push || !pop) {
        if (library)
            dlclose(library);
        return false;
    }
    ranges->push = (int (*)(const char *))push;
    ranges->pop = (int (*)(void))pop;
    return true;
}

/* A library that is named so is the only one that is tried. */
static const char *named_library(const char *variable)
{
    const char *named = getenv(variable);
    return named && *named ? named : NULL;
}

/* ---- ROCTX ---- */

static bool use_roctx(struct gpu_ranges *ranges, const char *path)
{
    return use_library(ranges, path, "roctxRangePushA", "roctxRangePop");
}

static bool use_below(struct gpu_ranges *ranges, const char *folder, const char *name)
{
    static const char *const suffixes[] = {"", ".1", ".4"};
    char path[512];
    for (size_t i = 0; i < COUNT_OF(suffixes); ++i)
        if (snprintf(path, sizeof(path), "%s%s%s", folder, name, suffixes[i]) < (int)sizeof(path) &&
            use_roctx(ranges, path))
            return true;
    return false;
}

void roctx_find(struct gpu_ranges *ranges)
{
    static const char *const names[] = {ROCTX_NEW, ROCTX_OLD};
    const char *named = named_library("ROOFTILE_ROCTX_LIBRARY"), *rocm = named_library("ROCM_PATH");
    char folder[400];
    snprintf(folder, sizeof(folder), "%.380s/lib/", rocm ? rocm : "");
    const char *const folders[] = {rocm ? folder : "", "", "/opt/rocm/lib/"};
    if (named)
        use_roctx(ranges, named);
    for (size_t i = 0; i < COUNT_OF(names) && !named; ++i)
        for (size_t k = 0; k < COUNT_OF(folders); ++k)
            if (use_below(ranges, folders[k], names[i]))
                return;
}

/* ---- NVTX ---- */

#define NVTX_OLD "libnvToolsExt.so.1"

/* The handshake passes no context, so what a tool fills can only be here. It is filled once for the process. */
static nvtx_function functions[NVTX_MODULES][NVTX_CORE_FUNCTIONS];
static nvtx_function *places[NVTX_MODULES][NVTX_CORE_FUNCTIONS + 1];

/* How many functions a module has, one more because their numbers begin at 1. */
static const unsigned counts[NVTX_MODULES] = {
    [NVTX_CORE] = NVTX_CORE_FUNCTIONS,
    [NVTX_CUDA] = 9,
    [NVTX_OPENCL] = 15,
    [NVTX_CUDART] = 7,
    [NVTX_CORE2] = 16,
    [NVTX_SYNC] = 7,
};

static int functions_of(int module, nvtx_function ***table, unsigned *count)
{
    if (module < NVTX_CORE || module >= NVTX_MODULES)
        return 0;
    for (unsigned i = 1; i < counts[module]; ++i)
        places[module][i] = &functions[module][i];
    if (count)
        *count = counts[module];
    if (table)
        *table = places[module];
    return 1;
}

static void ignore_version(uint32_t version)
{
    (void)version;
}

static const void *get_table(uint32_t table)
{
    static const struct nvtx_callbacks callbacks = {sizeof(callbacks), functions_of};
    static const struct nvtx_version_info info = {sizeof(info), 3, 0, ignore_version};
    return table == NVTX_CALLBACKS ? (const void *)&callbacks : table == NVTX_VERSION_INFO ? &info : NULL;
}

static bool use_tool(struct gpu_ranges *ranges, const char *path)
{
    void *library = dlopen(path, RTLD_LAZY);
    nvtx_start_tool start = library ? (nvtx_start_tool)library_function(library, "InitializeInjectionNvtx2") : NULL;
    if (!start || !start(get_table)) {
        if (library)
            dlclose(library);
        return false;
    }
    ranges->push = (int (*)(const char *))functions[NVTX_CORE][NVTX_RANGE_PUSH];
    ranges->pop = (int (*)(void))functions[NVTX_CORE][NVTX_RANGE_POP];
    return ranges->push;
}

static bool use_nvtx(struct gpu_ranges *ranges, const char *path)
{
    return use_library(ranges, path, "nvtxRangePushA", "nvtxRangePop");
}

void nvtx_find(struct gpu_ranges *ranges)
{
    const char *named = named_library("ROOFTILE_NVTX_LIBRARY"), *tool = named_library("NVTX_INJECTION64_PATH");
    if (named)
        use_nvtx(ranges, named);
    else if (!(tool && use_tool(ranges, tool)) && !use_nvtx(ranges, NVTX_OLD))
        use_nvtx(ranges, "/usr/local/cuda/lib64/" NVTX_OLD);
}
