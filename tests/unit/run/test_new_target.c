/* SPDX-License-Identifier: MIT
 *
 * A target that nobody knows yet: one row of the table of families and one machine file, and every shipped suite is
 * planned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/file.h"
#include "rooftile/run.h"
#include "rooftile/targets.h"

#define KIB 1024u
static const struct occupancy_words words = {"CU", "workgroup", "wave", "VGPR", "LDS", false};
static const struct target_family made_up = {
    {"gfx1399", .words = &words, .wave = 32, .has_wave64 = true, .has_wgp = true, .simds_cu = 2, .vgpr_file = 2048,
     .vgpr_encoding = 8, .vgpr_granule = 32, .vgprs_max = 256, .waves = 16, .waves_llvm = 16, .lds_cu = 96 * KIB,
     .lds_max = 96 * KIB, .lds_granule = 512, .barriers_cu = 16},
    {.matrix_lanes = 32,
     .matrix_size = 16,
     .matrix_layout = 12,
     .matrix_holders = 32,
     .matrix_rows = 1,
     .matrix_k_f16 = 32,
     .matrix_k_bf16 = 32,
     .matrix_k_fp8_ocp = 32,
     .matrix_k_i8 = 32,
     .f16 = 1,
     .bf16_dot = 1,
     .i8_dot = 1,
     .f16_dot = 1,
     .fp8_ocp = 1,
     .dpp = 1,
     .permlane16 = 1,
     .unaligned_access = 1,
     .named_registers = 1,
     .atomic_add_f32 = 1},
};

/* The machine file of a known model under another name. */
static void read_machine(struct machine *machine, struct arena *arena)
{
    struct err err = {0};
    char *text = NULL;
    size_t length = 0;
    const char *path = "/tmp/rooftile-made-up.json";
    assert_int_equal(file_read(&text, &length, ROOFTILE_SOURCE_DIR "/configs/machines/rx7900xtx.json", FILE_LIMIT_BYTES,
                               arena, &err),
                     STATUS_OK);
    char *arch = strstr(text, "\"gfx1100\"");
    assert_non_null(arch);
    memcpy(arch, "\"gfx1399\"", strlen("\"gfx1399\""));
    assert_int_equal(file_write(path, text, length, &err), STATUS_OK);
    if (machine_read(machine, path, &err))
        fail_msg("%s", err.text);
    remove(path);
}

static struct device_facts facts_of(const struct machine *machine, struct device_info *info)
{
    *info = (struct device_info){.backend = "sim",
                                 .wave = machine->wave,
                                 .cus = machine->cus,
                                 .xccs = 1,
                                 .max_block = machine->max_block,
                                 .lds_bytes = made_up.limits.lds_max,
                                 .memory_bytes = (uint64_t)machine->memory_bytes,
                                 .core_hz = machine->core_hz,
                                 .cooperative = true};
    snprintf(info->arch, sizeof(info->arch), "%s", machine->arch);
    snprintf(info->target, sizeof(info->target), "%s", machine->arch);
    return run_device_facts(info);
}

/* What its row says is what kernels take: no manifest knows its name. Of 2048 registers in granules of 32 eight waves
 * have all 256. */
static const struct {
    const char *kernel, *param;
    double value;
} defaults[] = {
    {"attention_prefill", "M", 16},  {"attention_prefill", "waves", 8},
    {"conv_implicit", "M", 16},      {"gemm_matrix", "M", 16},
    {"gemm_matrix", "WM", 4},        {"gemm_matrix", "simd_waves", 8},
    {"matrix_peak", "ACC", 8},       {"moe_gemm", "M", 16},
    {"occupancy_fma", "block", 128}, {"placement", "block", 128},
};

static void check_defaults(const struct plan *plan)
{
    size_t checked = 0;
    for (size_t c = 0; c < plan->count; c++)
        for (size_t k = 0; k < sizeof(defaults) / sizeof(*defaults); k++) {
            const struct resolved *resolved = &plan->cases[c].resolved;
            if (strcmp(resolved->manifest->name, defaults[k].kernel) != 0)
                continue;
            const int param = manifest_param(resolved->manifest, defaults[k].param);
            assert_true(param >= 0);
            if (plan->cases[c].state != PLAN_READY || resolved->values[param].number != defaults[k].value)
                fail_msg("%s %s: %s", plan->cases[c].id, defaults[k].param, plan->cases[c].reason);
            checked++;
        }
    assert_int_equal(checked, sizeof(defaults) / sizeof(*defaults));
}

static void every_suite_is_planned(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct catalog catalog;
    struct machine machine;
    struct device_info info;
    struct measure_options measure;
    static const char *const kernels[] = {ROOFTILE_SOURCE_DIR "/kernels"};
    static const struct plan_options options = {
        .target_arch = "gfx1399", .target_kind = BUILD_AMD, .wave = 32, .cpu_target = "x86-64", .cpu_wave = 64};
    char **paths = NULL;
    size_t count = 0, on_matrix_units = 0;
    (void)state;
    target_family_added = &made_up;
    read_machine(&machine, &arena);
    struct device_facts facts = facts_of(&machine, &info);
    run_facts_know(&facts, &info, &machine, NULL, &arena);
    assert_true(facts.unit.simd_vgprs == 2048 && facts.target.matrix_k_f16 == 32);
    measure_defaults(&measure);
    assert_int_equal(catalog_read(&catalog, kernels, 1, &arena, &err), STATUS_OK);
    assert_int_equal(file_list(&paths, &count, ROOFTILE_SOURCE_DIR "/configs", ".json", &arena, &err), STATUS_OK);
    for (size_t k = 0; k < count; k++) {
        const struct suite *suite = NULL;
        struct plan *plan = NULL;
        if (strchr(paths[k] + strlen(ROOFTILE_SOURCE_DIR "/configs/"), '/'))
            continue; /* suites are the files at the top */
        if (suite_read(&suite, paths[k], &measure, &arena, &err) ||
            plan_build(&plan, &suite, 1, &catalog, &machine, &facts, &options, &arena, &err))
            fail_msg("%s", err.text);
        for (size_t c = 0; c < plan->count; c++) {
            const struct plan_case *planned = &plan->cases[c];
            if (planned->state == PLAN_INVALID)
                fail_msg("%s: %s", planned->id, planned->reason);
            on_matrix_units += planned->state == PLAN_READY && !strncmp(planned->resolved.work.unit, "matrix_", 7);
        }
    }
    assert_true(on_matrix_units > 50);
    static const char at_defaults[] =
        "{\"name\": \"s\", \"cases\": [{\"kernel\": \"attention_prefill\"}, {\"kernel\": \"conv_implicit\"},"
        " {\"kernel\": \"gemm_matrix\"}, {\"kernel\": \"matrix_peak\"}, {\"kernel\": \"moe_gemm\"},"
        " {\"kernel\": \"occupancy_fma\"}, {\"kernel\": \"placement\"}]}";
    const struct suite *suite = NULL;
    struct plan *plan = NULL;
    if (suite_parse(&suite, "s.json", arena_strdup(&arena, at_defaults), strlen(at_defaults), &measure, &arena, &err) ||
        plan_build(&plan, &suite, 1, &catalog, &machine, &facts, &options, &arena, &err))
        fail_msg("%s", err.text);
    check_defaults(plan);
    target_family_added = NULL;
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_suite_is_planned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
