/* SPDX-License-Identifier: MIT
 *
 * Charts as SVG: interactive on pages through a script, for print, and as files of their own.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"
#include "svg.h"

enum { MOST_MARKS = 1200, MOST_UPRIGHT = 12, SAID_MARKS = 120, SHADES = 8 };

/* A chart while it is drawn. */
struct sheet {
    const struct chart *chart;
    struct svg svg;
    const struct table *rows; /* rows of the cases, which describe the marks of cases; NULL: none */
    size_t last;              /* row of the last match: cases are drawn in table order */
    bool said;                /* marks carry a description */
    double row;               /* height of the row of one name; 0: y has no names */
};

static bool is_line(enum chart_kind kind)
{
    return kind == CHART_LINE || kind == CHART_DASHED || kind == CHART_BOUNDARY;
}

/* ---- legend ---- */

static const double legend_row = 20, legend_mark = 24;

/* Lays the legend out in rows as wide as the plot and returns their height. Draws it unless `svg` is NULL. */
static double legend(const struct chart *chart, struct svg *svg, double left, double width, double top)
{
    double x = 0, y = 0;
    for (size_t k = 0; k < chart->count; k++) {
        char words[64];
        const struct chart_series *series = &chart->series[k];
        if (!*series->name || is_line(series->kind) || series->kind == CHART_CELL || !series->count)
            continue;
        snprintf(words, sizeof(words), "%.60s", series->name);
        const double room = svg_text_width(words) + legend_mark + 16;
        y += x > 0 && x + room > width ? legend_row : 0;
        x = x > 0 && x + room > width ? 0 : x;
        if (svg) {
            text_addf(svg->out, "<g data-k=\"%zu\">\n", k);
            const double at = left + x, line = top + y + 12;
            char class[32];
            snprintf(class, sizeof(class), "%s s%zu", series->kind == CHART_BAR ? "bar" : "curve", series->look);
            if (series->kind == CHART_BAR || series->kind == CHART_BAND) {
                svg_rect(svg, series->kind == CHART_BAND ? "corridor" : class,
                         &(struct svg_box){at, line - 10, at + 16, line + 2}, NULL);
            } else {
                if (series->kind != CHART_MARKS)
                    svg_line(svg, class, (double[]){at - 1, line - 4, at + 17, line - 4}, NULL);
                svg_marks(svg, series->look);
                svg_mark(svg, series->look, at + 8, line - 4, NULL);
                svg_group_end(svg);
            }
            svg_text(svg, "label", SVG_START, at + legend_mark, line, words);
            svg_group_end(svg);
        }
        x += room;
    }
    return x > 0 ? y + legend_row : 0;
}

/* ---- series ---- */

/* Finds the table row of the point's case; the row's id may end in the number of a device. */
static struct svg_tip tip_of(struct sheet *sheet, const struct chart_point *point)
{
    struct svg_tip tip = {.said = sheet->said ? point->said : NULL, .cost = point->cost, .ceiling = point->ceiling};
    const size_t count = sheet->rows && point->id ? sheet->rows->row_count : 0, length = count ? strlen(point->id) : 0;
    for (size_t k = 0; k < count && !tip.row; k++) {
        const size_t at = (sheet->last + k) % count;
        const struct row_keys *keys = table_at(sheet->rows, at)->keys;
        if (keys && !strncmp(keys->id, point->id, length) && (!keys->id[length] || keys->id[length] == '-')) {
            sheet->last = at;
            tip.row = at + 1;
        }
    }
    return tip;
}

/* Clips a line to the axes; false: it lies outside. The line is straight in the scales of the axes. */
static bool clip(const struct svg *svg, double xy[static 4])
{
    const struct svg_box *box = &svg->plot;
    const double dx = xy[2] - xy[0], dy = xy[3] - xy[1];
    const double ways[4][2] = {
        {-dx, xy[0] - box->left}, {dx, box->right - xy[0]}, {-dy, xy[1] - box->top}, {dy, box->bottom - xy[1]}};
    double from = 0, to = 1;
    for (size_t k = 0; k < 4; k++) {
        if (ways[k][0] < 0)
            from = fmax(from, ways[k][1] / ways[k][0]);
        else if (ways[k][0] > 0)
            to = fmin(to, ways[k][1] / ways[k][0]);
        else if (ways[k][1] < 0)
            return false;
    }
    const double cut[] = {xy[0] + from * dx, xy[1] + from * dy, xy[0] + to * dx, xy[1] + to * dy};
    memcpy(xy, cut, sizeof(cut));
    return from < to;
}

