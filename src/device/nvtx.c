/* SPDX-License-Identifier: MIT */
#include "nvtx.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define OLD_NAME "libnvToolsExt.so.1"

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
    nvtx_start_tool start = NULL;
    void *library = dlopen(path, RTLD_LAZY);
    void *symbol = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    memcpy(&start, &symbol, sizeof(start)); /* function pointers, which ISO C cannot convert */
    if (!start || !start(get_table)) {
        if (library)
            dlclose(library);
        return false;
    }
    memcpy(&ranges->push, &functions[NVTX_CORE][NVTX_RANGE_PUSH], sizeof(ranges->push));
    memcpy(&ranges->pop, &functions[NVTX_CORE][NVTX_RANGE_POP], sizeof(ranges->pop));
    return ranges->push;
}

static bool use_library(struct gpu_ranges *ranges, const char *path)
{
    return gpu_use_ranges(ranges, path, "nvtxRangePushA", "nvtxRangePop");
}

void nvtx_find(struct gpu_ranges *ranges)
{
    const char *named = getenv("ROOFTILE_NVTX_LIBRARY"), *tool = getenv("NVTX_INJECTION64_PATH");
    if (named && *named)
        use_library(ranges, named);
    else if (!(tool && *tool && use_tool(ranges, tool)) && !use_library(ranges, OLD_NAME))
        use_library(ranges, "/usr/local/cuda/lib64/" OLD_NAME);
}
