/* SPDX-License-Identifier: MIT
 *
 * Reads ELF files through libelf: AMDGPU code objects, and the .hip_fatbin sections of host files. Data from libelf is
 * copied or converted to offsets into our own bytes, so that none of it outlives the call. Also reads the 64-byte
 * kernel descriptor, which configures the hardware (AMDGPUUsage, "Kernel Descriptor", compute_pgm_rsrc1 and 3).
 */
#include <gelf.h>
#include <libelf.h>

#include "codeobj_internal.h"

#ifndef EM_AMDGPU
#define EM_AMDGPU ELF_MACHINE_AMDGPU
#endif

enum { ABI_HSA = 64, ABI_PAL = 65, ABI_MESA = 66 }; /* e_ident[EI_OSABI] */
#define NOTE_METADATA 32u                           /* NT_AMDGPU_METADATA: msgpack, from version 3 on */
#define NOTE_METADATA_V2 10u                        /* NT_AMD_HSA_METADATA: YAML */

bool elf_is(struct bytes bytes)
{
    return bytes.size >= EI_NIDENT && memcmp(bytes.data, ELFMAG, SELFMAG) == 0;
}

unsigned elf_machine(struct bytes bytes)
{
    const size_t at = offsetof(Elf64_Ehdr, e_machine); /* at the same offset in both classes */
    if (bytes.size < at + 2)
        return 0;
    return bytes.data[EI_DATA] == ELFDATA2MSB ? (unsigned)(bytes.data[at] << 8 | bytes.data[at + 1])
                                              : load_u16(bytes.data + at);
}

static const char *elf_machine_name(unsigned machine, struct arena *arena)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {{EM_386, "32-bit x86"}, {EM_X86_64, "x86-64"},  {EM_AARCH64, "AArch64"},
                 {EM_ARM, "ARM"},        {EM_PPC64, "POWER"},    {EM_RISCV, "RISC-V"},
                 {190, "NVIDIA CUDA"},   {EM_AMDGPU, "AMD GPU"}, {258, "LoongArch"}};
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (names[k].machine == machine)
            return names[k].name;
    return arena_printf(arena, "machine %u", machine);
}

/* libelf requires writable bytes, but never writes when it only reads a file in native byte order. */
enum status elf_open(Elf **elf, struct bytes bytes, struct err *err)
{
    elf_version(EV_CURRENT);
    *elf = elf_memory((char *)(uintptr_t)bytes.data, bytes.size);
    if (*elf && elf_kind(*elf) == ELF_K_ELF)
        return STATUS_OK;
    const char *why = elf_errmsg(-1);
    return err_set(err, ERR_CONFIG, "not a code object: a damaged or truncated ELF file (%s)", why ? why : "libelf");
}

/* ---- AMDGPU ---- */

/* An AMDGPU ELF image. */
struct image {
    struct bytes bytes;
    Elf *elf;
    struct bytes *notes; /* contents of its AMDGPU metadata notes: Tensile links one per kernel */
    size_t note_count;
    struct elf_symbols symbols;
};

/* e_ident[EI_ABIVERSION] counts from version 2. */
static enum status check_header(GElf_Ehdr *header, const struct image *image, struct err *err)
{
    const unsigned char *ident = image->bytes.data;
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB || !gelf_getehdr(image->elf, header))
        return err_set(err, ERR_CONFIG,
                       "not a code object: an AMD GPU ELF file that is not 64-bit little-endian, or truncated");
    if (ident[EI_OSABI] != ABI_HSA)
        return err_set(err, ERR_CONFIG, "not a code object for HIP: its ABI is %s, not HSA",
                       ident[EI_OSABI] == ABI_PAL    ? "PAL (a graphics shader)"
                       : ident[EI_OSABI] == ABI_MESA ? "Mesa3D (a graphics shader)"
                                                     : "none that AMD defines");
    if (ident[EI_ABIVERSION] + 2u < 3)
        return err_set(err, ERR_CONFIG,
                       "code object version 2 (before ROCm 3.5): build it again with a newer compiler");
    if (header->e_type == ET_REL)
        return err_set(err, ERR_CONFIG, "a relocatable object: link it first (ld.lld -shared IN -o OUT)");
    return STATUS_OK;
}

