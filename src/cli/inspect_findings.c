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
    if (!finder->kernel->isa && (code->vgpr_spills || code->sgpr_spills))
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
            arena_printf(finder->arena, "a workgroup of %u threads does not fit: too much of %s", kernel->block,
                         limiters.data),
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
            arena_printf(finder->arena, "LDS limits occupancy to %.3g waves per SIMD; registers would allow %u",
                         o->waves_per_simd,
                         o->waves_by_vgprs < o->waves_by_sgprs ? o->waves_by_vgprs : o->waves_by_sgprs),
            "smaller tiles, fewer stages in flight, or larger workgroups that share a tile");
}

static void find_register_step(struct finder *finder)
{
    const struct occupancy *o = &finder->kernel->occupancy;
    const bool close = o->raise.vgprs && o->raise.vgprs <= NEAR_STEP_VGPRS && !o->raise.sgprs && !o->raise.lds_bytes;
    if (o->workgroups && close)
        add(finder, "vgprs-near-step", ISA_HINT,
            arena_printf(finder->arena,
                         "%u VGPRs are just above a step of occupancy: %u would allow %.3g waves per SIMD", o->vgprs,
                         o->vgprs - o->raise.vgprs, o->raise.waves_per_simd),
            "shorter lives of values; or tell the compiler with __launch_bounds__(threads, waves)");
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
