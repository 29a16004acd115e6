/* SPDX-License-Identifier: MIT
 *
 * Arithmetic by as many waves as the launch keeps resident: PAIRS oscillators per lane as in fma_peak, u += a * v; v -=
 * a * u. Each is a chain in which every multiply-add depends on the one before, so a wave issues PAIRS of them per
 * latency, and a SIMD needs latency / PAIRS waves to be always busy.
 *
 * Defines: PAIRS per lane; BLOCK work-items; VEC elements of a pack: 1, or on the CPU a register; LAST_VGPR, LAST_AGPR
 * as in reserve.h.
 */
#include "portable.h"
#include "reserve.h"

typedef typename vec<float, VEC>::type pack;

static constexpr unsigned STEPS = 16; /* in the loop's body; iterations are a multiple of it */

extern "C" __global__ __launch_bounds__(BLOCK) void occupancy_fma(float *__restrict out, const float *__restrict start,
    const float *__restrict rate, uint32_t iterations, uint32_t rounds)
{
    RESERVE_REGISTERS();
    const uint64_t lane = blockIdx.x * static_cast<uint64_t>(BLOCK) + threadIdx.x;
    const pack first = reinterpret_cast<const pack *>(start)[threadIdx.x]; /* the same in every workgroup */
    /* As in fma_peak: in scalar registers, and the compiler does not know that minus_a is -a. */
    const float a_uniform = opaque_uniform(rate[0]), minus_a_uniform = opaque_uniform(-a_uniform);
    const pack a = static_cast<pack>(a_uniform), minus_a = static_cast<pack>(minus_a_uniform);
    pack total = static_cast<pack>(0.0f);
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; ++round) {
        pack u[PAIRS], v[PAIRS];
#pragma unroll
        for (int k = 0; k < PAIRS; ++k) {
            u[k] = first;
            v[k] = static_cast<pack>(static_cast<float>(k) / PAIRS);
        }
#pragma unroll 1
        for (uint32_t i = 0; i < iterations; i += STEPS) {
#pragma unroll
            for (unsigned step = 0; step < STEPS; ++step) {
#pragma unroll
                for (int k = 0; k < PAIRS; ++k)
                    u[k] = opaque(fma(a, v[k], u[k])); /* else two chains may become one packed instruction */
#pragma unroll
                for (int k = 0; k < PAIRS; ++k)
                    v[k] = opaque(fma(minus_a, u[k], v[k]));
            }
        }
        pack sum = u[0] + v[0];
#pragma unroll
        for (int k = 1; k < PAIRS; ++k)
            sum += u[k] + v[k];
        total = total / 2 + sum;
    }
    reinterpret_cast<pack *>(out)[lane] = total;
}
