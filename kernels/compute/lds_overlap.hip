/* SPDX-License-Identifier: MIT
 *
 * Do the vector unit and LDS work at the same time? A pass is READS reads of 16 bytes per lane, without bank conflicts,
 * and FMAS independent fused multiply-adds on registers. With either of the two 0 its time is that of the other alone;
 * with both it is the longer one if they overlap fully, and the sum if they do not overlap.
 *
 * keep() marks a read as used at the end of its pass, without an instruction. Every lane reads what it wrote itself, so
 * that no barrier is needed. The FMAs add one, in 8 chains: sums of small integers are exact, so one that was skipped
 * shows. So does a wrong address: read k of a lane holds its own number plus k.
 *
 * Defines: FMAS, a multiple of 8; READS; BLOCK work-items.
 */
#include "portable.h"

typedef vec<uint32_t, 4>::type quad;

static constexpr int CHAINS = 8;

extern "C" __global__ __launch_bounds__(BLOCK) void lds_overlap(uint32_t *__restrict out, uint64_t *__restrict clocks,
    const uint32_t *__restrict data, float one, uint32_t rounds, uint32_t passes)
{
    constexpr uint64_t mask = ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());
    DYNAMIC_SHARED(quad, area);
    quad value[READS + 1] = {};
#pragma unroll
    for (uint32_t k = 0; k < READS; ++k)
        area[k * BLOCK + threadIdx.x] = static_cast<quad>(data[threadIdx.x % 64] + k);
    float x[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; ++k)
        x[k] = static_cast<float>(k);
    const unsigned self = opaque(threadIdx.x);
    const float factor = opaque(one), step = opaque(one);
    uint64_t cycles = 0;
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; ++round) {
        const uint64_t before = read_cycles();
#pragma unroll 1
        for (uint32_t pass = 0; pass < passes; ++pass) {
            memory_fence_compiler();
#pragma unroll
            for (uint32_t k = 0; k < READS; ++k)
                value[k] = area[k * BLOCK + self];
#pragma unroll
            for (int done = 0; done < FMAS; done += CHAINS) {
#pragma unroll
                for (int k = 0; k < CHAINS; ++k)
                    x[k] = opaque(fma(factor, x[k], step));
            }
#pragma unroll
            for (uint32_t k = 0; k < READS; ++k)
                keep(value[k]);
        }
        cycles += (read_cycles() - before) & mask;
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < CHAINS; ++k)
        sum += x[k];
    uint32_t total = static_cast<uint32_t>(sum);
#pragma unroll
    for (uint32_t k = 0; k < READS; ++k)
        total += (k + 1) * (value[k][0] + value[k][1] + value[k][2] + value[k][3]);
    out[blockIdx.x * BLOCK + threadIdx.x] = total;
    if (threadIdx.x == 0)
        clocks[blockIdx.x] = cycles;
}
