/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "rooftile/file.h"
#include "rooftile/json.h"
#include "rooftile/text.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const cJSON *parse(struct fixture *f, const char *text)
{
    const cJSON *root = NULL;
    if (json_parse(&root, "f.json", text, strlen(text), &f->arena, &f->err))
        fail_msg("%s: %s", text, f->err.text);
    return root;
}

static void expect_refused(struct fixture *f, const char *text, size_t length, const char *message)
{
    const cJSON *root = NULL;
    assert_int_equal(json_parse(&root, "f.json", text, length, &f->arena, &f->err), ERR_CONFIG);
    assert_null(root);
    assert_int_equal(f->err.status, ERR_CONFIG);
    assert_string_equal(f->err.text, message);
}

static void refuses_what_is_not_json(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        /* what cJSON alone accepts */
        {"[01]", "f.json:1:2: /0: a number must not start with a superfluous 0"},
        {"{\"a\": -00}", "f.json:1:7: /a: a number must not start with a superfluous 0"},
        {"[1.]", "f.json:1:4: /0: expected a digit after the decimal point, found ']'"},
        {"[1.e5]", "f.json:1:4: /0: expected a digit after the decimal point, found 'e'"},
        {"[1e]", "f.json:1:4: /0: expected a digit of the exponent, found ']'"},
        {"[1e+]", "f.json:1:5: /0: expected a digit of the exponent, found ']'"},
        {"[\"a\tb\"]", "f.json:1:4: /0: control character 0x09 in a string (write it as \\u0009)"},
        {"[\"a\nb\"]", "f.json:1:4: /0: control character 0x0a in a string (write it as \\u000a)"},
        {"{\"a\": 1e999}", "f.json:1:7: /a: number is beyond the range of a double"},
        {"[1, -1e400]", "f.json:1:5: /1: number is beyond the range of a double"},
        {"\xef\xbb\xbf{}", "f.json:1:1: a byte order mark before the document"},
        {"{\"a\":1,\n \"b\":2, \"a\":3}", "f.json:2:9: /a: duplicate key 'a', first at f.json:1:2"},
        {"{\"a\":1,\"\\u0061\":3}", "f.json:1:8: /a: duplicate key 'a', first at f.json:1:2"},
        {"{\"o\":{\"c\":1,\"a\":0,\"c\":3,\"a\":4}}", "f.json:1:19: /o/c: duplicate key 'c', first at f.json:1:7"},
        {"{\"a\": \"x\\u0000y\"}", "f.json:1:9: /a: \\u0000 is not allowed in a string"},
        {"{} x", "f.json:1:4: expected the end of the document, found 'x'"},
        {"{}{}", "f.json:1:3: expected the end of the document, found '{'"},
        {"[1]\v", "f.json:1:4: expected the end of the document, found byte 0x0b"},
        /* values */
        {"", "f.json:1:1: the document is empty"},
        {" \n ", "f.json:2:2: the document is empty"},
        {"[NaN]", "f.json:1:2: /0: expected a value, found 'NaN'"},
        {"[-Infinity]", "f.json:1:3: /0: expected a digit, found 'Infinity'"},
        {"[+1]", "f.json:1:2: /0: expected a value, found '+'"},
        {"[.5]", "f.json:1:2: /0: expected a value, found '.'"},
        {"[0x10]", "f.json:1:3: expected ',' or ']', found 'x'"},
        {"[True]", "f.json:1:2: /0: expected a value, found 'True'"},
        {"[truely]", "f.json:1:2: /0: expected a value, found 'truely'"},
        {"[nul]", "f.json:1:2: /0: expected a value, found 'nul'"},
        {"['a']", "f.json:1:2: /0: expected a value, found '''"},
        {"[\"a", "f.json:1:2: /0: this string is not closed"},
        {"[1234567890123456789012345678901234567890123456789012345678901234]",
         "f.json:1:2: /0: a number of more than 63 characters"},
        /* structure */
        {"[1,]", "f.json:1:4: a comma before ']'"},
        {"{\"a\":1,}", "f.json:1:8: a comma before '}'"},
        {"[,1]", "f.json:1:2: /0: expected a value, found ','"},
        {"[1 2]", "f.json:1:4: expected ',' or ']', found '2'"},
        {"{\"a\":{\"b\":[1,{\"c\" 1}]}}", "f.json:1:19: /a/b/1: expected ':', found '1'"},
        {"{\"a\":}", "f.json:1:6: /a: expected a value, found '}'"},
        {"{a:1}", "f.json:1:2: expected a key in double quotes, found 'a'"},
        {"{\"a\":[1,2}", "f.json:1:10: /a: expected ',' or ']', found '}'"},
        {"{\"a\":[1,2", "f.json:1:10: /a: the document ends where ',' or ']' is expected"},
        {"[1] // no",
         "f.json:1:5: expected the end of the document, found '/' (JSON has no comments; a key that starts "
         "with // is one)"},
        /* strings */
        {"[\"\\x\"]", "f.json:1:3: /0: unknown escape sequence in a string"},
        {"[\"\\u12g4\"]", "f.json:1:3: /0: \\u needs four hexadecimal digits"},
        {"[\"\\ud800\"]", "f.json:1:3: /0: \\ud800 is half of a surrogate pair"},
        {"[\"\\ud800\\u0041\"]", "f.json:1:3: /0: \\ud800 is half of a surrogate pair"},
        {"[\"\\udc00\"]", "f.json:1:3: /0: \\udc00 is half of a surrogate pair"},
        {"[\"\xff\"]", "f.json:1:3: /0: invalid UTF-8 in a string (byte 0xff)"},
        {"[\"\xc0\xaf\"]", "f.json:1:3: /0: invalid UTF-8 in a string (byte 0xc0)"},
        {"[\"\xed\xa0\x80\"]", "f.json:1:3: /0: invalid UTF-8 in a string (byte 0xed)"},
        {"[\"\xf4\x90\x80\x80\"]", "f.json:1:3: /0: invalid UTF-8 in a string (byte 0xf4)"},
        {"[\"\xe2\x82", "f.json:1:3: /0: invalid UTF-8 in a string (byte 0xe2)"},
        /* places */
        {"{\"a/b\": {\"c~d\": [0, 1, {\"\\u00e9\\/\\u001b\": 01}]}}",
         "f.json:1:43: /a~1b/c~0d/2/\xc3\xa9~1\\u001b: a number must not start with a superfluous 0"},
        {"[\"\xc3\xa9\xe2\x82\xac\", 01]", "f.json:1:8: /1: a number must not start with a superfluous 0"},
        {"[\r\n\t01]", "f.json:2:2: /0: a number must not start with a superfluous 0"},
        {"{\"\": {\"\": 01}}", "f.json:1:11: //: a number must not start with a superfluous 0"},
    };
    for (size_t k = 0; k < COUNT(cases); k++)
        expect_refused(*state, cases[k].text, strlen(cases[k].text), cases[k].message);
}

