/* SPDX-License-Identifier: MIT
 *
 * Memory of every kind that HIP has. Which flag means what: hip_runtime_api.h and clr's hip_memory.cpp.
 */
#include <stdlib.h>
#include <string.h>

#include "hip.h"

#define PAGEABLE_ALIGN_BYTES 4096u

struct hip_allocation {
    struct hip_allocation *next;
    void *pointer;
    enum device_space space;
};

static void free_memory(const struct hip_api *api, const struct hip_allocation *allocation)
{
    switch (allocation->space) {
    case SPACE_PAGEABLE:
        free(allocation->pointer);
        break;
    case SPACE_PINNED:
    case SPACE_PINNED_COARSE:
        api->hipHostFree(allocation->pointer);
        break;
    default:
        api->hipFree(allocation->pointer);
        break;
    }
}

void hip_memory_free(struct hip_allocation **list, const struct hip_api *api, const void *pointer)
{
    for (struct hip_allocation **at = list; *at; at = &(*at)->next) {
        struct hip_allocation *allocation = *at;
        if (allocation->pointer != pointer)
            continue;
        *at = allocation->next;
        free_memory(api, allocation);
        free(allocation);
        return;
    }
}

void hip_memory_free_all(struct hip_allocation **list, const struct hip_api *api)
{
    while (*list)
        hip_memory_free(list, api, (*list)->pointer);
}

static const char *missing_for(const struct hip_api *api, enum device_space space)
{
    switch (space) {
    case SPACE_PINNED:
    case SPACE_PINNED_COARSE:
        return !api->hipHostMalloc ? "hipHostMalloc" : !api->hipHostFree ? "hipHostFree" : NULL;
    case SPACE_MANAGED:
        return !api->hipMallocManaged ? "hipMallocManaged" : NULL;
    case SPACE_FINE:
        return !api->hipExtMallocWithFlags ? "hipExtMallocWithFlags" : NULL;
    case SPACE_PEER:
        return !api->hipDeviceCanAccessPeer      ? "hipDeviceCanAccessPeer"
               : !api->hipDeviceEnablePeerAccess ? "hipDeviceEnablePeerAccess"
                                                 : NULL;
    default:
        return NULL;
    }
}

static int attribute_of(const struct hip_api *api, unsigned attribute, int index)
{
    struct err ignored = {0};
    int value = 0;
    return HIP_TRY(api, &ignored, hipDeviceGetAttribute, &value, attribute, index) ? 0 : value;
}

void hip_memory_describe(struct device_info *info, const struct hip_library *library, int index, int count)
{
    const struct hip_api *api = &library->api;
    info->index = (uint32_t)index;
    info->peers = (uint32_t)(count - 1);
    for (enum device_space space = 0; space < DEVICE_SPACES; space++)
        if (missing_for(api, space))
            info->lacks_spaces |= SPACE_BIT(space);
    if (!attribute_of(api, HIP_MANAGED_MEMORY, index))
        info->lacks_spaces |= SPACE_BIT(SPACE_MANAGED);
    if (count < 2)
        info->lacks_spaces |= SPACE_BIT(SPACE_PEER);
    /* With HMM and XNACK kernels reach what malloc gives. */
    if (!attribute_of(api, HIP_PAGEABLE_MEMORY_ACCESS, index))
        info->lacks_kernel_spaces = SPACE_BIT(SPACE_PAGEABLE);
}

