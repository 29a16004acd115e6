/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "../random.h"
#include "rooftile/report.h"
#include "runs.h"

/* ---- steps ---- */

static void a_quiet_history_is_quiet(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 5);
    for (int run = 0; run < 40; run++) {
        add_runs(&n, 1);
        assert_string_equal(gate(&n), run < 6 ? "= 0 4" : "= 0 0");
    }
    close_history(&n);
}

static void a_step_stays_until_it_is_gone(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 106);
    add_runs(&n, 10);
    assert_string_equal(gate(&n), "= 0 0");
    n.ratio[2] = 1.05;
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "tentative copy/n=3 +5; = 0 4");
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "confirmed copy/n=3 +5; = 1 1");
    assert_string_equal(gate(&n), "confirmed copy/n=3 +5; = 1 1");
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "open copy/n=3 +5; = 1 1");
    n.ratio[2] = 1; /* repaired, before the new level has runs enough to be judged */
    for (int k = 0; k < 2; k++) {
        add_runs(&n, 1);
        assert_string_equal(gate(&n), "open copy/n=3 +5; = 1 1");
    }
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "= 0 4");
    assert_string_equal(gate(&n), "= 0 4");
    assert_int_equal(count_of(&n, "SELECT count(*) FROM alarm WHERE closed_by = 'gone'"), 1);
    add_runs(&n, 6);
    assert_string_equal(gate(&n), "= 0 0");
    close_history(&n);
}

static void a_step_back_closes_it(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 7);
    add_runs(&n, 10);
    n.ratio[2] = 1.05;
    for (int k = 0; k < 12; k++) {
        add_runs(&n, 1);
        gate(&n);
    }
    n.ratio[2] = 1;
    add_runs(&n, 2);
    assert_string_equal(gate(&n), "confirmed copy/n=3 -5; = 0 0");
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "= 0 4"); /* the old level is being learned anew */
    assert_int_equal(count_of(&n, "SELECT count(*) FROM alarm WHERE closed_by = 'gone'"), 2);
    close_history(&n);
}

/* What was won and is lost again is a regression that stays. */
static void a_lost_improvement_is_open(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 8);
    add_runs(&n, 10);
    n.ratio[4] = 0.9;
    add_runs(&n, 2);
    assert_string_equal(gate(&n), "confirmed copy/n=5 -10; = 0 0");
    add_runs(&n, 12);
    assert_string_equal(gate(&n), "improved copy/n=5; = 0 0"); /* news for two weeks */
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "= 0 0");
    n.ratio[4] = 1;
    add_runs(&n, 2);
    assert_string_equal(gate(&n), "confirmed copy/n=5 +11; = 1 1");
    add_runs(&n, 4);
    assert_string_equal(gate(&n), "open copy/n=5 +11; = 1 1");
    close_history(&n);
}

static void accepting_needs_a_reason(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 9);
    add_runs(&n, 10);
    n.ratio[2] = 1.05;
    add_runs(&n, 2);
    assert_string_equal(gate(&n), "confirmed copy/n=3 +5; = 1 1");
    assert_int_equal(accept(&n, NULL, NULL), ERR_USAGE);
    assert_int_equal(accept(&n, NULL, "  "), ERR_USAGE);
    assert_int_equal(accept(&n, "nothing*", "why"), ERR_CONFIG);
    assert_non_null(strstr(n.err.text, "no series matches"));
    assert_string_equal(gate(&n), "confirmed copy/n=3 +5; = 1 1");
    assert_int_equal(accept(&n, NULL, "more accurate, #12"), STATUS_OK);
    assert_string_equal(gate(&n), "= 0 4");
    assert_string_equal(gate(&n), "= 0 4");
    assert_int_equal(count_of(&n, "SELECT count(*) FROM alarm WHERE closed_by = 'accepted'"), 1);
    assert_int_equal(count_of(&n, "SELECT count(*) FROM accepted WHERE reason = 'more accurate, #12'"), 1);
    assert_int_equal(accept(&n, NULL, "again"), ERR_CONFIG);
    assert_non_null(strstr(n.err.text, "nothing is open or missing"));
    for (int k = 0; k < 8; k++) {
        add_runs(&n, 1);
        gate(&n);
    }
    assert_string_equal(gate(&n), "= 0 0");
    n.ratio[2] = 1.05 * 1.05; /* the new level is the one to go by */
    add_runs(&n, 2);
    assert_string_equal(gate(&n), "confirmed copy/n=3 +5; = 1 1");
    close_history(&n);
}

