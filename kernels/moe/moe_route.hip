/* SPDX-License-Identifier: MIT
 *
 * Tokens to their experts and back. A pair is one of a token's TOP choices; pairs are sorted by expert, stably, so that
 * the result is the same in every run. A slot is a pair's position in that order.
 *
 *   moe_count      how many pairs of each expert every part of the pairs has
 *   moe_scan       prefix sums of these, expert by expert, within each part by part: where a part's pairs of an expert
 *                  begin. Those of the first part are the experts' offsets
 *   moe_place      the slot of each pair, the token of each slot
 *   moe_gather     rows in the order of slots
 *   moe_combine    a token's rows back from their slots, added up by weight
 *
 * A part is PART pairs and belongs to one wave, which takes them in order, so the sort is stable without any exchange
 * between waves. On a CPU it is one work-item.
 *
 * Defines: EXPERTS; PART pairs, a multiple of the block of the first three kernels; BLOCK lanes of it: the wave, or 1;
 * SCAN lanes of moe_scan, whole waves or 1; TOP choices; IN type of rows, of tile.h; WIDTH elements per access.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"

extern "C" __global__ __launch_bounds__(BLOCK) void moe_count(
    uint32_t *__restrict counts, const uint32_t *__restrict ids, uint32_t pairs)
{
    __shared__ uint32_t mine[EXPERTS];
    for (unsigned e = threadIdx.x; e < EXPERTS; e += BLOCK)
        mine[e] = 0;
    __syncthreads();
    const uint32_t first = blockIdx.x * PART;
    for (unsigned i = threadIdx.x; i < PART && first + i < pairs; i += BLOCK)
        atomicAdd(&mine[ids[first + i]], 1u);
    __syncthreads();
    for (unsigned e = threadIdx.x; e < EXPERTS; e += BLOCK)
        counts[e * gridDim.x + blockIdx.x] = mine[e];
}

/* The sum up to this lane, and over the whole workgroup. */
struct prefix {
    uint32_t own, all;
};

__device__ prefix prefix_of(uint32_t value)
{
    if constexpr (SCAN == 1) {
        return {value, value};
    } else {
        constexpr unsigned waves = SCAN > wave_size() ? SCAN / wave_size() : 1;
        __shared__ uint32_t sums[waves];
        const uint32_t sum = wave_prefix_add(value);
        __syncthreads(); /* sums of the previous call have been read */
        if (lane_id() == wave_size() - 1)
            sums[wave_id()] = sum;
        __syncthreads();
        uint32_t before = 0, all = 0;
#pragma unroll
        for (unsigned w = 0; w < waves; ++w) {
            before += w < wave_id() ? sums[w] : 0;
            all += sums[w];
        }
        return {before + sum, all};
    }
}

/* One workgroup; each count becomes where its pairs begin. */
extern "C" __global__ __launch_bounds__(SCAN) void moe_scan(
    uint32_t *__restrict offsets, uint32_t *__restrict counts, uint32_t parts, uint32_t pairs)
{
    const uint32_t size = EXPERTS * parts;
    uint32_t before = 0;
    for (uint32_t first = 0; first < size; first += SCAN) {
        const uint32_t i = first + threadIdx.x, value = i < size ? counts[i] : 0;
        const prefix sum = prefix_of(value);
        const uint32_t begin = before + sum.own - value;
        before += sum.all;
        if (i >= size)
            continue;
        counts[i] = begin;
        if (i % parts == 0)
            offsets[i / parts] = begin;
    }
    if (threadIdx.x == 0)
        offsets[EXPERTS] = pairs;
}

/* The lanes of `among` with the same expert as this one, by a ballot on each bit. */
__device__ uint64_t same_expert(uint32_t number, uint64_t among)
{
#pragma unroll
    for (unsigned bit = 1; bit < EXPERTS; bit *= 2) {
        const uint64_t set = __ballot((number & bit) != 0);
        among &= number & bit ? set : ~set;
    }
    return among;
}

