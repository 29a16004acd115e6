/* SPDX-License-Identifier: MIT
 *
 * Normalisations of every row of a matrix; row.h has the rows, README.md what is counted.
 *
 *   layernorm    y = (x - mean) / sqrt(variance + epsilon) * gain + bias
 *   rmsnorm      y = x / sqrt(mean of x^2 + epsilon) * gain
 *   add_rmsnorm  total = x + residual, rounded to its type, then y = rmsnorm of total: what stands between two blocks
 *                of a transformer. Fused it accesses each of the four arrays once; unfused, total is read once more
 *
 * Sums are f32. Squares overflow where elements reach 2^64 / sqrt(columns), as in every implementation in f32.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"
#include "row.h"

typedef pack_any<float, 2>::type floats_2;

/* y[at ...] = (x - center - rest) * scale * gain + bias for the lane's part of the row. */
template <bool with_bias>
__device__ static void store_scaled(element *__restrict y, const row &x, float center, float rest, float scale,
    const element *__restrict gain, const element *__restrict bias)
{
    element *const to = y + x.begin;
    if (!x.exists)
        return;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(x); ++step) {
        if (!row_has(x, step))
            continue;
        const unsigned at = row_at(x, step);
        floats value = row_pack(x, step);
        if constexpr (with_bias)
            value = fma((value - center - rest) * scale, pack_load<IN, VEC>(gain + at), pack_load<IN, VEC>(bias + at));
        else
            value = value * scale * pack_load<IN, VEC>(gain + at);
        pack_store<IN, VEC>(to + at, value);
    }
    for (unsigned at = row_tail(x); at < x.columns; at += LANES) {
        float value = tile_decode<IN>(x.from[at]);
        if constexpr (with_bias)
            value = fma((value - center - rest) * scale, tile_decode<IN>(gain[at]), tile_decode<IN>(bias[at]));
        else
            value = value * scale * tile_decode<IN>(gain[at]);
        to[at] = tile_encode<IN>(value);
    }
}

/* Two passes over the row. Rounding makes the mean wrong by up to |mean| * 2^-24, which matters where the mean is large
 * and the spread small. The mean of the differences from it, `rest`, is that error. */
extern "C" __global__ __launch_bounds__(BLOCK) void layernorm(element *__restrict y, const element *__restrict x,
    const element *__restrict gain, const element *__restrict bias, uint32_t rows, uint32_t columns, float epsilon)
{
    row own = row_open(x, rows, columns);
    row_load(own);
    floats sums = 0.0f;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(own); ++step)
        if (row_has(own, step))
            sums += row_pack(own, step);
    float sum = pack_sum<VEC>(sums);
    for (unsigned at = row_tail(own); at < columns; at += LANES)
        sum += tile_decode<IN>(own.from[at]);
    const float share = 1.0f / static_cast<float>(columns);
    const float mean = row_sum<0>(sum) * share;

    floats rests = 0.0f, squares = 0.0f;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(own); ++step) {
        if (row_has(own, step)) {
            const floats difference = row_pack(own, step) - mean;
            rests += difference;
            squares = fma(difference, difference, squares);
        }
    }
    floats_2 both = {pack_sum<VEC>(rests), pack_sum<VEC>(squares)};
    for (unsigned at = row_tail(own); at < columns; at += LANES) {
        const float difference = tile_decode<IN>(own.from[at]) - mean;
        both += floats_2{difference, difference * difference};
    }
    both = row_sum<1>(both) * share;
    const float rest = both[0], variance = both[1] - rest * rest;
    const float scale = fast_rsqrt((variance > 0.0f ? variance : 0.0f) + epsilon);
    store_scaled<true>(y, own, mean, rest, scale, gain, bias);
}

extern "C" __global__ __launch_bounds__(BLOCK) void rmsnorm(element *__restrict y, const element *__restrict x,
    const element *__restrict gain, uint32_t rows, uint32_t columns, float epsilon)
{
    row own = row_open(x, rows, columns);
    row_load(own);
    float sum = pack_sum<VEC>(row_squares(own));
    for (unsigned at = row_tail(own); at < columns; at += LANES) {
        const float value = tile_decode<IN>(own.from[at]);
        sum = fma(value, value, sum);
    }
    const float scale = fast_rsqrt(row_sum<2>(sum) / static_cast<float>(columns) + epsilon);
    store_scaled<false>(y, own, 0, 0, scale, gain, gain);
}

extern "C" __global__ __launch_bounds__(BLOCK) void add_rmsnorm(element *__restrict y, element *__restrict total,
    const element *__restrict x, const element *__restrict residual, const element *__restrict gain, uint32_t rows,
    uint32_t columns, float epsilon)
{
    row own = row_open(total, rows, columns);
    const float sum = row_add(own, total + own.begin, x + own.begin, residual + own.begin);
    const float scale = fast_rsqrt(row_sum<3>(sum) / static_cast<float>(columns) + epsilon);
    store_scaled<false>(y, own, 0, 0, scale, gain, gain);
}
