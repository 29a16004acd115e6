/* SPDX-License-Identifier: MIT */
#include "rooftile/result.h"

#include "rooftile/launch_fit.h"

size_t result_trial_times(double times[static SHIFT_MAX_TRIALS], const struct result_case *c)
{
    size_t count = 0;
    for (size_t k = 0; k < c->trial_count && count < SHIFT_MAX_TRIALS; k++)
        if (c->trials[k].status == CASE_OK && isfinite(c->trials[k].median_ns) && c->trials[k].median_ns > 0)
            times[count++] = c->trials[k].median_ns;
    if (!count)
        times[count++] = result_case_time(c);
    return count;
}

double result_case_floor(const struct result_case *c, double tick_ns)
{
    const double share = tick_ns / (result_case_time(c) * (c->batch ? c->batch : 1));
    return share > 0 ? fmin(share, 1) : 0;
}

size_t result_id_length(const char *id)
{
    const char *timer = NULL; /* the last one: a parameter's value may contain the same text */
    for (const char *at = strstr(id, ";timer="); at; at = strstr(at + 1, ";timer="))
        timer = at;
    return timer ? (size_t)(timer - id) : strlen(id);
}

static void take_identity(struct result_case *out, const struct plan_case *plan, const struct measurement *measured,
                          struct arena *arena)
{
    const struct manifest *manifest = plan->resolved.manifest;
    out->id = measured->sample_count || measured->timer == TIMED_SIM
                  ? arena_printf(arena, "%s;timer=%s", plan->id, timer_names[measured->timer])
                  : plan->id;
    out->label = plan->label;
    out->kernel = manifest->name;
    out->class = case_class_names[manifest->class];
    out->tags = plan->tags;
    out->tag_count = plan->tag_count;
    struct result_param *params = arena_array(arena, manifest->param_count + 1, sizeof(*params));
    size_t count = 0;
    for (size_t k = 0; plan->resolved.values && k < manifest->param_count; k++)
        if (!param_is_hidden(&manifest->params[k], &plan->resolved.values[k]))
            params[count++] = (struct result_param){manifest->params[k].name, plan->resolved.values[k]};
    out->params = params;
    out->param_count = count;
}

static void take_measurement(struct result_case *out, const struct measurement *measured, struct arena *arena)
{
    out->timer = measured->timer;
    out->cache = measured->cache;
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
    out->blocking_start = measured->blocking_start;
    out->blocking_reason = arena_strdup(arena, measured->blocking_reason);
    out->clock_unsteady = measured->clock_unsteady;
    out->clock_reason = arena_strdup(arena, measured->clock_reason);
    out->cross_timer = measured->cross_timer;
    out->cross_ns = measured->cross_timer != TIMED_NONE ? measured->cross_ns : NAN;
    if (out->before.core_hz > 0 && out->after.core_hz > 0)
        out->core_hz = (out->before.core_hz + out->after.core_hz) / 2;
    out->library = arena_strdup(arena, measured->library);
    if (measured->library_sha256[0])
        memcpy(out->object_sha256, measured->library_sha256, sizeof(out->object_sha256));
    out->verification = measured->verification;
    if (out->verification.verdict == VERIFY_SKIPPED || !out->verification.checked)
        out->verification.tolerance = NAN;
    out->status = measured->status;
    out->flags = measured->flags;
    out->reason = arena_strdup(arena, measured->status != CASE_OK ? measured->reason : measured->flag_reason);
}

static void take_samples(struct result_case *out, const struct measurement *measured, struct arena *arena)
{
    const size_t count = measured->sample_count;
    double *scratch = new_zeroed(2 * count + 1, sizeof(*scratch)), sum_hz = 0;
    size_t known = 0;
    out->samples_ns = arena_copy(arena, measured->samples_ns, count * sizeof(*measured->samples_ns));
    out->sample_count = count;
    summary_compute(&out->stats, out->samples_ns, count, scratch);
    /* Samples without a clock are left out of both the cycles and the mean clock. */
    for (size_t k = 0; measured->has_sample_hz && k < count; k++) {
        const double clock_hz = (double)measured->sample_hz[k];
        if (!(clock_hz > 0))
            continue;
        sum_hz += clock_hz;
        scratch[known++] = measured->samples_ns[k] * 1e-9 * clock_hz;
    }
    if (known) {
        out->sample_hz = arena_copy(arena, measured->sample_hz, count * sizeof(*measured->sample_hz));
        out->core_hz = sum_hz / (double)known;
        out->cycles = median_of(scratch, known);
    }
    free(scratch);
}