static bool line_of(const struct sheet *sheet, const struct chart_series *series, double xy[static 4])
{
    const struct svg *svg = &sheet->svg;
    if (series->count != 2)
        return false;
    for (size_t k = 0; k < 2; k++) {
        xy[2 * k] = svg_x(svg, series->points[k].x);
        xy[2 * k + 1] = svg_y(svg, series->points[k].y);
    }
    return clip(svg, xy);
}

static void draw_line(struct sheet *sheet, const struct chart_series *series)
{
    static const char *const classes[CHART_KINDS] = {
        [CHART_LINE] = "ceiling", [CHART_DASHED] = "vendor", [CHART_BOUNDARY] = "boundary"};
    double xy[4];
    if (!line_of(sheet, series, xy))
        return;
    const struct svg_tip tip = {.said = series->points[0].said ? series->points[0].said : series->name};
    char class[32];
    snprintf(class, sizeof(class), series->look + 1 < CHART_SERIES ? "%s l%zu" : "%s", classes[series->kind],
             series->look);
    svg_line(&sheet->svg, class, xy, NULL);
    if (*series->name)
        svg_line(&sheet->svg, "hit", xy, &tip);
    svg_take_line(&sheet->svg, xy);
}

/* Boundaries are named at their upper end, on the left; other lines have their name along them. */
static void name_line(struct sheet *sheet, const struct chart_series *series)
{
    double xy[4];
    if (!*series->name || !line_of(sheet, series, xy))
        return;
    const struct svg_place places[] = {{xy[2] - 5, sheet->svg.plot.top + 12, SVG_END},
                                       {xy[2] + 5, sheet->svg.plot.top + 12, SVG_START},
                                       {xy[2] - 5, sheet->svg.plot.top + 27, SVG_END}};
    if (series->kind == CHART_BOUNDARY)
        svg_label(&sheet->svg, "quiet", series->name, places, COUNT_OF(places));
    else
        svg_label_along(&sheet->svg, "quiet", series->name, xy);
}

static void draw_curve(struct sheet *sheet, const struct chart_series *series)
{
    SCOPED(arena_release) struct arena arena = {0};
    double *xy = arena_array(&arena, 2 * series->count + 2, sizeof(*xy));
    char class[16];
    size_t count = 0;
    snprintf(class, sizeof(class), "curve s%zu", series->look);
    for (size_t k = 0; k <= series->count; k++) {
        const struct chart_point *point = &series->points[k];
        if (k < series->count && isfinite(point->y)) {
            xy[2 * count] = svg_x(&sheet->svg, point->x);
            xy[2 * count++ + 1] = svg_y(&sheet->svg, point->y);
        } else if (count) { /* no line is drawn across a gap */
            svg_polyline(&sheet->svg, class, xy, count);
            count = 0;
        }
    }
}

/* With more marks than a reader can tell apart only every n-th one is drawn; returns n. */
static size_t stride_of(const struct chart_series *series)
{
    return 1 + series->count / MOST_MARKS;
}

static void draw_marks(struct sheet *sheet, const struct chart_series *series)
{
    struct svg *svg = &sheet->svg;
    const size_t stride = stride_of(series);
    const bool each = sheet->said || sheet->rows;
    (each ? svg_marks : svg_parts)(svg, series->look);
    for (size_t k = 0; k < series->count; k += stride) {
        const struct chart_point *point = &series->points[k];
        const double x = svg_x(svg, point->x), y = svg_y(svg, point->y);
        const struct svg_tip tip = tip_of(sheet, point);
        if (!isfinite(x) || !isfinite(y))
            continue;
        if (each)
            svg_mark(svg, series->look, x, y, &tip);
        else
            svg_part_mark(svg, series->look, x, y);
        svg_take(svg, &(struct svg_box){x - 4, y - 4, x + 4, y + 4});
    }
    if (each)
        svg_group_end(svg);
    else
        svg_parts_end(svg, NULL);
}

