/* SPDX-License-Identifier: MIT
 *
 * Finds the vector instructions and loads that a walk must compute: those whose value can reach an address, a scalar
 * instruction, EXEC or a branch. The walk only counts clocks of the others, and their results are unknown.
 *
 * A backward data-flow analysis to a fixed point. The set before each instruction has the registers that an active
 * lane needs, and masks of compares, which may select between values that nothing needs. A write in the active lanes
 * kills the register. A lane that an instruction turns off continues where it is turned on again: at the next write
 * of EXEC that reads the saved or removed mask, otherwise at any write of EXEC.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_vector.h"

/* Scalar registers are numbered after the vector registers. */
#define REGISTERS (VECTORS + SCALARS)
#define WORDS ((REGISTERS + 63) / 64)

struct registers {
    uint64_t bits[WORDS];
};

#define NOWHERE NO_TARGET
#define ANYWHERE (SIZE_MAX - 1)

struct search {
    struct walk_code *code;
    struct registers *before;  /* before each operation */
    struct registers anywhere; /* before any operation that writes EXEC */
    struct registers lasting;  /* also read in inactive lanes */
    size_t *wakes;             /* where the lanes that the operation turns off are on again, or NOWHERE, ANYWHERE */
    bool lds, memory;          /* loads from these are needed, and so are stores to them */
    bool changed;
};

/* Returns the registers of an operand as a range of bits. */
static void find_bits(const struct isa_operand *operand, unsigned *first, unsigned *end)
{
    const bool is_scalar = operand->kind == OPERAND_SCALAR;
    const unsigned most = is_scalar ? REGISTERS : VECTORS;
    *first = operand->first + (is_scalar ? VECTORS : 0);
    *end = is_scalar || operand->kind == OPERAND_VECTOR ? *first + operand->count : 0;
    *end = *end < most ? *end : most;
}

static void put(struct registers *set, const struct isa_operand *operand, bool in)
{
    unsigned first, end;
    find_bits(operand, &first, &end);
    for (unsigned k = first; k < end; k++)
        if (in)
            set->bits[k / 64] |= UINT64_C(1) << k % 64;
        else
            set->bits[k / 64] &= ~(UINT64_C(1) << k % 64);
}

static void use(struct registers *before, const struct isa_operand *operand)
{
    put(before, operand, true);
}

static void merge(struct registers *to, const struct registers *from)
{
    for (size_t k = 0; k < WORDS; k++)
        to->bits[k] |= from->bits[k];
}

/* ---- one instruction ---- */

/* True if it writes a vector register in the lanes of EXEC. */
static bool writes_vector(const struct op *op)
{
    const bool is_vector = op->class == WALK_VECTOR || op->class == WALK_TRANSCENDENTAL;
    return is_vector && op->execute && op->meaning && op->operand_count && op->operands[0].kind == OPERAND_VECTOR &&
           !text_starts(op->in->mnemonic, "v_cmp") && !text_starts(op->in->mnemonic, "v_writelane") &&
           !strstr(op->in->mnemonic, "swap");
}

/* True if it overwrites a whole scalar register, independent of the old value. */
static bool writes_scalar(const struct op *op)
{
    return (op->class == WALK_SCALAR_LOAD || (op->class == WALK_SCALAR && op->meaning)) && op->sources_first == 1 &&
           op->operands[0].kind == OPERAND_SCALAR && !(op->meaning && op->meaning->flags & ADDS_TO_RESULT) &&
           !text_starts(op->in->mnemonic, "s_cm") && !text_starts(op->in->mnemonic, "s_bit") &&
           !text_starts(op->in->mnemonic, "s_fm");
}

/* True if it writes a vector register and nothing else. The mask that v_div_scale sets only serves v_div_fmas. */
static bool is_plain(const struct op *op)
{
    return writes_vector(op) && (op->sources_first == 1 || text_starts(op->in->mnemonic, "v_div_scale"));
}

static bool writes_part(const struct op *op)
{
    const struct modifiers *how = op->modifiers;
    return (how && (how->writes_part || how->move != MOVE_NONE)) ||
           (op->access && (op->access->high_half || op->access->low_half));
}

static bool writes_exec(const struct op *op)
{
    const char *name = op->in->mnemonic;
    bool writes = strstr(name, "saveexec") || strstr(name, "wrexec") || strstr(name, "cmpx");
    for (unsigned k = 0; k < op->operand_count && k < op->sources_first; k++)
        writes |= op->operands[k].kind == OPERAND_SCALAR && op->operands[k].first + op->operands[k].count > SCALAR_EXEC;
    return writes;
}

static bool jumps_anywhere(const struct op *op)
{
    return text_starts(op->in->mnemonic, "s_setpc") || text_starts(op->in->mnemonic, "s_swappc") ||
           text_starts(op->in->mnemonic, "s_call") || (op->class == WALK_BRANCH && op->target == NO_TARGET);
}

