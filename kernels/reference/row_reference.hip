/* SPDX-License-Identifier: MIT
 *
 * Elements of normalised rows, in f64, each from its whole row by the definition: layernorm, rmsnorm, rmsnorm of a sum,
 * and the numbers that quantise, silu_mul_quantise and add_rmsnorm_quantise round, or the scales of the last.
 */
#include "portable.h"
#include "reference_types.h"
#include "reference_exp.h"

typedef reference_element<DTYPE> element;

/* Newton's method from above; kernels have no math library. */
__device__ static double root(double x)
{
    if (x <= 0)
        return 0;
    double guess = x > 1 ? x : 1;
    for (double next = (guess + x / guess) / 2; next < guess; next = (guess + x / guess) / 2)
        guess = next;
    return guess;
}

__device__ static double number(const element *x, uint64_t at)
{
    return reference_number<DTYPE>(x[at]);
}

/* Which element of which row this work-item computes. */
struct position {
    uint64_t at, row; /* in the matrix: the element, and the first of its row */
    bool is;
};

__device__ position here(const uint64_t *index, uint32_t columns, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return {0, 0, false};
    return {index[sample], index[sample] / columns * columns, true};
}

extern "C" __global__ void layernorm_reference(double *result, const uint64_t *index, const element *x,
    const element *gain, const element *bias, uint32_t columns, double epsilon, uint32_t samples)
{
    const position own = here(index, columns, samples);
    if (!own.is)
        return;
    double sum = 0, squares = 0;
    for (uint32_t c = 0; c < columns; ++c)
        sum += number(x, own.row + c);
    const double mean = sum / columns;
    for (uint32_t c = 0; c < columns; ++c)
        squares += (number(x, own.row + c) - mean) * (number(x, own.row + c) - mean);
    const double scaled = (number(x, own.at) - mean) / root(squares / columns + epsilon);
    result[blockIdx.x * blockDim.x + threadIdx.x] =
        scaled * number(gain, own.at - own.row) + number(bias, own.at - own.row);
}

extern "C" __global__ void rmsnorm_reference(double *result, const uint64_t *index, const element *x,
    const element *residual, const element *gain, uint32_t columns, double weight, double epsilon, uint32_t samples)
{
    const position own = here(index, columns, samples);
    if (!own.is)
        return;
    double squares = 0;
    for (uint32_t c = 0; c < columns; ++c) {
        const double value = number(x, own.row + c) + weight * number(residual, own.row + c);
        squares += value * value;
    }
    const double value = number(x, own.at) + weight * number(residual, own.at);
    result[blockIdx.x * blockDim.x + threadIdx.x] =
        value / root(squares / columns + epsilon) * number(gain, own.at - own.row);
}

extern "C" __global__ void quantise_reference(
    double *result, const uint64_t *index, const element *x, uint32_t columns, double limit, uint32_t samples)
{
    const position own = here(index, columns, samples);
    if (!own.is)
        return;
    double top = 0;
    for (uint32_t c = 0; c < columns; ++c) {
        const double value = number(x, own.row + c), magnitude = value < 0 ? -value : value;
        top = magnitude > top ? magnitude : top;
    }
    result[blockIdx.x * blockDim.x + threadIdx.x] = top == 0 ? 0 : number(x, own.at) * limit / top;
}

__device__ static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

/* `scales`: index and result are of the rows' scales. */
extern "C" __global__ void add_rmsnorm_quantise_reference(double *result, const uint64_t *index, const element *x,
    const element *residual, const element *gain, uint32_t columns, double epsilon, double limit, uint32_t scales,
    uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t at = scales ? index[sample] * columns : index[sample], row = at / columns * columns;
    double squares = 0, top = 0;
    for (uint32_t c = 0; c < columns; ++c) {
        const double sum = number(x, row + c) + number(residual, row + c), scaled = magnitude(sum * number(gain, c));
        squares += sum * sum;
        top = scaled > top ? scaled : top;
    }
    const double value = (number(x, at) + number(residual, at)) * number(gain, at - row);
    result[sample] = scales ? top / root(squares / columns + epsilon) / limit : top == 0 ? 0 : value * limit / top;
}

/* silu(gate) * up of the element `at` of the product, whose rows are half as long as those of x. */
__device__ static double gated(const element *x, uint64_t at, uint32_t columns)
{
    const uint64_t from = at / columns * columns + at;
    const double gate = number(x, from), power = exp_exact(-magnitude(gate));
    return gate * (gate < 0 ? power : 1) / (1 + power) * number(x, from + columns);
}

extern "C" __global__ void silu_mul_quantise_reference(double *result, const uint64_t *index, const element *x,
    uint32_t columns, uint32_t group, double limit, uint32_t samples)
{
    const position own = here(index, group, samples);
    if (!own.is)
        return;
    double top = 0;
    for (uint32_t k = 0; k < group; ++k) {
        const double value = magnitude(gated(x, own.row + k, columns));
        top = value > top ? value : top;
    }
    result[blockIdx.x * blockDim.x + threadIdx.x] = top == 0 ? 0 : gated(x, own.at, columns) * limit / top;
}
