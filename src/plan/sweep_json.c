/* SPDX-License-Identifier: MIT
 *
 * Sweeps as suites write them: a string, a list, {values} or {min, max, step}, the objects with an optional exclude.
 */
#include <stdio.h>

#include "rooftile/units.h"
#include "suite_internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* Three numbers of 15 digits. */
#define RANGE_TEXT 96

enum status sweep_value_from_json(struct param_value *value, const struct json *json, struct arena *arena,
                                  struct err *err)
{
    if (json->type != JSON_STRING)
        return param_from_json(value, json, arena, err);
    struct err inner;
    if (sweep_parse_value(value, json->string, arena, &inner))
        return json_fail(json, err, "%s", inner.text);
    return STATUS_OK;
}

static enum status values_from_array(struct param_value **values, size_t *count, const struct json *array,
                                     struct arena *arena, struct err *err)
{
    if (array->type != JSON_ARRAY)
        return json_fail(array, err, "expected an array, found %s", json_type_name(array->type));
    struct param_value *read = arena_array(arena, array->count, sizeof(*read));
    size_t at = 0;
    for (const struct json *child = array->first; child; child = child->next) {
        enum status status = sweep_value_from_json(&read[at++], child, arena, err);
        if (status)
            return status;
    }
    *values = read;
    *count = array->count;
    return STATUS_OK;
}

/* A number, or a string with a suffix such as "16Ki". */
static enum status get_bound(double *bound, const struct json *object, const char *key, struct err *err)
{
    const struct json *member = json_member(object, key);
    if (member && member->type == JSON_STRING) {
        if (!units_parse_number(bound, member->string))
            return json_fail(member, err, "'%s' is not a number", member->string);
        return STATUS_OK;
    }
    return json_get_number(bound, object, key, JSON_OPTIONAL, err);
}

static enum status values_from_range(struct param_value **values, size_t *count, const struct json *object,
                                     struct arena *arena, struct err *err)
{
    static const char *const needed[] = {"min", "max"};
    for (size_t k = 0; k < COUNT_OF(needed); k++)
        if (!json_member(object, needed[k]))
            return json_fail(object, err, "a sweep object has 'values', or 'min', 'max' and 'step'; '%s' is missing",
                             needed[k]);
    struct sweep_range range = {.op = '+', .by = 1};
    enum status status = get_bound(&range.from, object, "min", err);
    if (!status)
        status = get_bound(&range.to, object, "max", err);
    if (!status)
        status = get_bound(&range.by, object, "step", err);
    if (status)
        return status;
    char text[RANGE_TEXT];
    snprintf(text, sizeof(text), "%.15g..%.15g+%.15g", range.from, range.to, range.by);
    struct err inner;
    double total = 0;
    if (sweep_count_range(&total, &range, text, &inner))
        return json_fail(object, err, "%s", inner.text);
    *count = (size_t)total;
    *values = arena_array(arena, *count, sizeof(**values));
    sweep_expand_range(*values, *count, &range);
    return STATUS_OK;
}

static enum status drop_excluded(struct param_value *values, size_t *count, const struct json *exclude,
                                 struct arena *arena, struct err *err)
{
    struct param_value *dropped = NULL;
    size_t dropped_count = 0;
    enum status status = values_from_array(&dropped, &dropped_count, exclude, arena, err);
    if (status)
        return status;
    size_t kept = 0;
    for (size_t k = 0; k < *count; k++) {
        bool drop = false;
        for (size_t d = 0; d < dropped_count && !drop; d++)
            drop = param_equal(&values[k], &dropped[d]);
        if (!drop)
            values[kept++] = values[k];
    }
    *count = kept;
    return STATUS_OK;
}

static enum status values_from_object(struct param_value **values, size_t *count, const struct json *object,
                                      struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"values", "min", "max", "step", "exclude"};
    enum status status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (status)
        return status;
    const struct json *listed = json_member(object, "values");
    for (size_t k = 1; listed && k <= 3; k++)
        if (json_member(object, keys[k]))
            return json_fail_key(json_member(object, keys[k]), err, "'%s' does not go with 'values'", keys[k]);
    status = listed ? values_from_array(values, count, listed, arena, err)
                    : values_from_range(values, count, object, arena, err);
    const struct json *exclude = json_member(object, "exclude");
    if (!status && exclude)
        status = drop_excluded(*values, count, exclude, arena, err);
    return status;
}

enum status sweep_from_json(struct sweep *sweep, const char *param, const struct json *json, struct arena *arena,
                            struct err *err)
{
    struct sweep parsed = {.param = arena_strdup(arena, param), .at = json};
    struct param_value *values = NULL;
    if (json->type == JSON_STRING) {
        struct err inner;
        if (sweep_parse(&parsed, param, json->string, arena, &inner))
            return json_fail(json, err, "%s", inner.text);
        parsed.at = json;
        *sweep = parsed;
        return STATUS_OK;
    }
    enum status status = STATUS_OK;
    if (json->type == JSON_ARRAY) {
        status = values_from_array(&values, &parsed.count, json, arena, err);
    } else if (json->type == JSON_OBJECT) {
        status = values_from_object(&values, &parsed.count, json, arena, err);
    } else {
        values = arena_alloc(arena, sizeof(*values));
        parsed.count = 1;
        status = sweep_value_from_json(values, json, arena, err);
    }
    if (status)
        return status;
    if (parsed.count == 0)
        return json_fail(json, err, "a sweep needs at least one value");
    parsed.values = values;
    *sweep = parsed;
    return STATUS_OK;
}
