/* SPDX-License-Identifier: MIT
 *
 * The gate: judges one series, then all series run by run, with their common mode.
 */
#include "rooftile/gate.h"

#include "gate_internal.h"
#include "values.h"

/* The expected value of a class has the weight of this many MADs. */
#define EXPECTED_WEIGHT 4

/* An estimated run-to-run sd is at least 0.2 %. */
#define LEAST_SD 0.002

/* The MAD of n values estimates the sd as well as the squares of 0.4 n values. */
#define MAD_EFFICIENCY 0.4
#define CLASS_WEIGHT 4
#define CARRIED_WEIGHT 8

/* pi / 2: the variance of a median of n is 1.57 s^2 / n. */
#define MEDIAN_VARIANCE 1.57

#define CORRELATED 0.3
#define CORRELATED_VALUES 10
#define MOST_CORRELATED 0.7 /* a short baseline cannot resolve more; the factor stays below 2.4 */

/* A real change shows at least this part of the shift: in its runs, and in the fastest trial of a repeated
 * measurement. */
#define SHOWN 0.25

/* Possible ages of the change in runs, and the variance of the value compared with the baseline, in units of s^2. */
static const struct {
    size_t runs;
    double variance;
} changes[] = {{1, 1}, {2, 0.6}, {3, 0.449}, {5, 0.287}, {GATE_LONGEST, 0.211}};

const char *const gate_state_names[] = {
    [GATE_MISSING] = "missing",     [GATE_LEARNING] = "learning",   [GATE_QUIET] = "quiet",
    [GATE_TENTATIVE] = "tentative", [GATE_CONFIRMED] = "confirmed",
};

struct gate_options gate_defaults(void)
{
    return (struct gate_options){.threshold = 5, .delta = 0.01};
}

/* ---- one series ---- */

/* The result for one k, and the baseline that it is compared with. */
struct finding {
    size_t k, count;
    double shift, z, median, sigma;
};

/* One series up to this run. */
struct view {
    const double *values; /* ln, per run; NaN = missing */
    size_t this_run;      /* index of the run being judged */
    struct gate_segment segment;
    double floor, again; /* floor: timer tick / T; again: repeated measurement of this run, ln; NaN = none */
    double again_least;  /* ... its fastest trial; NaN = unknown */
};

/* The last values of a segment, oldest first. */
#define POINTS (GATE_BASELINE + GATE_LONGEST)
struct points {
    double value[POINTS];
    uint32_t run[POINTS];
    size_t count;
};

/* Collects the points of runs first .. end - 1. */
static void points_of(struct points *points, const double *values, size_t first, size_t end)
{
    size_t count = 0, at = end;
    for (size_t run = end; run-- > first && count < POINTS; count += isnan(values[run]) ? 0 : 1)
        at = run;
    for (points->count = 0; at < end; at++) {
        if (isnan(values[at]))
            continue;
        points->value[points->count] = values[at];
        points->run[points->count++] = (uint32_t)at;
    }
}

static double median_copied(const double *values, size_t count)
{
    double copy[POINTS];
    memcpy(copy, values, count * sizeof(*copy));
    return median_of(copy, count);
}

/* Returns the larger of two estimates: the MAD covers several levels (two modes, a drift), the successive differences
 * cover noise from run to run. */
static double spread_of(const double *values, size_t count)
{
    double copy[POINTS];
    if (count < 2)
        return 0;
    memcpy(copy, values, count * sizeof(*copy));
    const double around = robust_sd(copy, count);
    return fmax(around, successive_sd(values, count, copy));
}

/* Lag 1, corrected for the estimate's bias of -(1 + 3 rho) / n (Kendall 1954). A handful of values is not enough. */
static double autocorrelation(const double *values, size_t count)
{
    const double n = (double)count;
    const struct moments m = moments_of(values, count);
    if (count < CORRELATED_VALUES || !(m.squares > 0))
        return 0;
    return fmin(1, (n * m.products / m.squares + 1) / (n - 3));
}

