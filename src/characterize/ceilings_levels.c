/* SPDX-License-Identifier: MIT
 *
 * Finds memory levels: capacity boundaries on curves of rate and latency over footprint, and the relation between the
 * two.
 */

#include "ceilings_internal.h"
#include "rooftile/cpu_target.h"

/* Neighbouring footprints differ by a factor of 1.33 to 1.5, and each capacity boundary may be off by one of them. */
static const double boundary_slack = 1.25;

/* Neighbouring plateaus with a smaller ratio are one level (Empirical Roofline Toolkit, band gap). */
static const double same_level_ratio = 1.25;
static const double least_confidence = 0.9;
/* A plateau needs this many footprints: the slope between two levels has two or three. */
enum { MIN_POINTS = 4, MAX_CHANGES = 16, MAX_INSIDE = 256, MAX_BOUNDARIES = MACHINE_MAX_LEVELS - 1 };

/* A case as a point of a curve over footprints. */
struct point {
    double footprint;
    double value; /* median, in bytes per second or nanoseconds per step */
    double best;  /* the same for the fastest twentieth of the samples, as interference only slows some of them down */
    double ci_rel;
    const struct result_case *from;
};

/* Cases of a class, ordered by footprint. */
struct curve {
    const char *kernel; /* NULL: all kernels */
    struct point *points;
    size_t count;
};

/* Returns the ratio of the median time to that of the fastest twentieth. */
static double speed_up(const struct result_case *c)
{
    return c->stats.p05 > 0 ? c->stats.median / c->stats.p05 : 1;
}

static int by_footprint(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    return ORDER(p->footprint, q->footprint);
}

/* Keeps the better of two points at one footprint: interference only slows a case down, so that one is more
 * accurate. */
static size_t keep_better(struct point *points, size_t count, bool lower_is_better)
{
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        if (!kept || points[kept - 1].footprint < points[k].footprint)
            points[kept++] = points[k];
        else {
            struct point *held = &points[kept - 1];
            const double best = (points[k].best < held->best) == lower_is_better ? points[k].best : held->best;
            if ((points[k].value < held->value) == lower_is_better)
                *held = points[k];
            held->best = best;
        }
    }
    return kept;
}

/* Collects a kernel's better point per footprint, or all points of all kernels if `kernel` is NULL. `points` has room
 * for every case. */
static size_t collect(struct point *points, const struct result *result, const char *class, const char *kernel)
{
    const bool latency = !strcmp(class, "latency");
    size_t count = 0;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (!ceilings_usable(c) || strcmp(c->class, class) || (kernel && strcmp(c->kernel, kernel)))
            continue;
        /* Cases on a separate path (a link) and chains without loads tell nothing about the memory. */
        if (c->work.level[0] || (latency && c->work.read_bytes <= 0))
            continue;
        const double value = latency ? c->stats.median / c->work.items : c->bytes_per_s;
        if (isfinite(value) && value > 0 && c->work.footprint_bytes > 0)
            points[count++] = (struct point){c->work.footprint_bytes, value,
                                             latency ? value / speed_up(c) : value * speed_up(c), ceilings_ci(c), c};
    }
    qsort(points, count, sizeof(*points), by_footprint);
    return kernel ? keep_better(points, count, latency) : count;
}

/* Returns by which factor `after` is worse than `before`; above 1 it is a step to an outer level. */
static double worse(double before, double after, bool rises)
{
    return rises ? after / before : before / after;
}

/* Returns the curve of the class's kernel with the most footprints; empty if there is none. */
static struct curve widest(const struct result *result, const char *class, struct arena *arena)
{
    struct curve curve = {.points = arena_array(arena, result->case_count + 1, sizeof(*curve.points))};
    size_t most = 0;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (strcmp(c->class, class) || (curve.kernel && !strcmp(curve.kernel, c->kernel)))
            continue;
        const size_t count = collect(curve.points, result, class, c->kernel);
        if (count > most) {
            most = count;
            curve.kernel = c->kernel;
        }
    }
    curve.count = curve.kernel ? collect(curve.points, result, class, curve.kernel) : 0;
    /* A smaller footprint cannot be slower than a larger one. Replace such points, so that interference, which only
     * makes cases slower, does not look like a capacity boundary. */
    for (size_t k = curve.count; k-- > 1;) {
        struct point *point = &curve.points[k - 1];
        const double footprint = point->footprint;
        if (worse(curve.points[k].best, point->best, !strcmp(class, "latency")) <= same_level_ratio)
            continue;
        *point = curve.points[k];
        point->footprint = footprint;
    }
    return curve;
}

