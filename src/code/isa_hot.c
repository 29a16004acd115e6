/* SPDX-License-Identifier: MIT
 *
 * Finds the hottest loop of a kernel, and its dominant instruction.
 */

#include "isa_internal.h"

/* Rate of matrix instructions of unknown duration: that of f16 on CDNA 3. */
#define USUAL_MATRIX_RATE 512.0

/* Scalar arithmetic, waits and branches only control the loop; the rest is its work. */
static bool is_work(enum isa_kind kind)
{
    return kind != ISA_SCALAR && kind != ISA_WAIT && kind != ISA_BRANCH && kind != ISA_OTHER;
}

/* The work of a loop's own instructions. Of two loops, the one with more of the first figure in which they differ is
 * hotter. Loops for the edges of a problem do the same work as the loop for its bulk, with more instructions. */
struct heat {
    double matrix_clocks, flops, bytes, work; /* per iteration, times ten for each enclosing loop; or as executed */
    double instructions;                      /* of an iteration with its inner loops; fewer are hotter */
};

/* Assumes ten iterations for every loop. */
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

/* Returns how often a wave executes the loop's header. */
static double turns_of_wave(const struct isa_kernel *kernel, size_t loop)
{
    const size_t header = isa_find(kernel->instructions, kernel->instruction_count, kernel->loops[loop].header_address);
    return kernel->executed && header < kernel->instruction_count ? kernel->executed[header] : NAN;
}

/* Integer products count like FLOPs; address sums do not. */
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
        /* Called functions are in the inclusive sums of all enclosing loops; an innermost loop's contain nothing
         * else. */
        if (!of->is_innermost || isnan(turns))
            continue;
        heats[k].matrix_clocks += turns * (double)(of->inclusive.matrix_cycles - of->own.matrix_cycles);
        heats[k].flops += turns * (double)(of->inclusive.flops - of->own.flops);
    }
    return heats;
}

static bool is_hotter(const struct heat *a, const struct heat *b)
{
    /* The same products with more loads: a path that selects between loads. */
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
    /* An operation has several encodings: v_fma_f32_e64, and v_dual_fma_f32 in a VOPD. */
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
    /* On ties prefers the memory access, then the first: a pointer chase has one address computation per load, but is
     * dominated by the load. */
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
