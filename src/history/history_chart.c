/* SPDX-License-Identifier: MIT
 *
 * Series over their runs as charts: values, the band that runs alike stay in, and where a level or the environment
 * changed.
 */

#include "history_internal.h"
#include "rooftile/chart.h"
#include "rooftile/summary.h"

enum { MOST_CHARTS = 12, LEAST_BAND = 4 };

/* Bands of stretches of runs of one level in one environment. */
static void add_bands(struct chart *chart, const struct history_window *w, const struct history_series *row)
{
    double *logs = arena_array(chart->arena, w->run_count + 1, sizeof(*logs));
    size_t count = 0;
    for (size_t run = 0, from = 0; run <= w->run_count; run++) {
        const bool ends = run == w->run_count ||
                          (run && (row->breaks[run] || w->runs[run].environment != w->runs[run - 1].environment)) ||
                          COUNT_WHERE(alarm, row->alarms, row->alarm_count, alarm->tau == w->runs[run].started);
        if (ends && count >= LEAST_BAND) {
            const double level = median_of(logs, count), reach = fmax(3 * robust_sd(logs, count), 0.002);
            struct chart_series *band = chart_add(chart, CHART_BAND, "", 0);
            for (int end = 0; end < 2; end++) {
                struct chart_point *point =
                    chart_point(chart, band, end ? (double)run - 0.5 : (double)from - 0.5, exp(level));
                point->low = exp(level - reach);
                point->high = exp(level + reach);
            }
        }
        from = ends ? run : from;
        count = ends ? 0 : count;
        if (run < w->run_count && row->points[run].value > 0)
            logs[count++] = log(row->points[run].value);
    }
}

static void add_lines(struct chart *chart, const struct history_window *w, const struct history_series *row)
{
    for (size_t run = 1; run < w->run_count; run++) {
        char words[UNITS_TEXT];
        const char *name = w->runs[run].environment != w->runs[run - 1].environment ? "environment" : NULL;
        if (row->breaks[run])
            name = row->changed[run] ? identity_words(row->changed[run], chart->arena) : "accepted";
        for (size_t k = 0; k < row->alarm_count; k++)
            if (row->alarms[k].tau == w->runs[run].started)
                name = arena_strdup(chart->arena,
                                    units_change(words, history_in_unit(row->higher_is_better, row->alarms[k].shift)));
        if (name)
            chart_line(chart, CHART_BOUNDARY, name,
                       (double[]){(double)run - 0.5, chart->y.low, (double)run - 0.5, chart->y.high});
    }
}

static void add_values(struct chart *chart, const struct history_window *w, const struct history_series *row)
{
    struct chart_series *curve = chart_add(chart, CHART_CURVE, "", 0);
    for (size_t k = 0; k < w->run_count; k++) {
        const double value = row->points[k].value;
        char words[UNITS_TEXT];
        struct chart_point *point = chart_point(chart, curve, (double)k, value > 0 ? value : NAN);
        point->name = arena_printf(chart->arena, "%.16s", w->runs[k].started_at);
        point->said = arena_printf(chart->arena, "%.19s, commit %.12s\n%s", w->runs[k].started_at, w->runs[k].git,
                                   units_quantity(words, value, row->unit));
    }
}

static void add_chart(struct document *document, const struct history_window *w, const struct history_series *row,
                      size_t at)
{
    struct arena *arena = document->arena;
    const char **dates = arena_array(arena, w->run_count, sizeof(*dates));
    struct chart *chart = chart_new(
        arena, arena_printf(arena, "series-%zu", at), row->label,
        arena_printf(
            arena,
            "%s over %zu runs. Bands are 3 robust standard deviations around the median of runs of one level; dotted "
            "lines are where the level, the case or the environment changed.",
            row->is_kpi ? "Key figure" : "Time", w->run_count));
    for (size_t k = 0; k < w->run_count; k++)
        dates[k] = arena_printf(arena, "%.10s", w->runs[k].started_at);
    chart->x = (struct chart_axis){.title = "", .scale = CHART_NAMES, .names = dates, .name_count = w->run_count};
    chart->y = (struct chart_axis){.title = "", .unit = row->unit, .scale = CHART_LINEAR};
    add_values(chart, w, row);
    chart_fit(chart, true, 0);
    const double middle = (chart->y.low + chart->y.high) / 2; /* noise of a percent must not look like mountains */
    chart_fit(chart, true, 0.06 * middle);
    add_bands(chart, w, row);
    add_lines(chart, w, row);
    document_add(
        document,
        (struct section){
            .show = SHOW_HTML, .key = chart->name, .title = row->label, .chart = chart, .table = chart_table(chart)});
}

void history_charts(struct document *document, const struct history_window *w, const bool *chosen)
{
    size_t count = 0;
    for (int quiet = 0; quiet < 2; quiet++) /* those that moved first */
        for (size_t k = 0; k < w->row_count && count < MOST_CHARTS; k++)
            if (chosen[k] && !w->rows[k].alarm_count == (quiet == 1) && history_values(&w->rows[k], w->run_count) > 1)
                add_chart(document, w, &w->rows[k], ++count);
}
