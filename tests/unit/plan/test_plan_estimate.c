/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_fixture.h"

static const char chase_text[] =
    "{ 'name': 'chase', 'summary': 's', 'class': 'latency', 'params': { 'footprint': 65536, 'steps': 1e6 },\n"
    "  'code': { 'source': 'chase.hip', 'symbol': 'chase' },\n"
    "  'buffers': { 'ring': { 'type': 'u32', 'count': 'footprint / 4', 'role': 'in', 'fill': { 'gen': 'ring', "
    "'stride': 64 } },\n"
    "               'state': { 'type': 'u32', 'count': 1, 'role': 'out' } },\n"
    "  'launch': { 'grid': [1], 'block': [1], 'args': [ 'ring', 'state' ] },\n"
    "  'work': { 'read': '4 * steps', 'items': 'steps', 'footprint': 'footprint' },\n"
    "  'check': { 'expect': { 'state': '0' } } }";

/* A CPU of 2 threads that nobody has measured. */
static void cpu_world(struct world *world)
{
    world_init(world);
    if (world_kernel(world, 0, chase_text))
        fail_msg("%s", world->err.text);
    world->device = (struct device_facts){.wave = 64,
                                          .cus = 2,
                                          .max_block = 1024,
                                          .lds_bytes = 65536,
                                          .memory_bytes = 0x1p34,
                                          .l2_bytes = 0x1p20,
                                          .backend = "cpu",
                                          .arch = "x86-64"};
    world->machine = (struct machine){0};
    world->options.target_kind = BUILD_CPU;
    world->options.target_arch = "x86-64-v3";
}

static const struct plan_case *planned(struct world *world, const char *members)
{
    if (world_predict(world, members))
        fail_msg("%s", world->err.text);
    if (world->plan->cases[0].state != PLAN_READY)
        fail_msg("%s", world->plan->cases[0].reason);
    return &world->plan->cases[0];
}

static void test_gpu(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    const struct plan_case *only = planned(&world, "'cases': [{'kernel': 'triad', 'params': {'n': 1e8}}]");
    const struct plan_takes *takes = &only->takes;
    /* two buffers of 0.4 GB by one host thread at 2 GB/s, the written one again before it is timed; its expectation */
    assert_true(takes->fill_ns == 0.6e9);
    /* and twice 128 MiB of either read back at 8 GB/s, 67 ms, with seven launches of a millisecond; others take a tenth
     * of what samples do */
    assert_true(takes->verify_ns - 0.1 * takes->measure_ns > 0.267e9);
    assert_true(takes->verify_ns - 0.1 * takes->measure_ns < 0.28e9);
    assert_true(takes->warmup_ns == 0.2e9);
    /* half a second of launches of about a millisecond, each with two probes, and the second timer */
    assert_true(takes->measure_ns > 0.5e9 && takes->measure_ns < 0.65e9);
    assert_true(only->estimate_ns ==
                takes->fill_ns + takes->verify_ns + takes->sense_ns + takes->warmup_ns + takes->measure_ns);
    assert_true(world.plan->estimate_ns == only->estimate_ns);
    arena_release(&world.arena);
}

