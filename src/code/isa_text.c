/* SPDX-License-Identifier: MIT
 *
 * Parses lines of disassemblers. llvm-objdump -d for AMDGPU, the same from LLVM 14 to 22:
 *     "\ts_cbranch_scc1 38      // 000000001B34: BF850026 <kernel+0xd0>"
 * The text before "//" may fill its column, so there may be no space. Lines of nvdisasm and cuobjdump --dump-sass
 * (formats: NVIDIA's "CUDA Binary Utilities") have an offset in the kernel as a C comment, then the instruction:
 *     "@!P0 LDG.E.128 R4, [R2.64+0x10] ;"
 * A kernel starts after "Function : NAME" or ".text.NAME:"; branches name a label of nvdisasm's, `(.L_x_3), or an
 * offset. Everything else (headings, directives, encodings, "...") is skipped.
 */

#include "isa_internal.h"
#include "rooftile/hash.h"
#include "rooftile/targets.h"

/* A code object has a few hundred different mnemonics. */
#define MEMO_SLOTS 4096u

#define MAX_CODE_WORDS 5u /* of AMD's longest instruction */
#define LOST_WORDS 3u     /* of the longest instruction that LLVM 22 does not know */
#define SASS_BYTES 16u    /* of NVIDIA instructions since compute capability 7.0 */

/* A cache of classified mnemonics, with the last one in each slot. */
struct isa_memo {
    struct isa_instruction slots[MEMO_SLOTS];
};

struct label {
    const char *name;
    uint64_t address;
};

/* An instruction of gfx1250 that LLVM 22 does not know: it writes the first word as .long and continues in the middle
 * of the instruction. AMD's assembly kernels have tensor loads whose unused bits are zero, where LLVM's assembler sets
 * them, and separate halves of a scaled WMMA: first the scales, then the product. Encodings are those of llvm-mc 22. */
struct lost {
    uint32_t mask, value;   /* of its first word */
    uint8_t words, d, a, b; /* its size; VGPRs of the result and of both factors */
    const char *mnemonic;
};
static const struct lost lost[] = {
    {0xffbfc000, 0xd0310000, 3, 0, 0, 0, "tensor_load_to_lds"},
    {0xffbfc000, 0xd0314000, 3, 0, 0, 0, "tensor_store_from_lds"},
    {0xffff0000, 0xcc350000, 2, 0, 1, 1, "v_wmma_ld_scale_paired_b32"},
    {0xffff0000, 0xcc3a0000, 2, 0, 2, 2, "v_wmma_ld_scale16_paired_b64"},
    {0xffff0000, 0xcc330000, 2, 8, 16, 16, "v_wmma_f32_16x16x128_f8f6f4"},
    {0xffff0000, 0xcc880000, 2, 16, 16, 8, "v_wmma_f32_32x16x128_f4"},
};

struct reader {
    struct isa_listing *listing;
    const char *target;
    bool is_sass;
    struct label *labels;
    size_t label_count;
    size_t label_pending;    /* labels from here on get the address of the next instruction */
    uint64_t end;            /* after the last instruction */
    unsigned banks;          /* of VGPRs, by the last s_set_vgpr_msb: 2 bits per source, then the result */
    const struct lost *lost; /* instruction whose words are being collected, or NULL */
    uint32_t lost_words[LOST_WORDS + MAX_CODE_WORDS];
    unsigned lost_count;
    uint64_t lost_address;
    struct arena *arena;
    struct arena growing; /* for the list while its length is unknown */
};

static char *trim(char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    size_t length = strlen(line);
    while (length && isspace((unsigned char)line[length - 1]))
        length--;
    line[length] = '\0';
    return line;
}

/* ---- one line ---- */

/* Reads address, size and encoding of an AMD instruction. Returns its text, or NULL if the line has none. */
static char *read_amd(struct isa_instruction *in, uint32_t words[MAX_CODE_WORDS], char *line)
{
    char *comment = isspace((unsigned char)*line) ? strstr(line, "// ") : NULL, *at = NULL;
    if (!comment || !isxdigit((unsigned char)comment[3]))
        return NULL;
    in->address = strtoull(comment + 3, &at, 16);
    if (*at++ != ':')
        return NULL;
    /* Words have exactly eight digits. */
    for (; in->size < 4 * MAX_CODE_WORDS; in->size += 4, at += 8) {
        at += strspn(at, " ");
        if (strspn(at, "0123456789abcdefABCDEF") != 8 || (at[8] && !isspace((unsigned char)at[8])))
            break;
        words[in->size / 4] = (uint32_t)strtoul(at, NULL, 16);
    }
    *comment = '\0';
    line = trim(line);
    return in->size && *line ? line : NULL;
}

