/* SPDX-License-Identifier: MIT
 *
 * Runs of one device become one device; devices that are alike become a group.
 */

#include "fleet_internal.h"
#include "rooftile/hash.h"

/* ---- runs of one device ---- */

/* "n9" before "n10". */
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
    return by_name(x->name, y->name) ?: strcmp(x->key, y->key) ?: strcmp(x->run->run_id, y->run->run_id);
}

/* Times of one metric over the runs. */
struct joined {
    double *times;
    size_t count;
};

static void join_reading(struct fleet_reading *into, const struct fleet_reading *from)
{
    if (!into->problem)
        into->problem = from->problem;
    if (!(from->time_ns > 0))
        return;
    const double fastest = into->time_ns > 0 ? fmin(into->fastest_ns, from->fastest_ns) : from->fastest_ns;
    const char *problem = into->problem;
    *into = *from; /* what else was measured is of the last run */
    into->fastest_ns = fastest;
    into->problem = problem;
}

static bool is_twice(const struct fleet_device *devices, size_t from, size_t at)
{
    for (size_t k = from; k < at; k++)
        if (devices[k].run->together == devices[at].run->together && *devices[at].run->run_id &&
            !strcmp(devices[k].run->run_id, devices[at].run->run_id))
            return true;
    return false;
}

static void median_over_runs(struct fleet *fleet, struct fleet_device *device, const struct fleet_device *all,
                             size_t from, size_t to)
{
    double times[64];
    for (size_t m = 0; m < fleet->metric_count; m++) {
        size_t count = 0;
        for (size_t k = from; k < to; k++)
            for (size_t n = 0; !is_twice(all, from, k) && n < all[k].run->count; n++)
                if (all[k].run->readings[n].metric == m && all[k].run->readings[n].reading.time_ns > 0 &&
                    count < COUNT_OF(times))
                    times[count++] = log(all[k].run->readings[n].reading.time_ns);
        if (count < 2)
            continue;
        device->readings[m].noise = robust_sd(times, count);
        device->readings[m].time_ns = exp(median_of(times, count));
    }
}

static struct fleet_device join(struct fleet *fleet, const struct fleet_device *all, size_t from, size_t to)
{
    struct fleet_device device = all[to - 1];
    size_t alone = 0, together = 0;
    device.readings = arena_array(fleet->arena, fleet->metric_count + 1, sizeof(*device.readings));
    for (size_t m = 0; m < fleet->metric_count; m++)
        device.readings[m] = (struct fleet_reading){.time_ns = NAN, .fastest_ns = NAN, .noise = NAN, .cycles = NAN};
    for (size_t k = from; k < to; k++) {
        if (is_twice(all, from, k)) {
            fleet->duplicates++;
            continue;
        }
        *(all[k].run->together ? &together : &alone) += 1;
        device.problem = device.problem ? device.problem : all[k].problem;
        for (size_t n = 0; n < all[k].run->count; n++)
            join_reading(&device.readings[all[k].run->readings[n].metric], &all[k].run->readings[n].reading);
    }
    device.runs = alone > together ? alone : together;
    if (device.runs > 1)
        median_over_runs(fleet, &device, all, from, to);
    return device;
}

void fleet_join(struct fleet *fleet)
{
    struct fleet_device *all = fleet->devices;
    size_t count = 0;
    if (all)
        qsort(all, fleet->device_count, sizeof(*all), by_device);
    struct fleet_device *devices = arena_array(fleet->arena, fleet->device_count + 1, sizeof(*devices));
    for (size_t from = 0, to; from < fleet->device_count; from = to) {
        for (to = from + 1; to < fleet->device_count && !strcmp(all[to].key, all[from].key);)
            to++;
        devices[count++] = join(fleet, all, from, to);
    }
    fleet->devices = devices;
    fleet->device_count = count;
}

/* ---- groups ---- */

/* Baselines are found by it; in words a driver's version is called that. */
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

/* The model, and what other groups of it have otherwise. */
static const char *group_title(const struct fleet *fleet, const struct fleet_group *group)
{
    const char *title = group->model;
    for (size_t k = 1; k < FLEET_GROUP_FACTS; k++) {
        if (COUNT_WHERE(other, fleet->groups, fleet->group_count,
                        !strcmp(other->model, group->model) && strcmp(other->facts[k].value, group->facts[k].value)))
            title = arena_printf(fleet->arena, "%s, %s %s", title, group->facts[k].key,
                                 *group->facts[k].value ? group->facts[k].value : "unknown");
    }
    return title;
}

void fleet_make_groups(struct fleet *fleet)
{
    FOR_EACH(struct fleet_device, device, fleet->devices, fleet->device_count) {
        const char *name = group_name(device, false, fleet->arena);
        size_t at = 0;
        while (at < fleet->group_count && strcmp(fleet->groups[at].name, name) != 0)
            at++;
        if (at == fleet->group_count)
            ARENA_PUSH(fleet->arena, fleet->groups, fleet->group_count,
                       (struct fleet_group){.name = name,
                                            .about = group_name(device, true, fleet->arena),
                                            .model = device->facts[0].value,
                                            .facts = device->facts});
        fleet->groups[at].devices++;
        device->group = at;
    }
    FOR_EACH(struct fleet_group, group, fleet->groups, fleet->group_count)
        group->title = group_title(fleet, group);
}