static void refuses_raw_zero_bytes(void **state)
{
    static const char in_string[] = "[\"a\0b\"]";
    static const char behind[] = "[1]\0";
    expect_refused(*state, in_string, sizeof(in_string) - 1,
                   "f.json:1:4: /0: control character 0x00 in a string (write it as \\u0000)");
    expect_refused(*state, behind, sizeof(behind) - 1, "f.json:1:4: expected the end of the document, found byte 0x00");
}

static void refuses_deep_nesting(void **state)
{
    enum { HOSTILE = 100000 };
    struct fixture *f = *state;
    char *text = malloc(HOSTILE);
    assert_non_null(text);
    memset(text, '[', HOSTILE);
    const cJSON *root = NULL;
    assert_int_equal(json_parse(&root, "f.json", text, HOSTILE, &f->arena, &f->err), ERR_CONFIG);
    assert_non_null(strstr(f->err.text, "f.json:1:65: /0/0/"));
    assert_true(text_ends(f->err.text, "/0: nested deeper than 64 levels"));
    memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
    assert_int_equal(json_parse(&root, "f.json", text, 2 * JSON_MAX_DEPTH, &f->arena, &f->err), STATUS_OK);
    free(text);
}

static const char sample[] =
    "{\"schema\": \"x\", \"list\": [1, -2.5e-3, true, null, {\"k\": \"\\ud83d\\ude00 \xc3\xa9\"}],\n"
    " \"empty\": {}, \"none\": [ ], \"f\": false}";

static void refuses_every_truncation(void **state)
{
    struct fixture *f = *state;
    for (size_t length = 0; length < sizeof(sample) - 1; length++) {
        const cJSON *root = NULL;
        char *exact = malloc(length + 1); /* a sanitizer sees one byte too many */
        memcpy(exact, sample, length);
        exact = realloc(exact, length ? length : 1);
        assert_int_equal(json_parse(&root, "f.json", exact, length, &f->arena, &f->err), ERR_CONFIG);
        assert_null(root);
        free(exact);
    }
}

