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
#include "../random.h"
#include "rooftile/ceilings.h"

enum { MAX_CASES = 200 };

/* A machine that we made up: what the curve must give back. */
static const struct {
    double capacity, bandwidth;
} levels[] = {{131072, 1e12}, {4 * 1048576.0, 300e9}, {INFINITY, 20e9}};

static struct result_case cases[MAX_CASES];

static struct result_case at_rate(const char *kernel, double footprint, double rate)
{
    struct result_case c = {.id = "kernel/x=1",
                            .kernel = kernel,
                            .class = "memory",
                            .status = CASE_OK,
                            .sample_count = 30,
                            .bytes_per_s = rate,
                            .flops_per_s = NAN,
                            .verification = {.verdict = VERIFY_PASS},
                            .work = {.read_bytes = footprint, .footprint_bytes = footprint, .items = 1000}};
    c.stats.median = footprint / rate * 1e9;
    c.stats.ci95[0] = c.stats.median * 0.99;
    c.stats.ci95[1] = c.stats.median * 1.01;
    return c;
}

/* Eight sizes an octave pair; around a capacity the rate slides from one level to the next. */
static size_t curve(const char *kernel, double share, double noise, uint64_t seed, size_t from)
{
    size_t count = from;
    for (double footprint = 16384; footprint < 300e6; footprint *= sqrt(2)) {
        double rate = 0;
        size_t level = 0;
        while (footprint > levels[level].capacity)
            level++;
        rate = levels[level].bandwidth;
        if (level && footprint < levels[level - 1].capacity * 1.5)
            rate = sqrt(rate * levels[level - 1].bandwidth);
        cases[count] = at_rate(kernel, footprint, rate * share * exp(noise * random_normal_at(seed, count)));
        count++;
    }
    return count;
}

static struct result_case compute(const char *kernel, const char *unit, double flops)
{
    struct result_case c = at_rate(kernel, 1e5, 1e9);
    c.class = "compute";
    c.flops_per_s = flops;
    c.core_hz = 2.9e9;
    c.work.flops = 1;
    snprintf(c.work.unit, sizeof(c.work.unit), "%s", unit);
    return c;
}

static struct result_case latency(double footprint, double ns)
{
    struct result_case c = at_rate("pointer_chase", footprint, 1);
    c.class = "latency";
    c.stats.median = ns * c.work.items;
    c.stats.ci95[0] = c.stats.median * 0.98;
    c.stats.ci95[1] = c.stats.median * 1.02;
    return c;
}

static struct result a_result(size_t count)
{
    return (struct result){.cases = cases,
                           .case_count = count,
                           .device = {.backend = "cpu",
                                      .id = "cpu:0",
                                      .name = "Toy",
                                      .arch = "x86-64",
                                      .cus = 2,
                                      .wave = 64,
                                      .core_hz = 3e9,
                                      .flops_per_clock_f32 = 64},
                           .calibration = {.null_launch_ns = 450}};
}

static void test_levels(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct machine machine;
        struct err err = {0};
        const double noise = seed < 5 ? 0 : 0.03;
        const struct result result =
            a_result(curve("stream_triad", 0.8, noise, seed + 100, curve("stream_read", 1, noise, seed, 0)));
        assert_int_equal(ceilings_find(&machine, &result, 1, &err), STATUS_OK);
        if (machine.level_count != 3)
            fail_msg("seed %u: %u levels", (unsigned)seed, machine.level_count);
        assert_null(machine_problem(&machine));
        assert_string_equal(machine.levels[0].name, "L1");
        assert_string_equal(machine.levels[1].name, "L2");
        assert_string_equal(machine.levels[2].name, "DRAM");
        for (size_t k = 0; k < 3; k++) {
            const double found = machine.levels[k].bandwidth.measured / levels[k].bandwidth;
            const double capacity = machine.levels[k].capacity_bytes / levels[k].capacity;
            if (!(found > 0.97 && found < 1.12)) /* the best of many points with 3 % of noise */
                fail_msg("seed %u: level %zu has %.3f of its bandwidth", (unsigned)seed, k, found);
            const double usual = machine.levels[k].traffic[TRAFFIC_READ].effective / levels[k].bandwidth;
            if (!(usual > 0.96 && usual < 1.06)) /* half of the points, at 0.8 of it, had less than they could */
                fail_msg("seed %u: level %zu usually has %.3f of its bandwidth", (unsigned)seed, k, usual);
            if (k < 2 && !(capacity >= 1 && capacity <= 2.1))
                fail_msg("seed %u: L%zu has %.0f bytes", (unsigned)seed, k + 1, machine.levels[k].capacity_bytes);
            if (k < 2)
                assert_true(machine.levels[k].capacity_confidence > 0.9);
        }
        assert_near(machine.levels[0].bandwidth.ci_rel, 0.01, 1e-9);
    }
}

