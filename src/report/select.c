/* SPDX-License-Identifier: MIT
 *
 * What of a result's cases is shown, and in which order: --filter, --sort and --top, and families in one row.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

struct ranked {
    const struct result_case *c;
    double value; /* NaN: unknown, which comes last */
    const char *words;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;
    const bool known = !isnan(p->value), also = !isnan(q->value);
    const int words = known || also ? 0 : strcmp(p->words, q->words);
    if (known && also && p->value != q->value)
        return p->value < q->value ? -1 : 1;
    if (known != also || words)
        return known != also ? (known ? -1 : 1) : words;
    return (p->c > q->c) - (p->c < q->c);
}

/* What `name` is of a case: a parameter or a figure; false: no case has it. */
static bool read_value(struct ranked *out, const char *name, const struct result_case *c, struct arena *arena)
{
    const struct param_value *param = result_param(c, name);
    *out = (struct ranked){.c = c, .value = NAN, .words = ""};
    if (param && param->kind == PARAM_NUMBER)
        out->value = param->number;
    else if (param)
        out->words = param_text(arena, param);
    else if (figure_known(name)) {
        out->value = figure_value(name, c);
        out->words = figure_words(name, c, arena);
    }
    return param || figure_known(name);
}

static enum status unknown_name(const struct result *result, const char *name, struct arena *arena, struct err *err)
{
    const char **names = NULL;
    size_t count = figure_names(&names, arena);
    for (size_t p = 0; result->case_count && p < result->cases[0].param_count; p++)
        ARENA_PUSH(arena, names, count, result->cases[0].params[p].name);
    err_set(err, ERR_USAGE, "--sort %s: there is no such column or parameter", name);
    return err_nearest(err, name, names, count, "as in --sort time, --sort rate, --sort fraction_of_ceiling, --sort n");
}

/* The best first: the shortest time, the highest rate; "-" before the name turns the known ones around. */
static enum status sort(struct result_case *cases, const struct result *result, const char *by, struct arena *arena,
                        struct err *err)
{
    const bool turned = by[0] == '-';
    const char *name = by + turned;
    struct ranked *order = arena_array(arena, result->case_count + 1, sizeof(*order));
    size_t known = 0;
    bool some = false;
    for (size_t k = 0; k < result->case_count; k++) {
        some |= read_value(&order[k], name, &result->cases[k], arena);
        order[k].value *= figure_more_is_better(name) ? -1 : 1;
        known += !isnan(order[k].value) || (order[k].words[0] && strcmp(order[k].words, "-") != 0);
    }
    if (!some)
        return unknown_name(result, name, arena, err);
    qsort(order, result->case_count, sizeof(*order), by_value);
    for (size_t k = 0; k < result->case_count; k++)
        cases[k] = *order[turned && k < known ? known - 1 - k : k].c;
    return STATUS_OK;
}

enum status report_select(struct result *out, const struct result *result, const struct report_selection *wanted,
                          struct arena *arena, struct err *err)
{
    struct result_case *cases = arena_array(arena, result->case_count + 1, sizeof(*cases));
    struct result chosen = *result;
    chosen.cases = cases;
    chosen.case_count = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        const char *const texts[] = {result->cases[k].id, plain_id(arena, &result->cases[k]), result->cases[k].kernel,
                                     result->cases[k].label};
        if (text_filtered_any(wanted->filters, wanted->filter_count, texts, COUNT_OF(texts)))
            cases[chosen.case_count++] = result->cases[k];
    }
    if (wanted->filter_count && !chosen.case_count)
        return err_set(err, ERR_USAGE, "no case matches the filter '%s'; it is a pattern of the whole id, as in '*%s*'",
                       wanted->filters[0], wanted->filters[0]);
    if (wanted->sort) {
        const struct result before = chosen;
        struct result_case *sorted = arena_array(arena, before.case_count + 1, sizeof(*sorted));
        if (sort(sorted, &before, wanted->sort, arena, err))
            return err->status;
        chosen.cases = sorted;
    }
    if (wanted->top && wanted->top < chosen.case_count)
        chosen.case_count = wanted->top;
    if (chosen.case_count < result->case_count) /* those speak of all cases */
        chosen.kpi_count = chosen.derived_count = 0;
    *out = chosen;
    return STATUS_OK;
}

/* ---- families of rows ---- */

/* Behind a number and the unit of bytes that may follow it; where there is none, where it was. */
static const char *behind_number(const char *at)
{
    const char *end = at + strspn(at, "0123456789.");
    return end > at && *end == ' ' && end[1] && text_starts(end + 2, "iB") ? end + 4 : end;
}

/* The same but for its numbers. */
static bool same_reason(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        a = behind_number(a);
        b = behind_number(b);
        if (*a != *b || !*a)
            break;
    }
    return !*a && !*b;
}

/* How many cases from this one on were skipped for the same reason. */
static size_t family(const struct result *result, size_t first)
{
    const struct result_case *c = &result->cases[first];
    size_t count = 1;
    while (first + count < result->case_count && c->status == CASE_SKIPPED && c[count].status == CASE_SKIPPED &&
           c->reason && c[count].reason && same_reason(c->reason, c[count].reason))
        count++;
    return count;
}

/* The kernels of these cases, each once; `kernels`: how many. */
static const char *kernel_list(const struct result_case *cases, size_t count, size_t *kernels, struct arena *arena)
{
    const char *list = "";
    *kernels = 0;
    for (size_t k = 0; k < count; k++) {
        if (k && !strcmp(cases[k].kernel, cases[k - 1].kernel))
            continue;
        list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", cases[k].kernel);
        ++*kernels;
    }
    return list;
}

struct table *figures_for_people(const struct result *result, struct arena *arena)
{
    struct table *all = figures_table(result, arena), *table = table_new(arena, all->columns, all->column_count);
    for (size_t k = 0, count, kernels; k < result->case_count; k += count) {
        struct table_row *row = table_add(table, all->rows[k].cells);
        count = family(result, k);
        row->note = count > 1 ? result->cases[k].reason : all->rows[k].note;
        row->instead = all->rows[k].instead;
        if (count == 1)
            continue;
        if (strcmp(row->note, result->cases[k + count - 1].reason) != 0)
            row->note = arena_printf(arena, "%s; to: %s", row->note, result->cases[k + count - 1].reason);
        const char *names = kernel_list(&result->cases[k], count, &kernels, arena);
        row->cells[0] = cell_text(kernels == 1 ? arena_printf(arena, "%s: %zu cases", names, count)
                                               : arena_printf(arena, "%zu cases of %zu kernels", count, kernels));
        if (kernels > 1)
            row->note = arena_printf(arena, "%s: %s", names, row->note);
    }
    return table;
}