/* Finds capacity boundaries between levels: drops of a rate, or rises of a latency (`rises`). */
static size_t find_boundaries(struct change_point boundaries[static MAX_BOUNDARIES], const struct curve *curve,
                              bool rises, uint64_t seed)
{
    struct change_point changes[MAX_CHANGES];
    double *x = new_zeroed(2 * curve->count + 1, sizeof(*x)), *y = x + curve->count;
    for (size_t k = 0; k < curve->count; k++) {
        x[k] = curve->points[k].footprint;
        y[k] = curve->points[k].best;
    }
    const size_t found = change_points(changes, MAX_CHANGES, x, y, curve->count, MIN_POINTS, seed);
    free(x);
    size_t kept = 0;
    double plateau = found ? changes[0].before : 0;
    for (size_t k = 0; k < found && kept < MAX_BOUNDARIES; k++) {
        /* Only steps outward are capacity boundaries of a cache. A better rate at larger footprints comes from launch
         * overhead fading out. */
        if (worse(plateau, changes[k].after, rises) < same_level_ratio || changes[k].confidence < least_confidence) {
            if (worse(plateau, changes[k].after, rises) < 1)
                plateau = changes[k].after;
            continue;
        }
        boundaries[kept++] = changes[k];
        plateau = changes[k].after;
    }
    return kept;
}

/* ---- by bandwidth ---- */

static void raise(struct ceiling *ceiling, const struct point *point)
{
    if (point->value <= ceiling->measured)
        return;
    ceiling->measured = point->value;
    ceiling->ci_rel = point->ci_rel;
    snprintf(ceiling->measured_by, sizeof(ceiling->measured_by), "%s", point->from->id);
}

/* Classifies by the share of written bytes; TRAFFIC_COUNT for mixtures in between. */
static enum machine_traffic traffic_of(const struct work *work)
{
    const double share = work->write_bytes / (work->read_bytes + work->write_bytes);
    enum machine_traffic kind = 0;
    while (kind < TRAFFIC_COUNT && fabs(share - machine_traffic_written[kind]) > 0.02)
        kind++;
    return kind;
}

static bool is_inside(const struct point *point, double low, double high)
{
    return point->footprint >= low && point->footprint < high;
}

/* Sets the rate that predictions expect: the upper quartile of rates with a footprint well inside a level. The best
 * case may have hit the previous level in part, and interference only makes cases slower. */
static void find_usual(struct ceiling *ceiling, enum machine_traffic kind, const struct curve *all, double low,
                       double high)
{
    double values[MAX_INSIDE];
    size_t inside = 0;
    for (size_t k = 0; k < all->count && inside < MAX_INSIDE; k++)
        if (all->points[k].footprint >= low && all->points[k].footprint <= high &&
            traffic_of(&all->points[k].from->work) == kind)
            values[inside++] = all->points[k].value;
    if (!inside)
        return;
    median_of(values, inside); /* sorts the values */
    ceiling->effective = median_of(values + inside / 2, inside - inside / 2);
    snprintf(ceiling->effective_source, sizeof(ceiling->effective_source), "upper quartile of %zu rates inside",
             inside);
}

static void find_bandwidths(struct machine *machine, const struct result *result, const struct curve *curve,
                            uint64_t seed)
{
    struct change_point boundaries[MAX_BOUNDARIES];
    const size_t found = find_boundaries(boundaries, curve, false, seed);
    const struct curve all = {.points = curve->points, .count = collect(curve->points, result, "memory", NULL)};
    machine->level_count = (uint32_t)found + 1;
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        snprintf(machine->levels[k].name, MACHINE_NAME, "L%u", k + 1);
    snprintf(machine->levels[machine->level_count - 1].name, MACHINE_NAME, "%s",
             backend_is_cpu(result->device.backend) ? "DRAM" : "VRAM");
    for (uint32_t k = 0; k < machine->level_count; k++) {
        struct machine_level *level = &machine->levels[k];
        const double low = k ? boundaries[k - 1].x_high : 0;
        for (const struct point *point = all.points; point < all.points + all.count; point++) {
            const enum machine_traffic kind = traffic_of(&point->from->work);
            if (!is_inside(point, low, k < found ? boundaries[k].x_high : INFINITY))
                continue;
            raise(&level->bandwidth, point);
            if (kind < TRAFFIC_COUNT)
                raise(&level->traffic[kind], point);
        }
        for (int kind = 0; kind < TRAFFIC_COUNT; kind++)
            find_usual(&level->traffic[kind], (enum machine_traffic)kind, &all, low,
                       k < found ? boundaries[k].x_low : INFINITY);
        if (k == found)
            break;
        level->capacity_low_bytes = boundaries[k].x_low;
        level->capacity_bytes = boundaries[k].x_high;
        level->capacity_confidence = boundaries[k].confidence;
        snprintf(level->capacity_source, sizeof(level->capacity_source),
                 "change point of %s between %.0f and %.0f bytes", curve->kernel, boundaries[k].x_low,
                 boundaries[k].x_high);
    }
}

