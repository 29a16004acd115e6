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
        add(&normal_at, rng_normal_at(3, i));
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
                assert_true(normals[k] == rng_normal_at(9, first + k));
            }
        }
    double values[20000], product = 0; /* the two of a pair have nothing to do with each other */
    rng_normals_at(values, 5, 0, 20000);
    for (size_t k = 0; k < 20000; k += 2)
        product += values[k] * values[k + 1];
    assert_true(fabs(product / 10000) < 0.05);
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
        cmocka_unit_test(below_is_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
