/* SPDX-License-Identifier: MIT */
#include "fake_hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../src/device/hip_api.h"

#define DECLARE(name, parameters) hip_error name parameters;
HIP_REQUIRED(DECLARE)
HIP_OPTIONAL(DECLARE)
const char *hipGetErrorName(hip_error code);

struct ihipStream_t {
    int unused;
};
struct ihipModule_t {
    int unused;
};
struct ihipModuleSymbol_t {
    int unused;
};
struct ihipEvent_t {
    double time_ms; /* 0: not recorded */
};

static struct fake_hip_state state;
static struct ihipModuleSymbol_t store;

struct fake_hip_state *fake_hip_state(void)
{
    return &state;
}

static hip_error told_to_fail(const char *function)
{
    const char *told = getenv("FAKE_HIP_FAIL");
    const size_t length = strlen(function);
    char what[16];
    unsigned nth;
    if (!told || strncmp(told, function, length) != 0 || sscanf(told + length, ":%u:%15s", &nth, what) != 2)
        return HIP_SUCCESS;
    if (++state.seen != nth)
        return HIP_SUCCESS;
    ++state.failed;
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "hang") == 0)
        for (;;)
            pause();
    return (hip_error)strtoul(what, NULL, 10);
}

#define MAY_FAIL()                                                                                                     \
    do {                                                                                                               \
        const hip_error told = told_to_fail(__func__);                                                                 \
        if (told)                                                                                                      \
            return told;                                                                                               \
    } while (0)

static int device_count(void)
{
    const char *devices = getenv("FAKE_HIP_DEVICES");
    return devices ? (int)strtol(devices, NULL, 10) : 1;
}

hip_error hipInit(unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipGetDeviceCount(int *count)
{
    MAY_FAIL();
    *count = device_count();
    return HIP_SUCCESS;
}

hip_error hipSetDevice(int device)
{
    MAY_FAIL();
    if (device >= device_count())
        return HIP_INVALID_DEVICE;
    state.current_device = device;
    return HIP_SUCCESS;
}

hip_error hipDeviceGetAttribute(int *value, unsigned attribute, int device)
{
    static const struct {
        unsigned attribute;
        int value;
    } values[] = {
        {HIP_WARP_SIZE, 64},
        {HIP_MULTIPROCESSOR_COUNT, 152},
        {HIP_MAX_THREADS_PER_BLOCK, 1024},
        {HIP_MAX_SHARED_MEMORY_PER_BLOCK, 65536},
        {HIP_CLOCK_RATE, 2100000},
        {HIP_MEMORY_CLOCK_RATE, 1300000},
        {HIP_L2_CACHE_SIZE, 4194304},
        {HIP_CLOCK_INSTRUCTION_RATE, 25000},
#ifndef FAKE_HIP_OLD
        {HIP_PHYSICAL_MULTIPROCESSOR_COUNT, 304},
        {HIP_MAX_GRID_X, 2147483647},
        {HIP_MAX_GRID_Y, 65536},
        {HIP_MAX_GRID_Z, 65535},
        {HIP_WALL_CLOCK_RATE, 100000},
        {HIP_NUMBER_OF_XCCS, 8},
#endif
    };
    (void)device;
    MAY_FAIL();
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
        if (values[i].attribute == attribute) {
            *value = values[i].value;
            return HIP_SUCCESS;
        }
    }
    return 1; /* invalid value */
}

hip_error hipDeviceGetName(char *name, int size, int device)
{
    MAY_FAIL();
    snprintf(name, (size_t)size, "Fake Instinct %d", device);
    return HIP_SUCCESS;
}

hip_error hipMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    MAY_FAIL();
    *total_bytes = FAKE_HIP_MEMORY_BYTES;
    *free_bytes = FAKE_HIP_MEMORY_BYTES / 2;
    return HIP_SUCCESS;
}

static hip_error allocate(void **pointer, size_t size, int *live)
{
    if (size > FAKE_HIP_MEMORY_BYTES)
        return HIP_OUT_OF_MEMORY;
    *pointer = malloc(size);
    ++*live;
    return HIP_SUCCESS;
}

