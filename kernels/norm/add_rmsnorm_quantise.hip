/* SPDX-License-Identifier: MIT
 *
 * total = x + residual, rounded to its type, rmsnorm of it, and that to 8 bits with a scale for each row: all that
 * stands between two matrix products of 8-bit floats. The norm is not rounded before it becomes 8 bits.
 *
 * Defines: those of row.h and quantise_row.h.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"
#include "row.h"
#include "quantise_row.h"

extern "C" __global__ __launch_bounds__(BLOCK) void add_rmsnorm_quantise(OUT::type *__restrict q,
    float *__restrict scale, element *__restrict total, const element *__restrict x, const element *__restrict residual,
    const element *__restrict gain, uint32_t rows, uint32_t columns, float epsilon, float limit)
{
    row own = row_open(total, rows, columns);
    const float sum = row_add(own, total + own.begin, x + own.begin, residual + own.begin);
    const float rate = fast_rsqrt(row_sum<3>(sum) / static_cast<float>(columns) + epsilon);
    if constexpr (HOLD != 0) {
#pragma unroll
        for (unsigned step = 0; step < HOLD; ++step)
            if (row_has(own, step))
                own.held[step] = own.held[step] * rate * pack_load<IN, VEC>(gain + row_at(own, step));
    }
    row_quantise(
        q, scale, own, limit,
        [&](unsigned step) {
            if constexpr (HOLD != 0)
                return own.held[step];
            else
                return row_pack(own, step) * rate * pack_load<IN, VEC>(gain + row_at(own, step));
        },
        [&](unsigned at) { return tile_decode<IN>(own.from[at]) * rate * tile_decode<IN>(gain[at]); });
}
