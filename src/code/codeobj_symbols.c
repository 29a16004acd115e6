/* SPDX-License-Identifier: MIT
 *
 * Finds where code begins and ends in an AMDGPU ELF image. Labels of hand-written assembly are symbols too, its kernels
 * have no size, and the sizes that compilers write omit code that a kernel jumps to. So each kernel and each device
 * function (STT_FUNC with a size that is not a kernel) extends from its start to the start of the next one or to the
 * end of its section, whatever lies between.
 */
#include <gelf.h>

#include "codeobj_internal.h"

/* ---- symbols ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct elf_symbol *)a)->name, ((const struct elf_symbol *)b)->name);
}

static int compare_ranges(const void *a, const void *b)
{
    const struct elf_range *first = a, *second = b;
    return ORDER(first->start, second->start);
}

static void add_symbols(struct elf_symbols *symbols, Elf *elf, Elf_Scn *section, uint64_t names, struct arena *arena)
{
    GElf_Sym symbol;
    Elf_Data *data = elf_getdata(section, NULL);
    for (int k = 0; data && gelf_getsym(data, k, &symbol); k++) {
        const unsigned type = GELF_ST_TYPE(symbol.st_info);
        const char *name = elf_strptr(elf, names, symbol.st_name);
        if (!name || !*name || type == STT_SECTION || type == STT_FILE || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_shndx >= SHN_LORESERVE)
            continue;
        ARENA_PUSH(arena, symbols->items, symbols->count,
                   (struct elf_symbol){.name = arena_strdup(arena, name),
                                       .address = symbol.st_value,
                                       .size = symbol.st_size,
                                       .is_function = type == STT_FUNC});
    }
}

void elf_symbols_read(struct elf_symbols *symbols, struct Elf *elf, struct arena *arena)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    *symbols = (struct elf_symbols){0};
    while ((section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header))
            continue;
        /* A stripped object only has .dynsym; local functions are only in .symtab. */
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            add_symbols(symbols, elf, section, header.sh_link, arena);
        if (header.sh_flags & SHF_EXECINSTR && header.sh_addr + header.sh_size > header.sh_addr)
            ARENA_PUSH(arena, symbols->sections, symbols->section_count,
                       (struct elf_range){.start = header.sh_addr, .end = header.sh_addr + header.sh_size});
    }
    if (symbols->count)
        qsort(symbols->items, symbols->count, sizeof(*symbols->items), compare_names);
    if (symbols->section_count)
        qsort(symbols->sections, symbols->section_count, sizeof(*symbols->sections), compare_ranges);
}

const struct elf_symbol *elf_symbol_find(const struct elf_symbols *symbols, const char *name)
{
    const struct elf_symbol key = {.name = name};
    if (!symbols->count)
        return NULL;
    return bsearch(&key, symbols->items, symbols->count, sizeof(key), compare_names);
}

/* ---- extents ---- */

/* Returns the last range that starts at or before an address, or NULL. */
static struct elf_range *range_before(struct elf_range *ranges, size_t count, uint64_t address)
{
    const size_t started = array_below(ranges, count, sizeof(*ranges), offsetof(struct elf_range, start),
                                       address + (address != UINT64_MAX));
    return started ? &ranges[started - 1] : NULL;
}

/* Returns the end of the section that contains an address; UINT64_MAX if there is none, as in an object without section
 * headers. */
static uint64_t section_end(const struct elf_symbols *symbols, uint64_t address)
{
    const struct elf_range *section = range_before(symbols->sections, symbols->section_count, address);
    return section && address < section->end ? section->end : UINT64_MAX;
}

/* Keeps one of the ranges that start at the same address: a kernel's if there is one, and the largest. */
static size_t merge(struct elf_range *ranges, size_t count)
{
    size_t kept = 0;
    qsort(ranges, count, sizeof(*ranges), compare_ranges);
    for (size_t k = 0; k < count; k++) {
        if (!kept || ranges[kept - 1].start != ranges[k].start) {
            ranges[kept++] = ranges[k];
            continue;
        }
        ranges[kept - 1].is_kernel |= ranges[k].is_kernel;
        if (ranges[kept - 1].size < ranges[k].size)
            ranges[kept - 1].size = ranges[k].size;
    }
    return kept;
}

static struct elf_range *find_ranges(size_t *count, const struct codeobj *object, const struct elf_symbols *symbols,
                                     struct arena *arena)
{
    struct elf_range *ranges = arena_array(arena, object->kernel_count + symbols->count + 1, sizeof(*ranges));
    size_t found = 0;
    for (size_t k = 0; k < object->kernel_count; k++)
        if (object->kernels[k].code)
            ranges[found++] = (struct elf_range){.start = object->kernels[k].code_address, .is_kernel = true};
    FOR_EACH(const struct elf_symbol, symbol, symbols->items, symbols->count)
        if (symbol->is_function && symbol->size && section_end(symbols, symbol->address) != UINT64_MAX)
            ranges[found++] = (struct elf_range){.start = symbol->address, .size = symbol->size, .name = symbol->name};
    *count = merge(ranges, found);
    for (size_t k = 0; k < *count; k++) {
        const uint64_t end = section_end(symbols, ranges[k].start);
        ranges[k].end = k + 1 < *count && ranges[k + 1].start < end ? ranges[k + 1].start : end;
    }
    return ranges;
}

static const char *name_of(const struct elf_range *range, struct arena *arena)
{
    struct err err = {0};
    const char *name = "";
    return codeobj_string(&name, range->name, strlen(range->name), "", arena, &err) ? "" : name;
}

void elf_extents(struct codeobj *object, const struct elf_symbols *symbols, struct arena *arena)
{
    size_t count;
    struct elf_range *ranges = find_ranges(&count, object, symbols, arena);
    struct codeobj_function *functions = NULL;
    for (size_t k = 0; k < object->kernel_count; k++) {
        struct codeobj_kernel *kernel = (struct codeobj_kernel *)&object->kernels[k];
        if (!kernel->code)
            continue;
        const struct elf_range *range = range_before(ranges, count, kernel->code_address);
        const uint64_t room = range->end - range->start;
        size_t size = (room < kernel->code_bytes ? (size_t)room : kernel->code_bytes) & ~(size_t)3;
        const size_t least = range->size && range->size <= size ? (size_t)range->size : 4;
        /* Trims padding after the symbol's size: s_nop and s_code_end between kernels, and linker fill. */
        for (uint32_t word; size >= least + 4; size -= 4)
            if ((word = load_u32(kernel->code + size - 4)) && word >> 16 != 0xBF80 && word >> 16 != 0xBF9F)
                break;
        const struct bytes code = {kernel->code, size};
        kernel->code = NULL; /* a malformed object leaves no room for an instruction */
        kernel->code_bytes = 0;
        if (code.size)
            codeobj_set_code(kernel, code);
    }
    for (size_t k = 0; k < count; k++)
        if (!ranges[k].is_kernel)
            ARENA_PUSH(arena, functions, object->function_count,
                       (struct codeobj_function){name_of(&ranges[k], arena), ranges[k].start,
                                                 ranges[k].end - ranges[k].start});
    object->functions = functions;
}
