/* SPDX-License-Identifier: MIT
 *
 * Joins the runs of one device, and groups devices that are alike.
 */

#include "fleet_internal.h"

/* ---- runs of one device ---- */

/* Orders "n9" before "n10". */
static int by_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
            char *ends[2];
            const unsigned long long x = strtoull(a, &ends[0], 10), y = strtoull(b, &ends[1], 10);
            if (x != y)
                return x < y ? -1 : 1;
            a = ends[0] - 1;
            b = ends[1] - 1;
        } else if (*a != *b) {
            return *a < *b ? -1 : 1;
        }
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int by_device(const void *a, const void *b)
{
    const struct fleet_device *x = a, *y = b;
    return by_name(x->name, y->name) ?: strcmp(x->key, y->key) ?: strcmp(x->run->run_id, y->run->run_id)
           ?: ORDER(x->run->together, y->run->together);
}

/* Joins `count` runs of one device. Values other than times come from the last run. */
static struct fleet_device join(struct fleet *fleet, const struct fleet_device *runs, size_t count)
{
    SCOPED(arena_release) struct arena scratch = {0};
    const size_t metrics = fleet->metric_count;
    struct fleet_device device = runs[count - 1];
    double *times = arena_array(&scratch, metrics * count + 1, sizeof(*times)); /* `count` for each metric */
    size_t *known = arena_array(&scratch, metrics + 1, sizeof(*known)), together = 0;
    device.readings = arena_array(fleet->arena, metrics + 1, sizeof(*device.readings));
    for (size_t m = 0; m < metrics; m++)
        device.readings[m] = (struct fleet_reading){.time_ns = NAN, .fastest_ns = NAN, .noise = NAN};
    FOR_EACH(const struct fleet_device, one, runs, count) {
        together += one->run->together;
        device.problem = device.problem ? device.problem : one->problem;
        for (size_t n = 0; n < one->run->count; n++) {
            const size_t m = one->run->readings[n].metric;
            const struct fleet_reading *from = &one->run->readings[n].reading;
            struct fleet_reading *into = &device.readings[m];
            const char *problem = into->problem ? into->problem : from->problem;
            const double fastest = fmin(into->fastest_ns, from->fastest_ns);
            if (from->time_ns > 0) {
                *into = *from;
                into->fastest_ns = fastest;
                if (known[m] < count)
                    times[m * count + known[m]++] = log(from->time_ns);
            }
            into->problem = problem;
        }
    }
    device.runs = together > count - together ? together : count - together;
    for (size_t m = 0; m < metrics && device.runs > 1; m++)
        if (known[m] > 1) {
            device.readings[m].time_ns = exp(median_of(&times[m * count], known[m]));
            device.readings[m].noise = robust_sd(&times[m * count], known[m]);
        }
    return device;
}

void fleet_join(struct fleet *fleet)
{
    struct fleet_device *all = fleet->devices,
                        *devices = arena_array(fleet->arena, fleet->device_count + 1, sizeof(*devices));
    size_t count = 0, kept = 0;
    if (all)
        qsort(all, fleet->device_count, sizeof(*all), by_device);
    for (size_t k = 0; k < fleet->device_count; k++) {
        const bool twice = kept && *all[k].run->run_id && !strcmp(all[k].key, all[kept - 1].key) &&
                           !strcmp(all[k].run->run_id, all[kept - 1].run->run_id) &&
                           all[k].run->together == all[kept - 1].run->together;
        fleet->duplicates += twice;
        all[kept] = all[k];
        kept += !twice;
    }
    for (size_t from = 0, to; from < kept; from = to) {
        for (to = from + 1; to < kept && !strcmp(all[to].key, all[from].key);)
            to++;
        devices[count++] = join(fleet, &all[from], to - from);
    }
    fleet->devices = devices;
    fleet->device_count = count;
}

/* ---- groups ---- */

/* Baselines are found by this name. With `in_words`, a driver's version is prefixed with "driver". */
static const char *group_name(const struct fleet_device *device, bool in_words, struct arena *arena)
{
    const char *name = "";
    for (size_t k = 0; k < FLEET_GROUP_FACTS; k++)
        if (*device->facts[k].value)
            name = arena_printf(arena, "%s%s%s%s%s", name, *name ? ", " : "",
                                in_words && !strcmp(device->facts[k].key, "driver") ? "driver " : "",
                                device->facts[k].value, !strcmp(device->facts[k].key, "compute units") ? " CUs" : "");
    return name;
}

