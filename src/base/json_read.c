/* SPDX-License-Identifier: MIT
 *
 * The reader: one walk over the text that checks every byte against RFC 8259 and the further limits of json.h, and
 * builds the tree as it goes. Of a long list it only checks the elements (a value on the C stack stands for each while
 * it is read); json_long_next walks over them once more, one at a time.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_internal.h"
#include "rooftile/file.h"
#include "rooftile/text.h"

/* No double needs more than 24; a longer number is a mistake or an attack. */
#define NUMBER_MAX 63

struct reader {
    const struct json_file *file;
    const unsigned char *text;
    size_t length;
    size_t at;
    const struct json *value;  /* being read */
    size_t values;             /* so far */
    struct arena *arena;       /* of the tree; NULL: it is only checked */
    const char *const *packed; /* keys of arrays to pack, ended by NULL; NULL: none */
    const char *list;          /* key of the root's array whose elements are only checked; NULL: none */
    struct json *list_value;   /* that array; NULL: not found */
    struct err *err;
};

static bool read_value(struct reader *c, struct json **out, struct json *parent, uint32_t key_offset, uint32_t index,
                       unsigned depth);

static bool fail(struct reader *c, size_t offset, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail(struct reader *c, size_t offset, const char *format, ...)
{
    const struct json document = {.file = c->file, .key_offset = JSON_NOWHERE};
    va_list args;
    va_start(args, format);
    json_fail_at(c->value ? c->value : &document, offset, c->err, format, args);
    va_end(args);
    return false;
}

static int peek(const struct reader *c)
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

static bool fail_expected(struct reader *c, const char *what)
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

static void skip_space(struct reader *c)
{
    for (int byte = peek(c); byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; byte = peek(c))
        c->at++;
}

/* Four hex digits at `at`, or -1. */
static int hex4(const struct reader *c, size_t at)
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
static bool scan_escape(struct reader *c)
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
static bool scan_string(struct reader *c)
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

static size_t skip_digits(struct reader *c)
{
    const size_t start = c->at;
    while (is_digit(peek(c)))
        c->at++;
    return c->at - start;
}

static bool scan_number(struct reader *c)
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

static bool scan_word(struct reader *c)
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

/* ---- values ---- */

/* Whether the key whose quote stands there is that word, written plainly. */
static bool is_key(const struct reader *c, uint32_t key_offset, const char *word)
{
    if (key_offset == JSON_NOWHERE)
        return false;
    const char *key = c->file->text + key_offset + 1;
    return text_starts(key, word) && key[strlen(word)] == '"';
}

/* A member's key and colon. */
static bool read_key(struct reader *c, uint32_t *key_offset)
{
    if (peek(c) != '"')
        return fail_expected(c, "a key in double quotes");
    *key_offset = (uint32_t)c->at;
    if (!scan_string(c))
        return false;
    skip_space(c);
    if (peek(c) != ':')
        return fail_expected(c, "':'");
    c->at++;
    skip_space(c);
    return true;
}

/* The elements of an array or the members of an object, at the opening bracket. */
static bool read_children(struct reader *c, struct json *value, unsigned depth)
{
    const bool object = value->type == JSON_OBJECT;
    const char close = object ? '}' : ']';
    struct json **tail = &value->first;
    if (depth > JSON_MAX_DEPTH)
        return fail(c, c->at, "nested deeper than %d levels", JSON_MAX_DEPTH);
    c->at++;
    skip_space(c);
    for (int byte = peek(c); byte != close;) {
        uint32_t key_offset = JSON_NOWHERE;
        if (object && !read_key(c, &key_offset))
            return false;
        if (!read_value(c, tail, value, key_offset, (uint32_t)value->count++, depth))
            return false;
        tail = *tail ? &(*tail)->next : tail;
        skip_space(c);
        byte = peek(c);
        if (byte != ',' && byte != close)
            return fail_expected(c, object ? "',' or '}'" : "',' or ']'");
        if (byte == close)
            break;
        c->at++;
        skip_space(c);
        if (peek(c) == close)
            return fail(c, c->at, "a comma before '%c'", close);
    }
    c->at++;
    return !object || !c->arena || !json_check_duplicates(value, c->err);
}

/* An array of one or more numbers and nothing else, of which only the count is kept. False leaves the reader where it
 * was, for the ordinary way and its words. */
static bool read_packed(struct reader *c, struct json *value)
{
    const size_t start = c->at;
    size_t count = 0;
    for (int byte = ','; byte == ','; count++) {
        c->at++; /* the bracket, or the comma */
        skip_space(c);
        if ((peek(c) != '-' && !is_digit(peek(c))) || !scan_number(c))
            break;
        skip_space(c);
        byte = peek(c);
        if (byte == ']') {
            c->at++;
            value->packed = true;
            value->count = count + 1;
            return true;
        }
    }
    c->at = start;
    return false;
}

static bool read_array(struct reader *c, struct json *value, unsigned depth)
{
    for (const char *const *key = c->packed; key && *key; key++)
        if (is_key(c, value->key_offset, *key) && read_packed(c, value))
            return true;
    const bool long_list = c->list && value->parent && !value->parent->parent && is_key(c, value->key_offset, c->list);
    if (!long_list)
        return read_children(c, value, depth);
    struct arena *arena = c->arena;
    c->list = NULL;
    c->list_value = value;
    c->arena = NULL;
    const bool good = read_children(c, value, depth);
    c->arena = arena;
    return good;
}

static bool read_number(struct reader *c, struct json *value)
{
    const char *end;
    if (!scan_number(c))
        return false;
    if (c->arena)
        value->number = json_to_number(c->file->text + value->offset, &end);
    return isfinite(value->number) || fail(c, value->offset, JSON_TOO_LARGE);
}

static bool read_content(struct reader *c, struct json *value, unsigned depth)
{
    const char *start = c->file->text + c->at;
    switch (peek(c)) {
    case '{':
        value->type = JSON_OBJECT;
        return read_children(c, value, depth + 1);
    case '[':
        value->type = JSON_ARRAY;
        return read_array(c, value, depth + 1);
    case '"':
        value->type = JSON_STRING;
        if (!scan_string(c))
            return false;
        value->string = c->arena ? json_unquote(c->arena, start) : NULL;
        return true;
    case 't':
    case 'f':
    case 'n':
        value->type = *start == 'n' ? JSON_NULL : JSON_BOOL;
        value->boolean = *start == 't';
        return scan_word(c);
    default:
        value->type = JSON_NUMBER;
        return peek(c) == '-' || is_digit(peek(c)) ? read_number(c, value) : fail_expected(c, "a value");
    }
}

/* *out is the value where a tree is built. */
static bool read_value(struct reader *c, struct json **out, struct json *parent, uint32_t key_offset, uint32_t index,
                       unsigned depth)
{
    struct json checked;
    if (++c->values > JSON_MAX_VALUES)
        return fail(c, c->at, "more than %d values", JSON_MAX_VALUES);
    struct json *value = c->arena ? arena_alloc(c->arena, sizeof(*value)) : &checked;
    *value = (struct json){
        .parent = parent, .file = c->file, .offset = (uint32_t)c->at, .key_offset = key_offset, .index = index};
    if (c->arena)
        *out = value;
    if (c->arena && key_offset != JSON_NOWHERE)
        value->key = json_unquote(c->arena, c->file->text + key_offset);
    c->value = value;
    const bool good = read_content(c, value, depth);
    c->value = parent;
    return good;
}

/* ---- documents ---- */

static bool read_whole(struct reader *c, struct json **root)
{
    if (text_starts(c->file->text, "\xef\xbb\xbf"))
        return fail(c, 0, "a byte order mark before the document");
    skip_space(c);
    if (c->at == c->length)
        return fail(c, c->length, "the document is empty");
    if (!read_value(c, root, NULL, JSON_NOWHERE, 0, 0))
        return false;
    skip_space(c);
    return c->at == c->length || fail_expected(c, "the end of the document");
}

/* Reads the text, which lies in c->arena; *root only when all of it is good. */
static enum status read_document(struct reader *c, const struct json **root, const char *name, const char *text,
                                 size_t length)
{
    struct json_file *file = arena_alloc(c->arena, sizeof(*file));
    struct json *value = NULL;
    *file = (struct json_file){strcmp(name, "-") == 0 ? "<stdin>" : arena_strdup(c->arena, name), text, length};
    c->file = file;
    c->text = (const unsigned char *)text;
    c->length = length;
    if (!read_whole(c, &value))
        return ERR_CONFIG;
    *root = value;
    return STATUS_OK;
}

enum status json_read(const struct json **root, const char *path, struct arena *arena, struct err *err)
{
    struct reader reader = {.arena = arena, .err = err};
    char *text;
    size_t length;
    enum status status = file_read(&text, &length, path, FILE_LIMIT_BYTES, arena, err);
    return status ? status : read_document(&reader, root, path, text, length);
}

static char *copy_text(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

enum status json_parse(const struct json **root, const char *name, const char *text, size_t length, struct arena *arena,
                       struct err *err)
{
    struct reader reader = {.arena = arena, .err = err};
    if (length > FILE_LIMIT_BYTES)
        return err_set(err, ERR_CONFIG, "%s has %zu bytes, more than the %u MB limit", name, length,
                       FILE_LIMIT_BYTES / 1000000u);
    return read_document(&reader, root, name, copy_text(arena, text, length), length);
}

/* ---- long lists ---- */

struct json_long {
    struct arena arena;   /* the text and the root */
    struct reader reader; /* in the list, behind the last element read */
    uint32_t index;       /* of the next element */
};

static struct json_long *new_long(const char *list, const char *const *packed, struct err *err)
{
    struct json_long *d = calloc(1, sizeof(*d));
    if (!d)
        arena_out_of_memory(sizeof(*d));
    d->reader = (struct reader){.arena = &d->arena, .list = list, .packed = packed, .err = err};
    return d;
}

static enum status open_long(struct json_long **out, struct json_long *d, const struct json **root, const char *name,
                             const char *text, size_t length)
{
    const enum status status = read_document(&d->reader, root, name, text, length);
    if (status) {
        json_long_free(d);
        return status;
    }
    if (d->reader.list_value)
        d->reader.at = d->reader.list_value->offset + 1;
    *out = d;
    return STATUS_OK;
}

enum status json_long_open(struct json_long **out, const struct json **root, const char *path, size_t limit_bytes,
                           const char *list, const char *const *packed, struct err *err)
{
    struct json_long *d = new_long(list, packed, err);
    char *text;
    size_t length;
    const enum status status = file_read(&text, &length, path, limit_bytes, &d->arena, err);
    if (!status)
        return open_long(out, d, root, path, text, length);
    json_long_free(d);
    return status;
}

enum status json_long_parse(struct json_long **out, const struct json **root, const char *name, const char *text,
                            size_t length, const char *list, const char *const *packed, struct err *err)
{
    struct json_long *d = new_long(list, packed, err);
    return open_long(out, d, root, name, copy_text(&d->arena, text, length), length);
}

void json_long_free(struct json_long *document)
{
    if (!document)
        return;
    arena_release(&document->arena);
    free(document);
}

enum status json_long_next(const struct json **element, struct json_long *d, struct arena *arena, struct err *err)
{
    struct reader *c = &d->reader;
    struct json *value = NULL;
    if (c->list_value && d->index < c->list_value->count) {
        c->arena = arena;
        c->err = err;
        c->values = 0;
        skip_space(c);
        if (!read_value(c, &value, c->list_value, JSON_NOWHERE, d->index, 1))
            return ERR_CONFIG;
        d->index++;
        skip_space(c);
        c->at++; /* the comma or the bracket */
    }
    *element = value;
    return STATUS_OK;
}
