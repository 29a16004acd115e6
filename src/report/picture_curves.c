/* SPDX-License-Identifier: MIT
 *
 * Sweeps as curves: rate or latency over the footprint, with the capacities of the memory levels, and over every other
 * parameter with many values.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

enum { LEAST_POINTS = 5, LEAST_SPAN = 2, MOST_POINTS = 64, MOST_PICTURES = 6 };

struct curve {
    const char *name; /* kernel, and the parameters that its cases share besides the swept one */
    const char *kernel;
    size_t count;
    double x[MOST_POINTS], y[MOST_POINTS];
    const struct result_case *cases[MOST_POINTS];
};

/* Curves over one quantity. */
struct curves {
    const struct result *result;
    const char *x, *y; /* quantities of result.h; x may be a parameter */
    const char *x_unit;
    const char *kernel; /* if x is a parameter, its kernel; otherwise NULL: all kernels */
    struct curve *curves;
    size_t count;
};

/* ---- selecting ---- */

static size_t distinct(const struct result *result, const char *kernel, const char *quantity)
{
    double seen[LEAST_POINTS];
    size_t count = 0;
    for (size_t k = 0; k < result->case_count && count < LEAST_POINTS; k++) {
        const struct result_case *c = &result->cases[k];
        if (!is_mark(c) || strcmp(c->kernel, kernel) != 0)
            continue;
        const double value = result_quantity(c, quantity);
        if (value > 0 && !COUNT_WHERE(one, seen, count, *one == value))
            seen[count++] = value;
    }
    return count;
}

/* Returns the first numeric parameter of a kernel, in the manifest's order, with enough values; NULL: none. */
static const char *swept_param(const struct result *result, const struct result_case *c)
{
    for (size_t p = 0; p < c->param_count; p++)
        if (c->params[p].value.kind == PARAM_NUMBER && distinct(result, c->kernel, c->params[p].name) >= LEAST_POINTS)
            return c->params[p].name;
    return NULL;
}

/* The rate that measures the kernel's purpose. */
static const char *quantity_of(const struct result_case *c)
{
    return !strcmp(c->class, "latency") && c->work.items > 0       ? "ns_per_item"
           : !strcmp(c->class, "compute") && c->flops_per_s > 0    ? "flops_per_s"
           : c->bytes_per_s > 0 && strcmp(c->class, "launch") != 0 ? "bytes_per_s"
                                                                   : "time_ns";
}

static bool is_other_param(const char *word, size_t length, const void *param)
{
    const size_t name = strlen(param);
    return !(length > name && !strncmp(word, param, name) && word[name] == '=');
}

/* ---- collecting ---- */

static struct curves *sweep_of(struct curves *sweeps, size_t *count, const struct curves *wanted, struct arena *arena)
{
    for (size_t k = 0; k < *count; k++) {
        const bool same_kernel = (!wanted->kernel && !sweeps[k].kernel) ||
                                 (wanted->kernel && sweeps[k].kernel && !strcmp(wanted->kernel, sweeps[k].kernel));
        if (same_kernel && !strcmp(sweeps[k].x, wanted->x) && !strcmp(sweeps[k].y, wanted->y))
            return &sweeps[k];
    }
    if (*count == MOST_PICTURES)
        return NULL;
    sweeps[*count] = *wanted;
    sweeps[*count].curves = arena_array(arena, wanted->result->case_count + 1, sizeof(struct curve));
    return &sweeps[(*count)++];
}

static void add_point(struct curve *curve, double x, double y, const struct result_case *c)
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
    curve->cases[at] = c;
    curve->count++;
}

/* Most points first; equal counts in the order of the cases, which is that of the sweep. */
static int by_points(const void *a, const void *b)
{
    const struct curve *p = a, *q = b;
    return ORDER(q->count, p->count) ?: ORDER(p->cases[0], q->cases[0]);
}

/* Collects the curves; drops those with few points, and those that barely span x: their sweep varied something else. */
static size_t collect(struct curves *sweeps, const struct result *result, struct arena *arena)
{
    size_t count = 0;
    const char *kernel = "", *param = NULL;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (!is_mark(c))
            continue;
        if (strcmp(kernel, c->kernel) != 0) {
            kernel = c->kernel;
            param = swept_param(result, c);
        }
        if (!param)
            continue;
        const char *y = quantity_of(c);
        const bool rate = !strcmp(y, "bytes_per_s");
        /* Copies and collectives are plotted over the message size, whatever memory they take. A latency is plotted
         * over the footprint only if the footprint is swept: instruction chains, waves at a barrier and pages have a
         * footprint that follows from another parameter. */
        const bool size = rate && !strcmp(param, "size");
        const bool footprint =
            !size && (!strcmp(y, "ns_per_item") ? !strcmp(param, "footprint")
                                                : rate && distinct(result, c->kernel, "footprint") >= LEAST_POINTS);
        const struct curves wanted = {.result = result,
                                      .x = footprint ? "footprint" : param,
                                      .y = y,
                                      .x_unit = footprint || size ? UNIT_BYTES : UNIT_SIZE,
                                      .kernel = footprint || size ? NULL : c->kernel};
        struct curves *sweep = sweep_of(sweeps, &count, &wanted, arena);
        const char *name = label_words(case_name(c), is_other_param, param, arena);
        size_t at = 0;
        while (sweep && at < sweep->count &&
               (strcmp(sweep->curves[at].name, name) != 0 || strcmp(sweep->curves[at].kernel, c->kernel)))
            at++;
        if (sweep && at == sweep->count)
            sweep->curves[sweep->count++] = (struct curve){.name = name, .kernel = c->kernel};
        if (sweep)
            add_point(&sweep->curves[at], result_quantity(c, wanted.x), result_quantity(c, y), c);
    }
    /* Drop curves with few points, and those that barely span x: their sweep varied something else. */
    FOR_EACH(struct curves, sweep, sweeps, count) {
        size_t kept = 0;
        FOR_EACH(const struct curve, curve, sweep->curves, sweep->count)
            if (curve->count >= LEAST_POINTS && curve->x[curve->count - 1] >= (double)LEAST_SPAN * curve->x[0])
                sweep->curves[kept++] = *curve;
        sweep->count = kept;
        qsort(sweep->curves, kept, sizeof(*sweep->curves), by_points);
    }
    return count;
}

