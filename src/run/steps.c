/* SPDX-License-Identifier: MIT
 *
 * The steps of a prepared case: its code, and the kernel, buffers and arguments of each step. Load and alloc steps
 * change these while the case runs.
 */

#include "rooftile/clock.h"
#include "rooftile/hash.h"
#include "run_internal.h"

/* ---- code ---- */

enum status ready_load(struct ready *ready, struct err *err)
{
    const struct resolved *resolved = ready->resolved;
    const struct device_ops *ops = ready->device->ops;
    enum status status = STATUS_OK;
    if (!ready->modules)
        ready->modules = arena_array(&ready->arena, resolved->code_count + 1, sizeof(*ready->modules));
    for (size_t k = 0; k < resolved->code_count && !status; k++) {
        const struct build_result *build = &ready->builds[resolved->codes[k]];
        struct device_module **module = &ready->modules[k];
        if (!*module && build->library && !ops->load_library)
            return err_set(err, ERR_UNSUPPORTED, "the device has no libraries of functions");
        if (!*module)
            status = build->library ? ops->load_library(module, ready->device, build->library, err)
                                    : ops->load(module, ready->device, build->object, err);
    }
    return status;
}

void ready_unload(struct ready *ready)
{
    for (size_t k = 0; ready->modules && k < ready->resolved->code_count; k++) {
        if (ready->modules[k])
            ready->device->ops->unload(ready->device, ready->modules[k]);
        ready->modules[k] = NULL;
    }
}

const struct build_result *unbuilt_code(const struct resolved *resolved, const struct build_result *builds)
{
    for (size_t k = 0; k < resolved->code_count; k++) {
        const struct build_result *build = &builds[resolved->codes[k]];
        if (build->state == BUILD_FAILED || build->state == BUILD_SKIPPED)
            return build;
    }
    return NULL;
}

/* ---- launches ---- */

static enum status check_args(const struct kernel_info *info, const struct resolved_launch *launch, struct err *err)
{
    if (!info->arg_count)
        return STATUS_OK;
    if (info->arg_count != launch->arg_count)
        return err_set(err, ERR_CONFIG, "kernel '%s' takes %u arguments, the manifest gives %zu", launch->symbol,
                       info->arg_count, launch->arg_count);
    for (size_t k = 0; k < launch->arg_count; k++) {
        const struct resolved_arg *arg = &launch->args[k];
        const bool pointer = arg->buffer >= 0 || arg->spec->null;
        const uint32_t size = arg->size_bytes;
        if (info->sizes_only && info->args[k].size_bytes != size)
            return err_set(err, ERR_CONFIG, "argument %zu of kernel '%s' has %u bytes, the manifest gives %u", k + 1,
                           launch->symbol, info->args[k].size_bytes, size);
        if (info->sizes_only)
            continue;
        if (info->args[k].size_bytes != size || info->args[k].is_pointer != pointer)
            return err_set(err, ERR_CONFIG,
                           "argument %zu of kernel '%s' is %s of %u bytes, the manifest gives %s of %u", k + 1,
                           launch->symbol, info->args[k].is_pointer ? "a pointer" : "a value", info->args[k].size_bytes,
                           pointer ? "a pointer" : "a value", size);
    }
    return STATUS_OK;
}

static uint64_t address(const struct ready *ready, int buffer, uint64_t offset, uint32_t rotation)
{
    return (uint64_t)(uintptr_t)((uint8_t *)ready_buffer(ready, (size_t)buffer, rotation) + offset);
}

