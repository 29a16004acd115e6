/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "manifest_examples.h"
#include "manifest_text.h"

static const char full[] =
    "{ '//': 'everything at once', '$schema': 'x', 'name': 'full', 'summary': 'all keys', 'tags': ['memory', 'new'], "
    "'class': 'latency',\n"
    "  'params':   { '//': 'why', 'n': '1Ki', 'dtype': 'f32', 'block': 256, 'lens': [1, 2, 3], 'layout': 'nt', 'VEC': "
    "4 },\n"
    "  'limits':   { 'dtype': ['f32', 'f64'], 'VEC': [1, 2, 4], 'lens': [[1, 2, 3], [4]] },\n"
    "  'code':     { 'source': 'stream.hip', 'symbol': 'k_{layout}', 'min_llvm': 17, 'defines': { 'T': "
    "'{ctype(dtype)}' },\n"
    "                'flags': ['-ffast-math', '-mllvm', '-a', '-mllvm', '-b'] },\n"
    "  'variants': [ { 'backend': 'cpu', 'params': { 'VEC': 2 } }, { 'arch': 'gfx11*', 'wave': 32, 'params': { 'VEC': "
    "1 } } ],\n"
    "  'require':  [ { 'expr': 'device.lds_bytes >= n * 4', 'reason': 'the tile needs {n*4} bytes of LDS' } ],\n"
    "  'buffers':  { 'a': { 'type': '{dtype}', 'count': 'n', 'role': 'out', 'reset': 'zero', 'space': 'device', "
    "'align_offset': '0' },\n"
    "                'b': { 'type': 'u32', 'count': 'n', 'role': 'in', 'fill': { 'gen': 'ring', 'stride': '64', "
    "'seed': 7 } },\n"
    "                'c': { 'type': 'u8', 'count': 64, 'role': 'inout', 'reset': 'fill', 'fill': 3, 'space': 'pinned' "
    "},\n"
    "                'd': { 'type': 'u64', 'count': 'sum(lens)', 'role': 'in',\n"
    "                       'fill': { 'gen': 'offsets', 'total': 'n', 'dist': 'skewed', 'skew': 2 } },\n"
    "                'e': { 'type': 'f64', 'count': 4, 'role': 'in', 'fill': { 'gen': 'values', 'values': [1, 2.5] } "
    "},\n"
    "                'f': { 'type': 'u8', 'count': 4, 'role': 'in', 'fill': { 'gen': 'file', 'path': 'x.bin' } },\n"
    "                'g': { 'type': 'i32', 'count': 4, 'role': 'in' },\n"
    "                'h': { 'type': 'i32', 'count': 4, 'role': 'temp', 'fill': { 'gen': 'index', 'bound': 'n', "
    "'dist': 'zipf' } },\n"
    "                'cycles': { 'type': 'u64', 'count': 4, 'role': 'out' } },\n"
    "  'setup':    [ { 'fill': { 'buffer': 'g', 'byte': 255, 'bytes': 'n' } }, { 'record': 'ready' } ],\n"
    "  'steps':    [ { 'wait': 'ready' },\n"
    "                { 'launch': { 'grid': ['n', 2, 3], 'block': ['block'], 'shared': '4*n', 'symbol': 'other',\n"
    "                              'args': [ 'a', { 'buffer': 'b', 'offset': '64' }, 'c', 'd', 'e', 'f', 'cycles' ] "
    "},\n"
    "                  'stream': 1, 'timed': true, 'repeat': '2' },\n"
    "                { 'copy': { 'to': 'g', 'from': 'h', 'bytes': '16' }, 'timed': false },\n"
    "                { 'record': 'x', 'stream': 1 }, { 'wait': 'x', 'stream': 2 }, { 'sync': true }, { 'load': true "
    "},\n"
    "                { 'graph': { 'repeat': '10', 'steps': [ { 'launch': { 'grid': [1], 'block': [64], 'symbol': "
    "'g{VEC}' } } ] } } ],\n"
    "  'work':     { 'read': 'n', 'write': 'n', 'flops': '2*n', 'items': 'n', 'unit': 'vector_{dtype}', 'footprint': "
    "'3*n' },\n"
    "  'metrics':  { 'cycles_per_step': { 'buffer': 'cycles', 'reduce': 'median', 'expr': 'x / n', 'unit': 'cycles' } "
    "},\n"
    "  'check':    { 'params': { 'n': 16 },\n"
    "                'expect': { 'a': { 'expr': 'i', 'abs': '0', 'rel': '4*eps(dtype)' } },\n"
    "                'reference': { 'kernel': 'gemm_reference', 'output': 'c', 'samples': 100, 'abs': '1', 'rel': "
    "'2',\n"
    "                            'params': { 'whatever': 3 }, 'buffers': { 'in': 'b' } } } }\n";

static const struct manifest *parse(const char *text, struct arena *arena)
{
    struct err err = {0};
    const struct manifest *manifest = NULL;
    if (parse_text(&manifest, text, arena, &err))
        fail_msg("%s", err.text);
    return manifest;
}

static double value_of(const struct manifest *manifest, const struct expr *expr, struct arena *arena)
{
    struct err err = {0};
    struct param_value *values = NULL;
    const double *slots = slots_at_defaults(&values, manifest, 4096, arena, &err);
    double value = (double)NAN;
    if (!slots || expr_eval(&value, expr, slots, &err))
        fail_msg("%s", err.text);
    return value;
}

static void short_form(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct manifest *m = parse(triad, &arena);
    assert_string_equal(m->name, "stream_triad");
    assert_string_equal(m->path, "dir/m.json");
    assert_string_equal(m->source, "dir/stream.hip");
    assert_int_equal(m->class, CLASS_COMPUTE);
    assert_int_equal(m->param_count, 4 + m->implied_count);
    assert_int_equal(manifest_param(m, "VEC"), 3);
    assert_int_equal(manifest_param(m, "vec"), -1);
    assert_int_equal(m->buffer_count, 3);
    assert_int_equal(m->buffers[0].fill.kind, FILL_NONE);
    assert_int_equal(m->buffers[1].fill.kind, FILL_EXPR);
    assert_int_equal(m->step_count, 1);
    const struct manifest_step *step = m->steps;
    assert_int_equal(step->kind, STEP_LAUNCH);
    assert_true(step->timed);
    assert_string_equal(template_source(step->launch.symbol), "stream_triad");
    assert_true(value_of(m, step->launch.grid[0], &arena) == 262144);
    assert_null(step->launch.grid[1]);
    assert_int_equal(step->launch.arg_count, 5);
    assert_int_equal(step->launch.args[2].buffer, 2);
    assert_int_equal(step->launch.args[3].buffer, -1);
    assert_true(value_of(m, step->launch.args[3].value, &arena) == 3);
    assert_true(value_of(m, m->read_bytes, &arena) == 2.0 * 4 * 268435456);
    assert_true(manifest_param_is_compiled(m, 1));
    assert_false(manifest_param_is_compiled(m, 0));
    assert_false(manifest_param_is_compiled(m, 2));
    assert_int_equal(m->check.expect_count, 1);
    assert_int_equal(m->check.params[0].value.number, 4099);
    arena_release(&arena);
}

