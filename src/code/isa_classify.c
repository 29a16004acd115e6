/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"

static const char *const suffixes[] = {"_e32", "_e64", "_dpp", "_dpp8", "_sdwa", "_e64_dpp", "_e64_dpp8"};

/* Bytes that a word of a memory mnemonic stands for. */
static const struct {
    const char *word;
    unsigned bytes;
} widths[] = {
    {"b8", 1},    {"u8", 1},       {"i8", 1},    {"byte", 1},      {"ubyte", 1},    {"sbyte", 1},   {"b16", 2},
    {"u16", 2},   {"i16", 2},      {"short", 2}, {"ushort", 2},    {"sshort", 2},   {"f16", 2},     {"bf16", 2},
    {"dword", 4}, {"b32", 4},      {"u32", 4},   {"i32", 4},       {"f32", 4},      {"dwordx2", 8}, {"x2", 8},
    {"b64", 8},   {"u64", 8},      {"i64", 8},   {"f64", 8},       {"dwordx3", 12}, {"b96", 12},    {"dwordx4", 16},
    {"b128", 16}, {"dwordx8", 32}, {"b256", 32}, {"dwordx16", 64}, {"b512", 64},    {"x", 4},       {"xy", 8},
    {"xyz", 12},  {"xyzw", 16},
};

/* Words that double what an LDS instruction moves. */
static const char *const twice[] = {"read2", "read2st64", "write2", "write2st64", "2addr", "wrxchg2", "wrxchg2st64"};

/* Atomics whose name has no type: 32 bits. */
#define ATOMIC_BYTES 4u

size_t isa_base_length(const char *mnemonic)
{
    const size_t length = strlen(mnemonic);
    size_t base = length;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        const size_t size = strlen(suffixes[i]);
        if (text_ends(mnemonic, suffixes[i]) && length - size < base)
            base = length - size;
    }
    return base;
}

static bool is_word(const char *word, size_t length, const char *expected)
{
    return strlen(expected) == length && memcmp(word, expected, length) == 0;
}

static unsigned word_bytes(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
        if (is_word(word, length, widths[i].word))
            return widths[i].bytes;
    return 0;
}

static bool is_twice(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(twice) / sizeof(*twice); i++)
        if (is_word(word, length, twice[i]))
            return true;
    return false;
}

/* The last word with a width counts: in global_atomic_cmpswap_x2 and buffer_load_d16_hi_u8 it is the data's. */
static unsigned bytes_moved(const struct isa_instruction *in)
{
    unsigned bytes = 0, factor = 1;
    bool packed = false, halves = false, format = false;
    for (const char *word = in->mnemonic; *word;) {
        const size_t length = strcspn(word, "_");
        const unsigned found = word_bytes(word, length);
        if (found)
            bytes = found;
        if (is_twice(word, length))
            factor = 2;
        packed = packed || is_word(word, length, "pk");
        halves = halves || is_word(word, length, "d16");
        format = format || is_word(word, length, "format");
        word += length + (word[length] == '_');
    }
    if (format && halves)
        bytes /= 2;
    if (packed && bytes == 2)
        factor = 2;
    if (!bytes && in->kind == ISA_ATOMIC && !text_starts(in->mnemonic, "image_"))
        bytes = ATOMIC_BYTES;
    return bytes * factor;
}

/* Work of one ALU name, "v_..." or "v_dual_...", `values` of them side by side. */
static void add_work(struct isa_instruction *in, const char *name, size_t length, unsigned values)
{
    unsigned count = 0;
    bool is_float = false;
    if (!isa_work_of(&count, &is_float, name, length))
        return;
    if (is_float)
        in->flops += count * values;
    else
        in->ops += count * values;
}

static void alu_work(struct isa_instruction *in)
{
    const char *name = in->mnemonic;
    if (in->kind == ISA_DUAL) {
        for (const char *half = name; half; half = strstr(half + 1, "v_dual_")) {
            half += strlen("v_dual_");
            add_work(in, half, strcspn(half, " "), 1);
        }
        return;
    }
    const size_t length = isa_base_length(name);
    if (text_starts(name, "v_pk_"))
        add_work(in, name + 5, length - 5, 2);
    else if (!text_starts(name, "v_s_")) /* one value per wave, as scalar instructions */
        add_work(in, name + 2, length - 2, 1);
}

static bool is_lane_work(enum isa_kind kind)
{
    return kind == ISA_VECTOR || kind == ISA_PACKED || kind == ISA_DUAL || kind == ISA_TRANSCENDENTAL;
}

void isa_classify_operands(struct isa_instruction *in, const char *target)
{
    if (in->kind == ISA_MATRIX && strstr(in->mnemonic, "f8f6f4"))
        isa_matrix_fill(in, target);
}

static bool ends_block(const char *mnemonic)
{
    return text_starts(mnemonic, "s_endpgm") || strcmp(mnemonic, "s_branch") == 0 || text_starts(mnemonic, "s_setpc") ||
           text_starts(mnemonic, "s_rfe");
}

void isa_classify(struct isa_instruction *in, const char *target)
{
    in->kind = ISA_OTHER;
    in->guard = "";
    in->ends_block = ends_block(in->mnemonic);
    for (size_t i = 0; i < isa_family_count; i++) {
        if (!text_starts(in->mnemonic, isa_families[i].prefix))
            continue;
        in->kind = isa_families[i].kind;
        in->space = isa_families[i].space;
        break;
    }
    if (is_lane_work(in->kind))
        alu_work(in);
    if (in->space != ISA_NO_SPACE)
        in->bytes = bytes_moved(in);
    if (in->kind == ISA_MATRIX)
        isa_matrix_fill(in, target);
}
