/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "gpu.h"

enum status gpu_load(struct device_module **module, struct device *device, const char *path, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    struct gpu_code *code = NULL;
    const enum status status = gpu->vendor->api->load(&code, gpu, path, err);
    if (status)
        return status;
    struct device_module *loaded = calloc(1, sizeof(*loaded));
    if (!loaded)
        arena_out_of_memory(sizeof(*loaded));
    loaded->code = code;
    *module = loaded;
    return STATUS_OK;
}

void gpu_unload(struct device *device, struct device_module *module)
{
    const struct gpu *gpu = (const struct gpu *)device;
    if (!module)
        return;
    if (module->code)
        gpu->vendor->api->unload(gpu, module->code);
    while (module->kernels) {
        struct device_kernel *kernel = module->kernels;
        module->kernels = kernel->next;
        free(kernel);
    }
    free(module);
}

static enum status find_function(struct gpu_function **function, struct kernel_info *info, const struct gpu *gpu,
                                 struct gpu_code *code, const char *symbol, struct err *err)
{
    const struct gpu_api *api = gpu->vendor->api;
    enum status status = api->find(function, gpu, code, symbol, err);
    if (!status && !*function)
        return err_set(err, ERR_DEVICE, "no kernel '%s' in the module", symbol);
    if (!status)
        status = api->prepare(info, gpu, *function, err);
    return status ? err_within(err, "kernel '%s'", symbol) : STATUS_OK;
}

enum status gpu_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                       struct device_module *module, const char *symbol, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_function *function = NULL;
    struct kernel_info facts = {0};
    if (module->find)
        return module->find(kernel, info, gpu, module, symbol, err);
    const enum status status = find_function(&function, &facts, gpu, module->code, symbol, err);
    if (status)
        return status;
    struct device_kernel *found = calloc(1, sizeof(*found));
    if (!found)
        arena_out_of_memory(sizeof(*found));
    *found = (struct device_kernel){.next = module->kernels, .function = function, .module = module};
    module->kernels = found;
    *info = facts;
    *kernel = found;
    return STATUS_OK;
}

enum status gpu_resident_blocks(uint32_t *count, struct device *device, const struct device_launch *launch,
                                struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    const int block = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    int blocks = 0;
    if (!launch->kernel->function)
        return err_set(err, ERR_UNSUPPORTED, "a library's function has launches of its own");
    enum status status = gpu_require(gpu, GPU_OCCUPANCY, err);
    if (!status)
        status = gpu->vendor->api->resident(&blocks, gpu, launch->kernel->function, block, launch->lds_bytes, err);
    if (!status)
        *count = (uint32_t)blocks;
    return status;
}

enum status gpu_too_large(const struct device_launch *launch, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "%u x %u x %u workgroups cannot run at once on this device", launch->grid[0],
                   launch->grid[1], launch->grid[2]);
}

enum status gpu_launch_on(struct gpu *gpu, const struct device_launch *launch, struct gpu_stream *stream,
                          struct err *err)
{
    const struct gpu_api *api = gpu->vendor->api;
    const struct device_kernel *kernel = launch->kernel;
    if (kernel->call)
        return kernel->call(kernel, gpu, launch->args, stream, err);
    if (!launch->cooperative)
        return api->launch(gpu, kernel->function, launch, stream, err);
    const enum status status = gpu_require(gpu, GPU_COOPERATIVE, err);
    return status ? status : api->launch_together(gpu, kernel->function, launch, stream, err);
}

enum status gpu_launch(struct device *device, const struct device_launch *launch, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    const enum status status = gpu_stream_of(&stream, gpu, launch->stream, err);
    return status ? status : gpu_launch_on(gpu, launch, stream, err);
}
