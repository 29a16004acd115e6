/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../src/stats/values.h"
#include "../near.h"

/* By 40-digit arithmetic. */
static const struct {
    double t, freedom, p;
} known[] = {
    {2, 0.5, 0.445514890183131231},      {1, 1, 0.5},
    {636.619, 1, 0.0010000003907648223}, {0.1, 2, 0.929465438414140173},
    {8.6103, 4, 0.00100000070323676231}, {3.3, 5.2, 0.0202615071460012979},
    {0.01, 7.6, 0.992278773806731003},   {4.3178, 12, 0.00099998462797185002},
    {12, 16, 2.05746321360422831e-9},    {40, 20, 1.45746965543107639e-20},
    {3.7, 24.4, 0.00109781240570928451}, {1.5, 100, 0.136765058124688857},
    {6, 1000, 2.75536917337746911e-9},   {3.29, 1000000, 0.00100190845538664873},
};

static void test_known(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
        assert_near(student_two_sided(known[k].t, known[k].freedom) / known[k].p, 1, 1e-11);
        assert_near(student_two_sided(-known[k].t, known[k].freedom) / known[k].p, 1, 1e-11);
        assert_near(student_quantile(known[k].p, known[k].freedom) / known[k].t, 1, 1e-11);
    }
}

/* Closed forms: 1 degree is Cauchy's, 2 and 4 are algebraic. */
static void test_closed_forms(void **state)
{
    (void)state;
    for (double t = 0.01; t < 300; t *= 1.3) {
        const double two = 1 - t / sqrt(2 + t * t), four = 1 - t * (6 + t * t) / pow(4 + t * t, 1.5);
        assert_near(student_two_sided(t, 1), 2 / acos(-1.0) * atan(1 / t), 1e-13);
        assert_near(student_two_sided(t, 2), two, 1e-13);
        assert_near(student_two_sided(t, 4), four, 1e-13);
    }
}

static void test_there_and_back(void **state)
{
    (void)state;
    for (double freedom = 0.7; freedom < 1e6; freedom *= 3.1)
        for (double p = 1e-12; p < 1; p = p < 0.5 ? p * 4.7 : p + (1 - p) / 3 + 1e-3)
            assert_near(student_two_sided(student_quantile(p, freedom), freedom) / p, 1, 1e-11);
}

static void test_limits(void **state)
{
    (void)state;
    assert_near(student_two_sided(0, 5), 1, 0);
    assert_near(student_two_sided(INFINITY, 5), 0, 0);
    assert_true(isnan(student_two_sided(NAN, 5)));
    assert_true(isnan(student_two_sided(1, 0)));
    assert_true(isnan(student_quantile(0, 5)));
    assert_true(isnan(student_quantile(1, 5)));
    assert_true(isnan(student_quantile(0.1, -1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
