/* SPDX-License-Identifier: MIT
 *
 * Plain access in an unkind order: narrow or wide, with a stride between lanes, off alignment, around the caches. Every
 * element is accessed exactly once, whatever the stride: access i is at element (i % rows) * stride + i / rows, with
 * rows * stride elements in all. So all strides move the same bytes (but for a rounding to whole tiles), and what they cost
 * more is the price of lines of which a wave uses a part. A line's other parts are wanted again after `rows` accesses:
 * small arrays find them in a cache.
 *
 * rows is whole tiles of BLOCK * DEPTH accesses, so that a tile never leaves its column: where it begins is the same for
 * the whole workgroup, where its lanes stand in it never changes. Stepping on by as many tiles as there are workgroups
 * needs no division. Any stride will do. Misalignment is the launch's business: elements are declared to be aligned to
 * nothing, which is the same instruction on AMD.
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
typedef loose_vec<part_t, PARTS, 1>::type element;

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

/* Tiles of DEPTH rows of BLOCK accesses, `deep` of them in a column. `BODY` has the tile's first element in `base`, and
 * this lane's, from there, in `mine`; row_of(base, d, stride) is where row d begins. */
#define WALK(tiles, deep, stride, groups, BODY)                                                                        \
    const uint32_t mine = threadIdx.x * (stride);                                                                      \
    const uint32_t columns_on = (groups) / (deep), tiles_on = (groups) % (deep);                                       \
    uint32_t column = blockIdx.x / (deep), down = blockIdx.x % (deep);                                                 \
    NO_UNROLL                                                                                                          \
    for (uint32_t t = blockIdx.x; t < (tiles); t += (groups)) {                                                        \
        const uint64_t base = static_cast<uint64_t>(down) * (BLOCK * DEPTH) * (stride) + column;                       \
        BODY;                                                                                                          \
        down += tiles_on;                                                                                              \
        column += columns_on + (down >= (deep));                                                                       \
        down -= down >= (deep) ? (deep) : 0;                                                                           \
    }

/* `groups` holds the number of workgroups, in memory so that the oracle gets it too. */
KERNEL __launch_bounds__(BLOCK) void access_read(uint32_t *__restrict sums, const uint8_t *__restrict data,
                                                 const uint32_t *__restrict groups, uint32_t tiles, uint32_t deep,
                                                 uint32_t stride)
{
    const element *const from = reinterpret_cast<const element *>(data);
    const unsigned all = groups[0];
    uint32_t sum = 0;
    WALK(tiles, deep, stride, all, {
        element value[DEPTH];
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d)
            value[d] = get(&(from + row_of(base, d, stride))[mine]);
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
KERNEL __launch_bounds__(BLOCK) void access_write(uint8_t *__restrict data, uint32_t tiles, uint32_t deep,
                                                  uint32_t stride)
{
    element *const to = reinterpret_cast<element *>(data);
    WALK(tiles, deep, stride, gridDim.x, {
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d) {
            const uint64_t row = row_of(base, d, stride);
            element value = {};
            UNROLL
            for (unsigned p = 0; p < PARTS; ++p)
                value[p] = static_cast<part_t>((static_cast<uint32_t>(row) + mine) * PARTS + p);
            put(&(to + row)[mine], value);
        }
    });
}
KERNEL_EXPORT(access_write)

KERNEL __launch_bounds__(BLOCK) void access_copy(uint8_t *__restrict copy, const uint8_t *__restrict data,
                                                 uint32_t tiles, uint32_t deep, uint32_t stride)
{
    const element *const from = reinterpret_cast<const element *>(data);
    element *const to = reinterpret_cast<element *>(copy);
    WALK(tiles, deep, stride, gridDim.x, {
        element value[DEPTH];
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d)
            value[d] = get(&(from + row_of(base, d, stride))[mine]);
        UNROLL
        for (unsigned d = 0; d < DEPTH; ++d)
            put(&(to + row_of(base, d, stride))[mine], value[d]);
    });
}
KERNEL_EXPORT(access_copy)
