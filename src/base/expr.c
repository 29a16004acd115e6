/* SPDX-License-Identifier: MIT
 *
 * The evaluator. Each value on its stack is either one number or a row of them, one for each element of a block: what
 * does not depend on i is computed once, and operations on rows are loops that compilers turn into vector code. A
 * single evaluation is a block of one element. As soon as a result of a longer block is not finite, even on a side that
 * a choice will not take, the block is computed again element by element, where only the side that is taken runs: any
 * fault is then real.
 */
#include "rooftile/expr.h"

#include <math.h>
#include <string.h>

#include "expr_internal.h"

#define AREA 8192     /* doubles of stack for the rows: 64 KiB */
#define BLOCK_MAX 256 /* elements: a dozen rows of them fit the first-level cache */

/* ---- operations on rows ---- */

/* Rounded to a whole number, by adding what leaves no bits for a fraction; from 2^52 on there is none anyway. rint,
 * floor and ceil are calls without SSE 4.1 and keep a loop from becoming vector code. */
static inline double nearest(double x)
{
    const double size = fabs(x), rounded = (size + 0x1p52) - 0x1p52;
    return copysign(size < 0x1p52 ? rounded : size, x);
}

static inline double rounded_down(double x)
{
    const double near = nearest(x);
    return near > x ? near - 1 : near;
}

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

/* 0, or NaN where not all are finite. */
static double not_finite(const double *x, size_t count)
{
    SUM(a - a);
}

static double not_zero(const double *x, size_t count)
{
    SUM(a != 0 ? 1.0 : 0.0);
}

/* 0 where remainder_of takes all, else more, or NaN. */
static double not_whole(const double *x, size_t count)
{
    SUM(fabs(a) < 0x1p50 ? fabs((fabs(a) + 0x1p52) - 0x1p52 - fabs(a)) : 1.0);
}

#define EACH(expression)                                                                                               \
    for (size_t k = 0; k < count; k++) {                                                                               \
        const double a = x[k];                                                                                         \
        x[k] = (expression);                                                                                           \
    }                                                                                                                  \
    break

static double inverted(double a)
{
    return fabs(a) <= EXPR_BITS_MAX && a == floor(a) ? -a - 1 : (double)NAN;
}

/* The bits of whole numbers; NaN for what has none. */
static double bits_of(enum expr_op op, double a, double b)
{
    if (!(fabs(a) <= EXPR_BITS_MAX && fabs(b) <= EXPR_BITS_MAX) || a != floor(a) || b != floor(b))
        return (double)NAN;
    const int64_t x = (int64_t)a, y = (int64_t)b;
    switch (op) {
    case OP_BIT_AND:
        return (double)(x & y);
    case OP_BIT_OR:
        return (double)(x | y);
    case OP_BIT_XOR:
        return (double)(x ^ y);
    case OP_SHIFT_LEFT:
        return y >= 0 && y < 64 ? ldexp(a, (int)y) : (double)NAN;
    default:
        return y >= 0 && y < 64 ? (double)(x >> y) : (double)NAN;
    }
}

static void apply_unary(enum expr_op op, double *x, size_t count)
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
        EACH(rounded_down(a));
    case OP_INVERT:
        EACH(inverted(a));
    case OP_SIN:
    case OP_COS:
        expr_sines(x, count, op == OP_COS);
        break;
    default:
        EACH(-rounded_down(-a));
    }
}

