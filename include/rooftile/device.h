/* SPDX-License-Identifier: MIT
 *
 * Devices: one table of functions per backend (hip, cuda, cpu, sim). A backend implements memory, code objects,
 * launches and events. It has no JSON, no parameters, no statistics and no policy (warm-up, batching, cold caches and
 * repeat counts belong to src/run). Everything here runs in the worker process; the parent never opens a device.
 *
 * Streams are small numbers, 0 is the default; work of one stream runs in order. Events are points in a stream; the
 * time between two of them can be read afterwards: the GPU's own, clock reads on the CPU device, the virtual clock on
 * sim.
 */
#ifndef ROOFTILE_DEVICE_H
#define ROOFTILE_DEVICE_H

#include "rooftile/base.h"

#define DEVICE_MAX_CACHES 6
#define DEVICE_MAX_EVENTS 64
#define DEVICE_MAX_STREAMS 64
#define DEVICE_MAX_ARGS 1024
#define DEVICE_LIBRARY_TEXT 192

/* Kinds of memory:
 *   device         the device's own: coarse-grained, a kernel's writes are visible to others after it ends
 *   pinned         the host's, accessible to the device; fine-grained: both see each other's writes at once
 *   pageable       the host's, from malloc
 *   managed        one address for both; moved to where it is used
 *   fine           the device's own, fine-grained
 *   peer           of another device of the same backend (alloc_peer)
 *   pinned_coarse  like pinned, coarse-grained: the device's caches may hold it while a kernel runs
 *   pinned_far     like pinned, on the host's NUMA node that is farthest from the device
 * The order is that of enum buffer_space in manifest.h. */
enum device_space {
    SPACE_DEVICE,
    SPACE_PINNED,
    SPACE_PAGEABLE,
    SPACE_MANAGED,
    SPACE_FINE,
    SPACE_PEER,
    SPACE_PINNED_COARSE,
    SPACE_PINNED_FAR,
    DEVICE_SPACES
};
#define SPACE_BIT(space) (1u << (space))

/* A cache as reported by the driver or operating system; `rooftile roofline` measures the real one. */
struct device_cache {
    char name[8]; /* "L1" "L2" "L3" "MALL" */
    uint64_t size_bytes;
    uint32_t line_bytes;
    uint32_t instances; /* number of them on the device */
};

/* A card's connection to its host. An idle link may run at a lower generation to save power, but not at a lower width.
 * 0 unknown. */
struct device_pcie {
    uint32_t generation, width;         /* current values; width in lanes */
    uint32_t max_generation, max_width; /* the card's maximum */
    char cpus[64];                      /* the nearest host processors, "0-47,96-143"; "" unknown */
    uint32_t far_node; /* number of the farthest NUMA node with processors, plus 1; 0: there is no other, or unknown */
};

/* One link, or several identical ones, to another GPU or to a switch. */
#define DEVICE_MAX_LINKS 16
struct device_link {
    char peer[16];          /* its PCI address */
    char type[8];           /* "xgmi" "pcie" "nvlink" */
    uint32_t count;         /* parallel links */
    uint32_t weight;        /* distance as the driver reports it; 0 unknown */
    double max_bytes_per_s; /* of all together, in one direction, as stated by the driver or vendor; 0 unknown */
};

/* A network card of the node, and its distance from the device. Bandwidth between nodes needs near cards. */
#define DEVICE_MAX_NICS 16
struct device_nic {
    char name[24];             /* "mlx5_0", "eth0" */
    char state[16];            /* "active", "up", "down" */
    char distance[8];          /* as in nvidia-smi's topology: "PIX" "PXB" "PHB" "NODE" "SYS"; "" unknown */
    uint32_t width, max_width; /* PCIe lanes, as above */
    double max_bytes_per_s;    /* of its port, in one direction; 0 unknown */
};

/* What a device reports about itself. Plain data: it crosses the pipe from worker to parent as bytes. Unknown values
 * are 0 or "". */
