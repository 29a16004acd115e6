/* SPDX-License-Identifier: MIT
 *
 * The HIP backend, shared by its files: hip.c (operations), hip_library.c (finding libamdhip64 and its functions, error
 * texts), hip_memory.c (memory of all kinds), hip_graph.c (graphs of launches), hip_properties.c (what a device says about
 * itself), hip_count.c (how many there are, or why none).
 */
#ifndef ROOFTILE_DEVICE_HIP_H
#define ROOFTILE_DEVICE_HIP_H

#include "hip_api.h"
#include "rooftile/device.h"

struct hip_library {
    struct hip_api api;
    char path[512]; /* of the file that was loaded */
};

/* Finds and loads libamdhip64; ERR_DEVICE_LOST says what was searched, or what is wrong with what was found. It is
 * never unloaded: the runtime has threads of its own. */
enum status hip_library_open(struct hip_library *library, struct err *err);

/* The status and text of an error code; STATUS_OK for HIP_SUCCESS. */
enum status hip_check(const struct hip_api *api, hip_error code, const char *function, struct err *err);
#define HIP_TRY(api, err, function, ...) hip_check((api), (api)->function(__VA_ARGS__), #function, (err))

/* Starts the runtime and counts its devices, at least one; ERR_DEVICE_LOST says why there is none. */
enum status hip_start(int *count, const struct hip_library *library, struct err *err);

/* Device `index` must be the current one: free memory is that of the current device. */
enum status hip_describe(struct device_info *info, const struct hip_library *library, int index, struct err *err);

/* What was allocated, in whatever space; freed as it must be. */
struct hip_allocation;
enum status hip_memory_alloc(void **pointer, struct hip_allocation **list, const struct hip_library *library,
                             uint64_t size_bytes, enum device_space space, struct err *err);
struct hip_place {
    int of, own, count; /* device whose memory it is, the one that was opened, and how many there are */
};
/* As device_ops.alloc_peer. */
enum status hip_memory_alloc_peer(void **pointer, struct hip_allocation **list, const struct hip_library *library,
                                  uint64_t size_bytes, const struct hip_place *place, struct err *err);
void hip_memory_free(struct hip_allocation **list, const struct hip_api *api, const void *pointer);
void hip_memory_free_all(struct hip_allocation **list, const struct hip_api *api);
/* Its number, its peers, and the kinds of memory that it lacks. */
void hip_memory_describe(struct device_info *info, const struct hip_library *library, int index, int count);

/* As device_ops.count. The library is loaded in a child process, which gets `timeout_ms`. */
int hip_count(struct text *why, int timeout_ms);

/* Adds what keeps the runtime from seeing a GPU, as far as the device files below `dev` ("/dev") and the environment
 * tell. */
void hip_explain_absence(struct text *why, const char *dev);

/* The operations on graphs (device_ops). `capture` is a stream of their own, made at its first use: launches are captured
 * rather than made nodes of by hand, because then the library copies their arguments as for any launch. */
enum status hip_graph_make(struct device_graph **graph, const struct hip_library *library, struct ihipStream_t **capture,
                           const struct device_launch *launches, size_t count, uint32_t repeat, struct err *err);
enum status hip_graph_launch(const struct device_graph *graph, const struct hip_api *api, struct ihipStream_t *stream,
                             struct err *err);
void hip_graph_free(struct device_graph *graph, const struct hip_api *api);

/* hipModuleLaunchKernel. */
enum status hip_launch_on(const struct hip_api *api, const struct device_launch *launch, struct ihipStream_t *stream,
                          struct err *err);

#endif
