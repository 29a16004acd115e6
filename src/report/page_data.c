/* SPDX-License-Identifier: MIT */
#include "page_data.h"

#include <stdlib.h>
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

void text_add_rounded(struct text *out, const char *json)
{
    while (*json) {
        size_t length = strcspn(json, "\"-0123456789");
        text_addn(out, json, length);
        json += length;
        if (*json == '"') {
            for (length = 1; json[length] && json[length] != '"'; length++)
                length += json[length] == '\\';
            length += json[length] == '"';
        } else {
            length = strspn(json, "+-.0123456789eE");
        }
        if (*json != '"' && memchr(json, '.', length))
            text_addf(out, "%.9g", strtod(json, NULL));
        else
            text_addn(out, json, length);
        json += length;
    }
}

/* ---- compressed ---- */

enum { GZIP = 16 + MAX_WBITS, MEMORY = MAX_MEM_LEVEL };

void text_add_packed(struct text *out, const char *data, size_t length)
{
    SCOPED(arena_release) struct arena arena = {0};
    z_stream stream = {0};
    /* Both calls fail only if memory runs out, which ends the program. The header has no time, so that the same data
     * give the same bytes. */
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK) {
        const uLong room = deflateBound(&stream, (uLong)length);
        unsigned char *packed = arena_alloc(&arena, room);
        stream.next_in = (z_const Bytef *)data;
        stream.avail_in = (uInt)length;
        stream.next_out = packed;
        stream.avail_out = (uInt)room;
        if (deflate(&stream, Z_FINISH) == Z_STREAM_END)
            add_base64(out, packed, stream.total_out);
        deflateEnd(&stream);
    }
}

void text_add_script_hash(struct text *out, const char *script)
{
    char hex[HASH_TEXT];
    unsigned char digest[32];
    hash_sha256(hex, script, strlen(script));
    for (size_t k = 0; k < sizeof(digest); k++)
        digest[k] = (unsigned char)strtoul((const char[]){hex[2 * k], hex[2 * k + 1], '\0'}, NULL, 16);
    text_add(out, "'sha256-");
    add_base64(out, digest, sizeof(digest));
    text_add(out, "'");
}
