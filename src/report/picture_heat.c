/* SPDX-License-Identifier: MIT
 *
 * Sweeps of two parameters as heat maps: each cell's rate as a share of the best one, in words too.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

enum { LEAST_SIDE = 3, MOST_SIDE = 16, MOST_MAPS = 4, SHADES = 8 };

struct map {
    const char *kernel, *series; /* what its cases share */
    const char *x, *y;           /* parameters */
    double xs[MOST_SIDE], ys[MOST_SIDE];
    size_t columns, rows;
    const struct result_case *cells[MOST_SIDE][MOST_SIDE]; /* by row; NULL: there is none */
    double best;                                           /* the shortest time of each item */
};

static bool is_cell(const struct result_case *c)
{
    return c->status == CASE_OK && c->sample_count && c->stats.median > 0;
}

/* Time of the same amount of work, so that cells of different sizes can be compared. */
static double cost(const struct result_case *c)
{
    const double bytes = c->work.read_bytes + c->work.write_bytes;
    const double amount = c->work.flops > 0 ? c->work.flops : bytes > 0 ? bytes : c->work.items;
    return c->stats.median / (amount > 0 ? amount : 1);
}

static double number_of(const struct result_case *c, const char *name)
{
    const struct param_value *value = result_param(c, name);
    return value && value->kind == PARAM_NUMBER ? value->number : NAN;
}

/* Where it stands among sorted values, which it joins; MOST_SIDE: there is no room. */
static size_t place(double *values, size_t *count, double value)
{
    size_t at = 0;
    while (at < *count && values[at] < value)
        at++;
    if (at < *count && values[at] == value)
        return at;
    if (*count == MOST_SIDE)
        return MOST_SIDE;
    memmove(&values[at + 1], &values[at], (*count - at) * sizeof(*values));
    values[at] = value;
    ++*count;
    return at;
}

/* All other parameters are the same. */
static bool same_but(const struct result_case *a, const struct result_case *b, const char *x, const char *y)
{
    if (strcmp(a->kernel, b->kernel) != 0 || a->cache != b->cache || a->param_count != b->param_count)
        return false;
    for (size_t p = 0; p < a->param_count; p++) {
        const char *name = a->params[p].name;
        const struct param_value *other = result_param(b, name);
        if (strcmp(name, x) != 0 && strcmp(name, y) != 0 && (!other || !param_equal(&a->params[p].value, other)))
            return false;
    }
    return true;
}

static bool fill(struct map *map, const struct result *result, const struct result_case *first)
{
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < result->case_count; k++) {
            const struct result_case *c = &result->cases[k];
            if (!is_cell(c) || !same_but(first, c, map->x, map->y))
                continue;
            const size_t column = place(map->xs, &map->columns, number_of(c, map->x));
            const size_t row = place(map->ys, &map->rows, number_of(c, map->y));
            if (column == MOST_SIDE || row == MOST_SIDE)
                return false;
            if (!pass)
                continue;
            count += !map->cells[row][column];
            map->cells[row][column] = c;
            map->best = fmin(map->best, cost(c));
        }
    return map->columns >= LEAST_SIDE && map->rows >= LEAST_SIDE && 4 * count >= 3 * map->columns * map->rows;
}

/* The first pair of parameters whose values make a grid with this case in it. */
static bool find(struct map *map, const struct result *result, const struct result_case *c)
{
    for (size_t p = 0; p < c->param_count; p++)
        for (size_t q = p + 1; q < c->param_count; q++) {
            const struct param_value *x = &c->params[p].value, *y = &c->params[q].value;
            if (x->kind != PARAM_NUMBER || y->kind != PARAM_NUMBER)
                continue;
            *map = (struct map){.kernel = c->kernel, .x = c->params[p].name, .y = c->params[q].name, .best = INFINITY};
            if (fill(map, result, c))
                return true;
        }
    return false;
}

/* ---- drawing ---- */

