/* SPDX-License-Identifier: MIT
 *
 * Finds the cause of a change, from the most certain sign to the least: compile target, calls, where values are stored,
 * repeated loads, access width, unrolling, new computations, and finally the order. The first rule that finds its sign
 * names the cause; other changes are visible in the figures.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codediff_internal.h"

/* ---- words ---- */

const char *codediff_words(const struct code_signs *s, const char *forward, const char *back)
{
    return s->is_mirrored ? back : forward;
}

void codediff_from_to(const struct code_signs *s, const char *what, double a, double b)
{
    const char *between = s->text->length && s->text->data[s->text->length - 1] != ' ' ? ", " : "";
    const double before = (s->is_mirrored ? b : a) * s->unit, after = (s->is_mirrored ? a : b) * s->unit;
    const bool whole = fabs(before - round(before)) + fabs(after - round(after)) < 0.01;
    text_addf(s->text, whole ? "%s%s %.0f to %.0f" : "%s%s %.3g to %.3g", between, what, before, after);
}

void codediff_instead(const struct code_signs *s, const char *what, double a, double b)
{
    text_addf(s->text, "%.4g %s instead of %.4g", (s->is_mirrored ? a : b) * s->unit, what,
              (s->is_mirrored ? b : a) * s->unit);
}

double codediff_per_pass(const struct code_signs *s, uint64_t count, int side)
{
    return (double)count * (side ? s->pair->scale : 1);
}

/* ---- signs, one per cause; false: not this cause ---- */

static const struct inspect_kernel *given(const struct code_signs *s, int side)
{
    return (side != 0) != s->is_mirrored ? s->after : s->before;
}

static bool other_mode(const struct code_signs *s)
{
    const struct codeobj_kernel *a = given(s, 0)->code, *b = given(s, 1)->code;
    if (a->wave != b->wave && a->wave && b->wave)
        text_addf(s->text, "wave size: compiled for waves of %u, before of %u: ", b->wave, a->wave);
    else if (a->wgp_mode != b->wgp_mode)
        text_addf(s->text, "CU mode: workgroups %s, before %s: ", b->wgp_mode ? "across a WGP" : "in one CU",
                  a->wgp_mode ? "across a WGP" : "in one CU");
    return s->text->length;
}

static bool has_registers_changed(const struct code_signs *s)
{
    return s->a[CODE_VGPRS] + s->a[CODE_AGPRS] != s->b[CODE_VGPRS] + s->b[CODE_AGPRS] ||
           s->a[CODE_VGPR_SPILLS] != s->b[CODE_VGPR_SPILLS] || s->a[CODE_SCRATCH] != s->b[CODE_SCRATCH];
}

static bool launch_bounds(const struct code_signs *s)
{
    const uint32_t a = given(s, 0)->code->max_block, b = given(s, 1)->code->max_block;
    if (a != b && a && b && has_registers_changed(s))
        text_addf(s->text, "compiled for workgroups of up to %u threads, before %u: ", b, a);
    return s->text->length;
}

static unsigned calls_of(const struct inspect_kernel *kernel)
{
    return kernel->isa ? kernel->isa->calls : 0;
}

static bool inlining(const struct code_signs *s)
{
    const unsigned a = calls_of(given(s, 0)), b = calls_of(given(s, 1));
    if (a != b && !(a && b))
        text_addf(s->text, "%u call%s to functions %s: ", b ? b : a, (b ? b : a) == 1 ? "" : "s",
                  b ? "that were inlined before (link-time optimization, noinline)" : "are inlined now");
    return s->text->length;
}

static bool has_more_spills(const struct code_signs *s)
{
    return s->b[CODE_VGPR_SPILLS] > s->a[CODE_VGPR_SPILLS] || s->b[CODE_SGPR_SPILLS] > s->a[CODE_SGPR_SPILLS];
}

/* Fewer registers and more spills, or allocated registers that are not used: the source sets a register count. */
static bool register_limit(const struct code_signs *s)
{
    const bool padded = inspect_registers(s->pair->objects[1], s->after->code).is_padded &&
                        !inspect_registers(s->pair->objects[0], s->before->code).is_padded;
    const bool scalar = s->b[CODE_SGPR_SPILLS] > s->a[CODE_SGPR_SPILLS] && s->b[CODE_SGPRS] < s->a[CODE_SGPRS];
    const bool spills = s->b[CODE_VGPR_SPILLS] > s->a[CODE_VGPR_SPILLS]; /* may spill to AGPRs */
    const bool fewer = s->b[CODE_VGPRS] < s->a[CODE_VGPRS] || (spills && s->b[CODE_VGPRS] == s->a[CODE_VGPRS]);
    return padded || (has_more_spills(s) && (fewer || scalar));
}

