/* SPDX-License-Identifier: MIT */
#include "telemetry.h"

#include <unistd.h>

enum { SUCCESS = 0 };
enum { SENSOR_GPU = 0 };
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { POLICY_POWER = 0, POLICY_THERMAL = 1 };
enum { MAX_PROCESSES = 64, VENDOR_NVIDIA = 0x10de, MAX_NVLINKS = 18 /* NVML_NVLINK_MAX_LINKS */ };

/* The reasons for a reduced clock that the user did not request: power cap, hardware slowdown, sync boost of a
 * neighbour, software and hardware thermal slowdown, power brake. Excluded: idle, application and display clocks. */
static const unsigned long long throttling = 0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80;

#define SYMBOL(function, need, parameters) {#function, offsetof(struct nvml_calls, function), need},
static const struct library_symbol symbols[] = {NVML_CALLS(SYMBOL){NULL, 0, 0}};
static const struct library_place place = {
    .name = "NVML",
    .variable = "ROOFTILE_NVML_LIBRARY",
    .files = (const char *const[]){"libnvidia-ml.so.1", NULL},
    .symbols = symbols,
};

#define ASK(nvml, function, ...) ((nvml)->api.function && (nvml)->api.function((nvml)->card, __VA_ARGS__) == SUCCESS)

void nvml_open(struct nvml *nvml, const char *pci_bdf)
{
    struct err ignored = {0};
    *nvml = (struct nvml){0};
    nvml->started = !library_open(&nvml->library, &nvml->api, &place, &ignored) && nvml->api.nvmlInit_v2() == SUCCESS;
    if (nvml->started && nvml->api.nvmlDeviceGetHandleByPciBusId_v2(pci_bdf, &nvml->card) != SUCCESS)
        nvml->card = NULL;
}

void nvml_close(struct nvml *nvml)
{
    if (nvml->started && nvml->api.nvmlShutdown)
        nvml->api.nvmlShutdown();
    library_close(&nvml->library);
    *nvml = (struct nvml){0};
}

/* Bytes per second and direction of one link, from NVIDIA's data sheets of P100 (version 1), V100, A100, H100 and
 * B200. */
static double link_rate(unsigned version)
{
    return version == 1 ? 20e9 : version >= 2 && version <= 4 ? 25e9 : version == 5 ? 50e9 : 0;
}

/* Links to the same GPU or switch are counted together. */
static void describe_links(struct device_info *info, const struct nvml *nvml)
{
    for (unsigned k = 0; k < MAX_NVLINKS; k++) {
        unsigned active = 0, version = 0;
        uint32_t at = 0;
        struct nvml_pci pci = {.domain = 0};
        if (!ASK(nvml, nvmlDeviceGetNvLinkState, k, &active) || !active ||
            !ASK(nvml, nvmlDeviceGetNvLinkRemotePciInfo_v2, k, &pci))
            continue;
        char peer[16];
        SET_TEXT(peer, "%04x:%02x:%02x.0", pci.domain & 0xffff, pci.bus & 0xff, pci.device & 0x1f);
        while (at < info->link_count && strcmp(info->links[at].peer, peer) != 0)
            at++;
        if (at == DEVICE_MAX_LINKS)
            continue;
        struct device_link *link = &info->links[at];
        if (at == info->link_count) {
            info->link_count++;
            *link = (struct device_link){.type = "nvlink"};
            memcpy(link->peer, peer, sizeof(peer));
        }
        link->count++;
        if (ASK(nvml, nvmlDeviceGetNvLinkVersion, k, &version))
            link->max_bytes_per_s += link_rate(version);
    }
}

void nvml_describe(struct device_info *info, const struct nvml *nvml)
{
    char text[96];
    unsigned limit_mw;
    struct nvml_pci pci;
    /* Without NVML, the kernel module still reports its release. */
    char release[80] = "";
    if (!nvml->started || !nvml->api.nvmlSystemGetDriverVersion ||
        nvml->api.nvmlSystemGetDriverVersion(release, sizeof(release)) != SUCCESS)
        sysfs_text(release, sizeof(release), "/sys/module/nvidia", "version");
    if (release[0])
        ADD_TEXT(info->driver, "driver %s", release);
    if (!nvml->card)
        return;
    if (!info->pci_id[0] && ASK(nvml, nvmlDeviceGetPciInfo_v3, &pci) && (pci.id & 0xffff) == VENDOR_NVIDIA)
        SET_TEXT(info->pci_id, "%04x:%04x", pci.id & 0xffff, pci.id >> 16);
    if (ASK(nvml, nvmlDeviceGetVbiosVersion, text, sizeof(text)))
        SET_TEXT(info->vbios, "%.47s", text);
    if (ASK(nvml, nvmlDeviceGetSerial, text, sizeof(text)) && text[0])
        hash_sha256(info->serial_hash, text, strlen(text));
    if (ASK(nvml, nvmlDeviceGetEnforcedPowerLimit, &limit_mw))
        info->power_cap_w = limit_mw / 1e3;
    describe_links(info, nvml);
}

static void sense_processes(struct device_sense *sense, const struct nvml *nvml)
{
    struct nvml_process processes[MAX_PROCESSES];
    unsigned count = MAX_PROCESSES, others = 0;
    bool listed = false;
    if (!ASK(nvml, nvmlDeviceGetComputeRunningProcesses_v3, &count, processes))
        return;
    for (unsigned i = 0; i < count && i < MAX_PROCESSES; ++i) {
        const bool own = processes[i].pid == (unsigned)getpid();
        others += !own;
        listed = listed || own;
        if (own && processes[i].memory_bytes != ~0ull)
            sense->vram_own_bytes = (double)processes[i].memory_bytes;
    }
    sense->other_processes = telemetry_other_processes(others, listed);
}

void nvml_sense(struct device_sense *sense, const struct nvml *nvml)
{
    struct nvml_memory memory;
    unsigned value;
    if (!nvml->card)
        return;
    if (ASK(nvml, nvmlDeviceGetPowerUsage, &value))
        sense->power_w = value / 1e3;
    if (ASK(nvml, nvmlDeviceGetTemperature, SENSOR_GPU, &value))
        sense->temp_c = value;
    if (ASK(nvml, nvmlDeviceGetClockInfo, CLOCK_SM, &value))
        sense->core_hz = value * 1e6;
    if (ASK(nvml, nvmlDeviceGetClockInfo, CLOCK_MEMORY, &value))
        sense->memory_hz = value * 1e6;
    if (ASK(nvml, nvmlDeviceGetMemoryInfo, &memory))
        sense->vram_used_bytes = (double)memory.used_bytes;
    struct nvml_violation violation;
    unsigned long long reasons;
    if (ASK(nvml, nvmlDeviceGetCurrentClocksThrottleReasons, &reasons))
        sense->throttle_bits = reasons & throttling;
    if (ASK(nvml, nvmlDeviceGetViolationStatus, POLICY_POWER, &violation))
        sense->violation_power = (double)violation.violation_ns;
    if (ASK(nvml, nvmlDeviceGetViolationStatus, POLICY_THERMAL, &violation))
        sense->violation_thermal = (double)violation.violation_ns;
    sense_processes(sense, nvml);
}
