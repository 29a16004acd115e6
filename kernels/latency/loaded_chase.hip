/* SPDX-License-Identifier: MIT
 *
 * Latency of a dependent load while other workgroups load memory as fast as they can. Workgroup 0 walks a random ring
 * with one lane, as pointer_chase does; all others read their own slices of an array until workgroup 0 has raised a
 * flag, but at most `most` passes: if they all ran before it, they would otherwise wait for ever. The number of others
 * is the load. Each counts what it read: bytes over the time of the launch are the bandwidth that belongs to the
 * latency.
 *
 * Workgroup 0 may start before the others do; `steps` is large enough for that not to matter.
 *
 * Defines: BLOCK work-items; DEPTH loads of 16 bytes in flight per work-item.
 */
#include "portable.h"

typedef vec<uint32_t, 4>::type quad;

/* Steps per iteration of the loop. */
static constexpr unsigned UNROLLED = 32;

__device__ static inline uint32_t walk(const uint32_t *ring, uint32_t at, uint32_t loops)
{
#pragma unroll 1
    for (uint32_t loop = 0; loop < loops; ++loop) {
#pragma unroll
        for (unsigned step = 0; step < UNROLLED; ++step)
            at = *reinterpret_cast<const uint32_t *>(reinterpret_cast<const char *>(ring) + at * 4u);
    }
    return at;
}

/* Reads a slice of whole tiles (BLOCK * DEPTH quads) until told to stop; returns passes. */
__device__ static inline uint32_t stream(
    const quad *slice, unsigned item, uint32_t tiles, uint32_t *stop, uint32_t most)
{
    uint32_t pass = 0;
    quad sum = static_cast<quad>(0u);
#pragma unroll 1
    for (; pass < most && atomicAdd(stop, 0u) == 0; ++pass) {
#pragma unroll 1
        for (uint32_t tile = 0; tile < tiles; ++tile) {
            quad got[DEPTH];
#pragma unroll
            for (int k = 0; k < DEPTH; ++k)
                got[k] = slice[(static_cast<uint64_t>(tile) * DEPTH + k) * BLOCK + item];
#pragma unroll
            for (int k = 0; k < DEPTH; ++k)
                sum ^= got[k];
        }
        memory_fence_compiler();
    }
    keep(sum);
    return pass;
}

extern "C" __global__ __launch_bounds__(BLOCK) void loaded_chase(const uint32_t *__restrict ring,
    uint32_t *__restrict state, const uint32_t *__restrict load, uint32_t *stop, uint32_t *__restrict passes,
    uint32_t tiles, uint32_t loops, uint32_t most)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x != 0)
            return;
        state[0] = walk(ring, opaque(state[0]), loops);
        atomicExch(stop, 1u);
        return;
    }
    const uint64_t words = static_cast<uint64_t>(tiles) * DEPTH * BLOCK;
    const uint32_t done =
        stream(reinterpret_cast<const quad *>(load) + (blockIdx.x - 1) * words, threadIdx.x, tiles, stop, most);
    if (threadIdx.x == 0)
        passes[blockIdx.x] = done;
}
