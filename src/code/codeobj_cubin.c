/* SPDX-License-Identifier: MIT
 *
 * NVIDIA's code objects (cubin): ELF files whose sections are named after their kernels, .text.K, .nv.info.K
 * (attributes) and .nv.shared.K. NVIDIA documents none of it; the numbers come from cuda-gdb's cuda-elf headers and
 * LLVM's BinaryFormat/ELF.h (EF_CUDA_*), and are valid for CUDA 11 to 13. An attribute is a byte of format, a byte that
 * names it and two bytes, which are its value or the size of the value that follows.
 */
#include <gelf.h>

#include "codeobj_internal.h"

#define ABI_NEW 8u /* e_ident[EI_ABIVERSION]: since CUDA 12.8 the flags have the architecture at another place */
#define SYMBOL_ENTRY 0x10u /* st_other: a kernel, not a device function */
#define SYSTEM_SHARED_BYTES 1024u
#define FORMAT_SIZED 4u
#define INFO_MAX_THREADS 0x05u
#define INFO_REQUIRED_THREADS 0x10u
#define INFO_FRAME_BYTES 0x11u
#define INFO_ARGUMENT 0x17u
#define INFO_ARGUMENTS_BYTES 0x19u
#define INFO_REGISTERS 0x2fu
#define INFO_BARRIERS 0x4cu
#define INFO_EVENTS 0x55u
#define MARK_SPILL 1u
#define CUDA_MARKS_SPILLS 13ul /* first release known to mark every spill; earlier ones may */

struct cubin {
    struct bytes bytes;
    struct Elf *elf;
    size_t names;
    unsigned number; /* of the architecture, such as 90 */
    bool marks_spills;
    struct arena *arena;
};

/* Finds a section and its bytes in the file; false if there is no section of that name. A section without bytes has
 * only a size. */
static bool find_section(GElf_Shdr *header, struct bytes *part, const struct cubin *cubin, const char *name)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(cubin->elf, section))) {
        const char *own = gelf_getshdr(section, header) ? elf_strptr(cubin->elf, cubin->names, header->sh_name) : NULL;
        if (!own || strcmp(own, name))
            continue;
        *part = (struct bytes){0};
        return header->sh_type == SHT_NOBITS || bytes_part(part, cubin->bytes, header->sh_offset, header->sh_size);
    }
    return false;
}

struct attribute {
    unsigned name;
    unsigned half;      /* value or size */
    struct bytes value; /* of FORMAT_SIZED */
};

/* Reads the next attribute; false at the end of the list, or if it is damaged. */
static bool next_attribute(struct attribute *attribute, struct bytes *rest)
{
    if (rest->size < 4)
        return false;
    *attribute = (struct attribute){.name = rest->data[1], .half = load_u16(rest->data + 2)};
    const size_t size = rest->data[0] == FORMAT_SIZED ? attribute->half : 0;
    if (!bytes_part(&attribute->value, *rest, 4, size))
        return false;
    return bytes_part(rest, *rest, 4 + size, rest->size - 4 - size);
}

/* ---- spills ---- */

/* Encoding of local loads and stores since compute capability 7.0: 16 bytes, with the operation in the lowest twelve
 * bits, and the size of the access in three bits. */
#define CODE_BYTES 16u
#define CODE_LOCAL_LOAD 0x983u
#define CODE_LOCAL_STORE 0x387u
#define CODE_SIZE_AT 9u /* in the upper eight bytes */

/* Reads pairs of a mark's kind and the offset of an instruction. */
static void read_marks(struct codeobj_kernel *kernel, struct bytes marks)
{
    static const uint32_t sizes[8] = {1, 1, 2, 2, 4, 8, 16, 16};
    struct bytes mark, code;
    const struct bytes text = {kernel->code, kernel->code_bytes};
    for (uint64_t at = 0; bytes_part(&mark, marks, at, 8); at += 8) {
        if (load_u32(mark.data) != MARK_SPILL || !bytes_part(&code, text, load_u32(mark.data + 4), CODE_BYTES))
            continue;
        const unsigned operation = load_u16(code.data) & 0xfff;
        const uint32_t bytes = sizes[load_u64(code.data + 8) >> CODE_SIZE_AT & 7];
        kernel->spill_bytes_known = true;
        kernel->spill_store_bytes += operation == CODE_LOCAL_STORE ? bytes : 0;
        kernel->spill_load_bytes += operation == CODE_LOCAL_LOAD ? bytes : 0;
    }
}

