/* SPDX-License-Identifier: MIT
 *
 * What summary.c and stop.c share: order statistics of sorted values.
 */
#ifndef ROOFTILE_STATS_INTERNAL_H
#define ROOFTILE_STATS_INTERNAL_H

#include <stddef.h>

void sort_values(double *values, size_t count);
double median_sorted(const double *sorted, size_t count);
/* Median of |x - centre|, in linear time and without memory. */
double mad_sorted(const double *sorted, size_t count, double centre);
/* 95 % interval of the median from order statistics. */
void median_interval(double interval[2], const double *sorted, size_t count);

#endif
