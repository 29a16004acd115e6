/* SPDX-License-Identifier: MIT
 *
 * Our numbers and layouts of NVTX against NVIDIA's header, where it is installed. What the compiler accepts is right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wcast-function-type"
#pragma GCC diagnostic ignored "-Wconversion"
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#elif __has_include("/usr/local/cuda/include/nvtx3/nvToolsExt.h")
#include "/usr/local/cuda/include/nvtx3/nvToolsExt.h"
#endif
#pragma GCC diagnostic pop

#ifdef NVTX_VERSION
#include "../../../src/device/gpu.h"

#define EQUAL(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs);
EQUAL(NVTX_CORE, NVTX_CB_MODULE_CORE)
EQUAL(NVTX_CUDA, NVTX_CB_MODULE_CUDA)
EQUAL(NVTX_OPENCL, NVTX_CB_MODULE_OPENCL)
EQUAL(NVTX_CUDART, NVTX_CB_MODULE_CUDART)
EQUAL(NVTX_CORE2, NVTX_CB_MODULE_CORE2)
EQUAL(NVTX_SYNC, NVTX_CB_MODULE_SYNC)
EQUAL(NVTX_MODULES, NVTX_CB_MODULE_SIZE)
EQUAL(NVTX_RANGE_PUSH, NVTX_CBID_CORE_RangePushA)
EQUAL(NVTX_RANGE_POP, NVTX_CBID_CORE_RangePop)
EQUAL(NVTX_CORE_FUNCTIONS, NVTX_CBID_CORE_SIZE)
EQUAL(9, NVTX_CBID_CUDA_SIZE)
EQUAL(15, NVTX_CBID_OPENCL_SIZE)
EQUAL(7, NVTX_CBID_CUDART_SIZE)
EQUAL(16, NVTX_CBID_CORE2_SIZE)
EQUAL(7, NVTX_CBID_SYNC_SIZE)
EQUAL(NVTX_CALLBACKS, NVTX_ETID_CALLBACKS)
EQUAL(NVTX_VERSION_INFO, NVTX_ETID_VERSIONINFO)
EQUAL(3, NVTX_VERSION)

static void headers_agree(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct nvtx_callbacks), sizeof(NvtxExportTableCallbacks));
    assert_int_equal(offsetof(struct nvtx_callbacks, functions_of),
                     offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
    assert_int_equal(sizeof(struct nvtx_version_info), sizeof(NvtxExportTableVersionInfo));
    assert_int_equal(offsetof(struct nvtx_version_info, version), offsetof(NvtxExportTableVersionInfo, version));
    assert_int_equal(offsetof(struct nvtx_version_info, set_tool_version),
                     offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));
}
#else
static void headers_agree(void **state)
{
    (void)state;
    skip(); /* NVIDIA's header is not installed */
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(headers_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
