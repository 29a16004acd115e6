/* SPDX-License-Identifier: MIT
 *
 * The gate of SwiGLU: y = gate / (1 + e^-gate) * up. Gate and up are adjacent in each row of x, as the matrix product
 * that computes both at once leaves them: columns of gate, then columns of up.
 *
 * Defines: IN; WIDTH bytes of a pack; BLOCK. blockIdx.y is the row; the workgroups of a row share its packs.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"
#include "silu.h"

typedef IN::type element;
static constexpr unsigned VEC = WIDTH / sizeof(element);
typedef pack_floats<VEC> floats;

extern "C" __global__ __launch_bounds__(BLOCK) void silu_mul(
    element *__restrict y, const element *__restrict x, uint32_t columns)
{
    const element *const gate = x + blockIdx.y * 2 * static_cast<uint64_t>(columns), *const up = gate + columns;
    element *const to = y + blockIdx.y * static_cast<uint64_t>(columns);
    const unsigned lane = blockIdx.x * BLOCK + threadIdx.x, lanes = gridDim.x * BLOCK;
    const unsigned packs = columns / VEC;
#pragma unroll 2
    for (unsigned pack = lane; pack < packs; pack += lanes) {
        const floats value = pack_silu<VEC>(pack_load<IN, VEC>(gate + pack * VEC));
        pack_store<IN, VEC>(to + pack * VEC, value * pack_load<IN, VEC>(up + pack * VEC));
    }
    for (unsigned at = packs * VEC + lane; at < columns; at += lanes)
        to[at] = tile_encode<IN>(silu(tile_decode<IN>(gate[at])) * tile_decode<IN>(up[at]));
}
