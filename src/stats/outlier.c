/* SPDX-License-Identifier: MIT */
#include "rooftile/outlier.h"

#include "values.h"

#define LEAST_MODE 3     /* devices; fewer are outliers */
#define LEAST_SHARE 0.10 /* of all devices; fewer are outliers */
#define LEAST_GAP 3      /* between the modes, in healthy spreads; larger for few devices */
#define MODE_SPREADS 6   /* distance of two modes, in spreads within them */
#define FEW_DEVICES 16.0 /* with this many, the distance of modes must be twice that */
#define EXACT_COUNT 64   /* with more devices, a single one does not affect the spread */
#define FAR 1.5          /* times slower: no healthy devices of one model differ this much */
#define FAR_SHARE 0.25   /* least share of faster devices; a smaller one is itself anomalous */

struct outlier_rule outlier_defaults(size_t tests)
{
    return (struct outlier_rule){.z = 5, .delta = 0.03, .healthy = 0.005, .alpha = 0.001, .tests = tests ? tests : 1};
}

/* ---- levels ---- */

static size_t trimmed(size_t count)
{
    return count >= 20 ? count / 10 : count > 3 ? 1 : 0;
}

static double normal_density(double x)
{
    return exp(-x * x / 2) / sqrt(2 * M_PI);
}

/* Returns the sd of a normal distribution whose most distant share `p` is cut off: var = 1 - 2 q phi(q) / (1 - p), q
 * its two-sided quantile, by Newton's method (p is 1/20 to 1/4). */
static double cut_sd(double p)
{
    double q = 1.5;
    if (!(p > 0))
        return 1;
    for (int k = 0; k < 6; k++)
        q += (erfc(q / sqrt(2)) - p) / (2 * normal_density(q));
    return sqrt(1 - 2 * q * normal_density(q) / (1 - p));
}

struct outlier_level outlier_level_of(double *values, size_t count, double *scratch)
{
    struct outlier_level level = {.median = NAN, .spread = NAN, .n = count};
    if (!count)
        return level;
    sort_values(values, count);
    level.median = median_sorted(values, count);
    if (count < 3)
        return level;
    for (size_t k = 0; k < count; k++)
        scratch[k] = fabs(values[k] - level.median);
    sort_values(scratch, count);
    const size_t cut = trimmed(count);
    double squares = 0;
    for (size_t k = 0; k < count - cut; k++)
        squares += scratch[k] * scratch[k];
    level.spread = sqrt(squares / (double)(count - cut)) / cut_sd((double)cut / (double)count);
    return level;
}

/* ---- one device ---- */

static void against(struct outlier *out, double value, const struct outlier_level *level, double noise, double *student,
                    const struct outlier_rule *rule)
{
    out->change = out->z = out->limit = NAN;
    out->slow = out->fast = false;
    if (!isfinite(value) || !isfinite(level->median) || level->n < OUTLIER_LEAST - 1)
        return;
    const double distance = value - level->median, spread = fmax(level->spread, isnan(noise) ? 0 : noise);
    /* `student`: NaN until needed, shared by all levels of this many devices. */
    if (spread > 2 * rule->healthy && isnan(*student)) {
        /* The limit in spreads, if the spread is known from these devices only. Simulation gives 0.89 of the degrees of
         * freedom of the devices that are kept. */
        const double freedom = 0.89 * (double)(level->n - trimmed(level->n) - 1);
        const double t = student_quantile(2 * rule->alpha / (double)rule->tests, freedom);
        *student = fmax(rule->z, t * sqrt(1 + M_PI / 2 / (double)level->n));
    }
    const double limit = fmax((spread > 2 * rule->healthy ? *student : rule->z) * spread, log1p(rule->delta));
    out->change = expm1(distance);
    out->z = spread > 0 ? distance / spread : NAN;
    out->limit = expm1(limit);
    out->slow = distance > limit;
    out->fast = -distance > limit;
}

void outlier_against(struct outlier *out, double value, const struct outlier_level *level, double noise,
                     const struct outlier_rule *rule)
{
    double student = NAN;
    against(out, value, level, noise, &student, rule);
}

/* ---- all devices ---- */

struct placed {
    double value;
    size_t index;
};

static int by_value(const void *a, const void *b)
{
    const double x = ((const struct placed *)a)->value, y = ((const struct placed *)b)->value;
    return ORDER(x, y);
}

/* Values in ascending order, and room for twice as many. */
struct work {
    struct placed *placed;
    double *values, *scratch;
};

