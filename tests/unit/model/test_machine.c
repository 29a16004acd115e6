/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../near.h"
#include "rooftile/file.h"
#include "rooftile/machine.h"
#include "rooftile/record.h"
#include "rooftile/text.h"

#define MACHINES ROOFTILE_SOURCE_DIR "/configs/machines/"

static const struct {
    const char *file;
    uint32_t cus, wave, levels;
    double memory_bps, f32;
} shipped[] = {
    {"mi300x.json", 304, 64, 4, 5.325e12, 163.4e12},     {"mi300a.json", 228, 64, 4, 5.3e12, 122.6e12},
    {"mi210.json", 104, 64, 3, 1.6384e12, 45.2608e12},   {"rx7900xtx.json", 96, 32, 4, 0.96e12, 61.4e12},
    {"a100.json", 108, 32, 3, 2.039e12, 19.49184e12},    {"h100.json", 132, 32, 3, 3.35e12, 66.90816e12},
    {"h200.json", 132, 32, 3, 4.8e12, 66.90816e12},      {"b200.json", 148, 32, 3, 8e12, 75.01824e12},
    {"rtx4090.json", 128, 32, 3, 1.008e12, 82.57536e12}, {"mi355x.json", 256, 64, 4, 8e12, 157.3e12},
    {"mi308x.json", 80, 64, 4, 5.325e12, 29.0816e12},    {"mi250x.json", 110, 64, 3, 1.6384e12, 47.9e12},
    {"mi100.json", 120, 64, 3, 1.2288e12, 23.1e12},      {"mi50.json", 60, 64, 3, 1.024e12, 13.41e12},
    {"rx6800xt.json", 72, 32, 4, 0.512e12, 20.74e12},    {"rx9070xt.json", 64, 32, 4, 0.64e12, 48.7e12},
};

static void test_shipped(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(shipped) / sizeof(shipped[0]); k++) {
        struct machine machine;
        struct err err = {0};
        char path[512];
        snprintf(path, sizeof(path), MACHINES "%s", shipped[k].file);
        if (machine_read(&machine, path, &err))
            fail_msg("%s", err.text);
        assert_int_equal(machine.cus, shipped[k].cus);
        assert_int_equal(machine.wave, shipped[k].wave);
        assert_int_equal(machine.level_count, shipped[k].levels);
        assert_false(machine.measured);
        assert_string_equal(machine.path, path);
        const struct ceiling *memory = &machine.levels[machine.level_count - 1].bandwidth;
        assert_near(ceiling_value(memory), shipped[k].memory_bps, 1);
        assert_string_equal(ceiling_kind(memory), "vendor");
        const struct machine_unit *unit = machine_unit(&machine, "vector_f32");
        assert_non_null(unit);
        assert_near(unit->peak.vendor, shipped[k].f32, 1e8);
        assert_null(machine_unit(&machine, "vector_f128"));
    }
}

/* A peak with 2:4 sparsity, as data sheets name it first, is twice that. */
static void test_dense_peaks(void **state)
{
    static const struct {
        const char *file, *unit;
        double sheet; /* FLOP/s, dense, in the data sheet, at a clock at most a tenth below the highest */
    } cases[] = {{"a100.json", "matrix_f16", 312e12},      {"a100.json", "matrix_i8", 624e12},
                 {"h100.json", "matrix_bf16", 989.4e12},   {"h200.json", "matrix_f16", 989.4e12},
                 {"h200.json", "matrix_fp8", 1978.9e12},   {"h200.json", "matrix_xf32", 494.7e12},
                 {"h200.json", "matrix_e4m3", 1978.9e12},  {"mi300x.json", "matrix_e5m2fnuz", 2614.9e12},
                 {"b200.json", "matrix_f16", 2250e12},     {"b200.json", "matrix_fp4", 9000e12},
                 {"rtx4090.json", "matrix_f16", 165.2e12}, {"rtx4090.json", "matrix_i8", 660.6e12}};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct machine machine;
        struct err err = {0};
        char path[512];
        snprintf(path, sizeof(path), MACHINES "%s", cases[k].file);
        assert_int_equal(machine_read(&machine, path, &err), STATUS_OK);
        const struct machine_unit *unit = machine_unit(&machine, cases[k].unit);
        assert_non_null(unit);
        const double part = unit->peak.vendor / cases[k].sheet;
        if (!(part > 0.999 && part < 1.1))
            fail_msg("%s %s: %g of the data sheet", cases[k].file, cases[k].unit, part);
    }
}

