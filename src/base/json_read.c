/* SPDX-License-Identifier: MIT
 *
 * The reader: one pass over the text that checks every byte against RFC 8259 and the additional limits of json.h, and
 * builds the tree. The elements of a long list are only checked (each is represented by a value on the C stack while it
 * is read); json_long_next reads them again, one at a time.
 */

#include "json_internal.h"
#include "rooftile/file.h"

/* State of the reader. */
struct json_reader {
    const struct json_file *file;
    const unsigned char *text;
    size_t length;
    size_t at;
    const char *read; /* the last string read, unescaped; in the text or in `string` */
    size_t read_length;
    struct text string;
    const struct json_node *node; /* the value being read */
    size_t values;                /* values in the tree so far */
    struct arena *arena;          /* for the tree; NULL: only checks */
    const char *list;             /* key of the root's array whose elements are only checked; NULL: none */
    struct json_node *list_node;  /* that array; NULL: not found */
    struct err *err;
};

/* Returns the current byte, -1 at the end. */
static int peek(const struct json_reader *c)
{
    return c->at < c->length ? c->text[c->at] : -1;
}

/* A double needs at most 24 characters; a longer number is a mistake or an attack. */
#define NUMBER_MAX 63

/* These functions move past something, or return false after err_set with the position of the value being read; the
 * first two always do, for something at `offset` that is wrong, and for something other than `what`. */
__attribute__((format(printf, 3, 4))) static bool fail_byte(struct json_reader *c, size_t offset, const char *format,
                                                            ...)
{
    const struct json_node document = {.file = c->file, .key_offset = JSON_NOWHERE};
    va_list args;
    va_start(args, format);
    json_fail_at(c->node ? c->node : &document, offset, c->err, format, args);
    va_end(args);
    return false;
}

