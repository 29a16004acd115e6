/* SPDX-License-Identifier: MIT */

#include "rooftile/truth.h"

#define GEMM_LARGE 4096.0
#define STREAM_OVER_CACHE 4.0
#define WITHIN 0.2

static double last_cache(const struct machine *machine)
{
    double largest = 0;
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        largest = fmax(largest, machine->levels[k].capacity_bytes);
    return largest;
}

/* NULL: none is beyond doubt. */
static const char *bound_beyond_doubt(const struct truth_row *row, const struct machine *machine)
{
    const struct described *what = &row->what;
    const double bytes =
        what->rows * what->columns * what->in_bytes * (what->kind == DESCRIBED_ROWS ? 2 : what->operands);
    const bool streams = what->kind == DESCRIBED_ELEMENTWISE || !strcmp(what->family, "softmax");
    if (what->kind == DESCRIBED_GEMM && fmin(what->m, fmin(what->n, what->k)) >= GEMM_LARGE)
        return "matrix_";
    if (streams && bytes > STREAM_OVER_CACHE * last_cache(machine))
        return machine->levels[machine->level_count - 1].name;
    return row->time_ns < 2 * machine->launch_ns ? "launch" : NULL;
}

void truth_judge_bound(struct truth_guess *guess, const struct truth_row *row, const struct prediction *prediction,
                       const struct machine *machine)
{
    const char *bound = bound_beyond_doubt(row, machine);
    guess->bound_beyond_doubt = bound != NULL;
    guess->bound_right = bound && !strncmp(prediction->bound, bound, strlen(bound));
}

/* ---- figures ---- */

struct sample {
    const struct truth_row *row;
    double error; /* signed */
    const struct truth_guess *guess;
};

struct samples {
    struct sample *items;
    size_t count;
};

static int by_size(const void *left, const void *right)
{
    const double a = fabs(((const struct sample *)left)->error), b = fabs(((const struct sample *)right)->error);
    return ORDER(a, b);
}

static int by_sign(const void *left, const void *right)
{
    const double a = ((const struct sample *)left)->error, b = ((const struct sample *)right)->error;
    return ORDER(a, b);
}

static double at_share(const struct samples *samples, double share)
{
    const double place = share * (double)(samples->count - 1);
    const size_t low = (size_t)place, high = low + 1 < samples->count ? low + 1 : low;
    const double a = samples->items[low].error, b = samples->items[high].error;
    return fabs(a) + (place - (double)low) * (fabs(b) - fabs(a));
}

/* Sorts the samples by their absolute error. */
static struct error_figures figures_of(struct samples *samples)
{
    struct error_figures figures = {.rows = samples->count,
                                    .median = NAN,
                                    .p90 = NAN,
                                    .signed_median = NAN,
                                    .within_20 = NAN,
                                    .wmape = NAN,
                                    .coverage = NAN,
                                    .bound_right = NAN};
    double times = 0, wrong = 0, within = 0, covered = 0, intervals = 0, doubtless = 0, right = 0;
    if (!samples->count)
        return figures;
    qsort(samples->items, samples->count, sizeof(*samples->items), by_sign);
    figures.signed_median = samples->items[samples->count / 2].error;
    qsort(samples->items, samples->count, sizeof(*samples->items), by_size);
    FOR_EACH(const struct sample, sample, samples->items, samples->count) {
        times += sample->row->time_ns;
        wrong += fabs(sample->error) * sample->row->time_ns;
        within += fabs(sample->error) <= WITHIN;
        intervals += sample->guess->high_ns > 0;
        covered += sample->row->time_ns >= sample->guess->low_ns && sample->row->time_ns <= sample->guess->high_ns;
        doubtless += sample->guess->bound_beyond_doubt;
        right += sample->guess->bound_beyond_doubt && sample->guess->bound_right;
    }
    figures.median = at_share(samples, 0.5);
    figures.p90 = at_share(samples, 0.9);
    figures.within_20 = within / (double)samples->count;
    figures.coverage = intervals > 0 ? covered / intervals : NAN;
    figures.wmape = wrong / times;
    figures.bound_right = doubtless > 0 ? right / doubtless : NAN;
    return figures;
}

static bool belongs(const struct truth_row *row, const struct error_line *line)
{
    return !line->family || (!strcmp(row->family, line->family) && !strcmp(row->machine, line->machine));
}

static struct samples samples_of(const struct truth *truth, const struct truth_guess *guesses,
                                 const struct error_line *line, struct arena *arena)
{
    struct samples samples = {.items = arena_array(arena, truth->count + 1, sizeof(*samples.items))};
    for (size_t k = 0; k < truth->count; k++) {
        const struct truth_row *row = &truth->rows[k];
        const struct truth_guess *guess = &guesses[k];
        if (row->problem || !guess->known || !belongs(row, line))
            continue;
        samples.items[samples.count++] =
            (struct sample){.row = row, .error = guess->time_ns / row->time_ns - 1, .guess = guess};
    }
    return samples;
}

/* ---- the table ---- */

static void add_line(struct error_table *table, const struct truth_row *row, struct arena *arena)
{
    for (size_t k = 0; k < table->count; k++)
        if (belongs(row, &table->lines[k]))
            return;
    ARENA_PUSH(arena, table->lines, table->count, (struct error_line){.family = row->family, .machine = row->machine});
}

static void fill_line(struct error_line *line, const struct truth *truth, const struct truth_guess *raw,
                      const struct truth_guess *calibrated, struct arena *arena)
{
    struct samples samples = samples_of(truth, raw, line, arena);
    line->raw = figures_of(&samples);
    samples = samples_of(truth, calibrated, line, arena);
    line->calibrated = figures_of(&samples);
    for (size_t k = 0; k < 3 && k < samples.count; k++) {
        line->worst[k] = samples.items[samples.count - 1 - k].row;
        line->worst_error[k] = samples.items[samples.count - 1 - k].error;
    }
}

void error_table_make(struct error_table *table, const struct truth *truth, const struct truth_guess *raw,
                      const struct truth_guess *calibrated, struct arena *arena)
{
    *table = (struct error_table){0};
    for (size_t k = 0; k < truth->count; k++) {
        const struct truth_row *row = &truth->rows[k];
        table->skipped += row->problem != NULL;
        table->without_model += !row->problem && !calibrated[k].known;
        if (!row->problem && calibrated[k].known)
            add_line(table, row, arena);
    }
    if (table->count != 1)
        ARENA_PUSH(arena, table->lines, table->count, (struct error_line){0});
    for (size_t k = 0; k < table->count; k++)
        fill_line(&table->lines[k], truth, raw, calibrated, arena);
}
