/* SPDX-License-Identifier: MIT
 *
 * AMD GPUs. Stream 0 is HIP's null stream; the others do not wait for it and are made at their first use. Marks are
 * events, made when the device is opened.
 */
#include "hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roctx.h"
#include "telemetry.h"

#define COUNT_TIMEOUT_MS 60000 /* a node with many GPUs that has slept takes seconds */

/* Modules and kernels are the library's own handles: struct device_module and device_kernel are never defined here. */
struct hip {
    struct device device; /* first */
    struct hip_library library;
    int index, count; /* its number, and how many devices there are */
    struct hip_allocation *allocations;
    struct ihipStream_t *streams[DEVICE_MAX_STREAMS];
    struct ihipStream_t *capture; /* for making graphs */
    struct ihipEvent_t *marks[DEVICE_MAX_MARKS];
    struct telemetry telemetry;
    struct roctx roctx;
};

/* ---- the device ---- */

static int count_devices(struct text *why)
{
    return hip_count(why, COUNT_TIMEOUT_MS);
}

static void hip_free(struct device *device, void *pointer)
{
    struct hip *hip = (struct hip *)device;
    hip_memory_free(&hip->allocations, &hip->library.api, pointer);
}

static void hip_close(struct device *device)
{
    struct hip *hip = (struct hip *)device;
    if (!hip)
        return;
    hip_memory_free_all(&hip->allocations, &hip->library.api);
    for (size_t i = 0; i < DEVICE_MAX_MARKS; ++i)
        if (hip->marks[i])
            hip->library.api.hipEventDestroy(hip->marks[i]);
    for (size_t i = 0; i < DEVICE_MAX_STREAMS; ++i)
        if (hip->streams[i])
            hip->library.api.hipStreamDestroy(hip->streams[i]);
    if (hip->capture)
        hip->library.api.hipStreamDestroy(hip->capture);
    free(hip);
}

static enum status select_device(int *count, const struct hip_library *library, int index, struct err *err)
{
    const enum status status = hip_start(count, library, err);
    if (status)
        return status;
    if (index >= *count)
        return err_set(err, ERR_DEVICE_LOST, "no device hip:%d: the library counts %d", index, *count);
    return HIP_TRY(&library->api, err, hipSetDevice, index);
}

static enum status hip_open(struct device **device, const struct device_request *request, struct device_info *info,
                            struct err *err)
{
    struct device_info found;
    struct hip *hip = calloc(1, sizeof(*hip));
    if (!hip)
        arena_out_of_memory(sizeof(*hip));
    hip->device.ops = &device_hip;
    const struct hip_api *api = &hip->library.api;
    enum status status = hip_library_open(&hip->library, err);
    if (!status)
        status = select_device(&hip->count, &hip->library, request->index, err);
    if (!status)
        status = hip_describe(&found, &hip->library, request->index, err);
    for (size_t i = 0; i < DEVICE_MAX_MARKS && !status; ++i)
        status = HIP_TRY(api, err, hipEventCreate, &hip->marks[i]);
    if (status) {
        hip_close(&hip->device);
        return status;
    }
    hip->index = request->index;
    hip_memory_describe(&found, &hip->library, hip->index, hip->count);
    telemetry_open(&hip->telemetry, found.pci_bdf);
    *info = found;
    *device = &hip->device;
    return STATUS_OK;
}

/* ---- memory ---- */

static enum status hip_alloc(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                             struct err *err)
{
    struct hip *hip = (struct hip *)device;
    if (space == SPACE_PEER)
        return err_set(err, ERR_UNSUPPORTED, "memory of a peer has the number of its device");
    return hip_memory_alloc(pointer, &hip->allocations, &hip->library, size_bytes, space, err);
}

static enum status hip_alloc_peer(void **pointer, struct device *device, uint64_t size_bytes, uint32_t index,
                                  struct err *err)
{
    struct hip *hip = (struct hip *)device;
    const struct hip_place place = {(int)index, hip->index, hip->count};
    return hip_memory_alloc_peer(pointer, &hip->allocations, &hip->library, size_bytes, &place, err);
}

