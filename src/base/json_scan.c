/* SPDX-License-Identifier: MIT
 *
 * Strings, numbers and words of JSON, and the messages about unexpected bytes.
 */

#include "json_internal.h"

/* A double needs at most 24 characters; a longer number is a mistake or an attack. */
#define NUMBER_MAX 63

bool json_fail_byte(struct json_reader *c, size_t offset, const char *format, ...)
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

bool json_expected(struct json_reader *c, const char *what)
{
    const int byte = json_peek(c);
    if (byte < 0)
        return json_fail_byte(c, c->at, "the document ends where %s is expected", what);
    size_t word = 0;
    while (word < 16 && c->at + word < c->length && is_letter(c->text[c->at + word]))
        word++;
    if (byte == '/')
        return json_fail_byte(c, c->at,
                              "expected %s, found '/' (JSON has no comments; a key that starts with // is one)", what);
    if (word)
        return json_fail_byte(c, c->at, "expected %s, found '%.*s'", what, (int)word, (const char *)c->text + c->at);
    if (byte > ' ' && byte < 0x7f)
        return json_fail_byte(c, c->at, "expected %s, found '%c'", what, byte);
    return json_fail_byte(c, c->at, "expected %s, found byte 0x%02x", what, (unsigned)byte);
}

void json_skip_space(struct json_reader *c)
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
        return json_fail_byte(c, c->length, "the document ends inside a string");
    c->at += 2;
    const char *known = byte ? strchr(plain, byte) : NULL;
    if (known)
        text_addn(&c->string, &meaning[known - plain], 1);
    if (byte != 'u')
        return known || json_fail_byte(c, start, "unknown escape sequence in a string");
    const long unit = hex4(c, c->at);
    if (unit < 0)
        return json_fail_byte(c, start, "\\u needs four hexadecimal digits");
    c->at += 4;
    if (unit == 0)
        return json_fail_byte(c, start, "\\u0000 is not allowed in a string");
    if (unit < 0xd800 || unit > 0xdfff) {
        add_utf8(&c->string, (unsigned)unit);
        return true;
    }
    const bool pair = unit < 0xdc00 && c->at + 1 < c->length && c->text[c->at] == '\\' && c->text[c->at + 1] == 'u';
    const long low = pair ? hex4(c, c->at + 2) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return json_fail_byte(c, start, "\\u%04x is half of a surrogate pair", (unsigned)unit);
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
bool json_read_string(struct json_reader *c)
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
                return json_fail_byte(c, c->at + length, "invalid UTF-8 in a string (byte 0x%02x)", (unsigned)byte);
            length += extra;
        }
        text_addn(&c->string, (const char *)c->text + c->at, length);
        c->at += length;
        if (byte < 0)
            return json_fail_byte(c, start, "this string is not closed");
        if (byte < 0x20)
            return json_fail_byte(c, c->at, "control character 0x%02x in a string (write it as \\u%04x)",
                                  (unsigned)byte, (unsigned)byte);
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
    if (!node->value.string && json_read_string(&c))
        text_addn(out, c.read, c.read_length);
    if (node->value.string)
        text_add(out, node->value.string);
    text_release(&c.string);
}

/* ---- numbers and words ---- */

static size_t skip_digits(struct json_reader *c)
{
    const size_t start = c->at;
    while (json_is_digit(json_peek(c)))
        c->at++;
    return c->at - start;
}

bool json_scan_number(struct json_reader *c)
{
    const size_t start = c->at;
    if (json_peek(c) == '-')
        c->at++;
    if (!json_is_digit(json_peek(c)))
        return json_expected(c, "a digit");
    if (json_peek(c) == '0') {
        c->at++;
        if (json_is_digit(json_peek(c)))
            return json_fail_byte(c, start, "a number must not start with a superfluous 0");
    } else {
        skip_digits(c);
    }
    if (json_peek(c) == '.') {
        c->at++;
        if (!skip_digits(c))
            return json_expected(c, "a digit after the decimal point");
    }
    if (json_peek(c) == 'e' || json_peek(c) == 'E') {
        c->at++;
        if (json_peek(c) == '+' || json_peek(c) == '-')
            c->at++;
        if (!skip_digits(c))
            return json_expected(c, "a digit of the exponent");
    }
    if (c->at - start > NUMBER_MAX)
        return json_fail_byte(c, start, "a number of more than %d characters", NUMBER_MAX);
    return true;
}

bool json_scan_word(struct json_reader *c)
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
    return json_expected(c, "a value");
}
