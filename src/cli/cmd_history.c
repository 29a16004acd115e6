/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "cli.h"
#include "rooftile/file.h"
#include "rooftile/history.h"
#include "rooftile/render.h"

enum { CONFIRM_TRIALS = 5 };

struct verb {
    const char *name;
    enum history_access access;   /* a gate over a missing history must not pass */
    size_t least_args, most_args; /* after the verb */
    const char *args;
    enum status (*run)(struct call *call, struct history *history, struct err *err);
};

/* ---- add ---- */

static enum status run_add(struct call *call, struct history *history, struct err *err)
{
    const struct cli_options *options = call->options;
    const struct history_add_options add = {
        .channel = options->channel, .backfill = options->backfill, .keep = options->keep};
    for (size_t k = 1; k < options->arg_count; k++) {
        const char *path = options->args[k];
        const struct result *result = NULL;
        struct history_added added;
        if (argument_result(&result, path, true, call->arena, err))
            return err->status;
        if (history_add(history, result, &add, &added, err))
            return err_within(err, "%s", path);
        log_info("%s: %zu series, %zu of them new%s", path, added.points, added.new_series,
                 added.environment_changed ? "; the environment changed since the run before" : "");
        if (added.dropped_runs)
            log_info("%zu old run%s dropped", added.dropped_runs, added.dropped_runs == 1 ? " was" : "s were");
    }
    return STATUS_OK;
}

/* ---- gate ---- */

/* Returns a glob that matches only this text. */
static const char *glob_of(const char *text, struct arena *arena)
{
    char *glob = arena_alloc(arena, 2 * strlen(text) + 1), *end = glob;
    for (const char *c = text; *c; c++) {
        if (strchr("*?[\\", *c))
            *end++ = '\\';
        *end++ = *c;
    }
    *end = '\0';
    return glob;
}

/* Measures this run's candidates again, in 5 trials without the other cases, and adds the trials to those of the
 * run. */
static enum status confirm(struct call *call, struct history *history, const struct history_gate *gate, struct err *err)
{
    struct arena *arena = call->arena;
    struct cli_options again = *call->options;
    struct session session = {.options = &again, .arena = arena, .args = &again.confirm, .arg_count = 1};
    struct trials run = {.session = &session, .title = "confirm"};
    struct result *result = arena_alloc(arena, sizeof(*result));
    struct device_request request = {0};
    struct err ignored = {0};
    const char **ids = NULL;
    size_t points = 0;
    again.filter_count = history_candidates(&ids, gate, arena);
    for (size_t k = 0; k < again.filter_count; k++)
        ids[k] = glob_of(ids[k], arena);
    again.filters = ids;
    if (!again.filter_count)
        return STATUS_OK;
    /* --device may be a part of the history's device name, which cannot be opened as a device. */
    if (again.device && device_parse(&request, again.device, &ignored))
        again.device = NULL;
    again.seed += (uint64_t)getpid(); /* a different order from that of the run */
    log_info("measuring %zu case%s again", again.filter_count, text_s(again.filter_count));
    if (session_go(&session, SESSION_PREPARE | SESSION_CODE | SESSION_PREDICT, err) ||
        trials_measure(result, &run, again.trials ? again.trials : CONFIRM_TRIALS, err))
        return execute_journals_kept(&session, err);
    const char *why = result_unmeasured(result);
    if (why)
        err_set(err, ERR_DEVICE, "nothing could be measured again: %s", why);
    if (why || history_confirm(history, gate->channel, result, &points, err))
        return execute_journals_kept(&session, err);
    execute_journals_done(&session);
    return STATUS_OK;
}

static void write_gate(struct text *out, const char *format, const void *what, const struct report_options *look)
{
    report_gate(out, format, what, look);
}

static enum status run_gate(struct call *call, struct history *history, struct err *err)
{
    const struct cli_options *options = call->options;
    const struct gate_options rules = gate_defaults();
    struct history_gate gate = {0};
    if (options->format && strcmp(options->format, "html") != 0 && strcmp(options->format, "openmetrics") != 0 &&
        !report_has_format(options->format))
        return err_set(err, ERR_USAGE, "the gate has no format '%s': html, openmetrics, " REPORT_FORMATS,
                       options->format);
    enum status status = history_gate(&gate, history, options->channel, options->device, &rules, call->arena, err);
    if (!status && options->confirm) {
        session_catch_signals(0);
        status = confirm(call, history, &gate, err);
        if (!status)
            status = history_gate(&gate, history, options->channel, options->device, &rules, call->arena, err);
    }
    if (status)
        return status;
    call->code = history_exit_code(&gate, options->strict);
    return cli_show(options, options->out, write_gate, &gate, err);
}

