/* SPDX-License-Identifier: MIT
 *
 * Derived values as people read them, for derived_text.c (terminal) and markdown.c.
 */
#ifndef ROOFTILE_DERIVED_TEXT_H
#define ROOFTILE_DERIVED_TEXT_H

#include "rooftile/json.h"
#include "rooftile/report.h"
#include "rooftile/units.h"

/* The section under a table; nothing where a suite derives nothing. */
void derived_lines(struct text *out, const struct result *result, const struct report_options *options);

/* A derived value's JSON, NULL when it is none. */
const struct json *derived_value(const struct result_derived *derived, struct arena *arena);
/* Adds a curve's value in words, "start-up 8.1 us, then 25 GB/s (R2 0.999)"; false: its method is not known. */
bool derived_line(struct text *out, const struct result *result, const struct result_derived *derived,
                  const struct json *json);

struct derived_matrix {
    const struct json *rows, *columns, *cells;
    const char *unit;
};
/* False: the value is no matrix. */
bool derived_matrix(struct derived_matrix *matrix, const struct result *result, const struct result_derived *derived,
                    const struct json *json);
/* A row's or column's name, and a cell's value ("-" where nothing was measured). */
const char *derived_label(char out[static UNITS_TEXT], const struct json *axis, size_t place);
const char *derived_cell(char out[static UNITS_TEXT], const struct derived_matrix *matrix, size_t row, size_t column);

/* Shares of a sum, a row for each part: its name, kernel, time and share. */
enum { SHARE_COLUMNS = 4 };
extern const char *const share_heads[SHARE_COLUMNS];
struct derived_shares {
    const struct json *parts;
    double sum_ns;
};
/* False: the value is none. */
bool derived_shares(struct derived_shares *shares, const struct json *json);
const char *share_cell(char out[static UNITS_TEXT], const struct derived_shares *shares, size_t row, size_t column);
void add_shares(struct text *out, const struct derived_shares *shares, unsigned indent, struct arena *arena);

#endif