/* What NVIDIA's SMs do in a clock, FLOP or operations, dense. Vectors: twice the results per clock that the CUDA C++
 * Programming Guide gives for multiply-add ("Throughput of Native Arithmetic Instructions"; 8.0, 8.9, 9.0, 10.0).
 * Matrices: NVIDIA's white papers on A100, H100 and Ada, and its data sheet on HGX B200, over SMs and clock. 0: the
 * chip has none. */
static const struct {
    const char *unit;
    double sm_80, sm_89, sm_90a, sm_100a;
} sm_rates[] = {
    {"vector_f64", 64, 4, 128, 128},       {"vector_f32", 128, 256, 256, 256},
    {"vector_f16", 512, 256, 512, 512},    {"vector_bf16", 256, 256, 512, 512},
    {"matrix_f64", 128, 0, 256, 128},      {"matrix_xf32", 1024, 256, 2048, 4096},
    {"matrix_f16", 2048, 512, 4096, 8192}, {"matrix_bf16", 2048, 512, 4096, 8192},
    {"matrix_fp8", 0, 1024, 8192, 16384},  {"matrix_i8", 4096, 2048, 8192, 16384},
    {"matrix_i4", 8192, 4096, 0, 0},       {"matrix_fp6", 0, 0, 0, 16384},
    {"matrix_fp4", 0, 0, 0, 32768},        {"transcendental", 16, 16, 16, 16},
    {"vector_i32", 128, 128, 128, 128},    {"vector_i8", 512, 512, 512, 512},
};

static double sm_rate(const char *arch, const char *unit)
{
    for (size_t k = 0; k < sizeof(sm_rates) / sizeof(sm_rates[0]); k++)
        if (!strcmp(sm_rates[k].unit, unit))
            return !strcmp(arch, "sm_80")    ? sm_rates[k].sm_80
                   : !strcmp(arch, "sm_89")  ? sm_rates[k].sm_89
                   : !strcmp(arch, "sm_90a") ? sm_rates[k].sm_90a
                                             : sm_rates[k].sm_100a;
    return 0;
}

/* A peak is SMs * what one does in a clock * the clock it is said to hold at: within a percent, and of no other clock.
 */
static void test_nvidia_peaks(void **state)
{
    static const struct {
        const char *file;
        double clock_hz;
    } cases[] = {{"a100.json", 1.41e9},
                 {"h100.json", 1.98e9},
                 {"h200.json", 1.98e9},
                 {"b200.json", 1.98e9},
                 {"rtx4090.json", 2.52e9}};
    size_t seen = 0;
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct machine machine;
        struct err err = {0};
        char path[512];
        snprintf(path, sizeof(path), MACHINES "%s", cases[k].file);
        assert_int_equal(machine_read(&machine, path, &err), STATUS_OK);
        assert_near(machine.core_hz, cases[k].clock_hz, 1);
        for (uint32_t u = 0; u < machine.unit_count; u++, seen++) {
            const struct machine_unit *unit = &machine.units[u];
            const double expected = machine.cus * sm_rate(machine.arch, unit->name) * cases[k].clock_hz;
            if (unit->clock_hz != cases[k].clock_hz || fabs(unit->peak.vendor / expected - 1) > 0.01)
                fail_msg("%s %s: %g at %g Hz, expected %g", cases[k].file, unit->name, unit->peak.vendor,
                         unit->clock_hz, expected);
        }
    }
    assert_int_equal(seen, 67);
}

/* A data sheet has no peak of exponentials: its target's rate, units and clock make one, which says so. */
static void test_derived_peaks(void **state)
{
    static const struct {
        const char *file;
        double per_clock, peak;
    } cases[] = {{"mi300x.json", 16, 16 * 304 * 2.1e9},
                 {"mi210.json", 16, 16 * 104 * 1.7e9},
                 {"h100.json", 16, 16 * 132 * 1.98e9}};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct machine machine;
        struct err err = {0};
        char path[512];
        snprintf(path, sizeof(path), MACHINES "%s", cases[k].file);
        assert_int_equal(machine_read(&machine, path, &err), STATUS_OK);
        const struct machine_unit *unit = machine_unit(&machine, TRANSCENDENTAL_UNIT);
        assert_non_null(unit);
        assert_near(unit->peak.vendor, cases[k].peak, 1e6);
        assert_memory_equal(unit->peak.vendor_source, "derived: ", 9);
        const uint32_t before = machine.unit_count;
        machine_derive(&machine); /* what it has stays */
        assert_int_equal(machine.unit_count, before);
    }
    struct machine nobody = {.arch = "gfx9999", .cus = 4, .core_hz = 1e9};
    machine_derive(&nobody);
    assert_int_equal(nobody.unit_count, 0);
}

