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

struct signs {
    const struct code_pair *pair;
    const struct inspect_kernel *before, *after;
    const double *a, *b;            /* figures */
    const struct isa_mix *in, *out; /* of the hot loop, or of the kernel; NULL: not disassembled */
    struct text *text;
    struct arena *arena;
};

/* ---- words ---- */

static void change(const struct signs *s, enum code_metric metric)
{
    if (isnan(s->a[metric]) || isnan(s->b[metric]) || s->a[metric] == s->b[metric])
        return;
    const char *between = s->text->length && s->text->data[s->text->length - 1] != ' ' ? ", " : "";
    if (s->a[metric] == floor(s->a[metric]) && s->b[metric] == floor(s->b[metric]))
        text_addf(s->text, "%s%s %.0f to %.0f", between, code_metrics[metric].title, s->a[metric], s->b[metric]);
    else
        text_addf(s->text, "%s%s %.3g to %.3g", between, code_metrics[metric].title, s->a[metric], s->b[metric]);
}

static void changes(const struct signs *s, const enum code_metric *metrics, size_t count)
{
    for (size_t k = 0; k < count; k++)
        change(s, metrics[k]);
}

static void spill_changes(const struct signs *s)
{
    static const enum code_metric metrics[] = {CODE_VGPRS,   CODE_AGPRS, CODE_VGPR_SPILLS, CODE_SGPR_SPILLS,
                                               CODE_SCRATCH, CODE_WAVES, CODE_LOOP_SCRATCH};
    changes(s, metrics, COUNT_OF(metrics));
}

static double per_pass(const struct signs *s, uint64_t count, int side)
{
    return (double)count * (side ? s->pair->scale : 1);
}

/* ---- signs, each of a cause; false: not this one ---- */

static bool other_mode(const struct signs *s)
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
    spill_changes(s);
    return true;
}

static bool has_registers_changed(const struct signs *s)
{
    return s->a[CODE_VGPRS] + s->a[CODE_AGPRS] != s->b[CODE_VGPRS] + s->b[CODE_AGPRS] ||
           s->a[CODE_VGPR_SPILLS] != s->b[CODE_VGPR_SPILLS] || s->a[CODE_SCRATCH] != s->b[CODE_SCRATCH];
}

static bool launch_bounds(const struct signs *s)
{
    const uint32_t a = s->before->code->max_block, b = s->after->code->max_block;
    if (a == b || !a || !b)
        return false;
    text_addf(s->text, "launch bounds: compiled for workgroups of up to %u threads, before %u: ", b, a);
    spill_changes(s);
    return true;
}

static unsigned calls_of(const struct inspect_kernel *kernel)
{
    return kernel->isa ? kernel->isa->calls : 0;
}

static bool inlining(const struct signs *s)
{
    const unsigned a = calls_of(s->before), b = calls_of(s->after);
    if (a == b || (a && b))
        return false;
    text_addf(s->text,
              b ? "inlining: %u call%s to functions that were inlined before (link-time optimization, noinline)"
                : "inlining: %u call%s to functions are inlined now",
              b ? b : a, (b ? b : a) == 1 ? "" : "s");
    text_add(s->text, ": ");
    spill_changes(s);
    change(s, CODE_LOOP_ISSUE);
    return true;
}

/* Fewer registers and more spills: somebody said how many there are. */
static bool register_limit(const struct signs *s)
{
    if (!(s->b[CODE_VGPR_SPILLS] > s->a[CODE_VGPR_SPILLS] && s->b[CODE_VGPRS] < s->a[CODE_VGPRS]))
        return false;
    text_addf(s->text, "register limit (launch bounds, waves per SIMD, or a flag): ");
    spill_changes(s);
    return true;
}

static bool register_allocation(const struct signs *s)
{
    if (!(s->b[CODE_VGPR_SPILLS] > s->a[CODE_VGPR_SPILLS] || s->b[CODE_SGPR_SPILLS] > s->a[CODE_SGPR_SPILLS]))
        return false;
    text_add(s->text, "register allocation: ");
    spill_changes(s);
    return true;
}

