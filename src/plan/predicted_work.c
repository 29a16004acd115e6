/* SPDX-License-Identifier: MIT
 *
 * Predicts a case's time from the work stated in its manifest. It replaces the walk for the CPU device, for code of
 * other vendors and for cases without code. It adds the terms of the lower bound at the machine's expected rates,
 * chains of dependent steps at their latency, and the launches.
 */

#include "plan_internal.h"
#include "rooftile/cpu_target.h"
#include "rooftile/launch_fit.h"
#include "rooftile/predictor.h"

/* The time of a dependent arithmetic step if the machine has no figure: four clocks at 4 GHz. */
#define STEP_NS 1.0
/* The share of peak that loops with loads and bounds checks reach if they were not written for peak. Kernels with the
 * tag "compute" are written for it: they reach the rate that one of them measured. */
#define SHARE_OF_PEAK 0.75
/* The share of peak that a memory kernel reaches on a CPU between loads, in conversions and in sums along rows, fitted
 * to layer and RMS norm on a core with AVX-512. Rates of a level's streams already include their arithmetic. */
#define SHARE_BETWEEN_LOADS 0.15
/* The 10 % and 90 % quantiles of truth over prediction. CPU: the shipped suites on a CPU with two cores, between those
 * of a busy machine (0.75, 2.2) and of a quiet one (0.93, 1.8). GPUs whose code is not walked: from an earlier run. */
static const struct prediction_spread cpu_spread = {0.75, 2.0}, gpu_spread = {0.7, 2.5};
/* The share of a CPU's dense matrix rate that sparse matrix instructions reach, because operands are looked up by
 * index. Measured with five types: 0.42 to 0.62. */
#define SHARE_OF_SPARSE 0.5
/* Arithmetic with an unknown peak may take longer than everything else. */
#define UNKNOWN_PEAK 4.0

struct asked {
    const struct resolved *resolved;
    const struct work *work;
    const struct machine *machine;
    bool cpu;
};

/* ---- required facts ---- */

/* Returns the bytes that a lane of the case moves or computes on at once, divided by those of a measured case; 1:
 * unknown. A CPU runs the lanes in turn, and a wide access or instruction takes no longer than a narrow one. */
static double width_over(const struct asked *asked, const char *source)
{
    const int param = manifest_param(asked->resolved->manifest, "WIDTH");
    const char *theirs = strstr(source, "WIDTH=");
    const double own = param >= 0 ? asked->resolved->values[param].number : 0;
    const double from = theirs ? strtod(theirs + strlen("WIDTH="), NULL) : 0;
    return asked->cpu && own > 0 && from > 0 ? own / from : 1;
}

/* Returns the time of this very kernel from the machine's measurement, for work that no ceiling covers. If several
 * widths were measured, returns the case's own. */
static const struct machine_figure *own_figure(const struct asked *asked)
{
    const struct machine_figure *found = NULL;
    const char *kernel = asked->resolved->manifest->name;
    const size_t length = strlen(kernel);
    FOR_EACH(const struct machine_figure, figure, asked->machine->figures, asked->machine->figure_count)
        if (!strncmp(figure->source, kernel, length) && (!figure->source[length] || figure->source[length] == '/') &&
            (!strcmp(figure->unit, "ns") || !strcmp(figure->unit, "B/s")) &&
            (!found || (width_over(asked, found->source) != 1 && width_over(asked, figure->source) == 1)))
            found = figure;
    return found;
}

/* Returns the figure for matrix instructions that a CPU emulates in loops: measured for the type, otherwise for f16. */
static const struct machine_figure *worked_out(const struct asked *asked)
{
    char name[2 * MACHINE_NAME];
    const char *unit = asked->work->unit;
    if (!asked->cpu || !text_starts(unit, "matrix"))
        return NULL;
    snprintf(name, sizeof(name), "%s_worked_out", text_starts(unit, "matrix_e") ? "matrix_fp8" : unit);
    const struct machine_figure *own = machine_figure(asked->machine, name);
    return own ? own : machine_figure(asked->machine, "matrix_worked_out");
}

