/* SPDX-License-Identifier: MIT */
#include "telemetry.h"

#include <unistd.h>

/* ---- the driver's binary table ---- */

/* Offsets in the driver's tables (kgd_pp_interface.h of Linux 6.9 to 6.18 and of ROCm's amdgpu), which have natural
 * alignment and the host's byte order. Temperatures are in degrees, power in watts, clocks in MHz; a field of all ones
 * is empty. Revision 1.6 was withdrawn and came back with another layout: only the size tells them apart. Tables 2.x
 * and 3.x describe processors with graphics and say nothing about a discrete card. */
struct layout {
    uint8_t format, content;
    uint16_t size;
    uint16_t hotspot, power;          /* u16 */
    uint16_t core_clock, core_clocks; /* u16, and their number: one per XCD */
    uint16_t memory_clock;            /* u16 */
    uint16_t throttle32, throttle64;  /* 0: none */
    uint16_t residency;               /* u32 each: ATTRIBUTE_PROCHOT to _HBM; 0: none */
};

static const struct layout layouts[] = {
    {1, 0, 80, 18, 34, 54, 1, 58, 68, 0, 0},      {1, 1, 96, 6, 22, 54, 1, 58, 68, 0, 0},
    {1, 2, 104, 6, 22, 54, 1, 58, 68, 0, 0},      {1, 3, 120, 6, 22, 54, 1, 58, 68, 112, 0},
    {1, 4, 288, 4, 10, 240, 8, 280, 40, 0, 0},    {1, 5, 360, 4, 10, 312, 8, 352, 104, 0, 0},
    {1, 6, 384, 4, 10, 336, 8, 376, 128, 0, 108}, {1, 6, 1664, 4, 10, 264, 8, 304, 0, 0, 36},
    {1, 7, 2208, 4, 10, 296, 8, 336, 0, 0, 44},   {1, 8, 3360, 4, 10, 296, 8, 336, 0, 0, 44},
};

/* Returns an unsigned number of 1, 2, 4 or 8 bytes; NaN if every bit is set. */
static double number_at(const uint8_t *table, size_t at, size_t width)
{
    uint64_t value = 0;
    memcpy(&value, table + at, width); /* little-endian, like all hosts of these cards */
    const bool unset = value == (width < 8 ? (1ull << 8 * width) - 1 : UINT64_MAX);
    return unset ? NAN : (double)value;
}

static void keep(double *out, double value)
{
    if (!isnan(value))
        *out = value;
}

/* Averages the values that are set; those of missing or sleeping XCDs are not. */
static double mean_clock_hz(const uint8_t *table, size_t at, size_t width, size_t count)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; ++i) {
        const double mhz = number_at(table, at + i * width, width);
        if (mhz > 0) {
            sum += mhz;
            ++known;
        }
    }
    return known ? 1e6 * sum / (double)known : NAN;
}

static uint64_t bits_at(const uint8_t *table, size_t at, size_t width)
{
    const double bits = number_at(table, at, width);
    uint64_t value = 0;
    memcpy(&value, table + at, width);
    return isnan(bits) ? 0 : value;
}

/* Ids of revision 1.9, also used for the fields of older tables. */
enum attribute {
    ATTRIBUTE_HOTSPOT = 0,
    ATTRIBUTE_POWER = 3,
    ATTRIBUTE_PROCHOT = 10, /* residencies: prochot, */
    ATTRIBUTE_PPT,          /* ... power, */
    ATTRIBUTE_SOCKET,       /* ... socket, */
    ATTRIBUTE_VR,           /* ... voltage regulator, */
    ATTRIBUTE_HBM,          /* ... HBM */
    ATTRIBUTE_CORE_CLOCK = 33,
    ATTRIBUTE_MEMORY_CLOCK = 37
};

static const size_t attribute_targets[] = {
    [ATTRIBUTE_HOTSPOT] = offsetof(struct device_sense, temp_c),
    [ATTRIBUTE_POWER] = offsetof(struct device_sense, power_w),
    [ATTRIBUTE_PROCHOT] = offsetof(struct device_sense, violation_prochot),
    [ATTRIBUTE_PPT] = offsetof(struct device_sense, violation_power),
    [ATTRIBUTE_SOCKET] = offsetof(struct device_sense, violation_thermal),
    [ATTRIBUTE_VR] = offsetof(struct device_sense, violation_vr),
    [ATTRIBUTE_HBM] = offsetof(struct device_sense, violation_hbm),
    [ATTRIBUTE_CORE_CLOCK] = offsetof(struct device_sense, core_hz),
    [ATTRIBUTE_MEMORY_CLOCK] = offsetof(struct device_sense, memory_hz),
};
_Static_assert(offsetof(struct device_sense, stream_bps) == 0, "no attribute has offset 0");