static void every_head_key(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct manifest *m = parse(full, &arena);
    assert_int_equal(m->class, CLASS_LATENCY);
    assert_string_equal(case_class_names[m->class], "latency");
    assert_int_equal(m->tag_count, 2);
    assert_string_equal(m->tags[1], "new");
    assert_int_equal(m->param_count, 6 + m->implied_count);
    assert_int_equal(m->params[0].value.number, 1024);
    assert_int_equal(m->params[1].limit_count, 2);
    assert_int_equal(m->params[0].limit_count, 0);
    assert_int_equal(m->min_llvm, 17);
    assert_int_equal(m->flag_count, 5);
    assert_int_equal(m->variant_count, 2);
    assert_string_equal(m->variants[0].backend, "cpu");
    assert_null(m->variants[0].arch);
    assert_int_equal(m->variants[1].wave, 32);
    assert_int_equal(m->variants[1].params[0].value.number, 1);
    assert_true(value_of(m, m->require[0].expr, &arena) == 1);
    assert_false(manifest_param_is_compiled(m, 4)); /* layout: every launch has a symbol of its own */
    assert_int_equal(m->metric_count, 1);
    assert_int_equal(m->metrics[0].reduce, REDUCE_MEDIAN);
    assert_true(value_of(m, m->metrics[0].expr, &arena) == 4);
    assert_int_equal(m->check.expect[0].want.kind, FILL_EXPR);
    assert_true(value_of(m, m->check.expect[0].rel, &arena) == 4 * 0x1p-23);
    assert_string_equal(m->check.reference.kernel, "gemm_reference");
    assert_int_equal(m->check.reference.samples, 100);
    assert_string_equal(m->check.reference.map[0].theirs, "in");
    assert_int_equal(m->check.reference.map[0].ours, 1);
    assert_int_equal(m->check.reference.param_count, 1);
    arena_release(&arena);
}

static void every_fill(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct manifest *m = parse(full, &arena);
    const struct manifest_buffer *b = m->buffers;
    assert_int_equal(b[0].reset, RESET_ZERO);
    assert_int_equal(b[1].fill.kind, FILL_RING);
    assert_int_equal(b[1].fill.seed, 7);
    assert_true(value_of(m, b[1].fill.options[FILL_STRIDE], &arena) == 64);
    assert_string_equal(template_source(b[2].space), "pinned");
    assert_int_equal(b[2].reset, RESET_FILL);
    assert_int_equal(b[3].fill.dist, DIST_SKEWED);
    assert_true(value_of(m, b[3].count, &arena) == 6);
    assert_true(value_of(m, b[3].fill.options[FILL_SKEW], &arena) == 2);
    assert_int_equal(b[4].fill.value_count, 2);
    assert_true(b[4].fill.values[1] == 2.5);
    assert_string_equal(b[5].fill.path, "dir/x.bin");
    assert_int_equal(b[7].fill.dist, DIST_ZIPF);
    assert_null(b[7].fill.options[FILL_S]);
    assert_true(generator_of(FILL_INDEX)->options[FILL_S].fallback == 1);
    assert_null(generator_of(FILL_EXPR));
    arena_release(&arena);
}

static void every_step(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct manifest *m = parse(full, &arena);
    static const enum step_kind kinds[] = {STEP_WAIT, STEP_LAUNCH, STEP_COPY, STEP_RECORD,
                                           STEP_WAIT, STEP_SYNC,   STEP_LOAD, STEP_GRAPH};
    assert_int_equal(m->step_count, COUNT_OF(kinds));
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        assert_int_equal(m->steps[i].kind, kinds[i]);
        assert_int_equal(m->steps[i].timed, kinds[i] != STEP_COPY);
    }
    assert_int_equal(m->setup_count, 2);
    assert_false(m->setup[0].timed);
    assert_int_equal(m->setup[0].byte, 255);
    assert_int_equal(m->setup[0].to, 6);
    assert_int_equal(m->steps[0].event, m->setup[1].event);
    assert_int_equal(m->steps[4].event, m->steps[3].event);
    assert_int_not_equal(m->steps[4].event, m->steps[0].event);
    const struct manifest_step *launch = &m->steps[1];
    assert_string_equal(expr_source(launch->stream), "1");
    assert_true(value_of(m, launch->repeat, &arena) == 2);
    assert_true(value_of(m, launch->launch.grid[2], &arena) == 3);
    assert_true(value_of(m, launch->launch.shared, &arena) == 4096);
    assert_true(value_of(m, launch->launch.args[1].offset, &arena) == 64);
    assert_int_equal(m->steps[2].to, 6);
    assert_int_equal(m->steps[2].from, 7);
    const struct manifest_step *graph = &m->steps[7];
    assert_true(value_of(m, graph->repeat, &arena) == 10);
    assert_int_equal(graph->step_count, 1);
    assert_string_equal(template_source(graph->steps[0].launch.symbol), "g{VEC}");
    arena_release(&arena);
}

