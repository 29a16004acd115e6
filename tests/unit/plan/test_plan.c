/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_fixture.h"
#include "rooftile/text.h"

/* Every id of a plan, a line each. */
static void print_ids(struct text *text, const struct plan *plan)
{
    text_clear(text);
    text_add(text, "");
    for (size_t k = 0; k < plan->count; k++) {
        text_add(text, plan->cases[k].id);
        text_add(text, "\n");
    }
}

#define ID(n, dtype, block, vec, mode)                                                                                 \
    "triad/n=" n ";dtype=" dtype ";block=" block ";VEC=" vec ";layout=aos;mode=" mode "\n"

static void test_expansion(void **state)
{
    static const struct {
        const char *members, *set, *filter, *ids;
    } cases[] = {
        /* precedence: default < variant < suite defaults < case < sweep < --set */
        {"'cases': [{'kernel': 'triad'}]", NULL, NULL, ID("65536", "f32", "256", "4", "hot")},
        {"'defaults': {'params': {'VEC': 2, 'n': 8}}, 'cases': [{'kernel': 'triad', 'params': {'n': 9}}]", NULL, NULL,
         ID("9", "f32", "256", "2", "hot")},
        {"'defaults': {'params': {'n': 8}}, 'cases': [{'kernel': 'triad', 'sweep': {'n': [5, 6]}}]", NULL, NULL,
         ID("5", "f32", "256", "4", "hot") ID("6", "f32", "256", "4", "hot")},
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [5, 6]}}]", "n=7", NULL, ID("7", "f32", "256", "4", "hot")},
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [5, 6]}}]", "n=1..4*2", NULL,
         ID("1", "f32", "256", "4", "hot") ID("2", "f32", "256", "4", "hot") ID("4", "f32", "256", "4", "hot")},
        {"'cases': [{'kernel': 'triad'}]", "VEC=1", NULL, ID("65536", "f32", "256", "1", "hot")},
        /* the last parameter is the fastest, --set behind all */
        {"'cases': [{'kernel': 'triad', 'sweep': {'dtype': ['f64', 'f32'], 'n': '1..2'}}]", NULL, NULL,
         ID("1", "f64", "256", "4", "hot") ID("2", "f64", "256", "4", "hot") ID("1", "f32", "256", "4", "hot")
             ID("2", "f32", "256", "4", "hot")},
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [1, 2]}}]", "block=64,128", NULL,
         ID("1", "f32", "64", "4", "hot") ID("1", "f32", "128", "4", "hot") ID("2", "f32", "64", "4", "hot")
             ID("2", "f32", "128", "4", "hot")},
        /* zip, with a partner taken over by --set */
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [1, 2], 'block': [64, 128]}, 'zip': [['n', 'block']]}]", NULL,
         NULL, ID("1", "f32", "64", "4", "hot") ID("2", "f32", "128", "4", "hot")},
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [1, 2], 'block': [64, 128]}, 'zip': [['n', 'block']]}]", "n=3,4",
         NULL, ID("3", "f32", "64", "4", "hot") ID("4", "f32", "128", "4", "hot")},
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [1, 2], 'block': [64, 128]}, 'zip': [['n', 'block']]}]", "n=3",
         NULL, ID("3", "f32", "64", "4", "hot") ID("3", "f32", "128", "4", "hot")},
        /* excludes know parameters, dtypes and the device */
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [1, 2, 3], 'dtype': ['f32', 'f64']},"
         " 'exclude': ['n * bytes(dtype) > 8', 'n == device.cus / 8']}]",
         NULL, NULL, ID("2", "f32", "256", "4", "hot")},
        /* filters */
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [1, 2]}}, {'kernel': 'gemm'}]", NULL, "triad/n=2*",
         ID("2", "f32", "256", "4", "hot")},
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [1, 2]}}, {'kernel': 'gemm'}]", NULL, "triad",
         ID("1", "f32", "256", "4", "hot") ID("2", "f32", "256", "4", "hot")},
        {"'cases': [{'kernel': 'triad'}, {'kernel': 'gemm'}]", NULL, "!gemm", ID("65536", "f32", "256", "4", "hot")},
        /* a mode is part of the id; a case met twice is planned once */
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [1, 2]}}, {'kernel': 'triad', 'params': {'n': 2}},"
         " {'kernel': 'triad', 'params': {'n': 2}, 'measure': {'cache': 'cold'}}]",
         NULL, NULL,
         ID("1", "f32", "256", "4", "hot") ID("2", "f32", "256", "4", "hot") ID("2", "f32", "256", "4", "cold")},
    };
    struct text ids = {0};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct world world;
        world_init(&world);
        world.options.sets = &cases[k].set;
        world.options.set_count = cases[k].set != NULL;
        world.options.filters = &cases[k].filter;
        world.options.filter_count = cases[k].filter != NULL;
        if (world_plan(&world, cases[k].members))
            fail_msg("%s: %s", cases[k].members, world.err.text);
        print_ids(&ids, world.plan);
        assert_string_equal(ids.data, cases[k].ids);
        for (size_t c = 0; c < world.plan->count; c++)
            assert_int_equal(world.plan->cases[c].index, c);
        arena_release(&world.arena);
    }
    text_release(&ids);
}

