/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "comma_locale.h"
#include "rooftile/arena.h"
#include "rooftile/units.h"

#define REFUSED NAN

struct reading {
    const char *text;
    double value;
};

static void check_reading(const struct reading *cases, size_t count, bool (*parse)(double *, const char *))
{
    for (size_t i = 0; i < count; i++) {
        double value = -77;
        const bool accepted = parse(&value, cases[i].text);
        const bool wanted = !isnan(cases[i].value);
        if (accepted != wanted)
            fail_msg("'%s' was %s", cases[i].text, accepted ? "accepted" : "refused");
        if (!wanted && isinf(value)) /* that is how a number beyond a double is told apart */
            continue;
        if (value != (wanted ? cases[i].value : -77))
            fail_msg("'%s' is %.17g", cases[i].text, value);
    }
}

static const struct reading numbers[] = {
    {"268435456", 268435456},
    {"256Mi", 268435456},
    {"16Ki", 16384},
    {"1Gi", 1073741824},
    {"2Ti", 2199023255552},
    {"1e6", 1e6},
    {"1E+6", 1e6},
    {"25e-1", 2.5},
    {"0.5k", 500},
    {".5", 0.5},
    {"3M", 3e6},
    {"2.5G", 2.5e9},
    {"1T", 1e12},
    {"-5", -5},
    {"+5", 5},
    {"0", 0},
    {"", REFUSED},
    {"-", REFUSED},
    {"+", REFUSED},
    {".", REFUSED},
    {"5.", REFUSED},
    {"Ki", REFUSED},
    {"0x10", REFUSED},
    {"inf", REFUSED},
    {"nan", REFUSED},
    {"1e", REFUSED},
    {"1e+", REFUSED},
    {"1e999", REFUSED},
    {"1e308k", REFUSED},
    {" 1", REFUSED},
    {"1 ", REFUSED},
    {"1 Ki", REFUSED},
    {"1K", REFUSED},
    {"1ki", REFUSED},
    {"1KiB", REFUSED},
    {"1,5", REFUSED},
    {"1..2", REFUSED},
    {"--1", REFUSED},
    {"1p3", REFUSED},
};

static const struct reading times[] = {
    {"0.5 s", 5e8},    {"0.5s", 5e8},      {"250 ms", 2.5e8}, {"12us", 12e3},         {"7  ns", 7},
    {"2 min", 120e9},  {"0 s", 0},         {"1e3 ns", 1000},  {"5", REFUSED},         {"s", REFUSED},
    {"-1 s", REFUSED}, {"1 sec", REFUSED}, {"1k s", REFUSED}, {"", REFUSED},          {"1 s ", REFUSED},
    {"1 h", REFUSED},  {"inf s", REFUSED}, {"1 S", REFUSED},  {"1e308 min", REFUSED},
};

static void reads(void **state)
{
    (void)state;
    check_reading(numbers, COUNT_OF(numbers), units_parse_number);
    check_reading(times, COUNT_OF(times), units_parse_time_ns);
}

struct writing {
    double value;
    const char *text;
};

static void check_writing(const struct writing *cases, size_t count, const char *(*put)(char *, double))
{
    for (size_t i = 0; i < count; i++) {
        char out[UNITS_TEXT];
        assert_ptr_equal(put(out, cases[i].value), out);
        assert_string_equal(out, cases[i].text);
    }
}

static const char *put_gbps(char *out, double value)
{
    return units_rate(out, value, "B/s");
}

