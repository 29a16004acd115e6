/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip.h"
#include "telemetry.h"

/* Of the structure that hipGetDeviceProperties fills, larger in each release (R0600: 1472 bytes), only the architecture
 * is read: everything else is an attribute. ROCm 6 changed the layout, gave the function a new name, and still exports
 * the old one with the old layout. */
enum { PROPERTIES_BYTES = 16384, ARCH_AT_R0600 = 1160, ARCH_AT_R0000 = 396, ARCH_BYTES = 256 };

enum fact {
    WAVE,
    CUS,
    PHYSICAL_CUS,
    XCCS,
    BLOCK,
    GRID_X,
    GRID_Y,
    GRID_Z,
    LDS,
    CORE_KHZ,
    MEMORY_KHZ,
    WALL_KHZ,
    CLOCK_KHZ,
    L2,
    COOPERATIVE,
    FACT_COUNT
};

static const struct {
    unsigned attribute;
    bool required; /* else 0 where the library or the device does not tell */
} attributes[FACT_COUNT] = {
    [WAVE] = {HIP_WARP_SIZE, true},
    [CUS] = {HIP_MULTIPROCESSOR_COUNT, true},
    [PHYSICAL_CUS] = {HIP_PHYSICAL_MULTIPROCESSOR_COUNT, false},
    [XCCS] = {HIP_NUMBER_OF_XCCS, false},
    [BLOCK] = {HIP_MAX_THREADS_PER_BLOCK, true},
    [GRID_X] = {HIP_MAX_GRID_X, false},
    [GRID_Y] = {HIP_MAX_GRID_Y, false},
    [GRID_Z] = {HIP_MAX_GRID_Z, false},
    [LDS] = {HIP_MAX_SHARED_MEMORY_PER_BLOCK, true},
    [CORE_KHZ] = {HIP_CLOCK_RATE, false},
    [MEMORY_KHZ] = {HIP_MEMORY_CLOCK_RATE, false},
    [WALL_KHZ] = {HIP_WALL_CLOCK_RATE, false},
    [CLOCK_KHZ] = {HIP_CLOCK_INSTRUCTION_RATE, false},
    [L2] = {HIP_L2_CACHE_SIZE, false},
    [COOPERATIVE] = {HIP_COOPERATIVE_LAUNCH, false},
};

static enum status read_facts(uint32_t facts[static FACT_COUNT], const struct hip_api *api, int index, struct err *err)
{
    for (size_t i = 0; i < FACT_COUNT; ++i) {
        int value = 0;
        struct err why = {0};
        const enum status status = HIP_TRY(api, &why, hipDeviceGetAttribute, &value, attributes[i].attribute, index);
        if (attributes[i].required && status)
            return err_set(err, status, "%s of attribute %u", why.text, attributes[i].attribute);
        if (attributes[i].required && value <= 0)
            return err_set(err, ERR_DEVICE, "hipDeviceGetAttribute: attribute %u is %d", attributes[i].attribute,
                           value);
        facts[i] = status || value < 0 ? 0 : (uint32_t)value;
    }
    return STATUS_OK;
}

/* "gfx942:sramecc+:xnack-": the target, and the settings of this device. */
static enum status read_arch(char arch[static ARCH_BYTES], const struct hip_library *library, int index,
                             struct err *err)
{
    const struct hip_api *api = &library->api;
    const bool renewed = api->hipGetDevicePropertiesR0600;
    if (!renewed && !api->hipGetDeviceProperties)
        return err_set(err, ERR_DEVICE, "%s lacks hipGetDeviceProperties", library->path);
    char *properties = calloc(1, PROPERTIES_BYTES);
    if (!properties)
        arena_out_of_memory(PROPERTIES_BYTES);
    enum status status = renewed ? HIP_TRY(api, err, hipGetDevicePropertiesR0600, properties, index)
                                 : HIP_TRY(api, err, hipGetDeviceProperties, properties, index);
    const char *name = properties + (renewed ? ARCH_AT_R0600 : ARCH_AT_R0000);
    if (!status && !text_starts(name, "gfx"))
        status = err_set(err, ERR_DEVICE, "%s: the device properties have an unknown layout", library->path);
    if (!status)
        snprintf(arch, ARCH_BYTES, "%.*s", ARCH_BYTES - 1, name);
    free(properties);
    return status;
}

/* A file of one line below /sys, without its end; "" when it cannot be read. */
static void read_line(char *line, int size, const char *path)
{
    line[0] = '\0';
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(line, size, file))
        line[strcspn(line, "\n")] = '\0';
    fclose(file);
}

