/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_COMPARE_INTERNAL_H
#define ROOFTILE_COMPARE_INTERNAL_H

#include "rooftile/compare.h"

/* A comparison under way. */
struct comparing {
    const struct compare_options *options;
    struct arena *arena;
    struct compare_case *cases;
    size_t count;
    struct compare_class *classes;
    size_t class_count;
};

/* May the two be compared at all? */
enum status compare_allowed(const struct result *base, const struct result *now, struct err *err);
/* Pairs the cases that the filters want, and gives each its state; those to be judged are COMPARE_JUDGED. */
enum status compare_match(struct comparing *comparing, const struct result *base, const struct result *now,
                          struct err *err);

/* Trial medians of a case that counts: at least one, at most SHIFT_MAX_TRIALS. */
const double *compare_trials(const struct result_case *c, size_t *count, struct arena *arena);

/* Key figures of both sides, and everything about tool, environment and ceilings that differs. */
enum status compare_kpis(struct comparison *comparison, struct arena *arena, struct err *err);
void compare_differences(struct comparison *comparison, struct arena *arena);

#endif
