/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rooftile/file.h"
#include "rooftile/history.h"
#include "rooftile/render.h"
#include "trials.h"

enum { CONFIRM_TRIALS = 5 };

struct verb {
    const char *name;
    bool writes;
    size_t least_args, most_args; /* behind the verb */
    const char *args;
    enum status (*run)(int *code, struct history *history, const struct cli_options *options, struct arena *arena,
                       struct err *err);
};

static const char *channel_of(const struct cli_options *options)
{
    return options->channel ? options->channel : HISTORY_CHANNEL;
}

static const char *database_path(const struct cli_options *options, struct arena *arena)
{
    const char *named = options->db ? options->db : getenv("ROOFTILE_HISTORY");
    return named && named[0] ? named : arena_printf(arena, "%s/history.db", path_data_dir(arena));
}

/* ---- add ---- */

static enum status add_one(struct history *history, const char *path, const struct cli_options *options,
                           struct arena *arena, struct err *err)
{
    const struct result *result = NULL;
    const struct history_add_options add = {
        .channel = channel_of(options), .backfill = options->backfill, .keep = options->keep};
    struct history_added added;
    enum status status = result_read_light(&result, path, arena, err);
    if (status)
        return status;
    status = history_add(history, result, &add, &added, err);
    if (status)
        return err_within(err, "%s", path);
    log_info("%s: %zu series, %zu of them new%s", path, added.points, added.new_series,
             added.environment_changed ? "; the environment changed since the run before" : "");
    if (added.dropped_runs)
        log_info("%zu old run%s dropped", added.dropped_runs, added.dropped_runs == 1 ? " was" : "s were");
    return STATUS_OK;
}

static enum status run_add(int *code, struct history *history, const struct cli_options *options, struct arena *arena,
                           struct err *err)
{
    enum status status = STATUS_OK;
    (void)code;
    for (size_t k = 1; k < options->arg_count && !status; k++)
        status = add_one(history, options->args[k], options, arena, err);
    return status;
}

/* ---- gate ---- */

/* The glob that matches this text alone. */
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

/* Measures this run's candidates again, 5 trials of them alone, and puts the trials to those of the run. */
static enum status confirm(struct history *history, const struct history_gate *gate, const struct cli_options *options,
                           struct arena *arena, struct err *err)
{
    struct cli_options *again = arena_copy(arena, options, sizeof(*options));
    const char **suite = arena_array(arena, 1, sizeof(*suite));
    struct session session = {.options = again, .arena = arena};
    struct trials run = {.session = &session, .title = "confirm"};
    struct trials *const runs[] = {&run};
    struct result *result = arena_alloc(arena, sizeof(*result));
    struct device_request request = {0};
    struct err ignored = {0};
    const char **ids = NULL;
    size_t points = 0;
    again->filter_count = history_candidates(&ids, gate, arena);
    for (size_t k = 0; k < again->filter_count; k++)
        ids[k] = glob_of(ids[k], arena);
    again->filters = ids;
    if (!again->filter_count)
        return STATUS_OK;
    /* --device may be a part of the history's name of the device, which says nothing about where to find it. */
    if (options->device && device_parse(&request, options->device, &ignored))
        again->device = NULL;
    suite[0] = options->confirm;
    again->args = suite;
    again->arg_count = 1;
    again->seed = options->seed + (uint64_t)getpid(); /* another order than the run's */
    log_info("measuring %zu case%s again", again->filter_count, again->filter_count == 1 ? "" : "s");
    enum status status = session_prepare(&session, err);
    if (!status)
        status = session_build(&session, &session_stop, err);
    if (!status)
        status = trials_run(runs, 1, options->trials ? options->trials : CONFIRM_TRIALS, err);
    if (!status)
        status = trials_join(result, &run, err);
    return status ? status : history_confirm(history, gate->channel, result, &points, err);
}

static enum status write_gate(const struct history_gate *gate, const struct cli_options *options, struct err *err)
{
    struct text text = {0};
    enum status status = STATUS_OK;
    const struct report_options report = {.color = log_use_color(STDOUT_FILENO) && !options->out,
                                          .columns = options->out ? 0 : cli_columns(STDOUT_FILENO)};
    if (options->json) {
        report_gate(&text, "json", gate, &report);
        status = cli_write(options->json, &text, err);
        text_clear(&text);
    }
    if (!status && !(options->json && !strcmp(options->json, "-"))) {
        report_gate(&text, options->format ? options->format : "table", gate, &report);
        status = cli_write(options->out, &text, err);
    }
    text_release(&text);
    return status;
}

static enum status run_gate(int *code, struct history *history, const struct cli_options *options, struct arena *arena,
                            struct err *err)
{
    const struct gate_options rules = gate_defaults();
    struct history_gate gate = {0};
    enum status status = STATUS_OK;
    if (options->format && !report_has_format(options->format))
        status = err_set(err, ERR_USAGE, "the gate has no format '%s': " REPORT_FORMATS, options->format);
    if (!status)
        status = history_gate(&gate, history, channel_of(options), options->device, &rules, arena, err);
    if (!status && options->confirm) {
        session_catch_signals();
        status = confirm(history, &gate, options, arena, err);
        if (!status)
            status = history_gate(&gate, history, channel_of(options), options->device, &rules, arena, err);
    }
    if (!status)
        status = write_gate(&gate, options, err);
    *code = status ? 0 : history_exit_code(&gate, options->strict);
    return status;
}