static bool lds(const struct code_signs *s)
{
    return s->b[CODE_LDS] > s->a[CODE_LDS] && s->b[CODE_WAVES] < s->a[CODE_WAVES];
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

/* A fully unrolled loop is rolled again, or the reverse: the hot loop has gained an outer loop; or there are more
 * loops, one of them nested deeper, with less code, or with arrays that were in registers. Other differences follow
 * from that: unshared accesses, other widths. Does not apply if spills come with fewer registers, since then a register
 * limit is the cause of the loops. */
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
    text_addf(s->text, "%s: loops %zu to %zu",
              rolled != s->is_mirrored ? "a loop that was unrolled whole is one again" : "a loop is unrolled whole",
              given(s, 0)->isa->loop_count, given(s, 1)->isa->loop_count);
    return true;
}

/* One pass of the hot loop does more or less work. */
static bool unrolling(const struct code_signs *s)
{
    const double times = 1 / s->pair->scale;
    if (s->pair->hot[0] == ISA_NO_LOOP || s->pair->hot[1] == ISA_NO_LOOP || !(times > 1.5 || times < 0.67))
        return false;
    text_addf(s->text, "a pass of the loop does %.3g times the work: ", s->is_mirrored ? 1 / times : times);
    codediff_add_widths(s, true);
    return true;
}

/* Another loop than the hot one changed or disappeared. */
static bool other_loop(const struct code_signs *s)
{
    const struct isa_kernel *a = s->before->isa, *b = s->after->isa;
    double times = 1;
    if (fabs(s->b[CODE_BYTES] - s->a[CODE_BYTES]) < 0.05 * s->a[CODE_BYTES])
        return false; /* same size: similar loops of one kernel were paired crosswise */
    for (size_t k = 0; k < s->pair->loop_count; k++) {
        const struct code_loops *pair = &s->pair->loops[k];
        if (pair->before == ISA_NO_LOOP || pair->after == ISA_NO_LOOP || pair->before == s->pair->hot[0])
            continue;
        const double scale = codediff_scale(&a->loops[pair->before].own, &b->loops[pair->after].own);
        times = scale > 1.5 || scale < 0.67 ? 1 / scale : times;
    }
    if (times != 1)
        text_addf(s->text, "a pass of a loop that is not the hot one does %.3g times the work: ",
                  s->is_mirrored ? 1 / times : times);
    else if (a && b && a->loop_count != b->loop_count)
        text_addf(s->text, "%zu loops instead of %zu: ", given(s, 1)->isa->loop_count, given(s, 0)->isa->loop_count);
    return s->text->length;
}

static bool array_in_scratch(const struct code_signs *s)
{
    return s->b[CODE_SCRATCH] > s->a[CODE_SCRATCH] && !has_more_spills(s);
}

static bool atomics(const struct code_signs *s)
{
    const uint64_t loops = codediff_swap_loops(s->pair);
    if (loops)
        text_addf(s->text, "%" PRIu64 " atomic operation%s: ", loops, loops == 1 ? "" : "s");
    return loops;
}

static uint64_t returning(const struct isa_kernel *isa)
{
    return COUNT_WHERE(in, isa->instructions, isa->instruction_count,
                       in->kind == ISA_ATOMIC && in->access && in->access->returns);
}

/* As many atomics, of which more return a value. */
static bool returned(const struct code_signs *s)
{
    const struct isa_kernel *a = s->before->isa, *b = s->after->isa;
    if (!a || !b || a->mix.count[ISA_ATOMIC] != b->mix.count[ISA_ATOMIC] || returning(b) <= returning(a))
        return false;
    codediff_from_to(s, "those that return", (double)returning(a) / s->unit, (double)returning(b) / s->unit);
    return true;
}

double codediff_issued(const struct isa_mix *mix)
{
    return (double)(mix->instructions - mix->count[ISA_WAIT] - mix->count[ISA_OTHER]);
}

/* Multiplications and additions that used to be fused. */
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
    codediff_from_to(s, "fused ones", fma_a, fma_b);
    return true;
}

/* Nothing relevant changed in the hot loop. */
static bool outside(const struct code_signs *s)
{
    if (has_registers_changed(s))
        return false;
    for (int k = CODE_LOOP_ISSUE; k <= CODE_LOOP_TRIPS; k++)
        if (s->a[k] != s->b[k] && !(isnan(s->a[k]) && isnan(s->b[k])))
            return false;
    return true;
}

