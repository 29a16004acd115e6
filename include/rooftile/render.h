/* SPDX-License-Identifier: MIT
 *
 * Rendering: tables and documents (table.h) as text. Escaping, colours, widths and alignment are done here and nowhere
 * else.
 */
#ifndef ROOFTILE_RENDER_H
#define ROOFTILE_RENDER_H

#include "rooftile/report.h"
#include "rooftile/table.h"

/* For a terminal of `options->columns`. A first column that is too wide for the terminal gets a line of its own. */
void render_text(struct text *out, const struct document *document, const struct report_options *options);
/* For a comment on a pull request: rows stop well before the 65,536 characters that GitHub takes, and say so. */
void render_markdown(struct text *out, const struct document *document, const struct report_options *options);
/* One self-contained page. */
void render_html(struct text *out, const struct document *document, const struct report_options *options);
/* One object with all sections and columns that have a key. */
void render_json(struct text *out, const struct document *document, const struct report_options *options);
/* Rows as tests: sections that are shown to SHOW_TESTS. */
void render_junit(struct text *out, const struct document *document, const struct report_options *options);
/* A table alone: a record is an object, any other an array. */
void render_json_table(struct text *out, const struct table *table);
void render_json_line(struct text *out, const struct table *table); /* the same on one line */
/* RFC 4180, base units. */
void render_csv(struct text *out, const struct table *table);
/* The document's table with the most rows visible to people, if its columns have keys; NULL: there is none. */
const struct table *document_main(const struct document *document);
void render_main_csv(struct text *out, const struct document *document, const struct report_options *options);

/* By the name of --format: "table" "markdown" "html" "json" "csv" "junit"; NULL: none of them. */
typedef void render_function(struct text *out, const struct document *document, const struct report_options *options);
render_function *render_find(const char *format);

/* A cell as people read it; lives in the arena, or as long as the cell's own text. Never NULL. */
const char *cell_words(const struct cell *cell, const struct table_column *column, struct arena *arena);

#endif
