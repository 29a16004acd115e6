/* SPDX-License-Identifier: MIT
 *
 * Rendering: tables and documents (table.h) as text. Only this code does escaping, colours, widths and alignment.
 */
#ifndef ROOFTILE_RENDER_H
#define ROOFTILE_RENDER_H

#include "rooftile/report.h"
#include "rooftile/table.h"

/* For a terminal with `options->columns` columns. If the first column is too wide, it gets a line of its own. */
void render_text(struct text *out, const struct document *document, const struct report_options *options);
/* For a comment on a pull request: stops well before GitHub's limit of 65,536 characters, with a note. */
void render_markdown(struct text *out, const struct document *document, const struct report_options *options);
/* As one self-contained page. */
void render_html(struct text *out, const struct document *document, const struct report_options *options);
/* As one object with all sections and columns that have a key. */
void render_json(struct text *out, const struct document *document, const struct report_options *options);
/* As JUnit: rows are tests, in sections shown to SHOW_TESTS. */
void render_junit(struct text *out, const struct document *document, const struct report_options *options);
/* One table: a record becomes an object, any other table an array. */
void render_json_table(struct text *out, const struct table *table);
void render_json_line(struct text *out, const struct table *table); /* the same on one line */
/* RFC 4180, base units. */
void render_csv(struct text *out, const struct table *table);
/* The document's table with the most rows visible to people, if its columns have keys; NULL: none. */
const struct table *document_main(const struct document *document);
void render_main_csv(struct text *out, const struct document *document, const struct report_options *options);

/* Finds a renderer by the name of --format: "table" "markdown" "html" "json" "csv" "junit"; NULL: unknown. */
typedef void render_function(struct text *out, const struct document *document, const struct report_options *options);
render_function *render_find(const char *format);

/* The text of a cell for people; lives in the arena, or as long as the cell's own text. Never NULL. */
const char *cell_words(const struct cell *cell, const struct table_column *column, struct arena *arena);

#endif