static bool array_in_scratch(const struct signs *s)
{
    if (!(s->b[CODE_SCRATCH] > s->a[CODE_SCRATCH]))
        return false;
    text_add(s->text, "an array or variable in scratch (indexed at run time, as by a loop that is not "
                      "unrolled, its address taken, or optimization off): ");
    spill_changes(s);
    return true;
}

static bool lds(const struct signs *s)
{
    if (!(s->b[CODE_LDS] > s->a[CODE_LDS] && s->b[CODE_WAVES] < s->a[CODE_WAVES]))
        return false;
    text_add(s->text, "LDS: ");
    change(s, CODE_LDS);
    change(s, CODE_WAVES);
    return true;
}

/* A loop inside which there is one now. */
static bool unrolled_no_more(const struct signs *s)
{
    const size_t a = s->pair->hot[0], b = s->pair->hot[1];
    if (a == ISA_NO_LOOP || b == ISA_NO_LOOP || s->after->isa->loops[b].depth <= s->before->isa->loops[a].depth)
        return false;
    text_addf(s->text, "unrolling: a loop that was unrolled whole is one again, %u deep instead of %u: ",
              s->after->isa->loops[b].depth, s->before->isa->loops[a].depth);
    spill_changes(s);
    change(s, CODE_LOOP_ISSUE);
    return true;
}

/* Accesses that move the same bytes for the same work, but more or fewer of them each: "narrower loads: 16 to 4 bytes".
 * `unrolled`: also those whose number in a pass went the other way, which unrolling joined or its lack parted. */
static bool add_widths(const struct signs *s, bool unrolled)
{
    static const enum isa_space spaces[] = {ISA_GLOBAL, ISA_LDS};
    bool found = false;
    for (size_t k = 0; k < 2 * COUNT_OF(spaces) && s->in && s->out && !isnan(s->pair->scale); k++) {
        const struct isa_traffic *a = &s->in->traffic[spaces[k / 2]], *b = &s->out->traffic[spaces[k / 2]];
        const bool stores = k % 2;
        const double count_a = (double)(stores ? a->stores : a->loads),
                     count_b = (double)(stores ? b->stores : b->loads);
        const double bytes_a = (double)(stores ? a->store_bytes : a->load_bytes);
        const double bytes_b = (double)(stores ? b->store_bytes : b->load_bytes);
        const double width_a = bytes_a / count_a, width_b = bytes_b / count_b;
        const bool narrower = width_b < width_a * 0.75, wider = width_a < width_b * 0.75;
        if (!(narrower || wider) || fabs(bytes_b * s->pair->scale - bytes_a) > 0.1 * bytes_a ||
            (!unrolled && (narrower ? count_b < count_a : count_b > count_a)))
            continue;
        text_addf(s->text, "%s%s %s%s: %.3g to %.3g bytes", found ? ", " : "", narrower ? "narrower" : "wider",
                  spaces[k / 2] == ISA_LDS ? "LDS " : "", stores ? "stores" : "loads", width_a, width_b);
        found = true;
    }
    return found;
}

static bool access_width(const struct signs *s)
{
    if (!add_widths(s, false))
        return false;
    change(s, CODE_LOOP_ISSUE);
    return true;
}

static bool unrolling(const struct signs *s)
{
    const bool before = s->pair->hot[0] != ISA_NO_LOOP, after = s->pair->hot[1] != ISA_NO_LOOP;
    const double times = 1 / s->pair->scale;
    if (before != after && s->before->isa && s->after->isa)
        text_addf(s->text, after ? "unrolling: a loop that was unrolled whole is one again: "
                                 : "unrolling: the loop is unrolled whole: ");
    else if (before && after && (times > 1.5 || times < 0.67))
        text_addf(s->text, "unrolling: a pass of the loop does %.3g times the work: ", times);
    else
        return false;
    add_widths(s, true);
    spill_changes(s);
    change(s, CODE_LOOP_ISSUE);
    change(s, CODE_BYTES);
    return true;
}