static char *read_sass(struct isa_instruction *in, char *line)
{
    char *at = NULL;
    line = trim(line);
    if (!text_starts(line, "/*") || !isxdigit((unsigned char)line[2]))
        return NULL;
    in->address = strtoull(line + 2, &at, 16);
    in->size = SASS_BYTES;
    if (!text_starts(at, "*/"))
        return NULL;
    at[strcspn(at, ";")] = '\0';
    return trim(at + 2);
}

/* Cuts off and returns the first word; *at becomes the rest. */
static char *take_word(char **at)
{
    char *word = *at, *end = word + strcspn(word, " \t");
    if (*end)
        *end++ = '\0';
    *at = end + strspn(end, " \t");
    return word;
}

static void split(struct isa_instruction *in, char *code, struct arena *arena)
{
    /* LLVM 22 writes a constant that is not in its shortest encoding as "lit(0xffffffff)" or "lit64(...)". */
    for (char *at = strstr(code, "lit"); at; at = strstr(at, "lit")) {
        char *open = at + strlen("lit") + (text_starts(at + strlen("lit"), "64") ? 2 : 0);
        char *close = *open == '(' && (at == code || at[-1] == ' ') ? strchr(open, ')') : NULL;
        if (close) {
            memmove(at, open + 1, (size_t)(close - open - 1));
            memmove(at + (close - open - 1), close + 1, strlen(close + 1) + 1);
        } else {
            at++;
        }
    }
    in->guard = *code == '@' ? take_word(&code) : "";
    in->mnemonic = take_word(&code);
    in->operands = code;
    /* "v_dual_a x :: v_dual_b y" is one instruction. */
    char *second = text_starts(in->mnemonic, "v_dual_") ? strstr(code, " :: v_dual_") : NULL;
    if (!second)
        return;
    *second = '\0';
    second += strlen(" :: ");
    struct isa_instruction half = {.address = in->address, .size = in->size, .guard = "", .loop = ISA_NO_LOOP};
    half.mnemonic = take_word(&second);
    half.operands = second;
    in->dual = arena_copy(arena, &half, sizeof(half));
}

/* Kind and work of each mnemonic are computed once. */
static void classify(struct isa_instruction *in, const struct reader *reader)
{
    const uint64_t hash = hash_u64(in->mnemonic, strlen(in->mnemonic));
    struct isa_instruction *known = &reader->listing->memo->slots[hash % MEMO_SLOTS], found;
    if (!known->mnemonic || strcmp(known->mnemonic, in->mnemonic) != 0) {
        *known = (struct isa_instruction){.mnemonic = in->mnemonic, .operands = "", .policy = "", .loop = ISA_NO_LOOP};
        isa_classify(known, reader->target, reader->arena);
    }
    found = *known;
    found.guard = in->guard;
    found.operands = in->operands;
    found.address = in->address;
    found.size = in->size;
    if (!reader->is_sass) {
        isa_operands_read(&found, reader->arena);
        isa_waits_read(&found);
        found.policy = isa_policy_read(&found, reader->arena);
    }
    if (in->dual) {
        struct isa_instruction half = *in->dual;
        classify(&half, reader);
        found.dual = arena_copy(reader->arena, &half, sizeof(half));
        found.flops += half.flops;
        found.ops += half.ops;
    }
    *in = found;
    isa_correct(in, reader->target);
}

/* ---- branches ---- */

static void follow_amd(struct isa_instruction *in, uint32_t word)
{
    static const char direct[] = "s_branch s_cbranch_ s_call_ s_subvector_loop_";
    static const char indirect[] = "s_setpc_ s_set_pc_ s_swappc_ s_swap_pc_ s_rfe_ s_cbranch_g_fork";
    const char *name = in->mnemonic;
    if (in->kind != ISA_BRANCH)
        return;
    in->is_indirect = isa_starts(name, indirect);
    in->is_call = isa_starts(name, "s_swappc_ s_swap_pc_ s_call_");
    /* A count of 4-byte words from the next instruction, in the lower half of its only word. */
    if (in->size == 4 && !in->is_indirect && isa_starts(name, direct) && strcmp(name, "s_cbranch_join") != 0)
        in->target = in->address + 4 + (uint64_t)((int64_t)(int16_t)(word & 0xffff) * 4);
    /* Bytes from the next instruction. */
    if (text_starts(name, "s_add_pc_")) {
        in->is_indirect = !isdigit((unsigned char)*in->operands) && *in->operands != '-';
        if (!in->is_indirect)
            in->target = in->address + in->size + (uint64_t)strtoll(in->operands, NULL, 0);
    }
}

