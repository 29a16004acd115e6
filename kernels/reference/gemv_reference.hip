/* SPDX-License-Identifier: MIT
 *
 * Elements of y = alpha * scale * (A * x) + beta * y0 in f64. A is m x k, or k x m if ta is set; if `scaled` is set,
 * outputs have scales.
 */
#include "portable.h"
#include "reference_types.h"

typedef reference_element<DTYPE> weight;
typedef reference_element<VECTOR> element;

extern "C" __global__ void gemv_reference(double *result, const uint64_t *index, const weight *a, const element *x,
    const element *y0, const float *scale, uint32_t m, uint32_t k, uint32_t ta, uint32_t scaled, double alpha,
    double beta, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t row = index[sample];
    double sum = 0;
    for (uint64_t q = 0; q < k; ++q)
        sum += reference_number<DTYPE>(a[ta ? q * m + row : row * k + q]) * reference_number<VECTOR>(x[q]);
    sum *= alpha;
    if (scaled)
        sum *= static_cast<double>(scale[row]);
    if (beta != 0)
        sum += beta * reference_number<VECTOR>(y0[row]);
    result[sample] = sum;
}
