/* SPDX-License-Identifier: MIT
 *
 * NVIDIA GPUs: the vendor-specific part on top of gpu.h. No function reports a kernel's own begin and end apart from
 * its launch. A CUDA device is represented by its primary context, which NVIDIA's libraries share.
 */
#include "gpu.h"

#include <dlfcn.h>

#include "rooftile/file.h"

/* ---- the library ---- */

#define SHARED(member, cuda, hip, need, parameters) {#cuda, offsetof(struct gpu_calls, member), need},
#define OWN(function, need, parameters) {#function, offsetof(struct gpu_calls, function), need},
static const struct library_symbol symbols[] = {GPU_CALLS(SHARED, OWN, GPU_NOTHING){NULL, 0, 0}};

/* The loader's own folders are searched first. The others are where containers and WSL mount the driver. The toolkit's
 * folder "stubs" has a library to link with, which must not be found. */
static const char *const places[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
                                     "/usr/lib/wsl/lib/libcuda.so.1", NULL};

/* A driver cannot name errors newer than itself. */
static const char *error_name(const char **text, const struct gpu *gpu, gpu_error code)
{
    const char *name = NULL, *means = NULL;
    if (!gpu->api.cuGetErrorName || gpu->api.cuGetErrorName(code, &name) || !name)
        return NULL;
    if (gpu->api.cuGetErrorString && !gpu->api.cuGetErrorString(code, &means))
        *text = means;
    return name;
}

/* ---- contexts and memory ---- */

static enum status context_of(struct gpu_context **context, struct gpu *gpu, int index, struct err *err)
{
    struct gpu_context *made = NULL;
    if (!gpu->contexts[index]) {
        if (GPU_TRY(gpu, err, cuDevicePrimaryCtxRetain, &made, gpu->handles[index]))
            return err->status;
        gpu->contexts[index] = made;
    }
    *context = gpu->contexts[index];
    return STATUS_OK;
}

static enum status enter(struct gpu *gpu, int index, struct err *err)
{
    struct gpu_context *context = NULL;
    const enum status status = context_of(&context, gpu, index, err);
    return status ? status : GPU_TRY(gpu, err, cuCtxSetCurrent, context);
}

static gpu_error reach(struct gpu *gpu, int to)
{
    struct gpu_context *peer = NULL;
    struct err ignored = {0};
    return context_of(&peer, gpu, to, &ignored) ? GPU_INVALID_CONTEXT : gpu->api.cuCtxEnablePeerAccess(peer, 0);
}

/* A blocking copy from pageable memory may return before the data has arrived, and our streams do not wait for the null
 * stream. */
static enum status copy(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes,
                        struct gpu_stream *stream, bool wait, struct err *err)
{
    const gpu_address source = (gpu_address)(uintptr_t)from;
    if (!wait)
        return GPU_TRY(gpu, err, cuMemcpyAsync, to, source, size_bytes, stream);
    const enum status status = GPU_TRY(gpu, err, cuMemcpy, to, source, size_bytes);
    return status ? status : GPU_TRY(gpu, err, cuStreamSynchronize, NULL);
}

/* ---- code ---- */

/* A file holds either a cubin, which is for exactly this architecture, or PTX, which the driver compiles now. */
static enum status load(struct gpu_code **code, const struct gpu *gpu, const char *path, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct gpu_code *loaded = NULL;
    char *image = NULL, log[512] = "";
    size_t length;
    unsigned options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof(log) - 1)};
    struct err reading = {0};
    enum status status = STATUS_OK;
    /* PTX ends with the zero that file_read appends; a cubin contains its own length. */
    if (file_read(&image, &length, path, FILE_LIMIT_BYTES, &arena, &reading))
        status = err_set(err, ERR_DEVICE, "%s", reading.text);
    else if (GPU_TRY(gpu, err, cuModuleLoadDataEx, &loaded, image, 2, options, values))
        status = err_within(err, "%s", path);
    if (status && log[0]) /* first line of the PTX compiler's messages */
        status = err_set(err, status, "%s: %.*s", err->text, (int)strcspn(log, "\n"), log);
    if (!status)
        *code = loaded;
    return status;
}

static enum status prepare(struct kernel_info *info, const struct gpu *gpu, struct gpu_function *function,
                           struct err *err)
{
    int lds_bytes = 0;
    enum status status = GPU_TRY(gpu, err, cuFuncGetAttribute, &lds_bytes, CUDA_FUNCTION_SHARED_BYTES, function);
    /* More than 48 KiB must be requested for the function; each launch still chooses its own size. */
    if (!status && (uint64_t)lds_bytes < gpu->lds_bytes)
        status = GPU_TRY(gpu, err, cuFuncSetAttribute, function, CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES,
                         (int)(gpu->lds_bytes - (uint64_t)lds_bytes));
    if (status)
        return status;
    size_t offset, size;
    info->sizes_only = true; /* the driver does not report which of them are pointers */
    while (gpu->api.cuFuncGetParamInfo && info->arg_count < DEVICE_MAX_ARGS &&
           gpu->api.cuFuncGetParamInfo(function, info->arg_count, &offset, &size) == GPU_SUCCESS)
        info->args[info->arg_count++].size_bytes = (uint32_t)size;
    return STATUS_OK;
}

/* ---- device facts ---- */

/* CUDA documents events with "a resolution of around 0.5 microseconds". */
static const double promised_tick_ns = 500;