static void point_args(struct ready_step *step, struct ready *ready, uint32_t rotation)
{
    const struct resolved_launch *resolved = &step->resolved->launch;
    if (!step->arg_values) {
        step->arg_values = arena_array(&ready->arena, resolved->arg_count + 1, sizeof(*step->arg_values));
        step->arg_pointers = arena_array(&ready->arena, resolved->arg_count + 1, sizeof(*step->arg_pointers));
    }
    for (size_t k = 0; k < resolved->arg_count; k++) {
        const struct resolved_arg *arg = &resolved->args[k];
        if (arg->spec->member_count) {
            /* Each struct argument has its own memory, with pointers to the buffers of this rotation. */
            const struct resolved_struct *by_value = arg->by_value;
            if (!step->arg_pointers[k])
                step->arg_pointers[k] = arena_copy(&ready->arena, by_value->bytes, arg->size_bytes);
            FOR_EACH(const struct resolved_pointer, pointer, by_value->pointers, by_value->pointer_count) {
                const uint64_t value = address(ready, pointer->buffer, pointer->offset, rotation);
                memcpy((uint8_t *)step->arg_pointers[k] + pointer->at, &value, sizeof(value));
            }
            continue;
        }
        if (arg->buffer >= 0 && !arg->spec->device && ready->resolved->buffers[arg->buffer].spec->devices) {
            /* A library function receives the addresses of all parts of a buffer that is spread over several
             * devices. */
            const uint32_t parts = ready->resolved->buffers[arg->buffer].parts;
            uint64_t *places = (uint64_t *)(uintptr_t)step->arg_values[k];
            places = places ? places : arena_array(&ready->arena, parts, sizeof(*places));
            for (uint32_t part = 0; part < parts; part++)
                places[part] = address(ready, (int)resolved_part(ready->resolved, (size_t)arg->buffer, part),
                                       arg->offset, rotation);
            step->arg_values[k] = (uint64_t)(uintptr_t)places;
        } else if (arg->buffer >= 0) {
            step->arg_values[k] = address(ready, arg->buffer, arg->offset, rotation);
        } else {
            memcpy(&step->arg_values[k], arg->value, sizeof(arg->value));
        }
        step->arg_pointers[k] = &step->arg_values[k];
    }
}

/* Launches may use several libraries: all are named, and hashed together. */
static void name_library(struct ready *ready, const struct kernel_info *info)
{
    char text[sizeof(ready->library) + sizeof(info->library) + 2], both[2 * sizeof(ready->library_sha256)];
    const bool first = !ready->library[0];
    if (strstr(ready->library, info->library))
        return;
    snprintf(text, sizeof(text), "%s%s%s", ready->library, first ? "" : "; ", info->library);
    snprintf(ready->library, sizeof(ready->library), "%.*s", (int)sizeof(ready->library) - 1, text);
    if (first) {
        memcpy(ready->library_sha256, info->library_sha256, sizeof(ready->library_sha256));
        return;
    }
    snprintf(both, sizeof(both), "%s%s", ready->library_sha256, info->library_sha256);
    hash_sha256(ready->library_sha256, both, strlen(both));
}

static enum status point_launch(struct ready_step *step, struct ready *ready, uint32_t rotation, struct err *err)
{
    const struct resolved_launch *resolved = &step->resolved->launch;
    struct kernel_info info = {0};
    size_t at = 0;
    while (ready->resolved->codes[at] != resolved->code)
        at++;
    enum status status = ready->device->ops->kernel(&step->launch.kernel, &info, ready->device, ready->modules[at],
                                                    resolved->symbol, err);
    if (!status)
        status = check_args(&info, resolved, err);
    if (status)
        return status;
    ready->fibers |= info.fibers && step->resolved->timed;
    step->ordered = (info.fibers || info.shares_lds || resolved->lds_bytes) &&
                    (uint64_t)resolved->block[0] * resolved->block[1] * resolved->block[2] > 1;
    ready->ordered |= step->ordered;
    ready->ranks |= info.ranks;
    if (info.library[0])
        name_library(ready, &info);
    point_args(step, ready, rotation);
    memcpy(step->launch.grid, resolved->grid, sizeof(resolved->grid));
    memcpy(step->launch.block, resolved->block, sizeof(resolved->block));
    step->launch.lds_bytes = resolved->lds_bytes;
    step->launch.args = step->arg_pointers;
    step->launch.stream = step->resolved->stream;
    step->launch.cooperative = resolved->spec->cooperative;
    return STATUS_OK;
}

/* ---- steps, made ready ---- */

enum status make_graph(struct device_graph **graph, struct ready *ready, const struct ready_step *steps, size_t count,
                       uint32_t repeat, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    size_t total = 0, at = 0;
    if (!ops->graph_make)
        return err_set(err, ERR_UNSUPPORTED, "the %s device has no graphs", ops->name);
    for (size_t k = 0; k < count; k++)
        total += (size_t)steps[k].resolved->repeat;
    struct device_launch *launches = new_zeroed(total + 1, sizeof(*launches));
    for (size_t k = 0; k < count; k++)
        for (uint64_t n = 0; n < steps[k].resolved->repeat; n++)
            launches[at++] = steps[k].launch;
    enum status status = ops->graph_make(graph, ready->device, launches, total, repeat, err);
    free(launches);
    return status;
}

