/* SPDX-License-Identifier: MIT
 *
 * Sines: the argument becomes quadrant * pi/2 + rest with |rest| <= pi/4; of the rest the Taylor polynomials of both
 * sine and cosine are computed. Logarithms and exponentials: a power of two apart, and a series of what is left.
 */
#include "rooftile/vector_math.h"

#include "rooftile/vector.h"

#define QUADRANTS_PER_RADIAN 0x1.45f306dc9c883p-1
#define NEAR_BELOW 0x1p27 /* so many quadrants have 27 bits, which times 26 are exact */
#define PART 64

/* pi/2 in three parts of 26 bits, and what is left of it. */
static const double quarter[] = {0x1.921fb50000000p+0, 0x1.110b460000000p-26, 0x1.1a62630000000p-54,
                                 0x1.8a2e03707344ap-81};

/* 64 zeros, then the bits of 2/pi after the point. */
static const uint64_t two_over_pi[] = {0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
                                       0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
                                       0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
                                       0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
                                       0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
                                       0xf0cfbc209af4361d, 0xa9e391615ee61b08};

/* Payne and Hanek 1983: of 2/pi only those bits count that times x are below 4 quadrants, and 192 of them suffice. */
static double reduce_far(double x, int *quadrant)
{
    int exponent;
    const uint64_t whole = (uint64_t)ldexp(frexp(fabs(x), &exponent), 53); /* |x| = whole * 2^(exponent - 53) */
    const unsigned first = (unsigned)(exponent - 53 + 62), word = first / 64, shift = first % 64;
    uint64_t bits[3];
    for (unsigned k = 0; k < 3; k++)
        bits[k] = two_over_pi[word + k] << shift | (shift ? two_over_pi[word + k + 1] >> (64 - shift) : 0);
    const __uint128_t low = (__uint128_t)whole * bits[2], middle = (__uint128_t)whole * bits[1] + (low >> 64);
    const uint64_t top = whole * bits[0] + (uint64_t)(middle >> 64); /* 2 bits of quadrants, then the fraction */
    const __uint128_t fraction = (__uint128_t)top << 66 | (__uint128_t)(uint64_t)middle << 2 | (uint64_t)low >> 62;
    const double rest = (double)(__int128_t)fraction * 0x1p-128 * (quarter[0] + quarter[1]);
    *quadrant = (int)(top >> 62) + (int)(fraction >> 127);
    if (x > 0)
        return rest;
    *quadrant = -*quadrant;
    return -rest;
}

static inline void reduce_near(double *x, int *quadrants, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const double turns = x[k] * QUADRANTS_PER_RADIAN, near = (turns + 0x1.8p52) - 0x1.8p52;
        quadrants[k] = (int)near;
        x[k] = (((x[k] - near * quarter[0]) - near * quarter[1]) - near * quarter[2]) - near * quarter[3];
    }
}

/* |x| <= pi/4: what follows is below a quarter of the last bit. */
static inline double sine(double x, double z)
{
    const double sum =
        -1. / 6 +
        z * (1. / 120 +
             z * (-1. / 5040 +
                  z * (1. / 362880 + z * (-1. / 39916800 + z * (1. / 6227020800 + z * (-1. / 1307674368000 +
                                                                                       z * (1. / 355687428096000)))))));
    return x + x * (z * sum);
}

static inline double cosine(double z)
{
    const double sum =
        1. / 24 +
        z * (-1. / 720 +
             z * (1. / 40320 +
                  z * (-1. / 3628800 + z * (1. / 479001600 + z * (-1. / 87178291200 + z * (1. / 20922789888000))))));
    return 1 - (z / 2 - z * z * sum);
}

WIDER static void sines_part(double *x, size_t count, int ahead)
{
    int quadrants[PART];
    bool near = true;
    for (size_t k = 0; k < count; k++)
        near &= fabs(x[k]) < NEAR_BELOW;
    if (near)
        reduce_near(x, quadrants, count);
    for (size_t k = 0; !near && k < count; k++)
        if (fabs(x[k]) < NEAR_BELOW)
            reduce_near(&x[k], &quadrants[k], 1);
        else
            x[k] = reduce_far(x[k], &quadrants[k]);
    for (size_t k = 0; k < count; k++) {
        const int quadrant = quadrants[k] + ahead;
        const double z = x[k] * x[k], value = quadrant & 1 ? cosine(z) : sine(x[k], z);
        x[k] = quadrant & 2 ? -value : value;
    }
}

void vector_sines(double *x, size_t count, int ahead)
{
    for (size_t k = 0; k < count; k += PART)
        sines_part(x + k, count - k < PART ? count - k : PART, ahead);
}

/* ---- logarithms and exponentials ---- */

#define LN2_HIGH 0x1.62e42fefa3800p-1 /* 42 bits: times an exponent it is exact */
#define LN2_LOW 0x1.ef35793c76730p-45
#define LOG2_E 0x1.71547652b82fep+0
#define ONE_BITS 0x3ff0000000000000u
#define ROOT_HALF_BITS 0x3fe6a09e667f3bcdu

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* x = m * 2^e with sqrt(1/2) <= m < sqrt(2); log(m) = 2 * atanh((m - 1) / (m + 1)). */
WIDER void vector_logs(double *x, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const uint64_t bits = bits_of(x[k]), biased = (bits + (ONE_BITS - ROOT_HALF_BITS)) >> 52;
        const double m = double_of(bits - (biased << 52) + ONE_BITS);
        const double e = double_of(biased | 0x4330000000000000u) - 0x1p52 - 1023;
        const double s = (m - 1) / (m + 1), z = s * s;
        const double sum =
            z *
            (2. / 3 +
             z * (2. / 5 +
                  z * (2. / 7 +
                       z * (2. / 9 + z * (2. / 11 + z * (2. / 13 + z * (2. / 15 + z * (2. / 17 + z * (2. / 19)))))))));
        x[k] = e * LN2_HIGH + (2 * s + (s * sum + e * LN2_LOW));
    }
}

/* x = n * log(2) + rest with |rest| <= log(2) / 2. */
WIDER void vector_exps(double *x, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const double shifted = x[k] * LOG2_E + 0x1.8p52, n = shifted - 0x1.8p52;
        const double r = (x[k] - n * LN2_HIGH) - n * LN2_LOW;
        const double sum =
            r *
            (1. / 2 +
             r * (1. / 6 +
                  r * (1. / 24 +
                       r * (1. / 120 +
                            r * (1. / 720 +
                                 r * (1. / 5040 +
                                      r * (1. / 40320 +
                                           r * (1. / 362880 +
                                                r * (1. / 3628800 + r * (1. / 39916800 + r * (1. / 479001600)))))))))));
        x[k] = (1 + (r + r * sum)) * double_of((bits_of(shifted) << 52) + ONE_BITS);
    }
}