/* A launch has the code's defines with its own over them, by name. */
static void launch_defines(void **state)
{
    (void)state;
    static const struct {
        const char *code, *launch, *want;
        bool compiled; /* is the parameter p? */
    } cases[] = {
        {"", "", "", false},
        {"'A': '1', 'B': '2'", "", "A=1 B=2 ", false},
        {"'A': '1', 'B': '2'", "'defines': { 'B': '{p}', 'C': '4' }, ", "A=1 B={p} C=4 ", true},
        {"", "'defines': { '// why': 'x', 'P': 'x{p + 1}' }, ", "P=x{p + 1} ", true},
        {"'A': '{p}'", "'defines': { 'A': '0' }, ", "A=0 ", true}, /* other launches may use the code's */
        {"'A': '1'", "'defines': {}, ", "A=1 ", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena arena = {0};
        const char *text = arena_printf(&arena,
                                        "{ 'name': 'k', 'summary': 's', 'params': { 'p': 3 },\n"
                                        "  'code': { 'source': 'k.hip', 'symbol': 'k', 'defines': { %s } },\n"
                                        "  'steps': [ { 'launch': { %s'grid': [1], 'block': [64] } } ] }\n",
                                        cases[i].code, cases[i].launch);
        const struct manifest *m = parse(text, &arena);
        const struct manifest_launch *launch = &m->steps[0].launch;
        const char *found = "";
        for (size_t k = 0; k < launch->define_count; k++)
            found = arena_printf(&arena, "%s%s=%s ", found, launch->defines[k].name,
                                 template_source(launch->defines[k].value));
        assert_string_equal(found, cases[i].want);
        assert_int_equal(launch->defines == m->defines, !*cases[i].launch || strstr(cases[i].launch, "{}"));
        assert_int_equal(manifest_param_is_compiled(m, 0), cases[i].compiled);
        arena_release(&arena);
    }
}

static void foreign_code(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct manifest *m = parse(foreign, &arena);
    assert_null(m->source);
    assert_string_equal(template_source(m->image), "my_flash_{D}.hsaco");
    assert_true(manifest_param_is_compiled(m, 0));
    assert_int_equal(m->class, CLASS_LAUNCH);
    assert_int_equal(m->steps[0].launch.arg_count, 0);
    assert_string_equal(template_source(m->unit), "");
    arena_release(&arena);
}

/* A parameter may name the library, and so tells two codes apart. */
static void function_of_a_library(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct manifest *m = parse("{'name': 'product', 'summary': 's', 'params': {'n': 8, 'library': 'openblas', "
                                     "'dtype': 'f32', 'other': 'rccl'}, "
                                     "'code': {'library': '{library}', 'symbol': 'gemm_{dtype}'}, "
                                     "'steps': [{'launch': {'grid': [1], 'block': [1]}}, "
                                     "{'launch': {'library': '{other}', 'grid': [1], 'block': [1]}}]}",
                                     &arena);
    assert_null(m->source);
    assert_string_equal(template_source(m->library), "{library}");
    assert_ptr_equal(m->steps[0].launch.library, m->library);
    assert_string_equal(template_source(m->steps[1].launch.library), "{other}");
    assert_false(manifest_param_is_compiled(m, 0));
    for (size_t k = 1; k < 4; k++)
        assert_true(manifest_param_is_compiled(m, k));
    arena_release(&arena);
}

#define UNIT_NAMES (sizeof(struct device_unit) / sizeof(double))
#define FIRST_UNIT_NAME (offsetof(struct device_facts, unit) / sizeof(double))

static void slots(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct manifest *m = parse(full, &arena);
    struct param_value values[8];
    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = m->params[i].value;
    static const double list[] = {-4, -2};
    values[3].list = list;
    values[3].count = 2;
    struct device_facts facts = {0};
    double numbers[MANIFEST_DEVICE_NAMES];
    for (size_t k = 0; k < MANIFEST_DEVICE_NAMES; k++)
        numbers[k] = (double)k + 1;
    memcpy(&facts, numbers, sizeof(numbers));
    static const double before[] = {1024, DTYPE_F32, 256, 0, 0, 4, 0, 0}; /* parameters */
    /* x and runs, the indexes of steps, and the list's sum, max and length */
    static const double behind[] = {12, 0, 0, 0, 0, 0, -6, -2, 2};
    double got[COUNT_OF(before) + MANIFEST_DEVICE_NAMES + COUNT_OF(behind)];
    assert_int_equal(manifest_slot_count(m), COUNT_OF(got));
    manifest_slots(got, m, values, &facts, 12);
    assert_memory_equal(got, before, sizeof(before));
    assert_memory_equal(got + COUNT_OF(before), numbers, sizeof(numbers));
    assert_memory_equal(got + COUNT_OF(before) + MANIFEST_DEVICE_NAMES, behind, sizeof(behind));
    assert_string_equal(manifest_device_names[0], "device.wave");
    assert_string_equal(manifest_device_names[6], "device.caches");
    assert_string_equal(manifest_device_names[FIRST_UNIT_NAME], "device.units");
    assert_string_equal(manifest_device_names[FIRST_UNIT_NAME + UNIT_NAMES - 1], "device.unit_groups");
    assert_string_equal(manifest_device_names[FIRST_UNIT_NAME + UNIT_NAMES], "device.matrix_lanes");
    arena_release(&arena);
}

/* On a device with several layouts of matrix fragments the case's own says what there is. */
static void slots_of_a_layout(void **state)
{
    static const struct target_facts layouts[] = {{.matrix_layout = 12, .matrix_k_f16 = 16, .f16 = 1},
                                                  {.matrix_layout = 3, .matrix_k_f16 = 32, .f16 = 2}};
    static const struct {
        double layout, k;
    } cases[] = {{0, 16}, {1, 16}, {3, 32}, {11, 16}};
    const struct device_facts device = {.wave = 32, .target = layouts[0], .layouts = layouts, .layout_count = 2};
    (void)state;
    struct arena arena = {0};
    const struct manifest *m = parse(replaced(triad, "'n':", "'layout': 0, 'n':", &arena), &arena);
    double *got = arena_array(&arena, manifest_slot_count(m), sizeof(*got));
    struct param_value *values = arena_array(&arena, m->param_count, sizeof(*values));
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct device_facts facts;
        for (size_t i = 0; i < m->param_count; i++)
            values[i] = m->params[i].value;
        values[manifest_param(m, "layout")].number = cases[k].layout;
        manifest_slots(got, m, values, &device, 0);
        memcpy(&facts, got + m->param_count, MANIFEST_DEVICE_NAMES * sizeof(double));
        assert_true(facts.target.matrix_k_f16 == cases[k].k);
        assert_true(facts.target.f16 == 1); /* no part of the layout */
    }
    arena_release(&arena);
}

/* Where the workgroups of a case live: two compute units together unless it asks for CU mode; in waves of 64 a register
 * takes twice the place. */
