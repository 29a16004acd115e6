/* SPDX-License-Identifier: MIT
 *
 * Formats instructions for people: names, the annotated listing, and a kernel's dominant work.
 */

#include "isa_internal.h"
#include "rooftile/file.h"

/* ---- names ---- */

const struct isa_kind_words isa_kinds[ISA_KINDS] = {
    [ISA_VECTOR] = {"vector", "vector"},
    [ISA_PACKED] = {"packed", "packed"},
    [ISA_DUAL] = {"dual", "dual issue"},
    [ISA_MATRIX] = {"matrix", "matrix"},
    [ISA_TRANSCENDENTAL] = {"transcendental", "transcendental"},
    [ISA_CONVERSION] = {"conversion", "conversion"},
    [ISA_CROSS_LANE] = {"cross_lane", "cross-lane"},
    [ISA_SCALAR] = {"scalar", "scalar"},
    [ISA_SCALAR_MEMORY] = {"scalar_memory", "scalar memory"},
    [ISA_LDS_READ] = {"lds_read", "LDS read"},
    [ISA_LDS_WRITE] = {"lds_write", "LDS write"},
    [ISA_LOAD] = {"load", "load"},
    [ISA_STORE] = {"store", "store"},
    [ISA_SCRATCH_LOAD] = {"scratch_load", "scratch load"},
    [ISA_SCRATCH_STORE] = {"scratch_store", "scratch store"},
    [ISA_ATOMIC] = {"atomic", "atomic"},
    [ISA_BARRIER] = {"barrier", "barrier"},
    [ISA_WAIT] = {"wait", "wait"},
    [ISA_BRANCH] = {"branch", "branch"},
    [ISA_OTHER] = {"other", "other"},
};

const char *const isa_spaces[ISA_SPACES] = {
    [ISA_NO_SPACE] = "none",   [ISA_GLOBAL] = "global",     [ISA_LDS] = "lds",
    [ISA_SCRATCH] = "scratch", [ISA_CONSTANT] = "constant",
};

const char *const isa_severities[] = {[ISA_NOTE] = "note", [ISA_HINT] = "hint", [ISA_PROBLEM] = "problem"};

/* ---- the listing ---- */

#define KIND_COLUMNS 14u
#define WORK_COLUMNS 24u
#define INDENT 2u
#define MAX_INDENT 16u

/* Columns before the instruction, which align notes on loops with their instructions. */
#define MARGIN_COLUMNS (10u + 1u + KIND_COLUMNS + 1u + WORK_COLUMNS + 1u)

/* Adds "16 B", after a separator unless it comes first after `start`. */
static void add_amount(struct text *out, size_t start, const char *separator, uint64_t amount, const char *unit)
{
    if (amount)
        text_addf(out, "%s%llu %s", out->length > start ? separator : "", (unsigned long long)amount, unit);
}

/* Adds "20 instructions, 8 flop/lane, ..." for one pass through a loop. */
static void add_mix(struct text *out, const struct isa_mix *mix)
{
    static const char *const names[ISA_SPACES] = {
        [ISA_GLOBAL] = "memory", [ISA_LDS] = "LDS", [ISA_SCRATCH] = "scratch"};
    const size_t start = out->length;
    add_amount(out, start, ", ", mix->instructions, mix->instructions == 1 ? "instruction" : "instructions");
    add_amount(out, start, ", ", mix->flops, "flop/lane");
    add_amount(out, start, ", ", mix->matrix_flops, "matrix flop/wave");
    add_amount(out, start, ", ", mix->matrix_ops, "matrix op/wave");
    for (unsigned space = 0; space < ISA_SPACES; space++) {
        const struct isa_traffic *traffic = &mix->traffic[space];
        if (names[space] && traffic->load_bytes + traffic->store_bytes)
            text_addf(out, ", %s %llu B/lane in %llu B/lane out", names[space], (unsigned long long)traffic->load_bytes,
                      (unsigned long long)traffic->store_bytes);
    }
}

static void add_indent(struct text *out, size_t depth)
{
    text_pad(out, (depth < MAX_INDENT ? depth : MAX_INDENT) * INDENT, ' ');
}

static void add_loop_note(struct text *out, const struct isa_loop *loop)
{
    text_pad(out, MARGIN_COLUMNS, ' ');
    add_indent(out, loop->depth - 1);
}

static void print_loop_starts(struct text *out, const struct isa_kernel *kernel, uint64_t address)
{
    for (size_t i = 0; i < kernel->loop_count; i++) {
        const struct isa_loop *loop = &kernel->loops[i];
        if (loop->first_address != address)
            continue;
        add_loop_note(out, loop);
        text_addf(out, "; loop %zu { ", i + 1);
        add_mix(out, &loop->own);
        text_add(out, loop->is_innermost ? "\n" : " of its own\n");
    }
}

void isa_print(struct text *out, const struct isa_kernel *kernel)
{
    text_addf(out, "%s: ", kernel->code.name);
    add_mix(out, &kernel->mix);
    text_add(out, "\n");
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        FOR_EACH(const struct isa_function, function, kernel->functions, kernel->function_count)
            if (function->first == i)
                text_addf(out, "%s:\n", function->demangled);
        if (kernel->function_count && in->address == kernel->code.code_address)
            text_addf(out, "%s:\n", kernel->code.name);
        print_loop_starts(out, kernel, in->address);
        /* Where the source line changes: "; gemm.hip:88". */
        if (in->file && (!i || in[-1].file != in->file || in[-1].line != in->line))
            text_addf(out, "%*s; %s:%u\n", (int)MARGIN_COLUMNS, "", path_base(in->file), in->line);
        text_addf(out, "%10llx %-*s ", (unsigned long long)in->address, (int)KIND_COLUMNS, isa_kinds[in->kind].label);
        const size_t start = out->length;
        add_amount(out, start, " ", in->bytes, "B");
        add_amount(out, start, " ", in->flops, "flop");
        add_amount(out, start, " ", in->ops, "op");
        add_amount(out, start, " ", in->matrix_ops, in->is_integer ? "op/wave" : "flop/wave");
        add_amount(out, start, " ", in->matrix_cycles, "clk");
        const size_t used = out->length - start;
        text_pad(out, (used < WORK_COLUMNS ? WORK_COLUMNS - used : 0) + 1, ' ');
        add_indent(out, in->loop == ISA_NO_LOOP ? 0 : kernel->loops[in->loop].depth);
        text_addf(out, "%s%s", in->guard, *in->guard ? " " : "");
        const char *blank = *in->operands ? " " : "";
        if (in->target)
            text_addf(out, "%s -> %llx\n", in->mnemonic, (unsigned long long)in->target);
        else if (in->dual)
            text_addf(out, "%s %s :: %s %s\n", in->mnemonic, in->operands, in->dual->mnemonic, in->dual->operands);
        else
            text_addf(out, "%s%s%s\n", in->mnemonic, blank, in->operands);
        for (size_t k = kernel->loop_count; k-- > 0;)
            if (kernel->loops[k].last_address == in->address) {
                add_loop_note(out, &kernel->loops[k]);
                text_addf(out, "; } loop %zu\n", k + 1);
            }
    }
}
