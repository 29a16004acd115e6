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
#include "replay.h"
#include "rooftile/gate.h"
#include "rooftile/rng.h"

#define CASES 24
#define NIGHTS 60

struct nights {
    double ns[CASES][NIGHTS];
    struct gate_series series[CASES];
    struct gate_set set;
};

/* Two classes, even and odd, of quiet cases at sd 0.3 %, with 0.5 % that a class's cases share each night. */
static void fill(struct nights *nights, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t night = 0; night < NIGHTS; night++) {
        const double shared[] = {0.005 * rng_normal(&rng), 0.005 * rng_normal(&rng)};
        for (size_t c = 0; c < CASES; c++)
            nights->ns[c][night] = 1000 * (double)(c + 1) * exp(shared[c % 2] + 0.003 * rng_normal(&rng));
    }
    for (size_t c = 0; c < CASES; c++)
        nights->series[c] = (struct gate_series){.night_ns = nights->ns[c], .class_index = c % 2};
    nights->set = (struct gate_set){nights->series, CASES, NIGHTS, NULL, 2, NULL};
}

static void slow_down(struct nights *nights, size_t c, size_t first, size_t end, double ratio)
{
    for (size_t night = first; night < end; night++)
        nights->ns[c][night] *= ratio;
}

/* What was heard, one line each: "night c3 firm slower tau". */
struct heard {
    char text[4000];
    size_t length;
};

static void hear(void *context, size_t night, bool is_class, size_t index, const struct gate_verdict *verdict)
{
    struct heard *heard = context;
    const size_t room = sizeof(heard->text) - heard->length;
    const int length =
        snprintf(heard->text + heard->length, room, "%zu %s%zu %s %s %u\n", night, is_class ? "class " : "", index,
                 gate_state_name(verdict->state), verdict->slower ? "slower" : "faster", (unsigned)verdict->tau);
    assert_true(length > 0 && (size_t)length < room);
    heard->length += (size_t)length;
}

static void replay(const struct nights *nights, struct gate_verdict *out, struct gate_verdict *classes,
                   struct heard *heard)
{
    const struct gate_options options = gate_defaults();
    *heard = (struct heard){{0}, 0};
    replay_nights(out, classes, &nights->set, &options, hear, heard);
}

/* All but the padding, bit by bit; NaNs alike are the same. */
static void assert_same(const struct gate_verdict *a, const struct gate_verdict *b)
{
    const double x[] = {a->shift,  a->z,         a->baseline_ns, a->sigma,        a->rho,
                        a->common, a->mde_night, a->mde_week,    a->segment.sigma};
    const double y[] = {b->shift,  b->z,         b->baseline_ns, b->sigma,        b->rho,
                        b->common, b->mde_night, b->mde_week,    b->segment.sigma};
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
    static struct nights nights;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    fill(&nights, 1);
    slow_down(&nights, 3, 40, NIGHTS, 1.04);
    slow_down(&nights, 8, 50, NIGHTS, 1 / 1.05);
    replay(&nights, out, classes, &heard);
    assert_string_equal(heard.text, "40 3 provisional slower 40\n"
                                    "41 3 firm slower 40\n"
                                    "50 8 provisional faster 50\n"
                                    "51 8 firm faster 50\n");
    assert_int_equal(out[3].state, GATE_QUIET);
    assert_int_equal(out[3].segment.start, 40);
    assert_near(out[3].segment.sigma, 0.003, 0.0015);
    assert_near(out[3].baseline_ns / 4160, 1, 0.012);
    assert_int_equal(out[3].baseline_n, 19);
    assert_int_equal(out[8].baseline_n, 9);
}

/* One wild night is provisional and leaves no trace; the same night measured again and found quiet is nothing. */
static void test_confirmation(void **state)
{
    (void)state;
    static struct nights nights;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    fill(&nights, 2);
    const double quiet = nights.ns[5][45];
    nights.ns[5][45] *= 1.2;
    replay(&nights, out, classes, &heard);
    assert_string_equal(heard.text, "45 5 provisional slower 45\n");
    nights.ns[5][45] = quiet;
    replay(&nights, out, classes, &heard);
    assert_string_equal(heard.text, "");
}

