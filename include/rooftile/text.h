/* SPDX-License-Identifier: MIT
 *
 * Text: a growing string, and the few string helpers that C lacks. Independent of the locale.
 */
#ifndef ROOFTILE_TEXT_H
#define ROOFTILE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena; /* arena.h */

/* A zeroed struct text is the empty string; `data` is NULL until something is added, and then always terminated. */
struct text {
    char *data;
    size_t length;
    size_t capacity;
};

void text_release(struct text *text);
void text_clear(struct text *text); /* keeps the memory */
/* Moves the text into the arena; `text` is empty afterwards and its memory is freed. Never NULL. */
char *text_take(struct text *text, struct arena *arena);
void text_add(struct text *text, const char *string);
void text_addn(struct text *text, const char *bytes, size_t length);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vaddf(struct text *text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void text_pad(struct text *text, size_t count, char filler);

/* Escapes external text for an output format; NULL is "". The table is in text.c. */
enum escape {
    ESCAPE_XML,       /* character data or an attribute; characters that XML 1.0 does not allow become '?' */
    ESCAPE_MARKDOWN,  /* a cell of a table: nothing is interpreted by Markdown or HTML */
    ESCAPE_CSV,       /* a cell of RFC 4180: quoted if it has a comma, a quote or a line break; prefixed with ' if a
                       * spreadsheet would read a formula; control characters other than line breaks and tabs become
                       * '?' */
    ESCAPE_PRINTABLE, /* one line on a terminal: line feeds and tabs become blanks, other control characters '?' */
    ESCAPE_LINES,     /* as ESCAPE_PRINTABLE for several lines: line feeds and tabs stay */
    ESCAPE_JSON,      /* in a message: control characters as \u00xx (json_out escapes documents) */
    ESCAPE_C,         /* inside double quotes: \\ \" \n; also used by OpenMetrics */
    ESCAPE_SHELL,     /* one word */
    ESCAPE_ROFF,      /* text of a man page; the caller handles a dot at the start of a line */
};
void text_add_escaped(struct text *text, enum escape escape, const char *string);
#define text_add_xml(text, string) text_add_escaped((text), ESCAPE_XML, (string))
#define text_add_markdown(text, string) text_add_escaped((text), ESCAPE_MARKDOWN, (string))
#define text_add_csv(text, string) text_add_escaped((text), ESCAPE_CSV, (string))
#define text_add_printable(text, string) text_add_escaped((text), ESCAPE_PRINTABLE, (string))

/* Appends words, broken at blanks before `columns` is exceeded: the first line continues at column `at`, the others
 * start at `indent`. A word longer than a line gets its own line. No line feed at the end. */
void text_add_wrapped(struct text *text, const char *prose, size_t at, size_t indent, size_t columns);

/* Returns the ending of a counted noun: "%zu case%s". */
static inline const char *text_s(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Returns "" for NULL. */
static inline const char *text_or_empty(const char *string)
{
    return string ? string : "";
}

/* Appends to a string in a buffer of `size` bytes, preceded by `between` unless the string is empty; truncates what
 * does not fit. */
void text_append(char *to, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns a copy in lower case (ASCII only). */
char *text_lower(const char *string, struct arena *arena);

/* Returns the whole number in an environment variable, or `otherwise` if it is not set, not a whole number, or outside
 * the limits. */
long text_env(const char *name, long least, long most, long otherwise);

bool text_starts(const char *string, const char *prefix);
size_t text_word(const char *string); /* length of the leading letters, digits and '_' */
bool text_ends(const char *string, const char *suffix);

/* Tells whether `word`, of `length` bytes, is one of the words of a list with any of these separators. */
bool text_has_word(const char *list, const char *separators, const char *word, size_t length);
int text_order(const void *a, const void *b); /* compares two pointers to texts, for qsort */
bool text_among(const char *word, const char *const *words, size_t count);

/* Returns an array's first row whose member, characters or a pointer to them, equals this text, or NULL.
 *     const struct result_kpi *kpi = FIND_ROW(result->kpis, result->kpi_count, name, "geomean"); */
#define FIND_ROW(rows, count, member, text)                                                                            \
    text_find_row((rows), (count), sizeof(*(rows)), offsetof(__typeof__(*(rows)), member),                             \
                  _Generic(&(rows)->member, default: false, char **: true, char *const *: true,                        \
                           const char **: true, const char *const *: true), (text))
void *text_find_row(const void *rows, size_t count, size_t size, size_t offset, bool points, const char *text);

/* Returns the bytes of the well-formed UTF-8 sequence at `bytes` (no overlong form, no surrogate), or 0 if it is
 * malformed. */
size_t text_utf8_length(const unsigned char *bytes, size_t left);
/* Returns the columns that a UTF-8 string takes on a terminal (each code point counts as one; combining marks as
 * none). */
size_t text_columns(const char *utf8);
/* Returns the text, or its two ends with `gap` between them (".."), in `columns` columns, at least 2 more than the gap
 * takes; returns `utf8` itself if it fits. */
const char *text_cut(struct arena *arena, const char *utf8, size_t columns, const char *gap);

/* "a, b and 3 more": names `most` of the items. */
const char *text_listed(struct arena *arena, const char *const *items, size_t count, size_t most);

/* Tells whether the whole string matches a shell pattern with * ? [], as in fnmatch without flags. */
bool text_matches(const char *string, const char *glob);

/* Applies filters in the syntax of --filter: a case is selected if a glob matches either text, unless a glob with a
 * leading '!' matches it. With only exclusions, or without filters, everything else is selected. */
bool text_filtered(const char *const *filters, size_t count, const char *id, const char *name);
/* Like text_filtered, for any number of texts; some may be NULL. */
bool text_filtered_any(const char *const *filters, size_t count, const char *const *texts, size_t text_count);

/* Returns the candidate for a did-you-mean (err_nearest writes it): the shortest that begins with `word`, else the one
 * nearest to it (Damerau-Levenshtein distance at most 1 + length / 4, ignoring case and the difference between '-' and
 * '_'; ties by order), else of 4 letters or more the shortest that contains it, else the longest that it begins with
 * and that is at least half of it; or NULL. `candidates` has `count` entries; NULL ones are ignored. */
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

#endif
