/* SPDX-License-Identifier: MIT
 *
 * Skips passes of long loops: the effect of 32 passes repeats until a compare flips.
 *
 *     pass 33      counters are recorded: passes 33 to 65 add one round of 32 passes. A line of 128 bytes lasts for
 *                  32 passes over elements of 4; a window of another size counts lines twice or not at all.
 *     62, 63, 64   registers are recorded: those that step by a constant or alternate can be extrapolated
 *     63 to 65     compares are recorded: each lane's distance moves by a constant, so the pass of its flip is known
 *     65           if both passes took the same path, whole rounds are added up to shortly before the first flip
 *
 * A round is as short as its accesses allow: at least 4 passes, or 2 without accesses. In passes 2 to 4 each access
 * must move all its lanes by the same step. A round ends when all accesses are at the same offset in a line again,
 * provided that no later pass, up to 32, touches one of its lines. A tile of a matrix product advances by whole
 * lines.
 *
 * Each pass of an outer loop evaluates its inner loops again, as the first access to data differs from the second.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

enum { ROUND = 32, LEAST_ROUND = 4, ROUND_OF_ARITHMETIC = 2, SNAPSHOTS = 3, WATCHED = 3 };
#define NEVER (INT64_C(1) << 40)
#define MOST_PASSES (INT64_C(1) << 30) /* added in one step */
#define MOST_COMPARED 4096u            /* per pass; larger loops are walked */
#define MOST_ACCESSED 1024u
#define MOST_PASSED INT64_C(600000) /* lanes of accesses in skipped passes */

struct compared {
    const struct op *op;
    uint64_t lanes;
    bool is_float;
    int64_t distance[LANES];
};

struct accessed {
    const struct op *op;
    uint64_t lanes, address[LANES];
};

struct snapshot {
    uint32_t s[SCALARS], s_known[SCALARS];
    uint32_t (*v)[LANES];
    uint64_t *v_known;
};

struct loop {
    size_t branch, target;
    unsigned round;
    unsigned passes;
    bool is_done; /* already evaluated in this pass of the outer loop */
    bool refused;
    double time;
    struct walk_sums sums;
    struct walk_traffic *traffic;
    double *executed;
    uint64_t instructions[SNAPSHOTS]; /* at passes 63, 64, 65 */
    struct snapshot snapshots[SNAPSHOTS];
    struct compared *compared[2];
    size_t compared_count[2];
    struct accessed *accessed[WATCHED]; /* in passes 2 to 4 */
    size_t accessed_count[WATCHED];
    bool is_watched;
    bool scattered; /* an access is not regular enough for a short round */
};

/* ---- memory ---- */

static unsigned round_of(const struct walk_code *code, size_t branch, size_t target)
{
    for (size_t k = target; k < branch; k++)
        switch (code->ops[k].class) {
        case WALK_LOAD:
        case WALK_STORE:
        case WALK_ATOMIC:
        case WALK_LDS:
        case WALK_SCALAR_LOAD:
        case WALK_BARRIER:
            return ROUND;
        default:
            break;
        }
    return ROUND_OF_ARITHMETIC;
}

static void clear(struct wave *wave, struct loop *loop)
{
    if (wave->recording == loop)
        wave->recording = NULL;
    wave->watching -= loop->is_watched;
    for (unsigned k = 0; k < SNAPSHOTS; k++) {
        free(loop->snapshots[k].v);
        free(loop->snapshots[k].v_known);
    }
    free(loop->compared[0]);
    free(loop->compared[1]);
    for (unsigned k = 0; k < WATCHED; k++)
        free(loop->accessed[k]);
    free(loop->traffic);
    free(loop->executed);
    *loop = (struct loop){
        .branch = loop->branch, .target = loop->target, .round = round_of(wave->code, loop->branch, loop->target)};
}

void loops_release(struct wave *wave)
{
    for (size_t k = 0; k < wave->loop_count; k++) {
        clear(wave, wave->loops[k]);
        free(wave->loops[k]);
    }
    free(wave->loops);
    wave->loops = NULL;
    wave->loop_count = 0;
}

static unsigned last_pass(const struct loop *loop)
{
    return 2 * loop->round + 1;
}

