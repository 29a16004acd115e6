/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../near.h"
#include "rooftile/prediction.h"

static const struct machine machine = {.level_count = 2, .levels = {{.name = "L0"}, {.name = "GDDR6"}}};

static const struct {
    const char *what;
    double term_ns[TERM_COUNT];
    double time_ns;
    const char *bound;
} cases[] = {
    {"one term alone takes its time", {[TERM_MEMORY] = 100}, 100, "GDDR6"},
    {"terms of the same size disturb each other: 8 of them with norm 3 double the time",
     {10, 10, 10, 10, 10, 10, 10, 10},
     20,
     "matrix_f16"},
    {"a small term hides", {[TERM_L1] = 1000, [TERM_VECTOR] = 10}, 1000.00033, "L0"},
    {"a launch adds up", {[TERM_MEMORY] = 100, [TERM_LAUNCH] = 4000}, 4100, "launch"},
    {"nothing is known", {0}, 0, "launch"},
};

static void terms_combine(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct prediction prediction = {0};
        memcpy(prediction.term_ns, cases[k].term_ns, sizeof(prediction.term_ns));
        prediction_conclude(&prediction, &machine, "matrix_f16", 3, (struct prediction_spread){0.9, 1.5});
        assert_near(prediction.time_ns, cases[k].time_ns, 1e-6 * cases[k].time_ns);
        assert_near(prediction.low_ns, 0.9 * cases[k].time_ns, 1e-6 * cases[k].time_ns);
        assert_near(prediction.high_ns, 1.5 * cases[k].time_ns, 1.5e-6 * cases[k].time_ns);
        assert_string_equal(prediction.bound, cases[k].bound);
    }
}

/* A SIMD with one wave takes as long as that wave, whose chain has all instructions; with three waves the other two add
 * up. */
static void a_wave_alone_is_its_chain(void **state)
{
    (void)state;
    struct prediction one = {.term_ns = {[TERM_LATENCY] = 100, [TERM_VECTOR] = 90}, .within_ns = {[TERM_VECTOR] = 90}};
    prediction_conclude(&one, &machine, "", 3, (struct prediction_spread){1, 1});
    assert_near(one.time_ns, 100, 1e-6);
    struct prediction three = {.term_ns = {[TERM_LATENCY] = 100, [TERM_VECTOR] = 270},
                               .within_ns = {[TERM_VECTOR] = 90}};
    prediction_conclude(&three, &machine, "", 3, (struct prediction_spread){1, 1});
    assert_near(three.time_ns, cbrt(1e6 + 270.0 * 270 * 270 - 90.0 * 90 * 90), 1e-6);
}

static void a_bound_that_is_set_stays(void **state)
{
    (void)state;
    struct prediction prediction = {.term_ns = {[TERM_LATENCY] = 5}, .bound = "tail"};
    prediction_conclude(&prediction, &machine, "", 3, (struct prediction_spread){1, 1});
    assert_string_equal(prediction.bound, "tail");
    assert_int_equal(prediction.limiter, TERM_LATENCY);
}

static void notes_are_said_once(void **state)
{
    (void)state;
    struct prediction prediction = {0};
    for (int k = 0; k < 3; k++)
        prediction_note(&prediction, "%s from %s", "latency of L2", "mi300x");
    assert_int_equal(prediction.note_count, 1);
    assert_string_equal(prediction.notes[0], "latency of L2 from mi300x");
    for (int k = 0; k < 2 * PREDICTION_NOTES; k++)
        prediction_note(&prediction, "note %d", k);
    assert_int_equal(prediction.note_count, PREDICTION_NOTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_combine),
        cmocka_unit_test(a_wave_alone_is_its_chain),
        cmocka_unit_test(a_bound_that_is_set_stays),
        cmocka_unit_test(notes_are_said_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
