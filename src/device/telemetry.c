/* SPDX-License-Identifier: MIT */
#include "telemetry.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rooftile/hash.h"

enum { TABLE_BYTES = 8192 }; /* more than any revision of gpu_metrics has */

/* ---- finding the card ---- */

static void find_sensors(struct telemetry *telemetry)
{
    char folder[TELEMETRY_PATH + 16];
    snprintf(folder, sizeof(folder), "%s/hwmon", telemetry->card);
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (text_starts(entry->d_name, "hwmon"))
            snprintf(telemetry->sensors, sizeof(telemetry->sensors), "%.340s/hwmon/%.32s", telemetry->card,
                     entry->d_name);
    if (dir)
        closedir(dir);
}

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
    if (!sysfs_text(properties, sizeof(properties), folder, "properties") ||
        !property(&location, properties, "location_id"))
        return false;
    property(&node_domain, properties, "domain");
    return node_domain == domain && location >> 8 == bus && (location >> 3 & 0x1f) == slot;
}

static void find_nodes(struct telemetry *telemetry, const char *pci_bdf)
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
        const double id = sysfs_number(folder, "gpu_id");
        if (id > 0 && id <= UINT32_MAX && is_node_of(folder, domain, bus, slot))
            telemetry->nodes[telemetry->node_count++] = (uint32_t)id;
    }
    if (dir)
        closedir(dir);
}

void telemetry_open(struct telemetry *telemetry, const char *pci_bdf)
{
    const char *root = getenv("ROOFTILE_SYSFS");
    char bdf[32];
    *telemetry = (struct telemetry){0};
    snprintf(telemetry->root, sizeof(telemetry->root), "%s", root && *root ? root : "/sys");
    const size_t length = strlen(pci_bdf);
    if (length < strlen("0:0.0") || length >= sizeof(bdf) || strspn(pci_bdf, "0123456789abcdefABCDEF:.") != length)
        return;
    for (size_t i = 0; i <= length; ++i) /* the kernel writes small letters */
        bdf[i] = (char)(pci_bdf[i] >= 'A' && pci_bdf[i] <= 'F' ? pci_bdf[i] - 'A' + 'a' : pci_bdf[i]);
    for (int attempt = 0; attempt < 2 && !telemetry->card[0]; ++attempt) {
        char id[16];
        snprintf(telemetry->card, sizeof(telemetry->card), "%s/bus/pci/devices/%s", telemetry->root, bdf);
        if (!sysfs_text(id, sizeof(id), telemetry->card, "device"))
            telemetry->card[0] = '\0';
        bdf[length - 1] = '0';
    }
    if (!telemetry->card[0])
        return;
    find_sensors(telemetry);
    find_nodes(telemetry, bdf);
}

/* ---- what does not change ---- */

static void describe_partition(struct device_info *info, const struct telemetry *telemetry)
{
    char compute[12], memory[12];
    if (!sysfs_text(compute, sizeof(compute), telemetry->card, "current_compute_partition"))
        return;
    if (sysfs_text(memory, sizeof(memory), telemetry->card, "current_memory_partition"))
        snprintf(info->partition, sizeof(info->partition), "%s/%s", compute, memory);
    else
        snprintf(info->partition, sizeof(info->partition), "%s", compute);
}

/* What people change between two runs: firmware, power cap, how the clocks are governed. */
static void describe_settings(struct device_info *info, const struct telemetry *telemetry)
{
    static const char *const controllers[] = {"smc", "mec"};
    char folder[TELEMETRY_PATH + 16], name[32], version[24];
    sysfs_text(info->vbios, sizeof(info->vbios), telemetry->card, "vbios_version");
    sysfs_text(info->perf_level, sizeof(info->perf_level), telemetry->card, "power_dpm_force_performance_level");
    snprintf(folder, sizeof(folder), "%s/fw_version", telemetry->card);
    for (size_t k = 0; k < sizeof(controllers) / sizeof(*controllers); k++) {
        const size_t used = strlen(info->firmware);
        snprintf(name, sizeof(name), "%s_fw_version", controllers[k]);
        if (sysfs_text(version, sizeof(version), folder, name))
            snprintf(info->firmware + used, sizeof(info->firmware) - used, "%s%s %s", used ? ", " : "", controllers[k],
                     version);
    }
    const double cap_uw = sysfs_number(telemetry->sensors, "power1_cap");
    info->power_cap_w = cap_uw > 0 ? cap_uw / 1e6 : 0;
}

static bool is_hex(const char *text)
{
    return *text && strspn(text, "0123456789abcdefABCDEF") == strlen(text);
}

