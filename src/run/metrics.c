/* SPDX-License-Identifier: MIT
 *
 * The metrics of a manifest: numbers computed from output buffers.
 */

#include "run_internal.h"

static double reduce(double *x, size_t count, enum metric_reduce how)
{
    double value = x[0], sum = 0;
    for (size_t k = 0; k < count; k++) {
        sum += x[k];
        if (how == REDUCE_MIN)
            value = fmin(value, x[k]);
        else if (how == REDUCE_MAX)
            value = fmax(value, x[k]);
    }
    switch (how) {
    case REDUCE_SUM:
        return sum;
    case REDUCE_MEAN:
        return sum / (double)count;
    case REDUCE_MEDIAN:
        return median_of(x, count);
    default:
        return value;
    }
}

static double metric_value(struct ready *ready, const struct manifest_metric *metric)
{
    const struct resolved_buffer *buffer = &ready->resolved->buffers[metric->buffer];
    const size_t slot_count = manifest_slot_count(ready->resolved->manifest);
    struct arena arena = {0};
    struct err err = {0};
    const void *data = NULL;
    double value = NAN;
    if (!buffer->count || ready_read(&data, ready, (size_t)metric->buffer, 0, &arena, &err))
        goto out;
    double *x = arena_array(&arena, (size_t)buffer->count, sizeof(*x));
    dtype_load(x, buffer->dtype, data, (size_t)buffer->count);
    value = reduce(x, (size_t)buffer->count, metric->reduce);
    if (metric->expr) {
        double *slots = arena_copy(&arena, ready->slots, slot_count * sizeof(*slots));
        double *own = slots + ready->resolved->manifest->param_count + MANIFEST_DEVICE_NAMES; /* "x" and "runs" */
        own[0] = value;
        own[1] = (double)ready->runs;
        if (expr_eval(&value, metric->expr, slots, &err))
            value = NAN;
    }
out:
    arena_release(&arena);
    return value;
}

enum status take_metrics(struct ready *ready, struct measurement *out, struct err *err)
{
    const struct manifest *manifest = ready->resolved->manifest;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < MEASUREMENT_MAX_METRICS; k++)
        out->metrics[k] = k < manifest->metric_count && ready->device->ops->executes
                              ? metric_value(ready, &manifest->metrics[k])
                              : NAN;
    for (size_t k = 0; k < manifest->metric_count && k < MEASUREMENT_MAX_METRICS && !status; k++) {
        const struct manifest_metric *metric = &manifest->metrics[k];
        double want = out->metrics[k];
        if (metric->expect && expr_eval(&want, metric->expect, ready->slots, err))
            return err_within(err, "metric '%s'", metric->name);
        if (isnan(out->metrics[k]) || out->metrics[k] == want)
            continue;
        out->status = CASE_FAILED;
        status = err_set(err, ERR_DEVICE, "metric '%s' is %.15g, expected %.15g, after %llu runs", metric->name,
                         out->metrics[k], want, (unsigned long long)ready->runs);
    }
    return status;
}