static double distance(const double *after, size_t k, double median)
{
    const double first = after[0] - median, last = after[k - 1] - median;
    if (k > 2)
        return median_copied(after, k) - median;
    if (k == 1)
        return first;
    if (first * last <= 0)
        return 0;
    return fabs(first) < fabs(last) ? first : last;
}

static bool stands(struct finding *found, const struct points *points, size_t change, const struct view *view,
                   double s0, const struct gate_options *options)
{
    const size_t k = changes[change].runs, end = points->count - k, count = end < GATE_BASELINE ? end : GATE_BASELINE;
    const double *values = points->value + end - count, *after = points->value + end;
    const double n = MAD_EFFICIENCY * (double)count, spread = spread_of(values, count);
    const double known = view->segment.sigma > 0 ? view->segment.sigma : s0;
    const double weight = view->segment.sigma > 0 ? CARRIED_WEIGHT : CLASS_WEIGHT;
    const double sigma = sqrt((weight * known * known + n * spread * spread) / (weight + n));
    found->k = k;
    found->count = count;
    found->median = median_copied(values, count);
    found->sigma = fmax(sigma, fmax(LEAST_SD, view->floor));
    found->shift = distance(after, k, found->median);
    /* Positive correlation between neighbouring runs makes a run of high values likelier; a single run is as likely as
     * before. */
    const double rho = fmin(autocorrelation(values, count), MOST_CORRELATED);
    const double correlated = k > 1 && rho > CORRELATED ? sqrt((1 + rho) / (1 - rho)) : 1;
    found->z =
        found->shift / (found->sigma * correlated * sqrt(changes[change].variance + MEDIAN_VARIANCE / (double)count));
    /* Two outliers among three runs move their median. A changed level shows in every run: of 3 runs none, of 5 or 7 at
     * most one may miss a quarter of the shift. Halves the false alarms of heavy tails (simulated). */
    const size_t missing = COUNT_WHERE(one, after, k, (*one - found->median) / found->shift < SHOWN);
    return fabs(found->z) > options->threshold && fabs(found->shift) > log1p(options->delta) && missing <= (k - 1) / 4;
}

/* Selects this run's finding, or the one with the largest |Z| among those that have persisted for some runs. Returns
 * true for a candidate. */
static bool search(struct finding *found, const struct points *points, const struct view *view, double s0,
                   const struct gate_options *options)
{
    bool candidate = stands(found, points, 0, view, s0, options);
    for (size_t a = 1; a < COUNT_OF(changes); a++) {
        struct finding one;
        if (points->count < changes[a].runs + GATE_LEAST_BASELINE)
            break;
        if (!stands(&one, points, a, view, s0, options))
            continue;
        candidate = true;
        if (found->k == 1 || fabs(one.z) > fabs(found->z))
            *found = one;
    }
    return candidate;
}

/* True if the repeated trials alone show the same. Occasional interference affects them too, but seldom all: without
 * testing the fastest one, up to 6 runs in 100 were false alarms (simulated). */
static bool stands_again(const struct finding *found, const struct points *points, const struct view *view, double s0,
                         const struct gate_options *options)
{
    struct points again = *points;
    struct finding one;
    again.value[points->count - 1] = view->again;
    if (isnan(view->again) || !stands(&one, &again, 0, view, s0, options) || one.shift * found->shift <= 0)
        return false;
    return isnan(view->again_least) || (view->again_least - one.median) / one.shift >= SHOWN;
}

static double deviations(const double *values, size_t count, double median)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += fabs(values[k] - median);
    return sum;
}

/* There are few values of k, and the change may lie between them. Returns the split with the least absolute
 * deviations from two medians, among those that leave at least two values and go back at most a few runs more than
 * the longest k. */
