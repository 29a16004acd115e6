/* SPDX-License-Identifier: MIT
 *
 * Kind, bytes and work of one instruction of either vendor.
 */
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"
#include "rooftile/targets.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool is_one_of(const char *word, size_t size, const char *words)
{
    return text_has_word(words, " ", word, size);
}

/* The next word of a name, which '_' and '.' separate; 0 at its end. */
static size_t next_word(const char **at, size_t before)
{
    *at += before;
    *at += **at == '_' || **at == '.';
    return strcspn(*at, "_. ");
}

bool isa_has_word(const char *name, const char *words)
{
    for (size_t size = next_word(&name, 0); size; size = next_word(&name, size))
        if (is_one_of(name, size, words))
            return true;
    return false;
}

bool isa_is_opcode(const struct isa_instruction *in, const char *names)
{
    return is_one_of(in->mnemonic, strcspn(in->mnemonic, "."), names);
}

/* ---- bytes ---- */

/* What a word of a mnemonic says about the bytes of an access, or of an atomic's operand; AMD's are in small
 * letters. */
static const struct {
    unsigned bytes;
    const char *words;
} widths[] = {
    {1, "b8 u8 i8 byte ubyte sbyte U8 S8"},
    {2, "b16 u16 i16 short ushort sshort f16 bf16 U16 S16"},
    {4, "dword b32 u32 i32 f32 x"},
    {8, "dwordx2 x2 b64 u64 i64 f64 xy 64 U64 S64 F64"},
    {12, "dwordx3 b96 xyz 96"},
    {16, "dwordx4 b128 xyzw 128"},
    {32, "dwordx8 b256 256"},
    {64, "dwordx16 b512"},
};

#define DEFAULT_BYTES 4u /* NVIDIA's without a word, and AMD's atomics whose name has no type */

/* They say how much in a descriptor, or not at all. */
static const char widthless[] =
    "UTMALDG UTMASTG UTMAREDG UBLKCP UBLKRED TEX TLD TLD4 TXD SULD SUST SUATOM SURED USTGR UREDGR";

/* The last word with a width counts: in global_atomic_cmpswap_x2 and buffer_load_d16_hi_u8 it is the data's. */
static unsigned bytes_in_name(const char *name)
{
    unsigned bytes = 0;
    for (size_t size = next_word(&name, 0); size; size = next_word(&name, size))
        for (size_t k = 0; k < COUNT(widths); k++)
            if (is_one_of(name, size, widths[k].words))
                bytes = widths[k].bytes;
    return bytes;
}

static unsigned amd_bytes(const struct isa_instruction *in)
{
    const char *name = in->mnemonic;
    unsigned bytes = bytes_in_name(name);
    if (!bytes && in->kind == ISA_ATOMIC && !text_starts(name, "image_"))
        bytes = DEFAULT_BYTES;
    if (isa_has_word(name, "format") && isa_has_word(name, "d16"))
        bytes /= 2;
    if ((bytes == 2 && isa_has_word(name, "pk")) ||
        isa_has_word(name, "read2 read2st64 write2 write2st64 2addr wrxchg2 wrxchg2st64"))
        bytes *= 2;
    return bytes;
}

static unsigned sass_bytes(const struct isa_instruction *in)
{
    if (isa_is_opcode(in, widthless))
        return 0;
    /* Four lanes hold a row of a matrix of 8 x 8 halves: 4 bytes each and matrix; the last word counts 1, 2 or 4. */
    if (isa_is_opcode(in, "LDSM STSM")) {
        const char *last = strrchr(in->mnemonic, '.');
        const unsigned long count = last ? strtoul(last + 1 + (last[1] == 'x'), NULL, 10) : 1;
        return count == 2 || count == 4 ? 4 * (unsigned)count : 4;
    }
    const unsigned bytes = bytes_in_name(in->mnemonic);
    return bytes ? bytes : DEFAULT_BYTES;
}

/* ---- work ---- */

