/* SPDX-License-Identifier: MIT
 *
 * What the backends over a vendor's library share, which is nearly everything: hip and cuda are two tables for it, one
 * of calls (struct gpu_api) and one of facts (struct gpu_vendor). gpu.c has the device, its streams, marks and work;
 * gpu_memory.c memory of all kinds; gpu_graph.c graphs of launches; gpu_code.c modules and kernels; gpu_blas*.c
 * libraries of functions; gpu_runtime.c finding the library, starting it and counting its devices; gpu_properties.c
 * what a device says about itself.
 *
 * Stream 0 is the vendor's null stream; the others do not wait for it and are made at their first use. Marks are
 * events, made when the device is opened. One thread uses a device: the one that opened it, whose current device
 * (context) it stays.
 */
#ifndef ROOFTILE_DEVICE_GPU_H
#define ROOFTILE_DEVICE_GPU_H

#include "rooftile/device.h"
#include "vendor.h"

/* Handles of the vendor's library. They are never defined: adapters cast them from and to its own. */
struct gpu_stream; /* NULL: the null stream */
struct gpu_event;
struct gpu_code;     /* a loaded code object */
struct gpu_function; /* in it */
struct gpu_captured; /* a graph, as it was captured, */
struct gpu_instance; /* ... and what can be launched of it */

/* ---- the vendor's tables ---- */

struct gpu;

/* The vendor's calls, each an adapter of a few lines. Errors have their status and the vendor's own words; outputs are
 * set on success only. What an optional function of the library is needed for is asked of `needs` first (gpu_lacks), so
 * adapters call it without looking. Devices are the library's numbers. */
struct gpu_api {
    /* Starts the library and counts; `code` is the error code of the call that failed. */
    enum status (*start)(int *count, unsigned *code, const struct gpu *gpu, struct err *err);
    /* Makes a device the current one of this thread; what is allocated from now on is its memory. */
    enum status (*enter)(struct gpu *gpu, int index, struct err *err);

    /* Of the current device. */
    enum status (*attribute)(int *value, const struct gpu *gpu, unsigned attribute, struct err *err);
    enum status (*name)(char *name, int size, const struct gpu *gpu, struct err *err);
    enum status (*memory_info)(size_t *free_bytes, size_t *total_bytes, const struct gpu *gpu, struct err *err);

    /* Every space but SPACE_PAGEABLE, which is malloc's; SPACE_PEER as SPACE_DEVICE, the current device being another.
     */
    enum status (*alloc)(void **pointer, const struct gpu *gpu, uint64_t size_bytes, enum device_space space,
                         struct err *err);
    void (*free)(const struct gpu *gpu, void *pointer, enum device_space space);
    enum status (*can_reach)(bool *can, const struct gpu *gpu, int from, int to, struct err *err);
    /* Lets the current device reach the memory of another; success too when it could already. */
    enum status (*reach)(struct gpu *gpu, int to, struct err *err);
    enum status (*transfer)(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes,
                            struct err *err); /* blocking */
    enum status (*copy)(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes,
                        struct gpu_stream *stream, struct err *err);
    enum status (*fill)(const struct gpu *gpu, void *to, uint8_t byte, uint64_t size_bytes, struct gpu_stream *stream,
                        struct err *err);

    enum status (*load)(struct gpu_code **code, const struct gpu *gpu, const char *path, struct err *err);
    void (*unload)(const struct gpu *gpu, struct gpu_code *code);
    /* NULL, and success, when the code has no such function. */
    enum status (*find)(struct gpu_function **function, const struct gpu *gpu, struct gpu_code *code,
                        const char *symbol, struct err *err);
    /* Fills what the library tells, and prepares the function for launches with as much LDS as the device gives. */
    enum status (*prepare)(struct kernel_info *info, const struct gpu *gpu, struct gpu_function *function,
                           struct err *err);
    enum status (*resident)(int *count, const struct gpu *gpu, struct gpu_function *function, int block,
                            uint32_t lds_bytes, struct err *err);
    enum status (*launch)(const struct gpu *gpu, struct gpu_function *function, const struct device_launch *launch,
                          struct gpu_stream *stream, struct err *err);
    /* A cooperative one; gpu_too_large for a grid that does not fit. */
    enum status (*launch_together)(const struct gpu *gpu, struct gpu_function *function,
                                   const struct device_launch *launch, struct gpu_stream *stream, struct err *err);

