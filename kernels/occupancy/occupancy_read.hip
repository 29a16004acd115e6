/* SPDX-License-Identifier: MIT
 *
 * Reading memory by as many waves as the launch keeps resident. Little's law: bandwidth = bytes in flight / latency,
 * and bytes in flight are waves * lanes * DEPTH * width of a pack. Waves are the first axis, DEPTH, the packs that a
 * lane has in flight, is the second.
 *
 * There are as many workgroups as fit at once, so all run from beginning to end. Together they walk through memory tile
 * by tile:
 *
 *     round 0: | tile of wave 0 | wave 1 | ... |   round 1: | wave 0 | wave 1 | ...
 *
 * The words of memory count up, so each wave's sum has a closed form, in integers modulo 2^32.
 *
 * The kernel uses neither LDS nor barriers: LDS is what the launch limits occupancy with.
 *
 * Defines: VEC words in a pack; BLOCK work-items; DEPTH packs per lane and tile; LAST_VGPR, LAST_AGPR as in reserve.h.
 */
#include "portable.h"
#include "reserve.h"

typedef typename vec<uint32_t, VEC>::type pack;

/* A workgroup of one work-item (the CPU device) is a wave. */
__device__ static constexpr unsigned lanes()
{
    return BLOCK < wave_size() ? BLOCK : wave_size();
}

__device__ static inline uint32_t pack_sum(pack value)
{
    uint32_t sum = value[0];
#pragma unroll
    for (int e = 1; e < VEC; ++e)
        sum += value[e];
    return sum;
}

extern "C" __global__ __launch_bounds__(BLOCK) void occupancy_read(
    uint32_t *__restrict sums, const uint32_t *__restrict from, uint32_t tiles)
{
    RESERVE_REGISTERS();
    const uint32_t wave = threadIdx.x / lanes(), lane = threadIdx.x % lanes();
    /* A base that is the same in all lanes and a small offset: on AMD a scalar address and one vector register. */
    const uint32_t offset = wave * lanes() * DEPTH + lane;
    const pack *at = reinterpret_cast<const pack *>(from) + static_cast<uint64_t>(blockIdx.x) * BLOCK * DEPTH;
    const uint64_t round = static_cast<uint64_t>(gridDim.x) * BLOCK * DEPTH;
    pack sum = static_cast<pack>(0u);
#pragma unroll 1
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        pack value[DEPTH];
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d)
            value[d] = at[offset + d * lanes()];
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d)
            sum += value[d];
        at += round;
    }
    uint32_t total = pack_sum(sum);
    if constexpr (lanes() > 1)
        total = wave_reduce_add(total);
    if (lane == 0)
        sums[blockIdx.x * (BLOCK / lanes()) + wave] = total;
}
