/* SPDX-License-Identifier: MIT
 *
 * The walk on short programs as a disassembler writes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../near.h"

#include "../../../src/predict/walk_internal.h"
#include "rooftile/text.h"
#include "rooftile/walk.h"

#define BUFFER_BASE UINT64_C(0x100000000000)

struct bench {
    struct arena arena;
    struct text listing;
    struct isa isa;
    struct walk_launch launch;
    struct walk_options options;
    struct walk_buffer buffers[2];
    struct codeobj_arg args[2];
    uint8_t kernarg[24];
    struct walk_result result;
};

static const struct walk_clocks clocks = {.vector = 4,
                                          .transcendental = 16,
                                          .multiply = 16,
                                          .f64 = 8,
                                          .vector_latency = 4,
                                          .scalar = 4,
                                          .branch = 8,
                                          .branch_taken = 16,
                                          .barrier = 20,
                                          .lds = 64,
                                          .lds_bytes = 128,
                                          .l1 = 119,
                                          .l2 = 213,
                                          .memory = 886,
                                          .scalar_load = 48,
                                          .l1_bytes = 64};

/* Instructions of 8 bytes each; a branch is "s_branch @3" to the third of them. */
static void assemble(struct bench *bench, const char *const *lines)
{
    for (unsigned k = 0; lines[k]; k++) {
        const char *to = strchr(lines[k], '@');
        const int length = to ? (int)(to - lines[k]) : (int)strlen(lines[k]);
        const long words = to ? (strtol(to + 1, NULL, 10) - (long)k) * 2 - 1 : 0;
        text_addf(&bench->listing, "\t%.*s%s // %012X: BF80%04lX%s\n", length, lines[k], to ? "1" : "", k * 8,
                  (unsigned long)words & 0xffff, to ? "" : " 00000000");
    }
}

/* One argument: the address of the first buffer, in s[0:1] as the kernarg segment's; the workgroup's number in s2. */
static void setup(struct bench *bench, const char *target, const char *const *lines)
{
    struct err err = {0};
    *bench = (struct bench){0};
    assemble(bench, lines);
    struct codeobj_kernel kernel = {.name = "k",
                                    .code_bytes = 8192,
                                    .wave = 64,
                                    .properties = 8,
                                    .user_sgprs = 2,
                                    .workgroup_ids = 1,
                                    .kernarg_bytes = 16,
                                    .group_segment_bytes = 1024};
    const struct codeobj object = {.target = target};
    if (isa_parse(&bench->isa, &object, bench->listing.data, &kernel, 1, &bench->arena, &err))
        fail_msg("%s", err.text);
    const uint64_t base = BUFFER_BASE;
    memcpy(bench->kernarg, &base, sizeof(base));
    bench->buffers[0] = (struct walk_buffer){.base = BUFFER_BASE, .size_bytes = 1 << 20};
    bench->launch = (struct walk_launch){.code = walk_decode(&bench->isa.kernels[0], target, &bench->arena),
                                         .code_object = &bench->isa.kernels[0],
                                         .target = target,
                                         .grid = {4, 1, 1},
                                         .block = {64, 1, 1},
                                         .kernarg = bench->kernarg,
                                         .kernarg_bytes = 8,
                                         .buffers = bench->buffers,
                                         .buffer_count = 1};
    bench->options =
        (struct walk_options){.clocks = clocks, .line_bytes = 128, .l1_lines = 128, .l2_lines = 1024, .dies = 1};
}

static void run(struct bench *bench)
{
    struct err err = {0};
    if (walk_run(&bench->result, &bench->launch, &bench->options, &bench->arena, &err))
        fail_msg("%s", err.text);
}

static void teardown(struct bench *bench)
{
    text_release(&bench->listing);
    arena_release(&bench->arena);
}

/* v1: data that is not known; v2: 0. */
#define LOADED                                                                                                         \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0", "v_mov_b32_e32 v2, 0", "global_load_dword v1, v2, s[4:5]",                   \
        "s_waitcnt vmcnt(0)"

