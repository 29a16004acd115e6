/* SPDX-License-Identifier: MIT
 *
 * Time by kernel against its lower bound: how much of each bar no kernel could do without.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

enum { MOST_BARS = 16, ROW_WIDE = 26, ROW_NARROW = 44 };

struct bar {
    const char *name;
    double time_ns, bound_ns; /* of cases with a lower bound */
    double without_ns;        /* of cases without one */
    size_t cases;
};

struct bars {
    struct bar *items;
    size_t count;
    double longest_ns, all_ns;
};

static struct bar *bar_of(struct bars *bars, const char *name)
{
    size_t at = 0;
    while (at < bars->count && strcmp(bars->items[at].name, name) != 0)
        at++;
    if (at == bars->count)
        bars->items[bars->count++] = (struct bar){.name = name};
    return &bars->items[at];
}

static double all_of(const struct bar *bar)
{
    return bar->time_ns + bar->without_ns;
}

static int by_time(const void *a, const void *b)
{
    const struct bar *p = a, *q = b;
    const double x = all_of(p), y = all_of(q);
    return x != y ? (x < y) - (x > y) : strcmp(p->name, q->name);
}

static bool collect(struct bars *bars, const struct result *result, struct arena *arena)
{
    *bars = (struct bars){.items = arena_array(arena, result->case_count + 1, sizeof(*bars->items))};
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        const double weight = c->weight > 0 ? c->weight : 1;
        if (c->status != CASE_OK || !c->sample_count || !(c->stats.median > 0))
            continue;
        struct bar *bar = bar_of(bars, c->kernel);
        bar->cases++;
        if (c->lower_bound.time_ns > 0) {
            bar->time_ns += weight * c->stats.median;
            bar->bound_ns += weight * fmin(c->lower_bound.time_ns, c->stats.median);
        } else {
            bar->without_ns += weight * c->stats.median;
        }
    }
    qsort(bars->items, bars->count, sizeof(*bars->items), by_time);
    for (size_t k = 0; k < bars->count; k++)
        bars->all_ns += all_of(&bars->items[k]);
    bars->longest_ns = bars->count ? all_of(&bars->items[0]) : 0;
    return bars->count > 0;
}

static const char *words_of(const struct bar *bar, struct arena *arena)
{
    const struct cell time = cell_quantity(all_of(bar), UNIT_TIME);
    const struct cell share = cell_quantity(bar->bound_ns / bar->time_ns, UNIT_SHARE);
    return bar->time_ns > 0
               ? arena_printf(arena, "%s, %s", cell_words(&time, NULL, arena), cell_words(&share, NULL, arena))
               : arena_printf(arena, "%s", cell_words(&time, NULL, arena));
}

static void draw_bar(struct svg *svg, const struct bars *bars, size_t k, double left, double top, struct arena *arena)
{
    const struct bar *bar = &bars->items[k];
    const double scale = (svg->width - left - 116) / bars->longest_ns;
    const double bound = left + bar->bound_ns * scale, known = left + bar->time_ns * scale;
    const double end = left + all_of(bar) * scale;
    const char *words = words_of(bar, arena);
    const char *said = arena_printf(arena, "%s: %s of its time is the lower bound", bar->name, words);
    if (bar->time_ns > 0) {
        svg_rect(svg, "above", &(struct svg_box){bound, top, known, top + 16}, said);
        svg_rect(svg, "bound", &(struct svg_box){left, top, fmax(bound, left + 0.5), top + 16}, NULL);
    }
    if (bar->without_ns > 0)
        svg_rect(svg, "unbound", &(struct svg_box){known, top, fmax(end, known + 1), top + 16}, said);
    svg_text(svg, "label", SVG_START, fmax(end, left + 1) + 8, top + 12, words);
}

static double draw_key(struct svg *svg, double left, double top)
{
    static const struct {
        const char *class, *words;
    } keys[] = {{"bound", "lower bound"}, {"above", "above it"}, {"unbound", "no lower bound known"}};
    double x = left;
    for (size_t k = 0; k < COUNT_OF(keys); k++) {
        svg_rect(svg, keys[k].class, &(struct svg_box){x, top, x + 14, top + 12}, NULL);
        svg_text(svg, "tick", SVG_START, x + 20, top + 10, keys[k].words);
        x += svg_text_width(keys[k].words) + 40;
    }
    return top + 28;
}

static void draw(struct text *out, const struct picture *picture, double width, const struct svg_head *head)
{
    const struct bars *bars = picture->data;
    struct arena arena = {0};
    struct svg svg;
    const bool narrow = width < 600;
    const size_t count = bars->count < MOST_BARS ? bars->count : MOST_BARS;
    const double row = narrow ? ROW_NARROW : ROW_WIDE;
    double widest = 0;
    for (size_t k = 0; k < count; k++)
        widest = fmax(widest, svg_text_width(bars->items[k].name));
    const double left = narrow ? 8 : fmin(widest + 20, 260);
    svg_open(&svg, out, width, 34 + row * (double)count + (bars->count > count ? 20 : 0), head);
    double top = draw_key(&svg, narrow ? 8 : left, 4);
    for (size_t k = 0; k < count; k++, top += row) {
        const char *name = arena_printf(&arena, "%.44s", bars->items[k].name);
        if (narrow)
            svg_text(&svg, "label", SVG_START, left, top + 12, name);
        else
            svg_text(&svg, "label", SVG_END, left - 10, top + 13, name);
        draw_bar(&svg, bars, k, left, narrow ? top + 18 : top, &arena);
    }
    if (bars->count > count)
        svg_text(&svg, "tick", SVG_START, left, top + 12,
                 arena_printf(&arena, "and %zu kernels that take less", bars->count - count));
    svg_close(&svg);
    arena_release(&arena);
}

static struct table *data_of(const struct bars *bars, struct arena *arena)
{
    static const struct table_column columns[] = {{.title = "kernel"},
                                                  {.title = "cases", .unit = UNIT_COUNT},
                                                  {.title = "time", .unit = UNIT_TIME},
                                                  {.title = "of all", .unit = UNIT_SHARE, .flags = COLUMN_BAR},
                                                  {.title = "lower bound", .unit = UNIT_TIME},
                                                  {.title = "% of ceiling", .unit = UNIT_SHARE, .flags = COLUMN_BAR}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < bars->count; k++) {
        const struct bar *bar = &bars->items[k];
        table_add(table,
                  (struct cell[]){cell_text(bar->name), cell_number((double)bar->cases), cell_number(all_of(bar)),
                                  cell_number(all_of(bar) / bars->all_ns), cell_positive(bar->bound_ns),
                                  cell_number(bar->time_ns > 0 ? bar->bound_ns / bar->time_ns : NAN)});
    }
    return table;
}

void picture_kernels(struct document *document, const struct result *result, const char *suffix)
{
    struct bars *bars = arena_alloc(document->arena, sizeof(*bars));
    if (!collect(bars, result, document->arena))
        return;
    const struct picture picture = {
        .name = arena_printf(document->arena, "kernels%s", suffix),
        .title = "Time by kernel against its lower bound",
        .desc = "The time of all cases of a kernel, each as often as it is weighted, and the share of it that the "
                "ceilings of the device demand.",
        .data = bars,
        .draw = draw};
    document_picture(document, &picture, data_of(bars, document->arena));
}
