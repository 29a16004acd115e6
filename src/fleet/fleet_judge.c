/* SPDX-License-Identifier: MIT */

#include "fleet_internal.h"
#include "rooftile/units.h"

const char *const fleet_verdict_names[] = {"alike", "not judged", "slow", "broken"};
const char *const fleet_cause_names[] = {"unknown", "clock", "power", "heat", "memory", "link", "host"};

/* The devices of a group, and their times of one metric. */
struct column {
    size_t *devices;
    double *values;
    size_t count, known;
};

/* ---- the location of the slower of two modes ---- */

static const char *slower_nodes(const struct fleet *fleet, const struct column *column, const struct outlier *out)
{
    const char **nodes = arena_array(fleet->arena, column->count + 1, sizeof(*nodes));
    size_t count = 0;
    for (size_t k = 0; k < column->count; k++) {
        const char *node = fleet->devices[column->devices[k]].node;
        if (out[k].mode && (!count || strcmp(node, nodes[count - 1]) != 0))
            nodes[count++] = node;
    }
    return text_listed(fleet->arena, nodes, count, 8);
}

/* ---- one metric of one group ---- */

static struct fleet_spread spread_of(const struct fleet *fleet, const struct column *column, size_t group,
                                     size_t metric)
{
    SCOPED(arena_release) struct arena scratch = {0};
    double *values = arena_array(&scratch, column->count + 1, sizeof(*values)),
           *more = arena_array(&scratch, column->count + 1, sizeof(*more));
    struct fleet_spread s = {.group = group, .metric = metric, .baseline_ns = NAN, .against = NAN, .slower_nodes = ""};
    size_t noises = 0;
    for (size_t k = 0; k < column->count; k++)
        if (isfinite(column->values[k]))
            values[s.n++] = column->values[k];
    const struct outlier_level level = outlier_level_of(values, s.n, more);
    s.median_ns = exp(level.median);
    s.min_ns = s.n ? exp(values[0]) : NAN;
    s.max_ns = s.n ? exp(values[s.n - 1]) : NAN;
    s.spread = level.spread;
    for (size_t k = 0; k < column->count; k++) {
        const double noise = fleet->devices[column->devices[k]].readings[metric].noise;
        if (isfinite(noise))
            more[noises++] = noise;
    }
    s.noise = 2 * noises >= s.n ? median_of(more, noises) : NAN; /* one noisy device does not represent the others */
    return s;
}

/* A group is compared with its baseline by medians, so the uncertainty falls with the square root of its devices. */
static void set_against(struct fleet_spread *s, const struct outlier_level *level, const struct outlier_rule *rule)
{
    struct outlier_rule group = *rule;
    struct outlier one;
    if (!level->n)
        return;
    s->baseline_ns = exp(level->median);
    s->against = s->median_ns / s->baseline_ns - 1;
    group.tests = 1;
    const struct outlier_level base = {level->median, level->spread / sqrt((double)s->n), level->n};
    outlier_against(&one, log(s->median_ns), &base, NAN, &group);
    s->low = s->n >= OUTLIER_LEAST && one.slow;
}

static void note_slow(struct fleet *fleet, const struct column *column, const struct outlier *out, size_t metric)
{
    for (size_t k = 0; k < column->count; k++) {
        struct fleet_device *device = &fleet->devices[column->devices[k]];
        const struct fleet_reading *r = &device->readings[metric];
        const double median_ns = r->time_ns / (1 + out[k].change);
        device->outliers[metric] = out[k];
        /* A device must be slow in every run; a single slow run is noise. */
        if (!out[k].slow || !(r->fastest_ns > median_ns * (1 + fleet->rule.delta))) {
            device->outliers[metric].slow = false;
            continue;
        }
        ARENA_PUSH(fleet->arena, fleet->outliers, fleet->outlier_count,
                   (struct fleet_outlier){.device = column->devices[k],
                                          .metric = metric,
                                          .change = out[k].change,
                                          .z = out[k].z,
                                          .runs = device->runs,
                                          .why = ""});
    }
}

/* Compares the times with all devices running to those of each device alone: power, cooling and the host's links are
 * shared. */
static void set_beside(struct fleet_spread *s, const struct fleet *fleet, const struct column *column)
{
    const struct fleet_metric *own = &fleet->metrics[s->metric];
    double *ratios = arena_array(fleet->arena, column->count + 1, sizeof(*ratios)), most = -INFINITY;
    size_t alone = 0, count = 0;
    while (alone < fleet->metric_count && (alone == s->metric || strcmp(fleet->metrics[alone].id, own->id) ||
                                           fabs(fleet->metrics[alone].amount - own->amount) > 1e-9 * own->amount))
        alone++;
    for (size_t k = 0; k < column->count && alone < fleet->metric_count; k++) {
        const struct fleet_reading *readings = fleet->devices[column->devices[k]].readings;
        const double ratio = readings[s->metric].time_ns / readings[alone].time_ns;
        if (!(ratio > 0))
            continue;
        ratios[count++] = ratio;
        s->most_beside = ratio > most ? column->devices[k] : s->most_beside;
        most = fmax(most, ratio);
    }
    s->beside = median_of(ratios, count) - 1;
}

