/* SPDX-License-Identifier: MIT */
#include "rooftile/codediff.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codediff_internal.h"
#include "rooftile/targets.h"

#define MORE_ISSUE 1.05 /* issue clocks per unit of work that are a regression */
#define SAME_WITHIN 0.005

const struct code_metric_row code_metrics[CODE_METRICS] = {
    [CODE_VGPRS] = {"vgprs", "VGPRs", false, false},
    [CODE_AGPRS] = {"agprs", "AGPRs", false, false},
    [CODE_LIVE] = {"live_vgprs", "live VGPRs", false, true},
    [CODE_SGPRS] = {"sgprs", "SGPRs", false, false},
    [CODE_VGPR_SPILLS] = {"vgpr_spills", "VGPR spills", false, false},
    [CODE_SGPR_SPILLS] = {"sgpr_spills", "SGPR spills", false, false},
    [CODE_SCRATCH] = {"scratch_bytes", "scratch bytes", false, false},
    [CODE_LDS] = {"lds_bytes", "LDS bytes", false, false},
    [CODE_WAVES] = {"waves_per_simd", "waves per SIMD", true, false},
    [CODE_BYTES] = {"code_bytes", "code bytes", false, false},
    [CODE_INSTRUCTIONS] = {"instructions", "instructions", false, false},
    [CODE_LOOP_ISSUE] = {"loop_issue_clocks", "issue clocks", false, false},
    [CODE_LOOP_INSTRUCTIONS] = {"loop_instructions", "loop instructions", false, false},
    [CODE_LOOP_MATRIX] = {"loop_matrix_instructions", "loop matrix", false, true},
    [CODE_LOOP_WAITS] = {"loop_waits", "loop waits", false, false},
    [CODE_LOOP_DRAINS] = {"loop_memory_drains", "waits for all memory", false, false},
    [CODE_LOOP_CHAIN] = {"loop_chain_clocks", "dependent chain clocks", false, false},
    [CODE_LOOP_SCRATCH] = {"loop_scratch_accesses", "scratch in the loop", false, false},
};

static const char *const verdict_names[] = {
    [CODE_SAME] = "same", [CODE_CHANGED] = "changed", [CODE_HELPED] = "helped", [CODE_HURT] = "hurt"};

const char *code_verdict_name(enum code_verdict verdict)
{
    return verdict_names[verdict];
}

int code_metric_judge(enum code_metric metric, double before, double after)
{
    const double most = fmax(fabs(before), fabs(after));
    if (!(fabs(after - before) > SAME_WITHIN * most) || code_metrics[metric].is_neutral)
        return 0;
    return (after > before) == code_metrics[metric].more_is_better ? 1 : -1;
}

size_t codediff_count(const struct codediff *diff, enum code_verdict verdict)
{
    size_t count = 0;
    for (size_t k = 0; k < diff->count; k++)
        count += diff->pairs[k].verdict == verdict;
    return count;
}

/* ---- figures ---- */

const struct isa_mix *codediff_mix(const struct code_pair *pair, int side)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    return isa ? isa_turn_mix(isa, pair->hot[side]) : NULL;
}

/* Halves of a VOPD count one by one. */
static uint64_t count_halves(const struct code_pair *pair, int side, const char *words,
                             bool (*counts)(const struct isa_instruction *in, const char *name, const char *words))
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    uint64_t count = 0;
    for (size_t i = 0; isa && i < isa->instruction_count; i++) {
        const struct isa_instruction *in = &isa->instructions[i];
        if (pair->hot[side] == ISA_NO_LOOP || in->loop == pair->hot[side])
            count += counts(in, in->mnemonic, words) + 0u + (in->dual && counts(in, in->dual->mnemonic, words));
    }
    return count;
}

static bool is_named(const struct isa_instruction *in, const char *name, const char *words)
{
    (void)in;
    return isa_has_word(name, words);
}

static bool is_single(const struct isa_instruction *in, const char *name, const char *words)
{
    if (in->kind == ISA_DUAL)
        return isa_has_word(name, words);
    return *name && ((in->kind == ISA_VECTOR && in->flops == 1) || (in->kind == ISA_PACKED && in->flops == 2));
}

static bool is_copy(const struct isa_instruction *in, const char *name, const char *words)
{
    return (in->kind == ISA_VECTOR || in->kind == ISA_DUAL) && isa_has_word(name, words);
}

static bool is_packed_copy(const struct isa_instruction *in, const char *name, const char *words)
{
    return in->kind == ISA_PACKED && isa_has_word(name, words);
}

