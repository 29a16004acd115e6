/* SPDX-License-Identifier: MIT
 *
 * What a CPU's times are predicted from: the level that holds a footprint, the peak that was measured, figures.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "rooftile/predictor.h"

static const struct device_facts cpu = {.backend = "cpu", .cus = 2};

/* 100 GB/s up to somewhere between 1 and 4 MiB, 10 GB/s beyond. */
static struct machine measured_machine(void)
{
    struct machine machine = {.measured = true, .cus = 2, .level_count = 2, .unit_count = 1};
    snprintf(machine.levels[0].name, MACHINE_NAME, "L2");
    machine.levels[0].bandwidth.measured = 100e9;
    machine.levels[0].capacity_low_bytes = 0x1p20;
    machine.levels[0].capacity_bytes = 0x1p22;
    snprintf(machine.levels[1].name, MACHINE_NAME, "DRAM");
    machine.levels[1].bandwidth.measured = 10e9;
    snprintf(machine.units[0].name, MACHINE_NAME, "vector_f32");
    machine.units[0].peak.measured = 1e12;
    return machine;
}

static void add_figure(struct machine *machine, const char *name, const char *unit, double value, const char *source)
{
    struct machine_figure *figure = &machine->figures[machine->figure_count++];
    figure->value = value;
    snprintf(figure->name, sizeof(figure->name), "%s", name);
    snprintf(figure->unit, sizeof(figure->unit), "%s", unit);
    snprintf(figure->source, sizeof(figure->source), "%s", source);
}

static double time_of(const struct manifest *manifest, const struct param_value *values, const struct work *work,
                      const struct machine *machine, enum cache_mode cache)
{
    struct prediction prediction;
    const struct resolved resolved = {.manifest = manifest, .values = values, .device = &cpu, .work = *work};
    predicted_by_work(&prediction, &resolved, cache, machine, NULL, NULL);
    return prediction.time_ns;
}

static void test_levels(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "stream", .class = CLASS_MEMORY};
    static const struct {
        double footprint, ns_per_byte;
        enum cache_mode cache;
    } cases[] = {
        {0x1p20, 0.01, CACHE_HOT}, {0x1p21, 0.0316227766, CACHE_HOT}, {0x1p22, 0.1, CACHE_HOT},
        {0x1p30, 0.1, CACHE_HOT},  {0x1p20, 0.1, CACHE_COLD},
    };
    const struct machine machine = measured_machine();
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const struct work work = {.read_bytes = 0x1p30, .footprint_bytes = cases[k].footprint};
        const double time_ns = time_of(&manifest, NULL, &work, &machine, cases[k].cache);
        assert_true(fabs(time_ns / (cases[k].ns_per_byte * 0x1p30) - 1) < 1e-6);
    }
}

/* Streams are expected at the rate that they usually have in a level, which is not the best one. */
static void test_usual_rates(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "stream", .class = CLASS_MEMORY};
    const struct work work = {.read_bytes = 0x1p30, .footprint_bytes = 0x1p10};
    struct machine machine = measured_machine();
    machine.levels[0].traffic[TRAFFIC_READ] = (struct ceiling){.measured = 100e9, .effective = 80e9};
    assert_true(fabs(time_of(&manifest, NULL, &work, &machine, CACHE_HOT) / (0x1p30 / 80) - 1) < 1e-6);
}

/* The level that most of the time goes to is what binds, and exponentials where these take longest. */
static void test_bounds(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "rows", .class = CLASS_MEMORY};
    static const struct {
        double footprint, flops, exponentials;
        const char *bound;
    } cases[] = {{0x1p20, 0, 0, "L2"},
                 {0x1p22, 0, 0, "DRAM"},
                 {0x1p20, 1e12, 0, "vector_f32"},
                 {0x1p20, 1e11, 1e11, TRANSCENDENTAL_UNIT}};
    struct machine machine = measured_machine();
    snprintf(machine.units[1].name, MACHINE_NAME, "%s", TRANSCENDENTAL_UNIT);
    machine.units[1].peak.measured = 1e10;
    machine.unit_count = 2;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct prediction prediction;
        const struct resolved resolved = {.manifest = &manifest,
                                          .device = &cpu,
                                          .work = {.read_bytes = 0x1p30,
                                                   .footprint_bytes = cases[k].footprint,
                                                   .flops = cases[k].flops,
                                                   .transcendentals = cases[k].exponentials,
                                                   .unit = "vector_f32"}};
        predicted_by_work(&prediction, &resolved, CACHE_HOT, &machine, NULL, NULL);
        assert_string_equal(prediction.bound, cases[k].bound);
    }
}

