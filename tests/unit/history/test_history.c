/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "rooftile/render.h"
#include "runs.h"

/* ---- adding ---- */

static void a_run_is_added_once(void **state)
{
    struct runs n;
    struct history_added added;
    const struct history_add_options options = {0};
    (void)state;
    open_history(&n, 1);
    make_run(&n);
    assert_int_equal(history_add(n.history, &n.result, &options, &added, &n.err), STATUS_OK);
    assert_int_equal(added.points, CASES);
    assert_int_equal(added.new_series, CASES);
    assert_false(added.environment_changed);
    assert_int_equal(history_add(n.history, &n.result, &options, &added, &n.err), ERR_CONFIG);
    assert_non_null(
        strstr(n.err.text, "this run is in the history already: channel 'nightly', run of 2026-03-01T02:00:00Z"));
    make_run(&n);
    n.result.fingerprint[0] = 'c';
    assert_int_equal(history_add(n.history, &n.result, &options, &added, &n.err), STATUS_OK);
    assert_int_equal(added.new_series, 0);
    assert_true(added.environment_changed);
    assert_int_equal(count_of(&n, "SELECT count(*) FROM point WHERE length(trials) = 24 AND status = 'ok'"), 2 * CASES);
    assert_int_equal(count_of(&n, "SELECT count(*) FROM environment"), 2);
    close_history(&n);
}

static void fail_all(struct result *result)
{
    for (size_t k = 0; k < result->case_count; k++)
        ((struct result_case *)result->cases)[k].status = CASE_FAILED; /* they are the test's own */
}
static void predict(struct result *result)
{
    result->predicted = true;
}
static void profile(struct result *result)
{
    static const struct result_label labels[] = {{"profile", "not a measurement"}};
    result->labels = labels;
    result->label_count = 1;
}
static void interrupt_it(struct result *result)
{
    result->status = "interrupted";
}
static void turn_back(struct result *result)
{
    result->started_at = "2026-02-01T02:00:00Z";
}
static void start_together(struct result *result)
{
    result->started_at = "2026-03-03T04:00:00+02:00";
}
static void start_in_the_future(struct result *result)
{
    result->started_at = "2226-03-03T02:00:00Z";
}
static void start_never(struct result *result)
{
    result->started_at = "yesterday";
}
static void start_nowhere(struct result *result)
{
    result->started_at = "2026-03-09T02:00:00";
}

static void what_is_no_run_is_refused(void **state)
{
    static const struct {
        void (*change)(struct result *);
        const char *words;
    } cases[] = {
        {fail_all, "no case of this result counts"},
        {predict, "a prediction is no run"},
        {profile, "a run with --profile is no measurement"},
        {interrupt_it, "the run is interrupted"},
        {turn_back, "a clock went backwards"},
        {start_together, "started at the same second"},
        {start_in_the_future, "in the future"},
        {start_never, "'yesterday' is no time"},
        {start_nowhere, "is no time"},
    };
    struct runs n;
    (void)state;
    open_history(&n, 2);
    add_runs(&n, 3);
    const int64_t points = count_of(&n, "SELECT count(*) FROM point");
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        make_run(&n);
        cases[k].change(&n.result);
        assert_int_equal(add_to(&n, NULL, false), ERR_CONFIG);
        if (!strstr(n.err.text, cases[k].words))
            fail_msg("'%s' does not say '%s'", n.err.text, cases[k].words);
        assert_int_equal(count_of(&n, "SELECT count(*) FROM point"), points);
        assert_int_equal(count_of(&n, "SELECT count(*) FROM run"), 3);
    }
    close_history(&n);
}

static void older_runs_go_where_they_belong(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 3);
    add_runs(&n, 2);
    n.run = 5;
    add_runs(&n, 1);
    n.run = 3;
    make_run(&n);
    assert_int_equal(add_to(&n, NULL, false), ERR_CONFIG);
    assert_int_equal(add_to(&n, NULL, true), STATUS_OK);
    n.run = 3;
    make_run(&n);
    assert_int_equal(add_to(&n, NULL, true), ERR_CONFIG);
    assert_non_null(strstr(n.err.text, "the same second"));
    assert_string_equal(gate(&n), "= 0 4");
    close_history(&n);
}

/* A crash before any timer goes to the series that the case is in; a case that only ever crashed gets its timer late.
 */
