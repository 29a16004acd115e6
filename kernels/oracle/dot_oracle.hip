/* SPDX-License-Identifier: MIT
 *
 * What dot_peak's accumulators add up to. A round adds `iterations` times the same sum. For i8 in integers that wrap at
 * 32 bits, so exact; for bf16 in f64.
 */
#include "portable.h"

#if BITS == 8
typedef int8_t element;
typedef uint32_t total_t;
#else
typedef uint16_t element; /* bits of a bfloat16 */
typedef double total_t;
#endif
enum { PER_WORD = 32 / BITS };

__device__ static inline total_t number(element x)
{
#if BITS == 8
    return static_cast<total_t>(x);
#else
    return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
#endif
}

KERNEL void dot_oracle(double *result, const uint64_t *index, const element *left, const element *right,
                       uint32_t iterations, uint32_t rounds, uint32_t chains, uint32_t factors, uint32_t words,
                       uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t word = index[sample] % words;
    total_t sum = 0;
    for (uint32_t k = 0; k < chains; ++k)
        for (uint32_t j = 0; j < factors; ++j)
            for (uint32_t e = 0; e < PER_WORD; ++e)
                sum +=
                    number(left[(k * words + word) * PER_WORD + e]) * number(right[(j * words + word) * PER_WORD + e]);
    total_t total = 0;
    for (uint32_t round = 0; round < rounds; ++round)
        total = total / 2 + iterations * sum;
    result[sample] = static_cast<double>(total);
}
KERNEL_EXPORT(dot_oracle)