/* What decides about a chase on a CPU: least time, least samples, noise, the cap. */
static void test_chase(void **state)
{
    static const struct {
        const char *members;
        double machine_ns; /* latency of the only level of a measured machine; 0: no machine */
        double measure_low_ns, measure_high_ns;
    } rows[] = {
        /* 5 ms a launch, 20 samples are precise: the least time counts */
        {"'params': {'footprint': 65536}, 'measure': {'min_time': '0.5 s', 'precision': 0.01}", 0, 0.5e9, 0.51e9},
        /* the noise of a sample takes some 200 of them to a precision of 0.25 % */
        {"'params': {'footprint': 65536}, 'measure': {'min_time': '0.5 s'}", 0, 0.9e9, 1.3e9},
        /* far away a step takes 120 ns, and neighbours make it noisier: the cap ends it */
        {"'params': {'footprint': '1Gi'}, 'measure': {'min_time': '0.5 s', 'max_time': '2 s'}", 0, 2e9, 2e9},
        /* a machine knows its latency: 10 s a launch, and one sample is the least */
        {"'params': {'footprint': 65536}, 'measure': {'min_time': '0.5 s', 'max_time': '2 s'}", 10e3, 10e9, 10.1e9},
        /* one step is shorter than a launch: batches of 2 ms */
        {"'params': {'footprint': 65536, 'steps': 1}, 'measure': {'min_time': '1 ms'}", 0, 0.4e9, 0.5e9},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct world world;
        cpu_world(&world);
        if (rows[k].machine_ns > 0) {
            world.machine.level_count = 1;
            world.machine.levels[0].latency_ns = rows[k].machine_ns;
        }
        const struct plan_case *only =
            planned(&world, arena_printf(&world.arena, "'cases': [{'kernel': 'chase', %s}]", rows[k].members));
        const double time_ns = only->takes.measure_ns;
        if (time_ns < rows[k].measure_low_ns || time_ns > rows[k].measure_high_ns)
            fail_msg("row %zu: %g s of samples", k, time_ns / 1e9);
        assert_true(only->takes.sense_ns == 30e6);
        arena_release(&world.arena);
    }
}

/* A ring is made by one thread at a byte per nanosecond, whatever the device. */
static void test_ring(void **state)
{
    struct world world;
    (void)state;
    cpu_world(&world);
    const struct plan_case *only = planned(&world, "'cases': [{'kernel': 'chase', 'params': {'footprint': 1e8}}]");
    assert_true(fabs(only->takes.fill_ns - 1e8) < 10);
    arena_release(&world.arena);
}

/* The reference's own items and buffers, and ours copied into it. */
static void test_reference(void **state)
{
    struct world small, large;
    (void)state;
    world_init(&small);
    world_init(&large);
    const struct plan_case *few = planned(&small, "'cases': [{'kernel': 'gemm', 'params': {'m': 16}}]");
    const struct plan_case *many = planned(&large, "'cases': [{'kernel': 'gemm', 'params': {'m': 2048}}]");
    assert_non_null(many->reference);
    assert_true(many->takes.verify_ns - 0.1 * many->takes.measure_ns >
                10 * (few->takes.verify_ns - 0.1 * few->takes.measure_ns));
    arena_release(&small.arena);
    arena_release(&large.arena);
}

/* Inputs that are drawn are drawn once more for a last launch; those of an expression are not. */
static void test_other_inputs(void **state)
{
    static const char *const fills[] = {"'i % 7'", "{ 'gen': 'index', 'bound': 7 }", "{ 'gen': 'uniform' }"};
    double verify_ns[3];
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct world world;
        cpu_world(&world);
        const char *text =
            arena_printf(&world.arena,
                         "{ 'name': 'sum', 'summary': 's', 'class': 'memory', 'params': { 'n': 1e8 },\n"
                         "  'code': { 'source': 'sum.hip', 'symbol': 'sum' },\n"
                         "  'buffers': { 'in': { 'type': 'f32', 'count': 'n', 'role': 'in', 'fill': %s },\n"
                         "               'out': { 'type': 'f32', 'count': 1, 'role': 'out' } },\n"
                         "  'launch': { 'grid': [1], 'block': [1], 'args': [ 'in', 'out' ] },\n"
                         "  'work': { 'read': '4 * n' }, 'check': { 'expect': { 'out': '0' } } }",
                         fills[k]);
        if (world_kernel(&world, 0, text))
            fail_msg("%s", world.err.text);
        verify_ns[k] = planned(&world, "'cases': [{'kernel': 'sum'}]")->takes.verify_ns;
        arena_release(&world.arena);
    }
    assert_true(verify_ns[0] == verify_ns[1]);
    /* 1e8 elements at 5 ns by two threads, and the launch */
    assert_true(verify_ns[2] > verify_ns[0] + 0.25e9 && verify_ns[2] < verify_ns[0] + 0.4e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu),       cmocka_unit_test(test_chase),        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_reference), cmocka_unit_test(test_other_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
