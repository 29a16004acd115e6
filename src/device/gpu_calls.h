/* SPDX-License-Identifier: MIT
 *
 * The functions of the vendors' libraries that rooftile uses, CUDA's driver interface and HIP, with our own prototypes:
 * one binary is built without either toolkit and runs with any library. Most functions differ only in their names;
 * where HIP has two forms, the one equal to CUDA's is used. Enumerations have no negative values and are unsigned, as
 * they are in C. A file that replaces a vendor's header (tests/unit/device/test_*_prototypes.c) may define its own tags
 * and address type.
 *
 * CUDA's suffixes (_v2) name the revision of an interface; a driver keeps all old ones.
 */
#ifndef ROOFTILE_DEVICE_GPU_CALLS_H
#define ROOFTILE_DEVICE_GPU_CALLS_H

#include "rooftile/base.h"

typedef unsigned gpu_error;
#ifndef GPU_ADDRESS
#define GPU_ADDRESS void * /* CUDA's is an integer of the same size: host and device share an address space */
#endif
typedef GPU_ADDRESS gpu_address;

/* Handles of the library, which are never defined. */
struct gpu_stream; /* NULL: the null stream */
struct gpu_event;
struct gpu_code;     /* a loaded code object */
struct gpu_function; /* a function of it */
struct gpu_captured; /* a captured graph, */
struct gpu_instance; /* ... and its launchable instance */
struct gpu_uuid;
struct gpu_context; /* CUDA */

/* X(error, number, status). An error of both vendors has the same number; errors that are not listed are ERR_DEVICE. */
/* clang-format off */
#define GPU_ERRORS(X)                                                                                                  \
    X(GPU_SUCCESS, 0, STATUS_OK)                                                                                       \
    X(GPU_OUT_OF_MEMORY, 2, ERR_DEVICE_MEMORY)                                                                         \
    X(GPU_DEINITIALIZED, 4, ERR_DEVICE_LOST)                                                                           \
    X(GPU_STUB_LIBRARY, 34, ERR_DEVICE) /* CUDA */                                                                     \
    X(GPU_NO_DEVICE, 100, ERR_DEVICE_LOST)                                                                             \
    X(GPU_INVALID_DEVICE, 101, ERR_DEVICE)                                                                             \
    X(GPU_INVALID_CONTEXT, 201, ERR_DEVICE_LOST)                                                                       \
    X(GPU_ECC_UNCORRECTABLE, 214, ERR_DEVICE_LOST)                                                                     \
    X(GPU_NVLINK_UNCORRECTABLE, 220, ERR_DEVICE_LOST) /* CUDA */                                                       \
    X(GPU_CONTAINED, 226, ERR_DEVICE_LOST) /* CUDA */                                                                  \
    X(GPU_OPERATING_SYSTEM, 304, ERR_DEVICE)                                                                           \
    X(GPU_NOT_FOUND, 500, ERR_DEVICE)                                                                                  \
    X(GPU_ILLEGAL_ADDRESS, 700, ERR_DEVICE_LOST)                                                                       \
    X(GPU_LAUNCH_TIMEOUT, 702, ERR_DEVICE_LOST)                                                                        \
    X(GPU_PEER_ACCESS_ALREADY_ENABLED, 704, ERR_DEVICE)                                                                \
    X(GPU_CONTEXT_IS_DESTROYED, 709, ERR_DEVICE_LOST)                                                                  \
    X(GPU_ASSERT, 710, ERR_DEVICE_LOST)                                                                                \
    X(GPU_HARDWARE_STACK_ERROR, 714, ERR_DEVICE_LOST) /* CUDA */                                                       \
    X(GPU_ILLEGAL_INSTRUCTION, 715, ERR_DEVICE_LOST) /* CUDA */                                                        \
    X(GPU_MISALIGNED_ADDRESS, 716, ERR_DEVICE_LOST) /* CUDA */                                                         \
    X(GPU_INVALID_ADDRESS_SPACE, 717, ERR_DEVICE_LOST) /* CUDA */                                                      \
    X(GPU_INVALID_PC, 718, ERR_DEVICE_LOST) /* CUDA */                                                                 \
    X(GPU_LAUNCH_FAILED, 719, ERR_DEVICE_LOST)                                                                         \
    X(GPU_COOPERATIVE_LAUNCH_TOO_LARGE, 720, ERR_DEVICE)                                                               \
    X(GPU_TENSOR_MEMORY_LEAK, 721, ERR_DEVICE_LOST) /* CUDA */                                                         \
    X(GPU_NOT_SUPPORTED, 801, ERR_UNSUPPORTED)                                                                         \
    X(GPU_SYSTEM_NOT_READY, 802, ERR_DEVICE) /* CUDA */                                                                \
    X(GPU_SYSTEM_DRIVER_MISMATCH, 803, ERR_DEVICE) /* CUDA */                                                          \
    X(GPU_MPS_CLIENT_TERMINATED, 810, ERR_DEVICE_LOST) /* CUDA */                                                      \
    X(GPU_EXTERNAL_DEVICE, 911, ERR_DEVICE_LOST) /* CUDA */                                                            \
    X(GPU_UNKNOWN, 999, ERR_DEVICE)