static size_t split_of(const struct points *points, const struct finding *found)
{
    const size_t n = points->count, farthest = GATE_LONGEST + 3;
    size_t best = n - found->k;
    if (found->k == 1)
        return best;
    double least = INFINITY;
    for (size_t at = n > farthest + GATE_LEAST_BASELINE ? n - farthest : GATE_LEAST_BASELINE; at + 2 <= n; at++) {
        const double before = median_copied(points->value, at), after = median_copied(points->value + at, n - at);
        const double cost = deviations(points->value, at, before) + deviations(points->value + at, n - at, after);
        if ((after - before) * found->shift <= 0 || cost >= least)
            continue;
        least = cost;
        best = at;
    }
    return best;
}

static void judge(struct gate_verdict *out, const struct view *view, double s0, const struct gate_options *options)
{
    struct points points;
    struct finding found;
    *out = (struct gate_verdict){
        .state = GATE_MISSING,
        .segment = view->segment,
        .z = NAN,
        .sigma = NAN,
        .baseline_ns = NAN,
        .shift = NAN,
        .mde_run = NAN,
        .mde_week = NAN,
    };
    if (isnan(view->values[view->this_run]))
        return;
    points_of(&points, view->values, view->segment.start, view->this_run + 1);
    out->state = GATE_LEARNING;
    out->baseline_n = (uint32_t)(points.count - 1);
    if (points.count <= GATE_LEAST_BASELINE)
        return;
    const bool candidate = search(&found, &points, view, s0, options);
    out->state = candidate ? GATE_TENTATIVE : GATE_QUIET;
    out->slower = found.shift > 0;
    out->tau = points.run[points.count - found.k];
    out->k = (uint32_t)found.k;
    out->shift = expm1(found.shift);
    out->z = found.z;
    out->baseline_ns = exp(found.median);
    out->baseline_n = (uint32_t)found.count;
    out->sigma = found.sigma;
    out->mde_run = gate_mde(out->sigma, 1, options->delta);
    out->mde_week = gate_mde(out->sigma, GATE_LONGEST, options->delta);
    out->too_noisy = out->mde_week > GATE_TOO_NOISY;
    if (!candidate || (found.k == 1 && !stands_again(&found, &points, view, s0, options)))
        return;
    const size_t split = split_of(&points, &found);
    const double before = median_copied(points.value, split),
                 after = median_copied(points.value + split, points.count - split);
    out->state = GATE_CONFIRMED;
    out->tau = points.run[split];
    out->shift = expm1(after - before);
    out->baseline_ns = exp(before);
    out->baseline_n = (uint32_t)split;
    out->segment = (struct gate_segment){out->tau, out->sigma};
}

double gate_mde(double sigma, unsigned runs, double delta)
{
    const double s = fmax(sigma, LEAST_SD), least = log1p(delta);
    return expm1(runs < GATE_LONGEST ? fmax(6.5 * s, least + 1.3 * s) : fmax(3.3 * s, least + 0.7 * s));
}

/* ---- all series ---- */

static enum status check_segments(const struct gate_verdict *verdicts, size_t count, const struct gate_set *set,
                                  struct err *err)
{
    for (size_t k = 0; k < count; k++)
        if (verdicts[k].segment.start >= set->runs || !is_sigma(verdicts[k].segment.sigma))
            return err_set(err, ERR_CONFIG, "segment %zu: starts at run %u of %zu with sigma %g", k,
                           (unsigned)verdicts[k].segment.start, set->runs, verdicts[k].segment.sigma);
    return STATUS_OK;
}

