/* SPDX-License-Identifier: MIT
 *
 * Simulated fleets: what of a slow device is found, how often a healthy one is called slow. A fleet of n devices has
 * METRICS metrics, each with a spread of its own from device to device that no run moves.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../random.h"
#include "rooftile/arena.h"
#include "rooftile/outlier.h"

enum { METRICS = 6, MOST = 10000 };

static double values[MOST];
static struct outlier out[MOST];

static void draw(struct rng *rng, size_t count, double sd)
{
    for (size_t k = 0; k < count; k++)
        values[k] = 7 + sd * random_normal(rng);
}

/* How many of all devices are called slow in some metric. */
static double false_share(uint64_t seed, size_t count, double sd, size_t fleets)
{
    const struct outlier_rule rule = outlier_defaults(METRICS);
    bool *slow = calloc(count, sizeof(*slow));
    size_t called = 0;
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t f = 0; f < fleets; f++) {
        for (size_t k = 0; k < count; k++)
            slow[k] = false;
        for (int m = 0; m < METRICS; m++) {
            struct outlier_modes modes;
            draw(&rng, count, sd);
            outliers_judge(out, &modes, values, count, NAN, &rule);
            for (size_t k = 0; k < count; k++)
                slow[k] = slow[k] || out[k].slow || modes.two;
        }
        for (size_t k = 0; k < count; k++)
            called += slow[k];
    }
    free(slow);
    return (double)called / (double)(count * fleets);
}

/* Of devices that are this much slower in one metric, the share that is found. */
static double found_share(uint64_t seed, size_t count, double sd, double slower, size_t fleets)
{
    const struct outlier_rule rule = outlier_defaults(METRICS);
    size_t found = 0;
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t f = 0; f < fleets; f++) {
        struct outlier_modes modes;
        draw(&rng, count, sd);
        values[f % count] += log1p(slower);
        outliers_judge(out, &modes, values, count, NAN, &rule);
        found += out[f % count].slow;
    }
    return (double)found / (double)fleets;
}

static void test_healthy_spread(void **state)
{
    (void)state;
    assert_true(false_share(1, 8, 0.005, 1000) <= 0.001);
    assert_true(false_share(2, 64, 0.005, 60) <= 0.001);
    assert_true(false_share(3, MOST, 0.005, 2) <= 0.001);
    assert_true(found_share(4, 8, 0.005, 0.05, 1000) >= 0.95);
    assert_true(found_share(5, 64, 0.005, 0.05, 200) >= 0.95);
    assert_true(found_share(6, MOST, 0.005, 0.05, 4) >= 0.95);
}

/* What is believed of noisier fleets (docs/fleet.md). */
static void test_smallest_found(void **state)
{
    static const struct {
        size_t count;
        double sd, most_false;
    } fleets[] = {{8, 0.01, 0.01},   {8, 0.02, 0.05},   {16, 0.01, 0.003},
                  {16, 0.02, 0.004}, {64, 0.01, 0.001}, {64, 0.02, 0.001}};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(fleets); k++) {
        const double share = false_share(7 + k, fleets[k].count, fleets[k].sd, 8000 / fleets[k].count / 4);
        double slower = 0.03;
        while (slower < 0.6 && found_share(17 + k, fleets[k].count, fleets[k].sd, slower, 200) < 0.95)
            slower += 0.005;
        print_message(
            "%zu devices, sd %.1f %%: %.1f of 1000 healthy ones called slow; 95 %% found from %.1f %% slower\n",
            fleets[k].count, fleets[k].sd * 100, share * 1000, slower * 100);
        assert_true(share <= fleets[k].most_false);
        assert_true(slower < 0.6);
    }
}

