/* SPDX-License-Identifier: MIT
 *
 * Memory accesses of AMD instructions. Names give almost everything: "global_load_dwordx4" of gfx9 is
 * "global_load_b128" of gfx11. The modifiers after the operands give the rest.
 */

#include "isa_internal.h"

#define DEFAULT_BYTES 4u /* for names without a type: atomics before gfx11, counters in LDS */

/* ---- names ---- */

static void find_operation(struct isa_access *access, const char *name)
{
    static const struct {
        const char *words; /* parts of the name */
        uint8_t operation;
    } operations[] = {
        {"cmpswap", ATOMIC_CMPSWAP}, {"cmpst", ATOMIC_CMPSWAP}, {"wrxchg", ATOMIC_SWAP},  {"storexchg", ATOMIC_SWAP},
        {"swap", ATOMIC_SWAP},       {"rsub", ATOMIC_UNKNOWN},  {"csub", ATOMIC_UNKNOWN}, {"cond_sub", ATOMIC_UNKNOWN},
        {"add", ATOMIC_ADD},         {"sub", ATOMIC_SUB},       {"and", ATOMIC_AND},      {"xor", ATOMIC_XOR},
        {"mskor", ATOMIC_UNKNOWN},   {"or", ATOMIC_OR},         {"smin", ATOMIC_SMIN},    {"min_i32", ATOMIC_SMIN},
        {"umin", ATOMIC_UMIN},       {"min_u32", ATOMIC_UMIN},  {"smax", ATOMIC_SMAX},    {"max_i32", ATOMIC_SMAX},
        {"umax", ATOMIC_UMAX},       {"max_u32", ATOMIC_UMAX},  {"inc", ATOMIC_INC},      {"dec", ATOMIC_DEC},
    };
    access->kind = ACCESS_ATOMIC;
    for (size_t k = 0; k < COUNT_OF(operations); k++)
        if (strstr(name, operations[k].words)) {
            access->operation = operations[k].operation;
            break;
        }
    /* Only 32-bit integer operations are modelled; a swap compares and moves bits of any type. */
    if (access->bytes != 4 || isa_has_word(name, "f32 f64 f16 bf16 pk"))
        access->operation = access->operation == ATOMIC_CMPSWAP ? ATOMIC_CMPSWAP : ATOMIC_UNKNOWN;
}

static void lds_named(struct isa_access *access, const char *rest)
{
    access->pair = isa_has_word(rest, "read2st64 write2st64 wrxchg2st64 stride64") ? 64
                   : isa_has_word(rest, "read2 write2 wrxchg2 2addr")              ? 1
                                                                                   : 0;
    access->bytes = access->bytes ? access->bytes : DEFAULT_BYTES;
    if (isa_starts(rest, "read load"))
        access->kind = strstr(rest, "_tr") || strstr(rest, "addtid") ? ACCESS_NONE : ACCESS_LOAD;
    else if (isa_starts(rest, "write store") && !strstr(rest, "xchg") && !strstr(rest, "addtid"))
        access->kind = ACCESS_STORE;
    else if (isa_starts(rest, "permute bpermute"))
        access->kind = *rest == 'b' ? ACCESS_PERMUTE : ACCESS_PERMUTE_BACK;
    else if (text_starts(rest, "swizzle"))
        access->kind = ACCESS_SWIZZLE;
    else if (strcmp(rest, "nop") == 0 || isa_starts(rest, "append consume bvh"))
        access->kind = ACCESS_NONE;
    else
        find_operation(access, rest);
    access->returns = isa_has_word(rest, "rtn");
}

