/* SPDX-License-Identifier: MIT
 *
 * Explains why the same instructions are in a different order. Possible aliasing moves loads after stores and leaves
 * code without stores almost unchanged; another scheduler reorders that code as well. Preserved order is measured by
 * adjacent pairs: instructions of which one directly follows the other in both builds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codediff_internal.h"
#include "rooftile/hash.h"

#define PAIRS_ENOUGH 10 /* too few pairs give no share */
/* For kernels of norm, moe and attention at least 0.87 of the pairs are preserved without restrict, at most 0.83
 * without one of the schedulers, for gfx90a, gfx942 and gfx1201. */
#define ORDER_KEPT 0.86

/* If no alias information is lost, another allocator alone preserves more than 0.93, another scheduler less (ten
 * kernels on two targets). */
#define ORDER_KEPT_BY_ALLOCATOR 0.94

/* With another allocator, the last scheduler sees other registers: the minimum over 13 kernels on four targets. */
#define ORDER_KEPT_AT_ALL 0.7

/* A loop has some copies, and another order adds a few: more than these come from the allocator. */
#define COPIES_MORE 1.2
#define COPIES_ANY 1
#define COPIES_OF_ORDER 0.05
#define LIVE_FEWER 0.95

struct neighbours {
    uint64_t *pairs;
    size_t count;
};

static void add_pair(struct neighbours *of, uint64_t *last, const char *name)
{
    /* Hashes the operation without its encoding, which depends on the registers, and without its partner in a VOPD. */
    const size_t length = isa_name_length(name);
    const size_t prefix = strlen(text_starts(name, "v_dual_") ? "v_dual_" : text_starts(name, "v_") ? "v_" : "");
    const uint64_t hash = hash_u64(name + prefix, length - prefix);
    if (*last)
        of->pairs[of->count++] = *last * 31 + hash;
    *last = hash;
}

/* Collects pairs from all stretches between branches and barriers; `with_stores`: including stretches with a store. */
static void find_neighbours(struct neighbours *of, const struct isa_kernel *isa, bool with_stores, struct arena *arena)
{
    size_t begin = 0; /* of the stretch, as an index into pairs */
    uint64_t last = 0;
    bool stores = false;
    of->pairs = arena_array(arena, 2 * isa->instruction_count + 1, sizeof(*of->pairs));
    for (size_t i = 0; i <= isa->instruction_count; i++) {
        const struct isa_instruction *in = i < isa->instruction_count ? &isa->instructions[i] : NULL;
        if (!in || in->kind == ISA_BRANCH || in->kind == ISA_BARRIER) {
            of->count = stores ? begin : of->count;
            begin = of->count;
            last = 0;
            stores = false;
            continue;
        }
        stores |= !with_stores && in->space == ISA_GLOBAL && (in->kind == ISA_STORE || in->kind == ISA_ATOMIC);
        if (in->kind == ISA_WAIT || in->kind == ISA_OTHER || in->kind == ISA_SCALAR || in->space == ISA_SCRATCH ||
            isa_has_word(in->mnemonic, "mov accvgpr readlane writelane"))
            continue; /* an allocator adds these as well */
        add_pair(of, &last, in->mnemonic);
        if (in->dual)
            add_pair(of, &last, in->dual->mnemonic);
    }
    qsort(of->pairs, of->count, sizeof(*of->pairs), isa_by_number);
}

/* Returns the share of pairs that both builds have; NAN: too few pairs. */
static double order_kept(const struct code_pair *pair, bool with_stores, struct arena *arena)
{
    struct neighbours a = {0}, b = {0};
    if (!pair->before->isa || !pair->after->isa)
        return NAN;
    find_neighbours(&a, pair->before->isa, with_stores, arena);
    find_neighbours(&b, pair->after->isa, with_stores, arena);
    size_t kept = 0;
    for (size_t i = 0, j = 0; i < a.count && j < b.count;) {
        kept += a.pairs[i] == b.pairs[j];
        const bool next_a = a.pairs[i] <= b.pairs[j], next_b = b.pairs[j] <= a.pairs[i];
        i += next_a;
        j += next_b;
    }
    const size_t fewer = a.count < b.count ? a.count : b.count;
    return fewer >= PAIRS_ENOUGH ? (double)kept / (double)fewer : NAN;
}

