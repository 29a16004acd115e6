/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "rooftile/report.h"

static bool is_stdout(const char *path)
{
    return !path || !strcmp(path, "-");
}

int cmd_report(const struct cli_options *options, struct arena *arena)
{
    const struct result *result = NULL;
    struct err err = {0};
    struct text text = {0};
    const struct report_format *format = report_format_find(options->format ? options->format : "table");
    const struct report_options report = {.color = log_use_color(STDOUT_FILENO) && is_stdout(options->out),
                                          .columns = is_stdout(options->out) ? cli_columns(STDOUT_FILENO) : 0,
                                          .verbose = options->verbose > 0};
    enum status status = format ? STATUS_OK : err_set(&err, ERR_USAGE, "unknown format '%s'", options->format);
    if (!status)
        status = result_read(&result, options->args[0], arena, &err);
    if (!status)
        report_write(&text, format, result, &report);
    if (!status)
        status = cli_write(options->out, &text, &err);
    text_release(&text);
    return status ? cli_fail(&err) : 0;
}