    enum status (*stream_make)(struct gpu_stream **stream, const struct gpu *gpu, struct err *err); /* non-blocking */
    void (*stream_free)(const struct gpu *gpu, struct gpu_stream *stream);
    enum status (*stream_wait)(const struct gpu *gpu, struct gpu_stream *stream, struct gpu_event *event,
                               struct err *err);
    enum status (*event_make)(struct gpu_event **event, const struct gpu *gpu, struct err *err);
    void (*event_free)(const struct gpu *gpu, struct gpu_event *event);
    enum status (*event_record)(const struct gpu *gpu, struct gpu_event *event, struct gpu_stream *stream,
                                struct err *err);
    enum status (*event_elapsed)(float *time_ms, const struct gpu *gpu, struct gpu_event *from, struct gpu_event *to,
                                 struct err *err);
    enum status (*wait)(const struct gpu *gpu, struct err *err); /* for all work of the device */

    enum status (*capture_begin)(const struct gpu *gpu, struct gpu_stream *stream, struct err *err);
    /* `graph` is set even when it fails: NULL, or what must be freed. */
    enum status (*capture_end)(struct gpu_captured **graph, const struct gpu *gpu, struct gpu_stream *stream,
                               struct err *err);
    void (*captured_free)(const struct gpu *gpu, struct gpu_captured *graph);
    enum status (*instance_make)(struct gpu_instance **instance, const struct gpu *gpu, struct gpu_captured *graph,
                                 struct err *err);
    void (*instance_free)(const struct gpu *gpu, struct gpu_instance *instance);
    enum status (*instance_launch)(const struct gpu *gpu, struct gpu_instance *instance, struct gpu_stream *stream,
                                   struct err *err);
};

/* What needs functions that a library may lack: kinds of memory by their own number, and these. */
enum gpu_feature { GPU_GRAPHS = DEVICE_SPACES, GPU_COOPERATIVE, GPU_OCCUPANCY, GPU_OWN_TIMES };
struct gpu_need {
    unsigned feature;
    struct vendor_symbol function;
};

/* What a device says about itself in numbers. */
enum gpu_fact {
    GPU_WAVE,
    GPU_UNITS,
    GPU_BLOCK,
    GPU_GRID_X,
    GPU_GRID_Y,
    GPU_GRID_Z,
    GPU_LDS,
    GPU_CORE_KHZ,
    GPU_MEMORY_KHZ,
    GPU_L2,
    GPU_TOGETHER,         /* 1: cooperative launches */
    GPU_MANAGED,          /* 1: it has managed memory */
    GPU_PAGEABLE,         /* 1: kernels reach what malloc gives */
    GPU_UNIFIED,          /* 1: the host and the device know pinned memory by one address */
    GPU_PHYSICAL_UNITS,   /* AMD: where two units count as one of GPU_UNITS */
    GPU_XCCS,             /* AMD */
    GPU_WALL_KHZ,         /* AMD: the constant counter, */
    GPU_CLOCK_KHZ,        /* ... as older releases name it */
    GPU_CAPABILITY_MAJOR, /* NVIDIA */
    GPU_CAPABILITY_MINOR,
    GPU_FACTS
};
struct gpu_attribute {
    unsigned attribute; /* the vendor's number; 0: nobody asks, and the fact is 0 */
    bool required;      /* else 0 where the library or the device does not tell */
    bool may_be_0;
};

/* A device file that the driver needs, below /dev. */
struct gpu_device_file {
    const char *pattern; /* of the shell */
    const char *name;    /* to speak of when there is none */
    const char *means;   /* what it means when there is none; NULL: nothing */
};

/* What an error code of starting leaves open. */
struct gpu_hint {
    unsigned code;
    bool files;        /* the device files may tell more */
    const char *means; /* NULL: nothing more */
};

/* A profiler's ranges; looked for when the first one begins. */
struct gpu_ranges {
    bool tried;
    int (*push)(const char *name); /* NULL: there is no library for them */
    int (*pop)(void);
};

struct gpu_search; /* for the vendor's library, in progress */

/* Everything else that differs. Tables end with a zeroed row. */
struct gpu_vendor {
    const struct device_ops *ops;
    const struct gpu_api *api;
    size_t size_bytes; /* of the structure that begins with struct gpu: offsets in `symbols` and `needs` are in it */

