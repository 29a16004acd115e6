/* SPDX-License-Identifier: MIT
 *
 * The CPU device, shared by its files: cpu.c (the device and its memory), cpu_code.c (modules and launches),
 * cpu_library.c, cpu_info.c, cpu_sense.c, over cpu_pool (threads) and cpu_fiber (lanes).
 */
#ifndef ROOFTILE_DEVICE_CPU_H
#define ROOFTILE_DEVICE_CPU_H

#include "cpu_fiber.h"
#include "cpu_pool.h"
#include "library.h"

/* As on GPUs, so that a suite that fits here fits there. LDS is more: it is ordinary memory of a thread, and what a
 * core blocks its work for is its L2 cache, which has about as much. */
#define CPU_MAX_BLOCK 1024u
#define CPU_MAX_GRID 2147483647u
#define CPU_LDS_BYTES 2097152u
#define CPU_HUGE_PAGE_BYTES ((uint64_t)2 << 20)

/* What one pool thread has. */
struct cpu_thread {
    struct fibers *fibers;
    void *lds; /* CPU_LDS_BYTES of dynamic LDS */
    struct fiber_finding finding;
    bool out_of_memory; /* no stacks for the fibers */
};

/* Counters of the previous sense, and the arrays of the calibration stream. */
struct cpu_senses {
    uint64_t steal_ticks;
    uint64_t total_ticks;
    double *stream; /* three arrays per thread; NULL until first used */
    uint64_t stream_count;
};

struct cpu_library; /* cpu_library.c */

struct cpu {
    struct device device; /* first */
    struct pool *pool;
    struct cpu_thread *threads; /* one per pool thread */
    uint32_t wave;
    bool huge_pages;
    uint64_t memory_limit_bytes;
    uint64_t memory_used_bytes;
    uint64_t l2_bytes;              /* of one core */
    struct allocation *allocations; /* whole pages */
    uint64_t events_ns[DEVICE_MAX_EVENTS];
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
/* Waits until the threads of a library that ran have gone to sleep: they spin for a while and would interfere with what
 * comes next. */
void cpu_library_settle(struct cpu *cpu);
void cpu_library_close(struct cpu *cpu);

enum status cpu_launch(struct device *device, const struct device_launch *launch, struct err *err);

/* [*begin, *end) of `part` when `count` things are split contiguously over `parts`. */
void cpu_share(uint64_t *begin, uint64_t *end, uint64_t count, uint32_t part, uint32_t parts);

/* What the operating system says about this machine, as far as the first `threads` allowed cores go. Before the pool
 * pins its threads. */
void cpu_describe(struct device_info *info, uint32_t threads);

/* Clock of the core that runs this. */
double cpu_core_hz(void);
enum status cpu_sense(struct device *device, struct device_sense *sense, struct err *err);

#endif
