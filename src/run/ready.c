/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "rooftile/rng.h"
#include "run_internal.h"

enum { STAGE_BYTES = 16 << 20, BUFFER_ALIGN = 256 };

/* One order, so that the bits of what a device lacks mean the same to plan and devices. */
_Static_assert((int)BUFFER_DEVICE == (int)SPACE_DEVICE && (int)BUFFER_PINNED == (int)SPACE_PINNED &&
                   (int)BUFFER_PAGEABLE == (int)SPACE_PAGEABLE && (int)BUFFER_MANAGED == (int)SPACE_MANAGED &&
                   (int)BUFFER_FINE == (int)SPACE_FINE && (int)BUFFER_PEER == (int)SPACE_PEER &&
                   (int)BUFFER_PINNED_COARSE == (int)SPACE_PINNED_COARSE && (int)BUFFER_SPACES == (int)DEVICE_SPACES,
               "kinds of memory");

static enum status allocate_one(void **pointer, const struct ready *ready, const struct resolved_buffer *buffer,
                                struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    const uint64_t size = buffer->size_bytes + buffer->align_offset + BUFFER_ALIGN;
    if (buffer->space != BUFFER_PEER)
        return ops->alloc(pointer, ready->device, size, (enum device_space)buffer->space, err);
    if (!ops->alloc_peer)
        return err_set(err, ERR_UNSUPPORTED, "the device has no peer memory");
    return ops->alloc_peer(pointer, ready->device, size, buffer->device, err);
}

void *ready_buffer(const struct ready *ready, size_t buffer, uint32_t rotation)
{
    uint8_t *base = ready->memory[rotation * ready->resolved->buffer_count + buffer];
    return base + ready->resolved->buffers[buffer].align_offset;
}

/* ---- filling ---- */

void run_in_parts(struct device *device, void (*work)(void *context, uint32_t part, uint32_t parts), void *context)
{
    if (device->ops->parallel)
        device->ops->parallel(device, work, context);
    else
        work(context, 0, 1);
}

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
    const uint64_t first = part_begin(count, part, parts), last = part_begin(count, part + 1, parts);
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
        run_in_parts(ready->device, fill_part, &job);
        status = job.status;
    }
    return status ? err_within(err, "buffer '%s'", ready->resolved->buffers[buffer].spec->name) : STATUS_OK;
}

enum status ready_reset(struct ready *ready, uint32_t rotation, struct err *err)
{
    if (ready->needs_reset)
        ready->runs = 0;
    for (size_t k = 0; k < ready->resolved->buffer_count; k++) {
        const struct resolved_buffer *buffer = &ready->resolved->buffers[k];
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
    ready->runs = 0;
    for (uint32_t rotation = 0; rotation < ready->rotations; rotation++)
        for (size_t k = 0; k < ready->resolved->buffer_count; k++) {
            if (ready->resolved->buffers[k].spec->role == ROLE_IN)
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
    const uint64_t size = ready->resolved->buffers[buffer].size_bytes;
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

enum status ready_realloc(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err)
{
    const struct resolved_buffer *resolved = &ready->resolved->buffers[buffer];
    void **memory = &ready->memory[rotation * ready->resolved->buffer_count + buffer];
    ready->device->ops->free(ready->device, *memory);
    *memory = NULL;
    enum status status = allocate_one(memory, ready, resolved, err);
    return status ? err_within(err, "buffer '%s'", resolved->spec->name) : STATUS_OK;
}

static enum status allocate(struct ready *ready, uint64_t seed, struct err *err)
{
    const struct resolved *resolved = ready->resolved;
    const struct device_ops *ops = ready->device->ops;
    ready->memory = arena_array(&ready->arena, ready->rotations * resolved->buffer_count + 1, sizeof(*ready->memory));
    ready->fills = arena_array(&ready->arena, resolved->buffer_count + 1, sizeof(*ready->fills));
    for (size_t k = 0; k < resolved->buffer_count; k++) {
        const struct resolved_buffer *buffer = &resolved->buffers[k];
        for (uint32_t rotation = 0; rotation < ready->rotations; rotation++) {
            enum status status =
                allocate_one(&ready->memory[rotation * resolved->buffer_count + k], ready, buffer, err);
            if (status)
                return err_within(err, "buffer '%s'", buffer->spec->name);
        }
        struct fill_spec spec = buffer->spec->fill;
        spec.dist = buffer->dist;
        enum status status = ops->executes
                                 ? fill_init(&ready->fills[k], &spec, buffer->dtype, buffer->count, resolved->slots,
                                             rng_derive(seed, buffer->spec->name), &ready->arena, err)
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

enum status ready_init(struct ready *ready, struct device *device, const struct resolved *resolved,
                       const struct build_result *builds, uint32_t rotations, uint64_t seed, struct err *err)
{
    *ready = (struct ready){.resolved = resolved, .device = device, .builds = builds, .rotations = rotations};
    enum status status = ready_load(ready, err);
    if (!status)
        status = allocate(ready, seed, err);
    ready_describe(ready);
    return status ? status : ready_resolve(ready, err);
}

void ready_release(struct ready *ready)
{
    if (!ready->device)
        return;
    const struct device_ops *ops = ready->device->ops;
    ready_free_graphs(ready);
    if (ready->memory)
        for (size_t k = 0; k < ready->rotations * ready->resolved->buffer_count; k++)
            if (ready->memory[k])
                ops->free(ready->device, ready->memory[k]);
    ready_unload(ready);
    arena_release(&ready->arena);
    *ready = (struct ready){0};
}
