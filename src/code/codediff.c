/* SPDX-License-Identifier: MIT */
#include "rooftile/codediff.h"

#include <math.h>
#include <string.h>

#include "codediff_internal.h"

#define SAME_WITHIN 0.005
#define SAME_TIME 1.01   /* up to this ratio the model's times count as equal */
#define OTHER_TIME 1.02  /* from this ratio on the time decides between conflicting signs */
#define CERTAIN_TIME 1.1 /* ... and overrules signs that agree */

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
    [CODE_LOOP_TRIPS] = {"loop_round_trips", "round trips to memory", false, false},
    [CODE_LOOP_AHEAD] = {"loop_ahead_share", "share of a turn from load to wait", true, true},
    [CODE_TIME] = {"model_ns", "ns by the model", false, false},
};

const char *const code_verdicts[] = {[CODE_SAME] = "same",
                                     [CODE_CHANGED] = "changed",
                                     [CODE_HELPED] = "helped",
                                     [CODE_MIXED] = "mixed",
                                     [CODE_HURT] = "hurt"};

int code_metric_judge(enum code_metric metric, double before, double after)
{
    const double most = fmax(fabs(before), fabs(after));
    if (!(fabs(after - before) > SAME_WITHIN * most) || code_metrics[metric].is_neutral)
        return 0;
    return (after > before) == code_metrics[metric].more_is_better ? 1 : -1;
}

size_t codediff_count(const struct codediff *diff, enum code_verdict verdict)
{
    return COUNT_WHERE(pair, diff->pairs, diff->count, pair->verdict == verdict);
}

/* ---- the same work ---- */

static bool is_whole(double ratio)
{
    const double larger = ratio < 1 ? 1 / ratio : ratio;
    return isfinite(larger) && fabs(larger - round(larger)) < 0.02 * larger;
}

/* Compilers do not duplicate matrix instructions. FLOPs may differ if one side computes more precisely, but then hardly
 * by an integer factor, as unrolling causes. Integer operations include address computations. Loads or stores may be
 * redundant, but hardly both by the same factor. */
double codediff_scale(const struct isa_mix *before, const struct isa_mix *after)
{
    const struct isa_traffic *a = &before->traffic[ISA_GLOBAL], *b = &after->traffic[ISA_GLOBAL];
    const double matrix =
        (double)(before->matrix_flops + before->matrix_ops) / (double)(after->matrix_flops + after->matrix_ops);
    const double flops = (double)before->flops / (double)after->flops;
    const bool known = !a->unknown && !b->unknown;
    const double loads = known ? (double)a->load_bytes / (double)b->load_bytes : (double)NAN;
    const double stores =
        known ? (double)(a->store_bytes + a->atomic_bytes) / (double)(b->store_bytes + b->atomic_bytes) : (double)NAN;
    const double memory = isnan(stores) ? loads : isnan(loads) || fabs(log(loads / stores)) < 0.02 ? stores : NAN;
    const double lds = (double)before->traffic[ISA_LDS].load_bytes / (double)after->traffic[ISA_LDS].load_bytes;
    return matrix > 0 && isfinite(matrix)            ? matrix
           : flops > 0 && is_whole(flops)            ? flops
           : memory > 0 && is_whole(memory)          ? memory
           : known && isnan(memory) && is_whole(lds) ? lds
                                                     : NAN;
}

/* True if all call targets are known; work in unknown functions is not counted. */
static bool is_followed(const struct code_pair *pair, int side)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    const size_t hot = pair->hot[side];
    return !COUNT_WHERE(in, isa->instructions, isa->instruction_count,
                        in->is_call && !in->target && (hot == ISA_NO_LOOP || in->loop == hot));
}

