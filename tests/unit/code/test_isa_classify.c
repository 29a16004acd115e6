/* SPDX-License-Identifier: MIT
 *
 * What each instruction is, moves and computes.
 */
#include <math.h>

#include "isa_program.h"
#include "rooftile/file.h"

static const struct {
    const char *line;
    enum isa_kind kind;
    enum isa_space space;
    uint32_t bytes, flops, ops;
} cases[] = {
    /* vector ALU: adds and products 1, fused 2 */
    {"v_add_f32_e32 v0, v1, v2", ISA_VECTOR, ISA_NO_SPACE, 0, 1, 0},
    {"v_mul_f16_e32 v0, v1, v2", ISA_VECTOR, ISA_NO_SPACE, 0, 1, 0},
    {"v_fma_f32 v0, v1, v2, v3", ISA_VECTOR, ISA_NO_SPACE, 0, 2, 0},
    {"v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", ISA_VECTOR, ISA_NO_SPACE, 0, 2, 0},
    {"v_fmac_f32_e32 v0, v1, v2", ISA_VECTOR, ISA_NO_SPACE, 0, 2, 0},
    {"v_fmac_f32_dpp v0, v1, v2 row_shr:1", ISA_VECTOR, ISA_NO_SPACE, 0, 2, 0},
    {"v_fmaak_f32 v0, v1, v2, 0x40", ISA_VECTOR, ISA_NO_SPACE, 0, 2, 0},
    {"v_mac_f32_e32 v0, v1, v2", ISA_VECTOR, ISA_NO_SPACE, 0, 2, 0},
    {"v_mad_f32 v0, v1, v2, v3", ISA_VECTOR, ISA_NO_SPACE, 0, 2, 0},
    {"v_mad_mix_f32 v0, v1, v2, v3", ISA_VECTOR, ISA_NO_SPACE, 0, 2, 0},
    {"v_fma_mixlo_f16 v0, v1, v2, v3", ISA_VECTOR, ISA_NO_SPACE, 0, 2, 0},
    {"v_div_fmas_f32 v0, v1, v2, v3", ISA_VECTOR, ISA_NO_SPACE, 0, 2, 0},
    {"v_div_scale_f32 v0, vcc, v1, v2, v3", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 0},
    {"v_max_f32_e32 v0, v1, v2", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 0},
    {"v_cmp_lt_f32_e32 vcc, v0, v1", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 0},
    {"v_cndmask_b32_e32 v0, v1, v2, vcc", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 0},
    {"v_mov_b32_e32 v0, v1", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 0},
    {"v_accvgpr_read_b32 v0, a1", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 0},
    /* integers */
    {"v_add_u32_e32 v0, v1, v2", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 1},
    {"v_add_nc_u32_e32 v0, v1, v2", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 1},
    {"v_add_co_ci_u32_e64 v0, s0, v1, v2, s0", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 1},
    {"v_addc_co_u32_e32 v0, vcc, v1, v2, vcc", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 1},
    {"v_mul_lo_u32 v0, v1, v2", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 1},
    {"v_mad_u64_u32 v[0:1], s[0:1], v2, v3, v[4:5]", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 2},
    {"v_lshl_add_u64 v[6:7], v[2:3], 2, s[2:3]", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 2},
    {"v_lshlrev_b32_e32 v0, 2, v0", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 1},
    {"v_and_or_b32 v0, v1, v2, v3", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 2},
    {"v_add3_u32 v0, v1, v2, v3", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 2},
    {"v_and_b32_e32 v0, 0xff, v1", ISA_VECTOR, ISA_NO_SPACE, 0, 0, 1},
    /* packed and dual */
    {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", ISA_PACKED, ISA_NO_SPACE, 0, 4, 0},
    {"v_pk_fma_f16 v0, v1, v2, v3", ISA_PACKED, ISA_NO_SPACE, 0, 4, 0},
    {"v_pk_add_f32 v[0:1], v[2:3], v[4:5]", ISA_PACKED, ISA_NO_SPACE, 0, 2, 0},
    {"v_pk_mul_f16 v0, v1, v2", ISA_PACKED, ISA_NO_SPACE, 0, 2, 0},
    {"v_pk_mov_b32 v[0:1], v[2:3], v[4:5]", ISA_PACKED, ISA_NO_SPACE, 0, 0, 0},
    {"v_pk_add_u16 v0, v1, v2", ISA_PACKED, ISA_NO_SPACE, 0, 0, 2},
    {"v_dot2_f32_f16 v0, v1, v2, v3", ISA_PACKED, ISA_NO_SPACE, 0, 4, 0},
    {"v_dot2c_f32_f16_e32 v0, v1, v2", ISA_PACKED, ISA_NO_SPACE, 0, 4, 0},
    {"v_dot2_i32_i16 v0, v1, v2, v3", ISA_PACKED, ISA_NO_SPACE, 0, 0, 4},
    {"v_dot4_i32_i8 v0, v1, v2, v3", ISA_PACKED, ISA_NO_SPACE, 0, 0, 8},
    {"v_dot4_i32_iu8 v0, v1, v2, v3 neg_lo:[1,1,0]", ISA_PACKED, ISA_NO_SPACE, 0, 0, 8},
    {"v_dot4_f32_fp8_bf8 v0, v1, v2, v3", ISA_PACKED, ISA_NO_SPACE, 0, 8, 0},
    {"v_dot8_i32_i4 v0, v1, v2, v3", ISA_PACKED, ISA_NO_SPACE, 0, 0, 16},
    {"v_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5", ISA_DUAL, ISA_NO_SPACE, 0, 4, 0},
    {"v_dual_mul_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4", ISA_DUAL, ISA_NO_SPACE, 0, 1, 0},
    {"v_dual_mov_b32 v5, v3 :: v_dual_add_nc_u32 v4, s8, v2", ISA_DUAL, ISA_NO_SPACE, 0, 0, 1},
    {"v_dual_dot2acc_f32_f16 v0, v1, v2 :: v_dual_add_f32 v3, v4, v5", ISA_DUAL, ISA_NO_SPACE, 0, 5, 0},
    /* slow ones */
    {"v_exp_f32_e32 v0, v1", ISA_TRANSCENDENTAL, ISA_NO_SPACE, 0, 1, 0},
    {"v_rcp_f16_e32 v0, v1", ISA_TRANSCENDENTAL, ISA_NO_SPACE, 0, 1, 0},
    {"v_rsq_f64_e32 v[0:1], v[2:3]", ISA_TRANSCENDENTAL, ISA_NO_SPACE, 0, 1, 0},
    {"v_rcp_iflag_f32_e32 v0, v1", ISA_TRANSCENDENTAL, ISA_NO_SPACE, 0, 1, 0},
    {"v_s_exp_f32 s0, s1", ISA_TRANSCENDENTAL, ISA_NO_SPACE, 0, 0, 0},
    {"v_cvt_f32_f16_e32 v0, v1", ISA_CONVERSION, ISA_NO_SPACE, 0, 0, 0},
    {"v_cvt_pk_fp8_f32 v0, v1, v2", ISA_CONVERSION, ISA_NO_SPACE, 0, 0, 0},
    {"v_cvt_f32_ubyte0_e32 v0, v1", ISA_CONVERSION, ISA_NO_SPACE, 0, 0, 0},
    /* across lanes */
    {"v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf", ISA_CROSS_LANE, ISA_NO_SPACE, 0, 0, 0},
    {"v_readfirstlane_b32 s0, v1", ISA_CROSS_LANE, ISA_NO_SPACE, 0, 0, 0},
    {"v_permlane32_swap_b32 v0, v1", ISA_CROSS_LANE, ISA_NO_SPACE, 0, 0, 0},
    {"ds_bpermute_b32 v0, v1, v2", ISA_CROSS_LANE, ISA_NO_SPACE, 0, 0, 0},
    {"ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,1)", ISA_CROSS_LANE, ISA_NO_SPACE, 0, 0, 0},
    /* scalar */
    {"s_add_u32 s0, s1, s2", ISA_SCALAR, ISA_NO_SPACE, 0, 0, 0},
    {"s_fmac_f32 s0, s1, s2", ISA_SCALAR, ISA_NO_SPACE, 0, 0, 0},
    {"s_and_saveexec_b64 s[8:9], vcc", ISA_SCALAR, ISA_NO_SPACE, 0, 0, 0},
    {"s_load_dword s0, s[0:1], 0x0", ISA_SCALAR_MEMORY, ISA_CONSTANT, 4, 0, 0},
    {"s_load_dwordx16 s[0:15], s[0:1], 0x0", ISA_SCALAR_MEMORY, ISA_CONSTANT, 64, 0, 0},
    {"s_load_b96 s[0:2], s[4:5], 0x0", ISA_SCALAR_MEMORY, ISA_CONSTANT, 12, 0, 0},
    {"s_buffer_load_b128 s[0:3], s[4:7], 0x0", ISA_SCALAR_MEMORY, ISA_CONSTANT, 16, 0, 0},
    {"s_load_u8 s0, s[0:1], 0x0", ISA_SCALAR_MEMORY, ISA_CONSTANT, 1, 0, 0},
    {"s_memtime s[0:1]", ISA_OTHER, ISA_NO_SPACE, 0, 0, 0},
    /* LDS */
    {"ds_read_b32 v0, v1 offset:4", ISA_LDS_READ, ISA_LDS, 4, 0, 0},
    {"ds_read_u16_d16_hi v0, v1", ISA_LDS_READ, ISA_LDS, 2, 0, 0},
    {"ds_read2_b32 v[0:1], v2 offset1:1", ISA_LDS_READ, ISA_LDS, 8, 0, 0},
    {"ds_read2st64_b64 v[0:3], v4 offset1:1", ISA_LDS_READ, ISA_LDS, 16, 0, 0},
    {"ds_read_b96 v[0:2], v4", ISA_LDS_READ, ISA_LDS, 12, 0, 0},
    {"ds_load_b128 v[0:3], v4", ISA_LDS_READ, ISA_LDS, 16, 0, 0},
    {"ds_load_2addr_stride64_b32 v[0:1], v2 offset1:1", ISA_LDS_READ, ISA_LDS, 8, 0, 0},
    {"ds_write_b8 v0, v1", ISA_LDS_WRITE, ISA_LDS, 1, 0, 0},
    {"ds_write2_b64 v0, v[1:2], v[3:4] offset1:1", ISA_LDS_WRITE, ISA_LDS, 16, 0, 0},
    {"ds_store_2addr_b32 v0, v1, v2 offset1:1", ISA_LDS_WRITE, ISA_LDS, 8, 0, 0},
    {"ds_add_u32 v0, v1", ISA_ATOMIC, ISA_LDS, 4, 0, 0},
    {"ds_cmpst_rtn_b64 v[0:1], v2, v[3:4], v[5:6]", ISA_ATOMIC, ISA_LDS, 8, 0, 0},
    {"ds_pk_add_f16 v0, v1", ISA_ATOMIC, ISA_LDS, 4, 0, 0},
    /* memory */
    {"global_load_dword v0, v[2:3], off", ISA_LOAD, ISA_GLOBAL, 4, 0, 0},
    {"global_load_dwordx3 v[0:2], v[4:5], off", ISA_LOAD, ISA_GLOBAL, 12, 0, 0},
    {"global_load_b128 v[0:3], v[4:5], off", ISA_LOAD, ISA_GLOBAL, 16, 0, 0},
    {"global_load_ubyte v0, v[2:3], off", ISA_LOAD, ISA_GLOBAL, 1, 0, 0},
    {"global_load_short_d16_hi v0, v[2:3], off", ISA_LOAD, ISA_GLOBAL, 2, 0, 0},
    {"global_load_d16_hi_u8 v0, v[2:3], off", ISA_LOAD, ISA_GLOBAL, 1, 0, 0},
    {"global_load_lds_dwordx4 v0, s[0:1]", ISA_LOAD, ISA_GLOBAL, 16, 0, 0},
    {"global_load_tr_b64 v[0:1], v[2:3], off", ISA_LOAD, ISA_GLOBAL, 8, 0, 0},
    {"flat_load_dwordx2 v[0:1], v[2:3]", ISA_LOAD, ISA_GLOBAL, 8, 0, 0},
    {"buffer_load_dwordx4 v[0:3], v4, s[8:11], 0 offen", ISA_LOAD, ISA_GLOBAL, 16, 0, 0},
    {"buffer_load_format_xyz v[0:2], v4, s[8:11], 0 idxen", ISA_LOAD, ISA_GLOBAL, 12, 0, 0},
    {"buffer_load_format_d16_xy v0, v4, s[8:11], 0 idxen", ISA_LOAD, ISA_GLOBAL, 4, 0, 0},
    {"global_store_short_d16_hi v[0:1], v2, off", ISA_STORE, ISA_GLOBAL, 2, 0, 0},
    {"global_store_dwordx4 v[0:1], v[2:5], off", ISA_STORE, ISA_GLOBAL, 16, 0, 0},
    {"scratch_load_dwordx4 v[0:3], off, off offset:16", ISA_SCRATCH_LOAD, ISA_SCRATCH, 16, 0, 0},
    {"scratch_store_b32 off, v0, off", ISA_SCRATCH_STORE, ISA_SCRATCH, 4, 0, 0},
    {"global_atomic_add v0, v1, s[0:1]", ISA_ATOMIC, ISA_GLOBAL, 4, 0, 0},
    {"global_atomic_cmpswap_x2 v0, v[1:4], s[0:1]", ISA_ATOMIC, ISA_GLOBAL, 8, 0, 0},
    {"global_atomic_pk_add_bf16 v0, v1, s[0:1]", ISA_ATOMIC, ISA_GLOBAL, 4, 0, 0},
    {"global_atomic_add_f64 v0, v[2:3], s[0:1]", ISA_ATOMIC, ISA_GLOBAL, 8, 0, 0},
    {"image_load v[0:3], v[4:5], s[0:7] dmask:0xf", ISA_LOAD, ISA_GLOBAL, 0, 0, 0},
    /* control */
    {"s_barrier", ISA_BARRIER, ISA_NO_SPACE, 0, 0, 0},
    {"s_barrier_signal -1", ISA_BARRIER, ISA_NO_SPACE, 0, 0, 0},
    {"s_barrier_wait 0xffff", ISA_WAIT, ISA_NO_SPACE, 0, 0, 0},
    {"s_waitcnt vmcnt(0)", ISA_WAIT, ISA_NO_SPACE, 0, 0, 0},
    {"s_waitcnt_vscnt null, 0x0", ISA_WAIT, ISA_NO_SPACE, 0, 0, 0},
    {"s_wait_kmcnt 0x0", ISA_WAIT, ISA_NO_SPACE, 0, 0, 0},
    {"s_wait_loadcnt_dscnt 0x0", ISA_WAIT, ISA_NO_SPACE, 0, 0, 0},
    {"s_branch 4", ISA_BRANCH, ISA_NO_SPACE, 0, 0, 0},
    {"s_cbranch_execz 4", ISA_BRANCH, ISA_NO_SPACE, 0, 0, 0},
    {"s_setpc_b64 s[30:31]", ISA_BRANCH, ISA_NO_SPACE, 0, 0, 0},
    {"s_nop 0", ISA_OTHER, ISA_NO_SPACE, 0, 0, 0},
    {"s_delay_alu instid0(VALU_DEP_1)", ISA_OTHER, ISA_NO_SPACE, 0, 0, 0},
    {"s_clause 0x2", ISA_OTHER, ISA_NO_SPACE, 0, 0, 0},
    {"s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)", ISA_OTHER, ISA_NO_SPACE, 0, 0, 0},
    {"buffer_gl0_inv", ISA_OTHER, ISA_NO_SPACE, 0, 0, 0},
    {"buffer_wbl2 sc1", ISA_OTHER, ISA_NO_SPACE, 0, 0, 0},
    {"global_inv scope:SCOPE_DEV", ISA_OTHER, ISA_NO_SPACE, 0, 0, 0},
    {"x_from_the_future v0", ISA_OTHER, ISA_NO_SPACE, 0, 0, 0},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena arena = {0};
        const char *source = arena_printf(&arena, "%s\ns_endpgm", cases[i].line);
        const struct isa_instruction *in =
            program_kernel("gfx942", source, (struct codeobj_kernel){0}, &arena)->instructions;
        if (in->kind != cases[i].kind || in->space != cases[i].space || in->bytes != cases[i].bytes ||
            in->flops != cases[i].flops || in->ops != cases[i].ops)
            fail_msg("%s: %s, %s, %u bytes, %u flops, %u ops", cases[i].line, isa_kinds[in->kind].name,
                     isa_spaces[in->space], in->bytes, in->flops, in->ops);
        arena_release(&arena);
    }
}