static void test_limits(void **state)
{
    static const struct target_facts rates = {.rate_f32 = 64, .rate_bytes = 256};
    struct machine limits;
    (void)state;
    machine_limits(&limits, &rates, 2, 4e9);
    assert_near(limits.levels[0].bandwidth.vendor, 2048e9, 1);
    assert_near(machine_unit(&limits, "vector_f32")->peak.vendor, 512e9, 1);
    assert_near(machine_unit(&limits, "vector_f16")->peak.vendor, 1024e9, 1);
    assert_true(machine_unit(&limits, "vector_f64")->peak.vendor == 0); /* not known: no limit */
    assert_null(machine_unit(&limits, "vector_i32"));
}

static void test_unit_names(void **state)
{
    static const char *const known[] = {"vector_f32",      "vector_i32", "matrix_xf32",
                                        "matrix_e4m3fnuz", "matrix_fp6", "transcendental"};
    static const char *const unknown[] = {"vector_fp32", "vector_",  "vector",         "f32",
                                          "tensor_f16",  "matrix_f", "vector_f32 f64", ""};
    (void)state;
    for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
        if (!machine_unit_known(known[k]))
            fail_msg("%s", known[k]);
    for (size_t k = 0; k < sizeof(unknown) / sizeof(*unknown); k++)
        if (machine_unit_known(unknown[k]))
            fail_msg("'%s' is a unit", unknown[k]);
    assert_string_equal(machine_unit_rate("transcendental"), "OP/s");
}

/* A shipped number without a source would be a guess. */
static void check_sources(const cJSON *json, const char *file)
{
    if (cJSON_IsNumber(json_member(json, "value"))) {
        const cJSON *source = json_member(json, "source");
        if (!source || !strlen(source->valuestring))
            fail_msg("%s: a value without a source", file);
    }
    for (const cJSON *child = json->child; child; child = child->next)
        check_sources(child, file);
}

static void test_sources(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(shipped) / sizeof(shipped[0]); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const cJSON *root;
        char path[512];
        snprintf(path, sizeof(path), MACHINES "%s", shipped[k].file);
        if (json_read(&root, path, &arena, &err))
            fail_msg("%s", err.text);
        check_sources(root, shipped[k].file);
        const cJSON *facts = json_member(root, "facts");
        for (const cJSON *fact = facts->child; fact; fact = fact->next)
            assert_true(cJSON_IsObject(fact));
        arena_release(&arena);
    }
}