static void apply_math(double (*math)(double), double *x, size_t count)
{
    for (size_t k = 0; k < count; k++)
        x[k] = math(x[k]);
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

/* x = x op y, where y may be `one` number for all. */
static void apply_binary(enum expr_op op, double *restrict x, const double *restrict y, bool one, size_t count)
{
    switch (op) {
    case OP_ADD:
        EACH_WITH(a + b);
    case OP_SUB:
        EACH_WITH(a - b);
    case OP_MUL:
        EACH_WITH(a * b);
    case OP_DIV:
        EACH_WITH(a / b);
    case OP_MOD:
        if (not_whole(x, count) != 0 || not_whole(y, one ? 1 : count) != 0) {
            EACH_WITH(fmod(a, b));
        }
        EACH_WITH(remainder_of(a, fabs(b), 1 / fabs(b)));
    case OP_POW:
        EACH_WITH(pow(a, b));
    case OP_BIT_AND:
    case OP_BIT_OR:
    case OP_BIT_XOR:
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT:
        EACH_WITH(bits_of(op, a, b));
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

/* Of finite operands. */
static bool may_be_infinite(enum expr_op op)
{
    return op == OP_SLOT || op == OP_CALL || op == OP_MATH || op == OP_ELEMENT || op == OP_INVERT ||
           (op >= OP_ADD && op <= OP_SHIFT_RIGHT);
}

/* ---- blocks ---- */

struct block {
    const struct expr *expr;
    const double *slots;
    const struct expr_arrays *arrays;
    double wanted;               /* the last index of an array, in a block of one element */
    double first;                /* i of the first element */
    size_t count;                /* elements */
    double *rows;                /* one of `count` for each value on the stack */
    size_t top;                  /* values on the stack */
    size_t have[EXPR_MAX_STACK]; /* numbers in each row: 1 for all elements, or `count` */
    bool both[EXPR_MAX_STACK];   /* for each open choice: both sides run */
    size_t choices;
};

static double *row(const struct block *b, size_t index)
{
    return b->rows + index * b->count;
}

static void push(struct block *b, double value)
{
    row(b, b->top)[0] = value;
    b->have[b->top++] = 1;
}

/* The value becomes a row where it was one number. */
static double *widen(struct block *b, size_t index, size_t want)
{
    double *x = row(b, index);
    for (size_t k = b->have[index]; k < want; k++)
        x[k] = x[0];
    b->have[index] = want;
    return x;
}

static void push_index(struct block *b)
{
    double *x = row(b, b->top);
    for (int k = 0; k < (int)b->count; k++)
        x[k] = b->first + k;
    b->have[b->top++] = b->count;
}

static void binary(struct block *b, enum expr_op op)
{
    const size_t left = b->top - 2, right = b->top - 1;
    const bool one = b->have[right] == 1;
    double *x = one ? row(b, left) : widen(b, left, b->have[right]);
    apply_binary(op, x, row(b, right), one, b->have[left]);
    b->top--;
}

static void call(struct block *b, const struct expr_function *function)
{
    const size_t arity = (size_t)function->arity, base = b->top - arity;
    size_t want = 1;
    for (size_t j = base; j < b->top; j++)
        want = b->have[j] > want ? b->have[j] : want;
    for (size_t j = base; j < b->top; j++)
        widen(b, j, want);
    for (size_t k = 0; k < want; k++) {
        double args[EXPR_MAX_ARITY];
        for (size_t j = 0; j < arity; j++)
            args[j] = row(b, base + j)[k];
        row(b, base)[k] = function->call(args);
    }
    b->top = base + 1;
    b->have[base] = want;
}

static bool has_element(const struct expr_arrays *arrays, size_t array, double index)
{
    return arrays && index >= 0 && index < (double)arrays->counts[array] && index == floor(index);
}

static void element(struct block *b, size_t array)
{
    double *x = row(b, b->top - 1);
    const size_t have = b->have[b->top - 1];
    b->wanted = x[0];
    for (size_t k = 0; k < have; k++)
        if (!has_element(b->arrays, array, x[k])) {
            x[k] = (double)NAN;
            return;
        }
    b->arrays->read(x, have, array, b->arrays->context);
}

/* Returns where to go on. */
static size_t branch(struct block *b, size_t next, size_t otherwise)
{
    const size_t have = b->have[b->top - 1];
    const double taken = not_zero(row(b, b->top - 1), have);
    const bool both = taken > 0 && taken < (double)have;
    b->both[b->choices++] = both;
    b->top -= !both;
    return taken > 0 ? next : otherwise;
}

static void select_sides(struct block *b)
{
    if (!b->both[--b->choices])
        return;
    b->top -= 2;
    const size_t count = b->count;
    double *restrict condition = row(b, b->top - 1);
    const double *restrict yes = widen(b, b->top, count), *restrict no = widen(b, b->top + 1, count);
    for (size_t k = 0; k < count; k++)
        condition[k] = condition[k] != 0 ? yes[k] : no[k];
}

/* The value is in row 0 then. Else the step whose result is not finite. */
static const struct expr_step *run(struct block *b)
{
    b->top = b->choices = 0;
    for (size_t pc = 0, next; pc < b->expr->count; pc = next) {
        const struct expr_step *step = &b->expr->steps[pc];
        next = pc + 1;
        switch (step->op) {
        case OP_CONST:
            push(b, step->as.value);
            continue;
        case OP_SLOT:
            push(b, b->slots[step->as.slot]);
            break;
        case OP_INDEX:
            push_index(b);
            continue;
        case OP_BRANCH:
            next = branch(b, next, step->as.target);
            continue;
        case OP_SKIP:
            next = b->both[b->choices - 1] ? next : step->as.target;
            continue;
        case OP_SELECT:
            select_sides(b);
            continue;
        case OP_CALL:
            call(b, step->as.call);
            break;
        case OP_ELEMENT:
            element(b, step->as.slot);
            break;
        case OP_MATH:
            apply_math(step->as.math->math, row(b, b->top - 1), b->have[b->top - 1]);
            break;
        default:
            if (step->op < OP_ADD)
                apply_unary(step->op, row(b, b->top - 1), b->have[b->top - 1]);
            else
                binary(b, step->op);
        }
        if (may_be_infinite(step->op) && not_finite(row(b, b->top - 1), b->have[b->top - 1]) != 0)
            return step;
    }
    return NULL;
}

static enum status fault_of_element(const struct block *b, const struct expr_step *step, struct err *err)
{
    const size_t array = step->as.slot;
    const char *name = b->expr->arrays[array];
    const uint64_t count = b->arrays ? b->arrays->counts[array] : 0;
    if (has_element(b->arrays, array, b->wanted))
        return err_set(err, ERR_CONFIG, "element %.15g of '%s' is not a finite number at column %u", b->wanted, name,
                       step->column);
    return err_set(err, ERR_CONFIG, "'%s' has %llu elements and no number %.15g at column %u", name,
                   (unsigned long long)count, b->wanted, step->column);
}

/* Of a block of one element that stopped at `step`. */
static enum status fault(const struct block *b, const struct expr_step *step, struct err *err)
{
    const double result = row(b, b->top - 1)[0];
    if ((step->op == OP_DIV || step->op == OP_MOD) && row(b, b->top)[0] == 0) /* the divisor */
        return err_set(err, ERR_CONFIG, "%s by zero at column %u", step->op == OP_DIV ? "division" : "remainder",
                       step->column);
    if ((step->op == OP_CALL || step->op == OP_MATH) && isnan(result))
        return err_set(err, ERR_CONFIG, "%s(...) is not defined here at column %u",
                       step->op == OP_CALL ? step->as.call->name : step->as.math->function.name, step->column);
    if (step->op == OP_ELEMENT)
        return fault_of_element(b, step, err);
    if (step->op == OP_INVERT || (step->op >= OP_BIT_AND && step->op <= OP_SHIFT_RIGHT && isnan(result)))
        return err_set(err, ERR_CONFIG, "only whole numbers up to 2^53 have bits%s at column %u",
                       step->op >= OP_SHIFT_LEFT ? ", which can be shifted by 0 to 63," : "", step->column);
    if (step->op == OP_SLOT)
        return err_set(err, ERR_CONFIG, "not a finite number at column %u", step->column);
    return err_set(err, ERR_CONFIG, "the result is %s at column %u", isnan(result) ? "not defined" : "too large",
                   step->column);
}

static enum status run_each(double *values, const struct block *whole, struct err *err)
{
    struct block b = *whole;
    b.count = 1;
    for (size_t k = 0; k < whole->count; k++) {
        b.first = whole->first + (double)k;
        const struct expr_step *step = run(&b);
        if (step) {
            fault(&b, step, err);
            return err_within(err, "i = %.0f", b.first);
        }
        values[k] = b.rows[0];
    }
    return STATUS_OK;
}

enum status expr_values(double *values, const struct expr *expr, const double *slots, const struct expr_arrays *arrays,
                        uint64_t first, size_t count, struct err *err)
{
    double rows[AREA];
    struct block b = {.expr = expr, .slots = slots, .arrays = arrays, .rows = rows};
    const size_t fitting = AREA / expr->stack, length = fitting < BLOCK_MAX ? fitting : BLOCK_MAX;
    const uint64_t end = (uint64_t)1 << 53;
    if (first > end || count > end - first)
        return err_set(err, ERR_CONFIG, "i reaches beyond 2^53");
    for (size_t done = 0; done < count; done += b.count) {
        b.first = (double)(first + done);
        b.count = count - done < length ? count - done : length;
        if (!run(&b)) {
            memcpy(values + done, widen(&b, 0, b.count), b.count * sizeof(*values));
            continue;
        }
        enum status status = run_each(values + done, &b, err);
        if (status)
            return status;
    }
    return STATUS_OK;
}

enum status expr_eval(double *value, const struct expr *expr, const double *slots, struct err *err)
{
    double rows[EXPR_MAX_STACK + 1];
    struct block b;
    b.expr = expr;
    b.slots = slots;
    b.arrays = NULL;
    b.first = 0;
    b.count = 1;
    b.rows = rows;
    const struct expr_step *step = run(&b);
    if (step)
        return fault(&b, step, err);
    *value = rows[0];
    return STATUS_OK;
}

/* ---- the rest of the interface ---- */

enum status expr_compile(const struct expr **out, const char *source, const struct expr_names *names,
                         struct arena *arena, struct err *err)
{
    if (strnlen(source, EXPR_MAX_LENGTH + 1) > EXPR_MAX_LENGTH)
        return err_set(err, ERR_CONFIG, "longer than %d characters, cut at column %d", EXPR_MAX_LENGTH,
                       EXPR_MAX_LENGTH + 1);
    struct expr *expr = arena_alloc(arena, sizeof(*expr));
    expr->source = arena_strdup(arena, source);
    expr->variable_count = names->variable_count;
    const char **arrays = arena_array(arena, names->array_count, sizeof(*arrays));
    for (size_t k = 0; k < names->array_count; k++)
        arrays[k] = arena_strdup(arena, names->arrays[k]);
    expr->arrays = arrays;
    enum status status = expr_parse(expr, expr->source, names, arena, err);
    if (status)
        return status;
    if (names->written)
        expr->source = arena_strdup(arena, names->written);
    *out = expr;
    return STATUS_OK;
}

const char *expr_source(const struct expr *expr)
{
    return expr->source;
}

bool expr_uses_array(const struct expr *expr, size_t array)
{
    for (size_t k = 0; k < expr->count; k++)
        if (expr->steps[k].op == OP_ELEMENT && expr->steps[k].as.slot == array)
            return true;
    return false;
}

/* Variables are told apart by slot, lists by their first slot. */
static size_t owner(const struct expr *expr, size_t slot)
{
    return slot < expr->variable_count ? slot : slot - (slot - expr->variable_count) % 3;
}

bool expr_uses_slot(const struct expr *expr, size_t slot)
{
    for (size_t k = 0; k < expr->count; k++)
        if (expr->steps[k].op == OP_SLOT && owner(expr, expr->steps[k].as.slot) == owner(expr, slot))
            return true;
    return false;
}
