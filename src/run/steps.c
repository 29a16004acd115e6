/* SPDX-License-Identifier: MIT */
#include "rooftile/clock.h"
#include "run_internal.h"

static enum status load(struct ready *ready, struct err *err)
{
    enum status status = ready_load(ready, err);
    return status ? status : ready_resolve(ready, err);
}

/* Before steps that load the code. Nothing may still run in it. */
static enum status unload(struct ready *ready, struct err *err)
{
    enum status status = ready->device->ops->wait(ready->device, err);
    if (!status)
        ready_unload(ready);
    return status;
}

static enum status reallocate(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err)
{
    enum status status = ready->device->ops->wait(ready->device, err);
    if (!status)
        status = ready_realloc(ready, buffer, rotation, err);
    return status ? status : ready_resolve(ready, err);
}

static enum status run_step(struct ready *ready, struct ready_step *step, uint32_t rotation, struct err *err);

static enum status run_once(struct ready *ready, struct ready_step *step, uint32_t rotation, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    const struct bound_step *bound = step->bound;
    enum status status = STATUS_OK;
    switch (bound->kind) {
    case STEP_LAUNCH:
        return ops->launch(ready->device, &step->launch, err);
    case STEP_COPY:
        return ops->copy(ready->device, step->to, step->from, bound->bytes, bound->stream, err);
    case STEP_FILL:
        return ops->fill(ready->device, step->to, bound->byte, bound->bytes, bound->stream, err);
    case STEP_SYNC:
        return ops->wait(ready->device, err);
    case STEP_RECORD:
        return ops->mark(ready->device, FIRST_STEP_MARK + bound->mark, bound->stream, err);
    case STEP_WAIT:
        return ops->wait_mark ? ops->wait_mark(ready->device, bound->stream, FIRST_STEP_MARK + bound->mark, err)
                              : STATUS_OK;
    case STEP_LOAD:
        return load(ready, err);
    case STEP_ALLOC:
        return reallocate(ready, (size_t)bound->to, rotation, err);
    case STEP_GRAPH:
        return ops->graph_launch(ready->device, step->graph, bound->stream, err);
    case STEP_LOOP:
        for (size_t k = 0; k < bound->step_count && !status; k++)
            status = run_step(ready, &step->inside[k], rotation, err);
        return status;
    }
    return STATUS_OK;
}

static enum status run_step(struct ready *ready, struct ready_step *step, uint32_t rotation, struct err *err)
{
    for (uint64_t k = 0; k < step->bound->repeat; k++) {
        enum status status = run_once(ready, step, rotation, err);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status run_marked(struct ready *ready, uint32_t rotation, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    const size_t count = ready->bound->step_count;
    struct ready_step *steps = ready->steps + rotation * count;
    for (size_t k = 0; k < count; k++) {
        enum status status = STATUS_OK;
        if (!steps[k].bound->timed)
            status = run_step(ready, &steps[k], rotation, err);
        else if (ops->launch_marked)
            status = ops->launch_marked(ready->device, &steps[k].launch, MARK_KERNEL_BEGIN, MARK_KERNEL_END, err);
        else
            status = err_set(err, ERR_UNSUPPORTED, "the %s device does not tell a kernel's own times", ops->name);
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* Between untimed and timed steps. */
static enum status set_mark(struct ready *ready, enum run_marks marks, bool end, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    if (marks == MARKS_NONE)
        return STATUS_OK;
    if (marks == MARKS_AROUND)
        return ops->mark(ready->device, end ? MARK_END : MARK_BEGIN, 0, err);
    enum status status = ops->wait(ready->device, err);
    const double now_ns = (double)clock_now_ns();
    ready->host_ns = end ? now_ns - ready->host_ns : now_ns;
    return status;
}

/* Untimed steps may stand before and after the timed ones; plan refuses timed steps with untimed ones between them. */
enum status ready_run(struct ready *ready, uint32_t rotation, enum run_marks marks, struct err *err)
{
    const size_t count = ready->bound->step_count;
    struct ready_step *steps = ready->steps + rotation * count;
    bool inside = false;
    enum status status = ready->reloads ? unload(ready, err) : STATUS_OK;
    ready->runs += rotation == 0;
    if (status || marks == MARKS_KERNEL)
        return status ? status : run_marked(ready, rotation, err);
    for (size_t k = 0; k < count; k++) {
        if (steps[k].bound->timed != inside) {
            status = set_mark(ready, marks, inside, err);
            inside = !inside;
        }
        if (!status)
            status = run_step(ready, &steps[k], rotation, err);
        if (status)
            return status;
    }
    return inside ? set_mark(ready, marks, true, err) : STATUS_OK;
}

enum status ready_setup(struct ready *ready, struct err *err)
{
    const size_t count = ready->bound->setup_count;
    for (size_t k = 0; k < ready->rotations * count; k++) {
        enum status status = run_step(ready, &ready->setup[k], (uint32_t)(k / count), err);
        if (status)
            return err_within(err, "setup step %zu", k % count);
    }
    return count ? ready->device->ops->wait(ready->device, err) : STATUS_OK;
}