/* Programs whose executed instructions say what the values were. */
static void test_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *target;
        const char *lines[16];
        double instructions;
        size_t unknown;
    } cases[] = {
        {"straight", "gfx942", {"v_mov_b32_e32 v1, 1", "s_endpgm"}, 2, 0},
        {"a counted loop",
         "gfx942",
         {"s_mov_b32 s4, 10", "s_add_i32 s4, s4, -1", "s_cmp_lg_u32 s4, 0", "s_cbranch_scc1 @1", "s_endpgm"},
         32,
         0},
        {"constants of 16 bits are sign-extended, but for unsigned compares",
         "gfx942",
         {"s_movk_i32 s4, 0x60", "s_addk_i32 s4, 0xffe0", "s_cmpk_gt_i32 s4, 0xffff", "s_cbranch_scc1 @1",
          "s_cmpk_lt_u32 s4, 0xfff0", "s_cbranch_scc1 @0", "s_endpgm"},
         1 + 4 * 3 + 3,
         0},
        {"lanes leave a loop one by one: the longest decides",
         "gfx942",
         {"v_and_b32_e32 v1, 0x3ff, v0", "s_mov_b64 s[4:5], 0", "v_subrev_u32_e32 v1, 1, v1",
          "v_cmp_gt_i32_e32 vcc, 0, v1", "s_or_b64 s[4:5], vcc, s[4:5]", "s_andn2_b64 exec, exec, s[4:5]",
          "s_cbranch_execnz @2", "s_endpgm"},
         2 + 64 * 5 + 1,
         0},
        {"the workgroup's number", "gfx942", {"s_cmp_eq_u32 s2, 2", "s_cbranch_scc1 @3", "s_nop 0", "s_endpgm"}, 3, 0},
        {"an address out of the arguments",
         "gfx942",
         {"s_load_dwordx2 s[4:5], s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "s_cmp_eq_u32 s5, 0x1000", "s_cbranch_scc1 @5",
          "s_nop 0", "s_endpgm"},
         5,
         0},
        {"a buffer's records: what is stored is loaded again",
         "gfx942",
         {"s_load_dwordx2 s[4:5], s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "s_or_b32 s5, s5, 0x80000",
          "s_movk_i32 s6, 0x40", "s_mov_b32 s7, 0x27000", "v_mov_b32_e32 v1, 5", "v_mov_b32_e32 v2, 3",
          "buffer_store_dword v1, v2, s[4:7], 0 idxen", "buffer_load_dword v3, v2, s[4:7], 0 idxen",
          "s_waitcnt vmcnt(0)", "v_readfirstlane_b32 s8, v3", "s_cmp_eq_u32 s8, 5", "s_cbranch_scc1 @14", "s_nop 0",
          "s_endpgm"},
         14,
         0},
        {"a buffer that is swizzled: where its records lie is not known",
         "gfx942",
         {"s_load_dwordx2 s[4:5], s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "s_or_b32 s5, s5, 0x80080000",
          "s_movk_i32 s6, 0x40", "s_mov_b32 s7, 0x27000", "v_mov_b32_e32 v1, 5", "v_mov_b32_e32 v2, 3",
          "buffer_store_dword v1, v2, s[4:7], 0 idxen", "buffer_load_dword v3, v2, s[4:7], 0 idxen",
          "s_waitcnt vmcnt(0)", "v_readfirstlane_b32 s8, v3", "s_cmp_eq_u32 s8, 5", "s_cbranch_scc1 @14", "s_nop 0",
          "s_endpgm"},
         14,
         1},
        {"what is stored is loaded again",
         "gfx942",
         {"s_load_dwordx2 s[4:5], s[0:1], 0x0", "v_mov_b32_e32 v1, 7", "v_lshlrev_b32_e32 v2, 2, v0",
          "global_store_dword v2, v1, s[4:5]", "global_load_dword v3, v2, s[4:5]", "s_waitcnt vmcnt(0)",
          "v_cmp_eq_u32_e32 vcc, 7, v3", "s_cbranch_vccnz @9", "s_nop 0", "s_endpgm"},
         9,
         0},
        {"LDS keeps what another lane wrote",
         "gfx942",
         {"v_and_b32_e32 v1, 63, v0", "v_lshlrev_b32_e32 v1, 2, v1", "v_xor_b32_e32 v2, 4, v1", "ds_write_b32 v1, v1",
          "s_waitcnt lgkmcnt(0)", "s_barrier", "ds_read_b32 v3, v2", "s_waitcnt lgkmcnt(0)",
          "v_cmp_eq_u32_e32 vcc, v2, v3", "s_cmp_eq_u64 vcc, -1", "s_cbranch_scc1 @12", "s_nop 0", "s_endpgm"},
         12,
         0},
        {"lanes see each other",
         "gfx942",
         {"v_and_b32_e32 v1, 63, v0", "v_mov_b32_dpp v2, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
          "v_readlane_b32 s4, v2, 7", "s_cmp_eq_u32 s4, 6", "s_cbranch_scc1 @6", "s_nop 0", "s_endpgm"},
         6,
         0},
        {"bits by a table",
         "gfx950",
         {"v_mov_b32_e32 v1, 12", "v_mov_b32_e32 v2, 10", "v_mov_b32_e32 v3, 6",
          "v_bitop3_b32 v4, v1, v2, v3 bitop3:0x96", "v_readfirstlane_b32 s4, v4", "s_cmp_eq_u32 s4, 0",
          "s_cbranch_scc1 @8", "s_nop 0", "s_endpgm"},
         8,
         0},
        {"waves of 32 and names of gfx11",
         "gfx1100",
         {"v_and_b32_e32 v1, 0x3ff, v0", "v_cmp_gt_u32_e32 vcc_lo, 32, v1", "s_and_saveexec_b32 s4, vcc_lo",
          "v_add_nc_u32_e32 v1, 1, v1", "s_cbranch_execz @6", "v_nop", "s_endpgm"},
         7,
         0},
        {"both halves of a VOPD read before either writes",
         "gfx1100",
         {"v_mov_b32_e32 v1, 1", "v_mov_b32_e32 v2, 2", "v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1",
          "v_readfirstlane_b32 s4, v2", "s_cmp_eq_u32 s4, 1", "s_cbranch_scc1 @7", "s_nop 0", "s_endpgm"},
         7,
         0},
        {"lanes that were off keep what they had",
         "gfx942",
         {"v_mov_b32_e32 v1, 1", "s_mov_b64 s[4:5], exec", "s_mov_b64 exec, 1", "v_mov_b32_e32 v1, 2",
          "s_mov_b64 exec, s[4:5]", "v_readlane_b32 s6, v1, 5", "s_cmp_eq_u32 s6, 1", "s_cbranch_scc1 @9", "s_nop 0",
          "s_endpgm"},
         9,
         0},
        {"a register for data first, then for a branch",
         "gfx942",
         {"v_mov_b32_e32 v1, 3", "v_add_f32_e32 v2, v1, v1", "v_mov_b32_e32 v1, 4", "v_readfirstlane_b32 s4, v1",
          "s_cmp_eq_u32 s4, 4", "s_cbranch_scc1 @7", "s_nop 0", "s_endpgm"},
         7,
         0},
        {"what the next pass of a loop needs",
         "gfx942",
         {"v_mov_b32_e32 v1, 0", "v_mov_b32_e32 v2, 0", "v_readfirstlane_b32 s4, v2", "v_mov_b32_e32 v2, v1",
          "v_add_u32_e32 v1, 1, v1", "s_cmp_lg_u32 s4, 5", "s_cbranch_scc1 @2", "s_endpgm"},
         2 + 7 * 5 + 1,
         0},
        {"whole numbers that saturate, then a branch on them",
         "gfx942",
         {"v_mov_b32_e32 v1, 3", "v_sub_u32_e64 v1, v1, 5 clamp", "v_add_u32_e64 v1, v1, -1 clamp",
          "v_add_u32_e64 v1, v1, 2 clamp", "v_readfirstlane_b32 s4, v1", "s_cmp_eq_u32 s4, -1", "s_cbranch_scc1 @8",
          "s_nop 0", "s_endpgm"},
         8,
         0},
        {"a quotient of floats, then a branch on it",
         "gfx942",
         {"v_mov_b32_e32 v1, 6.0", "v_mov_b32_e32 v2, 2.0", "v_rcp_f32_e32 v3, v2", "v_mul_f32_e32 v4, v1, v3",
          "v_cvt_u32_f32_e32 v4, v4", "v_readfirstlane_b32 s4, v4", "s_cmp_eq_u32 s4, 3", "s_cbranch_scc1 @9",
          "s_nop 0", "s_endpgm"},
         9,
         0},
        {"lanes that data turns off and on again, around arithmetic alone: nothing depends on them",
         "gfx942",
         {LOADED, "v_cmp_gt_u32_e32 vcc, 5, v1", "s_and_saveexec_b64 s[6:7], vcc", "v_add_u32_e32 v2, 1, v2",
          "s_or_b64 exec, exec, s[6:7]", "s_endpgm"},
         9,
         0},
        {"the same around a store",
         "gfx942",
         {LOADED, "v_cmp_gt_u32_e32 vcc, 5, v1", "s_and_saveexec_b64 s[6:7], vcc", "global_store_dword v2, v2, s[4:5]",
          "s_or_b64 exec, exec, s[6:7]", "s_endpgm"},
         9,
         1},
        {"and where a branch asks for what was written between",
         "gfx942",
         {LOADED, "v_cmp_gt_u32_e32 vcc, 5, v1", "s_and_saveexec_b64 s[6:7], vcc", "v_add_u32_e32 v2, 1, v2",
          "s_or_b64 exec, exec, s[6:7]", "v_readlane_b32 s6, v2, 5", "s_cmp_eq_u32 s6, 1", "s_cbranch_scc1 @11",
          "s_endpgm"},
         12,
         1},
        {"a branch on data that is not known",
         "gfx942",
         {"s_load_dwordx2 s[4:5], s[0:1], 0x0", "s_load_dword s6, s[4:5], 0x0", "s_cmp_eq_u32 s6, 0",
          "s_cbranch_scc1 @4", "s_endpgm"},
         5,
         1},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct bench bench;
        setup(&bench, cases[k].target, cases[k].lines);
        if (strcmp(cases[k].target, "gfx1100") == 0)
            bench.isa.kernels[0].code.wave = 64;
        run(&bench);
        if (bench.result.sums.instructions != cases[k].instructions || bench.result.unknown_count != cases[k].unknown ||
            bench.result.not_executed_count)
            fail_msg("%s: %g instructions, %zu unknown, not executed: %s", cases[k].name,
                     bench.result.sums.instructions, bench.result.unknown_count,
                     bench.result.not_executed_count ? bench.result.not_executed[0] : "-");
        teardown(&bench);
    }
}

