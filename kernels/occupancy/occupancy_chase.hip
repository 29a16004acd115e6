/* SPDX-License-Identifier: MIT
 *
 * Latency hiding: each wave chases CHAINS pointers through one ring, with all lanes at the same address, so a step is
 * one load of one line that depends on the load before. With n waves on a SIMD there are n * CHAINS loads in flight,
 * and steps per second grow with n for as long as memory answers each in the same time.
 *
 * All chains walk the same cycle, each from its own slot (adjacent in memory, anywhere in the cycle), so no two ever
 * meet. A launch goes on where the one before stopped: otherwise few waves would walk the same few lines again and
 * again, in the cache.
 *
 * A scalar base and a vector offset of 32 bits (so at most 4 GiB): one shift between two loads.
 *
 * Defines: CHAINS per wave; BLOCK work-items; LAST_VGPR, LAST_AGPR as in reserve.h.
 */
#include "portable.h"
#include "reserve.h"

__device__ static constexpr unsigned lanes()
{
    return BLOCK < wave_size() ? BLOCK : wave_size();
}

extern "C" __global__ __launch_bounds__(BLOCK) void occupancy_chase(
    uint32_t *__restrict state, const uint32_t *__restrict ring, uint32_t steps)
{
    RESERVE_REGISTERS();
    const uint32_t wave = blockIdx.x * (BLOCK / lanes()) + threadIdx.x / lanes();
    uint32_t at[CHAINS];
#pragma unroll
    for (unsigned c = 0; c < CHAINS; ++c)
        at[c] = opaque(state[wave * CHAINS + c]);
#pragma unroll 4
    for (uint32_t step = 0; step < steps; ++step) {
#pragma unroll
        for (unsigned c = 0; c < CHAINS; ++c)
            at[c] = *reinterpret_cast<const uint32_t *>(reinterpret_cast<const char *>(ring) + at[c] * 4u);
    }
    if (threadIdx.x % lanes() != 0)
        return;
#pragma unroll
    for (unsigned c = 0; c < CHAINS; ++c)
        state[wave * CHAINS + c] = at[c];
}
