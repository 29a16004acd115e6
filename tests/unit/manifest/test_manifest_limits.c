/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "manifest_examples.h"
#include "manifest_text.h"

/* As many arguments and events as allowed, and one more. */
static void limits(void **state)
{
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        struct arena arena = {0};
        const struct manifest *manifest = NULL;
        struct err err = {0};
        const char *args = "{ 'value': 1, 'type': 'i32' }";
        for (int i = 1; i < MANIFEST_MAX_ARGS + extra; i++)
            args = arena_printf(&arena, "%s, { 'value': 1, 'type': 'i32' }", args);
        const char *events = "{ 'record': 'm' }";
        for (int i = 1; i < MANIFEST_MAX_EVENTS + extra; i++)
            events = arena_printf(&arena, "%s, { 'record': 'm%d' }", events, i);
        const char *many =
            replaced(foreign, "'block': [64]", arena_printf(&arena, "'block': [64], 'args': [%s]", args), &arena);
        assert_int_equal(parse_text(&manifest, many, &arena, &err), extra ? ERR_CONFIG : STATUS_OK);
        assert_int_equal(!!strstr(err.text, "/launch/args: 1025 arguments, more than the 1024 a launch can have"),
                         extra);
        err = (struct err){0};
        many = replaced(foreign, "'launch'", arena_printf(&arena, "'setup': [%s], 'launch'", events), &arena);
        assert_int_equal(parse_text(&manifest, many, &arena, &err), extra ? ERR_CONFIG : STATUS_OK);
        assert_int_equal(!!strstr(err.text, "/setup/32/record: more than 32 events"), extra);
        arena_release(&arena);
    }
}

static void places(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    const struct manifest *manifest = NULL;
    const char *wrong = replaced(triad, "'role': 'out'", "'role': 'outt'", &arena);
    assert_int_equal(parse_text(&manifest, wrong, &arena, &err), ERR_CONFIG);
    assert_string_equal(err.text, "dir/m.json:4:64: /buffers/a/role: unknown role 'outt'; did you mean 'out'?");
    wrong = replaced(triad, "'c': {", "'//': 'comments are fine', 'c': {", &arena);
    assert_int_equal(parse_text(&manifest, wrong, &arena, &err), STATUS_OK);
    assert_int_equal(manifest->buffer_count, 3);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
