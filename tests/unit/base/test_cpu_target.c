/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/cpu_target.h"

#define V2 "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 "
#define V3 V2 "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave "
#define V4 V3 "avx512f avx512bw avx512cd avx512dq avx512vl "

static void resolves_levels_and_extras(void **state)
{
    static const struct {
        const char *flags, *target;
    } cases[] = {
        {"", "x86-64"},
        {"fpu vme sse2\n", "x86-64"},
        {V2, "x86-64-v2"},
        {"avx avx2 fma", "x86-64"},
        {V2 "avx avx2", "x86-64-v2"},
        {V2 "avx avx2 bmi1 bmi2 f16c fma xsave avx512f", "x86-64-v3,no-lzcnt,no-movbe"},
        {"avx avx2 f16c fma xsave avx512_bf16 avx512f avx512bw avx512cd avx512dq avx512vl abm movbe " V2,
         "x86-64-v4,avx512bf16,no-bmi,no-bmi2"},
        {V3 "avx_vnni", "x86-64-v3,avxvnni"},
        {V3 "avx512f avx512_fp16", "x86-64-v3"},
        {V4, "x86-64-v4"},
        {V4 "avx512_fp16 avx512_bf16\n", "x86-64-v4,avx512bf16,avx512fp16"},
        {"avx512_bf16 avx512_fp16 " V4, "x86-64-v4,avx512bf16,avx512fp16"},
    };
    (void)state;
    if (strcmp(cpu_target_arch(), "x86-64") != 0)
        skip();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct text target = {0};
        cpu_target_resolve(&target, cases[i].flags, "");
        assert_string_equal(target.data, cases[i].target);
        text_release(&target);
    }
}

/* As if the processor had nothing beyond a level; its vector registers with it. */
static void stops_at_a_level(void **state)
{
    static const struct {
        const char *flags, *most, *target;
        unsigned bytes, registers;
    } cases[] = {
        {V4 "avx512_fp16", "", "x86-64-v4,avx512fp16", 64, 32},
        {V4 "avx512_fp16", "x86-64-v4", "x86-64-v4,avx512fp16", 64, 32},
        {V4 "avx512_fp16 avx_vnni", "x86-64-v3", "x86-64-v3,avxvnni", 32, 16},
        {V4, "x86-64", "x86-64", 16, 16},
        {V2, "x86-64-v3", "x86-64-v2", 16, 16},
    };
    (void)state;
    if (strcmp(cpu_target_arch(), "x86-64") != 0)
        skip();
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        struct text target = {0};
        cpu_target_resolve(&target, cases[i].flags, cases[i].most);
        assert_string_equal(target.data, cases[i].target);
        assert_int_equal(cpu_vector_bytes(target.data), cases[i].bytes);
        assert_int_equal(cpu_vector_registers(target.data), cases[i].registers);
        text_release(&target);
    }
    assert_int_equal(cpu_vector_bytes("armv8-a"), 16);
    assert_int_equal(cpu_vector_registers("armv8-a"), 32);
    assert_true(cpu_target_is_level("x86-64-v2"));
    assert_false(cpu_target_is_level("x86-64-v") || cpu_target_is_level("") || cpu_target_is_level("armv8-a"));
}

static void turns_targets_into_flags(void **state)
{
    static const struct {
        const char *target, *flags; /* NULL: an error */
    } cases[] = {
        {"x86-64", "-march=x86-64 "},
        {"x86-64-v3,avxvnni", "-march=x86-64-v3 -mavxvnni "},
        {"x86-64-v4,avx512bf16,avx512fp16", "-march=x86-64-v4 -mavx512bf16 -mavx512fp16 -mprefer-vector-width=512 "},
        {"x86-64-v3,no-lzcnt", "-march=x86-64-v3 -mno-lzcnt "},
        {"armv8-a", "-march=armv8-a "},
        {"", NULL},
        {"native", NULL},
        {"x86-64-v", NULL},
        {"x86-64-v4,", NULL},
        {"x86-64-v4,avx512fp16,-fplugin=x", NULL},
        {"x86-64-v4,avx512fp1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct arena arena = {0};
        struct err err = {0};
        const char **flags = NULL;
        size_t count = 0;
        const enum status status = cpu_target_flags(cases[i].target, &flags, &count, &arena, &err);
        struct text joined = {0};
        for (size_t k = 0; k < count; ++k)
            text_addf(&joined, "%s ", flags[k]);
        assert_int_equal(status, cases[i].flags ? STATUS_OK : ERR_CONFIG);
        if (cases[i].flags)
            assert_string_equal(joined.data, cases[i].flags);
        text_release(&joined);
        arena_release(&arena);
    }
}

static void knows_features_of_levels(void **state)
{
    static const struct {
        const char *target, *feature;
        bool has;
    } cases[] = {
        {"x86-64-v4", "avx512f", true},     {"x86-64-v4", "fma", true},
        {"x86-64-v3", "avx512f", false},    {"x86-64-v3", "fma", true},
        {"x86-64", "fma", false},           {"x86-64-v4,avx512fp16", "avx512fp16", true},
        {"x86-64-v4", "avx512fp16", false}, {"x86-64-v4,avx512fp16", "avx512fp1", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i)
        assert_int_equal(cpu_target_has(cases[i].target, cases[i].feature), cases[i].has);
}

static void this_machine_has_flags(void **state)
{
    struct text target = {0};
    struct arena arena = {0};
    struct err err = {0};
    const char **flags;
    size_t count = 0;
    (void)state;
    cpu_target_detect(&target, "");
    assert_int_equal(cpu_target_flags(target.data, &flags, &count, &arena, &err), STATUS_OK);
    assert_true(count >= 1);
    text_release(&target);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resolves_levels_and_extras), cmocka_unit_test(stops_at_a_level),
        cmocka_unit_test(turns_targets_into_flags),   cmocka_unit_test(knows_features_of_levels),
        cmocka_unit_test(this_machine_has_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
