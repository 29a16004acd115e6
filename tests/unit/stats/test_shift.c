/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/stats/values.h"
#include "../near.h"
#include "../random.h"
#include "rooftile/shift.h"

#define QUIET                                                                                                          \
    {                                                                                                                  \
        .sigma_case = 0.003, .case_trials = 30, .sigma_class = 0.003                                                   \
    }

static struct shift judged(const double *base, size_t base_trials, const double *new, size_t new_trials,
                           struct shift_prior prior)
{
    struct shift shift;
    struct err err = {0};
    const struct shift_options options = shift_defaults();
    const struct shift_case one = {base, new, base_trials, new_trials, prior, 0};
    assert_int_equal(shift_compare(&shift, &one, &options, &err), STATUS_OK);
    return shift;
}

static void test_verdicts(void **state)
{
    (void)state;
    static const struct {
        double base[5], new[5];
        size_t base_trials, new_trials;
        struct shift_prior prior;
        enum shift_verdict verdict;
        enum shift_reason reason;
    } rows[] = {
        {{100, 101, 99}, {105, 106, 104}, 3, 3, QUIET, SHIFT_SLOWER, SHIFT_CLEAR},
        {{100, 100.2, 99.8}, {103, 103.2, 102.8}, 3, 3, QUIET, SHIFT_SLOWER, SHIFT_CLEAR},
        {{103, 103.2, 102.8}, {100, 100.2, 99.8}, 3, 3, QUIET, SHIFT_FASTER, SHIFT_CLEAR},
        {{100, 100.2, 99.8}, {100.1, 99.9, 100}, 3, 3, QUIET, SHIFT_SAME, SHIFT_WITHIN},
        {{100, 100, 100, 100, 100}, {100.95, 100.95, 100.95, 100.95, 100.95}, 5, 5, QUIET, SHIFT_SAME, SHIFT_SMALL},
        {{100}, {110}, 1, 1, QUIET, SHIFT_SUSPECT, SHIFT_FEW_TRIALS},
        {{100}, {100}, 1, 1, QUIET, SHIFT_INCONCLUSIVE, SHIFT_FEW_TRIALS},
        {{100, 100.1}, {110, 110.1}, 2, 2, QUIET, SHIFT_SUSPECT, SHIFT_FEW_TRIALS},
        {{100, 100.1, 99.9, 100, 100}, {110}, 5, 1, QUIET, SHIFT_SUSPECT, SHIFT_FEW_TRIALS},
        /* Two of three trials with interference: the third knows better. */
        {{100, 100.1, 99.9}, {106, 106.1, 100}, 3, 3, QUIET, SHIFT_INCONCLUSIVE, SHIFT_UNSUPPORTED},
        /* One trial with interference on a side neither makes nor hides a shift. */
        {{100, 100.1, 99.9, 125, 100}, {100.1, 100, 99.8, 100, 100.1}, 5, 5, QUIET, SHIFT_SAME, SHIFT_WITHIN},
        {{100, 100.1, 99.9, 125, 100}, {105.1, 105, 104.8, 105, 105.1}, 5, 5, QUIET, SHIFT_SLOWER, SHIFT_CLEAR},
        /* The same numbers, on a machine known to be noisy or not known at all. */
        {{100, 100.2, 99.8},
         {103, 103.2, 102.8},
         3,
         3,
         {.sigma_case = 0.02, .case_trials = 30, .sigma_class = 0.02},
         SHIFT_INCONCLUSIVE,
         SHIFT_NOISY},
        {{100, 100.2, 99.8}, {103, 103.2, 102.8}, 3, 3, {.sigma_case = NAN}, SHIFT_INCONCLUSIVE, SHIFT_NOISY},
        /* Four ticks of 1 %: a timer cannot tell 3 %. */
        {{100, 100, 100},
         {103, 103, 103},
         3,
         3,
         {.sigma_case = NAN, .sigma_class = 0.001, .floor = 0.01},
         SHIFT_INCONCLUSIVE,
         SHIFT_NOISY},
    };
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        const struct shift got =
            judged(rows[k].base, rows[k].base_trials, rows[k].new, rows[k].new_trials, rows[k].prior);
        if (got.verdict != rows[k].verdict || got.reason != rows[k].reason)
            fail_msg("row %zu: %s (%s), ratio %g in %g..%g", k, shift_verdict_names[got.verdict],
                     shift_reason_names[got.reason], got.ratio, got.ratio_ci[0], got.ratio_ci[1]);
        const bool open = got.verdict == SHIFT_INCONCLUSIVE || got.verdict == SHIFT_SUSPECT;
        assert_true(open || got.suggested_trials == 0);
    }
}

