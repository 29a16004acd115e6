/* SPDX-License-Identifier: MIT
 *
 * The gate of SwiGLU, quantised to 8 bits with a scale for each group of a token, as a matrix product of 8-bit floats
 * with scales of 1 x 128 takes it next. A row of row.h is a group here. A token of x has its columns of gate, then its
 * columns of up, as in silu_mul.
 *
 * Defines: those of row.h and quantise_row.h.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"
#include "row.h"
#include "quantise_row.h"
#include "silu.h"

/* A token has `per_token` groups of `group` elements; `groups`: of all tokens. */
extern "C" __global__ __launch_bounds__(BLOCK) void silu_mul_quantise(OUT::type *__restrict q, float *__restrict scale,
    const element *__restrict x, uint32_t groups, uint32_t group, uint32_t per_token, float limit)
{
    row own = row_open(x, groups, group);
    const uint64_t columns = static_cast<uint64_t>(group) * per_token;
    own.from += own.number / per_token * columns; /* before this token as many columns of up as of gate */
    const element *const up = own.from + columns;
    const auto product = [&](unsigned step) {
        const unsigned at = row_at(own, step);
        return pack_silu<VEC>(pack_load<IN, VEC>(own.from + at)) * pack_load<IN, VEC>(up + at);
    };
    if constexpr (HOLD != 0) {
#pragma unroll
        for (unsigned step = 0; step < HOLD; ++step)
            if (row_has(own, step))
                own.held[step] = product(step);
    }
    row_quantise(
        q, scale, own, limit,
        [&](unsigned step) {
            if constexpr (HOLD != 0)
                return own.held[step];
            else
                return product(step);
        },
        [&](unsigned at) { return silu(tile_decode<IN>(own.from[at])) * tile_decode<IN>(up[at]); });
}