/* Kernels with the tag "compute" reach the peak that one of them has measured; products do not, and least of all what
 * is computed between loads, exponentials apart. */
static void test_peaks(void **state)
{
    (void)state;
    static const char *const tags[] = {"peak", "compute"}, *const streams[] = {"stream"};
    static const struct manifest peak = {.name = "peak", .class = CLASS_COMPUTE, .tags = tags, .tag_count = 2},
                                 other = {.name = "product", .class = CLASS_COMPUTE},
                                 rows = {.name = "rows", .class = CLASS_MEMORY},
                                 stream = {.name = "rows", .class = CLASS_MEMORY, .tags = streams, .tag_count = 1};
    const struct work work = {.flops = 1e9, .unit = "vector_f32"};
    const struct work exponentials = {.flops = 1, .transcendentals = 1e6, .unit = "vector_f32"};
    struct machine machine = measured_machine();
    snprintf(machine.units[1].name, MACHINE_NAME, "%s", TRANSCENDENTAL_UNIT);
    machine.units[1].peak.measured = 1e9;
    machine.unit_count = 2;
    const double peak_ns = time_of(&peak, NULL, &work, &machine, CACHE_HOT);
    const double other_ns = time_of(&other, NULL, &work, &machine, CACHE_HOT);
    assert_true(fabs(peak_ns - 1e6) < 1);
    assert_true(other_ns > 1.2 * peak_ns);
    assert_true(time_of(&rows, NULL, &work, &machine, CACHE_HOT) > 2 * other_ns);
    assert_true(fabs(time_of(&stream, NULL, &work, &machine, CACHE_HOT) / other_ns - 1) < 1e-6);
    assert_true(fabs(time_of(&rows, NULL, &exponentials, &machine, CACHE_HOT) /
                         time_of(&other, NULL, &exponentials, &machine, CACHE_HOT) -
                     1) < 1e-6);
}

/* A work-item that computes on less than a vector at once needs as many instructions as with all of it; lanes that the
 * compiler may take together do not. */
static void test_narrow(void **state)
{
    (void)state;
    static const char *const tags[] = {"compute"};
    const struct param param = {.name = "WIDTH"};
    const struct param_value width = {.kind = PARAM_NUMBER, .number = 4};
    const struct manifest manifest = {
        .name = "peak", .class = CLASS_COMPUTE, .tags = tags, .tag_count = 1, .params = &param, .param_count = 1};
    struct machine machine = measured_machine();
    snprintf(machine.units[0].peak.measured_by, sizeof(machine.units[0].peak.measured_by), "peak/dtype=f32;WIDTH=64");
    for (uint32_t block = 1; block <= 64; block *= 64) {
        struct resolved_step step = {
            .kind = STEP_LAUNCH, .timed = true, .repeat = 1, .launch = {.grid = {8, 1, 1}, .block = {block, 1, 1}}};
        const struct resolved resolved = {.manifest = &manifest,
                                          .values = &width,
                                          .device = &cpu,
                                          .steps = &step,
                                          .step_count = 1,
                                          .work = {.flops = 1e9, .unit = "vector_f32"}};
        struct prediction prediction;
        predicted_by_work(&prediction, &resolved, CACHE_HOT, &machine, NULL, NULL);
        assert_true(fabs(prediction.time_ns - (block == 1 ? 16e6 : 1e6)) < 10);
    }
}

/* Cores take whole workgroups: of three on two cores one takes two. */
static void test_busiest(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "rows", .class = CLASS_MEMORY};
    static const struct {
        uint32_t groups;
        double times;
    } cases[] = {{1, 2}, {2, 1}, {3, 4.0 / 3}, {1000, 1}};
    const struct machine machine = measured_machine();
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct resolved_step step = {.kind = STEP_LAUNCH,
                                     .timed = true,
                                     .repeat = 1,
                                     .launch = {.grid = {cases[k].groups, 1, 1}, .block = {1, 1, 1}}};
        const struct resolved resolved = {.manifest = &manifest,
                                          .device = &cpu,
                                          .steps = &step,
                                          .step_count = 1,
                                          .work = {.read_bytes = 1e9, .footprint_bytes = 0x1p10}};
        struct prediction prediction;
        predicted_by_work(&prediction, &resolved, CACHE_HOT, &machine, NULL, NULL);
        assert_true(fabs(prediction.time_ns / (1e7 * cases[k].times) - 1) < 1e-6);
    }
}

