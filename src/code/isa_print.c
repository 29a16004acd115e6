/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "isa_internal.h"

#define KIND_COLUMNS 14u
#define WORK_COLUMNS 24u
#define INDENT 2u
#define MAX_INDENT 16u

static void add_amount(struct text *out, const char *separator, uint64_t amount, const char *unit)
{
    if (amount)
        text_addf(out, "%s%llu %s", out->length ? separator : "", (unsigned long long)amount, unit);
}

void isa_work_text(struct text *out, const struct isa_instruction *in)
{
    struct text work = {0};
    add_amount(&work, " ", in->bytes, "B");
    add_amount(&work, " ", in->flops, "flop");
    add_amount(&work, " ", in->ops, "op");
    add_amount(&work, " ", in->matrix_ops, in->is_integer ? "op/wave" : "flop/wave");
    add_amount(&work, " ", in->matrix_cycles, "clk");
    if (work.length)
        text_addn(out, work.data, work.length);
    text_release(&work);
}

/* "flops 8, matrix flops 16384, ..." of one pass through a loop. */
static void add_mix(struct text *out, const struct isa_mix *mix)
{
    static const char *const names[ISA_SPACES] = {
        [ISA_GLOBAL] = "memory", [ISA_LDS] = "LDS", [ISA_SCRATCH] = "scratch"};
    struct text work = {0};
    add_amount(&work, ", ", mix->instructions, mix->instructions == 1 ? "instruction" : "instructions");
    add_amount(&work, ", ", mix->flops, "flop/lane");
    add_amount(&work, ", ", mix->matrix_flops, "matrix flop/wave");
    add_amount(&work, ", ", mix->matrix_ops, "matrix op/wave");
    for (unsigned space = 0; space < ISA_SPACES; space++) {
        const struct isa_traffic *traffic = &mix->traffic[space];
        if (names[space] && traffic->load_bytes + traffic->store_bytes)
            text_addf(&work, ", %s %llu B/lane in %llu B/lane out", names[space],
                      (unsigned long long)traffic->load_bytes, (unsigned long long)traffic->store_bytes);
    }
    if (work.length)
        text_addn(out, work.data, work.length);
    text_release(&work);
}

static size_t depth_of(const struct isa_kernel *kernel, size_t loop)
{
    return loop == ISA_NO_LOOP ? 0 : kernel->loops[loop].depth;
}

static void add_margin(struct text *out, size_t depth)
{
    text_pad(out, (depth < MAX_INDENT ? depth : MAX_INDENT) * INDENT, ' ');
}

/* Columns before the instruction, so that notes of loops stand where their instructions do. */
#define MARGIN_COLUMNS (10u + 1u + KIND_COLUMNS + 1u + WORK_COLUMNS + 1u)

static void print_loop_starts(struct text *out, const struct isa_kernel *kernel, uint64_t address)
{
    for (size_t i = 0; i < kernel->loop_count; i++) {
        const struct isa_loop *loop = &kernel->loops[i];
        if (loop->first_address != address)
            continue;
        text_pad(out, MARGIN_COLUMNS, ' ');
        add_margin(out, loop->depth - 1);
        text_addf(out, "; loop %zu { ", i + 1);
        add_mix(out, &loop->own);
        if (!loop->is_innermost)
            text_add(out, " of its own");
        text_add(out, "\n");
    }
}

static void print_loop_ends(struct text *out, const struct isa_kernel *kernel, uint64_t address)
{
    for (size_t i = kernel->loop_count; i-- > 0;) {
        const struct isa_loop *loop = &kernel->loops[i];
        if (loop->last_address != address)
            continue;
        text_pad(out, MARGIN_COLUMNS, ' ');
        add_margin(out, loop->depth - 1);
        text_addf(out, "; } loop %zu\n", i + 1);
    }
}

static void print_column(struct text *out, const char *string, size_t columns)
{
    const size_t length = strlen(string);
    text_add(out, string);
    text_pad(out, (length < columns ? columns - length : 0) + 1, ' ');
}

/* VOPD as assemblers write it: name and operands of the one, "::", of the other. */
static void print_code(struct text *out, const struct isa_instruction *in)
{
    static const char between[] = " :: ";
    const char *name = strstr(in->mnemonic, between), *operands = strstr(in->operands, between);
    if (!name || !operands) {
        text_addf(out, "%s%s%s", in->mnemonic, *in->operands ? " " : "", in->operands);
        return;
    }
    text_addf(out, "%.*s %.*s :: %s %s", (int)(name - in->mnemonic), in->mnemonic, (int)(operands - in->operands),
              in->operands, name + strlen(between), operands + strlen(between));
}

static void print_instruction(struct text *out, const struct isa_kernel *kernel, const struct isa_instruction *in)
{
    struct text work = {0};
    isa_work_text(&work, in);
    text_addf(out, "%10llx ", (unsigned long long)in->address);
    print_column(out, isa_kind_label(in->kind), KIND_COLUMNS);
    print_column(out, work.length ? work.data : "", WORK_COLUMNS);
    add_margin(out, depth_of(kernel, in->loop));
    text_addf(out, "%s%s", in->guard, *in->guard ? " " : "");
    if (in->target)
        text_addf(out, "%s -> %llx", in->mnemonic, (unsigned long long)in->target);
    else
        print_code(out, in);
    text_add(out, "\n");
    text_release(&work);
}

void isa_print(struct text *out, const struct isa_kernel *kernel)
{
    text_addf(out, "%s: ", kernel->symbol.name);
    add_mix(out, &kernel->mix);
    text_add(out, "\n");
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        print_loop_starts(out, kernel, in->address);
        print_instruction(out, kernel, in);
        print_loop_ends(out, kernel, in->address);
    }
}
