/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rooftile/file.h"
#include "rooftile/json_out.h"
#include "rooftile/units.h"
#include "session.h"

static const char *state_names[] = {[PLAN_READY] = "ready", [PLAN_SKIPPED] = "skipped", [PLAN_INVALID] = "error"};

static void case_json(struct json_out *out, const struct plan_case *c)
{
    json_out_object(out, NULL);
    json_out_string(out, "id", c->id);
    json_out_string(out, "state", state_names[c->state]);
    json_out_string(out, "reason", c->reason);
    json_out_number(out, "floor_ns", c->floor.time_ns);
    json_out_number(out, "forecast_ns", c->forecast_ns);
    json_out_number(out, "estimate_ns", c->estimate_ns);
    json_out_number(out, "intensity", c->floor.intensity);
    json_out_string(out, "bound", c->floor.bound);
    json_out_number(out, "flops", c->bound.work.flops);
    json_out_number(out, "bytes_read", c->bound.work.read_bytes);
    json_out_number(out, "bytes_written", c->bound.work.write_bytes);
    json_out_u64(out, "buffer_bytes", c->bound.buffer_bytes);
    json_out_string(out, "verification", verify_method_name(c->verify));
    json_out_end(out);
}

/* What compilation adds to the plan's own time. */
struct uncompiled {
    size_t count;
    double time_ns;
};

static enum status write_json(const struct session *session, const struct uncompiled *uncompiled, struct err *err)
{
    struct json_out *out = json_out_new();
    struct text text = {0};
    json_out_string(out, "device", session->info.name);
    json_out_string(out, "machine", session->machine.name);
    json_out_number(out, "estimate_ns", session->plan->estimate_ns);
    json_out_u64(out, "code_objects", session->plan->code_count);
    json_out_u64(out, "uncompiled", uncompiled->count);
    json_out_number(out, "compile_ns", uncompiled->time_ns);
    json_out_array(out, "cases");
    for (size_t k = 0; k < session->plan->count; k++)
        case_json(out, &session->plan->cases[k]);
    json_out_end(out);
    json_out_finish(out, &text, true);
    text_add(&text, "\n");
    enum status status = file_write(session->options->json, text.data, text.length, err);
    text_release(&text);
    json_out_free(out);
    return status;
}

static void print_row(const struct plan_case *c, int width)
{
    char floor_text[UNITS_TEXT], forecast[UNITS_TEXT], estimate[UNITS_TEXT], bytes[UNITS_TEXT];
    if (c->state != PLAN_READY) {
        printf("%-*s  %s: %s\n", width, c->label, state_names[c->state], c->reason);
        return;
    }
    char intensity[24] = "-";
    if (isfinite(c->floor.intensity))
        snprintf(intensity, sizeof(intensity), "%.3g", c->floor.intensity);
    printf("%-*s  %10s  %10s  %9s  %8s  %-11s  %8s\n", width, c->label,
           units_bytes(bytes, (double)c->bound.buffer_bytes),
           c->floor.time_ns > 0 ? units_time(floor_text, c->floor.time_ns) : "-", units_time(forecast, c->forecast_ns),
           intensity, c->floor.bound[0] ? c->floor.bound : "-", units_time(estimate, c->estimate_ns));
}

static void print_total(const struct session *session, size_t ready, const struct uncompiled *uncompiled)
{
    const struct plan *plan = session->plan;
    char total[UNITS_TEXT], compile[UNITS_TEXT];
    printf("\n%zu cases (%zu ready), %zu code objects, about %s on %s, not counting compilation", plan->count, ready,
           plan->code_count, units_time(total, plan->estimate_ns), session->info.name);
    if (uncompiled->count)
        printf(" (%zu to compile: about %s more)", uncompiled->count, units_time(compile, uncompiled->time_ns));
    printf("\n");
}

static void print_plan(const struct session *session, const struct uncompiled *uncompiled)
{
    const struct plan *plan = session->plan;
    int width = 4;
    size_t ready = 0;
    for (size_t k = 0; k < plan->count; k++) {
        const int columns = (int)text_columns(plan->cases[k].label);
        width = columns > width ? columns : width;
        ready += plan->cases[k].state == PLAN_READY;
    }
    printf("%-*s  %10s  %10s  %9s  %8s  %-11s  %8s\n", width, "case", "buffers", "floor", "forecast", "FLOP/B", "bound",
           "takes");
    for (size_t k = 0; k < plan->count; k++)
        print_row(&plan->cases[k], width);
    print_total(session, ready, uncompiled);
    if (session->machine.level_count)
        printf("floor: least time by the roofs of %s; forecast: the floor plus a launch (predicted, not measured)\n",
               session->machine.title[0] ? session->machine.title : session->machine.name);
    else
        printf("no roof is known for this device, so there is no floor: 'rooftile roofline' measures them\n");
}

int cmd_plan(const struct cli_options *options, struct arena *arena)
{
    struct session session = {.options = options, .arena = arena};
    struct err err = {0};
    struct uncompiled uncompiled = {0};
    enum status status = session_prepare(&session, &err);
    if (!status)
        status = session_uncompiled(&uncompiled.count, &uncompiled.time_ns, &session, &err);
    if (!status && options->json)
        status = write_json(&session, &uncompiled, &err);
    if (status)
        return cli_fail(&err);
    if (!options->json || strcmp(options->json, "-"))
        print_plan(&session, &uncompiled);
    status = session_refuse_invalid(&session, &err);
    return status ? cli_fail(&err) : 0;
}
