/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cuda.h"

struct device_graph {
    struct CUgraphExec_st *exec;
};

static const char *missing_for(const struct cuda_api *api)
{
    return !api->cuStreamBeginCapture_v2       ? "cuStreamBeginCapture_v2"
           : !api->cuStreamEndCapture          ? "cuStreamEndCapture"
           : !api->cuGraphInstantiateWithFlags ? "cuGraphInstantiateWithFlags"
           : !api->cuGraphLaunch               ? "cuGraphLaunch"
           : !api->cuGraphExecDestroy          ? "cuGraphExecDestroy"
           : !api->cuGraphDestroy              ? "cuGraphDestroy"
                                               : NULL;
}

/* The capture ends whatever happens in it: a stream left capturing refuses everything. */
static enum status capture_launches(struct CUgraph_st **graph, const struct cuda_api *api, struct CUstream_st *stream,
                                    const struct device_launch *launches, size_t count, uint32_t repeat,
                                    struct err *err)
{
    struct CUgraph_st *captured = NULL;
    struct err ignored = {0};
    enum status status = CUDA_TRY(api, err, cuStreamBeginCapture_v2, stream, CUDA_CAPTURE_THREAD_LOCAL);
    if (status)
        return status;
    for (uint32_t round = 0; round < repeat && !status; round++)
        for (size_t k = 0; k < count && !status; k++)
            status = launches[k].cooperative
                         ? err_set(err, ERR_UNSUPPORTED, "a cooperative launch cannot stand in a graph")
                         : cuda_launch_on(api, &launches[k], stream, err);
    const enum status ended = CUDA_TRY(api, status ? &ignored : err, cuStreamEndCapture, stream, &captured);
    if ((status || ended) && captured)
        api->cuGraphDestroy(captured);
    if (!status && !ended)
        *graph = captured;
    return status ? status : ended;
}

enum status cuda_graph_make(struct device_graph **graph, const struct cuda_library *library,
                            struct CUstream_st **capture, const struct device_launch *launches, size_t count,
                            uint32_t repeat, struct err *err)
{
    const struct cuda_api *api = &library->api;
    struct CUgraph_st *captured = NULL;
    struct CUgraphExec_st *exec = NULL;
    const char *missing = missing_for(api);
    if (missing)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks %s", library->path, missing);
    if (!*capture && CUDA_TRY(api, err, cuStreamCreate, capture, CUDA_STREAM_NON_BLOCKING)) {
        *capture = NULL;
        return err->status;
    }
    enum status status = capture_launches(&captured, api, *capture, launches, count, repeat, err);
    if (!status)
        status = CUDA_TRY(api, err, cuGraphInstantiateWithFlags, &exec, captured, 0);
    if (captured) /* an instance keeps nothing of it */
        api->cuGraphDestroy(captured);
    if (status)
        return status;
    struct device_graph *made = calloc(1, sizeof(*made));
    if (!made)
        arena_out_of_memory(sizeof(*made));
    made->exec = exec;
    *graph = made;
    return STATUS_OK;
}

enum status cuda_graph_launch(const struct device_graph *graph, const struct cuda_api *api, struct CUstream_st *stream,
                              struct err *err)
{
    return CUDA_TRY(api, err, cuGraphLaunch, graph->exec, stream);
}

void cuda_graph_free(struct device_graph *graph, const struct cuda_api *api)
{
    if (!graph)
        return;
    api->cuGraphExecDestroy(graph->exec);
    free(graph);
}
