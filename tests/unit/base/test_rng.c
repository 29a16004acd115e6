/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "../random.h"
#include <cmocka.h>

/* The published sequence of splitmix64 from state 0, which is rng_at with seed 0. */
static void at_is_splitmix64(void **state)
{
    (void)state;
    static const uint64_t sequence[] = {0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC,
                                        0x1B39896A51A8749B};
    for (size_t i = 0; i < sizeof(sequence) / sizeof(*sequence); i++)
        assert_true(rng_at(0, i) == sequence[i]);
}

/* The reference code of xoshiro256** with state 1, 2, 3, 4. */
static void next_is_xoshiro256(void **state)
{
    (void)state;
    static const uint64_t sequence[] = {
        11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600};
    struct rng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof(sequence) / sizeof(*sequence); i++)
        assert_true(rng_next(&rng) == sequence[i]);
}

static void seeds_make_different_streams(void **state)
{
    (void)state;
    const uint64_t step = 0x9E3779B97F4A7C15; /* of splitmix64: here plain seeds would give a shifted copy */
    for (uint64_t i = 0; i < 100; i++) {
        assert_true(rng_at(1, i) != rng_at(2, i));
        assert_true(rng_at(1 + step, i) != rng_at(1, i + 1));
    }
    assert_true(rng_derive(1, "noise") == rng_derive(1, "noise"));
    assert_true(rng_derive(1, "noise") != rng_derive(2, "noise"));
    assert_true(rng_derive(1, "noise") != rng_derive(1, "order"));
    struct rng a, b;
    rng_init(&a, 7);
    rng_init(&b, 7);
    assert_true(rng_next(&a) == rng_next(&b));
    rng_init(&b, 8);
    assert_true(rng_next(&a) != rng_next(&b));
}

struct moments {
    double sum, squares, smallest, largest;
};

static void add(struct moments *moments, double value)
{
    moments->sum += value;
    moments->squares += value * value;
    moments->smallest = fmin(moments->smallest, value);
    moments->largest = fmax(moments->largest, value);
}

/* Fixed seeds: the bounds are about five standard errors and hold for these for ever. */
static void distributions(void **state)
{
    (void)state;
    const double count = 100000;
    struct moments uniform = {0}, uniform_at = {0}, normal = {0}, normal_at = {0};
    struct rng rng;
    rng_init(&rng, 42);
    for (uint64_t i = 0; i < (uint64_t)count; i++) {
        add(&uniform, random_uniform(&rng));
        add(&uniform_at, rng_uniform_at(3, i));
        add(&normal, random_normal(&rng));
        add(&normal_at, random_normal_at(3, i));
    }
    const struct moments *uniforms[] = {&uniform, &uniform_at};
    for (size_t i = 0; i < 2; i++) {
        assert_true(fabs(uniforms[i]->sum / count - 0.5) < 0.005);
        assert_true(fabs(uniforms[i]->squares / count - 1.0 / 3) < 0.005);
        assert_true(uniforms[i]->smallest >= 0 && uniforms[i]->largest < 1 && uniforms[i]->largest > 0.999);
    }
    const struct moments *normals[] = {&normal, &normal_at};
    for (size_t i = 0; i < 2; i++) {
        assert_true(fabs(normals[i]->sum / count) < 0.016);
        assert_true(fabs(normals[i]->squares / count - 1) < 0.023);
        assert_true(normals[i]->smallest < -3.5 && normals[i]->largest > 3.5 && normals[i]->largest < 7);
    }
}

static void runs_are_single_ones(void **state)
{
    (void)state;
    for (uint64_t first = 0; first < 3; first++)
        for (size_t count = 0; count < 6; count++) {
            double uniforms[6], normals[6];
            rng_uniforms_at(uniforms, 9, first, count);
            rng_normals_at(normals, 9, first, count);
            for (size_t k = 0; k < count; k++) {
                assert_true(uniforms[k] == rng_uniform_at(9, first + k));
                assert_true(normals[k] == random_normal_at(9, first + k));
            }
        }
    double values[20000], product = 0; /* the two of a pair have nothing to do with each other */
    rng_normals_at(values, 5, 0, 20000);
    for (size_t k = 0; k < 20000; k += 2)
        product += values[k] * values[k + 1];
    assert_true(fabs(product / 10000) < 0.05);
}

