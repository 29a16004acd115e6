/* SPDX-License-Identifier: MIT */
#include "rooftile/gate.h"

#include "gate_internal.h"
#include "values.h"

/* What was expected of a class beforehand weighs as much as so many values' MADs. */
#define EXPECTED_WEIGHT 4

const char *const gate_state_names[] = {
    [GATE_MISSING] = "missing",     [GATE_LEARNING] = "learning",   [GATE_QUIET] = "quiet",
    [GATE_TENTATIVE] = "tentative", [GATE_CONFIRMED] = "confirmed",
};

struct gate_options gate_defaults(void)
{
    return (struct gate_options){.threshold = 5, .delta = 0.01};
}

static enum status check_series(const struct gate_set *set, size_t k, struct err *err)
{
    const struct gate_series *series = &set->series[k];
    if (series->class_index >= set->class_count)
        return err_set(err, ERR_CONFIG, "series %zu: class %u of %zu", k, (unsigned)series->class_index,
                       set->class_count);
    if (!is_sigma(series->floor))
        return err_set(err, ERR_CONFIG, "series %zu: floor is %g", k, series->floor);
    for (size_t run = 0; run < set->runs; run++) {
        const double ns = series->run_ns[run];
        if (!isnan(ns) && !(ns > 0 && isfinite(ns)))
            return err_set(err, ERR_CONFIG, "series %zu: run %zu has the time %g ns", k, run, ns);
    }
    return STATUS_OK;
}

static enum status check_segments(const struct gate_segment *segments, size_t count, const struct gate_set *set,
                                  struct err *err)
{
    for (size_t k = 0; segments && k < count; k++)
        if (segments[k].start >= set->runs || !is_sigma(segments[k].sigma))
            return err_set(err, ERR_CONFIG, "segment %zu: starts at run %u of %zu with sigma %g", k,
                           (unsigned)segments[k].start, set->runs, segments[k].sigma);
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
        if (check_series(set, k, err))
            return err->status;
    }
    return STATUS_OK;
}

/* ---- what runs share ---- */

static void window_add(struct gate_window *window, double value)
{
    if (window->count == GATE_BASELINE) {
        size_t oldest = 0;
        while (window->sorted[oldest] < window->recent[0])
            oldest++;
        window->count--;
        memmove(window->recent, window->recent + 1, window->count * sizeof(double));
        memmove(window->sorted + oldest, window->sorted + oldest + 1, (window->count - oldest) * sizeof(double));
    }
    insert_sorted(window->sorted, window->count, value);
    window->recent[window->count++] = value;
}

static void take_breaks(struct gate_pass *pass)
{
    const struct gate_set *set = pass->set;
    const size_t run = pass->run;
    const bool all = set->breaks && set->breaks[run];
    if (all) {
        pass->class_break = (uint32_t)run;
        memset(pass->used, 0, set->class_count * sizeof(*pass->used));
    }
    for (size_t k = 0; k < set->series_count; k++) {
        const bool *own = set->series[k].breaks;
        if (!all && !(own && own[run]))
            continue;
        pass->series_break[k] = (uint32_t)run;
        pass->windows[k].count = 0;
    }
}

/* A run with too few cases has no common mode of its own, but the class's level has not gone back to its first
 * run's: the median of the last three that were measured. */
static double carried(const struct gate_pass *pass, const double *measured)
{
    double last[3];
    size_t count = 0;
    for (size_t run = pass->run; run-- > pass->class_break && count < 3;)
        if (!isnan(measured[run]))
            last[count++] = measured[run];
    return count ? median_of(last, count) : 0;
}

/* NaN when it needs more cases. */
static double common_of(const struct gate_pass *pass, size_t class, bool again, size_t *count)
{
    const struct gate_set *set = pass->set;
    *count = 0;
    for (size_t k = 0; k < set->series_count; k++) {
        const struct gate_window *window = &pass->windows[k];
        const double ns = again ? set->series[k].again_ns : set->series[k].run_ns[pass->run];
        if (set->series[k].class_index == class && window->count && ns > 0)
            pass->residuals[(*count)++] = log(ns) - median_sorted(window->sorted, window->count);
    }
    return *count >= GATE_CLASS_CASES ? median_of(pass->residuals, *count) : NAN;
}

void gate_pass_step(struct gate_pass *pass)
{
    const struct gate_set *set = pass->set;
    take_breaks(pass);
    for (size_t index = 0; index < set->class_count; index++) {
        double *measured = &pass->measured[index * pass->set->runs];
        size_t count = 0, again = 0;
        measured[pass->run] = common_of(pass, index, false, &count);
        pass->used[index] = isnan(measured[pass->run]) ? carried(pass, measured) : measured[pass->run];
        pass->again[index] = common_of(pass, index, true, &again);
        if (again < count)
            pass->again[index] = NAN;
    }
    for (size_t k = 0; k < set->series_count; k++) {
        const double ns = set->series[k].run_ns[pass->run];
        double *adjusted = &pass->adjusted[k * set->runs + pass->run];
        *adjusted = isnan(ns) ? NAN : log(ns) - pass->used[set->series[k].class_index];
        if (!isnan(ns))
            window_add(&pass->windows[k], *adjusted);
    }
    pass->run++;
}

