/* SPDX-License-Identifier: MIT
 *
 * Elements of D = alpha * A * B + beta * C in f64, each by the dot product that defines it, for all gemm kernels, and
 * the same with scales of blocks or of rows and columns.
 * Matrices are row-major, A and B with `gap` elements between one row's end and the next row; A is m x k, or k x m
 * where ta is set, B is k x n, or n x k where tb is.
 */
#include "portable.h"
#include "reference_types.h"

typedef reference_element<DTYPE> element;
typedef reference_element<CTYPE> c_element;

/* Element (row, column) of matrix `number` of a batch of rows x columns. */
__device__ static uint64_t offset_of(
    uint64_t number, uint64_t row, uint64_t column, uint64_t rows, uint64_t columns, uint64_t gap)
{
    return (number * rows + row) * (columns + gap) + column;
}

extern "C" __global__ void gemm_reference(double *result, const uint64_t *index, const element *a, const element *b,
    const c_element *c, uint32_t m, uint32_t n, uint32_t k, uint32_t gap, uint32_t ta, uint32_t tb, double alpha,
    double beta, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t column = index[sample] % n, row = index[sample] / n % m, number = index[sample] / n / m;
    double sum = 0;
    for (uint64_t q = 0; q < k; ++q) {
        const uint64_t left = ta ? offset_of(number, q, row, k, m, gap) : offset_of(number, row, q, m, k, gap);
        const uint64_t right = tb ? offset_of(number, column, q, n, k, gap) : offset_of(number, q, column, k, n, gap);
        sum += reference_number<DTYPE>(a[left]) * reference_number<DTYPE>(b[right]);
    }
    sum *= alpha;
    if (beta != 0)
        sum += beta * reference_number<CTYPE>(c[index[sample]]);
    result[sample] = sum;
}

/* Without `rows` a_scale has one number for 128 k of each row, those of the same k adjacent, `row_room` of them, and
 * b_scale one for 128 x
 * 128, those of the same columns adjacent. */
extern "C" __global__ void gemm_scaled_reference(double *result, const uint64_t *index, const element *a,
    const element *b, const float *a_scale, const float *b_scale, uint32_t m, uint32_t n, uint32_t k, uint32_t gap,
    uint32_t ta, uint32_t tb, uint32_t rows, uint32_t row_room, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t column = index[sample] % n, row = index[sample] / n, blocks = (k + 127) / 128;
    double sum = 0;
    for (uint64_t q = 0; q < k; ++q) {
        const double left =
            reference_number<DTYPE>(a[ta ? offset_of(0, q, row, k, m, gap) : offset_of(0, row, q, m, k, gap)]);
        const double right =
            reference_number<DTYPE>(b[tb ? offset_of(0, column, q, n, k, gap) : offset_of(0, q, column, k, n, gap)]);
        const double left_scale = static_cast<double>(a_scale[rows ? row : q / 128 * row_room + row]);
        const double right_scale = static_cast<double>(b_scale[rows ? column : column / 128 * blocks + q / 128]);
        sum += left * left_scale * (right * right_scale);
    }
    result[sample] = sum;
}
