/* SPDX-License-Identifier: MIT
 *
 * Predicts kernels and suites on machines that need not be present: plans them for each, compiles for its target, and
 * walks the code.
 */

#include "cli.h"
#include "rooftile/describe.h"
#include "rooftile/forecast.h"
#include "rooftile/predictor.h"
#include "rooftile/table.h"

/* Each machine is a sim device. */
enum status predict_sides(struct per_device **sides, size_t *count, const struct cli_options *options,
                          struct arena *arena, struct err *err)
{
    struct cli_options *wanted = arena_copy(arena, options, sizeof(*options));
    struct text devices = {0};
    if (!options->machine)
        return err_set(err, ERR_USAGE, "--machine names the machines, such as mi300x or mi300x,mi210");
    for (const char *at = options->machine; *at;) {
        at += strspn(at, " ");
        const size_t length = strcspn(at, ",");
        text_addf(&devices, "%ssim:%.*s", devices.length ? "," : "", (int)length, at);
        at += length + (at[length] == ',');
    }
    wanted->device = text_take(&devices, arena);
    wanted->machine = NULL;
    enum status status = devices_of(sides, count, wanted, arena, err);
    for (size_t k = 0; !status && k < *count; k++)
        (*sides)[k].session.any_code = true;
    return status;
}

static void take_case(struct session *session, size_t at, const struct prediction *prediction)
{
    struct forecast_case *out = &((struct forecast_case *)session->context)[at];
    size_t launches = 0;
    const struct predicted_launch *launch = predictor_launches(session->predictor, &launches);
    out->prediction = *prediction;
    out->waves_per_simd = launches ? launch[0].model.occupancy.waves_per_simd : 0;
    if (!(prediction->time_ns > 0))
        out->reason = "nothing of it is known on this machine";
}

/* Corrects a prediction by the model's error on the machine that measured the case, if the same term takes the time on
 * both machines. */
static void calibrate(struct forecast_case *c, const struct result *result)
{
    const struct predicted *own = &c->from->prediction;
    const double median_ns = result_case_time(c->from);
    c->scale = 1;
    if (result->predicted || !(c->prediction.time_ns > 0))
        return;
    if (!(own->time_ns > 0))
        c->uncalibrated = "was not predicted where it was measured";
    else if (strcmp(own->method, c->prediction.method) != 0)
        c->uncalibrated = "predicted there by another method";
    else if (strcmp(own->limiter, prediction_term_name(c->prediction.limiter)) != 0)
        c->uncalibrated = "limited by something else there";
    else
        prediction_scale(&c->prediction, c->scale = median_ns / own->time_ns);
}

/* ---- suites of traces ---- */

/* Describes the tuned kernels for a matrix product of a library. */
static void describe_library(struct forecast_case *c, const struct machine *machine, const struct models *models)
{
    const struct resolved *r = &c->plan_case->resolved;
    double sizes[4];
    static const char *const names[] = {"batch", "m", "n", "k"};
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        const int at = manifest_param(r->manifest, names[k]);
        sizes[k] = at >= 0 ? r->values[at].number : 0;
    }
    const int type = manifest_param(r->manifest, "dtype"), total = manifest_param(r->manifest, "total");
    if (!r->manifest->library || !(sizes[0] * sizes[1] * sizes[2] * sizes[3] > 0) || type < 0 || total < 0)
        return;
    const struct described what = described_product(r->values[type].dtype, r->values[total].dtype, sizes);
    if (describe_predict(&c->prediction, &what, machine, models, false))
        c->reason = NULL;
}

/* Returns the library's case of the same row of the import, if any, because the traced program called that. */
static const struct forecast_case *stand_in(const struct forecast *forecast, const struct forecast_case *c)
{
    FOR_EACH(const struct forecast_case, other, forecast->cases, forecast->count) {
        const struct plan_case *p = other->plan_case;
        if (p->resolved.manifest->library && other->prediction.time_ns > 0)
            for (size_t k = 0; k < p->tag_count; k++)
                if (text_starts(p->tags[k], "row") &&
                    text_among(p->tags[k], c->plan_case->tags, c->plan_case->tag_count))
                    return other;
    }
    return c;
}

/* `own`: the same cases on the trace's machine; NULL: unknown. */
static void set_program_times(struct forecast *forecast, const struct forecast *own)
{
    for (size_t k = 0; k < forecast->count; k++) {
        struct forecast_case *c = (struct forecast_case *)&forecast->cases[k];
        const struct forecast_case *here = stand_in(forecast, c), *there = NULL;
        c->program_ns = here->prediction.time_ns;
        c->is_ours = here == c && c->plan_case->traced_ns > 0 && !c->plan_case->resolved.manifest->library;
        for (size_t n = 0; own && n < own->count && !there; n++)
            there = own->cases[n].plan_case->asked == c->plan_case->asked ? stand_in(own, &own->cases[n]) : NULL;
        if (there && there->prediction.time_ns > 0 && c->plan_case->traced_ns > 0 &&
            !strcmp(there->plan_case->resolved.manifest->name, here->plan_case->resolved.manifest->name))
            c->program_ns *= c->plan_case->traced_ns / there->prediction.time_ns;
    }
    forecast->traced_on = own ? own->name : NULL;
}

