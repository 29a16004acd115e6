/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../near.h"
#include "rooftile/roofline.h"

#define KI 1024.0
#define MI (1024.0 * 1024.0)

/* Round rates, so that lower bounds can be checked in the head: 1 byte/s ceilings scaled by 1e9 give nanoseconds. */
static const struct machine machine = {
    .name = "toy",
    .level_count = 3,
    .levels =
        {
            {.name = "L1", .capacity_bytes = 64 * KI, .bandwidth = {.vendor = 1000e9}},
            {.name = "L2", .capacity_bytes = 1 * MI, .bandwidth = {.vendor = 100e9, .measured = 80e9, .ci_rel = 0.01}},
            {.name = "DRAM", .bandwidth = {.vendor = 10e9, .measured = 8e9, .ci_rel = 0.01}},
        },
    .unit_count = 2,
    .units = {{.name = "vector_f32", .peak = {.vendor = 1000e9}},
              {.name = TRANSCENDENTAL_UNIT, .peak = {.vendor = 250e9, .vendor_source = "derived: by hand"}}},
    .link_count = 1,
    .links = {{.name = "peer_link", .rate = {.vendor = 5e9}}},
    .launch_ns = 500,
};

static const struct {
    const char *what;
    struct work work;
    enum cache_mode cache;
    double time_ns;
} floors[] = {
    {"inside L1: every byte crosses L1, nothing else", {64 * KI, 0, 0, 0, 64 * KI, .unit = ""}, CACHE_HOT, 65.536},
    /* 4 MiB twice over: (4 Mi - 64 Ki) * 2 / 80e9 against (4 Mi - 1 Mi - 64 Ki) * 2 / 8e9 */
    {"beyond L2: what cannot stay, each pass", {8 * MI, 0, 0, 0, 4 * MI, .unit = ""}, CACHE_HOT, 770048.0},
    {"beyond L2, two passes at the same time: they may share what they bring",
     {8 * MI, 0, 0, 0, 4 * MI, .shared_by = 2, .unit = ""},
     CACHE_HOT,
     385024.0},
    {"cold, four passes, two at a time", /* as two passes */
     {16 * MI, 0, 0, 0, 4 * MI, .shared_by = 2, .unit = ""},
     CACHE_COLD,
     909312.0},
    {"more that share it than there are passes: all of it, once",
     {8 * MI, 0, 0, 0, 4 * MI, .shared_by = 100, .unit = ""},
     CACHE_COLD,
     524288.0},
    {"cold, one pass: every byte from memory", {64 * KI, 0, 0, 0, 64 * KI, .unit = ""}, CACHE_COLD, 8192.0},
    {"cold: what was written may still sit in a cache",
     {32 * KI, 32 * KI, 0, 0, 64 * KI, .unit = ""},
     CACHE_COLD,
     4096.0},
    /* first pass 4 Mi, second one (4 - 1 - 1/16) Mi */
    {"cold, two passes", {8 * MI, 0, 0, 0, 4 * MI, .unit = ""}, CACHE_COLD, 909312.0},
    {"rotate is cold", {64 * KI, 0, 0, 0, 64 * KI, .unit = ""}, CACHE_ROTATE, 8192.0},
    {"a footprint beyond the bytes moved is cut", {64 * KI, 0, 0, 0, 1024 * MI, .unit = ""}, CACHE_HOT, 65.536},
    {"without footprint only the nearest level is certain", {64 * MI, 0, 0, 0, 0, .unit = ""}, CACHE_HOT, 67108.864},
    {"compute bound", {64, 0, 1e6, 0, 64, .unit = "vector_f32"}, CACHE_HOT, 1000},
    {"few of its operations are exponentials",
     {64, 0, 1e6, 0, 64, .transcendentals = 2e5, .unit = "vector_f32"},
     CACHE_HOT,
     1000},
    {"exponentials at a quarter of the rate",
     {64, 0, 1e6, 0, 64, .transcendentals = 5e5, .unit = "vector_f32"},
     CACHE_HOT,
     2000},
    {"exponentials of a kernel without other work", {64, 0, 0, 0, 64, .transcendentals = 5e5}, CACHE_HOT, 2000},
    {"an unknown unit has no ceiling", {640 * KI, 0, 1e6, 0, 64 * KI, .unit = "matrix_f16"}, CACHE_HOT, 655.36},
    {"nothing known", {0, 0, 0, 0, 0, .unit = ""}, CACHE_HOT, 0},
    {"over a link that the machine does not know", {8 * MI, 0, 0, 0, 8 * MI, .level = "link"}, CACHE_HOT, 0},
    {"over a link that it knows, whatever the caches hold",
     {8 * MI, 0, 0, 0, 8 * MI, .level = "peer_link"},
     CACHE_HOT,
     8 * MI / 5.0},
    {"over a level that it knows", {8e6, 0, 0, 0, 8e6, .level = "DRAM"}, CACHE_COLD, 1e6},
};