static void test_worked_out(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "tiles", .class = CLASS_COMPUTE};
    const struct work work = {.flops = 1e9, .unit = "matrix_f16"};
    struct machine machine = measured_machine();
    assert_true(time_of(&manifest, NULL, &work, &machine, CACHE_HOT) < 1);
    add_figure(&machine, "matrix_worked_out", "FLOP/s", 1e9, "matrix_peak/dtype=f16");
    assert_true(fabs(time_of(&manifest, NULL, &work, &machine, CACHE_HOT) - 1e9) < 1);
    add_figure(&machine, "matrix_fp8_worked_out", "FLOP/s", 2e9, "matrix_peak_fp8/dtype=e4m3");
    assert_true(fabs(time_of(&manifest, NULL, &work, &machine, CACHE_HOT) - 1e9) < 1);
    const struct work bytes = {.flops = 1e9, .unit = "matrix_e5m2"}; /* a type of its own */
    assert_true(fabs(time_of(&manifest, NULL, &bytes, &machine, CACHE_HOT) - 5e8) < 1);
    const struct param param = {.name = "SPARSE"};
    const struct param_value two = {.kind = PARAM_NUMBER, .number = 2};
    const struct manifest sparse = {.name = "sparse", .class = CLASS_COMPUTE, .params = &param, .param_count = 1};
    assert_true(time_of(&sparse, &two, &work, &machine, CACHE_HOT) > 1.5e9);
}

/* Lanes access one after the other, whatever they move; but a width that was measured has its own rate. */
static void test_widths(void **state)
{
    (void)state;
    const struct param param = {.name = "WIDTH"};
    const struct manifest manifest = {.name = "lds_read", .class = CLASS_MEMORY, .params = &param, .param_count = 1};
    struct machine machine = measured_machine();
    add_figure(&machine, "lds_read", "B/s", 16e9, "lds_read/WIDTH=16;stride=1");
    for (double width = 4; width <= 16; width *= 2) {
        const struct param_value value = {.kind = PARAM_NUMBER, .number = width};
        const struct work work = {.items = 1e9 * width};
        assert_true(fabs(time_of(&manifest, &value, &work, &machine, CACHE_HOT) - 1e9) < 1);
    }
    const struct param_value narrow = {.kind = PARAM_NUMBER, .number = 4};
    add_figure(&machine, "lds_read_8", "B/s", 1e9, "lds_read/WIDTH=8;stride=1");
    add_figure(&machine, "lds_read_4", "B/s", 2e9, "lds_read/WIDTH=4;stride=1");
    const double own_ns = time_of(&manifest, &narrow, &(struct work){.items = 1e9}, &machine, CACHE_HOT);
    assert_true(fabs(own_ns - 5e8) < 1);
}

/* What counts accesses may move a line for each. */
static void test_lines(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "gather", .class = CLASS_MEMORY};
    const struct machine machine = measured_machine();
    double times_wider[2];
    for (int counted = 0; counted < 2; counted++) {
        struct prediction prediction;
        const struct resolved resolved = {
            .manifest = &manifest,
            .device = &cpu,
            .work = {.read_bytes = 0x1p30, .footprint_bytes = 0x1p30, .items = counted ? 0x1p28 : 0}};
        predicted_by_work(&prediction, &resolved, CACHE_HOT, &machine, NULL, NULL);
        times_wider[counted] = prediction.high_ns / prediction.time_ns;
        assert_int_equal(prediction.note_count, counted);
    }
    assert_true(fabs(times_wider[1] / times_wider[0] - 16) < 1e-6);
}

