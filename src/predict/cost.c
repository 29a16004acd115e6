/* SPDX-License-Identifier: MIT */
#include "rooftile/cost.h"

#include "rooftile/device_model.h"

static const struct {
    const char *name, *remedy;
} texts[] = {
    [COST_NONE] = {"none", ""},
    [COST_CONFLICTS] = {"bank conflicts", "pad or swizzle the rows in LDS"},
    [COST_UNCOALESCED] = {"uncoalesced accesses", "let neighbouring lanes access neighbouring addresses"},
    [COST_NARROW] = {"narrow accesses", "load and store 16 bytes a lane"},
    [COST_SPILLS] = {"spills", "keep in registers what is spilled: fewer live values, or more registers a wave"},
    [COST_OCCUPANCY] = {"occupancy", "free what limits the waves that a unit holds"},
    [COST_CHAIN] = {"dependent chain", "compute several independent results in turn"},
    [COST_WAITS] = {"waits", "begin loads earlier: twice as many in flight"},
    [COST_ATOMICS] = {"atomics",
                      "reduce in registers and LDS first, then one atomic a workgroup, or spread the addresses"},
    [COST_IDLE_LANES] = {"idle lanes", "give every lane work: no divergence, workgroups of whole waves"},
    [COST_TAIL] = {"tail", "a number of workgroups that the units divide, or smaller ones"},
    [COST_DISPATCH] = {"dispatch", "more work for each workgroup, fewer workgroups"},
    [COST_LAUNCH] = {"launch", "more work for each launch: fuse, batch, or a graph"},
    [COST_TRAFFIC] = {"extra traffic", "reuse data while caches hold it: tiles, another order of workgroups"},
    [COST_CLOCK] = {"clock", "raise the power limit, cool the device, or draw less"},
    [COST_REUSE] = {"no reuse", "load a tile into LDS or registers once, and use it for several results"},
    [COST_CHASE] = {"chain of loads", "follow several chains at once, or lay data out for fewer steps"},
    [COST_MATRIX] = {"matrix arithmetic", ""},
    [COST_VECTOR] = {"vector arithmetic", ""},
    [COST_SCALAR] = {"scalar instructions", ""},
    [COST_LDS] = {"LDS traffic", ""},
    [COST_L1] = {"L1 traffic", ""},
    [COST_L2] = {"L2 traffic", ""},
    [COST_MEMORY] = {"memory traffic", ""},
    [COST_LATENCY] = {"instructions of one wave in a row", ""},
    [COST_UNEXPLAINED] = {"unexplained", ""},
};
_Static_assert(COUNT_OF(texts) == COST_COUNT, "every cause has its texts");

const char *cost_name(enum cost cause)
{
    return texts[cause].name;
}

const char *cost_remedy(enum cost cause)
{
    return texts[cause].remedy;
}

/* ---- the change that removes a cause ---- */

#define WIDEST 16.0 /* bytes, the widest access of one lane */

static double mean_width(const struct walk_sums *sums)
{
    return sums->access_lanes > 0 ? sums->access_bytes / sums->access_lanes : WIDEST;
}

/* Returns the least number of lines that can hold the bytes of a mean access. */
static double least_lines(const struct walk_sums *sums, double line_bytes)
{
    return sums->accesses > 0 ? fmax(1, sums->access_bytes / sums->accesses / line_bytes) : 1;
}

static double lines_each(const struct walk_sums *sums)
{
    return sums->accesses > 0 ? sums->access_lines / sums->accesses : 1;
}

/* Neighbouring lanes access neighbouring bytes. */
static bool is_contiguous(const struct walk_sums *sums, double line_bytes)
{
    return lines_each(sums) < 1.5 * least_lines(sums, line_bytes) + 0.5;
}

/* A loop with at least this many accesses per wave takes fewer turns with wider accesses; otherwise the grid has
 * fewer workgroups. */
#define ACCESSES_OF_A_LOOP 16.0

/* Waits, addresses and loop control are paid once per 16 bytes instead of once per access. */
static void widen(struct device_change *change, const struct walk_options *options)
{
    struct walk_sums *sums = &change->walk.sums;
    const double width = mean_width(sums), less = 1 - width / WIDEST, waves = fmax(1, sums->waves);
    /* If neighbouring lanes already access neighbouring bytes, they still do with wider accesses. */
    if (width >= WIDEST || !is_contiguous(sums, options->line_bytes))
        return;
    const double saved = less * (sums->wait_memory_clocks + sums->index_clocks + sums->control_clocks +
                                 sums->accesses * options->clocks.vector);
    change->walk.clocks = fmax(change->walk.clocks - saved / waves, change->walk.clocks * (1 - less));
    sums->vector_clocks -= less * sums->index_clocks;
    sums->scalar_clocks -= less * sums->control_clocks;
    sums->l1_clocks = fmin(sums->l1_clocks, sums->access_bytes / options->clocks.l1_bytes);
    if (sums->accesses / waves < ACCESSES_OF_A_LOOP)
        change->dispatch = 1 - less;
}