/* clang-format on */
#define GPU_ERROR(name, number, status) name = (number),
enum { GPU_ERRORS(GPU_ERROR) };

enum { GPU_STREAM_NON_BLOCKING = 1 };  /* does not wait for the null stream */
enum { GPU_MEM_ATTACH_GLOBAL = 1 };    /* managed memory that every stream may use */
enum { GPU_CAPTURE_THREAD_LOCAL = 1 }; /* calls of other threads are not captured */

/* ---- the functions ---- */

/* clang-format would treat parameter lists as products. */
/* clang-format off */
/* X(member, CUDA's symbol, HIP's symbol, who needs it (enum gpu_feature), parameters) for functions of both.
 * CUDA(symbol, who needs it, parameters) and HIP(the same) for functions that only one has or that differ. */
#define GPU_CALLS(X, CUDA, HIP)                                                                                        \
    X(init, cuInit, hipInit, GPU_REQUIRED, (unsigned flags))                                                           \
    X(count, cuDeviceGetCount, hipGetDeviceCount, GPU_REQUIRED, (int *count))                                          \
    X(name, cuDeviceGetName, hipDeviceGetName, GPU_REQUIRED, (char *name, int size, int device))                       \
    X(attribute, cuDeviceGetAttribute, hipDeviceGetAttribute, GPU_REQUIRED,                                            \
      (int *value, unsigned attribute, int device))                                                                    \
    X(pci_bus_id, cuDeviceGetPCIBusId, hipDeviceGetPCIBusId, GPU_OPTIONAL, (char *bdf, int size, int device))          \
    X(uuid, cuDeviceGetUuid_v2, hipDeviceGetUuid, GPU_OPTIONAL, (struct gpu_uuid *uuid, int device))                   \
    X(wait, cuCtxSynchronize, hipDeviceSynchronize, GPU_REQUIRED, (void))                                              \
    X(memory_info, cuMemGetInfo_v2, hipMemGetInfo, GPU_REQUIRED, (size_t *free_bytes, size_t *total_bytes))            \
    X(alloc, cuMemAlloc_v2, hipMalloc, GPU_REQUIRED, (gpu_address *pointer, size_t size))                              \
    X(free, cuMemFree_v2, hipFree, GPU_REQUIRED, (gpu_address pointer))                                                \
    X(host_alloc, cuMemHostAlloc, hipHostMalloc, GPU_PINNED, (void **pointer, size_t size, unsigned flags))            \
    X(host_free, cuMemFreeHost, hipHostFree, GPU_PINNED, (void *pointer))                                              \
    X(managed_alloc, cuMemAllocManaged, hipMallocManaged, GPU_MANAGED,                                                 \
      (gpu_address *pointer, size_t size, unsigned flags))                                                             \
    X(can_reach, cuDeviceCanAccessPeer, hipDeviceCanAccessPeer, GPU_PEER, (int *can, int device, int peer))            \
    X(fill, cuMemsetD8Async, hipMemsetD8Async, GPU_REQUIRED,                                                           \
      (gpu_address to, unsigned char byte, size_t size, struct gpu_stream *stream))                                    \
    X(unload, cuModuleUnload, hipModuleUnload, GPU_REQUIRED, (struct gpu_code *code))                                  \
    X(find, cuModuleGetFunction, hipModuleGetFunction, GPU_REQUIRED,                                                   \
      (struct gpu_function **function, struct gpu_code *code, const char *name))                                       \
    X(launch, cuLaunchKernel, hipModuleLaunchKernel, GPU_REQUIRED,                                                     \
      (struct gpu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,             \
       unsigned block_y, unsigned block_z, unsigned lds_bytes, struct gpu_stream *stream, void **args, void **extra))  \
    X(launch_together, cuLaunchCooperativeKernel, hipModuleLaunchCooperativeKernel, GPU_COOPERATIVE,                   \
      (struct gpu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,             \
       unsigned block_y, unsigned block_z, unsigned lds_bytes, struct gpu_stream *stream, void **args))                \
    X(stream_make, cuStreamCreate, hipStreamCreateWithFlags, GPU_REQUIRED,                                             \
      (struct gpu_stream **stream, unsigned flags))                                                                    \
    X(stream_free, cuStreamDestroy_v2, hipStreamDestroy, GPU_REQUIRED, (struct gpu_stream *stream))                    \
    X(stream_wait, cuStreamWaitEvent, hipStreamWaitEvent, GPU_REQUIRED,                                                \
      (struct gpu_stream *stream, struct gpu_event *event, unsigned flags))                                            \
    X(event_make, cuEventCreate, hipEventCreateWithFlags, GPU_REQUIRED, (struct gpu_event **event, unsigned flags))    \
    X(event_free, cuEventDestroy_v2, hipEventDestroy, GPU_REQUIRED, (struct gpu_event *event))                         \
    X(event_record, cuEventRecord, hipEventRecord, GPU_REQUIRED, (struct gpu_event *event, struct gpu_stream *stream)) \
    X(event_elapsed, cuEventElapsedTime, hipEventElapsedTime, GPU_REQUIRED,                                            \
      (float *time_ms, struct gpu_event *from, struct gpu_event *to))                                                  \
    X(capture_begin, cuStreamBeginCapture_v2, hipStreamBeginCapture, GPU_GRAPHS,                                       \
      (struct gpu_stream *stream, unsigned mode))                                                                      \
    X(capture_end, cuStreamEndCapture, hipStreamEndCapture, GPU_GRAPHS,                                                \
      (struct gpu_stream *stream, struct gpu_captured **graph))                                                        \
    X(captured_free, cuGraphDestroy, hipGraphDestroy, GPU_GRAPHS, (struct gpu_captured *graph))                        \
    X(instance_make, cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags, GPU_GRAPHS,                            \
      (struct gpu_instance **instance, struct gpu_captured *graph, unsigned long long flags))                          \
    X(instance_free, cuGraphExecDestroy, hipGraphExecDestroy, GPU_GRAPHS, (struct gpu_instance *instance))             \
    X(instance_launch, cuGraphLaunch, hipGraphLaunch, GPU_GRAPHS,                                                      \
      (struct gpu_instance *instance, struct gpu_stream *stream))                                                      \
    CUDA(cuDriverGetVersion, GPU_REQUIRED, (int *version))                                                             \
    CUDA(cuDeviceGet, GPU_REQUIRED, (int *device, int ordinal))                                                        \
    CUDA(cuDevicePrimaryCtxRetain, GPU_REQUIRED, (struct gpu_context **context, int device))                           \
    CUDA(cuDevicePrimaryCtxRelease_v2, GPU_REQUIRED, (int device))                                                     \
    CUDA(cuCtxSetCurrent, GPU_REQUIRED, (struct gpu_context *context))                                                 \
    CUDA(cuCtxEnablePeerAccess, GPU_PEER, (struct gpu_context *peer, unsigned flags))                                  \
    CUDA(cuMemcpy, GPU_REQUIRED, (gpu_address to, gpu_address from, size_t size))                                      \
    CUDA(cuMemcpyAsync, GPU_REQUIRED, (gpu_address to, gpu_address from, size_t size, struct gpu_stream *stream))      \
    CUDA(cuStreamSynchronize, GPU_REQUIRED, (struct gpu_stream *stream))                                               \
    CUDA(cuModuleLoadDataEx, GPU_REQUIRED,                                                                             \
      (struct gpu_code **code, const void *image, unsigned count, unsigned *options, void **values))                   \
    CUDA(cuFuncGetAttribute, GPU_REQUIRED, (int *value, unsigned attribute, struct gpu_function *function))            \
    CUDA(cuFuncSetAttribute, GPU_REQUIRED, (struct gpu_function *function, unsigned attribute, int value))             \
    CUDA(cuFuncGetParamInfo, GPU_OPTIONAL,                                                                             \
      (struct gpu_function *function, size_t index, size_t *offset, size_t *size))                                     \
    CUDA(cuGetErrorName, GPU_OPTIONAL, (gpu_error code, const char **name))                                            \
    CUDA(cuGetErrorString, GPU_OPTIONAL, (gpu_error code, const char **text))                                          \
    HIP(hipSetDevice, GPU_REQUIRED, (int device))                                                                      \
    HIP(hipSetDeviceFlags, GPU_OPTIONAL, (unsigned flags))                                                             \
    HIP(hipMemcpy, GPU_REQUIRED, (void *to, const void *from, size_t size, unsigned kind))                             \
    HIP(hipMemcpyAsync, GPU_REQUIRED,                                                                                  \
      (void *to, const void *from, size_t size, unsigned kind, struct gpu_stream *stream))                             \
    HIP(hipModuleLoad, GPU_REQUIRED, (struct gpu_code **code, const char *path))                                       \
    HIP(hipGetDevicePropertiesR0600, GPU_OPTIONAL, (void *properties, int device))                                     \
    HIP(hipGetDeviceProperties, GPU_OPTIONAL, (void *properties, int device))                                          \
    HIP(hipRuntimeGetVersion, GPU_OPTIONAL, (int *version))                                                            \
    HIP(hipExtMallocWithFlags, GPU_FINE, (void **pointer, size_t size, unsigned flags))                                \
    HIP(hipDeviceEnablePeerAccess, GPU_PEER, (int peer, unsigned flags))                                               \
    HIP(hipExtModuleLaunchKernel, GPU_OWN_TIMES,                                                                       \
      (struct gpu_function *function, uint32_t work_x, uint32_t work_y, uint32_t work_z, uint32_t block_x,             \
       uint32_t block_y, uint32_t block_z, size_t lds_bytes, struct gpu_stream *stream, void **args, void **extra,     \
       struct gpu_event *from, struct gpu_event *to, uint32_t flags))
