/* SPDX-License-Identifier: MIT
 *
 * Declarations shared by the backends that use a vendor's library. Nearly everything is shared: hip and cuda are two
 * columns of one table of functions (gpu_calls.h), plus a table each of the differences (struct gpu_vendor). gpu.c
 * implements the device, its streams, events and memory; gpu_code.c modules, kernels and graphs of launches;
 * gpu_blas*.c libraries of functions; gpu_runtime.c starts the library, counts its devices and reads device facts;
 * gpu_ranges.c implements the profilers' ranges.
 *
 * Stream 0 is the vendor's null stream; the others do not wait for it and are created at first use. Events are created
 * when the device is opened. A device is used by one thread, the one that opened it; it remains that thread's current
 * device (context).
 */
#ifndef ROOFTILE_DEVICE_GPU_H
#define ROOFTILE_DEVICE_GPU_H

#include "gpu_calls.h"
#include "telemetry.h"

enum { GPU_MAX_DEVICES = 64 };

struct gpu;

/* Features whose functions a library may lack (library_symbol.need). gpu_require checks them first, so that calls need
 * no checks. */
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

/* The attribute that gives a fact; under the last two rules, a device without the attribute is an error. */
struct gpu_attribute {
    unsigned attribute;
    enum { UNKNOWN_IS_0, MAY_BE_0, MUST_BE_KNOWN } rule;
};

/* A device file below /dev that the driver needs. */
struct gpu_device_file {
    const char *pattern; /* a shell pattern */
    const char *name;    /* its name in messages if none exists */
    const char *means;   /* the consequence if none exists; NULL: none */
};

/* Additional text for an error code when the library starts. */
struct gpu_hint {
    gpu_error code;
    bool files;        /* also check the device files */
    const char *means; /* NULL: no text */
};

/* A profiler's ranges; the library is searched for when the first range begins. */
struct gpu_ranges {
    bool tried;
    int (*push)(const char *name); /* NULL: no library was found */
    int (*pop)(void);
};

/* Everything that differs between vendors. Tables end with a zeroed row. Errors have a status and the vendor's own
 * text; outputs are set only on success. */
struct gpu_vendor {
    const struct device_ops *ops;
    const char *library;        /* "libamdhip64", for messages */
    struct library_place place; /* symbol offsets refer to struct gpu_calls */
    const char *setting[2];     /* name and value of an environment variable to set unless it is set; NULL: none */
    const char *pci_vendor;     /* "10de" */
    const struct gpu_hint *hints;
    const struct gpu_device_file *files;
    const char *const *masks; /* environment variables that hide devices; NULL-terminated */

    struct gpu_attribute attributes[GPU_FACTS];
    unsigned lacks_spaces;                      /* SPACE_BIT of each kind that every device lacks */
    unsigned pinned_flags, pinned_coarse_flags; /* for host_alloc */
    unsigned pinned_user_node;                  /* additional flag: use the node that the thread's policy names */

    /* Returns the name of an error code and, optionally, sets its meaning; NULL: the library does not know it. */
    const char *(*error_name)(const char **text, const struct gpu *gpu, gpu_error code);
    /* Makes a device current for this thread; later allocations are in its memory. */
    enum status (*enter)(struct gpu *gpu, int index, struct err *err);
    gpu_error (*reach)(struct gpu *gpu, int to); /* gives the current device access to another's memory */
    /* Copies in a stream, or (`wait`) at once, returning when it is done. */
    enum status (*copy)(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes,
                        struct gpu_stream *stream, bool wait, struct err *err);
    enum status (*load)(struct gpu_code **code, const struct gpu *gpu, const char *path, struct err *err);
    /* Optional: counts the work-items in each dimension, which must fit 32 bits. */
    enum status (*count_work)(uint32_t work[static 3], const struct device_launch *launch, struct err *err);
    /* Optional: fills what the library reports, and allows launches of the function to use all of the device's LDS. */
    enum status (*prepare)(struct kernel_info *info, const struct gpu *gpu, struct gpu_function *function,
                           struct err *err);
    /* Completes `info`, which already has facts, name, memory and address: at least arch, target and timer_tick_ns.
     * Facts from the operating system are added later. */
    enum status (*describe)(struct device_info *info, struct gpu *gpu, const uint32_t facts[static GPU_FACTS],
                            struct err *err);
    void (*find_ranges)(struct gpu_ranges *ranges);
    const char *no_ranges; /* the message if no library is found: what was searched for */
};

