/* SPDX-License-Identifier: MIT
 *
 * Explains the time of a case: causes (cost.h) with the cost of each, found by predicting again without it, and the
 * hardware counters that tell them apart.
 *
 *     explain_case(&explanation, predictor, plan_case, builds, machine, measured_hz, arena, &err);
 *
 * Costs overlap: the joint cost of two causes is not the sum of their costs.
 */
#ifndef ROOFTILE_EXPLAIN_H
#define ROOFTILE_EXPLAIN_H

#include "rooftile/predictor.h"

struct explained_cost {
    enum cost cost;
    double cost_ns;       /* decrease of the prediction without it */
    const char *evidence; /* "" if there is none */
};

/* A hardware counter of rocprofv3 and its expected value for one launch. */
struct explained_counter {
    const char *name; /* "SQ_LDS_BANK_CONFLICT" */
    const char *what; /* "clocks that LDS loses to bank conflicts" */
    enum cost cost;   /* the cause that it indicates */
    double predicted;
    double measured; /* NaN: not measured */
};

struct explanation {
    const struct plan_case *plan_case;
    struct prediction prediction;        /* at the measured clock, if there is one */
    const struct explained_cost *causes; /* the most costly first, then the work itself; omits those below 1 % */
    size_t cause_count;
    /* For the launch that takes the most time; unknown if none was walked. */
    const char *symbol; /* NULL */
    double waves_per_simd, waves_most;
    uint32_t vgprs, sgprs, lds_bytes;
    const struct machine_level *level;  /* the outermost that its data crosses; NULL: none, or unknown */
    double level_bytes, level_time_ns;  /* bytes that cross it, and the time of its term */
    struct explained_counter *counters; /* sorted by the cost of their causes, highest first */
    size_t counter_count;
};

/* `measured_hz`, `measured_ns`: the clock during the measurement, and its time; 0: unknown. Everything lives in the
 * arena. */
enum status explain_case(struct explanation *explanation, struct predictor *predictor,
                         const struct plan_case *plan_case, const struct build_result *builds,
                         const struct machine *machine, double measured_hz, double measured_ns, struct arena *arena,
                         struct err *err);

/* Adds the counters that the launch's target has, with values expected from its walk (counters.c). */
void explain_counters(struct explanation *explanation, const struct predicted_launch *launch, struct arena *arena);
void explain_sort_counters(struct explanation *explanation);

/* Appends the command that reads them; `run` is the rest of a command line of rooftile. */
void explain_counter_command(struct text *text, const struct explanation *explanation, const char *run);

#endif
