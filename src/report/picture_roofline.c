/* SPDX-License-Identifier: MIT
 *
 * The roofline: measured ceilings as lines, vendor peaks dashed, cases as marks. Log-log, so that bandwidths are slopes
 * of one angle.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

enum { MOST_MARKS = 400, SAID_MARKS = 120 };

struct kernel {
    const char *name;
    double time_ns; /* of all its cases */
    const struct result_case *best;
    size_t cases;
};

struct roofline {
    const struct result *result;
    bool by_unit; /* marks are told apart by arithmetic unit: there is one kernel */
    const struct result_case **cases;
    size_t count;
    struct kernel *kernels; /* the one that takes the longest first */
    size_t kernel_count;
    double x_low, x_high, y_low, y_high;
};

/* ---- what is drawn ---- */

static bool is_drawn(const struct result_case *c)
{
    return c->status == CASE_OK && c->sample_count && c->work.flops > 0 && isfinite(c->lower_bound.intensity) &&
           c->lower_bound.intensity > 0 && isfinite(c->flops_per_s) && c->flops_per_s > 0;
}

static struct kernel *kernel_of(struct roofline *r, const char *name)
{
    size_t at = 0;
    while (at < r->kernel_count && strcmp(r->kernels[at].name, name) != 0)
        at++;
    if (at == r->kernel_count)
        r->kernels[r->kernel_count++] = (struct kernel){.name = name};
    return &r->kernels[at];
}

static int by_time(const void *a, const void *b)
{
    const struct kernel *p = a, *q = b;
    return p->time_ns != q->time_ns ? (p->time_ns < q->time_ns) - (p->time_ns > q->time_ns) : strcmp(p->name, q->name);
}

static size_t series_of(const struct roofline *r, const struct result_case *c)
{
    size_t at = 0;
    while (at < r->kernel_count && strcmp(r->kernels[at].name, r->by_unit ? c->work.unit : c->kernel) != 0)
        at++;
    return at < SVG_SERIES ? at : SVG_SERIES - 1;
}

/* A matrix unit's peak says nothing about a vector kernel: only those that cases use. */
static bool is_used(const struct roofline *r, const struct machine_unit *unit)
{
    for (size_t k = 0; k < r->count; k++)
        if (!strcmp(r->cases[k]->work.unit, unit->name))
            return true;
    return false;
}

static double highest_peak(const struct roofline *r)
{
    double highest = 0;
    for (uint32_t k = 0; k < r->result->machine.unit_count; k++) {
        const struct machine_unit *unit = &r->result->machine.units[k];
        highest = is_used(r, unit) ? fmax(highest, fmax(ceiling_value(&unit->peak), unit->peak.vendor)) : highest;
    }
    return highest;
}

/* At most six decades of either, from where cases are; the ridge of the slowest level belongs in the picture. */
static void choose_range(struct roofline *r)
{
    const struct machine *machine = &r->result->machine;
    const double memory = ceiling_value(&machine->levels[machine->level_count - 1].bandwidth);
    r->y_high = highest_peak(r);
    r->x_low = r->y_low = INFINITY;
    for (size_t k = 0; k < r->count; k++) {
        const double x = r->cases[k]->lower_bound.intensity, y = r->cases[k]->flops_per_s;
        r->x_low = fmin(r->x_low, x);
        r->x_high = fmax(r->x_high, x);
        r->y_low = fmin(r->y_low, y);
        r->y_high = fmax(r->y_high, y);
    }
    if (memory > 0)
        r->x_high = fmax(r->x_high, 2 * r->y_high / memory);
    r->x_high = fmin(r->x_high, r->x_low * 1e6) * 2;
    r->x_low /= 2;
    r->y_low = fmax(r->y_low, r->y_high * 1e-6) / 2;
    r->y_high *= 2;
}

static bool collect(struct roofline *r, const struct result *result, struct arena *arena)
{
    const char *first = NULL;
    *r = (struct roofline){.result = result, .by_unit = true};
    for (size_t k = 0; k < result->case_count; k++)
        if (is_drawn(&result->cases[k])) {
            first = first ? first : result->cases[k].kernel;
            r->by_unit &= !strcmp(first, result->cases[k].kernel);
        }
    r->cases = arena_array(arena, result->case_count + 1, sizeof(*r->cases));
    r->kernels = arena_array(arena, result->case_count + 1, sizeof(*r->kernels));
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!is_drawn(c))
            continue;
        struct kernel *kernel = kernel_of(r, r->by_unit ? c->work.unit : c->kernel);
        r->cases[r->count++] = c;
        kernel->cases++;
        kernel->time_ns += c->stats.median * (c->weight > 0 ? c->weight : 1);
        if (!kernel->best || c->flops_per_s > kernel->best->flops_per_s)
            kernel->best = c;
    }
    if (!r->count || !result->machine.level_count)
        return false;
    qsort(r->kernels, r->kernel_count, sizeof(*r->kernels), by_time);
    choose_range(r);
    return true;
}

/* ---- ceilings ---- */

