/* SPDX-License-Identifier: MIT */
#include "rooftile/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_internal.h"
#include "rooftile/file.h"
#include "rooftile/text.h"

struct json_file {
    const char *path;
    const char *text;
    size_t length;
};

static const char *const type_names[] = {
    [JSON_NULL] = "null",       [JSON_BOOL] = "a boolean", [JSON_NUMBER] = "a number",
    [JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
};

const char *json_type_name(enum json_type type)
{
    return type_names[type];
}

/* Columns count characters, not bytes. */
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

/* Control characters are shown as escapes: a file must not be able to drive the terminal. */
static void add_printable(struct text *out, const char *string)
{
    for (const char *p = string; *p; p++) {
        const unsigned char byte = (unsigned char)*p;
        if (byte < 0x20 || byte == 0x7f)
            text_addf(out, "\\u%04x", (unsigned)byte);
        else
            text_addn(out, p, 1);
    }
}

/* One token of a JSON pointer (RFC 6901). */
static void add_token(struct text *out, const char *key)
{
    text_add(out, "/");
    for (const char *p = key; *p; p++) {
        const char one[2] = {*p, '\0'};
        if (*p == '~')
            text_add(out, "~0");
        else if (*p == '/')
            text_add(out, "~1");
        else
            add_printable(out, one);
    }
}

static size_t index_of(const struct json *value)
{
    size_t index = 0;
    for (const struct json *c = value->parent->first; c != value; c = c->next)
        index++;
    return index;
}

static void add_pointer(struct text *out, const struct json *value)
{
    const struct json *chain[JSON_MAX_DEPTH + 1];
    size_t depth = 0;
    for (const struct json *v = value; v->parent; v = v->parent)
        chain[depth++] = v;
    while (depth--) {
        if (chain[depth]->key)
            add_token(out, chain[depth]->key);
        else
            text_addf(out, "/%zu", index_of(chain[depth]));
    }
}

static void fail_at(const struct json *at, size_t offset, struct err *err, const char *format, va_list args)
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
    fail_at(at, at->offset, err, format, args);
    va_end(args);
    return ERR_CONFIG;
}

enum status json_fail_key(const struct json *at, struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_at(at, at->key ? at->key_offset : at->offset, err, format, args);
    va_end(args);
    return ERR_CONFIG;
}

char *json_where(struct arena *arena, const struct json *at)
{
    struct text where = {0};
    add_where(&where, at->file, at->offset);
    char *result = arena_strdup(arena, where.data);
    text_release(&where);
    return result;
}

/* The key as cJSON reads it: a scan that failed has no tree yet. */
static void add_raw_key(struct text *out, const struct json_file *file, uint32_t offset)
{
    cJSON *key = cJSON_ParseWithLength(file->text + offset, file->length - offset);
    add_token(out, key && key->valuestring ? key->valuestring : "?");
    cJSON_Delete(key);
}

static void add_scan_pointer(struct text *out, const struct json_file *file, const struct json_scan *scan)
{
    uint32_t chain[JSON_MAX_DEPTH + 2];
    size_t depth = 0;
    uint32_t place = scan->error_place;
    for (; place != JSON_NOWHERE && scan->places[place].parent != JSON_NOWHERE; place = scan->places[place].parent)
        chain[depth++] = place;
    while (depth--) {
        const struct json_place *at = &scan->places[chain[depth]];
        if (at->key_offset != JSON_NOWHERE) {
            add_raw_key(out, file, at->key_offset);
            continue;
        }
        size_t index = 0;
        for (uint32_t k = at->parent + 1; k < chain[depth]; k++)
            index += scan->places[k].parent == at->parent;
        text_addf(out, "/%zu", index);
    }
}

static enum status fail_scan(const struct json_file *file, const struct json_scan *scan, struct err *err)
{
    struct text message = {0};
    add_where(&message, file, scan->error_offset);
    text_add(&message, ": ");
    const size_t before = message.length;
    add_scan_pointer(&message, file, scan);
    if (message.length > before)
        text_add(&message, ": ");
    text_add(&message, scan->error);
    err_set(err, ERR_CONFIG, "%s", message.data);
    text_release(&message);
    return ERR_CONFIG;
}

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
    add_printable(&message, second->key);
    text_add(&message, "', first at ");
    add_where(&message, first->file, first->key_offset);
    json_fail_key(second, err, "%s", message.data);
    text_release(&message);
    return ERR_CONFIG;
}

