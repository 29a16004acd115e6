/* SPDX-License-Identifier: MIT
 *
 * The reader: one pass over the text that checks every byte against RFC 8259 and the additional limits of json.h, and
 * builds the tree. The elements of a long list are only checked (each is represented by a value on the C stack while it
 * is read); json_long_next reads them again, one at a time.
 */

#include "json_internal.h"
#include "rooftile/file.h"

static bool read_value(struct json_reader *c, struct json_node *node, unsigned depth);

/* ---- values ---- */

/* Copies the last string read into the tree; NULL without a tree. */
static char *keep_string(struct json_reader *c)
{
    return c->arena ? arena_strndup(c->arena, c->read, c->read_length) : NULL;
}

/* Tells whether the key that starts at that quote is `word`, written without escapes. */
static bool is_key(const struct json_reader *c, uint32_t key_offset, const char *word)
{
    if (key_offset == JSON_NOWHERE)
        return false;
    const char *key = c->file->text + key_offset + 1;
    return text_starts(key, word) && key[strlen(word)] == '"';
}

/* Reads a member's key and colon. */
static bool read_key(struct json_reader *c, struct json_node *node)
{
    if (json_peek(c) != '"')
        return json_expected(c, "a key in double quotes");
    node->key_offset = (uint32_t)c->at;
    if (!json_read_string(c))
        return false;
    node->value.string = keep_string(c);
    json_skip_space(c);
    if (json_peek(c) != ':')
        return json_expected(c, "':'");
    c->at++;
    json_skip_space(c);
    return true;
}

/* Reads the elements of an array or the members of an object, from the opening bracket. */
static bool read_children(struct json_reader *c, struct json_node *node, unsigned depth)
{
    const bool object = cJSON_IsObject(&node->value);
    const char close = object ? '}' : ']';
    if (depth > JSON_MAX_DEPTH)
        return json_fail_byte(c, c->at, "nested deeper than %d levels", JSON_MAX_DEPTH);
    c->at++;
    json_skip_space(c);
    for (int byte = json_peek(c); byte != close;) {
        /* Lives in the tree, or only while it is read. */
        struct json_node passing, *child = c->arena ? arena_alloc(c->arena, sizeof(*child)) : &passing;
        *child = (struct json_node){.parent = node, .key_offset = JSON_NOWHERE, .index = node->count++};
        if ((object && !read_key(c, child)) || !read_value(c, child, depth))
            return false;
        if (c->arena)
            json_link(&node->value, &child->value);
        json_skip_space(c);
        byte = json_peek(c);
        if (byte != ',' && byte != close)
            return json_expected(c, object ? "',' or '}'" : "',' or ']'");
        if (byte == close)
            break;
        c->at++;
        json_skip_space(c);
        if (json_peek(c) == close)
            return json_fail_byte(c, c->at, "a comma before '%c'", close);
    }
    c->at++;
    return !object || !c->arena || !json_check_duplicates(node, c->err);
}

static bool read_array(struct json_reader *c, struct json_node *node, unsigned depth)
{
    const bool long_list = c->list && node->parent && !node->parent->parent && is_key(c, node->key_offset, c->list);
    if (!long_list)
        return read_children(c, node, depth);
    struct arena *arena = c->arena;
    c->list = NULL;
    c->list_node = node;
    c->arena = NULL;
    const bool good = read_children(c, node, depth);
    c->arena = arena;
    return good;
}

/* Returns infinity beyond the range of doubles. Integers up to 2^53 and powers of ten up to 10^22 are exact doubles, so
 * that one division rounds correctly (Clinger, How to Read Floating Point Numbers Accurately, 1990). strtod converts
 * all other numbers. */
static double number_at(const char *text)
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
    if (count > 18 || digits > 1ull << 53 || *at == 'e' || *at == 'E')
        return strtod(text, NULL);
    const double number = (double)digits / powers[places];
    return *text == '-' ? -number : number;
}

static bool read_content(struct json_reader *c, struct json_node *node, unsigned depth)
{
    cJSON *value = &node->value;
    const char first = (char)json_peek(c);
    switch (json_peek(c)) {
    case '{':
        value->type = cJSON_Object;
        return read_children(c, node, depth + 1);
    case '[':
        value->type = cJSON_Array;
        return read_array(c, node, depth + 1);
    case '"':
        value->type = cJSON_String;
        if (!json_read_string(c))
            return false;
        value->valuestring = keep_string(c);
        return true;
    case 't':
    case 'f':
    case 'n':
        value->type = first == 'n' ? cJSON_NULL : first == 't' ? cJSON_True : cJSON_False;
        return json_scan_word(c);
    default:
        value->type = cJSON_Number;
        if (json_peek(c) != '-' && !json_is_digit(json_peek(c)))
            return json_expected(c, "a value");
        if (!json_scan_number(c))
            return false;
        value->valuedouble = c->arena ? number_at(c->file->text + node->offset) : 0;
        return isfinite(value->valuedouble) ||
               json_fail_byte(c, node->offset, "number is beyond the range of a double");
    }
}

