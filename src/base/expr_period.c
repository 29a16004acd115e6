/* SPDX-License-Identifier: MIT
 *
 * How often the values of an expression repeat.
 */
#include <math.h>

#include "expr_internal.h"

static uint64_t common(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Of a whole remainder that starts with the `i` at `at`: `i % m`, `i * a % m`, `(i + b) % m`, `(i * a + b) % m`; 0
 * where it is something else. With a and b up to 2^16 all below `m` stays exact for i up to 2^37. */
static uint64_t index_period(const struct expr *expr, const double *slots, size_t at)
{
    static const enum expr_op order[] = {OP_MUL, OP_ADD, OP_MOD};
    for (size_t k = 0; k < 3 && at + 2 < expr->count; k++) {
        const struct expr_step *step = &expr->steps[at + 1];
        const double value = step->op == OP_CONST ? step->as.value : step->op == OP_SLOT ? slots[step->as.slot] : -1;
        if (step[1].op != order[k])
            continue;
        if (!(value >= 0 && value <= 0x1p16 && value == floor(value)))
            return 0;
        if (order[k] == OP_MOD)
            return (uint64_t)value;
        at += 2;
    }
    return 0;
}

/* The least common multiple of two periods; 0 where one is 0 or it is over the limit. */
static uint64_t both_periods(uint64_t a, uint64_t b, uint64_t limit)
{
    const uint64_t rest = a && b ? b / common(a, b) : 0;
    return rest && a <= limit / rest ? a * rest : 0;
}

uint64_t expr_period(const struct expr *expr, const double *slots, uint64_t limit)
{
    uint64_t period = 1;
    for (size_t at = 0; at < expr->count && period; at++)
        if (expr->steps[at].op == OP_INDEX)
            period = both_periods(period, index_period(expr, slots, at), limit);
    return period;
}
