/* SPDX-License-Identifier: MIT */
#include "run_internal.h"

static enum status reload(struct ready *ready, struct err *err)
{
    struct device_module *module = NULL;
    const char *object = ready->builds[ready->bound->code].object;
    enum status status = ready->device->ops->load(&module, ready->device, object, err);
    if (!status)
        ready->device->ops->unload(ready->device, module);
    return status;
}

static enum status run_once(struct ready *ready, struct ready_step *step, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    const struct bound_step *bound = step->bound;
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
        return reload(ready, err);
    case STEP_GRAPH:
        return ops->graph_launch(ready->device, step->graph, bound->stream, err);
    }
    return STATUS_OK;
}

static enum status run_step(struct ready *ready, struct ready_step *step, struct err *err)
{
    for (uint64_t k = 0; k < step->bound->repeat; k++) {
        enum status status = run_once(ready, step, err);
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
            status = run_step(ready, &steps[k], err);
        else if (ops->launch_marked)
            status = ops->launch_marked(ready->device, &steps[k].launch, MARK_KERNEL_BEGIN, MARK_KERNEL_END, err);
        else
            status = err_set(err, ERR_UNSUPPORTED, "the %s device does not tell a kernel's own times", ops->name);
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* Untimed steps may stand before and after the timed ones; plan refuses timed steps with untimed ones between them. */
enum status ready_run(struct ready *ready, uint32_t rotation, enum run_marks marks, struct err *err)
{
    if (marks == MARKS_KERNEL)
        return run_marked(ready, rotation, err);
    const size_t count = ready->bound->step_count;
    struct ready_step *steps = ready->steps + rotation * count;
    bool inside = false;
    for (size_t k = 0; k < count; k++) {
        if (marks && steps[k].bound->timed != inside) {
            enum status status = ready->device->ops->mark(ready->device, inside ? MARK_END : MARK_BEGIN, 0, err);
            if (status)
                return status;
            inside = !inside;
        }
        enum status status = run_step(ready, &steps[k], err);
        if (status)
            return status;
    }
    return marks && inside ? ready->device->ops->mark(ready->device, MARK_END, 0, err) : STATUS_OK;
}

enum status ready_setup(struct ready *ready, struct err *err)
{
    const size_t count = ready->bound->setup_count;
    for (size_t k = 0; k < ready->rotations * count; k++) {
        enum status status = run_step(ready, &ready->setup[k], err);
        if (status)
            return err_within(err, "setup step %zu", k % count);
    }
    return count ? ready->device->ops->wait(ready->device, err) : STATUS_OK;
}