/* The formula with every number written out. */
static void test_numbers(void **state)
{
    (void)state;
    const double base[] = {100, 101, 102}, new[] = {105, 104, 106};
    const struct shift_prior prior = {.sigma_case = 0.01, .case_trials = 15, .sigma_class = 0.02};
    const struct shift got = judged(base, 3, new, 3, prior);
    const double v0 = (6 * 1e-4 + 4 * 4e-4) / 10;
    double squares = 0;
    for (size_t side = 0; side < 2; side++) {
        const double *x = side ? new : base, mean = (log(x[0]) + log(x[1]) + log(x[2])) / 3;
        for (size_t k = 0; k < 3; k++)
            squares += pow(log(x[k]) - mean, 2);
    }
    const double v = (10 * v0 + squares) / 14, se = 1.05 * sqrt(v * 2 / 3);
    const double half = student_quantile(0.001, 14) * se;
    assert_near(got.d, log(105.0 / 101), 1e-15);
    assert_near(got.freedom, 14, 0);
    assert_near(got.sd, sqrt(v), 1e-15);
    assert_near(got.ratio, 105.0 / 101, 1e-14);
    assert_near(got.ratio_ci[0], exp(got.d - half), 1e-14);
    assert_near(got.ratio_ci[1], exp(got.d + half), 1e-14);
    assert_near(got.p, student_two_sided(got.d / se, 14), 1e-15);
    assert_near(got.q, got.p, 0);
    assert_near(got.mde, expm1(half + student_quantile(0.2, 14) * se), 1e-14);
    assert_near(got.base_ns, 101, 1e-12);
    assert_near(got.new_ns, 105, 1e-12);
    assert_true(got.suggested_trials > 3 && got.suggested_trials < 20);
    const struct shift_options options = shift_defaults();
    const double known = sqrt(v0) * 1.05 * sqrt(2.0 / 5);
    assert_near(shift_mde(&prior, 5, &options),
                expm1(student_quantile(0.001, 18) * known + student_quantile(0.2, 18) * known), 1e-14);
}

/* What is suggested decides: at the suggested number the interval is as narrow as needed, at one less it is not. */
static void test_suggestion(void **state)
{
    (void)state;
    const double base[] = {100, 101, 102}, new[] = {103, 102.5, 103.5};
    const struct shift_prior prior = {.sigma_case = 0.01, .case_trials = 30, .sigma_class = 0.01};
    const struct shift got = judged(base, 3, new, 3, prior);
    assert_int_equal(got.verdict, SHIFT_INCONCLUSIVE);
    const double r = got.suggested_trials, target = fmax(got.d, log(1.03) - got.d);
    assert_true(student_quantile(0.001, 16 + 2 * r - 2) * 1.05 * got.sd * sqrt(2 / r) <= target);
    assert_true(student_quantile(0.001, 16 + 2 * r - 4) * 1.05 * got.sd * sqrt(2 / (r - 1)) > target);
    const struct shift_prior wild = {.sigma_case = 0.2, .case_trials = 30, .sigma_class = 0.2};
    assert_int_equal(judged(base, 3, new, 3, wild).suggested_trials, 0);
}

static void test_order(void **state)
{
    (void)state;
    const double base[] = {100, 101.3, 99.1, 100.7, 102}, new[] = {105, 104, 106, 103.3, 107};
    const double base_mixed[] = {102, 99.1, 100, 101.3, 100.7}, new_mixed[] = {103.3, 107, 106, 104, 105};
    struct shift a = judged(base, 5, new, 5, (struct shift_prior)QUIET);
    struct shift b = judged(base_mixed, 5, new_mixed, 5, (struct shift_prior)QUIET);
    assert_memory_equal(&a, &b, offsetof(struct shift, suggested_trials)); /* no padding up to there */
    assert_int_equal(a.suggested_trials, b.suggested_trials);
}

static void test_refused(void **state)
{
    (void)state;
    const double good[] = {100, 101, 102};
    static const double bad[] = {0, -1, NAN, INFINITY};
    struct shift untouched = {.d = 7}, shift = untouched;
    struct shift_options options = shift_defaults();
    struct err err = {0};
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        const double values[] = {100, bad[k], 102};
        const struct shift_case old = {values, good, 3, 3, QUIET, 0}, new = {good, values, 3, 3, QUIET, 0};
        assert_int_equal(shift_compare(&shift, &old, &options, &err), ERR_CONFIG);
        assert_non_null(strstr(err.text, "trial 1 of the base run"));
        assert_int_equal(shift_compare(&shift, &new, &options, &err), ERR_CONFIG);
        assert_non_null(strstr(err.text, "trial 1 of the new run"));
    }
    const struct shift_case none = {good, good, 3, 0, QUIET, 0}, many = {good, good, SHIFT_MAX_TRIALS + 1, 3, QUIET, 0};
    const struct shift_case sigma = {good, good, 3, 3, {.sigma_case = -1}, 0}, fine = {good, good, 3, 3, QUIET, 0};
    assert_int_equal(shift_compare(&shift, &none, &options, &err), ERR_CONFIG);
    assert_int_equal(shift_compare(&shift, &many, &options, &err), ERR_CONFIG);
    assert_int_equal(shift_compare(&shift, &sigma, &options, &err), ERR_CONFIG);
    static const struct shift_options wrong[] = {
        {0, 0.01, 0.03},      {1, 0.01, 0.03},     {NAN, 0.01, 0.03},
        {0.001, -0.01, 0.03}, {0.001, 0.05, 0.03}, {0.001, 0.01, NAN},
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
        assert_int_equal(shift_compare(&shift, &fine, &wrong[k], &err), ERR_CONFIG);
    assert_memory_equal(&shift, &untouched, offsetof(struct shift, suggested_trials));
}

