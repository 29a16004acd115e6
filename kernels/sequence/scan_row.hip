/* SPDX-License-Identifier: MIT
 *
 * The inclusive prefix sum of every row, in f32: y[c] = x[0] + ... + x[c], as in the cumulative probabilities that are
 * sampled from. A workgroup has a row and goes over it in steps of BLOCK packs: each lane sums up its pack, lanes scan
 * these sums within the wave, waves by LDS, and what the row came to so far is added.
 *
 * Defines: IN; WIDTH bytes of a pack of IN; BLOCK. The LDS of one step is not the one of the next, so that one barrier
 * a step is enough.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"

typedef IN::type element;
static constexpr unsigned VEC = WIDTH / sizeof(element);
typedef pack_floats<VEC> floats;

extern "C" __global__ __launch_bounds__(BLOCK) void scan_row(
    float *__restrict y, const element *__restrict x, uint32_t columns)
{
    __shared__ float waves[2][(BLOCK + wave_size() - 1) / wave_size()];
    const uint64_t row = static_cast<uint64_t>(blockIdx.x) * columns;
    float before = 0.0f; /* the row's sum of all steps so far */
    unsigned turn = 0;
    for (unsigned from = 0; from < columns; from += BLOCK * VEC, turn ^= 1) {
        const unsigned at = from + threadIdx.x * VEC;
        floats values = 0.0f;
        if (at + VEC <= columns) {
            values = pack_load<IN, VEC>(x + row + at);
        } else {
#pragma unroll
            for (unsigned e = 0; e < VEC; ++e)
                values[e] = at + e < columns ? tile_decode<IN>(x[row + at + e]) : 0.0f;
        }
#pragma unroll
        for (unsigned e = 1; e < VEC; ++e)
            values[e] += values[e - 1];
        float start = before;
        if constexpr (BLOCK == 1) {
            before += values[VEC - 1];
        } else {
            const float sum = wave_prefix_add(values[VEC - 1]);
            start += sum - values[VEC - 1];
            if (lane_id() == wave_size() - 1)
                waves[turn][wave_id()] = sum;
            lds_barrier();
#pragma unroll
            for (unsigned w = 0; w < BLOCK / wave_size(); ++w) {
                start += w < wave_id() ? waves[turn][w] : 0.0f;
                before += waves[turn][w];
            }
        }
        values += start;
        if (at + VEC <= columns) {
            store_unaligned<float, VEC>(values, y + row + at);
        } else {
#pragma unroll
            for (unsigned e = 0; e < VEC; ++e)
                if (at + e < columns)
                    y[row + at + e] = values[e];
        }
    }
}
