/* SPDX-License-Identifier: MIT
 *
 * Compares, fully described by their names ("v_cmp_lt_u32"), and branches.
 */
#include <string.h>

#include "walk_internal.h"

/* Relations between two values; a compare tests for a set of them. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static const struct {
    const char *name;
    uint8_t relation;
} relations[] = {
    {"f", 0},
    {"lt", LESS},
    {"eq", EQUAL},
    {"le", LESS | EQUAL},
    {"gt", GREATER},
    {"lg", LESS | GREATER},
    {"ge", GREATER | EQUAL},
    {"o", LESS | EQUAL | GREATER},
    {"u", UNORDERED},
    {"nge", LESS | UNORDERED},
    {"nlg", EQUAL | UNORDERED},
    {"ngt", LESS | EQUAL | UNORDERED},
    {"nle", GREATER | UNORDERED},
    {"neq", LESS | GREATER | UNORDERED},
    {"ne", LESS | GREATER | UNORDERED},
    {"nlt", GREATER | EQUAL | UNORDERED},
    {"t", LESS | EQUAL | GREATER | UNORDERED},
    {"tru", LESS | EQUAL | GREATER | UNORDERED},
};

enum { TYPE_U16, TYPE_I16, TYPE_U32, TYPE_I32, TYPE_U64, TYPE_I64, TYPE_F32, TYPE_F64, TYPE_F16, TYPE_CLASS };
static const char *const types[] = {"u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64", "f16"};

static const struct meaning compares = {.names = "", .flags = 0}, float_compares = {.names = "", .flags = IS_FLOAT};

static execute_fn scalar_compare_execute;

bool compare_decode(struct op *op, const char *name)
{
    const bool scalar = text_starts(name, "s_cmp");
    const char *at = scalar                         ? text_starts(name, "s_cmpk_") ? name + 7 : name + 6
                     : text_starts(name, "v_cmpx_") ? name + 7
                                                    : name + 6;
    if (!text_starts(name, "s_cmp_") && !text_starts(name, "s_cmpk_") && !text_starts(name, "v_cmp_") &&
        !text_starts(name, "v_cmpx_"))
        return false;
    op->execute = scalar ? scalar_compare_execute : compare_execute;
    op->meaning = &compares;
    if (text_starts(at, "class_")) {
        op->type = TYPE_CLASS;
        return strcmp(at, "class_f32") == 0;
    }
    for (size_t k = 0; k < COUNT_OF(relations); k++) {
        const size_t length = strlen(relations[k].name);
        size_t type = strncmp(at, relations[k].name, length) != 0 || at[length] != '_' ? COUNT_OF(types) : 0;
        while (type < COUNT_OF(types) && strcmp(types[type], at + length + 1) != 0)
            type++;
        if (type == COUNT_OF(types))
            continue;
        op->type = (uint8_t)type;
        op->width = type == TYPE_U64 || type == TYPE_I64 || type == TYPE_F64 ? 64 : 32;
        op->relation = relations[k].relation;
        if (op->type >= TYPE_F32)
            op->meaning = &float_compares;
        return op->type != TYPE_F16;
    }
    return false;
}

/* ---- values ---- */

static unsigned relate_float(double a, double b)
{
    return a < b ? LESS : a > b ? GREATER : a == b ? EQUAL : UNORDERED;
}

#define RELATE(x, y) ((x) < (y) ? LESS : (x) > (y) ? GREATER : EQUAL)

static unsigned relate(unsigned type, uint64_t a, uint64_t b)
{
    float single[2];
    double wide[2];
    const uint32_t low[2] = {(uint32_t)a, (uint32_t)b};
    switch (type) {
    case TYPE_U16:
        return RELATE((uint16_t)a, (uint16_t)b);
    case TYPE_I16:
        return RELATE((int16_t)(uint16_t)a, (int16_t)(uint16_t)b);
    case TYPE_U32:
        return RELATE(low[0], low[1]);
    case TYPE_I32:
        return RELATE((int32_t)low[0], (int32_t)low[1]);
    case TYPE_U64:
        return RELATE(a, b);
    case TYPE_I64:
        return RELATE((int64_t)a, (int64_t)b);
    case TYPE_F64:
        memcpy(wide, (const uint64_t[]){a, b}, sizeof(wide));
        return relate_float(wide[0], wide[1]);
    default:
        memcpy(single, low, sizeof(single));
        return relate_float((double)single[0], (double)single[1]);
    }
}

/* v_cmp_class_f32 tests which of ten classes a number belongs to. */
static bool is_class(uint32_t bits, uint32_t kinds)
{
    const bool negative = bits >> 31;
    const unsigned exponent = bits >> 23 & 255;
    const uint32_t fraction = bits & 0x7fffff;
    unsigned kind;
    if (exponent == 255)
        kind = fraction ? (fraction >> 22 ? 1 : 0) : negative ? 2 : 9;
    else if (exponent == 0)
        kind = fraction ? (negative ? 4 : 7) : negative ? 5 : 6;
    else
        kind = negative ? 3 : 8;
    return kinds >> kind & 1;
}