/* Of one name of AMD's behind its "v_..."; a word of it says whether it is floating point: v_dot2_f32_f16 is,
 * v_mad_u64_u32 is not. */
static void add_work(struct isa_instruction *in, const char *stem, unsigned values)
{
    const unsigned count = isa_stem_work(stem) * values;
    if (isa_has_word(stem, "f64 f32 f16 bf16"))
        in->flops += count;
    else
        in->ops += count;
}

static void amd_work(struct isa_instruction *in)
{
    static const char dual[] = "v_dual_";
    const char *name = in->mnemonic;
    if (in->kind == ISA_DUAL)
        for (const char *half = name; half; half = strstr(half, dual))
            add_work(in, half += strlen(dual), 1);
    else if (text_starts(name, "v_pk_"))
        add_work(in, name + strlen("v_pk_"), 2);
    else if (!text_starts(name, "v_s_")) /* one value per wave, as scalar instructions */
        add_work(in, name + strlen("v_"), 1);
}

void isa_classify(struct isa_instruction *in, const char *target)
{
    const bool is_sass = target_is_nvidia(target);
    const struct isa_opcode *opcode = isa_opcode_find(in->mnemonic, is_sass);
    in->kind = opcode->kind;
    in->space = opcode->space;
    in->flops = opcode->flops;
    in->ops = opcode->ops;
    if (in->space != ISA_NO_SPACE)
        in->bytes = is_sass ? sass_bytes(in) : amd_bytes(in);
    if (in->kind == ISA_MATRIX)
        isa_matrix_fill(in, target);
    if (!is_sass &&
        (in->kind == ISA_VECTOR || in->kind == ISA_PACKED || in->kind == ISA_DUAL || in->kind == ISA_TRANSCENDENTAL))
        amd_work(in);
}

/* ---- what depends on operands ---- */

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

/* NVIDIA's compilers use opcodes for other things: a multiplication by nothing is a move, and so on. What is left is
 * counted. */
static void correct_sass(struct isa_instruction *in)
{
    const char *name = in->mnemonic;
    if (isa_is_opcode(in, "IMAD")) {
        const bool moves = isa_has_word(name, "MOV") || reads_zeros(in);
        in->ops = moves ? 0 : isa_has_word(name, "SHL IADD X") ? 1 : in->ops;
    } else if (isa_is_opcode(in, "IADD3 LOP3") && reads_zero(in)) {
        in->ops = 1;
    } else if (isa_is_opcode(in, "HFMA2") && reads_zeros(in)) {
        in->kind = ISA_VECTOR;
        in->flops = 0;
    } else if (isa_is_opcode(in, "HADD2") && isa_has_word(name, "F32")) { /* the only way from f16 to f32 */
        in->kind = ISA_CONVERSION;
        in->flops = 0;
    } else if (isa_is_opcode(in, "IDP") && isa_has_word(name, "2A")) {
        in->ops = 4;
    } else if ((isa_is_opcode(in, "CS2R") && strstr(in->operands, "SR_")) || /* a clock; of SRZ it is a move */
               (isa_is_opcode(in, "WARPGROUP") && !isa_has_word(name, "DEPBAR"))) {
        in->kind = ISA_OTHER;
    } else if (isa_is_opcode(in, "SYNCS") && isa_has_word(name, "PHASECHK")) {
        in->kind = ISA_WAIT;
    }
}

void isa_correct(struct isa_instruction *in, const char *target)
{
    if (!target_is_nvidia(target)) {
        if (in->kind == ISA_MATRIX && strstr(in->mnemonic, "f8f6f4"))
            isa_matrix_fill(in, target);
        return;
    }
    if (strcmp(in->guard, "@!PT") != 0 && strcmp(in->guard, "@!UPT") != 0) {
        correct_sass(in);
        return;
    }
    /* It never runs, and fills a slot. */
    in->kind = ISA_OTHER;
    in->space = ISA_NO_SPACE;
    in->bytes = in->flops = in->ops = in->matrix_ops = in->matrix_cycles = 0;
}