/* Finds the target "`(.L_x_3)" or the last "0x1f0" of the operands; false: outside the kernel, or unknown. */
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
        if (strncmp(reader->labels[k].name, name, length) == 0 && !reader->labels[k].name[length]) {
            *target = reader->labels[k].address;
            return true;
        }
    return false;
}

static void follow_sass(struct isa_instruction *in, const struct reader *reader)
{
    uint64_t target = 0;
    const bool jumps = isa_is_opcode(in, "BRA");
    /* A call of a function in the same section, whose instructions are part of the kernel. */
    if ((jumps || isa_is_opcode(in, "CALL")) && find_target(&target, reader, in->operands) && target < reader->end)
        in->target = target;
    in->is_call = isa_is_opcode(in, "CALL");
    in->is_indirect = in->is_call || isa_is_opcode(in, "BRX BRXU JMX JMXU");
    in->is_return = isa_is_opcode(in, "RET");
    /* A predicate before the target makes a branch conditional, as its guard does: "BRA.U !UP0, `(.L_x_2)", "BRA.DIV
     * UR4, ...". */
    const bool is_conditional = (*in->guard && strcmp(in->guard, "@PT") != 0) || strchr(in->operands, ',');
    in->ends_block = jumps ? !is_conditional : !*in->guard && isa_is_opcode(in, "EXIT RET BRX BRXU JMX JMXU JMP");
}

/* ---- NVIDIA's sections ---- */

/* Returns the name whose code begins after this line, or NULL. */
static const char *heading(char *line)
{
    static const char function[] = "Function : ", section[] = ".text.";
    line = trim(line);
    if (text_starts(line, function))
        return line + sizeof(function) - 1;
    if (!text_starts(line, section) || !text_ends(line, ":"))
        return NULL;
    line[strlen(line) - 1] = '\0';
    return line + sizeof(section) - 1;
}

static void place_labels(struct reader *reader, uint64_t address)
{
    while (reader->label_pending < reader->label_count)
        reader->labels[reader->label_pending++].address = address;
}

/* ---- instructions unknown to LLVM ---- */

static const char *vector_text(const struct reader *reader, uint32_t number, unsigned count, unsigned bank)
{
    const unsigned first = (number & 0xff) + 256 * (reader->banks >> bank & 3);
    if (!(number & 0x100))
        return "0";
    return count == 1 ? arena_printf(reader->arena, "v%u", first)
                      : arena_printf(reader->arena, "v[%u:%u]", first, first + count - 1);
}

/* Formats its text from its words. */
static char *lost_text(const struct reader *reader)
{
    const struct lost *row = reader->lost;
    const uint32_t *words = reader->lost_words, low = words[1], last = words[2];
    if (row->words == 3) /* groups 0 and 1 of the tensor's descriptor */
        return arena_printf(reader->arena, "%s s[%u:%u], s[%u:%u]", row->mnemonic, last & 0x7f, (last & 0x7f) + 3,
                            last >> 8 & 0x7f, (last >> 8 & 0x7f) + 7);
    const char *a = vector_text(reader, low & 0x1ff, row->a, 0), *b = vector_text(reader, low >> 9 & 0x1ff, row->b, 2);
    if (!row->d)
        return arena_printf(reader->arena, "%s %s, %s", row->mnemonic, a, b);
    return arena_printf(reader->arena, "%s %s, %s, %s, %s", row->mnemonic,
                        vector_text(reader, (words[0] & 0xff) | 0x100, row->d, 6), a, b,
                        vector_text(reader, low >> 18 & 0x1ff, row->d, 4));
}

/* Consumes the line's words if they belong to such an instruction. *text becomes its text once it is complete, else
 * NULL. Returns false for an ordinary line. */
static bool gather_lost(struct reader *reader, struct isa_instruction *in, const uint32_t *words, char **text)
{
    const bool is_word = text_starts(*text, ".long") && text_starts(reader->target, "gfx125");
    for (size_t k = 0; k < COUNT_OF(lost) && is_word && !reader->lost; k++)
        if ((words[0] & lost[k].mask) == lost[k].value) {
            reader->lost = &lost[k];
            reader->lost_count = 0;
            reader->lost_address = in->address;
        }
    if (!reader->lost)
        return false;
    memcpy(&reader->lost_words[reader->lost_count], words, in->size);
    reader->lost_count += in->size / 4;
    *text = NULL;
    if (reader->lost_count < reader->lost->words)
        return true;
    in->address = reader->lost_address;
    in->size = 4 * reader->lost->words;
    *text = lost_text(reader);
    reader->lost = NULL;
    return true;
}

