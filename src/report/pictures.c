/* SPDX-License-Identifier: MIT
 *
 * Helpers for pictures of cases, and the small pictures: predictions against measurements, occupancy, samples, a
 * trace.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

enum { MOST_NOISY = 12, MOST_SAMPLES_EACH = 60, LEAST_POINTS = 3, MOST_CHANGES = 40, MOST_SHARES = 16 };

const char *said_name(const char *name, struct arena *arena)
{
    return text_cut(arena, name, 80, " \u2026 ");
}

bool is_mark(const struct result_case *c)
{
    return c->status == CASE_OK && !(c->flags & FLAG_EMULATED) && result_case_timed(c) && result_case_time(c) > 0;
}

struct chart_point *chart_case(struct chart *chart, struct chart_series *series, double x, double y,
                               const struct result_case *c)
{
    struct chart_point *point = chart_point(chart, series, x, y);
    point->name = case_name(c);
    point->said = case_said(c, chart->arena);
    point->id = plain_id(chart->arena, c);
    point->cost = weight_of(c) * result_case_time(c);
    return point;
}

/* ---- predicted against measured ---- */

static struct chart_series *series_named(struct chart *chart, enum chart_kind kind, const char *name)
{
    struct chart_series *known = FIND_ROW(chart->series, chart->count, name, name);
    return known                         ? known
           : chart->count < CHART_SERIES ? chart_add(chart, kind, name, chart->count)
                                         : &chart->series[CHART_SERIES - 1];
}

static void add_predictions(struct document *document, const struct result *result, const char *suffix)
{
    struct arena *arena = document->arena;
    struct chart *chart =
        chart_new(arena, arena_printf(arena, "predicted%s", suffix), "Predicted against measured", "");
    size_t count = 0, within = 0;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (!is_mark(c) || !(c->prediction.time_ns > 0))
            continue;
        const char *limiter = c->prediction.limiter && *c->prediction.limiter ? c->prediction.limiter : "not told";
        struct chart_point *point = chart_case(chart, series_named(chart, CHART_INTERVAL, limiter), result_case_time(c),
                                               c->prediction.time_ns, c);
        point->cost = 0;
        point->low = c->prediction.low_ns;
        point->high = c->prediction.high_ns;
        within += fabs(c->prediction.time_ns / result_case_time(c) - 1) <= 0.2;
        count++;
    }
    if (result->predicted || !count)
        return;
    chart->desc = arena_printf(
        arena,
        "Each case's predicted time over its measured one, with the range that 80 %% of truths lie in; by what "
        "limits it. %zu of %zu predictions are within 20 %%.",
        within, count);
    chart->x = (struct chart_axis){.title = "measured time", .unit = UNIT_TIME};
    chart->y = (struct chart_axis){.title = "predicted time", .unit = UNIT_TIME};
    chart_fit(chart, false, 10);
    chart_fit(chart, true, 10);
    const double from = fmin(chart->x.low, chart->y.low), to = fmax(chart->x.high, chart->y.high);
    struct chart_series *band = chart_add(chart, CHART_BAND, "within 20 %", 0);
    for (int end = 0; end < 2; end++) {
        struct chart_point *point = chart_point(chart, band, end ? to : from, end ? to : from);
        point->low = 0.8 * point->x;
        point->high = 1.2 * point->x;
    }
    chart_line(chart, CHART_LINE, "", (double[]){from, from, to, to});
    chart->x.low = chart->y.low = from;
    chart->x.high = chart->y.high = to;
    document_chart(document, chart, NULL);
}

/* ---- occupancy ---- */

static void add_occupancy(struct document *document, const struct result *result, const char *suffix)
{
    struct arena *arena = document->arena;
    struct chart *chart = chart_new(
        arena, arena_printf(arena, "occupancy%s", suffix), "Share of the ceiling over occupancy",
        "Waves that a SIMD holds at once, and how near the ceiling each case comes with them. More waves hide more "
        "latency, until something else limits.");
    FOR_EACH(const struct result_case, c, result->cases, result->case_count)
        if (is_mark(c) && c->code.known && c->code.waves_per_simd > 0 && c->fraction > 0)
            chart_case(chart, series_named(chart, CHART_MARKS, c->kernel), c->code.waves_per_simd, c->fraction, c);
    chart->x = (struct chart_axis){.title = "waves per SIMD", .unit = UNIT_NUMBER, .scale = CHART_LINEAR};
    chart->y = (struct chart_axis){.title = "share of the ceiling", .unit = UNIT_PERCENT, .scale = CHART_LINEAR};
    chart_fit(chart, false, 0);
    chart_fit(chart, true, 0.1);
    if (!chart->count || !(chart->x.high - chart->x.low > 1))
        return;
    chart->x.low = chart->y.low = 0;
    document_chart(document, chart, NULL);
}