static struct outlier_level level_without(const struct work *work, size_t from, size_t to, size_t without)
{
    size_t count = 0;
    for (size_t k = from; k < to; k++)
        if (k != without)
            work->values[count++] = work->placed[k].value;
    return outlier_level_of(work->values, count, work->scratch);
}

static void judge_range(struct outlier *out, const struct work *work, size_t from, size_t to, int mode, double noise,
                        const struct outlier_rule *rule)
{
    const size_t count = to - from;
    struct outlier_level level = level_without(work, from, to, SIZE_MAX);
    double student = NAN;
    for (size_t k = from; k < to; k++) {
        struct outlier *one = &out[work->placed[k].index];
        if (count <= EXACT_COUNT)
            level = level_without(work, from, to, k);
        against(one, work->placed[k].value, &level, noise, &student, rule);
        one->mode = mode;
    }
}

/* Returns the index of the first value of the slower mode; 0: there is one mode. */
static size_t split_of(struct outlier_modes *modes, const struct work *work, size_t count,
                       const struct outlier_rule *rule)
{
    const size_t least = (size_t)fmax(LEAST_MODE, ceil(LEAST_SHARE * (double)count));
    size_t split = 0;
    double gap = 0;
    for (size_t k = least; k + least <= count; k++)
        if (work->placed[k].value - work->placed[k - 1].value > gap) {
            gap = work->placed[k].value - work->placed[k - 1].value;
            split = k;
        }
    if (!split)
        return 0;
    const struct outlier_level low = level_without(work, 0, split, SIZE_MAX),
                               high = level_without(work, split, count, SIZE_MAX);
    const double weight = (double)split / (double)count;
    const double within = sqrt(weight * low.spread * low.spread + (1 - weight) * high.spread * high.spread);
    const double distance = high.median - low.median;
    /* The spread within the modes of few devices is small by chance. */
    const double least_spreads = MODE_SPREADS * (within > rule->healthy ? 1 + pow(FEW_DEVICES / (double)count, 2) : 1);
    if (!(gap > LEAST_GAP * rule->healthy * (1 + FEW_DEVICES / 2 / (double)count)) ||
        !(distance > log1p(rule->delta)) || !(distance > least_spreads * fmax(within, rule->healthy)))
        return 0;
    *modes = (struct outlier_modes){.two = true, .count = {split, count - split}, .median = {low.median, high.median}};
    return split;
}

/* At this distance neither a majority nor five devices are needed: the slower ones are slow relative to the others. */
static void judge_far(struct outlier *out, const struct work *work, size_t from, size_t count)
{
    const struct outlier_level level = level_without(work, 0, from, SIZE_MAX);
    for (size_t k = 0; k < count && from < count; k++) {
        struct outlier *one = &out[work->placed[k].index];
        const double distance = work->placed[k].value - level.median;
        if (k >= from)
            *one = (struct outlier){.z = level.spread > 0 ? distance / level.spread : NAN, .mode = 1, .slow = true};
        if (k >= from || isnan(one->change)) {
            one->change = expm1(distance);
            one->limit = FAR - 1;
        }
    }
}

void outliers_judge(struct outlier *out, struct outlier_modes *modes, const double *values, size_t count, double noise,
                    const struct outlier_rule *rule)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct work work = {.placed = arena_array(&arena, count + 1, sizeof(*work.placed)),
                        .values = arena_array(&arena, count + 1, sizeof(double)),
                        .scratch = arena_array(&arena, count + 1, sizeof(double))};
    size_t known = 0;
    *modes = (struct outlier_modes){.count = {0}, .median = {NAN, NAN}};
    for (size_t k = 0; k < count; k++) {
        out[k] = (struct outlier){.change = NAN, .z = NAN, .limit = NAN};
        if (isfinite(values[k]))
            work.placed[known++] = (struct placed){values[k], k};
    }
    qsort(work.placed, known, sizeof(*work.placed), by_value);
    size_t far = (size_t)fmax(1, ceil(FAR_SHARE * (double)known)); /* first device that is far slower */
    while (far < known && !(work.placed[far].value - work.placed[far - 1].value > log(FAR)))
        far++;
    far = far < known ? far : known;
    const size_t split = far >= OUTLIER_LEAST ? split_of(modes, &work, far, rule) : 0;
    judge_range(out, &work, 0, split ? split : far, 0, noise, rule);
    if (split)
        judge_range(out, &work, split, far, 1, noise, rule);
    judge_far(out, &work, far, known);
}
