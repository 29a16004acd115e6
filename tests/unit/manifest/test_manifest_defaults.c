/* SPDX-License-Identifier: MIT
 *
 * Defaults that ask the device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "manifest_examples.h"
#include "manifest_text.h"

static const struct manifest *asking(struct arena *arena, const char *n, const char *dtype)
{
    const char *text = replaced(triad, "'n': 268435456", arena_printf(arena, "'n': '%s'", n), arena);
    const struct manifest *manifest = NULL;
    struct err err = {0};
    text = replaced(text, "'dtype': 'f32'", arena_printf(arena, "'dtype': '%s'", dtype), arena);
    text = replaced(text, "'code'", "'limits': { 'dtype': ['f32', 'f64'] }, 'code'", arena);
    if (parse_text(&manifest, text, arena, &err))
        fail_msg("%s", err.text);
    return manifest;
}

static const struct param *param_of(const struct manifest *manifest, const char *name)
{
    const int param = manifest_param(manifest, name);
    assert_true(param >= 0);
    return &manifest->params[param];
}

static void a_default_is_the_devices(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct param_value value;
    const struct manifest *manifest = asking(&arena, "{4 * device.wave}", "{device.matrix_size == 16 ? f64 : f32}");
    struct device_facts device = {.wave = 32, .target.matrix_size = 16};
    (void)state;
    assert_int_equal(manifest_default(&value, param_of(manifest, "n"), &device, &err), STATUS_OK);
    assert_true(value.kind == PARAM_NUMBER && value.number == 128);
    assert_int_equal(manifest_default(&value, param_of(manifest, "dtype"), &device, &err), STATUS_OK);
    assert_true(value.kind == PARAM_DTYPE && value.dtype == DTYPE_F64);
    device = (struct device_facts){.wave = 64};
    assert_int_equal(manifest_default(&value, param_of(manifest, "n"), &device, &err), STATUS_OK);
    assert_true(value.number == 256);
    assert_int_equal(manifest_default(&value, param_of(manifest, "dtype"), &device, &err), STATUS_OK);
    assert_true(value.dtype == DTYPE_F32);
    assert_int_equal(manifest_default(&value, param_of(manifest, "block"), &device, &err), STATUS_OK);
    assert_true(value.number == param_of(manifest, "block")->value.number);
    arena_release(&arena);
}

static void a_device_has_none(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct param_value value;
    const struct manifest *manifest = asking(&arena, "{64 / device.matrix_size}", "{device.wave / 1000}");
    const struct device_facts device = {.wave = 64};
    (void)state;
    assert_int_equal(manifest_default(&value, param_of(manifest, "n"), &device, &err), ERR_CONFIG);
    assert_non_null(strstr(err.text, "/params/n: in \"64 / device.matrix_size\": "));
    assert_int_equal(manifest_default(&value, param_of(manifest, "dtype"), &device, &err), ERR_CONFIG);
    assert_non_null(strstr(err.text, "/params/dtype: in \"device.wave / 1000\": 0.064 is no dtype"));
    arena_release(&arena);
}

/* A variant's values ask in the same way; those of a check do not. */
static void a_variant_asks(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct param_value value;
    const struct manifest *manifest = NULL;
    const struct device_facts device = {.vector_bytes = 32};
    const char *asks = "'variants': [ { 'params': { 'VEC': '{device.vector_bytes / 4}' } } ], 'code'";
    (void)state;
    assert_int_equal(parse_text(&manifest, replaced(triad, "'code'", asks, &arena), &arena, &err), STATUS_OK);
    assert_int_equal(manifest_default(&value, &manifest->variants[0].params[0], &device, &err), STATUS_OK);
    assert_true(value.kind == PARAM_NUMBER && value.number == 8);
    asks = "'variants': [ { 'params': { 'VEC': '{VEC / 4}' } } ], 'code'";
    assert_int_equal(parse_text(&manifest, replaced(triad, "'code'", asks, &arena), &arena, &err), ERR_CONFIG);
    assert_non_null(strstr(err.text, "unknown name 'VEC'"));
    asks = "{ 'n': '{device.vector_bytes}' }";
    assert_int_equal(parse_text(&manifest, replaced(triad, "{ 'n': 4099 }", asks, &arena), &arena, &err), ERR_CONFIG);
    arena_release(&arena);
}

static void mistakes(void **state)
{
    static const struct {
        const char *value, *complaint;
    } cases[] = {
        {"'{4 * device.waves}'", "/params/n: in \"4 * device.waves\": unknown name 'device.waves'"},
        {"'{4 * block}'", "/params/n: in \"4 * block\": unknown name 'block'"},
        {"'{}'", "/params/n: in \"\": "},
        {"'{device.wave'", "parameter 'n' is text"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *manifest = NULL;
        const char *text = replaced(triad, "268435456", cases[k].value, &arena);
        assert_int_equal(parse_text(&manifest, text, &arena, &err), ERR_CONFIG);
        if (!strstr(err.text, cases[k].complaint))
            fail_msg("%s: %s", cases[k].value, err.text);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_default_is_the_devices),
        cmocka_unit_test(a_device_has_none),
        cmocka_unit_test(a_variant_asks),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
