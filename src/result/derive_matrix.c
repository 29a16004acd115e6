/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive_internal.h"

enum { MOST_LINES = 256 }; /* rows or columns */

struct axis {
    const char *values[MOST_LINES];
    size_t count;
};

/* The value's place on the axis, which grows; MOST_LINES when it is full. */
static size_t place_on(struct axis *axis, const char *value)
{
    size_t at = 0;
    while (at < axis->count && strcmp(axis->values[at], value) != 0)
        at++;
    if (at == axis->count && at < MOST_LINES)
        axis->values[axis->count++] = value;
    return at;
}

static const char *text_of(const struct result_case *c, const char *name, struct arena *arena)
{
    const struct param_value *value = derive_param(c, name);
    return value ? param_text(arena, value) : "";
}

static void put_axis(struct json_out *out, const char *key, const struct axis *axis)
{
    json_out_array(out, key);
    for (size_t k = 0; k < axis->count; k++)
        json_out_string(out, NULL, axis->values[k]);
    json_out_end(out);
}

static void put_cells(struct json_out *out, const double *cells, const struct axis *rows, const struct axis *columns)
{
    json_out_array(out, "cells");
    for (size_t row = 0; row < rows->count; row++) {
        json_out_array(out, NULL);
        for (size_t column = 0; column < columns->count; column++)
            json_out_number(out, NULL, cells[row * columns->count + column]);
        json_out_end(out);
    }
    json_out_end(out);
}

static bool is_number(const char *text, double *number)
{
    char *end = NULL;
    *number = strtod(text, &end);
    return end != text && !*end;
}

static int by_number(const void *a, const void *b)
{
    const double p = strtod(*(const char *const *)a, NULL), q = strtod(*(const char *const *)b, NULL);
    return (p > q) - (p < q);
}

/* Numbers in their order, words as they came. */
static void order_axis(struct axis *axis)
{
    double number = 0;
    for (size_t k = 0; k < axis->count; k++)
        if (!is_number(axis->values[k], &number))
            return;
    qsort(axis->values, axis->count, sizeof(*axis->values), by_number);
}

/* The next of the group's cases that has the quantity. */
static const struct result_case *next_case(size_t *at, const struct result *result, const struct suite_derive *spec,
                                           const struct members *members, size_t group)
{
    while (*at < members->count) {
        const size_t k = (*at)++;
        const struct result_case *c = &result->cases[members->cases[k]];
        if (members->group[k] == group && result_case_counts(c) && isfinite(derive_quantity(c, spec->y)))
            return c;
    }
    return NULL;
}

void derive_matrix(struct json_out *out, const struct result *result, const struct suite_derive *spec,
                   const struct members *members, size_t group, struct arena *arena)
{
    struct axis rows = {.count = 0}, columns = {.count = 0};
    const struct result_case *c = NULL;
    for (size_t at = 0; (c = next_case(&at, result, spec, members, group));) {
        place_on(&rows, text_of(c, spec->rows, arena));
        place_on(&columns, text_of(c, spec->x, arena));
    }
    if (!rows.count) {
        json_out_string(out, "error", "no case was measured");
        return;
    }
    order_axis(&rows);
    order_axis(&columns);
    double *cells = arena_array(arena, rows.count * columns.count, sizeof(*cells));
    for (size_t k = 0; k < rows.count * columns.count; k++)
        cells[k] = NAN;
    for (size_t at = 0; (c = next_case(&at, result, spec, members, group));) {
        const size_t row = place_on(&rows, text_of(c, spec->rows, arena));
        const size_t column = place_on(&columns, text_of(c, spec->x, arena));
        if (row < rows.count && column < columns.count)
            cells[row * columns.count + column] = derive_quantity(c, spec->y);
    }
    put_axis(out, "rows", &rows);
    put_axis(out, "columns", &columns);
    put_cells(out, cells, &rows, &columns);
}
