/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "rooftile/compare.h"
#include "rooftile/report.h"

/* "0.01" or "1%". */
static enum status read_fraction(double *fraction, const char *option, const char *word, struct err *err)
{
    char *end = NULL;
    if (!word)
        return STATUS_OK;
    double value = strtod(word, &end);
    if (end != word && !strcmp(end, "%")) {
        value /= 100;
        end++;
    }
    if (end == word || *end || !(value > 0 && value < 1))
        return err_set(err, ERR_USAGE, "--%s %s: expected a fraction above 0 and below 1, such as 0.01 or 1%%", option,
                       word);
    *fraction = value;
    return STATUS_OK;
}

static enum status read_options(struct compare_options *out, const struct cli_options *options, struct err *err)
{
    *out = (struct compare_options){
        .shift = shift_defaults(), .filters = options->filters, .filter_count = options->filter_count};
    enum status status = read_fraction(&out->shift.alpha, "alpha", options->alpha, err);
    if (!status)
        status = read_fraction(&out->shift.delta, "delta", options->delta, err);
    out->shift.same = fmax(out->shift.same, out->shift.delta);
    return status;
}

static enum status write_formats(const struct comparison *comparison, const struct cli_options *options,
                                 struct err *err)
{
    struct text text = {0};
    enum status status = STATUS_OK;
    const bool to_file = options->out && strcmp(options->out, "-") != 0;
    const struct report_options plain = {0}, terminal = {.color = log_use_color(STDOUT_FILENO),
                                                         .columns = cli_columns(STDOUT_FILENO)};
    if (options->json) {
        report_comparison(&text, "json", comparison, &plain);
        status = cli_write(options->json, &text, err);
        text_clear(&text);
    }
    if (!status && !(options->json && !strcmp(options->json, "-"))) {
        report_comparison(&text, options->format ? options->format : "table", comparison, to_file ? &plain : &terminal);
        status = cli_write(options->out, &text, err);
    }
    text_release(&text);
    return status;
}

int cmd_compare(const struct cli_options *options, struct arena *arena)
{
    const struct result *sides[2] = {NULL, NULL};
    struct comparison comparison;
    struct compare_options compare;
    struct err err = {0};
    enum status status = read_options(&compare, options, &err);
    if (!status && options->format && !report_has_format(options->format))
        status = err_set(&err, ERR_USAGE, "a comparison has no format '%s': " REPORT_FORMATS, options->format);
    for (int k = 0; k < 2 && !status; k++)
        status = result_read_light(&sides[k], options->args[k], arena, &err);
    if (!status)
        status = noise_file_read(&compare.noise, noise_file_path(sides[1], arena), arena, &err);
    if (!status)
        status = compare_results(&comparison, sides[0], sides[1], &compare, arena, &err);
    if (!status)
        status = write_formats(&comparison, options, &err);
    return status ? cli_fail(&err) : compare_exit_code(&comparison, options->strict);
}