static const char *words(double value, const char *unit, struct arena *arena)
{
    const struct cell cell = cell_quantity(value, unit);
    return cell_words(&cell, NULL, arena);
}

/* A bandwidth's line, as far as the axes and the highest peak let it. */
static void slope(struct svg *svg, const struct roofline *r, const char *class, double bandwidth, double highest)
{
    const double from = fmax(svg->x.low, svg->y.low / bandwidth), to = fmin(svg->x.high, highest / bandwidth);
    if (bandwidth > 0 && to > from)
        svg_line(svg, class, svg_x(svg, from), svg_y(svg, from * bandwidth), svg_x(svg, to),
                 svg_y(svg, to * bandwidth));
    (void)r;
}

/* Along its line, a little above it; further up where the one before it stands close. */
static void slope_name(struct svg *svg, double bandwidth, const char *name, double *last_y, double *last_along)
{
    const double dx = svg_x(svg, svg->x.low * 10) - svg_x(svg, svg->x.low);
    const double dy = svg_y(svg, svg->y.low * 10) - svg_y(svg, svg->y.low), turn = atan2(dy, dx);
    const double from = fmax(svg->x.low, svg->y.low / bandwidth);
    const double at_left = svg_y(svg, svg->x.low * bandwidth); /* may lie below the plot */
    const bool close = fabs(at_left - *last_y) * cos(turn) < 15;
    const double along = close ? *last_along + svg_text_width(name) + 16 : 12;
    const double x = svg_x(svg, from) + along * cos(turn) + 5 * sin(turn);
    const double y = svg_y(svg, from * bandwidth) + along * sin(turn) - 5 * cos(turn);
    const double end_y = y + svg_text_width(name) * sin(turn);
    if (end_y > svg->plot.top && x + svg_text_width(name) * cos(turn) < svg->plot.right)
        svg_turned(svg, "quiet", x, y, turn * 180 / M_PI, name);
    *last_y = at_left;
    *last_along = along;
}

static void draw_levels(struct svg *svg, const struct roofline *r, struct arena *arena)
{
    const struct machine *machine = &r->result->machine;
    const double peak = highest_peak(r), highest = peak > 0 ? peak : svg->y.high;
    double last_y = -1e9, last_along = 0;
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const struct ceiling *ceiling = &machine->levels[k].bandwidth;
        const double value = ceiling_value(ceiling);
        if (value <= 0)
            continue;
        slope(svg, r, ceiling->measured > 0 ? "ceiling" : "vendor", value, highest);
        slope_name(svg, value,
                   arena_printf(arena, "%s %s", machine->levels[k].name, words(value, UNIT_BYTE_RATE, arena)), &last_y,
                   &last_along);
    }
}

static void flat(struct svg *svg, const struct roofline *r, const char *class, double peak, const char *name)
{
    const struct machine *machine = &r->result->machine;
    double fastest = 0;
    for (uint32_t k = 0; k < machine->level_count; k++)
        fastest = fmax(fastest, ceiling_value(&machine->levels[k].bandwidth));
    const double from = fastest > 0 ? fmax(svg->x.low, fmin(peak / fastest, svg->x.high)) : svg->x.low;
    const double y = svg_y(svg, peak), right = svg->plot.right - 4, width = svg_text_width(name) + 14;
    if (peak <= svg->y.low || peak >= svg->y.high)
        return;
    svg_line(svg, class, svg_x(svg, from), y, svg->plot.right, y);
    svg_take(svg, &(struct svg_box){svg_x(svg, from), y - 1, svg->plot.right, y + 1});
    const struct svg_place places[] = {{right, y - 5, SVG_END},         {right, y + 13, SVG_END},
                                       {right - width, y - 5, SVG_END}, {right - width, y + 13, SVG_END},
                                       {right, y - 18, SVG_END},        {right, y + 26, SVG_END}};
    if (name && *name)
        svg_label(svg, "quiet", name, places, COUNT_OF(places));
}

/* Units of one rate share a line and its name. */
static void draw_units(struct svg *svg, const struct roofline *r, bool vendor, struct arena *arena)
{
    const struct machine *machine = &r->result->machine;
    for (uint32_t k = 0; k < machine->unit_count; k++) {
        const struct machine_unit *unit = &machine->units[k];
        const double value = vendor ? unit->peak.vendor : unit->peak.measured;
        const char *names = unit->name;
        bool said = !is_used(r, unit) || value <= 0;
        for (uint32_t j = 0; j < machine->unit_count; j++) {
            const struct machine_unit *other = &machine->units[j];
            const double also = vendor ? other->peak.vendor : other->peak.measured;
            if (j == k || !is_used(r, other) || fabs(also / value - 1) > 0.01)
                continue;
            said |= j < k;
            names = arena_printf(arena, "%s, %s", names, other->name);
        }
        if (!said)
            flat(svg, r, vendor ? "vendor" : "ceiling", value,
                 arena_printf(arena, "%s %s%s", names, words(value, machine_unit_rate(unit->name), arena),
                              vendor ? ", vendor" : ""));
    }
}