/* clang-format on */

#define GPU_MEMBER(member, cuda, hip, need, parameters) gpu_error(*member) parameters;
#define GPU_OWN_MEMBER(symbol, need, parameters) gpu_error(*symbol) parameters;
#define GPU_NOTHING(symbol, need, parameters)
/* Functions of the other vendor are NULL. */
struct gpu_calls {
    GPU_CALLS(GPU_MEMBER, GPU_OWN_MEMBER, GPU_OWN_MEMBER)
    const char *(*hipGetErrorName)(gpu_error code); /* optional; the only one that returns no error code */
};

/* ---- constants of one vendor ---- */

enum { CUDA_HOST_PORTABLE = 1, CUDA_HOST_DEVICE_MAP = 2 }; /* pinned for all contexts; accessible to kernels */
enum { CUDA_FUNCTION_SHARED_BYTES = 1, CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 8 };
enum { CUDA_JIT_ERROR_LOG = 5, CUDA_JIT_ERROR_LOG_BYTES = 6 };
enum { HIP_MEMCPY_DEFAULT = 4 };                 /* the addresses tell which side is the host */
enum { HIP_DEVICE_SCHEDULE_BLOCKING = 4 };       /* a thread that waits sleeps instead of spinning */
enum { HIP_MALLOC_FINE_GRAINED = 1 };            /* coherent with the host while a kernel runs */
#define HIP_HOST_MALLOC_NUMA_USER 0x20000000u    /* hipHostMallocNumaUser of hip_runtime_api.h */
#define HIP_HOST_MALLOC_NON_COHERENT 0x80000000u /* may be cached while a kernel runs: coarse-grained */