/* A kernel that calls a function which lies before it. */
static void test_entry(void **state)
{
    (void)state;
    static const char *const lines[] = {"s_setpc_b64 s[30:31]",
                                        "s_getpc_b64 s[4:5]",
                                        "s_sub_u32 s4, s4, 0x10",
                                        "s_subb_u32 s5, s5, 0",
                                        "s_nop 0",
                                        "s_swappc_b64 s[30:31], s[4:5]",
                                        "s_endpgm",
                                        NULL};
    struct bench bench;
    setup(&bench, "gfx942", lines);
    bench.isa.kernels[0].code.code_address = 8;
    bench.launch.code = walk_decode(&bench.isa.kernels[0], "gfx942", &bench.arena);
    bench.options.counts_each = true;
    run(&bench);
    assert_true(bench.result.sums.instructions == 7 && bench.result.executed[0] == 1);
    teardown(&bench);
}

/* Arithmetic that is unrolled far makes few passes, of which few say what the others do: of an outer loop too. */
static void test_short_loop(void **state)
{
    (void)state;
    static const char *const lines[] = {"s_mov_b32 s6, 0",
                                        "s_mov_b32 s7, 0",
                                        "v_add_f32_e32 v1, v1, v2",
                                        "s_add_i32 s7, s7, 1",
                                        "s_cmp_lt_u32 s7, 30",
                                        "s_cbranch_scc1 @2",
                                        "s_add_i32 s6, s6, 1",
                                        "s_cmp_lt_u32 s6, 31",
                                        "s_cbranch_scc1 @1",
                                        "s_endpgm",
                                        NULL};
    struct bench bench;
    setup(&bench, "gfx942", lines);
    bench.launch.grid[0] = 1; /* without neighbours */
    bench.options.no_jumps = true;
    run(&bench);
    const struct walk_result walked = bench.result;
    bench.options.no_jumps = false;
    bench.options.counts_each = true;
    bench.options.budget = (uint64_t)walked.sums.instructions / 2;
    run(&bench);
    assert_false(bench.result.over_budget);
    assert_true(bench.result.executed[2] == 30 * 31 && bench.result.executed[6] == 31 && bench.result.executed[9] == 1);
    assert_true(bench.result.sums.instructions == walked.sums.instructions);
    assert_true(bench.result.clocks > 0.99 * walked.clocks && bench.result.clocks < 1.01 * walked.clocks);
    teardown(&bench);
}

