/* SPDX-License-Identifier: MIT
 *
 * What an operator's inputs, as a trace has them, say about what it computes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "operators.h"

#define HALF "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"c10::Half\"]"
#define BF16 "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\"]"

/* The lines of a signature: name, dimensions, types, strides, values. */
static const struct {
    const char *name, *dims, *types, *strides, *values, *words;
} cases[] = {
    /* products: transposed is what lies so in memory */
    {"aten::mm", "[[4,8],[8,16]]", HALF, "[[8,1],[16,1]]", "", "gemm B=1 M=4 N=16 K=8 f16 NN"},
    {"aten::mm", "[[4,8],[8,16]]", HALF, "[[8,1],[1,8]]", "", "gemm B=1 M=4 N=16 K=8 f16 TN"},
    {"aten::mm", "[[4,8],[8,16]]", HALF, "[[1,4],[16,1]]", "", "gemm B=1 M=4 N=16 K=8 f16 NT"},
    {"aten::mm", "[[4,8],[9,16]]", HALF, "[[8,1],[16,1]]", "", "gemm f16"},
    {"aten::addmm", "[[16],[4,8],[8,16]]", BF16, "[[1],[8,1],[1,8]]", "", "gemm B=1 M=4 N=16 K=8 bf16 TN"},
    {"aten::bmm", "[[3,4,8],[3,8,16]]", BF16, "[[32,8,1],[128,16,1]]", "", "gemm B=3 M=4 N=16 K=8 bf16 NN"},
    {"aten::linear", "[[2,4,8],[16,8],[]]", BF16, "[[32,8,1],[8,1],[]]", "", "gemm B=1 M=8 N=16 K=8 bf16 TN"},
    {"aten::_int_mm", "[[4,8],[8,16]]", "[\"signed char\",\"signed char\"]", "[[8,1],[1,8]]", "",
     "gemm B=1 M=4 N=16 K=8 i8>i32 TN"},
    {"aten::_scaled_mm", "[[4,8],[8,16]]", "[\"c10::Float8_e4m3fnuz\",\"c10::Float8_e4m3fnuz\"]", "[[8,1],[1,8]]", "",
     "gemm B=1 M=4 N=16 K=8 e4m3fnuz>bf16 TN"},
    {"aten::matmul", "[[3,4,8],[1,8,16]]", BF16, "[[32,8,1],[128,16,1]]", "", "gemm B=3 M=4 N=16 K=8 bf16 NN"},
    {"aten::mv", "[[16,8],[8]]", HALF, "[[8,1],[1]]", "", "gemm B=1 M=1 N=16 K=8 f16 TN"},
    {"aten::addmv_", "[[16],[16,8],[8]]", HALF, "[[1],[1,16],[1]]", "", "gemm B=1 M=1 N=16 K=8 f16 NN"},
    {"aten::mm", "[[4,8],[8,16]]", HALF, "", "", "gemm B=1 M=4 N=16 K=8 f16"}, /* how they lie is not told */
    {"aten::mm", "[[0,8],[8,16]]", HALF, "[[8,1],[16,1]]", "", "gemm f16"},
    {"aiter::gemm_a4w4", "[[4,8],[16,8]]", "[\"unsigned char\",\"unsigned char\"]", "", "",
     "gemm B=1 M=4 N=16 K=16 e2m1>bf16 TN"},
    {"aiter::batched_gemm_a8w8", "[[3,4,8],[3,16,8]]", "[\"signed char\",\"signed char\"]", "", "",
     "gemm B=3 M=4 N=16 K=8 i8>i32 TN"},
    {"aiter::batched_gemm_bf16", "[[3,4,8],[3,16,8],[3,4,16]]", BF16, "", "", "gemm B=3 M=4 N=16 K=8 bf16 TN"},
    {"aiter::batched_gemm_a8w8", "[[12,8],[3,16,8]]", "[\"signed char\",\"signed char\"]", "", "", "gemm i8"},
    /* 4-bit weights are packed: their own sizes are not the product's */
    {"_C::awq_gemm", "[[4,256],[256,64],[2,512],[2,64],[]]", "[\"c10::Half\",\"int\",\"c10::Half\",\"int\",\"Scalar\"]",
     "", "", "gemm B=1 M=4 N=512 K=256 w4a16>f16"},
    {"_C::gptq_gemm", "[[4,256],[32,512],[2,64],[2,512],[256]]",
     "[\"c10::Half\",\"int\",\"int\",\"c10::Half\",\"int\"]", "", "", "gemm B=1 M=4 N=512 K=256 w4a16>f16"},
    /* attention */
    {"aten::_scaled_dot_product_flash_attention", "[[2,8,100,64],[2,8,120,64],[2,8,120,64],[],[]]", BF16, "",
     "[\"\",\"\",\"\",\"0.\",\"True\"]", "attention B=2 H=8 HKV=8 S=100 SKV=120 D=64 DV=64 bf16 BHSD causal"},
    {"aten::_flash_attention_forward", "[[2,100,8,64],[2,120,2,64],[2,120,2,64]]", BF16, "", "",
     "attention B=2 H=8 HKV=2 S=100 SKV=120 D=64 DV=64 bf16 BSHD"},
    {"flash_attn::_flash_attn_varlen_forward", "[[200,8,64],[200,2,64],[200,2,64],[3],[3],[],[]]", BF16, "",
     "[\"\",\"\",\"\",\"\",\"\",\"100\",\"100\"]", "attention B=2 H=8 HKV=2 S=100 SKV=100 D=64 DV=64 bf16 THD"},
    /* the sequences are not alike: no shape */
    {"flash_attn::_flash_attn_varlen_forward", "[[150,8,64],[150,2,64],[150,2,64],[3],[3],[],[]]", BF16, "",
     "[\"\",\"\",\"\",\"\",\"\",\"100\",\"100\"]", "attention bf16"},
    /* keys in pages, or of heads that no query has; and nobody says whether it is causal */
    {"flash_attn_3::fwd", "[[4,1,8,64],[90,16,2,64],[90,16,2,64]]", BF16, "", "", "attention bf16"},
    {"flash_attn_3::fwd", "[[4,1,8,64],[4,50,3,64],[4,50,3,64]]", BF16, "", "", "attention bf16"},
    {"flash_attn_3::fwd", "[[4,9,8,64],[4,9,2,64],[4,9,2,64]]", BF16, "", "",
     "attention B=4 H=8 HKV=2 S=9 SKV=9 D=64 DV=64 bf16 BSHD causal=?"},
    /* keys are a cache's capacity, where lengths follow */
    {"flash_attn_2::mha_fwd_kvcache", "[[4,1,8,64],[4,900,2,64],[4,900,2,64],[],[],[4]]",
     "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"\",\"\",\"int\"]", "", "", "attention f16"},
    {"flash_attn::_flash_attn_forward", "[[2,100,8,64],[2,100,2,64],[2,100,2,64]]", BF16, "",
     "[\"\",\"\",\"\",\"0.\",\"0.125\",\"True\",\"31\",\"0\"]",
     "attention B=2 H=8 HKV=2 S=100 SKV=100 D=64 DV=64 bf16 BSHD causal window=31"},
    {"flash_attn::_flash_attn_forward", "[[2,100,8,64],[2,100,2,64],[2,100,2,64]]", BF16, "",
     "[\"\",\"\",\"\",\"0.\",\"0.125\",\"True\",\"-1\",\"-1\"]",
     "attention B=2 H=8 HKV=2 S=100 SKV=100 D=64 DV=64 bf16 BSHD causal"},
    /* rows */
    {"aten::native_layer_norm", "[[2,3,512],[],[512],[512]]", HALF, "", "", "norm rows=6 columns=512 f16"},
    {"aten::native_layer_norm", "[[2,3,4,512],[],[],[]]", HALF, "", "[\"\",\"[4, 512]\"]",
     "norm rows=6 columns=2048 f16"},
    {"aten::native_group_norm", "[[2,64,5,7],[64],[64],[],[],[],[],[]]", HALF, "",
     "[\"\",\"\",\"\",\"2\",\"64\",\"35\",\"32\",\"1e-05\"]", "norm rows=64 columns=70 f16"},
    {"aten::native_batch_norm", "[[2,64,5,7],[64],[64],[64],[64],[],[],[]]", HALF, "", "",
     "norm rows=64 columns=70 f16"},
    {"vllm::rms_norm", "[[7,512],[7,512]]", BF16, "", "", "norm rows=7 columns=512 bf16"},
    {"aten::_softmax", "[[2,3,50]]", HALF, "", "[\"\",\"-1\"]", "softmax rows=6 columns=50 f16"},
    {"aten::_softmax", "[[2,3,50]]", HALF, "", "[\"\",\"2\"]", "softmax rows=6 columns=50 f16"},
    {"aten::_softmax", "[[2,3,50]]", HALF, "", "[\"\",\"1\"]", "softmax f16"}, /* not along contiguous rows */
    /* by element: broadcast, and x[:, :d] beside x[:, d:] */
    {"aten::add", "[[4,16],[4,16]]", HALF, "", "", "elementwise n=64 inputs=2 f16"},
    {"aten::add", "[[4,16],[16]]", HALF, "", "", "elementwise n=64 inputs=1 f16"},
    {"triton_red_fused_native_layer_norm_1", "[[16],[4,16],[4]]", BF16, "", "", "reduction n=64 bf16"},
    {"triton_poi_fused_native_layer_norm_2", "[[16],[4,16],[4,16]]", BF16, "", "", "elementwise n=64 inputs=2 bf16"},
    {"aten::add", "[[4,1,16],[5,1]]", HALF, "", "", "elementwise n=320 f16"}, /* more than each input */
    {"_C::silu_and_mul", "[[4,16],[4,32]]", HALF, "", "", "elementwise n=128 inputs=1 rows=4 f16"},
    {"aten::copy_", "[[4,16],[4,16],[]]", "[\"c10::Half\",\"float\",\"\"]", "", "",
     "elementwise n=64 inputs=1 f32>f16"},
    {"aten::sum", "[[4,16]]", HALF, "", "", "reduction n=64 f16"},
    {"aten::embedding", "[[1000,64],[2,3]]", HALF, "", "", "gather rows=6 columns=64 f16"},
    {"aten::index_select", "[[1000,64],[],[3]]", HALF, "", "[\"\",\"0\",\"\"]", "gather rows=3 columns=64 f16"},
    {"aten::index_select", "[[1000,64],[],[3]]", HALF, "", "[\"\",\"1\",\"\"]", "gather f16"}, /* columns */
    /* convolution: a depthwise one has as many groups as channels, wherever that stands */
    {"aten::_conv_depthwise2d", "[[2,32,20,30],[32,1,3,3],[],[32]]", HALF, "",
     "[\"\",\"\",\"[3, 3]\",\"\",\"[1, 1]\",\"[2, 2]\",\"[2, 2]\"]",
     "conv N=2 C=32 H=20 W=30 K=32 R=3 S=3 stride=1 pad=2 dilation=2 groups=32 f16 NCHW"},
    {"aten::cudnn_convolution_relu", "[[2,3,20,30],[8,3,5,7],[8]]", HALF, "",
     "[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"1\"]",
     "conv N=2 C=3 H=20 W=30 K=8 R=5 S=7 stride=2 pad=1 dilation=1 groups=1 f16 NCHW"},
    {"aten::convolution", "[[2,3,20,30],[8,3,5,7],[8]]", HALF, "[[1800,600,30,1]]",
     "[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\"]",
     "conv N=2 C=3 H=20 W=30 K=8 R=5 S=7 stride=2 pad=1 dilation=1 groups=1 f16 NCHW"},
    {"aten::miopen_convolution", "[[2,3,20,30],[8,3,5,7],[8]]", HALF, "[[1800,1,90,3]]",
     "[\"\",\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[1, 1]\",\"1\"]",
     "conv N=2 C=3 H=20 W=30 K=8 R=5 S=7 stride=1 dilation=1 groups=1 f16 NHWC"},
    {"aten::convolution", "[[2,8,20,30],[8,3,4,4],[]]", HALF, "",
     "[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"True\",\"[0, 0]\",\"2\"]",
     "conv N=2 C=8 H=20 W=30 K=6 R=4 S=4 stride=2 pad=1 dilation=1 groups=2 f16 NCHW transposed"},
    {"aten::convolution", "[[2,3,20,30],[8,3,5,7],[8]]", HALF, "",
     "[\"\",\"\",\"\",\"[2, 1]\",\"[2, 3]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\"]",
     "conv N=2 C=3 H=20 W=30 K=8 R=5 S=7 stride=2 pad=2 dilation=1 groups=1 f16 NCHW stride_w=1 pad_w=3"},
    {"aten::convolution", "[[2,80,3000],[8,80,3],[8]]", HALF, "",
     "[\"\",\"\",\"\",\"[1]\",\"[1]\",\"[1]\",\"False\",\"[0]\",\"1\"]",
     "conv N=2 C=80 H=1 W=3000 K=8 R=1 S=3 stride=1 dilation=1 groups=1 f16 NCHW pad_w=1"},
    {"aten::convolution", "[[1,3,16,20,30],[8,3,2,5,7],[8]]", HALF, "",
     "[\"\",\"\",\"\",\"[1, 2, 2]\",\"[0, 1, 1]\",\"[1, 1, 1]\",\"False\",\"[0, 0, 0]\",\"1\"]",
     "conv N=1 C=3 H=20 W=30 K=8 R=5 S=7 stride=2 pad=1 dilation=1 groups=1 D=16 f16 NCDHW filter_d=2 stride_d=1 "
     "pad_d=0"},
    /* mixtures of experts, positions */
    {"aten::_grouped_mm", "[[64,128],[8,128,256]]", BF16, "", "", "moe_gemm rows=64 N=256 K=128 experts=8 bf16"},
    {"_moe_C::topk_softmax", "[[32,8],[32,8],[32,8],[32,128]]", BF16, "", "",
     "moe_gate tokens=32 experts=128 top=8 bf16"},
    {"vllm::outplace_fused_experts", "[[16,128],[8,512,128],[8,128,256],[16,2],[16,2]]", BF16, "", "",
     "moe_gemm rows=32 N=768 K=128 experts=8 bf16 gate, up and down together"},
    {"vllm::inplace_fused_experts", "[[16,128],[8,512,64],[8,128,128],[16,2],[16,2]]", BF16, "", "", /* packed */
     "moe_gemm bf16"},
    {"sglang::inplace_fused_experts", "[[16,128],[8,512,128],[8,128,256],[16,2],[15,2]]", BF16, "", "",
     "moe_gemm bf16"},
    {"aiter::fmoe_g1u1", "[[16,128],[16,128],[8,512,128],[8,128,256],[90],[90],[3],[1],[]]",
     "[\"c10::BFloat16\",\"c10::Float8_e4m3fnuz\",\"c10::Float8_e4m3fnuz\"]", "",
     "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"4\"]",
     "moe_gemm rows=64 N=768 K=128 experts=8 e4m3fnuz gate, up and down together"},
    {"aiter::ck_moe_stage1", "[[16,128],[8,512,128],[8,128,256],[90],[3],[1],[16,2,256],[]]", BF16, "",
     "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"2\"]", "moe_gemm rows=32 N=512 K=128 experts=8 bf16"},
    {"aiter::ck_moe_stage2", "[[16,2,256],[8,512,128],[8,128,256],[90],[3],[1],[16,128],[]]", BF16, "", "",
     "moe_gemm rows=32 N=128 K=256 experts=8 bf16"},
    {"vllm::moe_forward", "[[16,128],[16,8],[]]", BF16, "", "", "moe_gemm bf16"}, /* weights are not in it */
    {"sgl_kernel::topk_softmax", "[[32,8],[32,8],[32,128],[]]", BF16, "", "",
     "moe_gate tokens=32 experts=128 top=8 bf16"},
    {"aiter::grouped_topk", "[[32,128],[32,8],[32,8]]", BF16, "", "", "moe_gate tokens=32 experts=128 top=8 bf16"},
    {"_moe_C::grouped_topk", "[[32,128],[32,128],[]]", BF16, "", "", "moe_gate bf16"}, /* a second one of scores */
    {"aiter::biased_grouped_topk", "[[32,128],[128],[32,8],[32,8]]", BF16, "", "",
     "moe_gate tokens=32 experts=128 top=8 bf16"},
    {"_moe_C::moe_align_block_size", "[[32,8],[],[],[400],[9],[1]]", "[\"int\"]", "", "[\"\",\"128\",\"64\"]",
     "moe_gate tokens=32 experts=128 top=8 i32"},
    {"aiter::mla_decode_stage1_asm_fwd", "[[4,16,576],[900,1,1,576],[5],[5],[64],[4]]", BF16, "", "", "attention bf16"},
    {"_C::rotary_embedding", "[[3,10],[10,1152],[10,384],[]]", BF16, "", "[\"\",\"\",\"\",\"128\"]", "rope bf16"},
    {"_C::rotary_embedding", "[[10],[10,1024],[10,256],[]]", BF16, "", "[\"\",\"\",\"\",\"128\"]",
     "rope tokens=10 heads=10 dim=128 bf16"},
    /* unknown, and broken, inputs */
    {"mine::op", "[[4]]", HALF, "", "", "other f16"},
    {"aten::mm", "[[4", "[", "[[", "[", "gemm"},
    {"aten::mm", "", "", "", "", "gemm"},
};