static struct loop *loop_at(struct wave *wave, size_t branch, size_t target)
{
    for (size_t k = 0; k < wave->loop_count; k++)
        if (wave->loops[k]->branch == branch)
            return wave->loops[k];
    struct loop *loop = new_zeroed(1, sizeof(*loop));
    loop->branch = branch;
    loop->target = target;
    loop->round = round_of(wave->code, branch, target);
    ARRAY_PUSH(wave->loops, wave->loop_count, loop);
    return loop;
}

/* ---- recording ---- */

static size_t rows_of(const struct wave *wave)
{
    return wave->group->walker->launch->buffer_count + 1;
}

static void keep_registers(struct snapshot *snapshot, const struct wave *wave)
{
    const size_t vectors = wave->code->vectors;
    memcpy(snapshot->s, wave->s, sizeof(snapshot->s));
    memcpy(snapshot->s_known, wave->s_known, sizeof(snapshot->s_known));
    snapshot->v = new_zeroed(vectors, sizeof(*snapshot->v));
    snapshot->v_known = new_zeroed(vectors, sizeof(*snapshot->v_known));
    for (size_t k = 0; k < vectors; k++)
        if (wave->v_known[k])
            memcpy(snapshot->v[k], wave->v[k], sizeof(*snapshot->v));
    memcpy(snapshot->v_known, wave->v_known, vectors * sizeof(*snapshot->v_known));
}

void loop_compared(struct wave *wave, const struct op *op, const int64_t *distance, uint64_t lanes, bool is_float)
{
    struct loop *loop = wave->recording;
    const unsigned which = loop->passes > last_pass(loop) - 2;
    if (!distance || loop->compared_count[which] == MOST_COMPARED) {
        loop->refused = true;
        return;
    }
    loop->compared[which] = array_grow(loop->compared[which], loop->compared_count[which], sizeof(struct compared));
    struct compared *kept = &loop->compared[which][loop->compared_count[which]++];
    kept->op = op;
    kept->lanes = lanes;
    kept->is_float = is_float;
    for (uint64_t left = lanes; left; left &= left - 1)
        kept->distance[__builtin_ctzll(left)] = distance[__builtin_ctzll(left)];
}

/* ---- how long a round is ---- */

static void keep_access(struct loop *loop, const struct op *op, const uint64_t *address, uint64_t known, uint64_t lanes)
{
    const unsigned which = loop->passes - 1;
    if (loop->scattered)
        return;
    loop->scattered = lanes & ~known || loop->accessed_count[which] == MOST_ACCESSED || op->class == WALK_ATOMIC ||
                      (which && loop->accessed_count[which] == loop->accessed_count[0]);
    if (loop->scattered)
        return;
    loop->accessed[which] = array_grow(loop->accessed[which], loop->accessed_count[which], sizeof(struct accessed));
    struct accessed *kept = &loop->accessed[which][loop->accessed_count[which]++];
    kept->op = op;
    kept->lanes = lanes;
    memcpy(kept->address, address, LANES * sizeof(*address));
}

void loop_accessed(struct wave *wave, const struct op *op, const uint64_t *address, uint64_t known, uint64_t lanes)
{
    for (size_t k = 0; k < wave->loop_count; k++)
        if (wave->loops[k]->is_watched)
            keep_access(wave->loops[k], op, address, known, lanes);
}

static bool is_of_lines(const struct op *op)
{
    return op->class != WALK_LDS;
}

/* Returns the step of all lanes from one pass to the next. False if lanes differ, or if the step changes. In LDS it
 * may alternate, from one buffer to another and back. */
static bool step_of(uint64_t *step, const struct loop *loop, size_t k)
{
    for (unsigned which = 1; which < WATCHED; which++) {
        const struct accessed *before = &loop->accessed[which - 1][k], *now = &loop->accessed[which][k];
        const int first = now->lanes ? __builtin_ctzll(now->lanes) : 0;
        const uint64_t moved = now->address[first] - before->address[first];
        if (before->op != now->op || before->lanes != now->lanes ||
            (which > 1 && moved != *step && is_of_lines(now->op)))
            return false;
        for (uint64_t left = now->lanes; left; left &= left - 1)
            if (now->address[__builtin_ctzll(left)] - before->address[__builtin_ctzll(left)] != moved)
                return false;
        *step = which > 1 ? *step | moved : moved;
    }
    return true;
}

