/* SPDX-License-Identifier: MIT
 *
 * Our prototypes and numbers against AMD's headers, where these are installed. What the compiler accepts is right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../src/device/hip_api.h"

#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__ 1
#define HIP_SUCCESS VENDOR_HIP_SUCCESS /* of an enumeration that has nothing to do with errors */
#include <hip/hip_runtime_api.h>
#undef HIP_SUCCESS

#define SAME(name, parameters)                                                                                         \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), __typeof__(*((struct hip_api *)0)->name)), #name);
HIP_REQUIRED(SAME)
SAME(hipDeviceGetPCIBusId, )
SAME(hipDeviceGetUuid, )
SAME(hipRuntimeGetVersion, )
SAME(hipHostMalloc, )
SAME(hipDeviceCanAccessPeer, )
SAME(hipDeviceEnablePeerAccess, )
SAME(hipHostFree, )
SAME(hipMallocManaged, )
SAME(hipExtMallocWithFlags, )
SAME(hipFuncGetAttribute, )
SAME(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, )
SAME(hipStreamBeginCapture, )
SAME(hipStreamEndCapture, )
SAME(hipGraphInstantiate, )
SAME(hipGraphLaunch, )
SAME(hipGraphExecDestroy, )
SAME(hipGraphDestroy, )
SAME(hipGetErrorName, )

#define EQUAL(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs);
EQUAL(HIP_OUT_OF_MEMORY, hipErrorOutOfMemory)
EQUAL(HIP_DEINITIALIZED, hipErrorDeinitialized)
EQUAL(HIP_NO_DEVICE, hipErrorNoDevice)
EQUAL(HIP_INVALID_DEVICE, hipErrorInvalidDevice)
EQUAL(HIP_ECC_NOT_CORRECTABLE, hipErrorECCNotCorrectable)
EQUAL(HIP_NOT_FOUND, hipErrorNotFound)
EQUAL(HIP_ILLEGAL_ADDRESS, hipErrorIllegalAddress)
EQUAL(HIP_LAUNCH_TIME_OUT, hipErrorLaunchTimeOut)
EQUAL(HIP_CONTEXT_IS_DESTROYED, hipErrorContextIsDestroyed)
EQUAL(HIP_ASSERT, hipErrorAssert)
EQUAL(HIP_LAUNCH_FAILURE, hipErrorLaunchFailure)
EQUAL(HIP_NOT_SUPPORTED, hipErrorNotSupported)
EQUAL(HIP_UNKNOWN, hipErrorUnknown)
EQUAL(HIP_MEMCPY_DEFAULT, hipMemcpyDefault)
EQUAL(HIP_STREAM_NON_BLOCKING, hipStreamNonBlocking)
EQUAL(HIP_MEM_ATTACH_GLOBAL, hipMemAttachGlobal)
EQUAL(HIP_MALLOC_FINE_GRAINED, hipDeviceMallocFinegrained)
EQUAL(HIP_HOST_MALLOC_NON_COHERENT, hipHostMallocNonCoherent)
EQUAL(HIP_MANAGED_MEMORY, hipDeviceAttributeManagedMemory)
EQUAL(HIP_PAGEABLE_MEMORY_ACCESS, hipDeviceAttributePageableMemoryAccess)
EQUAL(HIP_PEER_ACCESS_ALREADY_ENABLED, hipErrorPeerAccessAlreadyEnabled)
EQUAL(HIP_CAPTURE_THREAD_LOCAL, hipStreamCaptureModeThreadLocal)
EQUAL(HIP_FUNCTION_STATIC_LDS, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
EQUAL(HIP_CLOCK_RATE, hipDeviceAttributeClockRate)
EQUAL(HIP_COOPERATIVE_LAUNCH, hipDeviceAttributeCooperativeLaunch)
EQUAL(HIP_COOPERATIVE_LAUNCH_TOO_LARGE, hipErrorCooperativeLaunchTooLarge)
EQUAL(HIP_L2_CACHE_SIZE, hipDeviceAttributeL2CacheSize)
EQUAL(HIP_MAX_GRID_X, hipDeviceAttributeMaxGridDimX)
EQUAL(HIP_MAX_GRID_Y, hipDeviceAttributeMaxGridDimY)
EQUAL(HIP_MAX_GRID_Z, hipDeviceAttributeMaxGridDimZ)
EQUAL(HIP_MAX_THREADS_PER_BLOCK, hipDeviceAttributeMaxThreadsPerBlock)
EQUAL(HIP_MEMORY_CLOCK_RATE, hipDeviceAttributeMemoryClockRate)
EQUAL(HIP_MULTIPROCESSOR_COUNT, hipDeviceAttributeMultiprocessorCount)
EQUAL(HIP_MAX_SHARED_MEMORY_PER_BLOCK, hipDeviceAttributeMaxSharedMemoryPerBlock)
EQUAL(HIP_WARP_SIZE, hipDeviceAttributeWarpSize)
EQUAL(HIP_CLOCK_INSTRUCTION_RATE, hipDeviceAttributeClockInstructionRate)
EQUAL(HIP_PHYSICAL_MULTIPROCESSOR_COUNT, hipDeviceAttributePhysicalMultiProcessorCount)

static void headers_agree(void **state)
{
    (void)state;
#if HIP_VERSION_MAJOR >= 6
    assert_int_equal(offsetof(hipDeviceProp_tR0600, gcnArchName), 1160);
    assert_int_equal(HIP_WALL_CLOCK_RATE, hipDeviceAttributeWallClockRate);
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
