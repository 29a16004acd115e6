/* SPDX-License-Identifier: MIT
 *
 * Real disassemblies against counts that were made without this code.
 */
#include "isa_program.h"

#include <math.h>
#include <stdio.h>

#include "codeobj_image.h"
#include "isa_kernels.h"
#include "rooftile/file.h"

static void read_kernel(struct isa *isa, const struct counted_kernel *expected, struct arena *arena)
{
    struct err err = {0};
    char *text = NULL;
    size_t length = 0;
    const char *path =
        arena_printf(arena, "%s/tests/data/isa/%s_%s.txt", ROOFTILE_SOURCE_DIR, expected->target, expected->name);
    assert_int_equal(file_read(&text, &length, path, FILE_LIMIT_BYTES, arena, &err), STATUS_OK);
    struct codeobj_kernel symbol = {
        .name = expected->name, .code_address = expected->address, .code_bytes = expected->size};
    symbol.private_segment_bytes = (uint32_t)expected->whole.scratch.in;
    assert_int_equal(isa_parse(isa, &(struct codeobj){.target = expected->target}, text, &symbol, 1, arena, &err),
                     STATUS_OK);
}

static void assert_mix(const struct isa_mix *mix, const struct counted *expected)
{
    assert_int_equal(mix->instructions, expected->instructions);
    for (unsigned kind = 0; kind < ISA_KINDS; kind++)
        if (mix->count[kind] != expected->count[kind])
            fail_msg("%s: %llu, expected %llu", isa_kinds[kind].name, (unsigned long long)mix->count[kind],
                     (unsigned long long)expected->count[kind]);
    assert_int_equal(mix->operations, expected->instructions + expected->count[ISA_DUAL]);
    assert_int_equal(mix->flops, expected->flops);
    assert_int_equal(mix->matrix_flops, expected->matrix_flops);
    assert_int_equal(mix->traffic[ISA_GLOBAL].load_bytes, expected->global.in);
    assert_int_equal(mix->traffic[ISA_GLOBAL].store_bytes, expected->global.out);
    assert_int_equal(mix->traffic[ISA_LDS].load_bytes, expected->lds.in);
    assert_int_equal(mix->traffic[ISA_LDS].store_bytes, expected->lds.out);
    assert_int_equal(mix->traffic[ISA_SCRATCH].load_bytes, expected->scratch.in);
    assert_int_equal(mix->traffic[ISA_SCRATCH].store_bytes, expected->scratch.out);
}

static void test_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(counted_kernels) / sizeof(*counted_kernels); i++) {
        const struct counted_kernel *expected = &counted_kernels[i];
        struct arena arena = {0};
        struct isa isa = {0};
        read_kernel(&isa, expected, &arena);
        const struct isa_kernel *kernel = &isa.kernels[0];
        printf("%s %s\n", expected->target, expected->name);
        assert_int_equal(kernel->code.wave, expected->wave);
        assert_mix(&kernel->mix, &expected->whole);
        assert_int_equal(kernel->loop_count, expected->loop_count);
        for (size_t l = 0; l < expected->loop_count; l++) {
            assert_int_equal(kernel->loops[l].first_address, expected->loops[l].first);
            assert_int_equal(kernel->loops[l].last_address, expected->loops[l].last);
            assert_int_equal(kernel->loops[l].depth, expected->loops[l].depth);
            assert_mix(&kernel->loops[l].own, &expected->loops[l].own);
        }
        assert_string_equal(program_codes(kernel, &arena), expected->findings);
        arena_release(&arena);
    }
}

/* The inclusive sum of a loop is its own and that of the loops right inside it, and no kind is lost. */
static void test_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(counted_kernels) / sizeof(*counted_kernels); i++) {
        struct arena arena = {0};
        struct isa isa = {0};
        read_kernel(&isa, &counted_kernels[i], &arena);
        const struct isa_kernel *kernel = &isa.kernels[0];
        uint64_t sum = 0;
        for (unsigned kind = 0; kind < ISA_KINDS; kind++)
            sum += kernel->mix.count[kind];
        assert_int_equal(sum, kernel->mix.instructions);
        for (size_t l = 0; l < kernel->loop_count; l++) {
            uint64_t flops = kernel->loops[l].own.flops, instructions = kernel->loops[l].own.instructions;
            for (size_t inner = 0; inner < kernel->loop_count; inner++) {
                flops += kernel->loops[inner].parent == l ? kernel->loops[inner].inclusive.flops : 0;
                instructions += kernel->loops[inner].parent == l ? kernel->loops[inner].inclusive.instructions : 0;
            }
            assert_int_equal(kernel->loops[l].inclusive.flops, flops);
            assert_int_equal(kernel->loops[l].inclusive.instructions, instructions);
        }
        arena_release(&arena);
    }
}

