/* SPDX-License-Identifier: MIT */

#include "run_internal.h"

/* Number of launches of an empty kernel, which measure the launch overhead. A device with a queue has more timers to
 * calibrate. */
enum { NULL_LAUNCHES = SAMPLING_MEDIAN_MOST, NULL_BATCH = 1000, NULL_BATCHES = 11 };
enum { QUEUED_LAUNCHES = 51, QUEUED_BATCH = 200, QUEUED_BATCHES = 5 };

/* Returns the median time of one launch; NaN with *err if the timer does not work. */
static double null_time(struct worker *worker, struct ready *ready, enum timer timer, uint32_t batch, uint32_t repeat,
                        struct err *err)
{
    struct sampling sampling;
    double median = NAN;
    enum status status = sampling_init(&sampling, worker, ready, CACHE_HOT, err);
    sampling.probe = false;
    if (!status)
        status = sampling_set_timer(&sampling, timer, batch, err);
    if (!status)
        status = sampling_median(&median, &sampling, 0, repeat, err);
    if (status && worker->device->ops->asynchronous)
        (void)worker->device->ops->wait(worker->device, &(struct err){0});
    sampling_release(&sampling);
    return median;
}

static void time_queued(struct worker *worker, struct ready *ready, struct calibration *out)
{
    struct err err = {0}, dispatch_err = {0};
    (void)null_time(worker, ready, TIMED_HOST, 1, QUEUED_LAUNCHES / 3, &err);
    out->null_host_ns = null_time(worker, ready, TIMED_HOST, 1, QUEUED_LAUNCHES, &err);
    out->null_launch_ns = null_time(worker, ready, TIMED_EVENT, 1, QUEUED_LAUNCHES, &err);
    out->null_batch_ns = null_time(worker, ready, TIMED_BATCH, QUEUED_BATCH, QUEUED_BATCHES, &err);
    out->null_graph_ns = null_time(worker, ready, TIMED_GRAPH, QUEUED_BATCH, QUEUED_BATCHES, &err);
    out->dispatch_null_ns = null_time(worker, ready, TIMED_DISPATCH, 1, QUEUED_LAUNCHES, &dispatch_err);
    if (isnan(out->dispatch_null_ns))
        snprintf(out->dispatch_reason, sizeof(out->dispatch_reason), "%.*s", (int)sizeof(out->dispatch_reason) - 1,
                 dispatch_err.text);
}

enum status calibrate(struct worker *worker, struct err *err)
{
    const struct device_ops *ops = worker->device->ops;
    struct calibration *out = &worker->shared->calibration;
    char why[SERVICE_WHY];
    *out = (struct calibration){.timer_tick_ns = worker->info.timer_tick_ns,
                                .null_launch_ns = NAN,
                                .null_batch_ns = NAN,
                                .dispatch_null_ns = NAN,
                                .null_host_ns = NAN,
                                .null_graph_ns = NAN,
                                .flush_reread_hot_ns = NAN,
                                .flush_reread_cold_ns = NAN};
    out->quiet_rates = device_sense_unknown;
    if (worker->options->profile || worker->options->verify_only)
        return STATUS_OK; /* profiles contain only the cases, and verification times nothing */
    /* On a GPU these are mere readings, which cost nothing and show whether it is idle. */
    const struct plan *plan = worker->plan;
    const bool calibrates =
        !plan || COUNT_WHERE(c, plan->cases, plan->count, c->state == PLAN_READY && c->measure.calibrates);
    const bool senses = ops->sense && (ops->asynchronous || calibrates);
    if (senses && ops->sense(worker->device, &out->quiet_rates, err))
        return err->status;
    worker->shared->fastest_hz = fmax(worker->shared->fastest_hz, out->quiet_rates.core_hz);
    if (ops->has_clock_probe && service_ready(worker, SERVICE_CLOCK, why)) {
        out->counter_hz = probe_counter_hz(worker);
        out->timer_tick_ns = worker->info.timer_tick_ns; /* the probe may have measured it */
    }
    struct ready *ready = service_ready(worker, SERVICE_NULL, why);
    if (ready && ops->asynchronous)
        time_queued(worker, ready, out);
    else if (ready) {
        const enum timer timer = worker->info.predicted ? TIMED_SIM : TIMED_HOST;
        (void)null_time(worker, ready, timer, 1, NULL_LAUNCHES / 3, err); /* the first launches include waking up */
        out->null_launch_ns = null_time(worker, ready, timer, 1, NULL_LAUNCHES, err);
        out->null_batch_ns = null_time(worker, ready, timer, NULL_BATCH, NULL_BATCHES, err);
    }
    if (ops->asynchronous && !ops->evict && plan &&
        COUNT_WHERE(c, plan->cases, plan->count, c->state == PLAN_READY && c->measure.cache == CACHE_COLD))
        cold_self_test(worker, out);
    /* A fault during calibration may have destroyed the context; report it here rather than in the first case. */
    if (ops->asynchronous && ops->wait(worker->device, err) == ERR_DEVICE_LOST)
        return err_within(err, "after calibrating");
    *err = (struct err){0};
    return STATUS_OK;
}
