/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../near.h"
#include "rooftile/json.h"
#include "value_json.h"

enum { SIZES = 24, CASES = 2 * SIZES + 2 };

static struct result_param params[CASES][2];
static struct result_case cases[CASES];
static const struct result_metric metrics[] = {{"cycles", "cycles", 250}};

static struct result_case chase(size_t at, double footprint, enum dtype dtype, double time_ns)
{
    params[at][0] = (struct result_param){"footprint", {.kind = PARAM_NUMBER, .number = footprint}};
    params[at][1] = (struct result_param){"dtype", {.kind = PARAM_DTYPE, .dtype = dtype}};
    return (struct result_case){.kernel = "chase",
                                .class = "latency",
                                .params = params[at],
                                .param_count = 2,
                                .work = {.read_bytes = footprint, .items = 100, .footprint_bytes = footprint},
                                .status = CASE_OK,
                                .sample_count = 9,
                                .stats = {.median = time_ns},
                                .bytes_per_s = footprint / time_ns * 1e9,
                                .flops_per_s = NAN,
                                .items_per_s = NAN,
                                .metrics = metrics,
                                .metric_count = 1,
                                .lower_bound = {.intensity = NAN}};
}

/* f32: 1 ns a step up to 1 MiB, then 10 ns; f64: 500 ns + 2 ns a byte. In shuffled order, with a failed case and
 * another kernel's, neither of which may count. */
static struct result curves(void)
{
    size_t count = 0;
    for (size_t k = 0; k < SIZES; k++) {
        const size_t n = (k * 7) % SIZES;
        const double footprint = 16384 * exp2((double)n / 2), time_ns = 100 * (n < 13 ? 1 : 10);
        cases[count] = chase(count, footprint, DTYPE_F32, time_ns);
        count++;
        cases[count] = chase(count, footprint, DTYPE_F64, 500 + 2 * footprint);
        count++;
    }
    cases[count] = chase(count, 17000, DTYPE_F32, 1e9);
    cases[count++].status = CASE_FAILED;
    cases[count] = chase(count, 18000, DTYPE_F32, 1e9);
    cases[count++].kernel = "other";
    return (struct result){.cases = cases, .case_count = count};
}

static const char *const by_dtype[] = {"dtype"};

static double number_at(const cJSON *value, const char *list, const char *key)
{
    if (list)
        value = json_at(json_member(value, list), 0);
    const cJSON *number = json_member(value, key);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

/* `list` NULL: `key` of the value itself; else of its list's first element. */
static const struct {
    const char *method, *x, *y;
    size_t group; /* 0: f32, 1: f64 */
    const char *list, *key;
    double value, within;
} values[] = {
    {"change_points", "footprint", "ns_per_item", 0, "changes", "before", 1, 1e-9},
    {"change_points", "footprint", "ns_per_item", 0, "changes", "after", 10, 1e-9},
    {"change_points", "footprint", "time_ns", 0, "changes", "x_low", 1048576, 1},
    {"startup", "bytes", "time_ns", 1, NULL, "startup", 500, 1e-3},
    {"startup", "bytes", "time_ns", 1, NULL, "rate", 0.5, 1e-6},
    {"max", "footprint", "ns_per_item", 0, NULL, "y", 10, 1e-9},
    {"min", "footprint", "time_ns", 1, NULL, "x", 16384, 1e-9},
    {"min", "footprint", "time_ns", 1, NULL, "y", 500 + 2 * 16384, 1e-9},
    {"max", "footprint", "cycles", 0, NULL, "y", 250, 0},
};

static const cJSON *derive_one(const char *method, const char *x, const char *y, size_t group, struct arena *arena)
{
    struct result result = curves();
    const struct suite_derive spec = {
        .name = "d", .method = method, .kernel = "chase", .x = x, .y = y, .group = by_dtype, .group_count = 1};
    const struct plan plan = {.derives = &spec, .derive_count = 1};
    struct err err = {0};
    const cJSON *root = NULL;
    result_derive(&result, &plan, 1, arena);
    assert_int_equal(result.derived_count, 2);
    assert_string_equal(result.derived[0].group, "dtype=f32");
    assert_string_equal(result.derived[1].group, "dtype=f64");
    assert_string_equal(result.derived[group].method, method);
    const char *text = value_json(&result.derived[group], arena);
    assert_int_equal(json_parse(&root, "derived", text, strlen(text), arena, &err), STATUS_OK);
    return root;
}

static void test_values(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
        struct arena arena = {0};
        const cJSON *root = derive_one(values[k].method, values[k].x, values[k].y, values[k].group, &arena);
        const double got = number_at(root, values[k].list, values[k].key);
        if (!(fabs(got - values[k].value) <= values[k].within))
            fail_msg("%s of %s over %s: %s is %.9g, expected %.9g", values[k].method, values[k].y, values[k].x,
                     values[k].key, got, values[k].value);
        arena_release(&arena);
    }
}

