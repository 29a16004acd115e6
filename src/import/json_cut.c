/* SPDX-License-Identifier: MIT */
#include "json_cut.h"

#define MOST_DEPTH 64
#define PATH_BYTES 256

/* ---- one value in memory ---- */

/* Behind the quote that closes the string at `at`; NULL: there is none. */
static const char *string_end(const char *at, const char *end)
{
    for (const char *p = at + 1; p < end && p < at + 24; p++) /* most are short, and have no escapes */
        if (*p == '"')
            return p + 1;
        else if (*p == '\\')
            break;
    for (const char *p = at + 1; p < end;) {
        const char *quote = memchr(p, '"', (size_t)(end - p));
        if (!quote)
            return NULL;
        const char *slash = quote;
        while (slash > at + 1 && slash[-1] == '\\')
            slash--;
        if ((quote - slash) % 2 == 0)
            return quote + 1;
        p = quote + 1;
    }
    return NULL;
}

static bool is_delimiter(char byte)
{
    return byte == ',' || byte == '}' || byte == ']' || byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t' ||
           byte == ':';
}

static const char *cut_end(const char *at, const char *end)
{
    if (at < end && *at == '"')
        return string_end(at, end);
    if (at >= end || (*at != '{' && *at != '[')) {
        while (at < end && !is_delimiter(*at))
            at++;
        return at < end ? at : NULL;
    }
    static const signed char steps[256] = {['{'] = 1, ['['] = 1, ['}'] = -1, [']'] = -1, ['"'] = 2};
    ptrdiff_t depth = 0;
    for (const char *p = at; p < end; p++) {
        const signed char step = steps[(unsigned char)*p];
        if (!step)
            continue;
        if (step == 2) {
            p = string_end(p, end);
            if (!p)
                return NULL;
            p--;
            continue;
        }
        depth += step;
        if (depth == 0)
            return p + 1;
    }
    return NULL;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r' || *at == ','))
        at++;
    return at;
}

struct slice cut_inside(struct slice container)
{
    const bool open = container.length && (container.data[0] == '{' || container.data[0] == '[');
    return open ? (struct slice){container.data + 1, container.length - 1} : (struct slice){"", 0};
}

bool cut_element(struct slice *left, struct slice *value)
{
    const char *end = left->data + left->length, *at = skip_blanks(left->data, end);
    const char *behind = at < end && *at != ']' ? cut_end(at, end) : NULL;
    if (!behind || behind == at)
        return false;
    *value = (struct slice){at, (size_t)(behind - at)};
    *left = (struct slice){behind, (size_t)(end - behind)};
    return true;
}

bool cut_member(struct slice *left, struct slice *key, struct slice *value)
{
    const char *end = left->data + left->length, *at = skip_blanks(left->data, end);
    const char *behind = at < end && *at == '"' ? string_end(at, end) : NULL;
    if (!behind)
        return false;
    *key = (struct slice){at + 1, (size_t)(behind - at) - 2};
    at = skip_blanks(behind, end);
    if (at >= end || *at != ':')
        return false;
    at = skip_blanks(at + 1, end);
    behind = cut_end(at, end);
    if (!behind)
        return false;
    *value = (struct slice){at, (size_t)(behind - at)};
    *left = (struct slice){behind, (size_t)(end - behind)};
    return true;
}

bool slice_is(struct slice slice, const char *word)
{
    const size_t length = strlen(word);
    if (slice.length == length + 2 && slice.data[0] == '"')
        return memcmp(slice.data + 1, word, length) == 0;
    return slice.length == length && memcmp(slice.data, word, length) == 0;
}

/* Digits and a point: exact where all digits together are a number that a double holds, as are the powers of ten. */
static bool short_number(double *out, const char *at, const char *end)
{
    static const double tens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *point = NULL, *start = at;
    uint64_t digits = 0;
    for (; at < end && at < start + 17; at++)
        if (*at >= '0' && *at <= '9')
            digits = 10 * digits + (uint64_t)(*at - '0');
        else if (*at == '.' && !point && at > start)
            point = at;
        else
            break;
    if (at == start || digits >= 1ull << 53 || (at < end && *at != '"'))
        return false;
    *out = (double)digits / tens[point ? at - point - 1 : 0];
    return true;
}

double slice_number(struct slice slice, double otherwise)
{
    if (!slice.length)
        return otherwise;
    const char *at = slice.data + (slice.data[0] == '"');
    char *end = NULL;
    double number;
    if (short_number(&number, at, slice.data + slice.length))
        return number;
    number = strtod(at, &end); /* what follows a value in its text is never a part of a number */
    return end == at ? otherwise : number;
}

static void add_code(struct text *out, unsigned long code)
{
    if (code < 0x80)
        text_addf(out, "%c", (int)(code ? code : '?'));
    else if (code < 0x800)
        text_addf(out, "%c%c", (int)(0xc0 | code >> 6), (int)(0x80 | (code & 0x3f)));
    else if (code < 0xd800 || code > 0xdfff)
        text_addf(out, "%c%c%c", (int)(0xe0 | code >> 12), (int)(0x80 | (code >> 6 & 0x3f)),
                  (int)(0x80 | (code & 0x3f)));
    else
        text_add(out, "?");
}