static bool moves_or_computes(const struct work *work)
{
    return work->read_bytes + work->write_bytes > 0 || work->flops > 0;
}

static bool is_chain(const struct asked *asked)
{
    return asked->resolved->manifest->class == CLASS_LATENCY && asked->work->items > 0;
}

/* Returns the one path that the work takes, or NULL if it has none or the machine has no figure for it. */
static const struct ceiling *path_of(const struct machine *machine, const struct work *work)
{
    const struct machine_level *level = work->level[0] ? machine_level(machine, work->level) : NULL;
    const struct machine_link *link = machine_link(machine, work->level);
    return level ? &level->bandwidth : link ? &link->rate : NULL;
}

/* Notes which facts of the machine or the case are unknown. */
static bool lacks(struct prediction *prediction, const struct asked *asked)
{
    const struct work *work = asked->work;
    const struct machine *machine = asked->machine;
    const char *unit = worked_out(asked) ? NULL : lower_bound_lacks(machine, work);
    const struct ceiling *path = path_of(machine, work);
    const uint32_t before = prediction->note_count;
    if (!machine->level_count && !machine->unit_count)
        prediction_note(prediction, "no ceiling of this machine is known: 'rooftile roofline' measures them");
    else if (work->level[0] && !(path && ceiling_expected(path) > 0))
        prediction_note(prediction, "the bandwidth of the %s of %s is not known", work->level, machine->name);
    else if (unit && work->read_bytes + work->write_bytes <= 0)
        prediction_note(prediction, "the machine file of %s has no peak of %s", machine->name, unit);
    else if (!moves_or_computes(work) && !is_chain(asked) && !own_figure(asked) &&
             asked->resolved->manifest->class != CLASS_LAUNCH)
        prediction_note(prediction, "the manifest states neither bytes nor arithmetic");
    return prediction->note_count > before;
}

/* ---- terms ---- */

/* Returns the usual rate of such traffic, not the best rate. */
static double rate_of(const struct machine_level *level, const struct work *work)
{
    /* Picks the kind of traffic with the nearest share of written bytes. */
    const double *written = machine_traffic_written;
    const double share = work->write_bytes / fmax(1, work->read_bytes + work->write_bytes);
    int nearest = TRAFFIC_READ;
    for (int k = 0; k < TRAFFIC_COUNT; k++)
        if (fabs(written[k] - share) < fabs(written[nearest] - share))
            nearest = k;
    const struct ceiling *traffic = &level->traffic[nearest];
    const double own = traffic->effective > 0 ? traffic->effective : ceiling_value(traffic);
    return own > 0 ? own : ceiling_expected(&level->bandwidth);
}

/* The end of a level is known only as a range. Repeated passes over a footprint within that range hit less and less:
 * for each doubling, the rate falls by the same factor toward that of the next level, just as the latency of a chase
 * rises. */
static double cached_ns(const struct asked *asked, enum cache_mode cache, const char **level_name)
{
    const struct work *work = asked->work;
    const struct machine *machine = asked->machine;
    const double bytes = work->read_bytes + work->write_bytes;
    const double footprint = work->footprint_bytes > 0 ? fmin(work->footprint_bytes, bytes) : bytes;
    double rate = 0, inside = 0, way = 0;
    for (uint32_t k = 0; k < machine->level_count && !(inside > 0 && way <= 0); k++) {
        const struct machine_level *level = &machine->levels[k];
        const bool last = k + 1 == machine->level_count;
        const double here = rate_of(level, work), high = level->capacity_bytes;
        const double low = level->capacity_low_bytes > 0 ? level->capacity_low_bytes : high;
        if (here <= 0 || (!last && (cache == CACHE_COLD || footprint >= high)))
            continue;
        rate = inside > 0 ? inside * pow(here / inside, way) : here;
        if (!(inside > 0) || way > 0.5)
            *level_name = level->name;
        way = inside > 0 || last || footprint <= low ? 0 : log(footprint / low) / log(high / low);
        inside = here;
    }
    return rate > 0 ? bytes / rate * 1e9 : 0;
}

