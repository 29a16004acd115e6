/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/measurement.h"

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(case_status_names[CASE_CRASHED], "crashed");
    assert_string_equal(timer_names[TIMED_BATCH], "batch");
    assert_string_equal(verdict_names[VERIFY_NOT_RUN], "skipped");
    assert_string_equal(case_phase_names[SPENT_WARMING], "warm-up");
    assert_string_equal(case_status_names[CASE_ERROR], "error");
    assert_string_equal(timer_names[TIMED_GRAPH], "graph");
    for (unsigned bit = 0; bit < CASE_FLAGS; bit++)
        assert_int_equal(strlen(case_flag_names[bit]) > 0, 1);
    assert_int_equal(FLAG_EMULATED, 1 << (CASE_FLAGS - 1));
    assert_string_equal(case_flag_names[CASE_FLAGS - 1], "emulated");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
