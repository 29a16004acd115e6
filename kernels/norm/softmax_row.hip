/* SPDX-License-Identifier: MIT
 *
 * Softmax of every row: y = exp(x - max) / sum of exp(x - max). One workgroup per row, two passes over it:
 *
 *   1. Online softmax: each lane keeps the largest value so far and the sum of exponentials relative to it, and
 *      rescales the sum when a larger one comes (Milakov, Gimelshein 2018). So memory is read once, where separate
 *      passes for maximum and sum would read it twice. Then the lanes agree: by shuffles in a wave, through
 *      LDS between waves.
 *   2. y = exp(x - max) * (1 / sum), x coming from cache.
 *
 * A lane processes DEPTH packs of VEC at a time. Each element of a pack has its own maximum and sum, so that nothing is
 * added across a vector before the end, and one rescaling serves DEPTH elements.
 *
 * An element of -inf has weight 0. A row of nothing else becomes zeros.
 *
 * Defines: VEC elements in a pack; DEPTH packs at a time; BLOCK work-items.
 */
#include "portable.h"

static constexpr unsigned ROW = BLOCK * VEC;
static constexpr unsigned CHUNK = ROW * DEPTH;
static constexpr float LOG2_E = 1.44269504088896341f;
/* The lowest finite number: with -inf a lane without elements would compute inf - inf. */
static constexpr float LOWEST = -3.402823466e38f;

/* Softmax of a part of a row before the division: the largest value, and the sum of exponentials relative to it. */
struct partial {
    float top, sum;
};

__device__ static inline float larger(float a, float b)
{
    return a > b ? a : b;
}

__device__ static inline float exp_of(float x)
{
    if constexpr (ISOLATE == ISOLATE_LOADS)
        return x;
    return fast_exp2(x * LOG2_E);
}

__device__ static inline float element(const float *from, unsigned i)
{
    if constexpr (ISOLATE == ISOLATE_MATH)
        return static_cast<float>(i);
    return from[i];
}

__device__ static inline void put(float *to, unsigned i, float value)
{
    if constexpr (ISOLATE)
        keep(value);
    else
        to[i] = value;
}

__device__ static inline partial join(partial a, partial b)
{
    const float top = larger(a.top, b.top);
    return {top, a.sum * exp_of(a.top - top) + b.sum * exp_of(b.top - top)};
}

__device__ static constexpr unsigned waves()
{
    return BLOCK > wave_size() ? BLOCK / wave_size() : 1;
}

/* Two reductions over the wave: the maximum, then the sum relative to it. */
__device__ inline partial join_wave(partial own)
{
    const float top = wave_reduce_max(own.top);
    return {top, wave_reduce_add(own.sum * exp_of(own.top - top))};
}

/* Joins the parts of all lanes; every lane gets the result. */
__device__ inline partial join_group(partial own)
{
    if constexpr (BLOCK == 1) {
        return own;
    } else {
        __shared__ float tops[waves()], sums[waves()];
        own = join_wave(own);
        if (lane_id() == 0) {
            tops[wave_id()] = own.top;
            sums[wave_id()] = own.sum;
        }
        __syncthreads();
        partial whole = {tops[0], sums[0]};
        for (unsigned w = 1; w < waves(); ++w)
            whole = join(whole, {tops[w], sums[w]});
        return whole;
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void softmax_row(
    float *__restrict y, const float *__restrict x, uint32_t columns)
{
    const float *const from = x + blockIdx.x * static_cast<uint64_t>(columns);
    float *const to = y + blockIdx.x * static_cast<uint64_t>(columns);
    const unsigned lane = threadIdx.x;
    const unsigned whole = columns / CHUNK * CHUNK;

    float top[VEC], sum[VEC];
#pragma unroll
    for (int e = 0; e < VEC; ++e) {
        top[e] = LOWEST;
        sum[e] = 0.0f;
    }
    for (unsigned at = 0; at < whole; at += CHUNK) {
        float value[DEPTH][VEC];
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d) {
#pragma unroll
            for (int e = 0; e < VEC; ++e)
                value[d][e] = element(from, at + d * ROW + lane * VEC + e);
        }
#pragma unroll
        for (int e = 0; e < VEC; ++e) {
            float next = top[e];
#pragma unroll
            for (unsigned d = 0; d < DEPTH; ++d)
                next = larger(next, value[d][e]);
            float grown = sum[e] * exp_of(top[e] - next);
#pragma unroll
            for (unsigned d = 0; d < DEPTH; ++d)
                grown += exp_of(value[d][e] - next);
            top[e] = next;
            sum[e] = grown;
        }
    }
    partial own = {top[0], sum[0]};
#pragma unroll
    for (int e = 1; e < VEC; ++e)
        own = join(own, {top[e], sum[e]});
    for (unsigned i = whole + lane; i < columns; i += BLOCK)
        own = join(own, {element(from, i), 1.0f});

    const partial row = join_group(own);
    const float scale = row.sum > 0.0f ? 1.0f / row.sum : 0.0f; /* nothing but -inf */
    /* Packs are the vectors: across iterations a CPU would write with scatters. */
#pragma clang loop vectorize(disable)
    for (unsigned at = 0; at < whole; at += CHUNK) {
        float value[DEPTH][VEC];
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d) {
#pragma unroll
            for (int e = 0; e < VEC; ++e)
                value[d][e] = exp_of(element(from, at + d * ROW + lane * VEC + e) - row.top) * scale;
        }
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d) {
#pragma unroll
            for (int e = 0; e < VEC; ++e)
                put(to, at + d * ROW + lane * VEC + e, value[d][e]);
        }
    }
    for (unsigned i = whole + lane; i < columns; i += BLOCK)
        put(to, i, exp_of(element(from, i) - row.top) * scale);
}
