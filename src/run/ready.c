/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "rooftile/rng.h"
#include "run_internal.h"

enum { STAGE_BYTES = 16 << 20, BUFFER_ALIGN = 256 };

static enum device_space space_of(enum buffer_space space)
{
    static const enum device_space spaces[] = {
        [BUFFER_DEVICE] = SPACE_DEVICE,   [BUFFER_PINNED] = SPACE_PINNED, [BUFFER_PAGEABLE] = SPACE_PAGEABLE,
        [BUFFER_MANAGED] = SPACE_MANAGED, [BUFFER_FINE] = SPACE_FINE,     [BUFFER_PEER] = SPACE_PEER,
    };
    return spaces[space];
}

void *ready_buffer(const struct ready *ready, size_t buffer, uint32_t rotation)
{
    uint8_t *base = ready->memory[rotation * ready->bound->buffer_count + buffer];
    return base + ready->bound->buffers[buffer].align_offset;
}

/* ---- filling ---- */

struct fill_job {
    const struct fill *fill;
    uint8_t *out;
    atomic_flag failed;
    struct err *err;
    enum status status;
};

static void fill_part(void *context, uint32_t part, uint32_t parts)
{
    struct fill_job *job = context;
    const uint64_t count = job->fill->count;
    const uint64_t first = (uint64_t)((__uint128_t)count * part / parts);
    const uint64_t last = (uint64_t)((__uint128_t)count * (part + 1) / parts);
    struct err err = {0};
    if (!fill_range(job->fill, job->out + first * dtype_bytes(job->fill->dtype), first, last - first, &err))
        return;
    if (!atomic_flag_test_and_set(&job->failed)) {
        job->status = err.status;
        *job->err = err;
    }
}

static enum status fill_by_copy(struct ready *ready, const struct fill *fill, void *to, struct err *err)
{
    const size_t bytes = dtype_bytes(fill->dtype);
    const uint64_t step = STAGE_BYTES / bytes;
    uint8_t *stage = malloc(STAGE_BYTES);
    if (!stage)
        arena_out_of_memory(STAGE_BYTES);
    enum status status = STATUS_OK;
    for (uint64_t first = 0; first < fill->count && !status; first += step) {
        const uint64_t count = fill->count - first < step ? fill->count - first : step;
        status = fill_range(fill, stage, first, count, err);
        if (!status)
            status = ready->device->ops->write(ready->device, (uint8_t *)to + first * bytes, stage, count * bytes, err);
    }
    free(stage);
    return status;
}

enum status ready_fill(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    const struct fill *fill = &ready->fills[buffer];
    void *to = ready_buffer(ready, buffer, rotation);
    enum status status = STATUS_OK;
    if (!ops->executes)
        return STATUS_OK;
    if (!ops->host_visible) {
        status = fill_by_copy(ready, fill, to, err);
    } else {
        struct fill_job job = {.fill = fill, .out = to, .failed = ATOMIC_FLAG_INIT, .err = err};
        if (ops->parallel)
            ops->parallel(ready->device, fill_part, &job);
        else
            fill_part(&job, 0, 1);
        status = job.status;
    }
    return status ? err_within(err, "buffer '%s'", ready->bound->buffers[buffer].spec->name) : STATUS_OK;
}

enum status ready_reset(struct ready *ready, uint32_t rotation, struct err *err)
{
    for (size_t k = 0; k < ready->bound->buffer_count; k++) {
        const struct bound_buffer *buffer = &ready->bound->buffers[k];
        enum status status = STATUS_OK;
        if (buffer->spec->reset == RESET_FILL)
            status = ready_fill(ready, k, rotation, err);
        else if (buffer->spec->reset == RESET_ZERO)
            status = ready->device->ops->fill(ready->device, ready_buffer(ready, k, rotation), 0, buffer->size_bytes, 0,
                                              err);
        if (status)
            return status;
    }
    return STATUS_OK;
}

enum status ready_restore(struct ready *ready, struct err *err)
{
    for (uint32_t rotation = 0; rotation < ready->rotations; rotation++)
        for (size_t k = 0; k < ready->bound->buffer_count; k++) {
            if (ready->bound->buffers[k].spec->role == ROLE_IN)
                continue;
            enum status status = ready_fill(ready, k, rotation, err);
            if (status)
                return status;
        }
    return STATUS_OK;
}

enum status ready_read(const void **data, struct ready *ready, size_t buffer, struct arena *arena, struct err *err)
{
    void *from = ready_buffer(ready, buffer, 0);
    const uint64_t size = ready->bound->buffers[buffer].size_bytes;
    if (ready->device->ops->host_visible) {
        *data = from;
        return STATUS_OK;
    }
    void *copy = arena_alloc(arena, (size_t)size);
    enum status status = ready->device->ops->read(ready->device, copy, from, size, err);
    if (!status)
        *data = copy;
    return status;
}

/* ---- making ready ---- */

