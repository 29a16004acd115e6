/* SPDX-License-Identifier: MIT */

#include "plan_internal.h"
#include "rooftile/units.h"

/* Longer than any number in practice; a longer word is a string. */
#define NUMBER_TEXT 64

/* Rounding tolerance that decides whether the last value is still in the range: 0..1+0.1 ends at 1. */
#define SLACK 1e-9

/* ---- ranges ---- */

struct sweep_range {
    double from, to;
    char op; /* '+' or '*' */
    double by;
};

static bool parse_part(double *value, const char *text, size_t length)
{
    char part[NUMBER_TEXT];
    if (length >= sizeof(part))
        return false;
    memcpy(part, text, length);
    part[length] = '\0';
    return units_parse_number(value, part);
}

/* Tells whether a text is meant as a number, including ones that are rejected: "nan", "inf", "0x10". */
static bool looks_numeric(const char *text, size_t length)
{
    double value = 0;
    if (parse_part(&value, text, length))
        return true;
    char part[NUMBER_TEXT];
    if (length == 0 || length >= sizeof(part))
        return false;
    memcpy(part, text, length);
    part[length] = '\0';
    char *end = NULL;
    strtod(part, &end);
    return *end == '\0';
}

/* Parses "b", "b+s" or "b*f". The sign of an exponent is not an operator, so the first split that gives two numbers is
 * used. */
static bool parse_end(struct sweep_range *range, const char *text)
{
    const size_t length = strlen(text);
    if (parse_part(&range->to, text, length)) {
        range->op = '+';
        range->by = 1;
        return true;
    }
    for (size_t at = strcspn(text, "+*"); at < length; at += 1 + strcspn(text + at + 1, "+*")) {
        if (parse_part(&range->to, text, at) && parse_part(&range->by, text + at + 1, length - at - 1)) {
            range->op = text[at];
            return true;
        }
    }
    return false;
}

/* A text is a range if either side is meant as a number; "../data" and "a..b" are plain words. */
static bool is_range(const char *text)
{
    const char *dots = strstr(text, "..");
    if (!dots)
        return false;
    const char *end = dots + 2;
    return looks_numeric(text, (size_t)(dots - text)) || (dots > text && looks_numeric(end, strcspn(end, "+*")));
}

/* Counts the values in a double, so that absurdly large counts are representable until they are rejected. */
static enum status count_range(double *count, const struct sweep_range *range, const char *text, struct err *err)
{
    const double from = range->from, to = range->to, by = range->by;
    if (from > to)
        return err_set(err, ERR_CONFIG, "'%s' starts above its end", text);
    if (range->op == '*') {
        if (!(from > 0))
            return err_set(err, ERR_CONFIG, "'%s': a geometric sweep must start above 0", text);
        if (!(by > 1))
            return err_set(err, ERR_CONFIG, "'%s' never ends: its factor must be above 1", text);
        *count = floor((log(to) - log(from)) / log(by) + SLACK) + 1;
    } else {
        if (!(by > 0))
            return err_set(err, ERR_CONFIG, "'%s' never ends: its step must be above 0", text);
        if (to > from && (from + by == from || to - by == to))
            return err_set(err, ERR_CONFIG, "'%s' never ends: its step is lost in rounding", text);
        *count = floor((to - from) / by + SLACK) + 1;
    }
    if (!(*count <= SUITE_MAX_CASES))
        return err_set(err, ERR_CONFIG, "'%s' has %.4g values, more than %u: *2 behind it doubles, +N adds N", text,
                       *count, SUITE_MAX_CASES);
    return STATUS_OK;
}

/* 0.1 * 3 prints as 0.30000000000000004; rounding to fifteen digits restores the intended value. Integers stay
 * exact. */
static double tidy(double value)
{
    if (value == floor(value))
        return value;
    char digits[NUMBER_TEXT];
    snprintf(digits, sizeof(digits), "%.15g", value);
    return strtod(digits, NULL);
}

