/* SPDX-License-Identifier: MIT
 *
 * What the renderers share.
 */
#ifndef ROOFTILE_RENDER_INTERNAL_H
#define ROOFTILE_RENDER_INTERNAL_H

#include "labels.h"
#include "rooftile/render.h"

/* Adds text in a tone, "\033[31m" and so on; plain without colour. */
void toned(struct text *out, const struct report_options *options, enum tone tone, const char *text);

/* The section has something to say to these readers (SHOW_*). */
bool section_shown(const struct section *section, unsigned reader);
/* A table as people see it: of a record its members as rows of name and value. */
const struct table *table_for_people(const struct table *table, struct arena *arena);
/* Rows that people see. */
size_t rows_shown(const struct table *table);
/* People see the column at all: it has a title, and some row has something to say in it. */
bool column_shown(const struct table *table, size_t column, const struct report_options *options);
/* Some column that is shown has a head. */
bool has_head(const struct table *table);

#endif