/* Ignores attributes that are not used. */
static void read_attribute(struct device_sense *sense, unsigned id, const uint8_t *table, size_t at, size_t width,
                           size_t count)
{
    const size_t target = id < COUNT_OF(attribute_targets) ? attribute_targets[id] : 0;
    double *to = (double *)((char *)sense + target);
    if (target && (id == ATTRIBUTE_CORE_CLOCK || id == ATTRIBUTE_MEMORY_CLOCK))
        keep(to, mean_clock_hz(table, at, width, count));
    else if (target && count)
        keep(to, number_at(table, at, width));
}

/* ---- revision 1.9: the table describes itself ---- */

/* Layout: the number of attributes at 4; from 8 on, each attribute is a 64-bit word and its values, without padding.
 * The word: instances in bits 0-9, id in 10-19, type in 20-23 (u8 s8 u16 s16 u32 s32 u64 s64), unit in 24-31. */
enum { ATTRIBUTE_COUNT_AT = 4, ATTRIBUTES_AT = 8, ATTRIBUTE_WORD = 8, ATTRIBUTE_TYPES = 8 };

static bool read_attributes(struct device_sense *sense, const uint8_t *table, size_t size)
{
    size_t at = ATTRIBUTES_AT;
    if (size < ATTRIBUTES_AT)
        return false;
    struct device_sense found = *sense;
    for (uint64_t left = bits_at(table, ATTRIBUTE_COUNT_AT, 4); left; --left) {
        if (size - at < ATTRIBUTE_WORD)
            return false;
        const uint64_t word = bits_at(table, at, ATTRIBUTE_WORD);
        const size_t count = word & 0x3ff, type = word >> 20 & 0xf;
        const unsigned id = (unsigned)(word >> 10 & 0x3ff);
        const size_t width = (size_t)1 << type / 2;
        at += ATTRIBUTE_WORD;
        if (type >= ATTRIBUTE_TYPES || size - at < count * width)
            return false;
        read_attribute(&found, id, table, at, width, count);
        at += count * width;
    }
    *sense = found;
    return true;
}

bool telemetry_metrics(struct device_sense *sense, const void *table, size_t size)
{
    const uint8_t *bytes = table;
    if (size < 4)
        return false;
    const uint8_t format = bytes[2], content = bytes[3];
    if (format == 1 && content == 9)
        return read_attributes(sense, bytes, size);
    for (size_t i = 0; i < COUNT_OF(layouts); ++i) {
        const struct layout *layout = &layouts[i];
        if (layout->format != format || layout->content != content || size != layout->size ||
            bits_at(bytes, 0, 2) != layout->size)
            continue;
        read_attribute(sense, ATTRIBUTE_HOTSPOT, bytes, layout->hotspot, 2, 1);
        read_attribute(sense, ATTRIBUTE_POWER, bytes, layout->power, 2, 1);
        read_attribute(sense, ATTRIBUTE_CORE_CLOCK, bytes, layout->core_clock, 2, layout->core_clocks);
        read_attribute(sense, ATTRIBUTE_MEMORY_CLOCK, bytes, layout->memory_clock, 2, 1);
        if (layout->throttle64 && !isnan(number_at(bytes, layout->throttle64, 8)))
            sense->throttle_bits = bits_at(bytes, layout->throttle64, 8);
        else if (layout->throttle32 && !isnan(number_at(bytes, layout->throttle32, 4)))
            sense->throttle_bits = bits_at(bytes, layout->throttle32, 4);
        for (unsigned id = ATTRIBUTE_PROCHOT; layout->residency && id <= ATTRIBUTE_HBM; ++id)
            read_attribute(sense, id, bytes, layout->residency + 4 * (id - ATTRIBUTE_PROCHOT), 4, 1);
        return true;
    }
    return false;
}

enum { TABLE_BYTES = 8192 }; /* larger than any revision of gpu_metrics */

/* ---- finding the card ---- */

bool sysfs_property(uint64_t *value, const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, name, length) == 0 && line[length] == ' ') {
            *value = strtoull(line + length, NULL, 10);
            return true;
        }
    return false;
}

