/* SPDX-License-Identifier: MIT
 *
 * Kernels and suites predicted on machines that need not be here: planned for each, compiled for its target, walked.
 */

#include "measure.h"
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

/* What the model missed on the machine that measured a case, it misses on another one where the same takes the time. */
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

static enum status predict_side(struct forecast *forecast, struct per_device *side, const struct result_cases *of,
                                struct err *err)
{
    struct session *session = &side->session;
    const enum session_stage valid = of->count ? 0 : SESSION_VALID; /* of a result the others go on */
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
        cases[k].from = of->count ? of->items[session->plan->cases[k].asked] : NULL;
        if (!cases[k].from)
            continue;
        calibrate(&cases[k], of->result);
        if (cases[k].prediction.time_ns > 0)
            plan_case_bound(&session->plan->cases[k].lower_bound, cases[k].plan_case, session->plan->machine,
                            cases[k].prediction.time_ns, cases[k].prediction.bound);
    }
    predictor_free(session->predictor);
    *forecast =
        (struct forecast){side->name + strlen("sim:"), session->complete,       session->borrowed, of->result, cases,
                          session->plan->count,        session->plan->traced_ns};
    return status;
}

/* What all machines are asked for: suites and kernels, or the cases of a result. */
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
        sides[k].options.filter_count = 0; /* of the result's cases, of the file's kernels */
    return status;
}

enum status cmd_predict(struct call *call, struct err *err)
{
    struct per_device *sides = NULL;
    struct document document = {.arena = call->arena};
    struct result_cases of;
    size_t count = 0;
    session_catch_signals(1);
    enum status status = predict_sides(&sides, &count, call->options, call->arena, err);
    if (!status)
        status = read_arguments(&of, sides, count, call->options, err);
    struct forecast *forecasts = arena_array(call->arena, count + 1, sizeof(*forecasts));
    for (size_t k = 0; k < count && !status; k++)
        status = predict_side(&forecasts[k], &sides[k], &of, err);
    if (status)
        return status;
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; c < forecasts[k].count; c++)
            call->code = forecasts[k].cases[c].prediction.work_disagrees ? 1 : call->code;
    forecast_document(&document, forecasts, count);
    return cli_show_document(call->options, &document, false, err);
}
