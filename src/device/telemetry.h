/* SPDX-License-Identifier: MIT
 *
 * The state of a GPU while it runs: clocks, power, temperature, throttling, memory in use and other processes that have
 * it open; and facts that do not change during a run. Nothing here fails: values that are absent, denied, unreadable or
 * implausible are unknown. A card is found by its PCI address, because HIP, DRM and NVML number cards differently.
 *
 * AMD (telemetry_amd.c): files of the amdgpu driver below /sys; ROOFTILE_SYSFS names another root. AMD SMI is not used:
 * it reads the same files, and its structures change with each release. NVIDIA (telemetry_nvml.c): the management
 * library NVML, part of the driver, with our own prototypes; ROOFTILE_NVML_LIBRARY names another library.
 */
#ifndef ROOFTILE_DEVICE_TELEMETRY_H
#define ROOFTILE_DEVICE_TELEMETRY_H

#include "library.h"

/* ---- AMD ---- */

enum { TELEMETRY_PATH = 384, TELEMETRY_MAX_NODES = 8 };

/* Where one GPU's files are. Plain data; a zeroed struct reports nothing. */
struct telemetry {
    char root[128];                      /* "/sys" */
    char card[TELEMETRY_PATH];           /* folder of the PCI device; "": not found */
    char sensors[TELEMETRY_PATH];        /* its hwmon folder; "": none */
    char node[8];                        /* number of the first of its compute nodes; "": none */
    uint32_t nodes[TELEMETRY_MAX_NODES]; /* ids of its compute nodes: one, or one per partition */
    uint32_t node_count;
};

/* `pci_bdf` is in HIP's format, "0000:05:00.0". In partition modes, the function number is the partition's, and only
 * function 0 has files. */
void telemetry_open(struct telemetry *telemetry, const char *pci_bdf);
/* Sets the address of the GPU that a node of KFD's topology is, "0000:85:00.0"; "" for a processor. */
void telemetry_node_bdf(char bdf[static 16], const char *folder);

/* Fills what does not change during a run: the PCI id ("10de:2330"; nothing if the card's vendor is not the expected
 * `vendor`, "10de"), the partition mode ("SPX/NPS1"; unchanged if the card has none), and the uuid and hashed serial
 * number if `info` lacks them. For non-AMD cards, only the PCI id is known. */
void telemetry_describe(struct device_info *info, const struct telemetry *telemetry, const char *vendor);

/* Fills the current values that are known and leaves the rest of *sense unchanged. Takes about a millisecond, mostly in
 * the driver. */
void telemetry_sense(struct device_sense *sense, const struct telemetry *telemetry);

/* Reads a gpu_metrics table of `size` bytes; sets only what it holds. False for an unknown revision or a wrong size. */
bool telemetry_metrics(struct device_sense *sense, const void *table, size_t size);

/* Returns how many of the listed `others` have the device open, not counting this process. In a container, the list may
 * hold this process under its host process id, which it does not know; one of them is then this process. */
double telemetry_other_processes(unsigned others, bool is_listed);

/* topology.c: describes the card's links to its host and, for AMD, to other GPUs. */
void topology_describe(struct device_info *info, const struct telemetry *telemetry);

/* ---- NVIDIA ---- */

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
    unsigned id; /* upper half: device, lower half: vendor */
    unsigned subsystem_id;
    char bus_id[32];
};

/* X(symbol, who needs it, parameters). Enumerations are unsigned. */
/* clang-format off */
#define NVML_CALLS(X)                                                                                                  \
    X(nvmlInit_v2, SYMBOL_REQUIRED, (void))                                                                            \
    X(nvmlDeviceGetHandleByPciBusId_v2, SYMBOL_REQUIRED, (const char *bdf, struct nvmlDevice_st **card))               \
    X(nvmlShutdown, SYMBOL_OPTIONAL, (void))                                                                           \
    X(nvmlSystemGetDriverVersion, SYMBOL_OPTIONAL, (char *version, unsigned size))                                     \
    X(nvmlDeviceGetPciInfo_v3, SYMBOL_OPTIONAL, (struct nvmlDevice_st *card, struct nvml_pci *pci))                    \
    X(nvmlDeviceGetVbiosVersion, SYMBOL_OPTIONAL, (struct nvmlDevice_st *card, char *version, unsigned size))          \
    X(nvmlDeviceGetSerial, SYMBOL_OPTIONAL, (struct nvmlDevice_st *card, char *serial, unsigned size))                 \
    X(nvmlDeviceGetEnforcedPowerLimit, SYMBOL_OPTIONAL, (struct nvmlDevice_st *card, unsigned *limit_mw))              \
    X(nvmlDeviceGetPowerUsage, SYMBOL_OPTIONAL, (struct nvmlDevice_st *card, unsigned *power_mw))                      \
    X(nvmlDeviceGetTemperature, SYMBOL_OPTIONAL, (struct nvmlDevice_st *card, unsigned sensor, unsigned *temp_c))      \
    X(nvmlDeviceGetClockInfo, SYMBOL_OPTIONAL, (struct nvmlDevice_st *card, unsigned which, unsigned *mhz))            \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, SYMBOL_OPTIONAL,                                                      \
      (struct nvmlDevice_st *card, unsigned long long *reasons))                                                       \
    X(nvmlDeviceGetViolationStatus, SYMBOL_OPTIONAL,                                                                   \
      (struct nvmlDevice_st *card, unsigned policy, struct nvml_violation *status))                                    \
    X(nvmlDeviceGetMemoryInfo, SYMBOL_OPTIONAL, (struct nvmlDevice_st *card, struct nvml_memory *memory))              \
    X(nvmlDeviceGetComputeRunningProcesses_v3, SYMBOL_OPTIONAL,                                                        \
      (struct nvmlDevice_st *card, unsigned *count, struct nvml_process *processes))                                   \
    X(nvmlDeviceGetNvLinkState, SYMBOL_OPTIONAL, (struct nvmlDevice_st *card, unsigned link, unsigned *active))        \
    X(nvmlDeviceGetNvLinkVersion, SYMBOL_OPTIONAL, (struct nvmlDevice_st *card, unsigned link, unsigned *version))     \
    X(nvmlDeviceGetNvLinkRemotePciInfo_v2, SYMBOL_OPTIONAL,                                                            \
      (struct nvmlDevice_st *card, unsigned link, struct nvml_pci *pci))
/* clang-format on */

#define NVML_MEMBER(name, need, parameters) unsigned(*name) parameters;

/* A zeroed struct reports nothing. */
struct nvml {
    struct nvml_calls {
        NVML_CALLS(NVML_MEMBER)
    } api;
    struct library_file library;
    bool started;
    struct nvmlDevice_st *card; /* NULL: not found */
};

/* `pci_bdf` is in CUDA's format, "0000:05:00.0". */
void nvml_open(struct nvml *nvml, const char *pci_bdf);
void nvml_close(struct nvml *nvml);

/* Fills what does not change during a run: driver release, firmware, power limit, hashed serial number, and the PCI id
 * if `info` lacks it. */
void nvml_describe(struct device_info *info, const struct nvml *nvml);

/* Fills the current values that are known and leaves the rest of *sense unchanged. */
void nvml_sense(struct device_sense *sense, const struct nvml *nvml);

#endif
