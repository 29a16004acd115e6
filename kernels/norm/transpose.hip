/* SPDX-License-Identifier: MIT
 *
 * y = x transposed, in two steps. The naive one reads along rows and writes down columns: adjacent lanes store a whole
 * row of y apart, so that each of their elements takes its own line.
 *
 * Through LDS both sides are whole lines: a workgroup reads a tile of TILE x TILE in packs along rows and writes packs
 * along rows of y. In LDS a row is one bank (4 bytes) longer than the tile, so that adjacent elements of a column are
 * in adjacent banks: lanes that gather columns conflict in pairs at most. Rows of a whole number of lines would put
 * them all into one bank.
 *
 * Tiles at the edge go element by element where packs do not fit. Rows may have any length; packs are only aligned to
 * an element.
 *
 * Defines: IN the type, tile_f32 and the like; WIDTH bytes of a pack; TILE; BLOCK.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"

typedef IN::type element;
static constexpr unsigned VEC = WIDTH / sizeof(element), CHUNKS = TILE / VEC; /* packs of a tile's row */
static constexpr unsigned STEPS = TILE * CHUNKS / BLOCK;                      /* packs of a lane */
static constexpr unsigned PITCH = TILE + 4 / sizeof(element);                 /* elements from row to row in LDS */
typedef pack_memory<element, VEC>::type pack;

extern "C" __global__ __launch_bounds__(BLOCK) void transpose_naive(
    element *__restrict y, const element *__restrict x, uint32_t rows, uint32_t columns)
{
    const unsigned column = blockIdx.x * BLOCK + threadIdx.x, row = blockIdx.y;
    if (column < columns)
        y[column * static_cast<uint64_t>(rows) + row] = x[row * static_cast<uint64_t>(columns) + column];
}

/* Loads a pack, or its first `count` elements where the row ends; count may be negative. */
template <bool whole> __device__ static inline pack load_some(const element *from, int count)
{
    if constexpr (whole)
        return *reinterpret_cast<const pack *>(from);
    pack value = {};
#pragma unroll
    for (int e = 0; e < static_cast<int>(VEC); ++e)
        if (e < count)
            value[e] = from[e];
    return value;
}

template <bool whole> __device__ static inline void store_some(element *to, pack value, int count)
{
    if constexpr (whole) {
        *reinterpret_cast<pack *>(to) = value;
    } else {
#pragma unroll
        for (int e = 0; e < static_cast<int>(VEC); ++e)
            if (e < count)
                to[e] = value[e];
    }
}

template <bool whole>
__device__ inline void transpose_tile(element (&tile)[TILE][PITCH], element *y, const element *x, unsigned rows,
    unsigned columns, unsigned top, unsigned left)
{
    const unsigned lane = threadIdx.x;
#pragma unroll 4
    for (unsigned step = 0; step < STEPS; ++step) {
        const unsigned k = step * BLOCK + lane, r = k / CHUNKS, c = k % CHUNKS * VEC;
        const int count = top + r < rows ? static_cast<int>(columns - left) - static_cast<int>(c) : 0;
        const pack value = load_some<whole>(x + (top + r) * static_cast<uint64_t>(columns) + left + c, count);
#pragma unroll
        for (unsigned e = 0; e < VEC; ++e)
            tile[r][c + e] = value[e];
    }
    __syncthreads();
#pragma unroll 4
    for (unsigned step = 0; step < STEPS; ++step) {
        const unsigned k = step * BLOCK + lane, c = k / CHUNKS, r = k % CHUNKS * VEC; /* row c of y's tile */
        const int count = left + c < columns ? static_cast<int>(rows - top) - static_cast<int>(r) : 0;
        pack value = {};
#pragma unroll
        for (unsigned e = 0; e < VEC; ++e)
            value[e] = tile[r + e][c];
        store_some<whole>(y + (left + c) * static_cast<uint64_t>(rows) + top + r, value, count);
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void transpose(
    element *__restrict y, const element *__restrict x, uint32_t rows, uint32_t columns)
{
    __shared__ element tile[TILE][PITCH];
    const unsigned top = blockIdx.y * TILE, left = blockIdx.x * TILE; /* of the tile, in x */
    if (top + TILE <= rows && left + TILE <= columns)
        transpose_tile<true>(tile, y, x, rows, columns, top, left);
    else
        transpose_tile<false>(tile, y, x, rows, columns, top, left);
}
