/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "codeobj_internal.h"
#include "rooftile/file.h"
#include "rooftile/text.h"

/* ---- bytes ---- */

bool bytes_part(struct bytes *part, struct bytes whole, uint64_t offset, uint64_t size)
{
    if (offset > whole.size || size > whole.size - offset)
        return false;
    *part = (struct bytes){whole.data + offset, (size_t)size};
    return true;
}

bool bytes_start(struct bytes bytes, const char *magic)
{
    const size_t length = strlen(magic);
    return bytes.size >= length && memcmp(bytes.data, magic, length) == 0;
}

uint64_t load_u64(const unsigned char *at)
{
    uint64_t value = 0;
    for (unsigned k = 8; k-- > 0;)
        value = value << 8 | at[k];
    return value;
}

uint32_t load_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint16_t load_u16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

enum status codeobj_string(const char **copy, const char *string, size_t length, const char *what, struct arena *arena,
                           struct err *err)
{
    for (size_t k = 0; k < length; k++)
        if ((unsigned char)string[k] < 0x20 || string[k] == 0x7f)
            return err_set(err, ERR_CONFIG, "%s has control characters", what);
    *copy = arena_strndup(arena, string, length);
    return STATUS_OK;
}

/* ---- the list ---- */

static void *grown(struct arena *arena, const void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return (void *)items;
    *capacity = *capacity ? *capacity * 2 : 8;
    void *larger = arena_array(arena, *capacity, size);
    if (count)
        memcpy(larger, items, count * size);
    return larger;
}

void list_add_other(struct codeobj_list *list, const char *id, uint64_t size_bytes)
{
    list->others = grown(list->arena, list->others, list->other_count, &list->other_capacity, sizeof(*list->others));
    list->others[list->other_count++] = (struct codeobj_other){id, size_bytes};
}

/* The bundle's id comes last: it is what somebody wrote, the object's own words are what the compiler did. */
static enum status name_target(struct codeobj *object, const struct elf_image *image, struct arena *arena,
                               struct err *err)
{
    if (object->target || target_of_flags(&object->target, &object->features, image->flags, image->abi, arena) ||
        target_split(&object->target, &object->features, object->id, arena))
        return STATUS_OK;
    return err_set(err, ERR_CONFIG, "for an unknown processor (ELF flags 0x%x, no target in its metadata)",
                   image->flags);
}

static enum status read_object(struct codeobj *object, struct bytes bytes, struct arena *arena, struct err *err)
{
    struct elf_image image = {0};
    if (elf_machine(bytes) == ELF_MACHINE_CUDA)
        return cubin_read(object, bytes, arena, err);
    if (ptx_is(bytes))
        return ptx_read(object, bytes, arena, err);
    enum status status = elf_image_read(&image, bytes, arena, err);
    if (!status)
        status = note_read(object, image.note, arena, err);
    if (!status)
        status = name_target(object, &image, arena, err);
    if (status)
        return status;
    object->abi = image.abi;
    for (size_t k = 0; k < object->kernel_count; k++)
        descriptor_read((struct codeobj_kernel *)&object->kernels[k], &image, object->target);
    return STATUS_OK;
}

enum status list_add_object(struct codeobj_list *list, struct bytes image, const char *id, uint64_t bundle_offset,
                            struct err *err)
{
    struct codeobj object = {.bytes = image.data,
                             .size_bytes = image.size,
                             .id = arena_strdup(list->arena, id),
                             .features = "",
                             .bundle_offset = bundle_offset};
    const enum status status = read_object(&object, image, list->arena, err);
    if (status)
        return *id ? err_within(err, "entry '%s'", id) : status;
    list->objects = grown(list->arena, list->objects, list->count, &list->capacity, sizeof(*list->objects));
    list->objects[list->count++] = object;
    return STATUS_OK;
}

/* ---- files ---- */

