/* SPDX-License-Identifier: MIT */
#include "rooftile/roofline.h"

#include <strings.h>

#include "rooftile/targets.h"
#include "rooftile/units.h"

const char *const cache_mode_names[] = {
    [CACHE_HOT] = "hot", [CACHE_COLD] = "cold", [CACHE_ROTATE] = "rotate", [CACHE_ROTATE + 1] = NULL};

static double total_bytes(const struct work *work)
{
    return work->read_bytes + work->write_bytes;
}

/* The caches of a GPU's compute unit are invalidated before each launch, and are write-through. */
static bool starts_empty(const struct machine *machine, const struct machine_level *level)
{
    return (target_is_amd(machine->arch) || target_is_nvidia(machine->arch)) &&
           (!strcmp(level->name, "L0") || !strcmp(level->name, "L1"));
}

/* `warm`: skips caches that start empty. */
static double capacity_before(const struct machine *machine, uint32_t level, bool warm)
{
    double bytes = 0;
    for (uint32_t k = 0; k < level; k++)
        bytes += warm && starts_empty(machine, &machine->levels[k]) ? 0 : machine->levels[k].capacity_bytes;
    return bytes;
}

/* Returns the least bytes that must cross `level` in one launch; see the header. */
static double traffic_bytes(const struct machine *machine, const struct work *work, enum cache_mode cache,
                            uint32_t level)
{
    const double bytes = total_bytes(work);
    const double footprint = fmin(work->footprint_bytes, bytes);
    if (!level || bytes <= 0)
        return bytes;
    if (footprint <= 0)
        return 0;
    const double stay = capacity_before(machine, level, true);
    const double missing = fmax(0, footprint - capacity_before(machine, level, false));
    const double passes = fmax(1, bytes / footprint / fmax(1, work->shared_by));
    const double first = cache == CACHE_HOT ? fmax(0, footprint - stay) : footprint;
    /* Written bytes need not leave the caches before the launch ends, as far as they fit. */
    const double kept = cache == CACHE_COLD ? fmin(work->write_bytes, stay) : 0;
    return fmax(0, first + missing * (passes - 1) - kept);
}

static bool applies(const struct machine_level *level, const struct work *work)
{
    return !work->level[0] || !strcmp(level->name, work->level);
}

const struct machine_level *lower_bound_level(double *time_ns, const struct machine *machine, const struct work *work,
                                              enum cache_mode cache)
{
    const struct machine_level *slowest = NULL;
    *time_ns = 0;
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const double rate = ceiling_value(&machine->levels[k].bandwidth);
        const double bytes = traffic_bytes(machine, work, cache, k);
        if (!applies(&machine->levels[k], work) || rate <= 0 || bytes <= 0 || bytes / rate * 1e9 < *time_ns)
            continue;
        *time_ns = bytes / rate * 1e9;
        slowest = &machine->levels[k];
    }
    return slowest;
}

/* The work of the arithmetic units. */
struct demand {
    const struct machine_unit *unit; /* NULL: the machine has no unit of that name */
    double amount;
};
enum { DEMANDS = 2 };

static struct demand demand(const struct machine *machine, const struct work *work, int k)
{
    const double amount = k ? work->transcendentals : work->flops;
    return (struct demand){amount > 0 ? machine_unit(machine, k ? TRANSCENDENTAL_UNIT : work->unit) : NULL, amount};
}

const struct machine_unit *lower_bound_unit(double *time_ns, const struct machine *machine, const struct work *work)
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

/* ---- the roof ---- */

/* A ceiling measured while another load ran has an interval that would excuse anything: a case at 188 % passed that
 * way. */
#define WIDEST_INTERVAL 0.025

/* Returns the factor by which a case may exceed a measured ceiling. */
static double margin_of(const struct ceiling *ceiling)
{
    return 1.02 + 2 * fmin(ceiling->ci_rel, WIDEST_INTERVAL);
}

/* Returns the rate used to find the lower roof: the ceiling, otherwise the rate of streams, otherwise the rate of the
 * next level outwards. */
static double rate_from(const struct machine *machine, uint32_t level)
{
    double rate = 0;
    for (uint32_t k = level; k < machine->level_count && rate <= 0; k++) {
        const struct ceiling *ceiling = &machine->levels[k].bandwidth;
        rate = ceiling_value(ceiling) > 0 ? ceiling_value(ceiling) : ceiling_expected(ceiling);
    }
    return rate;
}

double lower_bound_usual_bytes(const struct machine *machine, const struct work *work, enum cache_mode cache,
                               uint32_t level)
{
    const double bytes = total_bytes(work), footprint = fmin(work->footprint_bytes, bytes);
    bool held = level && footprint <= 0, warm = held;
    for (uint32_t k = 0; k < level; k++) {
        const struct machine_level *nearer = &machine->levels[k];
        const bool holds =
            footprint <= (work->shared_by > 1 ? machine_level_own_bytes(machine, nearer) : nearer->capacity_bytes);
        held |= holds;
        warm |= holds && !starts_empty(machine, nearer);
    }
    /* Beyond the caches of single compute units, units that read the same data at the same time share the traffic. */
    const double passing = level > 1 ? fmax(footprint, bytes / fmax(1, work->shared_by)) : bytes;
    return !held ? passing : warm && cache == CACHE_HOT ? 0 : footprint;
}

