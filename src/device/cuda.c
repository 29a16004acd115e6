/* SPDX-License-Identifier: MIT
 *
 * NVIDIA GPUs. Stream 0 is CUDA's null stream; the others do not wait for it and are made at their first use. Marks are
 * events, made when the device is opened. Nothing tells a kernel's own begin and end from its launch.
 */
#include "cuda.h"

#include <math.h>
#include <stdlib.h>

#include "nvtx.h"
#include "telemetry_nvml.h"

#define COUNT_TIMEOUT_MS 60000 /* a node with many GPUs that has slept takes seconds */
/* What CUDA promises of events: "a resolution of around 0.5 microseconds". */
static const double promised_tick_ns = 500;

/* Modules and kernels are the driver's own handles: struct device_module and device_kernel are never defined here. */
struct cuda {
    struct device device; /* first */
    struct cuda_library library;
    struct cuda_memory memory;
    uint64_t lds_bytes; /* that a workgroup can have */
    struct CUstream_st *streams[DEVICE_MAX_STREAMS];
    struct CUstream_st *capture; /* for making graphs */
    struct CUevent_st *marks[DEVICE_MAX_MARKS];
    struct nvml nvml;
    struct nvtx nvtx;
};

/* ---- the device ---- */

static int count_devices(struct text *why)
{
    return cuda_count(why, COUNT_TIMEOUT_MS);
}

static void cuda_free(struct device *device, void *pointer)
{
    cuda_memory_free(&((struct cuda *)device)->memory, pointer);
}