static void test_suite_wide(void **state)
{
    (void)state;
    static struct nights nights;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    fill(&nights, 3);
    for (size_t c = 0; c < CASES; c += 2)
        slow_down(&nights, c, 30, NIGHTS, 1.06);
    replay(&nights, out, classes, &heard);
    assert_string_equal(heard.text, "30 class 0 provisional slower 30\n31 class 0 firm slower 30\n");
    assert_near(classes[0].baseline_ns, 1.06, 0.015);
    assert_near(classes[1].baseline_ns, 1, 0.015);
    assert_near(out[0].baseline_ns / (1000 * exp(out[0].common)), 1, 0.01);
    assert_near(out[0].common, log(1.06), 0.02);
}

static void test_learning_and_missing(void **state)
{
    (void)state;
    static struct nights nights;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    fill(&nights, 4);
    for (size_t night = 0; night < NIGHTS; night++) {
        if (night < NIGHTS - GATE_LEAST_BASELINE)
            nights.ns[0][night] = NAN; /* six values, tonight's included */
        if (night < NIGHTS - GATE_LEAST_BASELINE - 1)
            nights.ns[1][night] = NAN; /* seven */
        if (night % 3)
            nights.ns[2][night] = NAN; /* every third night, not tonight */
    }
    nights.ns[0][NIGHTS - 1] *= 2;
    slow_down(&nights, 2, 30, NIGHTS, 1.05);
    replay(&nights, out, classes, &heard);
    assert_int_equal(out[0].state, GATE_LEARNING);
    assert_int_equal(out[0].baseline_n, 5);
    assert_true(isnan(out[0].z) && isnan(out[0].mde_week) && !out[0].too_noisy);
    assert_int_equal(out[1].state, GATE_QUIET);
    assert_int_equal(out[2].state, GATE_MISSING);
    assert_int_equal(out[2].segment.start, 30);
    assert_string_equal(heard.text, "30 2 provisional slower 30\n33 2 firm slower 30\n");
}

static void test_breaks(void **state)
{
    (void)state;
    static struct nights nights;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    bool all[NIGHTS] = {false}, own[NIGHTS] = {false};
    fill(&nights, 5);
    all[40] = own[50] = true; /* a new driver; an accepted change of one case */
    for (size_t c = 0; c < CASES; c++)
        slow_down(&nights, c, 40, NIGHTS, c % 3 ? 1.3 : 0.8);
    slow_down(&nights, 7, 50, NIGHTS, 1.5);
    nights.set.breaks = all;
    nights.series[7].breaks = own;
    replay(&nights, out, classes, &heard);
    assert_string_equal(heard.text, "");
    assert_int_equal(out[0].segment.start, 40);
    assert_int_equal(out[7].segment.start, 50);
    assert_int_equal(out[7].baseline_n, 9);
    assert_int_equal(classes[0].segment.start, 40);
    nights.set.breaks = NULL;
    replay(&nights, out, classes, &heard);
    assert_true(heard.length > 200); /* without the break all of it would be news */
}

/* A night with too few cases for a common mode keeps the class's level: nothing looks like a step back. */
static void test_partial_night(void **state)
{
    (void)state;
    static struct nights nights;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    fill(&nights, 6);
    for (size_t c = 0; c < CASES; c += 2)
        slow_down(&nights, c, 30, NIGHTS, 1.06);
    for (size_t c = 6; c < CASES; c++)
        for (size_t night = 45; night < 50; night++)
            nights.ns[c][night] = NAN;
    replay(&nights, out, classes, &heard);
    assert_string_equal(heard.text, "30 class 0 provisional slower 30\n31 class 0 firm slower 30\n");
}

/* No hidden state: night by night, from segments alone, it is the replay. */
static void test_night_is_replay(void **state)
{
    (void)state;
    static struct nights nights;
    struct gate_verdict out[CASES], classes[2], all[CASES], all_classes[2];
    struct gate_segment segments[CASES] = {{0, 0}}, class_segments[2] = {{0, 0}};
    struct err err = {0};
    bool own[NIGHTS] = {false};
    const struct gate_options options = gate_defaults();
    fill(&nights, 7);
    slow_down(&nights, 3, 25, NIGHTS, 1.04);
    slow_down(&nights, 3, 45, NIGHTS, 1.04);
    for (size_t c = 0; c < CASES; c += 2)
        slow_down(&nights, c, 30, NIGHTS, 1.03);
    own[35] = true;
    nights.series[9].breaks = own;
    for (size_t night = 1; night <= NIGHTS; night++) {
        nights.set.nights = night;
        assert_int_equal(gate_night(out, classes, &nights.set, segments, class_segments, &options, &err), STATUS_OK);
        replay_nights(all, all_classes, &nights.set, &options, NULL, NULL);
        for (size_t c = 0; c < CASES; c++) {
            assert_same(&out[c], &all[c]);
            segments[c] = out[c].segment;
        }
        for (size_t c = 0; c < 2; c++) {
            assert_same(&classes[c], &all_classes[c]);
            class_segments[c] = classes[c].segment;
        }
    }
    assert_int_equal(out[3].segment.start, 45);
}

