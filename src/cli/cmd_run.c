/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ab.h"
#include "rooftile/file.h"

/* ---- --resume ---- */

static enum status read_resumed(const struct result **resumed, struct session *session, struct err *err)
{
    const char *path = session->options->resume;
    if (!path)
        return STATUS_OK;
    enum status status = result_read(resumed, path, session->arena, err);
    if (status)
        return status;
    if (strcmp((*resumed)->device.name, session->info.name) ||
        strcmp((*resumed)->device.backend, session->info.backend))
        return err_set(err, ERR_CONFIG, "%s was measured on '%s', this device is '%s': not the same run", path,
                       (*resumed)->device.name, session->info.name);
    return STATUS_OK;
}

/* ---- output ---- */

/* Everything was measured and only the file failed: keep the data somewhere before giving up. */
static enum status write_or_save(const struct result *result, const char *path, struct arena *arena, struct err *err)
{
    enum status status = result_write(result, path, err);
    struct err ignored = {0};
    if (!status || !strcmp(path, "-"))
        return status;
    const char *dir = getenv("TMPDIR");
    char *rescue = arena_printf(arena, "%s/rooftile-%ld.json", dir ? dir : "/tmp", (long)getpid());
    if (!result_write(result, rescue, &ignored))
        log_info("the result was saved as %s instead", rescue);
    return status;
}

static void print_report(const struct result *result, const struct cli_options *options)
{
    const char *name = options->format ? options->format : "table";
    if (!strcmp(name, "jsonl") || (options->out && !strcmp(options->out, "-")))
        return; /* the events, or the result itself, are what standard output is for */
    const struct report_format *format = report_format_find(name);
    const struct report_options report = {
        .color = log_use_color(STDOUT_FILENO), .columns = cli_columns(STDOUT_FILENO), .verbose = options->verbose > 0};
    struct text text = {0};
    report_write(&text, format, result, &report);
    fputs(text.data ? text.data : "", stdout);
    text_release(&text);
}

static enum status check_output(const struct cli_options *options, struct arena *arena, struct err *err)
{
    if (options->format && !report_format_find(options->format)) {
        const char *names[16];
        size_t count = 0;
        for (const struct report_format *f = report_formats; f->name && count < 16; f++)
            names[count++] = f->name;
        const char *near = text_nearest(options->format, names, count);
        return err_set(err, ERR_USAGE, "unknown format '%s'%s%s%s", options->format, near ? "; did you mean '" : "",
                       near ? near : "", near ? "'?" : "");
    }
    if (!options->out || !strcmp(options->out, "-"))
        return STATUS_OK;
    /* Found out now rather than after an hour of measuring. */
    char *dir = path_dir(arena, options->out);
    enum status status = file_make_dirs(dir, err);
    if (status || !access(dir, W_OK))
        return status;
    return err_set(err, ERR_IO, "cannot write into the folder %s", dir);
}

static enum status prepare(struct session *session, const struct result **resumed, struct err *err)
{
    const struct cli_options *options = session->options;
    enum status status = options->trials > 1 ? trials_check(options, "--trials", err) : STATUS_OK;
    if (!status)
        status = check_output(options, session->arena, err);
    if (!status)
        status = session_prepare(session, err);
    if (!status)
        status = session_refuse_invalid(session, err);
    if (!status)
        status = read_resumed(resumed, session, err);
    return status;
}

static int exit_code_of(const struct result *result, const struct cli_options *options)
{
    const int code = result_exit_code(result);
    if (code || !options->strict)
        return code;
    for (size_t k = 0; k < result->case_count; k++)
        if (result->cases[k].flags & (FLAG_INTERFERENCE | FLAG_THROTTLED))
            return 4;
    return 0;
}

/* Trials that do not fit together are still measurements: each is kept by itself. */
static void save_parts(const struct trials *run, const char *path)
{
    struct err ignored = {0};
    struct arena *arena = run->session->arena;
    const size_t length = path ? strlen(path) - (text_ends(path, ".json") ? strlen(".json") : 0) : 0;
    for (size_t k = 0; k < run->count && path && strcmp(path, "-") != 0; k++) {
        char *name = arena_printf(arena, "%.*s.trial%zu.json", (int)length, path, k + 1);
        if (!result_write(&run->parts[k], name, &ignored))
            log_info("trial %zu was saved as %s", k + 1, name);
    }
}

static enum status measure(struct result *result, struct session *session, const struct result *resumed,
                           struct err *err)
{
    struct trials run = {.session = session, .title = "run", .resumed = resumed};
    struct trials *const runs[] = {&run};
    const enum status status = trials_run(runs, 1, session->options->trials ? session->options->trials : 1, err);
    struct err join_err = {0};
    if (run.count && trials_join(result, &run, &join_err)) {
        *err = join_err;
        save_parts(&run, session->options->out);
        return join_err.status;
    }
    return status;
}

int cmd_run(const struct cli_options *options, struct arena *arena)
{
    struct session session = {.options = options, .arena = arena};
    struct result *result = arena_alloc(arena, sizeof(*result));
    const struct result *resumed = NULL;
    struct err err = {0}, write_err = {0};
    if (options->ab[0])
        return ab_run(options, arena);
    session_catch_signals();
    enum status status = prepare(&session, &resumed, &err);
    if (!status && !session.machine_path[0])
        log_warn("W001",
                 "no ceiling is known for %s, so nothing can be set against one; 'rooftile roofline' measures them",
                 session.info.name);
    if (!status)
        status = session_build(&session, &session_stop, &err);
    if (!status)
        status = measure(result, &session, resumed, &err);
    if (status && !result->cases)
        return cli_fail(&err);
    if (options->out && write_or_save(result, options->out, arena, &write_err))
        return cli_fail(&write_err);
    if (!status || status == ERR_INTERRUPTED)
        print_report(result, options);
    if (status == ERR_INTERRUPTED && options->trials > 1)
        log_info("interrupted: the result has what was measured of %u trials", result->trials);
    else if (status == ERR_INTERRUPTED)
        log_info("interrupted: %zu of %zu cases are in the result; --resume continues it", result->case_count,
                 session.plan->count);
    return status ? (status == ERR_INTERRUPTED ? 130 : cli_fail(&err)) : exit_code_of(result, options);
}
