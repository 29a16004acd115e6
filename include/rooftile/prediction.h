/* SPDX-License-Identifier: MIT
 *
 * A predicted time: its terms, its bound, and an interval in which the truth is expected. Made by the walk of a code
 * object or by description (library GEMMs, element-wise kernels, ...); both end in prediction_conclude(). The lower
 * bound (roofline.h) is separate from it.
 */
#ifndef ROOFTILE_PREDICTION_H
#define ROOFTILE_PREDICTION_H

#include "rooftile/machine.h"

/* What the time of a launch is made of. The first ones overlap; TERM_LAUNCH adds up. */
enum prediction_term {
    TERM_MATRIX,   /* issue of matrix instructions */
    TERM_VECTOR,   /* of vector arithmetic */
    TERM_SCALAR,   /* of scalar instructions */
    TERM_LDS,      /* LDS transactions, bank conflicts included */
    TERM_L1,       /* lines through the L1 (L0) caches */
    TERM_L2,       /* ... the L2 */
    TERM_MALL,     /* ... the Infinity Cache */
    TERM_MEMORY,   /* ... the memory */
    TERM_LATENCY,  /* the dependent chain of one wave, times the rounds of resident workgroups */
    TERM_ATOMICS,  /* atomics on the same addresses, one after the other */
    TERM_DISPATCH, /* handing out workgroups */
    TERM_LAUNCH,   /* starting and ending the kernel */
    TERM_COUNT,
};
#define TERM_OVERLAPS TERM_LAUNCH                            /* the number of those that overlap */
const char *prediction_term_name(enum prediction_term term); /* "matrix" ... "launch" */

#define PREDICTION_NOTES 12

struct prediction {
    double time_ns;         /* of one launch; 0: not predicted */
    double low_ns, high_ns; /* the truth lies between them in 80 % of cases */
    double term_ns[TERM_COUNT];
    enum prediction_term limiter; /* the largest term: what takes the time */
    /* named as in lower bounds: a level or unit of the machine ("HBM", "matrix_f16") or "launch"; prediction_conclude
     * replaces "" by what the limiter stands for */
    char bound[MACHINE_NAME];
    const char *method; /* "walk" or "description" */
    char constants[80]; /* "gemm bf16 on mi355x": taken from there for want of its own, and noted; "": its own */
    /* what the prediction assumes because it is not known: numbers of a relative, branches on unknown data */
    char notes[PREDICTION_NOTES][160];
    uint32_t note_count;
    bool work_disagrees; /* the stated work is off from what the code does by a factor above 2: a finding, and a note */
};

#define WORK_NOTE "\"work\" of its manifest " /* begins the note of work_disagrees */

/* A prediction as plans and results store it. No text is NULL. */
struct predicted {
    double time_ns, low_ns, high_ns; /* time_ns 0: not predicted, `notes` say why */
    double term_ns[TERM_COUNT];
    const char *method, *limiter, *bound;
    const char *const *notes;
    size_t note_count;
    bool work_disagrees;
};

/* `like`: an earlier one, whose texts are shared where they are equal; NULL: none. */
void prediction_keep(struct predicted *kept, const struct prediction *prediction, const struct predicted *like,
                     struct arena *arena);

/* How far the truth lies from predictions of a kind, as factors: 10 % of the truths are below `low` times the
 * prediction, 10 % above `high` times it. */
struct prediction_spread {
    double low, high;
};

/* time_ns = (sum of overlapping terms ^ norm) ^ (1 / norm) + the terms that add up. A norm of 3 stands between the
 * maximum (perfect overlap) and the sum: terms of the same size slow each other down, small ones hide. Sets limiter,
 * interval, and bound where that is "": `compute` is the unit that TERM_MATRIX and TERM_VECTOR stand for ("" if none).
 */
void prediction_conclude(struct prediction *prediction, const struct machine *machine, const char *compute, double norm,
                         struct prediction_spread spread);

/* The same for a time_ns that was computed in another way: sets limiter, interval and bound. */
void prediction_finish(struct prediction *prediction, const struct machine *machine, const char *compute,
                       struct prediction_spread spread);

/* Multiplies time, interval and terms by `factor`. */
void prediction_scale(struct prediction *prediction, double factor);

/* Adds a note, unless it is there already or there are PREDICTION_NOTES. */
void prediction_note(struct prediction *prediction, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