/* A loop of 100,000 passes over memory counts the same whether its passes are walked or added. */
static void test_long_loop(void **state)
{
    (void)state;
    static const char *const lines[] = {"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                        "v_and_b32_e32 v1, 63, v0",
                                        "v_lshlrev_b32_e32 v1, 2, v1",
                                        "s_mov_b32 s6, 0",
                                        "global_load_dword v2, v1, s[4:5]",
                                        "s_waitcnt vmcnt(0)",
                                        "v_add_u32_e32 v1, 4, v1",
                                        "s_add_i32 s6, s6, 1",
                                        "s_cmp_lt_u32 s6, 100000",
                                        "s_cbranch_scc1 @4",
                                        "s_endpgm",
                                        NULL};
    struct bench bench;
    setup(&bench, "gfx942", lines);
    bench.launch.grid[0] = 1; /* without neighbours */
    bench.options.no_jumps = true;
    bench.options.budget = 10000000;
    run(&bench);
    const struct walk_result walked = bench.result;
    assert_null(walked.executed);
    bench.options.no_jumps = false;
    bench.options.counts_each = true;
    bench.options.budget = 20000;
    run(&bench);
    assert_false(bench.result.over_budget);
    assert_true(bench.result.executed[3] == 1 && bench.result.executed[4] == 100000 && bench.result.executed[10] == 1);
    assert_true(bench.result.sums.instructions == walked.sums.instructions);
    assert_true(bench.result.sums.count[WALK_LOAD] == walked.sums.count[WALK_LOAD]);
    assert_true(bench.result.clocks > 0.99 * walked.clocks && bench.result.clocks < 1.01 * walked.clocks);
    const double lines_walked = walked.traffic[0].distinct, lines_added = bench.result.traffic[0].distinct;
    assert_true(lines_added > 0.99 * lines_walked && lines_added < 1.01 * lines_walked);
    teardown(&bench);
}