static void slots_of_the_unit(void **state)
{
    static const struct device_facts rdna = {.wave = 32,
                                             .unit = {32, 2, 16, 1536, 24, 256, 0, 65536, 512, 0, 32, 16},
                                             .unit_pairs = true,
                                             .backend = "hip",
                                             .arch = "gfx1100"};
    static const struct {
        double wave, cumode, want[UNIT_NAMES];
    } cases[] = {
        {0, 0, {16, 4, 16, 1536, 24, 256, 0, 131072, 512, 0, 64, 32}},
        {32, 1, {32, 2, 16, 1536, 24, 256, 0, 65536, 512, 0, 32, 16}},
        {64, 0, {16, 4, 16, 768, 12, 256, 0, 131072, 512, 0, 64, 32}},
        {64, 1, {32, 2, 16, 768, 12, 256, 0, 65536, 512, 0, 32, 16}},
    };
    (void)state;
    struct arena arena = {0};
    const struct manifest *m = parse(triad, &arena);
    double *got = arena_array(&arena, manifest_slot_count(m), sizeof(*got));
    struct param_value *values = arena_array(&arena, m->param_count, sizeof(*values));
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        for (size_t i = 0; i < m->param_count; i++)
            values[i] = m->params[i].value;
        values[manifest_param(m, "wave")].number = cases[k].wave;
        values[manifest_param(m, "cumode")].number = cases[k].cumode;
        manifest_slots(got, m, values, &rdna, 0);
        const double *unit = got + m->param_count + FIRST_UNIT_NAME;
        assert_memory_equal(unit, cases[k].want, sizeof(cases[k].want));
    }
    arena_release(&arena);
}

static void occupancy(void **state)
{
    static const struct {
        const char *text;
        double waves;
        bool exactly;
        const char *message; /* NULL: it is right */
    } cases[] = {
        {"{ 'exactly': '2 * VEC' }", 8, true, NULL},
        {"{ 'least': 2 }", 2, false, NULL},
        {"{}", 0, false, "/occupancy: must have one of 'exactly' and 'least'"},
        {"{ 'exactly': 1, 'least': 2 }", 0, false, "/occupancy: must have one of 'exactly' and 'least'"},
        {"{ 'most': 1 }", 0, false, "/occupancy/most: unknown key"},
        {"{ 'least': true }", 0, false,
         "/occupancy/least: must be an expression (a string) or a number, not a boolean"},
        {"{ 'least': 'x' }", 0, false,
         "/occupancy/least: in \"x\": 'x' is the reduced value of a metric and unknown here"},
        {"4", 0, false, "/occupancy: must be an object, not a number"},
    };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *m = NULL;
        const char *text =
            replaced(full, "'check':", arena_printf(&arena, "'occupancy': %s, 'check':", cases[k].text), &arena);
        const enum status status = parse_text(&m, text, &arena, &err);
        if (!!status != !!cases[k].message || (status && !strstr(err.text, cases[k].message)))
            fail_msg("%s: %s", cases[k].text, err.text);
        if (!status)
            assert_true(value_of(m, m->occupancy.waves, &arena) == cases[k].waves &&
                        m->occupancy.exactly == cases[k].exactly);
        arena_release(&arena);
    }
}

static void min_llvm(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *text = replaced(triad, "'symbol': 's",
                                "'min_llvm': {'gfx11*': 16, 'gfx1[12]*': 17, 'gfx95*': 20}, 'symbol': 's", &arena);
    static const struct {
        const char *arch;
        unsigned llvm;
    } cases[] = {{"gfx942", 0}, {"gfx1100", 17}, {"gfx1201", 17}, {"gfx950", 20}, {"cpu", 0}};
    const struct manifest *m = parse(text, &arena);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(manifest_min_llvm(m, cases[i].arch), cases[i].llvm);
    assert_int_equal(manifest_min_llvm(parse(full, &arena), "gfx942"), 17);
    arena_release(&arena);
}

/* wave and cumode: every kernel that is compiled has them, and expressions see the wave that was asked for. */
static void implied(void **state)
{
    (void)state;
    static const struct device_facts facts = {.wave = 32, .backend = "hip", .arch = "gfx1100"};
    struct arena arena = {0};
    const struct manifest *m = parse(triad, &arena);
    const int wave = manifest_param(m, "wave"), cumode = manifest_param(m, "cumode");
    assert_int_equal(m->implied_count, 2);
    assert_true(m->params[wave].implied && m->params[cumode].implied && !m->params[0].implied);
    assert_true(manifest_param_is_compiled(m, (size_t)wave) && manifest_param_is_compiled(m, (size_t)cumode));
    struct param_value values[6];
    double slots[160];
    for (size_t i = 0; i < m->param_count; i++)
        values[i] = m->params[i].value;
    assert_int_equal(manifest_wave(m, values), 0);
    assert_false(manifest_cumode(m, values));
    assert_true(param_is_hidden(&m->params[wave], &values[wave]));
    assert_false(param_is_hidden(&m->params[0], &(struct param_value){.kind = PARAM_NUMBER}));
    manifest_slots(slots, m, values, &facts, 0);
    assert_true(slots[m->param_count] == 32);
    values[wave].number = 64;
    values[cumode].number = 1;
    assert_int_equal(manifest_wave(m, values), 64);
    assert_true(manifest_cumode(m, values));
    assert_false(param_is_hidden(&m->params[wave], &values[wave]));
    manifest_slots(slots, m, values, &facts, 0);
    assert_true(slots[m->param_count] == 64);
    struct err err;
    assert_int_equal(param_accepts(&m->params[wave], &(struct param_value){.number = 48}, &err), ERR_CONFIG);
    assert_string_equal(err.text, "wave=48 is not among its limits: 0, 32, 64");
    m = parse(foreign, &arena);
    assert_int_equal(m->implied_count, 0);
    assert_int_equal(manifest_param(m, "wave"), -1);
    assert_int_equal(manifest_wave(m, m->params ? &m->params[0].value : NULL), 0);
    arena_release(&arena);
}

/* One change to a good manifest and the whole message that it must give. */
struct mistake {
    const char *find, *with, *message;
};