void telemetry_pci_id(struct device_info *info, const struct telemetry *telemetry, const char *vendor)
{
    char found[16], device[16];
    sysfs_text(found, sizeof(found), telemetry->card, "vendor");
    sysfs_text(device, sizeof(device), telemetry->card, "device");
    if (strncmp(found, "0x", 2) == 0 && strcmp(found + 2, vendor) == 0 && text_starts(device, "0x") &&
        strlen(device) == 6 && is_hex(device + 2))
        snprintf(info->pci_id, sizeof(info->pci_id), "%.4s:%.4s", vendor, device + strlen("0x"));
}

void telemetry_describe(struct device_info *info, const struct telemetry *telemetry)
{
    char text[64];
    telemetry_pci_id(info, telemetry, "1002");
    describe_partition(info, telemetry);
    describe_settings(info, telemetry);
    if (!info->uuid[0] && sysfs_text(text, sizeof(text), telemetry->card, "unique_id") && is_hex(text))
        snprintf(info->uuid, sizeof(info->uuid), "GPU-%.32s", text);
    if (!info->serial_hash[0] && sysfs_text(text, sizeof(text), telemetry->card, "serial_number"))
        hash_sha256(info->serial_hash, text, strlen(text));
}

/* ---- what changes ---- */

/* The marked line of a list of clock levels: "1: 2100Mhz *"; a sleeping clock is "S: 19Mhz *". */
static double marked_clock_hz(const char *folder, const char *name)
{
    char text[1024];
    sysfs_text(text, sizeof(text), folder, name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t length = strcspn(line, "\n");
        const char *colon = memchr(line, ':', length);
        if (!colon || !memchr(line, '*', length))
            continue;
        char *end = NULL;
        const double mhz = strtod(colon + 1, &end);
        if (mhz > 0 && isfinite(mhz) && strncasecmp(end, "mhz", 3) == 0)
            return mhz * 1e6;
    }
    return NAN;
}

/* The hottest place where the card tells it, else its edge. */
static double temperature_c(const char *sensors)
{
    static const char *const wanted[] = {"junction", "edge"};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i)
        for (int sensor = 1; sensor <= 3; ++sensor) {
            char name[24], label[24];
            snprintf(name, sizeof(name), "temp%d_label", sensor);
            if (!sysfs_text(label, sizeof(label), sensors, name) || strcmp(label, wanted[i]) != 0)
                continue;
            snprintf(name, sizeof(name), "temp%d_input", sensor);
            return sysfs_number(sensors, name) / 1e3;
        }
    return NAN;
}

/* Bytes of the card's memory that a process has; NaN when it has not opened it. */
static double memory_of(const char *folder, const struct telemetry *telemetry)
{
    double bytes = NAN;
    for (uint32_t i = 0; i < telemetry->node_count; ++i) {
        char name[32];
        snprintf(name, sizeof(name), "vram_%u", telemetry->nodes[i]);
        const double here = sysfs_number(folder, name);
        if (!isnan(here))
            bytes = here + (isnan(bytes) ? 0 : bytes);
    }
    return bytes;
}

/* The driver lists every process under each card, so only those with memory on it count. It uses the numbers of the
 * host: in a container one of those that are not this process is. */
static void sense_processes(struct device_sense *sense, const struct telemetry *telemetry)
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

static void prefer(double *out, double value)
{
    if (!isnan(value))
        *out = value;
}

static void fall_back(double *out, double value)
{
    if (isnan(*out))
        *out = value;
}

void telemetry_sense(struct device_sense *sense, const struct telemetry *telemetry)
{
    uint8_t table[TABLE_BYTES];
    if (!telemetry->card[0])
        return;
    telemetry_metrics(sense, table, sysfs_read(table, sizeof(table), telemetry->card, "gpu_metrics"));
    fall_back(&sense->core_hz, marked_clock_hz(telemetry->card, "pp_dpm_sclk"));
    fall_back(&sense->memory_hz, marked_clock_hz(telemetry->card, "pp_dpm_mclk"));
    /* Sensors are finer than the table's whole watts and degrees; cards have an average, a momentary power, or both. */
    prefer(&sense->power_w, sysfs_number(telemetry->sensors, "power1_input") / 1e6);
    prefer(&sense->power_w, sysfs_number(telemetry->sensors, "power1_average") / 1e6);
    prefer(&sense->temp_c, temperature_c(telemetry->sensors));
    sense->vram_used_bytes = sysfs_number(telemetry->card, "mem_info_vram_used");
    sense_processes(sense, telemetry);
}
