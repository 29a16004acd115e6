/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "telemetry.h"

enum fact {
    MAJOR,
    MINOR,
    WAVE,
    UNITS,
    BLOCK,
    GRID_X,
    GRID_Y,
    GRID_Z,
    LDS,
    CORE_KHZ,
    MEMORY_KHZ,
    L2,
    COOPERATIVE,
    FACT_COUNT
};

static const struct {
    unsigned attribute;
    bool required; /* else 0 where the driver does not tell */
    bool may_be_0;
} attributes[FACT_COUNT] = {
    [MAJOR] = {CUDA_CAPABILITY_MAJOR, true, false},
    [MINOR] = {CUDA_CAPABILITY_MINOR, true, true},
    [WAVE] = {CUDA_WARP_SIZE, true, false},
    [UNITS] = {CUDA_MULTIPROCESSOR_COUNT, true, false},
    [BLOCK] = {CUDA_MAX_THREADS_PER_BLOCK, true, false},
    [GRID_X] = {CUDA_MAX_GRID_X, true, false},
    [GRID_Y] = {CUDA_MAX_GRID_Y, true, false},
    [GRID_Z] = {CUDA_MAX_GRID_Z, true, false},
    [LDS] = {CUDA_MAX_SHARED_MEMORY_OPTIN, true, false},
    [CORE_KHZ] = {CUDA_CLOCK_RATE, false, true},
    [MEMORY_KHZ] = {CUDA_MEMORY_CLOCK_RATE, false, true},
    [L2] = {CUDA_L2_CACHE_SIZE, false, true},
    [COOPERATIVE] = {CUDA_COOPERATIVE_LAUNCH, false, true},
};

static enum status read_facts(uint32_t facts[static FACT_COUNT], const struct cuda_api *api, int device,
                              struct err *err)
{
    for (size_t i = 0; i < FACT_COUNT; ++i) {
        int value = 0;
        struct err why = {0};
        const enum status status = CUDA_TRY(api, &why, cuDeviceGetAttribute, &value, attributes[i].attribute, device);
        if (attributes[i].required && status)
            return err_set(err, status, "%s of attribute %u", why.text, attributes[i].attribute);
        if (attributes[i].required && (value < 0 || (!value && !attributes[i].may_be_0)))
            return err_set(err, ERR_DEVICE, "cuDeviceGetAttribute: attribute %u is %d", attributes[i].attribute, value);
        facts[i] = status || value < 0 ? 0 : (uint32_t)value;
    }
    return STATUS_OK;
}

/* From Hopper on, a device has instructions of no other (wgmma, tcgen05), which only code for "sm_90a" may use. */
static void name_arch(struct device_info *info, uint32_t major, uint32_t minor)
{
    snprintf(info->arch, sizeof(info->arch), "sm_%u%u%s", major, minor, major >= 9 ? "a" : "");
    snprintf(info->target, sizeof(info->target), "%s", info->arch);
}

/* As nvidia-smi writes it: "GPU-" or, for a part of a card, "MIG-", and 16 bytes in five groups. */
static void read_uuid(struct device_info *info, const struct cuda_api *api, int device)
{
    uint8_t bytes[16];
    struct err ignored = {0};
    size_t used;
    if (!api->cuDeviceGetUuid_v2 || CUDA_TRY(api, &ignored, cuDeviceGetUuid_v2, (struct CUuuid_st *)bytes, device))
        return;
    used = (size_t)snprintf(info->uuid, sizeof(info->uuid), "%s", info->partition[0] ? "MIG" : "GPU");
    for (size_t i = 0; i < sizeof(bytes); ++i)
        used += (size_t)snprintf(info->uuid + used, sizeof(info->uuid) - used, "%s%02x",
                                 i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

/* The address by which the operating system knows the card, and what it is. */
static void read_pci(struct device_info *info, const struct cuda_api *api, int device)
{
    struct telemetry telemetry;
    struct err ignored = {0};
    if (!api->cuDeviceGetPCIBusId ||
        CUDA_TRY(api, &ignored, cuDeviceGetPCIBusId, info->pci_bdf, (int)sizeof(info->pci_bdf), device)) {
        info->pci_bdf[0] = '\0';
        return;
    }
    telemetry_open(&telemetry, info->pci_bdf);
    telemetry_pci_id(info, &telemetry, "10de");
}

static void read_version(struct device_info *info, const struct cuda_api *api)
{
    int version = 0;
    struct err ignored = {0};
    if (!CUDA_TRY(api, &ignored, cuDriverGetVersion, &version) && version > 0)
        snprintf(info->driver, sizeof(info->driver), "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

static void fill_facts(struct device_info *info, const uint32_t facts[static FACT_COUNT])
{
    name_arch(info, facts[MAJOR], facts[MINOR]);
    info->wave = facts[WAVE];
    info->cus = facts[UNITS];
    info->max_block = facts[BLOCK];
    for (int i = 0; i < 3; ++i)
        info->max_grid[i] = facts[GRID_X + i];
    info->cooperative = facts[COOPERATIVE] != 0;
    info->lds_bytes = facts[LDS];
    info->core_hz = facts[CORE_KHZ] * 1e3;
    info->memory_hz = facts[MEMORY_KHZ] * 1e3;
    info->counter_hz = 1e9; /* %globaltimer is in nanoseconds, whatever its step */
    if (facts[L2])
        info->caches[info->cache_count++] =
            (struct device_cache){.name = "L2", .size_bytes = facts[L2], .instances = 1};
}

/* "NVIDIA H100 80GB HBM3 MIG 1g.10gb" is a seventh of a card. */
static void read_partition(struct device_info *info)
{
    const char *part = strstr(info->name, " MIG ");
    if (part)
        snprintf(info->partition, sizeof(info->partition), "%.31s", part + 1);
}

enum status cuda_describe(struct device_info *info, const struct cuda_library *library, int index, struct err *err)
{
    const struct cuda_api *api = &library->api;
    struct device_info found = {.backend = "cuda"};
    uint32_t facts[FACT_COUNT];
    size_t free_bytes, total_bytes;
    int device = 0;
    enum status status = CUDA_TRY(api, err, cuDeviceGet, &device, index);
    if (!status)
        status = read_facts(facts, api, device, err);
    if (!status)
        status = CUDA_TRY(api, err, cuDeviceGetName, found.name, (int)sizeof(found.name), device);
    if (!status)
        status = CUDA_TRY(api, err, cuMemGetInfo_v2, &free_bytes, &total_bytes);
    if (status)
        return status;
    fill_facts(&found, facts);
    found.memory_bytes = total_bytes;
    found.memory_free_bytes = free_bytes;
    snprintf(found.id, sizeof(found.id), "cuda:%d", index);
    if (!found.name[0])
        snprintf(found.name, sizeof(found.name), "%s", found.arch);
    read_partition(&found);
    read_uuid(&found, api, device);
    read_pci(&found, api, device);
    read_version(&found, api);
    *info = found;
    return STATUS_OK;
}
