/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "manifest_text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* clang-format off */
static const char tiled[] =
    "{ 'name': 'tiled', 'summary': 'let', 'params': { 'n': 1000, 'dtype': 'f32', 'VEC': 4, 'block': 64, 'unused': 1 },\n"
    "  'let':     { '//': 'why', 'bytes_each': 'bytes(dtype)', 'tile': 'block + VEC', 'tiles': 'ceil_div(n, 2 * tile)' },\n"
    "  'code':    { 'source': 's.hip', 'symbol': 's', 'defines': { 'T': '{ctype(dtype)}', 'TILE': '{tile}', 'BYTES': '{bytes_each * 2}' } },\n"
    "  'buffers': { 'a': { 'type': '{dtype}', 'count': 'tiles * 2', 'role': 'out' } },\n"
    "  'launch':  { 'grid': ['tiles'], 'block': ['block'], 'args': ['a'] },\n"
    "  'work':    { 'write': 'tiles * bytes_each + 1e3' },\n"
    "  'check':   { 'expect': { 'a': 'tile' } } }\n";
/* clang-format on */

static const struct manifest *parse(const char *text, struct arena *arena)
{
    const struct manifest *manifest = NULL;
    struct err err = {0};
    if (parse_text(&manifest, text, arena, &err))
        fail_msg("%s", err.text);
    return manifest;
}

static double evaluated(const struct manifest *m, const struct expr *expr)
{
    double slots[64], value = 0;
    struct param_value values[8];
    struct err err = {0};
    for (size_t k = 0; k < m->param_count; k++)
        values[k] = m->params[k].value;
    manifest_slots(slots, m, values, &(struct device_facts){.wave = 64}, 0);
    assert_int_equal(expr_eval(&value, expr, slots, &err), STATUS_OK);
    return value;
}

/* A sub-expression is one operand wherever it stands, and earlier ones may stand in later ones. */
static void stands_for_its_text(void **state)
{
    struct arena arena = {0};
    const struct manifest *m = parse(tiled, &arena);
    (void)state;
    assert_true(evaluated(m, m->buffers[0].count) == 16); /* 1000 / (2 * (64 + 4)), rounded up, twice */
    assert_true(evaluated(m, m->steps[0].launch.grid[0]) == 8);
    assert_true(evaluated(m, m->write_bytes) == 8 * 4 + 1000); /* 1e3 is a number */
    arena_release(&arena);
}

/* What is compiled in is seen through it: block and VEC are in TILE, dtype in BYTES, n in nothing. */
static void is_seen_through(void **state)
{
    static const struct {
        const char *param;
        bool compiled;
    } rows[] = {{"block", true}, {"VEC", true}, {"dtype", true}, {"n", false}, {"unused", false}};
    struct arena arena = {0};
    const struct manifest *m = parse(tiled, &arena);
    (void)state;
    for (size_t k = 0; k < COUNT_OF(rows); k++)
        assert_int_equal(manifest_param_is_compiled(m, (size_t)manifest_param(m, rows[k].param)), rows[k].compiled);
    arena_release(&arena);
}

static void mistakes(void **state)
{
    static const struct {
        const char *find, *with, *says;
    } rows[] = {
        {"'//'", "'n': '1', '//'", "'n' is a parameter already"},
        {"'//'", "'sum': '1', '//'", "'sum' means something else"},
        {"'//'", "'first': 'tile', '//'", "unknown name 'tile'"},
        {"'tile': 'block + VEC'", "'tile': 'block + '", "in \"block + \""},
        {"'tile': 'block + VEC'", "'tile': 64", "must be an expression (a string)"},
        {"'tile': 'block + VEC'", "'2tile': 'block'", "starts with no digit"},
        {"'tiles * 2'", "'tiles * tilse'", "in \"tiles * tilse\""},
        {"'VEC': 4,", "'VEC': 4, 'tile': 3,", "'tile' is a parameter already"},
    };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *m = NULL;
        const char *wrong = replaced(tiled, rows[k].find, rows[k].with, &arena);
        assert_non_null(wrong);
        assert_int_equal(parse_text(&m, wrong, &arena, &err), ERR_CONFIG);
        if (!strstr(err.text, rows[k].says))
            fail_msg("row %zu: %s", k, err.text);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_for_its_text),
        cmocka_unit_test(is_seen_through),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
