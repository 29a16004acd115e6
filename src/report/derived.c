/* SPDX-License-Identifier: MIT
 *
 * What a suite derives from its cases, for people: a line per curve, a table per matrix, sum or ratio. The values are
 * JSON texts (result.h) that derive.c made, or that a file had: a value of another form than its method's is skipped.
 */

#include "report_internal.h"
#include "rooftile/units.h"

/* Below it more than a tenth of the variation is something else than time = start-up + volume / rate. */
#define GOOD_R2 0.9

enum { MOST_POINTS = 6 }; /* of more, only the least and the most are said */

/* ---- members ---- */

double member_number(const cJSON *object, const char *key)
{
    const cJSON *number = json_member(object, key);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

const char *member_string(const cJSON *object, const char *key)
{
    const cJSON *string = json_member(object, key);
    return cJSON_IsString(string) ? string->valuestring : "";
}

const cJSON *first_of(const cJSON *array)
{
    return cJSON_IsArray(array) ? array->child : NULL;
}

/* ---- quantities ---- */

static const char *unit_of(const struct result *result, const struct result_derived *derived, const char *name)
{
    static const struct {
        const char *name, *unit;
    } units[] = {
        {"time_ns", UNIT_TIME},          {"ns_per_item", UNIT_TIME}, {"bytes_per_s", UNIT_BYTE_RATE},
        {"flops_per_s", UNIT_FLOP_RATE}, {"bytes", UNIT_BYTES},      {"footprint", UNIT_BYTES},
    };
    for (size_t k = 0; k < COUNT_OF(units); k++)
        if (!strcmp(units[k].name, name))
            return units[k].unit;
    for (size_t k = 0; k < result->case_count; k++)
        for (size_t m = 0; m < result->cases[k].metric_count; m++)
            if (!strcmp(result->cases[k].kernel, derived->kernel) && !strcmp(result->cases[k].metrics[m].name, name))
                return result->cases[k].metrics[m].unit;
    return UNIT_SIZE;
}

/* A derived value, and the units of its two quantities. */
struct value {
    const struct result_derived *derived;
    const cJSON *json;
    const char *x, *y;
    struct arena *arena;
};

static const char *words(const struct value *value, const cJSON *object, const char *key, const char *unit)
{
    return quantity_words(member_number(object, key), unit, value->arena);
}

/* ---- one line per method ---- */

static void say_startup(struct text *out, const struct value *v)
{
    char rate[UNITS_TEXT];
    const bool in_time = !strcmp(v->y, UNIT_TIME);
    const double r2 = member_number(v->json, "r2");
    text_addf(out, "start-up %s, then %s (%sR2 %.3f)", words(v, v->json, "startup", v->y),
              in_time ? units_rate(rate, member_number(v->json, "rate") * 1e9,
                                   strcmp(v->x, UNIT_BYTES) ? "1/s" : UNIT_BYTE_RATE)
                      : words(v, v->json, "rate", UNIT_NUMBER),
              r2 >= GOOD_R2 ? "" : "a poor fit: ", r2);
}

static void say_changes(struct text *out, const struct value *v)
{
    const cJSON *changes = first_of(json_member(v->json, "changes"));
    if (!changes)
        text_add(out, "no change of level");
    for (const cJSON *one = changes; one; one = one->next)
        text_addf(out, "%s between %s %s and %s: %s, then %s (confidence %s)", one == changes ? "changes" : "; then",
                  v->derived->x, words(v, one, "x_low", v->x), words(v, one, "x_high", v->x),
                  words(v, one, "before", v->y), words(v, one, "after", v->y),
                  words(v, one, "confidence", UNIT_PERCENT));
}

static void say_knee(struct text *out, const struct value *v)
{
    text_addf(out, "knee at %s %s", v->derived->x, words(v, v->json, "x", v->x));
}

static void say_extreme(struct text *out, const struct value *v)
{
    text_addf(out, "%s at %s %s", words(v, v->json, "y", v->y), v->derived->x, words(v, v->json, "x", v->x));
}

static void say_list(struct text *out, const char *intro, const cJSON *texts)
{
    for (const cJSON *one = first_of(texts); one; one = one->next)
        if (cJSON_IsString(one))
            text_addf(out, "%s%s", one == texts->child ? intro : "; ", one->valuestring);
}

static void say_arms(struct text *out, const struct value *v)
{
    const char *verdict = member_string(v->json, "verdict"), *before = "; per launch: ";
    text_add(out, *verdict ? verdict : "incomplete");
    for (const cJSON *arm = first_of(json_member(v->json, "arms")); arm; arm = arm->next) {
        const double host_ns = member_number(arm, "host_ns"), event_ns = member_number(arm, "event_ns");
        char time[UNITS_TEXT];
        text_addf(out, "%s%s %s", before, member_string(arm, "arm"),
                  units_quantity(time, (isnan(host_ns) ? event_ns : host_ns) / member_number(arm, "launches"), "ns"));
        before = ", ";
    }
    say_list(out, "; they disagree: ", json_member(v->json, "disagree"));
    say_list(out, "; not compared: ", json_member(v->json, "not_compared"));
}

static void say_ratio(struct text *out, const struct value *v)
{
    const cJSON *first = first_of(json_member(v->json, "points")), *least = first, *most = first;
    const double unmatched = member_number(v->json, "unmatched");
    const char *comma = "";
    size_t count = 0;
    for (const cJSON *one = first; one; one = one->next, count++) {
        least = member_number(one, "ratio") < member_number(least, "ratio") ? one : least;
        most = member_number(one, "ratio") > member_number(most, "ratio") ? one : most;
    }
    text_addf(out, "%s %s", v->derived->kernel, strcmp(v->derived->y, "time_ns") != 0 ? "reaches" : "takes");
    const bool all = count <= MOST_POINTS;
    for (const cJSON *one = all ? first : least; one; one = all ? one->next : one == most ? NULL : most) {
        const char *where = member_string(one, "at");
        text_addf(out, "%s %.2f", comma, member_number(one, "ratio"));
        if (!*comma)
            text_addf(out, " of %s", member_string(v->json, "to"));
        text_addf(out, "%s%s (%s)", *where ? " at " : "", where, words(v, one, "value", v->y));
        comma = ",";
    }
    if (!all)
        text_addf(out, ", the least and the most of %zu", count);
    if (unmatched > 0)
        text_addf(out, "; %.0f without a counterpart", unmatched);
}

static void say_dips(struct text *out, const struct value *v)
{
    const cJSON *first = first_of(json_member(v->json, "dips"));
    if (!first)
        text_add(out, "no dips");
    for (const cJSON *one = first; one; one = one->next)
        text_addf(out, "%s%s %s: %s after %s", one == first ? "dips at " : "; ", v->derived->x,
                  words(v, one, "x", v->x), words(v, one, "after", v->y), words(v, one, "before", v->y));
}

static void say_together(struct text *out, const struct value *v)
{
    const cJSON *first = first_of(json_member(v->json, "points"));
    if (!first)
        text_addf(out, "nothing to compare with");
    for (const cJSON *one = first; one; one = one->next)
        text_addf(out, "%s%.0f copies of %s: %s at once, %s one behind the other (%.1f at a time)",
                  one == first ? "" : "; ", member_number(one, "copies"), words(v, one, "x", v->x),
                  words(v, one, "whole_ns", UNIT_TIME), words(v, one, "sum_ns", UNIT_TIME),
                  member_number(one, "overlap"));
}

static void say_overlap(struct text *out, const struct value *v)
{
    for (const cJSON *one = first_of(json_member(v->json, "points")), *first = one; one; one = one->next) {
        const char *where = member_string(one, "at");
        text_addf(out, "%s%s%s%s at once, %s one after the other: speedup %.2f of %.2f, overlap efficiency %s",
                  one == first ? "" : "; ", where, *where ? ": " : "", words(v, one, "whole_ns", UNIT_TIME),
                  words(v, one, "sum_ns", UNIT_TIME), member_number(one, "speedup"),
                  member_number(one, "ideal_speedup"), words(v, one, "efficiency", UNIT_PERCENT));
    }
}

static const struct {
    const char *method;
    void (*say)(struct text *out, const struct value *value);
} methods[] = {
    {"startup", say_startup},   {"change_points", say_changes}, {"knee", say_knee},   {"max", say_extreme},
    {"min", say_extreme},       {"three_arm", say_arms},        {"ratio", say_ratio}, {"dips", say_dips},
    {"together", say_together}, {"overlap", say_overlap},
};

/* NULL: its method is not known. */
static const char *line_of(const struct value *v)
{
    const char *problem = member_string(v->json, "error"), *line = NULL;
    if (*problem)
        return arena_printf(v->arena, "none: %s", problem);
    if (result_derived_is_finding(v->derived))
        return arena_printf(v->arena, "a finding: %s", v->derived->finding);
    for (size_t k = 0; k < COUNT_OF(methods) && !line; k++) {
        struct text text = {0};
        if (strcmp(methods[k].method, v->derived->method) != 0)
            continue;
        methods[k].say(&text, v);
        line = text_take(&text, v->arena);
    }
    return line;
}

/* ---- tables ---- */

/* A size reads better as 64Ki than as 65536. */
static const char *axis_words(const struct value *v, const cJSON *axis, size_t place)
{
    const cJSON *value = json_at(axis, place);
    double number = 0;
    if (!cJSON_IsString(value))
        return "";
    return units_parse_number(&number, value->valuestring) ? quantity_words(number, UNIT_SIZE, v->arena)
                                                           : value->valuestring;
}

static struct cell matrix_cell(const cJSON *line, size_t column)
{
    const cJSON *cell = cJSON_IsArray(line) ? json_at(line, column) : NULL;
    return cell_number(cJSON_IsNumber(cell) ? cell->valuedouble : NAN);
}

static struct table *matrix(const struct value *v)
{
    const cJSON *rows = json_member(v->json, "rows"), *columns = json_member(v->json, "columns");
    const cJSON *cells = json_member(v->json, "cells");
    if (!cJSON_IsArray(rows) || !cJSON_IsArray(columns) || !cJSON_IsArray(cells))
        return NULL;
    struct table_column *heads = arena_array(v->arena, json_count(columns) + 1, sizeof(*heads));
    heads[0].title = v->derived->rows;
    for (size_t k = 0; k < json_count(columns); k++)
        heads[k + 1] = (struct table_column){.title = axis_words(v, columns, k), .unit = v->y};
    struct table *table = table_new(v->arena, heads, json_count(columns) + 1);
    for (size_t row = 0; row < json_count(rows); row++) {
        const cJSON *line = json_at(cells, row);
        struct table_row *added = table_add(table, NULL);
        added->cells[0] = cell_text(axis_words(v, rows, row));
        for (size_t k = 0; k < json_count(columns); k++)
            added->cells[k + 1] = matrix_cell(line, k);
    }
    return table;
}

/* Shares of a sum: what a part takes, "3 x 1.20 us" where it is there three times. */
static struct table *shares(const struct value *v)
{
    static const struct table_column columns[] = {{.title = "part"},
                                                  {.title = "kernel"},
                                                  {.title = "time", .unit = UNIT_TIME},
                                                  {.title = "share", .unit = UNIT_PERCENT}};
    const cJSON *parts = json_member(v->json, "parts");
    if (!cJSON_IsArray(parts) || !isfinite(member_number(v->json, "sum_ns")))
        return NULL;
    struct table *table = TABLE(v->arena, columns);
    for (const cJSON *part = parts->child; part; part = part->next) {
        const double times = member_number(part, "times");
        struct cell time = cell_number(member_number(part, "time_ns"));
        if (times > 1)
            time.text = arena_printf(v->arena, "%.0f x %s", times, words(v, part, "time_ns", UNIT_TIME));
        table_add(table,
                  (struct cell[]){cell_text(member_string(part, "part")), cell_text(member_string(part, "kernel")),
                                  time, cell_number(member_number(part, "share"))});
    }
    return table;
}

/* What its points were at, without what all of them share; that is left in `shared`. */
static const char *const *points_of(const struct value *v, const cJSON *points, const char **shared)
{
    const char **names = arena_array(v->arena, json_count(points) + 1, sizeof(*names));
    size_t count = 0;
    for (const cJSON *one = first_of(points); one; one = one->next)
        names[count++] = arena_printf(v->arena, "%s %s", v->derived->kernel, member_string(one, "at"));
    return names_apart(names, count, shared, v->arena);
}

/* Point by point, what a line says of all of them. */
static struct table *ratio(const struct value *v, const char **shared)
{
    const cJSON *points = json_member(v->json, "points");
    const char *const *at = cJSON_IsArray(points) ? points_of(v, points, shared) : NULL;
    struct table_column *columns = arena_array(v->arena, 4, sizeof(*columns));
    columns[0].title = "work";
    columns[1] = (struct table_column){.title = v->derived->kernel, .unit = v->y};
    columns[2] = (struct table_column){.title = member_string(v->json, "to"), .unit = v->y};
    columns[3] = (struct table_column){.title = "share", .unit = UNIT_PERCENT};
    struct table *table = table_new(v->arena, columns, 4);
    for (const cJSON *one = first_of(points); one; one = one->next, at++) {
        const char *words = *at + strcspn(*at, " ");
        table_add(table,
                  (struct cell[]){cell_text(*words && words[1] ? words + 1 : "all"),
                                  cell_number(member_number(one, "value")), cell_number(member_number(one, "of")),
                                  cell_number(member_number(one, "ratio"))});
    }
    return table->row_count ? table : NULL;
}

/* ---- the sections ---- */

static struct table *table_of(const struct value *v, const char **said, const char **shared, bool ratios)
{
    struct table *table = matrix(v);
    if (table) {
        *said = arena_printf(v->arena, "%s by %s (rows) and %s", v->derived->y, v->derived->rows, v->derived->x);
    } else if ((table = shares(v))) {
        *said = words(v, v->json, "sum_ns", UNIT_TIME);
    } else if (ratios && !strcmp(v->derived->method, "ratio")) {
        table = ratio(v, shared);
        *said = table ? v->derived->y : NULL;
    }
    return table;
}

/* "dtype=f32;n=65536" as labels of cases write it: "dtype=f32 n=64Ki". */
static const char *group_words(const char *group, struct arena *arena)
{
    const char *words = "";
    for (const char *at = group; *at; at += strspn(at, ";")) {
        const size_t name = strcspn(at, "=;"), length = strcspn(at, ";");
        const char *value = arena_strndup(arena, at + name + (at[name] == '='), length - name - (at[name] == '='));
        double number = 0;
        if (units_parse_number(&number, value))
            value = quantity_words(number, UNIT_SIZE, arena);
        words = arena_printf(arena, "%s %.*s%s%s", words, (int)name, at, at[name] == '=' ? "=" : "", value);
        at += length;
    }
    return words;
}

void derived_sections(struct document *document, const struct result *result, bool ratios)
{
    struct table *lines = table_list(document->arena);
    lines->indent = 2;
    if (result->derived_count)
        document_table(document, NULL, "derived from these cases", lines);
    FOR_EACH(const struct result_derived, derived, result->derived, result->derived_count) {
        struct value v = {.derived = derived, .arena = document->arena};
        struct err ignored = {0};
        const char *said = NULL, *shared = NULL;
        if (json_parse(&v.json, derived->name, derived->json, strlen(derived->json), document->arena, &ignored))
            continue;
        v.x = unit_of(result, derived, derived->x);
        v.y = unit_of(result, derived, derived->y);
        struct table *table = table_of(&v, &said, &shared, ratios);
        const char *line = table ? said : line_of(&v);
        if (!line)
            continue;
        line = arena_printf(document->arena, "%s%s: %s", derived->name, group_words(derived->group, document->arena),
                            line);
        if (!table) {
            table_item(lines, line);
            continue;
        }
        table->indent = 2;
        struct section *section = document_table(document, NULL, line, table);
        section->level = 1;
        section->text = shared;
        section->tone = TONE_DIM;
    }
}