/* Any one byte replaced: never a crash, and what is accepted is complete. */
static void survives_every_damaged_byte(void **state)
{
    static const char bytes[] = "\0\t\"\\{}[],:0e.-\x7f\x80\xc3\xff";
    struct fixture *f = *state;
    char text[sizeof(sample)];
    for (size_t at = 0; at < sizeof(sample) - 1; at++)
        for (size_t k = 0; k < sizeof(bytes) - 1; k++) {
            const cJSON *root = NULL;
            memcpy(text, sample, sizeof(sample));
            text[at] = bytes[k];
            if (!json_parse(&root, "f.json", text, sizeof(sample) - 1, &f->arena, &f->err))
                assert_true(cJSON_IsObject(root));
        }
}

static void reads_values_and_places(void **state)
{
    struct fixture *f = *state;
    const cJSON *root = parse(f, sample);
    const cJSON *list = json_member(root, "list");
    assert_int_equal(json_count(root), 5);
    assert_null(root->string);
    assert_string_equal(root->child->string, "schema");
    assert_string_equal(root->child->valuestring, "x");
    assert_true(cJSON_IsArray(list));
    assert_int_equal(json_count(list), 5);
    assert_true(json_at(list, 0)->valuedouble == 1 && json_at(list, 1)->valuedouble == -2.5e-3);
    assert_true(cJSON_IsTrue(json_at(list, 2)));
    assert_true(cJSON_IsNull(json_at(list, 3)));
    assert_string_equal(json_member(json_at(list, 4), "k")->valuestring, "\xf0\x9f\x98\x80 \xc3\xa9");
    assert_ptr_equal(json_at(list, 4)->prev, json_at(list, 3));
    assert_ptr_equal(list->child->prev, json_at(list, 4)); /* as cJSON has it */
    assert_null(json_at(list, 5));
    assert_null(json_member(root, "absent"));
    assert_null(json_member(NULL, "absent"));
    assert_null(json_member(list, "k"));
    assert_int_equal(json_count(json_member(root, "empty")), 0);
    assert_int_equal(json_count(json_member(root, "none")), 0);
    assert_false(cJSON_IsTrue(json_member(root, "f")));
}

static void reads_top_level_scalars(void **state)
{
    struct fixture *f = *state;
    assert_true(parse(f, " 0 ")->valuedouble == 0);
    assert_true(parse(f, "-0.0")->valuedouble == 0);
    assert_true(parse(f, "1E+2")->valuedouble == 100);
    assert_true(parse(f, "5e-324")->valuedouble == 5e-324);
    assert_true(parse(f, "1e-999")->valuedouble == 0);
    assert_true(parse(f, "9007199254740993")->valuedouble == 9007199254740992.0);
    assert_true(parse(f, "123456789012345678901234567890123456789012345678901234567890123")->valuedouble > 1e62);
    assert_string_equal(parse(f, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u20ac\x7f\"")->valuestring,
                        "\"\\/\b\f\n\r\t\xe2\x82\xac\x7f");
}

static void fails_with_the_pointer(void **state)
{
    struct fixture *f = *state;
    const cJSON *root = parse(f, "{\"a\": [\n  {\"b\": 1, \"x/y\": 2} ] }");
    const cJSON *inner = json_at(json_member(root, "a"), 0);
    assert_int_equal(json_fail(json_member(inner, "b"), &f->err, "is %d", 1), ERR_CONFIG);
    assert_string_equal(f->err.text, "f.json:2:9: /a/0/b: is 1");
    json_fail_key(json_member(inner, "x/y"), &f->err, "no");
    assert_string_equal(f->err.text, "f.json:2:12: /a/0/x~1y: no");
    json_fail(root, &f->err, "no");
    assert_string_equal(f->err.text, "f.json:1:1: no");
    json_fail_key(inner, &f->err, "no");
    assert_string_equal(f->err.text, "f.json:2:3: /a/0: no");
}

static void checks_keys(void **state)
{
    static const char *const keys[] = {"kernel", "sweep", "measure"};
    struct fixture *f = *state;
    const cJSON *good = parse(f, "{\"$schema\": 1, \"// note\": 2, \"kernel\": 3}");
    assert_int_equal(json_check_keys(good, keys, COUNT(keys), &f->err), STATUS_OK);
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"{\"kernel\":1, \"sweeep\": 2}", "f.json:1:14: /sweeep: unknown key; did you mean 'sweep'?"},
        {"{\"zzzzzzzz\": 2}", "f.json:1:2: /zzzzzzzz: unknown key"},
        {"[]", "f.json:1:1: must be an object, not an array"},
    };
    for (size_t k = 0; k < COUNT(cases); k++) {
        assert_int_equal(json_check_keys(parse(f, cases[k].text), keys, COUNT(keys), &f->err), ERR_CONFIG);
        assert_string_equal(f->err.text, cases[k].message);
    }
}

