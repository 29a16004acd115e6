/* SPDX-License-Identifier: MIT
 *
 * The AMDGPU metadata note: one msgpack map (AMDGPUUsage, "Code Object V3 Metadata" and what versions 4 to 6 add).
 */
#include <msgpack.h>

#include "codeobj_internal.h"

/* ---- validation ---- */

/* What follows the first byte of a value: bytes to skip, and number of contained values. */
struct head {
    uint64_t skip, children;
};

/* The types 0xc0 .. 0xdf of the msgpack specification: `width` bytes of a length, then length * `each` + `plus` bytes.
 */
static const struct {
    unsigned char width, plus, each, children;
} types[32] = {
    [0x04] = {1, 0, 1, 0},  [0x05] = {2, 0, 1, 0}, [0x06] = {4, 0, 1, 0},                        /* bin */
    [0x07] = {1, 1, 1, 0},  [0x08] = {2, 1, 1, 0}, [0x09] = {4, 1, 1, 0},                        /* ext */
    [0x0a] = {0, 4, 0, 0},  [0x0b] = {0, 8, 0, 0},                                               /* float */
    [0x0c] = {0, 1, 0, 0},  [0x0d] = {0, 2, 0, 0}, [0x0e] = {0, 4, 0, 0}, [0x0f] = {0, 8, 0, 0}, /* unsigned */
    [0x10] = {0, 1, 0, 0},  [0x11] = {0, 2, 0, 0}, [0x12] = {0, 4, 0, 0}, [0x13] = {0, 8, 0, 0}, /* signed */
    [0x14] = {0, 2, 0, 0},  [0x15] = {0, 3, 0, 0}, [0x16] = {0, 5, 0, 0}, [0x17] = {0, 9, 0, 0},
    [0x18] = {0, 17, 0, 0},                                               /* fixext */
    [0x19] = {1, 0, 1, 0},  [0x1a] = {2, 0, 1, 0}, [0x1b] = {4, 0, 1, 0}, /* str */
    [0x1c] = {2, 0, 0, 1},  [0x1d] = {4, 0, 0, 1},                        /* array */
    [0x1e] = {2, 0, 0, 2},  [0x1f] = {4, 0, 0, 2},                        /* map */
};

static bool read_head(struct head *head, struct bytes note, size_t at)
{
    const unsigned first = note.data[at];
    uint64_t length = 0;
    *head = (struct head){0, 0};
    if (first < 0x80 || first >= 0xe0)
        return true;
    if (first < 0x90)
        head->children = (first & 0xf) * 2u;
    else if (first < 0xa0)
        head->children = first & 0xf;
    else if (first < 0xc0)
        head->skip = first & 0x1f;
    if (first < 0xc0)
        return true;
    const unsigned type = first - 0xc0;
    struct bytes part; /* sizes of one to eight bytes follow big-endian */
    if (!bytes_part(&part, note, at + 1, types[type].width))
        return false;
    for (unsigned k = 0; k < types[type].width; k++)
        length = length << 8 | part.data[k];
    head->skip = types[type].width + types[type].plus + length * types[type].each;
    head->children = length * types[type].children;
    return true;
}

/* More than any library has: 10,000 kernels have 2 million values. msgpack-c needs 24 bytes for each. */
#define VALUES_MOST 16000000u
#define ARGS_MOST 65536u

/* msgpack-c allocates the claimed size of a container before it reads it. So a claim must fit into the remaining bytes,
 * one for each value. */
static enum status check_values(struct bytes note, struct err *err)
{
    uint64_t pending = 1;
    size_t at = 0;
    for (size_t count = 0; pending; count++) {
        struct head head;
        const size_t from = at;
        const bool is_head = at < note.size && read_head(&head, note, at) && head.skip <= note.size - at - 1;
        at += is_head ? 1 + (size_t)head.skip : 0;
        pending += is_head ? head.children - 1 : 0;
        if (!is_head || pending > note.size - at)
            return err_set(err, ERR_CONFIG, "damaged metadata: its msgpack is truncated at byte %zu of %zu", from,
                           note.size);
        if (count == VALUES_MOST)
            return err_set(err, ERR_CONFIG, "damaged metadata: more than %u values", VALUES_MOST);
    }
    return STATUS_OK;
}

