/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "gpu.h"

static enum status read_facts(uint32_t facts[static GPU_FACTS], const struct gpu *gpu, struct err *err)
{
    for (size_t i = 0; i < GPU_FACTS; ++i) {
        const struct gpu_attribute *asked = &gpu->vendor->attributes[i];
        struct err why = {0};
        int value = 0;
        facts[i] = 0;
        if (!asked->attribute)
            continue;
        const enum status status = gpu->vendor->api->attribute(&value, gpu, asked->attribute, &why);
        if (asked->required && status)
            return err_set(err, status, "%s of attribute %u", why.text, asked->attribute);
        if (asked->required && (value < 0 || (!value && !asked->may_be_0)))
            return err_set(err, ERR_DEVICE, "attribute %u of the device is %d", asked->attribute, value);
        facts[i] = status || value < 0 ? 0 : (uint32_t)value;
    }
    return STATUS_OK;
}

static void fill_facts(struct device_info *info, const uint32_t facts[static GPU_FACTS])
{
    info->wave = facts[GPU_WAVE];
    info->cus = facts[GPU_PHYSICAL_UNITS] ? facts[GPU_PHYSICAL_UNITS] : facts[GPU_UNITS];
    info->xccs = facts[GPU_XCCS];
    info->max_block = facts[GPU_BLOCK];
    for (int i = 0; i < 3; ++i)
        info->max_grid[i] = facts[GPU_GRID_X + i] ? facts[GPU_GRID_X + i] : INT32_MAX;
    info->cooperative = facts[GPU_TOGETHER] != 0;
    info->lds_bytes = facts[GPU_LDS];
    info->core_hz = facts[GPU_CORE_KHZ] * 1e3;
    info->memory_hz = facts[GPU_MEMORY_KHZ] * 1e3;
    if (facts[GPU_L2])
        info->caches[info->cache_count++] = (struct device_cache){
            .name = "L2", .size_bytes = facts[GPU_L2], .instances = facts[GPU_XCCS] ? facts[GPU_XCCS] : 1};
}

/* What it lacks is known before anything is asked for. */
static void fill_spaces(struct device_info *info, const struct gpu *gpu, const uint32_t facts[static GPU_FACTS])
{
    info->index = (uint32_t)gpu->index;
    info->peers = (uint32_t)(gpu->count - 1);
    info->lacks_spaces = gpu->vendor->lacks_spaces;
    for (enum device_space space = 0; space < DEVICE_SPACES; space++)
        if (gpu_lacks(gpu, space))
            info->lacks_spaces |= SPACE_BIT(space);
    if (!facts[GPU_MANAGED])
        info->lacks_spaces |= SPACE_BIT(SPACE_MANAGED);
    if (gpu->count < 2)
        info->lacks_spaces |= SPACE_BIT(SPACE_PEER);
    /* Else the host and the device know pinned memory by different addresses. */
    if (gpu->vendor->attributes[GPU_UNIFIED].attribute && !facts[GPU_UNIFIED])
        info->lacks_spaces |= SPACE_BIT(SPACE_PINNED);
    /* With HMM (on AMD, and XNACK), or where the host's page tables are the device's too, kernels reach what malloc
     * gives. */
    if (!facts[GPU_PAGEABLE])
        info->lacks_kernel_spaces = SPACE_BIT(SPACE_PAGEABLE);
}

enum status gpu_describe(struct device_info *info, struct gpu *gpu, struct err *err)
{
    const struct gpu_vendor *vendor = gpu->vendor;
    struct device_info found = {0};
    uint32_t facts[GPU_FACTS];
    size_t free_bytes, total_bytes;
    enum status status = read_facts(facts, gpu, err);
    if (!status)
        status = vendor->api->name(found.name, (int)sizeof(found.name), gpu, err);
    if (!status)
        status = vendor->api->memory_info(&free_bytes, &total_bytes, gpu, err);
    if (status)
        return status;
    snprintf(found.backend, sizeof(found.backend), "%s", vendor->ops->name);
    snprintf(found.id, sizeof(found.id), "%s:%d", vendor->ops->name, gpu->index);
    found.memory_bytes = total_bytes;
    found.memory_free_bytes = free_bytes;
    fill_facts(&found, facts);
    fill_spaces(&found, gpu, facts);
    status = vendor->describe(&found, gpu, facts, err);
    if (status)
        return status;
    if (!found.name[0]) /* the driver knows no product of this id */
        snprintf(found.name, sizeof(found.name), "%s", found.arch);
    *info = found;
    return STATUS_OK;
}
