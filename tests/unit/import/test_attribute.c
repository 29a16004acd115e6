/* SPDX-License-Identifier: MIT
 *
 * Which operator launched a kernel; and where a graph replayed it, what a capture or an eager run says.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/import/aggregate.h"

static struct trace trace;

static int empty_trace(void **state)
{
    static const struct import_options options;
    (void)state;
    trace = (struct trace){.options = &options, .unit_ns = 1};
    return 0;
}

static int release_trace(void **state)
{
    (void)state;
    trace_release(&trace);
    return 0;
}

static uint32_t text(struct texts *texts, const char *words)
{
    return texts_add(texts, words, strlen(words));
}

static void op(const char *name, double start, double end, uint32_t thread, uint32_t external)
{
    ARRAY_PUSH(
        trace.operators.items, trace.operators.count,
        (struct host_event){
            .start = start, .end = end, .thread = thread, .id = external, .signature = text(&trace.signatures, name)});
}

/* A runtime call; of a graph's launch the thread is TRACE_NONE. */
static void call(double start, uint32_t thread, uint32_t correlation, const char *kernel)
{
    ARRAY_PUSH(trace.runtime.items, trace.runtime.count,
               (struct host_event){.start = start,
                                   .end = start + 1,
                                   .thread = thread,
                                   .id = correlation,
                                   .signature = TRACE_NONE,
                                   .whole = kernel ? text(&trace.names, kernel) : TRACE_NONE});
}

static void kernel(const char *name, double start, uint32_t correlation, uint32_t external)
{
    ARRAY_PUSH(trace.events, trace.event_count,
               (struct trace_event){.start = start,
                                    .end = start + 5,
                                    .correlation = correlation,
                                    .external = external,
                                    .name = text(&trace.names, name),
                                    .operator= TRACE_NONE,
                                    .call = TRACE_NONE,
                                    .device = (uint16_t)trace_device(&trace, "file", 0)});
}

/* The operator of the event that starts then; "" none, NULL: the event is gone. */
static const char *operator_at(double start)
{
    for (size_t k = 0; k < trace.event_count; k++)
        if (trace.events[k].start == start)
            return trace.events[k].operator== TRACE_NONE ? "" : trace.signatures.items[trace.events[k].operator];
    return NULL;
}

static void innermost_on_the_thread(void **state)
{
    (void)state;
    op("outer", 0, 1000, 1, 1);
    op("inner", 100, 200, 1, 2);
    op("elsewhere", 0, 1000, 2, 3);
    call(150, 1, 11, NULL);
    call(160, 2, 12, NULL);
    call(300, 1, 13, NULL);
    call(2000, 1, 14, NULL);
    kernel("a", 5000, 11, 3); /* the call decides, not the external id */
    kernel("b", 5010, 12, 0);
    kernel("c", 5020, 13, 0);
    kernel("d", 5030, 14, 0);
    kernel("e", 5040, 14, 2);
    trace_attribute(&trace);
    assert_string_equal(operator_at(5000), "inner");
    assert_string_equal(operator_at(5010), "elsewhere");
    assert_string_equal(operator_at(5020), "outer");
    assert_string_equal(operator_at(5030), "");
    assert_string_equal(operator_at(5040), "inner");
}

/* Host clocks round: a child that ends a little late is still a child, one that ends much later is not. */
static void clocks_round(void **state)
{
    (void)state;
    op("outer", 0, 10000, 1, 1);
    op("first", 100, 1000, 1, 2);
    op("late", 900, 1100, 1, 3);
    op("other", 5000, 6000, 1, 4);
    op("astray", 1500, 8000, 1, 5);
    call(950, 1, 11, NULL);
    kernel("a", 50000, 11, 0);
    trace_attribute(&trace);
    assert_string_equal(operator_at(50000), "late");
}

/* It ran here, whoever launched it. */
static void what_began_before_the_recording(void **state)
{
    (void)state;
    op("mm", 0, 100, 1, 1);
    call(10, 1, 11, NULL);
    kernel("known", 500, 11, 0);
    kernel("before", 400, 3, 0);
    trace_attribute(&trace);
    assert_string_equal(operator_at(500), "mm");
    assert_string_equal(operator_at(400), "");
    assert_int_equal(trace.note_count, 0);
}

static void events_that_cannot_be(void **state)
{
    static const double times[][2] = {{5, 4}, {NAN, 4}, {5, INFINITY}, {0, 0}, {5, 6}};
    (void)state;
    trace.path = "file";
    for (size_t k = 0; k < COUNT_OF(times); k++)
        trace_add_gpu(&trace,
                      &(struct gpu_event){.category = "kernel", .name = "k", .start = times[k][0], .end = times[k][1]});
    assert_int_equal(trace.event_count, 5);
    assert_int_equal(COUNT_WHERE(event, trace.events, trace.event_count, event_is_timed(event)), 1);
    assert_int_equal(trace.note_count, 1);
    assert_int_equal(trace.notes[0].count, 4);
}