/* For a while a neighbour took most of the memory: sizes in a row are slow that larger ones, later, are not. */
static void test_neighbour(void **state)
{
    (void)state;
    struct machine quiet, busy;
    struct err err = {0};
    const size_t count = curve("stream_read", 1, 0.01, 7, 0);
    size_t all = count;
    for (double footprint = 16384; footprint < 300e6; footprint *= 2)
        cases[all++] = latency(footprint, footprint > 4e6 ? 80 : 5);
    const struct result result = a_result(all);
    assert_int_equal(ceilings_find(&quiet, &result, 1, &err), STATUS_OK);
    for (size_t k = 9; k < 13; k++)
        cases[k] = at_rate("stream_read", cases[k].work.footprint_bytes, cases[k].bytes_per_s / 8);
    for (size_t k = count + 2; k < count + 6; k++)
        cases[k] = latency(cases[k].work.footprint_bytes, 240);
    assert_int_equal(ceilings_find(&busy, &result, 1, &err), STATUS_OK);
    assert_int_equal(busy.level_count, quiet.level_count);
    assert_int_equal(busy.latency_count, quiet.latency_count);
    for (uint32_t k = 0; k < quiet.level_count; k++)
        assert_near(busy.levels[k].capacity_bytes, quiet.levels[k].capacity_bytes, 1);
    for (uint32_t k = 0; k < quiet.latency_count; k++) {
        assert_near(busy.latencies[k].latency_ns, quiet.latencies[k].latency_ns, 1e-9);
        assert_near(busy.latencies[k].upto_bytes, quiet.latencies[k].upto_bytes, 1);
    }
}

static void test_facts(void **state)
{
    (void)state;
    struct machine machine;
    struct err err = {0};
    size_t count = curve("stream_read", 1, 0, 1, 0);
    cases[count++] = compute("fma_a", "vector_f32", 300e9);
    cases[count++] = compute("fma_b", "vector_f32", 350e9);
    cases[count++] = compute("fma_c", "vector_f64", 150e9);
    cases[count++] = compute("fma_d", "vector_f16", 600e9);
    cases[count++] = compute("dot_a", "vector_i8", 1200e9);
    cases[count++] = compute("dot_b", "vector_bf16", 200e9);
    cases[count++] = latency(32768, 1.5);
    cases[count++] = latency(262144 * 2, 5);
    cases[count++] = latency(512 * 1048576.0, 90);
    const struct result result = a_result(count);
    assert_int_equal(ceilings_find(&machine, &result, 1, &err), STATUS_OK);
    assert_true(machine.measured);
    assert_string_equal(machine.title, "Toy");
    assert_int_equal(machine.unit_count, 5);
    const struct machine_unit *f32 = machine_unit(&machine, "vector_f32"), *f64 = machine_unit(&machine, "vector_f64");
    assert_near(f32->peak.measured, 350e9, 0);
    assert_near(f32->peak.vendor, 2 * 64 * 3e9, 1);
    assert_near(f64->peak.measured, 150e9, 0);
    assert_near(f64->peak.vendor, 0, 0); /* the device did not say */
    assert_near(machine_unit(&machine, "vector_f16")->peak.vendor, 2 * 128 * 3e9, 1);
    assert_near(machine_unit(&machine, "vector_i8")->peak.vendor, 2 * 256 * 3e9, 1);
    assert_near(machine_unit(&machine, "vector_bf16")->peak.vendor, 0, 0); /* no rate is sure */
    assert_near(f32->held_hz, 2.9e9, 0);
    assert_near(machine.launch_ns, 450, 0);
    assert_near(machine.levels[0].latency_ns, 1.5, 1e-9);
    assert_near(machine.levels[1].latency_ns, 5, 1e-9);
    assert_near(machine.levels[2].latency_ns, 90, 1e-9);
}

