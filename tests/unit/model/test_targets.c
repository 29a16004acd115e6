/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/targets.h"

static void finds_names(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        unsigned llvm; /* 0: not in the table */
    } cases[] = {
        {"gfx906", 14},  {"gfx942", 17},        {"gfx950", 20}, {"gfx1151", 17}, {"gfx1201", 18},
        {"gfx1250", 22}, {"gfx90a:xnack-", 14}, {"gfx90", 0},   {"gfx9060", 0},  {"", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct target *target = target_find(cases[i].arch);
        assert_int_equal(target ? target->llvm : 0, cases[i].llvm);
    }
    for (size_t k = 0; k < TARGET_COUNT; k++) {
        assert_ptr_equal(target_find(targets[k].arch), &targets[k]);
        assert_true(*targets[k].products);
        assert_true(target_is_nvidia(targets[k].arch) ? targets[k].llvm >= 19 && targets[k].cuda
                                                      : targets[k].llvm >= 14 && !targets[k].cuda);
    }
}

static void knows_families(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        struct target_modes modes; /* wave32 wave64 wgp wave */
    } cases[] = {
        {"gfx906", {false, true, false, 64}},        {"gfx90a", {false, true, false, 64}},
        {"gfx950", {false, true, false, 64}},        {"gfx9-4-generic", {false, true, false, 64}},
        {"gfx942:xnack-", {false, true, false, 64}}, {"gfx1030", {true, true, true, 32}},
        {"gfx1036", {true, true, true, 32}},         {"gfx11-generic", {true, true, true, 32}},
        {"gfx1201", {true, true, true, 32}},         {"gfx1250", {true, false, false, 32}},
        {"gfx1251", {true, false, false, 32}},        {"sm_90a", {true, false, false, 32}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct target_modes modes = target_modes(cases[i].arch);
        assert_int_equal(modes.wave32, cases[i].modes.wave32);
        assert_int_equal(modes.wave64, cases[i].modes.wave64);
        assert_int_equal(modes.wgp, cases[i].modes.wgp);
        assert_int_equal(modes.wave, cases[i].modes.wave);
    }
}

static void knows_ptx(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        unsigned version;
    } cases[] = {
        {"sm_80", 70},  {"sm_86", 71},   {"sm_87", 74},   {"sm_89", 84},   {"sm_90", 84},   {"sm_90a", 84},
        {"sm_100", 86}, {"sm_100a", 86}, {"sm_103a", 88}, {"sm_120a", 87}, {"sm_121a", 88}, {"sm_75", 70},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(target_ptx(cases[i].arch), cases[i].version);
}

static void checks_modes(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        uint32_t wave;
        bool cumode;
        const char *problem; /* NULL: fine */
    } cases[] = {
        {"gfx942", 64, false, NULL},
        {"gfx942", 32, false, "gfx942 has waves of 64 lanes only"},
        {"gfx942", 64, true, "gfx942 has no WGP mode: CU mode is not a choice there"},
        {"gfx1100", 64, true, NULL},
        {"gfx1100", 32, false, NULL},
        {"gfx1100", 16, false, "no device has waves of 16 lanes"},
        {"gfx1250", 64, false, "gfx1250 has waves of 32 lanes only"},
        {"sm_80", 64, false, "sm_80 has waves of 32 lanes only"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct err err = {0};
        const enum status status = target_check_modes(cases[i].arch, cases[i].wave, cases[i].cumode, &err);
        assert_int_equal(status, cases[i].problem ? ERR_UNSUPPORTED : STATUS_OK);
        if (cases[i].problem)
            assert_string_equal(err.text, cases[i].problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_names),
        cmocka_unit_test(knows_families),
        cmocka_unit_test(knows_ptx),
        cmocka_unit_test(checks_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
