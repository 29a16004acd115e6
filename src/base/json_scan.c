/* SPDX-License-Identifier: MIT */
#include "json_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/arena.h"
#include "rooftile/json.h"

/* No double needs more than 24; a longer number is a mistake or an attack. */
#define NUMBER_MAX 63

struct cursor {
    const unsigned char *text;
    size_t length;
    size_t at;
    uint32_t place; /* the value being read */
    struct json_scan *scan;
};

static bool scan_value(struct cursor *c, uint32_t key_offset, unsigned depth);

static bool fail(struct cursor *c, size_t offset, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail(struct cursor *c, size_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->scan->error, sizeof(c->scan->error), format, args);
    va_end(args);
    c->scan->error_offset = offset;
    c->scan->error_place = c->place;
    return false;
}

static int peek(const struct cursor *c)
{
    return c->at < c->length ? c->text[c->at] : -1;
}

static bool is_digit(int byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter(int byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool fail_expected(struct cursor *c, const char *what)
{
    const int byte = peek(c);
    if (byte < 0)
        return fail(c, c->at, "the document ends where %s is expected", what);
    size_t word = 0;
    while (word < 16 && c->at + word < c->length && is_letter(c->text[c->at + word]))
        word++;
    if (byte == '/')
        return fail(c, c->at, "expected %s, found '/' (JSON has no comments; a key that starts with // is one)", what);
    if (word)
        return fail(c, c->at, "expected %s, found '%.*s'", what, (int)word, (const char *)c->text + c->at);
    if (byte > ' ' && byte < 0x7f)
        return fail(c, c->at, "expected %s, found '%c'", what, byte);
    return fail(c, c->at, "expected %s, found byte 0x%02x", what, (unsigned)byte);
}

static void skip_space(struct cursor *c)
{
    for (int byte = peek(c); byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; byte = peek(c))
        c->at++;
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

/* Four hex digits at `at`, or -1. */
static int hex4(const struct cursor *c, size_t at)
{
    int value = 0;
    for (size_t k = at; k < at + 4; k++) {
        const int byte = k < c->length ? c->text[k] : -1;
        if (is_digit(byte))
            value = value * 16 + (byte - '0');
        else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f' && byte > 0)
            value = value * 16 + ((byte | 0x20) - 'a' + 10);
        else
            return -1;
    }
    return value;
}

/* At the backslash. */
static bool scan_escape(struct cursor *c)
{
    const size_t start = c->at;
    const int byte = start + 1 < c->length ? c->text[start + 1] : -1;
    if (byte < 0)
        return fail(c, c->length, "the document ends inside a string");
    c->at += 2;
    if (byte != 'u')
        return strchr("\"\\/bfnrt", byte) && byte ? true : fail(c, start, "unknown escape sequence in a string");
    const int unit = hex4(c, c->at);
    if (unit < 0)
        return fail(c, start, "\\u needs four hexadecimal digits");
    c->at += 4;
    if (unit == 0)
        return fail(c, start, "\\u0000 is not allowed in a string");
    if (unit < 0xd800 || unit > 0xdfff)
        return true;
    const bool pair = unit < 0xdc00 && c->at + 1 < c->length && c->text[c->at] == '\\' && c->text[c->at + 1] == 'u';
    const int low = pair ? hex4(c, c->at + 2) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return fail(c, start, "\\u%04x is half of a surrogate pair", (unsigned)unit);
    c->at += 6;
    return true;
}

/* At the opening quote. */
static bool scan_string(struct cursor *c)
{
    const size_t start = c->at++;
    for (;;) {
        const int byte = peek(c);
        if (byte < 0)
            return fail(c, start, "this string is not closed");
        if (byte == '"')
            break;
        if (byte < 0x20)
            return fail(c, c->at, "control character 0x%02x in a string (write it as \\u%04x)", (unsigned)byte,
                        (unsigned)byte);
        if (byte == '\\') {
            if (!scan_escape(c))
                return false;
            continue;
        }
        if (byte < 0x80) {
            c->at++;
            continue;
        }
        const size_t length = json_utf8_length(c->text + c->at, c->length - c->at);
        if (!length)
            return fail(c, c->at, "invalid UTF-8 in a string (byte 0x%02x)", (unsigned)byte);
        c->at += length;
    }
    c->at++;
    return true;
}

static size_t skip_digits(struct cursor *c)
{
    const size_t start = c->at;
    while (is_digit(peek(c)))
        c->at++;
    return c->at - start;
}

static bool scan_number(struct cursor *c)
{
    const size_t start = c->at;
    if (peek(c) == '-')
        c->at++;
    if (!is_digit(peek(c)))
        return fail_expected(c, "a digit");
    if (peek(c) == '0') {
        c->at++;
        if (is_digit(peek(c)))
            return fail(c, start, "a number must not start with a superfluous 0");
    } else {
        skip_digits(c);
    }
    if (peek(c) == '.') {
        c->at++;
        if (!skip_digits(c))
            return fail_expected(c, "a digit after the decimal point");
    }
    if (peek(c) == 'e' || peek(c) == 'E') {
        c->at++;
        if (peek(c) == '+' || peek(c) == '-')
            c->at++;
        if (!skip_digits(c))
            return fail_expected(c, "a digit of the exponent");
    }
    if (c->at - start > NUMBER_MAX)
        return fail(c, start, "a number of more than %d characters", NUMBER_MAX);
    return true;
}

static bool scan_word(struct cursor *c)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
        const size_t length = strlen(words[k]);
        if (c->length - c->at < length || memcmp(c->text + c->at, words[k], length) != 0)
            continue;
        if (c->at + length < c->length && is_letter(c->text[c->at + length]))
            break;
        c->at += length;
        return true;
    }
    return fail_expected(c, "a value");
}

/* The elements of an array or the members of an object, at the opening bracket. */
static bool scan_children(struct cursor *c, char close, unsigned depth)
{
    if (depth > JSON_MAX_DEPTH)
        return fail(c, c->at, "nested deeper than %d levels", JSON_MAX_DEPTH);
    const bool object = close == '}';
    c->at++;
    skip_space(c);
    if (peek(c) == close) {
        c->at++;
        return true;
    }
    for (;;) {
        uint32_t key_offset = JSON_NOWHERE;
        if (object) {
            if (peek(c) != '"')
                return fail_expected(c, "a key in double quotes");
            key_offset = (uint32_t)c->at;
            if (!scan_string(c))
                return false;
            skip_space(c);
            if (peek(c) != ':')
                return fail_expected(c, "':'");
            c->at++;
            skip_space(c);
        }
        if (!scan_value(c, key_offset, depth))
            return false;
        skip_space(c);
        const int byte = peek(c);
        if (byte != ',' && byte != close)
            return fail_expected(c, object ? "',' or '}'" : "',' or ']'");
        c->at++;
        if (byte == close)
            return true;
        skip_space(c);
        if (peek(c) == close)
            return fail(c, c->at, "a comma before '%c'", close);
    }
}

/* An array of one or more numbers and nothing else takes one place. False leaves the cursor where it was, for the
 * ordinary way and its words. */
static bool scan_packed(struct cursor *c, uint32_t *count)
{
    const size_t start = c->at;
    int byte = ',';
    for (*count = 0; byte == ','; ++*count) {
        c->at++; /* the bracket, or the comma */
        skip_space(c);
        if ((peek(c) != '-' && !is_digit(peek(c))) || !scan_number(c))
            break;
        skip_space(c);
        byte = peek(c);
    }
    if (byte != ']') {
        c->at = start;
        return false;
    }
    c->at++;
    return true;
}

static bool is_packed(const struct cursor *c, uint32_t key_offset)
{
    for (const char *const *key = c->scan->packed; key && *key && key_offset != JSON_NOWHERE; key++) {
        const size_t length = strlen(*key);
        const unsigned char *at = c->text + key_offset + 1;
        if (length + 2 < c->at - key_offset && memcmp(at, *key, length) == 0 && at[length] == '"')
            return true;
    }
    return false;
}

static void add_place(struct json_scan *scan, struct json_place place)
{
    if (scan->count == scan->capacity) {
        scan->capacity = scan->capacity ? 2 * scan->capacity : 256;
        struct json_place *grown = realloc(scan->places, scan->capacity * sizeof(*grown));
        if (!grown)
            arena_out_of_memory(scan->capacity * sizeof(*grown));
        scan->places = grown;
    }
    scan->places[scan->count++] = place;
}

static bool scan_value(struct cursor *c, uint32_t key_offset, unsigned depth)
{
    if (c->scan->count == JSON_MAX_VALUES)
        return fail(c, c->at, "more than %d values", JSON_MAX_VALUES);
    const uint32_t outer = c->place;
    add_place(c->scan, (struct json_place){(uint32_t)c->at, key_offset, outer, JSON_NOWHERE});
    c->place = (uint32_t)(c->scan->count - 1);
    const int byte = peek(c);
    uint32_t numbers = 0;
    bool good;
    if (byte == '[' && is_packed(c, key_offset) && scan_packed(c, &numbers)) {
        c->scan->places[c->place].packed = numbers;
        c->place = outer;
        return true;
    }
    if (byte == '{' || byte == '[')
        good = scan_children(c, byte == '{' ? '}' : ']', depth + 1);
    else if (byte == '"')
        good = scan_string(c);
    else if (byte == '-' || is_digit(byte))
        good = scan_number(c);
    else
        good = scan_word(c);
    c->place = outer;
    return good;
}

bool json_scan(struct json_scan *scan, const char *text, size_t length)
{
    struct cursor c = {.text = (const unsigned char *)text, .length = length, .place = JSON_NOWHERE, .scan = scan};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return fail(&c, 0, "a byte order mark before the document");
    skip_space(&c);
    if (c.at == length)
        return fail(&c, length, "the document is empty");
    if (!scan_value(&c, JSON_NOWHERE, 0))
        return false;
    skip_space(&c);
    return c.at == length ? true : fail_expected(&c, "the end of the document");
}

void json_scan_release(struct json_scan *scan)
{
    free(scan->places);
    *scan = (struct json_scan){0};
}
