/* SPDX-License-Identifier: MIT
 *
 * Files with code objects, and names of targets: "gfx942:sramecc+:xnack-" (AMDGPUUsage, "Target ID" and "Generic").
 */

#include "codeobj_internal.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/occupancy.h"

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

/* ---- shared by all readers ---- */

void codeobj_set_code(struct codeobj_kernel *kernel, struct bytes code)
{
    kernel->code = code.data;
    kernel->code_bytes = code.size;
    hash_sha256(kernel->code_sha256, code.data, code.size);
}

struct codeobj_arg codeobj_bare_arg(uint32_t offset_bytes, uint32_t size_bytes)
{
    return (struct codeobj_arg){.name = "",
                                .type = "",
                                .offset_bytes = offset_bytes,
                                .size_bytes = size_bytes,
                                .value_kind = "by_value",
                                .address_space = "",
                                .access = "",
                                .actual_access = ""};
}

uint32_t codeobj_block(const uint32_t sizes[3])
{
    uint64_t threads = 1;
    for (size_t k = 0; k < 3; k++)
        threads = threads > 65536 ? 65536 : threads * sizes[k]; /* no block is that large */
    return (uint32_t)threads;
}

/* ---- the list ---- */

/* Number of previous objects searched for an equal one: those of one bundle. */
#define LOOK_BACK 4096u

/* Returns an object already read with the same bytes, or NULL. */
static const struct codeobj *find_equal(const struct codeobj_list *list, const struct codeobj *object)
{
    const size_t end = list->count > LOOK_BACK ? list->count - LOOK_BACK : 0;
    for (size_t k = list->count; k-- > end;) {
        const struct codeobj *known = &list->objects[k];
        if (known->hash == object->hash && known->size_bytes == object->size_bytes &&
            (!known->target_of_id || !strcmp(known->id, object->id)) &&
            (known->bytes == object->bytes || !memcmp(known->bytes, object->bytes, object->size_bytes)))
            return known;
    }
    return NULL;
}

enum status list_add_object(struct codeobj_list *list, struct bytes image, const char *id, struct err *err)
{
    /* An entry with the same bytes as the previous one has the same hash. */
    const struct codeobj *last = list->count ? &list->objects[list->count - 1] : NULL;
    const bool shared = last && last->bytes == image.data && last->size_bytes == image.size;
    struct codeobj object = {.bytes = image.data,
                             .size_bytes = image.size,
                             .hash = shared ? last->hash : hash_u64(image.data, image.size),
                             .first = list->count,
                             .id = arena_strdup(list->arena, id),
                             .features = ""};
    const struct codeobj *equal = find_equal(list, &object);
    enum status status = STATUS_OK;
    if (equal) {
        const char *own = object.id;
        object = *equal;
        object.id = own;
    } else if (elf_machine(image) == ELF_MACHINE_CUDA) {
        status = cubin_read(&object, image, list->arena, err);
    } else {
        status = (ptx_is(image) ? ptx_read : elf_read)(&object, image, list->arena, err);
    }
    if (status)
        return *id ? err_within(err, "entry '%s'", id) : status;
    ARENA_PUSH(list->arena, list->objects, list->count, object);
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
        return bundle_walk(list, bytes, err);
    }
    if (ptx_is(bytes)) {
        *container = CODEOBJ_PTX;
        return list_add_object(list, bytes, "", err);
    }
    if (!elf_is(bytes))
        return not_code(bytes, err);
    const unsigned machine = elf_machine(bytes);
    *container = machine == ELF_MACHINE_AMDGPU || machine == ELF_MACHINE_CUDA ? CODEOBJ_PLAIN : CODEOBJ_EXECUTABLE;
    if (*container == CODEOBJ_PLAIN)
        return list_add_object(list, bytes, "", err);
    return elf_walk_fatbins(list, bytes, err);
}