/* ---- rows of cases around 0 ---- */

/* One row per name; changes extend from 0 to either side. */
static void document_rows(struct document *document, struct chart *chart, const char *title, const char *const *names,
                          size_t count)
{
    chart->x = (struct chart_axis){.title = title, .unit = UNIT_CHANGE, .scale = CHART_LINEAR};
    chart->y = (struct chart_axis){.title = "", .scale = CHART_NAMES, .names = names, .name_count = count};
    chart_fit(chart, false, 0.02);
    chart_line(chart, CHART_BOUNDARY, "", (double[]){0, -0.5, 0, (double)count - 0.5});
    document_chart(document, chart, NULL);
}

/* ---- samples ---- */

static double noise_of(const struct result_case *c)
{
    return (c->stats.p95 - c->stats.p05) / result_case_time(c);
}

static int by_noise(const void *a, const void *b)
{
    const struct result_case *p = *(const struct result_case *const *)a, *q = *(const struct result_case *const *)b;
    return ORDER(noise_of(q), noise_of(p)) ?: strcmp(p->id, q->id);
}

/* Picks evenly spaced quantiles if there are many samples: they show the same distribution. */
static void add_sample_row(struct chart *chart, size_t row, const struct result_case *c)
{
    struct arena *arena = chart->arena;
    double *sorted = arena_copy(arena, c->samples_ns, c->sample_count * sizeof(*sorted));
    const size_t count = c->sample_count < MOST_SAMPLES_EACH ? c->sample_count : MOST_SAMPLES_EACH;
    median_of(sorted, c->sample_count); /* sorts them */
    for (size_t k = 0; k < count; k++) {
        const size_t at = count == 1 ? 0 : k * (c->sample_count - 1) / (count - 1);
        const double off = sorted[at] / result_case_time(c) - 1;
        struct chart_point *point = chart_point(chart, &chart->series[0], fmin(off, 1), (double)row);
        point->name = case_name(c);
        point->id = plain_id(arena, c);
        point->said =
            arena_printf(arena, "%s\n%s, %s from the median of %zu samples", said_name(case_name(c), arena),
                         quantity_words(sorted[at], UNIT_TIME, arena), change_words(off, arena), c->sample_count);
    }
}

static void add_samples(struct document *document, const struct result *result, const char *suffix)
{
    struct arena *arena = document->arena;
    const struct result_case **order = arena_array(arena, result->case_count + 1, sizeof(*order));
    const char **names = arena_array(arena, MOST_NOISY, sizeof(*names));
    size_t count = 0;
    for (size_t k = 0; k < result->case_count; k++)
        if (is_mark(&result->cases[k]) && result->cases[k].samples_ns && result->cases[k].sample_count > 4)
            order[count++] = &result->cases[k];
    if (result->predicted || !count)
        return;
    qsort(order, count, sizeof(*order), by_noise);
    const size_t shown = count < MOST_NOISY ? count : MOST_NOISY;
    struct chart *chart = chart_new(
        arena, arena_printf(arena, "samples%s", suffix), "Samples around the median",
        arena_printf(arena,
                     "Each mark is a sample, of the %zu of %zu cases that vary the most. Up to %d of a case, evenly "
                     "from the fastest to the slowest; what took twice as long stands at the edge.",
                     shown, count, MOST_SAMPLES_EACH));
    chart_add(chart, CHART_MARKS, "", 0);
    for (size_t k = 0; k < shown; k++) {
        names[k] = case_name(order[k]);
        add_sample_row(chart, k, order[k]);
    }
    document_rows(document, chart, "against the case's median", names_apart(names, shown, arena), shown);
}

/* ---- a trace ---- */

static void add_trace(struct document *document, const struct result *result, const char *suffix)
{
    struct arena *arena = document->arena;
    struct kernel_sums sums = kernel_sums_new(arena, result->case_count);
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (!(c->traced_ns > 0))
            continue;
        struct kernel_sum *sum = kernel_sum_of(&sums, c->kernel);
        sum->time_ns += weight_of(c) * c->traced_ns;
        sum->measured_ns += is_mark(c) ? weight_of(c) * result_case_time(c) : 0;
    }
    const double all_ns = kernel_sums_sort(&sums);
    if (!sums.count)
        return;
    const size_t shown = sums.count < MOST_SHARES ? sums.count : MOST_SHARES;
    const char **names = arena_array(arena, shown, sizeof(*names));
    struct chart *chart =
        chart_new(arena, arena_printf(arena, "trace%s", suffix), "Shares of the trace",
                  arena_printf(arena,
                               "Time that the trace spent in what each kernel stands for, the %zu of %zu kernels that "
                               "took the longest.",
                               shown, sums.count));
    struct chart_series *bars = chart_add(chart, CHART_BAR, "in the trace", LOOK_PALE);
    for (size_t k = 0; k < shown; k++) {
        const struct kernel_sum *sum = &sums.items[k];
        struct chart_point *point = chart_point(chart, bars, sum->time_ns / all_ns, (double)k);
        names[k] = sum->name;
        point->low = 0;
        point->high = point->x;
        point->words = quantity_words(point->x, UNIT_PERCENT, arena);
        point->said =
            arena_printf(arena, "%s\n%s in the trace, %s here", said_name(sum->name, arena),
                         quantity_words(sum->time_ns, UNIT_TIME, arena),
                         sum->measured_ns > 0 ? quantity_words(sum->measured_ns, UNIT_TIME, arena) : "not measured");
    }
    chart->x = (struct chart_axis){.title = "share of the trace's time", .unit = UNIT_PERCENT, .scale = CHART_LINEAR};
    chart->y = (struct chart_axis){.title = "", .scale = CHART_NAMES, .names = names, .name_count = shown};
    chart_fit(chart, false, 0.01);
    chart->x.low = 0;
    document_chart(document, chart, NULL);
}

