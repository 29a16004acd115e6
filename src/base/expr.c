/* SPDX-License-Identifier: MIT
 *
 * The evaluator. A value on its stack is one number, a first number and a step, or a row, for the elements of a block:
 * what does not depend on i, or rises with it, is computed once (expr_affine.c), and operations on rows are loops that
 * compilers turn into vector code (expr_rows.c). A block ends where a value stops rising evenly, so that `i % columns`
 * costs one division per row. A single evaluation is a block of one element. As soon as a result of a longer block is
 * not finite, even on a side that a choice will not take, the block is computed again element by element, where only
 * the side that is taken runs: any fault is then real.
 */
#include "rooftile/expr.h"

#include <math.h>
#include <string.h>

#include "expr_internal.h"

#define AREA 8192     /* doubles of stack for the rows: 64 KiB */
#define BLOCK_MAX 256 /* elements: a dozen rows of them fit the first-level cache */

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
    double wanted; /* the last index of an array, in a block of one element */
    double first;  /* i of the first element */
    size_t count;  /* elements; becomes smaller on the way */
    double *rows;  /* one of `length` for each value on the stack */
    size_t length;
    size_t top; /* values on the stack */
    struct expr_value values[EXPR_MAX_STACK];
    bool both[EXPR_MAX_STACK]; /* for each open choice: both sides run */
    size_t choices;
    struct {
        double base, powers[BLOCK_MAX];
        struct expr_value exponents;
        size_t count;
    } kept; /* that were computed last */
};

/* Leaves the stack as it is: to clear it would take longer than most evaluations. */
static void begin(struct block *b, const struct expr *expr, const double *slots, const struct expr_arrays *arrays)
{
    b->expr = expr;
    b->slots = slots;
    b->arrays = arrays;
    b->kept.count = 0;
}

static struct expr_value *last(struct block *b)
{
    return &b->values[b->top - 1];
}

static void push(struct block *b, double first, double step)
{
    b->values[b->top++] = (struct expr_value){.first = first, .step = step, .over = 1};
}

static bool is_one(const struct expr_value *x)
{
    return !x->row && x->step == 0;
}

/* The value becomes a row. */
static double *widen(struct block *b, struct expr_value *x)
{
    if (!x->row) {
        x->row = b->rows + (size_t)(x - b->values) * b->length;
        expr_write_elements(x->row, x, b->count);
    }
    return x->row;
}

static void push_index(struct block *b)
{
    push(b, b->first, b->count > 1);
    if (b->first + (double)b->count > EXPR_AFFINE_MAX && b->count > 1)
        widen(b, last(b));
}

static void unary(struct block *b, enum expr_op op)
{
    struct expr_value *x = last(b);
    if (is_one(x))
        expr_apply_unary(op, &x->first, 1);
    else if (x->row || !expr_affine_unary(op, x, &b->count))
        expr_apply_unary(op, widen(b, x), b->count);
}

/* Rows often have the same powers of a number, as frequencies of a rotary embedding are, and pow takes longer than all
 * else. */
static void powers(struct block *b, struct expr_value *base, const struct expr_value *exponents)
{
    const struct expr_value e = *exponents, *kept = &b->kept.exponents;
    if (b->kept.count < b->count || kept->first != e.first || kept->step != e.step || kept->over != e.over ||
        b->kept.base != base->first) {
        b->kept.base = base->first;
        b->kept.exponents = e;
        b->kept.count = b->count;
        expr_write_elements(b->kept.powers, &e, b->count);
        for (size_t k = 0; k < b->count; k++)
            b->kept.powers[k] = pow(base->first, b->kept.powers[k]);
    }
    memcpy(widen(b, base), b->kept.powers, b->count * sizeof(*b->kept.powers));
}

static void binary(struct block *b, enum expr_op op)
{
    struct expr_value *y = last(b), *x = y - 1;
    b->top--;
    if (is_one(x) && is_one(y))
        expr_apply_binary(op, &x->first, &y->first, true, 1);
    else if (op == OP_POW && is_one(x) && !y->row)
        powers(b, x, y);
    else if (is_one(y) && (x->row || !expr_affine_binary(op, x, y, &b->count)))
        expr_apply_binary(op, widen(b, x), &y->first, true, b->count);
    else if (!is_one(y) && (x->row || y->row || !expr_affine_binary(op, x, y, &b->count)))
        expr_apply_binary(op, widen(b, x), widen(b, y), false, b->count);
}

static void math(struct block *b, double (*function)(double))
{
    struct expr_value *x = last(b);
    const bool one = is_one(x);
    double *values = one ? &x->first : widen(b, x);
    for (size_t k = 0; k < (one ? 1 : b->count); k++)
        values[k] = function(values[k]);
}

static void call(struct block *b, const struct expr_function *function)
{
    const size_t arity = (size_t)function->arity;
    struct expr_value *x = &b->values[b->top -= arity];
    double args[EXPR_MAX_ARITY];
    bool one = true;
    for (size_t j = 0; j < arity; j++) {
        one = one && is_one(&x[j]);
        args[j] = x[j].first;
    }
    b->top++;
    if (one) {
        x->first = function->call(args);
        return;
    }
    for (size_t j = 0; j < arity; j++)
        widen(b, &x[j]);
    for (size_t k = 0; k < b->count; k++) {
        for (size_t j = 0; j < arity; j++)
            args[j] = x[j].row[k];
        x->row[k] = function->call(args);
    }
}

