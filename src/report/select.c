/* SPDX-License-Identifier: MIT
 *
 * Selects and orders the cases of a result: --filter, --sort and --top.
 */

#include "report_internal.h"

struct ranked {
    const struct result_case *c;
    double value; /* NaN: unknown, sorted last */
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
    return ORDER(p->c, q->c);
}

/* Reads the value of `name`, a parameter or a figure, for a case; false if no case has it. */
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

/* Sorts the best first: the shortest time, the highest rate; "-" before the name reverses the known values. */
static enum status sort(struct result_case *cases, const struct result *result, const char *by, struct arena *arena,
                        struct err *err)
{
    const bool reversed = by[0] == '-';
    const char *name = by + reversed;
    struct ranked *order = arena_array(arena, result->case_count + 1, sizeof(*order));
    size_t known = 0;
    bool some = false;
    for (size_t k = 0; k < result->case_count; k++) {
        some |= read_value(&order[k], name, &result->cases[k], arena);
        order[k].value *= figure_more_is_better(name) ? -1 : 1;
        known += !isnan(order[k].value) || (order[k].words[0] && strcmp(order[k].words, "-") != 0);
    }
    if (!some) {
        const char **names = NULL;
        size_t count = figure_names(&names, arena);
        for (size_t p = 0; result->case_count && p < result->cases[0].param_count; p++)
            ARENA_PUSH(arena, names, count, result->cases[0].params[p].name);
        err_set(err, ERR_USAGE, "--sort %s: there is no such column or parameter", name);
        return err_nearest(err, name, names, count,
                           "as in --sort time, --sort rate, --sort fraction_of_ceiling, --sort n");
    }
    qsort(order, result->case_count, sizeof(*order), by_value);
    for (size_t k = 0; k < result->case_count; k++)
        cases[k] = *order[reversed && k < known ? known - 1 - k : k].c;
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
        return err_no_match(err, wanted->filters, wanted->filter_count);
    if (wanted->sort) {
        const struct result before = chosen;
        struct result_case *sorted = arena_array(arena, before.case_count + 1, sizeof(*sorted));
        if (sort(sorted, &before, wanted->sort, arena, err))
            return err->status;
        chosen.cases = sorted;
    }
    if (wanted->top && wanted->top < chosen.case_count)
        chosen.case_count = wanted->top;
    if (chosen.case_count < result->case_count) /* key figures and derived values cover all cases */
        chosen.kpi_count = chosen.derived_count = 0;
    *out = chosen;
    return STATUS_OK;
}