    const char *library;  /* "libamdhip64", in messages */
    const char *whole;    /* "HIP": what a library that has nothing of it lacks */
    const char *variable; /* of the environment: names the library's file */
    const char *absent;   /* says where it was looked for */
    int open_flags;       /* of dlopen */
    const struct vendor_symbol *symbols;
    const struct gpu_need *needs;
    bool (*search)(struct gpu_search *search); /* tries one file after the other until one is usable */

    unsigned no_device; /* the code that means just that */
    const struct gpu_hint *hints;
    const struct gpu_device_file *files;
    const char *const *masks; /* variables of the environment that hide devices; NULL-terminated */

    struct gpu_attribute attributes[GPU_FACTS];
    unsigned lacks_spaces; /* SPACE_BIT each: on every device */
    /* Completes what the facts, name and memory already say: at least arch, target and timer_tick_ns. */
    enum status (*describe)(struct device_info *info, struct gpu *gpu, const uint32_t facts[static GPU_FACTS],
                            struct err *err);
    void (*sense)(struct device_sense *sense, struct gpu *gpu); /* from the card's telemetry */
    void (*close)(struct gpu *gpu);                             /* what `enter` and `describe` opened; optional */
    void (*find_ranges)(struct gpu_ranges *ranges);
    const char *no_ranges; /* says what was looked for */
};

/* ---- the device ---- */

struct gpu_allocation;
struct gpu_libraries;

struct gpu {
    struct device device; /* first */
    const struct gpu_vendor *vendor;
    char path[512];     /* of the library's file */
    int index, count;   /* its number, and how many devices there are */
    uint64_t lds_bytes; /* that a workgroup can have */
    struct gpu_allocation *allocations;
    struct gpu_stream *streams[DEVICE_MAX_STREAMS];
    struct gpu_stream *capture; /* for making graphs; made at its first use */
    struct gpu_event *marks[DEVICE_MAX_MARKS];
    struct gpu_ranges ranges;
    /* Libraries of functions that were opened, and what closes them: called first of all when the device is. */
    struct gpu_libraries *libraries;
    void (*close_libraries)(struct gpu *gpu);
};

/* A kernel of a code object, or a function of a library, which passes the arguments on. Lives as long as its module. */
struct device_kernel {
    struct device_kernel *next;
    struct gpu_function *function; /* NULL: of a library, ... */
    /* ... which this calls, so that its work is done in this stream; under capture it may only add to the graph. The
     * device's context is current. */
    enum status (*call)(const struct device_kernel *kernel, struct gpu *gpu, void *const *args,
                        struct gpu_stream *stream, struct err *err);
    const void *target; /* of the library's; whatever `call` needs */
    const struct device_module *module;
};

struct device_module {
    struct gpu_code *code; /* NULL: a library */
    struct device_kernel *kernels;
    /* For those of a library: finds a kernel as device_ops.kernel, whose memory the module keeps. gpu_unload frees the
     * module and its list of kernels. */
    enum status (*find)(const struct device_kernel **kernel, struct kernel_info *info, struct gpu *gpu,
                        struct device_module *module, const char *symbol, struct err *err);
    const void *library;
};

/* ---- shared with the vendor's files ---- */

/* NULL when the library has all that a feature needs, else the name of the first function missing. */
const char *gpu_lacks(const struct gpu *gpu, unsigned feature);
/* ERR_UNSUPPORTED, with the library's file and the function's name, when it lacks one. */
enum status gpu_require(const struct gpu *gpu, unsigned feature, struct err *err);
enum status gpu_too_large(const struct device_launch *launch, struct err *err);
enum status gpu_stream_of(struct gpu_stream **stream, struct gpu *gpu, uint32_t number, struct err *err);
enum status gpu_check_marks(uint32_t one, uint32_t other, struct err *err);
/* Any launch in a stream, cooperative or not, of a kernel or a library's function. */
enum status gpu_launch_on(struct gpu *gpu, const struct device_launch *launch, struct gpu_stream *stream,
                          struct err *err);
void gpu_memory_free_all(struct gpu *gpu);

/* ---- gpu_runtime.c ---- */

/* A zeroed device of this vendor. */
struct gpu *gpu_new(const struct gpu_vendor *vendor);
/* Finds and loads the vendor's library and its functions; ERR_DEVICE_LOST says what was searched, or what is wrong with
 * what was found. It is never unloaded: it has threads of its own. */
