/* SPDX-License-Identifier: MIT
 *
 * Parses the modifiers in the disassembler's text that move and select lanes of vector instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

/* Packs "[1,0,3,2]" behind a name with `bits` per element. */
static uint32_t read_list(const char *text, const char *name, unsigned bits, uint32_t fallback)
{
    const char *at = strstr(text, name);
    uint32_t value = at ? 0 : fallback;
    unsigned shift = 0;
    for (at = at ? strchr(at, '[') : NULL; at && *at != ']' && shift < 32; at = strpbrk(at + 1, ",]"), shift += bits)
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
        if (!strstr(text, moves[k].name))
            continue;
        how->move = moves[k].move;
        how->amount = read_number(text, moves[k].name, 0) & 15;
        how->pattern = read_list(text, moves[k].name, how->move == MOVE_EIGHT ? 3 : 2, 0);
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
    /* Float clamps, output scales and half registers are not modelled. */
    const char *select = strstr(text, "dst_sel:");
    how.writes_part = (strstr(text, " clamp") && !strstr(name, "_sat_")) || strstr(text, " mul:") ||
                      strstr(text, " div:") || (strstr(text, "op_sel:") && !text_starts(name, "v_pk_")) ||
                      (select && !text_starts(select, "dst_sel:DWORD"));
    how.op_sel = (uint8_t)read_list(text, "op_sel:", 1, 0);
    how.op_sel_hi = (uint8_t)read_list(text, "op_sel_hi:", 1, 7);
    how.neg_lo = (uint8_t)read_list(text, "neg_lo:", 1, 0);
    how.neg_hi = (uint8_t)read_list(text, "neg_hi:", 1, 0);
    any |= how.sdwa || how.writes_part || strstr(text, "op_sel") || strstr(text, "neg_lo:") || strstr(text, "neg_hi:");
    return any ? arena_copy(arena, &how, sizeof(how)) : NULL;
}
