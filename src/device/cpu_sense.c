/* SPDX-License-Identifier: MIT
 *
 * Senses how fast the machine is at this moment, and who else uses it: counters of the operating system, and loops of
 * known work. The loops are rulers, not benchmarks: they come close to peak, but they only need to give the same rate
 * whenever nothing interferes.
 */
#include <sys/resource.h>

#include "cpu.h"
#include "rooftile/clock.h"
#include "rooftile/vector.h"

/* ---- loops of known work ---- */

#define CHAIN_ROUNDS 20000u
#define CHAINS_ALWAYS 5
#define MOST_CHAINS 100
#define AGREE 0.95
#define CHAIN_LENGTH 64u

/* Register operands, because newer cores remove small immediates from the chain during renaming. */
#define ADD4(add) add add add add
#define ADD64(add) ADD4(ADD4(ADD4(add)))

static double chain_hz(void)
{
    uint64_t sum = 0;
    const uint64_t one = 1, begin_ns = clock_now_ns();
    for (uint32_t i = 0; i < CHAIN_ROUNDS; ++i) {
#if defined(__x86_64__)
        __asm__ volatile(ADD64("addq %1, %0\n\t") : "+r"(sum) : "r"(one) : "cc");
#else
        __asm__ volatile(ADD64("add %0, %0, %1\n\t") : "+r"(sum) : "r"(one));
#endif
    }
    const uint64_t time_ns = clock_now_ns() - begin_ns;
    return time_ns ? 1e9 * CHAIN_ROUNDS * CHAIN_LENGTH / (double)time_ns : 0;
}

/* Returns the best of a few measurements, since interruptions only slow them down. If others use the core most of the
 * time, measures until two agree. */
double cpu_fastest(double (*measure)(void))
{
    double best = 0, next = 0;
    for (int i = 0; i < MOST_CHAINS && (i < CHAINS_ALWAYS || next < AGREE * best); ++i) {
        const double hz = measure();
        next = fmax(next, fmin(hz, best));
        best = fmax(best, hz);
    }
    return best;
}

/* Measures a chain of dependent one-cycle additions for about 3 ms. */
double cpu_core_hz(void)
{
    return cpu_fastest(chain_hz);
}

/* Alignment to 64 is part of the contract, whatever the caller's type. */
typedef double vector __attribute__((vector_size(64), may_alias));

/* a[i] = b[i] + 3 * c[i]; moves 24 bytes per element. `count` is a multiple of 8, the arrays are aligned to 64. */
WIDER static void calibration_stream(double *a, const double *b, const double *c, uint64_t count)
{
    for (uint64_t i = 0; i < count; i += 8)
        *(vector *)(a + i) = *(const vector *)(b + i) + 3.0 * *(const vector *)(c + i);
}

/* 12 chains of one register each, of any width: 8 cover 4 cycles on 2 pipes. */
#define CHAINS(what) what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10) what(11)

#if defined(__x86_64__)
#define FMA_REGISTER(n) "vfmadd231pd %%" WIDTH "mm15, %%" WIDTH "mm14, %%" WIDTH "mm" #n "\n\t"
#define FMA_ZERO(n) "vxorpd %%xmm" #n ", %%xmm" #n ", %%xmm" #n "\n\t"
#define FMA_LOOP                                                                                                       \
    __asm__ volatile(CHAINS(FMA_ZERO) FMA_ZERO(14) FMA_ZERO(15) "1:\n\t" CHAINS(FMA_REGISTER)                          \
                         CHAINS(FMA_REGISTER) "decq %0\n\tjnz 1b\n\tvzeroupper"                                        \
                     : "+r"(rounds)                                                                                    \
                     :                                                                                                 \
                     : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",  \
                       "xmm11", "xmm14", "xmm15")

__attribute__((target("avx512f"))) static void fma_512(uint64_t rounds)
{
#define WIDTH "z"
    FMA_LOOP;
#undef WIDTH
}

__attribute__((target("avx2,fma"))) static void fma_256(uint64_t rounds)
{
#define WIDTH "y"
    FMA_LOOP;
#undef WIDTH
}
#endif

/* Fallback for unknown registers: four chains of the baseline's vectors. */
static double fma_plain(uint64_t rounds)
{
    typedef double pair __attribute__((vector_size(16)));
    pair sums[4] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}};
    const pair factor = {0.5, 0.5};
    for (uint64_t i = 0; i < rounds; ++i)
        for (int k = 0; k < 4; ++k) {
            sums[k] = sums[k] * factor + factor;
            __asm__ volatile("" : "+m"(sums[k]));
        }
    return (double)rounds * 4 * 2 * 2;
}

