/* SPDX-License-Identifier: MIT
 *
 * Latency of a dependent load through the scalar cache, by footprint: pointer_chase with a position that is the same in
 * all lanes and kept in a scalar register. One shift turns an element's number into its address (two of some hundred
 * clocks). A CPU has no such path; there it is pointer_chase again.
 */
#include "portable.h"

/* Steps per iteration of the loop. */
static constexpr unsigned UNROLLED = 32;

extern "C" __global__ __launch_bounds__(64) void scalar_chase(
    const uint32_t *__restrict ring, uint32_t *__restrict state, uint32_t loops)
{
    uint32_t at = opaque_uniform(state[0]);
#pragma unroll 1
    for (uint32_t loop = 0; loop < loops; ++loop) {
#pragma unroll
        for (unsigned step = 0; step < UNROLLED; ++step)
            at = *reinterpret_cast<const uint32_t *>(reinterpret_cast<const char *>(ring) + at * 4u);
    }
    state[0] = at;
}
