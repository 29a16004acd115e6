/* SPDX-License-Identifier: MIT
 *
 * What follows from a case that is faster than a ceiling: a finding, or that nobody can tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/run/run_internal.h"

#define MOVED "calibration stream moved from 40.0 to 20.0 GB/s (-50 %)"

static const struct {
    const char *what;
    enum plausibility verdict;
    bool measured_again;
    uint32_t before, after;
    const char *reason;
} cases[] = {
    {"plausible", PLAUSIBLE, true, 0, 0, ""},
    {"plausible and interference", PLAUSIBLE, true, FLAG_INTERFERENCE, FLAG_INTERFERENCE, MOVED},
    {"a ceiling that gave way", PLAUSIBLE, true, FLAG_CEILING_RAISED, FLAG_CEILING_RAISED, "raised"},
    {"faster than physics", IMPOSSIBLE, true, 0, FLAG_IMPOSSIBLE, "too fast"},
    {"a neighbour does not change physics", IMPOSSIBLE, true, FLAG_INTERFERENCE, FLAG_INTERFERENCE | FLAG_IMPOSSIBLE,
     "too fast"},
    {"a ceiling that stays", ABOVE_MEASURED_CEILING, true, 0, FLAG_IMPOSSIBLE, "too fast"},
    {"a ceiling raised too little", ABOVE_MEASURED_CEILING, true, FLAG_CEILING_RAISED,
     FLAG_CEILING_RAISED | FLAG_IMPOSSIBLE, "too fast"},
    {"a ceiling measured beside a neighbour", ABOVE_MEASURED_CEILING, true, FLAG_INTERFERENCE, FLAG_INTERFERENCE,
     "proves nothing: too fast"},
    {"and raised", ABOVE_MEASURED_CEILING, true, FLAG_INTERFERENCE | FLAG_CEILING_RAISED,
     FLAG_INTERFERENCE | FLAG_CEILING_RAISED, MOVED},
    {"a ceiling that nothing measures", ABOVE_MEASURED_CEILING, false, FLAG_INTERFERENCE,
     FLAG_INTERFERENCE | FLAG_IMPOSSIBLE, "run rooftile roofline"},
};

static void test_verdicts(void **state)
{
    (void)state;
    static struct measurement out;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        out.flags = cases[i].before;
        snprintf(out.flag_reason, sizeof(out.flag_reason), "%s", cases[i].before & FLAG_INTERFERENCE ? MOVED : "");
        flag_implausible(&out, cases[i].verdict, cases[i].measured_again, "too fast");
        if (out.flags != cases[i].after || !strstr(out.flag_reason, cases[i].reason))
            fail_msg("%s: flags %u, expected %u: \"%s\"", cases[i].what, out.flags, cases[i].after, out.flag_reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
