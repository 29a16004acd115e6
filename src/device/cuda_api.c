/* SPDX-License-Identifier: MIT
 *
 * The functions of CUDA's driver interface as struct gpu_api has them. CUDA's devices are its contexts: the primary one
 * of each, which libraries of NVIDIA's share.
 */
#include <stdlib.h>

#include "cuda.h"

/* ---- errors ---- */

/* After these nothing works any more in this process; a new one may open the device again. Any fault of a kernel ends
 * its context for good. */
static enum status status_of(cuda_error code)
{
    switch (code) {
    case CUDA_OK:
        return STATUS_OK;
    case CUDA_OUT_OF_MEMORY:
        return ERR_DEVICE_MEMORY;
    case CUDA_NOT_SUPPORTED:
        return ERR_UNSUPPORTED;
    case CUDA_DEINITIALIZED:
    case CUDA_NO_DEVICE:
    case CUDA_INVALID_CONTEXT:
    case CUDA_ECC_UNCORRECTABLE:
    case CUDA_NVLINK_UNCORRECTABLE:
    case CUDA_CONTAINED:
    case CUDA_ILLEGAL_ADDRESS:
    case CUDA_LAUNCH_TIMEOUT:
    case CUDA_CONTEXT_IS_DESTROYED:
    case CUDA_ASSERT:
    case CUDA_HARDWARE_STACK_ERROR:
    case CUDA_ILLEGAL_INSTRUCTION:
    case CUDA_MISALIGNED_ADDRESS:
    case CUDA_INVALID_ADDRESS_SPACE:
    case CUDA_INVALID_PC:
    case CUDA_LAUNCH_FAILED:
    case CUDA_TENSOR_MEMORY_LEAK:
    case CUDA_MPS_CLIENT_TERMINATED:
    case CUDA_EXTERNAL_DEVICE:
        return ERR_DEVICE_LOST;
    default:
        return ERR_DEVICE;
    }
}

enum status cuda_check(const struct cuda_api *api, cuda_error code, const char *function, struct err *err)
{
    const enum status status = status_of(code);
    const char *name = NULL, *text = NULL;
    if (!status)
        return STATUS_OK;
    /* A driver refuses to name what is newer than itself. */
    if (!api->cuGetErrorName || api->cuGetErrorName(code, &name) || !name)
        return err_set(err, status, "%s: error %u", function, code);
    if (!api->cuGetErrorString || api->cuGetErrorString(code, &text) || !text)
        return err_set(err, status, "%s: %s (%u)", function, name, code);
    return err_set(err, status, "%s: %s (%u): %s", function, name, code, text);
}

/* ---- handles ---- */

static struct CUstream_st *stream_of(struct gpu_stream *stream)
{
    return (struct CUstream_st *)stream;
}

static struct CUevent_st *event_of(struct gpu_event *event)
{
    return (struct CUevent_st *)event;
}

static struct CUfunc_st *function_of(struct gpu_function *function)
{
    return (struct CUfunc_st *)function;
}

static cuda_address address_of(const void *pointer)
{
    return (cuda_address)(uintptr_t)pointer;
}

/* ---- devices and contexts ---- */

/* Code is loaded with its module, not at a first launch, which would then wait for the whole device: behind a kernel
 * that holds a stream back, that is forever. */
static enum status start(int *count, unsigned *code, const struct gpu *gpu, struct err *err)
{
    const struct cuda_api *api = cuda_api_of(gpu);
    const char *function = "cuInit";
    int counted = 0;
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    cuda_error failed = api->cuInit(0);
    if (!failed) {
        failed = api->cuDeviceGetCount(&counted);
        function = "cuDeviceGetCount";
    }
    if (failed)
        *code = failed;
    else
        *count = counted < CUDA_MAX_DEVICES ? counted : CUDA_MAX_DEVICES;
    return cuda_check(api, failed, function, err);
}

static enum status context_of(struct CUctx_st **context, struct gpu *gpu, int index, struct err *err)
{
    struct cuda *cuda = (struct cuda *)gpu;
    struct CUctx_st *made = NULL;
    if (!cuda->contexts[index]) {
        if (CUDA_TRY(gpu, err, cuDeviceGet, &cuda->handles[index], index) ||
            CUDA_TRY(gpu, err, cuDevicePrimaryCtxRetain, &made, cuda->handles[index]))
            return err->status;
        cuda->contexts[index] = made;
    }
    *context = cuda->contexts[index];
    return STATUS_OK;
}

static enum status enter(struct gpu *gpu, int index, struct err *err)
{
    struct CUctx_st *context = NULL;
    const enum status status = context_of(&context, gpu, index, err);
    return status ? status : CUDA_TRY(gpu, err, cuCtxSetCurrent, context);
}

void cuda_leave(struct gpu *gpu)
{
    struct cuda *cuda = (struct cuda *)gpu;
    for (int index = 0; index < CUDA_MAX_DEVICES; index++)
        if (cuda->contexts[index])
            cuda->api.cuDevicePrimaryCtxRelease_v2(cuda->handles[index]);
}

int cuda_handle_of(const struct gpu *gpu)
{
    return ((const struct cuda *)gpu)->handles[gpu->index];
}

