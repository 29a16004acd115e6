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

enum { LEAST_POINTS = 5, LEAST_SPAN = 2, MOST_POINTS = 64, MOST_PICTURES = 6 };

struct curve {
    const char *name; /* kernel, and what its cases share besides the swept parameter */
    const char *kernel;
    size_t count;
    double x[MOST_POINTS], y[MOST_POINTS];
    const struct result_case *cases[MOST_POINTS];
};

/* Curves over one quantity. */
struct curves {
    const struct result *result;
    const char *x, *y; /* quantities of result.h; x may be a parameter */
    const char *x_unit, *y_unit;
    const char *kernel; /* of a parameter's; else NULL: of all */
    struct curve *curves;
    size_t count;
};

/* ---- which ---- */

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

/* A latency is of a footprint where that is what is swept: instructions in chains, waves at a barrier and pages have
 * one that follows from something else. */
static bool is_over_footprint(const struct result *result, const struct result_case *c, const char *param,
                              const char *y)
{
    if (!strcmp(y, "ns_per_item"))
        return !strcmp(param, "footprint");
    return !strcmp(y, "bytes_per_s") && distinct(result, c->kernel, "footprint") >= LEAST_POINTS;
}

/* Copies and collectives are of a message's size, whatever memory they take. */
static bool is_over_size(const char *param, const char *y)
{
    return !strcmp(param, "size") && !strcmp(y, "bytes_per_s");
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

static struct curve *curve_of(struct curves *sweep, const struct result_case *c, const char *name)
{
    size_t at = 0;
    while (at < sweep->count &&
           (strcmp(sweep->curves[at].name, name) != 0 || strcmp(sweep->curves[at].kernel, c->kernel)))
        at++;
    if (at == sweep->count)
        sweep->curves[sweep->count++] = (struct curve){.name = name, .kernel = c->kernel};
    return &sweep->curves[at];
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

/* Those of as many points in the order of their cases, which is that of the sweep. */
static int by_points(const void *a, const void *b)
{
    const struct curve *p = a, *q = b;
    return ORDER(q->count, p->count) ?: ORDER(p->cases[0], q->cases[0]);
}

/* Curves of few points go, and those whose points stand in one place: their sweep was of something else. */
static void prune(struct curves *sweep)
{
    size_t kept = 0;
    for (size_t k = 0; k < sweep->count; k++)
        if (sweep->curves[k].count >= LEAST_POINTS &&
            sweep->curves[k].x[sweep->curves[k].count - 1] >= (double)LEAST_SPAN * sweep->curves[k].x[0])
            sweep->curves[kept++] = sweep->curves[k];
    sweep->count = kept;
    qsort(sweep->curves, kept, sizeof(*sweep->curves), by_points);
}

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
        const bool size = is_over_size(param, y), footprint = !size && is_over_footprint(result, c, param, y);
        const struct curves wanted = {.result = result,
                                      .x = footprint ? "footprint" : param,
                                      .y = y,
                                      .x_unit = footprint || size ? UNIT_BYTES : UNIT_SIZE,
                                      .y_unit = unit_of(y),
                                      .kernel = footprint || size ? NULL : c->kernel};
        struct curves *sweep = sweep_of(sweeps, &count, &wanted, arena);
        if (sweep)
            add_point(curve_of(sweep, c, series_name(c, param, arena)), result_quantity(c, wanted.x),
                      result_quantity(c, y), c);
    }
    for (size_t k = 0; k < count; k++)
        prune(&sweeps[k]);
    return count;
}

/* ---- charts ---- */

/* The last footprint inside a level, and its name; 0: there is none. */
static double boundary(const struct curves *sweep, size_t k, const char **name)
{
    const struct machine *machine = &sweep->result->machine;
    if (!strcmp(sweep->y, "ns_per_item") && machine->latency_count) {
        *name = k < machine->latency_count ? machine->latencies[k].level : "";
        return k < machine->latency_count ? machine->latencies[k].upto_bytes : 0;
    }
    *name = k < machine->level_count ? machine->levels[k].name : "";
    if (k + 1 >= machine->level_count)
        return 0;
    const struct machine_level *level = &machine->levels[k];
    return strcmp(sweep->y, "ns_per_item") != 0 ? level->capacity_bytes : machine_level_own_bytes(machine, level);
}

/* Whether there are some. */
static bool add_levels(struct chart *chart, const struct curves *sweep)
{
    const size_t before = chart->count;
    for (size_t k = 0; k < MACHINE_MAX_LEVELS; k++) {
        const char *name = "";
        const double bytes = boundary(sweep, k, &name);
        if (bytes > chart->x.low && bytes < chart->x.high)
            chart_line(chart, CHART_BOUNDARY, name, (double[]){bytes, chart->y.low, bytes, chart->y.high});
    }
    return chart->count > before;
}

static const struct words {
    const char *quantity, *title, *axis;
} words[] = {{"bytes_per_s", "Bandwidth", "bandwidth"},
             {"flops_per_s", "Arithmetic rate", "arithmetic rate"},
             {"ns_per_item", "Latency", "latency"},
             {"time_ns", "Time", "time"}};

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
    const char *const *apart = names_apart(names, count, NULL, arena);
    for (size_t c = 0; c < count; c++) {
        const struct curve *curve = &sweep->curves[c];
        struct chart_series *series = chart_add(chart, CHART_CURVE, apart[c], c);
        for (size_t p = 0; p < curve->count; p++)
            chart_case(chart, series, curve->x[p], curve->y[p], curve->cases[p])->cost = 0;
    }
    chart->x = (struct chart_axis){.title = sweep->x, .unit = sweep->x_unit};
    chart->y = (struct chart_axis){.title = what->axis, .unit = sweep->y_unit};
    chart_fit(chart, false, 4);
    chart_fit(chart, true, 4);
    if (footprint && add_levels(chart, sweep))
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