/* Formats it like nvidia-smi: "GPU-" or, for a part of a card, "MIG-", and 16 bytes in five groups. */
static void read_uuid(struct device_info *info, const struct gpu *gpu)
{
    uint8_t bytes[16];
    struct err ignored = {0};
    if (!gpu->api.uuid || GPU_TRY(gpu, &ignored, uuid, (struct gpu_uuid *)bytes, gpu->handles[gpu->index]))
        return;
    size_t used = (size_t)SET_TEXT(info->uuid, "%s", info->partition[0] ? "MIG" : "GPU");
    for (size_t i = 0; i < sizeof(bytes); ++i)
        used += (size_t)snprintf(info->uuid + used, sizeof(info->uuid) - used, "%s%02x",
                                 i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The clock behind events has a step of 32 ns on some GPUs and of 1024 ns on others, and no attribute reports it. The
 * greatest common divisor of the times between consecutive events is the step. If it cannot be determined, returns
 * CUDA's documented value. */
static double find_tick_ns(struct gpu *gpu)
{
    struct err ignored = {0};
    uint64_t step_ns = 0;
    for (uint32_t k = 0; k < DEVICE_MAX_EVENTS; ++k)
        if (gpu_event(&gpu->device, k, 0, &ignored))
            return promised_tick_ns;
    if (gpu_wait(&gpu->device, &ignored))
        return promised_tick_ns;
    for (uint32_t k = 1; k < DEVICE_MAX_EVENTS; ++k) {
        double time_ns = 0;
        if (gpu_elapsed(&time_ns, &gpu->device, 0, k, &ignored))
            return promised_tick_ns;
        step_ns = common_divisor(step_ns, (uint64_t)llround(fabs(time_ns)));
    }
    return step_ns ? (double)step_ns : promised_tick_ns;
}

static enum status describe(struct device_info *info, struct gpu *gpu, const uint32_t facts[static GPU_FACTS],
                            UNUSED struct err *err)
{
    /* From Hopper on, a device has instructions that no other device has (wgmma, tcgen05); only code for "sm_90a" may
     * use them. */
    const uint32_t major = facts[FACT_CAPABILITY_MAJOR], minor = facts[FACT_CAPABILITY_MINOR];
    SET_TEXT(info->arch, "sm_%u%u%s", major, minor, major >= 9 ? "a" : "");
    SET_TEXT(info->target, "%s", info->arch);
    info->counter_hz = 1e9; /* %globaltimer counts nanoseconds, whatever its step */
    info->timer_tick_ns = find_tick_ns(gpu);
    /* "NVIDIA H100 80GB HBM3 MIG 1g.10gb" is one seventh of a card. */
    const char *part = strstr(info->name, " MIG ");
    if (part)
        SET_TEXT(info->partition, "%.31s", part + 1);
    read_uuid(info, gpu);
    int version = 0;
    struct err ignored = {0};
    if (!GPU_TRY(gpu, &ignored, cuDriverGetVersion, &version) && version > 0)
        SET_TEXT(info->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    nvml_open(&gpu->nvml, info->pci_bdf);
    nvml_describe(info, &gpu->nvml);
    return STATUS_OK;
}

/* ---- the tables ---- */

static const struct gpu_hint hints[] = {
    {GPU_NO_DEVICE, true, NULL},
    {GPU_OPERATING_SYSTEM, true, NULL},
    {GPU_UNKNOWN, true, NULL},
    {GPU_STUB_LIBRARY, false, "this is the toolkit's stub to link with, not the driver's library"},
    {GPU_SYSTEM_NOT_READY, false, "NVSwitch systems need the service nvidia-fabricmanager"},
    {GPU_SYSTEM_DRIVER_MISMATCH, false, "the library and the kernel's module are of different releases"},
    {0, false, NULL},
};

static const struct gpu_device_file files[] = {
    {"nvidiactl", "nvidiactl", "the nvidia driver is not loaded, or this container was not given it"},
    {"nvidia-uvm", "nvidia-uvm", "the module nvidia_uvm is not loaded, or this container was not given it"},
    {"nvidia[0-9]*", "nvidia0", "no card, or this container was not given one"},
    {NULL, NULL, NULL},
};

static const char *const masks[] = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", NULL};

#define ATTRIBUTE(fact, cuda, hip, cuda_rule, hip_rule) [FACT_##fact] = {cuda, cuda_rule},
const struct gpu_vendor cuda_vendor = {
    .ops = &device_cuda,
    .library = "libcuda",
    .place = {"CUDA's driver", "ROOFTILE_CUDA_LIBRARY", places, symbols, RTLD_LOCAL},
    /* Code is loaded with its module. At a first launch, loading would wait for the whole device: behind a blocking
     * kernel, forever. */
    .setting = {"CUDA_MODULE_LOADING", "EAGER"},
    .pci_vendor = "10de",
    .hints = hints,
    .files = files,
    .masks = masks,
    .attributes = {GPU_FACT_TABLE(ATTRIBUTE)},
    /* CUDA offers no choice of grain: device memory behaves as coarse-grained, host memory as fine-grained. */
    .lacks_spaces = SPACE_BIT(SPACE_FINE) | SPACE_BIT(SPACE_PINNED_COARSE),
    .pinned_flags = CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP,
    .error_name = error_name,
    .enter = enter,
    .reach = reach,
    .copy = copy,
    .load = load,
    .prepare = prepare,
    .describe = describe,
    .find_ranges = nvtx_find,
    .no_ranges = NVTX_MISSING,
};
