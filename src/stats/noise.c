/* SPDX-License-Identifier: MIT */
#include "rooftile/noise.h"

#include "rooftile/gate.h"
#include "values.h"

/* Times with few distinct levels (a clock that steps) have a robust spread of almost zero, and such a case must not
 * count as quiet. Only one value in twenty counts as a glitch and is skipped. `x` is sorted. */
static double trimmed_sd(const double *x, size_t count)
{
    const double median = median_sorted(x, count);
    size_t first = 0, last = count - 1;
    for (size_t drop = (count + 19) / 20; drop > 0; drop--) {
        if (x[last] - median > median - x[first])
            last--;
        else
            first++;
    }
    return sd_of(x + first, last - first + 1);
}

static void learn_case(struct noise_case *out, double *x)
{
    for (size_t k = 0; k < out->trials; k++)
        x[k] = log(out->trial_ns[k]);
    sort_values(x, out->trials);
    out->learned = out->trials >= SHIFT_LEARNED_TRIALS;
    out->sd = sd_of(x, out->trials);
    out->sigma = out->learned ? trimmed_sd(x, out->trials) : NAN;
    if (out->learned)
        out->sigma = fmax(robust_sd(x, out->trials), out->sigma);
    out->mde_compare = out->mde_run = out->mde_week = NAN;
    out->too_noisy = false;
}

static void forecast(struct noise_case *out, double class_sigma, size_t trials, const struct shift_options *options)
{
    const struct shift_prior prior = {out->sigma, out->trials, class_sigma, out->floor};
    if (!out->learned)
        return;
    out->mde_compare = shift_mde(&prior, trials, options);
    out->mde_run = gate_mde(fmax(out->sigma, out->floor), 1, options->delta);
    out->mde_week = gate_mde(fmax(out->sigma, out->floor), GATE_LONGEST, options->delta);
    out->too_noisy = fmin(out->mde_compare, out->mde_week) > NOISE_TOO_NOISY;
}

static void summarise(struct noise_summary *out, const struct noise_case *cases, size_t count, double *sigmas)
{
    size_t learned = 0;
    FOR_EACH(const struct noise_case, one, cases, count)
        if (one->learned)
            sigmas[learned++] = one->sigma;
    const size_t quiet = COUNT_WHERE(one, cases, count, one->learned && one->sigma <= NOISE_QUIET);
    sort_values(sigmas, learned);
    *out = (struct noise_summary){
        .cases = count,
        .learned = learned,
        .too_noisy = COUNT_WHERE(one, cases, count, one->too_noisy),
        .min = quantile_sorted(sigmas, learned, 0),
        .p10 = quantile_sorted(sigmas, learned, 0.1),
        .q1 = quantile_sorted(sigmas, learned, 0.25),
        .median = quantile_sorted(sigmas, learned, 0.5),
        .q3 = quantile_sorted(sigmas, learned, 0.75),
        .p90 = quantile_sorted(sigmas, learned, 0.9),
        .p99 = quantile_sorted(sigmas, learned, 0.99),
        .max = quantile_sorted(sigmas, learned, 1),
        .quiet_share = learned ? (double)quiet / (double)learned : NAN,
    };
}

enum status noise_learn(struct noise_case *cases, size_t count, struct noise_class *classes, size_t class_count,
                        struct noise_summary *summary, size_t trials_compare, const struct shift_options *options,
                        struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    size_t most = count;
    if (shift_check_options(options, err))
        return err->status;
    for (size_t k = 0; k < count; k++) {
        if (cases[k].group >= class_count)
            return err_set(err, ERR_CONFIG, "case %zu: class %u of %zu", k, (unsigned)cases[k].group, class_count);
        for (size_t trial = 0; trial < cases[k].trials; trial++)
            if (!(cases[k].trial_ns[trial] > 0 && isfinite(cases[k].trial_ns[trial])))
                return err_set(err, ERR_CONFIG, "case %zu: trial %zu has the time %g ns", k, trial,
                               cases[k].trial_ns[trial]);
        most = cases[k].trials > most ? cases[k].trials : most;
    }
    double *values = arena_array(&arena, most + 1, sizeof(*values));
    for (size_t k = 0; k < count; k++)
        learn_case(&cases[k], values);
    for (size_t index = 0; index < class_count; index++) {
        struct noise_class *class = &classes[index];
        class->cases = 0;
        FOR_EACH(const struct noise_case, one, cases, count)
            if (one->group == index && one->learned)
                values[class->cases++] = one->sigma;
        class->sigma = median_of(values, class->cases);
    }
    for (size_t k = 0; k < count; k++)
        forecast(&cases[k], classes[cases[k].group].sigma, trials_compare, options);
    summarise(summary, cases, count, values);
    return STATUS_OK;
}
