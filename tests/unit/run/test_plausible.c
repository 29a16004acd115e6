/* SPDX-License-Identifier: MIT
 *
 * What follows from a case that is faster than a roof: a finding, or that nobody can tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/run/run_internal.h"

#define MOVED "reference stream moved from 40.0 to 20.0 GB/s (-50 %)"

static const struct {
    const char *what;
    enum plausibility verdict;
    bool measured_again;
    uint32_t before, after;
    const char *reason;
} cases[] = {
    {"plausible", PLAUSIBLE, true, 0, 0, ""},
    {"plausible and disturbed", PLAUSIBLE, true, FLAG_DISTURBED, FLAG_DISTURBED, MOVED},
    {"a roof that gave way", PLAUSIBLE, true, FLAG_ROOF_RAISED, FLAG_ROOF_RAISED, "raised"},
    {"faster than physics", IMPOSSIBLE, true, 0, FLAG_IMPOSSIBLE, "too fast"},
    {"a neighbour does not change physics", IMPOSSIBLE, true, FLAG_DISTURBED, FLAG_DISTURBED | FLAG_IMPOSSIBLE,
     "too fast"},
    {"a roof that stays", ABOVE_MEASURED_ROOF, true, 0, FLAG_IMPOSSIBLE, "too fast"},
    {"a roof raised too little", ABOVE_MEASURED_ROOF, true, FLAG_ROOF_RAISED, FLAG_ROOF_RAISED | FLAG_IMPOSSIBLE,
     "too fast"},
    {"a roof measured beside a neighbour", ABOVE_MEASURED_ROOF, true, FLAG_DISTURBED, FLAG_DISTURBED,
     "proves nothing: too fast"},
    {"and raised", ABOVE_MEASURED_ROOF, true, FLAG_DISTURBED | FLAG_ROOF_RAISED, FLAG_DISTURBED | FLAG_ROOF_RAISED,
     MOVED},
    {"a roof that nothing measures", ABOVE_MEASURED_ROOF, false, FLAG_DISTURBED, FLAG_DISTURBED | FLAG_IMPOSSIBLE,
     "run rooftile roofline"},
};

static void test_verdicts(void **state)
{
    (void)state;
    static struct measurement out;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        out.flags = cases[i].before;
        snprintf(out.flag_reason, sizeof(out.flag_reason), "%s", cases[i].before & FLAG_DISTURBED ? MOVED : "");
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