struct device_info {
    char backend[8];  /* "cpu" "sim" "hip" "cuda" */
    char id[32];      /* in the format of --device: "cpu:0", "sim:mi300x" */
    char name[128];   /* "AMD Instinct MI300X", CPU model name */
    char arch[32];    /* "gfx942", "x86-64", "aarch64": compared by variants and require */
    char target[512]; /* target for compilation: "gfx942", or the CPU's resolved feature list, never "native" */
    char pci_bdf[16];
    char pci_id[16]; /* "1002:74a1" */
    /* the card's partition mode, "SPX/NPS1": compute and memory; "" if it has none, or unknown */
    char partition[32];
    char vbios[48];      /* version of the card's firmware; "" unknown */
    char firmware[64];   /* of the card's microcontrollers, "smc 0x00550a00, mec 0x000000b5"; "" unknown */
    char perf_level[32]; /* clock governor setting: "auto", "high", "manual"; "" unknown */
    double power_cap_w;  /* 0 unknown */
    struct device_pcie pcie;
    uint32_t link_count;
    struct device_link links[DEVICE_MAX_LINKS];
    uint32_t nic_count;
    struct device_nic nics[DEVICE_MAX_NICS];
    char uuid[64];
    char serial_hash[65];
    char driver[64];              /* driver or kernel version */
    bool predicted;               /* nothing is executed; every time is a prediction (sim) */
    bool host_memory;             /* it uses the host's memory, so nothing is moved between the two (cpu) */
    uint32_t index;               /* its number among the backend's devices, as in alloc_peer */
    uint32_t peers;               /* other devices of the backend in this machine: numbers 0..peers but its own */
    uint32_t rank, ranks;         /* its place in the job: 0 of 1 unless it was opened as one of several */
    uint32_t lacks_spaces;        /* kinds of memory that it cannot allocate, SPACE_BIT each */
    uint32_t lacks_kernel_spaces; /* kinds that its kernels cannot access */
    uint32_t wave;                /* lanes of a wavefront: 64 or 32 */
    uint32_t cus;                 /* compute units; threads of the CPU device */
    uint32_t xccs;
    uint32_t simds_per_cu;
    uint32_t max_block;   /* work-items per workgroup */
    uint32_t max_grid[3]; /* workgroups */
    bool cooperative;     /* can guarantee that all workgroups of a launch run at once, if they fit */
    uint64_t lds_bytes;   /* maximum per workgroup */
    uint64_t memory_bytes;
    uint64_t memory_free_bytes;
    double core_hz; /* maximum stated by the driver; the CPU device: measured clock of one core */
    double memory_hz;
    double timer_tick_ns; /* smallest step of the clock behind events; 0 unknown */
    /* rate of the constant counter that kernels read; 0: that of the events, one per timer_tick_ns */
    double counter_hz;
    /* physical limit of the vector units per CU and clock, 0 = unknown: CPU lanes * 2 * FMA pipes */
    double flops_per_clock_f32;
    double flops_per_clock_f64;
    uint32_t cache_count;
    struct device_cache caches[DEVICE_MAX_CACHES];
    char note[256];    /* further information for readers of results: "huge pages", "2 of 8 cores allowed" */
    char emulated[32]; /* the emulator that runs instead of a GPU, "rocjitsu": its times are meaningless; "": none */
};

/* The processes of a job that run collectives together, each with one device. */
struct device_ranks {
    uint32_t rank, world;
    const char *folder; /* shared by all of them */
    const char *job;    /* its id; "" unknown */
    double limit_ns;    /* the longest time to wait for the others */
};

/* The device to open. Zero means default. Text form (device_parse): "cpu", "cpu:0", "cpu:wave=32,threads=1,pages=huge",
 * "cpu:level=x86-64-v3", "sim:mi300x", "hip:1". */
struct device_request {
    char backend[8];
    char model[64]; /* sim: machine name */
    int index;
    uint32_t wave;                      /* cpu: 64 (default) or 32 */
    uint32_t threads;                   /* cpu: all allowed cores by default */
    bool huge_pages;                    /* cpu: madvise(MADV_HUGEPAGE) */
    char level[16];                     /* cpu: maximum level for compiling kernels; "": the processor's */
    uint64_t seed;                      /* sim noise; fiber shuffle */
    const struct device_info *sim_info; /* sim: the machine's facts, from model/machine */
    double sim_launch_ns;               /* sim: time of an empty launch */
    const struct device_ranks *ranks;   /* NULL: only this process */
};
/* ERR_USAGE, did-you-mean */
enum status device_parse(struct device_request *request, const char *text, struct err *err);

/* One argument of a kernel as described by the code object. */
struct kernel_arg {
    uint32_t size_bytes;
    bool is_pointer;
};
struct kernel_info {
    uint32_t arg_count;
    struct kernel_arg args[DEVICE_MAX_ARGS];
    bool fibers;     /* each work-item runs as a fiber, because it waits for others (cpu) */
    bool shares_lds; /* or may share LDS with others without waiting for them (cpu) */
    bool sizes_only; /* it is unknown which arguments are pointers (cuda) */
    bool ranks;      /* its launches wait for those of the job's other processes */
    /* For a library's function: the library's description of itself ("OpenBLAS 0.3.21 ..., 16 threads"), and the file's
     * SHA-256 as hex; else "". */
    char library[DEVICE_LIBRARY_TEXT];
    char library_sha256[65];
};