static void inputs_give_the_shape(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct trace_operator o;
        operator_read(&o,
                      arena_printf(&arena, "%s\n%s\n%s\n%s\n%s\n", cases[k].name, cases[k].dims, cases[k].types,
                                   cases[k].strides, cases[k].values),
                      &arena);
        const char *words = operator_words(&o, &arena);
        if (strcmp(words, cases[k].words) != 0)
            fail_msg("%s %s: '%s', not '%s'", cases[k].name, cases[k].dims, words, cases[k].words);
        assert_string_equal(o.name, cases[k].name);
    }
    arena_release(&arena);
}

/* What a reader knows comes back from its signature as it went in. */
static void signatures_keep_all(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trace trace = {0};
    const struct trace_operator in = {.name = "a b",
                                      .kind = IMPORT_ATTENTION,
                                      .dims = {1, 2, 3, 4, 5, 6, 7},
                                      .dtype = "bf16",
                                      .total = "f32",
                                      .layout = "BHSD",
                                      .shape = "in words",
                                      .extra = " pad_w=2",
                                      .ta = true,
                                      .causal = true};
    struct trace_operator out;
    const uint32_t number = operator_signature(&trace, &in);
    assert_int_equal(operator_signature(&trace, &in), number);
    operator_read(&out, trace.signatures.items[number], &arena);
    assert_string_equal(operator_words(&out, &arena), operator_words(&in, &arena));
    assert_string_equal(out.shape, "in words");
    assert_true(out.ta && !out.tb);
    texts_release(&trace.signatures);
    arena_release(&arena);
}

