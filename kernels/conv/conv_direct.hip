/* SPDX-License-Identifier: MIT
 *
 * Convolution, NHWC, as it is defined, on vector units: the step before matrix cores. A lane makes PIXELS x FILTERS
 * outputs. For each tap and each pack of WIDTH channels it loads a pack per pixel and a pack per filter and multiplies
 * all pairs. Each sum is a pack (whose elements all belong to one output) and is added up at the end. Nothing goes
 * through LDS: the lanes of a workgroup, LX filters wide and LY pixels high, share packs through the cache.
 *
 * Pixels and filters beyond the edge read the last one and are not stored. Packs of taps outside of x are zeros.
 *
 * Defines: IN, OUT types of tile.h; R S taps; WIDTH channels in a pack; PIXELS, FILTERS of a lane; LX, LY lanes.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"
#include "conv_shape.h"

static constexpr unsigned LANES = LX * LY;
typedef IN::type element;
typedef pack_floats<WIDTH> pack;

/* `from` is the same in all lanes, the byte offset the lane's own, and the instruction adds the two. Opaque each time,
 * or the compiler would widen the offset to 64 bits ahead of the loop, where it no longer fits the instruction. */
template <unsigned width> __device__ static pack_floats<width> load_at(const element *from, uint32_t &offset)
{
    offset = opaque(offset);
    return pack_load<IN, width>(reinterpret_cast<const element *>(reinterpret_cast<const char *>(from) + offset));
}

/* Where a lane's pixels and filters are at one tap. Pixels that are not inside x read anything and count as zeros. */
struct byte_offsets {
    uint32_t pixels[PIXELS], filters[FILTERS];
    bool inside[PIXELS];
};

/* Adds the products of `width` channels, from those that x and w point to. */
template <unsigned width>
__device__ static void add_products(pack (&sums)[PIXELS][FILTERS], const element *x, const element *w, byte_offsets &at)
{
    pack_floats<width> left[PIXELS], right[FILTERS];
#pragma unroll
    for (unsigned i = 0; i < PIXELS; ++i) {
        const pack_floats<width> loaded = load_at<width>(x, at.pixels[i]);
        left[i] = at.inside[i] ? loaded : pack_floats<width>(0.0f);
    }
#pragma unroll
    for (unsigned j = 0; j < FILTERS; ++j)
        right[j] = load_at<width>(w, at.filters[j]);
#pragma unroll
    for (unsigned i = 0; i < PIXELS; ++i) {
#pragma unroll
        for (unsigned j = 0; j < FILTERS; ++j) {
            if constexpr (width == WIDTH)
                sums[i][j] = fma(left[i], right[j], sums[i][j]);
            else
                sums[i][j][0] = fma(left[i][0], right[j][0], sums[i][j][0]);
        }
    }
}

extern "C" __global__ __launch_bounds__(LANES) void conv_direct(OUT::type *__restrict y, const element *__restrict x,
    const element *__restrict w, uint32_t height, uint32_t width, uint32_t channels, uint32_t out_height,
    uint32_t out_width, uint32_t filters, uint32_t stride, uint32_t pad, uint32_t pixels)
{
    const conv_shape shape = {height, width, channels, out_height, out_width, filters, stride, pad, pixels};
    const uint32_t pixel = blockIdx.y * (LY * PIXELS) + threadIdx.y, filter = blockIdx.x * (LX * FILTERS) + threadIdx.x;
    const uint32_t taps = R * S, whole = channels / WIDTH * WIDTH;
    /* A lane's pixels are LY apart and its filters LX: adjacent lanes have adjacent ones. */
    conv_corner corners[PIXELS];
    byte_offsets at;
#pragma unroll
    for (unsigned i = 0; i < PIXELS; ++i)
        corners[i] = conv_corner_of(shape, pixel + i * LY < pixels ? pixel + i * LY : pixels - 1);
#pragma unroll
    for (unsigned j = 0; j < FILTERS; ++j)
        at.filters[j] =
            (filter + j * LX < filters ? filter + j * LX : filters - 1) * (taps * channels) * sizeof(element);
    pack sums[PIXELS][FILTERS] = {};
#pragma unroll 1
    for (uint32_t tap = 0; tap < taps; ++tap) {
        const uint32_t r = tap / S, s = tap % S;
#pragma unroll
        for (unsigned i = 0; i < PIXELS; ++i) {
            const conv_corner corner = corners[i];
            const uint32_t row = static_cast<uint32_t>(corner.row) + r,
                           column = static_cast<uint32_t>(corner.column) + s;
            at.inside[i] = conv_is_inside(shape, corner, r, s);
            at.pixels[i] =
                at.inside[i] ? ((corner.image * height + row) * width + column) * channels * sizeof(element) : 0;
        }
        const element *const weights = w + tap * channels;
        for (uint32_t c = 0; c < whole; c += WIDTH)
            add_products<WIDTH>(sums, x + c, weights + c, at);
        for (uint32_t c = whole; c < channels; ++c)
            add_products<1>(sums, x + c, weights + c, at);
    }
#pragma unroll
    for (unsigned i = 0; i < PIXELS; ++i) {
#pragma unroll
        for (unsigned j = 0; j < FILTERS; ++j)
            if (pixel + i * LY < pixels && filter + j * LX < filters)
                y[(pixel + i * LY) * static_cast<uint64_t>(filters) + filter + j * LX] =
                    tile_encode<OUT>(pack_sum<WIDTH>(sums[i][j]));
    }
}