/* Every kind has a name for keys and one for people, and all differ. */
static void test_names(void **state)
{
    (void)state;
    for (unsigned a = 0; a < ISA_KINDS; a++)
        for (unsigned b = 0; b < a; b++) {
            assert_string_not_equal(isa_kinds[a].name, isa_kinds[b].name);
            assert_string_not_equal(isa_kinds[a].label, isa_kinds[b].label);
        }
    for (unsigned width = 1; width < ISA_WIDTHS; width++)
        assert_true(isa_width_bytes[width] > isa_width_bytes[width - 1]);
}

/* A descriptor of the stack makes a buffer access scratch, in a kernel that has a stack. */
static void test_scratch_descriptor(void **state)
{
    (void)state;
    static const char source[] = "s_mov_b64 s[8:9], s[0:1]\n"
                                 "buffer_load_dword v0, off, s[8:11], 0 offset:4\n"
                                 "buffer_store_dword v0, off, s[0:3], 0 offset:8\n"
                                 "buffer_load_dword v0, v1, s[4:7], 0 offen\n"
                                 "s_endpgm";
    struct arena arena = {0};
    const struct isa_kernel *kernel =
        program_kernel("gfx90a", source, (struct codeobj_kernel){.private_segment_bytes = 16}, &arena);
    assert_int_equal(kernel->mix.count[ISA_SCRATCH_LOAD], 1);
    assert_int_equal(kernel->mix.count[ISA_SCRATCH_STORE], 1);
    assert_int_equal(kernel->mix.count[ISA_LOAD], 1);
    kernel = program_kernel("gfx90a", source, (struct codeobj_kernel){0}, &arena);
    assert_int_equal(kernel->mix.count[ISA_LOAD], 2);
    assert_int_equal(kernel->mix.traffic[ISA_SCRATCH].loads, 0);
    arena_release(&arena);
}