enum status codeobj_parse(const struct codeobj_file **file, const char *path, const void *bytes, size_t size_bytes,
                          struct arena *arena, struct err *err)
{
    struct codeobj_list list = {.arena = arena};
    enum codeobj_container container = CODEOBJ_PLAIN;
    enum status status = walk(&list, &container, (struct bytes){bytes, size_bytes}, err);
    if (!status && !list.count) {
        SCOPED(text_release) struct text ids = {0};
        for (size_t k = 0; k < list.other_count && k < 8; k++)
            text_addf(&ids, "%s%s", k ? ", " : "", list.others[k].id);
        status = err_set(err, ERR_CONFIG, "not a code object: its bundle has no AMD GPU entry, only: %s",
                         ids.length ? ids.data : "nothing");
    }
    if (status)
        return err_within(err, "%s", path);
    struct codeobj_file *found = arena_alloc(arena, sizeof(*found));
    *found = (struct codeobj_file){.path = arena_strdup(arena, path),
                                   .container = container,
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

const char *const codeobj_containers[] = {[CODEOBJ_PLAIN] = "code object",
                                          [CODEOBJ_BUNDLE] = "offload bundle",
                                          [CODEOBJ_COMPRESSED] = "compressed offload bundle",
                                          [CODEOBJ_EXECUTABLE] = "executable",
                                          [CODEOBJ_PTX] = "PTX"};

const struct codeobj_kernel *codeobj_kernel(const struct codeobj *object, const char *name)
{
    return FIND_ROW(object->kernels, object->kernel_count, name, name);
}

const struct codeobj_kernel *codeobj_find_kernel(const struct codeobj **object, const struct codeobj_file *file,
                                                 const char *name)
{
    const struct codeobj_kernel *found = NULL;
    for (size_t k = 0; k < file->count && !found; k++) {
        found = codeobj_kernel(&file->objects[k], name);
        *object = found ? &file->objects[k] : *object;
    }
    return found;
}

/* ---- names of targets ---- */

bool target_split(const char **target, const char **features, const char *id, struct arena *arena)
{
    const char *name = strstr(id, "-gfx");
    if (!name)
        return false;
    const size_t length = strcspn(++name, ":");
    *target = arena_strndup(arena, name, length);
    *features = name[length] ? arena_strdup(arena, name + length + 1) : "";
    return true;
}

/* EF_AMDGPU_MACH of llvm/BinaryFormat/ELF.h; processors of gfx9 and later. */
static const struct {
    unsigned mach;
    const char *name;
} machs[] = {
    {0x2c, "gfx900"},         {0x2d, "gfx902"},          {0x2e, "gfx904"},          {0x2f, "gfx906"},
    {0x30, "gfx908"},         {0x31, "gfx909"},          {0x32, "gfx90c"},          {0x33, "gfx1010"},
    {0x34, "gfx1011"},        {0x35, "gfx1012"},         {0x36, "gfx1030"},         {0x37, "gfx1031"},
    {0x38, "gfx1032"},        {0x39, "gfx1033"},         {0x3d, "gfx1035"},         {0x3e, "gfx1034"},
    {0x3f, "gfx90a"},         {0x40, "gfx940"},          {0x41, "gfx1100"},         {0x42, "gfx1013"},
    {0x43, "gfx1150"},        {0x44, "gfx1103"},         {0x45, "gfx1036"},         {0x46, "gfx1101"},
    {0x47, "gfx1102"},        {0x48, "gfx1200"},         {0x49, "gfx1250"},         {0x4a, "gfx1151"},
    {0x4b, "gfx941"},         {0x4c, "gfx942"},          {0x4e, "gfx1201"},         {0x4f, "gfx950"},
    {0x51, "gfx9-generic"},   {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"}, {0x54, "gfx11-generic"},
    {0x55, "gfx1152"},        {0x58, "gfx1153"},         {0x59, "gfx12-generic"},   {0x5a, "gfx1251"},
    {0x5f, "gfx9-4-generic"},
};

/* Two bits each from version 4 on: 0 the target has no such feature, 1 any, 2 off, 3 on. */
static const char *feature_text(unsigned bits, const char *off, const char *on)
{
    return bits == 2 ? off : bits == 3 ? on : "";
}

bool target_of_flags(const char **target, const char **features, uint32_t flags, unsigned abi, struct arena *arena)
{
    size_t row = 0;
    while (row < sizeof(machs) / sizeof(*machs) && machs[row].mach != (flags & 0xff))
        row++;
    if (row == sizeof(machs) / sizeof(*machs))
        return false;
    /* Version 3 has one bit each, xnack 0x100 and sramecc 0x200: off and unsupported look the same. */
    const unsigned xnack = abi >= 4 ? flags >> 8 & 3 : flags & 0x100 ? 3 : 0;
    const unsigned sramecc = abi >= 4 ? flags >> 10 & 3 : flags & 0x200 ? 3 : 0;
    const char *first = feature_text(sramecc, "sramecc-", "sramecc+");
    const char *second = feature_text(xnack, "xnack-", "xnack+");
    *target = machs[row].name;
    *features = arena_printf(arena, "%s%s%s", first, *first && *second ? ":" : "", second);
    return true;
}

/* ---- choosing the object for a device ---- */

/* Code for a generic target runs on these processors. */
static const struct {
    const char *generic, *members;
} generics[] = {
    {"gfx9-generic", "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"},
    {"gfx9-4-generic", "gfx940 gfx941 gfx942 gfx950"},
    {"gfx10-1-generic", "gfx1010 gfx1011 gfx1012 gfx1013"},
    {"gfx10-3-generic", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"},
    {"gfx11-generic", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153"},
    {"gfx12-generic", "gfx1200 gfx1201"},
};

/* Returns the number of features that the object fixes, or -1 if the device has one of them set differently. */
static int features_fit(const char *wanted, const char *device)
{
    int fixed = 0;
    for (const char *at = wanted; *at;) {
        const size_t length = strcspn(at, ":");
        char opposite[32];
        if (length > 1 && length < sizeof(opposite)) {
            memcpy(opposite, at, length);
            opposite[length - 1] = at[length - 1] == '+' ? '-' : '+';
            if (text_has_word(device, ":", opposite, length))
                return -1;
            fixed++;
        }
        at += length + (at[length] == ':');
    }
    return fixed;
}

/* Returns -1 if it does not run there. Otherwise higher is better: an exact processor before a generic one, then more
 * fixed features. */
static int fitness(const struct codeobj *object, const char *target)
{
    const size_t length = strcspn(target, ":");
    const bool exact = strlen(object->target) == length && !strncmp(object->target, target, length);
    bool runs = exact;
    for (size_t k = 0; k < COUNT_OF(generics) && !runs; k++)
        runs = !strcmp(object->target, generics[k].generic) && text_has_word(generics[k].members, " ", target, length);
    if (!runs)
        return -1;
    const int fixed = features_fit(object->features, target + length + (target[length] == ':'));
    return fixed < 0 ? -1 : fixed + (exact ? 100 : 0);
}

const struct codeobj *codeobj_for_target(const struct codeobj_file *file, const char *target)
{
    const struct codeobj *best = NULL;
    int most = -1;
    for (size_t k = 0; k < file->count; k++) {
        const int fit = fitness(&file->objects[k], target);
        best = fit > most ? &file->objects[k] : best;
        most = fit > most ? fit : most;
    }
    return best;
}

bool codeobj_granules(struct codeobj_granules *granules, const char *target, uint32_t wave)
{
    const struct occupancy_limits *limits = occupancy_limits(target);
    /* Code for a generic target uses the allocation of its first processor. */
    for (size_t k = 0; k < sizeof(generics) / sizeof(*generics) && !limits; k++)
        if (strcmp(target, generics[k].generic) == 0) {
            char member[16];
            snprintf(member, sizeof(member), "%.*s", (int)strcspn(generics[k].members, " "), generics[k].members);
            limits = occupancy_limits(member);
        }
    if (!limits || !limits->vgpr_encoding || (wave != limits->wave && !(wave == 64 && limits->has_wave64)))
        return false;
    const uint32_t share = wave > limits->wave ? 2 : 1;
    *granules = (struct codeobj_granules){limits->vgpr_encoding / share, limits->vgpr_granule / share,
                                          limits->agprs == AGPRS_UNIFIED};
    return true;
}

char *codeobj_targets(const struct codeobj_file *file, struct arena *arena)
{
    struct text all = {0};
    FOR_EACH(const struct codeobj, object, file->objects, file->count) {
        const char *name =
            *object->features ? arena_printf(arena, "%s:%s", object->target, object->features) : object->target;
        if (!all.length || !text_has_word(all.data, " ", name, strlen(name)))
            text_addf(&all, "%s%s", all.length ? " " : "", name);
    }
    return text_take(&all, arena);
}