/* Searches one run of notes for metadata. Sets *old if it finds a note of version 2. */
static void find_notes(struct image *image, const GElf_Phdr *header, bool *old, struct arena *arena)
{
    struct bytes part;
    if (!header->p_filesz || !bytes_part(&part, image->bytes, header->p_offset, header->p_filesz))
        return;
    Elf_Data *data = elf_getdata_rawchunk(image->elf, (int64_t)header->p_offset, part.size,
                                          header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    GElf_Nhdr note;
    size_t name = 0, description = 0;
    for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
        struct bytes owner, found;
        if (!bytes_part(&owner, part, name, note.n_namesz) || !bytes_start(owner, "AMD"))
            continue;
        if (note.n_type == NOTE_METADATA && bytes_part(&found, part, description, note.n_descsz))
            ARENA_PUSH(arena, image->notes, image->note_count, found);
        *old |= note.n_type == NOTE_METADATA_V2;
    }
}

/* Checks that every loaded segment lies within the file, and that there is a note. */
static enum status check_segments(struct image *image, struct arena *arena, struct err *err)
{
    size_t count = 0;
    bool old = false;
    if (elf_getphdrnum(image->elf, &count) || !count || count > image->bytes.size / sizeof(Elf64_Phdr))
        return err_set(err, ERR_CONFIG, "truncated: its ELF header promises program headers that are not there");
    for (size_t k = 0; k < count; k++) {
        GElf_Phdr header;
        struct bytes part;
        if (!gelf_getphdr(image->elf, (int)k, &header))
            return err_set(err, ERR_CONFIG, "truncated: program header %zu of %zu is not there", k, count);
        if (header.p_type == PT_NOTE && !image->note_count)
            find_notes(image, &header, &old, arena);
        if (header.p_type == PT_LOAD && !bytes_part(&part, image->bytes, header.p_offset, header.p_filesz))
            return err_set(err, ERR_CONFIG, "truncated: a segment needs %llu bytes from offset %llu, the file has %zu",
                           (unsigned long long)header.p_filesz, (unsigned long long)header.p_offset, image->bytes.size);
    }
    if (image->note_count)
        return STATUS_OK;
    return err_set(err, ERR_CONFIG, "%s",
                   old ? "has only the metadata of code object version 2: build it again with a newer compiler"
                       : "has no AMDGPU metadata note, so its kernels and their arguments are unknown "
                         "(an assembly source needs an .amdgpu_metadata block)");
}

/* Returns the file bytes from an address to the end of its segment; false if no segment contains it. */
static bool bytes_at(struct bytes *part, const struct image *image, uint64_t address)
{
    GElf_Phdr header;
    for (int k = 0; gelf_getphdr(image->elf, k, &header); k++) {
        const uint64_t within = address - header.p_vaddr;
        if (header.p_type == PT_LOAD && address >= header.p_vaddr && within < header.p_filesz)
            return bytes_part(part, image->bytes, header.p_offset + within, header.p_filesz - within);
    }
    return false;
}

/* ---- kernel descriptors ---- */

#define DESCRIPTOR_BYTES 64u
/* Offsets of its fields. */
enum { ENTRY_AT = 16, RSRC3_AT = 44, RSRC1_AT = 48, RSRC2_AT = 52, PROPERTIES_AT = 56 };
#define WGP_MODE_BIT 29 /* COMPUTE_PGM_RSRC1.ENABLE_WGP_MODE, gfx10 and later */
#define PROPERTY_WAVE32 (1u << 10)

static void read_descriptor(struct codeobj_kernel *kernel, const struct image *image, const char *target,
                            struct arena *arena)
{
    const struct elf_symbol *symbol = elf_symbol_find(&image->symbols, kernel->symbol);
    struct bytes at;
    if (!symbol || !bytes_at(&at, image, symbol->address) || at.size < DESCRIPTOR_BYTES) {
        kernel->code_problem = symbol
                                   ? arena_printf(arena, "its descriptor at %#llx lies outside of the file's segments",
                                                  (unsigned long long)symbol->address)
                                   : arena_printf(arena, "there is no symbol %.200s, its descriptor", kernel->symbol);
        return;
    }
    const uint32_t rsrc1 = load_u32(at.data + RSRC1_AT);
    kernel->has_descriptor = true;
    kernel->wgp_mode = rsrc1 >> WGP_MODE_BIT & 1;
    kernel->properties = load_u16(at.data + PROPERTIES_AT);
    kernel->user_sgprs = load_u32(at.data + RSRC2_AT) >> 1 & 31;
    kernel->workgroup_ids = load_u32(at.data + RSRC2_AT) >> 7 & 7;
    if (!kernel->wave)
        kernel->wave = kernel->properties & PROPERTY_WAVE32 ? 32 : 64;
    struct codeobj_granules granules;
    if (codeobj_granules(&granules, target, kernel->wave)) {
        kernel->encoded_vgprs = ((rsrc1 & 0x3f) + 1) * granules.encoding;
        const uint32_t short_of = kernel->encoded_vgprs % granules.allocation;
        const uint32_t all = kernel->encoded_vgprs + (short_of ? granules.allocation - short_of : 0);
        /* In a unified register file, registers from ACCUM_OFFSET on are AGPRs; kernels without AGPRs pad the VGPRs
         * there. */
        const uint32_t accum_offset = ((load_u32(at.data + RSRC3_AT) & 0x3f) + 1) * 4;
        const bool splits = granules.unified && kernel->agpr_count && accum_offset < all;
        kernel->allocated_vgprs = all;
        kernel->arch_vgprs = splits ? accum_offset : all;
        kernel->acc_vgprs = splits ? all - accum_offset : !strcmp(target, "gfx908") && kernel->agpr_count ? all : 0;
    }
    /* Unsigned arithmetic wraps like the hardware's, so the offset is signed. The code reaches to the end of the
     * segment, and elf_extents trims it. */
    struct bytes code;
    const uint64_t address = symbol->address + load_u64(at.data + ENTRY_AT);
    if (!bytes_at(&code, image, address) || code.size < 4) {
        kernel->code_problem =
            arena_printf(arena, "its descriptor says that it begins at %#llx, where the file has no code",
                         (unsigned long long)address);
        return;
    }
    kernel->code = code.data;
    kernel->code_bytes = code.size;
    kernel->code_address = address;
}

