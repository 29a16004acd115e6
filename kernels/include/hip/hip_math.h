/* SPDX-License-Identifier: MIT
 *
 * Mathematical functions of plain HIP: see hip_runtime.h. On the CPU device they are the C library's. On AMD GPUs,
 * where ROCm would link a library, they are here:
 *
 *   sqrt cbrt rsqrt rcbrt hypot fabs fma fmin fmax fdim fmod floor ceil trunc rint round nearbyint copysign ldexp
 *   exp exp2 exp10 expm1 log log2 log10 log1p pow sin cos tan sincos sinh cosh tanh asin acos atan atan2 erf erfc
 *
 * in float (sqrtf or sqrt) and double. Errors are a few units in the last place; sines and their like are right up to
 * 1e9. In float, exp and log with their kinds, tanh, sin, cos and erf are computed in float and about as fast as
 * ROCm's; pow, the inverse functions and what is left are computed in double. Of a double erfc has 13 digits.
 *
 * Also __expf __exp10f __logf __log2f __log10f __powf __sinf __cosf __fdividef __frcp_rn __fsqrt_rn __fmaf_rn
 * __saturatef isnan isinf isfinite abs min max; integers: __popc __popcll __clz __clzll __ffs __ffsll __brev __brevll
 * __mul24 __mulhi __umulhi; bits: __float_as_int __int_as_float and their like; __float2int_rn and its like
 */
#ifndef ROOFTILE_HIP_MATH_H
#define ROOFTILE_HIP_MATH_H

#ifndef INFINITY
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VALF (__builtin_huge_valf())
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif

#if defined(__AMDGCN__)

/* ---- double ---- */

/* e^x = 2^n e^r with |r| <= ln(2) / 2, by the series of e^r; 0 or infinity far out. */
__device__ static inline double exp(double x)
{
    const double bounded = x > 750.0 ? 750.0 : x < -750.0 ? -750.0 : x;
    const double n = __builtin_rint(bounded * M_LOG2E);
    const double r =
        __builtin_fma(n, -1.90821492927058770002e-10, __builtin_fma(n, -6.93147180369123816490e-01, bounded));
    double sum = 1.0;
#pragma unroll
    for (int k = 13; k > 0; --k)
        sum = __builtin_fma(sum, r * (1.0 / k), 1.0);
    return x == x ? __builtin_ldexp(sum, static_cast<int>(n)) : x;
}

/* e^(x (factor + low)), with what the product was rounded by. */
__device__ static inline double simt_exp_times(double x, double factor, double low)
{
    const double product = x * factor, value = exp(product);
    if (!(value > 0 && value < __builtin_inf()))
        return value;
    return value * (1 + __builtin_fma(x, factor, -product) + x * low);
}

/* log(m 2^e) with m in [sqrt(1/2), sqrt(2)): the series of 2 atanh(s), s = (m - 1) / (m + 1). */
__device__ static inline double log(double x)
{
    double m = __builtin_amdgcn_frexp_mant(x);
    int e = __builtin_amdgcn_frexp_exp(x);
    if (m < M_SQRT1_2) {
        m *= 2;
        --e;
    }
    const double s = (m - 1) / (m + 1), square = s * s;
    double sum = 0.0;
#pragma unroll
    for (int k = 21; k > 1; k -= 2)
        sum = __builtin_fma(sum, square, 1.0 / k);
    const double result = __builtin_fma(e, 6.93147180369123816490e-01,
        __builtin_fma(e, 1.90821492927058770002e-10, 2 * __builtin_fma(sum * square, s, s)));
    const double edge = x == 0 ? -__builtin_inf() : x < 0 ? __builtin_nan("") : x;
    return x > 0 && x < __builtin_inf() ? result : edge;
}

/* Sine or cosine of r + quarter * pi / 2, |r| <= pi / 4. */
__device__ static inline double simt_sine(double r, int quarter)
{
    const double square = r * r;
    double odd = 1.0, even = 1.0;
#pragma unroll
    for (int k = 8; k > 0; --k) {
        odd = __builtin_fma(odd, square * (-1.0 / (2 * k * (2 * k + 1))), 1.0);
        even = __builtin_fma(even, square * (-1.0 / (2 * k * (2 * k - 1))), 1.0);
    }
    const double value = quarter & 1 ? even : odd * r;
    return quarter & 2 ? -value : value;
}