/* Values that ask the device, of a suite and of --set. */
static void test_asks(void **state)
{
    static const struct {
        const char *members, *set, *ids, *reason;
    } cases[] = {
        /* four times the last cache, in whole blocks; each type has its own number of elements */
        {"'cases': [{'kernel': 'triad', 'params': {'n': '{whole(4 * device.last_cache / bytes(dtype), 1000)}'},"
         " 'sweep': {'dtype': ['f32', 'f64']}}]",
         NULL, ID("4096000", "f32", "256", "4", "hot") ID("2048000", "f64", "256", "4", "hot"), NULL},
        /* in a sweep, zipped with plain values; whole numbers come of it */
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': ['{cache_bytes(1) / 3}', '{inside(2)}'], 'block': [1, 2]},"
         " 'zip': [['n', 'block']]}]",
         NULL, ID("21845", "f32", "1", "4", "hot") ID("640000", "f32", "2", "4", "hot"), NULL},
        /* the limit below, and a type */
        {"'cases': [{'kernel': 'triad', 'params': {'VEC': '{3}', 'dtype': '{device.f16 ? f32 : f64}'}}]", NULL,
         ID("65536", "f64", "256", "2", "hot"), NULL},
        /* what it uses is computed first, wherever it stands */
        {"'cases': [{'kernel': 'triad', 'params': {'n': '{2 * block}', 'block': '{32 * VEC}', 'VEC': '{2}'}}]", NULL,
         ID("128", "f32", "64", "2", "hot"), NULL},
        {"'cases': [{'kernel': 'triad'}]", "n={max(1, 2)},{own_cache_bytes(1)}",
         ID("2", "f32", "256", "4", "hot") ID("16384", "f32", "256", "4", "hot"), NULL},
        /* what nobody knows of the device is a skip, of an exclude too; the others go on */
        {"'cases': [{'kernel': 'triad', 'params': {'n': '{device.matrix_f16}'}}, {'kernel': 'triad'}]", NULL,
         ID("nan", "f32", "256", "4", "hot") ID("65536", "f32", "256", "4", "hot"),
         "n 'device.matrix_f16': device.matrix_f16 is not known of this device"},
        {"'cases': [{'kernel': 'triad', 'exclude': ['n > device.memory_rate']}]", NULL,
         ID("65536", "f32", "256", "4", "hot"),
         "exclude 'n > device.memory_rate': device.memory_rate is not known of this device"},
        /* ... unless the device lacks what the case requires */
        {"'cases': [{'kernel': 'triad', 'params': {'n': 2e9}, 'exclude': ['n < device.memory_rate']}]", NULL,
         ID("2000000000", "f32", "256", "4", "hot"), "n = 2000000000 is too large"},
        /* mistakes name their place */
        {"'cases': [{'kernel': 'triad', 'params': {'n': '{block}', 'block': '{n}'}}]", NULL, NULL, "depends on itself"},
        {"'cases': [{'kernel': 'triad', 'params': {'n': '{1 / 0}'}}]", NULL, NULL, "/cases/0/params/n"},
        {"'cases': [{'kernel': 'triad', 'params': {'n': '{nonsense}'}}]", NULL, NULL, "unknown name 'nonsense'"},
        {"'cases': [{'kernel': 'triad', 'params': {'dtype': '{99}'}}]", NULL, NULL, "99 is no dtype"},
        {"'cases': [{'kernel': 'triad', 'params': {'dtype': '{f16}'}}]", NULL, NULL, "f16"},
    };
    struct text ids = {0};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct world world;
        world_init(&world);
        world.device.caches = 2;
        world.device.cache1 = 65536;
        world.device.own_cache1 = 16384;
        world.device.cache2 = world.device.own_cache2 = world.device.last_cache = 4096000;
        world.device.cache2 *= 640000. * 640000 / 1.5 / 65536 / 4096000;
        world.device.matrix_f16 = world.device.memory_rate = (double)NAN;
        world.device.assumed = "guesses";
        world.options.sets = &cases[k].set;
        world.options.set_count = cases[k].set != NULL;
        if (world_plan(&world, cases[k].members)) {
            if (cases[k].ids || !strstr(world.err.text, cases[k].reason))
                fail_msg("%s: %s", cases[k].members, world.err.text);
            arena_release(&world.arena);
            continue;
        }
        print_ids(&ids, world.plan);
        assert_string_equal(ids.data, cases[k].ids);
        const struct plan_case *first = &world.plan->cases[0];
        assert_int_equal(first->state, cases[k].reason ? PLAN_SKIPPED : PLAN_READY);
        if (cases[k].reason)
            assert_string_equal(first->reason, cases[k].reason);
        else
            assert_string_equal(first->sized_by, "guesses");
        assert_true(world.plan->count == 1 || !cases[k].reason || !world.plan->cases[1].sized_by);
        arena_release(&world.arena);
    }
    text_release(&ids);
}

