/* SPDX-License-Identifier: MIT
 *
 * For reference kernels: the elements of a buffer of any dtype as f64. Include it after portable.h. Narrow floats are
 * decoded here by multiplication, on their own, so that an error in the tables or instructions of a kernel cannot be in
 * its reference too.
 *
 *   reference_element<F>    how an element lies in memory: double, float, uint16_t, uint8_t, int8_t, int32_t
 *   reference_number<F>(x)  its value
 * F is a dtype's name (a define like "{dtype}"): f64 f32 xf32 f16 bf16 e4m3 e5m2 e4m3fnuz e5m2fnuz i8 i32 u8 u32
 */
#ifndef ROOFTILE_REFERENCE_TYPES_H
#define ROOFTILE_REFERENCE_TYPES_H

enum reference_format { f64, f32, xf32, i32, i8, u32, u8, f16, bf16, e4m3, e5m2, e4m3fnuz, e5m2fnuz };

/* Sign, exponent, mantissa. The largest exponent holds infinity and NaN (ieee), one NaN at the end (ocp), or no special
 * value: then the code of a negative zero is NaN (fnuz). */
enum reference_special { reference_ieee, reference_ocp, reference_fnuz };
template <class word_t, int mantissa_bits, int exponent_bias, reference_special what> struct reference_narrow {
    typedef word_t type;
    static constexpr bool narrow = true;
    static constexpr int mantissa = mantissa_bits, bias = exponent_bias;
    static constexpr reference_special special = what;
};
template <class type_t> struct reference_plain {
    typedef type_t type;
    static constexpr bool narrow = false;
};
template <int format> struct reference_of;
template <> struct reference_of<f64> : reference_plain<double> {
};
template <> struct reference_of<f32> : reference_plain<float> {
};
template <> struct reference_of<xf32> : reference_plain<float> {
};
template <> struct reference_of<i32> : reference_plain<int32_t> {
};
template <> struct reference_of<u32> : reference_plain<uint32_t> {
};
template <> struct reference_of<i8> : reference_plain<int8_t> {
};
template <> struct reference_of<u8> : reference_plain<uint8_t> {
};
template <> struct reference_of<f16> : reference_narrow<uint16_t, 10, 15, reference_ieee> {
};
template <> struct reference_of<bf16> : reference_narrow<uint16_t, 7, 127, reference_ieee> {
};
template <> struct reference_of<e4m3> : reference_narrow<uint8_t, 3, 7, reference_ocp> {
};
template <> struct reference_of<e5m2> : reference_narrow<uint8_t, 2, 15, reference_ieee> {
};
template <> struct reference_of<e4m3fnuz> : reference_narrow<uint8_t, 3, 8, reference_fnuz> {
};
template <> struct reference_of<e5m2fnuz> : reference_narrow<uint8_t, 2, 16, reference_fnuz> {
};
template <int format> using reference_element = typename reference_of<format>::type;

__device__ static double reference_power_of_two(int exponent)
{
    return __builtin_bit_cast(double, static_cast<uint64_t>(exponent + 1023) << 52);
}

template <int format> __device__ static double reference_number(reference_element<format> x)
{
    typedef reference_of<format> format_t;
    if constexpr (!format_t::narrow) {
        return static_cast<double>(x);
    } else {
        const unsigned sign = 1u << (8 * sizeof(x) - 1), code = x & (sign - 1);
        const unsigned exponent = code >> format_t::mantissa, fraction = code & ((1u << format_t::mantissa) - 1);
        const unsigned top = (sign - 1) >> format_t::mantissa;
        const bool nan = format_t::special == reference_ieee  ? exponent == top && fraction
                         : format_t::special == reference_ocp ? code == sign - 1
                                                           : x == sign;
        if (nan)
            return __builtin_nan("");
        if (format_t::special == reference_ieee && exponent == top)
            return x & sign ? -__builtin_inf() : __builtin_inf();
        const unsigned significand = exponent ? fraction + (1u << format_t::mantissa) : fraction;
        const int power = static_cast<int>(exponent ? exponent : 1) - format_t::bias - format_t::mantissa;
        const double magnitude = significand * reference_power_of_two(power);
        return x & sign ? -magnitude : magnitude;
    }
}

#endif
