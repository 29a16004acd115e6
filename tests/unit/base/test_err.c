/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/err.h"

static void set_and_within(void **state)
{
    (void)state;
    struct err err = {0};
    assert_int_equal(err_set(&err, ERR_CONFIG, "unknown name '%s' at column %d", "nn", 7), ERR_CONFIG);
    assert_int_equal(err_within(&err, "%s: work.flops", "stream.json"), ERR_CONFIG);
    assert_int_equal(err.status, ERR_CONFIG);
    assert_string_equal(err.text, "stream.json: work.flops: unknown name 'nn' at column 7");
    assert_int_equal(err_set(&err, ERR_IO, "disk full"), ERR_IO);
    assert_string_equal(err.text, "disk full");
}

static void arguments_may_be_its_own_text(void **state)
{
    (void)state;
    struct err err = {0};
    err_set(&err, ERR_BUILD, "first");
    err_set(&err, ERR_DEVICE, "%s, then %s", err.text, err.text);
    assert_string_equal(err.text, "first, then first");
}

static void long_text_is_cut(void **state)
{
    (void)state;
    struct err err = {0};
    char text[sizeof(err.text) + 100];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    err_set(&err, ERR_CONFIG, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_string_equal(err.text + sizeof(err.text) - 5, "x...");
    err_within(&err, "where");
    assert_memory_equal(err.text, "where: xxx", 10);
    assert_string_equal(err.text + sizeof(err.text) - 5, "x...");

    text[sizeof(err.text) - 1] = '\0';
    err_set(&err, ERR_CONFIG, "%s", text);
    assert_string_equal(err.text, text); /* what just fits stays whole */
}

static void cut_keeps_characters_whole(void **state)
{
    (void)state;
    struct err err = {0};
    char text[sizeof(err.text) + 3];
    for (size_t shift = 0; shift < 3; shift++) {
        memset(text, 'x', sizeof(text));
        text[sizeof(text) - 1] = '\0';
        char *last = text + sizeof(err.text) - 4 - shift;
        memcpy(last, "\xE2\x82\xAC", 3); /* the euro sign, around the place of the cut */
        err_set(&err, ERR_CONFIG, "%s", text);
        const char *mark = strstr(err.text, "...");
        assert_non_null(mark);
        assert_int_equal(mark[3], 0);
        assert_int_equal(mark[-1], 'x');
    }
}

static void exit_codes(void **state)
{
    (void)state;
    static const struct {
        enum status status;
        int code;
    } cases[] = {
        {STATUS_OK, 0},   {ERR_USAGE, 2},       {ERR_CONFIG, 2},        {ERR_IO, 3},
        {ERR_BUILD, 3},   {ERR_DEVICE, 3},      {ERR_DEVICE_MEMORY, 3}, {ERR_DEVICE_LOST, 3},
        {ERR_TIMEOUT, 3}, {ERR_UNSUPPORTED, 3}, {ERR_INTERRUPTED, 130},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(err_exit_code(cases[i].status), cases[i].code);
}

static void hints_stand_behind_the_text(void **state)
{
    (void)state;
    static const char *const names[] = {"device", "quick", NULL};
    struct err err = {0};
    err_set(&err, ERR_CONFIG, "unknown option 'devise'");
    assert_int_equal(err_nearest(&err, "devise", names, 3, "there are two"), ERR_CONFIG);
    assert_string_equal(err.text, "unknown option 'devise'; did you mean 'device'?");
    err_set(&err, ERR_USAGE, "unknown option 'zzzzz'");
    assert_int_equal(err_nearest(&err, "zzzzz", names, 3, NULL), ERR_USAGE);
    assert_string_equal(err.text, "unknown option 'zzzzz'");
    err_nearest(&err, "zzzzz", names, 3, "there are two");
    assert_string_equal(err.text, "unknown option 'zzzzz'; there are two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_and_within),   cmocka_unit_test(arguments_may_be_its_own_text),
        cmocka_unit_test(long_text_is_cut), cmocka_unit_test(cut_keeps_characters_whole),
        cmocka_unit_test(exit_codes),       cmocka_unit_test(hints_stand_behind_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
