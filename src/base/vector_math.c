/* SPDX-License-Identifier: MIT
 *
 * Sines: the argument becomes quadrant * pi/2 + rest with |rest| <= pi/4; the Taylor polynomials of both sine and
 * cosine are computed for the rest. Logarithms and exponentials: a power of two is split off, and a series computes the
 * rest.
 */
#include "rooftile/vector_math.h"

#include <math.h>

#include "rooftile/vector.h"

#define QUADRANTS_PER_RADIAN 0x1.45f306dc9c883p-1
#define NEAR_BELOW 0x1p27 /* quadrants below this have 27 bits, whose product with 26 bits is exact */

/* pi/2 in three parts of 26 bits, and the remainder. */
static const double quarter[] = {0x1.921fb50000000p+0, 0x1.110b460000000p-26, 0x1.1a62630000000p-54,
                                 0x1.8a2e03707344ap-81};

/* |x| <= pi/4: the omitted terms are below a quarter of the last bit. */
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

WIDER static void near_sines(double *x, size_t count, int ahead)
{
    for (size_t k = 0; k < count; k++) {
        const double turns = x[k] * QUADRANTS_PER_RADIAN, near = (turns + 0x1.8p52) - 0x1.8p52;
        const double rest = (((x[k] - near * quarter[0]) - near * quarter[1]) - near * quarter[2]) - near * quarter[3];
        const int quadrant = (int)near + ahead;
        const double z = rest * rest, value = quadrant & 1 ? cosine(z) : sine(rest, z);
        x[k] = quadrant & 2 ? -value : value;
    }
}

void vector_sines(double *x, size_t count, int ahead)
{
    bool near = true;
    for (size_t k = 0; k < count; k++)
        near &= fabs(x[k]) < NEAR_BELOW;
    if (near)
        near_sines(x, count, ahead);
    for (size_t k = 0; !near && k < count; k++)
        if (fabs(x[k]) < NEAR_BELOW)
            near_sines(&x[k], 1, ahead);
        else
            x[k] = ahead ? cos(x[k]) : sin(x[k]);
}

/* ---- logarithms and exponentials ---- */

#define LN2_HIGH 0x1.62e42fefa3800p-1 /* 42 bits: the product with an exponent is exact */
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