/* With a walk: by the lines that are moved, as often as they are, and by how far they are from each other. */
static void test_walked_lines(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "gather", .class = CLASS_MEMORY};
    const struct resolved resolved = {.manifest = &manifest,
                                      .device = &cpu,
                                      .work = {.read_bytes = 0x1p30, .footprint_bytes = 0x1p30, .items = 0x1p28}};
    static const struct {
        struct host_walk walk;
        double time_ns; /* of two cores: 12.8 ns a line of a stream of each */
    } cases[] = {
        {{.far = 1e6, .bytes = 0x1p30}, 0x1p30 / 10},                            /* no less than the bytes take */
        {{.far = 0x1p28, .bytes = 0x1p30, .stepped = 0x1p28}, 0x1p28 * 64 / 10}, /* a line for each access */
        {{.far = 0x1p27, .bytes = 0x1p29, .in_part = true}, 0x1p28 * 64 / 10},   /* half of it was walked */
        {{.far = 0x1p28, .bytes = 0x1p30, .stepped = 3 * 0x1p28}, 0x1p28 * 64 / 10 * 3},     /* every third line */
        {{.far = 0x1p28, .bytes = 0x1p30, .stepped = 9 * 0x1p28}, 0x1p28 / 2 * 1200.0 / 24}, /* no longer prefetched */
        {{.far = 0x1p28, .apart = 0x1p28, .bytes = 0x1p30}, 0x1p28 / 2 * 1200.0 / 24},       /* 24 misses at once */
        {{.far = 0x1p28, .apart = 0x1p28, .bytes = 0x1p30, .accesses = 0x1p34},
         0x1p28 / 2 * 1200.0 / 4},                                             /* 64 accesses for each */
        {{.near = 0x1p28, .apart = 0x1p28, .bytes = 0x1p30}, 0x1p28 / 2 * 40}, /* of L2, on other pages */
    };
    struct machine machine = measured_machine();
    machine.core_hz = INFINITY; /* issue takes nothing */
    machine.latency_count = 3;
    machine.latencies[0] = (struct machine_latency){.upto_bytes = 0x1p15, .beyond_bytes = 0x1p16, .latency_ns = 1};
    machine.latencies[1] = (struct machine_latency){.upto_bytes = 0x1p20, .beyond_bytes = 0x1p21, .latency_ns = 40};
    machine.latencies[2] = (struct machine_latency){.latency_ns = 1200};
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct prediction prediction;
        predicted_by_work(&prediction, &resolved, CACHE_HOT, &machine, NULL, &cases[k].walk);
        assert_true(fabs(prediction.time_ns / cases[k].time_ns - 1) < 1e-9);
        assert_string_equal(prediction.method, "walk");
        assert_int_equal(prediction.note_count, 0);
    }
}

/* Runs of stores that two cores fight for: each takes what a line takes where all write the same ones. */
static void test_walked_fights(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "scatter", .class = CLASS_MEMORY};
    const struct resolved resolved = {.manifest = &manifest,
                                      .device = &cpu,
                                      .work = {.write_bytes = 0x1p30, .footprint_bytes = 0x1p30, .items = 0x1p28}};
    const struct host_walk walk = {.far = 1e6, .bytes = 0x1p30, .contended = 0x1p27};
    struct machine machine = measured_machine();
    struct prediction alone, fought;
    machine.core_hz = INFINITY;
    predicted_by_work(&alone, &resolved, CACHE_HOT, &machine, NULL, &walk);
    add_figure(&machine, "write_shared", "B/s", 0.5e9, "stream_write_shared/n=16384");
    predicted_by_work(&fought, &resolved, CACHE_HOT, &machine, NULL, &walk);
    assert_true(fabs(alone.time_ns / (0x1p30 / 10) - 1) < 1e-9);
    assert_true(fabs(fought.time_ns / (0x1p27 / 2 * 256) - 1) < 1e-9); /* of two cores, 64 bytes at 0.25 GB/s each */
    static const struct manifest sweep = {.name = "sweep", .class = CLASS_COMPUTE};
    struct resolved computes = resolved;
    computes.manifest = &sweep;
    computes.work.flops = 1;
    predicted_by_work(&fought, &computes, CACHE_HOT, &machine, NULL, &walk);
    assert_true(fabs(fought.time_ns / (0x1p27 / 2 * 256) - 1) < 1e-3);
}

/* Instructions wait behind lines: both take their time. */
static void test_walked_issue(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "gather", .class = CLASS_MEMORY};
    const struct resolved resolved = {.manifest = &manifest,
                                      .device = &cpu,
                                      .work = {.read_bytes = 0x1p30, .footprint_bytes = 0x1p30, .items = 0x1p28}};
    const struct host_walk walk = {.far = 1e6, .bytes = 0x1p30, .instructions = 0x1p34};
    struct machine machine = measured_machine();
    struct prediction prediction;
    machine.core_hz = 2e9;
    predicted_by_work(&prediction, &resolved, CACHE_HOT, &machine, NULL, &walk);
    const double lines_ns = 0x1p30 / 10, issue_ns = 0x1p34 / 8 / 2 / 2; /* an eighth of a clock, two cores, 2 GHz */
    assert_true(fabs(prediction.time_ns / (lines_ns + issue_ns) - 1) < 1e-6);
}

