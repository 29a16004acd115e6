/* SPDX-License-Identifier: MIT
 *
 * The error of the predictions in results against the measured times: by kernel and machine, the worst cases, and case
 * by case.
 */

#include "report_internal.h"

#define WITHIN 0.2

struct error_line {
    const char *family, *machine; /* family NULL: all kernels together */
    size_t rows;
    double median, p90, signed_median, within_20, wmape, coverage;
};

/* Cases of one line, the worst last. */
struct chosen {
    const struct judged_case **items;
    size_t count;
};

static double error_of(const struct judged_case *judged)
{
    return judged->c->prediction.time_ns / result_case_time(judged->c) - 1;
}

static int by_size(const void *left, const void *right)
{
    const double a = fabs(error_of(*(const struct judged_case *const *)left));
    const double b = fabs(error_of(*(const struct judged_case *const *)right));
    return ORDER(a, b);
}

static int by_sign(const void *left, const void *right)
{
    const double a = error_of(*(const struct judged_case *const *)left);
    const double b = error_of(*(const struct judged_case *const *)right);
    return ORDER(a, b);
}

static double at_share(const struct chosen *chosen, double share)
{
    const double place = share * (double)(chosen->count - 1);
    const size_t low = (size_t)place, high = low + 1 < chosen->count ? low + 1 : low;
    const double a = fabs(error_of(chosen->items[low])), b = fabs(error_of(chosen->items[high]));
    return a + (place - (double)low) * (b - a);
}

static bool belongs(const struct judged_case *judged, const struct error_line *line)
{
    return !line->family || (!strcmp(judged->c->kernel, line->family) && !strcmp(judged->machine, line->machine));
}

/* Fills the line and sorts its cases by the size of their error. */
static struct chosen judge_line(struct error_line *line, const struct judged_case *cases, size_t count,
                                struct arena *arena)
{
    struct chosen chosen = {.items = arena_array(arena, count + 1, sizeof(*chosen.items))};
    double times = 0, wrong = 0, within = 0, covered = 0, intervals = 0;
    FOR_EACH(const struct judged_case, judged, cases, count)
        if (judged->c->prediction.time_ns > 0 && belongs(judged, line))
            chosen.items[chosen.count++] = judged;
    line->rows = chosen.count;
    if (!chosen.count)
        return chosen;
    qsort(chosen.items, chosen.count, sizeof(*chosen.items), by_sign);
    line->signed_median = error_of(chosen.items[chosen.count / 2]);
    qsort(chosen.items, chosen.count, sizeof(*chosen.items), by_size);
    for (size_t k = 0; k < chosen.count; k++) {
        const struct predicted *prediction = &chosen.items[k]->c->prediction;
        const double time_ns = result_case_time(chosen.items[k]->c), off = fabs(error_of(chosen.items[k]));
        times += time_ns;
        wrong += off * time_ns;
        within += off <= WITHIN;
        intervals += prediction->high_ns > 0;
        covered += time_ns >= prediction->low_ns && time_ns <= prediction->high_ns;
    }
    line->median = at_share(&chosen, 0.5);
    line->p90 = at_share(&chosen, 0.9);
    line->within_20 = within / (double)chosen.count;
    line->wmape = wrong / times;
    line->coverage = intervals > 0 ? covered / intervals : NAN;
    return chosen;
}

static void add_line(struct table *errors, struct table *worst, struct error_line line, const struct judged_case *cases,
                     size_t count)
{
    const struct chosen chosen = judge_line(&line, cases, count, errors->arena);
    struct cell *cells = table_add_object(errors, &line)->cells;
    cells[0] = cell_text(line.family ? line.family : "all");
    if (!line.family)
        cells[1] = cell_absent();
    for (size_t k = chosen.count; k-- > 0 && line.family && k + 3 >= chosen.count;) {
        const struct judged_case *judged = chosen.items[k];
        table_add(worst, (const struct cell[]){cell_text(judged->label), cell_text(judged->machine),
                                               cell_number(result_case_time(judged->c)), cell_number(error_of(judged)),
                                               cell_number((double)(judged - cases + 1))});
    }
}

