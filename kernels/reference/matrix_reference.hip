/* SPDX-License-Identifier: MIT
 *
 * What matrix_peak's accumulators add up to: elements of M x M matrices, one after the other, all equal. A round adds
 * `iterations` times the products of every matrix of `left` (M x depth) with every one of `right` (depth x M); `left`
 * may be sparse, with two of every four along depth. Integers in arithmetic that wraps at 32 bits, so exactly; others
 * in f64. Narrow floats are decoded here by multiplication, independently. Numbers of 6 and 4 bits are packed along
 * depth. `extra` is added to every element.
 */
#include "portable.h"

enum packed { BY_DTYPE, E2M3 = 2, E3M2, E2M1, I4 };
enum format { f64, f32, f16, bf16, e4m3, e5m2, e4m3fnuz, e5m2fnuz, i8, u8 };

template <int format> struct element_of {
    typedef uint8_t type;
    static constexpr int mantissa = format == e4m3 || format == e4m3fnuz ? 3 : 2;
    static constexpr int bias = format == e4m3 ? 7 : format == e5m2 ? 15 : format == e4m3fnuz ? 8 : 16;
};
template <> struct element_of<f64> {
    typedef double type;
};
template <> struct element_of<f32> {
    typedef float type;
};
template <> struct element_of<i8> {
    typedef int8_t type;
};
template <> struct element_of<f16> {
    typedef uint16_t type;
    static constexpr int mantissa = 10, bias = 15;
};
template <> struct element_of<bf16> {
    typedef uint16_t type;
    static constexpr int mantissa = 7, bias = 127;
};
template <bool by_dtype> struct stored {
    typedef typename element_of<DTYPE>::type type;
};
template <> struct stored<false> {
    typedef uint8_t type;
};
typedef stored<FORMAT == BY_DTYPE>::type element;
static constexpr bool is_integer = FORMAT == I4 || (FORMAT == BY_DTYPE && DTYPE == i8);
static constexpr bool is_plain = DTYPE == i8 || DTYPE == f32 || DTYPE == f64;
static constexpr unsigned PACKED_BITS = FORMAT >= E2M1 ? 4 : 6;

template <bool integer> struct total_of {
    typedef double type;
};
template <> struct total_of<true> {
    typedef uint32_t type;
};
typedef total_of<is_integer>::type total_t;

__device__ static double power_of_two(int exponent)
{
    return __builtin_bit_cast(double, static_cast<uint64_t>(exponent + 1023) << 52);
}

/* Finite values only: operands have no others. */
template <class format_t> __device__ static double decode(unsigned code)
{
    constexpr unsigned sign = 1u << (8 * sizeof(typename format_t::type) - 1);
    const unsigned exponent = (code & (sign - 1)) >> format_t::mantissa;
    const unsigned fraction = code & ((1u << format_t::mantissa) - 1);
    const unsigned significand = exponent ? fraction + (1u << format_t::mantissa) : fraction;
    const int power = static_cast<int>(exponent ? exponent : 1) - format_t::bias - format_t::mantissa;
    const double magnitude = significand * power_of_two(power);
    return code & sign ? -magnitude : magnitude;
}

template <class type_t> __device__ static total_t number(type_t x)
{
    if constexpr (is_plain)
        return static_cast<total_t>(x);
    else
        return decode<element_of<DTYPE>>(x);
}

/* Numbers of 4 or 6 bits. The floats have no infinities and no NaN; e2m3 and e2m1 have a bias of 1, e3m2 of 3. */
__device__ static inline total_t unpacked(unsigned code)
{
    if constexpr (FORMAT == I4) {
        return static_cast<total_t>(code < 8 ? static_cast<int>(code) : static_cast<int>(code) - 16);
    } else {
        constexpr unsigned mantissa = FORMAT == E2M3 ? 3 : FORMAT == E3M2 ? 2 : 1;
        constexpr int bias = FORMAT == E3M2 ? 3 : 1;
        constexpr unsigned sign = 1u << (PACKED_BITS - 1);
        const unsigned exponent = (code & (sign - 1)) >> mantissa, fraction = code & ((1u << mantissa) - 1);
        const unsigned significand = exponent ? fraction + (1u << mantissa) : fraction;
        const int power = static_cast<int>(exponent ? exponent : 1) - bias - static_cast<int>(mantissa);
        const double magnitude = significand * power_of_two(power);
        return static_cast<total_t>(code & sign ? -magnitude : magnitude);
    }
}

/* Number k of those at `from`, whose bytes or elements are `stride` apart. */
__device__ static inline total_t number_at(const element *from, uint64_t stride, uint32_t k)
{
    if constexpr (FORMAT == BY_DTYPE) {
        return number(from[k * stride]);
    } else {
        unsigned code = 0;
        for (unsigned bit = 0; bit < PACKED_BITS; ++bit) {
            const unsigned at = k * PACKED_BITS + bit;
            code |= (static_cast<unsigned>(from[at / 8 * stride]) >> at % 8 & 1u) << bit;
        }
        return unpacked(code);
    }
}

extern "C" __global__ void matrix_reference(double *result, const uint64_t *index, const element *left,
    const element *right, uint32_t iterations, uint32_t rounds, uint32_t lefts, uint32_t rights, uint32_t m,
    uint32_t depth, uint32_t sparse, uint32_t pattern, double extra, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint32_t stored_depth = FORMAT == BY_DTYPE ? depth : depth * PACKED_BITS / 8;
    const uint64_t row = index[sample] / m % m, column = index[sample] % m;
    total_t sum = 0;
    for (uint32_t i = 0; i < lefts; ++i)
        for (uint32_t j = 0; j < rights; ++j)
            for (uint32_t k = 0; k < depth / sparse; ++k) {
                const uint32_t position = k % 2 ? pattern / 4 : pattern % 4;
                sum += number_at(left + (static_cast<uint64_t>(i) * m + row) * (stored_depth / sparse), 1, k) *
                       number_at(right + static_cast<uint64_t>(j) * stored_depth * m + column, m,
                           sparse == 2 ? k / 2 * 4 + position : k);
            }
    total_t total = 0;
    for (uint32_t round = 0; round < rounds; ++round)
        total = total / 2 + iterations * sum;
    result[sample] = static_cast<double>(total) + extra;
}
