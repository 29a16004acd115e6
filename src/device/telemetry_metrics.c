/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "telemetry.h"

/* Offsets of the driver's tables (kgd_pp_interface.h of Linux 6.9 to 6.18 and of ROCm's amdgpu), laid out with natural
 * alignment, in the byte order of the host. Temperatures are degrees, power watts, clocks MHz; a field of all ones
 * holds nothing. Revision 1.6 was withdrawn and came back with another layout: only the size tells them apart.
 * Tables 2.x and 3.x are those of processors with graphics, which say nothing about a discrete card. */
struct layout {
    uint8_t format, content;
    uint16_t size;
    uint16_t hotspot, power;          /* u16 */
    uint16_t core_clock, core_clocks; /* u16, and how many of them: one per XCD */
    uint16_t memory_clock;            /* u16 */
    uint16_t throttle32, throttle64;  /* 0: none */
    uint16_t residency;               /* u32: prochot, power, socket, voltage regulator, HBM; 0: none */
};

static const struct layout layouts[] = {
    {1, 0, 80, 18, 34, 54, 1, 58, 68, 0, 0},      {1, 1, 96, 6, 22, 54, 1, 58, 68, 0, 0},
    {1, 2, 104, 6, 22, 54, 1, 58, 68, 0, 0},      {1, 3, 120, 6, 22, 54, 1, 58, 68, 112, 0},
    {1, 4, 288, 4, 10, 240, 8, 280, 40, 0, 0},    {1, 5, 360, 4, 10, 312, 8, 352, 104, 0, 0},
    {1, 6, 384, 4, 10, 336, 8, 376, 128, 0, 108}, {1, 6, 1664, 4, 10, 264, 8, 304, 0, 0, 36},
    {1, 7, 2208, 4, 10, 296, 8, 336, 0, 0, 44},   {1, 8, 3360, 4, 10, 296, 8, 336, 0, 0, 44},
};

/* An unsigned number of 1, 2, 4 or 8 bytes; NaN when every bit is set. */
static double number_at(const uint8_t *table, size_t at, size_t width)
{
    uint64_t value = 0;
    memcpy(&value, table + at, width); /* little-endian: all hosts of these cards are */
    const bool unset = value == (width < 8 ? (1ull << 8 * width) - 1 : UINT64_MAX);
    return unset ? NAN : (double)value;
}

static void keep(double *out, double value)
{
    if (!isnan(value))
        *out = value;
}

/* The mean of those that are set: XCDs that a card lacks, or that sleep, are not. */
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

static void read_residencies(struct device_sense *sense, const uint8_t *table, size_t at)
{
    double *const to[] = {&sense->violation_prochot, &sense->violation_power, &sense->violation_thermal,
                          &sense->violation_vr, &sense->violation_hbm};
    for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); ++i)
        keep(to[i], number_at(table, at + 4 * i, 4));
}

static void read_layout(struct device_sense *sense, const uint8_t *table, const struct layout *layout)
{
    keep(&sense->temp_c, number_at(table, layout->hotspot, 2));
    keep(&sense->power_w, number_at(table, layout->power, 2));
    keep(&sense->core_hz, mean_clock_hz(table, layout->core_clock, 2, layout->core_clocks));
    keep(&sense->memory_hz, mean_clock_hz(table, layout->memory_clock, 2, 1));
    if (layout->throttle64 && !isnan(number_at(table, layout->throttle64, 8)))
        sense->throttle_bits = bits_at(table, layout->throttle64, 8);
    else if (layout->throttle32)
        sense->throttle_bits = bits_at(table, layout->throttle32, 4);
    if (layout->residency)
        read_residencies(sense, table, layout->residency);
}

/* ---- revision 1.9: the table describes itself ---- */

/* A count of attributes at 4; from 8 on each is a word of 64 bits and its values, without padding. The word: instances
 * in bits 0-9, id in 10-19, type in 20-23 (u8 s8 u16 s16 u32 s32 u64 s64), unit in 24-31. */
enum { ATTRIBUTE_COUNT_AT = 4, ATTRIBUTES_AT = 8, ATTRIBUTE_WORD = 8, ATTRIBUTE_TYPES = 8 };
enum attribute {
    ATTRIBUTE_HOTSPOT = 0,
    ATTRIBUTE_POWER = 3,
    ATTRIBUTE_PROCHOT = 10,
    ATTRIBUTE_PPT = 11,
    ATTRIBUTE_SOCKET = 12,
    ATTRIBUTE_VR = 13,
    ATTRIBUTE_HBM = 14,
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

/* NULL: nobody wants it. */
static double *attribute_target(struct device_sense *sense, unsigned id)
{
    const size_t offset = id < COUNT_OF(attribute_targets) ? attribute_targets[id] : 0;
    return offset ? (double *)((char *)sense + offset) : NULL;
}

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
        double *to = attribute_target(&found, id);
        if (id == ATTRIBUTE_CORE_CLOCK || id == ATTRIBUTE_MEMORY_CLOCK)
            keep(to, mean_clock_hz(table, at, width, count));
        else if (to && count)
            keep(to, number_at(table, at, width));
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
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); ++i) {
        const struct layout *layout = &layouts[i];
        if (layout->format != format || layout->content != content || size != layout->size ||
            bits_at(bytes, 0, 2) != layout->size)
            continue;
        read_layout(sense, bytes, layout);
        return true;
    }
    return false;
}