/* Returns the time through the slowest level, *level_name, at its expected rate rather than its best one. */
static double memory_ns(const struct asked *asked, enum cache_mode cache, const char **level_name)
{
    if (asked->cpu && !asked->work->level[0])
        return cached_ns(asked, cache, level_name);
    const struct work *work = asked->work;
    const struct machine *machine = asked->machine;
    const struct ceiling *path = path_of(machine, work);
    double time_ns = 0, rate = 0;
    if (path)
        return (work->read_bytes + work->write_bytes) / ceiling_expected(path) * 1e9;
    for (uint32_t k = machine->level_count; k-- > 0;) {
        rate = fmax(rate, rate_of(&machine->levels[k], work)); /* its traffic passes through the nearer levels */
        const double own_ns = rate > 0 ? lower_bound_usual_bytes(machine, work, cache, k) / rate * 1e9 : 0;
        *level_name = own_ns > time_ns ? machine->levels[k].name : *level_name;
        time_ns = fmax(time_ns, own_ns);
    }
    return time_ns;
}

/* Returns the latency measured by chases; 0: unknown. Between the last footprint inside a capacity and the first
 * outside, nothing was measured: there the latency is interpolated by a constant factor per doubling. */
static double chased_ns(const struct machine *machine, double footprint)
{
    for (uint32_t k = 0; k < machine->latency_count; k++) {
        const struct machine_latency *inside = &machine->latencies[k], *outside = inside + 1;
        const bool last = k + 1 == machine->latency_count;
        if (!(inside->latency_ns > 0))
            continue;
        if (last || footprint <= inside->upto_bytes)
            return inside->latency_ns;
        if (footprint < inside->beyond_bytes && outside->latency_ns > 0) {
            const double way = log(footprint / inside->upto_bytes) / log(inside->beyond_bytes / inside->upto_bytes);
            return inside->latency_ns * pow(outside->latency_ns / inside->latency_ns, way);
        }
    }
    return 0;
}

/* Returns the latency of a dependent load: from chases, otherwise from the level that holds the footprint. */
static double step_ns(const struct asked *asked)
{
    const struct machine *machine = asked->machine;
    const double footprint = asked->work->footprint_bytes, chased = chased_ns(machine, footprint);
    double last_ns = 0;
    if (asked->work->read_bytes <= 0)
        return STEP_NS;
    if (chased > 0)
        return chased;
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        const double own =
            asked->cpu ? level->capacity_bytes / fmax(1, machine->cus) : machine_level_own_bytes(machine, level);
        last_ns = level->latency_ns > 0 ? level->latency_ns : last_ns;
        if (last_ns > 0 && (k + 1 == machine->level_count || footprint <= own))
            return last_ns;
    }
    return 0;
}

static double chain_ns(const struct asked *asked)
{
    const struct machine_figure *figure = own_figure(asked);
    if (!is_chain(asked) && (!figure || moves_or_computes(asked->work)))
        return 0;
    if (figure && !strcmp(figure->unit, "B/s"))
        return asked->work->items / figure->value / width_over(asked, figure->source) * 1e9;
    if (figure && asked->work->read_bytes <= 0)
        return asked->work->items * figure->value;
    return asked->work->items * step_ns(asked) *
           (asked->work->read_bytes > 0 ? 1 : launch_lanes(asked->resolved, asked->cpu));
}

/* Returns the share of a unit's peak that the case can reach. Single work-items that fill only part of a vector still
 * take whole instructions. */
