/* SPDX-License-Identifier: MIT
 *
 * Extracts kernels from a disassembly: their own instructions, and those of the functions that they reach.
 */

#include "isa_internal.h"
#include "rooftile/targets.h"

int isa_by_number(const void *a, const void *b)
{
    return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

size_t isa_find(const struct isa_instruction *items, size_t count, uint64_t address)
{
    return ISA_BELOW(items, count, address, address);
}

/* ---- one kernel ---- */

static bool is_padding(const struct isa_instruction *in)
{
    const bool traps = in->ends_block && in->target == in->address && in->target; /* NVIDIA: BRA to itself */
    return traps || text_has_word("s_nop s_code_end NOP", " ", in->mnemonic, strlen(in->mnemonic));
}

/* First scalar registers of the buffer descriptor: s[0:3] and its copies. */
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
        const struct isa_operand *to = isa_operand_at(in, 0), *from = isa_operand_at(in, 1);
        if (strcmp(in->mnemonic, "s_mov_b64") == 0 && to->kind == OPERAND_SCALAR && from->kind == OPERAND_SCALAR &&
            from->first == 0)
            found.first[found.count++] = to->first;
    }
    return found;
}

/* Up to gfx90a and gfx10 the stack is addressed through the buffer descriptor that the runtime puts into s[0:3].
 * Without a stack these registers may hold a buffer of the program. */
static void mark_scratch(struct isa_kernel *kernel)
{
    const struct descriptors descriptors = find_descriptors(kernel);
    FOR_EACH(struct isa_instruction, in, kernel->instructions, kernel->instruction_count) {
        if (!in->access || !in->access->is_buffer || (in->kind != ISA_LOAD && in->kind != ISA_STORE))
            continue;
        const struct isa_operand *base = isa_operand_at(in, in->access->base);
        if (base->kind != OPERAND_SCALAR ||
            !COUNT_WHERE(first, descriptors.first, descriptors.count, *first == base->first))
            continue;
        in->kind = in->kind == ISA_LOAD ? ISA_SCRATCH_LOAD : ISA_SCRATCH_STORE;
        in->space = ISA_SCRATCH;
    }
}

/* ---- reachable code ---- */

/* Code of the object outside kernels, as ranges of the listing. */
struct callee {
    const struct codeobj_function *function;
    size_t first, last;
    size_t reached_by; /* number of the last kernel that reaches it, from 1 */
};

struct reach {
    const struct isa_listing *listing;
    struct callee *callees; /* by address */
    size_t count;
    size_t kernel; /* number of the current kernel, from 1 */
    size_t *found; /* callees reached by it */
    size_t found_count;
    /* instructions that already belong to a kernel; malformed objects have several kernels at one address */
    bool *taken;
    uint64_t instructions, matrix_instructions; /* of all kernels, each counted once */
};

static size_t without_padding(const struct isa_listing *listing, size_t first, size_t last)
{
    while (last > first && is_padding(&listing->items[last - 1]))
        last--;
    return last;
}

static void reach_address(struct reach *reach, uint64_t address)
{
    /* The functions are in the order of the callees. */
    const size_t low = ISA_BELOW(reach->callees->function, reach->count, address, address + (address != UINT64_MAX));
    struct callee *callee = low ? &reach->callees[low - 1] : NULL;
    if (!callee || address - callee->function->address >= callee->function->size_bytes ||
        callee->reached_by == reach->kernel || callee->first >= callee->last)
        return;
    callee->reached_by = reach->kernel;
    reach->found[reach->found_count++] = low - 1;
}

/* Follows the targets of instructions [first, last) other than the next instruction. */
static void reach_from(struct reach *reach, size_t first, size_t last)
{
    const struct isa_listing *listing = reach->listing;
    for (size_t i = first; i < last && reach->count; i++)
        if (listing->items[i].target)
            reach_address(reach, listing->items[i].target);
    for (size_t k = isa_jump_find(listing, listing->items[first].address);
         k < listing->jump_count && listing->jumps[k].from <= listing->items[last - 1].address; k++)
        reach_address(reach, listing->jumps[k].to);
    if (listing->items[last - 1].ends_block)
        return;
    while (last < listing->count && is_padding(&listing->items[last]))
        last++;
    if (last < listing->count)
        reach_address(reach, listing->items[last].address);
}

