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

enum { MOST_NOISY = 12, MOST_SAMPLES_EACH = 60, LEAST_POINTS = 3 };

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

static struct chart_series *series_named(struct chart *chart, const char *name)
{
    struct chart_series *known = FIND_ROW(chart->series, chart->count, name, name);
    return known                         ? known
           : chart->count < CHART_SERIES ? chart_add(chart, CHART_MARKS, name, chart->count)
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
        chart_case(chart, series_named(chart, limiter), result_case_time(c), c->prediction.time_ns, c)->cost = 0;
        within += fabs(c->prediction.time_ns / result_case_time(c) - 1) <= 0.2;
        count++;
    }
    if (result->predicted || !count)
        return;
    chart->desc = arena_printf(
        arena,
        "Each case's predicted time over its measured one, by what limits it. %zu of %zu predictions are within "
        "20 %%.",
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
        arena, arena_printf(arena, "occupancy%s", suffix), "Share of the roof over occupancy",
        "Waves that a SIMD holds at once, and how near its roof each case comes with them. More waves hide more "
        "latency, until something else limits.");
    FOR_EACH(const struct result_case, c, result->cases, result->case_count)
        if (is_mark(c) && c->code.known && c->code.waves_per_simd > 0 && c->fraction > 0)
            chart_case(chart, series_named(chart, c->kernel), c->code.waves_per_simd, c->fraction, c);
    chart->x = (struct chart_axis){.title = "waves per SIMD", .unit = UNIT_NUMBER, .scale = CHART_LINEAR};
    chart->y = (struct chart_axis){.title = "share of the roof", .unit = UNIT_PERCENT, .scale = CHART_LINEAR};
    chart_fit(chart, false, 0);
    chart_fit(chart, true, 0.1);
    if (!chart->count || !(chart->x.high - chart->x.low > 1))
        return;
    chart->x.low = chart->y.low = 0;
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
        arena_printf(
            arena,
            "Samples of the %zu cases, of %zu, whose times vary most: the darker, the more. Up to %d of a case, "
            "evenly from the fastest to the slowest; what took twice as long stands at the edge.",
            shown, count, MOST_SAMPLES_EACH));
    chart_add(chart, CHART_MARKS, "", 0);
    for (size_t k = 0; k < shown; k++) {
        names[k] = case_name(order[k]);
        add_sample_row(chart, k, order[k]);
    }
    chart->x = (struct chart_axis){.title = "against the case's median", .unit = UNIT_CHANGE, .scale = CHART_LINEAR};
    chart->y = (struct chart_axis){
        .title = "", .scale = CHART_NAMES, .names = names_apart(names, shown, arena), .name_count = shown};
    chart_fit(chart, false, 0.02);
    chart_line(chart, CHART_BOUNDARY, "", (double[]){0, -0.5, 0, (double)shown - 0.5});
    document_chart(document, chart, NULL)->folded = true;
}

/* ---- a trace ---- */

static void add_trace(struct document *document, const struct result *result, const char *suffix)
{
    struct kernel_sums sums = kernel_sums_new(document->arena, result->case_count);
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (!(c->traced_ns > 0))
            continue;
        struct kernel_sum *sum = kernel_sum_of(&sums, c->kernel);
        const double traced_ns = weight_of(c) * c->traced_ns;
        sum->cases++;
        sum->time_ns += traced_ns;
        sum->bounded_ns += is_mark(c) ? traced_ns : 0;
        sum->bound_ns += is_mark(c) ? fmin(weight_of(c) * result_case_time(c), traced_ns) : 0;
    }
    sums.part = "here";
    sums.unknown = "not measured here";
    picture_sums(document, &sums, arena_printf(document->arena, "trace%s", suffix), "Time in the trace",
                 "Time that the trace spent in what each kernel stands for, and the part of it that the kernel takes "
                 "here.");
}

void picture_others(struct document *document, const struct result *result, const char *suffix)
{
    add_predictions(document, result, suffix);
    add_occupancy(document, result, suffix);
    add_samples(document, result, suffix);
    add_trace(document, result, suffix);
}
