/* SPDX-License-Identifier: MIT
 *
 * The part of HIP's interface that rooftile uses, in our own prototypes, so that one binary is built without ROCm and
 * runs with any. What AMD changes between releases (the layout of the device properties, names in C++) stays out of
 * here: see hip_properties.c and hip_library.c. Enumerations of HIP have no negative values and are unsigned, as in C
 * they are.
 */
#ifndef ROOFTILE_DEVICE_HIP_API_H
#define ROOFTILE_DEVICE_HIP_API_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned hip_error;

enum {
    HIP_SUCCESS = 0,
    HIP_OUT_OF_MEMORY = 2,
    HIP_DEINITIALIZED = 4,
    HIP_NO_DEVICE = 100,
    HIP_INVALID_DEVICE = 101,
    HIP_NO_BINARY_FOR_GPU = 209,
    HIP_ECC_NOT_CORRECTABLE = 214,
    HIP_NOT_FOUND = 500,
    HIP_ILLEGAL_ADDRESS = 700,
    HIP_LAUNCH_TIME_OUT = 702,
    HIP_PEER_ACCESS_ALREADY_ENABLED = 704,
    HIP_CONTEXT_IS_DESTROYED = 709,
    HIP_ASSERT = 710,
    HIP_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    HIP_LAUNCH_FAILURE = 719,
    HIP_NOT_SUPPORTED = 801,
    HIP_UNKNOWN = 999,
};

enum { HIP_MEMCPY_DEFAULT = 4 };      /* the addresses say which side is the host */
enum { HIP_STREAM_NON_BLOCKING = 1 }; /* does not wait for the null stream */
enum { HIP_MEM_ATTACH_GLOBAL = 1 };   /* managed memory that every stream may use */
enum { HIP_MALLOC_FINE_GRAINED = 1 }; /* coherent with the host while a kernel runs */
#define HIP_HOST_MALLOC_NON_COHERENT 0x80000000u /* caches may hold it while a kernel runs: coarse-grained */
enum { HIP_FUNCTION_STATIC_LDS = 1 }; /* hipFuncGetAttribute: bytes of __shared__ variables */
enum { HIP_CAPTURE_THREAD_LOCAL = 1 }; /* what other threads call meanwhile is their affair */

/* Values that did not change from ROCm 5.2 to 10; the last two are missing in 5.2. */
enum {
    HIP_CLOCK_RATE = 5, /* kHz */
    HIP_COOPERATIVE_LAUNCH = 10,
    HIP_L2_CACHE_SIZE = 19,
    HIP_MANAGED_MEMORY = 24,
    HIP_MAX_GRID_X = 29,
    HIP_MAX_GRID_Y = 30,
    HIP_MAX_GRID_Z = 31,
    HIP_MAX_THREADS_PER_BLOCK = 56,
    HIP_MEMORY_CLOCK_RATE = 60, /* kHz */
    HIP_MULTIPROCESSOR_COUNT = 63,
    HIP_PAGEABLE_MEMORY_ACCESS = 65,
    HIP_MAX_SHARED_MEMORY_PER_BLOCK = 74,
    HIP_WARP_SIZE = 87,
    HIP_CLOCK_INSTRUCTION_RATE = 10000, /* kHz */
    HIP_PHYSICAL_MULTIPROCESSOR_COUNT = 10015,
    HIP_WALL_CLOCK_RATE = 10017, /* kHz */
    HIP_NUMBER_OF_XCCS = 10018,
};

struct ihipStream_t;
struct ihipEvent_t;
struct ihipModule_t;
struct ihipModuleSymbol_t;
struct hipUUID_t;
struct ihipGraph;
struct hipGraphExec;
struct hipGraphNode;

