/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/plan/plan_internal.h"
#include "../manifest/manifest_text.h"

static const struct device_facts gpu = {
    .wave = 64,
    .cus = 304,
    .max_block = 1024,
    .lds_bytes = 65536,
    .memory_bytes = 0x1p36,
    .backend = "hip",
    .arch = "gfx942",
};

static const char kernel[] =
    "{ 'name': 'k', 'summary': 's', 'class': 'memory', 'params': { 'n': 1000, 'dtype': 'f32', 'block': 256, 'parts': 1 "
    "},\n"
    "  'code': { 'source': 'k.hip', 'symbol': 'k_{dtype}', 'defines': { 'T': '{ctype(dtype)}' } },\n"
    "  'require': [ { 'expr': 'parts <= 8', 'reason': '{parts} parts are too many' } ],\n"
    "  'buffers': { 'a': { 'type': '{dtype}', 'count': 'n', 'role': 'out' },\n"
    "               'b': { 'type': 'u8', 'count': 'n * 2', 'role': 'in', 'fill': 'i % 7', 'align_offset': '16' } },\n"
    "  'steps': [ { 'launch': { 'grid': ['ceil_div(n, block)', '2'], 'block': ['block'], 'shared': 'block * 4',\n"
    "                 'args': [ 'a', { 'buffer': 'b', 'offset': '8' }, { 'value': '3', 'type': '{dtype}' },\n"
    "                           { 'value': 'n', 'type': 'u64' }, { 'value': '0 - 2', 'type': 'i32' } ] } },\n"
    "             { 'launch': { 'grid': ['parts - 1'], 'block': ['64'], 'args': [ 'a' ] }, 'repeat': 'parts - 1' },\n"
    "             { 'copy': { 'to': 'a', 'from': 'b', 'bytes': 'n' }, 'timed': false } ],\n"
    "  'setup': [ { 'fill': { 'buffer': 'a', 'byte': 7 } } ],\n"
    "  'work': { 'read': '2 * n', 'write': 'n * bytes(dtype)', 'flops': '2 * n', 'items': 'n', 'unit': "
    "'vector_{dtype}' },\n"
    "  'check': { 'expect': { 'a': '1' } } }";

struct fixture {
    struct arena arena;
    struct err err;
    const struct manifest *manifest;
    struct param_value *values;
    struct resolved resolved;
};

static void fixture_init(struct fixture *fixture, const char *text)
{
    *fixture = (struct fixture){0};
    if (parse_text(&fixture->manifest, text, &fixture->arena, &fixture->err))
        fail_msg("%s", fixture->err.text);
    const size_t count = fixture->manifest->param_count;
    fixture->values = arena_array(&fixture->arena, count, sizeof(*fixture->values));
    for (size_t k = 0; k < count; k++)
        fixture->values[k] = fixture->manifest->params[k].value;
}

static enum status resolve(struct fixture *fixture)
{
    return resolve_manifest(&fixture->resolved, fixture->manifest, fixture->values, &gpu, &fixture->arena,
                            &fixture->arena, &fixture->err);
}