/* ---- numeric device attributes ---- */

/* X(fact, CUDA's attribute number, HIP's, and the rules for an attribute that is not reported). Number 0: the fact is
 * not queried and is 0. HIP's numbers did not change from ROCm 5.2 to 10; 10017 and 10018 are missing in 5.2. */
/* clang-format off */
#define GPU_FACT_TABLE(X)                                                                                              \
    X(WAVE, 10, 87, MUST_BE_KNOWN, MUST_BE_KNOWN)                                                                      \
    X(UNITS, 16, 63, MUST_BE_KNOWN, MUST_BE_KNOWN)                                                                     \
    X(BLOCK, 1, 56, MUST_BE_KNOWN, MUST_BE_KNOWN)                                                                      \
    X(GRID_X, 5, 29, MUST_BE_KNOWN, UNKNOWN_IS_0)                                                                      \
    X(GRID_Y, 6, 30, MUST_BE_KNOWN, UNKNOWN_IS_0)                                                                      \
    X(GRID_Z, 7, 31, MUST_BE_KNOWN, UNKNOWN_IS_0)                                                                      \
    X(LDS, 97, 74, MUST_BE_KNOWN, MUST_BE_KNOWN) /* per workgroup; CUDA: if a function requests more than 48 KiB */    \
    X(CORE_KHZ, 13, 5, UNKNOWN_IS_0, UNKNOWN_IS_0)                                                                     \
    X(MEMORY_KHZ, 36, 60, UNKNOWN_IS_0, UNKNOWN_IS_0)                                                                  \
    X(L2, 38, 19, UNKNOWN_IS_0, UNKNOWN_IS_0)                                                                          \
    X(TOGETHER, 95, 10, UNKNOWN_IS_0, UNKNOWN_IS_0) /* 1: cooperative launches */                                      \
    X(MANAGED, 83, 24, UNKNOWN_IS_0, UNKNOWN_IS_0) /* 1: it has managed memory */                                      \
    X(PAGEABLE, 88, 65, UNKNOWN_IS_0, UNKNOWN_IS_0) /* 1: kernels can access memory from malloc */                     \
    X(UNIFIED, 41, 0, UNKNOWN_IS_0, UNKNOWN_IS_0) /* 1: pinned memory has the same address on host and device */       \
    X(PHYSICAL_UNITS, 0, 10015, UNKNOWN_IS_0, UNKNOWN_IS_0) /* not WGPs, two of which count as one of UNITS */         \
    X(XCCS, 0, 10018, UNKNOWN_IS_0, UNKNOWN_IS_0)                                                                      \
    X(WALL_KHZ, 0, 10017, UNKNOWN_IS_0, UNKNOWN_IS_0) /* the constant counter, */                                      \
    X(CLOCK_KHZ, 0, 10000, UNKNOWN_IS_0, UNKNOWN_IS_0) /* ... as older releases name it */                             \
    X(CAPABILITY_MAJOR, 75, 0, MUST_BE_KNOWN, UNKNOWN_IS_0)                                                            \
    X(CAPABILITY_MINOR, 76, 0, MAY_BE_0, UNKNOWN_IS_0)
/* clang-format on */
#define GPU_FACT(fact, cuda, hip, cuda_rule, hip_rule) FACT_##fact,
enum gpu_fact { GPU_FACT_TABLE(GPU_FACT) GPU_FACTS };

#endif