const char *slice_text(struct slice slice, struct text *room)
{
    static const char plain[] = "bfnrt", meaning[] = "\b\f\n\r\t";
    const bool quoted = slice.length >= 2 && slice.data[0] == '"';
    text_clear(room);
    text_add(room, "");
    if (!slice.length)
        return room->data;
    const char *at = slice.data + quoted, *end = slice.data + slice.length - quoted;
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        text_addn(room, at, (size_t)((slash ? slash : end) - at));
        if (!slash || slash + 1 >= end)
            break;
        at = slash + 2;
        const char *known = strchr(plain, slash[1]);
        if (slash[1] == 'u' && end - at >= 4) {
            const char digits[5] = {at[0], at[1], at[2], at[3], 0};
            add_code(room, strtoul(digits, NULL, 16));
            at += 4;
        } else {
            text_addn(room, known && *known ? &meaning[known - plain] : slash + 1, 1);
        }
    }
    return room->data;
}

/* ---- a document ---- */

struct cutter {
    struct source *source;
    const struct cut_path *paths;
    size_t count;
    void *context;
    struct cut_damage *damage;
    char path[PATH_BYTES];
};

/* The next byte that is no blank, which is not taken; -1 at the end. */
static int peek(struct cutter *c)
{
    struct source *s = c->source;
    for (;;) {
        while (s->at < s->length && strchr(" \n\r\t", s->data[s->at]) && s->data[s->at])
            s->at++;
        if (s->at < s->length)
            return (unsigned char)s->data[s->at];
        if (!source_more(s))
            return -1;
    }
}

static void damaged(struct cutter *c)
{
    c->damage->cut = c->damage->cut || peek(c) < 0;
    if (!c->damage->cut && !c->damage->count++)
        c->damage->first = source_offset(c->source);
}

/* The value there, whole; data NULL: it does not end. */
static struct slice whole(struct cutter *c)
{
    struct source *s = c->source;
    for (;;) {
        const char *at = s->data + s->at, *end = cut_end(at, s->data + s->length);
        if (end)
            return (struct slice){at, (size_t)(end - at)};
        if (!source_more(s)) {
            const bool scalar = s->at < s->length && !strchr("\"{[", s->data[s->at]);
            return scalar ? (struct slice){s->data + s->at, s->length - s->at} : (struct slice){NULL, 0};
        }
    }
}

static void value(struct cutter *c, unsigned depth);

static void append(struct cutter *c, size_t length, const char *dot, const char *key, size_t key_length)
{
    const size_t dots = strlen(dot);
    if (length + dots + key_length + 3 >= PATH_BYTES) { /* such a path is nobody's */
        key = "?";
        key_length = 1;
        length = length + 8 < PATH_BYTES ? length : 0;
    }
    memcpy(c->path + length, dot, dots);
    memcpy(c->path + length + dots, key, key_length);
    c->path[length + dots + key_length] = '\0';
}

/* A key and its colon; the path gets the key. */
static bool member_key(struct cutter *c, size_t length)
{
    const struct slice key = whole(c);
    if (!key.data || key.length < 2 || key.data[0] != '"')
        return false;
    append(c, length, length ? "." : "", key.data + 1, key.length - 2);
    c->source->at += key.length;
    if (peek(c) != ':')
        return false;
    c->source->at++;
    peek(c);
    return true;
}

/* Members or elements, behind the opening bracket. */
static void children(struct cutter *c, char close, unsigned depth)
{
    const size_t length = strlen(c->path);
    for (int byte = peek(c); byte >= 0 && byte != close; byte = peek(c)) {
        const uint64_t before = source_offset(c->source);
        bool good = true;
        if (close == ']')
            append(c, length, "[]", "", 0);
        else
            good = member_key(c, length);
        if (good)
            value(c, depth);
        good = good && source_offset(c->source) > before;
        c->path[length] = '\0';
        const int next = peek(c);
        if (next == ',' && good) {
            c->source->at++;
        } else if (next != close || !good) {
            damaged(c);
            if (next < 0)
                return;
            c->source->at += source_offset(c->source) == before || strchr(",]}", next) ? 1 : 0;
        }
    }
    if (peek(c) < 0)
        damaged(c);
    c->source->at += peek(c) == close;
}

static int next_byte(struct source *s)
{
    return s->at < s->length || source_more(s) ? (unsigned char)s->data[s->at++] : -1;
}

/* A string, array or object that is too long to be held, or the rest of the file where it does not end. */
static void pass_over(struct source *s)
{
    ptrdiff_t depth = 0;
    bool quoted = false;
    for (int byte = next_byte(s); byte >= 0; byte = next_byte(s)) {
        if (quoted && byte == '\\')
            (void)next_byte(s);
        else if (byte == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (byte == '{' || byte == '[') - (byte == '}' || byte == ']');
        if (!quoted && depth <= 0)
            return;
    }
}

static void value(struct cutter *c, unsigned depth)
{
    const struct cut_path *path = FIND_ROW(c->paths, c->count, path, c->path);
    const int byte = peek(c);
    if (!path && (byte == '{' || byte == '[') && depth < MOST_DEPTH) {
        c->source->at++;
        children(c, byte == '{' ? '}' : ']', depth + 1);
        return;
    }
    const struct slice taken = whole(c);
    if (!taken.data) {
        c->damage->cut = c->damage->cut || c->source->ended;
        damaged(c);
        pass_over(c->source);
        return;
    }
    if (path && taken.length)
        path->take(c->context, taken, source_offset(c->source));
    c->source->at += taken.length;
}

void json_cut(struct source *source, const struct cut_path *paths, size_t count, void *context,
              struct cut_damage *damage)
{
    struct cutter cutter = {.source = source, .paths = paths, .count = count, .context = context, .damage = damage};
    *damage = (struct cut_damage){0};
    if (peek(&cutter) >= 0)
        value(&cutter, 0);
}