/* The address by which the operating system knows the card, and what it says about it. */
static void read_pci(struct device_info *info, const struct hip_api *api, int index)
{
    struct telemetry telemetry;
    struct err ignored = {0};
    if (!api->hipDeviceGetPCIBusId ||
        HIP_TRY(api, &ignored, hipDeviceGetPCIBusId, info->pci_bdf, (int)sizeof(info->pci_bdf), index)) {
        info->pci_bdf[0] = '\0';
        return;
    }
    telemetry_open(&telemetry, info->pci_bdf);
    telemetry_describe(info, &telemetry);
}

/* AMD's are 16 characters of text, as in "GPU-" and the serial number. */
static void read_uuid(struct device_info *info, const struct hip_api *api, int index)
{
    char bytes[17] = "";
    struct err ignored = {0};
    if (!api->hipDeviceGetUuid || HIP_TRY(api, &ignored, hipDeviceGetUuid, (struct hipUUID_t *)bytes, index))
        return;
    const size_t length = strspn(bytes, "0123456789abcdefABCDEF");
    if (length && !bytes[length])
        snprintf(info->uuid, sizeof(info->uuid), "GPU-%s", bytes);
}

static void read_driver(struct device_info *info, const struct hip_api *api)
{
    char kernel[32];
    int version = 0;
    struct err ignored = {0};
    read_line(kernel, sizeof(kernel), "/sys/module/amdgpu/version");
    if (api->hipRuntimeGetVersion && !HIP_TRY(api, &ignored, hipRuntimeGetVersion, &version) && version > 0)
        snprintf(info->driver, sizeof(info->driver), "HIP %d.%d.%d", version / 10000000, version / 100000 % 100,
                 version % 100000);
    if (kernel[0]) {
        const size_t length = strlen(info->driver);
        snprintf(info->driver + length, sizeof(info->driver) - length, "%samdgpu %s", length ? ", " : "", kernel);
    }
}

static void fill_facts(struct device_info *info, const uint32_t facts[static FACT_COUNT])
{
    info->wave = facts[WAVE];
    /* Two units count as one multiprocessor where the runtime is in WGP mode. */
    info->cus = facts[PHYSICAL_CUS] ? facts[PHYSICAL_CUS] : facts[CUS];
    info->xccs = facts[XCCS];
    info->max_block = facts[BLOCK];
    for (int i = 0; i < 3; ++i)
        info->max_grid[i] = facts[GRID_X + i] ? facts[GRID_X + i] : INT32_MAX;
    info->cooperative = facts[COOPERATIVE] != 0;
    info->lds_bytes = facts[LDS];
    info->core_hz = facts[CORE_KHZ] * 1e3;
    info->memory_hz = facts[MEMORY_KHZ] * 1e3;
    /* Events are read from the constant-rate counter. */
    const uint32_t tick_khz = facts[WALL_KHZ] ? facts[WALL_KHZ] : facts[CLOCK_KHZ];
    info->timer_tick_ns = tick_khz ? 1e6 / tick_khz : 0;
    if (facts[L2])
        info->caches[info->cache_count++] =
            (struct device_cache){.name = "L2", .size_bytes = facts[L2], .instances = facts[XCCS] ? facts[XCCS] : 1};
}

enum status hip_describe(struct device_info *info, const struct hip_library *library, int index, struct err *err)
{
    const struct hip_api *api = &library->api;
    struct device_info found = {.backend = "hip"};
    uint32_t facts[FACT_COUNT];
    char arch[ARCH_BYTES];
    size_t free_bytes, total_bytes;
    enum status status = read_arch(arch, library, index, err);
    if (!status)
        status = read_facts(facts, api, index, err);
    if (!status)
        status = HIP_TRY(api, err, hipDeviceGetName, found.name, (int)sizeof(found.name), index);
    if (!status)
        status = HIP_TRY(api, err, hipMemGetInfo, &free_bytes, &total_bytes);
    if (status)
        return status;
    fill_facts(&found, facts);
    found.memory_bytes = total_bytes;
    found.memory_free_bytes = free_bytes;
    snprintf(found.id, sizeof(found.id), "hip:%d", index);
    snprintf(found.arch, sizeof(found.arch), "%.*s", (int)strcspn(arch, ":"), arch);
    snprintf(found.target, sizeof(found.target), "%s", found.arch);
    if (!found.name[0]) /* the driver knows no product of this id */
        snprintf(found.name, sizeof(found.name), "%s", found.arch);
    if (strchr(arch, ':'))
        snprintf(found.note, sizeof(found.note), "%s", arch);
    read_uuid(&found, api, index);
    read_pci(&found, api, index);
    read_driver(&found, api);
    *info = found;
    return STATUS_OK;
}
