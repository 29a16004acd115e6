/* SPDX-License-Identifier: MIT */
#include "inspect.h"

#define OWN_FINDINGS 5u
#define NEAR_STEP_VGPRS 8u /* so few registers can often be saved by hand */

struct finder {
    struct inspect_kernel *kernel;
    const struct codeobj *object;
    struct arena *arena;
};

static void add(struct finder *finder, const char *code, enum isa_severity severity, const char *what,
                const char *advice)
{
    struct inspect_kernel *kernel = finder->kernel;
    kernel->findings[kernel->finding_count++] =
        (struct isa_finding){.code = code, .severity = severity, .loop = ISA_NO_LOOP, .what = what, .advice = advice};
}

static const char *advice_text(struct finder *finder)
{
    struct text text = {0};
    occupancy_advice(&text, &finder->kernel->occupancy);
    const char *kept = arena_strdup(finder->arena, text.data ? text.data : "");
    text_release(&text);
    return kept;
}

/* The disassembly says so itself, and where. */
static void find_spills(struct finder *finder)
{
    const struct codeobj_kernel *code = finder->kernel->code;
    if (finder->kernel->isa)
        return;
    if (code->spill_store_bytes || code->spill_load_bytes)
        add(finder, "scratch", ISA_HINT,
            arena_printf(finder->arena, "registers are spilled: a thread stores %llu bytes and loads %llu",
                         (unsigned long long)code->spill_store_bytes, (unsigned long long)code->spill_load_bytes),
            "keep fewer values at once, or allow more registers with __launch_bounds__");
    if (code->vgpr_spills || code->sgpr_spills)
        add(finder, "scratch", ISA_HINT,
            arena_printf(finder->arena, "%u VGPRs and %u SGPRs are spilled, with %u bytes of scratch memory per lane",
                         code->vgpr_spills, code->sgpr_spills, code->private_segment_bytes),
            "keep fewer values at once, or allow more registers with __launch_bounds__");
}

static void find_padding(struct finder *finder)
{
    const struct codeobj_kernel *code = finder->kernel->code;
    if (inspect_registers(finder->object, code).is_padded)
        add(finder, "padded-registers", ISA_NOTE,
            arena_printf(finder->arena, "the code uses %u VGPRs, but each wave is given %u", code->vgpr_count,
                         code->allocated_vgprs),
            "launch bounds or an attribute ask for so few waves; without them more would fit");
}

static void find_refused(struct finder *finder)
{
    const struct inspect_kernel *kernel = finder->kernel;
    struct text limiters = {0};
    occupancy_limiters(&limiters, &kernel->occupancy);
    if (!kernel->occupancy.workgroups)
        add(finder, "does-not-fit", ISA_PROBLEM,
            arena_printf(finder->arena, "a %s of %u threads does not fit: too much of %s",
                         kernel->occupancy.limits->words->group, kernel->block, limiters.data),
            advice_text(finder));
    text_release(&limiters);
}

/* LDS is what keeps waves out that the registers would let in. */
static void find_lds_limit(struct finder *finder)
{
    const struct occupancy *o = &finder->kernel->occupancy;
    const bool alone = o->limited_by[LIMITER_LDS] && !o->limited_by[LIMITER_VGPRS] && !o->limited_by[LIMITER_SGPRS] &&
                       !o->limited_by[LIMITER_WAVES] && !o->limited_by[LIMITER_BARRIERS];
    if (o->workgroups && alone)
        add(finder, "lds-limits", ISA_HINT,
            arena_printf(
                finder->arena, "%s limits occupancy to %.3g %s; registers would allow %.0f", o->limits->words->lds,
                occupancy_waves(o, o->waves_per_simd), occupancy_waves_unit(o, false),
                occupancy_waves(o, o->waves_by_vgprs < o->waves_by_sgprs ? o->waves_by_vgprs : o->waves_by_sgprs)),
            arena_printf(finder->arena, "smaller tiles, fewer stages in flight, or larger %ss that share a tile",
                         o->limits->words->group));
}

static void find_register_step(struct finder *finder)
{
    const struct occupancy *o = &finder->kernel->occupancy;
    const bool close = o->raise.vgprs && o->raise.vgprs <= NEAR_STEP_VGPRS && !o->raise.sgprs && !o->raise.lds_bytes;
    if (o->workgroups && close)
        add(finder, "vgprs-near-step", ISA_HINT,
            arena_printf(finder->arena, "%u %ss are just above a step of occupancy: %u would allow %.3g %s", o->vgprs,
                         o->limits->words->registers, o->vgprs - o->raise.vgprs,
                         occupancy_waves(o, o->raise.waves_per_simd), occupancy_waves_unit(o, false)),
            o->limits->words->per_unit
                ? "shorter lives of values; or tell the compiler with __launch_bounds__(threads, blocks per SM)"
                : "shorter lives of values; or tell the compiler with __launch_bounds__(threads, waves)");
}

void inspect_find(struct inspect_kernel *kernel, const struct codeobj *object, struct arena *arena)
{
    struct finder finder = {kernel, object, arena};
    const size_t known = kernel->isa ? kernel->isa->finding_count : 0;
    kernel->findings = arena_array(arena, known + OWN_FINDINGS, sizeof(*kernel->findings));
    if (!kernel->occupancy_problem)
        find_refused(&finder);
    for (size_t k = 0; k < known; k++)
        kernel->findings[kernel->finding_count++] = kernel->isa->findings[k];
    find_spills(&finder);
    if (!kernel->occupancy_problem) {
        find_lds_limit(&finder);
        find_register_step(&finder);
    }
    find_padding(&finder);
}