static void test_traffic(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct isa_kernel *kernel = program_kernel("gfx942",
                                                     "global_load_dword v0, v[2:3], off\n"
                                                     "global_load_ubyte v0, v[2:3], off\n"
                                                     "global_load_dwordx4 v[4:7], v[2:3], off\n"
                                                     "global_store_dwordx2 v[2:3], v[4:5], off\n"
                                                     "global_atomic_add v0, v1, s[0:1]\n"
                                                     "s_load_dwordx8 s[0:7], s[8:9], 0x0\n"
                                                     "ds_read2_b32 v[0:1], v2 offset1:1\n"
                                                     "s_endpgm",
                                                     (struct codeobj_kernel){0}, &arena);
    const struct isa_traffic *global = &kernel->mix.traffic[ISA_GLOBAL];
    assert_int_equal(global->loads, 3);
    assert_int_equal(global->load_bytes, 21);
    assert_int_equal(global->loads_by_width[ISA_1] + global->loads_by_width[ISA_4] + global->loads_by_width[ISA_16], 3);
    assert_int_equal(global->stores_by_width[ISA_8], 1);
    assert_int_equal(global->atomics, 1);
    assert_int_equal(global->atomic_bytes, 4);
    assert_int_equal(kernel->mix.traffic[ISA_CONSTANT].loads_by_width[ISA_32], 1);
    assert_int_equal(kernel->mix.traffic[ISA_LDS].loads_by_width[ISA_8], 1);
    arena_release(&arena);
}

