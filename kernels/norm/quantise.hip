/* SPDX-License-Identifier: MIT
 *
 * Every row to 8 bits with its own scale (dynamic, per token): scale = largest magnitude / limit, q = x / scale rounded
 * to the nearest code, ties to even. One pass over memory. The largest magnitude becomes the type's largest number
 * exactly: nothing saturates. Rows whose magnitudes stay below 1e-33 count as zeros, with scale and q 0, because 1 /
 * scale would overflow.
 *
 * Defines: those of row.h; OUT the type of q.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"
#include "row.h"

__device__ static inline floats magnitudes(floats value)
{
    return pack_larger(value, -value);
}

extern "C" __global__ __launch_bounds__(BLOCK) void quantise(OUT::type *__restrict q, float *__restrict scale,
    const element *__restrict x, uint32_t rows, uint32_t columns, float limit)
{
    row own = row_open(x, rows, columns);
    row_load(own);
    floats tops = 0.0f;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(own); ++step)
        if (row_has(own, step))
            tops = pack_larger(tops, magnitudes(row_pack(own, step)));
    float top = 0.0f;
#pragma unroll
    for (unsigned e = 0; e < VEC; ++e)
        top = pack_larger(top, static_cast<float>(tops[e]));
    for (unsigned at = row_tail(own); at < columns; at += LANES)
        top = pack_larger(top, __builtin_fabsf(tile_decode<IN>(own.from[at])));
    top = row_max<0>(top);

    const bool zero = top < 1.0e-33f;
    const float rate = zero ? 0.0f : limit / top;
    OUT::type *const to = q + own.begin;
    if (!own.exists)
        return;
    if (own.lane == 0)
        scale[own.number] = zero ? 0.0f : top / limit;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(own); ++step)
        if (row_has(own, step))
            pack_store<OUT, VEC>(to + row_at(own, step), row_pack(own, step) * rate);
    for (unsigned at = row_tail(own); at < columns; at += LANES)
        to[at] = tile_encode<OUT>(tile_decode<IN>(own.from[at]) * rate);
}