/* Returns how often a line is asked of L1 for each line of the workgroup's data. */
static double repeats(const struct walk_result *walk, size_t rows)
{
    double loads = 0, distinct = 0;
    for (size_t k = 0; k < rows; k++) {
        loads += walk->traffic[k].loads;
        distinct += walk->traffic[k].distinct;
    }
    return distinct > 0 ? loads / distinct : 1;
}

/* Each line crosses L1 once; what was loaded again comes from LDS, in the clocks of its bytes. */
static void reuse(struct device_change *change, const struct walk_options *options, size_t rows)
{
    struct walk_sums *sums = &change->walk.sums;
    const double less = 1 - 1 / repeats(&change->walk, rows), waves = fmax(1, sums->waves);
    const double saved = fmin(sums->wait_memory_clocks, less * (sums->wait_memory_clocks + sums->l1_clocks)) / waves;
    change->walk.clocks = fmax(change->walk.clocks - saved, change->walk.clocks * (1 - less));
    sums->l1_clocks *= 1 - less;
    sums->lds_clocks += less * sums->access_bytes / options->clocks.lds_bytes;
    change->l2 = 1 - less;
}

static double lane_share(const struct walk_sums *sums, double wave)
{
    const double asked = (sums->count[WALK_VECTOR] + sums->count[WALK_TRANSCENDENTAL]) * wave;
    return asked > 0 ? fmin(1, sums->lanes / asked) : 1;
}

void device_change(struct device_change *change, const struct device_launch_model *model,
                   const struct walk_launch *launch, const struct walk_options *options, const struct walk_result *walk,
                   enum cost without)
{
    *change = (struct device_change){
        .walk = *walk, .atomics = 1, .dispatch = 1, .l2 = 1, .memory_bytes = INFINITY, .fullest = model->fullest};
    struct walk_sums *sums = &change->walk.sums;
    const double share = lane_share(&walk->sums, launch->code_object->code.wave), waves = fmax(1, sums->waves);
    if (without == COST_NARROW) {
        widen(change, options);
    } else if (without == COST_REUSE) {
        reuse(change, options, launch->buffer_count + 1);
    } else if (without == COST_IDLE_LANES) {
        change->walk.clocks -= (1 - share) * sums->vector_clocks / waves;
        sums->vector_clocks *= share;
    } else if (without == COST_ATOMICS) { /* the reduction over the lanes of a wave before its atomic goes as well */
        change->atomics = 0;
        change->walk.clocks -= sums->lane_clocks / waves;
        sums->vector_clocks -= sums->lane_vector_clocks;
        sums->scalar_clocks -= sums->lane_scalar_clocks;
    } else if (without == COST_SPILLS)
        change->walk.clocks -= walk->sums.scratch * options->clocks.vector / fmax(1, walk->sums.waves);
    else if (without == COST_TAIL)
        change->fullest = model->working / fmax(1, model->units);
    else if (without == COST_DISPATCH)
        change->dispatch = 0;
    else if (without == COST_TRAFFIC && model->least_bytes > 0)
        change->memory_bytes = model->least_bytes;
}

#define LINE_BYTES 128.0
#define FEW_LANES 4.0
/* Neighbouring elements of a line, and a stencil's neighbours in a row, are asked for a few times; tiles many times. */
#define MOST_REPEATS 4.0

bool cost_possible(enum cost cost, const struct walk_launch *launch, const struct walk_result *walk)
{
    const struct walk_sums *sums = &walk->sums;
    const bool is_chased = sums->chased > 0.5 * sums->accesses;
    switch (cost) {
    case COST_CONFLICTS:
        return sums->lds_clocks > sums->lds_free_clocks;
    case COST_SPILLS:
        return sums->scratch > 0;
    case COST_CHAIN:
        return sums->wait_result_clocks > 0;
    case COST_WAITS:
        return !is_chased;
    case COST_CHASE:
        return is_chased;
    case COST_REUSE: /* strided accesses ask for a line again as well: they are uncoalesced first of all */
        return !is_chased && !(sums->lds_clocks > 0) && is_contiguous(sums, LINE_BYTES) &&
               repeats(walk, launch->buffer_count + 1) > MOST_REPEATS;
    case COST_ATOMICS:
        return sums->atomics > 0;
    case COST_NARROW: /* accesses of a few lanes are inherently narrow: a list, a pointer chase */
        return sums->access_lanes > FEW_LANES * sums->accesses;
    default:
        return cost < COST_WORK;
    }
}