static void test_lines(void **state)
{
    (void)state;
    static const char *const rows[] = {"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                       "v_and_b32_e32 v1, 63, v0",
                                       "v_lshlrev_b32_e32 v1, 9, v1", /* each lane a line of its own */
                                       "global_load_dword v2, v1, s[4:5]",
                                       "s_waitcnt vmcnt(0)",
                                       "s_endpgm",
                                       NULL};
    struct bench bench;
    setup(&bench, "gfx942", rows);
    run(&bench);
    assert_true(bench.result.sums.access_lines == 64);
    assert_true(bench.result.traffic[0].distinct == 64);
    assert_true(bench.result.clocks > 213 + 64);
    assert_true(bench.result.sums.l1_clocks == 2 * 64); /* 128 bytes of each line come from L2, 64 in a clock */
    teardown(&bench);
}

/* Four waves whose lines come from L2: the last one waits for the others. */
static void test_l1_turns(void **state)
{
    (void)state;
    static const char *const rows[] = {"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                       "v_lshlrev_b32_e32 v1, 9, v0",
                                       "global_load_dword v2, v1, s[4:5]",
                                       "s_waitcnt vmcnt(0)",
                                       "s_endpgm",
                                       NULL};
    struct bench bench;
    setup(&bench, "gfx942", rows);
    run(&bench);
    const double alone = bench.result.clocks;
    bench.launch.block[0] = 256;
    run(&bench);
    const double waited = bench.result.clocks - alone;
    assert_true(waited > 2.5 * 128 && waited < 3.5 * 128);
    teardown(&bench);
}

static void test_stored_lines(void **state)
{
    (void)state;
    static const char *const rows[] = {"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                       "v_lshlrev_b32_e32 v1, 2, v0",
                                       "global_load_dword v2, v1, s[4:5]",
                                       "global_load_dword v2, v1, s[4:5]", /* of L1 */
                                       "global_store_dword v1, v2, s[4:5]",
                                       "global_load_dword v2, v1, s[4:5]", /* of L2 */
                                       "s_endpgm",
                                       NULL};
    struct bench bench;
    setup(&bench, "gfx942", rows);
    run(&bench);
    assert_true(bench.result.traffic[0].loads == 6 && bench.result.traffic[0].l1_miss == 4);
    assert_true(bench.result.traffic[0].distinct == 2);
    teardown(&bench);
}

/* A pass over more than L2 holds brings each line to the memory again. */
static void test_stored_again(void **state)
{
    (void)state;
    static const char *const rows[] = {"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                       "v_lshlrev_b32_e32 v1, 2, v0",
                                       "global_store_dword v1, v2, s[4:5]",
                                       "global_store_dword v1, v2, s[4:5] offset:256",
                                       "global_store_dword v1, v2, s[4:5]",
                                       "s_endpgm",
                                       NULL};
    struct bench bench;
    setup(&bench, "gfx942", rows);
    run(&bench);
    assert_true(bench.result.traffic[0].stores == 6 && bench.result.traffic[0].stored == 4);
    bench.options.l2_lines = 2;
    run(&bench);
    assert_true(bench.result.traffic[0].stores == 6 && bench.result.traffic[0].stored == 6);
    teardown(&bench);
}

/* Two workgroups on two cores store 4 x 16 bytes each: in turns to the same lines, where each begins anew behind what
 * is the other's; or far apart. */
static void test_contended(void **state)
{
    (void)state;
    static const struct {
        const char *first; /* of a workgroup's bytes, by its number */
        const char *offsets[4];
        double contended;
    } cases[] = {{"s_lshl_b32 s3, s2, 4", {"0", "32", "64", "96"}, 1},      /* steps of one length: one run */
                 {"s_lshl_b32 s3, s2, 4", {"0", "4", "32", "36"}, 2},       /* two and two */
                 {"s_lshl_b32 s3, s2, 4", {"0", "128", "256", "384"}, 4},   /* a pair of lines each */
                 {"s_lshl_b32 s3, s2, 12", {"0", "128", "256", "384"}, 0},  /* pages apart */
                 {"s_lshl_b32 s3, s2, 6", {"0", "128", "256", "384"}, 4},   /* the other line of a pair */
                 {"s_lshl_b32 s3, s2, 7", {"0", "256", "512", "1024"}, 0}}; /* the pair between */
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct bench bench;
        struct text stores[4] = {{0}};
        const char *lines[9] = {"s_load_dwordx2 s[4:5], s[0:1], 0x0", cases[k].first, "v_mov_b32_e32 v1, s3"};
        for (size_t n = 0; n < 4; n++) {
            text_addf(&stores[n], "global_store_dword v1, v2, s[4:5] offset:%s", cases[k].offsets[n]);
            lines[3 + n] = stores[n].data;
        }
        lines[7] = "s_endpgm";
        setup(&bench, "gfx942", lines);
        bench.launch.grid[0] = 2;
        bench.launch.block[0] = 1;
        bench.options.line_bytes = 64;
        bench.options.dies = 2;
        run(&bench);
        assert_true(bench.result.traffic[0].contended == 0); /* of a GPU, whose caches are not coherent */
        bench.options.window = 900;
        run(&bench);
        if (bench.result.traffic[0].contended != cases[k].contended)
            fail_msg("case %zu: %g", k, bench.result.traffic[0].contended);
        teardown(&bench);
        for (size_t n = 0; n < 4; n++)
            text_release(&stores[n]);
    }
}