/* Returns the index of the level that bounds the case; level_count if none is known. */
static uint32_t memory_roof(const struct machine *machine, const struct work *work, enum cache_mode cache,
                            double time_ns)
{
    const double bytes = total_bytes(work);
    uint32_t roof = machine->level_count;
    double longest = 0;
    for (uint32_t k = 0; k < machine->level_count && bytes > 0; k++) {
        const double rate = rate_from(machine, k);
        const double own = rate > 0 ? lower_bound_usual_bytes(machine, work, cache, k) / rate : 0;
        if (!applies(&machine->levels[k], work) || own < longest || own <= 0)
            continue;
        longest = own;
        roof = k;
    }
    while (roof && roof < machine->level_count && !work->level[0]) {
        const struct ceiling *ceiling = &machine->levels[roof].bandwidth;
        const double rate = ceiling_value(ceiling);
        if (rate <= 0 || !(bytes / time_ns * 1e9 > rate * margin_of(ceiling)))
            break;
        roof--;
    }
    return roof;
}

static void set_roof(struct lower_bound *lower_bound, const char *name, bool is_memory, const struct ceiling *ceiling)
{
    const bool known = ceiling && ceiling_value(ceiling) > 0;
    snprintf(lower_bound->bound, sizeof(lower_bound->bound), "%s", name);
    snprintf(lower_bound->ceiling_name, sizeof(lower_bound->ceiling_name), "%s", known ? name : "");
    lower_bound->bound_is_memory = is_memory;
    lower_bound->ceiling_value = known ? ceiling_value(ceiling) : 0;
    lower_bound->ceiling_measured = known && ceiling->measured > 0;
}

void lower_bound_by(struct lower_bound *lower_bound, const struct machine *machine, const struct work *work,
                    const char *bound)
{
    const struct machine_level *level = machine_level(machine, bound);
    const struct ceiling *ceiling = level ? &level->bandwidth : NULL;
    for (int k = 0; k < DEMANDS && !ceiling; k++) {
        const struct demand of = demand(machine, work, k);
        ceiling = of.unit && !strcmp(of.unit->name, bound) ? &of.unit->peak : NULL;
    }
    set_roof(lower_bound, bound, level != NULL, ceiling);
}

/* Sets the lower of the two roofs, and "launch" if that hides both. */
static void find_roof(struct lower_bound *lower_bound, const struct machine *machine, const struct work *work,
                      enum cache_mode cache, double time_ns)
{
    double unit_ns, memory_ns = 0;
    const struct machine_unit *unit = lower_bound_unit(&unit_ns, machine, work);
    const struct machine_unit *of_flops = demand(machine, work, 0).unit;
    const uint32_t at = memory_roof(machine, work, cache, time_ns);
    const struct machine_level *level = at < machine->level_count ? &machine->levels[at] : NULL;
    const struct machine_link *link = machine_link(machine, work->level);
    const double rate = link ? ceiling_value(&link->rate) : level ? rate_from(machine, at) : 0;
    if (rate > 0)
        memory_ns = total_bytes(work) / rate * 1e9;
    if (of_flops && level && ceiling_value(&level->bandwidth) > 0 && ceiling_value(&of_flops->peak) > 0)
        lower_bound->ridge = ceiling_value(&of_flops->peak) / ceiling_value(&level->bandwidth);
    const double roof_ns = fmax(memory_ns, unit_ns);
    if (work->level[0]) /* the limiting path is known even if its bandwidth is not */
        set_roof(lower_bound, work->level, true, link ? &link->rate : level ? &level->bandwidth : NULL);
    else if (machine->launch_ns > roof_ns && !(time_ns > 2 * machine->launch_ns))
        lower_bound_by(lower_bound, machine, work, "launch");
    else if (level && memory_ns >= unit_ns)
        set_roof(lower_bound, level->name, true, &level->bandwidth);
    else if (unit)
        set_roof(lower_bound, unit->name, false, &unit->peak);
}

void lower_bound_compute(struct lower_bound *lower_bound, const struct machine *machine, const struct work *work,
                         enum cache_mode cache, double time_ns)
{
    const double bytes = total_bytes(work);
    *lower_bound = (struct lower_bound){
        .intensity = bytes > 0 ? work->flops / bytes : NAN, .ridge = NAN, .launch_ns = machine->launch_ns};
    const struct machine_link *link = machine_link(machine, work->level);
    lower_bound_level(&lower_bound->memory_ns, machine, work, cache);
    lower_bound_unit(&lower_bound->compute_ns, machine, work);
    if (link && ceiling_value(&link->rate) > 0)
        lower_bound->memory_ns = bytes / ceiling_value(&link->rate) * 1e9;
    lower_bound->time_ns = fmax(lower_bound->memory_ns, lower_bound->compute_ns);
    find_roof(lower_bound, machine, work, cache, time_ns);
}

