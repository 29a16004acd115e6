/* SPDX-License-Identifier: MIT
 *
 * Explains the time of a case: of a kernel on a machine that need not be present, or of a measured case.
 */

#include "cli.h"
#include "rooftile/forecast.h"
#include "rooftile/import.h"
#include "rooftile/predictor.h"
#include "rooftile/table.h"

/* ---- the command that runs a case ---- */

static const char *words_of(const struct resolved *resolved, struct arena *arena)
{
    struct param_value *defaults = arena_array(arena, resolved->manifest->param_count + 1, sizeof(*defaults));
    struct text text = {0};
    struct err ignored = {0};
    (void)plan_device_values(defaults, resolved->manifest, resolved->device, &ignored);
    text_add(&text, resolved->manifest->name);
    for (size_t k = 0; k < resolved->manifest->param_count; k++)
        if (!param_is_hidden(&resolved->manifest->params[k], &resolved->values[k]) &&
            !param_equal(&defaults[k], &resolved->values[k]))
            text_addf(&text, " --set %s=%s", resolved->manifest->params[k].name,
                      param_text(arena, &resolved->values[k]));
    return text_take(&text, arena);
}

/* ---- counters ---- */

/* ---- cases ---- */

static enum status explain_one(struct explained_case *out, const struct session *session,
                               const struct import_counters *counters, struct plan_case *plan_case,
                               const struct result_case *measured, struct err *err)
{
    const double hz = measured && measured->core_hz > 0 ? measured->core_hz : 0;
    *out = (struct explained_case){.machine = session->complete, .borrowed = session->borrowed, .measured = measured};
    out->explanation.plan_case = plan_case;
    if (plan_case->state != PLAN_READY) {
        out->reason = plan_case->reason;
        return STATUS_OK;
    }
    out->run = words_of(&plan_case->resolved, session->arena);
    enum status status =
        explain_case(&out->explanation, session->predictor, plan_case, session->walked, session->complete, hz,
                     measured ? result_case_time(measured) : 0, session->arena, err);
    foreign_note(&out->explanation.prediction, session, plan_case);
    if (!status && out->explanation.prediction.time_ns > 0)
        plan_case_bound(&plan_case->lower_bound, plan_case, session->plan->machine, explained_ns(out),
                        out->explanation.prediction.bound);
    if (!status && !(out->explanation.prediction.time_ns > 0))
        out->reason = "nothing of it is known on this machine";
    bool any = false;
    const char *symbol = out->explanation.symbol;
    FOR_EACH(struct explained_counter, counter, out->explanation.counters,
             counters && !status ? out->explanation.counter_count : 0) {
        counter->measured = import_counter(counters, symbol, counter->name);
        any |= !isnan(counter->measured);
    }
    return status || !counters || any || !out->explanation.counter_count
               ? status
               : err_set(err, ERR_CONFIG, "%s has none of these counters for the kernel '%s'",
                         session->options->counters, symbol);
}

struct explained {
    struct explained_case *items;
    size_t count;
};

/* Explains the cases of a session's plan; `of`: the result that measured them, or NULL. */
static enum status explain_session(struct explained *explained, struct session *session, const struct result_cases *of,
                                   struct err *err)
{
    const char *path = session->options->counters;
    struct import_counters counters;
    if (path && import_read_counters(&counters, path, session->arena, err))
        return err->status;
    session->predictor = predictor_new(session->options->seed);
    enum status status = session_go(session, SESSION_PREDICT, err);
    for (size_t k = 0; k < session->plan->count && !status; k++) {
        struct explained_case one;
        struct plan_case *plan_case = &session->plan->cases[k];
        progress_show(session->options, "explaining: %zu of %zu (%s)", k + 1, session->plan->count, plan_case->label);
        status = explain_one(&one, session, path ? &counters : NULL, plan_case, of ? of->items[plan_case->asked] : NULL,
                             err);
        one.result = of ? of->result : NULL;
        ARENA_PUSH(session->arena, explained->items, explained->count, one);
    }
    progress_clear();
    predictor_free(session->predictor);
    return status;
}

/* ---- a kernel on a machine ---- */

static enum status explain_kernel(struct explained *explained, const struct cli_options *options, struct arena *arena,
                                  struct err *err)
{
    struct per_device *sides = NULL;
    size_t count = 0;
    if (predict_sides(&sides, &count, options, arena, err))
        return err->status;
    if (count > 1)
        return err_set(err, ERR_USAGE, "--machine: explain takes one machine at a time");
    if (devices_suites(sides, count, err))
        return err->status;
    if (sides[0].session.guess)
        sides[0].options.filter_count = 0; /* the filter selected the file's kernels */
    return session_go(&sides[0].session, SESSION_DEVICE | SESSION_MACHINE | SESSION_PLAN | SESSION_VALID, err) ||
                   explain_session(explained, &sides[0].session, NULL, err)
               ? err->status
               : STATUS_OK;
}

/* ---- a measured case ---- */

/* Uses the device and ceilings of the result, or the ceilings of --machine. */
static enum status place_of(struct session *session, const struct result *result, struct err *err)
{
    struct machine *named = NULL;
    const char *name = session->options->machine;
    session->info = result->device;
    session->facts = run_device_facts(&session->info);
    session->cpu_target = session->info.target;
    session->machine = result->machine;
    if (name && session_known_machine(&named, name, session->arena, err))
        return err->status;
    if (name && !named)
        return session_unknown_machine(name, session->arena, err);
    if (named && strcmp(named->arch, session->info.arch) != 0)
        return err_set(err, ERR_USAGE, "--machine %s: it is %s, and the result was measured on %s", name, named->arch,
                       session->info.arch);
    if (named)
        session->machine = *named;
    run_facts_know(&session->facts, &session->info, &session->machine, NULL, session->arena);
    return session->machine.level_count
               ? STATUS_OK
               : err_set(err, ERR_CONFIG, "the result has no machine: --machine names it, such as mi300x");
}

/* ---- the command ---- */

enum status cmd_explain(struct call *call, struct err *err)
{
    struct document document = {.arena = call->arena};
    struct explained explained = {0};
    const struct cli_options *options = call->options;
    session_catch_signals(1);
    struct session session = {.options = options, .arena = call->arena};
    struct result_cases of;
    if (!result_is_file(options->args[0], call->arena)) {
        if (explain_kernel(&explained, options, call->arena, err))
            return err->status;
    } else if (result_cases(&of, &session, options->args[0], err) || place_of(&session, of.result, err) ||
               session_go(&session, SESSION_PLAN, err) ||
               explain_session(&explained, &session, of.result->predicted ? NULL : &of, err)) {
        return err->status;
    }
    explain_document(&document, explained.items, explained.count);
    return cli_show_document(call->options, &document, false, err);
}
