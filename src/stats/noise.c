/* SPDX-License-Identifier: MIT */
#include "rooftile/noise.h"

#include "rooftile/gate.h"
#include "values.h"

static enum status check(const struct noise_input *inputs, size_t count, size_t class_count,
                         const struct shift_options *options, struct err *err)
{
    if (shift_check_options(options, err))
        return err->status;
    for (size_t k = 0; k < count; k++) {
        if (inputs[k].group >= class_count)
            return err_set(err, ERR_CONFIG, "case %zu: class %u of %zu", k, (unsigned)inputs[k].group, class_count);
        for (size_t trial = 0; trial < inputs[k].trials; trial++)
            if (!(inputs[k].trial_ns[trial] > 0 && isfinite(inputs[k].trial_ns[trial])))
                return err_set(err, ERR_CONFIG, "case %zu: trial %zu has the time %g ns", k, trial,
                               inputs[k].trial_ns[trial]);
    }
    return STATUS_OK;
}

/* Times that sit on few levels (a clock that steps) have a robust spread of next to nothing, and such a case must not
 * be believed quiet. Only one in twenty counts as a glitch and is skipped. `x` is sorted. */
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

static void learn_case(struct noise_case *out, const struct noise_input *input, double *x)
{
    for (size_t k = 0; k < input->trials; k++)
        x[k] = log(input->trial_ns[k]);
    sort_values(x, input->trials);
    *out = (struct noise_case){
        .trials = input->trials,
        .learned = input->trials >= SHIFT_LEARNED_TRIALS,
        .sd = sd_of(x, input->trials),
        .sigma = NAN,
        .mde_compare = NAN,
        .mde_run = NAN,
        .mde_week = NAN,
    };
    if (out->learned)
        out->sigma = fmax(robust_sd(x, input->trials), trimmed_sd(x, input->trials));
}

static void forecast(struct noise_case *one, const struct noise_input *input, double class_sigma, size_t trials,
                     const struct shift_options *options)
{
    const struct shift_prior prior = {one->sigma, one->trials, class_sigma, input->floor};
    if (!one->learned)
        return;
    one->mde_compare = shift_mde(&prior, trials, options);
    one->mde_run = gate_mde(fmax(one->sigma, input->floor), 1, options->delta);
    one->mde_week = gate_mde(fmax(one->sigma, input->floor), 7, options->delta);
    one->too_noisy = fmin(one->mde_compare, one->mde_week) > NOISE_TOO_NOISY;
}

static void summarise(struct noise_summary *out, const struct noise_case *cases, size_t count, double *sigmas)
{
    size_t learned = 0, quiet = 0, too_noisy = 0;
    for (size_t k = 0; k < count; k++) {
        too_noisy += cases[k].too_noisy;
        quiet += cases[k].learned && cases[k].sigma <= NOISE_QUIET;
        if (cases[k].learned)
            sigmas[learned++] = cases[k].sigma;
    }
    sort_values(sigmas, learned);
    *out = (struct noise_summary){
        .cases = count,
        .learned = learned,
        .too_noisy = too_noisy,
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

static void learn_class(struct noise_class *out, size_t class, const struct noise_case *cases,
                        const struct noise_input *inputs, size_t count, double *sigmas)
{
    size_t learned = 0;
    for (size_t k = 0; k < count; k++)
        if (inputs[k].group == class && cases[k].learned)
            sigmas[learned++] = cases[k].sigma;
    *out = (struct noise_class){learned, median_of(sigmas, learned)};
}

enum status noise_learn(struct noise_case *cases, struct noise_class *classes, size_t class_count,
                        struct noise_summary *summary, const struct noise_input *inputs, size_t count,
                        size_t trials_compare, const struct shift_options *options, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    size_t most = count;
    if (check(inputs, count, class_count, options, err))
        return err->status;
    for (size_t k = 0; k < count; k++)
        most = inputs[k].trials > most ? inputs[k].trials : most;
    double *values = arena_array(&arena, most + 1, sizeof(*values));
    for (size_t k = 0; k < count; k++)
        learn_case(&cases[k], &inputs[k], values);
    for (size_t index = 0; index < class_count; index++)
        learn_class(&classes[index], index, cases, inputs, count, values);
    for (size_t k = 0; k < count; k++)
        forecast(&cases[k], &inputs[k], classes[inputs[k].group].sigma, trials_compare, options);
    summarise(summary, cases, count, values);
    return STATUS_OK;
}
