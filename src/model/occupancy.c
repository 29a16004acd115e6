/* SPDX-License-Identifier: MIT */
#include "rooftile/occupancy.h"

#define KIB 1024u
#define SGPR_GRANULE 16u
#define ACC_GRANULE 4u /* alignment of the first AGPR in a unified file */

static uint64_t round_up(uint64_t value, uint64_t granule)
{
    return (value + granule - 1) / granule * granule;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* In waves of 64, a register takes twice the space of a register in waves of 32. */
static uint32_t per_wave(uint32_t registers, const struct occupancy *o)
{
    return o->wave > o->limits->wave ? registers / 2 : registers;
}

static uint32_t total_vgprs(const struct occupancy_limits *limits, const struct occupancy_use *use)
{
    if (limits->agprs == AGPRS_SEPARATE)
        return use->vgprs > use->agprs ? use->vgprs : use->agprs;
    if (limits->agprs == AGPRS_UNIFIED && use->agprs)
        return (uint32_t)round_up(use->vgprs, ACC_GRANULE) + use->agprs;
    return use->vgprs;
}

static uint32_t waves_of(uint32_t file, uint32_t allocated, uint32_t waves_max)
{
    const uint32_t waves = allocated ? file / allocated : waves_max;
    return waves < 1 ? 1 : smaller(waves, waves_max);
}

/* On AMD, a workgroup of one wave needs no barrier. */
static uint32_t workgroups_by_barriers(const struct occupancy *o, const struct occupancy_use *use)
{
    const uint32_t barriers = o->limits->barriers_cu * (o->wgp_mode ? 2 : 1);
    if (o->limits->groups_cu && !barriers)
        return o->limits->groups_cu;
    if (o->limits->groups_cu)
        return smaller(o->limits->groups_cu, barriers / (use->barriers ? use->barriers : 1));
    return o->waves_per_workgroup > 1 ? barriers : OCCUPANCY_UNLIMITED;
}

static void count_workgroups(struct occupancy *o, const struct occupancy_use *use)
{
    o->workgroups_by[LIMITER_VGPRS] = o->waves_by_vgprs * o->simds / o->waves_per_workgroup;
    o->workgroups_by[LIMITER_SGPRS] = o->waves_by_sgprs * o->simds / o->waves_per_workgroup;
    const uint64_t pool = (uint64_t)o->limits->lds_cu * (o->wgp_mode ? 2 : 1);
    o->workgroups_by[LIMITER_LDS] = !o->lds_allocated                     ? OCCUPANCY_UNLIMITED
                                    : use->lds_bytes > o->limits->lds_max ? 0
                                                                          : (uint32_t)(pool / o->lds_allocated);
    o->workgroups_by[LIMITER_WAVES] = o->waves_max * o->simds / o->waves_per_workgroup;
    o->workgroups_by[LIMITER_BARRIERS] = workgroups_by_barriers(o, use);
    o->workgroups = OCCUPANCY_UNLIMITED;
    for (int k = 0; k < LIMITER_COUNT; k++)
        o->workgroups = smaller(o->workgroups, o->workgroups_by[k]);
    for (int k = 0; k < LIMITER_COUNT; k++)
        o->limited_by[k] = o->workgroups_by[k] == o->workgroups;
    o->limited_by[LIMITER_VGPRS] &= o->waves_by_vgprs < o->waves_max;
    o->limited_by[LIMITER_SGPRS] &= o->waves_by_sgprs < o->waves_max;
    o->waves = o->workgroups * o->waves_per_workgroup;
    o->waves_per_simd = (double)o->waves / o->simds;
}

/* Computes everything but the changes that would raise it. */
static void compute(struct occupancy *o, const struct occupancy_limits *limits, const struct occupancy_use *use)
{
    *o = (struct occupancy){.limits = limits, .wave = use->wave ? use->wave : limits->wave};
    o->wgp_mode = use->wgp_mode && limits->has_wgp;
    o->simds = limits->simds_cu * (o->wgp_mode ? 2 : 1);
    o->waves_max = use->llvm_waves ? limits->waves_llvm : limits->waves;
    o->vgprs = total_vgprs(limits, use);
    o->vgprs_allocated = (uint32_t)round_up(o->vgprs, per_wave(limits->vgpr_granule, o));
    o->lds_allocated = round_up(use->lds_bytes + limits->lds_reserved, limits->lds_granule);
    o->waves_by_vgprs = waves_of(per_wave(limits->vgpr_file, o), o->vgprs_allocated, o->waves_max);
    o->waves_by_sgprs = o->waves_max;
    if (limits->sgpr_file)
        o->waves_by_sgprs = waves_of(limits->sgpr_file, (uint32_t)round_up(use->sgprs, SGPR_GRANULE), o->waves_max);
    o->waves_per_workgroup = (use->block + o->wave - 1) / o->wave;
    count_workgroups(o, use);
}

/* Returns the largest share of a pool per user, in whole granules. */
static uint64_t share(uint64_t pool, uint64_t users, uint64_t granule)
{
    return pool / users / granule * granule;
}

/* Reduces resources until one more workgroup fits; returns false if no change of resources achieves that. */
static bool fit_one_more(struct occupancy_use *use, const struct occupancy *o)
{
    const struct occupancy_limits *limits = o->limits;
    const uint32_t wanted = o->workgroups + 1;
    const uint32_t waves = (wanted * o->waves_per_workgroup + o->simds - 1) / o->simds;
    if (o->limited_by[LIMITER_WAVES] || o->limited_by[LIMITER_BARRIERS] || waves > o->waves_max)
        return false;
    if (o->limited_by[LIMITER_VGPRS]) {
        use->vgprs = (uint32_t)share(per_wave(limits->vgpr_file, o), waves, per_wave(limits->vgpr_granule, o));
        use->agprs = 0;
    }
    if (o->limited_by[LIMITER_SGPRS])
        use->sgprs = (uint32_t)share(limits->sgpr_file, waves, SGPR_GRANULE);
    if (o->limited_by[LIMITER_LDS]) {
        const uint64_t most = share((uint64_t)limits->lds_cu * (o->wgp_mode ? 2 : 1), wanted, limits->lds_granule);
        const uint64_t own = most > limits->lds_reserved ? most - limits->lds_reserved : 0;
        use->lds_bytes = own < limits->lds_max ? own : limits->lds_max;
    }
    return true;
}

/* If there are too many workgroups, tries larger ones, else smaller ones. */
static void find_better_block(struct occupancy *o, const struct occupancy_use *use)
{
    const bool larger = o->limited_by[LIMITER_BARRIERS];
    struct occupancy_use other = *use;
    struct occupancy then;
    if (use->lds_bytes)
        return;
    other.block = larger ? o->wave : OCCUPANCY_BLOCK_MAX;
    for (; other.block >= o->wave && other.block <= OCCUPANCY_BLOCK_MAX;
         other.block = larger ? other.block * 2 : other.block / 2) {
        compute(&then, o->limits, &other);
        if ((larger ? other.block <= use->block : other.block >= use->block) ||
            then.waves_per_simd <= o->waves_per_simd)
            continue;
        o->better_block = other.block;
        o->better_block_waves_per_simd = then.waves_per_simd;
        return;
    }
}

static enum status refuse(const struct occupancy_limits *limits, const struct occupancy_use *use, struct err *err)
{
    if (!limits)
        return err_set(err, ERR_UNSUPPORTED, "the occupancy rules of %s are not known", use->target);
    if (use->wave && use->wave != limits->wave && !(use->wave == 64 && limits->has_wave64))
        return err_set(err, ERR_UNSUPPORTED, "%s has no %ss of %u lanes", use->target, limits->words->wave, use->wave);
    if (!use->block || use->block > OCCUPANCY_BLOCK_MAX)
        return err_set(err, ERR_CONFIG, "a %s of %u threads: it has 1 to %u", limits->words->group, use->block,
                       OCCUPANCY_BLOCK_MAX);
    if (limits->words->per_unit && use->vgprs > limits->vgprs_max)
        return err_set(err, ERR_CONFIG, "%u registers: a thread of %s has at most %u", use->vgprs, use->target,
                       limits->vgprs_max);
    /* A wave with the most registers that it can address gets whole granules, and LLVM 22 requests these where LDS
     * allows few waves. */
    const uint64_t most = round_up(limits->vgprs_max, limits->vgpr_granule);
    if (use->vgprs > most || use->agprs > most || total_vgprs(limits, use) > most)
        return err_set(err, ERR_CONFIG, "%u VGPRs and %u AGPRs: a wave of %s has at most %u", use->vgprs, use->agprs,
                       use->target, limits->vgprs_max);
    return STATUS_OK;
}

enum status occupancy_compute(struct occupancy *occupancy, const struct occupancy_use *use, struct err *err)
{
    const struct occupancy_limits *limits = occupancy_limits(use->target);
    if (refuse(limits, use, err))
        return err->status;
    compute(occupancy, limits, use);
    struct occupancy_use lighter = *use;
    struct occupancy then;
    if (fit_one_more(&lighter, occupancy)) {
        compute(&then, limits, &lighter);
        occupancy->raise.vgprs = occupancy->limited_by[LIMITER_VGPRS] ? occupancy->vgprs - then.vgprs : 0;
        occupancy->raise.sgprs = use->sgprs - lighter.sgprs;
        occupancy->raise.lds_bytes = use->lds_bytes - lighter.lds_bytes;
        occupancy->raise.workgroups = then.workgroups;
        occupancy->raise.waves_per_simd = then.waves_per_simd;
    }
    find_better_block(occupancy, use);
    return STATUS_OK;
}

/* ---- text, in each vendor's terms ---- */

double occupancy_waves(const struct occupancy *occupancy, double waves_per_simd)
{
    return occupancy->limits->words->per_unit ? waves_per_simd * occupancy->simds : waves_per_simd;
}

const char *occupancy_waves_unit(const struct occupancy *occupancy, bool one_per_simd)
{
    if (occupancy->limits->words->per_unit)
        return "warps per SM";
    return one_per_simd ? "wave per SIMD" : "waves per SIMD";
}

void occupancy_limiter(struct text *text, const struct occupancy *o, enum occupancy_limiter limiter)
{
    const struct occupancy_words *words = o->limits->words;
    if (limiter == LIMITER_VGPRS)
        text_addf(text, "%ss", words->registers);
    else if (limiter == LIMITER_SGPRS)
        text_add(text, "SGPRs");
    else if (limiter == LIMITER_LDS)
        text_add(text, words->lds);
    else if (limiter == LIMITER_WAVES)
        text_addf(text, "%s slots", words->wave);
    else if (o->workgroups_by[LIMITER_BARRIERS] == o->limits->groups_cu)
        text_addf(text, "%s slots", words->group);
    else
        text_add(text, "barriers");
}

void occupancy_limiters(struct text *text, const struct occupancy *occupancy)
{
    const char *between = "";
    for (int k = 0; k < LIMITER_COUNT; k++) {
        if (!occupancy->limited_by[k])
            continue;
        text_add(text, between);
        occupancy_limiter(text, occupancy, (enum occupancy_limiter)k);
        between = " and ";
    }
}

/* Adds "4 VGPRs" or "1 byte of LDS". */
static void add_part(struct text *text, const char **between, uint64_t amount, const char *what, const char *behind)
{
    if (!amount)
        return;
    text_addf(text, "%s%llu %s%s%s", *between, (unsigned long long)amount, what, text_s(amount), behind);
    *between = " and ";
}

static void add_waves(struct text *text, const struct occupancy *o, double then)
{
    text_addf(text, "%.3g %s instead of %.3g", occupancy_waves(o, then), occupancy_waves_unit(o, false),
              occupancy_waves(o, o->waves_per_simd));
}

void occupancy_advice(struct text *text, const struct occupancy *o)
{
    const struct occupancy_words *words = o->limits->words;
    const char *between = "";
    if (o->raise.workgroups > o->workgroups) {
        const bool lds_only = !o->raise.vgprs && !o->raise.sgprs;
        SCOPED(text_release) struct text of_lds = {0};
        text_addf(&of_lds, " of %s", words->lds);
        add_part(text, &between, o->raise.vgprs, words->registers, "");
        add_part(text, &between, o->raise.sgprs, "SGPR", "");
        add_part(text, &between, o->raise.lds_bytes, "byte", of_lds.data);
        text_add(text, o->raise.lds_bytes ? " less gives " : " fewer gives ");
        if (lds_only)
            text_addf(text, "%u %s%s per %s instead of %u", o->raise.workgroups, words->group,
                      text_s(o->raise.workgroups), o->wgp_mode ? "WGP" : words->unit, o->workgroups);
        else
            add_waves(text, o, o->raise.waves_per_simd);
        between = "; ";
    }
    if (!o->better_block)
        return;
    text_addf(text, "%s%ss of %u threads give ", between, words->group, o->better_block);
    add_waves(text, o, o->better_block_waves_per_simd);
}
