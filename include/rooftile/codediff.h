/* SPDX-License-Identifier: MIT
 *
 * Two builds of a kernel side by side: what of registers, occupancy and instructions changed, whether that hurts, and
 * by what cause. Works on inspections (inspection.h); pure.
 *
 * The two are judged as a pair without an order, and what is found is then said for the order that was asked for: the
 * verdict on B and A is the verdict on A and B with "hurt" and "helped" exchanged, and has the same cause.
 *
 * Signs of a worse build are new spills or scratch, fewer waves, 5 % more issue clocks or half as many round trips to
 * memory again for the same work in the hot loop, and atomics by compare and swap or fences where there were none.
 * Waves and round trips count less where signs disagree; if that does not tell, the verdict is "mixed". Where both
 * builds were walked in the same launch (`walked`), the model's time decides: 5 % of it alone, 2 % between signs that
 * disagree, and 10 % against signs that agree (2 % make those "mixed"). Issue clocks and round trips are no sign where
 * it stays within 1 %, or where the hot loops are not of one nesting.
 *
 * The same work: a kernel without loops does it in both builds. Of hot loops the turns tell it, where both were
 * walked; else matrix operations, then FLOPs, then loads and stores where they agree. A compiler may repeat loads and
 * stores, so neither alone is a measure. Where nothing tells, one of the two has no loop, or a loop calls what cannot
 * be followed, figures of the loop are not compared.
 */
#ifndef ROOFTILE_CODEDIFF_H
#define ROOFTILE_CODEDIFF_H

#include "rooftile/inspection.h"

/* Figures of a kernel. Those of the hot loop (CODE_LOOP_*) are for one pass through it; those of `after` are scaled to
 * the work of one pass of `before`. */
enum code_metric {
    CODE_VGPRS,
    CODE_AGPRS,
    CODE_LIVE, /* most vector registers that hold a value read later, at one time */
    CODE_SGPRS,
    CODE_VGPR_SPILLS,
    CODE_SGPR_SPILLS,
    CODE_SCRATCH,
    CODE_LDS,
    CODE_WAVES,
    CODE_BYTES,
    CODE_INSTRUCTIONS,
    CODE_LOOP_ISSUE,
    CODE_LOOP_INSTRUCTIONS,
    CODE_LOOP_MATRIX,
    CODE_LOOP_WAITS,
    CODE_LOOP_DRAINS,
    CODE_LOOP_CHAIN,
    CODE_LOOP_SCRATCH,
    CODE_LOOP_TRIPS,
    CODE_TIME,
    CODE_METRICS
};
struct code_metric_row {
    const char *key;   /* with its unit: "lds_bytes" */
    const char *title; /* for people */
    bool more_is_better;
    bool is_neutral; /* neither more nor less is better */
};
extern const struct code_metric_row code_metrics[CODE_METRICS];

struct code_figures {
    double value[CODE_METRICS]; /* NAN: not known */
};

enum code_verdict { CODE_SAME, CODE_CHANGED, CODE_HELPED, CODE_MIXED, CODE_HURT };
const char *code_verdict_name(enum code_verdict verdict);

/* Loops of the same nesting and the most similar work. */
struct code_loops {
    size_t before, after; /* ISA_NO_LOOP: there is none */
};

struct code_pair {
    const char *name;  /* mangled */
    const char *label; /* of the catalog: the case; else the name */
    const char *target;
    const struct inspect_kernel *before, *after;
    const struct codeobj *objects[2];
    /* The launch in which both were walked with nothing unknown, so that `executed` of either can be compared: "the
     * launch of its case"; NULL: they were not. */
    const char *walked;
    double time_ns[2]; /* of as many such workgroups as fill a device, by the model; NAN: not known */
    struct code_figures figures[2];
    size_t hot[2]; /* ISA_NO_LOOP: none */
    double scale;  /* work of a pass before over that after; NAN: they cannot be compared */
    struct code_loops *loops;
    size_t loop_count;
    enum code_verdict verdict;
    const char *worse, *better; /* "12 spilled VGPRs; 8 to 4 waves per SIMD": what hurts, what helps; "" nothing */
    const char *cause;          /* "register limit: ..."; "" where nothing changed */
    const char *cause_code;     /* which rule named it: "register-limit"; the same for the two in the other order */
};

/* Fills everything behind `time_ns`. */
void code_pair_compare(struct code_pair *pair, struct arena *arena);

/* Better, worse or the same: 1, -1, 0; within half a per cent of each other, or unknown, is the same. */
int code_metric_judge(enum code_metric metric, double before, double after);

/* Two builds. */
struct codediff {
    const char *names[2]; /* of the sides, as given */
    struct code_pair *pairs;
    size_t count;
    const char **only[2]; /* kernels that only this side has */
    size_t only_count[2];
    const char **problems; /* what could not be built or read */
    size_t problem_count;
    const char *pins; /* the file of accepted figures; NULL: none */
    size_t accepted;  /* kernels that would be hurt without it */
};
size_t codediff_count(const struct codediff *diff, enum code_verdict verdict);

/* Do the figures hurt, as if `before` had been accepted? Appends why. */
bool code_figures_hurt(struct text *why, const struct code_figures *before, const struct code_figures *after,
                       const struct occupancy *occupancy);

#endif
