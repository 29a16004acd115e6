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
#define MOST_GROUPS 65536
#define MOST_ITEMS UINT32_MAX
enum { INVALID_CONFIGURATION = 9, INVALID_DIRECTION = 21, NO_BINARY = 209, NO_FILE = 301 };
enum { HAS_CONTEXTS = 0, STEP_NS = 0, UNKNOWN = -1 };
#ifdef FAKE_OLD
enum { COUNTER_MHZ = 25, TARGET = 0x3f }; /* gfx90a, in the flags of a code object */
#else
enum { COUNTER_MHZ = 100, TARGET = 0x4c }; /* gfx942 */
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
    return lds_bytes <= 65536;
}

gpu_error hipSetDevice(int device)
{
    FAIL_IF(__func__, 1);
    if (device < 0 || device >= device_count())
        return GPU_INVALID_DEVICE;
    state.current_device = device;
    return GPU_SUCCESS;
}

gpu_error hipMemcpy(void *to, const void *from, size_t size, unsigned kind)
{
    FAIL_IF(__func__, 1);
    if (kind != HIP_MEMCPY_DEFAULT)
        return INVALID_DIRECTION;
    return copy_and_wait(to, from, size);
}

gpu_error hipMemcpyAsync(void *to, const void *from, size_t size, unsigned kind, struct gpu_stream *stream)
{
    FAIL_IF(__func__, 1);
    if (kind != HIP_MEMCPY_DEFAULT)
        return INVALID_DIRECTION;
    return copy_in_stream(to, from, size, stream);
}

/* A code object must be for this target. Tests also load an ELF file of the host, which the real library refuses. */
gpu_error hipModuleLoad(struct gpu_code **module, const char *path)
{
    enum { MACHINE_AMDGPU = 224 };
    unsigned char elf[64] = {0};
    FAIL_IF(__func__, 1);
    FILE *file = fopen(path, "rbe");
    if (!file)
        return *path ? NO_FILE : INVALID_VALUE;
    const size_t got = fread(elf, 1, sizeof(elf), file);
    const int is_folder = ferror(file);
    fclose(file);
    const int is_bundle = !memcmp(elf, "__CLANG_OFFLOAD_BUNDLE__", 24) || !memcmp(elf, "CCOB", 4);
    if (is_folder || got < sizeof(elf) || (!is_bundle && memcmp(elf, "\177ELF", 4) != 0))
        return is_folder ? INVALID_VALUE : INVALID_IMAGE;
    return !is_bundle && elf[18] == MACHINE_AMDGPU && elf[48] != TARGET ? NO_BINARY : make_module(module);
}

/* Both layouts hold the architecture; whoever reads the wrong one gets no "gfx". */
static gpu_error properties(void *to, size_t size, size_t arch_at, const char *arch)
{
    const char *other = getenv("FAKE_HIP_OTHER");
    memset(to, 0x2a, size);
    snprintf((char *)to + arch_at, 256, "%s", other && access(other, F_OK) == 0 ? "gfx1100" : arch);
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
    FAIL_IF(__func__, 1);
    return flags == HIP_MALLOC_FINE_GRAINED ? allocate(pointer, size, &state.live_memory) : INVALID_VALUE;
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
    const uint64_t items = (uint64_t)block_x * block_y * block_z;
    if (function && (!items || items > 1024 || !work_x || !work_y || !work_z))
        return INVALID_CONFIGURATION;
    if (function && (work_x % block_x || work_y % block_y || work_z % block_z))
        return INVALID_VALUE;
    from->time_ns = state.now_ns;
    from->waits = to->waits = waits;
    const gpu_error code = fake_launch(function, work_x / block_x, work_y / block_y, work_z / block_z, block_x, block_y,
                                       block_z, (unsigned)lds_bytes, stream, args, extra);
    to->time_ns = state.now_ns;
    state.launch_extended = 1;
    return code;
}
#endif
