/* SPDX-License-Identifier: MIT
 *
 * Stencils on a grid of nx * ny (* nz) elements, x fastest: inside, each element becomes
 *
 *     centre * old + side * (sum of the 4 neighbours in 2D, the 6 in 3D)
 *
 * and at the boundary it stays what it is. The algorithm's minimum is one read and one store of each element; whether a
 * neighbour comes from a register, a cache or memory again is what the measurement shows.
 *
 * A lane owns a pack of VEC elements along x and marches STEPS of them along the slowest axis (y in 2D, z in 3D), so
 * that the packs behind, at and ahead of it are in registers and each is loaded once:
 *
 *     2D   behind  | . . . . |            3D   the same along z; the neighbours in y are loaded separately, and a
 *          here  w |x x x x| e                 workgroup of several rows has just brought them into its cache
 *          ahead   | . . . . |
 *
 * All but the outermost elements of a pack have their neighbours in x in the pack itself; w and e are loaded one by
 * one.
 *
 * Defines: T element type; VEC elements in a pack; STEPS along the slowest axis; BLOCK_X, BLOCK_Y work-items.
 */
#include "portable.h"

static constexpr unsigned LANES = BLOCK_X * BLOCK_Y;

/* Rows begin anywhere, so a pack is aligned to its elements only. */
typedef unaligned_vec<T, VEC>::type pack;

__device__ static inline pack get(const T *from)
{
    return load_unaligned<T, VEC>(from);
}

/* Row or plane `k` of the march, at most the last. That is boundary, which stays what it is, so steps beyond the end
 * may repeat it, and no load or store needs a test. */
__device__ static inline unsigned nearest(unsigned k, unsigned count)
{
    return k < count ? k : count - 1;
}

/* The sum of each element's neighbours in x, given those beyond the ends of the pack. */
__device__ static inline pack x_neighbours(pack here, T west, T east)
{
    pack sum;
#pragma unroll
    for (unsigned e = 0; e < VEC; ++e)
        sum[e] = (e == 0 ? west : here[e == 0 ? 0 : e - 1]) + (e == VEC - 1 ? east : here[e == VEC - 1 ? e : e + 1]);
    return sum;
}

/* Steps k to k + STEPS - 1 of `count`, each `stride` elements further, of the column of packs that begins at element
 * `at`, which is element `x` of its row. `rim`: all of it is boundary. `rows`: there are neighbours in y besides the
 * march's. */
template <bool rows>
__device__ void march(T *out, const T *old, uint64_t at, uint64_t stride, unsigned k, unsigned count, unsigned x,
    unsigned nx, bool rim, T centre, T side)
{
    const bool first = x == 0, last = x + VEC == nx;
    const int west_of = first ? 0 : -1, east_of = last ? VEC - 1 : VEC;
    const int64_t row = rim ? 0 : nx;
    pack line[STEPS + 2], north[STEPS], south[STEPS];
    T west[STEPS], east[STEPS];
    line[0] = get(old + at + (k == 0 ? 0 : k - 1) * stride);
#pragma unroll
    for (unsigned s = 0; s <= STEPS; ++s)
        line[s + 1] = get(old + at + nearest(k + s, count) * stride);
#pragma unroll
    for (unsigned s = 0; s < STEPS; ++s) {
        const T *const from = old + at + nearest(k + s, count) * stride;
        west[s] = from[west_of];
        east[s] = from[east_of];
        if constexpr (rows) {
            north[s] = get(from - row);
            south[s] = get(from + row);
        }
    }
#pragma unroll
    for (unsigned s = 0; s < STEPS; ++s) {
        const pack here = line[s + 1];
        pack sum = x_neighbours(here, west[s], east[s]) + line[s] + line[s + 2];
        if constexpr (rows)
            sum += north[s] + south[s];
        pack result = centre * here + side * sum;
        result[0] = first ? here[0] : result[0];
        result[VEC - 1] = last ? here[VEC - 1] : result[VEC - 1];
        const bool inside = !rim && k + s != 0 && k + s + 1 < count;
#pragma unroll
        for (unsigned e = 0; e < VEC; ++e) /* by elements: nvcc would select among addresses of packs */
            result[e] = inside ? result[e] : here[e];
        store_unaligned<T, VEC>(result, out + at + nearest(k + s, count) * stride);
    }
}

extern "C" __global__ __launch_bounds__(LANES) void stencil_2d(
    T *__restrict out, const T *__restrict old, T centre, T side, uint32_t nx, uint32_t ny)
{
    const unsigned x = (blockIdx.x * BLOCK_X + threadIdx.x) * VEC;
    const unsigned y = (blockIdx.y * BLOCK_Y + threadIdx.y) * STEPS;
    if (x < nx && y < ny)
        march<false>(out, old, x, nx, y, ny, x, nx, false, centre, side);
}

extern "C" __global__ __launch_bounds__(LANES) void stencil_3d(
    T *__restrict out, const T *__restrict old, T centre, T side, uint32_t nx, uint32_t ny, uint32_t nz)
{
    const unsigned x = (blockIdx.x * BLOCK_X + threadIdx.x) * VEC;
    const unsigned y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const uint64_t row = static_cast<uint64_t>(y) * nx;
    if (x < nx && y < ny)
        march<true>(out, old, row + x, static_cast<uint64_t>(nx) * ny, blockIdx.z * STEPS, nz, x, nx,
            y == 0 || y + 1 == ny, centre, side);
}