static void cuda_close(struct device *device)
{
    struct cuda *cuda = (struct cuda *)device;
    if (!cuda)
        return;
    for (size_t i = 0; i < DEVICE_MAX_MARKS; ++i)
        if (cuda->marks[i])
            cuda->library.api.cuEventDestroy_v2(cuda->marks[i]);
    for (size_t i = 0; i < DEVICE_MAX_STREAMS; ++i)
        if (cuda->streams[i])
            cuda->library.api.cuStreamDestroy_v2(cuda->streams[i]);
    if (cuda->capture)
        cuda->library.api.cuStreamDestroy_v2(cuda->capture);
    cuda_memory_close(&cuda->memory);
    nvml_close(&cuda->nvml);
    free(cuda);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The clock behind events steps by 32 ns on some GPUs and by 1024 ns on others, and no attribute tells: what divides
 * the time between all marks, one recorded after the other, is the step. When that cannot be had, what CUDA promises.
 */
static double find_tick_ns(const struct cuda *cuda)
{
    const struct cuda_api *api = &cuda->library.api;
    struct err ignored = {0};
    uint64_t step_ns = 0;
    for (size_t k = 0; k < DEVICE_MAX_MARKS; ++k)
        if (CUDA_TRY(api, &ignored, cuEventRecord, cuda->marks[k], NULL))
            return promised_tick_ns;
    if (CUDA_TRY(api, &ignored, cuCtxSynchronize))
        return promised_tick_ns;
    for (size_t k = 1; k < DEVICE_MAX_MARKS; ++k) {
        float time_ms = 0;
        if (CUDA_TRY(api, &ignored, cuEventElapsedTime, &time_ms, cuda->marks[0], cuda->marks[k]))
            return promised_tick_ns;
        step_ns = common_divisor(step_ns, (uint64_t)llround(fabs((double)time_ms) * 1e6));
    }
    return step_ns ? (double)step_ns : promised_tick_ns;
}

static enum status start(struct cuda *cuda, struct device_info *info, int index, struct err *err)
{
    const struct cuda_api *api = &cuda->library.api;
    int count = 0;
    enum status status = cuda_library_open(&cuda->library, err);
    if (!status)
        status = cuda_start(&count, &cuda->library, err);
    if (!status)
        status = cuda_memory_open(&cuda->memory, &cuda->library, index, count, err);
    if (!status)
        status = cuda_describe(info, &cuda->library, index, err);
    for (size_t i = 0; i < DEVICE_MAX_MARKS && !status; ++i)
        status = CUDA_TRY(api, err, cuEventCreate, &cuda->marks[i], 0);
    return status;
}

static enum status cuda_open(struct device **device, const struct device_request *request, struct device_info *info,
                             struct err *err)
{
    struct device_info found = {0};
    struct cuda *cuda = calloc(1, sizeof(*cuda));
    if (!cuda)
        arena_out_of_memory(sizeof(*cuda));
    cuda->device.ops = &device_cuda;
    const enum status status = start(cuda, &found, request->index, err);
    if (status) {
        cuda_close(&cuda->device);
        return status;
    }
    cuda->lds_bytes = found.lds_bytes;
    found.timer_tick_ns = find_tick_ns(cuda);
    cuda_memory_describe(&found, &cuda->memory);
    nvml_open(&cuda->nvml, found.pci_bdf);
    nvml_describe(&found, &cuda->nvml);
    *info = found;
    *device = &cuda->device;
    return STATUS_OK;
}

/* ---- memory ---- */

static enum status cuda_alloc(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                              struct err *err)
{
    if (space == SPACE_PEER)
        return err_set(err, ERR_UNSUPPORTED, "memory of a peer has the number of its device");
    return cuda_memory_alloc(pointer, &((struct cuda *)device)->memory, size_bytes, space, err);
}

static enum status cuda_alloc_peer(void **pointer, struct device *device, uint64_t size_bytes, uint32_t index,
                                   struct err *err)
{
    return cuda_memory_alloc_peer(pointer, &((struct cuda *)device)->memory, size_bytes, (int)index, err);
}

static cuda_address address_of(const void *pointer)
{
    return (cuda_address)(uintptr_t)pointer;
}

/* A copy from pageable memory may return before it has arrived, and streams of ours do not wait for the null stream. */
static enum status cuda_transfer(struct device *device, void *to, const void *from, uint64_t size_bytes,
                                 struct err *err)
{
    const struct cuda_api *api = &((struct cuda *)device)->library.api;
    if (!size_bytes)
        return STATUS_OK;
    const enum status status = CUDA_TRY(api, err, cuMemcpy, address_of(to), address_of(from), size_bytes);
    return status ? status : CUDA_TRY(api, err, cuStreamSynchronize, NULL);
}

/* ---- code ---- */

static enum status cuda_load(struct device_module **module, struct device *device, const char *path, struct err *err)
{
    struct CUmod_st *loaded = NULL;
    const enum status status = cuda_module_load(&loaded, &((struct cuda *)device)->library.api, path, err);
    if (!status)
        *module = (struct device_module *)loaded;
    return status;
}

static void cuda_unload(struct device *device, struct device_module *module)
{
    if (module)
        ((struct cuda *)device)->library.api.cuModuleUnload((struct CUmod_st *)module);
}

static enum status cuda_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                               struct device_module *module, const char *symbol, struct err *err)
{
    const struct cuda *cuda = (const struct cuda *)device;
    struct CUfunc_st *function = NULL;
    const enum status status = cuda_module_function(&function, info, &cuda->library.api, (struct CUmod_st *)module,
                                                    symbol, cuda->lds_bytes, err);
    if (!status)
        *kernel = (const struct device_kernel *)function;
    return status;
}

static struct CUfunc_st *function_of(const struct device_launch *launch)
{
    return (struct CUfunc_st *)(uintptr_t)launch->kernel;
}

static enum status cuda_resident_blocks(uint32_t *count, struct device *device, const struct device_launch *launch,
                                        struct err *err)
{
    const struct cuda *cuda = (const struct cuda *)device;
    const struct cuda_api *api = &cuda->library.api;
    const int block = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    int blocks = 0;
    if (!api->cuOccupancyMaxActiveBlocksPerMultiprocessor)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks cuOccupancyMaxActiveBlocksPerMultiprocessor",
                       cuda->library.path);
    const enum status status = CUDA_TRY(api, err, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                                        function_of(launch), block, launch->lds_bytes);
    if (!status)
        *count = (uint32_t)blocks;
    return status;
}

