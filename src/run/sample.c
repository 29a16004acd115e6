/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "sampling.h"

static enum status run_next(struct sampling *sampling, enum run_marks marks, struct err *err)
{
    struct ready *ready = sampling->ready;
    enum status status = ready_run(ready, sampling->rotation, marks, err);
    if (++sampling->rotation >= ready->rotations)
        sampling->rotation = 0;
    return status;
}

static enum status run_batch(struct sampling *sampling, struct err *err)
{
    struct ready *ready = sampling->ready;
    const struct device_ops *ops = ready->device->ops;
    enum status status = ops->mark(ready->device, MARK_BEGIN, 0, err);
    for (uint32_t k = 0; k < sampling->batch && !status; k++)
        status = run_next(sampling, MARKS_NONE, err);
    return status ? status : ops->mark(ready->device, MARK_END, 0, err);
}

static enum status run_graph(struct sampling *sampling, struct err *err)
{
    struct device *device = sampling->ready->device;
    enum status status = device->ops->mark(device, MARK_BEGIN, 0, err);
    if (!status)
        status = device->ops->graph_launch(device, sampling->graph, 0, err);
    sampling->ready->runs += sampling->batch / sampling->ready->rotations;
    return status ? status : device->ops->mark(device, MARK_END, 0, err);
}

static bool host_timed(const struct sampling *sampling)
{
    return sampling->timer == TIMED_HOST && sampling->ready->device->ops->asynchronous;
}

static enum status run_timed(double *host_ns, struct sampling *sampling, struct err *err)
{
    if (host_timed(sampling)) {
        enum status status = run_next(sampling, MARKS_HOST, err);
        *host_ns = sampling->ready->host_ns;
        return status;
    }
    if (sampling->timer == TIMED_DISPATCH)
        return run_next(sampling, MARKS_KERNEL, err);
    if (sampling->timer == TIMED_GRAPH)
        return run_graph(sampling, err);
    return sampling->ready->all_timed ? run_batch(sampling, err) : run_next(sampling, MARKS_AROUND, err);
}

/* Everything of a sample stands in the stream before the first of it runs, where a start can be held back: then neither
 * the probe's clock nor the first launch is of a device that waits for the host. */
static enum status queue_sample(double *host_ns, struct sampling *sampling, struct err *err)
{
    struct worker *worker = sampling->worker;
    if (sampling->hold)
        sampling->hold = hold_begin(worker, sampling->hold_why);
    if (sampling->probe)
        probe_queue(worker, PROBE_BEFORE);
    enum status status = run_timed(host_ns, sampling, err);
    if (sampling->probe && !status)
        probe_queue(worker, PROBE_AFTER);
    hold_release(worker);
    if (!status)
        status = sampling->ready->device->ops->wait(sampling->ready->device, err);
    if (sampling->hold && !status)
        sampling->hold = hold_was_released(worker, sampling->hold_why);
    return status;
}

static enum status read_time(struct sample *sample, const struct sampling *sampling, double host_ns, struct err *err)
{
    const bool own = sampling->timer == TIMED_DISPATCH;
    struct device *device = sampling->ready->device;
    double time_ns = host_ns;
    enum status status = STATUS_OK;
    if (!host_timed(sampling))
        status = device->ops->elapsed(&time_ns, device, own ? MARK_KERNEL_BEGIN : MARK_BEGIN,
                                      own ? MARK_KERNEL_END : MARK_END, err);
    if (!status)
        sample->time_ns = time_ns / sampling->batch;
    return status;
}

enum status sampling_take(struct sampling *sampling, struct sample *sample, struct err *err)
{
    struct ready *ready = sampling->ready;
    double host_ns = 0;
    enum status status = STATUS_OK;
    *sample = (struct sample){.hz_before = NAN, .hz_after = NAN, .hz = NAN};
    if (ready->needs_reset) {
        status = ready_reset(ready, sampling->rotation, err);
        if (!status)
            status = ready->device->ops->wait(ready->device, err);
    }
    if (!status)
        status = cold_make(sampling, err);
    if (!status)
        status = queue_sample(&host_ns, sampling, err);
    if (!status)
        status = read_time(sample, sampling, host_ns, err);
    if (!status && sampling->probe) {
        sample->hz_before = probe_read(sampling->worker, PROBE_BEFORE, sampling->probe_why);
        sample->hz_after = probe_read(sampling->worker, PROBE_AFTER, sampling->probe_why);
        sample->hz = (sample->hz_before + sample->hz_after) / 2;
    }
    sampling->taken++;
    return status;
}
