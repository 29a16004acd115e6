/* SPDX-License-Identifier: MIT
 *
 * What the files of derive share: which cases a derived value is made of, and their quantities.
 */
#ifndef ROOFTILE_DERIVE_INTERNAL_H
#define ROOFTILE_DERIVE_INTERNAL_H

#include "rooftile/json_out.h"
#include "rooftile/result.h"

/* Which cases a derive is about, and the group of each. */
struct members {
    const size_t *cases; /* indices into result->cases */
    const size_t *group; /* per member */
    size_t count;
    const char **names; /* per group, in order of appearance */
    size_t group_count;
};

const struct param_value *derive_param(const struct result_case *c, const char *name); /* NULL: it has none */
/* A parameter, a metric, or one of the figures every case has; NaN when the case has none of that name. */
double derive_quantity(const struct result_case *c, const char *name);

/* Method "matrix": y by the values of two parameters, rows and x (its columns), numbers in their order, words as they came. Adds "rows" and
 * "columns" (their values as text) and "cells" (a list of numbers per row, null where nothing was measured), or an
 * error. */
void derive_matrix(struct json_out *out, const struct result *result, const struct suite_derive *spec,
                   const struct members *members, size_t group, struct arena *arena);

/* Method "three_arm": the same launches in several ways (x, a parameter, names them), by the host's clock and by
 * events, with a metric (y) that counts the launches that ran. Adds "arms" (arm, host_ns, event_ns, launches, counted),
 * a "verdict" ("agree", "disagree", or "incomplete": nothing disagrees, but not all could be compared) and the texts
 * "disagree" and "not_compared". */
void derive_arms(struct json_out *out, const struct result *result, const struct suite_derive *spec,
                 const struct members *members, size_t group, struct arena *arena);

/* Method "ratio": y of each case over that of the kernel spec->to with equal parameters, as far as both have them. Adds "to"
 * and "points" (at: what tells the case from the kernel's others; value, of: the other kernel's value; ratio), and
 * "unmatched": how many cases have no counterpart; or an error. */
void derive_ratio(struct json_out *out, const struct result *result, const struct suite_derive *spec,
                  const struct members *members, size_t group, struct arena *arena);

/* Method "shares": the layers that the cases' shapes name, as groups without members; and of one layer "sum_ns" and "parts"
 * (part, kernel, times, time_ns of one, share of the sum), or an error. */
void derive_layers(struct members *members, const struct result *result, const struct suite_derive *spec, size_t most,
                   struct arena *arena);
void derive_shares(struct json_out *out, const struct result *result, const struct suite_derive *spec,
                   const char *layer, struct arena *arena);

#endif