/* Every memory instruction that LLVM's assembler knows moves the bytes of the registers that it takes. */
static void test_memory_table(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    char *text = NULL;
    size_t rows = 0, length;
    (void)state;
    assert_int_equal(file_read(&text, &length, ROOFTILE_SOURCE_DIR "/tests/data/isa/memory.txt", 1 << 20, &arena, &err),
                     STATUS_OK);
    for (char *line = text, *end = strchr(text, '\n'); end; line = end + 1, end = strchr(line, '\n')) {
        *end = '\0';
        char *bytes = strchr(line, ';'), *targets = bytes ? strchr(bytes + 1, ';') : NULL;
        if (*line == '#' || !targets)
            continue;
        struct arena row = {0};
        *bytes = '\0';
        const char *target = arena_strndup(&row, targets + 2, strcspn(targets + 2, " "));
        const char *source = arena_printf(&row, "%s\ns_endpgm", line);
        const struct isa_instruction *in =
            program_kernel(target, source, (struct codeobj_kernel){0}, &row)->instructions;
        if (in->bytes != strtoul(bytes + 1, NULL, 10))
            fail_msg("%s: %u bytes instead of%.*s", line, in->bytes, (int)(targets - bytes - 1), bytes + 1);
        arena_release(&row);
        rows++;
    }
    assert_true(rows > 800);
    arena_release(&arena);
}

