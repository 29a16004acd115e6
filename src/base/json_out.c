/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <cjson/cJSON.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_internal.h"
#include "rooftile/arena.h"
#include "rooftile/json.h"

struct json_out {
    cJSON *open[JSON_MAX_DEPTH]; /* [0] is the top level */
    size_t depth;                /* of the innermost open one */
};

static cJSON *must(cJSON *item)
{
    if (!item)
        arena_out_of_memory(sizeof(*item));
    return item;
}

static struct json_out *new_out(cJSON *top)
{
    struct json_out *out = calloc(1, sizeof(*out));
    if (!out)
        arena_out_of_memory(sizeof(*out));
    out->open[0] = must(top);
    return out;
}

struct json_out *json_out_new(void)
{
    return new_out(cJSON_CreateObject());
}

struct json_out *json_out_new_array(void)
{
    return new_out(cJSON_CreateArray());
}

void json_out_free(struct json_out *out)
{
    if (!out)
        return;
    cJSON_Delete(out->open[0]);
    free(out);
}

size_t json_utf8_length(const unsigned char *bytes, size_t left)
{
    /* Table 3-7 of the Unicode Standard: the second byte's bounds exclude overlong forms, surrogates and > U+10FFFF. */
    static const struct {
        unsigned char first, last, second_low, second_high;
        size_t length;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t k = 0; left && k < sizeof(forms) / sizeof(forms[0]); k++) {
        if (bytes[0] < forms[k].first || bytes[0] > forms[k].last)
            continue;
        if (forms[k].length > left)
            return 0;
        if (forms[k].length > 1 && (bytes[1] < forms[k].second_low || bytes[1] > forms[k].second_high))
            return 0;
        for (size_t j = 2; j < forms[k].length; j++)
            if ((bytes[j] & 0xc0) != 0x80)
                return 0;
        return forms[k].length;
    }
    return 0;
}

/* Text that came from a compiler or a file name may be malformed UTF-8; each bad byte becomes U+FFFD. */
static char *well_formed(const char *string)
{
    struct text clean = {0};
    size_t left = strlen(string);
    text_add(&clean, "");
    while (left) {
        const size_t length = json_utf8_length((const unsigned char *)string, left);
        if (length)
            text_addn(&clean, string, length);
        else
            text_add(&clean, "\xef\xbf\xbd");
        string += length ? length : 1;
        left -= length ? length : 1;
    }
    return clean.data;
}

static void add(struct json_out *out, const char *key, cJSON *item)
{
    cJSON *into = out->open[out->depth];
    assert(cJSON_IsArray(into) == !key);
    must(item);
    if (!key) {
        cJSON_AddItemToArray(into, item);
        return;
    }
    char *clean = well_formed(key);
    if (!cJSON_AddItemToObject(into, clean, item))
        arena_out_of_memory(strlen(clean));
    free(clean);
}

void json_out_string(struct json_out *out, const char *key, const char *value)
{
    if (!value) {
        json_out_null(out, key);
        return;
    }
    char *clean = well_formed(value);
    add(out, key, cJSON_CreateString(clean));
    free(clean);
}

/* cJSON's own printer takes 15 digits that are equal within DBL_EPSILON for the same number: 0.1 + 0.2 becomes 0.3. */
static cJSON *number(double value)
{
    char digits[40];
    if (!isfinite(value))
        return cJSON_CreateNull();
    if (fabs(value) <= 0x1p53 && value == floor(value)) {
        snprintf(digits, sizeof(digits), "%.0f", value);
        return cJSON_CreateRaw(digits);
    }
    /* Up to 15 digits always survive a normal double, so fewer need no try: %g drops trailing zeros. */
    int precision = fabs(value) < DBL_MIN ? 1 : 15;
    do
        snprintf(digits, sizeof(digits), "%.*g", precision, value);
    while (strtod(digits, NULL) != value && ++precision <= 17);
    return cJSON_CreateRaw(digits);
}

void json_out_number(struct json_out *out, const char *key, double value)
{
    add(out, key, number(value));
}

void json_out_u64(struct json_out *out, const char *key, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    add(out, key, cJSON_CreateRaw(digits));
}

void json_out_raw(struct json_out *out, const char *key, const char *json)
{
    add(out, key, cJSON_CreateRaw(json));
}

void json_out_bool(struct json_out *out, const char *key, bool value)
{
    add(out, key, cJSON_CreateBool(value));
}

void json_out_null(struct json_out *out, const char *key)
{
    add(out, key, cJSON_CreateNull());
}

static void open_item(struct json_out *out, const char *key, cJSON *item)
{
    add(out, key, item);
    assert(out->depth + 1 < JSON_MAX_DEPTH);
    out->open[++out->depth] = item;
}

void json_out_object(struct json_out *out, const char *key)
{
    open_item(out, key, cJSON_CreateObject());
}

void json_out_array(struct json_out *out, const char *key)
{
    open_item(out, key, cJSON_CreateArray());
}

void json_out_end(struct json_out *out)
{
    assert(out->depth);
    out->depth--;
}

void json_out_numbers(struct json_out *out, const char *key, const double *values, size_t count)
{
    json_out_array(out, key);
    for (size_t k = 0; k < count; k++)
        json_out_number(out, NULL, values[k]);
    json_out_end(out);
}

void json_out_value(struct json_out *out, const char *key, const cJSON *value)
{
    if (cJSON_IsNumber(value))
        add(out, key, number(value->valuedouble));
    else if (cJSON_IsArray(value))
        json_out_array(out, key);
    else if (cJSON_IsObject(value))
        json_out_object(out, key);
    else
        add(out, key, cJSON_Duplicate(value, false));
    for (const cJSON *child = value->child; child; child = child->next)
        json_out_value(out, child->string, child);
    if (cJSON_IsArray(value) || cJSON_IsObject(value))
        json_out_end(out);
}

/* What cJSON's printer leaves to wish. Inside strings it escapes control characters below 0x20, so a raw tab or line
 * feed is always its own layout; '<' and the other control characters, which terminals obey, occur in strings only. */
static void add_tidied(struct text *text, const char *printed)
{
    for (const char *p = printed; *p; p++) {
        const size_t plain = strcspn(p, "<\t{\x7f\xc2");
        text_addn(text, p, plain);
        p += plain;
        if (!*p)
            return;
        if (*p == '<' || *p == '\x7f') {
            text_addf(text, "\\u%04x", (unsigned)*p);
        } else if (*p == '\xc2' && (unsigned char)p[1] < 0xa0) {
            text_addf(text, "\\u%04x", (unsigned)(unsigned char)*++p);
        } else if (*p == '\xc2') {
            text_addn(text, p, 1);
        } else if (*p == '\t') {
            text_add(text, p > printed && p[-1] == ':' ? " " : "  ");
        } else {
            text_add(text, "{");
            const size_t space = p[1] == '\n' ? 1 + strspn(p + 2, "\t") : 0;
            if (space && p[1 + space] == '}') /* an empty object stays on its line */
                p += space;
        }
    }
}

void json_out_finish(struct json_out *out, struct text *text, bool pretty)
{
    assert(!out->depth);
    cJSON *top = out->open[0];
    char *printed = pretty ? cJSON_Print(top) : cJSON_PrintUnformatted(top);
    if (!printed)
        arena_out_of_memory(0);
    add_tidied(text, printed);
    cJSON_free(printed);
    out->open[0] = must(cJSON_IsArray(top) ? cJSON_CreateArray() : cJSON_CreateObject());
    cJSON_Delete(top);
}
