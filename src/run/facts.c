/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/cpu_target.h"
#include "rooftile/occupancy.h"
#include "rooftile/run.h"
#include "rooftile/text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* What a unit of arithmetic beyond f32 and f64 needs: a feature of the CPU target, or one of these architectures
 * (LLVM's AMDGPU.td: packed f16 since GFX9; v_dot4 in FeatureDot1Insts and FeatureDot8Insts; v_dot2_f32_bf16 in
 * FeatureDot12Insts; NVIDIA: PTX's fma.f16x2 and dp4a). */
struct unit_support {
    const char *cpu_feature;
    const char *archs[12];
};
static const struct unit_support f16 = {"avx512fp16", {"gfx9*", "gfx10*", "gfx11*", "gfx12*", "sm_*"}};
static const struct unit_support bf16_dot = {"avx512bf16", {"gfx950", "gfx11*", "gfx12*"}};
static const struct unit_support i8_dot = {
    "avx512vnni",
    {"gfx906", "gfx908", "gfx90a", "gfx94*", "gfx950", "gfx1011", "gfx1012", "gfx103*", "gfx11*", "gfx12*", "sm_*"}};

static double has_unit(const struct device_info *info, const struct unit_support *unit)
{
    if (!strcmp(info->backend, "cpu"))
        return cpu_target_has(info->target, unit->cpu_feature);
    for (size_t k = 0; k < COUNT_OF(unit->archs) && unit->archs[k]; k++)
        if (text_matches(info->arch, unit->archs[k]))
            return 1;
    return 0;
}

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

struct device_facts run_device_facts(const struct device_info *info)
{
    const struct occupancy_limits *limits = occupancy_limits(info->arch);
    return (struct device_facts){.wave = info->wave,
                                 .cus = info->cus,
                                 .xccs = info->xccs,
                                 .max_block = info->max_block,
                                 .lds_bytes = (double)info->lds_bytes,
                                 .memory_bytes = (double)info->memory_bytes,
                                 .l2_bytes = largest_cache(info, "L2"),
                                 .core_hz = info->core_hz,
                                 .f16 = has_unit(info, &f16),
                                 .bf16_dot = has_unit(info, &bf16_dot),
                                 .i8_dot = has_unit(info, &i8_dot),
                                 .cooperative = info->cooperative,
                                 .index = info->index,
                                 .peers = info->peers,
                                 .host_memory = info->host_memory,
                                 .lacks_spaces = info->lacks_spaces,
                                 .lacks_kernel_spaces = info->lacks_kernel_spaces,
                                 .unit = unit_facts(info, limits),
                                 .unit_pairs = limits && limits->has_wgp,
                                 .backend = info->backend,
                                 .arch = info->arch};
}
