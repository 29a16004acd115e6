/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/suite.h"

static enum status parse(const struct suite **suite, const char *text, struct arena *arena, struct err *err)
{
    struct measure_options base;
    measure_defaults(&base);
    return suite_parse(suite, "s.json", text, strlen(text), &base, arena, err);
}

static const char whole[] =
    "{ \"name\": \"all\", \"summary\": \"every key\",\n"
    "  \"defaults\": { \"params\": { \"block\": 256 }, \"measure\": { \"min_time\": \"0.2 s\" }, \"tags\": [\"a\"] },\n"
    "  \"cases\": [ { \"kernel\": \"gemm\", \"params\": { \"VEC\": \"4\" },\n"
    "    \"sweep\": { \"m\": \"16..64*2\", \"dtype\": [\"f32\", \"f64\"], \"k\": [1, 2, 3] },\n"
    "    \"zip\": [[\"m\", \"k\"]], \"exclude\": [\"m > 32\"],\n"
    "    \"measure\": { \"cache\": \"cold\", \"timer\": \"batch\", \"max_samples\": 7 }, \"tags\": [\"b\"] } ],\n"
    "  \"derive\": [ { \"name\": \"d\", \"method\": \"knee\", \"kernel\": \"gemm\", \"x\": \"m\", \"y\": \"time_ns\",\n"
    "                \"group\": [\"dtype\"] } ] }";

static void test_whole(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct suite *suite = NULL;
    (void)state;
    if (parse(&suite, whole, &arena, &err))
        fail_msg("%s", err.text);
    assert_string_equal(suite->name, "all");
    assert_int_equal(strlen(suite->sha256), 64);
    assert_int_equal(suite->case_count, 1);
    const struct suite_case *only = &suite->cases[0];
    assert_int_equal(only->param_count, 2);
    assert_int_equal(only->default_count, 1);
    assert_string_equal(only->params[0].name, "block");
    assert_true(only->params[1].value.number == 4);
    assert_int_equal(only->sweep_count, 3);
    assert_string_equal(only->sweeps[2].param, "k");
    assert_int_equal(only->zip_count, 1);
    assert_string_equal(only->zips[0][1], "k");
    assert_null(only->zips[0][2]);
    assert_string_equal(only->excludes[0], "m > 32");
    assert_true(only->measure.min_time_ns == 0.2e9);
    assert_int_equal(only->measure.cache, CACHE_COLD);
    assert_int_equal(only->measure.timer, TIMER_BATCH);
    assert_int_equal(only->measure.max_samples, 7);
    assert_int_equal(only->measure.min_samples, 7); /* moved along */
    assert_int_equal(only->tag_count, 2);
    assert_string_equal(only->tags[0], "a");
    assert_int_equal(suite->derive_count, 1);
    assert_string_equal(suite->derives[0].group[0], "dtype");
    arena_release(&arena);
}

#define CASE(members) "{\"name\": \"s\", \"cases\": [{\"kernel\": \"k\", " members "}]}"
#define DERIVE(members)                                                                                                \
    "{\"name\": \"s\", \"cases\": [{\"kernel\": \"k\"}], \"derive\": [{\"name\": \"d\", " members "}]}"
#define MEASURE(members) CASE("\"measure\": {" members "}")

