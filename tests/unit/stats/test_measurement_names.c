/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rooftile/measurement.h"

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(case_status_name(CASE_CRASHED), "crashed");
    assert_string_equal(timer_name(TIMED_BATCH), "batch");
    assert_string_equal(discard_name(DISCARD_NEGATIVE), "negative");
    assert_string_equal(verdict_name(VERIFY_NOT_RUN), "skipped");
    assert_string_equal(case_flag_name(3), "impossible");
    assert_string_equal(case_flag_name(5), "profiled");
    assert_null(case_flag_name(6));
}

static void test_back(void **state)
{
    (void)state;
    for (int k = CASE_OK; k <= CASE_ERROR; k++)
        assert_int_equal(measurement_from_name(ENUM_STATUS, case_status_name((enum case_status)k)), k);
    for (int k = TIMED_NONE; k <= TIMED_GRAPH; k++)
        assert_int_equal(measurement_from_name(ENUM_TIMER, timer_name((enum timer)k)), k);
    for (int k = STOP_NONE; k <= STOP_MAX_SAMPLES; k++)
        assert_int_equal(measurement_from_name(ENUM_STOP, stop_reason_name((enum stop_reason)k)), k);
    assert_int_equal(measurement_from_name(ENUM_VERDICT, "skipped"), VERIFY_SKIPPED);
    assert_int_equal(measurement_from_name(ENUM_FLAG, "roof_raised"), 4);
    assert_int_equal(measurement_from_name(ENUM_DISCARD, "clock"), DISCARD_CLOCK);
    assert_int_equal(measurement_from_name(ENUM_STATUS, "fine"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
