/* SPDX-License-Identifier: MIT
 *
 * Selects the workgroups to walk: a sample, preceded by its neighbours.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

#define DEFAULT_BUDGET UINT64_C(2000000)
#define NEIGHBOUR_BUDGET UINT64_C(400000)  /* per neighbour; if it takes more, nothing counts as shared */
#define NEIGHBOURS_BUDGET UINT64_C(600000) /* for all neighbours, nearest first */
#define PROBE_BUDGET UINT64_C(50000)       /* per workgroup checked for work; one that takes more has work */
#define PROBES 16u
#define MOST_NEIGHBOURS 16u
#define FIRST_LINES_BUDGET UINT64_C(4000) /* per workgroup checked for lines of the sample */
#define MOST_IDLE 10u                     /* the search stops after this many without shared lines in a row */
#define MOST_ROWS 8u                      /* per die */
#define MOST_GROUPS (UINT64_C(1) << 40)

static void add_doubles(void *to, const void *from, size_t bytes)
{
    double *sum = to;
    const double *more = from;
    for (size_t k = 0; k < bytes / sizeof(*sum); k++)
        sum[k] += more[k];
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

static void start_result(struct walk_result *result, const struct walk_launch *launch, bool counts_each,
                         struct arena *arena)
{
    *result = (struct walk_result){.working = 1};
    result->traffic = arena_array(arena, launch->buffer_count + 1, sizeof(*result->traffic));
    result->stored = arena_array(arena, launch->buffer_count + 1, sizeof(*result->stored));
    result->executed = counts_each ? arena_array(arena, launch->code->count + 1, sizeof(*result->executed)) : NULL;
}

static uint64_t group_count(const struct walk_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

/* With two items, takes the first, because data may end within the last. */
static uint64_t middle(uint64_t count)
{
    return count == 2 ? 0 : count / 2;
}

/* Finds workgroups on the same die whose lines the sample may find in L2: those just before it, and those above it
 * in the grid; in a small grid, all of them. */
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
    static const unsigned steps[] = {1, 4, 16};
    uint64_t row = 1;
    for (unsigned turn = 0; count < MOST_NEIGHBOURS && turn < 2 * MOST_ROWS * dies; turn++) {
        if (turn % 2 == 0) {
            if (turn / 2 < COUNT_OF(steps) && steps[turn / 2] * dies <= sample)
                neighbours[count++] = sample - steps[turn / 2] * dies;
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

static bool is_shared(const struct walker *walker, uint64_t line)
{
    return lines_has(&walker->shared, line) || lines_has(&walker->awaited, line);
}

/* Lines never leave the sets, so the search continues after the lines already found. */
static bool all_shared(struct walker *walker, const struct group *sample)
{
    while (walker->found < sample->distinct.count && is_shared(walker, sample->distinct.items[walker->found].line))
        walker->found++;
    return walker->found == sample->distinct.count && !sample->atomics.count;
}

/* Walks a workgroup other than the sample with this budget; its stores are discarded. */
static void other_start(struct group *group, struct walker *walker, uint64_t number, uint64_t budget)
{
    walker->left = budget;
    group_start(group, walker, number);
    group_run(group);
}

/* Returns false if it exceeded its budget. */
static bool other_end(struct group *group)
{
    struct walker *walker = group->walker;
    const bool ended = !walker->over_budget;
    group_end(group);
    memory_forget_written(&walker->memory);
    walker->over_budget = false;
    return ended;
}

/* Walks a neighbour's first instructions. If they read further lines of the sample, walks it to its end, and adds
 * its lines to those that neighbours read. A neighbour that uses up its budget is not finished. */
static bool walk_neighbour(struct walker *walker, struct lines *lines, const struct group *sample, uint64_t number,
                           uint64_t first, uint64_t *spent)
{
    struct group group;
    other_start(&group, walker, number, first);
    /* True if it reads lines of the sample that no earlier neighbour reads. */
    const bool shares = COUNT_WHERE(one, group.distinct.items, group.distinct.count,
                                    lines_has(&sample->distinct, one->line) && !is_shared(walker, one->line)) > 0;
    *spent += first - walker->left;
    if (shares && walker->over_budget && first < NEIGHBOUR_BUDGET) {
        walker->over_budget = false;
        walker->left = NEIGHBOUR_BUDGET - first;
        group_run(&group);
        *spent += NEIGHBOUR_BUDGET - first - walker->left;
    }
    for (uint32_t line = 0; line < group.distinct.count && shares && !walker->over_budget; line++)
        (void)lines_touch(lines, group.distinct.items[line].line);
    for (uint32_t place = 0; place < group.atomics.count && (shares || first == NEIGHBOUR_BUDGET); place++)
        (void)lines_touch(&walker->atomics, group.atomics.items[place].line);
    (void)other_end(&group);
    return shares;
}

/* Kernels that order their own tiles share lines with workgroups at other distances, and the sample may be the first
 * to read a line. So both sides are checked, up to the height of a band of tiles. */
static void ask_others(struct walker *walker, const struct group *sample)
{
    static const int others[] = {1, 8, -8, 2, 4, 6, 7, 5, 16, 3, 12, 24, 32, -2, -7, -6, -5, -3, -12, -24, -32};
    const int64_t dies = walker->options->dies ? walker->options->dies : 1;
    const int64_t groups = (int64_t)group_count(walker->launch), own = (int64_t)sample->number;
    uint64_t spent = 0;
    for (unsigned k = 0, idle = 0; k < COUNT_OF(others) && idle < MOST_IDLE && !all_shared(walker, sample); k++) {
        const int64_t number = own + others[k] * dies;
        uint64_t walked = 0;
        if (spent > NEIGHBOURS_BUDGET ||
            (k && !sample->atomics.count &&
             !COUNT_WHERE(one, sample->distinct.items, sample->distinct.count, is_shared(walker, one->line))))
            return; /* it shares with neither adjacent workgroup, so with none */
        if (number < 0 || number >= groups)
            continue;
        idle++;
        if (walk_neighbour(walker, &walker->awaited, sample, (uint64_t)number, FIRST_LINES_BUDGET, &walked)) {
            idle = 0;
            spent += walked;
        }
    }
}

/* Walks neighbours until every line of the sample is found. */
static void walk_neighbours(struct walker *walker, const struct group *sample)
{
    uint64_t neighbours[MOST_NEIGHBOURS], spent = 0;
    const unsigned count = find_neighbours(neighbours, walker, sample->number);
    for (unsigned k = 0; k < count && spent <= NEIGHBOURS_BUDGET && !all_shared(walker, sample); k++) {
        bool again = false;
        for (unsigned before = 0; before < k; before++)
            again |= neighbours[before] == neighbours[k];
        if (again)
            continue;
        (void)walk_neighbour(walker, &walker->shared, sample, neighbours[k], NEIGHBOUR_BUDGET, &spent);
        walker->has_shared = walker->left > 0;
        if (!walker->has_shared) /* it exceeded the budget: nothing counts as shared */
            return;
    }
    if (walker->has_shared)
        ask_others(walker, sample);
}

/* ---- idle workgroups ---- */

/* A grid-stride loop over fewer elements than the grid has leaves some workgroups idle. */
static bool touches_memory(struct walker *walker, uint64_t number, struct arena *arena)
{
    struct walk_result scratch, *const result = walker->result;
    walk_wave_fn *const visit = walker->visit;
    struct group group;
    start_result(&scratch, walker->launch, walker->options->counts_each, arena);
    walker->result = &scratch;
    walker->visit = NULL;
    other_start(&group, walker, number, PROBE_BUDGET);
    add_group(&scratch, &group);
    const bool ended = other_end(&group);
    walker->result = result;
    walker->visit = visit;
    return !ended || scratch.sums.accesses > 0;
}

/* Returns the share of workgroups that have work, by bisection along each axis: working ones come first. */
static double working_share(struct walker *walker, struct arena *arena)
{
    double share = 1;
    uint64_t step = 1;
    for (unsigned axis = 0; axis < 3; axis++) {
        uint64_t works = 0, idle = walker->launch->grid[axis];
        while (idle - works > 1) {
            const uint64_t middle = works + (idle - works) / 2;
            if (touches_memory(walker, middle * step, arena))
                works = middle;
            else
                idle = middle;
        }
        share *= (double)idle / walker->launch->grid[axis];
        step *= walker->launch->grid[axis];
    }
    return share;
}

static void walk_group(struct walker *walker, uint64_t number)
{
    struct group group;
    group_start(&group, walker, number);
    group_run(&group);
    add_group(walker->result, &group);
    group_end(&group);
}

/* The next workgroup runs concurrently on another core, and progresses as far as the sample. */
static void walk_contender(struct walker *walker, uint64_t sample)
{
    const uint64_t groups = group_count(walker->launch), budget = walker->left;
    struct group group;
    struct lines pairs;
    if (!walker->options->window || groups < 2)
        return;
    lines_init(&pairs, 0);
    other_start(&group, walker, sample + 1 < groups ? sample + 1 : sample - 1, budget);
    for (uint32_t k = 0; k < group.stored.count; k++)
        (void)lines_touch(&pairs, group.stored.items[k].line >> PAIR_SHIFT);
    (void)other_end(&group);
    lines_release(&walker->contended);
    walker->contended = pairs;
    walker->left = budget;
}

/* Finds the lines of the workgroup that its neighbours also read. */
static void find_shared(struct walker *walker, uint64_t number, struct arena *arena)
{
    struct walk_result scratch, *const result = walker->result;
    walk_wave_fn *const visit = walker->visit;
    const uint64_t budget = walker->left;
    struct group group;
    start_result(&scratch, walker->launch, false, arena);
    walker->result = &scratch;
    walker->visit = NULL;
    walker->only_lines = true;
    walker->found = 0;
    other_start(&group, walker, number, NEIGHBOUR_BUDGET);
    if (!walker->over_budget) {
        memory_forget_written(&walker->memory);
        walk_neighbours(walker, &group);
    }
    (void)other_end(&group);
    walker->only_lines = false;
    walker->visit = visit;
    walker->result = result;
    walker->left = budget;
}

static void walk_sample(struct walker *walker, uint64_t number, struct arena *arena)
{
    walk_contender(walker, number);
    if (!walker->options->counts_each)
        find_shared(walker, number, arena);
    walk_group(walker, number);
}

/* Probes evenly spaced workgroups, if neither the first nor the middle one has work. *sample becomes the middle one
 * of those that have work. Returns their share; 0 if none has work. */
static double probed_share(struct walker *walker, uint64_t *sample, struct arena *arena)
{
    const uint64_t groups = group_count(walker->launch);
    uint64_t found[PROBES];
    unsigned count = 0;
    for (unsigned k = 0; k < PROBES; k++) {
        const uint64_t number = groups / PROBES * k + groups % PROBES * k / PROBES + groups / PROBES / 2;
        if (touches_memory(walker, number, arena))
            found[count++] = number;
    }
    if (count)
        *sample = found[count / 2];
    return (double)count / PROBES;
}

/* Samples the middle workgroup. If it accesses no memory, tries the first one, then others. */
static void walk_one(struct walker *walker, struct arena *arena)
{
    const struct walk_launch *launch = walker->launch;
    /* Half way along each axis: at the start of a row it would share less with its neighbours than most workgroups
     * do. */
    const uint64_t row = middle(launch->grid[1]) + (uint64_t)launch->grid[1] * middle(launch->grid[2]);
    const uint64_t budget = walker->left, half_way = middle(launch->grid[0]) + launch->grid[0] * row;
    uint64_t sample = 0;
    walk_sample(walker, half_way, arena);
    if (walker->result->sums.accesses > 0 || walker->over_budget || !half_way)
        return;
    const double working =
        touches_memory(walker, 0, arena) ? working_share(walker, arena) : probed_share(walker, &sample, arena);
    if (!(working > 0))
        return;
    start_result(walker->result, walker->launch, walker->options->counts_each, arena);
    walker->left = budget;
    walk_sample(walker, sample, arena);
    walker->result->working = working;
}

static void start_walker(struct walker *walker)
{
    const struct walk_options *options = walker->options;
    walker->left = options->budget ? options->budget : DEFAULT_BUDGET;
    walker->lds_bytes = (size_t)walker->code->isa->code.group_segment_bytes + walker->launch->lds_bytes;
    walker->lds_bytes = walker->lds_bytes > (1u << 20) ? 1u << 20 : walker->lds_bytes;
    walker->tracks_results = options->clocks.vector_latency > options->clocks.vector && !options->window;
    for (size_t k = 0; k < walker->code->count && !options->window; k++)
        walker->tracks_results |= walker->code->ops[k].class == WALK_MATRIX;
    for (uint32_t bytes = options->line_bytes ? options->line_bytes : 128; bytes > 1; bytes /= 2)
        walker->line_shift++;
    memory_init(&walker->memory, walker->launch, walker->arena);
    lines_init(&walker->shared, 0);
    lines_init(&walker->awaited, 0);
    lines_init(&walker->atomics, 0);
    lines_init(&walker->contended, 0);
}

enum status walk_each_wave(const struct walk_launch *launch, const struct walk_options *options, walk_wave_fn *visit,
                           void *context, struct walk_result *result, struct arena *arena, struct err *err)
{
    struct walker walker = {.launch = launch, .code = launch->code, .options = options, .arena = arena};
    const uint64_t items = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    if (!items || launch->block[0] > 1024 || launch->block[1] > 1024 || launch->block[2] > 1024 || items > 1024)
        return err_set(err, ERR_CONFIG, "a workgroup of %llu work-items cannot be walked (1 to 1024)",
                       (unsigned long long)items);
    if (!launch->grid[0] || !launch->grid[1] || !launch->grid[2] || group_count(launch) > MOST_GROUPS)
        return err_set(err, ERR_CONFIG, "a grid of %u x %u x %u workgroups cannot be walked", launch->grid[0],
                       launch->grid[1], launch->grid[2]);
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
        walk_one(&walker, arena);
    for (size_t k = 0; k < launch->code->count && result->executed; k++)
        result->executed[k] /= result->sums.waves;
    result->over_budget = walker.over_budget;
    result->lds_beyond = walker.lds_beyond;
    lines_release(&walker.shared);
    lines_release(&walker.awaited);
    lines_release(&walker.atomics);
    lines_release(&walker.contended);
    memory_release(&walker.memory);
    return STATUS_OK;
}

enum status walk_run(struct walk_result *result, const struct walk_launch *launch, const struct walk_options *options,
                     struct arena *arena, struct err *err)
{
    return walk_each_wave(launch, options, NULL, NULL, result, arena, err);
}