static void name_marks(struct sheet *sheet, const struct chart_series *series)
{
    struct svg *svg = &sheet->svg;
    for (size_t k = 0; k < series->count; k += stride_of(series)) {
        const struct chart_point *point = &series->points[k];
        const double x = svg_x(svg, point->x), y = svg_y(svg, point->y);
        const struct svg_place places[] = {
            {x + 8, y + 4, SVG_START}, {x - 8, y + 4, SVG_END}, {x, y - 9, SVG_MIDDLE}, {x, y + 17, SVG_MIDDLE}};
        if (point->words)
            svg_label(svg, "label", point->words, places, COUNT_OF(places));
    }
}

static void draw_bars(struct sheet *sheet, const struct chart_series *series)
{
    struct svg *svg = &sheet->svg;
    char class[16];
    snprintf(class, sizeof(class), "bar s%zu", series->look);
    FOR_EACH(const struct chart_point, point, series->points, series->count) {
        const double top = svg_y(svg, point->y) - 8, right = svg_x(svg, point->high);
        const struct svg_tip tip = tip_of(sheet, point);
        svg_rect(svg, class, &(struct svg_box){svg_x(svg, point->low), top, right, top + 16}, &tip);
        if (point->words)
            svg_text(svg, "label n", SVG_START, right + 8, top + 12, point->words);
    }
}

static void draw_band(struct sheet *sheet, const struct chart_series *series)
{
    struct svg *svg = &sheet->svg;
    for (size_t k = 0; k + 1 < series->count; k++) {
        const struct chart_point *from = &series->points[k], *to = from + 1;
        const double xy[] = {svg_x(svg, from->x), svg_y(svg, from->low), svg_x(svg, to->x),   svg_y(svg, to->low),
                             svg_x(svg, to->x),   svg_y(svg, to->high),  svg_x(svg, from->x), svg_y(svg, from->high)};
        if (isfinite(from->low) && isfinite(to->low))
            svg_polyline(svg, "corridor", xy, 4);
    }
}

static void draw_cells(struct sheet *sheet, const struct chart_series *series)
{
    struct svg *svg = &sheet->svg;
    const double column = (svg->plot.right - svg->plot.left) / (double)sheet->chart->x.name_count;
    FOR_EACH(const struct chart_point, point, series->points, series->count) {
        const double x = svg_x(svg, point->x), y = svg_y(svg, point->y);
        const struct svg_box box = {x - column / 2 + 1, y - sheet->row / 2 + 1, x + column / 2 - 1,
                                    y + sheet->row / 2 - 1};
        const size_t shade = (size_t)fmin(SHADES - 1, floor((1 - point->share) * 1.2 * (double)SHADES));
        const struct svg_tip tip = tip_of(sheet, point);
        char class[8];
        snprintf(class, sizeof(class), "h%zu", shade);
        svg_rect(svg, class, &box, &tip);
        if (point->words && column > svg_text_width(point->words))
            svg_text(svg, shade > 3 ? "on-dark" : "on-light", SVG_MIDDLE, x, y + 4, point->words);
        if (point->share >= 1)
            svg_rect(svg, "best", &(struct svg_box){box.left + 2, box.top + 2, box.right - 2, box.bottom - 2}, NULL);
    }
}

typedef void draw_function(struct sheet *sheet, const struct chart_series *series);

/* Writes no group that would be empty. */
static void draw_group(struct sheet *sheet, size_t series, draw_function *draw)
{
    SCOPED(text_release) struct text inside = {0};
    struct text *out = sheet->svg.out;
    const struct chart_series *drawn = &sheet->chart->series[series];
    sheet->svg.out = &inside;
    draw(sheet, drawn);
    sheet->svg.out = out;
    if (!inside.length)
        return;
    /* For the page's script: the number of the series and the name of its ceiling. */
    text_addf(out, "<g data-s=\"%zu\"", series);
    if (is_line(drawn->kind) && drawn->count && drawn->points[0].ceiling)
        html_attribute(out, "data-l", drawn->points[0].ceiling);
    text_add(out, ">\n");
    text_addn(out, inside.data, inside.length);
    svg_group_end(&sheet->svg);
}

