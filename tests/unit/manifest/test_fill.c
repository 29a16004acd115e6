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
#include "rooftile/fill.h"

#define SEED 42

/* Expressions under test know one variable besides i: slot 0, `n`. */
static const char *const variables[] = {"n"};
static const struct expr_names names = {.variables = variables, .variable_count = 1, .has_index = true};
static const double slots[] = {1000};

struct bench {
    struct arena arena;
    struct err err;
    struct fill fill;
};

static const struct expr *compiled(struct bench *bench, const char *source)
{
    const struct expr *expr = NULL;
    if (expr_compile(&expr, source, &names, &bench->arena, &bench->err))
        fail_msg("%s", bench->err.text);
    return expr;
}

static void start(struct bench *bench, struct fill_spec spec, enum dtype dtype, uint64_t count, uint64_t seed)
{
    *bench = (struct bench){.arena = bench->arena};
    if (fill_init(&bench->fill, &spec, dtype, count, slots, NULL, seed, &bench->arena, &bench->err))
        fail_msg("%s", bench->err.text);
}

static double *values_of(struct bench *bench)
{
    double *values = arena_array(&bench->arena, (size_t)bench->fill.count + 1, sizeof(*values));
    void *raw = arena_array(&bench->arena, (size_t)bench->fill.count + 1, dtype_bytes(bench->fill.dtype));
    if (fill_range(&bench->fill, raw, 0, bench->fill.count, &bench->err))
        fail_msg("%s", bench->err.text);
    dtype_load(values, bench->fill.dtype, raw, (size_t)bench->fill.count);
    return values;
}

static struct fill_spec expr_spec(struct bench *bench, const char *source)
{
    return (struct fill_spec){.kind = FILL_EXPR, .expr = compiled(bench, source)};
}

static struct fill_spec gen_spec(struct bench *bench, enum fill_kind kind, enum fill_dist dist, const char *first,
                                 const char *second)
{
    struct fill_spec spec = {.kind = kind, .dist = dist};
    spec.options[0] = first ? compiled(bench, first) : NULL;
    spec.options[1] = second ? compiled(bench, second) : NULL;
    return spec;
}

/* ---- ring and permutation ---- */

static void ring_is_one_cycle(void **state)
{
    (void)state;
    static const struct {
        enum dtype dtype;
        uint64_t count, stride;
    } cases[] = {{DTYPE_U32, 4096, 4},  {DTYPE_U32, 4096, 64}, {DTYPE_U64, 1000, 24},
                 {DTYPE_U32, 1023, 64}, {DTYPE_U32, 32, 64},   {DTYPE_F64, 16, 8}};
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        struct bench bench = {0};
        const uint64_t per_slot = cases[c].stride / dtype_bytes(cases[c].dtype), slot_count = cases[c].count / per_slot;
        char stride[32];
        snprintf(stride, sizeof(stride), "%llu", (unsigned long long)cases[c].stride);
        start(&bench, gen_spec(&bench, FILL_RING, DIST_UNIFORM, stride, NULL), cases[c].dtype, cases[c].count, SEED);
        const double *next = values_of(&bench);
        uint64_t at = 0, steps = 0, between = 0;
        do {
            at = (uint64_t)next[at];
            assert_true(at < cases[c].count && at % per_slot == 0);
            steps++;
        } while (at && steps <= slot_count);
        assert_int_equal(steps, slot_count);
        for (uint64_t i = 0; i < cases[c].count; i++)
            between += (i % per_slot || i / per_slot >= slot_count) && next[i] != 0;
        assert_int_equal(between, 0);
        arena_release(&bench.arena);
    }
}

/* A ring that walks straight ahead would be a prefetcher's best case. */
static void ring_is_random(void **state)
{
    (void)state;
    struct bench bench = {0};
    start(&bench, gen_spec(&bench, FILL_RING, DIST_UNIFORM, "4", NULL), DTYPE_U32, 10000, SEED);
    const double *next = values_of(&bench);
    double steps = 0;
    size_t ahead = 0;
    for (size_t i = 0; i < 10000; i++) {
        steps += fabs(next[i] - (double)i);
        ahead += next[i] == (double)i + 1;
    }
    assert_near(steps / 10000, 10000.0 / 3, 200); /* the mean distance of two random places */
    assert_true(ahead < 20);
    arena_release(&bench.arena);
}

