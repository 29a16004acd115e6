/* SPDX-License-Identifier: MIT */
#include "../../src/device/hip_api.h"

#define DECLARE(name, parameters) hip_error name parameters;
HIP_REQUIRED(DECLARE)
HIP_OPTIONAL(DECLARE)
const char *hipGetErrorName(hip_error code);

#ifdef FAKE_HIP_OLD
enum { COUNTER_MHZ = 25 };
#else
enum { COUNTER_MHZ = 100 };
#endif
enum { STEP_NS = 0 };

#define FAKE_PREFIX "FAKE_HIP_"
#define FAKE_ERROR hip_error
#define FAKE_FUNCTION ihipModuleSymbol_t
#define FAKE_STREAM ihipStream_t
#define FAKE_EVENT ihipEvent_t
#define FAKE_MODULE ihipModule_t
#define FAKE_GRAPH ihipGraph
#define FAKE_EXEC hipGraphExec
#define FAKE_UNITS 304
#include "fake_gpu_body.h"

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
        {HIP_MANAGED_MEMORY, 1},
#ifndef FAKE_HIP_OLD
        {HIP_PHYSICAL_MULTIPROCESSOR_COUNT, 304},
        {HIP_MAX_GRID_X, 2147483647},
        {HIP_MAX_GRID_Y, 65536},
        {HIP_MAX_GRID_Z, 65535},
        {HIP_WALL_CLOCK_RATE, 100000},
        {HIP_NUMBER_OF_XCCS, 8},
        {HIP_COOPERATIVE_LAUNCH, 1},
#endif
    };
    (void)device;
    MAY_FAIL();
    if (getenv("FAKE_HIP_NO_RATE") && (attribute == HIP_WALL_CLOCK_RATE || attribute == HIP_CLOCK_INSTRUCTION_RATE))
        return INVALID_VALUE;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
        if (values[i].attribute == attribute) {
            *value = values[i].value;
            return HIP_SUCCESS;
        }
    }
    return INVALID_VALUE;
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
    *total_bytes = FAKE_GPU_MEMORY_BYTES;
    *free_bytes = FAKE_GPU_MEMORY_BYTES / 2;
    return HIP_SUCCESS;
}

hip_error hipMalloc(void **pointer, size_t size)
{
    MAY_FAIL();
    state.memory_device = state.current_device;
    return allocate(pointer, size, &state.live_memory);
}

hip_error hipFree(void *pointer)
{
    release(pointer, &state.live_memory);
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
    return copy_in_stream(to, from, size);
}

#ifndef FAKE_BROKEN
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
    return make_module(module);
}

hip_error hipModuleUnload(struct ihipModule_t *module)
{
    free_module(module);
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipModuleGetFunction(struct ihipModuleSymbol_t **function, struct ihipModule_t *module, const char *name)
{
    (void)module;
    MAY_FAIL();
    return find_function(function, name);
}

hip_error hipModuleLaunchKernel(struct ihipModuleSymbol_t *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                                struct ihipStream_t *stream, void **args, void **extra)
{
    (void)stream;
    MAY_FAIL();
    const struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes};
    return extra ? INVALID_HANDLE : run_launch(function, &shape, args, 0);
}

hip_error hipStreamCreateWithFlags(struct ihipStream_t **stream, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return make_stream(stream);
}

hip_error hipStreamDestroy(struct ihipStream_t *stream)
{
    free_stream(stream);
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
    return make_event(event);
}

hip_error hipEventDestroy(struct ihipEvent_t *event)
{
    free_event(event);
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipEventRecord(struct ihipEvent_t *event, struct ihipStream_t *stream)
{
    (void)stream;
    MAY_FAIL();
    return record(event);
}

hip_error hipEventElapsedTime(float *time_ms, struct ihipEvent_t *from, struct ihipEvent_t *to)
{
    MAY_FAIL();
    return elapsed(time_ms, from, to);
}

hip_error hipDeviceSynchronize(void)
{
    MAY_FAIL();
    let_go();
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

#ifndef FAKE_BARE
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
    MAY_FAIL();
    state.host_flags = flags;
    return allocate(pointer, size, &state.live_host);
}

hip_error hipHostFree(void *pointer)
{
    release(pointer, &state.live_host);
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

hip_error hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    MAY_FAIL();
    return can_reach(can, device, peer);
}

hip_error hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    MAY_FAIL();
    return flags ? INVALID_VALUE : enable_peer(peer);
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
    if (getenv("FAKE_HIP_NO_DISPATCH"))
        return HIP_NOT_SUPPORTED;
    from->time_ns = state.now_ns;
    const hip_error code = hipModuleLaunchKernel(function, work_x / block_x, work_y / block_y, work_z / block_z,
                                                 block_x, block_y, block_z, (unsigned)lds_bytes, stream, args, extra);
    to->time_ns = state.now_ns;
    state.launch_extended = 1;
    return code;
}

#ifndef FAKE_HIP_OLD
hip_error hipModuleLaunchCooperativeKernel(struct ihipModuleSymbol_t *function, unsigned grid_x, unsigned grid_y,
                                           unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                                           unsigned lds_bytes, struct ihipStream_t *stream, void **args)
{
    (void)stream;
    MAY_FAIL();
    const struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes};
    return run_launch(function, &shape, args, 1);
}
#endif

hip_error hipStreamBeginCapture(struct ihipStream_t *stream, unsigned mode)
{
    MAY_FAIL();
    return begin_capture(stream, mode);
}

hip_error hipStreamEndCapture(struct ihipStream_t *stream, struct ihipGraph **graph)
{
    (void)stream;
    end_capture(graph);
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipGraphInstantiate(struct hipGraphExec **exec, struct ihipGraph *graph, struct hipGraphNode **failed,
                              char *log, size_t log_bytes)
{
    (void)failed;
    (void)log;
    (void)log_bytes;
    MAY_FAIL();
    return make_exec(exec, graph);
}

hip_error hipGraphLaunch(struct hipGraphExec *exec, struct ihipStream_t *stream)
{
    (void)stream;
    MAY_FAIL();
    return launch_exec(exec);
}

hip_error hipGraphExecDestroy(struct hipGraphExec *exec)
{
    free_exec(exec);
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipGraphDestroy(struct ihipGraph *graph)
{
    free_graph(graph);
    MAY_FAIL();
    return HIP_SUCCESS;
}
#endif