static void draw_series(struct sheet *sheet)
{
    static draw_function *const drawn[CHART_KINDS] = {
        [CHART_MARKS] = draw_marks,   [CHART_CURVE] = draw_curve, [CHART_LINE] = draw_line, [CHART_DASHED] = draw_line,
        [CHART_BOUNDARY] = draw_line, [CHART_BAR] = draw_bars,    [CHART_BAND] = draw_band, [CHART_CELL] = draw_cells};
    const struct chart *chart = sheet->chart;
    for (size_t k = 0; k < chart->count; k++)
        draw_group(sheet, k, drawn[chart->series[k].kind]);
    for (size_t k = chart->count; k-- > 0;)
        if (chart->series[k].kind == CHART_CURVE)
            draw_group(sheet, k, draw_marks);
    const struct svg_box *plot = &sheet->svg.plot;
    if (chart->y.scale != CHART_NAMES) /* no label covers a tick's */
        svg_take(&sheet->svg, &(struct svg_box){0, plot->top, plot->left, plot->bottom});
    for (size_t k = 0; k < chart->count; k++)
        if (is_line(chart->series[k].kind))
            draw_group(sheet, k, name_line);
    for (size_t k = 0; k < chart->count; k++) {
        const enum chart_kind kind = chart->series[k].kind;
        if (kind == CHART_MARKS || kind == CHART_CURVE)
            draw_group(sheet, k, name_marks);
    }
}

/* ---- the sheet ---- */

static double widest_name(const struct chart_axis *axis)
{
    double widest = 0;
    for (size_t k = 0; k < axis->name_count; k++)
        widest = fmax(widest, svg_text_width(axis->names[k]));
    return widest;
}

static void lay_out(struct sheet *sheet, double width)
{
    const struct chart *chart = sheet->chart;
    struct svg *svg = &sheet->svg;
    const bool names = chart->y.scale == CHART_NAMES, cells = names && chart->x.scale == CHART_NAMES;
    const double widest = widest_name(&chart->y) + 20, longest = widest_name(&chart->x) + 20;
    sheet->row = cells ? 32 : !names ? 0 : 26;
    const double left = !names ? 92 : cells ? fmin(widest, width * 0.38) : fmin(widest, 300);
    double words = 0; /* width of the text to the right of bars, and of marks at the edge */
    for (size_t s = 0; s < chart->count; s++)
        FOR_EACH(const struct chart_point, point, chart->series[s].points, chart->series[s].count) {
            const enum chart_kind kind = chart->series[s].kind;
            if (point->words && (kind == CHART_BAR ||
                                 (kind == CHART_MARKS && chart->x.scale == CHART_LOG && 2 * point->x > chart->x.high)))
                words = fmax(words, svg_text_width(point->words));
        }
    const double height = names ? sheet->row * (double)chart->y.name_count : chart->flat ? 200 : 400;
    const double right = cells ? fmin(width - 12, left + 96 * (double)chart->x.name_count) : width - words - 16;
    const double column = (right - left) / (double)chart->x.name_count;
    svg->upright = cells && chart->x.name_count <= MOST_UPRIGHT && longest - 16 > column;
    const double top = svg->upright ? fmin(longest, 160) : *chart->y.title ? 34 : 12;
    svg->x = chart->x;
    svg->y = chart->y;
    svg->plot = (struct svg_box){left, top, right, top + height};
}

void chart_svg(struct text *out, const struct chart *chart, const struct table *rows, bool alone)
{
    const double width = CHART_WIDE;
    const struct svg_head head = {chart->name, chart->title, chart->desc, alone};
    struct sheet sheet = {.chart = chart, .rows = rows};
    size_t marks = 0;
    for (size_t k = 0; k < chart->count; k++)
        marks += chart->series[k].count;
    sheet.said = marks <= SAID_MARKS;
    lay_out(&sheet, width);
    const struct svg_box plot = sheet.svg.plot;
    const double left = plot.left, room = width - left - 8;
    const double bottom = plot.bottom + (*chart->x.title ? 50 : 28), keys = legend(chart, NULL, left, room, 0);
    svg_open(&sheet.svg, out, width, bottom + (keys > 0 ? keys + 8 : 0), &head);
    svg_axes(&sheet.svg);
    draw_series(&sheet);
    legend(chart, &sheet.svg, left, room, bottom + 4);
    svg_close(&sheet.svg);
}

struct section *document_chart(struct document *document, const struct chart *chart, const struct table *table)
{
    return document_add(document, (struct section){.show = SHOW_HTML,
                                                   .key = chart->name,
                                                   .title = chart->title,
                                                   .chart = chart,
                                                   .table = table ? table : chart_table(chart)});
}
