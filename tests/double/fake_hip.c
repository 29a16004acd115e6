/* SPDX-License-Identifier: MIT */
#include "fake_hip.h"

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
struct ihipEvent_t {
    double time_ns; /* 0: not recorded */
};
struct hipGraphExec {
    const struct ihipGraph *graph;
};

enum { EVENT_NS = 3000 };
#ifdef FAKE_HIP_OLD
enum { COUNTER_MHZ = 25 };
#else
enum { COUNTER_MHZ = 100 };
#endif
static struct fake_hip_state state = {.now_ns = EVENT_NS};

#define FAKE_PREFIX "FAKE_HIP_"
#define FAKE_ERROR hip_error
#define FAKE_FUNCTION ihipModuleSymbol_t
#define FAKE_GRAPH ihipGraph
#include "fake_kernels.h"

struct fake_hip_state *fake_hip_state(void)
{
    return &state;
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
        return 1; /* invalid value */
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
    state.memory_device = state.current_device;
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
    state.now_ns += 8000 + (double)size / 25;
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
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i)
        if (strcmp(name, functions[i].name) == 0) {
            *function = &functions[i];
            return HIP_SUCCESS;
        }
    return HIP_NOT_FOUND;
}

hip_error hipModuleLaunchKernel(struct ihipModuleSymbol_t *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                                struct ihipStream_t *stream, void **args, void **extra)
{
    (void)stream;
    MAY_FAIL();
    if (function < functions || function >= functions + sizeof(functions) / sizeof(functions[0]) || extra)
        return 400; /* invalid handle */
    if (capture) {
        add_node(function, grid_x * block_x, args);
        return HIP_SUCCESS;
    }
    const struct fake_hip_state launched = {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}};
    memcpy(state.grid, launched.grid, sizeof(state.grid));
    memcpy(state.block, launched.block, sizeof(state.block));
    state.lds_bytes = lds_bytes;
    state.launch_extended = 0;
    state.launch_cooperative = 0;
    places = grid_x * block_x;
    execute(function, args);
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
    (void)stream;
    MAY_FAIL();
    state.now_ns += (double)EVENT_NS;
    event->time_ns = state.now_ns;
    return HIP_SUCCESS;
}

hip_error hipEventElapsedTime(float *time_ms, struct ihipEvent_t *from, struct ihipEvent_t *to)
{
    MAY_FAIL();
    if (from->time_ns <= 0 || to->time_ns <= 0)
        return 400; /* invalid handle */
    *time_ms = (float)((to->time_ns - from->time_ns) * 1e-6);
    return HIP_SUCCESS;
}

hip_error hipDeviceSynchronize(void)
{
    MAY_FAIL();
    if (held)
        held[2] = held[0] ? 1 : 2;
    held = NULL;
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
    MAY_FAIL();
    state.host_flags = flags;
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

hip_error hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    MAY_FAIL();
    if (device == peer || peer >= device_count() || device >= device_count())
        return HIP_INVALID_DEVICE;
    *can = !getenv("FAKE_HIP_NO_PEER");
    return HIP_SUCCESS;
}

hip_error hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    MAY_FAIL();
    const unsigned bit = 1u << (state.current_device * 4 + peer);
    if (flags || peer >= 4 || state.current_device >= 4)
        return 1; /* invalid value */
    if (state.peer_enabled & bit)
        return HIP_PEER_ACCESS_ALREADY_ENABLED;
    state.peer_enabled |= bit;
    return HIP_SUCCESS;
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
/* As many workgroups as there are units. */
hip_error hipModuleLaunchCooperativeKernel(struct ihipModuleSymbol_t *function, unsigned grid_x, unsigned grid_y,
                                           unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                                           unsigned lds_bytes, struct ihipStream_t *stream, void **args)
{
    MAY_FAIL();
    if (grid_x * grid_y * grid_z > 304)
        return HIP_COOPERATIVE_LAUNCH_TOO_LARGE;
    const hip_error code = hipModuleLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, lds_bytes,
                                                 stream, args, NULL);
    state.launch_cooperative = 1;
    return code;
}
#endif

hip_error hipStreamBeginCapture(struct ihipStream_t *stream, unsigned mode)
{
    MAY_FAIL();
    if (!stream || mode != HIP_CAPTURE_THREAD_LOCAL || capture)
        return 900; /* stream capture unsupported */
    capture = calloc(1, sizeof(*capture));
    state.capturing = 1;
    return HIP_SUCCESS;
}

hip_error hipStreamEndCapture(struct ihipStream_t *stream, struct ihipGraph **graph)
{
    (void)stream;
    *graph = capture;
    capture = NULL;
    state.capturing = 0;
    ++state.live_graphs;
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
    *exec = calloc(1, sizeof(**exec));
    (*exec)->graph = graph;
    ++state.live_graphs;
    return HIP_SUCCESS;
}

hip_error hipGraphLaunch(struct hipGraphExec *exec, struct ihipStream_t *stream)
{
    (void)stream;
    MAY_FAIL();
    for (size_t i = 0; i < exec->graph->count; ++i) {
        struct graph_node *node = &exec->graph->nodes[i];
        places = node->places;
        execute(node->function, (void *[]){&node->args[0], &node->args[1]});
    }
    return HIP_SUCCESS;
}

hip_error hipGraphExecDestroy(struct hipGraphExec *exec)
{
    --state.live_graphs;
    free(exec);
    MAY_FAIL();
    return HIP_SUCCESS;
}

hip_error hipGraphDestroy(struct ihipGraph *graph)
{
    --state.live_graphs;
    free(graph->nodes);
    free(graph);
    MAY_FAIL();
    return HIP_SUCCESS;
}
#endif