/* Not the structs' bytes: there is padding in them. */
static void as_json(struct text *text, const struct machine *machine)
{
    struct json_out *out = json_out_new();
    record_put(out, &machine_record, machine);
    json_out_finish(out, text, true);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct machine machine = {.name = "cpu",
                              .title = "a \"CPU\"",
                              .arch = "x86-64",
                              .measured = true,
                              .device_id = "cpu|x|2",
                              .measured_at = "2026-11-21T00:00:00Z",
                              .cus = 2,
                              .wave = 64,
                              .core_hz = 2.1e9,
                              .launch_ns = 1234.5,
                              .launch_source = "null launch",
                              .level_count = 2,
                              .unit_count = 1};
    machine.levels[0] = (struct machine_level){.name = "L1",
                                               .capacity_bytes = 65536,
                                               .capacity_source = "change point",
                                               .capacity_confidence = 0.875,
                                               .bandwidth = {.vendor = 2e11, .vendor_source = "2 x 64 B/clk"},
                                               .latency_ns = 1.9,
                                               .latency_source = "pointer_chase"};
    machine.levels[1] = (struct machine_level){
        .name = "DRAM", .bandwidth = {.measured = 21e9, .measured_by = "stream_triad", .ci_rel = 0.01, .raised = true}};
    machine.units[0] = (struct machine_unit){.name = "vector_f32",
                                             .peak = {.measured = 1.5e11, .measured_by = "fma_peak"},
                                             .clock_hz = 2.1e9,
                                             .held_hz = 2e9};
    machine.levels[0].capacity_low_bytes = 49152;
    machine.levels[0].traffic[TRAFFIC_COPY] = (struct ceiling){.measured = 1e11, .measured_by = "stream_copy"};
    machine.latency_count = 2;
    machine.latencies[0] = (struct machine_latency){.upto_bytes = 32768,
                                                    .beyond_bytes = 49152,
                                                    .confidence = 0.999,
                                                    .latency_ns = 1.9,
                                                    .ci_rel = 0.01,
                                                    .source = "pointer_chase/x=1",
                                                    .level = "L1",
                                                    .instances = 2};
    machine.latencies[1] = (struct machine_latency){.latency_ns = 90, .source = "pointer_chase/x=2"};
    machine.figure_count = 1;
    machine.figures[0] = (struct machine_figure){
        .name = "lds_read", .value = 1e12, .unit = "B/s", .ci_rel = 0.02, .source = "lds_read/y=1"};
    char path[] = "/tmp/rooftile-machine-XXXXXX";
    close(mkstemp(path));
    struct err err = {0};
    struct machine read;
    assert_int_equal(machine_write(&machine, path, &err), STATUS_OK);
    if (machine_read(&read, path, &err))
        fail_msg("%s", err.text);
    snprintf(machine.path, sizeof(machine.path), "%s", path);
    unlink(path);
    assert_string_equal(read.title, machine.title);
    assert_true(read.measured);
    struct text before = {0}, after = {0};
    as_json(&before, &machine);
    as_json(&after, &read);
    assert_string_equal(after.data, before.data);
    text_release(&before);
    text_release(&after);
    assert_near(read.levels[0].capacity_confidence, 0.875, 0);
    assert_near(read.levels[0].bandwidth.vendor, 2e11, 0);
    assert_true(read.levels[1].bandwidth.raised);
    assert_string_equal(read.units[0].peak.measured_by, "fma_peak");
    assert_memory_equal(&read.cus, &machine.cus, sizeof(machine.cus));
    assert_near(read.launch_ns, 1234.5, 0);
    assert_string_equal(read.device_id, "cpu|x|2");
    assert_near(read.levels[0].traffic[TRAFFIC_COPY].measured, 1e11, 0);
    assert_near(read.units[0].held_hz, 2e9, 0);
    assert_int_equal(read.latencies[0].instances, 2);
    assert_string_equal(read.latencies[0].level, "L1");
    assert_near(read.latencies[1].latency_ns, 90, 0);
    assert_near(machine_figure(&read, "lds_read")->value, 1e12, 0);
    assert_null(machine_figure(&read, "lds"));
}

#define HEAD "{\"name\":\"m\","
#define DRAM "\"levels\":[{\"name\":\"DRAM\"}]"
static const struct {
    const char *json, *message;
} bad[] = {
    {"{" DRAM "}", "the key 'name' is missing"},
    {HEAD "\"levels\":[]}", "no memory level"},
    {HEAD DRAM ",\"unitz\":[]}", "did you mean 'units'"},
    {HEAD DRAM ",\"kind\":\"guessed\"}", "unknown kind 'guessed'"},
    {HEAD DRAM ",\"facts\":{\"cus\":1.5}}", "whole number"},
    {HEAD DRAM ",\"facts\":{\"cus\":-4}}", "above 0"},
    {HEAD "\"levels\":[{\"name\":\"DRAM\",\"bandwidth\":{\"vendor\":{\"value\":1e9}}}]}", "'source' is missing"},
    {HEAD "\"levels\":[{\"name\":\"DRAM\",\"bandwidth\":{\"vendor\":{\"value\":0,\"source\":\"s\"}}}]}",
     "above 0, not 0"},
    {HEAD "\"levels\":[{\"name\":\"DRAM\",\"bandwidth\":{\"measured\":{\"value\":1,\"by\":\"k\",\"ci_rel\":2}}}]}",
     "0 to 1"},
    {HEAD "\"levels\":[{\"name\":\"L1\"},{\"name\":\"DRAM\"}]}", "no capacity"},
    {HEAD "\"levels\":[{\"name\":\"L\",\"capacity_bytes\":{\"value\":9,\"source\":\"s\"}},{\"name\":\"L\"}]}",
     "same name"},
    {HEAD DRAM ",\"units\":[{\"name\":\"a\"},{\"name\":\"a\"}]}", "same name"},
    {HEAD "\"levels\":[{\"name\":\"DRAM\",\"capacity_bytes\":{\"value\":9,\"source\":\"s\"}}]}", "has no capacity"},
    {HEAD "\"levels\":[{\"name\":\"a name that is much longer than any level's\"}]}", "shorter than 32"},
    {HEAD DRAM ",\"latencies\":[{\"upto_bytes\":9}]}", "the key 'latency_ns' is missing"},
    {HEAD DRAM ",\"latencies\":[{\"instances\":1.5}]}", "whole number"},
    {HEAD DRAM ",\"latencies\":[{},{},{},{},{},{},{}]}", "at most 6"},
    {HEAD DRAM ",\"figures\":[{\"name\":\"x\",\"value\":-1}]}", "above 0"},
    {HEAD DRAM ",\"figures\":[{\"name\":\"x\",\"value\":1,\"unit\":\"ns\"}]}", "'source' is missing"},
    {"[]", "must be an object"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        struct arena arena = {0};
        struct err err = {0};
        struct machine machine = {0};
        const cJSON *root;
        assert_int_equal(json_parse(&root, "m.json", bad[k].json, strlen(bad[k].json), &arena, &err), STATUS_OK);
        assert_int_equal(record_get(&machine, &machine_record, root, true, &arena, &err), ERR_CONFIG);
        if (!strstr(err.text, bad[k].message) || !text_starts(err.text, "m.json:1:"))
            fail_msg("%s: '%s'", bad[k].json, err.text);
        arena_release(&arena);
    }
}

