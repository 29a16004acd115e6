/* SPDX-License-Identifier: MIT
 *
 * Runs of i: each operation works on a row of elements, so that compilers turn it into vector code. A value that does
 * not depend on i stays one number. Bounds of every value travel along: they show which results need no check for
 * infinity and which remainders are exact in plain arithmetic. As soon as any result of a block is not finite, even on
 * a side that a choice will not take, the block is computed again element by element by expr_run, which knows which
 * fault is real.
 */
#include <float.h>
#include <math.h>

#include "expr_internal.h"

#define AREA 8192      /* doubles of stack for the rows: 64 KiB */
#define BLOCK_MAX 1024 /* three rows of it fit the first-level cache */

struct lane {
    bool varies;  /* a row; else one value */
    double value; /* of one that does not vary */
    struct expr_range range;
};

struct block {
    const struct expr *expr;
    const double *slots;
    double first;
    size_t count;
    double *out;       /* row 0 */
    double *area;      /* the other rows */
    size_t row_length; /* at least count */
    struct lane stack[EXPR_MAX_STACK];
    size_t top;
    bool merge[EXPR_MAX_STACK]; /* for each open choice: both sides run */
    size_t choices;
};

static double *row(const struct block *b, size_t index)
{
    return index ? b->area + (index - 1) * b->row_length : b->out;
}

