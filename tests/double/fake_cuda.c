/* SPDX-License-Identifier: MIT */
#include "fake_cuda.h"

#include "../../src/device/cuda_api.h"

#define DECLARE(name, parameters) cuda_error name parameters;
CUDA_REQUIRED(DECLARE)
CUDA_OPTIONAL(DECLARE)

enum { INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_HANDLE = 400, CAPTURE_UNSUPPORTED = 900 };
enum { EVENT_NS = 3000, STEP_NS = 8, WAKING_EVENTS = 64 };
enum { COUNTER_MHZ = 1000 };
enum { UNITS = 132, MAX_DEVICES = 4 };

struct CUctx_st {
    int device, uses;
};
struct CUstream_st {
    int unused;
};
struct CUmod_st {
    int unused;
};
struct CUevent_st {
    double time_ns; /* 0: not recorded */
};

static struct fake_cuda_state state = {.now_ns = EVENT_NS, .current_device = -1};
static struct CUctx_st contexts[MAX_DEVICES];
static unsigned events; /* recorded since a context was made */

#define FAKE_PREFIX "FAKE_CUDA_"
#define FAKE_ERROR cuda_error
#define FAKE_FUNCTION CUfunc_st
#define FAKE_GRAPH CUgraph_st
#include "fake_kernels.h"

struct CUgraphExec_st {
    struct CUgraph_st graph;
};

struct fake_cuda_state *fake_cuda_state(void)
{
    return &state;
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
        {CUDA_MULTIPROCESSOR_COUNT, UNITS},
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
    if (held)
        held[2] = held[0] ? 1 : 2;
    held = NULL;
    return CUDA_OK;
}

/* ---- memory ---- */

cuda_error cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    NEEDS_CONTEXT();
    *total_bytes = FAKE_CUDA_MEMORY_BYTES;
    *free_bytes = FAKE_CUDA_MEMORY_BYTES / 2;
    return CUDA_OK;
}

static cuda_error allocate(void **pointer, size_t size, int *live)
{
    if (size > FAKE_CUDA_MEMORY_BYTES)
        return CUDA_OUT_OF_MEMORY;
    *pointer = malloc(size);
    ++*live;
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
    state.live_memory -= address != 0;
    free(memory_at(address));
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
    state.now_ns += 8000 + (double)size / 25;
    memcpy(memory_at(to), memory_at(from), size);
    return CUDA_OK;
}

#ifndef FAKE_CUDA_BROKEN
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
    *module = calloc(1, sizeof(**module));
    ++state.live_modules;
    return CUDA_OK;
}

cuda_error cuModuleUnload(struct CUmod_st *module)
{
    --state.live_modules;
    free(module);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module, const char *name)
{
    (void)module;
    NEEDS_CONTEXT();
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i)
        if (strcmp(name, functions[i].name) == 0) {
            *function = &functions[i];
            return CUDA_OK;
        }
    return CUDA_NOT_FOUND;
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
    if (function < functions || function >= functions + sizeof(functions) / sizeof(functions[0]) || extra)
        return INVALID_HANDLE;
    if ((int)lds_bytes > 48 * 1024 - 4096 && (int)lds_bytes > state.most_lds_bytes)
        return INVALID_VALUE;
    if (capture) {
        add_node(function, grid_x * block_x, args);
        return CUDA_OK;
    }
    const struct fake_cuda_state launched = {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}};
    memcpy(state.grid, launched.grid, sizeof(state.grid));
    memcpy(state.block, launched.block, sizeof(state.block));
    state.lds_bytes = lds_bytes;
    state.launch_cooperative = 0;
    places = grid_x * block_x;
    execute(function, args);
    return CUDA_OK;
}

/* ---- streams and events ---- */

cuda_error cuStreamCreate(struct CUstream_st **stream, unsigned flags)
{
    NEEDS_CONTEXT();
    if (flags != CUDA_STREAM_NON_BLOCKING)
        return INVALID_VALUE;
    *stream = calloc(1, sizeof(**stream));
    ++state.live_streams;
    return CUDA_OK;
}

cuda_error cuStreamDestroy_v2(struct CUstream_st *stream)
{
    --state.live_streams;
    free(stream);
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
    *event = calloc(1, sizeof(**event));
    ++state.live_events;
    return CUDA_OK;
}

