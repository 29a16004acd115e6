/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_internal.h"
#include "rooftile/units.h"

enum { LEAST_LABEL = 12, MOST_LABEL = 44, FIXED_COLUMNS = 66 };

static unsigned label_width(const struct result *result, const struct report_options *options)
{
    size_t widest = LEAST_LABEL;
    for (size_t k = 0; k < result->case_count; k++) {
        const size_t columns = text_columns(result->cases[k].label);
        widest = columns > widest ? columns : widest;
    }
    const unsigned columns = options->columns ? options->columns : 100;
    const unsigned room = columns > FIXED_COLUMNS + LEAST_LABEL ? columns - FIXED_COLUMNS : LEAST_LABEL;
    const unsigned most = room > MOST_LABEL ? room : MOST_LABEL < room ? MOST_LABEL : room;
    return widest > most ? most : (unsigned)widest;
}

/* Pads by what a terminal shows, not by bytes. */
static void cell(struct text *out, const char *text, unsigned width, bool right)
{
    const size_t columns = text_columns(text);
    const size_t pad = columns < width ? width - columns : 0;
    if (right)
        text_pad(out, pad, ' ');
    text_add(out, text);
    if (!right)
        text_pad(out, pad, ' ');
}

static void label_cell(struct text *out, const char *label, unsigned width)
{
    char cut[256];
    if (text_columns(label) > width) {
        snprintf(cut, sizeof(cut), "%.*s~", (int)width - 1, label);
        label = cut;
    }
    cell(out, label, width, false);
}

static void header(struct text *out, unsigned width, const struct report_options *options)
{
    struct text line = {0};
    cell(&line, "case", width, false);
    cell(&line, "time", 10, true);
    cell(&line, "\u00b195%", 6, true);
    cell(&line, "rate", 14, true);
    cell(&line, "FLOP/B", 8, true);
    text_add(&line, "  ");
    cell(&line, "bound", 11, false);
    cell(&line, "of roof", 8, true);
    text_add(&line, "  verified");
    styled(out, options, STYLE_BOLD, line.data);
    text_add(out, "\n");
    text_release(&line);
}

static void fraction_cell(struct text *out, const struct result_case *c, const struct report_options *options)
{
    char fraction[FIGURE_TEXT];
    figure_fraction(fraction, c);
    text_pad(out, 8 - (strlen(fraction) < 8 ? strlen(fraction) : 8), ' ');
    if (isfinite(c->fraction) && c->fraction >= 0.8)
        styled(out, options, STYLE_GREEN, fraction);
    else
        text_add(out, fraction);
}

static void measured_row(struct text *out, const struct result_case *c, const struct report_options *options)
{
    char time[UNITS_TEXT], ci[24], rate[FIGURE_TEXT], intensity[FIGURE_TEXT];
    snprintf(ci, sizeof(ci), "%.1f%%", (c->stats.ci95[1] - c->stats.ci95[0]) / 2 / c->stats.median * 100);
    cell(out, units_time(time, c->stats.median), 10, true);
    cell(out, ci, 6, true);
    cell(out, figure_rate(rate, c), 14, true);
    cell(out, figure_intensity(intensity, c), 8, true);
    text_add(out, "  ");
    cell(out, c->floor.bound[0] ? c->floor.bound : "-", 11, false);
    fraction_cell(out, c, options);
    text_add(out, "  ");
    if (c->verification.verdict == VERIFY_FAIL)
        styled(out, options, STYLE_RED, "WRONG");
    else
        text_add(out, figure_verified(c));
}

static void row(struct text *out, const struct result_case *c, unsigned width, const struct report_options *options)
{
    struct text flags = {0};
    label_cell(out, c->label, width);
    const bool measured = c->status == CASE_OK && c->sample_count;
    if (measured) {
        measured_row(out, c, options);
    } else {
        text_add(out, "  ");
        styled(out, options, c->status == CASE_SKIPPED || c->status == CASE_OK ? STYLE_DIM : STYLE_RED,
               c->status == CASE_OK ? figure_verified(c) : case_status_name(c->status));
    }
    figure_flags(&flags, c);
    if (flags.length) {
        text_pad(out, measured ? 8 - (unsigned)strlen(figure_verified(c)) : 1, ' ');
        styled(out, options, c->flags & FLAG_IMPOSSIBLE ? STYLE_RED : STYLE_YELLOW, flags.data);
    }
    text_release(&flags);
    text_add(out, "\n");
    if (c->status != CASE_OK && c->reason && c->reason[0])
        text_addf(out, "    %s\n", c->reason);
    else if (c->flags & FLAG_IMPOSSIBLE && c->reason)
        text_addf(out, "    impossible: %s\n", c->reason);
}

