/* SPDX-License-Identifier: MIT
 *
 * Allocates, fills, restores and reads the buffers of a prepared case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/rng.h"
#include "run_internal.h"

enum { STAGE_BYTES = 16 << 20, GUARD_BYTES = BUFFER_GUARD_BYTES, GUARD_SEED = 0x6a7d };

/* Both enums have the same order, so that a bit for a missing kind of memory means the same to the plan and to
 * devices. */
_Static_assert((int)BUFFER_DEVICE == (int)SPACE_DEVICE && (int)BUFFER_PINNED == (int)SPACE_PINNED &&
                   (int)BUFFER_PAGEABLE == (int)SPACE_PAGEABLE && (int)BUFFER_MANAGED == (int)SPACE_MANAGED &&
                   (int)BUFFER_FINE == (int)SPACE_FINE && (int)BUFFER_PEER == (int)SPACE_PEER &&
                   (int)BUFFER_PINNED_COARSE == (int)SPACE_PINNED_COARSE &&
                   (int)BUFFER_PINNED_FAR == (int)SPACE_PINNED_FAR && (int)BUFFER_SPACES == (int)DEVICE_SPACES,
               "kinds of memory");

static enum status allocate(const struct ready *ready, struct ready_buffer *buffer, uint32_t rotation, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    const struct resolved_buffer *resolved = buffer->resolved;
    const uint64_t size = GUARD_BYTES + resolved->align_offset + resolved->size_bytes + GUARD_BYTES;
    enum status status = STATUS_OK;
    if (resolved->space != BUFFER_PEER)
        status = ops->alloc(&buffer->memory[rotation], ready->device, size, (enum device_space)resolved->space, err);
    else if (ops->alloc_peer)
        status = ops->alloc_peer(&buffer->memory[rotation], ready->device, size, resolved->device, err);
    else
        status = err_set(err, ERR_UNSUPPORTED, "the device has no peer memory");
    return status ? err_within(err, "buffer '%s'", resolved->spec->name) : STATUS_OK;
}

void *ready_buffer(const struct ready *ready, size_t buffer, uint32_t rotation)
{
    const struct ready_buffer *of = &ready->buffers[buffer];
    return (uint8_t *)of->memory[rotation] + GUARD_BYTES + of->resolved->align_offset;
}

/* ---- guards ---- */

/* Values that no kernel writes by accident. */
static void guard_pattern(uint8_t pattern[static GUARD_BYTES])
{
    for (uint64_t k = 0; k < GUARD_BYTES / sizeof(uint64_t); k++)
        memcpy(pattern + k * sizeof(k), &(uint64_t){rng_at(GUARD_SEED, k)}, sizeof(k));
}

/* Reports the changed bytes by their distance from the buffer. */
static enum status check_guard(char where[static READY_WHERE], struct ready *ready, const char *name, const uint8_t *at,
                               bool behind, struct err *err)
{
    uint8_t pattern[GUARD_BYTES], found[GUARD_BYTES];
    unsigned from = 0, to = GUARD_BYTES - 1;
    const enum status status = ready->device->ops->read(ready->device, found, at, GUARD_BYTES, err);
    guard_pattern(pattern);
    if (status || !memcmp(found, pattern, GUARD_BYTES))
        return status;
    while (found[from] == pattern[from])
        from++;
    while (found[to] == pattern[to])
        to--;
    if (behind)
        snprintf(where, READY_WHERE, "bytes %u to %u behind the end of '%.60s'", from, to, name);
    else
        snprintf(where, READY_WHERE, "bytes %u to %u before the beginning of '%.60s'", GUARD_BYTES - to,
                 GUARD_BYTES - from, name);
    return STATUS_OK;
}

enum status ready_check_guards(char where[static READY_WHERE], struct ready *ready, struct err *err)
{
    enum status status = STATUS_OK;
    where[0] = '\0';
    for (size_t k = 0; k < ready->resolved->buffer_count; k++)
        for (uint32_t rotation = 0; rotation < ready->rotations && !ready->buffers[k].unguarded; rotation++) {
            const struct resolved_buffer *buffer = &ready->resolved->buffers[k];
            const uint8_t *first = ready_buffer(ready, k, rotation);
            status = check_guard(where, ready, buffer->spec->name, first - GUARD_BYTES, false, err);
            if (!status && !where[0])
                status = check_guard(where, ready, buffer->spec->name, first + buffer->size_bytes, true, err);
            if (status || where[0])
                return status;
        }
    return status;
}

