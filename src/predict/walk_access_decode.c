/* SPDX-License-Identifier: MIT
 *
 * Loads, stores and atomics by their names, which say all about them: "global_load_dwordx4" of gfx9 is
 * "global_load_b128" of gfx11; where their operands stand.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

/* Bytes of an element, by the first of these words in the name. */
static const struct {
    const char *word;
    uint8_t bytes;
} sizes[] = {
    {"dwordx4", 16}, {"b128", 16}, {"dwordx3", 12}, {"b96", 12}, {"dwordx2", 8}, {"_x2", 8}, {"b64", 8},
    {"u64", 8},      {"i64", 8},   {"f64", 8},      {"byte", 1}, {"u8", 1},      {"i8", 1},  {"b8", 1},
    {"short", 2},    {"u16", 2},   {"i16", 2},      {"b16", 2},  {"dword", 4},   {"b32", 4},
};

static uint8_t size_of(const char *name)
{
    for (size_t k = 0; k < COUNT_OF(sizes); k++)
        if (strstr(name, sizes[k].word))
            return sizes[k].bytes;
    return 4;
}

static const struct {
    const char *words; /* in the name */
    uint8_t operation;
} operations[] = {
    {"cmpswap", ATOMIC_CMPSWAP}, {"cmpst", ATOMIC_CMPSWAP}, {"wrxchg", ATOMIC_SWAP},  {"storexchg", ATOMIC_SWAP},
    {"swap", ATOMIC_SWAP},       {"rsub", ATOMIC_UNKNOWN},  {"csub", ATOMIC_UNKNOWN}, {"cond_sub", ATOMIC_UNKNOWN},
    {"add", ATOMIC_ADD},         {"sub", ATOMIC_SUB},       {"and", ATOMIC_AND},      {"xor", ATOMIC_XOR},
    {"mskor", ATOMIC_UNKNOWN},   {"or", ATOMIC_OR},         {"smin", ATOMIC_SMIN},    {"min_i32", ATOMIC_SMIN},
    {"umin", ATOMIC_UMIN},       {"min_u32", ATOMIC_UMIN},  {"smax", ATOMIC_SMAX},    {"max_i32", ATOMIC_SMAX},
    {"umax", ATOMIC_UMAX},       {"max_u32", ATOMIC_UMAX},  {"inc", ATOMIC_INC},      {"dec", ATOMIC_DEC},
};

static void find_operation(struct access *access, const char *name)
{
    access->kind = ACCESS_ATOMIC;
    if (strstr(name, "_f32") || strstr(name, "_f64") || strstr(name, "f16") || strstr(name, "pk_") ||
        access->bytes != 4)
        return;
    for (size_t k = 0; k < COUNT_OF(operations); k++) {
        if (!strstr(name, operations[k].words))
            continue;
        access->operation = operations[k].operation;
        return;
    }
}

static bool starts_any(const char *name, const char *a, const char *b)
{
    return text_starts(name, a) || text_starts(name, b);
}

static void place_vector(struct access *access, const struct op *op, const char *name)
{
    const bool flat = access->space == SPACE_GLOBAL && text_starts(op->in->mnemonic, "flat_");
    const int8_t first =
        access->kind == ACCESS_LOAD ? !access->to_lds : access->kind == ACCESS_ATOMIC && access->returns;
    access->destination = access->kind == ACCESS_STORE || !first ? -1 : 0;
    access->address = first;
    access->data = access->kind == ACCESS_LOAD ? -1 : (int8_t)(first + 1);
    access->base = flat ? -1 : (int8_t)(access->kind == ACCESS_LOAD ? first + 1 : first + 2);
    (void)name;
}

/* buffer_load d, v, s[0:3], s; a store's and an atomic's data stand where a load's destination does. */
static void place_buffer(struct access *access, const struct op *op)
{
    const int8_t first = !access->to_lds;
    access->destination = access->kind == ACCESS_LOAD                        ? first - 1
                          : access->kind == ACCESS_ATOMIC && access->returns ? 0
                                                                             : -1;
    access->data = access->kind == ACCESS_LOAD ? -1 : 0;
    access->address = first;
    access->base = (int8_t)(first + 1);
    access->extra = (int8_t)(first + 2);
    access->offset_enable = strstr(op->in->operands, " offen") != NULL;
    access->index_enable = strstr(op->in->operands, " idxen") != NULL;
}

