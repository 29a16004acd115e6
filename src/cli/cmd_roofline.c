/* SPDX-License-Identifier: MIT
 *
 * Measures this machine's ceilings into a machine file, or shows those of an existing file.
 */

#include "cli.h"
#include "rooftile/ceilings.h"
#include "rooftile/file.h"
#include "rooftile/units.h"

/* Over the cases that set a ceiling. */
enum { MAX_PASSES = 3 };

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
    if (session->info.emulated[0])
        return err_set(err, ERR_USAGE, "%s is emulated by %s, so it has no ceilings to measure", session->info.id,
                       session->info.emulated);
    if (session->info.predicted)
        return err_set(err, ERR_USAGE,
                       "sim executes nothing, so it has no ceilings to measure; 'rooftile roofline --machine %s' shows "
                       "those of its machine file",
                       session->request.model);
    /* Ceilings are measured without a machine, since no case can beat a ceiling that does not exist yet. */
    const enum status status = session_go(session, SESSION_PLAN | SESSION_VALID | SESSION_CODE | SESSION_PREDICT, err);
    if (!status)
        log_info("%zu case%s, about %s", session->plan->count, text_s(session->plan->count),
                 units_time(time, session->plan->estimate_ns));
    return status;
}

/* Measures the cases marked in `again` once more and keeps the better pass. The other cases are copied. */
static enum status measure_again(struct result *result, struct session *session, const struct execution *first,
                                 const bool *again, double *other_ns, struct err *err)
{
    const struct result before = *result;
    struct result sure = *result;
    struct result_case *kept = arena_array(session->arena, result->case_count, sizeof(*kept));
    struct execution more = {.title = first->title, .resumed = &sure};
    sure.case_count = 0;
    for (size_t k = 0; k < before.case_count; k++)
        if (!again[k])
            kept[sure.case_count++] = before.cases[k];
    sure.cases = kept;
    const enum status status = execute_plan(result, session, &more, err);
    if (!status && result->case_count == before.case_count) {
        struct result_case *cases = arena_copy(session->arena, result->cases, before.case_count * sizeof(*cases));
        ceilings_keep_better(cases, &before, again, other_ns);
        result->cases = cases;
    }
    return status;
}

/* Interference lowers ceilings and blurs levels, so the cases that set a ceiling are repeated until two passes
 * agree. */
static enum status measure_ceilings(struct machine *machine, struct result *result, struct session *session,
                                    const struct execution *execution, struct err *err)
{
    const uint64_t seed = session->options->seed;
    if (execute_plan(result, session, execution, err))
        return err->status;
    const char *why = result_unmeasured(result);
    if (why)
        return err_set(err, ERR_DEVICE, "nothing was measured, so there are no ceilings: %s", why);
    if (ceilings_find(machine, result, seed, err))
        return err->status;
    bool *again = arena_array(session->arena, result->case_count, sizeof(*again));
    double *other_ns = arena_array(session->arena, result->case_count, sizeof(*other_ns));
    for (size_t k = 0; k < result->case_count; k++)
        other_ns[k] = INFINITY;
    for (int pass = 1; pass < MAX_PASSES; pass++) {
        const size_t unsure = ceilings_unsure(again, machine, result, other_ns);
        if (!unsure || session_stop)
            break;
        log_info("pass %d: %zu case%s again, until two passes agree on each ceiling", pass + 1, unsure, text_s(unsure));
        if (measure_again(result, session, execution, again, other_ns, err) ||
            ceilings_find(machine, result, seed, err))
            return err->status;
    }
    ceilings_doubt(machine, result, other_ns);
    return STATUS_OK;
}

enum status cmd_roofline(struct call *call, struct err *err)
{
    const struct report_options look = cli_look(call->options, NULL);
    const char *kept = call->options->result, *path = call->options->out;
    const struct execution execution = {.title = "roofline", .journal = kept ? kept : ""};
    struct session session = {.options = call->options, .arena = call->arena};
    struct result *result = arena_alloc(call->arena, sizeof(*result));
    struct machine *machine = arena_alloc(call->arena, sizeof(*machine));
    struct text text = {0};
    if (call->options->machine) { /* shows measured or published ceilings */
        if (call->options->out || kept || call->options->arg_count)
            return err_set(err, ERR_USAGE,
                           "--machine only shows the ceilings of that file: nothing is measured or written");
        const enum status status = session_machine(&session, err);
        if (!status)
            report_machine(&call->out, &session.machine, &look);
        return status;
    }
    session_catch_signals(0);
    if (cli_check_output(call->options->out, call->arena, err) || cli_check_output(kept, call->arena, err) ||
        prepare(&session, err) || measure_ceilings(machine, result, &session, &execution, err) ||
        (!path && session_machine_file(&path, &session.info, true, call->arena, err)))
        return execute_journals_kept(&session, err);
    session_device_id(machine->device_id, &session.info);
    snprintf(machine->path, sizeof(machine->path), "%.511s", path);
    snprintf(machine->measured_at, sizeof(machine->measured_at), "%s", result->finished_at);
    if (file_make_dirs(path_dir(call->arena, path), err) || machine_write(machine, path, err) ||
        (kept && result_write(result, kept, err)))
        return execute_journals_kept(&session, err);
    execute_journals_done(&session);
    if (strcmp(machine->path, "-") != 0)
        report_machine(&text, machine, &look);
    cli_print(&text);
    log_info("saved as %s; 'rooftile run' uses it", machine->path);
    call->code = result_exit_code(result, call->options->strict);
    /* A card whose memory is far slower than its data sheet is a finding. A shortened run may have missed the best
     * case. */
    const struct machine *sheet = NULL;
    struct err ignored = {0};
    char why[256];
    if (!strcmp(result->status, "complete") && !session_sheet(&sheet, &session.info, call->arena, &ignored) && sheet &&
        machine_is_slow(machine, sheet, why)) {
        log_warn("W022", "%s", why);
        call->code = 1;
    }
    return STATUS_OK;
}
