/* SPDX-License-Identifier: MIT
 *
 * Elements of C = A * B in f64, row-major, each as the dot product that defines it.
 */
#include "portable.h"

KERNEL void gemm_oracle(double *result, const uint64_t *index, const float *a, const float *b, uint32_t n, uint32_t k,
                        uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t row = index[sample] / n, column = index[sample] % n;
    double sum = 0;
    for (uint64_t q = 0; q < k; ++q)
        sum += static_cast<double>(a[row * k + q]) * b[q * n + column];
    result[sample] = sum;
}
KERNEL_EXPORT(gemm_oracle)