/* Row of a and a row, row of a and one value, one value and a row. */
#define KERNEL(name, expression)                                                                                       \
    static void name##_rr(double *restrict out, const double *restrict right, size_t count)                            \
    {                                                                                                                  \
        for (size_t k = 0; k < count; k++) {                                                                           \
            const double a = out[k], b = right[k];                                                                     \
            out[k] = (expression);                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_rv(double *out, double b, size_t count)                                                         \
    {                                                                                                                  \
        for (size_t k = 0; k < count; k++) {                                                                           \
            const double a = out[k];                                                                                   \
            out[k] = (expression);                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_vr(double *restrict out, double a, const double *restrict right, size_t count)                  \
    {                                                                                                                  \
        for (size_t k = 0; k < count; k++) {                                                                           \
            const double b = right[k];                                                                                 \
            out[k] = (expression);                                                                                     \
        }                                                                                                              \
    }

KERNEL(add, a + b)
KERNEL(sub, a - b)
KERNEL(mul, (a * b))
KERNEL(div, a / b)
KERNEL(mod, fmod(a, b))
KERNEL(power, pow(a, b))
KERNEL(eq, a == b ? 1.0 : 0.0)
KERNEL(ne, a != b ? 1.0 : 0.0)
KERNEL(lt, a < b ? 1.0 : 0.0)
KERNEL(le, a <= b ? 1.0 : 0.0)
KERNEL(gt, a > b ? 1.0 : 0.0)
KERNEL(ge, a >= b ? 1.0 : 0.0)
KERNEL(least, a < b ? a : b)
KERNEL(most, a > b ? a : b)

static const struct {
    void (*rr)(double *restrict out, const double *restrict right, size_t count);
    void (*rv)(double *out, double b, size_t count);
    void (*vr)(double *restrict out, double a, const double *restrict right, size_t count);
} kernels[OP_COUNT] = {
    [OP_ADD] = {add_rr, add_rv, add_vr},       [OP_SUB] = {sub_rr, sub_rv, sub_vr},
    [OP_MUL] = {mul_rr, mul_rv, mul_vr},       [OP_DIV] = {div_rr, div_rv, div_vr},
    [OP_MOD] = {mod_rr, mod_rv, mod_vr},       [OP_POW] = {power_rr, power_rv, power_vr},
    [OP_EQ] = {eq_rr, eq_rv, eq_vr},           [OP_NE] = {ne_rr, ne_rv, ne_vr},
    [OP_LT] = {lt_rr, lt_rv, lt_vr},           [OP_LE] = {le_rr, le_rv, le_vr},
    [OP_GT] = {gt_rr, gt_rv, gt_vr},           [OP_GE] = {ge_rr, ge_rv, ge_vr},
    [OP_MIN] = {least_rr, least_rv, least_vr}, [OP_MAX] = {most_rr, most_rv, most_vr},
};

/* Adding it to a number below 2^51 in magnitude rounds that number to an integer, in the mantissa's last bit. */
#define ROUNDER 0x1.8p52

static bool below(struct expr_range range, double limit)
{
    return range.low > -limit && range.high < limit;
}

/* x % m of whole numbers with 0 <= x < 2^50 and 1 <= m < 2^50. The estimated quotient is within 0.75 of x/m (0.5 by
 * rounding to nearest, 2^50 * 2^-52 by the reciprocal), its product with m is exact, so one correction suffices. */
static void whole_remainders(double *x, double m, size_t count)
{
    const double reciprocal = 1 / m;
    for (size_t k = 0; k < count; k++) {
        const double quotient = (x[k] * reciprocal + ROUNDER) - ROUNDER;
        const double rest = x[k] - quotient * m;
        x[k] = rest < 0 ? rest + m : rest;
    }
}

static void floors(double *x, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const double near = (x[k] + ROUNDER) - ROUNDER;
        x[k] = near > x[k] ? near - 1 : near;
    }
}

static void ceilings(double *x, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const double near = (x[k] + ROUNDER) - ROUNDER;
        x[k] = near < x[k] ? near + 1 : near;
    }
}

static void negate(double *x, size_t count)
{
    for (size_t k = 0; k < count; k++)
        x[k] = -x[k];
}

static void absolutes(double *x, size_t count)
{
    for (size_t k = 0; k < count; k++)
        x[k] = fabs(x[k]);
}

static void count_up(double *x, double first, size_t count)
{
    for (int k = 0; k < (int)count; k++)
        x[k] = first + k;
}

static void fill(double *x, double value, size_t count)
{
    for (size_t k = 0; k < count; k++)
        x[k] = value;
}

static void merge(double *restrict condition, const double *restrict a, const double *restrict b, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const double yes = a[k], no = b[k];
        condition[k] = condition[k] != 0 ? yes : no;
    }
}

/* x - x is 0 for a finite x and NaN otherwise; sums of their own per lane keep this a vector loop. */
static bool all_finite(const double *x, size_t count)
{
    double sums[8] = {0};
    size_t k = 0;
    for (; k + 8 <= count; k += 8)
        for (size_t j = 0; j < 8; j++)
            sums[j] += x[k + j] - x[k + j];
    for (; k < count; k++)
        sums[0] += x[k] - x[k];
    double sum = 0;
    for (size_t j = 0; j < 8; j++)
        sum += sums[j];
    return sum == 0;
}

static void push(struct block *b, struct lane lane)
{
    b->stack[b->top++] = lane;
}

static bool push_value(struct block *b, double value)
{
    push(b, (struct lane){false, value, expr_range_value(value)});
    return isfinite(value);
}

/* The top becomes a row with these bounds; false when it holds something that is not finite. */
static bool settle(struct block *b, struct expr_range range)
{
    struct lane *top = &b->stack[b->top - 1];
    *top = (struct lane){true, 0, expr_range_cut(range)};
    return expr_range_finite(range) || all_finite(row(b, b->top - 1), b->count);
}

static void push_index(struct block *b)
{
    const double last = b->first + (double)(b->count - 1);
    push(b, (struct lane){true, 0, {b->first, last, true}});
    count_up(row(b, b->top - 1), b->first, b->count);
}

static bool unary(struct block *b, enum expr_op op)
{
    struct lane *a = &b->stack[b->top - 1];
    double *x = row(b, b->top - 1);
    if (!a->varies) {
        b->top--;
        return push_value(b, expr_unary(op, a->value));
    }
    if (op == OP_NEG)
        negate(x, b->count);
    else if (op == OP_ABS)
        absolutes(x, b->count);
    else if (op == OP_NOT)
        eq_rv(x, 0, b->count);
    else if (op == OP_TRUTH)
        ne_rv(x, 0, b->count);
    else if (!a->range.whole && below(a->range, 0x1p51))
        (op == OP_FLOOR ? floors : ceilings)(x, b->count);
    else if (!a->range.whole)
        for (size_t k = 0; k < b->count; k++)
            x[k] = expr_unary(op, x[k]);
    return settle(b, expr_range_unary(op, a->range));
}

/* Whether a % m is exact in plain arithmetic, and then computes it. */
static bool fast_remainder(struct block *b, const struct lane *a, const struct lane *m, double *x)
{
    if (m->varies || !m->range.whole || m->value < 1 || m->value >= 0x1p50)
        return false;
    if (!a->range.whole || a->range.low < 0 || a->range.high >= 0x1p50)
        return false;
    if (a->range.high >= m->value)
        whole_remainders(x, m->value, b->count);
    return true;
}

static bool binary(struct block *b, enum expr_op op)
{
    const struct lane a = b->stack[b->top - 2], c = b->stack[b->top - 1];
    double *x = row(b, b->top - 2);
    const double *y = row(b, b->top - 1);
    b->top -= 2;
    if (!a.varies && !c.varies)
        return push_value(b, expr_binary(op, a.value, c.value));
    b->top++;
    const bool done = op == OP_MOD && a.varies && fast_remainder(b, &a, &c, x);
    if (!done && a.varies && c.varies)
        kernels[op].rr(x, y, b->count);
    else if (!done && a.varies)
        kernels[op].rv(x, c.value, b->count);
    else if (!done)
        kernels[op].vr(x, a.value, y, b->count);
    return settle(b, expr_range_binary(op, a.range, c.range));
}

static bool call(struct block *b, const struct expr_function *function)
{
    const size_t arity = (size_t)function->arity, base = b->top - arity;
    double args[EXPR_MAX_ARITY];
    bool varies = false;
    for (size_t j = 0; j < arity; j++) {
        varies |= b->stack[base + j].varies;
        args[j] = b->stack[base + j].value;
    }
    b->top = base;
    if (!varies)
        return push_value(b, function->call(args));
    double *out = row(b, base);
    for (size_t k = 0; k < b->count; k++) {
        for (size_t j = 0; j < arity; j++)
            if (b->stack[base + j].varies)
                args[j] = row(b, base + j)[k];
        out[k] = function->call(args);
    }
    b->top++;
    return settle(b, expr_range_any());
}

static const double *as_row(const struct block *b, size_t index)
{
    double *x = row(b, index);
    if (!b->stack[index].varies)
        fill(x, b->stack[index].value, b->count);
    return x;
}

/* Returns where to go on. */
static size_t branch(struct block *b, size_t pc, size_t target)
{
    const struct lane *condition = &b->stack[b->top - 1];
    b->merge[b->choices++] = condition->varies;
    if (condition->varies)
        return pc + 1;
    b->top--;
    return condition->value != 0 ? pc + 1 : target;
}

static void select_side(struct block *b)
{
    if (!b->merge[--b->choices])
        return;
    const struct expr_range range = expr_range_either(b->stack[b->top - 2].range, b->stack[b->top - 1].range);
    merge(row(b, b->top - 3), as_row(b, b->top - 2), as_row(b, b->top - 1), b->count);
    b->top -= 2;
    b->stack[b->top - 1] = (struct lane){true, 0, range};
}

static bool run_block(struct block *b)
{
    b->top = b->choices = 0;
    bool finite = true;
    for (size_t pc = 0, next; finite && pc < b->expr->count; pc = next) {
        const struct expr_step *step = &b->expr->steps[pc];
        next = pc + 1;
        switch (step->op) {
        case OP_CONST:
            push_value(b, step->as.value);
            break;
        case OP_SLOT:
            finite = push_value(b, b->slots[step->as.slot]);
            break;
        case OP_INDEX:
            push_index(b);
            break;
        case OP_BRANCH:
            next = branch(b, pc, step->as.target);
            break;
        case OP_SKIP:
            if (!b->merge[b->choices - 1])
                next = step->as.target;
            break;
        case OP_SELECT:
            select_side(b);
            break;
        case OP_CALL:
            finite = call(b, step->as.call);
            break;
        default:
            finite = step->op < OP_ADD ? unary(b, step->op) : binary(b, step->op);
        }
    }
    if (finite)
        as_row(b, 0);
    return finite;
}

static enum status run_each(const struct block *b, struct err *err)
{
    for (size_t k = 0; k < b->count; k++) {
        struct expr_fault fault;
        if (expr_run(&b->out[k], b->expr, b->slots, b->first + (double)k, &fault))
            continue;
        expr_fault_error(&fault, err);
        return err_within(err, "i = %.0f", b->first + (double)k);
    }
    return STATUS_OK;
}

enum status expr_block(double *values, const struct expr *expr, const double *slots, uint64_t first, size_t count,
                       struct err *err)
{
    double area[AREA];
    struct block b;
    const size_t fitting = AREA / expr->stack;
    const uint64_t end = (uint64_t)1 << 53;
    if (first > end || count > end - first)
        return err_set(err, ERR_CONFIG, "i reaches beyond 2^53");
    b.expr = expr;
    b.slots = slots;
    b.area = area;
    b.row_length = fitting < BLOCK_MAX ? fitting / 8 * 8 : BLOCK_MAX;
    for (size_t done = 0; done < count; done += b.count) {
        b.out = values + done;
        b.first = (double)(first + done);
        b.count = count - done < b.row_length ? count - done : b.row_length;
        enum status status = run_block(&b) ? STATUS_OK : run_each(&b, err);
        if (status)
            return status;
    }
    return STATUS_OK;
}
