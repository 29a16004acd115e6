/* SPDX-License-Identifier: MIT
 *
 * Outliers among devices that should be alike: which one is slower than the others, robustly. Pure functions of times.
 *
 * Everything is in x = ln(time), so that 5 % slower and 5 % faster weigh the same. A device is compared with the others
 * of its group: with their median, in units of their spread, the root mean square of their distances from the median
 * without the farthest tenth (at least one), corrected for the trimming. With few devices this is better than the
 * median absolute deviation (with 7, the 1 in 1000 quantile of z is 7, not 12), and like it is not moved by outliers. A
 * spread below the noise between the runs of single devices is raised to that noise.
 *
 * slow: x - median > limit, the largest of ln(1 + delta) and
 *     z * spread                    where the spread is that of healthy devices (at most twice `healthy`)
 *     t * spread * sqrt(1 + pi/2n)  else: Student's t at alpha / tests, with the degrees of freedom of the spread,
 *                                   and never below z * spread
 * If the devices fall into two modes (largest gap), each is judged within its mode: statistics cannot say which mode is
 * right. Those that take over 1.5 times as long as all faster ones, a quarter of all at least, are slow whatever their
 * number: nothing makes a device that much faster than it should be.
 */
#ifndef ROOFTILE_OUTLIER_H
#define ROOFTILE_OUTLIER_H

#include "rooftile/base.h"

#define OUTLIER_LEAST 5 /* fewer alike tell nothing */

struct outlier_rule {
    double z;
    double delta;   /* ratio - 1 below which a device is never slow */
    double healthy; /* sd of ln(time) from one healthy device to the next */
    double alpha;   /* how often a healthy device may be called slow, over all its metrics */
    size_t tests;   /* metrics */
};
struct outlier_rule outlier_defaults(size_t tests);

/* The level of the others. */
struct outlier_level {
    double median, spread; /* of ln(time); NaN: unknown */
    size_t n;
};

struct outlier {
    double change; /* time / the others' median - 1; NaN: not judged */
    double z;      /* (x - median) / spread; NaN: not judged, or there is no spread at all */
    double limit;  /* the change beyond which it is slow */
    int mode;      /* 0: the faster one of two, or there is one; 1: the slower one */
    bool slow, fast;
};

struct outlier_modes {
    bool two;
    size_t count[2];
    double median[2]; /* ln(time): the faster first */
};

/* The level of these values; sorts them, and has room for as many in `scratch`. */
struct outlier_level outlier_level_of(double *values, size_t count, double *scratch);

/* One value against a level; `noise` NaN: unknown. */
void outlier_against(struct outlier *out, double value, const struct outlier_level *level, double noise,
                     const struct outlier_rule *rule);

/* Each against the others. NaNs are passed over. `noise`: sd of ln(time) between runs of one device; NaN: unknown. A
 * group, or mode, of fewer than OUTLIER_LEAST is not judged, unless some are that far apart. */
void outliers_judge(struct outlier *out, struct outlier_modes *modes, const double *values, size_t count, double noise,
                    const struct outlier_rule *rule);

#endif
