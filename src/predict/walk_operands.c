/* SPDX-License-Identifier: MIT
 *
 * Operands and modifiers out of the disassembler's text.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

/* ---- operands ---- */

static const struct {
    const char *name;
    uint16_t first;
    uint8_t count;
} named[] = {
    {"vcc", SCALAR_VCC, 2},      {"vcc_lo", SCALAR_VCC, 1},   {"vcc_hi", SCALAR_VCC + 1, 1},
    {"exec", SCALAR_EXEC, 2},    {"exec_lo", SCALAR_EXEC, 1}, {"exec_hi", SCALAR_EXEC + 1, 1},
    {"m0", SCALAR_M0, 1},        {"flat_scratch", 102, 2},    {"flat_scratch_lo", 102, 1},
    {"flat_scratch_hi", 103, 1}, {"xnack_mask", 104, 2},
};

/* "v5", "s[4:7]", "a3", "ttmp9" */
static bool read_register(struct operand *operand, const char *at)
{
    static const struct {
        const char *prefix;
        uint8_t kind;
        uint16_t base, limit;
    } files[] = {{"v", OPERAND_VECTOR, 0, 256},
                 {"a", OPERAND_VECTOR, ACC_BASE, 256},
                 {"ttmp", OPERAND_SCALAR, SCALAR_TRAP, 16},
                 {"s", OPERAND_SCALAR, 0, SCALAR_VCC}};
    for (size_t k = 0; k < COUNT_OF(files); k++) {
        const size_t length = strlen(files[k].prefix);
        const bool range = at[length] == '[';
        if (strncmp(at, files[k].prefix, length) != 0 || !isdigit((unsigned char)at[length + range]))
            continue;
        char *end = NULL;
        const unsigned long first = strtoul(at + length + range, &end, 10);
        const unsigned long last = range && *end == ':' ? strtoul(end + 1, &end, 10) : first;
        if (first > last || last >= files[k].limit)
            return false;
        *operand = (struct operand){
            .kind = files[k].kind, .count = (uint8_t)(last - first + 1), .first = (uint16_t)(files[k].base + first)};
        return end && (*end == '\0' || *end == ']' || *end == ')' || *end == '|');
    }
    return false;
}

/* What 64-bit floats are written as: "1.0" in full, 0x3ff00000 their upper half. */
static bool read_constant(struct operand *operand, const char *at, bool is_double)
{
    char *end = NULL;
    if (!isdigit((unsigned char)*at) && !(*at == '-' && isdigit((unsigned char)at[1])))
        return false;
    operand->kind = OPERAND_CONSTANT;
    operand->count = 1;
    if (text_starts(at, "0x") || !strchr(at, '.')) {
        operand->constant = text_starts(at, "0x") ? strtoull(at, &end, 16) : (uint64_t)strtoll(at, &end, 10);
        if (is_double && text_starts(at, "0x"))
            operand->constant <<= 32;
        return true;
    }
    const double value = strtod(at, &end);
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof(bits));
    operand->constant = bits;
    if (is_double)
        memcpy(&operand->constant, &value, sizeof(value));
    return true;
}

static struct operand read_operand(const char *at, bool is_double)
{
    struct operand operand = {.kind = OPERAND_UNKNOWN};
    bool negates = false, absolute = false;
    for (bool more = true; more;) {
        more = true;
        if (*at == '-' && !isdigit((unsigned char)at[1]))
            negates = !negates, at++;
        else if (*at == '|')
            absolute = true, at++;
        else if (text_starts(at, "neg("))
            negates = !negates, at += 4;
        else if (text_starts(at, "abs("))
            absolute = true, at += 4;
        else if (text_starts(at, "sext(") || text_starts(at, "lit("))
            at = strchr(at, '(') + 1;
        else
            more = false;
    }
    if (strcmp(at, "off") == 0 || strcmp(at, "null") == 0)
        operand.kind = OPERAND_OFF;
    else if (!read_register(&operand, at) && !read_constant(&operand, at, is_double))
        operand = (struct operand){.kind = OPERAND_UNKNOWN};
    for (size_t k = 0; k < COUNT_OF(named); k++)
        if (strcmp(at, named[k].name) == 0)
            operand = (struct operand){.kind = OPERAND_SCALAR, .count = named[k].count, .first = named[k].first};
    operand.negates = negates;
    operand.absolute = absolute;
    return operand;
}

/* Splits at commas outside brackets; what follows a blank is a modifier. */
void operands_read(struct op *op, const char *text, bool is_double)
{
    while (*text && op->operand_count < MAX_SOURCES) {
        char word[NAME_ROOM];
        size_t length = 0;
        int depth = 0;
        while (*text == ' ')
            text++;
        for (; *text && !(*text == ',' && depth == 0); text++) {
            depth += (*text == '[') - (*text == ']');
            if (*text == ' ')
                break;
            if (length + 1 < sizeof(word))
                word[length++] = *text;
        }
        word[length] = '\0';
        if (length)
            op->operands[op->operand_count++] = read_operand(word, is_double);
        if (*text != ',')
            break;
        text++;
    }
}