/* The words of gfx1250's instructions that LLVM 22 does not know are one instruction again, and what it made of their
 * ends is gone. */
static void test_lost_words(void **state)
{
    static const char text[] =
        "\ts_set_vgpr_msb 0xc0  // 000000001000: BF8600C0\n"
        "\t.long 0xd0310000 // 000000001004: D0310000\n"
        "\tv_illegal // 000000001008: 00000000\n"
        "\tv_cmp_ge_u16_e32 vcc_lo, s36, v20 // 00000000100C: 7C7C2824\n"
        "\tv_wmma_ld_scale16_paired_b64 v[108:109], v[82:83] matrix_a_reuse// 000000001010: CC3A2200 4402A56C\n"
        "\t.long 0xcc88007c // 000000001018: CC88007C\n"
        "\tv_min_num_f64_e32 v[1:2]/*Invalid register, operand has 'VReg_64_Align2' register class*/, v[8:9], "
        "v[8:9]// 00000000101C: 1A021108\n"
        "\tv_mov_b32_e32 v72 /*v840*/, v72 // 000000001020: 7E900348\n"
        "\ts_endpgm // 000000001024: BFB00000\n";
    struct codeobj_kernel known = {.name = "k", .code_address = 0x1000, .code_bytes = 0x28};
    struct arena arena = {0};
    struct isa isa = {0};
    struct err err = {0};
    (void)state;
    assert_int_equal(isa_parse(&isa, &(struct codeobj){.target = "gfx1250"}, text, &known, 1, &arena, &err), STATUS_OK);
    const struct isa_kernel *kernel = isa.kernels;
    assert_int_equal(kernel->unknown, 0);
    assert_int_equal(kernel->instruction_count, 6);
    assert_string_equal(kernel->instructions[1].mnemonic, "tensor_load_to_lds");
    assert_string_equal(kernel->instructions[1].operands, "s[36:39], s[40:47]");
    assert_int_equal(kernel->instructions[1].size, 12);
    assert_string_equal(kernel->instructions[3].operands, "v[892:907], v[8:23], v[8:15], 0");
    assert_int_equal(kernel->instructions[4].operand[0].first, 840);
    assert_int_equal(kernel->instructions[4].operand[1].first, 72);
    assert_int_equal(kernel->mix.matrix_flops, 2 * 32 * 16 * 128);
    assert_int_equal(kernel->mix.traffic[ISA_GLOBAL].unknown, 1);
    assert_true(isnan(isa_global_bytes_per_wave(&kernel->mix, 32)));
    assert_true(isnan(isa_intensity(&kernel->mix, 32)));
    arena_release(&arena);
}

