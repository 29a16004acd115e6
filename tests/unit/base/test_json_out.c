/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/json.h"
#include "rooftile/text.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void expect_text(struct json_out *out, bool pretty, const char *expected)
{
    struct text text = {0};
    json_out_finish(out, &text, pretty);
    assert_string_equal(text.data, expected);
    text_release(&text);
}

static void build_sample(struct json_out *out)
{
    json_out_string(out, "name", "triad");
    json_out_null(out, "skipped");
    json_out_bool(out, "good", true);
    json_out_object(out, "stats");
    json_out_number(out, "median_ns", 12.5);
    json_out_u64(out, "count", 7);
    json_out_end(out);
    json_out_array(out, "cases");
    json_out_object(out, NULL);
    json_out_end(out);
    json_out_string(out, NULL, "x");
    json_out_end(out);
    json_out_numbers(out, "samples_ns", (const double[]){1, 2.5, -3e300}, 3);
}

static void writes_in_order(void **state)
{
    (void)state;
    struct json_out *out = json_out_new();
    build_sample(out);
    expect_text(out, false,
                "{\"name\":\"triad\",\"skipped\":null,\"good\":true,\"stats\":{\"median_ns\":12.5,\"count\":7},"
                "\"cases\":[{},\"x\"],\"samples_ns\":[1,2.5,-3e+300]}");
}

static void indents_by_two_spaces(void **state)
{
    (void)state;
    struct json_out *out = json_out_new();
    build_sample(out);
    expect_text(out, true,
                "{\n  \"name\": \"triad\",\n  \"skipped\": null,\n  \"good\": true,\n  \"stats\": {\n"
                "    \"median_ns\": 12.5,\n    \"count\": 7\n  },\n  \"cases\": [{}, \"x\"],\n"
                "  \"samples_ns\": [1, 2.5, -3e+300]\n}");
}

static void adds_behind_what_is_there(void **state)
{
    (void)state;
    struct text text = {0};
    for (int k = 0; k < 2; k++) {
        struct json_out *object = json_out_new(), *array = json_out_new_array();
        json_out_number(object, "k", k);
        json_out_number(array, NULL, k);
        json_out_finish(object, &text, false);
        json_out_finish(array, &text, false);
    }
    assert_string_equal(text.data, "{\"k\":0}[0]{\"k\":1}[1]");
    text_release(&text);
}

static void writes_the_shortest_number(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "[0]"},
        {-1, "[-1]"},
        {0.1, "[0.1]"},
        {0.1 + 0.2, "[0.30000000000000004]"},
        {1.0 / 3, "[0.3333333333333333]"},
        {2.0 / 3, "[0.6666666666666666]"},
        {1e15, "[1000000000000000]"},
        {0x1p53, "[9007199254740992]"},
        {1e22, "[1e+22]"},
        {DBL_MAX, "[1.7976931348623157e+308]"},
        {DBL_MIN, "[2.2250738585072014e-308]"},
        {5e-324, "[5e-324]"},
        {(double)INFINITY, "[null]"},
        {-(double)INFINITY, "[null]"},
        {(double)NAN, "[null]"},
    };
    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct json_out *out = json_out_new_array();
        json_out_number(out, NULL, cases[k].value);
        expect_text(out, false, cases[k].text);
    }
    struct json_out *out = json_out_new_array();
    json_out_u64(out, NULL, UINT64_MAX);
    expect_text(out, false, "[18446744073709551615]");
}

static void escapes_strings(void **state)
{
    static const struct {
        const char *value;
        const char *text;
    } cases[] = {
        {NULL, "[null]"},
        {"", "[\"\"]"},
        {"a\"b\\c", "[\"a\\\"b\\\\c\"]"},
        {"\n\t\r\b\f\x01", "[\"\\n\\t\\r\\b\\f\\u0001\"]"},
        {"</script><!--", "[\"\\u003c/script>\\u003c!--\"]"},
        {"\xc3\xa9\xf0\x9f\x98\x80", "[\"\xc3\xa9\xf0\x9f\x98\x80\"]"},
        {"a\xff\xc3", "[\"a\xef\xbf\xbd\xef\xbf\xbd\"]"},
        {"\xed\xa0\x80", "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]"},
        {"{\n\t}", "[\"{\\n\\t}\"]"},
        {"\x1b[31m\x7f\xc2\x9b\xc2\xa0", "[\"\\u001b[31m\\u007f\\u009b\xc2\xa0\"]"},
    };
    (void)state;
    for (int pretty = 0; pretty < 2; pretty++)
        for (size_t k = 0; k < COUNT(cases); k++) {
            struct json_out *out = json_out_new_array();
            json_out_string(out, NULL, cases[k].value);
            expect_text(out, pretty, cases[k].text);
        }
}

static void writes_what_is_json_already(void **state)
{
    (void)state;
    for (int pretty = 0; pretty < 2; pretty++) {
        struct json_out *out = json_out_new();
        json_out_raw(out, "r", "{\r\n\t\"k\": \"<\x7f\xc2\x9b\xc2\xa0\\n\"}");
        json_out_array(out, "a");
        json_out_end(out);
        expect_text(out, pretty,
                    pretty ? "{\n  \"r\": {\"k\": \"\\u003c\\u007f\\u009b\xc2\xa0\\n\"},\n  \"a\": []\n}"
                           : "{\"r\":{\"k\": \"\\u003c\\u007f\\u009b\xc2\xa0\\n\"},\"a\":[]}");
    }
}

static void is_as_deep_as_it_is(void **state)
{
    (void)state;
    struct json_out *out = json_out_new_array();
    json_out_object(out, NULL);
    json_out_array(out, "rows");
    for (int k = 0; k < 2; k++) {
        json_out_object(out, NULL);
        json_out_number(out, "k", k);
        json_out_end(out);
    }
    json_out_end(out);
    json_out_end(out);
    expect_text(out, true, "[{\n    \"rows\": [{\n        \"k\": 0\n      }, {\n        \"k\": 1\n      }]\n  }]");
}

/* Bits in, digits, bits out. */
static void numbers_survive_the_round_trip(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err *err = calloc(1, sizeof(*err));
    uint64_t bits = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 20000; k++) {
        double value;
        const cJSON *root = NULL;
        struct text text = {0};
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        struct json_out *out = json_out_new_array();
        json_out_number(out, NULL, value);
        json_out_finish(out, &text, k % 2);
        assert_int_equal(json_parse(&root, "t", text.data, text.length, &arena, err), STATUS_OK);
        assert_memory_equal(&root->child->valuedouble, &value, sizeof(value));
        text_release(&text);
    }
    arena_release(&arena);
    free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_in_order),           cmocka_unit_test(indents_by_two_spaces),
        cmocka_unit_test(adds_behind_what_is_there), cmocka_unit_test(writes_the_shortest_number),
        cmocka_unit_test(escapes_strings),           cmocka_unit_test(writes_what_is_json_already),
        cmocka_unit_test(is_as_deep_as_it_is),       cmocka_unit_test(numbers_survive_the_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
