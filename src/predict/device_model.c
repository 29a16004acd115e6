/* SPDX-License-Identifier: MIT
 *
 * Converts a walk into the time of a launch. Values that the machine file lacks have already been borrowed from a
 * related machine; the constants below are used when no file has them.
 */
#include "rooftile/device_model.h"

/* ---- pipes ---- */

/* RDNA: 32 lanes a clock, results after 5 clocks, transcendentals at a quarter of the rate ("RDNA Architecture" white
 * paper). All others are like CDNA: walk_clocks_usual. */
static const struct walk_clocks rdna = {.vector = 1,
                                        .transcendental = 4,
                                        .multiply = 4,
                                        .vector_latency = 5,
                                        .scalar = 1,
                                        .branch = 4,
                                        .branch_taken = 8,
                                        .barrier = 10,
                                        .lds = 50,
                                        .lds_bytes = 128,
                                        .l1 = 120,
                                        .l2 = 220,
                                        .memory = 800,
                                        .scalar_load = 40,
                                        .l1_bytes = 64};

/* Default sizes, for when no file has them. */
#define L1_BYTES 16384.0
#define L2_BYTES 4194304.0
#define LINE_BYTES 128u
/* A launch finds in L2 what the previous launch left there, up to the capacity of one die's L2. */

static double or_else(double value, double fallback)
{
    return value > 0 && isfinite(value) ? value : fallback;
}

/* Sets a latency, unless the machine has none. Latencies are measured by chases, whose every step also issues a wait,
 * which the walk counts by itself. */
static void set_latency(double *clocks, const struct machine *machine, double latency_ns, double wait_clocks)
{
    *clocks = or_else(latency_ns * machine->core_hz / 1e9, *clocks) - wait_clocks;
}

/* ---- placement of workgroups ---- */

static bool occupancy_of(struct occupancy *occupancy, const struct walk_launch *launch)
{
    const struct codeobj_kernel *kernel = &launch->code_object->code;
    struct err ignored = {0};
    const struct occupancy_use use = {.target = launch->target,
                                      .wave = kernel->wave,
                                      .wgp_mode = kernel->wgp_mode,
                                      .vgprs = kernel->arch_vgprs,
                                      .agprs = kernel->acc_vgprs,
                                      .sgprs = kernel->sgpr_count,
                                      .lds_bytes = (uint64_t)kernel->group_segment_bytes + launch->lds_bytes,
                                      .block = launch->block[0] * launch->block[1] * launch->block[2]};
    return occupancy_compute(occupancy, &use, &ignored) == STATUS_OK;
}

static void set_working(struct device_launch_model *model, double share)
{
    model->working = share * model->workgroups;
    model->rounds = fmax(1, model->working / (model->resident * model->units));
    model->fullest = ceil(model->working / model->units);
}

static void place_workgroups(struct device_launch_model *model, const struct machine *machine,
                             const struct walk_launch *launch, enum cost without)
{
    const bool known = occupancy_of(&model->occupancy, launch);
    const double cus = or_else(machine->cus, 1);
    model->workgroups = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];
    model->units = known && model->occupancy.wgp_mode ? fmax(1, cus / 2) : cus;
    model->resident = known && model->occupancy.workgroups ? model->occupancy.workgroups : 1;
    if (known && model->occupancy.workgroups && without == COST_OCCUPANCY) {
        /* Workgroups per unit without the current limiter: the next resource limits them. */
        uint32_t next = OCCUPANCY_UNLIMITED;
        for (int k = 0; k < LIMITER_COUNT; k++)
            if (!model->occupancy.limited_by[k] && model->occupancy.workgroups_by[k] < next)
                next = model->occupancy.workgroups_by[k];
        const bool at_most =
            model->occupancy.limited_by[LIMITER_WAVES] || model->occupancy.limited_by[LIMITER_BARRIERS];
        model->resident = at_most || next == OCCUPANCY_UNLIMITED || next < model->occupancy.workgroups
                              ? model->occupancy.workgroups
                              : next;
    }
    set_working(model, 1);
    if (!known)
        model->occupancy = (struct occupancy){0};
}