/* ---- the others ---- */

static enum status run_show(struct call *call, struct history *history, struct err *err)
{
    const struct cli_options *options = call->options;
    struct document document = {.arena = call->arena};
    if (options->format && !report_has_format(options->format) && strcmp(options->format, "html") != 0)
        return err_set(err, ERR_USAGE,
                       "series are shown as " REPORT_FORMATS ", or html; 'rooftile history export' writes CSV");
    enum status status = history_show(&document, history, options->channel, options->device, options->args + 1,
                                      options->arg_count - 1, err);
    return status ? status : cli_show_document(options, &document, true, err);
}

static enum status run_accept(struct call *call, struct history *history, struct err *err)
{
    const struct cli_options *options = call->options;
    size_t count = 0;
    enum status status = history_accept(&count, history, options->channel, options->device, options->args + 1,
                                        options->arg_count - 1, options->reason, err);
    if (!status)
        log_info("the baseline of %zu series starts anew with the newest run", count);
    return status;
}

static enum status run_export(struct call *call, struct history *history, struct err *err)
{
    return history_export(&call->out, history, call->options->format, err);
}

static enum status run_check(struct call *call, struct history *history, struct err *err)
{
    enum status status = history_check(&call->out, history, err);
    call->code = call->out.length ? 1 : 0;
    text_add(&call->out, call->code ? "" : "the history is sound\n");
    return status;
}

static enum status run_prune(struct call *call, struct history *history, struct err *err)
{
    size_t dropped = 0;
    if (!call->options->keep)
        return err_set(err, ERR_USAGE, "how many runs are to stay? --keep N");
    enum status status = history_prune(&dropped, history, call->options->channel, call->options->keep, err);
    if (!status)
        log_info("%zu run%s dropped", dropped, dropped == 1 ? " was" : "s were");
    return status;
}

static const struct verb verbs[] = {
    {"add", HISTORY_BEGIN, 1, SIZE_MAX, "RESULT...", run_add},
    {"show", HISTORY_READ, 0, SIZE_MAX, "[GLOB]...", run_show},
    {"gate", HISTORY_WRITE, 0, 0, "", run_gate},
    {"accept", HISTORY_WRITE, 0, SIZE_MAX, "[GLOB]...", run_accept},
    {"export", HISTORY_READ, 0, 0, "", run_export},
    {"check", HISTORY_READ, 0, 0, "", run_check},
    {"prune", HISTORY_WRITE, 0, 0, "", run_prune},
};

enum status cmd_history(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    const struct verb *verb = FIND_ROW(verbs, COUNT_OF(verbs), name, options->args[0]);
    const char *names[COUNT_OF(verbs)], *path = options->db ? options->db : getenv("ROOFTILE_HISTORY");
    struct history *history = NULL;
    char *folder = NULL;
    if (!verb) {
        for (size_t k = 0; k < COUNT_OF(verbs); k++)
            names[k] = verbs[k].name;
        err_set(err, ERR_USAGE, "'rooftile history' has no '%s'", options->args[0]);
        return hint_add(err, HINT_VERB, options->args[0], command_find(options->command))
                   ? err->status
                   : err_nearest(err, options->args[0], names, COUNT_OF(verbs),
                                 "there are add, show, gate, accept, export, check and prune");
    }
    const bool begin = verb->access == HISTORY_BEGIN;
    if (options_check_count(options->arg_count - 1, verb->least_args, verb->most_args,
                            arena_printf(call->arena, "history %s", verb->name), verb->args, err))
        return err->status;
    if (!path || !path[0]) {
        if (path_data_dir(&folder, begin, call->arena, err))
            return err->status;
        path = path_join(call->arena, folder, "history.db");
    }
    if ((begin && file_make_dirs(path_dir(call->arena, path), err)) || history_open(&history, path, verb->access, err))
        return err->status;
    const enum status status = verb->run(call, history, err);
    history_close(history);
    return status;
}
