/* SPDX-License-Identifier: MIT
 *
 * What the operating system knows about an AMD GPU while it runs: clocks, power, temperature, throttling, memory in use
 * and who else has it open. All of it comes from files of the amdgpu driver below /sys (ROOFTILE_SYSFS names another
 * root), found by PCI address: neither HIP's nor DRM's numbering says which card it is. Nothing here fails: what is
 * absent, unreadable or nonsense is unknown. AMD SMI is not asked: it reads the same files, and its structures change
 * with each release.
 *
 * telemetry.c finds the card, reads its text files and the list of compute processes, telemetry_metrics.c the driver's
 * binary table.
 */
#ifndef ROOFTILE_DEVICE_TELEMETRY_H
#define ROOFTILE_DEVICE_TELEMETRY_H

#include "device_internal.h"

enum { TELEMETRY_PATH = 384, TELEMETRY_MAX_NODES = 8 };

/* Where one GPU's files are. Plain data; a zeroed one knows nothing. */
struct telemetry {
    char root[128];                      /* "/sys" */
    char card[TELEMETRY_PATH];           /* folder of the PCI device; "" = not found */
    char sensors[TELEMETRY_PATH];        /* its hwmon folder; "" = none */
    uint32_t nodes[TELEMETRY_MAX_NODES]; /* ids of its compute nodes: one, or one per partition */
    uint32_t node_count;
};

/* `pci_bdf` as HIP writes it, "0000:05:00.0". In partition modes the function number is the partition's, and only
 * function 0 has files. */
void telemetry_open(struct telemetry *telemetry, const char *pci_bdf);

/* PCI id, "10de:2330"; nothing for a card of another vendor ("10de") than expected. */
void telemetry_pci_id(struct device_info *info, const struct telemetry *telemetry, const char *vendor);

/* What does not change while a run lasts: PCI id, partition mode ("SPX/NPS1"; "" where the card knows none), and uuid
 * and hashed serial number where `info` lacks them. */
void telemetry_describe(struct device_info *info, const struct telemetry *telemetry);

/* Everything that is known now; the rest of *sense stays as it is. Takes about a millisecond, most of it the driver's.
 */
void telemetry_sense(struct device_sense *sense, const struct telemetry *telemetry);

/* Reads a gpu_metrics table of `size` bytes; sets only what it holds. False for a table of unknown revision or wrong
 * size. */
bool telemetry_metrics(struct device_sense *sense, const void *table, size_t size);

#endif
