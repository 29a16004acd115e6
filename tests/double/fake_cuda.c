/* SPDX-License-Identifier: MIT */
#include "../../src/device/cuda_api.h"

#define DECLARE(name, parameters) cuda_error name parameters;
CUDA_REQUIRED(DECLARE)
CUDA_OPTIONAL(DECLARE)

enum { COUNTER_MHZ = 1000, STEP_NS = 8, INVALID_IMAGE = 200, MAX_DEVICES = 4 };

#define FAKE_PREFIX "FAKE_CUDA_"
#define FAKE_ERROR cuda_error
#define FAKE_FUNCTION CUfunc_st
#define FAKE_STREAM CUstream_st
#define FAKE_EVENT CUevent_st
#define FAKE_MODULE CUmod_st
#define FAKE_GRAPH CUgraph_st
#define FAKE_EXEC CUgraphExec_st
#define FAKE_UNITS 132
#include "fake_gpu_body.h"

struct CUctx_st {
    int device, uses;
};
static struct CUctx_st contexts[MAX_DEVICES];

__attribute__((constructor)) static void without_a_context(void)
{
    state.current_device = -1;
}

static cuda_error told_or_lost(const char *function)
{
    const cuda_error told = told_to_fail(function);
    if (told == CUDA_ILLEGAL_ADDRESS || told == CUDA_LAUNCH_FAILED)
        state.sticky = told;
    return told ? told : state.sticky;
}

/* Of a function that works in a context. */
#define NEEDS_CONTEXT()                                                                                                \
    do {                                                                                                               \
        const cuda_error why = told_or_lost(__func__);                                                                 \
        if (why || state.current_device < 0)                                                                           \
            return why ? why : CUDA_INVALID_CONTEXT;                                                                   \
    } while (0)

/* ---- devices and contexts ---- */

cuda_error cuInit(unsigned flags)
{
    (void)flags;
    MAY_FAIL();
    return CUDA_OK;
}

cuda_error cuDriverGetVersion(int *version)
{
    MAY_FAIL();
    *version = 13020;
    return CUDA_OK;
}

cuda_error cuDeviceGetCount(int *count)
{
    MAY_FAIL();
    *count = device_count();
    return *count ? CUDA_OK : CUDA_NO_DEVICE;
}

cuda_error cuDeviceGet(int *device, int ordinal)
{
    MAY_FAIL();
    if (ordinal >= device_count() || ordinal >= MAX_DEVICES)
        return INVALID_DEVICE;
    *device = ordinal;
    return CUDA_OK;
}

cuda_error cuDeviceGetName(char *name, int size, int device)
{
    const char *told = getenv("FAKE_CUDA_NAME");
    (void)device;
    MAY_FAIL();
    snprintf(name, (size_t)size, "%s", told ? told : "NVIDIA Fake H200");
    return CUDA_OK;
}

cuda_error cuDeviceGetAttribute(int *value, unsigned attribute, int device)
{
    const char *told = getenv("FAKE_CUDA_CAPABILITY");
    const int capability = told ? (int)strtol(told, NULL, 10) : 90;
    const struct {
        unsigned attribute;
        int value;
    } values[] = {
        {CUDA_CAPABILITY_MAJOR, capability / 10},
        {CUDA_CAPABILITY_MINOR, capability % 10},
        {CUDA_WARP_SIZE, 32},
        {CUDA_MULTIPROCESSOR_COUNT, FAKE_UNITS},
        {CUDA_MAX_THREADS_PER_BLOCK, 1024},
        {CUDA_MAX_GRID_X, 2147483647},
        {CUDA_MAX_GRID_Y, 65535},
        {CUDA_MAX_GRID_Z, 65535},
        {CUDA_MAX_SHARED_MEMORY_OPTIN, 232448},
        {CUDA_CLOCK_RATE, 1980000},
        {CUDA_MEMORY_CLOCK_RATE, 3201000},
        {CUDA_L2_CACHE_SIZE, 62914560},
        {CUDA_COOPERATIVE_LAUNCH, 1},
        {CUDA_UNIFIED_ADDRESSING, 1},
        {CUDA_MANAGED_MEMORY, 1},
        {CUDA_PAGEABLE_MEMORY_ACCESS, 0},
    };
    (void)device;
    MAY_FAIL();
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
        if (values[i].attribute == attribute) {
            *value = values[i].value;
            return CUDA_OK;
        }
    }
    return INVALID_VALUE;
}