static void test_whole(void **state)
{
    struct fixture f;
    (void)state;
    fixture_init(&f, kernel);
    if (resolve(&f))
        fail_msg("%s", f.err.text);
    const struct resolved *resolved = &f.resolved;
    assert_int_equal(resolved->buffer_count, 2);
    assert_int_equal(resolved->buffers[0].dtype, DTYPE_F32);
    assert_int_equal(resolved->buffers[0].size_bytes, 4000);
    assert_int_equal(resolved->buffers[1].size_bytes, 2000);
    assert_int_equal(resolved->buffers[1].align_offset, 16);
    assert_int_equal(resolved->buffer_bytes, 6016);
    assert_int_equal(resolved->step_count, 2); /* the step that repeats 0 times is gone, its grid of 0 with it */
    const struct resolved_launch *launch = &resolved->steps[0].launch;
    assert_string_equal(launch->symbol, "k_f32");
    assert_int_equal(launch->grid[0], 4);
    assert_int_equal(launch->grid[1], 2);
    assert_int_equal(launch->grid[2], 1);
    assert_int_equal(launch->block[0], 256);
    assert_int_equal(launch->lds_bytes, 1024);
    assert_int_equal(launch->arg_count, 5);
    assert_int_equal(launch->args[0].buffer, 0);
    assert_int_equal(launch->args[1].offset, 8);
    assert_int_equal(launch->args[2].size_bytes, 4);
    assert_memory_equal(launch->args[2].value, &(float){3}, 4);
    assert_memory_equal(launch->args[3].value, &(uint64_t){1000}, 8);
    assert_memory_equal(launch->args[4].value, &(int32_t){-2}, 4);
    assert_int_equal(resolved->steps[1].kind, STEP_COPY);
    assert_int_equal(resolved->steps[1].bytes, 1000);
    assert_false(resolved->steps[1].timed);
    assert_int_equal(resolved->setup_count, 1);
    assert_int_equal(resolved->setup[0].bytes, 4000);
    assert_int_equal(resolved->setup[0].byte, 7);
    assert_true(resolved->work.read_bytes == 2000 && resolved->work.write_bytes == 4000 &&
                resolved->work.flops == 2000);
    assert_true(resolved->work.footprint_bytes == 6016);
    assert_string_equal(resolved->work.unit, "vector_f32");
    arena_release(&f.arena);
}

/* What the manifest states of the occupancy is a number of the case. */
static void test_claim(void **state)
{
    static const struct {
        const char *claim;
        double waves;
        const char *complaint;
    } cases[] = {{"{ 'exactly': 'n / block' }", 1000.0 / 256, NULL},
                 {"{ 'least': 0 }", 0, NULL},
                 {"{ 'least': 'parts - 2' }", 0, "/occupancy/least: 'parts - 2' is -1, below zero"},
                 {"{ 'exactly': 'n / (parts - 1)' }", 0, "/occupancy/exactly: 'n / (parts - 1)': "}};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct fixture f;
        struct arena texts = {0};
        const size_t head = sizeof(kernel) - 2; /* all but the last brace */
        fixture_init(&f, arena_printf(&texts, "%.*s, 'occupancy': %s }", (int)head, kernel, cases[k].claim));
        const enum status status = resolve(&f);
        assert_int_equal(status, cases[k].complaint ? ERR_CONFIG : STATUS_OK);
        if (status && !strstr(f.err.text, cases[k].complaint))
            fail_msg("%s: %s", cases[k].claim, f.err.text);
        if (!status)
            assert_true(f.resolved.waves_declared == cases[k].waves);
        arena_release(&f.arena);
        arena_release(&texts);
    }
}

