/* SPDX-License-Identifier: MIT
 *
 * The CPU device, shared by its files: cpu.c (the device and its memory), cpu_code.c (modules and launches),
 * cpu_library.c, cpu_info.c, cpu_sense.c, over cpu_pool.c (threads) and cpu_fiber.c (lanes), which switches between
 * stacks by fiber_switch.c.
 */
#ifndef ROOFTILE_DEVICE_CPU_H
#define ROOFTILE_DEVICE_CPU_H

#include "../../kernels/include/simt_abi.h"
#include "library.h"

/* ---- cpu_pool.c: pinned threads, one per allowed core; part 0 is the caller. Starting a round costs well under a
 * microsecond while the threads still spin after the last one; later they sleep and cost nothing. ---- */

struct pool;

/* `threads` 0: as many as cores are allowed. Pins the calling thread too, until pool_close. ERR_DEVICE. */
enum status pool_open(struct pool **pool, uint32_t threads, struct err *err);
void pool_close(struct pool *pool); /* NULL is fine */
uint32_t pool_threads(const struct pool *pool);

/* work(context, part, parts) once on each thread; returns when all are done and their stores are visible. Not
 * re-entrant. */
void pool_run(struct pool *pool, void (*work)(void *context, uint32_t part, uint32_t parts), void *context);

/* Until pool_hold_caller, threads that the caller starts may run on all of the pool's cores, as a library's must. */
void pool_release_caller(const struct pool *pool);
bool pool_hold_caller(const struct pool *pool); /* back to its own core */

/* Cores this process may use (its affinity mask). */
uint32_t pool_allowed_cores(void);

/* ---- cpu_watch.c ---- */

void cpu_watch(struct device *device, struct device_page *pages, size_t count);

/* ---- fiber_switch.c: switching between stacks of one thread, in assembly (fiber_switch.S) ---- */

/* A new stack for fiber_switch: it will enter `function`, which must not return, with `argument`, on the stack that
 * ends at `top`, aligned to 16. */
void *fiber_make(void *top, void (*function)(void *argument), void *argument);

/* Continues on the stack `to`, which was made or was left by a switch. *from becomes what continues this one. */
void fiber_switch(void **from, void *to);

/* ---- cpu_fiber.c: work-items as fibers: what one pool thread needs to run workgroups whose work-items wait for each
 * other ----
 *
 * Lanes of a wave run one after the other, each until it waits or returns (a pass); a lane jumps straight to the next,
 * so a wait costs one switch. When a pass ends in a wave operation, the wave starts the next pass; when it ends in a
 * barrier, the next wave runs; when all waves stand at the barrier, the first goes on. Lanes that returned take part in
 * nothing more. */

struct fibers;

/* Lanes that wait for each other at different places, which otherwise would hang or, on a GPU, be undefined. */
struct fiber_finding {
    bool found;
    bool out_of_memory;  /* nothing ran: no stacks for the fibers */
    bool wave_operation; /* of the two places at least one is a wave operation, else both are barriers */
    uint32_t group[3];
    uint32_t line[2]; /* of the two places in the source */
};

/* What the workgroups of one launch have in common. */
struct fiber_work {
    const struct simt_launch *launch;
    void (*body)(struct simt_lane *lane);
    enum lane_order order;
    uint64_t seed;
    void (*before_group)(void *context); /* NULL, or called before each workgroup: poisons LDS */
    void *context;
};

struct fibers *fibers_new(uint32_t wave, uint32_t pool_threads);
void fibers_free(struct fibers *fibers); /* NULL is fine */

/* Makes room for workgroups of `lanes` work-items; allocates only when that is more than ever before. False: no memory.
 */
bool fibers_reserve(struct fibers *fibers, uint32_t lanes);

/* Workgroups [begin, end) in linear order; stops at the first finding. The workgroup's size was reserved. */
void fibers_run(struct fibers *fibers, const struct fiber_work *work, uint64_t begin, uint64_t end,
                struct fiber_finding *finding);

/* ---- the device ---- */

/* As on GPUs, so that a suite that fits here fits there. LDS is larger: it is ordinary memory of a thread, and kernels
 * for a core are blocked for its L2 cache, which has about this size. */
#define CPU_MAX_BLOCK 1024u
#define CPU_MAX_GRID 2147483647u
#define CPU_LDS_BYTES 2097152u

/* What one pool thread has. */
struct cpu_thread {
    struct fibers *fibers;
    void *lds; /* CPU_LDS_BYTES of dynamic LDS */
    struct fiber_finding finding;
};

/* Counters of the previous sense, and the arrays of the calibration stream. */
struct cpu_senses {
    uint64_t steal_ticks, total_ticks;
    double *stream;        /* three arrays per thread; NULL until first used */
    uint64_t stream_count; /* elements of each */
};

struct cpu_library; /* cpu_library.c */

struct cpu {
    struct host host; /* first */
    struct pool *pool;
    struct cpu_thread *threads; /* one per pool thread */
    uint32_t wave;
    bool huge_pages;
    uint64_t l2_bytes;  /* of one core */
    uint64_t opened_ns; /* events count from here: as doubles they are exact for a hundred days */
    struct cpu_senses senses;
    struct cpu_library *library; /* NULL: was not opened */
    bool library_ran;            /* since it last settled */
};

struct device_kernel {
    const struct simt_kernel *code; /* NULL: the product of a library, */
    bool is_f64;                    /* ... of these, not of f32 */
    const struct device_module *module;
    bool uses_lanes;
};

struct device_module {
    void *handle;
    const struct simt_module *table;
    size_t lds_module;  /* its number among the thread-local storage of the process */
    uint64_t lds_bytes; /* of all __shared__ variables of the source */
    struct device_kernel *kernels;
    size_t kernel_count;
    const struct cpu_library *library; /* whose functions its kernels are; NULL: it was compiled */
};

enum status cpu_module_load(struct device_module **module, struct device *device, const char *path, struct err *err);
void cpu_module_unload(struct device *device, struct device_module *module);
enum status cpu_module_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                              struct device_module *module, const char *symbol, struct err *err);

enum status cpu_library_load(struct device_module **module, struct device *device, const char *name, struct err *err);
enum status cpu_library_kernel(const struct device_kernel **kernel, struct kernel_info *info,
                               struct device_module *module, const char *symbol, struct err *err);
void cpu_library_launch(struct cpu *cpu, const struct device_launch *launch);
/* Waits until the threads of a library that ran sleep: they spin for a while and would interfere with the next launch.
 */
void cpu_library_settle(struct cpu *cpu);
void cpu_library_close(struct cpu *cpu);

enum status cpu_launch(struct device *device, const struct device_launch *launch, struct err *err);

/* [*begin, *end) of `part` when `count` things are split contiguously over `parts`. */
void cpu_share(uint64_t *begin, uint64_t *end, uint64_t count, uint32_t part, uint32_t parts);

/* What the operating system says about this machine, as far as the first `threads` allowed cores go, of a CPU target's
 * `level` at most (""). Before the pool pins its threads. */
void cpu_describe(struct device_info *info, uint32_t threads, const char *level);

/* Clock of the core that runs this, and what it is of: the fastest of some measurements, of more until two agree. */
double cpu_core_hz(void);
double cpu_fastest(double (*measure)(void));
enum status cpu_sense(struct device *device, struct device_sense *sense, struct err *err);

#endif