/* ---- cases ---- */

static const char *said_of(const struct result_case *c, struct arena *arena)
{
    return arena_printf(arena, "%s: %s at %s FLOP/B, %s of %s", case_name(c),
                        words(c->flops_per_s, machine_unit_rate(c->work.unit), arena),
                        words(c->lower_bound.intensity, UNIT_INTENSITY, arena), figure_words("% of ceiling", c, arena),
                        c->lower_bound.ceiling_name);
}

static void draw_cases(struct svg *svg, const struct roofline *r, struct arena *arena)
{
    for (size_t k = 0; k < r->count && k < MOST_MARKS; k++) {
        const struct result_case *c = r->cases[k];
        const double x = fmin(c->lower_bound.intensity, svg->x.high);
        if (c->flops_per_s >= svg->y.low)
            svg_mark(svg, series_of(r, c), svg_x(svg, x), svg_y(svg, c->flops_per_s),
                     r->count <= SAID_MARKS ? said_of(c, arena) : NULL);
    }
}

static size_t legend_names(const char **names, const struct roofline *r, struct arena *arena)
{
    size_t count = 0;
    for (size_t k = 0; k < r->kernel_count && k < SVG_SERIES; k++) {
        const struct result_case *best = r->kernels[k].best;
        const char *share = figure_words("% of ceiling", best, arena);
        names[count++] = k + 1 == SVG_SERIES && r->kernel_count > SVG_SERIES
                             ? arena_printf(arena, "%zu others", r->kernel_count - SVG_SERIES + 1)
                         : strcmp(share, "-") ? arena_printf(arena, "%.40s, best %s", r->kernels[k].name, share)
                                              : arena_printf(arena, "%.40s", r->kernels[k].name);
    }
    return count;
}

static void draw(struct text *out, const struct picture *picture, double width, const struct svg_head *head)
{
    const struct roofline *r = picture->data;
    struct arena arena = {0};
    struct svg svg;
    const char *names[SVG_SERIES];
    const size_t count = legend_names(names, r, &arena);
    const bool narrow = width < 600;
    const double left = 92, plot_height = narrow ? 300 : 400;
    const double legend = svg_legend_height(width - (narrow ? 8 : left), names, count);
    svg_open(&svg, out, width, 34 + plot_height + 56 + legend, head);
    svg.plot = (struct svg_box){left, 34, width - 12, 34 + plot_height};
    svg.x = (struct svg_axis){"arithmetic intensity in FLOP/B", UNIT_INTENSITY, true, r->x_low, r->x_high};
    svg.y = (struct svg_axis){"arithmetic rate", UNIT_FLOP_RATE, true, r->y_low, r->y_high};
    svg_axes(&svg);
    draw_levels(&svg, r, &arena);
    draw_units(&svg, r, false, &arena);
    draw_units(&svg, r, true, &arena);
    draw_cases(&svg, r, &arena);
    svg_legend(&svg, svg.plot.bottom + 52, names, count, false);
    svg_close(&svg);
    arena_release(&arena);
}

/* ---- the section ---- */

static struct table *data_of(const struct roofline *r, struct arena *arena)
{
    static const struct table_column columns[] = {{.title = ""},
                                                  {.title = "cases", .unit = UNIT_COUNT},
                                                  {.title = "best", .unit = UNIT_FLOP_RATE},
                                                  {.title = "FLOP/B", .unit = UNIT_INTENSITY},
                                                  {.title = "% of ceiling", .unit = UNIT_SHARE, .flags = COLUMN_BAR},
                                                  {.title = "ceiling"}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < r->kernel_count; k++) {
        const struct result_case *c = r->kernels[k].best;
        table_add(table, (struct cell[]){cell_text(r->kernels[k].name), cell_number((double)r->kernels[k].cases),
                                         cell_quantity(c->flops_per_s, machine_unit_rate(c->work.unit)),
                                         cell_number(c->lower_bound.intensity), cell_positive(c->fraction),
                                         cell_known(c->lower_bound.ceiling_name)});
    }
    return table;
}

void picture_roofline(struct document *document, const struct result *result, const char *suffix)
{
    struct arena *arena = document->arena;
    struct roofline *r = arena_alloc(arena, sizeof(*r));
    if (!collect(r, result, arena))
        return;
    const char *shown = r->count > MOST_MARKS ? arena_printf(arena, "the first %d", MOST_MARKS) : "all";
    const struct picture picture = {
        .name = arena_printf(arena, "roofline%s", suffix),
        .title = "Roofline",
        .desc =
            arena_printf(arena,
                         "Arithmetic rate over arithmetic intensity, %s %zu cases with arithmetic. %s; dashed lines "
                         "are vendor peaks. %s are in the order of the time they take.",
                         shown, r->count,
                         result->machine.measured ? "Solid lines are ceilings measured on this device"
                                                  : "No ceiling of this device was measured",
                         r->by_unit ? "Arithmetic units" : "Kernels"),
        .data = r,
        .draw = draw};
    document_picture(document, &picture, data_of(r, arena));
}