/* Dependent loads: a plateau up to each capacity of one core, half way to the next one just above it. */
static size_t chases(const double *capacity, const double *ns, size_t levels_of_chase, double noise, uint64_t seed,
                     size_t from)
{
    size_t count = from;
    for (double footprint = 4096; footprint < 300e6; footprint *= sqrt(2)) {
        size_t level = 0;
        while (level + 1 < levels_of_chase && footprint > capacity[level])
            level++;
        double time_ns = ns[level];
        if (level && footprint < capacity[level - 1] * 1.3)
            time_ns = sqrt(time_ns * ns[level - 1]);
        cases[count] = latency(footprint, time_ns * exp(noise * random_normal_at(seed, count)));
        count++;
    }
    return count;
}

static const struct machine_latency *latency_of(const struct machine *machine, const char *level)
{
    for (uint32_t k = 0; k < machine->latency_count; k++)
        if (!strcmp(machine->latencies[k].level, level))
            return &machine->latencies[k];
    return NULL;
}

/* Two caches of 64 KiB, one of 4 MiB for both: a chase sees one of the former and the latter whole. Of 400 seeds one or
 * two see the end of L1 so blurred that they are no longer sure of its instances; these are others. */
static void latency_finds_the_same_levels(void **state)
{
    static const double capacity[] = {65536, 4 * 1048576.0}, ns[] = {1.5, 5, 90};
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct machine machine;
        struct err err = {0};
        const double noise = seed < 5 ? 0 : 0.03;
        const struct result result =
            a_result(chases(capacity, ns, 3, noise, seed + 50, curve("stream_read", 1, noise, seed, 0)));
        assert_int_equal(ceilings_find(&machine, &result, 1, &err), STATUS_OK);
        if (machine.level_count != 3 || machine.latency_count != 3)
            fail_msg("seed %u: %u levels by bandwidth, %u by latency", (unsigned)seed, machine.level_count,
                     machine.latency_count);
        const struct machine_latency *l1 = latency_of(&machine, "L1"), *l2 = latency_of(&machine, "L2");
        if (!l1 || !l2)
            fail_msg("seed %u: the capacity boundaries were not brought together", (unsigned)seed);
        assert_int_equal(l1->instances, 2);
        assert_int_equal(l2->instances, 1);
        assert_true(l1->upto_bytes >= 65536 / 1.5 && l1->beyond_bytes <= 65536 * 2.1);
        assert_true(l1->confidence > 0.9);
        assert_true(l1->ci_rel > 0.01 && l1->ci_rel < 0.03);
        for (uint32_t k = 0; k < 3; k++)
            if (fabs(machine.levels[k].latency_ns / ns[k] - 1) > 0.05)
                fail_msg("seed %u: level %u takes %g ns", (unsigned)seed, k, machine.levels[k].latency_ns);
        assert_non_null(strstr(machine.levels[0].latency_source, "same capacity boundary"));
        assert_null(machine_problem(&machine));
    }
}

/* The chases see nothing at 4 MiB, but a capacity boundary at 512 KiB (a TLB, say): neither is made to fit. */
static void levels_that_disagree(void **state)
{
    static const double capacity[] = {65536, 524288}, ns[] = {1.5, 12, 90};
    struct machine machine;
    struct err err = {0};
    (void)state;
    const struct result result = a_result(chases(capacity, ns, 3, 0.02, 3, curve("stream_read", 1, 0.02, 4, 0)));
    assert_int_equal(ceilings_find(&machine, &result, 1, &err), STATUS_OK);
    assert_int_equal(machine.level_count, 3);
    assert_int_equal(machine.latency_count, 3);
    assert_non_null(latency_of(&machine, "L1"));
    assert_null(latency_of(&machine, "L2"));
    assert_string_equal(machine.latencies[1].level, "");
    assert_int_equal(machine.latencies[1].instances, 0);
    assert_true(machine.latencies[1].upto_bytes >= 524288 / 1.5 && machine.latencies[1].beyond_bytes <= 524288 * 2.1);
    assert_non_null(strstr(machine.levels[1].latency_source, "no capacity boundary"));
}

