/* SPDX-License-Identifier: MIT
 *
 * What dot_peak's accumulators add up to. A round adds `iterations` times the same sum: for i8 and i4 in integers that
 * wrap at 32 bits, so exactly; for f16 and bf16 in f64.
 *
 * Defines: BITS of an element; HALF 1: elements of 16 bits are f16, else bf16.
 */
#include "portable.h"

#if BITS <= 8
typedef uint32_t total_t;
#else
typedef double total_t;
#endif
enum { PER_WORD = 32 / BITS };

/* The element is in the highest bits. The exponent of an f16 gets f32's bias by a multiplication. */
__device__ static inline total_t number(uint32_t bits)
{
#if BITS <= 8
    return static_cast<total_t>(static_cast<int32_t>(bits) >> (32 - BITS));
#elif HALF
    const float size = __builtin_bit_cast(float, (bits >> 3 & 0x0fffe000u)) * 0x1p112f;
    return bits >> 31 ? -size : size;
#else
    return __builtin_bit_cast(float, bits & 0xffff0000u);
#endif
}

__device__ static inline total_t product(uint32_t a, uint32_t b)
{
    total_t sum = 0;
    for (uint32_t e = 0; e < PER_WORD; ++e)
        sum += number(a << (32 - BITS - e * BITS)) * number(b << (32 - BITS - e * BITS));
    return sum;
}

extern "C" __global__ void dot_reference(double *result, const uint64_t *index, const uint32_t *left,
    const uint32_t *right, uint32_t iterations, uint32_t rounds, uint32_t chains, uint32_t factors, uint32_t words,
    uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t word = index[sample] % words;
    total_t sum = 0;
    for (uint32_t k = 0; k < chains; ++k)
        for (uint32_t j = 0; j < factors; ++j)
            sum += product(left[k * words + word], right[j * words + word]);
    total_t total = 0;
    for (uint32_t round = 0; round < rounds; ++round)
        total = total / 2 + iterations * sum;
    result[sample] = static_cast<double>(total);
}
