/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip.h"
#include "vendor.h"

#define STEM "libamdhip64.so"

/* Of the names that the loader is asked for: Debian 12 has 5, and the newest must not be a matter of a new release. */
enum { NEWEST_MAJOR = 30, OLDEST_MAJOR = 5 };

static const struct vendor_symbol symbols[] = {
#define REQUIRED(function, parameters) {#function, offsetof(struct hip_api, function), true},
#define OPTIONAL(function, parameters) {#function, offsetof(struct hip_api, function), false},
    HIP_REQUIRED(REQUIRED) HIP_OPTIONAL(OPTIONAL){"hipGetErrorName", offsetof(struct hip_api, hipGetErrorName), false},
    /* Older libraries have this function under its C++ name. */
    {"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
     offsetof(struct hip_api, hipExtModuleLaunchKernel), false},
};
enum { SYMBOL_COUNT = sizeof(symbols) / sizeof(symbols[0]) };

/* A search in progress: what it found, or why each candidate was no good. */
struct search {
    struct hip_library library;
    struct text problems;
};

static void add_problem(struct search *search, const char *problem)
{
    text_addf(&search->problems, "%s%s", search->problems.length ? "; " : "", problem);
}

/* Visible to what it loads itself, as in a program that is linked with it: its plug-ins may need its symbols, or those
 * of its own libraries. */
static bool try_library(struct search *search, const char *name)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (!handle) {
        add_problem(search, dlerror());
        return false;
    }
    struct text missing = {0};
    search->library.api = (struct hip_api){0};
    const bool usable = vendor_find_symbols(&search->library.api, handle, symbols, SYMBOL_COUNT, "HIP", &missing);
    if (usable) {
        Dl_info file = {0};
        dladdr((const void *)(uintptr_t)search->library.api.hipInit, &file);
        snprintf(search->library.path, sizeof(search->library.path), "%s", file.dli_fname ? file.dli_fname : name);
    } else {
        text_addf(&search->problems, "%s%s lacks %s", search->problems.length ? "; " : "", name, missing.data);
        dlclose(handle);
    }
    text_release(&missing);
    return usable;
}

/* "libamdhip64.so" and "libamdhip64.so.7.2", but no "libamdhip64.so.debug". */
static bool is_library(const char *path)
{
    const char *stem = strrchr(path, '/');
    const char *version = stem ? stem + 1 + strlen(STEM) : "";
    return stem && version[strspn(version, ".0123456789")] == '\0';
}

/* The library of the highest version below folders of a shell pattern; numbers compare as numbers: core-10 is above
 * core-7. */
static bool try_folders(struct search *search, const char *pattern)
{
    struct text files = {0};
    glob_t found = {0};
    const char *best = NULL;
    text_addf(&files, "%s/" STEM "*", pattern);
    if (glob(files.data, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; ++i)
            if (is_library(found.gl_pathv[i]) && (!best || strverscmp(found.gl_pathv[i], best) > 0))
                best = found.gl_pathv[i];
    const bool usable = best && try_library(search, best);
    globfree(&found);
    text_release(&files);
    return usable;
}

/* The folders that the user put before the loader's own are searched like the others, highest version first. */
static bool try_loader_folders(struct search *search)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    bool usable = false;
    while (path && *path && !usable) {
        struct text folder = {0};
        const size_t length = strcspn(path, ":");
        text_addn(&folder, path, length);
        usable = length && try_folders(search, folder.data);
        text_release(&folder);
        path += length + (path[length] == ':');
    }
    return usable;
}

/* The loader knows its folders, and finds exact names only: each major version is asked for, last the link of
 * development packages. Its message begins with the bare name where there is no such file, else with what is wrong:
 * then that is the news. */
static bool try_loader(struct search *search)
{
    char name[64];
    bool usable = false, absent = true;
    for (int major = NEWEST_MAJOR; major >= OLDEST_MAJOR - 1 && !usable && absent; --major) {
        struct search attempt = {0};
        const int length = snprintf(name, sizeof(name), major >= OLDEST_MAJOR ? STEM ".%d" : STEM, major);
        usable = try_library(&attempt, name);
        absent = !usable && text_starts(attempt.problems.data, name) && attempt.problems.data[length] == ':';
        if (usable)
            search->library = attempt.library;
        else if (!absent)
            add_problem(search, attempt.problems.data);
        text_release(&attempt.problems);
    }
    return usable;
}

static bool search_everywhere(struct search *search)
{
    const char *named = getenv("ROOFTILE_HIP_LIBRARY"), *rocm = getenv("ROCM_PATH");
    if (named && *named)
        return try_library(search, named);
    if (rocm && *rocm) {
        struct text folder = {0};
        text_addf(&folder, "%s/lib", rocm);
        const bool usable = try_folders(search, folder.data);
        text_release(&folder);
        if (usable)
            return true;
    }
    return try_folders(search, "/opt/rocm/lib") || try_folders(search, "/opt/rocm/core*/lib") ||
           try_loader_folders(search) || try_loader(search);
}

enum status hip_library_open(struct hip_library *library, struct err *err)
{
    struct search search = {0};
    enum status status = STATUS_OK;
    if (search_everywhere(&search))
        *library = search.library;
    else if (search.problems.length)
        status = err_set(err, ERR_DEVICE_LOST, "%s", search.problems.data);
    else
        status = err_set(err, ERR_DEVICE_LOST,
                         "no " STEM " in $ROCM_PATH/lib, /opt/rocm/lib, /opt/rocm/core*/lib or the loader's path "
                         "(ROOFTILE_HIP_LIBRARY names another place)");
    text_release(&search.problems);
    return status;
}

/* After these nothing works any more in this process; a new one may open the device again. */
static enum status status_of(hip_error code)
{
    switch (code) {
    case HIP_SUCCESS:
        return STATUS_OK;
    case HIP_OUT_OF_MEMORY:
        return ERR_DEVICE_MEMORY;
    case HIP_NOT_SUPPORTED:
        return ERR_UNSUPPORTED;
    case HIP_DEINITIALIZED:
    case HIP_NO_DEVICE:
    case HIP_ECC_NOT_CORRECTABLE:
    case HIP_ILLEGAL_ADDRESS:
    case HIP_LAUNCH_TIME_OUT:
    case HIP_CONTEXT_IS_DESTROYED:
    case HIP_ASSERT:
    case HIP_LAUNCH_FAILURE:
        return ERR_DEVICE_LOST;
    default:
        return ERR_DEVICE;
    }
}

enum status hip_check(const struct hip_api *api, hip_error code, const char *function, struct err *err)
{
    const enum status status = status_of(code);
    if (!status)
        return STATUS_OK;
    /* A library calls what is newer than itself "unknown": the number says more. */
    const char *name = api->hipGetErrorName ? api->hipGetErrorName(code) : NULL;
    if (!name || !*name || (code != HIP_UNKNOWN && strcasestr(name, "unknown")))
        return err_set(err, status, "%s: error %u", function, code);
    return err_set(err, status, "%s: %s (%u)", function, name, code);
}
