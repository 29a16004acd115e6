/* SPDX-License-Identifier: MIT
 *
 * The steps before a run: its plan and its code.
 */

#include "cli.h"
#include "rooftile/forecast.h"
#include "rooftile/targets.h"
#include "rooftile/units.h"

static const struct table_column columns[] = {
    {.title = "case", .flags = COLUMN_GROUP},
    {.key = "id"},
    {.key = "request"},
    {.key = "state"},
    {.key = "reason"},
    {.key = "buffer_bytes", .title = "buffers", .unit = UNIT_BYTES, .drop = 2},
    {.key = "lower_bound_ns", .title = "least time", .unit = UNIT_TIME},
    {.key = "predicted_ns", .title = "predicted", .unit = UNIT_TIME},
    {.key = "predicted_low_ns"},
    {.key = "predicted_high_ns"},
    {.key = "predicted_by"},
    {.key = "limiter", .title = "limited by", .drop = 3},
    {.key = "intensity", .title = "FLOP/B", .unit = UNIT_INTENSITY, .drop = 1},
    {.key = "bound", .title = "bound", .drop = 5},
    {.key = "estimate_ns"},
    {.key = "sized_by"},
    {.key = "flops"},
    {.key = "transcendentals"},
    {.key = "bytes_read"},
    {.key = "bytes_written"},
    {.key = "verification"},
};

static void make_case(struct table_row *row, const struct table *table, size_t index)
{
    static const char *const states[] = {[PLAN_READY] = "ready", [PLAN_SKIPPED] = "skipped", [PLAN_INVALID] = "error"};
    const struct plan *plan = table->source;
    const struct plan_case *c = &plan->cases[index];
    const struct predicted none = {.method = "", .limiter = ""}, *p = c->prediction ? c->prediction : &none;
    const struct cell cells[] = {cell_text(c->label),
                                 cell_text(c->id),
                                 cell_number((double)c->asked),
                                 cell_text(states[c->state]),
                                 cell_text(c->reason),
                                 cell_number((double)c->resolved.buffer_bytes),
                                 cell_positive(c->lower_bound.time_ns),
                                 cell_predicted(p->time_ns, p->method, table->arena),
                                 cell_positive(p->low_ns),
                                 cell_positive(p->high_ns),
                                 cell_known(p->method),
                                 cell_known(p->limiter),
                                 cell_number(c->lower_bound.intensity),
                                 cell_known(c->lower_bound.bound),
                                 cell_number(c->estimate_ns),
                                 cell_known(c->sized_by),
                                 cell_number(c->resolved.work.flops),
                                 cell_number(c->resolved.work.transcendentals),
                                 cell_number(c->resolved.work.read_bytes),
                                 cell_number(c->resolved.work.write_bytes),
                                 cell_text(verify_method_names[c->verify])};
    memcpy(row->cells, cells, sizeof(cells));
    if (c->state == PLAN_READY)
        return;
    row->instead = cell_toned(states[c->state], c->state == PLAN_SKIPPED ? TONE_DIM : TONE_BAD);
    row->note = c->reason;
    row->family = c->state == PLAN_SKIPPED ? c->resolved.manifest->name : NULL;
}

static size_t count_ready(const struct plan *plan)
{
    return COUNT_WHERE(one, plan->cases, plan->count, one->state == PLAN_READY);
}

static void add_total(struct document *document, const struct session *session, const struct uncompiled *uncompiled)
{
    const struct plan *plan = session->plan;
    char total[UNITS_TEXT], compile[UNITS_TEXT];
    const size_t ready = count_ready(plan);
    const char *more = uncompiled->count ? arena_printf(document->arena, " (%zu to compile: about %s more)",
                                                        uncompiled->count, units_time(compile, uncompiled->time_ns))
                                         : "";
    const char *verdict = arena_printf(
        document->arena, "%zu case%s (%zu ready), %zu code object%s, about %s on %s, not counting compilation%s",
        plan->count, text_s(plan->count), ready, plan->code_count, text_s(plan->code_count),
        units_time(total, plan->estimate_ns), session->info.name, more);
    document->verdict =
        document->verdict ? arena_printf(document->arena, "%s\n%s", document->verdict, verdict) : verdict;
    document->action = ready ? "'rooftile run' with the same words measures them" : "Nothing can run here";
}

/* Adds the number of walked cases, and each reason for others once. */
static void add_methods(struct document *document, const struct session *session)
{
    const struct plan *plan = session->plan;
    struct forecast_notes notes = {0};
    size_t by_work = 0, known = 0, unknown = 0;
    const struct plan_case **cases = arena_array(document->arena, plan->count + 1, sizeof(*cases));
    double *times = arena_array(document->arena, plan->count + 1, sizeof(*times));
    for (size_t k = 0; k < plan->count; k++) {
        const struct predicted *p = plan->cases[k].prediction;
        cases[k] = &plan->cases[k];
        times[k] = p ? p->time_ns : 0;
        by_work += p && p->time_ns > 0 && !strcmp(p->method, "description");
        known += p && p->time_ns > 0;
        unknown += p && !(p->time_ns > 0);
        for (size_t n = 0; p && n < p->note_count; n++)
            forecast_note(&notes, plan->cases[k].resolved.manifest->name, p->notes[n], document->arena);
    }
    document_described(document, by_work, known);
    if (unknown)
        document_text(document, SHOW_PEOPLE, TONE_DIM, "%zu case%s not predicted", unknown, text_s(unknown));
    forecast_say_notes(document, NULL, &notes);
    forecast_unmoved(document, session->info.name, cases, times, plan->count);
}

