/* SPDX-License-Identifier: MIT
 *
 * Sweeps as curves: rate or latency over the footprint, with the capacities of the memory levels, and over any other
 * parameter that takes many values.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

enum { LEAST_POINTS = 5, MOST_POINTS = 64, MOST_PICTURES = 6 };

struct curve {
    const char *name; /* kernel, and what its cases share besides the swept parameter */
    const char *kernel;
    size_t count;
    double x[MOST_POINTS], y[MOST_POINTS];
    const char *cases[MOST_POINTS];
};

/* Curves over one quantity. */
struct chart {
    const struct result *result;
    const char *x, *y; /* quantities of result.h; x may be a parameter */
    const char *x_unit, *y_unit;
    const char *kernel; /* of a parameter's; else NULL: of all */
    struct curve *curves;
    size_t count;
};

/* ---- which ---- */

static bool is_point(const struct result_case *c)
{
    return c->status == CASE_OK && c->sample_count && c->stats.median > 0;
}

static size_t distinct(const struct result *result, const char *kernel, const char *quantity)
{
    double seen[LEAST_POINTS];
    size_t count = 0;
    for (size_t k = 0; k < result->case_count && count < LEAST_POINTS; k++) {
        const struct result_case *c = &result->cases[k];
        if (!is_point(c) || strcmp(c->kernel, kernel) != 0)
            continue;
        const double value = result_quantity(c, quantity);
        bool known = !(value > 0);
        for (size_t s = 0; s < count; s++)
            known |= seen[s] == value;
        if (!known)
            seen[count++] = value;
    }
    return count;
}

/* The numeric parameter of a kernel that takes enough values; NULL: none does. The first that does, in the manifest's
 * order. */
static const char *swept_param(const struct result *result, const struct result_case *c)
{
    for (size_t p = 0; p < c->param_count; p++)
        if (c->params[p].value.kind == PARAM_NUMBER && distinct(result, c->kernel, c->params[p].name) >= LEAST_POINTS)
            return c->params[p].name;
    return NULL;
}

/* Rate of what the kernel is about. */
static const char *quantity_of(const struct result_case *c)
{
    return !strcmp(c->class, "latency") && c->work.items > 0       ? "ns_per_item"
           : !strcmp(c->class, "compute") && c->flops_per_s > 0    ? "flops_per_s"
           : c->bytes_per_s > 0 && strcmp(c->class, "launch") != 0 ? "bytes_per_s"
                                                                   : "time_ns";
}

static const char *unit_of(const char *quantity)
{
    return !strcmp(quantity, "bytes_per_s")   ? UNIT_BYTE_RATE
           : !strcmp(quantity, "flops_per_s") ? UNIT_FLOP_RATE
                                              : UNIT_TIME;
}

/* The label without the swept parameter. */
static const char *series_name(const struct result_case *c, const char *param, struct arena *arena)
{
    struct text words = {0};
    const size_t length = strlen(param);
    for (const char *at = case_name(c); *at;) {
        at += strspn(at, " ");
        const size_t word = strcspn(at, " ");
        const bool swept = word > length && !strncmp(at, param, length) && at[length] == '=';
        if (word && !swept)
            text_addf(&words, "%s%.*s", words.length ? " " : "", (int)word, at);
        at += word;
    }
    return text_take(&words, arena);
}

/* ---- collecting ---- */

static struct chart *chart_of(struct chart *charts, size_t *count, const struct chart *wanted, struct arena *arena)
{
    for (size_t k = 0; k < *count; k++) {
        const bool same_kernel = (!wanted->kernel && !charts[k].kernel) ||
                                 (wanted->kernel && charts[k].kernel && !strcmp(wanted->kernel, charts[k].kernel));
        if (same_kernel && !strcmp(charts[k].x, wanted->x) && !strcmp(charts[k].y, wanted->y))
            return &charts[k];
    }
    if (*count == MOST_PICTURES)
        return NULL;
    charts[*count] = *wanted;
    charts[*count].curves = arena_array(arena, wanted->result->case_count + 1, sizeof(struct curve));
    return &charts[(*count)++];
}

static struct curve *curve_of(struct chart *chart, const struct result_case *c, const char *name)
{
    size_t at = 0;
    while (at < chart->count &&
           (strcmp(chart->curves[at].name, name) != 0 || strcmp(chart->curves[at].kernel, c->kernel)))
        at++;
    if (at == chart->count)
        chart->curves[chart->count++] = (struct curve){.name = name, .kernel = c->kernel};
    return &chart->curves[at];
}

