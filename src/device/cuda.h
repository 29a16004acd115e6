/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend, shared by its files: cuda.c (operations), cuda_library.c (finding libcuda and its functions, error
 * texts), cuda_memory.c (contexts, and memory of all kinds), cuda_module.c (code), cuda_graph.c (graphs of launches),
 * cuda_properties.c (what a device says about itself), cuda_count.c (how many there are, or why none).
 */
#ifndef ROOFTILE_DEVICE_CUDA_H
#define ROOFTILE_DEVICE_CUDA_H

#include "cuda_api.h"
#include "rooftile/device.h"

struct cuda_library {
    struct cuda_api api;
    char path[512]; /* of the file that was loaded */
};

/* Finds and loads libcuda.so.1; ERR_DEVICE_LOST says what was searched, or what is wrong with what was found. It is
 * never unloaded: the driver has threads of its own. */
enum status cuda_library_open(struct cuda_library *library, struct err *err);

/* The status and text of an error code; STATUS_OK for CUDA_OK. After an error of a kernel the context is lost, and
 * every call fails with it: that is ERR_DEVICE_LOST. */
enum status cuda_check(const struct cuda_api *api, cuda_error code, const char *function, struct err *err);
#define CUDA_TRY(api, err, function, ...) cuda_check((api), (api)->function(__VA_ARGS__), #function, (err))

/* Starts the driver and counts its devices, at least one; ERR_DEVICE_LOST says why there is none. */
enum status cuda_start(int *count, const struct cuda_library *library, struct err *err);

/* The device's context must be the current one: free memory is that of the current device. */
enum status cuda_describe(struct device_info *info, const struct cuda_library *library, int index, struct err *err);

/* As device_ops.count. The library is loaded in a child process, which gets `timeout_ms`. */
int cuda_count(struct text *why, int timeout_ms);

/* Adds what keeps the driver from seeing a GPU, as far as the device files below `dev` ("/dev") and the environment
 * tell. */
void cuda_explain_absence(struct text *why, const char *dev);

/* ---- contexts and memory ---- */

enum { CUDA_MAX_DEVICES = 64 };
struct cuda_allocation;

/* Primary contexts, of the device that was opened and of peers that were used, and all that was allocated. */
struct cuda_memory {
    const struct cuda_library *library;
    int own, count; /* the device that was opened, and how many there are */
    struct CUctx_st *contexts[CUDA_MAX_DEVICES];
    struct cuda_allocation *allocations;
};

/* Makes the own device's context and the current one of this thread. */
enum status cuda_memory_open(struct cuda_memory *memory, const struct cuda_library *library, int own, int count,
                             struct err *err);
void cuda_memory_close(struct cuda_memory *memory); /* frees everything */
enum status cuda_memory_alloc(void **pointer, struct cuda_memory *memory, uint64_t size_bytes, enum device_space space,
                              struct err *err);
/* As device_ops.alloc_peer. */
enum status cuda_memory_alloc_peer(void **pointer, struct cuda_memory *memory, uint64_t size_bytes, int index,
                                   struct err *err);
void cuda_memory_free(struct cuda_memory *memory, const void *pointer);
/* Its number, its peers, and the kinds of memory that it lacks. */
void cuda_memory_describe(struct device_info *info, const struct cuda_memory *memory);

/* ---- code ---- */

/* A file with a cubin, which is for this very architecture, or with PTX, which the driver compiles now. */
enum status cuda_module_load(struct CUmod_st **module, const struct cuda_api *api, const char *path, struct err *err);
/* `most_lds_bytes` of a workgroup: launches may then ask for all that the function does not take itself. */
enum status cuda_module_function(struct CUfunc_st **function, struct kernel_info *info, const struct cuda_api *api,
                                 struct CUmod_st *module, const char *symbol, uint64_t most_lds_bytes, struct err *err);

/* The operations on graphs (device_ops). `capture` is a stream of their own, made at its first use: launches are
 * captured rather than made nodes of by hand, because then the driver copies their arguments as for any launch. */
enum status cuda_graph_make(struct device_graph **graph, const struct cuda_library *library,
                            struct CUstream_st **capture, const struct device_launch *launches, size_t count,
                            uint32_t repeat, struct err *err);
enum status cuda_graph_launch(const struct device_graph *graph, const struct cuda_api *api, struct CUstream_st *stream,
                              struct err *err);
void cuda_graph_free(struct device_graph *graph, const struct cuda_api *api);

/* cuLaunchKernel. */
enum status cuda_launch_on(const struct cuda_api *api, const struct device_launch *launch, struct CUstream_st *stream,
                           struct err *err);

#endif
