/* SPDX-License-Identifier: MIT
 *
 * Lines of nvdisasm and of cuobjdump --dump-sass: an offset as a comment of C, then
 *     "@!P0 LDG.E.128 R4, [R2.64+0x10] ;"
 * A kernel's begin behind "Function : NAME" or ".text.NAME:". Branches name a label of nvdisasm's, `(.L_x_3), or an
 * offset. Formats: NVIDIA's "CUDA Binary Utilities". All else (headings, directives, encodings) is skipped.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"

#define CODE_BYTES 16u /* of an instruction, since compute capability 7.0 */

struct label {
    const char *name;
    size_t length;
    uint64_t address;
};

struct reader {
    struct isa_listing *listing;
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

/* ---- where a kernel is ---- */

/* The name whose code begins behind this line; NULL: it is no such line. */
static const char *heading(const char *line, size_t *length)
{
    static const char function[] = "Function : ", section[] = ".text.";
    const char *end = line_end(line);
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    while (line < end && isspace((unsigned char)*line))
        line++;
    if (text_starts(line, function)) {
        *length = (size_t)(end - line) - (sizeof(function) - 1);
        return line + sizeof(function) - 1;
    }
    if (text_starts(line, section) && end[-1] == ':') {
        *length = (size_t)(end - line) - sizeof(section);
        return line + sizeof(section) - 1;
    }
    return NULL;
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

/* Another heading, or what nvdisasm writes between sections. */
static bool ends_kernel(const char *line)
{
    size_t length = 0;
    return heading(line, &length) || text_starts(line, "//---") || text_starts(line, "Fatbin ");
}

/* ---- one line ---- */

/* Behind the comment with the offset; NULL: the line is no instruction. */
static const char *read_address(uint64_t *address, const char *line, const char *end)
{
    char *after = NULL;
    while (line < end && isspace((unsigned char)*line))
        line++;
    if (end - line < 5 || line[0] != '/' || line[1] != '*' || !isxdigit((unsigned char)line[2]))
        return NULL;
    *address = strtoull(line + 2, &after, 16);
    return after + 1 < end && after[0] == '*' && after[1] == '/' ? after + 2 : NULL;
}

/* One word of the text before its ';', cut off the front. */
static const char *take_word(const char **at, const char *end, struct arena *arena)
{
    while (*at < end && isspace((unsigned char)**at))
        (*at)++;
    const char *from = *at;
    while (*at < end && !isspace((unsigned char)**at))
        (*at)++;
    return arena_strndup(arena, from, (size_t)(*at - from));
}

static void add_instruction(struct reader *reader, uint64_t address, const char *at, const char *end)
{
    const char *stop = memchr(at, ';', (size_t)(end - at));
    struct isa_instruction in = {.address = address, .size = CODE_BYTES, .guard = "", .loop = ISA_NO_LOOP};
    end = stop ? stop : end;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    in.mnemonic = take_word(&at, end, reader->arena);
    if (*in.mnemonic == '@') {
        in.guard = in.mnemonic;
        in.mnemonic = take_word(&at, end, reader->arena);
    }
    while (at < end && isspace((unsigned char)*at))
        at++;
    in.operands = arena_strndup(reader->arena, at, (size_t)(end - at));
    for (; reader->label_pending < reader->label_count; reader->label_pending++)
        reader->labels[reader->label_pending].address = address;
    reader->end = address + CODE_BYTES;
    if (isalpha((unsigned char)*in.mnemonic))
        reader->listing->items[reader->listing->count++] = in;
    else
        reader->listing->unknown[reader->listing->unknown_count++] = address;
}

/* ".L_x_3:" or "$kernel$__internal_division:", at the line's start. */
static bool read_label(struct label *label, const char *line, const char *end)
{
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    if (end - line < 2 || end[-1] != ':' || isspace((unsigned char)*line) || *line == '/')
        return false;
    *label = (struct label){line, (size_t)(end - line) - 1, 0};
    return true;
}

/* ---- branches ---- */

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

/* A predicate before the target makes a branch conditional, as its guard does: "BRA.U !UP0, `(.L_x_2)", "BRA.DIV UR4,
 * ...". */
static bool is_conditional(const struct isa_instruction *in)
{
    return (*in->guard && strcmp(in->guard, "@PT") != 0) || strchr(in->operands, ',') != NULL;
}

static bool is_opcode(const struct isa_instruction *in, const char *name)
{
    const size_t length = strlen(name);
    return text_starts(in->mnemonic, name) && (in->mnemonic[length] == '\0' || in->mnemonic[length] == '.');
}

static void follow(struct isa_instruction *in, const struct reader *reader)
{
    static const char *const leave[] = {"EXIT", "RET", "BRX", "BRXU", "JMX", "JMXU", "JMP"};
    uint64_t target = 0;
    /* A call of a function in the same section: its instructions are the kernel's. */
    const bool jumps = is_opcode(in, "BRA"), calls = is_opcode(in, "CALL");
    if ((jumps || calls) && find_target(&target, reader, in->operands) && target < reader->end)
        in->target = target;
    in->ends_block = jumps && !is_conditional(in);
    for (size_t k = 0; k < sizeof(leave) / sizeof(*leave); k++)
        in->ends_block = in->ends_block || (is_opcode(in, leave[k]) && !*in->guard);
}

void isa_sass_read(struct isa_listing *listing, const char *kernel, const char *target, const char *text,
                   struct arena *arena)
{
    const char *from = find_kernel(text, kernel);
    size_t lines = 0;
    for (const char *line = from; line && *line && !ends_kernel(line); line = next_line(line))
        lines++;
    *listing = (struct isa_listing){.items = arena_array(arena, lines + 1, sizeof(*listing->items)),
                                    .unknown = arena_array(arena, lines + 1, sizeof(*listing->unknown))};
    struct reader reader = {
        .listing = listing, .labels = arena_array(arena, lines + 1, sizeof(struct label)), .arena = arena};
    for (const char *line = from; lines > 0; line = next_line(line), lines--) {
        uint64_t address = 0;
        const char *end = line_end(line), *at = read_address(&address, line, end);
        if (at)
            add_instruction(&reader, address, at, end);
        else
            reader.label_count += read_label(&reader.labels[reader.label_count], line, end);
    }
    for (; reader.label_pending < reader.label_count; reader.label_pending++)
        reader.labels[reader.label_pending].address = reader.end;
    for (size_t k = 0; k < listing->count; k++) {
        isa_sass_classify(&listing->items[k], target);
        follow(&listing->items[k], &reader);
    }
}
