/* SPDX-License-Identifier: MIT
 *
 * The part of CUDA's driver interface that rooftile uses, in our own prototypes, so that one binary is built without
 * CUDA and runs with any driver. Members have the names of the library's symbols, whose endings (_v2) name the revision
 * of an interface: a driver keeps all old ones. Tags of structures are NVIDIA's; enumerations have no negative values
 * and are unsigned, as in C they are.
 */
#ifndef ROOFTILE_DEVICE_CUDA_API_H
#define ROOFTILE_DEVICE_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned cuda_error;
typedef unsigned long long cuda_address; /* of the host's memory too: both share one space of addresses */

enum {
    CUDA_OK = 0,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_DEINITIALIZED = 4,
    CUDA_STUB_LIBRARY = 34,
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_CONTEXT = 201,
    CUDA_ECC_UNCORRECTABLE = 214,
    CUDA_NVLINK_UNCORRECTABLE = 220,
    CUDA_CONTAINED = 226,
    CUDA_OPERATING_SYSTEM = 304,
    CUDA_NOT_FOUND = 500,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_LAUNCH_TIMEOUT = 702,
    CUDA_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_CONTEXT_IS_DESTROYED = 709,
    CUDA_ASSERT = 710,
    CUDA_HARDWARE_STACK_ERROR = 714,
    CUDA_ILLEGAL_INSTRUCTION = 715,
    CUDA_MISALIGNED_ADDRESS = 716,
    CUDA_INVALID_ADDRESS_SPACE = 717,
    CUDA_INVALID_PC = 718,
    CUDA_LAUNCH_FAILED = 719,
    CUDA_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CUDA_TENSOR_MEMORY_LEAK = 721,
    CUDA_NOT_SUPPORTED = 801,
    CUDA_SYSTEM_NOT_READY = 802,
    CUDA_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_MPS_CLIENT_TERMINATED = 810,
    CUDA_EXTERNAL_DEVICE = 911,
    CUDA_UNKNOWN = 999,
};

enum { CUDA_STREAM_NON_BLOCKING = 1 };                     /* does not wait for the null stream */
enum { CUDA_MEM_ATTACH_GLOBAL = 1 };                       /* managed memory that every stream may use */
enum { CUDA_HOST_PORTABLE = 1, CUDA_HOST_DEVICE_MAP = 2 }; /* pinned for all contexts; reached by kernels */
enum { CUDA_CAPTURE_THREAD_LOCAL = 1 };                    /* what other threads call meanwhile is their affair */
enum { CUDA_FUNCTION_SHARED_BYTES = 1, CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 8 };
enum { CUDA_JIT_ERROR_LOG = 5, CUDA_JIT_ERROR_LOG_BYTES = 6 };

enum {
    CUDA_MAX_THREADS_PER_BLOCK = 1,
    CUDA_MAX_GRID_X = 5,
    CUDA_MAX_GRID_Y = 6,
    CUDA_MAX_GRID_Z = 7,
    CUDA_WARP_SIZE = 10,
    CUDA_CLOCK_RATE = 13, /* kHz */
    CUDA_MULTIPROCESSOR_COUNT = 16,
    CUDA_MEMORY_CLOCK_RATE = 36, /* kHz */
    CUDA_L2_CACHE_SIZE = 38,
    CUDA_UNIFIED_ADDRESSING = 41,
    CUDA_CAPABILITY_MAJOR = 75,
    CUDA_CAPABILITY_MINOR = 76,
    CUDA_MANAGED_MEMORY = 83,
    CUDA_PAGEABLE_MEMORY_ACCESS = 88,
    CUDA_COOPERATIVE_LAUNCH = 95,
    CUDA_MAX_SHARED_MEMORY_OPTIN = 97, /* per block, when a function asks for more than 48 KiB */
};

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmod_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUuuid_st;

