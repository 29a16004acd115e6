/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "isa_internal.h"

/* Scalar arithmetic, waits and branches keep the loop going; what they serve is what is measured. */
static bool is_work(enum isa_kind kind)
{
    switch (kind) {
    case ISA_SCALAR:
    case ISA_WAIT:
    case ISA_BRANCH:
    case ISA_OTHER:
    case ISA_KINDS:
        return false;
    default:
        return true;
    }
}

/* Every loop is taken to turn ten times: a tenth of the instructions one level deeper run as often. */
static double weight_of(const struct isa_loop *loop, uint64_t work)
{
    double weight = (double)work;
    for (unsigned depth = 1; depth < loop->depth && depth < 16; depth++)
        weight *= 10;
    return weight;
}

static uint64_t work_of(const struct isa_mix *mix)
{
    uint64_t work = 0;
    for (int kind = 0; kind < ISA_KINDS; kind++)
        if (is_work((enum isa_kind)kind))
            work += mix->count[kind] * (kind == ISA_DUAL ? 2u : 1u);
    return work;
}

/* The same operation has several encodings: v_fma_f32_e64, and either half of "v_dual_fma_f32 :: v_dual_mov_b32". */
static const char *name_of(const char *mnemonic, struct arena *arena)
{
    size_t length = strcspn(mnemonic, " ");
    const bool suffixed =
        length > 4 && (!memcmp(mnemonic + length - 4, "_e32", 4) || !memcmp(mnemonic + length - 4, "_e64", 4));
    length -= suffixed ? 4 : 0;
    const size_t dual = text_starts(mnemonic, "v_dual_") ? strlen("dual_") : 0;
    return arena_printf(arena, "%.2s%.*s", mnemonic, (int)(length - dual - 2), mnemonic + dual + 2);
}

struct count {
    const char *name;
    uint64_t count;
    bool is_memory;
};

/* Of equals the access, else the first: a chase has an address computation for each load, and is about the load. */
static bool is_more(const struct count *a, const struct count *b)
{
    return a->count > b->count || (a->count == b->count && a->is_memory && !b->is_memory);
}

static void count_name(struct count *counts, size_t *known, const struct isa_instruction *in, const char *mnemonic,
                       struct arena *arena)
{
    const char *name = name_of(mnemonic, arena);
    size_t at = 0;
    while (at < *known && strcmp(counts[at].name, name) != 0)
        at++;
    *known += at == *known;
    counts[at].name = name;
    counts[at].count++;
    counts[at].is_memory = in->space != ISA_NO_SPACE;
}

static struct count most_frequent(const struct isa_kernel *kernel, size_t loop, uint64_t work, struct arena *arena)
{
    struct count *counts = arena_array(arena, work, sizeof(*counts)), most = {.count = 0};
    size_t known = 0;
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (in->loop != loop || !is_work(in->kind))
            continue;
        count_name(counts, &known, in, in->mnemonic, arena);
        const char *second = in->kind == ISA_DUAL ? strstr(in->mnemonic, ":: ") : NULL;
        if (second)
            count_name(counts, &known, in, second + strlen(":: "), arena);
    }
    for (size_t k = 0; k < known; k++)
        if (is_more(&counts[k], &most))
            most = counts[k];
    return most;
}

bool isa_hot_find(struct isa_hot *hot, const struct isa_kernel *kernel, struct arena *arena)
{
    struct isa_hot found = {.loop = ISA_NO_LOOP};
    double heaviest = 0;
    for (size_t k = 0; k < kernel->loop_count; k++) {
        const struct isa_loop *loop = &kernel->loops[k];
        const uint64_t work = loop->is_innermost ? work_of(&loop->own) : 0;
        if (weight_of(loop, work) <= heaviest)
            continue;
        heaviest = weight_of(loop, work);
        found.loop = k;
        found.work = work;
    }
    if (found.loop == ISA_NO_LOOP)
        return false;
    const struct count most = most_frequent(kernel, found.loop, found.work, arena);
    found.instruction = most.name;
    found.share = (double)most.count / (double)found.work;
    *hot = found;
    return true;
}
