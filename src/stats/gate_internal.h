/* SPDX-License-Identifier: MIT
 *
 * The gate's pass over all runs, which tests execute run by run.
 */
#ifndef ROOFTILE_STATS_GATE_INTERNAL_H
#define ROOFTILE_STATS_GATE_INTERNAL_H

#include "rooftile/gate.h"

/* One pass over the runs: call step once per run to include, then judge the last one. */
struct gate_pass {
    const struct gate_set *set;
    const struct gate_options *options;
    size_t run;             /* next run to include */
    double *adjusted;       /* series by runs: z; NaN = missing */
    double *measured;       /* classes by runs: g if it was measured; NaN = too few cases */
    double *used;           /* classes: the common mode removed from the latest run */
    double *again;          /* classes: g of the last run's repeated measurement; NaN = not of all its cases */
    uint32_t *series_break; /* series: the latest run that started a new baseline */
    uint32_t class_break;   /* the latest run at which all series did */
    double *usual;          /* series: median of its last values before the latest run; NaN = none */
    double *residuals;      /* room for one value per series */
    double *expected;       /* s0 of each class in this run */
};
void gate_pass_init(struct gate_pass *pass, const struct gate_set *set, const struct gate_options *options,
                    struct arena *arena);
void gate_pass_step(struct gate_pass *pass);
/* `out` and `classes` as in gate_run. */
void gate_pass_judge(struct gate_pass *pass, struct gate_verdict *out, struct gate_verdict *classes);

#endif