static bool vector_decode(struct access *access, const struct op *op, const char *name)
{
    static const struct {
        const char *prefix;
        uint8_t space;
    } spaces[] = {
        {"global_", SPACE_GLOBAL}, {"flat_", SPACE_GLOBAL}, {"scratch_", SPACE_SCRATCH}, {"buffer_", SPACE_BUFFER}};
    const char *rest = NULL;
    for (size_t k = 0; k < COUNT_OF(spaces) && !rest; k++) {
        if (!text_starts(name, spaces[k].prefix))
            continue;
        rest = name + strlen(spaces[k].prefix);
        access->space = spaces[k].space;
    }
    if (!rest)
        return false;
    access->bytes = size_of(rest);
    access->is_signed = strstr(rest, "sbyte") || strstr(rest, "sshort") || strstr(rest, "_i8") || strstr(rest, "_i16");
    access->high_half = strstr(rest, "_hi") != NULL;
    access->low_half = strstr(rest, "d16") && !access->high_half;
    if (text_starts(rest, "load_")) {
        access->kind = ACCESS_LOAD;
        access->to_lds = text_starts(rest, "load_lds_") || strstr(op->in->operands, " lds") != NULL;
    } else if (text_starts(rest, "store_")) {
        access->kind = ACCESS_STORE;
    } else if (text_starts(rest, "atomic_")) {
        find_operation(access, rest);
        access->returns = strstr(op->in->operands, " glc") || strstr(op->in->operands, " sc0") ||
                          strstr(op->in->operands, "TH_ATOMIC_RETURN");
    } else {
        return false;
    }
    if (access->space == SPACE_BUFFER)
        place_buffer(access, op);
    else
        place_vector(access, op, rest);
    if (op->in->space == ISA_SCRATCH)
        access->space = access->space == SPACE_BUFFER ? SPACE_SCRATCH : access->space;
    return true;
}

/* ---- LDS ---- */

static void lds_pair(struct access *access, const char *name)
{
    if (strstr(name, "st64") || strstr(name, "stride64"))
        access->pair = 64;
    else if (starts_any(name, "read2_", "write2_") || strstr(name, "_2addr_"))
        access->pair = 1;
}

static bool lds_decode(struct access *access, const struct op *op, const char *name)
{
    const char *rest = name + 3;
    if (!text_starts(name, "ds_"))
        return false;
    access->space = SPACE_LDS;
    access->bytes = size_of(rest);
    access->is_signed = strstr(rest, "_i8") || strstr(rest, "_i16");
    access->high_half = strstr(rest, "_hi") != NULL;
    access->low_half = strstr(rest, "d16") && !access->high_half;
    lds_pair(access, rest);
    access->destination = 0, access->address = 1;
    if (starts_any(rest, "read", "load")) {
        access->kind = strstr(rest, "_tr") || strstr(rest, "addtid") ? ACCESS_NONE : ACCESS_LOAD;
    } else if (starts_any(rest, "write", "store") && !strstr(rest, "xchg") && !strstr(rest, "addtid")) {
        access->kind = ACCESS_STORE;
        access->destination = -1, access->address = 0, access->data = 1, access->data1 = 2;
    } else if (strstr(rest, "permute")) {
        access->kind = text_starts(rest, "bpermute") ? ACCESS_PERMUTE : ACCESS_PERMUTE_BACK;
        access->data = 2;
    } else if (text_starts(rest, "swizzle")) {
        access->kind = ACCESS_SWIZZLE;
        access->data = 1;
    } else if (strcmp(rest, "nop") == 0 || starts_any(rest, "append", "consume") || strstr(rest, "bvh")) {
        access->kind = ACCESS_NONE;
    } else {
        find_operation(access, rest);
        access->returns = strstr(rest, "_rtn") != NULL;
        access->destination = access->returns ? 0 : -1;
        access->address = access->returns;
        access->data = (int8_t)(access->address + 1);
        access->data1 = (int8_t)(access->address + 2);
    }
    (void)op;
    return true;
}

bool access_decode(struct op *op, const char *name, struct arena *arena)
{
    struct access access = {.destination = -1, .address = -1, .data = -1, .data1 = -1, .base = -1, .extra = -1};
    const bool is_vector = vector_decode(&access, op, name);
    if (!is_vector && !lds_decode(&access, op, name))
        return false;
    access.dwords = access.bytes < 4 ? 1 : access.bytes / 4;
    /* Offsets of global memory may be negative: the modifier is read with its sign. */
    const char *offset = strstr(op->in->operands, "offset:");
    access.offset = offset ? strtoll(offset + strlen("offset:"), NULL, 0) : 0;
    if (access.pair) {
        access.offset = (int64_t)isa_modifier(op->in, "offset0");
        access.offset1 = (int64_t)isa_modifier(op->in, "offset1");
        access.offset *= access.bytes * access.pair;
        access.offset1 *= access.bytes * access.pair;
    }
    op->access = arena_copy(arena, &access, sizeof(access));
    op->execute = is_vector ? access_execute : lds_execute;
    op->class = (uint8_t)(!is_vector                    ? WALK_LDS
                          : access.kind == ACCESS_LOAD  ? WALK_LOAD
                          : access.kind == ACCESS_STORE ? WALK_STORE
                                                        : WALK_ATOMIC);
    return true;
}