static void test_ceiling(void **state)
{
    (void)state;
    const struct ceiling both = {.vendor = 10, .measured = 8}, vendor = {.vendor = 10}, none = {0};
    assert_near(ceiling_value(&both), 8, 0);
    assert_string_equal(ceiling_kind(&both), "measured");
    assert_near(ceiling_value(&vendor), 10, 0);
    assert_string_equal(ceiling_kind(&vendor), "vendor");
    assert_near(ceiling_value(&none), 0, 0);
    assert_string_equal(ceiling_kind(&none), "unknown");
}

static void test_ceiling_expected(void **state)
{
    (void)state;
    const struct ceiling all = {.vendor = 10, .effective = 7, .measured = 8}, sheet = {.vendor = 10, .effective = 7};
    const struct ceiling vendor = {.vendor = 10};
    assert_near(ceiling_expected(&all), 8, 0);
    assert_near(ceiling_expected(&sheet), 7, 0);
    assert_near(ceiling_value(&sheet), 10, 0); /* no ceiling */
    assert_near(ceiling_expected(&vendor), 10, 0);
}

/* What predictions need of a machine survives being written and read. */
static void test_expected_facts(void **state)
{
    (void)state;
    static const char json[] =
        "{\"name\": \"m\", \"facts\": {\"dispatch_hz\": 2e9, \"lds_latency_ns\": 22.5, \"launch_next_ns\": "
        "{\"value\": 2100, \"source\": \"x\"}}, \"levels\": [{\"name\": \"HBM\", \"bandwidth\": {\"effective\": "
        "{\"value\": 7, \"source\": \"y\"}}}]}";
    struct arena arena = {0};
    struct err err = {0};
    const cJSON *root = NULL;
    struct machine machine = {0};
    assert_int_equal(json_parse(&root, "m.json", json, sizeof(json) - 1, &arena, &err), STATUS_OK);
    assert_int_equal(record_get(&machine, &machine_record, root, true, &arena, &err), STATUS_OK);
    assert_near(machine.dispatch_hz, 2e9, 0);
    assert_near(machine.lds_latency_ns, 22.5, 0);
    assert_near(machine.launch_next_ns, 2100, 0);
    assert_near(machine.levels[0].bandwidth.effective, 7, 0);
    arena_release(&arena);
}

