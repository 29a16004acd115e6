/* SPDX-License-Identifier: MIT
 *
 * Each finding where it must be made, and in the nearest program where it must not. test_isa.c has them on real
 * kernels.
 */
#include "isa_program.h"

#define LOOP_END "s_add_i32 s0, s0, 1\ns_cbranch_scc1 @0\ns_endpgm"
#define FMA4(d) "v_fma_f32 " d ", v10, v11, " d "\n"

static const struct {
    const char *what;
    const char *target;
    struct codeobj_kernel known;
    const char *source;
    const char *codes;
} cases[] = {
    {"nothing", "gfx942", {0}, "v_mov_b32_e32 v0, 0\ns_endpgm", ""},

    {"scratch in a loop",
     "gfx942",
     {.vgpr_spills = 3},
     "scratch_load_dword v0, off, off\n" LOOP_END,
     "scratch-in-loop"},
    {"scratch before a loop",
     "gfx942",
     {.vgpr_spills = 3},
     "scratch_store_dword off, v0, off\nscratch_load_dword v0, off, off\ns_cbranch_scc1 @2\ns_endpgm",
     "scratch"},
    {"scratch that nothing loads",
     "gfx942",
     {0},
     "scratch_store_dword off, v0, off\ns_endpgm",
     "scratch unread-scratch"},
    {"a stack that flat stores reach and nothing loads",
     "gfx942",
     {0},
     "s_mov_b64 s[8:9], src_private_base\nflat_store_dword v[4:5], v6\ns_endpgm",
     "unread-scratch"},
    {"scratch that a flat load may reach",
     "gfx942",
     {0},
     "scratch_store_dword off, v0, off\nflat_load_dword v0, v[2:3]\ns_endpgm",
     "scratch"},
    {"an atomic by compare and swap",
     "gfx942",
     {0},
     "v_add_f32_e32 v2, v3, v4\nglobal_atomic_cmpswap v2, v1, v[2:3], s[4:5] sc0\ns_waitcnt vmcnt(0)\n" LOOP_END,
     "compare-and-swap"},
    {"an atomic", "gfx942", {0}, "global_atomic_add_f32 v1, v2, s[4:5]\n" LOOP_END, ""},
    {"lanes leave a loop at the bound of an index",
     "gfx942",
     {0},
     "v_add_u32_e32 v0, 1, v0\nv_cmp_le_u32_e32 vcc, s2, v0\ns_or_b64 s[4:5], vcc, s[4:5]\ns_andn2_b64 exec, exec, "
     "s[4:5]\n"
     "s_cbranch_execnz @0\ns_endpgm",
     ""},
    {"lanes leave a loop as their data say",
     "gfx942",
     {0},
     "v_mul_f32_e32 v0, v0, v0\nv_cmp_lt_f32_e32 vcc, s2, v0\ns_or_b64 s[4:5], vcc, s[4:5]\ns_andn2_b64 exec, exec, "
     "s[4:5]\ns_cbranch_execnz @0\ns_endpgm",
     "lanes-leave"},
    {"lanes leave a loop as data say that were loaded before it",
     "gfx942",
     {0},
     "global_load_dword v0, v1, s[2:3]\ns_waitcnt vmcnt(0)\nv_lshrrev_b32_e32 v0, 1, v0\nv_cmp_eq_u32_e32 vcc, 1, v0\n"
     "s_or_b64 s[4:5], vcc, s[4:5]\ns_andn2_b64 exec, exec, s[4:5]\ns_cbranch_execnz @2\ns_endpgm",
     "lanes-leave"},
    {"a branch in a loop",
     "gfx942",
     {0},
     "s_and_saveexec_b64 s[4:5], vcc\nv_add_u32_e32 v0, 1, v0\ns_or_b64 exec, exec, s[4:5]\n" LOOP_END,
     ""},
    {"a column of 128 bytes in LDS",
     "gfx942",
     {0},
     "v_lshlrev_b32_e32 v1, 7, v0\nds_read_b32 v2, v1\ns_endpgm",
     "bank-conflicts"},
    {"a column of LDS, shifted and masked, in a VOPD",
     "gfx1100",
     {0},
     "v_dual_mov_b32 v2, 0 :: v_dual_lshlrev_b32 v1, 7, v0\nv_and_b32_e32 v1, 0x7f80, v1\nds_load_b32 v2, v1\ns_endpgm",
     "bank-conflicts"},
    {"a column of a tile 32 lanes wide, whose rows a scalar register knows",
     "gfx942",
     {0},
     "v_and_b32_e32 v1, 31, v0\ns_movk_i32 s5, 0x80\nv_lshrrev_b32_e32 v2, 5, v0\nv_mul_u32_u24_e32 v1, v1, s5\n"
     "v_lshl_add_u32 v1, v2, 2, v1\nds_read_b32 v3, v1\ns_endpgm",
     "bank-conflicts"},
    {"a column of a tile 16 lanes wide",
     "gfx942",
     {0},
     "v_and_b32_e32 v1, 15, v0\nv_lshlrev_b32_e32 v1, 7, v1\nds_read_b32 v3, v1\ns_endpgm",
     ""},
    {"a padded column", "gfx942", {0}, "v_mul_u32_u24_e32 v1, 0x84, v0\nds_read_b32 v2, v1\ns_endpgm", ""},
    {"a row in LDS", "gfx942", {0}, "v_lshlrev_b32_e32 v1, 2, v0\nds_read_b32 v2, v1\ns_endpgm", ""},
    {"one address for all", "gfx942", {0}, "v_mov_b32_e32 v1, s4\nds_read_b32 v2, v1\ns_endpgm", ""},
    {"wide rows in LDS", "gfx942", {0}, "v_lshlrev_b32_e32 v1, 4, v0\nds_read_b128 v[4:7], v1\ns_endpgm", ""},
    {"lanes 1 KiB apart",
     "gfx942",
     {0},
     "v_lshlrev_b32_e32 v1, 10, v0\nglobal_load_dword v2, v1, s[2:3]\ns_endpgm",
     "strided"},
    {"lanes 1 KiB apart, whole addresses",
     "gfx942",
     {0},
     "v_and_b32_e32 v0, 0x3ff, v0\nv_lshl_add_u32 v1, s4, 8, v0\nv_mov_b32_e32 v2, 0\nv_lshlrev_b64 v[4:5], 10, "
     "v[1:2]\n"
     "v_lshl_add_u64 v[4:5], s[2:3], 0, v[4:5]\nglobal_load_dword v2, v[4:5], off\ns_endpgm",
     "strided"},
    {"lanes side by side",
     "gfx942",
     {0},
     "v_lshlrev_b32_e32 v1, 4, v0\nglobal_load_dwordx4 v[4:7], v1, s[2:3]\ns_endpgm",
     ""},
    {"a distance that two ways disagree about",
     "gfx942",
     {0},
     "v_lshlrev_b32_e32 v1, 10, v0\ns_cbranch_scc1 @3\nv_lshlrev_b32_e32 v1, 2, v0\nglobal_load_dword v2, v1, "
     "s[2:3]\ns_endpgm",
     ""},
    {"a distance that grows",
     "gfx942",
     {0},
     "v_lshlrev_b32_e32 v1, 7, v0\nv_add_u32_e32 v2, v2, v1\nglobal_load_dword v3, v2, s[2:3]\ns_waitcnt "
     "vmcnt(0)\ns_cbranch_scc1 @1\ns_endpgm",
     "narrow-loads wait-each-load"},
    {"spilled to AGPRs", "gfx90a", {.vgpr_spills = 2}, "v_accvgpr_write_b32 a0, v0\ns_endpgm", "scratch"},
    {"scratch reserved and not used", "gfx942", {.private_segment_bytes = 64}, "v_mov_b32_e32 v0, 0\ns_endpgm", ""},
    {"scalar spills", "gfx942", {.sgpr_spills = 2}, "v_writelane_b32 v0, s0, 1\ns_endpgm", "scalar-spills"},
    {"calls", "gfx942", {0}, "s_swappc_b64 s[30:31], s[4:5]\ns_endpgm", "calls"},
    {"a return is no call", "gfx942", {0}, "s_setpc_b64 s[30:31]\ns_endpgm", ""},

    {"4-byte loads, two before a wait",
     "gfx942",
     {0},
     "global_load_dword v0, v[4:5], off\nglobal_load_dword v1, v[6:7], off\ns_waitcnt vmcnt(0)\n" LOOP_END,
     "narrow-loads"},
    {"16-byte loads",
     "gfx942",
     {0},
     "global_load_dwordx4 v[0:3], v[4:5], off\nglobal_load_dwordx4 v[8:11], v[6:7], off\ns_waitcnt vmcnt(0)\n" LOOP_END,
     ""},
    {"narrow, not in a loop", "gfx942", {0}, "global_load_dword v0, v[4:5], off\ns_waitcnt vmcnt(0)\ns_endpgm", ""},
    {"a pointer chase", "gfx942", {0}, "global_load_dwordx2 v[0:1], v[0:1], off\ns_waitcnt vmcnt(0)\n" LOOP_END, ""},
    {"a chase through arithmetic",
     "gfx942",
     {0},
     "v_lshlrev_b32_e32 v2, 2, v3\nglobal_load_dword v3, v2, s[2:3]\ns_waitcnt vmcnt(0)\n" LOOP_END,
     ""},
    {"a gather",
     "gfx942",
     {0},
     "global_load_dwordx4 v[0:3], v[8:9], off\nv_lshlrev_b32_e32 v4, 2, v0\nglobal_load_dword v5, v4, s[2:3]\n"
     "s_waitcnt vmcnt(0)\n" LOOP_END,
     ""},
    {"a register used for an address after a value",
     "gfx942",
     {0},
     "v_mov_b32_e32 v0, v8\nglobal_load_dword v0, v[0:1], off\nglobal_load_dword v2, v[6:7], off\ns_waitcnt "
     "vmcnt(0)\n" LOOP_END,
     "narrow-loads"},
    {"the tail of a wide loop",
     "gfx942",
     {0},
     "global_load_dwordx4 v[0:3], v[4:5], off\nglobal_load_dwordx4 v[8:11], v[4:5], off\ns_cbranch_scc1 @0\n"
     "global_load_dword v0, v[4:5], off\ns_waitcnt vmcnt(0)\ns_cbranch_scc1 @3\ns_endpgm",
     ""},

    {"a wait after each load",
     "gfx942",
     {0},
     "global_load_dwordx4 v[0:3], v[8:9], off\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v12, v0, v12\n"
     "global_load_dwordx4 v[0:3], v[8:9], off\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v13, v0, v13\n" LOOP_END,
     "wait-each-load"},
    {"the same on gfx12",
     "gfx1201",
     {0},
     "global_load_b128 v[0:3], v[8:9], off\ns_wait_loadcnt 0x0\n" LOOP_END,
     "wait-each-load"},
    {"both counters on gfx12",
     "gfx1201",
     {0},
     "global_load_b128 v[0:3], v[8:9], off\ns_wait_loadcnt_dscnt 0x3\n" LOOP_END,
     "wait-each-load"},
    {"other counters on gfx12",
     "gfx1201",
     {0},
     "global_load_b128 v[0:3], v[8:9], off\ns_wait_loadcnt_dscnt 0x100\n" LOOP_END,
     ""},
    {"a wait for scalar memory",
     "gfx942",
     {0},
     "global_load_dwordx4 v[0:3], v[8:9], off\ns_waitcnt lgkmcnt(0)\n" LOOP_END,
     ""},
    {"one load stays on the way",
     "gfx942",
     {0},
     "global_load_dwordx4 v[0:3], v[8:9], off\ns_waitcnt vmcnt(1)\n" LOOP_END,
     ""},
    {"the wait comes before the load of the next pass",
     "gfx942",
     {0},
     "s_waitcnt vmcnt(0)\nv_add_f32_e32 v12, v0, v12\nglobal_load_dwordx4 v[0:3], v[8:9], off\n" LOOP_END,
     ""},
    {"enough work between load and wait",
     "gfx942",
     {0},
     "global_load_dwordx4 v[0:3], v[8:9], off\n" FMA4("v20") FMA4("v21") FMA4("v22") FMA4("v23") FMA4("v24") FMA4("v25")
         FMA4("v26") FMA4("v27") "s_waitcnt vmcnt(0)\n" LOOP_END,
     ""},

    {"one accumulator of MFMA",
     "gfx942",
     {0},
     "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\n" LOOP_END,
     "one-chain"},
    {"a chain through two registers",
     "gfx942",
     {0},
     "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[0:3]\nv_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], "
     "v[8:11]\n" LOOP_END,
     "one-chain"},
    {"two accumulators of MFMA",
     "gfx942",
     {0},
     "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\nv_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], "
     "v[8:11]\n" LOOP_END,
     ""},
    {"MFMA without an accumulator", "gfx942", {0}, "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], 0\n" LOOP_END, ""},
    {"one chain of fma on RDNA", "gfx1100", {0}, FMA4("v0") FMA4("v0") LOOP_END, "one-chain"},
    {"one chain of fma on CDNA hides itself", "gfx942", {0}, FMA4("v0") FMA4("v0") LOOP_END, ""},
    {"two chains of fma on RDNA", "gfx1100", {0}, FMA4("v0") FMA4("v1") LOOP_END, ""},
    {"fmac reads its destination", "gfx1100", {0}, "v_fmac_f32_e32 v0, v1, v2\n" LOOP_END, "one-chain"},
    {"the halves of a VOPD are two chains",
     "gfx1100",
     {0},
     "v_dual_fmac_f32 v0, v2, v3 :: v_dual_fmac_f32 v1, v2, v3\n" LOOP_END,
     "one-chain"},
    {"memory sets the pace",
     "gfx1100",
     {0},
     "global_load_b128 v[8:11], v[4:5], off\nglobal_load_b128 v[12:15], v[4:5], off\ns_waitcnt vmcnt(0)\n" FMA4("v0")
         LOOP_END,
     ""},

    {"LDS reads side by side",
     "gfx942",
     {0},
     "ds_read_b32 v0, v8\nds_read_b32 v1, v8 offset:4\n" LOOP_END,
     "narrow-lds"},
    {"two pairs side by side",
     "gfx942",
     {0},
     "ds_read2_b32 v[0:1], v8 offset1:1\nds_read2_b32 v[2:3], v8 offset0:2 offset1:3\n" LOOP_END,
     "narrow-lds"},
    {"pairs far apart",
     "gfx942",
     {0},
     "ds_read2_b32 v[0:1], v8 offset1:32\nds_read2_b32 v[2:3], v8 offset0:64 offset1:96\n" LOOP_END,
     ""},
    {"reads of two rows", "gfx942", {0}, "ds_read_b32 v0, v8\nds_read_b32 v1, v9 offset:4\n" LOOP_END, ""},
    {"the address moved in between",
     "gfx942",
     {0},
     "ds_read_b32 v0, v8\nv_add_u32_e32 v8, 64, v8\nds_read_b32 v1, v8 offset:4\n" LOOP_END,
     ""},
    {"wide LDS reads", "gfx942", {0}, "ds_read_b128 v[0:3], v8\nds_read_b128 v[4:7], v8 offset:16\n" LOOP_END, ""},
    {"one 8-byte pair", "gfx942", {0}, "ds_read2_b32 v[0:1], v8 offset1:1\nds_read_b32 v4, v9\n" LOOP_END, ""},

    {"conversions",
     "gfx942",
     {0},
     "v_cvt_f32_f16_e32 v0, v4\nv_cvt_f32_f16_e32 v1, v5\nv_cvt_f32_f16_e32 v2, v6\nv_cvt_f32_f16_e32 v3, v7\n"
     "v_add_f32_e32 v8, v0, v8\nv_add_f32_e32 v9, v1, v9\n" LOOP_END,
     "conversions"},
    {"few conversions",
     "gfx942",
     {0},
     "v_cvt_f32_f16_e32 v0, v4\nv_cvt_f32_f16_e32 v1, v5\nv_add_f32_e32 v8, v0, v8\nv_add_f32_e32 v9, v1, "
     "v9\n" LOOP_END,
     ""},
    {"conversions that memory hides",
     "gfx942",
     {0},
     "global_load_dwordx4 v[4:7], v[10:11], off\nglobal_load_dwordx4 v[12:15], v[10:11], off\ns_waitcnt vmcnt(0)\n"
     "v_cvt_f32_i32_e32 v0, v4\nv_cvt_f32_i32_e32 v1, v5\nv_cvt_f32_i32_e32 v2, v6\nv_cvt_f32_i32_e32 v3, "
     "v7\n" LOOP_END,
     ""},
    {"transcendentals",
     "gfx942",
     {0},
     "v_exp_f32_e32 v0, v1\nv_exp_f32_e32 v2, v3\nv_mul_f32_e32 v4, v0, v2\n" LOOP_END,
     "transcendentals"},
    {"transcendentals beside much else",
     "gfx942",
     {0},
     "v_exp_f32_e32 v0, v1\nv_exp_f32_e32 v2, v3\n" FMA4("v20") FMA4("v21") FMA4("v22") FMA4("v23") FMA4("v24")
         FMA4("v25") FMA4("v26") FMA4("v27") LOOP_END,
     ""},

    {"division in a loop",
     "gfx942",
     {0},
     "v_rcp_iflag_f32_e32 v0, v1\n" FMA4("v20") FMA4("v21") FMA4("v22") FMA4("v23") FMA4("v24") LOOP_END,
     "integer-division"},
    {"64-bit division",
     "gfx942",
     {0},
     "v_rcp_f32_e32 v0, v1\nv_mul_f32_e32 v0, 0x5f7ffffc, v0\ns_endpgm",
     "integer-division"},
    {"a reciprocal is no division", "gfx942", {0}, "v_rcp_f32_e32 v0, v1\ns_endpgm", ""},

    {"a barrier in a small step",
     "gfx942",
     {0},
     "ds_write_b32 v0, v1\ns_barrier\nds_read_b32 v2, v3\n" LOOP_END,
     "barrier-per-step"},
    {"a barrier after enough",
     "gfx942",
     {0},
     "s_barrier\nv_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], 0\nv_mfma_f32_32x32x8_f16 v[20:35], v[16:17], "
     "v[18:19], 0\n"
     "v_mfma_f32_32x32x8_f16 v[40:55], v[16:17], v[18:19], 0\nv_mfma_f32_32x32x8_f16 v[60:75], v[16:17], v[18:19], "
     "0\n" LOOP_END,
     ""},
    {"a barrier around an inner loop", "gfx942", {0}, "s_barrier\ns_nop 0\ns_cbranch_scc0 @1\n" LOOP_END, ""},

    {"AGPR copies",
     "gfx908",
     {0},
     "v_accvgpr_read_b32 v0, a0\nv_accvgpr_read_b32 v1, a1\nv_accvgpr_read_b32 v2, a2\nv_accvgpr_read_b32 v3, "
     "a3\n" LOOP_END,
     "accumulator-copies"},
    {"WMMA in a branch",
     "gfx1100",
     {0},
     "s_and_saveexec_b32 s0, vcc_lo\ns_cbranch_execz @3\nv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]\n"
     "s_or_b32 exec_lo, exec_lo, s0\ns_endpgm",
     "lanes-off"},
    {"WMMA behind a branch",
     "gfx1100",
     {0},
     "s_and_saveexec_b32 s0, vcc_lo\ns_cbranch_execz @3\nv_mov_b32_e32 v0, 0\ns_or_b32 exec_lo, exec_lo, s0\n"
     "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]\ns_endpgm",
     ""},
    {"WMMA behind a branch back",
     "gfx1100",
     {0},
     "s_or_b32 exec_lo, exec_lo, s0\ns_and_saveexec_b32 s0, vcc_lo\ns_cbranch_execz @0\nv_mov_b32_e32 v0, 0\ns_branch "
     "@0\n"
     "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]\ns_endpgm",
     ""},
    {"an exchange of rows behind an early return",
     "gfx1201",
     {0},
     "v_cmpx_gt_u32_e64 s0, v0\ns_cbranch_execz @3\nv_permlanex16_b32 v0, v0, s1, s2\ns_endpgm",
     "lanes-off"},
    {"DPP of 8 lanes in a branch",
     "gfx1030",
     {0},
     "v_cmpx_gt_u32_e64 s0, v0\ns_cbranch_execz @3\nv_mov_b32_dpp v0, v1  dpp8:[7,6,5,4,3,2,1,0]\ns_endpgm",
     "lanes-off"},
    {"DPP of rows stays where it is",
     "gfx1030",
     {0},
     "v_cmpx_gt_u32_e64 s0, v0\ns_cbranch_execz @3\nv_mov_b32_dpp v0, v1  row_shr:1 row_mask:0xf "
     "bank_mask:0xf\ns_endpgm",
     ""},

    {"a few AGPR copies", "gfx908", {0}, "v_accvgpr_read_b32 v0, a0\nv_accvgpr_read_b32 v1, a1\n" LOOP_END, ""},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena arena = {0};
        const struct isa_kernel *kernel = program_kernel(cases[i].target, cases[i].source, cases[i].known, &arena);
        const char *codes = program_codes(kernel, &arena);
        if (strcmp(codes, cases[i].codes) != 0)
            fail_msg("%s: \"%s\", expected \"%s\"", cases[i].what, codes, cases[i].codes);
        for (size_t f = 0; f < kernel->finding_count; f++) {
            const struct isa_finding *finding = &kernel->findings[f];
            assert_true(strlen(finding->what) > 0 && strlen(finding->advice) > 0);
            assert_true(finding->loop == ISA_NO_LOOP || finding->loop < kernel->loop_count);
        }
        arena_release(&arena);
    }
}

/* Sentences with their numbers, and where they point. */
static void test_words(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct isa_kernel *kernel = program_kernel(
        "gfx942",
        "global_load_dword v0, v[4:5], off\nglobal_load_dwordx2 v[2:3], v[6:7], off\ns_waitcnt vmcnt(0)\n"
        "scratch_load_dwordx4 v[8:11], off, off\n" LOOP_END,
        (struct codeobj_kernel){.vgpr_spills = 4}, &arena);
    assert_int_equal(kernel->finding_count, 2);
    assert_int_equal(kernel->findings[0].severity, ISA_PROBLEM);
    assert_int_equal(kernel->findings[0].address, program_line(3));
    assert_string_equal(kernel->findings[0].what,
                        "1 access of scratch in loops, 16 bytes per lane and pass; 4 VGPRs are spilled");
    assert_string_equal(kernel->findings[1].what, "2 loads of the loop take 4 to 8 bytes per lane, could take 16");
    assert_int_equal(kernel->findings[1].address, program_line(0));
    assert_string_equal(isa_severities[kernel->findings[1].severity], "hint");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