hip_error hipMalloc(void **pointer, size_t size)
{
    MAY_FAIL();
    return allocate(pointer, size, &state.live_memory);
}

hip_error hipFree(void *pointer)
{
    state.live_memory -= pointer != NULL;
    free(pointer);
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipMemcpy(void *to, const void *from, size_t size, unsigned kind)
{
    MAY_FAIL();
    if (kind != HIP_MEMCPY_DEFAULT)
        return 21; /* invalid direction */
    memcpy(to, from, size);
    return HIP_SUCCESS;
}

hip_error hipMemcpyAsync(void *to, const void *from, size_t size, unsigned kind, struct ihipStream_t *stream)
{
    (void)stream;
    (void)kind;
    MAY_FAIL();
    memcpy(to, from, size);
    return HIP_SUCCESS;
}

#ifndef FAKE_HIP_BROKEN
hip_error hipMemsetAsync(void *to, int byte, size_t size, struct ihipStream_t *stream)
{
    (void)stream;
    MAY_FAIL();
    memset(to, byte, size);
    return HIP_SUCCESS;
}
#endif

hip_error hipModuleLoad(struct ihipModule_t **module, const char *path)
{
    MAY_FAIL();
    if (access(path, R_OK))
        return 301; /* file not found */
    *module = calloc(1, sizeof(**module));
    ++state.live_modules;
    return HIP_SUCCESS;
}

hip_error hipModuleUnload(struct ihipModule_t *module)
{
    --state.live_modules;
    free(module);
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipModuleGetFunction(struct ihipModuleSymbol_t **function, struct ihipModule_t *module, const char *name)
{
    (void)module;
    MAY_FAIL();
    if (strcmp(name, "store") != 0)
        return HIP_NOT_FOUND;
    *function = &store;
    return HIP_SUCCESS;
}

static void run_store(void **args)
{
    uint32_t *to, value;
    memcpy(&to, args[0], sizeof(to));
    memcpy(&value, args[1], sizeof(value));
    for (uint32_t i = 0; i < state.grid[0] * state.block[0]; ++i)
        to[i] = value;
}

hip_error hipModuleLaunchKernel(struct ihipModuleSymbol_t *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                                struct ihipStream_t *stream, void **args, void **extra)
{
    (void)stream;
    MAY_FAIL();
    if (function != &store || extra)
        return 400; /* invalid handle */
    const struct fake_hip_state launched = {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}};
    memcpy(state.grid, launched.grid, sizeof(state.grid));
    memcpy(state.block, launched.block, sizeof(state.block));
    state.lds_bytes = lds_bytes;
    state.launch_extended = 0;
    run_store(args);
    return HIP_SUCCESS;
}

hip_error hipStreamCreateWithFlags(struct ihipStream_t **stream, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    *stream = calloc(1, sizeof(**stream));
    ++state.live_streams;
    return HIP_SUCCESS;
}

hip_error hipStreamDestroy(struct ihipStream_t *stream)
{
    --state.live_streams;
    free(stream);
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipStreamWaitEvent(struct ihipStream_t *stream, struct ihipEvent_t *event, unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipEventCreate(struct ihipEvent_t **event)
{
    MAY_FAIL();
    *event = calloc(1, sizeof(**event));
    ++state.live_events;
    return HIP_SUCCESS;
}

hip_error hipEventDestroy(struct ihipEvent_t *event)
{
    --state.live_events;
    free(event);
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipEventRecord(struct ihipEvent_t *event, struct ihipStream_t *stream)
{
    struct timespec now;
    (void)stream;
    MAY_FAIL();
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->time_ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    return HIP_SUCCESS;
}

hip_error hipEventElapsedTime(float *time_ms, struct ihipEvent_t *from, struct ihipEvent_t *to)
{
    MAY_FAIL();
    if (from->time_ms <= 0 || to->time_ms <= 0)
        return 400; /* invalid handle */
    *time_ms = (float)(to->time_ms - from->time_ms);
    return HIP_SUCCESS;
}

hip_error hipDeviceSynchronize(void)
{
    MAY_FAIL();
    return HIP_SUCCESS;
}

/* Both layouts hold the architecture; whoever reads the wrong one gets no "gfx". */
static hip_error properties(void *to, size_t size, size_t arch_at, const char *arch)
{
    memset(to, 0x2a, size);
    snprintf((char *)to + arch_at, 256, "%s", arch);
    return HIP_SUCCESS;
}

hip_error hipGetDeviceProperties(void *to, int device)
{
    (void)device;
    MAY_FAIL();
    return properties(to, 792, 396, "gfx90a:sramecc+:xnack-");
}

#ifndef FAKE_HIP_OLD
hip_error hipGetDevicePropertiesR0600(void *to, int device)
{
    (void)device;
    MAY_FAIL();
    return properties(to, 1472, 1160, "gfx942:sramecc+:xnack-");
}
#endif

#ifndef FAKE_HIP_BARE
hip_error hipDeviceGetPCIBusId(char *bdf, int size, int device)
{
    MAY_FAIL();
    snprintf(bdf, (size_t)size, "ffff:%02x:00.0", (unsigned)device & 0xff);
    return HIP_SUCCESS;
}

hip_error hipDeviceGetUuid(struct hipUUID_t *uuid, int device)
{
    (void)device;
    MAY_FAIL();
    memcpy(uuid, "0123456789abcdef", 16);
    return HIP_SUCCESS;
}

hip_error hipRuntimeGetVersion(int *version)
{
    MAY_FAIL();
    *version = 60342134;
    return HIP_SUCCESS;
}

hip_error hipHostMalloc(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return allocate(pointer, size, &state.live_host);
}

hip_error hipHostFree(void *pointer)
{
    state.live_host -= pointer != NULL;
    free(pointer);
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipMallocManaged(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return allocate(pointer, size, &state.live_memory);
}

hip_error hipExtMallocWithFlags(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return allocate(pointer, size, &state.live_memory);
}

hip_error hipFuncGetAttribute(int *value, unsigned attribute, struct ihipModuleSymbol_t *function)
{
    (void)function;
    MAY_FAIL();
    *value = attribute == HIP_FUNCTION_STATIC_LDS ? 4096 : 0;
    return HIP_SUCCESS;
}

hip_error hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *count, struct ihipModuleSymbol_t *function, int block,
                                                             size_t lds_bytes)
{
    (void)function;
    MAY_FAIL();
    *count = 2048 / block - (lds_bytes > 0);
    return HIP_SUCCESS;
}

const char *hipGetErrorName(hip_error code)
{
    switch (code) {
    case HIP_OUT_OF_MEMORY:
        return "hipErrorOutOfMemory";
    case HIP_NO_DEVICE:
        return "hipErrorNoDevice";
    case HIP_INVALID_DEVICE:
        return "hipErrorInvalidDevice";
    case HIP_LAUNCH_FAILURE:
        return "hipErrorLaunchFailure";
    default:
        return "hipErrorUnknown";
    }
}

#ifdef FAKE_HIP_OLD
hip_error hipExtModuleLaunchKernel(struct ihipModuleSymbol_t *function, uint32_t work_x, uint32_t work_y,
                                   uint32_t work_z, uint32_t block_x, uint32_t block_y, uint32_t block_z,
                                   size_t lds_bytes, struct ihipStream_t *stream, void **args, void **extra,
                                   struct ihipEvent_t *from, struct ihipEvent_t *to,
                                   uint32_t flags) __asm__("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_"
                                                           "tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j");
#endif

hip_error hipExtModuleLaunchKernel(struct ihipModuleSymbol_t *function, uint32_t work_x, uint32_t work_y,
                                   uint32_t work_z, uint32_t block_x, uint32_t block_y, uint32_t block_z,
                                   size_t lds_bytes, struct ihipStream_t *stream, void **args, void **extra,
                                   struct ihipEvent_t *from, struct ihipEvent_t *to, uint32_t flags)
{
    (void)flags;
    MAY_FAIL();
    hipEventRecord(from, stream);
    const hip_error code = hipModuleLaunchKernel(function, work_x / block_x, work_y / block_y, work_z / block_z,
                                                 block_x, block_y, block_z, (unsigned)lds_bytes, stream, args, extra);
    hipEventRecord(to, stream);
    state.launch_extended = 1;
    return code;
}
#endif