static void permutation_has_every_index_once(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 1000, 65537};
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        struct bench bench = {0};
        start(&bench, gen_spec(&bench, FILL_PERMUTATION, DIST_UNIFORM, NULL, NULL), DTYPE_U32, counts[c], SEED);
        const double *values = values_of(&bench);
        bool *seen = arena_array(&bench.arena, counts[c], sizeof(*seen));
        uint64_t in_place = 0;
        for (uint64_t i = 0; i < counts[c]; i++) {
            assert_true(values[i] >= 0 && values[i] < (double)counts[c] && !seen[(uint64_t)values[i]]);
            seen[(uint64_t)values[i]] = true;
            in_place += values[i] == (double)i;
        }
        assert_true(counts[c] < 1000 || in_place < 20);
        arena_release(&bench.arena);
    }
}

/* ---- indices and offsets ---- */

static void indices_stay_below_their_bound(void **state)
{
    (void)state;
    static const struct {
        enum fill_dist dist;
        const char *resolved;
        double most;
    } cases[] = {{DIST_UNIFORM, "1", 0}, {DIST_UNIFORM, "777", 776},  {DIST_ZIPF, "777", 776},
                 {DIST_ZIPF, "1", 0},    {DIST_BLOCKED, "1000", 999}, {DIST_BLOCKED, "7", 6}};
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        struct bench bench = {0};
        struct fill_spec spec = gen_spec(&bench, FILL_INDEX, cases[c].dist, cases[c].resolved, NULL);
        spec.options[FILL_BLOCK] = compiled(&bench, "16");
        start(&bench, spec, DTYPE_U32, 50000, SEED);
        const double *values = values_of(&bench);
        double highest = 0, lowest = INFINITY;
        for (size_t i = 0; i < 50000; i++) {
            highest = fmax(highest, values[i]);
            lowest = fmin(lowest, values[i]);
        }
        assert_near(lowest, 0, 0);
        if (cases[c].dist == DIST_ZIPF) /* the last ones are rare */
            assert_true(highest <= cases[c].most);
        else
            assert_near(highest, cases[c].most, 0);
        arena_release(&bench.arena);
    }
}

/* Of those below the bound, as many as there are elements. */
static void permuted_indices_are_different(void **state)
{
    (void)state;
    struct bench bench = {0};
    bool seen[1000] = {0};
    start(&bench, gen_spec(&bench, FILL_INDEX, DIST_PERMUTATION, "1000", NULL), DTYPE_U32, 700, SEED);
    const double *values = values_of(&bench);
    for (size_t i = 0; i < 700; i++) {
        assert_true(values[i] >= 0 && values[i] < 1000 && !seen[(size_t)values[i]]);
        seen[(size_t)values[i]] = true;
    }
    arena_release(&bench.arena);
}

static void uniform_indices_are_even(void **state)
{
    (void)state;
    struct bench bench = {0};
    size_t counts[10] = {0};
    start(&bench, gen_spec(&bench, FILL_INDEX, DIST_UNIFORM, "10", NULL), DTYPE_I32, 100000, SEED);
    const double *values = values_of(&bench);
    for (size_t i = 0; i < 100000; i++)
        counts[(size_t)values[i]]++;
    for (size_t k = 0; k < 10; k++)
        assert_near((double)counts[k], 10000, 500); /* five standard deviations of a binomial */
    arena_release(&bench.arena);
}

/* P(index = k) of the inverse method: the mass of x^-s over [k + 1, k + 2). */
static void zipf_indices_fall_as_they_should(void **state)
{
    (void)state;
    static const char *const exponents[] = {"0.5", "1", "1.5", "3"};
    for (size_t c = 0; c < COUNT_OF(exponents); c++) {
        struct bench bench = {0};
        struct fill_spec spec = gen_spec(&bench, FILL_INDEX, DIST_ZIPF, "100", exponents[c]);
        size_t counts[100] = {0};
        const double s = strtod(exponents[c], NULL);
        start(&bench, spec, DTYPE_U32, 200000, SEED);
        const double *values = values_of(&bench);
        for (size_t i = 0; i < 200000; i++)
            counts[(size_t)values[i]]++;
        const double all = s == 1 ? log(101) : (pow(101, 1 - s) - 1) / (1 - s);
        for (size_t k = 0; k < 100; k++) {
            const double a = (double)k + 1, b = a + 1;
            const double mass = s == 1 ? log(b / a) : (pow(b, 1 - s) - pow(a, 1 - s)) / (1 - s);
            const double want = 200000 * mass / all;
            assert_near((double)counts[k], want, 6 * sqrt(want) + 6);
        }
        arena_release(&bench.arena);
    }
}