/* ---- arguments ---- */

static uint32_t read_block(struct bytes value, uint32_t sizes[3])
{
    for (size_t k = 0; k < 3; k++)
        sizes[k] = value.size < 12 ? 0 : load_u32(value.data + 4 * k);
    return codeobj_block(sizes);
}

static void read_own_info(struct codeobj_kernel *kernel, struct bytes info, struct arena *arena)
{
    struct attribute attribute;
    uint32_t most[3];
    size_t count = 0;
    for (struct bytes rest = info; next_attribute(&attribute, &rest);)
        count += attribute.name == INFO_ARGUMENT;
    struct codeobj_arg *args = arena_array(arena, count + 1, sizeof(*args));
    for (size_t k = 0; k < count; k++)
        args[k] = codeobj_bare_arg(0, 0);
    for (struct bytes rest = info; next_attribute(&attribute, &rest);) {
        const struct bytes value = attribute.value;
        const size_t number = value.size < 12 ? count : load_u16(value.data + 4);
        if (attribute.name == INFO_ARGUMENT && number < count) {
            /* Offset, and the size in the upper bits; pointers are not marked. */
            args[number] = codeobj_bare_arg(load_u16(value.data + 6), load_u32(value.data + 8) >> 18);
            kernel->arg_count = kernel->arg_count > number + 1 ? kernel->arg_count : number + 1;
        } else if (attribute.name == INFO_ARGUMENTS_BYTES)
            kernel->kernarg_bytes = attribute.half;
        else if (attribute.name == INFO_MAX_THREADS)
            kernel->max_block = read_block(attribute.value, most);
        else if (attribute.name == INFO_REQUIRED_THREADS)
            kernel->max_block = read_block(attribute.value, kernel->required_block);
        else if (attribute.name == INFO_BARRIERS)
            kernel->barriers = attribute.half & 0xff;
        else if (attribute.name == INFO_EVENTS)
            read_marks(kernel, attribute.value);
    }
    kernel->args = args;
    kernel->explicit_count = kernel->arg_count;
}

/* ---- kernels ---- */

static enum status read_kernel(struct codeobj_kernel *kernel, const struct cubin *cubin, const char *name,
                               size_t symbol, struct err *err)
{
    GElf_Shdr header;
    struct bytes part;
    *kernel = (struct codeobj_kernel){.wave = 32, .spill_bytes_known = cubin->marks_spills};
    if (codeobj_string(&kernel->name, name, strlen(name), "a kernel's name", cubin->arena, err))
        return err->status;
    kernel->symbol = kernel->name;
    if (!find_section(&header, &part, cubin, arena_printf(cubin->arena, ".text.%s", name)) || !part.size)
        return err_set(err, ERR_CONFIG, "kernel %s has no code, or it is truncated", kernel->name);
    codeobj_set_code(kernel, part);
    /* Each attribute of the whole object has a symbol and a number. */
    struct attribute attribute;
    const bool has_common = find_section(&header, &part, cubin, ".nv.info");
    while (has_common && next_attribute(&attribute, &part)) {
        if (attribute.value.size < 8 || load_u32(attribute.value.data) != symbol)
            continue;
        const uint32_t number = load_u32(attribute.value.data + 4);
        if (attribute.name == INFO_REGISTERS)
            kernel->vgpr_count = number;
        else if (attribute.name == INFO_FRAME_BYTES)
            kernel->private_segment_bytes = number;
    }
    part = (struct bytes){0};
    find_section(&header, &part, cubin, arena_printf(cubin->arena, ".nv.info.%s", name));
    read_own_info(kernel, part, cubin->arena);
    if (find_section(&header, &part, cubin, arena_printf(cubin->arena, ".nv.shared.%s", name))) {
        /* Since sm_90 the section starts with the 1,024 bytes that the system reserves in every workgroup. */
        const bool keeps = cubin->number >= 90 && header.sh_size >= SYSTEM_SHARED_BYTES;
        const uint64_t own = header.sh_size - (keeps ? SYSTEM_SHARED_BYTES : 0);
        kernel->group_segment_bytes = own > UINT32_MAX ? UINT32_MAX : (uint32_t)own;
    }
    return STATUS_OK;
}

