/* SPDX-License-Identifier: MIT */
#include "rooftile/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "json_internal.h"
#include "rooftile/file.h"
#include "rooftile/text.h"

static const char *const type_names[] = {
    [JSON_NULL] = "null",       [JSON_BOOL] = "a boolean", [JSON_NUMBER] = "a number",
    [JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
};

const char *json_type_name(enum json_type type)
{
    return type_names[type];
}

/* Columns count characters, not bytes. */
void json_add_where(struct text *out, const struct json_file *file, size_t offset)
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

void json_add_printable(struct text *out, const char *string)
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
            json_add_printable(out, one);
    }
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
            text_addf(out, "/%zu", (size_t)chain[depth]->index);
    }
}

static void fail_at(const struct json *at, size_t offset, struct err *err, const char *format, va_list args)
{
    struct text message = {0};
    json_add_where(&message, at->file, offset);
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
    json_add_where(&where, at->file, at->offset);
    char *result = arena_strdup(arena, where.data);
    text_release(&where);
    return result;
}

static void add_raw_key(struct text *out, const struct json_file *file, uint32_t offset)
{
    struct arena scratch = {0};
    add_token(out, json_unquote(&scratch, file->text + offset));
    arena_release(&scratch);
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
    json_add_where(&message, file, scan->error_offset);
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

enum status json_scan_file(struct json_scan *scan, const struct json_file *file, struct err *err)
{
    return json_scan(scan, file->text, file->length) ? STATUS_OK : fail_scan(file, scan, err);
}

static enum status parse(const struct json **root, const struct json_file *file, struct arena *arena, struct err *err)
{
    struct json_scan scan = {0};
    struct json *value = NULL;
    enum status status = json_scan_file(&scan, file, err);
    struct json_builder builder = {file, scan.places, scan.count, 0, JSON_NOWHERE, arena, err};
    if (!status)
        status = json_build(&value, &builder, NULL, 0);
    if (!status)
        *root = value;
    json_scan_release(&scan);
    return status;
}

struct json_file *json_file_new(struct arena *arena, const char *name, const char *text, size_t length)
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
    return parse(root, json_file_new(arena, path, text, length), arena, err);
}

enum status json_parse(const struct json **root, const char *name, const char *text, size_t length, struct arena *arena,
                       struct err *err)
{
    if (length > FILE_LIMIT_BYTES)
        return err_set(err, ERR_CONFIG, "%s has %zu bytes, more than the %u MB limit", name, length,
                       FILE_LIMIT_BYTES / 1000000u);
    char *copy = arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    return parse(root, json_file_new(arena, name, copy, length), arena, err);
}
