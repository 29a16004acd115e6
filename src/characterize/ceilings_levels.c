/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ceilings_internal.h"

enum { MIN_POINTS = 4, MAX_INSIDE = 256 };
/* Footprints stand a factor of 1.33 to 1.5 apart, and each border may be one of them off. */
static const double border_slack = 1.25;

/* ---- by bandwidth ---- */

static void name_levels(struct machine *machine, const char *backend)
{
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        snprintf(machine->levels[k].name, MACHINE_NAME, "L%u", k + 1);
    snprintf(machine->levels[machine->level_count - 1].name, MACHINE_NAME, "%s",
             strcmp(backend, "cpu") ? "VRAM" : "DRAM");
}

static void raise(struct ceiling *ceiling, const struct curve_point *point)
{
    if (point->value <= ceiling->measured)
        return;
    ceiling->measured = point->value;
    ceiling->ci_rel = point->ci_rel;
    snprintf(ceiling->measured_by, sizeof(ceiling->measured_by), "%s", point->from->id);
}

/* By the share of bytes that are written; TRAFFIC_COUNT for mixtures between. */
static enum machine_traffic traffic_of(const struct work *work)
{
    static const double shares[TRAFFIC_COUNT] = {
        [TRAFFIC_READ] = 0, [TRAFFIC_WRITE] = 1, [TRAFFIC_COPY] = 0.5, [TRAFFIC_TRIAD] = 1.0 / 3};
    const double share = work->write_bytes / (work->read_bytes + work->write_bytes);
    enum machine_traffic kind = 0;
    while (kind < TRAFFIC_COUNT && fabs(share - shares[kind]) > 0.02)
        kind++;
    return kind;
}

static void measure_level(struct machine_level *level, const struct curve_point *points, size_t count, double low,
                          double high)
{
    for (size_t k = 0; k < count; k++) {
        if (points[k].footprint < low || points[k].footprint >= high)
            continue;
        const enum machine_traffic kind = traffic_of(&points[k].from->work);
        raise(&level->bandwidth, &points[k]);
        if (kind < TRAFFIC_COUNT)
            raise(&level->traffic[kind], &points[k]);
    }
}

static void find_bandwidths(struct machine *machine, const struct result *result, struct curve_point *points,
                            const char *kernel, uint64_t seed)
{
    struct change_point borders[CURVE_MAX_BORDERS];
    size_t count = curve_collect(points, result, "memory", kernel);
    const size_t found = curve_borders(borders, points, count, false, seed);
    machine->level_count = (uint32_t)found + 1;
    name_levels(machine, result->device.backend);
    count = curve_collect(points, result, "memory", NULL);
    for (uint32_t k = 0; k < machine->level_count; k++) {
        struct machine_level *level = &machine->levels[k];
        const double low = k ? borders[k - 1].x_high : 0;
        measure_level(level, points, count, low, k < found ? borders[k].x_high : INFINITY);
        if (k == found)
            break;
        level->capacity_low_bytes = borders[k].x_low;
        level->capacity_bytes = borders[k].x_high;
        level->capacity_confidence = borders[k].confidence;
        snprintf(level->capacity_source, sizeof(level->capacity_source),
                 "change point of %s between %.0f and %.0f bytes", kernel, borders[k].x_low, borders[k].x_high);
    }
}

/* ---- by latency ---- */

/* The chase in the middle of those with a footprint in [low, high); NULL when there is none. */
static const struct curve_point *typical(const struct curve_point *points, size_t count, double low, double high)
{
    double values[MAX_INSIDE];
    const struct curve_point *best = NULL;
    size_t inside = 0;
    for (size_t k = 0; k < count && inside < MAX_INSIDE; k++)
        if (points[k].footprint >= low && points[k].footprint < high)
            values[inside++] = points[k].value;
    const double median = inside ? median_of(values, inside) : 0;
    for (size_t k = 0; k < count && inside; k++)
        if (points[k].footprint >= low && points[k].footprint < high &&
            (!best || fabs(points[k].value - median) < fabs(best->value - median)))
            best = &points[k];
    return best;
}

static void find_latencies(struct machine *machine, const struct result *result, struct curve_point *points,
                           uint64_t seed)
{
    struct change_point borders[CURVE_MAX_BORDERS];
    const char *kernel = curve_widest(result, "latency", points);
    const size_t count = kernel ? curve_collect(points, result, "latency", kernel) : 0;
    if (count < MIN_POINTS)
        return;
    const size_t found = curve_borders(borders, points, count, true, seed);
    for (size_t k = 0; k <= found; k++) {
        /* The ramp from x_low to x_high belongs to no level. */
        const struct curve_point *point =
            typical(points, count, k ? borders[k - 1].x_high : 0, k < found ? borders[k].x_high : INFINITY);
        struct machine_latency *latency = &machine->latencies[machine->latency_count];
        if (!point)
            continue;
        machine->latency_count++;
        latency->latency_ns = point->value;
        latency->ci_rel = point->ci_rel;
        snprintf(latency->source, sizeof(latency->source), "%.159s", point->from->id);
        if (k == found)
            break;
        latency->upto_bytes = borders[k].x_low;
        latency->beyond_bytes = borders[k].x_high;
        latency->confidence = borders[k].confidence;
    }
}

