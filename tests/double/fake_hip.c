/* SPDX-License-Identifier: MIT */
#include "../../src/device/gpu_calls.h"

#define DECLARE_SHARED(member, cuda_name, hip_name, need, parameters) gpu_error hip_name parameters;
#define DECLARE(name, need, parameters) gpu_error name parameters;
GPU_CALLS(DECLARE_SHARED)
HIP_CALLS(DECLARE)
const char *hipGetErrorName(gpu_error code);

#ifdef FAKE_HIP_OLD
enum { COUNTER_MHZ = 25 };
#else
enum { COUNTER_MHZ = 100 };
#endif
enum { STEP_NS = 0 };

#define FAKE_PREFIX "FAKE_HIP_"
#define FAKE_UNITS 304
#include "fake_gpu_body.h"

gpu_error hipInit(unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error hipGetDeviceCount(int *count)
{
    MAY_FAIL();
    *count = device_count();
    return GPU_SUCCESS;
}

gpu_error hipSetDevice(int device)
{
    MAY_FAIL();
    if (device >= device_count())
        return GPU_INVALID_DEVICE;
    state.current_device = device;
    return GPU_SUCCESS;
}

gpu_error hipDeviceGetAttribute(int *value, unsigned attribute, int device)
{
    static const struct {
        unsigned attribute;
        int value;
    } values[] = {
        {HIP_WAVE, 64},
        {HIP_UNITS, 152},
        {HIP_BLOCK, 1024},
        {HIP_LDS, 65536},
        {HIP_CORE_KHZ, 2100000},
        {HIP_MEMORY_KHZ, 1300000},
        {HIP_L2, 4194304},
        {HIP_CLOCK_KHZ, 25000},
        {HIP_MANAGED, 1},
#ifndef FAKE_HIP_OLD
        {HIP_PHYSICAL_UNITS, 304},
        {HIP_GRID_X, 2147483647},
        {HIP_GRID_Y, 65536},
        {HIP_GRID_Z, 65535},
        {HIP_WALL_KHZ, 100000},
        {HIP_XCCS, 8},
        {HIP_TOGETHER, 1},
#endif
    };
    (void)device;
    MAY_FAIL();
    if (getenv("FAKE_HIP_NO_RATE") && (attribute == HIP_WALL_KHZ || attribute == HIP_CLOCK_KHZ))
        return INVALID_VALUE;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
        if (values[i].attribute == attribute) {
            *value = values[i].value;
            return GPU_SUCCESS;
        }
    }
    return INVALID_VALUE;
}

gpu_error hipDeviceGetName(char *name, int size, int device)
{
    MAY_FAIL();
    snprintf(name, (size_t)size, "Fake Instinct %d", device);
    return GPU_SUCCESS;
}

gpu_error hipMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    MAY_FAIL();
    *total_bytes = FAKE_GPU_MEMORY_BYTES;
    *free_bytes = FAKE_GPU_MEMORY_BYTES / 2;
    return GPU_SUCCESS;
}

gpu_error hipMalloc(void **pointer, size_t size)
{
    MAY_FAIL();
    state.memory_device = state.current_device;
    return allocate(pointer, size, &state.live_memory);
}

