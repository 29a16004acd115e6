/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "rooftile/launch_fit.h"
#include "rooftile/targets.h"

/* Waves per SIMD are quotients of small whole numbers, which manifests may write in another order. */
#define ROUNDING 1e-6

enum status launch_occupancy(struct occupancy *occupancy, const struct bound_launch *launch, const char *target,
                             const struct codeobj_kernel *kernel, struct err *err)
{
    const struct occupancy_use use = {.target = target,
                                      .wave = kernel->wave,
                                      .wgp_mode = kernel->wgp_mode,
                                      .vgprs = kernel->has_descriptor ? kernel->arch_vgprs : kernel->vgpr_count,
                                      .agprs = kernel->acc_vgprs,
                                      .sgprs = kernel->sgpr_count,
                                      .lds_bytes = (uint64_t)kernel->group_segment_bytes + launch->lds_bytes,
                                      .block = launch->block[0] * launch->block[1] * launch->block[2],
                                      .barriers = kernel->barriers};
    if (kernel->is_ptx)
        return err_set(err, ERR_UNSUPPORTED, "'%s' is PTX: registers are the driver's choice", kernel->name);
    if (!kernel->has_descriptor && !target_is_nvidia(target))
        return err_set(err, ERR_UNSUPPORTED, "'%s' has no kernel descriptor", kernel->name);
    return occupancy_compute(occupancy, &use, err);
}

/* The resources that limit, each with how much of it is used: "VGPRs (168) and LDS (32768 bytes)". */
static void add_limits(struct text *out, const struct occupancy *occupancy, const struct codeobj_kernel *kernel)
{
    const struct {
        enum occupancy_limiter limiter;
        unsigned long long amount;
        const char *unit;
    } amounts[] = {{LIMITER_VGPRS, occupancy->vgprs_allocated, ""},
                   {LIMITER_SGPRS, kernel->sgpr_count, ""},
                   {LIMITER_LDS, occupancy->lds_allocated, " bytes"},
                   {LIMITER_WAVES, occupancy->waves_max, " per SIMD"},
                   {LIMITER_BARRIERS, occupancy->workgroups, " workgroups"}};
    const char *between = ", limited by ";
    for (size_t k = 0; k < sizeof(amounts) / sizeof(*amounts); k++) {
        if (!occupancy->limited_by[amounts[k].limiter])
            continue;
        text_add(out, between);
        occupancy_limiter(out, occupancy, amounts[k].limiter);
        text_addf(out, " (%llu%s)", amounts[k].amount, amounts[k].unit);
        between = " and ";
    }
}

bool launch_claim_differs(struct text *out, const struct bound *bound, const struct bound_launch *launch,
                          const char *target, const struct codeobj_kernel *kernel)
{
    const double claimed = bound->waves_claimed;
    const bool exactly = bound->manifest->occupancy.exactly;
    struct occupancy occupancy;
    struct err err = {0};
    struct text advice = {0};
    if (claimed <= 0 || launch_occupancy(&occupancy, launch, target, kernel, &err))
        return false;
    const double got = occupancy.waves_per_simd;
    if (fabs(got - claimed) <= ROUNDING * claimed || (!exactly && got > claimed))
        return false;
    text_addf(out, "the manifest claims %s%.4g %s, %s holds %.4g of this launch", exactly ? "" : "at least ",
              occupancy_waves(&occupancy, claimed), occupancy_waves_unit(&occupancy, claimed == 1), target,
              occupancy_waves(&occupancy, got));
    add_limits(out, &occupancy, kernel);
    if (got < claimed)
        occupancy_advice(&advice, &occupancy);
    if (advice.length)
        text_addf(out, ": %s", advice.data);
    text_release(&advice);
    return true;
}