static void add_point(struct curve *curve, double x, double y, const char *name)
{
    size_t at = curve->count;
    if (curve->count == MOST_POINTS || !(x > 0) || !(y > 0) || !isfinite(x) || !isfinite(y))
        return;
    for (; at && curve->x[at - 1] > x; at--) {
        curve->x[at] = curve->x[at - 1];
        curve->y[at] = curve->y[at - 1];
        curve->cases[at] = curve->cases[at - 1];
    }
    curve->x[at] = x;
    curve->y[at] = y;
    curve->cases[at] = name;
    curve->count++;
}

static int by_points(const void *a, const void *b)
{
    const struct curve *p = a, *q = b;
    return p->count != q->count ? (p->count < q->count) - (p->count > q->count) : strcmp(p->name, q->name);
}

/* Curves of few points go. */
static void prune(struct chart *chart)
{
    size_t kept = 0;
    for (size_t k = 0; k < chart->count; k++)
        if (chart->curves[k].count >= LEAST_POINTS)
            chart->curves[kept++] = chart->curves[k];
    chart->count = kept;
    qsort(chart->curves, kept, sizeof(*chart->curves), by_points);
}

static size_t collect(struct chart *charts, const struct result *result, struct arena *arena)
{
    size_t count = 0;
    const char *kernel = "", *param = NULL;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!is_point(c))
            continue;
        if (strcmp(kernel, c->kernel) != 0) {
            kernel = c->kernel;
            param = swept_param(result, c);
        }
        if (!param)
            continue;
        const char *y = quantity_of(c);
        const bool footprint = (!strcmp(y, "bytes_per_s") || !strcmp(y, "ns_per_item")) &&
                               distinct(result, c->kernel, "footprint") >= LEAST_POINTS;
        const struct chart wanted = {.result = result,
                                     .x = footprint ? "footprint" : param,
                                     .y = y,
                                     .x_unit = footprint ? UNIT_BYTES : UNIT_SIZE,
                                     .y_unit = unit_of(y),
                                     .kernel = footprint ? NULL : c->kernel};
        struct chart *chart = chart_of(charts, &count, &wanted, arena);
        if (chart)
            add_point(curve_of(chart, c, series_name(c, param, arena)), result_quantity(c, wanted.x),
                      result_quantity(c, y), case_name(c));
    }
    for (size_t k = 0; k < count; k++)
        prune(&charts[k]);
    return count;
}

/* ---- drawing ---- */

static struct svg_axis axis_over(const double *low, const double *high, const char *title, const char *unit)
{
    return (struct svg_axis){title, unit, true, *low, *high};
}

