/* SPDX-License-Identifier: MIT
 *
 * Code that a kernel reaches through registers: calls of device functions and jumps that are too far for a branch.
 */
#include "isa_program.h"

#define FUNCTION_LINE 20u

/* A program of which lines from FUNCTION_LINE on are the function "f". */
static const struct isa_kernel *kernel_with_function(struct isa *isa, const char *target, const char *kernel,
                                                     const char *function, struct arena *arena)
{
    const struct codeobj_function f = {.name = "f", .address = program_line(FUNCTION_LINE), .size_bytes = 64};
    const struct codeobj object = {.target = target, .functions = &f, .function_count = 1};
    const struct codeobj_kernel known = {
        .name = "k", .code_address = PROGRAM_ADDRESS, .code_bytes = 4 * FUNCTION_LINE, .wave = 64};
    struct text source = {0}, text = {0};
    struct err err = {0};
    unsigned lines = 0;
    for (const char *at = kernel; *at; at++)
        lines += *at == '\n';
    text_add(&source, kernel);
    for (; lines < FUNCTION_LINE; lines++)
        text_add(&source, "s_nop 0\n");
    text_add(&source, function);
    program_text(&text, source.data);
    assert_int_equal(isa_parse(isa, &object, text.data, &known, 1, arena, &err), STATUS_OK);
    text_release(&text);
    text_release(&source);
    return isa->kernels;
}

#define FUNCTION "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\ns_setpc_b64 s[30:31]\n"

/* f lies 80 bytes behind the first instruction's end less 4. */
static const struct {
    const char *target, *kernel;
    bool is_followed;
} calls[] = {
    {"gfx90a",
     "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, lit(0x4c)\ns_addc_u32 s5, s5, lit(0x0)\ns_swappc_b64 s[30:31], s[4:5]\n"
     "s_endpgm\n",
     true},
    {"gfx1201",
     "s_getpc_b64 s[4:5]\ns_sext_i32_i16 s5, s5\ns_add_co_u32 s4, s4, 0x4c\ns_add_co_ci_u32 s5, s5, 0\n"
     "s_swappc_b64 s[30:31], s[4:5]\ns_endpgm\n",
     true},
    {"gfx1250", "s_get_pc_i64 s[4:5]\ns_add_nc_u64 s[4:5], s[4:5], 0x4c\ns_swap_pc_i64 s[30:31], s[4:5]\ns_endpgm\n",
     true},
    {"gfx90a",
     "s_getpc_b64 s[4:5]\ns_add_u32 s6, s4, 0x4c\ns_addc_u32 s7, s5, 0\ns_mov_b64 s[8:9], s[6:7]\n"
     "s_swappc_b64 s[30:31], s[8:9]\ns_endpgm\n",
     true},
    /* a jump, with the branches that assemblers write when they do not know which way it is */
    {"gfx942",
     "s_getpc_b64 s[4:5]\ns_add_i32 s6, 0x48, 4\ns_cmp_ge_i32 s6, 0\ns_cbranch_scc1 @8\ns_abs_i32 s6, s6\n"
     "s_sub_u32 s4, s4, s6\ns_subb_u32 s5, s5, 0\ns_setpc_b64 s[4:5]\ns_add_u32 s4, s4, s6\n"
     "s_addc_u32 s5, s5, 0\ns_setpc_b64 s[4:5]\n",
     true},
    /* one of several, chosen behind a branch */
    {"gfx942",
     "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 0x4c\ns_addc_u32 s5, s5, 0\ns_branch @8\ns_getpc_b64 s[4:5]\n"
     "s_add_u32 s4, s4, 0x20\ns_addc_u32 s5, s5, 0\ns_nop 0\ns_swappc_b64 s[30:31], s[4:5]\ns_endpgm\n",
     true},
    {"gfx942", "s_call_b64 s[30:31], @20\ns_endpgm\n", true},
    /* runs into it */
    {"gfx942", "v_mov_b32_e32 v0, 0\n", true},
    {"gfx942", "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_swappc_b64 s[30:31], s[4:5]\ns_endpgm\n", false},
    {"gfx942", "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, s0\ns_addc_u32 s5, s5, 0\ns_setpc_b64 s[4:5]\n", false},
    /* overwritten */
    {"gfx942",
     "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 0x4c\ns_addc_u32 s5, s5, 0\nv_readfirstlane_b32 s4, v0\n"
     "s_load_dword s5, s[0:1], 0x0\ns_branch @6\ns_swappc_b64 s[30:31], s[6:7]\ns_endpgm\n",
     false},
};

static void test_calls(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(calls); k++) {
        struct arena arena = {0};
        struct isa isa;
        const struct isa_kernel *kernel =
            kernel_with_function(&isa, calls[k].target, calls[k].kernel, FUNCTION, &arena);
        if (kernel->function_count != calls[k].is_followed || kernel->not_followed == calls[k].is_followed)
            fail_msg("%s: %zu functions, %u not followed", calls[k].kernel, kernel->function_count,
                     kernel->not_followed);
        assert_int_equal(kernel->mix.count[ISA_MATRIX], calls[k].is_followed);
        assert_int_equal(isa.matrix_instructions, 1);
        assert_int_equal(isa.functions[0].is_reached, calls[k].is_followed);
        arena_release(&arena);
    }
}

/* What a loop calls counts in it. */
static void test_call_in_loop(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct isa isa;
    const struct isa_kernel *kernel = kernel_with_function(&isa, "gfx942",
                                                           "v_mov_b32_e32 v0, 0\n"
                                                           "s_call_b64 s[30:31], @20\n"
                                                           "s_cbranch_scc1 @1\n"
                                                           "s_endpgm\n",
                                                           FUNCTION, &arena);
    assert_int_equal(kernel->loop_count, 1);
    assert_int_equal(kernel->loops[0].own.count[ISA_MATRIX], 0);
    assert_int_equal(kernel->loops[0].inclusive.count[ISA_MATRIX], 1);
    assert_int_equal(kernel->loops[0].inclusive.instructions, 4);
    assert_int_equal(kernel->calls, 1);
    arena_release(&arena);
}

/* Two kernels with one function: each has it, and the object counts it once. */
static void test_shared(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct isa isa;
    struct err err = {0};
    struct text text = {0};
    const struct codeobj_function f = {.name = "f", .address = program_line(0), .size_bytes = 8};
    const struct codeobj object = {.target = "gfx942", .functions = &f, .function_count = 1};
    const struct codeobj_kernel kernels[] = {{.name = "a", .code_address = program_line(2), .code_bytes = 8},
                                             {.name = "b", .code_address = program_line(4), .code_bytes = 8}};
    program_text(&text, FUNCTION "s_call_b64 s[30:31], @0\ns_endpgm\ns_call_b64 s[30:31], @0\ns_endpgm\n");
    assert_int_equal(isa_parse(&isa, &object, text.data, kernels, 2, &arena, &err), STATUS_OK);
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(isa.kernels[k].instruction_count, 4);
        assert_int_equal(isa.kernels[k].functions[0].first, 0);
        assert_int_equal(isa.kernels[k].instructions[2].address, kernels[k].code_address);
    }
    assert_int_equal(isa.instructions, 6);
    text_release(&text);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_call_in_loop),
        cmocka_unit_test(test_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
