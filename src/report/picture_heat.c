/* SPDX-License-Identifier: MIT
 *
 * Heat maps: sweeps of two parameters, with each cell's rate as a share of the best one; and cases by machine.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

enum { LEAST_SIDE = 3, MOST_SIDE = 64, MOST_MAPS = 4, MOST_ROWS = 40 };

struct map {
    const char *kernel; /* of its cases */
    const char *x, *y;  /* parameters */
    const struct param_value *xs[MOST_SIDE], *ys[MOST_SIDE];
    size_t columns, rows;
    bool wider;                                            /* a grid, but with more values than fit */
    bool sparse;                                           /* values that few cases have are omitted */
    const struct result_case *cells[MOST_SIDE][MOST_SIDE]; /* by row; NULL: no case */
    double best;                                           /* the shortest time per item */
};

/* Returns the position of the value, which it inserts if missing: numbers by size, others in order of appearance;
 * MOST_SIDE if there is no room. */
static size_t place(const struct param_value **values, size_t *count, const struct param_value *value)
{
    size_t at = 0;
    for (size_t k = 0; k < *count; k++)
        if (param_equal(values[k], value))
            return k;
    if (*count == MOST_SIDE)
        return MOST_SIDE;
    while (at < *count &&
           (value->kind != PARAM_NUMBER || values[at]->kind != PARAM_NUMBER || values[at]->number < value->number))
        at++;
    memmove(&values[at + 1], &values[at], (*count - at) * sizeof(*values));
    values[at] = value;
    ++*count;
    return at;
}

/* Repeatedly drops the value with the fewest cases among those with cases in less than half of their cells. */
static void drop_sparse(struct map *map)
{
    for (size_t least = 0; least < SIZE_MAX;) {
        size_t at = 0;
        bool is_column = false;
        least = SIZE_MAX;
        for (int column = 0; column < 2; column++)
            for (size_t k = 0; k < (column ? map->columns : map->rows); k++) {
                const size_t others = column ? map->rows : map->columns;
                size_t count = 0;
                for (size_t other = 0; other < others; other++)
                    count += (column ? map->cells[other][k] : map->cells[k][other]) != NULL;
                if (2 * count < others && count < least) {
                    least = count;
                    at = k;
                    is_column = column;
                }
            }
        if (least == SIZE_MAX)
            return;
        const size_t behind = (is_column ? map->columns : map->rows) - at - 1;
        const struct param_value **values = is_column ? map->xs : map->ys;
        memmove(&values[at], &values[at + 1], behind * sizeof(*values));
        if (!is_column)
            memmove(&map->cells[at], &map->cells[at + 1], behind * sizeof(*map->cells));
        for (size_t row = 0; row < map->rows && is_column; row++)
            memmove(&map->cells[row][at], &map->cells[row][at + 1], behind * sizeof(*map->cells[row]));
        *(is_column ? &map->columns : &map->rows) -= 1;
    }
}

static bool fill(struct map *map, const struct result *result, const struct result_case *first)
{
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++)
        FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
            bool alike = is_mark(c) && !strcmp(first->kernel, c->kernel) && first->cache == c->cache &&
                         first->param_count == c->param_count;
            for (size_t p = 0; p < first->param_count && alike; p++) { /* all other parameters are equal */
                const char *name = first->params[p].name;
                const struct param_value *other = result_param(c, name);
                alike = !strcmp(name, map->x) || !strcmp(name, map->y) ||
                        (other && param_equal(&first->params[p].value, other));
            }
            if (!alike)
                continue;
            const size_t column = place(map->xs, &map->columns, result_param(c, map->x));
            const size_t row = place(map->ys, &map->rows, result_param(c, map->y));
            map->wider |= column == MOST_SIDE || row == MOST_SIDE;
            if (pass && !map->wider)
                map->cells[row][column] = c;
        }
    const size_t values = map->columns + map->rows;
    if (!map->wider)
        drop_sparse(map);
    map->sparse = map->columns + map->rows < values;
    for (size_t row = 0; row < map->rows; row++)
        for (size_t column = 0; column < map->columns; column++)
            if (map->cells[row][column]) {
                map->best = fmin(map->best, result_time_each(map->cells[row][column]));
                count++;
            }
    const bool grid = map->columns >= LEAST_SIDE && map->rows >= LEAST_SIDE;
    map->wider &= grid;
    return grid && 4 * count >= 3 * map->columns * map->rows;
}

/* Finds the first pair of parameters whose values make a grid that contains this case, preferably a pair of numbers. If
 * every grid has more values than fit, chooses the first of those. */
static bool find(struct map *map, const struct result *result, const struct result_case *c)
{
    struct map wider = {0};
    for (int pass = 0; pass < 2; pass++)
        for (size_t p = 0; p < c->param_count; p++)
            for (size_t q = p + 1; q < c->param_count; q++) {
                const struct result_param *x = &c->params[p], *y = &c->params[q];
                const bool numbers = x->value.kind == PARAM_NUMBER && y->value.kind == PARAM_NUMBER;
                if (numbers != !pass)
                    continue;
                *map = (struct map){.kernel = c->kernel, .x = x->name, .y = y->name, .best = INFINITY};
                if (fill(map, result, c))
                    return true;
                if (map->wider && !wider.wider)
                    wider = *map;
            }
    *map = wider;
    return false;
}

/* ---- charts ---- */

