/* SPDX-License-Identifier: MIT
 *
 * The CPU device, declarations shared by its files: cpu.c (the device and its memory), cpu_code.c (modules and
 * launches), cpu_library.c, cpu_info.c, cpu_sense.c; below them cpu_pool.c (threads) and cpu_fiber.c (lanes), which
 * switches stacks with fiber_switch.c.
 */
#ifndef ROOFTILE_DEVICE_CPU_H
#define ROOFTILE_DEVICE_CPU_H

#include "../../kernels/include/simt_abi.h"
#include "library.h"

/* ---- cpu_pool.c: pinned threads, one per allowed core; part 0 is the caller. Starting a round costs well under a
 * microsecond while the threads still spin after the previous one; later they sleep and use no CPU time. ---- */

struct pool;

/* `threads` 0 means one per allowed core. Pins the calling thread too, until pool_close. ERR_DEVICE on failure. */
enum status pool_open(struct pool **pool, uint32_t threads, struct err *err);
void pool_close(struct pool *pool); /* NULL is allowed */
uint32_t pool_threads(const struct pool *pool);

/* Calls work(context, part, parts) once on each thread; returns when all are done and their stores are visible. Not
 * re-entrant. */
void pool_run(struct pool *pool, void (*work)(void *context, uint32_t part, uint32_t parts), void *context);

/* Until pool_hold_caller, threads that the caller starts may run on all of the pool's cores, as a library's threads
 * must. */
void pool_release_caller(const struct pool *pool);
bool pool_hold_caller(const struct pool *pool); /* pins the caller to its own core again */

/* Returns the number of cores this process may use (its affinity mask). */
uint32_t pool_allowed_cores(void);

/* ---- cpu_watch.c ---- */

void cpu_watch(struct device *device, struct device_page *pages, size_t count);

/* ---- fiber_switch.c: switching between stacks of one thread, in assembly (fiber_switch.S) ---- */

/* Prepares a new stack for fiber_switch. It ends at `top`, aligned to 16; the first switch to it calls `function`,
 * which must not return, with `argument`. */
void *fiber_make(void *top, void (*function)(void *argument), void *argument);

/* Continues on the stack `to`, which fiber_make made or a switch left. *from is set to resume the current stack. */
void fiber_switch(void **from, void *to);

/* ---- cpu_fiber.c: work-items as fibers: what one pool thread needs to run workgroups whose work-items wait for each
 * other ----
 *
 * The lanes of a wave run one after the other, each until it waits or returns (a pass). A lane jumps straight to the
 * next, so a wait costs one switch. When a pass ends in a wave operation, the wave starts its next pass; when it ends
 * in a barrier, the next wave runs; when all waves are at the barrier, the first continues. Lanes that returned no
 * longer take part. */

struct fibers;

/* Lanes that wait for each other at different places. Without the finding they would hang; on a GPU this is
 * undefined. */
struct fiber_finding {
    bool found;
    bool out_of_memory;  /* nothing ran: no memory for the fibers' stacks */
    bool wave_operation; /* at least one place is a wave operation; otherwise both are barriers */
    uint32_t group[3];
    uint32_t line[2]; /* source lines of the two places */
};

/* What all workgroups of a launch share. */
struct fiber_work {
    const struct simt_launch *launch;
    void (*body)(struct simt_lane *lane);
    enum lane_order order;
    uint64_t seed;
    void (*before_group)(void *context); /* called before each workgroup to poison LDS; NULL: nothing */
    void *context;
};

struct fibers *fibers_new(uint32_t wave, uint32_t pool_threads);
void fibers_free(struct fibers *fibers); /* NULL is allowed */

/* Makes room for workgroups of `lanes` work-items; allocates only if this exceeds every earlier request. False: no
 * memory. */
bool fibers_reserve(struct fibers *fibers, uint32_t lanes);

/* Runs workgroups [begin, end) in linear order and stops at the first finding. Requires fibers_reserve for the
 * workgroup's size. */
void fibers_run(struct fibers *fibers, const struct fiber_work *work, uint64_t begin, uint64_t end,
                struct fiber_finding *finding);

/* ---- the device ---- */

/* The same limit as on GPUs, so that a suite that fits here fits there. LDS is larger: it is ordinary memory of a
 * thread, and kernels for a core are blocked for its L2 cache, which has about this size. */
#define CPU_MAX_BLOCK 1024u
#define CPU_MAX_GRID 2147483647u
#define CPU_LDS_BYTES 2097152u

/* Data of one pool thread. */
struct cpu_thread {
    struct fibers *fibers;
    void *lds; /* CPU_LDS_BYTES of dynamic LDS */
    struct fiber_finding finding;
};

/* Counters of the previous sense, and the arrays of the calibration stream. */
struct cpu_senses {
    uint64_t steal_ticks, total_ticks;
    double *stream;        /* three arrays per thread; NULL until first use */
    uint64_t stream_count; /* elements of each */
};

struct cpu_library; /* cpu_library.c */

struct cpu {
    struct host host; /* must be first */
    struct pool *pool;
    struct cpu_thread *threads; /* one per pool thread */
    uint32_t wave;
    bool huge_pages;
    uint64_t l2_bytes;  /* per core */
    uint64_t opened_ns; /* time origin of events; as doubles they are exact for a hundred days */
    struct cpu_senses senses;
    struct cpu_library *library; /* NULL: not opened */
    bool library_ran;            /* since cpu_library_settle last ran */
};

struct device_kernel {
    const struct simt_kernel *code; /* NULL: a library's product, */
    bool is_f64;                    /* ... of f64, not of f32 */
    const struct device_module *module;
    bool uses_lanes;
};

struct device_module {
    void *handle;
    const struct simt_module *table;
    size_t lds_module;  /* module id of its thread-local storage */
    uint64_t lds_bytes; /* all __shared__ variables of the source */
    struct device_kernel *kernels;
    size_t kernel_count;
    const struct cpu_library *library; /* provides the kernels; NULL: they were compiled */
};

enum status cpu_module_load(struct device_module **module, struct device *device, const char *path, struct err *err);
void cpu_module_unload(struct device *device, struct device_module *module);
enum status cpu_module_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                              struct device_module *module, const char *symbol, struct err *err);

enum status cpu_library_load(struct device_module **module, struct device *device, const char *name, struct err *err);
enum status cpu_library_kernel(const struct device_kernel **kernel, struct kernel_info *info,
                               struct device_module *module, const char *symbol, struct err *err);
void cpu_library_launch(struct cpu *cpu, const struct device_launch *launch);
/* Waits until the threads of a library that ran are asleep: they spin for a while and would disturb the next launch. */
void cpu_library_settle(struct cpu *cpu);
void cpu_library_close(struct cpu *cpu);

enum status cpu_launch(struct device *device, const struct device_launch *launch, struct err *err);

/* Computes the range [*begin, *end) of `part` when `count` items are split contiguously over `parts`. */
void cpu_share(uint64_t *begin, uint64_t *end, uint64_t count, uint32_t part, uint32_t parts);

/* Fills what the operating system reports about this machine for the first `threads` allowed cores, for a CPU target of
 * at most `level` ("": no limit). Must be called before the pool pins its threads. */
void cpu_describe(struct device_info *info, uint32_t threads, const char *level);

/* Returns the clock of the calling core: the fastest of a few measurements, or of more until two agree. */
double cpu_core_hz(void);
double cpu_fastest(double (*measure)(void));
enum status cpu_sense(struct device *device, struct device_sense *sense, struct err *err);

#endif
