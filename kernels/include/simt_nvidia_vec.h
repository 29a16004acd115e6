/* SPDX-License-Identifier: MIT
 *
 * What nvcc lacks: vectors of elements with operators, and a half-precision number. Laid out as clang's ext_vector_type
 * is, so that buffers and kernel arguments mean the same. Private: the contract is in portable.h.
 */
#ifndef ROOFTILE_SIMT_NVIDIA_VEC_H
#define ROOFTILE_SIMT_NVIDIA_VEC_H

/* Bits of an f16; nvcc's own _Float16 is for the host. Conversions and arithmetic are one instruction each. */
struct float16 {
    uint16_t bits;

    float16() = default;
    template <class number_t, class = decltype(+number_t())> __device__ float16(number_t value)
    {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(static_cast<float>(value)));
    }
    __device__ operator float() const
    {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }
};
#define _Float16 float16

/* Operations on elements, and on the two halves of a word at once. */
#define SIMT_HALVES(name, word)                                                                                        \
    static constexpr bool has_two = true;                                                                              \
    __device__ static float16 one(float16 a, float16 b)                                                                \
    {                                                                                                                  \
        float16 result;                                                                                                \
        asm(word ".f16 %0, %1, %2;" : "=h"(result.bits) : "h"(a.bits), "h"(b.bits));                                   \
        return result;                                                                                                 \
    }                                                                                                                  \
    __device__ static uint32_t two(uint32_t a, uint32_t b)                                                             \
    {                                                                                                                  \
        uint32_t result;                                                                                               \
        asm(word ".f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));                                                \
        return result;                                                                                                 \
    }
#define SIMT_OPERATION(name, sign, halves)                                                                             \
    struct simt_##name {                                                                                               \
        template <class element_t> __device__ static element_t one(element_t a, element_t b)                           \
        {                                                                                                              \
            return static_cast<element_t>(a sign b);                                                                   \
        }                                                                                                              \
        halves                                                                                                         \
    };
#define SIMT_NO_HALVES static constexpr bool has_two = false;
SIMT_OPERATION(add, +, SIMT_HALVES(add, "add.rn"))
SIMT_OPERATION(sub, -, SIMT_HALVES(sub, "sub.rn"))
SIMT_OPERATION(mul, *, SIMT_HALVES(mul, "mul.rn"))
SIMT_OPERATION(div, /, SIMT_NO_HALVES)
SIMT_OPERATION(rem, %, SIMT_NO_HALVES)
SIMT_OPERATION(and, &, SIMT_NO_HALVES)
SIMT_OPERATION(or, |, SIMT_NO_HALVES)
SIMT_OPERATION(xor, ^, SIMT_NO_HALVES)
SIMT_OPERATION(left, <<, SIMT_NO_HALVES)
SIMT_OPERATION(right, >>, SIMT_NO_HALVES)

/* An operand of another type, as clang has it: integers become half precision, else the half becomes that type. */
template <class number_t> struct simt_half_common {
    typedef float16 type;
};
template <> struct simt_half_common<float> {
    typedef float type;
};
template <> struct simt_half_common<double> {
    typedef double type;
};
#define SIMT_HALF_OPERATOR(sign, both)                                                                                 \
    __device__ static inline float16 operator sign(float16 a, float16 b)                                               \
    {                                                                                                                  \
        return both;                                                                                                   \
    }                                                                                                                  \
    template <class number_t, class = decltype(+number_t())>                                                           \
    __device__ static auto operator sign(float16 a, number_t b)                                                        \
    {                                                                                                                  \
        typedef typename simt_half_common<number_t>::type common_t;                                                    \
        return static_cast<common_t>(a) sign static_cast<common_t>(b);                                                 \
    }                                                                                                                  \
    template <class number_t, class = decltype(+number_t())>                                                           \
    __device__ static auto operator sign(number_t a, float16 b)                                                        \
    {                                                                                                                  \
        typedef typename simt_half_common<number_t>::type common_t;                                                    \
        return static_cast<common_t>(a) sign static_cast<common_t>(b);                                                 \
    }
SIMT_HALF_OPERATOR(+, simt_add::one(a, b))
SIMT_HALF_OPERATOR(-, simt_sub::one(a, b))
SIMT_HALF_OPERATOR(*, simt_mul::one(a, b))
SIMT_HALF_OPERATOR(/, static_cast<float>(a) / static_cast<float>(b))

/* A builtin of clang that nvcc lacks. */
template <class element_t> struct simt_is_whole {
    static constexpr bool value = static_cast<element_t>(0.5f) == static_cast<element_t>(0);
};
template <> struct simt_is_whole<float16> {
    static constexpr bool value = false;
};
#define __is_integral(type_t) (simt_is_whole<type_t>::value)

template <class element_t> struct simt_is_half {
    static constexpr bool value = false;
};
template <> struct simt_is_half<float16> {
    static constexpr bool value = true;
};

/* A whole number of the same size: what comparing elements gives. */
template <int bytes> struct simt_mask_of;
template <> struct simt_mask_of<1> {
    typedef int8_t type;
};
template <> struct simt_mask_of<2> {
    typedef int16_t type;
};
template <> struct simt_mask_of<4> {
    typedef int32_t type;
};
template <> struct simt_mask_of<8> {
    typedef int64_t type;
};

__device__ static constexpr int simt_power_above(int bytes)
{
    int power = 1;
    while (power < bytes)
        power *= 2;
    return power;
}

#define SIMT_BINARY(name, sign)                                                                                        \
    friend __device__ simt_vec operator sign(simt_vec a, simt_vec b)                                                   \
    {                                                                                                                  \
        return a.template with<simt_##name>(b);                                                                        \
    }                                                                                                                  \
    __device__ simt_vec &operator sign##=(simt_vec b)                                                                  \
    {                                                                                                                  \
        return *this = this->template with<simt_##name>(b);                                                            \
    }
#define SIMT_COMPARISON(sign)                                                                                          \
    friend __device__ mask_t operator sign(simt_vec a, simt_vec b)                                                     \
    {                                                                                                                  \
        mask_t mask = {};                                                                                              \
        UNROLL                                                                                                         \
        for (int e = 0; e < count; ++e)                                                                                \
            mask[e] = a.at[e] sign b.at[e] ? -1 : 0;                                                                   \
        return mask;                                                                                                   \
    }

template <class element_t, int count, int alignment> struct alignas(alignment) simt_vec {
    typedef simt_vec<typename simt_mask_of<sizeof(element_t)>::type, count,
        simt_power_above(count *static_cast<int>(sizeof(element_t)))>
        mask_t;
    element_t at[count];

    simt_vec() = default;
    template <class number_t, class = decltype(+number_t())> __device__ simt_vec(number_t value)
    {
#pragma unroll
        for (int e = 0; e < count; ++e)
            at[e] = static_cast<element_t>(value);
    }
    template <class first_t, class second_t, class... rest_t>
    __device__ simt_vec(first_t first, second_t second, rest_t... rest)
        : at{static_cast<element_t>(first), static_cast<element_t>(second), static_cast<element_t>(rest)...}
    {
    }
    /* The same vector with another alignment. */
    template <int other> __device__ simt_vec(const simt_vec<element_t, count, other> &from)
    {
#pragma unroll
        for (int e = 0; e < count; ++e)
            at[e] = from.at[e];
    }

    __device__ element_t &operator[](size_t e)
    {
        return at[e];
    }
    __device__ const element_t &operator[](size_t e) const
    {
        return at[e];
    }

    template <class operation> __device__ simt_vec with(simt_vec b) const
    {
        simt_vec result;
        if constexpr (simt_is_half<element_t>::value && count % 2 == 0 && operation::has_two) {
            uint32_t left[count / 2], right[count / 2];
            __builtin_memcpy(left, at, sizeof(left));
            __builtin_memcpy(right, b.at, sizeof(right));
#pragma unroll
            for (int w = 0; w < count / 2; ++w)
                left[w] = operation::two(left[w], right[w]);
            __builtin_memcpy(result.at, left, sizeof(left));
        } else {
#pragma unroll
            for (int e = 0; e < count; ++e)
                result.at[e] = operation::one(at[e], b.at[e]);
        }
        return result;
    }

    SIMT_BINARY(add, +)
    SIMT_BINARY(sub, -)
    SIMT_BINARY(mul, *)
    SIMT_BINARY(div, /)
    SIMT_BINARY(rem, %)
    SIMT_BINARY(and, &)
    SIMT_BINARY(or, |)
    SIMT_BINARY(xor, ^)
    SIMT_BINARY(left, <<)
    SIMT_BINARY(right, >>)
    SIMT_COMPARISON(==)
    SIMT_COMPARISON(!=)
    SIMT_COMPARISON(<)
    SIMT_COMPARISON(<=)
    SIMT_COMPARISON(>)
    SIMT_COMPARISON(>=)

    __device__ simt_vec operator-() const
    {
        simt_vec result;
#pragma unroll
        for (int e = 0; e < count; ++e)
            result.at[e] = static_cast<element_t>(-at[e]);
        return result;
    }
    __device__ simt_vec operator~() const
    {
        simt_vec result;
#pragma unroll
        for (int e = 0; e < count; ++e)
            result.at[e] = static_cast<element_t>(~at[e]);
        return result;
    }
};

template <class element_t, int count> struct simt_vec_of {
    typedef simt_vec<element_t, count, simt_power_above(count *static_cast<int>(sizeof(element_t)))> type;
};

template <class element_t, int count> struct vec {
    typedef typename simt_vec_of<element_t, count>::type type;
};
template <class element_t> struct vec<element_t, 1> {
    typedef element_t type;
};

/* Where its elements are aligned and it need not be. There is no access of fewer than an element's bytes: then all has
 * to be. */
template <class element_t, int count, int alignment = sizeof(element_t)> struct unaligned_vec {
    static constexpr int whole = simt_power_above(count * static_cast<int>(sizeof(element_t)));
    typedef simt_vec<element_t, count, (alignment < static_cast<int>(alignof(element_t)) ? whole : alignment)> type;
};

template <class type_t> __device__ static type_t select(bool mask, type_t a, type_t b)
{
    return mask ? a : b;
}

template <class mask_t, class element_t, int count, int alignment>
__device__ static simt_vec<element_t, count, alignment> select(
    mask_t mask, simt_vec<element_t, count, alignment> a, simt_vec<element_t, count, alignment> b)
{
    simt_vec<element_t, count, alignment> result;
#pragma unroll
    for (int e = 0; e < count; ++e)
        result.at[e] = mask.at[e] ? a.at[e] : b.at[e];
    return result;
}

template <class to_t> struct simt_converter;
template <class to_t, int count, int alignment> struct simt_converter<simt_vec<to_t, count, alignment>> {
    template <class from_t> __device__ static simt_vec<to_t, count, alignment> of(const from_t &from)
    {
        simt_vec<to_t, count, alignment> result;
#pragma unroll
        for (int e = 0; e < count; ++e)
            result.at[e] = static_cast<to_t>(from.at[e]);
        return result;
    }
};
#define __builtin_convertvector(value, ...) (simt_converter<__VA_ARGS__>::of(value))

#endif
