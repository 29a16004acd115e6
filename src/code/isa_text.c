/* SPDX-License-Identifier: MIT
 *
 * Lines of llvm-objdump -d for AMDGPU, the same from LLVM 14 to 22:
 *     "\ts_cbranch_scc1 38      // 000000001B34: BF850026 <kernel+0xd0>"
 * What stands before "//" may fill its column, so there need not be a space. Everything else (headings, labels, "...")
 * is skipped.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"
#include "rooftile/hash.h"

/* Different mnemonics of a code object: a few hundred. More than MEMO_LIMIT are classified one by one. */
#define MEMO_SLOTS 4096u
#define MEMO_LIMIT 3072u

/* The longest instruction has five words. */
#define MAX_CODE_WORDS 5u

struct memo {
    struct isa_instruction *slots; /* mnemonic NULL: free */
    size_t count;
    const char *target;
    struct arena *arena;
};

/* One line in its parts, nothing copied. */
struct line {
    const char *text;
    size_t length; /* of the part before the comment, without blanks at its ends */
    uint64_t address;
    uint32_t first_word;
    uint32_t size;
};

/* Eight hexadecimal digits and nothing of a longer word. */
static bool word_at(const char *at, const char *end, uint32_t *word)
{
    if (end - at < 8)
        return false;
    for (unsigned i = 0; i < 8; i++)
        if (!isxdigit((unsigned char)at[i]))
            return false;
    if (at + 8 < end && !isspace((unsigned char)at[8]))
        return false;
    *word = (uint32_t)strtoul((char[9]){at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]}, NULL, 16);
    return true;
}

static bool code_at(struct line *line, const char *at, const char *end)
{
    unsigned words = 0;
    uint32_t word = 0;
    for (; words < MAX_CODE_WORDS; words++) {
        at += strspn(at, " ");
        if (at >= end || !word_at(at, end, &word))
            break;
        if (words == 0)
            line->first_word = word;
        at += 8;
    }
    line->size = words * 4;
    return words > 0;
}

static const char *find_comment(const char *from, const char *end)
{
    for (const char *at = from; at + 3 < end; at++)
        if (at[0] == '/' && at[1] == '/' && at[2] == ' ')
            return at;
    return NULL;
}

static bool line_read(struct line *line, const char *from, const char *end)
{
    if (from == end || !isspace((unsigned char)*from))
        return false;
    const char *comment = find_comment(from, end);
    if (!comment || !isxdigit((unsigned char)comment[3]))
        return false;
    char *after = NULL;
    line->address = strtoull(comment + 3, &after, 16);
    if (after >= end || *after != ':' || !code_at(line, after + 1, end))
        return false;
    while (from < comment && isspace((unsigned char)*from))
        from++;
    while (comment > from && isspace((unsigned char)comment[-1]))
        comment--;
    line->text = from;
    line->length = (size_t)(comment - from);
    return line->length > 0;
}

/* "v_dual_a x :: v_dual_b y" is one instruction with both names and both lists. */
static void split(struct isa_instruction *in, const struct line *line, struct arena *arena)
{
    char *text = arena_strndup(arena, line->text, line->length);
    char *operands = text + strcspn(text, " \t");
    if (*operands)
        *operands++ = '\0';
    operands += strspn(operands, " \t");
    in->mnemonic = text;
    in->operands = operands;
    char *second = text_starts(text, "v_dual_") ? strstr(operands, " :: v_dual_") : NULL;
    if (!second)
        return;
    *second = '\0';
    second += strlen(" :: ");
    char *tail = second + strcspn(second, " ");
    if (*tail)
        *tail++ = '\0';
    in->mnemonic = arena_printf(arena, "%s :: %s", text, second);
    in->operands = arena_printf(arena, "%s :: %s", operands, tail);
}

/* Kind and work of a mnemonic, looked up once. */
static void classify(struct memo *memo, struct isa_instruction *in)
{
    size_t at = (size_t)(hash_u64(in->mnemonic, strlen(in->mnemonic)) % MEMO_SLOTS);
    while (memo->slots[at].mnemonic && strcmp(memo->slots[at].mnemonic, in->mnemonic) != 0)
        at = (at + 1) % MEMO_SLOTS;
    struct isa_instruction model = memo->slots[at];
    if (!model.mnemonic) {
        model = (struct isa_instruction){.mnemonic = in->mnemonic, .operands = "", .loop = ISA_NO_LOOP};
        isa_classify(&model, memo->target);
        if (memo->count < MEMO_LIMIT) {
            memo->slots[at] = model;
            memo->count++;
        }
    }
    model.operands = in->operands;
    model.address = in->address;
    model.size = in->size;
    *in = model;
    isa_classify_operands(in, memo->target);
}

/* A direct branch counts 4-byte words from the next instruction, in the lower half of its only word. */
static uint64_t branch_target(const struct isa_instruction *in, uint32_t word)
{
    if (in->kind != ISA_BRANCH || in->size != 4)
        return 0;
    if (!text_starts(in->mnemonic, "s_branch") && !text_starts(in->mnemonic, "s_cbranch_"))
        return 0;
    return in->address + 4 + (uint64_t)((int64_t)(int16_t)(word & 0xffff) * 4);
}

static int by_address(const void *a, const void *b)
{
    const struct isa_instruction *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static const char *line_end(const char *line)
{
    return line + strcspn(line, "\n");
}

static void add_line(struct isa_listing *listing, const struct line *line, struct memo *memo)
{
    struct isa_instruction in = {.address = line->address, .size = line->size};
    /* ".long 0x..." and "<unknown>": data, or newer than the disassembler. */
    if (*line->text == '.' || *line->text == '<') {
        listing->unknown[listing->unknown_count++] = line->address;
        return;
    }
    split(&in, line, memo->arena);
    classify(memo, &in);
    in.target = branch_target(&in, line->first_word);
    listing->items[listing->count++] = in;
}

void isa_listing_read(struct isa_listing *listing, const char *target, const char *text, struct arena *arena)
{
    struct line line = {0};
    size_t lines = 0;
    for (const char *at = text; *at; at = line_end(at) + (*line_end(at) != '\0'))
        lines += line_read(&line, at, line_end(at));
    struct memo memo = {arena_array(arena, MEMO_SLOTS, sizeof(*memo.slots)), 0, target, arena};
    *listing = (struct isa_listing){.items = arena_array(arena, lines + 1, sizeof(*listing->items)),
                                    .unknown = arena_array(arena, lines + 1, sizeof(*listing->unknown))};
    for (const char *at = text; *at; at = line_end(at) + (*line_end(at) != '\0'))
        if (line_read(&line, at, line_end(at)))
            add_line(listing, &line, &memo);
    /* Sections need not come in the order of their addresses. */
    qsort(listing->items, listing->count, sizeof(*listing->items), by_address);
    qsort(listing->unknown, listing->unknown_count, sizeof(*listing->unknown), by_value);
}
