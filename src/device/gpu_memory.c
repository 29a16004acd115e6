/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "gpu.h"

#define PAGEABLE_ALIGN_BYTES 4096u

struct gpu_allocation {
    struct gpu_allocation *next;
    void *pointer;
    enum device_space space;
};

static void free_memory(struct gpu *gpu, const void *pointer)
{
    for (struct gpu_allocation **at = &gpu->allocations; *at; at = &(*at)->next) {
        struct gpu_allocation *allocation = *at;
        if (allocation->pointer != pointer)
            continue;
        *at = allocation->next;
        if (allocation->space == SPACE_PAGEABLE)
            free(allocation->pointer);
        else
            gpu->vendor->api->free(gpu, allocation->pointer, allocation->space);
        free(allocation);
        return;
    }
}

void gpu_free(struct device *device, void *pointer)
{
    free_memory((struct gpu *)device, pointer);
}

void gpu_memory_free_all(struct gpu *gpu)
{
    while (gpu->allocations)
        free_memory(gpu, gpu->allocations->pointer);
}

static enum status alloc_pageable(void **pointer, uint64_t size_bytes, struct err *err)
{
    if (posix_memalign(pointer, PAGEABLE_ALIGN_BYTES, size_bytes))
        return err_set(err, ERR_DEVICE_MEMORY, "the operating system refused %llu bytes",
                       (unsigned long long)size_bytes);
    return STATUS_OK;
}

static enum status allocate(void **pointer, struct gpu *gpu, uint64_t size_bytes, enum device_space space,
                            struct err *err)
{
    void *memory = NULL;
    enum status status = gpu_require(gpu, space, err);
    if (status)
        return status;
    const uint64_t asked_bytes = size_bytes ? size_bytes : 1; /* nothing asked for still gets an address */
    status = space == SPACE_PAGEABLE ? alloc_pageable(&memory, asked_bytes, err)
                                     : gpu->vendor->api->alloc(&memory, gpu, asked_bytes, space, err);
    if (status == ERR_DEVICE_MEMORY)
        return err_within(err, "%llu bytes asked for", (unsigned long long)size_bytes);
    if (status)
        return status;
    struct gpu_allocation *allocation = malloc(sizeof(*allocation));
    if (!allocation)
        arena_out_of_memory(sizeof(*allocation));
    *allocation = (struct gpu_allocation){.next = gpu->allocations, .pointer = memory, .space = space};
    gpu->allocations = allocation;
    *pointer = memory;
    return STATUS_OK;
}

enum status gpu_alloc(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                      struct err *err)
{
    if (space == SPACE_PEER)
        return err_set(err, ERR_UNSUPPORTED, "memory of a peer has the number of its device");
    return allocate(pointer, (struct gpu *)device, size_bytes, space, err);
}

/* Makes memory of device `to` reachable from device `from`; false when it cannot be. */
static bool reach(struct gpu *gpu, int from, int to)
{
    const struct gpu_api *api = gpu->vendor->api;
    struct err ignored = {0};
    bool can = false;
    return !api->can_reach(&can, gpu, from, to, &ignored) && can && !api->enter(gpu, from, &ignored) &&
           !api->reach(gpu, to, &ignored);
}

/* Copies between two others are made by one of them, or by kernels of this device: all get access that can. */
enum status gpu_alloc_peer(void **pointer, struct device *device, uint64_t size_bytes, uint32_t index, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    const struct gpu_api *api = gpu->vendor->api;
    const char *backend = device->ops->name;
    const int to = (int)index;
    struct err ignored = {0};
    if (index >= (uint32_t)gpu->count)
        return err_set(err, ERR_UNSUPPORTED, "no device %s:%u: the library counts %d", backend, index, gpu->count);
    enum status status = gpu_require(gpu, SPACE_PEER, err);
    if (status)
        return status;
    for (int from = 0; from < gpu->count && !status; from++)
        if (from != to && !reach(gpu, from, to) && from == gpu->index)
            status =
                err_set(err, ERR_UNSUPPORTED, "%s:%d cannot reach the memory of %s:%d", backend, from, backend, to);
    if (!status)
        status = api->enter(gpu, to, err);
    if (!status)
        status = allocate(pointer, gpu, size_bytes, SPACE_PEER, err);
    /* Whatever happened, the device that was opened is the current one again. */
    const enum status back = api->enter(gpu, gpu->index, status ? &ignored : err);
    return status ? status : back;
}

enum status gpu_transfer(struct device *device, void *to, const void *from, uint64_t size_bytes, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    return size_bytes ? gpu->vendor->api->transfer(gpu, to, from, size_bytes, err) : STATUS_OK;
}

enum status gpu_copy(struct device *device, void *to, const void *from, uint64_t size_bytes, uint32_t number,
                     struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    const enum status status = gpu_stream_of(&stream, gpu, number, err);
    return status || !size_bytes ? status : gpu->vendor->api->copy(gpu, to, from, size_bytes, stream, err);
}

enum status gpu_fill(struct device *device, void *to, uint8_t byte, uint64_t size_bytes, uint32_t number,
                     struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    const enum status status = gpu_stream_of(&stream, gpu, number, err);
    return status || !size_bytes ? status : gpu->vendor->api->fill(gpu, to, byte, size_bytes, stream, err);
}
