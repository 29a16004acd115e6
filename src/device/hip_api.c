/* SPDX-License-Identifier: MIT
 *
 * HIP's functions as struct gpu_api has them. Which flag of memory means what: hip_runtime_api.h and clr's
 * hip_memory.cpp.
 */
#include <string.h>

#include "hip.h"

/* ---- errors ---- */

/* After these nothing works any more in this process; a new one may open the device again. */
static enum status status_of(hip_error code)
{
    switch (code) {
    case HIP_SUCCESS:
        return STATUS_OK;
    case HIP_OUT_OF_MEMORY:
        return ERR_DEVICE_MEMORY;
    case HIP_NOT_SUPPORTED:
        return ERR_UNSUPPORTED;
    case HIP_DEINITIALIZED:
    case HIP_NO_DEVICE:
    case HIP_ECC_NOT_CORRECTABLE:
    case HIP_ILLEGAL_ADDRESS:
    case HIP_LAUNCH_TIME_OUT:
    case HIP_CONTEXT_IS_DESTROYED:
    case HIP_ASSERT:
    case HIP_LAUNCH_FAILURE:
        return ERR_DEVICE_LOST;
    default:
        return ERR_DEVICE;
    }
}

enum status hip_check(const struct hip_api *api, hip_error code, const char *function, struct err *err)
{
    const enum status status = status_of(code);
    if (!status)
        return STATUS_OK;
    /* A library calls what is newer than itself "unknown": the number says more. */
    const char *name = api->hipGetErrorName ? api->hipGetErrorName(code) : NULL;
    if (!name || !*name || (code != HIP_UNKNOWN && strcasestr(name, "unknown")))
        return err_set(err, status, "%s: error %u", function, code);
    return err_set(err, status, "%s: %s (%u)", function, name, code);
}

/* ---- handles ---- */

static struct ihipStream_t *stream_of(struct gpu_stream *stream)
{
    return (struct ihipStream_t *)stream;
}

static struct ihipEvent_t *event_of(struct gpu_event *event)
{
    return (struct ihipEvent_t *)event;
}

static struct ihipModuleSymbol_t *function_of(struct gpu_function *function)
{
    return (struct ihipModuleSymbol_t *)function;
}

/* ---- the device ---- */

/* Debian 12's library answers "invalid device" to hipInit, and "no device" to the rest, when there is no GPU. */
static enum status start(int *count, unsigned *code, const struct gpu *gpu, struct err *err)
{
    const struct hip_api *api = hip_api_of(gpu);
    hip_error failed = api->hipInit(0);
    const char *function = "hipInit";
    if (!failed) {
        failed = api->hipGetDeviceCount(count);
        function = "hipGetDeviceCount";
    }
    if (failed)
        *code = failed;
    return hip_check(api, failed, function, err);
}

static enum status enter(struct gpu *gpu, int index, struct err *err)
{
    return HIP_TRY(gpu, err, hipSetDevice, index);
}

static enum status attribute(int *value, const struct gpu *gpu, unsigned attribute, struct err *err)
{
    return HIP_TRY(gpu, err, hipDeviceGetAttribute, value, attribute, gpu->index);
}

static enum status name(char *name, int size, const struct gpu *gpu, struct err *err)
{
    return HIP_TRY(gpu, err, hipDeviceGetName, name, size, gpu->index);
}

static enum status memory_info(size_t *free_bytes, size_t *total_bytes, const struct gpu *gpu, struct err *err)
{
    return HIP_TRY(gpu, err, hipMemGetInfo, free_bytes, total_bytes);
}

static enum status wait(const struct gpu *gpu, struct err *err)
{
    return HIP_TRY(gpu, err, hipDeviceSynchronize);
}

/* ---- memory ---- */

static enum status alloc(void **pointer, const struct gpu *gpu, uint64_t size_bytes, enum device_space space,
                         struct err *err)
{
    switch (space) {
    case SPACE_DEVICE:
    case SPACE_PEER:
        return HIP_TRY(gpu, err, hipMalloc, pointer, size_bytes);
    case SPACE_PINNED:
        /* Without flags it is fine-grained: both sides see writes while a kernel runs. */
        return HIP_TRY(gpu, err, hipHostMalloc, pointer, size_bytes, 0);
    case SPACE_PINNED_COARSE:
        return HIP_TRY(gpu, err, hipHostMalloc, pointer, size_bytes, HIP_HOST_MALLOC_NON_COHERENT);
    case SPACE_MANAGED:
        return HIP_TRY(gpu, err, hipMallocManaged, pointer, size_bytes, HIP_MEM_ATTACH_GLOBAL);
    case SPACE_FINE:
        return HIP_TRY(gpu, err, hipExtMallocWithFlags, pointer, size_bytes, HIP_MALLOC_FINE_GRAINED);
    default:
        return err_set(err, ERR_UNSUPPORTED, "unknown kind of memory");
    }
}