/* ---- the device ---- */

struct gpu_library;
struct gpu_collectives;

struct gpu {
    struct device device; /* must be first */
    const struct gpu_vendor *vendor;
    struct gpu_calls api;
    struct library_file library;
    const struct device_ranks *ranks; /* NULL: only this process */
    int index, count;                 /* its number, and the number of devices */
    int handles[GPU_MAX_DEVICES];     /* the library's handles */
    uint64_t lds_bytes;               /* maximum for a workgroup */
    struct allocation *allocations;
    struct gpu_stream *streams[DEVICE_MAX_STREAMS];
    struct gpu_stream *capture; /* captures graphs; created at first use */
    struct gpu_event *events[DEVICE_MAX_EVENTS];
    struct gpu_ranges ranges;
    struct gpu_library *libraries;       /* opened libraries of functions */
    struct gpu_collectives *collectives; /* the collectives library; NULL: not opened yet */
    struct telemetry telemetry;
    uint32_t far_node;                             /* as in struct device_pcie */
    struct nvml nvml;                              /* NVIDIA */
    struct gpu_context *contexts[GPU_MAX_DEVICES]; /* CUDA contexts of the open device and of used peers */
};

/* A kernel of a code object, or a function of a library, which passes the arguments on. Lives as long as its module. */
struct device_kernel {
    struct gpu_function *function; /* NULL: a function of the module's library, */
    unsigned in, out;              /* ... the product of these types (enum blas_type), or numbers of a collective */
    const struct device_module *module;
};

struct device_module {
    struct gpu_code *code;               /* NULL: a library, ... */
    struct gpu_library *library;         /* ... this one, */
    struct gpu_collectives *collectives; /* ... or this one */
    struct arena kernels;
};

/* Returns the status of an error code that the function at `offset` of struct gpu_calls returned, and sets the text;
 * STATUS_OK for GPU_SUCCESS. ERR_DEVICE_LOST: the device no longer works in this process, but a new process may open it
 * again. */
enum status gpu_check(const struct gpu *gpu, gpu_error code, size_t offset, struct err *err);
#define GPU_TRY(gpu, err, member, ...)                                                                                 \
    gpu_check((gpu), (gpu)->api.member(__VA_ARGS__), offsetof(struct gpu_calls, member), (err))
#define GPU_CHECK(gpu, err, member, code) gpu_check((gpu), (code), offsetof(struct gpu_calls, member), (err))

enum gpu_feature gpu_feature_of(enum device_space space);
/* Returns ERR_UNSUPPORTED, with the library's file and the function's name, if the library lacks one. */
enum status gpu_require(const struct gpu *gpu, enum gpu_feature feature, struct err *err);
enum status gpu_stream_of(struct gpu_stream **stream, struct gpu *gpu, uint32_t number, struct err *err);
/* Makes the open device current again, whatever happened before, and returns what went wrong first. */
enum status gpu_come_back(struct gpu *gpu, enum status status, struct err *err);
/* Finds and opens the library with this name (device_ops.load_library). */
enum status gpu_blas_load(struct device_module **module, struct device *device, const char *name, struct err *err);
/* Finds a function of the module's library, as device_ops.kernel does. */
enum status gpu_blas_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device_module *module,
                            const char *symbol, struct err *err);
/* Launches it in this stream; under capture this only adds to the graph. The device's context is current. */
enum status gpu_blas_launch(const struct device_kernel *kernel, void *const *args, struct gpu_stream *stream,
                            struct err *err);
void gpu_blas_close(struct gpu *gpu);
/* Adds a kernel to its module. */
const struct device_kernel *gpu_add_kernel(struct device_module *module, struct device_kernel kernel);

/* ---- gpu_runtime.c ---- */

