/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../near.h"
#include "../random.h"
#include "replay.h"
#include "rooftile/gate.h"

#define CASES 24
#define RUNS 60

struct runs {
    double ns[CASES][RUNS];
    struct gate_series series[CASES];
    struct gate_set set;
};

/* Two classes, even and odd, of quiet cases at sd 0.3 %, with 0.5 % that a class's cases share each run. */
static void fill(struct runs *runs, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t run = 0; run < RUNS; run++) {
        const double shared[] = {0.005 * random_normal(&rng), 0.005 * random_normal(&rng)};
        for (size_t c = 0; c < CASES; c++)
            runs->ns[c][run] = 1000 * (double)(c + 1) * exp(shared[c % 2] + 0.003 * random_normal(&rng));
    }
    for (size_t c = 0; c < CASES; c++)
        runs->series[c] = (struct gate_series){.run_ns = runs->ns[c], .class_index = c % 2};
    runs->set = (struct gate_set){runs->series, CASES, RUNS, NULL, 2, NULL};
}

static void slow_down(struct runs *runs, size_t c, size_t first, size_t end, double ratio)
{
    for (size_t run = first; run < end; run++)
        runs->ns[c][run] *= ratio;
}

/* What was heard, one line each: "run c3 confirmed slower tau". */
struct heard {
    char text[4000];
    size_t length;
};

static void hear(void *context, size_t run, bool is_class, size_t index, const struct gate_verdict *verdict)
{
    struct heard *heard = context;
    const size_t room = sizeof(heard->text) - heard->length;
    const int length =
        snprintf(heard->text + heard->length, room, "%zu %s%zu %s %s %u\n", run, is_class ? "class " : "", index,
                 gate_state_names[verdict->state], verdict->slower ? "slower" : "faster", (unsigned)verdict->tau);
    assert_true(length > 0 && (size_t)length < room);
    heard->length += (size_t)length;
}

static void replay(const struct runs *runs, struct gate_verdict *out, struct gate_verdict *classes, struct heard *heard)
{
    const struct gate_options options = gate_defaults();
    *heard = (struct heard){{0}, 0};
    replay_runs(out, classes, &runs->set, &options, hear, heard);
}

/* All but the padding, bit by bit; NaNs alike are the same. */
static void assert_same(const struct gate_verdict *a, const struct gate_verdict *b)
{
    const double x[] = {a->shift, a->z, a->baseline_ns, a->sigma, a->common, a->mde_run, a->mde_week, a->segment.sigma};
    const double y[] = {b->shift, b->z, b->baseline_ns, b->sigma, b->common, b->mde_run, b->mde_week, b->segment.sigma};
    assert_memory_equal(x, y, sizeof(x));
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->slower, b->slower);
    assert_int_equal(a->tau, b->tau);
    assert_int_equal(a->k, b->k);
    assert_int_equal(a->baseline_n, b->baseline_n);
    assert_int_equal(a->too_noisy, b->too_noisy);
    assert_int_equal(a->segment.start, b->segment.start);
}

static void test_step(void **state)
{
    (void)state;
    static struct runs runs;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    fill(&runs, 1);
    slow_down(&runs, 3, 40, RUNS, 1.04);
    slow_down(&runs, 8, 50, RUNS, 1 / 1.05);
    replay(&runs, out, classes, &heard);
    assert_string_equal(heard.text, "40 3 tentative slower 40\n"
                                    "41 3 confirmed slower 40\n"
                                    "50 8 tentative faster 50\n"
                                    "51 8 confirmed faster 50\n");
    assert_int_equal(out[3].state, GATE_QUIET);
    assert_int_equal(out[3].segment.start, 40);
    assert_near(out[3].segment.sigma, 0.003, 0.0015);
    assert_near(out[3].baseline_ns / 4160, 1, 0.012);
    assert_int_equal(out[3].baseline_n, 19);
    assert_int_equal(out[8].baseline_n, 9);
}

/* One wild run is tentative and leaves no trace; the same run measured again and found quiet is nothing. */
static void test_confirmation(void **state)
{
    (void)state;
    static struct runs runs;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    fill(&runs, 2);
    const double quiet = runs.ns[5][45];
    runs.ns[5][45] *= 1.2;
    replay(&runs, out, classes, &heard);
    assert_string_equal(heard.text, "45 5 tentative slower 45\n");
    runs.ns[5][45] = quiet;
    replay(&runs, out, classes, &heard);
    assert_string_equal(heard.text, "");
}

