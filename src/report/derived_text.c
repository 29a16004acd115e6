/* SPDX-License-Identifier: MIT
 *
 * What a suite derives from its cases, for people: a line per curve, a table per matrix. The values are JSON texts
 * (result.h) that derive.c made, or that a file had: a value of another form than its method's is left out.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "derived_text.h"
#include "report_internal.h"
#include "rooftile/units.h"

enum { MOST_COLUMNS = 32, INDENT = 2, GAP = 2 };
/* Below it more than a tenth of the variation is something else than time = start-up + volume / rate. */
#define GOOD_R2 0.9

/* ---- quantities ---- */

static const char *unit_of(const struct result *result, const struct result_derived *derived, const char *name)
{
    static const struct {
        const char *name, *unit;
    } units[] = {
        {"time_ns", "ns"},         {"ns_per_item", "ns"}, {"bytes_per_s", "B/s"},
        {"flops_per_s", "FLOP/s"}, {"bytes", "B"},        {"footprint", "B"},
    };
    for (size_t k = 0; k < sizeof(units) / sizeof(*units); k++)
        if (!strcmp(units[k].name, name))
            return units[k].unit;
    for (size_t k = 0; k < result->case_count; k++)
        for (size_t m = 0; m < result->cases[k].metric_count; m++)
            if (!strcmp(result->cases[k].kernel, derived->kernel) && !strcmp(result->cases[k].metrics[m].name, name))
                return result->cases[k].metrics[m].unit;
    return "";
}

static const char *quantity_text(char out[static UNITS_TEXT], double value, const char *unit)
{
    if (!strcmp(unit, "B"))
        return units_bytes(out, value);
    return *unit ? units_quantity(out, value, unit) : units_count(out, value);
}

static double number_at(const struct json *object, const char *key)
{
    const struct json *number = json_member(object, key);
    return number && number->type == JSON_NUMBER ? number->number : NAN;
}

/* ---- one line per method ---- */

/* What a line is made of: a derived value, and the units of its two quantities. */
struct curve_value {
    const struct result_derived *derived;
    const struct json *json;
    const char *x, *y;
};

static void say_startup(struct text *out, const struct curve_value *value)
{
    char startup[UNITS_TEXT], rate[UNITS_TEXT];
    const bool in_time = !strcmp(value->y, "ns");
    const double r2 = number_at(value->json, "r2");
    text_addf(out, "start-up %s, then %s (%sR2 %.3f)",
              quantity_text(startup, number_at(value->json, "startup"), value->y),
              in_time ? units_rate(rate, number_at(value->json, "rate") * 1e9, strcmp(value->x, "B") ? "1/s" : "B/s")
                      : units_quantity(rate, number_at(value->json, "rate"), "1"),
              r2 >= GOOD_R2 ? "" : "a poor fit: ", r2);
}

static void say_changes(struct text *out, const struct curve_value *value)
{
    char low[UNITS_TEXT], high[UNITS_TEXT], before[UNITS_TEXT], after[UNITS_TEXT], percent[UNITS_TEXT];
    const struct json *changes = json_member(value->json, "changes");
    if (!changes || changes->type != JSON_ARRAY || !changes->count)
        text_add(out, "no change of level");
    for (const struct json *one = changes ? changes->first : NULL; one; one = one->next)
        text_addf(out, "%s%s between %s %s and %s: %s, then %s (confidence %s)", one == changes->first ? "" : "; ",
                  one == changes->first ? "changes" : "then", value->derived->x,
                  quantity_text(low, number_at(one, "x_low"), value->x),
                  quantity_text(high, number_at(one, "x_high"), value->x),
                  quantity_text(before, number_at(one, "before"), value->y),
                  quantity_text(after, number_at(one, "after"), value->y),
                  units_percent(percent, number_at(one, "confidence")));
}

static void say_knee(struct text *out, const struct curve_value *value)
{
    char x[UNITS_TEXT];
    text_addf(out, "knee at %s %s", value->derived->x, quantity_text(x, number_at(value->json, "x"), value->x));
}

static void say_extreme(struct text *out, const struct curve_value *value)
{
    char x[UNITS_TEXT], y[UNITS_TEXT];
    text_addf(out, "%s at %s %s", quantity_text(y, number_at(value->json, "y"), value->y), value->derived->x,
              quantity_text(x, number_at(value->json, "x"), value->x));
}