static void blocked_indices_run_on_within_a_block(void **state)
{
    (void)state;
    struct bench bench = {0};
    struct fill_spec spec = gen_spec(&bench, FILL_INDEX, DIST_BLOCKED, "1024", NULL);
    size_t starts = 0;
    spec.options[FILL_BLOCK] = compiled(&bench, "16");
    start(&bench, spec, DTYPE_U32, 16000, SEED);
    const double *values = values_of(&bench);
    for (size_t i = 0; i < 16000; i++) {
        assert_int_equal((uint64_t)values[i] % 16, i % 16);
        starts += i % 16 && values[i] != values[i - 1] + 1;
    }
    assert_int_equal(starts, 0);
    arena_release(&bench.arena);
}

static void offsets_rise_to_the_total(void **state)
{
    (void)state;
    static const enum fill_dist dists[] = {DIST_UNIFORM, DIST_EQUAL, DIST_SKEWED};
    static const struct {
        uint64_t count;
        const char *total;
        double value;
    } cases[] = {{2, "17", 17}, {1000, "123457", 123457}, {9, "3", 3}, {100, "0", 0}, {1, "5", 0}, {65, "n", 1000}};
    for (size_t d = 0; d < COUNT_OF(dists); d++)
        for (size_t c = 0; c < COUNT_OF(cases); c++) {
            struct bench bench = {0};
            start(&bench, gen_spec(&bench, FILL_OFFSETS, dists[d], cases[c].total, NULL), DTYPE_I32, cases[c].count,
                  SEED);
            const double *values = values_of(&bench);
            assert_near(values[0], 0, 0);
            assert_near(values[cases[c].count - 1], cases[c].value, 0);
            for (uint64_t i = 1; i < cases[c].count; i++)
                assert_true(values[i] >= values[i - 1]);
            arena_release(&bench.arena);
        }
}

static void offset_lengths_follow_their_distribution(void **state)
{
    (void)state;
    struct bench bench = {0};
    start(&bench, gen_spec(&bench, FILL_OFFSETS, DIST_EQUAL, "1003", NULL), DTYPE_U32, 101, SEED);
    const double *equal = values_of(&bench);
    for (size_t i = 0; i < 100; i++)
        assert_true(equal[i + 1] - equal[i] == 10 || equal[i + 1] - equal[i] == 11);
    start(&bench, gen_spec(&bench, FILL_OFFSETS, DIST_SKEWED, "1000000", "2"), DTYPE_U32, 101, SEED);
    const double *skewed = values_of(&bench);
    assert_near((skewed[1] - skewed[0]) / (skewed[2] - skewed[1]), 4, 0.01);
    assert_near((skewed[1] - skewed[0]) / (skewed[10] - skewed[9]), 100, 0.1);
    start(&bench, gen_spec(&bench, FILL_OFFSETS, DIST_UNIFORM, "1000000", NULL), DTYPE_U32, 101, SEED);
    const double *random = values_of(&bench);
    double shortest = INFINITY, longest = 0;
    for (size_t i = 0; i < 100; i++) {
        shortest = fmin(shortest, random[i + 1] - random[i]);
        longest = fmax(longest, random[i + 1] - random[i]);
    }
    assert_true(longest > 10 * shortest);
    arena_release(&bench.arena);
}

/* ---- numbers ---- */

static void moments(double *mean, double *sd, const double *values, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    *mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - *mean) * (values[i] - *mean);
    *sd = sqrt(squares / (double)count);
}