static void test_variants(void **state)
{
    static const struct {
        const char *backend, *arch;
        double wave, vec, block;
    } cases[] = {
        {"cpu", "x86-64", 64, 16, 256}, {"hip", "gfx1100", 32, 1, 64},  {"hip", "gfx942", 64, 2, 256},
        {"hip", "gfx1030", 32, 4, 256}, {"sim", "gfx1030", 32, 1, 256},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct world world;
        world_init(&world);
        world.device.backend = cases[k].backend;
        world.device.arch = cases[k].arch;
        world.device.wave = cases[k].wave;
        assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'triad'}]"), STATUS_OK);
        assert_true(world.plan->cases[0].resolved.values[3].number == cases[k].vec);
        assert_true(world.plan->cases[0].resolved.values[2].number == cases[k].block);
        arena_release(&world.arena);
    }
}

/* What the device answers is outside of the limits: a skip, unless a value is set. */
static void test_device_asks_too_much(void **state)
{
    static const struct {
        double cus;
        const char *set;
        enum plan_state state;
    } cases[] = {{8, NULL, PLAN_SKIPPED}, {4, NULL, PLAN_READY}, {8, "VEC=4", PLAN_READY}};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct world world;
        world_init(&world);
        const char *text = replaced(triad_text, "'VEC': 1", "'VEC': '{device.cus}'", &world.arena);
        text = replaced(text, ", { 'backend': 'hip', 'params': { 'VEC': 4 } }", "", &world.arena);
        assert_int_equal(world_kernel(&world, 3, text), STATUS_OK);
        world.device.cus = cases[k].cus;
        world.options.sets = &cases[k].set;
        world.options.set_count = cases[k].set != NULL;
        assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'triad'}]"), STATUS_OK);
        assert_int_equal(world.plan->cases[0].state, cases[k].state);
        if (cases[k].state == PLAN_SKIPPED)
            assert_string_equal(world.plan->cases[0].reason, "this device's default is not possible: VEC=8 is not "
                                                             "among its limits: 1, 2, 4, 16");
        else
            assert_true(world.plan->cases[0].resolved.values[3].number == 4);
        arena_release(&world.arena);
    }
}

