/* SPDX-License-Identifier: MIT */

#include "gpu_collectives.h"

/* ---- modules and kernels ---- */

enum status gpu_load(struct device_module **module, struct device *device, const char *path, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    struct gpu_code *code = NULL;
    if (gpu->vendor->load(&code, gpu, path, err))
        return err->status;
    struct device_module *loaded = new_zeroed(1, sizeof(*loaded));
    loaded->code = code;
    *module = loaded;
    return STATUS_OK;
}

void gpu_unload(struct device *device, struct device_module *module)
{
    const struct gpu *gpu = (const struct gpu *)device;
    if (!module)
        return;
    if (module->code)
        gpu->api.unload(module->code);
    arena_release(&module->kernels);
    free(module);
}

const struct device_kernel *gpu_add_kernel(struct device_module *module, struct device_kernel kernel)
{
    struct device_kernel *added = arena_copy(&module->kernels, &kernel, sizeof(kernel));
    added->module = module;
    return added;
}

static enum status find_function(struct gpu_function **function, struct kernel_info *info, const struct gpu *gpu,
                                 struct gpu_code *code, const char *symbol, struct err *err)
{
    const gpu_error error = gpu->api.find(function, code, symbol);
    if (error == GPU_NOT_FOUND)
        return err_set(err, ERR_DEVICE, "no kernel '%s' in the module", symbol);
    enum status status = GPU_CHECK(gpu, err, find, error);
    if (!status && gpu->vendor->prepare)
        status = gpu->vendor->prepare(info, gpu, *function, err);
    return status ? err_within(err, "kernel '%s'", symbol) : STATUS_OK;
}

enum status gpu_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                       struct device_module *module, const char *symbol, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    struct gpu_function *function = NULL;
    struct kernel_info facts = {0};
    if (module->library)
        return gpu_blas_kernel(kernel, info, module, symbol, err);
    if (module->collectives)
        return collectives_kernel(kernel, info, module, symbol, err);
    if (find_function(&function, &facts, gpu, module->code, symbol, err))
        return err->status;
    *kernel = gpu_add_kernel(module, (struct device_kernel){.function = function});
    *info = facts;
    return STATUS_OK;
}

/* ---- launches ---- */

/* Grids that do not fit are rejected by the library, not by the driver. */
static enum status launch_together(const struct gpu *gpu, const struct device_launch *launch, struct gpu_stream *stream,
                                   struct err *err)
{
    const uint32_t *grid = launch->grid, *block = launch->block;
    if (gpu_require(gpu, GPU_COOPERATIVE, err))
        return err->status;
    const gpu_error code = gpu->api.launch_together(launch->kernel->function, grid[0], grid[1], grid[2], block[0],
                                                    block[1], block[2], launch->lds_bytes, stream, launch->args);
    if (code == GPU_COOPERATIVE_LAUNCH_TOO_LARGE)
        return err_set(err, ERR_UNSUPPORTED, "%u x %u x %u workgroups cannot run at once on this device", grid[0],
                       grid[1], grid[2]);
    return GPU_CHECK(gpu, err, launch_together, code);
}

/* Launches a kernel or a library's function, cooperatively or not. */
static enum status launch_on(struct gpu *gpu, const struct device_launch *launch, struct gpu_stream *stream,
                             struct err *err)
{
    const struct device_kernel *kernel = launch->kernel;
    const uint32_t *grid = launch->grid, *block = launch->block;
    if (kernel->module->collectives)
        return collectives_launch(gpu, kernel, launch->args, stream, err);
    if (!kernel->function)
        return gpu_blas_launch(kernel, launch->args, stream, err);
    if (gpu->vendor->count_work && gpu->vendor->count_work((uint32_t[3]){0}, launch, err))
        return err->status;
    if (launch->cooperative)
        return launch_together(gpu, launch, stream, err);
    return GPU_TRY(gpu, err, launch, kernel->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                   launch->lds_bytes, stream, launch->args, NULL);
}

enum status gpu_launch(struct device *device, const struct device_launch *launch, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    const enum status status = gpu_stream_of(&stream, gpu, launch->stream, err);
    return status ? status : launch_on(gpu, launch, stream, err);
}

/* ---- graphs ---- */

/* Launches are captured rather than added as nodes, because the library then copies their arguments as for any launch.
 * The capture uses a stream of its own, created at first use. */
struct device_graph {
    struct gpu_captured *captured; /* some releases of HIP still use it when the instance is launched */
    struct gpu_instance *instance;
};

/* The capture is ended in every case, because a stream left capturing rejects everything. `captured` is set even on
 * failure: NULL, or what must be freed. */
static enum status capture_launches(struct gpu_captured **captured, struct gpu *gpu,
                                    const struct device_launch *launches, size_t count, uint32_t repeat,
                                    struct err *err)
{
    struct err ignored = {0};
    enum status status = GPU_TRY(gpu, err, capture_begin, gpu->capture, GPU_CAPTURE_THREAD_LOCAL);
    if (status)
        return status;
    for (uint32_t round = 0; round < repeat && !status; round++)
        for (size_t k = 0; k < count && !status; k++)
            status = launches[k].cooperative
                         ? err_set(err, ERR_UNSUPPORTED, "a cooperative launch cannot stand in a graph")
                         : launch_on(gpu, &launches[k], gpu->capture, err);
    const enum status ended = GPU_TRY(gpu, status ? &ignored : err, capture_end, gpu->capture, captured);
    return status ? status : ended;
}

enum status gpu_graph_make(struct device_graph **graph, struct device *device, const struct device_launch *launches,
                           size_t count, uint32_t repeat, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    struct gpu_instance *instance = NULL;
    enum status status = gpu_require(gpu, GPU_GRAPHS, err);
    if (!status && !gpu->capture) {
        status = GPU_TRY(gpu, err, stream_make, &stream, GPU_STREAM_NON_BLOCKING);
        gpu->capture = status ? NULL : stream;
    }
    if (status)
        return status;
    struct device_graph *made = new_zeroed(1, sizeof(*made));
    status = capture_launches(&made->captured, gpu, launches, count, repeat, err);
    if (!status)
        status = GPU_TRY(gpu, err, instance_make, &instance, made->captured, 0);
    if (status) {
        gpu_graph_free(device, made);
        return status;
    }
    made->instance = instance;
    *graph = made;
    return STATUS_OK;
}

enum status gpu_graph_launch(struct device *device, const struct device_graph *graph, uint32_t number, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    const enum status status = gpu_stream_of(&stream, gpu, number, err);
    return status ? status : GPU_TRY(gpu, err, instance_launch, graph->instance, stream);
}

void gpu_graph_free(struct device *device, struct device_graph *graph)
{
    const struct gpu *gpu = (const struct gpu *)device;
    if (!graph)
        return;
    if (graph->instance)
        gpu->api.instance_free(graph->instance);
    if (graph->captured)
        gpu->api.captured_free(graph->captured);
    free(graph);
}
