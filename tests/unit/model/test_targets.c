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
    for (size_t k = 0; k < target_count; k++) {
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
        {"gfx1251", {true, false, false, 32}},       {"sm_90a", {true, false, false, 32}},
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

static void knows_facts(void **state)
{
    static const struct {
        const char *target;
        double lanes, layout, f16, bf16, f64, i8, ocp, fnuz, add_f64, declared;
    } rows[] = {
        {"gfx906", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {"gfx908", 64, 2, 16, 8, 0, 16, 0, 0, 0, 0},
        {"gfx90a:xnack-", 64, 2, 16, 16, 4, 16, 0, 0, 1, 0},
        {"gfx942", 64, 2, 16, 16, 4, 32, 0, 32, 1, 0},
        {"gfx950", 64, 2, 32, 32, 4, 64, 128, 0, 1, 0},
        {"gfx1030", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {"gfx1151", 32, 11, 16, 16, 0, 16, 0, 0, 0, 0},
        {"gfx11-generic", 32, 11, 16, 16, 0, 16, 0, 0, 0, 0},
        {"gfx1201", 32, 12, 16, 16, 0, 16, 16, 0, 0, 0},
        {"sm_80", 32, 3, 16, 16, 4, 32, 0, 0, 1, 49152},
        {"sm_90a", 32, 3, 16, 16, 4, 32, 32, 0, 1, 49152},
        {"gfx8", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {"", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        const struct target_facts *f = target_facts(rows[k].target);
        if (f->matrix_lanes != rows[k].lanes || f->matrix_layout != rows[k].layout || f->matrix_k_f16 != rows[k].f16 ||
            f->matrix_k_bf16 != rows[k].bf16 || f->matrix_k_f64 != rows[k].f64 || f->matrix_k_i8 != rows[k].i8 ||
            f->matrix_k_fp8_ocp != rows[k].ocp || f->matrix_k_fp8_fnuz != rows[k].fnuz ||
            f->atomic_add_f64 != rows[k].add_f64 || f->lds_declared != rows[k].declared)
            fail_msg("%s", rows[k].target);
    }
}

/* A target without a row of its own has the facts of its family, but nobody knows what it runs on. */
static void knows_no_occupancy_of_families(void **state)
{
    (void)state;
    assert_non_null(occupancy_limits("gfx1100"));
    assert_null(occupancy_limits("gfx11-generic"));
    assert_null(occupancy_limits("sm_101"));
}

static void the_cpu_plays_layouts(void **state)
{
    size_t count = 0;
    (void)state;
    assert_true(target_cpu_facts(64, &count)->matrix_lanes == 64);
    assert_int_equal(count, 1);
    const struct target_facts *rows = target_cpu_facts(32, &count);
    assert_int_equal(count, 4);
    assert_true(rows[0].matrix_layout == 12 && rows[1].matrix_layout == 11 && rows[2].matrix_layout == 3);
    assert_true(rows[2].matrix_rows == 2 && rows[1].matrix_holders == 16 && rows[0].cpu == 1);
    assert_true(rows[3].matrix_layout == 1250 && rows[3].matrix_k_f16 == 32 && rows[3].matrix_k_mx == 128);
}

static void units_have_their_vendors_name(void **state)
{
    (void)state;
    assert_true(target_is_amd("gfx942") && !target_is_amd("sm_90a") && !target_is_amd("x86-64"));
    assert_string_equal(target_unit_word("gfx942"), "CU");
    assert_string_equal(target_unit_word("sm_90a"), "SM");
    assert_string_equal(target_unit_word("x86-64"), "thread");
}

static void an_added_row_comes_first(void **state)
{
    static const struct target_family added = {{.targets = "gfx942 gfx9999 "}, {.matrix_k_f16 = 7}};
    (void)state;
    target_family_added = &added;
    assert_true(target_facts("gfx942")->matrix_k_f16 == 7 && target_facts("gfx9999")->matrix_k_f16 == 7);
    target_family_added = NULL;
    assert_true(target_facts("gfx942")->matrix_k_f16 == 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_names),
        cmocka_unit_test(knows_families),
        cmocka_unit_test(knows_ptx),
        cmocka_unit_test(checks_modes),
        cmocka_unit_test(knows_facts),
        cmocka_unit_test(knows_no_occupancy_of_families),
        cmocka_unit_test(the_cpu_plays_layouts),
        cmocka_unit_test(units_have_their_vendors_name),
        cmocka_unit_test(an_added_row_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
