/* SPDX-License-Identifier: MIT
 *
 * Reads the sources and writes the results of each form of vector instruction.
 */
#include "walk_vector.h"

#include <math.h>
#include <string.h>

static const uint32_t zeros[LANES];

void nothing_execute(struct wave *wave, const struct op *op)
{
    (void)wave, (void)op;
}

/* ---- one function for all lanes ---- */

void lanes_execute(struct wave *wave, const struct op *op)
{
    const struct meaning *meaning = op->meaning;
    struct values sources[3];
    const uint32_t *lanes[3] = {zeros, zeros, zeros};
    uint32_t result[LANES];
    uint64_t known = UINT64_MAX;
    for (unsigned k = 0; k < meaning->sources; k++) {
        const bool again = (meaning->flags & ADDS_TO_RESULT) && k + 1 == meaning->sources;
        vector_source(&sources[k], wave, op, again ? 0 : op->sources_first + k, 0);
        lanes[k] = sources[k].lanes;
        known &= sources[k].known;
    }
    if (!(known & wave->exec)) {
        vector_set_op(wave, op, 0, zeros, 0);
        return;
    }
    meaning->lanes(result, lanes[0], lanes[1], lanes[2]);
    vector_set_op(wave, op, 0, result, known);
}

/* ---- 64 bits ---- */

struct wide_source {
    struct values low, high;
    bool wide;
};

static void wide_get(struct wide_source *source, const struct wave *wave, const struct op *op, unsigned number,
                     bool wide)
{
    const struct isa_operand *operand = &op->operands[number];
    source->wide = wide;
    vector_get(&source->low, wave, operand, 0);
    if (wide)
        vector_get(&source->high, wave, operand, 1);
    struct values *top = wide ? &source->high : &source->low;
    if (!(op->meaning->flags & IS_FLOAT) || (!operand->negates && !operand->absolute))
        return;
    for (unsigned k = 0; k < LANES; k++) {
        const uint32_t value = operand->absolute ? top->lanes[k] & INT32_MAX : top->lanes[k];
        top->own[k] = operand->negates ? value ^ UINT32_C(0x80000000) : value;
    }
    top->lanes = top->own;
}

static uint64_t wide_lane(const struct wide_source *source, unsigned lane)
{
    return source->low.lanes[lane] | (source->wide ? (uint64_t)source->high.lanes[lane] << 32 : 0);
}

/* Lanes whose low and high half of the result are known. A right shift by 32 or more does not need the low half. */
static void wide_known(uint64_t known[2], const struct meaning *meaning, const struct wide_source *sources)
{
    uint64_t low = UINT64_MAX, high = UINT64_MAX, narrow = UINT64_MAX;
    for (unsigned k = 0; k < meaning->sources; k++) {
        if (sources[k].wide) {
            low &= sources[k].low.known;
            high &= sources[k].high.known;
        } else {
            narrow &= sources[k].low.known;
        }
    }
    known[0] = known[1] = low & high & narrow;
    if (meaning->halves == HALVES_UP)
        known[0] = low & narrow;
    if (meaning->halves != HALVES_DOWN)
        return;
    known[1] = high & narrow;
    for (unsigned k = 0; k < LANES; k++)
        if ((known[1] >> k & 1) && (sources[0].low.lanes[k] & 63) >= 32)
            known[0] |= UINT64_C(1) << k;
}

/* A result inherits the buffer of the pointer that it derives from. */
static uint8_t origin_of(const struct wave *wave, const struct isa_operand *operand)
{
    if (operand->kind == OPERAND_VECTOR && operand->first < wave->code->vectors && wave->origin[operand->first])
        return wave->origin[operand->first];
    uint64_t address, known;
    if (operand->kind == OPERAND_SCALAR) {
        scalar_get64(wave, operand, &address, &known);
    } else {
        struct values low, high;
        const unsigned lane = wave->exec ? (unsigned)__builtin_ctzll(wave->exec) : 0;
        vector_get(&low, wave, operand, 0);
        vector_get(&high, wave, operand, 1);
        address = low.lanes[lane] | (uint64_t)high.lanes[lane] << 32;
        known = low.known & high.known & wave->exec ? UINT64_MAX : 0;
    }
    const size_t buffer = known == UINT64_MAX ? memory_buffer(&wave->group->walker->memory, address) : NO_BUFFER;
    return buffer == NO_BUFFER || buffer >= UINT8_MAX - 1 ? 0 : (uint8_t)(buffer + 1);
}