static void test_suite_wide(void **state)
{
    (void)state;
    static struct runs runs;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    fill(&runs, 3);
    for (size_t c = 0; c < CASES; c += 2)
        slow_down(&runs, c, 30, RUNS, 1.06);
    replay(&runs, out, classes, &heard);
    assert_string_equal(heard.text, "30 class 0 tentative slower 30\n31 class 0 confirmed slower 30\n");
    assert_near(classes[0].baseline_ns, 1.06, 0.015);
    assert_near(classes[1].baseline_ns, 1, 0.015);
    assert_near(out[0].baseline_ns / (1000 * exp(out[0].common)), 1, 0.01);
    assert_near(out[0].common, log(1.06), 0.02);
}

static void test_learning_and_missing(void **state)
{
    (void)state;
    static struct runs runs;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    fill(&runs, 4);
    for (size_t run = 0; run < RUNS; run++) {
        if (run < RUNS - GATE_LEAST_BASELINE)
            runs.ns[0][run] = NAN; /* six values, this run's included */
        if (run < RUNS - GATE_LEAST_BASELINE - 1)
            runs.ns[1][run] = NAN; /* seven */
        if (run % 3)
            runs.ns[2][run] = NAN; /* every third run, not this run */
    }
    runs.ns[0][RUNS - 1] *= 2;
    slow_down(&runs, 2, 30, RUNS, 1.05);
    replay(&runs, out, classes, &heard);
    assert_int_equal(out[0].state, GATE_LEARNING);
    assert_int_equal(out[0].baseline_n, 5);
    assert_true(isnan(out[0].z) && isnan(out[0].mde_week) && !out[0].too_noisy);
    assert_int_equal(out[1].state, GATE_QUIET);
    assert_int_equal(out[2].state, GATE_MISSING);
    assert_int_equal(out[2].segment.start, 30);
    assert_string_equal(heard.text, "30 2 tentative slower 30\n33 2 confirmed slower 30\n");
}

static void test_breaks(void **state)
{
    (void)state;
    static struct runs runs;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    bool all[RUNS] = {false}, own[RUNS] = {false};
    fill(&runs, 5);
    all[40] = own[50] = true; /* a new driver; an accepted change of one case */
    for (size_t c = 0; c < CASES; c++)
        slow_down(&runs, c, 40, RUNS, c % 3 ? 1.3 : 0.8);
    slow_down(&runs, 7, 50, RUNS, 1.5);
    runs.set.breaks = all;
    runs.series[7].breaks = own;
    replay(&runs, out, classes, &heard);
    assert_string_equal(heard.text, "");
    assert_int_equal(out[0].segment.start, 40);
    assert_int_equal(out[7].segment.start, 50);
    assert_int_equal(out[7].baseline_n, 9);
    assert_int_equal(classes[0].segment.start, 40);
    runs.set.breaks = NULL;
    replay(&runs, out, classes, &heard);
    assert_true(heard.length > 200); /* without the break all of it would be news */
}

/* A run with too few cases for a common mode keeps the class's level: nothing looks like a step back. */
static void test_partial_run(void **state)
{
    (void)state;
    static struct runs runs;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    fill(&runs, 6);
    for (size_t c = 0; c < CASES; c += 2)
        slow_down(&runs, c, 30, RUNS, 1.06);
    for (size_t c = 6; c < CASES; c++)
        for (size_t run = 45; run < 50; run++)
            runs.ns[c][run] = NAN;
    replay(&runs, out, classes, &heard);
    assert_string_equal(heard.text, "30 class 0 tentative slower 30\n31 class 0 confirmed slower 30\n");
}

