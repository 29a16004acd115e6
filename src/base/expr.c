/* SPDX-License-Identifier: MIT
 *
 * The evaluator. A value is a row with one number for each element of a block, or a single number if all are equal. If
 * any result in a longer block is not finite, even on the side of a choice that is not taken, the block is recomputed
 * element by element, evaluating only the side that is taken; any fault is then real.
 */
#include "rooftile/expr.h"

#include <float.h>
#include <string.h>

#include "expr_internal.h"
#include "rooftile/vector.h"
#include "rooftile/vector_math.h"

#define AREA 8192 /* doubles on the stack for the rows: 64 KiB */
/* Elements in a block, aligned to multiples: conditions of choices are mostly uniform along rows of such lengths. */
#define BLOCK_MAX 64

/* ---- operations on rows: loops that compilers vectorise ---- */

WIDER static bool all_finite(const double *x, size_t count)
{
    uint64_t infinite = 0;
    for (size_t k = 0; k < count; k++)
        infinite |= fabs(x[k]) <= DBL_MAX ? 0 : 1;
    return !infinite;
}

/* fmod takes ten times as long as a division. The quotient is rounded once, so its integer part is correct or one too
 * large, and either remainder is exact; valid up to 2^52, where all integers are doubles. */
#define LARGEST_QUOTIENT 0x1p52
static inline double remainder_of(double a, double b)
{
    const double size = fabs(a), by = fabs(b), rest = fma(-trunc(size / by), by, size);
    return copysign(rest < 0 ? rest + by : rest, a);
}

WIDER static bool has_large_quotient(const double *x, const double *y, size_t count)
{
    uint64_t large = 0;
    for (size_t k = 0; k < count; k++)
        large |= fabs(x[k] / y[k]) <= LARGEST_QUOTIENT ? 0 : 1;
    return large;
}

static inline bool have_bits(double a, double b)
{
    return fabs(a) <= EXPR_BITS_MAX && fabs(b) <= EXPR_BITS_MAX && (double)(int64_t)a == a && (double)(int64_t)b == b;
}

static inline bool can_shift(double a, double b)
{
    return have_bits(a, b) && b >= 0 && b < 64;
}

/* Neighbours often have the same power, as in rows of a scaled matrix, and pow dominates the time. */
static void raise_each(double *restrict x, const double *restrict y, size_t count)
{
    double base = NAN, exponent = NAN, power = NAN;
    for (size_t k = 0; k < count; k++) {
        if (x[k] != base || y[k] != exponent) {
            base = x[k];
            exponent = y[k];
            power = pow(base, exponent);
        }
        x[k] = power;
    }
}

#define EACH(expression)                                                                                               \
    for (size_t k = 0; k < count; k++) {                                                                               \
        const double a = x[k];                                                                                         \
        x[k] = (expression);                                                                                           \
    }                                                                                                                  \
    break

WIDER static void apply_unary(enum expr_op op, double *x, size_t count)
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
        EACH(floor(a));
    case OP_CEIL:
        EACH(ceil(a));
    case OP_INVERT:
        EACH(have_bits(a, 0) ? -a - 1 : (double)NAN);
    case OP_SIN:
    case OP_COS:
        vector_sines(x, count, op == OP_COS);
        break;
    case OP_ROUND:
        EACH(round(a));
    case OP_SQRT:
        EACH(sqrt(a));
    case OP_EXP:
        EACH(exp(a));
    case OP_LOG:
        EACH(log(a));
    case OP_LOG2:
        EACH(log2(a));
    default:
        EACH(log10(a));
    }
}

#define EACH_WITH(expression)                                                                                          \
    for (size_t k = 0; k < count; k++) {                                                                               \
        const double a = x[k], b = y[k];                                                                               \
        x[k] = (expression);                                                                                           \
    }                                                                                                                  \
    break

#define BITS(a, operation, b) ((double)((int64_t)(a)operation(int64_t)(b)))

/* Yields NaN for operands that have no bits. */
WIDER static void apply_binary(enum expr_op op, double *restrict x, const double *restrict y, size_t count)
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
        if (has_large_quotient(x, y, count)) {
            EACH_WITH(fmod(a, b));
        }
        EACH_WITH(remainder_of(a, b));
    case OP_POW:
        raise_each(x, y, count);
        break;
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

/* ---- steps ---- */

struct evaluation {
    const double *slots;
    const struct expr_arrays *arrays;
    double first;         /* i of the first element */
    size_t count, length; /* elements; capacity of a row */
    /* Details of a fault, set in a block of one element: */
    const struct expr_step *faulty; /* its result is not finite */
    double result, operand;         /* operand: the second one of a binary operation, or the index of an element */
};

