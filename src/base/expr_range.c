/* SPDX-License-Identifier: MIT
 *
 * Interval arithmetic. The bounds of + - * / are exact: rounding is monotonic, so the extreme results are those of the
 * extreme operands.
 */
#include <float.h>
#include <math.h>

#include "expr_internal.h"

static struct expr_range range(double low, double high, bool whole)
{
    return (struct expr_range){low, high, whole && low >= -0x1p53 && high <= 0x1p53};
}

struct expr_range expr_range_value(double value)
{
    return range(value, value, value == floor(value));
}

struct expr_range expr_range_any(void)
{
    return range(-(double)INFINITY, (double)INFINITY, false);
}

bool expr_range_finite(struct expr_range r)
{
    return r.low >= -DBL_MAX && r.high <= DBL_MAX;
}

struct expr_range expr_range_cut(struct expr_range r)
{
    return range(r.low >= -DBL_MAX ? fmin(r.low, DBL_MAX) : -DBL_MAX,
                 r.high <= DBL_MAX ? fmax(r.high, -DBL_MAX) : DBL_MAX, r.whole);
}

struct expr_range expr_range_either(struct expr_range a, struct expr_range b)
{
    return range(fmin(a.low, b.low), fmax(a.high, b.high), a.whole && b.whole);
}

struct expr_range expr_range_unary(enum expr_op op, struct expr_range a)
{
    switch (op) {
    case OP_NEG:
        return range(-a.high, -a.low, a.whole);
    case OP_ABS:
        return range(fmax(0, fmax(a.low, -a.high)), fmax(-a.low, a.high), a.whole);
    case OP_FLOOR:
        return range(floor(a.low), floor(a.high), true);
    case OP_CEIL:
        return range(ceil(a.low), ceil(a.high), true);
    default:
        return range(0, 1, true);
    }
}

/* Of * and /, which take their extremes at the corners. */
static struct expr_range corners(enum expr_op op, struct expr_range a, struct expr_range b)
{
    const double ll = expr_binary(op, a.low, b.low), lh = expr_binary(op, a.low, b.high);
    const double hl = expr_binary(op, a.high, b.low), hh = expr_binary(op, a.high, b.high);
    return range(fmin(fmin(ll, lh), fmin(hl, hh)), fmax(fmax(ll, lh), fmax(hl, hh)),
                 op == OP_MUL && a.whole && b.whole);
}

/* The remainder has the sign of the dividend and is smaller than the divisor. */
static struct expr_range remainder_range(struct expr_range a, struct expr_range b)
{
    const bool whole = a.whole && b.whole;
    const double most = fmax(fabs(b.low), fabs(b.high)) - (whole ? 1 : 0);
    return range(a.low < 0 ? -fmin(most, -a.low) : 0, a.high > 0 ? fmin(most, a.high) : 0, whole);
}

struct expr_range expr_range_binary(enum expr_op op, struct expr_range a, struct expr_range b)
{
    const bool whole = a.whole && b.whole;
    const bool zero = b.low <= 0 && b.high >= 0;
    switch (op) {
    case OP_ADD:
        return range(a.low + b.low, a.high + b.high, whole);
    case OP_SUB:
        return range(a.low - b.high, a.high - b.low, whole);
    case OP_MUL:
        return corners(op, a, b);
    case OP_DIV:
        return zero ? expr_range_any() : corners(op, a, b);
    case OP_MOD:
        return zero ? expr_range_any() : remainder_range(a, b);
    case OP_POW:
        return expr_range_any();
    case OP_MIN:
        return range(fmin(a.low, b.low), fmin(a.high, b.high), whole);
    case OP_MAX:
        return range(fmax(a.low, b.low), fmax(a.high, b.high), whole);
    default:
        return range(0, 1, true);
    }
}
