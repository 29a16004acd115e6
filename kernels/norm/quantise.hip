/* SPDX-License-Identifier: MIT
 *
 * Quantises every row to 8 bits with its own scale (dynamic, per token; with rows of 128 elements, per group of a
 * token). One pass over memory.
 *
 * Defines: those of row.h and quantise_row.h.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"
#include "row.h"
#include "quantise_row.h"

extern "C" __global__ __launch_bounds__(BLOCK) void quantise(OUT::type *__restrict q, float *__restrict scale,
    const element *__restrict x, uint32_t rows, uint32_t columns, float limit)
{
    row own = row_open(x, rows, columns);
    row_load(own);
    row_quantise(
        q, scale, own, limit, [&](unsigned step) { return row_pack(own, step); },
        [&](unsigned at) { return tile_decode<IN>(own.from[at]); });
}