void telemetry_node_bdf(char bdf[static 16], const char *folder)
{
    char properties[4096];
    uint64_t domain = 0, location = 0;
    bdf[0] = '\0';
    if (!(sysfs_number(folder, "gpu_id") > 0) || !sysfs_text(properties, sizeof(properties), folder, "properties") ||
        !sysfs_property(&location, properties, "location_id"))
        return;
    sysfs_property(&domain, properties, "domain");
    snprintf(bdf, 16, "%04x:%02x:%02x.%x", (unsigned)domain, (unsigned)(location >> 8) & 0xff,
             (unsigned)(location >> 3) & 0x1f, (unsigned)location & 7);
}

/* The function bits distinguish partitions of one card. */
static void find_nodes(struct telemetry *telemetry, const char *pci_bdf)
{
    char bdf[16];
    glob_t found;
    sysfs_find(&found, telemetry->root, "class/kfd/kfd/topology/nodes/[0-9]*");
    for (size_t i = 0; i < found.gl_pathc && telemetry->node_count < TELEMETRY_MAX_NODES; ++i) {
        telemetry_node_bdf(bdf, found.gl_pathv[i]);
        if (strncmp(bdf, pci_bdf, strlen(pci_bdf) - 1) != 0)
            continue;
        if (!telemetry->node_count)
            SET_TEXT(telemetry->node, "%s", strrchr(found.gl_pathv[i], '/') + 1);
        telemetry->nodes[telemetry->node_count++] = (uint32_t)sysfs_number(found.gl_pathv[i], "gpu_id");
    }
    globfree(&found);
}

void telemetry_open(struct telemetry *telemetry, const char *pci_bdf)
{
    const char *root = getenv("ROOFTILE_SYSFS");
    char bdf[32];
    *telemetry = (struct telemetry){0};
    SET_TEXT(telemetry->root, "%s", root && *root ? root : "/sys");
    const size_t length = strlen(pci_bdf);
    if (length < strlen("0:0.0") || length >= sizeof(bdf) || strspn(pci_bdf, "0123456789abcdefABCDEF:.") != length)
        return;
    for (size_t i = 0; i <= length; ++i) /* the kernel writes lower case */
        bdf[i] = (char)(pci_bdf[i] >= 'A' && pci_bdf[i] <= 'F' ? pci_bdf[i] - 'A' + 'a' : pci_bdf[i]);
    for (int attempt = 0; attempt < 2 && !telemetry->card[0]; ++attempt) {
        char id[16];
        SET_TEXT(telemetry->card, "%s/bus/pci/devices/%s", telemetry->root, bdf);
        if (!sysfs_text(id, sizeof(id), telemetry->card, "device"))
            telemetry->card[0] = '\0';
        bdf[length - 1] = '0';
    }
    if (!telemetry->card[0])
        return;
    glob_t found;
    if (sysfs_find(&found, telemetry->card, "hwmon/hwmon*"))
        SET_TEXT(telemetry->sensors, "%s", found.gl_pathv[0]);
    globfree(&found);
    find_nodes(telemetry, bdf);
}

/* ---- values that do not change ---- */

/* Returns a quantity that cannot be negative; NaN if there is none. */
static double amount(const char *folder, const char *name)
{
    const double value = sysfs_number(folder, name);
    return value >= 0 ? value : NAN;
}

static bool is_hex(const char *text)
{
    return *text && !text[strspn(text, "0123456789abcdefABCDEF")];
}