double lower_bound_fraction(const struct lower_bound *lower_bound, const struct work *work, double time_ns)
{
    const bool other = !strcmp(lower_bound->ceiling_name, TRANSCENDENTAL_UNIT) && work->transcendentals > 0;
    const double amount = lower_bound->bound_is_memory ? total_bytes(work)
                          : other                      ? work->transcendentals
                                                       : work->flops;
    return lower_bound->ceiling_value > 0 && time_ns > 0 ? amount / lower_bound->ceiling_value / time_ns * 1e9 : NAN;
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

/* ---- plausibility ---- */

/* A ceiling, and the amount of work that it limits. */
struct limit {
    const char *name;
    struct ceiling ceiling;
    double amount; /* bytes or FLOP */
    const char *rate_unit;
};

/* Returns the origin of a value: a data sheet, or derived from clock, width and count. */
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

/* Raises `worst` if this ceiling gives a worse verdict. */
static void judge_ceiling(enum plausibility *worst, const struct limit *limit, double time_ns, double tick_ns,
                          char why[static 256])
{
    const struct ceiling *ceiling = &limit->ceiling;
    const double longest_ns = time_ns + tick_ns;
    if (*worst < IMPOSSIBLE && ceiling->vendor > 0 && longest_ns * 1.01 < limit->amount / ceiling->vendor * 1e9) {
        say(why, limit, vendor_kind(ceiling), ceiling->vendor, time_ns);
        *worst = IMPOSSIBLE;
    }
    if (*worst < ABOVE_MEASURED_CEILING && ceiling->measured > 0 &&
        longest_ns * margin_of(ceiling) < limit->amount / ceiling->measured * 1e9) {
        say(why, limit, "measured", ceiling->measured, time_ns);
        *worst = ABOVE_MEASURED_CEILING;
    }
}

/* Matches the name of an item with the unit of a limit, including decimal and binary prefixes. */
static struct demand item_demand(const struct machine *machine, const struct work *work)
{
    static const struct {
        const char *word, *unit;
        double each;
    } words[] = {{"b", LIMIT_BYTES, 1},        {"byte", LIMIT_BYTES, 1},     {"flop", LIMIT_OPERATIONS, 1},
                 {"op", LIMIT_OPERATIONS, 1},  {"iop", LIMIT_OPERATIONS, 1}, {"operation", LIMIT_OPERATIONS, 1},
                 {"fma", LIMIT_OPERATIONS, 2}, {"mac", LIMIT_OPERATIONS, 2}};
    static const char prefixes[] = "kmgtp";
    const size_t length = strlen(work->item), plural = length > 2 && tolower(work->item[length - 1]) == 's';
    for (size_t k = 0; k < COUNT_OF(words); k++) {
        const size_t own = strlen(words[k].word), before = length - plural - own;
        if (own + plural > length || strncasecmp(work->item + before, words[k].word, own))
            continue;
        const char *prefix = before ? strchr(prefixes, tolower(work->item[0])) : NULL;
        const bool binary = before == 2 && work->item[1] == 'i';
        if (before && !(prefix && (before == 1 || binary)))
            continue;
        const double scale = prefix ? pow(binary ? 1024 : 1000, (double)(prefix - prefixes + 1)) : 1;
        return (struct demand){machine_unit(machine, words[k].unit), work->items * words[k].each * scale};
    }
    return (struct demand){machine_unit(machine, work->steps ? LIMIT_STEPS : LIMIT_ITEMS), work->items};
}

enum plausibility lower_bound_judge(const struct machine *machine, const struct work *work, enum cache_mode cache,
                                    double time_ns, double tick_ns, char why[static 256])
{
    enum plausibility worst = PLAUSIBLE;
    why[0] = '\0';
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        struct limit limit = {level->name, level->bandwidth, traffic_bytes(machine, work, cache, k), "B/s"};
        if (!applies(level, work)) /* a kernel's rate on its own memory does not apply to a link */
            limit.ceiling.measured = 0;
        judge_ceiling(&worst, &limit, time_ns, tick_ns, why);
    }
    const struct machine_link *link = machine_link(machine, work->level);
    if (link)
        judge_ceiling(&worst, &(struct limit){link->name, link->rate, total_bytes(work), "B/s"}, time_ns, tick_ns, why);
    for (int k = 0; k <= DEMANDS; k++) {
        struct demand of = k < DEMANDS ? demand(machine, work, k) : item_demand(machine, work);
        if (!of.unit && of.amount > 0) /* uses operations of all types if the rate of its own type is unknown */
            of.unit = machine_unit(machine, LIMIT_OPERATIONS);
        if (!of.unit || !(of.amount > 0))
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