/* True if a line of a pass is touched again more than one round and at most 32 passes later. */
static bool comes_back(const struct wave *wave, const struct loop *loop, unsigned round)
{
    const uint32_t shift = wave->group->walker->line_shift;
    struct lines lines;
    bool back = false;
    lines_init(&lines, 0);
    for (size_t k = 0; k < loop->accessed_count[0]; k++) {
        const struct accessed *now = &loop->accessed[0][k];
        for (uint64_t left = is_of_lines(now->op) ? now->lanes : 0; left; left &= left - 1)
            (void)lines_touch(&lines, now->address[__builtin_ctzll(left)] >> shift);
    }
    for (size_t k = 0; k < loop->accessed_count[0] && !back; k++) {
        const struct accessed *now = &loop->accessed[0][k];
        uint64_t step = 0;
        if (!is_of_lines(now->op) || !step_of(&step, loop, k) || !step)
            continue;
        for (unsigned pass = round + 1; pass <= ROUND && !back; pass++)
            for (uint64_t left = now->lanes, last = 0, line; left && !back; left &= left - 1, last = line) {
                line = (now->address[__builtin_ctzll(left)] + step * pass) >> shift;
                back = line != last && lines_has(&lines, line);
            }
    }
    lines_release(&lines);
    return back;
}

static unsigned round_watched(const struct wave *wave, const struct loop *loop)
{
    const uint64_t line = UINT64_C(1) << wave->group->walker->line_shift;
    unsigned round = LEAST_ROUND;
    if (loop->scattered || loop->accessed_count[0] != loop->accessed_count[1] ||
        loop->accessed_count[0] != loop->accessed_count[2])
        return ROUND;
    for (size_t k = 0; k < loop->accessed_count[0]; k++) {
        const uint64_t again = is_of_lines(loop->accessed[0][k].op) ? line : 4; /* LDS: the period of bank conflicts */
        uint64_t step = 0;
        if (!step_of(&step, loop, k))
            return ROUND;
        while (round < ROUND && step * round % again)
            round *= 2;
    }
    return round < ROUND && !comes_back(wave, loop, round) ? round : ROUND;
}

/* ---- how many passes are left ---- */

static int64_t passes_to_flip(int64_t before, int64_t now)
{
    const int64_t step = (int64_t)((uint64_t)now - (uint64_t)before);
    if (!step || (step > 0) == (now > 0))
        return NEVER;
    const uint64_t far = now < 0 ? 0 - (uint64_t)now : (uint64_t)now;
    return (int64_t)(far / (step < 0 ? 0 - (uint64_t)step : (uint64_t)step)) - 2;
}

/* Returns 0 if the number cannot be determined. */
static int64_t passes_left(const struct loop *loop)
{
    int64_t least = NEVER;
    bool moves = false;
    if (loop->refused || loop->compared_count[0] != loop->compared_count[1] ||
        loop->instructions[1] - loop->instructions[0] != loop->instructions[2] - loop->instructions[1])
        return 0;
    for (size_t k = 0; k < loop->compared_count[0]; k++) {
        const struct compared *before = &loop->compared[0][k], *now = &loop->compared[1][k];
        if (before->op != now->op || before->lanes != now->lanes)
            return 0;
        for (uint64_t left = now->lanes; left; left &= left - 1) {
            const int lane = __builtin_ctzll(left);
            if (before->distance[lane] == now->distance[lane])
                continue;
            if (now->is_float)
                return 0;
            moves = true;
            const int64_t flip = passes_to_flip(before->distance[lane], now->distance[lane]);
            least = flip < least ? flip : least;
        }
    }
    if (!moves || least >= NEVER || least < 2 * loop->round)
        return 0;
    return (least < MOST_PASSES ? least : MOST_PASSES) / loop->round * loop->round;
}

/* ---- skipping passes ---- */

/* Advances a register by this many passes; *carry receives the overflow of its upper end. False: unknown. */
static bool advance(uint32_t *value, const uint32_t before[SNAPSHOTS], int64_t passes, int64_t *carry)
{
    *carry = 0;
    if (before[1] - before[0] == before[2] - before[1]) {
        const int64_t total = (int64_t)*value + (int64_t)(int32_t)(before[2] - before[1]) * passes;
        *value = (uint32_t)total;
        *carry = total >> 32;
        return true;
    }
    return before[0] == before[2]; /* alternates, and the number of skipped passes is even */
}

