/* SPDX-License-Identifier: MIT
 *
 * Parses the operands of AMD instructions, and the counters of waits, from the disassembler's text.
 */

#include "isa_internal.h"

#define WORD_ROOM 64u
#define MAX_OPERANDS 8u

/* ---- one operand ---- */

/* "v5", "s[4:7]", "a3", "ttmp9" */
static bool read_register(struct isa_operand *operand, const char *at)
{
    static const struct {
        const char *prefix;
        uint8_t kind;
        uint16_t base, limit;
    } files[] = {{"v", OPERAND_VECTOR, 0, ISA_ACC_BASE},
                 {"a", OPERAND_VECTOR, ISA_ACC_BASE, 256},
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
        *operand = (struct isa_operand){
            .kind = files[k].kind, .count = (uint8_t)(last - first + 1), .first = (uint16_t)(files[k].base + first)};
        return !*end || strchr("])|*", *end);
    }
    return false;
}

static bool read_named(struct isa_operand *operand, const char *at)
{
    static const struct {
        const char *name;
        uint8_t kind, first, count;
    } named[] = {
        {"vcc", OPERAND_SCALAR, SCALAR_VCC, 2},
        {"vcc_lo", OPERAND_SCALAR, SCALAR_VCC, 1},
        {"vcc_hi", OPERAND_SCALAR, SCALAR_VCC + 1, 1},
        {"exec", OPERAND_SCALAR, SCALAR_EXEC, 2},
        {"exec_lo", OPERAND_SCALAR, SCALAR_EXEC, 1},
        {"exec_hi", OPERAND_SCALAR, SCALAR_EXEC + 1, 1},
        {"m0", OPERAND_SCALAR, SCALAR_M0, 1},
        {"flat_scratch", OPERAND_SCALAR, 102, 2},
        {"flat_scratch_lo", OPERAND_SCALAR, 102, 1},
        {"flat_scratch_hi", OPERAND_SCALAR, 103, 1},
        {"xnack_mask", OPERAND_SCALAR, 104, 2},
        {"off", OPERAND_OFF, 0, 0},
        {"null", OPERAND_OFF, 0, 0},
    };
    for (size_t k = 0; k < COUNT_OF(named); k++)
        if (strcmp(at, named[k].name) == 0) {
            *operand = (struct isa_operand){.kind = named[k].kind, .count = named[k].count, .first = named[k].first};
            return true;
        }
    return false;
}

/* A 64-bit float is written as "1.0" in full, or as its upper half 0x3ff00000. */
static bool read_constant(struct isa_operand *operand, const char *at, bool is_double)
{
    const bool is_hex = text_starts(at, "0x");
    if (!isdigit((unsigned char)*at) && !(*at == '-' && isdigit((unsigned char)at[1])))
        return false;
    operand->kind = OPERAND_CONSTANT;
    operand->count = 1;
    if (is_hex || !strchr(at, '.')) {
        operand->constant = is_hex ? strtoull(at, NULL, 16) : (uint64_t)strtoll(at, NULL, 10);
        operand->constant <<= is_double && is_hex ? 32 : 0;
        return true;
    }
    const double value = strtod(at, NULL);
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof(bits));
    operand->constant = bits;
    if (is_double)
        memcpy(&operand->constant, &value, sizeof(value));
    return true;
}

/* "-|v3|", "neg(s2)", "0x3f800000" */
static struct isa_operand read_operand(const char *at, bool is_double)
{
    struct isa_operand operand = {.kind = OPERAND_NONE};
    bool negates = false, absolute = false;
    for (size_t size = 1; size; at += size) {
        const bool minus = *at == '-' && !isdigit((unsigned char)at[1]), bar = *at == '|';
        const bool neg = text_starts(at, "neg("), abs = text_starts(at, "abs(");
        negates ^= minus || neg;
        absolute |= bar || abs;
        size = minus || bar ? 1 : neg || abs ? strlen("neg(") : text_starts(at, "sext(") ? strlen("sext(") : 0;
    }
    if (!read_register(&operand, at) && !read_named(&operand, at) && !read_constant(&operand, at, is_double))
        operand = (struct isa_operand){.kind = OPERAND_UNKNOWN};
    operand.negates = negates;
    operand.absolute = absolute;
    return operand;
}

/* ---- one instruction ---- */

/* Copies the text up to a comma or blank outside brackets; returns its end. */
static const char *take_word(char word[WORD_ROOM], const char *text)
{
    size_t length = 0;
    int depth = 0;
    for (; *text && (depth || !strchr(", ", *text)) && !text_starts(text, "/*"); text++) {
        depth += (*text == '[') - (*text == ']');
        if (length + 1 < WORD_ROOM)
            word[length++] = *text;
    }
    word[length] = '\0';
    return text;
}

/* gfx1250 addresses registers beyond v255 in banks that s_set_vgpr_msb switches; LLVM then writes v328 as a C comment
 * after v72. Returns the end of the operand. */
static const char *take_bank(struct isa_operand *operand, const char *text)
{
    struct isa_operand whole;
    const char *at = text + strspn(text, " ");
    const char *end = text_starts(at, "/*") ? strstr(at, "*/") : NULL;
    if (!end)
        return text;
    if (read_register(&whole, at + strlen("/*"))) {
        operand->first = whole.first;
        operand->count = whole.count;
    }
    return end + strlen("*/");
}

