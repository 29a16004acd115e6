/* SPDX-License-Identifier: MIT
 *
 * Noise: what a machine's own spread is, learned from A/A trials (the same build measured again and again). No GPU, no
 * file. Sigmas are sds of ln(trial median): relative, 0.01 = 1 %.
 */
#ifndef ROOFTILE_NOISE_H
#define ROOFTILE_NOISE_H

#include "rooftile/shift.h"

#define NOISE_TOO_NOISY 0.10 /* a case whose smallest detectable shift exceeds 10 % is labelled "too noisy to gate" */
#define NOISE_QUIET 0.005    /* the sd that most cases of an idle machine should stay under */

struct noise_case {
    size_t trials;
    bool learned; /* trials >= SHIFT_LEARNED_TRIALS */
    /* of ln(median): the larger of 1.4826 MAD n / (n - 0.8) and the plain sd without the farthest twentieth; NaN if not
     * learned */
    double sigma;
    double sd;          /* plain sd, n - 1: glitches included; NaN below 2 trials */
    double mde_compare; /* ratio - 1 found with probability 0.9 by `trials_compare` trials a side (shift_mde with this
                           sigma) */
    double mde_run;     /* ... in the first run of a history (gate_mde, one value a run) */
    double mde_week;    /* ... within seven runs */
    bool too_noisy;     /* min(mde_compare, mde_week) > NOISE_TOO_NOISY; false if not learned */
};

struct noise_class {
    size_t cases; /* learned ones */
    double sigma; /* median of their sigmas: what shift_prior.sigma_class wants; NaN without any */
};

/* Distribution of sigma over the learned cases: quantiles of type 7; NaN without any. */
struct noise_summary {
    size_t cases, learned, too_noisy;
    double min, p10, q1, median, q3, p90, p99, max;
    double quiet_share; /* of the learned cases, those with sigma <= NOISE_QUIET */
};

struct noise_input {
    const double *trial_ns; /* A/A trial medians, each > 0 and finite; any number of trials, 0 included */
    size_t trials;
    double floor;   /* timer tick / T */
    uint32_t group; /* class: index below class_count */
};

/* Learns every case, every class and the summary; arrays are the caller's. ERR_CONFIG with all outputs untouched for a
 * time that is not positive and finite or options out of range. `trials_compare`: R of the comparison to forecast (5).
 */
enum status noise_learn(struct noise_case *cases, struct noise_class *classes, size_t class_count,
                        struct noise_summary *summary, const struct noise_input *inputs, size_t count,
                        size_t trials_compare, const struct shift_options *options, struct err *err);

#endif
