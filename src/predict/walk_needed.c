/* SPDX-License-Identifier: MIT
 *
 * Which vector instructions and loads a walk must compute: those whose value can reach an address, a scalar register,
 * a mask or a branch. Of the others it only counts clocks; their results are not known.
 *
 * Backwards over the code, to a fixed point, two sets of vector registers before each instruction:
 *     any     somebody needs what lanes hold now
 *     here    ... and has it from an instruction that is executed under the EXEC of this place: a later one under the
 *             same EXEC, which writes the same lanes, takes it out
 * An instruction that writes EXEC makes `here` of what is before it the same as `any`.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

#define WORDS ((VECTORS + 63) / 64)

struct registers {
    uint64_t bits[WORDS];
};

struct needs {
    struct registers any, here;
};

struct search {
    struct walk_code *code;
    struct needs *before; /* of each operation */
    bool lds, memory;     /* loads of these are needed, and so is what is stored there */
    bool changed;
};

static bool has(const struct registers *set, const struct operand *operand)
{
    for (unsigned k = operand->first; operand->kind == OPERAND_VECTOR && k < operand->first + operand->count; k++)
        if (k < VECTORS && (set->bits[k / 64] >> k % 64 & 1))
            return true;
    return false;
}

static void put(struct registers *set, const struct operand *operand, bool in)
{
    for (unsigned k = operand->first; operand->kind == OPERAND_VECTOR && k < operand->first + operand->count; k++)
        if (k < VECTORS && in)
            set->bits[k / 64] |= UINT64_C(1) << k % 64;
        else if (k < VECTORS)
            set->bits[k / 64] &= ~(UINT64_C(1) << k % 64);
}

static void use(struct needs *needs, const struct operand *operand)
{
    put(&needs->any, operand, true);
    put(&needs->here, operand, true);
}

static void merge(struct registers *to, const struct registers *from)
{
    for (size_t k = 0; k < WORDS; k++)
        to->bits[k] |= from->bits[k];
}

/* ---- one instruction ---- */

/* Its only result is a vector register, in the lanes of EXEC. The mask that v_div_scale sets is for v_div_fmas. */
static bool is_plain(const struct op *op)
{
    const bool is_vector = op->class == WALK_VECTOR || op->class == WALK_TRANSCENDENTAL;
    return is_vector && op->execute && op->meaning && op->operand_count && op->operands[0].kind == OPERAND_VECTOR &&
           (op->sources_first == 1 || text_starts(op->in->mnemonic, "v_div_scale")) &&
           !text_starts(op->in->mnemonic, "v_cmp") && !text_starts(op->in->mnemonic, "v_writelane") &&
           !strstr(op->in->mnemonic, "swap");
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
    for (unsigned k = 0; k < op->operand_count && k < 2; k++)
        writes |= op->operands[k].kind == OPERAND_SCALAR && op->operands[k].first + op->operands[k].count > SCALAR_EXEC;
    return writes;
}

static bool jumps_anywhere(const struct op *op)
{
    return text_starts(op->in->mnemonic, "s_setpc") || text_starts(op->in->mnemonic, "s_swappc") ||
           text_starts(op->in->mnemonic, "s_call") || (op->class == WALK_BRANCH && op->target == NO_TARGET);
}

static bool indexes_registers(const struct op *op)
{
    return strstr(op->in->mnemonic, "gpr_idx") || strstr(op->in->mnemonic, "v_movrel") ||
           strstr(op->in->mnemonic, "set_vgpr_msb");
}

/* A result that `after` needs; its own needs are added by the caller. */
static bool takes_result(struct needs *before, const struct op *op, const struct needs *after)
{
    const bool needed = has(&after->here, &op->operands[0]);
    if (!writes_part(op))
        put(&before->here, &op->operands[0], false);
    return needed;
}

static void use_sources(struct needs *before, const struct op *op)
{
    const bool again = writes_part(op) || (op->meaning && op->meaning->flags & ADDS_TO_RESULT);
    for (unsigned k = again ? 0 : op->sources_first; k < op->operand_count; k++)
        use(before, &op->operands[k]);
}

static void pass_plain(struct needs *before, struct op *op, const struct needs *after)
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

static const struct operand *access_operand(const struct op *op, int number)
{
    static const struct operand none = {.kind = OPERAND_NONE};
    return number >= 0 && number < op->operand_count ? &op->operands[number] : &none;
}

static void pass_access(struct search *search, struct needs *before, struct op *op, const struct needs *after)
{
    const struct access *access = op->access;
    const bool lds = op->class == WALK_LDS, load = access->kind == ACCESS_LOAD;
    const bool lanes =
        access->kind == ACCESS_PERMUTE || access->kind == ACCESS_PERMUTE_BACK || access->kind == ACCESS_SWIZZLE;
    bool *loaded = lds ? &search->lds : &search->memory;
    const bool asked = access->destination >= 0 && !access->to_lds && takes_result(before, op, after);
    if (asked && !lanes && !*loaded)
        *loaded = search->changed = true;
    op->unneeded = load || lanes ? !asked && !access->to_lds : !*loaded;
    use(before, access_operand(op, access->address));
    use(before, access_operand(op, access->base));
    if (op->unneeded)
        return;
    use(before, access_operand(op, access->data));
    use(before, access_operand(op, access->data1));
    if (writes_part(op))
        use(before, &op->operands[0]);
}

static void pass(struct search *search, struct needs *before, struct op *op, const struct needs *after)
{
    *before = *after;
    if (writes_exec(op))
        before->here = before->any;
    if (is_plain(op)) {
        pass_plain(before, op, after);
    } else if (op->access && (op->class == WALK_LDS || op->class == WALK_LOAD || op->class == WALK_STORE ||
                              op->class == WALK_ATOMIC)) {
        pass_access(search, before, op, after);
    } else if (!op->execute && !op->second) { /* whatever its sources are, nothing is known of its result */
        if (op->operand_count && !writes_part(op))
            put(&before->here, &op->operands[0], false);
    } else {
        for (unsigned k = 0; k < op->operand_count; k++)
            use(before, &op->operands[k]);
        for (unsigned k = 0; op->second && k < op->second->operand_count; k++)
            use(before, &op->second->operands[k]);
    }
}

/* ---- all of them ---- */

static bool is_end(const struct op *op)
{
    return text_starts(op->in->mnemonic, "s_endpgm");
}

static void go_back(struct search *search)
{
    const struct walk_code *code = search->code;
    for (size_t k = code->count; k-- > 0;) {
        struct op *op = &code->ops[k];
        struct needs after = {0}, before;
        if (k + 1 < code->count && !is_end(op) && strcmp(op->in->mnemonic, "s_branch") != 0)
            after = search->before[k + 1];
        if (op->target < code->count) {
            merge(&after.any, &search->before[op->target].any);
            merge(&after.here, &search->before[op->target].here);
        }
        if (jumps_anywhere(op))
            memset(&after, 0xff, sizeof(after));
        pass(search, &before, op, &after);
        search->changed |= memcmp(&before, &search->before[k], sizeof(before)) != 0;
        search->before[k] = before;
    }
}

void needed_find(struct walk_code *code)
{
    struct search search = {.code = code, .changed = true};
    for (size_t k = 0; k < code->count; k++)
        if (indexes_registers(&code->ops[k]))
            return;
    search.before = calloc(code->count + 1, sizeof(*search.before));
    if (!search.before)
        arena_out_of_memory(code->count * sizeof(*search.before));
    while (search.changed) {
        search.changed = false;
        go_back(&search);
    }
    free(search.before);
}
