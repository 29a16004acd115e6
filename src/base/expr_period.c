/* SPDX-License-Identifier: MIT
 *
 * Finds the period by running the program on facts instead of numbers. Every value f is described, where possible, as
 *     f(i + period) = f(i) + climb
 * so i itself is (1, 1), i % 7 is (7, 0), floor(i / 4) is (4, 1), and floor(i / 4) % 3 is (12, 0). A climbing value
 * must be whole, where arithmetic is exact; the quotient of one by a whole constant is kept as such until floor or
 * ceil.
 */
#include <math.h>

#include "expr_internal.h"

#define INDEX_LIMIT ((double)EXPR_PERIOD_REACH)
#define CYCLE_LIMIT 0x1p40 /* periods and climbs stay below */

struct cycle {
    bool constant; /* of the value in range.low */
    bool known;    /* period, climb and divisor hold */
    double period;
    double climb;
    double divisor; /* 1, or the whole constant that the climbing value was divided by */
    struct expr_range range;
};

struct finder {
    const struct expr *expr;
    const double *slots;
    struct cycle stack[EXPR_MAX_STACK];
    size_t top;
    bool merge[EXPR_MAX_STACK];
    size_t choices;
};

static double gcd(double a, double b)
{
    while (b != 0) {
        const double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return a;
}

static struct cycle unknown(struct expr_range range)
{
    return (struct cycle){.range = range};
}

static struct cycle cycle(double period, double climb, struct expr_range range)
{
    const bool known = period <= CYCLE_LIMIT && fabs(climb) <= CYCLE_LIMIT && (climb == 0 || range.whole);
    return (struct cycle){.known = known, .period = period, .climb = climb, .divisor = 1, .range = range};
}

static bool push_constant(struct finder *f, double value)
{
    struct cycle c = cycle(1, 0, expr_range_value(value));
    c.constant = true;
    f->stack[f->top++] = c;
    return isfinite(value);
}

static bool level(const struct cycle *c)
{
    return c->known && c->climb == 0;
}

static struct cycle sum(const struct cycle *a, const struct cycle *b, double sign, struct expr_range range)
{
    const double period = a->period / gcd(a->period, b->period) * b->period;
    const double climb = a->climb * (period / a->period) + sign * b->climb * (period / b->period);
    return a->divisor == 1 && b->divisor == 1 ? cycle(period, climb, range) : unknown(range);
}

static struct cycle scaled(const struct cycle *a, double factor, struct expr_range range)
{
    return a->divisor == 1 ? cycle(a->period, a->climb * factor, range) : unknown(range);
}

static struct cycle quotient(const struct cycle *a, const struct cycle *b, struct expr_range range)
{
    const double divisor = b->range.low;
    if (!b->constant || !b->range.whole || divisor < 1 || !a->range.whole || a->divisor != 1)
        return unknown(range);
    struct cycle result = *a;
    result.divisor = divisor;
    result.range = range;
    return result;
}

static struct cycle rest(const struct cycle *a, const struct cycle *b, struct expr_range range)
{
    const double divisor = b->range.low;
    if (!b->constant || !b->range.whole || divisor < 1 || !a->range.whole || a->range.low < 0 || a->divisor != 1)
        return unknown(range);
    return cycle(a->period * (divisor / gcd(divisor, fabs(a->climb))), 0, range);
}

static struct cycle combine(enum expr_op op, const struct cycle *a, const struct cycle *b)
{
    const struct expr_range range = expr_range_cut(expr_range_binary(op, a->range, b->range));
    if (!a->known || !b->known)
        return unknown(range);
    if (level(a) && level(b))
        return sum(a, b, 1, range);
    if (op == OP_ADD || op == OP_SUB)
        return sum(a, b, op == OP_ADD ? 1 : -1, range);
    if (op == OP_MUL && (a->constant || b->constant))
        return a->constant ? scaled(b, a->range.low, range) : scaled(a, b->range.low, range);
    if (op == OP_DIV)
        return quotient(a, b, range);
    return op == OP_MOD ? rest(a, b, range) : unknown(range);
}

static bool binary(struct finder *f, enum expr_op op)
{
    const struct cycle a = f->stack[f->top - 2], b = f->stack[f->top - 1];
    f->top -= 2;
    if (a.constant && b.constant)
        return push_constant(f, expr_binary(op, a.range.low, b.range.low));
    f->stack[f->top++] = combine(op, &a, &b);
    return true;
}

static bool unary(struct finder *f, enum expr_op op)
{
    const struct cycle a = f->stack[--f->top];
    const struct expr_range range = expr_range_cut(expr_range_unary(op, a.range));
    if (a.constant)
        return push_constant(f, expr_unary(op, a.range.low));
    struct cycle result = unknown(range);
    if (level(&a))
        result = cycle(a.period, 0, range);
    else if (a.known && op == OP_NEG)
        result = scaled(&a, -1, range);
    else if (a.known && (op == OP_FLOOR || op == OP_CEIL)) {
        const double common = gcd(a.divisor, fabs(a.climb));
        result = cycle(a.period * (a.divisor / common), a.climb / common, range);
    }
    f->stack[f->top++] = result;
    return true;
}

static bool call(struct finder *f, const struct expr_function *function)
{
    double args[EXPR_MAX_ARITY];
    struct cycle result = cycle(1, 0, expr_range_cut(expr_range_any()));
    bool constant = true, all_level = true;
    f->top -= (size_t)function->arity;
    for (size_t j = 0; j < (size_t)function->arity; j++) {
        const struct cycle *a = &f->stack[f->top + j];
        args[j] = a->range.low;
        constant &= a->constant;
        all_level &= level(a);
        if (all_level && result.known)
            result = sum(&result, a, 1, result.range);
    }
    if (constant)
        return push_constant(f, function->call(args));
    f->stack[f->top++] = all_level ? result : unknown(result.range);
    return true;
}

/* Returns where to go on. */
static size_t branch(struct finder *f, size_t pc, size_t target)
{
    const struct cycle *condition = &f->stack[f->top - 1];
    f->merge[f->choices++] = !condition->constant;
    if (!condition->constant)
        return pc + 1;
    f->top--;
    return condition->range.low != 0 ? pc + 1 : target;
}

static void select_side(struct finder *f)
{
    if (!f->merge[--f->choices])
        return;
    const struct cycle *c = &f->stack[f->top - 3], *a = c + 1, *b = c + 2;
    const struct expr_range range = expr_range_either(a->range, b->range);
    struct cycle result = unknown(range);
    if (level(c) && level(a) && level(b)) {
        result = sum(a, b, 1, range);
        if (result.known)
            result = sum(&result, c, 1, range);
    }
    f->top -= 2;
    f->stack[f->top - 1] = result;
}

static bool find(struct finder *f)
{
    bool good = true;
    for (size_t pc = 0, next; good && pc < f->expr->count; pc = next) {
        const struct expr_step *step = &f->expr->steps[pc];
        next = pc + 1;
        switch (step->op) {
        case OP_CONST:
            push_constant(f, step->as.value);
            break;
        case OP_SLOT:
            good = push_constant(f, f->slots[step->as.slot]);
            break;
        case OP_INDEX:
            f->stack[f->top++] = cycle(1, 1, (struct expr_range){0, INDEX_LIMIT, true});
            break;
        case OP_BRANCH:
            next = branch(f, pc, step->as.target);
            break;
        case OP_SKIP:
            if (!f->merge[f->choices - 1])
                next = step->as.target;
            break;
        case OP_SELECT:
            select_side(f);
            break;
        case OP_CALL:
            good = call(f, step->as.call);
            break;
        default:
            good = step->op < OP_ADD ? unary(f, step->op) : binary(f, step->op);
        }
    }
    return good;
}

uint64_t expr_period(const struct expr *expr, const double *slots, uint64_t limit)
{
    struct finder f;
    if (!expr->uses_index)
        return 1;
    f.expr = expr;
    f.slots = slots;
    f.top = f.choices = 0;
    if (!find(&f) || !level(&f.stack[0]) || f.stack[0].period > (double)limit)
        return 0;
    return (uint64_t)f.stack[0].period;
}
