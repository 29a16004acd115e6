/* SPDX-License-Identifier: MIT
 *
 * Time by kernel against its lower bound: the part of each bar that no kernel can avoid.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

enum { MOST_BARS = 16 };

/* ---- cases by kernel ---- */

double weight_of(const struct result_case *c)
{
    return c->weight > 0 ? c->weight : 1;
}

struct kernel_sums kernel_sums_new(struct arena *arena, size_t most)
{
    return (struct kernel_sums){.items = arena_array(arena, most + 1, sizeof(struct kernel_sum))};
}

struct kernel_sum *kernel_sum_of(struct kernel_sums *sums, const char *name)
{
    struct kernel_sum *known = FIND_ROW(sums->items, sums->count, name, name);
    if (known)
        return known;
    sums->items[sums->count] = (struct kernel_sum){.name = name};
    return &sums->items[sums->count++];
}

static int by_time(const void *a, const void *b)
{
    const struct kernel_sum *p = a, *q = b;
    return ORDER(q->time_ns, p->time_ns) ?: strcmp(p->name, q->name);
}

void kernel_sums_sort(struct kernel_sums *sums)
{
    qsort(sums->items, sums->count, sizeof(*sums->items), by_time);
}

/* ---- bars ---- */

static void add_part(struct chart *chart, size_t series, size_t row, const double from_to[2], const char *said)
{
    struct chart_point *point = chart_point(chart, &chart->series[series], from_to[1], (double)row);
    point->low = from_to[0];
    point->high = from_to[1];
    point->said = said;
}

static void add_bar(struct chart *chart, const struct kernel_sum *bar, size_t row)
{
    struct arena *arena = chart->arena;
    const char *words = quantity_words(bar->time_ns, UNIT_TIME, arena);
    if (bar->bounded_ns > 0)
        words = arena_printf(arena, "%s, %s", words, percent_words(bar->bound_ns / bar->bounded_ns, arena));
    const char *said =
        arena_printf(arena, bar->bounded_ns > 0 ? "%s\n%s of its time is left at the roof" : "%s\n%s, no roof known",
                     said_name(bar->name, arena), words);
    if (bar->bounded_ns > 0) {
        add_part(chart, 0, row, (double[]){0, bar->bound_ns}, said);
        add_part(chart, 1, row, (double[]){bar->bound_ns, bar->bounded_ns}, said);
    }
    if (bar->time_ns > bar->bounded_ns)
        add_part(chart, 2, row, (double[]){bar->bounded_ns, bar->time_ns}, said);
    struct chart_series *last = &chart->series[bar->time_ns > bar->bounded_ns ? 2 : 1];
    last->points[last->count - 1].words = words;
}

void picture_sums(struct document *document, struct kernel_sums *bars, const char *name, const char *title,
                  const char *desc)
{
    struct arena *arena = document->arena;
    kernel_sums_sort(bars);
    if (!COUNT_WHERE(item, bars->items, bars->count, item->bounded_ns > 0))
        return;
    const size_t shown = bars->count < MOST_BARS ? bars->count : MOST_BARS;
    const char **names = arena_array(arena, shown, sizeof(*names));
    const char *more = bars->count > shown ? arena_printf(arena, " %zu more take less.", bars->count - shown) : "";
    struct chart *chart = chart_new(arena, name, title, arena_printf(arena, "%s%s", desc, more));
    chart_add(chart, CHART_BAR, bars->part ? bars->part : "at the roof", 0);
    chart_add(chart, CHART_BAR, "above it", LOOK_PALE);
    chart_add(chart, CHART_BAR, bars->unknown ? bars->unknown : "no roof known", LOOK_HOLLOW);
    for (size_t k = 0; k < shown; k++) {
        names[k] = bars->items[k].name;
        add_bar(chart, &bars->items[k], k);
    }
    chart->x = (struct chart_axis){
        .title = "time", .unit = UNIT_TIME, .scale = CHART_LINEAR, .low = 0, .high = bars->items[0].time_ns};
    chart->y = (struct chart_axis){.title = "", .scale = CHART_NAMES, .names = names, .name_count = shown};
    document_chart(document, chart, NULL);
}

void picture_kernels(struct document *document, const struct result *result, const char *suffix)
{
    struct kernel_sums bars = kernel_sums_new(document->arena, result->case_count);
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (!is_mark(c))
            continue;
        struct kernel_sum *bar = kernel_sum_of(&bars, c->kernel);
        bar->cases++;
        bar->time_ns += weight_of(c) * result_case_time(c);
        const double time_ns = result_case_time(c), lower_ns = c->lower_bound.time_ns;
        const double least_ns = fmin(c->fraction > 0 ? c->fraction * time_ns : lower_ns, time_ns);
        if (least_ns > 0 && !result_is_latency(c)) { /* latency is not a rate */
            bar->bounded_ns += weight_of(c) * time_ns;
            bar->bound_ns += weight_of(c) * least_ns;
        }
    }
    picture_sums(
        document, &bars, arena_printf(document->arena, "kernels%s", suffix), "Time by kernel against its roof",
        "The time of all cases of a kernel, each as often as it is weighted, and the part of it that they would "
        "take at their roofs.");
}
