/* SPDX-License-Identifier: MIT
 *
 * Operations on rows: loops that compilers turn into vector code.
 */
#include <math.h>
#include <string.h>

#include "expr_internal.h"
#include "rooftile/vector.h"
#include "rooftile/vector_math.h"

/* Of whole numbers below 2^50 by plain arithmetic, as fmod takes ten times as long: the estimated quotient is within
 * 0.75 of x/m (0.5 by rounding to nearest, 2^50 * 2^-52 by the reciprocal) and its product with m exact, so that one
 * correction suffices. */
static inline double remainder_of(double x, double m, double reciprocal)
{
    const double size = fabs(x), rest = size - ((size * reciprocal + 0x1p52) - 0x1p52) * m;
    return copysign(rest < 0 ? rest + m : rest, x);
}

/* The sum of `expression` of each a of x. Eight sums: the additions of one may not be reordered into vector code. */
#define SUM(expression)                                                                                                \
    double sums[8] = {0};                                                                                              \
    size_t k = 0;                                                                                                      \
    for (; k + 8 <= count; k += 8)                                                                                     \
        for (size_t j = 0; j < 8; j++) {                                                                               \
            const double a = x[k + j];                                                                                 \
            sums[j] += (expression);                                                                                   \
        }                                                                                                              \
    for (; k < count; k++) {                                                                                           \
        const double a = x[k];                                                                                         \
        sums[0] += (expression);                                                                                       \
    }                                                                                                                  \
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7]

WIDER double expr_not_finite(const double *x, size_t count)
{
    SUM(a - a);
}

WIDER double expr_not_zero(const double *x, size_t count)
{
    SUM(a != 0 ? 1.0 : 0.0);
}

/* 0 where remainder_of takes all, else more, or NaN. */
WIDER static double not_whole(const double *x, size_t count)
{
    SUM(fabs(a) < 0x1p50 ? fabs((fabs(a) + 0x1p52) - 0x1p52 - fabs(a)) : 1.0);
}

WIDER void expr_select(double *restrict condition, const double *restrict yes, const double *restrict no, size_t count)
{
    for (size_t k = 0; k < count; k++)
        condition[k] = condition[k] != 0 ? yes[k] : no[k];
}

#define EACH(expression)                                                                                               \
    for (size_t k = 0; k < count; k++) {                                                                               \
        const double a = x[k];                                                                                         \
        x[k] = (expression);                                                                                           \
    }                                                                                                                  \
    break

/* NaN for what has no bits. */
static inline double inverted(double a)
{
    return fabs(a) <= EXPR_BITS_MAX && (double)(int64_t)a == a ? -a - 1 : (double)NAN;
}

static inline bool have_bits(double a, double b)
{
    return fabs(a) <= EXPR_BITS_MAX && fabs(b) <= EXPR_BITS_MAX && (double)(int64_t)a == a && (double)(int64_t)b == b;
}

/* Then a / b and a * (1 / b) are the same, and a product is vector code of a clock. */
static inline bool is_power_of_two(double b)
{
    int exponent;
    return fabs(frexp(b, &exponent)) == 0.5 && abs(exponent) < 1000;
}

static inline bool can_shift(double a, double b)
{
    return have_bits(a, b) && b >= 0 && b < 64;
}

#define BITS(a, operation, b) ((double)((int64_t)(a)operation(int64_t)(b)))

WIDER void expr_apply_unary(enum expr_op op, double *x, size_t count)
{
    switch (op) {
    case OP_NEG:
        EACH(-a);
    case OP_NOT:
        EACH(a == 0 ? 1.0 : 0.0);
    case OP_TRUTH:
        EACH(a != 0 ? 1.0 : 0.0);
    case OP_ABS:
        EACH(fabs(a));
    case OP_FLOOR:
        EACH(expr_rounded_down(a));
    case OP_INVERT:
        EACH(inverted(a));
    case OP_SIN:
    case OP_COS:
        vector_sines(x, count, op == OP_COS);
        break;
    default:
        EACH(-expr_rounded_down(-a));
    }
}

#define EACH_WITH(expression)                                                                                          \
    if (one) {                                                                                                         \
        const double b = y[0];                                                                                         \
        EACH(expression);                                                                                              \
    }                                                                                                                  \
    for (size_t k = 0; k < count; k++) {                                                                               \
        const double a = x[k], b = y[k];                                                                               \
        x[k] = (expression);                                                                                           \
    }                                                                                                                  \
    break

WIDER void expr_apply_binary(enum expr_op op, double *restrict x, const double *restrict y, bool one, size_t count)
{
    switch (op) {
    case OP_ADD:
        EACH_WITH(a + b);
    case OP_SUB:
        EACH_WITH(a - b);
    case OP_MUL:
        EACH_WITH(a * b);
    case OP_DIV:
        if (one && is_power_of_two(y[0])) {
            const double inverse = 1 / y[0];
            EACH(a * inverse);
        }
        EACH_WITH(a / b);
    case OP_MOD:
        if (one && fabs(y[0]) == 1) {
            EACH(copysign(fabs(a) - expr_rounded_down(fabs(a)), a));
        }
        if (not_whole(x, count) != 0 || not_whole(y, one ? 1 : count) != 0) {
            EACH_WITH(fmod(a, b));
        }
        EACH_WITH(remainder_of(a, fabs(b), 1 / fabs(b)));
    case OP_POW:
        EACH_WITH(pow(a, b));
    case OP_BIT_AND:
        EACH_WITH(have_bits(a, b) ? BITS(a, &, b) : (double)NAN);
    case OP_BIT_OR:
        EACH_WITH(have_bits(a, b) ? BITS(a, |, b) : (double)NAN);
    case OP_BIT_XOR:
        EACH_WITH(have_bits(a, b) ? BITS(a, ^, b) : (double)NAN);
    case OP_SHIFT_LEFT:
        EACH_WITH(can_shift(a, b) ? a * (double)((uint64_t)1 << (int)b) : (double)NAN);
    case OP_SHIFT_RIGHT:
        EACH_WITH(can_shift(a, b) ? BITS(a, >>, b) : (double)NAN);
    case OP_EQ:
        EACH_WITH(a == b ? 1.0 : 0.0);
    case OP_NE:
        EACH_WITH(a != b ? 1.0 : 0.0);
    case OP_LT:
        EACH_WITH(a < b ? 1.0 : 0.0);
    case OP_LE:
        EACH_WITH(a <= b ? 1.0 : 0.0);
    case OP_GT:
        EACH_WITH(a > b ? 1.0 : 0.0);
    case OP_GE:
        EACH_WITH(a >= b ? 1.0 : 0.0);
    case OP_MIN:
        EACH_WITH(a < b ? a : b);
    default:
        EACH_WITH(a > b ? a : b);
    }
}

WIDER void expr_write_elements(double *x, const struct expr_value *value, size_t count)
{
    const double first = value->first, step = value->step, over = value->over;
    for (int k = 0; k < (int)count; k++)
        x[k] = first + step * k;
    if (over != 1)
        expr_apply_binary(OP_DIV, x, &over, true, count);
}
