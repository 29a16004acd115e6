/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_fixture.h"
#include "rooftile/launch_fit.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define POINTER                                                                                                        \
    {                                                                                                                  \
        .name = "", .value_kind = "global_buffer", .size_bytes = 8, .is_pointer = true                                 \
    }
#define LOCAL                                                                                                          \
    {                                                                                                                  \
        .name = "", .value_kind = "dynamic_shared_pointer", .size_bytes = 4, .is_pointer = true                        \
    }
#define VALUE(bytes)                                                                                                   \
    {                                                                                                                  \
        .name = "", .value_kind = "by_value", .size_bytes = bytes                                                      \
    }
#define NAMED(text, bytes)                                                                                             \
    {                                                                                                                  \
        .name = text, .value_kind = "by_value", .size_bytes = bytes                                                    \
    }

/* triad launches with two buffers, a and b, and the value n as u64; its block is 256. */
static const struct {
    const char *what;
    struct codeobj_arg args[4];
    size_t count;
    uint32_t max_block, required[3], group_bytes, kernarg_bytes;
    size_t differences;
    const char *text;
} cases[] = {
    {"right", {POINTER, POINTER, VALUE(8)}, 3, .differences = 0, .text = NULL},
    {"a shorter value",
     {POINTER, POINTER, VALUE(4)},
     3,
     .differences = 1,
     .text = "argument 3 'n': the manifest passes 8 bytes (u64), the kernel takes 4 (by value)"},
    {"a longer value with a name",
     {POINTER, POINTER, NAMED("shape", 16)},
     3,
     .differences = 1,
     .text = "argument 3 'n': the manifest passes 8 bytes (u64), the kernel takes 16 (by value) for 'shape'"},
    {"another order",
     {POINTER, VALUE(8), POINTER},
     3,
     .differences = 2,
     .text = "argument 2 'b': the manifest passes a pointer to a buffer, the kernel takes 8 bytes (by value)\n"
             "argument 3 'n': the manifest passes 8 bytes (u64), the kernel takes a pointer"},
    {"too many",
     {POINTER, POINTER},
     2,
     .differences = 1,
     .text = "the manifest passes 3 arguments, the kernel takes 2: argument 3 'n' is too many"},
    {"too few",
     {POINTER, POINTER, VALUE(8), VALUE(4)},
     4,
     .differences = 1,
     .text = "the manifest passes 3 arguments, the kernel takes 4: argument 4, 4 bytes (by value) is missing"},
    {"nothing is described",
     {{0}},
     0,
     .kernarg_bytes = 24,
     .differences = 1,
     .text =
         "the manifest passes 3 arguments, but the code object does not describe those of 'k' (.args in its metadata)"},
    {"no pointers are known", {VALUE(8), VALUE(8), VALUE(8)}, 3, .differences = 0, .text = NULL},
    {"no pointers are known, and one is too short",
     {VALUE(8), VALUE(4), VALUE(8)},
     3,
     .differences = 1,
     .text = "argument 2 'b': the manifest passes a pointer to a buffer, the kernel takes 4 bytes (by value)"},
    {"LDS by pointer",
     {POINTER, LOCAL, VALUE(8)},
     3,
     .differences = 1,
     .text = "argument 2 'b': the manifest passes a pointer to a buffer, the kernel takes a pointer to LDS"},
    {"block within the bounds",
     {POINTER, POINTER, VALUE(8)},
     3,
     .max_block = 256,
     .required = {256, 1, 1},
     .differences = 0,
     .text = NULL},
    {"block too large",
     {POINTER, POINTER, VALUE(8)},
     3,
     .max_block = 128,
     .differences = 1,
     .text = "the block has 256 work-items, the kernel was compiled for at most 128 (launch bounds)"},
    {"another block",
     {POINTER, POINTER, VALUE(8)},
     3,
     .required = {16, 16, 1},
     .differences = 1,
     .text = "the block is 256 x 1 x 1, the kernel requires 16 x 16 x 1"},
    {"all of LDS", {POINTER, POINTER, VALUE(8)}, 3, .group_bytes = 65536, .differences = 0, .text = NULL},
    {"more LDS than there is",
     {POINTER, POINTER, VALUE(8)},
     3,
     .group_bytes = 65540,
     .differences = 1,
     .text =
         "the kernel needs 65540 bytes of LDS (65540 of its own and 0 from the launch), a workgroup can have 65536"},
};

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    world_init(world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    arena_release(&world->arena);
    free(world);
    return 0;
}

static void test_differences(void **state)
{
    struct world *world = *state;
    assert_int_equal(world_plan(world, "'cases': [ { 'kernel': 'triad' } ]"), STATUS_OK);
    const struct resolved *resolved = &world->plan->cases[0].resolved;
    for (size_t k = 0; k < COUNT(cases); k++) {
        const struct codeobj_kernel kernel = {
            .name = "k",
            .args = cases[k].args,
            .arg_count = cases[k].count,
            .explicit_count = cases[k].count,
            .max_block = cases[k].max_block,
            .required_block = {cases[k].required[0], cases[k].required[1], cases[k].required[2]},
            .group_segment_bytes = cases[k].group_bytes,
            .kernarg_bytes = cases[k].kernarg_bytes};
        struct text text = {0};
        const size_t found = launch_fit(&text, resolved, &resolved->steps[0].launch, &kernel, 65536);
        if (found != cases[k].differences || strcmp(text.data ? text.data : "", cases[k].text ? cases[k].text : ""))
            fail_msg("%s: %zu: %s", cases[k].what, found, text.data ? text.data : "");
        text_release(&text);
    }
}

/* Of "parts": one in the setup, three in steps, one of them in a graph; the one that is switched off does not count. */
static void test_launches(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    assert_int_equal(world_plan(world, "'cases': [ { 'kernel': 'parts' } ]"), STATUS_OK);
    const struct resolved *resolved = &world->plan->cases[0].resolved;
    for (struct launch_walk walk = {.resolved = resolved}; launch_next(&walk);)
        count++;
    assert_int_equal(count, 4);
    assert_ptr_equal(launch_first_timed(resolved), &resolved->steps[0].launch);
    for (size_t k = 0; k < resolved->step_count; k++)
        resolved->steps[k].timed = k == 2;
    assert_string_equal(launch_first_timed(resolved)->symbol, "other");
    for (size_t k = 0; k < resolved->step_count; k++)
        resolved->steps[k].timed = k == 3;
    assert_ptr_equal(launch_first_timed(resolved), &resolved->steps[3].steps[0].launch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_differences, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_launches, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
