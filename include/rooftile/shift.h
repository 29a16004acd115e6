/* SPDX-License-Identifier: MIT
 *
 * Shift: judges whether a case's time changed between two runs. No GPU, no file: numbers in, a verdict out.
 *
 * The unit of analysis is the trial (one fresh process), never the sample: the spread between processes is as large as
 * the spread within one, so a rank test over samples would report half of all identical builds as different. A trial
 * gives one value, its median time, and everything here works on x = ln(median_ns), where a ratio is a difference.
 *
 *   d   = median of all x_new - x_base                                      (Hodges and Lehmann 1963)
 *   v0  = prior variance: (nu_h sigma_case^2 + 4 sigma_class^2) / (nu_h + 4), nu_h = 12 min(n, 30) / 30,
 *         nu0 = nu_h + 4; without a learned sigma v0 = 1.3 sigma_class^2 and nu0 = 4 (1.3: cases of a class differ,
 *         lognormal 0.4)
 *   v   = (nu0 v0 + (Ra-1) s_a^2 + (Rb-1) s_b^2) / nu,  nu = nu0 + Ra + Rb - 2          (moderated as in Smyth 2004);
 *         from 3 trials on a side's s^2 is capped at max(its squared robust sd, 9 v0); v is never below floor^2
 *   se  = sqrt(v (1/Ra + 1/Rb)), times 1.05 from 3 trials a side on (the median is less efficient than the mean)
 *   CI  = d -+ t(1 - alpha/2, nu) se
 *
 *   SLOWER, FASTER   CI excludes 0, |d| > ln(1 + delta), both sides have 3 trials or more, and the fastest trials of
 *                    the two sides agree: their difference has the sign of d and at least a quarter of its size.
 *                    Interference only ever slows a trial down, so a shift that the fastest trials do not show is not
 *                    caused by the build
 *   SUSPECT          CI and size as above, with fewer than 3 trials on a side: one process with interference looks the
 *                    same; never confirmed
 *   SAME             CI within -+ ln(1 + same), 3 trials a side
 *   INCONCLUSIVE     everything else; `mde` is the detectable shift, `suggested_trials` the trials needed to decide
 *
 * Simulated, 200,000 comparisons each, sd 0.3 to 2 %: false alarms per 1000 at 5 trials a side at most 0.7 (normal, t4,
 * 3 % glitches) and 2.7 (two modes); at 3 trials 1.2 and 2.7. tests/unit/stats/test_shift_sim.c repeats it on a smaller
 * scale.
 *
 * Everything is deterministic: the order of trials within a side and of cases does not change a verdict (common-mode
 * groups match trials of different cases by position).
 */
#ifndef ROOFTILE_SHIFT_H
#define ROOFTILE_SHIFT_H

#include "rooftile/base.h"

#define SHIFT_MAX_TRIALS 64      /* a side */
#define SHIFT_CONFIRM_TRIALS 3   /* a confirmed verdict needs this many per side */
#define SHIFT_DEFAULT_SIGMA 0.01 /* sigma_class of a device without learned noise */
#define SHIFT_LEARNED_TRIALS 8   /* A/A trials from which a case's sigma counts as learned */

enum shift_verdict { SHIFT_INCONCLUSIVE, SHIFT_SAME, SHIFT_SLOWER, SHIFT_FASTER, SHIFT_SUSPECT };
extern const char *const shift_verdict_names[]; /* "inconclusive" "same" "slower" "faster" "suspect" */

/* The reason of the verdict: exactly one. */
enum shift_reason {
    SHIFT_CLEAR,       /* slower, faster: the interval excludes 0 and the shift exceeds delta */
    SHIFT_WITHIN,      /* same: the interval lies within -+ same */
    SHIFT_SMALL,       /* same: a real shift, but below delta */
    SHIFT_FEW_TRIALS,  /* suspect, inconclusive: a side has fewer than SHIFT_CONFIRM_TRIALS */
    SHIFT_NOISY,       /* inconclusive: the interval is too wide to exclude either 0 or a shift of `same` */
    SHIFT_UNSUPPORTED, /* inconclusive: the fastest trials of the two sides do not show the shift */
};
extern const char *const shift_reason_names[]; /* the name above in lower case: "clear", "few_trials" ... */

