/* SPDX-License-Identifier: MIT
 *
 * What made a kernel change, from the most certain sign to the least: what the code was compiled for, then what it
 * calls, where its values live, what it loads again, how wide, how often its loop was unrolled, what it computes anew,
 * and at last in what order. The first rule that sees its sign names the cause; what else changed is beside it in the
 * figures.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codediff_internal.h"

/* ---- words ---- */

void codediff_change(const struct code_signs *s, enum code_metric metric)
{
    if (isnan(s->a[metric]) || isnan(s->b[metric]) || s->a[metric] == s->b[metric])
        return;
    const char *between = s->text->length && s->text->data[s->text->length - 1] != ' ' ? ", " : "";
    if (s->a[metric] == floor(s->a[metric]) && s->b[metric] == floor(s->b[metric]))
        text_addf(s->text, "%s%s %.0f to %.0f", between, code_metrics[metric].title, s->a[metric], s->b[metric]);
    else
        text_addf(s->text, "%s%s %.3g to %.3g", between, code_metrics[metric].title, s->a[metric], s->b[metric]);
}

void codediff_changes(const struct code_signs *s, const enum code_metric *metrics, size_t count)
{
    for (size_t k = 0; k < count; k++)
        codediff_change(s, metrics[k]);
}

void codediff_spill_changes(const struct code_signs *s)
{
    static const enum code_metric metrics[] = {CODE_VGPRS,       CODE_AGPRS,   CODE_LIVE,  CODE_VGPR_SPILLS,
                                               CODE_SGPR_SPILLS, CODE_SCRATCH, CODE_WAVES, CODE_LOOP_SCRATCH};
    codediff_changes(s, metrics, COUNT_OF(metrics));
}

double codediff_per_pass(const struct code_signs *s, uint64_t count, int side)
{
    return (double)count * (side ? s->pair->scale : 1);
}

/* ---- signs, each of a cause; false: not this one ---- */

static bool other_mode(const struct code_signs *s)
{
    const struct codeobj_kernel *a = s->before->code, *b = s->after->code;
    if (a->wave != b->wave && a->wave && b->wave)
        text_addf(s->text, "wave size: compiled for waves of %u, before of %u", b->wave, a->wave);
    else if (a->wgp_mode != b->wgp_mode)
        text_addf(s->text, "CU mode: workgroups %s, before %s", b->wgp_mode ? "across a WGP" : "in one CU",
                  a->wgp_mode ? "across a WGP" : "in one CU");
    else
        return false;
    text_add(s->text, ": ");
    codediff_spill_changes(s);
    return true;
}

static bool has_registers_changed(const struct code_signs *s)
{
    return s->a[CODE_VGPRS] + s->a[CODE_AGPRS] != s->b[CODE_VGPRS] + s->b[CODE_AGPRS] ||
           s->a[CODE_VGPR_SPILLS] != s->b[CODE_VGPR_SPILLS] || s->a[CODE_SCRATCH] != s->b[CODE_SCRATCH];
}

static bool launch_bounds(const struct code_signs *s)
{
    const uint32_t a = s->before->code->max_block, b = s->after->code->max_block;
    if (a == b || !a || !b)
        return false;
    text_addf(s->text, "launch bounds: compiled for workgroups of up to %u threads, before %u: ", b, a);
    codediff_spill_changes(s);
    return true;
}

static unsigned calls_of(const struct inspect_kernel *kernel)
{
    return kernel->isa ? kernel->isa->calls : 0;
}

static bool inlining(const struct code_signs *s)
{
    const unsigned a = calls_of(s->before), b = calls_of(s->after);
    if (a == b || (a && b))
        return false;
    text_addf(s->text,
              b ? "inlining: %u call%s to functions that were inlined before (link-time optimization, noinline)"
                : "inlining: %u call%s to functions are inlined now",
              b ? b : a, (b ? b : a) == 1 ? "" : "s");
    text_add(s->text, ": ");
    codediff_spill_changes(s);
    codediff_change(s, CODE_LOOP_ISSUE);
    return true;
}

static bool has_more_spills(const struct code_signs *s)
{
    return s->b[CODE_VGPR_SPILLS] > s->a[CODE_VGPR_SPILLS] || s->b[CODE_SGPR_SPILLS] > s->a[CODE_SGPR_SPILLS];
}

