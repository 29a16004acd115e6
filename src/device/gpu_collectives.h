/* SPDX-License-Identifier: MIT
 *
 * Collectives through librccl or libnccl, behind device_ops.load_library; library.h documents the arguments of their
 * functions. Either one process has a communicator for each device of the node (ncclCommInitAll): device 0 is the open
 * one, and its stream starts the others and waits for them, so that events around a launch cover the whole. Or each
 * process of a job has one communicator for its device (ncclCommInitRank), and they share the library's id through
 * ranks.h.
 *
 * Prototypes are our own, for both libraries, whose interfaces are the same (nccl.h of NCCL 2.23 and of RCCL 2.22);
 * enumerations are int, communicators and streams pointers.
 */
#ifndef ROOFTILE_DEVICE_GPU_COLLECTIVES_H
#define ROOFTILE_DEVICE_GPU_COLLECTIVES_H

#include "gpu.h"

struct collectives_id {
    char bytes[128];
};

struct collectives_api {
    int (*version)(int *version);
    const char *(*text)(int code);
    int (*init_all)(void **comms, int count, const int *devices);
    int (*unique_id)(struct collectives_id *id);
    int (*init_rank)(void **comm, int count, struct collectives_id id, int rank);
    int (*destroy)(void *comm);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*all_reduce)(const void *in, void *out, size_t count, int type, int op, void *comm, void *stream);
    int (*all_gather)(const void *in, void *out, size_t count, int type, void *comm, void *stream);
    int (*reduce_scatter)(const void *in, void *out, size_t count, int type, int op, void *comm, void *stream);
    int (*broadcast)(const void *in, void *out, size_t count, int type, int root, void *comm, void *stream);
    int (*send)(const void *from, size_t count, int type, int to, void *comm, void *stream);
    int (*recv)(void *to, size_t count, int type, int from, void *comm, void *stream);
};

/* An open library. */
struct gpu_collectives {
    struct library_file file;
    struct collectives_api api;
    uint32_t devices;  /* number of devices or ranks with communicators; 0: none */
    struct err absent; /* why the ranks did not meet; there is no second attempt */
    bool ranks;        /* the devices belong to several processes */
    void *agreed;      /* device memory for the values they agree on */
    void *comms[GPU_MAX_DEVICES];
    struct gpu_stream *streams[GPU_MAX_DEVICES]; /* for each device but number 0, */
    struct gpu_event *done[GPU_MAX_DEVICES];     /* ... its completion; number 0: where all begin */
};

/* device_ops.load_library for the names of the collectives; for other names *known is false and nothing happens. */
enum status collectives_load(bool *known, struct device_module **module, struct gpu *gpu, const char *name,
                             struct err *err);
/* Finds a function of the module's library, as device_ops.kernel does. */
enum status collectives_kernel(const struct device_kernel **kernel, struct kernel_info *info,
                               struct device_module *module, const char *symbol, struct err *err);
/* Acts as a launch in this stream of device 0. */
enum status collectives_launch(struct gpu *gpu, const struct device_kernel *kernel, void *const *args,
                               struct gpu_stream *stream, struct err *err);
/* device_ops.agree. */
enum status collectives_agree(struct device *device, double *values, uint32_t count, struct err *err);
void collectives_close(struct gpu *gpu);

#endif