/* ---- all at once ---- */

static void a_class_alarms_once_and_stays(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 10);
    add_runs(&n, 12);
    for (size_t k = 0; k < LONE; k++)
        n.ratio[k] = 1.03;
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "tentative suite:memory +3; = 0 4");
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "confirmed suite:memory +3; = 1 1");
    assert_string_equal(gate(&n), "confirmed suite:memory +3; = 1 1");
    for (int k = 0; k < 9; k++) {
        add_runs(&n, 1);
        assert_string_equal(gate(&n), "open suite:memory +3; = 1 1");
    }
    assert_int_equal(accept(&n, "suite:*", "new firmware"), STATUS_OK);
    assert_string_equal(gate(&n), "= 0 0");
    add_runs(&n, 3);
    assert_string_equal(gate(&n), "= 0 0");
    close_history(&n);
}

static void a_class_comes_back(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 11);
    add_runs(&n, 12);
    for (size_t k = 0; k < LONE; k++)
        n.ratio[k] = 1.04;
    add_runs(&n, 2);
    assert_string_equal(gate(&n), "confirmed suite:memory +4; = 1 1");
    for (size_t k = 0; k < LONE; k++)
        n.ratio[k] = 1;
    add_runs(&n, 2);
    assert_string_equal(gate(&n), "open suite:memory +4; = 1 1");
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "= 0 0");
    assert_int_equal(count_of(&n, "SELECT count(*) FROM alarm WHERE closed_by = 'gone'"), 1);
    close_history(&n);
}

/* ---- the same answer ---- */

/* The gate's JSON; its exit code in `code`. */
static char *gate_json(struct runs *n, int *code)
{
    struct arena arena = {0};
    struct history_gate gate;
    struct text text = {0};
    const struct gate_options options = gate_defaults();
    if (history_gate(&gate, n->history, NULL, NULL, &options, &arena, &n->err))
        fail_msg("%s", n->err.text);
    report_gate(&text, "json", &gate, &(struct report_options){0});
    *code = history_exit_code(&gate, false);
    arena_release(&arena);
    return text.data;
}

static void gates_between_the_runs_change_nothing(void **state)
{
    static const char sums[] =
        "SELECT sum(series * started + tau) + count(closed) + round(sum(shift) * 1e9) FROM alarm";
    struct runs every, once;
    int codes[3];
    (void)state;
    open_history(&every, 12);
    open_history(&once, 12);
    for (int run = 0; run < 80; run++) {
        every.ratio[3] = once.ratio[3] = run < 20 ? 1 : run < 25 ? 1.08 : run < 50 ? 1 : 1.04;
        for (size_t k = 0; k < LONE; k++)
            if (k != 3)
                every.ratio[k] = once.ratio[k] = run < 70 ? 1 : 1.03;
        add_runs(&every, 1);
        gate(&every);
        add_runs(&once, 1);
    }
    char *texts[] = {gate_json(&every, &codes[0]), gate_json(&once, &codes[1]), gate_json(&once, &codes[2])};
    assert_string_equal(texts[0], texts[1]);
    assert_string_equal(texts[1], texts[2]);
    assert_int_equal(codes[0], 1);
    assert_true(count_of(&every, "SELECT count(*) FROM alarm") >= 3);
    assert_int_equal(count_of(&every, sums), count_of(&once, sums));
    for (size_t k = 0; k < 3; k++)
        free(texts[k]);
    close_history(&every);
    close_history(&once);
}

/* ---- cases that are not there ---- */