static void test_raise_clock(void **state)
{
    (void)state;
    struct machine machine = {.measured = true,
                              .core_hz = 3e9,
                              .unit_count = 2,
                              .units = {{.name = "vector_f32", .clock_hz = 3e9, .peak = {.vendor = 300e9}},
                                        {.name = "vector_bf16", .clock_hz = 3e9, .peak = {.measured = 100e9}}}};
    machine_raise_clock(&machine, 4e9);
    assert_true(machine.units[0].peak.vendor == 400e9 && machine.units[0].clock_hz == 4e9 && machine.core_hz == 4e9);
    assert_true(machine.units[1].peak.vendor == 0);
    machine_raise_clock(&machine, 2e9);
    machine_raise_clock(&machine, NAN);
    assert_true(machine.units[0].peak.vendor == 400e9 && machine.core_hz == 4e9);
    machine.measured = false; /* a data sheet is not derived from what we saw, but a card may run faster than it says */
    machine_raise_clock(&machine, 5e9);
    machine_raise_clock(&machine, 4.5e9);
    machine_raise_clock(&machine, INFINITY);
    assert_true(machine.units[0].peak.vendor == 400e9 && machine.core_hz == 4e9 && machine.units[0].limit_hz == 5e9);
    assert_near(machine_unit_limit(&machine.units[0]), 500e9, 1);
    machine.units[0].limit_hz = 0;
    assert_near(machine_unit_limit(&machine.units[0]), 400e9, 0);
}

static void test_unit_rate(void **state)
{
    static const struct {
        const char *name, *rate;
    } rows[] = {{"vector_f32", "FLOP/s"}, {"matrix_xf32", "FLOP/s"},
                {"matrix_fp8", "FLOP/s"}, {"matrix_i8", "OP/s"},
                {"vector_i32", "OP/s"},   {"vector_i4", "OP/s"},
                {"vector_u8", "OP/s"},    {"int_unit", "FLOP/s"},
                {"i8", "FLOP/s"},         {"", "FLOP/s"}};
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)
        assert_string_equal(machine_unit_rate(rows[k].name), rows[k].rate);
}

/* Half the clock, twice the compute units. */
static const struct machine relative = {
    .name = "big",
    .core_hz = 2e9,
    .cus = 100,
    .launch_ns = 4000,
    .lds_latency_ns = 20,
    .level_count = 3,
    .levels = {{.name = "L1", .bandwidth = {.vendor = 8e12}, .latency_ns = 50},
               {.name = "L2", .bandwidth = {.vendor = 4e12, .effective = 2e12}, .latency_ns = 100},
               {.name = "HBM", .bandwidth = {.vendor = 1e12, .effective = 0.8e12}, .latency_ns = 400}},
    .figure_count = 1,
    .figures = {{.name = "link", .value = 3e10, .unit = "B/s"}},
};

static void test_borrowing(void **state)
{
    (void)state;
    struct machine machine = {.name = "small",
                              .core_hz = 1e9,
                              .cus = 200,
                              .lds_latency_ns = 32,
                              .level_count = 3,
                              .levels = {{.name = "L0", .bandwidth = {.vendor = 16e12}},
                                         {.name = "L2", .latency_ns = 150},
                                         {.name = "GDDR6", .bandwidth = {.vendor = 0.5e12}}}};
    struct machine_borrowed borrowed = {0};
    machine_borrow(&machine, &relative, &borrowed);
    assert_near(machine.levels[0].latency_ns, 100, 1e-9);           /* as many cycles of a slower clock */
    assert_near(machine.levels[1].latency_ns, 150, 0);              /* what is known stays */
    assert_near(machine.levels[2].latency_ns, 400, 1e-9);           /* memory has a clock of its own */
    assert_near(machine.levels[0].bandwidth.effective, 0, 0);       /* the peak is known, and no share of it */
    assert_near(machine.levels[1].bandwidth.effective, 2e12, 1);    /* as many bytes a clock and compute unit */
    assert_near(machine.levels[2].bandwidth.effective, 0.4e12, 1);  /* the same share of the peak */
    assert_near(ceiling_value(&machine.levels[1].bandwidth), 0, 0); /* a ceiling is never borrowed */
    assert_near(machine.launch_ns, 4000, 0);
    assert_near(machine.lds_latency_ns, 32, 0);
    assert_non_null(machine_figure(&machine, "link"));
    assert_string_equal(borrowed.what[0], "L0 latency from big");
    assert_int_equal(borrowed.count, 6);
}

/* A cache is not slower than the memory behind it, however few units its relative's rate is shared by. */
static void test_borrowed_cache_of_few_units(void **state)
{
    (void)state;
    struct machine machine = {.core_hz = 1e9,
                              .cus = 20,
                              .level_count = 3,
                              .levels = {{.name = "L1", .bandwidth = {.vendor = 8e11}},
                                         {.name = "L2"},
                                         {.name = "HBM", .bandwidth = {.vendor = 1e12, .effective = 0.7e12}}}};
    struct machine_borrowed borrowed = {0};
    machine_borrow(&machine, &relative, &borrowed);
    assert_near(machine.levels[1].bandwidth.effective, 0.7e12, 1);
}

