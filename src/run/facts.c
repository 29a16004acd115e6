/* SPDX-License-Identifier: MIT */

#include "rooftile/cpu_target.h"
#include "rooftile/occupancy.h"
#include "rooftile/run.h"
#include "rooftile/targets.h"

static double largest_cache(const struct device_info *info, const char *name)
{
    for (uint32_t k = 0; k < info->cache_count; k++)
        if (!strcmp(info->caches[k].name, name))
            return (double)info->caches[k].size_bytes * info->caches[k].instances;
    return 0;
}

/* Of a compute unit. A device that is used in waves of the less usual size has fewer registers for each of more lanes.
 */
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

/* Never more than two loads and two stores of the widest registers, or three and two where these have 256 bits at
 * most. How wide SVE is, its name does not say. */
static double cpu_bytes_per_clock(const struct device_info *info)
{
    if (strcmp(info->arch, "x86-64") != 0)
        return strcmp(info->arch, "aarch64") || cpu_target_has(info->target, "sve") ? 0 : 5 * 16;
    if (cpu_target_has(info->target, "avx512f"))
        return 4 * 64;
    return 5 * (cpu_target_has(info->target, "avx") ? 32 : 16);
}

/* A processor's units are known by the features of its target: AVX512-FP16, AVX512-BF16 and AVX-512 VNNI. */
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
        facts.rate_bytes = cpu_bytes_per_clock(info);
    }
    if (facts.lds_declared == 0)
        facts.lds_declared = (double)info->lds_bytes;
    return facts;
}

/* A prediction is of what the GPU's own backend would run: its variants, its vendor's libraries. */
static const char *backend_of(const struct device_info *info)
{
    const bool amd = target_is_amd(info->arch), nvidia = target_is_nvidia(info->arch);
    return info->predicted && amd ? "hip" : info->predicted && nvidia ? "cuda" : info->backend;
}

struct device_facts run_device_facts(const struct device_info *info)
{
    const struct target_facts *layouts;
    size_t layout_count;
    const struct target_facts target = facts_of_target(info, &layouts, &layout_count);
    const struct occupancy_limits *limits = occupancy_limits(info->arch);
    return (struct device_facts){.wave = info->wave,
                                 .cus = info->cus,
                                 .xccs = info->xccs,
                                 .max_block = info->max_block,
                                 .lds_bytes = (double)info->lds_bytes,
                                 .memory_bytes = (double)info->memory_bytes,
                                 .l2_bytes = largest_cache(info, "L2"),
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
                                 .backend = backend_of(info),
                                 .arch = info->arch};
}