static int64_t distance(unsigned type, uint64_t a, uint64_t b)
{
    if (type == TYPE_I32)
        return (int64_t)(int32_t)(uint32_t)a - (int32_t)(uint32_t)b;
    return (int64_t)(a - b);
}

/* ---- execution ---- */

/* v_cmp d, a, b. v_cmpx writes EXEC: on gfx9 in addition to its destination, later instead of one. */
void compare_execute(struct wave *wave, const struct op *op)
{
    static const struct isa_operand vcc = {.kind = OPERAND_SCALAR, .first = SCALAR_VCC, .count = 2};
    const bool to_exec = text_starts(op->in->mnemonic, "v_cmpx_"), wide = op->width == 64;
    const unsigned first = op->operand_count > 2 ? 1 : 0;
    struct values a[2], b[2];
    uint64_t mask = 0, known = UINT64_MAX;
    int64_t distances[LANES];
    for (unsigned part = 0; part < (wide ? 2 : 1); part++) {
        vector_source(&a[part], wave, op, first, part);
        vector_source(&b[part], wave, op, first + 1, part);
        known &= a[part].known & b[part].known;
    }
    for (unsigned k = 0; k < LANES; k++) {
        const uint64_t x = a[0].lanes[k] | (wide ? (uint64_t)a[1].lanes[k] << 32 : 0);
        const uint64_t y = b[0].lanes[k] | (wide ? (uint64_t)b[1].lanes[k] << 32 : 0);
        const bool holds =
            op->type == TYPE_CLASS ? is_class((uint32_t)x, (uint32_t)y) : (op->relation & relate(op->type, x, y)) != 0;
        mask |= (uint64_t)holds << k;
        distances[k] = distance(op->type, x, y);
    }
    if (wave->recording)
        loop_compared(wave, op, distances, wave->exec & known, op->type >= TYPE_F32);
    if (op->relation == 0 && op->type != TYPE_CLASS)
        known = UINT64_MAX;
    mask &= wave->exec;
    known |= ~wave->exec;
    if (first || !to_exec)
        mask_set(wave, first ? &op->operands[0] : &vcc, mask & known, known);
    if (to_exec)
        exec_set(wave, mask, known);
}

static void scalar_compare_execute(struct wave *wave, const struct op *op)
{
    uint64_t a, b, a_known, b_known;
    source_get(wave, &op->operands[0], op->width == 64, &a, &a_known);
    source_get(wave, &op->operands[1], op->width == 64, &b, &b_known);
    wave->scc_known = a_known == UINT64_MAX && b_known == UINT64_MAX;
    wave->scc = wave->scc_known && (op->relation & relate(op->type, a, b));
    wave->scc_compared = true;
    if (wave->recording) {
        const int64_t apart = distance(op->type, a, b);
        loop_compared(wave, op, &apart, wave->scc_known, op->type >= TYPE_F32);
    }
}

/* ---- branches ---- */

enum { MOST_UNKNOWN = 64 }; /* unknown decisions in a row at one branch before its loop ends */

static bool is_taken(const struct wave *wave, const char *name, bool *known)
{
    *known = true;
    if (strcmp(name, "s_branch") == 0)
        return true;
    if (text_ends(name, "scc0") || text_ends(name, "scc1")) {
        *known = wave->scc_known;
        return wave->scc == text_ends(name, "1");
    }
    if (strstr(name, "vcc") || strstr(name, "exec")) {
        const struct isa_operand mask = {.kind = OPERAND_SCALAR,
                                         .first = strstr(name, "vcc") ? SCALAR_VCC : SCALAR_EXEC};
        uint64_t value, bits;
        mask_get(wave, &mask, &value, &bits);
        *known = (value & bits) || bits == UINT64_MAX;
        return !(value & bits) != text_ends(name, "nz");
    }
    return false; /* debugger conditions are never set */
}

void branch_execute(struct wave *wave, const struct op *op)
{
    const size_t site = wave->at - 1;
    bool known = true;
    if (strcmp(op->in->mnemonic, "s_branch") != 0)
        guess_matters(wave);
    bool taken = is_taken(wave, op->in->mnemonic, &known);
    if (!known) { /* a loop on unknown data ends after this many iterations */
        uint32_t *undecided = &wave->undecided[site];
        note_undecided(wave, op);
        taken = ++*undecided <= MOST_UNKNOWN ? coin_toss(wave) : op->target > site;
        *undecided = *undecided > 2 * MOST_UNKNOWN ? 0 : *undecided;
    }
    if (wave->recording && strstr(op->in->mnemonic, "scc") && !wave->scc_compared)
        loop_compared(wave, op, NULL, 0, true);
    wave->time +=
        taken ? wave->group->walker->options->clocks.branch_taken : wave->group->walker->options->clocks.branch;
    if (!taken)
        return;
    if (op->target == NO_TARGET) { /* leaves the decoded code */
        note_not_executed(wave->group->walker, op);
        wave->state = WAVE_ENDED;
        return;
    }
    wave->at = op->target;
    if (op->target <= site)
        loop_turned(wave, site, op->target);
}
