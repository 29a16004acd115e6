/* SPDX-License-Identifier: MIT
 *
 * Noise: a machine's own spread, learned from A/A trials (the same build measured again and again). No GPU, no file.
 * Sigmas are sds of ln(trial median): relative, 0.01 = 1 %.
 */
#ifndef ROOFTILE_NOISE_H
#define ROOFTILE_NOISE_H

#include "rooftile/shift.h"

#define NOISE_TOO_NOISY 0.10 /* a case whose smallest detectable shift exceeds 10 % is labelled "too noisy to gate" */
#define NOISE_QUIET 0.005    /* upper limit of the sd of most cases on an idle machine */

struct noise_case {
    const char *id; /* plan id with its timer: each timer has its own sigma */
    const char *class;
    /* of ln(median): the larger of 1.4826 MAD n / (n - 0.8) and the plain sd without the farthest twentieth; NaN if not
     * learned */
    double sigma;
    size_t trials;
    /* input */
    const char *label;
    const double *trial_ns; /* A/A trial medians, each > 0 and finite; any number of trials, including 0 */
    double time_ns;
    double floor;   /* timer tick / T */
    uint32_t group; /* class: index below class_count */
    /* further output */
    bool learned; /* trials >= SHIFT_LEARNED_TRIALS */
    double sd;    /* plain sd, n - 1: glitches included; NaN below 2 trials */
    /* ratio - 1 detected with probability 0.9 by `trials_compare` trials a side (shift_mde with this sigma) */
    double mde_compare;
    double mde_run;  /* ... in the first run of a history (gate_mde, one value per run) */
    double mde_week; /* ... within seven runs */
    bool too_noisy;  /* min(mde_compare, mde_week) > NOISE_TOO_NOISY; false if not learned */
};

struct noise_class {
    const char *name;
    double sigma; /* median of their sigmas, for shift_prior.sigma_class; NaN without any */
    size_t cases; /* learned ones */
};

/* Distribution of sigma over the learned cases: quantiles of type 7; NaN without any. */
struct noise_summary {
    size_t cases, learned, too_noisy;
    double min, p10, q1, median, q3, p90, p99, max;
    double quiet_share; /* share of learned cases with sigma <= NOISE_QUIET */
};

/* Learns every case, every class and the summary. ERR_CONFIG, with nothing learned, for a time that is not positive and
 * finite or options out of range. `trials_compare`: R of the comparison to forecast (5). */
enum status noise_learn(struct noise_case *cases, size_t count, struct noise_class *classes, size_t class_count,
                        struct noise_summary *summary, size_t trials_compare, const struct shift_options *options,
                        struct err *err);

#endif