/* The order of the series is none of their business. */
static void test_order(void **state)
{
    (void)state;
    static struct nights nights, turned;
    struct gate_verdict out[CASES], classes[2], turned_out[CASES], turned_classes[2];
    struct heard heard;
    fill(&nights, 8);
    slow_down(&nights, 3, 40, NIGHTS, 1.04);
    turned = nights;
    for (size_t c = 0; c < CASES; c++)
        turned.series[c] = nights.series[CASES - 1 - c];
    turned.set.series = turned.series;
    replay(&nights, out, classes, &heard);
    replay(&turned, turned_out, turned_classes, &heard);
    for (size_t c = 0; c < CASES; c++)
        assert_same(&out[c], &turned_out[CASES - 1 - c]);
    assert_same(&classes[0], &turned_classes[0]);
    assert_same(&classes[1], &turned_classes[1]);
}

static void test_too_noisy(void **state)
{
    (void)state;
    static struct nights nights;
    struct gate_verdict out[CASES], classes[2];
    struct heard heard;
    struct rng rng;
    fill(&nights, 9);
    rng_init(&rng, 9);
    for (size_t night = 0; night < NIGHTS; night++)
        nights.ns[4][night] *= exp(0.06 * rng_normal(&rng));
    replay(&nights, out, classes, &heard);
    assert_true(out[4].too_noisy && out[4].mde_week > 0.1 && out[4].mde_night > out[4].mde_week);
    assert_false(out[6].too_noisy);
    assert_near(gate_mde(0.01, 1, 0.01), expm1(0.065), 1e-15);
    assert_near(gate_mde(0.01, 7, 0.01), expm1(0.033), 1e-15);
    assert_near(gate_mde(0, 7, 0.01), expm1(log(1.01) + 0.7 * 0.002), 1e-15);
}

static void test_refused(void **state)
{
    (void)state;
    static struct nights nights;
    static const double bad[] = {0, -5, INFINITY};
    struct gate_verdict out[CASES], classes[2];
    struct gate_segment segments[CASES] = {{0, 0}};
    struct gate_options options = gate_defaults();
    struct err err = {0};
    fill(&nights, 10);
    const double good = nights.ns[2][9];
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        nights.ns[2][9] = bad[k];
        assert_int_equal(gate_night(out, classes, &nights.set, NULL, NULL, &options, &err), ERR_CONFIG);
        assert_non_null(strstr(err.text, "series 2: night 9"));
    }
    nights.ns[2][9] = good;
    segments[3].start = NIGHTS;
    assert_int_equal(gate_night(out, classes, &nights.set, segments, NULL, &options, &err), ERR_CONFIG);
    nights.series[1].class_index = 2;
    assert_int_equal(gate_night(out, classes, &nights.set, NULL, NULL, &options, &err), ERR_CONFIG);
    nights.series[1].class_index = 1;
    options.threshold = NAN;
    assert_int_equal(gate_night(out, classes, &nights.set, NULL, NULL, &options, &err), ERR_CONFIG);
    options = gate_defaults();
    nights.set.nights = 0;
    assert_int_equal(gate_night(out, classes, &nights.set, NULL, NULL, &options, &err), ERR_CONFIG);
    nights.set.nights = NIGHTS;
    assert_int_equal(gate_night(out, classes, &nights.set, NULL, NULL, &options, &err), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_confirmation),
        cmocka_unit_test(test_suite_wide),
        cmocka_unit_test(test_learning_and_missing),
        cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_partial_night),
        cmocka_unit_test(test_night_is_replay),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_too_noisy),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