/* The cache policy of accesses, without what asks an atomic for the old value. */
static void test_policies(void **state)
{
    static const struct {
        const char *line, *policy;
    } lines[] = {
        {"global_load_dwordx4 v[0:3], v[4:5], off offset:16", ""},
        {"global_load_dwordx4 v[0:3], v[4:5], off offset:16 nt", "nt"},
        {"global_store_dword v[4:5], v0, off sc0 sc1", "sc0 sc1"},
        {"buffer_load_dword v0, v1, s[4:7], 0 offen glc slc", "glc slc"},
        {"global_load_b32 v0, v[4:5], off glc slc dlc", "glc slc dlc"},
        {"s_load_dword s0, s[2:3], 0x0 glc", "glc"},
        {"global_atomic_add v1, v0, v2, s[0:1] sc0 sc1", "sc1"},
        {"global_atomic_add v1, v0, v2, s[0:1] glc", ""},
        {"global_load_b32 v0, v[4:5], off th:TH_LOAD_NT scope:SCOPE_SYS", "th:TH_LOAD_NT scope:SCOPE_SYS"},
        {"global_atomic_add_u32 v1, v0, v2, s[0:1] th:TH_ATOMIC_RETURN scope:SCOPE_DEV", "scope:SCOPE_DEV"},
        {"global_atomic_add_u32 v1, v0, v2, s[0:1] th:TH_ATOMIC_NT_RETURN", "th:TH_ATOMIC_NT"},
        {"buffer_wbl2 sc1", ""},
        {"v_add_u32_e32 v0, v1, v2", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct arena arena = {0};
        const char *source = arena_printf(&arena, "%s\ns_endpgm", lines[i].line);
        assert_string_equal(program_kernel("gfx942", source, (struct codeobj_kernel){0}, &arena)->instructions->policy,
                            lines[i].policy);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),    cmocka_unit_test(test_names),        cmocka_unit_test(test_scratch_descriptor),
        cmocka_unit_test(test_traffic),  cmocka_unit_test(test_memory_table), cmocka_unit_test(test_lost_words),
        cmocka_unit_test(test_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
