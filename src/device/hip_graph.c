/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "hip.h"

struct device_graph {
    struct ihipGraph *graph; /* some releases still look at it when the instance is launched */
    struct hipGraphExec *exec;
};

static const char *missing_for(const struct hip_api *api)
{
    return !api->hipStreamBeginCapture ? "hipStreamBeginCapture"
           : !api->hipStreamEndCapture ? "hipStreamEndCapture"
           : !api->hipGraphInstantiate ? "hipGraphInstantiate"
           : !api->hipGraphLaunch      ? "hipGraphLaunch"
           : !api->hipGraphExecDestroy ? "hipGraphExecDestroy"
           : !api->hipGraphDestroy     ? "hipGraphDestroy"
                                       : NULL;
}

/* The capture ends whatever happens in it: a stream left capturing refuses everything. */
static enum status capture_launches(struct ihipGraph **graph, const struct hip_api *api, struct ihipStream_t *stream,
                                    const struct device_launch *launches, size_t count, uint32_t repeat,
                                    struct err *err)
{
    struct ihipGraph *captured = NULL;
    struct err ignored = {0};
    enum status status = HIP_TRY(api, err, hipStreamBeginCapture, stream, HIP_CAPTURE_THREAD_LOCAL);
    if (status)
        return status;
    for (uint32_t round = 0; round < repeat && !status; round++)
        for (size_t k = 0; k < count && !status; k++)
            status = launches[k].cooperative
                         ? err_set(err, ERR_UNSUPPORTED, "a cooperative launch cannot stand in a graph")
                         : hip_launch_on(api, &launches[k], stream, err);
    const enum status ended = HIP_TRY(api, status ? &ignored : err, hipStreamEndCapture, stream, &captured);
    if ((status || ended) && captured)
        api->hipGraphDestroy(captured);
    if (!status && !ended)
        *graph = captured;
    return status ? status : ended;
}

enum status hip_graph_make(struct device_graph **graph, const struct hip_library *library,
                           struct ihipStream_t **capture, const struct device_launch *launches, size_t count,
                           uint32_t repeat, struct err *err)
{
    const struct hip_api *api = &library->api;
    const char *missing = missing_for(api);
    if (missing)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks %s", library->path, missing);
    if (!*capture && HIP_TRY(api, err, hipStreamCreateWithFlags, capture, HIP_STREAM_NON_BLOCKING)) {
        *capture = NULL;
        return err->status;
    }
    struct device_graph *made = calloc(1, sizeof(*made));
    if (!made)
        arena_out_of_memory(sizeof(*made));
    enum status status = capture_launches(&made->graph, api, *capture, launches, count, repeat, err);
    if (!status)
        status = HIP_TRY(api, err, hipGraphInstantiate, &made->exec, made->graph, NULL, NULL, 0);
    if (status) {
        made->exec = NULL;
        hip_graph_free(made, api);
        return status;
    }
    *graph = made;
    return STATUS_OK;
}

enum status hip_graph_launch(const struct device_graph *graph, const struct hip_api *api, struct ihipStream_t *stream,
                             struct err *err)
{
    return HIP_TRY(api, err, hipGraphLaunch, graph->exec, stream);
}

void hip_graph_free(struct device_graph *graph, const struct hip_api *api)
{
    if (!graph)
        return;
    if (graph->exec)
        api->hipGraphExecDestroy(graph->exec);
    if (graph->graph)
        api->hipGraphDestroy(graph->graph);
    free(graph);
}