/* Not of a constant. */
static bool is_scalar_copy(const struct isa_instruction *in, const char *name, const char *words)
{
    const char *from = strchr(in->operands, ',');
    return in->kind == ISA_SCALAR && from && text_starts(from, ", s") && isa_has_word(name, words);
}

uint64_t codediff_named(const struct code_pair *pair, int side, const char *words)
{
    return count_halves(pair, side, words, is_named);
}

uint64_t codediff_single(const struct code_pair *pair, int side)
{
    return count_halves(pair, side, "add sub mul", is_single);
}

uint64_t codediff_copies(const struct code_pair *pair, int side, enum isa_kind kind)
{
    return count_halves(pair, side, "mov accvgpr",
                        kind == ISA_SCALAR   ? is_scalar_copy
                        : kind == ISA_PACKED ? is_packed_copy
                                             : is_copy);
}

uint64_t codediff_ordered_loads(const struct code_pair *pair, int side)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    uint64_t count = 0;
    for (size_t i = 0; isa && i < isa->instruction_count; i++) {
        const struct isa_instruction *in = &isa->instructions[i];
        const char *how = in->kind == ISA_LOAD ? strchr(in->operands, ' ') : NULL;
        count += how &&
                 (strstr(how, " sc0") || strstr(how, " sc1") || strstr(how, " glc") || strstr(how, " dlc") ||
                  strstr(how, "SCOPE_")) &&
                 !strstr(how, " slc") && !strstr(how, " nt");
    }
    return count;
}

unsigned codediff_promises(const struct code_pair *pair)
{
    const struct codeobj_kernel *a = pair->before->code, *b = pair->after->code;
    unsigned kept = 0;
    for (size_t k = 0; k < a->explicit_count && a->explicit_count == b->explicit_count; k++)
        kept += *a->args[k].actual_access && *b->args[k].actual_access;
    return kept;
}

/* Of the whole kernel, with compare and swap, or without. */
static uint64_t atomics_of(const struct isa_kernel *isa, bool swaps)
{
    uint64_t count = 0;
    for (size_t i = 0; isa && i < isa->instruction_count; i++)
        count += isa->instructions[i].kind == ISA_ATOMIC &&
                 isa_has_word(isa->instructions[i].mnemonic, "cmpswap cmpst cmpstore") == swaps;
    return count;
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
    const double scale = side ? pair->scale : 1;
    struct isa_schedule schedule;
    double drained = 0;
    isa_schedule_find(&schedule, isa, pair->hot[side], pair->target, arena);
    for (size_t k = 0; k < schedule.wait_count; k++)
        drained += schedule.waits[k].drains;
    figures->value[CODE_LOOP_ISSUE] = schedule.issue_clocks * scale;
    figures->value[CODE_LOOP_INSTRUCTIONS] = (double)mix->instructions * scale;
    figures->value[CODE_LOOP_MATRIX] = (double)mix->count[ISA_MATRIX] * scale;
    figures->value[CODE_LOOP_WAITS] = (double)schedule.wait_count * scale;
    figures->value[CODE_LOOP_DRAINS] = drained * scale;
    figures->value[CODE_LOOP_SCRATCH] = (double)(mix->count[ISA_SCRATCH_LOAD] + mix->count[ISA_SCRATCH_STORE]) * scale;
    figures->value[CODE_LOOP_CHAIN] = schedule.chain_clocks * scale;
}

static double live_of(const struct isa_kernel *isa)
{
    struct arena scratch = {0};
    struct isa_live live;
    isa_live_find(&live, isa, &scratch);
    const double most = live.vgprs[live.peak] + live.agprs[live.peak];
    arena_release(&scratch);
    return most;
}

static void add_figures(struct code_figures *figures, const struct code_pair *pair, int side, struct arena *arena)
{
    const struct inspect_kernel *kernel = side ? pair->after : pair->before;
    const struct codeobj_kernel *code = kernel->code;
    for (int k = 0; k < CODE_METRICS; k++)
        figures->value[k] = NAN;
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
    if (target_is_amd(pair->target))
        figures->value[CODE_LIVE] = live_of(kernel->isa);
    add_loop(figures, pair, side, arena);
}

/* ---- the same work ---- */

/* What tells how much work a pass does, from what no compiler repeats to what it may. */
enum { WORK_MATRIX, WORK_STORES, WORK_FLOPS, WORK_OPS, WORK_LOADS, WORK_LDS, WORK_KINDS };

