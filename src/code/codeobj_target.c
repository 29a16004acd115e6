/* SPDX-License-Identifier: MIT
 *
 * Names of targets: "gfx942:sramecc+:xnack-", and which objects a device loads (AMDGPUUsage, "Target ID" and
 * "Generic").
 */
#include <string.h>

#include "codeobj_internal.h"
#include "rooftile/text.h"

bool target_split(const char **target, const char **features, const char *id, struct arena *arena)
{
    const char *name = strstr(id, "-gfx");
    if (!name)
        return false;
    const size_t length = strcspn(++name, ":");
    *target = arena_strndup(arena, name, length);
    *features = name[length] ? arena_strdup(arena, name + length + 1) : "";
    return true;
}

/* EF_AMDGPU_MACH of llvm/BinaryFormat/ELF.h; processors of gfx9 and later. */
static const struct {
    unsigned mach;
    const char *name;
} machs[] = {
    {0x2c, "gfx900"},         {0x2d, "gfx902"},          {0x2e, "gfx904"},          {0x2f, "gfx906"},
    {0x30, "gfx908"},         {0x31, "gfx909"},          {0x32, "gfx90c"},          {0x33, "gfx1010"},
    {0x34, "gfx1011"},        {0x35, "gfx1012"},         {0x36, "gfx1030"},         {0x37, "gfx1031"},
    {0x38, "gfx1032"},        {0x39, "gfx1033"},         {0x3d, "gfx1035"},         {0x3e, "gfx1034"},
    {0x3f, "gfx90a"},         {0x40, "gfx940"},          {0x41, "gfx1100"},         {0x42, "gfx1013"},
    {0x43, "gfx1150"},        {0x44, "gfx1103"},         {0x45, "gfx1036"},         {0x46, "gfx1101"},
    {0x47, "gfx1102"},        {0x48, "gfx1200"},         {0x49, "gfx1250"},         {0x4a, "gfx1151"},
    {0x4b, "gfx941"},         {0x4c, "gfx942"},          {0x4e, "gfx1201"},         {0x4f, "gfx950"},
    {0x51, "gfx9-generic"},   {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"}, {0x54, "gfx11-generic"},
    {0x55, "gfx1152"},        {0x58, "gfx1153"},         {0x59, "gfx12-generic"},   {0x5a, "gfx1251"},
    {0x5f, "gfx9-4-generic"},
};

/* Two bits each from version 4 on: 0 the target has no such feature, 1 any, 2 off, 3 on. */
static const char *feature_text(unsigned bits, const char *off, const char *on)
{
    return bits == 2 ? off : bits == 3 ? on : "";
}

bool target_of_flags(const char **target, const char **features, uint32_t flags, unsigned abi, struct arena *arena)
{
    size_t row = 0;
    while (row < sizeof(machs) / sizeof(*machs) && machs[row].mach != (flags & 0xff))
        row++;
    if (row == sizeof(machs) / sizeof(*machs))
        return false;
    /* Version 3 has one bit each, xnack 0x100 and sramecc 0x200: off and unsupported look the same. */
    const unsigned xnack = abi >= 4 ? flags >> 8 & 3 : flags & 0x100 ? 3 : 0;
    const unsigned sramecc = abi >= 4 ? flags >> 10 & 3 : flags & 0x200 ? 3 : 0;
    const char *first = feature_text(sramecc, "sramecc-", "sramecc+");
    const char *second = feature_text(xnack, "xnack-", "xnack+");
    *target = machs[row].name;
    *features = arena_printf(arena, "%s%s%s", first, *first && *second ? ":" : "", second);
    return true;
}

/* ---- what a device loads ---- */

/* Code for a generic target runs on these processors. */
static const struct {
    const char *generic, *members;
} generics[] = {
    {"gfx9-generic", "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"},
    {"gfx9-4-generic", "gfx940 gfx941 gfx942 gfx950"},
    {"gfx10-1-generic", "gfx1010 gfx1011 gfx1012 gfx1013"},
    {"gfx10-3-generic", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"},
    {"gfx11-generic", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153"},
    {"gfx12-generic", "gfx1200 gfx1201"},
};

/* Is `word` (of this length) one of the words of a list with this separator? */
static bool has_word(const char *list, char separator, const char *word, size_t length)
{
    const char *at = list;
    for (;;) {
        const char *end = strchr(at, separator);
        const size_t size = end ? (size_t)(end - at) : strlen(at);
        if (size == length && strncmp(at, word, length) == 0)
            return true;
        if (!end)
            return false;
        at = end + 1;
    }
}

static bool same_processor(const char *object, const char *device, size_t length)
{
    if (strlen(object) == length && strncmp(object, device, length) == 0)
        return true;
    for (size_t k = 0; k < sizeof(generics) / sizeof(*generics); k++)
        if (strcmp(object, generics[k].generic) == 0)
            return has_word(generics[k].members, ' ', device, length);
    return false;
}

/* How many features the object fixes, or -1 when the device has one of them set the other way. */
static int features_fit(const char *wanted, const char *device)
{
    int fixed = 0;
    for (const char *at = wanted; *at;) {
        const size_t length = strcspn(at, ":");
        char opposite[32];
        if (length > 1 && length < sizeof(opposite)) {
            memcpy(opposite, at, length);
            opposite[length - 1] = at[length - 1] == '+' ? '-' : '+';
            if (has_word(device, ':', opposite, length))
                return -1;
            fixed++;
        }
        at += length + (at[length] == ':');
    }
    return fixed;
}

/* -1: does not run there; else the better the higher: an exact processor before a generic one, more fixed features
 * first. */
static int fitness(const struct codeobj *object, const char *target)
{
    const size_t length = strcspn(target, ":");
    if (!same_processor(object->target, target, length))
        return -1;
    const int fixed = features_fit(object->features, target + length + (target[length] == ':'));
    const bool exact = strlen(object->target) == length;
    return fixed < 0 ? -1 : fixed + (exact ? 100 : 0);
}

const struct codeobj *codeobj_for_target(const struct codeobj_file *file, const char *target)
{
    const struct codeobj *best = NULL;
    int most = -1;
    for (size_t k = 0; k < file->count; k++) {
        const int fit = fitness(&file->objects[k], target);
        if (fit > most) {
            best = &file->objects[k];
            most = fit;
        }
    }
    return best;
}

const struct codeobj_kernel *codeobj_find_kernel(const struct codeobj **object, const struct codeobj_file *file,
                                                 const char *target, const char *name)
{
    const struct codeobj_kernel *best = NULL;
    int most = -1;
    for (size_t k = 0; k < file->count; k++) {
        const int fit = target ? fitness(&file->objects[k], target) : 0;
        const struct codeobj_kernel *kernel = fit > most ? codeobj_kernel(&file->objects[k], name) : NULL;
        if (!kernel)
            continue;
        best = kernel;
        most = fit;
        if (object)
            *object = &file->objects[k];
    }
    return best;
}

char *codeobj_targets(const struct codeobj_file *file, struct arena *arena)
{
    struct text all = {0};
    for (size_t k = 0; k < file->count; k++) {
        const struct codeobj *object = &file->objects[k];
        const char *name =
            *object->features ? arena_printf(arena, "%s:%s", object->target, object->features) : object->target;
        if (!all.length || !has_word(all.data, ' ', name, strlen(name)))
            text_addf(&all, "%s%s", all.length ? " " : "", name);
    }
    char *copy = arena_strdup(arena, all.data ? all.data : "");
    text_release(&all);
    return copy;
}
