/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "execute.h"
#include "rooftile/ceilings.h"
#include "rooftile/file.h"
#include "rooftile/units.h"

static enum status prepare(struct session *session, struct err *err)
{
    static const char *const suite[] = {"characterize"};
    struct cli_options *options = arena_copy(session->arena, session->options, sizeof(*session->options));
    if (!options->arg_count) {
        options->args = suite;
        options->arg_count = 1;
    }
    session->options = options;
    enum status status = session_suites(session, err);
    if (!status)
        status = session_catalog(session, err);
    if (!status)
        status = session_device(session, err);
    if (!status && session->info.predicted)
        return err_set(err, ERR_USAGE, "sim executes nothing, so it has no ceilings to measure; its machine file is %s",
                       session->machine_path);
    /* Ceilings are measured without a machine: nothing can beat a ceiling that is not there yet. */
    if (!status)
        status = session_plan(session, false, err);
    if (!status)
        status = session_refuse_invalid(session, err);
    if (!status)
        status = session_build(session, &session_stop, err);
    return status;
}

static enum status save(struct session *session, struct machine *machine, const char **path, struct err *err)
{
    const struct cli_options *options = session->options;
    *path = options->out ? options->out : session_machine_file(&session->info, session->arena);
    session_device_id(machine->device_id, &session->info);
    snprintf(machine->path, sizeof(machine->path), "%.511s", *path);
    enum status status = file_make_dirs(path_dir(session->arena, *path), err);
    return status ? status : machine_write(machine, *path, err);
}

static void say_how_long(const struct session *session)
{
    char time[UNITS_TEXT];
    log_info("%zu cases, about %s", session->plan->count, units_time(time, session->plan->estimate_ns));
}

/* A neighbour makes ceilings lower and levels blurred; whoever uses the file should know. */
static void say_interference(const struct result *result)
{
    size_t interference = 0;
    for (size_t k = 0; k < result->case_count; k++)
        interference += (result->cases[k].flags & FLAG_INTERFERENCE) != 0;
    if (interference * 10 > result->case_count)
        log_info("%zu of %zu cases saw interference by something else on this machine: for ceilings to rely on, "
                 "measure again "
                 "while it is quiet",
                 interference, result->case_count);
}

int cmd_roofline(const struct cli_options *options, struct arena *arena)
{
    struct session session = {.options = options, .arena = arena};
    struct result *result = arena_alloc(arena, sizeof(*result));
    struct machine *machine = arena_alloc(arena, sizeof(*machine));
    const char *path = NULL;
    struct err err = {0};
    session_catch_signals();
    enum status status = prepare(&session, &err);
    if (!status)
        say_how_long(&session);
    if (!status)
        status = execute_plan(result, &session, NULL, "roofline", &err);
    if (!status)
        status = ceilings_find(machine, result, options->seed, &err);
    if (!status) {
        snprintf(machine->measured_at, sizeof(machine->measured_at), "%s", result->finished_at);
        status = save(&session, machine, &path, &err);
    }
    if (!status && options->json)
        status = result_write(result, options->json, &err);
    if (status)
        return cli_fail(&err);
    const struct report_options report = {
        .color = log_use_color(STDOUT_FILENO), .columns = cli_columns(STDOUT_FILENO), .verbose = options->verbose > 0};
    struct text text = {0};
    report_machine(&text, machine, &report);
    fputs(text.data ? text.data : "", stdout);
    text_release(&text);
    say_interference(result);
    log_info("saved as %s; 'rooftile run' uses it", path);
    return result_exit_code(result);
}
