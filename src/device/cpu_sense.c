/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cpu.h"
#include "cpu_reference.h"
#include "rooftile/clock.h"

#define STREAM_LEAST_BYTES ((uint64_t)8 << 20)
#define STREAM_ARRAYS 3u
#define FMA_ROUNDS 200000u
/* The best of a few: the first ones wake the cores, raise the clock of the caches and bring the arrays back from
 * wherever the case has pushed them (seen: 44 GB/s at first, 59 from the fifth on), and one timer interrupt must not
 * look like a neighbour. What stays away for all of them does. */
#define STREAM_TRIES 10
#define FMA_TRIES 5

/* Time that other guests of the host took, as a share of all CPU time since the last call; NaN at first. */
static double steal_fraction(struct cpu_senses *senses)
{
    /* user nice system idle iowait irq softirq steal (guest times are in user already) */
    unsigned long long ticks[8] = {0}, total = 0;
    FILE *file = fopen("/proc/stat", "re");
    const int read = file ? fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1], &ticks[2],
                                   &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7])
                          : 0;
    if (file)
        fclose(file);
    if (read != 8)
        return NAN;
    for (int i = 0; i < 8; ++i)
        total += ticks[i];
    const double passed = (double)(total - senses->total_ticks), stolen = (double)(ticks[7] - senses->steal_ticks);
    const bool known = senses->total_ticks != 0 && passed > 0;
    senses->total_ticks = total;
    senses->steal_ticks = ticks[7];
    return known ? stolen / passed : NAN;
}

struct stream {
    double *arrays;
    uint64_t count;
};

/* The three arrays of one part, `count` doubles each. */
static double *stream_of(const struct stream *stream, uint32_t part)
{
    return stream->arrays + part * STREAM_ARRAYS * stream->count;
}

static void touch_part(void *context, uint32_t part, uint32_t parts)
{
    const struct stream *stream = context;
    (void)parts;
    memset(stream_of(stream, part), 0, STREAM_ARRAYS * stream->count * sizeof(double));
}

static void stream_part(void *context, uint32_t part, uint32_t parts)
{
    const struct stream *stream = context;
    double *a = stream_of(stream, part);
    (void)parts;
    reference_stream(a, a + stream->count, a + 2 * stream->count, stream->count);
}

/* Arrays beyond L2 of each core, placed by the thread that uses them. */
static void make_stream(struct cpu *cpu)
{
    struct cpu_senses *senses = &cpu->senses;
    uint64_t bytes = 2 * cpu->l2_bytes / CPU_HUGE_PAGE_BYTES * CPU_HUGE_PAGE_BYTES;
    bytes = bytes > STREAM_LEAST_BYTES ? bytes : STREAM_LEAST_BYTES;
    const uint64_t all_bytes = bytes * STREAM_ARRAYS * pool_threads(cpu->pool);
    senses->stream = aligned_alloc(CPU_HUGE_PAGE_BYTES, all_bytes);
    if (!senses->stream)
        arena_out_of_memory(all_bytes);
    senses->stream_count = bytes / sizeof(double);
    struct stream stream = {.arrays = senses->stream, .count = senses->stream_count};
    pool_run(cpu->pool, touch_part, &stream);
}

static double stream_bps(struct cpu *cpu)
{
    if (!cpu->senses.stream)
        make_stream(cpu);
    struct stream stream = {.arrays = cpu->senses.stream, .count = cpu->senses.stream_count};
    const double moved_bytes = (double)(stream.count * sizeof(double)) * STREAM_ARRAYS * pool_threads(cpu->pool);
    double best = 0;
    for (int i = 0; i < STREAM_TRIES; ++i) {
        const uint64_t begin_ns = clock_now_ns();
        pool_run(cpu->pool, stream_part, &stream);
        best = fmax(best, 1e9 * moved_bytes / (double)(clock_now_ns() - begin_ns));
    }
    return best;
}

static void fma_part(void *context, uint32_t part, uint32_t parts)
{
    double *flop = context;
    const double done = reference_fma(FMA_ROUNDS);
    (void)parts;
    if (part == 0)
        *flop = done;
}

static double fma_flops(struct cpu *cpu)
{
    double flop = 0, best = 0;
    for (int i = 0; i < FMA_TRIES; ++i) {
        const uint64_t begin_ns = clock_now_ns();
        pool_run(cpu->pool, fma_part, &flop);
        best = fmax(best, 1e9 * flop * pool_threads(cpu->pool) / (double)(clock_now_ns() - begin_ns));
    }
    return best;
}

enum status cpu_sense(struct device *device, struct device_sense *sense, bool quick, struct err *err)
{
    struct cpu *cpu = (struct cpu *)device;
    struct device_sense now = device_sense_unknown;
    struct rusage usage;
    double load;
    (void)err;
    now.steal_fraction = steal_fraction(&cpu->senses);
    if (getloadavg(&load, 1) == 1)
        now.load_1min = load;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        now.involuntary_switches = (uint64_t)usage.ru_nivcsw;
    if (!quick) {
        cpu_libraries_settle(cpu);
        now.stream_bps = stream_bps(cpu);
        now.fma_flops = fma_flops(cpu);
        now.core_hz = reference_core_hz();
    }
    *sense = now;
    return STATUS_OK;
}
