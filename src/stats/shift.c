/* SPDX-License-Identifier: MIT */
#include "rooftile/shift.h"

#include <math.h>

#include "rooftile/noise.h"
#include "rooftile/summary.h"
#include "shift_internal.h"
#include "stats_internal.h"

/* No sd below 0.1 % is believed: two runs repeat to the digit by chance, never by nature. */
#define LEAST_SD 0.001

/* From so many trials on a side can tell a glitch from its spread: with the cap a +5 % shift among 3 % glitches is
 * found by 3 trials in 99 of 100 instead of 86, at no more false alarms (simulated). */
#define ROBUST_TRIALS 3

/* The fastest trials must show at least this part of the shift. Without it 3 trials a side with 3 % glitches give 3
 * false alarms per 1000, with it 0.3, at the same power; a half would hide one in 200 true shifts (simulated). */
#define SUPPORT 0.25

static const char *const verdict_names[] = {
    [SHIFT_INCONCLUSIVE] = "inconclusive", [SHIFT_SAME] = "same", [SHIFT_SLOWER] = "slower", [SHIFT_FASTER] = "faster",
    [SHIFT_SUSPECT] = "suspect",
};

static const struct {
    const char *name, *text;
} reasons[] = {
    [SHIFT_CLEAR] = {"clear", "the shift is larger than noise and tolerance"},
    [SHIFT_WITHIN] = {"within", "any shift is within the tolerance"},
    [SHIFT_SMALL] = {"small", "a real shift, but below the smallest that counts"},
    [SHIFT_FEW_TRIALS] = {"few_trials", "fewer than 3 trials on a side: one disturbed process looks the same"},
    [SHIFT_NOISY] = {"noisy", "too noisy for these trials: the interval excludes neither no shift nor a large one"},
    [SHIFT_UNSUPPORTED] = {"unsupported", "the fastest trials of both sides do not show the shift: disturbed trials"},
};

const char *shift_verdict_name(enum shift_verdict verdict)
{
    return verdict_names[verdict];
}

const char *shift_reason_name(enum shift_reason reason)
{
    return reasons[reason].name;
}

const char *shift_reason_text(enum shift_reason reason)
{
    return reasons[reason].text;
}

struct shift_options shift_defaults(void)
{
    return (struct shift_options){.alpha = 0.001, .delta = 0.01, .same = 0.03};
}

static enum status check_trials(const double *trial_ns, size_t count, const char *side, struct err *err)
{
    if (!count || count > SHIFT_MAX_TRIALS)
        return err_set(err, ERR_CONFIG, "%zu trials of the %s run, expected 1 to %d", count, side, SHIFT_MAX_TRIALS);
    for (size_t k = 0; k < count; k++)
        if (!(trial_ns[k] > 0 && isfinite(trial_ns[k])))
            return err_set(err, ERR_CONFIG, "trial %zu of the %s run has the time %g ns", k, side, trial_ns[k]);
    return STATUS_OK;
}

static bool is_sigma(double sigma)
{
    return isnan(sigma) || (sigma >= 0 && isfinite(sigma));
}

enum status shift_check(const struct shift_case *inputs, const struct shift_options *options, struct err *err)
{
    if (!(options->alpha > 0 && options->alpha < 1))
        return err_set(err, ERR_CONFIG, "alpha is %g, expected between 0 and 1", options->alpha);
    if (!(options->delta >= 0 && options->delta <= options->same && isfinite(options->same)))
        return err_set(err, ERR_CONFIG, "delta is %g and same is %g, expected 0 <= delta <= same", options->delta,
                       options->same);
    if (!inputs)
        return STATUS_OK;
    const struct shift_prior *prior = &inputs->prior;
    if (!is_sigma(prior->sigma_case) || !is_sigma(prior->sigma_class) || !is_sigma(prior->floor))
        return err_set(err, ERR_CONFIG, "sigmas are %g (case), %g (class), %g (floor), expected none below 0",
                       prior->sigma_case, prior->sigma_class, prior->floor);
    const enum status status = check_trials(inputs->base_ns, inputs->base_trials, "base", err);
    return status ? status : check_trials(inputs->new_ns, inputs->new_trials, "new", err);
}

void shift_side_of(struct shift_side *side, const double *trial_ns, size_t count)
{
    side->count = count;
    for (size_t k = 0; k < count; k++)
        side->x[k] = log(trial_ns[k]);
    sort_values(side->x, count);
}

struct shift_known shift_known_of(const struct shift_prior *prior)
{
    const double class = prior->sigma_class > 0 ? prior->sigma_class : SHIFT_DEFAULT_SIGMA;
    const double least = fmax(LEAST_SD, prior->floor > 0 ? prior->floor : 0);
    const double learned = prior->sigma_case;
    if (!(learned >= 0) || prior->case_trials < SHIFT_LEARNED_TRIALS)
        return (struct shift_known){1.3 * class * class, 4, least * least};
    const double weight = 12 * fmin((double)prior->case_trials, 30) / 30;
    const double variance = (weight * learned * learned + 4 * class * class) / (weight + 4);
    return (struct shift_known){variance, weight + 4, least * least};
}

double shift_distance(const struct shift_side *base, const struct shift_side *new)
{
    double differences[SHIFT_MAX_TRIALS * SHIFT_MAX_TRIALS];
    size_t count = 0;
    for (size_t a = 0; a < base->count; a++)
        for (size_t b = 0; b < new->count; b++)
            differences[count++] = new->x[b] - base->x[a];
    return median_of(differences, count);
}

