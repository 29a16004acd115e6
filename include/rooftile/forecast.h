/* SPDX-License-Identifier: MIT
 *
 * What `rooftile predict` shows, the cases of a plan predicted on several machines side by side, and `rooftile
 * explain`.
 */
#ifndef ROOFTILE_FORECAST_H
#define ROOFTILE_FORECAST_H

#include "rooftile/explain.h"
#include "rooftile/machine.h"
#include "rooftile/plan.h"
#include "rooftile/prediction.h"
#include "rooftile/result.h"
#include "rooftile/table.h"

/* A predicted time; people read "~75.8 us" where its `method` is "description". */
struct cell cell_predicted(double time_ns, const char *method, struct arena *arena);
/* Says what "~" means, unless none of the `count` predictions is described. */
void document_described(struct document *document, size_t described, size_t count);

/* What speaks against the machine's measured ceilings; nothing where nothing does. */
void document_doubted(struct document *document, const struct machine *machine);

struct forecast_case {
    const struct plan_case *plan_case;
    struct prediction prediction; /* of one pass over the timed steps; time_ns 0: there is none */
    const char *reason;           /* why there is none */
    double waves_per_simd;        /* of the first launch; 0 unknown */
    /* For a case of a result: `prediction` is scaled by measured over predicted time on the result's device. */
    const struct result_case *from; /* NULL: not from a result */
    double scale;                   /* 1: not scaled */
    /* What the trace's own kernel is forecast to take here: of a product the library's, as its tuned kernels are
     * described, scaled by what it took in the trace over the same on the trace's machine. 0: not of a trace */
    double program_ns;
    bool is_ours;             /* program_ns is our kernel's, which no description of a tuned one replaces */
    const char *uncalibrated; /* why it is not scaled although it was measured; NULL */
};

struct forecast {
    const char *name; /* of the machine, as it was asked for */
    const struct machine *machine;
    const struct machine_borrowed *borrowed;
    const struct result *of;           /* whose cases they are; NULL: not from a result */
    const struct forecast_case *cases; /* those of the plan, in its order */
    size_t count;
    double traced_ns;      /* all GPU time of the trace that the cases are of; 0: of none */
    const char *traced_on; /* the machine whose traced times scale program_ns; NULL: they do not */
};

/* Tables for people and all of it as JSON. Cases of the machines are joined by what was asked for (plan_case.asked). */
void forecast_document(struct document *document, const struct forecast *forecasts, size_t count);

/* Notes of predictions, with the kernels that each is about; notes that differ in numbers alone are joined. */
struct forecast_note {
    const char *text, **kernels;
    size_t kernel_count;
};
struct forecast_notes {
    struct forecast_note *items;
    size_t count;
};
/* Adds a note about a case of that kernel; it lives in the arena. */
void forecast_note(struct forecast_notes *notes, const char *kernel, const char *text, struct arena *arena);
/* A line each, behind "name: " where `name` is not NULL. */
void forecast_say_notes(struct document *document, const char *name, const struct forecast_notes *notes);

/* Says which swept parameters change no time (of `times`, 0 unknown), where cases differ in nothing else. */
void forecast_unmoved(struct document *document, const char *name, const struct plan_case *const *cases,
                      const double *times, size_t count);

/* What `rooftile explain` shows of one case. */
struct explained_case {
    struct explanation explanation;
    const struct machine *machine;
    const struct machine_borrowed *borrowed;
    const struct result_case *measured; /* NULL: it was not */
    const struct result *result;        /* that has it, and its ablation twins */
    const char *run;                    /* words that run this case: "stream_triad --set n=1048576" */
    const char *reason;                 /* why there is no explanation; NULL */
};
/* Measured, else predicted. */
double explained_ns(const struct explained_case *c);

void explain_document(struct document *document, const struct explained_case *cases, size_t count);

#endif
