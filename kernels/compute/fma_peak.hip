/* SPDX-License-Identifier: MIT
 *
 * Peak rate of the vector units: nothing but fused multiply-adds on registers.
 *
 * Each lane computes PAIRS independent oscillators, u += a * v; v -= a * u (leapfrog, so the amplitude neither grows
 * nor decays and the bits of the operands keep changing: power and clock are those of real data, and the result can be
 * checked). Both are of the form d = s * t + d, which every unit has, including RDNA3's dual issue. One pair is a
 * chain, so PAIRS has to cover latency times issue width, and all of u and v must fit the registers.
 *
 * A CPU of sixteen registers has no room for that: 5 cycles * 2 pipes need ten chains, so twenty registers. There u and
 * v are a chain each, x = a - a * x with a just below 1: x goes from one side of 1/2 to the other, a little less far
 * every time, so that its bits, too, keep changing. A rounding error fades with the distance.
 *
 * Rounding shifts the phase a little with every step, always the same way: after some 10,000 steps in f16 nothing could
 * be checked any more. So the work is done in rounds, each of which restarts; the sums that they end with are added up,
 * older ones with less weight.
 *
 * Defines: T element type; VEC elements per operand (AMD: 2 x f32 is one packed instruction on CDNA, 2 x f16
 * everywhere; 1 is the plain instruction, as the compiler is told not to pair by itself; CPU: one register); PAIRS of
 * u and v per lane; COUPLED 1: a pair is an oscillator, 0: two chains; BLOCK work-items.
 */
#include "portable.h"

typedef typename vec<T, VEC>::type pack;

/* Steps per iteration of the loop. Many for single f16: compilers pack two into a register before it and unpack them
 * after it. */
static constexpr int UNROLLED = VEC == 1 && sizeof(T) == 2 ? 32 : 4;

extern "C" __global__ __launch_bounds__(BLOCK) void fma_peak(
    T *__restrict out, const T *__restrict start, const T *__restrict rate, uint32_t iterations, uint32_t rounds)
{
    const uint64_t lane = blockIdx.x * static_cast<uint64_t>(BLOCK) + threadIdx.x;
    const pack first = reinterpret_cast<const pack *>(start)[threadIdx.x]; /* the same in every workgroup */
    /* The rate is in scalar registers on AMD: two operations that issue together must not read the same vector register
     * bank. The compiler must not know that minus_a is -a either: dual issue has no sign modifier. */
    const T a_uniform = opaque_uniform(rate[0]), minus_a_uniform = opaque_uniform(-a_uniform);
    const pack a = static_cast<pack>(a_uniform), minus_a = static_cast<pack>(minus_a_uniform);
    pack total = static_cast<pack>(T(0));
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; ++round) {
        pack u[PAIRS], v[PAIRS];
#pragma unroll
        for (int k = 0; k < PAIRS; ++k) {
            u[k] = first;
            v[k] = static_cast<pack>(T(k) / PAIRS);
        }
#pragma unroll UNROLLED
        for (uint32_t i = 0; i < iterations; ++i) {
#pragma unroll
            for (int k = 0; k < PAIRS; ++k)
                u[k] = COUPLED ? fma(a, v[k], u[k]) : fma(minus_a, u[k], a);
#pragma unroll
            for (int k = 0; k < PAIRS; ++k)
                v[k] = COUPLED ? fma(minus_a, u[k], v[k]) : fma(minus_a, v[k], a);
        }
        pack sum = u[0] + v[0];
#pragma unroll
        for (int k = 1; k < PAIRS; ++k)
            sum += u[k] + v[k];
        total = total / 2 + sum;
    }
    reinterpret_cast<pack *>(out)[lane] = total;
}