/* New spills. If the loop is longer or its order differs, more values were live; otherwise the register allocator is
 * the cause. It is also the cause if two workgroups fit, because then one could have more registers, and no order of
 * instructions needs spills. */
static bool spills(const struct code_signs *s)
{
    const bool left = !s->after->occupancy_problem && s->after->occupancy.workgroups > 1;
    if (!has_more_spills(s) || unrolling(s) || (!left && other_loop(s)))
        return has_more_spills(s);
    text_add(s->text,
             left || !codediff_is_rescheduled(s->pair, s->arena) ? "register allocation: " : codediff_in_another_order);
    return true;
}

/* More instructions of some kind, which is named. */
static bool more_instructions(const struct code_signs *s)
{
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
    codediff_instead(s, arena_printf(s->arena, "%s instructions", isa_kinds[found].label),
                     codediff_per_pass(s, codediff_operations(s->in, found), 0),
                     codediff_per_pass(s, codediff_operations(s->out, found), 1));
    return true;
}

/* With more round trips, the loads of one iteration are in another order. */
static bool prefetch(const struct code_signs *s)
{
    return codediff_lost_prefetch(s->pair) && !(s->b[CODE_LOOP_TRIPS] > 1.1 * s->a[CODE_LOOP_TRIPS]);
}

/* ---- by names: instructions that increase for the same work, or decrease in the reversed pair ---- */

static const struct name_sign {
    const char *words; /* one of them is part of the name */
    const char *cause;
    double times;  /* the least ratio of the counts */
    bool is_whole; /* counts in the kernel, not in its hot loop, because compilers move it out of loops */
    /* at least a third of the new instructions and a twelfth of the old ones; checked once unrolling is ruled out */
    bool is_most;
} name_signs[] = {
    {CODE_FENCES, "fences (caches are written back or invalidated)", 1.2, false, false},
    {"flat", "address space (flat accesses: the compiler does not know whether a pointer is to LDS or global memory)",
     2, false, false},
    {"f64", "arithmetic in f64 (a constant or function of type double)", 2, false, false},
    {"iflag", "arithmetic: division of integers by a value that is known at run time only", 1.2, true, false},
    {"exp log rcp rsq sqrt sin cos tanh div ldexp class frexp rndne",
     "arithmetic: division or functions, computed more or less exactly", 1.2, false, false},
    {"cndmask movrels movreld movrelsd idx",
     "selects and indexed moves (an array in registers indexed at run time, or a branch less)", 1.2, false, true},
    {"co ci addc subb u64 i64", "64-bit arithmetic (an index that had 32 bits)", 1.2, false, true},
};

static double count_of(const struct code_pair *pair, int side, const struct name_sign *sign)
{
    struct code_pair of = *pair;
    if (sign->is_whole)
        of.hot[0] = of.hot[1] = ISA_NO_LOOP;
    return (double)codediff_named(&of, side, sign->words) * (side && !sign->is_whole ? pair->scale : 1);
}

static bool told_by_names(const struct code_signs *s, bool most)
{
    const struct code_pair *pair = s->pair;
    if (!s->in || !s->out || isnan(pair->scale))
        return false;
    /* Copies follow from the computation: they assemble 64-bit values from halves. */
    const double copies = (double)(codediff_copies(pair, 1, ISA_VECTOR) + codediff_copies(pair, 1, ISA_PACKED)) *
                              pair->scale -
                          (double)(codediff_copies(pair, 0, ISA_VECTOR) + codediff_copies(pair, 0, ISA_PACKED)),
                 more = codediff_issued(s->out) * pair->scale - codediff_issued(s->in) - fmax(copies, 0);
    for (size_t k = 0; k < COUNT_OF(name_signs); k++) {
        const struct name_sign *sign = &name_signs[k];
        const double a = count_of(pair, 0, sign), b = count_of(pair, 1, sign);
        if (sign->is_most != most || !(b > a * sign->times) ||
            (most && (b - a < more / 3 || b - a < codediff_issued(s->in) / 12)))
            continue;
        text_addf(s->text, "%s: ", sign->cause);
        codediff_instead(s, "instructions", sign->is_whole ? a / s->unit : a, sign->is_whole ? b / s->unit : b);
        return true;
    }
    return false;
}

static bool names(const struct code_signs *s)
{
    return told_by_names(s, false);
}

static bool names_of_most(const struct code_signs *s)
{
    return told_by_names(s, true);
}

