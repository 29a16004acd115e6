/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/suite.h"
#include "rooftile/text.h"

/* The values as one text, separated by spaces; kinds that are no numbers marked by their first letter. */
static void print_sweep(struct text *text, const struct sweep *sweep, struct arena *arena)
{
    static const char *const kinds[] = {
        [PARAM_NUMBER] = "", [PARAM_DTYPE] = "d:", [PARAM_STRING] = "s:", [PARAM_LIST] = "l:"};
    text_clear(text);
    for (size_t k = 0; k < sweep->count; k++)
        text_addf(text, "%s%s%s", k ? " " : "", kinds[sweep->values[k].kind], param_text(arena, &sweep->values[k]));
}

static void test_parse(void **state)
{
    static const struct {
        const char *text, *values;
    } cases[] = {
        {"7", "7"},
        {"16Ki", "16384"},
        {"1..5", "1 2 3 4 5"},
        {"1..1", "1"},
        {"1..10+4", "1 5 9"},
        {"1..9+4", "1 5 9"},
        {"16Ki..128Ki*2", "16384 32768 65536 131072"},
        {"1..100*10", "1 10 100"},
        {"1..99*10", "1 10"},
        {"1..1000*10", "1 10 100 1000"},
        {"0..1+0.25", "0 0.25 0.5 0.75 1"},
        {"0..0.3+0.1", "0 0.1 0.2 0.3"},
        {"-2..2+2", "-2 0 2"},
        {"1e+3..3e+3+1e+3", "1000 2000 3000"},
        {"1..4*1.5", "1 1.5 2.25 3.375"},
        {"1,2, 4", "1 2 4"},
        {"f32,f64", "d:f32 d:f64"},
        {"nt,tn", "s:nt s:tn"},
        {"[1,2,3]", "l:[1,2,3]"},
        {"[1,2],[3]", "l:[1,2] l:[3]"},
        {"../data", "s:../data"},
        {"a..b", "s:a..b"},
    };
    struct arena arena = {0};
    struct text text = {0};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct sweep sweep = {0};
        struct err err = {0};
        if (sweep_parse(&sweep, "n", cases[k].text, &arena, &err))
            fail_msg("%s: %s", cases[k].text, err.text);
        print_sweep(&text, &sweep, &arena);
        assert_string_equal(text.data, cases[k].values);
        assert_string_equal(sweep.param, "n");
        assert_null(sweep.at);
    }
    text_release(&text);
    arena_release(&arena);
}

static void test_refuse(void **state)
{
    static const struct {
        const char *text, *complaint;
    } cases[] = {
        {"1..10+0", "never ends"},
        {"1..10+-1", "never ends"},
        {"1..8*1", "never ends"},
        {"1..8*0.5", "never ends"},
        {"1..8*-2", "never ends"},
        {"0..8*2", "start above 0"},
        {"-1..8*2", "start above 0"},
        {"9007199254740992..9007199254740996+1", "lost in rounding"},
        {"1e300..1.1e300+1", "lost in rounding"},
        {"8..1", "starts above its end"},
        {"1..20000000", "more than 1000000"},
        {"0..1+1e-300", "lost in rounding"},
        {"0..1+1e-9", "more than 1000000"},
        {"1..1e300*1.0000001", "more than 1000000"},
        {"nan..5", "the start 'nan'"},
        {"nan..nan", "the start 'nan'"},
        {"1..nan", "'nan' is not a number"},
        {"1..inf", "'inf' is not a number"},
        {"1..10+nan", "'10+nan'"},
        {"1..8*inf", "'8*inf'"},
        {"1..1e999", "'1e999'"},
        {"1..", "'' is not a number"},
        {"1..2..3", "'2..3'"},
        {"nan", "not a number that a parameter can have"},
        {"0x10", "not a number that a parameter can have"},
        {"", "empty value"},
        {"1,,2", "empty value"},
        {"1,2,", "empty value"},
        {"1,2..4", "is a range where one value is meant"},
        {"[1,x]", "not a list of numbers"},
        {"[1,2", "not a list of numbers"},
    };
    struct arena arena = {0};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct sweep sweep = {0};
        struct err err = {0};
        if (sweep_parse(&sweep, "n", cases[k].text, &arena, &err) != ERR_CONFIG)
            fail_msg("'%s' is accepted", cases[k].text);
        if (!strstr(err.text, cases[k].complaint))
            fail_msg("'%s': %s", cases[k].text, err.text);
        assert_int_equal(sweep.count, 0); /* outputs only on success */
    }
    arena_release(&arena);
}

