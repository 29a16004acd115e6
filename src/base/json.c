/* SPDX-License-Identifier: MIT
 *
 * The tree: where its values stand, its members, strings, numbers and duplicate keys. json_read.c makes it.
 */
#include "rooftile/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_internal.h"
#include "rooftile/text.h"
#include "rooftile/units.h"

/* Above this many members duplicates are looked for in sorted order, so that a million keys take no quadratic time. */
#define FEW_KEYS 32

/* ---- messages ---- */

static const char *const type_names[] = {
    [JSON_NULL] = "null",       [JSON_BOOL] = "a boolean", [JSON_NUMBER] = "a number",
    [JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
};

const char *json_type_name(enum json_type type)
{
    return type_names[type];
}

/* "path:line:column"; columns count characters, not bytes. */
static void add_where(struct text *out, const struct json_file *file, size_t offset)
{
    size_t line = 1, column = 1;
    for (size_t k = 0; k < offset && k < file->length; k++) {
        const unsigned char byte = (unsigned char)file->text[k];
        if (byte == '\n') {
            line++;
            column = 1;
        } else if ((byte & 0xc0) != 0x80) {
            column++;
        }
    }
    text_addf(out, "%s:%zu:%zu", file->path, line, column);
}

/* The key as one token of a JSON pointer (RFC 6901). */
static void add_token(struct text *out, const struct json *value)
{
    struct text key = {0}, token = {0};
    json_add_key(&key, value);
    for (const char *p = key.data; *p; p++) {
        if (*p == '~' || *p == '/')
            text_add(&token, *p == '~' ? "~0" : "~1");
        else
            text_addn(&token, p, 1);
    }
    text_add(out, "/");
    text_add_escaped(out, ESCAPE_JSON, token.data); /* a file must not be able to drive the terminal */
    text_release(&key);
    text_release(&token);
}

static void add_pointer(struct text *out, const struct json *value)
{
    const struct json *chain[JSON_MAX_DEPTH + 1];
    size_t depth = 0;
    for (const struct json *v = value; v->parent; v = v->parent)
        chain[depth++] = v;
    while (depth--) {
        if (chain[depth]->key_offset != JSON_NOWHERE)
            add_token(out, chain[depth]);
        else
            text_addf(out, "/%zu", (size_t)chain[depth]->index);
    }
}

void json_fail_at(const struct json *at, size_t offset, struct err *err, const char *format, va_list args)
{
    struct text message = {0};
    add_where(&message, at->file, offset);
    text_add(&message, ": ");
    if (at->parent) {
        add_pointer(&message, at);
        text_add(&message, ": ");
    }
    text_vaddf(&message, format, args);
    err_set(err, ERR_CONFIG, "%s", message.data);
    text_release(&message);
}

enum status json_fail(const struct json *at, struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_fail_at(at, at->offset, err, format, args);
    va_end(args);
    return ERR_CONFIG;
}

enum status json_fail_key(const struct json *at, struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_fail_at(at, at->key_offset != JSON_NOWHERE ? at->key_offset : at->offset, err, format, args);
    va_end(args);
    return ERR_CONFIG;
}

/* ---- members ---- */

const struct json *json_member(const struct json *object, const char *key)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    const struct json *member = object->first;
    while (member && strcmp(member->key, key) != 0)
        member = member->next;
    return member;
}

const struct json *json_at(const struct json *array, size_t index)
{
    if (!array || index >= array->count)
        return NULL;
    const struct json *element = array->first;
    while (index--)
        element = element->next;
    return element;
}

static bool is_known(const char *key, const char *const *keys, size_t count)
{
    if (text_starts(key, "$schema") || text_starts(key, "//"))
        return true;
    for (size_t k = 0; k < count; k++)
        if (strcmp(key, keys[k]) == 0)
            return true;
    return false;
}

static enum status fail_type(const struct json *value, enum json_type wanted, struct err *err)
{
    return json_fail(value, err, "must be %s, not %s", json_type_name(wanted), json_type_name(value->type));
}

