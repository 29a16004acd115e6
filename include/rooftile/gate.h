/* SPDX-License-Identifier: MIT
 *
 * Gate: detects changes of a case's time from run to run. One value per run; no GPU, no file, no hidden state.
 *
 * A series is one case on one device with one timer: the median of each run's trial medians, y = ln(ns). For the last
 * run t:
 *   1. Common mode. g_t = median over the cases of a class of y_t - (median of the case's last <= 30 adjusted values);
 *      z = y - g goes on. Needs 10 cases that run, else g is the median of the class's last three, or 0.
 *      The g_t are a series of their own, "the class", judged like any other.
 *   2. For k in 1, 2, 3, 5, 7: the last k values are the "after", up to 30 before them (at least 6) the baseline, whose
 *      median is m.
 *      p_1 = z - m; p_2 = the nearer to m of the two if both lie on one side, else 0; p_k = median(after) - m.
 *      s^2 = (w0 s0^2 + 0.4 n x^2) / (w0 + 0.4 n), x = max(1.4826 MAD of the baseline, 1.4826 MAD of its successive
 *            differences / sqrt 2); w0 = 4 and s0^2 = 1.3 times the squared median x of the class's series, mixed with
 *            4 values' worth of class_sigma; after an alarm w0 = 8 and s0 is the s of the segment before;
 *            s >= max(0.2 %, timer tick / T)
 *      r   = sqrt((1 + rho) / (1 - rho)) if k > 1 and the baseline's lag-1 autocorrelation rho (bias corrected, at
 *            least 10 values, at most 0.7) exceeds 0.3, else 1
 *      Z_k = p_k / (s r sqrt(c_k + 1.57 / n)), c = 1, 0.6, 0.449, 0.287, 0.211 (variance of p_k / s, simulated)
 *   3. Candidate: |Z_k| > 5 and |p_k| > ln 1.01 for some k, and the change stays: of 3 runs none, of 5 or 7 at most one
 *      shows less than a quarter of p_k.
 *   4. A candidate of k = 1 alone is TENTATIVE. One of any k > 1 is CONFIRMED: tau is the best fit of the change (least
 *      absolute deviations), and a new segment starts there. A candidate of k = 1 that was measured again is also
 *      CONFIRMED if the new trials alone are a candidate of the same sign and the fastest of them shows a quarter of
 *      it (interference seldom slows down all trials): tau is this run.
 *
 * Same-run confirmation is two calls: gate_run(); measure the candidates again, a few trials more; put the median of
 * ALL of this run's trials into the series, and the median and minimum of the new ones; gate_run() again. The
 * second result counts, and it is a function of the stored data, so a replay reproduces it.
 * tests/unit/stats/test_nights_sim.c simulates it; docs/measuring.md has the rates.
 *
 * Simulated, 290,000 case-runs each, sd 0.3 to 2 %, three trials a run, nothing confirmed: confirmed false alarms per
 * 1000 at most 0.12 (normal, t4, glitches), 0.12 under drift, 0.42 under AR(1) 0.5; a 3 % step at sd 0.3 % is confirmed
 * in its third run in 0.98. tests/unit/stats/test_gate_sim.c repeats it on a smaller scale.
 *
 * State is explicit: struct gate_segment, which results from the alarms so far. It depends on the series only:
 * gate_run(after run t) with its segments from t - 1 equals one pass over all runs (tested). Verdicts do not depend on
 * the order of the series.
 */
#ifndef ROOFTILE_GATE_H
#define ROOFTILE_GATE_H

#include "rooftile/base.h"

#define GATE_BASELINE 30       /* most values before the change */
#define GATE_LEAST_BASELINE 6  /* fewest values before the change */
#define GATE_LONGEST 7         /* largest k */
#define GATE_CLASS_CASES 10    /* least number of cases for a common mode */
#define GATE_KEEP_RUNS 60      /* runs worth passing: 37 values of a series are used, some runs are missing */
#define GATE_TOO_NOISY 0.10    /* mde_week above this: "too noisy to gate" */
#define GATE_CASE_SIGMA 0.01   /* s0 while a class has too little data and class_sigma is unknown */
#define GATE_CLASS_SIGMA 0.005 /* s0 of a class's own series: variation common to its cases */

