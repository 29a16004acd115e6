/* SPDX-License-Identifier: MIT
 *
 * What AMD's own libraries call besides (rocBLAS 5.5 and 7.2 were run): kernels that a program carries inside and
 * registers when it is loaded, code objects in memory, and memory by stream. With HIP's prototypes.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/device/gpu_calls.h"

#define API __attribute__((visibility("default")))
#define CALL(member, cuda, hip, need, parameters) gpu_error hip parameters;
#define CALL_OWN(symbol, need, parameters) gpu_error symbol parameters;
GPU_CALLS(CALL, GPU_NOTHING, CALL_OWN)

enum { INVALID_VALUE = 1, INVALID_DEVICE_FUNCTION = 98 };
struct dim3 {
    unsigned x, y, z;
};

/* ---- kernels that a program carries ---- */

struct fat {
    uint32_t magic, version;
    const void *bundle;
    void *unused;
};
struct program {
    const void *bundle;
    struct gpu_code *code; /* NULL: not asked for */
};
struct kernel {
    struct kernel *next;
    const void *host;
    const char *name;
    struct program *program;
    struct gpu_function *function; /* NULL: not asked for */
};
static struct {
    pthread_mutex_t lock;
    struct kernel *first;
} kernels = {.lock = PTHREAD_MUTEX_INITIALIZER};

API struct program *__hipRegisterFatBinary(const struct fat *fat)
{
    struct program *program = calloc(1, sizeof(*program));
    if (program)
        program->bundle = fat->bundle;
    return program;
}

API void __hipUnregisterFatBinary(struct program *program)
{
    (void)program; /* at the end of the process */
}

API void __hipRegisterFunction(struct program *program, const void *host, char *device, const char *name)
{
    struct kernel *kernel = calloc(1, sizeof(*kernel));
    (void)device;
    if (!kernel)
        return;
    *kernel = (struct kernel){.host = host, .name = name, .program = program};
    pthread_mutex_lock(&kernels.lock);
    kernel->next = kernels.first;
    kernels.first = kernel;
    pthread_mutex_unlock(&kernels.lock);
}

API void __hipRegisterVar(void)
{
}

API void __hipRegisterManagedVar(void)
{
}

/* What <<<...>>> says, until the stub of the kernel asks for it. */
static _Thread_local struct {
    struct dim3 grid, block;
    size_t lds_bytes;
    struct gpu_stream *stream;
} call;

API gpu_error __hipPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t lds_bytes,
                                         struct gpu_stream *stream)
{
    call.grid = grid;
    call.block = block;
    call.lds_bytes = lds_bytes;
    call.stream = stream;
    return GPU_SUCCESS;
}

API gpu_error __hipPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *lds_bytes,
                                        struct gpu_stream **stream)
{
    *grid = call.grid;
    *block = call.block;
    *lds_bytes = call.lds_bytes;
    *stream = call.stream;
    return GPU_SUCCESS;
}

/* launch.py finds where it ends. */
API gpu_error hipModuleLoadData(struct gpu_code **code, const void *image)
{
    char place[32];
    snprintf(place, sizeof(place), "at:%p", image);
    return hipModuleLoad(code, place);
}

static gpu_error find(struct gpu_function **function, const void *host)
{
    gpu_error error = GPU_SUCCESS;
    pthread_mutex_lock(&kernels.lock);
    struct kernel *kernel = kernels.first;
    while (kernel && kernel->host != host)
        kernel = kernel->next;
    if (!kernel)
        error = INVALID_DEVICE_FUNCTION;
    if (!error && !kernel->program->code)
        error = hipModuleLoadData(&kernel->program->code, kernel->program->bundle);
    if (!error && !kernel->function)
        error = hipModuleGetFunction(&kernel->function, kernel->program->code, kernel->name);
    if (!error)
        *function = kernel->function;
    pthread_mutex_unlock(&kernels.lock);
    return error;
}

API gpu_error hipLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **args, size_t lds_bytes,
                              struct gpu_stream *stream)
{
    struct gpu_function *function = NULL;
    const gpu_error error = find(&function, host);
    return error ? error
                 : hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                         (unsigned)lds_bytes, stream, args, NULL);
}

/* ---- the rest ---- */

API const char *hipGetErrorString(gpu_error code)
{
    const char *hipGetErrorName(gpu_error);
    return hipGetErrorName(code);
}

API gpu_error hipGetLastError(void)
{
    return GPU_SUCCESS;
}

API gpu_error hipExtGetLastError(void)
{
    return GPU_SUCCESS;
}

API gpu_error hipGetDevice(int *device)
{
    *device = 0;
    return GPU_SUCCESS;
}

API gpu_error hipMallocAsync(void **pointer, size_t size, struct gpu_stream *stream)
{
    (void)stream;
    return hipMalloc(pointer, size);
}

API gpu_error hipFreeAsync(void *pointer, struct gpu_stream *stream)
{
    (void)stream;
    return hipFree(pointer);
}

API gpu_error hipDeviceGetDefaultMemPool(void **pool, int device)
{
    *pool = NULL;
    return hipSetDevice(device);
}

API gpu_error hipMemPoolTrimTo(void *pool, size_t bytes)
{
    (void)pool;
    (void)bytes;
    return GPU_SUCCESS;
}

API gpu_error hipMemsetAsync(void *to, int byte, size_t size, struct gpu_stream *stream)
{
    return hipMemsetD8Async(to, (unsigned char)byte, size, stream);
}

API gpu_error hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                               size_t height, unsigned kind, struct gpu_stream *stream)
{
    gpu_error error = GPU_SUCCESS;
    for (size_t row = 0; row < height && !error; row++)
        error = hipMemcpyAsync((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind, stream);
    return error;
}

API gpu_error hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                          unsigned kind)
{
    return hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

API gpu_error hipStreamIsCapturing(struct gpu_stream *stream, unsigned *status)
{
    (void)stream;
    *status = 0;
    return GPU_SUCCESS;
}

API gpu_error hipStreamQuery(struct gpu_stream *stream)
{
    (void)stream;
    return GPU_SUCCESS;
}

API gpu_error hipStreamSynchronize(struct gpu_stream *stream)
{
    (void)stream;
    return GPU_SUCCESS;
}

API gpu_error hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct gpu_function *function, int size,
                                                                 size_t lds_bytes)
{
    (void)function;
    (void)size;
    (void)lds_bytes;
    *blocks = 1;
    return GPU_SUCCESS;
}