static void what_is_missing_is_red_until_accepted(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 13);
    add_runs(&n, 8);
    for (int k = 0; k < 70; k++) { /* longer than the gate looks back */
        drop_last(&n);
        add_it(&n);
    }
    assert_string_equal(gate(&n), "missing lone/x=1; = 1 1");
    assert_int_equal(accept(&n, NULL, "no longer shipped"), STATUS_OK);
    assert_string_equal(gate(&n), "= 0 0");
    drop_last(&n);
    add_it(&n);
    assert_string_equal(gate(&n), "= 0 0");
    add_runs(&n, 1); /* it is back ... */
    assert_string_equal(gate(&n), "= 0 4");
    drop_last(&n); /* ... and gone again */
    add_it(&n);
    assert_string_equal(gate(&n), "missing lone/x=1; = 1 1");
    close_history(&n);
}

static void a_skipped_case_is_missing_if_it_was_measured(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 14);
    for (int k = 0; k < 8; k++) {
        make_run(&n);
        n.cases[0].status = CASE_SKIPPED;
        n.cases[0].timer = TIMED_NONE;
        n.cases[0].reason = "needs f64";
        add_it(&n);
    }
    assert_string_equal(gate(&n), "= 0 0");
    make_run(&n);
    n.cases[0].status = n.cases[1].status = CASE_SKIPPED;
    n.cases[0].timer = n.cases[1].timer = TIMED_NONE;
    add_it(&n);
    assert_string_equal(gate(&n), "missing copy/n=2; = 1 1");
    assert_int_equal(accept(&n, "copy/n=2", "not on this card"), STATUS_OK);
    assert_string_equal(gate(&n), "= 0 0");
    close_history(&n);
}

static void what_is_wrong_is_red(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 15);
    add_runs(&n, 8);
    make_run(&n);
    n.cases[0].verification.verdict = VERIFY_FAIL;
    n.cases[1].status = CASE_TIMEOUT;
    n.cases[2].flags = FLAG_IMPOSSIBLE;
    n.cases[3].status = CASE_ERROR;
    add_it(&n);
    assert_string_equal(gate(&n), "broken copy/n=1; broken copy/n=2; broken copy/n=3; broken copy/n=4; = 1 1");
    assert_int_equal(accept(&n, "copy/*", "who cares"), STATUS_OK);
    assert_string_equal(gate(&n), "broken copy/n=1; broken copy/n=2; broken copy/n=3; broken copy/n=4; = 1 1");
    close_history(&n);
}

static void another_timer_is_said(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 16);
    add_runs(&n, 8);
    make_run(&n);
    n.cases[LONE].timer = TIMED_EVENT;
    add_it(&n);
    assert_string_equal(gate(&n), "timer lone/x=1; = 0 4");
    make_run(&n);
    n.cases[LONE].timer = TIMED_EVENT;
    add_it(&n);
    assert_string_equal(gate(&n), "= 0 4"); /* its new series is still learning */
    close_history(&n);
}

static void an_open_alarm_outlives_its_timer(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 17);
    add_runs(&n, 10);
    n.ratio[LONE] = 1.1;
    add_runs(&n, 2);
    assert_string_equal(gate(&n), "confirmed lone/x=1 +10; = 1 1");
    make_run(&n);
    n.cases[LONE].timer = TIMED_EVENT;
    add_it(&n);
    assert_string_equal(gate(&n), "open lone/x=1 +10; = 1 1");
    close_history(&n);
}

/* A second alarm that is not confirmed yet must not hide the first. */
static void an_open_alarm_outshines_a_tentative_one(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 18);
    add_runs(&n, 10);
    n.ratio[2] = 1.05;
    add_runs(&n, 10);
    assert_string_equal(gate(&n), "open copy/n=3 +5; = 1 1");
    n.ratio[2] = 1.2;
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "open copy/n=3 +14; = 1 1");
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "confirmed copy/n=3 +14; = 1 1");
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "open copy/n=3 +20; = 1 1");
    close_history(&n);
}

/* ---- environment ---- */

