/* SPDX-License-Identifier: MIT
 *
 * Code objects made by hand: the smallest ELF image that holds a metadata note. For the unit tests and the fuzz target,
 * which need no compiler.
 */
#ifndef ROOFTILE_TESTS_CODEOBJ_IMAGE_H
#define ROOFTILE_TESTS_CODEOBJ_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "rooftile/arena.h"

#define IMAGE_NOTE_AT (sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr))
#define IMAGE_NAME_BYTES 8u /* "AMDGPU" and its padding */

/* A map of a target and one kernel "k" with one pointer argument, in msgpack. */
static const char image_note[] = "\x82\xae"
                                 "amdhsa.kernels\x91\x85\xa5.name\xa1k\xa7.symbol\xa4k.kd\xa5.args\x91\x83\xa7.offset"
                                 "\x00\xa5.size\x08\xab.value_kind\xadglobal_buffer\xaf.wavefront_size\x40\xb5"
                                 ".kernarg_segment_size\x08\xad"
                                 "amdhsa.target\xd9\x19"
                                 "amdgcn-amd-amdhsa--gfx942";

/* `flags` as in e_flags (0x54c: gfx942 with any sramecc and xnack); the note's description is `note`. */
static inline unsigned char *image_make(size_t *size, const void *note, size_t note_size, uint32_t flags,
                                        struct arena *arena)
{
    const size_t header_size = IMAGE_NOTE_AT + sizeof(Elf64_Nhdr) + IMAGE_NAME_BYTES;
    const size_t note_bytes = sizeof(Elf64_Nhdr) + IMAGE_NAME_BYTES + note_size;
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 64, 3},
                         .e_type = ET_DYN,
                         .e_machine = 224,
                         .e_version = EV_CURRENT,
                         .e_phoff = sizeof(header),
                         .e_flags = flags,
                         .e_ehsize = sizeof(header),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 2};
    const size_t whole = header_size + (note_size + 3) / 4 * 4;
    const Elf64_Phdr segments[2] = {
        {.p_type = PT_LOAD, .p_filesz = whole, .p_memsz = whole, .p_align = 4096},
        {.p_type = PT_NOTE, .p_offset = IMAGE_NOTE_AT, .p_filesz = (note_bytes + 3) / 4 * 4, .p_align = 4}};
    const Elf64_Nhdr start = {.n_namesz = 7, .n_descsz = (uint32_t)note_size, .n_type = 32};
    unsigned char *image = arena_alloc(arena, whole);
    memcpy(image, &header, sizeof(header));
    memcpy(image + sizeof(header), segments, sizeof(segments));
    memcpy(image + IMAGE_NOTE_AT, &start, sizeof(start));
    memcpy(image + IMAGE_NOTE_AT + sizeof(start), "AMDGPU", 6);
    if (note_size)
        memcpy(image + header_size, note, note_size);
    *size = whole;
    return image;
}

/* The same with a section .debug_line. */
static inline unsigned char *image_lines(size_t *size, const void *lines, size_t line_bytes, struct arena *arena)
{
    static const char names[] = "\0.debug_line\0.shstrtab";
    const unsigned char *plain = image_make(size, image_note, sizeof(image_note) - 1, 0x54c, arena);
    const size_t lines_at = (*size + 7) / 8 * 8, names_at = lines_at + line_bytes;
    const size_t sections_at = (names_at + sizeof(names) + 7) / 8 * 8;
    const Elf64_Shdr sections[] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = lines_at, .sh_size = line_bytes, .sh_addralign = 1},
        {.sh_name = 13, .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = sizeof(names), .sh_addralign = 1}};
    unsigned char *image = arena_alloc(arena, sections_at + sizeof(sections));
    memcpy(image, plain, *size);
    if (line_bytes)
        memcpy(image + lines_at, lines, line_bytes);
    memcpy(image + names_at, names, sizeof(names));
    memcpy(image + sections_at, sections, sizeof(sections));
    Elf64_Ehdr *header = (Elf64_Ehdr *)image;
    header->e_shoff = sections_at;
    header->e_shentsize = sizeof(*sections);
    header->e_shnum = 3;
    header->e_shstrndx = 2;
    *size = sections_at + sizeof(sections);
    return image;
}

static inline void image_put(unsigned char *at, uint64_t value, unsigned width)
{
    for (unsigned k = 0; k < width; k++)
        at[k] = (unsigned char)(value >> 8 * k);
}

struct image_entry {
    const char *id;
    const void *data;
    size_t size;
};

/* A plain offload bundle of these entries. */
static inline unsigned char *image_bundle(size_t *size, const struct image_entry *entries, size_t count,
                                          struct arena *arena)
{
    size_t table = 32, whole;
    for (size_t k = 0; k < count; k++)
        table += 24 + strlen(entries[k].id);
    whole = table;
    for (size_t k = 0; k < count; k++)
        whole += entries[k].size;
    unsigned char *bundle = arena_alloc(arena, whole), *at = bundle + 32;
    memcpy(bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
    image_put(bundle + 24, count, 8);
    for (size_t k = 0; k < count; k++) {
        const size_t length = strlen(entries[k].id);
        image_put(at, table, 8);
        image_put(at + 8, entries[k].size, 8);
        image_put(at + 16, length, 8);
        memcpy(at + 24, entries[k].id, length);
        if (entries[k].size)
            memcpy(bundle + table, entries[k].data, entries[k].size);
        at += 24 + length;
        table += entries[k].size;
    }
    *size = whole;
    return bundle;
}

#endif