static void gets_members(void **state)
{
    struct fixture *f = *state;
    const cJSON *root = parse(f, "{\"s\":\"t\",\"n\":2.5,\"u\":9007199254740992,\"b\":true,\"o\":{},\"a\":[]}");
    const char *string = NULL;
    double number = 0, kept = 7;
    uint64_t whole = 0;
    const cJSON *array = NULL;
    assert_int_equal(json_get_string(&string, root, "s", JSON_REQUIRED, &f->err), STATUS_OK);
    assert_int_equal(json_get_number(&number, root, "n", JSON_REQUIRED, &f->err), STATUS_OK);
    assert_int_equal(json_get_u64(&whole, root, "u", JSON_REQUIRED, &f->err), STATUS_OK);
    assert_int_equal(json_get_array(&array, root, "a", JSON_REQUIRED, &f->err), STATUS_OK);
    assert_int_equal(json_get_number(&kept, root, "absent", JSON_OPTIONAL, &f->err), STATUS_OK);
    assert_string_equal(string, "t");
    assert_true(number == 2.5 && whole == (uint64_t)1 << 53 && kept == 7);
    assert_true(cJSON_IsArray(array));
}

static void get_says_what_is_wrong(void **state)
{
    struct fixture *f = *state;
    const cJSON *root = parse(f, "{\"s\":\"t\",\"n\":2.5,\"m\":-1,\"big\":9007199254740994,\"z\":null}");
    double number = 3;
    uint64_t whole = 3;
    assert_int_equal(json_get_number(&number, root, "s", JSON_OPTIONAL, &f->err), ERR_CONFIG);
    assert_string_equal(f->err.text, "f.json:1:6: /s: must be a number, not a string");
    json_get_number(&number, root, "q", JSON_REQUIRED, &f->err);
    assert_string_equal(f->err.text, "f.json:1:1: the key 'q' is missing");
    json_get_number(&number, root, "z", JSON_OPTIONAL, &f->err);
    assert_string_equal(f->err.text, "f.json:1:52: /z: must be a number, not null");
    json_get_u64(&whole, root, "n", JSON_OPTIONAL, &f->err);
    assert_string_equal(f->err.text, "f.json:1:14: /n: must be a whole number from 0 to 2^53, not 2.5");
    json_get_u64(&whole, root, "m", JSON_OPTIONAL, &f->err);
    assert_string_equal(f->err.text, "f.json:1:22: /m: must be a whole number from 0 to 2^53, not -1");
    json_get_u64(&whole, root, "big", JSON_OPTIONAL, &f->err);
    assert_string_equal(f->err.text, "f.json:1:31: /big: must be a whole number from 0 to 2^53, not 9007199254740994");
    assert_true(number == 3 && whole == 3);
}

/* 200,000 members: quadratic time would show as a test that takes minutes. */
static void finds_duplicates_in_large_objects(void **state)
{
    struct fixture *f = *state;
    struct text text = {0};
    text_add(&text, "{\n");
    for (int k = 0; k < 200000; k++)
        text_addf(&text, "\"k%d\":%d,\n", k, k);
    text_add(&text, "\"k77\":0}");
    expect_refused(f, text.data, text.length, "f.json:200002:1: /k77: duplicate key 'k77', first at f.json:79:1");
    text_release(&text);
}

static void reads_files(void **state)
{
    struct fixture *f = *state;
    char path[] = "/tmp/rooftile-json-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "{\"a\": 01}", 9), 9);
    close(fd);
    const cJSON *root = NULL;
    assert_int_equal(json_read(&root, path, &f->arena, &f->err), ERR_CONFIG);
    assert_true(text_starts(f->err.text, path));
    assert_true(text_ends(f->err.text, ":1:7: /a: a number must not start with a superfluous 0"));
    unlink(path);
    assert_int_equal(json_read(&root, path, &f->arena, &f->err), ERR_CONFIG);
    assert_null(root);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(refuses_what_is_not_json),
        TEST(refuses_raw_zero_bytes),
        TEST(refuses_deep_nesting),
        TEST(refuses_every_truncation),
        TEST(survives_every_damaged_byte),
        TEST(reads_values_and_places),
        TEST(reads_top_level_scalars),
        TEST(fails_with_the_pointer),
        TEST(checks_keys),
        TEST(gets_members),
        TEST(get_says_what_is_wrong),
        TEST(finds_duplicates_in_large_objects),
        TEST(reads_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
