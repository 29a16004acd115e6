/* SPDX-License-Identifier: MIT
 *
 * The instruction that a kernel's hot loop mostly holds.
 */
#include "isa_program.h"

#include <math.h>

static const struct {
    const char *what;
    const char *target;
    const char *source;
    const char *instruction; /* NULL: there is no hot loop */
    size_t loop;
    double share;
    uint64_t work;
} cases[] = {
    {"no loop", "gfx942", "v_mov_b32_e32 v0, v1\ns_endpgm", NULL, 0, 0, 0},
    {"a loop that does nothing", "gfx942", "s_nop 0\ns_cbranch_scc1 @0\ns_endpgm", NULL, 0, 0, 0},
    {"scalar arithmetic, waits and branches are no work", "gfx942",
     "v_fma_f32 v0, v1, v0, v2\ns_add_i32 s0, s0, -1\ns_waitcnt vmcnt(0)\ns_cbranch_scc1 @0\ns_endpgm", "v_fma_f32", 0,
     1, 1},
    {"encodings are one instruction", "gfx942",
     "v_fmac_f32_e32 v0, v1, v2\nv_fmac_f32_e64 v0, v1, v2\nv_mov_b32_e32 v3, v4\ns_cbranch_scc1 @0\ns_endpgm",
     "v_fmac_f32", 0, 2.0 / 3, 3},
    {"halves of a VOPD count one each, as their single forms", "gfx1100",
     "v_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5\nv_fmac_f32_e32 v6, v7, v8\n"
     "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v2, v3\ns_cbranch_scc1 @0\ns_endpgm",
     "v_fmac_f32", 0, 3.0 / 5, 5},
    {"DPP is another instruction", "gfx942",
     "v_mov_b32_dpp v0, v0 row_ror:1 row_mask:0xf bank_mask:0xf\ns_cbranch_scc1 @0\ns_endpgm", "v_mov_b32_dpp", 0, 1,
     1},
    {"of equals the access", "gfx942",
     "v_lshlrev_b32_e32 v0, 2, v0\nglobal_load_dword v0, v0, s[0:1]\ns_cbranch_scc1 @0\ns_endpgm", "global_load_dword",
     0, 0.5, 2},
    {"of equals the first", "gfx942", "v_exp_f32_e32 v0, v0\nv_log_f32_e32 v0, v0\ns_cbranch_scc1 @0\ns_endpgm",
     "v_exp_f32", 0, 0.5, 2},
    {"barriers are work", "gfx942", "s_barrier\ns_barrier\ns_cbranch_scc1 @0\ns_endpgm", "s_barrier", 0, 1, 2},
    {"scalar loads are work", "gfx942",
     "s_load_dword s0, s[2:3], s0\ns_lshl_b32 s0, s0, 2\ns_cbranch_scc1 @0\ns_endpgm", "s_load_dword", 0, 1, 1},
    {"the larger of two loops", "gfx942",
     "ds_read_b32 v0, v0\ns_cbranch_scc1 @0\nv_add_f32_e32 v0, v0, v1\nv_add_f32_e32 v0, v0, v1\ns_cbranch_scc1 "
     "@2\ns_endpgm",
     "v_add_f32", 1, 1, 2},
    {"the deeper of two loops", "gfx942",
     "v_add_f32_e32 v0, v0, v1\nv_add_f32_e32 v0, v0, v1\ns_cbranch_scc1 @0\n"
     "s_nop 0\nv_mul_f32_e32 v0, v0, v1\ns_cbranch_scc1 @4\ns_cbranch_scc0 @3\ns_endpgm",
     "v_mul_f32", 2, 1, 1},
    {"an inner loop that does a tenth of the outer one's work or more", "gfx942",
     "v_add_f32_e32 v0, v0, v1\nv_add_f32_e32 v0, v0, v1\nv_mul_f32_e32 v2, v2, v3\ns_cbranch_scc1 @2\ns_cbranch_scc0 "
     "@0\ns_endpgm",
     "v_mul_f32", 1, 1, 1},
    {"a matrix instruction before anything else, with a loop of address arithmetic inside", "gfx942",
     "v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]\nv_add_u32_e32 v0, v0, v1\n"
     "global_load_dword v0, v0, s[0:1]\nv_fma_f32 v0, v1, v2, v3\ns_cbranch_scc1 @1\ns_cbranch_scc0 @0\ns_endpgm",
     "v_mfma_f32_32x32x8_f16", 0, 1, 1},
    {"FLOPs before bytes", "gfx942",
     "global_load_dwordx4 v[0:3], v0, s[0:1]\ns_cbranch_scc1 @0\nv_fma_f32 v0, v1, v2, v3\ns_cbranch_scc1 @2\ns_endpgm",
     "v_fma_f32", 1, 1, 1},
    {"bytes where there is nothing else", "gfx942",
     "v_add_u32_e32 v0, v0, v1\nv_add_u32_e32 v0, v0, v1\nv_add_u32_e32 v0, v0, v1\ns_cbranch_scc1 @0\n"
     "global_load_dword v0, v0, s[0:1]\ns_cbranch_scc1 @4\ns_endpgm",
     "global_load_dword", 1, 1, 1},
    {"products of integers before loads", "gfx942",
     "v_dot4_i32_i8 v0, v1, v2, v0\ns_cbranch_scc1 @0\nglobal_load_dword v0, v0, s[0:1]\ns_cbranch_scc1 @2\ns_endpgm",
     "v_dot4_i32_i8", 0, 1, 1},
    {"the bulk before the edge, which does the same with more", "gfx942",
     "v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]\nv_add_u32_e32 v0, v0, v1\n"
     "global_load_dword v0, v0, s[0:1]\nglobal_load_dword v0, v0, s[0:1]\ns_cbranch_scc1 @0\n"
     "v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]\ns_cbranch_scc1 @5\ns_endpgm",
     "v_mfma_f32_32x32x8_f16", 1, 1, 1},
    {"a matrix instruction of which the time is not known", "gfx1250",
     "v_wmma_f32_16x16x4_f32 v[0:7], v[8:9], v[10:11], v[0:7]\ns_cbranch_scc1 @0\n"
     "v_fma_f32 v0, v1, v2, v3\ns_cbranch_scc1 @2\ns_endpgm",
     "v_wmma_f32_16x16x4_f32", 0, 1, 1},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena arena = {0};
        struct isa_hot hot = {.loop = 99};
        const struct isa_kernel *kernel =
            program_kernel(cases[i].target, cases[i].source, (struct codeobj_kernel){0}, &arena);
        const bool found = isa_hot_find(&hot, kernel, &arena);
        if (found != (cases[i].instruction != NULL))
            fail_msg("%s: %sfound", cases[i].what, found ? "" : "not ");
        if (!found) {
            assert_int_equal(hot.loop, 99);
        } else if (strcmp(hot.instruction, cases[i].instruction) != 0 || hot.loop != cases[i].loop ||
                   hot.work != cases[i].work || hot.share < cases[i].share - 1e-12 ||
                   hot.share > cases[i].share + 1e-12) {
            fail_msg("%s: loop %zu, %.3f of %llu are %s", cases[i].what, hot.loop, hot.share,
                     (unsigned long long)hot.work, hot.instruction);
        }
        arena_release(&arena);
    }
}