static void add_legend(struct document *document, const struct session *session)
{
    document_doubted(document, &session->machine);
    if (session->machine.level_count)
        document_text(document, SHOW_PEOPLE, TONE_PLAIN,
                      "least time: what the roofline of %s allows if caches keep all data; predicted: what to expect "
                      "of one pass ('rooftile "
                      "predict' has intervals and terms)",
                      session->machine.title[0] ? session->machine.title : session->machine.name);
    else
        document_text(
            document, SHOW_PEOPLE, TONE_PLAIN,
            "no ceiling is known for this device, so there is no least time: 'rooftile roofline' measures them");
    add_methods(document, session);
}

static struct table *head_of(const struct session *session, const struct uncompiled *uncompiled)
{
    struct table *head = table_record(session->arena);
    table_member(head, "device", NULL, cell_text(session->info.name));
    table_member(head, "machine", NULL, cell_text(session->machine.name));
    table_member(head, "estimate_ns", NULL, cell_number(session->plan->estimate_ns));
    table_member(head, "code_objects", NULL, cell_number((double)session->plan->code_count));
    table_member(head, "uncompiled", NULL, cell_number((double)uncompiled->count));
    table_member(head, "compile_ns", NULL, cell_number(uncompiled->time_ns));
    return head;
}

static struct table *cases_of(const struct session *session)
{
    return table_making(session->arena, columns, COUNT_OF(columns), session->plan->count, make_case, session->plan);
}

/* Adds one table for people, or in JSON one plan for each device. */
static enum status add_plans(struct document *document, struct per_device *sides, size_t count, struct err *err)
{
    static const struct table_column plan_columns[] = {{0}};
    struct arena *arena = document->arena;
    struct table *plans = TABLE(arena, plan_columns);
    enum status status = devices_suites(sides, count, err);
    struct uncompiled *uncompiled = arena_array(arena, count, sizeof(*uncompiled));
    for (size_t k = 0; k < count && !status; k++) {
        struct session *session = &sides[k].session;
        status = session_go(session, SESSION_DEVICE | SESSION_MACHINE | SESSION_PLAN | SESSION_PREDICT, err);
        if (!status)
            status = session_uncompiled(&uncompiled[k], session, err);
        if (status)
            return sides[k].name ? err_within(err, "%s", sides[k].name) : status;
        struct table *plan = head_of(session, &uncompiled[k]);
        table_member(plan, "cases", NULL, cell_table(cases_of(session)));
        const struct cell cell = cell_table(plan);
        table_add(plans, &cell);
    }
    if (status)
        return status;
    document_add(document, (struct section){.show = SHOW_DATA, .key = "plans", .table = plans});
    devices_document(document, sides, count);
    for (size_t k = 0; k < count; k++)
        add_total(document, &sides[k].session, &uncompiled[k]);
    document_text(document, SHOW_PEOPLE, TONE_PLAIN, "time: predicted, not measured; speed: times that of the first");
    return STATUS_OK;
}

static bool work_disagrees(const struct plan *plan)
{
    return COUNT_WHERE(c, plan->cases, plan->count, c->prediction && c->prediction->work_disagrees) > 0;
}

enum status cmd_plan(struct call *call, struct err *err)
{
    struct document document = {.arena = call->arena};
    struct uncompiled uncompiled = {0};
    struct per_device *sides = NULL;
    size_t count = 0;
    session_catch_signals(1);
    enum status status = devices_of(&sides, &count, call->options, call->arena, err);
    struct session *first = status ? NULL : &sides[0].session;
    if (!status && count > 1)
        status = add_plans(&document, sides, count, err);
    else if (!status && !session_go(first, SESSION_PREPARE | SESSION_PREDICT, err) &&
             !session_uncompiled(&uncompiled, first, err)) {
        document_add(&document, (struct section){.show = SHOW_DATA, .table = head_of(first, &uncompiled)});
        document_table(&document, "cases", NULL, cases_of(first));
        add_total(&document, first, &uncompiled);
        add_legend(&document, first);
    } else
        return err->status;
    if (!status)
        status = cli_show_document(call->options, &document, true, err);
    size_t ready = 0;
    bool disagree = false;
    for (size_t k = 0; k < count && !status; k++) {
        status = session_go(&sides[k].session, SESSION_VALID, err);
        ready += status ? 0 : count_ready(sides[k].session.plan);
        disagree |= !status && work_disagrees(sides[k].session.plan);
    }
    call->code = ready ? disagree ? 1 : 0 : 3; /* as the exit code of its run would be */
    return status;
}

/* ---- build ---- */

struct tally {
    size_t compiled, cached, failed, skipped;
};

