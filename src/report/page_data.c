/* SPDX-License-Identifier: MIT */
#include "page_data.h"

#include <string.h>
#include <zlib.h>

#include "rooftile/arena.h"
#include "rooftile/hash.h"

static void add_base64(struct text *out, const unsigned char *data, size_t length)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < length; k += 3) {
        const unsigned second = k + 1 < length ? data[k + 1] : 0, third = k + 2 < length ? data[k + 2] : 0;
        const unsigned all = (unsigned)data[k] << 16 | second << 8 | third;
        const char four[4] = {letters[all >> 18], letters[all >> 12 & 63],
                              k + 1 < length ? letters[all >> 6 & 63] : '=', k + 2 < length ? letters[all & 63] : '='};
        text_addn(out, four, sizeof(four));
    }
}

void text_add_letters(struct text *out, const unsigned char *data, size_t length)
{
    /* What neither ends a string nor begins a tag or an entity. */
    static const char letters[] = "!#$%'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQR"
                                  "STUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    unsigned bits = 0, count = 0;
    for (size_t k = 0; k < length || count; k++) {
        bits |= k < length ? (unsigned)data[k] << count : 0;
        count += k < length ? 8 : 0;
        if (count < 13 && k < length)
            continue;
        const char two[] = {letters[bits % 8192 % 91], letters[bits % 8192 / 91]};
        text_addn(out, two, count > 6 ? 2 : 1);
        bits >>= 13;
        count -= count < 13 ? count : 13;
    }
}

/* ---- columns ---- */

struct column {
    const char *key;
    size_t length;
    struct text values;
};

/* The one of a key, most often that behind the last one. */
static size_t column_of(struct column **columns, size_t *count, size_t last, const char *key, size_t length,
                        struct arena *arena)
{
    for (size_t k = 0; k < *count; k++) {
        const size_t at = (last + 1 + k) % *count;
        if ((*columns)[at].length == length && !memcmp((*columns)[at].key, key, length))
            return at;
    }
    ARENA_PUSH(arena, *columns, *count, (struct column){.key = key, .length = length});
    return *count - 1;
}

static size_t string_length(const char *string)
{
    size_t k = 1;
    while (string[k] && string[k] != '"')
        k += string[k] == '\\' && string[k + 1] ? 2 : 1;
    return k + (string[k] == '"');
}

void text_add_columns(struct text *out, const char *json)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct column *columns = NULL;
    size_t count = 0, at = 0;
    while (*json) {
        const size_t length = *json == '"' ? string_length(json) : strcspn(json, "{}[],: \n");
        if (*json == '"' && json[length] == ':')
            at = column_of(&columns, &count, at, json, length, &arena);
        const bool value = length && json[length] != ':' && count;
        if (value && *json != '"' && length > 10 && memchr(json, '.', length))
            text_addf(&columns[at].values, "%.9g\n", strtod(json, NULL));
        else if (value)
            text_addf(&columns[at].values, "%.*s\n", (int)length, json);
        text_addn(out, value ? "#" : json, value || !length ? 1 : length);
        json += length ? length : 1;
    }
    for (size_t k = 0; k < count; k++) {
        text_addf(out, "\f%s", columns[k].values.length ? columns[k].values.data : "");
        text_release(&columns[k].values);
    }
}

/* ---- compressed ---- */

enum { GZIP = 16 + MAX_WBITS, MEMORY = MAX_MEM_LEVEL };

void text_add_packed(struct text *out, const char *data, size_t length)
{
    struct arena arena = {0};
    z_stream stream = {0};
    /* Neither fails but for want of memory, with which the program ends. The header has no time: the same data, the
     * same bytes. */
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK) {
        const uLong room = deflateBound(&stream, (uLong)length);
        unsigned char *packed = arena_alloc(&arena, room);
        stream.next_in = (z_const Bytef *)data;
        stream.avail_in = (uInt)length;
        stream.next_out = packed;
        stream.avail_out = (uInt)room;
        if (deflate(&stream, Z_FINISH) == Z_STREAM_END)
            text_add_letters(out, packed, stream.total_out);
        deflateEnd(&stream);
    }
    arena_release(&arena);
}

static unsigned nibble(char digit)
{
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

void text_add_script_hash(struct text *out, const char *script)
{
    char hex[HASH_TEXT];
    unsigned char digest[32];
    hash_sha256(hex, script, strlen(script));
    for (size_t k = 0; k < sizeof(digest); k++)
        digest[k] = (unsigned char)(nibble(hex[2 * k]) << 4 | nibble(hex[2 * k + 1]));
    text_add(out, "'sha256-");
    add_base64(out, digest, sizeof(digest));
    text_add(out, "'");
}