/* Sorted, so that an object of a million keys takes no quadratic time. */
static enum status check_duplicates(const struct json *object, struct err *err)
{
    if (object->count < 2)
        return STATUS_OK;
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

struct builder {
    const struct json_file *file;
    const struct json_place *places; /* of the next value */
    struct arena *arena;
    struct err *err;
};

static enum status build(struct json **out, struct builder *b, const cJSON *item, const struct json *parent);

static enum status build_children(struct json *value, struct builder *b, const cJSON *item)
{
    struct json **tail = &value->first;
    for (const cJSON *child = item->child; child; child = child->next) {
        enum status status = build(tail, b, child, value);
        if (status)
            return status;
        tail = &(*tail)->next;
        value->count++;
    }
    return value->type == JSON_OBJECT ? check_duplicates(value, b->err) : STATUS_OK;
}

static enum json_type type_of(const cJSON *item)
{
    if (cJSON_IsObject(item))
        return JSON_OBJECT;
    if (cJSON_IsArray(item))
        return JSON_ARRAY;
    if (cJSON_IsString(item))
        return JSON_STRING;
    if (cJSON_IsNumber(item))
        return JSON_NUMBER;
    return cJSON_IsBool(item) ? JSON_BOOL : JSON_NULL;
}

static enum status build(struct json **out, struct builder *b, const cJSON *item, const struct json *parent)
{
    struct json *value = arena_alloc(b->arena, sizeof(*value));
    *out = value; /* linked before its children: messages about them count siblings */
    value->type = type_of(item);
    value->parent = parent;
    value->file = b->file;
    value->offset = b->places->offset;
    value->key_offset = b->places->key_offset;
    value->key = parent && parent->type == JSON_OBJECT ? arena_strdup(b->arena, item->string) : NULL;
    b->places++;
    if (value->type == JSON_STRING)
        value->string = arena_strdup(b->arena, item->valuestring);
    if (value->type == JSON_BOOL)
        value->boolean = cJSON_IsTrue(item);
    if (value->type == JSON_NUMBER) {
        value->number = item->valuedouble;
        if (!isfinite(value->number))
            return json_fail(value, b->err, "number is beyond the range of a double");
    }
    return build_children(value, b, item);
}

static enum status parse(const struct json **root, const struct json_file *file, struct arena *arena, struct err *err)
{
    struct json_scan scan = {0};
    cJSON *tree = NULL;
    struct json *value = NULL;
    enum status status = STATUS_OK;
    if (!json_scan(&scan, file->text, file->length)) {
        status = fail_scan(file, &scan, err);
        goto out;
    }
    tree = cJSON_ParseWithLength(file->text, file->length);
    if (!tree) /* every document that passes the scan is one cJSON reads */
        arena_out_of_memory(file->length);
    struct builder builder = {file, scan.places, arena, err};
    status = build(&value, &builder, tree, NULL);
    assert(status || builder.places == scan.places + scan.count);
    if (!status)
        *root = value;
out:
    cJSON_Delete(tree);
    json_scan_release(&scan);
    return status;
}

static struct json_file *new_file(struct arena *arena, const char *name, const char *text, size_t length)
{
    struct json_file *file = arena_alloc(arena, sizeof(*file));
    *file = (struct json_file){strcmp(name, "-") == 0 ? "<stdin>" : arena_strdup(arena, name), text, length};
    return file;
}

enum status json_read(const struct json **root, const char *path, struct arena *arena, struct err *err)
{
    char *text;
    size_t length;
    enum status status = file_read(&text, &length, path, FILE_LIMIT_BYTES, arena, err);
    if (status)
        return status;
    return parse(root, new_file(arena, path, text, length), arena, err);
}

enum status json_parse(const struct json **root, const char *name, const char *text, size_t length, struct arena *arena,
                       struct err *err)
{
    if (length > FILE_LIMIT_BYTES)
        return err_set(err, ERR_CONFIG, "%s has %zu bytes, more than the %u MB limit", name, length,
                       FILE_LIMIT_BYTES / 1000000u);
    const char *copy = arena_copy(arena, text, length);
    return parse(root, new_file(arena, name, copy, length), arena, err);
}
