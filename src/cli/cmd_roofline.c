/* SPDX-License-Identifier: MIT
 *
 * The ceilings of this machine, measured into a machine file; or those of such a file, shown.
 */

#include "measure.h"
#include "rooftile/ceilings.h"
#include "rooftile/file.h"
#include "rooftile/units.h"

static enum status prepare(struct session *session, struct err *err)
{
    static const char *const suite[] = {"characterize"};
    char time[UNITS_TEXT];
    if (!session->options->arg_count) {
        session->args = suite;
        session->arg_count = 1;
    }
    if (session_go(session, SESSION_SUITES | SESSION_CATALOG | SESSION_DEVICE, err))
        return err->status;
    if (session->info.predicted)
        return err_set(err, ERR_USAGE,
                       "sim executes nothing, so it has no ceilings to measure; 'rooftile roofline --machine %s' shows "
                       "those of its machine file",
                       session->request.model);
    /* Ceilings are measured without a machine: nothing can beat a ceiling that is not there yet. */
    const enum status status = session_go(session, SESSION_PLAN | SESSION_VALID | SESSION_CODE | SESSION_PREDICT, err);
    if (!status)
        log_info("%zu case%s, about %s", session->plan->count, text_s(session->plan->count),
                 units_time(time, session->plan->estimate_ns));
    return status;
}

static enum status save(const struct session *session, struct machine *machine, const struct result *result,
                        struct err *err)
{
    const struct cli_options *options = session->options;
    const char *path = options->out;
    if (!path && session_machine_file(&path, &session->info, true, session->arena, err))
        return err->status;
    session_device_id(machine->device_id, &session->info);
    snprintf(machine->path, sizeof(machine->path), "%.511s", path);
    snprintf(machine->measured_at, sizeof(machine->measured_at), "%s", result->finished_at);
    enum status status = file_make_dirs(path_dir(session->arena, path), err);
    if (!status)
        status = machine_write(machine, path, err);
    return status || !options->result ? status : result_write(result, options->result, err);
}

/* A neighbour makes ceilings lower and levels blurred; whoever uses the file should know. */
static void say_interference(const struct result *result)
{
    const size_t interference = COUNT_WHERE(c, result->cases, result->case_count, c->flags & FLAG_INTERFERENCE);
    if (interference * 10 > result->case_count)
        log_info("%zu of %zu cases saw interference by something else on this machine: for ceilings to rely on, "
                 "measure again while it is quiet",
                 interference, result->case_count);
}

/* A card whose memory is far below its data sheet is a finding. A run that was cut short may have missed the best case.
 */
static void judge_memory(struct call *call, const struct session *session, const struct machine *machine,
                         const struct result *result)
{
    const struct machine *sheet = NULL;
    struct err ignored = {0};
    char why[256];
    if (strcmp(result->status, "complete") != 0 || session_sheet(&sheet, &session->info, call->arena, &ignored) ||
        !sheet || !machine_is_slow(machine, sheet, why))
        return;
    log_warn("W022", "%s", why);
    call->code = 1;
}

static enum status check_measured(const struct result *result, struct err *err)
{
    const char *why = result_unmeasured(result);
    return why ? err_set(err, ERR_DEVICE, "nothing was measured, so there are no ceilings: %s", why) : STATUS_OK;
}

/* What was measured before, or a data sheet says. */
static enum status show_machine(struct call *call, struct session *session, struct err *err)
{
    const struct report_options look = cli_look(call->options, NULL);
    if (call->options->out || call->options->result || call->options->arg_count)
        return err_set(err, ERR_USAGE,
                       "--machine only shows the ceilings of that file: nothing is measured or written");
    const enum status status = session_machine(session, err);
    if (!status)
        report_machine(&call->out, &session->machine, &look);
    return status;
}

enum status cmd_roofline(struct call *call, struct err *err)
{
    const struct report_options look = cli_look(call->options, NULL);
    const char *kept = call->options->result;
    const struct execution execution = {.title = "roofline", .journal = kept ? kept : ""};
    struct session session = {.options = call->options, .arena = call->arena};
    struct result *result = arena_alloc(call->arena, sizeof(*result));
    struct machine *machine = arena_alloc(call->arena, sizeof(*machine));
    struct text text = {0};
    if (call->options->machine)
        return show_machine(call, &session, err);
    session_catch_signals(0);
    if (cli_check_output(call->options->out, call->arena, err) || cli_check_output(kept, call->arena, err) ||
        prepare(&session, err) || execute_plan(result, &session, &execution, err) || check_measured(result, err) ||
        ceilings_find(machine, result, call->options->seed, err) || save(&session, machine, result, err))
        return execute_journals_kept(&session, err);
    execute_journals_done(&session);
    if (strcmp(machine->path, "-") != 0)
        report_machine(&text, machine, &look);
    cli_print(&text);
    say_interference(result);
    log_info("saved as %s; 'rooftile run' uses it", machine->path);
    call->code = result_exit_code(result, call->options->strict);
    judge_memory(call, &session, machine, result);
    return STATUS_OK;
}