static bool atomics(const struct signs *s)
{
    const uint64_t loops = codediff_swap_loops(s->pair);
    if (!loops)
        return false;
    text_addf(s->text,
              "%" PRIu64 " atomic operation%s a loop of compare and swap (no -munsafe-fp-atomics, or a type that "
              "the target has none for): ",
              loops, loops == 1 ? " is" : "s are each");
    spill_changes(s);
    return true;
}

/* What stands outside of the hot loop loads, and so may have been moved there. */
static uint64_t loads_outside(const struct code_pair *pair, int side)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    const struct isa_mix *loop = codediff_mix(pair, side);
    const uint64_t all = isa->mix.traffic[ISA_GLOBAL].loads + isa->mix.traffic[ISA_CONSTANT].loads;
    const uint64_t inside = loop->traffic[ISA_GLOBAL].loads + loop->traffic[ISA_CONSTANT].loads;
    return all > inside ? all - inside : 0;
}

static uint64_t loads_of(const struct isa_mix *mix)
{
    return mix->traffic[ISA_GLOBAL].load_bytes;
}

static double memory_of(const struct isa_mix *mix)
{
    static const enum isa_kind kinds[] = {ISA_LOAD, ISA_STORE, ISA_SCALAR_MEMORY, ISA_LDS_READ, ISA_LDS_WRITE};
    double count = 0;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        count += (double)mix->count[kinds[k]];
    return count;
}

double codediff_issued(const struct isa_mix *mix)
{
    return (double)(mix->instructions - mix->count[ISA_WAIT] - mix->count[ISA_OTHER]);
}

/* Of the instructions that are more, are some memory's? A load needs an address, and what it loads is used. */
static bool is_mostly_memory(const struct signs *s)
{
    const double share = 0.15, scale = s->pair->scale;
    const double more = codediff_issued(s->out) * scale - codediff_issued(s->in);
    return memory_of(s->out) * scale - memory_of(s->in) >= share * more;
}

/* The same arithmetic, but values are loaded or stored again, or through other paths: something may alias. */
static bool aliasing(const struct signs *s)
{
    if (!s->in || !s->out || isnan(s->pair->scale))
        return false;
    if (fabs(s->pair->scale - 1) > 0.1 && loads_outside(s->pair, 1) >= loads_outside(s->pair, 0))
        return false; /* a loop that is unrolled otherwise may load its neighbours once or twice */
    const double loads_a = per_pass(s, loads_of(s->in), 0), loads_b = per_pass(s, loads_of(s->out), 1);
    const double stores_a = per_pass(s, s->in->traffic[ISA_GLOBAL].store_bytes, 0);
    const double stores_b = per_pass(s, s->out->traffic[ISA_GLOBAL].store_bytes, 1);
    const double lds_a = per_pass(s, s->in->traffic[ISA_LDS].load_bytes, 0);
    const double lds_b = per_pass(s, s->out->traffic[ISA_LDS].load_bytes, 1);
    const double scalar_a = per_pass(s, s->in->count[ISA_SCALAR_MEMORY], 0);
    const double scalar_b = per_pass(s, s->out->count[ISA_SCALAR_MEMORY], 1);
    const double more = 1.1;
    if (!(loads_b > loads_a * more || stores_b > stores_a * more || lds_b > lds_a * more || scalar_b > scalar_a * 1.5))
        return false;
    if (!is_mostly_memory(s))
        return false;
    text_add(s->text, "memory accesses repeated (alias analysis: a pointer may overlap what is stored): ");
    const struct {
        const char *what;
        double a, b;
    } list[] = {{"bytes loaded per lane", loads_a, loads_b},
                {"bytes stored per lane", stores_a, stores_b},
                {"LDS bytes read per lane", lds_a, lds_b},
                {"scalar loads", scalar_a, scalar_b}};
    const char *between = "";
    for (size_t k = 0; k < COUNT_OF(list); k++)
        if (list[k].b > list[k].a) {
            text_addf(s->text, "%s%s %.4g to %.4g for the same work", between, list[k].what, list[k].a, list[k].b);
            between = ", ";
        }
    change(s, CODE_LOOP_ISSUE);
    return true;
}