static void test_intensity(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct isa_kernel *kernel = program_kernel("gfx942",
                                                     "global_load_dwordx4 v[0:3], v[4:5], off\n"
                                                     "v_fma_f32 v0, v1, v2, v3\n"
                                                     "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\n"
                                                     "v_add_u32_e32 v0, v1, v2\n"
                                                     "v_mfma_i32_16x16x32_i8 v[0:3], v[4:5], v[6:7], v[0:3]\n"
                                                     "global_atomic_add_f32 v0, v1, s[0:1]\n"
                                                     "s_endpgm",
                                                     (struct codeobj_kernel){0}, &arena);
    assert_true(isa_flops_per_wave(&kernel->mix, 64) == 2 * 64 + 8192);
    assert_true(isa_ops_per_wave(&kernel->mix, 64) == 64 + 16384);
    assert_true(isa_global_bytes_per_wave(&kernel->mix, 64) == 20 * 64);
    assert_true(isa_intensity(&kernel->mix, 64) == (2 * 64 + 8192) / (20 * 64.0));
    assert_int_equal(kernel->mix.matrix_cycles, 32);
    kernel = program_kernel("gfx942", "v_fma_f32 v0, v1, v2, v3\ns_endpgm", (struct codeobj_kernel){0}, &arena);
    assert_true(isinf(isa_intensity(&kernel->mix, 64)));
    kernel = program_kernel("gfx942", "s_endpgm", (struct codeobj_kernel){0}, &arena);
    assert_true(isnan(isa_intensity(&kernel->mix, 64)));
    arena_release(&arena);
}

/* Lines of other forms are passed over, unknown words counted, padding skipped. */
static void test_text(void **state)
{
    (void)state;
    static const char text[] =
        "x: file format elf64-amdgpu\r\n\n0000000000001000 <k>:\n"
        "; a comment // 000000001000: BF800000\n"
        "\tv_mov_b32_e32 v0, 0 // 000000001000: 7E000280\n"
        "\t.long 0x12345678 // 000000001004: 12345678\n"
        "\ts_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)// 000000001008: BF870091\n"
        "\tv_dual_mov_b32 v5, v3 :: v_dual_fmac_f32 v4, s8, v2 // 00000000100C: CA200103 05040408\n"
        "\tv_mov_b32_e32 v9, 9 // zzz\n"
        "\ts_endpgm // 000000001014: BF810000\n"
        "\ts_nop 0 // 000000001018: BF800000\n"
        "\ts_code_end // 00000000101C: BF9F0000";
    struct arena arena = {0};
    struct isa isa = {0};
    struct err err = {0};
    const struct codeobj_kernel symbols[] = {{.name = "k", .code_address = 0x1000, .code_bytes = 0x20},
                                             {.name = "same", .code_address = 0x1000, .code_bytes = 0x20}};
    assert_int_equal(isa_parse(&isa, &(struct codeobj){.target = "gfx1100:sramecc+"}, text, symbols, 2, &arena, &err),
                     STATUS_OK);
    const struct isa_kernel *kernel = &isa.kernels[0];
    assert_int_equal(kernel->instruction_count, 4);
    assert_int_equal(isa.kernels[1].instruction_count, 4);
    assert_int_equal(kernel->unknown, 1);
    assert_int_equal(kernel->mix.code_bytes, 4 + 4 + 8 + 4);
    assert_string_equal(kernel->instructions[2].mnemonic, "v_dual_mov_b32");
    assert_string_equal(kernel->instructions[2].operands, "v5, v3");
    assert_string_equal(kernel->instructions[2].dual->mnemonic, "v_dual_fmac_f32");
    assert_string_equal(kernel->instructions[2].dual->operands, "v4, s8, v2");
    assert_null(kernel->instructions[1].dual);
    assert_int_equal(kernel->instructions[2].flops, 2);

    const struct codeobj_kernel missing = {.name = "gone", .code_address = 0x2000, .code_bytes = 0x20};
    assert_int_equal(isa_parse(&isa, &(struct codeobj){.target = "gfx1100"}, text, &missing, 1, &arena, &err),
                     ERR_CONFIG);
    assert_string_equal(err.text, "gone: the disassembly has no instruction at 0x2000");
    arena_release(&arena);
}

