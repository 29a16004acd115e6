/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <unistd.h>
#include <zlib.h>

#include "rooftile/file.h"

#define CHUNK (1u << 20)

enum status source_open(struct source *source, const char *path, struct err *err)
{
    *source = (struct source){.path = path};
    if (file_is_dir(path))
        return err_set(err, ERR_CONFIG, "%s is a folder", path);
    const int input = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : -1;
    gzFile gz = input >= 0 ? gzdopen(input, "rb") : gzopen(path, "rb");
    if (!gz)
        return err_set(err, ERR_CONFIG, "%s: %s", path, errno ? strerror(errno) : "cannot be opened");
    gzbuffer(gz, CHUNK / 4);
    source->gz = gz;
    source_more(source);
    source->compressed = !gzdirect(gz);
    const char *mark = source->data ? source->data : "";
    const bool zeros = source->length > 3 && !mark[0] != !mark[1] && !mark[2] != !mark[3]; /* of ASCII in 16 bits */
    if (text_starts(mark, "\xff\xfe") || text_starts(mark, "\xfe\xff") || zeros) {
        source_close(source);
        return err_set(err, ERR_CONFIG, "%s is text in UTF-16: iconv -f UTF-16 -t UTF-8 makes it readable", path);
    }
    source->at = text_starts(mark, "\xef\xbb\xbf") ? 3 : 0;
    return STATUS_OK;
}

void source_close(struct source *source)
{
    if (source->gz)
        gzclose_r(source->gz);
    free(source->data);
    *source = (struct source){0};
}

static void make_room(struct source *source)
{
    if (source->at) {
        memmove(source->data, source->data + source->at, source->length - source->at);
        source->before += source->at;
        source->length -= source->at;
        source->at = 0;
    }
    if (source->length + CHUNK / 2 < source->room)
        return;
    source->room = source->room ? 2 * source->room : CHUNK;
    char *grown = realloc(source->data, source->room + 1);
    if (!grown)
        arena_out_of_memory(source->room);
    source->data = grown;
}

bool source_more(struct source *source)
{
    if (source->ended || source->length - source->at >= SOURCE_MOST_BYTES)
        return false;
    make_room(source);
    const int got = gzread(source->gz, source->data + source->length, (unsigned)(source->room - source->length));
    int trouble = Z_OK;
    if (got <= 0) {
        gzerror(source->gz, &trouble);
        source->ended = true;
        source->damaged = trouble != Z_OK;
    }
    source->length += got > 0 ? (size_t)got : 0;
    source->data[source->length] = '\0';
    return got > 0;
}

char *source_line(struct source *source, size_t *length)
{
    char *end = NULL;
    size_t seen = 0;
    for (;;) {
        char *start = source->data + source->at;
        end = memchr(start + seen, '\n', source->length - source->at - seen);
        seen = source->length - source->at;
        if (end || !source_more(source))
            break;
    }
    char *line = source->data + source->at;
    if (!end && !seen)
        return NULL;
    *length = end ? (size_t)(end - line) : seen;
    source->at += *length + (end ? 1 : 0);
    if (*length && line[*length - 1] == '\r')
        --*length;
    line[*length] = '\0';
    for (char *zero = line; (zero = memchr(zero, '\0', (size_t)(line + *length - zero)));)
        *zero = ' ';
    source->line++;
    return line;
}