/* True if `after` needs a register of the result; the caller adds the sources. */
static bool takes_result(struct registers *before, const struct op *op, const struct registers *after)
{
    unsigned first, end;
    bool needed = false;
    find_bits(&op->operands[0], &first, &end);
    for (unsigned k = first; k < end && !needed; k++)
        needed = after->bits[k / 64] >> k % 64 & 1;
    if (!writes_part(op))
        put(before, &op->operands[0], false);
    if (op->sources_first > 1)
        put(before, &op->operands[1], false);
    return needed;
}

/* Adds VCC, which is an implicit operand. */
static void use_vcc(struct registers *before, const struct op *op)
{
    static const struct isa_operand vcc = {.kind = OPERAND_SCALAR, .first = SCALAR_VCC, .count = 2};
    const char *name = op->in->mnemonic;
    if (strstr(name, "vcc") || strstr(name, "div_fmas") || strstr(name, "cndmask") || op->second)
        use(before, &vcc);
}

static void use_sources(struct registers *before, const struct op *op)
{
    const bool again = writes_part(op) || (op->meaning && op->meaning->flags & ADDS_TO_RESULT);
    const bool is_pair = op->execute == packed_execute && op->meaning->detail != PACKED_MOV;
    for (unsigned k = again ? 0 : op->sources_first; k < op->operand_count; k++) {
        struct isa_operand operand = op->operands[k];
        const struct modifiers *how = op->modifiers;
        const unsigned source = k < op->sources_first ? 0 : k - op->sources_first;
        const bool low = how && how->op_sel >> source & 1, high = !how || how->op_sel_hi >> source & 1;
        /* both results take the same half, so only that one is needed */
        if (is_pair && k >= op->sources_first && operand.count == 2 && low == high) {
            operand.count = 1;
            operand.first = (uint16_t)(operand.first + low);
        }
        use(before, &operand);
    }
    use_vcc(before, op);
}

static void pass_plain(struct registers *before, struct op *op, const struct registers *after)
{
    struct op *second = op->second;
    const bool both = !second || is_plain(second);
    bool needed = !both;
    if (both)
        needed = takes_result(before, op, after);
    if (both && second)
        needed |= takes_result(before, second, after);
    op->unneeded = !needed;
    if (needed)
        use_sources(before, op);
    if (needed && second)
        use_sources(before, second);
}

static void pass_access(struct search *search, struct registers *before, struct op *op, const struct registers *after)
{
    const struct isa_access *access = op->access;
    const bool lds = op->class == WALK_LDS, load = access->kind == ACCESS_LOAD;
    const bool lanes =
        access->kind == ACCESS_PERMUTE || access->kind == ACCESS_PERMUTE_BACK || access->kind == ACCESS_SWIZZLE;
    bool *loaded = lds ? &search->lds : &search->memory;
    const bool asked = access->destination >= 0 && !access->to_lds && takes_result(before, op, after);
    if (asked && !lanes && !*loaded)
        *loaded = search->changed = true;
    op->unneeded = load || lanes ? !asked && !access->to_lds : !*loaded;
    use(before, operand_at(op, access->address));
    use(before, operand_at(op, access->base));
    use(before, operand_at(op, access->extra));
    if (op->unneeded)
        return;
    use(before, operand_at(op, access->data));
    use(before, operand_at(op, access->data1));
    if (writes_part(op))
        use(before, &op->operands[0]);
}

static void pass(struct search *search, struct registers *before, struct op *op, const struct registers *after)
{
    /* A compare that writes a mask and nothing else. */
    const bool is_compare = op->execute == compare_execute && text_starts(op->in->mnemonic, "v_cmp_") &&
                            op->sources_first == 1 && op->operands[0].kind == OPERAND_SCALAR &&
                            op->operands[0].first < SCALAR_EXEC - 1;
    *before = *after;
    if (is_plain(op) || is_compare) {
        pass_plain(before, op, after);
    } else if (op->access && (op->class == WALK_LDS || op->class == WALK_LOAD || op->class == WALK_STORE ||
                              op->class == WALK_ATOMIC)) {
        pass_access(search, before, op, after);
    } else if (writes_vector(op) && !op->second) { /* writes a mask as well */
        (void)takes_result(before, op, after);
        use_sources(before, op);
    } else if (!op->execute && !op->second) { /* its result is unknown whatever its sources are */
        if (op->operand_count && !writes_part(op))
            put(before, &op->operands[0], false);
    } else {
        const bool writes = writes_scalar(op);
        if (writes)
            put(before, &op->operands[0], false);
        for (unsigned k = writes; k < op->operand_count; k++)
            use(before, &op->operands[k]);
        use_vcc(before, op);
        for (unsigned k = 0; op->second && k < op->second->operand_count; k++)
            use(before, &op->second->operands[k]);
    }
}

/* ---- lanes that are off ---- */

static bool is_end(const struct op *op)
{
    return text_starts(op->in->mnemonic, "s_endpgm");
}

static bool overlap(const struct isa_operand *a, const struct isa_operand *b)
{
    return a->kind == OPERAND_SCALAR && b->kind == OPERAND_SCALAR && a->first < b->first + b->count &&
           b->first < a->first + a->count;
}

static bool reads(const struct op *op, const struct isa_operand *mask)
{
    bool reads = false;
    for (unsigned k = 1; k < op->operand_count; k++)
        reads |= overlap(&op->operands[k], mask);
    return reads;
}

