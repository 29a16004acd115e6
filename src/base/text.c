/* SPDX-License-Identifier: MIT */

#include <fnmatch.h>
#include <locale.h>

#include "rooftile/base.h"

/* Few formatted pieces are longer; those are formatted twice. */
#define USUAL_LENGTH 63

void text_release(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

void text_clear(struct text *text)
{
    text->length = 0;
    if (text->data)
        text->data[0] = '\0';
}

char *text_take(struct text *text, struct arena *arena)
{
    char *kept = arena_strdup(arena, text->data ? text->data : "");
    text_release(text);
    return kept;
}

/* Makes room for `extra` more bytes and the terminator. */
static void reserve(struct text *text, size_t extra)
{
    if (extra > SIZE_MAX / 4 - text->length)
        arena_out_of_memory(extra);
    const size_t needed = text->length + extra + 1;
    if (needed <= text->capacity)
        return;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data)
        arena_out_of_memory(capacity);
    text->data = data;
    text->capacity = capacity;
}

void text_addn(struct text *text, const char *bytes, size_t length)
{
    reserve(text, length);
    if (length)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_addn(text, string, strlen(string));
}

void text_vaddf(struct text *text, const char *format, va_list args)
{
    /* A host program's locale must not turn "0.5" into "0,5"; glibc's "C" locale object is static and costs nothing. */
    const locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    va_list again;
    va_copy(again, args);
    reserve(text, USUAL_LENGTH);
    const int length = vsnprintf(text->data + text->length, USUAL_LENGTH + 1, format, args);
    if (length < 0)
        arena_out_of_memory(SIZE_MAX); /* glibc fails here only if out of memory or beyond INT_MAX characters */
    if (length > USUAL_LENGTH) {
        reserve(text, (size_t)length);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    }
    text->length += (size_t)length;
    va_end(again);
    uselocale(before);
}

void text_addf(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vaddf(text, format, args);
    va_end(args);
}

