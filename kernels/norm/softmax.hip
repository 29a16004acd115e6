/* SPDX-License-Identifier: MIT
 *
 * Softmax of every row, held in registers: the largest value, exponentials relative to it, their sum, and the quotient,
 * with memory read once. Short rows take part of a wave (LANES 8: 8 rows to a wave of 64), which costs only shuffles;
 * long ones take a workgroup. Rows too long for all registers are softmax_row's. With HOLD 0 the row is read three
 * times, from a cache.
 *
 * An element of -inf has weight 0. A row of nothing else, all of it masked, becomes zeros, as attention needs it.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"
#include "row.h"

static constexpr float LOG2_E = 1.44269504088896341f;
/* The maximum of nothing, and of masks: the lowest finite number, because with -inf there would be inf - inf. */
static constexpr float LOWEST = -3.402823466e38f;

/* e^(x - top). Subtracting first keeps the digits where top is large. */
__device__ static inline floats exp_below(floats x, float top)
{
    const floats power = (x - top) * LOG2_E;
    floats values = {};
#pragma unroll
    for (unsigned e = 0; e < VEC; ++e)
        values[e] = fast_exp2(power[e]);
    return values;
}

__device__ static inline float exp_below(float x, float top)
{
    return fast_exp2((x - top) * LOG2_E);
}

/* The largest element of the row, known to all its lanes. */
__device__ inline float row_top(const row &own)
{
    floats tops = LOWEST;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(own); ++step)
        if (row_has(own, step))
            tops = pack_larger(tops, row_pack(own, step));
    float top = tops[0];
#pragma unroll
    for (unsigned e = 1; e < VEC; ++e)
        top = pack_larger(top, static_cast<float>(tops[e]));
    for (unsigned at = row_tail(own); at < own.columns; at += LANES)
        top = pack_larger(top, static_cast<float>(tile_decode<IN>(own.from[at])));
    return row_max<0>(top);
}

extern "C" __global__ __launch_bounds__(BLOCK) void softmax(
    element *__restrict y, const element *__restrict x, uint32_t rows, uint32_t columns)
{
    row own = row_open(x, rows, columns);
    row_load(own);
    const float top = row_top(own);

    floats sums = 0.0f;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(own); ++step) {
        if (row_has(own, step)) {
            const floats power = exp_below(row_pack(own, step), top);
            if constexpr (HOLD != 0)
                own.held[step] = power;
            sums += power;
        }
    }
    float sum = pack_sum<VEC>(sums);
    for (unsigned at = row_tail(own); at < columns; at += LANES)
        sum += exp_below(tile_decode<IN>(own.from[at]), top);
    sum = row_sum<1>(sum);

    const float scale = sum > 0.0f ? 1.0f / sum : 0.0f;
    element *const to = y + own.begin;
    if (!own.exists)
        return;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(own); ++step) {
        if (row_has(own, step)) {
            const floats power = HOLD ? row_pack(own, step) : exp_below(row_pack(own, step), top);
            pack_store<IN, VEC>(to + row_at(own, step), power * scale);
        }
    }
    for (unsigned at = row_tail(own); at < columns; at += LANES)
        to[at] = tile_encode<IN>(exp_below(tile_decode<IN>(own.from[at]), top) * scale);
}