static void expect_mistakes(const char *text, const struct mistake *mistakes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *manifest = NULL;
        const char *wrong = replaced(text, mistakes[i].find, mistakes[i].with, &arena);
        if (!wrong)
            fail_msg("the manifest lacks: %s", mistakes[i].find);
        if (!parse_text(&manifest, wrong, &arena, &err))
            fail_msg("accepted: %s", mistakes[i].with);
        assert_null(manifest);
        assert_int_equal(err.status, ERR_CONFIG);
        /* Behind "dir/m.json:line:column: ". */
        const char *message = strstr(err.text, ": ");
        assert_non_null(message);
        assert_string_equal(message + 2, mistakes[i].message);
        arena_release(&arena);
    }
}

/* clang-format off */
static void head_mistakes(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {"'name'", "'nam'", "/nam: unknown key; did you mean 'name'?"},
        {"'name': 'stream_triad', ", "", "the key 'name' is missing"},
        {"'name': 'stream_triad'", "'name': 'a/b'",
         "/name: a kernel's name has letters, digits, '_', '-' and '.' only and starts with a letter, digit or '_'"},
        {"'name': 'stream_triad'", "'name': ''",
         "/name: a kernel's name has letters, digits, '_', '-' and '.' only and starts with a letter, digit or '_'"},
        {"'summary'", "'class': 'memmory', 'summary'", "/class: unknown class 'memmory'; did you mean 'memory'?"},
        {"'summary'", "'tags': ['a', 'a'], 'summary'", "/tags/1: 'a' stands here twice"},
        {"'summary'", "'tags': [1], 'summary'", "/tags/0: must be a string, not a number"},
        {"'n': 268435456", "'f16': 1", "/params/f16: 'f16' is the name of a dtype and cannot be a parameter"},
        {"'n': 268435456", "'i': 1", "/params/i: 'i' means something else in expressions and cannot be a parameter"},
        {"'n': 268435456", "'x': 1", "/params/x: 'x' means something else in expressions and cannot be a parameter"},
        {"'n': 268435456", "'device': 1",
         "/params/device: 'device' means something else in expressions and cannot be a parameter"},
        {"'n': 268435456", "'ceil_div': 1",
         "/params/ceil_div: 'ceil_div' means something else in expressions and cannot be a parameter"},
        {"'n': 268435456", "'wave': 64",
         "/params/wave: every kernel has the parameter 'wave' already: variants and suites set it"},
        {"'n': 268435456", "'a-b': 1",
         "/params/a-b: the name of a parameter has letters, digits and '_' only and starts with no digit"},
        {"'n': 268435456", "'n': true",
         "/params/n: a parameter is a number, a string or a list of numbers, not a boolean"},
        {"'n': 268435456", "'m': 268435456",
         "/buffers/a/count: in \"n\": unknown name 'n' at column 1; did you mean 'm'?"},
        {"'code'", "'limits': { 'blok': [1] }, 'code'",
         "/limits/blok: unknown parameter 'blok'; did you mean 'block'?"},
        {"'code'", "'limits': { 'block': [1, 2] }, 'code'",
         "/limits/block: the default is excluded: block=256 is not among its limits: 1, 2"},
        {"'code'", "'limits': { 'block': ['f32'] }, 'code'",
         "/limits/block/0: is a dtype, but parameter 'block' is a number"},
        {"'code'", "'limits': { 'block': [] }, 'code'", "/limits/block: the list is empty: no value would be allowed"},
        {"'check'", "'variants': [ { 'params': { 'VEK': 1 } } ], 'check'",
         "/variants/0/params/VEK: unknown parameter 'VEK'; did you mean 'VEC'?"},
        {"'check'", "'variants': [ { 'params': { 'VEC': 'f32' } } ], 'check'",
         "/variants/0/params/VEC: parameter 'VEC' is a number, but 'f32' is a dtype"},
        {"'check'", "'variants': [ { 'arch': 'gfx9*' } ], 'check'", "/variants/0: sets no parameter"},
        {"'check'", "'variants': [ { 'wave': 16, 'params': { 'VEC': 1 } } ], 'check'",
         "/variants/0/wave: waves have 32 or 64 lanes"},
        {"'check'", "'variants': [ { 'params': { 'VEC': 1 } }, { 'wave': 32, 'params': { 'VEC': 1 } } ], 'check'",
         "/variants/1: never matches: the variant before it matches every device"},
        {"'check'", "'require': [ { 'expr': 'n > 1' } ], 'check'", "/require/0: the key 'reason' is missing"},
        {"'check'", "'require': [ { 'expr': 'n >', 'reason': 'r' } ], 'check'",
         "/require/0/expr: in \"n >\": expected a value, found the end at column 4"},
        {"'check'", "'require': [ { 'expr': 'device.wav > 1', 'reason': 'r' } ], 'check'",
         "/require/0/expr: in \"device.wav > 1\": unknown name 'device.wav' at column 1; did you mean 'device.wave'?"},
        {"'source': 'stream.hip'", "'image': 'x.hsaco'", "/code/defines: an image is not compiled: this has no effect"},
        {"'source': 'stream.hip'", "'image': 'x.hsaco', 'source': 's.hip'",
         "/code: has more than one of 'source', 'image' and 'library'"},
        {"'source': 'stream.hip'", "'library': 'openblas', 'source': 's.hip'",
         "/code: has more than one of 'source', 'image' and 'library'"},
        {"'source': 'stream.hip'", "'library': 'openblas'",
         "/code/defines: a library is not compiled: this has no effect"},
        {"'grid'", "'library': 'openblas', 'defines': {'VEC': '1'}, 'grid'",
         "/launch/defines: a library is not compiled: this has no effect"},
        {"'source': 'stream.hip'", "'library': ''", "/code/library: is empty"},
        {"'source': 'stream.hip', ", "", "/code: the key 'source' (or 'image' or 'library') is missing"},
        {"'symbol': 'stream_triad', ", "", "/launch: no symbol: neither here nor in /code"},
        {"'symbol': 'stream_triad'", "'symbol': ''", "/code/symbol: is empty"},
        {"'VEC': '{VEC}'", "'VEC': '{VEK}'",
         "/code/defines/VEC: in \"{VEK}\": unknown name 'VEK' at column 1; did you mean 'VEC'?"},
        {"'VEC': '{VEC}'", "'V-C': '1'",
         "/code/defines/V-C: the name of a define has letters, digits and '_' only and starts with no digit"},
        {"'symbol': 'stream_triad'", "'symbol': 's', 'min_llvm': 12345",
         "/code/min_llvm: is not a major version of LLVM"},
        {"'symbol': 'stream_triad'", "'symbol': 's', 'min_llvm': {'gfx9*': '17'}",
         "/code/min_llvm/gfx9*: is not a major version of LLVM"},
        {"'flops': '2*n', 'unit': 'vector_{dtype}'", "'flops': '2*n'", "/work: the key 'unit' is missing"},
        {"'flops': '2*n', 'unit'", "'unit'", "/work/unit: a unit without flops has no effect"},
        {"'flops': '2*n', 'unit'", "'item': 'B', 'flops': '2*n', 'unit'",
         "/work/item: a name for items where there are none"},
        {"'flops': '2*n', 'unit'", "'items': 'n', 'item': '', 'flops': '2*n', 'unit'",
         "/work/item: must have 1 to 15 characters"},
        {"'2*n*bytes(dtype)'", "'2*n*byte(dtype)'",
         "/work/read: in \"2*n*byte(dtype)\": unknown function 'byte' at column 5; did you mean 'bytes'?"},
        {"'2*n*bytes(dtype)'", "'2*i'", "/work/read: in \"2*i\": unknown name 'i' at column 3; did you mean 'n'?"},
        {"'2*n*bytes(dtype)'", "'2*x'",
         "/work/read: in \"2*x\": 'x' is the reduced value of a metric and unknown here"},
        {"'2*n*bytes(dtype)'", "true", "/work/read: must be an expression (a string) or a number, not a boolean"},
    };
    expect_mistakes(triad, mistakes, COUNT_OF(mistakes));
}

