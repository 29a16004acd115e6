/* SPDX-License-Identifier: MIT
 *
 * Launches are captured rather than made nodes of by hand, because then the library copies their arguments as for any
 * launch. The stream for it is one of their own, made at its first use.
 */
#include <stdlib.h>

#include "gpu.h"

struct device_graph {
    struct gpu_captured *captured; /* some releases of HIP still look at it when the instance is launched */
    struct gpu_instance *instance;
};

/* The capture ends whatever happens in it: a stream left capturing refuses everything. */
static enum status capture_launches(struct gpu_captured **captured, struct gpu *gpu,
                                    const struct device_launch *launches, size_t count, uint32_t repeat,
                                    struct err *err)
{
    const struct gpu_api *api = gpu->vendor->api;
    struct err ignored = {0};
    enum status status = api->capture_begin(gpu, gpu->capture, err);
    if (status)
        return status;
    for (uint32_t round = 0; round < repeat && !status; round++)
        for (size_t k = 0; k < count && !status; k++)
            status = launches[k].cooperative
                         ? err_set(err, ERR_UNSUPPORTED, "a cooperative launch cannot stand in a graph")
                         : gpu_launch_on(gpu, &launches[k], gpu->capture, err);
    const enum status ended = api->capture_end(captured, gpu, gpu->capture, status ? &ignored : err);
    return status ? status : ended;
}

enum status gpu_graph_make(struct device_graph **graph, struct device *device, const struct device_launch *launches,
                           size_t count, uint32_t repeat, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    const struct gpu_api *api = gpu->vendor->api;
    enum status status = gpu_require(gpu, GPU_GRAPHS, err);
    if (!status && !gpu->capture)
        status = api->stream_make(&gpu->capture, gpu, err);
    if (status)
        return status;
    struct device_graph *made = calloc(1, sizeof(*made));
    if (!made)
        arena_out_of_memory(sizeof(*made));
    status = capture_launches(&made->captured, gpu, launches, count, repeat, err);
    if (!status)
        status = api->instance_make(&made->instance, gpu, made->captured, err);
    if (status) {
        gpu_graph_free(device, made);
        return status;
    }
    *graph = made;
    return STATUS_OK;
}

enum status gpu_graph_launch(struct device *device, const struct device_graph *graph, uint32_t number, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    const enum status status = gpu_stream_of(&stream, gpu, number, err);
    return status ? status : gpu->vendor->api->instance_launch(gpu, graph->instance, stream, err);
}

void gpu_graph_free(struct device *device, struct device_graph *graph)
{
    const struct gpu *gpu = (const struct gpu *)device;
    if (!graph)
        return;
    if (graph->instance)
        gpu->vendor->api->instance_free(gpu, graph->instance);
    if (graph->captured)
        gpu->vendor->api->captured_free(gpu, graph->captured);
    free(graph);
}
