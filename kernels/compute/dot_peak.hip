/* SPDX-License-Identifier: MIT
 *
 * Peak rate of the dot products of packed words: eight i4 or four i8 into i32, two f16 or bf16 into f32, on registers.
 *
 * Each lane has CHAINS independent accumulators, acc[k] += a[k] . b[j], j cycling through FACTORS operands so that the
 * inputs of the multipliers change with every instruction, as those of real data do. As in fma_peak, CHAINS has to
 * cover latency times issue width, and accumulators and operands must fit the registers. Work is done in rounds, each
 * of which restarts from zero: f32 sums that only grew would in the end no longer change. A total is half the one
 * before plus the new sum.
 *
 * Defines: DOT, the function; BITS of an element: 4 and 8 are integers; VEC words per operand (AMD: 1; CPU: one
 * register); CHAINS, FACTORS; BLOCK work-items.
 */
#include "portable.h"

typedef typename vec<uint32_t, VEC>::type pack;
#if BITS <= 8
typedef uint32_t sum_t; /* wraps, as the instruction does */
#else
typedef float sum_t;
#endif
typedef typename vec<sum_t, VEC>::type sums;

extern "C" __global__ __launch_bounds__(BLOCK) void dot_peak(double *__restrict out, const uint32_t *__restrict left,
    const uint32_t *__restrict right, uint32_t iterations, uint32_t rounds)
{
    const uint64_t lane = blockIdx.x * static_cast<uint64_t>(BLOCK) + threadIdx.x;
    pack a[CHAINS], b[FACTORS]; /* the same in every workgroup */
#pragma unroll
    for (int k = 0; k < CHAINS; ++k)
        a[k] = reinterpret_cast<const pack *>(left)[k * BLOCK + threadIdx.x];
#pragma unroll
    for (int j = 0; j < FACTORS; ++j)
        b[j] = reinterpret_cast<const pack *>(right)[j * BLOCK + threadIdx.x];
    sums total = static_cast<sums>(sum_t(0));
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; ++round) {
        sums acc[CHAINS];
#pragma unroll
        for (int k = 0; k < CHAINS; ++k)
            acc[k] = static_cast<sums>(sum_t(0));
#pragma unroll 1
        for (uint32_t i = 0; i < iterations; ++i) {
#pragma unroll
            for (int j = 0; j < FACTORS; ++j) {
#pragma unroll
                for (int k = 0; k < CHAINS; ++k)
                    acc[k] = DOT(acc[k], a[k], b[j]);
            }
        }
        sums sum = acc[0];
#pragma unroll
        for (int k = 1; k < CHAINS; ++k)
            sum += acc[k];
        total = total / static_cast<sums>(sum_t(2)) + sum;
    }
    /* Both kinds of sums are exact in f64, so the output has one type. */
#if VEC == 1
    out[lane] = total;
#else
    reinterpret_cast<vec<double, VEC>::type *>(out)[lane] = __builtin_convertvector(total, vec<double, VEC>::type);
#endif
}
