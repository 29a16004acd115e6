/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "vendor.h"

#define NAME "libcuda.so.1"

/* First the loader's own folders. The others are where containers and WSL mount the driver; the toolkit's folder
 * "stubs" has a library to link with, which must not be found. */
static const char *const places[] = {NAME, "/usr/local/nvidia/lib64/" NAME, "/usr/lib/wsl/lib/" NAME};

static const struct vendor_symbol symbols[] = {
#define REQUIRED(function, parameters) {#function, offsetof(struct cuda_api, function), true},
#define OPTIONAL(function, parameters) {#function, offsetof(struct cuda_api, function), false},
    CUDA_REQUIRED(REQUIRED) CUDA_OPTIONAL(OPTIONAL)};

/* The loader's message begins with the name that it was given. It is news unless there is no such file. */
static bool is_absent(const char *message, const char *name)
{
    return text_starts(message, name) && strstr(message, "No such file");
}

static bool try_library(struct cuda_library *library, const char *name, bool named, struct text *problems)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *message = dlerror();
        if (named || !is_absent(message, name))
            text_addf(problems, "%s%s", problems->length ? "; " : "", message);
        return false;
    }
    struct text missing = {0};
    library->api = (struct cuda_api){0};
    const bool usable = vendor_find_symbols(&library->api, handle, symbols, sizeof(symbols) / sizeof(symbols[0]),
                                            "CUDA's driver", &missing);
    if (usable) {
        Dl_info file = {0};
        dladdr((const void *)(uintptr_t)library->api.cuInit, &file);
        snprintf(library->path, sizeof(library->path), "%s", file.dli_fname ? file.dli_fname : name);
    } else {
        text_addf(problems, "%s%s lacks %s", problems->length ? "; " : "", name, missing.data);
        dlclose(handle);
    }
    text_release(&missing);
    return usable;
}

static bool search(struct cuda_library *library, struct text *problems)
{
    const char *named = getenv("ROOFTILE_CUDA_LIBRARY");
    if (named && *named)
        return try_library(library, named, true, problems);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i)
        if (try_library(library, places[i], false, problems))
            return true;
    return false;
}

enum status cuda_library_open(struct cuda_library *library, struct err *err)
{
    struct text problems = {0};
    enum status status = STATUS_OK;
    if (!search(library, &problems))
        status =
            err_set(err, ERR_DEVICE_LOST, "%s",
                    problems.length
                        ? problems.data
                        : "no " NAME ", which NVIDIA's driver brings, in the loader's path, /usr/local/nvidia/lib64 or "
                          "/usr/lib/wsl/lib (ROOFTILE_CUDA_LIBRARY names another place)");
    text_release(&problems);
    return status;
}

/* After these nothing works any more in this process; a new one may open the device again. Any fault of a kernel ends
 * its context for good. */
static enum status status_of(cuda_error code)
{
    switch (code) {
    case CUDA_OK:
        return STATUS_OK;
    case CUDA_OUT_OF_MEMORY:
        return ERR_DEVICE_MEMORY;
    case CUDA_NOT_SUPPORTED:
        return ERR_UNSUPPORTED;
    case CUDA_DEINITIALIZED:
    case CUDA_NO_DEVICE:
    case CUDA_INVALID_CONTEXT:
    case CUDA_ECC_UNCORRECTABLE:
    case CUDA_NVLINK_UNCORRECTABLE:
    case CUDA_CONTAINED:
    case CUDA_ILLEGAL_ADDRESS:
    case CUDA_LAUNCH_TIMEOUT:
    case CUDA_CONTEXT_IS_DESTROYED:
    case CUDA_ASSERT:
    case CUDA_HARDWARE_STACK_ERROR:
    case CUDA_ILLEGAL_INSTRUCTION:
    case CUDA_MISALIGNED_ADDRESS:
    case CUDA_INVALID_ADDRESS_SPACE:
    case CUDA_INVALID_PC:
    case CUDA_LAUNCH_FAILED:
    case CUDA_TENSOR_MEMORY_LEAK:
    case CUDA_MPS_CLIENT_TERMINATED:
    case CUDA_EXTERNAL_DEVICE:
        return ERR_DEVICE_LOST;
    default:
        return ERR_DEVICE;
    }
}

enum status cuda_check(const struct cuda_api *api, cuda_error code, const char *function, struct err *err)
{
    const enum status status = status_of(code);
    const char *name = NULL, *text = NULL;
    if (!status)
        return STATUS_OK;
    /* A driver refuses to name what is newer than itself. */
    if (!api->cuGetErrorName || api->cuGetErrorName(code, &name) || !name)
        return err_set(err, status, "%s: error %u", function, code);
    if (!api->cuGetErrorString || api->cuGetErrorString(code, &text) || !text)
        return err_set(err, status, "%s: %s (%u)", function, name, code);
    return err_set(err, status, "%s: %s (%u): %s", function, name, code, text);
}