static enum status hip_transfer(struct device *device, void *to, const void *from, uint64_t size_bytes, struct err *err)
{
    const struct hip_api *api = &((struct hip *)device)->library.api;
    if (!size_bytes)
        return STATUS_OK;
    return HIP_TRY(api, err, hipMemcpy, to, from, size_bytes, HIP_MEMCPY_DEFAULT);
}

/* ---- code ---- */

static enum status hip_load(struct device_module **module, struct device *device, const char *path, struct err *err)
{
    const struct hip_api *api = &((struct hip *)device)->library.api;
    struct ihipModule_t *loaded = NULL;
    if (HIP_TRY(api, err, hipModuleLoad, &loaded, path))
        return err_within(err, "%s", path);
    *module = (struct device_module *)loaded;
    return STATUS_OK;
}

static void hip_unload(struct device *device, struct device_module *module)
{
    if (module)
        ((struct hip *)device)->library.api.hipModuleUnload((struct ihipModule_t *)module);
}

/* HIP does not tell a kernel's arguments. */
static enum status hip_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                              struct device_module *module, const char *symbol, struct err *err)
{
    const struct hip_api *api = &((struct hip *)device)->library.api;
    struct ihipModuleSymbol_t *function = NULL;
    struct err ignored = {0};
    int lds_bytes = 0;
    const hip_error code = api->hipModuleGetFunction(&function, (struct ihipModule_t *)module, symbol);
    if (code == HIP_NOT_FOUND)
        return err_set(err, ERR_DEVICE, "no kernel '%s' in the module", symbol);
    if (hip_check(api, code, "hipModuleGetFunction", err))
        return err_within(err, "kernel '%s'", symbol);
    if (api->hipFuncGetAttribute &&
        HIP_TRY(api, &ignored, hipFuncGetAttribute, &lds_bytes, HIP_FUNCTION_STATIC_LDS, function))
        lds_bytes = 0;
    *info = (struct kernel_info){.lds_bytes = (uint32_t)lds_bytes};
    *kernel = (const struct device_kernel *)function;
    return STATUS_OK;
}

static struct ihipModuleSymbol_t *function_of(const struct device_launch *launch)
{
    return (struct ihipModuleSymbol_t *)(uintptr_t)launch->kernel;
}

static enum status hip_resident_blocks(uint32_t *count, struct device *device, const struct device_launch *launch,
                                       struct err *err)
{
    const struct hip *hip = (const struct hip *)device;
    const struct hip_api *api = &hip->library.api;
    const int block = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    int blocks = 0;
    if (!api->hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
                       hip->library.path);
    const enum status status = HIP_TRY(api, err, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                                       function_of(launch), block, launch->lds_bytes);
    if (!status)
        *count = (uint32_t)blocks;
    return status;
}

/* ---- streams and marks ---- */

static enum status stream_of(struct ihipStream_t **stream, struct hip *hip, uint32_t number, struct err *err)
{
    enum status status = STATUS_OK;
    if (number >= DEVICE_MAX_STREAMS)
        return err_set(err, ERR_DEVICE, "stream %u: there are %d", number, DEVICE_MAX_STREAMS);
    if (number && !hip->streams[number])
        status =
            HIP_TRY(&hip->library.api, err, hipStreamCreateWithFlags, &hip->streams[number], HIP_STREAM_NON_BLOCKING);
    if (!status)
        *stream = hip->streams[number];
    return status;
}

static enum status check_marks(uint32_t one, uint32_t other, struct err *err)
{
    if (one >= DEVICE_MAX_MARKS || other >= DEVICE_MAX_MARKS)
        return err_set(err, ERR_DEVICE, "mark %u: there are %d", one > other ? one : other, DEVICE_MAX_MARKS);
    return STATUS_OK;
}

