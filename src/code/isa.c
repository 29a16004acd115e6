/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"
#include "rooftile/targets.h"

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

static unsigned default_wave(const char *target)
{
    return text_starts(target, "gfx10") || text_starts(target, "gfx11") || text_starts(target, "gfx12") ||
                   target_is_nvidia(target)
               ? 32
               : 64;
}

/* First item at or behind an address. */
static size_t lower_bound(const struct isa_listing *listing, uint64_t address)
{
    size_t low = 0, high = listing->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (listing->items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_padding(const struct isa_instruction *in)
{
    const bool traps = in->ends_block && in->target == in->address && in->target; /* NVIDIA's: BRA to itself */
    return traps || strcmp(in->mnemonic, "s_nop") == 0 || strcmp(in->mnemonic, "s_code_end") == 0 ||
           strcmp(in->mnemonic, "NOP") == 0;
}

/* First scalar registers of the descriptors in s[0:3] and wherever the kernel copied it to. */
#define MAX_DESCRIPTORS 8u
struct descriptors {
    unsigned first[MAX_DESCRIPTORS];
    unsigned count;
};

static struct descriptors find_descriptors(const struct isa_kernel *kernel)
{
    struct descriptors found = {.count = 1};
    for (size_t i = 0; i < kernel->instruction_count && found.count < MAX_DESCRIPTORS; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (strcmp(in->mnemonic, "s_mov_b64") == 0 && text_starts(in->operands, "s[") &&
            text_ends(in->operands, ", s[0:1]"))
            found.first[found.count++] = (unsigned)strtoul(in->operands + 2, NULL, 10);
    }
    return found;
}

static bool uses_descriptor(const struct isa_instruction *in, const struct descriptors *descriptors)
{
    const char *at = strstr(in->operands, ", s[");
    const unsigned first = at ? (unsigned)strtoul(at + strlen(", s["), NULL, 10) : 0;
    for (unsigned i = 0; at && i < descriptors->count; i++)
        if (first == descriptors->first[i])
            return true;
    return false;
}

/* Up to gfx90a and gfx10 the stack lies behind the buffer descriptor that the runtime puts into s[0:3]. Without a stack
 * these registers may hold a program's own buffer. */
static void mark_scratch(struct isa_kernel *kernel)
{
    const struct descriptors descriptors = find_descriptors(kernel);
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        struct isa_instruction *in = &kernel->instructions[i];
        if (!text_starts(in->mnemonic, "buffer_") || (in->kind != ISA_LOAD && in->kind != ISA_STORE) ||
            !uses_descriptor(in, &descriptors))
            continue;
        in->kind = in->kind == ISA_LOAD ? ISA_SCRATCH_LOAD : ISA_SCRATCH_STORE;
        in->space = ISA_SCRATCH;
    }
}

bool isa_is_call(const struct isa_instruction *in)
{
    return text_starts(in->mnemonic, "s_swappc") || text_starts(in->mnemonic, "s_call") ||
           (text_starts(in->mnemonic, "CALL") && !in->target);
}

static unsigned count_unknown(const struct isa_listing *listing, uint64_t from, uint64_t end)
{
    unsigned count = 0;
    for (size_t i = 0; i < listing->unknown_count; i++)
        count += listing->unknown[i] >= from && listing->unknown[i] < end;
    return count;
}

static enum status read_kernel(struct isa_kernel *kernel, const struct isa_listing *listing, const char *target,
                               struct arena *arena, struct err *err)
{
    const uint64_t from = kernel->symbol.address, end = from + kernel->symbol.size;
    const size_t first = lower_bound(listing, from);
    size_t last = lower_bound(listing, end);
    while (last > first && is_padding(&listing->items[last - 1]))
        last--;
    if (last <= first)
        return err_set(err, ERR_CONFIG, "%s: the disassembly has no instruction at 0x%llx", kernel->symbol.name,
                       (unsigned long long)from);
    kernel->instruction_count = last - first;
    kernel->instructions = arena_copy(arena, listing->items + first, (last - first) * sizeof(*kernel->instructions));
    kernel->unknown = count_unknown(listing, from, end);
    if (!kernel->symbol.wave)
        kernel->symbol.wave = default_wave(target);
    if (kernel->symbol.scratch_bytes)
        mark_scratch(kernel);
    for (size_t i = 0; i < kernel->instruction_count; i++)
        kernel->calls += isa_is_call(&kernel->instructions[i]);
    isa_loops_find(kernel, arena);
    isa_mix_fill(kernel);
    isa_findings_fill(kernel, target, arena);
    return STATUS_OK;
}

enum status isa_parse(struct isa *isa, const char *target, const char *text, const struct isa_symbol *symbols,
                      size_t symbol_count, struct arena *arena, struct err *err)
{
    struct isa_listing listing;
    struct isa found = {.target = arena_strndup(arena, target, strcspn(target, ":")), .kernel_count = symbol_count};
    const bool is_sass = target_is_nvidia(found.target);
    if (!is_sass)
        isa_listing_read(&listing, found.target, text, arena);
    found.kernels = arena_array(arena, symbol_count, sizeof(*found.kernels));
    for (size_t i = 0; i < symbol_count; i++) {
        found.kernels[i].symbol = symbols[i];
        if (is_sass)
            isa_sass_read(&listing, symbols[i].name, found.target, text, arena);
        const enum status status = read_kernel(&found.kernels[i], &listing, found.target, arena, err);
        if (status)
            return status;
    }
    *isa = found;
    return STATUS_OK;
}

enum status isa_read_codeobj(struct isa *isa, const struct codeobj *object, const struct codeobj_kernel *only,
                             struct arena *arena, struct err *err)
{
    const struct codeobj_kernel *kernels = only ? only : object->kernels;
    const size_t count = only ? 1 : object->kernel_count;
    if (count && kernels[0].is_ptx)
        return err_set(err, ERR_UNSUPPORTED, "%s: it is PTX, text that the driver makes instructions of", kernels[0].name);
    struct isa_symbol *symbols = arena_array(arena, count, sizeof(*symbols));
    for (size_t i = 0; i < count; i++)
        symbols[i] = (struct isa_symbol){
            .name = kernels[i].name,
            .address = kernels[i].code_address,
            .size = kernels[i].code_bytes,
            .wave = kernels[i].wave,
            .scratch_bytes = kernels[i].private_segment_bytes,
            .vgpr_spills = kernels[i].vgpr_spills,
            .sgpr_spills = kernels[i].sgpr_spills,
        };
    return isa_read(isa, object->bytes, object->size_bytes, object->target, symbols, count, arena, err);
}