/* Runs independent multiply-adds in the widest registers and returns the FLOP done; `rounds` 100000 take about 2 ms. */
static double calibration_fma(uint64_t rounds)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        fma_512(rounds);
        return (double)rounds * 24 * 8 * 2;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        fma_256(rounds);
        return (double)rounds * 24 * 4 * 2;
    }
#endif
    return fma_plain(rounds);
}

/* ---- sensing ---- */

#define STREAM_LEAST_BYTES ((uint64_t)8 << 20)
#define STREAM_ARRAYS 3u
#define FMA_ROUNDS 200000u
/* The best of several tries is used. The first ones wake the cores, raise the clock of the caches and bring back arrays
 * that the case evicted (observed: 44 GB/s at first, 59 from the fifth on), and a single timer interrupt must not count
 * as a neighbour. A real neighbour slows all of them down. */
#define STREAM_TRIES 10
#define FMA_TRIES 5

/* Returns the time taken by other guests of the host, as a share of all CPU time since the last call; NaN on the first
 * call. */
static double steal_fraction(struct cpu_senses *senses)
{
    /* user nice system idle iowait irq softirq steal (user already includes guest times) */
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

/* Returns the three arrays of one part. */
static double *stream_of(const struct cpu_senses *senses, uint32_t part)
{
    return senses->stream + part * STREAM_ARRAYS * senses->stream_count;
}

static void touch_part(void *context, uint32_t part, UNUSED uint32_t parts)
{
    const struct cpu_senses *senses = context;
    memset(stream_of(senses, part), 0, STREAM_ARRAYS * senses->stream_count * sizeof(double));
}

static void stream_part(void *context, uint32_t part, UNUSED uint32_t parts)
{
    const struct cpu_senses *senses = context;
    const uint64_t count = senses->stream_count;
    double *a = stream_of(senses, part);
    calibration_stream(a, a + count, a + 2 * count, count);
}

/* Returns the highest of several rates of work that every thread does; `amount` is the work per thread. */
static double best_rate(struct cpu *cpu, void (*work)(void *context, uint32_t part, uint32_t parts), void *context,
                        const double *amount, int tries)
{
    double best = 0;
    for (int i = 0; i < tries; ++i) {
        const uint64_t begin_ns = clock_now_ns();
        pool_run(cpu->pool, work, context);
        best = fmax(best, 1e9 * *amount * pool_threads(cpu->pool) / (double)(clock_now_ns() - begin_ns));
    }
    return best;
}

static double stream_bps(struct cpu *cpu)
{
    if (!cpu->senses.stream) {
        /* Arrays larger than each core's L2, first touched by the thread that uses them. */
        uint64_t array_bytes = 2 * cpu->l2_bytes / HOST_HUGE_PAGE_BYTES * HOST_HUGE_PAGE_BYTES;
        array_bytes = array_bytes > STREAM_LEAST_BYTES ? array_bytes : STREAM_LEAST_BYTES;
        const uint64_t all_bytes = array_bytes * STREAM_ARRAYS * pool_threads(cpu->pool);
        cpu->senses.stream = aligned_alloc(HOST_HUGE_PAGE_BYTES, all_bytes);
        if (!cpu->senses.stream)
            arena_out_of_memory(all_bytes);
        cpu->senses.stream_count = array_bytes / sizeof(double);
        pool_run(cpu->pool, touch_part, &cpu->senses);
    }
    const double bytes = (double)(cpu->senses.stream_count * sizeof(double)) * STREAM_ARRAYS;
    return best_rate(cpu, stream_part, &cpu->senses, &bytes, STREAM_TRIES);
}

static void fma_part(void *context, uint32_t part, UNUSED uint32_t parts)
{
    double *flop = context;
    const double done = calibration_fma(FMA_ROUNDS);
    if (part == 0)
        *flop = done;
}

static double fma_flops(struct cpu *cpu)
{
    double flop = 0;
    return best_rate(cpu, fma_part, &flop, &flop, FMA_TRIES);
}

enum status cpu_sense(struct device *device, struct device_sense *sense, UNUSED struct err *err)
{
    struct cpu *cpu = (struct cpu *)device;
    struct device_sense now = device_sense_unknown;
    struct rusage usage;
    double load;
    now.steal_fraction = steal_fraction(&cpu->senses);
    if (getloadavg(&load, 1) == 1)
        now.load_1min = load;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        now.involuntary_switches = (uint64_t)usage.ru_nivcsw;
    cpu_library_settle(cpu);
    now.stream_bps = stream_bps(cpu);
    now.fma_flops = fma_flops(cpu);
    now.core_hz = cpu_core_hz();
    *sense = now;
    return STATUS_OK;
}