void fleet_make_groups(struct fleet *fleet)
{
    FOR_EACH(struct fleet_device, device, fleet->devices, fleet->device_count) {
        const char *name = group_name(device, false, fleet->arena);
        struct fleet_group *group = FIND_ROW(fleet->groups, fleet->group_count, name, name);
        if (!group) {
            ARENA_PUSH(fleet->arena, fleet->groups, fleet->group_count,
                       (struct fleet_group){.name = name,
                                            .about = group_name(device, true, fleet->arena),
                                            .model = device->facts[0].value,
                                            .facts = device->facts});
            group = &fleet->groups[fleet->group_count - 1];
        }
        group->devices++;
        device->group = (size_t)(group - fleet->groups);
    }
    FOR_EACH(struct fleet_group, group, fleet->groups, fleet->group_count) {
        /* the model, and the facts that distinguish the group from others of that model */
        group->title = group->model;
        for (size_t k = 1; k < FLEET_GROUP_FACTS; k++) {
            const struct fleet_fact *fact = &group->facts[k];
            if (COUNT_WHERE(other, fleet->groups, fleet->group_count,
                            !strcmp(other->model, group->model) && strcmp(other->facts[k].value, fact->value)))
                group->title = arena_printf(fleet->arena, "%s, %s %s", group->title, fact->key,
                                            *fact->value ? fact->value : "unknown");
        }
    }
}

/* ---- drift: facts in which devices differ from most others of their model ---- */

#define NAMED 4 /* devices listed by name; the rest are counted */

static int by_count(const void *a, const void *b)
{
    const struct fleet_drift *x = a, *y = b;
    return ORDER(y->count, x->count) ?: strcmp(x->value, y->value);
}

static bool is_of(const struct fleet *fleet, const struct fleet_device *device, const char *model)
{
    return !strcmp(fleet->groups[device->group].model, model);
}

static void look_at(struct fleet *fleet, const char *model, const char *key)
{
    struct fleet_drift *held = NULL;
    size_t count = 0;
    FOR_EACH(const struct fleet_device, device, fleet->devices, fleet->device_count) {
        const struct fleet_fact *fact = FIND_ROW(device->facts, device->fact_count, key, key);
        const char *value = fact ? fact->value : "";
        if (!is_of(fleet, device, model))
            continue;
        struct fleet_drift *one = FIND_ROW(held, count, value, value);
        if (!one) {
            ARENA_PUSH(fleet->arena, held, count, (struct fleet_drift){.key = key, .value = value, .devices = ""});
            one = &held[count - 1];
        }
        if (one->count++ < NAMED)
            one->devices = arena_printf(fleet->arena, "%s%s%s", one->devices, *one->devices ? ", " : "", device->name);
    }
    if (count > 1)
        qsort(held, count, sizeof(*held), by_count);
    for (size_t k = 1; k < count; k++) {
        held[k].majority = held[0].value;
        held[k].majority_count = held[0].count;
        if (held[k].count > NAMED)
            held[k].devices = arena_printf(fleet->arena, "%s and %zu more", held[k].devices, held[k].count - NAMED);
        ARENA_PUSH(fleet->arena, fleet->drifts, fleet->drift_count, held[k]);
    }
}

/* Each key that some device of a model has, once. */
void fleet_find_drift(struct fleet *fleet)
{
    for (size_t g = 0; g < fleet->group_count; g++) {
        const char *model = fleet->groups[g].model, **keys = NULL;
        size_t count = 0;
        if (FIND_ROW(fleet->groups, g, model, model))
            continue;
        FOR_EACH(const struct fleet_device, device, fleet->devices, fleet->device_count)
            for (size_t f = 1; f < device->fact_count && is_of(fleet, device, model); f++) {
                if (text_among(device->facts[f].key, keys, count))
                    continue;
                ARENA_PUSH(fleet->arena, keys, count, device->facts[f].key);
                look_at(fleet, model, device->facts[f].key);
            }
    }
}