/* What is left of x after whole quarters of a turn, whose number is *quarter. */
__device__ static inline double simt_reduce(double x, int *quarter)
{
    const double n = __builtin_rint(x * (2 * M_1_PI));
    *quarter = static_cast<int>(static_cast<long>(n) & 3);
    const double r = __builtin_fma(n, -1.57079632679489655800e+00, x);
    return __builtin_fma(n, -6.12323399573676603587e-17, r);
}

__device__ static inline double sin(double x)
{
    int quarter;
    const double r = simt_reduce(x, &quarter);
    return simt_sine(r, quarter);
}

__device__ static inline double cos(double x)
{
    int quarter;
    const double r = simt_reduce(x, &quarter);
    return simt_sine(r, quarter + 1);
}

/* e^x - 1: by its series where the difference would lose digits. */
__device__ static inline double expm1(double x)
{
    double sum = 1.0;
#pragma unroll
    for (int k = 16; k > 1; --k)
        sum = __builtin_fma(sum, x * (1.0 / k), 1.0);
    return __builtin_fabs(x) < 0.5 ? sum * x : exp(x) - 1;
}

/* The rounding of 1 + x is put right. */
__device__ static inline double log1p(double x)
{
    const double u = 1 + x;
    return u == 1 ? x : u == __builtin_inf() ? u : log(u) * (x / (u - 1));
}

__device__ static inline double tanh(double x)
{
    const double size = __builtin_fabs(x), e = expm1(2 * (size < 20 ? size : 20));
    return x == x ? __builtin_copysign(e / (e + 2), x) : x;
}

__device__ static inline double sinh(double x)
{
    const double size = __builtin_fabs(x), e = expm1(size < 700 ? size : 0);
    const double half = exp(size / 2);
    return __builtin_copysign(size < 700 ? (e + e / (e + 1)) / 2 : half / 2 * half, x);
}

__device__ static inline double cosh(double x)
{
    const double half = exp(__builtin_fabs(x) / 2);
    return half / 2 * half + 0.5 / half / half;
}

/* Twice halved by atan(x) = 2 atan(x / (1 + sqrt(1 + x^2))), then its series. */
__device__ static inline double atan(double x)
{
    const double size = __builtin_fabs(x);
    double t = size > 1 ? 1 / size : size, sum = 0.0;
    t = t / (1 + __builtin_sqrt(1 + t * t));
    t = t / (1 + __builtin_sqrt(1 + t * t));
#pragma unroll
    for (int k = 23; k > 1; k -= 2)
        sum = __builtin_fma(sum, -t * t, 1.0 / k);
    const double angle = 4 * __builtin_fma(sum * -t * t, t, t);
    return x == x ? __builtin_copysign(size > 1 ? M_PI_2 - angle : angle, x) : x;
}

__device__ static inline double atan2(double y, double x)
{
    if (x == 0 && y == 0)
        return __builtin_copysign(__builtin_copysign(1.0, x) < 0 ? M_PI : 0.0, y);
    const double angle = __builtin_fabs(y) > __builtin_fabs(x) ? M_PI_2 - atan(__builtin_fabs(x) / __builtin_fabs(y))
                                                               : atan(__builtin_fabs(y) / __builtin_fabs(x));
    return __builtin_copysign(x < 0 ? M_PI - angle : angle, y);
}

__device__ static inline double asin(double x)
{
    return atan2(x, __builtin_sqrt((1 - x) * (1 + x)));
}

__device__ static inline double acos(double x)
{
    return atan2(__builtin_sqrt((1 - x) * (1 + x)), x);
}

/* A continued fraction far out, else 1 - erf by its series, all of whose terms are positive. */
__device__ static inline double erfc(double x)
{
    const double size = __builtin_fabs(x), e = exp(-size * size) * (M_2_SQRTPI / 2);
    double value;
    if (size > 1.5) {
        double fraction = size;
        for (int k = 100; k > 0; --k)
            fraction = size + k * 0.5 / fraction;
        value = e / fraction;
    } else {
        double term = size, sum = size;
        for (int k = 1; k < 50; ++k) {
            term *= size * size / (k + 0.5);
            sum += term;
        }
        value = 1 - 2 * e * sum;
    }
    return x != x ? x : x < 0 ? 2 - value : value;
}