static const struct writing times_written[] = {
    {0, "0 ns"},        {-0.0, "0 ns"},     {0.25, "0.250 ns"}, {1, "1.00 ns"},      {9.994, "9.99 ns"},
    {9.996, "10.0 ns"}, {12.34, "12.3 ns"}, {99.96, "100 ns"},  {999.4, "999 ns"},   {999.6, "1.00 us"},
    {12345, "12.3 us"}, {1.5e6, "1.50 ms"}, {2.5e9, "2.50 s"},  {3.6e12, "3600 s"},  {-1, "-"},
    {NAN, "-"},         {INFINITY, "inf"},  {-INFINITY, "-"},   {1e300, "1e+291 s"}, {1e-9, "0.000 ns"},
};
static const struct writing bytes_written[] = {
    {0, "0 B"},
    {7, "7 B"},
    {999, "999 B"},
    {1000, "1000 B"},
    {1023, "1023 B"},
    {1024, "1.00 KiB"},
    {1.5 * 0x1p30, "1.50 GiB"},
    {1023.4 * 1024, "1023 KiB"},
    {1023.7 * 1024, "1.00 MiB"},
    {256 * 0x1p20, "256 MiB"},
    {0x1p45, "32.0 TiB"},
    {0.5, "0.500 B"},
    {-3, "-"},
};
static const struct writing rates_written[] = {
    {24.1e9, "24.1 GB/s"},
    {5.3e12, "5.30 TB/s"},
    {999.9e9, "1.00 TB/s"},
    {0, "0 B/s"},
    {1e15, "1.00 PB/s"},
    {0.5, "0.500 B/s"},
    {NAN, "-"},
};
static const struct writing hz_written[] = {{2.31e9, "2.31 GHz"}, {100e6, "100 MHz"}, {32768, "32.8 kHz"}, {NAN, "-"}};
static const struct writing percents_written[] = {
    {0.873, "87 %"},   {1, "100 %"},     {0, "0 %"},        {0.00123, "0.1 %"}, {12.5, "1250 %"}, {-0.1, "-10 %"},
    {0.0994, "9.9 %"}, {0.0996, "10 %"}, {0.999, "99.9 %"}, {0.0001, "<0.1 %"}, {NAN, "-"},
};
static const struct writing counts_written[] = {
    {0, "0"},
    {5, "5"},
    {2.5, "2.50"},
    {1000, "1000"},
    {1024, "1Ki"},
    {1025, "1025"},
    {4096, "4Ki"},
    {9999, "9999"},
    {33554432, "32Mi"},
    {33554433, "33.6M"},
    {1536 * 0x1p20, "1536Mi"},
    {0x1p30, "1Gi"},
    {1e6, "1.00M"},
    {1e12, "1.00T"},
    {NAN, "-"},
    {-4, "-"},
    {65536000, "65.5M"},
    {0x1p60, "1.15E"},
    {10240, "10Ki"},
};

static void writes(void **state)
{
    (void)state;
    check_writing(times_written, COUNT_OF(times_written), units_time);
    check_writing(bytes_written, COUNT_OF(bytes_written), units_bytes);
    check_writing(rates_written, COUNT_OF(rates_written), put_gbps);
    check_writing(hz_written, COUNT_OF(hz_written), units_hz);
    check_writing(percents_written, COUNT_OF(percents_written), units_percent);
    check_writing(counts_written, COUNT_OF(counts_written), units_count);
}

static void quantities(void **state)
{
    static const struct {
        double value;
        const char *unit, *text;
    } rows[] = {{1500, "ns", "1.50 us"},     {2e9, "B/s", "2.00 GB/s"},       {3e12, "FLOP/s", "3.00 TFLOP/s"},
                {0.25, "1", "0.25"},         {12.5, "cycles", "12.5 cycles"}, {NAN, "ns", "-"},
                {1.87e6, "1/s", "1.87 M/s"}, {2.349e8, "1", "235 M"}};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        char text[UNITS_TEXT];
        assert_string_equal(units_quantity(text, rows[k].value, rows[k].unit), rows[k].text);
    }
}

/* Skipped where no locale with a decimal comma is installed. */
static void ignores_locale(void **state)
{
    (void)state;
    if (!comma_locale_set())
        skip();
    reads(state);
    writes(state);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(writes),
        cmocka_unit_test(quantities),
        cmocka_unit_test(ignores_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