static enum status attribute(int *value, const struct gpu *gpu, unsigned attribute, struct err *err)
{
    return CUDA_TRY(gpu, err, cuDeviceGetAttribute, value, attribute, cuda_handle_of(gpu));
}

static enum status name(char *name, int size, const struct gpu *gpu, struct err *err)
{
    return CUDA_TRY(gpu, err, cuDeviceGetName, name, size, cuda_handle_of(gpu));
}

static enum status memory_info(size_t *free_bytes, size_t *total_bytes, const struct gpu *gpu, struct err *err)
{
    return CUDA_TRY(gpu, err, cuMemGetInfo_v2, free_bytes, total_bytes);
}

static enum status wait(const struct gpu *gpu, struct err *err)
{
    return CUDA_TRY(gpu, err, cuCtxSynchronize);
}

/* ---- memory ---- */

/* CUDA has no choice of grain: its own memory is as coarse-grained memory, and the host's as fine-grained. */
static enum status alloc(void **pointer, const struct gpu *gpu, uint64_t size_bytes, enum device_space space,
                         struct err *err)
{
    cuda_address address = 0;
    enum status status = STATUS_OK;
    switch (space) {
    case SPACE_DEVICE:
    case SPACE_PEER:
        status = CUDA_TRY(gpu, err, cuMemAlloc_v2, &address, size_bytes);
        break;
    case SPACE_MANAGED:
        status = CUDA_TRY(gpu, err, cuMemAllocManaged, &address, size_bytes, CUDA_MEM_ATTACH_GLOBAL);
        break;
    case SPACE_PINNED:
        return CUDA_TRY(gpu, err, cuMemHostAlloc, pointer, size_bytes, CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP);
    case SPACE_FINE:
    case SPACE_PINNED_COARSE:
        return err_set(err, ERR_UNSUPPORTED, "CUDA has no choice between fine- and coarse-grained memory");
    default:
        return err_set(err, ERR_UNSUPPORTED, "unknown kind of memory");
    }
    if (!status)
        *pointer = (void *)(uintptr_t)address;
    return status;
}

static void free_memory(const struct gpu *gpu, void *pointer, enum device_space space)
{
    if (space == SPACE_PINNED)
        cuda_api_of(gpu)->cuMemFreeHost(pointer);
    else
        cuda_api_of(gpu)->cuMemFree_v2(address_of(pointer));
}

static enum status can_reach(bool *can, const struct gpu *gpu, int from, int to, struct err *err)
{
    int devices[2], answer = 0;
    if (CUDA_TRY(gpu, err, cuDeviceGet, &devices[0], from) || CUDA_TRY(gpu, err, cuDeviceGet, &devices[1], to) ||
        CUDA_TRY(gpu, err, cuDeviceCanAccessPeer, &answer, devices[0], devices[1]))
        return err->status;
    *can = answer;
    return STATUS_OK;
}

static enum status reach(struct gpu *gpu, int to, struct err *err)
{
    const struct cuda_api *api = cuda_api_of(gpu);
    struct CUctx_st *peer = NULL;
    if (context_of(&peer, gpu, to, err))
        return err->status;
    const cuda_error code = api->cuCtxEnablePeerAccess(peer, 0);
    return code == CUDA_PEER_ACCESS_ALREADY_ENABLED ? STATUS_OK : cuda_check(api, code, "cuCtxEnablePeerAccess", err);
}

/* A copy from pageable memory may return before it has arrived, and streams of ours do not wait for the null stream. */
static enum status transfer(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes, struct err *err)
{
    const enum status status = CUDA_TRY(gpu, err, cuMemcpy, address_of(to), address_of(from), size_bytes);
    return status ? status : CUDA_TRY(gpu, err, cuStreamSynchronize, NULL);
}

static enum status copy(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes,
                        struct gpu_stream *stream, struct err *err)
{
    return CUDA_TRY(gpu, err, cuMemcpyAsync, address_of(to), address_of(from), size_bytes, stream_of(stream));
}

static enum status fill(const struct gpu *gpu, void *to, uint8_t byte, uint64_t size_bytes, struct gpu_stream *stream,
                        struct err *err)
{
    return CUDA_TRY(gpu, err, cuMemsetD8Async, address_of(to), byte, size_bytes, stream_of(stream));
}

/* ---- launches ---- */

static enum status resident(int *count, const struct gpu *gpu, struct gpu_function *function, int block,
                            uint32_t lds_bytes, struct err *err)
{
    return CUDA_TRY(gpu, err, cuOccupancyMaxActiveBlocksPerMultiprocessor, count, function_of(function), block,
                    lds_bytes);
}

static enum status launch(const struct gpu *gpu, struct gpu_function *function, const struct device_launch *launch,
                          struct gpu_stream *stream, struct err *err)
{
    return CUDA_TRY(gpu, err, cuLaunchKernel, function_of(function), launch->grid[0], launch->grid[1], launch->grid[2],
                    launch->block[0], launch->block[1], launch->block[2], launch->lds_bytes, stream_of(stream),
                    launch->args, NULL);
}

