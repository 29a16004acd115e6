/* SPDX-License-Identifier: MIT
 *
 * Kernels out of a disassembly, and their sums.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"
#include "rooftile/targets.h"

size_t isa_find(const struct isa_instruction *items, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- sums ---- */

static const unsigned width_bytes[ISA_WIDTHS] = {1, 2, 4, 8, 12, 16, 32, 64};

unsigned isa_width_bytes(enum isa_width width)
{
    return width_bytes[width];
}

static enum isa_width width_of(uint32_t bytes)
{
    unsigned width = 0;
    while (width + 1 < ISA_WIDTHS && width_bytes[width] < bytes)
        width++;
    return (enum isa_width)width;
}

static bool is_store(const struct isa_instruction *in)
{
    if (in->kind == ISA_SCALAR_MEMORY)
        return isa_has_word(in->mnemonic, "store");
    return in->kind == ISA_STORE || in->kind == ISA_LDS_WRITE || in->kind == ISA_SCRATCH_STORE;
}

static void traffic_add(struct isa_traffic *traffic, const struct isa_instruction *in)
{
    const enum isa_width width = width_of(in->bytes);
    if (in->kind == ISA_ATOMIC) {
        traffic->atomics++;
        traffic->atomic_bytes += in->bytes;
    } else if (is_store(in)) {
        traffic->stores++;
        traffic->store_bytes += in->bytes;
        traffic->stores_by_width[width] += in->bytes > 0;
    } else {
        traffic->loads++;
        traffic->load_bytes += in->bytes;
        traffic->loads_by_width[width] += in->bytes > 0;
    }
}

static void mix_add(struct isa_mix *mix, const struct isa_instruction *in)
{
    mix->instructions++;
    mix->operations += in->kind == ISA_DUAL ? 2 : 1;
    mix->count[in->kind]++;
    mix->code_bytes += in->size;
    mix->flops += in->flops;
    mix->ops += in->ops;
    if (in->space != ISA_NO_SPACE)
        traffic_add(&mix->traffic[in->space], in);
    if (in->kind != ISA_MATRIX)
        return;
    *(in->is_integer ? &mix->matrix_ops : &mix->matrix_flops) += in->matrix_ops;
    mix->matrix_cycles += in->matrix_cycles;
    mix->matrix_unknown += in->matrix_cycles == 0;
}

static void mix_fill(struct isa_kernel *kernel)
{
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        mix_add(&kernel->mix, in);
        if (in->loop != ISA_NO_LOOP)
            mix_add(&kernel->loops[in->loop].own, in);
        for (size_t loop = in->loop; loop != ISA_NO_LOOP; loop = kernel->loops[loop].parent)
            mix_add(&kernel->loops[loop].inclusive, in);
    }
}

double isa_flops_per_wave(const struct isa_mix *mix, unsigned wave)
{
    return (double)mix->flops * wave + (double)mix->matrix_flops;
}

double isa_ops_per_wave(const struct isa_mix *mix, unsigned wave)
{
    return (double)mix->ops * wave + (double)mix->matrix_ops;
}

double isa_global_bytes_per_wave(const struct isa_mix *mix, unsigned wave)
{
    const struct isa_traffic *global = &mix->traffic[ISA_GLOBAL];
    return (double)(global->load_bytes + global->store_bytes + global->atomic_bytes) * wave;
}

double isa_intensity(const struct isa_mix *mix, unsigned wave)
{
    const double flops = isa_flops_per_wave(mix, wave), bytes = isa_global_bytes_per_wave(mix, wave);
    if (bytes > 0)
        return flops / bytes;
    return flops > 0 ? INFINITY : NAN;
}

/* ---- one kernel ---- */

static bool is_padding(const struct isa_instruction *in)
{
    const bool traps = in->ends_block && in->target == in->address && in->target; /* NVIDIA's: BRA to itself */
    return traps || text_has_word("s_nop s_code_end NOP", " ", in->mnemonic, strlen(in->mnemonic));
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
    return isa_starts(in->mnemonic, "s_swappc s_call") || (text_starts(in->mnemonic, "CALL") && !in->target);
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
    const size_t first = isa_find(listing->items, listing->count, from);
    size_t last = isa_find(listing->items, listing->count, end);
    while (last > first && is_padding(&listing->items[last - 1]))
        last--;
    if (last <= first)
        return err_set(err, ERR_CONFIG, "%s: the disassembly has no instruction at 0x%llx", kernel->symbol.name,
                       (unsigned long long)from);
    kernel->instruction_count = last - first;
    kernel->instructions = arena_copy(arena, listing->items + first, (last - first) * sizeof(*kernel->instructions));
    kernel->unknown = count_unknown(listing, from, end);
    if (!kernel->symbol.wave)
        kernel->symbol.wave = target_modes(target).wave;
    if (kernel->symbol.scratch_bytes)
        mark_scratch(kernel);
    for (size_t i = 0; i < kernel->instruction_count; i++)
        kernel->calls += isa_is_call(&kernel->instructions[i]);
    isa_loops_find(kernel, arena);
    mix_fill(kernel);
    isa_findings_fill(kernel, target, arena);
    return STATUS_OK;
}

/* ---- all ---- */

enum status isa_parse(struct isa *isa, const char *target, const char *text, const struct isa_symbol *symbols,
                      size_t symbol_count, struct arena *arena, struct err *err)
{
    struct isa_listing listing = {0};
    struct isa found = {.kernel_count = symbol_count};
    target = arena_strndup(arena, target, strcspn(target, ":")); /* without features */
    found.kernels = arena_array(arena, symbol_count, sizeof(*found.kernels));
    for (size_t i = 0; i < symbol_count; i++) {
        found.kernels[i].symbol = symbols[i];
        if (i == 0 || target_is_nvidia(target))
            isa_listing_read(&listing, symbols[i].name, target, text, arena);
        const enum status status = read_kernel(&found.kernels[i], &listing, target, arena, err);
        if (status)
            return status;
    }
    *isa = found;
    return STATUS_OK;
}

enum status isa_read(struct isa *isa, const void *bytes, size_t size, const char *target,
                     const struct isa_symbol *symbols, size_t symbol_count, struct arena *arena, struct err *err)
{
    struct isa found;
    uint64_t from = UINT64_MAX, end = 0;
    char *text = NULL;
    const char *tool = NULL;
    for (size_t i = 0; i < symbol_count; i++) {
        from = symbols[i].address < from ? symbols[i].address : from;
        end = symbols[i].address + symbols[i].size > end ? symbols[i].address + symbols[i].size : end;
    }
    if (symbol_count && isa_disassemble(&text, &tool, bytes, size, target, from, end, arena, err))
        return err->status;
    const enum status status = isa_parse(&found, target, text, symbols, symbol_count, arena, err);
    if (status)
        return status;
    found.tool = tool;
    *isa = found;
    return STATUS_OK;
}

enum status isa_read_codeobj(struct isa *isa, const struct codeobj *object, const struct codeobj_kernel *only,
                             struct arena *arena, struct err *err)
{
    const struct codeobj_kernel *kernels = only ? only : object->kernels;
    const size_t count = only ? 1 : object->kernel_count;
    if (count && kernels[0].is_ptx)
        return err_set(err, ERR_UNSUPPORTED, "%s: it is PTX, text that the driver makes instructions of",
                       kernels[0].name);
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
