/* SPDX-License-Identifier: MIT
 *
 * Convolution, NHWC, as a product on matrix cores: y = A * w', where row `pixel` of A is all that the filter sees
 * there. A is never made: slabs of it are gathered out of x.
 *
 *        k: |  tap 0, channels  |  tap 1, ...    Slabs belong to one tap: its channels, BK at a time. So where each is
 *           +---------+---------+---------+      in w, and how far it is from a pixel's first tap, is the same in all
 *    pixels | slab 0  | slab 1  | slab 2  |      lanes; a lane adds the places of its own rows, which stay. Which of
 *           +---------+---------+---------+      its rows' taps lie on x are bits, worked out once.
 *
 * A filter of 1 x 1, stride 1, is a plain product. Channels that are no multiple of BK end each tap with a slab that is
 * loaded element by element and filled up with zeros.
 *
 * Defines: those of gemm_rows.h; OUT type of y; R S taps, at most 32; WAVES per SIMD for which there must be registers;
 * TILE_LAYOUT.
 */
#include "portable.h"
#include "tile.h"
#include "../gemm/gemm_slab.h"
#include "../gemm/gemm_rows.h"
#include "conv_shape.h"

static_assert(R * S <= 32, "a row's taps are bits of a word");

struct walk {
    static constexpr bool masked = true;
    uint32_t count, whole;
    bool fits;                     /* see rows_fit */
    uint32_t channels, line;       /* line: bytes from behind a line's last tap to the next line's first one */
    uint32_t tap, columns, left;   /* of the next slab: its tap; taps of the line and channels of the tap, from it on */
    uint32_t there[slab_a::moves]; /* all bits: the row just fetched lies on x */
    const element *x;              /* the image of the tile's first pixel */
    const element *w;              /* the next slab of the tile's first filter */
    uint32_t beyond;               /* bytes from a pixel's first tap to the next slab */
    uint32_t place[slab_a::moves]; /* of a row's first tap, in bytes from x: below zero in the margin */
    uint32_t taps[slab_a::moves];  /* bits: does the tap lie on x */
    uint32_t w_offset[slab_b::moves];
};

/* Offsets of the slab's rows; those of rows that are not there, of anything that is. Masks are opaque: a compiler that
 * knows that they are all or nothing turns each `and` into a comparison and a selection. */
__device__ static void aim(uint32_t (&offset)[slab_a::moves], walk &at)
{
    UNROLL
    for (unsigned move = 0; move < slab_a::moves; ++move) {
        at.there[move] = opaque(bit_mask(at.taps[move], at.tap));
        offset[move] = (at.place[move] + at.beyond) & at.there[move];
    }
}

/* `step`: channels of the slab just fetched. */
__device__ static void go_on(walk &at, uint32_t step)
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

__device__ static void fetch_whole(walk &at, fetched &next)
{
    uint32_t offset[slab_a::moves];
    aim(offset, at);
    fetch_rows<slab_a>(next.a, at.x, offset);
    fetch_rows<slab_b>(next.b, at.w, at.w_offset);
    go_on(at, BK);
}

__device__ static void fetch_any(walk &at, fetched &next, unsigned lane)
{
    const uint32_t left = at.left;
    if (at.fits && left >= BK) {
        fetch_whole(at, next);
        return;
    }
    uint32_t offset[slab_a::moves];
    aim(offset, at);
    fetch_rows_cut<slab_a>(next.a, at.x, offset, left, lane);
    fetch_rows_cut<slab_b>(next.b, at.w, at.w_offset, left, lane);
    go_on(at, left < BK ? left : BK);
}

/* Where a lane's rows are, and which of their taps lie on x. */
__device__ static void find_pixels(walk &at, const conv_shape &shape, uint32_t first, uint32_t image, unsigned lane)
{
    UNROLL
    for (unsigned move = 0; move < slab_a::moves; ++move) {
        const uint32_t pixel = first + slab_move_row<slab_a>(lane, move);
        const conv_corner corner = conv_corner_of(shape, pixel < shape.pixels ? pixel : shape.pixels - 1);
        const int32_t row = static_cast<int32_t>((corner.image - image) * shape.height) + corner.row;
        const int32_t at_x =
            (row * static_cast<int32_t>(shape.width) + corner.column) * static_cast<int32_t>(shape.channels);
        at.place[move] = (static_cast<uint32_t>(at_x) + slab_move_k<slab_a>(lane, move)) * sizeof(element);
        at.taps[move] = 0;
        UNROLL
        for (unsigned tap = 0; tap < R * S; ++tap)
            at.taps[move] |= static_cast<uint32_t>(conv_is_inside(shape, corner, tap / S, tap % S)) << tap;
    }
}

KERNEL __launch_bounds__(WM *WN *ROOFTILE_WAVE,
                         WAVES) void conv_implicit(OUT::type *__restrict y, const element *__restrict x,
                                                   const element *__restrict w, uint32_t height, uint32_t width,
                                                   uint32_t channels, uint32_t out_height, uint32_t out_width,
                                                   uint32_t filters, uint32_t stride, uint32_t pad, uint32_t pixels,
                                                   uint32_t group, uint32_t spread)
{
    const conv_shape shape = {height, width, channels, out_height, out_width, filters, stride, pad, pixels};
    unsigned tile_row, tile_column;
    tile_of(tile_row, tile_column, blockIdx.x, (pixels + BM - 1) / BM, (filters + BN - 1) / BN, group, spread);
    /* In scalar registers, where divisions have no result otherwise. */
    const uint32_t pixel = opaque_uniform(tile_row) * BM, filter = opaque_uniform(tile_column) * BN;
    const uint32_t image = opaque_uniform(pixel / (out_height * out_width));
    const unsigned lane = threadIdx.x, wave = lane / ROOFTILE_WAVE;
    const unsigned wave_row = wave / WN * (BM / WM), wave_column = wave % WN * (BN / WN);
    walk at;
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
    find_offsets<slab_b>(at.w_offset, R * S * static_cast<uint64_t>(channels), filters - filter, lane);
    totals total;
    clear(total);
    __shared__ quad slabs[SLABS];
    add_slabs(total, slabs, at, places_of(wave_row, wave_column), lane);
    store_tile<OUT>(y + pixel * static_cast<uint64_t>(filters) + filter, total, filters, pixels - pixel,
                    filters - filter, wave_row, wave_column);
}
KERNEL_EXPORT(conv_implicit)