static enum status point_steps(struct ready_step *steps, struct ready *ready, const struct resolved_step *resolved,
                               size_t count, uint32_t rotation, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        struct ready_step *step = &steps[k];
        step->resolved = &resolved[k];
        switch (resolved[k].kind) {
        case STEP_LAUNCH:
            status = point_launch(step, ready, rotation, err);
            break;
        case STEP_COPY:
            step->to = (uint8_t *)ready_buffer(ready, (size_t)resolved[k].to, rotation) + resolved[k].to_offset;
            step->from = (uint8_t *)ready_buffer(ready, (size_t)resolved[k].from, rotation) + resolved[k].from_offset;
            break;
        case STEP_FILL:
            step->to = ready_buffer(ready, (size_t)resolved[k].to, rotation);
            break;
        case STEP_GRAPH:
        case STEP_LOOP:
            if (!step->inside)
                step->inside = arena_array(&ready->arena, resolved[k].step_count + 1, sizeof(*step->inside));
            status = point_steps(step->inside, ready, resolved[k].steps, resolved[k].step_count, rotation, err);
            if (!status && resolved[k].kind == STEP_GRAPH && !step->graph)
                status = make_graph(&step->graph, ready, step->inside, resolved[k].step_count, 1, err);
            break;
        case STEP_SYNC:
        case STEP_RECORD:
        case STEP_WAIT:
        case STEP_LOAD:
        case STEP_ALLOC:
            break;
        }
    }
    return status;
}

enum status ready_resolve(struct ready *ready, struct err *err)
{
    const struct resolved *resolved = ready->resolved;
    enum status status = STATUS_OK;
    if (!ready->steps) {
        ready->steps = arena_array(&ready->arena, ready->rotations * resolved->step_count + 1, sizeof(*ready->steps));
        ready->setup = arena_array(&ready->arena, ready->rotations * resolved->setup_count + 1, sizeof(*ready->setup));
    }
    for (uint32_t rotation = 0; rotation < ready->rotations && !status; rotation++) {
        status = point_steps(ready->steps + rotation * resolved->step_count, ready, resolved->steps,
                             resolved->step_count, rotation, err);
        if (!status)
            status = point_steps(ready->setup + rotation * resolved->setup_count, ready, resolved->setup,
                                 resolved->setup_count, rotation, err);
    }
    return status;
}

static void free_graphs(const struct ready *ready, struct ready_step *steps, size_t count)
{
    for (size_t k = 0; steps && k < count; k++) {
        if (steps[k].graph)
            ready->device->ops->graph_free(ready->device, steps[k].graph);
        steps[k].graph = NULL;
    }
}

void ready_free_graphs(struct ready *ready)
{
    free_graphs(ready, ready->steps, ready->rotations * ready->resolved->step_count);
    free_graphs(ready, ready->setup, ready->rotations * ready->resolved->setup_count);
}

/* ---- steps, run ---- */

/* Unloads the code before steps that load it. No launch may still be running. */
static enum status unload(struct ready *ready, struct err *err)
{
    enum status status = ready->device->ops->wait(ready->device, err);
    if (!status)
        ready_unload(ready);
    return status;
}

static enum status run_step(struct ready *ready, struct ready_step *step, uint32_t rotation, struct err *err);

