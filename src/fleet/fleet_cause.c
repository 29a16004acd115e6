/* SPDX-License-Identifier: MIT
 *
 * Why a device is slow, by what else was measured of it: the first of these that holds.
 */

#include "fleet_internal.h"
#include "rooftile/units.h"

#define HOLDS_LESS 0.98 /* of the others' clock: below, it is another clock */
#define HOTTER_C 8.0    /* above the others */

static double member(const struct fleet_reading *reading, size_t offset)
{
    double value;
    memcpy(&value, (const char *)reading + offset, sizeof(value));
    return value;
}

static double fleet_median(const struct fleet *fleet, size_t group, size_t metric, size_t member_offset)
{
    double *values = new_zeroed(fleet->device_count + 1, sizeof(*values));
    size_t count = 0;
    FOR_EACH(const struct fleet_device, device, fleet->devices, fleet->device_count) {
        const double value = device->group == group ? member(&device->readings[metric], member_offset) : NAN;
        if (isfinite(value))
            values[count++] = value;
    }
    const double median = median_of(values, count);
    free(values);
    return median;
}

struct suspect {
    const struct fleet *fleet;
    const struct fleet_reading *reading;
    size_t group, metric;
};

static double others(const struct suspect *s, size_t offset)
{
    return fleet_median(s->fleet, s->group, s->metric, offset);
}

/* Its clock is lower than the others': by what? */
static enum fleet_cause clock_cause(const char **why, const struct suspect *s, double usual_hz)
{
    char own[UNITS_TEXT], usual[UNITS_TEXT];
    const struct fleet_reading *r = s->reading;
    const double usual_c = others(s, offsetof(struct fleet_reading, temp_c));
    *why =
        arena_printf(s->fleet->arena, "%s where others hold %s", units_hz(own, r->core_hz), units_hz(usual, usual_hz));
    if (r->violation_heat > others(s, offsetof(struct fleet_reading, violation_heat)) ||
        r->temp_c > usual_c + HOTTER_C) {
        if (isfinite(r->temp_c))
            *why = arena_printf(s->fleet->arena, "%s, at %.0f C", *why, r->temp_c);
        return SLOW_BY_HEAT;
    }
    if (r->violation_power > others(s, offsetof(struct fleet_reading, violation_power))) {
        if (isfinite(r->power_w))
            *why = arena_printf(s->fleet->arena, "%s, throttled by power at %.0f W", *why, r->power_w);
        return SLOW_BY_POWER;
    }
    return SLOW_BY_CLOCK;
}

static bool is_transfer(const struct fleet_metric *metric)
{
    static const char *const words[] = {"copy_to_", "copy_from_", "to_host", "to_device", "pinned", "transfer"};
    for (size_t k = 0; k < COUNT_OF(words); k++)
        if (strstr(metric->id, words[k]))
            return true;
    return strstr(metric->level, "link") != NULL;
}

enum fleet_cause fleet_cause_of(const char **why, const struct fleet *fleet, size_t device, size_t metric)
{
    const struct fleet_metric *m = &fleet->metrics[metric];
    const struct fleet_reading *r = &fleet->devices[device].readings[metric];
    const struct suspect s = {fleet, r, fleet->devices[device].group, metric};
    const double usual_hz = others(&s, offsetof(struct fleet_reading, core_hz)),
                 memory_hz = others(&s, offsetof(struct fleet_reading, memory_hz));
    char own[UNITS_TEXT], usual[UNITS_TEXT];
    *why = "";
    if (is_transfer(m))
        return strstr(m->id, "peer") ? SLOW_BY_LINK : SLOW_BY_HOST;
    if (!strcmp(m->kind, "launch"))
        return SLOW_BY_HOST;
    if (r->memory_hz < HOLDS_LESS * memory_hz) {
        *why = arena_printf(fleet->arena, "memory at %s where others have %s", units_hz(own, r->memory_hz),
                            units_hz(usual, memory_hz));
        return SLOW_BY_MEMORY;
    }
    if (r->core_hz < HOLDS_LESS * usual_hz)
        return clock_cause(why, &s, usual_hz);
    if (!strcmp(m->kind, "memory") && r->core_hz > 0 && usual_hz > 0) {
        *why = "its clock is the others'";
        return SLOW_BY_MEMORY;
    }
    return SLOW_BY_UNKNOWN;
}