/* `text` is the range as shown in messages. ERR_CONFIG if the range never ends or has too many values. */
static enum status expand_range(struct param_value **out, size_t *count, const struct sweep_range *range,
                                const char *text, struct arena *arena, struct err *err)
{
    double total = 0, value = range->from;
    if (count_range(&total, range, text, err))
        return err->status;
    struct param_value *values = arena_array(arena, (size_t)total, sizeof(*values));
    for (size_t k = 0; k < (size_t)total; k++) {
        if (range->op == '+')
            value = range->from + (double)k * range->by;
        values[k] = (struct param_value){.kind = PARAM_NUMBER, .number = tidy(fmin(value, range->to))};
        if (range->op == '*')
            value *= range->by;
    }
    *out = values;
    *count = (size_t)total;
    return STATUS_OK;
}

/* ---- lists and single values ---- */

static enum status parse_value(struct param_value *value, const char *text, struct arena *arena, struct err *err)
{
    if (is_range(text))
        return err_set(err, ERR_CONFIG, "'%s' is a range where one value is meant", text);
    if (!*text)
        return err_set(err, ERR_CONFIG, "a parameter cannot be empty text");
    if (looks_numeric(text, strlen(text)) && !units_parse_number(&(double){0}, text))
        return err_set(err, ERR_CONFIG, "'%s' is not a number that a parameter can have, such as 4Ki or 1e6", text);
    const struct param_value parsed = param_from_text(arena, text);
    if (text[0] == '[' && parsed.kind != PARAM_LIST)
        return err_set(err, ERR_CONFIG, "'%s' is not a list of numbers like [1,2,3]", text);
    *value = parsed;
    return STATUS_OK;
}

/* Returns the length of the element at `text`, which ends at a comma outside all brackets. */
static size_t element_length(const char *text)
{
    size_t depth = 0;
    size_t length = 0;
    for (; text[length] && (text[length] != ',' || depth > 0); length++) {
        if (strchr("[{", text[length]))
            depth++;
        else if (strchr("]}", text[length]) && depth > 0)
            depth--;
    }
    return length;
}

static size_t count_elements(const char *text)
{
    size_t count = 1;
    for (const char *at = text + element_length(text); *at; at += 1 + element_length(at + 1))
        count++;
    return count;
}

static enum status parse_elements(struct sweep *sweep, const char *text, struct arena *arena, struct err *err)
{
    const size_t count = count_elements(text);
    if (count > SUITE_MAX_CASES)
        return err_set(err, ERR_CONFIG, "%zu values, more than %u", count, SUITE_MAX_CASES);
    struct param_value *values = arena_array(arena, count, sizeof(*values));
    const char *at = text;
    for (size_t k = 0; k < count; k++) {
        const size_t length = element_length(at);
        const char *first = at + strspn(at, " ");
        size_t trimmed = first < at + length ? (size_t)(at + length - first) : 0;
        while (trimmed && first[trimmed - 1] == ' ')
            trimmed--;
        if (!trimmed)
            return err_set(err, ERR_CONFIG, "'%s' has an empty value", text);
        if (parse_value(&values[k], arena_strndup(arena, first, trimmed), arena, err))
            return err->status;
        at += length + 1;
    }
    sweep->values = values;
    sweep->count = count;
    return STATUS_OK;
}

enum status sweep_parse(struct sweep *sweep, const char *param, const char *text, struct arena *arena, struct err *err)
{
    struct sweep parsed = {.param = arena_strdup(arena, param)};
    if (!is_range(text) || count_elements(text) > 1) {
        if (parse_elements(&parsed, text, arena, err))
            return err->status;
    } else {
        struct sweep_range range = {0};
        struct param_value *values = NULL;
        const char *dots = strstr(text, "..");
        if (!parse_part(&range.from, text, (size_t)(dots - text)))
            return err_set(err, ERR_CONFIG, "'%s': the start '%.*s' is not a number", text, (int)(dots - text), text);
        if (!parse_end(&range, dots + 2))
            return err_set(err, ERR_CONFIG, "'%s': '%s' is not a number, number+step or number*factor", text, dots + 2);
        if (expand_range(&values, &parsed.count, &range, text, arena, err))
            return err->status;
        parsed.values = values;
    }
    *sweep = parsed;
    return STATUS_OK;
}

/* ---- sweeps in suites: a string, a list, {values} or {min, max, step}; the objects take an optional exclude ---- */

/* Three numbers of 15 digits. */
#define RANGE_TEXT 96

