/* SPDX-License-Identifier: MIT
 *
 * For reference kernels: the elements of a buffer of any dtype as f64. Include it after portable.h. Narrow floats are
 * decoded here by multiplication, on their own, so that an error in the tables or instructions of a kernel cannot be in
 * its reference too.
 *
 *   oracle_element<F>    how an element lies in memory: double, float, uint16_t, uint8_t, int8_t, int32_t
 *   oracle_number<F>(x)  its value
 * F is a dtype's name (a define like "{dtype}"): f64 f32 xf32 f16 bf16 e4m3 e5m2 e4m3fnuz e5m2fnuz i8 i32 u8 u32
 */
#ifndef ROOFTILE_ORACLE_TYPES_H
#define ROOFTILE_ORACLE_TYPES_H

enum oracle_format { f64, f32, xf32, i32, i8, u32, u8, f16, bf16, e4m3, e5m2, e4m3fnuz, e5m2fnuz };

/* Sign, exponent, mantissa. The largest exponent holds infinity and NaN (ieee), one NaN at the end (ocp), or no special
 * value: then the code of a negative zero is NaN (fnuz). */
enum oracle_special { oracle_ieee, oracle_ocp, oracle_fnuz };
template <class word_t, int mantissa_bits, int exponent_bias, oracle_special what> struct oracle_narrow {
    typedef word_t type;
    static constexpr bool narrow = true;
    static constexpr int mantissa = mantissa_bits, bias = exponent_bias;
    static constexpr oracle_special special = what;
};
template <class type_t> struct oracle_plain {
    typedef type_t type;
    static constexpr bool narrow = false;
};
template <int format> struct oracle_of;
template <> struct oracle_of<f64> : oracle_plain<double> {
};
template <> struct oracle_of<f32> : oracle_plain<float> {
};
template <> struct oracle_of<xf32> : oracle_plain<float> {
};
template <> struct oracle_of<i32> : oracle_plain<int32_t> {
};
template <> struct oracle_of<u32> : oracle_plain<uint32_t> {
};
template <> struct oracle_of<i8> : oracle_plain<int8_t> {
};
template <> struct oracle_of<u8> : oracle_plain<uint8_t> {
};
template <> struct oracle_of<f16> : oracle_narrow<uint16_t, 10, 15, oracle_ieee> {
};
template <> struct oracle_of<bf16> : oracle_narrow<uint16_t, 7, 127, oracle_ieee> {
};
template <> struct oracle_of<e4m3> : oracle_narrow<uint8_t, 3, 7, oracle_ocp> {
};
template <> struct oracle_of<e5m2> : oracle_narrow<uint8_t, 2, 15, oracle_ieee> {
};
template <> struct oracle_of<e4m3fnuz> : oracle_narrow<uint8_t, 3, 8, oracle_fnuz> {
};
template <> struct oracle_of<e5m2fnuz> : oracle_narrow<uint8_t, 2, 16, oracle_fnuz> {
};
template <int format> using oracle_element = typename oracle_of<format>::type;

__device__ static double oracle_power_of_two(int exponent)
{
    return __builtin_bit_cast(double, static_cast<uint64_t>(exponent + 1023) << 52);
}

template <int format> __device__ static double oracle_number(oracle_element<format> x)
{
    typedef oracle_of<format> format_t;
    if constexpr (!format_t::narrow) {
        return static_cast<double>(x);
    } else {
        const unsigned sign = 1u << (8 * sizeof(x) - 1), code = x & (sign - 1);
        const unsigned exponent = code >> format_t::mantissa, fraction = code & ((1u << format_t::mantissa) - 1);
        const unsigned top = (sign - 1) >> format_t::mantissa;
        const bool nan = format_t::special == oracle_ieee  ? exponent == top && fraction
                         : format_t::special == oracle_ocp ? code == sign - 1
                                                           : x == sign;
        if (nan)
            return __builtin_nan("");
        if (format_t::special == oracle_ieee && exponent == top)
            return x & sign ? -__builtin_inf() : __builtin_inf();
        const unsigned significand = exponent ? fraction + (1u << format_t::mantissa) : fraction;
        const int power = static_cast<int>(exponent ? exponent : 1) - format_t::bias - format_t::mantissa;
        const double magnitude = significand * oracle_power_of_two(power);
        return x & sign ? -magnitude : magnitude;
    }
}

#endif