/* ---- members ---- */

static const msgpack_object *member(const msgpack_object *map, const char *key)
{
    for (uint32_t k = 0; map->type == MSGPACK_OBJECT_MAP && k < map->via.map.size; k++)
        if (map->via.map.ptr[k].key.type == MSGPACK_OBJECT_STR && map->via.map.ptr[k].key.via.str.size == strlen(key) &&
            !memcmp(map->via.map.ptr[k].key.via.str.ptr, key, strlen(key)))
            return &map->via.map.ptr[k].val;
    return NULL;
}

static msgpack_object_array list_of(const msgpack_object *map, const char *key)
{
    const msgpack_object *list = member(map, key);
    return list && list->type == MSGPACK_OBJECT_ARRAY ? list->via.array : (msgpack_object_array){0};
}

static enum status to_u32(uint32_t *number, const msgpack_object *object, const char *key, struct err *err)
{
    if (object->type == MSGPACK_OBJECT_BOOLEAN)
        *number = object->via.boolean;
    else if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 <= UINT32_MAX)
        *number = (uint32_t)object->via.u64;
    else
        return err_set(err, ERR_CONFIG, "damaged metadata: %s is not a number from 0 to 4294967295", key);
    return STATUS_OK;
}

static enum status to_string(const char **string, const msgpack_object *object, const char *key, struct arena *arena,
                             struct err *err)
{
    char what[64];
    if (object->type != MSGPACK_OBJECT_STR)
        return err_set(err, ERR_CONFIG, "damaged metadata: %s is not a string", key);
    snprintf(what, sizeof(what), "damaged metadata: %s", key);
    return codeobj_string(string, object->via.str.ptr, object->via.str.size, what, arena, err);
}

/* A member of a map and its place in a struct. Absent members are 0, false and "". */
struct field {
    const char *key;
    enum { NUMBER, FLAG, STRING } type;
    size_t offset;
};

static enum status read_fields(void *out, const msgpack_object *map, const struct field *fields, size_t count,
                               struct arena *arena, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        const msgpack_object *found = member(map, fields[k].key);
        void *at = (char *)out + fields[k].offset;
        const char *string = "";
        uint32_t number = 0;
        if (found && fields[k].type == STRING)
            status = to_string(&string, found, fields[k].key, arena, err);
        else if (found)
            status = to_u32(&number, found, fields[k].key, err);
        if (fields[k].type == STRING)
            *(const char **)at = string;
        else if (fields[k].type == FLAG)
            *(bool *)at = number != 0;
        else
            *(uint32_t *)at = number;
    }
    return status;
}

/* ---- arguments ---- */

#define FIELD(member) offsetof(struct codeobj_arg, member)
static const struct field arg_fields[] = {
    {".name", STRING, FIELD(name)},
    {".type_name", STRING, FIELD(type)},
    {".value_kind", STRING, FIELD(value_kind)},
    {".address_space", STRING, FIELD(address_space)},
    {".access", STRING, FIELD(access)},
    {".actual_access", STRING, FIELD(actual_access)},
    {".offset", NUMBER, FIELD(offset_bytes)},
    {".size", NUMBER, FIELD(size_bytes)},
};
#undef FIELD

static enum status read_args(struct codeobj_kernel *kernel, const msgpack_object *map, struct arena *arena,
                             struct err *err)
{
    const msgpack_object_array list = list_of(map, ".args");
    if (list.size > ARGS_MOST)
        return err_set(err, ERR_CONFIG, "damaged metadata: %u arguments, more than %u", list.size, ARGS_MOST);
    struct codeobj_arg *args = arena_array(arena, list.size, sizeof(*args));
    for (int hidden = 0; hidden < 2; hidden++) {
        for (uint32_t k = 0; k < list.size; k++) {
            struct codeobj_arg arg = {0};
            if (read_fields(&arg, &list.ptr[k], arg_fields, COUNT_OF(arg_fields), arena, err))
                return err_within(err, "argument %u", k + 1);
            arg.access = *arg.access ? arg.access : arg.actual_access;
            arg.hidden = text_starts(arg.value_kind, "hidden_");
            arg.is_pointer = text_has_word("global_buffer dynamic_shared_pointer image sampler pipe queue", " ",
                                           arg.value_kind, strlen(arg.value_kind));
            if (arg.hidden == (hidden == 1))
                args[kernel->arg_count++] = arg;
        }
        if (!hidden)
            kernel->explicit_count = kernel->arg_count;
    }
    kernel->args = args;
    return STATUS_OK;
}