static void test_one_change_only(void **state)
{
    (void)state;
    struct arena arena = {0};
    const cJSON *root = derive_one("change_points", "footprint", "ns_per_item", 0, &arena);
    assert_int_equal(json_count(json_member(root, "changes")), 1);
    arena_release(&arena);
}

static const struct {
    const char *method, *x, *y, *message;
} errors[] = {
    {"median", "footprint", "time_ns", "there is no method 'median'"},
    {"knee", "nothing", "time_ns", "0 points with 'nothing' and 'time_ns'; knee needs 3"},
    {"max", "dtype", "time_ns", "0 points"}, /* a word is no number */
    {"max", "footprint", "flops_per_s", "0 points"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++) {
        struct arena arena = {0};
        const cJSON *root = derive_one(errors[k].method, errors[k].x, errors[k].y, 0, &arena);
        const cJSON *error = json_member(root, "error");
        if (!error || !strstr(error->valuestring, errors[k].message))
            fail_msg("%s of %s: '%s'", errors[k].method, errors[k].y, error ? error->valuestring : "no error");
        arena_release(&arena);
    }
}

static void test_several(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result result = curves();
    const struct suite_derive specs[] = {
        {.name = "a", .method = "max", .x = "footprint", .y = "time_ns"},
        {.name = "b", .method = "min", .kernel = "other", .x = "bytes", .y = "time_ns"},
        {.name = "c", .method = "min", .kernel = "absent", .x = "bytes", .y = "time_ns"}};
    const struct plan plan = {.derives = specs, .derive_count = 3};
    result_derive(&result, &plan, 1, &arena);
    assert_int_equal(result.derived_count, 2); /* a kernel without cases has no group */
    assert_string_equal(result.derived[0].name, "a");
    assert_string_equal(result.derived[0].group, "");
    assert_string_equal(result.derived[0].kernel, "");
    assert_string_equal(value_json(&result.derived[0], &arena), "{\"x\":18000,\"y\":1000000000}");
    assert_string_equal(result.derived[1].kernel, "other");
    arena_release(&arena);
}

/* ---- three arms ---- */

struct arm {
    enum case_status status;
    double host_ns, event_ns, counted;
};

/* Three arms of 100 launches: what is said of them. */
static const struct {
    struct arm arms[3];
    const char *verdict, *disagree, *not_compared;
} threes[] = {
    {{{CASE_OK, 1000, 900, 100}, {CASE_OK, 9000, 8000, 100}, {CASE_OK, 500, 600, 100}}, "agree", "", ""},
    {{{CASE_OK, 1000, 900, 100}, {CASE_OK, 9000, 8000, 100}, {CASE_OK, 500, 100, 100}},
     "disagree",
     "arm 2: 500 ns by the host's clock, 100 by events (-80 %)",
     ""},
    {{{CASE_OK, 1000, 900, 100}, {CASE_OK, 9000, 8000, 99.5}, {CASE_OK, 500, 500, 100}},
     "disagree",
     "arm 1: 100 launches, but 99.5 were counted",
     ""},
    {{{CASE_OK, 1000, 900, 100}, {CASE_FAILED, 0, 0, 0}, {CASE_OK, 500, 500, 100}},
     "disagree",
     "arm 1 failed: why",
     ""},
    {{{CASE_OK, 1000, NAN, 100}, {CASE_OK, 9000, NAN, 100}, {CASE_SKIPPED, 0, 0, 0}},
     "incomplete",
     "",
     "2 of 2 ways were timed by one clock only"},
    {{{CASE_OK, 1000, 900, 100}, {CASE_OK, 9000, 9000, 100}, {CASE_SKIPPED, 0, 0, 0}},
     "incomplete",
     "",
     "arm 2 was skipped: why"},
    {{{CASE_OK, 1000, 900, NAN}, {CASE_OK, 9000, 9000, 100}, {CASE_OK, 500, 500, 100}},
     "incomplete",
     "",
     "arm 0 was not counted"},
};

static void check_first(const cJSON *root, const char *key, const char *want)
{
    const cJSON *texts = json_member(root, key);
    assert_non_null(texts);
    const char *got = json_count(texts) ? json_at(texts, 0)->valuestring : "";
    if (strcmp(got, want))
        fail_msg("%s: '%s', expected '%s'", key, got, want);
}

