/* SPDX-License-Identifier: MIT
 *
 * Matrix times vector, y = alpha * A * x + beta * y0: what matrix products become when one token is decoded. Each
 * element of A is used once, so memory is the limit, whatever the arithmetic does: 16 bytes per load, enough of them in
 * flight.
 *
 *   gemv              A is m x k, k innermost. LANES lanes (a wave) go along RUN rows at a time: a pack of x from a
 *                     cache serves RUN packs of A from memory. Shuffles add up at the end.
 *   gemv_transposed   A is k x m, m innermost. A lane has its own columns and adds them up in registers, row after row,
 *                     without shuffles. Instead the rows are shared between the BLOCK / LANES slices of a workgroup,
 *                     which meet in LDS, and between SPLIT workgroups, whose partial sums a second launch adds in a
 *                     fixed order.
 *
 * Weights of 8 bits have a scale per output. Sums are f32.
 *
 * Defines: IN the type of A, XY of x, y0 and y; WIDTH bytes of a pack of A; LANES; BLOCK; RUN rows, or packs of
 * columns, of a lane; SPLIT; SCALED 1: outputs have scales.
 */
#include "portable.h"
#include "tile.h"
#include "pack.h"

typedef IN::type weight;
typedef XY::type element;
static constexpr unsigned VEC = WIDTH / sizeof(weight), TEAMS = BLOCK / LANES;
static constexpr unsigned STRIDE = SPLIT * TEAMS;                             /* between the rows of A of a slice */
static constexpr unsigned PLENTY = 64 / VEC / RUN;                            /* for so many there are registers, */
static constexpr unsigned AT_ONCE = PLENTY > 8 ? 8 : PLENTY > 1 ? PLENTY : 1; /* and so many are in flight together */
typedef pack_floats<VEC> floats;

__device__ static inline void store_result(
    element *y, const element *y0, const float *scale, unsigned at, float sum, float alpha, float beta)
{
    float value = alpha * sum;
    if constexpr (SCALED)
        value *= scale[at];
    if (beta != 0.0f) /* else y0 is not read */
        value = fma(beta, static_cast<float>(tile_decode<XY>(y0[at])), value);
    y[at] = tile_encode<XY>(value);
}

extern "C" __global__ __launch_bounds__(BLOCK) void gemv(element *__restrict y, const weight *__restrict a,
    const element *__restrict x, const element *__restrict y0, const float *__restrict scale, uint32_t m, uint32_t k,
    float alpha, float beta)
{
    const unsigned thread = threadIdx.x, lane = thread % LANES;
    const unsigned first = (blockIdx.x * TEAMS + thread / LANES) * RUN;
    const weight *rows[RUN];
    floats sums[RUN];
#pragma unroll
    for (unsigned r = 0; r < RUN; ++r) { /* rows beyond the last one are the last one */
        rows[r] = a + (first + r < m ? first + r : m - 1) * static_cast<uint64_t>(k);
        sums[r] = 0.0f;
    }
    const unsigned whole = k / VEC * VEC;
#pragma unroll 2
    for (unsigned at = lane * VEC; at < whole; at += LANES * VEC) {
        const floats factor = pack_load<XY, VEC>(x + at);
#pragma unroll
        for (unsigned r = 0; r < RUN; ++r)
            sums[r] = fma(pack_load<IN, VEC>(rows[r] + at), factor, sums[r]);
    }
#pragma unroll
    for (unsigned r = 0; r < RUN; ++r) {
        float sum = pack_sum<VEC>(sums[r]);
        for (unsigned at = whole + lane; at < k; at += LANES)
            sum =
                fma(static_cast<float>(tile_decode<IN>(rows[r][at])), static_cast<float>(tile_decode<XY>(x[at])), sum);
#pragma unroll
        for (unsigned distance = 1; distance < LANES; distance *= 2)
            sum += __shfl_xor(sum, distance);
        if (lane == r % LANES && first + r < m)
            store_result(y, y0, scale, first + r, sum, alpha, beta);
    }
}

/* Adds `count` rows of A from `row` on, STRIDE apart: all loads first, then the sums. If the matrix ends inside the
 * workgroup's columns, `whole` is false, and elements beyond it are zeros. */
