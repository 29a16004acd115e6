/* SPDX-License-Identifier: MIT */
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "hip.h"
#include "vendor.h"

static bool explain_render_nodes(struct text *why, const char *dev)
{
    struct text pattern = {0};
    glob_t nodes = {0};
    bool explained = false;
    text_addf(&pattern, "%s/dri/renderD*", dev);
    if (glob(pattern.data, 0, NULL, &nodes) == 0)
        for (size_t i = 0; i < nodes.gl_pathc && !explained; ++i)
            explained = vendor_explain_permission(why, nodes.gl_pathv[i]);
    globfree(&nodes);
    text_release(&pattern);
    return explained;
}

void hip_explain_absence(struct text *why, const char *dev)
{
    static const char *const masks[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};
    struct text kfd = {0};
    text_addf(&kfd, "%s/kfd", dev);
    if (access(kfd.data, F_OK))
        text_addf(why, ": there is no %s (the amdgpu driver is not loaded, or this container was not given it)",
                  kfd.data);
    else if (!vendor_explain_permission(why, kfd.data))
        explain_render_nodes(why, dev);
    text_release(&kfd);
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); ++i)
        if (getenv(masks[i]))
            text_addf(why, "; %s=%s selects devices", masks[i], getenv(masks[i]));
}

/* Debian 12's library answers "invalid device" to hipInit, and "no device" to the rest, when there is no GPU. */
enum status hip_start(int *count, const struct hip_library *library, struct err *err)
{
    struct err cause = {0};
    struct text why = {0};
    int counted = 0;
    hip_error code = library->api.hipInit(0);
    enum status status = hip_check(&library->api, code, "hipInit", &cause);
    if (!status) {
        code = library->api.hipGetDeviceCount(&counted);
        status = hip_check(&library->api, code, "hipGetDeviceCount", &cause);
    }
    if (!status && counted > 0) {
        *count = counted;
        return STATUS_OK;
    }
    text_addf(&why, "%s finds no GPU%s%s", library->path, status ? ", " : "", cause.text);
    if (!status || code == HIP_NO_DEVICE || code == HIP_INVALID_DEVICE)
        hip_explain_absence(&why, "/dev");
    err_set(err, ERR_DEVICE_LOST, "%s", why.data);
    text_release(&why);
    return ERR_DEVICE_LOST;
}

static int count_here(struct text *why)
{
    struct hip_library library;
    struct err err = {0};
    int count = 0;
    if (hip_library_open(&library, &err) || hip_start(&count, &library, &err))
        text_add(why, err.text);
    return count;
}

int hip_count(struct text *why, int timeout_ms)
{
    return vendor_count(why, "libamdhip64", count_here, timeout_ms);
}