static void append(struct isa_kernel *kernel, const struct isa_listing *listing, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        kernel->instructions[kernel->instruction_count] = listing->items[i];
        kernel->instructions[kernel->instruction_count++].loop = ISA_NO_LOOP;
    }
}

/* Collects the kernel's own instructions [first, last) and those that it reaches, by address. Without functions the
 * instructions are not copied. */
static void take_instructions(struct isa_kernel *kernel, struct reach *reach, size_t first, size_t last,
                              struct arena *arena)
{
    const struct isa_listing *listing = reach->listing;
    bool is_alone = true; /* shares no instruction with another kernel */
    for (size_t i = first; i < last; i++) {
        is_alone &= !reach->taken[i];
        reach->instructions += !reach->taken[i];
        reach->matrix_instructions += !reach->taken[i] && listing->items[i].kind == ISA_MATRIX;
        reach->taken[i] = true;
    }
    size_t count = last - first;
    reach->found_count = 0;
    reach_from(reach, first, last);
    for (size_t k = 0; k < reach->found_count; k++)
        reach_from(reach, reach->callees[reach->found[k]].first, reach->callees[reach->found[k]].last);
    kernel->instructions = listing->items + first;
    kernel->instruction_count = count;
    if (!reach->found_count && is_alone)
        return;
    for (size_t k = 0; k < reach->found_count; k++)
        count += reach->callees[reach->found[k]].last - reach->callees[reach->found[k]].first;
    kernel->instructions = arena_array(arena, count, sizeof(*kernel->instructions));
    kernel->functions = arena_array(arena, reach->found_count, sizeof(*kernel->functions));
    kernel->instruction_count = 0;
    bool is_own_taken = false;
    for (size_t k = 0; k <= reach->count; k++) {
        const struct callee *callee = k < reach->count ? &reach->callees[k] : NULL;
        if (!is_own_taken && (!callee || callee->first > first)) {
            append(kernel, listing, first, last);
            is_own_taken = true;
        }
        if (callee && callee->reached_by == reach->kernel) {
            kernel->functions[kernel->function_count++] =
                (struct isa_function){callee->function->name, callee->function->name, callee->function->address,
                                      kernel->instruction_count, callee->last - callee->first};
            append(kernel, listing, callee->first, callee->last);
        }
    }
}

/* ---- kernels ---- */

static void start_listing(struct reach *reach, struct isa_listing *listing, const char *kernel,
                          const struct codeobj *object, const char *text, struct arena *arena)
{
    isa_listing_read(listing, kernel, object, text, arena);
    reach->taken = arena_array(arena, listing->count + 1, sizeof(*reach->taken));
    reach->count = object->function_count;
    reach->callees = arena_array(arena, reach->count + 1, sizeof(*reach->callees));
    reach->found = arena_array(arena, reach->count + 1, sizeof(*reach->found));
    for (size_t k = 0; k < reach->count; k++) {
        const struct codeobj_function *function = &object->functions[k];
        const size_t first = isa_find(listing->items, listing->count, function->address);
        const size_t last = isa_find(listing->items, listing->count, function->address + function->size_bytes);
        reach->callees[k] = (struct callee){function, first, without_padding(listing, first, last), 0};
    }
}

/* A kernel without disassembly stays empty. */
static void read_kernel(struct isa_kernel *kernel, struct reach *reach, const char *target, struct arena *arena)
{
    const struct isa_listing *listing = reach->listing;
    const uint64_t from = kernel->code.code_address, end = from + kernel->code.code_bytes;
    const size_t first = isa_find(listing->items, listing->count, from);
    const size_t last =
        without_padding(listing, first, isa_find(listing->items, listing->count, end < from ? UINT64_MAX : end));
    if (listing->unknown_count) {
        size_t k = ISA_BELOW(listing->unknown, listing->unknown_count, address, from);
        kernel->unknown_words = listing->unknown + k;
        for (; k < listing->unknown_count && listing->unknown[k].address < end; k++)
            kernel->unknown++;
    }
    if (last <= first)
        return;
    take_instructions(kernel, reach, first, last, arena);
    if (!kernel->code.wave)
        kernel->code.wave = target_modes(target).wave;
    if (kernel->code.private_segment_bytes)
        mark_scratch(kernel);
    FOR_EACH(const struct isa_instruction, in, kernel->instructions, kernel->instruction_count) {
        kernel->calls += in->is_call;
        if (!in->is_indirect || in->target || in->is_return)
            continue;
        const size_t jump = isa_jump_find(listing, in->address);
        kernel->not_followed += jump == listing->jump_count || listing->jumps[jump].from != in->address;
    }
    isa_loops_find(kernel, arena);
    isa_mix_fill(kernel);
    isa_findings_fill(kernel, target, arena);
}

