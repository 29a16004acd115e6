/* SPDX-License-Identifier: MIT
 *
 * Commands on existing files: results, schemas.
 */

#include "cli.h"
#include "rooftile/file.h"
#include "rooftile/render.h"

static void write_result(struct text *out, const char *format, const void *what, const struct report_options *look)
{
    report_write(out, report_format_find(format), what, look);
}

/* Whether --format is this one of several formats. */
static bool is_format(const struct cli_options *options, const char *format)
{
    return options->format && !strcmp(options->format, format);
}

/* Compares with the known noise of this device. */
static enum status judge(struct comparison *comparison, const struct result *base, const struct result *now,
                         struct compare_options *options, struct arena *arena, struct err *err)
{
    const char *noise = NULL;
    return noise_file_path(&noise, now, false, arena, err) || noise_file_read(&options->noise, noise, arena, err)
               ? err->status
               : compare_results(comparison, base, now, options, arena, err);
}

/* Compares two results of one device and suite. Results of several suites on one device are named after their files. */
static enum status write_page(const struct call *call, const struct result *const *results, size_t count,
                              struct err *err)
{
    struct compare_options compare = {.shift = shift_defaults()};
    struct report_page page = {.results = results, .count = count};
    struct comparison comparison;
    SCOPED(text_release) struct text text = {0};
    enum status status = STATUS_OK;
    const char **names = arena_array(call->arena, count, sizeof(*names));
    const bool alike = COUNT_WHERE(one, results, count, !strcmp((*one)->device.name, results[0]->device.name)) == count;
    for (size_t k = 0; k < count; k++)
        names[k] = path_stem(path_base(call->options->args[k]), ".json", call->arena);
    page.names = alike ? names : NULL;
    const struct result *a = results[0], *b = results[count - 1];
    const size_t both = COUNT_WHERE(c, a->cases, a->case_count, FIND_ROW(b->cases, b->case_count, id, c->id) != NULL);
    /* Two runs of one suite share at least half of their cases. */
    if (count == 2 && alike && 2 * both >= (a->case_count < b->case_count ? a->case_count : b->case_count)) {
        status = judge(&comparison, results[0], results[1], &compare, call->arena, err);
        page.comparison = &comparison;
    }
    if (status)
        return status;
    report_page(&text, &page, &(struct report_options){0});
    return cli_write(call->options->out, &text, err);
}

enum status cmd_report(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    const struct report_selection wanted = {options->filters, options->filter_count, options->sort, options->top};
    const struct result **results = arena_array(call->arena, options->arg_count, sizeof(const struct result *));
    struct result *chosen = arena_array(call->arena, options->arg_count, sizeof(*chosen));
    enum status status = STATUS_OK;
    if (options->history || (options->arg_count && file_is_dir(options->args[0])))
        return !options->format || is_format(options, "html")
                   ? site_write(call, err)
                   : err_set(err, ERR_USAGE, "a site is pages: --format html");
    if (!options->arg_count)
        return options_check_count(0, 1, SIZE_MAX, "report", "RESULT...", err);
    if (options->arg_count > 1 && !is_format(options, "html"))
        return err_set(err, ERR_USAGE, "several results make a page: --format html; 'rooftile compare' compares two");
    for (size_t k = 0; k < options->arg_count && !status; k++) {
        status = argument_result(&results[k], options->args[k], false, call->arena, err);
        if (!status)
            status = report_select(&chosen[k], results[k], &wanted, call->arena, err);
        results[k] = &chosen[k];
    }
    if (status)
        return status;
    if (is_format(options, "html"))
        return write_page(call, results, options->arg_count, err);
    SCOPED(text_release) struct text text = {0};
    if (is_format(options, "svg") || (options->picture && !options->format))
        return report_picture(&text, chosen, options->picture ? options->picture : "roofline", err) ||
                       cli_write(options->out, &text, err)
                   ? err->status
                   : STATUS_OK;
    return cli_show(options, options->out, write_result, chosen, err);
}