static unsigned read_operands(struct isa_operand operands[MAX_OPERANDS], const struct isa_instruction *in)
{
    const bool is_double = strstr(in->mnemonic, "f64") && !text_starts(in->mnemonic, "v_cvt_f64");
    unsigned count = 0;
    for (const char *at = in->operands; *at && count < MAX_OPERANDS; at++) {
        char word[WORD_ROOM];
        at = take_word(word, at + strspn(at, " "));
        if (*word)
            operands[count++] = read_operand(word, is_double);
        if (*word)
            at = take_bank(&operands[count - 1], at);
        if (*at != ',')
            break;
    }
    /* s_movk_i32, s_addk_i32, s_cmpk_lt_i32...: the constant of 16 bits is sign-extended; LLVM writes -32 as 0xffe0. */
    const bool has_signed_k =
        text_starts(in->mnemonic, "s_") && strstr(in->mnemonic, "k_") && text_ends(in->mnemonic, "_i32");
    for (unsigned k = 0; k < count && has_signed_k; k++)
        if (operands[k].kind == OPERAND_CONSTANT)
            operands[k].constant = (uint64_t)(int16_t)operands[k].constant;
    return count;
}

/* Returns how many operands, from the first on, are written. */
static unsigned destinations_of(const struct isa_instruction *in)
{
    const char *name = in->mnemonic;
    const bool is_image_atomic = in->kind == ISA_ATOMIC && !in->access;
    if (in->access)
        return in->access->destination >= 0;
    if (in->kind == ISA_STORE || (is_image_atomic && !strstr(in->operands, " glc") && !strstr(in->operands, "_RETURN")))
        return 0;
    if (in->kind == ISA_OTHER && *name != 'v')
        return 0;
    if (text_starts(name, "v_cmpx_"))
        return in->operand_count > 2;
    return isa_starts(name, "v_swap_ v_permlane16_swap v_permlane32_swap") ? 2 : in->operand_count > 0;
}

void isa_operands_read(struct isa_instruction *in, struct arena *arena)
{
    /* Names whose destination is also a source. */
    static const char accumulating[] =
        "v_fmac_ v_mac_ v_pk_fmac_ v_dot2c_ v_dot4c_ v_dot8c_ v_smfmac_ v_swmmac_ v_dual_fmac_ v_dual_dot2acc_ "
        "v_movreld_ v_swap_ v_permlane16_swap v_permlane32_swap";
    struct isa_operand operands[MAX_OPERANDS];
    in->operand_count = (uint8_t)read_operands(operands, in);
    in->operand = arena_copy(arena, operands, in->operand_count * sizeof(*operands));
    isa_access_place(in, arena);
    in->destinations = (uint8_t)destinations_of(in);
    in->reads_destination = isa_starts(in->mnemonic, accumulating);
}

const struct isa_operand *isa_operand_at(const struct isa_instruction *in, int number)
{
    static const struct isa_operand none = {.kind = OPERAND_NONE};
    return number >= 0 && number < in->operand_count ? &in->operand[number] : &none;
}

size_t isa_name_length(const char *mnemonic)
{
    return strlen(mnemonic) - (text_ends(mnemonic, "_e32") || text_ends(mnemonic, "_e64") ? strlen("_e32") : 0);
}

uint64_t isa_modifier(const struct isa_instruction *in, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = in->operands; (at = strstr(at, name)) != NULL; at += length)
        if (at[length] == ':' && (at == in->operands || at[-1] == ' '))
            return strtoull(at + length + 1, NULL, 0);
    return 0;
}

/* ---- waits ---- */

void isa_waits_read(struct isa_instruction *in)
{
    static const struct {
        const char *name, *field; /* of the instruction; text before the number */
        uint8_t counters[2], shift;
    } rows[] = {
        {"s_waitcnt", "vmcnt(", {COUNTER_LOAD, COUNTER_LOAD}, 0},
        {"s_waitcnt", "lgkmcnt(", {COUNTER_LDS, COUNTER_SCALAR}, 0},
        {"s_waitcnt_vmcnt", "null, ", {COUNTER_LOAD, COUNTER_LOAD}, 0},
        {"s_waitcnt_vscnt", "null, ", {COUNTER_STORE, COUNTER_STORE}, 0},
        {"s_waitcnt_lgkmcnt", "null, ", {COUNTER_LDS, COUNTER_SCALAR}, 0},
        {"s_wait_loadcnt", "", {COUNTER_LOAD, COUNTER_LOAD}, 0},
        {"s_wait_storecnt", "", {COUNTER_STORE, COUNTER_STORE}, 0},
        {"s_wait_dscnt", "", {COUNTER_LDS, COUNTER_LDS}, 0},
        {"s_wait_kmcnt", "", {COUNTER_SCALAR, COUNTER_SCALAR}, 0},
        {"s_wait_loadcnt_dscnt", "", {COUNTER_LDS, COUNTER_LDS}, 0},
        {"s_wait_loadcnt_dscnt", "", {COUNTER_LOAD, COUNTER_LOAD}, 8},
        {"s_wait_storecnt_dscnt", "", {COUNTER_LDS, COUNTER_LDS}, 0},
        {"s_wait_storecnt_dscnt", "", {COUNTER_STORE, COUNTER_STORE}, 8},
    };
    memset(in->wait, strcmp(in->mnemonic, "s_wait_idle") == 0 ? 0 : NO_WAIT, sizeof(in->wait));
    for (size_t k = 0; k < COUNT_OF(rows) && in->kind == ISA_WAIT; k++) {
        const char *at = strcmp(in->mnemonic, rows[k].name) == 0 ? strstr(in->operands, rows[k].field) : NULL;
        if (!at)
            continue;
        const unsigned long most = strtoul(at + strlen(rows[k].field), NULL, 0) >> rows[k].shift & 0xff;
        for (unsigned c = 0; c < 2; c++)
            in->wait[rows[k].counters[c]] = most < NO_WAIT ? (uint8_t)most : NO_WAIT - 1;
    }
}
