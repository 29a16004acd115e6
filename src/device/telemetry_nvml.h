/* SPDX-License-Identifier: MIT
 *
 * What NVIDIA's management library (NVML, libnvidia-ml.so.1, part of the driver) knows about a GPU while it runs:
 * clocks, power, temperature, throttling, memory in use and who else has it open. Loaded with dlopen, in our own
 * prototypes; the card is found by PCI address, because NVML's numbering is not CUDA's. Nothing here fails: what is
 * absent, refused or nonsense is unknown. ROOFTILE_NVML_LIBRARY names another library.
 */
#ifndef ROOFTILE_DEVICE_TELEMETRY_NVML_H
#define ROOFTILE_DEVICE_TELEMETRY_NVML_H

#include "rooftile/device.h"

struct nvmlDevice_st;

struct nvml_memory {
    unsigned long long total_bytes, free_bytes, used_bytes;
};
struct nvml_violation {
    unsigned long long reference_us, violation_ns;
};
struct nvml_process {
    unsigned pid;
    unsigned long long memory_bytes; /* all ones: unknown */
    unsigned gpu_instance, compute_instance;
};
struct nvml_pci {
    char legacy_bus_id[16];
    unsigned domain, bus, device;
    unsigned id; /* of the device in the upper half, of the vendor in the lower */
    unsigned subsystem_id;
    char bus_id[32];
};

/* X(symbol, parameters): all may be NULL but nvmlInit_v2 and nvmlDeviceGetHandleByPciBusId_v2. Enumerations are
 * unsigned. */
/* clang-format off */
#define NVML_REQUIRED(X)                                                                                               \
    X(nvmlInit_v2, (void))                                                                                             \
    X(nvmlDeviceGetHandleByPciBusId_v2, (const char *bdf, struct nvmlDevice_st **card))
#define NVML_OPTIONAL(X)                                                                                               \
    X(nvmlShutdown, (void))                                                                                            \
    X(nvmlSystemGetDriverVersion, (char *version, unsigned size))                                                      \
    X(nvmlDeviceGetPciInfo_v3, (struct nvmlDevice_st *card, struct nvml_pci *pci))                                     \
    X(nvmlDeviceGetVbiosVersion, (struct nvmlDevice_st *card, char *version, unsigned size))                           \
    X(nvmlDeviceGetSerial, (struct nvmlDevice_st *card, char *serial, unsigned size))                                  \
    X(nvmlDeviceGetEnforcedPowerLimit, (struct nvmlDevice_st *card, unsigned *limit_mw))                               \
    X(nvmlDeviceGetPowerUsage, (struct nvmlDevice_st *card, unsigned *power_mw))                                       \
    X(nvmlDeviceGetTemperature, (struct nvmlDevice_st *card, unsigned sensor, unsigned *temp_c))                       \
    X(nvmlDeviceGetClockInfo, (struct nvmlDevice_st *card, unsigned which, unsigned *mhz))                             \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, (struct nvmlDevice_st *card, unsigned long long *reasons))            \
    X(nvmlDeviceGetViolationStatus, (struct nvmlDevice_st *card, unsigned policy, struct nvml_violation *status))      \
    X(nvmlDeviceGetMemoryInfo, (struct nvmlDevice_st *card, struct nvml_memory *memory))                               \
    X(nvmlDeviceGetComputeRunningProcesses_v3,                                                                         \
      (struct nvmlDevice_st *card, unsigned *count, struct nvml_process *processes))
/* clang-format on */

#define NVML_MEMBER(name, parameters) unsigned(*name) parameters;
struct nvml_api {
    NVML_REQUIRED(NVML_MEMBER)
    NVML_OPTIONAL(NVML_MEMBER)
};

/* A zeroed one knows nothing. */
struct nvml {
    struct nvml_api api;
    void *library;
    bool started;
    struct nvmlDevice_st *card; /* NULL: not found */
};

/* `pci_bdf` as CUDA writes it, "0000:05:00.0". */
void nvml_open(struct nvml *nvml, const char *pci_bdf);
void nvml_close(struct nvml *nvml);

/* What does not change while a run lasts: release of the driver, firmware, power limit, hashed serial number, and PCI
 * id where `info` lacks it. */
void nvml_describe(struct device_info *info, const struct nvml *nvml);

/* Everything that is known now; the rest of *sense stays as it is. */
void nvml_sense(struct device_sense *sense, const struct nvml *nvml);

#endif