static void failures_find_their_series(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 4);
    make_run(&n);
    n.cases[1].timer = TIMED_NONE;
    n.cases[1].status = CASE_CRASHED;
    add_it(&n);
    make_run(&n);
    n.cases[0].timer = TIMED_NONE;
    n.cases[0].status = CASE_CRASHED;
    n.cases[0].reason = "SIGSEGV";
    add_it(&n);
    assert_int_equal(count_of(&n, "SELECT count(*) FROM series"), CASES);
    assert_int_equal(count_of(&n, "SELECT count(*) FROM series WHERE timer = 'batch'"), CASES);
    assert_string_equal(gate(&n), "broken copy/n=1; = 1 1");
    close_history(&n);
}

/* ---- confirmation ---- */

static void keep_case(struct runs *n, size_t k, double median)
{
    static struct result_case one[1];
    make_run(n);
    n->run--;
    set_case(n, k, median);
    for (size_t trial = TRIALS; trial < MORE; trial++)
        n->trials[k][trial] = n->trials[k][0];
    n->cases[k].trial_count = MORE;
    one[0] = n->cases[k];
    n->result.cases = one;
    n->result.case_count = 1;
}

static enum status confirm(struct runs *n, size_t *points)
{
    return history_confirm(n->history, NULL, &n->result, points, &n->err);
}

static void confirmation_decides_this_run(void **state)
{
    struct runs n;
    size_t points = 0;
    (void)state;
    open_history(&n, 20);
    add_runs(&n, 10);
    n.ratio[2] = n.ratio[3] = 1.05;
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "tentative copy/n=3 +5; tentative copy/n=4 +5; = 0 4");
    keep_case(&n, 2, 3000);
    assert_int_equal(confirm(&n, &points), STATUS_OK);
    assert_int_equal(points, 1);
    keep_case(&n, 3, 4200);
    assert_int_equal(confirm(&n, &points), STATUS_OK);
    assert_string_equal(gate(&n), "confirmed copy/n=4 +5; = 1 1"); /* red in the first run */
    assert_string_equal(gate(&n), "confirmed copy/n=4 +5; = 1 1");
    assert_int_equal(count_of(&n, "SELECT count(*) FROM point WHERE length(trials) = 72 AND remeasured = 6"), 2);
    keep_case(&n, 3, 4200);
    ((struct result_case *)n.result.cases)[0].verification.verdict = VERIFY_FAIL;
    assert_int_equal(confirm(&n, &points), STATUS_OK);
    assert_string_equal(gate(&n), "broken copy/n=4; = 1 1");
    keep_case(&n, 3, 4200); /* what was wrong once this run stays so */
    assert_int_equal(confirm(&n, &points), STATUS_OK);
    assert_string_equal(gate(&n), "broken copy/n=4; = 1 1");
    close_history(&n);
}

/* Slow when it was measured, and fast whenever it is measured again: the median of all trials may still be slow. */
static void what_was_measured_again_must_show_it_too(void **state)
{
    struct runs n;
    size_t points = 0;
    (void)state;
    open_history(&n, 23);
    add_runs(&n, 10);
    n.ratio[3] = 1.05;
    add_runs(&n, 1);
    n.ratio[3] = 1;
    keep_case(&n, 3, 4000);
    for (size_t trial = 0; trial < 2; trial++) /* two slow ones of six: five of all nine */
        n.trials[3][trial].median_ns = 4200;
    assert_int_equal(confirm(&n, &points), STATUS_OK);
    assert_string_equal(gate(&n), "tentative copy/n=4 +4; = 0 4");
    n.ratio[3] = 1.05;
    add_runs(&n, 1); /* confirmed by the next run, as ever */
    assert_string_equal(gate(&n), "confirmed copy/n=4 +4; = 1 1");
    close_history(&n);
}

/* Slow, and slow again but for one trial: something else was in the way of most of them. */
static void one_fast_trial_is_enough(void **state)
{
    struct runs n;
    size_t points = 0;
    (void)state;
    open_history(&n, 23);
    add_runs(&n, 10);
    n.ratio[3] = 1.05;
    add_runs(&n, 1);
    keep_case(&n, 3, 4200);
    n.trials[3][2].median_ns = 4000;
    assert_int_equal(confirm(&n, &points), STATUS_OK);
    assert_string_equal(gate(&n), "tentative copy/n=4 +5; = 0 4");
    close_history(&n);
}

