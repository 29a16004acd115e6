/* SPDX-License-Identifier: MIT
 *
 * Why a device is slow, by what else was measured of it: the first of these that holds.
 */

#include "fleet_internal.h"
#include "rooftile/units.h"

#define HOLDS_LESS 0.98 /* of the others' clock: below, it is another clock */
#define HOTTER_C 8.0    /* above the others */

/* The median over the devices of a group of one member of their readings, at `offset`. */
static double others(const struct fleet *fleet, size_t group, size_t metric, size_t offset)
{
    double *values = new_zeroed(fleet->device_count + 1, sizeof(*values));
    size_t count = 0;
    FOR_EACH(const struct fleet_device, device, fleet->devices, fleet->device_count) {
        if (device->group != group)
            continue;
        memcpy(&values[count], (const char *)&device->readings[metric] + offset, sizeof(*values));
        count += isfinite(values[count]) ? 1 : 0;
    }
    const double median = median_of(values, count);
    free(values);
    return median;
}
#define OTHERS(member) others(fleet, group, metric, offsetof(struct fleet_reading, member))

/* Its clock is lower than the others': by what? */
static enum fleet_cause clock_cause(const char **why, const struct fleet *fleet, size_t group, size_t metric,
                                    const struct fleet_reading *r, double usual_hz)
{
    char own[UNITS_TEXT], usual[UNITS_TEXT];
    *why = arena_printf(fleet->arena, "%s where others hold %s", units_hz(own, r->core_hz), units_hz(usual, usual_hz));
    if (r->violation_heat > OTHERS(violation_heat) || r->temp_c > OTHERS(temp_c) + HOTTER_C) {
        if (isfinite(r->temp_c))
            *why = arena_printf(fleet->arena, "%s, at %.0f C", *why, r->temp_c);
        return SLOW_BY_HEAT;
    }
    if (!(r->violation_power > OTHERS(violation_power)))
        return SLOW_BY_CLOCK;
    if (isfinite(r->power_w))
        *why = arena_printf(fleet->arena, "%s, throttled by power at %.0f W", *why, r->power_w);
    return SLOW_BY_POWER;
}

enum fleet_cause fleet_cause_of(const char **why, const struct fleet *fleet, size_t device, size_t metric)
{
    static const char *const transfers[] = {"copy_to_", "copy_from_", "to_host", "to_device", "pinned", "transfer"};
    const struct fleet_metric *m = &fleet->metrics[metric];
    const struct fleet_reading *r = &fleet->devices[device].readings[metric];
    const size_t group = fleet->devices[device].group;
    const double usual_hz = OTHERS(core_hz), memory_hz = OTHERS(memory_hz);
    char own[UNITS_TEXT], usual[UNITS_TEXT];
    *why = "";
    if (COUNT_WHERE(word, transfers, COUNT_OF(transfers), strstr(m->id, *word) != NULL) || strstr(m->level, "link"))
        return strstr(m->id, "peer") ? SLOW_BY_LINK : SLOW_BY_HOST;
    if (!strcmp(m->kind, "launch"))
        return SLOW_BY_HOST;
    if (r->memory_hz < HOLDS_LESS * memory_hz) {
        *why = arena_printf(fleet->arena, "memory at %s where others have %s", units_hz(own, r->memory_hz),
                            units_hz(usual, memory_hz));
        return SLOW_BY_MEMORY;
    }
    if (r->core_hz < HOLDS_LESS * usual_hz)
        return clock_cause(why, fleet, group, metric, r, usual_hz);
    if (!strcmp(m->kind, "memory") && r->core_hz > 0 && usual_hz > 0) {
        *why = "its clock is the others'";
        return SLOW_BY_MEMORY;
    }
    return SLOW_BY_UNKNOWN;
}