/* Operations that one instruction did for several values. */
static bool names_lost(const struct code_signs *s)
{
    static const char *const rows[][2] = {{"pk", "packed instructions"},
                                          {"mfma smfmac wmma swmmac", "matrix instructions"}};
    for (size_t k = 0; k < COUNT_OF(rows) && s->in && s->out; k++) {
        const double a = (double)codediff_named(s->pair, 0, rows[k][0]);
        const double b = (double)codediff_named(s->pair, 1, rows[k][0]) * s->pair->scale;
        if (!(b < a * 0.9))
            continue;
        codediff_instead(s, rows[k][1], a, b);
        return true;
    }
    return false;
}

/* ---- the rules ---- */

#define OF(metric) (1u << (metric))
#define SPILLING                                                                                                       \
    (OF(CODE_VGPRS) | OF(CODE_AGPRS) | OF(CODE_LIVE) | OF(CODE_VGPR_SPILLS) | OF(CODE_SGPR_SPILLS) |                   \
     OF(CODE_SCRATCH) | OF(CODE_WAVES) | OF(CODE_LOOP_SCRATCH))
#define ISSUE OF(CODE_LOOP_ISSUE)
#define WAITING                                                                                                        \
    (OF(CODE_LOOP_TRIPS) | OF(CODE_LOOP_AHEAD) | OF(CODE_LOOP_WAITS) | OF(CODE_LOOP_DRAINS) | OF(CODE_LOOP_CHAIN))
#define ALL (OF(CODE_METRICS) - 1)

/* Ordered by certainty. If one build is worse than the other, rules explain how it arose from the better one. */
static const struct rule {
    const char *code;
    bool (*sees)(const struct code_signs *s); /* NULL: always */
    enum { EITHER = 1, LAST } how;            /* recognises a fact in either direction; applies to any change */
    const char *words, *back; /* prefix of the rule's text, and for the reversed order; NULL: the same */
    unsigned figures;         /* figures whose changes are appended */
} rules[] = {
    {"mode", other_mode, 0, "", NULL, SPILLING},
    {"launch-bounds", launch_bounds, 0, "launch bounds: ", NULL, SPILLING},
    {"inlining", inlining, 0, "inlining: ", NULL, SPILLING | ISSUE},
    {"compare-and-swap", atomics, 0,
     "compare and swap in a loop (no -munsafe-fp-atomics, or a type that the target has no atomics for): ",
     "no compare and swap in a loop (-munsafe-fp-atomics, or a type that the target has atomics for): ", SPILLING},
    {"cache-policy", codediff_policy, 0, "cache policy: ", NULL, ISSUE | OF(CODE_LOOP_WAITS)},
    {"bank-conflicts", codediff_conflicts, 0, "bank conflicts of LDS (rows without padding): ",
     "no bank conflicts of LDS (rows with padding): before, ", OF(CODE_LDS)},
    {"returned", returned, 0,
     "atomics return their old values: ", "atomics no longer return their old values: ", WAITING},
    {"unrolled-whole", unrolled_whole, 0, "unrolling: ", NULL, SPILLING | ISSUE | OF(CODE_BYTES)},
    {"scratch-array", array_in_scratch, 0,
     "an array or variable in scratch (indexed at run time, as by a loop that is not unrolled, its address taken, or "
     "optimization off): ",
     "an array or variable in scratch no more (its indices are constants, as in a loop that is unrolled, or it is "
     "gone): ",
     SPILLING},
    {"promises", codediff_promise, EITHER, "", NULL, SPILLING},
    {"names", names, 0, "", NULL, ISSUE},
    {"lds-reuse", codediff_lds_reuse, 0, "LDS reuse lost (what LDS held is loaded from memory): ",
     "LDS reuse (what was loaded from memory is held in LDS): ", ISSUE | OF(CODE_LDS)},
    {"access-width", codediff_access_width, 0, "", NULL, ISSUE},
    {"split-fma", split, 0,
     "arithmetic: fused multiply-adds are split: ", "arithmetic: multiplications and additions are fused: ", ISSUE},
    {"lds", lds, 0, "LDS: ", NULL, OF(CODE_LDS) | OF(CODE_WAVES)},
    {"register-limit", register_limit, 0, "register limit (launch bounds, waves per SIMD, or a flag): ",
     "register limit lifted (launch bounds, waves per SIMD, or a flag): ", SPILLING},
    {"spills", spills, 0, "", NULL, SPILLING},
    {"aliasing", codediff_aliasing, 0, "", NULL, ISSUE},
    {"unrolling", unrolling, 0, "unrolling: ", NULL, SPILLING | ISSUE | OF(CODE_BYTES)},
    {"most-names", names_of_most, 0, "", NULL, ISSUE},
    {"joined", names_lost, 0, "arithmetic: ", NULL, ISSUE},
    {"other-loop", other_loop, 0, "unrolling: ", NULL, SPILLING | OF(CODE_BYTES)},
    {"copies", codediff_extra_copies, 0, "register allocation: ", NULL, SPILLING | ISSUE},
    {"prefetch", prefetch, 0, "prefetch lost (loads that were issued ahead are waited for at once): ",
     "prefetch (loads that were waited for at once are issued ahead): ", SPILLING | WAITING},
    {"rescheduled", codediff_rescheduled, 0, "", NULL, SPILLING | ISSUE | WAITING},
    {"behind-stores", codediff_behind_stores, 0, "", NULL, SPILLING | ISSUE | WAITING},
    {"outside", outside, LAST, "code outside of the hot loop: ", NULL, OF(CODE_INSTRUCTIONS) | OF(CODE_SGPRS)},
    {"scheduling", codediff_scheduling, LAST, "", NULL, SPILLING | ISSUE | WAITING},
    {"selection", more_instructions, LAST, "instruction selection: ", NULL, ISSUE | OF(CODE_VGPRS) | OF(CODE_WAVES)},
    {"registers", has_registers_changed, LAST, "register allocation: ", NULL, SPILLING},
    {"unknown", NULL, LAST, "no known cause: ", NULL, ALL},
};

