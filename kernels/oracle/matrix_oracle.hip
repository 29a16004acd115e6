/* SPDX-License-Identifier: MIT
 *
 * What matrix_peak's accumulators add up to: elements of M x M matrices, one after the other, all equal. A round adds
 * `iterations` times the products of every matrix of `left` (M x depth) with every one of `right` (depth x M). For i8
 * in integers that wrap at 32 bits, so exact; else in f64. Narrow floats are decoded here by multiplication, on their
 * own.
 */
#include "portable.h"

enum format { f64, f32, f16, bf16, e4m3, e5m2, e4m3fnuz, e5m2fnuz, i8 };

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
typedef element_of<DTYPE>::type element;
static constexpr bool is_integer = DTYPE == i8;
static constexpr bool is_plain = DTYPE == i8 || DTYPE == f32 || DTYPE == f64;

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

/* Finite values only: there are no others in the operands. */
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

KERNEL void matrix_oracle(double *result, const uint64_t *index, const element *left, const element *right,
                          uint32_t iterations, uint32_t rounds, uint32_t lefts, uint32_t rights, uint32_t m,
                          uint32_t depth, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t row = index[sample] / m % m, column = index[sample] % m;
    total_t sum = 0;
    for (uint32_t i = 0; i < lefts; ++i)
        for (uint32_t j = 0; j < rights; ++j)
            for (uint32_t k = 0; k < depth; ++k)
                sum += number(left[(static_cast<uint64_t>(i) * m + row) * depth + k]) *
                       number(right[(static_cast<uint64_t>(j) * depth + k) * m + column]);
    total_t total = 0;
    for (uint32_t round = 0; round < rounds; ++round)
        total = total / 2 + iterations * sum;
    result[sample] = static_cast<double>(total);
}
KERNEL_EXPORT(matrix_oracle)
