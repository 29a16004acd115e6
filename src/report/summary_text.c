/* SPDX-License-Identifier: MIT
 *
 * What stands under the table: counts, what the flags mean, the device; and the one line per case of a log.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "derived_text.h"
#include "report_internal.h"
#include "rooftile/units.h"

static void add_counts(struct text *out, const struct result *result, const struct report_options *options)
{
    size_t of_status[CASE_ERROR + 1] = {0}, verified = 0, impossible = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        of_status[c->status <= CASE_ERROR ? c->status : CASE_NONE]++;
        verified += c->verification.verdict == VERIFY_PASS;
        impossible += (c->flags & FLAG_IMPOSSIBLE) != 0;
    }
    text_addf(out, "\n%zu case%s: %zu %s, %zu verified", result->case_count, result->case_count == 1 ? "" : "s",
              of_status[CASE_OK], result->predicted ? "predicted" : "measured", verified);
    for (int status = CASE_FAILED; status <= CASE_ERROR; status++) {
        struct text some = {0};
        if (!of_status[status])
            continue;
        text_addf(&some, "%zu %s", of_status[status], case_status_name((enum case_status)status));
        text_add(out, ", ");
        styled(out, options, status == CASE_SKIPPED ? STYLE_PLAIN : STYLE_RED, some.data);
        text_release(&some);
    }
    if (impossible)
        text_addf(out, ", %zu impossible", impossible);
    text_add(out, "\n");
}

static void add_flag_legend(struct text *out, const struct result *result, bool marks, unsigned columns)
{
    for (const struct flag_words *flag = flag_words; flag->flag; flag++) {
        struct text line = {0};
        size_t count = 0;
        for (size_t k = 0; k < result->case_count; k++)
            count += (result->cases[k].flags & flag->flag) != 0;
        if (!count)
            continue;
        if (marks)
            text_addf(&line, "%c = ", flag->mark);
        text_addf(&line, "%s (%zu): %s", flag->name, count, flag->meaning);
        wrapped(out, line.data, 0, columns);
        text_release(&line);
    }
}

static const char *kpi_value(char out[static UNITS_TEXT], const struct result_kpi *kpi)
{
    return strcmp(kpi->of, "fraction") ? units_quantity(out, kpi->value, kpi->unit) : units_percent(out, kpi->value);
}

static void add_kpis(struct text *out, const struct result *result, const struct report_options *options)
{
    struct arena scratch = {0};
    size_t width = 0;
    for (size_t k = 0; k < result->kpi_count; k++)
        width = text_columns(result->kpis[k].name) > width ? text_columns(result->kpis[k].name) : width;
    if (result->kpi_count)
        styled(out, options, STYLE_BOLD, "\nkey figures\n");
    for (size_t k = 0; k < result->kpi_count; k++) {
        const struct result_kpi *kpi = &result->kpis[k];
        char value[UNITS_TEXT];
        text_addf(out, "  %s", printable(&scratch, kpi->name));
        text_pad(out, width - text_columns(kpi->name) + 2, ' ');
        if (isfinite(kpi->value) && !strcmp(kpi->method, "value"))
            text_addf(out, "%s\n", kpi_value(value, kpi));
        else if (isfinite(kpi->value))
            text_addf(out, "%s  (%s of %u cases)\n", kpi_value(value, kpi), kpi->method, kpi->case_count);
        else
            text_addf(out, "none: %s\n", printable(&scratch, kpi->reason));
    }
    arena_release(&scratch);
}

/* Which library the cases of one kernel called, once. */
static void add_libraries(struct text *out, const struct result *result, unsigned columns)
{
    struct arena scratch = {0};
    const struct result_case *last = NULL;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!c->library || !*c->library || (last && !strcmp(last->kernel, c->kernel)))
            continue;
        wrapped(out,
                arena_printf(&scratch, "%s is %s", printable(&scratch, c->kernel), printable(&scratch, c->library)), 0,
                columns);
        last = c;
    }
    arena_release(&scratch);
}

void summary_lines(struct text *out, const struct result *result, const struct report_options *options, bool marks)
{
    struct arena scratch = {0};
    add_kpis(out, result, options);
    derived_lines(out, result, options);
    add_counts(out, result, options);
    add_flag_legend(out, result, marks, report_columns(options));
    text_addf(out, "on %s, %u %s, wave %u; seed %llu\n", printable(&scratch, result->device.name), result->device.cus,
              !strcmp(result->device.backend, "cpu") ? "threads" : "CUs", result->device.wave,
              (unsigned long long)result->seed);
    add_libraries(out, result, report_columns(options));
    if (result->status && !strcmp(result->status, "interrupted"))
        styled(out, options, STYLE_YELLOW, "interrupted: this is a partial result\n");
    arena_release(&scratch);
}

static void add_measured(struct text *out, const struct result_case *c)
{
    char figure[FIGURE_TEXT];
    text_add(out, figure_time(figure, c));
    if (figure_rate(figure, c)[0])
        text_addf(out, ", %s", figure);
    if (strcmp(figure_fraction(figure, c), "-") != 0)
        text_addf(out, ", %s of %s", figure, c->floor.ceiling_name);
    text_addf(out, ", %s",
              c->timer == TIMED_SIM                    ? "predicted"
              : c->verification.verdict == VERIFY_PASS ? "verified"
                                                       : "not verified");
    if (c->flags) {
        text_add(out, ", ");
        figure_flags(out, c);
    }
}

void report_case_line(struct text *out, const struct result_case *c, size_t done, size_t total,
                      const struct report_options *options)
{
    struct arena scratch = {0};
    struct text line = {0};
    (void)options;
    text_addf(&line, "[%zu/%zu] %s: ", done, total, c->label && c->label[0] ? c->label : c->id);
    if (c->status == CASE_OK)
        add_measured(&line, c);
    else
        text_addf(&line, "%s: %s", case_status_name(c->status), c->reason ? c->reason : "");
    text_addf(out, "%s\n", printable(&scratch, line.data));
    text_release(&line);
    arena_release(&scratch);
}