void device_walk_options(struct walk_options *options, struct device_launch_model *model, const struct machine *machine,
                         const struct walk_launch *launch, double footprint_bytes, enum cost without)
{
    const struct walk_clocks *pipes = text_starts(launch->target, "gfx1") ? &rdna : &walk_clocks_usual;
    const struct machine_unit *f64 = machine_unit(machine, "vector_f64");
    const double f64_peak = f64 ? ceiling_value(&f64->peak) : 0;
    const struct machine_level *l1 = machine_level(machine, "L1"), *l2 = machine_level(machine, "L2");
    const double dies = or_else(machine->xccs, 1);
    const double l1_cu = l1 ? or_else(machine_level_own_bytes(machine, l1), L1_BYTES) : L1_BYTES;
    const double l2_die = l2 ? or_else(machine_level_own_bytes(machine, l2), L2_BYTES) : L2_BYTES;
    *model = (struct device_launch_model){0};
    place_workgroups(model, machine, launch, without);
    /* Selects the level beyond L2 that can hold the footprint, otherwise memory. */
    for (model->level = 0; model->level + 1 < machine->level_count; model->level++) {
        const struct machine_level *level = &machine->levels[model->level];
        if (!(level->name[0] == 'L' && level->name[1] <= '2') && footprint_bytes <= level->capacity_bytes)
            break;
    }
    const double here = fmin(model->resident, model->fullest);
    const double die = fmin(model->resident * model->units / dies, ceil(model->workgroups / dies));
    *options = (struct walk_options){
        .clocks = *pipes,
        .line_bytes = LINE_BYTES,
        .dies = (uint32_t)dies,
        .warm = footprint_bytes <= l2_die,
        .l1_lines = (uint64_t)fmax(1, l1_cu / LINE_BYTES / fmax(1, here)),
        .l2_lines = (uint64_t)fmax(1, l2_die / LINE_BYTES / fmax(1, die)),
    };
    struct walk_clocks *clocks = &options->clocks;
    /* An f64 instruction takes longer than an ordinary one by the factor that the vendor's peak is below 128 operations
     * a clock. */
    clocks->f64 =
        pipes->vector * (f64_peak > 0 ? fmax(1, round(128.0 * machine->cus * machine->core_hz / f64_peak)) : 1);
    set_latency(&clocks->lds, machine, machine->lds_latency_ns, pipes->scalar);
    set_latency(&clocks->l1, machine, l1 ? l1->latency_ns : 0, pipes->scalar);
    set_latency(&clocks->l2, machine, l2 ? l2->latency_ns : 0, pipes->scalar);
    set_latency(&clocks->memory, machine, machine->level_count ? machine->levels[model->level].latency_ns : 0,
                pipes->scalar);
    /* Removes what the cause adds to the clocks of a wave. */
    double *const latencies[] = {&clocks->l1, &clocks->l2, &clocks->memory, &clocks->lds, &clocks->scalar_load};
    options->no_conflicts = without == COST_CONFLICTS;
    options->coalesced = without == COST_UNCOALESCED;
    options->no_scratch = without == COST_SPILLS;
    if (without == COST_CHAIN)
        clocks->vector_latency = clocks->vector;
    for (size_t k = 0; (without == COST_WAITS || without == COST_CHASE) && k < COUNT_OF(latencies); k++)
        *latencies[k] /= 2;
}

/* ---- terms ---- */

/* Counts the bytes that cross L2 and the levels beyond it, and the bytes that the launch touches. */
static void count_bytes(struct device_launch_model *model, const struct walk_launch *launch,
                        const struct walk_options *options, const struct walk_result *walk)
{
    const double each = model->working / fmax(1, walk->sums.workgroups), line = options->line_bytes;
    for (size_t k = 0; k <= launch->buffer_count; k++) {
        const struct walk_traffic *traffic = &walk->traffic[k];
        /* Coalesced accesses move no more lines than their bytes fill. */
        const double loaded = options->coalesced ? traffic->bytes_loaded / line : INFINITY;
        const double stored = options->coalesced ? traffic->bytes_stored / line : INFINITY;
        const double size = k < launch->buffer_count ? (double)launch->buffers[k].size_bytes : INFINITY;
        const double distinct = fmin(traffic->distinct, loaded), written = fmin(traffic->stored, stored);
        const double touched = fmin(size, (distinct + written) * each * line);
        const double read = fmax(fmin(size, distinct * each * line), fmin(traffic->memory, loaded) * each * line);
        model->l2_bytes += (fmin(traffic->l1_miss, loaded) + fmin(traffic->stores, stored)) * each * line;
        model->memory_bytes += read + written * each * line;
        model->stored_bytes += written * each * line;
        model->footprint_bytes += touched;
    }
}

/* A level of unknown bandwidth is as fast as the next level outwards, never infinitely fast. */
static double bandwidth_from(const struct machine *machine, uint32_t level)
{
    for (uint32_t k = level; k < machine->level_count; k++) {
        const double expected = ceiling_expected(&machine->levels[k].bandwidth);
        if (expected > 0)
            return expected;
    }
    return 0;
}

static double divide(double bytes, double rate)
{
    return rate > 0 ? bytes / rate * 1e9 : 0;
}