gpu_error hipFree(void *pointer)
{
    release(pointer, &state.live_memory);
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error hipMemcpy(void *to, const void *from, size_t size, unsigned kind)
{
    MAY_FAIL();
    if (kind != HIP_MEMCPY_DEFAULT)
        return 21; /* invalid direction */
    memcpy(to, from, size);
    return GPU_SUCCESS;
}

gpu_error hipMemcpyAsync(void *to, const void *from, size_t size, unsigned kind, struct gpu_stream *stream)
{
    (void)stream;
    (void)kind;
    MAY_FAIL();
    return copy_in_stream(to, from, size);
}

#ifndef FAKE_BROKEN
gpu_error hipMemsetD8Async(void *to, unsigned char byte, size_t size, struct gpu_stream *stream)
{
    (void)stream;
    MAY_FAIL();
    memset(to, byte, size);
    return GPU_SUCCESS;
}
#endif

gpu_error hipModuleLoad(struct gpu_code **module, const char *path)
{
    MAY_FAIL();
    if (access(path, R_OK))
        return 301; /* file not found */
    return make_module(module);
}

gpu_error hipModuleUnload(struct gpu_code *module)
{
    free_module(module);
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error hipModuleGetFunction(struct gpu_function **function, struct gpu_code *module, const char *name)
{
    (void)module;
    MAY_FAIL();
    return find_function(function, name);
}

gpu_error hipModuleLaunchKernel(struct gpu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                                struct gpu_stream *stream, void **args, void **extra)
{
    (void)stream;
    MAY_FAIL();
    const struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes};
    return extra ? INVALID_HANDLE : run_launch(function, &shape, args, 0);
}

gpu_error hipStreamCreateWithFlags(struct gpu_stream **stream, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return make_stream(stream);
}

gpu_error hipStreamDestroy(struct gpu_stream *stream)
{
    free_stream(stream);
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error hipStreamWaitEvent(struct gpu_stream *stream, struct gpu_event *event, unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error hipEventCreateWithFlags(struct gpu_event **event, unsigned flags)
{
    MAY_FAIL();
    if (flags)
        return INVALID_VALUE; /* 2 takes no time stamps */
    return make_event(event);
}

gpu_error hipEventDestroy(struct gpu_event *event)
{
    free_event(event);
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error hipEventRecord(struct gpu_event *event, struct gpu_stream *stream)
{
    (void)stream;
    MAY_FAIL();
    return record(event);
}

gpu_error hipEventElapsedTime(float *time_ms, struct gpu_event *from, struct gpu_event *to)
{
    MAY_FAIL();
    return elapsed(time_ms, from, to);
}

gpu_error hipDeviceSynchronize(void)
{
    MAY_FAIL();
    let_go();
    return GPU_SUCCESS;
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
    MAY_FAIL();
    return properties(to, 792, 396, "gfx90a:sramecc+:xnack-");
}

#ifndef FAKE_HIP_OLD
gpu_error hipGetDevicePropertiesR0600(void *to, int device)
{
    (void)device;
    MAY_FAIL();
    return properties(to, 1472, 1160, "gfx942:sramecc+:xnack-");
}
#endif

#ifndef FAKE_BARE
gpu_error hipDeviceGetPCIBusId(char *bdf, int size, int device)
{
    MAY_FAIL();
    snprintf(bdf, (size_t)size, "ffff:%02x:00.0", (unsigned)device & 0xff);
    return GPU_SUCCESS;
}

gpu_error hipDeviceGetUuid(struct gpu_uuid *uuid, int device)
{
    (void)device;
    MAY_FAIL();
    memcpy(uuid, "0123456789abcdef", 16);
    return GPU_SUCCESS;
}

gpu_error hipRuntimeGetVersion(int *version)
{
    MAY_FAIL();
    *version = 60342134;
    return GPU_SUCCESS;
}

gpu_error hipHostMalloc(void **pointer, size_t size, unsigned flags)
{
    MAY_FAIL();
    state.host_flags = flags;
    return allocate(pointer, size, &state.live_host);
}

gpu_error hipHostFree(void *pointer)
{
    release(pointer, &state.live_host);
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error hipMallocManaged(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return allocate(pointer, size, &state.live_memory);
}

gpu_error hipExtMallocWithFlags(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return allocate(pointer, size, &state.live_memory);
}

gpu_error hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    MAY_FAIL();
    return can_reach(can, device, peer);
}

gpu_error hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    MAY_FAIL();
    return flags ? INVALID_VALUE : enable_peer(peer);
}

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

#ifdef FAKE_HIP_OLD
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
    MAY_FAIL();
    if (getenv("FAKE_HIP_NO_DISPATCH"))
        return GPU_NOT_SUPPORTED;
    from->time_ns = state.now_ns;
    const gpu_error code = hipModuleLaunchKernel(function, work_x / block_x, work_y / block_y, work_z / block_z,
                                                 block_x, block_y, block_z, (unsigned)lds_bytes, stream, args, extra);
    to->time_ns = state.now_ns;
    state.launch_extended = 1;
    return code;
}

#ifndef FAKE_HIP_OLD
gpu_error hipModuleLaunchCooperativeKernel(struct gpu_function *function, unsigned grid_x, unsigned grid_y,
                                           unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                                           unsigned lds_bytes, struct gpu_stream *stream, void **args)
{
    (void)stream;
    MAY_FAIL();
    const struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes};
    return run_launch(function, &shape, args, 1);
}
#endif

gpu_error hipStreamBeginCapture(struct gpu_stream *stream, unsigned mode)
{
    MAY_FAIL();
    return begin_capture(stream, mode);
}

gpu_error hipStreamEndCapture(struct gpu_stream *stream, struct gpu_captured **graph)
{
    (void)stream;
    end_capture(graph);
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error hipGraphInstantiateWithFlags(struct gpu_instance **exec, struct gpu_captured *graph, unsigned long long flags)
{
    MAY_FAIL();
    return flags ? INVALID_VALUE : make_exec(exec, graph);
}

gpu_error hipGraphLaunch(struct gpu_instance *exec, struct gpu_stream *stream)
{
    (void)stream;
    MAY_FAIL();
    return launch_exec(exec);
}

gpu_error hipGraphExecDestroy(struct gpu_instance *exec)
{
    free_exec(exec);
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error hipGraphDestroy(struct gpu_captured *graph)
{
    free_graph(graph);
    MAY_FAIL();
    return GPU_SUCCESS;
}
#endif