/* ---- the others ---- */

static enum status run_show(int *code, struct history *history, const struct cli_options *options, struct arena *arena,
                            struct err *err)
{
    struct text text = {0};
    struct document document = {.arena = arena};
    const struct report_options report = {.color = log_use_color(STDOUT_FILENO) && !options->out,
                                          .columns = options->out ? 0 : cli_columns(STDOUT_FILENO)};
    (void)code;
    enum status status = history_show(&document, history, channel_of(options), options->device, options->args + 1,
                                      options->arg_count - 1, err);
    if (!status)
        render_text(&text, &document, &report);
    if (!status)
        status = cli_write(options->out, &text, err);
    text_release(&text);
    return status;
}

static enum status run_accept(int *code, struct history *history, const struct cli_options *options,
                              struct arena *arena, struct err *err)
{
    size_t count = 0;
    (void)arena;
    (void)code;
    enum status status = history_accept(&count, history, channel_of(options), options->device, options->args + 1,
                                        options->arg_count - 1, options->reason, err);
    if (!status)
        log_info("the baseline of %zu series starts anew with the newest run", count);
    return status;
}

static enum status run_export(int *code, struct history *history, const struct cli_options *options,
                              struct arena *arena, struct err *err)
{
    struct text text = {0};
    (void)arena;
    (void)code;
    enum status status = history_export(&text, history, options->format, err);
    if (!status)
        status = cli_write(options->out, &text, err);
    text_release(&text);
    return status;
}

static enum status run_check(int *code, struct history *history, const struct cli_options *options, struct arena *arena,
                             struct err *err)
{
    struct text problems = {0};
    (void)options;
    (void)arena;
    enum status status = history_check(&problems, history, err);
    if (!status)
        printf("%s", problems.length ? problems.data : "the history is sound\n");
    *code = problems.length ? 1 : 0;
    text_release(&problems);
    return status;
}

static enum status run_prune(int *code, struct history *history, const struct cli_options *options, struct arena *arena,
                             struct err *err)
{
    size_t dropped = 0;
    (void)arena;
    (void)code;
    if (!options->keep)
        return err_set(err, ERR_USAGE, "how many runs are to stay? --keep N");
    enum status status = history_prune(&dropped, history, channel_of(options), options->keep, err);
    if (!status)
        log_info("%zu run%s dropped", dropped, dropped == 1 ? " was" : "s were");
    return status;
}

static const struct verb verbs[] = {
    {"add", true, 1, SIZE_MAX, "RESULT...", run_add},
    {"show", false, 0, SIZE_MAX, "[GLOB]...", run_show},
    {"gate", true, 0, 0, "", run_gate},
    {"accept", true, 0, SIZE_MAX, "[GLOB]...", run_accept},
    {"export", false, 0, 0, "", run_export},
    {"check", false, 0, 0, "", run_check},
    {"prune", true, 0, 0, "", run_prune},
};

static enum status find_verb(const struct verb **verb, const struct cli_options *options, struct err *err)
{
    enum { COUNT = sizeof(verbs) / sizeof(*verbs) };
    const char *names[COUNT];
    for (size_t k = 0; k < COUNT; k++) {
        names[k] = verbs[k].name;
        if (strcmp(options->args[0], verbs[k].name) != 0)
            continue;
        *verb = &verbs[k];
        const size_t count = options->arg_count - 1;
        if (count < verbs[k].least_args || count > verbs[k].most_args)
            return err_set(err, ERR_USAGE, "'rooftile history %s' takes %s", verbs[k].name,
                           verbs[k].args[0] ? verbs[k].args : "no arguments");
        return STATUS_OK;
    }
    const char *near = text_nearest(options->args[0], names, COUNT);
    return err_set(err, ERR_USAGE, "'rooftile history' has no '%s'%s%s%s", options->args[0],
                   near ? "; did you mean '" : ": add, show, gate, accept, export, check or prune", near ? near : "",
                   near ? "'?" : "");
}

int cmd_history(const struct cli_options *options, struct arena *arena)
{
    const struct verb *verb = NULL;
    struct history *history = NULL;
    struct err err = {0};
    int code = 0;
    enum status status = find_verb(&verb, options, &err);
    const char *path = database_path(options, arena);
    /* Only `add` may begin a history: a gate over one that is not there must not be green. */
    const bool creates = !status && verb->run == run_add;
    if (creates)
        status = file_make_dirs(path_dir(arena, path), &err);
    else if (!status && !file_exists(path))
        status = err_set(&err, ERR_CONFIG, "there is no history %s; 'rooftile history add' makes one", path);
    if (!status)
        status = history_open(&history, path, verb->writes, &err);
    if (!status)
        status = verb->run(&code, history, options, arena, &err);
    history_close(history);
    return status ? cli_fail(&err) : code;
}
