/* SPDX-License-Identifier: MIT
 *
 * Lines of disassemblers. Of llvm-objdump -d for AMDGPU, the same from LLVM 14 to 22:
 *     "\ts_cbranch_scc1 38      // 000000001B34: BF850026 <kernel+0xd0>"
 * What stands before "//" may fill its column, so there need not be a space. Of nvdisasm and cuobjdump --dump-sass
 * (formats: NVIDIA's "CUDA Binary Utilities") an offset in the kernel as a comment of C, then the instruction:
 *     "@!P0 LDG.E.128 R4, [R2.64+0x10] ;"
 * A kernel's begin behind "Function : NAME" or ".text.NAME:"; branches name a label of nvdisasm's, `(.L_x_3), or an
 * offset. Everything else (headings, directives, encodings, "...") is skipped.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"
#include "rooftile/hash.h"
#include "rooftile/targets.h"

/* Different mnemonics of a code object: a few hundred. More than MEMO_LIMIT are classified one by one. */
#define MEMO_SLOTS 4096u
#define MEMO_LIMIT 3072u

#define MAX_CODE_WORDS 5u /* of AMD's longest instruction */
#define SASS_BYTES 16u    /* of NVIDIA's, since compute capability 7.0 */

struct isa_memo {
    struct isa_instruction slots[MEMO_SLOTS]; /* mnemonic NULL: free */
    size_t count;
};

/* One line in its parts, nothing copied. */
struct line {
    const char *text;
    size_t length; /* of the instruction, without blanks at its ends */
    uint64_t address;
    uint32_t first_word; /* AMD: of the encoding */
    uint32_t size;
};

struct label {
    const char *name;
    size_t length;
    uint64_t address;
};

struct reader {
    struct isa_listing *listing;
    const char *target;
    bool is_sass;
    struct label *labels;
    size_t label_count;
    size_t label_pending; /* labels from here on wait for the address of the next instruction */
    uint64_t end;         /* behind the last instruction */
    struct arena *arena;
};

static const char *line_end(const char *line)
{
    return line + strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
    const char *end = line_end(line);
    return *end ? end + 1 : end;
}

static void trim(const char **from, const char **end)
{
    while (*from < *end && isspace((unsigned char)**from))
        (*from)++;
    while (*end > *from && isspace((unsigned char)(*end)[-1]))
        (*end)--;
}

/* ---- one line ---- */

/* Eight hexadecimal digits and nothing of a longer word. */
static bool word_at(const char *at, const char *end, uint32_t *word)
{
    if (end - at < 8 || strspn(at, "0123456789abcdefABCDEF") < 8)
        return false;
    if (at + 8 < end && !isspace((unsigned char)at[8]))
        return false;
    *word = (uint32_t)strtoul((char[9]){at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]}, NULL, 16);
    return true;
}

static bool amd_code(struct line *line, const char *at, const char *end)
{
    unsigned words = 0;
    uint32_t word = 0;
    for (; words < MAX_CODE_WORDS; words++, at += 8) {
        at += strspn(at, " ");
        if (at >= end || !word_at(at, end, &word))
            break;
        if (words == 0)
            line->first_word = word;
    }
    line->size = words * 4;
    return words > 0;
}

static bool amd_line(struct line *line, const char *from, const char *end)
{
    const char *comment = NULL;
    char *after = NULL;
    for (const char *at = from; at + 3 < end && !comment; at++)
        comment = memcmp(at, "// ", 3) == 0 ? at : NULL;
    if (from == end || !isspace((unsigned char)*from) || !comment || !isxdigit((unsigned char)comment[3]))
        return false;
    line->address = strtoull(comment + 3, &after, 16);
    if (after >= end || *after != ':' || !amd_code(line, after + 1, end))
        return false;
    trim(&from, &comment);
    line->text = from;
    line->length = (size_t)(comment - from);
    return line->length > 0;
}

static bool sass_line(struct line *line, const char *from, const char *end)
{
    char *after = NULL;
    trim(&from, &end);
    if (end - from < 5 || from[0] != '/' || from[1] != '*' || !isxdigit((unsigned char)from[2]))
        return false;
    line->address = strtoull(from + 2, &after, 16);
    if (after + 1 >= end || after[0] != '*' || after[1] != '/')
        return false;
    from = after + 2;
    const char *stop = memchr(from, ';', (size_t)(end - from));
    end = stop ? stop : end;
    trim(&from, &end);
    line->text = from;
    line->length = (size_t)(end - from);
    line->size = SASS_BYTES;
    return true;
}

