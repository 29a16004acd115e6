/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/run/run_internal.h"
#include "../near.h"
#include "rooftile/dtype.h"

static void tolerances_decide(void **state)
{
    (void)state;
    static const struct {
        double got, want, abs, rel;
        bool wrong;
    } cases[] = {
        {1, 1, 0, 0, false},           {1, 2, 0, 0, true},        {-0.0, 0, 0, 0, false},
        {1.5, 1, 0.5, 0, false}, /* the bound itself is right */
        {1.5000001, 1, 0.5, 0, true},  {0.5, 1, 0.5, 0, false},   {110, 100, 0, 0.1, false},
        {-110, -100, 0, 0.1, false},   {111, 100, 0, 0.1, true},  {111, 100, 1, 0.1, false}, /* abs + rel * |want| */
        {1e-30, 0, 0, 0.5, true},                                                            /* relative to nothing */
        {NAN, 1, 1e300, 1, true},      {1, NAN, 1e300, 1, true},  {NAN, NAN, 1e300, 1, true},
        {INFINITY, 1, 1e300, 0, true}, {1, INFINITY, 1, 0, true}, {INFINITY, -INFINITY, 1, 0, true},
        {1, INFINITY, 1, 0.5, true}, /* which is not within half of infinity */
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct comparison comparison = {.abs = cases[k].abs, .rel = cases[k].rel};
        comparison_add(&comparison, &cases[k].got, &cases[k].want, NULL, 7, 1);
        if (comparison.wrong != cases[k].wrong || comparison.checked != 1)
            fail_msg("case %zu: %g for %g counts %llu wrong", k, cases[k].got, cases[k].want,
                     (unsigned long long)comparison.wrong);
        if (cases[k].wrong)
            assert_int_equal(comparison.index, 7);
    }
}

/* |inf - inf| is no number: infinities are wrong even where both are, since a kernel that overflows measures nothing.
 */
static void infinities_are_wrong(void **state)
{
    (void)state;
    const double got[] = {INFINITY, -INFINITY};
    struct comparison comparison = {.abs = 1};
    comparison_add(&comparison, got, got, NULL, 0, 2);
    assert_int_equal(comparison.wrong, 2);
}

static void the_first_wrong_element_is_named(void **state)
{
    (void)state;
    const double got[] = {0, 1, 9, 3, 8}, want[] = {0, 1, 2, 3, 4};
    const uint64_t index[] = {50, 40, 30, 20, 10};
    struct comparison plain = {.checked = 0}, listed = {.checked = 0};
    comparison_add(&plain, got, want, NULL, 100, 5);
    assert_int_equal(plain.checked, 5);
    assert_int_equal(plain.wrong, 2);
    assert_int_equal(plain.index, 102);
    assert_near(plain.got, 9, 0);
    assert_near(plain.want, 2, 0);
    comparison_add(&listed, got, want, index, 0, 5);
    assert_int_equal(listed.index, 30);
    assert_near(plain.max_abs, 7, 0);
    assert_near(plain.max_rel, 3.5, 0);
}

static void the_share_of_tolerance_is_the_worst_elements(void **state)
{
    (void)state;
    static const struct {
        double got, want, abs, rel, used;
    } cases[] = {
        {1, 1, 0.5, 0, 0},
        {1.5, 1, 0.5, 0, 1},
        {1.25, 1, 0.5, 0, 0.5},
        {101, 100, 1, 0.01, 0.5},
        {-103, -100, 0, 0.04, 0.75},
        {2, 1, 0.5, 0, 2},
        {1, 1, 0, 0, 0},
        {1, 2, 0, 0, INFINITY},
        {NAN, 1, 1, 0.5, INFINITY},
        {0x1p-30, 0, 0x1p-28, 0, .25},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        const double got[] = {7, cases[k].got, 7}, want[] = {7, cases[k].want, 7};
        struct comparison comparison = {.abs = cases[k].abs, .rel = cases[k].rel}, total = {.checked = 0};
        struct verification verification = {0};
        comparison_add(&comparison, got, want, NULL, 0, 3);
        comparison_merge(&total, &comparison);
        comparison_report(&verification, &total, "y");
        if (!(fabs(verification.tolerance_used - cases[k].used) < 1e-12) &&
            !(isinf(cases[k].used) && isinf(verification.tolerance_used)))
            fail_msg("case %zu uses %g", k, verification.tolerance_used);
        assert_int_equal(comparison.wrong, cases[k].used > 1);
    }
}

static void tolerances_that_accept_anything_are_refused(void **state)
{
    (void)state;
    static const struct {
        double abs, rel, want[3];
        bool refused;
    } cases[] = {
        {0, 0, {1, 2, 3}, false},      {0.9, 0, {1, 2, 3}, false},     {1, 0, {1, 2, 3}, true},
        {0, 0.2, {1, 2, 3}, false},    {0, 0.21, {1, 2, 3}, true},     {NAN, 0, {1, 2, 3}, true},
        {0, NAN, {1, 2, 3}, true},     {INFINITY, 0, {1, 2, 3}, true}, {-1, 0, {1, 2, 3}, true},
        {4.9, 0, {-5, -5, -5}, false}, {5, 0, {-5, -5, -5}, true},     {1e-9, 0, {0, 0, 0}, false},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct comparison whole = {.abs = cases[k].abs, .rel = cases[k].rel}, part = whole;
        struct err err = {0};
        comparison_add(&part, cases[k].want, cases[k].want, NULL, 0, 1);
        comparison_merge(&whole, &part); /* the range is that of all parts */
        comparison_add(&part, cases[k].want, cases[k].want, NULL, 0, 3);
        comparison_merge(&whole, &part);
        if ((comparison_refuse(&whole, &err) != STATUS_OK) != cases[k].refused)
            fail_msg("case %zu: '%s'", k, err.text);
    }
}

