/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/units.h"
#include "suite_internal.h"

/* Longer than any number anyone writes; a longer word is a string. */
#define NUMBER_TEXT 64

/* Room for rounding when deciding whether the last value is still inside: 0..1+0.1 ends at 1. */
#define SLACK 1e-9

/* ---- ranges ---- */

static bool parse_part(double *value, const char *text, size_t length)
{
    char part[NUMBER_TEXT];
    if (length >= sizeof(part))
        return false;
    memcpy(part, text, length);
    part[length] = '\0';
    return units_parse_number(value, part);
}

/* Whether someone meant a number, also one we refuse: "nan", "inf", "0x10". */
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

/* "b", "b+s" or "b*f". A sign of an exponent is no operator, so the first split into two numbers counts. */
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

/* A range when either side is meant as a number; "../data" and "a..b" are plain words. */
static bool is_range(const char *text)
{
    const char *dots = strstr(text, "..");
    if (!dots)
        return false;
    const char *end = dots + 2;
    return looks_numeric(text, (size_t)(dots - text)) || (dots > text && looks_numeric(end, strcspn(end, "+*")));
}

static enum status parse_range(struct sweep_range *range, const char *text, struct err *err)
{
    const char *dots = strstr(text, "..");
    if (!parse_part(&range->from, text, (size_t)(dots - text)))
        return err_set(err, ERR_CONFIG, "'%s': the start '%.*s' is not a number", text, (int)(dots - text), text);
    if (!parse_end(range, dots + 2))
        return err_set(err, ERR_CONFIG, "'%s': '%s' is not a number, number+step or number*factor", text, dots + 2);
    return STATUS_OK;
}

/* How many values, as a double so that absurd counts survive until they are refused. */
enum status sweep_count_range(double *count, const struct sweep_range *range, const char *text, struct err *err)
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
        return err_set(err, ERR_CONFIG, "'%s' has %.4g values, more than %u", text, *count, SUITE_MAX_CASES);
    return STATUS_OK;
}

/* 0.1 * 3 prints as 0.30000000000000004; fifteen digits give what was meant. Whole numbers stay exact. */
static double tidy(double value)
{
    if (value == floor(value))
        return value;
    char digits[NUMBER_TEXT];
    snprintf(digits, sizeof(digits), "%.15g", value);
    return strtod(digits, NULL);
}

void sweep_expand_range(struct param_value *values, size_t count, const struct sweep_range *range)
{
    double value = range->from;
    for (size_t k = 0; k < count; k++) {
        if (range->op == '+')
            value = range->from + (double)k * range->by;
        values[k] = (struct param_value){.kind = PARAM_NUMBER, .number = tidy(fmin(value, range->to))};
        if (range->op == '*')
            value *= range->by;
    }
}

/* ---- lists and single values ---- */

enum status sweep_parse_value(struct param_value *value, const char *text, struct arena *arena, struct err *err)
{
    if (is_range(text))
        return err_set(err, ERR_CONFIG, "'%s' is a range where one value is meant", text);
    if (!*text)
        return err_set(err, ERR_CONFIG, "a parameter cannot be empty text");
    if (looks_numeric(text, strlen(text)) && !units_parse_number(&(double){0}, text))
        return err_set(err, ERR_CONFIG, "'%s' is not a number that a parameter can have", text);
    const struct param_value parsed = param_from_text(arena, text);
    if (text[0] == '[' && parsed.kind != PARAM_LIST)
        return err_set(err, ERR_CONFIG, "'%s' is not a list of numbers like [1,2,3]", text);
    *value = parsed;
    return STATUS_OK;
}

/* The length of the element at `text`: up to a comma outside brackets. */
static size_t element_length(const char *text)
{
    size_t depth = 0;
    size_t length = 0;
    for (; text[length] && (text[length] != ',' || depth > 0); length++) {
        if (text[length] == '[')
            depth++;
        else if (text[length] == ']' && depth > 0)
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
        enum status status = sweep_parse_value(&values[k], arena_strndup(arena, first, trimmed), arena, err);
        if (status)
            return status;
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
        enum status status = parse_elements(&parsed, text, arena, err);
        if (status)
            return status;
    } else {
        struct sweep_range range = {0};
        double count = 0;
        enum status status = parse_range(&range, text, err);
        if (!status)
            status = sweep_count_range(&count, &range, text, err);
        if (status)
            return status;
        parsed.count = (size_t)count;
        struct param_value *values = arena_array(arena, parsed.count, sizeof(*values));
        sweep_expand_range(values, parsed.count, &range);
        parsed.values = values;
    }
    *sweep = parsed;
    return STATUS_OK;
}
