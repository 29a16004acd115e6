/* SPDX-License-Identifier: MIT
 *
 * What the backends over a vendor's library share, which is nearly everything: hip and cuda are two columns of one
 * table of functions (gpu_calls.h), and a table each of what differs (struct gpu_vendor). gpu.c has the device, its
 * streams, events and memory; gpu_code.c modules, kernels and graphs of launches; gpu_blas*.c libraries of functions;
 * gpu_runtime.c starting the library, counting its devices, and what a device says about itself; gpu_ranges.c the
 * profilers' ranges.
 *
 * Stream 0 is the vendor's null stream; the others do not wait for it and are made at their first use. Events are made
 * when the device is opened. One thread uses a device: the one that opened it, whose current device (context) it stays.
 */
#ifndef ROOFTILE_DEVICE_GPU_H
#define ROOFTILE_DEVICE_GPU_H

#include "gpu_calls.h"
#include "telemetry.h"

enum { GPU_MAX_DEVICES = 64 };

struct gpu;

/* Features that need functions which a library may lack (library_symbol.need). They are checked first (gpu_require), so
 * the functions are called without checks. */
enum gpu_feature {
    GPU_REQUIRED = SYMBOL_REQUIRED,
    GPU_OPTIONAL = SYMBOL_OPTIONAL,
    GPU_PINNED = SYMBOL_FEATURES,
    GPU_MANAGED,
    GPU_FINE,
    GPU_PEER,
    GPU_GRAPHS,
    GPU_COOPERATIVE,
    GPU_OWN_TIMES
};

/* An attribute for a fact; under the last two rules a device without the attribute is an error. */
struct gpu_attribute {
    unsigned attribute;
    enum { UNKNOWN_IS_0, MAY_BE_0, MUST_BE_KNOWN } rule;
};

/* A device file that the driver needs, below /dev. */
struct gpu_device_file {
    const char *pattern; /* of the shell */
    const char *name;    /* to speak of when there is none */
    const char *means;   /* what it means when there is none; NULL: nothing */
};

/* What more to say about an error code when the library starts. */
struct gpu_hint {
    gpu_error code;
    bool files;        /* look at the device files, too */
    const char *means; /* NULL: nothing more */
};

/* A profiler's ranges; looked for when the first one begins. */
struct gpu_ranges {
    bool tried;
    int (*push)(const char *name); /* NULL: there is no library for them */
    int (*pop)(void);
};

/* Everything that differs. Tables end with a zeroed row. Errors have their status and the vendor's own words; outputs
 * are set on success only. */
struct gpu_vendor {
    const struct device_ops *ops;
    const char *library;        /* "libamdhip64", in messages */
    struct library_place place; /* its symbols' offsets are in struct gpu_calls */
    const char *setting[2];     /* an environment variable to set unless the user did, and its value; NULL: none */
    const char *pci_vendor;     /* "10de" */
    const struct gpu_hint *hints;
    const struct gpu_device_file *files;
    const char *const *masks; /* variables of the environment that hide devices; NULL-terminated */

    struct gpu_attribute attributes[GPU_FACTS];
    unsigned lacks_spaces;                      /* SPACE_BIT each: on every device */
    unsigned pinned_flags, pinned_coarse_flags; /* of host_alloc */
    unsigned pinned_user_node;                  /* besides: on the node that the thread's policy names */

    /* The name of an error code and, optionally, what it means; NULL: the library does not know it. */
    const char *(*error_name)(const char **text, const struct gpu *gpu, gpu_error code);
    /* Makes a device the current one of this thread; later allocations are in its memory. */
    enum status (*enter)(struct gpu *gpu, int index, struct err *err);
    gpu_error (*reach)(struct gpu *gpu, int to); /* lets the current device reach the memory of another */
    /* In a stream, or (`wait`) at once and until it is done. */
    enum status (*copy)(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes,
                        struct gpu_stream *stream, bool wait, struct err *err);
    enum status (*load)(struct gpu_code **code, const struct gpu *gpu, const char *path, struct err *err);
    /* Optional: fills what the library tells, and prepares the function for launches with as much LDS as the device
     * gives. */
    enum status (*prepare)(struct kernel_info *info, const struct gpu *gpu, struct gpu_function *function,
                           struct err *err);
    /* Completes `info`, which has facts, name, memory and address: at least arch, target and timer_tick_ns. What the
     * operating system knows is added later. */
    enum status (*describe)(struct device_info *info, struct gpu *gpu, const uint32_t facts[static GPU_FACTS],
                            struct err *err);
    void (*find_ranges)(struct gpu_ranges *ranges);
    const char *no_ranges; /* the message when there are none: what was looked for */
};

