/* SPDX-License-Identifier: MIT */
#include "rooftile/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rooftile/units.h"

const char *const cache_mode_names[] = {[CACHE_HOT] = "hot", [CACHE_COLD] = "cold", [CACHE_ROTATE] = "rotate"};

const char *cache_mode_name(enum cache_mode mode)
{
    return cache_mode_names[mode];
}

static double total_bytes(const struct work *work)
{
    return work->read_bytes + work->write_bytes;
}

static double capacity_before(const struct machine *machine, uint32_t level)
{
    double bytes = 0;
    for (uint32_t k = 0; k < level; k++)
        bytes += machine->levels[k].capacity_bytes;
    return bytes;
}

/* The least that must cross `level` in one launch; see the header. */
static double traffic_bytes(const struct machine *machine, const struct work *work, enum cache_mode cache,
                            uint32_t level)
{
    const double bytes = total_bytes(work);
    const double footprint = fmin(work->footprint_bytes, bytes);
    if (!level || bytes <= 0)
        return bytes;
    if (footprint <= 0)
        return 0;
    const double stay = capacity_before(machine, level);
    const double missing = fmax(0, footprint - stay);
    const double passes = bytes / footprint;
    if (cache == CACHE_HOT)
        return missing * passes;
    const double cold = footprint + missing * (passes - 1);
    /* Nobody has to push written bytes out before the launch ends, as far as the caches hold them. */
    return cache == CACHE_COLD ? fmax(0, cold - fmin(work->write_bytes, stay)) : cold;
}

static void set_bound(struct floor *floor, const char *name, bool is_memory, const struct ceiling *ceiling)
{
    snprintf(floor->ceiling_name, sizeof(floor->ceiling_name), "%s", name);
    floor->bound_is_memory = is_memory;
    floor->ceiling_value = ceiling_value(ceiling);
    floor->ceiling_measured = ceiling->measured > 0;
}

static bool applies(const struct machine_level *level, const struct work *work)
{
    return !work->level[0] || !strcmp(level->name, work->level);
}

/* Index of the level that takes longest, or level_count when no bandwidth is known. */
static uint32_t slowest_level(double *time_ns, const struct machine *machine, const struct work *work,
                              enum cache_mode cache)
{
    uint32_t slowest = machine->level_count;
    *time_ns = 0;
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const double rate = ceiling_value(&machine->levels[k].bandwidth);
        const double bytes = traffic_bytes(machine, work, cache, k);
        if (!applies(&machine->levels[k], work) || rate <= 0 || bytes <= 0 || bytes / rate * 1e9 < *time_ns)
            continue;
        *time_ns = bytes / rate * 1e9;
        slowest = k;
    }
    return slowest;
}

void floor_compute(struct floor *floor, const struct machine *machine, const struct work *work, enum cache_mode cache)
{
    const double bytes = total_bytes(work);
    const struct machine_unit *unit = work->flops > 0 ? machine_unit(machine, work->unit) : NULL;
    const double peak = unit ? ceiling_value(&unit->peak) : 0;
    *floor = (struct floor){.intensity = bytes > 0 ? work->flops / bytes : NAN, .ridge = NAN};
    const uint32_t slowest = slowest_level(&floor->memory_ns, machine, work, cache);
    const struct machine_level *level = slowest < machine->level_count ? &machine->levels[slowest] : NULL;
    if (peak > 0)
        floor->compute_ns = work->flops / peak * 1e9;
    if (peak > 0 && level)
        floor->ridge = peak / ceiling_value(&level->bandwidth);
    floor->time_ns = fmax(floor->memory_ns, floor->compute_ns);
    floor->launch_ns = machine->launch_ns;
    if (level && floor->memory_ns >= floor->compute_ns)
        set_bound(floor, level->name, true, &level->bandwidth);
    else if (peak > 0)
        set_bound(floor, unit->name, false, &unit->peak);
    snprintf(floor->bound, sizeof(floor->bound), "%s", floor->ceiling_name);
    if (work->level[0]) /* known is which path binds, even where nobody knows how wide it is */
        snprintf(floor->bound, sizeof(floor->bound), "%s", work->level);
    else if (floor->launch_ns > floor->time_ns)
        snprintf(floor->bound, sizeof(floor->bound), "launch");
}

double floor_fraction(const struct floor *floor, double time_ns)
{
    return floor->time_ns > 0 && time_ns > 0 ? floor->time_ns / time_ns : NAN;
}

/* ---- plausibility ---- */

/* One roof and what must pass under it. */
struct roof {
    const char *name;
    struct ceiling ceiling;
    double amount; /* bytes or FLOP */
    const char *rate_unit;
};

static void say(char why[static 256], const struct roof *roof, const char *kind, double rate, double time_ns)
{
    char took[UNITS_TEXT], least[UNITS_TEXT], limit[UNITS_TEXT];
    const double least_ns = roof->amount / rate * 1e9;
    snprintf(why, 256, "%s is %.3g times as fast as %s's %s %s allows (at least %s)", units_time(took, time_ns),
             least_ns / time_ns, roof->name, kind, units_rate(limit, rate, roof->rate_unit),
             units_time(least, least_ns));
}

/* Raises `worst` where this roof says more. */
static void judge_roof(enum plausibility *worst, const struct roof *roof, double time_ns, double tick_ns,
                       char why[static 256])
{
    const struct ceiling *ceiling = &roof->ceiling;
    const double longest_ns = time_ns + tick_ns, margin = 1.02 + 2 * ceiling->ci_rel;
    if (*worst < IMPOSSIBLE && ceiling->claimed > 0 && longest_ns * 1.01 < roof->amount / ceiling->claimed * 1e9) {
        say(why, roof, "claimed", ceiling->claimed, time_ns);
        *worst = IMPOSSIBLE;
    }
    if (*worst < ABOVE_MEASURED_ROOF && ceiling->measured > 0 &&
        longest_ns * margin < roof->amount / ceiling->measured * 1e9) {
        say(why, roof, "measured", ceiling->measured, time_ns);
        *worst = ABOVE_MEASURED_ROOF;
    }
}

enum plausibility floor_judge(const struct machine *machine, const struct work *work, enum cache_mode cache,
                              double time_ns, double tick_ns, char why[static 256])
{
    enum plausibility worst = PLAUSIBLE;
    const struct machine_unit *unit = work->flops > 0 ? machine_unit(machine, work->unit) : NULL;
    why[0] = '\0';
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        struct roof roof = {level->name, level->bandwidth, traffic_bytes(machine, work, cache, k), "B/s"};
        if (!applies(level, work)) /* what a kernel reached on its own memory says nothing of a link */
            roof.ceiling.measured = 0;
        judge_roof(&worst, &roof, time_ns, tick_ns, why);
    }
    if (unit) {
        struct roof roof = {unit->name, unit->peak, work->flops, machine_unit_rate(unit->name)};
        roof.ceiling.claimed = machine_unit_limit(unit);
        judge_roof(&worst, &roof, time_ns, tick_ns, why);
    }
    return worst;
}
