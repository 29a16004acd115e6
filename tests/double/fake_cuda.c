/* SPDX-License-Identifier: MIT */
#include "../../src/device/gpu_calls.h"

#define DECLARE_SHARED(member, cuda_name, hip_name, need, parameters) gpu_error cuda_name parameters;
#define DECLARE(name, need, parameters) gpu_error name parameters;
GPU_CALLS(DECLARE_SHARED)
CUDA_CALLS(DECLARE)

enum { COUNTER_MHZ = 1000, STEP_NS = 8, INVALID_IMAGE = 200, MAX_DEVICES = 8 };

#define FAKE_PREFIX "FAKE_CUDA_"
#define FAKE_UNITS 132
#include "fake_gpu_body.h"

struct gpu_context {
    int device, uses;
};
static struct gpu_context contexts[MAX_DEVICES];

__attribute__((constructor)) static void without_a_context(void)
{
    state.current_device = -1;
}

static gpu_error told_or_lost(const char *function)
{
    const gpu_error told = told_to_fail(function);
    if (told == GPU_ILLEGAL_ADDRESS || told == GPU_LAUNCH_FAILED)
        state.sticky = told;
    return told ? told : state.sticky;
}

/* Of a function that works in a context. */
#define NEEDS_CONTEXT()                                                                                                \
    do {                                                                                                               \
        const gpu_error why = told_or_lost(__func__);                                                                  \
        if (why || state.current_device < 0)                                                                           \
            return why ? why : GPU_INVALID_CONTEXT;                                                                    \
    } while (0)

/* ---- devices and contexts ---- */

gpu_error cuInit(unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error cuDriverGetVersion(int *version)
{
    MAY_FAIL();
    *version = 13020;
    return GPU_SUCCESS;
}

gpu_error cuDeviceGetCount(int *count)
{
    MAY_FAIL();
    *count = device_count();
    return *count ? GPU_SUCCESS : GPU_NO_DEVICE;
}

gpu_error cuDeviceGet(int *device, int ordinal)
{
    MAY_FAIL();
    if (ordinal >= device_count() || ordinal >= MAX_DEVICES)
        return GPU_INVALID_DEVICE;
    *device = ordinal;
    return GPU_SUCCESS;
}

gpu_error cuDeviceGetName(char *name, int size, int device)
{
    const char *told = getenv("FAKE_CUDA_NAME");
    (void)device;
    MAY_FAIL();
    snprintf(name, (size_t)size, "%s", told ? told : "NVIDIA Fake H200");
    return GPU_SUCCESS;
}

gpu_error cuDeviceGetAttribute(int *value, unsigned attribute, int device)
{
    const char *told = getenv("FAKE_CUDA_CAPABILITY");
    const int capability = told ? (int)strtol(told, NULL, 10) : 90;
    const struct {
        unsigned attribute;
        int value;
    } values[] = {
        {CUDA_CAPABILITY_MAJOR, capability / 10},
        {CUDA_CAPABILITY_MINOR, capability % 10},
        {CUDA_WAVE, 32},
        {CUDA_UNITS, FAKE_UNITS},
        {CUDA_BLOCK, 1024},
        {CUDA_GRID_X, 2147483647},
        {CUDA_GRID_Y, 65535},
        {CUDA_GRID_Z, 65535},
        {CUDA_LDS, 232448},
        {CUDA_CORE_KHZ, 1980000},
        {CUDA_MEMORY_KHZ, 3201000},
        {CUDA_L2, 62914560},
        {CUDA_TOGETHER, 1},
        {CUDA_UNIFIED, 1},
        {CUDA_MANAGED, 1},
        {CUDA_PAGEABLE, 0},
    };
    (void)device;
    MAY_FAIL();
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
        if (values[i].attribute == attribute) {
            *value = values[i].value;
            return GPU_SUCCESS;
        }
    }
    return INVALID_VALUE;
}

gpu_error cuDevicePrimaryCtxRetain(struct gpu_context **context, int device)
{
    MAY_FAIL();
    contexts[device].device = device;
    ++contexts[device].uses;
    ++state.live_contexts;
    events = 0;
    *context = &contexts[device];
    return GPU_SUCCESS;
}

gpu_error cuDevicePrimaryCtxRelease_v2(int device)
{
    --contexts[device].uses;
    --state.live_contexts;
    if (state.current_device == device)
        state.current_device = -1;
    state.sticky = GPU_SUCCESS;
    MAY_FAIL();
    return GPU_SUCCESS;
}

gpu_error cuCtxSetCurrent(struct gpu_context *context)
{
    MAY_FAIL();
    if (!context->uses)
        return GPU_INVALID_CONTEXT;
    state.current_device = context->device;
    return GPU_SUCCESS;
}