/* A chain of arithmetic: by the latency that was measured, else four clocks; a part of it stands for all. */
static void test_walked_chain(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "chains", .class = CLASS_COMPUTE};
    struct resolved_step step = {
        .kind = STEP_LAUNCH, .timed = true, .repeat = 1, .launch = {.grid = {8, 1, 1}, .block = {1, 1, 1}}};
    struct resolved resolved = {.manifest = &manifest,
                                .device = &cpu,
                                .steps = &step,
                                .step_count = 1,
                                .work = {.flops = 1e6, .unit = "vector_f32"}};
    static const struct {
        struct host_walk walk;
        double latency_ns, ci_rel, time_ns; /* of two cores */
    } cases[] = {
        {{.chain_steps = 4e6, .flops = 1e6}, 1.5, 0.01, 3e6},
        {{.chain_steps = 4e6, .flops = 1e6}, 0, 0, 4e6},      /* at 2 GHz */
        {{.chain_steps = 4e6, .flops = 1e6}, 7.5, 0.37, 4e6}, /* measured beside something else */
        {{.chain_steps = 1e6, .flops = 2.5e5, .in_part = true}, 1.5, 0.01, 3e6},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct prediction prediction;
        struct machine machine = measured_machine();
        machine.core_hz = 2e9;
        if (cases[k].latency_ns > 0)
            add_figure(&machine, "f32_fma_latency", "ns", cases[k].latency_ns, "op_float/OP=fma");
        machine.figures[0].ci_rel = cases[k].ci_rel;
        predicted_by_work(&prediction, &resolved, CACHE_HOT, &machine, NULL, &cases[k].walk);
        assert_true(fabs(prediction.time_ns / cases[k].time_ns - 1) < 1e-3);
        assert_string_equal(prediction.bound, "latency");
    }
    assert_int_equal(predicted_on_host(&resolved), HOST_CHAIN);
    step.launch.block[0] = 64; /* lanes of which nobody knows how they are taken together */
    assert_int_equal(predicted_on_host(&resolved), HOST_NOT_WALKED);
}

/* Between what was seen inside and outside a capacity a chase's latency grows by the same factor for each doubling. */
static void test_chases(void **state)
{
    (void)state;
    static const struct manifest manifest = {.name = "chase", .class = CLASS_LATENCY};
    static const struct {
        double footprint, step_ns;
    } cases[] = {{0x1p19, 2}, {0x1p20, 2}, {0x1p22, 8}, {0x1p24, 32}, {0x1p30, 32}};
    struct machine machine = measured_machine();
    machine.latency_count = 2;
    machine.latencies[0] = (struct machine_latency){.upto_bytes = 0x1p20, .beyond_bytes = 0x1p24, .latency_ns = 2};
    machine.latencies[1] = (struct machine_latency){.latency_ns = 32};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        const struct work work = {.items = 1e6, .read_bytes = 1, .footprint_bytes = cases[k].footprint};
        const double time_ns = time_of(&manifest, NULL, &work, &machine, CACHE_HOT);
        assert_true(fabs(time_ns / (1e6 * cases[k].step_ns) - 1) < 1e-6);
    }
}

/* One work-item of a GPU reaches the L1 of its unit, not those of all. */
static void test_chase_of_a_gpu(void **state)
{
    static const struct manifest manifest = {.name = "chase", .class = CLASS_LATENCY};
    static const struct {
        double footprint, step_ns;
    } cases[] = {{0x1p14, 50}, {0x1p15, 50}, {0x1p16, 100}, {0x1p22, 100}, {0x1p24, 400}};
    const struct machine machine = {.cus = 128,
                                    .xccs = 1,
                                    .level_count = 3,
                                    .levels = {{.name = "L1", .capacity_bytes = 128 * 0x1p15, .latency_ns = 50},
                                               {.name = "L2", .capacity_bytes = 0x1p23, .latency_ns = 100},
                                               {.name = "HBM", .latency_ns = 400}}};
    const struct device_facts gpu = {.backend = "hip", .arch = "gfx942", .cus = 128, .wave = 64};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        const struct resolved resolved = {
            .manifest = &manifest,
            .device = &gpu,
            .work = {.unit = "", .level = "", .items = 1e6, .read_bytes = 1, .footprint_bytes = cases[k].footprint}};
        struct prediction prediction;
        predicted_by_work(&prediction, &resolved, CACHE_HOT, &machine, NULL, NULL);
        assert_true(fabs(prediction.time_ns / (1e6 * cases[k].step_ns) - 1) < 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),        cmocka_unit_test(test_peaks),
        cmocka_unit_test(test_worked_out),    cmocka_unit_test(test_widths),
        cmocka_unit_test(test_lines),         cmocka_unit_test(test_walked_lines),
        cmocka_unit_test(test_chases),        cmocka_unit_test(test_chase_of_a_gpu),
        cmocka_unit_test(test_walked_chain),  cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_narrow),        cmocka_unit_test(test_busiest),
        cmocka_unit_test(test_walked_fights), cmocka_unit_test(test_walked_issue),
        cmocka_unit_test(test_usual_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