bool isa_access_named(struct isa_access *access, const char *name)
{
    static const char vector[] = "global_ flat_ scratch_ buffer_ tbuffer_ cluster_",
                      scalar[] = "s_buffer_ s_scratch_ s_";
    const size_t stem = isa_start(name, vector), scalar_stem = isa_start(name, scalar), lds = isa_start(name, "ds_");
    const char *rest = name + stem + scalar_stem + lds;
    const unsigned bytes = isa_bytes_named(name);
    *access = (struct isa_access){.bytes = (uint8_t)bytes, .kind = ACCESS_NONE};
    if (isa_has_word(name, "format") && isa_has_word(name, "d16"))
        access->bytes /= 2;
    else if (bytes == 2 && isa_has_word(name, "pk"))
        access->bytes = 4;
    access->bytes = !bytes && isa_has_word(rest, "atomic") ? DEFAULT_BYTES : access->bytes;
    access->is_buffer = isa_starts(name, "buffer_ tbuffer_ s_buffer_");
    access->is_signed = isa_has_word(rest, "sbyte sshort i8 i16");
    access->high_half = isa_has_word(rest, "hi");
    access->low_half = isa_has_word(rest, "d16") && !access->high_half;
    if (lds) {
        lds_named(access, rest);
    } else {
        /* Accesses through vector or scalar registers; other names are cache control. */
        access->kind = text_starts(rest, "load_") ? ACCESS_LOAD : ACCESS_STORE;
        if (!(stem || scalar_stem) || !isa_starts(rest, "load_ store_ atomic_"))
            return false;
        if (text_starts(rest, "atomic_"))
            find_operation(access, rest);
        access->to_lds = isa_has_word(rest, "lds");
    }
    access->dwords = access->bytes < 4 ? 1 : access->bytes / 4;
    return true;
}

/* ---- operand positions ---- */

/* global_load d, v, s; store v, d, s; atomic [d,] v, d, s. Copies between memory and LDS have the LDS address, since
 * gfx1250, in the place of a load's destination or after a store's address; before gfx1250 it is in M0. */
static void place_vector(struct isa_access *access, const struct isa_instruction *in)
{
    const bool loads = access->kind == ACCESS_LOAD, is_async = isa_has_word(in->mnemonic, "async");
    const bool returns = access->kind == ACCESS_ATOMIC && access->returns;
    const int8_t first = loads ? !access->to_lds || is_async : returns;
    access->destination = (loads && !access->to_lds) || returns ? 0 : -1;
    access->address = first;
    access->data = loads ? -1 : (int8_t)(first + 1);
    access->base = text_starts(in->mnemonic, "flat_") ? -1 : (int8_t)(first + (loads ? 1 : 2));
}

/* buffer_load d, v, s[0:3], s; the data of stores and atomics is in the place of a load's destination. */
static void place_buffer(struct isa_access *access, const struct isa_instruction *in)
{
    const int8_t first = !access->to_lds;
    access->destination = access->kind == ACCESS_LOAD ? (int8_t)(first - 1) : access->returns ? 0 : -1;
    access->data = access->kind == ACCESS_LOAD ? -1 : 0;
    access->address = first;
    access->base = (int8_t)(first + 1);
    access->extra = (int8_t)(first + 2);
    access->offset_enable = strstr(in->operands, " offen") != NULL;
    access->index_enable = strstr(in->operands, " idxen") != NULL;
}

void isa_access_place(struct isa_instruction *in, struct arena *arena)
{
    if (!in->access)
        return;
    struct isa_access access = *in->access;
    access.destination = access.address = access.data = access.data1 = access.base = access.extra = -1;
    access.to_lds |= strstr(in->operands, " lds") != NULL;
    access.offset = (int64_t)isa_modifier(in, "offset");
    if (access.pair) {
        access.offset = (int64_t)isa_modifier(in, "offset0") * access.bytes * access.pair;
        access.offset1 = (int64_t)isa_modifier(in, "offset1") * access.bytes * access.pair;
    }
    if (text_starts(in->mnemonic, "ds_")) {
        const bool stores = access.kind == ACCESS_STORE, moves = access.kind >= ACCESS_PERMUTE;
        const bool has_result = !stores && (access.kind != ACCESS_ATOMIC || access.returns);
        access.destination = has_result ? 0 : -1;
        access.address = has_result;
        if (stores || access.kind == ACCESS_ATOMIC) {
            access.data = (int8_t)(access.address + 1);
            access.data1 = (int8_t)(access.address + 2);
        } else if (moves && access.kind != ACCESS_NONE) {
            access.data = access.kind == ACCESS_SWIZZLE ? 1 : 2;
        }
    } else if (*in->mnemonic == 's' && in->space == ISA_CONSTANT) {
        access.destination = access.kind == ACCESS_LOAD ? 0 : -1;
    } else {
        if (access.kind == ACCESS_ATOMIC)
            access.returns = strstr(in->operands, " glc") || strstr(in->operands, " sc0") ||
                             (strstr(in->operands, "TH_ATOMIC_") && strstr(in->operands, "_RETURN"));
        (access.is_buffer ? place_buffer : place_vector)(&access, in);
    }
    in->access = arena_copy(arena, &access, sizeof(access));
}