static void buffer_mistakes(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {"'role': 'out'", "'role': 'ouT'", "/buffers/a/role: unknown role 'ouT'; did you mean 'out'?"},
        {"'role': 'out'", "'role': 'result'", "/buffers/a/role: unknown role 'result'; known are in, out, inout, temp"},
        {"'role': 'out'", "'role': 'out', 'space': 'hbm'", "/buffers/a/space: unknown space 'hbm'; known are device, "
         "pinned, pageable, managed, fine, peer, pinned_coarse, pinned_far"},
        {"'role': 'out'", "'role': 'out', 'device': '1'",
         "/buffers/a/device: only memory of the space 'peer' names its device"},
        {"'role': 'out'", "'role': 'out', 'reset': 'fill'", "/buffers/a/reset: there is no fill to reset to"},
        {"'type': '{dtype}'", "'type': 'float'", "/buffers/a/type: unknown dtype 'float'; known are f64, f32, xf32, "
         "f16, bf16, e4m3, e5m2, e4m3fnuz, e5m2fnuz, i64, u64, i32, u32, i16, u16, i8, u8"},
        {"'type': '{dtype}'", "'type': '{n}'", "/buffers/a/type: parameter 'n' is no dtype"},
        {"'count': 'n', 'role': 'out'", "'role': 'out'", "/buffers/a: the key 'count' is missing"},
        {"'fill': 'i % 7'", "'fill': 'j % 7'",
         "/buffers/b/fill: in \"j % 7\": unknown name 'j' at column 1; did you mean 'n'?"},
        {", 'fill': 'i % 7'", "", "/buffers/b: nothing fills this input: the key 'fill' is missing"},
        {"'fill': 'i % 7'", "'fill': {}", "/buffers/b/fill: the key 'gen' is missing"},
        {"'fill': 'i % 7'", "'fill': { 'gen': 'rnig' }",
         "/buffers/b/fill/gen: unknown generator 'rnig'; did you mean 'ring'?"},
        {"'fill': 'i % 7'", "'fill': { 'gen': 'ring' }", "/buffers/b/fill: the key 'stride' is missing"},
        {"'fill': 'i % 7'", "'fill': { 'gen': 'ring', 'stride': 'i' }",
         "/buffers/b/fill/stride: in \"i\": unknown name 'i' at column 1; did you mean 'n'?"},
        {"'fill': 'i % 7'", "'fill': { 'gen': 'zeros', 'low': 1 }", "/buffers/b/fill/low: unknown key"},
        {"'fill': 'i % 7'", "'fill': { 'gen': 'index', 'bound': 4, 's': 1 }",
         "/buffers/b/fill/s: does not belong to dist 'uniform'"},
        {"'fill': 'i % 7'", "'fill': { 'gen': 'index', 'bound': 4, 'dist': 'blocked' }",
         "/buffers/b/fill: the key 'block' is missing"},
        {"'fill': 'i % 7'", "'fill': { 'gen': 'index', 'bound': 4, 'dist': 'skewed' }",
         "/buffers/b/fill/dist: unknown dist 'skewed'; known are uniform, zipf, blocked, permutation"},
        {"'fill': 'i % 7'", "'fill': { 'gen': 'values', 'values': [] }", "/buffers/b/fill/values: the list is empty"},
        {"'fill': 'i % 7'", "'fill': { 'gen': 'values' }", "/buffers/b/fill: the key 'values' is missing"},
        {"'fill': 'i % 7'", "'fill': { 'gen': 'file', 'path': '' }", "/buffers/b/fill/path: is empty"},
        {"'fill': 'i % 7'", "'fill': [1]",
         "/buffers/b/fill: must be an expression in i or {\"gen\": ...}, not an array"},
        {"'b', 'c',", "'b',", "/buffers/c: no step uses this buffer"},
        {"'b', 'c',", "'b', 'cc',", "/launch/args/2: unknown buffer 'cc'; did you mean 'c'?"},
        {"'b', 'c',", "'b', 'c', 'n',",
         "/launch/args/3: 'n' is a parameter: write { \"value\": \"n\", \"type\": ... }"},
        {"'b', 'c',", "'b', 'c', 3,",
         "/launch/args/3: must be a buffer's name, {\"buffer\": ...}, {\"value\": ...}, {\"struct\": [...]} or null "
         "(a null pointer), not a number"},
        {"'b', 'c',", "'b', 'c', { 'struct': [] },", "/launch/args/3/struct: the list is empty"},
        {"'b', 'c',", "'b', 'c', { 'struct': ['b', 'd'] },", 
         "/launch/args/3/struct/1: unknown buffer 'd'; did you mean 'a'?"},
        {"'b', 'c',", "'b', { 'buffer': 'c', 'ofset': '3' },",
         "/launch/args/2/ofset: unknown key; did you mean 'offset'?"},
        {", 'type': 'u64'", "", "/launch/args/4: the key 'type' is missing"},
        {"'type': 'u64'", "'type': 'u63'", "/launch/args/4/type: unknown dtype 'u63'; did you mean 'u64'?"},
        {", 'block': ['block']", "", "/launch: the key 'block' is missing"},
        {"'grid': ['ceil_div(n, block*VEC)'], ", "", "/launch: the key 'grid' is missing"},
        {"'block': ['block']", "'block': []", "/launch/block: has 0 dimensions, not 1 to 3"},
        {"'block': ['block']", "'block': ['block'], 'defines': ['A']",
         "/launch/defines: must be an object, not an array"},
        {"'block': ['block']", "'block': ['block'], 'defines': { 'A': 1 }",
         "/launch/defines/A: must be a string, not a number"},
        {"'block': ['block']", "'block': ['block'], 'defines': { '1A': '1' }",
         "/launch/defines/1A: the name of a define has letters, digits and '_' only and starts with no digit"},
        {"'block': ['block']", "'block': ['block'], 'defines': { 'A': '{VEK}' }",
         "/launch/defines/A: in \"{VEK}\": unknown name 'VEK' at column 1; did you mean 'VEC'?"},
        {"'block': ['block']", "'block': ['block'], 'define': { 'A': '1' }",
         "/launch/define: unknown key; did you mean 'defines'?"},
        {"'block': ['block']", "'block': [1, 1, 1, 1]", "/launch/block: has 4 dimensions, not 1 to 3"},
        {"'check':   { 'params': { 'n': 4099 }, 'expect': { 'a': 'i % 7 + 3 * (i % 5)' } }", "'metrics': {}",
         "nothing verifies this kernel: output 'a' needs an expect or a reference in /check"},
        {"'expect': { 'a': 'i % 7 + 3 * (i % 5)' }", "'expect': {}",
         "/check: nothing verifies this kernel: output 'a' needs an expect or a reference in /check"},
        {"'expect': { 'a':", "'expect': { 'A':", "/check/expect/A: unknown buffer 'A'; did you mean 'a'?"},
        {"'expect': { 'a':", "'expect': { 'b':",
         "/check/expect/b: buffer 'b' is not an output: its role must be out or inout"},
        {"'a': 'i % 7 + 3 * (i % 5)'", "'a': { 'expr': 'i', 'relative': '1' }",
         "/check/expect/a/relative: unknown key"},
        {"'a': 'i % 7 + 3 * (i % 5)'", "'a': { 'rel': '1' }", "/check/expect/a: the key 'expr' is missing"},
        {"'a': 'i % 7 + 3 * (i % 5)'", "'a': { 'gen': 'ring', 'stride': 4, 'ab': '1' }",
         "/check/expect/a/ab: unknown key; did you mean 'abs'?"},
        {"'n': 4099", "'m': 4099", "/check/params/m: unknown parameter 'm'; did you mean 'n'?"},
        {"'n': 4099", "'n': 'f32'", "/check/params/n: parameter 'n' is a number, but 'f32' is a dtype"},
        {"'b': { 'type': '{dtype}', 'count': 'n', 'role': 'in'",
         "'b': { 'type': '{dtype}', 'count': 'n', 'role': 'inout'", "/buffers/b: nothing verifies this output: give "
         "it an expect, make it the reference's output or a metric's buffer, or call it temp, or in where it is "
         "only read"},
    };
    expect_mistakes(triad, mistakes, COUNT_OF(mistakes));
}