/* ---- by latency ---- */

/* Returns the median chase with a footprint in [low, high); NULL if there is none. */
static const struct point *typical(const struct curve *curve, double low, double high)
{
    double values[MAX_INSIDE];
    const struct point *best = NULL;
    size_t inside = 0;
    for (size_t k = 0; k < curve->count && inside < MAX_INSIDE; k++)
        if (is_inside(&curve->points[k], low, high))
            values[inside++] = curve->points[k].value;
    const double median = median_of(values, inside);
    for (size_t k = 0; k < curve->count; k++)
        if (is_inside(&curve->points[k], low, high) &&
            (!best || fabs(curve->points[k].value - median) < fabs(best->value - median)))
            best = &curve->points[k];
    return best;
}

static void find_latencies(struct machine *machine, const struct curve *chases, uint64_t seed)
{
    struct change_point boundaries[MAX_BOUNDARIES];
    if (chases->count < MIN_POINTS)
        return;
    const size_t found = find_boundaries(boundaries, chases, true, seed);
    for (size_t k = 0; k <= found; k++) {
        /* The ramp from x_low to x_high belongs to no level. */
        const struct point *point =
            typical(chases, k ? boundaries[k - 1].x_high : 0, k < found ? boundaries[k].x_high : INFINITY);
        struct machine_latency *latency = &machine->latencies[machine->latency_count];
        if (!point)
            continue;
        machine->latency_count++;
        latency->latency_ns = point->value;
        latency->ci_rel = point->ci_rel;
        snprintf(latency->source, sizeof(latency->source), "%.159s", point->from->id);
        if (k == found)
            break;
        latency->upto_bytes = boundaries[k].x_low;
        latency->beyond_bytes = boundaries[k].x_high;
        latency->confidence = boundaries[k].confidence;
    }
}

/* ---- both ---- */

/* Bandwidth kernels fill all caches of a level, a chase only one. Returns whether a level may have this many caches: on
 * a CPU any divisor of its number of threads; on a GPU one in total, or one per XCC, per two CUs or per CU. */
static bool may_be_instances(uint32_t instances, const struct device_info *device)
{
    const uint32_t cus = device->cus ? device->cus : 1;
    if (backend_is_cpu(device->backend))
        return cus % instances == 0;
    return instances == 1 || instances == cus || 2 * instances == cus || instances == device->xccs;
}

/* Returns the number of caches for which the two capacity ranges match best; 0 if none does. */
static uint32_t instances_of(const struct machine_level *level, const struct machine_latency *latency,
                             const struct device_info *device)
{
    const uint32_t most = device->cus ? device->cus : 1;
    const double whole = sqrt(level->capacity_low_bytes * level->capacity_bytes);
    const double part = sqrt(latency->upto_bytes * latency->beyond_bytes);
    double nearest = INFINITY;
    uint32_t best = 0;
    for (uint32_t n = 1; n <= most; n++) {
        const bool meets = n * latency->upto_bytes <= level->capacity_bytes * boundary_slack &&
                           level->capacity_low_bytes <= n * latency->beyond_bytes * boundary_slack;
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

/* Sets a level's latency from the chases with the same capacity boundary, else from those whose footprint certainly
 * lies inside. */
static void take_latencies(struct machine *machine, const struct curve *chases, double cores)
{
    for (uint32_t k = 0; k < machine->level_count; k++) {
        struct machine_level *level = &machine->levels[k];
        const double low = k ? machine->levels[k - 1].capacity_bytes : 0;
        const double high = k + 1 < machine->level_count ? level->capacity_low_bytes / cores : INFINITY;
        const struct point *inside = typical(chases, low, high);
        const struct machine_latency *seen = FIND_ROW(machine->latencies, machine->latency_count, level, level->name);
        if (seen)
            level->latency_ns = seen->latency_ns;
        else if (inside)
            level->latency_ns = inside->value;
        if (level->latency_ns > 0)
            snprintf(level->latency_source, sizeof(level->latency_source), "%s",
                     seen ? "median of the chases that show the same capacity boundary"
                          : "median of chases well inside; they show no capacity boundary of it");
    }
}

enum status ceilings_levels(struct machine *machine, const struct result *result, uint64_t seed, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    const struct curve rates = widest(result, "memory", &arena), chases = widest(result, "latency", &arena);
    enum status status = STATUS_OK;
    if (rates.count < MIN_POINTS) {
        status = err_set(err, ERR_CONFIG, "no memory kernel was measured at enough footprints to find cache levels");
    } else {
        find_bandwidths(machine, result, &rates, seed);
        find_latencies(machine, &chases, seed);
        name_latencies(machine, &result->device);
        take_latencies(machine, &chases, result->device.cus ? result->device.cus : 1);
    }
    return status;
}
