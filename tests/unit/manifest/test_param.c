/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/manifest.h"

static void texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum param_kind kind;
        const char *canonical;
    } cases[] = {
        {"268435456", PARAM_NUMBER, "268435456"},
        {"256Mi", PARAM_NUMBER, "268435456"},
        {"0.5", PARAM_NUMBER, "0.5"},
        {"-0", PARAM_NUMBER, "0"},
        {"0.1", PARAM_NUMBER, "0.1"},
        {"1e300", PARAM_NUMBER, "1e+300"},
        {"0.30000000000000004", PARAM_NUMBER, "0.30000000000000004"},
        {"9007199254740992", PARAM_NUMBER, "9007199254740992"},
        {"f32", PARAM_DTYPE, "f32"},
        {"e5m2fnuz", PARAM_DTYPE, "e5m2fnuz"},
        {"nt", PARAM_STRING, "nt"},
        {"F32", PARAM_STRING, "F32"},
        {"[1,2,3]", PARAM_LIST, "[1,2,3]"},
        {"[ 1Ki, 0.5 ]", PARAM_LIST, "[1024,0.5]"},
        {"[7]", PARAM_LIST, "[7]"},
        {"[]", PARAM_STRING, "[]"},
        {"[1,]", PARAM_STRING, "[1,]"},
        {"[1 2]", PARAM_STRING, "[1 2]"},
        {"[1],2]", PARAM_STRING, "[1],2]"},
        {"[a]", PARAM_STRING, "[a]"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct param_value value = param_from_text(&arena, cases[i].text);
        assert_int_equal(value.kind, cases[i].kind);
        const char *canonical = param_text(&arena, &value);
        assert_string_equal(canonical, cases[i].canonical);
        const struct param_value again = param_from_text(&arena, canonical);
        assert_true(param_equal(&value, &again));
    }
    arena_release(&arena);
}

static void equality(void **state)
{
    (void)state;
    static const char *const texts[] = {"1", "2", "f32", "f16", "nt", "tn", "[1]", "[1,2]", "[1,3]"};
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        for (size_t k = 0; k < COUNT_OF(texts); k++) {
            const struct param_value a = param_from_text(&arena, texts[i]);
            const struct param_value b = param_from_text(&arena, texts[k]);
            assert_int_equal(param_equal(&a, &b), i == k);
        }
    }
    arena_release(&arena);
}

static void json_values(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *canonical; /* NULL: refused with `message` */
        const char *message;
    } cases[] = {
        {"4", "4", NULL},
        {"\"16Ki\"", "16384", NULL},
        {"\"bf16\"", "bf16", NULL},
        {"\"nt\"", "nt", NULL},
        {"[1, 2.5]", "[1,2.5]", NULL},
        {"true", NULL, "p:1:1: a parameter is a number, a string or a list of numbers, not a boolean"},
        {"null", NULL, "p:1:1: a parameter is a number, a string or a list of numbers, not null"},
        {"[]", NULL, "p:1:1: the list is empty"},
        {"[1, \"x\"]", NULL, "p:1:5: /1: must be a number, not a string"},
        {"\"\"", NULL, "p:1:1: a parameter cannot be empty text"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena arena = {0};
        struct err err = {0};
        const cJSON *json = NULL;
        assert_int_equal(json_parse(&json, "p", cases[i].json, strlen(cases[i].json), &arena, &err), STATUS_OK);
        struct param_value value;
        const enum status status = param_from_json(&value, json, &arena, &err);
        if (cases[i].canonical)
            assert_string_equal(param_text(&arena, &value), cases[i].canonical);
        else
            assert_string_equal(err.text, cases[i].message);
        assert_int_equal(status, cases[i].canonical ? STATUS_OK : ERR_CONFIG);
        arena_release(&arena);
    }
}

static void acceptance(void **state)
{
    (void)state;
    static const struct param_value limits[] = {
        {.kind = PARAM_NUMBER, .number = 1},
        {.kind = PARAM_NUMBER, .number = 4},
    };
    const struct param limited = {.name = "VEC", .value = limits[0], .limits = limits, .limit_count = 2};
    const struct param open = {.name = "n", .value = limits[0]};
    static const struct {
        const char *text;
        const char *limited, *open; /* messages, NULL: accepted */
    } cases[] = {
        {"4", NULL, NULL},
        {"3", "VEC=3 is not among its limits: 1, 4", NULL},
        {"f32", "parameter 'VEC' is a number, but 'f32' is a dtype", "parameter 'n' is a number, but 'f32' is a dtype"},
        {"x", "parameter 'VEC' is a number, but 'x' is text", "parameter 'n' is a number, but 'x' is text"},
        {"[1]", "parameter 'VEC' is a number, but '[1]' is a list", "parameter 'n' is a number, but '[1]' is a list"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct param_value value = param_from_text(&arena, cases[i].text);
        struct err err = {0};
        assert_int_equal(param_accepts(&limited, &value, &err), cases[i].limited ? ERR_CONFIG : STATUS_OK);
        assert_string_equal(err.text, cases[i].limited ? cases[i].limited : "");
        err = (struct err){0};
        assert_int_equal(param_accepts(&open, &value, &err), cases[i].open ? ERR_CONFIG : STATUS_OK);
        assert_string_equal(err.text, cases[i].open ? cases[i].open : "");
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(equality),
        cmocka_unit_test(json_values),
        cmocka_unit_test(acceptance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
