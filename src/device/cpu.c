/* SPDX-License-Identifier: MIT */
#include "cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_reference.h"
#include "rooftile/clock.h"

static int cpu_count(struct text *why)
{
    (void)why;
    return 1;
}

static void cpu_close(struct device *device)
{
    struct cpu *cpu = (struct cpu *)device;
    if (!cpu)
        return;
    for (uint32_t i = 0; cpu->threads && i < pool_threads(cpu->pool); ++i) {
        fibers_free(cpu->threads[i].fibers);
        free(cpu->threads[i].lds);
    }
    free(cpu->threads);
    while (cpu->allocations)
        cpu_free(device, cpu->allocations->pointer);
    cpu_libraries_close(cpu);
    free(cpu->senses.stream);
    pool_close(cpu->pool);
    free(cpu);
}

/* On the thread itself, so that its memory is near it. */
static void open_thread(void *context, uint32_t part, uint32_t parts)
{
    struct cpu *cpu = context;
    struct cpu_thread *thread = &cpu->threads[part];
    thread->fibers = fibers_new(cpu->wave, parts);
    thread->lds = aligned_alloc(128, CPU_LDS_BYTES);
    if (!thread->lds)
        arena_out_of_memory(CPU_LDS_BYTES);
    memset(thread->lds, 0, CPU_LDS_BYTES);
}

static struct cpu *cpu_new(const struct device_request *request, const struct device_info *info)
{
    struct cpu *cpu = new_zeroed(1, sizeof(*cpu));
    cpu->device.ops = &device_cpu;
    cpu->wave = request->wave ? request->wave : 64;
    cpu->huge_pages = request->huge_pages;
    cpu->memory_limit_bytes = info->memory_free_bytes;
    for (uint32_t i = 0; i < info->cache_count; ++i)
        if (strcmp(info->caches[i].name, "L2") == 0)
            cpu->l2_bytes = info->caches[i].size_bytes;
    return cpu;
}

static enum status cpu_open(struct device **device, const struct device_request *request, struct device_info *info,
                            struct err *err)
{
    if (request->index != 0)
        return err_set(err, ERR_DEVICE, "no device cpu:%d: the CPU is one device, cpu:0", request->index);
    if (request->wave && request->wave != 64 && request->wave != 32)
        return err_set(err, ERR_DEVICE, "the CPU device has waves of 64 or 32, not %u", request->wave);
    struct device_info found = {0};
    cpu_describe(&found, request->threads ? request->threads : pool_allowed_cores());
    struct cpu *cpu = cpu_new(request, &found);
    const enum status status = pool_open(&cpu->pool, request->threads, err);
    if (status) {
        cpu_close(&cpu->device);
        return status;
    }
    cpu->threads = new_zeroed(pool_threads(cpu->pool), sizeof(*cpu->threads));
    pool_run(cpu->pool, open_thread, cpu);
    found.wave = cpu->wave;
    found.core_hz = reference_core_hz();
    snprintf(found.id, sizeof(found.id), "cpu:0");
    const size_t noted = strlen(found.note);
    if (cpu->huge_pages)
        snprintf(found.note + noted, sizeof(found.note) - noted, ", buffers ask for huge pages");
    *info = found;
    *device = &cpu->device;
    return STATUS_OK;
}

/* A launch returns when it is done, so streams are in order by themselves and marks are reached when they are made. */
static enum status cpu_mark(struct device *device, uint32_t mark, uint32_t stream, struct err *err)
{
    struct cpu *cpu = (struct cpu *)device;
    (void)stream;
    if (check_marks(mark, mark, err))
        return err->status;
    cpu->marks_ns[mark] = clock_now_ns();
    return STATUS_OK;
}

static enum status cpu_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err)
{
    const struct cpu *cpu = (const struct cpu *)device;
    if (check_marks(from, to, err))
        return err->status;
    *time_ns = (double)(int64_t)(cpu->marks_ns[to] - cpu->marks_ns[from]);
    return STATUS_OK;
}

static enum status cpu_wait(struct device *device, struct err *err)
{
    (void)device;
    (void)err;
    return STATUS_OK;
}

static enum status cpu_resident_blocks(uint32_t *count, struct device *device, const struct device_launch *launch,
                                       struct err *err)
{
    (void)device;
    (void)launch;
    (void)err;
    *count = 1; /* a thread runs one workgroup at a time */
    return STATUS_OK;
}

static void cpu_parallel(struct device *device, void (*work)(void *context, uint32_t part, uint32_t parts),
                         void *context)
{
    pool_run(((struct cpu *)device)->pool, work, context);
}

const struct device_ops device_cpu = {
    .name = "cpu",
    .summary = "this machine's cores: kernels compiled by the host compiler, real times of the host",
    .executes = true,
    .count = cpu_count,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .write = cpu_write,
    .read = cpu_write, /* both sides are host memory */
    .load = cpu_module_load,
    .load_library = cpu_library_load,
    .unload = cpu_module_unload,
    .kernel = cpu_module_kernel,
    .resident_blocks = cpu_resident_blocks,
    .launch = cpu_launch,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .mark = cpu_mark,
    .elapsed = cpu_elapsed,
    .wait = cpu_wait,
#if defined(__x86_64__)
    .evict = cpu_evict,
#endif
    .host_visible = true,
    .parallel = cpu_parallel,
    .sense = cpu_sense,
};
