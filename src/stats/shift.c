/* SPDX-License-Identifier: MIT */
#include "rooftile/shift.h"

#include "values.h"

/* An sd is at least 0.1 %: two runs agree to the last digit only by chance. */
#define LEAST_SD 0.001

/* With this many trials on a side, the spread identifies a glitch: with the cap a +5 % shift among 3 % glitches is
 * found by 3 trials in 99 of 100 instead of 86, without more false alarms (simulated). */
#define ROBUST_TRIALS 3

/* The fastest trials must show at least this part of the shift. Without this, 3 trials a side with 3 % glitches give 3
 * false alarms per 1000, with it 0.3, at the same power; a half would hide one in 200 true shifts (simulated). */
#define SUPPORT 0.25

const char *const shift_verdict_names[] = {
    [SHIFT_INCONCLUSIVE] = "inconclusive", [SHIFT_SAME] = "same", [SHIFT_SLOWER] = "slower", [SHIFT_FASTER] = "faster",
    [SHIFT_SUSPECT] = "suspect",
};

const char *const shift_reason_names[] = {
    [SHIFT_CLEAR] = "clear",           [SHIFT_WITHIN] = "within", [SHIFT_SMALL] = "small",
    [SHIFT_FEW_TRIALS] = "few_trials", [SHIFT_NOISY] = "noisy",   [SHIFT_UNSUPPORTED] = "unsupported",
};

struct shift_options shift_defaults(void)
{
    return (struct shift_options){.alpha = 0.001, .delta = 0.01, .same = 0.03};
}

enum status shift_check_options(const struct shift_options *options, struct err *err)
{
    if (!(options->alpha > 0 && options->alpha < 1))
        return err_set(err, ERR_CONFIG, "alpha is %g, expected between 0 and 1", options->alpha);
    if (!(options->delta >= 0 && options->delta <= options->same && isfinite(options->same)))
        return err_set(err, ERR_CONFIG, "delta is %g and same is %g, expected 0 <= delta <= same", options->delta,
                       options->same);
    return STATUS_OK;
}

static enum status check_case(const struct shift_case *inputs, struct err *err)
{
    const struct shift_prior *prior = &inputs->prior;
    if (!is_sigma(prior->sigma_case) || !is_sigma(prior->sigma_class) || !is_sigma(prior->floor))
        return err_set(err, ERR_CONFIG, "sigmas are %g (case), %g (class), %g (floor), expected none below 0",
                       prior->sigma_case, prior->sigma_class, prior->floor);
    for (int is_new = 0; is_new < 2; is_new++) {
        const double *trial_ns = is_new ? inputs->new_ns : inputs->base_ns;
        const size_t count = is_new ? inputs->new_trials : inputs->base_trials;
        const char *side = is_new ? "new" : "base";
        if (!count || count > SHIFT_MAX_TRIALS)
            return err_set(err, ERR_CONFIG, "%zu trials of the %s run, expected 1 to %d", count, side,
                           SHIFT_MAX_TRIALS);
        for (size_t k = 0; k < count; k++)
            if (!(trial_ns[k] > 0 && isfinite(trial_ns[k])))
                return err_set(err, ERR_CONFIG, "trial %zu of the %s run has the time %g ns", k, side, trial_ns[k]);
    }
    return STATUS_OK;
}

/* ln of the trial medians of one side, ascending. */
struct side {
    double x[SHIFT_MAX_TRIALS];
    size_t count;
};

/* Prior knowledge: variance v0 with nu0 degrees of freedom, and the least variance assumed. */
struct known {
    double variance, freedom, least;
};

static void side_of(struct side *side, const double *trial_ns, size_t count)
{
    side->count = count;
    for (size_t k = 0; k < count; k++)
        side->x[k] = log(trial_ns[k]);
    sort_values(side->x, count);
}