static void find_scale(struct code_pair *pair, struct arena *arena)
{
    struct isa_hot hot[2] = {{.loop = ISA_NO_LOOP}, {.loop = ISA_NO_LOOP}};
    for (int side = 0; side < 2; side++) {
        const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
        pair->hot[side] = isa && isa_hot_find(&hot[side], isa, arena) ? hot[side].loop : ISA_NO_LOOP;
    }
    /* A compare-and-swap loop is not comparable to the loop that contains it. */
    const struct code_pair back = {.before = pair->after, .after = pair->before};
    const bool comparable =
        pair->before->isa && pair->after->isa && !codediff_swap_loops(pair) && !codediff_swap_loops(&back) &&
        (pair->hot[0] == ISA_NO_LOOP) == (pair->hot[1] == ISA_NO_LOOP) && is_followed(pair, 0) && is_followed(pair, 1);
    const bool turns = pair->walked && hot[0].turns > 0 && hot[1].turns > 0;
    pair->scale = !comparable                   ? NAN
                  : pair->hot[0] == ISA_NO_LOOP ? 1
                  : turns                       ? hot[1].turns / hot[0].turns
                                                : codediff_scale(codediff_mix(pair, 0), codediff_mix(pair, 1));
}

/* ---- loops ---- */

/* Distance between two loops of the same nesting: by matrix instructions first, then by all kinds. */
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

/* ---- the reversed pair ---- */

/* Reverses a pair whose figures are not yet scaled. */
static struct code_pair turned(const struct code_pair *pair, struct arena *arena)
{
    struct code_pair back = *pair;
    back.before = pair->after;
    back.after = pair->before;
    back.scale = 1 / pair->scale;
    for (int side = 0; side < 2; side++) {
        back.objects[side] = pair->objects[!side];
        back.time_ns[side] = pair->time_ns[!side];
        back.figures[side] = pair->figures[!side];
        back.hot[side] = pair->hot[!side];
    }
    back.loops = arena_array(arena, pair->loop_count + 1, sizeof(*back.loops));
    for (size_t k = 0; k < pair->loop_count; k++)
        back.loops[k] = (struct code_loops){pair->loops[k].after, pair->loops[k].before};
    return back;
}

static void scale_figures(struct code_pair *pair)
{
    for (int k = CODE_LOOP_ISSUE; k <= CODE_LOOP_TRIPS; k++)
        pair->figures[1].value[k] *= pair->scale;
}

/* ---- signs of a worse build ---- */

static const struct sign {
    enum code_metric metric;
    double times; /* threshold of the ratio worse / better; 0: any value if the other side has none */
    const char *what;
} signs[] = {
    {CODE_VGPR_SPILLS, 0, "spilled VGPRs"},
    {CODE_SGPR_SPILLS, 0, "spilled SGPRs"},
    {CODE_SCRATCH, 0, "bytes of scratch"},
    {CODE_WAVES, 1, "waves per SIMD"},
    {CODE_LOOP_SCRATCH, 1.05, "accesses of scratch in the loop"},
    {CODE_LOOP_ISSUE, 1.05, "issue clocks for the same work"},
    {CODE_LOOP_TRIPS, 1.5, "round trips to memory for the same work"},
    {CODE_TIME, 1.05, "time by the model"},
};
/* Signs that are no figures. */
static const struct fact {
    uint64_t (*count)(const struct code_pair *pair); /* in the second build, but not in the first */
    const char *worse, *better;
} facts[] = {
    {codediff_swap_loops, "an atomic by compare and swap; ", "no atomic by compare and swap; "},
    {codediff_new_fences, "a fence in the loop; ", "no fence in the loop; "},
    {codediff_new_conflicts, "bank conflicts of LDS; ", "no bank conflicts of LDS; "},
    {codediff_lost_prefetch, "loads that are waited for at once; ", "loads that are issued ahead; "},
};
/* Bits are indices into the first table, followed by the second. Waves and round trips may or may not hide the other
 * costs, so they are weak signs. */
#define OF_WEAK (1u << 3 | 1u << 6)
#define OF_ISSUE (1u << 5)
#define OF_TRIPS (1u << 6)
#define OF_TIME (1u << 7)
#define OF_FENCES (2u << COUNT_OF(signs))
#define OF_PREFETCH (8u << COUNT_OF(signs))

static unsigned signs_of(const struct code_figures *before, const struct code_figures *after)
{
    unsigned found = 0;
    for (size_t k = 0; k < COUNT_OF(signs); k++) {
        const double a = before->value[signs[k].metric], b = after->value[signs[k].metric];
        const bool more = code_metrics[signs[k].metric].more_is_better;
        const double less = more ? b : a, most = more ? a : b;
        if (signs[k].times > 0 ? less > 0 && most > less && most >= less * signs[k].times : a == 0 && b > 0)
            found |= 1u << k;
    }
    return found;
}

