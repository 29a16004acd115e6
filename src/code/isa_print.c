/* SPDX-License-Identifier: MIT
 *
 * Instructions for people: names, the listing with its margin, and what a kernel is mostly about.
 */
#include <string.h>

#include "isa_internal.h"

/* ---- names ---- */

static const struct {
    const char *name, *label;
} kinds[ISA_KINDS] = {
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

static const char *const spaces[ISA_SPACES] = {
    [ISA_NO_SPACE] = "none",   [ISA_GLOBAL] = "global",     [ISA_LDS] = "lds",
    [ISA_SCRATCH] = "scratch", [ISA_CONSTANT] = "constant",
};

static const char *const severities[] = {[ISA_NOTE] = "note", [ISA_HINT] = "hint", [ISA_PROBLEM] = "problem"};

const char *isa_kind_name(enum isa_kind kind)
{
    return kinds[kind].name;
}

const char *isa_kind_label(enum isa_kind kind)
{
    return kinds[kind].label;
}

const char *isa_space_name(enum isa_space space)
{
    return spaces[space];
}

const char *isa_severity_name(enum isa_severity severity)
{
    return severities[severity];
}

/* ---- the listing ---- */

#define KIND_COLUMNS 14u
#define WORK_COLUMNS 24u
#define INDENT 2u
#define MAX_INDENT 16u

/* Columns before the instruction, so that notes of loops stand where their instructions do. */
#define MARGIN_COLUMNS (10u + 1u + KIND_COLUMNS + 1u + WORK_COLUMNS + 1u)

/* "16 B", behind a separator unless it is the first thing after `start`. */
static void add_amount(struct text *out, size_t start, const char *separator, uint64_t amount, const char *unit)
{
    if (amount)
        text_addf(out, "%s%llu %s", out->length > start ? separator : "", (unsigned long long)amount, unit);
}

/* The work of one instruction: "16 B", "2 flop", "8192 flop/wave 16 clk", or "". */
static void add_work(struct text *out, const struct isa_instruction *in)
{
    const size_t start = out->length;
    add_amount(out, start, " ", in->bytes, "B");
    add_amount(out, start, " ", in->flops, "flop");
    add_amount(out, start, " ", in->ops, "op");
    add_amount(out, start, " ", in->matrix_ops, in->is_integer ? "op/wave" : "flop/wave");
    add_amount(out, start, " ", in->matrix_cycles, "clk");
}

/* "20 instructions, 8 flop/lane, ..." of one pass through a loop. */
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

static void print_loop_ends(struct text *out, const struct isa_kernel *kernel, uint64_t address)
{
    for (size_t i = kernel->loop_count; i-- > 0;) {
        if (kernel->loops[i].last_address != address)
            continue;
        add_loop_note(out, &kernel->loops[i]);
        text_addf(out, "; } loop %zu\n", i + 1);
    }
}

static void print_code(struct text *out, const struct isa_instruction *in)
{
    const char *blank = *in->operands ? " " : "";
    if (in->target)
        text_addf(out, "%s -> %llx\n", in->mnemonic, (unsigned long long)in->target);
    else if (*in->dual_mnemonic)
        text_addf(out, "%s %s :: %s %s\n", in->mnemonic, in->operands, in->dual_mnemonic, in->dual_operands);
    else
        text_addf(out, "%s%s%s\n", in->mnemonic, blank, in->operands);
}

static void print_instruction(struct text *out, const struct isa_kernel *kernel, const struct isa_instruction *in)
{
    text_addf(out, "%10llx %-*s ", (unsigned long long)in->address, (int)KIND_COLUMNS, isa_kind_label(in->kind));
    const size_t start = out->length;
    add_work(out, in);
    const size_t used = out->length - start;
    text_pad(out, (used < WORK_COLUMNS ? WORK_COLUMNS - used : 0) + 1, ' ');
    add_indent(out, in->loop == ISA_NO_LOOP ? 0 : kernel->loops[in->loop].depth);
    text_addf(out, "%s%s", in->guard, *in->guard ? " " : "");
    print_code(out, in);
}

void isa_print(struct text *out, const struct isa_kernel *kernel)
{
    text_addf(out, "%s: ", kernel->code.name);
    add_mix(out, &kernel->mix);
    text_add(out, "\n");
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        print_loop_starts(out, kernel, in->address);
        print_instruction(out, kernel, in);
        print_loop_ends(out, kernel, in->address);
    }
}

