/* SPDX-License-Identifier: MIT
 *
 * Markdown for a pull request's comment: what failed first, then key figures, then the cases, as many as fit. GitHub
 * takes 65,536 characters; we stop well before, and say what is missing.
 */
#include <math.h>
#include <string.h>

#include "derived_text.h"
#include "labels.h"
#include "report_internal.h"
#include "rooftile/units.h"

enum { MOST_BYTES = 60000, MOST_FINDINGS = 50 };

static void header(struct text *out, const struct result *result)
{
    text_addf(out, "### %s on ", result->predicted ? "PREDICTED (nothing was executed)" : "rooftile");
    text_add_markdown(out, result->device.name[0] ? result->device.name : "an unknown device");
    text_add(out, "\n\n");
    size_t counted = 0, findings = 0, skipped = 0, errors = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        counted += result_case_counts(c);
        findings += result_case_finding(c)[0] != '\0';
        skipped += c->status == CASE_SKIPPED;
        errors += c->status == CASE_ERROR;
    }
    text_addf(out, "**%zu** of %zu cases measured", counted, result->case_count);
    if (findings)
        text_addf(out, ", **%zu finding%s**", findings, findings == 1 ? "" : "s");
    if (errors)
        text_addf(out, ", %zu could not be measured", errors);
    if (skipped)
        text_addf(out, ", %zu skipped", skipped);
    if (result->trials > 1)
        text_addf(out, "; %u trials", result->trials);
    if (result->status && strcmp(result->status, "complete") != 0)
        text_addf(out, "; **%s**", result->status);
    text_add(out, "\n\n");
}

static void findings(struct text *out, const struct result *result, struct arena *arena)
{
    size_t shown = 0, total = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        const char *finding = result_case_finding(c);
        if (!finding[0] && c->status != CASE_ERROR)
            continue;
        if (++total > MOST_FINDINGS)
            continue;
        if (!shown++)
            text_add(out, "| case | finding | why |\n|---|---|---|\n");
        text_add(out, "| ");
        text_add_markdown(out, plain_id(arena, c));
        text_addf(out, " | %s | ", finding[0] ? finding : "error");
        const char *reason = c->reason ? c->reason : "";
        text_add_markdown(out, strlen(reason) > 300 ? arena_printf(arena, "%.300s...", reason) : reason);
        text_add(out, " |\n");
    }
    if (total > shown)
        text_addf(out, "\n%zu more findings are in the result file.\n", total - shown);
    if (total)
        text_add(out, "\n");
}

static void kpis(struct text *out, const struct result *result)
{
    if (!result->kpi_count)
        return;
    text_add(out, "| key figure | value | better |\n|---|---:|---|\n");
    for (size_t k = 0; k < result->kpi_count; k++) {
        const struct result_kpi *kpi = &result->kpis[k];
        char value[UNITS_TEXT];
        text_add(out, "| ");
        text_add_markdown(out, kpi->name);
        text_addf(out, " | %s", isfinite(kpi->value) ? units_quantity(value, kpi->value, kpi->unit) : "none: ");
        if (!isfinite(kpi->value))
            text_add_markdown(out, kpi->reason);
        text_addf(out, " | %s |\n", kpi->higher_is_better ? "higher" : "lower");
    }
    text_add(out, "\n");
}

static void matrix_table(struct text *out, const struct derived_matrix *matrix, const struct result_derived *derived)
{
    char text[UNITS_TEXT];
    text_add(out, "\n**");
    text_add_markdown(out, derived->name);
    text_add(out, *derived->group ? "** " : "**");
    text_add_markdown(out, derived->group);
    text_add(out, ": ");
    text_add_markdown(out, derived->y);
    text_add(out, "\n\n| ");
    text_add_markdown(out, derived->rows);
    text_add(out, " \\ ");
    text_add_markdown(out, derived->x);
    for (size_t column = 0; column < matrix->columns->count; column++) {
        text_add(out, " | ");
        text_add_markdown(out, derived_label(text, matrix->columns, column));
    }
    text_add(out, " |\n|---|");
    for (size_t column = 0; column < matrix->columns->count; column++)
        text_add(out, "---:|");
    for (size_t row = 0; row < matrix->rows->count; row++) {
        text_add(out, "\n| ");
        text_add_markdown(out, derived_label(text, matrix->rows, row));
        for (size_t column = 0; column < matrix->columns->count; column++)
            text_addf(out, " | %s", derived_cell(text, matrix, row, column));
        text_add(out, " |");
    }
    text_add(out, "\n");
}