enum status cmd_merge(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct result merged;
    const struct result **parts = arena_array(call->arena, options->arg_count, sizeof(const struct result *));
    if (!options->out)
        return err_set(err, ERR_USAGE, "say with -o where to write the run");
    for (size_t k = 0; k < options->arg_count; k++)
        if (argument_result(&parts[k], options->args[k], false, call->arena, err))
            return err->status;
    if (result_merge(&merged, parts, options->args, options->arg_count, call->arena, err) ||
        cli_check_output(options->out, call->arena, err) || result_write(&merged, options->out, err))
        return err->status;
    log_info("%u trial%s of %zu case%s in %s", merged.trials, text_s(merged.trials), merged.case_count,
             text_s(merged.case_count), options->out);
    return STATUS_OK;
}

/* ---- compare ---- */

enum status comparison_check_format(const struct cli_options *options, struct err *err)
{
    if (!options->format || report_has_format(options->format) || is_format(options, "html"))
        return STATUS_OK;
    return err_set(err, ERR_USAGE, "a comparison has no format '%s': " REPORT_FORMATS ", or html", options->format);
}

static void write_comparison(struct text *out, const char *format, const void *what, const struct report_options *look)
{
    report_comparison(out, format, what, look);
}

enum status comparison_show(struct comparison *comparison, const struct result *base, const struct result *now,
                            struct compare_options *options, const struct call *call, const char *path, struct err *err)
{
    if (judge(comparison, base, now, options, call->arena, err))
        return err->status;
    return cli_show(call->options, path, write_comparison, comparison, err);
}

enum status cmd_compare(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    const struct result *sides[2] = {NULL, NULL};
    struct comparison comparison;
    struct compare_options compare = {
        .shift = shift_defaults(), .filters = options->filters, .filter_count = options->filter_count};
    compare.shift.alpha = options->alpha > 0 ? options->alpha : compare.shift.alpha;
    compare.shift.delta = options->delta > 0 ? options->delta : compare.shift.delta;
    compare.shift.same = fmax(compare.shift.same, compare.shift.delta);
    enum status status = comparison_check_format(options, err);
    for (int k = 0; k < 2 && !status; k++)
        status = argument_result(&sides[k], options->args[k], !is_format(options, "html"), call->arena, err);
    const struct report_selection wanted = {.filters = options->filters, .filter_count = options->filter_count};
    struct document document = {.arena = call->arena};
    if (!status && options->devices && is_format(options, "junit"))
        return err_set(err, ERR_USAGE, "--devices gives no verdict, so it has no format 'junit'");
    if (!status && options->devices)
        return report_devices(&document, sides[0], sides[1], &wanted, err) ||
                       cli_show_document(options, &document, true, err)
                   ? err->status
                   : STATUS_OK;
    if (!status)
        status = comparison_show(&comparison, sides[0], sides[1], &compare, call, options->out, err);
    if (!status)
        call->code = compare_exit_code(&comparison, options->strict);
    return status;
}

/* ---- schema ---- */

enum status cmd_schema(struct call *call, struct err *err)
{
    static const char suffix[] = ".schema.json";
    const char *wanted = call->options->arg_count ? call->options->args[0] : NULL;
    char **paths = NULL, *data = NULL;
    size_t count = 0, length = 0;
    if (session_configs(&paths, &count, "schema", suffix, call->arena, err))
        return err->status;
    if (!count)
        return err_set(err, ERR_IO, "no configs folder found beside the program; set ROOFTILE_CONFIGS");
    const char **names = arena_array(call->arena, count, sizeof(*names));
    for (size_t k = 0; k < count; k++) {
        names[k] = path_stem(path_base(paths[k]), suffix, call->arena);
        if (!wanted) {
            text_addf(&call->out, "%-10s %s\n", names[k], paths[k]);
        } else if (!strcmp(names[k], wanted)) {
            enum status status = file_read(&data, &length, paths[k], FILE_LIMIT_BYTES, call->arena, err);
            text_addn(&call->out, data, status ? 0 : length);
            return status;
        }
    }
    if (!wanted)
        return STATUS_OK;
    err_set(err, ERR_USAGE, "unknown schema '%s'", wanted);
    return err_nearest(err, wanted, names, count, "'rooftile schema' lists them");
}
