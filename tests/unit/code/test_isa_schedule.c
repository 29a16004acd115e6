/* SPDX-License-Identifier: MIT
 *
 * Live registers, and what a turn of a loop does: worked out by hand.
 */
#include "isa_program.h"

#include <math.h>

#include "rooftile/codediff.h"

static const struct {
    const char *what, *source;
    unsigned vgprs, agprs, line; /* of the peak */
} lives[] = {
    {"what is read later",
     "v_mov_b32_e32 v0, 1\nv_mov_b32_e32 v1, 2\nv_add_f32_e32 v0, v0, v1\n"
     "global_store_dword v2, v0, s[0:1]\ns_endpgm",
     3, 0, 2},
    {"a result that is an operand too",
     "v_mov_b32_e32 v0, 1\nv_fmac_f32_e32 v0, v1, v2\n"
     "global_store_dword v3, v0, s[0:1]\ns_endpgm",
     4, 0, 1},
    {"around a loop",
     "v_mov_b32_e32 v0, 1\nv_add_f32_e32 v1, v1, v0\nv_mov_b32_e32 v5, 2\ns_cbranch_scc1 @1\n"
     "global_store_dword v2, v1, s[0:1]\ns_endpgm",
     3, 0, 1},
    {"both files",
     "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]\n"
     "v_accvgpr_read_b32 v0, a0\nglobal_store_dword v1, v0, s[0:1]\ns_endpgm",
     4, 4, 0},
    {"one side of a branch",
     "s_cbranch_scc1 @3\nv_add_f32_e32 v0, v1, v2\ns_nop 0\n"
     "global_store_dword v3, v0, s[0:1]\ns_endpgm",
     4, 0, 0},
};

static void test_live(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(lives); k++) {
        struct arena arena = {0};
        struct isa_live live;
        const struct isa_kernel *kernel = program_kernel("gfx942", lives[k].source, (struct codeobj_kernel){0}, &arena);
        isa_live_find(&live, kernel, &arena);
        if (live.vgprs[live.peak] != lives[k].vgprs || live.agprs[live.peak] != lives[k].agprs ||
            live.peak != lives[k].line)
            fail_msg("%s: %u VGPRs and %u AGPRs at line %zu", lives[k].what, live.vgprs[live.peak],
                     live.agprs[live.peak], live.peak);
        arena_release(&arena);
    }
}

#define MFMA(d) "v_mfma_f32_32x32x8_f16 " d ", v[64:65], v[66:67], " d "\n"  /* 32 clocks on gfx942 */
#define WMMA(d) "v_wmma_f32_16x16x16_f16 " d ", v[64:71], v[72:79], " d "\n" /* 32 clocks on gfx1100 */

static const struct {
    const char *what, *target, *source;
    double issue, vector, matrix, chain, gap, masked;
} turns[] = {
    {"each instruction takes 4 clocks", "gfx942",
     "v_add_f32_e32 v0, v1, v2\nv_exp_f32_e32 v3, v4\ns_cbranch_scc1 @0\ns_endpgm", 24, 20, 0, 0, 0, 0},
    {"one accumulator", "gfx942", "v_add_f32_e32 v0, v0, v2\nv_add_f32_e32 v0, v0, v3\ns_cbranch_scc1 @0\ns_endpgm", 12,
     8, 0, 8, 0, 0},
    {"RDNA waits five clocks for a result", "gfx1100",
     "v_add_f32_e32 v0, v0, v2\nv_add_f32_e32 v0, v0, v3\ns_cbranch_scc1 @0\ns_endpgm", 3, 2, 0, 10, 0, 0},
    {"vector instructions beside the matrix unit", "gfx942",
     MFMA("v[0:15]") MFMA("v[16:31]") "v_add_f32_e32 v40, v41, v42\ns_cbranch_scc1 @0\ns_endpgm", 64, 4, 64, 48, 0, 0},
    {"more of them than the unit hides", "gfx942",
     MFMA("v[0:15]") "v_exp_f32_e32 v40, v41\nv_exp_f32_e32 v40, v41\nv_exp_f32_e32 v40, v41\ns_cbranch_scc1 "
                     "@0\ns_endpgm",
     56, 48, 32, 48, 24, 0},
    {"RDNA does one after the other", "gfx1100",
     WMMA("v[0:7]") "v_add_f32_e32 v40, v41, v42\ns_cbranch_scc1 @0\ns_endpgm", 34, 1, 32, 32, 2, 0},
    {"behind a mask", "gfx942",
     "v_add_f32_e32 v0, v1, v2\ns_and_saveexec_b64 s[0:1], vcc\nv_add_f32_e32 v0, v1, v2\n"
     "s_or_b64 exec, exec, s[0:1]\ns_cbranch_scc1 @0\ns_endpgm",
     20, 8, 0, 0, 0, 0.5},
    {"waits and s_nop take no slot, memory and scalar instructions do", "gfx1100",
     "global_load_b32 v0, v1, s[0:1]\ns_waitcnt vmcnt(0)\ns_add_u32 s2, s2, 1\ns_nop 0\ns_cbranch_scc1 @0\ns_endpgm", 3,
     0, 0, 0, 0, 0},
};