static enum status check(const struct gate_set *set, const struct gate_options *options, struct err *err)
{
    if (!set->runs || set->runs > UINT32_MAX)
        return err_set(err, ERR_CONFIG, "%zu runs", set->runs);
    if (!(options->threshold > 0 && isfinite(options->threshold) && options->delta >= 0 && isfinite(options->delta)))
        return err_set(err, ERR_CONFIG, "threshold is %g and delta is %g, expected positive numbers",
                       options->threshold, options->delta);
    for (size_t index = 0; set->class_sigma && index < set->class_count; index++)
        if (!is_sigma(set->class_sigma[index]))
            return err_set(err, ERR_CONFIG, "class %zu: sigma is %g", index, set->class_sigma[index]);
    for (size_t k = 0; k < set->series_count; k++) {
        const struct gate_series *series = &set->series[k];
        if (series->class_index >= set->class_count)
            return err_set(err, ERR_CONFIG, "series %zu: class %u of %zu", k, (unsigned)series->class_index,
                           set->class_count);
        if (!is_sigma(series->floor))
            return err_set(err, ERR_CONFIG, "series %zu: floor is %g", k, series->floor);
        for (size_t run = 0; run < set->runs; run++)
            if (!isnan(series->run_ns[run]) && !(series->run_ns[run] > 0 && isfinite(series->run_ns[run])))
                return err_set(err, ERR_CONFIG, "series %zu: run %zu has the time %g ns", k, run, series->run_ns[run]);
    }
    return STATUS_OK;
}

/* ---- common mode of runs ---- */

/* A run with too few cases has no common mode of its own, but the class has not returned to the level of its first run:
 * uses the median of the last three measured values. */
static double carried(const struct gate_pass *pass, const double *measured)
{
    double last[3];
    size_t count = 0;
    for (size_t run = pass->run; run-- > pass->class_break && count < 3;)
        if (!isnan(measured[run]))
            last[count++] = measured[run];
    return count ? median_of(last, count) : 0;
}

/* Returns NaN if there are too few cases. */
static double common_of(const struct gate_pass *pass, size_t class, bool again, size_t *count)
{
    const struct gate_set *set = pass->set;
    *count = 0;
    for (size_t k = 0; k < set->series_count; k++) {
        const double ns = again ? set->series[k].again_ns : set->series[k].run_ns[pass->run];
        if (set->series[k].class_index == class && !isnan(pass->usual[k]) && ns > 0)
            pass->residuals[(*count)++] = log(ns) - pass->usual[k];
    }
    return *count >= GATE_CLASS_CASES ? median_of(pass->residuals, *count) : NAN;
}

void gate_pass_step(struct gate_pass *pass)
{
    const struct gate_set *set = pass->set;
    const size_t run = pass->run;
    const bool all = set->breaks && set->breaks[run];
    pass->class_break = all ? (uint32_t)run : pass->class_break;
    for (size_t k = 0; k < set->series_count; k++) {
        const bool *own = set->series[k].breaks;
        struct points before;
        if (all || (own && own[run]))
            pass->series_break[k] = (uint32_t)run;
        points_of(&before, &pass->adjusted[k * set->runs], pass->series_break[k], run);
        const size_t n = before.count < GATE_BASELINE ? before.count : GATE_BASELINE;
        pass->usual[k] = median_of(before.value + before.count - n, n);
    }
    for (size_t index = 0; index < set->class_count; index++) {
        double *measured = &pass->measured[index * set->runs];
        size_t count = 0, again = 0;
        measured[run] = common_of(pass, index, false, &count);
        pass->used[index] = isnan(measured[run]) ? carried(pass, measured) : measured[run];
        pass->again[index] = common_of(pass, index, true, &again);
        if (again < count)
            pass->again[index] = NAN;
    }
    for (size_t k = 0; k < set->series_count; k++) /* NaN stays NaN */
        pass->adjusted[k * set->runs + run] = log(set->series[k].run_ns[run]) - pass->used[set->series[k].class_index];
    pass->run++;
}

/* ---- one pass over the runs ---- */

void gate_pass_init(struct gate_pass *pass, const struct gate_set *set, const struct gate_options *options,
                    struct arena *arena)
{
    const size_t series = set->series_count, classes = set->class_count;
    *pass = (struct gate_pass){
        .set = set,
        .options = options,
        .adjusted = arena_array(arena, series * set->runs + 1, sizeof(*pass->adjusted)),
        .measured = arena_array(arena, classes * set->runs + 1, sizeof(*pass->measured)),
        .used = arena_array(arena, classes + 1, sizeof(*pass->used)),
        .again = arena_array(arena, classes + 1, sizeof(*pass->again)),
        .series_break = arena_array(arena, series + 1, sizeof(*pass->series_break)),
        .usual = arena_array(arena, series + 1, sizeof(*pass->usual)),
        .residuals = arena_array(arena, series + 1, sizeof(*pass->residuals)),
        .expected = arena_array(arena, classes + 1, sizeof(*pass->expected)),
    };
}

