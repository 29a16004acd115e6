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

static void test_startup(void **state)
{
    (void)state;
    double volume[20], time[20];
    struct startup_fit fit;
    for (size_t k = 0; k < 20; k++) {
        volume[k] = ldexp(1024, (int)k);
        time[k] = (5000 + volume[k] / 20) * (1 + 0.01 * random_normal_at(1, k));
    }
    assert_true(startup_fit(&fit, volume, time, 20));
    assert_near(fit.startup, 5000, 100);
    assert_near(fit.rate, 20, 0.4);
    assert_true(fit.r2 > 0.99 && fit.r2 <= 1);
}

static void test_startup_of_a_line_through_zero(void **state)
{
    (void)state;
    const double volume[] = {1, 2, 4, 8}, time[] = {0.9, 2, 4.1, 8.3}; /* its intercept would be negative */
    struct startup_fit fit;
    assert_true(startup_fit(&fit, volume, time, 4));
    assert_near(fit.startup, 0, 0);
    assert_near(fit.rate, 1, 0.05);
}

static void test_startup_refuses(void **state)
{
    (void)state;
    const double one[] = {1, 1, 1}, falling[] = {3, 2, 1}, rising[] = {1, 2, 3}, zero[] = {0, 1, 2},
                 nan[] = {1, NAN, 3};
    struct startup_fit fit;
    assert_false(startup_fit(&fit, rising, falling, 3));
    assert_false(startup_fit(&fit, one, rising, 3));
    assert_false(startup_fit(&fit, rising, zero, 3));
    assert_false(startup_fit(&fit, rising, nan, 3));
    assert_false(startup_fit(&fit, rising, rising, 1));
}

static void test_knee(void **state)
{
    (void)state;
    double x[21], saturating[21], line[21];
    for (size_t k = 0; k < 21; k++) {
        x[k] = ldexp(1, (int)k);
        saturating[k] = fmin(x[k], 1024) * 1e9;
        line[k] = x[k];
    }
    assert_near(knee(x, saturating, 21), 1024, 0);
    assert_true(isnan(knee(x, line, 21)));
    assert_true(isnan(knee(x, saturating, 2)));
    saturating[0] = 0;
    assert_true(isnan(knee(x, saturating, 21)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_startup),
        cmocka_unit_test(test_startup_of_a_line_through_zero),
        cmocka_unit_test(test_startup_refuses),
        cmocka_unit_test(test_knee),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