void telemetry_describe(struct device_info *info, const struct telemetry *telemetry, const char *vendor)
{
    char text[64], found[16], device[16], memory[12];
    sysfs_text(found, sizeof(found), telemetry->card, "vendor");
    sysfs_text(device, sizeof(device), telemetry->card, "device");
    if (strncmp(found, "0x", 2) == 0 && strcmp(found + 2, vendor) == 0 && text_starts(device, "0x") &&
        strlen(device) == 6 && is_hex(device + 2))
        SET_TEXT(info->pci_id, "%.4s:%.4s", vendor, device + strlen("0x"));
    if (sysfs_text(text, sizeof(memory), telemetry->card, "current_compute_partition")) {
        SET_TEXT(info->partition, "%s", text);
        if (sysfs_text(memory, sizeof(memory), telemetry->card, "current_memory_partition"))
            SET_TEXT(info->partition, "%s/%s", text, memory);
    }
    /* Settings that people change between runs: firmware, power cap, clock governor. */
    static const char *const controllers[] = {"smc", "mec"};
    char folder[TELEMETRY_PATH + 16], name[32], version[48];
    if (sysfs_text(version, sizeof(version), telemetry->card, "vbios_version"))
        SET_TEXT(info->vbios, "%s", version);
    sysfs_text(info->perf_level, sizeof(info->perf_level), telemetry->card, "power_dpm_force_performance_level");
    snprintf(folder, sizeof(folder), "%s/fw_version", telemetry->card);
    for (size_t k = 0; k < COUNT_OF(controllers); k++) {
        SET_TEXT(name, "%s_fw_version", controllers[k]);
        if (sysfs_text(version, sizeof(version), folder, name))
            ADD_TEXT(info->firmware, "%s %s", controllers[k], version);
    }
    const double cap_uw = amount(telemetry->sensors, "power1_cap");
    if (cap_uw > 0) /* otherwise the value from the vendor's library stays */
        info->power_cap_w = cap_uw / 1e6;
    if (!info->uuid[0] && sysfs_text(text, sizeof(text), telemetry->card, "unique_id") && is_hex(text))
        SET_TEXT(info->uuid, "GPU-%.32s", text);
    if (!info->serial_hash[0] && sysfs_text(text, sizeof(text), telemetry->card, "serial_number"))
        hash_sha256(info->serial_hash, text, strlen(text));
}

/* ---- values that change ---- */

/* Reads the marked line of a list of clock levels: "1: 2100Mhz *"; a sleeping clock is "S: 19Mhz *". */
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
        if (mhz > 0 && isfinite(mhz * 1e6) && strncasecmp(end, "mhz", 3) == 0)
            return mhz * 1e6;
    }
    return NAN;
}

/* Returns the temperature of the hottest spot if the card reports it, otherwise of its edge. */
static double temperature_c(const char *sensors)
{
    static const char *const wanted[] = {"junction", "edge"};
    for (size_t i = 0; i < COUNT_OF(wanted); ++i)
        for (int sensor = 1; sensor <= 3; ++sensor) {
            char name[24], label[24];
            SET_TEXT(name, "temp%d_label", sensor);
            if (!sysfs_text(label, sizeof(label), sensors, name) || strcmp(label, wanted[i]) != 0)
                continue;
            SET_TEXT(name, "temp%d_input", sensor);
            return sysfs_number(sensors, name) / 1e3;
        }
    return NAN;
}

/* Returns the bytes of the card's memory that a process uses; NaN if it has not opened the card. */
static double memory_of(const char *folder, const struct telemetry *telemetry)
{
    double bytes = NAN;
    for (uint32_t i = 0; i < telemetry->node_count; ++i) {
        char name[32];
        SET_TEXT(name, "vram_%u", telemetry->nodes[i]);
        const double here = amount(folder, name);
        if (!isnan(here))
            bytes = here + (isnan(bytes) ? 0 : bytes);
    }
    return bytes;
}

double telemetry_other_processes(unsigned others, bool is_listed)
{
    return others - (!is_listed && others);
}

/* The driver lists every process under each card, so only processes with memory on this card count. */
static void sense_processes(struct device_sense *sense, const struct telemetry *telemetry)
{
    glob_t found = {0};
    unsigned others = 0;
    bool is_listed = false;
    if (!telemetry->node_count || !sysfs_find(&found, telemetry->root, "class/kfd/kfd/proc"))
        return;
    globfree(&found);
    sysfs_find(&found, telemetry->root, "class/kfd/kfd/proc/[0-9]*");
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        const char *folder = found.gl_pathv[i];
        const double bytes = memory_of(folder, telemetry);
        if (strtol(strrchr(folder, '/') + 1, NULL, 10) == (long)getpid()) {
            is_listed = true;
            sense->vram_own_bytes = bytes;
        } else {
            others += bytes > 0;
        }
    }
    globfree(&found);
    sense->other_processes = telemetry_other_processes(others, is_listed);
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
    keep(&sense->power_w, amount(telemetry->sensors, "power1_input") / 1e6);
    keep(&sense->power_w, amount(telemetry->sensors, "power1_average") / 1e6);
    keep(&sense->temp_c, temperature_c(telemetry->sensors));
    sense->vram_used_bytes = amount(telemetry->card, "mem_info_vram_used");
    sense_processes(sense, telemetry);
}