/* ---- graphs ---- */

/* Two products in a graph that is launched three times; the operator that launched it says nothing of them. */
static void replay(void)
{
    op("replay", 0, 5000, 1, 99);
    for (uint32_t k = 0; k < 3; k++) {
        call(1000.0 * k, TRACE_NONE, 50 + k, NULL);
        kernel("gemm", 10000 + 100 * k, 50 + k, 99);
        kernel("gemm", 10010 + 100 * k, 50 + k, 99);
    }
    trace_attribute(&trace);
}

static void capture(const char *first, const char *second)
{
    ARRAY_PUSH(trace.runtime.items, trace.runtime.count,
               (struct host_event){.start = 0, .end = 1, .thread = 1, .id = 1, .whole = TRACE_CAPTURE});
    op(first, 100, 200, 1, 1);
    op(second, 300, 400, 1, 2);
    call(110, 1, 2, "gemm");
    call(310, 1, 3, "gemm");
    trace_attribute(&trace);
}

static void a_graph_alone_says_nothing(void **state)
{
    (void)state;
    replay();
    fill_from_capture(&trace);
    for (uint32_t k = 0; k < 3; k++) {
        assert_string_equal(operator_at(10000 + 100 * k), "");
        assert_string_equal(operator_at(10010 + 100 * k), "");
    }
    assert_int_equal(trace.events[0].source, IMPORT_CAPTURE);
}

static void a_capture_fills_in_by_order(void **state)
{
    (void)state;
    replay();
    capture("up", "down");
    fill_from_capture(&trace);
    for (uint32_t k = 0; k < 3; k++) {
        assert_string_equal(operator_at(10000 + 100 * k), "up");
        assert_string_equal(operator_at(10010 + 100 * k), "down");
        assert_int_equal(trace.events[2 * k].source, IMPORT_CAPTURE);
    }
}

/* Kernels of one operator's call are one call of it, each time the graph is launched. */
static void calls_are_counted(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        call(1000.0 * k, TRACE_NONE, 50 + k, NULL);
        kernel("sort", 10000 + 100 * k, 50 + k, 0);
        kernel("gemm", 10010 + 100 * k, 50 + k, 0);
        kernel("sort", 10020 + 100 * k, 50 + k, 0);
        kernel("gemm", 10030 + 100 * k, 50 + k, 0);
    }
    trace_attribute(&trace);
    op("moe", 0, 100, 1, 1);
    op("moe", 200, 300, 1, 2);
    call(10, 1, 1, "sort");
    call(20, 1, 2, "gemm");
    call(210, 1, 3, "sort");
    call(220, 1, 4, "gemm");
    trace_attribute(&trace);
    fill_from_capture(&trace);
    struct arena arena = {0};
    struct import made = {0};
    aggregate(&made, &trace, &arena);
    assert_int_equal(made.row_count, 1);
    assert_true(made.rows[0].calls == 4 && made.rows[0].total_ns == 40 && made.rows[0].median_ns == 10);
    arena_release(&arena);
}

/* In an eager trace that is read for its shapes, what a graph replayed says nothing. */
static void replays_say_nothing(void **state)
{
    (void)state;
    replay();
    trace.shapes_only = true;
    op("mm", 0, 100, 1, 1);
    call(10, 1, 1, NULL);
    kernel("gemm", 500, 1, 0);
    call(200, TRACE_NONE, 2, NULL);
    kernel("gemm", 600, 2, 0);
    trace_attribute(&trace);
    fill_from_capture(&trace);
    assert_int_equal(trace.event_count, 6);
    assert_string_equal(operator_at(10000), "mm");
    assert_string_equal(operator_at(10010), "mm");
}

/* Two captures with as many of the kernel: where they differ there is no answer. */
static void captures_that_disagree(void **state)
{
    (void)state;
    replay();
    capture("up", "down");
    capture("up", "out");
    fill_from_capture(&trace);
    assert_string_equal(operator_at(10000), "up");
    assert_string_equal(operator_at(10010), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, empty_trace, release_trace)
    const struct CMUnitTest tests[] = {
        TEST(innermost_on_the_thread),
        TEST(clocks_round),
        TEST(what_began_before_the_recording),
        TEST(events_that_cannot_be),
        TEST(a_graph_alone_says_nothing),
        TEST(a_capture_fills_in_by_order),
        TEST(captures_that_disagree),
        TEST(calls_are_counted),
        TEST(replays_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