/* ---- both ---- */

/* Bandwidth fills all caches of a kind, a chase one of them: how many of them there may be. On a CPU any number that
 * divides its threads; on a GPU one for all, for each XCC, for two CUs, or for each CU. */
static bool may_be_instances(uint32_t instances, const struct device_info *device)
{
    const uint32_t cus = device->cus ? device->cus : 1;
    if (!strcmp(device->backend, "cpu"))
        return cus % instances == 0;
    return instances == 1 || instances == cus || 2 * instances == cus || instances == device->xccs;
}

/* As many caches as bring the two ranges together best; 0 when no number does. */
static uint32_t instances_of(const struct machine_level *level, const struct machine_latency *latency,
                             const struct device_info *device)
{
    const uint32_t most = device->cus ? device->cus : 1;
    const double whole = sqrt(level->capacity_low_bytes * level->capacity_bytes);
    const double part = sqrt(latency->upto_bytes * latency->beyond_bytes);
    double nearest = INFINITY;
    uint32_t best = 0;
    for (uint32_t n = 1; n <= most; n++) {
        const bool meets = n * latency->upto_bytes <= level->capacity_bytes * border_slack &&
                           level->capacity_low_bytes <= n * latency->beyond_bytes * border_slack;
        const double distance = fabs(log(n * part / whole));
        if (!meets || !may_be_instances(n, device) || distance >= nearest)
            continue;
        nearest = distance;
        best = n;
    }
    return best;
}

static void name_latencies(struct machine *machine, const struct device_info *device)
{
    uint32_t next = 0;
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        for (uint32_t n = next; n < machine->latency_count && machine->latencies[n].upto_bytes > 0; n++) {
            struct machine_latency *latency = &machine->latencies[n];
            latency->instances = instances_of(&machine->levels[k], latency, device);
            if (!latency->instances)
                continue;
            memcpy(latency->level, machine->levels[k].name, MACHINE_NAME);
            next = n + 1;
            break;
        }
    if (!machine->latency_count)
        return;
    struct machine_latency *last = &machine->latencies[machine->latency_count - 1];
    memcpy(last->level, machine->levels[machine->level_count - 1].name, MACHINE_NAME);
    last->instances = 1;
}

/* A level's latency: of the chases that see the same border, else of those whose footprint certainly lies inside. */
static void take_latencies(struct machine *machine, const struct result *result, struct curve_point *points)
{
    const char *kernel = curve_widest(result, "latency", points);
    const size_t count = kernel ? curve_collect(points, result, "latency", kernel) : 0;
    const double cores = result->device.cus ? result->device.cus : 1;
    for (uint32_t k = 0; k < machine->level_count; k++) {
        struct machine_level *level = &machine->levels[k];
        const double low = k ? machine->levels[k - 1].capacity_bytes : 0;
        const double high = k + 1 < machine->level_count ? level->capacity_low_bytes / cores : INFINITY;
        const struct curve_point *inside = typical(points, count, low, high);
        const struct machine_latency *seen = NULL;
        for (uint32_t n = 0; n < machine->latency_count; n++)
            if (!strcmp(machine->latencies[n].level, level->name))
                seen = &machine->latencies[n];
        if (seen)
            level->latency_ns = seen->latency_ns;
        else if (inside)
            level->latency_ns = inside->value;
        if (level->latency_ns > 0)
            snprintf(level->latency_source, sizeof(level->latency_source), "%s",
                     seen ? "median of the chases that show the same border"
                          : "median of chases well inside; they show no border of it");
    }
}

enum status ceilings_levels(struct machine *machine, const struct result *result, uint64_t seed, struct err *err)
{
    struct curve_point *points = calloc(result->case_count + 1, sizeof(*points));
    if (!points)
        arena_out_of_memory(result->case_count * sizeof(*points));
    const char *kernel = curve_widest(result, "memory", points);
    enum status status = STATUS_OK;
    if (!kernel || curve_collect(points, result, "memory", kernel) < MIN_POINTS) {
        status = err_set(err, ERR_CONFIG, "no memory kernel was measured at enough footprints to find the levels from");
    } else {
        find_bandwidths(machine, result, points, kernel, seed);
        find_latencies(machine, result, points, seed);
        name_latencies(machine, &result->device);
        take_latencies(machine, result, points);
    }
    free(points);
    return status;
}
