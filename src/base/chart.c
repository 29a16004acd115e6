/* SPDX-License-Identifier: MIT */
#include "rooftile/chart.h"

#include "rooftile/table.h"

struct chart *chart_new(struct arena *arena, const char *name, const char *title, const char *desc)
{
    struct chart *chart = arena_alloc(arena, sizeof(*chart));
    *chart = (struct chart){.arena = arena, .name = name, .title = title, .desc = desc};
    return chart;
}

struct chart_series *chart_add(struct chart *chart, enum chart_kind kind, const char *name, size_t look)
{
    ARENA_PUSH(chart->arena, chart->series, chart->count, (struct chart_series){kind, name, look, NULL, 0});
    return &chart->series[chart->count - 1];
}

struct chart_point *chart_point(struct chart *chart, struct chart_series *series, double x, double y)
{
    const struct chart_point point = {.x = x, .y = y, .low = NAN, .high = NAN, .share = NAN};
    ARENA_PUSH(chart->arena, series->points, series->count, point);
    return &series->points[series->count - 1];
}

void chart_line(struct chart *chart, enum chart_kind kind, const char *name, const double xy[static 4])
{
    struct chart_series *line = chart_add(chart, kind, name, CHART_SERIES - 1);
    chart_point(chart, line, xy[0], xy[1]);
    chart_point(chart, line, xy[2], xy[3]);
}

static void widen(struct chart_axis *axis, double value)
{
    if (isfinite(value) && (axis->scale != CHART_LOG || value > 0)) {
        axis->low = fmin(axis->low, value);
        axis->high = fmax(axis->high, value);
    }
}

void chart_fit(struct chart *chart, bool y, double least)
{
    struct chart_axis *axis = y ? &chart->y : &chart->x;
    const bool ranges =
        axis->scale != CHART_NAMES &&
        (y ? chart->x.scale != CHART_NAMES || chart->y.scale != CHART_NAMES : chart->y.scale == CHART_NAMES);
    axis->low = INFINITY;
    axis->high = -INFINITY;
    FOR_EACH(const struct chart_series, series, chart->series, chart->count) {
        const bool is_annotation = series->kind == CHART_LINE || series->kind == CHART_DASHED ||
                                   series->kind == CHART_BOUNDARY || series->kind == CHART_BAND;
        for (size_t p = 0; p < series->count && !is_annotation; p++) {
            const struct chart_point *point = &series->points[p];
            widen(axis, y ? point->y : point->x);
            if (ranges) {
                widen(axis, point->low);
                widen(axis, point->high);
            }
        }
    }
    if (!(axis->high >= axis->low))
        axis->low = axis->high = 1;
    if (axis->scale == CHART_LOG) {
        const double edge = fmax(sqrt(least / (axis->high / axis->low)), 1.25);
        axis->low /= edge;
        axis->high *= edge;
    } else {
        const double edge = fmax((least - (axis->high - axis->low)) / 2, 0.06 * (axis->high - axis->low));
        axis->low -= edge;
        axis->high += edge;
    }
}

static struct cell value_cell(const struct chart_axis *axis, double value)
{
    if (axis->scale == CHART_NAMES)
        return value >= 0 && value < (double)axis->name_count ? cell_text(axis->names[(size_t)value]) : cell_absent();
    return cell_quantity(value, axis->unit);
}

struct table *chart_table(const struct chart *chart)
{
    const bool names = chart->x.scale == CHART_NAMES || chart->y.scale == CHART_NAMES;
    const struct chart_axis *axis = chart->y.scale == CHART_NAMES ? &chart->x : &chart->y;
    struct table_column *columns = arena_array(chart->arena, 7, sizeof(*columns));
    const char *const titles[] = {"", "series", chart->x.title, chart->y.title, "from", "to", "of the best"};
    const char *const units[] = {NULL,
                                 NULL,
                                 chart->x.scale == CHART_NAMES ? NULL : chart->x.unit,
                                 chart->y.scale == CHART_NAMES ? NULL : chart->y.unit,
                                 axis->unit,
                                 axis->unit,
                                 UNIT_PERCENT};
    for (size_t k = 0; k < 7; k++)
        columns[k] = (struct table_column){.title = titles[k], .unit = units[k]};
    columns[0].title = names ? "" : "case";
    struct table *table = table_new(chart->arena, columns, 7);
    for (size_t s = 0; s < chart->count; s++)
        for (size_t p = 0; p < chart->series[s].count; p++) {
            const struct chart_series *series = &chart->series[s];
            const struct chart_point *point = &series->points[p];
            table_add(table, (struct cell[]){cell_text(point->name ? point->name : ""), cell_text(series->name),
                                             value_cell(&chart->x, point->x), value_cell(&chart->y, point->y),
                                             isnan(point->low) ? cell_absent() : cell_number(point->low),
                                             isnan(point->high) ? cell_absent() : cell_number(point->high),
                                             isnan(point->share) ? cell_absent() : cell_number(point->share)});
        }
    table->most_rows = 20;
    table->rest = "the data of the page has all";
    return table;
}