static void test_refuse_values(void **state)
{
    static const struct {
        const char *param;
        double value;
        enum status status;
        const char *complaint;
    } cases[] = {
        {"n", 0, ERR_CONFIG, "/buffers/a/count: buffer 'a' has no elements"},
        {"n", 10.5, ERR_CONFIG, "'n' is 10.5, not a whole number"},
        {"n", -4, ERR_CONFIG, "not a whole number"},
        {"n", 1e17, ERR_CONFIG, "beyond 2^53"},
        {"n", 0x1p52, ERR_CONFIG, "beyond 2^53"},
        {"n", 0x1p40, ERR_UNSUPPORTED, "buffers take 6.00 TiB, the device has 64.0 GiB"},
        {"n", (0x1p36 - 16) / 6, ERR_UNSUPPORTED, "take 64.0 GiB and the guards around them 16.0 KiB, the device has"},
        {"block", 0, ERR_CONFIG, "/steps/0/launch/grid/0: 'ceil_div(n, block)': "},
        {"block", 2048, ERR_CONFIG, "/steps/0/launch/block: a workgroup of 2048 items, the device takes 1024"},
        {"block", 1e12, ERR_CONFIG, "/steps/0/launch/block/0: block.x 'block' is 1000000000000, more than"},
        {"parts", 9, ERR_UNSUPPORTED, "9 parts are too many"},
        {"parts", 1.5, ERR_CONFIG, "/steps/1/repeat: 'parts - 1' is 0.5"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct fixture f;
        fixture_init(&f, kernel);
        f.values[manifest_param(f.manifest, cases[k].param)].number = cases[k].value;
        const enum status status = resolve(&f);
        if (status != cases[k].status || !strstr(f.err.text, cases[k].complaint))
            fail_msg("%s = %g: status %d, %s", cases[k].param, cases[k].value, (int)status, f.err.text);
        if (status == ERR_CONFIG)
            assert_int_equal(strncmp(f.err.text, "dir/m.json:", 11), 0);
        assert_null(f.resolved.manifest); /* outputs only on success */
        arena_release(&f.arena);
    }
}

static void test_refuse_texts(void **state)
{
    static const struct {
        const char *find, *with;
        enum status status;
        const char *complaint;
    } cases[] = {
        {"'2'], 'block'", "'n - 1000'], 'block'", ERR_CONFIG, "/steps/0/launch/grid/1: grid.y 'n - 1000' is 0"},
        {"'shared': 'block * 4'", "'shared': 'n * 100'", ERR_UNSUPPORTED, "takes 100000 bytes of LDS"},
        {"'shared': 'block * 4'", "'shared': '0.5'", ERR_CONFIG, "not a whole number"},
        {"'offset': '8'", "'offset': '2000'", ERR_CONFIG, "offset 2000 is outside buffer 'b' of 2000 bytes"},
        {"'value': '3', 'type': '{dtype}'", "'value': '1e300', 'type': '{dtype}'", ERR_CONFIG, "no f32 holds"},
        {"'0 - 2', 'type': 'i32'", "'0 - 2', 'type': 'u32'", ERR_CONFIG, "no u32 holds"},
        {"'0 - 2', 'type': 'i32'", "'n / 3', 'type': 'i32'", ERR_CONFIG, "no i32 holds"},
        {"'0 - 2', 'type': 'i32'", "'300', 'type': 'u8'", ERR_CONFIG, "no u8 holds"},
        {"'0 - 2', 'type': 'i32'", "'n * 1e16', 'type': 'u64'", ERR_CONFIG, "no u64 holds"},
        {"'timed': false } ]", "'timed': false }, { 'sync': true } ]", ERR_CONFIG,
         "/steps: an untimed step stands between timed ones"},
        {"'bytes': 'n'", "'bytes': 'n * 3'", ERR_CONFIG, "/steps/2/copy/bytes: 3000 bytes, but buffer 'b' has 2000"},
        {"'align_offset': '16'", "'align_offset': '0 - 1'", ERR_CONFIG, "/buffers/b/align_offset"},
        {"'flops': '2 * n'", "'flops': '0 - n'", ERR_CONFIG, "/work/flops: '0 - n' is -1000, below zero"},
        {"'flops': '2 * n'", "'flops': 'n / (parts - 1)'", ERR_CONFIG, "/work/flops: 'n / (parts - 1)': "},
        {"'ceil_div(n, block)', '2'", "'n * 1e9', '2'", ERR_CONFIG, "more than 2147483647"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct fixture f;
        struct arena arena = {0};
        const char *text = replaced(kernel, cases[k].find, cases[k].with, &arena);
        assert_non_null(text);
        fixture_init(&f, text);
        const enum status status = resolve(&f);
        if (status != cases[k].status || !strstr(f.err.text, cases[k].complaint))
            fail_msg("%s: status %d, %s", cases[k].with, (int)status, f.err.text);
        arena_release(&f.arena);
        arena_release(&arena);
    }
}

static void test_repeat(void **state)
{
    struct fixture f;
    (void)state;
    fixture_init(&f, kernel);
    f.values[manifest_param(f.manifest, "parts")].number = 4;
    assert_int_equal(resolve(&f), STATUS_OK);
    assert_int_equal(f.resolved.step_count, 3);
    assert_int_equal(f.resolved.steps[1].repeat, 3);
    assert_int_equal(f.resolved.steps[1].launch.grid[0], 3);
    arena_release(&f.arena);
}

/* Spaces are words or templates; what a device lacks is a skip that says so. */
static const struct {
    const char *from, *to; /* in the manifest's text */
    const char *word;      /* value of the parameter 'kind' */
    unsigned lacks, lacks_kernel;
    double peers;
    enum status status;
    enum buffer_space space;
    const char *says;
} spaces[] = {
    {"", "", "pinned", 0, 0, 0, STATUS_OK, BUFFER_PINNED, ""},
    {"", "", "pinned_coarse", 0, 0, 0, STATUS_OK, BUFFER_PINNED_COARSE, ""},
    {"", "", "pined", 0, 0, 0, ERR_CONFIG, 0, "/buffers/b/space: 'pined' is no kind of memory"},
    {"", "", "managed", 1u << BUFFER_MANAGED, 0, 0, ERR_UNSUPPORTED, 0, "the device has no managed memory"},
    {"", "", "pageable", 0, 1u << BUFFER_PAGEABLE, 0, ERR_UNSUPPORTED, 0,
     "the device has no way for kernels into pageable memory"},
    {"'{kind}'", "'device'", "x", ~0u << 1, 0, 0, STATUS_OK, BUFFER_DEVICE, ""},
    {"'{kind}'", "'peer', 'device': 'n / 500'", "x", 0, 0, 2, STATUS_OK, BUFFER_PEER, ""},
    {"'{kind}'", "'peer', 'device': 'n / 500'", "x", 0, 0, 1, ERR_UNSUPPORTED, 0, "there is no device 2"},
    {"'{kind}'", "'peer', 'device': '0 - 1'", "x", 0, 0, 1, ERR_CONFIG, 0, "/buffers/b/device: '0 - 1' is -1"},
};

static void resolves_spaces(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(spaces) / sizeof(*spaces); k++) {
        struct fixture f;
        struct arena arena = {0};
        const char *text = replaced(kernel, "'parts': 1 ", "'parts': 1, 'kind': 'pinned' ", &arena);
        text = replaced(text, "'align_offset': '16'", "'align_offset': '16', 'space': '{kind}'", &arena);
        if (*spaces[k].from)
            text = replaced(text, spaces[k].from, spaces[k].to, &arena);
        fixture_init(&f, text);
        struct device_facts device = gpu;
        device.lacks_spaces = spaces[k].lacks;
        device.lacks_kernel_spaces = spaces[k].lacks_kernel;
        device.peers = spaces[k].peers;
        f.values[4] = (struct param_value){.kind = PARAM_STRING, .string = spaces[k].word};
        const enum status status =
            resolve_manifest(&f.resolved, f.manifest, f.values, &device, &f.arena, &f.arena, &f.err);
        if (status != spaces[k].status || (status && !strstr(f.err.text, spaces[k].says)))
            fail_msg("%s %s: %d, %s", spaces[k].word, spaces[k].to, (int)status, status ? f.err.text : "");
        if (!status)
            assert_int_equal(f.resolved.buffers[1].space, spaces[k].space);
        if (!status && spaces[k].space == BUFFER_PEER)
            assert_int_equal(f.resolved.buffers[1].device, 2);
        arena_release(&f.arena);
        arena_release(&arena);
    }
}

/* A buffer with parts on several devices: the later ones stand behind the manifest's, and copies name theirs. */
static void resolves_parts(void **state)
{
    static const struct {
        const char *devices, *copy;
        enum status status;
        const char *says;
    } cases[] = {
        {"3", "'from_device': '2', 'from_offset': '100'", STATUS_OK, ""},
        {"3", "'from_device': '3'", ERR_CONFIG,
         "/steps/2/copy/from_device: device 3 has no part of buffer 'b', which is on 3"},
        {"3", "'from_offset': '0'", ERR_CONFIG,
         "/steps/2/copy: buffer 'b' has parts on several devices: whose is meant?"},
        {"3", "'from_device': '2', 'from_offset': '1001'", ERR_CONFIG,
         "/steps/2/copy/bytes: 1000 bytes behind an offset, but buffer 'b' has 2000"},
        {"3", "'from_device': '2', 'to_device': '1'", ERR_CONFIG,
         "/steps/2/copy/to_device: buffer 'a' has no parts on several devices"},
        {"5", "'from_device': '2'", ERR_UNSUPPORTED, "there are 4 devices, not 5"},
        {"0", "'from_device': '2'", ERR_CONFIG, "/buffers/b/devices: buffer 'b' is on no device"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct fixture f;
        struct arena arena = {0};
        struct device_facts device = gpu;
        device.peers = 3;
        const char *text = replaced(kernel, "'align_offset': '16'",
                                    arena_printf(&arena, "'space': 'peer', 'devices': '%s'", cases[k].devices), &arena);
        text = replaced(text, "{ 'buffer': 'b', 'offset': '8' }", "{ 'buffer': 'b', 'offset': '8', 'device': '1' }",
                        &arena);
        text = replaced(text, "'from': 'b', 'bytes'", arena_printf(&arena, "'from': 'b', %s, 'bytes'", cases[k].copy),
                        &arena);
        fixture_init(&f, text);
        const enum status status =
            resolve_manifest(&f.resolved, f.manifest, f.values, &device, &f.arena, &f.arena, &f.err);
        if (status != cases[k].status || (status && !strstr(f.err.text, cases[k].says)))
            fail_msg("%s %s: %d, %s", cases[k].devices, cases[k].copy, (int)status, status ? f.err.text : "");
        if (!status) {
            assert_int_equal(f.resolved.buffer_count, 4);
            assert_int_equal(f.resolved.buffers[3].device, 2);
            assert_int_equal(resolved_first(&f.resolved.buffers[3]), 4000);
            assert_int_equal(f.resolved.buffer_bytes, 4000 + 3 * 2000);
            assert_int_equal(f.resolved.steps[0].launch.args[1].buffer, 2);
            assert_int_equal(f.resolved.steps[1].from, 3);
            assert_int_equal(f.resolved.steps[1].from_offset, 100);
        }
        arena_release(&f.arena);
        arena_release(&arena);
    }
}

/* A buffer's dist may be a template; what it becomes must be one that the generator knows. */
static void resolves_dists(void **state)
{
    static const struct {
        const char *word;
        enum status status;
        enum fill_dist dist;
    } cases[] = {{"zipf", STATUS_OK, DIST_ZIPF},
                 {"blocked", STATUS_OK, DIST_BLOCKED},
                 {"permutation", STATUS_OK, DIST_PERMUTATION},
                 {"skewed", ERR_CONFIG, 0},
                 {"zip", ERR_CONFIG, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct fixture f;
        struct arena arena = {0};
        const char *text = replaced(kernel, "'parts': 1 ", "'parts': 1, 'how': 'uniform' ", &arena);
        text = replaced(text, "'i % 7'", "{ 'gen': 'index', 'bound': 9, 'dist': '{how}', 's': 1, 'block': 4 }", &arena);
        text = replaced(text, "'items': 'n',", "'items': 'n', 'item': 'B',", &arena);
        fixture_init(&f, text);
        f.values[manifest_param(f.manifest, "how")] =
            (struct param_value){.kind = PARAM_STRING, .string = cases[k].word};
        assert_int_equal(resolve(&f), cases[k].status);
        if (cases[k].status)
            assert_non_null(strstr(f.err.text, "known are uniform, zipf, blocked, permutation"));
        else
            assert_int_equal(f.resolved.buffers[1].dist, cases[k].dist);
        if (!cases[k].status)
            assert_string_equal(f.resolved.work.item, "B");
        arena_release(&f.arena);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),        cmocka_unit_test(test_claim),      cmocka_unit_test(test_refuse_values),
        cmocka_unit_test(test_refuse_texts), cmocka_unit_test(resolves_spaces), cmocka_unit_test(resolves_parts),
        cmocka_unit_test(resolves_dists),    cmocka_unit_test(test_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