static void free_memory(const struct gpu *gpu, void *pointer, enum device_space space)
{
    if (space == SPACE_PINNED || space == SPACE_PINNED_COARSE)
        hip_api_of(gpu)->hipHostFree(pointer);
    else
        hip_api_of(gpu)->hipFree(pointer);
}

static enum status can_reach(bool *can, const struct gpu *gpu, int from, int to, struct err *err)
{
    int answer = 0;
    const enum status status = HIP_TRY(gpu, err, hipDeviceCanAccessPeer, &answer, from, to);
    if (!status)
        *can = answer;
    return status;
}

static enum status reach(struct gpu *gpu, int to, struct err *err)
{
    const hip_error code = hip_api_of(gpu)->hipDeviceEnablePeerAccess(to, 0);
    if (code == HIP_PEER_ACCESS_ALREADY_ENABLED)
        return STATUS_OK;
    return hip_check(hip_api_of(gpu), code, "hipDeviceEnablePeerAccess", err);
}

static enum status transfer(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes, struct err *err)
{
    return HIP_TRY(gpu, err, hipMemcpy, to, from, size_bytes, HIP_MEMCPY_DEFAULT);
}

static enum status copy(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes,
                        struct gpu_stream *stream, struct err *err)
{
    return HIP_TRY(gpu, err, hipMemcpyAsync, to, from, size_bytes, HIP_MEMCPY_DEFAULT, stream_of(stream));
}

static enum status fill(const struct gpu *gpu, void *to, uint8_t byte, uint64_t size_bytes, struct gpu_stream *stream,
                        struct err *err)
{
    return HIP_TRY(gpu, err, hipMemsetAsync, to, byte, size_bytes, stream_of(stream));
}

/* ---- code ---- */

static enum status load(struct gpu_code **code, const struct gpu *gpu, const char *path, struct err *err)
{
    struct ihipModule_t *module = NULL;
    if (HIP_TRY(gpu, err, hipModuleLoad, &module, path))
        return err_within(err, "%s", path);
    *code = (struct gpu_code *)module;
    return STATUS_OK;
}

static void unload(const struct gpu *gpu, struct gpu_code *code)
{
    hip_api_of(gpu)->hipModuleUnload((struct ihipModule_t *)code);
}

static enum status find(struct gpu_function **function, const struct gpu *gpu, struct gpu_code *code,
                        const char *symbol, struct err *err)
{
    const struct hip_api *api = hip_api_of(gpu);
    struct ihipModuleSymbol_t *found = NULL;
    const hip_error error = api->hipModuleGetFunction(&found, (struct ihipModule_t *)code, symbol);
    *function = error ? NULL : (struct gpu_function *)found;
    return error == HIP_NOT_FOUND ? STATUS_OK : hip_check(api, error, "hipModuleGetFunction", err);
}

/* HIP does not tell a kernel's arguments, and what LDS it takes is nice to know. */
static enum status prepare(struct kernel_info *info, const struct gpu *gpu, struct gpu_function *function,
                           struct err *err)
{
    struct err ignored = {0};
    int lds_bytes = 0;
    (void)err;
    if (hip_api_of(gpu)->hipFuncGetAttribute &&
        !HIP_TRY(gpu, &ignored, hipFuncGetAttribute, &lds_bytes, HIP_FUNCTION_STATIC_LDS, function_of(function)))
        info->lds_bytes = (uint32_t)lds_bytes;
    return STATUS_OK;
}

static enum status resident(int *count, const struct gpu *gpu, struct gpu_function *function, int block,
                            uint32_t lds_bytes, struct err *err)
{
    return HIP_TRY(gpu, err, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, count, function_of(function), block,
                   lds_bytes);
}

static enum status launch(const struct gpu *gpu, struct gpu_function *function, const struct device_launch *launch,
                          struct gpu_stream *stream, struct err *err)
{
    return HIP_TRY(gpu, err, hipModuleLaunchKernel, function_of(function), launch->grid[0], launch->grid[1],
                   launch->grid[2], launch->block[0], launch->block[1], launch->block[2], launch->lds_bytes,
                   stream_of(stream), launch->args, NULL);
}