static bool told_by_names(const struct signs *s, bool most)
{
    const bool found = codediff_names(s->text, s->pair, most);
    if (found)
        change(s, CODE_LOOP_ISSUE);
    return found;
}

static bool names(const struct signs *s)
{
    return told_by_names(s, false);
}

static bool names_of_most(const struct signs *s)
{
    return told_by_names(s, true);
}

/* Multiplications and additions that were one instruction, or packed. */
static bool arithmetic(const struct signs *s)
{
    if (!s->in || !s->out || isnan(s->pair->scale))
        return false;
    const double fma_a = per_pass(s, codediff_named(s->pair, 0, "fma fmac fmaak fmamk mad mac"), 0);
    const double fma_b = per_pass(s, codediff_named(s->pair, 1, "fma fmac fmaak fmamk mad mac"), 1);
    const double packed_a = per_pass(s, s->in->count[ISA_PACKED], 0),
                 packed_b = per_pass(s, s->out->count[ISA_PACKED], 1);
    const double matrix_a = per_pass(s, s->in->count[ISA_MATRIX], 0),
                 matrix_b = per_pass(s, s->out->count[ISA_MATRIX], 1);
    const double single_a = per_pass(s, codediff_single(s->pair, 0), 0);
    const double single_b = per_pass(s, codediff_single(s->pair, 1), 1);
    if (fma_b < fma_a * 0.9 && single_b - single_a >= (fma_a - fma_b) / 2)
        text_addf(s->text, "arithmetic: fused multiply-adds are split, %.4g to %.4g of them", fma_a, fma_b);
    else if (packed_b < packed_a * 0.9)
        text_addf(s->text, "arithmetic: %.4g packed instructions instead of %.4g", packed_b, packed_a);
    else if (matrix_b < matrix_a * 0.9)
        text_addf(s->text, "arithmetic: %.4g matrix instructions instead of %.4g", matrix_b, matrix_a);
    else
        return false;
    change(s, CODE_LOOP_ISSUE);
    return true;
}

/* More registers than before, and for that fewer waves. */
static bool more_registers(const struct signs *s)
{
    if (!(s->b[CODE_WAVES] < s->a[CODE_WAVES] &&
          s->b[CODE_VGPRS] + s->b[CODE_AGPRS] > s->a[CODE_VGPRS] + s->a[CODE_AGPRS]))
        return false;
    text_add(s->text, "register allocation: ");
    spill_changes(s);
    return true;
}

/* Nothing of the hot loop changed that counts. */
static bool outside(const struct signs *s)
{
    static const enum code_metric metrics[] = {CODE_INSTRUCTIONS, CODE_SGPRS};
    if (has_registers_changed(s))
        return false;
    for (int k = CODE_LOOP_ISSUE; k < CODE_METRICS; k++)
        if (s->a[k] != s->b[k] && !(isnan(s->a[k]) && isnan(s->b[k])))
            return false;
    text_add(s->text, "code outside of the hot loop: ");
    changes(s, metrics, COUNT_OF(metrics));
    return true;
}

/* Instructions of a kind; what was paired for dual issue counts as the two that it was, as their order decides. */
static uint64_t operations_of(const struct isa_mix *mix, int kind)
{
    return kind == ISA_DUAL ? 0 : mix->count[kind] + (kind == ISA_VECTOR ? 2 * mix->count[ISA_DUAL] : 0);
}

static bool is_work_the_same(const struct signs *s)
{
    if (!s->in || !s->out || isnan(s->pair->scale))
        return false;
    for (int kind = 0; kind < ISA_KINDS; kind++) {
        const bool steers = kind == ISA_WAIT || kind == ISA_OTHER || kind == ISA_SCALAR || kind == ISA_BRANCH ||
                            kind == ISA_SCALAR_MEMORY; /* arguments are loaded one by one or together */
        const double a = per_pass(s, operations_of(s->in, kind), 0), b = per_pass(s, operations_of(s->out, kind), 1);
        if (!steers && fabs(b - a) > 0.1 * fmax(a, b) + 1)
            return false;
    }
    return true;
}

