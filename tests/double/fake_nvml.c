/* SPDX-License-Identifier: MIT
 *
 * A libnvidia-ml for tests: one card at FFFF:00:00.0, busy and too hot. FAKE_NVML_PROCESSES=n lists n processes, of
 * which the first is this one unless FAKE_NVML_CONTAINER is set, when all numbers are the host's. FAKE_NVML_REFUSES=1:
 * every question about the card is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/device/telemetry.h"

#define DECLARE(name, need, parameters) unsigned name parameters;
NVML_CALLS(DECLARE)

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

struct nvmlDevice_st {
    int unused;
};
static struct nvmlDevice_st only;

#define MAY_REFUSE()                                                                                                   \
    do {                                                                                                               \
        if (card != &only || getenv("FAKE_NVML_REFUSES"))                                                              \
            return NOT_SUPPORTED;                                                                                      \
    } while (0)

unsigned nvmlInit_v2(void)
{
    return SUCCESS;
}

unsigned nvmlShutdown(void)
{
    return SUCCESS;
}

unsigned nvmlSystemGetDriverVersion(char *version, unsigned size)
{
    snprintf(version, size, "580.159.04");
    return SUCCESS;
}

unsigned nvmlDeviceGetHandleByPciBusId_v2(const char *bdf, struct nvmlDevice_st **card)
{
    if (strcasecmp(bdf, "ffff:00:00.0") != 0)
        return NOT_FOUND;
    *card = &only;
    return SUCCESS;
}

unsigned nvmlDeviceGetPciInfo_v3(struct nvmlDevice_st *card, struct nvml_pci *pci)
{
    MAY_REFUSE();
    *pci = (struct nvml_pci){.id = 0x233510de};
    return SUCCESS;
}

unsigned nvmlDeviceGetVbiosVersion(struct nvmlDevice_st *card, char *version, unsigned size)
{
    MAY_REFUSE();
    snprintf(version, size, "96.00.BC.00.02");
    return SUCCESS;
}

unsigned nvmlDeviceGetSerial(struct nvmlDevice_st *card, char *serial, unsigned size)
{
    MAY_REFUSE();
    snprintf(serial, size, "1650000000000");
    return SUCCESS;
}

#define TELLS(function, type, value, parameters)                                                                       \
    unsigned function parameters                                                                                       \
    {                                                                                                                  \
        MAY_REFUSE();                                                                                                  \
        *out = (type)(value);                                                                                          \
        return SUCCESS;                                                                                                \
    }
TELLS(nvmlDeviceGetEnforcedPowerLimit, unsigned, 700000, (struct nvmlDevice_st * card, unsigned *out))
TELLS(nvmlDeviceGetPowerUsage, unsigned, 512345, (struct nvmlDevice_st * card, unsigned *out))
TELLS(nvmlDeviceGetTemperature, unsigned, sensor == 0 ? 61 : 0,
      (struct nvmlDevice_st * card, unsigned sensor, unsigned *out))
TELLS(nvmlDeviceGetClockInfo, unsigned,
      which == 1   ? 1755
      : which == 2 ? 3201
                   : 1,
      (struct nvmlDevice_st * card, unsigned which, unsigned *out))
/* Idle, application clocks, power cap and software thermal slowdown at once. */
TELLS(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, 0x1 | 0x2 | 0x4 | 0x20,
      (struct nvmlDevice_st * card, unsigned long long *out))

unsigned nvmlDeviceGetViolationStatus(struct nvmlDevice_st *card, unsigned policy, struct nvml_violation *status)
{
    MAY_REFUSE();
    *status = (struct nvml_violation){.reference_us = 1,
                                      .violation_ns = policy == 0   ? 5000000
                                                      : policy == 1 ? 7000
                                                                    : 1};
    return SUCCESS;
}

unsigned nvmlDeviceGetMemoryInfo(struct nvmlDevice_st *card, struct nvml_memory *memory)
{
    MAY_REFUSE();
    *memory = (struct nvml_memory){.total_bytes = 1000, .free_bytes = 100, .used_bytes = 900};
    return SUCCESS;
}

unsigned nvmlDeviceGetComputeRunningProcesses_v3(struct nvmlDevice_st *card, unsigned *count,
                                                 struct nvml_process *processes)
{
    const char *told = getenv("FAKE_NVML_PROCESSES");
    const unsigned there = told ? (unsigned)strtoul(told, NULL, 10) : 1;
    MAY_REFUSE();
    if (there > *count)
        return INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < there; ++i)
        processes[i] = (struct nvml_process){
            .pid = i || getenv("FAKE_NVML_CONTAINER") ? 4000000 + i : (unsigned)getpid(), .memory_bytes = 600};
    *count = there;
    return SUCCESS;
}

/* Three links, of version 4: two to one switch, one to another; and one that is down. */
unsigned nvmlDeviceGetNvLinkState(struct nvmlDevice_st *card, unsigned link, unsigned *active)
{
    MAY_REFUSE();
    *active = link < 3;
    return link > 3 ? NOT_FOUND : SUCCESS;
}

unsigned nvmlDeviceGetNvLinkVersion(struct nvmlDevice_st *card, unsigned link, unsigned *version)
{
    (void)card;
    (void)link;
    *version = 4;
    return 0;
}

unsigned nvmlDeviceGetNvLinkRemotePciInfo_v2(struct nvmlDevice_st *card, unsigned link, struct nvml_pci *pci)
{
    (void)card;
    *pci = (struct nvml_pci){.bus = link == 1 ? 0xc5 : 0xc4};
    return 0;
}
