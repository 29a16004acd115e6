/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../near.h"
#include "rooftile/result.h"

static const struct {
    const char *what;
    enum case_status status[3]; /* CASE_NONE: no such case */
    uint32_t flags;             /* of the first */
    enum verdict verdict;       /* of the first */
    const char *run;            /* its status; NULL: none */
    int code, strict;
} runs[] = {
    {"nothing", {CASE_NONE}, 0, VERIFY_NOT_RUN, NULL, 3, 3},
    {"all well", {CASE_OK, CASE_OK, CASE_SKIPPED}, FLAG_CEILING_RAISED, VERIFY_PASS, NULL, 0, 0},
    {"a neighbour", {CASE_OK, CASE_OK, CASE_SKIPPED}, FLAG_INTERFERENCE, VERIFY_PASS, NULL, 0, 4},
    {"a hot chip", {CASE_OK}, FLAG_THROTTLED, VERIFY_PASS, "complete", 0, 4},
    {"a unit without a ceiling", {CASE_OK}, FLAG_NO_CEILING, VERIFY_PASS, "complete", 0, 4},
    {"time ran out", {CASE_OK, CASE_SKIPPED}, 0, VERIFY_PASS, "interrupted", 0, 4},
    {"time ran out before anything", {CASE_SKIPPED, CASE_SKIPPED}, 0, VERIFY_NOT_RUN, "interrupted", 3, 3},
    {"all skipped", {CASE_SKIPPED, CASE_SKIPPED}, 0, VERIFY_NOT_RUN, "complete", 3, 3},
    {"wrong result", {CASE_FAILED, CASE_OK}, 0, VERIFY_FAIL, NULL, 1, 1},
    {"wrong result, though it was timed", {CASE_OK}, 0, VERIFY_FAIL, "interrupted", 1, 1},
    {"faster than physics", {CASE_OK, CASE_OK}, FLAG_IMPOSSIBLE, VERIFY_PASS, NULL, 1, 1},
    {"only a crash", {CASE_CRASHED}, 0, VERIFY_NOT_RUN, NULL, 1, 1},
    {"a timeout among others", {CASE_OK, CASE_TIMEOUT}, 0, VERIFY_PASS, NULL, 1, 1},
    {"an error among others", {CASE_OK, CASE_ERROR}, FLAG_INTERFERENCE, VERIFY_PASS, NULL, 1, 1},
    {"only errors", {CASE_ERROR, CASE_ERROR}, 0, VERIFY_NOT_RUN, NULL, 3, 3},
    {"only errors and skips", {CASE_ERROR, CASE_SKIPPED}, 0, VERIFY_NOT_RUN, NULL, 3, 3},
};

static void test_exit_code(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(runs) / sizeof(runs[0]); k++) {
        struct result_case cases[3] = {{.flags = runs[k].flags, .verification = {.verdict = runs[k].verdict}}};
        struct result result = {.cases = cases, .status = runs[k].run};
        while (result.case_count < 3 && runs[k].status[result.case_count] != CASE_NONE) {
            cases[result.case_count].status = runs[k].status[result.case_count];
            result.case_count++;
        }
        const int code = result_exit_code(&result, false), strict = result_exit_code(&result, true);
        if (code != runs[k].code || strict != runs[k].strict)
            fail_msg("%s: exit codes %d and %d, expected %d and %d", runs[k].what, code, strict, runs[k].code,
                     runs[k].strict);
    }
}

static void test_id_length(void **state)
{
    (void)state;
    assert_int_equal(result_id_length("copy/n=1;mode=hot;timer=batch"), strlen("copy/n=1;mode=hot"));
    assert_int_equal(result_id_length("copy/n=1;mode=hot"), strlen("copy/n=1;mode=hot"));
    assert_int_equal(result_id_length(""), 0);
}

/* ---- a case from plan and measurement ---- */

static const struct machine machine = {
    .name = "toy", .level_count = 1, .levels = {{.name = "DRAM", .bandwidth = {.measured = 100e9}}}, .launch_ns = 100};

static const struct param params[] = {{.name = "n"}};
static const struct param_value values[] = {{.kind = PARAM_NUMBER, .number = 1000}};
static const struct manifest_metric metrics[] = {{.name = "cycles", .unit = "cycles"}};
static const struct manifest manifest = {
    .name = "copy", .class = CLASS_MEMORY, .params = params, .param_count = 1, .metrics = metrics, .metric_count = 1};

