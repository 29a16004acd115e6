/* SPDX-License-Identifier: MIT
 *
 * Plain access in an unkind order: narrow or wide, with a stride between lanes, off alignment, around the caches. Every
 * element is accessed exactly once, whatever the stride: access i is at element (i % rows) * stride + i / rows with
 * rows = elements / stride. So all strides move the same bytes, and what they cost more is the price of lines of which
 * a wave uses a part. A line's other parts are wanted again after `rows` accesses: small arrays find them in a cache.
 *
 * elements and stride are powers of two, so that the place is two shifts and a mask. Misalignment is the launch's
 * business: elements are declared to be aligned to nothing, which is the same instruction on AMD.
 *
 * Defines: WIDTH bytes of an element: 1, 2, 4, 8 or 16; DEPTH accesses on the way per lane; NT 1 = non-temporal; BLOCK.
 */
#include "portable.h"

template <int bytes> struct part {
    typedef uint32_t type; /* elements are made of these */
};
template <> struct part<1> {
    typedef uint8_t type;
};
template <> struct part<2> {
    typedef uint16_t type;
};
typedef typename part<WIDTH>::type part_t;
static constexpr unsigned PARTS = WIDTH / sizeof(part_t);
typedef part_t element __attribute__((ext_vector_type(PARTS), aligned(1)));

__device__ static inline uint64_t place(uint64_t i, uint32_t row_bits, uint32_t stride_bits)
{
    return (i & ((static_cast<uint64_t>(1) << row_bits) - 1)) << stride_bits | i >> row_bits;
}

__device__ static inline element get(const element *from)
{
    if constexpr (NT)
        return __builtin_nontemporal_load(from);
    else
        return *from;
}

__device__ static inline void put(element *to, element value)
{
    if constexpr (NT)
        __builtin_nontemporal_store(value, to);
    else
        *to = value;
}

/* Tiles of DEPTH rows of BLOCK accesses; `BODY` has the tile's first access of this lane in `first`. */
#define WALK(tiles, groups, BODY)                                                                                      \
    NO_UNROLL                                                                                                          \
    for (uint32_t t = blockIdx.x; t < (tiles); t += (groups)) {                                                        \
        const uint64_t first = static_cast<uint64_t>(t) * (BLOCK * DEPTH) + threadIdx.x;                               \
        BODY;                                                                                                          \
    }

/* `groups` holds the number of workgroups, in memory so that the oracle gets it too. */
KERNEL __launch_bounds__(BLOCK) void access_read(uint32_t *__restrict sums, const uint8_t *__restrict data,
                                                 const uint32_t *__restrict groups, uint32_t tiles, uint32_t row_bits,
                                                 uint32_t stride_bits)
{
    const element *const from = reinterpret_cast<const element *>(data);
    const unsigned all = groups[0];
    uint32_t sum = 0;
    WALK(tiles, all, {
        element value[DEPTH];
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d)
            value[d] = get(&from[place(first + d * BLOCK, row_bits, stride_bits)]);
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d)
            UNROLL
        for (unsigned p = 0; p < PARTS; ++p)
            sum += value[d][p];
    });
    sums[blockIdx.x * BLOCK + threadIdx.x] = sum;
}
KERNEL_EXPORT(access_read)

/* Every part gets its number. */
KERNEL __launch_bounds__(BLOCK) void access_write(uint8_t *__restrict data, uint32_t tiles, uint32_t row_bits,
                                                  uint32_t stride_bits)
{
    element *const to = reinterpret_cast<element *>(data);
    WALK(tiles, gridDim.x, {
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d) {
            const uint64_t at = place(first + d * BLOCK, row_bits, stride_bits);
            element value = {};
            UNROLL
            for (unsigned p = 0; p < PARTS; ++p)
                value[p] = static_cast<part_t>(at * PARTS + p);
            put(&to[at], value);
        }
    });
}
KERNEL_EXPORT(access_write)

KERNEL __launch_bounds__(BLOCK) void access_copy(uint8_t *__restrict copy, const uint8_t *__restrict data,
                                                 uint32_t tiles, uint32_t row_bits, uint32_t stride_bits)
{
    const element *const from = reinterpret_cast<const element *>(data);
    element *const to = reinterpret_cast<element *>(copy);
    WALK(tiles, gridDim.x, {
        element value[DEPTH];
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d)
            value[d] = get(&from[place(first + d * BLOCK, row_bits, stride_bits)]);
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d)
            put(&to[place(first + d * BLOCK, row_bits, stride_bits)], value[d]);
    });
}
KERNEL_EXPORT(access_copy)
