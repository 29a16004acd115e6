/* SPDX-License-Identifier: MIT
 *
 * The documents of `rooftile predict`, the cases of a plan predicted on several machines side by side, and of `rooftile
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

/* A predicted time; people see "~75.8 us" if its `method` is "description". */
struct cell cell_predicted(double time_ns, const char *method, struct arena *arena);
/* Explains "~", unless none of the `count` predictions uses a description. */
void document_described(struct document *document, size_t described, size_t count);

/* Adds the doubts about the machine's measured ceilings, if there are any. */
void document_doubted(struct document *document, const struct machine *machine);

struct forecast_case {
    const struct plan_case *plan_case;
    struct prediction prediction; /* for one pass over the timed steps; time_ns 0: none */
    const char *reason;           /* why there is no prediction */
    double waves_per_simd;        /* of the first launch; 0: unknown */
    /* For a case of a result: `prediction` is multiplied by measured / predicted time on the result's device. */
    const struct result_case *from; /* NULL: not from a result */
    double scale;                   /* 1: not scaled */
    /* Time forecast here for the trace's own kernel: for a matrix product that of the library, from the description of
     * its tuned kernels, multiplied by the time in the trace over the same forecast for the trace's machine. 0: not
     * from a trace */
    double program_ns;
    bool is_ours;             /* program_ns is our kernel's, because no description of a tuned one can replace it */
    const char *uncalibrated; /* why a measured case is not scaled; NULL: it is */
};

struct forecast {
    const char *name; /* of the machine, as requested */
    const struct machine *machine;
    const struct machine_borrowed *borrowed;
    const struct result *of;           /* the result that the cases come from; NULL: none */
    const struct forecast_case *cases; /* in the order of the plan */
    size_t count;
    double traced_ns;      /* total GPU time of the trace that the cases come from; 0: no trace */
    const char *traced_on; /* machine whose traced times scale program_ns; NULL: not scaled */
};

/* Tables for people and everything as JSON. Cases on different machines are matched by plan_case.asked. */
void forecast_document(struct document *document, const struct forecast *forecasts, size_t count);

/* Notes of predictions with the kernels that they apply to; notes that differ in numbers only are merged. */
struct forecast_note {
    const char *text, **kernels;
    size_t kernel_count;
};
struct forecast_notes {
    struct forecast_note *items;
    size_t count;
};
/* Adds a note about a case of that kernel. The notes live in the arena. */
void forecast_note(struct forecast_notes *notes, const char *kernel, const char *text, struct arena *arena);
/* Writes one line per note, after "name: " unless `name` is NULL. */
void forecast_say_notes(struct document *document, const char *name, const struct forecast_notes *notes);

/* Reports swept parameters that change no time (in `times`; 0: unknown) among cases that differ in nothing else. */
void forecast_unmoved(struct document *document, const char *name, const struct plan_case *const *cases,
                      const double *times, size_t count);

/* The data behind `rooftile explain` for one case. */
struct explained_case {
    struct explanation explanation;
    const struct machine *machine;
    const struct machine_borrowed *borrowed;
    const struct result_case *measured; /* NULL: not measured */
    const struct result *result;        /* the result with this case and its ablation twins */
    const char *run;                    /* arguments that run this case: "stream_triad --set n=1048576" */
    const char *reason;                 /* why there is no explanation; NULL: there is one */
};
/* The measured time, or the predicted one if the case was not measured. */
double explained_ns(const struct explained_case *c);

void explain_document(struct document *document, const struct explained_case *cases, size_t count);

#endif