/* A tail that is in more loops, and that a launch never enters. */
static void test_executed(void **state)
{
    (void)state;
    static const double executed[] = {40, 40, 2, 2, 2, 1};
    struct arena arena = {0};
    struct isa_hot hot;
    struct isa_kernel kernel =
        *program_kernel("gfx942",
                        "v_fma_f32 v0, v1, v2, v3\ns_cbranch_scc1 @0\nv_exp_f32_e32 v4, v5\nv_fma_f32 v6, v7, v8, v9\n"
                        "s_cbranch_scc1 @2\ns_endpgm",
                        (struct codeobj_kernel){0}, &arena);
    assert_true(isa_hot_find(&hot, &kernel, &arena));
    assert_int_equal(hot.loop, 1);
    assert_true(isnan(hot.turns));
    kernel.executed = executed;
    assert_true(isa_hot_find(&hot, &kernel, &arena));
    assert_int_equal(hot.loop, 0);
    assert_true(hot.turns == 40);
    arena_release(&arena);
}

/* Of all loops, whichever is hot. */
static void test_scratch(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct isa_scratch scratch = isa_scratch_find(program_kernel(
        "gfx942",
        "scratch_load_dword v0, off, off\ns_cbranch_scc1 @0\nv_fma_f32 v0, v1, v2, v3\n"
        "scratch_load_dwordx4 v[4:7], off, off\nscratch_store_dword off, v0, off\ns_cbranch_scc1 @2\ns_endpgm",
        (struct codeobj_kernel){0}, &arena));
    assert_int_equal(scratch.loop, 1);
    assert_int_equal(scratch.bytes, 20);
    scratch = isa_scratch_find(
        program_kernel("gfx942", "v_mov_b32_e32 v0, v1\ns_cbranch_scc1 @0", (struct codeobj_kernel){0}, &arena));
    assert_int_equal(scratch.loop, ISA_NO_LOOP);
    assert_int_equal(scratch.bytes, 0);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_executed),
                                       cmocka_unit_test(test_scratch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