void wide_execute(struct wave *wave, const struct op *op)
{
    const struct meaning *meaning = op->meaning;
    struct wide_source sources[3];
    uint32_t low[LANES], high[LANES];
    uint64_t known[2];
    uint8_t origin = 0;
    for (unsigned k = 0; k < meaning->sources; k++) {
        const bool again = (meaning->flags & ADDS_TO_RESULT) && k + 1 == meaning->sources;
        wide_get(&sources[k], wave, op, again ? 0 : op->sources_first + k,
                 meaning->flags & (unsigned)SOURCE0_WIDE << k);
    }
    wide_known(known, meaning, sources);
    for (unsigned k = meaning->sources; k < 3; k++)
        sources[k] = (struct wide_source){.low.lanes = zeros, .wide = false};
    for (unsigned k = 0; k < LANES; k++) {
        const uint64_t result =
            meaning->wide(wide_lane(&sources[0], k), wide_lane(&sources[1], k), wide_lane(&sources[2], k));
        low[k] = (uint32_t)result;
        high[k] = (uint32_t)(result >> 32);
    }
    if (meaning->halves == HALVES_UP && meaning->sources == 3 && (~known[0] & wave->exec)) {
        origin = origin_of(wave, &op->operands[op->sources_first + 2]);
        origin = origin ? origin : origin_of(wave, &op->operands[op->sources_first]);
    }
    vector_set(wave, &op->operands[0], 0, low, known[0]);
    if (meaning->flags & RESULT_WIDE)
        vector_set(wave, &op->operands[0], 1, high, known[1]);
    if (origin && op->operands[0].kind == OPERAND_VECTOR && op->operands[0].first < wave->code->vectors)
        wave->origin[op->operands[0].first] = origin;
}

/* ---- carries, products of 64 bits ---- */

/* v_add_co_u32 d, carry, a, b [, carry-in] */
void carry_execute(struct wave *wave, const struct op *op)
{
    struct values a, b;
    uint32_t result[LANES];
    uint64_t carry_in = 0, carry_known = UINT64_MAX, out = 0;
    const unsigned how = op->meaning->detail;
    vector_source(&a, wave, op, 2, 0);
    vector_source(&b, wave, op, 3, 0);
    if (how & CARRY_IN)
        mask_get(wave, &op->operands[4], &carry_in, &carry_known);
    for (unsigned k = 0; k < LANES; k++) {
        const uint64_t x = a.lanes[k], y = b.lanes[k], c = carry_in >> k & 1;
        const unsigned kind = how & ~(unsigned)CARRY_IN;
        const uint64_t sum = kind == CARRY_ADD ? x + y + c : kind == CARRY_SUB ? x - y - c : y - x - c;
        result[k] = (uint32_t)sum;
        out |= (sum >> 32 & 1) << k;
    }
    const uint64_t known = a.known & b.known & carry_known;
    uint8_t origin = 0;
    if (~known & wave->exec) {
        for (unsigned k = 2; k < 4 && !origin; k++)
            if (op->operands[k].kind == OPERAND_VECTOR && op->operands[k].first < wave->code->vectors)
                origin = wave->origin[op->operands[k].first];
    }
    vector_set_op(wave, op, 0, result, known);
    if (origin && op->operands[0].kind == OPERAND_VECTOR && op->operands[0].first < wave->code->vectors)
        wave->origin[op->operands[0].first] = origin;
    mask_set(wave, &op->operands[1], out & wave->exec, known | ~wave->exec);
}

