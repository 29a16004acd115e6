/* SPDX-License-Identifier: MIT
 *
 * __half and __half2 of plain HIP: see hip_runtime.h. Arithmetic rounds to f16 after each operation.
 */
#ifndef ROOFTILE_HIP_FP16_H
#define ROOFTILE_HIP_FP16_H

#include "hip_runtime.h"

#if !defined(__AMDGCN__) && !defined(__FLT16_MANT_DIG__)
#error "__half needs _Float16, which this compiler lacks for this processor: install clang 15 or later"
#endif

struct __half {
    _Float16 value;
    __half() = default;
    __host__ __device__ constexpr __half(_Float16 from) : value(from) {}
    __host__ __device__ constexpr __half(float from) : value(static_cast<_Float16>(from)) {}
    __host__ __device__ constexpr __half(double from) : value(static_cast<_Float16>(from)) {}
    __host__ __device__ constexpr __half(int from) : value(static_cast<_Float16>(from)) {}
    __host__ __device__ constexpr operator float() const { return static_cast<float>(value); }
};
typedef __half half;

struct alignas(4) __half2 {
    __half x, y;
};
typedef __half2 half2;

#define SIMT_HALF(type_t, result_t, name, operation, ...)                                                              \
    __host__ __device__ static inline result_t name(type_t a, type_t b)                                                \
    {                                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }                                                                                                                  \
    __host__ __device__ static inline result_t operator operation(type_t a, type_t b)                                  \
    {                                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }
SIMT_HALF(__half, __half, __hadd, +, __half(a.value + b.value))
SIMT_HALF(__half, __half, __hsub, -, __half(a.value - b.value))
SIMT_HALF(__half, __half, __hmul, *, __half(a.value *b.value))
SIMT_HALF(__half, __half, __hdiv, /, __half(a.value / b.value))
SIMT_HALF(__half, bool, __heq, ==, a.value == b.value)
SIMT_HALF(__half, bool, __hne, !=, a.value != b.value)
SIMT_HALF(__half, bool, __hlt, <, a.value < b.value)
SIMT_HALF(__half, bool, __hle, <=, a.value <= b.value)
SIMT_HALF(__half, bool, __hgt, >, a.value > b.value)
SIMT_HALF(__half, bool, __hge, >=, a.value >= b.value)
SIMT_HALF(__half2, __half2, __hadd2, +, {a.x + b.x, a.y + b.y})
SIMT_HALF(__half2, __half2, __hsub2, -, {a.x - b.x, a.y - b.y})
SIMT_HALF(__half2, __half2, __hmul2, *, {a.x * b.x, a.y *b.y})
#undef SIMT_HALF

__host__ __device__ static inline __half operator-(__half a)
{
    return __half(-a.value);
}

__host__ __device__ static inline __half &operator+=(__half &a, __half b)
{
    return a = a + b;
}

__host__ __device__ static inline __half &operator*=(__half &a, __half b)
{
    return a = a * b;
}

__host__ __device__ static inline __half __hneg(__half a)
{
    return -a;
}

__device__ static inline __half __hfma(__half a, __half b, __half c)
{
    return __half(static_cast<_Float16>(__builtin_fmaf(a, b, c)));
}

__device__ static inline __half2 __hfma2(__half2 a, __half2 b, __half2 c)
{
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

__host__ __device__ static inline __half __float2half(float x)
{
    return __half(x);
}

__host__ __device__ static inline __half __float2half_rn(float x)
{
    return __half(x);
}

__host__ __device__ static inline float __half2float(__half x)
{
    return x;
}

__host__ __device__ static inline __half2 __floats2half2_rn(float x, float y)
{
    return {__half(x), __half(y)};
}

__host__ __device__ static inline __half2 __float2half2_rn(float x)
{
    return {__half(x), __half(x)};
}

__host__ __device__ static inline __half2 __halves2half2(__half x, __half y)
{
    return {x, y};
}

__host__ __device__ static inline __half2 __half2half2(__half x)
{
    return {x, x};
}

__host__ __device__ static inline float2 __half22float2(__half2 x)
{
    return {static_cast<float>(x.x), static_cast<float>(x.y)};
}

__host__ __device__ static inline __half __low2half(__half2 x)
{
    return x.x;
}

__host__ __device__ static inline __half __high2half(__half2 x)
{
    return x.y;
}

__host__ __device__ static inline float __low2float(__half2 x)
{
    return x.x;
}

__host__ __device__ static inline float __high2float(__half2 x)
{
    return x.y;
}

__device__ static inline __half hexp(__half x)
{
    return __half(expf(x));
}

__device__ static inline __half hsqrt(__half x)
{
    return __half(__builtin_sqrtf(x));
}

__device__ static inline __half __hmax(__half a, __half b)
{
    return a > b ? a : b;
}

__device__ static inline __half __hmin(__half a, __half b)
{
    return a < b ? a : b;
}

#endif
