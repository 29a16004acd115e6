/* SPDX-License-Identifier: MIT
 *
 * Counts and measures one build of a pair.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "codediff_internal.h"
#include "rooftile/targets.h"

/* Shares of an iteration: loads issued this long before their use count as issued ahead; as waited for at once. */
#define AHEAD 0.5
#define AT_ONCE 0.25
#define HIDING_SLOTS 16.0 /* issue slots that are worth something against the latency of memory */

const struct isa_mix *codediff_mix(const struct code_pair *pair, int side)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    return isa ? isa_turn_mix(isa, pair->hot[side]) : NULL;
}

uint64_t codediff_unknown_bytes(const struct code_pair *pair)
{
    const struct isa_mix *a = codediff_mix(pair, 0), *b = codediff_mix(pair, 1);
    const uint64_t before = a ? a->traffic[ISA_GLOBAL].unknown : 0, after = b ? b->traffic[ISA_GLOBAL].unknown : 0;
    return before > after ? before : after;
}

/* Counts instructions of the hot loop, or of the kernel, whose names contain one of the words. The halves of a VOPD
 * count separately. `kinds` is a bit set; ISA_SCALAR instructions count unless they copy a constant. */
static uint64_t count_named(const struct code_pair *pair, int side, const char *words, unsigned kinds)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    uint64_t count = 0;
    for (size_t i = 0; isa && i < isa->instruction_count; i++) {
        const struct isa_instruction *in = &isa->instructions[i];
        const char *from = kinds != UINT_MAX && in->kind == ISA_SCALAR ? strchr(in->operands, ',') : ", s";
        if ((pair->hot[side] == ISA_NO_LOOP || in->loop == pair->hot[side]) && kinds & 1u << in->kind && from &&
            text_starts(from, ", s"))
            count += isa_has_word(in->mnemonic, words) + 0u + (in->dual && isa_has_word(in->dual->mnemonic, words));
    }
    return count;
}

uint64_t codediff_named(const struct code_pair *pair, int side, const char *words)
{
    return count_named(pair, side, words, UINT_MAX);
}

uint64_t codediff_single(const struct code_pair *pair, int side)
{
    return count_named(pair, side, "add sub mul", 1u << ISA_VECTOR | 1u << ISA_PACKED | 1u << ISA_DUAL);
}

uint64_t codediff_copies(const struct code_pair *pair, int side, enum isa_kind kind)
{
    return count_named(pair, side, "mov accvgpr", 1u << kind | (kind == ISA_VECTOR ? 1u << ISA_DUAL : 0));
}

uint64_t codediff_new_fences(const struct code_pair *pair)
{
    return codediff_named(pair, 0, CODE_FENCES) ? 0 : codediff_named(pair, 1, CODE_FENCES);
}

uint64_t codediff_lost_prefetch(const struct code_pair *pair)
{
    const double a = pair->figures[0].value[CODE_LOOP_AHEAD], b = pair->figures[1].value[CODE_LOOP_AHEAD];
    const double slots = a * pair->figures[0].value[CODE_LOOP_ISSUE] / (text_starts(pair->target, "gfx9") ? 4 : 1);
    return pair->hot[0] != ISA_NO_LOOP && pair->hot[1] != ISA_NO_LOOP && a >= AHEAD && b < AT_ONCE &&
           slots >= HIDING_SLOTS;
}

unsigned codediff_promises(const struct code_pair *pair)
{
    const struct codeobj_kernel *a = pair->before->code, *b = pair->after->code;
    unsigned kept = 0;
    for (size_t k = 0; k < a->explicit_count && a->explicit_count == b->explicit_count; k++)
        kept += *a->args[k].actual_access && *b->args[k].actual_access;
    return kept;
}

/* Counts atomics in the whole kernel: compare-and-swap, or all others. */
static uint64_t atomics_of(const struct isa_kernel *isa, bool swaps)
{
    return !isa ? 0
                : COUNT_WHERE(in, isa->instructions, isa->instruction_count,
                              in->kind == ISA_ATOMIC && isa_has_word(in->mnemonic, "cmpswap cmpst cmpstore") == swaps);
}

uint64_t codediff_swap_loops(const struct code_pair *pair)
{
    const struct isa_kernel *a = pair->before->isa, *b = pair->after->isa;
    const uint64_t fewer = atomics_of(a, false), left = atomics_of(b, false);
    const uint64_t were = atomics_of(a, true), are = atomics_of(b, true);
    if (are <= were)
        return 0;
    return left < fewer ? fewer - left : were + fewer ? 0 : are;
}

static void add_loop(struct code_figures *figures, const struct code_pair *pair, int side, struct arena *arena)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    const struct isa_mix *mix = codediff_mix(pair, side);
    struct isa_schedule schedule;
    isa_schedule_find(&schedule, isa, pair->hot[side], pair->target, arena);
    figures->value[CODE_LOOP_ISSUE] = schedule.issue_clocks;
    figures->value[CODE_LOOP_INSTRUCTIONS] = (double)mix->instructions;
    figures->value[CODE_LOOP_MATRIX] = (double)mix->count[ISA_MATRIX];
    figures->value[CODE_LOOP_WAITS] = (double)schedule.wait_count;
    figures->value[CODE_LOOP_DRAINS] = (double)COUNT_WHERE(wait, schedule.waits, schedule.wait_count, wait->drains);
    figures->value[CODE_LOOP_SCRATCH] = (double)(mix->count[ISA_SCRATCH_LOAD] + mix->count[ISA_SCRATCH_STORE]);
    figures->value[CODE_LOOP_CHAIN] = schedule.chain_clocks;
    figures->value[CODE_LOOP_TRIPS] = schedule.round_trips;
    figures->value[CODE_LOOP_AHEAD] = schedule.ahead_share;
}

void codediff_figures(struct code_figures *figures, const struct code_pair *pair, int side, struct arena *arena)
{
    const struct inspect_kernel *kernel = side ? pair->after : pair->before;
    const struct codeobj_kernel *code = kernel->code;
    for (int k = 0; k < CODE_METRICS; k++)
        figures->value[k] = NAN;
    figures->value[CODE_TIME] = pair->time_ns[side];
    const struct inspect_registers registers = inspect_registers(side ? pair->objects[1] : pair->objects[0], code);
    figures->value[CODE_VGPRS] = registers.vgprs;
    figures->value[CODE_AGPRS] = registers.agprs;
    figures->value[CODE_SGPRS] = code->sgpr_count;
    figures->value[CODE_VGPR_SPILLS] = code->vgpr_spills;
    figures->value[CODE_SGPR_SPILLS] = code->sgpr_spills;
    figures->value[CODE_SCRATCH] = code->private_segment_bytes;
    figures->value[CODE_LDS] = code->group_segment_bytes;
    if (!kernel->occupancy_problem)
        figures->value[CODE_WAVES] = kernel->occupancy.waves_per_simd;
    if (!kernel->isa)
        return;
    figures->value[CODE_BYTES] = (double)kernel->isa->mix.code_bytes;
    figures->value[CODE_INSTRUCTIONS] = (double)kernel->isa->mix.instructions;
    if (target_is_amd(pair->target)) {
        SCOPED(arena_release) struct arena scratch = {0};
        struct isa_live live;
        isa_live_find(&live, kernel->isa, &scratch);
        figures->value[CODE_LIVE] = live.vgprs[live.peak] + live.agprs[live.peak];
    }
    add_loop(figures, pair, side, arena);
}
