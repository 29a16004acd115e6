/* SPDX-License-Identifier: MIT
 *
 * Waves of a workgroup take turns; workgroups are sampled, their neighbours first.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

#define DEFAULT_BUDGET UINT64_C(2000000)
#define NEIGHBOUR_BUDGET UINT64_C(400000)  /* of one neighbour: where it takes more, nothing is taken to be shared */
#define NEIGHBOURS_BUDGET UINT64_C(600000) /* of all: the nearest come first */
#define MOST_NEIGHBOURS 16u
#define MOST_STEP 16u
#define MOST_ROWS 8u /* for each die */
#define MOST_GROUPS (UINT64_C(1) << 40)
#define MATRIX_CLOCKS 16u /* of an instruction whose clocks are not known */

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
                                              .l2 = 210,
                                              .memory = 880,
                                              .scalar_load = 48,
                                              .l1_bytes = 64};

/* ---- what is not known ---- */

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

void note_not_executed(struct walker *walker, const struct op *op)
{
    struct walk_result *result = walker->result;
    for (size_t k = 0; k < result->not_executed_count; k++)
        if (strcmp(result->not_executed[k], op->in->mnemonic) == 0)
            return;
    ARENA_PUSH(walker->arena, result->not_executed, result->not_executed_count, op->in->mnemonic);
}

/* ---- one instruction ---- */

