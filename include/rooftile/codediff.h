/* SPDX-License-Identifier: MIT
 *
 * Compares two builds of a kernel: changes in registers, occupancy and instructions, whether they hurt, and their
 * cause. Works on inspections (inspection.h); pure.
 *
 * The two are judged as an unordered pair, and the result is then stated for the requested order: the verdict on B and
 * A is the verdict on A and B with "hurt" and "helped" exchanged, and has the same cause.
 *
 * Signs of a worse build are new spills or scratch, fewer waves, 5 % more issue clocks or 50 % more round trips to
 * memory for the same work in the hot loop, loads that are waited for at once where all were issued ahead, and new
 * compare-and-swap atomics, fences or bank conflicts of LDS. If signs disagree, waves and round trips count less; if
 * that does not decide, the verdict is "mixed". If both builds were walked in the same launch (`walked`), the model's
 * time decides: a change of 5 % on its own, 2 % between signs that disagree, and 10 % against signs that agree (2 %
 * make those "mixed"). Issue clocks and round trips are no sign if the time changes by less than 1 % (except more round
 * trips of a loop that does the same), or if the hot loops differ in nesting. If loads are no longer issued ahead, only
 * a change of time by 10 % counts, as the many waves of the model's launch hide that.
 *
 * The same work: a kernel without loops does the same in both builds. For hot loops the work per pass follows from the
 * iterations if both were walked, otherwise from matrix operations, then FLOPs, then loads and stores if they agree. A
 * compiler may repeat loads and stores, so neither alone is a measure. If none of these decides, if only one of the two
 * has a loop, or if a loop calls unknown code, figures of the loop are not compared.
 */
#ifndef ROOFTILE_CODEDIFF_H
#define ROOFTILE_CODEDIFF_H

#include "rooftile/inspection.h"

/* Figures of a kernel. Figures of the hot loop (CODE_LOOP_*) are for one pass through it; those of `after` are scaled
 * to the work of one pass of `before`. */
enum code_metric {
    CODE_VGPRS,
    CODE_AGPRS,
    CODE_LIVE, /* most vector registers that hold a value read later, at any one time */
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
    CODE_LOOP_AHEAD, /* the least share of an iteration between a load and the wait for it; not scaled */
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
    double value[CODE_METRICS]; /* NAN: unknown */
};

enum code_verdict { CODE_SAME, CODE_CHANGED, CODE_HELPED, CODE_MIXED, CODE_HURT };
extern const char *const code_verdicts[];

/* Matched loops: the same nesting and the most similar work. */
struct code_loops {
    size_t before, after; /* ISA_NO_LOOP: none */
};

struct code_pair {
    const char *name;  /* mangled */
    const char *label; /* of the catalog: the case; otherwise the name */
    const char *target;
    const struct inspect_kernel *before, *after;
    const struct codeobj *objects[2];
    /* The launch in which both were walked without unknowns, so that `executed` of both is comparable: "the launch of
     * its case"; NULL: not walked. */
    const char *walked;
    double time_ns[2]; /* modelled time of a device full of such workgroups; NAN: unknown */
    struct code_figures figures[2];
    size_t hot[2]; /* ISA_NO_LOOP: none */
    double scale;  /* work of a pass before over that after; NAN: not comparable */
    struct code_loops *loops;
    size_t loop_count;
    enum code_verdict verdict;
    const char *worse, *better; /* "12 spilled VGPRs; 8 to 4 waves per SIMD": what hurts, what helps; "" none */
    const char *cause;          /* "register limit: ..."; "" if nothing changed */
    const char *cause_code;     /* the rule that found it: "register-limit"; the same for the reversed order */
};

/* Sets all members after `time_ns`. */
void code_pair_compare(struct code_pair *pair, struct arena *arena);

/* Returns the accesses of the hot loops, or of the kernels, whose size is not in the code (tensors, images), on the
 * side that has more: their bytes are in no figure, and bytes do not tell how much work a pass does. */
uint64_t codediff_unknown_bytes(const struct code_pair *pair);

/* Returns 1 for better, -1 for worse, 0 for the same: within half a per cent, or unknown. */
int code_metric_judge(enum code_metric metric, double before, double after);

/* Two builds. */
struct codediff {
    const char *names[2]; /* of the sides, as given */
    struct code_pair *pairs;
    size_t count;
    const char **only[2]; /* kernels that only this side has */
    size_t only_count[2];
    const char **problems; /* sources that could not be built or read */
    size_t problem_count;
    const char *pins; /* the file of accepted figures; NULL: none */
    size_t accepted;  /* kernels that would be hurt if their figures were not accepted */
};
size_t codediff_count(const struct codediff *diff, enum code_verdict verdict);

/* Returns whether the figures hurt, with `before` as the accepted ones. Appends the reasons. */
bool code_figures_hurt(struct text *why, const struct code_figures *before, const struct code_figures *after,
                       const struct occupancy *occupancy);

#endif