static void uniform_and_normal_have_their_moments(void **state)
{
    (void)state;
    static const struct {
        enum fill_kind kind;
        enum dtype dtype;
        const char *first, *second;
        double mean, sd, low, high;
    } cases[] = {{FILL_UNIFORM, DTYPE_F64, NULL, NULL, 0.5, 0.288675, 0, 1},
                 {FILL_UNIFORM, DTYPE_F32, "-1", "3", 1, 1.154701, -1, 3},
                 {FILL_UNIFORM, DTYPE_F16, "-2", "2", 0, 1.154701, -2, 2},
                 {FILL_UNIFORM, DTYPE_I32, "-5", "5", -0.5, 2.872281, -5, 4},
                 {FILL_UNIFORM, DTYPE_U8, "0", "256", 127.5, 73.9003, 0, 255},
                 {FILL_NORMAL, DTYPE_F64, NULL, NULL, 0, 1, -8, 8},
                 {FILL_NORMAL, DTYPE_BF16, "10", "0.5", 10, 0.5, 6, 14}};
    const size_t count = 100000;
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        struct bench bench = {0};
        double mean = 0, sd = 0;
        start(&bench, gen_spec(&bench, cases[c].kind, DIST_UNIFORM, cases[c].first, cases[c].second), cases[c].dtype,
              count, SEED);
        const double *values = values_of(&bench);
        moments(&mean, &sd, values, count);
        assert_near(mean, cases[c].mean, 5 * cases[c].sd / sqrt((double)count));
        assert_near(sd, cases[c].sd, 0.01 * cases[c].sd);
        for (size_t i = 0; i < count; i++)
            assert_true(values[i] >= cases[c].low && values[i] <= cases[c].high);
        arena_release(&bench.arena);
    }
}

/* Odd elements follow the even ones before them, whichever part is filled. */
static void pairs_agree_or_cancel(void **state)
{
    (void)state;
    static const struct {
        enum fill_kind kind;
        enum dtype dtype;
        const char *pairs;
        double sign;
    } cases[] = {{FILL_UNIFORM, DTYPE_F32, "1", 1},
                 {FILL_UNIFORM, DTYPE_I8, "-1", -1},
                 {FILL_NORMAL, DTYPE_F16, "-1", -1},
                 {FILL_NORMAL, DTYPE_F64, "2 - 1", 1}};
    const size_t count = 2001;
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        struct bench bench = {0};
        struct fill_spec spec = gen_spec(&bench, cases[c].kind, DIST_UNIFORM, "-9", "90");
        spec.options[FILL_PAIRS] = compiled(&bench, cases[c].pairs);
        start(&bench, spec, cases[c].dtype, count, SEED);
        const double *values = values_of(&bench);
        size_t different = 0;
        for (size_t i = 0; i + 1 < count; i += 2) {
            assert_true(values[i + 1] == cases[c].sign * values[i]);
            different += values[i + 2 < count ? i + 2 : 0] != values[i];
        }
        assert_true(different > count / 4);
        arena_release(&bench.arena);
    }
}

static void whole_numbers_stay_below_high(void **state)
{
    (void)state;
    struct bench bench = {0};
    bool seen[4] = {false};
    start(&bench, gen_spec(&bench, FILL_UNIFORM, DIST_UNIFORM, "0", "3"), DTYPE_U16, 1000, SEED);
    const double *values = values_of(&bench);
    for (size_t i = 0; i < 1000; i++)
        seen[(size_t)values[i]] = true;
    assert_true(seen[0] && seen[1] && seen[2] && !seen[3]);
    arena_release(&bench.arena);
}

static void values_repeat(void **state)
{
    (void)state;
    static const double list[] = {1, -2.5, 1024};
    struct bench bench = {0};
    start(&bench, (struct fill_spec){.kind = FILL_VALUES, .values = list, .value_count = 3}, DTYPE_F32, 10001, SEED);
    const double *values = values_of(&bench);
    for (size_t i = 0; i < 10001; i++)
        assert_near(values[i], list[i % 3], 0);
    arena_release(&bench.arena);
}