/* Every number that predictions need is there for every shipped machine, if need be a relative's. */
static void test_shipped_are_complete(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(shipped) / sizeof(shipped[0]); k++) {
        struct machine machine;
        struct machine_borrowed borrowed = {0};
        struct err err = {0};
        char path[512];
        snprintf(path, sizeof(path), MACHINES "%s", shipped[k].file);
        if (machine_read(&machine, path, &err) || machine_complete(&machine, MACHINES, &borrowed, &err))
            fail_msg("%s", err.text);
        for (uint32_t level = 0; level < machine.level_count; level++) {
            if (!(machine.levels[level].latency_ns > 0))
                fail_msg("%s: no latency of %s", machine.name, machine.levels[level].name);
            if (!(ceiling_expected(&machine.levels[level].bandwidth) > 0))
                fail_msg("%s: no bandwidth of %s", machine.name, machine.levels[level].name);
        }
        if (!(machine.launch_ns > 0) || !(machine.lds_latency_ns > 0))
            fail_msg("%s: no launch or no LDS latency", machine.name);
    }
}

#define UNKNOWN "{\"value\": null, \"source\": \"no data sheet\"}"

static enum status read_text(struct machine *machine, const char *text, struct err *err)
{
    char path[] = "/tmp/rooftile_machine_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    const enum status status = machine_read(machine, path, err);
    unlink(path);
    return status;
}

/* A null is as good as nothing, and its source is kept nowhere; what has to be known is not null. */
static void test_null_is_unknown(void **state)
{
    (void)state;
    struct machine machine;
    struct err err = {0};
    assert_int_equal(
        read_text(&machine,
                  "{\"name\": \"m\", \"facts\": {\"cus\": null, \"lds_latency_ns\": " UNKNOWN "}, "
                  "\"levels\": [{\"name\": \"L2\", \"capacity_bytes\": {\"value\": 4096, \"source\": \"s\"}, "
                  "\"bandwidth\": " UNKNOWN ", \"latency_ns\": " UNKNOWN "}, {\"name\": \"HBM\", "
                  "\"bandwidth\": {\"vendor\": {\"value\": 1e12, \"source\": \"s\"}, \"effective\": null}}], "
                  "\"launch_ns\": " UNKNOWN "}",
                  &err),
        STATUS_OK);
    assert_int_equal(machine.cus, 0);
    assert_true(machine.lds_latency_ns == 0 && machine.levels[0].latency_ns == 0 && machine.launch_ns == 0);
    assert_true(ceiling_value(&machine.levels[0].bandwidth) == 0 && machine.levels[1].bandwidth.vendor == 1e12);
    assert_string_equal(machine.launch_source, "");
    assert_int_equal(read_text(&machine, "{\"name\": null, \"levels\": [{\"name\": \"HBM\"}]}", &err), ERR_CONFIG);
    assert_int_equal(read_text(&machine,
                               "{\"name\": \"m\", \"launch_ns\": {\"value\": null}, \"levels\": [{\"name\": \"HBM\"}]}",
                               &err),
                     ERR_CONFIG);
    assert_non_null(strstr(err.text, "source"));
}

static void test_unknown_relative(void **state)
{
    (void)state;
    struct machine machine = {.name = "small", .relative = "nobody"};
    struct machine_borrowed borrowed = {0};
    struct err err = {0};
    assert_int_not_equal(machine_complete(&machine, MACHINES, &borrowed, &err), STATUS_OK);
    assert_non_null(strstr(err.text, "small names nobody as its relative"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raise_clock),
        cmocka_unit_test(test_unit_rate),
        cmocka_unit_test(test_shipped),
        cmocka_unit_test(test_borrowing),
        cmocka_unit_test(test_borrowed_cache_of_few_units),
        cmocka_unit_test(test_shipped_are_complete),
        cmocka_unit_test(test_null_is_unknown),
        cmocka_unit_test(test_unknown_relative),
        cmocka_unit_test(test_dense_peaks),
        cmocka_unit_test(test_nvidia_peaks),
        cmocka_unit_test(test_derived_peaks),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_unit_names),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_ceiling_expected),
        cmocka_unit_test(test_expected_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
