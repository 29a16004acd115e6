/* SPDX-License-Identifier: MIT
 *
 * Our prototypes and numbers against AMD's headers, where these are installed. What the compiler accepts is right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#undef hipGetDeviceProperties /* since HIP 6 another name of hipGetDevicePropertiesR0600, which we ask for by itself */
#define gpu_stream ihipStream_t
#define gpu_event ihipEvent_t
#define gpu_code ihipModule_t
#define gpu_function ihipModuleSymbol_t
#define gpu_captured ihipGraph
#define gpu_instance hipGraphExec
#define gpu_uuid hipUUID_t
#include "../../../src/device/gpu_calls.h"

#define FACT(fact, cuda, hip, cuda_rule, hip_rule) HIP_##fact = (hip),
enum { GPU_FACT_TABLE(FACT) };

#define SAME(theirs, ours)                                                                                             \
    _Static_assert(__builtin_types_compatible_p(__typeof__(theirs), __typeof__(*(ours))), #theirs);
#define SAME_SHARED(member, cuda_name, hip_name, need, parameters) SAME(hip_name, ((struct gpu_calls *)0)->member)
#define SAME_OWN(name) SAME(name, ((struct gpu_calls *)0)->name)
#if HIP_VERSION_MAJOR < 6 /* whose header lacks it */
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                            unsigned, hipStream_t, void **);
#endif
GPU_CALLS(SAME_SHARED, GPU_NOTHING, GPU_NOTHING)
SAME_OWN(hipSetDevice)
SAME_OWN(hipMemcpy)
SAME_OWN(hipMemcpyAsync)
SAME_OWN(hipModuleLoad)
SAME_OWN(hipRuntimeGetVersion)
SAME_OWN(hipExtMallocWithFlags)
SAME_OWN(hipDeviceEnablePeerAccess)
SAME_OWN(hipGetErrorName)

#define EQUAL(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs);
EQUAL(GPU_OUT_OF_MEMORY, hipErrorOutOfMemory)
EQUAL(GPU_DEINITIALIZED, hipErrorDeinitialized)
EQUAL(GPU_NO_DEVICE, hipErrorNoDevice)
EQUAL(GPU_INVALID_DEVICE, hipErrorInvalidDevice)
EQUAL(GPU_ECC_UNCORRECTABLE, hipErrorECCNotCorrectable)
EQUAL(GPU_NOT_FOUND, hipErrorNotFound)
EQUAL(GPU_ILLEGAL_ADDRESS, hipErrorIllegalAddress)
EQUAL(GPU_LAUNCH_TIMEOUT, hipErrorLaunchTimeOut)
EQUAL(GPU_CONTEXT_IS_DESTROYED, hipErrorContextIsDestroyed)
EQUAL(GPU_ASSERT, hipErrorAssert)
EQUAL(GPU_INVALID_CONTEXT, hipErrorInvalidContext)
EQUAL(GPU_OPERATING_SYSTEM, hipErrorOperatingSystem)
EQUAL(GPU_LAUNCH_FAILED, hipErrorLaunchFailure)
EQUAL(GPU_NOT_SUPPORTED, hipErrorNotSupported)
EQUAL(GPU_UNKNOWN, hipErrorUnknown)
EQUAL(HIP_MEMCPY_DEFAULT, hipMemcpyDefault)
EQUAL(GPU_STREAM_NON_BLOCKING, hipStreamNonBlocking)
EQUAL(GPU_MEM_ATTACH_GLOBAL, hipMemAttachGlobal)
EQUAL(HIP_MALLOC_FINE_GRAINED, hipDeviceMallocFinegrained)
EQUAL(HIP_HOST_MALLOC_NON_COHERENT, hipHostMallocNonCoherent)
EQUAL(HIP_MANAGED, hipDeviceAttributeManagedMemory)
EQUAL(HIP_PAGEABLE, hipDeviceAttributePageableMemoryAccess)
EQUAL(GPU_PEER_ACCESS_ALREADY_ENABLED, hipErrorPeerAccessAlreadyEnabled)
EQUAL(GPU_CAPTURE_THREAD_LOCAL, hipStreamCaptureModeThreadLocal)
EQUAL(HIP_CORE_KHZ, hipDeviceAttributeClockRate)
EQUAL(HIP_TOGETHER, hipDeviceAttributeCooperativeLaunch)
EQUAL(GPU_COOPERATIVE_LAUNCH_TOO_LARGE, hipErrorCooperativeLaunchTooLarge)
EQUAL(HIP_L2, hipDeviceAttributeL2CacheSize)
EQUAL(HIP_GRID_X, hipDeviceAttributeMaxGridDimX)
EQUAL(HIP_GRID_Y, hipDeviceAttributeMaxGridDimY)
EQUAL(HIP_GRID_Z, hipDeviceAttributeMaxGridDimZ)
EQUAL(HIP_BLOCK, hipDeviceAttributeMaxThreadsPerBlock)
EQUAL(HIP_MEMORY_KHZ, hipDeviceAttributeMemoryClockRate)
EQUAL(HIP_UNITS, hipDeviceAttributeMultiprocessorCount)
EQUAL(HIP_LDS, hipDeviceAttributeMaxSharedMemoryPerBlock)
EQUAL(HIP_WAVE, hipDeviceAttributeWarpSize)
EQUAL(HIP_CLOCK_KHZ, hipDeviceAttributeClockInstructionRate)
EQUAL(HIP_PHYSICAL_UNITS, hipDeviceAttributePhysicalMultiProcessorCount)

static void headers_agree(void **state)
{
    (void)state;
#if HIP_VERSION_MAJOR >= 6
    assert_int_equal(offsetof(hipDeviceProp_tR0600, gcnArchName), 1160);
    assert_int_equal(HIP_WALL_KHZ, hipDeviceAttributeWallClockRate);
#else
    assert_int_equal(offsetof(hipDeviceProp_t, gcnArchName), 396);
#endif
}
#else
static void headers_agree(void **state)
{
    (void)state;
    skip(); /* AMD's headers are not installed */
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(headers_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