/* A neighbour that hits single cases moves no capacity boundary, and of two at one footprint the better one counts. */
static void neighbours_make_no_levels(void **state)
{
    static const double capacity[] = {65536, 4 * 1048576.0}, ns[] = {1.5, 5, 90};
    struct machine machine;
    struct err err = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        size_t count = chases(capacity, ns, 3, 0.02, seed, curve("stream_read", 1, 0.02, seed, 0));
        for (size_t k = 3; k < count; k += 6) { /* every sixth case takes three times as long */
            cases[k].bytes_per_s /= 3;
            cases[k].stats.median *= 3;
        }
        /* and a third of all have a median that is twice too long, but fast samples among them */
        for (size_t k = 0; k < count; k++) {
            cases[k].stats.p05 = cases[k].stats.median;
            if (k % 3 == 1) {
                cases[k].bytes_per_s /= 2;
                cases[k].stats.median *= 2;
            }
        }
        const struct result result = a_result(count);
        assert_int_equal(ceilings_find(&machine, &result, 1, &err), STATUS_OK);
        if (machine.level_count != 3 || machine.latency_count != 3)
            fail_msg("seed %u: %u levels by bandwidth, %u by latency", (unsigned)seed, machine.level_count,
                     machine.latency_count);
    }
}

static void test_traffic(void **state)
{
    static const struct {
        const char *kernel;
        double read, write, rate;
    } rows[] = {{"stream_write", 0, 1, 300e9},
                {"stream_copy", 0.5, 0.5, 400e9},
                {"stream_triad", 2.0 / 3, 1.0 / 3, 500e9},
                {"mixed", 0.8, 0.2, 900e9}};
    struct machine machine;
    struct err err = {0};
    size_t count = curve("stream_read", 1, 0, 1, 0);
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        cases[count] = at_rate(rows[k].kernel, 65536, rows[k].rate);
        cases[count].work.read_bytes = 65536 * rows[k].read;
        cases[count++].work.write_bytes = 65536 * rows[k].write;
    }
    const struct result result = a_result(count);
    assert_int_equal(ceilings_find(&machine, &result, 1, &err), STATUS_OK);
    const struct machine_level *l1 = &machine.levels[0];
    assert_near(l1->bandwidth.measured, 1e12, 1);
    assert_near(l1->traffic[TRAFFIC_READ].measured, 1e12, 1);
    assert_near(l1->traffic[TRAFFIC_WRITE].measured, 300e9, 1);
    assert_near(l1->traffic[TRAFFIC_COPY].measured, 400e9, 1);
    assert_near(l1->traffic[TRAFFIC_TRIAD].measured, 500e9, 1);
    assert_near(machine.levels[2].traffic[TRAFFIC_WRITE].measured, 0, 0);
    assert_near(l1->capacity_low_bytes, 131072, 131072 * 0.5);
    assert_true(l1->capacity_low_bytes < l1->capacity_bytes);
}