static double share_of_peak(const struct asked *asked, const char *name)
{
    const struct machine_unit *unit = machine_unit(asked->machine, name);
    const bool alone = unit && launch_lanes(asked->resolved, asked->cpu) == 1;
    const double narrow = alone ? fmin(1, width_over(asked, unit->peak.measured_by)) : 1;
    const struct manifest *manifest = asked->resolved->manifest;
    const bool between = asked->cpu && manifest->class == CLASS_MEMORY && strcmp(name, TRANSCENDENTAL_UNIT) &&
                         !text_among("stream", manifest->tags, manifest->tag_count);
    if (asked->machine->measured && text_among("compute", manifest->tags, manifest->tag_count))
        return narrow;
    return narrow * (between ? SHARE_BETWEEN_LOADS : SHARE_OF_PEAK);
}

/* Raises *time_ns and sets `unit` if this arithmetic alone takes longer. */
static void add_arithmetic(double *time_ns, char unit[static MACHINE_NAME], const struct asked *asked, double flops,
                           double transcendentals)
{
    struct work work = *asked->work;
    double least_ns;
    work.flops = flops;
    work.transcendentals = transcendentals;
    const struct machine_unit *slowest = lower_bound_unit(&least_ns, asked->machine, &work);
    const double own_ns = slowest ? least_ns / share_of_peak(asked, slowest->name) : 0;
    if (own_ns <= *time_ns)
        return;
    *time_ns = own_ns;
    snprintf(unit, MACHINE_NAME, "%s", slowest->name);
}

/* Sets `unit` to the slowest unit, which may be the one for exponentials. */
static double compute_ns(const struct asked *asked, char unit[static MACHINE_NAME])
{
    const struct work *work = asked->work;
    const struct machine_figure *figure = worked_out(asked);
    double time_ns = 0;
    snprintf(unit, MACHINE_NAME, "%s", work->unit);
    const int sparse = manifest_param(asked->resolved->manifest, "SPARSE");
    const bool is_sparse = sparse >= 0 && asked->resolved->values[sparse].number > 1;
    if (figure)
        return work->flops / figure->value / (is_sparse ? SHARE_OF_SPARSE : 1) * 1e9;
    add_arithmetic(&time_ns, unit, asked, work->flops, 0);
    add_arithmetic(&time_ns, unit, asked, 0, work->transcendentals);
    return time_ns;
}

enum predicted_on_host predicted_on_host(const struct resolved *resolved)
{
    const struct work *work = &resolved->work;
    const double bytes = work->read_bytes + work->write_bytes;
    if (!backend_is_cpu(resolved->device->backend))
        return HOST_NOT_WALKED;
    if (resolved->manifest->class == CLASS_COMPUTE)
        return text_starts(work->unit, "vector") && launch_lanes(resolved, true) == 1 ? HOST_CHAIN : HOST_NOT_WALKED;
    const bool by_lines = work->flops <= 0 && work->items > 0 && bytes > 0 && bytes < work->items * HOST_LINE_BYTES;
    return resolved->manifest->class == CLASS_MEMORY && by_lines ? HOST_LINES : HOST_NOT_WALKED;
}

/* Uses the rate of reads, because a written line is read first. */
static double lines_rate(const struct asked *asked)
{
    struct work reads = *asked->work;
    reads.read_bytes += reads.write_bytes;
    reads.write_bytes = 0;
    const struct asked as_reads = {asked->resolved, &reads, asked->machine, asked->cpu};
    const char *level = "";
    const double ns = cached_ns(&as_reads, CACHE_HOT, &level);
    return ns > 0 ? reads.read_bytes / ns * 1e9 : 0;
}

/* A CPU's cores run whole workgroups. Returns the load of the busiest core divided by an even share. */
static double busiest(const struct asked *asked)
{
    const double groups = launch_workgroups(asked->resolved), cores = fmax(1, asked->machine->cus);
    return asked->cpu && groups > 0 ? ceil(groups / cores) * cores / groups : 1;
}

/* Returns the busiest core's part of all work, as a multiple of the walked part's bytes or FLOPs. */
static double share_of(const struct asked *asked, double all, double walked)
{
    return (walked > 0 ? all / walked : 1) * busiest(asked) / fmax(1, asked->machine->cus);
}