static enum status not_code(struct bytes bytes, struct err *err)
{
    static const struct {
        const char *magic, *what;
    } known[] = {{"!<arch>", "it is an archive: extract its members first (ar x)"},
                 {"BC\xC0\xDE", "it is LLVM bitcode: compile and link it first"},
                 {"{", "it looks like JSON"}};
    if (!bytes.size)
        return err_set(err, ERR_CONFIG, "not a code object: the file is empty");
    for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
        if (bytes_start(bytes, known[k].magic))
            return err_set(err, ERR_CONFIG, "not a code object: %s", known[k].what);
    char head[5] = "";
    for (size_t k = 0; k < 4 && k < bytes.size; k++)
        head[k] = isprint(bytes.data[k]) ? (char)bytes.data[k] : '.';
    return err_set(err, ERR_CONFIG,
                   "not a code object: neither an ELF file nor an offload bundle nor PTX (it begins with '%s')", head);
}

static enum status walk(struct codeobj_list *list, enum codeobj_container *container, struct bytes bytes,
                        struct err *err)
{
    if (bundle_is_plain(bytes) || bundle_is_compressed(bytes)) {
        *container = bundle_is_plain(bytes) ? CODEOBJ_BUNDLE : CODEOBJ_COMPRESSED;
        return bundle_walk(list, bytes, 0, err);
    }
    if (ptx_is(bytes)) {
        *container = CODEOBJ_PTX;
        return list_add_object(list, bytes, "", 0, err);
    }
    if (!elf_is(bytes))
        return not_code(bytes, err);
    const unsigned machine = elf_machine(bytes);
    *container = machine == ELF_MACHINE_AMDGPU || machine == ELF_MACHINE_CUDA ? CODEOBJ_PLAIN : CODEOBJ_EXECUTABLE;
    if (*container == CODEOBJ_PLAIN)
        return list_add_object(list, bytes, "", 0, err);
    return elf_walk_fatbins(list, bytes, err);
}

/* A bundle of nothing but other things is no code object: say what is there instead. */
static enum status check_found(const struct codeobj_list *list, struct err *err)
{
    struct text ids = {0};
    if (list->count)
        return STATUS_OK;
    for (size_t k = 0; k < list->other_count && k < 8; k++)
        text_addf(&ids, "%s%s", k ? ", " : "", list->others[k].id);
    err_set(err, ERR_CONFIG, "not a code object: its bundle has no AMD GPU entry, only: %s",
            ids.length ? ids.data : "nothing");
    text_release(&ids);
    return err->status;
}

enum status codeobj_parse(const struct codeobj_file **file, const char *path, const void *bytes, size_t size_bytes,
                          struct arena *arena, struct err *err)
{
    struct codeobj_list list = {.arena = arena};
    enum codeobj_container container = CODEOBJ_PLAIN;
    enum status status = walk(&list, &container, (struct bytes){bytes, size_bytes}, err);
    if (!status)
        status = check_found(&list, err);
    if (status)
        return err_within(err, "%s", path);
    struct codeobj_file *found = arena_alloc(arena, sizeof(*found));
    *found = (struct codeobj_file){.path = arena_strdup(arena, path),
                                   .container = container,
                                   .bundle_count = list.bundle_count,
                                   .objects = list.objects,
                                   .count = list.count,
                                   .others = list.others,
                                   .other_count = list.other_count};
    *file = found;
    return STATUS_OK;
}

enum status codeobj_read(const struct codeobj_file **file, const char *path, struct arena *arena, struct err *err)
{
    char *data = NULL;
    size_t size = 0;
    const enum status status = file_read(&data, &size, path, CODEOBJ_LIMIT_BYTES, arena, err);
    return status ? status : codeobj_parse(file, path, data, size, arena, err);
}

const char *codeobj_container_name(enum codeobj_container container)
{
    static const char *const names[] = {[CODEOBJ_PLAIN] = "code object",
                                        [CODEOBJ_BUNDLE] = "offload bundle",
                                        [CODEOBJ_COMPRESSED] = "compressed offload bundle",
                                        [CODEOBJ_EXECUTABLE] = "executable",
                                        [CODEOBJ_PTX] = "PTX"};
    return names[container];
}

const struct codeobj_kernel *codeobj_kernel(const struct codeobj *object, const char *name)
{
    for (size_t k = 0; k < object->kernel_count; k++)
        if (strcmp(object->kernels[k].name, name) == 0)
            return &object->kernels[k];
    return NULL;
}