/* ---- streams and marks ---- */

static enum status stream_of(struct CUstream_st **stream, struct cuda *cuda, uint32_t number, struct err *err)
{
    enum status status = STATUS_OK;
    if (number >= DEVICE_MAX_STREAMS)
        return err_set(err, ERR_DEVICE, "stream %u: there are %d", number, DEVICE_MAX_STREAMS);
    if (number && !cuda->streams[number])
        status = CUDA_TRY(&cuda->library.api, err, cuStreamCreate, &cuda->streams[number], CUDA_STREAM_NON_BLOCKING);
    if (!status)
        *stream = cuda->streams[number];
    return status;
}

static enum status check_marks(uint32_t one, uint32_t other, struct err *err)
{
    if (one >= DEVICE_MAX_MARKS || other >= DEVICE_MAX_MARKS)
        return err_set(err, ERR_DEVICE, "mark %u: there are %d", one > other ? one : other, DEVICE_MAX_MARKS);
    return STATUS_OK;
}

static enum status cuda_mark(struct device *device, uint32_t mark, uint32_t stream_number, struct err *err)
{
    struct cuda *cuda = (struct cuda *)device;
    struct CUstream_st *stream = NULL;
    if (check_marks(mark, mark, err) || stream_of(&stream, cuda, stream_number, err))
        return err->status;
    return CUDA_TRY(&cuda->library.api, err, cuEventRecord, cuda->marks[mark], stream);
}

static enum status cuda_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err)
{
    const struct cuda *cuda = (const struct cuda *)device;
    float time_ms = 0;
    if (check_marks(from, to, err) ||
        CUDA_TRY(&cuda->library.api, err, cuEventElapsedTime, &time_ms, cuda->marks[from], cuda->marks[to]))
        return err->status;
    *time_ns = time_ms * 1e6;
    return STATUS_OK;
}

static enum status cuda_wait_mark(struct device *device, uint32_t stream_number, uint32_t mark, struct err *err)
{
    struct cuda *cuda = (struct cuda *)device;
    struct CUstream_st *stream = NULL;
    if (check_marks(mark, mark, err) || stream_of(&stream, cuda, stream_number, err))
        return err->status;
    return CUDA_TRY(&cuda->library.api, err, cuStreamWaitEvent, stream, cuda->marks[mark], 0);
}

static enum status cuda_wait(struct device *device, struct err *err)
{
    return CUDA_TRY(&((struct cuda *)device)->library.api, err, cuCtxSynchronize);
}

/* ---- work ---- */

enum status cuda_launch_on(const struct cuda_api *api, const struct device_launch *launch, struct CUstream_st *stream,
                           struct err *err)
{
    return CUDA_TRY(api, err, cuLaunchKernel, function_of(launch), launch->grid[0], launch->grid[1], launch->grid[2],
                    launch->block[0], launch->block[1], launch->block[2], launch->lds_bytes, stream, launch->args,
                    NULL);
}

static enum status launch_together(const struct cuda_library *library, const struct device_launch *launch,
                                   struct CUstream_st *stream, struct err *err)
{
    const struct cuda_api *api = &library->api;
    if (!api->cuLaunchCooperativeKernel)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks cuLaunchCooperativeKernel", library->path);
    const cuda_error code = api->cuLaunchCooperativeKernel(function_of(launch), launch->grid[0], launch->grid[1],
                                                           launch->grid[2], launch->block[0], launch->block[1],
                                                           launch->block[2], launch->lds_bytes, stream, launch->args);
    if (code == CUDA_COOPERATIVE_LAUNCH_TOO_LARGE)
        return err_set(err, ERR_UNSUPPORTED, "%u x %u x %u workgroups cannot run at once on this device",
                       launch->grid[0], launch->grid[1], launch->grid[2]);
    return cuda_check(api, code, "cuLaunchCooperativeKernel", err);
}

