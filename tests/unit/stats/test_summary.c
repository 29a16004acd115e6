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
#include "rooftile/summary.h"

#define MANY 1000

static void test_ten(void **state)
{
    (void)state;
    const double samples[] = {9, 1, 8, 2, 7, 3, 6, 4, 5, 10};
    double before[10], scratch[20];
    struct summary s;
    memcpy(before, samples, sizeof(samples));
    summary_compute(&s, samples, 10, scratch);
    assert_memory_equal(samples, before, sizeof(samples));
    assert_int_equal(s.n, 10);
    assert_near(s.median, 5.5, 0);
    /* l = floor(5 - 3.099) = 1, u = ceil(6 + 3.099) = 10 */
    assert_near(s.ci95[0], 1, 0);
    assert_near(s.ci95[1], 10, 0);
    assert_near(s.min, 1, 0);
    assert_near(s.p05, 1.45, 1e-12);
    assert_near(s.q1, 3.25, 1e-12);
    assert_near(s.q3, 7.75, 1e-12);
    assert_near(s.p95, 9.55, 1e-12);
    assert_near(s.max, 10, 0);
    assert_near(s.mean, 5.5, 1e-12);
    assert_near(s.sd, 3.0276503540974917, 1e-12);
    assert_near(s.mad, 2.5, 1e-12);
    assert_near(s.rel_noise, 1.4826 * 2.5 / 5.5, 1e-12);
    /* deviations 3.5 -4.5 2.5 -3.5 1.5 -2.5 .5 -1.5 -.5 4.5: products sum to -48.25, squares to 82.5 */
    assert_near(s.lag1, -48.25 / 82.5, 1e-12);
    /* quarters of two: median(9, 1) = 5 and median(5, 10) = 7.5 */
    assert_near(s.drift, 0.5, 1e-12);
    assert_int_equal(s.modes, 1);
}

static void test_few(void **state)
{
    (void)state;
    const double samples[] = {3, 1, 2};
    double scratch[6];
    struct summary s;
    summary_compute(&s, samples, 3, scratch);
    assert_near(s.median, 2, 0);
    assert_near(s.ci95[0], 1, 0);
    assert_near(s.ci95[1], 3, 0);
    assert_true(isnan(s.drift));
    summary_compute(&s, samples, 1, scratch);
    assert_near(s.median, 3, 0);
    assert_true(isnan(s.sd) && isnan(s.lag1) && isnan(s.mad) && isnan(s.rel_noise));
    summary_compute(&s, samples, 0, scratch);
    assert_true(isnan(s.median) && isnan(s.min) && isnan(s.mean) && isnan(s.ci95[0]));
    assert_int_equal(s.n, 0);
}

static void test_mad_against_sorting(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 7);
    for (size_t n = 2; n < 60; n++) {
        double samples[64], deviations[64], scratch[128];
        struct summary s;
        for (size_t k = 0; k < n; k++)
            samples[k] = floor(10 * random_uniform(&rng));
        summary_compute(&s, samples, n, scratch);
        for (size_t k = 0; k < n; k++)
            deviations[k] = fabs(samples[k] - s.median);
        assert_near(s.mad, median_of(deviations, n), 1e-12);
    }
}

/* The interval must hold the true median in about 95 of 100 draws, whatever the distribution. */
static void test_interval_covers(void **state)
{
    (void)state;
    struct rng rng;
    int covered = 0;
    rng_init(&rng, 11);
    for (int draw = 0; draw < 1000; draw++) {
        double samples[40], scratch[80];
        struct summary s;
        for (size_t k = 0; k < 40; k++)
            samples[k] = -log(1 - random_uniform(&rng)); /* exponential: median ln 2 */
        summary_compute(&s, samples, 40, scratch);
        covered += s.ci95[0] <= log(2) && log(2) <= s.ci95[1];
    }
    assert_in_range(covered, 935, 995);
}

static uint32_t modes_of(double share, double distance, size_t count)
{
    static double samples[MANY], scratch[2 * MANY];
    struct summary s;
    for (size_t k = 0; k < count; k++)
        samples[k] = 100 + random_normal_at(3, k) + (rng_uniform_at(4, k) < share ? distance : 0);
    summary_compute(&s, samples, count, scratch);
    return s.modes;
}

static void test_modes(void **state)
{
    (void)state;
    assert_int_equal(modes_of(0, 0, MANY), 1);
    assert_int_equal(modes_of(0.3, 30, MANY), 2);
    assert_int_equal(modes_of(0.02, 30, MANY), 1); /* a few outliers are no mode */
    assert_int_equal(modes_of(0.3, 2, MANY), 1);
    assert_int_equal(modes_of(0.3, 30, 19), 1);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(stop_reason_names[STOP_PRECISE], "precise");
    assert_string_equal(stop_reason_names[STOP_STABLE], "stable");
    assert_string_equal(stop_reason_names[STOP_TIMEOUT], "timeout");
    assert_string_equal(stop_reason_names[STOP_MAX_SAMPLES], "max_samples");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_mad_against_sorting),
        cmocka_unit_test(test_interval_covers),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
