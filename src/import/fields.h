/* SPDX-License-Identifier: MIT
 *
 * Names with their values, which is what lines of text come down to: the cells of a table's row under their heads, the
 * options of a command, the pairs of a YAML map or of a log.
 */
#ifndef ROOFTILE_IMPORT_FIELDS_H
#define ROOFTILE_IMPORT_FIELDS_H

#include "rooftile/base.h"

enum { MOST_FIELDS = 96 };

struct fields {
    const char *keys[MOST_FIELDS], *values[MOST_FIELDS];
    size_t count;
    const char *word;            /* of a command: the first argument that is no option; NULL: none */
    bool any_case;               /* of heads: capitals do not count */
    const struct fields *behind; /* where what is not here is looked for; NULL */
};

/* The value of the first of these names, between '|'; NULL: there is none. */
const char *field(const struct fields *fields, const char *names);
const char *field_or(const struct fields *fields, const char *names, const char *otherwise);
/* `otherwise` where there is no number. */
double field_number(const struct fields *fields, const char *names, double otherwise);

/* Splitting writes 0 into the line, which has to live as long. */
size_t split_cells(const char *cells[static MOST_FIELDS], char *line); /* a CSV's: quotes and blanks around go */
void split_options(struct fields *out, char *line);                    /* "-m 16 --flag conv": keys without dashes */
void split_pairs(struct fields *out, char *line);                      /* "{'M': 320, transA: N} B=1": other words go */

#endif
