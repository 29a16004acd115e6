/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "run_internal.h"

static enum status begin_range(struct worker *worker, const char *name, struct measurement *out)
{
    const struct device_ops *ops = worker->device->ops;
    struct err err = {0};
    const enum status status = ops->range ? ops->range(worker->device, name, &err)
                                          : err_set(&err, ERR_UNSUPPORTED, "device %s has none", worker->info.backend);
    if (status)
        snprintf(out->profile_note, sizeof(out->profile_note), "%s", err.text);
    return status;
}

static void end_range(struct worker *worker)
{
    struct err ignored = {0};
    if (worker->device->ops->range)
        (void)worker->device->ops->range(worker->device, NULL, &ignored);
}

/* All steps once, inside a range of their own. */
static enum status run_once(struct worker *worker, struct ready *ready, const char *range, struct measurement *out,
                            struct err *err)
{
    const bool ranged = !begin_range(worker, range, out);
    enum status status = ready_reset(ready, 0, err);
    if (!status)
        status = ready_run(ready, 0, MARKS_AROUND, err);
    if (!status)
        status = worker->device->ops->wait(worker->device, err);
    if (ranged)
        end_range(worker);
    return status;
}

enum status profile_case(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                         struct measurement *out, struct err *err)
{
    const struct device_ops *ops = worker->device->ops;
    double time_ns = 0;
    out->flags |= FLAG_PROFILED;
    out->verification.verdict = VERIFY_SKIPPED;
    snprintf(out->verification.reason, sizeof(out->verification.reason), "nothing is verified under --profile");
    const bool ranged = !begin_range(worker, plan_case->id, out);
    enum status status = run_once(worker, ready, "warm", out, err);
    if (!status)
        status = run_once(worker, ready, "timed", out, err);
    if (ranged)
        end_range(worker);
    if (!status)
        status = ops->elapsed(&time_ns, worker->device, 0, 1, err);
    if (status)
        return status;
    out->batch = 1;
    out->timer = worker->info.predicted ? TIMED_SIM : ops->host_visible ? TIMED_HOST : TIMED_EVENT;
    if (time_ns > 0)
        out->samples_ns[out->sample_count++] = time_ns;
    out->stop = STOP_MAX_SAMPLES;
    return STATUS_OK;
}