static void test_refuse(void **state)
{
    static const struct {
        const char *members, *set, *filter;
        enum status status;
        const char *complaint;
    } cases[] = {
        {"'cases': [{'kernel': 'triat'}]", NULL, NULL, ERR_CONFIG, "s.json:1:36: /cases/0/kernel: "},
        {"'cases': [{'kernel': 'triat'}]", NULL, NULL, ERR_CONFIG, "triad"},
        {"'cases': [{'kernel': 'triad', 'params': {'blok': 1}}]", NULL, NULL, ERR_CONFIG,
         "/cases/0/params/blok: kernel 'triad' has no parameter 'blok'; did you mean 'block'?"},
        {"'cases': [{'kernel': 'triad', 'sweep': {'vec': [1]}}]", NULL, NULL, ERR_CONFIG, "/cases/0/sweep/vec: "},
        {"'defaults': {'params': {'nn': 1}}, 'cases': [{'kernel': 'triad'}]", NULL, NULL, ERR_CONFIG,
         "/defaults/params/nn: no selected kernel has a parameter 'nn'"},
        {"'cases': [{'kernel': 'triad', 'params': {'VEC': 3}}]", NULL, NULL, ERR_CONFIG, "/cases/0/params/VEC: "},
        {"'cases': [{'kernel': 'triad', 'sweep': {'VEC': [1, 3]}}]", NULL, NULL, ERR_CONFIG, "/cases/0/sweep/VEC: "},
        {"'cases': [{'kernel': 'triad', 'params': {'dtype': 'f31'}}]", NULL, NULL, ERR_CONFIG,
         "/cases/0/params/dtype: "},
        {"'cases': [{'kernel': 'triad', 'params': {'n': 'many'}}]", NULL, NULL, ERR_CONFIG, "/cases/0/params/n: "},
        {"'cases': [{'kernel': 'triad', 'exclude': ['m > 1']}]", NULL, NULL, ERR_CONFIG, "/cases/0/exclude/0: "},
        {"'cases': [{'kernel': 'triad', 'exclude': ['1 / (n - n)']}]", NULL, NULL, ERR_CONFIG, "/cases/0/exclude/0: "},
        {"'cases': [{'kernel': 'triad', 'exclude': ['x > 1']}]", NULL, NULL, ERR_CONFIG, "/cases/0/exclude/0: "},
        {"'cases': [{'kernel': 'triad', 'exclude': ['n > 1']}]", NULL, NULL, ERR_USAGE, "no case is left"},
        {"'cases': [{'kernel': 'triad'}]", "VEC=3", NULL, ERR_USAGE, "--set VEC=3: "},
        {"'cases': [{'kernel': 'triad'}]", "blok=3", NULL, ERR_USAGE, "did you mean 'block'?"},
        {"'cases': [{'kernel': 'triad'}, {'kernel': 'gemm'}]", "tile=8", "triad", ERR_USAGE, "no selected kernel"},
        {"'cases': [{'kernel': 'triad'}]", "n", NULL, ERR_USAGE, "expected name=value"},
        {"'cases': [{'kernel': 'triad'}]", "n=1..4+0", NULL, ERR_USAGE, "never ends"},
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': [1, 2], 'block': [1, 2]}, 'zip': [['n', 'block']]}]", "n=1,2,3",
         NULL, ERR_USAGE, "advances with it"},
        {"'cases': [{'kernel': 'triad', 'sweep': {'n': '1..5000'}}]", "block=1..5000", NULL, ERR_USAGE,
         "more than 1000000"},
        {"'cases': [{'kernel': 'triad'}]", NULL, "none*", ERR_USAGE, "no case matches the filter 'none*'"},
        {"'cases': [{'kernel': 'triad'}], 'derive': [{'name': 'd', 'method': 'm', 'kernel': 'gem', 'x': 'n', 'y': "
         "'n'}]",
         NULL, NULL, ERR_CONFIG, "/derive/0/kernel: "},
        {"'cases': [{'kernel': 'triad'}], 'derive': [{'name': 'd', 'method': 'm', 'kernel': 'triad', 'x': 'time_n',"
         " 'y': 'n'}]",
         NULL, NULL, ERR_CONFIG,
         "/derive/0/x: kernel 'triad' has no parameter or metric 'time_n'; did you mean 'time_ns'?"},
        {"'cases': [{'kernel': 'triad'}], 'derive': [{'name': 'd', 'method': 'm', 'kernel': 'triad', 'x': 'n',"
         " 'y': 'time_ns', 'group': ['time_ns']}]",
         NULL, NULL, ERR_CONFIG, "/derive/0/group/0: "},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct world world;
        world_init(&world);
        world.options.sets = &cases[k].set;
        world.options.set_count = cases[k].set != NULL;
        world.options.filters = &cases[k].filter;
        world.options.filter_count = cases[k].filter != NULL;
        const enum status status = world_plan(&world, cases[k].members);
        if (status != cases[k].status || !strstr(world.err.text, cases[k].complaint))
            fail_msg("%s: status %d: %s", cases[k].members, (int)status, world.err.text);
        assert_null(world.plan);
        arena_release(&world.arena);
    }
}

static void test_same_set_twice(void **state)
{
    static const char *const sets[] = {"n=1", "n=2"};
    struct world world;
    (void)state;
    world_init(&world);
    world.options.sets = sets;
    world.options.set_count = 2;
    assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'triad'}]"), ERR_USAGE);
    assert_non_null(strstr(world.err.text, "'n' is set twice"));
    arena_release(&world.arena);
}

/* A filter also keeps values of cases that nobody asked for from being complained about. */
static void test_filter_before_limits(void **state)
{
    static const char *const filters[] = {"gemm"};
    struct world world;
    (void)state;
    world_init(&world);
    world.options.filters = filters;
    world.options.filter_count = 1;
    assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'triad', 'params': {'VEC': 3}}, {'kernel': 'gemm'}]"),
                     STATUS_OK);
    assert_int_equal(world.plan->count, 1);
    arena_release(&world.arena);
}

