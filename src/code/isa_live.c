/* SPDX-License-Identifier: MIT
 *
 * Live vector registers: how many hold a value that is read later. The textbook backward data flow over basic blocks to
 * a fixed point. A write ends the old value in all lanes, as if none were off.
 */

#include "isa_internal.h"

#define WORDS (ISA_VECTORS / 64)
#define MAX_PASSES 64u

struct set {
    uint64_t words[WORDS];
};

/* The sets of a block. */
struct flow {
    struct set read, written; /* before it is written; at all */
    struct set in;
};

static void put(struct set *set, const struct isa_operand *operand, bool is_live)
{
    for (unsigned bit = operand->first; operand->kind == OPERAND_VECTOR && bit < operand->first + 0u + operand->count;
         bit++) {
        if (is_live)
            set->words[bit / 64] |= UINT64_C(1) << bit % 64;
        else
            set->words[bit / 64] &= ~(UINT64_C(1) << bit % 64);
    }
}

/* Removes the registers that an instruction overwrites from a set of live registers, or adds them to a set of written
 * ones. */
static void put_written(struct set *set, const struct isa_instruction *in, bool is_live)
{
    for (; in; in = in->dual)
        for (unsigned o = 0; o < in->destinations && !in->reads_destination; o++)
            put(set, &in->operand[o], is_live);
}

/* Converts the registers live after an instruction to those live before it. */
static void step_back(struct set *live, const struct isa_instruction *in)
{
    put_written(live, in, false);
    for (; in; in = in->dual)
        for (unsigned o = in->reads_destination ? 0 : in->destinations; o < in->operand_count; o++)
            put(live, &in->operand[o], true);
}

static unsigned count_of(const struct set *set, unsigned file)
{
    unsigned count = 0;
    for (size_t k = 0; k < WORDS / 2; k++)
        count += (unsigned)__builtin_popcountll(set->words[file * (WORDS / 2) + k]);
    return count;
}

/* ---- numbers that propagate ---- */

static double largest(const struct isa_flow *flow, const struct isa_instruction *in)
{
    double most = 0;
    for (unsigned o = in->reads_destination ? 0 : in->destinations; o < in->operand_count; o++)
        for (unsigned r = 0; in->operand[o].kind == OPERAND_VECTOR && r < in->operand[o].count; r++)
            most = fmax(most, flow->of[in->operand[o].first + r]);
    return most;
}

double isa_flow_step(struct isa_flow *flow, const struct isa_instruction *in, double own, bool sum)
{
    const double numbers[] = {largest(flow, in), in->dual ? largest(flow, in->dual) : 0};
    for (int half = 0; half < 2 && in; half++, in = in->dual)
        for (unsigned o = 0; o < in->destinations; o++)
            for (unsigned r = 0; in->operand[o].kind == OPERAND_VECTOR && r < in->operand[o].count; r++)
                flow->of[in->operand[o].first + r] = sum ? numbers[half] + own : fmax(numbers[half], own);
    return fmax(numbers[0], numbers[1]);
}

/* ---- blocks ---- */

size_t isa_target_of(const struct isa_kernel *kernel, const struct isa_instruction *in)
{
    const size_t to = in->target ? isa_find(kernel->instructions, kernel->instruction_count, in->target) : SIZE_MAX;
    return to < kernel->instruction_count && kernel->instructions[to].address == in->target ? to : SIZE_MAX;
}

struct isa_blocks isa_blocks_find(const struct isa_kernel *kernel, struct arena *arena)
{
    struct isa_blocks blocks = {0};
    const size_t count = kernel->instruction_count;
    bool *starts = arena_array(arena, count + 1, sizeof(*starts));
    blocks.of = arena_array(arena, count + 1, sizeof(*blocks.of));
    starts[0] = true;
    for (size_t i = 0; i < count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        const size_t to = isa_target_of(kernel, in);
        if (to != SIZE_MAX)
            starts[to] = true;
        starts[i + 1] |= in->target || in->ends_block;
    }
    for (size_t i = 0; i < count; i++)
        blocks.count += starts[i];
    blocks.items = arena_array(arena, blocks.count, sizeof(*blocks.items));
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        at += starts[i] && i;
        if (starts[i])
            blocks.items[at].first = i;
        blocks.items[at].last = i + 1;
        blocks.of[i] = at;
    }
    for (size_t k = 0; k < blocks.count; k++) {
        const struct isa_instruction *last = &kernel->instructions[blocks.items[k].last - 1];
        const size_t to = isa_target_of(kernel, last);
        blocks.items[k].next[0] = !last->ends_block && k + 1 < blocks.count ? k + 1 : SIZE_MAX;
        blocks.items[k].next[1] = to != SIZE_MAX ? blocks.of[to] : SIZE_MAX;
    }
    return blocks;
}

static struct set live_behind(const struct flow *flows, const struct isa_block *block)
{
    struct set live = {0};
    for (unsigned n = 0; n < 2; n++)
        for (size_t w = 0; w < WORDS && block->next[n] != SIZE_MAX; w++)
            live.words[w] |= flows[block->next[n]].in.words[w];
    return live;
}

static bool pass(const struct isa_blocks *blocks, struct flow *flows)
{
    bool changed = false;
    for (size_t k = blocks->count; k-- > 0;) {
        struct flow *flow = &flows[k];
        const struct set behind = live_behind(flows, &blocks->items[k]);
        for (size_t w = 0; w < WORDS; w++) {
            const uint64_t in = flow->read.words[w] | (behind.words[w] & ~flow->written.words[w]);
            changed |= in != flow->in.words[w];
            flow->in.words[w] = in;
        }
    }
    return changed;
}

void isa_live_find(struct isa_live *live, const struct isa_kernel *kernel, struct arena *arena)
{
    SCOPED(arena_release) struct arena scratch = {0};
    *live = (struct isa_live){.vgprs = arena_array(arena, kernel->instruction_count + 1, sizeof(*live->vgprs)),
                              .agprs = arena_array(arena, kernel->instruction_count + 1, sizeof(*live->agprs))};
    if (!kernel->instruction_count)
        return;
    const struct isa_blocks blocks = isa_blocks_find(kernel, &scratch);
    struct flow *flows = arena_array(&scratch, blocks.count, sizeof(*flows));
    for (size_t k = 0; k < blocks.count; k++)
        for (size_t i = blocks.items[k].last; i-- > blocks.items[k].first;) {
            put_written(&flows[k].written, &kernel->instructions[i], true);
            step_back(&flows[k].read, &kernel->instructions[i]);
        }
    for (unsigned k = 0; k < MAX_PASSES && pass(&blocks, flows); k++)
        continue;
    for (size_t k = 0; k < blocks.count; k++) {
        struct set now = live_behind(flows, &blocks.items[k]);
        for (size_t i = blocks.items[k].last; i-- > blocks.items[k].first;) {
            step_back(&now, &kernel->instructions[i]);
            live->vgprs[i] = (uint16_t)count_of(&now, 0);
            live->agprs[i] = (uint16_t)count_of(&now, 1);
            const unsigned all = live->vgprs[i] + 0u + live->agprs[i];
            const unsigned most = live->vgprs[live->peak] + 0u + live->agprs[live->peak];
            if (all > most || (all == most && i < live->peak))
                live->peak = i;
        }
    }
}
