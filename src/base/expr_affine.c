/* SPDX-License-Identifier: MIT
 *
 * Operations on values that rise evenly: indices of rows and columns, `i % columns`, `floor(i / columns)`, and what is
 * added to them. They cost one operation for a whole run of elements, which ends where a remainder begins again or a
 * comparison changes; where such runs would be short the caller computes each element. All numbers are whole and at
 * most 2^50, so that each element is exactly what its own computation would give: sums and products are exact, and so
 * is the floor of a quotient, which is at least 2^-50 of itself away from the next whole number.
 */
#include "expr_internal.h"

#define SHORTEST 128 /* elements: runs that are shorter, again and again, cost more than rows */

static bool is_whole(double x)
{
    return fabs(x) <= EXPR_AFFINE_MAX && x == expr_nearest(x);
}

static bool is_exact(const struct expr_value *x)
{
    return x->over == 1 && (x->step != 0 || is_whole(x->first));
}

static void cut(size_t *count, double elements)
{
    if (elements < (double)*count)
        *count = (size_t)elements;
}

/* Elements, from the first on, whose signs are alike; zero has its own. */
static double same_sign(double first, double step)
{
    const double zero = step != 0 ? -first / step : -1;
    return zero < 0 ? (double)INFINITY : zero == 0 ? 1 : ceil(zero);
}

/* ... that are all below 0, or all not. */
static double same_side(double first, double step)
{
    if (first < 0)
        return step > 0 ? ceil(-first / step) : (double)INFINITY;
    return step < 0 ? expr_rounded_down(first / -step) + 1 : (double)INFINITY;
}

/* Elements until first + step * k leaves 0 .. modulus - 1, in which `first` is. */
static double same_turn(double first, double step, double modulus)
{
    return step > 0 ? expr_rounded_down((modulus - 1 - first) / step) + 1 : expr_rounded_down(first / -step) + 1;
}

static bool set(struct expr_value *x, double first, double step, double over)
{
    *x = (struct expr_value){.first = first, .step = step, .over = over};
    return true;
}

static bool round_down(struct expr_value *x, double sign, size_t *count)
{
    const double first = sign * x->first, step = sign * x->step;
    if (x->over == 1)
        return true;
    if (x->over < SHORTEST * fabs(step))
        return false;
    const double whole = expr_rounded_down(first / x->over);
    cut(count, same_turn(first - whole * x->over, step, x->over));
    return set(x, sign * whole, 0, 1);
}

bool expr_affine_unary(enum expr_op op, struct expr_value *x, size_t *count)
{
    switch (op) {
    case OP_NEG:
        return set(x, -x->first, -x->step, x->over);
    case OP_FLOOR:
        return round_down(x, 1, count);
    case OP_CEIL:
        return round_down(x, -1, count);
    case OP_NOT:
    case OP_TRUTH:
        cut(count, same_sign(x->first, x->step));
        return set(x, (x->first != 0) == (op == OP_TRUTH), 0, 1);
    default:
        return false;
    }
}

static bool remainder_of(struct expr_value *x, double modulus, size_t *count)
{
    const double last = x->first + x->step * (double)(*count - 1);
    if (modulus < SHORTEST * fabs(x->step) || x->first < 0 || last < 0)
        return false;
    const double rest = x->first - expr_rounded_down(x->first / modulus) * modulus;
    cut(count, same_turn(rest, x->step, modulus));
    return set(x, rest, x->step, 1);
}

static bool divide(enum expr_op op, struct expr_value *x, double by, size_t *count)
{
    if (op == OP_MOD)
        return remainder_of(x, fabs(by), count);
    return set(x, by < 0 ? -x->first : x->first, by < 0 ? -x->step : x->step, fabs(by));
}

static bool set_exact(struct expr_value *x, double first, double step, size_t count)
{
    const double last = first + step * (double)(count - 1);
    return fabs(first) <= EXPR_AFFINE_MAX && fabs(last) <= EXPR_AFFINE_MAX && set(x, first, step, 1);
}

bool expr_affine_binary(enum expr_op op, struct expr_value *x, const struct expr_value *y, size_t *count)
{
    if (!is_exact(x) || !is_exact(y))
        return false;
    const double first = x->first - y->first, step = x->step - y->step;
    switch (op) {
    case OP_ADD:
        return set_exact(x, x->first + y->first, x->step + y->step, *count);
    case OP_SUB:
        return set_exact(x, first, step, *count);
    case OP_MUL:
        if (x->step != 0 && y->step != 0)
            return false;
        return set_exact(x, x->first * y->first, x->first * y->step + y->first * x->step, *count);
    case OP_DIV:
    case OP_MOD:
        return y->step == 0 && y->first != 0 && divide(op, x, y->first, count);
    case OP_MIN:
    case OP_MAX:
        cut(count, same_side(first, step));
        *x = (first < 0) == (op == OP_MIN) ? *x : *y;
        return true;
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        cut(count, op == OP_EQ || op == OP_NE   ? same_sign(first, step)
                   : op == OP_LT || op == OP_GE ? same_side(first, step)
                                                : same_side(-first, -step));
        expr_apply_binary(op, &x->first, &y->first, true, 1);
        return set(x, x->first, 0, 1);
    default:
        return false;
    }
}
