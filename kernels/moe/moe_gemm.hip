/* SPDX-License-Identifier: MIT
 *
 * Grouped GEMM of a mixture of experts, on matrix cores: rows of A, sorted by expert, times that expert's own B.
 *
 *     D[r][c] = sum over q of A[r][q] * B[expert of r][c][q]
 *
 * Rows offsets[e] .. offsets[e + 1] - 1 are expert e's. How many rows an expert has is known only on the device. So the
 * grid is as large as it may have to be: whole tiles of all rows, and one more per expert for its last, partial tile.
 * Each workgroup looks up whose tile it has (tile_owner), and those beyond the last return. Tiles never mix experts: an
 * expert with one row pays for BM of them, which is why decoding wants a small BM.
 *
 * Defines: those of gemm_rows.h; OUT type of D; WAVES per SIMD for which there must be registers; TILE_LAYOUT.
 */
#include "portable.h"
#include "tile.h"
#include "../gemm/gemm_k_tile.h"
#include "../gemm/gemm_rows.h"

struct tile_source {
    static constexpr bool masked = false;
    uint32_t count, whole, left; /* left: k from the next K tile on */
    bool fits;                   /* see rows_fit */
    const element *a, *b;        /* the next K tile */
    uint32_t a_offset[a_tile::moves], b_offset[b_tile::moves];
};

__device__ static void advance(tile_source &at)
{
    at.a += BK;
    at.b += BK;
    at.left -= BK;
}

__device__ static void fetch_whole(tile_source &at, staged_tiles &next)
{
    fetch_rows<a_tile>(next.a, at.a, at.a_offset);
    fetch_rows<b_tile>(next.b, at.b, at.b_offset);
    advance(at);
}

__device__ static void fetch_any(tile_source &at, staged_tiles &next, unsigned lane)
{
    if (at.fits && at.left >= BK) {
        fetch_whole(at, next);
        return;
    }
    fetch_rows_cut<a_tile>(next.a, at.a, at.a_offset, at.left, lane);
    fetch_rows_cut<b_tile>(next.b, at.b, at.b_offset, at.left, lane);
    advance(at);
}

/* The tile has rows begin .. end - 1; if there are none, there is no such tile. */
struct owned {
    uint32_t expert, begin, end;
};

/* Each lane takes an expert: how many tiles it has and, by a prefix sum over the wave, where they begin. */
__device__ owned tile_owner(const uint32_t *offsets, uint32_t experts, uint32_t tile_number)
{
    uint32_t before = 0; /* tiles of earlier experts */
    for (uint32_t first = 0; first < experts; first += wave_size()) {
        const uint32_t expert = first + lane_id();
        const uint32_t begin = offsets[expert < experts ? expert : experts];
        const uint32_t end = offsets[expert < experts ? expert + 1 : experts];
        const uint32_t tiles = (end - begin + BM - 1) / BM;
        const uint32_t sum = wave_prefix_add(tiles);
        const uint64_t beyond = __ballot(before + sum > tile_number);
        if (beyond) {
            const unsigned lane = static_cast<unsigned>(__builtin_ctzll(beyond));
            const uint32_t row = begin + (tile_number - (before + sum - tiles)) * BM;
            return {first + lane, __shfl(row, lane), __shfl(end, lane)};
        }
        before += __shfl(sum, wave_size() - 1);
    }
    return {0, 0, 0};
}

extern "C" __global__ __launch_bounds__(LANES, WAVES) void moe_gemm(OUT::type *__restrict d,
    const element *__restrict a, const element *__restrict b, const uint32_t *__restrict offsets, uint32_t experts,
    uint32_t n, uint32_t k, uint32_t row_tiles, uint32_t group, uint32_t dies)
{
    unsigned tile_row, tile_column;
    tile_of(tile_row, tile_column, blockIdx.x, row_tiles, (n + BN - 1) / BN, group, dies);
    const owned found = tile_owner(offsets, experts, tile_row);
    /* The results of divisions and shuffles are not in scalar registers by themselves. */
    const uint32_t begin = opaque_uniform(found.begin), end = opaque_uniform(found.end);
    const uint32_t expert = opaque_uniform(found.expert), column = opaque_uniform(tile_column) * BN;
    if (begin == end)
        return;
    const unsigned lane = threadIdx.x, wave = lane / ROOFTILE_WAVE;
    const unsigned wave_row = wave / WN * (BM / WM), wave_column = wave % WN * (BN / WN);
    tile_source at;
    at.left = k;
    at.count = (k + BK - 1) / BK;
    at.fits = rows_fit(a, k) && rows_fit(b, k);
    at.whole = at.fits ? k / BK : 0;
    at.a = a + static_cast<uint64_t>(begin) * k;
    at.b = b + (static_cast<uint64_t>(expert) * n + column) * k;
    find_offsets<a_tile>(at.a_offset, k, end - begin, lane);
    find_offsets<b_tile>(at.b_offset, k, n - column, lane);
    totals total;
    clear(total);
    __shared__ quad k_tiles[BUFFER];
    accumulate(total, k_tiles, at, lds_offsets_of(wave_row, wave_column), lane);
    store_tile<OUT>(
        d + static_cast<uint64_t>(begin) * n + column, total, n, end - begin, n - column, wave_row, wave_column);
}