static void test_print(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct text out = {0};
    const struct isa_kernel *kernel = program_kernel("gfx1100",
                                                     "s_mov_b32 s0, 0\n"
                                                     "global_load_b128 v[0:3], v[4:5], off\n"
                                                     "v_dual_fmac_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4\n"
                                                     "s_cbranch_scc1 @1\n"
                                                     "s_endpgm",
                                                     (struct codeobj_kernel){0}, &arena);
    isa_print(&out, kernel);
    assert_string_equal(
        out.data,
        "k: 5 instructions, 2 flop/lane, memory 16 B/lane in 0 B/lane out\n"
        "      1000 scalar                                  s_mov_b32 s0, 0\n"
        "                                                   ; loop 1 { 3 instructions, 2 flop/lane, memory 16 B/lane "
        "in 0 B/lane out\n"
        "      1004 load           16 B                       global_load_b128 v[0:3], v[4:5], off\n"
        "      1008 dual issue     2 flop                     v_dual_fmac_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4\n"
        "      100c branch                                    s_cbranch_scc1 -> 1004\n"
        "                                                   ; } loop 1\n"
        "      1010 other                                   s_endpgm\n");
    text_release(&out);
    arena_release(&arena);
}

static void test_operands(void **state)
{
    static const char source[] = "v_dual_fmac_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4\n"
                                 "global_store_dwordx4 v[4:5], a[8:11], s[2:3] offset:16\n"
                                 "s_mov_b32 s0, s1\ns_endpgm";
    (void)state;
    struct arena arena = {0};
    const struct isa_instruction *in =
        program_kernel("gfx1100", source, (struct codeobj_kernel){0}, &arena)->instructions;
    assert_int_equal(in[0].operand_count, 3);
    assert_int_equal(in[0].destinations, 1);
    assert_true(in[0].reads_destination);
    assert_int_equal(in[0].dual->operand[0].first, 3);
    assert_int_equal(in[0].dual->operand[1].first, 4);
    assert_false(in[0].dual->reads_destination);
    assert_null(in[1].dual);
    assert_int_equal(in[1].destinations, 0);
    assert_int_equal(in[1].operand[1].kind, OPERAND_VECTOR);
    assert_int_equal(in[1].operand[1].first, ISA_ACC_BASE + 8);
    assert_int_equal(in[1].operand[1].count, 4);
    assert_int_equal(in[1].operand[2].kind, OPERAND_SCALAR);
    assert_int_equal(in[1].access->offset, 16);
    assert_int_equal(isa_modifier(&in[1], "offset"), 16);
    assert_int_equal(isa_modifier(&in[1], "off"), 0);
    assert_int_equal(in[2].operand[0].kind, OPERAND_SCALAR);
    arena_release(&arena);
}

/* A table of DWARF 4 by hand: src/a.hip, line 5 at 0x1000 and 6 at 0x1004, then line 7 of a file whose name is no
 * text; it ends at 0x1010. */
static const char line_table[] =
    "\106\000\000\000\004\000\051\000\000\000\001\001\001\373\016\015\000\001\001\001\001\000\000\000"
    "\001\000\000\001\163\162\143\000\000\141\056\150\151\160\000\001\000\000\142\377\056\150\000\000"
    "\000\000\000\000\011\002\000\020\000\000\000\000\000\000\003\004\001\113\004\002\113\002\010\000"
    "\001\001";

static void test_lines(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct codeobj_file *file = NULL;
    size_t size = 0;
    const void *image = image_lines(&size, line_table, sizeof(line_table) - 1, &arena);
    struct isa_instruction in[] = {
        {.address = 0xff8}, {.address = 0x1000}, {.address = 0x1004}, {.address = 0x1008}, {.address = 0x1010}};
    struct isa_kernel kernel = {
        .code = {.code_address = 0x1000}, .instructions = in, .instruction_count = COUNT_OF(in)};
    struct isa isa = {.kernels = &kernel, .kernel_count = 1};
    (void)state;
    assert_int_equal(codeobj_parse(&file, "lines.co", image, size, &arena, &err), STATUS_OK);
    isa_lines_read(&isa, &file->objects[0], &arena);
    assert_null(isa.lines_problem);
    assert_string_equal(kernel.file, "src/a.hip");
    assert_null(in[0].file);
    assert_string_equal(in[1].file, "src/a.hip");
    assert_int_equal(in[1].line, 5);
    assert_int_equal(in[2].line, 6);
    assert_string_equal(in[3].file, "b?.h");
    assert_int_equal(in[3].line, 7);
    assert_null(in[4].file);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counted), cmocka_unit_test(test_sums),  cmocka_unit_test(test_intensity),
        cmocka_unit_test(test_text),    cmocka_unit_test(test_print), cmocka_unit_test(test_operands),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
