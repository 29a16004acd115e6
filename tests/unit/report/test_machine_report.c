/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/report.h"

/* Two caches and a memory; a chase that agrees on the first and not on the second. */
static struct machine a_machine(void)
{
    struct machine machine = {.name = "cpu:0",
                              .title = "Toy CPU",
                              .arch = "x86-64",
                              .measured = true,
                              .cus = 2,
                              .core_hz = 3e9,
                              .level_count = 3,
                              .unit_count = 2,
                              .latency_count = 3,
                              .figure_count = 2};
    machine.levels[0] = (struct machine_level){.name = "L1",
                                               .capacity_low_bytes = 98304,
                                               .capacity_bytes = 131072,
                                               .capacity_confidence = 0.999,
                                               .bandwidth = {.measured = 1e12, .measured_by = "stream_read/n=1"},
                                               .latency_ns = 1.5};
    machine.levels[0].traffic[TRAFFIC_WRITE].measured = 5e11;
    machine.levels[1] = (struct machine_level){.name = "L2",
                                               .capacity_low_bytes = 786432,
                                               .capacity_bytes = 2097152,
                                               .capacity_confidence = 0.95,
                                               .bandwidth = {.measured = 3e11}};
    machine.levels[2] = (struct machine_level){.name = "DRAM", .bandwidth = {.measured = 2e10}, .latency_ns = 90};
    machine.units[0] =
        (struct machine_unit){.name = "vector_f32",
                              .peak = {.measured = 4e11, .vendor = 5e11, .ci_rel = 0.004, .measured_by = "fma_peak/a"},
                              .held_hz = 2.9e9};
    machine.units[1] =
        (struct machine_unit){.name = "vector_i8", .peak = {.measured = 1e12, .measured_by = "dot_peak/a"}};
    machine.latencies[0] = (struct machine_latency){.upto_bytes = 49152,
                                                    .beyond_bytes = 65536,
                                                    .confidence = 0.999,
                                                    .latency_ns = 1.5,
                                                    .level = "L1",
                                                    .instances = 2};
    machine.latencies[1] =
        (struct machine_latency){.upto_bytes = 4194304, .beyond_bytes = 6291456, .confidence = 0.99, .latency_ns = 40};
    machine.latencies[2] = (struct machine_latency){.latency_ns = 90, .level = "DRAM", .instances = 1};
    machine.figures[0] =
        (struct machine_figure){.name = "lds_read", .value = 1e12, .unit = "B/s", .source = "lds_read/W=4"};
    machine.figures[1] =
        (struct machine_figure){.name = "null_launch", .value = 450, .unit = "ns", .source = "an empty launch"};
    return machine;
}

static void test_machine(void **state)
{
    static const char *const parts[] = {
        "Toy CPU, 2 threads, 3.00 GHz\n",
        "memory             capacity  confidence  read     write  copy  triad  latency\n",
        "L1          96.0 .. 128 KiB      99.9 %     -  500 GB/s     -      -  1.50 ns\n",
        "L2      768 KiB .. 2.00 MiB        95 %     -         -     -      -        -\n",
        "DRAM                      -           -     -         -     -      -  90.0 ns\n",
        "48.0 .. 64.0 KiB      99.9 %  1.50 ns  L1, each of 2\n",
        "4.00 .. 6.00 MiB        99 %  40.0 ns  -\n",
        "beyond           -  90.0 ns  DRAM\n",
        "vector_f32  400 GFLOP/s  0.4 %  2.90 GHz  500 GFLOP/s       80 %  fma_peak\n",
        "vector_i8    1.00 TOP/s                -            -          -  dot_peak\n",
        "lds_read              1.00 TB/s  lds_read\n",
        "null_launch              450 ns  an empty launch\n",
        "L2 ends at 768 KiB .. 2.00 MiB by bandwidth, but latency shows no capacity boundary there",
        "latency rises at 4.00 .. 6.00 MiB, but bandwidth shows no capacity boundary there",
        "uncertain capacity boundaries: L2 (95 %)",
    };
    const struct machine machine = a_machine();
    const struct report_options options = {.columns = 200};
    struct text text = {0};
    (void)state;
    report_machine(&text, &machine, &options);
    for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++)
        if (!strstr(text.data, parts[k]))
            fail_msg("there is no '%s' in\n%s", parts[k], text.data);
    assert_null(strstr(text.data, "L1 ends at"));
    text_release(&text);
}

/* A machine of which only the levels are known, as older files say it. */
static void test_little(void **state)
{
    struct machine machine = {.name = "old", .measured = true, .level_count = 1};
    const struct report_options options = {.columns = 80};
    struct text text = {0};
    (void)state;
    machine.levels[0] = (struct machine_level){.name = "DRAM", .bandwidth = {.measured = 2e10}};
    report_machine(&text, &machine, &options);
    assert_non_null(strstr(text.data, "20.0 GB/s"));
    assert_null(strstr(text.data, "dependent loads up to"));
    assert_null(strstr(text.data, "arithmetic"));
    assert_null(strstr(text.data, "LDS, launches"));
    assert_null(strstr(text.data, "ends at"));
    text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_machine), cmocka_unit_test(test_little)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
