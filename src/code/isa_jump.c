/* SPDX-License-Identifier: MIT
 *
 * Resolves AMD's jumps and calls through registers. Compilers and programmers address code beyond the range of a branch
 * relative to the program counter: s_getpc, then additions of constants, then s_setpc or s_swappc. Known contents of
 * scalar registers are tracked in address order; at a label, a value is known if all paths agree.
 */

#include "isa_scalar.h"

/* s_getpc and its jump are a few instructions apart; states are stored only for labels this near. */
#define NEAR_INSTRUCTIONS 64u
#define MAX_PENDING 8u

/* Limit on the targets of one indirect jump. */
#define MAX_PLACES 64u

/* s[30:31], the return address of compiled functions. */
#define RETURN_PAIR 30u

/* The known values at a branch to a later label. */
struct pending {
    uint64_t label;
    struct scalars scalars;
};

/* A code address computed into a register pair. */
struct computed {
    unsigned pair;
    uint64_t address;
    size_t at; /* instruction that completed it */
};

struct follower {
    struct isa_listing *listing;
    struct scalars now;
    uint64_t *labels; /* targets of direct branches, sorted, with repetitions */
    size_t label_count, next_label;
    uint64_t *starts; /* of kernels and functions, sorted */
    size_t start_count;
    struct pending pending[MAX_PENDING];
    size_t pending_count;
    size_t last_getpc; /* instruction; SIZE_MAX: none */
    struct computed *computed;
    size_t computed_count;
    uint64_t return_pairs[2]; /* one bit per register pair that receives a call's return address */
    struct arena *arena;
};

/* ---- one instruction ---- */

/* A register pair that becomes a code address is a possible target. */
static void step(struct follower *follower, size_t at)
{
    const struct isa_listing *listing = follower->listing;
    const enum scalars_change change = scalars_step(&follower->now, &listing->items[at]);
    if (change == SCALARS_PC)
        follower->last_getpc = at;
    if (change != SCALARS_FROM_PC)
        return;
    uint64_t address = 0;
    const unsigned pair = isa_operand_at(&listing->items[at], 0)->first & ~1u;
    const struct isa_operand whole = {.kind = OPERAND_SCALAR, .first = (uint16_t)pair, .count = 2};
    if (!scalars_value(&address, &follower->now, &whole, 2) || !follower->now.is_pc[pair] ||
        !follower->now.is_pc[pair + 1] || address % 4)
        return;
    const size_t to = isa_find(listing->items, listing->count, address);
    if (to < listing->count && listing->items[to].address == address)
        ARENA_PUSH(follower->arena, follower->computed, follower->computed_count, (struct computed){pair, address, at});
}

/* ---- labels ---- */

/* `is_open`: the code before the label falls through to it. */
static void arrive(struct follower *follower, uint64_t address, bool is_open)
{
    size_t kept = 0, branches = 0, known = 0;
    struct scalars *now = &follower->now;
    while (follower->next_label < follower->label_count && follower->labels[follower->next_label] < address)
        follower->next_label++;
    for (; follower->next_label < follower->label_count && follower->labels[follower->next_label] == address;
         branches++)
        follower->next_label++;
    FOR_EACH(struct pending, pending, follower->pending, follower->pending_count) {
        if (pending->label == address && !known++ && !is_open)
            *now = pending->scalars;
        else if (pending->label == address)
            scalars_meet(now, &pending->scalars);
        else if (pending->label > address)
            follower->pending[kept++] = *pending;
    }
    follower->pending_count = kept;
    if (known < branches || (!is_open && !branches))
        *now = (struct scalars){0};
}

/* ---- all instructions ---- */

static void find_labels(struct follower *follower)
{
    const struct isa_listing *listing = follower->listing;
    const size_t count = COUNT_WHERE(in, listing->items, listing->count, in->target) + follower->start_count;
    uint64_t *labels = follower->labels = arena_array(follower->arena, count + 1, sizeof(*labels));
    for (size_t i = 0; i < listing->count; i++)
        if (listing->items[i].target)
            labels[follower->label_count++] = listing->items[i].target;
    for (size_t k = 0; k < follower->start_count; k++)
        labels[follower->label_count++] = follower->starts[k];
    if (follower->label_count)
        qsort(labels, follower->label_count, sizeof(*labels), isa_by_number);
}

