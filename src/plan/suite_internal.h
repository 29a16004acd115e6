/* SPDX-License-Identifier: MIT
 *
 * What the files that read suites share.
 */
#ifndef ROOFTILE_SUITE_INTERNAL_H
#define ROOFTILE_SUITE_INTERNAL_H

#include "rooftile/json_table.h"
#include "rooftile/suite.h"

/* ---- sweep.c ---- */

struct sweep_range {
    double from, to;
    char op; /* '+' or '*' */
    double by;
};
/* How many values, at most SUITE_MAX_CASES. ERR_CONFIG for a range that never ends; `text` stands for it in messages.
 */
enum status sweep_count_range(double *count, const struct sweep_range *range, const char *text, struct err *err);
void sweep_expand_range(struct param_value *values, size_t count, const struct sweep_range *range);
/* One value: anything but a range. */
enum status sweep_parse_value(struct param_value *value, const char *text, struct arena *arena, struct err *err);

/* One value in a suite: a string as on the command line, or a number, or a list of numbers. */
enum status sweep_value_from_json(struct param_value *value, const struct json *json, struct arena *arena,
                                  struct err *err);

/* ---- suite.c ---- */

extern const struct json_elements suite_params; /* of a "params" object: struct param */
/* How many combinations the sweeps of a case have (zipped parameters count once), at most SUITE_MAX_CASES + 1. */
size_t suite_case_combinations(const struct suite_case *suite_case);

/* ---- suite_shapes.c ---- */

struct suite_shape {
    const char *name, *summary;
    const struct param *params;
    size_t param_count;
};
/* The shapes that a case's "shapes" names, in their file's order; none when it has no such member. The file's content
 * becomes part of the suite's hash. */
enum status suite_read_shapes(const struct suite_shape **shapes, size_t *count, const struct json *json,
                              struct suite *suite, struct arena *arena, struct err *err);
/* The case for one shape: with its parameters, and its name among the tags. ERR_CONFIG when the case sets one of them.
 */
enum status suite_apply_shape(struct suite_case *out, const struct suite_case *from, const struct suite_shape *shape,
                              struct arena *arena, struct err *err);

/* ---- suite_figures.c ---- */

extern const struct json_elements suite_derives, suite_kpis; /* struct suite_derive, struct suite_kpi */

#endif
