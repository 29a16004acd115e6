/* SPDX-License-Identifier: MIT
 *
 * Pointer chase: the latency of one dependent load, by footprint. The ring is one random cycle through all slots, so no
 * prefetcher knows the next address, and every slot is visited once before any is visited again. Only one lane walks: a
 * second one would measure how well loads overlap, which is bandwidth.
 *
 * A launch takes a bounded number of steps and leaves its position in `state`, where the next launch goes on. Otherwise
 * every launch would walk the same first steps of the ring, and a footprint larger than the caches would be measured
 * inside them.
 *
 * Defines: OFFSET32 1 = byte offsets fit 32 bits. AMD adds a 32-bit offset to a base address for free and needs three
 * vector instructions for a 64-bit one. x86 scales an index in the load itself, so there 0 is right.
 */
#include "portable.h"

/* Steps per iteration of the loop. */
static constexpr unsigned UNROLLED = 32;

__device__ static inline uint32_t next(const uint32_t *ring, uint32_t at)
{
    if constexpr (OFFSET32)
        return *reinterpret_cast<const uint32_t *>(reinterpret_cast<const char *>(ring) + at * 4u);
    else
        return ring[at];
}

/* Bounds of a wave for a launch of one work-item, and an opaque position: for a single lane, or a position that all
 * lanes share, the compiler would load through the scalar cache. */
extern "C" __global__ __launch_bounds__(64) void pointer_chase(
    const uint32_t *__restrict ring, uint32_t *__restrict state, uint32_t steps)
{
    uint32_t at = opaque(state[0]);
    uint32_t left = steps;
    for (; left >= UNROLLED; left -= UNROLLED) {
#pragma unroll
        for (unsigned step = 0; step < UNROLLED; ++step)
            at = next(ring, at);
    }
#pragma unroll 1
    for (; left > 0; --left)
        at = next(ring, at);
    state[0] = at;
}