/* Describes the figures that are worse after than before: "156 spilled VGPRs; 8 to 4 waves per SIMD". */
static void say_signs(struct text *text, unsigned found, const struct code_figures *before,
                      const struct code_figures *after, const struct occupancy *occupancy)
{
    for (size_t k = 0; k < COUNT_OF(signs); k++) {
        const enum code_metric metric = signs[k].metric;
        double a = before->value[metric], b = after->value[metric];
        const char *what = signs[k].what;
        if (!(found & 1u << k) || (metric == CODE_TIME && text->length))
            continue;
        if (metric == CODE_WAVES && occupancy) {
            a = occupancy_waves(occupancy, a);
            b = occupancy_waves(occupancy, b);
            what = occupancy_waves_unit(occupancy, false);
        }
        text_add(text, text->length && !text_ends(text->data, "; ") ? "; " : "");
        if (metric == CODE_TIME)
            text_addf(text, "%+.3g %% %s", (b / a - 1) * 100, what);
        else if (a == 0 && signs[k].times <= 0)
            text_addf(text, "%.0f %s", b, what);
        else
            text_addf(text, fmax(a, b) < 100 ? "%.3g to %.3g %s" : "%.0f to %.0f %s", a, b, what);
    }
}

bool code_figures_hurt(struct text *why, const struct code_figures *before, const struct code_figures *after,
                       const struct occupancy *occupancy)
{
    const unsigned found = signs_of(before, after);
    say_signs(why, found, before, after, occupancy);
    return found;
}

/* ---- verdicts ---- */

static bool has_other_mode(const struct code_pair *pair)
{
    const struct codeobj_kernel *a = pair->before->code, *b = pair->after->code;
    return a->wave != b->wave || a->wgp_mode != b->wgp_mode;
}

static bool has_changed(const struct code_pair *pair)
{
    const double *a = pair->figures[0].value, *b = pair->figures[1].value;
    bool differs = has_other_mode(pair) || strcmp(pair->before->code->code_sha256, pair->after->code->code_sha256) != 0;
    bool counts = has_other_mode(pair) || codediff_policies_differ(pair);
    for (int k = 0; k < CODE_METRICS; k++) {
        differs |= isnan(a[k]) != isnan(b[k]) || (!isnan(a[k]) && a[k] != b[k]);
        counts |= k != CODE_BYTES && k != CODE_INSTRUCTIONS && k != CODE_LOOP_INSTRUCTIONS &&
                  code_metric_judge((enum code_metric)k, a[k], b[k]);
    }
    return differs && counts;
}

static unsigned signs_of_pair(const struct code_pair *pair)
{
    unsigned found = signs_of(&pair->figures[0], &pair->figures[1]);
    for (size_t k = 0; k < COUNT_OF(facts); k++)
        found |= facts[k].count(pair) ? 1u << (COUNT_OF(signs) + k) : 0;
    return found;
}

/* Returns the signs that count. Issue clocks and round trips do not if the model's time is unchanged, or if the hot
 * loops differ in nesting; but a loop that does the same with more round trips has lost loads in flight, which the
 * waves of the model's full device hide, as they hide loads that are no longer issued ahead. Its time alone is no
 * sign. */
static unsigned signs_counted(const struct code_pair *pair, unsigned all, double times)
{
    const bool loops = pair->hot[0] != ISA_NO_LOOP && pair->hot[1] != ISA_NO_LOOP;
    const bool apart = loops && !isnan(times) &&
                       pair->before->isa->loops[pair->hot[0]].depth != pair->after->isa->loops[pair->hot[1]].depth;
    const bool is_same_turn = loops && fabs(pair->scale - 1) < 0.1;
    unsigned counted = ~0u;
    if (apart)
        counted &= ~(OF_ISSUE | OF_TRIPS | OF_PREFETCH);
    if (fmax(times, 1 / times) < SAME_TIME)
        counted &= ~(OF_ISSUE | (is_same_turn ? 0 : OF_TRIPS));
    if (all & OF_PREFETCH & counted && !(fmax(times, 1 / times) > CERTAIN_TIME))
        counted &= ~OF_ISSUE;
    return all & counted & ~OF_TIME ? counted & ~OF_TIME : counted;
}

