/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../near.h"
#include "../random.h"
#include "rooftile/gate.h"
#include "rooftile/noise.h"
#include "rooftile/summary.h"

#define CASES 60
#define TRIALS 40

static void fill(double trials[CASES][TRIALS], struct noise_case *cases, const double sigma[2])
{
    struct rng rng;
    rng_init(&rng, 11);
    for (size_t c = 0; c < CASES; c++) {
        for (size_t k = 0; k < TRIALS; k++)
            trials[c][k] = 1000 * exp(sigma[c % 2] * random_normal(&rng));
        trials[c][7] *= 1.2; /* one trial with interference each */
        cases[c] = (struct noise_case){.trial_ns = trials[c], .trials = TRIALS, .group = c % 2};
    }
}

static void test_learned(void **state)
{
    (void)state;
    static double trials[CASES][TRIALS];
    static const double sigma[] = {0.002, 0.06};
    struct noise_case cases[CASES];
    struct noise_class classes[3];
    struct noise_summary summary;
    struct err err = {0};
    const struct shift_options options = shift_defaults();
    fill(trials, cases, sigma);
    cases[4].trials = 7;
    cases[6].trials = 0;
    assert_int_equal(noise_learn(cases, CASES, classes, 3, &summary, 5, &options, &err), STATUS_OK);
    assert_near(classes[0].sigma / 0.002, 1, 0.1);
    assert_near(classes[1].sigma / 0.06, 1, 0.1);
    assert_int_equal(classes[0].cases, 28);
    assert_true(isnan(classes[2].sigma) && !classes[2].cases);
    assert_true(!cases[4].learned && isnan(cases[4].sigma) && !isnan(cases[4].sd) && !cases[4].too_noisy);
    assert_true(!cases[6].learned && isnan(cases[6].sd));
    assert_int_equal(summary.cases, CASES);
    assert_int_equal(summary.learned, 58);
    assert_near(summary.quiet_share, 28.0 / 58, 1e-15);
    assert_int_equal(summary.too_noisy, 30);
    assert_true(summary.min <= summary.p10 && summary.p10 < summary.median && summary.median < summary.p90 &&
                summary.p99 <= summary.max);
    for (size_t c = 0; c < CASES; c++) {
        if (!cases[c].learned)
            continue;
        assert_true(cases[c].too_noisy == (c % 2 == 1));
        assert_true(c % 2 || cases[c].sd > 5 * cases[c].sigma); /* the sd believes the trial with interference */
        assert_near(cases[c].mde_run, gate_mde(cases[c].sigma, 1, 0.01), 0);
        assert_near(cases[c].mde_week, gate_mde(cases[c].sigma, 7, 0.01), 0);
        const struct shift_prior prior = {cases[c].sigma, TRIALS, classes[c % 2].sigma, 0};
        assert_near(cases[c].mde_compare, shift_mde(&prior, 5, &options), 0);
    }
}

/* Two levels, three against five: the robust spread sees none, and eight such trials must not teach that the case is
 * quiet. */
static void test_levels(void **state)
{
    (void)state;
    static const double two_levels[] = {303, 303, 303, 303, 303, 326, 326, 326},
                        glitch[] = {303, 303, 303, 303, 303, 303, 303, 326};
    struct noise_case cases[] = {{.trial_ns = two_levels, .trials = 8}, {.trial_ns = glitch, .trials = 8}};
    struct noise_class class;
    struct noise_summary summary;
    struct err err = {0};
    const struct shift_options options = shift_defaults();
    assert_int_equal(noise_learn(cases, 2, &class, 1, &summary, 5, &options, &err), STATUS_OK);
    assert_true(cases[0].sigma > 0.03);
    assert_true(cases[1].sigma < 1e-9);
}

static void test_robust_sd(void **state)
{
    (void)state;
    double values[] = {5, 1, 2, 3, 4}, one[] = {1};
    assert_near(robust_sd(values, 5), 1.4826 * 5 / 4.2, 1e-14);
    assert_true(isnan(robust_sd(one, 1)));
    struct rng rng;
    double sum = 0, sample[8];
    rng_init(&rng, 3);
    for (int k = 0; k < 20000; k++) {
        for (size_t i = 0; i < 8; i++)
            sample[i] = random_normal(&rng);
        sum += robust_sd(sample, 8);
    }
    assert_near(sum / 20000, 1, 0.03); /* the correction for small n */
}

static void test_refused(void **state)
{
    (void)state;
    const double zero[] = {1, 2, 0};
    struct noise_case one = {.trial_ns = zero, .trials = 3};
    struct noise_class class;
    struct noise_summary summary;
    struct err err = {0};
    const struct shift_options options = shift_defaults();
    assert_int_equal(noise_learn(&one, 1, &class, 1, &summary, 5, &options, &err), ERR_CONFIG);
    assert_string_equal(err.text, "case 0: trial 2 has the time 0 ns");
    one = (struct noise_case){.trial_ns = zero, .trials = 2, .group = 1};
    assert_int_equal(noise_learn(&one, 1, &class, 1, &summary, 5, &options, &err), ERR_CONFIG);
    assert_int_equal(noise_learn(&one, 0, &class, 1, &summary, 5, &options, &err), STATUS_OK);
    assert_true(isnan(summary.median) && isnan(summary.quiet_share));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learned),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_robust_sd),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
