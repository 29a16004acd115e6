/* SPDX-License-Identifier: MIT */
#include "expr_fixture.h"
#include "rooftile/vector_math.h"

/* Element k of a block must be what the same expression gives with the number first + k in the place of i. */
static double at_index(struct fixture *f, const char *source, uint64_t i, enum status *status)
{
    struct text text = {0};
    double value = 0;
    for (const char *p = source; *p; p++) {
        const bool alone = (p == source || !strchr("abcdefghijklmnopqrstuvwxyz_", p[-1])) &&
                           (!p[1] || !strchr("abcdefghijklmnopqrstuvwxyz_", p[1]));
        if (*p == 'i' && alone)
            text_addf(&text, "%llu", (unsigned long long)i);
        else
            text_addn(&text, p, 1);
    }
    *status = expr_eval(&value, compile(f, text.data), slots, &f->err);
    text_release(&text);
    return value;
}

static void expect_block(struct fixture *f, const char *source, uint64_t first, size_t count)
{
    double *values = malloc(count * sizeof(*values));
    const struct expr *expr = compile(f, source);
    const enum status status = expr_values(values, expr, slots, NULL, first, count, &f->err);
    bool failed = false;
    for (size_t k = 0; k < count && !failed; k++) {
        enum status alone;
        const double value = at_index(f, source, first + k, &alone);
        failed = alone != STATUS_OK;
        if (failed && !status)
            fail_msg("%s: no error at i = %zu", source, (size_t)first + k);
        if (!failed && !status && values[k] != value)
            fail_msg("%s at i = %zu: %.17g, not %.17g", source, (size_t)first + k, values[k], value);
    }
    if (status && !failed)
        fail_msg("%s: %s", source, f->err.text);
    free(values);
}

static void blocks_equal_single_values(void **state)
{
    static const char *const sources[] = {
        "7",
        "n * 2",
        "i",
        "-i",
        "i % 7 + 3 * (i % 5)",
        "(i - 50) % 7",
        "(i * 0.5) % 3",
        "100 % (i + 1)",
        "i % n",
        "i % 2.5",
        "i % 1",
        "i % (i % 3 + 1)",
        "(i + 1000000000000) % 1000003",
        "i == 0 ? 0 : 1 / i",
        "i % 2 ? 6 / (i % 2) : -1",
        "i > 5 && i < 10 || i == 12",
        "i % 3 == 0 ? i % 5 == 0 ? 15 : 3 : i % 5 == 0 ? 5 : i",
        "zero ? i / zero : i",
        "zero == 0 ? i : i / zero",
        "floor(i / 4) % 3 - ceil(i / 3)",
        "floor(i * 0.1 - 3.5) + ceil(2.5 - i * 0.3) + floor(1e300 * i)",
        "min(i, 10, n - i) + max(3, i % 9)",
        "abs(i - 20) + !(i - 20) + (i != 7)",
        "ceil_div(i, 3) + round_up(i, 4) + clamp(i, 3, 9) + is_pow2(i)",
        "four(i + 1, i % 2, 3, n)",
        "(i <= 3) + (i >= 5) + (3 < i) + (3 > i) + (i == 4) + (9 != i)",
        "2 ^ (i % 10) + (i % 10) ^ 2",
        "sqrt(i) + exp(-i) + sin(i) * cos(i)",
        "1 / i",
        "min(1 / i, 3)",
        "10 / (i % 4 - 3)",
        "2 ^ (i * 30)",
        "1e300 * i * 1e10",
    };
    struct fixture *f = *state;
    for (size_t k = 0; k < COUNT(sources); k++) {
        expect_block(f, sources[k], 0, 37);
        expect_block(f, sources[k], 1021, 7);
        expect_block(f, sources[k], (uint64_t)1 << 49, 3);
        expect_block(f, sources[k], ((uint64_t)1 << 53) - 5, 5);
    }
}