/* All cases of a class moved: its cases are measured again, and together they say so. */
static void a_class_is_confirmed_in_its_first_run(void **state)
{
    struct runs n;
    size_t points = 0;
    (void)state;
    open_history(&n, 24);
    add_runs(&n, 10);
    for (size_t k = 0; k < LONE; k++)
        n.ratio[k] = 1.05;
    add_runs(&n, 1);
    assert_string_equal(gate(&n), "tentative suite:memory +5; = 0 4");
    make_run(&n);
    n.run--;
    n.result.case_count = LONE;
    assert_int_equal(confirm(&n, &points), STATUS_OK);
    assert_int_equal(points, LONE);
    assert_string_equal(gate(&n), "confirmed suite:memory +5; = 1 1");
    close_history(&n);
}

/* ---- identity ---- */

static void other_data_is_another_series(void **state)
{
    struct runs n;
    (void)state;
    open_history(&n, 25);
    add_runs(&n, 10);
    n.ratio[1] = n.ratio[2] = n.ratio[3] = 1.2;
    for (int run = 0; run < 2; run++) {
        make_run(&n);
        n.cases[1].identity.parts[IDENTITY_INPUTS][0] = 'f';
        n.cases[2].identity.parts[IDENTITY_WORK][0] = 'f';
        n.cases[3].identity.parts[IDENTITY_LAUNCH][0] = 'f';
        add_it(&n);
        assert_string_equal(gate(&n), run ? "confirmed copy/n=4 +20; = 1 1"
                                          : "tentative copy/n=4 +20; changed copy/n=2; changed copy/n=3; = 0 4");
    }
    close_history(&n);
}

static void the_cause_is_what_changed(void **state)
{
    static const struct {
        enum identity_part part;
        const char *cause;
    } rows[] = {{IDENTITY_CODE, "code"}, {IDENTITY_LAUNCH, "launch"}, {IDENTITY_CHECK, "environment"}};
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct runs n;
        struct arena arena = {0};
        struct history_gate out;
        const struct gate_options options = gate_defaults();
        open_history(&n, 26);
        add_runs(&n, 10);
        n.ratio[1] = 1.2;
        for (int run = 0; run < 2; run++) {
            make_run(&n);
            n.cases[1].identity.parts[rows[k].part][0] = 'f';
            add_it(&n);
        }
        assert_int_equal(history_gate(&out, n.history, NULL, NULL, &options, &arena, &n.err), STATUS_OK);
        assert_int_equal(out.series[0].finding, FINDING_CONFIRMED);
        assert_string_equal(out.series[0].cause, rows[k].cause);
        arena_release(&arena);
        close_history(&n);
    }
}

static void build_anew(struct runs *n)
{
    ((struct result_case *)n->result.cases)[0].identity.parts[IDENTITY_CODE][0] = 'f';
}
static void rename_case(struct runs *n)
{
    ((struct result_case *)n->result.cases)[0].id = "copy/n=77;timer=batch";
}
static void time_otherwise(struct runs *n)
{
    ((struct result_case *)n->result.cases)[0].timer = TIMED_EVENT;
}
static void change_device(struct runs *n)
{
    n->result.device.cus = 99;
}
static void change_environment(struct runs *n)
{
    n->result.fingerprint[0] = 'c';
}
static void predict_it(struct runs *n)
{
    n->result.predicted = true;
}

static void what_does_not_belong_confirms_nothing(void **state)
{
    static const struct {
        void (*change)(struct runs *);
        const char *words;
    } cases[] = {
        {rename_case, "nothing that was measured again is in the newest run"},
        {time_otherwise, "nothing that was measured again is in the newest run"},
        {build_anew, "nothing that was measured again is in the newest run"},
        {change_device, "has no run in the channel"},
        {change_environment, "the environment is not that of the newest run"},
        {predict_it, "a prediction"},
    };
    struct runs n;
    size_t points = 77;
    (void)state;
    open_history(&n, 21);
    add_runs(&n, 2);
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        keep_case(&n, 2, 3000);
        cases[k].change(&n);
        assert_int_equal(confirm(&n, &points), ERR_CONFIG);
        if (!strstr(n.err.text, cases[k].words))
            fail_msg("'%s' does not say '%s'", n.err.text, cases[k].words);
        assert_int_equal(points, 77);
    }
    assert_int_equal(count_of(&n, "SELECT count(*) FROM point WHERE remeasured"), 0);
    close_history(&n);
}