extern "C" __global__ __launch_bounds__(BLOCK) void moe_place(uint32_t *__restrict slots, uint32_t *__restrict tokens,
    const uint32_t *__restrict starts, const uint32_t *__restrict ids, uint32_t pairs)
{
    __shared__ uint32_t next[EXPERTS]; /* slot of the next pair */
    for (unsigned e = threadIdx.x; e < EXPERTS; e += BLOCK)
        next[e] = starts[e * gridDim.x + blockIdx.x];
    __syncthreads();
    const uint32_t first = blockIdx.x * PART;
    for (unsigned i = 0; i < PART && first + i < pairs; i += BLOCK) {
        const uint32_t pair = first + i + threadIdx.x;
        const bool there = pair < pairs;
        const uint32_t expert = there ? ids[pair] : 0;
        uint32_t slot;
        if constexpr (BLOCK == 1) {
            slot = next[expert]++;
        } else {
            const uint64_t same = same_expert(expert, __ballot(there)), below = same & ((uint64_t(1) << lane_id()) - 1);
            slot = next[expert] + static_cast<uint32_t>(__builtin_popcountll(below));
            __syncthreads();
            if (there && below == 0)
                next[expert] += static_cast<uint32_t>(__builtin_popcountll(same));
            __syncthreads();
        }
        if (there) {
            slots[pair] = slot;
            tokens[slot] = pair / TOP;
        }
    }
}

/* ---- rows ---- */

typedef IN::type element;

/* Copies a row by the widest access from WIDTH down that divides `columns`. Rows begin at multiples of `columns`, so
 * every access is aligned; the hardware would split others. */
template <unsigned width> __device__ void gather(element *to, const element *from, uint32_t columns)
{
    if constexpr (width > 1) {
        if (columns % width != 0) {
            gather<width / 2>(to, from, columns);
            return;
        }
    }
    typedef typename pack_any<element, width>::type pack;
    for (uint32_t c = threadIdx.x * width; c < columns; c += blockDim.x * width)
        *reinterpret_cast<pack *>(to + c) = *reinterpret_cast<const pack *>(from + c);
}

/* One workgroup per slot. */
extern "C" __global__ __launch_bounds__(256) void moe_gather(
    element *__restrict rows, const element *__restrict x, const uint32_t *__restrict tokens, uint32_t columns)
{
    gather<WIDTH>(rows + blockIdx.x * static_cast<uint64_t>(columns),
        x + tokens[blockIdx.x] * static_cast<uint64_t>(columns), columns);
}

/* The weighted sum of a token's rows; `width` as in gather. */
template <unsigned width>
__device__ void combine(element *to, const element *const (&rows)[TOP], const float (&weight)[TOP], uint32_t columns)
{
    if constexpr (width > 1) {
        if (columns % width != 0) {
            combine<width / 2>(to, rows, weight, columns);
            return;
        }
    }
    for (uint32_t c = threadIdx.x * width; c < columns; c += blockDim.x * width) {
        pack_floats<width> packs[TOP], sum = pack_floats<width>(0.0f);
#pragma unroll
        for (unsigned j = 0; j < TOP; ++j)
            packs[j] = pack_load<IN, width>(rows[j] + c);
#pragma unroll
        for (unsigned j = 0; j < TOP; ++j)
            sum = fma(pack_floats<width>(weight[j]), packs[j], sum);
        pack_store<IN, width>(to + c, sum);
    }
}

/* One workgroup per token. */
extern "C" __global__ __launch_bounds__(256) void moe_combine(element *__restrict y, const element *__restrict rows,
    const uint32_t *__restrict slots, const float *__restrict weights, uint32_t columns)
{
    const uint32_t first = blockIdx.x * TOP;
    element *const to = y + blockIdx.x * static_cast<uint64_t>(columns);
    const element *from[TOP];
    float weight[TOP];
#pragma unroll
    for (unsigned j = 0; j < TOP; ++j) {
        from[j] = rows + slots[first + j] * static_cast<uint64_t>(columns);
        weight[j] = weights[first + j];
    }
    combine<WIDTH>(to, from, weight, columns);
}
