/* SPDX-License-Identifier: MIT
 *
 * Names, values and set-up that the tests of expressions share.
 */
#ifndef ROOFTILE_TESTS_EXPR_FIXTURE_H
#define ROOFTILE_TESTS_EXPR_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "rooftile/expr.h"
#include "rooftile/text.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static double double_it(const double *args)
{
    return 2 * args[0];
}

static double four(const double *args)
{
    return args[0] > 0 ? 1000 * args[0] + 100 * args[1] + 10 * args[2] + args[3] : (double)NAN;
}

static const char *const variables[] = {"n", "block", "device.arch", "zero"};
static const char *const lists[] = {"lens", "experts"};
static const struct expr_constant constants[] = {{"f16", 2}, {"gfx942", 942}};
static const struct expr_function functions[] = {{"bytes", 1, double_it}, {"four", 4, four}};
static const char *const arrays[] = {"x", "index"};
static const struct expr_names names = {.variables = variables,
                                        .variable_count = COUNT(variables),
                                        .lists = lists,
                                        .list_count = COUNT(lists),
                                        .constants = constants,
                                        .constant_count = COUNT(constants),
                                        .functions = functions,
                                        .function_count = COUNT(functions),
                                        .arrays = arrays,
                                        .array_count = COUNT(arrays),
                                        .has_index = true};
static const double slots[] = {100, 256, 942, 0, /* lens */ 60, 30, 3, /* experts */ 8, 8, 1};

static const struct expr *compile(struct fixture *f, const char *source)
{
    const struct expr *expr = NULL;
    if (expr_compile(&expr, source, &names, &f->arena, &f->err))
        fail_msg("%s: %s", source, f->err.text);
    return expr;
}

#endif