void text_pad(struct text *text, size_t count, char filler)
{
    reserve(text, count);
    memset(text->data + text->length, filler, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void text_append(char *to, size_t size, const char *between, const char *format, ...)
{
    const size_t used = strlen(to), begin = used ? used + strlen(between) : 0;
    va_list args;
    if (begin >= size)
        return;
    memcpy(to + used, between, begin - used);
    va_start(args, format);
    vsnprintf(to + begin, size - begin, format, args);
    va_end(args);
}

char *text_lower(const char *string, struct arena *arena)
{
    char *copy = arena_strdup(arena, string);
    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

long text_env(const char *name, long least, long most, long otherwise)
{
    const char *text = getenv(name);
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : otherwise;
    return end && (end == text || *end || value < least || value > most) ? otherwise : value;
}

size_t text_word(const char *string)
{
    return strspn(string, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

bool text_starts(const char *string, const char *prefix)
{
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *string, const char *suffix)
{
    const size_t length = strlen(string);
    const size_t tail = strlen(suffix);
    return length >= tail && memcmp(string + length - tail, suffix, tail) == 0;
}

/* Code points that combine with the previous one: Unicode's combining blocks, joiners and variation selectors. */
static bool is_combining(uint32_t point)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x0300, 0x036F}, {0x0483, 0x0489}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
        {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    return false;
}

/* Returns the code point at *at and moves past it. A byte that starts no complete character is returned as is. */
static uint32_t next_point(const unsigned char **at)
{
    const unsigned char *byte = (*at)++;
    const unsigned extra = *byte >= 0xF0 ? 3 : *byte >= 0xE0 ? 2 : *byte >= 0xC0 ? 1 : 0;
    if (!extra)
        return *byte;
    uint32_t point = *byte & (0x3Fu >> extra);
    for (unsigned i = 1; i <= extra; i++) {
        if ((byte[i] & 0xC0u) != 0x80u)
            return *byte;
        point = point << 6 | (byte[i] & 0x3Fu);
    }
    *at = byte + extra + 1;
    return point;
}

size_t text_utf8_length(const unsigned char *bytes, size_t left)
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

size_t text_columns(const char *utf8)
{
    size_t columns = 0;
    const unsigned char *at = (const unsigned char *)utf8;
    while (*at)
        columns += !is_combining(next_point(&at));
    return columns;
}

const char *text_listed(struct arena *arena, const char *const *items, size_t count, size_t most)
{
    const char *line = "";
    for (size_t k = 0; k < count && k < most; k++)
        line = arena_printf(arena, "%s%s%s", line, k ? ", " : "", items[k]);
    return count > most ? arena_printf(arena, "%s and %zu more", line, count - most) : line;
}

const char *text_cut(struct arena *arena, const char *utf8, size_t columns, const char *gap)
{
    const size_t all = text_columns(utf8), ends = columns - text_columns(gap), begin = (ends + 1) / 2;
    const unsigned char *at = (const unsigned char *)utf8;
    const char *head = NULL, *tail = NULL;
    if (all <= columns)
        return utf8;
    for (size_t column = 0; !tail;) {
        const char *here = (const char *)at;
        if (is_combining(next_point(&at)))
            continue;
        head = column == begin ? here : head;
        tail = column++ == all - (ends - begin) ? here : NULL;
    }
    return arena_printf(arena, "%.*s%s%s", (int)(head - utf8), utf8, gap, tail);
}

bool text_has_word(const char *list, const char *separators, const char *word, size_t length)
{
    for (list += strspn(list, separators); *list; list += strspn(list, separators)) {
        const size_t here = strcspn(list, separators);
        if (here == length && memcmp(list, word, length) == 0)
            return true;
        list += here;
    }
    return false;
}

int text_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool text_among(const char *word, const char *const *words, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!strcmp(words[k], word))
            return true;
    return false;
}

void *text_find_row(const void *rows, size_t count, size_t size, size_t offset, bool points, const char *text)
{
    for (size_t k = 0; k < count; k++) {
        const char *row = (const char *)rows + k * size, *member = row + offset;
        if (!strcmp(points ? *(const char *const *)(const void *)member : member, text))
            return (void *)(uintptr_t)row;
    }
    return NULL;
}

bool text_matches(const char *string, const char *glob)
{
    const locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    const bool matches = fnmatch(glob, string, 0) == 0;
    uselocale(before);
    return matches;
}

bool text_filtered(const char *const *filters, size_t count, const char *id, const char *name)
{
    return text_filtered_any(filters, count, (const char *const[]){id, name}, 2);
}

bool text_filtered_any(const char *const *filters, size_t count, const char *const *texts, size_t text_count)
{
    bool wanted = true;
    for (size_t k = 0; k < count && wanted; k++)
        wanted = filters[k][0] == '!'; /* only exclusions: everything else is included */
    for (size_t k = 0; k < count; k++) {
        const bool excludes = filters[k][0] == '!';
        const char *glob = filters[k] + excludes;
        bool matches = false;
        for (size_t j = 0; j < text_count && !matches; j++)
            matches = texts[j] && text_matches(texts[j], glob);
        if (!matches)
            continue;
        if (excludes)
            return false;
        wanted = true;
    }
    return wanted;
}

/* ---- escaping ---- */

enum control { CONTROL_KEEP, CONTROL_MARK, CONTROL_BLANK, CONTROL_HEX };

static const struct escaper {
    enum control control; /* control characters without a row */
    char quote;           /* encloses the whole text if it contains one of `quoted`; 0: never */
    const char *quoted;
    const char *rows[32]; /* texts, each followed by its replacement */
} escapers[] = {
    [ESCAPE_XML] = {CONTROL_MARK,
                    0,
                    NULL, /* the last two are U+FFFE and U+FFFF */
                    {"&", "&amp;", "<", "&lt;", ">", "&gt;", "\"", "&quot;", "\n", "&#10;", "\t", "\t", "\xef\xbf\xbe",
                     "?", "\xef\xbf\xbf", "?"}},
    [ESCAPE_MARKDOWN] = {CONTROL_BLANK, 0, NULL, {"&", "&amp;", "|", "\\|", "\\", "\\\\", "`", "\\`", "*", "\\*",
                                                  "_", "\\_",   "{", "\\{", "}",  "\\}",  "[", "\\[", "]", "\\]",
                                                  "<", "\\<",   ">", "\\>", "#",  "\\#",  "~", "\\~"}},
    [ESCAPE_CSV] = {CONTROL_MARK, '"', ",\"\r\n", {"\"", "\"\"", "\n", "\n", "\r", "\r", "\t", "\t"}},
    [ESCAPE_PRINTABLE] = {CONTROL_MARK, 0, NULL, {"\n", " ", "\t", " "}},
    [ESCAPE_LINES] = {CONTROL_MARK, 0, NULL, {"\n", "\n", "\t", "\t"}},
    [ESCAPE_JSON] = {CONTROL_HEX, 0, NULL, {NULL}},
    [ESCAPE_C] = {CONTROL_MARK, 0, NULL, {"\\", "\\\\", "\"", "\\\"", "\n", "\\n", "\t", "\t"}},
    [ESCAPE_SHELL] = {CONTROL_KEEP, '\'', " \t\r\n!\"#$&'()*;<>?[\\]^`{|}~", {"'", "'\\''"}},
    [ESCAPE_ROFF] = {CONTROL_KEEP,
                     0,
                     NULL,
                     {"\\", "\\e", "-", "\\-", "'", "\\(aq", "`", "\\(ga", "~", "\\(ti", "^", "\\(ha"}},
};

/* Returns the replacement for the text at `at`, or NULL if there is none; *length is the number of bytes replaced. */
static const char *replacement(const struct escaper *escaper, const char *at, size_t *length)
{
    const char *const *row = escaper->rows;
    for (size_t k = 0; k < COUNT_OF(escaper->rows) && row[k]; k += 2) {
        if (*at != *row[k] || !text_starts(at, row[k]))
            continue;
        *length = strlen(row[k]);
        return row[k + 1];
    }
    return NULL;
}

/* Returns the length in bytes of the control character at `at`, 0 if there is none. U+0080 to U+009F are a terminal's
 * second set. */
static size_t control_length(const char *at)
{
    const unsigned char first = (unsigned char)at[0], second = (unsigned char)at[1];
    if (first == 0xc2)
        return second >= 0x80 && second < 0xa0 ? 2 : 0;
    return first < 0x20 || first == 0x7f;
}

/* Returns the length of a character that changes the text direction (U+202A to U+202E, U+2066 to U+2069). */
static size_t turning_length(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    const bool turns = byte[0] == 0xe2 && ((byte[1] == 0x80 && byte[2] >= 0xaa && byte[2] <= 0xae) ||
                                           (byte[1] == 0x81 && byte[2] >= 0xa6 && byte[2] <= 0xa9));
    return turns ? 3 : 0;
}

void text_add_escaped(struct text *text, enum escape escape, const char *string)
{
    const struct escaper *escaper = &escapers[escape];
    string = string ? string : "";
    const bool empty_word = !*string && escape == ESCAPE_SHELL;
    const bool quotes = escaper->quote && (empty_word || strpbrk(string, escaper->quoted));
    text_pad(text, quotes, escaper->quote);
    if (escape == ESCAPE_CSV && *string && strchr("=+-@\t\r", *string)) {
        char *end;
        strtod(string, &end);
        text_add(text, *end ? "'" : ""); /* a spreadsheet evaluates such text unless it is a number */
    }
    for (size_t length; *string; string += length) {
        const char *to = replacement(escaper, string, &length);
        if (to) {
            text_add(text, to);
        } else if ((length = control_length(string)) ||
                   (escaper->control == CONTROL_MARK && (length = turning_length(string)))) {
            if (escaper->control == CONTROL_KEEP)
                text_addn(text, string, length);
            else if (escaper->control == CONTROL_HEX)
                text_addf(text, "\\u%04x", (unsigned)(unsigned char)string[length - 1]);
            else
                text_add(text, escaper->control == CONTROL_BLANK ? " " : "?");
        } else {
            length = 1;
            text_addn(text, string, 1);
        }
    }
    text_pad(text, quotes, escaper->quote);
}

void text_add_wrapped(struct text *text, const char *prose, size_t at, size_t indent, size_t columns)
{
    bool begun = at > indent; /* the line is not empty */
    for (const char *p = prose + strspn(prose, " "); *p;) {
        const size_t length = strcspn(p, " ");
        struct text word = {0};
        text_addn(&word, p, length);
        const size_t width = text_columns(word.data);
        text_release(&word);
        if (begun && at + 1 + width > columns) {
            text_add(text, "\n");
            text_pad(text, indent, ' ');
            at = indent;
        } else if (begun) {
            text_add(text, " ");
            at++;
        }
        text_addn(text, p, length);
        at += width;
        begun = true;
        p += length + strspn(p + length, " ");
    }
}
