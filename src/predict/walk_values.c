/* SPDX-License-Identifier: MIT
 *
 * Operands: their values, which bits are known, and where results are written.
 */
#include <string.h>

#include "walk_internal.h"

/* ---- scalar registers ---- */

void scalar_get(const struct wave *wave, const struct isa_operand *operand, unsigned part, uint32_t *value,
                uint32_t *known)
{
    *value = *known = 0;
    if (operand->kind == OPERAND_CONSTANT) {
        *value = (uint32_t)(operand->constant >> 32 * (part & 1));
        *known = UINT32_MAX;
    } else if (operand->kind == OPERAND_SCALAR && operand->first + part < SCALARS) {
        *value = wave->s[operand->first + part];
        *known = wave->s_known[operand->first + part];
    } else if (operand->kind == OPERAND_OFF) {
        *known = UINT32_MAX; /* null reads as 0 */
    }
}

void scalar_get64(const struct wave *wave, const struct isa_operand *operand, uint64_t *value, uint64_t *known)
{
    uint32_t low, low_known, high, high_known;
    scalar_get(wave, operand, 0, &low, &low_known);
    scalar_get(wave, operand, 1, &high, &high_known);
    *value = low | (uint64_t)high << 32;
    *known = low_known | (uint64_t)high_known << 32;
}

/* EXEC is always known: a write of unknown bits decides them. */
void exec_set(struct wave *wave, uint64_t value, uint64_t known)
{
    uint64_t unknown = ~known & wave->lanes;
    if (wave->guessed && !unknown && !(wave->guessed_of & ~value)) {
        wave->guessed = NULL;
        wave->uncertain = 0;
    }
    if (unknown) {
        if (!wave->guessed) {
            wave->guessed = &wave->code->ops[wave->at ? wave->at - 1 : 0];
            wave->guessed_of = wave->exec;
        }
        wave->uncertain |= unknown;
        for (; unknown; unknown &= unknown - 1) {
            const uint64_t bit = unknown & (~unknown + 1);
            value = coin_toss(wave) ? value | bit : value & ~bit;
        }
    }
    wave->exec = value & wave->lanes;
    wave->s[SCALAR_EXEC] = (uint32_t)wave->exec;
    wave->s[SCALAR_EXEC + 1] = (uint32_t)(wave->exec >> 32);
    wave->s_known[SCALAR_EXEC] = wave->s_known[SCALAR_EXEC + 1] = UINT32_MAX;
}

void scalar_set(struct wave *wave, const struct isa_operand *operand, unsigned part, uint32_t value, uint32_t known)
{
    const unsigned at = operand->first + part;
    if (operand->kind != OPERAND_SCALAR || at >= SCALARS)
        return;
    if (at >= SCALAR_EXEC) {
        const unsigned shift = 32 * (at - SCALAR_EXEC);
        const uint64_t here = UINT64_C(0xffffffff) << shift;
        exec_set(wave, (wave->exec & ~here) | (uint64_t)value << shift, ~here | (uint64_t)known << shift);
        return;
    }
    wave->s[at] = value & known;
    wave->s_known[at] = known;
}

void scalar_set64(struct wave *wave, const struct isa_operand *operand, uint64_t value, uint64_t known)
{
    if (operand->kind == OPERAND_SCALAR && operand->first == SCALAR_EXEC) {
        exec_set(wave, value, known);
        return;
    }
    scalar_set(wave, operand, 0, (uint32_t)value, (uint32_t)known);
    scalar_set(wave, operand, 1, (uint32_t)(value >> 32), (uint32_t)(known >> 32));
}

/* One bit per lane: two registers, or one in waves of 32. */
void mask_get(const struct wave *wave, const struct isa_operand *operand, uint64_t *value, uint64_t *known)
{
    scalar_get64(wave, operand, value, known);
    if (wave->code->wave == 32) {
        *value &= UINT32_MAX;
        *known |= ~(uint64_t)UINT32_MAX;
    }
}

void mask_set(struct wave *wave, const struct isa_operand *operand, uint64_t value, uint64_t known)
{
    known &= ~wave->uncertain;
    if (wave->code->wave == 64)
        scalar_set64(wave, operand, value & known, known);
    else
        scalar_set(wave, operand, 0, (uint32_t)(value & known), (uint32_t)known);
}

/* ---- vector registers ---- */

void vector_get(struct values *values, const struct wave *wave, const struct isa_operand *operand, unsigned part)
{
    if (operand->kind == OPERAND_VECTOR && operand->first + part < wave->code->vectors) {
        values->lanes = wave->v[operand->first + part];
        values->known = wave->v_known[operand->first + part];
        return;
    }
    uint32_t value, known;
    scalar_get(wave, operand, part, &value, &known);
    for (unsigned k = 0; k < LANES; k++)
        values->own[k] = value;
    values->lanes = values->own;
    values->known = known == UINT32_MAX ? UINT64_MAX : 0;
}

void vector_set(struct wave *wave, const struct isa_operand *operand, unsigned part, const uint32_t *lanes,
                uint64_t known)
{
    const unsigned at = operand->first + part;
    if (operand->kind != OPERAND_VECTOR || at >= wave->code->vectors)
        return;
    uint32_t *to = wave->v[at];
    const uint64_t exec = wave->exec;
    wave->origin[at] = 0;
    if (exec == UINT64_MAX) {
        memmove(to, lanes, LANES * sizeof(*lanes)); /* source and destination may be the same register */
        wave->v_known[at] = known & ~wave->uncertain;
        return;
    }
    for (unsigned k = 0; k < LANES; k++)
        to[k] = exec >> k & 1 ? lanes[k] : to[k];
    wave->v_known[at] = ((wave->v_known[at] & ~exec) | (known & exec)) & ~wave->uncertain;
}

