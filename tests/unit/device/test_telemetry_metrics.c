/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/device/telemetry.h"
#include "rooftile/rng.h"

enum { LARGEST = 4096 };

static void put(uint8_t *table, size_t at, uint64_t value, size_t width)
{
    memcpy(table + at, &value, width);
}

static void begin(uint8_t *table, size_t size, uint8_t content)
{
    memset(table, 0xff, LARGEST); /* as the driver begins */
    put(table, 0, size, 2);
    table[2] = 1;
    table[3] = content;
}

/* Where the fields lie, counted from the declarations in Linux' kgd_pp_interface.h by a C compiler. */
static const struct {
    uint8_t content;
    size_t size, hotspot, power, core, cores, memory, status, status_width, residency;
} tables[] = {
    {0, 80, 18, 34, 54, 1, 58, 68, 4, 0},      {1, 96, 6, 22, 54, 1, 58, 68, 4, 0},
    {2, 104, 6, 22, 54, 1, 58, 68, 4, 0},      {3, 120, 6, 22, 54, 1, 58, 112, 8, 0},
    {4, 288, 4, 10, 240, 8, 280, 40, 4, 0},    {5, 360, 4, 10, 312, 8, 352, 104, 4, 0},
    {6, 384, 4, 10, 336, 8, 376, 128, 4, 108}, {6, 1664, 4, 10, 264, 8, 304, 0, 0, 36},
    {7, 2208, 4, 10, 296, 8, 336, 0, 0, 44},   {8, 3360, 4, 10, 296, 8, 336, 0, 0, 44},
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static void fill(uint8_t *table, size_t i)
{
    begin(table, tables[i].size, tables[i].content);
    put(table, tables[i].hotspot, 71, 2);
    put(table, tables[i].power, 650, 2);
    for (size_t k = 0; k < tables[i].cores; ++k)
        put(table, tables[i].core + 2 * k, 1900 + 10 * k, 2);
    put(table, tables[i].memory, 1300, 2);
    if (tables[i].status)
        put(table, tables[i].status, 0x21, tables[i].status_width);
    for (size_t k = 0; tables[i].residency && k < 5; ++k)
        put(table, tables[i].residency + 4 * k, 100 + k, 4);
}

static void reads_every_revision(void **state)
{
    uint8_t table[LARGEST];
    (void)state;
    for (size_t i = 0; i < TABLES; ++i) {
        struct device_sense sense = device_sense_unknown;
        fill(table, i);
        assert_true(telemetry_metrics(&sense, table, tables[i].size));
        assert_true(sense.temp_c == 71 && sense.power_w == 650 && sense.memory_hz == 1.3e9);
        assert_true(fabs(sense.core_hz - (tables[i].cores == 1 ? 1.9e9 : 1.935e9)) < 1);
        assert_int_equal(sense.throttle_bits, tables[i].status ? 0x21 : UINT64_MAX);
        if (tables[i].residency) {
            assert_true(sense.violation_prochot == 100 && sense.violation_power == 101 &&
                        sense.violation_thermal == 102);
            assert_true(sense.violation_vr == 103 && sense.violation_hbm == 104);
        } else {
            assert_true(isnan(sense.violation_prochot) && isnan(sense.violation_power));
        }
    }
}

/* Six XCDs of eight places, one of them asleep: the mean of those that run. */
static void skips_clocks_that_are_not_there(void **state)
{
    uint8_t table[LARGEST];
    struct device_sense sense = device_sense_unknown;
    (void)state;
    fill(table, 7);
    for (size_t k = 0; k < 8; ++k)
        put(table, 264 + 2 * k, k < 5 ? 2000 : k == 5 ? 0 : 0xffff, 2);
    assert_true(telemetry_metrics(&sense, table, 1664));
    assert_true(fabs(sense.core_hz - 2e9) < 1);
}

static void leaves_unset_fields_unknown(void **state)
{
    uint8_t table[LARGEST];
    (void)state;
    for (size_t i = 0; i < TABLES; ++i) {
        struct device_sense sense = device_sense_unknown;
        begin(table, tables[i].size, tables[i].content);
        assert_true(telemetry_metrics(&sense, table, tables[i].size));
        assert_true(isnan(sense.temp_c) && isnan(sense.power_w) && isnan(sense.core_hz) && isnan(sense.memory_hz));
        assert_true(isnan(sense.violation_power));
        assert_int_equal(sense.throttle_bits, UINT64_MAX);
    }
}

static size_t attribute(uint8_t *table, size_t at, unsigned id, unsigned type, size_t count, uint64_t value)
{
    const size_t width = (size_t)1 << type / 2;
    put(table, at, (uint64_t)type << 20 | (uint64_t)id << 10 | count, 8);
    for (size_t k = 0; k < count; ++k)
        put(table, at + 8 + k * width, value, width);
    put(table, 4, *(const uint32_t *)(const void *)(table + 4) + 1u, 4);
    return at + 8 + count * width;
}

static size_t self_describing(uint8_t *table)
{
    size_t at = 8;
    begin(table, 0, 9);
    put(table, 4, 0, 4);
    at = attribute(table, at, 0, 2, 1, 64);      /* hotspot */
    at = attribute(table, at, 4, 3, 1, 99);      /* activity: not wanted */
    at = attribute(table, at, 3, 4, 1, 700);     /* power */
    at = attribute(table, at, 11, 6, 1, 12345);  /* time at the power limit */
    at = attribute(table, at, 29, 6, 8, 1);      /* link counters */
    at = attribute(table, at, 33, 2, 8, 2100);   /* core clocks */
    return attribute(table, at, 37, 2, 1, 1300); /* memory clock */
}

static void reads_tables_that_describe_themselves(void **state)
{
    uint8_t table[LARGEST];
    struct device_sense sense = device_sense_unknown;
    (void)state;
    const size_t size = self_describing(table);
    assert_true(telemetry_metrics(&sense, table, size));
    assert_true(sense.temp_c == 64 && sense.power_w == 700 && sense.violation_power == 12345);
    assert_true(sense.core_hz == 2.1e9 && sense.memory_hz == 1.3e9 && isnan(sense.violation_hbm));
}

static bool is_unknown(const struct device_sense *sense)
{
    return isnan(sense->temp_c) && isnan(sense->power_w) && isnan(sense->core_hz) && isnan(sense->memory_hz) &&
           isnan(sense->violation_power) && sense->throttle_bits == UINT64_MAX;
}

/* The bytes are where nothing may be read behind them. */
static bool read_exactly(struct device_sense *sense, const uint8_t *table, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, table, size);
    const bool read = telemetry_metrics(sense, copy, size);
    free(copy);
    return read;
}

