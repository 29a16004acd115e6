/* SPDX-License-Identifier: MIT
 *
 * Elements of a row-wise softmax in f64, each from its whole row: largest value, sum, quotient. A row of nothing but
 * -inf is zeros.
 */
#include "portable.h"
#include "reference_types.h"
#include "reference_exp.h"

typedef reference_element<DTYPE> element;

extern "C" __global__ void softmax_reference(
    double *result, const uint64_t *index, const element *x, uint32_t columns, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const element *const row = x + index[sample] / columns * columns;
    double top = -__builtin_inf(), sum = 0;
    for (uint32_t c = 0; c < columns; ++c) {
        const double value = reference_number<DTYPE>(row[c]);
        top = value > top ? value : top;
    }
    for (uint32_t c = 0; c < columns; ++c)
        sum += exp_exact(reference_number<DTYPE>(row[c]) - top);
    const double own = exp_exact(reference_number<DTYPE>(x[index[sample]]) - top);
    result[sample] = top == -__builtin_inf() ? 0 : own / sum;
}