static struct known known_of(const struct shift_prior *prior)
{
    const double class = prior->sigma_class > 0 ? prior->sigma_class : SHIFT_DEFAULT_SIGMA;
    const double least = fmax(LEAST_SD, prior->floor > 0 ? prior->floor : 0);
    const double learned = prior->sigma_case;
    if (!(learned >= 0) || prior->case_trials < SHIFT_LEARNED_TRIALS)
        return (struct known){1.3 * class * class, 4, least * least};
    const double weight = 12 * fmin((double)prior->case_trials, 30) / 30;
    const double variance = (weight * learned * learned + 4 * class * class) / (weight + 4);
    return (struct known){variance, weight + 4, least * least};
}

/* Returns the median of all differences new - base. */
static double distance(const struct side *base, const struct side *new)
{
    double differences[SHIFT_MAX_TRIALS * SHIFT_MAX_TRIALS];
    size_t count = 0;
    for (size_t a = 0; a < base->count; a++)
        for (size_t b = 0; b < new->count; b++)
            differences[count++] = new->x[b] - base->x[a];
    return median_of(differences, count);
}

/* Returns the sum of squares around the mean, with the variance capped where a single glitch would dominate it. */
static double squares_of(const struct side *side, const struct known *known)
{
    const double n = (double)side->count, squares = moments_of(side->x, side->count).squares;
    double copy[SHIFT_MAX_TRIALS];
    if (side->count < ROBUST_TRIALS)
        return squares;
    memcpy(copy, side->x, side->count * sizeof(*copy));
    const double robust = robust_sd(copy, side->count);
    return fmin(squares, (n - 1) * fmax(robust * robust, 9 * known->variance));
}

/* With so few trials the median of all differences has about 10 % more variance than the mean. */
static double error_of(double variance, size_t base, size_t new)
{
    const double se = sqrt(variance * (1 / (double)base + 1 / (double)new));
    return base >= SHIFT_CONFIRM_TRIALS && new >= SHIFT_CONFIRM_TRIALS ? 1.05 * se : se;
}

/* Returns the ratio - 1 that is detected with probability 0.9: the verdict's limit plus the one-sided 0.9 quantile of
 * the estimate. */
static double mde_of(const struct known *known, double variance, size_t base, size_t new,
                     const struct shift_options *options)
{
    base = base < SHIFT_CONFIRM_TRIALS ? SHIFT_CONFIRM_TRIALS : base;
    new = new < SHIFT_CONFIRM_TRIALS ? SHIFT_CONFIRM_TRIALS : new;
    const double freedom = known->freedom + (double)(base + new - 2), se = error_of(variance, base, new);
    const double limit = fmax(log1p(options->delta), student_quantile(options->alpha, freedom) * se);
    return expm1(variance > 0 ? limit + student_quantile(0.2, freedom) * se : limit);
}

double shift_mde(const struct shift_prior *prior, size_t trials, const struct shift_options *options)
{
    const struct known known = known_of(prior);
    return mde_of(&known, fmax(known.variance, known.least), trials, trials, options);
}

/* Returns the least number of trials per side with a decisive interval; half-widths decrease with it, so bisection
 * applies. */
static uint32_t suggestion(const struct shift *shift, const struct known *known, const struct shift_options *options)
{
    const size_t fewest = shift->base_trials < shift->new_trials ? shift->base_trials : shift->new_trials;
    const double size = fabs(shift->d - shift->common), same = log1p(options->same) - size;
    const double target = fmax(size > log1p(options->delta) ? size : 0, same);
    size_t low = fewest < SHIFT_CONFIRM_TRIALS ? SHIFT_CONFIRM_TRIALS : fewest + 1, high = SHIFT_MAX_TRIALS + 1;
    if (shift->verdict != SHIFT_INCONCLUSIVE && shift->verdict != SHIFT_SUSPECT)
        return 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const double freedom = known->freedom + (double)(2 * middle - 2);
        const double se = error_of(shift->sd * shift->sd, middle, middle);
        if (student_quantile(options->alpha, freedom) * se <= target)
            high = middle;
        else
            low = middle + 1;
    }
    return low > SHIFT_MAX_TRIALS ? 0 : (uint32_t)low;
}