/* ---- devices and channels ---- */

static enum status gate_of(struct runs *n, const char *channel, const char *device, size_t *runs)
{
    struct arena arena = {0};
    struct history_gate out = {0};
    const struct gate_options options = gate_defaults();
    enum status status = history_gate(&out, n->history, channel, device, &options, &arena, &n->err);
    *runs = out.runs;
    arena_release(&arena);
    return status;
}

static void devices_and_channels_do_not_mix(void **state)
{
    struct runs n;
    size_t runs = 0;
    (void)state;
    open_history(&n, 22);
    add_runs(&n, 3);
    for (int k = 0; k < 2; k++) {
        make_run(&n);
        snprintf(n.result.device.uuid, sizeof(n.result.device.uuid), "GPU-b7");
        snprintf(n.result.device.backend, sizeof(n.result.device.backend), "hip");
        add_it(&n);
    }
    make_run(&n);
    assert_int_equal(add_to(&n, "weekly", false), STATUS_OK);
    assert_int_equal(count_of(&n, "SELECT count(*) FROM series"), 3 * CASES);
    assert_int_equal(gate_of(&n, NULL, NULL, &runs), ERR_CONFIG);
    assert_non_null(strstr(n.err.text, "several devices"));
    assert_non_null(strstr(n.err.text, "GPU-b7"));
    assert_int_equal(gate_of(&n, NULL, "gpu-B7", &runs), STATUS_OK);
    assert_int_equal(runs, 2);
    assert_int_equal(gate_of(&n, NULL, "hip:3", &runs), STATUS_OK);
    assert_int_equal(runs, 2);
    assert_int_equal(gate_of(&n, NULL, "cpu", &runs), ERR_CONFIG); /* part of the name of both */
    assert_int_equal(gate_of(&n, NULL, "cpu:0", &runs), STATUS_OK);
    assert_int_equal(runs, 3);
    assert_int_equal(gate_of(&n, "weekly", NULL, &runs), STATUS_OK);
    assert_int_equal(runs, 1);
    assert_int_equal(gate_of(&n, "yearly", NULL, &runs), ERR_CONFIG);
    assert_non_null(strstr(n.err.text, "has no run in the channel 'yearly'"));
    close_history(&n);
}

/* ---- keeping ---- */

static void dropped_runs_take_no_finding_with_them(void **state)
{
    struct runs n;
    size_t dropped = 0;
    (void)state;
    open_history(&n, 23);
    add_runs(&n, 10);
    n.ratio[2] = 1.05;
    drop_last(&n);
    add_it(&n);
    drop_last(&n);
    add_it(&n);
    assert_string_equal(gate(&n), "confirmed copy/n=3 +5; missing lone/x=1; = 1 1");
    for (int k = 0; k < 10; k++) {
        drop_last(&n);
        add_it(&n);
    }
    assert_int_equal(history_prune(&dropped, n.history, NULL, 5, &n.err), STATUS_OK);
    assert_int_equal(dropped, 17);
    assert_int_equal(count_of(&n, "SELECT count(*) FROM run"), 5);
    assert_int_equal(count_of(&n, "SELECT count(*) FROM point"), 5 * (CASES - 1));
    assert_string_equal(gate(&n), "missing lone/x=1; open copy/n=3 +5; = 1 1");
    assert_int_equal(accept(&n, NULL, "all intended"), STATUS_OK);
    assert_int_equal(history_prune(&dropped, n.history, NULL, 4, &n.err), STATUS_OK);
    assert_int_equal(dropped, 1);
    assert_int_equal(count_of(&n, "SELECT count(*) FROM series"), CASES - 1);
    assert_string_equal(gate(&n), "= 0 4");
    assert_int_equal(history_prune(&dropped, n.history, NULL, 0, &n.err), ERR_USAGE);
    close_history(&n);
}

static void adding_keeps_so_many(void **state)
{
    struct runs n;
    struct history_added added;
    (void)state;
    open_history(&n, 24);
    add_runs(&n, 9);
    make_run(&n);
    assert_int_equal(history_add(n.history, &n.result, &(struct history_add_options){.keep = 4}, &added, &n.err),
                     STATUS_OK);
    assert_int_equal(added.dropped_runs, 6);
    assert_int_equal(count_of(&n, "SELECT count(*) FROM point"), 4 * CASES);
    close_history(&n);
}

