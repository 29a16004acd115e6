/* SPDX-License-Identifier: MIT
 *
 * Outliers: finds the slower ones among devices that should be alike, with robust statistics. Pure functions of times.
 *
 * Everything is in x = ln(time), so that 5 % slower and 5 % faster weigh the same. A device is compared with the others
 * of its group: with their median, in units of their spread, the root mean square of their distances from the median
 * without the farthest tenth (at least one), corrected for the trimming. With few devices this is better than the
 * median absolute deviation (with 7, the 1 in 1000 quantile of z is 7, not 12), and equally insensitive to outliers. A
 * spread below the noise between the runs of single devices is raised to that noise.
 *
 * slow: x - median > limit, the largest of ln(1 + delta) and
 *     z * spread                    if the spread is that of healthy devices (at most twice `healthy`)
 *     t * spread * sqrt(1 + pi/2n)  otherwise: Student's t at alpha / tests, with the degrees of freedom of the spread,
 *                                   and never below z * spread
 * If the devices fall into two modes (largest gap), each is judged within its mode: statistics cannot say which mode is
 * right. Devices that take over 1.5 times as long as all faster ones, which are at least a quarter of all, are slow
 * whatever their number: nothing makes a device that much faster than it should be.
 */
#ifndef ROOFTILE_OUTLIER_H
#define ROOFTILE_OUTLIER_H

#include "rooftile/base.h"

#define OUTLIER_LEAST 5 /* with fewer devices alike there is no verdict */

struct outlier_rule {
    double z;
    double delta;   /* ratio - 1 below which a device is never slow */
    double healthy; /* sd of ln(time) between healthy devices */
    double alpha;   /* probability that a healthy device is called slow, over all its metrics */
    size_t tests;   /* number of metrics */
};
struct outlier_rule outlier_defaults(size_t tests);

/* The level of the other devices. */
struct outlier_level {
    double median, spread; /* of ln(time); NaN: unknown */
    size_t n;
};

struct outlier {
    double change; /* time / the others' median - 1; NaN: not judged */
    double z;      /* (x - median) / spread; NaN: not judged, or no spread at all */
    double limit;  /* the change beyond which it is slow */
    int mode;      /* 0: the faster of two modes, or the only one; 1: the slower one */
    bool slow, fast;
};

struct outlier_modes {
    bool two;
    size_t count[2];
    double median[2]; /* ln(time), the faster first */
};

/* Computes the level of these values; sorts them, and needs room for as many in `scratch`. */
struct outlier_level outlier_level_of(double *values, size_t count, double *scratch);

/* Judges one value against a level; `noise` NaN: unknown. */
void outlier_against(struct outlier *out, double value, const struct outlier_level *level, double noise,
                     const struct outlier_rule *rule);

/* Judges each value against the others and skips NaNs. `noise`: sd of ln(time) between runs of one device; NaN:
 * unknown. A group or mode with fewer than OUTLIER_LEAST devices is not judged, unless some are more than 1.5 times
 * slower. */
void outliers_judge(struct outlier *out, struct outlier_modes *modes, const double *values, size_t count, double noise,
                    const struct outlier_rule *rule);

#endif
