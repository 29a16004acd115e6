/* SPDX-License-Identifier: MIT
 *
 * __hip_bfloat16 of plain HIP: see hip_runtime.h. Arithmetic is that of float, rounded to nearest.
 */
#ifndef ROOFTILE_HIP_BF16_H
#define ROOFTILE_HIP_BF16_H

#include "hip_runtime.h"

struct __hip_bfloat16 {
    unsigned short data;
    __hip_bfloat16() = default;
    __host__ __device__ __hip_bfloat16(float from)
    {
        const uint32_t bits = __builtin_bit_cast(uint32_t, from), rounded = bits + 0x7fffu + (bits >> 16 & 1u);
        data = static_cast<unsigned short>((from == from ? rounded : bits | 0x400000u) >> 16);
    }
    __host__ __device__ operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(data) << 16); }
};

struct alignas(4) __hip_bfloat162 {
    __hip_bfloat16 x, y;
};

__host__ __device__ static inline __hip_bfloat16 __float2bfloat16(float x)
{
    return __hip_bfloat16(x);
}

__host__ __device__ static inline float __bfloat162float(__hip_bfloat16 x)
{
    return x;
}

#define SIMT_BFLOAT(name, operation)                                                                                   \
    __host__ __device__ static inline __hip_bfloat16 name(__hip_bfloat16 a, __hip_bfloat16 b)                          \
    {                                                                                                                  \
        return __hip_bfloat16(static_cast<float>(a) operation static_cast<float>(b));                                  \
    }                                                                                                                  \
    __host__ __device__ static inline __hip_bfloat16 operator operation(__hip_bfloat16 a, __hip_bfloat16 b)            \
    {                                                                                                                  \
        return name(a, b);                                                                                             \
    }
SIMT_BFLOAT(__hadd, +)
SIMT_BFLOAT(__hsub, -)
SIMT_BFLOAT(__hmul, *)
SIMT_BFLOAT(__hdiv, /)
#undef SIMT_BFLOAT

#endif