static void report_code(const struct build_request *request, const struct build_result *result, struct tally *tally,
                        const struct cli_options *options)
{
    switch (result->state) {
    case BUILD_FAILED:
        tally->failed++;
        printf("FAILED   %s\n%s\n", request->asked_by, result->message);
        break;
    case BUILD_SKIPPED:
        tally->skipped++;
        printf("skipped  %s: %s\n", request->asked_by, result->message);
        break;
    default:
        *(result->state == BUILD_CACHED ? &tally->cached : &tally->compiled) += 1;
        if (options->verbose)
            printf("%-8s %s\n         %s\n", result->state == BUILD_CACHED ? "cached" : "compiled", request->asked_by,
                   result->object);
    }
}

static enum status build_target_codes(struct session *session, struct tally *total, struct err *err)
{
    const bool everything = !session->options->arg_count;
    if ((everything && session_all_kernels(session, false, err)) ||
        session_go(session, SESSION_PLAN | SESSION_CODE, err))
        return err->status;
    struct tally tally = {0};
    for (size_t k = 0; k < session->plan->code_count; k++)
        report_code(&session->plan->codes[k], &session->builds[k], &tally, session->options);
    /* Names kernels that this target cannot have: they request no code, so nothing else would report them. */
    const struct manifest *last = NULL;
    const char *reason = "";
    FOR_EACH(const struct plan_case, c, session->plan->cases, session->plan->count) {
        if (c->state != PLAN_SKIPPED || (c->resolved.manifest == last && !strcmp(c->reason, reason)))
            continue;
        last = c->resolved.manifest;
        reason = c->reason;
        printf("skipped  %s: %s\n", c->label, reason);
    }
    size_t count = session->plan->code_count;
    struct service_code services[SERVICE_COUNT] = {0};
    const bool serves = services_wanted(session, SERVICE_BLOCKING); /* code that a run needs in addition to the cases */
    if (serves && services_prepare(services, session, err))
        return err->status;
    for (int which = 0; which < SERVICE_COUNT; which++)
        for (size_t k = 0; services[which].plan && k < services[which].plan->code_count; k++, count++)
            report_code(&services[which].plan->codes[k], &services[which].builds[k], &tally, session->options);
    printf("%s: %zu code object%s: %zu compiled, %zu from the cache, %zu failed, %zu skipped\n", session->info.target,
           count, text_s(count), tally.compiled, tally.cached, tally.failed, tally.skipped);
    total->failed += tally.failed;
    return STATUS_OK;
}

/* ---- references ---- */

/* Builds the codes of a plan that run on the processor; the others may need an absent compiler. */
static enum status build_plan_references(struct session *session, struct tally *tally, struct err *err)
{
    const size_t *numbers = NULL;
    struct build_result *builds = NULL;
    if (session_go(session, SESSION_PLAN, err))
        return err->status;
    const struct plan plan = session_codes_of(session->plan, true, &numbers, session->arena);
    enum status status = session_build_plan(&builds, session, &plan, err);
    for (size_t k = 0; k < plan.code_count && !status; k++)
        report_code(&plan.codes[k], &builds[k], tally, session->options);
    return status;
}

/* Targets differ in types and sizes and so in their references, most of which are still the same for all. */
static enum status build_references(struct session *session, struct tally *total, struct err *err)
{
    const struct cli_options *options = session->options;
    const size_t count = options->arch_count ? options->arch_count : target_count;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        /* Builds the references of the suites on this target, and of every kernel at its check size. */
        struct session own = *session;
        if (session_target(&own, options->arch_count ? options->archs[k] : targets[k].arch, err) ||
            (own.suite_count && build_plan_references(&own, total, err)) || session_all_kernels(&own, true, err))
            return err->status;
        own.at_check_params = true;
        status = build_plan_references(&own, total, err);
    }
    if (!status)
        printf("references for %zu target%s: %zu compiled, %zu failed, %zu skipped\n", count, text_s(count),
               total->compiled, total->failed, total->skipped);
    return status;
}

enum status cmd_build(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct session session = {.options = options, .arena = call->arena};
    struct tally total = {0};
    session_catch_signals(1);
    if (session_go(&session, SESSION_SUITES | SESSION_CATALOG, err))
        return err->status;
    enum status status = STATUS_OK;
    if (options->references)
        status = build_references(&session, &total, err);
    else if (!options->arch_count &&
             (session_go(&session, SESSION_DEVICE | SESSION_MACHINE, err) || build_target_codes(&session, &total, err)))
        return err->status;
    for (size_t k = 0; k < options->arch_count && !options->references && !status; k++) {
        const char *arch = options->archs[k];
        const struct build_target target = build_target_of(arch);
        struct compiler compiler;
        /* Report an unsupported target once rather than for every kernel. */
        if (build_find_compiler(&compiler, &target, 0, call->arena, err) == ERR_UNSUPPORTED) {
            printf("%s: %s\n", arch, err->text);
            total.failed++;
            *err = (struct err){0};
        } else if (session_target(&session, arch, err) || build_target_codes(&session, &total, err)) {
            return err->status;
        }
    }
    call->code = total.failed ? 1 : 0;
    return status;
}