static enum status hip_mark(struct device *device, uint32_t mark, uint32_t stream_number, struct err *err)
{
    struct hip *hip = (struct hip *)device;
    struct ihipStream_t *stream = NULL;
    if (check_marks(mark, mark, err) || stream_of(&stream, hip, stream_number, err))
        return err->status;
    return HIP_TRY(&hip->library.api, err, hipEventRecord, hip->marks[mark], stream);
}

static enum status hip_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err)
{
    const struct hip *hip = (const struct hip *)device;
    float time_ms = 0;
    if (check_marks(from, to, err) ||
        HIP_TRY(&hip->library.api, err, hipEventElapsedTime, &time_ms, hip->marks[from], hip->marks[to]))
        return err->status;
    *time_ns = time_ms * 1e6;
    return STATUS_OK;
}

static enum status hip_wait_mark(struct device *device, uint32_t stream_number, uint32_t mark, struct err *err)
{
    struct hip *hip = (struct hip *)device;
    struct ihipStream_t *stream = NULL;
    if (check_marks(mark, mark, err) || stream_of(&stream, hip, stream_number, err))
        return err->status;
    return HIP_TRY(&hip->library.api, err, hipStreamWaitEvent, stream, hip->marks[mark], 0);
}

static enum status hip_wait(struct device *device, struct err *err)
{
    return HIP_TRY(&((struct hip *)device)->library.api, err, hipDeviceSynchronize);
}

/* ---- work ---- */

enum status hip_launch_on(const struct hip_api *api, const struct device_launch *launch, struct ihipStream_t *stream,
                          struct err *err)
{
    return HIP_TRY(api, err, hipModuleLaunchKernel, function_of(launch), launch->grid[0], launch->grid[1],
                   launch->grid[2], launch->block[0], launch->block[1], launch->block[2], launch->lds_bytes, stream,
                   launch->args, NULL);
}

/* The library, not the driver, refuses grids that do not fit. */
static enum status launch_together(const struct hip_library *library, const struct device_launch *launch,
                                   struct ihipStream_t *stream, struct err *err)
{
    const struct hip_api *api = &library->api;
    if (!api->hipModuleLaunchCooperativeKernel)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks hipModuleLaunchCooperativeKernel", library->path);
    const hip_error code = api->hipModuleLaunchCooperativeKernel(
        function_of(launch), launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
        launch->block[2], launch->lds_bytes, stream, launch->args);
    if (code == HIP_COOPERATIVE_LAUNCH_TOO_LARGE)
        return err_set(err, ERR_UNSUPPORTED, "%u x %u x %u workgroups cannot run at once on this device", launch->grid[0],
                       launch->grid[1], launch->grid[2]);
    return hip_check(api, code, "hipModuleLaunchCooperativeKernel", err);
}

static enum status hip_launch(struct device *device, const struct device_launch *launch, struct err *err)
{
    struct hip *hip = (struct hip *)device;
    struct ihipStream_t *stream = NULL;
    const enum status status = stream_of(&stream, hip, launch->stream, err);
    if (status)
        return status;
    return launch->cooperative ? launch_together(&hip->library, launch, stream, err)
                               : hip_launch_on(&hip->library.api, launch, stream, err);
}

/* This function counts the grid in work-items. */
static enum status hip_launch_marked(struct device *device, const struct device_launch *launch, uint32_t from,
                                     uint32_t to, struct err *err)
{
    struct hip *hip = (struct hip *)device;
    struct ihipStream_t *stream = NULL;
    uint32_t work[3];
    if (!hip->library.api.hipExtModuleLaunchKernel)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks hipExtModuleLaunchKernel", hip->library.path);
    if (launch->cooperative)
        return err_set(err, ERR_UNSUPPORTED, "a cooperative launch does not tell its own times");
    for (int i = 0; i < 3; ++i)
        if (__builtin_mul_overflow(launch->grid[i], launch->block[i], &work[i]))
            return err_set(err, ERR_UNSUPPORTED, "%u workgroups of %u are more than 2^32 work-items", launch->grid[i],
                           launch->block[i]);
    if (check_marks(from, to, err) || stream_of(&stream, hip, launch->stream, err))
        return err->status;
    return HIP_TRY(&hip->library.api, err, hipExtModuleLaunchKernel, function_of(launch), work[0], work[1], work[2],
                   launch->block[0], launch->block[1], launch->block[2], launch->lds_bytes, stream, launch->args, NULL,
                   hip->marks[from], hip->marks[to], 0);
}