static void test_bad_cases_are_data(void **state)
{
    static const struct {
        enum plan_state state;
        const char *reason;
    } want[] = {
        {PLAN_READY, NULL},
        {PLAN_INVALID, "/cases/0: dir/m.json:"},
        {PLAN_INVALID, "not a whole number"},
        {PLAN_SKIPPED, "n = 2000000000 is too large"},
        {PLAN_INVALID, "a workgroup of 2048 items, the device takes 1024"},
        {PLAN_SKIPPED, "its buffers take 16.0 MiB, the device has 1.00 MiB"},
    };
    struct world world;
    (void)state;
    world_init(&world);
    world.device.memory_bytes = 0x1p20;
    if (world_plan(&world,
                   "'cases': [{'kernel': 'triad', 'sweep': {'n': [4, 0, 2.5, 2e9]}},"
                   " {'kernel': 'triad', 'params': {'block': 2048}}, {'kernel': 'triad', 'params': {'n': '2Mi'}}]"))
        fail_msg("%s", world.err.text);
    assert_int_equal(world.plan->count, 6);
    for (size_t k = 0; k < 6; k++) {
        const struct plan_case *plan_case = &world.plan->cases[k];
        assert_int_equal(plan_case->state, want[k].state);
        if (want[k].reason && !strstr(plan_case->reason, want[k].reason))
            fail_msg("case %zu: %s", k, plan_case->reason);
        if (!want[k].reason)
            assert_null(plan_case->reason);
        assert_ptr_equal(plan_case->resolved.manifest, world.entries[3].manifest);
        assert_non_null(plan_case->resolved.values);
    }
    arena_release(&world.arena);
}

static void test_words_stay_words(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'triad', 'sweep': {'layout': ['soa', '3', 'f32']}}]"),
                     STATUS_OK);
    assert_int_equal(world.plan->count, 3);
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(world.plan->cases[k].resolved.values[4].kind, PARAM_STRING);
    assert_string_equal(world.plan->cases[2].resolved.values[4].string, "f32");
    arena_release(&world.arena);
}

static void test_labels(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'triad', 'sweep': {'n': ['64Ki', 1000], 'VEC': [1, 2]}},"
                                        " {'kernel': 'gemm'},"
                                        " {'kernel': 'triad', 'params': {'n': 3}, 'measure': {'cache': 'cold'}}]"),
                     STATUS_OK);
    assert_string_equal(world.plan->cases[0].label, "triad n=64Ki VEC=1 hot");
    assert_string_equal(world.plan->cases[3].label, "triad n=1000 VEC=2 hot");
    assert_string_equal(world.plan->cases[4].label, "gemm");
    assert_string_equal(world.plan->cases[5].label, "triad n=3 VEC=4 cold");
    assert_string_equal(world.plan->cases[0].tags[0], "stream");
    arena_release(&world.arena);
}

static void test_codes(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'triad', 'sweep': {'n': '1..50', 'dtype': ['f32', 'f64'],"
                                        " 'VEC': [1, 2]}}, {'kernel': 'gemm', 'sweep': {'m': [8, 16]}}]"),
                     STATUS_OK);
    const struct plan *plan = world.plan;
    assert_int_equal(plan->count, 202);
    assert_int_equal(plan->code_count, 6); /* 2 dtypes x 2 widths, one gemm, one reference */
    for (size_t k = 0; k < plan->count; k++)
        assert_true(plan->cases[k].resolved.code < plan->code_count);
    const struct build_request *triad = &plan->codes[plan->cases[0].resolved.code];
    assert_string_equal(triad->source, "dir/triad.hip");
    assert_int_equal(triad->define_count, 2);
    assert_string_equal(triad->defines[0].name, "T");
    assert_string_equal(triad->defines[0].value, "float");
    assert_string_equal(triad->defines[1].value, "1");
    assert_int_equal(triad->target.kind, BUILD_AMD);
    assert_string_equal(triad->target.arch, "gfx1030");
    assert_ptr_equal(triad->asked_by, plan->cases[0].id);
    const struct build_request *reference = &plan->codes[plan->cases[200].reference->resolved.code];
    assert_int_equal(reference->target.kind, BUILD_CPU);
    assert_int_equal(reference->target.wave, 64);
    assert_string_equal(reference->target.arch, "x86-64-v3");
    arena_release(&world.arena);
}

/* Wave size and CU mode are parameters that no manifest declares: they choose the code, show in ids when they are set,
 * never reach a reference, and are a skip where the device has no such thing. */