static enum status allocate(void **pointer, const struct hip_api *api, uint64_t size_bytes, enum device_space space,
                            struct err *err)
{
    switch (space) {
    case SPACE_DEVICE:
    case SPACE_PEER:
        return HIP_TRY(api, err, hipMalloc, pointer, size_bytes);
    case SPACE_PINNED:
        /* Without flags it is fine-grained: both sides see writes while a kernel runs. */
        return HIP_TRY(api, err, hipHostMalloc, pointer, size_bytes, 0);
    case SPACE_PINNED_COARSE:
        return HIP_TRY(api, err, hipHostMalloc, pointer, size_bytes, HIP_HOST_MALLOC_NON_COHERENT);
    case SPACE_MANAGED:
        return HIP_TRY(api, err, hipMallocManaged, pointer, size_bytes, HIP_MEM_ATTACH_GLOBAL);
    case SPACE_FINE:
        return HIP_TRY(api, err, hipExtMallocWithFlags, pointer, size_bytes, HIP_MALLOC_FINE_GRAINED);
    case SPACE_PAGEABLE:
        if (posix_memalign(pointer, PAGEABLE_ALIGN_BYTES, size_bytes))
            return err_set(err, ERR_DEVICE_MEMORY, "the operating system refused %llu bytes",
                           (unsigned long long)size_bytes);
        return STATUS_OK;
    case DEVICE_SPACES:
        break;
    }
    return err_set(err, ERR_UNSUPPORTED, "unknown kind of memory");
}

enum status hip_memory_alloc(void **pointer, struct hip_allocation **list, const struct hip_library *library,
                             uint64_t size_bytes, enum device_space space, struct err *err)
{
    const char *missing = missing_for(&library->api, space);
    if (missing)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks %s", library->path, missing);
    void *memory = NULL;
    /* Nothing asked for still gets an address. */
    const enum status status = allocate(&memory, &library->api, size_bytes ? size_bytes : 1, space, err);
    if (status == ERR_DEVICE_MEMORY)
        return err_within(err, "%llu bytes asked for", (unsigned long long)size_bytes);
    if (status)
        return status;
    struct hip_allocation *allocation = malloc(sizeof(*allocation));
    if (!allocation)
        arena_out_of_memory(sizeof(*allocation));
    *allocation = (struct hip_allocation){.next = *list, .pointer = memory, .space = space};
    *list = allocation;
    *pointer = memory;
    return STATUS_OK;
}

/* Makes memory of device `to` reachable from device `from`; false when it cannot be. */
static bool reach(const struct hip_api *api, int from, int to)
{
    struct err ignored = {0};
    int can = 0;
    if (HIP_TRY(api, &ignored, hipDeviceCanAccessPeer, &can, from, to) || !can ||
        HIP_TRY(api, &ignored, hipSetDevice, from))
        return false;
    const hip_error code = api->hipDeviceEnablePeerAccess(to, 0);
    return code == HIP_SUCCESS || code == HIP_PEER_ACCESS_ALREADY_ENABLED;
}

/* Copies between two others are made by one of them, or by kernels of this device: all get access that can. */
enum status hip_memory_alloc_peer(void **pointer, struct hip_allocation **list, const struct hip_library *library,
                                  uint64_t size_bytes, const struct hip_place *place, struct err *err)
{
    const struct hip_api *api = &library->api;
    struct err ignored = {0};
    const char *missing = missing_for(api, SPACE_PEER);
    if (place->of >= place->count)
        return err_set(err, ERR_UNSUPPORTED, "no device hip:%d: the library counts %d", place->of, place->count);
    if (missing)
        return err_set(err, ERR_UNSUPPORTED, "%s lacks %s", library->path, missing);
    enum status status = STATUS_OK;
    for (int from = 0; from < place->count && !status; from++)
        if (from != place->of && !reach(api, from, place->of) && from == place->own)
            status = err_set(err, ERR_UNSUPPORTED, "hip:%d cannot reach the memory of hip:%d", from, place->of);
    if (!status)
        status = HIP_TRY(api, err, hipSetDevice, place->of);
    if (!status)
        status = hip_memory_alloc(pointer, list, library, size_bytes, SPACE_PEER, err);
    /* Whatever happened, the device that was opened is the current one again. */
    const enum status back = HIP_TRY(api, status ? &ignored : err, hipSetDevice, place->own);
    return status ? status : back;
}
