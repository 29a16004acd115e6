/* SPDX-License-Identifier: MIT
 *
 * What a barrier of a workgroup costs, by the number of its waves: nothing in the loop but __syncthreads(), with what
 * it does to memory. At the end every work-item passes its token to the next one through LDS, so a barrier that did not
 * hold shows.
 */
#include "portable.h"

/* Barriers per iteration of the loop. */
static constexpr unsigned UNROLLED = 16;

extern "C" __global__ __launch_bounds__(1024) void barrier_cost(uint32_t *__restrict out, uint64_t *__restrict cycles,
    const uint32_t *__restrict token, uint32_t phases, uint32_t loops)
{
    constexpr uint64_t mask = ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());
    __shared__ uint32_t tokens[1024];
    uint64_t shortest = mask;
#pragma unroll 1
    for (uint32_t phase = 0; phase < phases; ++phase) {
        const uint64_t before = read_cycles();
        const uint64_t begin = read_cycles();
#pragma unroll 1
        for (uint32_t loop = 0; loop < loops; ++loop) {
#pragma unroll
            for (unsigned step = 0; step < UNROLLED; ++step)
                __syncthreads();
        }
        const uint64_t end = read_cycles();
        const uint64_t taken = ((end - begin) & mask) - ((begin - before) & mask);
        shortest = taken < shortest ? taken : shortest;
    }
    const unsigned next = threadIdx.x + 1 < blockDim.x ? threadIdx.x + 1 : 0;
    tokens[threadIdx.x] = token[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tokens[next] + phases * loops;
    cycles[threadIdx.x] = shortest;
}