static void test_modes(void **state)
{
    static const struct {
        const char *backend, *arch;
        double wave; /* of the device */
        const char *sets[2];
        enum plan_state state;
        uint32_t built_wave;
        bool cumode;
        const char *end; /* of the id, or words of the reason */
    } cases[] = {
        {"hip", "gfx1030", 32, {NULL}, PLAN_READY, 32, false, "tile=16;dtype=f32;mode=hot"},
        {"hip", "gfx1030", 32, {"wave=64"}, PLAN_READY, 64, false, ";wave=64;mode=hot"},
        {"hip", "gfx1030", 32, {"wave=32", "cumode=1"}, PLAN_READY, 32, true, ";wave=32;cumode=1;mode=hot"},
        {"hip", "gfx942", 64, {"wave=64"}, PLAN_READY, 64, false, ";wave=64;mode=hot"},
        {"hip", "gfx942", 64, {"wave=32"}, PLAN_SKIPPED, 0, false, "gfx942 has waves of 64 lanes only"},
        {"hip", "gfx942", 64, {"cumode=1"}, PLAN_SKIPPED, 0, false, "gfx942 has no WGP mode"},
        {"cpu", "x86-64", 64, {"wave=64"}, PLAN_READY, 64, false, ";wave=64;mode=hot"},
        {"cpu", "x86-64", 64, {"wave=32"}, PLAN_SKIPPED, 0, false, "(--device cpu:wave=32)"},
        {"cpu", "x86-64", 64, {"cumode=1"}, PLAN_SKIPPED, 0, false, "the CPU device has no CU mode"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct world world;
        world_init(&world);
        const bool cpu = strcmp(cases[k].backend, "cpu") == 0;
        world.device.backend = cases[k].backend;
        world.device.arch = world.options.target_arch = cases[k].arch;
        world.options.target_kind = cpu ? BUILD_CPU : BUILD_AMD;
        world.device.wave = cases[k].wave;
        world.options.wave = (uint32_t)cases[k].wave;
        world.options.sets = cases[k].sets;
        world.options.set_count = cases[k].sets[1] ? 2 : cases[k].sets[0] ? 1 : 0;
        assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'gemm'}]"), STATUS_OK);
        const struct plan_case *got = &world.plan->cases[0];
        assert_int_equal(got->state, cases[k].state);
        if (!strstr(got->state == PLAN_READY ? got->id : got->reason, cases[k].end))
            fail_msg("'%s' is not in %s: %s", cases[k].end, got->id, got->reason ? got->reason : "");
        if (got->state == PLAN_READY) {
            const struct build_target *target = &world.plan->codes[got->resolved.code].target;
            assert_int_equal(target->wave, cases[k].built_wave);
            assert_int_equal(target->cumode, cases[k].cumode);
            assert_int_equal(world.plan->codes[got->reference->resolved.code].target.wave, 64);
        }
        arena_release(&world.arena);
    }
}

/* A sweep of them gives one code object each, and device.wave is the case's. */
static void test_mode_sweep(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    assert_int_equal(world_plan(&world,
                                "'cases': [{'kernel': 'triad', 'sweep': {'wave': [0, 32, 64], 'cumode': [0, 1]},"
                                " 'exclude': ['device.wave == 64 && cumode']}]"),
                     STATUS_OK);
    assert_int_equal(world.plan->count, 5);
    assert_int_equal(world.plan->code_count, 3); /* wave 0 and 32 are the same here */
    assert_string_equal(world.plan->cases[0].label, "triad wave=0 cumode=0");
    assert_string_equal(world.plan->cases[4].label, "triad wave=64 cumode=0");
    arena_release(&world.arena);
}

/* Each distinct set of defines is one code object, whichever launches, kernels or values ask for it. */
static void test_codes_of_launches(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'parts', 'sweep': {'n': [64, 128], 'tail': [0, 1]}},"
                                        " {'kernel': 'parts', 'params': {'deep': 4}}, {'kernel': 'triad'}]"),
                     STATUS_OK);
    const struct plan_case *cases = world.plan->cases;
    const struct build_request *codes = world.plan->codes;
    assert_int_equal(world.plan->count, 6);
    assert_int_equal(world.plan->code_count, 5); /* A=3, plain and LAST of parts; A=4; triad */
    const struct resolved *resolved = &cases[0].resolved;
    assert_int_equal(resolved->code_count, 2); /* the last launch does not happen */
    assert_int_equal(resolved->code, resolved->steps[0].launch.code);
    assert_int_equal(resolved->code, resolved->codes[0]);
    assert_int_equal(resolved->codes[1], resolved->steps[2].launch.code);
    assert_int_equal(resolved->setup[0].launch.code, resolved->codes[1]);
    assert_int_equal(resolved->steps[3].steps[0].launch.code, resolved->code); /* the same defines in another order */
    static const char *const own[][2] = {{"A", "3"}, {"B", "2"}, {"W", "2"}}, *const plain[][2] = {{"B", "1"},
                                                                                                   {"W", "2"}};
    assert_int_equal(codes[resolved->code].define_count, 3);
    for (size_t k = 0; k < 3; k++) {
        assert_string_equal(codes[resolved->code].defines[k].name, own[k][0]);
        assert_string_equal(codes[resolved->code].defines[k].value, own[k][1]);
    }
    assert_int_equal(codes[resolved->codes[1]].define_count, 2);
    for (size_t k = 0; k < 2; k++) {
        assert_string_equal(codes[resolved->codes[1]].defines[k].name, plain[k][0]);
        assert_string_equal(codes[resolved->codes[1]].defines[k].value, plain[k][1]);
    }
    assert_int_equal(cases[1].resolved.code_count, 3);
    assert_int_equal(cases[1].resolved.code, resolved->code);
    assert_int_equal(cases[2].resolved.code, resolved->code); /* another n */
    assert_int_equal(cases[3].resolved.codes[2], cases[1].resolved.codes[2]);
    assert_int_not_equal(cases[4].resolved.code, resolved->code);
    assert_int_equal(cases[4].resolved.codes[1], resolved->codes[1]);
    assert_int_equal(cases[5].resolved.code_count, 1);
    assert_int_equal(cases[5].resolved.code, cases[5].resolved.codes[0]);
    arena_release(&world.arena);
}

