/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "manifest_text.h"

/* A manifest with the template under test as its only define. */
static const char with_define[] = "{ 'name': 'k', 'summary': 's', 'params': { 'n': 4096, 'half': 0.5, 'dtype': 'f16', "
                                  "'layout': 'nt', 'lens': [1, 2.5, 3] },\n"
                                  "'code': { 'source': 'k.hip', 'symbol': 'k', 'defines': { 'D': 'HERE' } },\n"
                                  "'launch': { 'grid': ['1'], 'block': ['1'] } }";

static const struct device_facts facts = {.wave = 64, .cus = 304, .lds_bytes = 65536};

static enum status parse_define(const struct manifest **manifest, const char *template, struct arena *arena,
                                struct err *err)
{
    return parse_text(manifest, replaced(with_define, "HERE", template, arena), arena, err);
}

static enum status render(char **out, const struct manifest *manifest, struct arena *arena, struct err *err)
{
    struct param_value *values = arena_array(arena, manifest->param_count, sizeof(*values));
    for (size_t i = 0; i < manifest->param_count; i++)
        values[i] = manifest->params[i].value;
    double *slots = arena_array(arena, manifest_slot_count(manifest), sizeof(*slots));
    manifest_slots(slots, manifest, values, &facts, 0);
    return template_render(out, manifest->defines[0].value, manifest, values, slots, arena, err);
}

static void renders(void **state)
{
    (void)state;
    static const struct {
        const char *template, *want;
        unsigned uses; /* bit per parameter: n half dtype layout lens */
    } cases[] = {
        {"", "", 0},
        {"plain", "plain", 0},
        {"{n}", "4096", 1},
        {"a{n}b{half}c", "a4096b0.5c", 3},
        {"{dtype}", "f16", 4},
        {"{ctype(dtype)}", "_Float16", 4},
        {"{ctype(bf16)} *", "__bf16 *", 0},
        {"{bytes(dtype)}", "2", 4},
        {"{bytes(f64)}", "8", 0},
        {"{layout}", "nt", 8},
        {"{lens}", "1,2.5,3", 16},
        {"{{{lens}}}", "{1,2.5,3}", 16},
        {"{sum(lens)}+{max(lens)}+{len(lens)}", "6.5+3+3", 16},
        {"{n*half}", "2048", 3},
        {"{n/3}", "1365.3333333333333", 1},
        {"{dtype == f16 ? 1 : 0}", "1", 4},
        {"{device.wave}", "64", 0},
        {"{ceil_div(n, device.cus)}", "14", 1},
        {"{-n}", "-4096", 1},
        {"}}{{", "}{", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *manifest = NULL;
        char *text = NULL;
        assert_int_equal(parse_define(&manifest, cases[i].template, &arena, &err), STATUS_OK);
        assert_int_equal(render(&text, manifest, &arena, &err), STATUS_OK);
        assert_string_equal(text, cases[i].want);
        assert_string_equal(template_source(manifest->defines[0].value), cases[i].template);
        for (size_t k = 0; k < manifest->param_count - manifest->implied_count; k++) {
            assert_int_equal(template_uses(manifest->defines[0].value, k), cases[i].uses >> k & 1);
            assert_int_equal(manifest_param_is_compiled(manifest, k), cases[i].uses >> k & 1);
        }
        assert_false(template_uses(manifest->defines[0].value, manifest->param_count));
        arena_release(&arena);
    }
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *template, *message;
    } cases[] = {
        {"{n", "'{' is not closed (a brace of its own is written \"{{\")"},
        {"{a{n}", "'{' is not closed (a brace of its own is written \"{{\")"},
        {"n}", "'}' without '{' (a brace of its own is written \"}}\")"},
        {"{}", "in \"{}\": the expression is empty at column 1"},
        {"{m}", "in \"{m}\": unknown name 'm' at column 1; did you mean 'n'?"},
        {"{n + lay}", "in \"{n + lay}\": unknown name 'lay' at column 5; did you mean 'layout'?"},
        {"{layout + 1}", "in \"{layout + 1}\": parameter 'layout' is text without limits: it can stand in templates, "
                         "not in an expression"},
        {"{lens * 2}", "in \"{lens * 2}\": 'lens' at column 1 is a list; use sum, max or len of it"},
        {"{x}", "in \"{x}\": 'x' is the reduced value of a metric and unknown here"},
        {"{i}", "in \"{i}\": unknown name 'i' at column 1; did you mean 'n'?"},
        {"{ctype(n)}", "ctype(n): the parameter is no dtype"},
        {"{ctype(f31)}", "ctype() takes a dtype or a parameter, not 'f31'; known are n, half, dtype, layout, lens"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *manifest = NULL;
        assert_int_equal(parse_define(&manifest, cases[i].template, &arena, &err), ERR_CONFIG);
        assert_string_equal(err.text, arena_printf(&arena, "dir/m.json:2:63: /code/defines/D: %s", cases[i].message));
        assert_null(manifest);
        arena_release(&arena);
    }
}

static void refuses_values(void **state)
{
    (void)state;
    static const struct {
        const char *template, *cause;
    } cases[] = {
        {"{n / (n - 4096)}", "division by zero"},
        {"{bytes(n)}", "bytes(...) is not defined here"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *manifest = NULL;
        char *text = NULL;
        assert_int_equal(parse_define(&manifest, cases[i].template, &arena, &err), STATUS_OK);
        assert_int_equal(render(&text, manifest, &arena, &err), ERR_CONFIG);
        assert_null(text);
        assert_non_null(strstr(err.text, "dir/m.json:2:63: /code/defines/D: k: in \""));
        assert_non_null(strstr(err.text, cases[i].cause));
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renders),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
