/* SPDX-License-Identifier: MIT
 *
 * Writes a folder of pages that link only to each other: each channel of a history on each device, fleets, results, and
 * an index of them. They need no web server, and any will do.
 */

#include "cli.h"
#include "rooftile/file.h"
#include "rooftile/fleet.h"
#include "rooftile/hash.h"
#include "rooftile/history.h"
#include "rooftile/render.h"

struct site {
    const struct cli_options *options;
    struct arena *arena;
    struct site_page *pages;
    size_t count;
};

enum { MOST_NAME = 120 };
static const char index_file[] = "index.html";

/* A page's file name is derived from its subject, so that it stays the same over time. */
static const char *file_of(const struct site *site, const char *name)
{
    char stem[MOST_NAME + 1];
    size_t length = 0;
    for (const char *at = name; *at && length < MOST_NAME; at++)
        if (isalnum((unsigned char)*at) || (length && stem[length - 1] != '-'))
            stem[length++] = isalnum((unsigned char)*at) ? *at : '-';
    stem[length] = '\0';
    const char *file = arena_printf(site->arena, "%s.html", stem);
    for (unsigned again = 2; !strcmp(file, index_file) || FIND_ROW(site->pages, site->count, file, file); again++)
        file = arena_printf(site->arena, "%s-%u.html", stem, again);
    return file;
}

static enum status write_page(struct site *site, const char *file, const struct document *document, struct err *err)
{
    const struct report_options plain = {0};
    SCOPED(text_release) struct text text = {0};
    render_html(&text, document, &plain);
    return cli_write(path_join(site->arena, site->options->out, file), &text, err);
}

static enum status add_page(struct site *site, const struct site_page *page, struct document *document, struct err *err)
{
    document->index = index_file;
    ARENA_PUSH(site->arena, site->pages, site->count, *page);
    return write_page(site, page->file, document, err);
}

/* The first line of a verdict that has several: what happened. */
static const char *change_of(const struct site *site, const struct document *document)
{
    return strchr(document->verdict, '\n')
               ? arena_strndup(site->arena, document->verdict, strcspn(document->verdict, "\n"))
               : "";
}

static enum status add_place(struct site *site, struct history *history, const struct history_place *place,
                             struct err *err)
{
    const struct gate_options rules = gate_defaults();
    struct document document = {.arena = site->arena};
    struct history_gate gate = {0};
    if (history_gate(&gate, history, place->channel, place->key, &rules, site->arena, err))
        return err->status;
    gate_document(&document, &gate);
    const char *name = arena_printf(site->arena, "%s-%.40s-%04x", place->channel, gate.device,
                                    (unsigned)(hash_u64(place->key, strlen(place->key)) & 0xffff));
    const struct site_page page = {.file = file_of(site, name),
                                   .title = document.title,
                                   .date = gate.run,
                                   .verdict = document.mark,
                                   .change = change_of(site, &document),
                                   .words = arena_printf(site->arena, "nothing in %zu run%s of %zu series", gate.runs,
                                                         text_s(gate.runs), gate.count),
                                   .window = gate.window};
    return add_page(site, &page, &document, err);
}

static enum status add_history(struct site *site, const char *path, struct err *err)
{
    const struct history_place *places = NULL;
    struct history *history = NULL;
    size_t count = 0;
    enum status status = history_open(&history, path, HISTORY_WRITE, err); /* write access records the judged runs */
    if (!status)
        status = history_places(&places, &count, history, site->arena, err);
    for (size_t k = 0; k < count && !status; k++)
        status = add_place(site, history, &places[k], err);
    history_close(history);
    return status;
}

static enum status add_fleet(struct site *site, const char *folder, struct err *err)
{
    struct document document = {.arena = site->arena};
    struct fleet *fleet = arena_alloc(site->arena, sizeof(*fleet));
    fleet->arena = site->arena;
    if (fleet_read(fleet, &folder, 1, err))
        return err->status;
    if (!fleet->device_count)
        return err_set(err, ERR_CONFIG, "%s has no result%s%s", folder, fleet->unread_count ? ": " : "",
                       fleet->unread_count ? fleet->unread[0] : "");
    fleet_judge(fleet, NULL, 0, NULL);
    fleet_document(&document, fleet, false);
    const char *name = path_base(folder);
    const struct site_page page = {.file = file_of(site, arena_printf(site->arena, "fleet-%s", name)),
                                   .title = arena_printf(site->arena, "fleet %s", name),
                                   .date = fleet->date,
                                   .verdict = document.mark,
                                   .change = change_of(site, &document),
                                   .words = document.verdict};
    return add_page(site, &page, &document, err);
}

enum status site_write(const struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct site site = {.options = options, .arena = call->arena};
    struct document index = {.arena = call->arena};
    enum status status = options->out && strcmp(options->out, "-") != 0
                             ? file_make_dirs(options->out, err)
                             : err_set(err, ERR_USAGE, "of %s a site is made: say with -o where, as it is a folder",
                                       options->arg_count ? options->args[0] : options->history);
    if (!status && options->history)
        status = add_history(&site, options->history, err);
    for (size_t k = 0; k < options->arg_count && !status; k++)
        status =
            file_is_dir(options->args[k])
                ? add_fleet(&site, options->args[k], err)
                : err_set(err, ERR_USAGE, "%s: beside a history stand folders of a fleet's results", options->args[k]);
    if (status)
        return status;
    site_document(&index, site.pages, site.count);
    status = write_page(&site, index_file, &index, err);
    if (!status)
        log_info("%zu page%s: %s", site.count, text_s(site.count), path_join(site.arena, options->out, index_file));
    return status;
}
