/* SPDX-License-Identifier: MIT
 *
 * Elements of silu_mul and rope in f64.
 */
#include "portable.h"
#include "reference_types.h"
#include "reference_exp.h"

typedef reference_element<DTYPE> element;

extern "C" __global__ void silu_reference(
    double *result, const uint64_t *index, const element *x, uint32_t columns, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t row = index[sample] / columns, column = index[sample] % columns;
    const double gate = reference_number<DTYPE>(x[row * 2 * columns + column]);
    const double up = reference_number<DTYPE>(x[row * 2 * columns + columns + column]);
    const double power = exp_exact(gate < 0 ? gate : -gate);
    result[sample] = gate * (gate < 0 ? power : 1) / (1 + power) * up;
}

/* Rotation of the pair (x, y) by the angle of its number and position: (x cos - y sin, x sin + y cos). */
extern "C" __global__ void rope_reference(double *result, const uint64_t *index, const element *x,
    const int32_t *positions, const float *table, uint32_t heads, uint32_t dim, uint32_t interleaved, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t head = index[sample] / dim * dim;
    const uint32_t d = static_cast<uint32_t>(index[sample] % dim);
    const uint32_t pair = interleaved ? d / 2 : d % (dim / 2), second = interleaved ? d % 2 : d / (dim / 2);
    const float *const angles = table + static_cast<uint64_t>(positions[index[sample] / dim / heads]) * dim;
    const double left = reference_number<DTYPE>(x[head + (interleaved ? 2 * pair : pair)]);
    const double right = reference_number<DTYPE>(x[head + (interleaved ? 2 * pair + 1 : pair + dim / 2)]);
    const double c = static_cast<double>(angles[pair]), s = static_cast<double>(angles[dim / 2 + pair]);
    result[sample] = second ? left * s + right * c : left * c - right * s;
}
