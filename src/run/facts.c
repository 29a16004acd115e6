/* SPDX-License-Identifier: MIT */

#include "rooftile/cpu_target.h"
#include "rooftile/occupancy.h"
#include "rooftile/run.h"
#include "rooftile/targets.h"

/* ---- capacities and peaks ---- */

/* Used if neither the device nor any machine file describes a cache: half of the L1 of today's GPUs and CPUs. */
#define ASSUMED_L1_BYTES 16384.0
#define ASSUMED_L2_BYTES 4194304.0

struct capacity {
    const char *name;
    double bytes, own_bytes; /* in total, and of the instance that one unit uses */
};
struct capacities {
    struct capacity items[MACHINE_MAX_LEVELS];
    size_t count;
};

/* Whether the cache is the one nearest to a unit, which some call L0. */
static bool is_of_unit(const char *name)
{
    return !strcmp(name, "L0") || !strcmp(name, "L1");
}

/* Inserts in order of size. Returns false if the name is known already. */
static bool add_capacity(struct capacities *all, const char *name, double own_bytes, double instances)
{
    const struct capacity added = {name, own_bytes * fmax(1, instances), own_bytes};
    size_t at = all->count;
    for (size_t k = 0; k < all->count; k++)
        if (!strcmp(all->items[k].name, name) || (is_of_unit(all->items[k].name) && is_of_unit(name)))
            return false;
    if (!(own_bytes > 0) || all->count == COUNT_OF(all->items))
        return false;
    for (; at > 0 && all->items[at - 1].bytes > added.bytes; at--)
        all->items[at] = all->items[at - 1];
    all->items[at] = added;
    all->count++;
    return true;
}

/* Adds a machine file's caches, scaled to this device's numbers of units and dies. */
static void add_machine(struct capacities *all, const struct machine *machine, const struct device_info *info,
                        struct text *said)
{
    for (uint32_t k = 0; machine && k + 1 < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        const double own = machine_level_own_bytes(machine, level);
        const double units = is_of_unit(level->name) ? info->cus : round(level->capacity_bytes / fmax(1, own));
        if (add_capacity(all, level->name, own, units) && said)
            text_addf(said, "%s%s", said->length ? ", " : "", level->name);
    }
}

/* Default rate per core for matrix instructions that it emulates in loops, if none was measured. */
#define WORKED_OUT_FLOP_PER_S 0.5e9

static double memory_of(const struct machine *machine)
{
    return machine && machine->level_count ? ceiling_expected(&machine->levels[machine->level_count - 1].bandwidth) : 0;
}

static void set_peaks(struct device_facts *facts, const struct machine *machine, const struct machine *like)
{
    const double scale = like && like->cus ? facts->cus / like->cus : 1;
    const double rate = memory_of(machine) > 0 ? memory_of(machine) : memory_of(like);
    struct {
        const char *name;
        double *peak;
    } peaks[] = {
        {"vector_f64", &facts->vector_f64},   {"vector_f32", &facts->vector_f32}, {"vector_f16", &facts->vector_f16},
        {"matrix_f64", &facts->matrix_f64},   {"matrix_f32", &facts->matrix_f32}, {"matrix_f16", &facts->matrix_f16},
        {"matrix_bf16", &facts->matrix_bf16}, {"matrix_fp8", &facts->matrix_fp8}, {"matrix_i8", &facts->matrix_i8}};
    for (size_t k = 0; k < COUNT_OF(peaks); k++) {
        const struct machine_unit *own = machine ? machine_unit(machine, peaks[k].name) : NULL;
        const struct machine_unit *other = like ? machine_unit(like, peaks[k].name) : NULL;
        const double peak = own ? ceiling_expected(&own->peak) : other ? scale * ceiling_expected(&other->peak) : 0;
        *peaks[k].peak = peak > 0 ? peak : (double)NAN;
        if (!(facts->target.cpu > 0) || !text_starts(peaks[k].name, "matrix"))
            continue;
        /* Cores emulate matrix instructions in loops at this rate. */
        char name[2 * MACHINE_NAME];
        snprintf(name, sizeof(name), "%s_worked_out", peaks[k].name);
        const struct machine_figure *figure = machine_figure(machine, name);
        figure = figure ? figure : machine_figure(machine, "matrix_worked_out");
        *peaks[k].peak = figure ? figure->value : facts->cus * WORKED_OUT_FLOP_PER_S;
    }
    facts->memory_rate = rate > 0 ? rate : (double)NAN;
}

void run_facts_know(struct device_facts *facts, const struct device_info *info, const struct machine *machine,
                    const struct machine *like, struct arena *arena)
{
    struct capacities all = {0};
    struct text said = {0};
    double *const levels[] = {&facts->cache1, &facts->cache2, &facts->cache3, &facts->cache4};
    double *const own[] = {&facts->own_cache1, &facts->own_cache2, &facts->own_cache3, &facts->own_cache4};
    for (uint32_t k = 0; k < info->cache_count; k++)
        add_capacity(&all, info->caches[k].name, (double)info->caches[k].size_bytes, info->caches[k].instances);
    add_machine(&all, machine, info, NULL);
    add_machine(&all, like, info, &said);
    if (said.length)
        text_addf(&said, " as %s has, which has the same target", like->name);
    if (!all.count) {
        add_capacity(&all, "L1", ASSUMED_L1_BYTES, info->cus);
        add_capacity(&all, "L2", ASSUMED_L2_BYTES, 1);
        text_addf(&said, "L1 of %.0f KiB a unit and L2 of %.0f MiB, assumed: no machine file of its target tells them",
                  ASSUMED_L1_BYTES / 1024, ASSUMED_L2_BYTES / 1048576);
    }
    facts->caches = fmin((double)all.count, COUNT_OF(levels));
    for (size_t k = 0; k < COUNT_OF(levels); k++) {
        const bool there = k < all.count;
        *levels[k] = there ? all.items[k].bytes : 0;
        *own[k] = there ? all.items[k].own_bytes : 0;
        facts->last_cache = there ? *levels[k] : facts->last_cache;
        facts->own_last_cache = there ? *own[k] : facts->own_last_cache;
    }
    set_peaks(facts, machine, like);
    facts->assumed = said.length ? text_take(&said, arena) : NULL;
}

