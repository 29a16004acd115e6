/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda.h"
#include "vendor.h"

/* The first card that this user may not use, or that there is none. */
static void explain_cards(struct text *why, const char *dev)
{
    struct text pattern = {0};
    glob_t nodes = {0};
    text_addf(&pattern, "%s/nvidia[0-9]*", dev);
    if (glob(pattern.data, 0, NULL, &nodes))
        text_addf(why, ": there is no %s/nvidia0 (no card, or this container was not given one)", dev);
    else
        for (size_t i = 0; i < nodes.gl_pathc && !vendor_explain_permission(why, nodes.gl_pathv[i]); ++i)
            ;
    globfree(&nodes);
    text_release(&pattern);
}

void cuda_explain_absence(struct text *why, const char *dev)
{
    static const struct {
        const char *name, *means;
    } files[] = {
        {"nvidiactl", "the nvidia driver is not loaded, or this container was not given it"},
        {"nvidia-uvm", "the module nvidia_uvm is not loaded, or this container was not given it"},
    };
    static const char *const masks[] = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"};
    bool explained = false;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !explained; ++i) {
        struct text path = {0};
        text_addf(&path, "%s/%s", dev, files[i].name);
        explained = access(path.data, F_OK) != 0;
        if (explained)
            text_addf(why, ": there is no %s (%s)", path.data, files[i].means);
        else
            explained = vendor_explain_permission(why, path.data);
        text_release(&path);
    }
    if (!explained)
        explain_cards(why, dev);
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); ++i)
        if (getenv(masks[i]))
            text_addf(why, "; %s=%s selects devices", masks[i], getenv(masks[i]));
}

/* What the driver's own words leave open. */
static const struct {
    cuda_error code;
    bool files; /* the device files may tell more */
    const char *means;
} hints[] = {
    {CUDA_NO_DEVICE, true, NULL},
    {CUDA_OPERATING_SYSTEM, true, NULL},
    {CUDA_UNKNOWN, true, NULL},
    {CUDA_STUB_LIBRARY, false, "this is the toolkit's stub to link with, not the driver's library"},
    {CUDA_SYSTEM_NOT_READY, false, "NVSwitch systems need the service nvidia-fabricmanager"},
    {CUDA_SYSTEM_DRIVER_MISMATCH, false, "the library and the kernel's module are of different releases"},
};

static void explain_failure(struct text *why, cuda_error code)
{
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); ++i) {
        if (hints[i].code != code)
            continue;
        if (hints[i].files)
            cuda_explain_absence(why, "/dev");
        if (hints[i].means)
            text_addf(why, ": %s", hints[i].means);
    }
}

/* Code is loaded with its module, not at a first launch, which would then wait for the whole device: behind a kernel
 * that holds a stream back, that is forever. */
enum status cuda_start(int *count, const struct cuda_library *library, struct err *err)
{
    struct err cause = {0};
    struct text why = {0};
    int counted = 0;
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    cuda_error code = library->api.cuInit(0);
    enum status status = cuda_check(&library->api, code, "cuInit", &cause);
    if (!status) {
        code = library->api.cuDeviceGetCount(&counted);
        status = cuda_check(&library->api, code, "cuDeviceGetCount", &cause);
    }
    if (!status && counted > 0) {
        *count = counted;
        return STATUS_OK;
    }
    text_addf(&why, "%s finds no GPU%s%s", library->path, status ? ", " : "", cause.text);
    explain_failure(&why, status ? code : CUDA_NO_DEVICE);
    err_set(err, ERR_DEVICE_LOST, "%s", why.data);
    text_release(&why);
    return ERR_DEVICE_LOST;
}

static int count_here(struct text *why)
{
    struct cuda_library library;
    struct err err = {0};
    int count = 0;
    if (cuda_library_open(&library, &err) || cuda_start(&count, &library, &err))
        text_add(why, err.text);
    return count;
}

int cuda_count(struct text *why, int timeout_ms)
{
    return vendor_count(why, "libcuda", count_here, timeout_ms);
}