/* ---- all lines ---- */

static void read_line(struct reader *reader, char *line)
{
    struct isa_listing *listing = reader->listing;
    struct isa_instruction in = {.loop = ISA_NO_LOOP};
    uint32_t words[MAX_CODE_WORDS] = {0};
    char *code = reader->is_sass ? read_sass(&in, line) : read_amd(&in, words, line);
    if (code && !reader->is_sass && gather_lost(reader, &in, words, &code) && !code)
        return;
    /* ".L_x_3:" or "$kernel$__internal_division:", at the start of the line. */
    const bool is_label = !code && reader->is_sass && !isspace((unsigned char)*line) && *line != '/';
    if (is_label && text_ends(line = trim(line), ":") && line[1]) {
        line[strlen(line) - 1] = '\0';
        ARENA_PUSH(reader->arena, reader->labels, reader->label_count,
                   (struct label){.name = arena_strdup(reader->arena, line)});
    }
    if (!code)
        return;
    split(&in, arena_strdup(reader->arena, code), reader->arena);
    place_labels(reader, in.address);
    reader->end = in.address + in.size;
    if (!isalpha((unsigned char)*in.mnemonic)) { /* ".long 0x...", "<unknown>": data, or newer than the disassembler */
        ARENA_PUSH(reader->arena, listing->unknown, listing->unknown_count,
                   (struct isa_word){in.address, arena_printf(reader->arena, "%s %s", in.mnemonic, in.operands)});
        return;
    }
    classify(&in, reader);
    if (!reader->is_sass) {
        follow_amd(&in, words[0]);
        if (strcmp(in.mnemonic, "s_set_vgpr_msb") == 0)
            reader->banks = (unsigned)isa_operand_at(&in, 0)->constant;
        in.ends_block = strcmp(in.mnemonic, "s_branch") == 0 ||
                        isa_starts(in.mnemonic, "s_endpgm s_setpc_ s_set_pc_ s_add_pc_ s_rfe_ s_cbranch_g_fork");
    }
    ARENA_PUSH(&reader->growing, listing->items, listing->count, in);
}

/* The lists are usually sorted already. */
static void sort(void *items, size_t count, size_t size)
{
    size_t sorted = 1;
    while (sorted < count && isa_by_number((char *)items + (sorted - 1) * size, (char *)items + sorted * size) <= 0)
        sorted++;
    if (sorted < count)
        qsort(items, count, size, isa_by_number);
}

void isa_listing_read(struct isa_listing *listing, const char *kernel, const struct codeobj *object, const char *text,
                      struct arena *arena)
{
    const char *target = arena_strndup(arena, object->target, strcspn(object->target, ":"));
    struct reader reader = {.listing = listing, .target = target, .is_sass = target_is_nvidia(target), .arena = arena};
    *listing = (struct isa_listing){.memo = listing->memo ? listing->memo : arena_alloc(arena, sizeof(*listing->memo))};
    /* For NVIDIA, reads from the kernel's heading to the next one or to the end of the section. */
    SCOPED(text_release) struct text line = {0};
    bool is_inside = !reader.is_sass;
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        text_clear(&line);
        text_addn(&line, text, length);
        const char *name = reader.is_sass ? heading(line.data) : NULL;
        const bool is_border = text_starts(line.data, "//---") || text_starts(line.data, "Fatbin ");
        if (is_inside && reader.is_sass && (name || is_border)) /* end of a section in the tools' output */
            break;
        if (name)
            is_inside = strcmp(name, kernel) == 0;
        else if (is_inside)
            read_line(&reader, line.data);
    }
    listing->items = arena_copy(arena, listing->items, listing->count * sizeof(*listing->items));
    arena_release(&reader.growing);
    place_labels(&reader, reader.end);
    for (size_t k = 0; k < listing->count && reader.is_sass; k++)
        follow_sass(&listing->items[k], &reader);
    /* Sections may not be in address order. */
    sort(listing->items, listing->count, sizeof(*listing->items));
    sort(listing->unknown, listing->unknown_count, sizeof(*listing->unknown));
    if (!reader.is_sass)
        isa_jumps_find(listing, object, arena);
}