/* d = a * b + c; the low half does not depend on the high half of c. */
void mad64_execute(struct wave *wave, const struct op *op)
{
    struct values a, b, low_in, high_in;
    uint32_t low[LANES], high[LANES];
    vector_get(&a, wave, &op->operands[2], 0);
    vector_get(&b, wave, &op->operands[3], 0);
    vector_get(&low_in, wave, &op->operands[4], 0);
    vector_get(&high_in, wave, &op->operands[4], 1);
    for (unsigned k = 0; k < LANES; k++) {
        const uint64_t c = low_in.lanes[k] | (uint64_t)high_in.lanes[k] << 32;
        const uint64_t product = op->meaning->detail ? (uint64_t)((int64_t)(int32_t)a.lanes[k] * (int32_t)b.lanes[k])
                                                     : (uint64_t)a.lanes[k] * b.lanes[k];
        low[k] = (uint32_t)(product + c);
        high[k] = (uint32_t)((product + c) >> 32);
    }
    const uint64_t known = a.known & b.known & low_in.known;
    vector_set(wave, &op->operands[0], 0, low, known);
    vector_set(wave, &op->operands[0], 1, high, known & high_in.known);
    mask_set(wave, &op->operands[1], 0, 0);
}

/* For values far from the ends of the range it scales nothing and returns its first source. */
void div_scale_execute(struct wave *wave, const struct op *op)
{
    struct values low, high;
    vector_source(&low, wave, op, 2, 0);
    if (op->meaning->flags & RESULT_WIDE)
        vector_get(&high, wave, &op->operands[2], 1);
    const uint64_t known = low.known;
    vector_set(wave, &op->operands[0], 0, low.lanes, low.known);
    if (op->meaning->flags & RESULT_WIDE)
        vector_set(wave, &op->operands[0], 1, high.lanes, high.known);
    mask_set(wave, &op->operands[1], 0, known | ~wave->exec);
}

/* ---- lanes that choose, or see each other ---- */

/* v_cndmask_b32 d, a, b, mask; the default mask is VCC. */
void select_execute(struct wave *wave, const struct op *op)
{
    static const struct isa_operand vcc = {.kind = OPERAND_SCALAR, .first = SCALAR_VCC, .count = 2};
    struct values a, b;
    uint64_t mask, mask_known, same = 0;
    uint32_t result[LANES];
    vector_source(&a, wave, op, 1, 0);
    vector_source(&b, wave, op, 2, 0);
    mask_get(wave, op->operand_count > 3 ? &op->operands[3] : &vcc, &mask, &mask_known);
    for (unsigned k = 0; k < LANES; k++) {
        result[k] = mask >> k & 1 ? b.lanes[k] : a.lanes[k];
        same |= (uint64_t)(a.lanes[k] == b.lanes[k]) << k;
    }
    const uint64_t chosen = (mask & b.known) | (~mask & a.known);
    vector_set_op(wave, op, 0, result, (mask_known & chosen) | (~mask_known & a.known & b.known & same));
}

void first_lane_execute(struct wave *wave, const struct op *op)
{
    struct values a;
    const unsigned lane = wave->exec ? (unsigned)__builtin_ctzll(wave->exec) : 0;
    guess_matters(wave);
    vector_get(&a, wave, &op->operands[1], 0);
    scalar_set(wave, &op->operands[0], 0, a.lanes[lane], a.known >> lane & 1 ? UINT32_MAX : 0);
}

void read_lane_execute(struct wave *wave, const struct op *op)
{
    struct values a;
    uint32_t lane, known;
    vector_get(&a, wave, &op->operands[1], 0);
    scalar_get(wave, &op->operands[2], 0, &lane, &known);
    lane &= wave->code->wave - 1;
    scalar_set(wave, &op->operands[0], 0, a.lanes[lane], known == UINT32_MAX && (a.known >> lane & 1) ? UINT32_MAX : 0);
}