static void test_figures(void **state)
{
    static const struct result_metric per_clock[] = {{"bytes_per_clock_per_cu", "B/clk", 128}};
    struct machine machine;
    struct err err = {0};
    size_t count = curve("stream_read", 1, 0, 1, 0);
    (void)state;
    for (int k = 0; k < 2; k++) {
        cases[count] = at_rate("lds_read", 65536, NAN);
        cases[count].id = k ? "lds_read/WIDTH=16;mode=hot" : "lds_read/WIDTH=4;mode=hot";
        cases[count].stats = (struct summary){.median = 100, .ci95 = {99, 101}};
        cases[count].items_per_s = k ? 2e12 : 1e12;
        cases[count].metrics = per_clock;
        cases[count++].metric_count = 1;
    }
    struct result result = a_result(count);
    result.calibration.null_batch_ns = 300;
    result.calibration.timer_tick_ns = 10;
    result.calibration.null_host_ns = NAN;
    assert_int_equal(ceilings_find(&machine, &result, 1, &err), STATUS_OK);
    assert_near(machine_figure(&machine, "lds_read")->value, 2e12, 0);
    assert_string_equal(machine_figure(&machine, "lds_read")->source, "lds_read/WIDTH=16;mode=hot");
    assert_near(machine_figure(&machine, "lds_read")->ci_rel, 0.01, 1e-12);
    assert_near(machine_figure(&machine, "lds_read_4")->value, 1e12, 0);
    assert_near(machine_figure(&machine, "lds_read_per_clock_per_cu")->value, 128, 0);
    assert_near(machine_figure(&machine, "timer_tick")->value, 10, 0);
    assert_near(machine_figure(&machine, "null_launch")->value, 450, 0);
    assert_near(machine_figure(&machine, "null_launch_queued")->value, 300, 0);
    assert_near(machine_figure(&machine, "events")->value, 150, 0);
    assert_null(machine_figure(&machine, "null_launch_host"));
    assert_null(machine_figure(&machine, "lds_write"));
}

/* A wrong or failed case must not become a ceiling, however fast it was. */
static void test_only_verified(void **state)
{
    (void)state;
    struct machine machine;
    struct err err = {0};
    size_t count = curve("stream_read", 1, 0, 1, 0);
    cases[count] = at_rate("liar", 65536, 9e12);
    cases[count++].verification.verdict = VERIFY_SKIPPED;
    cases[count] = at_rate("broken", 65536, 9e12);
    cases[count++].status = CASE_FAILED;
    cases[count] = compute("fma", "vector_f32", 9e15);
    cases[count++].verification.verdict = VERIFY_FAIL;
    const struct result result = a_result(count);
    assert_int_equal(ceilings_find(&machine, &result, 1, &err), STATUS_OK);
    assert_near(machine.levels[0].bandwidth.measured, 1e12, 1);
    assert_int_equal(machine.unit_count, 0);
}

/* One level when the curve is flat; launch cost at the small end is no cache capacity boundary. */
static void test_flat(void **state)
{
    (void)state;
    struct machine machine;
    struct err err = {0};
    size_t count = 0;
    for (double footprint = 16384; footprint < 300e6; footprint *= sqrt(2)) {
        cases[count] = at_rate("stream_read", footprint, count < 6 ? 2e9 : 20e9);
        count++;
    }
    const struct result result = a_result(count);
    assert_int_equal(ceilings_find(&machine, &result, 1, &err), STATUS_OK);
    assert_int_equal(machine.level_count, 1);
    assert_string_equal(machine.levels[0].name, "DRAM");
    assert_near(machine.levels[0].bandwidth.measured, 20e9, 1);
    assert_null(machine_problem(&machine));
}

static void test_too_little(void **state)
{
    (void)state;
    struct machine machine = {.cus = 77};
    struct err err = {0};
    cases[0] = at_rate("stream_read", 1e6, 1e9);
    cases[1] = at_rate("stream_read", 2e6, 1e9);
    const struct result few = a_result(2), none = a_result(0);
    assert_int_equal(ceilings_find(&machine, &few, 1, &err), ERR_CONFIG);
    assert_int_equal(ceilings_find(&machine, &none, 1, &err), ERR_CONFIG);
    assert_non_null(strstr(err.text, "no memory kernel"));
    assert_int_equal(machine.cus, 77);
}

