/* SPDX-License-Identifier: MIT
 *
 * Families of operators: PyTorch's own (aten), and those that vLLM, SGLang, AITER and flash-attention register. What an
 * operator's inputs mean is its schema, which the numbers of inputs here repeat.
 */

#include "operators.h"

bool operator_is_whole(const char *signature)
{
    static const char *const names[] = {
        "aten::_scaled_dot_product_flash_attention\n", "aten::_scaled_dot_product_efficient_attention\n",
        "aten::_scaled_dot_product_cudnn_attention\n", "aten::convolution\n", "aten::convolution_backward\n"};
    return COUNT_WHERE(name, names, COUNT_OF(names), text_starts(signature, *name)) > 0;
}

#define POINTWISE(names)                                                                                               \
    {                                                                                                                  \
        names, IMPORT_ELEMENTWISE, pointwise_shape,                                                                    \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }
static const struct operator_family families[] = {
    POINTWISE("triton_poi_*"), /* its name has what was fused, of which it is no one */
    {"triton_red_* triton_per_*", IMPORT_REDUCTION, reduction_shape, {-1}},
    {"aten::mv", IMPORT_GEMM, gemm_shape, {1, 0, 1}},
    {"aten::addmv aten::addmv_", IMPORT_GEMM, gemm_shape, {2, 1, 1}},
    {"aten::mm aten::bmm aten::_int_mm aten::matmul aten::_scaled_mm trtllm::cublas_scaled_mm",
     IMPORT_GEMM,
     gemm_shape,
     {0, 1, 0}},
    {"aten::addmm aten::baddbmm aten::_addmm_activation aten::addmm_ *cutlass_scaled_mm",
     IMPORT_GEMM,
     gemm_shape,
     {1, 2, 0}},
    {"*wvSplitK *LLMM1 *LLMM_Silu", IMPORT_GEMM, gemm_shape, {1, 0, 1}},
    {"aten::linear vllm::rocm_unquantized_gemm* vllm::rocm_aiter_*gemm* vllm::gemm_with_dynamic_quant aiter::gemm_* "
     "aiter::_gemm_* aiter::batched_gemm_* aiter::*gemm_a* aiter::tuned_gemm",
     IMPORT_GEMM,
     gemm_shape,
     {0, 1, 1}},
    {"*awq_gemm", IMPORT_GEMM, packed_gemm_shape, {0, 2}},  /* scales [groups, N] */
    {"*gptq_gemm", IMPORT_GEMM, packed_gemm_shape, {0, 1}}, /* weights [K / 8, N] */
    {"aten::_grouped_mm aten::_scaled_grouped_mm primus_turbo*grouped_gemm*", IMPORT_MOE_GEMM, grouped_shape, {0, 1}},
    {"*inplace_fused_experts *outplace_fused_experts aiter::fused_moe_ aiter::fused_moe aiter::ck_moe "
     "vllm::rocm_aiter_fused_moe vllm::rocm_aiter_asm_moe_tkw1",
     IMPORT_MOE_GEMM,
     fused_experts_shape,
     {0, 4}},
    {"aiter::fmoe aiter::fmoe_*", IMPORT_MOE_GEMM, fused_experts_shape, {1, -1, 8}},
    {"*ck_moe_stage1*", IMPORT_MOE_GEMM, experts_stage_shape, {0, 1, 7}},
    {"*ck_moe_stage2*", IMPORT_MOE_GEMM, experts_stage_shape, {0, 2, -1}},
    {"*fused_moe* *fused_experts* *fused_marlin_moe *moe_forward* *moe_gemm* *cutlass_moe*", /* of these a name alone */
     IMPORT_MOE_GEMM,
     fused_experts_shape,
     {-1, -1, -1}},
    {"aten::_scaled_dot_product_flash_attention aten::_scaled_dot_product_flash_attention_for_cpu",
     IMPORT_ATTENTION,
     attention_shape,
     {0, 0, 4, -1, -1}},
    {"aten::_scaled_dot_product_efficient_attention aten::_scaled_dot_product_cudnn_attention",
     IMPORT_ATTENTION,
     attention_shape,
     {0, 0, 6, -1, -1}},
    {"aten::scaled_dot_product_attention aten::_scaled_dot_product_attention_math",
     IMPORT_ATTENTION,
     attention_shape,
     {0, 0, 5, -1, -1}},
    {"aten::_flash_attention_forward", IMPORT_ATTENTION, attention_shape, {0, 1, 8, 3, 5}},
    {"aten::_efficient_attention_forward", IMPORT_ATTENTION, attention_shape, {0, 1, 9, 4, 6}},
    {"flash_attn::_flash_attn_forward FlashAttnFunc aiter::mha_fwd aiter::fmha_v3_fwd aiter::_flash_attn_forward "
     "aiter::wrapper_fmha_v3_fwd",
     IMPORT_ATTENTION,
     attention_shape,
     {0, 1, 5, -1, -1, 6}},
    {"flash_attn::_flash_attn_varlen_forward", IMPORT_ATTENTION, attention_shape, {0, 1, 9, 3, 5, 10}},
    {"*flash_attn*fwd* *unified_attention* *paged_attention* *varlen*forward* *mha*fwd* *fmha*fwd* *mla_decode* "
     "*flash_mla*",
     IMPORT_ATTENTION,
     attention_shape,
     {0, 1, -1, -1, -1}},
    {"aten::native_layer_norm aten::layer_norm aten::_fused_rms_norm aten::rms_norm",
     IMPORT_NORM,
     rows_shape,
     {0, 2, 1}},
    {"aten::native_group_norm", IMPORT_NORM, group_norm_shape, {0, 6}},
    {"aten::group_norm", IMPORT_NORM, group_norm_shape, {0, 1}},
    {"aten::native_batch_norm aten::batch_norm aten::_batch_norm_impl_index aten::cudnn_batch_norm "
     "aten::miopen_batch_norm aten::_native_batch_norm_legit* aten::_batch_norm_with_update",
     IMPORT_NORM,
     batch_norm_shape,
     {0}},
    {"*_backward* *Backward*", IMPORT_OTHER, pointwise_shape, {0}},
    {"*rms_norm* *rmsnorm* *layer_norm* *layernorm*", IMPORT_NORM, rows_shape, {0, -1, -1}},
    {"aten::_softmax aten::softmax aten::_log_softmax aten::_safe_softmax", IMPORT_SOFTMAX, softmax_shape, {0, 1}},
    {"aten::miopen_convolution aten::miopen_depthwise_convolution", IMPORT_CONV, conv_shape, {0, 1, 3, 4, 5, 6}},
    {"aten::cudnn_convolution", IMPORT_CONV, conv_shape, {0, 1, 2, 3, 4, 5}},
    {"aten::cudnn_convolution_relu aten::miopen_convolution_relu", IMPORT_CONV, conv_shape, {0, 1, 4, 3, 5, 6}},
    {"aten::convolution aten::_convolution aten::convolution_overrideable",
     IMPORT_CONV,
     conv_shape,
     {0, 1, 4, 3, 5, 8}},
    {"aten::_slow_conv2d_forward aten::thnn_conv2d", IMPORT_CONV, conv_shape, {0, 1, 5, 4, -1, -1}},
    {"aten::_conv_depthwise2d", IMPORT_CONV, conv_shape, {0, 1, 5, 4, 6, -1}},
    {"*rotary_embedding*", IMPORT_ROPE, rope_shape, {0, 1, 2, 3}},
    {"*topk_softmax*", IMPORT_MOE_GATE, gate_shape, {3, 0, 2}},
    {"*biased_grouped_topk*", IMPORT_MOE_GATE, gate_shape, {0, 2}},
    {"*grouped_topk*", IMPORT_MOE_GATE, gate_shape, {0, 1}},
    {"*moe_align_block_size*", IMPORT_MOE_GATE, align_shape, {0, 1}},
    {"aten::embedding", IMPORT_GATHER, gather_shape, {0, 1, -1}},
    {"aten::index_select", IMPORT_GATHER, gather_shape, {0, 2, 1}},
    {"aten::sum aten::mean aten::max aten::min aten::amax aten::amin aten::all aten::any aten::argmax aten::argmin "
     "aten::norm aten::linalg_vector_norm aten::var aten::std aten::var_mean aten::std_mean aten::logsumexp "
     "aten::prod",
     IMPORT_REDUCTION,
     reduction_shape,
     {0}},
    {"record_param_comms nccl:* c10d::* symm_mem::*", IMPORT_COMMUNICATION, reduction_shape, {0}},
    {"aten::_local_scalar_dense", IMPORT_COPY, reduction_shape, {0}},
    POINTWISE(
        "aten::add aten::add_ aten::sub aten::sub_ aten::rsub aten::mul aten::mul_ aten::div aten::div_ aten::gelu "
        "aten::gelu_ aten::silu aten::silu_ aten::relu aten::relu_ aten::clamp aten::clamp_ aten::clamp_min "
        "aten::clamp_min_ aten::clamp_max aten::sigmoid aten::sigmoid_ aten::tanh aten::tanh_ aten::exp aten::exp_ "
        "aten::log aten::sqrt aten::rsqrt aten::reciprocal aten::neg aten::abs aten::pow aten::sin aten::cos "
        "aten::fill_ aten::zero_ aten::where aten::eq aten::ne aten::lt aten::le aten::gt aten::ge "
        "aten::bitwise_* aten::logical_* aten::masked_fill* aten::addcmul* aten::addcdiv* aten::lerp* aten::hardtanh* "
        "aten::leaky_relu* aten::native_dropout aten::bernoulli_ aten::uniform_ aten::normal_ aten::maximum "
        "aten::minimum aten::remainder aten::erf aten::threshold*"),
    {"aten::copy_", IMPORT_ELEMENTWISE, copied_shape, {0}},
    {"*silu_and_mul* *gelu_and_mul* *gelu_tanh_and_mul* *act_and_mul*", IMPORT_ELEMENTWISE, gated_shape, {0}},
};

bool operator_is_known(const char *signature)
{
    SCOPED(arena_release) struct arena arena = {0};
    return operator_family_find(arena_strndup(&arena, signature, strcspn(signature, "\n"))) != NULL;
}

const struct operator_family *operator_family_find(const char *name)
{
    for (size_t k = 0; k < COUNT_OF(families); k++) {
        char glob[128];
        for (const char *at = families[k].names; *at; at += strspn(at, " ")) {
            const size_t length = strcspn(at, " ");
            if (length < sizeof(glob)) {
                memcpy(glob, at, length);
                glob[length] = '\0';
                if (text_matches(name, glob))
                    return &families[k];
            }
            at += length;
        }
    }
    return NULL;
}
