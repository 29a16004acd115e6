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

#define POINTS 48

/* A pointer chase from 4 KiB on, four sizes per octave: `ends` in points, ramps of `ramp` points between levels. */
static size_t chase(struct change_point *found, const double *levels, const size_t *ends, size_t count, size_t ramp,
                    double noise, uint64_t seed)
{
    double x[POINTS], y[POINTS];
    for (size_t k = 0; k < POINTS; k++) {
        size_t level = 0;
        x[k] = 4096 * exp2((double)k / 4);
        while (level + 1 < count && k >= ends[level])
            level++;
        double value = levels[level];
        if (level && k - ends[level - 1] < ramp) {
            const double share = (double)(k - ends[level - 1] + 1) / (double)(ramp + 1);
            value = levels[level - 1] * pow(levels[level] / levels[level - 1], share);
        }
        y[k] = value * exp(noise * random_normal_at(seed, k));
    }
    return change_points(found, 8, x, y, POINTS, 3, seed);
}

static void test_levels(void **state)
{
    (void)state;
    const double levels[] = {1.5, 5, 25, 100};
    const size_t ends[] = {12, 24, 38, POINTS};
    for (size_t ramp = 0; ramp < 6; ramp++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct change_point found[8];
            const size_t count = chase(found, levels, ends, 4, ramp, 0.02, seed);
            if (count != 3)
                fail_msg("ramp %zu seed %u: %zu changes", ramp, (unsigned)seed, count);
            for (size_t k = 0; k < count; k++) {
                const double end = 4096 * exp2(((double)ends[k] - 1) / 4); /* last point of the level */
                assert_true(found[k].x_low <= end * 1.6 && found[k].x_low >= end * 0.8);
                assert_true(found[k].x_high >= end && found[k].x_high <= end * exp2((double)ramp / 4 + 0.5));
                assert_true(fabs(found[k].before / levels[k] - 1) < 0.1);
                assert_true(fabs(found[k].after / levels[k + 1] - 1) < 0.1);
                assert_true(found[k].confidence > 0.98);
            }
        }
    }
}

static void test_no_level(void **state)
{
    (void)state;
    const double level = 7;
    const size_t end = POINTS;
    int alarms = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct change_point found[8];
        alarms += chase(found, &level, &end, 1, 0, 0.03, seed) > 0;
    }
    assert_in_range(alarms, 0, 5);
}

static void test_deterministic(void **state)
{
    (void)state;
    const double levels[] = {10, 12};
    const size_t ends[] = {20, POINTS};
    struct change_point a[8] = {0}, b[8] = {0};
    assert_int_equal(chase(a, levels, ends, 2, 0, 0.05, 9), 1);
    assert_int_equal(chase(b, levels, ends, 2, 0, 0.05, 9), 1);
    assert_memory_equal(a, b, sizeof(a));
}

static void test_limits(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 1, 1, 9, 9, 9};
    struct change_point found[2];
    assert_int_equal(change_points(found, 2, x, y, 6, 3, 1), 1);
    assert_int_equal(found[0].index, 3);
    assert_near(found[0].x_low, 3, 0);
    assert_near(found[0].x_high, 4, 0);
    assert_true(found[0].confidence > 0.8 && found[0].confidence < 0.95); /* 3 against 3 cannot be surer */
    assert_int_equal(change_points(found, 0, x, y, 6, 3, 1), 0);
    assert_int_equal(change_points(found, 2, x, y, 5, 3, 1), 0);
    assert_int_equal(change_points(found, 2, x, y, 0, 0, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_no_level),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