/* ---- the device ---- */

struct gpu_library;
struct gpu_collectives;

struct gpu {
    struct device device; /* first */
    const struct gpu_vendor *vendor;
    struct gpu_calls api;
    struct library_file library;
    const struct device_ranks *ranks; /* NULL: this process alone */
    int index, count;                 /* its number, and how many devices there are */
    int handles[GPU_MAX_DEVICES];     /* what the library calls them */
    uint64_t lds_bytes;               /* that a workgroup can have */
    struct allocation *allocations;
    struct gpu_stream *streams[DEVICE_MAX_STREAMS];
    struct gpu_stream *capture; /* for making graphs; made at its first use */
    struct gpu_event *events[DEVICE_MAX_EVENTS];
    struct gpu_ranges ranges;
    struct gpu_library *libraries;       /* libraries of functions that were opened */
    struct gpu_collectives *collectives; /* the one of them for several devices; NULL: not yet */
    struct telemetry telemetry;
    uint32_t far_node; /* as in struct device_pcie */
    struct nvml nvml;  /* NVIDIA */
    struct gpu_context
        *contexts[GPU_MAX_DEVICES]; /* CUDA's: of the device that was opened and of peers that were used */
};

/* A kernel of a code object, or a function of a library, which passes the arguments on. Lives as long as its module. */
struct device_kernel {
    struct gpu_function *function; /* NULL: of the module's library, */
    unsigned in, out;              /* ... the product of these types (enum blas_type), or numbers of a collective */
    const struct device_module *module;
};

struct device_module {
    struct gpu_code *code;               /* NULL: a library, ... */
    struct gpu_library *library;         /* ... this one, */
    struct gpu_collectives *collectives; /* ... or this one */
    struct arena kernels;
};

/* The status and text of an error code that the function at `offset` of struct gpu_calls returned; STATUS_OK for
 * GPU_SUCCESS. After some errors nothing works any more in this process; a new one may open the device again:
 * ERR_DEVICE_LOST. */
enum status gpu_check(const struct gpu *gpu, gpu_error code, size_t offset, struct err *err);
#define GPU_TRY(gpu, err, member, ...)                                                                                 \
    gpu_check((gpu), (gpu)->api.member(__VA_ARGS__), offsetof(struct gpu_calls, member), (err))
#define GPU_CHECK(gpu, err, member, code) gpu_check((gpu), (code), offsetof(struct gpu_calls, member), (err))

enum gpu_feature gpu_feature_of(enum device_space space);
/* ERR_UNSUPPORTED, with the library's file and the function's name, when it lacks one. */
enum status gpu_require(const struct gpu *gpu, enum gpu_feature feature, struct err *err);
enum status gpu_stream_of(struct gpu_stream **stream, struct gpu *gpu, uint32_t number, struct err *err);
/* Finds and opens what is known of this name (device_ops.load_library). */
enum status gpu_blas_load(struct device_module **module, struct device *device, const char *name, struct err *err);
/* A function of the module's library, as device_ops.kernel. */
enum status gpu_blas_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device_module *module,
                            const char *symbol, struct err *err);
/* Its work is done in this stream; under capture it only adds to the graph. The device's context is current. */
enum status gpu_blas_launch(const struct device_kernel *kernel, void *const *args, struct gpu_stream *stream,
                            struct err *err);
void gpu_blas_close(struct gpu *gpu);
/* Adds a kernel to its module. */
const struct device_kernel *gpu_add_kernel(struct device_module *module, struct device_kernel kernel);

/* ---- gpu_runtime.c ---- */

/* A zeroed device of this vendor. */
struct gpu *gpu_new(const struct gpu_vendor *vendor);
/* Finds and loads the vendor's library and its functions; ERR_DEVICE_LOST says what was searched, or what is wrong with
 * what was found. It is never unloaded: it has threads of its own. */
enum status gpu_find_library(struct gpu *gpu, struct err *err);
/* Starts the library and counts its devices, at least one; ERR_DEVICE_LOST says why there is none. */
enum status gpu_start(struct gpu *gpu, struct err *err);
/* As device_ops.count. The library is loaded in a child process, which gets `timeout_ms`: such a library starts threads
 * and may hang, die, or spoil a later fork. */
