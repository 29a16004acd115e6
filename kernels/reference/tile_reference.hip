/* SPDX-License-Identifier: MIT
 *
 * What tile_convert finds, in its three parts. The code nearest to a number, ties to even, is found by search:
 * magnitudes grow with the code, so bisection finds the last one that is not above the number, and the nearer of it and
 * the next is taken. A number beyond the largest becomes that, if it is finite and the format has 8 bits, else
 * infinity, or NaN in formats without one.
 */
#include "portable.h"

enum format { f16, bf16, e4m3, e5m2, e4m3fnuz, e5m2fnuz, FORMATS };
static constexpr unsigned BITS[FORMATS] = {16, 16, 8, 8, 8, 8};
static constexpr int MANTISSA[FORMATS] = {10, 7, 3, 2, 3, 2}, BIAS[FORMATS] = {15, 127, 7, 15, 8, 16};
/* Codes of the largest number, and of infinity or what takes its place. */
static constexpr unsigned LARGEST[FORMATS] = {0x7bff, 0x7f7f, 0x7e, 0x7b, 0x7f, 0x7f};
static constexpr unsigned BEYOND[FORMATS] = {0x7c00, 0x7f80, 0x7f, 0x7c, 0x80, 0x80};

__device__ static inline double power_of_two(int exponent)
{
    return __builtin_bit_cast(double, static_cast<uint64_t>(exponent + 1023) << 52);
}

/* As if every exponent were that of a finite number. */
__device__ static inline double value_of(unsigned code)
{
    const unsigned exponent = code >> MANTISSA[DTYPE], fraction = code & ((1u << MANTISSA[DTYPE]) - 1);
    const unsigned significand = exponent ? fraction + (1u << MANTISSA[DTYPE]) : fraction;
    return significand * power_of_two(static_cast<int>(exponent ? exponent : 1) - BIAS[DTYPE] - MANTISSA[DTYPE]);
}

__device__ static inline unsigned nearest_magnitude(double magnitude)
{
    if (magnitude > 1e300)
        return BEYOND[DTYPE];
    unsigned low = 0, high = LARGEST[DTYPE] + 1;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (value_of(middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    const double below = magnitude - value_of(low), above = value_of(low + 1) - magnitude;
    const unsigned code = low + (above < below || (above == below && low % 2));
    return code <= LARGEST[DTYPE] ? code : BITS[DTYPE] == 8 ? LARGEST[DTYPE] : BEYOND[DTYPE];
}

__device__ static inline double nearest_code(float value)
{
    const unsigned sign = __builtin_bit_cast(uint32_t, value) >> 31 << (BITS[DTYPE] - 1);
    const unsigned code = nearest_magnitude(value < 0 ? -static_cast<double>(value) : static_cast<double>(value));
    const bool fnuz = DTYPE == e4m3fnuz || DTYPE == e5m2fnuz;
    return fnuz && (code == 0 || code == BEYOND[DTYPE]) ? code : code | sign;
}

extern "C" __global__ void tile_reference(double *result, const uint64_t *index, const float *from, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    constexpr unsigned count = 1u << BITS[DTYPE], sign = count / 2;
    const unsigned part = static_cast<unsigned>(index[sample] / count), code = index[sample] % count;
    const unsigned magnitude = code % sign;
    const bool fnuz = DTYPE == e4m3fnuz || DTYPE == e5m2fnuz;
    const bool infinite = !fnuz && DTYPE != e4m3 && magnitude == BEYOND[DTYPE];
    const bool nan = fnuz ? code == sign : magnitude > LARGEST[DTYPE] && !infinite;
    const double value = nan || infinite ? (nan ? 0x1p200 : 0x1p201) : value_of(magnitude);
    if (part == 0)
        result[sample] = code < sign || nan ? value : -value;
    else
        result[sample] = part == 2 ? nearest_code(from[code]) : nan ? 1 : code;
}
