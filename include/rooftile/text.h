/* SPDX-License-Identifier: MIT
 *
 * Text: a growing string, and the few string helpers that C lacks. Independent of locale.
 */
#ifndef ROOFTILE_TEXT_H
#define ROOFTILE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena; /* arena.h */

/* A zeroed struct text is the empty string; `data` is NULL until something is added, then always terminated. */
struct text {
    char *data;
    size_t length;
    size_t capacity;
};

void text_release(struct text *text);
void text_clear(struct text *text); /* keeps the memory */
/* The text so far, kept in the arena; the memory of `text` is given back, and it is empty again. Never NULL. */
char *text_take(struct text *text, struct arena *arena);
void text_add(struct text *text, const char *string);
void text_addn(struct text *text, const char *bytes, size_t length);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vaddf(struct text *text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void text_pad(struct text *text, size_t count, char filler);

/* Escapes text from outside for an output format; NULL is "". The table is in text.c. */
enum escape {
    ESCAPE_XML,       /* character data or an attribute; what XML 1.0 has no place for is '?' */
    ESCAPE_MARKDOWN,  /* a cell of a table: nothing that Markdown or HTML would read as its own */
    ESCAPE_CSV,       /* a cell of RFC 4180: quoted when it holds a comma, a quote or a line break; behind a ' when a
                       * spreadsheet would take it for a formula; other control characters than line breaks and tabs are
                       * '?' */
    ESCAPE_PRINTABLE, /* one line on a terminal: line feeds and tabs become blanks, other control characters '?' */
    ESCAPE_LINES,     /* the same of several lines: line feeds and tabs stay */
    ESCAPE_JSON,      /* in a message: control characters as \u00xx (documents are json_out's) */
    ESCAPE_C,         /* inside double quotes: \\ \" \n; OpenMetrics has the same */
    ESCAPE_SHELL,     /* one word */
    ESCAPE_ROFF,      /* text of a man page; a dot at the start of a line is the caller's */
};
void text_add_escaped(struct text *text, enum escape escape, const char *string);
#define text_add_xml(text, string) text_add_escaped((text), ESCAPE_XML, (string))
#define text_add_markdown(text, string) text_add_escaped((text), ESCAPE_MARKDOWN, (string))
#define text_add_csv(text, string) text_add_escaped((text), ESCAPE_CSV, (string))
#define text_add_printable(text, string) text_add_escaped((text), ESCAPE_PRINTABLE, (string))

/* Words, broken at blanks before `columns` is exceeded: the first line goes on at column `at`, the others start at
 * `indent`. A word longer than a line stands alone. No line feed at the end. */
void text_add_wrapped(struct text *text, const char *prose, size_t at, size_t indent, size_t columns);

/* The ending of a counted noun: "%zu case%s". */
static inline const char *text_s(size_t count)
{
    return count == 1 ? "" : "s";
}

/* "" for NULL. */
static inline const char *text_or_empty(const char *string)
{
    return string ? string : "";
}

/* Appends to a string in a buffer of `size` bytes, with `between` before it unless the string is empty; what does not
 * fit is cut. */
void text_append(char *to, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A copy in small letters, of ASCII. */
char *text_lower(const char *string, struct arena *arena);

/* The whole number in an environment variable; `otherwise` when it is not set, is none, or is not within the limits. */
long text_env(const char *name, long least, long most, long otherwise);

bool text_starts(const char *string, const char *prefix);
size_t text_word(const char *string); /* letters, digits and '_' that it begins with */
bool text_ends(const char *string, const char *suffix);

/* Is `word`, of `length` bytes, one of the words of a list, between any of these separators? */
bool text_has_word(const char *list, const char *separators, const char *word, size_t length);
int text_order(const void *a, const void *b); /* of two pointers to texts, for qsort */
bool text_among(const char *word, const char *const *words, size_t count);

/* The first of an array's rows whose member, characters or a pointer to them, is this text; NULL: none is.
 *     const struct result_kpi *kpi = FIND_ROW(result->kpis, result->kpi_count, name, "geomean"); */
#define FIND_ROW(rows, count, member, text)                                                                            \
    text_find_row((rows), (count), sizeof(*(rows)), offsetof(__typeof__(*(rows)), member),                             \
                  _Generic(&(rows)->member, default: false, char **: true, char *const *: true,                        \
                           const char **: true, const char *const *: true), (text))
void *text_find_row(const void *rows, size_t count, size_t size, size_t offset, bool points, const char *text);

/* Bytes of the well-formed UTF-8 sequence at `bytes` (no overlong form, no surrogate), 0 when it is malformed. */
size_t text_utf8_length(const unsigned char *bytes, size_t left);
/* Columns a UTF-8 string takes on a terminal (each code point counts as one; combining marks as none). */
size_t text_columns(const char *utf8);
/* The text, or its two ends with `gap` between them (".."), in `columns` columns, at least 2 more than the gap takes;
 * `utf8` itself where all of it has room. */
const char *text_cut(struct arena *arena, const char *utf8, size_t columns, const char *gap);

/* Does the whole string match a shell pattern with * ? [], as in fnmatch without flags? */
bool text_matches(const char *string, const char *glob);

/* Filters as --filter takes them: wanted is what a glob matches in either text, unless a glob with a leading '!'
 * matches it. With exclusions alone, or no filter at all, everything else is wanted. */
bool text_filtered(const char *const *filters, size_t count, const char *id, const char *name);
/* The same for any number of texts, of which some may be NULL. */
bool text_filtered_any(const char *const *filters, size_t count, const char *const *texts, size_t text_count);

/* The candidate for a did-you-mean (err_nearest writes it): the shortest that begins with `word`, else the one nearest
 * to it (Damerau-Levenshtein distance at most 1 + length / 4, where letters of either case are alike, and '-' and '_';
 * ties by order), else of 4 letters or more the shortest that contains it, else the longest that begins it and is half
 * of it at least; or NULL. `candidates` has `count` entries, NULL ones are ignored. */
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

#endif
