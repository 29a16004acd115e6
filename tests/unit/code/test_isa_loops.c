/* SPDX-License-Identifier: MIT
 *
 * Loops of small control flow graphs.
 */
#include "isa_program.h"

struct expected_loop {
    unsigned header, first, last; /* lines */
    unsigned depth;
    uint64_t own;
};

static const struct {
    const char *what;
    const char *source;
    size_t count;
    struct expected_loop loops[3];
} cases[] = {
    {"no branch", "s_nop 0\nv_mov_b32 v0, v1\ns_endpgm", 0, {{0}}},
    {"forward branches are no loop", "s_cbranch_scc1 @2\ns_nop 0\ns_cbranch_scc0 @4\ns_nop 1\ns_endpgm", 0, {{0}}},
    {"one block", "s_nop 0\nv_mov_b32 v0, v1\ns_cbranch_scc1 @1\ns_endpgm", 1, {{1, 1, 2, 1, 2}}},
    {"a branch to itself", "s_cbranch_scc1 @0\ns_endpgm", 1, {{0, 0, 0, 1, 1}}},
    {"nested",
     "s_nop 0\ns_nop 1\ns_nop 2\ns_cbranch_scc1 @2\ns_cbranch_scc0 @1\ns_endpgm",
     2,
     {{1, 1, 4, 1, 2}, {2, 2, 3, 2, 2}}},
    {"two branches back to one header are one loop",
     "s_nop 0\ns_nop 1\ns_cbranch_scc1 @1\ns_nop 2\ns_cbranch_scc0 @1\ns_endpgm",
     1,
     {{1, 1, 4, 1, 4}}},
    {"both sides of an if belong to the body",
     "s_cbranch_scc1 @3\ns_nop 1\ns_branch @4\ns_nop 2\ns_cbranch_vccnz @0\ns_endpgm",
     1,
     {{0, 0, 4, 1, 5}}},
    {"a way out in the middle", "s_nop 0\ns_cbranch_scc1 @4\ns_nop 1\ns_branch @0\ns_endpgm", 1, {{0, 0, 3, 1, 4}}},
    {"the latch laid out before the header",
     "s_branch @3\ns_nop 0\ns_cbranch_scc1 @5\ns_nop 1\ns_branch @1\ns_endpgm",
     1,
     {{3, 1, 4, 1, 4}}},
    {"one after the other",
     "s_cbranch_scc1 @0\ns_nop 0\ns_nop 1\ns_cbranch_scc1 @2\ns_endpgm",
     2,
     {{0, 0, 0, 1, 1}, {2, 2, 3, 1, 2}}},
    {"a part that ends the kernel is outside",
     "s_nop 0\ns_cbranch_scc1 @3\ns_cbranch_scc1 @0\ns_nop 1\ns_endpgm",
     1,
     {{0, 0, 2, 1, 3}}},
    {"entered at two places: one loop",
     "s_cbranch_scc1 @3\ns_nop 0\ns_nop 1\ns_nop 2\ns_cbranch_scc1 @1\ns_endpgm",
     1,
     {{1, 1, 4, 1, 4}}},
    {"code that nothing reaches", "s_endpgm\ns_nop 0\ns_cbranch_scc1 @1\ns_endpgm", 1, {{1, 1, 2, 1, 2}}},
    {"branches out of the kernel", "s_cbranch_scc1 @-9\ns_cbranch_scc1 @99\ns_endpgm", 0, {{0}}},
    {"three deep",
     "s_nop 0\ns_nop 1\ns_nop 2\ns_cbranch_scc1 @2\ns_cbranch_scc1 @1\ns_cbranch_scc1 @0\ns_endpgm",
     3,
     {{0, 0, 5, 1, 2}, {1, 1, 4, 2, 2}, {2, 2, 3, 3, 2}}},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena arena = {0};
        const struct isa_kernel *kernel = program_kernel("gfx942", cases[i].source, (struct codeobj_kernel){0}, &arena);
        if (kernel->loop_count != cases[i].count)
            fail_msg("%s: %zu loops", cases[i].what, kernel->loop_count);
        for (size_t l = 0; l < cases[i].count; l++) {
            const struct isa_loop *loop = &kernel->loops[l];
            const struct expected_loop *expected = &cases[i].loops[l];
            if (loop->header_address != program_line(expected->header) ||
                loop->first_address != program_line(expected->first) ||
                loop->last_address != program_line(expected->last) || loop->depth != expected->depth ||
                loop->own.instructions != expected->own)
                fail_msg("%s: loop %zu: header %llx, %llx to %llx, depth %u, %llu of its own", cases[i].what, l,
                         (unsigned long long)loop->header_address, (unsigned long long)loop->first_address,
                         (unsigned long long)loop->last_address, loop->depth,
                         (unsigned long long)loop->own.instructions);
        }
        arena_release(&arena);
    }
}

static void test_parents(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct isa_kernel *kernel = program_kernel("gfx942",
                                                     "s_nop 0\n"
                                                     "s_nop 1\ns_cbranch_scc1 @1\n"
                                                     "s_nop 2\ns_cbranch_scc1 @3\n"
                                                     "s_cbranch_scc1 @0\n"
                                                     "s_nop 3\n"
                                                     "s_cbranch_scc1 @7\ns_endpgm",
                                                     (struct codeobj_kernel){0}, &arena);
    assert_int_equal(kernel->loop_count, 4);
    assert_true(kernel->loops[0].parent == ISA_NO_LOOP);
    assert_int_equal(kernel->loops[1].parent, 0);
    assert_int_equal(kernel->loops[2].parent, 0);
    assert_true(kernel->loops[3].parent == ISA_NO_LOOP);
    assert_false(kernel->loops[0].is_innermost);
    assert_true(kernel->loops[2].is_innermost);
    assert_int_equal(kernel->loops[0].inclusive.instructions, 6);
    assert_int_equal(kernel->instructions[3].loop, 2);
    assert_true(kernel->instructions[6].loop == ISA_NO_LOOP);
    arena_release(&arena);
}

/* Nests deeper than any person writes end somewhere, and a long chain of blocks needs no deep stack. */
static void test_large(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct text source = {0};
    for (unsigned i = 0; i < 200; i++)
        text_add(&source, "s_nop 0\n");
    for (unsigned i = 200; i-- > 0;)
        text_addf(&source, "s_cbranch_scc1 @%u\n", i);
    text_add(&source, "s_endpgm");
    const struct isa_kernel *kernel = program_kernel("gfx942", source.data, (struct codeobj_kernel){0}, &arena);
    assert_int_equal(kernel->loop_count, 64);
    text_clear(&source);
    for (unsigned i = 0; i < 20000; i++)
        text_addf(&source, "s_cbranch_scc1 @%u\n", i + 1);
    text_add(&source, "s_cbranch_scc1 @19000\ns_endpgm");
    kernel = program_kernel("gfx942", source.data, (struct codeobj_kernel){0}, &arena);
    assert_int_equal(kernel->loop_count, 1);
    assert_int_equal(kernel->loops[0].own.instructions, 1001);
    text_release(&source);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_parents),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
