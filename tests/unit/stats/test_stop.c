/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../near.h"
#include "../random.h"
#include "rooftile/summary.h"

#define CAPACITY 2000

static const struct {
    const char *what;
    double noise; /* relative sd */
    double min_time_ns, max_time_ns, precision;
    uint32_t min_samples, max_samples;
    enum stop_reason reason;
    uint32_t at_least, at_most;
} runs[] = {
    {"quiet samples end at min_samples", 1e-5, 0, 1e12, 0.0025, 30, 1000, STOP_PRECISE, 30, 30},
    {"busy time is waited for", 1e-5, 100e3, 1e12, 0.0025, 30, 1000, STOP_PRECISE, 100, 101},
    {"noise that does not change ends it", 0.2, 0, 1e12, 1e-6, 30, 1900, STOP_STABLE, 65, 700},
    {"wall time is a cap", 0.2, 0, 50e3, 1e-6, 30, 1900, STOP_TIMEOUT, 49, 52},
    {"so is the number of samples", 0.2, 1e12, 1e12, 0.0025, 30, 40, STOP_MAX_SAMPLES, 40, 40},
    {"and the room for them", 0.2, 1e12, 1e12, 0.0025, 30, 100000, STOP_MAX_SAMPLES, CAPACITY, CAPACITY},
};

static void test_runs(void **state)
{
    (void)state;
    static double sorted[CAPACITY];
    for (size_t k = 0; k < sizeof(runs) / sizeof(runs[0]); k++) {
        struct stop_rule rule = {.min_time_ns = runs[k].min_time_ns,
                                 .max_time_ns = runs[k].max_time_ns,
                                 .precision = runs[k].precision,
                                 .min_samples = runs[k].min_samples,
                                 .max_samples = runs[k].max_samples};
        enum stop_reason reason = STOP_NONE;
        double wall_ns = 0;
        stop_init(&rule, sorted, CAPACITY);
        for (uint32_t n = 0; !reason; n++) {
            const double sample_ns = 1000 * (1 + runs[k].noise * random_normal_at(5, n));
            wall_ns += 1000;
            stop_add(&rule, sample_ns, 1000);
            reason = stop_check(&rule, wall_ns);
        }
        if (reason != runs[k].reason || rule.n < runs[k].at_least || rule.n > runs[k].at_most)
            fail_msg("%s: %s after %u samples", runs[k].what, stop_reason_names[reason], rule.n);
    }
}

static void test_sorted(void **state)
{
    (void)state;
    double sorted[8];
    struct stop_rule rule = {.max_samples = 100, .max_time_ns = 1e9};
    stop_init(&rule, sorted, 8);
    const double samples[] = {5, 3, 9, 3, 1, 7, 2, 8, 6, 4};
    for (size_t k = 0; k < 10; k++)
        stop_add(&rule, samples[k], samples[k]);
    const double want[] = {1, 2, 3, 3, 5, 7, 8, 9}; /* two found no room */
    assert_int_equal(rule.n, 8);
    assert_memory_equal(sorted, want, sizeof(want));
    assert_near(rule.sum_ns, 48, 0);
    assert_near(rule.mean, 38.0 / 8, 1e-12);
}

/* Without a single sample only the wall may end it. */
static void test_no_samples(void **state)
{
    (void)state;
    double sorted[4];
    struct stop_rule rule = {.max_samples = 100, .max_time_ns = 1e9};
    stop_init(&rule, sorted, 4);
    assert_int_equal(stop_check(&rule, 0), STOP_NONE);
    assert_int_equal(stop_check(&rule, 1e9), STOP_TIMEOUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_sorted),
        cmocka_unit_test(test_no_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
