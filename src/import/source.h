/* SPDX-License-Identifier: MIT
 *
 * A file as a stream of bytes, gzip or not, of which a window lies in memory. The window grows only as far as one line
 * or one JSON value needs.
 */
#ifndef ROOFTILE_IMPORT_SOURCE_H
#define ROOFTILE_IMPORT_SOURCE_H

#include "rooftile/base.h"

/* A longer line or JSON value is passed over. */
#define SOURCE_MOST_BYTES (64u << 20)

struct source {
    const char *path;
    void *gz;
    char *data; /* the window: `length` bytes, terminated */
    size_t at;  /* the next byte that was not taken */
    size_t length, room;
    uint64_t before;     /* bytes of the stream before the window */
    uint64_t line;       /* number of the line that was taken last; 0: none was */
    bool ended, damaged; /* damaged: the file ends too early, or its compression is broken */
    bool compressed;
};

/* "-" is standard input; a mark of UTF-8 at the beginning is passed over. ERR_CONFIG: it cannot be opened, is a folder,
 * or in UTF-16. */
enum status source_open(struct source *source, const char *path, struct err *err);
void source_close(struct source *source);

/* Reads more bytes to the end of the window, and drops those before `at`; false: there are none, or the window has
 * SOURCE_MOST_BYTES. */
bool source_more(struct source *source);

static inline uint64_t source_offset(const struct source *source)
{
    return source->before + source->at;
}

/* The next line, terminated by a 0, with blanks for other zeros; NULL after the last one. A line longer than a window
 * is split. */
char *source_line(struct source *source, size_t *length);

#endif
