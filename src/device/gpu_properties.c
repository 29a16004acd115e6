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
        const enum status status = GPU_TRY(gpu, &why, attribute, &value, asked->attribute, gpu->handles[gpu->index]);
        if (asked->rule != UNKNOWN_IS_0 && status)
            return err_set(err, status, "%s of attribute %u", why.text, asked->attribute);
        if (asked->rule != UNKNOWN_IS_0 && (value < 0 || (!value && asked->rule == MUST_BE_KNOWN)))
            return err_set(err, ERR_DEVICE, "attribute %u of the device is %d", asked->attribute, value);
        facts[i] = status || value < 0 ? 0 : (uint32_t)value;
    }
    return STATUS_OK;
}

static void fill_facts(struct device_info *info, const uint32_t facts[static GPU_FACTS])
{
    info->wave = facts[FACT_WAVE];
    info->cus = facts[FACT_PHYSICAL_UNITS] ? facts[FACT_PHYSICAL_UNITS] : facts[FACT_UNITS];
    info->xccs = facts[FACT_XCCS];
    info->max_block = facts[FACT_BLOCK];
    for (int i = 0; i < 3; ++i)
        info->max_grid[i] = facts[FACT_GRID_X + i] ? facts[FACT_GRID_X + i] : INT32_MAX;
    info->cooperative = facts[FACT_TOGETHER] != 0;
    info->lds_bytes = facts[FACT_LDS];
    info->core_hz = facts[FACT_CORE_KHZ] * 1e3;
    info->memory_hz = facts[FACT_MEMORY_KHZ] * 1e3;
    if (facts[FACT_L2])
        info->caches[info->cache_count++] = (struct device_cache){
            .name = "L2", .size_bytes = facts[FACT_L2], .instances = facts[FACT_XCCS] ? facts[FACT_XCCS] : 1};
}

/* What it lacks is known before anything is asked for. */
static void fill_spaces(struct device_info *info, const struct gpu *gpu, const uint32_t facts[static GPU_FACTS])
{
    info->index = (uint32_t)gpu->index;
    info->peers = (uint32_t)(gpu->count - 1);
    info->lacks_spaces = gpu->vendor->lacks_spaces;
    for (enum device_space space = 0; space < DEVICE_SPACES; space++)
        if (gpu_lacks(gpu, gpu_feature_of(space)))
            info->lacks_spaces |= SPACE_BIT(space);
    if (!facts[FACT_MANAGED])
        info->lacks_spaces |= SPACE_BIT(SPACE_MANAGED);
    if (gpu->count < 2)
        info->lacks_spaces |= SPACE_BIT(SPACE_PEER);
    /* Else the host and the device know pinned memory by different addresses. */
    if (gpu->vendor->attributes[FACT_UNIFIED].attribute && !facts[FACT_UNIFIED])
        info->lacks_spaces |= SPACE_BIT(SPACE_PINNED);
    /* With HMM (on AMD, and XNACK), or where the host's page tables are the device's too, kernels reach what malloc
     * gives. */
    if (!facts[FACT_PAGEABLE])
        info->lacks_kernel_spaces = SPACE_BIT(SPACE_PAGEABLE);
}

void gpu_read_pci_bdf(struct device_info *info, const struct gpu *gpu)
{
    struct err ignored = {0};
    if (!gpu->api.pci_bus_id ||
        GPU_TRY(gpu, &ignored, pci_bus_id, info->pci_bdf, (int)sizeof(info->pci_bdf), gpu->handles[gpu->index]))
        info->pci_bdf[0] = '\0';
}

enum status gpu_describe(struct device_info *info, struct gpu *gpu, struct err *err)
{
    const struct gpu_vendor *vendor = gpu->vendor;
    struct device_info found = {0};
    uint32_t facts[GPU_FACTS];
    size_t free_bytes, total_bytes;
    enum status status = read_facts(facts, gpu, err);
    if (!status)
        status = GPU_TRY(gpu, err, name, found.name, (int)sizeof(found.name), gpu->handles[gpu->index]);
    if (!status)
        status = GPU_TRY(gpu, err, memory_info, &free_bytes, &total_bytes);
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
