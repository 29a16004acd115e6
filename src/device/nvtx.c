/* SPDX-License-Identifier: MIT */
#include "nvtx.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NAME "libnvToolsExt.so.1"

static bool use(struct nvtx *nvtx, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *push = library ? dlsym(library, "nvtxRangePushA") : NULL;
    void *pop = library ? dlsym(library, "nvtxRangePop") : NULL;
    if (!push || !pop) {
        if (library)
            dlclose(library);
        return false;
    }
    memcpy(&nvtx->push, &push, sizeof(push)); /* function pointers, which ISO C cannot convert */
    memcpy(&nvtx->pop, &pop, sizeof(pop));
    return true;
}

static void find(struct nvtx *nvtx)
{
    const char *named = getenv("ROOFTILE_NVTX_LIBRARY");
    nvtx->tried = true;
    if (named && *named)
        use(nvtx, named);
    else if (!use(nvtx, NAME))
        use(nvtx, "/usr/local/cuda/lib64/" NAME);
}

enum status nvtx_push(struct nvtx *nvtx, const char *name, struct err *err)
{
    if (!nvtx->tried)
        find(nvtx);
    if (!nvtx->push)
        return err_set(err, ERR_UNSUPPORTED, NAME " (CUDA 12 and older) cannot be loaded");
    nvtx->push(name);
    return STATUS_OK;
}

void nvtx_pop(struct nvtx *nvtx)
{
    if (nvtx->pop)
        nvtx->pop();
}
