/* SPDX-License-Identifier: MIT */
#include "roctx.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The profiler of ROCm 6.2 and later knows ranges of the first, older ones those of the second. */
static const char *const names[] = {"librocprofiler-sdk-roctx.so", "libroctx64.so"};
static const char *const suffixes[] = {"", ".1", ".4"};
static const char *const folders[] = {"", "/opt/rocm/lib/"};

static void *symbol_of(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

static bool use(struct roctx *roctx, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *push = symbol_of(library, "roctxRangePushA"), *pop = symbol_of(library, "roctxRangePop");
    if (!push || !pop) {
        if (library)
            dlclose(library);
        return false;
    }
    memcpy(&roctx->push, &push, sizeof(push)); /* function pointers, which ISO C cannot convert */
    memcpy(&roctx->pop, &pop, sizeof(pop));
    return true;
}

static bool use_below(struct roctx *roctx, const char *folder, const char *name)
{
    char path[512];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); ++i)
        if (snprintf(path, sizeof(path), "%s%s%s", folder, name, suffixes[i]) < (int)sizeof(path) && use(roctx, path))
            return true;
    return false;
}

static void find(struct roctx *roctx)
{
    const char *named = getenv("ROOFTILE_ROCTX_LIBRARY"), *rocm = getenv("ROCM_PATH");
    char folder[400];
    roctx->tried = true;
    if (named && *named) {
        use(roctx, named);
        return;
    }
    snprintf(folder, sizeof(folder), "%.380s/lib/", rocm ? rocm : "");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (rocm && *rocm && use_below(roctx, folder, names[i]))
            return;
        for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]); ++k)
            if (use_below(roctx, folders[k], names[i]))
                return;
    }
}

enum status roctx_push(struct roctx *roctx, const char *name, struct err *err)
{
    if (!roctx->tried)
        find(roctx);
    if (!roctx->push)
        return err_set(err, ERR_UNSUPPORTED, "neither %s nor %s can be loaded", names[0], names[1]);
    roctx->push(name);
    return STATUS_OK;
}

void roctx_pop(struct roctx *roctx)
{
    if (roctx->pop)
        roctx->pop();
}