static void test_turns(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(turns); k++) {
        struct arena arena = {0};
        struct isa_schedule s;
        const struct codeobj_kernel known = {.wave = strcmp(turns[k].target, "gfx942") ? 32 : 64};
        isa_schedule_find(&s, program_kernel(turns[k].target, turns[k].source, known, &arena), 0, turns[k].target,
                          &arena);
        const double found[] = {s.issue_clocks, s.vector_clocks, s.matrix_clocks,
                                s.chain_clocks, s.gap_clocks,    s.masked_share};
        const double wanted[] = {turns[k].issue, turns[k].vector, turns[k].matrix,
                                 turns[k].chain, turns[k].gap,    turns[k].masked};
        for (size_t f = 0; f < COUNT_OF(found); f++)
            if (fabs(found[f] - wanted[f]) > 1e-9)
                fail_msg("%s: figure %zu is %g, not %g", turns[k].what, f, found[f], wanted[f]);
        arena_release(&arena);
    }
}

static void test_unknown_time(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct isa_schedule s;
    isa_schedule_find(&s,
                      program_kernel("gfx1250",
                                     "v_wmma_f32_16x16x4_f32 v[0:7], v[8:9], v[10:11], v[0:7]\n"
                                     "s_cbranch_scc1 @0\ns_endpgm",
                                     (struct codeobj_kernel){.wave = 32}, &arena),
                      0, "gfx1250", &arena);
    assert_true(isnan(s.issue_clocks) && isnan(s.matrix_clocks) && isnan(s.chain_clocks));
    arena_release(&arena);
}

/* Two loads each turn, taken up in the next one; LDS, scalar loads and stores beside them. */
static const struct {
    const char *target, *source;
    unsigned line, loads, stores, lds, scalar; /* of the first wait */
    uint64_t bytes, in_flight;
    double clocks;
} waits[] = {
    {"gfx942",
     "s_waitcnt vmcnt(1)\nglobal_load_dwordx4 v[0:3], v8, s[0:1]\nglobal_load_dword v4, v8, s[0:1]\n"
     "v_add_f32_e32 v20, v21, v22\ns_cbranch_scc1 @0\ns_endpgm",
     0, 2, 0, 0, 0, 20, 24 * 64, 16},
    {"gfx942",
     "global_store_dword v8, v0, s[0:1]\nds_read_b32 v9, v10\ns_load_dword s4, s[0:1], 0x0\n"
     "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_cbranch_scc1 @0\ns_endpgm",
     3, 0, 1, 1, 1, 4, 4 * 64, 12},
    {"gfx1100",
     "global_store_b32 v8, v0, s[0:1]\nglobal_load_b64 v[0:1], v8, s[0:1]\ns_waitcnt vmcnt(0)\ns_waitcnt_vscnt null, "
     "0x0\n"
     "s_cbranch_scc1 @0\ns_endpgm",
     2, 1, 0, 0, 0, 8, 12 * 32, 1},
    {"gfx1201",
     "ds_load_b32 v9, v10\nglobal_load_b64 v[0:1], v8, s[0:1]\nds_load_b32 v11, v10\n"
     "s_wait_loadcnt_dscnt 0x1\ns_cbranch_scc1 @0\ns_endpgm",
     3, 1, 0, 2, 0, 8, 8 * 32, 2},
};