static void decide(struct shift *out, double half, bool support, const struct shift_options *options)
{
    const double rest = out->d - out->common;
    const bool clear = fabs(rest) > half, counts = clear && fabs(rest) > log1p(options->delta);
    const bool within = fabs(rest) + half < log1p(options->same);
    out->verdict = SHIFT_INCONCLUSIVE;
    if (out->base_trials < SHIFT_CONFIRM_TRIALS || out->new_trials < SHIFT_CONFIRM_TRIALS) {
        out->reason = SHIFT_FEW_TRIALS;
        out->verdict = counts ? SHIFT_SUSPECT : SHIFT_INCONCLUSIVE;
    } else if (counts) {
        out->reason = support ? SHIFT_CLEAR : SHIFT_UNSUPPORTED;
        if (support)
            out->verdict = rest > 0 ? SHIFT_SLOWER : SHIFT_FASTER;
    } else {
        out->reason = !within ? SHIFT_NOISY : clear ? SHIFT_SMALL : SHIFT_WITHIN;
        if (within)
            out->verdict = SHIFT_SAME;
    }
}

/* Fills `out` (including common and q) for the shift that remains after `common` is removed. */
static void judge(struct shift *out, const struct side *base, const struct side *new, const struct known *known,
                  double common, const struct shift_options *options)
{
    const size_t na = base->count, nb = new->count;
    const double freedom = known->freedom + (double)(na + nb - 2);
    const double squares = known->freedom * known->variance + squares_of(base, known) + squares_of(new, known);
    const double variance = fmax(freedom > 0 ? squares / freedom : 0, known->least);
    const double se = error_of(variance, na, nb);
    const double half = freedom > 0 ? student_quantile(options->alpha, freedom) * se : INFINITY;
    const double d = distance(base, new), rest = d - common;
    /* Interference only slows down: a shift that the fastest trials do not show comes from interference. */
    const double fastest = new->x[0] - base->x[0] - common;
    const bool support = rest > 0 ? fastest >= SUPPORT * rest : fastest <= SUPPORT * rest;
    *out = (struct shift){
        .base_trials = na,
        .new_trials = nb,
        .base_ns = exp(median_sorted(base->x, na)),
        .new_ns = exp(median_sorted(new->x, nb)),
        .d = d,
        .common = common,
        .ratio = exp(rest),
        .ratio_ci = {exp(rest - half), exp(rest + half)},
        .p = freedom > 0 ? student_two_sided(rest / se, freedom) : 1,
        .sd = sqrt(variance),
        .freedom = freedom,
        .mde = mde_of(known, variance, na, nb, options),
    };
    out->q = out->p;
    decide(out, half, support, options);
    out->suggested_trials = suggestion(out, known, options);
}

enum status shift_compare(struct shift *out, const struct shift_case *inputs, const struct shift_options *options,
                          struct err *err)
{
    struct side base, new;
    if (shift_check_options(options, err) || check_case(inputs, err))
        return err->status;
    side_of(&base, inputs->base_ns, inputs->base_trials);
    side_of(&new, inputs->new_ns, inputs->new_trials);
    const struct known known = known_of(&inputs->prior);
    judge(out, &base, &new, &known, 0, options);
    return STATUS_OK;
}

/* ---- all cases of two runs ---- */

/* The members of one group, with room for one value each. */
struct members {
    const struct shift_case *cases;
    const size_t *index;
    size_t count;
    double *values;
};

/* One side of the group's own comparison: for each trial that at least half of the cases have, the median over them of
 * the trial's distance from its case's base. */
static void side_of_group(struct side *side, const struct members *members, bool is_new, const double *levels)
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