/* A neighbour can make an interval wider than its median; the machine file must still be one that can be read. */
static void unsure_ceilings_can_be_read_again(void **state)
{
    (void)state;
    struct machine machine = {0}, again = {0};
    struct err err = {0};
    struct result result = {.cases = cases, .case_count = curve("stream_read", 1, 0, 1, 0)};
    for (size_t k = 0; k < result.case_count; k++)
        cases[k].stats.ci95[1] = cases[k].stats.median * 9;
    snprintf(result.device.id, sizeof(result.device.id), "cpu:0");
    snprintf(result.device.name, sizeof(result.device.name), "a CPU");
    snprintf(result.device.arch, sizeof(result.device.arch), "x86-64");
    assert_int_equal(ceilings_find(&machine, &result, 1, &err), STATUS_OK);
    assert_true(machine.levels[0].bandwidth.ci_rel == 1);
    char path[] = "/tmp/rooftile-ceilings-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(machine_write(&machine, path, &err), STATUS_OK);
    assert_int_equal(machine_read(&again, path, &err), STATUS_OK);
    assert_true(again.levels[0].bandwidth.ci_rel == 1);
    assert_near(again.levels[0].capacity_low_bytes, machine.levels[0].capacity_low_bytes, 0);
    assert_near(again.levels[0].traffic[TRAFFIC_READ].measured, 1e12, 1);
    assert_int_equal(again.latency_count, machine.latency_count);
    assert_int_equal(again.figure_count, machine.figure_count);
    unlink(path);
}

/* ---- passes ---- */

static struct result_case timed(const char *id, const char *class, double footprint, double time_ns)
{
    struct result_case c = at_rate("kernel", footprint, footprint / time_ns * 1e9);
    c.id = id;
    c.class = class;
    c.stats.median = time_ns;
    return c;
}

/* What sets a ceiling is measured again until two passes agree, what lies in levels upside down in any case. */
static void passes_settle_ceilings(void **state)
{
    struct result_case first[] = {timed("near", "memory", 1e3, 100), timed("far", "memory", 1e6, 100),
                                  timed("fma", "compute", 100, 100), timed("else", "compute", 100, 100)};
    struct result_case second[] = {timed("near", "memory", 1e3, 105), timed("far", "memory", 1e6, 50),
                                   timed("fma", "compute", 100, 300), timed("else", "compute", 100, 1)};
    struct result before = {.cases = first, .case_count = 4}, after = {.cases = second, .case_count = 4};
    struct machine machine = {
        .level_count = 2,
        .levels = {{.name = "L1", .capacity_bytes = 1e5, .bandwidth = {.measured = 2, .measured_by = "near"}},
                   {.name = "DRAM", .bandwidth = {.measured = 1, .measured_by = "far"}}},
        .unit_count = 1,
        .units = {{.name = "vector_f32", .peak = {.measured = 1, .measured_by = "fma"}}}};
    double other_ns[] = {INFINITY, INFINITY, INFINITY, INFINITY};
    bool again[4];
    (void)state;
    assert_int_equal(ceilings_unsure(again, &machine, &before, other_ns), 3);
    assert_true(again[0] && again[1] && again[2] && !again[3]);
    ceilings_keep_better(second, &before, again, other_ns);
    assert_true(second[0].stats.median == 100 && second[1].stats.median == 50 && second[2].stats.median == 100 &&
                second[3].stats.median == 100);
    assert_true(other_ns[0] == 105 && other_ns[1] == 100 && other_ns[2] == 300 && isinf(other_ns[3]));
    assert_int_equal(ceilings_unsure(again, &machine, &after, other_ns), 2);
    assert_true(!again[0] && again[1] && again[2]);
    ceilings_doubt(&machine, &after, other_ns);
    assert_string_equal(machine.disturbed,
                        "DRAM moved by 50 % between two passes, vector_f32 moved by 67 % between two passes");
    other_ns[1] = 51;
    other_ns[2] = 101;
    assert_int_equal(ceilings_unsure(again, &machine, &after, other_ns), 0);
    machine.levels[1].bandwidth.measured = 3;
    assert_int_equal(ceilings_unsure(again, &machine, &after, other_ns), 2);
    assert_true(again[0] && again[1]);
    second[0].flags = FLAG_INTERFERENCE;
    machine.disturbed[0] = '\0';
    ceilings_doubt(&machine, &after, other_ns);
    assert_string_equal(machine.disturbed, "1 of 4 cases saw interference, DRAM is faster than L1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_settle_ceilings),
        cmocka_unit_test(unsure_ceilings_can_be_read_again),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_neighbour),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_only_verified),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_too_little),
        cmocka_unit_test(latency_finds_the_same_levels),
        cmocka_unit_test(levels_that_disagree),
        cmocka_unit_test(neighbours_make_no_levels),
        cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