static bool has_element(const struct expr_arrays *arrays, size_t array, double index)
{
    return arrays && index >= 0 && index < (double)arrays->counts[array] && index == floor(index);
}

static void element(struct block *b, size_t array)
{
    const bool one = is_one(last(b));
    double *x = one ? &last(b)->first : widen(b, last(b));
    const size_t count = one ? 1 : b->count;
    b->wanted = x[0];
    for (size_t k = 0; k < count; k++)
        if (!has_element(b->arrays, array, x[k])) {
            x[k] = (double)NAN;
            return;
        }
    b->arrays->read(x, count, array, b->arrays->context);
}

/* Returns where to go on. */
static size_t branch(struct block *b, size_t next, size_t otherwise)
{
    struct expr_value *x = last(b);
    if (!x->row)
        expr_affine_unary(OP_TRUTH, x, &b->count);
    const double taken = x->row ? expr_not_zero(x->row, b->count) : x->first;
    const bool both = x->row && taken > 0 && taken < (double)b->count;
    b->both[b->choices++] = both;
    b->top -= !both;
    return taken > 0 ? next : otherwise;
}

static void select_sides(struct block *b)
{
    if (!b->both[--b->choices])
        return;
    b->top -= 2;
    struct expr_value *sides = last(b) + 1;
    expr_select(last(b)->row, widen(b, &sides[0]), widen(b, &sides[1]), b->count);
}

static bool is_finite(struct block *b)
{
    const struct expr_value *x = last(b);
    return (x->row ? expr_not_finite(x->row, b->count) : x->first - x->first) == 0;
}

/* The value is the only one on the stack then. Else the step whose result is not finite. */
static const struct expr_step *run(struct block *b)
{
    b->top = b->choices = 0;
    for (size_t pc = 0, next; pc < b->expr->count; pc = next) {
        const struct expr_step *step = &b->expr->steps[pc];
        next = pc + 1;
        switch (step->op) {
        case OP_CONST:
            push(b, step->as.value, 0);
            continue;
        case OP_SLOT:
            push(b, b->slots[step->as.slot], 0);
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
            math(b, step->as.math->math);
            break;
        default:
            (step->op < OP_ADD ? unary : binary)(b, step->op);
        }
        if (may_be_infinite(step->op) && !is_finite(b))
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
    const double result = b->values[b->top - 1].first;
    if ((step->op == OP_DIV || step->op == OP_MOD) && b->values[b->top].first == 0) /* the divisor */
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
    for (size_t k = 0; k < whole->count; k++) {
        b.count = 1;
        b.first = whole->first + (double)k;
        const struct expr_step *step = run(&b);
        if (step) {
            fault(&b, step, err);
            return err_within(err, "i = %.0f", b.first);
        }
        values[k] = b.values[0].first;
    }
    return STATUS_OK;
}

enum status expr_values(double *values, const struct expr *expr, const double *slots, const struct expr_arrays *arrays,
                        uint64_t first, size_t count, struct err *err)
{
    double rows[AREA];
    const size_t fitting = AREA / expr->stack;
    struct block b;
    begin(&b, expr, slots, arrays);
    b.rows = rows;
    b.length = fitting < BLOCK_MAX ? fitting : BLOCK_MAX;
    const uint64_t end = (uint64_t)1 << 53;
    if (first > end || count > end - first)
        return err_set(err, ERR_CONFIG, "i reaches beyond 2^53");
    for (size_t done = 0; done < count; done += b.count) {
        b.first = (double)(first + done);
        b.count = count - done < b.length ? count - done : b.length;
        if (!run(&b)) {
            if (b.values[0].row)
                memcpy(values + done, b.values[0].row, b.count * sizeof(*values));
            else
                expr_write_elements(values + done, &b.values[0], b.count);
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
    struct block b;
    begin(&b, expr, slots, NULL);
    b.first = 0;
    b.count = 1;
    const struct expr_step *step = run(&b);
    if (step)
        return fault(&b, step, err);
    *value = b.values[0].first;
    return STATUS_OK;
}

/* ---- the rest of the interface ---- */

static bool uses_arrays(const struct expr *expr)
{
    bool uses = false;
    for (size_t k = 0; k < expr->count && !uses; k++)
        uses = expr->steps[k].op == OP_ELEMENT;
    return uses;
}

static const char *const *copy_names(const char *const *names, size_t count, struct arena *arena)
{
    const char **copies = arena_array(arena, count, sizeof(*copies));
    for (size_t k = 0; k < count; k++)
        copies[k] = arena_strdup(arena, names[k]);
    return copies;
}

enum status expr_compile(const struct expr **out, const char *source, const struct expr_names *names,
                         struct arena *arena, struct err *err)
{
    if (strnlen(source, EXPR_MAX_LENGTH + 1) > EXPR_MAX_LENGTH)
        return err_set(err, ERR_CONFIG, "longer than %d characters, cut at column %d", EXPR_MAX_LENGTH,
                       EXPR_MAX_LENGTH + 1);
    struct expr *expr = arena_alloc(arena, sizeof(*expr));
    expr->variable_count = names->variable_count;
    enum status status = expr_parse(expr, source, names, arena, err);
    if (status)
        return status;
    expr->source = arena_strdup(arena, names->written ? names->written : source);
    expr->arrays = uses_arrays(expr) ? copy_names(names->arrays, names->array_count, arena) : NULL;
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
