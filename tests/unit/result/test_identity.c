/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../plan/plan_fixture.h"
#include "rooftile/identity.h"

/* A kernel as text; `old` in it replaced by `new`. */
static char *changed(const char *text, const char *old, const char *new, struct arena *arena)
{
    const char *at = strstr(text, old);
    assert_non_null(at);
    return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

static const struct device_info device = {
    .backend = "hip", .name = "GPU", .arch = "gfx1030", .target = "gfx1030", .driver = "6.3", .cus = 8, .wave = 32};

/* Of the one case of `cases`, with another text for the kernel `which`. */
static struct identity identity_in(struct world *world, size_t which, const char *text, const char *cases,
                                   const struct device_info *info, const char *sha256)
{
    struct identity identity;
    struct build_result builds[8] = {{.sha256 = ""}};
    for (size_t k = 0; k < 8; k++)
        snprintf(builds[k].sha256, sizeof(builds[k].sha256), "%s", sha256);
    if ((text && world_kernel(world, which, text)) || world_plan(world, cases))
        fail_msg("%s", world->err.text);
    assert_int_equal(world->plan->count, 1);
    assert_int_equal(world->plan->cases[0].state, PLAN_READY);
    identity_of(&identity, &world->plan->cases[0], builds, info);
    return identity;
}

enum { GEMM = 0, PARTS = 1, REFERENCE = 2, TRIAD = 3 };
static const char *const texts[] = {gemm_text, parts_text, reference_text, triad_text};
#define TRIAD_CASE "'cases': [{'kernel': 'triad'}]"
#define GEMM_CASE "'cases': [{'kernel': 'gemm'}]"
#define PARTS_CASE "'cases': [{'kernel': 'parts'}]"

enum {
    LAUNCH = IDENTITY_BIT(IDENTITY_LAUNCH),
    INPUTS = IDENTITY_BIT(IDENTITY_INPUTS),
    CHECK = IDENTITY_BIT(IDENTITY_CHECK),
    WORK = IDENTITY_BIT(IDENTITY_WORK)
};

static const struct {
    size_t which;
    const char *cases, *old, *new;
    unsigned parts;
} changes[] = {
    {TRIAD, TRIAD_CASE, "'summary': 's'", "'summary': 'said better'", 0},
    {TRIAD, TRIAD_CASE, "ceil_div(n, block * VEC)", "ceil_div(ceil_div(n, VEC), block)", 0},
    {TRIAD, TRIAD_CASE, "ceil_div(n, block * VEC)", "2 * ceil_div(n, block * VEC)", LAUNCH},
    {TRIAD, TRIAD_CASE, "'value': 'n'", "'value': 'n - 1'", LAUNCH},
    {TRIAD, TRIAD_CASE, "'args': [ 'a', 'b'", "'args': [ 'b', 'a'", LAUNCH},
    {TRIAD, TRIAD_CASE, "'symbol': 'triad'", "'symbol': 'triad2'", LAUNCH},
    {TRIAD, TRIAD_CASE, "'fill': 'i % 7'", "'fill': '(i + 7) % 7'", 0},
    {TRIAD, TRIAD_CASE, "'fill': 'i % 7'", "'fill': 'i % 8'", INPUTS},
    {TRIAD, TRIAD_CASE, "'fill': 'i % 7'", "'fill': 'i < 60000 ? i % 7 : 0'", INPUTS},
    {TRIAD, TRIAD_CASE, "'fill': 'i % 7'", "'fill': { 'gen': 'uniform' }", INPUTS},
    {TRIAD, TRIAD_CASE, "'role': 'in', 'fill'", "'role': 'in', 'align_offset': '4', 'fill'", INPUTS},
    {TRIAD, TRIAD_CASE, "'a': 'i % 7'", "'a': 'i % 6'", CHECK},
    {TRIAD, TRIAD_CASE, "'a': 'i % 7'", "'a': { 'expr': 'i % 7', 'rel': '0.5' }", CHECK},
    {TRIAD, TRIAD_CASE, "'flops': 'n'", "'flops': '2 * n'", WORK},
    {TRIAD, TRIAD_CASE, "'read': 'n *", "'read': '0.5 * n *", WORK},
    {GEMM, GEMM_CASE, "{ 'gen': 'uniform' }", "{ 'gen': 'uniform', 'high': '2' }", INPUTS},
    {GEMM, GEMM_CASE, "{ 'gen': 'uniform' }", "{ 'gen': 'uniform', 'seed': 7 }", INPUTS},
    {GEMM, GEMM_CASE, "'m * eps(dtype)'", "'2 * m * eps(dtype)'", CHECK},
    {GEMM, GEMM_CASE, "'scale': 2", "'scale': 3", 0}, /* a parameter that the reference's launch does not take */
    {REFERENCE, GEMM_CASE, "'value': 'samples'", "'value': 'samples * scale'", CHECK},
    {PARTS, PARTS_CASE, "'copy': { 'to': 'a', 'from': 'b' }", "'copy': { 'to': 'b', 'from': 'a' }", LAUNCH},
    {PARTS, PARTS_CASE, "'block': [64], 'symbol'", "'block': [32], 'symbol'", LAUNCH},
    {PARTS, PARTS_CASE, "'tail': 0", "'tail': 1", LAUNCH | IDENTITY_BIT(IDENTITY_CODE)},
};

static void a_change_is_put_down_to_its_part(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(changes) / sizeof(*changes); k++) {
        struct world worlds[2];
        world_init(&worlds[0]);
        world_init(&worlds[1]);
        const char *text = changed(texts[changes[k].which], changes[k].old, changes[k].new, &worlds[1].arena);
        const struct identity a = identity_in(&worlds[0], 0, NULL, changes[k].cases, &device, "aa");
        const struct identity b = identity_in(&worlds[1], changes[k].which, text, changes[k].cases, &device, "aa");
        const unsigned parts = identity_differs(&a, &b);
        if (parts != changes[k].parts)
            fail_msg("%s: '%s' changed, expected '%s'", changes[k].new, identity_words(parts, &worlds[0].arena),
                     identity_words(changes[k].parts, &worlds[0].arena));
        arena_release(&worlds[0].arena);
        arena_release(&worlds[1].arena);
    }
}

