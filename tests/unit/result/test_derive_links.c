/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "value_json.h"

enum { MOST = 8 };
static struct result_param params[MOST][3];

static struct result_case copied(size_t at, const char *kernel, double size, int from, int to, double bytes,
                                 double time_ns)
{
    params[at][0] = (struct result_param){"size", {.kind = PARAM_NUMBER, .number = size}};
    params[at][1] = (struct result_param){"from", {.kind = PARAM_NUMBER, .number = from}};
    params[at][2] = (struct result_param){"to", {.kind = PARAM_NUMBER, .number = to}};
    return (struct result_case){.id = kernel,
                                .kernel = kernel,
                                .label = kernel,
                                .params = params[at],
                                .param_count = from < 0 ? 1 : 3,
                                .status = CASE_OK,
                                .sample_count = 3,
                                .work = {.read_bytes = size, .items = bytes},
                                .bytes_per_s = size / time_ns * 1e9,
                                .stats = {.median = time_ns}};
}

static const struct result_derived *derived(struct result *result, const struct suite_derive *spec, struct arena *arena)
{
    const struct plan plan = {.derives = spec, .derive_count = 1};
    result_derive(result, &plan, 1, arena);
    assert_int_equal(result->derived_count, 1);
    return &result->derived[0];
}

static const struct suite_derive along_sizes = {
    .name = "dips", .method = "dips", .kernel = "all_reduce", .x = "size", .y = "bytes_per_s"};

static void finds_dips(void **state)
{
    struct arena arena = {0};
    struct result_case cases[] = {
        copied(0, "all_reduce", 4e6, -1, 0, 0, 1e5), copied(1, "all_reduce", 1e6, -1, 0, 0, 1e5),
        copied(2, "all_reduce", 2e6, -1, 0, 0, 2.2e5), copied(3, "all_reduce", 8e6, -1, 0, 0, 2.02e5)};
    struct result result = {.cases = cases, .case_count = 4};
    (void)state;
    const struct result_derived *found = derived(&result, &along_sizes, &arena);
    assert_non_null(strstr(value_json(found, &arena), "{\"dips\":[{\"x\":2000000,\"before\":10000000000,"));
    assert_null(strstr(value_json(found, &arena), "8000000")); /* 1 % below is no dip */
    assert_non_null(found->finding);
    assert_non_null(strstr(found->finding, "all_reduce size=2.00M dips to 9.09 GB/s, from 10.0 GB/s"));
    assert_int_equal(result_exit_code(&result, false), 1);
    cases[2].bytes_per_s = 1e10;
    assert_string_equal(value_json(derived(&result, &along_sizes, &arena), &arena), "{\"dips\":[]}");
    assert_null(result.derived[0].finding);
    assert_int_equal(result_exit_code(&result, false), 0);
    result.case_count = 1;
    assert_non_null(strstr(value_json(derived(&result, &along_sizes, &arena), &arena), "error"));
    arena_release(&arena);
}

static const struct suite_derive at_once = {
    .name = "ring", .method = "together", .kernel = "copy_ring", .to = "copy_peer", .x = "size", .y = "time_ns"};

/* A copy onto the device itself, and one of another size, say nothing of the links. */
static void finds_serialised_queues(void **state)
{
    struct arena arena = {0};
    struct result_case cases[] = {
        copied(0, "copy_ring", 1e6, -1, 0, 3e6, 310), copied(1, "copy_peer", 1e6, 0, 1, 0, 100),
        copied(2, "copy_peer", 1e6, 1, 2, 0, 110),    copied(3, "copy_peer", 1e6, 2, 0, 0, 90),
        copied(4, "copy_peer", 1e6, 1, 1, 0, 1),      copied(5, "copy_peer", 2e6, 0, 1, 0, 999)};
    struct result result = {.cases = cases, .case_count = 6};
    (void)state;
    const struct result_derived *found = derived(&result, &at_once, &arena);
    assert_non_null(
        strstr(value_json(found, &arena), "\"copies\":3,\"whole_ns\":310,\"slowest_ns\":110,\"sum_ns\":300,"));
    assert_non_null(strstr(found->finding, "copy_ring: 3 copies at once take 310 ns, one behind the other 300 ns"));
    cases[0].stats.median = 120;
    found = derived(&result, &at_once, &arena);
    assert_non_null(strstr(value_json(found, &arena), "\"overlap\":2.5"));
    assert_null(found->finding);
    result.case_count = 1; /* nothing alone to compare with */
    assert_string_equal(value_json(derived(&result, &at_once, &arena), &arena), "{\"points\":[]}");
    arena_release(&arena);
}

static const struct suite_derive both = {
    .name = "overlap",
    .method = "overlap",
    .kernel = "gemm_all_reduce",
    .parts = (const struct suite_part[]){{.name = "gemm", .times = 1}, {.name = "all_reduce", .times = 2}},
    .part_count = 2,
    .x = "",
    .y = "time_ns"};

/* The parts are the cases with equal numbers; the library that a word names may be another. */
static void sets_kernels_at_once_against_each_alone(void **state)
{
    struct arena arena = {0};
    struct result_case cases[] = {copied(0, "gemm_all_reduce", 1e6, -1, 0, 0, 500), copied(1, "gemm", 0, -1, 0, 0, 400),
                                  copied(2, "all_reduce", 2e6, -1, 0, 0, 999),
                                  copied(3, "all_reduce", 1e6, -1, 0, 0, 100)};
    struct result result = {.cases = cases, .case_count = 4};
    (void)state;
    params[1][0] = (struct result_param){"library", {.kind = PARAM_STRING, .string = "rocblas"}};
    params[0][1] = (struct result_param){"library", {.kind = PARAM_STRING, .string = "rccl"}};
    cases[0].param_count = 2;
    const struct result_derived *found = derived(&result, &both, &arena);
    assert_string_equal(value_json(found, &arena),
                        "{\"points\":[{\"at\":\"\",\"whole_ns\":500,\"longest_ns\":400,\"sum_ns\":600,"
                        "\"speedup\":1.2,\"ideal_speedup\":1.5,\"efficiency\":0.5}]}");
    assert_null(found->finding);
    cases[3].stats.median = 5; /* too short to be seen */
    assert_non_null(strstr(value_json(derived(&result, &both, &arena), &arena), "\"efficiency\":null}]}"));
    cases[3].status = CASE_SKIPPED;
    cases[3].reason = "the device has no peer";
    assert_string_equal(value_json(derived(&result, &both, &arena), &arena),
                        "{\"error\":\"all_reduce skipped: the device has no peer\"}");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_dips), cmocka_unit_test(finds_serialised_queues),
                                       cmocka_unit_test(sets_kernels_at_once_against_each_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
