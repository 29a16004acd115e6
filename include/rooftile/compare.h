/* SPDX-License-Identifier: MIT
 *
 * Compares two results of one plan on one device, case by case, by the algorithm of shift.h. A pure function of the two
 * results, the learned noise and the options: equal inputs give equal bytes.
 *
 * Cases are matched by plan id (result_id_length). Refused as a whole (ERR_CONFIG with the reason): results of
 * different devices or partition modes, a prediction against a measurement, a run that is marked as not a measurement,
 * a duplicate plan id, noise that was learned elsewhere. Refused per case: another timer or cache mode, other work per
 * launch. Other differences of a case's identity are reported, and a shift is attributed to them.
 *
 * The exit code reports: SLOWER cases and key figures; cases that were ok in the base and now fail, crash, hang, give
 * wrong results or are impossible; cases and key figures of the base that are missing in the new result. A class that
 * is slower as a whole is one line (shift_group), and a finding too. One trial against one is never confirmed. With
 * filters, other cases are ignored, and so are key figures, as they depend on all cases.
 *
 * Only the first SHIFT_MAX_TRIALS trials of a run are compared.
 */
#ifndef ROOFTILE_COMPARE_H
#define ROOFTILE_COMPARE_H

#include "rooftile/noise_file.h"
#include "rooftile/result.h"
#include "rooftile/shift.h"

enum compare_state {
    COMPARE_JUDGED,  /* `shift` is valid */
    COMPARE_REFUSED, /* both measured, but not comparable; see reason */
    COMPARE_BROKEN,  /* measured in the base, and now a finding or an error */
    COMPARE_FIXED,   /* the reverse */
    COMPARE_BOTH_BROKEN,
    COMPARE_MISSING, /* only in the base */
    COMPARE_NEW,     /* only in the new result */
    COMPARE_SKIPPED, /* skipped on either side, with its reason */
    COMPARE_STATES
};
/* "judged" "refused" "broken" "fixed" "both_broken" "missing" "new" "skipped" */
extern const char *const compare_state_names[];

/* The cause of a confirmed shift; a label, never a gate. */
enum compare_cause {
    CAUSE_NONE,        /* no confirmed or suspect shift; or the code is unknown */
    CAUSE_CODE,        /* different code, and cycles changed with the time (or are unknown) */
    CAUSE_COMPILER,    /* the same of one commit that another compiler made */
    CAUSE_LAUNCH,      /* the same code, launched differently */
    CAUSE_INPUTS,      /* the same launch with other data */
    CAUSE_ENVIRONMENT, /* the same code object, launch and data: something outside the case changed */
    CAUSE_CLOCK,       /* the time changed, the cycles did not */
    /* nothing confirmed, and the change was interference: the fastest trials do not show it, or a suspect case was
     * flagged as interference or throttled */
    CAUSE_NOISE,
};
extern const char *const compare_cause_names[]; /* "" "code" "launch" "input data" ... */

struct compare_case {
    const char *id; /* plan id */
    const char *label, *class;
    const struct result_case *base, *now; /* NULL if missing */
    enum compare_state state;
    const char *reason; /* for states other than judged; "" for a judged case */
    struct shift shift;
    enum compare_cause cause;
    double cycles_ratio;    /* NaN = unknown */
    bool same_code;         /* both hashes known and equal */
    const char *changes;    /* of a judged case: result_case_changes */
    size_t interference[2]; /* trials of base and new flagged as interference or throttled */
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

/* A differing fact of environment, tool or ceilings. */
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
    struct compare_difference *differences;
    size_t difference_count;
    bool same_fingerprint;
    bool learned_noise;                 /* a noise file of this device was used */
    size_t states[COMPARE_STATES];      /* number of cases per state */
    size_t verdicts[SHIFT_SUSPECT + 1]; /* number of judged cases per verdict */
    uint32_t suggested_trials;          /* maximum over inconclusive and suspect cases; 0 = none */
};

struct compare_options {
    struct shift_options shift;
    const struct noise_file *noise; /* NULL = nothing learned */
    const char *const *filters;     /* cases to compare, as --filter */
    size_t filter_count;
};

enum status compare_results(struct comparison *out, const struct result *base, const struct result *now,
                            const struct compare_options *options, struct arena *arena, struct err *err);

/* The parts of compare_results for key figures, and for tool, environment and ceilings. */
enum status compare_kpis(struct comparison *comparison, struct arena *arena, struct err *err);
void compare_differences(struct comparison *comparison, struct arena *arena);

/* Returns 1 if there is a finding; 2 if nothing could be compared (no case was judged, and none is fixed), since
 * missing evidence is never a green verdict; with `strict` 4 if anything is inconclusive, suspect, refused, new or
 * still broken; otherwise 0. */
int compare_exit_code(const struct comparison *comparison, bool strict);

/* Other changes of cases whose time did not move, and what to do about inconclusive cases: one sentence each, NULL
 * after the last (at most COMPARE_ADVICE). */
#define COMPARE_ADVICE 4
void compare_advice(const char *advice[static COMPARE_ADVICE + 1], const struct comparison *comparison,
                    struct arena *arena);

#endif
