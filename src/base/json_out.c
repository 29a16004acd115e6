/* SPDX-License-Identifier: MIT
 *
 * The document is written while it is built, so it uses no more memory than its text. Control characters in strings are
 * escaped, so a raw line feed or tab is layout: two tabs per level, one after a colon or a comma. json_out_finish turns
 * them into blanks, or removes them.
 */
#include <assert.h>

#include "json_internal.h"
#include "rooftile/json.h"
#include "rooftile/units.h"

struct json_out {
    struct text text;
    struct level {
        bool array, some; /* `some`: it has a member */
    } levels[JSON_MAX_DEPTH];
    size_t depth; /* of the innermost open level; [0] is the top level */
};

static void open_level(struct json_out *out, size_t depth, bool array)
{
    assert(depth < JSON_MAX_DEPTH);
    out->depth = depth;
    out->levels[depth] = (struct level){.array = array};
    text_addn(&out->text, array ? "[" : "{", 1);
}

static void new_line(struct json_out *out, size_t depth)
{
    text_addn(&out->text, "\n", 1);
    text_pad(&out->text, 2 * depth, '\t');
}

static void close_level(struct json_out *out)
{
    const struct level *level = &out->levels[out->depth];
    if (!level->array && level->some)
        new_line(out, out->depth);
    text_addn(&out->text, level->array ? "]" : "}", 1);
}

static struct json_out *new_out(bool array)
{
    struct json_out *out = new_zeroed(1, sizeof(*out));
    open_level(out, 0, array);
    return out;
}

struct json_out *json_out_new(void)
{
    return new_out(false);
}

struct json_out *json_out_new_array(void)
{
    return new_out(true);
}

/* ---- values ---- */

/* Appends the escape for a byte below a blank, or for a byte that a page or a terminal would interpret. */
static void add_escape(struct text *text, unsigned char byte)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = byte ? strchr(plain, byte) : NULL;
    if (found)
        text_addn(text, (const char[]){'\\', letters[found - plain]}, 2);
    else
        text_addf(text, "\\u%04x", (unsigned)byte);
}

/* Returns the number of bytes at `p` that only a page or a terminal would interpret; the last of them is escaped. */
static size_t obeyed(const char *p)
{
    if (*p == '<' || *p == 0x7f)
        return 1;
    return *p == '\xc2' && (unsigned char)p[1] >= 0x80 && (unsigned char)p[1] < 0xa0 ? 2 : 0;
}

/* Text from a compiler or a file name may be malformed UTF-8; each bad byte becomes U+FFFD. */
static void add_quoted(struct text *text, const char *string)
{
    size_t left = strlen(string), taken;
    text_addn(text, "\"", 1);
    for (const char *p = string; left; p += taken, left -= taken) {
        for (taken = 0; taken < left && (unsigned char)p[taken] - 0x20u < 0x5f && !strchr("<\"\\", p[taken]);)
            taken++;
        text_addn(text, p, taken);
        if (taken)
            continue;
        taken = text_utf8_length((const unsigned char *)p, left);
        if (obeyed(p) || taken == 1)
            add_escape(text, (unsigned char)p[taken - 1]);
        else
            text_addn(text, taken ? p : "\xef\xbf\xbd", taken ? taken : 3);
        taken += !taken;
    }
    text_addn(text, "\"", 1);
}

/* Writes what precedes a value: the comma, the line and its key. */
static struct text *begin(struct json_out *out, const char *key)
{
    struct level *level = &out->levels[out->depth];
    assert(level->array == !key);
    if (level->some)
        text_addn(&out->text, ",\t", key ? 1 : 2);
    level->some = true;
    if (!key)
        return &out->text;
    new_line(out, out->depth + 1);
    add_quoted(&out->text, key);
    text_addn(&out->text, ":\t", 2);
    return &out->text;
}

void json_out_string(struct json_out *out, const char *key, const char *value)
{
    if (value)
        add_quoted(begin(out, key), value);
    else
        json_out_null(out, key);
}

void json_out_number(struct json_out *out, const char *key, double value)
{
    char digits[UNITS_DIGITS];
    text_add(begin(out, key), isfinite(value) ? units_digits(digits, value) : "null");
}

void json_out_u64(struct json_out *out, const char *key, uint64_t value)
{
    text_addf(begin(out, key), "%llu", (unsigned long long)value);
}

/* Removes the layout of `json`; bytes that need escapes occur in strings only. */
void json_out_raw(struct json_out *out, const char *key, const char *json)
{
    struct text *text = begin(out, key);
    for (const char *p = json; *p;) {
        const size_t plain = strcspn(p, "\n\r\t<\x7f\xc2"), escaped = obeyed(p + plain);
        text_addn(text, p, plain);
        p += plain;
        if (escaped)
            add_escape(text, (unsigned char)p[escaped - 1]);
        else if (*p == '\xc2')
            text_addn(text, p, 1);
        p += escaped ? escaped : *p != '\0';
    }
}

void json_out_bool(struct json_out *out, const char *key, bool value)
{
    text_add(begin(out, key), value ? "true" : "false");
}

void json_out_null(struct json_out *out, const char *key)
{
    text_add(begin(out, key), "null");
}

void json_out_object(struct json_out *out, const char *key)
{
    begin(out, key);
    open_level(out, out->depth + 1, false);
}

void json_out_array(struct json_out *out, const char *key)
{
    begin(out, key);
    open_level(out, out->depth + 1, true);
}

void json_out_end(struct json_out *out)
{
    assert(out->depth);
    close_level(out);
    out->depth--;
}

void json_out_numbers(struct json_out *out, const char *key, const double *values, size_t count)
{
    json_out_array(out, key);
    for (size_t k = 0; k < count; k++)
        json_out_number(out, NULL, values[k]);
    json_out_end(out);
}

void json_out_strings(struct json_out *out, const char *key, const char *const *values, size_t count)
{
    json_out_array(out, key);
    for (size_t k = 0; k < count; k++)
        json_out_string(out, NULL, values[k]);
    json_out_end(out);
}

/* ---- the end ---- */

void json_out_finish(struct json_out *out, struct text *text, bool pretty)
{
    assert(!out->depth);
    close_level(out);
    /* Works in place, because nothing becomes longer. */
    char *to = out->text.data;
    for (const char *from = out->text.data; *from; from++) {
        const bool layout = *from == '\n' || *from == '\t';
        if (!layout || pretty)
            *to++ = *from == '\t' ? ' ' : *from;
    }
    *to = '\0';
    out->text.length = (size_t)(to - out->text.data);
    if (text->length) {
        text_addn(text, out->text.data, out->text.length);
    } else { /* avoids copying a large document */
        const struct text empty = *text;
        *text = out->text;
        out->text = empty;
    }
    text_release(&out->text);
    free(out);
}
