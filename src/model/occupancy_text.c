/* SPDX-License-Identifier: MIT
 *
 * Occupancy in words, each vendor's own.
 */
#include "rooftile/occupancy.h"

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

/* "4 VGPRs", "1 byte of LDS". */
static void add_part(struct text *text, const char **between, uint64_t amount, const char *what, const char *behind)
{
    if (!amount)
        return;
    text_addf(text, "%s%llu %s%s%s", *between, (unsigned long long)amount, what, amount == 1 ? "" : "s", behind);
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
        struct text of_lds = {0};
        text_addf(&of_lds, " of %s", words->lds);
        add_part(text, &between, o->raise.vgprs, words->registers, "");
        add_part(text, &between, o->raise.sgprs, "SGPR", "");
        add_part(text, &between, o->raise.lds_bytes, "byte", of_lds.data);
        text_release(&of_lds);
        text_add(text, o->raise.lds_bytes ? " less gives " : " fewer gives ");
        if (lds_only)
            text_addf(text, "%u %s%s per %s instead of %u", o->raise.workgroups, words->group,
                      o->raise.workgroups == 1 ? "" : "s", o->wgp_mode ? "WGP" : words->unit, o->workgroups);
        else
            add_waves(text, o, o->raise.waves_per_simd);
        between = "; ";
    }
    if (!o->better_block)
        return;
    text_addf(text, "%s%ss of %u threads give ", between, words->group, o->better_block);
    add_waves(text, o, o->better_block_waves_per_simd);
}