/* ---- kernels ---- */

#define FIELD(member) offsetof(struct codeobj_kernel, member)
static const struct field kernel_fields[] = {
    {".symbol", STRING, FIELD(symbol)},
    {".vgpr_count", NUMBER, FIELD(vgpr_count)},
    {".agpr_count", NUMBER, FIELD(agpr_count)},
    {".sgpr_count", NUMBER, FIELD(sgpr_count)},
    {".vgpr_spill_count", NUMBER, FIELD(vgpr_spills)},
    {".sgpr_spill_count", NUMBER, FIELD(sgpr_spills)},
    {".group_segment_fixed_size", NUMBER, FIELD(group_segment_bytes)},
    {".private_segment_fixed_size", NUMBER, FIELD(private_segment_bytes)},
    {".kernarg_segment_size", NUMBER, FIELD(kernarg_bytes)},
    {".wavefront_size", NUMBER, FIELD(wave)},
    {".max_flat_workgroup_size", NUMBER, FIELD(max_block)},
    {".uses_dynamic_stack", FLAG, FIELD(uses_dynamic_stack)},
    {".workgroup_processor_mode", FLAG, FIELD(wgp_mode)},
};
static const struct field kernel_name = {".name", STRING, FIELD(name)};
#undef FIELD

static enum status read_kernel(struct codeobj_kernel *kernel, const msgpack_object *map, struct arena *arena,
                               struct err *err)
{
    if (read_fields(kernel, map, &kernel_name, 1, arena, err))
        return err->status;
    if (!*kernel->name)
        return err_set(err, ERR_CONFIG, "damaged metadata: a kernel without name");
    enum status status = read_fields(kernel, map, kernel_fields, COUNT_OF(kernel_fields), arena, err);
    if (!status && !*kernel->symbol)
        kernel->symbol = arena_printf(arena, "%s.kd", kernel->name);
    const msgpack_object_array required = list_of(map, ".reqd_workgroup_size");
    for (uint32_t k = 0; k < 3 && required.size == 3 && !status; k++)
        status = to_u32(&kernel->required_block[k], &required.ptr[k], ".reqd_workgroup_size", err);
    if (!status)
        status = read_args(kernel, map, arena, err);
    return status ? err_within(err, "kernel '%s'", kernel->name) : STATUS_OK;
}

static enum status read_root(struct codeobj *object, const msgpack_object *root, struct arena *arena, struct err *err)
{
    const char *target = "";
    if (root->type != MSGPACK_OBJECT_MAP)
        return err_set(err, ERR_CONFIG, "damaged metadata: its msgpack is not a map");
    const msgpack_object *found = member(root, "amdhsa.target");
    enum status status = found ? to_string(&target, found, "amdhsa.target", arena, err) : STATUS_OK;
    if (status)
        return status;
    if (!object->target)
        target_split(&object->target, &object->features, target, arena);
    const msgpack_object_array list = list_of(root, "amdhsa.kernels");
    struct codeobj_kernel *kernels = (struct codeobj_kernel *)object->kernels;
    for (uint32_t k = 0; k < list.size && !status; k++) {
        struct codeobj_kernel kernel = {0};
        status = read_kernel(&kernel, &list.ptr[k], arena, err);
        ARENA_PUSH(arena, kernels, object->kernel_count, kernel);
    }
    object->kernels = kernels;
    return status;
}

enum status note_read(struct codeobj *object, struct bytes note, struct arena *arena, struct err *err)
{
    if (check_values(note, err))
        return err->status;
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    const msgpack_unpack_return code = msgpack_unpack_next(&unpacked, (const char *)note.data, note.size, NULL);
    const enum status status = code == MSGPACK_UNPACK_SUCCESS
                                   ? read_root(object, &unpacked.data, arena, err)
                                   : err_set(err, ERR_CONFIG, "damaged metadata: its msgpack cannot be read");
    msgpack_unpacked_destroy(&unpacked);
    return status;
}
