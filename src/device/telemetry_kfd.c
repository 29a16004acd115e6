/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rooftile/text.h"
#include "telemetry.h"

/* Of a file of lines "name value". */
static bool property(uint64_t *value, const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, name, length) == 0 && line[length] == ' ') {
            *value = strtoull(line + length, NULL, 10);
            return true;
        }
    return false;
}

/* A node's location is bus and device; its function bits tell partitions of one card apart. */
static bool is_node_of(const char *folder, uint64_t domain, uint64_t bus, uint64_t slot)
{
    char properties[4096];
    uint64_t node_domain = 0, location = 0;
    if (!telemetry_text(properties, sizeof(properties), folder, "properties") ||
        !property(&location, properties, "location_id"))
        return false;
    property(&node_domain, properties, "domain");
    return node_domain == domain && location >> 8 == bus && (location >> 3 & 0x1f) == slot;
}

void telemetry_find_nodes(struct telemetry *telemetry, const char *pci_bdf)
{
    char nodes[TELEMETRY_PATH], folder[TELEMETRY_PATH + 32];
    unsigned domain, bus, slot;
    telemetry->node_count = 0;
    if (sscanf(pci_bdf, "%x:%x:%x", &domain, &bus, &slot) != 3)
        return;
    snprintf(nodes, sizeof(nodes), "%s/class/kfd/kfd/topology/nodes", telemetry->root);
    DIR *dir = opendir(nodes);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || telemetry->node_count == TELEMETRY_MAX_NODES)
            continue;
        snprintf(folder, sizeof(folder), "%s/%.16s", nodes, entry->d_name);
        const double id = telemetry_number(folder, "gpu_id");
        if (id > 0 && id <= UINT32_MAX && is_node_of(folder, domain, bus, slot))
            telemetry->nodes[telemetry->node_count++] = (uint32_t)id;
    }
    if (dir)
        closedir(dir);
}

/* Bytes of the card's memory that a process has; NaN when it has not opened it. */
static double memory_of(const char *folder, const struct telemetry *telemetry)
{
    double bytes = NAN;
    for (uint32_t i = 0; i < telemetry->node_count; ++i) {
        char name[32];
        snprintf(name, sizeof(name), "vram_%u", telemetry->nodes[i]);
        const double here = telemetry_number(folder, name);
        if (!isnan(here))
            bytes = here + (isnan(bytes) ? 0 : bytes);
    }
    return bytes;
}

/* The driver lists every process under each card, so only those with memory on it count. It uses the numbers of the
 * host: in a container one of those that are not this process is. */
void telemetry_processes(struct device_sense *sense, const struct telemetry *telemetry)
{
    char processes[TELEMETRY_PATH], folder[TELEMETRY_PATH + 32];
    unsigned others = 0;
    bool listed = false;
    snprintf(processes, sizeof(processes), "%s/class/kfd/kfd/proc", telemetry->root);
    DIR *dir = telemetry->node_count ? opendir(processes) : NULL;
    if (!dir)
        return;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        snprintf(folder, sizeof(folder), "%s/%.16s", processes, entry->d_name);
        const double bytes = memory_of(folder, telemetry);
        if (strtol(entry->d_name, NULL, 10) == (long)getpid()) {
            listed = true;
            sense->vram_own_bytes = bytes;
        } else {
            others += bytes > 0;
        }
    }
    closedir(dir);
    sense->other_processes = others - (!listed && others);
}
