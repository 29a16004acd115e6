/* SPDX-License-Identifier: MIT
 *
 * Order statistics, moments and significance of plain arrays, for all of stats. summary.h makes median_of and robust_sd
 * public.
 */
#ifndef ROOFTILE_STATS_VALUES_H
#define ROOFTILE_STATS_VALUES_H

#include "rooftile/summary.h"

#define MAD_TO_SD 1.4826 /* sd of a normal distribution over its median absolute deviation */

/* ---- sorted values; NaN if there are none ---- */
void sort_values(double *values, size_t count);
double median_sorted(const double *sorted, size_t count);
/* Type 7 of Hyndman and Fan 1996: linear interpolation of order statistics. */
double quantile_sorted(const double *sorted, size_t count, double share);
/* 95 % interval of the median from order statistics. */
void median_interval(double interval[2], const double *sorted, size_t count);
/* Inserts a value after equal ones; there is room for count + 1. */
void insert_sorted(double *sorted, size_t count, double value);

/* ---- values in their original order ---- */
struct moments {
    double mean;
    double squares;  /* sum of the squared distances from the mean */
    double products; /* sum of the products of adjacent distances */
};
struct moments moments_of(const double *values, size_t count); /* mean is NaN if there are none */
double sd_of(const double *values, size_t count);              /* n - 1; NaN below 2 */
/* Returns the noise between consecutive values: 1.4826 median |difference of neighbours| / sqrt 2, which occasional
 * level shifts do not affect. `scratch` has room for count values. NaN below 2. */
double successive_sd(const double *values, size_t count, double *scratch);

/* True if it is a valid sd: unknown (NaN), or finite and not negative. */
bool is_sigma(double sigma);

/* ---- significance ---- */

/* Benjamini and Hochberg 1995: replaces each p value by the least false discovery rate at which it is found. NaNs stay
 * NaN and do not count. */
void q_values(double *values, size_t count);

/* Student's t with `freedom` > 0 (any real): P(|T| > |t|), and the t at which that is p (0 < p < 1). To 1e-11 relative
 * up to 1e6 degrees of freedom. Incomplete beta by Lentz's continued fraction (Press et al., Numerical Recipes, 6.4).
 */
double student_two_sided(double t, double freedom);
double student_quantile(double p_two_sided, double freedom);

#endif