/* `worse`, `better`: bits of the signs against and for the change. `times`: the model's time after over that before;
 * NAN: unknown. */
static enum code_verdict verdict_of(unsigned worse, unsigned better, double times)
{
    const double apart = isnan(times) ? 1 : fmax(times, 1 / times);
    const enum code_verdict by_time = times > 1 ? CODE_HURT : CODE_HELPED;
    const bool conflict = worse && better, strong = worse & ~OF_WEAK, strong_better = better & ~OF_WEAK;
    enum code_verdict by_signs = CODE_MIXED;
    if (!worse && !better)
        return CODE_CHANGED;
    if (!conflict || strong != strong_better)
        by_signs = (conflict ? strong : worse != 0) ? CODE_HURT : CODE_HELPED;
    if (by_signs == CODE_MIXED || apart > CERTAIN_TIME)
        return apart > OTHER_TIME ? by_time : by_signs;
    return apart <= OTHER_TIME || by_signs == by_time ? by_signs : CODE_MIXED;
}

/* `found`: the signs that are worse afterwards, or better. */
static const char *say(const struct code_pair *pair, unsigned found, bool better, struct arena *arena)
{
    const struct inspect_kernel *kernel = pair->after;
    struct text text = {0};
    for (size_t k = 0; k < COUNT_OF(facts); k++)
        if (found & 1u << (COUNT_OF(signs) + k))
            text_add(&text, better ? facts[k].better : facts[k].worse);
    say_signs(&text, found, &pair->figures[0], &pair->figures[1],
              kernel->occupancy_problem ? NULL : &kernel->occupancy);
    if (text_ends(text.data ? text.data : "", "; "))
        text.data[text.length -= 2] = '\0';
    return text_take(&text, arena);
}

/* The pair is compared in one canonical order, whichever was requested; `ways` has both orders. */
void code_pair_compare(struct code_pair *pair, struct arena *arena)
{
    const int by_code = strcmp(pair->before->code->code_sha256, pair->after->code->code_sha256);
    const bool second = by_code ? by_code > 0 : pair->objects[0]->hash > pair->objects[1]->hash;
    struct code_pair ways[2] = {second ? turned(pair, arena) : *pair};
    struct code_pair *of = &ways[0];
    find_scale(of, arena);
    for (int side = 0; side < 2; side++)
        codediff_figures(&of->figures[side], of, side, arena);
    match_loops(of, arena);
    ways[1] = turned(of, arena);
    scale_figures(&ways[0]);
    scale_figures(&ways[1]);
    const unsigned signs_of_ways[2] = {signs_of_pair(&ways[0]), signs_of_pair(&ways[1])};
    const unsigned all = signs_of_ways[0] | signs_of_ways[1];
    /* The model has no time for fences, and it hides loads that are waited for at once. */
    const double by_model = of->time_ns[1] / of->time_ns[0];
    const bool hides = all & OF_PREFETCH && !(fmax(by_model, 1 / by_model) > CERTAIN_TIME);
    const double times = all & OF_FENCES || hides ? (double)NAN : by_model;
    const unsigned counted = signs_counted(of, all, by_model);
    const unsigned found[2] = {signs_of_ways[0] & counted, signs_of_ways[1] & counted};
    enum code_verdict verdict = verdict_of(found[0], found[1], times);
    if (verdict == CODE_CHANGED && !has_changed(of))
        verdict = CODE_SAME;
    ways[0].verdict = verdict;
    ways[1].verdict = verdict == CODE_HURT ? CODE_HELPED : verdict == CODE_HELPED ? CODE_HURT : verdict;
    *pair = ways[second];
    pair->worse = pair->better = pair->cause = pair->cause_code = "";
    if (verdict == CODE_SAME)
        return;
    pair->worse = say(pair, found[second], false, arena);
    pair->better = say(pair, found[!second], true, arena);
    codediff_cause(pair, ways, second, arena);
}