/* Fewer registers and more spills, or registers that nothing needs: somebody said how many there are. */
static bool register_limit(const struct code_signs *s)
{
    const bool padded = inspect_registers(s->pair->objects[1], s->after->code).is_padded &&
                        !inspect_registers(s->pair->objects[0], s->before->code).is_padded;
    const bool scalar = s->b[CODE_SGPR_SPILLS] > s->a[CODE_SGPR_SPILLS] && s->b[CODE_SGPRS] < s->a[CODE_SGPRS];
    const bool spills = s->b[CODE_VGPR_SPILLS] > s->a[CODE_VGPR_SPILLS]; /* AGPRs may be where to */
    const bool fewer = s->b[CODE_VGPRS] < s->a[CODE_VGPRS] || (spills && s->b[CODE_VGPRS] == s->a[CODE_VGPRS]);
    if (!padded && !(has_more_spills(s) && (fewer || scalar)))
        return false;
    text_addf(s->text, "register limit (launch bounds, waves per SIMD, or a flag): ");
    codediff_spill_changes(s);
    return true;
}

static bool lds(const struct code_signs *s)
{
    if (!(s->b[CODE_LDS] > s->a[CODE_LDS] && s->b[CODE_WAVES] < s->a[CODE_WAVES]))
        return false;
    text_add(s->text, "LDS: ");
    codediff_change(s, CODE_LDS);
    codediff_change(s, CODE_WAVES);
    return true;
}

static unsigned deepest(const struct isa_kernel *isa)
{
    unsigned depth = 0;
    for (size_t k = 0; k < isa->loop_count; k++)
        depth = isa->loops[k].depth > depth ? isa->loops[k].depth : depth;
    return depth;
}

static double depth_of_hot(const struct code_signs *s, int side)
{
    const size_t hot = s->pair->hot[side];
    return hot == ISA_NO_LOOP ? 0 : (side ? s->after : s->before)->isa->loops[hot].depth;
}

/* A loop that was unrolled whole is there again, or the other way: the hot loop has one around it, or there are more
 * loops, one of them deeper inside, or in less code, or with arrays that had registers. What else is seen follows from
 * that: accesses that no neighbour shares, other widths. Not where fewer registers than before spill: they are a limit,
 * and loops follow from it. */
static bool unrolled_whole(const struct code_signs *s)
{
    const struct isa_kernel *a = s->before->isa, *b = s->after->isa;
    if (!a || !b)
        return false;
    const double hot_a = depth_of_hot(s, 0), hot_b = depth_of_hot(s, 1);
    const bool other_depth = hot_a > 0 && hot_b > 0 && hot_a != hot_b;
    const bool rolled = other_depth ? hot_b > hot_a : b->loop_count > a->loop_count;
    const double sign = rolled ? 1 : -1;
    const bool inside = sign * ((double)deepest(b) - deepest(a)) > 0;
    const bool shorter = sign * (s->b[CODE_BYTES] - s->a[CODE_BYTES]) < -0.05 * s->a[CODE_BYTES];
    const bool array = sign * (s->b[CODE_SCRATCH] - s->a[CODE_SCRATCH]) > 0 && !(rolled && has_more_spills(s));
    const bool limited = s->b[CODE_VGPR_SPILLS] > s->a[CODE_VGPR_SPILLS] && s->b[CODE_VGPRS] < s->a[CODE_VGPRS];
    if (limited || (!other_depth && (a->loop_count == b->loop_count || !(inside || shorter || array))))
        return false;
    text_addf(s->text,
              "unrolling: %s: ", rolled ? "a loop that was unrolled whole is one again" : "a loop is unrolled whole");
    text_addf(s->text, "loops %zu to %zu", a->loop_count, b->loop_count);
    codediff_spill_changes(s);
    codediff_change(s, CODE_LOOP_ISSUE);
    codediff_change(s, CODE_BYTES);
    return true;
}

/* A pass of the hot loop does more or less work. */
static bool unrolling(const struct code_signs *s)
{
    const double times = 1 / s->pair->scale;
    if (s->pair->hot[0] == ISA_NO_LOOP || s->pair->hot[1] == ISA_NO_LOOP || !(times > 1.5 || times < 0.67))
        return false;
    text_addf(s->text, "unrolling: a pass of the loop does %.3g times the work: ", times);
    codediff_add_widths(s, true);
    codediff_spill_changes(s);
    codediff_change(s, CODE_LOOP_ISSUE);
    codediff_change(s, CODE_BYTES);
    return true;
}