enum { GPU_COUNT_TIMEOUT_MS = 60000 }; /* a node with many GPUs that has slept takes seconds */
int gpu_count(struct text *why, const struct gpu_vendor *vendor, int timeout_ms);
/* Adds why the library may not see a GPU, from the device files below `dev` ("/dev") and the environment. */
void gpu_explain_absence(struct text *why, const struct gpu_vendor *vendor, const char *dev);

/* Of the device that was entered. */
enum status gpu_describe(struct device_info *info, struct gpu *gpu, struct err *err);

/* ---- gpu_ranges.c: gpu_vendor.find_ranges ---- */

/* NVTX, which NVIDIA's tools show beside the kernels: through the library that ROOFTILE_NVTX_LIBRARY names, else the
 * tool that NVTX_INJECTION64_PATH names, else libnvToolsExt. */
#define NVTX_MISSING "no tool listens to NVTX (NVTX_INJECTION64_PATH), and there is no libnvToolsExt.so.1 (CUDA 12)"
void nvtx_find(struct gpu_ranges *ranges);
/* ROCTX, which rocprofv3 shows: through whichever of ROCm's libraries is there, or the one that ROOFTILE_ROCTX_LIBRARY
 * names. The profiler of ROCm 6.2 and later knows ranges of the first, older ones those of the second. */
#define ROCTX_NEW "librocprofiler-sdk-roctx.so"
#define ROCTX_OLD "libroctx64.so"
#define ROCTX_MISSING "neither " ROCTX_NEW " nor " ROCTX_OLD " can be loaded"
void roctx_find(struct gpu_ranges *ranges);

/* Since version 3 NVTX is not a library: the program has a table of functions, empty at first, which a library of the
 * tool (Nsight Systems, Compute) fills. Up to CUDA 12 there was also libnvToolsExt, which does the same inside. Numbers
 * and layouts are those of nvtxTypes.h of NVTX 3. */
enum nvtx_module { NVTX_CORE = 1, NVTX_CUDA, NVTX_OPENCL, NVTX_CUDART, NVTX_CORE2, NVTX_SYNC, NVTX_MODULES };
enum nvtx_core { NVTX_RANGE_PUSH = 9, NVTX_RANGE_POP = 11, NVTX_CORE_FUNCTIONS = 16 };
enum nvtx_table { NVTX_CALLBACKS = 1, NVTX_VERSION_INFO = 3 };

typedef void (*nvtx_function)(void);
struct nvtx_callbacks {
    size_t size;
    /* Sets the slots for the functions of a module: `count` of them, the first unused. Returns 1 if there are such. */
    int (*functions_of)(int module, nvtx_function ***places, unsigned *count);
};
struct nvtx_version_info {
    size_t size;
    uint32_t version, reserved;
    void (*set_tool_version)(uint32_t version);
};
typedef const void *(*nvtx_get_table)(uint32_t table);
/* What a tool's library exports as InitializeInjectionNvtx2; 0: it failed. */
typedef int (*nvtx_start_tool)(nvtx_get_table get_table);

/* ---- the operations of device_ops that stand in several files ---- */

enum status gpu_alloc(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                      struct err *err);
void gpu_free(struct device *device, void *pointer);
enum status gpu_event(struct device *device, uint32_t event, uint32_t stream, struct err *err);
enum status gpu_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err);
enum status gpu_wait(struct device *device, struct err *err);
enum status gpu_load(struct device_module **module, struct device *device, const char *path, struct err *err);
void gpu_unload(struct device *device, struct device_module *module);
enum status gpu_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                       struct device_module *module, const char *symbol, struct err *err);
enum status gpu_launch(struct device *device, const struct device_launch *launch, struct err *err);
enum status gpu_graph_make(struct device_graph **graph, struct device *device, const struct device_launch *launches,
                           size_t count, uint32_t repeat, struct err *err);
enum status gpu_graph_launch(struct device *device, const struct device_graph *graph, uint32_t stream, struct err *err);
void gpu_graph_free(struct device *device, struct device_graph *graph);
/* AMD's alone. */
enum status hip_launch_with_events(struct device *device, const struct device_launch *launch, uint32_t from,
                                   uint32_t to, struct err *err);
extern const struct gpu_vendor hip_vendor, cuda_vendor;

#endif
