/* SPDX-License-Identifier: MIT
 *
 * How far predictions are from measured times: the table of errors, and row by row for programs.
 */

#include "report_internal.h"
#include "rooftile/truth.h"

#define OF(member) FIELD(struct error_line, member)

static const struct table_column columns[] = {
    {.key = "family", .title = "family"},
    {.key = "machine", .title = "machine", OF(machine)},
    {.key = "rows", .title = "rows", .unit = UNIT_COUNT, OF(calibrated.rows)},
    {.key = "raw_median", .title = "raw: median", .unit = UNIT_PERCENT, .drop = 2, OF(raw.median)},
    {.key = "raw_p90", .title = "p90", .unit = UNIT_PERCENT, .drop = 2, OF(raw.p90)},
    {.key = "median", .title = "calibrated: median", .unit = UNIT_PERCENT, OF(calibrated.median)},
    {.key = "p90", .title = "p90", .unit = UNIT_PERCENT, OF(calibrated.p90)},
    {.key = "signed_median", .title = "signed", .unit = UNIT_CHANGE, .drop = 1, OF(calibrated.signed_median)},
    {.key = "within_20", .title = "within 20 %", .unit = UNIT_PERCENT, .drop = 3, OF(calibrated.within_20)},
    {.key = "wmape", .title = "WMAPE", .unit = UNIT_PERCENT, .drop = 3, OF(calibrated.wmape)},
    {.key = "coverage", .title = "in the interval", .unit = UNIT_PERCENT, OF(calibrated.coverage)},
    {.key = "bound_right", .title = "bound right", .unit = UNIT_PERCENT, OF(calibrated.bound_right)},
};

static struct table *errors(const struct error_table *table, struct arena *arena)
{
    struct table *shown = TABLE(arena, columns);
    FOR_EACH(const struct error_line, line, table->lines, table->count) {
        struct cell *cells = table_add_object(shown, line)->cells;
        cells[0] = cell_text(line->family ? line->family : "all");
        if (!line->family)
            cells[1] = cell_absent();
    }
    return shown;
}

static struct table *worst_rows(const struct error_table *table, struct arena *arena)
{
    static const struct table_column worst_columns[] = {{.key = "row", .title = "row"},
                                                        {.key = "machine", .title = "machine"},
                                                        {.key = "measured_ns", .title = "measured", .unit = UNIT_TIME},
                                                        {.key = "error", .title = "error", .unit = UNIT_CHANGE},
                                                        {.key = "line", .title = "line", .unit = UNIT_COUNT}};
    struct table *shown = TABLE(arena, worst_columns);
    FOR_EACH(const struct error_line, line, table->lines, table->count) {
        for (size_t worst = 0; worst < 3 && line->family && line->worst[worst]; worst++) {
            const struct truth_row *row = line->worst[worst];
            const struct cell cells[] = {cell_text(row->label), cell_text(row->machine), cell_number(row->time_ns),
                                         cell_number(line->worst_error[worst]), cell_number((double)row->line)};
            table_add(shown, cells);
        }
    }
    return shown;
}

static struct table *skipped_rows(const struct truth *truth, struct arena *arena)
{
    static const struct table_column out_columns[] = {{.key = "line", .title = "line", .unit = UNIT_COUNT},
                                                      {.key = "row", .title = "row"},
                                                      {.key = "reason", .title = "reason", .flags = COLUMN_PROSE}};
    struct table *shown = TABLE(arena, out_columns);
    FOR_EACH(const struct truth_row, row, truth->rows, truth->count) {
        const struct cell cells[] = {cell_number((double)row->line), cell_text(row->label), cell_text(row->problem)};
        if (row->problem)
            table_add(shown, cells);
    }
    shown->most_rows = 12;
    shown->rest = "--json has them all";
    return shown;
}

void model_error_document(struct document *document, const struct truth *truth, const struct error_table *table)
{
    struct arena *arena = document->arena;
    document->title = "Error of predictions";
    document_table(document, "errors", NULL, errors(table, arena));
    document_table(document, "worst", "The worst rows", worst_rows(table, arena));
    if (table->skipped)
        document_table(document, "skipped", "Skipped rows", skipped_rows(truth, arena));
    if (table->without_model)
        document_text(document, 0, TONE_DOUBT, "rows whose kernel or machine has no model: %zu", table->without_model);
}

/* A row each, in the order of the file. */
void model_error_rows(struct text *out, const struct truth *truth, const struct truth_guess *raw,
                      const struct truth_guess *calibrated, struct arena *arena)
{
    static const struct table_column row_columns[] = {{.key = "line", .unit = UNIT_COUNT},
                                                      {.key = "family"},
                                                      {.key = "machine"},
                                                      {.key = "row"},
                                                      {.key = "source"},
                                                      {.key = "type"},
                                                      {.key = "scales"},
                                                      {.key = "measured_ns", .unit = UNIT_TIME},
                                                      {.key = "predicted_ns", .unit = UNIT_TIME},
                                                      {.key = "low_ns", .unit = UNIT_TIME},
                                                      {.key = "high_ns", .unit = UNIT_TIME},
                                                      {.key = "raw_ns", .unit = UNIT_TIME},
                                                      {.key = "bound"},
                                                      {.key = "held_out"},
                                                      {.key = "skipped"}};
    struct table *shown = TABLE(arena, row_columns);
    for (size_t k = 0; k < truth->count; k++) {
        const struct truth_row *row = &truth->rows[k];
        const struct truth_guess *guess = &calibrated[k];
        const struct cell cells[] = {
            cell_number((double)row->line), cell_text(row->family),        cell_text(row->machine),
            cell_text(row->label),          cell_known(row->source),       cell_known(row->what.type),
            cell_known(row->what.scales),   cell_number(row->time_ns),     cell_positive(guess->time_ns),
            cell_positive(guess->low_ns),   cell_positive(guess->high_ns), cell_positive(raw[k].time_ns),
            cell_known(guess->bound),       cell_bool(row->held_out),      cell_text(row->problem)};
        table_add(shown, cells);
    }
    render_csv(out, shown);
}
