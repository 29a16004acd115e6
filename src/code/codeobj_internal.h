/* SPDX-License-Identifier: MIT
 *
 * Shared by the readers of code objects: sized bytes, the list that grows during a walk over a file, and the parts of
 * an object: ELF (libelf), metadata note (msgpack), kernel descriptor.
 */
#ifndef ROOFTILE_CODEOBJ_INTERNAL_H
#define ROOFTILE_CODEOBJ_INTERNAL_H

#include "rooftile/codeobj.h"

struct bytes {
    const unsigned char *data;
    size_t size;
};

/* Sets *part to [offset, offset + size); returns false if that is out of bounds. */
bool bytes_part(struct bytes *part, struct bytes whole, uint64_t offset, uint64_t size);
bool bytes_start(struct bytes bytes, const char *magic); /* with this string, without its terminator */
uint16_t load_u16(const unsigned char *at);              /* little-endian, at any address */
uint32_t load_u32(const unsigned char *at);
uint64_t load_u64(const unsigned char *at);

/* Makes a printable copy: ERR_CONFIG "<what> has control characters". */
enum status codeobj_string(const char **copy, const char *string, size_t length, const char *what, struct arena *arena,
                           struct err *err);

void codeobj_set_code(struct codeobj_kernel *kernel, struct bytes code);
/* Returns an argument with unknown details: passed by value, without a name. */
struct codeobj_arg codeobj_bare_arg(uint32_t offset_bytes, uint32_t size_bytes);
/* Returns the threads in a block of this size; over 65536 if there are too many. */
uint32_t codeobj_block(const uint32_t sizes[3]);

/* Parses "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-" or a bundle's entry id; false if it names no processor. */
bool target_split(const char **target, const char **features, const char *id, struct arena *arena);
/* Decodes the ELF header's flags; false if the processor is not in the table. */
bool target_of_flags(const char **target, const char **features, uint32_t flags, unsigned abi, struct arena *arena);

/* The contents of a file, while it is walked. */
struct codeobj_list {
    struct arena *arena;
    struct codeobj *objects;
    size_t count;
    struct codeobj_other *others;
    size_t other_count;
    size_t bundle_count;
};

/* Reads one ELF image and appends it. `id` is copied. */
enum status list_add_object(struct codeobj_list *list, struct bytes image, const char *id, struct err *err);

/* ---- codeobj_bundle.c ---- */

bool bundle_is_plain(struct bytes bytes);
bool bundle_is_compressed(struct bytes bytes);
/* Reads all bundles of a file or section, which are consecutive with zeros between them. */
enum status bundle_walk(struct codeobj_list *list, struct bytes bytes, struct err *err);

/* ---- codeobj_elf.c ---- */

#define ELF_MACHINE_AMDGPU 224u
#define ELF_MACHINE_CUDA 190u
/* Opens a libelf handle on bytes that must remain valid; the caller calls elf_end(). */
struct Elf;
enum status elf_open(struct Elf **elf, struct bytes bytes, struct err *err);
bool elf_is(struct bytes bytes);
unsigned elf_machine(struct bytes bytes); /* 0: too short */

/* Reads a whole AMD object: target, features and kernels. A kernel without a descriptor keeps its metadata. */
enum status elf_read(struct codeobj *object, struct bytes bytes, struct arena *arena, struct err *err);

/* ---- codeobj_symbols.c ---- */

struct elf_symbol {
    const char *name; /* as in the table */
    uint64_t address, size;
    bool is_function;
};

/* Addresses [start, end): a section, a kernel or a function. */
struct elf_range {
    uint64_t start, end;
    uint64_t size;    /* of the symbol; 0: none */
    const char *name; /* of a function */
    bool is_kernel;
};

struct elf_symbols {
    struct elf_symbol *items; /* by name */
    size_t count;
    struct elf_range *sections; /* with instructions, by address */
    size_t section_count;
};
void elf_symbols_read(struct elf_symbols *symbols, struct Elf *elf, struct arena *arena);
const struct elf_symbol *elf_symbol_find(const struct elf_symbols *symbols, const char *name); /* NULL: none */

/* Trims the code of each kernel, which extended to the end of its segment, and sets the object's functions. */
void elf_extents(struct codeobj *object, const struct elf_symbols *symbols, struct arena *arena);

/* ---- codeobj_elf.c ---- */

/* Calls bundle_walk for every .hip_fatbin section of a host's ELF file. */
enum status elf_walk_fatbins(struct codeobj_list *list, struct bytes bytes, struct err *err);

/* ---- codeobj_cubin.c ---- */

/* Reads a whole NVIDIA object: target and kernels. */
enum status cubin_read(struct codeobj *object, struct bytes bytes, struct arena *arena, struct err *err);

/* ---- codeobj_ptx.c ---- */

bool ptx_is(struct bytes bytes);
/* Reads a whole text: target and kernels. */
enum status ptx_read(struct codeobj *object, struct bytes bytes, struct arena *arena, struct err *err);

/* ---- codeobj_note.c ---- */

/* Adds the kernels, target and features given by the compiler. `target` stays NULL if the note has none (version 3). */
enum status note_read(struct codeobj *object, struct bytes note, struct arena *arena, struct err *err);

#endif
