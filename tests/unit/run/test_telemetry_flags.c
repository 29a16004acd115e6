/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/run/run_internal.h"

static struct measurement out;

static void begin(double before_hz, double after_hz)
{
    memset(&out, 0, sizeof(out));
    out.before = out.after = device_sense_unknown;
    out.before.core_hz = before_hz;
    out.after.core_hz = after_hz;
}

static void needs_a_lower_clock_and_a_counter(void **state)
{
    static const struct {
        double before_hz, after_hz, power_before, power_after, thermal_before, thermal_after;
        uint64_t bits_before, bits_after;
        const char *reason; /* NULL: no flag */
    } cases[] = {
        {2.1e9, 1.6e9, 10, 20, 5, 5, 0, 0,
         "the clock fell from 2100 to 1600 MHz (-23.8 %) while the power limit held it back"},
        {2.1e9, 1.6e9, 10, 20, 5, 6, 0, 0,
         "the clock fell from 2100 to 1600 MHz (-23.8 %) while the temperature limit of the socket held it back"},
        {2.1e9, 2.09e9, 10, 20, 5, 6, 0, 0, NULL},      /* -0.5 %: a clock breathes that much */
        {1.6e9, 2.1e9, 10, 20, 5, 6, 0, 0, NULL},       /* it rose */
        {2.1e9, 1.6e9, 10, 10, 5, 5, 0, 0, NULL},       /* fell by itself: an idle card */
        {2.1e9, 1.6e9, NAN, NAN, NAN, NAN, 0, 0, NULL}, /* nobody counts */
        {2.1e9, 1.6e9, NAN, 7, NAN, NAN, 0, 0, NULL},
        {NAN, NAN, 10, 20, 5, 6, 0, 0, NULL},
        {0, 1.6e9, 10, 20, 5, 6, 0, 0, NULL},
        {2.1e9, 1.6e9, 4294967290., 5, 5, 5, 0, 0, "while the power limit"}, /* it wrapped */
        {2.1e9, 1.6e9, NAN, NAN, NAN, NAN, 0, 1, "while throttling"},
        {2.1e9, 1.6e9, NAN, NAN, NAN, NAN, 3, 1, NULL}, /* as before, or less */
        {2.1e9, 1.6e9, NAN, NAN, NAN, NAN, 3, UINT64_MAX, NULL},
        {2.1e9, 1.6e9, NAN, NAN, NAN, NAN, UINT64_MAX, 1, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        begin(cases[i].before_hz, cases[i].after_hz);
        out.before.violation_power = cases[i].power_before;
        out.after.violation_power = cases[i].power_after;
        out.before.violation_thermal = cases[i].thermal_before;
        out.after.violation_thermal = cases[i].thermal_after;
        out.before.throttle_bits = cases[i].bits_before;
        out.after.throttle_bits = cases[i].bits_after;
        flag_throttling(&out);
        assert_int_equal(out.flags, cases[i].reason ? FLAG_THROTTLED : 0);
        if (cases[i].reason ? !strstr(out.flag_reason, cases[i].reason) : out.flag_reason[0])
            fail_msg("case %zu: '%s'", i, out.flag_reason);
    }
}

/* What the driver said before and after is of an idle card: the probes beside the samples know better. */
static void believes_the_probes(void **state)
{
    static const struct {
        float first_hz, last_hz;
        uint32_t samples;
        bool flagged;
    } cases[] = {{2e9f, 1.5e9f, 40, true},
                 {2e9f, 2e9f, 40, false},
                 {NAN, 1.5e9f, 40, false},
                 {2e9f, NAN, 40, false},
                 {2e9f, 1.5e9f, 3, true} /* too few: the driver's word */};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        begin(2e9, 0.5e9);
        out.before.violation_power = 1;
        out.after.violation_power = 2;
        out.has_sample_hz = true;
        out.sample_count = cases[i].samples;
        for (uint32_t k = 0; k < out.sample_count; ++k)
            out.sample_hz[k] = k < out.sample_count / 2 ? cases[i].first_hz : cases[i].last_hz;
        flag_throttling(&out);
        assert_int_equal(out.flags, cases[i].flagged ? FLAG_THROTTLED : 0);
    }
}

static void adds_to_another_reason(void **state)
{
    (void)state;
    begin(2e9, 1e9);
    out.flags = FLAG_INTERFERENCE;
    snprintf(out.flag_reason, sizeof(out.flag_reason), "calibration stream moved");
    out.before.violation_hbm = 1;
    out.after.violation_hbm = 2;
    flag_throttling(&out);
    assert_int_equal(out.flags, FLAG_INTERFERENCE | FLAG_THROTTLED);
    assert_string_equal(out.flag_reason,
                        "calibration stream moved; the clock fell from 2000 to 1000 MHz (-50.0 %) while the "
                        "temperature limit of the memory held it back");
}

/* A case is judged by the highest clock that the run has seen, not by the readings before and after it alone. */
static void clocks_of_the_run_count(void **state)
{
    static struct run_shared shared;
    static struct machine limits;
    const double clocks[] = {3.5e9, 3.5e9, 4e9};
    double peaks[COUNT_OF(clocks)];
    struct worker worker = {
        .shared = &shared,
        .info = {.backend = "hip", .arch = "gfx942", .target = "gfx942", .wave = 64, .cus = 304, .core_hz = 3.5e9}};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(clocks); k++) {
        shared.fastest_hz = k ? clocks[k] : 0; /* nothing read: what the device says of itself */
        device_limits(&limits, &worker);
        peaks[k] = machine_unit(&limits, "vector_f32")->peak.vendor;
    }
    assert_true(peaks[0] > 0 && fabs(peaks[1] / peaks[0] - 1) < 1e-9 && fabs(peaks[2] / peaks[1] - 4 / 3.5) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_a_lower_clock_and_a_counter),
        cmocka_unit_test(believes_the_probes),
        cmocka_unit_test(adds_to_another_reason),
        cmocka_unit_test(clocks_of_the_run_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