/* Computes the value of the steps in row x, using the rows after it for operands. Returns how many numbers the value
 * has: e->count, 1 if all are equal, or 0 after a fault. */
static size_t evaluate(struct evaluation *e, const struct expr_step *step, double *x);

/* Computes both sides only if some element takes each of them. */
static size_t choose(struct evaluation *e, const struct expr_step *choice, double *x, size_t have)
{
    size_t taken = 0;
    for (size_t k = 0; k < have; k++)
        taken += x[k] != 0;
    if (taken == 0 || taken == have)
        return evaluate(e, choice->operands[taken == 0], x);
    double *yes = x + e->length, *no = yes + e->length;
    const size_t yes_count = evaluate(e, choice->operands[0], yes);
    const size_t no_count = yes_count ? evaluate(e, choice->operands[1], no) : 0;
    for (size_t k = 0; no_count && k < have; k++)
        x[k] = x[k] != 0 ? yes[yes_count == 1 ? 0 : k] : no[no_count == 1 ? 0 : k];
    return no_count ? have : 0;
}

static size_t call(struct evaluation *e, const struct expr_step *step, double *x, size_t have)
{
    const size_t arity = (size_t)step->function->arity;
    size_t counts[EXPR_MAX_ARITY] = {have}, count = have;
    for (size_t j = 1; j < arity; j++) {
        counts[j] = evaluate(e, step->operands[j - 1], x + j * e->length);
        if (!counts[j])
            return 0;
        count = counts[j] > count ? counts[j] : count;
    }
    const double first = x[0];
    for (size_t k = 0; k < count; k++) {
        double args[EXPR_MAX_ARITY] = {have == 1 ? first : x[k]};
        for (size_t j = 1; j < arity; j++)
            args[j] = x[j * e->length + (counts[j] == 1 ? 0 : k)];
        x[k] = step->function->call(args);
    }
    return count;
}

static bool has_element(const struct expr_arrays *arrays, size_t array, double index)
{
    return arrays && index >= 0 && index < (double)arrays->counts[array] && index == floor(index);
}

static void read_elements(struct evaluation *e, size_t array, double *x, size_t count)
{
    e->operand = x[0];
    for (size_t k = 0; k < count; k++)
        if (!has_element(e->arrays, array, x[k])) {
            x[0] = (double)NAN;
            return;
        }
    e->arrays->read(x, count, array, e->arrays->context);
}

static size_t apply(struct evaluation *e, const struct expr_step *step, double *x, size_t have)
{
    double *y = x + e->length;
    size_t other;
    switch (step->op) {
    case OP_CONST:
        x[0] = step->as.value;
        return 1;
    case OP_SLOT:
        x[0] = e->slots[step->as.slot];
        return 1;
    case OP_INDEX:
        for (int k = 0; k < (int)e->count; k++)
            x[k] = e->first + k;
        return e->count;
    case OP_CHOICE:
        return choose(e, step, x, have);
    case OP_CALL:
        return call(e, step, x, have);
    case OP_ELEMENT:
        read_elements(e, step->as.slot, x, have);
        return have;
    default:
        if (step->op < OP_ADD) {
            apply_unary(step->op, x, have);
            return have;
        }
        other = evaluate(e, step->operands[0], y);
        if (!other)
            return 0;
        for (size_t k = have; k < other; k++) /* extends both to the longer length */
            x[k] = x[0];
        for (size_t k = other; k < have; k++)
            y[k] = y[0];
        have = have > other ? have : other;
        apply_binary(step->op, x, y, have);
        e->operand = y[0];
        return have;
    }
}

static size_t evaluate(struct evaluation *e, const struct expr_step *step, double *x)
{
    size_t have = 1;
    for (; step; step = step->next) {
        have = apply(e, step, x, have);
        if (!have)
            return 0;
        if (!all_finite(x, have)) {
            e->faulty = step;
            e->result = x[0];
            return 0;
        }
    }
    return have;
}