/* Cuts the first word off; what follows stays in *at. */
static char *take_word(char **at)
{
    char *word = *at, *end = word + strcspn(word, " \t");
    if (*end)
        *end++ = '\0';
    *at = end + strspn(end, " \t");
    return word;
}

static void split(struct isa_instruction *in, const struct line *line, struct arena *arena)
{
    char *rest = arena_strndup(arena, line->text, line->length);
    in->guard = *rest == '@' ? take_word(&rest) : "";
    in->mnemonic = take_word(&rest);
    in->operands = rest;
    /* "v_dual_a x :: v_dual_b y" is one instruction with both names and both lists. */
    char *second = text_starts(in->mnemonic, "v_dual_") ? strstr(rest, " :: v_dual_") : NULL;
    if (!second)
        return;
    *second = '\0';
    second += strlen(" :: ");
    const char *name = take_word(&second);
    in->mnemonic = arena_printf(arena, "%s :: %s", in->mnemonic, name);
    in->operands = arena_printf(arena, "%s :: %s", in->operands, second);
}

/* Kind and work of a mnemonic, looked up once. */
static void classify(struct isa_memo *memo, struct isa_instruction *in, const char *target)
{
    size_t at = (size_t)(hash_u64(in->mnemonic, strlen(in->mnemonic)) % MEMO_SLOTS);
    while (memo->slots[at].mnemonic && strcmp(memo->slots[at].mnemonic, in->mnemonic) != 0)
        at = (at + 1) % MEMO_SLOTS;
    struct isa_instruction model = memo->slots[at];
    if (!model.mnemonic) {
        model = (struct isa_instruction){.mnemonic = in->mnemonic, .operands = "", .loop = ISA_NO_LOOP};
        isa_classify(&model, target);
        if (memo->count < MEMO_LIMIT) {
            memo->slots[at] = model;
            memo->count++;
        }
    }
    model.guard = in->guard;
    model.operands = in->operands;
    model.address = in->address;
    model.size = in->size;
    *in = model;
    isa_correct(in, target);
}

/* ---- branches ---- */

/* A direct branch of AMD's counts 4-byte words from the next instruction, in the lower half of its only word. */
static void follow_amd(struct isa_instruction *in, uint32_t word)
{
    if (in->size == 4 && isa_starts(in->mnemonic, "s_branch s_cbranch_"))
        in->target = in->address + 4 + (uint64_t)((int64_t)(int16_t)(word & 0xffff) * 4);
    in->ends_block = strcmp(in->mnemonic, "s_branch") == 0 || isa_starts(in->mnemonic, "s_endpgm s_setpc s_rfe");
}

/* Where "`(.L_x_3)" or the last "0x1f0" of the operands lies; false: not here, or nowhere that is known. */
static bool find_target(uint64_t *target, const struct reader *reader, const char *operands)
{
    const char *name = strstr(operands, "`(");
    if (!name) {
        const char *last = strrchr(operands, ' ');
        last = last ? last + 1 : operands;
        *target = strtoull(last, NULL, 16);
        return text_starts(last, "0x");
    }
    name += strlen("`(");
    const size_t length = strcspn(name, ")");
    for (size_t k = 0; k < reader->label_count; k++)
        if (reader->labels[k].length == length && memcmp(reader->labels[k].name, name, length) == 0) {
            *target = reader->labels[k].address;
            return true;
        }
    return false;
}

static void follow_sass(struct isa_instruction *in, const struct reader *reader)
{
    uint64_t target = 0;
    const bool jumps = isa_is_opcode(in, "BRA");
    /* A call of a function in the same section: its instructions are the kernel's. */
    if ((jumps || isa_is_opcode(in, "CALL")) && find_target(&target, reader, in->operands) && target < reader->end)
        in->target = target;
    /* A predicate before the target makes a branch conditional, as its guard does: "BRA.U !UP0, `(.L_x_2)", "BRA.DIV
     * UR4, ...". */
    const bool is_conditional = (*in->guard && strcmp(in->guard, "@PT") != 0) || strchr(in->operands, ',');
    in->ends_block = jumps ? !is_conditional : !*in->guard && isa_is_opcode(in, "EXIT RET BRX BRXU JMX JMXU JMP");
}

