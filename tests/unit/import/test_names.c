/* SPDX-License-Identifier: MIT
 *
 * What the names of kernels say, and that none says a size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "operators.h"

static const struct {
    const char *name;
    double grid[3], block[3];
    const char *words, *traits;
} cases[] = {
    /* Tensile: D = op(A) op(B) of columns; its B is our first factor */
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN_GSU4_ISA942",
     {3, 2, 1},
     {256, 1, 1},
     "gemm bf16 TN",
     "TN tile 64x32x256 MFMA 16x16 split K 4, N <= 192, M <= 64"},
    {"Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SE_GSU1",
     {0},
     {0},
     "gemm f16 NN",
     "NN tile 128x128x32 MFMA 32x32"},
    {"Cijk_Ailk_Bjlk_SB_MT32x32x8_SE", {8, 1, 1}, {256, 1, 1}, "gemm f32 NT", "NT tile 32x32x8, 8 tiles"},
    {"Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_MT64x64x8", {0}, {0}, "gemm bf16 TN", "TN tile 64x64x8"},
    {"Cijk_Alik_Bljk_F8_BS_BH_Bias_HA_S_SAV_MT64x64x8", {0}, {0}, "gemm e4m3>bf16 TN", "TN tile 64x64x8"},
    {"Cijk_Ailk_Bjlk_SB_Bias_HA_S_SAV_MT64x64x8", {0}, {0}, "gemm f32 NT", "NT tile 64x64x8"},
    {"Cijk_Ailk_Bljk_HBH_MT64x64x8", {0}, {0}, "gemm f16 NN", "NN tile 64x64x8"},
    {"Cijk_Alik_Bljk_S_B_Bias_HA_S_SAV_MT64x64x8", {0}, {0}, "gemm f32 TN", "TN tile 64x64x8"},
    {"Cijk_Alik_Bjlk_DB_MT64x64x8", {0}, {0}, "gemm f64 TT", "TT tile 64x64x8"},
    {"Cijk_Alik_Bljk_F8BS_BH_MT256x256x64_SK3", {0}, {0}, "gemm e4m3>bf16 TN", "TN tile 256x256x64 stream-K"},
    {"Cijk_Alik_Bljk_F8NBS_BH_MT256x256x64", {0}, {0}, "gemm e4m3fnuz>bf16 TN", "TN tile 256x256x64"},
    {"Cijk_", {0}, {0}, "gemm NN", "NN"},
    /* by words */
    {"fmha_fwd_hd128_bf16_causal_group",
     {4, 8, 1},
     {256, 1, 1},
     "attention bf16",
     "attention D=128 causal, 32 workgroups of 256"},
    {"aiter::fmoe_bf16_g1u1_32x128", {0}, {0}, "moe_gemm bf16", "moe_gemm tile 32x128"},
    {"void vllm::rms_norm_kernel<c10::BFloat16, float>", {0}, {0}, "norm bf16", "norm"},
    /* PyTorch's compiler: what it fused is not what the kernel is */
    {"triton_poi_fused_add_0", {0}, {0}, "elementwise", "fused pointwise: add"},
    {"triton_poi_fused__to_copy_add_convolution_native_layer_norm_12",
     {4, 2, 1},
     {256, 1, 1},
     "elementwise",
     "fused pointwise: _to_copy, add, convolution, native_layer_norm, 8 workgroups of 256"},
    {"triton_poi_fused_3", {0}, {0}, "elementwise", "fused pointwise"},
    {"triton_per_fused__softmax_mm_2", {0}, {0}, "reduction", "persistent reduction: _softmax, mm"},
    {"triton_tem_fused_addmm_relu_1", {0}, {0}, "gemm", "template: addmm, relu"},
    {"triton_tem_fused_convolution_1", {0}, {0}, "conv", "template: convolution"},
    {"triton_tem_fused_flex_attention_1", {0}, {0}, "attention", "template: flex_attention"},
    {"void ck::kernel_gemm_xdl_cshuffle_v3<ck::bhalf_t, ck::bhalf_t>", {0}, {0}, "gemm bf16", "gemm"},
    {"kernel_gemm_xdl<ck::f8_fnuz_t, ck::f8_fnuz_t, float, ck::bhalf_t>", {0}, {0}, "gemm e4m3fnuz", "gemm"},
    {"_ZN2ck6device37kernel_grouped_conv_fwd_xdl_cshuffleINS_32GridwiseGemmMultipleD", {0}, {0}, "conv", "conv"},
    {"sm80_xmma_fprop_implicit_gemm_bf16bf16_nhwckrsc", {0}, {0}, "conv bf16", "conv"},
    {"convert_fp8_kernel", {0}, {0}, "elementwise fp8", "elementwise"},
    {"cutlass::device_kernel<flash::FlashAttnFwdSm90<128>>", {0}, {0}, "attention", "attention"},
    {"pytorch_flash::flash_bwd_dq_dk_dv_loop", {0}, {0}, "other", "attention, backward"},
    {"MIOpenBatchNormFwdInferSpatialEst", {0}, {0}, "norm", "norm"},
    {"void gemv2T_kernel_val<int, int, __nv_bfloat16>", {0}, {0}, "gemm bf16", "gemm"},
    {"triton_red_fused_sum_1", {0}, {0}, "reduction", "fused reduction: sum"},
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", {0}, {0}, "communication bf16", "communication"},
    {"bf16gemm_fp32bf16_tn_64x64_pf3_splitk", {0}, {0}, "gemm bf16", "gemm tile 64x64"},
};

static void names_say_kind_and_type(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct trace_operator o = {.dtype = "", .total = "", .layout = ""};
        struct text traits = {0};
        assert_true(kernel_name_read(&o, &traits, cases[k].name, cases[k].grid, cases[k].block));
        const char *words = operator_words(&o, &arena);
        if (strcmp(words, cases[k].words) || strcmp(traits.data, cases[k].traits))
            fail_msg("%s: '%s', '%s'", cases[k].name, words, traits.data);
        for (size_t dim = 0; dim < OPERATOR_DIMS; dim++)
            assert_true(o.dims[dim] == 0);
        text_release(&traits);
    }
    arena_release(&arena);
}

static void others_say_nothing(void **state)
{
    static const char *const names[] = {"", "k", "my_kernel(float*)", "_Z3fooPf"};
    static const double nothing[3] = {0};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        struct trace_operator o = {.dtype = "", .total = "", .layout = ""};
        struct text traits = {0};
        assert_false(kernel_name_read(&o, &traits, names[k], nothing, nothing));
        assert_int_equal(o.kind, IMPORT_OTHER);
        text_release(&traits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_say_kind_and_type), cmocka_unit_test(others_say_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
