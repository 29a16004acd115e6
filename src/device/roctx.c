/* SPDX-License-Identifier: MIT */
#include "roctx.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {ROCTX_NEW, ROCTX_OLD};
static const char *const suffixes[] = {"", ".1", ".4"};
static const char *const folders[] = {"", "/opt/rocm/lib/"};

static bool use(struct gpu_ranges *ranges, const char *path)
{
    return gpu_use_ranges(ranges, path, "roctxRangePushA", "roctxRangePop");
}

static bool use_below(struct gpu_ranges *ranges, const char *folder, const char *name)
{
    char path[512];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); ++i)
        if (snprintf(path, sizeof(path), "%s%s%s", folder, name, suffixes[i]) < (int)sizeof(path) && use(ranges, path))
            return true;
    return false;
}

void roctx_find(struct gpu_ranges *ranges)
{
    const char *named = getenv("ROOFTILE_ROCTX_LIBRARY"), *rocm = getenv("ROCM_PATH");
    char folder[400];
    if (named && *named) {
        use(ranges, named);
        return;
    }
    snprintf(folder, sizeof(folder), "%.380s/lib/", rocm ? rocm : "");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (rocm && *rocm && use_below(ranges, folder, names[i]))
            return;
        for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]); ++k)
            if (use_below(ranges, folders[k], names[i]))
                return;
    }
}