static bool is_letter(int byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool expected(struct json_reader *c, const char *what)
{
    const int byte = peek(c);
    if (byte < 0)
        return fail_byte(c, c->at, "the document ends where %s is expected", what);
    size_t word = 0;
    while (word < 16 && c->at + word < c->length && is_letter(c->text[c->at + word]))
        word++;
    if (byte == '/')
        return fail_byte(c, c->at, "expected %s, found '/' (JSON has no comments; a key that starts with // is one)",
                         what);
    if (word)
        return fail_byte(c, c->at, "expected %s, found '%.*s'", what, (int)word, (const char *)c->text + c->at);
    if (byte > ' ' && byte < 0x7f)
        return fail_byte(c, c->at, "expected %s, found '%c'", what, byte);
    return fail_byte(c, c->at, "expected %s, found byte 0x%02x", what, (unsigned)byte);
}

static void skip_space(struct json_reader *c)
{
    const unsigned char *at = c->text + c->at, *end = c->text + c->length;
    while (at < end && *at <= ' ' && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    c->at = (size_t)(at - c->text);
}

/* ---- strings ---- */

/* Returns the value of four hex digits at `at`, or -1. */
static long hex4(const struct json_reader *c, size_t at)
{
    char digits[5] = "";
    if (c->length - at < 4 || strspn((const char *)c->text + at, "0123456789abcdefABCDEF") < 4)
        return -1;
    memcpy(digits, c->text + at, 4);
    return strtol(digits, NULL, 16);
}

static void add_utf8(struct text *text, unsigned code)
{
    const unsigned bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    char out[4];
    for (unsigned k = bytes - 1; k; k--) {
        out[k] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(first[bytes] | code);
    text_addn(text, out, bytes);
}

/* Starts at the backslash. */
static bool read_escape(struct json_reader *c)
{
    static const char plain[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    const size_t start = c->at;
    const int byte = start + 1 < c->length ? c->text[start + 1] : -1;
    if (byte < 0)
        return fail_byte(c, c->length, "the document ends inside a string");
    c->at += 2;
    const char *known = byte ? strchr(plain, byte) : NULL;
    if (known)
        text_addn(&c->string, &meaning[known - plain], 1);
    if (byte != 'u')
        return known || fail_byte(c, start, "unknown escape sequence in a string");
    const long unit = hex4(c, c->at);
    if (unit < 0)
        return fail_byte(c, start, "\\u needs four hexadecimal digits");
    c->at += 4;
    if (unit == 0)
        return fail_byte(c, start, "\\u0000 is not allowed in a string");
    if (unit < 0xd800 || unit > 0xdfff) {
        add_utf8(&c->string, (unsigned)unit);
        return true;
    }
    const bool pair = unit < 0xdc00 && c->at + 1 < c->length && c->text[c->at] == '\\' && c->text[c->at + 1] == 'u';
    const long low = pair ? hex4(c, c->at + 2) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return fail_byte(c, start, "\\u%04x is half of a surrogate pair", (unsigned)unit);
    c->at += 6;
    add_utf8(&c->string, (unsigned)(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)));
    return true;
}

/* Returns how many bytes from `at` on need no unescaping. */
static size_t plain_length(const struct json_reader *c)
{
    const unsigned char *start = c->text + c->at, *end = c->text + c->length, *at = start;
    while (at < end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return (size_t)(at - start);
}

/* Starts at the opening quote. */
static bool read_string(struct json_reader *c)
{
    const size_t start = c->at++, plain = plain_length(c);
    if (c->at + plain < c->length && c->text[c->at + plain] == '"') { /* nearly always: used in place */
        c->read = (const char *)c->text + c->at;
        c->read_length = plain;
        c->at += plain + 1;
        return true;
    }
    text_clear(&c->string);
    for (;;) {
        size_t length = plain_length(c);
        const int byte = c->at + length < c->length ? c->text[c->at + length] : -1;
        if (byte >= 0x80) {
            const size_t extra = text_utf8_length(c->text + c->at + length, c->length - c->at - length);
            if (!extra)
                return fail_byte(c, c->at + length, "invalid UTF-8 in a string (byte 0x%02x)", (unsigned)byte);
            length += extra;
        }
        text_addn(&c->string, (const char *)c->text + c->at, length);
        c->at += length;
        if (byte < 0)
            return fail_byte(c, start, "this string is not closed");
        if (byte < 0x20)
            return fail_byte(c, c->at, "control character 0x%02x in a string (write it as \\u%04x)", (unsigned)byte,
                             (unsigned)byte);
        if (byte == '\\' && !read_escape(c))
            return false;
        if (byte == '"') {
            c->at++;
            c->read = c->string.data;
            c->read_length = c->string.length;
            return true;
        }
    }
}

void json_add_key(struct text *out, const struct json_node *node)
{
    const struct json_file *file = node->file;
    struct err ignored; /* the key was valid when it was read */
    struct json_reader c = {.text = (const unsigned char *)file->text, .length = file->length, .at = node->key_offset};
    c.file = file;
    c.err = &ignored;
    if (!node->value.string && read_string(&c))
        text_addn(out, c.read, c.read_length);
    if (node->value.string)
        text_add(out, node->value.string);
    text_release(&c.string);
}

/* ---- numbers and words ---- */

static size_t skip_digits(struct json_reader *c)
{
    const size_t start = c->at;
    while (json_is_digit(peek(c)))
        c->at++;
    return c->at - start;
}

static bool scan_number(struct json_reader *c)
{
    const size_t start = c->at;
    if (peek(c) == '-')
        c->at++;
    if (!json_is_digit(peek(c)))
        return expected(c, "a digit");
    if (peek(c) == '0') {
        c->at++;
        if (json_is_digit(peek(c)))
            return fail_byte(c, start, "a number must not start with a superfluous 0");
    } else {
        skip_digits(c);
    }
    if (peek(c) == '.') {
        c->at++;
        if (!skip_digits(c))
            return expected(c, "a digit after the decimal point");
    }
    if (peek(c) == 'e' || peek(c) == 'E') {
        c->at++;
        if (peek(c) == '+' || peek(c) == '-')
            c->at++;
        if (!skip_digits(c))
            return expected(c, "a digit of the exponent");
    }
    if (c->at - start > NUMBER_MAX)
        return fail_byte(c, start, "a number of more than %d characters", NUMBER_MAX);
    return true;
}

static bool scan_word(struct json_reader *c)
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
    return expected(c, "a value");
}

/* ---- values ---- */

static bool read_value(struct json_reader *c, struct json_node *node, unsigned depth);

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
    if (peek(c) != '"')
        return expected(c, "a key in double quotes");
    node->key_offset = (uint32_t)c->at;
    if (!read_string(c))
        return false;
    node->value.string = keep_string(c);
    skip_space(c);
    if (peek(c) != ':')
        return expected(c, "':'");
    c->at++;
    skip_space(c);
    return true;
}

/* Reads the elements of an array or the members of an object, from the opening bracket. */
static bool read_children(struct json_reader *c, struct json_node *node, unsigned depth)
{
    const bool object = cJSON_IsObject(&node->value);
    const char close = object ? '}' : ']';
    if (depth > JSON_MAX_DEPTH)
        return fail_byte(c, c->at, "nested deeper than %d levels", JSON_MAX_DEPTH);
    c->at++;
    skip_space(c);
    for (int byte = peek(c); byte != close;) {
        /* Lives in the tree, or only while it is read. */
        struct json_node passing, *child = c->arena ? arena_alloc(c->arena, sizeof(*child)) : &passing;
        *child = (struct json_node){.parent = node, .key_offset = JSON_NOWHERE, .index = node->count++};
        if ((object && !read_key(c, child)) || !read_value(c, child, depth))
            return false;
        if (c->arena)
            json_link(&node->value, &child->value);
        skip_space(c);
        byte = peek(c);
        if (byte != ',' && byte != close)
            return expected(c, object ? "',' or '}'" : "',' or ']'");
        if (byte == close)
            break;
        c->at++;
        skip_space(c);
        if (peek(c) == close)
            return fail_byte(c, c->at, "a comma before '%c'", close);
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
    const char first = (char)peek(c);
    switch (peek(c)) {
    case '{':
        value->type = cJSON_Object;
        return read_children(c, node, depth + 1);
    case '[':
        value->type = cJSON_Array;
        return read_array(c, node, depth + 1);
    case '"':
        value->type = cJSON_String;
        if (!read_string(c))
            return false;
        value->valuestring = keep_string(c);
        return true;
    case 't':
    case 'f':
    case 'n':
        value->type = first == 'n' ? cJSON_NULL : first == 't' ? cJSON_True : cJSON_False;
        return scan_word(c);
    default:
        value->type = cJSON_Number;
        if (peek(c) != '-' && !json_is_digit(peek(c)))
            return expected(c, "a value");
        if (!scan_number(c))
            return false;
        value->valuedouble = c->arena ? number_at(c->file->text + node->offset) : 0;
        return isfinite(value->valuedouble) || fail_byte(c, node->offset, "number is beyond the range of a double");
    }
}

/* `node` already has its parent, key and index. */
static bool read_value(struct json_reader *c, struct json_node *node, unsigned depth)
{
    if (c->arena && ++c->values > JSON_MAX_VALUES)
        return fail_byte(c, c->at, "more than %d values", JSON_MAX_VALUES);
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
    skip_space(c);
    bool good = has_mark             ? fail_byte(c, 0, "a byte order mark before the document")
                : c->at == c->length ? fail_byte(c, c->length, "the document is empty")
                                     : read_value(c, node, 0);
    skip_space(c);
    good = good && (c->at == c->length || expected(c, "the end of the document"));
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
        skip_space(c);
        struct json_node *node = arena_alloc(arena, sizeof(*node));
        *node = (struct json_node){.parent = c->list_node, .key_offset = JSON_NOWHERE, .index = d->index++};
        if (!read_value(c, node, 1))
            return ERR_CONFIG;
        *element = &node->value;
        skip_space(c);
        c->at++; /* skips the comma or the bracket */
    }
    return STATUS_OK;
}