static void test_lower_bound(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(floors) / sizeof(floors[0]); k++) {
        struct lower_bound lower_bound;
        lower_bound_compute(&lower_bound, &machine, &floors[k].work, floors[k].cache, NAN);
        if (fabs(lower_bound.time_ns - floors[k].time_ns) > 1e-6 * floors[k].time_ns)
            fail_msg("%s: %.9g ns", floors[k].what, lower_bound.time_ns);
    }
}

#define OVER(bytes, footprint)                                                                                         \
    {                                                                                                                  \
        .read_bytes = (bytes), .footprint_bytes = (footprint)                                                          \
    }

/* The roof is a line of the picture: all bytes over its rate. Data comes from where the cache mode left it. */
static const struct {
    const char *what;
    struct work work;
    enum cache_mode cache;
    bool gpu;
    double time_ns;
    const char *bound;
    double fraction; /* 0: none */
} roofs[] = {
    {"an L1 of a CPU keeps what the launch before left", OVER(64 * KI, 64 * KI), CACHE_HOT, false, 2e3, "L1", 0.032768},
    {"that of a GPU starts empty", OVER(64 * KI, 64 * KI), CACHE_HOT, true, 2e3, "L2", 0.4096},
    {"but holds what the launch goes over again", OVER(640 * KI, 64 * KI), CACHE_HOT, true, 2e3, "L1", 0.32768},
    {"unless each compute unit goes over all of it",
     {.read_bytes = 640 * KI, .footprint_bytes = 64 * KI, .shared_by = 8},
     CACHE_HOT,
     true,
     1e4,
     "L2",
     0.8192},
    {"beyond L2, however much could stay there", OVER(1.5 * MI, 1.5 * MI), CACHE_HOT, false, 4e5, "DRAM", 0.49152},
    {"on the line", OVER(8e6, 8e6), CACHE_HOT, false, 1e6, "DRAM", 1},
    {"a little above a measured line", OVER(8e6, 8e6), CACHE_HOT, false, 1e6 / 1.03, "DRAM", 1.03},
    {"above it: caches kept some", OVER(8e6, 8e6), CACHE_HOT, false, 1e6 / 1.05, "L2", 0.105},
    {"stores beyond the capacity are written back",
     {.write_bytes = 8e6, .footprint_bytes = 8e6},
     CACHE_HOT,
     false,
     2e6,
     "DRAM",
     0.5},
    {"cold", OVER(64 * KI, 64 * KI), CACHE_COLD, false, 1e4, "DRAM", 0.8192},
    {"cold, many passes", OVER(64 * MI, 64 * KI), CACHE_COLD, false, 1e5, "L1", 0.67109},
    {"rotated stores that stayed in L2 for once",
     {.write_bytes = 64 * KI, .footprint_bytes = 64 * KI},
     CACHE_ROTATE,
     false,
     4e3,
     "L2",
     0.2048},
    {"mostly a launch", OVER(64 * KI, 64 * KI), CACHE_HOT, false, 900, "launch", 0},
    {"arithmetic", {64 * KI, 0, 1e7, 0, 64 * KI, .unit = "vector_f32"}, CACHE_HOT, false, 2e4, "vector_f32", 0.5},
    {"left of the ridge of its level", {8e6, 0, 9e8, 0, 8e6, .unit = "vector_f32"}, CACHE_HOT, false, 2e6, "DRAM", 0.5},
    {"exponentials", {.transcendentals = 1e6}, CACHE_HOT, false, 8e3, "transcendental", 0.5},
    {"a link", {.read_bytes = 8e6, .level = "peer_link"}, CACHE_HOT, false, 2e6, "peer_link", 0.8},
    {"a link that the machine does not know", {.read_bytes = 8e6, .level = "link"}, CACHE_HOT, false, 2e6, "link", 0},
    {"nothing known", {.unit = ""}, CACHE_HOT, false, 1100, "", 0},
    {"nothing known, and short", {.unit = ""}, CACHE_HOT, false, 900, "launch", 0},
};