/* ---- what the driver tells ---- */

/* Returns facts about one compute unit. With waves of the less usual size, it has fewer registers for each of more
 * lanes. */
static struct device_unit unit_facts(const struct device_info *info, const struct occupancy_limits *limits)
{
    if (!limits)
        return (struct device_unit){.units = info->cus,
                                    .simds = 1,
                                    .simd_waves = 1,
                                    .unit_lds = (double)info->lds_bytes,
                                    .lds_granule = 1,
                                    .unit_lone_groups = 1,
                                    .unit_groups = 1};
    const double places = info->wave ? (double)limits->wave / info->wave : 1;
    const uint32_t agprs = limits->agprs == AGPRS_NONE ? 0 : OCCUPANCY_AGPRS_MAX;
    return (struct device_unit){.units = info->cus,
                                .simds = limits->simds_cu,
                                .simd_waves = limits->waves,
                                .simd_vgprs = limits->vgpr_file * places,
                                .vgpr_granule = limits->vgpr_granule * places,
                                .wave_vgprs = limits->vgprs_max - (limits->agprs == AGPRS_UNIFIED ? agprs : 0),
                                .wave_agprs = agprs,
                                .unit_lds = limits->lds_cu,
                                .lds_granule = limits->lds_granule,
                                .lds_reserved = limits->lds_reserved,
                                .unit_lone_groups =
                                    limits->groups_cu ? limits->groups_cu : limits->simds_cu * limits->waves,
                                .unit_groups = limits->groups_cu ? limits->groups_cu : limits->barriers_cu};
}

/* A processor's units follow from the features of its target: AVX512-FP16, AVX512-BF16 and AVX-512 VNNI. */
static struct target_facts facts_of_target(const struct device_info *info, const struct target_facts **layouts,
                                           size_t *layout_count)
{
    *layouts = NULL;
    *layout_count = 0;
    struct target_facts facts = *target_facts(info->arch);
    if (backend_is_cpu(info->backend)) {
        *layouts = target_cpu_facts(info->wave, layout_count);
        facts = **layouts;
        facts.f16 = cpu_target_has(info->target, "avx512fp16");
        facts.bf16_dot = cpu_target_has(info->target, "avx512bf16");
        facts.i8_dot = cpu_target_has(info->target, "avx512vnni");
        facts.rate_f32 = info->flops_per_clock_f32;
        facts.rate_f64 = info->flops_per_clock_f64;
        /* At most two loads and two stores of the widest registers, or three and two if these have 256 bits or
         * fewer. */
        const unsigned bytes = cpu_vector_bytes(info->target);
        facts.rate_bytes = (bytes > 32 ? 4 : 5) * bytes;
    }
    if (facts.lds_declared == 0)
        facts.lds_declared = (double)info->lds_bytes;
    return facts;
}

struct device_facts run_device_facts(const struct device_info *info)
{
    /* Predictions assume the GPU's own backend, with its variants and its vendor's libraries. */
    const bool amd = target_is_amd(info->arch), nvidia = target_is_nvidia(info->arch);
    const char *backend = info->predicted && amd ? "hip" : info->predicted && nvidia ? "cuda" : info->backend;
    const struct target_facts *layouts;
    size_t layout_count;
    const struct target_facts target = facts_of_target(info, &layouts, &layout_count);
    const struct occupancy_limits *limits = occupancy_limits(info->arch);
    const bool cpu = backend_is_cpu(info->backend);
    return (struct device_facts){.wave = info->wave,
                                 .cus = info->cus,
                                 .vector_bytes = cpu ? cpu_vector_bytes(info->target) : 16,
                                 .vector_registers = cpu ? cpu_vector_registers(info->target) : 0,
                                 .xccs = info->xccs,
                                 .max_block = info->max_block,
                                 .lds_bytes = (double)info->lds_bytes,
                                 .memory_bytes = (double)info->memory_bytes,
                                 .core_hz = info->core_hz,
                                 .cooperative = info->cooperative,
                                 .index = info->index,
                                 .peers = info->peers,
                                 .rank = info->rank,
                                 .ranks = info->ranks ? info->ranks : 1,
                                 .host_memory = info->host_memory,
                                 .lacks_spaces = info->lacks_spaces,
                                 .lacks_kernel_spaces = info->lacks_kernel_spaces,
                                 .unit = unit_facts(info, limits),
                                 .target = target,
                                 .layouts = layouts,
                                 .layout_count = layout_count,
                                 .unit_pairs = limits && limits->has_wgp,
                                 .backend = backend,
                                 .arch = info->arch};
}