/* ---- the lines under the table ---- */

struct counts {
    size_t ok, verified, skipped, bad, disturbed, impossible;
};

static struct counts count_cases(const struct result *result)
{
    struct counts counts = {0};
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        counts.ok += c->status == CASE_OK;
        counts.verified += c->verification.verdict == VERIFY_PASS;
        counts.skipped += c->status == CASE_SKIPPED;
        counts.bad += c->status != CASE_OK && c->status != CASE_SKIPPED;
        counts.disturbed += (c->flags & FLAG_DISTURBED) != 0;
        counts.impossible += (c->flags & FLAG_IMPOSSIBLE) != 0;
    }
    return counts;
}

static void summary_lines(struct text *out, const struct result *result, const struct report_options *options)
{
    const struct counts counts = count_cases(result);
    text_addf(out, "\n%zu cases: %zu %s, %zu verified", result->case_count, counts.ok,
              result->predicted ? "predicted" : "measured", counts.verified);
    if (counts.skipped)
        text_addf(out, ", %zu skipped", counts.skipped);
    if (counts.bad) {
        struct text bad = {0};
        text_addf(&bad, ", %zu wrong or broken", counts.bad);
        styled(out, options, STYLE_RED, bad.data);
        text_release(&bad);
    }
    if (counts.impossible)
        text_addf(out, ", %zu impossible", counts.impossible);
    text_add(out, "\n");
    if (counts.disturbed)
        text_addf(out, "%zu disturbed: the machine's reference rates moved over 5 %% while these ran (a neighbour, or a "
                       "clock)\n", counts.disturbed);
    text_addf(out, "on %s, %u %s, wave %u; seed %llu\n", result->device.name, result->device.cus,
              !strcmp(result->device.backend, "cpu") ? "threads" : "CUs", result->device.wave,
              (unsigned long long)result->seed);
    if (result->status && !strcmp(result->status, "interrupted"))
        styled(out, options, STYLE_YELLOW, "interrupted: this is a partial result\n");
}

enum status report_table(struct text *out, const struct result *result, const struct report_options *options,
                         struct err *err)
{
    (void)err;
    const unsigned width = label_width(result, options);
    const char *kernel = NULL;
    predicted_banner(out, result, options);
    header(out, width, options);
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (kernel && strcmp(kernel, c->kernel))
            text_add(out, "\n");
        kernel = c->kernel;
        row(out, c, width, options);
    }
    summary_lines(out, result, options);
    report_roofline_text(out, result, options);
    predicted_banner(out, result, options);
    return STATUS_OK;
}

void report_case_line(struct text *out, const struct result_case *c, size_t done, size_t total,
                      const struct report_options *options)
{
    char time[FIGURE_TEXT], rate[FIGURE_TEXT], fraction[FIGURE_TEXT];
    (void)options;
    text_addf(out, "[%zu/%zu] %s: ", done, total, c->label);
    if (c->status != CASE_OK) {
        text_addf(out, "%s: %s\n", case_status_name(c->status), c->reason ? c->reason : "");
        return;
    }
    text_add(out, figure_time(time, c));
    if (figure_rate(rate, c)[0])
        text_addf(out, ", %s", rate);
    if (isfinite(c->fraction) && c->fraction > 0)
        text_addf(out, ", %s of %s", figure_fraction(fraction, c), c->floor.bound);
    if (c->timer == TIMED_SIM)
        text_add(out, ", predicted");
    else
        text_addf(out, ", %s", c->verification.verdict == VERIFY_PASS ? "verified" : "not verified");
    if (c->flags) {
        text_add(out, ", ");
        figure_flags(out, c);
    }
    text_add(out, "\n");
}
