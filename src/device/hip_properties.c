/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip.h"

/* Of the structure that hipGetDeviceProperties fills, larger in each release (R0600: 1472 bytes), only the architecture
 * is read: everything else is an attribute. ROCm 6 changed the layout, gave the function a new name, and still exports
 * the old one with the old layout. */
enum { PROPERTIES_BYTES = 16384, ARCH_AT_R0600 = 1160, ARCH_AT_R0000 = 396, ARCH_BYTES = 256 };

/* "gfx942:sramecc+:xnack-": the target, and the settings of this device. */
static enum status read_arch(char arch[static ARCH_BYTES], const struct gpu *gpu, struct err *err)
{
    const struct hip_api *api = hip_api_of(gpu);
    const bool renewed = api->hipGetDevicePropertiesR0600;
    if (!renewed && !api->hipGetDeviceProperties)
        return err_set(err, ERR_DEVICE, "%s lacks hipGetDeviceProperties", gpu->path);
    char *properties = calloc(1, PROPERTIES_BYTES);
    if (!properties)
        arena_out_of_memory(PROPERTIES_BYTES);
    enum status status = renewed ? HIP_TRY(gpu, err, hipGetDevicePropertiesR0600, properties, gpu->index)
                                 : HIP_TRY(gpu, err, hipGetDeviceProperties, properties, gpu->index);
    const char *name = properties + (renewed ? ARCH_AT_R0600 : ARCH_AT_R0000);
    if (!status && !text_starts(name, "gfx"))
        status = err_set(err, ERR_DEVICE, "%s: the device properties have an unknown layout", gpu->path);
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
static void read_pci(struct device_info *info, struct hip *hip)
{
    struct err ignored = {0};
    if (!hip->api.hipDeviceGetPCIBusId ||
        HIP_TRY(&hip->gpu, &ignored, hipDeviceGetPCIBusId, info->pci_bdf, (int)sizeof(info->pci_bdf), hip->gpu.index))
        info->pci_bdf[0] = '\0';
    telemetry_open(&hip->telemetry, info->pci_bdf);
    if (info->pci_bdf[0])
        telemetry_describe(info, &hip->telemetry);
}

/* AMD's are 16 characters of text, as in "GPU-" and the serial number. */
static void read_uuid(struct device_info *info, const struct gpu *gpu)
{
    char bytes[17] = "";
    struct err ignored = {0};
    if (!hip_api_of(gpu)->hipDeviceGetUuid ||
        HIP_TRY(gpu, &ignored, hipDeviceGetUuid, (struct hipUUID_t *)bytes, gpu->index))
        return;
    const size_t length = strspn(bytes, "0123456789abcdefABCDEF");
    if (length && !bytes[length])
        snprintf(info->uuid, sizeof(info->uuid), "GPU-%s", bytes);
}

static void read_driver(struct device_info *info, const struct gpu *gpu)
{
    char kernel[32];
    int version = 0;
    struct err ignored = {0};
    read_line(kernel, sizeof(kernel), "/sys/module/amdgpu/version");
    if (hip_api_of(gpu)->hipRuntimeGetVersion && !HIP_TRY(gpu, &ignored, hipRuntimeGetVersion, &version) && version > 0)
        snprintf(info->driver, sizeof(info->driver), "HIP %d.%d.%d", version / 10000000, version / 100000 % 100,
                 version % 100000);
    if (kernel[0]) {
        const size_t length = strlen(info->driver);
        snprintf(info->driver + length, sizeof(info->driver) - length, "%samdgpu %s", length ? ", " : "", kernel);
    }
}

enum status hip_describe(struct device_info *info, struct gpu *gpu, const uint32_t facts[static GPU_FACTS],
                         struct err *err)
{
    char arch[ARCH_BYTES];
    const enum status status = read_arch(arch, gpu, err);
    if (status)
        return status;
    snprintf(info->arch, sizeof(info->arch), "%.*s", (int)strcspn(arch, ":"), arch);
    snprintf(info->target, sizeof(info->target), "%s", info->arch);
    if (strchr(arch, ':'))
        snprintf(info->note, sizeof(info->note), "%s", arch);
    /* Events are read from the constant-rate counter. */
    const uint32_t tick_khz = facts[GPU_WALL_KHZ] ? facts[GPU_WALL_KHZ] : facts[GPU_CLOCK_KHZ];
    info->timer_tick_ns = tick_khz ? 1e6 / tick_khz : 0;
    read_uuid(info, gpu);
    read_pci(info, (struct hip *)gpu);
    read_driver(info, gpu);
    return STATUS_OK;
}