static enum status run_once(struct ready *ready, struct ready_step *step, uint32_t rotation, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    const struct resolved_step *resolved = step->resolved;
    enum status status = STATUS_OK;
    switch (resolved->kind) {
    case STEP_LAUNCH:
        return ops->launch(ready->device, &step->launch, err);
    case STEP_COPY:
        return ops->copy(ready->device, step->to, step->from, resolved->bytes, resolved->stream, err);
    case STEP_FILL:
        return ops->fill(ready->device, step->to, resolved->byte, resolved->bytes, resolved->stream, err);
    case STEP_SYNC:
        return ops->wait(ready->device, err);
    case STEP_RECORD:
        return ops->event(ready->device, FIRST_STEP_EVENT + resolved->event, resolved->stream, err);
    case STEP_WAIT:
        return ops->wait_event
                   ? ops->wait_event(ready->device, resolved->stream, FIRST_STEP_EVENT + resolved->event, err)
                   : STATUS_OK;
    case STEP_LOAD:
        return ready_load(ready, err) || ready_resolve(ready, err) ? err->status : STATUS_OK;
    case STEP_ALLOC:
        return ops->wait(ready->device, err) || ready_realloc(ready, (size_t)resolved->to, rotation, err) ||
                       ready_resolve(ready, err)
                   ? err->status
                   : STATUS_OK;
    case STEP_GRAPH:
        return ops->graph_launch(ready->device, step->graph, resolved->stream, err);
    case STEP_LOOP:
        for (size_t k = 0; k < resolved->step_count && !status; k++)
            status = run_step(ready, &step->inside[k], rotation, err);
        return status;
    }
    return STATUS_OK;
}

static enum status run_step(struct ready *ready, struct ready_step *step, uint32_t rotation, struct err *err)
{
    for (uint64_t k = 0; k < step->resolved->repeat; k++) {
        if (run_once(ready, step, rotation, err))
            return err->status;
    }
    return STATUS_OK;
}

/* Records the event between untimed and timed steps. */
static enum status set_event(struct ready *ready, enum run_events events, bool end, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    if (events == EVENTS_NONE)
        return STATUS_OK;
    if (events == EVENTS_AROUND)
        return ops->event(ready->device, end ? EVENT_END : EVENT_BEGIN, 0, err);
    enum status status = ops->wait(ready->device, err);
    const double now_ns = (double)clock_now_ns();
    ready->host_ns = end ? now_ns - ready->host_ns : now_ns;
    return status;
}

/* Untimed steps may precede and follow the timed ones. The plan refuses untimed steps between timed ones. */
enum status ready_run(struct ready *ready, uint32_t rotation, enum run_events events, struct err *err)
{
    const size_t count = ready->resolved->step_count;
    struct ready_step *steps = ready->steps + rotation * count;
    const struct device_ops *ops = ready->device->ops;
    bool inside = false;
    enum status status = ready->resolved->timing.loads ? unload(ready, err) : STATUS_OK;
    ready->runs += rotation == 0;
    for (size_t k = 0; k < count && !status; k++) {
        const bool timed = steps[k].resolved->timed, own = timed && events == EVENTS_KERNEL;
        if (timed != inside && events != EVENTS_KERNEL) {
            status = set_event(ready, events, inside, err);
            inside = !inside;
        }
        if (own && !ops->launch_with_events)
            return err_set(err, ERR_UNSUPPORTED, "the %s device does not tell a kernel's own times", ops->name);
        if (!status)
            status = own ? ops->launch_with_events(ready->device, &steps[k].launch, EVENT_KERNEL_BEGIN,
                                                   EVENT_KERNEL_END, err)
                         : run_step(ready, &steps[k], rotation, err);
    }
    if (status)
        return status;
    return inside ? set_event(ready, events, true, err) : STATUS_OK;
}

size_t ready_untimed(const struct ready *ready)
{
    size_t count = 0;
    while (count < ready->resolved->step_count && !ready->resolved->steps[count].timed)
        count++;
    return count;
}

enum status ready_run_untimed(struct ready *ready, uint32_t rotation, struct err *err)
{
    const size_t count = ready_untimed(ready);
    struct ready_step *steps = ready->steps + rotation * ready->resolved->step_count;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++)
        status = run_step(ready, &steps[k], rotation, err);
    return status ? status : ready->device->ops->wait(ready->device, err);
}

enum status ready_setup(struct ready *ready, struct err *err)
{
    const size_t count = ready->resolved->setup_count;
    for (size_t k = 0; k < ready->rotations * count; k++) {
        enum status status = run_step(ready, &ready->setup[k], (uint32_t)(k / count), err);
        if (status)
            return err_within(err, "setup step %zu", k % count);
    }
    return count ? ready->device->ops->wait(ready->device, err) : STATUS_OK;
}