static void test_bank_conflicts(void **state)
{
    (void)state;
    static const char *const lines[] = {"v_and_b32_e32 v1, 63, v0",
                                        "v_lshlrev_b32_e32 v1, 3, v1",
                                        "ds_read_b32 v2, v1",
                                        "s_waitcnt lgkmcnt(0)",
                                        "s_endpgm",
                                        NULL};
    struct bench bench;
    setup(&bench, "gfx942", lines);
    run(&bench);
    assert_true(bench.result.sums.lds_clocks == 4); /* two lanes of 32 on each bank, twice */
    assert_true(bench.result.sums.lds_free_clocks == 2);
    teardown(&bench);
}

static void test_endless(void **state)
{
    (void)state;
    static const char *const lines[] = {"s_nop 0", "s_branch @1", "s_endpgm", NULL};
    struct bench bench;
    setup(&bench, "gfx942", lines);
    bench.options.budget = 5000;
    run(&bench);
    assert_true(bench.result.over_budget);
    teardown(&bench);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"s_endpgm", NULL};
    struct bench bench;
    struct err err = {0};
    setup(&bench, "gfx942", lines);
    bench.launch.block[0] = 2048;
    assert_int_equal(walk_run(&bench.result, &bench.launch, &bench.options, &bench.arena, &err), ERR_CONFIG);
    assert_string_equal(err.text, "a workgroup of 2048 work-items cannot be walked (1 to 1024)");
    bench.launch.block[0] = 64;
    bench.launch.grid[1] = 0;
    assert_int_equal(walk_run(&bench.result, &bench.launch, &bench.options, &bench.arena, &err), ERR_CONFIG);
    teardown(&bench);
}

/* Arithmetic of f64 has the machine's rate, conversions to it too. */
static void test_f64(void **state)
{
    (void)state;
    static const struct {
        const char *lines[3];
        double clocks; /* of the workgroup's wave */
    } cases[] = {{{"v_add_f32_e32 v2, v3, v4", "s_endpgm"}, 4},
                 {{"v_add_f64 v[2:3], v[4:5], v[6:7]", "s_endpgm"}, 8},
                 {{"v_cvt_f64_f32_e32 v[2:3], v4", "s_endpgm"}, 8}};
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct bench bench;
        setup(&bench, "gfx90a", cases[k].lines);
        run(&bench);
        assert_near(bench.result.sums.vector_clocks / bench.result.sums.workgroups, cases[k].clocks, 1e-9);
        teardown(&bench);
    }
}

/* Out of order: the chain takes time, not copies, no-ops, loads and the second chain between its steps; with room for
 * one step alone all arithmetic is a chain. Long loops are added as they would be walked. */
static void test_window(void **state)
{
    (void)state;
    static const char *const lines[] = {LOADED,
                                        "s_mov_b32 s7, 0",
                                        "v_fma_f32 v3, v1, v3, v2",
                                        "v_mov_b32_e32 v5, v3",
                                        "v_fmac_f32_e32 v4, v1, v1",
                                        "s_nop 7",
                                        "v_add_f32_e32 v3, v5, v1",
                                        "v_add_f32_e32 v6, v1, v1",
                                        "s_add_i32 s7, s7, 1",
                                        "s_cmp_lt_u32 s7, 5000",
                                        "s_cbranch_scc1 @5",
                                        "s_endpgm",
                                        NULL};
    static const struct {
        uint32_t window;
        double steps; /* of a pass */
    } cases[] = {{100, 2}, {1, 4}};
    for (size_t k = 0; k < 2 * COUNT_OF(cases); k++) {
        struct bench bench;
        setup(&bench, "gfx90a", lines);
        bench.options.clocks = (struct walk_clocks){.vector_latency = 3, .lds_bytes = INFINITY, .l1_bytes = INFINITY};
        bench.options.window = cases[k / 2].window;
        bench.options.no_jumps = k % 2;
        run(&bench);
        assert_near(bench.result.clocks, 5000 * 3 * cases[k / 2].steps, 1e-9);
        teardown(&bench);
    }
}

