/* SPDX-License-Identifier: MIT
 *
 * Merges adjacent rows that have no values for the same reason into one: 40 sizes that do not fit are no news.
 */

#include "report_internal.h"

/* Returns the position after a number and its optional byte unit, or the start if there is no number. */
static const char *behind_number(const char *at)
{
    const char *end = at + strspn(at, "0123456789.");
    if (end == at || *end != ' ')
        return end;
    return text_starts(end + 1, "B") ? end + 2 : end[1] && text_starts(end + 2, "iB") ? end + 4 : end;
}

/* True if the notes differ in numbers only. */
static bool same_note(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        a = behind_number(a);
        b = behind_number(b);
        if (*a != *b || !*a)
            break;
    }
    return !*a && !*b;
}

struct families {
    const struct table *all;
    size_t *firsts; /* first row of each family, then the number of rows */
};

/* Lists the kernels of these rows, each once; `kernels` receives their number. */
static const char *kernel_list(const struct table *all, size_t first, size_t count, size_t *kernels,
                               struct arena *arena)
{
    const char *list = "", *last = "";
    *kernels = 0;
    for (size_t k = first; k < first + count; k++) {
        const char *kernel = table_at(all, k)->family;
        if (strcmp(kernel, last) != 0) {
            list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", kernel);
            ++*kernels;
        }
        last = kernel;
    }
    return list;
}

static void make_family(struct table_row *row, const struct table *table, size_t index)
{
    const struct families *families = table->source;
    const struct table *all = families->all;
    struct arena *arena = table->arena;
    const size_t first = families->firsts[index], count = families->firsts[index + 1] - first;
    const struct table_row one = *table_at(all, first);
    memcpy(row->cells, one.cells, table->column_count * sizeof(*row->cells));
    *row = (struct table_row){row->cells, one.heading, one.note, one.instead, one.family, count == 1 ? one.keys : NULL};
    if (count == 1)
        return;
    size_t kernels;
    const char *names = kernel_list(all, first, count, &kernels, arena);
    const char *last = table_at(all, first + count - 1)->note;
    row->cells[0] = cell_text(kernels == 1 ? arena_printf(arena, "%s: %zu cases", names, count)
                                           : arena_printf(arena, "%zu cases of %zu kernels", count, kernels));
    if (strcmp(row->note, last) != 0)
        row->note = arena_printf(arena, "%s; to: %s", row->note, last);
    if (kernels > 1)
        row->note = arena_printf(arena, "%s: %s", names, row->note);
}

const struct table *table_with_families(const struct table *all, struct arena *arena)
{
    struct families *families = arena_alloc(arena, sizeof(*families));
    *families = (struct families){all, arena_array(arena, all->row_count + 1, sizeof(*families->firsts))};
    const char *note = NULL; /* of the previous row if it belongs to a family; a note outlives its row */
    size_t count = 0;
    for (size_t k = 0; k < all->row_count; k++) {
        const struct table_row *row = table_at(all, k);
        const char *own = row->family ? row->note : NULL;
        if (!note || !own || !same_note(note, own))
            families->firsts[count++] = k;
        note = own;
    }
    families->firsts[count] = all->row_count;
    if (count == all->row_count)
        return all;
    struct table *table = table_making(arena, all->columns, all->column_count, count, make_family, families);
    table->most_rows = all->most_rows;
    table->rest = all->rest;
    table->indent = all->indent;
    return table;
}