static enum status predict_side(struct forecast *forecast, struct per_device *side, const struct result_cases *of,
                                const struct models *models, struct err *err)
{
    struct session *session = &side->session;
    const enum session_stage valid = of->count ? 0 : SESSION_VALID; /* a result's other cases go on */
    enum status status = session_go(session, SESSION_DEVICE | SESSION_MACHINE | SESSION_PLAN | valid, err);
    if (status)
        return status;
    struct forecast_case *cases = arena_array(session->arena, session->plan->count + 1, sizeof(*cases));
    for (size_t k = 0; k < session->plan->count; k++)
        cases[k] =
            (struct forecast_case){.plan_case = &session->plan->cases[k], .reason = session->plan->cases[k].reason};
    session->predictor = predictor_new(side->options.seed);
    session->predicted = take_case;
    session->context = cases;
    status = session_go(session, SESSION_PREDICT, err);
    for (size_t k = 0; k < session->plan->count && !status; k++) {
        foreign_note(&cases[k].prediction, session, &session->plan->cases[k]);
        if (session->plan->traced_ns > 0)
            describe_library(&cases[k], session->complete, models);
        cases[k].from = of->count ? of->items[session->plan->cases[k].asked] : NULL;
        if (!cases[k].from)
            continue;
        calibrate(&cases[k], of->result);
        if (cases[k].prediction.time_ns > 0)
            plan_case_bound(&session->plan->cases[k].lower_bound, cases[k].plan_case, session->plan->machine,
                            cases[k].prediction.time_ns, cases[k].prediction.bound);
    }
    predictor_free(session->predictor);
    *forecast = (struct forecast){side->name + strlen("sim:"),
                                  session->complete,
                                  session->borrowed,
                                  of->result,
                                  cases,
                                  session->plan->count,
                                  session->plan->traced_ns,
                                  NULL};
    return status;
}

/* Reads the common arguments of all machines: suites and kernels, or the cases of a result. */
static enum status read_arguments(struct result_cases *of, struct per_device *sides, size_t count,
                                  const struct cli_options *options, struct err *err)
{
    struct session *first = &sides[0].session;
    bool any = false;
    *of = (struct result_cases){0};
    for (size_t k = 0; k < options->arg_count; k++)
        any |= result_is_file(options->args[k], first->arena);
    if (any && (options->arg_count > 1 || options->set_count))
        return err_set(err, ERR_USAGE, "a result stands alone, without --set: its cases are as they were measured");
    enum status status = any ? result_cases(of, first, options->args[0], err) : STATUS_OK;
    if (!status)
        status = devices_suites(sides, count, err);
    for (size_t k = 0; k < count && (any || first->guess); k++)
        sides[k].options.filter_count = 0; /* the filter selected the result's cases or the file's kernels */
    return status;
}

/* Predicts the cases on the trace's machine, even if it was not requested. */
static enum status program_times(struct forecast *forecasts, size_t count, const struct per_device *sides,
                                 const struct models *models, const struct call *call, struct err *err)
{
    const char *on = count ? sides[0].session.plan->traced_on : NULL;
    const struct forecast *own = NULL;
    struct forecast *extra = arena_alloc(call->arena, sizeof(*extra));
    for (size_t k = 0; k < count && on && !own; k++)
        own = strcmp(forecasts[k].name, on) == 0 ? &forecasts[k] : NULL;
    if (on && !own) {
        struct cli_options options = *call->options;
        struct per_device *side = NULL;
        struct result_cases of;
        size_t one = 0;
        options.machine = on;
        if (predict_sides(&side, &one, &options, call->arena, err) || read_arguments(&of, side, one, &options, err) ||
            predict_side(extra, side, &of, models, err))
            return err->status;
        own = extra;
    }
    for (size_t k = 0; k < count; k++)
        set_program_times(&forecasts[k], own);
    return STATUS_OK;
}

enum status cmd_predict(struct call *call, struct err *err)
{
    struct per_device *sides = NULL;
    struct document document = {.arena = call->arena};
    struct result_cases of;
    size_t count = 0;
    session_catch_signals(1);
    if (call->options->arg_count == 1 && launches_is_file(call->options->args[0], call->arena))
        return predict_launches(call, err);
    struct models models;
    if (predict_sides(&sides, &count, call->options, call->arena, err) ||
        read_arguments(&of, sides, count, call->options, err) ||
        models_read(&models, session_config(call->arena, "", "models"), NULL, call->arena, err))
        return err->status;
    struct forecast *forecasts = arena_array(call->arena, count + 1, sizeof(*forecasts));
    for (size_t k = 0; k < count; k++)
        if (predict_side(&forecasts[k], &sides[k], &of, &models, err))
            return err->status;
    if (program_times(forecasts, count, sides, &models, call, err))
        return err->status;
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; c < forecasts[k].count; c++)
            call->code = forecasts[k].cases[c].prediction.work_disagrees ? 1 : call->code;
    forecast_document(&document, forecasts, count);
    return cli_show_document(call->options, &document, false, err);
}
