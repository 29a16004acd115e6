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
    assert_string_equal(facts.backend, "hip");
    assert_string_equal(facts.arch, "gfx942");
}

static void add_level(struct machine *machine, const char *name, double capacity_bytes, double rate)
{
    struct machine_level *level = &machine->levels[machine->level_count++];
    snprintf(level->name, sizeof(level->name), "%s", name);
    level->capacity_bytes = capacity_bytes;
    level->bandwidth.vendor = rate;
}

/* Of each cache what the device tells, else its machine, else one of the same target, else an assumption. */
static void where_capacities_come_from(void **state)
{
    static const struct {
        bool driver, machine, like;
        double caches, cache1, own1, cache2, own2, last;
        const char *assumed;
    } cases[] = {
        {true, true, true, 3, 8 * 32e3, 32e3, 2 * 4e6, 4e6, 256e6, NULL},
        {true, false, false, 1, 2 * 4e6, 4e6, 0, 0, 2 * 4e6, NULL},
        /* 16 KiB for each of eight units, whatever the other has */
        {true, false, true, 3, 8 * 16e3, 16e3, 2 * 4e6, 4e6, 64e6, "L0, MALL as like has, which has the same target"},
        {false, false, true, 3, 8 * 16e3, 16e3, 6e6, 3e6, 64e6, "L0, L2, MALL as like has, which has the same target"},
        {false, true, true, 3, 8 * 32e3, 32e3, 5e6, 2.5e6, 256e6, NULL},
        {false, false, false, 2, 8 * 16384, 16384, 4194304, 4194304, 4194304,
         "L1 of 16 KiB a unit and L2 of 4 MiB, assumed: no machine file of its target tells them"},
    };
    (void)state;
    struct machine machine = {.cus = 8, .xccs = 2, .unit_count = 1},
                   like = {.name = "like", .cus = 4, .xccs = 2, .unit_count = 1};
    add_level(&machine, "L1", 8 * 32e3, 1e13);
    add_level(&machine, "L2", 5e6, 1e13);
    add_level(&machine, "MALL", 256e6, 1e13);
    add_level(&machine, "HBM", 0, 1e12);
    add_level(&like, "L0", 4 * 16e3, 1e13);
    add_level(&like, "L2", 6e6, 1e13);
    add_level(&like, "MALL", 64e6, 1e13);
    add_level(&like, "HBM", 0, 2e12);
    machine.units[0] = (struct machine_unit){.name = "vector_f32", .peak = {.vendor = 1e13}};
    like.units[0] = (struct machine_unit){.name = "matrix_f16", .peak = {.vendor = 1e14}};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct arena arena = {0};
        const struct device_info info = {.backend = "hip",
                                         .arch = "gfx942",
                                         .cus = 8,
                                         .xccs = 2,
                                         .cache_count = cases[k].driver,
                                         .caches = {{"L2", 4000000, 128, 2}}};
        struct device_facts facts = run_device_facts(&info);
        run_facts_know(&facts, &info, cases[k].machine ? &machine : NULL, cases[k].like ? &like : NULL, &arena);
        assert_true(facts.caches == cases[k].caches && facts.last_cache == cases[k].last);
        assert_true(facts.cache1 == cases[k].cache1 && facts.own_cache1 == cases[k].own1);
        assert_true(facts.cache2 == cases[k].cache2 && facts.own_cache2 == cases[k].own2);
        assert_string_equal(facts.assumed ? facts.assumed : "", cases[k].assumed ? cases[k].assumed : "");
        /* peaks: of its units; unknown is no number */
        assert_true(cases[k].machine ? facts.vector_f32 == 1e13 : isnan(facts.vector_f32));
        assert_true(cases[k].like ? facts.matrix_f16 == 2e14 : isnan(facts.matrix_f16));
        assert_true(cases[k].machine ? facts.memory_rate == 1e12
                    : cases[k].like  ? facts.memory_rate == 2e12
                                     : isnan(facts.memory_rate));
        arena_release(&arena);
    }
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
                                       cmocka_unit_test(numbers_are_handed_on),
                                       cmocka_unit_test(where_capacities_come_from), cmocka_unit_test(the_unit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