/* All that it may write: the first operand of those that have a result. */
static void forget_result(struct wave *wave, const struct op *op)
{
    static const uint32_t none[LANES];
    const struct operand *to = &op->operands[0];
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
    const struct operand *to = &op->operands[0];
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

static void skip(struct wave *wave, const struct op *op)
{
    vector_forget(wave, &op->operands[0]);
    if (op->sources_first > 1)
        mask_set(wave, &op->operands[1], 0, 0);
    if (op->second)
        vector_forget(wave, &op->second->operands[0]);
}

static void perform(struct wave *wave, const struct op *op)
{
    if (op->unneeded && !op->access)
        skip(wave, op);
    else if (op->execute && op->second)
        execute_pair(wave, op);
    else if (op->execute)
        op->execute(wave, op);
    else {
        forget_result(wave, op);
        if (!op->unknown_data)
            note_not_executed(wave->group->walker, op);
    }
}

/* ---- clocks ---- */

static void await_sources(struct wave *wave, const struct op *op)
{
    for (unsigned k = 0; k < op->operand_count; k++)
        for (unsigned part = 0; op->operands[k].kind == OPERAND_VECTOR && part < op->operands[k].count; part++) {
            const unsigned at = op->operands[k].first + part;
            if (at >= wave->code->vectors || wave->ready[at] <= wave->time)
                continue;
            wave->sums.wait_result_clocks += wave->ready[at] - wave->time;
            wave->time = wave->ready[at];
        }
}

static void promise_result(struct wave *wave, const struct op *op, double when)
{
    const struct operand *to = &op->operands[0];
    for (unsigned part = 0; op->operand_count && to->kind == OPERAND_VECTOR && part < to->count; part++)
        if (to->first + part < wave->code->vectors)
            wave->ready[to->first + part] = when;
}

static double vector_clocks(const struct walk_clocks *clocks, const struct op *op)
{
    if (op->class == WALK_TRANSCENDENTAL)
        return clocks->transcendental;
    if (op->is_f64 && clocks->f64 > clocks->vector)
        return clocks->f64;
    return op->meaning && (op->meaning->flags & IS_SLOW) ? clocks->multiply : clocks->vector;
}

static double matrix_issue(struct wave *wave, const struct op *op)
{
    const double busy = op->clocks ? op->clocks : MATRIX_CLOCKS;
    wave->time = wave->time < wave->matrix_free ? wave->matrix_free : wave->time;
    wave->matrix_free = wave->time + busy;
    wave->sums.matrix_clocks += busy;
    promise_result(wave, op, wave->matrix_free);
    return wave->group->walker->options->clocks.vector;
}

static void await_memory(struct wave *wave, const struct op *op)
{
    for (unsigned queue = 0; queue < QUEUES; queue++)
        if (op->wait[queue] != NO_WAIT)
            queue_wait(wave, queue, op->wait[queue]);
}

/* Clocks until the next instruction can issue. */
static double issue(struct wave *wave, const struct op *op)
{
    const struct walk_clocks *clocks = &wave->group->walker->options->clocks;
    double takes = clocks->scalar;
    switch (op->class) {
    case WALK_VECTOR:
    case WALK_TRANSCENDENTAL:
        takes = vector_clocks(clocks, op);
        wave->sums.vector_clocks += takes;
        wave->sums.index_clocks += op->is_index ? takes : 0;
        wave->sums.lanes += __builtin_popcountll(wave->exec);
        if (wave->group->walker->tracks_results)
            promise_result(wave, op, wave->time + takes + clocks->vector_latency - clocks->vector);
        return takes;
    case WALK_MATRIX:
        return matrix_issue(wave, op);
    case WALK_BRANCH: /* its clocks depend on where it goes */
        wave->sums.scalar_clocks += clocks->scalar;
        return 0;
    case WALK_OTHER:
        takes = op->clocks ? op->clocks : clocks->scalar;
        wave->sums.scalar_clocks += clocks->scalar;
        return takes;
    case WALK_LOAD:
    case WALK_STORE:
    case WALK_ATOMIC:
    case WALK_LDS:
        return clocks->vector;
    default:
        wave->sums.scalar_clocks += clocks->scalar;
        return takes;
    }
}

/* Until it has touched memory, waits at a barrier, or has ended: then another wave may be earlier. */
static bool is_access(const struct op *op)
{
    return op->class == WALK_LOAD || op->class == WALK_STORE;
}

void wave_run(struct wave *wave)
{
    struct walker *walker = wave->group->walker;
    const struct walk_code *code = wave->code;
    for (bool first = true; wave->state == WAVE_RUNS; first = false) {
        /* Accesses of a workgroup come in the order of their times. */
        if (!first && wave->at < code->count && is_access(&code->ops[wave->at]))
            return;
        if (wave->at >= code->count || !walker->left) {
            walker->over_budget |= !walker->left;
            wave->state = WAVE_ENDED;
            return;
        }
        const struct op *op = &code->ops[wave->at++];
        walker->left--;
        wave->instructions++;
        wave->sums.instructions++;
        wave->sums.count[op->class]++;
        if (wave->executed)
            wave->executed[wave->at - 1]++;
        if (op->class == WALK_WAIT)
            await_memory(wave, op);
        if (walker->tracks_results && op->class != WALK_SCALAR)
            await_sources(wave, op);
        const double takes = issue(wave, op);
        perform(wave, op);
        wave->time += takes;
    }
}

/* ---- sampling ---- */

static void add_scaled(void *to, const void *from, double factor, size_t bytes)
{
    double *sum = to;
    const double *more = from;
    for (size_t k = 0; k < bytes / sizeof(*sum); k++)
        sum[k] += factor * more[k];
}

static void add_doubles(void *to, const void *from, size_t bytes)
{
    add_scaled(to, from, 1, bytes);
}

void walk_mix(struct walk_result *result, const struct walk_result *const *walks, const double *weights, size_t count,
              size_t buffer_count, struct arena *arena)
{
    size_t nearest = 0;
    for (size_t k = 1; k < count; k++)
        nearest = weights[k] > weights[nearest] ? k : nearest;
    if (count)
        *result = *walks[nearest];
    result->clocks = 0;
    result->sums = (struct walk_sums){0};
    result->traffic = arena_array(arena, buffer_count + 1, sizeof(*result->traffic));
    for (size_t k = 0; k < count; k++) {
        result->clocks += weights[k] * walks[k]->clocks;
        add_scaled(&result->sums, &walks[k]->sums, weights[k], sizeof(result->sums));
        add_scaled(result->traffic, walks[k]->traffic, weights[k], (buffer_count + 1) * sizeof(*result->traffic));
    }
}

static void add_group(struct walk_result *result, const struct group *group)
{
    const size_t rows = group->walker->launch->buffer_count + 1;
    for (uint32_t k = 0; k < group->wave_count; k++) {
        const struct wave *wave = &group->waves[k];
        add_doubles(&result->sums, &wave->sums, sizeof(result->sums));
        add_doubles(result->traffic, wave->traffic, rows * sizeof(*result->traffic));
        if (wave->executed)
            add_doubles(result->executed, wave->executed, wave->code->count * sizeof(*wave->executed));
        result->clocks = result->clocks < wave->time ? wave->time : result->clocks;
    }
    result->sums.waves += group->wave_count;
    result->sums.workgroups++;
}

static uint64_t group_count(const struct walk_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

/* Workgroups of the same die whose lines the sample may find in L2: those just before it, and those above it in the
 * grid; of a small grid all. */
static unsigned find_neighbours(uint64_t neighbours[MOST_NEIGHBOURS], const struct walker *walker, uint64_t sample)
{
    const struct walk_launch *launch = walker->launch;
    const uint64_t dies = walker->options->dies ? walker->options->dies : 1, groups = group_count(launch);
    unsigned count = 0;
    if (groups / dies <= MOST_NEIGHBOURS) {
        for (uint64_t k = sample % dies; k < groups && count < MOST_NEIGHBOURS; k += dies)
            if (k != sample)
                neighbours[count++] = k;
        return count;
    }
    uint64_t step = 1, row = 1;
    for (unsigned turn = 0; count < MOST_NEIGHBOURS && turn < 2 * MOST_ROWS * dies; turn++) {
        if (turn % 2 == 0) {
            if (step <= MOST_STEP && step * dies <= sample)
                neighbours[count++] = sample - step * dies;
            step *= step <= MOST_STEP ? 4 : 1;
            continue;
        }
        for (; row <= MOST_ROWS * dies && (launch->grid[1] <= 1 || row * launch->grid[0] % dies); row++)
            ;
        if (row <= MOST_ROWS * dies && row * launch->grid[0] <= sample)
            neighbours[count++] = sample - row * launch->grid[0];
        row++;
    }
    return count;
}

static bool all_shared(const struct walker *walker, const struct group *sample)
{
    for (uint32_t k = 0; k < sample->distinct.count; k++)
        if (!lines_has(&walker->shared, sample->distinct.items[k].line))
            return false;
    return !sample->atomics.count;
}

static bool any_shared(const struct walker *walker, const struct group *sample)
{
    for (uint32_t k = 0; k < sample->distinct.count; k++)
        if (lines_has(&walker->shared, sample->distinct.items[k].line))
            return true;
    return sample->atomics.count;
}

/* Until each line of the sample has been found. */
static void walk_neighbours(struct walker *walker, const struct group *sample)
{
    uint64_t neighbours[MOST_NEIGHBOURS], spent = 0;
    const unsigned count = find_neighbours(neighbours, walker, sample->number);
    for (unsigned k = 0; k < count && spent <= NEIGHBOURS_BUDGET && !all_shared(walker, sample); k++) {
        struct group group;
        walker->left = NEIGHBOUR_BUDGET;
        group_start(&group, walker, neighbours[k]);
        group_run(&group);
        for (uint32_t line = 0; line < group.distinct.count && !walker->over_budget; line++)
            (void)lines_touch(&walker->shared, group.distinct.items[line].line);
        for (uint32_t place = 0; place < group.atomics.count; place++)
            (void)lines_touch(&walker->atomics, group.atomics.items[place].line);
        group_end(&group);
        memory_forget_written(&walker->memory);
        spent += NEIGHBOUR_BUDGET - walker->left;
        walker->has_shared = !walker->over_budget;
        if (walker->over_budget)
            break;
    }
    walker->over_budget = false;
}

static enum status check_launch(const struct walk_launch *launch, struct err *err)
{
    const uint64_t items = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    if (!items || launch->block[0] > 1024 || launch->block[1] > 1024 || launch->block[2] > 1024 || items > 1024)
        return err_set(err, ERR_CONFIG, "a workgroup of %llu work-items cannot be walked (1 to 1024)",
                       (unsigned long long)items);
    if (!launch->grid[0] || !launch->grid[1] || !launch->grid[2] || group_count(launch) > MOST_GROUPS)
        return err_set(err, ERR_CONFIG, "a grid of %u x %u x %u workgroups cannot be walked", launch->grid[0],
                       launch->grid[1], launch->grid[2]);
    return STATUS_OK;
}

static void start_result(struct walk_result *result, const struct walk_launch *launch, bool counts_each,
                         struct arena *arena)
{
    *result = (struct walk_result){0};
    result->traffic = arena_array(arena, launch->buffer_count + 1, sizeof(*result->traffic));
    result->stored = arena_array(arena, launch->buffer_count + 1, sizeof(*result->stored));
    result->executed = counts_each ? arena_array(arena, launch->code->count + 1, sizeof(*result->executed)) : NULL;
}

static void walk_group(struct walker *walker, uint64_t number)
{
    struct group group;
    group_start(&group, walker, number);
    group_run(&group);
    add_group(walker->result, &group);
    group_end(&group);
}

/* Alone, which says which lines may be a neighbour's; and with them, where some are. */
static void walk_sample(struct walker *walker, uint64_t number, struct arena *arena)
{
    struct walk_result *result = walker->result, scratch;
    const uint64_t budget = walker->left;
    struct group group;
    group_start(&group, walker, number);
    group_run(&group);
    add_group(result, &group);
    if (!walker->options->counts_each && !walker->over_budget && budget - walker->left <= NEIGHBOUR_BUDGET) {
        start_result(&scratch, walker->launch, false, arena);
        walker->result = &scratch;
        walker->visit = NULL;
        memory_forget_written(&walker->memory);
        walk_neighbours(walker, &group);
        walker->result = result;
        if (any_shared(walker, &group)) {
            start_result(result, walker->launch, false, arena);
            walker->left = budget;
            walk_group(walker, number);
        }
    }
    group_end(&group);
}

static void start_walker(struct walker *walker)
{
    const struct walk_options *options = walker->options;
    walker->left = options->budget ? options->budget : DEFAULT_BUDGET;
    walker->lds_bytes = (size_t)walker->code->isa->code.group_segment_bytes + walker->launch->lds_bytes;
    walker->lds_bytes = walker->lds_bytes > (1u << 20) ? 1u << 20 : walker->lds_bytes;
    walker->tracks_results = options->clocks.vector_latency > options->clocks.vector;
    for (size_t k = 0; k < walker->code->count; k++)
        walker->tracks_results |= walker->code->ops[k].class == WALK_MATRIX;
    for (uint32_t bytes = options->line_bytes ? options->line_bytes : 128; bytes > 1; bytes /= 2)
        walker->line_shift++;
    memory_init(&walker->memory, walker->launch, walker->arena);
    lines_init(&walker->shared, 0);
    lines_init(&walker->atomics, 0);
}

enum status walk_each_wave(const struct walk_launch *launch, const struct walk_options *options, walk_wave_fn *visit,
                           void *context, struct walk_result *result, struct arena *arena, struct err *err)
{
    struct walker walker = {.launch = launch, .code = launch->code, .options = options, .arena = arena};
    if (check_launch(launch, err))
        return err->status;
    const uint64_t groups = group_count(launch);
    start_result(result, launch, options->counts_each, arena);
    walker.result = result;
    start_walker(&walker);
    walker.visit = visit;
    walker.context = context;
    if (options->every_group)
        for (uint64_t k = 0; k < groups && !walker.over_budget; k++)
            walk_group(&walker, k);
    else
        walk_sample(&walker, groups / 2, arena);
    for (size_t k = 0; k < launch->code->count && result->executed; k++)
        result->executed[k] /= result->sums.waves;
    result->over_budget = walker.over_budget;
    result->lds_beyond = walker.lds_beyond;
    lines_release(&walker.shared);
    lines_release(&walker.atomics);
    memory_release(&walker.memory);
    return STATUS_OK;
}

enum status walk_run(struct walk_result *result, const struct walk_launch *launch, const struct walk_options *options,
                     struct arena *arena, struct err *err)
{
    return walk_each_wave(launch, options, NULL, NULL, result, arena, err);
}
