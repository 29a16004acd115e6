/* SPDX-License-Identifier: MIT
 *
 * Scalar registers whose contents the code determines: constants, the program counter, and sums of them.
 */

#include "isa_scalar.h"

bool scalars_value(uint64_t *value, const struct scalars *now, const struct isa_operand *operand, unsigned words)
{
    *value = operand->constant;
    if (operand->kind == OPERAND_CONSTANT)
        return true;
    if (operand->kind != OPERAND_SCALAR || operand->count < words)
        return false;
    *value = 0;
    for (unsigned k = words; k-- > 0;) {
        if (!now->known[operand->first + k])
            return false;
        *value = *value << 32 | now->value[operand->first + k];
    }
    return true;
}

bool scalars_meet(struct scalars *now, const struct scalars *other)
{
    const bool carry = other->carry_known && now->carry == other->carry;
    bool less = now->carry_known && !carry;
    now->carry_known &= carry;
    for (unsigned k = 0; k < SCALARS; k++) {
        const bool same = other->known[k] && now->value[k] == other->value[k];
        less |= now->known[k] && !same;
        now->known[k] &= same;
    }
    return less;
}

static unsigned scalars_in(const struct isa_operand *operand)
{
    return operand->kind == OPERAND_SCALAR ? operand->count : 0;
}

static void forget(struct scalars *now, const struct isa_operand *operand)
{
    for (unsigned k = 0; k < scalars_in(operand); k++)
        now->known[operand->first + k] = false;
}

static bool is_pc(const struct scalars *now, const struct isa_operand *operand)
{
    return operand->kind == OPERAND_SCALAR && now->is_pc[operand->first];
}

/* ---- instructions ---- */

enum operation { OTHER, GETPC, MOVE, ADD, ADD_CARRY, SUBTRACT, SUBTRACT_CARRY, ABSOLUTE, EXTEND };

static const struct {
    const char *names;
    enum operation operation;
    unsigned words;
    bool keeps_carry;
} operations[] = {
    {"s_getpc_b64 s_get_pc_i64", GETPC, 2, true},
    {"s_mov_b32 s_movk_i32", MOVE, 1, true},
    {"s_mov_b64", MOVE, 2, true},
    {"s_add_u32 s_add_i32 s_add_co_u32 s_add_co_i32", ADD, 1, false},
    {"s_add_nc_u64 s_add_u64", ADD, 2, true},
    {"s_addc_u32 s_add_co_ci_u32", ADD_CARRY, 1, false},
    {"s_sub_u32 s_sub_i32 s_sub_co_u32 s_sub_co_i32", SUBTRACT, 1, false},
    {"s_sub_nc_u64 s_sub_u64", SUBTRACT, 2, true},
    {"s_subb_u32 s_sub_co_ci_u32", SUBTRACT_CARRY, 1, false},
    {"s_abs_i32", ABSOLUTE, 1, false},
    {"s_sext_i32_i16", EXTEND, 1, true},
};

/* Computes the result; false: unknown. */
static bool compute(uint64_t *result, struct scalars *now, enum operation operation, const struct isa_instruction *in,
                    unsigned words)
{
    uint64_t a = 0, b = 0;
    const bool is_binary = operation >= ADD && operation <= SUBTRACT_CARRY;
    const bool takes_carry = operation == ADD_CARRY || operation == SUBTRACT_CARRY;
    if (!scalars_value(&a, now, isa_operand_at(in, 1), words) ||
        (is_binary && !scalars_value(&b, now, isa_operand_at(in, 2), words)) || (takes_carry && !now->carry_known))
        return false;
    const uint64_t carry = takes_carry && now->carry;
    const uint64_t low_a = a & UINT32_MAX, low_b = b & UINT32_MAX;
    switch (operation) {
    case ADD:
    case ADD_CARRY:
        *result = a + b + carry;
        now->carry = (low_a + low_b + carry) >> 32;
        return true;
    case SUBTRACT:
    case SUBTRACT_CARRY:
        *result = a - b - carry;
        now->carry = low_a < low_b + carry;
        return true;
    case ABSOLUTE:
        *result = low_a >> 31 ? 0 - low_a : low_a;
        return true;
    case EXTEND:
        *result = (uint64_t)(int64_t)(int16_t)(low_a & 0xffff);
        return true;
    default:
        *result = a;
        return true;
    }
}

/* Sets SCC, which is also the carry, after s_cmp_NAME. */
static void compare(struct scalars *now, const char *name, const struct isa_instruction *in)
{
    uint64_t a = 0, b = 0;
    now->carry_known = scalars_value(&a, now, isa_operand_at(in, 0), 1) &&
                       scalars_value(&b, now, isa_operand_at(in, 1), 1) &&
                       isa_starts(name, "ge_i32 gt_i32 le_i32 lt_i32 eq_i32 eq_u32 lg_i32 lg_u32");
    const int64_t first = (int32_t)(uint32_t)a, second = (int32_t)(uint32_t)b;
    const bool has_equal = text_starts(name, "ge") || text_starts(name, "le") || text_starts(name, "eq");
    now->carry = first == second  ? has_equal
                 : first > second ? text_starts(name, "g") || text_starts(name, "lg")
                                  : text_starts(name, "l");
}

enum scalars_change scalars_step(struct scalars *now, const struct isa_instruction *in)
{
    uint64_t result = 0;
    if (!in->operand_count || in->space == ISA_GLOBAL)
        return SCALARS_OTHER;
    size_t row = in->kind == ISA_SCALAR ? 0 : COUNT_OF(operations);
    while (row < COUNT_OF(operations) && !text_has_word(operations[row].names, " ", in->mnemonic, strlen(in->mnemonic)))
        row++;
    if (row == COUNT_OF(operations) && text_starts(in->mnemonic, "s_cmp_")) {
        compare(now, in->mnemonic + strlen("s_cmp_"), in);
        return SCALARS_OTHER;
    }
    if (row == COUNT_OF(operations)) {
        now->carry_known &= in->kind != ISA_SCALAR;
        forget(now, isa_operand_at(in, 0));
        if (*in->mnemonic == 'v') /* v_add_co_u32 v0, vcc, ... */
            forget(now, isa_operand_at(in, 1));
        return SCALARS_OTHER;
    }
    const bool is_getpc = operations[row].operation == GETPC;
    const bool is_known = is_getpc || compute(&result, now, operations[row].operation, in, operations[row].words);
    const bool is_of_pc = is_getpc || is_pc(now, isa_operand_at(in, 1)) || is_pc(now, isa_operand_at(in, 2));
    if (!operations[row].keeps_carry)
        now->carry_known = is_known;
    forget(now, isa_operand_at(in, 0));
    const struct isa_operand *to = isa_operand_at(in, 0);
    for (unsigned k = 0; is_known && k < scalars_in(to) && k < 2; k++) {
        now->known[to->first + k] = true;
        now->is_pc[to->first + k] = is_of_pc;
        now->value[to->first + k] = (uint32_t)((is_getpc ? in->address + in->size : result) >> 32 * k);
    }
    return is_getpc ? SCALARS_PC : is_known && is_of_pc ? SCALARS_FROM_PC : SCALARS_OTHER;
}
