/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cuda.h"

#define PAGEABLE_ALIGN_BYTES 4096u

struct cuda_allocation {
    struct cuda_allocation *next;
    void *pointer;
    enum device_space space;
};

static const struct cuda_api *api_of(const struct cuda_memory *memory)
{
    return &memory->library->api;
}

/* ---- contexts ---- */

static enum status context_of(struct CUctx_st **context, struct cuda_memory *memory, int index, struct err *err)
{
    const struct cuda_api *api = api_of(memory);
    int device = 0;
    if (!memory->contexts[index] && (CUDA_TRY(api, err, cuDeviceGet, &device, index) ||
                                     CUDA_TRY(api, err, cuDevicePrimaryCtxRetain, &memory->contexts[index], device))) {
        memory->contexts[index] = NULL;
        return err->status;
    }
    *context = memory->contexts[index];
    return STATUS_OK;
}

static enum status enter(struct cuda_memory *memory, int index, struct err *err)
{
    struct CUctx_st *context = NULL;
    const enum status status = context_of(&context, memory, index, err);
    return status ? status : CUDA_TRY(api_of(memory), err, cuCtxSetCurrent, context);
}

enum status cuda_memory_open(struct cuda_memory *memory, const struct cuda_library *library, int own, int count,
                             struct err *err)
{
    *memory = (struct cuda_memory){.library = library, .own = own, .count = count};
    if (count > CUDA_MAX_DEVICES)
        memory->count = CUDA_MAX_DEVICES;
    if (own >= memory->count)
        return err_set(err, ERR_DEVICE_LOST, "no device cuda:%d: the driver counts %d", own, count);
    return enter(memory, own, err);
}

void cuda_memory_close(struct cuda_memory *memory)
{
    if (!memory->library)
        return;
    while (memory->allocations)
        cuda_memory_free(memory, memory->allocations->pointer);
    for (int index = 0; index < memory->count; index++)
        if (memory->contexts[index])
            api_of(memory)->cuDevicePrimaryCtxRelease_v2(index);
    *memory = (struct cuda_memory){0};
}

/* ---- kinds of memory ---- */

static void free_memory(const struct cuda_api *api, const struct cuda_allocation *allocation)
{
    switch (allocation->space) {
    case SPACE_PAGEABLE:
        free(allocation->pointer);
        break;
    case SPACE_PINNED:
        api->cuMemFreeHost(allocation->pointer);
        break;
    default:
        api->cuMemFree_v2((cuda_address)(uintptr_t)allocation->pointer);
        break;
    }
}

void cuda_memory_free(struct cuda_memory *memory, const void *pointer)
{
    for (struct cuda_allocation **at = &memory->allocations; *at; at = &(*at)->next) {
        struct cuda_allocation *allocation = *at;
        if (allocation->pointer != pointer)
            continue;
        *at = allocation->next;
        free_memory(api_of(memory), allocation);
        free(allocation);
        return;
    }
}

static const char *missing_for(const struct cuda_api *api, enum device_space space)
{
    switch (space) {
    case SPACE_PINNED:
        return !api->cuMemHostAlloc ? "cuMemHostAlloc" : !api->cuMemFreeHost ? "cuMemFreeHost" : NULL;
    case SPACE_MANAGED:
        return !api->cuMemAllocManaged ? "cuMemAllocManaged" : NULL;
    case SPACE_PEER:
        return !api->cuDeviceCanAccessPeer   ? "cuDeviceCanAccessPeer"
               : !api->cuCtxEnablePeerAccess ? "cuCtxEnablePeerAccess"
                                             : NULL;
    default:
        return NULL;
    }
}

static int attribute_of(const struct cuda_api *api, unsigned attribute, int index)
{
    struct err ignored = {0};
    int value = 0;
    return CUDA_TRY(api, &ignored, cuDeviceGetAttribute, &value, attribute, index) ? 0 : value;
}

/* CUDA has no choice of grain: its own memory is as coarse-grained memory, and the host's as fine-grained. */
void cuda_memory_describe(struct device_info *info, const struct cuda_memory *memory)
{
    const struct cuda_api *api = api_of(memory);
    info->index = (uint32_t)memory->own;
    info->peers = (uint32_t)(memory->count - 1);
    info->lacks_spaces = SPACE_BIT(SPACE_FINE) | SPACE_BIT(SPACE_PINNED_COARSE);
    for (enum device_space space = 0; space < DEVICE_SPACES; space++)
        if (missing_for(api, space))
            info->lacks_spaces |= SPACE_BIT(space);
    if (!attribute_of(api, CUDA_MANAGED_MEMORY, memory->own))
        info->lacks_spaces |= SPACE_BIT(SPACE_MANAGED);
    /* Without it the host and the device know pinned memory by different addresses. */
    if (!attribute_of(api, CUDA_UNIFIED_ADDRESSING, memory->own))
        info->lacks_spaces |= SPACE_BIT(SPACE_PINNED);
    if (memory->count < 2)
        info->lacks_spaces |= SPACE_BIT(SPACE_PEER);
    /* With HMM, or where the host's page tables are the device's too, kernels reach what malloc gives. */
    if (!attribute_of(api, CUDA_PAGEABLE_MEMORY_ACCESS, memory->own))
        info->lacks_kernel_spaces = SPACE_BIT(SPACE_PAGEABLE);
}

