/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/units.h"
#include "session.h"
#include "show.h"

static const struct table_column columns[] = {
    {.title = "case"},
    {.key = "id"},
    {.key = "state"},
    {.key = "reason"},
    {.key = "buffer_bytes", .title = "buffers", .unit = UNIT_BYTES},
    {.key = "lower_bound_ns", .title = "lower bound", .unit = UNIT_TIME},
    {.key = "forecast_ns", .title = "forecast", .unit = UNIT_TIME},
    {.key = "intensity", .title = "FLOP/B", .unit = UNIT_INTENSITY},
    {.key = "bound", .title = "bound"},
    {.key = "estimate_ns", .title = "takes", .unit = UNIT_TIME},
    {.key = "flops"},
    {.key = "bytes_read"},
    {.key = "bytes_written"},
    {.key = "verification"},
};

static void add_case(struct table *table, const struct plan_case *c)
{
    static const char *const states[] = {[PLAN_READY] = "ready", [PLAN_SKIPPED] = "skipped", [PLAN_INVALID] = "error"};
    struct table_row *row = table_add(
        table, (struct cell[]){cell_text(c->label), cell_text(c->id), cell_text(states[c->state]), cell_text(c->reason),
                               cell_number((double)c->resolved.buffer_bytes), cell_positive(c->lower_bound.time_ns),
                               cell_number(c->forecast_ns), cell_number(c->lower_bound.intensity),
                               cell_known(c->lower_bound.bound), cell_number(c->estimate_ns),
                               cell_number(c->resolved.work.flops), cell_number(c->resolved.work.read_bytes),
                               cell_number(c->resolved.work.write_bytes), cell_text(verify_method_name(c->verify))});
    if (c->state != PLAN_READY)
        row->instead = cell_text(arena_printf(table->arena, "%s: %s", states[c->state], c->reason));
}

/* What compilation adds to the plan's own time. */
struct uncompiled {
    size_t count;
    double time_ns;
};

static void add_total(struct document *document, const struct session *session, const struct uncompiled *uncompiled)
{
    const struct plan *plan = session->plan;
    char total[UNITS_TEXT], compile[UNITS_TEXT];
    size_t ready = 0;
    for (size_t k = 0; k < plan->count; k++)
        ready += plan->cases[k].state == PLAN_READY;
    const char *more = uncompiled->count ? arena_printf(document->arena, " (%zu to compile: about %s more)",
                                                        uncompiled->count, units_time(compile, uncompiled->time_ns))
                                         : "";
    document_text(document, SHOW_PEOPLE, TONE_PLAIN,
                  "%zu case%s (%zu ready), %zu code object%s, about %s on %s, not counting compilation%s", plan->count,
                  plan->count == 1 ? "" : "s", ready, plan->code_count, plan->code_count == 1 ? "" : "s",
                  units_time(total, plan->estimate_ns), session->info.name, more);
    if (session->machine.level_count)
        document_text(document, SHOW_PEOPLE, TONE_PLAIN,
                      "lower bound: least time by the ceilings of %s; forecast: the lower bound plus a launch "
                      "(predicted, not measured)",
                      session->machine.title[0] ? session->machine.title : session->machine.name);
    else
        document_text(
            document, SHOW_PEOPLE, TONE_PLAIN,
            "no ceiling is known for this device, so there is no lower bound: 'rooftile roofline' measures them");
}

static void add_plan(struct document *document, const struct session *session, const struct uncompiled *uncompiled)
{
    struct table *head = table_record(document->arena), *cases = TABLE(document->arena, columns);
    table_member(head, "device", NULL, cell_text(session->info.name));
    table_member(head, "machine", NULL, cell_text(session->machine.name));
    table_member(head, "estimate_ns", NULL, cell_number(session->plan->estimate_ns));
    table_member(head, "code_objects", NULL, cell_number((double)session->plan->code_count));
    table_member(head, "uncompiled", NULL, cell_number((double)uncompiled->count));
    table_member(head, "compile_ns", NULL, cell_number(uncompiled->time_ns));
    for (size_t k = 0; k < session->plan->count; k++)
        add_case(cases, &session->plan->cases[k]);
    document_add(document, (struct section){.show = SHOW_DATA, .table = head});
    document_table(document, "cases", NULL, cases);
    add_total(document, session, uncompiled);
}

int cmd_plan(const struct cli_options *options, struct arena *arena)
{
    struct session session = {.options = options, .arena = arena};
    struct document document = {.arena = arena};
    struct err err = {0};
    struct uncompiled uncompiled = {0};
    enum status status = session_prepare(&session, &err);
    if (!status)
        status = session_uncompiled(&uncompiled.count, &uncompiled.time_ns, &session, &err);
    if (!status) {
        add_plan(&document, &session, &uncompiled);
        status = show_document(&document, options, true, &err);
    }
    if (!status)
        status = session_refuse_invalid(&session, &err);
    return status ? cli_fail(&err) : 0;
}