struct shift_options {
    double alpha; /* two-sided, per case: 0.001 */
    double delta; /* smallest relevant ratio - 1: 0.01 */
    double same;  /* SAME if the ratio's interval is within 1 / (1 + same) .. 1 + same: 0.03 */
};
struct shift_options shift_defaults(void);
/* ERR_CONFIG unless 0 < alpha < 1 and 0 <= delta <= same, all finite. */
enum status shift_check_options(const struct shift_options *options, struct err *err);

/* Prior knowledge of a case's noise; sds of ln(trial median), that is, relative. */
struct shift_prior {
    double sigma_case;  /* learned from past A/A trials (noise.h); NaN = not learned */
    size_t case_trials; /* number of these A/A trials; below SHIFT_LEARNED_TRIALS it is not used */
    double sigma_class; /* pooled over the case's class on this device; 0 or NaN = SHIFT_DEFAULT_SIGMA */
    double floor;       /* timer tick / T; every sd is at least max(this, 0.1 %) */
};

struct shift {
    enum shift_verdict verdict;
    enum shift_reason reason;
    size_t base_trials, new_trials;
    double base_ns, new_ns; /* medians of the trial medians */
    double d;               /* ln of the ratio new / base, as measured */
    double common;          /* ln of the class's shift that was removed before judging; 0 = none */
    double ratio;           /* exp(d - common): the ratio that is judged */
    double ratio_ci[2];     /* of it, at level 1 - alpha */
    double p;               /* two-sided p value of d - common against 0 */
    double q;               /* Benjamini and Hochberg over all cases of shift_compare_all; otherwise = p */
    double sd;              /* sqrt(v): the sd of one trial used for the verdict */
    double freedom;         /* nu */
    /* ratio - 1 that these trials, this noise and these options detect with probability 0.9: exp(max(ln(1 + delta), t(1
     * - alpha/2, nu) se) + t(0.9, nu) se) - 1; a side with fewer than SHIFT_CONFIRM_TRIALS is counted as having that
     * many */
    double mde;
    /* inconclusive or suspect: trials per side with which an interval of this v would decide (exclude 0 if the shift is
     * as observed, or lie within `same`); 0 = more than SHIFT_MAX_TRIALS or no suggestion (other verdicts) */
    uint32_t suggested_trials;
};

/* One case: trial medians in ns of both sides, each > 0 and finite, at least one and at most SHIFT_MAX_TRIALS a side.
 */
struct shift_case {
    const double *base_ns, *new_ns;
    size_t base_trials, new_trials;
    struct shift_prior prior;
    uint32_t group; /* class: index below group_count of shift_compare_all */
};

/* ERR_CONFIG, with `out` unchanged: no trial, too many, a time that is not a positive finite number, options out of
 * range (0 < alpha < 1, 0 <= delta <= same, all finite), a negative sigma. */
enum status shift_compare(struct shift *out, const struct shift_case *inputs, const struct shift_options *options,
                          struct err *err);

/* A class that changed as a whole: the machine changed, not a case. */
#define SHIFT_GROUP_CASES 10   /* least number of cases in a group */
#define SHIFT_GROUP_SHARE 0.6  /* ... share of them that must move in the same direction */
#define SHIFT_GROUP_LEAST 0.01 /* ... and their least median |d| */
struct shift_group {
    size_t cases;
    double common; /* median d of the group's cases */
    double share;  /* of the cases whose d has the sign of `common` */
    bool shifted;  /* the three conditions hold: `common` was removed from the group's cases, report ONE line */
    /* Valid if shifted: the group's own comparison. Its "trials" are medians over the group's cases of each trial's
     * distance from the case's base median, so that variation shared by all cases of a trial counts as noise, not as
     * evidence; no prior. */
    struct shift shift;
};

/* All cases of two runs: common-mode shifts per group, the verdicts of the remaining shifts, q values. `out` and
 * `groups` belong to the caller and have case_count and group_count items. Errors as in shift_compare, the message
 * prefixed with "case <index>: ". */
enum status shift_compare_all(struct shift *out, struct shift_group *groups, size_t group_count,
                              const struct shift_case *cases, size_t case_count, const struct shift_options *options,
                              struct err *err);

/* Returns the mde of struct shift for `trials` per side before anything is measured (v = v0); options as above. */
double shift_mde(const struct shift_prior *prior, size_t trials, const struct shift_options *options);

#endif