enum status json_check_keys(const struct json *value, const char *const *keys, size_t count, struct err *err)
{
    if (value->type != JSON_OBJECT)
        return fail_type(value, JSON_OBJECT, err);
    for (const struct json *member = value->first; member; member = member->next) {
        if (is_known(member->key, keys, count))
            continue;
        json_fail_key(member, err, "unknown key");
        return err_nearest(err, member->key, keys, count, NULL);
    }
    return STATUS_OK;
}

/* *member is NULL when an optional one is absent. */
static enum status get(const struct json **member, const struct json *object, const char *key, enum json_type type,
                       enum json_need need, struct err *err)
{
    if (object->type != JSON_OBJECT)
        return fail_type(object, JSON_OBJECT, err);
    *member = json_member(object, key);
    if (!*member)
        return need == JSON_REQUIRED ? json_fail(object, err, "the key '%s' is missing", key) : STATUS_OK;
    return (*member)->type == type ? STATUS_OK : fail_type(*member, type, err);
}

enum status json_get_string(const char **out, const struct json *object, const char *key, enum json_need need,
                            struct err *err)
{
    const struct json *member = NULL;
    enum status status = get(&member, object, key, JSON_STRING, need, err);
    if (!status && member)
        *out = member->string;
    return status;
}

enum status json_get_number(double *out, const struct json *object, const char *key, enum json_need need,
                            struct err *err)
{
    const struct json *member = NULL;
    enum status status = get(&member, object, key, JSON_NUMBER, need, err);
    if (!status && member)
        *out = member->number;
    return status;
}

enum status json_get_u64(uint64_t *out, const struct json *object, const char *key, enum json_need need,
                         struct err *err)
{
    const struct json *member = NULL;
    enum status status = get(&member, object, key, JSON_NUMBER, need, err);
    if (status || !member)
        return status;
    const double number = member->number;
    if (number < 0 || number > 0x1p53 || number != floor(number))
        return json_fail(member, err, "must be a whole number from 0 to 2^53, not %.17g", number);
    *out = (uint64_t)number;
    return STATUS_OK;
}

enum status json_get_bool(bool *out, const struct json *object, const char *key, enum json_need need, struct err *err)
{
    const struct json *member = NULL;
    enum status status = get(&member, object, key, JSON_BOOL, need, err);
    if (!status && member)
        *out = member->boolean;
    return status;
}

static enum status get_node(const struct json **out, const struct json *object, const char *key, enum json_type type,
                            enum json_need need, struct err *err)
{
    const struct json *member = NULL;
    enum status status = get(&member, object, key, type, need, err);
    if (!status && member)
        *out = member;
    return status;
}

enum status json_get_object(const struct json **out, const struct json *object, const char *key, enum json_need need,
                            struct err *err)
{
    return get_node(out, object, key, JSON_OBJECT, need, err);
}

enum status json_get_array(const struct json **out, const struct json *object, const char *key, enum json_need need,
                           struct err *err)
{
    return get_node(out, object, key, JSON_ARRAY, need, err);
}

enum status json_get_time_ns(double *out, const struct json *object, const char *key, enum json_need need,
                             struct err *err)
{
    const struct json *member = NULL;
    enum status status = get(&member, object, key, JSON_STRING, need, err);
    if (status || !member)
        return status;
    double time_ns;
    if (!units_parse_time_ns(&time_ns, member->string))
        return json_fail(member, err, "must be a duration such as \"0.5 s\"");
    *out = time_ns;
    return STATUS_OK;
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
    const struct json number = {.parent = array,
                                .file = array->file,
                                .index = (uint32_t)index,
                                .key_offset = JSON_NOWHERE,
                                .offset = (uint32_t)(at - array->file->text)};
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
    text_add_escaped(&message, ESCAPE_JSON, second->key);
    text_add(&message, "', first at ");
    add_where(&message, first->file, first->key_offset);
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

enum status json_check_duplicates(const struct json *object, struct err *err)
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