/* ---- looking ---- */

static enum status show(struct text *text, struct runs *n, const char *const *globs, size_t count)
{
    struct arena arena = {0};
    struct document document = {.arena = &arena};
    enum status status = history_show(&document, n->history, NULL, NULL, globs, count, &n->err);
    render_text(text, &document, &(struct report_options){0});
    arena_release(&arena);
    return status;
}

static void shown_and_exported(void **state)
{
    struct runs n;
    struct text text = {0};
    const char *const one[] = {"copy/n=3"}, *const none[] = {"gemm*"};
    (void)state;
    open_history(&n, 26);
    add_runs(&n, 10);
    n.ratio[2] = 1.05;
    add_runs(&n, 2);
    gate(&n);
    assert_int_equal(show(&text, &n, NULL, 0), STATUS_OK);
    assert_non_null(strstr(text.data, "open: +5."));
    assert_non_null(strstr(text.data, "12 runs, 2026-03-01 to 2026-03-12"));
    text_clear(&text);
    assert_int_equal(show(&text, &n, one, 1), STATUS_OK);
    assert_non_null(strstr(text.data, "% from here on (open)"));
    text_clear(&text);
    assert_int_equal(show(&text, &n, none, 1), ERR_CONFIG);
    assert_int_equal(history_export(&text, n.history, "xml", &n.err), ERR_USAGE);
    assert_int_equal(history_export(&text, n.history, NULL, &n.err), STATUS_OK);
    size_t lines = 0;
    for (const char *c = text.data; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 1 + 12 * CASES);
    assert_int_equal(strncmp(text.data, "started_at,channel,device,", 23), 0);
    text_release(&text);
    close_history(&n);
}

static void the_check_finds_what_is_wrong(void **state)
{
    static const struct {
        const char *sql, *words;
    } cases[] = {
        {"UPDATE point SET status = 'failed' WHERE series = 1", "has a value and the status failed"},
        {"UPDATE point SET status = 'ok', value = NULL WHERE series = 1", "is ok and has no value"},
        {"UPDATE point SET value = 5", ""},
        {"UPDATE point SET trials = x'00'", "half a trial"},
        {"UPDATE run SET started = started + 1 WHERE id = 1", "started at 2026-03-01T02:00:00Z, not at"},
        {"DELETE FROM environment", "a row of run refers to nothing in environment"},
        {"UPDATE series SET seen = 5 WHERE id = 1", "series 1 was seen later"},
        {"DELETE FROM point WHERE run = 1", "run 1 has no point"},
    };
    struct runs n;
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct text problems = {0};
        sqlite3 *db = NULL;
        open_history(&n, 27);
        add_runs(&n, 2);
        assert_int_equal(sqlite3_open(n.path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, cases[k].sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        assert_int_equal(history_check(&problems, n.history, &n.err), STATUS_OK);
        text_add(&problems, "");
        if (cases[k].words[0] ? !strstr(problems.data, cases[k].words) : problems.length > 0)
            fail_msg("'%s' does not say '%s'", problems.data, cases[k].words);
        text_release(&problems);
        history_close(n.history);
        unlink(n.path);
        rmdir(n.folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_added_once),
        cmocka_unit_test(what_is_no_run_is_refused),
        cmocka_unit_test(older_runs_go_where_they_belong),
        cmocka_unit_test(failures_find_their_series),
        cmocka_unit_test(confirmation_decides_this_run),
        cmocka_unit_test(what_was_measured_again_must_show_it_too),
        cmocka_unit_test(one_fast_trial_is_enough),
        cmocka_unit_test(a_class_is_confirmed_in_its_first_run),
        cmocka_unit_test(other_data_is_another_series),
        cmocka_unit_test(the_cause_is_what_changed),
        cmocka_unit_test(what_does_not_belong_confirms_nothing),
        cmocka_unit_test(devices_and_channels_do_not_mix),
        cmocka_unit_test(dropped_runs_take_no_finding_with_them),
        cmocka_unit_test(adding_keeps_so_many),
        cmocka_unit_test(shown_and_exported),
        cmocka_unit_test(the_check_finds_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