struct device;        /* begins with `const struct device_ops *ops` in every backend */
struct device_module; /* a loaded code object */
struct device_kernel; /* a function in it */
struct device_graph;  /* launches that are started together */

enum lane_order { LANES_FORWARD, LANES_BACKWARD, LANES_SHUFFLED };

struct device_launch {
    const struct device_kernel *kernel;
    uint32_t grid[3];   /* workgroups */
    uint32_t block[3];  /* work-items per workgroup */
    uint32_t lds_bytes; /* dynamic LDS */
    void **args;        /* one pointer to each argument's value, in order; device pointers as void * values */
    uint32_t stream;
    bool cooperative;           /* all workgroups run at once and may wait for each other; too many: ERR_UNSUPPORTED */
    bool poison_lds;            /* cpu: fill LDS with a poison pattern before each workgroup (verification only) */
    enum lane_order lane_order; /* cpu: order in which fibers run between two barriers */
    uint64_t seed;              /* cpu: of LANES_SHUFFLED */
};

/* The state of the machine before and after a case: load and calibration rates, which reveal interference by neighbours
 * (cpu), and a GPU's telemetry. NaN = unknown. */
struct device_sense {
    double stream_bps;     /* a short calibration stream on all cores, bytes per second */
    double fma_flops;      /* a short calibration FMA loop on all cores, FLOP per second */
    double core_hz;        /* current clock */
    double steal_fraction; /* share of CPU time since the previous sense */
    double load_1min;
    uint64_t involuntary_switches; /* of this process so far; UINT64_MAX: unknown */
    double power_w, temp_c;
    double memory_hz;       /* current memory clock */
    double vram_used_bytes; /* by all processes */
    double vram_own_bytes;  /* by this process */
    double other_processes; /* number of other processes that have the device open */
    /* Accumulated time or counts of throttling since the driver was loaded, by cause; only differences are
     * meaningful. */
    double violation_power, violation_thermal, violation_hbm, violation_vr, violation_prochot;
    /* current throttle causes (older GPUs), in the driver's own bits; UINT64_MAX: unknown */
    uint64_t throttle_bits;
};
extern const struct device_sense device_sense_unknown; /* all members unknown: the initial value in backends */

/* A watched page of memory. */
#define DEVICE_PAGE_BYTES 4096
struct device_page {
    void *at;
    bool writes;           /* only writes count, else any access */
    volatile bool touched; /* since watching began */
};

/* All functions but count and open take an open device. Errors: ERR_DEVICE, ERR_DEVICE_MEMORY, ERR_DEVICE_LOST,
 * ERR_UNSUPPORTED. Optional operations are NULL in a backend that lacks them. */
struct device_ops {
    const char *name;
    const char *summary; /* one line for `rooftile devices` */
    bool executes;       /* false: nothing runs, results cannot be verified (sim) */
    /* Launches return before they have run, events are time stamps of the device, and host and kernels see each other's
     * writes to SPACE_PINNED at once, under one address. Only on such devices do timers differ, and can a blocking
     * kernel hold back a batch. */
    bool asynchronous;
    /* Its kernels can read a counter of core clocks and a constant-rate counter (counter_hz), so the clock of a sample
     * can be measured. */
    bool has_clock_probe;

    /* Returns the number of devices; if 0, `why` states the exact reason (driver missing, no permission, ...). Never
     * fails, and may be called in the parent: a vendor library is loaded only in a child process. */
    int (*count)(struct text *why);
    /* Opens and fills *info. */
    enum status (*open)(struct device **device, const struct device_request *request, struct device_info *info,
                        struct err *err);
    void (*close)(struct device *device);

    enum status (*alloc)(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                         struct err *err);
    void (*free)(struct device *device, void *pointer);
    /* Optional: allocates memory of device number `index`, which may be its own, accessible from all devices that can
     * access it; freed like any other. ERR_UNSUPPORTED if this device cannot access it. */
    enum status (*alloc_peer)(void **pointer, struct device *device, uint64_t size_bytes, uint32_t index,
                              struct err *err);
    /* Host <-> device; blocking. */
    enum status (*write)(struct device *device, void *to, const void *from, uint64_t size_bytes, struct err *err);
    enum status (*read)(struct device *device, void *to, const void *from, uint64_t size_bytes, struct err *err);