static void types(void **state)
{
    static const struct {
        const char *type, *dtype;
    } rows[] = {{"c10::BFloat16", "bf16"},
                {"c10::Half", "f16"},
                {"float", "f32"},
                {"double", "f64"},
                {"long int", "i64"},
                {"signed char", "i8"},
                {"unsigned char", "u8"},
                {"c10::complex<float>", "c64"},
                {"torch.float8_e4m3fnuz", "e4m3fnuz"},
                {"c10::Float8_e5m2", "e5m2"},
                {"torch.bfloat16", "bf16"},
                {"Scalar", NULL},
                {"", NULL}};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        const char *dtype = dtype_of_trace(rows[k].type);
        if (!rows[k].dtype)
            assert_true(!dtype || !dtype[0]);
        else
            assert_string_equal(dtype, rows[k].dtype);
    }
}

/* Of an operator without dimensions the inputs in words; a list of tensors whole, so that two lists are two shapes. */
static void other_inputs_in_words(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trace_operator o;
    operator_read(&o, "aten::cat\n[[[4,8],[2,8]],[],[3]]\n[\"TensorList\",\"Scalar\",\"float\"]\n", &arena);
    assert_string_equal(o.shape, "([4,8] [2,8]) [3]");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inputs_give_the_shape), cmocka_unit_test(signatures_keep_all),
                                       cmocka_unit_test(types), cmocka_unit_test(other_inputs_in_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