static void set_threads(struct device_info *info)
{
    info->cus = 4;
}
static void set_card(struct device_info *info)
{
    snprintf(info->uuid, sizeof(info->uuid), "GPU-2");
}
static void set_driver(struct device_info *info)
{
    snprintf(info->driver, sizeof(info->driver), "6.4");
}

static void code_and_device(void **state)
{
    static const struct {
        void (*change)(struct device_info *);
        unsigned parts;
    } rows[] = {
        {set_threads, IDENTITY_BIT(IDENTITY_DEVICE)}, {set_card, IDENTITY_BIT(IDENTITY_DEVICE)}, {set_driver, 0}};
    struct world world;
    (void)state;
    world_init(&world);
    const struct identity a = identity_in(&world, 0, NULL, TRIAD_CASE, &device, "0123456789abcdef01");
    assert_string_equal(a.parts[IDENTITY_CODE], "0123456789abcdef");
    const struct identity b = identity_in(&world, 0, NULL, TRIAD_CASE, &device, "f123456789abcdef01");
    assert_int_equal(identity_differs(&a, &b), IDENTITY_BIT(IDENTITY_CODE));
    const struct identity unknown = identity_in(&world, 0, NULL, TRIAD_CASE, &device, "");
    assert_string_equal(unknown.parts[IDENTITY_CODE], "");
    assert_int_equal(identity_differs(&a, &unknown), 0);
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct device_info info = device;
        rows[k].change(&info);
        const struct identity c = identity_in(&world, 0, NULL, TRIAD_CASE, &info, "0123456789abcdef01");
        assert_int_equal(identity_differs(&a, &c), rows[k].parts);
    }
    assert_string_equal(identity_words(IDENTITY_BIT(IDENTITY_CODE) | IDENTITY_BIT(IDENTITY_INPUTS), &world.arena),
                        "code, input data");
    /* The reference's code is part of the check, not of what is timed. */
    const struct identity g = identity_in(&world, 0, NULL, GEMM_CASE, &device, "aa");
    const struct identity h = identity_in(&world, 0, NULL, GEMM_CASE, &device, "bb");
    assert_int_equal(identity_differs(&g, &h), IDENTITY_BIT(IDENTITY_CODE) | IDENTITY_BIT(IDENTITY_CHECK));
    arena_release(&world.arena);
}

static void a_line_and_back(void **state)
{
    static const char *const none[] = {"",
                                       "-",
                                       "a b c d e",
                                       "a b c d e f g",
                                       "a b c d e 0123456789abcdef0",
                                       "e62202adb68c4ed1474cfb4471be11a7a03a0eae653ec81275319fdeff21a633"};
    struct identity a = {{"0123456789abcdef", "", "b", "c", "d", "e"}}, b;
    char line[IDENTITY_LINE];
    (void)state;
    identity_line(line, &a);
    assert_string_equal(line, "0123456789abcdef - b c d e");
    identity_from_line(&b, line);
    assert_memory_equal(&a, &b, sizeof(a));
    for (size_t part = 0; part < IDENTITY_PARTS; part++)
        snprintf(a.parts[part], IDENTITY_TEXT, "0123456789abcde%zu", part);
    identity_line(line, &a);
    identity_from_line(&b, line);
    assert_memory_equal(&a, &b, sizeof(a));
    for (size_t k = 0; k < sizeof(none) / sizeof(*none); k++) {
        identity_from_line(&b, none[k]);
        for (size_t part = 0; part < IDENTITY_PARTS; part++)
            assert_string_equal(b.parts[part], "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_put_down_to_its_part),
        cmocka_unit_test(code_and_device),
        cmocka_unit_test(a_line_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
