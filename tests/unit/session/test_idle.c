/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rooftile/measure.h"

static void says_who_is_there(void **state)
{
    static const struct {
        double used_bytes, own_bytes, others;
        const char *problem;
    } cases[] = {
        {NAN, NAN, NAN, ""},
        {0, NAN, 0, ""},
        {1.5e9, NAN, 0, ""}, /* a runtime's own gigabyte, where nobody tells whose it is */
        {5e9, NAN, 0, "3.9 GB of its memory are already in use"},
        {5e9, 4.9e9, 0, ""},
        {4e9, 0.1e9, 0, "3.9 GB of its memory are already in use"},
        {1e9, 0.1e9, 2, "2 other processes use the GPU"},
        {51e9, 1e9, 1, "1 other process uses the GPU, and 50.0 GB of its memory are in use"},
    };
    const struct device_info info = {.memory_bytes = (uint64_t)192 << 30};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct text problem = {0};
        struct device_sense sense = device_sense_unknown;
        sense.vram_used_bytes = cases[i].used_bytes;
        sense.vram_own_bytes = cases[i].own_bytes;
        sense.other_processes = cases[i].others;
        idle_problem(&problem, &info, &sense);
        assert_string_equal(problem.data, cases[i].problem);
        text_release(&problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_who_is_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
