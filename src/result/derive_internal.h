/* SPDX-License-Identifier: MIT
 *
 * A derived value and the cases it is made of, as the methods in derive.c and derive_methods.c see it. Each fills in
 * `out`, or its error.
 */
#ifndef ROOFTILE_DERIVE_INTERNAL_H
#define ROOFTILE_DERIVE_INTERNAL_H

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

/* Adds a point, of which nothing is known yet. */
struct derived_point *derive_point(struct derived_value *out, struct arena *arena);

/* y by the values of two parameters, rows and x (its columns), numbers in their order, words as they came. */
void derive_matrix(struct derived_value *out, const struct derive *d);

/* The same launches in several ways (x, a parameter, names them), by the host's clock and by events, with a metric (y)
 * that counts the launches that ran. The verdict is "agree", "disagree", or "incomplete": nothing disagrees, but not
 * all could be compared. */
void derive_arms(struct derived_value *out, const struct derive *d);

/* y of each case over that of the kernel spec->to with equal parameters, as far as both have them; `of` is the other
 * kernel's value, and the words are what tells the case from its kernel's others. */
void derive_ratio(struct derived_value *out, const struct derive *d);

/* Copies made at once, compared with the mean of those that the kernel spec->to made alone with the same x: the slowest
 * alone, the sum of so many alone, overlap: sum over whole. A whole that is nearer to the sum than to the slowest is a
 * finding: something serialises them. */
void derive_together(struct derived_value *out, const struct derive *d);

/* Several kernels at once, compared with the same kernels one by one with equal parameters (spec->parts): longest and
 * sum of the parts; speedup: sum over whole; ideal_speedup: sum over longest; efficiency: 1 where only the longest part
 * takes time, 0 where nothing overlaps, unknown where the others are too short for that to be seen. */
void derive_overlap(struct derived_value *out, const struct derive *d);

/* One layer, whose parts are the cases with the tags LAYER.part: the time of each, once, and its share of the sum. A
 * sum without one of its parts is no sum. */
void derive_shares(struct derived_value *out, const struct derive *d);

#endif
