/* SPDX-License-Identifier: MIT
 *
 * Matrix instructions against the published table (tests/data/isa/matrix_instructions.json).
 */
#include "isa_program.h"

#include "rooftile/json.h"

#define ROWS 128u

static const struct {
    const char *arch, *target;
} targets[] = {
    {"gfx908", "gfx908"}, {"gfx90a", "gfx90a"}, {"gfx942", "gfx942"},
    {"gfx950", "gfx950"}, {"gfx11", "gfx1100"}, {"gfx12", "gfx1201"},
};

static struct isa_instruction instruction(const char *target, const char *line, struct arena *arena)
{
    const char *source = arena_printf(arena, "%s\ns_endpgm", line);
    return program_kernel(target, source, (struct codeobj_kernel){0}, arena)->instructions[0];
}

static const char *text_of(const cJSON *row, const char *key)
{
    const cJSON *value = json_member(row, key);
    assert_non_null(value);
    return value->valuestring;
}

static uint64_t number_of(const cJSON *row, const char *key)
{
    const cJSON *value = json_member(row, key);
    assert_non_null(value);
    return (uint64_t)value->valuedouble;
}

/* "v_mfma_f32_16x16x128_f8f6f4 (A and B fp4/fp6)" as a line: the formats are modifiers. */
static const char *line_of(const char *name, struct arena *arena)
{
    const char *plain = arena_strndup(arena, name, strcspn(name, " "));
    const char *formats = strstr(name, "(A and B") ? " cbsz:4 blgp:2" : strstr(name, "(either") ? " blgp:4" : "";
    return arena_printf(arena, "%s v[0:3], v[4:7], v[8:11], v[0:3]%s", plain, formats);
}

static void test_table(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    const cJSON *root = NULL;
    const char *path = ROOFTILE_SOURCE_DIR "/tests/data/isa/matrix_instructions.json";
    assert_int_equal(json_read(&root, path, &arena, &err), STATUS_OK);
    assert_int_equal(json_count(root), ROWS);
    for (const cJSON *row = root->child; row; row = row->next) {
        const char *name = text_of(row, "inst"), *target = NULL;
        for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
            if (strcmp(targets[i].arch, text_of(row, "arch")) == 0)
                target = targets[i].target;
        assert_non_null(target);
        const struct isa_instruction in = instruction(target, line_of(name, &arena), &arena);
        /* Sparse rows state K of the dense product, so that one rule holds for all. */
        const uint64_t ops =
            2 * number_of(row, "m") * number_of(row, "n") * number_of(row, "k") * number_of(row, "blocks");
        if (in.kind != ISA_MATRIX || in.matrix_ops != ops || in.matrix_ops != number_of(row, "ops") ||
            in.matrix_cycles != number_of(row, "cycles"))
            fail_msg("%s %s: kind %s, %u operations, %u cycles", target, name, isa_kinds[in.kind].name, in.matrix_ops,
                     in.matrix_cycles);
        assert_true(in.is_integer == (strstr(name, "_i32_") != NULL));
        assert_int_equal(in.flops + in.ops, 0);
    }
    arena_release(&arena);
}

/* Other spellings, relatives, and what is not in the table: operations from the shape in the name, cycles unknown. */
static const struct {
    const char *target, *line;
    uint32_t ops, cycles;
} others[] = {
    {"gfx942", "v_mfma_f32_16x16x16f16 v[0:3], v[4:5], v[6:7], v[0:3]", 8192, 16},
    {"gfx90a", "v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[6:7], a[0:3]", 8192, 32},
    {"gfx942", "v_mfma_f32_32x32x1f32 a[0:31], v4, v5, a[0:31]", 4096, 64},
    {"gfx942", "v_mfma_f32_32x32x8bf16_1k v[0:15], v[16:17], v[18:19], v[0:15]", 16384, 32},
    {"gfx942", "v_mfma_f32_32x32x4bf16_1k v[0:31], v[32:33], v[34:35], v[0:31]", 16384, 64},
    {"gfx90a", "v_mfma_f32_32x32x4bf16 v[0:15], v16, v17, v[0:15]", 8192, 64},
    {"gfx90a", "v_mfma_f32_32x32x4bf16_1k v[0:31], v[32:33], v[34:35], v[0:31]", 16384, 64},
    {"gfx940", "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", 8192, 16},
    {"gfx9-4-generic", "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", 8192, 16},
    {"gfx950", "v_mfma_f32_32x32x4_2b_f16 v[0:31], v[32:33], v[34:35], v[0:31]", 16384, 64},
    {"gfx950", "v_mfma_f64_4x4x4_4b_f64 v[0:1], v[2:3], v[4:5], v[0:1]", 512, 0},
    {"gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21", 65536, 32},
    {"gfx950", "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:21], v[22:27], v[0:15] cbsz:2 blgp:3", 131072, 32},
    {"gfx1151", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", 8192, 32},
    {"gfx1201", "v_wmma_f32_16x16x16_bf8_fp8 v[0:7], v[8:9], v[10:11], v[0:7]", 8192, 8},
    {"gfx1200", "v_swmmac_f32_16x16x32_bf16 v[0:7], v[8:11], v[12:19], v20", 16384, 0},
    {"gfx1250", "v_wmma_f32_16x16x64_fp8_fp8 v[0:7], v[8:15], v[16:23], v[0:7]", 32768, 0},
    {"gfx1250", "v_wmma_future v[0:7], v[8:15], v[16:23], v[0:7]", 0, 0},
};

static void test_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        struct arena arena = {0};
        const struct isa_instruction in = instruction(others[i].target, others[i].line, &arena);
        if (in.matrix_ops != others[i].ops || in.matrix_cycles != others[i].cycles)
            fail_msg("%s %s: %u operations, %u cycles", others[i].target, others[i].line, in.matrix_ops,
                     in.matrix_cycles);
        const struct isa_kernel *kernel = program_kernel(
            others[i].target, arena_printf(&arena, "%s\ns_endpgm", others[i].line), (struct codeobj_kernel){0}, &arena);
        assert_int_equal(kernel->mix.matrix_unknown, others[i].cycles == 0);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
