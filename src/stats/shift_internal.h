/* SPDX-License-Identifier: MIT
 *
 * What shift.c and shift_group.c share: the comparison itself, over logarithms.
 */
#ifndef ROOFTILE_STATS_SHIFT_INTERNAL_H
#define ROOFTILE_STATS_SHIFT_INTERNAL_H

#include "rooftile/shift.h"

/* ln of one side's trial medians, ascending. */
struct shift_side {
    double x[SHIFT_MAX_TRIALS];
    size_t count;
};

/* What is known beforehand: variance v0 with nu0 degrees of freedom, and the least variance to believe. */
struct shift_known {
    double variance, freedom, least;
};

enum status shift_check(const struct shift_case *inputs, const struct shift_options *options, struct err *err);
void shift_side_of(struct shift_side *side, const double *trial_ns, size_t count);
struct shift_known shift_known_of(const struct shift_prior *prior);

/* Median of all differences new - base. */
double shift_distance(const struct shift_side *base, const struct shift_side *new);

/* Fills `out` (common and q too) for the shift that is left after `common` is taken out. */
void shift_judge(struct shift *out, const struct shift_side *base, const struct shift_side *new,
                 const struct shift_known *known, double common, const struct shift_options *options);

#endif
