/* SPDX-License-Identifier: MIT */
#include "rooftile/ceilings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Neighbouring plateaus closer than this are one level (Empirical Roofline Toolkit, band gap). */
static const double same_level_ratio = 1.25;
static const double least_confidence = 0.9;
/* A plateau must show at this many footprints: the slope between two levels has two or three. */
enum { MIN_POINTS = 4, MAX_CHANGES = 16 };

struct point {
    double footprint, rate, rate_ci;
    const struct result_case *from;
};

static bool usable(const struct result_case *c)
{
    return c->status == CASE_OK && c->sample_count && c->stats.median > 0 && c->verification.verdict == VERIFY_PASS;
}

static double ci_rel(const struct result_case *c)
{
    return fmin(1, (c->stats.ci95[1] - c->stats.ci95[0]) / 2 / c->stats.median); /* 1: nothing is sure about it */
}

static int by_footprint(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    return (p->footprint > q->footprint) - (p->footprint < q->footprint);
}

static size_t curve_of(struct point *points, const struct result *result, const char *class, const char *kernel)
{
    size_t count = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!usable(c) || strcmp(c->class, class) || (kernel && strcmp(c->kernel, kernel)))
            continue;
        const double rate = strcmp(class, "latency") ? c->bytes_per_s : c->stats.median / c->work.items;
        if (isfinite(rate) && rate > 0 && c->work.footprint_bytes > 0)
            points[count++] = (struct point){c->work.footprint_bytes, rate, ci_rel(c), c};
    }
    qsort(points, count, sizeof(*points), by_footprint);
    return count;
}

/* The kernel that was measured at the most footprints. */
static const char *widest_kernel(const struct result *result, struct point *scratch)
{
    const char *best = NULL;
    size_t most = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (strcmp(c->class, "memory") || (best && !strcmp(best, c->kernel)))
            continue;
        const size_t count = curve_of(scratch, result, "memory", c->kernel);
        if (count > most) {
            most = count;
            best = c->kernel;
        }
    }
    return best;
}

static size_t level_boundaries(struct change_point *changes, const struct point *points, size_t count, uint64_t seed)
{
    double *x = calloc(2 * count + 1, sizeof(*x)), *y = x + count;
    if (!x)
        arena_out_of_memory(2 * count * sizeof(*x));
    for (size_t k = 0; k < count; k++) {
        x[k] = points[k].footprint;
        y[k] = points[k].rate;
    }
    const size_t found = change_points(changes, MAX_CHANGES, x, y, count, MIN_POINTS, seed);
    free(x);
    size_t kept = 0;
    double plateau = found ? changes[0].before : 0;
    for (size_t k = 0; k < found; k++) {
        /* Only falls are borders of a cache; a rise at the small end is launch cost fading out. */
        if (changes[k].after * same_level_ratio > plateau || changes[k].confidence < least_confidence ||
            kept + 1 >= MACHINE_MAX_LEVELS) {
            if (changes[k].after > plateau)
                plateau = changes[k].after;
            continue;
        }
        changes[kept++] = changes[k];
        plateau = changes[k].after;
    }
    return kept;
}

static void name_levels(struct machine *machine, const char *backend)
{
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        snprintf(machine->levels[k].name, MACHINE_NAME, "L%u", k + 1);
    snprintf(machine->levels[machine->level_count - 1].name, MACHINE_NAME, "%s",
             strcmp(backend, "cpu") ? "VRAM" : "DRAM");
}

static void measure_level(struct machine_level *level, const struct point *points, size_t count, double low,
                          double high)
{
    for (size_t k = 0; k < count; k++) {
        if (points[k].footprint < low || points[k].footprint >= high || points[k].rate <= level->bandwidth.measured)
            continue;
        level->bandwidth.measured = points[k].rate;
        level->bandwidth.ci_rel = points[k].rate_ci;
        snprintf(level->bandwidth.measured_by, sizeof(level->bandwidth.measured_by), "%s", points[k].from->id);
    }
}

static double latency_between(const struct point *points, size_t count, double low, double high)
{
    double values[256];
    size_t inside = 0;
    for (size_t k = 0; k < count && inside < 256; k++)
        if (points[k].footprint >= low && points[k].footprint < high)
            values[inside++] = points[k].rate;
    return inside ? median_of(values, inside) : 0;
}