static void draw_cell(struct svg *svg, const struct map *map, size_t row, size_t column, const struct svg_box *box)
{
    const struct result_case *c = map->cells[row][column];
    struct arena arena = {0};
    char class[16];
    if (c) {
        const double ratio = map->best / cost(c);
        const size_t shade = (size_t)fmin(SHADES - 1, floor((1 - ratio) * 1.2 * (double)SHADES));
        const struct cell share = cell_quantity(ratio, UNIT_SHARE);
        const char *words = cell_words(&share, NULL, &arena);
        snprintf(class, sizeof(class), "h%zu", shade);
        svg_rect(svg, class, box,
                 arena_printf(&arena, "%s: %s of the best, %s", case_name(c), words, figure_words("rate", c, &arena)));
        svg_text(svg, shade > 3 ? "on-dark" : "on-light", SVG_MIDDLE, (box->left + box->right) / 2,
                 (box->top + box->bottom) / 2 + 4, box->right - box->left > svg_text_width(words) ? words : "");
        if (ratio >= 1)
            svg_rect(svg, "best", box, NULL);
    }
    arena_release(&arena);
}

static void draw(struct text *out, const struct picture *picture, double width, const struct svg_head *head)
{
    const struct map *map = picture->data;
    const double left = 78, top = 34, row = 32;
    const double column = fmin((width - left - 12) / (double)map->columns, 84);
    const double bottom = top + row * (double)map->rows;
    struct svg svg;
    char words[32];
    svg_open(&svg, out, width, bottom + 50, head);
    svg_text(&svg, "axis-title", SVG_START, 4, 20, map->y);
    for (size_t r = 0; r < map->rows; r++) {
        svg_tick_words(words, map->ys[r], UNIT_SIZE);
        svg_text(&svg, "tick", SVG_END, left - 8, top + row * (double)r + row / 2 + 4, words);
        for (size_t c = 0; c < map->columns; c++) {
            const double x = left + column * (double)c, y = top + row * (double)r;
            draw_cell(&svg, map, r, c, &(struct svg_box){x + 1, y + 1, x + column - 1, y + row - 1});
        }
    }
    for (size_t c = 0; c < map->columns; c++) {
        svg_tick_words(words, map->xs[c], UNIT_SIZE);
        svg_text(&svg, "tick", SVG_MIDDLE, left + column * ((double)c + 0.5), bottom + 16, words);
    }
    svg_text(&svg, "axis-title", SVG_MIDDLE, left + column * (double)map->columns / 2, bottom + 38, map->x);
    svg_close(&svg);
}

static struct table *data_of(const struct map *map, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.title = "case"}, {.title = "time", .unit = UNIT_TIME}, {.title = "of the best", .unit = UNIT_SHARE}};
    struct table *table = TABLE(arena, columns);
    for (size_t r = 0; r < map->rows; r++)
        for (size_t c = 0; c < map->columns; c++)
            if (map->cells[r][c])
                table_add(table, (struct cell[]){cell_text(case_name(map->cells[r][c])),
                                                 cell_number(map->cells[r][c]->stats.median),
                                                 cell_number(map->best / cost(map->cells[r][c]))});
    return table;
}

void picture_heat_maps(struct document *document, const struct result *result, const char *suffix)
{
    struct arena *arena = document->arena;
    size_t count = 0;
    const char *kernel = "";
    for (size_t k = 0; k < result->case_count && count < MOST_MAPS; k++) {
        const struct result_case *c = &result->cases[k];
        struct map *map = arena_alloc(arena, sizeof(*map));
        if (!is_cell(c) || !strcmp(kernel, c->kernel))
            continue;
        kernel = c->kernel; /* one of each */
        if (!find(map, result, c))
            continue;
        const struct picture picture = {
            .name = arena_printf(arena, "map-%zu%s", ++count, suffix),
            .title = arena_printf(arena, "%s over %s and %s", c->kernel, map->x, map->y),
            .desc = arena_printf(arena,
                                 "Speed for the same amount of work as a share of the best cell, which has a frame. "
                                 "Columns are %s, rows %s; darker is further from the best.",
                                 map->x, map->y),
            .data = map,
            .draw = draw};
        document_picture(document, &picture, data_of(map, arena));
    }
}
