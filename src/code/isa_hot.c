/* SPDX-License-Identifier: MIT
 *
 * Where a kernel spends its time, and on which instruction.
 */

#include "isa_internal.h"

/* Matrix instructions of which the clocks are not known count as so fast: what CDNA 3 does of f16. */
#define USUAL_MATRIX_RATE 512.0

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

/* How much of a loop's time is its own: of two loops the one is hotter that has more of the first figure in which they
 * differ. Paths for the edges of a problem do the same work as the loop for its bulk, with more instructions. */
struct heat {
    double matrix_clocks, flops, bytes, work; /* per turn, times ten for each loop around it; or as executed */
    double instructions;                      /* of a turn with its inner loops; fewer are hotter */
};

/* Every loop is taken to turn ten times. */
static double turns_of(const struct isa_loop *loop)
{
    double turns = 1;
    for (unsigned depth = 1; depth < loop->depth && depth < 16; depth++)
        turns *= 10;
    return turns;
}

static double matrix_clocks(const struct isa_instruction *in)
{
    return in->matrix_cycles ? in->matrix_cycles : in->matrix_ops / USUAL_MATRIX_RATE;
}

/* How often a wave passes the loop's header. */
static double turns_of_wave(const struct isa_kernel *kernel, size_t loop)
{
    const size_t header = isa_find(kernel->instructions, kernel->instruction_count, kernel->loops[loop].header_address);
    return kernel->executed && header < kernel->instruction_count ? kernel->executed[header] : NAN;
}

/* Products of integers count as FLOPs do; sums of addresses do not. */
static struct heat *heats_of(const struct isa_kernel *kernel, struct arena *arena)
{
    struct heat *heats = arena_array(arena, kernel->loop_count + 1, sizeof(*heats));
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (in->loop == ISA_NO_LOOP)
            continue;
        struct heat *heat = &heats[in->loop];
        const double times = kernel->executed ? kernel->executed[i] : turns_of(&kernel->loops[in->loop]);
        heat->matrix_clocks += times * matrix_clocks(in);
        heat->flops += times * (in->flops + (in->kind == ISA_PACKED ? in->ops : 0));
        heat->bytes += times * in->bytes;
        heat->work += is_work(in->kind) ? times : 0;
    }
    for (size_t k = 0; k < kernel->loop_count; k++) {
        const struct isa_loop *of = &kernel->loops[k];
        const double turns = kernel->executed ? turns_of_wave(kernel, k) : turns_of(of);
        heats[k].instructions = (double)of->inclusive.instructions;
        /* What a loop calls is in the sums of all loops around it: an innermost one has nothing else there. */
        if (!of->is_innermost || isnan(turns))
            continue;
        heats[k].matrix_clocks += turns * (double)(of->inclusive.matrix_cycles - of->own.matrix_cycles);
        heats[k].flops += turns * (double)(of->inclusive.flops - of->own.flops);
    }
    return heats;
}

static bool is_hotter(const struct heat *a, const struct heat *b)
{
    /* The same products with more loads are a path that chooses between loads. */
    const bool computes = a->matrix_clocks + a->flops > 0;
    const double figures[][2] = {{a->matrix_clocks, b->matrix_clocks},
                                 {a->flops, b->flops},
                                 {computes ? b->instructions : 0, computes ? a->instructions : 0},
                                 {a->bytes, b->bytes},
                                 {b->instructions, a->instructions}};
    for (size_t k = 0; k < COUNT_OF(figures); k++)
        if (figures[k][0] < figures[k][1] || figures[k][0] > figures[k][1])
            return figures[k][0] > figures[k][1];
    return false;
}

struct count {
    const char *name;
    uint64_t count;
    bool is_memory;
};

static void count_name(struct count *counts, size_t *known, const struct isa_instruction *in, const char *mnemonic,
                       struct arena *arena)
{
    /* The same operation has several encodings: v_fma_f32_e64, and a half of a VOPD, v_dual_fma_f32. */
    const size_t length = isa_name_length(mnemonic);
    const size_t dual = text_starts(mnemonic, "v_dual_") ? strlen("dual_") : 0;
    const char *name = arena_printf(arena, "%.2s%.*s", mnemonic, (int)(length - dual - 2), mnemonic + dual + 2);
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
    FOR_EACH(const struct isa_instruction, in, kernel->instructions, kernel->instruction_count) {
        if (in->loop != loop || !is_work(in->kind))
            continue;
        count_name(counts, &known, in, in->mnemonic, arena);
        if (in->dual)
            count_name(counts, &known, in, in->dual->mnemonic, arena);
    }
    /* Of equals the access, else the first: a chase has an address computation for each load, and is about the load. */
    FOR_EACH(const struct count, one, counts, known)
        if (one->count > most.count || (one->count == most.count && one->is_memory && !most.is_memory))
            most = *one;
    return most;
}

bool isa_hot_find(struct isa_hot *hot, const struct isa_kernel *kernel, struct arena *arena)
{
    struct isa_hot found = {.loop = ISA_NO_LOOP};
    const struct heat *heats = heats_of(kernel, arena);
    for (size_t k = 0; k < kernel->loop_count; k++)
        if (heats[k].work > 0 && (found.loop == ISA_NO_LOOP || is_hotter(&heats[k], &heats[found.loop])))
            found.loop = k;
    if (found.loop == ISA_NO_LOOP)
        return false;
    const uint64_t *counts = kernel->loops[found.loop].own.count;
    for (int kind = 0; kind < ISA_KINDS; kind++)
        if (is_work((enum isa_kind)kind))
            found.work += counts[kind] * (kind == ISA_DUAL ? 2u : 1u);
    const struct count most = most_frequent(kernel, found.loop, found.work, arena);
    found.instruction = most.name;
    found.share = (double)most.count / (double)found.work;
    found.turns = turns_of_wave(kernel, found.loop);
    *hot = found;
    return true;
}

struct isa_scratch isa_scratch_find(const struct isa_kernel *kernel)
{
    struct isa_scratch most = {.loop = ISA_NO_LOOP};
    for (size_t k = 0; k < kernel->loop_count; k++) {
        const struct isa_traffic *scratch = &kernel->loops[k].own.traffic[ISA_SCRATCH];
        if (scratch->load_bytes + scratch->store_bytes > most.bytes)
            most = (struct isa_scratch){k, scratch->load_bytes + scratch->store_bytes};
    }
    return most;
}