enum gate_state {
    GATE_MISSING,   /* no value in this run, so no verdict */
    GATE_LEARNING,  /* fewer than 6 earlier values in the segment; not gated */
    GATE_QUIET,     /* no change */
    GATE_TENTATIVE, /* changed in this run only */
    GATE_CONFIRMED, /* changed and stayed, or changed again in the repeated measurement */
};
extern const char *const gate_state_names[]; /* "missing" "learning" "quiet" "tentative" "confirmed" */

struct gate_options {
    double threshold; /* of |Z|: 5 */
    double delta;     /* smallest ratio - 1 that raises an alarm: 0.01 */
};
struct gate_options gate_defaults(void);

struct gate_series {
    const double *run_ns; /* `runs` values, oldest first, ending with this run; NaN = no result in that run */
    /* `runs` flags: this series starts a new baseline with this run (an accepted change, another timer); NULL = none.
     * Never an alarm */
    const bool *breaks;
    double floor;          /* timer tick / T; 0 unknown */
    double again_ns;       /* this run: median of the repeated trials only; 0: none */
    double again_least_ns; /* ... the fastest of them; 0: unknown, not tested */
    uint32_t class_index;  /* below class_count */
};

struct gate_set {
    const struct gate_series *series;
    size_t series_count;
    size_t runs;
    /* `runs` flags: all series start a new baseline (driver, firmware, power cap changed); NULL = none */
    const bool *breaks;
    size_t class_count;
    /* per class: expected sigma while the series are few or short (noise.h), NaN or 0 = unknown; NULL = all unknown:
     * GATE_CASE_SIGMA */
    const double *class_sigma;
};

/* The start of a series' current segment, and the sigma of the previous one. {0} = from the first run on. A break after
 * `start` overrides it. */
struct gate_segment {
    uint32_t start; /* run index into the series as passed; a caller that drops old runs subtracts them (not below 0) */
    double sigma;   /* s of the previous segment, w0 = 8; 0 = none */
};

struct gate_verdict {
    enum gate_state state;
    bool slower;  /* direction of `shift`, if tentative or confirmed */
    uint32_t tau; /* first run of the new level (index), if tentative or confirmed */
    uint32_t k;   /* of the finding: 1 unless confirmed by later runs */
    double shift; /* ratio - 1 of the new level to the baseline, without the common mode */
    double z;     /* Z_k; NaN if missing or learning */
    /* exp(m): the previous level, in this run's common mode; NaN if missing or learning. For a class: a ratio, relative
     * to the class's first run since the last break */
    double baseline_ns;
    uint32_t baseline_n; /* number of baseline values */
    double sigma;        /* s, without the autocorrelation factor; NaN if missing or learning, like the mdes */
    double common;       /* g_t; 0 = none */
    double mde_run;  /* ratio - 1 detected with probability 0.9 in its first run: exp(max(6.5 s, delta + 1.3 s)) - 1 */
    double mde_week; /* ... within seven runs: exp(max(3.3 s, delta + 0.7 s)) - 1 */
    bool too_noisy;  /* mde_week > GATE_TOO_NOISY (a label: its alarms remain valid) */
    struct gate_segment segment; /* for the next run: moved to tau if confirmed, otherwise unchanged */
};

/* Judges the last run. `out` (series_count) and `classes` (class_count, the common-mode series; MISSING if a class has
 * too few cases) must hold the segments that the previous run left in them, initially zeroed. ERR_CONFIG with outputs
 * unchanged: no run, a value that is not NaN and not positive and finite, a class or segment out of range, options or
 * sigmas out of range. 500 cases of 60 runs take some 20 ms. */
enum status gate_run(struct gate_verdict *out, struct gate_verdict *classes, const struct gate_set *set,
                     const struct gate_options *options, struct err *err);

/* Returns the smallest ratio - 1 detected with probability 0.9 by a series with run sd `sigma`; runs 1 or 7. */
double gate_mde(double sigma, unsigned runs, double delta);

#endif
