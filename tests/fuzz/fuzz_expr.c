/* SPDX-License-Identifier: MIT
 *
 * Any text: a program or an error with a column. A program's block values equal its single values, found by offering
 * the index a second time as the variable `i`; and a period it claims holds.
 */
#include <stdlib.h>
#include <string.h>

#include "rooftile/expr.h"

#define TOTAL 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double product(const double *args)
{
    return args[0] * args[1];
}

static const char *const variables[] = {"n", "a.b", "i"};
static const char *const lists[] = {"l"};
static const struct expr_constant constants[] = {{"f16", 2}};
static const struct expr_function functions[] = {{"f", 2, product}};

static struct expr_names names_with(bool has_index)
{
    return (struct expr_names){variables, 3, lists, 1, constants, 1, functions, 1, has_index, NULL};
}

static void compare(const struct expr *indexed, const struct expr *plain, struct err *err)
{
    double slots[] = {3, -2.5, 0, 60, 30, 3}, values[TOTAL];
    const enum status status = expr_values(values, indexed, slots, 0, TOTAL, err);
    size_t k = 0;
    for (; k < TOTAL; k++) {
        double value;
        slots[2] = (double)k;
        if (expr_eval(&value, plain, slots, err))
            break;
        if (!status && value != values[k])
            abort();
    }
    if ((k < TOTAL) != (status != STATUS_OK))
        abort();
    const uint64_t period = expr_period(indexed, slots, TOTAL);
    for (k = period; !status && period && k < TOTAL; k++)
        if (values[k] != values[k - period])
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct expr_names with = names_with(true), without = names_with(false);
    struct arena arena = {0};
    struct err err = {0};
    const struct expr *indexed = NULL, *plain = NULL;
    char *source = malloc(size + 1);
    if (!source)
        return 0;
    if (size)
        memcpy(source, data, size);
    source[size] = '\0';
    const enum status status = expr_compile(&indexed, source, &with, &arena, &err);
    if (status && !strstr(err.text, "column "))
        abort();
    if (expr_compile(&plain, source, &without, &arena, &err) != status)
        abort();
    if (!status)
        compare(indexed, plain, &err);
    arena_release(&arena);
    free(source);
    return 0;
}