__device__ static inline double erf(double x)
{
    const double size = __builtin_fabs(x);
    if (size > 2.5)
        return __builtin_copysign(1 - erfc(size), x);
    double term = x, sum = x;
    for (int k = 1; k < 50; ++k) {
        term *= x * x / (k + 0.5);
        sum += term;
    }
    return M_2_SQRTPI * exp(-x * x) * sum;
}

/* A whole power by squares; x^y = e^(y log |x|) else, with the rounding of the logarithm carried along. */
__device__ static inline double pow(double x, double y)
{
    const double size = __builtin_fabs(x);
    const bool whole = __builtin_rint(y) == y, odd = whole && __builtin_rint(y / 2) * 2 != y;
    if (y == 0 || x == 1)
        return 1;
    if (size == 0 || size == __builtin_inf())
        return __builtin_copysign((size == 0) == (y > 0) ? 0.0 : __builtin_inf(), odd ? x : 1.0);
    if (whole && __builtin_fabs(y) <= 64) {
        double power = 1, square = x;
        for (int n = static_cast<int>(__builtin_fabs(y)); n; n >>= 1, square *= square)
            power *= n & 1 ? square : 1;
        return y < 0 ? 1 / power : power;
    }
    const double l = log(size), rest = __builtin_fma(size, exp(-l), -1.0); /* log(size) = l + rest */
    const double value = simt_exp_times(l, y, 0) * (1 + y * rest);
    return x > 0 || odd ? __builtin_copysign(value, x) : whole ? value : __builtin_nan("");
}

#define SIMT_DOUBLE(name, parameters, ...)                                                                             \
    __device__ static inline double name parameters                                                                    \
    {                                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }
SIMT_DOUBLE(sqrt, (double x), __builtin_sqrt(x))
SIMT_DOUBLE(exp2, (double x), simt_exp_times(x, M_LN2, 2.3190468138462996e-17))
SIMT_DOUBLE(exp10, (double x), simt_exp_times(x, 2.30258509299404568402, -2.1707562233822494e-16))
SIMT_DOUBLE(log2, (double x), log(x) * M_LOG2E)
SIMT_DOUBLE(log10, (double x), log(x) * 0.43429448190325182765)
SIMT_DOUBLE(tan, (double x), sin(x) / cos(x))
SIMT_DOUBLE(cbrt, (double x), x == 0 ? x : __builtin_copysign(exp(log(__builtin_fabs(x)) / 3), x))
SIMT_DOUBLE(hypot, (double x, double y), __builtin_sqrt(__builtin_fma(x, x, y *y)))
SIMT_DOUBLE(fmod, (double x, double y), __builtin_fmod(x, y))
SIMT_DOUBLE(ldexp, (double x, int n), __builtin_ldexp(x, n))

/* ---- float ---- */

__device__ static inline float expf(float x)
{
    return __builtin_expf(x);
}

__device__ static inline float logf(float x)
{
    return __builtin_logf(x);
}

/* 1 - 2 / (e^2x + 1); near 0, where that would lose digits, its series. */
__device__ static inline float tanhf(float x)
{
    const float size = __builtin_fabsf(x), square = x * x;
    const float near =
        x * (1 + square * (-1.0f / 3 + square * (2.0f / 15 + square * (-17.0f / 315 + square * (62.0f / 2835)))));
    const float far = 1 - 2 / (__builtin_expf(2 * size) + 1);
    return size < 0.3f ? near : __builtin_copysignf(far, x);
}

/* Sine or cosine: whole quarters of a turn are taken off in double, which is exact enough. */
__device__ static inline float simt_sinef(float x, int quarter)
{
    int whole;
    const float r = static_cast<float>(simt_reduce(x, &whole)), square = r * r;
    whole += quarter;
    const float odd =
        r + r * square * (-1.0f / 6 + square * (1.0f / 120 + square * (-1.0f / 5040 + square * (1.0f / 362880))));
    const float even = 1 + square * (-0.5f + square * (1.0f / 24 + square * (-1.0f / 720 + square * (1.0f / 40320))));
    const float value = whole & 1 ? even : odd;
    return whole & 2 ? -value : value;
}

