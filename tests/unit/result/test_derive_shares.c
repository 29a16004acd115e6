/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "value_json.h"

enum { MOST = 6 };

static struct result_case timed(const char *kernel, const char *const *tags, size_t tag_count, double time_ns)
{
    return (struct result_case){.id = kernel,
                                .kernel = kernel,
                                .label = kernel,
                                .tags = tags,
                                .tag_count = tag_count,
                                .status = CASE_OK,
                                .sample_count = 3,
                                .stats = {.median = time_ns}};
}

static const char *derived(struct result *result, const struct suite_derive *spec, size_t at, struct arena *arena)
{
    const struct plan plan = {.derives = spec, .derive_count = 1};
    result_derive(result, &plan, 1, arena);
    assert_true(result->derived_count > at);
    return value_json(&result->derived[at], arena);
}

/* ---- shares ---- */

static const struct suite_part parts[] = {{"qkv", 1}, {"rope", 2}};
static const struct suite_derive layer = {
    .name = "layer", .method = "shares", .x = "", .y = "time_ns", .layers = "*.*", .parts = parts, .part_count = 2};
static const char *const qkv_tags[] = {"llm", "a.prefill.qkv", "a.decode.qkv"}; /* equal in both: one case */
static const char *const rope_tags[] = {"llm", "a.prefill.rope"};
static const char *const decode_tags[] = {"llm", "a.decode.rope"};
static const char *const other_tags[] = {"alone.qkv", "a.prefill.head"}; /* of no layer that is asked for; no part */

static void adds_up_a_layer(void **state)
{
    struct arena arena = {0};
    struct result_case cases[] = {timed("gemm", qkv_tags, 3, 600), timed("rope", rope_tags, 2, 200),
                                  timed("rope", decode_tags, 2, 100), timed("gemm", other_tags, 2, 1)};
    struct result result = {.cases = cases, .case_count = 4};
    (void)state;
    assert_string_equal(derived(&result, &layer, 0, &arena),
                        "{\"sum_ns\":1000,\"parts\":["
                        "{\"part\":\"qkv\",\"kernel\":\"gemm\",\"times\":1,\"time_ns\":600,\"share\":0.6},"
                        "{\"part\":\"rope\",\"kernel\":\"rope\",\"times\":2,\"time_ns\":200,\"share\":0.4}]}");
    assert_int_equal(result.derived_count, 2);
    assert_string_equal(result.derived[0].group, "a.prefill");
    assert_string_equal(result.derived[0].kernel, "");
    assert_string_equal(result.derived[1].group, "a.decode");
    assert_non_null(strstr(value_json(&result.derived[1], &arena), "\"sum_ns\":800"));
    arena_release(&arena);
}

/* A sum without one of its parts is no sum. */
static void refuses_an_incomplete_layer(void **state)
{
    struct arena arena = {0};
    struct result_case cases[] = {timed("gemm", qkv_tags, 3, 600), timed("rope", rope_tags, 2, 200),
                                  timed("turn", rope_tags, 2, 100)};
    struct result result = {.cases = cases, .case_count = 1};
    (void)state;
    assert_string_equal(derived(&result, &layer, 0, &arena), "{\"error\":\"no case is a.prefill.rope\"}");
    result.case_count = 3;
    assert_string_equal(derived(&result, &layer, 0, &arena), "{\"error\":\"a.prefill.rope is both rope and turn\"}");
    result.case_count = 2;
    cases[1].status = CASE_SKIPPED;
    cases[1].reason = "why";
    assert_string_equal(derived(&result, &layer, 0, &arena), "{\"error\":\"a.prefill.rope (rope) skipped: why\"}");
    cases[0].status = CASE_SKIPPED; /* what a device lacks is said once, in its cases */
    result_derive(&result, &(struct plan){.derives = &layer, .derive_count = 1}, 1, &arena);
    assert_int_equal(result.derived_count, 0);
    arena_release(&arena);
}

/* ---- ratio ---- */

static struct result_param sizes[MOST][2];
static const struct suite_derive of_library = {
    .name = "of", .method = "ratio", .kernel = "own", .to = "library", .x = "", .y = "flops_per_s"};

/* Of m x m; `tile` is a parameter that only the kernel `own` has. */
static struct result_case product(size_t at, const char *kernel, double m, double flops_per_s)
{
    struct result_case made = timed(kernel, NULL, 0, 1);
    sizes[at][0] = (struct result_param){"m", {.kind = PARAM_NUMBER, .number = m}};
    sizes[at][1] = (struct result_param){"tile", {.kind = PARAM_NUMBER, .number = 8}};
    made.params = sizes[at];
    made.param_count = strcmp(kernel, "own") ? 1 : 2;
    made.flops_per_s = flops_per_s;
    return made;
}

static void divides_equal_cases(void **state)
{
    struct arena arena = {0};
    struct result_case cases[] = {product(0, "own", 64, 3e9),  product(1, "library", 128, 8e9),
                                  product(2, "own", 128, 6e9), product(3, "library", 64, 4e9),
                                  product(4, "own", 256, 6e9), product(5, "other", 256, 6e9)};
    struct result result = {.cases = cases, .case_count = MOST};
    (void)state;
    cases[0].label = "own m=64";
    cases[2].label = "own m=128";
    assert_string_equal(derived(&result, &of_library, 0, &arena),
                        "{\"to\":\"library\",\"unmatched\":1,\"points\":["
                        "{\"at\":\"m=64\",\"value\":3000000000,\"of\":4000000000,\"ratio\":0.75},"
                        "{\"at\":\"m=128\",\"value\":6000000000,\"of\":8000000000,\"ratio\":0.75}]}");
    assert_int_equal(result.derived_count, 1);
    arena_release(&arena);
}

static void says_why_there_is_no_ratio(void **state)
{
    struct arena arena = {0};
    struct result_case cases[] = {product(0, "own", 64, 3e9), product(1, "library", 64, 4e9)};
    struct result result = {.cases = cases, .case_count = 2};
    (void)state;
    cases[1].status = CASE_SKIPPED;
    cases[1].reason = "the device has no openblas";
    assert_non_null(
        strstr(derived(&result, &of_library, 0, &arena), "\"error\":\"library skipped: the device has no openblas\""));
    result.case_count = 1;
    assert_non_null(strstr(derived(&result, &of_library, 0, &arena), "\"error\":\"no case of library with"));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up_a_layer),
        cmocka_unit_test(refuses_an_incomplete_layer),
        cmocka_unit_test(divides_equal_cases),
        cmocka_unit_test(says_why_there_is_no_ratio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