/* ---- charts ---- */

/* Returns the largest footprint that fits the k-th level, and the level's name; 0 if there is none. */
static double boundary(const struct curves *sweep, size_t k, const char **name)
{
    const struct machine *machine = &sweep->result->machine;
    const bool latency = !strcmp(sweep->y, "ns_per_item");
    if (latency && machine->latency_count) {
        *name = k < machine->latency_count ? machine->latencies[k].level : "";
        return k < machine->latency_count ? machine->latencies[k].upto_bytes : 0;
    }
    if (k + 1 >= machine->level_count)
        return 0;
    *name = machine->levels[k].name;
    return latency ? machine_level_own_bytes(machine, &machine->levels[k]) : machine->levels[k].capacity_bytes;
}

static const struct words {
    const char *quantity, *unit, *title, *axis;
} words[] = {{"bytes_per_s", UNIT_BYTE_RATE, "Bandwidth", "bandwidth"},
             {"flops_per_s", UNIT_FLOP_RATE, "Arithmetic rate", "arithmetic rate"},
             {"ns_per_item", UNIT_TIME, "Latency", "latency"},
             {"time_ns", UNIT_TIME, "Time", "time"}};

static void add_chart(struct document *document, const struct curves *sweep, const char *suffix, size_t k)
{
    struct arena *arena = document->arena;
    const bool footprint = !strcmp(sweep->x, "footprint");
    const struct words *what = words;
    while (strcmp(what->quantity, sweep->y) != 0)
        what++;
    const char *kernel = sweep->kernel ? arena_printf(arena, "%s: ", sweep->kernel) : "";
    const char *more = sweep->count > CHART_SERIES
                           ? arena_printf(arena, " %d of %zu curves are drawn.", CHART_SERIES, sweep->count)
                           : "";
    struct chart *chart =
        chart_new(arena, arena_printf(arena, "curve-%zu%s", k + 1, suffix),
                  arena_printf(arena, "%s%s over %s", kernel, what->title, sweep->x),
                  arena_printf(arena, "%s over %s, both logarithmic.%s", what->title, sweep->x, more));
    const char **names = arena_array(arena, CHART_SERIES, sizeof(*names));
    const size_t count = sweep->count < CHART_SERIES ? sweep->count : CHART_SERIES;
    for (size_t c = 0; c < count; c++)
        names[c] = sweep->curves[c].name;
    const char *const *apart = names_apart(names, count, arena);
    for (size_t c = 0; c < count; c++) {
        const struct curve *curve = &sweep->curves[c];
        struct chart_series *series = chart_add(chart, CHART_CURVE, apart[c], c);
        for (size_t p = 0; p < curve->count; p++)
            chart_case(chart, series, curve->x[p], curve->y[p], curve->cases[p])->cost = 0;
    }
    chart->x = (struct chart_axis){.title = sweep->x, .unit = sweep->x_unit};
    chart->y = (struct chart_axis){.title = what->axis, .unit = what->unit};
    chart_fit(chart, false, 4);
    chart_fit(chart, true, 4);
    const size_t before = chart->count;
    for (size_t level = 0; footprint && level < MACHINE_MAX_LEVELS; level++) {
        const char *name = "";
        const double bytes = boundary(sweep, level, &name);
        if (bytes > chart->x.low && bytes < chart->x.high)
            chart_line(chart, CHART_BOUNDARY, name, (double[]){bytes, chart->y.low, bytes, chart->y.high});
    }
    if (chart->count > before)
        chart->desc = arena_printf(arena, "%s Dotted lines are the capacities of the memory levels.", chart->desc);
    document_chart(document, chart, NULL);
}

void picture_curves(struct document *document, const struct result *result, const char *suffix)
{
    struct curves sweeps[MOST_PICTURES];
    const size_t count = collect(sweeps, result, document->arena);
    for (size_t k = 0, drawn = 0; k < count; k++)
        if (sweeps[k].count)
            add_chart(document, &sweeps[k], suffix, drawn++);
}