enum { SMALL_HIGH_WORD = 1 << 16 }; /* of an address; other values have no carry */

static void advance_scalars(struct wave *wave, const struct loop *loop, int64_t passes)
{
    const struct snapshot *kept = loop->snapshots;
    for (unsigned k = 0; k < SCALAR_EXEC; k++) {
        const uint32_t before[SNAPSHOTS] = {kept[0].s[k], kept[1].s[k], kept[2].s[k]};
        const uint32_t known = kept[0].s_known[k] & kept[1].s_known[k] & kept[2].s_known[k];
        int64_t carry = 0;
        if (known != UINT32_MAX) { /* a partly known value survives only if it never changes */
            wave->s_known[k] &= known & ~(before[0] ^ before[1]) & ~(before[1] ^ before[2]) & ~(before[2] ^ wave->s[k]);
            wave->s[k] &= wave->s_known[k];
        } else if (!advance(&wave->s[k], before, passes, &carry)) {
            wave->s[k] = wave->s_known[k] = 0;
        } else if (carry && k + 1 < SCALAR_VCC && kept[0].s[k + 1] == kept[2].s[k + 1] &&
                   wave->s[k + 1] < SMALL_HIGH_WORD) {
            wave->s[k + 1] += (uint32_t)carry;
        }
    }
}

static void advance_vectors(struct wave *wave, const struct loop *loop, int64_t passes)
{
    const struct snapshot *kept = loop->snapshots;
    for (uint32_t k = 0; k < wave->code->vectors; k++) {
        const uint64_t known = kept[0].v_known[k] & kept[1].v_known[k] & kept[2].v_known[k];
        wave->v_known[k] &= known | ~wave->exec;
        for (uint64_t left = wave->v_known[k] & wave->exec; left; left &= left - 1) {
            const int lane = __builtin_ctzll(left);
            const uint32_t before[SNAPSHOTS] = {kept[0].v[k][lane], kept[1].v[k][lane], kept[2].v[k][lane]};
            int64_t carry = 0;
            if (!advance(&wave->v[k][lane], before, passes, &carry))
                wave->v_known[k] &= ~(UINT64_C(1) << lane);
            else if (carry && k + 1 < wave->code->vectors && (wave->v_known[k + 1] >> lane & 1) &&
                     kept[0].v[k + 1][lane] == kept[2].v[k + 1][lane] && wave->v[k + 1][lane] < SMALL_HIGH_WORD)
                wave->v[k + 1][lane] += (uint32_t)carry;
        }
    }
}

/* Adds `times` the growth from `then` to `now`; both consist of doubles only. */
static void add_rounds(void *now, const void *then, size_t bytes, double times)
{
    double *to = now;
    const double *from = then;
    for (size_t k = 0; k < bytes / sizeof(*to); k++)
        to[k] += (to[k] - from[k]) * times;
}

static void touch_lines(struct wave *wave, const struct accessed *first, uint64_t moved)
{
    struct group *group = wave->group;
    struct lines *set = first->op->class == WALK_LOAD ? &group->distinct : &group->stored;
    uint64_t last = UINT64_MAX;
    for (uint64_t left = first->lanes; left; left &= left - 1) {
        const uint64_t line = (first->address[__builtin_ctzll(left)] + moved) >> group->walker->line_shift;
        if (line == last)
            continue;
        if (!group->walker->only_lines)
            (void)lines_touch(&group->l2, line);
        (void)lines_touch(set, line);
        last = line;
    }
}

/* Skipped passes still leave their lines in L2, for later accesses and for neighbours. */
static void touch_passed(struct wave *wave, const struct loop *loop, int64_t passes)
{
    const int64_t most = MOST_PASSED / (int64_t)(loop->accessed_count[0] * LANES + 1);
    const uint64_t line = UINT64_C(1) << wave->group->walker->line_shift;
    uint64_t steps[MOST_ACCESSED];
    if (loop->scattered || loop->accessed_count[0] != loop->accessed_count[WATCHED - 1])
        return;
    for (size_t k = 0; k < loop->accessed_count[0]; k++)
        if (!is_of_lines(loop->accessed[0][k].op) || !step_of(&steps[k], loop, k))
            steps[k] = 0;
    for (int64_t pass = passes > most ? passes - most : 0; pass < passes; pass++)
        for (size_t k = 0; k < loop->accessed_count[0]; k++) {
            const struct accessed *first = &loop->accessed[0][k];
            const uint64_t step = steps[k];
            if (!step || (first->op->class != WALK_LOAD && first->op->class != WALK_STORE))
                continue;
            if (step > line || pass % (int64_t)(line / step) == 0) /* several passes share one line */
                touch_lines(wave, first, step * (uint64_t)(loop->passes - 1 + pass));
        }
}