static void test_roof(void **state)
{
    (void)state;
    struct machine gpu = machine;
    snprintf(gpu.arch, sizeof(gpu.arch), "gfx942");
    gpu.cus = 4;
    for (size_t k = 0; k < sizeof(roofs) / sizeof(roofs[0]); k++) {
        const struct work *work = &roofs[k].work;
        struct lower_bound bound;
        lower_bound_compute(&bound, roofs[k].gpu ? &gpu : &machine, work, roofs[k].cache, roofs[k].time_ns);
        const double fraction = lower_bound_fraction(&bound, work, roofs[k].time_ns);
        const bool right = roofs[k].fraction > 0 ? fabs(fraction / roofs[k].fraction - 1) < 1e-3 : isnan(fraction);
        if (!right || strcmp(bound.bound, roofs[k].bound) ||
            strcmp(bound.ceiling_name, roofs[k].fraction > 0 ? bound.bound : ""))
            fail_msg("%s: %.5g of '%s' (%s)", roofs[k].what, fraction, bound.bound, bound.ceiling_name);
    }
}

/* A level whose rate nobody knows still bounds what it holds; no share of it is known. */
static void test_roof_without_a_rate(void **state)
{
    (void)state;
    const struct work work = {512 * KI, 0, 0, 0, 512 * KI, .unit = ""};
    struct machine gap = machine;
    struct lower_bound bound;
    gap.levels[1].bandwidth = (struct ceiling){0};
    lower_bound_compute(&bound, &gap, &work, CACHE_HOT, 3e4);
    assert_string_equal(bound.bound, "L2");
    assert_string_equal(bound.ceiling_name, "");
    assert_true(isnan(lower_bound_fraction(&bound, &work, 3e4)));
}

static void test_lower_bound_details(void **state)
{
    (void)state;
    const struct work work = {8e6, 0, 4e9, 0, 8e6, .unit = "vector_f32"};
    struct lower_bound lower_bound;
    lower_bound_compute(&lower_bound, &machine, &work, CACHE_COLD, NAN);
    assert_near(lower_bound.intensity, 500, 1e-9);
    assert_near(lower_bound.ridge, 125, 1e-9); /* 1000e9 / 8e9 of DRAM */
    assert_near(lower_bound.memory_ns, 1e6, 1e-3);
    assert_near(lower_bound.compute_ns, 4e6, 1e-3);
    assert_false(lower_bound.bound_is_memory);
    assert_false(lower_bound.ceiling_measured);
    assert_near(lower_bound.ceiling_value, 1000e9, 1);
    assert_near(lower_bound_fraction(&lower_bound, &work, 8e6), 0.5, 1e-12);
    assert_true(isnan(lower_bound_fraction(&lower_bound, &work, 0)));
    const struct work nothing = {0};
    lower_bound_compute(&lower_bound, &machine, &nothing, CACHE_HOT, NAN);
    assert_true(isnan(lower_bound.intensity));
    assert_true(isnan(lower_bound.ridge));
    assert_true(isnan(lower_bound_fraction(&lower_bound, &nothing, 1)));
}

/* The lower bound must grow smoothly with the footprint: no jump where a cache ends. */
static void test_lower_bound_never_steps(void **state)
{
    (void)state;
    double before = 0;
    for (double bytes = 32 * KI; bytes < 8 * MI; bytes += KI) {
        const struct work work = {bytes, 0, 0, 0, bytes, .unit = ""};
        struct lower_bound lower_bound;
        lower_bound_compute(&lower_bound, &machine, &work, CACHE_HOT, NAN);
        assert_true(lower_bound.time_ns >= before);
        if (before > 0)
            assert_true(lower_bound.time_ns - before <= KI / 8e9 * 1e9 * 1.0001);
        before = lower_bound.time_ns;
    }
}

