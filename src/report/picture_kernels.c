/* SPDX-License-Identifier: MIT
 *
 * Time by kernel against its lower bound: how much of each bar no kernel could do without.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

enum { MOST_BARS = 16 };

struct bar {
    const char *name;
    double time_ns, bound_ns; /* of cases with a lower bound */
    double without_ns;        /* of cases without one */
    size_t cases;
};

struct bars {
    struct bar *items;
    size_t count;
    double all_ns;
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
        if (!is_mark(c))
            continue;
        struct bar *bar = bar_of(bars, c->kernel);
        bar->cases++;
        if (c->lower_bound.time_ns > 0 && strcmp(c->class, "latency") != 0) { /* waiting is no rate */
            bar->time_ns += weight * c->stats.median;
            bar->bound_ns += weight * fmin(c->lower_bound.time_ns, c->stats.median);
        } else {
            bar->without_ns += weight * c->stats.median;
        }
    }
    qsort(bars->items, bars->count, sizeof(*bars->items), by_time);
    for (size_t k = 0; k < bars->count; k++)
        bars->all_ns += all_of(&bars->items[k]);
    return bars->count > 0;
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

static void add_part(struct chart *chart, size_t series, size_t row, const double from_to[2], const char *said)
{
    struct chart_point *point = chart_point(chart, &chart->series[series], from_to[1], (double)row);
    point->low = from_to[0];
    point->high = from_to[1];
    point->said = said;
}

static void add_bar(struct chart *chart, const struct bar *bar, size_t row)
{
    struct arena *arena = chart->arena;
    const struct cell time = cell_quantity(all_of(bar), UNIT_TIME),
                      share = cell_quantity(bar->bound_ns / bar->time_ns, UNIT_SHARE);
    const char *words = cell_words(&time, NULL, arena);
    if (bar->time_ns > 0)
        words = arena_printf(arena, "%s, %s", words, cell_words(&share, NULL, arena));
    const char *said = arena_printf(
        arena, bar->time_ns > 0 ? "%.80s\n%s of its time is the lower bound" : "%.80s\n%s, no lower bound known",
        bar->name, words);
    if (bar->time_ns > 0) {
        add_part(chart, 0, row, (double[]){0, bar->bound_ns}, said);
        add_part(chart, 1, row, (double[]){bar->bound_ns, bar->time_ns}, said);
    }
    if (bar->without_ns > 0)
        add_part(chart, 2, row, (double[]){bar->time_ns, all_of(bar)}, said);
    struct chart_series *last = &chart->series[bar->without_ns > 0 ? 2 : 1];
    last->points[last->count - 1].words = words;
}

void picture_kernels(struct document *document, const struct result *result, const char *suffix)
{
    struct arena *arena = document->arena;
    struct bars bars;
    if (!collect(&bars, result, arena))
        return;
    const size_t shown = bars.count < MOST_BARS ? bars.count : MOST_BARS;
    const char **names = arena_array(arena, shown, sizeof(*names));
    const char *more = bars.count > shown ? arena_printf(arena, " %zu more take less.", bars.count - shown) : "";
    struct chart *chart = chart_new(
        arena, arena_printf(arena, "kernels%s", suffix), "Time by kernel against its lower bound",
        arena_printf(arena,
                     "The time of all cases of a kernel, each as often as it is weighted, and the share of it that the "
                     "ceilings of the device demand.%s",
                     more));
    chart_add(chart, CHART_BAR, "lower bound", 0);
    chart_add(chart, CHART_BAR, "above it", LOOK_PALE);
    chart_add(chart, CHART_BAR, "no lower bound known", LOOK_HOLLOW);
    for (size_t k = 0; k < shown; k++) {
        names[k] = bars.items[k].name;
        add_bar(chart, &bars.items[k], k);
    }
    chart->x = (struct chart_axis){
        .title = "", .unit = UNIT_TIME, .scale = CHART_LINEAR, .low = 0, .high = all_of(&bars.items[0])};
    chart->y = (struct chart_axis){.title = "", .scale = CHART_NAMES, .names = names, .name_count = shown};
    document_chart(document, chart, data_of(&bars, arena));
}
