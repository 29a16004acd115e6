/* SPDX-License-Identifier: MIT
 *
 * Indirect access: gather reads elements of a table in the order of an index, scatter stores them so. The index is 32
 * bits per `run` neighbouring elements, read in order; access i goes to element index[i / run] * run + i % run. run 1
 * is an element here and there, run 32 whole stretches of 32.
 *
 * Each lane has DEPTH accesses on the way. Gathered values are summed, so that reading them all is proven and nothing
 * is stored; scattered values are the number of the word they go to, so that every word of the table shows whether it
 * was hit.
 *
 * Defines: WIDTH bytes of an element: 4, 8 or 16; RUN; DEPTH accesses on the way; BLOCK work-items.
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
        UNROLL
        for (unsigned w = 0; w < WORDS; ++w)
            sum += words[w];
        return sum;
    }
}

__device__ static inline element numbered(uint32_t at)
{
    element value;
    uint32_t *const words = reinterpret_cast<uint32_t *>(&value);
    UNROLL
    for (unsigned w = 0; w < WORDS; ++w)
        words[w] = at * WORDS + w;
    return value;
}

/* All accesses, dealt out in tiles of DEPTH rows: `TILES` is done with the first access of a whole tile, `ONE` with
 * what is left. */
#define WALK(n, groups, TILES, ONE)                                                                                    \
    const uint64_t tile = BLOCK * DEPTH, whole = (n) / tile;                                                           \
    NO_UNROLL                                                                                                          \
    for (uint64_t t = blockIdx.x; t < whole; t += (groups)) {                                                          \
        const uint64_t first = t * tile + threadIdx.x;                                                                 \
        TILES;                                                                                                         \
    }                                                                                                                  \
    NO_UNROLL                                                                                                          \
    for (uint64_t i = whole * tile + blockIdx.x * BLOCK + threadIdx.x; i < (n);                                        \
         i += static_cast<uint64_t>(groups) * BLOCK) {                                                                 \
        ONE;                                                                                                           \
    }

/* `groups` holds the number of workgroups, in memory so that the oracle gets it too. */
KERNEL __launch_bounds__(BLOCK) void gather(uint32_t *__restrict sums, const element *__restrict table,
                                            const uint32_t *__restrict index, const uint32_t *__restrict groups,
                                            uint64_t n)
{
    uint32_t sum = 0;
    const unsigned all = groups[0];
    WALK(
        n, all,
        {
            uint32_t at[DEPTH];
            element value[DEPTH];
            UNROLL
            for (unsigned d = 0; d < DEPTH; ++d)
                at[d] = target(index, first + d * BLOCK);
            memory_fence_compiler(); /* all of the index is on the way before the first of it is used */
            UNROLL
            for (unsigned d = 0; d < DEPTH; ++d)
                value[d] = table[opaque(at[d])];
            UNROLL
            for (unsigned d = 0; d < DEPTH; ++d)
                sum += sum_of(value[d]);
        },
        sum += sum_of(table[target(index, i)]));
    sums[blockIdx.x * BLOCK + threadIdx.x] = sum;
}
KERNEL_EXPORT(gather)

KERNEL __launch_bounds__(BLOCK) void scatter(element *__restrict table, const uint32_t *__restrict index, uint64_t n)
{
    WALK(
        n, gridDim.x,
        {
            uint32_t at[DEPTH];
            UNROLL
            for (unsigned d = 0; d < DEPTH; ++d)
                at[d] = target(index, first + d * BLOCK);
            UNROLL
            for (unsigned d = 0; d < DEPTH; ++d)
                table[at[d]] = numbered(at[d]);
        },
        {
            const uint32_t at = target(index, i);
            table[at] = numbered(at);
        });
}
KERNEL_EXPORT(scatter)
