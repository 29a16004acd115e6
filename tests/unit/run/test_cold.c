/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/run.h"

#define MIB ((uint64_t)1 << 20)

/* Level capacities (of the machine file, the memory last, 0 = none) and the L2 that the driver names. */
static const struct {
    const char *what;
    double levels[4];
    uint32_t level_count;
    uint64_t l2_bytes;
    uint32_t l2_count;
    bool known;
    uint64_t flush_bytes, reread_bytes;
} cases[] = {
    {"MI300X: 304 x 32 KiB, 8 x 4 MiB, 256 MiB",
     {9.5 * MIB, 32 * MIB, 256 * MIB, 0},
     4,
     4 * MIB,
     8,
     true,
     595 * MIB,
     16 * MIB},
    {"MI210: no cache behind the L2", {1.625 * MIB, 8 * MIB, 0}, 3, 8 * MIB, 1, true, 20 * MIB, 2 * MIB},
    {"RX 7900 XTX", {3 * MIB, 6 * MIB, 96 * MIB, 0}, 4, 6 * MIB, 1, true, 210 * MIB, 16 * MIB},
    {"the driver names more than the file", {4 * MIB, 0}, 2, 8 * MIB, 1, true, 16 * MIB, 1 * MIB},
    {"no machine file", {0}, 0, 4 * MIB, 8, false, 1024 * MIB, 1 * MIB},
    {"no machine file, a huge cache", {0}, 0, 512 * MIB, 1, false, 2048 * MIB, 16 * MIB},
    {"nothing is known", {0}, 0, 0, 0, false, 1024 * MIB, MIB / 4},
};

static void exceeds_every_cache(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct machine machine = {.level_count = cases[k].level_count};
        struct device_info info = {.cache_count = cases[k].l2_bytes > 0};
        bool known = !cases[k].known;
        for (uint32_t level = 0; level < cases[k].level_count; level++)
            machine.levels[level].capacity_bytes = cases[k].levels[level];
        info.caches[0] = (struct device_cache){.size_bytes = cases[k].l2_bytes, .instances = cases[k].l2_count};
        const uint64_t flush = run_flush_bytes(&known, &machine, &info), reread = run_reread_bytes(&machine, &info);
        if (flush != cases[k].flush_bytes || known != cases[k].known || reread != cases[k].reread_bytes)
            fail_msg("%s: flush %llu MiB, known %d, reread %llu KiB", cases[k].what, (unsigned long long)(flush / MIB),
                     known, (unsigned long long)(reread >> 10));
    }
}

static void is_small_where_there_are_no_caches(void **state)
{
    const struct machine machine = {.level_count = 2, .levels = {{.capacity_bytes = 256 * MIB}}};
    const struct device_info info = {.emulated = "rocjitsu"};
    bool known;
    (void)state;
    assert_int_equal(run_flush_bytes(&known, &machine, &info), MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exceeds_every_cache),
                                       cmocka_unit_test(is_small_where_there_are_no_caches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
