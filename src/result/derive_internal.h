/* SPDX-License-Identifier: MIT
 *
 * A derived value and the cases it is made of, as the methods in derive.c and derive_methods.c see it. Each adds its
 * members to the object that is open in `out`, or "error" with the reason.
 */
#ifndef ROOFTILE_DERIVE_INTERNAL_H
#define ROOFTILE_DERIVE_INTERNAL_H

#include "rooftile/json.h"
#include "rooftile/result.h"

struct derive {
    const struct result *result;
    const struct suite_derive *spec;
    const char *group;                /* "dtype=f32"; of shares the layer */
    const struct result_case **cases; /* of the group, skipped ones skipped; none of shares */
    size_t count;
    const char **finding; /* where a method says what is wrong, in a sentence; it was NULL */
    uint64_t seed;
    struct arena *arena;
};

/* y by the values of two parameters, rows and x (its columns), numbers in their order, words as they came. Adds "rows"
 * and "columns" (their values as text) and "cells" (a list of numbers per row, null where nothing was measured). */
void derive_matrix(struct json_out *out, const struct derive *d);

/* The same launches in several ways (x, a parameter, names them), by the host's clock and by events, with a metric (y)
 * that counts the launches that ran. Adds "arms" (arm, host_ns, event_ns, launches, counted), a "verdict" ("agree",
 * "disagree", or "incomplete": nothing disagrees, but not all could be compared) and the texts "disagree" and
 * "not_compared". */
void derive_arms(struct json_out *out, const struct derive *d);

/* y of each case over that of the kernel spec->to with equal parameters, as far as both have them. Adds "to" and
 * "points" (at: what tells the case from the kernel's others; value, of: the other kernel's value; ratio), and
 * "unmatched": how many cases have no counterpart. */
void derive_ratio(struct json_out *out, const struct derive *d);

/* Where y falls below 95 % of its value one step of x before: "dips" (x, before, after), the first of which is a
 * finding. */
void derive_dips(struct json_out *out, const struct derive *d);

/* Copies made at once, compared with the mean of those that the kernel spec->to made alone with the same x:
 * "points" (x, copies, whole_ns, slowest_ns alone, sum_ns of so many alone, overlap: sum over whole). A whole that is
 * nearer to the sum than to the slowest is a finding: something serialises them. */
void derive_together(struct json_out *out, const struct derive *d);

/* Several kernels at once, compared with the same kernels one by one with equal parameters (spec->parts): "points" (at:
 * what tells the case from the kernel's others; whole_ns; of the parts longest_ns and sum_ns; speedup: sum over whole;
 * ideal_speedup: sum over longest; efficiency: 1 where only the longest part takes time, 0 where nothing overlaps,
 * null where the others are too short for that to be seen). */
void derive_overlap(struct json_out *out, const struct derive *d);

/* y over x of the cases that were measured, in the order of x. */
struct curve {
    double *x, *y;
    size_t count;
};
struct curve curve_of(const struct derive *d);

/* Of one layer, whose parts are the cases with the tags LAYER.part: "sum_ns" and "parts" (part, kernel, times, time_ns
 * of one, share of the sum). A sum without one of its parts is no sum. */
void derive_shares(struct json_out *out, const struct derive *d);

#endif