/* Parameter lists look like products to it. */
/* clang-format off */
/* X(name, parameters): functions that return an error code and that every supported library has. */
#define HIP_REQUIRED(X)                                                                                                \
    X(hipInit, (unsigned flags))                                                                                       \
    X(hipGetDeviceCount, (int *count))                                                                                 \
    X(hipSetDevice, (int device))                                                                                      \
    X(hipDeviceGetAttribute, (int *value, unsigned attribute, int device))                                             \
    X(hipDeviceGetName, (char *name, int size, int device))                                                            \
    X(hipMemGetInfo, (size_t *free_bytes, size_t *total_bytes))                                                        \
    X(hipMalloc, (void **pointer, size_t size))                                                                        \
    X(hipFree, (void *pointer))                                                                                        \
    X(hipMemcpy, (void *to, const void *from, size_t size, unsigned kind))                                             \
    X(hipMemcpyAsync, (void *to, const void *from, size_t size, unsigned kind, struct ihipStream_t *stream))           \
    X(hipMemsetAsync, (void *to, int byte, size_t size, struct ihipStream_t *stream))                                  \
    X(hipModuleLoad, (struct ihipModule_t **module, const char *path))                                                 \
    X(hipModuleUnload, (struct ihipModule_t *module))                                                                  \
    X(hipModuleGetFunction, (struct ihipModuleSymbol_t **function, struct ihipModule_t *module, const char *name))     \
    X(hipModuleLaunchKernel, (struct ihipModuleSymbol_t *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,  \
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,                \
                              struct ihipStream_t *stream, void **args, void **extra))                                 \
    X(hipStreamCreateWithFlags, (struct ihipStream_t **stream, unsigned flags))                                        \
    X(hipStreamDestroy, (struct ihipStream_t *stream))                                                                 \
    X(hipStreamWaitEvent, (struct ihipStream_t *stream, struct ihipEvent_t *event, unsigned flags))                    \
    X(hipEventCreate, (struct ihipEvent_t **event))                                                                    \
    X(hipEventDestroy, (struct ihipEvent_t *event))                                                                    \
    X(hipEventRecord, (struct ihipEvent_t *event, struct ihipStream_t *stream))                                        \
    X(hipEventElapsedTime, (float *time_ms, struct ihipEvent_t *from, struct ihipEvent_t *to))                         \
    X(hipDeviceSynchronize, (void))

/* Functions that may be NULL. */
#define HIP_OPTIONAL(X)                                                                                                \
    X(hipGetDevicePropertiesR0600, (void *properties, int device))                                                     \
    X(hipGetDeviceProperties, (void *properties, int device))                                                          \
    X(hipDeviceGetPCIBusId, (char *bdf, int size, int device))                                                         \
    X(hipDeviceGetUuid, (struct hipUUID_t *uuid, int device))                                                          \
    X(hipRuntimeGetVersion, (int *version))                                                                            \
    X(hipHostMalloc, (void **pointer, size_t size, unsigned flags))                                                    \
    X(hipHostFree, (void *pointer))                                                                                    \
    X(hipMallocManaged, (void **pointer, size_t size, unsigned flags))                                                 \
    X(hipExtMallocWithFlags, (void **pointer, size_t size, unsigned flags))                                            \
    X(hipDeviceCanAccessPeer, (int *can, int device, int peer))                                                        \
    X(hipDeviceEnablePeerAccess, (int peer, unsigned flags))                                                           \
    X(hipFuncGetAttribute, (int *value, unsigned attribute, struct ihipModuleSymbol_t *function))                      \
    X(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,                                                              \
      (int *count, struct ihipModuleSymbol_t *function, int block, size_t lds_bytes))                                  \
    X(hipExtModuleLaunchKernel,                                                                                        \
      (struct ihipModuleSymbol_t *function, uint32_t work_x, uint32_t work_y, uint32_t work_z, uint32_t block_x,       \
       uint32_t block_y, uint32_t block_z, size_t lds_bytes, struct ihipStream_t *stream, void **args, void **extra,   \
       struct ihipEvent_t *from, struct ihipEvent_t *to, uint32_t flags))                                              \
    X(hipModuleLaunchCooperativeKernel,                                                                                \
      (struct ihipModuleSymbol_t *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,       \
       unsigned block_y, unsigned block_z, unsigned lds_bytes, struct ihipStream_t *stream, void **args))              \
    X(hipStreamBeginCapture, (struct ihipStream_t *stream, unsigned mode))                                             \
    X(hipStreamEndCapture, (struct ihipStream_t *stream, struct ihipGraph **graph))                                    \
    X(hipGraphInstantiate, (struct hipGraphExec **exec, struct ihipGraph *graph, struct hipGraphNode **failed,         \
                            char *log, size_t log_bytes))                                                              \
    X(hipGraphLaunch, (struct hipGraphExec *exec, struct ihipStream_t *stream))                                        \
    X(hipGraphExecDestroy, (struct hipGraphExec *exec))                                                                \
    X(hipGraphDestroy, (struct ihipGraph *graph))
/* clang-format on */

#define HIP_MEMBER(name, parameters) hip_error(*name) parameters;
struct hip_api {
    HIP_REQUIRED(HIP_MEMBER)
    HIP_OPTIONAL(HIP_MEMBER)
    const char *(*hipGetErrorName)(hip_error code); /* optional */
};

#endif
