/* SPDX-License-Identifier: MIT
 *
 * Operations of vector ALU instructions, per lane and value. The conventions are those of AMD's counters for floating
 * point (SQ_INSTS_VALU_ADD/MUL/TRANS 1, FMA 2): moves, selections, compares, min, max and rounding are no operations.
 */
#include <string.h>

#include "isa_internal.h"

/* By the start of the name behind "v_", "v_pk_" or "v_dual_", up to a '_' or the end; the first that fits counts. */
static const struct {
    const char *name;
    unsigned count;
} works[] = {
    /* fused pairs first: "add" would fit them too */
    {"add_lshl", 2},
    {"lshl_add", 2},
    {"lshl_or", 2},
    {"and_or", 2},
    {"fma_mix", 2},
    {"fma_mixlo", 2},
    {"fma_mixhi", 2},
    {"mad_mix", 2},
    {"mad_mixlo", 2},
    {"mad_mixhi", 2},
    {"div_fmas", 2},
    {"fma", 2},
    {"fmac", 2},
    {"fmaak", 2},
    {"fmamk", 2},
    {"mad", 2},
    {"mac", 2},
    {"madak", 2},
    {"madmk", 2},
    {"add", 1},
    {"sub", 1},
    {"subrev", 1},
    {"mul", 1},
    {"mullit", 1},
    {"dot2", 4},
    {"dot2c", 4},
    {"dot2acc", 4},
    {"dot4", 8},
    {"dot4c", 8},
    {"dot8", 16},
    {"dot8c", 16},
    {"exp", 1},
    {"log", 1},
    {"rcp", 1},
    {"rsq", 1},
    {"sqrt", 1},
    {"sin", 1},
    {"cos", 1},
    {"tanh", 1},
    /* integers alone */
    {"addc", 1},
    {"subb", 1},
    {"subbrev", 1},
    {"add3", 2},
    {"or3", 2},
    {"xor3", 2},
    {"xad", 2},
    {"and", 1},
    {"or", 1},
    {"xor", 1},
    {"xnor", 1},
    {"not", 1},
    {"lshl", 1},
    {"lshlrev", 1},
    {"lshr", 1},
    {"lshrrev", 1},
    {"ashr", 1},
    {"ashrrev", 1},
    {"bfe", 1},
    {"bfi", 1},
    {"bfm", 1},
    {"bfrev", 1},
    {"alignbit", 1},
    {"alignbyte", 1},
    {"perm", 1},
    {"bcnt", 2},
    {"mbcnt", 2},
    {"ffbh", 1},
    {"ffbl", 1},
    {"clz", 1},
    {"ctz", 1},
    {"cls", 1},
    {"sad_u16", 4},
    {"sad_u32", 2},
    {"sad", 8}, /* four differences of bytes, four sums */
    {"msad", 8},
};

/* The first of these words in a name says what is computed: v_dot2_f32_f16 is float, v_mad_u64_u32 is not. */
static const char *const float_types[] = {"f64", "f32", "f16", "bf16"};

static bool has_word(const char *text, size_t length, const char *word)
{
    const size_t size = strlen(word);
    for (size_t i = 0; i + size <= length; i++)
        if ((i == 0 || text[i - 1] == '_') && memcmp(text + i, word, size) == 0 &&
            (i + size == length || text[i + size] == '_'))
            return true;
    return false;
}

bool isa_work_of(unsigned *count, bool *is_float, const char *base, size_t length)
{
    for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++) {
        const size_t size = strlen(works[i].name);
        if (length < size || memcmp(base, works[i].name, size) != 0 || (length > size && base[size] != '_'))
            continue;
        *count = works[i].count;
        *is_float = false;
        for (size_t t = 0; t < sizeof(float_types) / sizeof(*float_types); t++)
            *is_float = *is_float || has_word(base, length, float_types[t]);
        return true;
    }
    return false;
}