/* Returns the mask that holds the lanes that `op` turns off: what it saves, or what it removes from EXEC. NULL:
 * unknown. */
static const struct isa_operand *mask_of(const struct op *op)
{
    const char *name = op->in->mnemonic;
    if (strstr(name, "saveexec"))
        return &op->operands[0];
    if (!text_starts(name, "s_andn2_b") && !text_starts(name, "s_and_not1_b") && !text_starts(name, "s_xor_b"))
        return NULL;
    for (unsigned k = 1; k < op->operand_count; k++)
        if (op->operands[k].kind == OPERAND_SCALAR && op->operands[k].first < SCALAR_EXEC)
            return &op->operands[k];
    return NULL;
}

/* Returns the mask of the lanes for the else branch: s_xor_b64 rest, exec, saved. */
static const struct isa_operand *rest_of(const struct op *op)
{
    static const struct isa_operand exec = {.kind = OPERAND_SCALAR, .first = SCALAR_EXEC, .count = 1};
    return text_starts(op->in->mnemonic, "s_xor_b") && reads(op, &exec) ? &op->operands[0] : NULL;
}

/* Returns where a wave with no active lane continues. Uniform branches are not taken, as both paths meet before
 * lanes return. */
static size_t next_without_lanes(const struct walk_code *code, size_t at)
{
    const struct op *op = &code->ops[at];
    const bool jumps = strcmp(op->in->mnemonic, "s_branch") == 0 || strcmp(op->in->mnemonic, "s_cbranch_execz") == 0;
    return jumps_anywhere(op) ? ANYWHERE : is_end(op) ? NOWHERE : jumps ? op->target : at + 1;
}

static size_t find_wake(const struct walk_code *code, size_t at)
{
    const struct op *op = &code->ops[at];
    if (!writes_exec(op) || text_starts(op->in->mnemonic, "s_or_"))
        return NOWHERE;
    const struct isa_operand *mask = mask_of(op), *rest = mask;
    size_t k = next_without_lanes(code, at);
    for (size_t steps = 0; mask && k < code->count && steps < code->count; steps++) {
        const struct op *later = &code->ops[k];
        const struct isa_operand *to = operand_at(later, 0);
        const bool is_read = reads(later, mask) || reads(later, rest);
        const bool is_written = overlap(to, mask) || overlap(to, rest);
        if (is_read && writes_exec(later))
            return k;
        if (is_read && !is_written && rest == mask && rest_of(later))
            rest = rest_of(later);
        else if (rest != mask && overlap(to, mask) && !reads(later, mask))
            mask = rest;
        else if (is_read != is_written && (is_written || to->kind == OPERAND_SCALAR))
            return ANYWHERE; /* copied elsewhere, or another region's mask */
        k = next_without_lanes(code, k);
    }
    return mask && k == NOWHERE ? NOWHERE : ANYWHERE;
}

/* ---- all of them ---- */

static void go_back(struct search *search)
{
    const struct walk_code *code = search->code;
    for (size_t k = code->count; k-- > 0;) {
        struct op *op = &code->ops[k];
        struct registers after = search->lasting, before;
        if (k + 1 < code->count && !is_end(op) && strcmp(op->in->mnemonic, "s_branch") != 0)
            merge(&after, &search->before[k + 1]);
        if (op->target < code->count)
            merge(&after, &search->before[op->target]);
        if (search->wakes[k] < code->count)
            merge(&after, &search->before[search->wakes[k]]);
        else if (search->wakes[k] == ANYWHERE)
            merge(&after, &search->anywhere);
        if (jumps_anywhere(op))
            memset(&after, 0xff, sizeof(after));
        pass(search, &before, op, &after);
        if (writes_exec(op))
            merge(&search->anywhere, &before);
        search->changed |= memcmp(&before, &search->before[k], sizeof(before)) != 0;
        search->before[k] = before;
    }
}

void needed_find(struct walk_code *code)
{
    struct search search = {.code = code, .changed = true};
    for (size_t k = 0; k < code->count; k++)
        if (strstr(code->ops[k].in->mnemonic, "gpr_idx") || strstr(code->ops[k].in->mnemonic, "v_movrel") ||
            strstr(code->ops[k].in->mnemonic, "set_vgpr_msb"))
            return;
    search.before = new_zeroed(code->count + 1, sizeof(*search.before));
    search.wakes = new_zeroed(code->count + 1, sizeof(*search.wakes));
    for (size_t k = 0; k < code->count; k++) {
        const struct op *op = &code->ops[k];
        const bool crosses = (strstr(op->in->mnemonic, "lane") && !strstr(op->in->mnemonic, "firstlane")) ||
                             (op->modifiers && op->modifiers->fetches_off);
        search.wakes[k] = find_wake(code, k);
        for (unsigned at = 0; crosses && at < op->operand_count; at++)
            if (op->operands[at].kind == OPERAND_VECTOR)
                put(&search.lasting, &op->operands[at], true);
    }
    while (search.changed) {
        search.changed = false;
        go_back(&search);
    }
    free(search.before);
    free(search.wakes);
}
