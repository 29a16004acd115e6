/* SPDX-License-Identifier: MIT
 *
 * What libcuda has alone.
 */
#define FAKE_PREFIX "FAKE_CUDA_"
#define FAKE_NAME(device) "NVIDIA Fake H200"
#define FAKE_PCI "FFFF:%02X:00.0"
#define FAKE_UUID "\x01\x23\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10"
#define FAKE_UNITS 132
#define PINNED_FLAGS (CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP)
#define PINNED_COARSE_FLAGS PINNED_FLAGS
#define PINNED_FAR_FLAGS PINNED_FLAGS
enum { HAS_CONTEXTS = 1, STEP_NS = 8, UNKNOWN = -1, COUNTER_MHZ = 1000, MAX_DEVICES = 8 };
#define MOST_GROUPS 65535
#define MOST_ITEMS UINT64_MAX

#include "fake_gpu_kernels.h"

struct gpu_context {
    int device, uses;
};
static struct gpu_context contexts[MAX_DEVICES];

__attribute__((constructor)) static void without_a_context(void)
{
    state.current_device = -1;
}

static int fact_value(enum gpu_fact fact)
{
    static const int values[GPU_FACTS] = {
        [FACT_WAVE] = 32,           [FACT_UNITS] = FAKE_UNITS, [FACT_BLOCK] = 1024,
        [FACT_GRID_X] = 2147483647, [FACT_GRID_Y] = 65535,     [FACT_GRID_Z] = 65535,
        [FACT_LDS] = 232448,        [FACT_CORE_KHZ] = 1980000, [FACT_MEMORY_KHZ] = 3201000,
        [FACT_L2] = 62914560,       [FACT_TOGETHER] = 1,       [FACT_UNIFIED] = 1,
        [FACT_MANAGED] = 1,
    };
    const char *told = getenv("FAKE_CUDA_CAPABILITY");
    const int capability = told ? (int)strtol(told, NULL, 10) : 90;
    return fact == FACT_CAPABILITY_MAJOR   ? capability / 10
           : fact == FACT_CAPABILITY_MINOR ? capability % 10
                                           : values[fact];
}

static int may_have_lds(unsigned lds_bytes)
{
    return (int)lds_bytes <= 48 * 1024 - 4096 || (int)lds_bytes <= state.most_lds_bytes;
}

/* ---- devices and contexts ---- */

gpu_error cuDriverGetVersion(int *version)
{
    FAIL_IF(__func__, 0);
    *version = 13020;
    return GPU_SUCCESS;
}

gpu_error cuDeviceGet(int *device, int ordinal)
{
    FAIL_IF(__func__, 0);
    if (ordinal >= device_count() || ordinal >= MAX_DEVICES)
        return GPU_INVALID_DEVICE;
    *device = ordinal;
    return GPU_SUCCESS;
}

gpu_error cuDevicePrimaryCtxRetain(struct gpu_context **context, int device)
{
    FAIL_IF(__func__, 0);
    contexts[device].device = device;
    ++contexts[device].uses;
    ++state.live_contexts;
    events = 0;
    *context = &contexts[device];
    return GPU_SUCCESS;
}

gpu_error cuDevicePrimaryCtxRelease_v2(int device)
{
    --contexts[device].uses;
    --state.live_contexts;
    if (state.current_device == device)
        state.current_device = -1;
    state.sticky = GPU_SUCCESS;
    FAIL_IF(__func__, 0);
    return GPU_SUCCESS;
}

gpu_error cuCtxSetCurrent(struct gpu_context *context)
{
    FAIL_IF(__func__, 0);
    if (!context->uses)
        return GPU_INVALID_CONTEXT;
    state.current_device = context->device;
    return GPU_SUCCESS;
}

/* ---- memory and code ---- */

gpu_error cuMemcpy(gpu_address to, gpu_address from, size_t size)
{
    FAIL_IF(__func__, 1);
    return copy_and_wait(to, from, size);
}

gpu_error cuMemcpyAsync(gpu_address to, gpu_address from, size_t size, struct gpu_stream *stream)
{
    FAIL_IF(__func__, 1);
    return copy_in_stream(to, from, size, stream);
}

gpu_error cuModuleLoadDataEx(struct gpu_code **module, const void *image, unsigned count, unsigned *options,
                             void **values)
{
    FAIL_IF(__func__, 1);
    if (strncmp(image, "bad", 3) == 0) {
        for (unsigned i = 0; i < count; ++i)
            if (options[i] == CUDA_JIT_ERROR_LOG)
                snprintf(values[i], 64, "ptxas line 1; fatal: no version\nand more\n");
        return INVALID_IMAGE;
    }
    return make_module(module);
}

gpu_error cuFuncGetAttribute(int *value, unsigned attribute, struct gpu_function *function)
{
    (void)function;
    FAIL_IF(__func__, 1);
    *value = attribute == CUDA_FUNCTION_SHARED_BYTES ? 4096 : 0;
    return GPU_SUCCESS;
}

gpu_error cuFuncSetAttribute(struct gpu_function *function, unsigned attribute, int value)
{
    (void)function;
    FAIL_IF(__func__, 1);
    if (attribute != CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES || value > 232448 - 4096)
        return INVALID_VALUE;
    state.most_lds_bytes = value;
    return GPU_SUCCESS;
}

gpu_error cuStreamSynchronize(struct gpu_stream *stream)
{
    (void)stream;
    FAIL_IF(__func__, 1);
    return GPU_SUCCESS;
}

/* ---- what a driver may lack ---- */

#ifndef FAKE_BARE
gpu_error cuCtxEnablePeerAccess(struct gpu_context *peer, unsigned flags)
{
    FAIL_IF(__func__, 1);
    return flags || !peer->uses ? INVALID_VALUE : enable_peer(peer->device);
}

/* Only store tells its arguments. */
gpu_error cuFuncGetParamInfo(struct gpu_function *function, size_t index, size_t *offset, size_t *size)
{
    const char *told = getenv("FAKE_CUDA_SECOND_ARGUMENT");
    FAIL_IF(__func__, 1);
    if (function != functions || index > 1)
        return INVALID_VALUE;
    *offset = index * 8;
    *size = !index ? 8 : told ? strtoul(told, NULL, 10) : 4;
    return GPU_SUCCESS;
}

static const struct {
    gpu_error code;
    const char *name, *text;
} errors[] = {
    {GPU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {GPU_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {GPU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {GPU_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {GPU_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

static gpu_error tell(gpu_error code, const char **out, int as_text)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); ++i)
        if (errors[i].code == code) {
            *out = as_text ? errors[i].text : errors[i].name;
            return GPU_SUCCESS;
        }
    *out = NULL;
    return INVALID_VALUE;
}

gpu_error cuGetErrorName(gpu_error code, const char **name)
{
    return tell(code, name, 0);
}

gpu_error cuGetErrorString(gpu_error code, const char **text)
{
    return tell(code, text, 1);
}
#endif