static void refuses_truncated_and_foreign_tables(void **state)
{
    static const uint8_t foreign[][2] = {{1, 10}, {1, 255}, {2, 0}, {2, 3}, {2, 4}, {3, 0}, {0, 0}, {255, 255}};
    uint8_t table[LARGEST];
    (void)state;
    for (size_t i = 0; i < TABLES; ++i) {
        fill(table, i);
        for (size_t size = 0; size < tables[i].size; ++size) {
            struct device_sense sense = device_sense_unknown;
            assert_false(read_exactly(&sense, table, size));
            assert_true(is_unknown(&sense));
        }
    }
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); ++i) {
        struct device_sense sense = device_sense_unknown;
        fill(table, 0);
        memcpy(table + 2, foreign[i], 2);
        assert_false(read_exactly(&sense, table, 80));
        assert_true(is_unknown(&sense));
    }
    const size_t whole = self_describing(table);
    for (size_t size = 0; size < whole; ++size) {
        struct device_sense sense = device_sense_unknown;
        assert_false(read_exactly(&sense, table, size));
        assert_true(is_unknown(&sense));
    }
}

/* Nonsense may be read as numbers; it may not be read beyond, and never ends the program. */
static void survives_garbage(void **state)
{
    uint8_t table[LARGEST];
    struct rng rng;
    (void)state;
    rng_init(&rng, 1);
    for (int round = 0; round < 20000; ++round) {
        struct device_sense sense = device_sense_unknown;
        const size_t size = (size_t)rng_below(&rng, 400);
        for (size_t k = 0; k < size; ++k)
            table[k] = (uint8_t)rng_below(&rng, 256);
        if (size >= 4 && round % 4) {
            table[2] = 1;
            table[3] = (uint8_t)(round % 4 == 1 ? 9 : rng_below(&rng, 10));
        }
        read_exactly(&sense, table, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_revision),
        cmocka_unit_test(skips_clocks_that_are_not_there),
        cmocka_unit_test(leaves_unset_fields_unknown),
        cmocka_unit_test(reads_tables_that_describe_themselves),
        cmocka_unit_test(refuses_truncated_and_foreign_tables),
        cmocka_unit_test(survives_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
