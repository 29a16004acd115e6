/* SPDX-License-Identifier: MIT
 *
 * Rates of false alarm and of detection of the pairwise comparison under synthetic noise. With a number as argument, so
 * many times the repetitions: `unit_stats_test_shift_sim 10`.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "noise_models.h"
#include "rooftile/noise.h"
#include "rooftile/shift.h"
#include "rooftile/summary.h"

#define MOST_TRIALS 10
#define LEARNED 30

struct scene {
    enum noise_model model;
    double sigma;
    size_t trials;
    double effect; /* ratio - 1 */
    bool learned;  /* with a sigma from 30 A/A trials of the case */
};

struct counts {
    size_t confirmed, same, naive, all;
};

static void draw(double *trial_ns, size_t count, struct noise_source *source, double effect)
{
    for (size_t k = 0; k < count; k++)
        trial_ns[k] = 1e5 * (1 + effect) * exp(noise_next(source));
}

/* What a script would do: the means of the trials differ by 3 %. */
static bool naive_alarm(const double *base, const double *new, size_t count)
{
    double a = 0, b = 0;
    for (size_t k = 0; k < count; k++) {
        a += base[k];
        b += new[k];
    }
    return fabs(log(b / a)) > log(1.03);
}

static double learned_sigma(struct noise_source *source)
{
    double x[LEARNED];
    for (size_t k = 0; k < LEARNED; k++)
        x[k] = noise_next(source);
    return robust_sd(x, LEARNED);
}

static struct counts run(const struct scene *scene, size_t count, const char *name)
{
    struct rng rng;
    struct err err = {0};
    struct counts counts = {.all = count};
    const struct shift_options options = shift_defaults();
    const uint64_t place = (uint64_t)scene->model * 1000 + scene->trials * 10 + scene->learned;
    rng_init(&rng, rng_at(rng_derive(place, name), (uint64_t)(scene->sigma * 1e6)));
    for (size_t k = 0; k < count; k++) {
        double base[MOST_TRIALS], new[MOST_TRIALS];
        struct noise_source source = {scene->model, noise_case_sigma(&rng, scene->sigma), 0, &rng};
        struct shift_case one = {.base_ns = base,
                                 .new_ns = new,
                                 .base_trials = scene->trials,
                                 .new_trials = scene->trials,
                                 .prior = {.sigma_case = NAN, .sigma_class = scene->sigma}};
        struct shift shift;
        if (scene->learned) {
            one.prior.sigma_case = learned_sigma(&source);
            one.prior.case_trials = LEARNED;
        }
        draw(base, scene->trials, &source, 0);
        draw(new, scene->trials, &source, scene->effect);
        assert_int_equal(shift_compare(&shift, &one, &options, &err), STATUS_OK);
        counts.confirmed += scene->effect > 0 ? shift.verdict == SHIFT_SLOWER
                                              : shift.verdict == SHIFT_SLOWER || shift.verdict == SHIFT_FASTER;
        counts.same += shift.verdict == SHIFT_SAME;
        counts.naive += naive_alarm(base, new, scene->trials);
    }
    return counts;
}

static const double sigmas[] = {0.003, 0.01, 0.02};

/* False alarms per comparison that each noise may cause, by trials a side. */
static void test_false_alarms(void **state)
{
    (void)state;
    static const struct {
        enum noise_model model;
        size_t trials;
        double most;
    } rows[] = {
        {GAUSSIAN, 5, 0.001}, {STUDENT_T4, 5, 0.001},  {GLITCH, 5, 0.001},  {BIMODAL, 5, 0.004},
        {GAUSSIAN, 3, 0.001}, {STUDENT_T4, 3, 0.0015}, {GLITCH, 3, 0.0015}, {BIMODAL, 3, 0.004},
    };
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++)
        for (size_t s = 0; s < sizeof(sigmas) / sizeof(sigmas[0]); s++)
            for (int learned = 0; learned < 2; learned++) {
                const struct scene scene = {rows[row].model, sigmas[s], rows[row].trials, 0, learned};
                const struct counts got = run(&scene, noise_repetitions(5000), "false alarms");
                const double all = (double)got.all;
                printf(
                    "A/A %-8s sd %.1f %% R=%zu %-7s: false alarms %.3f per 1000 (bound %.1f), same %.3f; naive %.1f\n",
                    noise_names[scene.model], scene.sigma * 100, scene.trials, learned ? "learned" : "prior",
                    1000 * (double)got.confirmed / all, 1000 * rows[row].most, (double)got.same / all,
                    1000 * (double)got.naive / all);
                assert_true((double)got.confirmed <= noise_most(rows[row].most, all));
                if (scene.sigma >= 0.02) /* the same noise breaks the bound of a rule that knows nothing of noise */
                    assert_true((double)got.naive > noise_most(rows[row].most, all));
            }
}

static void test_power(void **state)
{
    (void)state;
    static const struct {
        struct scene scene;
        double least;
    } rows[] = {
        {{GAUSSIAN, 0.003, 3, 0.03, false}, 0.95}, {{GAUSSIAN, 0.003, 3, 0.03, true}, 0.95},
        {{GAUSSIAN, 0.01, 5, 0.05, false}, 0.9},   {{GAUSSIAN, 0.01, 5, 0.05, true}, 0.9},
        {{GAUSSIAN, 0.003, 5, 0.03, true}, 0.99},  {{GAUSSIAN, 0.01, 5, 0.10, true}, 0.99},
        {{STUDENT_T4, 0.003, 3, 0.03, true}, 0.9}, {{GLITCH, 0.003, 3, 0.05, true}, 0.97},
        {{GLITCH, 0.003, 5, 0.05, true}, 0.99},    {{BIMODAL, 0.003, 5, 0.03, true}, 0.9},
        {{GAUSSIAN, 0.02, 5, 0.10, true}, 0.8},
    };
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        const struct scene *scene = &rows[row].scene;
        const struct counts got = run(scene, noise_repetitions(4000), "power");
        printf("A/B %-8s sd %.1f %% R=%zu %-7s: +%.0f %% found in %.4f (least %.2f)\n", noise_names[scene->model],
               scene->sigma * 100, scene->trials, scene->learned ? "learned" : "prior", scene->effect * 100,
               (double)got.confirmed / (double)got.all, rows[row].least);
        assert_true((double)got.confirmed >= noise_least(rows[row].least, (double)got.all));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_false_alarms),
        cmocka_unit_test(test_power),
    };
    noise_set_effort(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
