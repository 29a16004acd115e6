/* SPDX-License-Identifier: MIT
 *
 * What libamdhip64 has alone.
 */
#define FAKE_PREFIX "FAKE_HIP_"
#define FAKE_NAME(device) "Fake Instinct %d", (device)
#define FAKE_PCI "ffff:%02x:00.0"
#define FAKE_UUID "0123456789abcdef"
#define FAKE_UNITS 304
#define PINNED_FLAGS 0
#define PINNED_COARSE_FLAGS HIP_HOST_MALLOC_NON_COHERENT
#define PINNED_FAR_FLAGS HIP_HOST_MALLOC_NUMA_USER
enum { HAS_CONTEXTS = 0, STEP_NS = 0, UNKNOWN = -1 };
#ifdef FAKE_OLD
enum { COUNTER_MHZ = 25 };
#else
enum { COUNTER_MHZ = 100 };
#endif

#include "fake_gpu_kernels.h"

static int fact_value(enum gpu_fact fact)
{
    static const int values[GPU_FACTS] = {
        [FACT_WAVE] = 64,
        [FACT_UNITS] = 152,
        [FACT_BLOCK] = 1024,
        [FACT_LDS] = 65536,
        [FACT_CORE_KHZ] = 2100000,
        [FACT_MEMORY_KHZ] = 1300000,
        [FACT_L2] = 4194304,
        [FACT_CLOCK_KHZ] = 25000,
        [FACT_MANAGED] = 1,
#ifndef FAKE_OLD
        [FACT_PHYSICAL_UNITS] = 304,
        [FACT_GRID_X] = 2147483647,
        [FACT_GRID_Y] = 65536,
        [FACT_GRID_Z] = 65535,
        [FACT_WALL_KHZ] = 100000,
        [FACT_XCCS] = 8,
        [FACT_TOGETHER] = 1,
#endif
    };
    const int is_rate = fact == FACT_WALL_KHZ || fact == FACT_CLOCK_KHZ;
    return !values[fact] || (is_rate && getenv("FAKE_HIP_NO_RATE")) ? UNKNOWN : values[fact];
}

static int may_have_lds(unsigned lds_bytes)
{
    (void)lds_bytes;
    return 1;
}

gpu_error hipSetDevice(int device)
{
    FAIL_IF(__func__, 1);
    if (device >= device_count())
        return GPU_INVALID_DEVICE;
    state.current_device = device;
    return GPU_SUCCESS;
}

gpu_error hipMemcpy(void *to, const void *from, size_t size, unsigned kind)
{
    FAIL_IF(__func__, 1);
    if (kind != HIP_MEMCPY_DEFAULT)
        return 21; /* invalid direction */
    memcpy(to, from, size);
    return GPU_SUCCESS;
}

gpu_error hipMemcpyAsync(void *to, const void *from, size_t size, unsigned kind, struct gpu_stream *stream)
{
    (void)kind;
    FAIL_IF(__func__, 1);
    return copy_in_stream(to, from, size, stream);
}

gpu_error hipModuleLoad(struct gpu_code **module, const char *path)
{
    FAIL_IF(__func__, 1);
    if (access(path, R_OK))
        return 301; /* file not found */
    return make_module(module);
}

/* Both layouts hold the architecture; whoever reads the wrong one gets no "gfx". */
static gpu_error properties(void *to, size_t size, size_t arch_at, const char *arch)
{
    memset(to, 0x2a, size);
    snprintf((char *)to + arch_at, 256, "%s", arch);
    return GPU_SUCCESS;
}

gpu_error hipGetDeviceProperties(void *to, int device)
{
    (void)device;
    FAIL_IF(__func__, 1);
    return properties(to, 792, 396, "gfx90a:sramecc+:xnack-");
}

#ifndef FAKE_OLD
gpu_error hipGetDevicePropertiesR0600(void *to, int device)
{
    (void)device;
    FAIL_IF(__func__, 1);
    return properties(to, 1472, 1160, "gfx942:sramecc+:xnack-");
}
#endif

#ifndef FAKE_BARE
gpu_error hipRuntimeGetVersion(int *version)
{
    FAIL_IF(__func__, 1);
    *version = 60342134;
    return GPU_SUCCESS;
}

gpu_error hipExtMallocWithFlags(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    FAIL_IF(__func__, 1);
    return allocate(pointer, size, &state.live_memory);
}

gpu_error hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    FAIL_IF(__func__, 1);
    return flags ? INVALID_VALUE : enable_peer(peer);
}

const char *hipGetErrorName(gpu_error code);

const char *hipGetErrorName(gpu_error code)
{
    switch (code) {
    case GPU_OUT_OF_MEMORY:
        return "hipErrorOutOfMemory";
    case GPU_NO_DEVICE:
        return "hipErrorNoDevice";
    case GPU_INVALID_DEVICE:
        return "hipErrorInvalidDevice";
    case GPU_LAUNCH_FAILED:
        return "hipErrorLaunchFailure";
    default:
        return "hipErrorUnknown";
    }
}

#ifdef FAKE_OLD
gpu_error hipExtModuleLaunchKernel(struct gpu_function *function, uint32_t work_x, uint32_t work_y, uint32_t work_z,
                                   uint32_t block_x, uint32_t block_y, uint32_t block_z, size_t lds_bytes,
                                   struct gpu_stream *stream, void **args, void **extra, struct gpu_event *from,
                                   struct gpu_event *to,
                                   uint32_t flags) __asm__("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_"
                                                           "tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j");
#endif

gpu_error hipExtModuleLaunchKernel(struct gpu_function *function, uint32_t work_x, uint32_t work_y, uint32_t work_z,
                                   uint32_t block_x, uint32_t block_y, uint32_t block_z, size_t lds_bytes,
                                   struct gpu_stream *stream, void **args, void **extra, struct gpu_event *from,
                                   struct gpu_event *to, uint32_t flags)
{
    (void)flags;
    FAIL_IF(__func__, 1);
    if (getenv("FAKE_HIP_NO_DISPATCH"))
        return GPU_NOT_SUPPORTED;
    from->time_ns = state.now_ns;
    const gpu_error code = fake_launch(function, work_x / block_x, work_y / block_y, work_z / block_z, block_x, block_y,
                                       block_z, (unsigned)lds_bytes, stream, args, extra);
    to->time_ns = state.now_ns;
    state.launch_extended = 1;
    return code;
}
#endif