cuda_error cuDevicePrimaryCtxRetain(struct CUctx_st **context, int device)
{
    MAY_FAIL();
    contexts[device].device = device;
    ++contexts[device].uses;
    ++state.live_contexts;
    events = 0;
    *context = &contexts[device];
    return CUDA_OK;
}

cuda_error cuDevicePrimaryCtxRelease_v2(int device)
{
    --contexts[device].uses;
    --state.live_contexts;
    if (state.current_device == device)
        state.current_device = -1;
    state.sticky = CUDA_OK;
    MAY_FAIL();
    return CUDA_OK;
}

cuda_error cuCtxSetCurrent(struct CUctx_st *context)
{
    MAY_FAIL();
    if (!context->uses)
        return CUDA_INVALID_CONTEXT;
    state.current_device = context->device;
    return CUDA_OK;
}

cuda_error cuCtxSynchronize(void)
{
    NEEDS_CONTEXT();
    let_go();
    return CUDA_OK;
}

/* ---- memory ---- */

cuda_error cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    NEEDS_CONTEXT();
    *total_bytes = FAKE_GPU_MEMORY_BYTES;
    *free_bytes = FAKE_GPU_MEMORY_BYTES / 2;
    return CUDA_OK;
}

static cuda_error allocate_address(cuda_address *address, size_t size)
{
    void *memory = NULL;
    const cuda_error code = allocate(&memory, size, &state.live_memory);
    *address = (cuda_address)(uintptr_t)memory;
    return code;
}

static void *memory_at(cuda_address address)
{
    return (void *)(uintptr_t)address;
}

cuda_error cuMemAlloc_v2(cuda_address *address, size_t size)
{
    NEEDS_CONTEXT();
    state.memory_device = state.current_device;
    return allocate_address(address, size);
}

