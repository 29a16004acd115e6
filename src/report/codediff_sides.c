/* SPDX-License-Identifier: MIT
 *
 * Two disassemblies side by side, with the same instructions on one line.
 */

#include "report_internal.h"
#include "rooftile/codediff.h"

#define COLUMN 56
#define MOST_CELLS (64u << 20) /* of the alignment table; larger kernels are listed one after the other */

static bool is_same(const struct isa_instruction *a, const struct isa_instruction *b)
{
    return !strcmp(a->mnemonic, b->mnemonic);
}

/* length[i * (m + 1) + j]: length of the longest common subsequence of a[i..] and b[j..]. */
static uint16_t *line_up(const struct isa_kernel *a, const struct isa_kernel *b)
{
    const size_t n = a->instruction_count, m = b->instruction_count;
    if (n >= UINT16_MAX || m >= UINT16_MAX || (n + 1) * (m + 1) > MOST_CELLS)
        return NULL;
    uint16_t *length = new_zeroed((n + 1) * (m + 1), sizeof(*length));
    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;) {
            const uint16_t down = length[(i + 1) * (m + 1) + j], right = length[i * (m + 1) + j + 1];
            length[i * (m + 1) + j] = is_same(&a->instructions[i], &b->instructions[j])
                                          ? (uint16_t)(length[(i + 1) * (m + 1) + j + 1] + 1)
                                      : down > right ? down
                                                     : right;
        }
    return length;
}

const char *codediff_sides(const struct code_pair *pair, struct arena *arena)
{
    const struct isa_kernel *a = pair->before->isa, *b = pair->after->isa;
    const size_t n = a->instruction_count, m = b->instruction_count;
    uint16_t *length = line_up(a, b);
    struct text out = {0};
    size_t i = 0, j = 0;
    while (i < n || j < m) {
        const struct isa_instruction *x = i < n ? &a->instructions[i] : NULL, *y = j < m ? &b->instructions[j] : NULL;
        const bool both = x && y && length && is_same(x, y);
        const bool left = x && (!y || !length || length[(i + 1) * (m + 1) + j] >= length[i * (m + 1) + j + 1]);
        const struct isa_instruction *of_a = both || left ? x : NULL, *of_b = both || !left ? y : NULL;
        const char *words = of_a ? arena_printf(arena, "%s %s", of_a->mnemonic, of_a->operands) : "";
        text_addf(&out, "%c %-*.*s", both ? ' ' : of_a ? '-' : '+', COLUMN, COLUMN, words);
        if (of_b)
            text_addf(&out, "  %s %s", of_b->mnemonic, of_b->operands);
        text_add(&out, "\n");
        i += both || left;
        j += both || !left;
    }
    free(length);
    return text_take(&out, arena);
}