static struct chart_axis names_of(const char *title, const struct param_value *const *values, size_t count,
                                  struct arena *arena)
{
    const char **names = arena_array(arena, count + 1, sizeof(*names));
    for (size_t k = 0; k < count; k++) {
        char words[32];
        if (values[k]->kind == PARAM_NUMBER)
            svg_tick_words(words, values[k]->number, UNIT_SIZE);
        names[k] = values[k]->kind == PARAM_NUMBER ? arena_strdup(arena, words) : param_text(arena, values[k]);
    }
    return (struct chart_axis){.title = title, .scale = CHART_NAMES, .names = names, .name_count = count};
}

static void add_cell(struct chart *chart, size_t column, size_t row, const struct result_case *c, double share)
{
    struct chart_point *point = chart_case(chart, &chart->series[0], (double)column, (double)row, c);
    point->cost = 0;
    point->share = share;
    point->words = percent_words(share, chart->arena);
}

static void add_map(struct document *document, const struct map *map, const char *name)
{
    struct arena *arena = document->arena;
    struct chart *chart =
        chart_new(arena, name, arena_printf(arena, "%s over %s and %s", map->kernel, map->x, map->y),
                  arena_printf(arena,
                               "Speed for the same amount of work as a share of the best cell, which has a frame. "
                               "Across: %s; down: %s. Darker is further from the best.%s",
                               map->x, map->y, map->sparse ? " Values that few cases have are skipped." : ""));
    chart_add(chart, CHART_CELL, "", 0);
    for (size_t r = 0; r < map->rows; r++)
        for (size_t c = 0; c < map->columns; c++)
            if (map->cells[r][c])
                add_cell(chart, c, r, map->cells[r][c], map->best / result_time_each(map->cells[r][c]));
    chart->x = names_of(map->x, map->xs, map->columns, arena);
    chart->y = names_of(map->y, map->ys, map->rows, arena);
    document_chart(document, chart, NULL);
}

void picture_heat_maps(struct document *document, const struct result *result, const char *suffix)
{
    const char **seen = arena_array(document->arena, result->case_count + 1, sizeof(*seen));
    size_t count = 0, kernels = 0;
    for (size_t k = 0; k < result->case_count && count < MOST_MAPS; k++) {
        struct map map;
        /* Only the first case of each kernel is tried. */
        if (!is_mark(&result->cases[k]) || text_among(result->cases[k].kernel, seen, kernels))
            continue;
        seen[kernels++] = result->cases[k].kernel;
        if (find(&map, result, &result->cases[k]))
            add_map(document, &map, arena_printf(document->arena, "map-%zu%s", ++count, suffix));
        else if (map.wider)
            document_text(document, SHOW_HTML, TONE_DIM,
                          "%s over %s and %s is not drawn: over %d values of one of them.", map.kernel, map.x, map.y,
                          MOST_SIDE);
    }
}

/* ---- machines ---- */

static const struct result_case *case_of(const struct result *result, const char *id)
{
    const struct result_case *c = FIND_ROW(result->cases, result->case_count, id, id);
    return c && is_mark(c) ? c : NULL;
}

static bool is_on_several(const char *id, const struct result *const *results, size_t count)
{
    return COUNT_WHERE(one, results, count, case_of(*one, id) != NULL) > 1;
}

static bool add_machine_row(struct chart *chart, size_t row, const char *id, const struct result *const *results,
                            size_t count)
{
    double best = INFINITY;
    if (!is_on_several(id, results, count))
        return false;
    for (size_t r = 0; r < count; r++) {
        const struct result_case *c = case_of(results[r], id);
        best = c ? fmin(best, result_case_time(c)) : best;
    }
    for (size_t r = 0; r < count; r++) {
        const struct result_case *c = case_of(results[r], id);
        if (c)
            add_cell(chart, r, row, c, best / result_case_time(c));
    }
    return true;
}

void picture_machines(struct document *document, const struct result *const *results, size_t count,
                      const struct table *table)
{
    struct arena *arena = document->arena;
    const char **names = arena_array(arena, MOST_ROWS, sizeof(*names)),
               **devices = arena_array(arena, count, sizeof(*devices));
    struct chart *chart = chart_new(
        arena, "machines-map", "Machines against each other",
        "Speed in each case as a share of the fastest machine's, which has a frame; darker is further from it.");
    size_t rows = 0, skipped = 0;
    chart_add(chart, CHART_CELL, "", 0);
    for (size_t k = 0; k < results[0]->case_count; k++) {
        if (rows == MOST_ROWS)
            skipped += is_on_several(results[0]->cases[k].id, results, count);
        else if (add_machine_row(chart, rows, results[0]->cases[k].id, results, count))
            names[rows++] = case_name(&results[0]->cases[k]);
    }
    for (size_t r = 0; r < count; r++)
        devices[r] = device_title(results[r]->device.name, arena);
    chart->x = (struct chart_axis){.title = "", .scale = CHART_NAMES, .names = devices, .name_count = count};
    chart->y = (struct chart_axis){.title = "", .scale = CHART_NAMES, .names = names, .name_count = rows};
    chart->y.names = names_apart(names, rows, arena);
    if (rows)
        document_chart(document, chart, table);
    if (skipped)
        document_text(document, SHOW_HTML, TONE_DIM,
                      "The first %d cases that several machines have are drawn, %zu more are not.", MOST_ROWS, skipped);
}