static void test_three_arms(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(threes) / sizeof(threes[0]); k++) {
        struct arena arena = {0};
        struct err err = {0};
        struct result_param arm_params[3];
        struct result_metric counts[3];
        struct result_case arm_cases[3];
        for (size_t n = 0; n < 3; n++) {
            const struct arm *arm = &threes[k].arms[n];
            arm_params[n] = (struct result_param){"arm", {.kind = PARAM_NUMBER, .number = (double)n}};
            counts[n] = (struct result_metric){"counted", "launches", arm->counted};
            arm_cases[n] = (struct result_case){.kernel = "arms",
                                                .params = &arm_params[n],
                                                .param_count = 1,
                                                .work = {.items = 100},
                                                .status = arm->status,
                                                .reason = "why",
                                                .sample_count = 9,
                                                .timer = TIMED_HOST,
                                                .stats = {.median = arm->host_ns},
                                                .cross_timer = isnan(arm->event_ns) ? TIMED_NONE : TIMED_EVENT,
                                                .cross_ns = arm->event_ns,
                                                .metrics = &counts[n],
                                                .metric_count = 1};
        }
        struct result result = {.cases = arm_cases, .case_count = 3};
        const struct suite_derive spec = {
            .name = "a", .method = "three_arm", .kernel = "arms", .x = "arm", .y = "counted"};
        const struct plan plan = {.derives = &spec, .derive_count = 1};
        const cJSON *root = NULL;
        result_derive(&result, &plan, 1, &arena);
        assert_int_equal(result.derived_count, 1);
        const char *text = value_json(&result.derived[0], &arena);
        assert_int_equal(json_parse(&root, "d", text, strlen(text), &arena, &err), STATUS_OK);
        if (strcmp(json_member(root, "verdict")->valuestring, threes[k].verdict))
            fail_msg("%zu: %s", k, text);
        check_first(root, "disagree", threes[k].disagree);
        check_first(root, "not_compared", threes[k].not_compared);
        arena_release(&arena);
    }
}

/* A value that two cases have is the later one's; what was not measured, or cannot be right, leaves a hole. */
static void test_matrix(void **state)
{
    static const struct {
        const char *from, *to;
        double bytes_per_s;
        enum case_status status;
        uint32_t flags;
    } copies[] = {
        {"10", "x", 1e9, CASE_OK, 0},     {"9", "x", 2e9, CASE_OK, 0},      {"9", "w", 3e9, CASE_OK, 0},
        {"10", "w", 4e9, CASE_FAILED, 0}, {"8", "v", 5e9, CASE_SKIPPED, 0}, {"10", "w", 6e9, CASE_OK, FLAG_IMPOSSIBLE},
    };
    enum { COPIES = sizeof(copies) / sizeof(copies[0]) };
    struct result_param named[COPIES][2];
    struct result_case made[COPIES];
    struct arena arena = {0};
    (void)state;
    for (size_t k = 0; k < COPIES; k++) {
        named[k][0] = (struct result_param){"from", {.kind = PARAM_NUMBER, .number = strtod(copies[k].from, NULL)}};
        named[k][1] = (struct result_param){"to", {.kind = PARAM_STRING, .string = copies[k].to}};
        made[k] = (struct result_case){.kernel = "copy",
                                       .params = named[k],
                                       .param_count = 2,
                                       .status = copies[k].status,
                                       .flags = copies[k].flags,
                                       .sample_count = 3,
                                       .stats = {.median = 1},
                                       .bytes_per_s = copies[k].bytes_per_s};
    }
    struct result result = {.cases = made, .case_count = COPIES};
    const struct suite_derive spec = {
        .name = "m", .method = "matrix", .kernel = "copy", .rows = "from", .x = "to", .y = "bytes_per_s"};
    const struct plan plan = {.derives = &spec, .derive_count = 1};
    result_derive(&result, &plan, 1, &arena);
    assert_int_equal(result.derived_count, 1);
    assert_string_equal(value_json(&result.derived[0], &arena),
                        "{\"rows\":[\"9\",\"10\"],\"columns\":[\"x\",\"w\"],"
                        "\"cells\":[[2000000000,3000000000],[1000000000,null]]}");
    assert_string_equal(result.derived[0].rows, "from");
    made[0].status = made[1].status = made[2].status = CASE_FAILED;
    result_derive(&result, &plan, 1, &arena);
    assert_string_equal(value_json(&result.derived[0], &arena), "{\"error\":\"no case was measured\"}");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_one_change_only), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_matrix), cmocka_unit_test(test_several),         cmocka_unit_test(test_three_arms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