/* The library, not the driver, refuses grids that do not fit. */
static enum status launch_together(const struct gpu *gpu, struct gpu_function *function,
                                   const struct device_launch *launch, struct gpu_stream *stream, struct err *err)
{
    const struct hip_api *api = hip_api_of(gpu);
    const hip_error code = api->hipModuleLaunchCooperativeKernel(
        function_of(function), launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
        launch->block[2], launch->lds_bytes, stream_of(stream), launch->args);
    return code == HIP_COOPERATIVE_LAUNCH_TOO_LARGE ? gpu_too_large(launch, err)
                                                    : hip_check(api, code, "hipModuleLaunchCooperativeKernel", err);
}

/* ---- streams and events ---- */

static enum status stream_make(struct gpu_stream **stream, const struct gpu *gpu, struct err *err)
{
    struct ihipStream_t *made = NULL;
    const enum status status = HIP_TRY(gpu, err, hipStreamCreateWithFlags, &made, HIP_STREAM_NON_BLOCKING);
    if (!status)
        *stream = (struct gpu_stream *)made;
    return status;
}

static void stream_free(const struct gpu *gpu, struct gpu_stream *stream)
{
    hip_api_of(gpu)->hipStreamDestroy(stream_of(stream));
}

static enum status stream_wait(const struct gpu *gpu, struct gpu_stream *stream, struct gpu_event *event,
                               struct err *err)
{
    return HIP_TRY(gpu, err, hipStreamWaitEvent, stream_of(stream), event_of(event), 0);
}

static enum status event_make(struct gpu_event **event, const struct gpu *gpu, struct err *err)
{
    struct ihipEvent_t *made = NULL;
    const enum status status = HIP_TRY(gpu, err, hipEventCreate, &made);
    if (!status)
        *event = (struct gpu_event *)made;
    return status;
}

static void event_free(const struct gpu *gpu, struct gpu_event *event)
{
    hip_api_of(gpu)->hipEventDestroy(event_of(event));
}

static enum status event_record(const struct gpu *gpu, struct gpu_event *event, struct gpu_stream *stream,
                                struct err *err)
{
    return HIP_TRY(gpu, err, hipEventRecord, event_of(event), stream_of(stream));
}

static enum status event_elapsed(float *time_ms, const struct gpu *gpu, struct gpu_event *from, struct gpu_event *to,
                                 struct err *err)
{
    return HIP_TRY(gpu, err, hipEventElapsedTime, time_ms, event_of(from), event_of(to));
}

/* ---- graphs ---- */

static enum status capture_begin(const struct gpu *gpu, struct gpu_stream *stream, struct err *err)
{
    return HIP_TRY(gpu, err, hipStreamBeginCapture, stream_of(stream), HIP_CAPTURE_THREAD_LOCAL);
}

static enum status capture_end(struct gpu_captured **graph, const struct gpu *gpu, struct gpu_stream *stream,
                               struct err *err)
{
    struct ihipGraph *captured = NULL;
    const enum status status = HIP_TRY(gpu, err, hipStreamEndCapture, stream_of(stream), &captured);
    *graph = (struct gpu_captured *)captured;
    return status;
}

static void captured_free(const struct gpu *gpu, struct gpu_captured *graph)
{
    hip_api_of(gpu)->hipGraphDestroy((struct ihipGraph *)graph);
}

static enum status instance_make(struct gpu_instance **instance, const struct gpu *gpu, struct gpu_captured *graph,
                                 struct err *err)
{
    struct hipGraphExec *exec = NULL;
    const enum status status = HIP_TRY(gpu, err, hipGraphInstantiate, &exec, (struct ihipGraph *)graph, NULL, NULL, 0);
    if (!status)
        *instance = (struct gpu_instance *)exec;
    return status;
}

static void instance_free(const struct gpu *gpu, struct gpu_instance *instance)
{
    hip_api_of(gpu)->hipGraphExecDestroy((struct hipGraphExec *)instance);
}

static enum status instance_launch(const struct gpu *gpu, struct gpu_instance *instance, struct gpu_stream *stream,
                                   struct err *err)
{
    return HIP_TRY(gpu, err, hipGraphLaunch, (struct hipGraphExec *)instance, stream_of(stream));
}

const struct gpu_api hip_calls = {
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
    .load = load,
    .unload = unload,
    .find = find,
    .prepare = prepare,
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