/* ---- NVIDIA's sections ---- */

/* The name whose code begins behind this line; NULL: it is no such line. */
static const char *heading(const char *line, size_t *length)
{
    static const char function[] = "Function : ", section[] = ".text.";
    const char *end = line_end(line);
    trim(&line, &end);
    if (text_starts(line, function)) {
        line += sizeof(function) - 1;
    } else if (text_starts(line, section) && end[-1] == ':') {
        line += sizeof(section) - 1;
        end--;
    } else {
        return NULL;
    }
    *length = (size_t)(end - line);
    return line;
}

static const char *find_kernel(const char *text, const char *kernel)
{
    for (const char *line = text; *line; line = next_line(line)) {
        size_t length = 0;
        const char *name = heading(line, &length);
        if (name && length == strlen(kernel) && memcmp(name, kernel, length) == 0)
            return next_line(line);
    }
    return NULL;
}

/* Behind a kernel's last line: another heading, or what nvdisasm writes between sections. */
static const char *find_end(const char *line)
{
    size_t length = 0;
    while (*line && !heading(line, &length) && !text_starts(line, "//---") && !text_starts(line, "Fatbin "))
        line = next_line(line);
    return line;
}

/* ".L_x_3:" or "$kernel$__internal_division:", at the line's start. */
static bool read_label(struct label *label, const char *line, const char *end)
{
    if (isspace((unsigned char)*line) || *line == '/')
        return false;
    trim(&line, &end);
    *label = (struct label){line, (size_t)(end - line) - 1, 0};
    return end - line >= 2 && end[-1] == ':';
}

static void place_labels(struct reader *reader, uint64_t address)
{
    while (reader->label_pending < reader->label_count)
        reader->labels[reader->label_pending++].address = address;
}

/* ---- all lines ---- */

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

static void add_line(struct reader *reader, const struct line *line)
{
    struct isa_listing *listing = reader->listing;
    struct isa_instruction in = {.address = line->address, .size = line->size, .loop = ISA_NO_LOOP};
    split(&in, line, reader->arena);
    place_labels(reader, line->address);
    reader->end = line->address + line->size;
    if (!isalpha((unsigned char)*in.mnemonic)) { /* ".long 0x...", "<unknown>": data, or newer than the disassembler */
        listing->unknown[listing->unknown_count++] = line->address;
        return;
    }
    classify(listing->memo, &in, reader->target);
    if (!reader->is_sass)
        follow_amd(&in, line->first_word);
    listing->items[listing->count++] = in;
}

void isa_listing_read(struct isa_listing *listing, const char *kernel, const char *target, const char *text,
                      struct arena *arena)
{
    struct reader reader = {.listing = listing, .target = target, .is_sass = target_is_nvidia(target), .arena = arena};
    const char *from = reader.is_sass ? find_kernel(text, kernel) : text;
    const char *end = !from ? NULL : reader.is_sass ? find_end(from) : from + strlen(from);
    size_t lines = 1;
    for (const char *at = from; at < end; at++)
        lines += *at == '\n';
    *listing = (struct isa_listing){.items = arena_array(arena, lines, sizeof(*listing->items)),
                                    .unknown = arena_array(arena, lines, sizeof(*listing->unknown)),
                                    .memo = listing->memo ? listing->memo : arena_alloc(arena, sizeof(*listing->memo))};
    reader.labels = reader.is_sass ? arena_array(arena, lines, sizeof(*reader.labels)) : NULL;
    for (const char *at = from; at < end; at = next_line(at)) {
        struct line line = {0};
        if (reader.is_sass ? sass_line(&line, at, line_end(at)) : amd_line(&line, at, line_end(at)))
            add_line(&reader, &line);
        else if (reader.is_sass)
            reader.label_count += read_label(&reader.labels[reader.label_count], at, line_end(at));
    }
    place_labels(&reader, reader.end);
    for (size_t k = 0; k < listing->count && reader.is_sass; k++)
        follow_sass(&listing->items[k], &reader);
    /* Sections need not come in the order of their addresses. */
    qsort(listing->items, listing->count, sizeof(*listing->items), by_address);
    qsort(listing->unknown, listing->unknown_count, sizeof(*listing->unknown), by_value);
}