/* ---- cache policy ---- */

/* On an atomic, glc requests the old value, as do sc0 where it otherwise is the low bit of the scope, and RETURN in
 * gfx12's temporal hints: these are not a policy. (LLVM, AMDGPUUsage, "Memory Model": gfx90a, gfx942, gfx12.) */
static void add_policy(struct text *policy, const char *word, size_t length, bool is_atomic)
{
    static const char atomic_hint[] = "th:TH_ATOMIC";
    const bool is_hint = text_starts(word, "th:"), asks = is_atomic && text_has_word("glc sc0", " ", word, length);
    if (asks ||
        !(is_hint || text_starts(word, "scope:") || text_has_word("nt glc slc dlc scc sc0 sc1 nv", " ", word, length)))
        return;
    if (is_hint && is_atomic && length > strlen("_RETURN") &&
        !memcmp(word + length - strlen("_RETURN"), "_RETURN", strlen("_RETURN")))
        length -= strlen("_RETURN");
    if (is_hint && length == strlen(atomic_hint) && !strncmp(word, atomic_hint, length))
        return;
    text_addf(policy, "%s%.*s", policy->length ? " " : "", (int)length, word);
}

const char *isa_policy_read(const struct isa_instruction *in, struct arena *arena)
{
    SCOPED(text_release) struct text policy = {0};
    if (in->space == ISA_NO_SPACE)
        return "";
    for (const char *at = in->operands; *at;) {
        const size_t length = strcspn(at, " ");
        add_policy(&policy, at, length, in->kind == ISA_ATOMIC);
        at += length + (at[length] == ' ');
    }
    return policy.length ? arena_strdup(arena, policy.data) : "";
}

size_t isa_policies_find(struct isa_policy policies[ISA_POLICIES], const struct isa_kernel *kernel, bool scratch)
{
    size_t count = 0, k;
    FOR_EACH(const struct isa_instruction, in, kernel->instructions, kernel->instruction_count) {
        if (in->space == ISA_NO_SPACE || in->space == ISA_LDS || (in->space == ISA_SCRATCH && !scratch))
            continue;
        for (k = 0; k < count && strcmp(policies[k].name, in->policy) != 0; k++)
            continue;
        if (k == ISA_POLICIES)
            continue;
        if (k == count)
            policies[count++] = (struct isa_policy){.name = in->policy};
        isa_traffic_add(&policies[k].traffic, in);
    }
    return count;
}

bool isa_policies_say(struct text *text, const struct isa_kernel *kernel, const struct isa_kernel *but,
                      const char *tail)
{
    struct isa_policy own[ISA_POLICIES], others[ISA_POLICIES];
    const size_t count = isa_policies_find(own, kernel, false);
    const size_t other_count = but ? isa_policies_find(others, but, false) : 0;
    bool found = false;
    for (size_t k = 0; k < count; k++) {
        struct isa_traffic *a = &own[k].traffic, b = {0};
        for (size_t n = 0; n < other_count; n++)
            b = strcmp(others[n].name, own[k].name) ? b : others[n].traffic;
        const struct {
            const char *what;
            uint64_t count, other;
        } kinds[] = {{"load", a->loads, b.loads}, {"store", a->stores, b.stores}, {"atomic", a->atomics, b.atomics}};
        for (size_t n = 0; n < COUNT_OF(kinds) && *own[k].name; n++)
            if (kinds[n].count && !kinds[n].other) {
                text_addf(text, "%s%llu %s%s %s%s", text->length ? ", " : "", (unsigned long long)kinds[n].count,
                          kinds[n].what, text_s(kinds[n].count), own[k].name, tail);
                found = true;
            }
    }
    return found;
}
