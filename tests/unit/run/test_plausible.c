/* SPDX-License-Identifier: MIT
 *
 * What follows from a case that is faster than a ceiling: a finding, or that nobody can tell.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/run/run_internal.h"
#include "../near.h"

#define MOVED "calibration stream moved from 40.0 to 20.0 GB/s (-50 %)"

static const struct {
    const char *what;
    enum plausibility verdict;
    bool measured_again, explained;
    uint32_t before, after;
    const char *reason;
} cases[] = {
    {"plausible", PLAUSIBLE, true, false, 0, 0, ""},
    {"plausible and interference", PLAUSIBLE, true, false, FLAG_INTERFERENCE, FLAG_INTERFERENCE, MOVED},
    {"a ceiling that gave way", PLAUSIBLE, true, false, FLAG_CEILING_RAISED, FLAG_CEILING_RAISED, "raised"},
    {"faster than physics", IMPOSSIBLE, true, false, 0, FLAG_IMPOSSIBLE, "too fast"},
    {"a neighbour does not change physics", IMPOSSIBLE, true, false, FLAG_INTERFERENCE,
     FLAG_INTERFERENCE | FLAG_IMPOSSIBLE, "too fast"},
    {"a ceiling that stays", ABOVE_MEASURED_CEILING, true, false, 0, FLAG_IMPOSSIBLE, "too fast"},
    {"a ceiling raised too little", ABOVE_MEASURED_CEILING, true, false, FLAG_CEILING_RAISED,
     FLAG_CEILING_RAISED | FLAG_IMPOSSIBLE, "too fast"},
    {"as far above as a neighbour can explain", ABOVE_MEASURED_CEILING, true, true, FLAG_INTERFERENCE,
     FLAG_INTERFERENCE, "so this is not judged: too fast"},
    {"a neighbour before and after", ABOVE_MEASURED_CEILING, true, true, 0, FLAG_INTERFERENCE,
     "so this is not judged: too fast"},
    {"and raised", ABOVE_MEASURED_CEILING, true, true, FLAG_INTERFERENCE | FLAG_CEILING_RAISED,
     FLAG_INTERFERENCE | FLAG_CEILING_RAISED, MOVED},
    {"further above than a neighbour can explain", ABOVE_MEASURED_CEILING, true, false, FLAG_INTERFERENCE,
     FLAG_INTERFERENCE | FLAG_IMPOSSIBLE, "too fast"},
    {"a ceiling that nothing measures", ABOVE_MEASURED_CEILING, false, false, FLAG_INTERFERENCE,
     FLAG_INTERFERENCE | FLAG_IMPOSSIBLE, "run rooftile roofline"},
};

static void test_verdicts(void **state)
{
    (void)state;
    static struct measurement out;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        out.flags = cases[i].before;
        snprintf(out.flag_reason, sizeof(out.flag_reason), "%s", cases[i].before & FLAG_INTERFERENCE ? MOVED : "");
        flag_implausible(&out, &(struct implausible){.verdict = cases[i].verdict,
                                                     .measured_again = cases[i].measured_again,
                                                     .explained = cases[i].explained,
                                                     .interference = 2,
                                                     .why = "too fast"});
        if (out.flags != cases[i].after || !strstr(out.flag_reason, cases[i].reason))
            fail_msg("%s: flags %u, expected %u: \"%s\"", cases[i].what, out.flags, cases[i].after, out.flag_reason);
    }
}

static void test_interference_seen(void **state)
{
    static const struct {
        double quiet[2], before[2], after[2]; /* stream, FMA */
        double seen;
    } rows[] = {
        {{40, 100}, {40, 100}, {40, 100}, 1},    {{40, 100}, {39, 101}, {40, 100}, 1},    /* rates breathe that much */
        {{40, 100}, {20, 100}, {40, 90}, 2},                                              /* the larger of the two */
        {{40, 100}, {40, 25}, {40, 100}, 4},     {{40, 100}, {20, 50}, {20, 50}, 2},      /* slow all the time */
        {{NAN, NAN}, {20, NAN}, {30, NAN}, 1.5}, {{NAN, NAN}, {NAN, NAN}, {NAN, NAN}, 1}, /* a GPU */
    };
    (void)state;
    static struct measurement out;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct device_sense quiet = {.stream_bps = rows[i].quiet[0], .fma_flops = rows[i].quiet[1]};
        out.before = (struct device_sense){.stream_bps = rows[i].before[0], .fma_flops = rows[i].before[1]};
        out.after = (struct device_sense){.stream_bps = rows[i].after[0], .fma_flops = rows[i].after[1]};
        assert_near(interference_seen(&out, &quiet), rows[i].seen, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts), cmocka_unit_test(test_interference_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
