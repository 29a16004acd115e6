/* SPDX-License-Identifier: MIT
 *
 * Convolution, NHWC, as a product on matrix cores (implicit GEMM): y = A * w', where row `pixel` of A is all that the
 * filter sees there. A is never stored: its K tiles are gathered from x.
 *
 *        k: |  tap 0, channels  |  tap 1, ...    A K tile belongs to one tap: BK of its channels. So its position in w,
 *           +---------+---------+---------+      and its distance from a pixel's first tap, are the same in all lanes.
 *    pixels | tile 0  | tile 1  | tile 2  |      A lane adds the offsets of its own rows, which stay. Which taps of a
 *           +---------+---------+---------+      row lie inside x is a bit mask that is computed once.
 *
 * A filter of 1 x 1, stride 1, is a plain product. If the channels are not a multiple of BK, the last K tile of each
 * tap is loaded element by element and filled up with zeros.
 *
 * Defines: those of gemm_rows.h; OUT type of y; R S taps, at most 32; WAVES per SIMD for which there must be registers;
 * TILE_LAYOUT.
 */
#include "portable.h"
#include "tile.h"
#include "../gemm/gemm_k_tile.h"
#include "../gemm/gemm_rows.h"
#include "conv_shape.h"

static_assert(R * S <= 32, "a row's taps are bits of a word");

struct tile_source {
    static constexpr bool masked = true;
    uint32_t count, whole;
    bool fits;                        /* see rows_fit */
    uint32_t channels, line;          /* line: bytes from the end of a line's last tap to the next line's first one */
    uint32_t tap, columns, left;      /* the next K tile's tap; taps left in the line; channels left in the tap */
    uint32_t row_mask[a_tile::moves]; /* all bits: the row just loaded is inside x */
    const element *x;                 /* the image of the tile's first pixel */
    const element *w;                 /* the next K tile of the tile's first filter */
    uint32_t beyond;                  /* bytes from a pixel's first tap to the next K tile */
    uint32_t offset_of_row[a_tile::moves]; /* of a row's first tap, in bytes from x; negative in the margin */
    uint32_t taps[a_tile::moves];          /* bit t: tap t is inside x */
    uint32_t w_offset[b_tile::moves];
};

/* Offsets of the K tile's rows; 0 for rows outside of x. Masks are opaque: a compiler that knows that they are all bits
 * or none turns each `and` into a comparison and a selection. */
__device__ static void set_offsets(uint32_t (&offset)[a_tile::moves], tile_source &at)
{
#pragma unroll
    for (unsigned move = 0; move < a_tile::moves; ++move) {
        at.row_mask[move] = opaque(bit_mask(at.taps[move], at.tap));
        offset[move] = (at.offset_of_row[move] + at.beyond) & at.row_mask[move];
    }
}

/* `step`: channels of the K tile just loaded. */
__device__ static void advance(tile_source &at, uint32_t step)
{
    at.w += step;
    at.beyond += step * sizeof(element);
    at.left -= step;
    if constexpr (R * S > 1) {
        if (at.left > 0)
            return;
        at.left = at.channels;
        ++at.tap;
        if (--at.columns > 0)
            return;
        at.columns = S;
        at.beyond += at.line;
    }
}

__device__ static void fetch_whole(tile_source &at, staged_tiles &next)
{
    uint32_t offset[a_tile::moves];
    set_offsets(offset, at);
    fetch_rows<a_tile>(next.a, at.x, offset);
    fetch_rows<b_tile>(next.b, at.w, at.w_offset);
    advance(at, BK);
}

__device__ static void fetch_any(tile_source &at, staged_tiles &next, unsigned lane)
{
    const uint32_t left = at.left;
    if (at.fits && left >= BK) {
        fetch_whole(at, next);
        return;
    }
    uint32_t offset[a_tile::moves];
    set_offsets(offset, at);
    fetch_rows_cut<a_tile>(next.a, at.x, offset, left, lane);
    fetch_rows_cut<b_tile>(next.b, at.w, at.w_offset, left, lane);
    advance(at, left < BK ? left : BK);
}

/* Where a lane's rows are, and which of their taps are inside x. */
__device__ static void find_pixels(
    tile_source &at, const conv_shape &shape, uint32_t first, uint32_t image, unsigned lane)
{
#pragma unroll
    for (unsigned move = 0; move < a_tile::moves; ++move) {
        const uint32_t pixel = first + k_tile_move_row<a_tile>(lane, move);
        const conv_corner corner = conv_corner_of(shape, pixel < shape.pixels ? pixel : shape.pixels - 1);
        const int32_t row = static_cast<int32_t>((corner.image - image) * shape.height) + corner.row;
        const int32_t at_x =
            (row * static_cast<int32_t>(shape.width) + corner.column) * static_cast<int32_t>(shape.channels);
        at.offset_of_row[move] = (static_cast<uint32_t>(at_x) + k_tile_move_k<a_tile>(lane, move)) * sizeof(element);
        at.taps[move] = 0;
#pragma unroll
        for (unsigned tap = 0; tap < R * S; ++tap)
            at.taps[move] |= static_cast<uint32_t>(conv_is_inside(shape, corner, tap / S, tap % S)) << tap;
    }
}

extern "C" __global__ __launch_bounds__(LANES, WAVES) void conv_implicit(OUT::type *__restrict y,
    const element *__restrict x, const element *__restrict w, uint32_t height, uint32_t width, uint32_t channels,
    uint32_t out_height, uint32_t out_width, uint32_t filters, uint32_t stride, uint32_t pad, uint32_t pixels,
    uint32_t group, uint32_t dies)
{
    const conv_shape shape = {height, width, channels, out_height, out_width, filters, stride, pad, pixels};
    unsigned tile_row, tile_column;
    tile_of(tile_row, tile_column, blockIdx.x, (pixels + BM - 1) / BM, (filters + BN - 1) / BN, group, dies);
    /* The results of divisions are not in scalar registers by themselves. */
    const uint32_t pixel = opaque_uniform(tile_row) * BM, filter = opaque_uniform(tile_column) * BN;
    const uint32_t image = opaque_uniform(pixel / (out_height * out_width));
    const unsigned lane = threadIdx.x, wave = lane / ROOFTILE_WAVE;
    const unsigned wave_row = wave / WN * (BM / WM), wave_column = wave % WN * (BN / WN);
    tile_source at;
    at.count = (channels + BK - 1) / BK * (R * S);
    at.fits = rows_fit(x, channels) && rows_fit(w, channels);
    at.whole = at.fits && channels % BK == 0 ? at.count : 0;
    at.channels = channels;
    at.line = (width - S) * channels * sizeof(element);
    at.tap = 0;
    at.columns = S;
    at.left = channels;
    at.beyond = 0;
    at.x = x + image * static_cast<uint64_t>(height) * width * channels;
    at.w = w + filter * static_cast<uint64_t>(R * S) * channels;
    find_pixels(at, shape, pixel, image, lane);
    find_offsets<b_tile>(at.w_offset, R * S * static_cast<uint64_t>(channels), filters - filter, lane);
    totals total;
    clear(total);
    __shared__ quad k_tiles[BUFFER];
    accumulate(total, k_tiles, at, lds_offsets_of(wave_row, wave_column), lane);
    store_tile<OUT>(y + pixel * static_cast<uint64_t>(filters) + filter, total, filters, pixels - pixel,
        filters - filter, wave_row, wave_column);
}