static enum status cuda_launch(struct device *device, const struct device_launch *launch, struct err *err)
{
    struct cuda *cuda = (struct cuda *)device;
    struct CUstream_st *stream = NULL;
    const enum status status = stream_of(&stream, cuda, launch->stream, err);
    if (status)
        return status;
    return launch->cooperative ? launch_together(&cuda->library, launch, stream, err)
                               : cuda_launch_on(&cuda->library.api, launch, stream, err);
}

static enum status cuda_copy(struct device *device, void *to, const void *from, uint64_t size_bytes,
                             uint32_t stream_number, struct err *err)
{
    struct cuda *cuda = (struct cuda *)device;
    struct CUstream_st *stream = NULL;
    const enum status status = stream_of(&stream, cuda, stream_number, err);
    if (status || !size_bytes)
        return status;
    return CUDA_TRY(&cuda->library.api, err, cuMemcpyAsync, address_of(to), address_of(from), size_bytes, stream);
}

static enum status cuda_fill(struct device *device, void *to, uint8_t byte, uint64_t size_bytes, uint32_t stream_number,
                             struct err *err)
{
    struct cuda *cuda = (struct cuda *)device;
    struct CUstream_st *stream = NULL;
    const enum status status = stream_of(&stream, cuda, stream_number, err);
    if (status || !size_bytes)
        return status;
    return CUDA_TRY(&cuda->library.api, err, cuMemsetD8Async, address_of(to), byte, size_bytes, stream);
}

static enum status make_graph(struct device_graph **graph, struct device *device, const struct device_launch *launches,
                              size_t count, uint32_t repeat, struct err *err)
{
    struct cuda *cuda = (struct cuda *)device;
    return cuda_graph_make(graph, &cuda->library, &cuda->capture, launches, count, repeat, err);
}

static enum status launch_graph(struct device *device, const struct device_graph *graph, uint32_t stream_number,
                                struct err *err)
{
    struct cuda *cuda = (struct cuda *)device;
    struct CUstream_st *stream = NULL;
    const enum status status = stream_of(&stream, cuda, stream_number, err);
    return status ? status : cuda_graph_launch(graph, &cuda->library.api, stream, err);
}

static void free_graph(struct device *device, struct device_graph *graph)
{
    cuda_graph_free(graph, &((struct cuda *)device)->library.api);
}

/* ---- around the work ---- */

static enum status cuda_sense(struct device *device, struct device_sense *sense, bool quick, struct err *err)
{
    (void)quick; /* there are no reference rates to take: a card is not shared like a processor's cores */
    (void)err;
    *sense = device_sense_unknown;
    double load;
    if (getloadavg(&load, 1) == 1)
        sense->load_1min = load;
    nvml_sense(sense, &((struct cuda *)device)->nvml);
    return STATUS_OK;
}

static enum status cuda_range(struct device *device, const char *name, struct err *err)
{
    struct nvtx *nvtx = &((struct cuda *)device)->nvtx;
    if (name)
        return nvtx_push(nvtx, name, err);
    nvtx_pop(nvtx);
    return STATUS_OK;
}

const struct device_ops device_cuda = {
    .name = "cuda",
    .summary = "NVIDIA GPUs through the driver's libcuda, which is looked for when it is needed",
    .executes = true,
    .asynchronous = true,
    .has_clock_probe = true,
    .count = count_devices,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .alloc_peer = cuda_alloc_peer,
    .write = cuda_transfer,
    .read = cuda_transfer,
    .load = cuda_load,
    .unload = cuda_unload,
    .kernel = cuda_kernel,
    .resident_blocks = cuda_resident_blocks,
    .launch = cuda_launch,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .mark = cuda_mark,
    .elapsed = cuda_elapsed,
    .wait = cuda_wait,
    .wait_mark = cuda_wait_mark,
    .graph_make = make_graph,
    .graph_launch = launch_graph,
    .graph_free = free_graph,
    .sense = cuda_sense,
    .range = cuda_range,
};