/* ---- the object ---- */

enum status elf_read(struct codeobj *object, struct bytes bytes, struct arena *arena, struct err *err)
{
    struct image image = {.bytes = bytes};
    GElf_Ehdr header;
    if (!elf_is(bytes) || elf_machine(bytes) != EM_AMDGPU)
        return err_set(err, ERR_CONFIG, "not a code object: %s",
                       elf_is(bytes) ? elf_machine_name(elf_machine(bytes), arena) : "not an ELF file");
    enum status status = elf_open(&image.elf, bytes, err);
    if (!status)
        status = check_header(&header, &image, err);
    if (!status)
        status = check_segments(&image, arena, err);
    for (size_t k = 0; k < image.note_count && !status; k++)
        if ((status = note_read(object, image.notes[k], arena, err)))
            err_within(err, "the note at byte %td", image.notes[k].data - bytes.data);
    if (!status) {
        object->abi = bytes.data[EI_ABIVERSION] + 2u;
        /* The bundle's id is the last resort: it is set by tools, whereas the flags and metadata come from the
         * compiler. */
        object->target_of_id =
            !object->target && !target_of_flags(&object->target, &object->features, header.e_flags, object->abi, arena);
        if (object->target_of_id && !target_split(&object->target, &object->features, object->id, arena))
            status = err_set(err, ERR_CONFIG, "for an unknown processor (ELF flags 0x%x, no target in its metadata)",
                             header.e_flags);
    }
    if (!status)
        elf_symbols_read(&image.symbols, image.elf, arena);
    for (size_t k = 0; k < object->kernel_count && !status; k++)
        read_descriptor((struct codeobj_kernel *)&object->kernels[k], &image, object->target, arena);
    if (!status)
        elf_extents(object, &image.symbols, arena);
    elf_end(image.elf);
    return status;
}

/* ---- host files ---- */

enum status elf_walk_fatbins(struct codeobj_list *list, struct bytes bytes, struct err *err)
{
    Elf *elf = NULL;
    Elf_Scn *section = NULL;
    size_t names = 0;
    bool found = false;
    enum status status = elf_open(&elf, bytes, err);
    while (!status && !elf_getshdrstrndx(elf, &names) && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || header.sh_type == SHT_NOBITS || !header.sh_size || !text_starts(name, ".hip_fatbin") ||
            text_starts(name, ".hip_fatbin_segment"))
            continue;
        struct bytes part;
        found = true;
        if (!bytes_part(&part, bytes, header.sh_offset, header.sh_size))
            status = err_set(err, ERR_CONFIG,
                             "truncated: section .hip_fatbin needs %llu bytes from offset %llu, the file has %zu",
                             (unsigned long long)header.sh_size, (unsigned long long)header.sh_offset, bytes.size);
        else if ((status = bundle_walk(list, part, err)))
            err_within(err, "section .hip_fatbin");
    }
    elf_end(elf);
    if (!status && !found)
        status =
            err_set(err, ERR_CONFIG,
                    "not a code object: an ELF file for %s without HIP kernels (no .hip_fatbin section); a library "
                    "may have them in files beside it (*.co, *.hsaco), or compile them when it runs",
                    elf_machine_name(elf_machine(bytes), list->arena));
    return status;
}