static enum status allocate(struct ready *ready, uint64_t seed, struct err *err)
{
    const struct bound *bound = ready->bound;
    const struct device_ops *ops = ready->device->ops;
    ready->memory = arena_array(&ready->arena, ready->rotations * bound->buffer_count + 1, sizeof(*ready->memory));
    ready->fills = arena_array(&ready->arena, bound->buffer_count + 1, sizeof(*ready->fills));
    for (size_t k = 0; k < bound->buffer_count; k++) {
        const struct bound_buffer *buffer = &bound->buffers[k];
        const uint64_t size = buffer->size_bytes + buffer->align_offset + BUFFER_ALIGN;
        for (uint32_t rotation = 0; rotation < ready->rotations; rotation++) {
            enum status status = ops->alloc(&ready->memory[rotation * bound->buffer_count + k], ready->device, size,
                                            space_of(buffer->spec->space), err);
            if (status)
                return err_within(err, "buffer '%s'", buffer->spec->name);
        }
        enum status status = ops->executes
                                 ? fill_init(&ready->fills[k], &buffer->spec->fill, buffer->dtype, buffer->count,
                                             bound->slots, rng_derive(seed, buffer->spec->name), &ready->arena, err)
                                 : STATUS_OK;
        if (status)
            return err_within(err, "buffer '%s'", buffer->spec->name);
        for (uint32_t rotation = 0; rotation < ready->rotations; rotation++) {
            status = ready_fill(ready, k, rotation, err);
            if (status)
                return status;
        }
        if (buffer->spec->reset != RESET_NONE)
            ready->needs_reset = true;
    }
    return STATUS_OK;
}

static enum status check_args(const struct kernel_info *info, const struct bound_launch *launch, struct err *err)
{
    if (!info->arg_count)
        return STATUS_OK;
    if (info->arg_count != launch->arg_count)
        return err_set(err, ERR_CONFIG, "kernel '%s' takes %u arguments, the manifest gives %zu", launch->symbol,
                       info->arg_count, launch->arg_count);
    for (size_t k = 0; k < launch->arg_count; k++) {
        const struct bound_arg *arg = &launch->args[k];
        const uint32_t size = arg->buffer >= 0 ? (uint32_t)sizeof(void *) : arg->size_bytes;
        if (info->args[k].size_bytes != size || info->args[k].is_pointer != (arg->buffer >= 0))
            return err_set(err, ERR_CONFIG,
                           "argument %zu of kernel '%s' is %s of %u bytes, the manifest gives %s of %u", k,
                           launch->symbol, info->args[k].is_pointer ? "a pointer" : "a value", info->args[k].size_bytes,
                           arg->buffer >= 0 ? "a pointer" : "a value", size);
    }
    return STATUS_OK;
}

static struct device_module *module_of(const struct ready *ready, size_t code)
{
    size_t at = 0;
    while (ready->bound->codes[at] != code)
        at++;
    return ready->modules[at];
}

static enum status ready_launch(struct ready *ready, struct ready_step *step, uint32_t rotation, struct err *err)
{
    const struct bound_launch *bound = &step->bound->launch;
    struct kernel_info info = {0};
    enum status status = ready->device->ops->kernel(&step->launch.kernel, &info, ready->device,
                                                    module_of(ready, bound->code), bound->symbol, err);
    if (!status)
        status = check_args(&info, bound, err);
    if (status)
        return status;
    for (size_t k = 0; k < bound->arg_count; k++) {
        const struct bound_arg *arg = &bound->args[k];
        if (arg->buffer >= 0)
            step->arg_values[k] =
                (uint64_t)(uintptr_t)((uint8_t *)ready_buffer(ready, (size_t)arg->buffer, rotation) + arg->offset);
        else
            memcpy(&step->arg_values[k], arg->value, sizeof(arg->value));
        step->arg_pointers[k] = &step->arg_values[k];
    }
    memcpy(step->launch.grid, bound->grid, sizeof(bound->grid));
    memcpy(step->launch.block, bound->block, sizeof(bound->block));
    step->launch.lds_bytes = bound->lds_bytes;
    step->launch.args = step->arg_pointers;
    step->launch.stream = step->bound->stream;
    return STATUS_OK;
}

enum status make_graph(struct device_graph **graph, struct ready *ready, const struct ready_step *steps, size_t count,
                       uint32_t repeat, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    size_t total = 0, at = 0;
    if (!ops->graph_make)
        return err_set(err, ERR_UNSUPPORTED, "the %s device has no graphs", ops->name);
    for (size_t k = 0; k < count; k++)
        total += (size_t)steps[k].bound->repeat;
    struct device_launch *launches = calloc(total + 1, sizeof(*launches));
    if (!launches)
        arena_out_of_memory((total + 1) * sizeof(*launches));
    for (size_t k = 0; k < count; k++)
        for (uint64_t n = 0; n < steps[k].bound->repeat; n++)
            launches[at++] = steps[k].launch;
    enum status status = ops->graph_make(graph, ready->device, launches, total, repeat, err);
    free(launches);
    return status;
}

static enum status ready_steps(struct ready_step *steps, struct ready *ready, const struct bound_step *bound,
                               size_t count, uint32_t rotation, struct err *err);