/* ---- evidence ---- */

static void say_tail(struct text *text, const struct device_launch_model *model)
{
    const char *unit = model->occupancy.wgp_mode ? "WGPs" : "compute units";
    if (model->working < model->units)
        text_addf(text, "%.0f workgroup%s for %.0f %s: the others have none", model->working,
                  model->working > 1 ? "s" : "", model->units, unit);
    else
        text_addf(text, "%.0f workgroups on %.0f %s: the fullest has %.0f, %.2f are its share", model->working,
                  model->units, unit, model->fullest, model->working / model->units);
}

void cost_evidence(struct text *text, enum cost cause, const struct device_launch_model *model,
                   const struct walk_launch *launch, const struct walk_result *walk, const struct machine *machine)
{
    const struct occupancy *occupancy = &model->occupancy;
    const struct walk_sums *sums = &walk->sums;
    const struct codeobj_kernel *code = &launch->code_object->code;
    const double accesses = fmax(1, sums->accesses), waves = fmax(1, sums->waves);
    const double percent = 100 / fmax(1, walk->clocks * waves), width = mean_width(sums);
    switch (cause) {
    case COST_CONFLICTS:
        text_addf(text, "LDS takes %.0f clocks for a workgroup's accesses, %.0f without conflicts", sums->lds_clocks,
                  sums->lds_free_clocks);
        break;
    case COST_UNCOALESCED:
        text_addf(text, "%.1f lines of %.0f bytes for each access, whose %.0f lanes of %.0f bytes would fill %.1f",
                  lines_each(sums), LINE_BYTES, sums->access_lanes / accesses, width, least_lines(sums, LINE_BYTES));
        break;
    case COST_NARROW:
        text_addf(text, "accesses are %.0f byte%s wide, and could be 16: %.0f accesses for each wave", width,
                  width < 1.5 ? "" : "s", accesses / waves);
        break;
    case COST_SPILLS:
        text_addf(text,
                  "%u VGPRs and %u SGPRs spilled, %u bytes of scratch a lane: %.0f accesses of a wave, %.0f others",
                  code->vgpr_spills, code->sgpr_spills, code->private_segment_bytes, sums->scratch / waves,
                  sums->accesses / waves);
        break;
    case COST_OCCUPANCY:
        text_addf(text, "%.3g of %u waves per SIMD, limited by ", occupancy->waves_per_simd, occupancy->waves_max);
        occupancy_limiters(text, occupancy);
        text_addf(text, " (%u VGPRs a lane, %.1f KiB of LDS a workgroup)", occupancy->vgprs_allocated,
                  (double)occupancy->lds_allocated / 1024);
        break;
    case COST_CHAIN:
        text_addf(text, "waves wait for results of arithmetic in %.0f %% of their clocks",
                  sums->wait_result_clocks * percent);
        break;
    case COST_WAITS:
        text_addf(text, "waves wait for memory in %.0f %% of their clocks, for LDS and scalar loads in %.0f %%",
                  sums->wait_memory_clocks * percent, sums->wait_lds_clocks * percent);
        break;
    case COST_CHASE:
        text_addf(text, "%.0f of %.0f accesses of a wave have their address from the load before, which takes %.0f %%",
                  sums->chased / waves, sums->accesses / waves, sums->wait_memory_clocks * percent);
        break;
    case COST_REUSE:
        text_addf(text, "a workgroup asks L1 for each line of its data %.0f times",
                  repeats(walk, launch->buffer_count + 1));
        break;
    case COST_IDLE_LANES:
        text_addf(text, "%.1f of %u lanes take part in vector instructions", lane_share(sums, code->wave) * code->wave,
                  code->wave);
        break;
    case COST_ATOMICS:
        text_addf(text, "%.0f atomics of each workgroup, %.0f on %.0f address%s that others hit too", sums->atomics,
                  sums->atomic_shared, sums->atomic_places, sums->atomic_places > 1.5 ? "es" : "");
        break;
    case COST_TAIL:
        say_tail(text, model);
        break;
    case COST_DISPATCH:
        text_addf(text, "%.0f workgroups of %u work-items, %.3g G started in a second", model->workgroups,
                  launch->block[0] * launch->block[1] * launch->block[2], machine->dispatch_hz / 1e9);
        break;
    case COST_TRAFFIC:
        text_addf(text, "%.4g MB from and to memory, the work needs %.4g MB", model->memory_bytes / 1e6,
                  model->least_bytes / 1e6);
        break;
    default: /* does not apply to a launch */
        break;
    }
}