static const struct {
    const char *what;
    struct work work;
    enum cache_mode cache;
    double time_ns, tick_ns;
    enum plausibility verdict;
} judged[] = {
    {"slower than every ceiling", {8e6, 0, 0, 0, 8e6, .unit = ""}, CACHE_COLD, 1.2e6, 0, PLAUSIBLE},
    {"at the measured ceiling", {8e6, 0, 0, 0, 8e6, .unit = ""}, CACHE_COLD, 1e6, 0, PLAUSIBLE},
    {"3.9 % above: inside 2 % and twice the interval",
     {8e6, 0, 0, 0, 8e6, .unit = ""},
     CACHE_COLD,
     1e6 / 1.039,
     0,
     PLAUSIBLE},
    {"4.1 % above", {8e6, 0, 0, 0, 8e6, .unit = ""}, CACHE_COLD, 1e6 / 1.041, 0, ABOVE_MEASURED_CEILING},
    {"0.9 % above the physical peak",
     {8e6, 0, 0, 0, 8e6, .unit = ""},
     CACHE_COLD,
     8e5 / 1.009,
     0,
     ABOVE_MEASURED_CEILING},
    {"1.1 % above the physical peak", {8e6, 0, 0, 0, 8e6, .unit = ""}, CACHE_COLD, 8e5 / 1.011, 0, IMPOSSIBLE},
    {"a coarse timer explains it",
     {8e6, 0, 0, 0, 8e6, .unit = ""},
     CACHE_COLD,
     8e5 / 1.011,
     1e4,
     ABOVE_MEASURED_CEILING},
    {"two passes at the same time may share what they bring",
     {8 * MI, 0, 0, 0, 4 * MI, .shared_by = 2, .unit = ""},
     CACHE_HOT,
     4e5,
     0,
     PLAUSIBLE},
    {"cold writes may stay in the cache", {0, 5e5, 0, 0, 5e5, .unit = ""}, CACHE_COLD, 1e4, 0, PLAUSIBLE},
    {"rotated writes may not", {0, 5e5, 0, 0, 5e5, .unit = ""}, CACHE_ROTATE, 1e4, 0, IMPOSSIBLE},
    {"a link: what kernels reach on memory says nothing",
     {8e6, 0, 0, 0, 8e6, .level = "link"},
     CACHE_COLD,
     9e5,
     0,
     PLAUSIBLE},
    {"a link: no faster than the memory it ends in",
     {8e6, 0, 0, 0, 8e6, .level = "link"},
     CACHE_COLD,
     7e5,
     0,
     IMPOSSIBLE},
    {"a link: as fast as its data sheet says",
     {8e6, 0, 0, 0, 8e6, .level = "peer_link"},
     CACHE_HOT,
     1.6e6,
     0,
     PLAUSIBLE},
    {"a link: faster than its data sheet", {8e6, 0, 0, 0, 8e6, .level = "peer_link"}, CACHE_HOT, 1.55e6, 0, IMPOSSIBLE},
    {"a quarter of the vector unit's rate, all exponentials",
     {64, 0, 1e6, 0, 64, .transcendentals = 1e6, .unit = "vector_f32"},
     CACHE_HOT,
     3900,
     0,
     IMPOSSIBLE},
    {"compute above peak", {64, 0, 1e6, 0, 64, .unit = "vector_f32"}, CACHE_HOT, 900, 0, IMPOSSIBLE},
};

static void test_judge(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(judged) / sizeof(judged[0]); k++) {
        char why[256];
        const enum plausibility verdict =
            lower_bound_judge(&machine, &judged[k].work, judged[k].cache, judged[k].time_ns, judged[k].tick_ns, why);
        if (verdict != judged[k].verdict || !why[0] != (verdict == PLAUSIBLE))
            fail_msg("%s: verdict %d, '%s'", judged[k].what, (int)verdict, why);
    }
}

/* A card above the boost clock of its data sheet: 5 % more than the vendor peak is possible at a clock 10 % higher. */
static void test_judge_at_a_higher_clock(void **state)
{
    (void)state;
    const struct work work = {64, 0, 1e6, 0, 64, .unit = "vector_f32"};
    struct machine faster = machine;
    char why[256];
    for (uint32_t k = 0; k < faster.unit_count; k++)
        faster.units[k] = (struct machine_unit){.name = "vector_f32", .peak = {.vendor = 1e12}, .clock_hz = 2.5e9};
    assert_int_equal(lower_bound_judge(&faster, &work, CACHE_HOT, 1e3 / 1.05, 0, why), IMPOSSIBLE);
    machine_raise_clock(&faster, 2.75e9);
    assert_int_equal(lower_bound_judge(&faster, &work, CACHE_HOT, 1e3 / 1.05, 0, why), PLAUSIBLE);
    assert_int_equal(lower_bound_judge(&faster, &work, CACHE_HOT, 1e3 / 1.15, 0, why), IMPOSSIBLE);
}

