/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "manifest_text.h"

/* clang-format off */
static const char tiled[] =
    "{ 'name': 'tiled', 'summary': 'let', 'params': { 'n': 1000, 'dtype': 'f32', 'VEC': 4, 'block': 64, 'unused': 1, "
        "'OP': 'rcp', 'other': 'rcp' },\n"
    "  'limits':  { 'OP': ['exp2', 'rcp'], 'other': ['sqrt', 'rcp'] },\n"
    "  'let':     { '//': 'why', 'bytes_each': 'bytes(dtype)', 'tile': 'block + VEC', 'tiles': 'ceil_div(n, 2 * "
        "tile)' },\n"
    "  'code':    { 'source': 's.hip', 'symbol': 's', 'defines': { 'T': '{ctype(dtype)}', 'TILE': '{tile}', 'BYTES': "
        "'{bytes_each * 2}' } },\n"
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
    double slots[160], value = 0;
    struct param_value values[9];
    struct err err = {0};
    for (size_t k = 0; k < m->param_count; k++)
        values[k] = m->params[k].value;
    manifest_slots(slots, m, values,
                   &(struct device_facts){.wave = 64,
                                          .target = {.matrix_holders = 64,
                                                     .matrix_rows = 1,
                                                     .matrix_k_f16 = 16,
                                                     .matrix_k_fp8_fnuz = 32,
                                                     .matrix_k_sparse_f16 = 64}},
                   0);
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

/* Functions put their arguments in, whatever operators these have; both may use what stands behind them. */
static void functions_are_put_in(void **state)
{
    static const struct {
        const char *lets, *count;
        double value;
    } rows[] = {
        {"'twice(a)': 'a * 2',", "twice(1 + 2)", 6},
        {"'twice(a)': 'a * 2',", "twice (twice(VEC))", 16},
        {"'area(a, b)': 'a * b',", "area(VEC + 1, min(3, 5))", 15},
        {"'wide(a)': 'a + later', 'later': '1 + tile',", "2 * wide(3)", 2 * (3 + 1 + 68)},
        {"'named(tile)': 'tile + VEC',", "named(1)", 5},
        {"", "matrix_k(f16) + matrix_k(e4m3fnuz) + matrix_k(dtype)", 16 + 32},
        {"", "matrix_k_sparse(bf16)", 64},
        {"", "matrix_depth(16, 32, f16)", 16},
        {"", "(OP == rcp) + 2 * (OP == exp2) + 4 * (OP == other) + 8 * (other == sqrt) + 16 * (rcp == f32)", 5},
        {"", "reciprocals(VEC)", 4},
    };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        struct arena arena = {0};
        const char *text = replaced(tiled, "'//': 'why',", rows[k].lets, &arena);
        const struct manifest *m = parse(replaced(text, "tiles * 2", rows[k].count, &arena), &arena);
        const double value = evaluated(m, m->buffers[0].count);
        if (value != rows[k].value)
            fail_msg("row %zu: %g, not %g", k, value, rows[k].value);
        arena_release(&arena);
    }
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
        {"'//'", "'first': 'tiel', '//'", "unknown name 'tiel'"},
        {"'//'", "'first': 'second', 'second': '1 + first', '//'", "stands for itself"},
        {"'//'", "'tile(a)': 'a', '//'", "'tile' is a sub-expression or function already"},
        {"'//'", "'matrix_k': '1', '//'", "'matrix_k' is a sub-expression or function already"},
        {"'//'", "'f(a': '1', '//'", "a function is written \"name(a, b)\""},
        {"'//'", "'f(2)': '1', '//'", "a function is written \"name(a, b)\""},
        {"'//'", "'f(a, b, c, d, e)': '1', '//'", "at most 4 arguments"},
        {"'//'", "'f(a)': 'a + b', '//'", "unknown name 'b'"},
        {"'tiles * 2'", "'matrix_k'", "'matrix_k' is a function: its arguments are missing"},
        {"'tiles * 2'", "'matrix_k(1, 2)'", "matrix_k takes 1 argument, not 2"},
        {"'tiles * 2'", "'matrix_depth(16, 32)'", "matrix_depth takes 3 arguments, not 2"},
        {"'tiles * 2'", "'matrix_k(f16'", "the ')' behind the arguments of matrix_k is missing"},
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
        cmocka_unit_test(functions_are_put_in),
        cmocka_unit_test(is_seen_through),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
