/* SPDX-License-Identifier: MIT
 *
 * Statistics of one case's samples. No GPU, no file. No sample is trimmed by value.
 */
#ifndef ROOFTILE_SUMMARY_H
#define ROOFTILE_SUMMARY_H

#include "rooftile/base.h"

/* All in the unit of the samples (ns). NaN if there are too few samples. */
struct summary {
    size_t n;
    double median;
    /* distribution-free interval of the median: order statistics x(l), x(u) with l = floor(n/2 - 0.98 sqrt n), u =
     * ceil(n/2 + 1 + 0.98 sqrt n), 1-based, clamped (n < 6: min, max) */
    double ci95[2];
    double min, p05, q1, q3, p95, max; /* quantiles: linear interpolation of order statistics (type 7) */
    double mean, sd;                   /* sd: n - 1 */
    double mad;                        /* median absolute deviation, unscaled */
    double rel_noise;                  /* 1.4826 * mad / median */
    double lag1;                       /* lag-1 autocorrelation in measuring order */
    double drift;                      /* median(last quarter) / median(first quarter) - 1 */
    /* 1 or 2: bimodality by the largest gap that splits off >= 10 %, exceeds 6 MADs of both sides and is at least 1 %
     * of the median (timer ticks are not modes); 1 below 20 samples */
    uint32_t modes;
};

/* `scratch` has room for 2 * count values; samples are in measuring order and are not changed. */
void summary_compute(struct summary *summary, const double *samples, size_t count, double *scratch);

/* Returns the median; NaN without values. Sorts `values`. */
double median_of(double *values, size_t count);
/* Returns 1.4826 MAD n / (n - 0.8): consistent for a normal distribution, the last factor for small n (simulated). NaN
 * below 2; overwrites `values`. */
double robust_sd(double *values, size_t count);

/* ---- stop rule ---- */
enum stop_reason { STOP_NONE, STOP_PRECISE, STOP_STABLE, STOP_TIMEOUT, STOP_MAX_SAMPLES };
extern const char *const stop_reason_names[]; /* "precise" "stable" "timeout" "max_samples" */

/* Add each sample, then check. Stops when n >= min_samples and time >= min_time_ns and (CI half-width / median <=
 * precision, or the noise is stable: over the last 512 noise estimates (window > 64, tested every 16 samples) the sd of
 * the noise is under 5 % of its mean), or at the limits. Sorts samples incrementally, and stores at most `capacity` of
 * them. */
struct stop_rule {
    double min_time_ns, max_time_ns, precision;
    uint32_t min_samples, max_samples;
    double *sorted; /* room for `capacity` values, owned by the caller */
    uint32_t capacity, n;
    double sum_ns;   /* of samples * launches per sample: busy time */
    double mean, m2; /* Welford */
    double noise[512];
    uint32_t noise_count;
};
/* Empties the rule; the limits above belong to the caller and are not changed. */
void stop_init(struct stop_rule *rule, double *sorted, uint32_t capacity);
void stop_add(struct stop_rule *rule, double sample_ns, double busy_ns);
enum stop_reason stop_check(struct stop_rule *rule, double wall_ns);

/* ---- curves ---- */

/* Change points of a curve y over x (both positive, x ascending): piecewise-constant fit of log y by optimal
 * partitioning with at least `min_points` per segment and penalty chosen from the data's noise; each change has a
 * confidence 0..1 from a seeded permutation test of the two neighbouring segments. A ramp between two levels is not a
 * level: it widens the range x_low..x_high of the one change there. Levels that differ by less than 10 % (or three
 * sigmas) are merged. */
struct change_point {
    size_t index;         /* first point of the new level */
    double x_low, x_high; /* last x of the old level, first x of the new one */
    double before, after; /* medians of y */
    double confidence;
};
size_t change_points(struct change_point *points, size_t max_points, const double *x, const double *y, size_t count,
                     size_t min_points, uint64_t seed);

/* T = V / (a + V / b), fitted to time = a + V / b by weighted least squares (relative errors): start-up time a, rate b.
 */
struct startup_fit {
    double startup, rate, r2;
};
bool startup_fit(struct startup_fit *fit, const double *volume, const double *time, size_t count);

/* Returns x of the knee of a saturating curve: the point of largest distance from the chord in log-log space; NaN
 * without one. */
double knee(const double *x, const double *y, size_t count);

#endif