/* Reports the fault of a block of one element. */
static enum status fault(const struct expr *expr, const struct evaluation *e, struct err *err)
{
    const struct expr_step *step = e->faulty;
    const enum expr_op op = step->op;
    const bool is_undefined = isnan(e->result);
    if ((op == OP_DIV || op == OP_MOD) && e->operand == 0)
        return err_set(err, ERR_CONFIG, "%s by zero at column %u", op == OP_DIV ? "division" : "remainder",
                       step->column);
    if (is_undefined && (op == OP_CALL || (op >= OP_ROUND && op <= OP_LOG10)))
        return err_set(err, ERR_CONFIG, "%s(...) is not defined here at column %u", step->function->name, step->column);
    if (op == OP_ELEMENT && has_element(e->arrays, step->as.slot, e->operand))
        return err_set(err, ERR_CONFIG, "element %.15g of '%s' is not a finite number at column %u", e->operand,
                       expr->arrays[step->as.slot], step->column);
    if (op == OP_ELEMENT)
        return err_set(
            err, ERR_CONFIG, "'%s' has %llu elements and no number %.15g at column %u", expr->arrays[step->as.slot],
            (unsigned long long)(e->arrays ? e->arrays->counts[step->as.slot] : 0), e->operand, step->column);
    if (op == OP_INVERT || (op >= OP_BIT_AND && op <= OP_SHIFT_RIGHT && is_undefined))
        return err_set(err, ERR_CONFIG, "only whole numbers up to 2^53 have bits%s at column %u",
                       op >= OP_SHIFT_LEFT ? ", which can be shifted by 0 to 63," : "", step->column);
    if (op == OP_SLOT)
        return err_set(err, ERR_CONFIG, "not a finite number at column %u", step->column);
    return err_set(err, ERR_CONFIG, "the result is %s at column %u", is_undefined ? "not defined" : "too large",
                   step->column);
}

enum status expr_eval(double *value, const struct expr *expr, const double *slots, struct err *err)
{
    double rows[EXPR_MAX_ROWS];
    struct evaluation e = {.slots = slots, .count = 1, .length = 1};
    if (!evaluate(&e, expr->steps, rows))
        return fault(expr, &e, err);
    *value = rows[0];
    return STATUS_OK;
}

enum status expr_values(double *values, const struct expr *expr, const double *slots, const struct expr_arrays *arrays,
                        uint64_t first, size_t count, struct err *err)
{
    double rows[AREA];
    const size_t fitting = AREA / expr->rows, length = fitting < BLOCK_MAX ? fitting : BLOCK_MAX;
    const uint64_t end = (uint64_t)1 << 53;
    if (first > end || count > end - first)
        return err_set(err, ERR_CONFIG, "i reaches beyond 2^53");
    struct evaluation e = {.slots = slots, .arrays = arrays, .length = length};
    for (size_t done = 0, block_end = 0; done < count; done += e.count) {
        /* Recomputes the rest of a block with a fault element by element. */
        e.first = (double)(first + done);
        const size_t whole = length - (size_t)((first + done) % length);
        e.count = done < block_end ? 1 : count - done < whole ? count - done : whole;
        size_t have = evaluate(&e, expr->steps, rows);
        if (!have && e.count > 1) {
            block_end = done + e.count;
            e.count = 1;
            have = evaluate(&e, expr->steps, rows);
        }
        if (!have) {
            fault(expr, &e, err);
            return err_within(err, "i = %.0f", e.first);
        }
        for (size_t k = 0; k < e.count; k++)
            values[done + k] = rows[have == 1 ? 0 : k];
    }
    return STATUS_OK;
}

/* ---- other functions of the interface ---- */

enum status expr_compile(const struct expr **out, const char *source, const struct expr_names *names,
                         struct arena *arena, struct err *err)
{
    if (strnlen(source, EXPR_MAX_LENGTH + 1) > EXPR_MAX_LENGTH)
        return err_set(err, ERR_CONFIG, "longer than %d characters, cut at column %d", EXPR_MAX_LENGTH,
                       EXPR_MAX_LENGTH + 1);
    struct expr *expr = arena_alloc(arena, sizeof(*expr));
    expr->variable_count = names->variable_count;
    if (expr_parse(expr, source, names, arena, err))
        return err->status;
    expr->source = arena_strdup(arena, names->written ? names->written : source);
    expr->at = names->at;
    *out = expr;
    return STATUS_OK;
}

const char *expr_source(const struct expr *expr)
{
    return expr->source;
}

const struct cJSON *expr_at(const struct expr *expr)
{
    return expr->at;
}

bool expr_uses_array(const struct expr *expr, size_t array)
{
    for (const struct expr_step *step = expr->last; step; step = step->before)
        if (step->op == OP_ELEMENT && step->as.slot == array)
            return true;
    return false;
}

/* Identifies variables by slot, and lists by their first slot. */
static size_t owner(const struct expr *expr, size_t slot)
{
    return slot < expr->variable_count ? slot : slot - (slot - expr->variable_count) % 3;
}

bool expr_uses_slot(const struct expr *expr, size_t slot)
{
    for (const struct expr_step *step = expr->last; step; step = step->before)
        if (step->op == OP_SLOT && owner(expr, step->as.slot) == owner(expr, slot))
            return true;
    return false;
}
