/* SPDX-License-Identifier: MIT
 *
 * The gate's pass over all runs, which tests go through run by run.
 */
#ifndef ROOFTILE_STATS_GATE_INTERNAL_H
#define ROOFTILE_STATS_GATE_INTERNAL_H

#include "rooftile/gate.h"

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
    double *usual;          /* series: median of its last values before the latest run; NaN = none */
    double *residuals;      /* room for one value per series */
    double *expected;       /* s0 of each class this run */
};
void gate_pass_init(struct gate_pass *pass, const struct gate_set *set, const struct gate_options *options,
                    struct arena *arena);
void gate_pass_step(struct gate_pass *pass);
/* As gate_run has `out` and `classes`. */
void gate_pass_judge(struct gate_pass *pass, struct gate_verdict *out, struct gate_verdict *classes);

#endif
