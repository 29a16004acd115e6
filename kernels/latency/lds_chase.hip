/* SPDX-License-Identifier: MIT
 *
 * Latency of a dependent read of the workgroup's memory (LDS): one random cycle through all its slots, as in
 * pointer_chase. The ring holds byte offsets, so that what is read is the next address. One wave walks, with all its
 * lanes at the same address: a broadcast, which costs what one lane does. `cycles` is the shortest of the phases, less
 * the time of two consecutive reads of the counter.
 *
 * Defines: SLOTS of 4 bytes. An array of known size begins at address 0: no addition in the chain.
 */
#include "portable.h"

/* Steps per iteration of the loop. */
static constexpr unsigned UNROLLED = 32;

extern "C" __global__ __launch_bounds__(64) void lds_chase(const uint32_t *__restrict ring, uint32_t *__restrict state,
    uint64_t *__restrict cycles, uint32_t phases, uint32_t loops)
{
    constexpr uint64_t mask = ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());
    __shared__ uint32_t lds[SLOTS];
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < SLOTS; i += wave_size())
        lds[i] = ring[i] * 4;
    __syncthreads();
    uint32_t at = opaque(0u);
    uint64_t shortest = mask;
#pragma unroll 1
    for (uint32_t phase = 0; phase < phases; ++phase) {
        const uint64_t before = read_cycles();
        const uint64_t begin = read_cycles();
#pragma unroll 1
        for (uint32_t loop = 0; loop < loops; ++loop) {
#pragma unroll
            for (unsigned step = 0; step < UNROLLED; ++step)
                at = *reinterpret_cast<const uint32_t *>(reinterpret_cast<const char *>(lds) + at);
        }
        at = opaque(at);
        const uint64_t end = read_cycles();
        const uint64_t taken = ((end - begin) & mask) - ((begin - before) & mask);
        shortest = taken < shortest ? taken : shortest;
    }
    if (threadIdx.x == 0) {
        state[0] = at / 4;
        cycles[0] = shortest;
    }
}