static void say_list(struct text *out, const char *intro, const struct json *texts)
{
    for (const struct json *one = texts && texts->type == JSON_ARRAY ? texts->first : NULL; one; one = one->next)
        if (one->type == JSON_STRING)
            text_addf(out, "%s%s", one == texts->first ? intro : "; ", one->string);
}

static void say_arms(struct text *out, const struct curve_value *value)
{
    const struct json *verdict = json_member(value->json, "verdict"), *arms = json_member(value->json, "arms");
    char time[UNITS_TEXT];
    text_add(out, verdict && verdict->type == JSON_STRING ? verdict->string : "incomplete");
    for (const struct json *arm = arms && arms->type == JSON_ARRAY ? arms->first : NULL; arm; arm = arm->next) {
        const struct json *name = json_member(arm, "arm");
        const double host_ns = number_at(arm, "host_ns"), event_ns = number_at(arm, "event_ns");
        const double each_ns = (isnan(host_ns) ? event_ns : host_ns) / number_at(arm, "launches");
        text_addf(out, "%s%s %s", arm == arms->first ? "; per launch: " : ", ",
                  name && name->type == JSON_STRING ? name->string : "?", units_quantity(time, each_ns, "ns"));
    }
    say_list(out, "; they disagree: ", json_member(value->json, "disagree"));
    say_list(out, "; not compared: ", json_member(value->json, "not_compared"));
}

static void say_ratio(struct text *out, const struct curve_value *value)
{
    const struct json *to = json_member(value->json, "to"), *points = json_member(value->json, "points");
    const double unmatched = number_at(value->json, "unmatched");
    text_addf(out, "%s %s", value->derived->kernel, strcmp(value->derived->y, "time_ns") != 0 ? "reaches" : "takes");
    for (const struct json *one = points && points->type == JSON_ARRAY ? points->first : NULL; one; one = one->next) {
        const struct json *at = json_member(one, "at");
        const char *where = at && at->type == JSON_STRING ? at->string : "";
        char own[UNITS_TEXT];
        text_addf(out, "%s %.2f", one == points->first ? "" : ",", number_at(one, "ratio"));
        if (one == points->first)
            text_addf(out, " of %s", to && to->type == JSON_STRING ? to->string : "?");
        text_addf(out, "%s%s (%s)", *where ? " at " : "", where, quantity_text(own, number_at(one, "value"), value->y));
    }
    if (unmatched > 0)
        text_addf(out, "; %.0f without a counterpart", unmatched);
}

static const struct {
    const char *method;
    void (*say)(struct text *out, const struct curve_value *value);
} methods[] = {
    {"startup", say_startup}, {"change_points", say_changes}, {"knee", say_knee},   {"max", say_extreme},
    {"min", say_extreme},     {"three_arm", say_arms},        {"ratio", say_ratio},
};

bool derived_line(struct text *out, const struct result *result, const struct result_derived *derived,
                  const struct json *json)
{
    const struct json *problem = json_member(json, "error");
    const struct curve_value value = {derived, json, unit_of(result, derived, derived->x),
                                      unit_of(result, derived, derived->y)};
    if (problem && problem->type == JSON_STRING) {
        text_addf(out, "none: %s", problem->string);
        return true;
    }
    for (size_t k = 0; k < sizeof(methods) / sizeof(*methods); k++)
        if (!strcmp(methods[k].method, derived->method)) {
            methods[k].say(out, &value);
            return true;
        }
    return false;
}

/* ---- a matrix ---- */

bool derived_matrix(struct derived_matrix *matrix, const struct result *result, const struct result_derived *derived,
                    const struct json *json)
{
    *matrix = (struct derived_matrix){.rows = json_member(json, "rows"),
                                      .columns = json_member(json, "columns"),
                                      .cells = json_member(json, "cells"),
                                      .unit = unit_of(result, derived, derived->y)};
    return matrix->rows && matrix->rows->type == JSON_ARRAY && matrix->columns && matrix->columns->type == JSON_ARRAY &&
           matrix->cells && matrix->cells->type == JSON_ARRAY;
}

