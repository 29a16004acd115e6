/* SPDX-License-Identifier: MIT */
#include "cpu_reference.h"

#include "rooftile/clock.h"

#define CHAIN_ROUNDS 20000u
#define CHAIN_LENGTH 64u

/* Register operands: newer cores take small immediates out of the chain at renaming. */
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

double reference_core_hz(void)
{
    double best = 0;
    for (int i = 0; i < 5; ++i) {
        const double hz = chain_hz();
        best = hz > best ? hz : best;
    }
    return best;
}

/* Aligned to 64 by contract, whatever the caller's type. */
typedef double vector __attribute__((vector_size(64), may_alias));

__attribute__((always_inline)) static inline void stream(double *a, const double *b, const double *c, uint64_t count)
{
    for (uint64_t i = 0; i < count; i += 8)
        *(vector *)(a + i) = *(const vector *)(b + i) + 3.0 * *(const vector *)(c + i);
}

/* 12 chains of one register each, of whatever width: 8 cover 4 cycles on 2 pipes. */
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

__attribute__((target("avx512f"))) static void stream_512(double *a, const double *b, const double *c, uint64_t count)
{
    stream(a, b, c, count);
}

__attribute__((target("avx2,fma"))) static void stream_256(double *a, const double *b, const double *c, uint64_t count)
{
    stream(a, b, c, count);
}
#endif

void reference_stream(double *a, const double *b, const double *c, uint64_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        stream_512(a, b, c, count);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        stream_256(a, b, c, count);
        return;
    }
#endif
    stream(a, b, c, count);
}

/* Without known registers: four chains of whatever vectors the baseline has. */
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

double reference_fma(uint64_t rounds)
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