static void test_modes(void **state)
{
    const struct outlier_rule rule = outlier_defaults(METRICS);
    struct outlier_modes modes;
    struct rng rng;
    (void)state;
    rng_init(&rng, 30);
    draw(&rng, 64, 0.005);
    for (size_t k = 0; k < 16; k++)
        values[k * 4] += log(4.1 / 3.6);
    values[1] += log1p(0.045); /* one slow device of the faster mode */
    outliers_judge(out, &modes, values, 64, NAN, &rule);
    assert_true(modes.two);
    assert_int_equal(modes.count[0] + modes.count[1], 64);
    assert_int_equal(modes.count[1], 16);
    for (size_t k = 0; k < 64; k++) {
        assert_int_equal(out[k].slow, k == 1);
        assert_int_equal(out[k].mode, k % 4 == 0);
    }
}

static void test_little(void **state)
{
    const struct outlier_rule rule = outlier_defaults(1);
    struct outlier_modes modes;
    (void)state;
    for (size_t k = 0; k < 4; k++)
        values[k] = k == 2 ? 7.3 : 7;
    outliers_judge(out, &modes, values, 4, NAN, &rule);
    for (size_t k = 0; k < 4; k++)
        assert_true(isnan(out[k].change) && !out[k].slow);
    for (size_t k = 0; k < 8; k++)
        values[k] = k == 2 ? 7 + log(2) : k == 3 ? NAN : 7; /* no spread at all; one that was not measured */
    outliers_judge(out, &modes, values, 8, NAN, &rule);
    for (size_t k = 0; k < 8; k++)
        assert_int_equal(out[k].slow, k == 2);
    assert_true(isnan(out[3].change) && isnan(out[2].z));
    for (size_t k = 0; k < 8; k++) /* what one device shows between its own runs is no finding */
        values[k] = k == 2 ? 7.1 : 7;
    outliers_judge(out, &modes, values, 8, 0.05, &rule);
    assert_false(out[2].slow);
}

/* Half as slow again and more: no majority decides, and no number of devices is too small. */
static void test_far(void **state)
{
    const struct outlier_rule rule = outlier_defaults(METRICS);
    static const struct {
        size_t count, slow; /* the last ones */
    } fleets[] = {{2, 1}, {3, 2}, {4, 1}, {8, 4}, {8, 6}, {64, 32}, {64, 48}};
    struct outlier_modes modes;
    struct rng rng;
    (void)state;
    rng_init(&rng, 31);
    for (size_t f = 0; f < sizeof(fleets) / sizeof(*fleets); f++) {
        const size_t healthy = fleets[f].count - fleets[f].slow;
        draw(&rng, fleets[f].count, 0.02);
        for (size_t k = healthy; k < fleets[f].count; k++)
            values[k] += log(k % 2 ? 10 : 2);
        outliers_judge(out, &modes, values, fleets[f].count, NAN, &rule);
        for (size_t k = 0; k < fleets[f].count; k++)
            assert_true(out[k].slow == (k >= healthy) && !isnan(out[k].change));
    }
    draw(&rng, 8, 0.005); /* one that is faster than all others is what is odd */
    values[3] -= log(2);
    outliers_judge(out, &modes, values, 8, NAN, &rule);
    for (size_t k = 0; k < 8; k++)
        assert_true(!out[k].slow && out[k].fast == (k == 3));
}

static void test_level(void **state)
{
    const struct outlier_rule rule = outlier_defaults(1);
    const struct outlier_level level = {.median = log(100), .spread = 0.004, .n = 64};
    struct outlier one;
    (void)state;
    outlier_against(&one, log(106), &level, NAN, &rule);
    assert_true(one.slow && fabs(one.change - 0.06) < 1e-9 && fabs(one.limit - 0.03) < 1e-9);
    outlier_against(&one, log(102), &level, NAN, &rule);
    assert_true(!one.slow && !one.fast);
    outlier_against(&one, log(90), &level, NAN, &rule);
    assert_true(one.fast);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_healthy_spread),
                                       cmocka_unit_test(test_smallest_found),
                                       cmocka_unit_test(test_modes),
                                       cmocka_unit_test(test_little),
                                       cmocka_unit_test(test_far),
                                       cmocka_unit_test(test_level)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