/* ---- filling ---- */

struct parts {
    uint64_t count;
    enum status (*work)(void *context, uint64_t first, uint64_t count, struct err *err);
    void *context;
    atomic_flag failed;
    enum status status;
    struct err *err;
};

static void do_part(void *context, uint32_t part, uint32_t parts)
{
    struct parts *all = context;
    const uint64_t first = (uint64_t)((__uint128_t)all->count * part / parts);
    const uint64_t end = (uint64_t)((__uint128_t)all->count * (part + 1) / parts);
    struct err err = {0};
    const enum status status = all->work(all->context, first, end - first, &err);
    if (status && !atomic_flag_test_and_set(&all->failed)) {
        all->status = status;
        *all->err = err;
    }
}

enum status run_in_parts(struct device *device, uint64_t count,
                         enum status (*work)(void *context, uint64_t first, uint64_t count, struct err *err),
                         void *context, struct err *err)
{
    struct parts all = {count, work, context, ATOMIC_FLAG_INIT, STATUS_OK, err};
    if (device->ops->parallel)
        device->ops->parallel(device, do_part, &all);
    else
        do_part(&all, 0, 1);
    return all.status;
}

struct fill_job {
    const struct fill *fill;
    uint8_t *out;
};

static enum status fill_part(void *context, uint64_t first, uint64_t count, struct err *err)
{
    const struct fill_job *job = context;
    return fill_range(job->fill, job->out + first * dtype_bytes(job->fill->dtype), first, count, err);
}

enum status ready_fill(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err)
{
    struct device *device = ready->device;
    const struct fill *fill = &ready->buffers[buffer].fill;
    struct fill_job job = {.fill = fill, .out = ready_buffer(ready, buffer, rotation)};
    enum status status = STATUS_OK;
    if (!device->ops->executes)
        return STATUS_OK;
    if (device->ops->host_visible) {
        status = run_in_parts(device, fill->count, fill_part, &job, err);
    } else {
        const size_t bytes = dtype_bytes(fill->dtype);
        const uint64_t whole = STAGE_BYTES / bytes, step = fill->count < whole ? fill->count : whole;
        uint8_t *stage = new_zeroed((size_t)(step * bytes + 1), 1);
        for (uint64_t first = 0; first < fill->count && !status; first += step) {
            const uint64_t count = fill->count - first < step ? fill->count - first : step;
            status = fill_range(fill, stage, first, count, err);
            if (!status)
                status = device->ops->write(device, job.out + first * bytes, stage, count * bytes, err);
        }
        free(stage);
    }
    return status ? err_within(err, "buffer '%s'", ready->resolved->buffers[buffer].spec->name) : STATUS_OK;
}

struct copy_job {
    uint8_t *to;
    const uint8_t *from;
};

static enum status copy_part(void *context, uint64_t first, uint64_t count, UNUSED struct err *err)
{
    const struct copy_job *job = context;
    memcpy(job->to + first, job->from + first, count);
    return STATUS_OK;
}

