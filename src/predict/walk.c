/* SPDX-License-Identifier: MIT
 *
 * Executes one wave, instruction by instruction, until another wave may be due first.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

#define MATRIX_CLOCKS 16u /* default for matrix instructions of unknown duration */

/* CDNA and GCN: 16 lanes a clock, so a wave of 64 takes four, and its result is ready when it can issue again (CDNA 3
 * ISA, "Vector ALU"; transcendentals and 32-bit products at a quarter of the rate). Branches and barriers are fitted to
 * published times of an MI300A. */
const struct walk_clocks walk_clocks_usual = {.vector = 4,
                                              .transcendental = 16,
                                              .multiply = 16,
                                              .vector_latency = 4,
                                              .scalar = 4,
                                              .branch = 8,
                                              .branch_taken = 16,
                                              .barrier = 20,
                                              .lds = 64,
                                              .lds_bytes = 128,
                                              .l1 = 120,
                                              .l2 = 220,
                                              .memory = 800,
                                              .scalar_load = 48,
                                              .l1_bytes = 64};

/* ---- unknown values ---- */

/* xorshift64 (Marsaglia 2003). */
bool coin_toss(struct wave *wave)
{
    const double coin = wave->group->walker->options->coin > 0 ? wave->group->walker->options->coin : 0.5;
    wave->random ^= wave->random << 13;
    wave->random ^= wave->random >> 7;
    wave->random ^= wave->random << 17;
    return (double)(wave->random >> 11) * 0x1p-53 < coin;
}

void note_undecided(struct wave *wave, const struct op *op)
{
    struct walker *walker = wave->group->walker;
    struct walk_result *result = walker->result;
    if (wave->recording)
        loop_compared(wave, op, NULL, 0, true);
    for (size_t k = 0; k < result->unknown_count; k++) {
        if (result->unknowns[k].address != op->in->address)
            continue;
        result->unknowns[k].times++;
        return;
    }
    ARENA_PUSH(walker->arena, result->unknowns, result->unknown_count,
               (struct walk_unknown){.address = op->in->address, .mnemonic = op->in->mnemonic, .times = 1});
}

/* Lanes that skip a few arithmetic instructions change neither path nor time. Such a guess is not reported unless
 * something depends on it, and what was written under it is unknown. */
void guess_matters(struct wave *wave)
{
    if (!wave->guessed)
        return;
    note_undecided(wave, wave->guessed);
    wave->guessed = NULL;
    wave->uncertain = 0;
}

void note_not_executed(struct walker *walker, const struct op *op)
{
    struct walk_result *result = walker->result;
    for (size_t k = 0; k < result->not_executed_count; k++)
        if (strcmp(result->not_executed[k], op->in->mnemonic) == 0)
            return;
    ARENA_PUSH(walker->arena, result->not_executed, result->not_executed_count, op->in->mnemonic);
}

/* ---- one instruction ---- */

/* Marks the result as unknown: the first operand of instructions that have a result. */
static void forget_result(struct wave *wave, const struct op *op)
{
    static const uint32_t none[LANES];
    const struct isa_operand *to = &op->operands[0];
    if (!op->operand_count || op->class == WALK_STORE)
        return;
    for (unsigned k = 0; k < to->count; k++) {
        vector_set(wave, to, k, none, 0);
        if (to->kind == OPERAND_SCALAR && to->first + k < SCALAR_EXEC)
            scalar_set(wave, to, k, 0, 0);
    }
    if (op->class == WALK_SCALAR)
        wave->scc_known = wave->scc_compared = false;
}

/* Both halves of a VOPD read their sources before either writes. */
static void execute_pair(struct wave *wave, const struct op *op)
{
    const struct isa_operand *to = &op->operands[0];
    const unsigned at = to->kind == OPERAND_VECTOR && to->first < wave->code->vectors ? to->first : 0;
    uint32_t before[LANES], after[LANES];
    const uint64_t known_before = wave->v_known[at];
    memcpy(before, wave->v[at], sizeof(before));
    op->execute(wave, op);
    const uint64_t known_after = wave->v_known[at];
    memcpy(after, wave->v[at], sizeof(after));
    memcpy(wave->v[at], before, sizeof(before));
    wave->v_known[at] = known_before;
    if (op->second->execute)
        op->second->execute(wave, op->second);
    else
        forget_result(wave, op->second);
    memcpy(wave->v[at], after, sizeof(after));
    wave->v_known[at] = known_after;
}

static void perform(struct wave *wave, const struct op *op)
{
    if (op->unneeded && !op->access) {
        vector_forget(wave, &op->operands[0]);
        for (unsigned k = 0; k < op->sources_first; k++)
            if (op->operands[k].kind == OPERAND_SCALAR) /* a mask result */
                mask_set(wave, &op->operands[k], 0, 0);
        if (op->second)
            vector_forget(wave, &op->second->operands[0]);
    } else if (op->execute && op->second) {
        execute_pair(wave, op);
    } else if (op->execute) {
        op->execute(wave, op);
    } else {
        forget_result(wave, op);
        if (!op->unknown_data)
            note_not_executed(wave->group->walker, op);
    }
}

/* ---- clocks ---- */

/* Returns the time when all vector operands from `first` on are available. */
static double operands_ready(const struct wave *wave, const struct op *op, unsigned first)
{
    double ready = 0;
    for (unsigned k = first; k < op->operand_count; k++)
        for (unsigned part = 0; op->operands[k].kind == OPERAND_VECTOR && part < op->operands[k].count; part++)
            if (op->operands[k].first + part < wave->code->vectors) {
                const double when = wave->ready[op->operands[k].first + part];
                ready = ready < when ? when : ready; /* a comparison, because fmax is a function call */
            }
    return ready;
}

