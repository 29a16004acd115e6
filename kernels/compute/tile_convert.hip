/* SPDX-License-Identifier: MIT
 *
 * Conversions of tile.h: the value of every code, that value as a code again, and the codes of numbers between two
 * codes. Each work-item has four consecutive ones.
 *
 * Defines: IN element type of tile.h.
 */
#include "portable.h"
#include "tile.h"

typedef IN::type code_t;
typedef simt_tile_vector<float, 4>::type numbers;
typedef simt_tile_vector<code_t, 4>::type codes;

/* Stands for infinities and NaN by numbers that no format here has. */
__device__ static inline double tame(float value)
{
    if (value != value)
        return 0x1p200;
    return value > 0x1.ffp127f ? 0x1p201 : value < -0x1.ffp127f ? -0x1p201 : static_cast<double>(value);
}

/* `out` has three parts of `count`: values, codes of these values (of a NaN: whether it stays one), codes of `from`. */
extern "C" __global__ __launch_bounds__(64) void tile_convert(
    double *__restrict out, const float *__restrict from, uint32_t count)
{
    const uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    numbers x = {};
#pragma unroll
    for (uint32_t e = 0; e < 4; ++e) {
        const float value = tile_decode<IN>(static_cast<code_t>(first + e));
        const code_t code = tile_encode<IN>(value);
        const float again = tile_decode<IN>(code);
        out[first + e] = tame(value);
        out[count + first + e] = value != value ? again != again : code;
        x[e] = from[first + e];
    }
    const codes found = tile_encode4<IN>(x);
#pragma unroll
    for (uint32_t e = 0; e < 4; ++e)
        out[2 * count + first + e] = found[e];
}