/* Counts each instruction once, even if several kernels share it. */
static void count_code(struct isa *isa, const struct reach *reach, struct arena *arena)
{
    isa->functions = arena_array(arena, reach->count + 1, sizeof(*isa->functions));
    isa->function_count = reach->count;
    isa->instructions = reach->instructions;
    isa->matrix_instructions = reach->matrix_instructions;
    for (size_t k = 0; k < reach->count; k++) {
        const struct callee *callee = &reach->callees[k];
        const size_t count = callee->last > callee->first ? callee->last - callee->first : 0;
        isa->functions[k] = (struct isa_code){.name = callee->function->name,
                                              .demangled = callee->function->name,
                                              .address = callee->function->address,
                                              .instructions = count,
                                              .is_reached = callee->reached_by != 0};
        for (size_t i = callee->first; i < callee->last; i++)
            isa->functions[k].matrix_instructions += reach->listing->items[i].kind == ISA_MATRIX;
        isa->instructions += count;
        isa->matrix_instructions += isa->functions[k].matrix_instructions;
    }
}

enum status isa_parse(struct isa *isa, const struct codeobj *object, const char *text,
                      const struct codeobj_kernel *kernels, size_t count, struct arena *arena, struct err *err)
{
    struct isa_listing listing = {0};
    struct isa found = {.kernel_count = count};
    struct reach reach = {.listing = &listing};
    size_t read = 0;
    const char *target = arena_strndup(arena, object->target, strcspn(object->target, ":")); /* without features */
    found.kernels = arena_array(arena, count, sizeof(*found.kernels));
    for (size_t i = 0; i < count; i++) {
        found.kernels[i].code = kernels[i];
        if (i == 0 || target_is_nvidia(target))
            start_listing(&reach, &listing, kernels[i].name, object, text, arena);
        reach.kernel = i + 1;
        read_kernel(&found.kernels[i], &reach, target, arena);
        read += found.kernels[i].instruction_count > 0;
    }
    if (count && !read)
        return err_set(err, ERR_CONFIG, "%s: the disassembly has no instruction at 0x%llx", kernels[0].name,
                       (unsigned long long)kernels[0].code_address);
    count_code(&found, &reach, arena);
    *isa = found;
    return STATUS_OK;
}

enum status isa_read(struct isa *isa, const struct codeobj *object, const struct codeobj_kernel *kernels, size_t count,
                     struct arena *arena, struct err *err)
{
    struct isa found;
    uint64_t from = UINT64_MAX, end = 0;
    char *text = NULL;
    const char *tool = NULL;
    SCOPED(arena_release)
    struct arena scratch = {0}; /* about a hundred bytes per instruction, not needed later */
    if (count && kernels[0].is_ptx)
        return err_set(err, ERR_UNSUPPORTED, "it is PTX, text that the driver makes instructions of");
    for (size_t i = 0; i < count + object->function_count; i++) {
        const struct codeobj_function *function = i < count ? NULL : &object->functions[i - count];
        const uint64_t start = function ? function->address : kernels[i].code_address;
        const uint64_t behind = start + (function ? function->size_bytes : kernels[i].code_bytes);
        from = start < from ? start : from;
        end = behind > end ? behind : end;
    }
    enum status status = STATUS_OK;
    if (count)
        status = isa_disassemble(&text, &tool, object, from, end, &scratch, err);
    if (!status)
        status = isa_parse(&found, object, text, kernels, count, arena, err);
    if (!status) {
        found.tool = tool ? arena_strdup(arena, tool) : NULL;
        *isa = found;
    }
    return status;
}