static enum status hip_copy(struct device *device, void *to, const void *from, uint64_t size_bytes,
                            uint32_t stream_number, struct err *err)
{
    struct hip *hip = (struct hip *)device;
    struct ihipStream_t *stream = NULL;
    const enum status status = stream_of(&stream, hip, stream_number, err);
    if (status || !size_bytes)
        return status;
    return HIP_TRY(&hip->library.api, err, hipMemcpyAsync, to, from, size_bytes, HIP_MEMCPY_DEFAULT, stream);
}

static enum status hip_fill(struct device *device, void *to, uint8_t byte, uint64_t size_bytes, uint32_t stream_number,
                            struct err *err)
{
    struct hip *hip = (struct hip *)device;
    struct ihipStream_t *stream = NULL;
    const enum status status = stream_of(&stream, hip, stream_number, err);
    if (status || !size_bytes)
        return status;
    return HIP_TRY(&hip->library.api, err, hipMemsetAsync, to, byte, size_bytes, stream);
}

static enum status make_graph(struct device_graph **graph, struct device *device, const struct device_launch *launches,
                              size_t count, uint32_t repeat, struct err *err)
{
    struct hip *hip = (struct hip *)device;
    return hip_graph_make(graph, &hip->library, &hip->capture, launches, count, repeat, err);
}

static enum status launch_graph(struct device *device, const struct device_graph *graph, uint32_t stream_number,
                                struct err *err)
{
    struct hip *hip = (struct hip *)device;
    struct ihipStream_t *stream = NULL;
    const enum status status = stream_of(&stream, hip, stream_number, err);
    return status ? status : hip_graph_launch(graph, &hip->library.api, stream, err);
}

static void free_graph(struct device *device, struct device_graph *graph)
{
    hip_graph_free(graph, &((struct hip *)device)->library.api);
}

/* ---- around the work ---- */

static enum status hip_sense(struct device *device, struct device_sense *sense, bool quick, struct err *err)
{
    (void)quick; /* there are no reference rates to take: a card is not shared like a processor's cores */
    (void)err;
    *sense = device_sense_unknown;
    double load;
    if (getloadavg(&load, 1) == 1)
        sense->load_1min = load;
    telemetry_sense(sense, &((struct hip *)device)->telemetry);
    return STATUS_OK;
}

static enum status hip_range(struct device *device, const char *name, struct err *err)
{
    struct roctx *roctx = &((struct hip *)device)->roctx;
    if (name)
        return roctx_push(roctx, name, err);
    roctx_pop(roctx);
    return STATUS_OK;
}

const struct device_ops device_hip = {
    .name = "hip",
    .summary = "AMD GPUs through libamdhip64, which is looked for when it is needed",
    .executes = true,
    .asynchronous = true,
    .has_clock_probe = true,
    .count = count_devices,
    .open = hip_open,
    .close = hip_close,
    .alloc = hip_alloc,
    .free = hip_free,
    .alloc_peer = hip_alloc_peer,
    .write = hip_transfer,
    .read = hip_transfer,
    .load = hip_load,
    .unload = hip_unload,
    .kernel = hip_kernel,
    .resident_blocks = hip_resident_blocks,
    .launch = hip_launch,
    .launch_marked = hip_launch_marked,
    .copy = hip_copy,
    .fill = hip_fill,
    .mark = hip_mark,
    .elapsed = hip_elapsed,
    .wait = hip_wait,
    .wait_mark = hip_wait_mark,
    .graph_make = make_graph,
    .graph_launch = launch_graph,
    .graph_free = free_graph,
    .sense = hip_sense,
    .range = hip_range,
};
