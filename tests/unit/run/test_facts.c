/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/run.h"

static void units_of_arithmetic(void **state)
{
    static const struct {
        const char *backend, *arch, *target;
        double f16, bf16_dot, i8_dot;
    } cases[] = {
        {"cpu", "x86-64", "x86-64-v4,avx512bf16,avx512fp16,avx512vnni", 1, 1, 1},
        {"cpu", "x86-64", "x86-64-v4,avx512vnni", 0, 0, 1},
        {"cpu", "x86-64", "x86-64-v3,avxvnni", 0, 0, 0},
        {"cpu", "aarch64", "armv8-a", 0, 0, 0},
        {"hip", "gfx900", "gfx900", 1, 0, 0},
        {"hip", "gfx90a", "gfx90a", 1, 0, 1},
        {"sim", "gfx942", "gfx942", 1, 0, 1},
        {"hip", "gfx950", "gfx950", 1, 1, 1},
        {"hip", "gfx1010", "gfx1010", 1, 0, 0},
        {"hip", "gfx1030", "gfx1030", 1, 0, 1},
        {"hip", "gfx1100", "gfx1100", 1, 1, 1},
        {"hip", "gfx1201", "gfx1201", 1, 1, 1},
        {"cuda", "sm_80", "sm_80", 1, 0, 1},
        {"sim", "sm_90a", "sm_90a", 1, 0, 1},
        {"hip", "", "", 0, 0, 0},
    };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct device_info info = {.wave = 64};
        snprintf(info.backend, sizeof(info.backend), "%s", cases[k].backend);
        snprintf(info.arch, sizeof(info.arch), "%s", cases[k].arch);
        snprintf(info.target, sizeof(info.target), "%s", cases[k].target);
        const struct device_facts facts = run_device_facts(&info);
        if (facts.target.f16 != cases[k].f16 || facts.target.bf16_dot != cases[k].bf16_dot ||
            facts.target.i8_dot != cases[k].i8_dot)
            fail_msg("%s %s: f16 %g, bf16_dot %g, i8_dot %g", cases[k].backend, cases[k].target, facts.target.f16,
                     facts.target.bf16_dot, facts.target.i8_dot);
    }
}

/* A prediction takes the variants of the backend that would run it. */
static void backend_of_a_prediction(void **state)
{
    static const struct {
        const char *backend, *arch, *want;
    } cases[] = {
        {"sim", "gfx942", "hip"}, {"sim", "sm_90a", "cuda"}, {"sim", "x86-64", "sim"}, {"cpu", "x86-64", "cpu"}};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct device_info info = {.wave = 64, .predicted = !strcmp(cases[k].backend, "sim")};
        snprintf(info.backend, sizeof(info.backend), "%s", cases[k].backend);
        snprintf(info.arch, sizeof(info.arch), "%s", cases[k].arch);
        assert_string_equal(run_device_facts(&info).backend, cases[k].want);
    }
}

static void numbers_are_handed_on(void **state)
{
    (void)state;
    const struct device_info info = {.backend = "hip",
                                     .arch = "gfx942",
                                     .wave = 64,
                                     .cus = 304,
                                     .xccs = 8,
                                     .max_block = 1024,
                                     .lds_bytes = 65536,
                                     .memory_bytes = 1ull << 37,
                                     .core_hz = 2.1e9,
                                     .cache_count = 2,
                                     .caches = {{"L1", 32768, 128, 304}, {"L2", 4194304, 128, 8}}};
    const struct device_facts facts = run_device_facts(&info);
    assert_true(facts.wave == 64 && facts.cus == 304 && facts.xccs == 8 && facts.max_block == 1024);
    assert_true(facts.lds_bytes == 65536 && facts.memory_bytes == 0x1p37 && facts.core_hz == 2.1e9);
    assert_true(facts.l2_bytes == 8.0 * 4194304);
    assert_string_equal(facts.backend, "hip");
    assert_string_equal(facts.arch, "gfx942");
}

/* What a workgroup finds in a compute unit, for waves of the device's size. */
static void the_unit(void **state)
{
    static const struct {
        const char *arch;
        uint32_t wave;
        struct device_unit unit;
        bool pairs;
    } cases[] = {
        {"", 64, {8, 1, 1, 0, 0, 0, 0, 4096, 1, 0, 1, 1}, false},
        {"gfx906", 64, {8, 4, 8, 256, 4, 256, 0, 65536, 512, 0, 32, 16}, false},
        {"gfx908", 64, {8, 4, 8, 256, 4, 256, 256, 65536, 512, 0, 32, 16}, false},
        {"gfx942", 64, {8, 4, 8, 512, 8, 256, 256, 65536, 512, 0, 32, 16}, false},
        {"gfx950", 64, {8, 4, 8, 512, 8, 256, 256, 163840, 1280, 0, 32, 16}, false},
        {"gfx1030", 32, {8, 2, 16, 1024, 16, 256, 0, 65536, 512, 0, 32, 16}, true},
        {"gfx1201", 32, {8, 2, 16, 1536, 24, 256, 0, 65536, 512, 0, 32, 16}, true},
        {"gfx1201", 64, {8, 2, 16, 768, 12, 256, 0, 65536, 512, 0, 32, 16}, true},
        {"sm_89", 32, {8, 4, 12, 512, 8, 255, 0, 102400, 128, 1024, 24, 24}, false},
        {"sm_90a", 32, {8, 4, 16, 512, 8, 255, 0, 233472, 128, 1024, 32, 32}, false},
    };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct device_info info = {.backend = "hip", .wave = cases[k].wave, .cus = 8, .lds_bytes = 4096};
        snprintf(info.arch, sizeof(info.arch), "%s", cases[k].arch);
        const struct device_facts facts = run_device_facts(&info);
        assert_memory_equal(&facts.unit, &cases[k].unit, sizeof(facts.unit));
        assert_int_equal(facts.unit_pairs, cases[k].pairs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(units_of_arithmetic), cmocka_unit_test(backend_of_a_prediction),
                                       cmocka_unit_test(numbers_are_handed_on), cmocka_unit_test(the_unit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