    enum status (*load)(struct device_module **module, struct device *device, const char *path, struct err *err);
    /* Optional: opens a library of functions, by its name in manifests. Its kernels are functions of this backend that
     * pass their arguments on to the library's own; src/device/library.h lists them with their arguments. Launching one
     * ignores grid and block and may cause several launches; the first launch of a shape may also search for the best
     * algorithm. ERR_UNSUPPORTED if the library is unknown or not installed. */
    enum status (*load_library)(struct device_module **module, struct device *device, const char *name,
                                struct err *err);
    /* Optional: sets each value to the maximum over all of the job's processes; all must call it. If it fails in one
     * process, the others cannot continue. ERR_UNSUPPORTED if no library that can do it is loaded. */
    enum status (*agree)(struct device *device, double *values, uint32_t count, struct err *err);
    void (*unload)(struct device *device, struct device_module *module);
    enum status (*kernel)(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                          struct device_module *module, const char *symbol, struct err *err);
    /* Asynchronous if the hardware is; faults may surface at wait. Allocates nothing, takes no lock, prints nothing. */
    enum status (*launch)(struct device *device, const struct device_launch *launch, struct err *err);
    /* Copies between any two kinds of memory, including peers'. */
    enum status (*copy)(struct device *device, void *to, const void *from, uint64_t size_bytes, uint32_t stream,
                        struct err *err);
    enum status (*fill)(struct device *device, void *to, uint8_t byte, uint64_t size_bytes, uint32_t stream,
                        struct err *err);
    enum status (*event)(struct device *device, uint32_t event, uint32_t stream, struct err *err);
    /* Returns the time from event `from` to event `to`; both must be reached (after wait). It can be <= 0: the caller
     * rejects such samples. */
    enum status (*elapsed)(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err);
    enum status (*wait)(struct device *device, struct err *err);

    /* Optional: makes a stream wait for an event of another; does nothing on in-order devices. */
    enum status (*wait_event)(struct device *device, uint32_t stream, uint32_t event, struct err *err);
    /* Optional: launches such that the events are the kernel's own begin and end, not points of its stream; only the
     * time between them is meaningful. ERR_UNSUPPORTED if the library cannot do it, and for every cooperative launch:
     * the caller then records an event, launches, and records another. */
    enum status (*launch_with_events)(struct device *device, const struct device_launch *launch, uint32_t from,
                                      uint32_t to, struct err *err);
    /* Optional: evicts a range from all caches (cpu: cache-line flush). If NULL, src/run/cold.c flushes with a large
     * buffer. */
    enum status (*evict)(struct device *device, const void *pointer, uint64_t size_bytes, struct err *err);
    /* Optional: the host can directly read and write device memory (cpu), so fills and checks need no copy. */
    bool host_visible;
    /* Optional: runs `work(context, part, parts)` on every core of the CPU device, pinned as its kernels are, so that
     * first touch places pages near the core whose workgroups will use them. */
    void (*parallel)(struct device *device, void (*work)(void *context, uint32_t part, uint32_t parts), void *context);
    /* Optional: makes a graph of these launches, `repeat` times one after the other, on a single stream, ignoring their
     * own. Making it may take milliseconds and copies their arguments; launching it is one call. ERR_UNSUPPORTED if the
     * library lacks graphs. */
    enum status (*graph_make)(struct device_graph **graph, struct device *device, const struct device_launch *launches,
                              size_t count, uint32_t repeat, struct err *err);
    enum status (*graph_launch)(struct device *device, const struct device_graph *graph, uint32_t stream,
                                struct err *err);
    void (*graph_free)(struct device *device, struct device_graph *graph);
    /* Optional (cpu): watches these pages instead of the previous ones; NULL and 0: none. Never called while a sample
     * is taken. */
    void (*watch)(struct device *device, struct device_page *pages, size_t count);
    /* Optional. Takes about 15 ms with calibration rates. */
    enum status (*sense)(struct device *device, struct device_sense *sense, struct err *err);
    /* Optional: begins a named range for the vendor's profiler; ranges nest. NULL ends the innermost. ERR_UNSUPPORTED
     * if the profiler's library is missing. */
    enum status (*range)(struct device *device, const char *name, struct err *err);
};

struct device {
    const struct device_ops *ops;
};

extern const struct device_ops device_hip;
extern const struct device_ops device_cuda;
extern const struct device_ops device_cpu;
extern const struct device_ops device_sim;

/* The backends in order of preference (hip, cuda, cpu, sim), NULL-terminated. */
extern const struct device_ops *const device_backends[];
const struct device_ops *device_backend(const char *name); /* NULL: unknown */

/* Chooses the device to use without --device: that of the first backend, except sim, that finds one; `reason` says why
 * it was chosen. */
void device_default(struct device_request *request, struct text *reason);

#endif
