/* SPDX-License-Identifier: MIT
 *
 * Judges the results of many devices. Only reads files.
 */

#include "cli.h"
#include "rooftile/file.h"
#include "rooftile/fleet.h"
#include "rooftile/render.h"

/* Folders may contain this command's own output, which is no result. */
static void write_fleet(struct text *out, const char *format, const void *what, const struct report_options *look)
{
    const struct fleet *fleet = what;
    SCOPED(arena_release) struct arena arena = {0};
    struct document document = {.arena = &arena};
    if (!strcmp(format, "nagios")) {
        fleet_nagios(out, fleet);
    } else if (!strcmp(format, "openmetrics")) {
        fleet_openmetrics(out, fleet);
    } else {
        fleet_document(&document, fleet, look->verbose);
        render_find(format)(out, &document, look);
    }
}

enum status cmd_fleet(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct fleet *fleet = arena_alloc(call->arena, sizeof(*fleet));
    const struct fleet_baseline *baseline = NULL;
    const char **expected = NULL;
    size_t expected_count = 0;
    fleet->arena = call->arena;
    fleet->baseline = options->baseline;
    const char *format = options->format;
    const bool nagios = format && !strcmp(format, "nagios");
    if (format && !nagios && !render_find(format) && strcmp(format, "openmetrics") != 0)
        return err_set(err, ERR_USAGE, "a fleet has no format '%s': " REPORT_FORMATS ", nagios, openmetrics or html",
                       format);
    if ((options->expect && fleet_node_list(&expected, &expected_count, options->expect, call->arena, err)) ||
        (options->baseline && fleet_baseline_read(&baseline, options->baseline, call->arena, err)) ||
        fleet_read(fleet, options->args, options->arg_count, err))
        return err->status;
    if (!fleet->device_count && !expected_count && !nagios)
        return err_set(err, ERR_IO, "no result was read%s%s", fleet->unread_count ? ": " : "",
                       fleet->unread_count ? fleet->unread[0] : "");
    fleet_judge(fleet, expected, expected_count, baseline);
    call->code = fleet_exit_code(fleet, options->strict);
    if (!options->list && !options->confirm_devices) {
        SCOPED(text_release) struct text page = {0};
        call->code = nagios ? fleet_nagios_code(fleet) : call->code;
        if (options->html)
            write_fleet(&page, "html", fleet, &(struct report_options){0});
        return (options->html && cli_write(options->html, &page, err)) ||
                       cli_show(options, options->out, write_fleet, fleet, err)
                   ? err->status
                   : STATUS_OK;
    }
    const char **names = NULL;
    const size_t count = options->list ? fleet_nodes(&names, fleet, !strcmp(options->list, "bad"), call->arena) : 0;
    for (size_t k = 0; k < count; k++)
        text_addf(&call->out, "%s\n", names[k]);
    for (size_t k = 0; k < fleet->device_count && !options->list; k++) /* devices that are slow in one run only */
        if (fleet->devices[k].verdict == FLEET_SLOW && fleet->devices[k].runs < 2)
            text_addf(&call->out, "%s\n", fleet->devices[k].name);
    return STATUS_OK;
}