static double work_of(const struct isa_mix *mix, int kind)
{
    const struct isa_traffic *global = &mix->traffic[ISA_GLOBAL], *lds = &mix->traffic[ISA_LDS];
    switch (kind) {
    case WORK_MATRIX:
        return (double)(mix->matrix_flops + mix->matrix_ops);
    case WORK_STORES:
        return (double)(global->store_bytes + global->atomic_bytes + lds->store_bytes);
    case WORK_FLOPS:
        return (double)mix->flops;
    case WORK_OPS:
        return mix->flops ? 0 : (double)mix->ops;
    case WORK_LOADS:
        return (double)global->load_bytes;
    default:
        return (double)lds->load_bytes;
    }
}

static bool is_whole(double ratio)
{
    const double larger = ratio < 1 ? 1 / ratio : ratio;
    return fabs(larger - round(larger)) < 0.02 * larger;
}

/* Work of a pass before over that after. Matrix instructions tell it where there are any, else stores. Of all else
 * either side may do some in vain (loads that are repeated, a division of ten instructions), but hardly all by the same
 * factor: the kind of work whose ratio is nearest to 1 tells, first among ratios of whole numbers, as loops are
 * unrolled by these. */
double codediff_scale(const struct isa_mix *before, const struct isa_mix *after)
{
    double scale = NAN, apart = INFINITY;
    for (int kind = 0; kind < WORK_KINDS; kind++) {
        const double ratio = work_of(before, kind) / work_of(after, kind);
        if (!(ratio > 0 && isfinite(ratio)))
            continue;
        if (kind == WORK_MATRIX || (kind == WORK_STORES && is_whole(ratio)))
            return ratio;
        const double distance = fabs(log(ratio)) + (is_whole(ratio) ? 0 : 100);
        scale = distance < apart ? ratio : scale;
        apart = fmin(apart, distance);
    }
    return scale;
}

/* Calls whose target is not known: what they do counts nowhere. */
static bool is_followed(const struct code_pair *pair, int side)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    bool followed = true;
    for (size_t i = 0; i < isa->instruction_count && followed; i++)
        followed = !isa->instructions[i].is_call || isa->instructions[i].target ||
                   (pair->hot[side] != ISA_NO_LOOP && isa->instructions[i].loop != pair->hot[side]);
    return followed;
}

/* A loop of compare and swap is not the work of a loop around it. */
static bool is_comparable(const struct code_pair *pair)
{
    const struct code_pair back = {.before = pair->after, .after = pair->before};
    return pair->before->isa && pair->after->isa && !codediff_swap_loops(pair) && !codediff_swap_loops(&back) &&
           (pair->hot[0] == ISA_NO_LOOP) == (pair->hot[1] == ISA_NO_LOOP) && is_followed(pair, 0) &&
           is_followed(pair, 1);
}

static size_t hot_of(const struct inspect_kernel *kernel, struct arena *arena)
{
    struct isa_hot hot;
    return kernel->isa && isa_hot_find(&hot, kernel->isa, arena) ? hot.loop : ISA_NO_LOOP;
}

/* ---- loops ---- */

/* How different two loops are, of the same nesting: by matrix instructions first, then by all kinds. */
static double distance(const struct isa_loop *a, const struct isa_loop *b)
{
    double sum = 0;
    if (a->depth != b->depth || a->is_innermost != b->is_innermost)
        return INFINITY;
    for (int kind = 0; kind < ISA_KINDS; kind++) {
        const double x = a->own.instructions ? (double)a->own.count[kind] / (double)a->own.instructions : 0;
        const double y = b->own.instructions ? (double)b->own.count[kind] / (double)b->own.instructions : 0;
        sum += fabs(x - y) * (kind == ISA_MATRIX ? 10 : 1);
    }
    return sum;
}

static void match_loops(struct code_pair *pair, struct arena *arena)
{
    const struct isa_kernel *a = pair->before->isa, *b = pair->after->isa;
    const size_t count = a && b ? a->loop_count : 0;
    bool *taken = arena_array(arena, b ? b->loop_count + 1 : 1, sizeof(*taken));
    for (size_t k = 0; k < count; k++) {
        double least = INFINITY;
        size_t found = ISA_NO_LOOP;
        for (size_t j = 0; j < b->loop_count; j++) {
            const bool hot = (k == pair->hot[0]) == (j == pair->hot[1]);
            const double apart = taken[j] || !hot ? INFINITY : distance(&a->loops[k], &b->loops[j]);
            if (apart < least || (hot && k == pair->hot[0])) {
                least = apart;
                found = j;
            }
        }
        if (found != ISA_NO_LOOP)
            taken[found] = true;
        ARENA_PUSH(arena, pair->loops, pair->loop_count, (struct code_loops){k, found});
    }
    for (size_t j = 0; a && b && j < b->loop_count; j++)
        if (!taken[j])
            ARENA_PUSH(arena, pair->loops, pair->loop_count, (struct code_loops){ISA_NO_LOOP, j});
}