template <unsigned count, bool whole>
__device__ static inline void add_rows(
    floats (&sums)[RUN], const weight *a, const element *x, unsigned row, unsigned left, unsigned m)
{
    floats values[count][RUN];
    float factors[count];
#pragma unroll
    for (unsigned n = 0; n < count; ++n) {
        const weight *const from = a + (row + n * STRIDE) * static_cast<uint64_t>(m);
        factors[n] = static_cast<float>(tile_decode<XY>(x[row + n * STRIDE]));
#pragma unroll
        for (unsigned r = 0; r < RUN; ++r) {
            const unsigned column = left + r * LANES * VEC;
            if constexpr (whole) {
                values[n][r] = pack_load<IN, VEC>(from + column);
            } else {
#pragma unroll
                for (unsigned e = 0; e < VEC; ++e)
                    values[n][r][e] = column + e < m ? static_cast<float>(tile_decode<IN>(from[column + e])) : 0.0f;
            }
        }
    }
#pragma unroll
    for (unsigned n = 0; n < count; ++n) {
#pragma unroll
        for (unsigned r = 0; r < RUN; ++r)
            sums[r] = fma(values[n][r], floats(factors[n]), sums[r]);
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void gemv_transposed(element *__restrict y, float *__restrict partial,
    const weight *__restrict a, const element *__restrict x, const element *__restrict y0,
    const float *__restrict scale, uint32_t m, uint32_t k, float alpha, float beta)
{
    const unsigned thread = threadIdx.x, lane = thread % LANES, slice = thread / LANES;
    const unsigned left = (blockIdx.x * LANES * RUN + lane) * VEC; /* the lane's packs begin LANES * VEC apart */
    floats sums[RUN];
#pragma unroll
    for (unsigned r = 0; r < RUN; ++r)
        sums[r] = 0.0f;
    unsigned row = blockIdx.y * TEAMS + slice;
    if ((blockIdx.x + 1) * LANES * RUN * VEC <= m) {
        for (; row + (AT_ONCE - 1) * STRIDE < k; row += AT_ONCE * STRIDE)
            add_rows<AT_ONCE, true>(sums, a, x, row, left, m);
        for (; row < k; row += STRIDE)
            add_rows<1, true>(sums, a, x, row, left, m);
    } else {
        for (; row < k; row += STRIDE)
            add_rows<1, false>(sums, a, x, row, left, m);
    }
    __shared__ float parts[TEAMS][RUN][LANES][VEC];
    if constexpr (TEAMS > 1) {
#pragma unroll
        for (unsigned r = 0; r < RUN; ++r) {
#pragma unroll
            for (unsigned e = 0; e < VEC; ++e)
                parts[slice][r][lane][e] = sums[r][e];
        }
        __syncthreads();
        if (slice > 0)
            return;
    }
#pragma unroll
    for (unsigned r = 0; r < RUN; ++r) {
#pragma unroll 1
        for (unsigned other = 1; other < TEAMS; ++other) {
#pragma unroll
            for (unsigned e = 0; e < VEC; ++e)
                sums[r][e] += parts[other][r][lane][e];
        }
#pragma unroll
        for (unsigned e = 0; e < VEC; ++e) {
            const unsigned at = left + r * LANES * VEC + e;
            if (at < m && SPLIT > 1)
                partial[blockIdx.y * static_cast<uint64_t>(m) + at] = sums[r][e];
            else if (at < m)
                store_result(y, y0, scale, at, sums[r][e], alpha, beta);
        }
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void gemv_finish(element *__restrict y, const float *__restrict partial,
    const element *__restrict y0, const float *__restrict scale, uint32_t m, float alpha, float beta)
{
    const unsigned at = blockIdx.x * BLOCK + threadIdx.x;
    if (at >= m)
        return;
    float sum = 0.0f;
#pragma unroll
    for (unsigned part = 0; part < SPLIT; ++part)
        sum += partial[part * static_cast<uint64_t>(m) + at];
    store_result(y, y0, scale, at, sum, alpha, beta);
}
