/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"

#define MAX_NAME 64u

/* Which rows hold for a target; the first family that has the instruction counts. */
static const struct {
    const char *target; /* pattern */
    const char *arch;
    bool only_narrow; /* not for f64 and xf32: gfx950 halved the one and dropped the other */
} families[] = {
    {"gfx908", "gfx908", false},       {"gfx90a", "gfx90a", false},
    {"gfx94?", "gfx942", false},       {"gfx9-4-generic", "gfx942", false},
    {"gfx950", "gfx950", false},       {"gfx950", "gfx942", true}, /* its shapes still run at its rate */
    {"gfx11*", "gfx11", false},        {"gfx120?", "gfx12", false},
    {"gfx12-generic", "gfx12", false},
};

/* Drops what spellings differ in: '_' and the number of blocks ("_4b"), and on request the "1k" of bf16 (the only form
 * of gfx942) and the difference of fp8 and bf8 (one rate). */
static void plain_name(char out[MAX_NAME], const char *name, bool is_loose)
{
    size_t length = 0;
    for (const char *word = name; *word && length + 1 < MAX_NAME;) {
        const size_t size = strcspn(word, "_");
        const bool is_blocks = size >= 2 && word[size - 1] == 'b' && strspn(word, "0123456789") == size - 1;
        const bool is_dropped = is_blocks || (is_loose && size == 2 && memcmp(word, "1k", 2) == 0);
        for (size_t i = 0; i < size && !is_dropped && length + 1 < MAX_NAME; i++)
            out[length++] = word[i];
        if (is_loose && size == 3 && memcmp(word, "bf8", 3) == 0 && length >= 3)
            memcpy(out + length - 3, "fp8", 3);
        word += size + (word[size] == '_');
    }
    out[length] = '\0';
}

/* cbsz and blgp name the formats of A and B: 0 fp8, 1 bf8, 2 and up have fewer bits. */
static enum isa_formats formats_of(const struct isa_instruction *in)
{
    const bool is_narrow = isa_modifier(in, "cbsz") >= 2 && isa_modifier(in, "blgp") >= 2;
    return is_narrow ? ISA_NARROW_FORMATS : ISA_EIGHT_BITS;
}

static const struct isa_matrix *find_in(const char *arch, const char *plain, enum isa_formats formats, bool is_loose)
{
    for (size_t i = 0; i < isa_matrix_count; i++) {
        char row[MAX_NAME];
        if (strcmp(isa_matrices[i].arch, arch) != 0)
            continue;
        plain_name(row, isa_matrices[i].name, is_loose);
        if (strcmp(row, plain) == 0 &&
            (isa_matrices[i].formats == ISA_ANY_FORMAT || isa_matrices[i].formats == formats))
            return &isa_matrices[i];
    }
    return NULL;
}

static const struct isa_matrix *find(const struct isa_instruction *in, const char *name, const char *target)
{
    for (unsigned loose = 0; loose < 2; loose++) {
        char plain[MAX_NAME];
        plain_name(plain, name, loose != 0);
        for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
            if (!text_matches(target, families[i].target))
                continue;
            if (families[i].only_narrow && (strstr(plain, "f64") || strstr(plain, "xf32")))
                continue;
            const struct isa_matrix *row = find_in(families[i].arch, plain, formats_of(in), loose != 0);
            if (row)
                return row;
        }
    }
    return NULL;
}

/* 2 * M * N * K * blocks from a name with "16x16x32" and perhaps "_4b": work is in the name, time is not. */
static uint32_t ops_in_name(const char *name)
{
    for (const char *at = name; (at = strpbrk(at, "0123456789")) != NULL; at += strspn(at, "0123456789")) {
        char *end = NULL;
        const unsigned long m = strtoul(at, &end, 10);
        if (*end != 'x')
            continue;
        const unsigned long n = strtoul(end + 1, &end, 10);
        if (*end != 'x')
            return 0;
        const unsigned long k = strtoul(end + 1, &end, 10);
        unsigned long blocks = 1;
        if (*end == '_' && isdigit((unsigned char)end[1]) && end[1 + strspn(end + 1, "0123456789")] == 'b')
            blocks = strtoul(end + 1, NULL, 10);
        if (m > 256 || n > 256 || k > 1024 || blocks > 64)
            return 0;
        return (uint32_t)(2 * m * n * k * blocks);
    }
    return 0;
}

void isa_matrix_fill(struct isa_instruction *in, const char *target)
{
    char name[MAX_NAME];
    const size_t length = isa_base_length(in->mnemonic);
    const size_t kept = length < MAX_NAME - 1 ? length : MAX_NAME - 1;
    memcpy(name, in->mnemonic, kept);
    name[kept] = '\0';
    /* v_mfma_scale_ is v_mfma_ with scales from registers: the same work in the same time. */
    char *scale = strstr(name, "_scale_");
    if (scale)
        memmove(scale, scale + 6, strlen(scale + 6) + 1);
    const struct isa_matrix *row = find(in, name, target);
    in->matrix_ops = row ? row->ops : ops_in_name(name);
    in->matrix_cycles = row ? row->cycles : 0;
    in->is_integer = strstr(name, "_i32_") != NULL;
}
