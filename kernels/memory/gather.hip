/* SPDX-License-Identifier: MIT
 *
 * Indirect access: gather reads elements of a table in the order of an index, scatter stores them so. The index has 32
 * bits per run of RUN adjacent elements and is read in order; access i goes to element index[i / RUN] * RUN + i % RUN.
 * With RUN 1 single elements are scattered, with RUN 32 runs of 32.
 *
 * Each lane has DEPTH accesses in flight. Gathered values are summed, so that every one is read and nothing is
 * stored. A scattered value is the number of the word it goes to, so each word of the table shows whether it was
 * written.
 *
 * Defines: WIDTH bytes of an element: 4, 8 or 16; RUN; DEPTH accesses in flight; BLOCK work-items.
 */
#include "portable.h"

static constexpr unsigned WORDS = WIDTH / 4;
typedef typename vec<uint32_t, WORDS>::type element;

__device__ static inline uint32_t target(const uint32_t *index, uint64_t i)
{
    return RUN == 1 ? index[i] : index[i / RUN] * RUN + static_cast<uint32_t>(i % RUN);
}

__device__ static inline uint32_t sum_of(element value)
{
    if constexpr (WORDS == 1) {
        return *reinterpret_cast<const uint32_t *>(&value);
    } else {
        const uint32_t *const words = reinterpret_cast<const uint32_t *>(&value);
        uint32_t sum = 0;
#pragma unroll
        for (unsigned w = 0; w < WORDS; ++w)
            sum += words[w];
        return sum;
    }
}

__device__ static inline element numbered(uint32_t at)
{
    element value;
    uint32_t *const words = reinterpret_cast<uint32_t *>(&value);
#pragma unroll
    for (unsigned w = 0; w < WORDS; ++w)
        words[w] = at * WORDS + w;
    return value;
}

/* All n accesses, in tiles of DEPTH rows of BLOCK. Calls on_tile(first) with the lane's first access of each whole
 * tile, the next ones being BLOCK further, and on_element(i) for what is left. */
template <class on_tile_t, class on_element_t>
__device__ inline void walk(uint64_t n, unsigned groups, const on_tile_t &on_tile, const on_element_t &on_element)
{
    const uint64_t tile = BLOCK * DEPTH, tiles = n / tile;
#pragma unroll 1
    for (uint64_t t = blockIdx.x; t < tiles; t += groups)
        on_tile(t * tile + threadIdx.x);
#pragma unroll 1
    for (uint64_t i = tiles * tile + blockIdx.x * BLOCK + threadIdx.x; i < n;
         i += static_cast<uint64_t>(groups) * BLOCK)
        on_element(i);
}

/* `groups` holds the number of workgroups, in memory so that the reference kernel gets it too. */
extern "C" __global__ __launch_bounds__(BLOCK) void gather(uint32_t *__restrict sums, const element *__restrict table,
    const uint32_t *__restrict index, const uint32_t *__restrict groups, uint64_t n)
{
    uint32_t sum = 0;
    walk(
        n, groups[0],
        [&](uint64_t first) {
            uint32_t at[DEPTH];
            element value[DEPTH];
#pragma unroll
            for (unsigned d = 0; d < DEPTH; ++d)
                at[d] = target(index, first + d * BLOCK);
            memory_fence_compiler(); /* all of the index is in flight before the first of it is used */
#pragma unroll
            for (unsigned d = 0; d < DEPTH; ++d)
                value[d] = table[opaque(at[d])];
#pragma unroll
            for (unsigned d = 0; d < DEPTH; ++d)
                sum += sum_of(value[d]);
        },
        [&](uint64_t i) { sum += sum_of(table[target(index, i)]); });
    sums[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

extern "C" __global__ __launch_bounds__(BLOCK) void scatter(
    element *__restrict table, const uint32_t *__restrict index, uint64_t n)
{
    walk(
        n, gridDim.x,
        [&](uint64_t first) {
            uint32_t at[DEPTH];
#pragma unroll
            for (unsigned d = 0; d < DEPTH; ++d)
                at[d] = target(index, first + d * BLOCK);
#pragma unroll
            for (unsigned d = 0; d < DEPTH; ++d)
                table[at[d]] = numbered(at[d]);
        },
        [&](uint64_t i) {
            const uint32_t at = target(index, i);
            table[at] = numbered(at);
        });
}
