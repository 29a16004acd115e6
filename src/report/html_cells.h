/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_HTML_CELLS_H
#define ROOFTILE_HTML_CELLS_H

#include "rooftile/table.h"
#include "rooftile/text.h"

/* Classes, by TONE_. */
extern const char *const html_tones[];

void html_attribute(struct text *out, const char *name, const char *value);
/* Words in a tone. */
void html_put(struct text *out, enum tone tone, const char *words);

struct html_place {
    const struct table *t;
    const char *const *names; /* of rows with keys, as they are shown; NULL: as they are */
    size_t row, column;
    bool first, second, last;
    const char *note; /* behind its words; NULL: none */
};

/* What a column's bars are relative to. */
double html_longest(const struct table *t, size_t column);
/* Does the text in place of a row's values span all columns? */
bool html_takes_row(const struct table_row *row);
/* `span`: columns of a cell that has the room of all values; else 0. */
void html_cell(struct text *out, const struct html_place *at, double most, size_t span);

#endif