static void share_table(struct text *out, const struct derived_shares *shares, const struct result_derived *derived)
{
    char text[UNITS_TEXT];
    text_add(out, "\n**");
    text_add_markdown(out, derived->name);
    text_add(out, "** ");
    text_add_markdown(out, derived->group);
    text_addf(out, ": %s\n\n", units_quantity(text, shares->sum_ns, "ns"));
    for (size_t column = 0; column < SHARE_COLUMNS; column++)
        text_addf(out, "| %s ", share_heads[column]);
    text_add(out, "|\n|---|---|---:|---:|");
    for (size_t row = 0; row < shares->parts->count; row++) {
        text_add(out, "\n");
        for (size_t column = 0; column < SHARE_COLUMNS; column++) {
            text_add(out, "| ");
            text_add_markdown(out, share_cell(text, shares, row, column));
            text_add(out, " ");
        }
        text_add(out, "|");
    }
    text_add(out, "\n");
}

static void derived_values(struct text *out, const struct result *result, struct arena *arena)
{
    for (size_t k = 0; k < result->derived_count && out->length < MOST_BYTES; k++) {
        const struct result_derived *derived = &result->derived[k];
        const struct json *json = derived_value(derived, arena);
        struct derived_matrix matrix;
        struct derived_shares shares;
        struct text line = {0};
        if (json && derived_matrix(&matrix, result, derived, json)) {
            matrix_table(out, &matrix, derived);
        } else if (json && derived_shares(&shares, json)) {
            share_table(out, &shares, derived);
        } else if (json && derived_line(&line, result, derived, json)) {
            text_add(out, "- **");
            text_add_markdown(out, derived->name);
            text_add(out, *derived->group ? "** " : "**");
            text_add_markdown(out, derived->group);
            text_add(out, ": ");
            text_add_markdown(out, line.data);
            text_add(out, "\n");
        }
        text_release(&line);
    }
    if (result->derived_count)
        text_add(out, "\n");
}

static void case_line(struct text *out, const struct result_case *c)
{
    char time[FIGURE_TEXT], rate[FIGURE_TEXT], fraction[FIGURE_TEXT];
    text_add(out, "| ");
    text_add_markdown(out, c->label);
    text_addf(out, " | %s | %s | %s | ", figure_time(time, c), figure_rate(rate, c), figure_fraction(fraction, c));
    text_add_markdown(out, figure_bound(c));
    text_addf(out, " | %s | ", figure_verified(c));
    struct text flags = {0};
    figure_flags(&flags, c);
    text_add_markdown(out, flags.data);
    text_release(&flags);
    text_add(out, " |\n");
}

enum status report_markdown(struct text *out, const struct result *result, const struct report_options *options,
                            struct err *err)
{
    struct arena arena = {0};
    const size_t start = out->length;
    size_t shown = 0, measured = 0;
    (void)options;
    (void)err;
    header(out, result);
    findings(out, result, &arena);
    kpis(out, result);
    derived_values(out, result, &arena);
    text_addf(out, "<details><summary>All cases</summary>\n\n| case | time | rate | of roof | bound | verified | |\n"
                   "|---|---:|---:|---:|---|---|---|\n");
    for (size_t k = 0; k < result->case_count; k++) {
        if (!result->cases[k].sample_count)
            continue;
        measured++;
        if (out->length - start > MOST_BYTES)
            continue;
        case_line(out, &result->cases[k]);
        shown++;
    }
    if (measured > shown)
        text_addf(out, "\n%zu more cases are in the result file.\n", measured - shown);
    text_add(out, "\n</details>\n");
    arena_release(&arena);
    return STATUS_OK;
}