/* What was measured beside a neighbour has a wide interval, which must not excuse 188 % of it. */
static void test_judge_of_a_wide_interval(void **state)
{
    (void)state;
    const struct work work = {8e6, 0, 0, 0, 8e6, .unit = ""};
    struct machine noisy = machine;
    char why[256];
    noisy.levels[2].bandwidth = (struct ceiling){.measured = 8e9, .ci_rel = 0.5};
    assert_int_equal(lower_bound_judge(&noisy, &work, CACHE_COLD, 1e6 / 1.06, 0, why), PLAUSIBLE);
    assert_int_equal(lower_bound_judge(&noisy, &work, CACHE_COLD, 1e6 / 1.88, 0, why), ABOVE_MEASURED_CEILING);
}

/* Below the share that healthy cards reach, with both rates in the sentence; what is unknown is not slow. */
static void test_slow_memory(void **state)
{
    (void)state;
    struct machine sheet = machine, own = machine;
    struct ceiling *named = &sheet.levels[2].bandwidth, *measured = &own.levels[2].bandwidth;
    char why[256];
    snprintf(sheet.title, sizeof(sheet.title), "Toy");
    named->least = 0.75;
    measured->measured = 9e9;
    assert_false(machine_is_slow(&own, &sheet, why));
    assert_string_equal(why, "");
    measured->measured = 5e9;
    assert_true(machine_is_slow(&own, &sheet, why));
    assert_string_equal(why,
                        "the memory is slow: 5.00 GB/s is 50 % of the data sheet's 10.0 GB/s; a healthy Toy reaches "
                        "75 % or more");
    measured->measured = 0;
    assert_false(machine_is_slow(&own, &sheet, why));
    measured->measured = 5e9;
    named->vendor = 0;
    assert_false(machine_is_slow(&own, &sheet, why));
}

static void test_judge_says_why(void **state)
{
    (void)state;
    const struct work work = {8e6, 0, 0, 0, 8e6, .unit = ""};
    char why[256];
    lower_bound_judge(&machine, &work, CACHE_COLD, 4e5, 0, why);
    assert_string_equal(why, "400 us is 2 times as fast as DRAM's vendor peak of 10.0 GB/s allows (at least 800 us)");
    const struct work exponentials = {.transcendentals = 1e6};
    lower_bound_judge(&machine, &exponentials, CACHE_HOT, 2000, 0, why);
    assert_string_equal(
        why, "2.00 us is 2 times as fast as transcendental's derived peak of 250 GOP/s allows (at least 4.00 us)");
}

/* What an item is called does not decide whether it is judged. */
static void test_items(void **state)
{
    static const struct target_facts rates = {.rate_f32 = 64, .rate_bytes = 256, .cpu = 1};
    static const struct {
        const char *item;
        double most; /* in 1 us on two units at 1 GHz */
        bool steps;
    } items[] = {{"B", 512e3, false},        {"bytes", 512e3, false},  {"KiB", 500, false},
                 {"GB", 512e-6, false},      {"FLOP", 1024e3, false},  {"GFLOPs", 1024e-6, false},
                 {"fma", 512e3, false},      {"token", 1024e3, false}, {"", 1024e3, false},
                 {"", 16e3, true},           {"lookup", 16e3, true},   {"B", 512e3, true},
                 {"Kilobyte", 1024e3, false}};
    struct machine limits;
    char why[256];
    (void)state;
    machine_limits(&limits, &rates, 2, 1e9);
    for (size_t k = 0; k < sizeof(items) / sizeof(*items); k++) {
        struct work work = {.items = items[k].most, .steps = items[k].steps};
        snprintf(work.item, sizeof(work.item), "%s", items[k].item);
        assert_int_equal(lower_bound_judge(&limits, &work, CACHE_HOT, 1e3, 0, why), PLAUSIBLE);
        work.items *= 1.02;
        assert_int_equal(lower_bound_judge(&limits, &work, CACHE_HOT, 1e3, 0, why), IMPOSSIBLE);
        assert_int_equal(lower_bound_judge(&machine, &work, CACHE_HOT, 1e3, 0, why),
                         PLAUSIBLE); /* says nothing of them */
    }
    const struct work unknown = {.flops = 2e6, .unit = "matrix_f16"};
    assert_int_equal(lower_bound_judge(&limits, &unknown, CACHE_HOT, 1e3, 0, why), IMPOSSIBLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_lower_bound),
        cmocka_unit_test(test_roof),
        cmocka_unit_test(test_roof_without_a_rate),
        cmocka_unit_test(test_lower_bound_details),
        cmocka_unit_test(test_lower_bound_never_steps),
        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_judge_at_a_higher_clock),
        cmocka_unit_test(test_judge_of_a_wide_interval),
        cmocka_unit_test(test_slow_memory),
        cmocka_unit_test(test_judge_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
