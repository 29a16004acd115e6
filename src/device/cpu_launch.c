/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cpu.h"

struct job {
    struct cpu *cpu;
    const struct device_launch *launch;
    uint64_t groups;
    bool lanes;
};

/* LDS of the calling thread, for poisoning. */
struct lds {
    void *fixed, *dynamic;
    size_t fixed_bytes, dynamic_bytes;
};

static void poison(void *memory, size_t size_bytes)
{
    const uint32_t word = SIMT_POISON;
    char *bytes = memory;
    for (size_t i = 0; i + sizeof(word) <= size_bytes; i += sizeof(word))
        memcpy(bytes + i, &word, sizeof(word));
    if (size_bytes % sizeof(word))
        memcpy(bytes + size_bytes - size_bytes % sizeof(word), &word, size_bytes % sizeof(word));
}

static void poison_lds(void *context)
{
    const struct lds *lds = context;
    poison(lds->fixed, lds->fixed_bytes);
    poison(lds->dynamic, lds->dynamic_bytes);
}

static void run_lanes(const struct job *job, struct cpu_thread *thread, const struct simt_launch *shape,
                      struct lds *lds, uint64_t begin, uint64_t end)
{
    const struct device_launch *launch = job->launch;
    const struct fiber_work work = {
        .launch = shape,
        .body = launch->kernel->code->lane,
        .order = launch->lane_order,
        .seed = launch->lane_order == LANES_SHUFFLED ? launch->seed : 0,
        .before_group = launch->poison_lds ? poison_lds : NULL,
        .context = lds,
    };
    thread->finding.found = false;
    thread->out_of_memory = !fibers_reserve(thread->fibers, shape->block[0] * shape->block[1] * shape->block[2]);
    if (!thread->out_of_memory)
        fibers_run(thread->fibers, &work, begin, end, &thread->finding);
}

static void run_part(void *context, uint32_t part, uint32_t parts)
{
    const struct job *job = context;
    const struct device_launch *launch = job->launch;
    const struct device_kernel *kernel = launch->kernel;
    struct cpu_thread *thread = &job->cpu->threads[part];
    const struct simt_launch shape = {
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .args = launch->args,
        .lds = thread->lds,
    };
    uint64_t begin, end;
    cpu_share(&begin, &end, job->groups, part, parts);
    if (begin == end) /* the thread's finding is that of no launch */
        return;
    struct lds lds = {.dynamic = thread->lds, .dynamic_bytes = launch->lds_bytes};
    if (launch->poison_lds) {
        lds.fixed = cpu_module_lds(kernel->module);
        lds.fixed_bytes = kernel->module->lds_bytes;
    }
    if (job->lanes) {
        run_lanes(job, thread, &shape, &lds, begin, end);
        return;
    }
    if (!launch->poison_lds)
        kernel->code->plain(&shape, begin, end);
    for (; launch->poison_lds && begin < end; ++begin) {
        poison_lds(&lds);
        kernel->code->plain(&shape, begin, begin + 1);
    }
}

static enum status check_shape(uint64_t *groups, const struct device_launch *launch, struct err *err)
{
    uint64_t items = 1;
    *groups = 1;
    for (int i = 0; i < 3; ++i) {
        const uint32_t block = launch->block[i], grid = launch->grid[i];
        if (!block || !grid)
            return err_set(err, ERR_DEVICE, "launch of an empty %s: grid %u x %u x %u, block %u x %u x %u",
                           grid ? "workgroup" : "grid", launch->grid[0], launch->grid[1], launch->grid[2],
                           launch->block[0], launch->block[1], launch->block[2]);
        if (grid > CPU_MAX_GRID || __builtin_mul_overflow(*groups, grid, groups))
            return err_set(err, ERR_DEVICE, "grid %u x %u x %u is too large", launch->grid[0], launch->grid[1],
                           launch->grid[2]);
        items = block > CPU_MAX_BLOCK ? UINT32_MAX : items * block;
        if (items > CPU_MAX_BLOCK)
            return err_set(err, ERR_DEVICE, "workgroup of %u x %u x %u work-items: at most %u", launch->block[0],
                           launch->block[1], launch->block[2], CPU_MAX_BLOCK);
    }
    const uint64_t lds_bytes = launch->kernel->module->lds_bytes + launch->lds_bytes;
    if (lds_bytes > CPU_LDS_BYTES)
        return err_set(err, ERR_DEVICE, "%llu bytes of LDS: at most %u", (unsigned long long)lds_bytes, CPU_LDS_BYTES);
    return STATUS_OK;
}

static enum status report(const struct fiber_finding *finding, struct err *err)
{
    return err_set(err, ERR_DEVICE, "lanes of workgroup (%u,%u,%u) wait at different %s (lines %u and %u)",
                   finding->group[0], finding->group[1], finding->group[2],
                   finding->wave_operation ? "wave operations or barriers" : "barriers", finding->line[0],
                   finding->line[1]);
}

/* The finding of the first thread that has one, which for a fixed number of threads is always the same. */
static enum status take_findings(struct cpu *cpu, struct err *err)
{
    for (uint32_t i = 0; i < pool_threads(cpu->pool); ++i) {
        struct cpu_thread *thread = &cpu->threads[i];
        if (thread->out_of_memory) {
            thread->out_of_memory = false;
            return err_set(err, ERR_DEVICE_MEMORY, "no memory for the stacks of the work-items of a workgroup");
        }
    }
    for (uint32_t i = 0; i < pool_threads(cpu->pool); ++i)
        if (cpu->threads[i].finding.found) {
            const struct fiber_finding finding = cpu->threads[i].finding;
            for (uint32_t k = 0; k < pool_threads(cpu->pool); ++k)
                cpu->threads[k].finding.found = false;
            return report(&finding, err);
        }
    return STATUS_OK;
}

enum status cpu_launch(struct device *device, const struct device_launch *launch, struct err *err)
{
    struct cpu *cpu = (struct cpu *)device;
    struct job job = {.cpu = cpu, .launch = launch};
    if (launch->kernel->function) {
        cpu_library_launch(cpu, launch);
        return STATUS_OK;
    }
    const enum status status = check_shape(&job.groups, launch, err);
    if (status)
        return status;
    if (launch->cooperative && job.groups > pool_threads(cpu->pool))
        return err_set(err, ERR_UNSUPPORTED, "%llu workgroups cannot run at once: the device has %u threads",
                       (unsigned long long)job.groups, pool_threads(cpu->pool));
    /* Another order of the work-items of a plain loop: only fibers can do that. */
    job.lanes = launch->kernel->uses_lanes || launch->lane_order != LANES_FORWARD;
    pool_run(cpu->pool, run_part, &job);
    return job.lanes ? take_findings(cpu, err) : STATUS_OK;
}