/* ---- modifiers ---- */

/* "[1,0,3,2]" as `bits` each. */
static uint32_t read_list(const char *at, unsigned bits)
{
    uint32_t value = 0;
    unsigned shift = 0;
    for (at = strchr(at, '['); at && *at != ']' && shift < 32; at = strpbrk(at + 1, ",]"), shift += bits)
        value |= ((uint32_t)strtoul(at + 1, NULL, 0) & ((1u << bits) - 1)) << shift;
    return value;
}

static uint8_t read_number(const char *text, const char *name, uint8_t fallback)
{
    const char *at = strstr(text, name);
    return at ? (uint8_t)strtoul(at + strlen(name), NULL, 0) : fallback;
}

static bool read_move(struct modifiers *how, const char *text)
{
    static const struct {
        const char *name;
        uint8_t move;
    } moves[] = {{"quad_perm:", MOVE_QUAD},      {"row_shl:", MOVE_SHL},         {"row_shr:", MOVE_SHR},
                 {"row_ror:", MOVE_ROR},         {"row_mirror", MOVE_MIRROR},    {"row_half_mirror", MOVE_HALF_MIRROR},
                 {"row_bcast:15", MOVE_BCAST15}, {"row_bcast:31", MOVE_BCAST31}, {"row_newbcast:", MOVE_SHARE},
                 {"row_share:", MOVE_SHARE},     {"row_xmask:", MOVE_XMASK},     {"dpp8:", MOVE_EIGHT},
                 {"wave_shl:", MOVE_WAVE_SHL},   {"wave_shr:", MOVE_WAVE_SHR}};
    for (size_t k = 0; k < COUNT_OF(moves); k++) {
        const char *at = strstr(text, moves[k].name);
        if (!at)
            continue;
        how->move = moves[k].move;
        how->amount = read_number(text, moves[k].name, 0) & 15;
        how->pattern = read_list(at, how->move == MOVE_EIGHT ? 3 : 2);
        return true;
    }
    return false;
}

static uint8_t read_select(const char *text, const char *name)
{
    static const char *const selects[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1"};
    const char *at = strstr(text, name);
    for (size_t k = 0; at && k < COUNT_OF(selects); k++)
        if (text_starts(at + strlen(name), selects[k]))
            return (uint8_t)k;
    return 6;
}

/* Clamps of floats, scales and half registers are not followed. */
static bool leaves_unknown(const char *name, const char *text)
{
    if ((strstr(text, " clamp") && !strstr(name, "_sat_")) || strstr(text, " mul:") || strstr(text, " div:"))
        return true;
    if (strstr(text, "op_sel:") && !text_starts(name, "v_pk_"))
        return true;
    const char *select = strstr(text, "dst_sel:");
    return select && !text_starts(select, "dst_sel:DWORD");
}

const struct operand *operand_at(const struct op *op, int number)
{
    static const struct operand none = {.kind = OPERAND_NONE};
    return number >= 0 && number < op->operand_count ? &op->operands[number] : &none;
}

const struct modifiers *modifiers_read(const char *name, const char *text, struct arena *arena)
{
    struct modifiers how = {.row_mask = 15, .bank_mask = 15, .op_sel_hi = 7, .select = {6, 6}};
    bool any = read_move(&how, text);
    how.row_mask = read_number(text, "row_mask:", 15);
    how.bank_mask = read_number(text, "bank_mask:", 15);
    how.bound_zero = strstr(text, "bound_ctrl:") || how.move == MOVE_EIGHT;
    how.fetches_off = strstr(text, " fi:1") != NULL;
    how.sdwa = strstr(text, "src0_sel:") != NULL;
    how.select[0] = (uint8_t)(read_select(text, "src0_sel:") |
                              (text_starts(strchr(text, ',') ? strchr(text, ',') : "", ", sext(") ? 8 : 0));
    how.select[1] = read_select(text, "src1_sel:");
    how.writes_part = leaves_unknown(name, text);
    const char *selects = strstr(text, "op_sel:"), *high = strstr(text, "op_sel_hi:");
    const char *low_sign = strstr(text, "neg_lo:"), *high_sign = strstr(text, "neg_hi:");
    how.op_sel = selects ? (uint8_t)read_list(selects, 1) : 0;
    how.op_sel_hi = high ? (uint8_t)read_list(high, 1) : 7;
    how.neg_lo = low_sign ? (uint8_t)read_list(low_sign, 1) : 0;
    how.neg_hi = high_sign ? (uint8_t)read_list(high_sign, 1) : 0;
    any |= how.sdwa || how.writes_part || selects || high || low_sign || high_sign;
    return any ? arena_copy(arena, &how, sizeof(how)) : NULL;
}