static void errors_within_tolerance_are_still_reported(void **state)
{
    (void)state;
    const double got[] = {1, 2.5, 4}, want[] = {1, 2, 4};
    struct comparison comparison = {.abs = 1};
    comparison_add(&comparison, got, want, NULL, 0, 3);
    assert_int_equal(comparison.wrong, 0);
    assert_near(comparison.max_abs, 0.5, 0);
    assert_near(comparison.max_rel, 0.25, 0);
}

/* Whichever thread is done first, the message is the same. */
static void merging_knows_no_order(void **state)
{
    (void)state;
    static const size_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const double got[] = {0, 5, 2, 3, 40, 5, 6, 7, 80}, want[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t o = 0; o < COUNT_OF(orders); o++) {
        struct comparison total = {.checked = 0};
        for (size_t k = 0; k < 3; k++) {
            struct comparison part = {.checked = 0};
            const size_t first = 3 * orders[o][k];
            comparison_add(&part, got + first, want + first, NULL, first, 3);
            comparison_merge(&total, &part);
        }
        assert_int_equal(total.checked, 9);
        assert_int_equal(total.wrong, 3);
        assert_int_equal(total.index, 1);
        assert_near(total.got, 5, 0);
        assert_near(total.want, 1, 0);
        assert_near(total.max_abs, 72, 0);
        assert_near(total.max_rel, 9, 0);
    }
}

static void a_nan_is_never_hidden_by_merging(void **state)
{
    (void)state;
    const double bad = NAN, one = 1, two = 2;
    struct comparison with_nan = {.checked = 0}, with_one = {.checked = 0}, total = {.checked = 0};
    comparison_add(&with_nan, &bad, &one, NULL, 3, 1);
    comparison_add(&with_one, &two, &one, NULL, 9, 1);
    assert_true(isnan(with_nan.max_abs));
    comparison_merge(&total, &with_one);
    comparison_merge(&total, &with_nan);
    assert_int_equal(total.wrong, 2);
    assert_int_equal(total.index, 3);
    assert_true(isnan(total.got));
    struct verification verification = {0};
    comparison_report(&verification, &with_one, "a");
    comparison_report(&verification, &total, "b");
    comparison_report(&verification, &with_one, "c");
    assert_true(isnan(verification.max_abs));
}

static void reports_join_buffers(void **state)
{
    (void)state;
    const double zero = 0, four = 4, three = 3;
    struct comparison right = {.checked = 0}, wrong = {.abs = 0.25, .rel = 0.125};
    struct verification verification = {0};
    comparison_add(&right, &zero, &zero, NULL, 0, 1);
    comparison_report(&verification, &right, "a");
    assert_int_equal(verification.verdict, VERIFY_PASS);
    comparison_add(&wrong, &three, &four, NULL, 17, 1);
    comparison_report(&verification, &wrong, "b");
    assert_int_equal(verification.verdict, VERIFY_FAIL);
    assert_string_equal(verification.buffer, "b");
    assert_int_equal(verification.index, 17);
    assert_non_null(strstr(verification.reason, "b[17] is 3, expected 4"));
    assert_non_null(strstr(verification.reason, "1 of 1 wrong"));
    comparison_report(&verification, &right, "c"); /* a later buffer that is right makes nothing good again */
    assert_int_equal(verification.verdict, VERIFY_FAIL);
    assert_string_equal(verification.buffer, "b");
    comparison_report(&verification, &wrong, "d"); /* nor does a later wrong one take the first one's place */
    assert_string_equal(verification.buffer, "b");
    assert_int_equal(verification.checked, 4);
    assert_int_equal(verification.wrong, 2);
}

static void many_elements_are_all_looked_at(void **state)
{
    (void)state;
    double got[1000], want[1000];
    for (size_t bad = 0; bad < 1000; bad += 37) {
        struct comparison comparison = {.checked = 0};
        for (size_t k = 0; k < 1000; k++)
            got[k] = want[k] = (double)k;
        got[bad] += 1;
        comparison_add(&comparison, got, want, NULL, 0, 1000);
        assert_int_equal(comparison.wrong, 1);
        assert_int_equal(comparison.index, bad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerances_decide),
        cmocka_unit_test(infinities_are_wrong),
        cmocka_unit_test(the_first_wrong_element_is_named),
        cmocka_unit_test(the_share_of_tolerance_is_the_worst_elements),
        cmocka_unit_test(tolerances_that_accept_anything_are_refused),
        cmocka_unit_test(errors_within_tolerance_are_still_reported),
        cmocka_unit_test(merging_knows_no_order),
        cmocka_unit_test(a_nan_is_never_hidden_by_merging),
        cmocka_unit_test(reports_join_buffers),
        cmocka_unit_test(many_elements_are_all_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