void result_case_build(struct result_case *out, const struct plan_case *plan, const struct measurement *measured,
                       const char *object_sha256, const struct machine *machine, struct arena *arena)
{
    *out = (struct result_case){.flops_per_s = NAN,
                                .bytes_per_s = NAN,
                                .items_per_s = NAN,
                                .fraction = NAN,
                                .predicted_error = NAN,
                                .cycles = NAN,
                                .core_hz = NAN,
                                .cross_ns = NAN,
                                .weight = plan->weight,
                                .sized_by = plan->sized_by,
                                .traced_ns = plan->traced_ns > 0 ? plan->traced_ns : NAN,
                                .prediction = {.method = "", .limiter = "", .bound = ""}};
    take_identity(out, plan, measured, arena);
    take_measurement(out, measured, arena);
    if (plan->state != PLAN_READY)
        return;
    out->work = plan->resolved.work;
    if (!out->object_sha256[0])
        memcpy(out->object_sha256, object_sha256, strnlen(object_sha256, sizeof(out->object_sha256) - 1));
    const struct resolved_launch *launch = launch_first_timed(&plan->resolved);
    if (launch) {
        memcpy(out->grid, launch->grid, sizeof(out->grid));
        memcpy(out->block, launch->block, sizeof(out->block));
        out->lds_bytes = launch->lds_bytes;
    }
    if (plan->prediction)
        out->prediction = *plan->prediction;
    if (measured->sample_count) {
        const struct manifest *manifest = plan->resolved.manifest;
        struct result_metric *metrics = arena_array(arena, manifest->metric_count + 1, sizeof(*metrics));
        for (size_t k = 0; k < manifest->metric_count && k < MEASUREMENT_MAX_METRICS; k++)
            metrics[out->metric_count++] =
                (struct result_metric){manifest->metrics[k].name, manifest->metrics[k].unit, measured->metrics[k]};
        out->metrics = metrics;
        take_samples(out, measured, arena);
    }
    const double time_ns = result_case_timed(out) ? result_case_time(out) : NAN;
    const bool foreseen = time_ns >= out->prediction.low_ns && time_ns <= out->prediction.high_ns;
    plan_case_bound(&out->lower_bound, plan, machine, time_ns, foreseen ? out->prediction.bound : "");
    if (result_case_timed(out))
        result_take_time(out);
    out->predicted_error = result_predicted_error(out);
}

double result_predicted_error(const struct result_case *c)
{
    const bool both = c->sample_count && c->stats.median > 0 && c->prediction.time_ns > 0;
    return both && !(c->flags & FLAG_EMULATED) ? c->prediction.time_ns / c->stats.median - 1 : NAN;
}

const char *result_kind(const struct result *result)
{
    return result->predicted ? "predicted" : *result->device.emulated ? "emulated" : "measured";
}

const char *result_kind_words(const struct result *result)
{
    return result->predicted          ? "PREDICTED: nothing was executed"
           : *result->device.emulated ? "EMULATED: no GPU executed it, and no time here is one of a GPU"
                                      : "measured";
}

enum status result_check_measured(const struct result *result, struct err *err)
{
    const bool profiled = COUNT_WHERE(label, result->labels, result->label_count,
                                      !strcmp(label->key, "profile") && !strcmp(label->value, "not a measurement")) ||
                          COUNT_WHERE(c, result->cases, result->case_count, c->flags & FLAG_PROFILED);
    if (!profiled && !*result->device.emulated)
        return STATUS_OK;
    return err_set(err, ERR_CONFIG, "a run %s is no measurement", profiled ? "with --profile" : "on an emulated GPU");
}

bool result_case_counts(const struct result_case *c)
{
    return c->status == CASE_OK && isfinite(result_case_time(c)) && result_case_time(c) > 0 &&
           !(c->flags & (FLAG_IMPOSSIBLE | FLAG_EMULATED)) && c->verification.verdict != VERIFY_FAIL;
}

bool result_case_is_twin(const struct result_case *c)
{
    return c->id && strstr(c->id, ";isolate=");
}

const char *result_case_trouble(const struct result_case *c)
{
    const char *finding = result_case_finding(c);
    return *finding ? finding : c->flags & FLAG_EMULATED ? "emulated" : case_status_names[c->status];
}

const char *case_name(const struct result_case *c)
{
    return c->label && *c->label ? c->label : c->id;
}

const char *result_case_finding(const struct result_case *c)
{
    if (c->verification.verdict == VERIFY_FAIL)
        return "verification";
    if (c->flags & FLAG_IMPOSSIBLE)
        return "impossible";
    const bool bad = c->status == CASE_FAILED || c->status == CASE_CRASHED || c->status == CASE_TIMEOUT;
    return bad ? case_status_names[c->status] : "";
}

int result_exit_code(const struct result *result, bool strict)
{
    size_t errors = 0, measured = 0;
    bool doubt = result->status && strcmp(result->status, "complete") != 0;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (result_case_finding(c)[0])
            return 1;
        errors += c->status == CASE_ERROR || c->status == CASE_NONE;
        measured += c->status == CASE_OK;
        doubt = doubt || (c->flags & (FLAG_INTERFERENCE | FLAG_THROTTLED | FLAG_NO_CEILING));
    }
    if (!measured)
        return 3;
    for (size_t k = 0; k < result->derived_count; k++)
        errors += result_derived_is_finding(&result->derived[k]);
    return errors ? 1 : strict && doubt ? 4 : 0;
}

const char *result_unmeasured(const struct result *result)
{
    if (result_exit_code(result, false) != 3)
        return NULL;
    return result->case_count ? result->cases[0].reason : "there is no case";
}