static struct gate_segment after_break(struct gate_segment segment, uint32_t latest)
{
    return latest > segment.start ? (struct gate_segment){latest, 0} : segment;
}

static struct view view_of(const struct gate_pass *pass, const struct gate_verdict *out, size_t k)
{
    const struct gate_series *series = &pass->set->series[k];
    const double floor = series->floor, common = pass->used[series->class_index];
    return (struct view){
        .values = &pass->adjusted[k * pass->set->runs],
        .this_run = pass->run - 1,
        .segment = after_break(out[k].segment, pass->series_break[k]),
        .floor = floor > 0 ? floor : 0,
        .again = series->again_ns > 0 ? log(series->again_ns) - common : NAN,
        .again_least = series->again_least_ns > 0 ? log(series->again_least_ns) - common : NAN,
    };
}

/* Combines the median spread of the class's series up to the previous run, for series with at least the least baseline,
 * with the expected spread. The variance is multiplied by 1.3: cases of a class differ (lognormal 0.4), and the noisier
 * ones need the caution. */
static double expected_of(const struct gate_pass *pass, const struct gate_verdict *out, size_t class)
{
    const double *given = pass->set->class_sigma;
    const double known = given && given[class] > 0 ? given[class] : GATE_CASE_SIGMA;
    double *spreads = pass->residuals, weight = 0;
    size_t count = 0;
    for (size_t k = 0; k < pass->set->series_count; k++) {
        const struct view view = view_of(pass, out, k);
        struct points points;
        if (pass->set->series[k].class_index != class || isnan(view.values[view.this_run]))
            continue;
        points_of(&points, view.values, view.segment.start, view.this_run + 1);
        if (points.count <= GATE_LEAST_BASELINE)
            continue;
        const size_t n = points.count - 1 < GATE_BASELINE ? points.count - 1 : GATE_BASELINE;
        spreads[count++] = spread_of(points.value + points.count - 1 - n, n);
        weight += 0.4 * (double)n;
    }
    const double typical = count ? sqrt(1.3) * median_of(spreads, count) : 0;
    return sqrt((EXPECTED_WEIGHT * known * known + weight * typical * typical) / (EXPECTED_WEIGHT + weight));
}

void gate_pass_judge(struct gate_pass *pass, struct gate_verdict *out, struct gate_verdict *classes)
{
    const struct gate_set *set = pass->set;
    for (size_t index = 0; index < set->class_count; index++) {
        const struct view view = {
            .values = &pass->measured[index * set->runs],
            .this_run = pass->run - 1,
            .segment = after_break(classes[index].segment, pass->class_break),
            .again = pass->again[index],
            .again_least = NAN,
        };
        judge(&classes[index], &view, GATE_CLASS_SIGMA, pass->options);
        classes[index].common = pass->used[index];
        pass->expected[index] = expected_of(pass, out, index);
    }
    for (size_t k = 0; k < set->series_count; k++) {
        const uint32_t class = set->series[k].class_index;
        const struct view view = view_of(pass, out, k);
        judge(&out[k], &view, pass->expected[class], pass->options);
        out[k].common = pass->used[class];
        out[k].baseline_ns *= exp(pass->used[class]);
    }
}

enum status gate_run(struct gate_verdict *out, struct gate_verdict *classes, const struct gate_set *set,
                     const struct gate_options *options, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct gate_pass pass;
    if (check(set, options, err) || check_segments(out, set->series_count, set, err) ||
        check_segments(classes, set->class_count, set, err))
        return err->status;
    gate_pass_init(&pass, set, options, &arena);
    while (pass.run < set->runs)
        gate_pass_step(&pass);
    gate_pass_judge(&pass, out, classes);
    return STATUS_OK;
}
