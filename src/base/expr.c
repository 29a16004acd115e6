/* SPDX-License-Identifier: MIT */
#include "rooftile/expr.h"

#include <math.h>
#include <string.h>

#include "expr_internal.h"

static void note_names(struct expr *expr)
{
    for (size_t k = 0; k < expr->count; k++) {
        expr->uses_index |= expr->steps[k].op == OP_INDEX;
        expr->uses_slots |= expr->steps[k].op == OP_SLOT;
    }
}

enum status expr_compile(const struct expr **out, const char *source, const struct expr_names *names,
                         struct arena *arena, struct err *err)
{
    if (strnlen(source, EXPR_MAX_LENGTH + 1) > EXPR_MAX_LENGTH)
        return err_set(err, ERR_CONFIG, "longer than %d characters, cut at column %d", EXPR_MAX_LENGTH,
                       EXPR_MAX_LENGTH + 1);
    struct expr *expr = arena_alloc(arena, sizeof(*expr));
    expr->source = arena_strdup(arena, source);
    expr->variable_count = names->variable_count;
    enum status status = expr_parse(expr, expr->source, names, arena, err);
    if (status)
        return status;
    note_names(expr);
    if (names->written)
        expr->source = arena_strdup(arena, names->written);
    *out = expr;
    return STATUS_OK;
}

const char *expr_source(const struct expr *expr)
{
    return expr->source;
}

bool expr_uses_index(const struct expr *expr)
{
    return expr->uses_index;
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

bool expr_is_constant(const struct expr *expr)
{
    return !expr->uses_index && !expr->uses_slots;
}

double expr_unary(enum expr_op op, double a)
{
    switch (op) {
    case OP_NEG:
        return -a;
    case OP_NOT:
        return a == 0;
    case OP_TRUTH:
        return a != 0;
    case OP_ABS:
        return fabs(a);
    case OP_FLOOR:
        return floor(a);
    default:
        return ceil(a);
    }
}

double expr_binary(enum expr_op op, double a, double b)
{
    switch (op) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return b != 0 ? a / b : (double)NAN;
    case OP_MOD:
        return fmod(a, b);
    case OP_POW:
        return pow(a, b);
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_LT:
        return a < b;
    case OP_LE:
        return a <= b;
    case OP_GT:
        return a > b;
    case OP_GE:
        return a >= b;
    case OP_MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

bool expr_run(double *value, const struct expr *expr, const double *slots, double i, struct expr_fault *fault)
{
    double stack[EXPR_MAX_STACK];
    size_t top = 0; /* values on the stack */
    double divisor = 1;
    for (size_t pc = 0; pc < expr->count; pc++) {
        const struct expr_step *step = &expr->steps[pc];
        switch (step->op) {
        case OP_CONST:
            stack[top++] = step->as.value;
            break;
        case OP_SLOT:
            stack[top++] = slots[step->as.slot];
            break;
        case OP_INDEX:
            stack[top++] = i;
            break;
        case OP_BRANCH:
            if (stack[--top] == 0)
                pc = step->as.target - 1;
            continue;
        case OP_SKIP:
            pc = step->as.target - 1;
            continue;
        case OP_SELECT:
            continue;
        case OP_CALL:
            top -= (size_t)step->as.call->arity - 1;
            stack[top - 1] = step->as.call->call(&stack[top - 1]);
            break;
        default:
            if (step->op < OP_ADD) {
                stack[top - 1] = expr_unary(step->op, stack[top - 1]);
                break;
            }
            divisor = stack[--top];
            stack[top - 1] = expr_binary(step->op, stack[top - 1], divisor);
        }
        if (!isfinite(stack[top - 1])) {
            *fault = (struct expr_fault){step, divisor, stack[top - 1]};
            return false;
        }
    }
    *value = stack[0];
    return true;
}

enum status expr_fault_error(const struct expr_fault *fault, struct err *err)
{
    const struct expr_step *step = fault->step;
    if ((step->op == OP_DIV || step->op == OP_MOD) && fault->divisor == 0)
        return err_set(err, ERR_CONFIG, "%s by zero at column %u", step->op == OP_DIV ? "division" : "remainder",
                       step->column);
    if (step->op == OP_CALL && isnan(fault->result))
        return err_set(err, ERR_CONFIG, "%s(...) is not defined here at column %u", step->as.call->name, step->column);
    if (step->op == OP_SLOT)
        return err_set(err, ERR_CONFIG, "not a finite number at column %u", step->column);
    if (isnan(fault->result))
        return err_set(err, ERR_CONFIG, "the result is not defined at column %u", step->column);
    return err_set(err, ERR_CONFIG, "the result is too large at column %u", step->column);
}

enum status expr_eval(double *value, const struct expr *expr, const double *slots, struct err *err)
{
    struct expr_fault fault;
    return expr_run(value, expr, slots, 0, &fault) ? STATUS_OK : expr_fault_error(&fault, err);
}