enum status sweep_value_from_json(struct param_value *value, const cJSON *json, struct arena *arena, struct err *err)
{
    if (!cJSON_IsString(json))
        return param_from_json(value, json, arena, err);
    struct err inner;
    if (parse_value(value, json->valuestring, arena, &inner))
        return json_fail(json, err, "%s", inner.text);
    return STATUS_OK;
}

static enum status values_from_array(struct param_value **values, size_t *count, const cJSON *array,
                                     struct arena *arena, struct err *err)
{
    if (!cJSON_IsArray(array))
        return json_fail(array, err, "expected an array, found %s", json_type_name(array));
    struct param_value *read = arena_array(arena, json_count(array), sizeof(*read));
    size_t at = 0;
    for (const cJSON *child = array->child; child; child = child->next) {
        if (sweep_value_from_json(&read[at++], child, arena, err))
            return err->status;
    }
    *values = read;
    *count = json_count(array);
    return STATUS_OK;
}

/* A number, or a string with a suffix such as "16Ki". */
static enum status get_bound(double *resolved, const cJSON *object, const char *key, struct err *err)
{
    const cJSON *member = json_member(object, key);
    if (member && cJSON_IsString(member)) {
        if (!units_parse_number(resolved, member->valuestring))
            return json_fail(member, err, "'%s' is not a number", member->valuestring);
        return STATUS_OK;
    }
    return json_get_number(resolved, object, key, JSON_OPTIONAL, err);
}

static enum status values_from_range(struct param_value **values, size_t *count, const cJSON *object,
                                     struct arena *arena, struct err *err)
{
    static const char *const needed[] = {"min", "max"};
    for (size_t k = 0; k < COUNT_OF(needed); k++)
        if (!json_member(object, needed[k]))
            return json_fail(object, err, "a sweep object has 'values', or 'min', 'max' and 'step'; '%s' is missing",
                             needed[k]);
    struct sweep_range range = {.op = '+', .by = 1};
    if (get_bound(&range.from, object, "min", err) || get_bound(&range.to, object, "max", err) ||
        get_bound(&range.by, object, "step", err))
        return err->status;
    char text[RANGE_TEXT];
    snprintf(text, sizeof(text), "%.15g..%.15g+%.15g", range.from, range.to, range.by);
    struct err inner;
    return expand_range(values, count, &range, text, arena, &inner) ? json_fail(object, err, "%s", inner.text)
                                                                    : STATUS_OK;
}

static enum status drop_excluded(struct param_value *values, size_t *count, const cJSON *exclude, struct arena *arena,
                                 struct err *err)
{
    struct param_value *dropped = NULL;
    size_t dropped_count = 0;
    if (values_from_array(&dropped, &dropped_count, exclude, arena, err))
        return err->status;
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

static enum status values_from_object(struct param_value **values, size_t *count, const cJSON *object,
                                      struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"values", "min", "max", "step", "exclude"};
    if (json_check_keys(object, keys, COUNT_OF(keys), err))
        return err->status;
    const cJSON *listed = json_member(object, "values");
    for (size_t k = 1; listed && k <= 3; k++)
        if (json_member(object, keys[k]))
            return json_fail_key(json_member(object, keys[k]), err, "'%s' does not go with 'values'", keys[k]);
    enum status status = listed ? values_from_array(values, count, listed, arena, err)
                                : values_from_range(values, count, object, arena, err);
    const cJSON *exclude = json_member(object, "exclude");
    if (!status && exclude)
        status = drop_excluded(*values, count, exclude, arena, err);
    return status;
}

enum status sweep_from_json(struct sweep *sweep, const char *param, const cJSON *json, struct arena *arena,
                            struct err *err)
{
    struct sweep parsed = {.param = arena_strdup(arena, param), .at = json};
    struct param_value *values = NULL;
    if (cJSON_IsString(json)) {
        struct err inner;
        if (sweep_parse(&parsed, param, json->valuestring, arena, &inner))
            return json_fail(json, err, "%s", inner.text);
        parsed.at = json;
        *sweep = parsed;
        return STATUS_OK;
    }
    enum status status = STATUS_OK;
    if (cJSON_IsArray(json)) {
        status = values_from_array(&values, &parsed.count, json, arena, err);
    } else if (cJSON_IsObject(json)) {
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