/* Parameter lists look like products to it. */
/* clang-format off */
/* X(symbol, parameters): functions that return an error code and that every driver since CUDA 11 has. */
#define CUDA_REQUIRED(X)                                                                                               \
    X(cuInit, (unsigned flags))                                                                                        \
    X(cuDriverGetVersion, (int *version))                                                                              \
    X(cuDeviceGetCount, (int *count))                                                                                  \
    X(cuDeviceGet, (int *device, int ordinal))                                                                         \
    X(cuDeviceGetName, (char *name, int size, int device))                                                             \
    X(cuDeviceGetAttribute, (int *value, unsigned attribute, int device))                                              \
    X(cuDevicePrimaryCtxRetain, (struct CUctx_st **context, int device))                                               \
    X(cuDevicePrimaryCtxRelease_v2, (int device))                                                                      \
    X(cuCtxSetCurrent, (struct CUctx_st *context))                                                                     \
    X(cuCtxSynchronize, (void))                                                                                        \
    X(cuMemGetInfo_v2, (size_t *free_bytes, size_t *total_bytes))                                                      \
    X(cuMemAlloc_v2, (cuda_address *pointer, size_t size))                                                             \
    X(cuMemFree_v2, (cuda_address pointer))                                                                            \
    X(cuMemcpy, (cuda_address to, cuda_address from, size_t size))                                                     \
    X(cuMemcpyAsync, (cuda_address to, cuda_address from, size_t size, struct CUstream_st *stream))                    \
    X(cuMemsetD8Async, (cuda_address to, unsigned char byte, size_t size, struct CUstream_st *stream))                 \
    X(cuModuleLoadDataEx, (struct CUmod_st **module, const void *image, unsigned count, unsigned *options,             \
                           void **values))                                                                             \
    X(cuModuleUnload, (struct CUmod_st *module))                                                                       \
    X(cuModuleGetFunction, (struct CUfunc_st **function, struct CUmod_st *module, const char *name))                   \
    X(cuFuncGetAttribute, (int *value, unsigned attribute, struct CUfunc_st *function))                                \
    X(cuFuncSetAttribute, (struct CUfunc_st *function, unsigned attribute, int value))                                 \
    X(cuLaunchKernel, (struct CUfunc_st *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                  \
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,                       \
                       struct CUstream_st *stream, void **args, void **extra))                                         \
    X(cuStreamCreate, (struct CUstream_st **stream, unsigned flags))                                                   \
    X(cuStreamDestroy_v2, (struct CUstream_st *stream))                                                                \
    X(cuStreamSynchronize, (struct CUstream_st *stream))                                                               \
    X(cuStreamWaitEvent, (struct CUstream_st *stream, struct CUevent_st *event, unsigned flags))                       \
    X(cuEventCreate, (struct CUevent_st **event, unsigned flags))                                                      \
    X(cuEventDestroy_v2, (struct CUevent_st *event))                                                                   \
    X(cuEventRecord, (struct CUevent_st *event, struct CUstream_st *stream))                                           \
    X(cuEventElapsedTime, (float *time_ms, struct CUevent_st *from, struct CUevent_st *to))

/* Functions that may be NULL. */
#define CUDA_OPTIONAL(X)                                                                                               \
    X(cuDeviceGetPCIBusId, (char *bdf, int size, int device))                                                          \
    X(cuDeviceGetUuid_v2, (struct CUuuid_st *uuid, int device))                                                        \
    X(cuMemHostAlloc, (void **pointer, size_t size, unsigned flags))                                                   \
    X(cuMemFreeHost, (void *pointer))                                                                                  \
    X(cuMemAllocManaged, (cuda_address *pointer, size_t size, unsigned flags))                                         \
    X(cuDeviceCanAccessPeer, (int *can, int device, int peer))                                                         \
    X(cuCtxEnablePeerAccess, (struct CUctx_st *peer, unsigned flags))                                                  \
    X(cuFuncGetParamInfo, (struct CUfunc_st *function, size_t index, size_t *offset, size_t *size))                    \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                                     \
      (int *count, struct CUfunc_st *function, int block, size_t lds_bytes))                                           \
    X(cuLaunchCooperativeKernel, (struct CUfunc_st *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,       \
                                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,            \
                                  struct CUstream_st *stream, void **args))                                            \
    X(cuStreamBeginCapture_v2, (struct CUstream_st *stream, unsigned mode))                                            \
    X(cuStreamEndCapture, (struct CUstream_st *stream, struct CUgraph_st **graph))                                     \
    X(cuGraphInstantiateWithFlags, (struct CUgraphExec_st **exec, struct CUgraph_st *graph, unsigned long long flags)) \
    X(cuGraphLaunch, (struct CUgraphExec_st *exec, struct CUstream_st *stream))                                        \
    X(cuGraphExecDestroy, (struct CUgraphExec_st *exec))                                                               \
    X(cuGraphDestroy, (struct CUgraph_st *graph))                                                                      \
    X(cuGetErrorName, (cuda_error code, const char **name))                                                            \
    X(cuGetErrorString, (cuda_error code, const char **text))
/* clang-format on */

#define CUDA_MEMBER(name, parameters) cuda_error(*name) parameters;
struct cuda_api {
    CUDA_REQUIRED(CUDA_MEMBER)
    CUDA_OPTIONAL(CUDA_MEMBER)
};

#endif
