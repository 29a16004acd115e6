/* SPDX-License-Identifier: MIT */
#include "telemetry.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rooftile/hash.h"
#include "rooftile/text.h"

enum { TABLE_BYTES = 8192 }; /* more than any revision of gpu_metrics has */

/* ---- files ---- */

/* Bytes read, 0 when the file is missing or empty. */
static size_t read_file(void *to, size_t size, const char *folder, const char *name)
{
    char path[TELEMETRY_PATH + 64];
    size_t length = 0;
    if (!folder[0] || snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return 0;
    for (ssize_t got = 1; got > 0 && length<size; length += got> 0 ? (size_t)got : 0)
        got = read(file, (char *)to + length, size - length);
    close(file);
    return length;
}

bool telemetry_text(char *text, size_t size, const char *folder, const char *name)
{
    size_t length = read_file(text, size - 1, folder, name);
    text[length] = '\0';
    while (length && text[length - 1] == '\n')
        text[--length] = '\0';
    return length;
}

double telemetry_number(const char *folder, const char *name)
{
    char text[64];
    if (!telemetry_text(text, sizeof(text), folder, name))
        return NAN;
    char *end = NULL;
    const double value = strtod(text, &end);
    return end == text || !isfinite(value) ? NAN : value;
}

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
        if (!telemetry_text(id, sizeof(id), telemetry->card, "device"))
            telemetry->card[0] = '\0';
        bdf[length - 1] = '0';
    }
    if (!telemetry->card[0])
        return;
    find_sensors(telemetry);
    telemetry_find_nodes(telemetry, bdf);
}

/* ---- what does not change ---- */

static void describe_partition(struct device_info *info, const struct telemetry *telemetry)
{
    char compute[12], memory[12];
    if (!telemetry_text(compute, sizeof(compute), telemetry->card, "current_compute_partition"))
        return;
    if (telemetry_text(memory, sizeof(memory), telemetry->card, "current_memory_partition"))
        snprintf(info->partition, sizeof(info->partition), "%s/%s", compute, memory);
    else
        snprintf(info->partition, sizeof(info->partition), "%s", compute);
}

/* What people change between two nights: firmware, power cap, how the clocks are governed. */
static void describe_settings(struct device_info *info, const struct telemetry *telemetry)
{
    static const char *const controllers[] = {"smc", "mec"};
    char folder[TELEMETRY_PATH + 16], name[32], version[24];
    telemetry_text(info->vbios, sizeof(info->vbios), telemetry->card, "vbios_version");
    telemetry_text(info->perf_level, sizeof(info->perf_level), telemetry->card, "power_dpm_force_performance_level");
    snprintf(folder, sizeof(folder), "%s/fw_version", telemetry->card);
    for (size_t k = 0; k < sizeof(controllers) / sizeof(*controllers); k++) {
        const size_t used = strlen(info->firmware);
        snprintf(name, sizeof(name), "%s_fw_version", controllers[k]);
        if (telemetry_text(version, sizeof(version), folder, name))
            snprintf(info->firmware + used, sizeof(info->firmware) - used, "%s%s %s", used ? ", " : "", controllers[k],
                     version);
    }
    const double cap_uw = telemetry_number(telemetry->sensors, "power1_cap");
    info->power_cap_w = cap_uw > 0 ? cap_uw / 1e6 : 0;
}

static bool is_hex(const char *text)
{
    return *text && strspn(text, "0123456789abcdefABCDEF") == strlen(text);
}

void telemetry_pci_id(struct device_info *info, const struct telemetry *telemetry, const char *vendor)
{
    char found[16], device[16];
    telemetry_text(found, sizeof(found), telemetry->card, "vendor");
    telemetry_text(device, sizeof(device), telemetry->card, "device");
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
    if (!info->uuid[0] && telemetry_text(text, sizeof(text), telemetry->card, "unique_id") && is_hex(text))
        snprintf(info->uuid, sizeof(info->uuid), "GPU-%.32s", text);
    if (!info->serial_hash[0] && telemetry_text(text, sizeof(text), telemetry->card, "serial_number"))
        hash_sha256(info->serial_hash, text, strlen(text));
}

/* ---- what changes ---- */

/* The marked line of a list of clock levels: "1: 2100Mhz *"; a sleeping clock is "S: 19Mhz *". */
static double marked_clock_hz(const char *folder, const char *name)
{
    char text[1024];
    telemetry_text(text, sizeof(text), folder, name);
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
            if (!telemetry_text(label, sizeof(label), sensors, name) || strcmp(label, wanted[i]) != 0)
                continue;
            snprintf(name, sizeof(name), "temp%d_input", sensor);
            return telemetry_number(sensors, name) / 1e3;
        }
    return NAN;
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
    telemetry_metrics(sense, table, read_file(table, sizeof(table), telemetry->card, "gpu_metrics"));
    fall_back(&sense->core_hz, marked_clock_hz(telemetry->card, "pp_dpm_sclk"));
    fall_back(&sense->memory_hz, marked_clock_hz(telemetry->card, "pp_dpm_mclk"));
    /* Sensors are finer than the table's whole watts and degrees; cards have an average, a momentary power, or both. */
    prefer(&sense->power_w, telemetry_number(telemetry->sensors, "power1_input") / 1e6);
    prefer(&sense->power_w, telemetry_number(telemetry->sensors, "power1_average") / 1e6);
    prefer(&sense->temp_c, temperature_c(telemetry->sensors));
    sense->vram_used_bytes = telemetry_number(telemetry->card, "mem_info_vram_used");
    telemetry_processes(sense, telemetry);
}
