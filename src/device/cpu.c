/* SPDX-License-Identifier: MIT */
#include "cpu.h"

#include <sys/mman.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "rooftile/clock.h"

/* ---- memory ---- */

void cpu_share(uint64_t *begin, uint64_t *end, uint64_t count, uint32_t part, uint32_t parts)
{
    __extension__ typedef unsigned __int128 wide;
    *begin = (uint64_t)((wide)count * part / parts);
    *end = (uint64_t)((wide)count * (part + 1) / parts);
}

static enum status cpu_alloc(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                             struct err *err)
{
    struct cpu *cpu = (struct cpu *)device;
    void *memory = NULL;
    if (space == SPACE_PEER)
        return err_set(err, ERR_UNSUPPORTED, "the CPU device has no peer");
    if (host_alloc(&memory, &cpu->host, size_bytes, space, PROT_READ | PROT_WRITE, err))
        return err->status;
    if (size_bytes >= HOST_HUGE_PAGE_BYTES && cpu->huge_pages)
        madvise(memory, size_bytes, MADV_HUGEPAGE);
    *pointer = memory;
    return STATUS_OK;
}

static enum status cpu_write(UNUSED struct device *device, void *to, const void *from, uint64_t size_bytes,
                             UNUSED struct err *err)
{
    if (size_bytes)
        memcpy(to, from, size_bytes);
    return STATUS_OK;
}

struct transfer {
    char *to;
    const char *from; /* NULL: fill */
    uint8_t byte;
    uint64_t size_bytes;
};

static void transfer_part(void *context, uint32_t part, uint32_t parts)
{
    const struct transfer *transfer = context;
    uint64_t begin, end;
    cpu_share(&begin, &end, transfer->size_bytes, part, parts);
    if (begin == end)
        return;
    if (transfer->from)
        memcpy(transfer->to + begin, transfer->from + begin, end - begin);
    else
        memset(transfer->to + begin, transfer->byte, end - begin);
}

static enum status transfer(struct device *device, struct transfer transfer)
{
    pool_run(((struct cpu *)device)->pool, transfer_part, &transfer);
    return STATUS_OK;
}

static enum status cpu_copy(struct device *device, void *to, const void *from, uint64_t size_bytes,
                            UNUSED uint32_t stream, UNUSED struct err *err)
{
    return transfer(device, (struct transfer){.to = to, .from = from, .size_bytes = size_bytes});
}

static enum status cpu_fill(struct device *device, void *to, uint8_t byte, uint64_t size_bytes, UNUSED uint32_t stream,
                            UNUSED struct err *err)
{
    return transfer(device, (struct transfer){.to = to, .byte = byte, .size_bytes = size_bytes});
}

#if defined(__x86_64__)
#define LINE_BYTES 64u

static void flush_each(const char *line, const char *end)
{
    for (; line < end; line += LINE_BYTES)
        _mm_clflush(line);
}

/* The weakly ordered form lets flushes overlap. */
__attribute__((target("clflushopt"))) static void flush_each_opt(const char *line, const char *end)
{
    for (; line < end; line += LINE_BYTES)
        _mm_clflushopt((void *)(uintptr_t)line);
}

struct eviction {
    uintptr_t first_line;
    uint64_t lines;
    void (*flush)(const char *line, const char *end);
};

static void evict_part(void *context, uint32_t part, uint32_t parts)
{
    const struct eviction *eviction = context;
    uint64_t begin, end;
    cpu_share(&begin, &end, eviction->lines, part, parts);
    const char *first = (const char *)eviction->first_line;
    eviction->flush(first + begin * LINE_BYTES, first + end * LINE_BYTES);
    _mm_mfence();
}

static enum status cpu_evict(struct device *device, const void *pointer, uint64_t size_bytes, UNUSED struct err *err)
{
    if (!size_bytes)
        return STATUS_OK;
    const uintptr_t first = (uintptr_t)pointer / LINE_BYTES;
    const uintptr_t last = ((uintptr_t)pointer + size_bytes - 1) / LINE_BYTES;
    struct eviction eviction = {.first_line = first * LINE_BYTES, .lines = last - first + 1, .flush = flush_each};
    unsigned a, b = 0, c, d;
    /* CPUID leaf 7: EBX bit 23 is CLFLUSHOPT. */
    __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
    if (b >> 23 & 1u)
        eviction.flush = flush_each_opt;
    pool_run(((struct cpu *)device)->pool, evict_part, &eviction);
    return STATUS_OK;
}
#endif

/* ---- the device ---- */

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
    host_release(&cpu->host);
    cpu_library_close(cpu);
    free(cpu->senses.stream);
    pool_close(cpu->pool);
    free(cpu);
}

/* Runs on the thread itself, so that its memory is local to it. */
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

static enum status cpu_open(struct device **device, const struct device_request *request, struct device_info *info,
                            struct err *err)
{
    if (request->index != 0)
        return err_set(err, ERR_DEVICE, "no device cpu:%d: the CPU is one device, cpu:0", request->index);
    if (request->wave && request->wave != 64 && request->wave != 32)
        return err_set(err, ERR_DEVICE, "the CPU device has waves of 64 or 32, not %u", request->wave);
    struct device_info found = {0};
    cpu_describe(&found, request->threads ? request->threads : pool_allowed_cores(), request->level);
    if (*request->level && strncmp(found.target, request->level, strcspn(found.target, ",")) != 0)
        return err_set(err, ERR_DEVICE, "this processor is %s at most, not %s", found.target, request->level);
    struct cpu *cpu = new_zeroed(1, sizeof(*cpu));
    cpu->host.device.ops = &device_cpu;
    cpu->host.limit_bytes = found.memory_free_bytes;
    cpu->opened_ns = clock_now_ns();
    cpu->wave = request->wave ? request->wave : 64;
    cpu->huge_pages = request->huge_pages;
    for (uint32_t i = 0; i < found.cache_count; ++i)
        if (strcmp(found.caches[i].name, "L2") == 0)
            cpu->l2_bytes = found.caches[i].size_bytes;
    const enum status status = pool_open(&cpu->pool, request->threads, err);
    if (status) {
        cpu_close(&cpu->host.device);
        return status;
    }
    cpu->threads = new_zeroed(pool_threads(cpu->pool), sizeof(*cpu->threads));
    pool_run(cpu->pool, open_thread, cpu);
    found.wave = cpu->wave;
    found.core_hz = cpu_core_hz();
    SET_TEXT(found.id, "cpu:0");
    if (cpu->huge_pages)
        ADD_TEXT(found.note, "buffers ask for huge pages");
    *info = found;
    *device = &cpu->host.device;
    return STATUS_OK;
}

/* A launch is complete when it returns, so streams are always in order, and an event is reached as soon as it is
 * recorded. */
static enum status cpu_event(struct device *device, uint32_t event, UNUSED uint32_t stream, struct err *err)
{
    struct cpu *cpu = (struct cpu *)device;
    return host_event(&cpu->host, event, (double)(clock_now_ns() - cpu->opened_ns), err);
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
    .count = host_count,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = host_free,
    .write = cpu_write,
    .read = cpu_write, /* both sides are host memory */
    .load = cpu_module_load,
    .load_library = cpu_library_load,
    .unload = cpu_module_unload,
    .kernel = cpu_module_kernel,
    .launch = cpu_launch,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .event = cpu_event,
    .elapsed = host_elapsed,
    .wait = host_wait,
#if defined(__x86_64__)
    .evict = cpu_evict,
#endif
    .host_visible = true,
    .parallel = cpu_parallel,
    .watch = cpu_watch,
    .sense = cpu_sense,
};