/* An argument comes from L2, a buffer's line and what lies at an address that is not known from where data is. */
static void test_scalar_loads(void **state)
{
    (void)state;
    static const char *const lines[] = {"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                        "s_waitcnt lgkmcnt(0)",
                                        "s_load_dword s6, s[4:5], 0x0",
                                        "s_waitcnt lgkmcnt(0)",
                                        "s_load_dword s7, s[4:5], s6",
                                        "s_waitcnt lgkmcnt(0)",
                                        "s_load_dword s7, s[4:5], 0x40",
                                        "s_waitcnt lgkmcnt(0)",
                                        "s_endpgm",
                                        NULL};
    struct bench bench;
    setup(&bench, "gfx942", lines);
    run(&bench);
    const double cold = bench.result.clocks;
    bench.options.warm = true;
    run(&bench);
    assert_near(cold - bench.result.clocks, 2 * (clocks.memory - clocks.l2), 1e-9);
    teardown(&bench);
}

/* Workgroups 0 to 4 of 100 load, those of rows 0 and 1 of 6 store, 60 and more of 100 load; in the middle nobody has
 * work. */
static void test_idle_workgroups(void **state)
{
    (void)state;
    static const char *const one[] = {"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                      "s_cmp_gt_u32 s2, 4",
                                      "s_cbranch_scc1 @5",
                                      "v_lshlrev_b32_e32 v1, 9, v0",
                                      "global_load_dword v2, v1, s[4:5]",
                                      "s_endpgm",
                                      NULL},
                             *const two[] = {"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                             "s_cmp_gt_u32 s2, 2",
                                             "s_cbranch_scc1 @7",
                                             "s_cmp_gt_u32 s3, 1",
                                             "s_cbranch_scc1 @7",
                                             "v_mov_b32_e32 v1, 0",
                                             "global_store_dword v1, v1, s[4:5]",
                                             "s_endpgm",
                                             NULL},
                             *const last[] = {"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                              "s_cmp_lt_u32 s2, 60",
                                              "s_cbranch_scc1 @5",
                                              "v_lshlrev_b32_e32 v1, 9, v0",
                                              "global_load_dword v2, v1, s[4:5]",
                                              "s_endpgm",
                                              NULL},
                             *const none[] = {"v_mov_b32_e32 v1, 0", "s_endpgm", NULL};
    struct bench bench;
    setup(&bench, "gfx942", one);
    bench.launch.grid[0] = 100;
    run(&bench);
    assert_true(bench.result.sums.accesses == 1 && bench.result.sums.workgroups == 1);
    assert_near(bench.result.working, 0.05, 1e-12);
    bench.launch.grid[0] = 5; /* the middle one has work */
    run(&bench);
    assert_true(bench.result.sums.accesses == 1 && bench.result.working == 1);
    teardown(&bench);
    setup(&bench, "gfx942", two);
    bench.isa.kernels[0].code.workgroup_ids = 3;
    bench.launch.grid[0] = 9;
    bench.launch.grid[1] = 6;
    run(&bench);
    assert_true(bench.result.sums.accesses == 1 && bench.result.stored[0]);
    assert_near(bench.result.working, 1.0 / 9, 1e-12);
    teardown(&bench);
    setup(&bench, "gfx942", last);
    bench.launch.grid[0] = 100;
    run(&bench);
    assert_true(bench.result.sums.accesses == 1 && bench.result.sums.workgroups == 1);
    assert_near(bench.result.working, 0.4, 0.05);
    teardown(&bench);
    setup(&bench, "gfx942", none);
    run(&bench);
    assert_true(bench.result.sums.accesses == 0 && bench.result.working == 1);
    teardown(&bench);
}

/* A register that holds data, and an address in lanes that two nested ifs leave on. */
static void test_needed(void **state)
{
    static const char *const nested[] = {LOADED,
                                         "v_add_f32_e32 v5, v1, v1",
                                         "global_store_dword v2, v5, s[4:5]",
                                         "v_cmp_lt_u32_e32 vcc, 7, v0",
                                         "s_and_saveexec_b64 s[6:7], vcc",
                                         "s_cbranch_execz @15",
                                         "v_lshlrev_b32_e32 v5, 2, v0",
                                         "v_sub_co_u32_e32 v6, vcc, 9, v0",
                                         "s_and_saveexec_b64 s[8:9], vcc",
                                         "global_store_dword v5, v1, s[4:5]",
                                         "s_or_b64 exec, exec, s[8:9]",
                                         "s_and_b64 vcc, exec, s[8:9]",
                                         "s_or_b64 exec, exec, s[6:7]",
                                         "s_endpgm",
                                         NULL};
    const char *unmatched[COUNT_OF(nested)];
    struct bench bench;
    memcpy(unmatched, nested, sizeof(unmatched));
    unmatched[15] = "s_mov_b64 exec, -1";
    unmatched[16] = "global_store_dword v5, v1, s[4:5]";
    (void)state;
    for (int known = 0; known < 2; known++) {
        setup(&bench, "gfx942", known ? nested : unmatched);
        const struct op *ops = bench.launch.code->ops;
        assert_string_equal(ops[4].in->mnemonic, "v_add_f32_e32");
        assert_true(ops[4].unneeded == known && !ops[9].unneeded && !ops[10].unneeded);
        teardown(&bench);
    }
}