static enum status allocate(void **pointer, const struct cuda_api *api, uint64_t size_bytes, enum device_space space,
                            struct err *err)
{
    cuda_address address = 0;
    enum status status = STATUS_OK;
    switch (space) {
    case SPACE_DEVICE:
    case SPACE_PEER:
        status = CUDA_TRY(api, err, cuMemAlloc_v2, &address, size_bytes);
        break;
    case SPACE_MANAGED:
        status = CUDA_TRY(api, err, cuMemAllocManaged, &address, size_bytes, CUDA_MEM_ATTACH_GLOBAL);
        break;
    case SPACE_PINNED:
        return CUDA_TRY(api, err, cuMemHostAlloc, pointer, size_bytes, CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP);
    case SPACE_PAGEABLE:
        if (posix_memalign(pointer, PAGEABLE_ALIGN_BYTES, size_bytes))
            return err_set(err, ERR_DEVICE_MEMORY, "the operating system refused %llu bytes",
                           (unsigned long long)size_bytes);
        return STATUS_OK;
    case SPACE_FINE:
    case SPACE_PINNED_COARSE:
        return err_set(err, ERR_UNSUPPORTED, "CUDA has no choice between fine- and coarse-grained memory");
    case DEVICE_SPACES:
        return err_set(err, ERR_UNSUPPORTED, "unknown kind of memory");
    }
    if (!status)
        *pointer = (void *)(uintptr_t)address;
    return status;
}

enum status cuda_memory_alloc(void **pointer, struct cuda_memory *memory, uint64_t size_bytes, enum device_space space,
                              struct err *err)
{
    const struct cuda_api *api = api_of(memory);
    const char *missing = missing_for(api, space);
    if (missing)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks %s", memory->library->path, missing);
    void *found = NULL;
    /* Nothing asked for still gets an address. */
    const enum status status = allocate(&found, api, size_bytes ? size_bytes : 1, space, err);
    if (status == ERR_DEVICE_MEMORY)
        return err_within(err, "%llu bytes asked for", (unsigned long long)size_bytes);
    if (status)
        return status;
    struct cuda_allocation *allocation = malloc(sizeof(*allocation));
    if (!allocation)
        arena_out_of_memory(sizeof(*allocation));
    *allocation = (struct cuda_allocation){.next = memory->allocations, .pointer = found, .space = space};
    memory->allocations = allocation;
    *pointer = found;
    return STATUS_OK;
}

/* ---- peers ---- */

/* Makes memory of device `to` reachable from device `from`; false when it cannot be. */
static bool reach(struct cuda_memory *memory, int from, int to)
{
    const struct cuda_api *api = api_of(memory);
    struct err ignored = {0};
    struct CUctx_st *peer = NULL;
    int can = 0;
    if (CUDA_TRY(api, &ignored, cuDeviceCanAccessPeer, &can, from, to) || !can ||
        context_of(&peer, memory, to, &ignored) || enter(memory, from, &ignored))
        return false;
    const cuda_error code = api->cuCtxEnablePeerAccess(peer, 0);
    return code == CUDA_OK || code == CUDA_PEER_ACCESS_ALREADY_ENABLED;
}

/* Copies between two others are made by one of them, or by kernels of this device: all get access that can. */
enum status cuda_memory_alloc_peer(void **pointer, struct cuda_memory *memory, uint64_t size_bytes, int index,
                                   struct err *err)
{
    struct err ignored = {0};
    const char *missing = missing_for(api_of(memory), SPACE_PEER);
    if (index >= memory->count)
        return err_set(err, ERR_UNSUPPORTED, "no device cuda:%d: the driver counts %d", index, memory->count);
    if (missing)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks %s", memory->library->path, missing);
    enum status status = STATUS_OK;
    for (int from = 0; from < memory->count && !status; from++)
        if (from != index && !reach(memory, from, index) && from == memory->own)
            status = err_set(err, ERR_UNSUPPORTED, "cuda:%d cannot reach the memory of cuda:%d", from, index);
    if (!status)
        status = enter(memory, index, err);
    if (!status)
        status = cuda_memory_alloc(pointer, memory, size_bytes, SPACE_PEER, err);
    /* Whatever happened, the context of the device that was opened is the current one again. */
    const enum status back = enter(memory, memory->own, status ? &ignored : err);
    return status ? status : back;
}