/* Across ends of blocks, and where numbers are no longer exact. */
static void blocks_may_be_cut_anywhere(void **state)
{
    static const char *const sources[] = {
        "i % 100 + floor(i / 100) * 3",
        "(i % n * 7 + floor(i / n)) % 251",
        "i % 640 % 90 - floor(i % 640 / 90)",
        "floor((i * 3 + 1) / 200) + ceil((i * 3 + 1) / 200) + floor(-i / 70) + ceil(i / -333)",
        "(5000 - i) % 300 + floor((5000 - i) / 300)",
        "i % 128 < 40 ? i % 128 : -i",
        "i % 130 == 64 || i % 130 != 65 && i % 130 > 128",
        "(i <= 1030) + (i >= 1031) + (i == 1029) + (1028 != i)",
        "(1030 - i < 0) + (1030 - i <= 0) + (1030 - i > 1) + (1033 - i >= 0) + (i - 1032 < 0) + (i - 1032 > 0)",
        "7 ^ (i % 130 / 64) + 7 ^ (-2 * (i % 130) / 128) - 3 ^ (i % 130 / 64) + 3 ^ (i % 260 / 64)",
        "i % 200 < 100 ? 7 ^ (i % 100 / 3) : 7 ^ (i % 200 / 3)",
        "min(i % 128, 100) + max(3000 - i, 64) + min(i, 2 * i - 1040)",
        "abs(i - 1030) + !(i - 1040) + (i - 1050 ? 1 : 3)",
        "i / 100 + i / 3 % 70 + (i & 127) * 0.1 + sqrt(i % 99)",
        "four(i % 100, floor(i / 100), 1, n) + (i - 0.5) % 100",
        "i * 100000 * 100000 + (i + 1000000000000000) % 1000",
        "(i - 1000000000000000) * 2 % 77777",
        "(i - 1100) % 200 + (1150 - i) % 200",
        "i * 1000000007 * 1000003 - i * 3",
        "i % 1e17 + i % 2.5e2 + floor(i / 1e3)",
    };
    struct fixture *f = *state;
    for (size_t k = 0; k < COUNT(sources); k++) {
        expect_block(f, sources[k], 0, 1100);
        expect_block(f, sources[k], 1021, 700);
        expect_block(f, sources[k], ((uint64_t)1 << 50) - 300, 700);
        expect_block(f, sources[k], ((uint64_t)1 << 53) - 300, 300);
    }
}

struct random {
    uint64_t bits;
};

static unsigned roll(struct random *r, unsigned below)
{
    r->bits = r->bits * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(r->bits >> 33) % below;
}

static void add_random(struct text *out, struct random *r, int depth)
{
    static const char *const leaves[] = {"i", "i", "i",  "n",   "block", "zero",     "1",
                                         "2", "7", "90", "3.5", "0.1",   "sum(lens)"};
    static const char *const operators[] = {
        "+", "-", "*", "/", "%", "%", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "*", "+"};
    static const char *const unaries[] = {"-", "!", "abs", "floor", "ceil", "round", "floor", "bytes"};
    static const char *const binary_calls[] = {"min", "max", "ceil_div", "round_up"};
    const unsigned kind = depth ? roll(r, 10) : 0;
    if (kind < 2) {
        text_add(out, leaves[roll(r, COUNT(leaves))]);
        return;
    }
    text_add(out, kind < 4 ? unaries[roll(r, COUNT(unaries))] : kind < 5 ? binary_calls[roll(r, 4)] : "");
    text_add(out, "(");
    add_random(out, r, depth - 1);
    if (kind == 4)
        text_add(out, ", ");
    else if (kind == 5)
        text_add(out, " ? ");
    else if (kind > 5)
        text_addf(out, " %s ", operators[roll(r, COUNT(operators))]);
    if (kind == 5) {
        add_random(out, r, depth - 1);
        text_add(out, " : ");
    }
    if (kind >= 4) {
        /* Compared operands stand in brackets of their own. */
        text_add(out, "(");
        add_random(out, r, depth - 1);
        text_add(out, ")");
    }
    text_add(out, ")");
}

static void random_blocks_equal_single_values(void **state)
{
    struct fixture *f = *state;
    struct random random = {2024};
    struct text text = {0};
    for (int k = 0; k < 600; k++) {
        text_clear(&text);
        add_random(&text, &random, 1 + (int)roll(&random, 5));
        expect_block(f, text.data, roll(&random, 3) * 1000, 1 + roll(&random, 400));
        arena_release(&f->arena);
    }
    text_release(&text);
}