/* Sum of squares around the mean, with the variance capped where one wild trial would hide everything. */
static double squares_of(const struct shift_side *side, const struct shift_known *known)
{
    const double n = (double)side->count;
    double mean = 0, squares = 0, copy[SHIFT_MAX_TRIALS];
    for (size_t k = 0; k < side->count; k++) {
        mean += side->x[k] / n;
        copy[k] = side->x[k];
    }
    for (size_t k = 0; k < side->count; k++)
        squares += (side->x[k] - mean) * (side->x[k] - mean);
    if (side->count < ROBUST_TRIALS)
        return squares;
    const double robust = robust_sd(copy, side->count);
    return fmin(squares, (n - 1) * fmax(robust * robust, 9 * known->variance));
}

/* The median of all differences loses some 10 % of the mean's variance at so few trials. */
static double error_of(double variance, size_t base, size_t new)
{
    const double se = sqrt(variance * (1 / (double)base + 1 / (double)new));
    return base >= SHIFT_FIRM_TRIALS && new >= SHIFT_FIRM_TRIALS ? 1.05 * se : se;
}

/* ln of the ratio found with probability 0.9: the verdict's limit plus the one-sided 0.9 quantile of the estimate. */
static double detectable(double variance, double freedom, double se, const struct shift_options *options)
{
    const double limit = fmax(log1p(options->delta), student_quantile(options->alpha, freedom) * se);
    return variance > 0 ? limit + student_quantile(0.2, freedom) * se : limit;
}

static double mde_of(const struct shift_known *known, double variance, size_t base, size_t new,
                     const struct shift_options *options)
{
    base = base < SHIFT_FIRM_TRIALS ? SHIFT_FIRM_TRIALS : base;
    new = new < SHIFT_FIRM_TRIALS ? SHIFT_FIRM_TRIALS : new;
    const double freedom = known->freedom + (double)(base + new - 2);
    return expm1(detectable(variance, freedom, error_of(variance, base, new), options));
}

double shift_mde(const struct shift_prior *prior, size_t trials, const struct shift_options *options)
{
    const struct shift_known known = shift_known_of(prior);
    return mde_of(&known, fmax(known.variance, known.least), trials, trials, options);
}

/* Least number of trials a side whose interval would be decisive; half-widths fall with it, so halve the range. */
static uint32_t trials_for(double target, size_t least, double variance, const struct shift_known *known, double alpha)
{
    size_t low = least < SHIFT_FIRM_TRIALS ? SHIFT_FIRM_TRIALS : least, high = SHIFT_MAX_TRIALS + 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const double freedom = known->freedom + (double)(2 * middle - 2);
        if (student_quantile(alpha, freedom) * error_of(variance, middle, middle) <= target)
            high = middle;
        else
            low = middle + 1;
    }
    return low > SHIFT_MAX_TRIALS ? 0 : (uint32_t)low;
}

static uint32_t suggestion(const struct shift *shift, const struct shift_known *known,
                           const struct shift_options *options)
{
    const size_t fewest = shift->base_trials < shift->new_trials ? shift->base_trials : shift->new_trials;
    const double size = fabs(shift->d - shift->common), same = log1p(options->same) - size;
    if (shift->verdict != SHIFT_INCONCLUSIVE && shift->verdict != SHIFT_SUSPECT)
        return 0;
    const double target = fmax(size > log1p(options->delta) ? size : 0, same);
    return trials_for(target, fewest + 1, shift->sd * shift->sd, known, options->alpha);
}

/* Interference only slows down: a shift that the fastest trials do not show comes from disturbed trials. */
static bool supported(const struct shift_side *base, const struct shift_side *new, double common, double rest)
{
    const double fastest = new->x[0] - base->x[0] - common;
    return rest > 0 ? fastest >= SUPPORT * rest : fastest <= SUPPORT * rest;
}

static void decide(struct shift *out, double half, bool support, const struct shift_options *options)
{
    const double rest = out->d - out->common;
    const bool clear = fabs(rest) > half, counts = clear && fabs(rest) > log1p(options->delta);
    const bool within = fabs(rest) + half < log1p(options->same);
    out->verdict = SHIFT_INCONCLUSIVE;
    if (out->base_trials < SHIFT_FIRM_TRIALS || out->new_trials < SHIFT_FIRM_TRIALS) {
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

void shift_judge(struct shift *out, const struct shift_side *base, const struct shift_side *new,
                 const struct shift_known *known, double common, const struct shift_options *options)
{
    const size_t na = base->count, nb = new->count;
    const double freedom = known->freedom + (double)(na + nb - 2);
    const double squares = known->freedom * known->variance + squares_of(base, known) + squares_of(new, known);
    const double variance = fmax(freedom > 0 ? squares / freedom : 0, known->least);
    const double se = error_of(variance, na, nb);
    const double half = freedom > 0 ? student_quantile(options->alpha, freedom) * se : INFINITY;
    const double d = shift_distance(base, new), rest = d - common;
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
    decide(out, half, supported(base, new, common, rest), options);
    out->suggested_trials = suggestion(out, known, options);
}

enum status shift_compare(struct shift *out, const struct shift_case *inputs, const struct shift_options *options,
                          struct err *err)
{
    struct shift_side base, new;
    const enum status status = shift_check(inputs, options, err);
    if (status)
        return status;
    shift_side_of(&base, inputs->base_ns, inputs->base_trials);
    shift_side_of(&new, inputs->new_ns, inputs->new_trials);
    const struct shift_known known = shift_known_of(&inputs->prior);
    shift_judge(out, &base, &new, &known, 0, options);
    return STATUS_OK;
}