/* ---- one pass over the runs ---- */

static struct gate_segment *segments_copied(const struct gate_segment *segments, size_t count, struct arena *arena)
{
    struct gate_segment *copy = arena_array(arena, count + 1, sizeof(*copy));
    for (size_t k = 0; segments && k < count; k++)
        copy[k] = segments[k];
    return copy;
}

void gate_pass_init(struct gate_pass *pass, const struct gate_set *set, const struct gate_segment *segments,
                    const struct gate_segment *class_segments, const struct gate_options *options, struct arena *arena)
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
        .windows = arena_array(arena, series + 1, sizeof(*pass->windows)),
        .residuals = arena_array(arena, series + 1, sizeof(*pass->residuals)),
        .expected = arena_array(arena, classes + 1, sizeof(*pass->expected)),
        .segments = segments_copied(segments, series, arena),
        .class_segments = segments_copied(class_segments, classes, arena),
    };
}

static struct gate_segment after_break(struct gate_segment segment, uint32_t latest)
{
    return latest > segment.start ? (struct gate_segment){latest, 0} : segment;
}

static struct gate_view view_of(const struct gate_pass *pass, size_t k)
{
    const struct gate_series *series = &pass->set->series[k];
    const double floor = series->floor, common = pass->used[series->class_index];
    return (struct gate_view){
        .values = &pass->adjusted[k * pass->set->runs],
        .this_run = pass->run - 1,
        .segment = after_break(pass->segments[k], pass->series_break[k]),
        .floor = floor > 0 ? floor : 0,
        .again = series->again_ns > 0 ? log(series->again_ns) - common : NAN,
        .again_least = series->again_least_ns > 0 ? log(series->again_least_ns) - common : NAN,
    };
}

/* Median spread of the class's series up to the previous run, each with a full least baseline, mixed with what was
 * expected. The variance times 1.3: cases of a class differ (lognormal 0.4), and it is the noisier ones that need the
 * caution. */
static double expected_of(const struct gate_pass *pass, size_t class)
{
    const double *given = pass->set->class_sigma;
    const double known = given && given[class] > 0 ? given[class] : GATE_CASE_SIGMA;
    double *spreads = pass->residuals, weight = 0;
    size_t count = 0;
    for (size_t k = 0; k < pass->set->series_count; k++) {
        const struct gate_view view = view_of(pass, k);
        struct gate_points points;
        if (pass->set->series[k].class_index != class || isnan(view.values[view.this_run]))
            continue;
        gate_points_of(&points, &view);
        if (points.count <= GATE_LEAST_BASELINE)
            continue;
        const size_t n = points.count - 1 < GATE_BASELINE ? points.count - 1 : GATE_BASELINE;
        spreads[count++] = gate_spread(points.value + points.count - 1 - n, n);
        weight += 0.4 * (double)n;
    }
    const double typical = count ? sqrt(1.3) * median_of(spreads, count) : 0;
    return sqrt((EXPECTED_WEIGHT * known * known + weight * typical * typical) / (EXPECTED_WEIGHT + weight));
}

void gate_pass_judge(struct gate_pass *pass, struct gate_verdict *out, struct gate_verdict *classes)
{
    const struct gate_set *set = pass->set;
    for (size_t index = 0; index < set->class_count; index++) {
        const struct gate_view view = {
            .values = &pass->measured[index * set->runs],
            .this_run = pass->run - 1,
            .segment = after_break(pass->class_segments[index], pass->class_break),
            .again = pass->again[index],
            .again_least = NAN,
        };
        gate_judge(&classes[index], &view, GATE_CLASS_SIGMA, pass->options);
        classes[index].common = pass->used[index];
        pass->class_segments[index] = classes[index].segment;
        pass->expected[index] = expected_of(pass, index);
    }
    for (size_t k = 0; k < set->series_count; k++) {
        const uint32_t class = set->series[k].class_index;
        const struct gate_view view = view_of(pass, k);
        gate_judge(&out[k], &view, pass->expected[class], pass->options);
        out[k].common = pass->used[class];
        out[k].baseline_ns *= exp(pass->used[class]);
        pass->segments[k] = out[k].segment;
    }
}

enum status gate_run(struct gate_verdict *out, struct gate_verdict *classes, const struct gate_set *set,
                     const struct gate_segment *segments, const struct gate_segment *class_segments,
                     const struct gate_options *options, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct gate_pass pass;
    if (check(set, options, err) || check_segments(segments, set->series_count, set, err) ||
        check_segments(class_segments, set->class_count, set, err))
        return err->status;
    gate_pass_init(&pass, set, segments, class_segments, options, &arena);
    while (pass.run < set->runs)
        gate_pass_step(&pass);
    gate_pass_judge(&pass, out, classes);
    return STATUS_OK;
}