static enum status ready_graph(struct ready_step *step, struct ready *ready, uint32_t rotation, struct err *err)
{
    const size_t count = step->bound->step_count;
    struct ready_step *inside = arena_array(&ready->arena, count + 1, sizeof(*inside));
    enum status status = ready_steps(inside, ready, step->bound->steps, count, rotation, err);
    return status ? status : make_graph(&step->graph, ready, inside, count, 1, err);
}

static enum status ready_steps(struct ready_step *steps, struct ready *ready, const struct bound_step *bound,
                               size_t count, uint32_t rotation, struct err *err)
{
    for (size_t k = 0; k < count; k++) {
        struct ready_step *step = &steps[k];
        enum status status = STATUS_OK;
        step->bound = &bound[k];
        switch (bound[k].kind) {
        case STEP_LAUNCH:
            status = ready_launch(ready, step, rotation, err);
            break;
        case STEP_COPY:
            step->to = ready_buffer(ready, (size_t)bound[k].to, rotation);
            step->from = ready_buffer(ready, (size_t)bound[k].from, rotation);
            break;
        case STEP_FILL:
            step->to = ready_buffer(ready, (size_t)bound[k].to, rotation);
            break;
        case STEP_GRAPH:
            status = ready_graph(step, ready, rotation, err);
            break;
        default:
            break;
        }
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* The same steps for the buffers of each rotation. */
static enum status ready_rotations(struct ready_step **out, struct ready *ready, const struct bound_step *bound,
                                   size_t count, struct err *err)
{
    struct ready_step *steps = arena_array(&ready->arena, ready->rotations * count + 1, sizeof(*steps));
    enum status status = STATUS_OK;
    *out = steps; /* also when it fails: graphs made so far are released with the rest */
    for (uint32_t rotation = 0; rotation < ready->rotations && !status; rotation++)
        status = ready_steps(steps + rotation * count, ready, bound, count, rotation, err);
    return status;
}

const struct build_result *unbuilt_code(const struct bound *bound, const struct build_result *builds)
{
    for (size_t k = 0; k < bound->code_count; k++) {
        const struct build_result *build = &builds[bound->codes[k]];
        if (build->state == BUILD_FAILED || build->state == BUILD_SKIPPED)
            return build;
    }
    return NULL;
}

static enum status load_codes(struct ready *ready, struct err *err)
{
    const struct bound *bound = ready->bound;
    enum status status = STATUS_OK;
    ready->modules = arena_array(&ready->arena, bound->code_count, sizeof(*ready->modules));
    for (size_t k = 0; k < bound->code_count && !status; k++)
        status =
            ready->device->ops->load(&ready->modules[k], ready->device, ready->builds[bound->codes[k]].object, err);
    return status;
}

static void describe_steps(struct ready *ready)
{
    const struct bound *bound = ready->bound;
    size_t timed = 0, single = 0, plain = 0;
    uint64_t launches = 0;
    for (size_t k = 0; k < bound->step_count; k++) {
        const struct bound_step *step = &bound->steps[k];
        const bool launch = step->kind == STEP_LAUNCH;
        timed += step->timed;
        single += step->timed && launch && step->repeat == 1;
        plain += launch && !step->stream;
        launches += launch ? step->repeat : 0;
    }
    ready->all_timed = timed == bound->step_count;
    ready->one_launch = timed == 1 && single == 1;
    ready->stream_launches = plain == bound->step_count ? launches : 0;
}

static void release_graphs(const struct ready *ready, const struct ready_step *steps, size_t count)
{
    for (size_t k = 0; steps && k < count; k++)
        if (steps[k].graph)
            ready->device->ops->graph_free(ready->device, steps[k].graph);
}

enum status ready_init(struct ready *ready, struct device *device, const struct bound *bound,
                       const struct build_result *builds, uint32_t rotations, uint64_t seed, struct err *err)
{
    *ready = (struct ready){.bound = bound, .device = device, .builds = builds, .rotations = rotations};
    enum status status = load_codes(ready, err);
    if (status)
        return status;
    status = allocate(ready, seed, err);
    if (status)
        return status;
    describe_steps(ready);
    status = ready_rotations(&ready->steps, ready, bound->steps, bound->step_count, err);
    return status ? status : ready_rotations(&ready->setup, ready, bound->setup, bound->setup_count, err);
}

void ready_release(struct ready *ready)
{
    if (!ready->device)
        return;
    const struct device_ops *ops = ready->device->ops;
    release_graphs(ready, ready->steps, ready->rotations * ready->bound->step_count);
    release_graphs(ready, ready->setup, ready->rotations * ready->bound->setup_count);
    if (ready->memory)
        for (size_t k = 0; k < ready->rotations * ready->bound->buffer_count; k++)
            if (ready->memory[k])
                ops->free(ready->device, ready->memory[k]);
    for (size_t k = 0; ready->modules && k < ready->bound->code_count; k++)
        if (ready->modules[k])
            ops->unload(ready->device, ready->modules[k]);
    arena_release(&ready->arena);
    *ready = (struct ready){0};
}