static struct table *rows_of(const struct judged_case *cases, size_t count, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "line"},   {.key = "family"},      {.key = "machine"},
                                                  {.key = "row"},    {.key = "measured_ns"}, {.key = "predicted_ns"},
                                                  {.key = "low_ns"}, {.key = "high_ns"},     {.key = "bound"}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct judged_case, judged, cases, count) {
        const struct predicted *prediction = &judged->c->prediction;
        table_add(table, (const struct cell[]){cell_number((double)(judged - cases + 1)), cell_text(judged->c->kernel),
                                               cell_text(judged->machine), cell_text(judged->label),
                                               cell_number(result_case_time(judged->c)),
                                               cell_positive(prediction->time_ns), cell_positive(prediction->low_ns),
                                               cell_positive(prediction->high_ns), cell_known(prediction->bound)});
    }
    return table;
}

#define OF(member) FIELD(struct error_line, member)

void model_error_document(struct document *document, const struct judged_case *cases, size_t count)
{
    static const struct table_column columns[] = {
        {.key = "family", .title = "family"},
        {.key = "machine", .title = "machine", OF(machine)},
        {.key = "rows", .title = "rows", .unit = UNIT_COUNT, OF(rows)},
        {.key = "median", .title = "median error", .unit = UNIT_PERCENT, OF(median)},
        {.key = "p90", .title = "p90", .unit = UNIT_PERCENT, OF(p90)},
        {.key = "signed_median", .title = "bias", .unit = UNIT_CHANGE, .drop = 1, OF(signed_median)},
        {.key = "within_20", .title = "within 20 %", .unit = UNIT_PERCENT, .drop = 3, OF(within_20)},
        {.key = "wmape", .title = "WMAPE", .unit = UNIT_PERCENT, .drop = 3, OF(wmape)},
        {.key = "coverage", .title = "in the interval", .unit = UNIT_PERCENT, OF(coverage)}};
    static const struct table_column worst_columns[] = {{.key = "row", .title = "row"},
                                                        {.key = "machine", .title = "machine"},
                                                        {.key = "measured_ns", .title = "measured", .unit = UNIT_TIME},
                                                        {.key = "error", .title = "error", .unit = UNIT_CHANGE},
                                                        {.key = "line", .title = "line", .unit = UNIT_COUNT}};
    struct table *errors = TABLE(document->arena, columns), *worst = TABLE(document->arena, worst_columns);
    size_t unknown = 0;
    for (size_t k = 0; k < count; k++) {
        struct error_line line = {.family = cases[k].c->kernel, .machine = cases[k].machine};
        const bool known = cases[k].c->prediction.time_ns > 0;
        unknown += !known;
        if (known && !COUNT_WHERE(before, cases, k, before->c->prediction.time_ns > 0 && belongs(before, &line)))
            add_line(errors, worst, line, cases, count);
    }
    if (errors->row_count != 1)
        add_line(errors, worst, (struct error_line){0}, cases, count);
    document->title = "Error of predictions";
    document_table(document, "errors", NULL, errors);
    document_table(document, "worst", "The worst rows", worst);
    document_table(document, NULL, NULL, rows_of(cases, count, document->arena))->show = SHOW_CSV;
    if (unknown)
        document_text(document, 0, TONE_DOUBT, "cases that were not predicted: %zu", unknown);
    struct error_line all = {0};
    judge_line(&all, cases, count, document->arena);
    document->verdict = all.rows
                            ? arena_printf(document->arena,
                                           "%zu case%s: half of the predictions are within %s, %s are inside their "
                                           "80 %% interval",
                                           all.rows, text_s(all.rows), percent_words(all.median, document->arena),
                                           percent_words(all.coverage, document->arena))
                            : "No case was predicted before it was measured";
    document->action =
        worst->row_count ? "'rooftile explain RESULT --filter CASE' shows where such a case's time goes" : NULL;
}