/* Waits move, and values live longer or shorter. */
static bool order(const struct signs *s, const char *why)
{
    static const enum code_metric metrics[] = {CODE_LOOP_WAITS, CODE_LOOP_DRAINS, CODE_LOOP_CHAIN, CODE_VGPRS,
                                               CODE_AGPRS,      CODE_WAVES,       CODE_LOOP_ISSUE, CODE_SGPRS};
    text_addf(s->text, "%s: ", why);
    if (s->in->count[ISA_DUAL] != s->out->count[ISA_DUAL])
        text_addf(s->text, "dual issue instructions %.4g to %.4g", per_pass(s, s->in->count[ISA_DUAL], 0),
                  per_pass(s, s->out->count[ISA_DUAL], 1));
    changes(s, metrics, COUNT_OF(metrics));
    return true;
}

static const char in_another_order[] = "scheduling (the same instructions in another order)";

static bool rescheduled(const struct signs *s)
{
    return is_work_the_same(s) && codediff_is_rescheduled(s->pair, s->arena) && order(s, in_another_order);
}

static bool behind_stores(const struct signs *s)
{
    return is_work_the_same(s) && codediff_loads_behind(s->pair, 1) > codediff_loads_behind(s->pair, 0) &&
           order(s, "loads that stay behind stores (alias analysis: a pointer may overlap what is stored)");
}

static bool scheduling(const struct signs *s)
{
    return is_work_the_same(s) && order(s, in_another_order);
}

/* More of some kind of instruction, which is named. */
static bool more_instructions(const struct signs *s)
{
    const enum code_metric metrics[] = {CODE_LOOP_ISSUE, CODE_VGPRS, CODE_WAVES};
    double most = 0;
    int found = -1;
    for (int kind = 0; kind < ISA_KINDS && s->in && s->out && !isnan(s->pair->scale); kind++) {
        const double more = per_pass(s, operations_of(s->out, kind), 1) - per_pass(s, operations_of(s->in, kind), 0);
        if (kind == ISA_WAIT || kind == ISA_OTHER || more <= most)
            continue;
        most = more;
        found = kind;
    }
    if (found < 0)
        return false;
    text_addf(s->text, "instruction selection: %.4g %s instructions instead of %.4g: ",
              per_pass(s, operations_of(s->out, found), 1), isa_kind_label((enum isa_kind)found),
              per_pass(s, operations_of(s->in, found), 0));
    changes(s, metrics, COUNT_OF(metrics));
    return true;
}

static bool registers(const struct signs *s)
{
    if (!has_registers_changed(s))
        return false;
    text_add(s->text, "register allocation: ");
    spill_changes(s);
    return true;
}

/* No sign of any cause: what changed at least. */
static bool unknown(const struct signs *s)
{
    text_add(s->text, "no known cause: ");
    for (int k = 0; k < CODE_METRICS; k++)
        change(s, (enum code_metric)k);
    return true;
}

const char *codediff_cause(const struct code_pair *pair, struct arena *arena)
{
    static bool (*const rules[])(const struct signs *s) = {other_mode,
                                                           launch_bounds,
                                                           inlining,
                                                           atomics,
                                                           unrolled_no_more,
                                                           register_limit,
                                                           register_allocation,
                                                           array_in_scratch,
                                                           lds,
                                                           aliasing,
                                                           names,
                                                           access_width,
                                                           unrolling,
                                                           names_of_most,
                                                           arithmetic,
                                                           rescheduled,
                                                           behind_stores,
                                                           more_registers,
                                                           outside,
                                                           scheduling,
                                                           more_instructions,
                                                           registers,
                                                           unknown};
    struct text text = {0};
    const struct signs signs = {.pair = pair,
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
