/* SPDX-License-Identifier: MIT
 *
 * A predicted time: its terms, its bound, and an interval that should contain the measured time. Made by the walk of a
 * code object or by description (library GEMMs, element-wise kernels, ...); both end in prediction_conclude(). The
 * lower bound (roofline.h) is separate from it.
 */
#ifndef ROOFTILE_PREDICTION_H
#define ROOFTILE_PREDICTION_H

#include "rooftile/machine.h"

/* The terms of a launch's time. The first ones overlap; TERM_LAUNCH is added. */
enum prediction_term {
    TERM_MATRIX,   /* issue of matrix instructions */
    TERM_VECTOR,   /* issue of vector arithmetic */
    TERM_SCALAR,   /* issue of scalar instructions */
    TERM_LDS,      /* LDS transactions, bank conflicts included */
    TERM_L1,       /* lines through the L1 (L0) caches */
    TERM_L2,       /* ... the L2 */
    TERM_MALL,     /* ... the Infinity Cache */
    TERM_MEMORY,   /* ... the memory */
    TERM_LATENCY,  /* the dependent chain of one wave, times the rounds of resident workgroups */
    TERM_ATOMICS,  /* serialized atomics on the same addresses */
    TERM_DISPATCH, /* starting workgroups */
    TERM_LAUNCH,   /* starting and ending the kernel */
    TERM_COUNT,
};
#define TERM_OVERLAPS TERM_LAUNCH                            /* number of overlapping terms */
const char *prediction_term_name(enum prediction_term term); /* "matrix" ... "launch" */

#define PREDICTION_NOTES 12

struct prediction {
    double time_ns;         /* of one launch; 0: not predicted */
    double low_ns, high_ns; /* contain the measured time in 80 % of cases */
    double term_ns[TERM_COUNT];
    double within_ns[TERM_COUNT]; /* part of a term that TERM_LATENCY has, too: its own instructions */
    enum prediction_term limiter; /* the largest term */
    /* named as in lower bounds: a level or unit of the machine ("HBM", "matrix_f16") or "launch"; prediction_conclude
     * replaces "" by the level or unit behind the limiter */
    char bound[MACHINE_NAME];
    const char *method; /* "walk" or "description" */
    char constants[80]; /* "gemm bf16 on mi355x": source of borrowed constants, which a note mentions; "": its own */
    /* assumptions for unknown values: numbers of a relative, branches on unknown data */
    char notes[PREDICTION_NOTES][160];
    uint32_t note_count;
    bool work_disagrees; /* the stated work and the code's work differ by a factor above 2: a finding, and a note */
};

#define WORK_NOTE "\"work\" of its manifest " /* begins the note of work_disagrees */

/* A prediction as plans and results store it. No text is NULL. */
struct predicted {
    double time_ns, low_ns, high_ns; /* time_ns 0: not predicted, `notes` have the reason */
    double term_ns[TERM_COUNT];
    const char *method, *limiter, *bound;
    const char *const *notes;
    size_t note_count;
    bool work_disagrees;
};

/* `like`: an earlier one whose equal texts are shared; NULL: none. */
void prediction_keep(struct predicted *kept, const struct prediction *prediction, const struct predicted *like,
                     struct arena *arena);

/* The error range of a kind of prediction, as factors: 10 % of the true times are below `low` times the prediction, 10
 * % above `high` times it. */
struct prediction_spread {
    double low, high;
};

/* Returns (sum of overlapping terms ^ norm) ^ (1 / norm) + the added terms, where the part of a term within the chain
 * counts only there. A norm of 3 is between the maximum (perfect overlap) and the sum: terms of similar size slow each
 * other down, small ones are hidden. */
double prediction_join(const struct prediction *prediction, double norm);

/* Sets time_ns to prediction_join, limiter and
 * interval, and bound if it is "": `compute` is the unit behind TERM_MATRIX and TERM_VECTOR ("" if none). */
void prediction_conclude(struct prediction *prediction, const struct machine *machine, const char *compute, double norm,
                         struct prediction_spread spread);

/* The same for a time_ns computed in another way: sets limiter, interval and bound. */
void prediction_finish(struct prediction *prediction, const struct machine *machine, const char *compute,
                       struct prediction_spread spread);

/* Multiplies time, interval and terms by `factor`. */
void prediction_scale(struct prediction *prediction, double factor);

/* Adds a note, unless it exists or there are already PREDICTION_NOTES. */
void prediction_note(struct prediction *prediction, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