bool codediff_is_rescheduled(const struct code_pair *pair, struct arena *arena)
{
    const bool with_stores = codediff_promises(pair) > 0;
    return order_kept(pair, with_stores, arena) < (with_stores ? ORDER_KEPT_BY_ALLOCATOR : ORDER_KEPT);
}

double codediff_loads_behind(const struct code_pair *pair, int side)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    const size_t loop = pair->hot[side];
    uint64_t stores = 0, count = 0;
    for (size_t i = 0; i < isa->instruction_count; i++) {
        const struct isa_instruction *in = &isa->instructions[i];
        if ((loop != ISA_NO_LOOP && in->loop != loop) || in->space != ISA_GLOBAL)
            continue;
        stores += in->kind == ISA_STORE;
        count += in->kind == ISA_LOAD && stores;
    }
    return (double)count * (side ? pair->scale : 1);
}

/* ---- rules ---- */

uint64_t codediff_operations(const struct isa_mix *mix, int kind)
{
    return kind == ISA_DUAL ? 0 : mix->count[kind] + (kind == ISA_VECTOR ? 2 * mix->count[ISA_DUAL] : 0);
}

/* Returns a side's instructions per pass, without copies between registers. */
static double work_of(const struct code_signs *s, int side, int kind)
{
    const bool has_copies = kind == ISA_VECTOR || kind == ISA_PACKED;
    const uint64_t copies = has_copies ? codediff_copies(s->pair, side, (enum isa_kind)kind) : 0;
    return codediff_per_pass(s, codediff_operations(side ? s->out : s->in, kind) - copies, side);
}

/* Ignores what an allocator adds: copies and spills. */
static bool is_work_the_same(const struct code_signs *s)
{
    if (!s->in || !s->out || isnan(s->pair->scale))
        return false;
    const bool spills =
        s->a[CODE_VGPR_SPILLS] + s->a[CODE_SGPR_SPILLS] != s->b[CODE_VGPR_SPILLS] + s->b[CODE_SGPR_SPILLS];
    for (int kind = 0; kind < ISA_KINDS; kind++) {
        const bool saves =
            kind == ISA_VECTOR || kind == ISA_CROSS_LANE || kind == ISA_SCRATCH_LOAD || kind == ISA_SCRATCH_STORE;
        const bool steers = kind == ISA_WAIT || kind == ISA_OTHER || kind == ISA_SCALAR || kind == ISA_BRANCH ||
                            kind == ISA_SCALAR_MEMORY; /* arguments are loaded separately or together */
        const double a = work_of(s, 0, kind), b = work_of(s, 1, kind);
        if (!steers && !(spills && saves) && fabs(b - a) > 0.1 * fmax(a, b) + 1)
            return false;
    }
    return true;
}

/* Describes moved waits, and longer or shorter lifetimes. */
static void order(const struct code_signs *s, const char *why)
{
    const double a = s->a[CODE_LOOP_TRIPS], b = s->b[CODE_LOOP_TRIPS];
    text_add(s->text, why);
    if (fabs(b - a) > 0.05 * a)
        text_add(s->text, (b > a) != s->is_mirrored ? "fewer loads at a time, " : "more loads at a time, ");
    if (s->in->count[ISA_DUAL] != s->out->count[ISA_DUAL])
        codediff_from_to(s, "dual issue instructions", codediff_per_pass(s, s->in->count[ISA_DUAL], 0),
                         codediff_per_pass(s, s->out->count[ISA_DUAL], 1));
}

const char codediff_in_another_order[] = "scheduling (the same instructions in another order): ";

/* Register copies that the allocator did not coalesce. If fewer values are live at once, a different order is the
 * cause, of the copies as well. */
