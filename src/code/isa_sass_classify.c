/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"

/* What a word behind an opcode says about the bytes of an access, or of an atomic's operand. Without any: 4. */
static const struct {
    const char *word;
    uint32_t bytes;
} widths[] = {
    {"U8", 1},  {"S8", 1},  {"U16", 2}, {"S16", 2},  {"64", 8},   {"U64", 8},
    {"S64", 8}, {"F64", 8}, {"96", 12}, {"128", 16}, {"256", 32},
};

/* They say how much in a descriptor, or not at all. */
static const char *const widthless[] = {"UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED", "TEX",   "TLD",   "TLD4",
                                        "TXD",     "SULD",    "SUST",     "SUATOM", "SURED",   "USTGR", "UREDGR"};

/* Floating-point or integer operations per clock of one of an SM's four tensor cores, without sparsity: the rate of the
 * whole chip (NVIDIA A100 and H100 data sheets, at 1.41 and 1.83 GHz) over SMs, partitions and clock. What reaches less
 * by design (mma.sync on sm_90 and later) or depends on the product (GeForce) is left out. */
static const struct {
    const char *target, *opcode;
    const char *word; /* among the mnemonic's; NULL: any */
    uint32_t rate;
} matrix_rates[] = {
    {"sm_80", "HMMA", "TF32", 256},  {"sm_80", "HMMA", NULL, 512},     {"sm_80", "IMMA", "S4", 2048},
    {"sm_80", "IMMA", "U4", 2048},   {"sm_80", "IMMA", NULL, 1024},    {"sm_80", "BMMA", NULL, 8192},
    {"sm_80", "DMMA", NULL, 32},     {"sm_90*", "HGMMA", "TF32", 512}, {"sm_90*", "HGMMA", NULL, 1024},
    {"sm_90*", "QGMMA", NULL, 2048}, {"sm_90*", "IGMMA", NULL, 2048},
};

/* Is `word` one of "IMAD.WIDE.U32" but the first? */
static bool has_word(const char *mnemonic, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = strchr(mnemonic, '.'); at; at = strchr(at + 1, '.'))
        if (strcspn(at + 1, ".") == size && memcmp(at + 1, word, size) == 0)
            return true;
    return false;
}

static bool is_opcode(const char *mnemonic, const char *name)
{
    return strcspn(mnemonic, ".") == strlen(name) && text_starts(mnemonic, name);
}

/* ---- memory ---- */

/* Four lanes hold a row of a matrix of 8 x 8 halves: 4 bytes each and matrix, of which the last word counts 1, 2 or 4.
 */
static uint32_t matrix_copy_bytes(const char *mnemonic)
{
    const char *last = strrchr(mnemonic, '.');
    const unsigned long count = last ? strtoul(last + 1 + (last[1] == 'x'), NULL, 10) : 1;
    return count == 2 || count == 4 ? 4 * (uint32_t)count : 4;
}

static uint32_t bytes_moved(const char *mnemonic)
{
    uint32_t bytes = 4;
    for (size_t k = 0; k < sizeof(widthless) / sizeof(*widthless); k++)
        if (is_opcode(mnemonic, widthless[k]))
            return 0;
    if (is_opcode(mnemonic, "LDSM") || is_opcode(mnemonic, "STSM"))
        return matrix_copy_bytes(mnemonic);
    for (size_t k = 0; k < sizeof(widths) / sizeof(*widths); k++)
        if (has_word(mnemonic, widths[k].word))
            bytes = widths[k].bytes;
    return bytes;
}

/* ---- matrices ---- */

/* M, N and K of "HMMA.16816.F32" (16 x 8 x 16; N is always 8) or "HGMMA.64x128x16.F32". */
static bool read_shape(unsigned long shape[3], const char *mnemonic)
{
    for (const char *at = strchr(mnemonic, '.'); at; at = strchr(at + 1, '.')) {
        const char *digits = at + 1;
        char *after = NULL;
        const size_t length = strspn(digits, "0123456789");
        if (length == 0)
            continue;
        shape[0] = strtoul(digits, &after, 10);
        if (*after == 'x') {
            shape[1] = strtoul(after + 1, &after, 10);
            shape[2] = *after == 'x' ? strtoul(after + 1, &after, 10) : 0;
            return shape[0] <= 256 && shape[1] <= 512 && shape[2] && shape[2] <= 1024;
        }
        const size_t rows = text_starts(digits, "16") ? 2 : 1;
        if (length < rows + 2 || length > rows + 4 || digits[rows] != '8' || (*after && *after != '.'))
            continue;
        shape[0] = rows == 2 ? 16 : 8;
        shape[1] = 8;
        shape[2] = strtoul(digits + rows + 1, NULL, 10);
        return true;
    }
    return false;
}

