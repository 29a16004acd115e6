/* SPDX-License-Identifier: MIT
 *
 * D = alpha * A * B + beta * C, one element per lane, straight from memory: the first step. Each product reads two
 * values; only caches help. Layouts, strides and batches as in gemm_tile.hip.
 *
 * Defines: T; TA TB: A is stored k x m, B n x k.
 */
#include "portable.h"

extern "C" __global__ __launch_bounds__(256) void gemm_naive(T *d, const T *__restrict a, const T *__restrict b,
    const T *c, uint32_t m, uint32_t n, uint32_t k, uint32_t a_stride, uint32_t b_stride, uint32_t d_stride,
    uint64_t a_batch, uint64_t b_batch, uint64_t d_batch, T alpha, T beta)
{
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n)
        return;
    const T *const from_a = a + blockIdx.z * a_batch, *const from_b = b + blockIdx.z * b_batch;
    T sum = 0;
    for (uint64_t q = 0; q < k; ++q)
        sum = fma(from_a[TA ? q * a_stride + row : row * static_cast<uint64_t>(a_stride) + q],
            from_b[TB ? column * static_cast<uint64_t>(b_stride) + q : q * b_stride + column], sum);
    const uint64_t at = blockIdx.z * d_batch + row * static_cast<uint64_t>(d_stride) + column;
    d[at] = beta != 0 ? fma(beta, c[at], sum * alpha) : sum * alpha;
}