cuda_error cuMemFree_v2(cuda_address address)
{
    release(memory_at(address), &state.live_memory);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuMemcpy(cuda_address to, cuda_address from, size_t size)
{
    NEEDS_CONTEXT();
    memcpy(memory_at(to), memory_at(from), size);
    return CUDA_OK;
}

cuda_error cuMemcpyAsync(cuda_address to, cuda_address from, size_t size, struct CUstream_st *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    return copy_in_stream(memory_at(to), memory_at(from), size);
}

#ifndef FAKE_BROKEN
cuda_error cuMemsetD8Async(cuda_address to, unsigned char byte, size_t size, struct CUstream_st *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    memset(memory_at(to), byte, size);
    return CUDA_OK;
}
#endif

/* ---- code ---- */

cuda_error cuModuleLoadDataEx(struct CUmod_st **module, const void *image, unsigned count, unsigned *options,
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

cuda_error cuModuleUnload(struct CUmod_st *module)
{
    free_module(module);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module, const char *name)
{
    (void)module;
    NEEDS_CONTEXT();
    return find_function(function, name);
}

cuda_error cuFuncGetAttribute(int *value, unsigned attribute, struct CUfunc_st *function)
{
    (void)function;
    NEEDS_CONTEXT();
    *value = attribute == CUDA_FUNCTION_SHARED_BYTES ? 4096 : 0;
    return CUDA_OK;
}

cuda_error cuFuncSetAttribute(struct CUfunc_st *function, unsigned attribute, int value)
{
    (void)function;
    NEEDS_CONTEXT();
    if (attribute != CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES || value > 232448 - 4096)
        return INVALID_VALUE;
    state.most_lds_bytes = value;
    return CUDA_OK;
}

cuda_error cuLaunchKernel(struct CUfunc_st *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                          struct CUstream_st *stream, void **args, void **extra)
{
    (void)stream;
    NEEDS_CONTEXT();
    const struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes};
    if ((int)lds_bytes > 48 * 1024 - 4096 && (int)lds_bytes > state.most_lds_bytes)
        return INVALID_VALUE;
    return extra ? INVALID_HANDLE : run_launch(function, &shape, args, 0);
}

/* ---- streams and events ---- */

cuda_error cuStreamCreate(struct CUstream_st **stream, unsigned flags)
{
    NEEDS_CONTEXT();
    if (flags != CUDA_STREAM_NON_BLOCKING)
        return INVALID_VALUE;
    return make_stream(stream);
}

cuda_error cuStreamDestroy_v2(struct CUstream_st *stream)
{
    free_stream(stream);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuStreamSynchronize(struct CUstream_st *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuStreamWaitEvent(struct CUstream_st *stream, struct CUevent_st *event, unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuEventCreate(struct CUevent_st **event, unsigned flags)
{
    NEEDS_CONTEXT();
    if (flags)
        return INVALID_VALUE; /* 2 takes no time stamps */
    return make_event(event);
}

cuda_error cuEventDestroy_v2(struct CUevent_st *event)
{
    free_event(event);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    return record(event);
}

cuda_error cuEventElapsedTime(float *time_ms, struct CUevent_st *from, struct CUevent_st *to)
{
    NEEDS_CONTEXT();
    return elapsed(time_ms, from, to);
}

/* ---- what a driver may lack ---- */

#ifndef FAKE_BARE
cuda_error cuDeviceGetPCIBusId(char *bdf, int size, int device)
{
    MAY_FAIL();
    snprintf(bdf, (size_t)size, "FFFF:%02X:00.0", (unsigned)device & 0xff);
    return CUDA_OK;
}

cuda_error cuDeviceGetUuid_v2(struct CUuuid_st *uuid, int device)
{
    (void)device;
    MAY_FAIL();
    memcpy(uuid, "\x01\x23\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10", 16);
    return CUDA_OK;
}

cuda_error cuMemHostAlloc(void **pointer, size_t size, unsigned flags)
{
    NEEDS_CONTEXT();
    if (flags != (CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP))
        return INVALID_VALUE;
    state.host_flags = flags;
    return allocate(pointer, size, &state.live_host);
}

cuda_error cuMemFreeHost(void *pointer)
{
    release(pointer, &state.live_host);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuMemAllocManaged(cuda_address *address, size_t size, unsigned flags)
{
    NEEDS_CONTEXT();
    if (flags != CUDA_MEM_ATTACH_GLOBAL)
        return INVALID_VALUE;
    return allocate_address(address, size);
}

cuda_error cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    MAY_FAIL();
    return can_reach(can, device, peer);
}

cuda_error cuCtxEnablePeerAccess(struct CUctx_st *peer, unsigned flags)
{
    NEEDS_CONTEXT();
    return flags || !peer->uses ? INVALID_VALUE : enable_peer(peer->device);
}

/* Only store tells its arguments. */
cuda_error cuFuncGetParamInfo(struct CUfunc_st *function, size_t index, size_t *offset, size_t *size)
{
    const char *told = getenv("FAKE_CUDA_SECOND_ARGUMENT");
    NEEDS_CONTEXT();
    if (function != functions || index > 1)
        return INVALID_VALUE;
    *offset = index * 8;
    *size = !index ? 8 : told ? strtoul(told, NULL, 10) : 4;
    return CUDA_OK;
}

cuda_error cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, struct CUfunc_st *function, int block,
                                                       size_t lds_bytes)
{
    (void)function;
    NEEDS_CONTEXT();
    *count = 2048 / block - (lds_bytes > 0);
    return CUDA_OK;
}

cuda_error cuLaunchCooperativeKernel(struct CUfunc_st *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                                     struct CUstream_st *stream, void **args)
{
    (void)stream;
    NEEDS_CONTEXT();
    const struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes};
    return run_launch(function, &shape, args, 1);
}

/* ---- graphs ---- */

cuda_error cuStreamBeginCapture_v2(struct CUstream_st *stream, unsigned mode)
{
    NEEDS_CONTEXT();
    return begin_capture(stream, mode);
}

cuda_error cuStreamEndCapture(struct CUstream_st *stream, struct CUgraph_st **graph)
{
    (void)stream;
    end_capture(graph);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuGraphInstantiateWithFlags(struct CUgraphExec_st **exec, struct CUgraph_st *graph, unsigned long long flags)
{
    NEEDS_CONTEXT();
    return flags ? INVALID_VALUE : make_exec(exec, graph);
}

cuda_error cuGraphLaunch(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    return launch_exec(exec);
}

cuda_error cuGraphExecDestroy(struct CUgraphExec_st *exec)
{
    free_exec(exec);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuGraphDestroy(struct CUgraph_st *graph)
{
    free_graph(graph);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

/* ---- errors ---- */

static const struct {
    cuda_error code;
    const char *name, *text;
} errors[] = {
    {CUDA_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {CUDA_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

static cuda_error tell(cuda_error code, const char **out, int as_text)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); ++i)
        if (errors[i].code == code) {
            *out = as_text ? errors[i].text : errors[i].name;
            return CUDA_OK;
        }
    *out = NULL;
    return INVALID_VALUE;
}

cuda_error cuGetErrorName(cuda_error code, const char **name)
{
    return tell(code, name, 0);
}

cuda_error cuGetErrorString(cuda_error code, const char **text)
{
    return tell(code, text, 1);
}
#endif