/* Blocks of all lengths, deep programs with short rows, ranges that start anywhere. */
static void blocks_join_seamlessly(void **state)
{
    enum { TOTAL = 5000 };
    struct fixture *f = *state;
    static double whole[TOTAL], part[TOTAL];
    struct text deep = {0};
    for (int k = 0; k < 120; k++)
        text_add(&deep, "1 + (");
    text_add(&deep, "i % 11");
    text_pad(&deep, 120, ')');
    const char *const sources[] = {"i % 7 + 3 * (i % 5)", "i > 2500 ? 1 / (i - 2500) : i", deep.data, "n"};
    for (size_t s = 0; s < COUNT(sources); s++) {
        const struct expr *expr = compile(f, sources[s]);
        assert_int_equal(expr_values(whole, expr, slots, NULL, 0, TOTAL, &f->err), STATUS_OK);
        for (size_t length = 1; length < TOTAL; length = length * 3 + 1)
            for (size_t at = 0; at < TOTAL; at += length) {
                const size_t count = TOTAL - at < length ? TOTAL - at : length;
                assert_int_equal(expr_values(part + at, expr, slots, NULL, at, count, &f->err), STATUS_OK);
            }
        assert_memory_equal(whole, part, sizeof(whole));
    }
    assert_true(whole[17] == 100);
    text_release(&deep);
}

static void blocks_name_the_index_of_an_error(void **state)
{
    struct fixture *f = *state;
    static double values[4000];
    static const struct {
        const char *source;
        uint64_t first;
        const char *message;
    } cases[] = {
        {"1 / (i - 3000)", 0, "i = 3000: division by zero at column 3"},
        {"i % (i - 2)", 1, "i = 2: remainder by zero at column 3"},
        {"min(1, 1 / (i - 9))", 8, "i = 9: division by zero at column 10"},
        {"n / zero", 5, "i = 5: division by zero at column 3"},
        {"sqrt(100 - i)", 0, "i = 101: sqrt(...) is not defined here at column 1"},
        {"i", ((uint64_t)1 << 53) - 1, "i reaches beyond 2^53"},
        {"i", UINT64_MAX, "i reaches beyond 2^53"},
    };
    for (size_t k = 0; k < COUNT(cases); k++) {
        const struct expr *expr = compile(f, cases[k].source);
        assert_int_equal(expr_values(values, expr, slots, NULL, cases[k].first, COUNT(values), &f->err), ERR_CONFIG);
        assert_string_equal(f->err.text, cases[k].message);
    }
    assert_int_equal(expr_values(NULL, compile(f, "1 / zero"), slots, NULL, 0, 0, &f->err), STATUS_OK);
}

/* x holds 10, 11, ... 13; index 3, 0, 1, 2, NaN. */
static void read(double *values, size_t count, size_t array, const void *context)
{
    static const double held[][5] = {{10, 11, 12, 13}, {3, 0, 1, 2, (double)NAN}};
    (void)context;
    for (size_t k = 0; k < count; k++)
        values[k] = held[array][(size_t)values[k]];
}

static void elements_of_arrays(void **state)
{
    static const uint64_t counts[] = {4, 5};
    static const struct expr_arrays contents = {.counts = counts, .read = read};
    static const struct {
        const char *source;
        double values[4];    /* for i from 0 on */
        const char *message; /* NULL: none */
    } cases[] = {
        {"x[i]", {10, 11, 12, 13}, NULL},
        {"x[3 - i] * 2", {26, 24, 22, 20}, NULL},
        {"x[index[i]]", {13, 10, 11, 12}, NULL},
        {"x[i & 1] + index[1]", {10, 11, 10, 11}, NULL},
        {"x[2]", {12, 12, 12, 12}, NULL},
        {"i < 3 ? x[i + 1] : 0", {11, 12, 13, 0}, NULL},
        {"x[i + 1]", {0}, "i = 3: 'x' has 4 elements and no number 4 at column 1"},
        {"x[i - 1]", {0}, "i = 0: 'x' has 4 elements and no number -1 at column 1"},
        {"2 + x[i / 2]", {0}, "i = 1: 'x' has 4 elements and no number 0.5 at column 5"},
        {"index[i + 1]", {0}, "i = 3: element 4 of 'index' is not a finite number at column 1"},
    };
    struct fixture *f = *state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        const struct expr *expr = compile(f, cases[k].source);
        double values[4];
        const enum status status = expr_values(values, expr, slots, &contents, 0, COUNT(values), &f->err);
        assert_int_equal(status, cases[k].message ? ERR_CONFIG : STATUS_OK);
        if (cases[k].message)
            assert_string_equal(f->err.text, cases[k].message);
        else
            assert_memory_equal(values, cases[k].values, sizeof(values));
    }
    assert_true(expr_uses_array(compile(f, "i + index[0]"), 1) && !expr_uses_array(compile(f, "i + index[0]"), 0));
}