static void add_lines(struct prediction *prediction, const struct asked *asked, const struct host_walk *walk)
{
    const struct work *work = asked->work;
    const struct machine *machine = asked->machine;
    const double share = share_of(asked, work->read_bytes + work->write_bytes, walk->in_part ? walk->bytes : 0);
    const bool placed = walk->apart_placed > 0 && walk->apart_placed >= walk->apart / 2;
    const double apart = placed ? walk->apart_bytes / walk->apart_placed : work->footprint_bytes;
    const double near_ns = machine->latency_count > 1 ? machine->latencies[1].latency_ns : 0;
    const struct host_time time =
        host_time(walk, machine, share, lines_rate(asked), near_ns, chased_ns(machine, apart));
    prediction->term_ns[TERM_MEMORY] = fmax(prediction->term_ns[TERM_MEMORY], time.lines_ns);
    prediction->term_ns[TERM_SCALAR] = time.issue_ns;
}

double predicted_launches_ns(const struct machine *machine, double launches)
{
    const double next_ns = machine->launch_next_ns > 0 ? machine->launch_next_ns : machine->launch_ns;
    return launches > 0 ? machine->launch_ns + (launches - 1) * next_ns : 0;
}

void predicted_by_work(struct prediction *prediction, const struct resolved *resolved, enum cache_mode cache,
                       const struct machine *machine, const char *why, const struct host_walk *walk)
{
    const struct asked asked = {.resolved = resolved,
                                .work = &resolved->work,
                                .machine = machine,
                                .cpu = backend_is_cpu(resolved->device->backend)};
    const bool matrix = text_starts(resolved->work.unit, "matrix");
    struct prediction_spread spread = asked.cpu ? cpu_spread : gpu_spread;
    *prediction = (struct prediction){.method = "description"};
    if (lacks(prediction, &asked))
        return;
    const char *unit = worked_out(&asked) ? NULL : lower_bound_lacks(machine, &resolved->work);
    if (why)
        prediction_note(prediction, "by the stated work: %s", why);
    if (unit) {
        prediction_note(prediction, "without its arithmetic: %s has no peak of %s", machine->name, unit);
        spread.high *= UNKNOWN_PEAK;
    }
    if (!walk && predicted_on_host(resolved) == HOST_LINES) {
        prediction_note(prediction, "how its accesses lie is not known: each may move a line of %.0f bytes",
                        HOST_LINE_BYTES);
        spread.high *=
            HOST_LINE_BYTES * resolved->work.items / (resolved->work.read_bytes + resolved->work.write_bytes);
    }
    const char *level = "";
    char compute[MACHINE_NAME];
    prediction->term_ns[TERM_MEMORY] = memory_ns(&asked, cache, &level) * busiest(&asked);
    prediction->term_ns[matrix ? TERM_MATRIX : TERM_VECTOR] = compute_ns(&asked, compute) * busiest(&asked);
    prediction->term_ns[TERM_LATENCY] = chain_ns(&asked);
    prediction->term_ns[TERM_LAUNCH] = predicted_launches_ns(machine, plan_launches(resolved));
    const bool by_lines = walk && predicted_on_host(resolved) == HOST_LINES;
    prediction->method = walk ? "walk" : prediction->method;
    if (by_lines) {
        add_lines(prediction, &asked, walk);
    } else if (walk) {
        const double share = share_of(&asked, resolved->work.flops, walk->in_part ? walk->flops : 0);
        prediction->term_ns[TERM_LATENCY] = host_chain_ns(walk, machine, share);
        prediction->term_ns[TERM_MEMORY] = fmax(prediction->term_ns[TERM_MEMORY], host_fought_ns(walk, machine, share));
    }
    prediction_conclude(prediction, machine, compute, by_lines ? HOST_NORM : DEVICE_NORM, spread);
    if (prediction->limiter == TERM_MEMORY && level[0])
        snprintf(prediction->bound, sizeof(prediction->bound), "%s", level);
}
