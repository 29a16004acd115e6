/* SPDX-License-Identifier: MIT
 *
 * Conversions between tile.h's element types and numbers. The results are the same on every device; where the target
 * has an instruction for one, it is used. Private: the contract is in tile.h.
 */

/* The 8-bit floats that the target has instructions for: OCP or FNUZ. The builtins have the same names for both. */
#if defined(__AMDGCN__) && (defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__))
#define SIMT_TILE_CONVERTS(in) (in::fnuz)
#elif defined(__AMDGCN__) && (defined(__gfx950__) || defined(__GFX12__))
#define SIMT_TILE_CONVERTS(in) (!in::fnuz)
#endif

/* Magnitude of the first code that is not a finite number. */
template <class in> __device__ static constexpr unsigned simt_tile_beyond()
{
    constexpr unsigned sign = 1u << (in::bits - 1), steps = 1u << in::mantissa;
    return in::fnuz || in::finite ? sign : in::infinity ? sign - steps : sign - 1;
}

/* Exact, as dtype.c's decode, and without arithmetic on denormal floats, which a target may take as 0: bf16 is the
 * upper half of a float; a subnormal of the others is its mantissa times a constant. */
template <class in> __device__ static float simt_tile_number(const in &, unsigned code)
{
    constexpr unsigned sign = 1u << (in::bits - 1), beyond = simt_tile_beyond<in>();
    constexpr unsigned rebias = static_cast<unsigned>(127 - in::bias) << 23;
    const unsigned magnitude = code & (sign - 1);
    const float normal = __builtin_bit_cast(float, (magnitude << (23 - in::mantissa)) + rebias);
    float scaled = normal;
    if constexpr (in::bias != 127) {
        const float quantum = __builtin_bit_cast(float, static_cast<unsigned>(128 - in::bias - in::mantissa) << 23);
        scaled = magnitude >> in::mantissa ? normal : static_cast<float>(magnitude) * quantum;
    }
    const bool infinite = in::infinity && magnitude == beyond;
    const float value = magnitude < beyond ? scaled : infinite ? __builtin_inff() : __builtin_nanf("");
    if (in::fnuz && code == sign)
        return __builtin_nanf("");
    return code & sign ? -value : value;
}

/* Two's complement of 4 bits. */
__device__ static inline int32_t simt_tile_number(const tile_i4 &, unsigned code)
{
    return static_cast<int32_t>(code ^ 8u) - 8;
}

__device__ static inline int32_t simt_tile_number(const tile_i8 &, int8_t value)
{
    return value;
}

__device__ static inline double simt_tile_number(const tile_f64 &, double value)
{
    return value;
}

__device__ static inline float simt_tile_number(const tile_f32 &, float value)
{
    return value;
}

/* 10 bits of mantissa, nearest even. */
__device__ static inline float simt_tile_number(const tile_xf32 &, float value)
{
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return __builtin_bit_cast(float, (bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}

template <class in> __device__ static auto tile_decode(typename in::type code)
{
#if defined(__AMDGCN__) || defined(__CUDACC__)
    if constexpr (in::bits == 16 && in::mantissa == 10)
        return static_cast<float>(__builtin_bit_cast(float16, code));
#endif
#ifdef SIMT_TILE_CONVERTS
    if constexpr (in::bits == 8 && in::mantissa == 3 && SIMT_TILE_CONVERTS(in))
        return __builtin_amdgcn_cvt_f32_fp8(code, 0);
    if constexpr (in::bits == 8 && in::mantissa == 2 && SIMT_TILE_CONVERTS(in))
        return __builtin_amdgcn_cvt_f32_bf8(code, 0);
#endif
    return simt_tile_number(in(), code);
}

/* Two at a time where there is an instruction for 8-bit floats of the type. */
template <class in>
__device__ static typename simt_tile_vector<float, 4>::type tile_decode4(
    typename simt_tile_vector<typename in::type, 4>::type codes)
{
    typedef typename simt_tile_vector<float, 4>::type floats_t;
#ifdef SIMT_TILE_CONVERTS
    if constexpr (in::bits == 8 && in::mantissa == 3 && SIMT_TILE_CONVERTS(in)) {
        const auto low = __builtin_amdgcn_cvt_pk_f32_fp8(__builtin_bit_cast(int, codes), false);
        const auto high = __builtin_amdgcn_cvt_pk_f32_fp8(__builtin_bit_cast(int, codes), true);
        return floats_t{low[0], low[1], high[0], high[1]};
    }
    if constexpr (in::bits == 8 && in::mantissa == 2 && SIMT_TILE_CONVERTS(in)) {
        const auto low = __builtin_amdgcn_cvt_pk_f32_bf8(__builtin_bit_cast(int, codes), false);
        const auto high = __builtin_amdgcn_cvt_pk_f32_bf8(__builtin_bit_cast(int, codes), true);
        return floats_t{low[0], low[1], high[0], high[1]};
    }
#endif
    floats_t values = {};
#if defined(__CUDACC__) && SIMT_ARCH >= 890
    if constexpr (in::bits == 8 && (in::mantissa == 3 || in::mantissa == 2) && !in::fnuz) {
#pragma unroll
        for (int e = 0; e < 4; e += 2) {
            const uint16_t two = static_cast<uint16_t>(codes[e] | codes[e + 1] << 8);
            uint32_t halves;
            if constexpr (in::mantissa == 3)
                asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(two));
            else
                asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(two));
            values[e] = static_cast<float>(__builtin_bit_cast(float16, static_cast<uint16_t>(halves & 0xffffu)));
            values[e + 1] = static_cast<float>(__builtin_bit_cast(float16, static_cast<uint16_t>(halves >> 16)));
        }
        return values;
    }
#endif
#pragma unroll
    for (int e = 0; e < 4; ++e)
        values[e] = static_cast<float>(tile_decode<in>(codes[e]));
    return values;
}