static void range_of(const struct chart *chart, bool of_y, double *low, double *high)
{
    *low = INFINITY;
    *high = 0;
    for (size_t k = 0; k < chart->count && k < SVG_SERIES; k++)
        for (size_t p = 0; p < chart->curves[k].count; p++) {
            const double value = of_y ? chart->curves[k].y[p] : chart->curves[k].x[p];
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
    if (of_y) {
        *low /= 1.5;
        *high *= 1.5;
    }
    if (*high / *low < 2) {
        *low /= 2;
        *high *= 2;
    }
}

/* The last footprint inside a level, and its name; 0: there is none. */
static double boundary(const struct chart *chart, size_t k, const char **name)
{
    const struct machine *machine = &chart->result->machine;
    if (!strcmp(chart->y, "ns_per_item") && machine->latency_count) {
        *name = k < machine->latency_count ? machine->latencies[k].level : "";
        return k < machine->latency_count ? machine->latencies[k].upto_bytes : 0;
    }
    *name = k < machine->level_count ? machine->levels[k].name : "";
    return k + 1 < machine->level_count ? machine->levels[k].capacity_bytes : 0;
}

/* Dotted lines where a level ends, its name above what fits into it. */
static void draw_levels(struct svg *svg, const struct chart *chart)
{
    double from = svg->plot.left;
    for (size_t k = 0; k < MACHINE_MAX_LEVELS; k++) {
        const char *name = "";
        const double bytes = boundary(chart, k, &name);
        const double x = bytes > 0 ? fmin(svg_x(svg, fmax(bytes, svg->x.low)), svg->plot.right) : svg->plot.right;
        if (x > svg->plot.left && x < svg->plot.right)
            svg_line(svg, "boundary", x, svg->plot.top, x, svg->plot.bottom);
        if (x - from > svg_text_width(name) + 6 && *name)
            svg_text(svg, "quiet", SVG_MIDDLE, (from + x) / 2, svg->plot.top + 14, name);
        from = fmax(x, svg->plot.left);
        if (bytes <= 0)
            return;
    }
}

static void draw_curve(struct svg *svg, const struct curve *curve, size_t series, const struct chart *chart)
{
    struct arena arena = {0};
    double xy[2 * MOST_POINTS];
    char class[16];
    snprintf(class, sizeof(class), "curve s%zu", series);
    for (size_t p = 0; p < curve->count; p++) {
        xy[2 * p] = svg_x(svg, curve->x[p]);
        xy[2 * p + 1] = svg_y(svg, curve->y[p]);
    }
    svg_polyline(svg, class, xy, curve->count);
    for (size_t p = 0; p < curve->count; p++) {
        const struct cell value = cell_quantity(curve->y[p], chart->y_unit);
        svg_mark(svg, series, xy[2 * p], xy[2 * p + 1],
                 svg->width > 600 ? arena_printf(&arena, "%s: %s", curve->cases[p], cell_words(&value, NULL, &arena))
                                  : NULL);
    }
    arena_release(&arena);
}

static const char *y_title(const struct chart *chart)
{
    return !strcmp(chart->y, "bytes_per_s")   ? "bandwidth"
           : !strcmp(chart->y, "flops_per_s") ? "arithmetic rate"
           : !strcmp(chart->y, "ns_per_item") ? "latency of each access"
                                              : "time";
}

static void draw(struct text *out, const struct picture *picture, double width, const struct svg_head *head)
{
    const struct chart *chart = picture->data;
    const char *names[SVG_SERIES];
    const bool narrow = width < 600, footprint = !strcmp(chart->x, "footprint");
    const double left = 92, height = narrow ? 260 : 340;
    const size_t count = chart->count < SVG_SERIES ? chart->count : SVG_SERIES;
    double low = 0, high = 0;
    struct arena arena = {0};
    struct svg svg;
    for (size_t k = 0; k < count; k++)
        names[k] = arena_printf(&arena, "%.48s", chart->curves[k].name);
    svg_open(&svg, out, width, 34 + height + 56 + svg_legend_height(width - (narrow ? 8 : left), names, count), head);
    svg.plot = (struct svg_box){left, 34, width - 12, 34 + height};
    range_of(chart, false, &low, &high);
    svg.x = axis_over(&low, &high, chart->x, chart->x_unit);
    range_of(chart, true, &low, &high);
    svg.y = axis_over(&low, &high, y_title(chart), chart->y_unit);
    svg_axes(&svg);
    if (footprint)
        draw_levels(&svg, chart);
    for (size_t k = count; k-- > 0;)
        draw_curve(&svg, &chart->curves[k], k, chart);
    svg_legend(&svg, svg.plot.bottom + 52, names, count, true);
    svg_close(&svg);
    arena_release(&arena);
}

/* ---- the sections ---- */

static struct table *data_of(const struct chart *chart, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.title = "case"}, {.title = "", .unit = UNIT_NUMBER}, {.title = "", .unit = UNIT_NUMBER}};
    struct table_column *own = arena_copy(arena, columns, sizeof(columns));
    own[1].title = chart->x;
    own[1].unit = chart->x_unit;
    own[2].title = y_title(chart);
    own[2].unit = chart->y_unit;
    struct table *table = table_new(arena, own, COUNT_OF(columns));
    for (size_t k = 0; k < chart->count; k++)
        for (size_t p = 0; p < chart->curves[k].count; p++)
            table_add(table, (struct cell[]){cell_text(chart->curves[k].cases[p]), cell_number(chart->curves[k].x[p]),
                                             cell_number(chart->curves[k].y[p])});
    table->most_rows = 500;
    table->rest = "the data of the page has all";
    return table;
}

static void add_chart(struct document *document, const struct chart *chart, const char *suffix, size_t k)
{
    struct arena *arena = document->arena;
    const bool footprint = !strcmp(chart->x, "footprint");
    const char *kernel = chart->kernel ? arena_printf(arena, "%s: ", chart->kernel) : "";
    const char *what = !strcmp(chart->y, "bytes_per_s")   ? "Bandwidth"
                       : !strcmp(chart->y, "flops_per_s") ? "Arithmetic rate"
                       : !strcmp(chart->y, "ns_per_item") ? "Latency"
                                                          : "Time";
    const char *more =
        chart->count > SVG_SERIES ? arena_printf(arena, " %d of %zu curves are drawn.", SVG_SERIES, chart->count) : "";
    const struct picture picture = {
        .name = arena_printf(arena, "curve-%zu%s", k + 1, suffix),
        .title = arena_printf(arena, "%s%s over %s", kernel, what, chart->x),
        .desc = arena_printf(arena, "%s over %s, both logarithmic.%s%s", what, chart->x,
                             footprint ? " Dotted lines are the capacities of the memory levels." : "", more),
        .data = arena_copy(arena, chart, sizeof(*chart)),
        .draw = draw};
    document_picture(document, &picture, data_of(chart, arena));
}

void picture_curves(struct document *document, const struct result *result, const char *suffix)
{
    struct chart charts[MOST_PICTURES];
    const size_t count = collect(charts, result, document->arena);
    for (size_t k = 0; k < count; k++)
        if (charts[k].count)
            add_chart(document, &charts[k], suffix, k);
}