static void judge_metric(struct fleet *fleet, struct column *column, size_t group, size_t metric,
                         const struct fleet_baseline *baseline)
{
    struct outlier *out = arena_array(fleet->arena, column->count + 1, sizeof(*out));
    struct fleet_spread s = spread_of(fleet, column, group, metric);
    const struct outlier_level level =
        baseline ? fleet_baseline_level(baseline, fleet->groups[group].name, &fleet->metrics[metric])
                 : (struct outlier_level){.n = 0};
    outliers_judge(out, &s.modes, column->values, column->count, s.noise, &fleet->rule);
    if (column->known < OUTLIER_LEAST && level.n >= OUTLIER_LEAST - 1) {
        /* Too few devices to compare with each other: each is compared with the baseline. */
        for (size_t k = 0; k < column->count; k++)
            outlier_against(&out[k], column->values[k], &level, s.noise, &fleet->rule);
    }
    set_against(&s, &level, &fleet->rule);
    s.beside = NAN;
    if (fleet->metrics[metric].together)
        set_beside(&s, fleet, column);
    if (s.modes.two)
        s.slower_nodes = slower_nodes(fleet, column, out);
    note_slow(fleet, column, out, metric);
    for (size_t k = 0; k < column->count; k++)
        fleet->groups[group].judged = fleet->groups[group].judged || !isnan(out[k].change);
    ARENA_PUSH(fleet->arena, fleet->spreads, fleet->spread_count, s);
}

/* ---- the cause of a slow device, from its other readings: the first that applies ---- */

#define HOLDS_LESS 0.98 /* of the others' clock; less is a different clock */
#define HOTTER_C 8.0    /* above the others */

/* Returns the median of a reading, the member at `offset`, over the devices of a group. */
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

/* Explains a clock that is lower than the others'. */
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

static enum fleet_cause cause_of(const char **why, const struct fleet *fleet, size_t device, size_t metric)
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
        *why = "its clock is that of the others";
        return SLOW_BY_MEMORY;
    }
    return SLOW_BY_UNKNOWN;
}

static int by_change(const void *a, const void *b)
{
    const struct fleet_outlier *x = a, *y = b;
    return ORDER(x->device, y->device) ?: ORDER(y->change, x->change);
}

/* ---- missing devices ---- */

static void miss(struct fleet *fleet, const char *node, const char *what)
{
    ARENA_PUSH(fleet->arena, fleet->missing, fleet->missing_count, what);
    if (node)
        ARENA_PUSH(fleet->arena, fleet->missing_nodes, fleet->missing_node_count, node);
}

static bool is_among(const char *name, const char *const *sorted, size_t count)
{
    return count && bsearch(&name, sorted, count, sizeof(*sorted), text_order);
}

static const char *short_name(const char *name, struct arena *arena)
{
    return arena_strndup(arena, name, strcspn(name, "."));
}

static void find_missing_nodes(struct fleet *fleet, const char *const *expected, size_t count)
{
    const char **seen = arena_array(fleet->arena, 2 * fleet->device_count + 1, sizeof(*seen));
    size_t seen_count = 0;
    FOR_EACH(const struct fleet_device, device, fleet->devices, fleet->device_count) {
        seen[seen_count++] = device->node;
        seen[seen_count++] = short_name(device->node, fleet->arena);
    }
    qsort(seen, seen_count, sizeof(*seen), text_order);
    for (size_t k = 0; k < count; k++)
        if (!is_among(expected[k], seen, seen_count) &&
            !is_among(short_name(expected[k], fleet->arena), seen, seen_count))
            miss(fleet, expected[k], expected[k]);
    for (size_t from = 0, to; from < fleet->device_count; from = to) { /* devices of a node that is present */
        const struct fleet_device *first = &fleet->devices[from];
        for (to = from + 1; to < fleet->device_count && !strcmp(fleet->devices[to].node, first->node);)
            to++;
        if (first->expected > to - from)
            miss(fleet, first->node,
                 arena_printf(fleet->arena, "%zu of %u devices of %s", first->expected - (to - from), first->expected,
                              first->node));
    }
}