static void jump(struct wave *wave, const struct loop *loop, int64_t passes)
{
    const double rounds = (double)(passes / loop->round), more = (wave->time - loop->time) * rounds;
    struct group *group = wave->group;
    for (size_t k = 0; k + 1 < rows_of(wave); k++)
        if (wave->traffic[k].stores > loop->traffic[k].stores)
            memory_forget_buffer(&group->walker->memory, k);
    if (group->lds_dwords && wave->sums.lds_clocks > loop->sums.lds_clocks)
        memset(group->lds_known, 0, (group->lds_dwords / 64 + 1) * sizeof(*group->lds_known));
    touch_passed(wave, loop, passes);
    advance_scalars(wave, loop, passes);
    advance_vectors(wave, loop, passes);
    wave->instructions += (loop->instructions[2] - loop->instructions[1]) * (uint64_t)passes;
    add_rounds(&wave->sums, &loop->sums, sizeof(wave->sums), rounds);
    add_rounds(wave->traffic, loop->traffic, rows_of(wave) * sizeof(*wave->traffic), rounds);
    if (wave->executed)
        add_rounds(wave->executed, loop->executed, wave->code->count * sizeof(*wave->executed), rounds);
    wave->time += more;
    wave->matrix_free += more;
    for (unsigned queue = 0; queue < COUNTERS; queue++)
        for (unsigned k = 0; k < QUEUE_ROOM; k++)
            wave->queue[queue][k] += more;
    for (uint32_t k = 0; k < wave->code->vectors; k++)
        wave->ready[k] += more;
    for (uint32_t k = 0; k < wave->group->walker->options->window; k++)
        wave->completed[k] += more;
}

/* ---- passes ---- */

void loop_turned(struct wave *wave, size_t branch, size_t target)
{
    if (wave->group->walker->options->no_jumps || wave->group->walker->options->every_group)
        return;
    for (size_t k = 0; k < wave->loop_count; k++)
        if (wave->loops[k]->branch >= target && wave->loops[k]->branch < branch)
            clear(wave, wave->loops[k]);
    struct loop *loop = loop_at(wave, branch, target);
    if (loop->is_done)
        return;
    loop->passes++;
    if (loop->round == ROUND) {
        const bool is_watched = loop->passes <= WATCHED;
        wave->watching += is_watched - loop->is_watched;
        loop->is_watched = is_watched;
        if (loop->passes == 1 + WATCHED)
            loop->round = round_watched(wave, loop);
    }
    const unsigned last = last_pass(loop);
    if (loop->passes == loop->round + 1) {
        const size_t bytes = rows_of(wave) * sizeof(*loop->traffic), executed = wave->code->count * sizeof(double);
        loop->time = wave->time;
        loop->sums = wave->sums;
        loop->traffic = memcpy(new_zeroed(rows_of(wave), sizeof(*loop->traffic)), wave->traffic, bytes);
        if (wave->executed)
            loop->executed = memcpy(new_zeroed(wave->code->count, sizeof(double)), wave->executed, executed);
    }
    if (loop->passes >= last - 3 && loop->passes < last)
        keep_registers(&loop->snapshots[loop->passes - (last - 3)], wave);
    if (loop->passes >= last - 2)
        loop->instructions[loop->passes - (last - 2)] = wave->instructions;
    if (loop->passes == last - 2 && !wave->recording)
        wave->recording = loop;
    if (loop->passes != last)
        return;
    const int64_t passes = wave->recording == loop ? passes_left(loop) : 0;
    wave->recording = wave->recording == loop ? NULL : wave->recording;
    if (passes)
        jump(wave, loop, passes);
    clear(wave, loop);
    loop->is_done = true;
}