static void step_mistakes(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {"'steps':    [", "'launch': {}, 'steps': [", "has both 'launch' and 'steps'"},
        {"{ 'sync': true }", "{ 'sync': false }", "/steps/5/sync: can only be true"},
        {"{ 'sync': true }", "{ 'load': true, 'sync': true }", "/steps/5: is both a sync and a load step"},
        {"{ 'sync': true }", "{ 'stream': 1 }",
         "/steps/5: is no step: one of launch, copy, fill, sync, record, wait, load, alloc, graph, loop is missing"},
        {"{ 'sync': true }", "{ 'sync': true, 'repeat': 2 }", "/steps/5/repeat: a sync step does not repeat"},
        {"{ 'sync': true }", "{ 'sink': true }", "/steps/5/sink: unknown key; did you mean 'sync'?"},
        {"'steps': [ { 'launch': { 'grid': [1], 'block': [64], 'symbol': 'g{VEC}' } } ] }",
         "'steps': [ { 'sync': true } ] }", "/steps/7/graph/steps/0/sync: unknown key"},
        {"'steps': [ { 'launch': { 'grid': [1], 'block': [64], 'symbol': 'g{VEC}' } } ] }", "'steps': [] }",
         "/steps/7/graph/steps: the graph is empty"},
        {"{ 'graph': {", "{ 'repeat': 2, 'graph': {",
         "/steps/7/repeat: a graph step does not repeat (its \"repeat\" stands inside \"graph\")"},
        {"{ 'sync': true }", "{ 'alloc': 'gg' }", "/steps/5/alloc: unknown buffer 'gg'; did you mean 'g'?"},
        {"{ 'sync': true }", "{ 'loop': { 'steps': [] } }", "/steps/5/loop/steps: the loop is empty"},
        {"{ 'sync': true }", "{ 'loop': { 'steps': [ { 'load': true } ] } }",
         "/steps/5/loop/steps/0: a step of this kind (load) cannot stand in a loop"},
        {"{ 'sync': true }", "{ 'loop': { 'steps': [ { 'alloc': 'g' } ] } }",
         "/steps/5/loop/steps/0: a step of this kind (alloc) cannot stand in a loop"},
        {"{ 'sync': true }", "{ 'loop': { 'steps': [ { 'sync': true, 'timed': false } ] } }",
         "/steps/5/loop/steps/0/timed: a loop is timed as a whole, or not"},
        {"{ 'sync': true }", "{ 'loop': { 'steps': [ { 'wait': 'z' } ] } }",
         "/steps/5/loop/steps/0/wait: no step records event 'z'; did you mean 'x'?"},
        {"{ 'sync': true }", "{ 'repeat': 2, 'loop': { 'steps': [ { 'sync': true } ] } }",
         "/steps/5/repeat: a loop step does not repeat (its \"repeat\" stands inside \"loop\")"},
        {"{ 'sync': true }", "{ 'sync': true, 'index': 'k' }", "/steps/5/index: a sync step has no index"},
        {"{ 'sync': true }", "{ 'fill': { 'buffer': 'g', 'byte': 0 }, 'index': 'k' }",
         "/steps/5/index: an index counts repeats: the key 'repeat' is missing"},
        {"{ 'sync': true }", "{ 'fill': { 'buffer': 'g', 'byte': 0, 'bytes': 'k' }, 'repeat': 'k + 1', 'index': 'k' }",
         "/steps/5/repeat: how often it repeats cannot depend on its own index"},
        {"{ 'sync': true }", "{ 'fill': { 'buffer': 'g', 'byte': 0 }, 'repeat': 2, 'index': 'n' }",
         "/steps/5/index: 'n' is a parameter or sub-expression already"},
        {"{ 'sync': true }", "{ 'fill': { 'buffer': 'g', 'byte': 0 }, 'repeat': 2, 'index': '2k' }",
         "/steps/5/index: must be a name: letters, digits and '_', and no digit first"},
        {"{ 'sync': true }",
         "{ 'fill': { 'buffer': 'g', 'byte': 0 }, 'repeat': 2, 'index': 'k' }, { 'fill': { 'buffer': 'g', 'byte': 0, "
         "'bytes': 'k' } }",
         "/steps/6/fill/bytes: in \"k\": unknown name 'k' at column 1; did you mean 'n'?"},
        {"{ 'sync': true }",
         "{ 'loop': { 'repeat': 2, 'index': 'k', 'steps': [ { 'fill': { 'buffer': 'g', 'byte': 0 }, 'repeat': 2, "
         "'index': 'k' } ] } }",
         "/steps/5/loop/steps/0/index: 'k' counts a loop around this already"},
        {"'expr': 'x / n'", "'expr': 'x / n', 'expect': 'x'",
         "/metrics/cycles_per_step/expect: in \"x\": 'x' is the reduced value of a metric and unknown here"},
        {"'count': 'sum(lens)'", "'count': 'runs'",
         "/buffers/d/count: in \"runs\": 'runs' counts the runs before a metric is taken and is unknown here"},
        {"{ 'wait': 'x', 'stream': 2 }", "{ 'wait': 'y' }",
         "/steps/4/wait: no step records event 'y'; did you mean 'x'?"},
        {"{ 'wait': 'ready' }", "{ 'wait': 'x' }", "/steps/0/wait: event 'x' is recorded only after this step"},
        {"{ 'record': 'x', 'stream': 1 }", "{ 'record': 'ready' }", "/steps/3/record: event 'ready' is recorded twice"},
        {"'stream': 2", "'stream': 'q'", "/steps/4/stream: in \"q\": unknown name 'q' at column 1; did you mean 'n'?"},
        {"'to': 'g', 'from': 'h'", "'to': 'h', 'from': 'h'", "/steps/2/copy: copies buffer 'h' onto itself"},
        {"'to': 'g'", "'to': 'gg'", "/steps/2/copy/to: unknown buffer 'gg'; did you mean 'g'?"},
        {"'byte': 255", "'byte': 256", "/setup/0/fill/byte: is not a byte (0 to 255)"},
        {"{ 'record': 'ready' }", "{ 'record': 'ready', 'timed': false }",
         "/setup/1/timed: setup steps are never timed"},
        {"'buffer': 'cycles'", "'buffer': 'b'",
         "/metrics/cycles_per_step/buffer: nothing writes this buffer: its role is in"},
        {"'reduce': 'median'", "'reduce': 'medain'",
         "/metrics/cycles_per_step/reduce: unknown reduce 'medain'; did you mean 'median'?"},
        {"'expr': 'x / n'", "'expr': 'y / n'",
         "/metrics/cycles_per_step/expr: in \"y / n\": unknown name 'y' at column 1; did you mean 'n'?"},
        {"'output': 'c'", "'output': 'b'",
         "/check/reference/output: must name an output, a buffer of role out or inout"},
        {"'kernel': 'gemm_reference'", "'kernel': 'full'",
         "/check/reference/kernel: a kernel cannot be its own reference"},
        {"'samples': 100", "'samples': 0", "/check/reference/samples: must be at least 1"},
        {"{ 'in': 'b' }", "{ 'in': 'q' }", "/check/reference/buffers/in: unknown buffer 'q'; did you mean 'a'?"},
        {"'VEC': 2 }", "'VEC': 3 }", "/variants/0/params/VEC: VEC=3 is not among its limits: 1, 2, 4"},
        {"'count': 'sum(lens)'", "'count': 'lens'",
         "/buffers/d/count: in \"lens\": 'lens' at column 1 is a list; use sum, max or len of it"},
        {"'count': 'sum(lens)'", "'count': 'layout'", "/buffers/d/count: in \"layout\": parameter 'layout' is "
         "text without limits: it can stand in templates, not in an expression"},
    };
    expect_mistakes(full, mistakes, COUNT_OF(mistakes));
}
/* clang-format on */

