/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cuda.h"
#include "rooftile/file.h"

/* What the compiler of PTX said, its first line. */
static enum status explain_image(const char *log, const char *path, struct err *err)
{
    const struct err cause = *err;
    if (log[0])
        return err_set(err, cause.status, "%s: %s: %.*s", path, cause.text, (int)strcspn(log, "\n"), log);
    return err_within(err, "%s", path);
}

enum status cuda_load(struct gpu_code **code, const struct gpu *gpu, const char *path, struct err *err)
{
    struct arena arena = {0};
    struct CUmod_st *loaded = NULL;
    char *image = NULL, log[512] = "";
    size_t length;
    unsigned options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof(log) - 1)};
    struct err reading = {0};
    enum status status = STATUS_OK;
    /* PTX ends with the zero that file_read puts behind it; a cubin knows its own length. */
    if (file_read(&image, &length, path, FILE_LIMIT_BYTES, &arena, &reading))
        status = err_set(err, ERR_DEVICE, "%s", reading.text);
    else if (CUDA_TRY(gpu, err, cuModuleLoadDataEx, &loaded, image, 2, options, values))
        status = explain_image(log, path, err);
    if (!status)
        *code = (struct gpu_code *)loaded;
    arena_release(&arena);
    return status;
}

void cuda_unload(const struct gpu *gpu, struct gpu_code *code)
{
    cuda_api_of(gpu)->cuModuleUnload((struct CUmod_st *)code);
}

enum status cuda_find(struct gpu_function **function, const struct gpu *gpu, struct gpu_code *code, const char *symbol,
                      struct err *err)
{
    const struct cuda_api *api = cuda_api_of(gpu);
    struct CUfunc_st *found = NULL;
    const cuda_error error = api->cuModuleGetFunction(&found, (struct CUmod_st *)code, symbol);
    *function = error ? NULL : (struct gpu_function *)found;
    return error == CUDA_NOT_FOUND ? STATUS_OK : cuda_check(api, error, "cuModuleGetFunction", err);
}

/* Which of them are pointers, no driver tells. */
static void read_parameters(struct kernel_info *info, const struct cuda_api *api, struct CUfunc_st *function)
{
    size_t offset, size;
    info->sizes_only = true;
    while (api->cuFuncGetParamInfo && info->arg_count < DEVICE_MAX_ARGS &&
           api->cuFuncGetParamInfo(function, info->arg_count, &offset, &size) == CUDA_OK)
        info->args[info->arg_count++].size_bytes = (uint32_t)size;
}

enum status cuda_prepare(struct kernel_info *info, const struct gpu *gpu, struct gpu_function *handle, struct err *err)
{
    struct CUfunc_st *function = (struct CUfunc_st *)handle;
    int lds_bytes = 0;
    enum status status = CUDA_TRY(gpu, err, cuFuncGetAttribute, &lds_bytes, CUDA_FUNCTION_SHARED_BYTES, function);
    /* Beyond 48 KiB a function must be told; what it then takes is still each launch's own. */
    if (!status && (uint64_t)lds_bytes < gpu->lds_bytes)
        status = CUDA_TRY(gpu, err, cuFuncSetAttribute, function, CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES,
                          (int)(gpu->lds_bytes - (uint64_t)lds_bytes));
    if (status)
        return status;
    info->lds_bytes = (uint32_t)lds_bytes;
    read_parameters(info, cuda_api_of(gpu), function);
    return STATUS_OK;
}