static const struct predicted expected = {.time_ns = 900, .method = "walk", .limiter = "memory", .bound = "DRAM"};

static struct plan_case planned(struct resolved_step *step)
{
    *step = (struct resolved_step){
        .kind = STEP_LAUNCH, .timed = true, .repeat = 1, .launch = {.grid = {4, 2, 1}, .block = {64, 1, 1}}};
    return (struct plan_case){
        .id = "copy/n=1000;mode=cold",
        .label = "copy",
        .state = PLAN_READY,
        .prediction = &expected,
        .measure = {.cache = CACHE_COLD},
        .resolved = {.manifest = &manifest,
                     .values = values,
                     .steps = step,
                     .step_count = 1,
                     .work = {.read_bytes = 40000, .write_bytes = 40000, .footprint_bytes = 80000}}};
}

static void test_build(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct resolved_step step;
    struct result_case c;
    const struct plan_case plan = planned(&step);
    struct measurement *m = calloc(1, sizeof(*m));
    *m = (struct measurement){.status = CASE_OK,
                              .timer = TIMED_HOST,
                              .cache = CACHE_COLD,
                              .batch = 1,
                              .sample_count = 3,
                              .samples_ns = {1000, 1200, 900},
                              .flags = FLAG_INTERFERENCE,
                              .flag_reason = "a neighbour",
                              .reason = "not this one",
                              .metrics = {42}};
    result_case_build(&c, &plan, m, "abc", &machine, &arena);
    assert_string_equal(c.id, "copy/n=1000;mode=cold;timer=host");
    assert_string_equal(c.class, "memory");
    assert_string_equal(c.object_sha256, "abc");
    assert_near(c.stats.median, 1000, 0);
    assert_near(c.bytes_per_s, 80e9, 1);
    assert_true(isnan(c.flops_per_s) && isnan(c.items_per_s));
    assert_near(c.lower_bound.time_ns, 800, 1e-9);
    assert_near(c.fraction, 0.8, 1e-12);
    assert_near(c.predicted_error, 900.0 / 1000 - 1, 1e-12);
    assert_near(c.metrics[0].value, 42, 0);
    assert_string_equal(c.reason, "a neighbour");
    assert_int_equal(c.grid[1], 2);
    assert_int_equal(c.block[0], 64);
    assert_near(c.params[0].value.number, 1000, 0);
    free(m);
    arena_release(&arena);
}

/* Clocks, second timer and start of a measurement; a probe that failed counts for nothing. */
/* The roof bounds, whatever was predicted; where none is known, a prediction that came true says what does. */
static void test_bound_of_a_prediction(void **state)
{
    (void)state;
    static const struct {
        double median_ns, read_bytes;
        const char *predicted, *bound, *roof;
    } cases[] = {
        {1700, 80000, "latency", "DRAM", "DRAM"},
        {1700, 80000, "launch", "launch", ""},
        {3100, 80000, "launch", "DRAM", "DRAM"},
        {150, 0, "LDS", "launch", ""},
        {1700, 0, "LDS", "LDS", ""},
        {3100, 0, "LDS", "", ""},
    };
    struct arena arena = {0};
    struct resolved_step step;
    struct plan_case plan = planned(&step);
    struct measurement *m = calloc(1, sizeof(*m));
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        const struct predicted seen = {.time_ns = 2000,
                                       .low_ns = 1000,
                                       .high_ns = 3000,
                                       .method = "walk",
                                       .limiter = "latency",
                                       .bound = cases[k].predicted};
        struct result_case c;
        plan.prediction = &seen;
        plan.resolved.work = (struct work){.read_bytes = cases[k].read_bytes, .footprint_bytes = cases[k].read_bytes};
        *m = (struct measurement){
            .status = CASE_OK, .timer = TIMED_HOST, .sample_count = 1, .samples_ns = {cases[k].median_ns}};
        result_case_build(&c, &plan, m, "", &machine, &arena);
        assert_string_equal(c.lower_bound.bound, cases[k].bound);
        assert_string_equal(c.lower_bound.ceiling_name, cases[k].roof);
        assert_true(isnan(c.fraction) == !*cases[k].roof);
    }
    free(m);
    arena_release(&arena);
}

