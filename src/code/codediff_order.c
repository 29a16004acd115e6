/* SPDX-License-Identifier: MIT
 *
 * Why the same instructions stand in another order. What a store may overlap moves loads behind stores and leaves code
 * without stores nearly as it was; another scheduler reorders that as well. How much of such code kept its order is
 * counted by neighbours: pairs of instructions of which one follows the other in both builds.
 */
#include <stdlib.h>
#include <string.h>

#include "codediff_internal.h"
#include "rooftile/hash.h"

#define PAIRS_ENOUGH 10 /* fewer tell no share */
/* Of kernels of norm, moe and attention at least 0.87 of the pairs are kept without restrict, at most 0.83 without one
 * of the schedulers, for gfx90a, gfx942 and gfx1201. */
#define ORDER_KEPT 0.86

/* Where no alias is lost, allocators alone keep more than 0.93, schedulers less (of ten kernels on two targets). */
#define ORDER_KEPT_BY_ALLOCATOR 0.94

/* Another scheduler moves instructions further on average, or by this share of the kernel; another allocator does not
 * (of sixteen kernels on two targets). */
#define MOVED_FAR 10
#define MOVED_SHARE 0.03

struct neighbours {
    uint64_t *pairs;
    size_t count;
};

/* The operation: without its encoding, which follows from the registers, and without its partner in a VOPD. */
static uint64_t hash_of_name(const char *name)
{
    size_t length = strlen(name);
    if (length > 4 && (!strcmp(name + length - 4, "_e32") || !strcmp(name + length - 4, "_e64")))
        length -= 4;
    const size_t prefix = strlen(text_starts(name, "v_dual_") ? "v_dual_" : text_starts(name, "v_") ? "v_" : "");
    return hash_u64(name + prefix, length - prefix);
}

static void add_pair(struct neighbours *of, uint64_t *last, const char *name)
{
    const uint64_t hash = hash_of_name(name);
    if (*last)
        of->pairs[of->count++] = *last * 31 + hash;
    *last = hash;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Not what an allocator adds. */
static bool keeps_place(const struct isa_instruction *in)
{
    return in->kind != ISA_WAIT && in->kind != ISA_OTHER && in->kind != ISA_SCALAR && in->space != ISA_SCRATCH &&
           !isa_has_word(in->mnemonic, "mov accvgpr readlane writelane");
}

/* Of all stretches between branches and barriers; `with_stores`: also of those in which something is stored. */
static void find_neighbours(struct neighbours *of, const struct isa_kernel *isa, bool with_stores, struct arena *arena)
{
    size_t begin = 0; /* of the stretch, in pairs */
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
        if (!keeps_place(in))
            continue;
        add_pair(of, &last, in->mnemonic);
        if (*in->dual_mnemonic)
            add_pair(of, &last, in->dual_mnemonic);
    }
    qsort(of->pairs, of->count, sizeof(*of->pairs), by_value);
}

bool codediff_is_rescheduled(const struct code_pair *pair, struct arena *arena)
{
    struct neighbours a = {0}, b = {0};
    const bool with_stores = codediff_promises(pair) > 0;
    const double share = with_stores ? ORDER_KEPT_BY_ALLOCATOR : ORDER_KEPT;
    if (!pair->before->isa || !pair->after->isa)
        return false;
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
    return fewer >= PAIRS_ENOUGH && (double)kept < share * (double)fewer;
}

/* Places of instructions by name: the name's hash above, the place below. */
#define PLACE_BITS 20

static void find_places(struct neighbours *of, const struct isa_kernel *isa, struct arena *arena)
{
    const uint64_t below = (UINT64_C(1) << PLACE_BITS) - 1;
    of->pairs = arena_array(arena, 2 * isa->instruction_count + 1, sizeof(*of->pairs));
    for (size_t i = 0; i < isa->instruction_count && of->count < below - 1; i++) {
        const struct isa_instruction *in = &isa->instructions[i];
        const char *const names[] = {in->mnemonic, in->dual_mnemonic};
        for (size_t k = 0; k < COUNT_OF(names) && keeps_place(in); k++)
            if (*names[k] && !text_starts(names[k], "s_")) {
                of->pairs[of->count] = (hash_of_name(names[k]) & ~below) | of->count;
                of->count++;
            }
    }
    qsort(of->pairs, of->count, sizeof(*of->pairs), by_value);
}

bool codediff_has_moved(const struct code_pair *pair, struct arena *arena)
{
    struct neighbours a = {0}, b = {0};
    double sum = 0, count = 0;
    if (!pair->before->isa || !pair->after->isa)
        return false;
    find_places(&a, pair->before->isa, arena);
    find_places(&b, pair->after->isa, arena);
    for (size_t i = 0, j = 0; i < a.count && j < b.count;) {
        const uint64_t x = a.pairs[i] >> PLACE_BITS, y = b.pairs[j] >> PLACE_BITS;
        const uint64_t from = a.pairs[i] - (x << PLACE_BITS), to = b.pairs[j] - (y << PLACE_BITS);
        sum += x != y ? 0 : from > to ? (double)(from - to) : (double)(to - from);
        count += x == y;
        i += x <= y;
        j += y <= x;
    }
    return sum > MOVED_FAR * count || sum > MOVED_SHARE * count * (double)a.count;
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