/* No hidden state: run by run, from segments alone, it is the replay. */
static void test_run_is_replay(void **state)
{
    (void)state;
    static struct runs runs;
    struct gate_verdict out[CASES] = {0}, classes[2] = {0}, all[CASES], all_classes[2];
    struct err err = {0};
    bool own[RUNS] = {false};
    const struct gate_options options = gate_defaults();
    fill(&runs, 7);
    slow_down(&runs, 3, 25, RUNS, 1.04);
    slow_down(&runs, 3, 45, RUNS, 1.04);
    for (size_t c = 0; c < CASES; c += 2)
        slow_down(&runs, c, 30, RUNS, 1.03);
    own[35] = true;
    runs.series[9].breaks = own;
    for (size_t run = 1; run <= RUNS; run++) {
        runs.set.runs = run;
        assert_int_equal(gate_run(out, classes, &runs.set, &options, &err), STATUS_OK);
        replay_runs(all, all_classes, &runs.set, &options, NULL, NULL);
        for (size_t c = 0; c < CASES; c++)
            assert_same(&out[c], &all[c]);
        for (size_t c = 0; c < 2; c++)
            assert_same(&classes[c], &all_classes[c]);
    }
    assert_int_equal(out[3].segment.start, 45);
}

/* The order of the series is none of their business. */
static void test_order(void **state)
{
    (void)state;
    static struct runs runs, turned;
    struct gate_verdict out[CASES], classes[2], turned_out[CASES], turned_classes[2];
    struct heard heard;
    fill(&runs, 8);
    slow_down(&runs, 3, 40, RUNS, 1.04);
    turned = runs;
    for (size_t c = 0; c < CASES; c++)
        turned.series[c] = runs.series[CASES - 1 - c];
    turned.set.series = turned.series;
    replay(&runs, out, classes, &heard);
    replay(&turned, turned_out, turned_classes, &heard);
    for (size_t c = 0; c < CASES; c++)
        assert_same(&out[c], &turned_out[CASES - 1 - c]);
    assert_same(&classes[0], &turned_classes[0]);
    assert_same(&classes[1], &turned_classes[1]);
}

static void test_too_noisy(void **state)
{
    (void)state;
    static struct runs runs;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    struct rng rng;
    fill(&runs, 9);
    rng_init(&rng, 9);
    for (size_t run = 0; run < RUNS; run++)
        runs.ns[4][run] *= exp(0.06 * random_normal(&rng));
    replay(&runs, out, classes, &heard);
    assert_true(out[4].too_noisy && out[4].mde_week > 0.1 && out[4].mde_run > out[4].mde_week);
    assert_false(out[6].too_noisy);
    assert_near(gate_mde(0.01, 1, 0.01), expm1(0.065), 1e-15);
    assert_near(gate_mde(0.01, 7, 0.01), expm1(0.033), 1e-15);
    assert_near(gate_mde(0, 7, 0.01), expm1(log(1.01) + 0.7 * 0.002), 1e-15);
}

static void test_refused(void **state)
{
    (void)state;
    static struct runs runs;
    static const double bad[] = {0, -5, INFINITY};
    struct gate_verdict out[CASES] = {0}, classes[2] = {0};
    struct gate_options options = gate_defaults();
    struct err err = {0};
    fill(&runs, 10);
    const double good = runs.ns[2][9];
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        runs.ns[2][9] = bad[k];
        assert_int_equal(gate_run(out, classes, &runs.set, &options, &err), ERR_CONFIG);
        assert_non_null(strstr(err.text, "series 2: run 9"));
    }
    runs.ns[2][9] = good;
    out[3].segment.start = RUNS;
    assert_int_equal(gate_run(out, classes, &runs.set, &options, &err), ERR_CONFIG);
    out[3].segment.start = 0;
    runs.series[1].class_index = 2;
    assert_int_equal(gate_run(out, classes, &runs.set, &options, &err), ERR_CONFIG);
    runs.series[1].class_index = 1;
    options.threshold = NAN;
    assert_int_equal(gate_run(out, classes, &runs.set, &options, &err), ERR_CONFIG);
    options = gate_defaults();
    runs.set.runs = 0;
    assert_int_equal(gate_run(out, classes, &runs.set, &options, &err), ERR_CONFIG);
    runs.set.runs = RUNS;
    assert_int_equal(gate_run(out, classes, &runs.set, &options, &err), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step),          cmocka_unit_test(test_confirmation),
        cmocka_unit_test(test_suite_wide),    cmocka_unit_test(test_learning_and_missing),
        cmocka_unit_test(test_breaks),        cmocka_unit_test(test_partial_run),
        cmocka_unit_test(test_run_is_replay), cmocka_unit_test(test_order),
        cmocka_unit_test(test_too_noisy),     cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
