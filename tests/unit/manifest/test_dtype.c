/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/arena.h"
#include "rooftile/dtype.h"

static double load_one(enum dtype dtype, uint64_t code)
{
    double value = 0;
    dtype_load(&value, dtype, &code, 1); /* little-endian, as every target is */
    return value;
}

static uint64_t store_one(enum dtype dtype, double value)
{
    uint64_t code = 0;
    dtype_store(&code, dtype, &value, 1, NULL);
    return code;
}

static void table(void **state)
{
    (void)state;
    static const struct {
        const char *name, *ctype;
        size_t bytes;
        double epsilon, max;
    } cases[] = {
        {"f64", "double", 8, DBL_EPSILON, DBL_MAX},
        {"f32", "float", 4, (double)FLT_EPSILON, (double)FLT_MAX},
        {"xf32", "float", 4, 0x1p-10, 0x1.ffcp127},
        {"f16", "_Float16", 2, 0x1p-10, 65504},
        {"bf16", "__bf16", 2, 0x1p-7, 0x1.fep127},
        {"e4m3", "unsigned char", 1, 0.125, 448},
        {"e5m2", "unsigned char", 1, 0.25, 57344},
        {"e4m3fnuz", "unsigned char", 1, 0.125, 240},
        {"e5m2fnuz", "unsigned char", 1, 0.25, 57344},
        {"i64", "int64_t", 8, 0, 0x1.fffffffffffffp62},
        {"u64", "uint64_t", 8, 0, 0x1.fffffffffffffp63},
        {"i32", "int32_t", 4, 0, 2147483647},
        {"u32", "uint32_t", 4, 0, 4294967295},
        {"i16", "int16_t", 2, 0, 32767},
        {"u16", "uint16_t", 2, 0, 65535},
        {"i8", "int8_t", 1, 0, 127},
        {"u8", "uint8_t", 1, 0, 255},
    };
    assert_int_equal(COUNT_OF(cases), DTYPE_COUNT - 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const enum dtype dtype = dtype_from_name(cases[i].name);
        assert_int_not_equal(dtype, DTYPE_NONE);
        assert_string_equal(dtype_name(dtype), cases[i].name);
        assert_string_equal(dtype_ctype(dtype), cases[i].ctype);
        assert_int_equal(dtype_bytes(dtype), cases[i].bytes);
        assert_true(dtype_epsilon(dtype) == cases[i].epsilon);
        assert_true(dtype_max(dtype) == cases[i].max);
        assert_int_equal(dtype_is_float(dtype), cases[i].epsilon > 0);
        assert_true(load_one(dtype, store_one(dtype, cases[i].max)) == cases[i].max);
        if (dtype_is_float(dtype)) {
            const double next = load_one(dtype, store_one(dtype, 1) + (dtype == DTYPE_XF32 ? UINT64_C(1) << 13 : 1));
            assert_true(next - 1 == cases[i].epsilon);
        }
    }
    assert_int_equal(dtype_from_name("float"), DTYPE_NONE);
    assert_int_equal(dtype_from_name(""), DTYPE_NONE);
}

/* The narrow formats as their specifications write them. */
struct narrow {
    enum dtype dtype;
    unsigned exponent_bits, mantissa_bits;
    int bias;
    bool fnuz, no_infinity;
};
static const struct narrow narrows[] = {
    {DTYPE_F16, 5, 10, 15, false, false},   {DTYPE_BF16, 8, 7, 127, false, false},
    {DTYPE_E4M3, 4, 3, 7, false, true},     {DTYPE_E5M2, 5, 2, 15, false, false},
    {DTYPE_E4M3FNUZ, 4, 3, 8, true, false}, {DTYPE_E5M2FNUZ, 5, 2, 16, true, false},
};

/* The value of a code, by the book: sign, exponent, mantissa. */
static double by_the_book(const struct narrow *n, uint64_t code)
{
    const uint64_t mantissa = code & ((1u << n->mantissa_bits) - 1);
    const uint64_t exponent = code >> n->mantissa_bits & ((1u << n->exponent_bits) - 1);
    const uint64_t top = (1u << n->exponent_bits) - 1;
    const bool negative = code >> (n->mantissa_bits + n->exponent_bits) & 1;
    if (n->fnuz && negative && !mantissa && !exponent)
        return (double)NAN;
    if (n->no_infinity && exponent == top && mantissa == (1u << n->mantissa_bits) - 1)
        return (double)NAN;
    if (!n->fnuz && !n->no_infinity && exponent == top)
        return mantissa ? (double)NAN : negative ? -(double)INFINITY : (double)INFINITY;
    const double fraction = (double)mantissa / (double)(1u << n->mantissa_bits);
    const double magnitude = exponent ? ldexp(1 + fraction, (int)exponent - n->bias) : ldexp(fraction, 1 - n->bias);
    return negative ? -magnitude : magnitude;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void every_code_means_and_returns(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(narrows); k++) {
        const struct narrow *n = &narrows[k];
        const uint64_t codes = 1u << (1 + n->exponent_bits + n->mantissa_bits);
        for (uint64_t code = 0; code < codes; code++) {
            const double value = load_one(n->dtype, code);
            assert_true(same(value, by_the_book(n, code)));
            if (isnan(value))
                assert_true(isnan(load_one(n->dtype, store_one(n->dtype, value))));
            else
                assert_int_equal(store_one(n->dtype, value), code);
        }
    }
}