/* Ignores EXEC. */
void write_lane_execute(struct wave *wave, const struct op *op)
{
    uint32_t value, known, lane, lane_known;
    const struct isa_operand *to = &op->operands[0];
    scalar_get(wave, &op->operands[1], 0, &value, &known);
    scalar_get(wave, &op->operands[2], 0, &lane, &lane_known);
    if (to->kind != OPERAND_VECTOR || to->first >= wave->code->vectors)
        return;
    if (lane_known != UINT32_MAX) {
        wave->v_known[to->first] = 0;
        return;
    }
    lane &= wave->code->wave - 1;
    const uint64_t bit = UINT64_C(1) << lane;
    wave->v[to->first][lane] = value;
    wave->v_known[to->first] = known == UINT32_MAX ? wave->v_known[to->first] | bit : wave->v_known[to->first] & ~bit;
}

/* Counts the mask bits below the lane, in the low or high half of the mask. */
void mbcnt_execute(struct wave *wave, const struct op *op)
{
    struct values mask, add;
    uint32_t result[LANES];
    const unsigned from = op->meaning->detail;
    vector_source(&mask, wave, op, 1, 0);
    vector_source(&add, wave, op, 2, 0);
    for (unsigned k = 0; k < LANES; k++) {
        const uint32_t below = k < from ? 0 : k - from >= 32 ? UINT32_MAX : (1u << (k - from)) - 1;
        result[k] = (uint32_t)__builtin_popcount(mask.lanes[k] & below) + add.lanes[k];
    }
    vector_set_op(wave, op, 0, result, mask.known & add.known);
}

void swap_execute(struct wave *wave, const struct op *op)
{
    struct values a, b;
    vector_get(&a, wave, &op->operands[0], 0);
    vector_get(&b, wave, &op->operands[1], 0);
    uint32_t kept[LANES];
    memcpy(kept, a.lanes, sizeof(kept));
    const uint64_t known = a.known;
    vector_set(wave, &op->operands[0], 0, b.lanes, b.known);
    vector_set(wave, &op->operands[1], 0, kept, known);
}

/* v_permlane16: reads the lane of its row that 4 bits of two scalars name; x16: the same in the adjacent row; 64:
 * the lane in the other half of the wave. */
void permlane_execute(struct wave *wave, const struct op *op)
{
    struct values a;
    uint32_t result[LANES], low = 0, high = 0, low_known = UINT32_MAX, high_known = UINT32_MAX;
    uint64_t known = 0;
    const unsigned how = op->meaning->detail;
    vector_get(&a, wave, &op->operands[1], 0);
    if (how != 64) {
        scalar_get(wave, &op->operands[2], 0, &low, &low_known);
        scalar_get(wave, &op->operands[3], 0, &high, &high_known);
    }
    for (unsigned k = 0; k < LANES; k++) {
        const unsigned pick = (k & 8 ? high : low) >> 4 * (k & 7) & 15;
        const unsigned from = how == 64 ? k ^ 32 : ((k & ~15u) | pick) ^ how;
        result[k] = a.lanes[from];
        known |= (a.known >> from & 1) << k;
    }
    vector_set(wave, &op->operands[0], 0, result, low_known == UINT32_MAX && high_known == UINT32_MAX ? known : 0);
}

/* v_permlane32_swap: swaps the upper rows of the first register with the lower rows of the second. */
void lane_swap_execute(struct wave *wave, const struct op *op)
{
    struct values a, b;
    const unsigned step = op->meaning->detail;
    uint32_t first[LANES], second[LANES];
    uint64_t first_known = 0, second_known = 0;
    vector_get(&a, wave, &op->operands[0], 0);
    vector_get(&b, wave, &op->operands[1], 0);
    for (unsigned k = 0; k < LANES; k++) {
        const bool upper = k & step;
        first[k] = upper ? b.lanes[k ^ step] : a.lanes[k];
        second[k] = upper ? b.lanes[k] : a.lanes[k ^ step];
        first_known |= ((upper ? b.known >> (k ^ step) : a.known >> k) & 1) << k;
        second_known |= ((upper ? b.known >> k : a.known >> (k ^ step)) & 1) << k;
    }
    vector_set(wave, &op->operands[0], 0, first, first_known);
    vector_set(wave, &op->operands[1], 0, second, second_known);
}

