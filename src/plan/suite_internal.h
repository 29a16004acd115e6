/* SPDX-License-Identifier: MIT
 *
 * What the files that read suites share.
 */
#ifndef ROOFTILE_SUITE_INTERNAL_H
#define ROOFTILE_SUITE_INTERNAL_H

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

/* ---- suite_case.c ---- */

/* The members of a "params" object. */
enum status suite_read_params(struct param **params, size_t *count, const struct json *object, struct arena *arena,
                              struct err *err);
/* An array of non-empty strings, or nothing when `object` has no such member. */
enum status suite_read_strings(const char *const **strings, size_t *count, const struct json *object, const char *key,
                               struct arena *arena, struct err *err);
/* One element of "cases" on top of the suite's defaults: `defaults` has their params, tags and measure options. */
enum status suite_read_case(struct suite_case *suite_case, const struct json *json, const struct suite_case *defaults,
                            struct arena *arena, struct err *err);
/* How many combinations the sweeps of a case have (zipped parameters count once), at most SUITE_MAX_CASES + 1. */
size_t suite_case_combinations(const struct suite_case *suite_case);

/* ---- suite_shapes.c ---- */

struct suite_shape {
    const char *name;
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

/* ---- suite_derive.c ---- */

enum status suite_read_derives(struct suite *suite, const struct json *root, struct arena *arena, struct err *err);

/* ---- suite_kpi.c ---- */

enum status suite_read_kpis(struct suite *suite, const struct json *root, struct arena *arena, struct err *err);

#endif