void picture_others(struct document *document, const struct result *result, const char *suffix)
{
    add_predictions(document, result, suffix);
    add_occupancy(document, result, suffix);
    add_samples(document, result, suffix);
    add_trace(document, result, suffix);
}

/* ---- what changed ---- */

static int by_change(const void *a, const void *b)
{
    const struct compare_case *p = *(const struct compare_case *const *)a, *q = *(const struct compare_case *const *)b;
    const double x = fabs(log(p->shift.ratio)), y = fabs(log(q->shift.ratio));
    return ORDER(y, x) ?: strcmp(p->id, q->id);
}

static void add_change(struct chart *chart, size_t row, const struct compare_case *c)
{
    static const size_t looks[] = {[SHIFT_SLOWER] = 0, [SHIFT_FASTER] = 1};
    const bool told = c->shift.verdict == SHIFT_SLOWER || c->shift.verdict == SHIFT_FASTER;
    struct arena *arena = chart->arena;
    struct chart_point *point = chart_point(chart, &chart->series[told ? looks[c->shift.verdict] : 2],
                                            fmin(c->shift.ratio - 1, 1), (double)row);
    const char *ratio = change_words(c->shift.ratio - 1, arena);
    point->low = fmin(c->shift.ratio_ci[0] - 1, 1);
    point->high = fmin(c->shift.ratio_ci[1] - 1, 1);
    point->name = c->label;
    point->words = ratio;
    point->id = c->id;
    point->said = arena_printf(
        arena, "%s\n%s to %s: %s, from %s to %s%s", said_name(c->label, arena),
        quantity_words(c->shift.base_ns, UNIT_TIME, arena), quantity_words(c->shift.new_ns, UNIT_TIME, arena), ratio,
        change_words(c->shift.ratio_ci[0] - 1, arena), change_words(c->shift.ratio_ci[1] - 1, arena),
        c->shift.common != 0 ? arena_printf(arena, "\nbehind the %s that its class moved by together",
                                            change_words(expm1(c->shift.common), arena))
                             : "");
}

void picture_changes(struct document *document, const struct comparison *comparison)
{
    struct arena *arena = document->arena;
    const struct compare_case **order = arena_array(arena, comparison->case_count + 1, sizeof(*order));
    const char **names = arena_array(arena, MOST_CHANGES, sizeof(*names));
    size_t count = 0, moved = 0;
    FOR_EACH(const struct compare_case, c, comparison->cases, comparison->case_count) {
        if (c->state != COMPARE_JUDGED || !(c->shift.ratio_ci[0] > 0) || !isfinite(c->shift.ratio_ci[1]))
            continue;
        order[count++] = c;
        moved += c->shift.ratio_ci[0] > 1 || c->shift.ratio_ci[1] < 1; /* its interval excludes 0 */
    }
    if (!moved)
        return;
    qsort(order, count, sizeof(*order), by_change);
    const size_t shown = count < MOST_CHANGES ? count : MOST_CHANGES;
    struct chart *chart = chart_new(
        arena, "intervals", "Changes with their intervals",
        arena_printf(
            arena,
            "Time against the base, the %zu of %zu judged cases that moved the most; lines are %g %% intervals. "
            "What a class moved by as a whole is taken out, and stands above; what takes over twice as long is at the "
            "edge.",
            shown, count, 100 * (1 - comparison->options.alpha)));
    chart_add(chart, CHART_INTERVAL, "slower", 1);
    chart_add(chart, CHART_INTERVAL, "faster", 0);
    chart_add(chart, CHART_INTERVAL, "same, or cannot be told", 7);
    for (size_t k = 0; k < shown; k++) {
        names[k] = order[k]->label;
        add_change(chart, k, order[k]);
    }
    document_rows(document, chart, "change of the time", names_apart(names, shown, arena), shown);
}