static enum status parse_json(struct sweep *sweep, const char *text, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL;
    assert_int_equal(json_parse(&root, "s.json", text, strlen(text), arena, err), STATUS_OK);
    return sweep_from_json(sweep, "n", json_member(root, "n"), arena, err);
}

static void test_json(void **state)
{
    static const struct {
        const char *json, *values;
    } cases[] = {
        {"{\"n\": 5}", "5"},
        {"{\"n\": \"1..3\"}", "1 2 3"},
        {"{\"n\": [1, \"2Ki\", \"f16\"]}", "1 2048 d:f16"},
        {"{\"n\": [[1, 2], [3]]}", "l:[1,2] l:[3]"},
        {"{\"n\": {\"values\": [64, 256]}}", "64 256"},
        {"{\"n\": {\"min\": 64, \"max\": 256, \"step\": 64, \"exclude\": [192]}}", "64 128 256"},
        {"{\"n\": {\"min\": \"1Ki\", \"max\": \"3Ki\", \"step\": \"1Ki\"}}", "1024 2048 3072"},
        {"{\"n\": {\"min\": 1, \"max\": 3}}", "1 2 3"},
    };
    struct arena arena = {0};
    struct text text = {0};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct sweep sweep = {0};
        struct err err = {0};
        if (parse_json(&sweep, cases[k].json, &arena, &err))
            fail_msg("%s: %s", cases[k].json, err.text);
        print_sweep(&text, &sweep, &arena);
        assert_string_equal(text.data, cases[k].values);
        assert_non_null(sweep.at);
    }
    text_release(&text);
    arena_release(&arena);
}

static void test_json_refuse(void **state)
{
    static const struct {
        const char *json, *complaint;
    } cases[] = {
        {"{\"n\": []}", "s.json:1:7: /n: a sweep needs at least one value"},
        {"{\"n\": true}", "s.json:1:7: /n: "},
        {"{\"n\": {}}", "'min' is missing"},
        {"{\"n\": {\"min\": 1}}", "'max' is missing"},
        {"{\"n\": {\"min\": 1, \"max\": 3, \"step\": 0}}", "never ends"},
        {"{\"n\": {\"min\": 1, \"max\": 3, \"values\": [1]}}", "'min' does not go with 'values'"},
        {"{\"n\": {\"min\": 1, \"max\": 3, \"stop\": 2}}", "stop"},
        {"{\"n\": {\"values\": [1], \"exclude\": [1]}}", "at least one value"},
        {"{\"n\": {\"values\": 1}}", "/n/values: "},
        {"{\"n\": \"1..10+0\"}", "s.json:1:7: /n: '1..10+0' never ends"},
        {"{\"n\": [1, \"1..2\"]}", "/n/1: '1..2' is a range"},
        {"{\"n\": {\"min\": \"x\", \"max\": 3}}", "/n/min: 'x' is not a number"},
    };
    struct arena arena = {0};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct sweep sweep = {0};
        struct err err = {0};
        if (parse_json(&sweep, cases[k].json, &arena, &err) != ERR_CONFIG)
            fail_msg("%s is accepted", cases[k].json);
        if (!strstr(err.text, cases[k].complaint))
            fail_msg("%s: %s", cases[k].json, err.text);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_refuse),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
