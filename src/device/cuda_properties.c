/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "telemetry.h"

/* What CUDA promises of events: "a resolution of around 0.5 microseconds". */
static const double promised_tick_ns = 500;

/* From Hopper on, a device has instructions of no other (wgmma, tcgen05), which only code for "sm_90a" may use. */
static void name_arch(struct device_info *info, uint32_t major, uint32_t minor)
{
    snprintf(info->arch, sizeof(info->arch), "sm_%u%u%s", major, minor, major >= 9 ? "a" : "");
    snprintf(info->target, sizeof(info->target), "%s", info->arch);
}

/* As nvidia-smi writes it: "GPU-" or, for a part of a card, "MIG-", and 16 bytes in five groups. */
static void read_uuid(struct device_info *info, const struct gpu *gpu)
{
    uint8_t bytes[16];
    struct err ignored = {0};
    size_t used;
    if (!cuda_api_of(gpu)->cuDeviceGetUuid_v2 ||
        CUDA_TRY(gpu, &ignored, cuDeviceGetUuid_v2, (struct CUuuid_st *)bytes, cuda_handle_of(gpu)))
        return;
    used = (size_t)snprintf(info->uuid, sizeof(info->uuid), "%s", info->partition[0] ? "MIG" : "GPU");
    for (size_t i = 0; i < sizeof(bytes); ++i)
        used += (size_t)snprintf(info->uuid + used, sizeof(info->uuid) - used, "%s%02x",
                                 i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

/* The address by which the operating system knows the card, and what it is. */
static void read_pci(struct device_info *info, const struct gpu *gpu)
{
    struct telemetry telemetry;
    struct err ignored = {0};
    if (!cuda_api_of(gpu)->cuDeviceGetPCIBusId ||
        CUDA_TRY(gpu, &ignored, cuDeviceGetPCIBusId, info->pci_bdf, (int)sizeof(info->pci_bdf), cuda_handle_of(gpu))) {
        info->pci_bdf[0] = '\0';
        return;
    }
    telemetry_open(&telemetry, info->pci_bdf);
    telemetry_pci_id(info, &telemetry, "10de");
}

static void read_version(struct device_info *info, const struct gpu *gpu)
{
    int version = 0;
    struct err ignored = {0};
    if (!CUDA_TRY(gpu, &ignored, cuDriverGetVersion, &version) && version > 0)
        snprintf(info->driver, sizeof(info->driver), "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

/* "NVIDIA H100 80GB HBM3 MIG 1g.10gb" is a seventh of a card. */
static void read_partition(struct device_info *info)
{
    const char *part = strstr(info->name, " MIG ");
    if (part)
        snprintf(info->partition, sizeof(info->partition), "%.31s", part + 1);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The clock behind events steps by 32 ns on some GPUs and by 1024 ns on others, and no attribute tells: what divides
 * the time between all marks, one recorded after the other, is the step. When that cannot be had, what CUDA promises.
 */
static double find_tick_ns(struct gpu *gpu)
{
    struct err ignored = {0};
    uint64_t step_ns = 0;
    for (uint32_t k = 0; k < DEVICE_MAX_MARKS; ++k)
        if (gpu_mark(&gpu->device, k, 0, &ignored))
            return promised_tick_ns;
    if (gpu_wait(&gpu->device, &ignored))
        return promised_tick_ns;
    for (uint32_t k = 1; k < DEVICE_MAX_MARKS; ++k) {
        double time_ns = 0;
        if (gpu_elapsed(&time_ns, &gpu->device, 0, k, &ignored))
            return promised_tick_ns;
        step_ns = common_divisor(step_ns, (uint64_t)llround(fabs(time_ns)));
    }
    return step_ns ? (double)step_ns : promised_tick_ns;
}

enum status cuda_describe(struct device_info *info, struct gpu *gpu, const uint32_t facts[static GPU_FACTS],
                          struct err *err)
{
    struct nvml *nvml = &((struct cuda *)gpu)->nvml;
    (void)err;
    name_arch(info, facts[GPU_CAPABILITY_MAJOR], facts[GPU_CAPABILITY_MINOR]);
    info->counter_hz = 1e9; /* %globaltimer is in nanoseconds, whatever its step */
    info->timer_tick_ns = find_tick_ns(gpu);
    read_partition(info);
    read_uuid(info, gpu);
    read_pci(info, gpu);
    read_version(info, gpu);
    nvml_open(nvml, info->pci_bdf);
    nvml_describe(info, nvml);
    return STATUS_OK;
}