static void test_build_clocks(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct resolved_step step;
    struct result_case c;
    const struct plan_case plan = planned(&step);
    struct measurement *m = calloc(1, sizeof(*m));
    *m = (struct measurement){.status = CASE_OK,
                              .timer = TIMED_BATCH,
                              .sample_count = 4,
                              .samples_ns = {1000, 1200, 900, 1100},
                              .sample_hz = {2e9F, 1e9F, NAN, 3e9F},
                              .has_sample_hz = true,
                              .core_hz_before = 1e9,
                              .core_hz_after = 2e9,
                              .cross_timer = TIMED_DISPATCH,
                              .cross_ns = 1050,
                              .blocking_start = true};
    result_case_build(&c, &plan, m, "", &machine, &arena);
    assert_near(c.cycles, 2000, 1e-6); /* of 2000, 1200 and 3300 */
    assert_near(c.core_hz, 2e9, 1);
    assert_near((double)c.sample_hz[3], 3e9, 0);
    assert_true(isnan(c.sample_hz[2]));
    assert_int_equal(c.cross_timer, TIMED_DISPATCH);
    assert_near(c.cross_ns, 1050, 0);
    assert_true(c.blocking_start);
    m->has_sample_hz = false;
    m->cross_timer = TIMED_NONE;
    snprintf(m->clock_reason, sizeof(m->clock_reason), "counter wrapped");
    result_case_build(&c, &plan, m, "", &machine, &arena);
    assert_true(!c.sample_hz && isnan(c.cycles) && isnan(c.cross_ns));
    assert_near(c.core_hz, 1.5e9, 0); /* of the readings before and after */
    assert_string_equal(c.clock_reason, "counter wrapped");
    free(m);
    arena_release(&arena);
}

/* A case that never ran has an id without a timer, a lower bound, and no figures. */
static void test_build_unmeasured(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct resolved_step step;
    struct result_case c;
    struct plan_case plan = planned(&step);
    struct measurement *m = calloc(1, sizeof(*m));
    *m = (struct measurement){.status = CASE_CRASHED, .reason = "SIGSEGV"};
    result_case_build(&c, &plan, m, "", &machine, &arena);
    assert_string_equal(c.id, "copy/n=1000;mode=cold");
    assert_string_equal(c.reason, "SIGSEGV");
    assert_true(isnan(c.bytes_per_s) && isnan(c.fraction) && isnan(c.predicted_error));
    assert_near(c.lower_bound.time_ns, 800, 1e-9);
    assert_int_equal(c.sample_count, 0);
    plan.state = PLAN_SKIPPED;
    plan.resolved = (struct resolved){.manifest = &manifest};
    m->status = CASE_SKIPPED;
    result_case_build(&c, &plan, m, "", &machine, &arena);
    assert_int_equal(c.param_count, 0);
    assert_false(result_work_known(&c.work));
    struct text text = {0};
    result_case_json(&text, &c); /* must be written without values it does not have */
    assert_non_null(strstr(text.data, "\"work\":null"));
    assert_non_null(strstr(text.data, "\"measurement\":null"));
    assert_non_null(strstr(text.data, "\"stats\":null"));
    text_release(&text);
    free(m);
    arena_release(&arena);
}

/* On sim nothing is measured: an error of the prediction against itself would be a lie. */
static void test_build_predicted(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct resolved_step step;
    struct result_case c;
    const struct plan_case plan = planned(&step);
    struct measurement *m = calloc(1, sizeof(*m));
    *m = (struct measurement){.status = CASE_OK, .timer = TIMED_SIM};
    result_case_build(&c, &plan, m, "", &machine, &arena);
    assert_true(isnan(c.predicted_error));
    assert_near(c.prediction.time_ns, 900, 0);
    assert_near(result_case_time(&c), 900, 0);
    assert_int_equal(c.sample_count, 0);
    assert_true(result_case_timed(&c) && result_case_counts(&c));
    assert_near(result_quantity(&c, "bytes_per_s"), (c.work.read_bytes + c.work.write_bytes) / 900 * 1e9, 1);
    free(m);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_code),       cmocka_unit_test(test_id_length),
        cmocka_unit_test(test_build),           cmocka_unit_test(test_bound_of_a_prediction),
        cmocka_unit_test(test_build_clocks),    cmocka_unit_test(test_build_unmeasured),
        cmocka_unit_test(test_build_predicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