static enum status launch_together(const struct gpu *gpu, struct gpu_function *function,
                                   const struct device_launch *launch, struct gpu_stream *stream, struct err *err)
{
    const struct cuda_api *api = cuda_api_of(gpu);
    const cuda_error code = api->cuLaunchCooperativeKernel(
        function_of(function), launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
        launch->block[2], launch->lds_bytes, stream_of(stream), launch->args);
    return code == CUDA_COOPERATIVE_LAUNCH_TOO_LARGE ? gpu_too_large(launch, err)
                                                     : cuda_check(api, code, "cuLaunchCooperativeKernel", err);
}

/* ---- streams and events ---- */

static enum status stream_make(struct gpu_stream **stream, const struct gpu *gpu, struct err *err)
{
    struct CUstream_st *made = NULL;
    const enum status status = CUDA_TRY(gpu, err, cuStreamCreate, &made, CUDA_STREAM_NON_BLOCKING);
    if (!status)
        *stream = (struct gpu_stream *)made;
    return status;
}

static void stream_free(const struct gpu *gpu, struct gpu_stream *stream)
{
    cuda_api_of(gpu)->cuStreamDestroy_v2(stream_of(stream));
}

static enum status stream_wait(const struct gpu *gpu, struct gpu_stream *stream, struct gpu_event *event,
                               struct err *err)
{
    return CUDA_TRY(gpu, err, cuStreamWaitEvent, stream_of(stream), event_of(event), 0);
}

static enum status event_make(struct gpu_event **event, const struct gpu *gpu, struct err *err)
{
    struct CUevent_st *made = NULL;
    const enum status status = CUDA_TRY(gpu, err, cuEventCreate, &made, 0);
    if (!status)
        *event = (struct gpu_event *)made;
    return status;
}

static void event_free(const struct gpu *gpu, struct gpu_event *event)
{
    cuda_api_of(gpu)->cuEventDestroy_v2(event_of(event));
}

static enum status event_record(const struct gpu *gpu, struct gpu_event *event, struct gpu_stream *stream,
                                struct err *err)
{
    return CUDA_TRY(gpu, err, cuEventRecord, event_of(event), stream_of(stream));
}

static enum status event_elapsed(float *time_ms, const struct gpu *gpu, struct gpu_event *from, struct gpu_event *to,
                                 struct err *err)
{
    return CUDA_TRY(gpu, err, cuEventElapsedTime, time_ms, event_of(from), event_of(to));
}

/* ---- graphs ---- */

static enum status capture_begin(const struct gpu *gpu, struct gpu_stream *stream, struct err *err)
{
    return CUDA_TRY(gpu, err, cuStreamBeginCapture_v2, stream_of(stream), CUDA_CAPTURE_THREAD_LOCAL);
}

static enum status capture_end(struct gpu_captured **graph, const struct gpu *gpu, struct gpu_stream *stream,
                               struct err *err)
{
    struct CUgraph_st *captured = NULL;
    const enum status status = CUDA_TRY(gpu, err, cuStreamEndCapture, stream_of(stream), &captured);
    *graph = (struct gpu_captured *)captured;
    return status;
}

static void captured_free(const struct gpu *gpu, struct gpu_captured *graph)
{
    cuda_api_of(gpu)->cuGraphDestroy((struct CUgraph_st *)graph);
}

static enum status instance_make(struct gpu_instance **instance, const struct gpu *gpu, struct gpu_captured *graph,
                                 struct err *err)
{
    struct CUgraphExec_st *exec = NULL;
    const enum status status = CUDA_TRY(gpu, err, cuGraphInstantiateWithFlags, &exec, (struct CUgraph_st *)graph, 0);
    if (!status)
        *instance = (struct gpu_instance *)exec;
    return status;
}

static void instance_free(const struct gpu *gpu, struct gpu_instance *instance)
{
    cuda_api_of(gpu)->cuGraphExecDestroy((struct CUgraphExec_st *)instance);
}

static enum status instance_launch(const struct gpu *gpu, struct gpu_instance *instance, struct gpu_stream *stream,
                                   struct err *err)
{
    return CUDA_TRY(gpu, err, cuGraphLaunch, (struct CUgraphExec_st *)instance, stream_of(stream));
}

const struct gpu_api cuda_calls = {
    .start = start,
    .enter = enter,
    .attribute = attribute,
    .name = name,
    .memory_info = memory_info,
    .wait = wait,
    .alloc = alloc,
    .free = free_memory,
    .can_reach = can_reach,
    .reach = reach,
    .transfer = transfer,
    .copy = copy,
    .fill = fill,
    .load = cuda_load,
    .unload = cuda_unload,
    .find = cuda_find,
    .prepare = cuda_prepare,
    .resident = resident,
    .launch = launch,
    .launch_together = launch_together,
    .stream_make = stream_make,
    .stream_free = stream_free,
    .stream_wait = stream_wait,
    .event_make = event_make,
    .event_free = event_free,
    .event_record = event_record,
    .event_elapsed = event_elapsed,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .captured_free = captured_free,
    .instance_make = instance_make,
    .instance_free = instance_free,
    .instance_launch = instance_launch,
};
