/* SPDX-License-Identifier: MIT
 *
 * Direct access in unfavourable patterns: narrow or wide, strided between lanes, misaligned, bypassing the caches.
 * Every element is accessed exactly once, whatever the stride: access i goes to element (i % rows) * stride + i / rows,
 * of rows * stride elements in all. So all strides move the same bytes (up to rounding to whole tiles), and any extra
 * time is the price of lines of which a wave uses only a part. The other parts of a line are wanted again `rows`
 * accesses later: small arrays find them in a cache.
 *
 * rows is a multiple of a tile, BLOCK * DEPTH accesses, so that a tile stays within a column: its start is the same for
 * the whole workgroup, and the offsets of its lanes never change. Stepping by as many tiles as there are workgroups
 * needs no division. Any stride will do. Misalignment is up to the launch: elements are declared with an alignment of
 * 1, which gives the same instructions on AMD.
 *
 * Defines: WIDTH bytes of an element: 1, 2, 4, 8 or 16; DEPTH accesses in flight per lane; NT 1: non-temporal; BLOCK
 * work-items.
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
typedef unaligned_vec<part_t, PARTS, 1>::type element;

__device__ static inline element get(const element *from)
{
    if constexpr (NT)
        return load_nt(from);
    else
        return *from;
}

__device__ static inline void put(element *to, element value)
{
    if constexpr (NT)
        store_nt(value, to);
    else
        *to = value;
}

__device__ static inline uint64_t row_of(uint64_t base, unsigned d, uint32_t stride)
{
    return base + d * BLOCK * static_cast<uint64_t>(stride);
}

/* Goes over every groups-th tile of `tiles`; a column of the array has `deep` of them. Calls body(base, own): `base` is
 * the tile's first element, `own` this lane's offset from there; row_of(base, d, stride) is where row d begins. */
template <class body_t>
__device__ inline void walk(uint32_t tiles, uint32_t deep, uint32_t stride, uint32_t groups, const body_t &body)
{
    const uint32_t own = threadIdx.x * stride, columns_on = groups / deep, tiles_on = groups % deep;
    uint32_t column = blockIdx.x / deep, down = blockIdx.x % deep;
#pragma unroll 1
    for (uint32_t t = blockIdx.x; t < tiles; t += groups) {
        body(static_cast<uint64_t>(down) * (BLOCK * DEPTH) * stride + column, own);
        down += tiles_on;
        column += columns_on + (down >= deep);
        down -= down >= deep ? deep : 0;
    }
}

/* `groups` holds the number of workgroups, in memory so that the reference kernel gets it too. */
extern "C" __global__ __launch_bounds__(BLOCK) void access_read(uint32_t *__restrict sums,
    const uint8_t *__restrict data, const uint32_t *__restrict groups, uint32_t tiles, uint32_t deep, uint32_t stride)
{
    const element *const from = reinterpret_cast<const element *>(data);
    uint32_t sum = 0;
    walk(tiles, deep, stride, groups[0], [&](uint64_t base, uint32_t own) {
        element value[DEPTH];
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d)
            value[d] = get(&(from + row_of(base, d, stride))[own]);
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d) {
#pragma unroll
            for (unsigned p = 0; p < PARTS; ++p)
                sum += value[d][p];
        }
    });
    sums[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

/* Every part of an element gets its number. */
extern "C" __global__ __launch_bounds__(BLOCK) void access_write(
    uint8_t *__restrict data, uint32_t tiles, uint32_t deep, uint32_t stride)
{
    element *const to = reinterpret_cast<element *>(data);
    walk(tiles, deep, stride, gridDim.x, [&](uint64_t base, uint32_t own) {
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d) {
            const uint64_t row = row_of(base, d, stride);
            element value = {};
#pragma unroll
            for (unsigned p = 0; p < PARTS; ++p)
                value[p] = static_cast<part_t>((static_cast<uint32_t>(row) + own) * PARTS + p);
            put(&(to + row)[own], value);
        }
    });
}

extern "C" __global__ __launch_bounds__(BLOCK) void access_copy(
    uint8_t *__restrict copy, const uint8_t *__restrict data, uint32_t tiles, uint32_t deep, uint32_t stride)
{
    const element *const from = reinterpret_cast<const element *>(data);
    element *const to = reinterpret_cast<element *>(copy);
    walk(tiles, deep, stride, gridDim.x, [&](uint64_t base, uint32_t own) {
        element value[DEPTH];
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d)
            value[d] = get(&(from + row_of(base, d, stride))[own]);
#pragma unroll
        for (unsigned d = 0; d < DEPTH; ++d)
            put(&(to + row_of(base, d, stride))[own], value[d]);
    });
}
