/* SPDX-License-Identifier: MIT
 *
 * Named ranges of profilers: two functions, begin and end, from the library that is available.
 */
#include <dlfcn.h>

#include "gpu.h"

/* On failure there are no functions; gpu_vendor.no_ranges has the message. */
static void use_library(struct gpu_ranges *ranges, const struct library_place *place)
{
    struct library_file file;
    struct err ignored = {0};
    library_open(&file, ranges, place, &ignored);
}

#define RANGE_SYMBOL(member, name) LIBRARY_SYMBOL(struct gpu_ranges, member, name, REQUIRED)

/* ---- ROCTX ---- */

static const struct library_symbol roctx_symbols[] = {
    RANGE_SYMBOL(push, "roctxRangePushA"), RANGE_SYMBOL(pop, "roctxRangePop"), {NULL, 0, 0}};

void roctx_find(struct gpu_ranges *ranges)
{
#define ROCM(name, newest) "$ROCM_PATH/lib/" name "*", name, newest, "/opt/rocm/lib/" name "*"
    static const char *const files[] = {ROCM(ROCTX_NEW, ROCTX_NEW ".1"), ROCM(ROCTX_OLD, ROCTX_OLD ".4"), NULL};
    static const struct library_place place = {"ROCTX", "ROOFTILE_ROCTX_LIBRARY", files, roctx_symbols, RTLD_GLOBAL};
    use_library(ranges, &place);
}

/* ---- NVTX ---- */

/* The handshake passes no context, so a tool can only fill a global table. It is filled once per process. */
static nvtx_function functions[NVTX_MODULES][NVTX_CORE_FUNCTIONS];
static nvtx_function *places[NVTX_MODULES][NVTX_CORE_FUNCTIONS + 1];

/* The number of functions of each module, plus one because their numbers begin at 1. */
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

static void ignore_version(UNUSED uint32_t version) {}

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

static const struct library_symbol nvtx_symbols[] = {
    RANGE_SYMBOL(push, "nvtxRangePushA"), RANGE_SYMBOL(pop, "nvtxRangePop"), {NULL, 0, 0}};

void nvtx_find(struct gpu_ranges *ranges)
{
    static const char *const files[] = {"libnvToolsExt.so.1", "/usr/local/cuda/lib64/libnvToolsExt.so.1", NULL};
    static const struct library_place place = {"NVTX", "ROOFTILE_NVTX_LIBRARY", files, nvtx_symbols, RTLD_GLOBAL};
    const char *named = getenv(place.variable), *tool = getenv("NVTX_INJECTION64_PATH");
    if ((named && *named) || !tool || !*tool || !use_tool(ranges, tool))
        use_library(ranges, &place);
}