/* Returns a zeroed device of this vendor. */
struct gpu *gpu_new(const struct gpu_vendor *vendor);
/* Finds and loads the vendor's library and its functions. ERR_DEVICE_LOST reports where it was searched for, or what is
 * wrong with the file found. The library is never unloaded, because it has threads of its own. */
enum status gpu_find_library(struct gpu *gpu, struct err *err);
/* Starts the library and counts its devices, at least one. ERR_DEVICE_LOST reports why there is none. */
enum status gpu_start(struct gpu *gpu, struct err *err);
/* Implements device_ops.count. A child process loads the library, with a limit of `timeout_ms`, because such a library
 * starts threads and may hang, crash, or break a later fork. */
enum { GPU_COUNT_TIMEOUT_MS = 60000 }; /* waking a node with many GPUs takes seconds */
int gpu_count(struct text *why, const struct gpu_vendor *vendor, int timeout_ms);
/* Appends reasons why the library may not see a GPU, from the device files below `dev` ("/dev") and the environment. */
void gpu_explain_absence(struct text *why, const struct gpu_vendor *vendor, const char *dev);

/* Describes the device that was entered. */
enum status gpu_describe(struct device_info *info, struct gpu *gpu, struct err *err);

/* ---- gpu_ranges.c: gpu_vendor.find_ranges ---- */

/* NVTX ranges, which NVIDIA's tools show next to the kernels. The library is the one in ROOFTILE_NVTX_LIBRARY, else the
 * tool in NVTX_INJECTION64_PATH, else libnvToolsExt. */
#define NVTX_MISSING "no tool listens to NVTX (NVTX_INJECTION64_PATH), and there is no libnvToolsExt.so.1 (CUDA 12)"
void nvtx_find(struct gpu_ranges *ranges);
/* ROCTX ranges, which rocprofv3 shows. The library is the one in ROOFTILE_ROCTX_LIBRARY, else the first of ROCm's that
 * is installed. The profiler of ROCm 6.2 and later shows ranges of the first library, older profilers those of the
 * second. */
#define ROCTX_NEW "librocprofiler-sdk-roctx.so"
#define ROCTX_OLD "libroctx64.so"
#define ROCTX_MISSING "neither " ROCTX_NEW " nor " ROCTX_OLD " can be loaded"
void roctx_find(struct gpu_ranges *ranges);

/* Since version 3 NVTX is not a library: the program has a table of functions, initially empty, which the tool's
 * library (Nsight Systems, Compute) fills. Up to CUDA 12, libnvToolsExt did the same internally. Numbers and layouts
 * follow nvtxTypes.h of NVTX 3. */
enum nvtx_module { NVTX_CORE = 1, NVTX_CUDA, NVTX_OPENCL, NVTX_CUDART, NVTX_CORE2, NVTX_SYNC, NVTX_MODULES };
enum nvtx_core { NVTX_RANGE_PUSH = 9, NVTX_RANGE_POP = 11, NVTX_CORE_FUNCTIONS = 16 };
enum nvtx_table { NVTX_CALLBACKS = 1, NVTX_VERSION_INFO = 3 };

typedef void (*nvtx_function)(void);
struct nvtx_callbacks {
    size_t size;
    /* Sets *places to the function slots of a module: `count` of them, the first unused. Returns 1 on success. */
    int (*functions_of)(int module, nvtx_function ***places, unsigned *count);
};
struct nvtx_version_info {
    size_t size;
    uint32_t version, reserved;
    void (*set_tool_version)(uint32_t version);
};
typedef const void *(*nvtx_get_table)(uint32_t table);
/* The function InitializeInjectionNvtx2 that a tool's library exports; it returns 0 on failure. */
typedef int (*nvtx_start_tool)(nvtx_get_table get_table);

/* ---- operations of device_ops that are implemented in several files ---- */

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
/* AMD only. */
enum status hip_launch_with_events(struct device *device, const struct device_launch *launch, uint32_t from,
                                   uint32_t to, struct err *err);
extern const struct gpu_vendor hip_vendor, cuda_vendor;

#endif