/* Finds missing ranks of the job, if no node names are given. */
static void find_missing_ranks(struct fleet *fleet)
{
    uint32_t world = 0;
    for (size_t k = 0; k < fleet->device_count; k++)
        world = fleet->devices[k].world > world ? fleet->devices[k].world : world;
    if (world < 2 || world > FLEET_MAX_NODES)
        return;
    const char **nodes = arena_array(fleet->arena, world, sizeof(*nodes)), *twice = "";
    FOR_EACH(const struct fleet_device, device, fleet->devices, fleet->device_count) {
        if (device->rank >= world)
            continue;
        if (nodes[device->rank] && strcmp(nodes[device->rank], device->node) != 0 && !*twice)
            twice = arena_printf(fleet->arena, " (rank %u is on %s and on %s: are these files of several runs?)",
                                 device->rank, nodes[device->rank], device->node);
        nodes[device->rank] = device->node;
    }
    for (uint32_t rank = 0; rank < world; rank++)
        if (!nodes[rank])
            miss(fleet, NULL, arena_printf(fleet->arena, "rank %u of %u%s", rank, world, twice));
}

void fleet_judge(struct fleet *fleet, const char *const *expected, size_t expected_count,
                 const struct fleet_baseline *baseline)
{
    fleet_join(fleet);
    fleet_make_groups(fleet);
    const size_t room = fleet->device_count + 1;
    struct column column = {.devices = arena_array(fleet->arena, room, sizeof(size_t)),
                            .values = arena_array(fleet->arena, room, sizeof(double))};
    fleet->rule = outlier_defaults(fleet->metric_count);
    FOR_EACH(struct fleet_device, device, fleet->devices, fleet->device_count) {
        device->outliers = arena_array(fleet->arena, fleet->metric_count + 1, sizeof(*device->outliers));
        for (size_t m = 0; m < fleet->metric_count; m++)
            device->outliers[m].change = NAN;
    }
    for (size_t g = 0; g < fleet->group_count; g++)
        for (size_t m = 0; m < fleet->metric_count; m++) {
            column.count = column.known = 0;
            for (size_t k = 0; k < fleet->device_count; k++) {
                const double time_ns = fleet->devices[k].readings[m].time_ns;
                if (fleet->devices[k].group != g)
                    continue;
                column.devices[column.count] = k;
                column.values[column.count++] = time_ns > 0 ? log(time_ns) : NAN;
                column.known += time_ns > 0;
            }
            if (column.known)
                judge_metric(fleet, &column, g, m, baseline);
        }
    FOR_EACH(struct fleet_device, device, fleet->devices, fleet->device_count) {
        const size_t metrics = fleet->metric_count;
        for (size_t m = 0; m < metrics && !device->problem; m++)
            device->problem = device->readings[m].problem;
        device->verdict = device->problem                                                ? FLEET_BROKEN
                          : COUNT_WHERE(o, device->outliers, metrics, o->slow)           ? FLEET_SLOW
                          : COUNT_WHERE(o, device->outliers, metrics, !isnan(o->change)) ? FLEET_ALIKE
                                                                                         : FLEET_UNJUDGED;
    }
    FOR_EACH(struct fleet_outlier, o, fleet->outliers, fleet->outlier_count)
        o->cause = cause_of(&o->why, fleet, o->device, o->metric);
    if (fleet->outliers)
        qsort(fleet->outliers, fleet->outlier_count, sizeof(*fleet->outliers), by_change);
    fleet_find_drift(fleet);
    find_missing_nodes(fleet, expected, expected_count);
    if (!expected)
        find_missing_ranks(fleet);
}

/* ---- the verdict ---- */

int fleet_exit_code(const struct fleet *fleet, bool strict)
{
    const bool bad = fleet->missing_count || fleet->unread_count ||
                     COUNT_WHERE(d, fleet->devices, fleet->device_count, d->verdict >= FLEET_SLOW) ||
                     COUNT_WHERE(s, fleet->spreads, fleet->spread_count, s->modes.two || s->low);
    const bool unsure = (strict && fleet->drift_count) ||
                        COUNT_WHERE(d, fleet->devices, fleet->device_count, d->verdict == FLEET_UNJUDGED);
    return !fleet->device_count ? 3 : bad ? 1 : unsure ? 4 : 0;
}

size_t fleet_nodes(const char ***names, const struct fleet *fleet, bool bad, struct arena *arena)
{
    const size_t room = fleet->device_count + fleet->missing_node_count + 1;
    const char **bads = arena_array(arena, room, sizeof(*bads)), **out = arena_array(arena, room, sizeof(*out));
    size_t bad_count = 0, count = 0;
    for (size_t k = 0; k < fleet->device_count; k++)
        if (fleet->devices[k].verdict >= FLEET_SLOW)
            bads[bad_count++] = fleet->devices[k].node;
    for (size_t k = 0; k < fleet->missing_node_count; k++)
        bads[bad_count++] = fleet->missing_nodes[k];
    qsort(bads, bad_count, sizeof(*bads), text_order);
    for (size_t k = 0; k < (bad ? bad_count : fleet->device_count); k++) {
        const char *node = bad ? bads[k] : fleet->devices[k].node;
        if ((!count || strcmp(node, out[count - 1]) != 0) && (bad || !is_among(node, bads, bad_count)))
            out[count++] = node;
    }
    *names = out;
    return count;
}