/* By a series near 0; else 1 - t P(t) e^(-x^2), t = 1 / (1 + p x) (Abramowitz and Stegun 7.1.26, 1.5e-7). */
__device__ static inline float erff(float x)
{
    const float size = __builtin_fabsf(x), square = x * x, t = 1 / (1 + 0.3275911f * size);
    const float near =
        x * (1.128379167f +
                square * (-0.3761263890f +
                             square * (0.1128379167f +
                                          square * (-0.02686617064f +
                                                       square * (0.005223977625f + square * -0.0008548327023f)))));
    const float far =
        1 - t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f)))) *
                __builtin_expf(-square);
    return size < 0.5f ? near : __builtin_copysignf(far, x);
}

/* name ## f, and the overload in float. */
#define SIMT_FLOAT(name, parameters, ...)                                                                              \
    __device__ static inline float name##f parameters                                                                  \
    {                                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }                                                                                                                  \
    __device__ static inline float name parameters                                                                     \
    {                                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }
#define SIMT_OVERLOAD(name)                                                                                            \
    __device__ static inline float name(float x)                                                                       \
    {                                                                                                                  \
        return name##f(x);                                                                                             \
    }
SIMT_OVERLOAD(exp)
SIMT_OVERLOAD(log)
SIMT_OVERLOAD(tanh)
SIMT_OVERLOAD(erf)
#undef SIMT_OVERLOAD
SIMT_FLOAT(sqrt, (float x), __builtin_sqrtf(x))
SIMT_FLOAT(exp2, (float x), __builtin_exp2f(x))
SIMT_FLOAT(log2, (float x), __builtin_log2f(x))
SIMT_FLOAT(log10, (float x), __builtin_log10f(x))
SIMT_FLOAT(sin, (float x), simt_sinef(x, 0))
SIMT_FLOAT(cos, (float x), simt_sinef(x, 1))
SIMT_FLOAT(tan, (float x), simt_sinef(x, 0) / simt_sinef(x, 1))
SIMT_FLOAT(fmod, (float x, float y), __builtin_fmodf(x, y))
SIMT_FLOAT(ldexp, (float x, int n), __builtin_ldexpf(x, n))
SIMT_FLOAT(hypot, (float x, float y),
    static_cast<float>(__builtin_sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y)))
#define SIMT_BY_DOUBLE(name) SIMT_FLOAT(name, (float x), static_cast<float>(name(static_cast<double>(x))))
SIMT_BY_DOUBLE(exp10)
SIMT_BY_DOUBLE(expm1)
SIMT_BY_DOUBLE(log1p)
SIMT_BY_DOUBLE(sinh)
SIMT_BY_DOUBLE(cosh)
SIMT_BY_DOUBLE(asin)
SIMT_BY_DOUBLE(acos)
SIMT_BY_DOUBLE(atan)
SIMT_BY_DOUBLE(erfc)
SIMT_BY_DOUBLE(cbrt)
#undef SIMT_BY_DOUBLE
SIMT_FLOAT(pow, (float x, float y), static_cast<float>(pow(static_cast<double>(x), static_cast<double>(y))))
SIMT_FLOAT(atan2, (float y, float x), static_cast<float>(atan2(static_cast<double>(y), static_cast<double>(x))))