static void test_waits(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(waits); k++) {
        struct arena arena = {0};
        struct isa_schedule s;
        const struct codeobj_kernel known = {.wave = strcmp(waits[k].target, "gfx942") ? 32 : 64};
        isa_schedule_find(&s, program_kernel(waits[k].target, waits[k].source, known, &arena), 0, waits[k].target,
                          &arena);
        assert_true(s.wait_count > 0);
        const struct isa_wait *wait = &s.waits[0];
        assert_int_equal(wait->address, program_line(waits[k].line));
        assert_int_equal(wait->loads, waits[k].loads);
        assert_int_equal(wait->stores, waits[k].stores);
        assert_int_equal(wait->lds, waits[k].lds);
        assert_int_equal(wait->scalar, waits[k].scalar);
        assert_int_equal(wait->bytes, waits[k].bytes);
        assert_int_equal(wait->in_flight_bytes, waits[k].in_flight);
        assert_int_equal(wait->drains, waits[k].bytes * known.wave == waits[k].in_flight);
        assert_true(fabs(wait->clocks_since_issue - waits[k].clocks) < 1e-9);
        arena_release(&arena);
    }
}

/* Without a loop: each instruction once, what comes before the wait included. */
static void test_whole_kernel(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct isa_schedule s;
    const struct isa_kernel *kernel =
        program_kernel("gfx942",
                       "global_load_dword v0, v8, s[0:1]\nglobal_load_dword v1, v8, s[0:1]\ns_waitcnt vmcnt(1)\n"
                       "v_add_f32_e32 v2, v0, v0\nv_add_f32_e32 v2, v2, v0\ns_waitcnt vmcnt(0)\ns_endpgm",
                       (struct codeobj_kernel){.wave = 64}, &arena);
    isa_schedule_find(&s, kernel, ISA_NO_LOOP, "gfx942", &arena);
    assert_int_equal(s.wait_count, 2);
    assert_false(s.waits[0].drains);
    assert_true(s.waits[1].drains);
    assert_true(fabs(s.issue_clocks - 16) < 1e-9 && fabs(s.chain_clocks - 8) < 1e-9);
    arena_release(&arena);
}

/* The same loop with its load before the wait for the last one, and behind it. */
static void test_ahead(void **state)
{
    (void)state;
    static const char *const loops[] = {
        "s_waitcnt vmcnt(0)\nv_mov_b32_e32 v1, v0\nglobal_load_dword v0, v8, s[0:1]\nv_add_f32_e32 v2, v1, v2\n"
        "v_add_f32_e32 v2, v1, v2\ns_cbranch_scc1 @0\ns_endpgm",
        "global_load_dword v0, v8, s[0:1]\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v1, v0\nv_add_f32_e32 v2, v1, v2\n"
        "v_add_f32_e32 v2, v1, v2\ns_cbranch_scc1 @0\ns_endpgm"};
    static const double shares[] = {0.8, 0.2};
    for (size_t k = 0; k < COUNT_OF(loops); k++) {
        struct arena arena = {0};
        struct isa_schedule s;
        const struct isa_kernel *kernel =
            program_kernel("gfx942", loops[k], (struct codeobj_kernel){.wave = 64}, &arena);
        isa_schedule_find(&s, kernel, 0, "gfx942", &arena);
        if (!(fabs(s.ahead_share - shares[k]) < 1e-9))
            fail_msg("loop %zu: %g", k, s.ahead_share);
        arena_release(&arena);
    }
}

/* Policies of spills are the compiler's, and bytes of tensors are in no sum. */
static void test_other_facts(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct text text = {0};
    const struct isa_kernel *spills = program_kernel("gfx1201", "scratch_load_b32 v0, off, off th:TH_LOAD_LU\ns_endpgm",
                                                     (struct codeobj_kernel){0}, &arena);
    assert_false(isa_policies_say(&text, spills, NULL, ""));
    const struct isa_kernel *tensors =
        program_kernel("gfx1250", "tensor_load_to_lds s[0:3], s[4:11]\ns_endpgm", (struct codeobj_kernel){0}, &arena);
    const struct inspect_kernel before = {.isa = tensors}, after = {.isa = spills};
    const struct code_pair pair = {.before = &before, .after = &after, .hot = {ISA_NO_LOOP, ISA_NO_LOOP}};
    assert_int_equal(codediff_unknown_bytes(&pair), 1);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live),        cmocka_unit_test(test_turns),        cmocka_unit_test(test_unknown_time),
        cmocka_unit_test(test_waits),       cmocka_unit_test(test_whole_kernel), cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_other_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