/* ---- the hot loop ---- */

/* Scalar arithmetic, waits and branches keep the loop going; what they serve is what is measured. */
static bool is_work(enum isa_kind kind)
{
    switch (kind) {
    case ISA_SCALAR:
    case ISA_WAIT:
    case ISA_BRANCH:
    case ISA_OTHER:
    case ISA_KINDS:
        return false;
    default:
        return true;
    }
}

/* Every loop is taken to turn ten times: a tenth of the instructions one level deeper run as often. */
static double weight_of(const struct isa_loop *loop, uint64_t work)
{
    double weight = (double)work;
    for (unsigned depth = 1; depth < loop->depth && depth < 16; depth++)
        weight *= 10;
    return weight;
}

static uint64_t work_of(const struct isa_mix *mix)
{
    uint64_t work = 0;
    for (int kind = 0; kind < ISA_KINDS; kind++)
        if (is_work((enum isa_kind)kind))
            work += mix->count[kind] * (kind == ISA_DUAL ? 2u : 1u);
    return work;
}

/* The same operation has several encodings: v_fma_f32_e64, and a half of a VOPD, v_dual_fma_f32. */
static const char *name_of(const char *mnemonic, struct arena *arena)
{
    size_t length = strlen(mnemonic);
    const bool suffixed =
        length > 4 && (!memcmp(mnemonic + length - 4, "_e32", 4) || !memcmp(mnemonic + length - 4, "_e64", 4));
    length -= suffixed ? 4 : 0;
    const size_t dual = text_starts(mnemonic, "v_dual_") ? strlen("dual_") : 0;
    return arena_printf(arena, "%.2s%.*s", mnemonic, (int)(length - dual - 2), mnemonic + dual + 2);
}

struct count {
    const char *name;
    uint64_t count;
    bool is_memory;
};

/* Of equals the access, else the first: a chase has an address computation for each load, and is about the load. */
static bool is_more(const struct count *a, const struct count *b)
{
    return a->count > b->count || (a->count == b->count && a->is_memory && !b->is_memory);
}

static void count_name(struct count *counts, size_t *known, const struct isa_instruction *in, const char *mnemonic,
                       struct arena *arena)
{
    const char *name = name_of(mnemonic, arena);
    size_t at = 0;
    while (at < *known && strcmp(counts[at].name, name) != 0)
        at++;
    *known += at == *known;
    counts[at].name = name;
    counts[at].count++;
    counts[at].is_memory = in->space != ISA_NO_SPACE;
}

static struct count most_frequent(const struct isa_kernel *kernel, size_t loop, uint64_t work, struct arena *arena)
{
    struct count *counts = arena_array(arena, work, sizeof(*counts)), most = {.count = 0};
    size_t known = 0;
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (in->loop != loop || !is_work(in->kind))
            continue;
        count_name(counts, &known, in, in->mnemonic, arena);
        if (*in->dual_mnemonic)
            count_name(counts, &known, in, in->dual_mnemonic, arena);
    }
    for (size_t k = 0; k < known; k++)
        if (is_more(&counts[k], &most))
            most = counts[k];
    return most;
}

bool isa_hot_find(struct isa_hot *hot, const struct isa_kernel *kernel, struct arena *arena)
{
    struct isa_hot found = {.loop = ISA_NO_LOOP};
    double heaviest = 0;
    for (size_t k = 0; k < kernel->loop_count; k++) {
        const struct isa_loop *loop = &kernel->loops[k];
        const uint64_t work = loop->is_innermost ? work_of(&loop->own) : 0;
        if (weight_of(loop, work) <= heaviest)
            continue;
        heaviest = weight_of(loop, work);
        found.loop = k;
        found.work = work;
    }
    if (found.loop == ISA_NO_LOOP)
        return false;
    const struct count most = most_frequent(kernel, found.loop, found.work, arena);
    found.instruction = most.name;
    found.share = (double)most.count / (double)found.work;
    *hot = found;
    return true;
}
