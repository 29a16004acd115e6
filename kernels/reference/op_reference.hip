/* SPDX-License-Identifier: MIT
 *
 * What a chain of op_chain ends with, in f64: the operation by its definition, once for every step. After 4,096 steps
 * contractions have reached their fixed point, and pairs that undo each other repeat: from there on only the parity of
 * the number of steps matters. Integers take every step.
 *
 * Defines: OP; BITS: of the elements of OP=dot where they are integers, else 0.
 */
#include "portable.h"

/* 2^x for |x| < 1000: x = n + r with |r| <= 1/2, the Taylor series of e^(r ln 2). There is no math library. */
__device__ static inline double exp2_exact(double x)
{
    const double shifted = x + 0x1.8p52, n = shifted - 0x1.8p52, r = (x - n) * 0.69314718055994530942;
    double power = 1.0;
    for (int k = 17; k > 0; --k)
        power = 1.0 + power * r / k;
    return power * __builtin_bit_cast(double, static_cast<int64_t>(static_cast<int>(n) + 1023) << 52);
}

__device__ static inline double step_fma(double x, uint64_t)
{
    return 2 - x / 2;
}

__device__ static inline double step_add(double x, uint64_t step)
{
    return step % 2 ? x - 2 : x + 2;
}

__device__ static inline double step_mul(double x, uint64_t step)
{
    return step % 2 ? x / 2 : x * 2;
}

__device__ static inline double step_exp2(double x, uint64_t)
{
    return exp2_exact(-x);
}

/* log2 undoes exp2, so the value stays. */
__device__ static inline double step_exp2_log2(double x, uint64_t)
{
    return x;
}

__device__ static inline double step_rcp(double x, uint64_t)
{
    return 1 / x;
}

__device__ static inline double step_rsqrt(double x, uint64_t)
{
    return 1 / __builtin_sqrt(x);
}

__device__ static inline double step_sqrt(double x, uint64_t)
{
    return __builtin_sqrt(x);
}

/* The low 24 bits, modulo 2^32: exact in f64. */
__device__ static inline double step_mad(double x, uint64_t)
{
    const uint64_t bits = static_cast<uint64_t>(x);
    return static_cast<double>(static_cast<uint32_t>((bits & 0xffffff) * 3 + 2863311531u));
}

/* sin(2 pi x) for |x| < 1/4 by its Taylor series. */
__device__ static inline double step_fma_sin(double x, uint64_t step)
{
    if (step % 2 == 0)
        return 0.125 - x / 16;
    const double angle = x * 6.28318530717958647692;
    double sum = 0, term = angle;
    for (int k = 1; k < 30; k += 2) {
        sum += term;
        term = -term * angle * angle / ((k + 1) * (k + 2));
    }
    return sum;
}

__device__ static inline double step_mad32(double x, uint64_t)
{
    return static_cast<double>(static_cast<uint32_t>(x) * 3u + 2863311531u);
}

/* A vector with itself, or in odd steps with another: bytes (1, 2, 3, 4) with (-1, -2, -2, -2), which 0 - 0x01010101
 * is; four bits (1, 7, 6, 5, 4, 3, 2, 1) likewise; else the pair (1, 2) with (1, -3). */
__device__ static inline double step_dot(double x, uint64_t step)
{
    const bool odd = step % 2;
    if (BITS == 8)
        return static_cast<double>(static_cast<uint32_t>(x) + (odd ? 0u - 1 - 2 * (2 + 3 + 4) : 1 + 4 + 9 + 16));
    if (BITS == 4)
        return static_cast<double>(static_cast<uint32_t>(x) + (odd ? 0u - 1 - 2 * (7 + 6 + 5 + 4 + 3 + 2 + 1)
                                                                   : 1 + 49 + 36 + 25 + 16 + 9 + 4 + 1));
    return x + (odd ? 1 - 6 : 1 + 4);
}

/* Start values are exact in each type that they pass through, except i32, which drops the fraction. */
__device__ static inline double step_f32_i32(double x, uint64_t)
{
    return static_cast<double>(static_cast<int32_t>(x));
}

__device__ static inline double step_f32_f64(double x, uint64_t)
{
    return x;
}

__device__ static inline double step_f32_f16(double x, uint64_t)
{
    return x;
}

extern "C" __global__ void op_reference(double *result, const uint64_t *index, const T *start, uint64_t steps,
    uint32_t every_step, uint32_t chains, uint32_t width, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t taken = steps > 4096 && !every_step ? 4096 + steps % 2 : steps;
    const uint64_t pack = index[sample] / width, lane = pack / chains, chain = pack % chains;
    double x = start[(lane + chain) % 32 * width + index[sample] % width];
    for (uint64_t step = 0; step < taken; ++step)
        x = OP(x, step);
    result[sample] = x;
}
