/* SPDX-License-Identifier: MIT
 *
 * Where the time of a case goes: causes (cost.h) with the cost of each, found by predicting again without it, and the
 * hardware counters that tell them apart.
 *
 *     explain_case(&explanation, predictor, plan_case, builds, machine, measured_hz, arena, &err);
 *
 * Costs overlap: what two causes cost together is not their sum.
 */
#ifndef ROOFTILE_EXPLAIN_H
#define ROOFTILE_EXPLAIN_H

#include "rooftile/predictor.h"

struct explained_cost {
    enum cost cost;
    double cost_ns;       /* by which the prediction falls without it */
    const char *evidence; /* "" where there is none */
};

/* A hardware counter of rocprofv3 and what it should read in one launch. */
struct explained_counter {
    const char *name; /* "SQ_LDS_BANK_CONFLICT" */
    const char *what; /* "clocks that LDS loses to bank conflicts" */
    enum cost cost;   /* that it is evidence for */
    double predicted;
    double measured; /* NaN: not read */
};

struct explanation {
    const struct plan_case *plan_case;
    struct prediction prediction;        /* at the clock that was measured, where one was */
    const struct explained_cost *causes; /* the most costly first; what costs less than 1 % is skipped */
    size_t cause_count;
    /* Of the launch that takes the most time; unknown where none was walked. */
    const char *symbol; /* NULL */
    double waves_per_simd, waves_most;
    uint32_t vgprs, sgprs, lds_bytes;
    const struct machine_level *level;  /* the outermost that its data crosses; NULL: none, or not known */
    double level_bytes, level_time_ns;  /* bytes that cross it, and the time of its term */
    struct explained_counter *counters; /* those of the most costly causes first */
    size_t counter_count;
};

/* `measured_hz`: the clock while it was measured; 0: not known. Everything lives in the arena. */
enum status explain_case(struct explanation *explanation, struct predictor *predictor,
                         const struct plan_case *plan_case, const struct build_result *builds,
                         const struct machine *machine, double measured_hz, struct arena *arena, struct err *err);

/* Adds the counters that the launch's target has, with the values expected from its walk (counters.c). */
void explain_counters(struct explanation *explanation, const struct predicted_launch *launch, struct arena *arena);
void explain_sort_counters(struct explanation *explanation);

/* The command that reads them: `run` is the rest of a command line of rooftile. */
void explain_counter_command(struct text *text, const struct explanation *explanation, const char *run);

#endif
