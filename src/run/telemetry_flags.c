/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run_internal.h"

/* Of 6544 pairs of neighbouring samples of a steady MI355X the clock of 99 % differed by less (median 0.11 %). */
static const double clock_drop_above = 0.0078;
enum { CLOCK_PARTS = 4 }; /* the first and the last of so many parts of the samples are compared */

/* The middle clock of some samples; 0 when no probe worked. */
static double held_hz(const float *hz, uint32_t count)
{
    double known[MEASUREMENT_MAX_SAMPLES / CLOCK_PARTS + 1];
    size_t used = 0;
    for (uint32_t k = 0; k < count; k++)
        if (hz[k] > 0)
            known[used++] = (double)hz[k];
    return used ? median_of(known, used) : 0;
}

/* How far the clock fell while the case ran, relative: by the probes beside the samples, or else by what the driver
 * said before and after. 0 where neither tells. */
static double clock_drop(const struct measurement *out, double *from_hz, double *to_hz)
{
    const uint32_t part = out->sample_count / CLOCK_PARTS;
    *from_hz = out->before.core_hz;
    *to_hz = out->after.core_hz;
    if (out->has_sample_hz && part) {
        *from_hz = held_hz(out->sample_hz, part);
        *to_hz = held_hz(out->sample_hz + out->sample_count - part, part);
    }
    return *from_hz > 0 && *to_hz > 0 ? 1 - *to_hz / *from_hz : 0;
}

/* The counters have 32 bits and wrap, so any change counts. */
static bool moved(double before, double after)
{
    return isfinite(before) && isfinite(after) && before != after;
}

static const char *throttle_cause(const struct measurement *out)
{
    const struct device_sense *a = &out->before, *b = &out->after;
    const struct {
        bool seen;
        const char *name;
    } causes[] = {
        {moved(a->violation_prochot, b->violation_prochot), "the processor-hot signal"},
        {moved(a->violation_thermal, b->violation_thermal), "the temperature limit of the socket"},
        {moved(a->violation_hbm, b->violation_hbm), "the temperature limit of the memory"},
        {moved(a->violation_vr, b->violation_vr), "the temperature limit of the voltage regulators"},
        {moved(a->violation_power, b->violation_power), "the power limit"},
        {b->throttle_bits & ~a->throttle_bits, "throttling"},
    };
    for (size_t k = 0; k < sizeof(causes) / sizeof(causes[0]); k++)
        if (causes[k].seen)
            return causes[k].name;
    return NULL;
}

void flag_throttling(struct measurement *out)
{
    double from_hz, to_hz;
    const double drop = clock_drop(out, &from_hz, &to_hz);
    const char *cause = throttle_cause(out);
    if (!cause || drop <= clock_drop_above)
        return;
    out->flags |= FLAG_THROTTLED;
    const size_t length = strlen(out->flag_reason);
    snprintf(out->flag_reason + length, sizeof(out->flag_reason) - length,
             "%sthe clock fell from %.0f to %.0f MHz (-%.1f %%) while %s held it back", length ? "; " : "",
             from_hz / 1e6, to_hz / 1e6, drop * 100, cause);
}