/* Uses no prior: the noise of single cases does not measure how trials differ machine-wide. */
static void judge_group(struct shift_group *group, const struct members *members, const struct shift_options *options,
                        struct arena *arena)
{
    struct side base, new;
    const struct known unknown = {.variance = 0, .freedom = 0, .least = known_of(&(struct shift_prior){0}).least};
    double *levels = arena_array(arena, members->count, sizeof(*levels));
    for (size_t k = 0; k < members->count; k++) {
        const struct shift_case *one = &members->cases[members->index[k]];
        side_of(&base, one->base_ns, one->base_trials);
        levels[k] = median_sorted(base.x, base.count);
    }
    side_of_group(&base, members, false, levels);
    side_of_group(&new, members, true, levels);
    judge(&group->shift, &base, &new, &unknown, 0, options);
    group->shift.base_ns = group->shift.new_ns = NAN; /* it is not of a single case */
    if (group->shift.reason == SHIFT_FEW_TRIALS)
        group->shift.verdict = SHIFT_SUSPECT;
}

static void judge_all(struct shift *out, struct shift_group *groups, size_t group_count, const struct shift_case *cases,
                      size_t case_count, const struct shift_options *options, struct arena *arena)
{
    double *d = arena_array(arena, case_count + 1, sizeof(*d));
    size_t *index = arena_array(arena, case_count + 1, sizeof(*index));
    struct members members = {cases, index, 0, arena_array(arena, case_count + 1, sizeof(double))};
    struct side base, new;
    for (size_t k = 0; k < case_count; k++) {
        side_of(&base, cases[k].base_ns, cases[k].base_trials);
        side_of(&new, cases[k].new_ns, cases[k].new_trials);
        d[k] = distance(&base, &new);
    }
    for (size_t g = 0; g < group_count; g++) {
        struct shift_group *group = &groups[g];
        members.count = 0;
        for (size_t k = 0; k < case_count; k++)
            if (cases[k].group == g) {
                members.values[members.count] = d[k];
                index[members.count++] = k;
            }
        *group = (struct shift_group){.cases = members.count, .common = median_of(members.values, members.count)};
        const size_t same_way = COUNT_WHERE(k, index, members.count, d[*k] * group->common > 0);
        group->share = members.count ? (double)same_way / (double)members.count : 0;
        group->shifted = group->cases >= SHIFT_GROUP_CASES && group->share >= SHIFT_GROUP_SHARE &&
                         fabs(group->common) > SHIFT_GROUP_LEAST;
        if (group->shifted)
            judge_group(group, &members, options, arena);
    }
    for (size_t k = 0; k < case_count; k++) {
        const struct shift_group *group = &groups[cases[k].group];
        const struct known known = known_of(&cases[k].prior);
        side_of(&base, cases[k].base_ns, cases[k].base_trials);
        side_of(&new, cases[k].new_ns, cases[k].new_trials);
        judge(&out[k], &base, &new, &known, group->shifted ? group->common : 0, options);
    }
}

enum status shift_compare_all(struct shift *out, struct shift_group *groups, size_t group_count,
                              const struct shift_case *cases, size_t case_count, const struct shift_options *options,
                              struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    if (shift_check_options(options, err))
        return err->status;
    for (size_t k = 0; k < case_count; k++) {
        if (check_case(&cases[k], err))
            return err_within(err, "case %zu", k);
        if (cases[k].group >= group_count)
            return err_set(err, ERR_CONFIG, "case %zu: group %u of %zu", k, (unsigned)cases[k].group, group_count);
    }
    judge_all(out, groups, group_count, cases, case_count, options, &arena);
    double *q = arena_array(&arena, case_count + 1, sizeof(*q));
    for (size_t k = 0; k < case_count; k++)
        q[k] = out[k].p;
    q_values(q, case_count);
    for (size_t k = 0; k < case_count; k++)
        out[k].q = q[k];
    return STATUS_OK;
}