void vector_forget(struct wave *wave, const struct isa_operand *operand)
{
    for (unsigned k = operand->first; operand->kind == OPERAND_VECTOR && k < operand->first + operand->count; k++)
        if (k < wave->code->vectors) {
            wave->v_known[k] &= ~wave->exec;
            wave->origin[k] = 0;
        }
}

/* ---- DPP ("Data Parallel Primitives" of the ISA documents) ---- */

/* Returns the lane that `lane` reads, or LANES if there is none. */
static unsigned lane_source(unsigned lane, const struct modifiers *how, unsigned wave)
{
    const unsigned row = lane & ~15u, in_row = lane & 15;
    switch (how->move) {
    case MOVE_QUAD:
        return (lane & ~3u) + (how->pattern >> 2 * (lane & 3) & 3);
    case MOVE_SHL:
        return in_row + how->amount < 16 ? lane + how->amount : LANES;
    case MOVE_SHR:
        return in_row >= how->amount ? lane - how->amount : LANES;
    case MOVE_ROR:
        return row + ((in_row + 16 - how->amount) & 15);
    case MOVE_MIRROR:
        return row + 15 - in_row;
    case MOVE_HALF_MIRROR:
        return (lane & ~7u) + 7 - (lane & 7);
    case MOVE_BCAST15:
        return row ? row - 1 : LANES;
    case MOVE_BCAST31:
        return lane >= 32 ? 31 : LANES;
    case MOVE_SHARE:
        return row + how->amount;
    case MOVE_XMASK:
        return row + (in_row ^ how->amount);
    case MOVE_EIGHT:
        return (lane & ~7u) + (how->pattern >> 3 * (lane & 7) & 7);
    case MOVE_WAVE_SHL:
        return lane + 1 < wave ? lane + 1 : LANES;
    case MOVE_WAVE_SHR:
        return lane ? lane - 1 : LANES;
    default:
        return lane;
    }
}

static bool can_read(const struct wave *wave, const struct modifiers *how, unsigned lane)
{
    return lane < LANES && (how->fetches_off || (wave->exec >> lane & 1));
}

static void move_lanes(struct values *values, const struct modifiers *how, const struct wave *wave)
{
    uint32_t moved[LANES];
    uint64_t known = 0;
    for (unsigned k = 0; k < LANES; k++) {
        const unsigned from = lane_source(k, how, wave->code->wave);
        const bool there = can_read(wave, how, from);
        moved[k] = there ? values->lanes[from] : 0;
        known |= (uint64_t)(there ? values->known >> from & 1 : how->bound_zero) << k;
    }
    memcpy(values->own, moved, sizeof(moved));
    values->lanes = values->own;
    values->known = known;
}

/* ---- SDWA: a byte or word of a source ---- */

/* Selectors of struct modifiers: byte 0 to 3, word 0 and 1, all; SIGNED extends the sign. */
enum { SELECT_WORD = 4, SELECT_ALL = 6, SELECT_SIGNED = 8 };

static void select_part(struct values *values, unsigned select)
{
    const unsigned part = select & 7, bits = part < SELECT_WORD ? 8 : 16;
    const unsigned shift = part < SELECT_WORD ? 8 * part : 16 * (part - SELECT_WORD);
    if (part >= SELECT_ALL)
        return;
    for (unsigned k = 0; k < LANES; k++) {
        const uint32_t value = values->lanes[k] >> shift & ((1u << bits) - 1);
        const bool negative = (select & SELECT_SIGNED) && value >> (bits - 1);
        values->own[k] = negative ? value | UINT32_MAX << bits : value;
    }
    values->lanes = values->own;
}

void vector_source(struct values *values, const struct wave *wave, const struct op *op, unsigned number, unsigned part)
{
    const struct isa_operand *operand = &op->operands[number];
    const struct modifiers *how = op->modifiers;
    const unsigned source = number - op->sources_first;
    vector_get(values, wave, operand, part);
    if (how && how->move != MOVE_NONE && source == 0)
        move_lanes(values, how, wave);
    if (how && how->sdwa && source < 2)
        select_part(values, how->select[source]);
    if (!operand->negates && !operand->absolute)
        return;
    if (!(op->meaning && (op->meaning->flags & IS_FLOAT)) || (op->width == 64 && part == 0))
        return; /* the sign is in the high half */
    for (unsigned k = 0; k < LANES; k++) {
        const uint32_t value = operand->absolute ? values->lanes[k] & INT32_MAX : values->lanes[k];
        values->own[k] = operand->negates ? value ^ UINT32_C(0x80000000) : value;
    }
    values->lanes = values->own;
}

void vector_set_op(struct wave *wave, const struct op *op, unsigned part, const uint32_t *lanes, uint64_t known)
{
    const uint64_t exec = wave->exec;
    uint64_t written = UINT64_MAX;
    if (op->modifiers) {
        /* Without bound_ctrl, a lane whose source is missing or inactive keeps its destination. Row broadcasts write
         * only rows that have a row before them. */
        const struct modifiers *how = op->modifiers;
        for (unsigned k = 0; k < LANES && how->move != MOVE_NONE; k++)
            if (!(how->row_mask >> k / 16 & 1) || !(how->bank_mask >> k % 16 / 4 & 1) ||
                (!how->bound_zero && !can_read(wave, how, lane_source(k, how, wave->code->wave))))
                written &= ~(UINT64_C(1) << k);
        if (op->modifiers->writes_part)
            known = 0;
    }
    wave->exec &= written;
    vector_set(wave, &op->operands[0], part, lanes, known);
    wave->exec = exec;
}
