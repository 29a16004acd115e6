/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "gpu.h"

#define PAGEABLE_ALIGN_BYTES 4096u

enum gpu_feature gpu_feature_of(enum device_space space)
{
    static const enum gpu_feature features[DEVICE_SPACES] = {
        [SPACE_PINNED] = GPU_PINNED,   [SPACE_PINNED_COARSE] = GPU_PINNED,
        [SPACE_MANAGED] = GPU_MANAGED, [SPACE_FINE] = GPU_FINE,
        [SPACE_PEER] = GPU_PEER,
    };
    return features[space];
}

void gpu_free(struct device *device, void *pointer)
{
    struct gpu *gpu = (struct gpu *)device;
    struct allocation taken;
    if (!allocation_take(&taken, &gpu->allocations, pointer))
        return;
    if (taken.space == SPACE_PAGEABLE)
        free(pointer);
    else if (gpu_feature_of(taken.space) == GPU_PINNED)
        gpu->api.host_free(pointer);
    else
        gpu->api.free(pointer);
}

static enum status alloc_pageable(void **pointer, uint64_t size_bytes, struct err *err)
{
    if (posix_memalign(pointer, PAGEABLE_ALIGN_BYTES, size_bytes))
        return err_set(err, ERR_DEVICE_MEMORY, "the operating system refused %llu bytes",
                       (unsigned long long)size_bytes);
    return STATUS_OK;
}

/* Memory of a peer is that of the device, the current device being another. */
static enum status alloc_in(void **pointer, const struct gpu *gpu, uint64_t size_bytes, enum device_space space,
                            struct err *err)
{
    const struct gpu_vendor *vendor = gpu->vendor;
    if (vendor->lacks_spaces & SPACE_BIT(space))
        return err_set(err, ERR_UNSUPPORTED, "%s has no choice between fine- and coarse-grained memory", vendor->whole);
    switch (space) {
    case SPACE_DEVICE:
    case SPACE_PEER:
        return GPU_TRY(gpu, err, alloc, pointer, size_bytes);
    case SPACE_PINNED:
        return GPU_TRY(gpu, err, host_alloc, pointer, size_bytes, vendor->pinned_flags);
    case SPACE_PINNED_COARSE:
        return GPU_TRY(gpu, err, host_alloc, pointer, size_bytes, vendor->pinned_coarse_flags);
    case SPACE_MANAGED:
        return GPU_TRY(gpu, err, managed_alloc, pointer, size_bytes, GPU_MEM_ATTACH_GLOBAL);
    case SPACE_FINE:
        return vendor->alloc_fine(pointer, gpu, size_bytes, err);
    case SPACE_PAGEABLE:
        return alloc_pageable(pointer, size_bytes, err);
    default:
        return err_set(err, ERR_UNSUPPORTED, "unknown kind of memory");
    }
}

static enum status allocate(void **pointer, struct gpu *gpu, uint64_t size_bytes, enum device_space space,
                            struct err *err)
{
    void *memory = NULL;
    const uint64_t asked_bytes = size_bytes ? size_bytes : 1; /* nothing asked for still gets an address */
    enum status status = gpu_require(gpu, gpu_feature_of(space), err);
    if (!status)
        status = alloc_in(&memory, gpu, asked_bytes, space, err);
    if (status == ERR_DEVICE_MEMORY)
        return err_within(err, "%llu bytes asked for", (unsigned long long)size_bytes);
    if (status)
        return status;
    allocation_add(&gpu->allocations, memory, asked_bytes, space);
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
    struct err ignored = {0};
    int can = 0;
    return !GPU_TRY(gpu, &ignored, can_reach, &can, gpu->handles[from], gpu->handles[to]) && can &&
           !gpu->vendor->enter(gpu, from, &ignored) && !gpu->vendor->reach(gpu, to, &ignored);
}

/* Copies between two others are made by one of them, or by kernels of this device: all get access that can. */
enum status gpu_alloc_peer(void **pointer, struct device *device, uint64_t size_bytes, uint32_t index, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    const char *backend = device->ops->name;
    const int to = (int)index;
    struct err ignored = {0};
    if (index >= (uint32_t)gpu->count)
        return err_set(err, ERR_UNSUPPORTED, "no device %s:%u: the library counts %d", backend, index, gpu->count);
    enum status status = gpu_require(gpu, GPU_PEER, err);
    if (status)
        return status;
    for (int from = 0; from < gpu->count && !status; from++)
        if (from != to && !reach(gpu, from, to) && from == gpu->index)
            status =
                err_set(err, ERR_UNSUPPORTED, "%s:%d cannot reach the memory of %s:%d", backend, from, backend, to);
    if (!status)
        status = gpu->vendor->enter(gpu, to, err);
    if (!status)
        status = allocate(pointer, gpu, size_bytes, SPACE_PEER, err);
    /* Whatever happened, the device that was opened is the current one again. */
    const enum status back = gpu->vendor->enter(gpu, gpu->index, status ? &ignored : err);
    return status ? status : back;
}

enum status gpu_transfer(struct device *device, void *to, const void *from, uint64_t size_bytes, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    return size_bytes ? gpu->vendor->copy(gpu, to, from, size_bytes, NULL, true, err) : STATUS_OK;
}

enum status gpu_copy(struct device *device, void *to, const void *from, uint64_t size_bytes, uint32_t number,
                     struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    const enum status status = gpu_stream_of(&stream, gpu, number, err);
    return status || !size_bytes ? status : gpu->vendor->copy(gpu, to, from, size_bytes, stream, false, err);
}

enum status gpu_fill(struct device *device, void *to, uint8_t byte, uint64_t size_bytes, uint32_t number,
                     struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    const enum status status = gpu_stream_of(&stream, gpu, number, err);
    return status || !size_bytes ? status : GPU_TRY(gpu, err, fill, to, byte, size_bytes, stream);
}