/* Largest finite value. */
template <class in> __device__ static constexpr float simt_tile_largest()
{
    constexpr unsigned code = simt_tile_beyond<in>() - 1;
    constexpr float significand = (code & ((1u << in::mantissa) - 1)) + (1u << in::mantissa);
    float scale = 1;
    for (int power = static_cast<int>(code >> in::mantissa) - in::bias - in::mantissa; power > 0; --power)
        scale *= 2;
    return significand * scale;
}

/* Nearest even. Adding 2^(e + 23 - mantissa) to a magnitude with exponent e leaves in the low bits of the sum how many
 * quanta 2^(e - mantissa) it has, rounded by the adder itself; the exponent of a subnormal is that of the smallest
 * normal number, and a carry into the exponent is the next code. */
template <class in> __device__ static unsigned simt_tile_code(float value)
{
    constexpr unsigned sign = 1u << (in::bits - 1), beyond = simt_tile_beyond<in>();
    constexpr unsigned smallest = static_cast<unsigned>(128 - in::bias) << 23;
    constexpr unsigned infinite = in::infinity ? beyond : in::fnuz ? sign : sign - 1;
    constexpr float limit = in::bits == 8 ? simt_tile_largest<in>() : 131072.0f;
    const unsigned bits = __builtin_bit_cast(unsigned, value), magnitude_bits = bits & 0x7fffffffu;
    const float whole = __builtin_bit_cast(float, magnitude_bits);
    const float magnitude = whole < limit ? whole : limit;
    const unsigned exponent = __builtin_bit_cast(unsigned, magnitude) & 0x7f800000u;
    const unsigned scale = exponent > smallest ? exponent : smallest;
    const unsigned shifter = scale + (static_cast<unsigned>(23 - in::mantissa) << 23);
    const unsigned sum = __builtin_bit_cast(unsigned, magnitude + __builtin_bit_cast(float, shifter));
    const unsigned rounded = ((scale - smallest) >> (23 - in::mantissa)) + (sum - shifter);
    const unsigned finite = rounded < beyond ? rounded : infinite;
    const unsigned nan = in::fnuz ? sign : sign - 1;
    const unsigned code = magnitude_bits > 0x7f800000u ? nan : magnitude_bits == 0x7f800000u ? infinite : finite;
    return in::fnuz && code == 0 ? 0 : code | (bits >> 31) * sign;
}

/* bf16 is the upper half of a float: rounded by adding to its bits, because 2^(e + 16) would overflow. */
__device__ static inline unsigned simt_tile_upper_half(float value)
{
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded;
}

/* Nearest even, saturating, NaN 0: adding 1.5 * 2^23 leaves the whole number in the low bits. */
__device__ static inline int8_t simt_tile_whole(float value)
{
    const float above = value > -128.0f ? value : value <= -128.0f ? -128.0f : 0.0f;
    const float bounded = above < 127.0f ? above : 127.0f;
    return static_cast<int8_t>(__builtin_bit_cast(unsigned, bounded + 12582912.0f) & 0xffu);
}

#ifdef SIMT_TILE_CONVERTS
/* The instruction does not saturate by itself; infinities and NaN pass. */
template <class in> __device__ static float simt_tile_bounded(float value)
{
    constexpr float limit = simt_tile_largest<in>();
    return __builtin_fabsf(value) < __builtin_inff() ? __builtin_amdgcn_fmed3f(value, limit, -limit) : value;
}

/* Two codes into the low or the high half of `other`. */
template <class in, bool high> __device__ static int simt_tile_pair(float first, float second, int other)
{
    const float a = simt_tile_bounded<in>(first), b = simt_tile_bounded<in>(second);
    if constexpr (in::mantissa == 3)
        return __builtin_amdgcn_cvt_pk_fp8_f32(a, b, other, high);
    else
        return __builtin_amdgcn_cvt_pk_bf8_f32(a, b, other, high);
}
#endif

template <class in> __device__ static typename in::type tile_encode(float value)
{
    if constexpr (in::bits >= 32) {
        return value;
    } else if constexpr (in::mantissa == 0) {
        return simt_tile_whole(value);
    } else if constexpr (in::mantissa == 7) {
        return static_cast<typename in::type>(simt_tile_upper_half(value));
    } else {
#if defined(__AMDGCN__) || defined(__CUDACC__)
        if constexpr (in::mantissa == 10)
            return __builtin_bit_cast(typename in::type, static_cast<float16>(value));
#endif
#ifdef SIMT_TILE_CONVERTS
        if constexpr (in::bits == 8 && SIMT_TILE_CONVERTS(in))
            return static_cast<typename in::type>(simt_tile_pair<in, false>(value, value, 0));
#endif
        return static_cast<typename in::type>(simt_tile_code<in>(value));
    }
}

template <class in>
__device__ static typename simt_tile_vector<typename in::type, 4>::type tile_encode4(
    typename simt_tile_vector<float, 4>::type values)
{
    typedef typename simt_tile_vector<typename in::type, 4>::type codes_t;
#ifdef SIMT_TILE_CONVERTS
    if constexpr (in::bits == 8 && in::mantissa != 0 && SIMT_TILE_CONVERTS(in)) {
        const int low = simt_tile_pair<in, false>(values[0], values[1], 0);
        return __builtin_bit_cast(codes_t, simt_tile_pair<in, true>(values[2], values[3], low));
    }
#endif
    codes_t codes = {};
#pragma unroll
    for (int e = 0; e < 4; ++e)
        codes[e] = tile_encode<in>(values[e]);
    return codes;
}