enum status gpu_find_library(struct gpu *gpu, struct err *err);
/* For gpu_vendor.search. A file that is not there is no problem worth telling, unless it was `named`. */
enum gpu_found { GPU_ABSENT, GPU_USELESS, GPU_USABLE };
enum gpu_found gpu_try_library(struct gpu_search *search, const char *name, bool named);
/* Starts the library and counts its devices, at least one; ERR_DEVICE_LOST says why there is none. */
enum status gpu_start(struct gpu *gpu, struct err *err);
/* As device_ops.count. The library is loaded in a child process, which gets `timeout_ms`. */
int gpu_count(struct text *why, const struct gpu_vendor *vendor, int timeout_ms);
/* Adds what keeps the library from seeing a GPU, as far as the device files below `dev` ("/dev") and the environment
 * tell. */
void gpu_explain_absence(struct text *why, const struct gpu_vendor *vendor, const char *dev);
/* Loads a profiler's library; false when it lacks the functions. */
bool gpu_use_ranges(struct gpu_ranges *ranges, const char *path, const char *push, const char *pop);

/* ---- gpu_properties.c ---- */

/* Of the device that was entered. */
enum status gpu_describe(struct device_info *info, struct gpu *gpu, struct err *err);

/* ---- the operations of device_ops ---- */

enum { GPU_COUNT_TIMEOUT_MS = 60000 }; /* a node with many GPUs that has slept takes seconds */
enum status gpu_open(struct device **device, const struct gpu_vendor *vendor, const struct device_request *request,
                     struct device_info *info, struct err *err);
void gpu_close(struct device *device);
enum status gpu_alloc(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                      struct err *err);
enum status gpu_alloc_peer(void **pointer, struct device *device, uint64_t size_bytes, uint32_t index, struct err *err);
void gpu_free(struct device *device, void *pointer);
enum status gpu_transfer(struct device *device, void *to, const void *from, uint64_t size_bytes, struct err *err);
enum status gpu_load(struct device_module **module, struct device *device, const char *path, struct err *err);
/* gpu_blas.c */
enum status gpu_blas_load(struct device_module **module, struct device *device, const char *name, struct err *err);
void gpu_unload(struct device *device, struct device_module *module);
enum status gpu_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                       struct device_module *module, const char *symbol, struct err *err);
enum status gpu_resident_blocks(uint32_t *count, struct device *device, const struct device_launch *launch,
                                struct err *err);
enum status gpu_launch(struct device *device, const struct device_launch *launch, struct err *err);
enum status gpu_copy(struct device *device, void *to, const void *from, uint64_t size_bytes, uint32_t stream,
                     struct err *err);
enum status gpu_fill(struct device *device, void *to, uint8_t byte, uint64_t size_bytes, uint32_t stream,
                     struct err *err);
enum status gpu_mark(struct device *device, uint32_t mark, uint32_t stream, struct err *err);
enum status gpu_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err);
enum status gpu_wait(struct device *device, struct err *err);
enum status gpu_wait_mark(struct device *device, uint32_t stream, uint32_t mark, struct err *err);
enum status gpu_graph_make(struct device_graph **graph, struct device *device, const struct device_launch *launches,
                           size_t count, uint32_t repeat, struct err *err);
enum status gpu_graph_launch(struct device *device, const struct device_graph *graph, uint32_t stream, struct err *err);
void gpu_graph_free(struct device *device, struct device_graph *graph);
enum status gpu_sense(struct device *device, struct device_sense *sense, bool quick, struct err *err);
enum status gpu_range(struct device *device, const char *name, struct err *err);

/* The rows of device_ops that are the same for all vendors. */
#define GPU_OPERATIONS                                                                                                 \
    .executes = true, .asynchronous = true, .has_clock_probe = true, .close = gpu_close, .alloc = gpu_alloc,           \
    .free = gpu_free, .alloc_peer = gpu_alloc_peer, .write = gpu_transfer, .read = gpu_transfer, .load = gpu_load,     \
    .load_library = gpu_blas_load, .unload = gpu_unload, .kernel = gpu_kernel, .resident_blocks = gpu_resident_blocks, \
    .launch = gpu_launch, .copy = gpu_copy, .fill = gpu_fill, .mark = gpu_mark, .elapsed = gpu_elapsed,                \
    .wait = gpu_wait, .wait_mark = gpu_wait_mark, .graph_make = gpu_graph_make, .graph_launch = gpu_graph_launch,      \
    .graph_free = gpu_graph_free, .sense = gpu_sense, .range = gpu_range

#endif