/* `node` already has its parent, key and index. */
static bool read_value(struct json_reader *c, struct json_node *node, unsigned depth)
{
    if (c->arena && ++c->values > JSON_MAX_VALUES)
        return json_fail_byte(c, c->at, "more than %d values", JSON_MAX_VALUES);
    node->file = c->file;
    node->offset = (uint32_t)c->at;
    c->node = node;
    const bool good = read_content(c, node, depth);
    c->node = node->parent;
    return good;
}

/* ---- documents ---- */

/* Reads the text, which lies in c->arena; sets *root only if all of it is valid. */
static enum status read_document(struct json_reader *c, const cJSON **root, const char *name, const char *text,
                                 size_t length)
{
    struct json_file *file = arena_alloc(c->arena, sizeof(*file));
    struct json_node *node = arena_alloc(c->arena, sizeof(*node));
    node->key_offset = JSON_NOWHERE;
    *file = (struct json_file){strcmp(name, "-") == 0 ? "<stdin>" : arena_strdup(c->arena, name), text, length};
    c->file = file;
    c->text = (const unsigned char *)text;
    c->length = length;
    const bool has_mark = text_starts(text, "\xef\xbb\xbf");
    json_skip_space(c);
    bool good = has_mark             ? json_fail_byte(c, 0, "a byte order mark before the document")
                : c->at == c->length ? json_fail_byte(c, c->length, "the document is empty")
                                     : read_value(c, node, 0);
    json_skip_space(c);
    good = good && (c->at == c->length || json_expected(c, "the end of the document"));
    text_release(&c->string);
    if (good)
        *root = &node->value;
    return good ? STATUS_OK : ERR_CONFIG;
}

enum status json_read(const cJSON **root, const char *path, struct arena *arena, struct err *err)
{
    struct json_reader reader = {.arena = arena, .err = err};
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

enum status json_parse(const cJSON **root, const char *name, const char *text, size_t length, struct arena *arena,
                       struct err *err)
{
    struct json_reader reader = {.arena = arena, .err = err};
    if (length > FILE_LIMIT_BYTES)
        return err_set(err, ERR_CONFIG, "%s has %zu bytes, more than the %u MB limit", name, length,
                       FILE_LIMIT_BYTES / 1000000u);
    return read_document(&reader, root, name, copy_text(arena, text, length), length);
}

/* ---- long lists ---- */

struct json_long {
    struct arena arena;        /* for the text and the root */
    struct json_reader reader; /* in the list, after the last element read */
    uint32_t index;            /* of the next element */
};

static struct json_long *new_long(const char *list, struct err *err)
{
    struct json_long *d = new_zeroed(1, sizeof(*d));
    d->reader = (struct json_reader){.arena = &d->arena, .list = list, .err = err};
    return d;
}

static enum status open_long(struct json_long **out, struct json_long *d, const cJSON **root, const char *name,
                             const char *text, size_t length)
{
    const enum status status = read_document(&d->reader, root, name, text, length);
    if (status) {
        json_long_free(d);
        return status;
    }
    if (d->reader.list_node)
        d->reader.at = d->reader.list_node->offset + 1;
    *out = d;
    return STATUS_OK;
}

enum status json_long_open(struct json_long **out, const cJSON **root, const char *path, size_t limit_bytes,
                           const char *list, struct err *err)
{
    struct json_long *d = new_long(list, err);
    char *text;
    size_t length;
    const enum status status = file_read(&text, &length, path, limit_bytes, &d->arena, err);
    if (!status)
        return open_long(out, d, root, path, text, length);
    json_long_free(d);
    return status;
}

enum status json_long_parse(struct json_long **out, const cJSON **root, const char *name, const char *text,
                            size_t length, const char *list, struct err *err)
{
    struct json_long *d = new_long(list, err);
    return open_long(out, d, root, name, copy_text(&d->arena, text, length), length);
}

void json_long_free(struct json_long *document)
{
    if (!document)
        return;
    text_release(&document->reader.string);
    arena_release(&document->arena);
    free(document);
}

enum status json_long_next(const cJSON **element, struct json_long *d, struct arena *arena, struct err *err)
{
    struct json_reader *c = &d->reader;
    *element = NULL;
    if (c->list_node && d->index < c->list_node->count) {
        c->arena = arena;
        c->err = err;
        c->values = 0;
        json_skip_space(c);
        struct json_node *node = arena_alloc(arena, sizeof(*node));
        *node = (struct json_node){.parent = c->list_node, .key_offset = JSON_NOWHERE, .index = d->index++};
        if (!read_value(c, node, 1))
            return ERR_CONFIG;
        *element = &node->value;
        json_skip_space(c);
        c->at++; /* skips the comma or the bracket */
    }
    return STATUS_OK;
}
