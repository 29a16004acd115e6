/* SPDX-License-Identifier: MIT
 *
 * AMD GPUs: the vendor-specific part on top of gpu.h. Source for the memory flags: hip_runtime_api.h and clr's
 * hip_memory.cpp.
 */
#include "gpu.h"
#include "rooftile/targets.h"

#include <dlfcn.h>

/* ---- the library ---- */

#define SHARED(member, cuda, hip, need, parameters) {#hip, offsetof(struct gpu_calls, member), need},
#define OWN(function, need, parameters) {#function, offsetof(struct gpu_calls, function), need},
static const struct library_symbol symbols[] = {
    GPU_CALLS(SHARED, GPU_NOTHING, OWN){"hipGetErrorName", offsetof(struct gpu_calls, hipGetErrorName), GPU_OPTIONAL},
    /* Older libraries export this function under its C++ name. */
    {"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
     offsetof(struct gpu_calls, hipExtModuleLaunchKernel), GPU_OWN_TIMES},
    {NULL, 0, 0},
};

/* The folders that the user puts before the loader's own are searched like the others, highest version first. The
 * loader finds only exact names, so each major version is tried (Debian 12 has 5), including future ones that need no
 * new release; the link of development packages comes last. */
#define STEM "libamdhip64.so"
static const char *const places[] = {"$ROCM_PATH/lib/" STEM "*",
                                     "/opt/rocm/lib/" STEM "*",
                                     "/opt/rocm/core*/lib/" STEM "*",
                                     "$LD_LIBRARY_PATH/" STEM "*",
                                     STEM ".{30..5}",
                                     STEM,
                                     NULL};

/* ---- calls ---- */

/* For errors newer than itself, a library returns "hipErrorUnknown" or "unknown error"; the number is more useful. */
static const char *error_name(UNUSED const char **text, const struct gpu *gpu, gpu_error code)
{
    const char *name = gpu->api.hipGetErrorName ? gpu->api.hipGetErrorName(code) : NULL;
    const bool is_unknown = name && (strcmp(name, "hipErrorUnknown") == 0 || text_starts(name, "unknown"));
    return !name || !*name || (code != GPU_UNKNOWN && is_unknown) ? NULL : name;
}

/* Detects emulators of the driver, of the device below the runtime, or of all of ROCm; "": none. */
static const char *emulator_of(const struct gpu *gpu)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "librocjitsu") ? "rocjitsu"
           : getenv("HSA_MODEL_LIB")                     ? "HSA_MODEL_LIB"
           : strstr(gpu->library.path, "/libemulator")   ? "emulator"
                                                         : "";
}

/* An emulator needs the processor that a waiting thread would spin on. */
static enum status enter(struct gpu *gpu, int index, struct err *err)
{
    const enum status status = GPU_TRY(gpu, err, hipSetDevice, index);
    if (!status && gpu->api.hipSetDeviceFlags && *emulator_of(gpu))
        gpu->api.hipSetDeviceFlags(HIP_DEVICE_SCHEDULE_BLOCKING);
    return status;
}

static gpu_error reach(struct gpu *gpu, int to)
{
    return gpu->api.hipDeviceEnablePeerAccess(to, 0);
}

static enum status copy(const struct gpu *gpu, void *to, const void *from, uint64_t size_bytes,
                        struct gpu_stream *stream, bool wait, struct err *err)
{
    return wait ? GPU_TRY(gpu, err, hipMemcpy, to, from, size_bytes, HIP_MEMCPY_DEFAULT)
                : GPU_TRY(gpu, err, hipMemcpyAsync, to, from, size_bytes, HIP_MEMCPY_DEFAULT, stream);
}

static enum status load(struct gpu_code **code, const struct gpu *gpu, const char *path, struct err *err)
{
    return GPU_TRY(gpu, err, hipModuleLoad, code, path) ? err_within(err, "%s", path) : STATUS_OK;
}

/* Counts the work-items in each dimension. The library counts them in 32 bits without looking for an overflow, and
 * launches what is left of such a grid. */
static enum status count_work(uint32_t work[static 3], const struct device_launch *launch, struct err *err)
{
    for (int i = 0; i < 3; ++i)
        if (__builtin_mul_overflow(launch->grid[i], launch->block[i], &work[i]))
            return err_set(err, ERR_UNSUPPORTED, "%u workgroups of %u are more than 2^32 work-items", launch->grid[i],
                           launch->block[i]);
    return STATUS_OK;
}

/* This function takes the grid in work-items. */
enum status hip_launch_with_events(struct device *device, const struct device_launch *launch, uint32_t from,
                                   uint32_t to, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    uint32_t work[3];
    if (gpu_require(gpu, GPU_OWN_TIMES, err))
        return err->status;
    if (launch->cooperative)
        return err_set(err, ERR_UNSUPPORTED, "a cooperative launch does not tell its own times");
    if (!launch->kernel->function)
        return err_set(err, ERR_UNSUPPORTED, "a library's function does not tell its own times");
    if (count_work(work, launch, err) || check_events(from, to, err) ||
        gpu_stream_of(&stream, gpu, launch->stream, err))
        return err->status;
    return GPU_TRY(gpu, err, hipExtModuleLaunchKernel, launch->kernel->function, work[0], work[1], work[2],
                   launch->block[0], launch->block[1], launch->block[2], launch->lds_bytes, stream, launch->args, NULL,
                   gpu->events[from], gpu->events[to], 0);
}