/* v_bitop3_b32: looks up each bit in a table of eight, indexed by the bits of the three sources. */
void bits_execute(struct wave *wave, const struct op *op)
{
    struct values a, b, c;
    uint32_t result[LANES] = {0};
    const unsigned table = (unsigned)isa_modifier(op->in, "bitop3");
    vector_get(&a, wave, &op->operands[1], 0);
    vector_get(&b, wave, &op->operands[2], 0);
    vector_get(&c, wave, &op->operands[3], 0);
    for (unsigned row = 0; row < 8; row++)
        for (unsigned k = 0; k < LANES && (table >> row & 1); k++)
            result[k] |= (row & 4 ? a.lanes[k] : ~a.lanes[k]) & (row & 2 ? b.lanes[k] : ~b.lanes[k]) &
                         (row & 1 ? c.lanes[k] : ~c.lanes[k]);
    vector_set(wave, &op->operands[0], 0, result, a.known & b.known & c.known);
}

/* ---- two f32 in one ---- */

static void packed_source(struct values *values, const struct wave *wave, const struct op *op, unsigned number,
                          unsigned half)
{
    static const struct modifiers usual = {.op_sel_hi = 7};
    const struct modifiers *how = op->modifiers ? op->modifiers : &usual;
    const unsigned source = number - 1;
    const unsigned part = (unsigned)(half ? how->op_sel_hi : how->op_sel) >> source & 1;
    const struct isa_operand *operand = &op->operands[number];
    vector_get(values, wave, operand, operand->kind == OPERAND_CONSTANT ? 0 : part);
    if (!((half ? how->neg_hi : how->neg_lo) >> source & 1))
        return;
    for (unsigned k = 0; k < LANES; k++)
        values->own[k] = values->lanes[k] ^ UINT32_C(0x80000000);
    values->lanes = values->own;
}

void packed_execute(struct wave *wave, const struct op *op)
{
    const unsigned how = op->meaning->detail;
    uint32_t result[2][LANES];
    uint64_t known[2];
    for (unsigned half = 0; half < 2; half++) {
        struct values a, b, c = {.lanes = zeros, .known = UINT64_MAX};
        if (how == PACKED_MOV) { /* each half has its own source */
            const unsigned select = op->modifiers ? (unsigned)op->modifiers->op_sel >> half & 1 : half;
            vector_get(&a, wave, &op->operands[1 + half], select);
            memcpy(result[half], a.lanes, sizeof(result[half]));
            known[half] = a.known;
            continue;
        }
        packed_source(&a, wave, op, 1, half);
        packed_source(&b, wave, op, 2, half);
        if (how == PACKED_FMA)
            packed_source(&c, wave, op, 3, half);
        known[half] = a.known & b.known & c.known;
        for (unsigned k = 0; k < LANES && (known[half] & wave->exec); k++)
            result[half][k] =
                bits_of(how == PACKED_ADD   ? float_of(a.lanes[k]) + float_of(b.lanes[k])
                        : how == PACKED_MUL ? float_of(a.lanes[k]) * float_of(b.lanes[k])
                                            : (float)((double)float_of(a.lanes[k]) * (double)float_of(b.lanes[k]) +
                                                      (double)float_of(c.lanes[k])));
    }
    vector_set(wave, &op->operands[0], 0, known[0] & wave->exec ? result[0] : zeros, known[0]);
    vector_set(wave, &op->operands[0], 1, known[1] & wave->exec ? result[1] : zeros, known[1]);
}
