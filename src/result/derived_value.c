/* SPDX-License-Identifier: MIT
 *
 * Derived values as JSON: one table of the members of each method serves both writer and reader.
 */
#include "records.h"

enum { WORDS = 2, NUMBERS = 6, TEXTS = 2 };

static const struct method {
    const char *name;
    const char *list; /* name of the list of points; NULL: the value is a single point */
    const char *words[WORDS], *numbers[NUMBERS];
    const char *word, *number, *texts[TEXTS], *cells; /* NULL: not present */
} methods[] = {
    {"change_points", "changes", .numbers = {"x_low", "x_high", "before", "after", "confidence"}},
    {"startup", .numbers = {"startup", "rate", "r2"}},
    {"knee", .numbers = {"x"}},
    {"max", .numbers = {"x", "y"}},
    {"min", .numbers = {"x", "y"}},
    {"dips", "dips", .numbers = {"x", "before", "after"}},
    {"together", "points", .numbers = {"x", "copies", "whole_ns", "slowest_ns", "sum_ns", "overlap"}},
    {"overlap",
     "points",
     {"at"},
     .numbers = {"whole_ns", "longest_ns", "sum_ns", "speedup", "ideal_speedup", "efficiency"}},
    {"ratio", "points", {"at"}, {"value", "of", "ratio"}, .word = "to", .number = "unmatched"},
    {"shares", "parts", {"part", "kernel"}, {"times", "time_ns", "share"}, .number = "sum_ns"},
    {"three_arm",
     "arms",
     {"arm"},
     {"host_ns", "event_ns", "launches", "counted"},
     .word = "verdict",
     .texts = {"disagree", "not_compared"}},
    {"matrix", .texts = {"rows", "columns"}, .cells = "cells"},
};

static const struct method *method_of(const struct derived_value *value)
{
    const char *at = (const char *)value - offsetof(struct result_derived, value);
    return FIND_ROW(methods, COUNT_OF(methods), name, ((const struct result_derived *)(const void *)at)->method);
}

/* ---- writing ---- */

static void put_members(struct json_out *out, const struct method *method, const struct derived_value *value)
{
    if (method->word)
        json_out_string(out, method->word, value->word);
    if (method->number && isfinite(value->number))
        json_out_number(out, method->number, value->number);
    if (value->error && *value->error)
        return;
    if (method->list)
        json_out_array(out, method->list);
    for (size_t p = 0; p < value->count; p++) {
        if (method->list)
            json_out_object(out, NULL);
        for (size_t k = 0; k < WORDS && method->words[k]; k++)
            json_out_string(out, method->words[k], value->points[p].words[k]);
        for (size_t k = 0; k < NUMBERS && method->numbers[k]; k++)
            json_out_number(out, method->numbers[k], value->points[p].numbers[k]);
        if (method->list)
            json_out_end(out);
    }
    if (method->list)
        json_out_end(out);
    for (size_t k = 0; k < TEXTS && method->texts[k]; k++)
        json_out_strings(out, method->texts[k], value->texts[k].items, value->texts[k].count);
    if (!method->cells)
        return;
    json_out_array(out, method->cells);
    for (size_t row = 0; row < value->texts[0].count && value->cells; row++)
        json_out_numbers(out, NULL, value->cells + row * value->texts[1].count, value->texts[1].count);
    json_out_end(out);
}

void derived_value_put(struct json_out *out, const char *key, const void *at)
{
    const struct derived_value *value = at;
    const struct method *method = method_of(value);
    json_out_object(out, key);
    if (method)
        put_members(out, method, value);
    if (value->error && *value->error)
        json_out_string(out, "error", value->error);
    json_out_end(out);
}

/* ---- reading ---- */

static double number_of(const cJSON *json)
{
    return cJSON_IsNumber(json) ? json->valuedouble : NAN;
}

static const char *string_of(const cJSON *json, struct arena *arena)
{
    return cJSON_IsString(json) ? arena_strdup(arena, json->valuestring) : "";
}

enum status derived_value_get(void *at, const cJSON *json, struct record_in *in, struct err *err)
{
    struct derived_value *value = at;
    const struct method *method = method_of(value);
    const cJSON *object = cJSON_IsObject(json) ? json : NULL; /* an array has no members */
    if (!object && !cJSON_IsArray(json))
        return json_fail(json, err, "'value' must be an object or an array");
    *value = (struct derived_value){.error = string_of(json_member(object, "error"), in->arena), .number = NAN};
    if (!method)
        return STATUS_OK;
    value->word = method->word ? string_of(json_member(object, method->word), in->arena) : "";
    value->number = method->number ? number_of(json_member(object, method->number)) : NAN;
    const cJSON *list = method->list ? json_member(object, method->list) : NULL;
    const size_t count = !method->list ? 1 : cJSON_IsArray(list) ? json_count(list) : 0;
    const cJSON *one = method->list && count ? list->child : object;
    value->points = arena_array(in->arena, count + 1, sizeof(*value->points));
    for (; value->count < count; one = one ? one->next : NULL) {
        struct derived_point *point = &value->points[value->count++];
        for (size_t k = 0; k < WORDS && method->words[k]; k++)
            point->words[k] = string_of(json_member(one, method->words[k]), in->arena);
        for (size_t k = 0; k < NUMBERS && method->numbers[k]; k++)
            point->numbers[k] = number_of(json_member(one, method->numbers[k]));
    }
    for (size_t k = 0; k < TEXTS && method->texts[k]; k++) {
        const cJSON *texts = json_member(object, method->texts[k]);
        for (one = cJSON_IsArray(texts) ? texts->child : NULL; one; one = one->next)
            ARENA_PUSH(in->arena, value->texts[k].items, value->texts[k].count, string_of(one, in->arena));
    }
    const cJSON *cells = method->cells ? json_member(object, method->cells) : NULL;
    const size_t rows = value->texts[0].count, columns = value->texts[1].count;
    double *numbers = arena_array(in->arena, cells ? rows * columns + 1 : 1, sizeof(*numbers));
    for (size_t k = 0; cells && k < rows * columns; k++) {
        const cJSON *line = cJSON_IsArray(cells) ? json_at(cells, k / columns) : NULL;
        numbers[k] = number_of(cJSON_IsArray(line) ? json_at(line, k % columns) : NULL);
    }
    value->cells = cells ? numbers : NULL;
    return STATUS_OK;
}