/* One instruction each, or nearly. */
#define SIMT_EXACT(name)                                                                                               \
    SIMT_FLOAT(name, (float x), __builtin_##name##f(x))                                                                \
    SIMT_DOUBLE(name, (double x), __builtin_##name(x))
#define SIMT_EXACT2(name)                                                                                              \
    SIMT_FLOAT(name, (float x, float y), __builtin_##name##f(x, y))                                                    \
    SIMT_DOUBLE(name, (double x, double y), __builtin_##name(x, y))
SIMT_EXACT(fabs)
SIMT_EXACT(floor)
SIMT_EXACT(ceil)
SIMT_EXACT(trunc)
SIMT_EXACT(rint)
SIMT_EXACT(nearbyint)
SIMT_EXACT(round)
SIMT_EXACT2(fmin)
SIMT_EXACT2(fmax)
SIMT_EXACT2(copysign)
#undef SIMT_EXACT
#undef SIMT_EXACT2
SIMT_FLOAT(fdim, (float x, float y), x > y ? x - y : x != x || y != y ? __builtin_nanf("") : 0.0f)
SIMT_DOUBLE(fdim, (double x, double y), x > y ? x - y : x != x || y != y ? __builtin_nan("") : 0.0)

__device__ static inline float fmaf(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}

__device__ static inline void sincosf(float x, float *sine, float *cosine)
{
    *sine = sinf(x);
    *cosine = cosf(x);
}

__device__ static inline void sincos(double x, double *sine, double *cosine)
{
    *sine = sin(x);
    *cosine = cos(x);
}

#ifndef isnan
__device__ static inline bool isnan(double x)
{
    return x != x;
}

__device__ static inline bool isinf(double x)
{
    return __builtin_fabs(x) == __builtin_inf();
}

__device__ static inline bool isfinite(double x)
{
    return __builtin_fabs(x) < __builtin_inf();
}
#endif

__device__ static inline int abs(int x)
{
    return x < 0 ? -x : x;
}

__device__ static inline float abs(float x)
{
    return __builtin_fabsf(x);
}

__device__ static inline double abs(double x)
{
    return __builtin_fabs(x);
}

#undef SIMT_FLOAT
#undef SIMT_DOUBLE

/* Of whole numbers, and of different types: in double, as in C++. */
#define SIMT_PROMOTE(name)                                                                                             \
    template <class x_t> __device__ static double name(x_t x)                                                          \
    {                                                                                                                  \
        return name(static_cast<double>(x));                                                                           \
    }
#define SIMT_PROMOTE2(name)                                                                                            \
    template <class x_t, class y_t> __device__ static double name(x_t x, y_t y)                                        \
    {                                                                                                                  \
        return name(static_cast<double>(x), static_cast<double>(y));                                                   \
    }
SIMT_PROMOTE(sqrt)
SIMT_PROMOTE(exp)
SIMT_PROMOTE(log)
SIMT_PROMOTE(log2)
SIMT_PROMOTE(sin)
SIMT_PROMOTE(cos)
SIMT_PROMOTE(floor)
SIMT_PROMOTE(ceil)
SIMT_PROMOTE(fabs)
SIMT_PROMOTE2(pow)
SIMT_PROMOTE2(fmin)
SIMT_PROMOTE2(fmax)
SIMT_PROMOTE2(fmod)
SIMT_PROMOTE2(atan2)
#undef SIMT_PROMOTE
#undef SIMT_PROMOTE2

#endif

/* ---- the same on both ---- */

#define SIMT_MIN_MAX(type_t)                                                                                           \
    __host__ __device__ static inline type_t min(type_t a, type_t b)                                                   \
    {                                                                                                                  \
        return b < a ? b : a;                                                                                          \
    }                                                                                                                  \
    __host__ __device__ static inline type_t max(type_t a, type_t b)                                                   \
    {                                                                                                                  \
        return a < b ? b : a;                                                                                          \
    }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
#undef SIMT_MIN_MAX

#define SIMT_INLINE(result_t, name, parameters, ...)                                                                   \
    __device__ static inline result_t name parameters                                                                  \
    {                                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }
SIMT_INLINE(float, min, (float a, float b), __builtin_fminf(a, b))
SIMT_INLINE(float, max, (float a, float b), __builtin_fmaxf(a, b))
SIMT_INLINE(double, min, (double a, double b), __builtin_fmin(a, b))
SIMT_INLINE(double, max, (double a, double b), __builtin_fmax(a, b))
SIMT_INLINE(float, rsqrtf, (float x), 1.0f / __builtin_sqrtf(x))
SIMT_INLINE(float, rsqrt, (float x), 1.0f / __builtin_sqrtf(x))
SIMT_INLINE(double, rsqrt, (double x), 1.0 / __builtin_sqrt(x))
SIMT_INLINE(float, rcbrtf, (float x), 1.0f / cbrtf(x))
SIMT_INLINE(float, simt_fast_expf, (float x), fast_exp(x))
SIMT_INLINE(float, simt_fast_exp10f, (float x), fast_exp2(x * 3.32192809488736235f))
SIMT_INLINE(float, simt_fast_logf, (float x), fast_log(x))
SIMT_INLINE(float, simt_fast_log2f, (float x), fast_log2(x))
SIMT_INLINE(float, simt_fast_log10f, (float x), fast_log2(x) * 0.301029995663981195f)
SIMT_INLINE(float, simt_fast_powf, (float x, float y), fast_exp2(y *fast_log2(x)))
SIMT_INLINE(float, simt_fast_sinf, (float x), fast_sin_turns(x * 0.15915494309189533577f))
SIMT_INLINE(float, simt_fast_cosf, (float x), fast_sin_turns(x * 0.15915494309189533577f + 0.25f))
/* The C library has these names, too. */
#define __expf simt_fast_expf
#define __exp10f simt_fast_exp10f
#define __logf simt_fast_logf
#define __log2f simt_fast_log2f
#define __log10f simt_fast_log10f
#define __powf simt_fast_powf
#define __sinf simt_fast_sinf
#define __cosf simt_fast_cosf
SIMT_INLINE(float, __fdividef, (float x, float y), x *fast_rcp(y))
SIMT_INLINE(float, __fdiv_rn, (float x, float y), x / y)
SIMT_INLINE(float, __frcp_rn, (float x), 1.0f / x)
SIMT_INLINE(float, __fsqrt_rn, (float x), __builtin_sqrtf(x))
SIMT_INLINE(float, __frsqrt_rn, (float x), 1.0f / __builtin_sqrtf(x))
SIMT_INLINE(float, __fadd_rn, (float x, float y), x + y)
SIMT_INLINE(float, __fmul_rn, (float x, float y), x *y)
SIMT_INLINE(float, __fmaf_rn, (float x, float y, float z), __builtin_fmaf(x, y, z))
SIMT_INLINE(float, __saturatef, (float x), __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f))
SIMT_INLINE(int, __popc, (unsigned x), __builtin_popcount(x))
SIMT_INLINE(int, __popcll, (unsigned long long x), __builtin_popcountll(x))
SIMT_INLINE(int, __clz, (unsigned x), x ? __builtin_clz(x) : 32)
SIMT_INLINE(int, __clzll, (unsigned long long x), x ? __builtin_clzll(x) : 64)
SIMT_INLINE(int, __ffs, (unsigned x), x ? __builtin_ctz(x) + 1 : 0)
SIMT_INLINE(int, __ffsll, (unsigned long long x), x ? __builtin_ctzll(x) + 1 : 0)
SIMT_INLINE(unsigned, __brev, (unsigned x), __builtin_bitreverse32(x))
SIMT_INLINE(unsigned long long, __brevll, (unsigned long long x), __builtin_bitreverse64(x))
SIMT_INLINE(int, __mul24, (int x, int y), (x << 8 >> 8) * (y << 8 >> 8))
SIMT_INLINE(int, __mulhi, (int x, int y), static_cast<int>(static_cast<long long>(x) * y >> 32))
SIMT_INLINE(
    unsigned, __umulhi, (unsigned x, unsigned y), static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32))
SIMT_INLINE(int, __float_as_int, (float x), __builtin_bit_cast(int, x))
SIMT_INLINE(unsigned, __float_as_uint, (float x), __builtin_bit_cast(unsigned, x))
SIMT_INLINE(float, __int_as_float, (int x), __builtin_bit_cast(float, x))
SIMT_INLINE(float, __uint_as_float, (unsigned x), __builtin_bit_cast(float, x))
SIMT_INLINE(long long, __double_as_longlong, (double x), __builtin_bit_cast(long long, x))
SIMT_INLINE(double, __longlong_as_double, (long long x), __builtin_bit_cast(double, x))
SIMT_INLINE(int, __float2int_rn, (float x), static_cast<int>(__builtin_rintf(x)))
SIMT_INLINE(int, __float2int_rz, (float x), static_cast<int>(x))
SIMT_INLINE(int, __float2int_rd, (float x), static_cast<int>(__builtin_floorf(x)))
SIMT_INLINE(int, __float2int_ru, (float x), static_cast<int>(__builtin_ceilf(x)))
SIMT_INLINE(float, __int2float_rn, (int x), static_cast<float>(x))
SIMT_INLINE(float, __uint2float_rn, (unsigned x), static_cast<float>(x))
#undef SIMT_INLINE

#endif