/* ---- verdicts ---- */

static void say(struct text *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct text *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (why->length)
        text_add(why, "; ");
    text_vaddf(why, format, args);
    va_end(args);
}

bool code_figures_hurt(struct text *why, const struct code_figures *before, const struct code_figures *after,
                       const struct occupancy *occupancy)
{
    static const struct {
        enum code_metric metric;
        const char *what;
    } grown[] = {
        {CODE_VGPR_SPILLS, "spilled VGPRs"}, {CODE_SGPR_SPILLS, "spilled SGPRs"}, {CODE_SCRATCH, "bytes of scratch"}};
    const double *a = before->value, *b = after->value;
    const size_t length = why->length;
    for (size_t k = 0; k < COUNT_OF(grown); k++)
        if (a[grown[k].metric] == 0 && b[grown[k].metric] > 0)
            say(why, "%.0f %s", b[grown[k].metric], grown[k].what);
    if (b[CODE_WAVES] < a[CODE_WAVES])
        say(why, "%.3g to %.3g %s", occupancy ? occupancy_waves(occupancy, a[CODE_WAVES]) : a[CODE_WAVES],
            occupancy ? occupancy_waves(occupancy, b[CODE_WAVES]) : b[CODE_WAVES],
            occupancy ? occupancy_waves_unit(occupancy, false) : "waves per SIMD");
    if (b[CODE_LOOP_ISSUE] >= a[CODE_LOOP_ISSUE] * MORE_ISSUE && b[CODE_LOOP_ISSUE] > a[CODE_LOOP_ISSUE])
        say(why, "%.0f to %.0f issue clocks for the same work", a[CODE_LOOP_ISSUE], b[CODE_LOOP_ISSUE]);
    return why->length > length;
}

static bool has_other_mode(const struct code_pair *pair)
{
    const struct codeobj_kernel *a = pair->before->code, *b = pair->after->code;
    return a->wave != b->wave || a->wgp_mode != b->wgp_mode;
}

static bool differs(const struct code_pair *pair)
{
    const double *a = pair->figures[0].value, *b = pair->figures[1].value;
    bool differs = has_other_mode(pair) || strcmp(pair->before->code->code_sha256, pair->after->code->code_sha256) != 0;
    for (int k = 0; k < CODE_METRICS && !differs; k++)
        differs = isnan(a[k]) != isnan(b[k]) || (!isnan(a[k]) && a[k] != b[k]);
    return differs;
}

static bool has_changed(const struct code_pair *pair)
{
    for (int k = 0; k < CODE_METRICS; k++)
        if (k != CODE_BYTES && k != CODE_INSTRUCTIONS && k != CODE_LOOP_INSTRUCTIONS &&
            code_metric_judge((enum code_metric)k, pair->figures[0].value[k], pair->figures[1].value[k]))
            return true;
    return has_other_mode(pair);
}

static void judge(struct code_pair *pair, struct arena *arena)
{
    const struct occupancy *occupancy = pair->after->occupancy_problem ? NULL : &pair->after->occupancy;
    struct text why = {0}, better = {0};
    pair->verdict = CODE_SAME;
    pair->why = pair->cause = "";
    if (!differs(pair))
        return;
    const uint64_t swaps = codediff_swap_loops(pair);
    if (swaps)
        say(&why, "%" PRIu64 " atomic%s by compare and swap", swaps, swaps == 1 ? "" : "s");
    const bool hurt = code_figures_hurt(&why, &pair->figures[0], &pair->figures[1], occupancy) || swaps;
    const bool helped = !hurt && code_figures_hurt(&better, &pair->figures[1], &pair->figures[0], occupancy);
    pair->verdict = hurt ? CODE_HURT : helped ? CODE_HELPED : has_changed(pair) ? CODE_CHANGED : CODE_SAME;
    if (hurt)
        pair->why = text_take(&why, arena);
    if (pair->verdict != CODE_SAME)
        pair->cause = codediff_cause(pair, arena);
    text_release(&why);
    text_release(&better);
}

void code_pair_compare(struct code_pair *pair, struct arena *arena)
{
    pair->hot[0] = hot_of(pair->before, arena);
    pair->hot[1] = hot_of(pair->after, arena);
    pair->scale = is_comparable(pair) ? codediff_scale(codediff_mix(pair, 0), codediff_mix(pair, 1)) : NAN;
    for (int side = 0; side < 2; side++)
        add_figures(&pair->figures[side], pair, side, arena);
    match_loops(pair, arena);
    judge(pair, arena);
}