static void promise_result(struct wave *wave, const struct op *op, double when)
{
    const struct isa_operand *to = &op->operands[0];
    for (unsigned part = 0; op->operand_count && to->kind == OPERAND_VECTOR && part < to->count; part++)
        if (to->first + part < wave->code->vectors)
            wave->ready[to->first + part] = when;
}

/* Out-of-order cores: a result is available one latency after its operands, wherever its instruction is, provided
 * that the arithmetic instruction one window earlier has completed. Moves, such as spills and copies, take no time
 * and no room in the window. */
static void complete(struct wave *wave, const struct op *op)
{
    const struct walk_options *options = wave->group->walker->options;
    const bool again = op->meaning && op->meaning->flags & ADDS_TO_RESULT;
    double ready = operands_ready(wave, op, again ? 0 : op->sources_first);
    if (op->in->flops > 0 || op->in->ops > 0 || op->class == WALK_TRANSCENDENTAL) {
        double *before = &wave->completed[wave->computed++ % options->window];
        ready = fmax(ready, *before) + options->clocks.vector_latency;
        *before = wave->time = fmax(wave->time, ready);
    }
    if (op->sources_first)
        promise_result(wave, op, ready);
}

static double vector_clocks(const struct walk_clocks *clocks, const struct op *op)
{
    if (op->class == WALK_TRANSCENDENTAL)
        return clocks->transcendental;
    if (op->is_f64 && clocks->f64 > clocks->vector)
        return clocks->f64;
    return op->meaning && (op->meaning->flags & IS_SLOW) ? clocks->multiply : clocks->vector;
}

static void count_scalar(struct wave *wave, const struct op *op, double clocks)
{
    wave->sums.scalar_clocks += clocks;
    wave->sums.control_clocks += op->serves_access ? clocks : 0;
}

/* Returns the clocks until the next instruction can issue. */
static double issue(struct wave *wave, const struct op *op)
{
    const struct walk_clocks *clocks = &wave->group->walker->options->clocks;
    const double lanes = __builtin_popcountll(wave->exec), busy = op->clocks ? op->clocks : MATRIX_CLOCKS;
    double takes = clocks->scalar;
    switch (op->class) {
    case WALK_VECTOR:
    case WALK_TRANSCENDENTAL:
        takes = vector_clocks(clocks, op);
        wave->sums.vector_clocks += takes;
        wave->sums.index_clocks += op->is_index ? takes : 0;
        wave->sums.lanes += lanes;
        wave->sums.flops += lanes * op->in->flops;
        wave->sums.operations += lanes * isa_operations(op->in);
        if (wave->group->walker->tracks_results)
            promise_result(wave, op, wave->time + takes + clocks->vector_latency - clocks->vector);
        return takes;
    case WALK_MATRIX:
        wave->time = fmax(wave->time, wave->matrix_free);
        wave->matrix_free = wave->time + busy;
        wave->sums.matrix_clocks += busy;
        wave->sums.flops += op->in->matrix_ops;
        wave->sums.operations += op->in->matrix_ops;
        promise_result(wave, op, wave->matrix_free);
        return clocks->vector;
    case WALK_BRANCH: /* depends on the path taken */
        count_scalar(wave, op, clocks->scalar);
        return 0;
    case WALK_OTHER:
        takes = op->clocks ? op->clocks : clocks->scalar;
        count_scalar(wave, op, clocks->scalar);
        return takes;
    case WALK_LOAD:
    case WALK_STORE:
    case WALK_ATOMIC:
    case WALK_LDS:
        return clocks->vector;
    default:
        count_scalar(wave, op, clocks->scalar);
        return takes;
    }
}

/* Runs until the wave has accessed memory, waits at a barrier, or has ended: then another wave may be due first. */
void wave_run(struct wave *wave)
{
    struct walker *walker = wave->group->walker;
    const struct walk_code *code = wave->code;
    for (bool first = true; wave->state == WAVE_RUNS; first = false) {
        /* The accesses of a workgroup are executed in the order of their times. */
        if (!first && wave->at < code->count &&
            (code->ops[wave->at].class == WALK_LOAD || code->ops[wave->at].class == WALK_STORE))
            return;
        if (wave->at >= code->count) {
            wave->state = WAVE_ENDED;
            return;
        }
        if (!walker->left) { /* a caller that needs more adds to the budget and resumes */
            walker->over_budget = true;
            return;
        }
        const struct op *op = &code->ops[wave->at++];
        walker->left--;
        wave->instructions++;
        wave->sums.instructions++;
        wave->sums.count[op->class]++;
        if (wave->executed)
            wave->executed[wave->at - 1]++;
        if (walker->only_lines) {
            perform(wave, op);
            wave->time++;
            continue;
        }
        const double began = wave->time;
        for (unsigned queue = 0; queue < COUNTERS && op->class == WALK_WAIT; queue++)
            if (op->in->wait[queue] != NO_WAIT)
                queue_wait(wave, queue, op->in->wait[queue]);
        if (walker->options->window)
            complete(wave, op);
        if (walker->tracks_results && op->class != WALK_SCALAR) {
            const double ready = operands_ready(wave, op, 0);
            wave->sums.wait_result_clocks += fmax(0, ready - wave->time);
            wave->time = fmax(wave->time, ready);
        }
        const double issued = issue(wave, op), takes = walker->options->window ? 0 : issued;
        perform(wave, op);
        wave->time += takes;
        if (op->takes_lanes) {
            wave->sums.lane_clocks += wave->time - began;
            *(op->class == WALK_VECTOR ? &wave->sums.lane_vector_clocks : &wave->sums.lane_scalar_clocks) += takes;
        }
    }
}