static void test_refuse(void **state)
{
    static const struct {
        const char *text, *complaint;
    } cases[] = {
        {"[]", "s.json:1:1"},
        {"{", "s.json:1:2"},
        {"{\"cases\": []}", "name"},
        {"{\"name\": \"s\"}", "cases"},
        {"{\"name\": \"s\", \"cases\": []}", "s.json:1:24: /cases: a suite needs at least one case"},
        {"{\"name\": \"s\", \"casses\": []}", "did you mean 'cases'"},
        {"{\"name\": \"s\", \"cases\": [{}]}", "kernel"},
        {"{\"name\": \"s\", \"cases\": [5]}", "/cases/0"},
        {"{\"name\": 1, \"cases\": [{\"kernel\": \"k\"}]}", "/name"},
        {"{\"name\": \"s\", \"kernels\": [\"no_such_folder\"], \"cases\": [{\"kernel\": \"k\"}]}", "no folder"},
        {CASE("\"sweeps\": {}"), "did you mean 'sweep'"},
        {CASE("\"params\": {\"n\": null}"), "/cases/0/params/n"},
        {CASE("\"params\": {\"n\": \"1..4\"}"), "is a range where one value is meant"},
        {CASE("\"params\": {\"n\": 1}, \"sweep\": {\"n\": [1]}"), "/cases/0/sweep/n: 'n' stands in params too"},
        {CASE("\"sweep\": {\"n\": [1], \"n\": [2]}"), "n"},
        {CASE("\"sweep\": {\"n\": \"1..10000001\"}"), "more than 1000000"},
        {CASE("\"sweep\": {\"a\": \"1..4000\", \"b\": \"1..4000\"}"), "expand to more than 1000000"},
        {CASE("\"sweep\": {\"a\": \"1..9000\", \"b\": \"1..9000\", \"c\": \"1..9000\", \"d\": \"1..9000\","
              " \"e\": \"1..9000\", \"f\": \"1..9000\"}"),
         "expand to more than 1000000"},
        {CASE("\"sweep\": {\"a\": [1, 2], \"b\": [1]}, \"zip\": [[\"a\", \"b\"]]"), "advance together"},
        {CASE("\"sweep\": {\"a\": [1]}, \"zip\": [[\"a\"]]"), "at least two"},
        {CASE("\"sweep\": {\"a\": [1]}, \"zip\": [[\"a\", \"b\"]]"), "/cases/0/zip/0/1: 'b' is not swept"},
        {CASE("\"sweep\": {\"a\": [1]}, \"zip\": [[\"a\", \"a\"]]"), "zipped twice"},
        {CASE("\"exclude\": [1]"), "/cases/0/exclude/0"},
        {CASE("\"tags\": \"x\""), "/cases/0/tags"},
        {MEASURE("\"cache\": \"warm\""), "unknown cache 'warm'; known are hot, cold, rotate"},
        {MEASURE("\"cache\": \"colt\""), "did you mean 'cold'"},
        {MEASURE("\"min_time\": 5"), "/cases/0/measure/min_time"},
        {MEASURE("\"min_time\": \"5\""), "/cases/0/measure/min_time"},
        {MEASURE("\"min_time\": \"5 s\", \"max_time\": \"1 s\""), "max_time is shorter"},
        {MEASURE("\"max_time\": \"0 s\""), "measures nothing"},
        {MEASURE("\"min_samples\": 0"), "between 1 and"},
        {MEASURE("\"min_samples\": 1.5"), "min_samples"},
        {MEASURE("\"max_samples\": 100000000"), "between 1 and"},
        {MEASURE("\"min_samples\": 9, \"max_samples\": 8"), "below min_samples"},
        {MEASURE("\"precision\": 0"), "between 0 and 1"},
        {MEASURE("\"timeout\": \"0 s\""), "ends every case"},
        {MEASURE("\"warm_up\": \"1 s\""), "did you mean 'warmup'"},
        {"{\"name\": \"s\", \"cases\": [{\"kernel\": \"k\"}], \"derive\": [{\"name\": \"d\"}]}", "/derive/0"},
        {DERIVE("\"method\": \"max\", \"kernel\": \"k\", \"y\": \"time_ns\""),
         "/derive/0: the key 'x' is missing: the method 'max' has it"},
        {DERIVE("\"method\": \"matrix\", \"kernel\": \"k\", \"x\": \"a\", \"y\": \"b\""), "the key 'rows' is missing"},
        {DERIVE("\"method\": \"max\", \"kernel\": \"k\", \"x\": \"a\", \"y\": \"b\", \"rows\": \"c\""),
         "/derive/0/rows: the method 'max' has no 'rows'"},
        {DERIVE("\"method\": \"ratio\", \"kernel\": \"k\", \"y\": \"flops_per_s\""), "the key 'to' is missing"},
        {DERIVE("\"method\": \"ratio\", \"kernel\": \"k\", \"to\": \"l\", \"x\": \"n\", \"y\": \"flops_per_s\""),
         "/derive/0/x"},
        {DERIVE("\"method\": \"shares\", \"layers\": \"*\""), "the key 'parts' is missing"},
        {DERIVE("\"method\": \"shares\", \"layers\": \"*\", \"parts\": {}"), "/derive/0/parts: has no parts"},
        {DERIVE("\"method\": \"shares\", \"layers\": \"*\", \"parts\": {\"a\": 0}"),
         "/derive/0/parts/a: a part that is there 0 times"},
        {DERIVE("\"method\": \"shares\", \"layers\": \"*\", \"parts\": {\"a\": 1}, \"group\": [\"n\"]"),
         "/derive/0/group"},
        {DERIVE("\"method\": \"shares\", \"layers\": \"*\", \"parts\": {\"a\": 1}, \"kernel\": \"k\""),
         "/derive/0/kernel"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct suite *suite = NULL;
        if (parse(&suite, cases[k].text, &arena, &err) != ERR_CONFIG)
            fail_msg("accepted: %s", cases[k].text);
        if (!strstr(err.text, cases[k].complaint) || strncmp(err.text, "s.json:", 7) != 0)
            fail_msg("%s\n%s", cases[k].text, err.text);
        assert_null(suite);
        arena_release(&arena);
    }
}

static void test_derive(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct suite *suite = NULL;
    (void)state;
    assert_int_equal(parse(&suite,
                           DERIVE("\"method\": \"shares\", \"layers\": \"*.*\", "
                                  "\"parts\": {\"// qkv\": 0, \"qkv\": 1, \"rope\": 2}"),
                           &arena, &err),
                     STATUS_OK);
    const struct suite_derive *derive = &suite->derives[0];
    assert_null(derive->kernel);
    assert_string_equal(derive->layers, "*.*");
    assert_int_equal(derive->part_count, 2);
    assert_string_equal(derive->parts[1].name, "rope");
    assert_int_equal(derive->parts[1].times, 2);
    assert_int_equal(parse(&suite,
                           DERIVE("\"method\": \"ratio\", \"kernel\": \"k\", \"to\": \"l\", \"y\": \"flops_per_s\""),
                           &arena, &err),
                     STATUS_OK);
    assert_string_equal(suite->derives[0].to, "l");
    assert_string_equal(suite->derives[0].x, "");
    arena_release(&arena);
}

static void test_measure(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct measure_options options;
    const cJSON *json = NULL;
    static const char text[] = "{\"min_time\": \"5 s\", \"warmup\": \"3 s\", \"calibration\": false}";
    (void)state;
    assert_int_equal(json_parse(&json, "m", text, strlen(text), &arena, &err), STATUS_OK);
    measure_quick(&options);
    assert_int_equal(options.min_samples, 10);
    assert_true(options.calibrates);
    assert_true(options.min_time_ns == 0.1e9 && options.max_time_ns == 0.5e9);
    assert_int_equal(measure_from_json(&options, json, &err), STATUS_OK);
    assert_true(options.min_time_ns == 5e9 && options.max_time_ns == 5e9);
    assert_true(options.warmup_ns == 3e9 && options.warmup_max_ns == 3e9);
    assert_true(options.precision == 0.01); /* untouched */
    assert_false(options.calibrates);
    arena_release(&arena);
}

static void test_kernels(void **state)
{
    static const char *const kernels[] = {"stream_triad", "stream_copy"};
    struct arena arena = {0};
    struct err err = {0};
    struct measure_options base;
    const struct suite *suite = NULL, *other = NULL;
    (void)state;
    measure_quick(&base);
    assert_int_equal(suite_from_kernels(&suite, kernels, 0, &base, &arena, &err), ERR_USAGE);
    assert_int_equal(suite_from_kernels(&suite, kernels, 2, &base, &arena, &err), STATUS_OK);
    assert_int_equal(suite_from_kernels(&other, kernels, 1, &base, &arena, &err), STATUS_OK);
    assert_int_equal(suite->case_count, 2);
    assert_string_equal(suite->cases[1].kernel, "stream_copy");
    assert_null(suite->cases[1].at);
    assert_int_equal(suite->cases[1].measure.min_samples, 10);
    assert_string_not_equal(suite->sha256, other->sha256);
    arena_release(&arena);
}

static void test_missing_file(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct measure_options base;
    const struct suite *suite = NULL;
    (void)state;
    measure_defaults(&base);
    assert_int_equal(suite_read(&suite, "/no/such/suite.json", &base, &arena, &err), ERR_CONFIG);
    assert_non_null(strstr(err.text, "/no/such/suite.json"));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),   cmocka_unit_test(test_refuse),  cmocka_unit_test(test_derive),
        cmocka_unit_test(test_measure), cmocka_unit_test(test_kernels), cmocka_unit_test(test_missing_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