/* Copies the first rotation, with the same threads touching the pages; this is faster than computing the fill again. */
static enum status fill_as_first(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    struct copy_job job = {ready_buffer(ready, buffer, rotation), ready_buffer(ready, buffer, 0)};
    const uint64_t size_bytes = ready->resolved->buffers[buffer].size_bytes;
    if (!ops->executes)
        return STATUS_OK;
    if (ops->host_visible)
        return run_in_parts(ready->device, size_bytes, copy_part, &job, err);
    if (ops->copy(ready->device, job.to, job.from, size_bytes, 0, err))
        return err_within(err, "buffer '%s'", ready->resolved->buffers[buffer].spec->name);
    return ops->wait(ready->device, err);
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

/* The device cannot fill host memory that its vendor's library does not know. */
enum status ready_poison(struct ready *ready, uint32_t rotation, uint8_t poison, struct err *err)
{
    for (size_t k = 0; k < ready->resolved->buffer_count; k++) {
        const struct resolved_buffer *buffer = &ready->resolved->buffers[k];
        struct fill *fill = &ready->buffers[k].fill;
        enum status status = STATUS_OK;
        if (buffer->spec->role != ROLE_OUT && buffer->spec->role != ROLE_INOUT)
            continue;
        fill->poison = poison;
        if (fill->kind == FILL_NONE && buffer->space != BUFFER_PAGEABLE)
            status = ready->device->ops->fill(ready->device, ready_buffer(ready, k, rotation), poison,
                                              buffer->size_bytes, 0, err);
        else
            status = ready_fill(ready, k, rotation, err);
        if (status)
            return status;
    }
    return STATUS_OK;
}

enum status ready_read(const void **data, struct ready *ready, size_t buffer, uint32_t rotation, struct arena *arena,
                       struct err *err)
{
    void *from = ready_buffer(ready, buffer, rotation);
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
    struct ready_buffer *of = &ready->buffers[buffer];
    ready->device->ops->free(ready->device, of->memory[rotation]);
    of->memory[rotation] = NULL;
    of->unguarded = true; /* writing them would touch pages whose first touch may be timed */
    return allocate(ready, of, rotation, err);
}

static enum status make_buffer(struct ready *ready, size_t buffer, uint64_t seed, struct err *err)
{
    struct ready_buffer *made = &ready->buffers[buffer];
    const struct resolved_buffer *resolved = &ready->resolved->buffers[buffer];
    const struct device_ops *ops = ready->device->ops;
    const char *name = resolved->spec->name;
    struct fill_spec spec = resolved->spec->fill;
    enum status status = STATUS_OK;
    spec.dist = resolved->dist;
    made->resolved = resolved;
    made->memory = arena_array(&ready->arena, ready->rotations, sizeof(*made->memory));
    for (uint32_t rotation = 0; rotation < ready->rotations && !status; rotation++) {
        if (allocate(ready, made, rotation, err))
            return err->status;
        uint8_t *first = ready_buffer(ready, buffer, rotation), pattern[GUARD_BYTES];
        guard_pattern(pattern);
        if (ops->executes && (ops->write(ready->device, first - GUARD_BYTES, pattern, GUARD_BYTES, err) ||
                              ops->write(ready->device, first + resolved->size_bytes, pattern, GUARD_BYTES, err)))
            return err->status;
    }
    if (ops->executes && fill_init(&made->fill, &spec, resolved->dtype, resolved->count, ready->slots, &ready->arrays,
                                   rng_derive(seed, name), &ready->arena, err))
        status = err_within(err, "buffer '%s'", name);
    made->fill.first = resolved_first(resolved);
    for (uint32_t rotation = 0; rotation < ready->rotations && !status; rotation++)
        status = rotation ? fill_as_first(ready, buffer, rotation, err) : ready_fill(ready, buffer, 0, err);
    ready->needs_reset = ready->needs_reset || resolved->spec->reset != RESET_NONE;
    return status;
}

static void read_elements(double *values, size_t count, size_t array, const void *context)
{
    const struct ready_buffer *buffers = context;
    fill_elements(values, &buffers[array].fill, count);
}

enum status ready_init(struct ready *ready, struct device *device, const struct resolved *resolved,
                       const struct build_result *builds, uint32_t rotations, uint64_t seed, struct err *err)
{
    *ready = (struct ready){.resolved = resolved, .device = device, .builds = builds, .rotations = rotations};
    enum status status = ready_load(ready, err);
    ready->slots = resolved_slots(resolved, &ready->arena);
    ready->buffers = arena_array(&ready->arena, resolved->buffer_count + 1, sizeof(*ready->buffers));
    /* Expressions use the original fill of a buffer, even after launches changed it. */
    uint64_t *counts = arena_array(&ready->arena, resolved->buffer_count + 1, sizeof(*counts));
    for (size_t k = 0; k < resolved->buffer_count; k++)
        counts[k] = resolved->buffers[k].count;
    ready->arrays = (struct expr_arrays){.counts = counts, .read = read_elements, .context = ready->buffers};
    for (size_t k = 0; k < resolved->buffer_count && !status; k++)
        status = make_buffer(ready, k, seed, err);
    return status ? status : ready_resolve(ready, err);
}

void ready_release(struct ready *ready)
{
    if (!ready->device)
        return;
    const struct device_ops *ops = ready->device->ops;
    ready_free_graphs(ready);
    for (size_t k = 0; k < ready->resolved->buffer_count; k++)
        for (uint32_t rotation = 0; ready->buffers[k].memory && rotation < ready->rotations; rotation++)
            if (ready->buffers[k].memory[rotation])
                ops->free(ready->device, ready->buffers[k].memory[rotation]);
    ready_unload(ready);
    arena_release(&ready->arena);
    *ready = (struct ready){0};
}