static void a_changed_environment_is_a_break(void **state)
{
    struct runs n;
    struct arena arena = {0};
    struct history_gate out;
    struct text text = {0};
    const struct gate_options options = gate_defaults();
    (void)state;
    open_history(&n, 19);
    add_runs(&n, 10);
    for (size_t k = 0; k < CASES; k++)
        n.ratio[k] = 1.1;
    make_run(&n);
    n.result.fingerprint[0] = 'c';
    snprintf(n.result.device.driver, sizeof(n.result.device.driver), "6.4");
    n.result.kernel_release = "6.10"; /* "6.1" before: no part of a value is a value */
    add_it(&n);
    assert_int_equal(history_gate(&out, n.history, NULL, NULL, &options, &arena, &n.err), STATUS_OK);
    assert_true(out.environment_changed);
    assert_string_equal(out.environment, "driver 6.4 (was ); kernel 6.10 (was 6.1)");
    assert_true(fabs(out.environment_shift - 0.1) < 0.005);
    assert_int_equal(history_exit_code(&out, false), 0);
    assert_int_equal(history_exit_code(&out, true), 4);
    report_gate(&text, "table", &out, &(struct report_options){0});
    assert_non_null(strstr(text.data, "the environment changed, so every series starts anew: driver 6.4"));
    text_release(&text);
    arena_release(&arena);
    close_history(&n);
}

/* ---- key figures ---- */

static void key_figures_know_what_is_better(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 25);
    for (int run = 0; run < 12; run++) {
        make_run(&n);
        n.kpi = (struct result_kpi){.name = "bandwidth",
                                    .unit = "B/s",
                                    .higher_is_better = true,
                                    .reason = "",
                                    .value = (run < 10 ? 1e12 : 0.9e12) * exp(0.002 * random_normal(&n.rng))};
        n.result.kpis = &n.kpi;
        n.result.kpi_count = 1;
        add_it(&n);
    }
    assert_string_equal(gate(&n), "confirmed bandwidth -10; = 1 1");
    make_run(&n);
    n.kpi.value = NAN;
    n.kpi.reason = "copy/n=3 failed";
    n.result.kpis = &n.kpi;
    n.result.kpi_count = 1;
    add_it(&n);
    assert_string_equal(gate(&n), "broken bandwidth; = 1 1");
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "missing bandwidth; = 1 1");
    close_history(&n);
}

/* ---- devices of one group ---- */

enum { DEVICES = 8 };

/* One run of all devices; the cases of device d take `slower[d]` times as long. */
static void add_run_of_all(struct runs *n, const double *slower, const char *driver_of_last)
{
    for (int d = 0; d < DEVICES; d++) {
        for (size_t k = 0; k < CASES; k++)
            n->ratio[k] = k == 2 || slower[d] > 1.5 ? fmod(slower[d], 1.5) : 1;
        make_run(n);
        snprintf(n->result.device.uuid, sizeof(n->result.device.uuid), "GPU-%d", d);
        if (d == DEVICES - 1 && driver_of_last[0]) {
            snprintf(n->result.device.driver, sizeof(n->result.device.driver), "%s", driver_of_last);
            n->result.fingerprint[0] = 'c';
        }
        add_it(n);
        n->run -= d < DEVICES - 1;
    }
}

/* "slow copy/n=3 cause, moved of group; " for each finding. */
static const char *gate_beside(struct runs *n, const char *device)
{
    static struct text text;
    struct arena arena = {0};
    struct history_gate out;
    const struct gate_options options = gate_defaults();
    text_release(&text);
    if (history_gate(&out, n->history, NULL, device, &options, &arena, &n->err))
        fail_msg("%s", n->err.text);
    for (size_t k = 0; k < out.count && out.series[k].finding; k++)
        text_addf(&text, "%s %s %s %zu/%zu; ", history_finding_names[out.series[k].finding], out.series[k].case_id,
                  out.series[k].cause, out.series[k].group_moved, out.series[k].group);
    text_addf(&text, "= %d", history_exit_code(&out, false));
    arena_release(&arena);
    return text.data;
}