/* Code for the CPU is told its kernels: those of all launches with its defines, each once; others share no code. */
static void test_exports_of_cpu_code(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    world.options.target_kind = BUILD_CPU;
    assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'parts'}, {'kernel': 'parts', 'params': {'tail': 1}}]"),
                     STATUS_OK);
    static const char *const lists[] = {"SIMT_EXPORT(first)", "SIMT_EXPORT(first) SIMT_EXPORT(other)",
                                        "SIMT_EXPORT(first)"};
    const struct resolved *whole = &world.plan->cases[1].resolved;
    assert_int_equal(whole->code_count, 3);
    for (size_t k = 0; k < 3; k++) {
        const struct build_request *code = &world.plan->codes[whole->codes[k]];
        const struct build_define *list = NULL;
        for (size_t d = 0; d < code->define_count; d++)
            if (strcmp(code->defines[d].name, "ROOFTILE_KERNELS") == 0)
                list = &code->defines[d];
        assert_non_null(list);
        assert_string_equal(list->value, lists[k]);
    }
    arena_release(&world.arena);
}

static void test_verification(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    /* One reference element costs 10 m: 256 of them stay below 2e9 up to m = 781250, and 9 of them at m = 1000000 below
     * 1e8. A workgroup has a tile of 16 x 16. */
    world.device.memory_bytes = 0;
    assert_int_equal(world_plan(&world,
                                "'cases': [{'kernel': 'triad'},"
                                " {'kernel': 'gemm', 'sweep': {'m': [16, 512, 1000000, 1000016, 32768, 16000000]}}]"),
                     STATUS_OK);
    const struct plan_case *cases = world.plan->cases;
    assert_int_equal(cases[0].verify, VERIFY_EXPECT);
    assert_null(cases[0].reference);
    assert_int_equal(cases[1].verify, VERIFY_REFERENCE);
    assert_true(cases[1].reference->every && cases[1].reference->samples == 256);
    assert_int_equal(cases[2].verify, VERIFY_SAMPLED);
    const struct plan_reference *sampled = cases[2].reference;
    assert_false(sampled->every);
    assert_int_equal(sampled->samples, 4 * 32 * 32);
    assert_int_equal(cases[5].reference->samples, 1e8 / (10 * 32768)); /* fewer: what 1e8 allow */
    assert_int_equal(sampled->output, 1);
    assert_true(sampled->resolved.values[0].number == 512 && sampled->resolved.values[3].number == 2);
    assert_int_equal(sampled->source[0], 0); /* x takes a */
    assert_int_equal(sampled->source[sampled->index_buffer], -1);
    assert_int_equal(sampled->source[sampled->result_buffer], -1);
    assert_true(sampled->abs == 0 && sampled->rel == 512 * 0x1p-23);
    assert_int_equal(cases[3].verify, VERIFY_VARIANT);
    assert_true(cases[3].variant->values[0].number == 48);
    assert_true(cases[3].variant->values[1].number == 16); /* compiled in: the measured tile, not check.params' */
    assert_int_equal(cases[3].variant->code, cases[3].resolved.code);
    assert_true(cases[3].reference->every && cases[3].reference->samples == 48 * 48);
    assert_true(cases[3].reference->rel == 48 * 0x1p-23);
    assert_ptr_equal(cases[3].variant, cases[4].variant); /* bound once */
    assert_string_equal(verify_method_names[cases[3].verify], "variant");
    assert_int_equal(cases[3].spot->samples, 9);
    assert_int_equal(cases[6].verify, VERIFY_VARIANT);
    assert_null(cases[6].spot);
    arena_release(&world.arena);
}