/* A size reads better as 64Ki than as 65536. */
const char *derived_label(char out[static UNITS_TEXT], const struct json *axis, size_t place)
{
    const struct json *value = json_at(axis, place);
    double number = 0;
    if (!value || value->type != JSON_STRING)
        return "";
    return units_parse_number(&number, value->string) ? units_count(out, number) : value->string;
}

const char *derived_cell(char out[static UNITS_TEXT], const struct derived_matrix *matrix, size_t row, size_t column)
{
    const struct json *line = json_at(matrix->cells, row);
    double numbers[MOST_COLUMNS];
    struct err ignored = {0};
    double value = NAN;
    if (line && line->type == JSON_ARRAY && line->packed && line->count <= MOST_COLUMNS && column < line->count &&
        !json_numbers(numbers, line, &ignored)) {
        value = numbers[column];
    } else if (line && line->type == JSON_ARRAY && !line->packed) {
        const struct json *cell = json_at(line, column);
        value = cell && cell->type == JSON_NUMBER ? cell->number : NAN;
    }
    return isfinite(value) ? quantity_text(out, value, matrix->unit) : "-";
}

static void add_matrix(struct text *out, const struct derived_matrix *matrix, const struct result_derived *derived,
                       struct arena *arena)
{
    char text[UNITS_TEXT];
    const size_t rows = matrix->rows->count;
    const size_t columns = matrix->columns->count < MOST_COLUMNS ? matrix->columns->count : MOST_COLUMNS;
    size_t first = text_columns(derived->rows), widths[MOST_COLUMNS];
    for (size_t row = 0; row < rows; row++) {
        const size_t width = text_columns(derived_label(text, matrix->rows, row));
        first = width > first ? width : first;
    }
    for (size_t column = 0; column < columns; column++) {
        widths[column] = text_columns(derived_label(text, matrix->columns, column));
        for (size_t row = 0; row < rows; row++) {
            const size_t width = text_columns(derived_cell(text, matrix, row, column));
            widths[column] = width > widths[column] ? width : widths[column];
        }
    }
    for (size_t row = 0; row <= rows; row++) { /* the head is row 0 */
        const char *label = row ? derived_label(text, matrix->rows, row - 1) : derived->rows;
        text_pad(out, 2 * INDENT, ' ');
        text_add(out, printable(arena, label));
        text_pad(out, first - text_columns(label), ' ');
        for (size_t column = 0; column < columns; column++) {
            const char *cell =
                row ? derived_cell(text, matrix, row - 1, column) : derived_label(text, matrix->columns, column);
            text_pad(out, GAP + widths[column] - text_columns(cell), ' ');
            text_add(out, printable(arena, cell));
        }
        text_add(out, "\n");
    }
}

/* ---- the section ---- */

const struct json *derived_value(const struct result_derived *derived, struct arena *arena)
{
    const struct json *json = NULL;
    struct err ignored = {0};
    return json_parse(&json, derived->name, derived->json, strlen(derived->json), arena, &ignored) ? NULL : json;
}

void derived_lines(struct text *out, const struct result *result, const struct report_options *options)
{
    struct arena arena = {0};
    if (result->derived_count)
        styled(out, options, STYLE_BOLD, "\nderived from these cases\n");
    for (size_t k = 0; k < result->derived_count; k++) {
        const struct result_derived *derived = &result->derived[k];
        const struct json *json = derived_value(derived, &arena);
        struct derived_matrix matrix;
        struct derived_shares shares;
        struct text line = {0};
        char sum[UNITS_TEXT];
        text_addf(&line, "%s%s%s", derived->name, *derived->group ? " " : "", derived->group);
        if (json && derived_matrix(&matrix, result, derived, json)) {
            text_addf(&line, ": %s by %s (rows) and %s", derived->y, derived->rows, derived->x);
            wrapped(out, printable(&arena, line.data), INDENT, report_columns(options));
            add_matrix(out, &matrix, derived, &arena);
        } else if (json && derived_shares(&shares, json)) {
            text_addf(&line, ": %s", units_quantity(sum, shares.sum_ns, "ns"));
            wrapped(out, printable(&arena, line.data), INDENT, report_columns(options));
            add_shares(out, &shares, 2 * INDENT, &arena);
        } else {
            text_add(&line, ": ");
            if (json && derived_line(&line, result, derived, json))
                wrapped(out, printable(&arena, line.data), INDENT, report_columns(options));
        }
        text_release(&line);
    }
    arena_release(&arena);
}
