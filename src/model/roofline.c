/* SPDX-License-Identifier: MIT */
#include "rooftile/roofline.h"

#include "rooftile/units.h"

const char *const cache_mode_names[] = {
    [CACHE_HOT] = "hot", [CACHE_COLD] = "cold", [CACHE_ROTATE] = "rotate", [CACHE_ROTATE + 1] = NULL};

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
    const double passes = fmax(1, bytes / footprint / fmax(1, work->shared_by));
    if (cache == CACHE_HOT)
        return missing * passes;
    const double cold = footprint + missing * (passes - 1);
    /* Nobody has to push written bytes out before the launch ends, as far as the caches hold them. */
    return cache == CACHE_COLD ? fmax(0, cold - fmin(work->write_bytes, stay)) : cold;
}

static void set_bound(struct lower_bound *lower_bound, const char *name, bool is_memory, const struct ceiling *ceiling)
{
    snprintf(lower_bound->ceiling_name, sizeof(lower_bound->ceiling_name), "%s", name);
    lower_bound->bound_is_memory = is_memory;
    lower_bound->ceiling_value = ceiling_value(ceiling);
    lower_bound->ceiling_measured = ceiling->measured > 0;
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

/* What the arithmetic units must do. */
struct demand {
    const struct machine_unit *unit; /* NULL: the machine has none of that name */
    double amount;
};
enum { DEMANDS = 2 };

static struct demand demand(const struct machine *machine, const struct work *work, int k)
{
    const double amount = k ? work->transcendentals : work->flops;
    return (struct demand){amount > 0 ? machine_unit(machine, k ? TRANSCENDENTAL_UNIT : work->unit) : NULL, amount};
}

/* The unit that takes longest; NULL when no peak is known. */
static const struct machine_unit *slowest_unit(double *time_ns, const struct machine *machine, const struct work *work)
{
    const struct machine_unit *slowest = NULL;
    *time_ns = 0;
    for (int k = 0; k < DEMANDS; k++) {
        const struct demand of = demand(machine, work, k);
        const double peak = of.unit ? ceiling_value(&of.unit->peak) : 0;
        if (peak <= 0 || of.amount / peak * 1e9 <= *time_ns)
            continue;
        *time_ns = of.amount / peak * 1e9;
        slowest = of.unit;
    }
    return slowest;
}

void lower_bound_compute(struct lower_bound *lower_bound, const struct machine *machine, const struct work *work,
                         enum cache_mode cache)
{
    const double bytes = total_bytes(work);
    const struct machine_unit *of_flops = demand(machine, work, 0).unit;
    const double peak = of_flops ? ceiling_value(&of_flops->peak) : 0;
    *lower_bound = (struct lower_bound){.intensity = bytes > 0 ? work->flops / bytes : NAN, .ridge = NAN};
    const uint32_t slowest = slowest_level(&lower_bound->memory_ns, machine, work, cache);
    const struct machine_level *level = slowest < machine->level_count ? &machine->levels[slowest] : NULL;
    const struct machine_link *link = machine_link(machine, work->level);
    const double link_rate = link ? ceiling_value(&link->rate) : 0;
    if (link_rate > 0)
        lower_bound->memory_ns = bytes / link_rate * 1e9;
    const struct machine_unit *unit = slowest_unit(&lower_bound->compute_ns, machine, work);
    if (peak > 0 && level)
        lower_bound->ridge = peak / ceiling_value(&level->bandwidth);
    lower_bound->time_ns = fmax(lower_bound->memory_ns, lower_bound->compute_ns);
    lower_bound->launch_ns = machine->launch_ns;
    if (level && lower_bound->memory_ns >= lower_bound->compute_ns)
        set_bound(lower_bound, level->name, true, &level->bandwidth);
    else if (link_rate > 0)
        set_bound(lower_bound, link->name, true, &link->rate);
    else if (unit)
        set_bound(lower_bound, unit->name, false, &unit->peak);
    snprintf(lower_bound->bound, sizeof(lower_bound->bound), "%s", lower_bound->ceiling_name);
    if (work->level[0]) /* known is which path binds, even where nobody knows how wide it is */
        snprintf(lower_bound->bound, sizeof(lower_bound->bound), "%s", work->level);
    else if (lower_bound->launch_ns > lower_bound->time_ns)
        snprintf(lower_bound->bound, sizeof(lower_bound->bound), "launch");
}

const char *lower_bound_lacks(const struct machine *machine, const struct work *work)
{
    for (int k = 0; k < DEMANDS; k++) {
        const struct demand of = demand(machine, work, k);
        if (of.amount > 0 && (!of.unit || ceiling_value(&of.unit->peak) <= 0))
            return k ? TRANSCENDENTAL_UNIT : work->unit;
    }
    return NULL;
}

void lower_bound_settle(struct lower_bound *lower_bound, const struct work *work, double time_ns)
{
    const bool launch = lower_bound->launch_ns > lower_bound->time_ns;
    if (work->level[0] || !lower_bound->bound[0] || !(time_ns > 0))
        return;
    const char *bound = launch && time_ns <= 2 * lower_bound->launch_ns    ? "launch"
                        : time_ns > LOWER_BOUND_FAR * lower_bound->time_ns ? BOUND_NONE_NEAR
                                                                           : lower_bound->ceiling_name;
    snprintf(lower_bound->bound, sizeof(lower_bound->bound), "%s", bound);
}

double lower_bound_fraction(const struct lower_bound *lower_bound, double time_ns)
{
    return lower_bound->time_ns > 0 && time_ns > 0 ? lower_bound->time_ns / time_ns : NAN;
}

/* ---- plausibility ---- */

/* One ceiling and what must pass under it. */
struct limit {
    const char *name;
    struct ceiling ceiling;
    double amount; /* bytes or FLOP */
    const char *rate_unit;
};

/* What a number is worth: of a data sheet, or made of clock, width and count. */
static const char *vendor_kind(const struct ceiling *ceiling)
{
    return text_starts(ceiling->vendor_source, "derived") ? "derived peak of" : "vendor peak of";
}

static void say(char why[static 256], const struct limit *limit, const char *kind, double rate, double time_ns)
{
    char took[UNITS_TEXT], least[UNITS_TEXT], allowed[UNITS_TEXT];
    const double least_ns = limit->amount / rate * 1e9;
    snprintf(why, 256, "%s is %.3g times as fast as %s's %s %s allows (at least %s)", units_time(took, time_ns),
             least_ns / time_ns, limit->name, kind, units_rate(allowed, rate, limit->rate_unit),
             units_time(least, least_ns));
}

/* A ceiling measured while a neighbour ran has an interval that would excuse anything: 188 % of one passed so. */
#define WIDEST_INTERVAL 0.025

/* Raises `worst` where this ceiling says more. */
static void judge_ceiling(enum plausibility *worst, const struct limit *limit, double time_ns, double tick_ns,
                          char why[static 256])
{
    const struct ceiling *ceiling = &limit->ceiling;
    const double longest_ns = time_ns + tick_ns, margin = 1.02 + 2 * fmin(ceiling->ci_rel, WIDEST_INTERVAL);
    if (*worst < IMPOSSIBLE && ceiling->vendor > 0 && longest_ns * 1.01 < limit->amount / ceiling->vendor * 1e9) {
        say(why, limit, vendor_kind(ceiling), ceiling->vendor, time_ns);
        *worst = IMPOSSIBLE;
    }
    if (*worst < ABOVE_MEASURED_CEILING && ceiling->measured > 0 &&
        longest_ns * margin < limit->amount / ceiling->measured * 1e9) {
        say(why, limit, "measured", ceiling->measured, time_ns);
        *worst = ABOVE_MEASURED_CEILING;
    }
}

enum plausibility lower_bound_judge(const struct machine *machine, const struct work *work, enum cache_mode cache,
                                    double time_ns, double tick_ns, char why[static 256])
{
    enum plausibility worst = PLAUSIBLE;
    why[0] = '\0';
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        struct limit limit = {level->name, level->bandwidth, traffic_bytes(machine, work, cache, k), "B/s"};
        if (!applies(level, work)) /* what a kernel reached on its own memory says nothing of a link */
            limit.ceiling.measured = 0;
        judge_ceiling(&worst, &limit, time_ns, tick_ns, why);
    }
    const struct machine_link *link = machine_link(machine, work->level);
    if (link)
        judge_ceiling(&worst, &(struct limit){link->name, link->rate, total_bytes(work), "B/s"}, time_ns, tick_ns, why);
    for (int k = 0; k < DEMANDS; k++) {
        const struct demand of = demand(machine, work, k);
        if (!of.unit)
            continue;
        struct limit limit = {of.unit->name, of.unit->peak, of.amount, machine_unit_rate(of.unit->name)};
        limit.ceiling.vendor = machine_unit_limit(of.unit);
        judge_ceiling(&worst, &limit, time_ns, tick_ns, why);
    }
    return worst;
}

bool machine_is_slow(const struct machine *machine, const struct machine *sheet, char why[static 256])
{
    const double own = machine->level_count ? machine->levels[machine->level_count - 1].bandwidth.measured : 0;
    const struct ceiling *named = sheet->level_count ? &sheet->levels[sheet->level_count - 1].bandwidth : NULL;
    char reached[UNITS_TEXT], vendor[UNITS_TEXT];
    why[0] = '\0';
    if (!named || named->vendor <= 0 || own <= 0 || own >= named->least * named->vendor)
        return false;
    snprintf(why, 256, "the memory is slow: %s is %.0f %% of the data sheet's %s; a healthy %s reaches %.0f %% or more",
             units_rate(reached, own, "B/s"), 100 * own / named->vendor, units_rate(vendor, named->vendor, "B/s"),
             sheet->title, 100 * named->least);
    return true;
}