static void remainders_are_exact(void **state)
{
    static const char *const divisors[] = {"1", "2", "3", "7", "1000003", "1073741827", "1125899906842623"};
    static const uint64_t firsts[] = {0, 1u << 31, ((uint64_t)1 << 49) + 12345, ((uint64_t)1 << 50) - 2000};
    struct fixture *f = *state;
    static double values[2000];
    for (size_t d = 0; d < COUNT(divisors); d++)
        for (size_t s = 0; s < COUNT(firsts); s++) {
            struct text text = {0};
            text_addf(&text, "i %% %s", divisors[d]);
            const uint64_t divisor = strtoull(divisors[d], NULL, 10);
            assert_int_equal(expr_values(values, compile(f, text.data), NULL, NULL, firsts[s], COUNT(values), &f->err),
                             0);
            for (size_t k = 0; k < COUNT(values); k++)
                assert_true(values[k] == (double)((firsts[s] + k) % divisor));
            text_release(&text);
        }
}

static void near_libm(struct fixture *f, const char *source, double (*function)(double), double scale)
{
    static double values[1000];
    assert_int_equal(expr_values(values, compile(f, source), &scale, NULL, 0, COUNT(values), &f->err), STATUS_OK);
    for (size_t k = 0; k < COUNT(values); k++) {
        const double want = function((double)k * scale);
        if (fabs(values[k] - want) > 4 * 0x1p-52 * fabs(want))
            fail_msg("%s at %zu * %g: %.17g, not %.17g", source, k, scale, values[k], want);
    }
}

/* Small and huge ones, and whole quarters of a turn, where most of the argument cancels. */
static void sines_of_any_size(void **state)
{
    static const double scales[] = {1e-300,
                                    1e-3,
                                    0.37,
                                    1.5707963267948966,
                                    -1.5707963267948966,
                                    100.1,
                                    134217.6,
                                    -1e6,
                                    1e8,
                                    1.5707963267948966e9,
                                    1e15,
                                    0x1p120,
                                    -1e22,
                                    1e200,
                                    1e305};
    struct fixture *f = *state;
    for (size_t s = 0; s < COUNT(scales); s++) {
        near_libm(f, "sin(i * n)", sin, scales[s]);
        near_libm(f, "cos(i * n)", cos, scales[s]);
    }
}

/* Of arguments over all their range; the last bits may be wrong. */
static void logs_and_exponentials(void **state)
{
    double logs[1400], exps[1400];
    (void)state;
    for (size_t k = 0; k < COUNT(logs); k++) {
        exps[k] = ((double)k - 700) * 0.9987;
        logs[k] = k < 700 ? exp(exps[k]) : 1 + exps[k] * 1e-6;
    }
    double of[1400], log_of[1400];
    memcpy(of, exps, sizeof(of));
    memcpy(log_of, logs, sizeof(log_of));
    vector_exps(exps, COUNT(exps));
    vector_logs(logs, COUNT(logs));
    for (size_t k = 0; k < COUNT(logs); k++) {
        assert_true(fabs(exps[k] - exp(of[k])) <= 2 * 0x1p-52 * exp(of[k]));
        assert_true(fabs(logs[k] - log(log_of[k])) <= 2 * 0x1p-52 * fabs(log(log_of[k])));
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blocks_equal_single_values),
        TEST(blocks_may_be_cut_anywhere),
        TEST(random_blocks_equal_single_values),
        TEST(blocks_join_seamlessly),
        TEST(blocks_name_the_index_of_an_error),
        TEST(elements_of_arrays),
        TEST(remainders_are_exact),
        TEST(sines_of_any_size),
        TEST(logs_and_exponentials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