static void find_levels(struct machine *machine, const struct result *result, struct point *points, const char *kernel,
                        uint64_t seed)
{
    struct change_point changes[MAX_CHANGES];
    size_t count = curve_of(points, result, "memory", kernel);
    const size_t borders = level_boundaries(changes, points, count, seed);
    machine->level_count = (uint32_t)borders + 1;
    name_levels(machine, result->device.backend);
    count = curve_of(points, result, "memory", NULL);
    for (uint32_t k = 0; k < machine->level_count; k++) {
        struct machine_level *level = &machine->levels[k];
        const double low = k ? changes[k - 1].x_high : 0;
        const double high = k < borders ? changes[k].x_high : INFINITY;
        measure_level(level, points, count, low, high);
        if (k < borders) {
            level->capacity_bytes = changes[k].x_high;
            level->capacity_confidence = changes[k].confidence;
            snprintf(level->capacity_source, sizeof(level->capacity_source),
                     "change point of %s between %.0f and %.0f bytes", kernel, changes[k].x_low, changes[k].x_high);
        }
    }
    /* A chase runs on one core: inside a cache that each core has for itself its footprint is a share of the whole. */
    count = curve_of(points, result, "latency", NULL);
    const double cores = result->device.cus ? result->device.cus : 1;
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const double low = k ? changes[k - 1].x_high : 0;
        const double high = k < borders ? changes[k].x_low / cores : INFINITY;
        machine->levels[k].latency_ns = latency_between(points, count, low, high);
        snprintf(machine->levels[k].latency_source, sizeof(machine->levels[k].latency_source),
                 machine->levels[k].latency_ns > 0 ? "median of pointer chases inside the level" : "");
    }
}

static struct machine_unit *unit_named(struct machine *machine, const char *name)
{
    for (uint32_t k = 0; k < machine->unit_count; k++)
        if (!strcmp(machine->units[k].name, name))
            return &machine->units[k];
    if (machine->unit_count >= MACHINE_MAX_UNITS)
        return NULL;
    struct machine_unit *unit = &machine->units[machine->unit_count++];
    snprintf(unit->name, sizeof(unit->name), "%s", name);
    return unit;
}

/* Rates as multiples of those that a device names. A CPU that has AVX512-FP16 or AVX-512 VNNI runs them on the pipes of
 * its f32 multiply-adds, with two and four times the elements. Dot products of bf16 are missing on purpose: an Intel
 * core was measured to do them at half the rate of f32, and nothing says how others do. */
static const struct {
    const char *unit;
    double of_f32, of_f64;
} vector_rates[] = {{"vector_f32", 1, 0}, {"vector_f64", 0, 1}, {"vector_f16", 2, 0}, {"vector_i8", 4, 0}};

static double flops_per_clock(const char *unit, const struct device_info *device)
{
    for (size_t k = 0; k < sizeof(vector_rates) / sizeof(*vector_rates); k++)
        if (!strcmp(vector_rates[k].unit, unit))
            return vector_rates[k].of_f32 * device->flops_per_clock_f32 +
                   vector_rates[k].of_f64 * device->flops_per_clock_f64;
    return 0;
}

/* What the vector units can do at the measured clock: a limit of physics, not of our kernel. */
static void claim_unit(struct machine_unit *unit, const struct device_info *device)
{
    const double per_clock = flops_per_clock(unit->name, device);
    unit->clock_hz = device->core_hz;
    if (per_clock <= 0 || device->core_hz <= 0)
        return;
    unit->peak.claimed = per_clock * device->core_hz * device->cus;
    snprintf(unit->peak.claimed_source, sizeof(unit->peak.claimed_source),
             "derived: %u cores x %.3g FLOP per clock x %.3g GHz (measured clock)", device->cus, per_clock,
             device->core_hz / 1e9);
}

static void find_units(struct machine *machine, const struct result *result)
{
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!usable(c) || strcmp(c->class, "compute") || !c->work.unit[0] || !(c->flops_per_s > 0))
            continue;
        struct machine_unit *unit = unit_named(machine, c->work.unit);
        if (!unit || c->flops_per_s <= unit->peak.measured)
            continue;
        unit->peak.measured = c->flops_per_s;
        unit->peak.ci_rel = ci_rel(c);
        snprintf(unit->peak.measured_by, sizeof(unit->peak.measured_by), "%s", c->id);
        claim_unit(unit, &result->device);
    }
}

enum status ceilings_find(struct machine *machine, const struct result *result, uint64_t seed, struct err *err)
{
    struct point *points = calloc(result->case_count + 1, sizeof(*points));
    if (!points)
        arena_out_of_memory(result->case_count * sizeof(*points));
    const char *kernel = widest_kernel(result, points);
    enum status status = STATUS_OK;
    if (!kernel || curve_of(points, result, "memory", kernel) < MIN_POINTS) {
        status = err_set(err, ERR_CONFIG, "no memory kernel was measured at enough footprints to find the levels from");
        goto out;
    }
    *machine = (struct machine){.measured = true,
                                .cus = result->device.cus,
                                .xccs = result->device.xccs,
                                .wave = result->device.wave,
                                .max_block = result->device.max_block,
                                .lds_bytes_per_cu = (double)result->device.lds_bytes,
                                .memory_bytes = (double)result->device.memory_bytes,
                                .core_hz = result->device.core_hz};
    snprintf(machine->title, sizeof(machine->title), "%s", result->device.name);
    snprintf(machine->name, sizeof(machine->name), "%.63s", result->device.id);
    snprintf(machine->arch, sizeof(machine->arch), "%s", result->device.arch);
    find_levels(machine, result, points, kernel, seed);
    find_units(machine, result);
    if (isfinite(result->calibration.null_launch_ns)) {
        machine->launch_ns = result->calibration.null_launch_ns;
        snprintf(machine->launch_source, sizeof(machine->launch_source), "median of single launches of launch_empty");
    }
out:
    free(points);
    return status;
}