/* Each number once, and one cycle through all; both are the same element by element. */
static void permutations_and_cycles_are_whole(void **state)
{
    static const uint64_t limits[] = {1, 2, 3, 7, 64, 1000, 65536, 65537};
    (void)state;
    for (size_t c = 0; c < sizeof(limits) / sizeof(*limits); c++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            static double order[65537], next[65537];
            static bool seen[65537];
            const uint64_t limit = limits[c];
            uint64_t at = 0, steps = 0;
            memset(seen, 0, sizeof(seen));
            rng_permuted_at(order, seed, limit, 0, (size_t)limit);
            rng_cycle_at(next, seed, limit, 0, (size_t)limit);
            for (uint64_t i = 0; i < limit; i++) {
                double alone[2];
                assert_true(order[i] < (double)limit && !seen[(size_t)order[i]]);
                seen[(size_t)order[i]] = true;
                rng_permuted_at(&alone[0], seed, limit, i, 1);
                rng_cycle_at(&alone[1], seed, limit, i, 1);
                assert_true(alone[0] == order[i] && alone[1] == next[i]);
            }
            do
                at = (uint64_t)next[at];
            while (++steps < limit && at);
            assert_true(steps == limit && at == 0);
        }
}

/* 16 classes, of 1/16 each; the limit is what a chi-squared of 15 degrees exceeds once in 100,000. */
static void assert_even(const size_t counts[static 16], double total)
{
    double chi = 0;
    for (size_t k = 0; k < 16; k++)
        chi += ((double)counts[k] - total / 16) * ((double)counts[k] - total / 16) / (total / 16);
    if (chi > 50)
        fail_msg("chi-squared %.0f", chi);
}

/* No step of a cycle, no two neighbours of a permutation and no first element of many seeds is more likely than others:
 * prefetchers would find it. */
static void permutations_have_no_pattern(void **state)
{
    enum { LIMIT = 48000 };
    static double order[LIMIT];
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++)
        for (int cycle = 0; cycle < 2; cycle++) {
            size_t steps[16] = {0}, twos[16] = {0}, places[16] = {0};
            (cycle ? rng_cycle_at : rng_permuted_at)(order, seed, LIMIT, 0, LIMIT);
            for (size_t k = 0; k + 2 < LIMIT; k++) {
                steps[(uint64_t)(order[k + 1] - order[k] + (int)LIMIT) % LIMIT * 16 / LIMIT]++;
                twos[(uint64_t)(order[k + 2] - order[k] + (int)LIMIT) % LIMIT * 16 / LIMIT]++;
                places[(uint64_t)order[k] % 4 * 4 + k % 4]++;
            }
            assert_even(steps, LIMIT - 2);
            assert_even(twos, LIMIT - 2);
            assert_even(places, LIMIT - 2);
        }
    for (uint64_t limit = 16; limit <= 16384; limit *= 2) {
        size_t firsts[16] = {0};
        for (uint64_t seed = 0; seed < 8000; seed++) {
            rng_permuted_at(order, seed, limit, 1, 1);
            firsts[(uint64_t)order[0] * 16 / limit]++;
        }
        assert_even(firsts, 8000);
    }
}

static void below_is_fair(void **state)
{
    (void)state;
    enum { BOUND = 7, COUNT = 70000 };
    unsigned counts[BOUND] = {0};
    struct rng rng;
    rng_init(&rng, 1);
    for (unsigned i = 0; i < COUNT; i++) {
        const uint64_t value = rng_below(&rng, BOUND);
        assert_true(value < BOUND);
        counts[value]++;
    }
    for (unsigned i = 0; i < BOUND; i++)
        assert_true(counts[i] > 9500 && counts[i] < 10500);
    assert_true(rng_below(&rng, 1) == 0);
    /* A bound of 3/4 of the range: without rejection, floor(3 * r / 4) hits each multiple of 3 twice as often. */
    const uint64_t large = UINT64_C(3) << 62;
    unsigned low = 0;
    for (unsigned i = 0; i < COUNT; i++)
        low += rng_below(&rng, large) % 3 == 0;
    assert_true(low > COUNT / 3 - 700 && low < COUNT / 3 + 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_is_splitmix64),
        cmocka_unit_test(next_is_xoshiro256),
        cmocka_unit_test(seeds_make_different_streams),
        cmocka_unit_test(distributions),
        cmocka_unit_test(runs_are_single_ones),
        cmocka_unit_test(permutations_and_cycles_are_whole),
        cmocka_unit_test(permutations_have_no_pattern),
        cmocka_unit_test(below_is_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