static void what_the_group_shares_is_told_from_what_one_device_does(void **state)
{
    struct runs n;
    double slower[DEVICES] = {1, 1, 1, 1, 1, 1, 1, 1};
    (void)state;
    open_history(&n, 31);
    for (int run = 0; run < 10; run++)
        add_run_of_all(&n, slower, "");
    assert_string_equal(gate_beside(&n, "GPU-2"), "= 0");
    slower[5] = 1.06;
    add_run_of_all(&n, slower, "");
    add_run_of_all(&n, slower, "");
    assert_string_equal(gate_beside(&n, "GPU-5"), "confirmed copy/n=3 environment 0/7; = 1");
    assert_string_equal(gate_beside(&n, "GPU-2"), "= 0");
    for (int d = 0; d < DEVICES; d++)
        slower[d] = d == 3 ? 1 : 1.06;
    add_run_of_all(&n, slower, "");
    add_run_of_all(&n, slower, "");
    assert_string_equal(gate_beside(&n, "GPU-2"), "confirmed copy/n=3 group 5/7; = 1"); /* 3 and 5 did not move */
    for (int d = 0; d < DEVICES; d++)
        slower[d] = 1.5 + 1.12; /* everything: a class */
    add_run_of_all(&n, slower, "");
    add_run_of_all(&n, slower, "");
    assert_non_null(strstr(gate_beside(&n, "GPU-3"), "confirmed suite:memory group 7/7; "));
    close_history(&n);
}

/* Its own series was never any other. */
static void a_device_that_always_was_slower_is_slow_beside_its_group(void **state)
{
    struct runs n;
    double slower[DEVICES] = {1, 1, 1, 1, 1, 1, 1, 1.08};
    (void)state;
    open_history(&n, 32);
    add_run_of_all(&n, slower, "");
    assert_string_equal(gate_beside(&n, "GPU-7"), "slow copy/n=3  0/7; = 1"); /* while it learns, too */
    for (int run = 0; run < 8; run++)
        add_run_of_all(&n, slower, "");
    for (int d = 0; d < DEVICES; d++) {
        char device[16];
        snprintf(device, sizeof(device), "GPU-%d", d);
        assert_string_equal(gate_beside(&n, device), d == 7 ? "slow copy/n=3  0/7; = 1" : "= 0");
    }
    slower[4] = 1.08; /* in one run of two: no device is slow by that */
    add_run_of_all(&n, slower, "");
    assert_string_equal(gate_beside(&n, "GPU-4"), "tentative copy/n=3 environment 0/7; = 0");
    const char *const globs[] = {"copy/n=3"};
    size_t count = 0;
    assert_int_equal(history_accept(&count, n.history, NULL, "GPU-7", globs, 1, "an older board", &n.err), STATUS_OK);
    assert_string_equal(gate_beside(&n, "GPU-7"), "= 0");
    close_history(&n);
}

static void another_driver_or_too_few_are_no_group(void **state)
{
    struct runs n;
    const double slower[DEVICES] = {1, 1, 1, 1, 1, 1, 1, 1.08};
    (void)state;
    open_history(&n, 33);
    add_run_of_all(&n, slower, "6.4");
    add_run_of_all(&n, slower, "6.4");
    assert_string_equal(gate_beside(&n, "GPU-7"), "= 0");
    close_history(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_history_is_quiet),
        cmocka_unit_test(a_step_stays_until_it_is_gone),
        cmocka_unit_test(a_step_back_closes_it),
        cmocka_unit_test(a_lost_improvement_is_open),
        cmocka_unit_test(accepting_needs_a_reason),
        cmocka_unit_test(a_class_alarms_once_and_stays),
        cmocka_unit_test(a_class_comes_back),
        cmocka_unit_test(gates_between_the_runs_change_nothing),
        cmocka_unit_test(what_is_missing_is_red_until_accepted),
        cmocka_unit_test(a_skipped_case_is_missing_if_it_was_measured),
        cmocka_unit_test(what_is_wrong_is_red),
        cmocka_unit_test(another_timer_is_said),
        cmocka_unit_test(an_open_alarm_outlives_its_timer),
        cmocka_unit_test(an_open_alarm_outshines_a_tentative_one),
        cmocka_unit_test(a_changed_environment_is_a_break),
        cmocka_unit_test(key_figures_know_what_is_better),
        cmocka_unit_test(what_the_group_shares_is_told_from_what_one_device_does),
        cmocka_unit_test(a_device_that_always_was_slower_is_slow_beside_its_group),
        cmocka_unit_test(another_driver_or_too_few_are_no_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
