/* SPDX-License-Identifier: MIT
 *
 * The two parts of the gate: all series run by run, with their common mode (gate.c); judging one series (gate_judge.c).
 */
#ifndef ROOFTILE_STATS_GATE_INTERNAL_H
#define ROOFTILE_STATS_GATE_INTERNAL_H

#include "rooftile/gate.h"

/* A series' last adjusted values since its last break, oldest first and sorted. */
struct gate_window {
    double recent[GATE_BASELINE], sorted[GATE_BASELINE];
    uint32_t count;
};

/* One pass over the runs: step as many times as there are runs to take in, judge the latest. */
struct gate_pass {
    const struct gate_set *set;
    const struct gate_options *options;
    size_t run;             /* the next one to take in */
    double *adjusted;       /* series by runs: z; NaN = missing */
    double *measured;       /* classes by runs: g where it was measured; NaN = too few cases */
    double *used;           /* classes: what was taken out of the latest run */
    double *again;          /* classes: g of what was measured again of the last run; NaN = not of all its cases */
    uint32_t *series_break; /* series: the latest run that started anew */
    uint32_t class_break;   /* the latest run at which everything did */
    struct gate_window *windows;
    double *residuals;                              /* room for one value per series */
    struct gate_segment *segments, *class_segments; /* as the next run finds them */
    double *expected;                               /* s0 of each class this run */
};
void gate_pass_init(struct gate_pass *pass, const struct gate_set *set, const struct gate_segment *segments,
                    const struct gate_segment *class_segments, const struct gate_options *options, struct arena *arena);
void gate_pass_step(struct gate_pass *pass);
void gate_pass_judge(struct gate_pass *pass, struct gate_verdict *out, struct gate_verdict *classes);

/* One series up to this run, as gate_judge sees it. */
struct gate_view {
    const double *values; /* run by run, ln, NaN = missing */
    size_t this_run;      /* index of the run judged */
    struct gate_segment segment;
    double floor, again; /* floor: timer tick / T; again: of this run, measured again, ln; NaN = it was not */
    double again_least;  /* ... the fastest trial; NaN = not known */
};

/* The values of a view's segment that matter: the last ones, this run's included. */
#define GATE_POINTS (GATE_BASELINE + GATE_LONGEST)
struct gate_points {
    double value[GATE_POINTS];
    uint32_t run[GATE_POINTS];
    size_t count;
};
void gate_points_of(struct gate_points *points, const struct gate_view *view);

/* x: the robust sd of `count` values in their order. */
double gate_spread(const double *values, size_t count);

/* `s0` is what a segment without a past of its own expects. */
void gate_judge(struct gate_verdict *out, const struct gate_view *view, double s0, const struct gate_options *options);

#endif
