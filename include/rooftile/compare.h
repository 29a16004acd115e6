/* SPDX-License-Identifier: MIT
 *
 * Compare: two results of one plan on one device, and what changed between them, case by case, by the algorithm of
 * shift.h. A pure function of the two results, the learned noise and the options: equal inputs give equal bytes.
 *
 * Cases are matched by plan id (result_id_length). Refused as a whole (ERR_CONFIG with the reason): results of
 * different devices or partition modes, a prediction against a measurement, a run that was marked as no measurement, a
 * plan id that one of them has twice, noise that was learned elsewhere. Refused per case: another timer or cache mode,
 * other work per launch. Other differences of a case's identity are reported, and a shift is attributed to them.
 *
 * What counts against the exit code: SLOWER cases and key figures; cases that were ok in the base and now fail, crash,
 * hang, give wrong results or are impossible; cases and key figures of the base that are missing in the new result.
 * A class that is slower as a whole is one line (shift_group), and a finding too. One trial against one is never
 * confirmed. With filters the other cases are ignored, and so are key figures, which are made from all cases.
 *
 * Of a run with more than SHIFT_MAX_TRIALS trials the first SHIFT_MAX_TRIALS are compared.
 */
#ifndef ROOFTILE_COMPARE_H
#define ROOFTILE_COMPARE_H

#include "rooftile/noise_file.h"
#include "rooftile/result.h"
#include "rooftile/shift.h"

enum compare_state {
    COMPARE_JUDGED,  /* `shift` holds */
    COMPARE_REFUSED, /* both measured, but not comparable: reason */
    COMPARE_BROKEN,  /* measured in the base, and now a finding or an error */
    COMPARE_FIXED,   /* the other way round */
    COMPARE_BOTH_BROKEN,
    COMPARE_MISSING, /* only in the base */
    COMPARE_NEW,     /* only in the new one */
    COMPARE_SKIPPED, /* skipped on either side, with its reason */
    COMPARE_STATES
};
/* "judged" "refused" "broken" "fixed" "both_broken" "missing" "new" "skipped" */
extern const char *const compare_state_names[];

/* Where a confirmed shift comes from; a label, never a gate. */
enum compare_cause {
    CAUSE_NONE,        /* no shift, confirmed or suspect; or nothing is known of the code */
    CAUSE_CODE,        /* other code, and cycles moved with the time (or are unknown) */
    CAUSE_LAUNCH,      /* the same code, launched otherwise */
    CAUSE_INPUTS,      /* the same launch of other data */
    CAUSE_ENVIRONMENT, /* the same code object, launch and data: something other than the case changed */
    CAUSE_CLOCK,       /* time moved, cycles did not */
    CAUSE_NOISE,       /* nothing confirmed, and what moved was interference: the fastest trials do not show it, or a
                          suspect case was flagged as interference or throttled */
};
extern const char *const compare_cause_names[]; /* "" "code" "launch" "input data" ... */

struct compare_case {
    const char *id; /* plan id */
    const char *label, *class;
    const struct result_case *base, *now; /* NULL where it is missing */
    enum compare_state state;
    const char *reason; /* of every state but judged: why; of a judged one "" */
    struct shift shift;
    enum compare_cause cause;
    double cycles_ratio;    /* NaN = unknown */
    bool same_code;         /* both hashes known and equal */
    const char *changes;    /* of a judged one: result_case_changes */
    size_t interference[2]; /* trials of base and new that were flagged as interference or throttled */
};

struct compare_class {
    const char *name;
    struct shift_group group;
};

struct compare_kpi {
    const char *name, *of, *unit; /* as in struct result_kpi */
    bool higher_is_better;
    double base, now;   /* NaN with reason */
    const char *reason; /* of a figure that is not judged */
    bool judged;        /* `shift` is of the figure, inverted if higher is better: SHIFT_SLOWER means worse */
    bool lost;          /* the base has a value and the new result has none: a finding */
    struct shift shift;
};

/* A fact of environment, tool or ceilings that differs. */
struct compare_difference {
    const char *what, *base, *now;
};

struct comparison {
    const struct result *base, *now;
    struct shift_options options;
    const struct compare_case *cases; /* in the new result's order, missing ones last */
    size_t case_count;
    const struct compare_class *classes;
    size_t class_count;
    const struct compare_kpi *kpis;
    size_t kpi_count;
    const struct compare_difference *differences;
    size_t difference_count;
    bool same_fingerprint;
    bool learned_noise;                 /* a noise file of this device was used */
    size_t states[COMPARE_STATES];      /* cases of each */
    size_t verdicts[SHIFT_SUSPECT + 1]; /* judged cases of each */
    uint32_t suggested_trials;          /* most that any inconclusive or suspect case suggests; 0 = none */
};

struct compare_options {
    struct shift_options shift;
    const struct noise_file *noise; /* NULL = nothing learned */
    const char *const *filters;     /* cases to look at, as --filter */
    size_t filter_count;
};

enum status compare_results(struct comparison *out, const struct result *base, const struct result *now,
                            const struct compare_options *options, struct arena *arena, struct err *err);

/* The parts of compare_results for key figures, and for tool, environment and ceilings. */
enum status compare_kpis(struct comparison *comparison, struct arena *arena, struct err *err);
void compare_differences(struct comparison *comparison, struct arena *arena);

/* 1 when something is a finding; 2 when nothing could be compared (no case was judged, and none is fixed): no evidence
 * is never a green verdict; with `strict` 4 when anything is inconclusive, suspect, refused, new or still broken;
 * else 0. */
int compare_exit_code(const struct comparison *comparison, bool strict);

/* What else changed in cases whose time did not move, and what to do about inconclusive cases: a sentence each, NULL
 * after the last (at most COMPARE_ADVICE). */
#define COMPARE_ADVICE 4
void compare_advice(const char *advice[static COMPARE_ADVICE + 1], const struct comparison *comparison,
                    struct arena *arena);

#endif