gpu_error cuCtxSynchronize(void)
{
    NEEDS_CONTEXT();
    let_go();
    return GPU_SUCCESS;
}

/* ---- memory ---- */

gpu_error cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    NEEDS_CONTEXT();
    *total_bytes = FAKE_GPU_MEMORY_BYTES;
    *free_bytes = FAKE_GPU_MEMORY_BYTES / 2;
    return GPU_SUCCESS;
}

gpu_error cuMemAlloc_v2(gpu_address *address, size_t size)
{
    NEEDS_CONTEXT();
    state.memory_device = state.current_device;
    return allocate(address, size, &state.live_memory);
}

gpu_error cuMemFree_v2(gpu_address address)
{
    release(address, &state.live_memory);
    NEEDS_CONTEXT();
    return GPU_SUCCESS;
}

gpu_error cuMemcpy(gpu_address to, gpu_address from, size_t size)
{
    NEEDS_CONTEXT();
    memcpy(to, from, size);
    return GPU_SUCCESS;
}

gpu_error cuMemcpyAsync(gpu_address to, gpu_address from, size_t size, struct gpu_stream *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    return copy_in_stream(to, from, size);
}

#ifndef FAKE_BROKEN
gpu_error cuMemsetD8Async(gpu_address to, unsigned char byte, size_t size, struct gpu_stream *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    memset(to, byte, size);
    return GPU_SUCCESS;
}
#endif

/* ---- code ---- */

gpu_error cuModuleLoadDataEx(struct gpu_code **module, const void *image, unsigned count, unsigned *options,
                             void **values)
{
    NEEDS_CONTEXT();
    if (strncmp(image, "bad", 3) == 0) {
        for (unsigned i = 0; i < count; ++i)
            if (options[i] == CUDA_JIT_ERROR_LOG)
                snprintf(values[i], 64, "ptxas line 1; fatal: no version\nand more\n");
        return INVALID_IMAGE;
    }
    return make_module(module);
}

gpu_error cuModuleUnload(struct gpu_code *module)
{
    free_module(module);
    NEEDS_CONTEXT();
    return GPU_SUCCESS;
}

gpu_error cuModuleGetFunction(struct gpu_function **function, struct gpu_code *module, const char *name)
{
    (void)module;
    NEEDS_CONTEXT();
    return find_function(function, name);
}

gpu_error cuFuncGetAttribute(int *value, unsigned attribute, struct gpu_function *function)
{
    (void)function;
    NEEDS_CONTEXT();
    *value = attribute == CUDA_FUNCTION_SHARED_BYTES ? 4096 : 0;
    return GPU_SUCCESS;
}

gpu_error cuFuncSetAttribute(struct gpu_function *function, unsigned attribute, int value)
{
    (void)function;
    NEEDS_CONTEXT();
    if (attribute != CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES || value > 232448 - 4096)
        return INVALID_VALUE;
    state.most_lds_bytes = value;
    return GPU_SUCCESS;
}

gpu_error cuLaunchKernel(struct gpu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                         struct gpu_stream *stream, void **args, void **extra)
{
    (void)stream;
    NEEDS_CONTEXT();
    const struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes};
    if ((int)lds_bytes > 48 * 1024 - 4096 && (int)lds_bytes > state.most_lds_bytes)
        return INVALID_VALUE;
    return extra ? INVALID_HANDLE : run_launch(function, &shape, args, 0);
}

/* ---- streams and events ---- */

gpu_error cuStreamCreate(struct gpu_stream **stream, unsigned flags)
{
    NEEDS_CONTEXT();
    if (flags != GPU_STREAM_NON_BLOCKING)
        return INVALID_VALUE;
    return make_stream(stream);
}

gpu_error cuStreamDestroy_v2(struct gpu_stream *stream)
{
    free_stream(stream);
    NEEDS_CONTEXT();
    return GPU_SUCCESS;
}

gpu_error cuStreamSynchronize(struct gpu_stream *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    return GPU_SUCCESS;
}

gpu_error cuStreamWaitEvent(struct gpu_stream *stream, struct gpu_event *event, unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    NEEDS_CONTEXT();
    return GPU_SUCCESS;
}

gpu_error cuEventCreate(struct gpu_event **event, unsigned flags)
{
    NEEDS_CONTEXT();
    if (flags)
        return INVALID_VALUE; /* 2 takes no time stamps */
    return make_event(event);
}

gpu_error cuEventDestroy_v2(struct gpu_event *event)
{
    free_event(event);
    NEEDS_CONTEXT();
    return GPU_SUCCESS;
}

