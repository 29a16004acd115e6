/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "rooftile/arena.h"
#include "rooftile/shift.h"
#include "rooftile/summary.h"
#include "shift_internal.h"
#include "stats_internal.h"

/* p values with their places, ascending by value; equal ones by place. */
struct ranked {
    double p;
    size_t place;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    const int by_p = (x->p > y->p) - (x->p < y->p);
    return by_p ? by_p : (x->place > y->place) - (x->place < y->place);
}

void shift_q_values(double *q, const double *p, size_t count)
{
    struct arena arena = {0};
    struct ranked *ranked = arena_array(&arena, count + 1, sizeof(*ranked));
    size_t known = 0;
    for (size_t k = 0; k < count; k++) {
        q[k] = NAN;
        if (!isnan(p[k]))
            ranked[known++] = (struct ranked){p[k], k};
    }
    if (known)
        qsort(ranked, known, sizeof(*ranked), compare_ranked);
    double least = 1;
    for (size_t k = known; k-- > 0;) {
        least = fmin(least, ranked[k].p * (double)known / (double)(k + 1));
        q[ranked[k].place] = least;
    }
    arena_release(&arena);
}

/* The members of one group, and room for a value of each. */
struct members {
    const struct shift_case *cases;
    const size_t *index;
    size_t count;
    double *values;
};

static double median_ln(const double *trial_ns, size_t count)
{
    struct shift_side side;
    shift_side_of(&side, trial_ns, count);
    return median_sorted(side.x, count);
}

/* One side of the group's own comparison: for each trial that at least half of the cases have, the median over them of
 * the trial's distance from its case's base. */
static void side_of_group(struct shift_side *side, const struct members *members, bool is_new, const double *levels)
{
    side->count = 0;
    for (size_t trial = 0; trial < SHIFT_MAX_TRIALS; trial++) {
        size_t have = 0;
        for (size_t k = 0; k < members->count; k++) {
            const struct shift_case *one = &members->cases[members->index[k]];
            if (trial < (is_new ? one->new_trials : one->base_trials))
                members->values[have++] = log((is_new ? one->new_ns : one->base_ns)[trial]) - levels[k];
        }
        if (2 * have >= members->count)
            side->x[side->count++] = median_of(members->values, have);
    }
    sort_values(side->x, side->count);
}

/* No prior: how far a machine's trials differ as a whole is not what its cases' noise tells. */
static void judge_group(struct shift_group *group, const struct members *members, const struct shift_options *options,
                        struct arena *arena)
{
    struct shift_side base, new;
    const struct shift_known unknown = {
        .variance = 0, .freedom = 0, .least = shift_known_of(&(struct shift_prior){0}).least};
    double *levels = arena_array(arena, members->count, sizeof(*levels));
    for (size_t k = 0; k < members->count; k++) {
        const struct shift_case *one = &members->cases[members->index[k]];
        levels[k] = median_ln(one->base_ns, one->base_trials);
    }
    side_of_group(&base, members, false, levels);
    side_of_group(&new, members, true, levels);
    shift_judge(&group->shift, &base, &new, &unknown, 0, options);
    group->shift.base_ns = group->shift.new_ns = NAN; /* of no single case */
    if (group->shift.reason == SHIFT_FEW_TRIALS)
        group->shift.verdict = SHIFT_SUSPECT;
}

static void find_common(struct shift_group *group, const struct members *members, const double *d)
{
    size_t same_way = 0;
    for (size_t k = 0; k < members->count; k++)
        members->values[k] = d[members->index[k]];
    *group = (struct shift_group){.cases = members->count, .common = median_of(members->values, members->count)};
    for (size_t k = 0; k < members->count; k++)
        same_way += d[members->index[k]] * group->common > 0;
    group->share = members->count ? (double)same_way / (double)members->count : 0;
    group->shifted = group->cases >= SHIFT_GROUP_CASES && group->share >= SHIFT_GROUP_SHARE &&
                     fabs(group->common) > SHIFT_GROUP_LEAST;
}

static void judge_all(struct shift *out, struct shift_group *groups, size_t group_count, const struct shift_case *cases,
                      size_t case_count, const struct shift_options *options, struct arena *arena)
{
    double *d = arena_array(arena, case_count + 1, sizeof(*d));
    size_t *index = arena_array(arena, case_count + 1, sizeof(*index));
    struct members members = {cases, index, 0, arena_array(arena, case_count + 1, sizeof(double))};
    struct shift_side base, new;
    for (size_t k = 0; k < case_count; k++) {
        shift_side_of(&base, cases[k].base_ns, cases[k].base_trials);
        shift_side_of(&new, cases[k].new_ns, cases[k].new_trials);
        d[k] = shift_distance(&base, &new);
    }
    for (size_t g = 0; g < group_count; g++) {
        members.count = 0;
        for (size_t k = 0; k < case_count; k++)
            if (cases[k].group == g)
                index[members.count++] = k;
        find_common(&groups[g], &members, d);
        if (groups[g].shifted)
            judge_group(&groups[g], &members, options, arena);
    }
    for (size_t k = 0; k < case_count; k++) {
        const struct shift_group *group = &groups[cases[k].group];
        const struct shift_known known = shift_known_of(&cases[k].prior);
        shift_side_of(&base, cases[k].base_ns, cases[k].base_trials);
        shift_side_of(&new, cases[k].new_ns, cases[k].new_trials);
        shift_judge(&out[k], &base, &new, &known, group->shifted ? group->common : 0, options);
    }
}

enum status shift_compare_all(struct shift *out, struct shift_group *groups, size_t group_count,
                              const struct shift_case *cases, size_t case_count, const struct shift_options *options,
                              struct err *err)
{
    struct arena arena = {0};
    enum status status = shift_check(NULL, options, err);
    if (status)
        return status;
    for (size_t k = 0; k < case_count; k++) {
        status = shift_check(&cases[k], options, err);
        if (!status && cases[k].group >= group_count)
            status = err_set(err, ERR_CONFIG, "group %u of %zu", (unsigned)cases[k].group, group_count);
        if (status)
            return err_within(err, "case %zu", k);
    }
    judge_all(out, groups, group_count, cases, case_count, options, &arena);
    double *p = arena_array(&arena, case_count + 1, sizeof(*p)), *q = arena_array(&arena, case_count + 1, sizeof(*q));
    for (size_t k = 0; k < case_count; k++)
        p[k] = out[k].p;
    shift_q_values(q, p, case_count);
    for (size_t k = 0; k < case_count; k++)
        out[k].q = q[k];
    arena_release(&arena);
    return STATUS_OK;
}
