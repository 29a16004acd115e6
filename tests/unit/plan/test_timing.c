/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../src/plan/plan_internal.h"
#include "../manifest/manifest_text.h"

static const struct device_facts gpu = {.wave = 64, .cus = 8, .max_block = 1024, .backend = "hip", .arch = "gfx942"};

#define L "{ 'launch': { 'grid': [1], 'block': [1] } }"
#define L1 "{ 'launch': { 'grid': [1], 'block': [1] }, 'stream': 1 }"
#define RELAY                                                                                                          \
    "{ 'record': 'go' }, { 'wait': 'go', 'stream': 1 }, " L1 ", { 'record': 'back', 'stream': 1 }, { 'wait': 'back' }"

enum {
    A = 1 << TIMER_AUTO,
    D = 1 << TIMER_DISPATCH,
    E = 1 << TIMER_EVENT,
    B = 1 << TIMER_BATCH,
    G = 1 << TIMER_GRAPH,
    H = 1 << TIMER_HOST
};

/* Which timers see the timed steps, and what is said of the first that does not. */
static const struct {
    const char *steps;
    int timers;
    const char *complaint;
} cases[] = {
    {L, A | D | E | B | G | H, NULL},
    {L ", " L, A | E | B | G | H, "more than one plain launch"},
    {"{ 'launch': { 'grid': [1], 'block': [1], 'cooperative': true } }", A | E | B | G | H,
     "more than one plain launch"},
    {"{ 'fill': { 'buffer': 'a', 'byte': 1 }, 'timed': false }, " L, A | D | E | B | H,
     "more than timed launches on stream 0"},
    {L ", { 'sync': true }", A | E | B | H, "more than one plain launch"},
    {"{ 'loop': { 'repeat': 3, 'steps': [ " L ", { 'sync': true } ] } }", A | E | B | H, "more than one plain launch"},
    {"{ 'sync': true, 'timed': false }, " L, A | D | E | B | H, "more than timed launches on stream 0"},
    {"{ 'load': true }", A | H, "timer dispatch does not see load and alloc steps"},
    {"{ 'load': true, 'timed': false }, " L, A | D | E | B | H, "more than timed launches on stream 0"},
    {"{ 'alloc': 'a' }, " L, A | H, "does not see load and alloc steps"},
    {"{ 'alloc': 'a', 'timed': false }, " L, A | D | E | B | H, "more than timed launches on stream 0"},
    {L1, A | H, "timer dispatch sees stream 0, and some timed work on another stream"},
    {RELAY, A | E | B | H, "more than one plain launch"},
    {RELAY ", " L1, A | H, "some timed work on another stream"}, /* after stream 0 has waited */
    {L1 ", { 'record': 'back', 'stream': 1 }, { 'wait': 'back' }", A | H,
     "another stream"}, /* may run before the first event */
    {"{ 'record': 'go' }, { 'wait': 'go', 'stream': 1 }, " L1, A | H, "another stream"}, /* or end after the last one */
    {"{ 'loop': { 'repeat': 3, 'steps': [ " L ", " RELAY " ] } }", A | E | B | H, "more than one plain launch"},
    {"{ 'sync': true }, " L1 ", { 'sync': true }", A | E | B | H, "more than one plain launch"},
};

static enum status parse_steps(const struct manifest **manifest, const char *steps, struct arena *arena,
                               struct err *err)
{
    const char *text = arena_printf(arena,
                                    "{ 'name': 'k', 'summary': 's', 'code': { 'image': 'k.co', 'symbol': 'k' },"
                                    " 'buffers': { 'a': { 'type': 'u32', 'count': '4', 'role': 'temp' } },"
                                    " 'setup': [ { 'fill': { 'buffer': 'a', 'byte': 1 } } ], 'steps': [ %s ] }",
                                    steps);
    return parse_text(manifest, text, arena, err);
}

static void knows_who_sees(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *manifest = NULL;
        struct resolved resolved;
        if (parse_steps(&manifest, cases[k].steps, &arena, &err) ||
            resolve_manifest(&resolved, manifest, &(struct param_value){0}, &gpu, &arena, &arena, &err))
            fail_msg("%s: %s", cases[k].steps, err.text);
        const char *first = NULL;
        for (int timer = 0; timer < TIMER_CHOICES; timer++) {
            err = (struct err){0};
            const bool sees = !timing_check(&resolved, (enum timer_choice)timer, &err);
            if (sees != (bool)(cases[k].timers >> timer & 1))
                fail_msg("%s: timer %s: '%s'", cases[k].steps, timer_choice_names[timer], err.text);
            if (!sees && !first)
                first = arena_strdup(&arena, err.text);
        }
        if (!first != !cases[k].complaint || (first && !strstr(first, cases[k].complaint)))
            fail_msg("%s: '%s'", cases[k].steps, first ? first : "");
        arena_release(&arena);
    }
}

static const struct {
    const char *steps, *complaint;
} refused[] = {
    {L ", { 'load': true }", "a launch stands before the load step"},
    {"{ 'load': true, 'timed': false }, { 'graph': { 'steps': [ " L " ] } }", "a graph keeps the code and the memory"},
    {"{ 'alloc': 'a', 'timed': false }, { 'graph': { 'steps': [ " L " ] } }", "a graph keeps the code and the memory"},
    {"{ 'launch': { 'grid': [1], 'block': [1], 'args': [ { 'value': 1, 'type': 'u64', 'repeat': 1025 } ] } }",
     "more than the 1024 arguments"},
    {"{ 'launch': { 'grid': [1], 'block': [1], 'args': [ { 'value': 1, 'type': 'u64', 'repeat': '0 - 1' } ] } }",
     "not a whole number"},
};

static void refuses(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *manifest = NULL;
        struct resolved resolved;
        if (parse_steps(&manifest, refused[k].steps, &arena, &err))
            fail_msg("%s: %s", refused[k].steps, err.text);
        assert_int_equal(resolve_manifest(&resolved, manifest, &(struct param_value){0}, &gpu, &arena, &arena, &err),
                         ERR_CONFIG);
        if (!strstr(err.text, refused[k].complaint))
            fail_msg("%s: '%s'", refused[k].steps, err.text);
        arena_release(&arena);
    }
}

/* A value may stand for many arguments, or none. */
static void repeats_arguments(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct manifest *manifest = NULL;
    struct resolved resolved;
    (void)state;
    assert_int_equal(
        parse_text(&manifest,
                   "{ 'name': 'k', 'summary': 's', 'code': { 'image': 'k.co', 'symbol': 'k' },"
                   " 'buffers': { 'a': { 'type': 'u32', 'count': '4', 'role': 'temp' } }, 'launch': { 'grid': [1],"
                   " 'block': [1], 'args': [ 'a', { 'value': 1, 'type': 'u64', 'repeat': 0 }, { 'value': 7, 'type':"
                   " 'u64', 'repeat': 127 } ] } }",
                   &arena, &err),
        STATUS_OK);
    assert_int_equal(resolve_manifest(&resolved, manifest, &(struct param_value){0}, &gpu, &arena, &arena, &err),
                     STATUS_OK);
    const struct resolved_launch *launch = &resolved.steps[0].launch;
    assert_int_equal(launch->arg_count, 128);
    assert_int_equal(launch->args[0].buffer, 0);
    for (size_t k = 1; k < launch->arg_count; k++) {
        assert_int_equal(launch->args[k].value[0], 7);
        assert_ptr_equal(launch->args[k].spec, &launch->spec->args[2]);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(knows_who_sees), cmocka_unit_test(refuses),
                                       cmocka_unit_test(repeats_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