static enum status read_symbols(struct codeobj *object, const struct cubin *cubin, Elf_Scn *section, struct err *err)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !gelf_getshdr(section, &header) || !header.sh_entsize)
        return err_set(err, ERR_CONFIG, "truncated: its table of symbols is not there");
    const size_t count = data->d_size / header.sh_entsize;
    struct codeobj_kernel *kernels = arena_array(cubin->arena, count + 1, sizeof(*kernels));
    for (size_t k = 0; k < count; k++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)k, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
            !(symbol.st_other & SYMBOL_ENTRY))
            continue;
        const char *name = elf_strptr(cubin->elf, header.sh_link, symbol.st_name);
        if (name && read_kernel(&kernels[object->kernel_count], cubin, name, k, err))
            return err->status;
        object->kernel_count += name != NULL;
    }
    object->kernels = kernels;
    return STATUS_OK;
}

/* ---- the object ---- */

/* Only the tools' note, which quotes the version and command line of ptxas, distinguishes sm_90a from sm_90. Returns
 * the text after `key` in it, or NULL. */
static const char *note_word(const struct cubin *cubin, const char *key, const char *alphabet)
{
    GElf_Shdr header;
    struct bytes note;
    if (!find_section(&header, &note, cubin, ".note.nv.tkinfo") || !note.size)
        return NULL;
    const char *at = memmem(note.data, note.size, key, strlen(key));
    if (!at)
        return NULL;
    at += strlen(key);
    const size_t rest = note.size - (size_t)(at - (const char *)note.data);
    size_t length = 0;
    while (length < rest && at[length] && strchr(alphabet, at[length]))
        length++;
    return arena_strndup(cubin->arena, at, length);
}

static const char *name_target(const struct cubin *cubin)
{
    const char *plain = arena_printf(cubin->arena, "sm_%u", cubin->number);
    const char *quoted = note_word(cubin, "-arch ", "sm_0123456789af");
    return quoted && text_starts(quoted, plain) ? quoted : plain;
}

static bool marks_spills(const struct cubin *cubin)
{
    const char *release = note_word(cubin, "release ", "0123456789.");
    return release && strtoul(release, NULL, 10) >= CUDA_MARKS_SPILLS;
}

enum status cubin_read(struct codeobj *object, struct bytes bytes, struct arena *arena, struct err *err)
{
    struct cubin cubin = {.bytes = bytes, .arena = arena};
    GElf_Ehdr header;
    Elf_Scn *section = NULL;
    bool has_symbols = false;
    enum status status = elf_open(&cubin.elf, bytes, err);
    if (!status && (!gelf_getehdr(cubin.elf, &header) || elf_getshdrstrndx(cubin.elf, &cubin.names)))
        status = err_set(err, ERR_CONFIG, "not a code object: a truncated cubin");
    if (!status && header.e_type == ET_REL)
        status = err_set(err, ERR_CONFIG, "a relocatable object: link it first (nvcc -dlink, or nvlink)");
    if (status)
        goto out;
    object->abi = header.e_ident[EI_ABIVERSION];
    cubin.number = object->abi >= ABI_NEW ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
    object->target = name_target(&cubin);
    cubin.marks_spills = marks_spills(&cubin);
    /* An ELF file has one table of symbols. */
    while (!status && !has_symbols && (section = elf_nextscn(cubin.elf, section))) {
        GElf_Shdr symbols;
        if (!gelf_getshdr(section, &symbols) || symbols.sh_type != SHT_SYMTAB)
            continue;
        status = read_symbols(object, &cubin, section, err);
        has_symbols = true;
    }
    if (!status && !has_symbols)
        status = err_set(err, ERR_CONFIG, "truncated: its table of symbols is not there");
out:
    elf_end(cubin.elf);
    return status;
}
