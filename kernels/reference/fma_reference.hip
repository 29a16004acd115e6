/* SPDX-License-Identifier: MIT
 *
 * What fma_peak's pairs add up to. One step (u, v) -> (u + a * v, v - a * (u + a * v)) of an oscillator, and one step
 * x -> a - a * x of a chain (x and 1 are its vector), are the matrices
 *     | 1    a      |      | -a   a |
 *     | -a   1 - a² |      |  0   1 |
 * and `iterations` steps are its power, by repeated squaring, which shares nothing with the kernel. Every round gives
 * the same sum; the total halves the one before and adds it.
 */
#include "portable.h"

struct matrix {
    double p, q, r, s; /* | p q ; r s | */
};

__device__ static inline matrix product(matrix x, matrix y)
{
    return {x.p * y.p + x.q * y.r, x.p * y.q + x.q * y.s, x.r * y.p + x.s * y.r, x.r * y.q + x.s * y.s};
}

extern "C" __global__ void fma_reference(double *result, const uint64_t *index, const T *start, const T *rate,
    uint32_t iterations, uint32_t rounds, uint32_t pairs, uint32_t starts, uint32_t coupled, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const double a = rate[0];
    matrix power = {1, 0, 0, 1}, square = {1, a, -a, 1 - a * a};
    if (!coupled)
        square = {-a, a, 0, 1};
    for (uint32_t left = iterations; left > 0; left /= 2) {
        if (left % 2)
            power = product(power, square);
        square = product(square, square);
    }
    double sum = 0;
    for (uint32_t k = 0; k < pairs; ++k) {
        const double u = start[index[sample] % starts], v = static_cast<double>(k) / pairs;
        sum += coupled ? (power.p + power.r) * u + (power.q + power.s) * v : power.p * (u + v) + 2 * power.q;
    }
    double total = 0;
    for (uint32_t round = 0; round < rounds; ++round)
        total = total / 2 + sum;
    result[sample] = total;
}