/* Of a loop that is not the hot one, or that is no more. */
static bool other_loop(const struct code_signs *s)
{
    const struct isa_kernel *a = s->before->isa, *b = s->after->isa;
    double times = 1;
    if (fabs(s->b[CODE_BYTES] - s->a[CODE_BYTES]) < 0.05 * s->a[CODE_BYTES])
        return false; /* as long: loops of one kernel that are alike were paired crosswise */
    for (size_t k = 0; k < s->pair->loop_count; k++) {
        const struct code_loops *pair = &s->pair->loops[k];
        if (pair->before == ISA_NO_LOOP || pair->after == ISA_NO_LOOP || pair->before == s->pair->hot[0])
            continue;
        const double scale = codediff_scale(&a->loops[pair->before].own, &b->loops[pair->after].own);
        times = scale > 1.5 || scale < 0.67 ? 1 / scale : times;
    }
    if (times != 1)
        text_addf(s->text, "unrolling: a pass of a loop that is not the hot one does %.3g times the work: ", times);
    else if (a && b && a->loop_count != b->loop_count)
        text_addf(s->text, "unrolling: %zu loops instead of %zu: ", b->loop_count, a->loop_count);
    else
        return false;
    codediff_spill_changes(s);
    codediff_change(s, CODE_BYTES);
    return true;
}

static bool array_in_scratch(const struct code_signs *s)
{
    if (!(s->b[CODE_SCRATCH] > s->a[CODE_SCRATCH]) || has_more_spills(s))
        return false;
    text_add(s->text, "an array or variable in scratch (indexed at run time, as by a loop that is not "
                      "unrolled, its address taken, or optimization off): ");
    codediff_spill_changes(s);
    return true;
}

static bool atomics(const struct code_signs *s)
{
    const uint64_t loops = codediff_swap_loops(s->pair);
    if (!loops)
        return false;
    text_addf(s->text,
              "%" PRIu64 " atomic operation%s a loop of compare and swap (no -munsafe-fp-atomics, or a type that "
              "the target has none for): ",
              loops, loops == 1 ? " is" : "s are each");
    codediff_spill_changes(s);
    return true;
}

double codediff_issued(const struct isa_mix *mix)
{
    return (double)(mix->instructions - mix->count[ISA_WAIT] - mix->count[ISA_OTHER]);
}

static bool told_by_names(const struct code_signs *s, bool most)
{
    const bool found = codediff_names(s->text, s->pair, most);
    if (found)
        codediff_change(s, CODE_LOOP_ISSUE);
    return found;
}

static bool names(const struct code_signs *s)
{
    return told_by_names(s, false);
}

static bool names_of_most(const struct code_signs *s)
{
    return told_by_names(s, true);
}

/* Multiplications and additions that were one instruction. */
static bool split(const struct code_signs *s)
{
    if (!s->in || !s->out || isnan(s->pair->scale))
        return false;
    const double fma_a = codediff_per_pass(s, codediff_named(s->pair, 0, "fma fmac fmaak fmamk mad mac"), 0);
    const double fma_b = codediff_per_pass(s, codediff_named(s->pair, 1, "fma fmac fmaak fmamk mad mac"), 1);
    const double single_a = codediff_per_pass(s, codediff_single(s->pair, 0), 0);
    const double single_b = codediff_per_pass(s, codediff_single(s->pair, 1), 1);
    if (!(fma_b < fma_a * 0.9 && single_b - single_a >= (fma_a - fma_b) / 2))
        return false;
    text_addf(s->text, "arithmetic: fused multiply-adds are split, %.4g to %.4g of them", fma_a, fma_b);
    codediff_change(s, CODE_LOOP_ISSUE);
    return true;
}

/* Operations that one instruction did for several values. */
static bool joined_no_more(const struct code_signs *s)
{
    if (!s->in || !s->out || isnan(s->pair->scale))
        return false;
    const double packed_a = codediff_per_pass(s, s->in->count[ISA_PACKED], 0),
                 packed_b = codediff_per_pass(s, s->out->count[ISA_PACKED], 1);
    const double matrix_a = codediff_per_pass(s, s->in->count[ISA_MATRIX], 0),
                 matrix_b = codediff_per_pass(s, s->out->count[ISA_MATRIX], 1);
    if (packed_b < packed_a * 0.9)
        text_addf(s->text, "arithmetic: %.4g packed instructions instead of %.4g", packed_b, packed_a);
    else if (matrix_b < matrix_a * 0.9)
        text_addf(s->text, "arithmetic: %.4g matrix instructions instead of %.4g", matrix_b, matrix_a);
    else
        return false;
    codediff_change(s, CODE_LOOP_ISSUE);
    return true;
}

/* More registers than before, and for that fewer waves, for instructions that are not the same. */
static bool more_registers(const struct code_signs *s)
{
    if (!(s->b[CODE_WAVES] < s->a[CODE_WAVES] &&
          s->b[CODE_VGPRS] + s->b[CODE_AGPRS] > s->a[CODE_VGPRS] + s->a[CODE_AGPRS]))
        return false;
    text_add(s->text, "register allocation: ");
    codediff_spill_changes(s);
    return true;
}

