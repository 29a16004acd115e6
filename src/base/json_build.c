/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_internal.h"

/* Above this many members duplicates are looked for in sorted order, so that a million keys take no quadratic time. */
#define FEW_KEYS 32

/* ---- strings ---- */

static unsigned hex4(const char *digits)
{
    unsigned value = 0;
    for (size_t k = 0; k < 4; k++) {
        const unsigned byte = (unsigned char)digits[k];
        value = value * 16 + (byte <= '9' ? byte - '0' : (byte | 0x20) - 'a' + 10);
    }
    return value;
}

static char *put_utf8(char *to, unsigned code)
{
    const unsigned bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (unsigned k = bytes - 1; k; k--) {
        to[k] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    to[0] = (char)(first[bytes] | code);
    return to + bytes;
}

/* At the backslash; returns what follows the escape. The scan has seen that it is complete. */
static const char *unescape(char **to, const char *at)
{
    static const char plain[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    if (at[1] != 'u') {
        *(*to)++ = meaning[strchr(plain, at[1]) - plain];
        return at + 2;
    }
    unsigned code = hex4(at + 2);
    at += 6;
    if (code >= 0xd800 && code < 0xdc00) {
        code = 0x10000 + ((code - 0xd800) << 10) + (hex4(at + 2) - 0xdc00);
        at += 6;
    }
    *to = put_utf8(*to, code);
    return at;
}

char *json_unquote(struct arena *arena, const char *quote)
{
    const char *end = quote + 1;
    bool escapes = false;
    for (; *end != '"'; end += *end == '\\' ? 2 : 1)
        escapes |= *end == '\\';
    const size_t length = (size_t)(end - quote - 1);
    char *string = arena_alloc(arena, length + 1);
    if (!escapes) {
        memcpy(string, quote + 1, length);
        return string;
    }
    char *to = string;
    for (const char *at = quote + 1; at < end;) {
        if (*at == '\\')
            at = unescape(&to, at);
        else
            *to++ = *at++;
    }
    *to = '\0';
    return string;
}

/* ---- numbers ---- */

/* Up to 2^53 an integer, and up to 10^22 a power of ten, are doubles exactly, so that one division rounds correctly
 * (Clinger, How to Read Floating Point Numbers Accurately, 1990). The rest is for strtod. */
double json_to_number(const char *text, const char **end)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *at = text + (*text == '-');
    const char *point = NULL;
    uint64_t digits = 0;
    size_t count = 0;
    for (; (*at >= '0' && *at <= '9') || *at == '.'; at++) {
        if (*at == '.') {
            point = at;
            continue;
        }
        digits = digits * 10 + (uint64_t)(*at - '0');
        count++;
    }
    const size_t places = point ? (size_t)(at - point - 1) : 0;
    *end = at;
    if (count > 18 || digits > 1ull << 53 || *at == 'e' || *at == 'E') {
        char *stop;
        const double number = strtod(text, &stop);
        *end = stop;
        return number;
    }
    const double number = (double)digits / powers[places];
    return *text == '-' ? -number : number;
}

static const char *skip_between(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r' || *at == ',' || *at == '[')
        at++;
    return at;
}

enum status json_fail_number(const struct json *array, size_t index, struct err *err, const char *format, ...)
{
    struct text message = {0};
    const char *at = skip_between(array->file->text + array->offset);
    const struct json *child = array->packed ? NULL : json_at(array, index);
    for (size_t k = 0; k < index && array->packed; k++) {
        json_to_number(at, &at);
        at = skip_between(at);
    }
    const struct json number = {
        .parent = array, .file = array->file, .index = (uint32_t)index, .offset = (uint32_t)(at - array->file->text)};
    va_list args;
    va_start(args, format);
    text_vaddf(&message, format, args);
    va_end(args);
    json_fail(child ? child : &number, err, "%s", message.data);
    text_release(&message);
    return ERR_CONFIG;
}

enum status json_numbers(double *values, const struct json *array, struct err *err)
{
    const char *at = array->file->text + array->offset;
    for (const struct json *child = array->first; child; child = child->next) {
        if (child->type != JSON_NUMBER)
            return json_fail(child, err, "must be a number, not %s", json_type_name(child->type));
        *values++ = child->number;
    }
    for (size_t k = 0; k < array->count && array->packed; k++) {
        values[k] = json_to_number(skip_between(at), &at);
        if (!isfinite(values[k]))
            return json_fail_number(array, k, err, JSON_TOO_LARGE);
    }
    return STATUS_OK;
}

/* ---- duplicate keys ---- */

static int by_key(const void *a, const void *b)
{
    const struct json *const *x = a;
    const struct json *const *y = b;
    const int order = strcmp((*x)->key, (*y)->key);
    return order ? order : ((*x)->offset > (*y)->offset) - ((*x)->offset < (*y)->offset);
}

static enum status fail_duplicate(const struct json *first, const struct json *second, struct err *err)
{
    struct text message = {0};
    text_add(&message, "duplicate key '");
    json_add_printable(&message, second->key);
    text_add(&message, "', first at ");
    json_add_where(&message, first->file, first->key_offset);
    json_fail_key(second, err, "%s", message.data);
    text_release(&message);
    return ERR_CONFIG;
}

static enum status check_few(const struct json *object, struct err *err)
{
    for (const struct json *second = object->first; second; second = second->next)
        for (const struct json *first = object->first; first != second; first = first->next)
            if (first->key[0] == second->key[0] && strcmp(first->key, second->key) == 0)
                return fail_duplicate(first, second, err);
    return STATUS_OK;
}

static enum status check_duplicates(const struct json *object, struct err *err)
{
    if (object->count <= FEW_KEYS)
        return check_few(object, err);
    const struct json **sorted = malloc(object->count * sizeof(const struct json *));
    if (!sorted)
        arena_out_of_memory(object->count * sizeof(const struct json *));
    size_t count = 0;
    for (const struct json *c = object->first; c; c = c->next)
        sorted[count++] = c;
    qsort(sorted, count, sizeof(const struct json *), by_key);
    size_t found = 0;
    for (size_t k = 1; k < count; k++)
        if (strcmp(sorted[k - 1]->key, sorted[k]->key) == 0 && (!found || sorted[k]->offset < sorted[found]->offset))
            found = k;
    enum status status = found ? fail_duplicate(sorted[found - 1], sorted[found], err) : STATUS_OK;
    free(sorted);
    return status;
}

/* ---- the tree ---- */

static enum json_type type_at(char byte)
{
    switch (byte) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
    case 'f':
        return JSON_BOOL;
    case 'n':
        return JSON_NULL;
    default:
        return JSON_NUMBER;
    }
}

static enum status build_children(struct json *value, struct json_builder *b, uint32_t self)
{
    struct json **tail = &value->first;
    while (b->next < b->count && b->places[b->next].parent == self) {
        const enum status status = json_build(tail, b, value, (uint32_t)value->count++);
        if (status)
            return status;
        tail = &(*tail)->next;
    }
    return value->type == JSON_OBJECT ? check_duplicates(value, b->err) : STATUS_OK;
}

/* Whatever is in the array has a parent that is no earlier than the array. */
static void skip_elements(struct json *list, struct json_builder *b, uint32_t self)
{
    for (; b->next < b->count && b->places[b->next].parent >= self; b->next++)
        list->count += b->places[b->next].parent == self;
}

enum status json_build(struct json **out, struct json_builder *b, const struct json *parent, uint32_t index)
{
    struct json *value = arena_alloc(b->arena, sizeof(*value));
    const uint32_t self = (uint32_t)b->next++;
    const struct json_place *place = &b->places[self];
    const char *at = b->file->text + place->offset;
    *value = (struct json){.type = type_at(*at),
                           .parent = parent,
                           .file = b->file,
                           .offset = place->offset,
                           .key_offset = place->key_offset,
                           .index = index};
    *out = value;
    if (place->key_offset != JSON_NOWHERE)
        value->key = json_unquote(b->arena, b->file->text + place->key_offset);
    value->packed = place->packed != JSON_NOWHERE;
    if (value->packed)
        value->count = place->packed;
    if (value->type == JSON_STRING)
        value->string = json_unquote(b->arena, at);
    if (value->type == JSON_BOOL)
        value->boolean = *at == 't';
    if (value->type == JSON_NUMBER) {
        value->number = json_to_number(at, &at);
        if (!isfinite(value->number))
            return json_fail(value, b->err, JSON_TOO_LARGE);
    }
    if (self == b->list) {
        skip_elements(value, b, self);
        return STATUS_OK;
    }
    return build_children(value, b, self);
}