gpu_error cuEventRecord(struct gpu_event *event, struct gpu_stream *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    return record(event);
}

gpu_error cuEventElapsedTime(float *time_ms, struct gpu_event *from, struct gpu_event *to)
{
    NEEDS_CONTEXT();
    return elapsed(time_ms, from, to);
}

/* ---- what a driver may lack ---- */

#ifndef FAKE_BARE
gpu_error cuDeviceGetPCIBusId(char *bdf, int size, int device)
{
    MAY_FAIL();
    snprintf(bdf, (size_t)size, "FFFF:%02X:00.0", (unsigned)device & 0xff);
    return GPU_SUCCESS;
}

gpu_error cuDeviceGetUuid_v2(struct gpu_uuid *uuid, int device)
{
    (void)device;
    MAY_FAIL();
    memcpy(uuid, "\x01\x23\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10", 16);
    return GPU_SUCCESS;
}

gpu_error cuMemHostAlloc(void **pointer, size_t size, unsigned flags)
{
    NEEDS_CONTEXT();
    if (flags != (CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP))
        return INVALID_VALUE;
    state.host_flags = flags;
    return allocate(pointer, size, &state.live_host);
}

gpu_error cuMemFreeHost(void *pointer)
{
    release(pointer, &state.live_host);
    NEEDS_CONTEXT();
    return GPU_SUCCESS;
}

gpu_error cuMemAllocManaged(gpu_address *address, size_t size, unsigned flags)
{
    NEEDS_CONTEXT();
    if (flags != GPU_MEM_ATTACH_GLOBAL)
        return INVALID_VALUE;
    return allocate(address, size, &state.live_memory);
}

gpu_error cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    MAY_FAIL();
    return can_reach(can, device, peer);
}

gpu_error cuCtxEnablePeerAccess(struct gpu_context *peer, unsigned flags)
{
    NEEDS_CONTEXT();
    return flags || !peer->uses ? INVALID_VALUE : enable_peer(peer->device);
}

/* Only store tells its arguments. */
gpu_error cuFuncGetParamInfo(struct gpu_function *function, size_t index, size_t *offset, size_t *size)
{
    const char *told = getenv("FAKE_CUDA_SECOND_ARGUMENT");
    NEEDS_CONTEXT();
    if (function != functions || index > 1)
        return INVALID_VALUE;
    *offset = index * 8;
    *size = !index ? 8 : told ? strtoul(told, NULL, 10) : 4;
    return GPU_SUCCESS;
}

gpu_error cuLaunchCooperativeKernel(struct gpu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                                    struct gpu_stream *stream, void **args)
{
    (void)stream;
    NEEDS_CONTEXT();
    const struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes};
    return run_launch(function, &shape, args, 1);
}

/* ---- graphs ---- */

gpu_error cuStreamBeginCapture_v2(struct gpu_stream *stream, unsigned mode)
{
    NEEDS_CONTEXT();
    return begin_capture(stream, mode);
}

gpu_error cuStreamEndCapture(struct gpu_stream *stream, struct gpu_captured **graph)
{
    (void)stream;
    end_capture(graph);
    NEEDS_CONTEXT();
    return GPU_SUCCESS;
}

gpu_error cuGraphInstantiateWithFlags(struct gpu_instance **exec, struct gpu_captured *graph, unsigned long long flags)
{
    NEEDS_CONTEXT();
    return flags ? INVALID_VALUE : make_exec(exec, graph);
}

gpu_error cuGraphLaunch(struct gpu_instance *exec, struct gpu_stream *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    return launch_exec(exec);
}

gpu_error cuGraphExecDestroy(struct gpu_instance *exec)
{
    free_exec(exec);
    NEEDS_CONTEXT();
    return GPU_SUCCESS;
}

gpu_error cuGraphDestroy(struct gpu_captured *graph)
{
    free_graph(graph);
    NEEDS_CONTEXT();
    return GPU_SUCCESS;
}

/* ---- errors ---- */

static const struct {
    gpu_error code;
    const char *name, *text;
} errors[] = {
    {GPU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {GPU_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {GPU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {GPU_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {GPU_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

static gpu_error tell(gpu_error code, const char **out, int as_text)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); ++i)
        if (errors[i].code == code) {
            *out = as_text ? errors[i].text : errors[i].name;
            return GPU_SUCCESS;
        }
    *out = NULL;
    return INVALID_VALUE;
}

gpu_error cuGetErrorName(gpu_error code, const char **name)
{
    return tell(code, name, 0);
}

gpu_error cuGetErrorString(gpu_error code, const char **text)
{
    return tell(code, text, 1);
}
#endif
