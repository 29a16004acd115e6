/* SPDX-License-Identifier: MIT */
#include "rooftile/targets.h"

#include <stdlib.h>
#include <string.h>

#include "rooftile/text.h"

const struct target targets[TARGET_COUNT] = {
    {"gfx906", "Radeon VII, Instinct MI50, MI60", 14, NULL},
    {"gfx908", "Instinct MI100", 14, NULL},
    {"gfx90a", "Instinct MI210, MI250, MI250X", 14, NULL},
    {"gfx942", "Instinct MI300A, MI300X, MI325X", 17, NULL},
    {"gfx950", "Instinct MI350X, MI355X", 20, NULL},
    {"gfx1030", "Radeon RX 6800, RX 6900 XT, PRO W6800", 14, NULL},
    {"gfx1100", "Radeon RX 7900 XT, RX 7900 XTX, PRO W7900", 15, NULL},
    {"gfx1101", "Radeon RX 7700 XT, RX 7800 XT, PRO W7700", 15, NULL},
    {"gfx1102", "Radeon RX 7600", 15, NULL},
    {"gfx1151", "Ryzen AI Max (Radeon 8060S)", 17, NULL},
    {"gfx1200", "Radeon RX 9060 XT", 18, NULL},
    {"gfx1201", "Radeon RX 9070, RX 9070 XT, AI PRO R9700", 18, NULL},
    {"gfx1250", "Instinct MI400 series", 22, NULL},
    {"sm_80", "A100, A30", 19, "11.0"},
    {"sm_89", "GeForce RTX 4090, L4, L40, L40S", 19, "11.8"},
    {"sm_90a", "H100, H200, GH200", 19, "12.0"},
    {"sm_100a", "B200, GB200", 20, "12.8"},
    {"sm_120a", "GeForce RTX 5090, RTX PRO 6000 Blackwell", 20, "12.8"},
};

bool target_is_nvidia(const char *arch)
{
    return text_starts(arch, "sm_");
}

/* PTX ISA's "Release Notes": the version that first knows each target; for 89 and 90 that of mma's 8-bit floats. */
unsigned target_ptx(const char *arch)
{
    static const struct {
        unsigned long sm;
        unsigned version;
    } firsts[] = {{80, 70}, {86, 71}, {87, 74}, {89, 84}, {100, 86}, {103, 88}, {120, 87}, {121, 88}};
    const unsigned long sm = target_is_nvidia(arch) ? strtoul(arch + strlen("sm_"), NULL, 10) : 0;
    unsigned version = firsts[0].version;
    for (size_t k = 0; k < sizeof(firsts) / sizeof(*firsts); k++)
        if (firsts[k].sm <= sm)
            version = firsts[k].version;
    return version;
}

const struct target *target_find(const char *arch)
{
    const size_t length = strcspn(arch, ":");
    for (size_t k = 0; k < TARGET_COUNT; k++)
        if (strlen(targets[k].arch) == length && strncmp(targets[k].arch, arch, length) == 0)
            return &targets[k];
    return NULL;
}

/* 9 for gfx90a and gfx9-4-generic, 11 for gfx1151 and gfx11-generic: the last two characters are minor and stepping. */
static unsigned long gfx_major(const char *arch)
{
    if (!text_starts(arch, "gfx"))
        return 0;
    const size_t length = strcspn(arch + 3, "-:");
    char major[8] = "";
    if (length >= sizeof(major))
        return 0;
    memcpy(major, arch + 3, length);
    if (arch[3 + length] != '-' && length > 2)
        major[length - 2] = '\0';
    return strtoul(major, NULL, 10);
}

struct target_modes target_modes(const char *arch)
{
    if (text_starts(arch, "gfx125")) /* CDNA again: 320 KiB of LDS in one compute unit, waves of 32 only */
        return (struct target_modes){.wave32 = true, .wave = 32};
    if (target_is_nvidia(arch))
        return (struct target_modes){.wave32 = true, .wave = 32};
    if (gfx_major(arch) >= 10)
        return (struct target_modes){.wave32 = true, .wave64 = true, .wgp = true, .wave = 32};
    return (struct target_modes){.wave64 = true, .wave = 64};
}

enum status target_check_modes(const char *arch, uint32_t wave, bool cumode, struct err *err)
{
    const struct target_modes modes = target_modes(arch);
    if (wave != 64 && wave != 32)
        return err_set(err, ERR_UNSUPPORTED, "no device has waves of %u lanes", wave);
    if (wave == 64 ? !modes.wave64 : !modes.wave32)
        return err_set(err, ERR_UNSUPPORTED, "%s has waves of %u lanes only", arch, wave == 64 ? 32u : 64u);
    if (cumode && !modes.wgp)
        return err_set(err, ERR_UNSUPPORTED, "%s has no WGP mode: CU mode is not a choice there", arch);
    return STATUS_OK;
}