/* Between each two neighbours: just below the middle goes down, just above goes up, the middle to the even code. Signs
 * are symmetric. */
static void rounds_to_nearest_even(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(narrows); k++) {
        const struct narrow *n = &narrows[k];
        const uint64_t sign = n->fnuz ? 0 : 1u << (n->exponent_bits + n->mantissa_bits);
        for (uint64_t code = 0; load_one(n->dtype, code) < dtype_max(n->dtype); code++) {
            const double low = load_one(n->dtype, code);
            const double high = load_one(n->dtype, code + 1);
            const double middle = low + (high - low) / 2;
            assert_int_equal(store_one(n->dtype, nextafter(middle, -DBL_MAX)), code);
            assert_int_equal(store_one(n->dtype, nextafter(middle, DBL_MAX)), code + 1);
            assert_int_equal(store_one(n->dtype, middle), code + (code & 1));
            assert_int_equal(store_one(n->dtype, -middle) & ~sign,
                             code == 0 && n->fnuz ? 0 : store_one(n->dtype, middle) | (n->fnuz ? 0x80u : 0));
        }
    }
}

/* The lower 13 bits of an f32's mantissa are 0, rounded to nearest even. */
static void shortens_f32(void **state)
{
    (void)state;
    static const struct {
        double value;
        uint64_t code;
    } cases[] = {
        {1, 0x3f800000},
        {1 + 0x1p-10, 0x3f802000},
        {1 + 0x1p-11, 0x3f800000},
        {1 + 0x1.8p-10, 0x3f804000},
        {-(1 + 0x1.000002p-11), 0xbf802000},
        {0x1.fffp0, 0x40000000},
        {-0.0, 0x80000000},
        {0x1p-136, 0x00002000},
        {0x1p-137, 0},
        {0x1.fffp127, 0x7f800000},
        {-(double)INFINITY, 0xff800000},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(store_one(DTYPE_XF32, cases[i].value), cases[i].code);
    assert_true(isnan(load_one(DTYPE_XF32, store_one(DTYPE_XF32, (double)NAN))));
}

static void extremes(void **state)
{
    (void)state;
    static const struct {
        enum dtype dtype;
        double value;
        uint64_t code;
    } cases[] = {
        {DTYPE_F16, 65519.999, 0x7bff},
        {DTYPE_F16, 65520, 0x7c00},
        {DTYPE_F16, -1e300, 0xfc00},
        {DTYPE_F16, (double)NAN, 0x7e00},
        {DTYPE_F16, (double)INFINITY, 0x7c00},
        {DTYPE_F16, -0.0, 0x8000},
        {DTYPE_F16, -1e-300, 0x8000},
        {DTYPE_BF16, 0x1.ffp127, 0x7f80},
        {DTYPE_BF16, 0x1.feffp127, 0x7f7f},
        {DTYPE_BF16, (double)NAN, 0x7fc0},
        {DTYPE_E4M3, 448, 0x7e},
        {DTYPE_E4M3, 464, 0x7e},
        {DTYPE_E4M3, 464.001, 0x7f},
        {DTYPE_E4M3, -1e9, 0xff},
        {DTYPE_E4M3, (double)INFINITY, 0x7f},
        {DTYPE_E4M3, (double)NAN, 0x7f},
        {DTYPE_E5M2, 61439, 0x7b},
        {DTYPE_E5M2, 61440, 0x7c},
        {DTYPE_E5M2, -1e9, 0xfc},
        {DTYPE_E4M3FNUZ, 247.9, 0x7f},
        {DTYPE_E4M3FNUZ, 248, 0x80},
        {DTYPE_E4M3FNUZ, -0.0, 0},
        {DTYPE_E4M3FNUZ, -1e-9, 0},
        {DTYPE_E4M3FNUZ, -(double)INFINITY, 0x80},
        {DTYPE_E5M2FNUZ, 61440, 0x80},
        {DTYPE_E5M2FNUZ, (double)NAN, 0x80},
        {DTYPE_E5M2FNUZ, DBL_MAX, 0x80},
        {DTYPE_BF16, DBL_MIN / 4, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(store_one(cases[i].dtype, cases[i].value), cases[i].code);
}

#ifdef __FLT16_MANT_DIG__
/* The compiler's own type agrees on random doubles. */
static void agrees_with_the_compilers_half(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const double mantissa = (double)(int64_t)seed * 0x1p-63;
        const double value = ldexp(mantissa, (int)(seed >> 32) % 24);
        const _Float16 half = (_Float16)value;
        uint16_t want;
        memcpy(&want, &half, sizeof(want));
        assert_int_equal(store_one(DTYPE_F16, value), want);
    }
}
#endif

static void integers(void **state)
{
    (void)state;
    static const struct {
        enum dtype dtype;
        double value;
        int64_t want;
        bool exact;
    } cases[] = {
        {DTYPE_U8, 255.9, 255, true},
        {DTYPE_U8, 256, 255, false},
        {DTYPE_U8, -0.9, 0, true},
        {DTYPE_U8, -1, 0, false},
        {DTYPE_I8, -128.5, -128, true},
        {DTYPE_I8, -129, -128, false},
        {DTYPE_I8, 127.99, 127, true},
        {DTYPE_I8, 128, 127, false},
        {DTYPE_U16, 65535.5, 65535, true},
        {DTYPE_I16, -32768.5, -32768, true},
        {DTYPE_I32, 2147483647.9, INT32_MAX, true},
        {DTYPE_I32, 2147483648.0, INT32_MAX, false},
        {DTYPE_I32, -2147483648.9, INT32_MIN, true},
        {DTYPE_I32, -7.9, -7, true},
        {DTYPE_U32, 4294967295.9, UINT32_MAX, true},
        {DTYPE_U32, 3000000000.5, 3000000000, true},
        {DTYPE_U32, 4294967296.0, UINT32_MAX, false},
        {DTYPE_U32, -1e30, 0, false},
        {DTYPE_I64, -0x1p63, INT64_MIN, true},
        {DTYPE_I64, 0x1p63, INT64_MAX, false},
        {DTYPE_I64, -0x1.0000000000001p63, INT64_MIN, false},
        {DTYPE_I64, 0x1p62, (int64_t)1 << 62, true},
        {DTYPE_I64, -4503599627370497.0, -4503599627370497, true},
        {DTYPE_I64, -1.5, -1, true},
        {DTYPE_U64, 0x1p63, INT64_MIN, true},
        {DTYPE_U64, 0x1p64, -1, false},
        {DTYPE_U64, 9007199254740993.0, 9007199254740992, true},
        {DTYPE_U64, -0.5, 0, true},
        {DTYPE_U64, -1, 0, false},
        {DTYPE_I32, (double)NAN, INT32_MIN, false},
        {DTYPE_U64, (double)NAN, 0, false},
        {DTYPE_U8, (double)INFINITY, 255, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t got = 0;
        bool exact = true;
        dtype_store(&got, cases[i].dtype, &cases[i].value, 1, &exact);
        const unsigned bits = 64 - 8 * (unsigned)dtype_bytes(cases[i].dtype);
        const uint64_t want = (uint64_t)cases[i].want << bits >> bits;
        assert_int_equal((uint64_t)got, want);
        assert_int_equal(exact, cases[i].exact);
    }
}

/* Long runs, through the blocks and with one misfit in the last of them. */
static void runs(void **state)
{
    (void)state;
    enum { LENGTH = 5003 };
    double *values = malloc(LENGTH * sizeof(*values));
    double *back = malloc(LENGTH * sizeof(*back));
    char *stored = malloc(LENGTH * sizeof(double));
    for (enum dtype dtype = DTYPE_NONE + 1; dtype < DTYPE_COUNT; dtype++) {
        for (size_t i = 0; i < LENGTH; i++)
            values[i] = (double)(i % 8);
        bool exact = true;
        dtype_store(stored, dtype, values, LENGTH, &exact);
        assert_true(exact);
        dtype_load(back, dtype, stored, LENGTH);
        assert_memory_equal(values, back, LENGTH * sizeof(*values));
        values[LENGTH - 2] = 1e300;
        dtype_store(stored, dtype, values, LENGTH, &exact);
        assert_int_equal(exact, dtype_is_float(dtype));
        dtype_load(back, dtype, stored, LENGTH);
        assert_memory_equal(values, back, (LENGTH - 2) * sizeof(*values));
        assert_true(back[LENGTH - 1] == values[LENGTH - 1]);
    }
    free(values);
    free(back);
    free(stored);
}

static void loads_large_integers(void **state)
{
    (void)state;
    assert_true(load_one(DTYPE_U64, UINT64_MAX) == 0x1p64);
    assert_true(load_one(DTYPE_U64, (1ull << 53) + 1) == 0x1p53);
    assert_true(load_one(DTYPE_U64, (1ull << 53) + 3) == 0x1p53 + 4);
    assert_true(load_one(DTYPE_I64, UINT64_MAX) == -1);
    assert_true(load_one(DTYPE_U32, UINT32_MAX) == 4294967295.0);
    assert_true(load_one(DTYPE_I8, 0x80) == -128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(every_code_means_and_returns),
        cmocka_unit_test(rounds_to_nearest_even),
        cmocka_unit_test(shortens_f32),
        cmocka_unit_test(extremes),
#ifdef __FLT16_MANT_DIG__
        cmocka_unit_test(agrees_with_the_compilers_half),
#endif
        cmocka_unit_test(integers),
        cmocka_unit_test(runs),
        cmocka_unit_test(loads_large_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
