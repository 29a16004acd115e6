# SPDX-License-Identifier: MIT
"""What an operator's inputs say about what it computes, what the names of kernels say, and which kernel of ours measures it."""
import math
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "import"))
from mapping import describe, flops_of, map_row  # noqa: E402
from names import name_of_kind, plain_name, read_kernel_name  # noqa: E402
from operators import DIMS, Inputs, Operator, dtype_of_trace, number_of  # noqa: E402
from shapes import read_operator  # noqa: E402

HALF, BF16, U8, I8 = (["c10::Half"] * 4, ["c10::BFloat16"] * 4, ["unsigned char"] * 2, ["signed char"] * 2)
# Name, dimensions, types, strides, values, and what comes out.
INPUTS = (
    # products: transposed is what lies so in memory
    ("aten::mm", [[4, 8], [8, 16]], HALF, [[8, 1], [16, 1]], None, "gemm B=1 M=4 N=16 K=8 f16 NN"),
    ("aten::mm", [[4, 8], [8, 16]], HALF, [[8, 1], [1, 8]], None, "gemm B=1 M=4 N=16 K=8 f16 TN"),
    ("aten::mm", [[4, 8], [8, 16]], HALF, [[1, 4], [16, 1]], None, "gemm B=1 M=4 N=16 K=8 f16 NT"),
    ("aten::mm", [[4, 8], [9, 16]], HALF, [[8, 1], [16, 1]], None, "gemm f16"),
    ("aten::addmm", [[16], [4, 8], [8, 16]], BF16, [[1], [8, 1], [1, 8]], None, "gemm B=1 M=4 N=16 K=8 bf16 TN"),
    ("aten::bmm", [[3, 4, 8], [3, 8, 16]], BF16, [[32, 8, 1], [128, 16, 1]], None, "gemm B=3 M=4 N=16 K=8 bf16 NN"),
    ("aten::linear", [[2, 4, 8], [16, 8], []], BF16, [[32, 8, 1], [8, 1], []], None, "gemm B=1 M=8 N=16 K=8 bf16 TN"),
    ("aten::_int_mm", [[4, 8], [8, 16]], I8, [[8, 1], [1, 8]], None, "gemm B=1 M=4 N=16 K=8 i8>i32 TN"),
    ("aten::_scaled_mm", [[4, 8], [8, 16]], ["c10::Float8_e4m3fnuz", "c10::Float8_e4m3fnuz"], [[8, 1], [1, 8]], None, "gemm B=1 M=4 N=16 K=8 e4m3fnuz>bf16 TN"),
    ("aten::matmul", [[3, 4, 8], [1, 8, 16]], BF16, [[32, 8, 1], [128, 16, 1]], None, "gemm B=3 M=4 N=16 K=8 bf16 NN"),
    ("aten::mv", [[16, 8], [8]], HALF, [[8, 1], [1]], None, "gemm B=1 M=1 N=16 K=8 f16 TN"),
    ("aten::addmv_", [[16], [16, 8], [8]], HALF, [[1], [1, 16], [1]], None, "gemm B=1 M=1 N=16 K=8 f16 NN"),
    ("aten::mm", [[4, 8], [8, 16]], HALF, None, None, "gemm B=1 M=4 N=16 K=8 f16"),
    # how they lie is not told
    ("aten::mm", [[0, 8], [8, 16]], HALF, [[8, 1], [16, 1]], None, "gemm f16"),
    ("aiter::gemm_a4w4", [[4, 8], [16, 8]], U8, None, None, "gemm B=1 M=4 N=16 K=16 e2m1>bf16 TN"),
    ("aiter::batched_gemm_a8w8", [[3, 4, 8], [3, 16, 8]], I8, None, None, "gemm B=3 M=4 N=16 K=8 i8>i32 TN"),
    ("aiter::batched_gemm_bf16", [[3, 4, 8], [3, 16, 8], [3, 4, 16]], BF16, None, None, "gemm B=3 M=4 N=16 K=8 bf16 TN"),
    ("aiter::batched_gemm_a8w8", [[12, 8], [3, 16, 8]], I8, None, None, "gemm i8"),
    # 4-bit weights are packed: their own sizes are not the product's
    ("_C::awq_gemm", [[4, 256], [256, 64], [2, 512], [2, 64], []], ["c10::Half", "int", "c10::Half", "int", "Scalar"], None, None, "gemm B=1 M=4 N=512 K=256 w4a16>f16"),
    ("_C::gptq_gemm", [[4, 256], [32, 512], [2, 64], [2, 512], [256]], ["c10::Half", "int", "int", "c10::Half", "int"], None, None, "gemm B=1 M=4 N=512 K=256 w4a16>f16"),
    # attention
    ("aten::_scaled_dot_product_flash_attention", [[2, 8, 100, 64], [2, 8, 120, 64], [2, 8, 120, 64], [], []], BF16, None, ["", "", "", "0.", "True"], "attention B=2 H=8 HKV=8 S=100 SKV=120 D=64 DV=64 bf16 BHSD causal"),
    ("aten::_flash_attention_forward", [[2, 100, 8, 64], [2, 120, 2, 64], [2, 120, 2, 64]], BF16, None, None, "attention B=2 H=8 HKV=2 S=100 SKV=120 D=64 DV=64 bf16 BSHD"),
    ("flash_attn::_flash_attn_varlen_forward", [[200, 8, 64], [200, 2, 64], [200, 2, 64], [3], [3], [], []], BF16, None, ["", "", "", "", "", "100", "100"], "attention B=2 H=8 HKV=2 S=100 SKV=100 D=64 DV=64 bf16 THD"),
    # the sequences are not alike: no shape
    ("flash_attn::_flash_attn_varlen_forward", [[150, 8, 64], [150, 2, 64], [150, 2, 64], [3], [3], [], []], BF16, None, ["", "", "", "", "", "100", "100"], "attention bf16"),
    # keys in pages, or of heads that no query has; and nobody says whether it is causal
    ("flash_attn_3::fwd", [[4, 1, 8, 64], [90, 16, 2, 64], [90, 16, 2, 64]], BF16, None, None, "attention bf16"),
    ("flash_attn_3::fwd", [[4, 1, 8, 64], [4, 50, 3, 64], [4, 50, 3, 64]], BF16, None, None, "attention bf16"),
    ("flash_attn_3::fwd", [[4, 9, 8, 64], [4, 9, 2, 64], [4, 9, 2, 64]], BF16, None, None, "attention B=4 H=8 HKV=2 S=9 SKV=9 D=64 DV=64 bf16 BSHD causal=?"),
    # keys are a cache's capacity, where lengths follow
    ("flash_attn_2::mha_fwd_kvcache", [[4, 1, 8, 64], [4, 900, 2, 64], [4, 900, 2, 64], [], [], [4]], ["c10::Half", "c10::Half", "c10::Half", "", "", "int"], None, None, "attention f16"),
    ("flash_attn::_flash_attn_forward", [[2, 100, 8, 64], [2, 100, 2, 64], [2, 100, 2, 64]], BF16, None, ["", "", "", "0.", "0.125", "True", "31", "0"], "attention B=2 H=8 HKV=2 S=100 SKV=100 D=64 DV=64 bf16 BSHD causal window=31"),
    ("flash_attn::_flash_attn_forward", [[2, 100, 8, 64], [2, 100, 2, 64], [2, 100, 2, 64]], BF16, None, ["", "", "", "0.", "0.125", "True", "-1", "-1"], "attention B=2 H=8 HKV=2 S=100 SKV=100 D=64 DV=64 bf16 BSHD causal"),
    # rows
    ("aten::native_layer_norm", [[2, 3, 512], [], [512], [512]], HALF, None, None, "norm rows=6 columns=512 f16"),
    ("aten::native_layer_norm", [[2, 3, 4, 512], [], [], []], HALF, None, ["", "[4, 512]"], "norm rows=6 columns=2048 f16"),
    ("aten::native_group_norm", [[2, 64, 5, 7], [64], [64], [], [], [], [], []], HALF, None, ["", "", "", "2", "64", "35", "32", "1e-05"], "norm rows=64 columns=70 f16"),
    ("aten::native_batch_norm", [[2, 64, 5, 7], [64], [64], [64], [64], [], [], []], HALF, None, None, "norm rows=64 columns=70 f16"),
    ("vllm::rms_norm", [[7, 512], [7, 512]], BF16, None, None, "norm rows=7 columns=512 bf16"),
    ("aten::_softmax", [[2, 3, 50]], HALF, None, ["", "-1"], "softmax rows=6 columns=50 f16"),
    ("aten::_softmax", [[2, 3, 50]], HALF, None, ["", "2"], "softmax rows=6 columns=50 f16"),
    ("aten::_softmax", [[2, 3, 50]], HALF, None, ["", "1"], "softmax f16"),
    # not along contiguous rows
    # by element: broadcast, and x[:, :d] beside x[:, d:]
    ("aten::add", [[4, 16], [4, 16]], HALF, None, None, "elementwise n=64 inputs=2 f16"),
    ("aten::add", [[4, 16], [16]], HALF, None, None, "elementwise n=64 inputs=1 f16"),
    ("triton_red_fused_native_layer_norm_1", [[16], [4, 16], [4]], BF16, None, None, "reduction n=64 bf16"),
    ("triton_poi_fused_native_layer_norm_2", [[16], [4, 16], [4, 16]], BF16, None, None, "elementwise n=64 inputs=2 bf16"),
    ("aten::add", [[4, 1, 16], [5, 1]], HALF, None, None, "elementwise n=320 f16"),
    # more than each input
    ("_C::silu_and_mul", [[4, 16], [4, 32]], HALF, None, None, "elementwise n=128 inputs=1 rows=4 f16"),
    ("aten::copy_", [[4, 16], [4, 16], []], ["c10::Half", "float", ""], None, None, "elementwise n=64 inputs=1 f32>f16"),
    ("aten::sum", [[4, 16]], HALF, None, None, "reduction n=64 f16"),
    ("aten::embedding", [[1000, 64], [2, 3]], HALF, None, None, "gather rows=6 columns=64 f16"),
    ("aten::index_select", [[1000, 64], [], [3]], HALF, None, ["", "0", ""], "gather rows=3 columns=64 f16"),
    ("aten::index_select", [[1000, 64], [], [3]], HALF, None, ["", "1", ""], "gather f16"),
    # columns
    # convolution: a depthwise one has as many groups as channels, wherever that stands
    ("aten::_conv_depthwise2d", [[2, 32, 20, 30], [32, 1, 3, 3], [], [32]], HALF, None, ["", "", "[3, 3]", "", "[1, 1]", "[2, 2]", "[2, 2]"], "conv N=2 C=32 H=20 W=30 K=32 R=3 S=3 stride=1 pad=2 dilation=2 groups=32 f16 NCHW"),
    ("aten::cudnn_convolution_relu", [[2, 3, 20, 30], [8, 3, 5, 7], [8]], HALF, None, ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"], "conv N=2 C=3 H=20 W=30 K=8 R=5 S=7 stride=2 pad=1 dilation=1 groups=1 f16 NCHW"),
    ("aten::convolution", [[2, 3, 20, 30], [8, 3, 5, 7], [8]], HALF, [[1800, 600, 30, 1]], ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"], "conv N=2 C=3 H=20 W=30 K=8 R=5 S=7 stride=2 pad=1 dilation=1 groups=1 f16 NCHW"),
    ("aten::miopen_convolution", [[2, 3, 20, 30], [8, 3, 5, 7], [8]], HALF, [[1800, 1, 90, 3]], ["", "", "", "[0, 0]", "[1, 1]", "[1, 1]", "1"], "conv N=2 C=3 H=20 W=30 K=8 R=5 S=7 stride=1 dilation=1 groups=1 f16 NHWC"),
    ("aten::convolution", [[2, 8, 20, 30], [8, 3, 4, 4], []], HALF, None, ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "2"], "conv N=2 C=8 H=20 W=30 K=6 R=4 S=4 stride=2 pad=1 dilation=1 groups=2 f16 NCHW transposed"),
    ("aten::convolution", [[2, 3, 20, 30], [8, 3, 5, 7], [8]], HALF, None, ["", "", "", "[2, 1]", "[2, 3]", "[1, 1]", "False", "[0, 0]", "1"], "conv N=2 C=3 H=20 W=30 K=8 R=5 S=7 stride=2 pad=2 dilation=1 groups=1 f16 NCHW stride_w=1 pad_w=3"),
    ("aten::convolution", [[2, 80, 3000], [8, 80, 3], [8]], HALF, None, ["", "", "", "[1]", "[1]", "[1]", "False", "[0]", "1"], "conv N=2 C=80 H=1 W=3000 K=8 R=1 S=3 stride=1 dilation=1 groups=1 f16 NCHW pad_w=1"),
    ("aten::convolution", [[1, 3, 16, 20, 30], [8, 3, 2, 5, 7], [8]], HALF, None, ["", "", "", "[1, 2, 2]", "[0, 1, 1]", "[1, 1, 1]", "False", "[0, 0, 0]", "1"], "conv N=1 C=3 H=20 W=30 K=8 R=5 S=7 stride=2 pad=1 dilation=1 groups=1 D=16 f16 NCDHW filter_d=2 stride_d=1 pad_d=0"),
    # mixtures of experts, positions
    ("aten::_grouped_mm", [[64, 128], [8, 128, 256]], BF16, None, None, "moe_gemm rows=64 N=256 K=128 experts=8 bf16"),
    ("_moe_C::topk_softmax", [[32, 8], [32, 8], [32, 8], [32, 128]], BF16, None, None, "moe_gate tokens=32 experts=128 top=8 bf16"),
    ("vllm::outplace_fused_experts", [[16, 128], [8, 512, 128], [8, 128, 256], [16, 2], [16, 2]], BF16, None, None, "moe_gemm rows=32 N=768 K=128 experts=8 bf16 gate, up and down together"),
    # packed
    ("vllm::inplace_fused_experts", [[16, 128], [8, 512, 64], [8, 128, 128], [16, 2], [16, 2]], BF16, None, None, "moe_gemm bf16"),
    ("sglang::inplace_fused_experts", [[16, 128], [8, 512, 128], [8, 128, 256], [16, 2], [15, 2]], BF16, None, None, "moe_gemm bf16"),
    ("aiter::fmoe_g1u1", [[16, 128], [16, 128], [8, 512, 128], [8, 128, 256], [90], [90], [3], [1], []], ["c10::BFloat16", "c10::Float8_e4m3fnuz", "c10::Float8_e4m3fnuz"], None, ["", "", "", "", "", "", "", "", "4"], "moe_gemm rows=64 N=768 K=128 experts=8 e4m3fnuz gate, up and down together"),
    ("aiter::ck_moe_stage1", [[16, 128], [8, 512, 128], [8, 128, 256], [90], [3], [1], [16, 2, 256], []], BF16, None, ["", "", "", "", "", "", "", "2"], "moe_gemm rows=32 N=512 K=128 experts=8 bf16"),
    ("aiter::ck_moe_stage2", [[16, 2, 256], [8, 512, 128], [8, 128, 256], [90], [3], [1], [16, 128], []], BF16, None, None, "moe_gemm rows=32 N=128 K=256 experts=8 bf16"),
    ("vllm::moe_forward", [[16, 128], [16, 8], []], BF16, None, None, "moe_gemm bf16"),
    # weights are not in it
    ("sgl_kernel::topk_softmax", [[32, 8], [32, 8], [32, 128], []], BF16, None, None, "moe_gate tokens=32 experts=128 top=8 bf16"),
    ("aiter::grouped_topk", [[32, 128], [32, 8], [32, 8]], BF16, None, None, "moe_gate tokens=32 experts=128 top=8 bf16"),
    ("_moe_C::grouped_topk", [[32, 128], [32, 128], []], BF16, None, None, "moe_gate bf16"),
    # a second one of scores
    ("aiter::biased_grouped_topk", [[32, 128], [128], [32, 8], [32, 8]], BF16, None, None, "moe_gate tokens=32 experts=128 top=8 bf16"),
    ("_moe_C::moe_align_block_size", [[32, 8], [], [], [400], [9], [1]], ["int"], None, ["", "128", "64"], "moe_gate tokens=32 experts=128 top=8 i32"),
    ("aiter::mla_decode_stage1_asm_fwd", [[4, 16, 576], [900, 1, 1, 576], [5], [5], [64], [4]], BF16, None, None, "attention bf16"),
    ("_C::rotary_embedding", [[3, 10], [10, 1152], [10, 384], []], BF16, None, ["", "", "", "128"], "rope bf16"),
    ("_C::rotary_embedding", [[10], [10, 1024], [10, 256], []], BF16, None, ["", "", "", "128"], "rope tokens=10 heads=10 dim=128 bf16"),
    # unknown, and broken, inputs
    ("mine::op", [[4]], HALF, None, None, "other f16"),
    ("aten::mm", None, None, None, None, "gemm"),
)
# Name, grid, block, what it is and its traits.
NAMES = (
    ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN_GSU4_ISA942", (3, 2, 1), (256, 1, 1), "gemm bf16 TN", "TN tile 64x32x256 MFMA 16x16 split K 4, N <= 192, M <= 64"),
    ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SE_GSU1", (0, 0, 0), (0, 0, 0), "gemm f16 NN", "NN tile 128x128x32 MFMA 32x32"),
    ("Cijk_Ailk_Bjlk_SB_MT32x32x8_SE", (8, 1, 1), (256, 1, 1), "gemm f32 NT", "NT tile 32x32x8, 8 tiles"),
    ("Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_MT64x64x8", (0, 0, 0), (0, 0, 0), "gemm bf16 TN", "TN tile 64x64x8"),
    ("Cijk_Alik_Bljk_F8_BS_BH_Bias_HA_S_SAV_MT64x64x8", (0, 0, 0), (0, 0, 0), "gemm e4m3>bf16 TN", "TN tile 64x64x8"),
    ("Cijk_Ailk_Bjlk_SB_Bias_HA_S_SAV_MT64x64x8", (0, 0, 0), (0, 0, 0), "gemm f32 NT", "NT tile 64x64x8"),
    ("Cijk_Ailk_Bljk_HBH_MT64x64x8", (0, 0, 0), (0, 0, 0), "gemm f16 NN", "NN tile 64x64x8"),
    ("Cijk_Alik_Bljk_S_B_Bias_HA_S_SAV_MT64x64x8", (0, 0, 0), (0, 0, 0), "gemm f32 TN", "TN tile 64x64x8"),
    ("Cijk_Alik_Bjlk_DB_MT64x64x8", (0, 0, 0), (0, 0, 0), "gemm f64 TT", "TT tile 64x64x8"),
    ("Cijk_Alik_Bljk_F8BS_BH_MT256x256x64_SK3", (0, 0, 0), (0, 0, 0), "gemm e4m3>bf16 TN", "TN tile 256x256x64 stream-K"),
    ("Cijk_Alik_Bljk_F8NBS_BH_MT256x256x64", (0, 0, 0), (0, 0, 0), "gemm e4m3fnuz>bf16 TN", "TN tile 256x256x64"),
    ("Cijk_", (0, 0, 0), (0, 0, 0), "gemm NN", "NN"),
    ("fmha_fwd_hd128_bf16_causal_group", (4, 8, 1), (256, 1, 1), "attention bf16", "attention D=128 causal, 32 workgroups of 256"),
    ("aiter::fmoe_bf16_g1u1_32x128", (0, 0, 0), (0, 0, 0), "moe_gemm bf16", "moe_gemm tile 32x128"),
    ("void vllm::rms_norm_kernel<c10::BFloat16, float>", (0, 0, 0), (0, 0, 0), "norm bf16", "norm"),
    ("triton_poi_fused_add_0", (0, 0, 0), (0, 0, 0), "elementwise", "fused pointwise: add"),
    ("triton_poi_fused__to_copy_add_convolution_native_layer_norm_12", (4, 2, 1), (256, 1, 1), "elementwise", "fused pointwise: _to_copy, add, convolution, native_layer_norm, 8 workgroups of 256"),
    ("triton_poi_fused_3", (0, 0, 0), (0, 0, 0), "elementwise", "fused pointwise"),
    ("triton_per_fused__softmax_mm_2", (0, 0, 0), (0, 0, 0), "reduction", "persistent reduction: _softmax, mm"),
    ("triton_tem_fused_addmm_relu_1", (0, 0, 0), (0, 0, 0), "gemm", "template: addmm, relu"),
    ("triton_tem_fused_convolution_1", (0, 0, 0), (0, 0, 0), "conv", "template: convolution"),
    ("triton_tem_fused_flex_attention_1", (0, 0, 0), (0, 0, 0), "attention", "template: flex_attention"),
    ("void ck::kernel_gemm_xdl_cshuffle_v3<ck::bhalf_t, ck::bhalf_t>", (0, 0, 0), (0, 0, 0), "gemm bf16", "gemm"),
    ("kernel_gemm_xdl<ck::f8_fnuz_t, ck::f8_fnuz_t, float, ck::bhalf_t>", (0, 0, 0), (0, 0, 0), "gemm e4m3fnuz", "gemm"),
    ("_ZN2ck6device37kernel_grouped_conv_fwd_xdl_cshuffleINS_32GridwiseGemmMultipleD", (0, 0, 0), (0, 0, 0), "conv", "conv"),
    ("sm80_xmma_fprop_implicit_gemm_bf16bf16_nhwckrsc", (0, 0, 0), (0, 0, 0), "conv bf16", "conv"),
    ("convert_fp8_kernel", (0, 0, 0), (0, 0, 0), "elementwise fp8", "elementwise"),
    ("cutlass::device_kernel<flash::FlashAttnFwdSm90<128>>", (0, 0, 0), (0, 0, 0), "attention", "attention"),
    ("pytorch_flash::flash_bwd_dq_dk_dv_loop", (0, 0, 0), (0, 0, 0), "other", "attention, backward"),
    ("MIOpenBatchNormFwdInferSpatialEst", (0, 0, 0), (0, 0, 0), "norm", "norm"),
    ("void gemv2T_kernel_val<int, int, __nv_bfloat16>", (0, 0, 0), (0, 0, 0), "gemm bf16", "gemm"),
    ("triton_red_fused_sum_1", (0, 0, 0), (0, 0, 0), "reduction", "fused reduction: sum"),
    ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", (0, 0, 0), (0, 0, 0), "communication bf16", "communication"),
    ("bf16gemm_fp32bf16_tn_64x64_pf3_splitk", (0, 0, 0), (0, 0, 0), "gemm bf16", "gemm tile 64x64"),
)
# The operator, our kernel, a part of its parameters or why there is none, what stands for it on the CPU device.
KERNELS = (
    (dict(name="g", kind="gemm", dims=[1, 64, 512, 256], dtype="bf16", total="bf16", tb=True), "gemm_matrix", "\"m\": 64, \"n\": 512, \"k\": 256, \"batch\": 1, \"TA\": 0, \"TB\": 1, \"BM\": 64", "gemm_register"),
    (dict(name="g", kind="gemm", dims=[4, 64, 512, 256], dtype="f32", total="f32"), "gemm_register", "\"batch\": 4", None),
    (dict(name="g", kind="gemm", dims=[1, 1, 512, 256], dtype="bf16", total="bf16", tb=True), "gemv", "\"m\": 512, \"k\": 256", None),
    (dict(name="g", kind="gemm", dims=[1, 64, 512, 256], dtype=""), None, "its type is not known", None),
    (dict(name="g", kind="gemm", dtype="f16"), None, "its shape is not known", None),
    (dict(name="a", kind="attention", dims=[2, 8, 2, 512, 512, 128, 128], dtype="bf16", causal=True), "attention_prefill", "\"past\": 0, \"causal\": 1", None),
    (dict(name="a", kind="attention", dims=[2, 8, 2, 1, 512, 128, 128], dtype="bf16"), "attention_decode", "\"n\": 512", None),
    (dict(name="a", kind="attention", dims=[2, 8, 8, 9, 9, 96, 96], dtype="bf16"), None, "no heads of 96", None),
    (dict(name="a", kind="attention", dims=[2, 8, 8, 9, 9, 192, 128], dtype="bf16"), None, "no heads of 192", None),
    (dict(name="broadcast", kind="communication", dims=[256, 1024, 8, 3], dtype="f32"), "broadcast", "\"size\": 1024, \"devices\": 8, \"root\": 3", None),
    (dict(name="reduce_scatter", kind="communication", dims=[256, 1024, 8], dtype="bf16", layout="in-place"), "reduce_scatter_in_place", "\"size\": 1024, \"devices\": 8", None),
    (dict(name="add_rms_norm", kind="norm", dims=[7, 4096], dtype="bf16"), "add_rmsnorm", "4096", None),
    (dict(name="aten::rms_norm", kind="norm", dims=[7, 4096], dtype="f16"), "rmsnorm", "4096", None),
    (dict(name="layer_norm", kind="norm", dims=[7, 30000], dtype="f32"), "layernorm", "\"HOLD\": 0", None),
    (dict(name="s", kind="softmax", dims=[7, 512], dtype="f32"), "softmax_short", "512", None),
    (dict(name="s", kind="softmax", dims=[7, 5000], dtype="f32"), "softmax_long", "5000", None),
    (dict(name="aten::convolution", kind="conv", dims=[1, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1], dtype="f16", extra=" pad_w=2"), None, "one padding for both axes", None),
    (dict(name="aten::convolution", kind="conv", dims=[1, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1], dtype="f16", extra=" transposed"), None, "transposed", None),
    (dict(name="fwd", kind="attention", dims=[1, 8, 8, 64, 64, 64, 64], dtype="f16", extra=" causal=?"), None, "whether it is causal", None),
    (dict(name="aten::add", kind="elementwise", dims=[64, 2], dtype="f16"), "stream_add", "{\"n\": 32}", None),
    (dict(name="aten::copy_", kind="elementwise", dims=[64, 1], dtype="f32"), "stream_copy", "64", None),
    (dict(name="aten::copy_", kind="elementwise", dims=[64, 1], dtype="f32", total="bf16"), "stream_copy", "48", None),
    (dict(name="aten::zero_", kind="elementwise", dims=[64, 1], dtype="bool"), "stream_init", "16", None),
    (dict(name="silu_and_mul", kind="elementwise", dims=[128, 1, 4], dtype="bf16"), "silu_mul", "\"rows\": 4, \"columns\": 16", None),
    (dict(name="r", kind="reduction", dims=[64], dtype="f32"), "reduction", "64", None),
    (dict(name="r", kind="rope", dims=[4, 8, 128], dtype="bf16"), "rope", "\"heads\": 8", None),
    (dict(name="e", kind="moe_gemm", dims=[64, 256, 128, 8], dtype="bf16", total="bf16"), "moe_gemm", "\"experts\": 8, \"BM\": 32", "moe_gemm"),
    (dict(name="c", kind="conv", dims=[2, 3, 9, 9, 8, 7, 7, 2, 3, 1, 1], dtype="bf16", total="bf16"), "conv_direct", "\"dtype\": \"f16\"", None),
    (dict(name="g", kind="gemm", dims=[1, 300, 96, 128], dtype="e4m3", total="bf16", tb=True), "gemm_matrix", "\"BK\": 64", "gemm_register"),
    (dict(name="e", kind="moe_gate", dims=[64, 256, 8], dtype="f32"), "moe_gate", "\"TOP\": 8", None),
    (dict(name="e", kind="moe_gate", dims=[64, 256, 9], dtype="f32"), None, "up to 8 experts", None),
    (dict(name="grouped_topk", kind="moe_gate", dims=[64, 256, 8], dtype="f32"), None, "no groups", None),
    (dict(name="moe_align_block_size", kind="moe_gate", dims=[64, 256, 8], dtype="i32"), "moe_plan", "\"EXPERTS\": 256", None),
    (dict(name="aten::native_group_norm", kind="norm", dims=[64, 4096], dtype="f16"), "layernorm", "\"rows\": 64", None),
    (dict(name="aten::native_batch_norm", kind="norm", dims=[64, 4096], dtype="f16"), None, "channel of all images", None),
    (dict(name="c", kind="conv", dims=[2, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1], dtype="f16", total="f16"), "conv_implicit", "\"images\": 2", "conv_direct"),
    (dict(name="c", kind="conv", dims=[2, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1], dtype="f32", total="f32"), "conv_direct", "\"pad\": 1", None),
    (dict(name="c", kind="conv", dims=[2, 3, 9, 9, 8, 3, 3, 1, 1, 2, 1], dtype="f16"), None, "no dilation and no groups", None),
    (dict(name="convolution_backward", kind="conv", dims=[2, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1], dtype="f16"), None, "gradients", None),
    (dict(name="n", kind="communication", dims=[64], dtype="f16"), None, "no kernel of ours", None),
)


def operator_of(name="", dims=(), dtype="", total=None, **more):
    """Dimensions that are not given are not known."""
    operator = Operator(name, dtype=dtype, total=dtype if total is None else total, **more)
    operator.set_dims(*dims)
    return operator


def words_of(o):
    """"gemm B=1 M=4 N=16 K=8 f16>f16 TN causal"; dimensions that are 0 are left out."""
    words = [o.kind] + [f"{name}={dim:.0f}" for name, dim in zip(DIMS[o.kind], o.dims) if dim > 0]
    words += [o.dtype if o.dtype == o.total else f"{o.dtype}>{o.total}"] * bool(o.dtype) + [o.layout] * bool(o.layout)
    return " ".join(words) + (" causal" if o.causal else "") + o.extra


class Shapes(unittest.TestCase):
    def test_inputs_give_the_shape(self):
        for name, *lists, words in INPUTS:
            with self.subTest(name=name, dims=lists[0]):
                self.assertEqual(words_of(read_operator(Inputs(name, *lists))), words)

    def test_types(self):
        for word, dtype in {"c10::BFloat16": "bf16", "c10::Half": "f16", "float": "f32", "double": "f64", "long int": "i64", "signed char": "i8", "unsigned char": "u8",
                            "c10::complex<float>": "c64", "torch.float8_e4m3fnuz": "e4m3fnuz", "c10::Float8_e5m2": "e5m2", "torch.bfloat16": "bf16", "Scalar": None, "": None}.items():
            self.assertEqual(dtype_of_trace(word), dtype, word)

    def test_a_list_of_tensors_is_shown_whole(self):
        o = read_operator(Inputs("aten::cat", [[[4, 8], [2, 8]], [], [3]], ["TensorList", "Scalar", "float"]))
        self.assertEqual(o.shape, "([4,8] [2,8]) [3]")

    def test_numbers(self):
        for text in ("0", "7", "3000000000000.123", "0.1", "1e3", "-5.25", "9007199254740993", ".5", "5."):
            self.assertEqual(number_of(text, -1.0), float(text))
        self.assertEqual([number_of(value, -1.0) for value in (None, "", [], True, "12 GB", 1 << 2000)], [-1, -1, -1, -1, 12, math.inf])


class Names(unittest.TestCase):
    def test_names_say_kind_and_type_and_no_size(self):
        for name, grid, block, words, traits in NAMES:
            with self.subTest(name=name):
                o = Operator(name)
                self.assertEqual((read_kernel_name(o, name, grid, block), words_of(o)), (traits, words))
                self.assertFalse(any(o.dims))

    def test_others_say_nothing(self):
        for name in "", "k", "my_kernel(float*)", "_Z3fooPf":
            self.assertIsNone(read_kernel_name(Operator(name), name, (0, 0, 0), (0, 0, 0)))
        self.assertEqual([name_of_kind(name) for name in ("triton_poi_fused_add_12", "triton_poi_fused_add", "k_12")], ["triton_poi_fused_add", "triton_poi_fused_add", "k_12"])


class Kernels(unittest.TestCase):
    def row_of(self, operator):
        row = dict.fromkeys(("kernel", "params", "other_params", "library", "cpu_kernel"), "")
        map_row(row, operator)
        return row

    def test_operators_have_kernels(self):
        for given, kernel, part, cpu in KERNELS:
            with self.subTest(**given):
                row = self.row_of(operator_of(**given))
                self.assertEqual((row["kernel"], row["cpu_kernel"], bool(row["why"])), (kernel or "", cpu or "", not kernel))
                self.assertIn(part, row["params"] if kernel else row["why"])
                self.assertEqual(bool(row["library"]), given["kind"] == "gemm" and bool(kernel))

    def test_formats_of_8_bits(self):
        for one, other in ("e4m3", "e4m3fnuz"), ("e5m2fnuz", "e5m2"):
            row = self.row_of(operator_of("g", [1, 64, 96, 128], one, "bf16", kind="gemm", tb=True))
            self.assertIn(f'"dtype": "{one}"', row["params"])
            self.assertIn(f'"dtype": "{other}"', row["other_params"])
            self.assertEqual(row["is_fnuz"], one.endswith("fnuz"))

    def test_work_is_counted(self):
        for kind, dims, flops in (("gemm", (3, 64, 512, 256), 2 * 3 * 64 * 512 * 256), ("moe_gemm", (100, 512, 256, 8), 2 * 100 * 512 * 256),
                                  ("attention", (2, 8, 2, 64, 128, 32, 16), 2 * 2 * 8 * 64 * 128 * 48), ("conv", (4, 64, 9, 9, 32, 3, 3, 2, 1, 1, 2), 2 * 4 * 32 * 5 * 5 * 32 * 9),
                                  ("conv", (4, 64, 9, 9, 32, 1, 1, 2, 0, 1, 1), 2 * 100 * 32 * 64)):
            o = operator_of(kind=kind, dims=dims, dtype="f16")
            self.assertEqual(flops_of(o, describe(o)), flops)

    def test_names_for_people(self):
        for name, short in (("void at::native::(anonymous namespace)::norm<float, at::Op<c10::Half> >(int)", "norm<float, Op<Half> >"), ("aiter::fmoe_bf16", "aiter::fmoe_bf16"),
                            ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_MT64x32x256_MI16x16x1_SN_GSU4_SK3_WS64", "Cijk_Alik_Bljk_BBS_BH MT64x32x256 MI16x16x1 GSU4 SK3"),
                            ("Cijk_Ailk_Bljk_SB_MT128x64x8_SE_GSU1_K1", "Cijk_Ailk_Bljk_SB MT128x64x8"), ("Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)")):
            self.assertEqual(plain_name(name), short)

    def test_tuned_kernels(self):
        conv = [4, 64, 9, 9, 32, 3, 3, 2, 1, 1, 2]
        for given, kind, sizes in (
                (dict(kind="gemm", dims=[3, 64, 512, 256], dtype="bf16", total="f32"), "gemm", [3, 64, 512, 256]),
                (dict(kind="moe_gemm", dims=[100, 512, 256, 8], dtype="bf16"), "gemm", [8, 13, 512, 256]), (dict(kind="moe_gemm", dims=[2, 512, 256, 8], dtype="bf16"), "gemm", [2, 1, 512, 256]),
                (dict(kind="conv", dims=[4, 64, 9, 9, 32, 1, 1, 2, 0, 1, 1], dtype="f16"), "gemm", [1, 100, 32, 64]),
                (dict(kind="conv", dims=conv, dtype="f16"), "convolution", [4, 64, 32, 2, (9, 9), (5, 5), (3, 3)]),
                (dict(kind="conv", dims=conv, dtype="f16", extra=" transposed"), "convolution", [4, 32, 64, 2, (17, 17), (9, 9), (3, 3)]),
                (dict(kind="gemm", dims=[2, 1, 9, 7], dtype="f32"), "elementwise", [126, 1, 1]), (dict(kind="norm", dims=[5, 512], dtype="bf16"), "layer_norm", [5, 512]),
                (dict(kind="softmax", dims=[5, 512], dtype="f32"), "softmax", [5, 512]), (dict(name="aten::add", kind="elementwise", dims=[9, 2], dtype="f32"), "elementwise", [9, 1, 3]),
                (dict(name="aten::copy_", kind="elementwise", dims=[9, 1], dtype="f32"), "elementwise", [9, 1, 2]), (dict(name="aten::fill_", kind="elementwise", dims=[9, 1], dtype="bool"), "elementwise", [9, 1, 1]),
                (dict(kind="elementwise", dims=[8, 1, 2], dtype="f16"), "elementwise", [8, 1, 1.5])):
            with self.subTest(**given):
                found = describe(operator_of(**given))
                keys = {"gemm": "bmnk", "convolution": ("images", "channels_in", "channels_out", "groups", "in", "out", "filter")}.get(kind, ("rows", "columns", "operands"))
                self.assertEqual((found["family"], [found[key] for key in keys if key in found]), (kind, sizes))
        for given in dict(kind="attention", dims=[1, 8, 8, 9, 9, 64, 64], dtype="f16"), dict(kind="gemm", dims=[1, 9, 8, 7], dtype="c64"):
            self.assertIsNone(describe(operator_of(**given)))


if __name__ == "__main__":
    unittest.main()