static void file_gives_its_bytes(void **state)
{
    (void)state;
    char path[] = "/tmp/rooftile-fill-XXXXXX";
    uint16_t content[3000], part[100];
    struct bench bench = {0};
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t i = 0; i < 3000; i++)
        content[i] = (uint16_t)(i * 40503u);
    assert_int_equal(write(fd, content, sizeof(content)), sizeof(content));
    close(fd);
    start(&bench, (struct fill_spec){.kind = FILL_FILE, .path = path}, DTYPE_U16, 3000, SEED);
    assert_int_equal(fill_range(&bench.fill, part, 1234, 100, &bench.err), STATUS_OK);
    assert_memory_equal(part, content + 1234, sizeof(part));
    assert_near(values_of(&bench)[2999], content[2999], 0);
    const struct fill_spec spec = {.kind = FILL_FILE, .path = path};
    assert_int_equal(fill_init(&bench.fill, &spec, DTYPE_U16, 3001, slots, NULL, SEED, &bench.arena, &bench.err),
                     ERR_CONFIG);
    assert_non_null(strstr(bench.err.text, "has 6000 bytes, the buffer 6002"));
    assert_int_equal(fill_init(&bench.fill, &spec, DTYPE_U16, 2999, slots, NULL, SEED, &bench.arena, &bench.err),
                     ERR_CONFIG);
    unlink(path);
    assert_int_not_equal(fill_init(&bench.fill, &spec, DTYPE_U16, 3000, slots, NULL, SEED, &bench.arena, &bench.err),
                         STATUS_OK);
    arena_release(&bench.arena);
}

static void nothing_and_zeros_are_patterns(void **state)
{
    (void)state;
    uint8_t bytes[64] = {1};
    struct bench bench = {0};
    start(&bench, (struct fill_spec){.kind = FILL_NONE}, DTYPE_F64, 8, SEED);
    assert_int_equal(fill_range(&bench.fill, bytes, 0, 8, &bench.err), STATUS_OK);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(bytes[i], 0xcd);
    start(&bench, (struct fill_spec){.kind = FILL_ZEROS}, DTYPE_F64, 8, SEED);
    assert_int_equal(fill_range(&bench.fill, bytes, 0, 8, &bench.err), STATUS_OK);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(bytes[i], 0);
    arena_release(&bench.arena);
}

/* ---- expressions ---- */

static void elements_are_what_the_expression_gives(void **state)
{
    (void)state;
    static const char *const sources[] = {"i % 7",
                                          "3",
                                          "(i * 40503) % 1021 - 510",
                                          "i % 37 + i % 5",
                                          "i % n",
                                          "floor(i / 4) % 37",
                                          "i",
                                          "i % 7 == 0 ? -1 : 0.25",
                                          "sqrt(i)"};
    for (size_t c = 0; c < COUNT_OF(sources); c++) {
        struct bench bench = {0};
        start(&bench, expr_spec(&bench, sources[c]), DTYPE_F64, 30000, SEED);
        const double *values = values_of(&bench);
        for (uint64_t i = 0; i < 30000; i += 1 + i % 13) {
            double want;
            assert_int_equal(expr_values(&want, bench.fill.expr, slots, NULL, i, 1, &bench.err), STATUS_OK);
            assert_true(want == values[i]);
        }
        arena_release(&bench.arena);
    }
}

/* ---- what holds for all ---- */

static size_t every_spec(struct bench *bench, struct fill_spec specs[static 16])
{
    static const double list[] = {3, 1, 4, 1, 5};
    size_t count = 0;
    specs[count++] = expr_spec(bench, "i % 97");
    specs[count++] = expr_spec(bench, "floor(sqrt(i))");
    specs[count++] = gen_spec(bench, FILL_ZEROS, DIST_UNIFORM, NULL, NULL);
    specs[count++] = gen_spec(bench, FILL_UNIFORM, DIST_UNIFORM, "0", "100");
    specs[count++] = gen_spec(bench, FILL_NORMAL, DIST_UNIFORM, "1000", "10");
    specs[count++] = gen_spec(bench, FILL_RING, DIST_UNIFORM, "64", NULL);
    specs[count++] = gen_spec(bench, FILL_PERMUTATION, DIST_UNIFORM, NULL, NULL);
    specs[count++] = gen_spec(bench, FILL_INDEX, DIST_UNIFORM, "1000", NULL);
    specs[count++] = gen_spec(bench, FILL_INDEX, DIST_ZIPF, "1000", "1.2");
    specs[count] = gen_spec(bench, FILL_INDEX, DIST_BLOCKED, "1000", NULL);
    specs[count++].options[FILL_BLOCK] = compiled(bench, "8");
    specs[count++] = gen_spec(bench, FILL_OFFSETS, DIST_UNIFORM, "9999", NULL);
    specs[count++] = gen_spec(bench, FILL_OFFSETS, DIST_SKEWED, "9999", "1");
    specs[count++] = (struct fill_spec){.kind = FILL_VALUES, .values = list, .value_count = 5};
    specs[count++] = (struct fill_spec){.kind = FILL_NONE};
    return count;
}