/* ---- device facts ---- */

/* hipGetDeviceProperties fills a structure that grows with each release (R0600: 1472 bytes). Only the architecture is
 * read from it; everything else is an attribute. ROCm 6 changed the layout, gave the function a new name, and still
 * exports the old one with the old layout. */
enum { PROPERTIES_BYTES = 16384, ARCH_AT_R0600 = 1160, ARCH_AT_R0000 = 396, ARCH_BYTES = 256 };

/* Reads "gfx942:sramecc+:xnack-": the target, and this device's settings. */
static enum status read_arch(char arch[static ARCH_BYTES], const struct gpu *gpu, struct err *err)
{
    const bool renewed = gpu->api.hipGetDevicePropertiesR0600;
    if (!renewed && !gpu->api.hipGetDeviceProperties)
        return err_set(err, ERR_DEVICE, "%s lacks hipGetDeviceProperties", gpu->library.path);
    char *properties = new_zeroed(1, PROPERTIES_BYTES);
    enum status status = renewed ? GPU_TRY(gpu, err, hipGetDevicePropertiesR0600, properties, gpu->index)
                                 : GPU_TRY(gpu, err, hipGetDeviceProperties, properties, gpu->index);
    const char *name = properties + (renewed ? ARCH_AT_R0600 : ARCH_AT_R0000);
    if (!status && !target_is_amd(name))
        status = err_set(err, ERR_DEVICE, "%s: the device properties have an unknown layout", gpu->library.path);
    if (!status)
        snprintf(arch, ARCH_BYTES, "%.*s", ARCH_BYTES - 1, name);
    free(properties);
    return status;
}

static enum status describe(struct device_info *info, struct gpu *gpu, const uint32_t facts[static GPU_FACTS],
                            struct err *err)
{
    char arch[ARCH_BYTES];
    if (read_arch(arch, gpu, err))
        return err->status;
    SET_TEXT(info->arch, "%.*s", (int)strcspn(arch, ":"), arch);
    SET_TEXT(info->target, "%s", info->arch);
    if (strchr(arch, ':'))
        SET_TEXT(info->note, "%s", arch);
    /* Events are read from the constant-rate counter. */
    const uint32_t tick_khz = facts[FACT_WALL_KHZ] ? facts[FACT_WALL_KHZ] : facts[FACT_CLOCK_KHZ];
    info->timer_tick_ns = tick_khz ? 1e6 / tick_khz : 0;
    SET_TEXT(info->emulated, "%s", emulator_of(gpu));
    char kernel[32], uuid[17] = "";
    int version = 0;
    struct err ignored = {0};
    /* AMD's UUIDs are 16 characters of text: "GPU-" and the serial number. */
    if (gpu->api.uuid && !GPU_TRY(gpu, &ignored, uuid, (struct gpu_uuid *)uuid, gpu->handles[gpu->index]) && *uuid &&
        !uuid[strspn(uuid, "0123456789abcdefABCDEF")])
        SET_TEXT(info->uuid, "GPU-%s", uuid);
    sysfs_text(kernel, sizeof(kernel), "/sys/module/amdgpu", "version");
    if (gpu->api.hipRuntimeGetVersion && !GPU_TRY(gpu, &ignored, hipRuntimeGetVersion, &version) && version > 0)
        SET_TEXT(info->driver, "HIP %d.%d.%d", version / 10000000, version / 100000 % 100, version % 100000);
    if (kernel[0])
        ADD_TEXT(info->driver, "amdgpu %s", kernel);
    return STATUS_OK;
}

/* ---- the tables ---- */

static const struct gpu_hint hints[] = {
    {GPU_NO_DEVICE, true, NULL},
    {GPU_INVALID_DEVICE, true, NULL},
    {0, false, NULL},
};

static const struct gpu_device_file files[] = {
    {"kfd", "kfd", "the amdgpu driver is not loaded, or this container was not given it"},
    {"dri/renderD*", NULL, NULL},
    {NULL, NULL, NULL},
};

static const char *const masks[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", NULL};

#define ATTRIBUTE(fact, cuda, hip, cuda_rule, hip_rule) [FACT_##fact] = {hip, hip_rule},
const struct gpu_vendor hip_vendor = {
    .ops = &device_hip,
    .library = "libamdhip64",
    /* Global, as in a program linked with it: its plug-ins may need its symbols, or those of its dependencies. */
    .place = {"HIP", "ROOFTILE_HIP_LIBRARY", places, symbols, RTLD_GLOBAL},
    .pci_vendor = "1002",
    .hints = hints,
    .files = files,
    .masks = masks,
    .attributes = {GPU_FACT_TABLE(ATTRIBUTE)},
    .pinned_flags = 0, /* fine-grained: both sides see writes while a kernel runs */
    .pinned_coarse_flags = HIP_HOST_MALLOC_NON_COHERENT,
    .pinned_user_node = HIP_HOST_MALLOC_NUMA_USER,
    .error_name = error_name,
    .enter = enter,
    .reach = reach,
    .copy = copy,
    .load = load,
    .count_work = count_work,
    .describe = describe,
    .find_ranges = roctx_find,
    .no_ranges = ROCTX_MISSING,
};