static void untimed_steps(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {"'launch': { 'grid': [1], 'block': [64] }", "'steps': [ { 'sync': true } ]",
         "/steps: no step is timed: there is nothing to measure"},
        {"'launch': { 'grid': [1], 'block': [64] }",
         "'steps': [ { 'launch': { 'grid': [1], 'block': [64] }, 'timed': false } ]",
         "/steps: no step is timed: there is nothing to measure"},
        {"'launch': { 'grid': [1], 'block': [64] }", "'work': {}", "the key 'launch' (or 'steps') is missing"},
        {"'launch': {", "'launch': { 'defines': { 'A': '1' },",
         "/launch/defines: an image is not compiled: this has no effect"},
        {"'code': {", "'code': { 'flags': [''],", "/code/flags: an image is not compiled: this has no effect"},
    };
    expect_mistakes(foreign, mistakes, COUNT_OF(mistakes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_form),     cmocka_unit_test(every_head_key),    cmocka_unit_test(every_fill),
        cmocka_unit_test(every_step),     cmocka_unit_test(foreign_code),      cmocka_unit_test(function_of_a_library),
        cmocka_unit_test(slots),          cmocka_unit_test(slots_of_a_layout), cmocka_unit_test(slots_of_the_unit),
        cmocka_unit_test(occupancy),      cmocka_unit_test(implied),           cmocka_unit_test(min_llvm),
        cmocka_unit_test(launch_defines), cmocka_unit_test(head_mistakes),     cmocka_unit_test(buffer_mistakes),
        cmocka_unit_test(step_mistakes),  cmocka_unit_test(untimed_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