static void parts_do_not_matter(void **state)
{
    (void)state;
    static const uint64_t cuts[] = {0, 1, 2, 1023, 1024, 1025, 4097, 7777, 9999, 10000};
    struct bench bench = {0};
    struct fill_spec specs[16];
    const size_t count = every_spec(&bench, specs);
    uint32_t whole[10000], parts[10000], one = 0;
    for (size_t k = 0; k < count; k++) {
        start(&bench, specs[k], DTYPE_U32, 10000, SEED);
        assert_int_equal(fill_range(&bench.fill, whole, 0, 10000, &bench.err), STATUS_OK);
        memset(parts, 0xff, sizeof(parts));
        for (size_t c = COUNT_OF(cuts) - 1; c > 0; c--) /* from the back: no part may lean on the one before it */
            assert_int_equal(
                fill_range(&bench.fill, parts + cuts[c - 1], cuts[c - 1], cuts[c] - cuts[c - 1], &bench.err),
                STATUS_OK);
        assert_memory_equal(whole, parts, sizeof(whole));
        for (uint64_t i = 0; i < 10000; i += 617) {
            assert_int_equal(fill_range(&bench.fill, &one, i, 1, &bench.err), STATUS_OK);
            assert_int_equal(one, whole[i]);
        }
    }
    arena_release(&bench.arena);
}

static void seeds_decide_what_is_random(void **state)
{
    (void)state;
    struct bench bench = {0};
    struct fill_spec specs[16];
    const size_t count = every_spec(&bench, specs);
    for (size_t k = 0; k < count; k++) {
        const bool random = specs[k].kind != FILL_EXPR && specs[k].kind != FILL_ZEROS && specs[k].kind != FILL_VALUES &&
                            specs[k].kind != FILL_NONE &&
                            !(specs[k].kind == FILL_OFFSETS && specs[k].dist == DIST_SKEWED);
        start(&bench, specs[k], DTYPE_U32, 2000, 1);
        const double *first = values_of(&bench);
        start(&bench, specs[k], DTYPE_U32, 2000, 1);
        assert_memory_equal(first, values_of(&bench), 2000 * sizeof(*first));
        start(&bench, specs[k], DTYPE_U32, 2000, 2);
        assert_int_equal(memcmp(first, values_of(&bench), 2000 * sizeof(*first)) != 0, random);
        specs[k].seed = 1; /* of the manifest: wins over the run's */
        start(&bench, specs[k], DTYPE_U32, 2000, 2);
        assert_memory_equal(first, values_of(&bench), 2000 * sizeof(*first));
    }
    arena_release(&bench.arena);
}

static void every_type_takes_small_numbers(void **state)
{
    (void)state;
    for (int dtype = 1; dtype < DTYPE_COUNT; dtype++) {
        struct bench bench = {0};
        start(&bench, expr_spec(&bench, "i % 4"), (enum dtype)dtype, 9000, SEED);
        const double *values = values_of(&bench);
        for (size_t i = 0; i < 9000; i++)
            assert_near(values[i], (double)(i % 4), 0);
        start(&bench, gen_spec(&bench, FILL_UNIFORM, DIST_UNIFORM, "0", "8"), (enum dtype)dtype, 500, SEED);
        const double *random = values_of(&bench);
        for (size_t i = 0; i < 500; i++)
            assert_true(random[i] >= 0 && random[i] <= 8);
        arena_release(&bench.arena);
    }
}

/* ---- errors ---- */