#define CASES 24
#define TRIALS 5

struct fleet {
    double base[CASES][TRIALS], new[CASES][TRIALS];
    struct shift_case cases[CASES];
};

/* Two classes, even and odd; each trial of a class has something of its own, as a process's clock does. */
static void fill(struct fleet *fleet, const double shift[2], uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t trial = 0; trial < TRIALS; trial++) {
        const double base_trial = 0.002 * random_normal(&rng), new_trial = 0.002 * random_normal(&rng);
        for (size_t c = 0; c < CASES; c++) {
            const double size = 100 * (double)(c + 1);
            fleet->base[c][trial] = size * exp(base_trial + 0.002 * random_normal(&rng));
            fleet->new[c][trial] = size *exp(new_trial + 0.002 * random_normal(&rng) + log1p(shift[c % 2]));
            fleet->cases[c] = (struct shift_case){fleet->base[c], fleet->new[c], TRIALS, TRIALS, QUIET, c % 2};
        }
    }
}

static void test_common_mode(void **state)
{
    (void)state;
    static const double moved[] = {0.03, 0}, still[] = {0, 0};
    struct fleet fleet;
    struct shift out[CASES];
    struct shift_group groups[2];
    struct err err = {0};
    const struct shift_options options = shift_defaults();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        fill(&fleet, moved, seed);
        for (size_t trial = 0; trial < TRIALS; trial++)
            fleet.new[4][trial] *= 1.05; /* one case of the moved class moved by itself too */
        assert_int_equal(shift_compare_all(out, groups, 2, fleet.cases, CASES, &options, &err), STATUS_OK);
        assert_true(groups[0].shifted && !groups[1].shifted);
        assert_int_equal(groups[0].shift.verdict, SHIFT_SLOWER);
        assert_near(groups[0].common, log(1.03), 0.005);
        for (size_t c = 0; c < CASES; c++) {
            assert_int_equal(out[c].verdict, c == 4 ? SHIFT_SLOWER : SHIFT_SAME);
            assert_near(out[c].common, c % 2 ? 0 : groups[0].common, 0);
            assert_near(out[c].ratio, exp(out[c].d - out[c].common), 1e-15);
        }
        fill(&fleet, still, seed);
        assert_int_equal(shift_compare_all(out, groups, 2, fleet.cases, CASES, &options, &err), STATUS_OK);
        assert_false(groups[0].shifted || groups[1].shifted);
    }
}

/* Nine cases are too few to be a class that moved, and one trial a side proves nothing of a class either. */
static void test_common_mode_limits(void **state)
{
    (void)state;
    static const double moved[] = {0.03, 0.03};
    struct fleet fleet;
    struct shift out[CASES];
    struct shift_group group;
    struct err err = {0};
    const struct shift_options options = shift_defaults();
    fill(&fleet, moved, 1);
    for (size_t c = 0; c < CASES; c++)
        fleet.cases[c].group = 0;
    assert_int_equal(shift_compare_all(out, &group, 1, fleet.cases, 9, &options, &err), STATUS_OK);
    assert_false(group.shifted);
    assert_int_equal(out[3].verdict, SHIFT_SLOWER);
    for (size_t c = 0; c < CASES; c++)
        fleet.cases[c].base_trials = fleet.cases[c].new_trials = 1;
    assert_int_equal(shift_compare_all(out, &group, 1, fleet.cases, CASES, &options, &err), STATUS_OK);
    assert_true(group.shifted);
    assert_int_equal(group.shift.verdict, SHIFT_SUSPECT);
    assert_int_equal(shift_compare_all(out, &group, 1, fleet.cases, 0, &options, &err), STATUS_OK);
    assert_false(group.shifted);
    fleet.cases[7].group = 1;
    assert_int_equal(shift_compare_all(out, &group, 1, fleet.cases, CASES, &options, &err), ERR_CONFIG);
    assert_string_equal(err.text, "case 7: group 1 of 1");
}

static void test_q_values(void **state)
{
    (void)state;
    const double want[] = {0.05, 0.0025, NAN, 0.1 / 3, 0.9, 0.0025};
    double q[] = {0.04, 0.001, NAN, 0.02, 0.9, 0.001};
    q_values(q, 6);
    for (size_t k = 0; k < 6; k++)
        if (isnan(want[k]))
            assert_true(isnan(q[k]));
        else
            assert_near(q[k], want[k], 1e-15);
    q_values(q, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_suggestion),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_common_mode),
        cmocka_unit_test(test_common_mode_limits),
        cmocka_unit_test(test_q_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