/* True if the second of a pair is worse. If the verdict does not decide, that is the slower or longer one. */
static bool is_worse_after(const struct code_pair *pair)
{
    static const enum code_metric metrics[] = {CODE_VGPR_SPILLS, CODE_SGPR_SPILLS,  CODE_SCRATCH,
                                               CODE_TIME,        CODE_LOOP_ISSUE,   CODE_LOOP_TRIPS,
                                               CODE_VGPRS,       CODE_INSTRUCTIONS, CODE_BYTES};
    if (pair->verdict == CODE_HURT || pair->verdict == CODE_HELPED)
        return pair->verdict == CODE_HURT;
    for (size_t k = 0; k < COUNT_OF(metrics); k++) {
        const int judged =
            code_metric_judge(metrics[k], pair->figures[0].value[metrics[k]], pair->figures[1].value[metrics[k]]);
        if (judged)
            return judged < 0;
    }
    return true;
}

static bool try_rule(struct code_pair *given, const struct rule *rule, const struct code_pair *pair, bool is_mirrored,
                     struct arena *arena)
{
    SCOPED(text_release) struct text text = {0};
    const struct code_signs signs = {.pair = pair,
                                     .before = pair->before,
                                     .after = pair->after,
                                     .a = pair->figures[0].value,
                                     .b = pair->figures[1].value,
                                     .in = codediff_mix(pair, 0),
                                     .out = codediff_mix(pair, 1),
                                     .is_mirrored = is_mirrored,
                                     .unit = is_mirrored && !isnan(pair->scale) ? 1 / pair->scale : 1,
                                     .text = &text,
                                     .arena = arena};
    if (rule->sees && !rule->sees(&signs))
        return false;
    /* The changes of its figures, in the requested order of the pair: "VGPRs 196 to 256". */
    for (int k = 0; k < CODE_METRICS; k++) {
        const double a = signs.a[k], b = signs.b[k];
        struct code_signs of = signs;
        of.unit = k >= CODE_LOOP_ISSUE && k <= CODE_LOOP_TRIPS ? signs.unit : 1;
        if (rule->figures & 1u << k && fabs(b - a) > 0.005 * fmax(a, b))
            codediff_from_to(&of, code_metrics[k].title, a, b);
    }
    while (text.length && strchr(": ", text.data[text.length - 1]))
        text.data[--text.length] = '\0';
    const char *words = is_mirrored && rule->back ? rule->back : rule->words;
    const int length = (int)strlen(words) - (text.length || !*words ? 0 : 2);
    given->cause = arena_printf(arena, "%.*s%s", length, words, text.length ? text.data : "");
    given->cause_code = rule->code;
    return true;
}

void codediff_cause(struct code_pair *pair, const struct code_pair ways[2], bool given, struct arena *arena)
{
    const bool worse = !is_worse_after(&ways[0]);
    /* Rules from better to worse first, then from worse to better, then rules that apply to anything. */
    for (int round = 0; round < 3; round++)
        for (size_t k = 0; k < COUNT_OF(rules); k++) {
            const bool way = worse != (round == 1);
            if ((rules[k].how == LAST) == (round == 2) &&
                (try_rule(pair, &rules[k], &ways[way], way != given, arena) ||
                 (rules[k].how == EITHER && try_rule(pair, &rules[k], &ways[!way], way == given, arena))))
                return;
        }
}
