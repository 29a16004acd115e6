/* SPDX-License-Identifier: MIT
 *
 * Sum or maximum of an array, in f32, in two launches: a partial result per workgroup, then one workgroup over these.
 * No atomics, so that the order of additions, and so every bit of the result, is the same each time.
 *
 * Workgroup g owns a slice; a lane has DEPTH packs in flight and VEC results, which are joined at the end. A growing
 * sum loses ever more digits of what is added to it: every RUN steps it is added to a second one and restarts, so that
 * rounding errors grow with slice / RUN instead of with the slice.
 *
 * Defines: IN; WIDTH bytes of a pack; DEPTH; BLOCK; LARGEST 1: the maximum.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"

typedef IN::type element;
static constexpr unsigned VEC = WIDTH / sizeof(element), CHUNK = BLOCK * VEC * DEPTH, RUN = 256;
static constexpr float NEUTRAL = LARGEST ? -__builtin_inff() : 0.0f;
typedef pack_floats<VEC> floats;

template <class value_t> __device__ static value_t join(value_t a, value_t b)
{
    if constexpr (LARGEST)
        return pack_larger(a, b);
    else
        return a + b;
}

/* The result of the whole workgroup, valid in its first lane. */
__device__ inline float join_group(float own)
{
    if constexpr (BLOCK == 1) {
        return own;
    } else {
        __shared__ float parts[BLOCK / wave_size()];
#pragma unroll
        for (unsigned distance = wave_size() / 2; distance > 0; distance /= 2)
            own = join(own, __shfl_xor(own, distance));
        if (lane_id() == 0)
            parts[wave_id()] = own;
        __syncthreads();
        float whole = parts[0];
        for (unsigned w = 1; w < BLOCK / wave_size(); ++w)
            whole = join(whole, parts[w]);
        return whole;
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void reduction(
    float *__restrict partial, const element *__restrict x, uint64_t count, uint64_t slice)
{
    const uint64_t lane = threadIdx.x, begin = blockIdx.x * slice;
    const uint64_t end = begin + slice < count ? begin + slice : count;
    floats all = NEUTRAL;
    uint64_t at = begin;
    while (at + CHUNK <= end) {
        floats values[DEPTH];
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d)
            values[d] = NEUTRAL;
        const uint64_t left = (end - at) / CHUNK;
        const unsigned steps = left < RUN ? static_cast<unsigned>(left) : RUN;
        for (unsigned step = 0; step < steps; ++step, at += CHUNK) {
#pragma unroll
            for (unsigned d = 0; d < DEPTH; ++d)
                values[d] = join(values[d], pack_load<IN, VEC>(x + at + (d * BLOCK + lane) * VEC));
        }
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d)
            all = join(all, values[d]);
    }
    float own = all[0];
#pragma unroll
    for (unsigned e = 1; e < VEC; ++e)
        own = join(own, static_cast<float>(all[e]));
    for (uint64_t i = at + lane; i < end; i += BLOCK)
        own = join(own, static_cast<float>(tile_decode<IN>(x[i])));
    own = join_group(own);
    if (lane == 0)
        partial[blockIdx.x] = own;
}

extern "C" __global__ __launch_bounds__(BLOCK) void reduction_finish(
    float *__restrict result, const float *__restrict partial, uint32_t count)
{
    const unsigned lane = threadIdx.x;
    float own = NEUTRAL;
    for (unsigned i = lane; i < count; i += BLOCK)
        own = join(own, partial[i]);
    own = join_group(own);
    if (lane == 0)
        *result = own;
}
