/* SPDX-License-Identifier: MIT
 *
 * Two disassemblies side by side, lines of the same instruction next to each other.
 */

#include "report_internal.h"
#include "rooftile/codediff.h"

#define COLUMN 56
#define MOST_CELLS (64u << 20) /* of the table that lines them up; larger kernels stand one after the other */

static bool is_same(const struct isa_instruction *a, const struct isa_instruction *b)
{
    return !strcmp(a->mnemonic, b->mnemonic);
}

/* length[i * (m + 1) + j]: the longest common subsequence of what is left from i and j on. */
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

static void add_line(struct text *out, const struct isa_instruction *a, const struct isa_instruction *b)
{
    SCOPED(text_release) struct text left = {0};
    if (a)
        text_addf(&left, "%s %s", a->mnemonic, a->operands);
    text_addf(out, "%c %-*.*s", a && b ? ' ' : a ? '-' : '+', COLUMN, COLUMN, left.data ? left.data : "");
    if (b)
        text_addf(out, "  %s %s", b->mnemonic, b->operands);
    text_add(out, "\n");
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
        add_line(&out, both || left ? x : NULL, both || !left ? y : NULL);
        i += both || left;
        j += both || !left;
    }
    free(length);
    return text_take(&out, arena);
}