static void fill_matrix(struct isa_instruction *in, const char *target)
{
    unsigned long shape[3];
    const char *mnemonic = in->mnemonic;
    const bool is_group = is_opcode(mnemonic, "HGMMA") || is_opcode(mnemonic, "QGMMA") ||
                          is_opcode(mnemonic, "IGMMA") || is_opcode(mnemonic, "BGMMA");
    in->is_integer = is_opcode(mnemonic, "IMMA") || is_opcode(mnemonic, "BMMA") || is_opcode(mnemonic, "IGMMA") ||
                     is_opcode(mnemonic, "BGMMA") || is_opcode(mnemonic, "UTCIMMA");
    if (!read_shape(shape, mnemonic))
        return;
    /* Four warps share a warpgroup's product. */
    in->matrix_ops = (uint32_t)(2 * shape[0] * shape[1] * shape[2] / (is_group ? 4 : 1));
    for (size_t k = 0; k < sizeof(matrix_rates) / sizeof(*matrix_rates); k++) {
        if (!text_matches(target, matrix_rates[k].target) || !is_opcode(mnemonic, matrix_rates[k].opcode) ||
            (matrix_rates[k].word && !has_word(mnemonic, matrix_rates[k].word)))
            continue;
        in->matrix_cycles = in->matrix_ops / matrix_rates[k].rate / (has_word(mnemonic, "SP") ? 2 : 1);
        return;
    }
}

/* ---- what compilers use other opcodes for ---- */

static bool reads_zeros(const struct isa_instruction *in)
{
    return strstr(in->operands, ", RZ, RZ, ") || strstr(in->operands, ", -RZ, RZ, ");
}

/* Beyond the destination. */
static bool reads_zero(const struct isa_instruction *in)
{
    const char *at = strchr(in->operands, ',');
    return at && (strstr(at, " RZ") || strstr(at, " URZ"));
}

/* A multiplication by nothing is a move, and so on: what is left is counted. */
static void correct(struct isa_instruction *in)
{
    const char *mnemonic = in->mnemonic;
    if (is_opcode(mnemonic, "IMAD")) {
        const bool moves = has_word(mnemonic, "MOV") || reads_zeros(in);
        const bool single = has_word(mnemonic, "SHL") || has_word(mnemonic, "IADD") || has_word(mnemonic, "X");
        in->ops = moves ? 0 : single ? 1 : in->ops;
    } else if ((is_opcode(mnemonic, "IADD3") || is_opcode(mnemonic, "LOP3")) && reads_zero(in)) {
        in->ops = 1;
    } else if (is_opcode(mnemonic, "HFMA2") && reads_zeros(in)) {
        in->kind = ISA_VECTOR;
        in->flops = 0;
    } else if (is_opcode(mnemonic, "HADD2") && has_word(mnemonic, "F32")) { /* the only way from f16 to f32 */
        in->kind = ISA_CONVERSION;
        in->flops = 0;
    } else if (is_opcode(mnemonic, "IDP") && has_word(mnemonic, "2A")) {
        in->ops = 4;
    } else if (is_opcode(mnemonic, "CS2R") && strstr(in->operands, "SR_")) {
        in->kind = ISA_OTHER; /* a clock; of SRZ it is a move */
    } else if (is_opcode(mnemonic, "SYNCS") && has_word(mnemonic, "PHASECHK")) {
        in->kind = ISA_WAIT;
    } else if (is_opcode(mnemonic, "WARPGROUP") && !has_word(mnemonic, "DEPBAR")) {
        in->kind = ISA_OTHER;
    }
}

void isa_sass_classify(struct isa_instruction *in, const char *target)
{
    in->kind = ISA_OTHER;
    if (strcmp(in->guard, "@!PT") == 0 || strcmp(in->guard, "@!UPT") == 0) /* never: it fills a slot */
        return;
    for (size_t k = 0; k < isa_sass_opcode_count; k++) {
        const struct isa_sass_opcode *opcode = &isa_sass_opcodes[k];
        if (!is_opcode(in->mnemonic, opcode->name))
            continue;
        in->kind = opcode->kind;
        in->space = opcode->space;
        in->flops = opcode->flops;
        in->ops = opcode->ops;
        break;
    }
    if (in->space != ISA_NO_SPACE)
        in->bytes = bytes_moved(in->mnemonic);
    if (in->kind == ISA_MATRIX)
        fill_matrix(in, target);
    correct(in);
}
