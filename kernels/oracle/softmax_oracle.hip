/* SPDX-License-Identifier: MIT
 *
 * Elements of a row-wise softmax in f64, each from its whole row: largest value, sum, quotient.
 */
#include "portable.h"

/* e^x for x <= 0: x = n * ln 2 + r with |r| <= 0.35, the Taylor series of e^r to the 17th power (below 1e-22), times
 * 2^n. Kernels have no mathematical library. */
__device__ static inline double exp_exact(double x)
{
    if (x < -700.0)
        return 0.0;
    const double shifted = x * 1.4426950408889634 + 0x1.8p52, n = shifted - 0x1.8p52;
    const double r = x - n * 0x1.62e42fefa39efp-1 - n * 0x1.abc9e3b39803fp-56;
    double power = 1.0;
    for (int k = 17; k > 0; --k)
        power = 1.0 + power * r / k;
    return power * __builtin_bit_cast(double, static_cast<int64_t>(static_cast<int>(n) + 1023) << 52);
}

KERNEL void softmax_oracle(double *result, const uint64_t *index, const float *x, uint32_t columns, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const float *const row = x + index[sample] / columns * columns;
    double top = row[0], sum = 0;
    for (uint32_t c = 1; c < columns; ++c)
        top = row[c] > top ? row[c] : top;
    for (uint32_t c = 0; c < columns; ++c)
        sum += exp_exact(row[c] - top);
    result[sample] = exp_exact(x[index[sample]] - top) / sum;
}
KERNEL_EXPORT(softmax_oracle)
