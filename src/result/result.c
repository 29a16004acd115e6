/* SPDX-License-Identifier: MIT */
#include "rooftile/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The id without ";timer=..." is the plan's: the timer is chosen while measuring. */
size_t result_id_length(const char *id)
{
    const char *timer = NULL;
    for (const char *at = strstr(id, ";timer="); at; at = strstr(at + 1, ";timer="))
        timer = at;
    return timer ? (size_t)(timer - id) : strlen(id);
}

static const struct bound_launch *first_launch(const struct bound_step *steps, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (steps[k].kind == STEP_LAUNCH && steps[k].timed)
            return &steps[k].launch;
        const struct bound_launch *inner = first_launch(steps[k].steps, steps[k].step_count);
        if (inner)
            return inner;
    }
    return NULL;
}

static void take_params(struct result_case *out, const struct bound *bound, struct arena *arena)
{
    const struct manifest *manifest = bound->manifest;
    struct result_param *params = arena_array(arena, manifest->param_count + 1, sizeof(*params));
    for (size_t k = 0; k < manifest->param_count && bound->values; k++)
        params[out->param_count++] = (struct result_param){manifest->params[k].name, bound->values[k]};
    out->params = params;
}

static void take_plan(struct result_case *out, const struct plan_case *plan, struct arena *arena)
{
    const struct bound *bound = &plan->bound;
    const struct bound_launch *launch = first_launch(bound->steps, bound->step_count);
    out->label = plan->label;
    out->kernel = bound->manifest->name;
    out->class = case_class_name(bound->manifest->class);
    out->tags = plan->tags;
    out->tag_count = plan->tag_count;
    out->work = bound->work;
    out->has_work = bound->work.flops > 0 || bound->work.items > 0 || bound->work.read_bytes + bound->work.write_bytes > 0;
    take_params(out, bound, arena);
    if (!launch)
        return;
    memcpy(out->grid, launch->grid, sizeof(out->grid));
    memcpy(out->block, launch->block, sizeof(out->block));
    out->lds_bytes = launch->lds_bytes;
}

static void take_metrics(struct result_case *out, const struct manifest *manifest, const struct measurement *measured,
                         struct arena *arena)
{
    struct result_metric *metrics = arena_array(arena, manifest->metric_count + 1, sizeof(*metrics));
    for (size_t k = 0; k < manifest->metric_count && k < MEASUREMENT_MAX_METRICS; k++)
        metrics[out->metric_count++] = (struct result_metric){
            .name = manifest->metrics[k].name, .unit = manifest->metrics[k].unit, .value = measured->metrics[k]};
    out->metrics = metrics;
}

static void take_samples(struct result_case *out, const struct measurement *measured, struct arena *arena)
{
    const uint32_t count = measured->sample_count;
    if (!count)
        return;
    double *scratch = calloc(count, 2 * sizeof(*scratch));
    if (!scratch)
        arena_out_of_memory(count * 2 * sizeof(*scratch));
    summary_compute(&out->stats, measured->samples_ns, count, scratch);
    free(scratch);
    out->samples_ns = arena_copy(arena, measured->samples_ns, count * sizeof(double));
    out->sample_count = count;
}

static void take_measurement(struct result_case *out, const struct measurement *measured, struct arena *arena)
{
    out->status = measured->status;
    out->flags = measured->flags;
    out->timer = measured->timer;
    out->batch = measured->batch;
    out->warmup_ns = measured->warmup_ns;
    out->warmup_converged = measured->warmup_converged;
    memcpy(out->discarded, measured->discarded, sizeof(out->discarded));
    out->stop = measured->stop;
    out->wall_ns = measured->wall_ns;
    out->overhead_ns = measured->overhead_ns;
    out->order_index = measured->order_index;
    out->flush_bytes = measured->flush_bytes;
    out->flush_method = arena_strdup(arena, measured->flush_method);
    out->before = measured->before;
    out->after = measured->after;
    if (!(out->before.core_hz > 0))
        out->before.core_hz = measured->core_hz_before;
    if (!(out->after.core_hz > 0))
        out->after.core_hz = measured->core_hz_after;
    out->verification = measured->verification;
    out->reason = arena_strdup(arena, measured->reason[0] ? measured->reason : measured->flag_reason);
}

/* What happens when nothing was measured is the plan's word. */
static void take_plan_state(struct result_case *out, const struct plan_case *plan)
{
    if (out->status != CASE_NONE)
        return;
    out->status = plan->state == PLAN_SKIPPED ? CASE_SKIPPED : CASE_ERROR;
    if (!out->reason[0])
        out->reason = plan->reason ? plan->reason : "not measured";
}

static double per_second(double amount, double median_ns)
{
    return amount > 0 && median_ns > 0 ? amount / median_ns * 1e9 : NAN;
}

static void rate_case(struct result_case *out, const struct plan_case *plan, const struct machine *machine)
{
    const double median_ns = out->sample_count ? out->stats.median : NAN;
    out->flops_per_s = per_second(out->work.flops, median_ns);
    out->bytes_per_s = per_second(out->work.read_bytes + out->work.write_bytes, median_ns);
    out->items_per_s = per_second(out->work.items, median_ns);
    floor_compute(&out->floor, machine, &out->work, out->cache);
    out->fraction = floor_fraction(&out->floor, median_ns);
    out->model = "floor";
    out->predicted_ns = plan->forecast_ns;
    /* On sim the measured time is the prediction itself. */
    const bool compares = out->timer != TIMED_SIM && median_ns > 0 && plan->forecast_ns > 0;
    out->predicted_error = compares ? median_ns / plan->forecast_ns - 1 : NAN;
}

void result_case_build(struct result_case *out, const struct plan_case *plan, const struct measurement *measured,
                       const char *object_sha256, const struct machine *machine, struct arena *arena)
{
    *out = (struct result_case){.cache = plan->measure.cache, .reason = "", .flush_method = ""};
    take_plan(out, plan, arena);
    if (measured) {
        take_measurement(out, measured, arena);
        take_samples(out, measured, arena);
        take_metrics(out, plan->bound.manifest, measured, arena);
    }
    take_plan_state(out, plan);
    if (object_sha256 && strlen(object_sha256) < sizeof(out->object_sha256))
        memcpy(out->object_sha256, object_sha256, strlen(object_sha256) + 1);
    out->id = out->timer == TIMED_NONE ? plan->id : arena_printf(arena, "%s;timer=%s", plan->id, timer_name(out->timer));
    rate_case(out, plan, machine);
}

static bool is_finding(const struct result_case *c)
{
    return c->status == CASE_FAILED || c->status == CASE_CRASHED || c->status == CASE_TIMEOUT ||
           c->flags & FLAG_IMPOSSIBLE || c->verification.verdict == VERIFY_FAIL;
}

int result_exit_code(const struct result *result)
{
    size_t measured = 0, errors = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        if (is_finding(&result->cases[k]))
            return 1;
        measured += result->cases[k].status == CASE_OK;
        errors += result->cases[k].status == CASE_ERROR;
    }
    if (!errors)
        return 0;
    return measured ? 1 : 3;
}