static bool is_needed(const char *const *lines, size_t at)
{
    struct bench bench;
    setup(&bench, "gfx942", lines);
    const bool needed = !bench.launch.code->ops[at].unneeded;
    teardown(&bench);
    return needed;
}

/* A mask that chooses which of two values is stored, and one that a branch asks; halves of pairs. */
static void test_needed_masks(void **state)
{
    static const char *const chosen[] = {LOADED,
                                         "v_cmp_gt_f32_e32 vcc, v1, v0",
                                         "v_cndmask_b32_e32 v3, v0, v1, vcc",
                                         "global_store_dword v2, v3, s[4:5]",
                                         "s_cmp_eq_u32 s6, 0",
                                         "s_cselect_b64 vcc, -1, 0",
                                         "s_cbranch_vccnz @10",
                                         "s_endpgm",
                                         NULL};
    static const char *const low[] = {LOADED, "v_pk_add_f32 v[6:7], v[0:1], v[0:1] op_sel_hi:[0,0]",
                                      "global_store_dword v6, v0, s[4:5]", "s_endpgm", NULL};
    static const char *const both[] = {LOADED, "v_pk_add_f32 v[6:7], v[0:1], v[0:1] op_sel_hi:[1,0]",
                                       "global_store_dword v6, v0, s[4:5]", "s_endpgm", NULL};
    const char *asked[COUNT_OF(chosen)];
    memcpy(asked, chosen, sizeof(asked));
    asked[8] = "s_nop 0";
    (void)state;
    const size_t load = 2, compare = 4, choice = 5;
    assert_true(!is_needed(chosen, load) && !is_needed(chosen, compare) && !is_needed(chosen, choice));
    assert_true(is_needed(asked, load) && is_needed(asked, compare));
    assert_true(!is_needed(low, load) && is_needed(both, load));
}

/* A sum over the lanes of a wave, as compilers put it before an atomic; nothing of it serves an access. */
static void test_lanes_in_turn(void **state)
{
    static const char *const sum[] = {LOADED,
                                      "s_mov_b64 s[6:7], exec",
                                      "s_ff1_i32_b64 s8, s[6:7]",
                                      "v_readlane_b32 s9, v1, s8",
                                      "s_lshl_b64 s[10:11], 1, s8",
                                      "s_andn2_b64 s[6:7], s[6:7], s[10:11]",
                                      "v_add_u32_e32 v3, s9, v3",
                                      "s_cmp_lg_u64 s[6:7], 0",
                                      "s_cbranch_scc1 @5",
                                      "v_add_u32_e32 v2, 4, v2",
                                      "global_store_dword v2, v3, s[4:5]",
                                      "s_endpgm",
                                      NULL};
    struct bench bench;
    (void)state;
    setup(&bench, "gfx942", sum);
    run(&bench);
    const struct walk_sums *sums = &bench.result.sums;
    assert_near(sums->lane_vector_clocks, sums->vector_clocks - 2 * 4, 1e-9);
    assert_true(sums->lane_clocks >= 64 * 7 * 4 && sums->lane_scalar_clocks >= 64 * 4 * 4);
    assert_near(sums->index_clocks, 2 * 4, 1e-9);
    assert_true(sums->control_clocks <= 5 * 4 && sums->scalar_clocks > 64 * 4 * 4);
    teardown(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),        cmocka_unit_test(test_entry),
        cmocka_unit_test(test_long_loop),     cmocka_unit_test(test_short_loop),
        cmocka_unit_test(test_lines),         cmocka_unit_test(test_l1_turns),
        cmocka_unit_test(test_stored_lines),  cmocka_unit_test(test_bank_conflicts),
        cmocka_unit_test(test_endless),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_f64),           cmocka_unit_test(test_stored_again),
        cmocka_unit_test(test_scalar_loads),  cmocka_unit_test(test_idle_workgroups),
        cmocka_unit_test(test_needed),        cmocka_unit_test(test_needed_masks),
        cmocka_unit_test(test_lanes_in_turn), cmocka_unit_test(test_window),
        cmocka_unit_test(test_contended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