static void what_cannot_be_is_said(void **state)
{
    (void)state;
    static const struct {
        enum fill_kind kind;
        enum fill_dist dist;
        const char *first, *second, *third;
        enum dtype dtype;
        uint64_t count;
        const char *text;
    } cases[] = {
        {FILL_EXPR, 0, "i", NULL, NULL, DTYPE_U8, 257, "'i' gives values that do not fit u8"},
        {FILL_EXPR, 0, "i % 300", NULL, NULL, DTYPE_U8, 10000, "do not fit u8"},
        {FILL_EXPR, 0, "-1", NULL, NULL, DTYPE_U32, 1, "do not fit u32"},
        {FILL_EXPR, 0, "10 / (i - 5000)", NULL, NULL, DTYPE_F32, 9000, "i = 5000: division by zero"},
        {FILL_UNIFORM, 0, "0", "300", NULL, DTYPE_U8, 1000, "the fill gives values that do not fit u8"},
        {FILL_UNIFORM, 0, "1 / 0", NULL, NULL, DTYPE_F32, 8, "division by zero"},
        {FILL_RING, 0, "6", NULL, NULL, DTYPE_U32, 64, "not a multiple of the element's 4"},
        {FILL_RING, 0, "2", NULL, NULL, DTYPE_U32, 64, "not a multiple of the element's 4"},
        {FILL_RING, 0, "64", NULL, NULL, DTYPE_U32, 8, "a ring of 0 slots"},
        {FILL_RING, 0, "4", NULL, NULL, DTYPE_U8, 4096, "do not fit u8"},
        {FILL_PERMUTATION, 0, NULL, NULL, NULL, DTYPE_U32, 0, "a permutation of 0 slots"},
        {FILL_PERMUTATION, 0, NULL, NULL, NULL, DTYPE_U8, 1000, "do not fit u8"},
        {FILL_INDEX, DIST_UNIFORM, "0", NULL, NULL, DTYPE_U32, 8, "bound 0 is not a whole number"},
        {FILL_INDEX, DIST_UNIFORM, "2.5", NULL, NULL, DTYPE_U32, 8, "bound 2.5 is not a whole number"},
        {FILL_INDEX, DIST_ZIPF, "10", "0", NULL, DTYPE_U32, 8, "s 0 is not a positive exponent"},
        {FILL_INDEX, DIST_BLOCKED, "10", NULL, "0", DTYPE_U32, 8, "block 0 is not a whole number"},
        {FILL_OFFSETS, DIST_EQUAL, "-1", NULL, NULL, DTYPE_U32, 8, "total -1 is not a whole number"},
        {FILL_OFFSETS, DIST_EQUAL, "0.5", NULL, NULL, DTYPE_U32, 8, "total 0.5 is not a whole number"},
        {FILL_OFFSETS, DIST_EQUAL, "1000", NULL, NULL, DTYPE_U8, 8, "do not fit u8"},
        {FILL_VALUES, 0, NULL, NULL, NULL, DTYPE_U8, 8, "the list is empty"},
    };
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        struct bench bench = {0};
        uint8_t out[65536];
        struct fill_spec spec = cases[c].kind == FILL_EXPR
                                    ? expr_spec(&bench, cases[c].first)
                                    : gen_spec(&bench, cases[c].kind, cases[c].dist, cases[c].first, cases[c].second);
        if (cases[c].third)
            spec.options[2] = compiled(&bench, cases[c].third);
        enum status status =
            fill_init(&bench.fill, &spec, cases[c].dtype, cases[c].count, slots, NULL, SEED, &bench.arena, &bench.err);
        if (!status)
            status = fill_range(&bench.fill, out, 0, cases[c].count, &bench.err);
        if (status != ERR_CONFIG || !strstr(bench.err.text, cases[c].text))
            fail_msg("case %zu: status %d, '%s', expected '%s'", c, (int)status, bench.err.text, cases[c].text);
        arena_release(&bench.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_is_one_cycle),
        cmocka_unit_test(ring_is_random),
        cmocka_unit_test(permutation_has_every_index_once),
        cmocka_unit_test(indices_stay_below_their_bound),
        cmocka_unit_test(permuted_indices_are_different),
        cmocka_unit_test(uniform_indices_are_even),
        cmocka_unit_test(zipf_indices_fall_as_they_should),
        cmocka_unit_test(blocked_indices_run_on_within_a_block),
        cmocka_unit_test(offsets_rise_to_the_total),
        cmocka_unit_test(offset_lengths_follow_their_distribution),
        cmocka_unit_test(uniform_and_normal_have_their_moments),
        cmocka_unit_test(pairs_agree_or_cancel),
        cmocka_unit_test(whole_numbers_stay_below_high),
        cmocka_unit_test(values_repeat),
        cmocka_unit_test(file_gives_its_bytes),
        cmocka_unit_test(nothing_and_zeros_are_patterns),
        cmocka_unit_test(elements_are_what_the_expression_gives),
        cmocka_unit_test(parts_do_not_matter),
        cmocka_unit_test(seeds_decide_what_is_random),
        cmocka_unit_test(every_type_takes_small_numbers),
        cmocka_unit_test(what_cannot_be_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