/* Nothing of the hot loop changed that counts. */
static bool outside(const struct code_signs *s)
{
    static const enum code_metric metrics[] = {CODE_INSTRUCTIONS, CODE_SGPRS};
    if (has_registers_changed(s))
        return false;
    for (int k = CODE_LOOP_ISSUE; k < CODE_METRICS; k++)
        if (s->a[k] != s->b[k] && !(isnan(s->a[k]) && isnan(s->b[k])))
            return false;
    text_add(s->text, "code outside of the hot loop: ");
    codediff_changes(s, metrics, COUNT_OF(metrics));
    return true;
}

/* Could the largest workgroup have more registers? Then no order of instructions needs spills. */
static bool has_registers_left(const struct code_signs *s)
{
    const struct codeobj_kernel *code = s->after->code;
    const struct occupancy_limits *limits = occupancy_limits(s->pair->target);
    struct err err = {0};
    struct occupancy occupancy;
    if (!limits)
        return false;
    const struct occupancy_use use = {.target = s->pair->target,
                                      .wave = code->wave,
                                      .wgp_mode = code->wgp_mode,
                                      .vgprs = (uint32_t)s->b[CODE_VGPRS] + limits->vgpr_granule,
                                      .agprs = (uint32_t)s->b[CODE_AGPRS],
                                      .block = code->max_block};
    return occupancy_compute(&occupancy, &use, &err) == STATUS_OK && occupancy.workgroups > 0;
}

/* New spills. Where the loop is longer or the order another, more was alive; else they are the allocator's. */
static bool spills(const struct code_signs *s)
{
    if (!has_more_spills(s))
        return false;
    const bool left = has_registers_left(s);
    if (unrolling(s) || (!left && other_loop(s)))
        return true;
    text_addf(s->text, "%s: ",
              left || !codediff_is_rescheduled(s->pair, s->arena) ? "register allocation" : codediff_in_another_order);
    codediff_spill_changes(s);
    return true;
}

/* More of some kind of instruction, which is named. */
static bool more_instructions(const struct code_signs *s)
{
    const enum code_metric metrics[] = {CODE_LOOP_ISSUE, CODE_VGPRS, CODE_WAVES};
    double most = 0;
    int found = -1;
    for (int kind = 0; kind < ISA_KINDS && s->in && s->out && !isnan(s->pair->scale); kind++) {
        const double more = codediff_per_pass(s, codediff_operations(s->out, kind), 1) -
                            codediff_per_pass(s, codediff_operations(s->in, kind), 0);
        if (kind == ISA_WAIT || kind == ISA_OTHER || more <= most)
            continue;
        most = more;
        found = kind;
    }
    if (found < 0)
        return false;
    text_addf(s->text, "instruction selection: %.4g %s instructions instead of %.4g: ",
              codediff_per_pass(s, codediff_operations(s->out, found), 1), isa_kind_label((enum isa_kind)found),
              codediff_per_pass(s, codediff_operations(s->in, found), 0));
    codediff_changes(s, metrics, COUNT_OF(metrics));
    return true;
}

static bool registers(const struct code_signs *s)
{
    if (!has_registers_changed(s))
        return false;
    text_add(s->text, "register allocation: ");
    codediff_spill_changes(s);
    return true;
}

/* No sign of any cause: what changed at least. */
static bool unknown(const struct code_signs *s)
{
    text_add(s->text, "no known cause: ");
    for (int k = 0; k < CODE_METRICS; k++)
        codediff_change(s, (enum code_metric)k);
    return true;
}

const char *codediff_cause(const struct code_pair *pair, struct arena *arena)
{
    static bool (*const rules[])(const struct code_signs *s) = {
        other_mode,
        launch_bounds,
        inlining,
        atomics,
        codediff_volatiles,
        unrolled_whole,
        array_in_scratch,
        codediff_promise,
        names,
        codediff_access_width,
        split,
        lds,
        register_limit,
        spills,
        codediff_aliasing,
        unrolling,
        names_of_most,
        joined_no_more,
        other_loop,
        codediff_extra_copies,
        codediff_rescheduled,
        codediff_behind_stores,
        more_registers,
        outside,
        codediff_scheduling,
        more_instructions,
        registers,
        unknown,
    };
    struct text text = {0};
    const struct code_signs signs = {.pair = pair,
                                     .before = pair->before,
                                     .after = pair->after,
                                     .a = pair->figures[0].value,
                                     .b = pair->figures[1].value,
                                     .in = codediff_mix(pair, 0),
                                     .out = codediff_mix(pair, 1),
                                     .text = &text,
                                     .arena = arena};
    for (size_t k = 0; k < COUNT_OF(rules); k++)
        if (rules[k](&signs)) {
            while (text.length && strchr(": ", text.data[text.length - 1]))
                text.data[--text.length] = '\0';
            return text_take(&text, arena);
        }
    text_release(&text);
    return "";
}