bool codediff_extra_copies(const struct code_signs *s)
{
    static const enum isa_kind kinds[] = {ISA_VECTOR, ISA_PACKED, ISA_SCALAR};
    double a = 0, b = 0;
    if (!is_work_the_same(s))
        return false;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        a += codediff_per_pass(s, codediff_copies(s->pair, 0, kinds[k]), 0);
        b += codediff_per_pass(s, codediff_copies(s->pair, 1, kinds[k]), 1);
    }
    const bool moved = codediff_is_rescheduled(s->pair, s->arena);
    if (moved && s->b[CODE_LIVE] < s->a[CODE_LIVE] * LIVE_FEWER)
        return false;
    if (!(b > a * COPIES_MORE + (moved ? codediff_issued(s->in) * COPIES_OF_ORDER : COPIES_ANY)))
        return false;
    const double files_a = codediff_per_pass(s, codediff_named(s->pair, 0, "accvgpr"), 0),
                 files_b = codediff_per_pass(s, codediff_named(s->pair, 1, "accvgpr"), 1);
    codediff_instead(s,
                     files_b - files_a > (b - a) / 2 ? "copies of accumulators between AGPRs and VGPRs"
                                                     : "copies between registers",
                     a, b);
    return true;
}

/* Returns the next instruction of the hot loop that does not wait, or NULL. */
static const struct isa_instruction *next_of(const struct code_pair *pair, int side, size_t *at, bool whole)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    while (*at < isa->instruction_count) {
        const struct isa_instruction *in = &isa->instructions[(*at)++];
        if ((whole || in->loop == pair->hot[side]) && in->kind != ISA_WAIT && in->kind != ISA_OTHER)
            return in;
    }
    return NULL;
}

/* Returns the length of the operands without the cache policy. */
static size_t operands_of(const struct isa_instruction *in)
{
    const char *at = *in->policy ? strstr(in->operands, in->policy) : NULL;
    return at ? (size_t)(at - in->operands) - (at > in->operands) : strlen(in->operands);
}

bool codediff_is_alike(const struct code_pair *pair, bool whole)
{
    const struct isa_instruction *a, *b;
    size_t at[2] = {0, 0};
    do {
        a = next_of(pair, 0, &at[0], whole);
        b = next_of(pair, 1, &at[1], whole);
    } while (a && b && !strcmp(a->mnemonic, b->mnemonic) &&
             (a->kind == ISA_BRANCH ||
              (operands_of(a) == operands_of(b) && !memcmp(a->operands, b->operands, operands_of(a)))));
    return !a && !b;
}

static bool reordered(const struct code_signs *s)
{
    const double *before = s->is_mirrored ? s->b : s->a, *after = s->is_mirrored ? s->a : s->b;
    const bool waits =
        s->a[CODE_LOOP_WAITS] != s->b[CODE_LOOP_WAITS] || s->a[CODE_LOOP_DRAINS] != s->b[CODE_LOOP_DRAINS];
    const bool saves = after[CODE_WAVES] > before[CODE_WAVES] && after[CODE_VGPRS] < before[CODE_VGPRS];
    /* More registers in about the same order, although no more values are live at once: the scheduler is not the
     * cause. */
    const double more = s->b[CODE_VGPRS] + s->b[CODE_AGPRS] - s->a[CODE_VGPRS] - s->a[CODE_AGPRS];
    const bool reallocated = more > 0 && !(s->b[CODE_LIVE] - s->a[CODE_LIVE] >= more / 2) &&
                             !(order_kept(s->pair, true, s->arena) < ORDER_KEPT_AT_ALL);
    order(s, waits && codediff_is_alike(s->pair, false) ? "waits (all else in the loop is the same): "
             : reallocated                              ? "register allocation: "
             : saves ? "scheduling (the same instructions in another order, for more waves: launch bounds, waves per "
                       "SIMD, or a flag): "
                     : codediff_in_another_order);
    return true;
}

bool codediff_rescheduled(const struct code_signs *s)
{
    return is_work_the_same(s) && codediff_is_rescheduled(s->pair, s->arena) && reordered(s);
}

/* Does not apply if the compiler still knows that arguments do not overlap. */
bool codediff_behind_stores(const struct code_signs *s)
{
    if (!is_work_the_same(s) || codediff_promises(s->pair) || !codediff_stay_behind(s))
        return false;
    order(s, "");
    return true;
}

bool codediff_scheduling(const struct code_signs *s)
{
    return is_work_the_same(s) && reordered(s);
}