cuda_error cuEventDestroy_v2(struct CUevent_st *event)
{
    --state.live_events;
    free(event);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    state.now_ns += EVENT_NS + (events < WAKING_EVENTS && events % 2 ? STEP_NS : 0);
    ++events;
    event->time_ns = state.now_ns;
    return CUDA_OK;
}

cuda_error cuEventElapsedTime(float *time_ms, struct CUevent_st *from, struct CUevent_st *to)
{
    NEEDS_CONTEXT();
    if (from->time_ns <= 0 || to->time_ns <= 0)
        return INVALID_HANDLE;
    *time_ms = (float)((to->time_ns - from->time_ns) * 1e-6);
    return CUDA_OK;
}

/* ---- what a driver may lack ---- */

#ifndef FAKE_CUDA_BARE
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
    return allocate(pointer, size, &state.live_host);
}

cuda_error cuMemFreeHost(void *pointer)
{
    state.live_host -= pointer != NULL;
    free(pointer);
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
    if (device == peer || peer >= device_count() || device >= device_count())
        return INVALID_DEVICE;
    *can = !getenv("FAKE_CUDA_NO_PEER");
    return CUDA_OK;
}

cuda_error cuCtxEnablePeerAccess(struct CUctx_st *peer, unsigned flags)
{
    NEEDS_CONTEXT();
    const unsigned bit = 1u << (state.current_device * 4 + peer->device);
    if (flags || !peer->uses)
        return INVALID_VALUE;
    if (state.peer_enabled & bit)
        return CUDA_PEER_ACCESS_ALREADY_ENABLED;
    state.peer_enabled |= bit;
    return CUDA_OK;
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

/* As many workgroups as there are units. */
cuda_error cuLaunchCooperativeKernel(struct CUfunc_st *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                                     struct CUstream_st *stream, void **args)
{
    NEEDS_CONTEXT();
    if (grid_x * grid_y * grid_z > UNITS)
        return CUDA_COOPERATIVE_LAUNCH_TOO_LARGE;
    const cuda_error code =
        cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, lds_bytes, stream, args, NULL);
    state.launch_cooperative = 1;
    return code;
}

/* ---- graphs ---- */

cuda_error cuStreamBeginCapture_v2(struct CUstream_st *stream, unsigned mode)
{
    NEEDS_CONTEXT();
    if (!stream || mode != CUDA_CAPTURE_THREAD_LOCAL || capture)
        return CAPTURE_UNSUPPORTED;
    capture = calloc(1, sizeof(*capture));
    state.capturing = 1;
    return CUDA_OK;
}

cuda_error cuStreamEndCapture(struct CUstream_st *stream, struct CUgraph_st **graph)
{
    (void)stream;
    *graph = capture;
    capture = NULL;
    state.capturing = 0;
    ++state.live_graphs;
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuGraphInstantiateWithFlags(struct CUgraphExec_st **exec, struct CUgraph_st *graph, unsigned long long flags)
{
    NEEDS_CONTEXT();
    if (flags)
        return INVALID_VALUE;
    const size_t size = graph->count * sizeof(*graph->nodes);
    *exec = calloc(1, sizeof(**exec));
    (*exec)->graph.count = graph->count;
    (*exec)->graph.nodes = malloc(size);
    memcpy((*exec)->graph.nodes, graph->nodes, size);
    ++state.live_graphs;
    return CUDA_OK;
}

cuda_error cuGraphLaunch(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
    (void)stream;
    NEEDS_CONTEXT();
    for (size_t i = 0; i < exec->graph.count; ++i) {
        struct graph_node *node = &exec->graph.nodes[i];
        places = node->places;
        execute(node->function, (void *[]){&node->args[0], &node->args[1]});
    }
    return CUDA_OK;
}

cuda_error cuGraphExecDestroy(struct CUgraphExec_st *exec)
{
    --state.live_graphs;
    free(exec->graph.nodes);
    free(exec);
    NEEDS_CONTEXT();
    return CUDA_OK;
}

cuda_error cuGraphDestroy(struct CUgraph_st *graph)
{
    --state.live_graphs;
    free(graph->nodes);
    free(graph);
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
