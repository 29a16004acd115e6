/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

/* ---- finding the library ---- */

/* What was found is in `gpu`; else why each candidate was no good. */
struct gpu_search {
    struct gpu *gpu;
    struct text problems;
};

struct gpu *gpu_new(const struct gpu_vendor *vendor)
{
    struct gpu *gpu = calloc(1, vendor->size_bytes);
    if (!gpu)
        arena_out_of_memory(vendor->size_bytes);
    gpu->device.ops = vendor->ops;
    gpu->vendor = vendor;
    return gpu;
}

/* The loader's message begins with the name that it was given; with another one when that was found and lacks
 * something. */
static bool is_absent(const char *message, const char *name)
{
    return text_starts(message, name) && message[strlen(name)] == ':' && strstr(message, "No such file");
}

static bool find_functions(struct gpu *gpu, void *handle, struct text *missing)
{
    const struct gpu_vendor *vendor = gpu->vendor;
    size_t count = 0;
    while (vendor->symbols[count].name)
        memset((char *)gpu + vendor->symbols[count++].offset, 0, sizeof(void *));
    return vendor_find_symbols(gpu, handle, vendor->symbols, count, vendor->whole, missing);
}

enum gpu_found gpu_try_library(struct gpu_search *search, const char *name, bool named)
{
    struct gpu *gpu = search->gpu;
    const char *also = search->problems.length ? "; " : "";
    void *handle = dlopen(name, RTLD_NOW | gpu->vendor->open_flags);
    if (!handle) {
        const char *message = dlerror();
        const bool absent = is_absent(message, name);
        if (named || !absent)
            text_addf(&search->problems, "%s%s", also, message);
        return absent ? GPU_ABSENT : GPU_USELESS;
    }
    struct text missing = {0};
    const bool usable = find_functions(gpu, handle, &missing);
    if (usable) {
        Dl_info file = {0};
        dladdr(dlsym(handle, gpu->vendor->symbols[0].name), &file);
        snprintf(gpu->path, sizeof(gpu->path), "%s", file.dli_fname ? file.dli_fname : name);
    } else {
        text_addf(&search->problems, "%s%s lacks %s", also, name, missing.data);
        dlclose(handle);
    }
    text_release(&missing);
    return usable ? GPU_USABLE : GPU_USELESS;
}

enum status gpu_find_library(struct gpu *gpu, struct err *err)
{
    struct gpu_search search = {.gpu = gpu};
    const char *named = getenv(gpu->vendor->variable);
    enum status status = STATUS_OK;
    const bool found =
        named && *named ? gpu_try_library(&search, named, true) == GPU_USABLE : gpu->vendor->search(&search);
    if (!found)
        status =
            err_set(err, ERR_DEVICE_LOST, "%s", search.problems.length ? search.problems.data : gpu->vendor->absent);
    text_release(&search.problems);
    return status;
}

const char *gpu_lacks(const struct gpu *gpu, unsigned feature)
{
    for (const struct gpu_need *need = gpu->vendor->needs; need->function.name; ++need) {
        void *function;
        memcpy(&function, (const char *)gpu + need->function.offset, sizeof(function));
        if (need->feature == feature && !function)
            return need->function.name;
    }
    return NULL;
}

enum status gpu_require(const struct gpu *gpu, unsigned feature, struct err *err)
{
    const char *missing = gpu_lacks(gpu, feature);
    return missing ? err_set(err, ERR_UNSUPPORTED, "%s lacks %s", gpu->path, missing) : STATUS_OK;
}

/* ---- starting it ---- */

/* True when this is why there is none: there is no such file, or this user may not use one. */
static bool explain_file(struct text *why, const struct gpu_device_file *file, const char *dev)
{
    struct text pattern = {0};
    glob_t nodes = {0};
    bool explained = false;
    text_addf(&pattern, "%s/%s", dev, file->pattern);
    if (glob(pattern.data, 0, NULL, &nodes) == 0)
        for (size_t i = 0; i < nodes.gl_pathc && !explained; ++i)
            explained = vendor_explain_permission(why, nodes.gl_pathv[i]);
    else if ((explained = file->means != NULL))
        text_addf(why, ": there is no %s/%s (%s)", dev, file->name, file->means);
    globfree(&nodes);
    text_release(&pattern);
    return explained;
}

void gpu_explain_absence(struct text *why, const struct gpu_vendor *vendor, const char *dev)
{
    for (const struct gpu_device_file *file = vendor->files; file->pattern; ++file)
        if (explain_file(why, file, dev))
            break;
    for (const char *const *mask = vendor->masks; *mask; ++mask)
        if (getenv(*mask))
            text_addf(why, "; %s=%s selects devices", *mask, getenv(*mask));
}

/* What the library's own words leave open. */
static void explain_failure(struct text *why, const struct gpu_vendor *vendor, unsigned code)
{
    for (const struct gpu_hint *hint = vendor->hints; hint->code; ++hint) {
        if (hint->code != code)
            continue;
        if (hint->files)
            gpu_explain_absence(why, vendor, "/dev");
        if (hint->means)
            text_addf(why, ": %s", hint->means);
    }
}

enum status gpu_start(struct gpu *gpu, struct err *err)
{
    const struct gpu_vendor *vendor = gpu->vendor;
    struct err cause = {0};
    struct text why = {0};
    unsigned code = vendor->no_device;
    const enum status status = vendor->api->start(&gpu->count, &code, gpu, &cause);
    if (!status && gpu->count > 0)
        return STATUS_OK;
    text_addf(&why, "%s finds no GPU%s%s", gpu->path, status ? ", " : "", cause.text);
    explain_failure(&why, vendor, code);
    err_set(err, ERR_DEVICE_LOST, "%s", why.data);
    text_release(&why);
    return ERR_DEVICE_LOST;
}

static int count_here(struct text *why, const void *vendor)
{
    struct gpu *gpu = gpu_new(vendor);
    struct err err = {0};
    if (gpu_find_library(gpu, &err) || gpu_start(gpu, &err))
        text_add(why, err.text);
    const int count = gpu->count;
    free(gpu);
    return count;
}

int gpu_count(struct text *why, const struct gpu_vendor *vendor, int timeout_ms)
{
    return vendor_count(why, vendor->library, count_here, vendor, timeout_ms);
}

/* ---- ranges of a profiler ---- */

bool gpu_use_ranges(struct gpu_ranges *ranges, const char *path, const char *push_name, const char *pop_name)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *push = library ? dlsym(library, push_name) : NULL, *pop = library ? dlsym(library, pop_name) : NULL;
    if (!push || !pop) {
        if (library)
            dlclose(library);
        return false;
    }
    memcpy(&ranges->push, &push, sizeof(push)); /* function pointers, which ISO C cannot convert */
    memcpy(&ranges->pop, &pop, sizeof(pop));
    return true;
}