static void test_check_params(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    world.options.at_check_params = true;
    assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'triad', 'sweep': {'n': [1, 2], 'VEC': [1, 2]}},"
                                        " {'kernel': 'gemm', 'params': {'tile': 4}}]"),
                     STATUS_OK);
    assert_int_equal(world.plan->count, 2);
    assert_true(world.plan->cases[0].resolved.values[0].number == 4099);
    assert_true(world.plan->cases[1].resolved.values[0].number == 48);
    assert_true(world.plan->cases[1].resolved.values[1].number == 8); /* overrides everything, compiled or not */
    assert_int_equal(world.plan->cases[1].verify, VERIFY_REFERENCE);
    assert_true(world.plan->cases[1].reference->every);
    arena_release(&world.arena);
}

static void test_reference_faults(void **state)
{
    static const struct {
        const char *find, *with, *complaint;
    } cases[] = {
        {"'square_reference'", "'round_reference'", "/check/reference: reference 'round_reference': "},
        {"'x': 'a'", "'y': 'a'", "no buffer of 'gemm' gives its buffer 'x' the contents"},
        {"'scale': 2", "'scala': 2", "did you mean 'scale'?"},
        {"'a': { 'type': '{dtype}'", "'a': { 'type': 'u8'", "is u8["},
        {"'rel': 'm * eps(dtype)'", "'rel': '0 - m'", "tolerance '0 - m' is -"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct world world;
        world_init(&world);
        const char *text = replaced(gemm_text, cases[k].find, cases[k].with, &world.arena);
        assert_non_null(text);
        if (world_kernel(&world, 0, text))
            fail_msg("%s", world.err.text);
        assert_int_equal(world_plan(&world, "'cases': [{'kernel': 'gemm'}, {'kernel': 'triad'}]"), STATUS_OK);
        assert_int_equal(world.plan->cases[0].state, PLAN_INVALID);
        if (!strstr(world.plan->cases[0].reason, cases[k].complaint))
            fail_msg("%s: %s", cases[k].with, world.plan->cases[0].reason);
        assert_int_equal(world.plan->cases[1].state, PLAN_READY);
        arena_release(&world.arena);
    }
}

static void test_estimate(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    assert_int_equal(world_predict(&world, "'cases': [{'kernel': 'triad', 'params': {'n': 1e8}}]"), STATUS_OK);
    const struct plan_case *only = &world.plan->cases[0];
    /* 8e8 bytes at 1 TB/s and a launch */
    assert_true(only->lower_bound.time_ns == 8e5);
    /* of 0.4 TFLOP at a share of the peak; terms of other sizes hide behind the largest one */
    const struct predicted *p = only->prediction;
    assert_non_null(p);
    assert_string_equal(p->method, "description");
    assert_string_equal(p->limiter, "memory");
    assert_true(p->term_ns[TERM_MEMORY] == 8e5 && p->term_ns[TERM_LAUNCH] == 5000);
    assert_true(p->time_ns >= 805000 && p->time_ns < 1.2 * 805000);
    assert_true(p->low_ns < p->time_ns && p->time_ns < p->high_ns);
    assert_true(world.plan->estimate_ns == only->estimate_ns);
    /* its warm-up and least time, or as many launches as are wanted at least; 0.4 s for what is around them */
    assert_true(only->estimate_ns == 0.2e9 + 0.5e9 + 0.4e9);
    assert_int_equal(world_predict(&world, "'cases': [{'kernel': 'triad', 'params': {'n': 1e8}, 'measure': "
                                           "{'min_time': '1 ms', 'min_samples': 1000, 'max_time': '0.6 s'}}]"),
                     STATUS_OK);
    assert_true(world.plan->estimate_ns == 0.2e9 + 0.6e9 + 0.4e9);
    arena_release(&world.arena);
}

static void test_ten_thousand(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    const size_t before = world.arena.used_bytes;
    assert_int_equal(
        world_plan(&world, "'cases': [{'kernel': 'gemm', 'sweep': {'m': '1..2500', 'tile': [2, 4, 8, 16]}}]"),
        STATUS_OK);
    assert_int_equal(world.plan->count, 10000);
    assert_int_equal(world.plan->code_count, 5);
    assert_true(world.arena.used_bytes - before < 200u * 1000 * 1000);
    arena_release(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expansion),
        cmocka_unit_test(test_asks),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_device_asks_too_much),
        cmocka_unit_test(test_refuse),
        cmocka_unit_test(test_same_set_twice),
        cmocka_unit_test(test_filter_before_limits),
        cmocka_unit_test(test_bad_cases_are_data),
        cmocka_unit_test(test_words_stay_words),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_codes_of_launches),
        cmocka_unit_test(test_exports_of_cpu_code),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_mode_sweep),
        cmocka_unit_test(test_verification),
        cmocka_unit_test(test_check_params),
        cmocka_unit_test(test_reference_faults),
        cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_ten_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