/* The chain of a wave already has its own instructions: with one wave on a SIMD the pipes add nothing to it. The turns
 * of its accesses at L1 count twice: without that, the published times of uncoalesced loads (atax on an MI300A) are 10
 * to 25 % longer than predicted. */
static void pipe_terms(struct prediction *prediction, const struct device_launch_model *model,
                       const struct machine *machine, const struct device_change *change)
{
    double *term_ns = prediction->term_ns, *within_ns = prediction->within_ns;
    const struct walk_sums *sums = &change->walk.sums;
    const double clock_ns = 1e9 / or_else(machine->core_hz, 1e9), groups = fmax(1, sums->workgroups);
    const double simds = model->occupancy.simds ? model->occupancy.simds : or_else(machine->simds_per_cu, 4);
    const double cus = model->occupancy.wgp_mode ? 2 : 1; /* compute units that share the workgroups */
    const double each = change->fullest / groups * clock_ns;
    term_ns[TERM_VECTOR] = sums->vector_clocks * each / simds;
    term_ns[TERM_MATRIX] = sums->matrix_clocks * each / simds;
    term_ns[TERM_SCALAR] = sums->scalar_clocks * each / simds;
    term_ns[TERM_LDS] = sums->lds_clocks * each / cus;
    term_ns[TERM_L1] = sums->l1_clocks * each / cus;
    term_ns[TERM_LATENCY] = change->walk.clocks * clock_ns * model->rounds;
    const double own = model->rounds / fmax(1, sums->waves) * clock_ns;
    within_ns[TERM_VECTOR] = sums->vector_clocks * own;
    within_ns[TERM_MATRIX] = sums->matrix_clocks * own;
    within_ns[TERM_SCALAR] = sums->scalar_clocks * own;
    within_ns[TERM_LDS] = sums->lds_clocks * own;
}

/* Channels of a die's L2 (CDNA 3 white paper): the number of addresses on which atomics can proceed at once. */
#define L2_CHANNELS 16.0

/* 10 % and 90 % quantiles of measured over predicted time on an MI300A, each kernel weighted equally. */
#define SPREAD_LOW 0.80
#define SPREAD_HIGH 1.55

void device_predict(struct prediction *prediction, struct device_launch_model *model, const struct machine *machine,
                    const struct walk_launch *launch, const struct walk_options *options,
                    const struct walk_result *walk, enum cost without, const char *compute)
{
    struct device_change change;
    uint32_t l2 = 0;
    for (uint32_t k = 0; k < machine->level_count; k++)
        if (strcmp(machine->levels[k].name, "L2") == 0)
            l2 = k;
    double *term_ns = prediction->term_ns;
    memset(term_ns, 0, sizeof(prediction->term_ns));
    model->l2_bytes = model->memory_bytes = model->stored_bytes = model->footprint_bytes = 0;
    set_working(model, walk->working);
    count_bytes(model, launch, options, walk);
    device_change(&change, model, launch, options, walk, without);
    pipe_terms(prediction, model, machine, &change);
    term_ns[TERM_L2] = change.l2 * divide(model->l2_bytes, bandwidth_from(machine, l2));
    /* Data that fits in one die's L2 stays there. */
    const uint32_t far = options->warm ? l2 : model->level;
    const bool is_memory = far + 1 >= machine->level_count;
    const double far_ns = divide(fmin(model->memory_bytes, change.memory_bytes), bandwidth_from(machine, far));
    term_ns[is_memory ? TERM_MEMORY : TERM_MALL] = options->warm ? 0 : far_ns;
    term_ns[TERM_DISPATCH] = change.dispatch * divide(model->workgroups, machine->dispatch_hz);
    /* An atomic occupies its address for one L2 access. Atomics of one wave on one address are serialized, those of
     * different waves overlap; on an address that all workgroups use, the atomics of the whole device are
     * serialized. */
    const double clock_ns = 1e9 / or_else(machine->core_hz, 1e9), groups = fmax(1, walk->sums.workgroups);
    const double places = fmin(fmax(1, walk->sums.atomic_places / groups), L2_CHANNELS * fmax(1, options->dies));
    const double own = walk->sums.atomic_same * model->fullest / groups;
    const double shared = walk->sums.atomic_shared / groups * model->working / places;
    term_ns[TERM_ATOMICS] = change.atomics * fmax(own, shared) * clock_ns;
    /* An undecided branch may double or halve the work that it controls. */
    const double wider = walk->over_budget ? 4 : walk->unknown_count ? 1.5 : 1;
    prediction->method = "walk";
    prediction_conclude(prediction, machine, compute, DEVICE_NORM,
                        (struct prediction_spread){SPREAD_LOW / wider, SPREAD_HIGH * wider});
}