static void follow(struct follower *follower)
{
    struct isa_listing *listing = follower->listing;
    bool is_open = false, is_dead = false;
    for (size_t i = 0; i < listing->count; i++) {
        struct isa_instruction *in = &listing->items[i];
        const size_t label = follower->next_label;
        arrive(follower, in->address, is_open);
        is_dead &= label == follower->next_label;
        in->is_indirect &= !is_dead;
        const struct isa_operand *first = isa_operand_at(in, 0), *last = isa_operand_at(in, in->operand_count - 1);
        if (in->is_call && first->kind == OPERAND_SCALAR && first->count == 2)
            follower->return_pairs[first->first / 2 / 64] |= UINT64_C(1) << first->first / 2 % 64;
        if (in->is_indirect && in->operand_count && !scalars_value(&in->target, &follower->now, last, 2))
            in->target = 0;
        /* Stores the known values for a nearby label. */
        const bool is_near = follower->last_getpc != SIZE_MAX && i - follower->last_getpc <= NEAR_INSTRUCTIONS;
        if (in->kind == ISA_BRANCH && in->target > in->address && is_near && follower->pending_count < MAX_PENDING)
            follower->pending[follower->pending_count++] = (struct pending){in->target, follower->now};
        /* A branch that is always taken: assemblers emit both forms of a jump, one of which never executes. */
        is_dead |= follower->now.carry_known &&
                   strcmp(in->mnemonic, follower->now.carry ? "s_cbranch_scc1" : "s_cbranch_scc0") == 0;
        is_open = !in->ends_block && !is_dead;
        if (in->is_call)
            follower->now = (struct scalars){0};
        else if (in->kind != ISA_BRANCH)
            step(follower, i);
    }
}

/* Adds the addresses from index `from` on that were computed into this pair before instruction `end`. */
static void add_jumps(struct follower *follower, struct isa_instruction *in, unsigned pair, size_t from, size_t end)
{
    struct isa_listing *listing = follower->listing;
    const size_t first = listing->jump_count;
    for (size_t k = from; k < follower->computed_count && follower->computed[k].at < end; k++) {
        size_t same = first;
        while (same < listing->jump_count && listing->jumps[same].to != follower->computed[k].address)
            same++;
        if (follower->computed[k].pair == pair && same == listing->jump_count && same - first < MAX_PLACES)
            ARENA_PUSH(follower->arena, listing->jumps, listing->jump_count,
                       (struct isa_jump){in->address, follower->computed[k].address});
    }
    if (listing->jump_count == first + 1) /* unambiguous */
        in->target = listing->jumps[--listing->jump_count].to;
}

/* Registers that hold one of several addresses, selected long before the jump, in the same kernel or function: the one
 * with instructions [first, end). */
static void jump_by_pair(struct follower *follower, struct isa_instruction *in, size_t first, size_t end)
{
    const struct isa_operand *last = isa_operand_at(in, in->operand_count - 1);
    const unsigned pair = last->first;
    if (last->kind != OPERAND_SCALAR || last->count != 2)
        return;
    if (!in->is_call && follower->return_pairs[pair / 2 / 64] >> pair / 2 % 64 & 1) {
        in->is_return = true;
        return;
    }
    add_jumps(follower, in, pair, ISA_BELOW(follower->computed, follower->computed_count, at, first), end);
}

/* Processes each kernel and function separately. */
static void jump_by_pairs(struct follower *follower)
{
    struct isa_listing *listing = follower->listing;
    size_t start = 0, first = 0;
    for (size_t i = 0; i < listing->count; i++) {
        for (; start < follower->start_count && follower->starts[start] <= listing->items[i].address; start++)
            first = i;
        if (!listing->items[i].is_indirect || listing->items[i].target)
            continue;
        const size_t end = start < follower->start_count
                               ? isa_find(listing->items, listing->count, follower->starts[start])
                               : listing->count;
        jump_by_pair(follower, &listing->items[i], first, end);
    }
}

size_t isa_jump_find(const struct isa_listing *listing, uint64_t from)
{
    return ISA_BELOW(listing->jumps, listing->jump_count, from, from);
}

void isa_jumps_find(struct isa_listing *listing, const struct codeobj *object, struct arena *arena)
{
    struct follower *follower = arena_alloc(arena, sizeof(*follower));
    listing->jumps = NULL;
    listing->jump_count = 0;
    if (!COUNT_WHERE(in, listing->items, listing->count, in->is_indirect))
        return;
    *follower = (struct follower){.listing = listing, .last_getpc = SIZE_MAX, .arena = arena};
    follower->return_pairs[0] = UINT64_C(1) << RETURN_PAIR / 2;
    /* Starts of kernels and functions, which can be entered from anywhere. */
    const size_t count = object->function_count + object->kernel_count;
    uint64_t *starts = follower->starts = arena_array(follower->arena, count + 1, sizeof(*starts));
    for (size_t k = 0; k < object->function_count; k++)
        starts[follower->start_count++] = object->functions[k].address;
    for (size_t k = 0; k < object->kernel_count; k++)
        starts[follower->start_count++] = object->kernels[k].code_address;
    if (count)
        qsort(starts, count, sizeof(*starts), isa_by_number);
    find_labels(follower);
    follow(follower);
    jump_by_pairs(follower);
}
