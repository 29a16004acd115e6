# SPDX-License-Identifier: MIT
"""Families of operators: PyTorch's own (aten), and those that vLLM, SGLang, AITER and flash-attention register; and
shapes out of an operator's inputs. What an operator's inputs mean is its schema, which the numbers of inputs in a
family's row repeat: -1 is none. A function of shapes answers False where the inputs are not as expected."""
import functools
import math
from collections import namedtuple
from dataclasses import replace

from operators import (CONV_TRANSPOSED, EXPERTS_TOGETHER, MOST_DIMS, MOST_RANK, Operator, blas_layout, leading_number,
                       product_type)

Family = namedtuple("Family", "names kind shape at")


def transposed(one):
    """Of the last two dimensions the first one is contiguous."""
    last = one.rank - 1
    return one.strides[last - 1] == 1 and (one.strides[last] > 1 or one.dims[last] > 1) and one.strides[last] != 1


# ---- products ----

def gemm_shape(out, given, at):
    """A, B, and whether B is stored n x k, as weights are. 4-bit types are packed in pairs."""
    a, b, weights = given.tensor(at[0], 1), given.tensor(at[1], 2), at[2] == 1
    if not a or not b:
        return False
    batched, packed = b.rank > 2, "a4w4" in given.name
    if batched and weights and (a.rank != b.rank or a.count(2) != b.count(2)):
        return False
    told = weights or b.strides[b.rank - 1] > 0 or b.strides[b.rank - 2] > 0
    k, n = a.dims[-1], b.dims[-2 if weights else -1]
    out.set_dims(max(b.count(2), a.count(2)) if batched else 1,  # either may be broadcast
                 1 if a.rank == 1 else a.dims[-2] if batched else a.count(1), n, 2 * k if packed else k)
    out.dtype = "e2m1" if packed else product_type(a.dtype, b.dtype)
    is_narrow = packed or "e4m3" in b.dtype or "e5m2" in b.dtype
    out.total = "i32" if b.dtype == "i8" else "bf16" if is_narrow else a.dtype
    out.ta = a.rank > 1 and transposed(a)
    out.tb = transposed(b) != weights
    out.layout = blas_layout(out.ta, out.tb) if told else ""
    return k == b.dims[-1 if weights else -2] and k > 0 and n > 0 and out.dims[1] > 0


def packed_gemm_shape(out, given, at):
    """A times 4-bit weights, which lie packed in an order of their own: N is the width of another input, K that of
    A."""
    a, wide = given.tensor(at[0], 2), given.tensor(at[1], 2)
    if not a or not wide:
        return False
    out.set_dims(1, a.count(1), wide.dims[-1], a.dims[-1])
    out.dtype, out.total, out.layout = "w4a16", a.dtype, ""
    return all(dim > 0 for dim in out.dims[1:4])


def grouped_shape(out, given, at):
    """Rows sorted by expert, times the matrix of each: A [rows, k], B [experts, k, n] (or n x k)."""
    a, b = given.tensor(at[0], 2), given.tensor(at[1], 3)
    if not a or not b:
        return False
    k = a.dims[1]
    out.set_dims(a.dims[0], b.dims[2] if b.dims[1] == k else b.dims[1], k, b.dims[0])
    return k in (b.dims[1], b.dims[2])


def fused_experts_shape(out, given, at):
    """A mixture's products in one operator: x [tokens, k], gate (and up) [experts, n, k], down [experts, k, inner]; how
    many experts a token has is the width of the choices, or a number. Together they have the FLOPs and weights of one
    product with n + inner columns."""
    x, w1, w2 = given.tensor(at[0], 2), given.tensor(at[0] + 1, 3), given.tensor(at[0] + 2, 3)
    choices = given.tensor(at[1], 2)
    if not x or not w1 or not w2 or x.rank != 2 or (choices and choices.dims[0] != x.dims[0]):
        return False
    top, k = choices.dims[1] if choices else given.number(at[2], 0, 0.0) if len(at) > 2 else 0.0, x.dims[1]
    n, inner = w1.dims[1], w2.dims[2]
    out.set_dims(x.dims[0] * top, n + inner, k, w1.dims[0])
    out.dtype, out.total, out.extra = w1.dtype, x.dtype, EXPERTS_TOGETHER  # w1's: that of both where both have it
    return w1.dims[0] == w2.dims[0] and w1.dims[2] == w2.dims[1] == k and n in (inner, 2 * inner) and out.dims[0] > 0


def experts_stage_shape(out, given, at):
    """One of a mixture's products: x [tokens, k] or [tokens, chosen, k], weights [experts, n, k], and where x has a row
    for all of a token's experts, how many these are."""
    x, w = given.tensor(at[0], 2), given.tensor(at[1], 3)
    if not x or not w:
        return False
    out.set_dims(x.count(1) * (1 if at[2] < 0 else given.number(at[2], 0, 0.0)), w.dims[1], w.dims[2], w.dims[0])
    out.dtype, out.total = w.dtype, x.dtype
    return x.dims[-1] == w.dims[2] and (at[2] >= 0) == (x.rank == 2) and out.dims[0] > 0


# ---- attention ----

def window_of(given, at, keys):
    """Each query sees so many keys before it, and no others; -1 stands for all."""
    window = given.number(at[5], 0, -1.0) if len(at) > 5 else -1.0
    return f" window={window:.0f}" if 0 <= window < keys - 1 else ""


def attention_shape(out, given, at):
    """Queries, keys, values; 0: batch, heads, tokens; 1: batch, tokens, heads; the input that says causal; the first of
    two inputs with where each sequence starts, and the first of two with the longest sequence; the size of a window."""
    q, k, v = (given.tensor(at[0] + number, 3) for number in range(3))
    heads, tokens = (2, 1) if at[1] else (1, 2)
    if not q or not k or not v or q.rank != k.rank or v.rank != k.rank:
        return False
    # Do lengths or pages of the sequences follow, of which a trace has no values? The keys are then a cache's capacity.
    has_lengths = any(one.rank in (1, 2) and one.dtype == "i32" for one in given.items[at[0] + 3:])
    of_heads = heads if q.rank == 4 else 1
    if (q.rank == 4 and q.dims[0] != k.dims[0]) or k.dims[0] != v.dims[0] or q.dims[-1] != k.dims[-1] or \
            remainder(q.dims[of_heads], k.dims[of_heads]) != 0 or (at[2] < 0 and has_lengths):
        return False  # keys of another batch lie in pages
    out.dtype = out.total = q.dtype
    out.causal = given.number(at[2], 0, 0.0) > 0
    if q.rank == 4:
        out.set_dims(q.dims[0], q.dims[heads], k.dims[heads], q.dims[tokens], k.dims[tokens], q.dims[3], v.dims[3])
        out.layout = "BSHD" if at[1] else "BHSD"
        out.extra = " causal=?" if at[2] < 0 and out.dims[3] > 1 else window_of(given, at, out.dims[4])
        return True
    # Sequences behind each other: all of one length, or the shape is none.
    starts = given.tensor(at[3], 1)
    count = starts.dims[0] - 1 if starts else 0.0
    longest, longest_kv = given.number(at[4], 0, 0.0), given.number(at[4] + 1, 0, 0.0)
    out.set_dims(count, q.dims[1], k.dims[1], longest, longest_kv, q.dims[2], v.dims[2])
    out.layout, out.extra = "THD", window_of(given, at, longest_kv)
    return count > 0 and count * longest == q.dims[0] and count * longest_kv == k.dims[0]


def remainder(a, b):
    """Of a division; NaN where there is none."""
    return math.fmod(a, b) if b and math.isfinite(a) else math.nan


# ---- rows ----

def list_product(given, at):
    """"[14, 96]": 1344; 0: no list."""
    text = given.items[at].value if 0 <= at < len(given.items) else ""
    product = 1.0 if text.startswith("[") else 0.0
    text = text[1:]
    while product > 0 and text and text[0] != "]":
        number, text = leading_number(text)
        if number is None:
            return 0.0
        product *= number
        text = text.lstrip(", ")
    return product


def rows_shape(out, given, at):
    """Rows are as long as the list says, or the gain is, or the last dimension."""
    x, gain, listed = given.tensor(at[0], 1), given.tensor(at[1], 1), list_product(given, at[2])
    if not x:
        return False
    columns = listed if listed > 0 else gain.count() if gain else x.dims[-1]
    out.set_dims(x.count() / columns if columns > 0 else 0.0, columns)
    out.dtype = out.total = x.dtype
    return out.dims[0] > 0 and is_whole_number(out.dims[0])


def is_whole_number(value):
    """Infinity is one, as nothing is behind its point."""
    return not math.isfinite(value) or math.floor(value) == value


def group_norm_shape(out, given, at):
    """N, C, the size of an image, groups: a row for each group of each image."""
    x, groups = given.tensor(at[0], 2), given.number(at[1], 0, 0.0)
    if not x or not groups > 0 or remainder(x.dims[1], groups) != 0:
        return False
    rows = x.dims[0] * groups
    out.set_dims(rows, x.count() / rows if rows else math.nan)
    return out.dims[1] > 0


def batch_norm_shape(out, given, at):
    """A row for each channel, through all images."""
    x = given.tensor(at[0], 2)
    rows = x.dims[1] if x else 0.0
    out.set_dims(rows, x.count() / rows if rows > 0 else 0.0)
    return out.dims[1] > 0


def softmax_shape(out, given, at):
    """Only along rows that are contiguous."""
    x, dim = given.tensor(at[0], 1), given.number(at[1], 0, -1.0)
    if not x or (dim >= 0 and dim != x.rank - 1) or dim < -1:
        return False
    return rows_shape(out, given, (at[0], -1, -1))


# ---- others ----

def broadcast_count(given):
    """Elements of what all tensors become when they are broadcast; 0: they do not fit."""
    count = 1.0
    for back in range(1, MOST_RANK + 1):
        sizes = {one.dims[-back] for one in given.items if back <= one.rank} - {1.0}
        if len(sizes) > 1:
            return 0.0
        count *= max(sizes, default=1.0)
    return count


def pointwise_shape(out, given, _):
    """The result has the most elements; of PyTorch's own it may have more than each input."""
    counts = [one.count() for one in given.items]
    most = max(counts, default=0.0)
    out.dims[0] = max(most, 0.0)
    if most > 0:
        out.dtype = out.total = given.items[counts.index(most)].dtype
        if given.name.startswith("aten::"):
            out.dims[0] = max(most, broadcast_count(given))
    out.dims[1] += sum(count > 1 and 2 * count > out.dims[0] for count in counts)  # others are broadcast, and cost
    return out.dims[0] > 0                                                         # next to nothing


def gated_shape(out, given, at):
    """x[:, :d] and x[:, d:] of one input, the largest."""
    largest = max(given.items, key=lambda one: one.count(), default=None)
    if largest and largest.count() > 0:
        out.dims[2] = largest.count(1)
    return pointwise_shape(out, given, at)


def copied_shape(out, given, at):
    """Result and input, which may be of another type."""
    if len(given.items) < 2 or not pointwise_shape(out, given, at):
        return False
    out.dims[1] = 1.0
    out.dtype, out.total = given.items[1].dtype, given.items[0].dtype
    return True


def reduction_shape(out, given, at):
    """An input, or the largest."""
    x = given.tensor(at[0], 1)
    if at[0] < 0:
        x = max(given.items, key=lambda one: one.count(), default=None)
        x = x if x and x.count() > 0 else None
    out.dims[0] = x.count() if x else 0.0
    out.dtype = out.total = x.dtype if x else ""
    return bool(x)


def conv_shape(out, given, at):
    """Image, filters; padding, stride, dilation, groups. Images of three dimensions get their depth last."""
    x, w = given.tensor(at[0], 3), given.tensor(at[1], 3)
    if not x or not w or x.rank != w.rank or x.rank > 5:
        return False
    line, inner = x.rank == 3, int(x.rank == 5)  # of lists: the element of the height; the width follows
    is_transposed = at[5] == 8 and given.number(6, 0, 0.0) > 0  # filters: [channels, filters of a group, R, S]
    groups = x.dims[1] / w.dims[1] if not is_transposed and w.dims[1] > 0 else given.number(at[5], 0, 1.0)
    out.set_dims(x.dims[0], x.dims[1], 1 if line else x.dims[-2], x.dims[-1], w.dims[0], 1 if line else w.dims[-2],
                 w.dims[-1], given.number(at[3], inner, 0.0), 0 if line else given.number(at[2], inner, -1.0),
                 1 if line else given.number(at[4], inner, 1.0), groups, x.dims[2] if inner else 0)
    dims = list(out.dims)
    out.dtype = out.total = x.dtype
    width = 0 if line else inner + 1
    if is_transposed:
        out.dims[4] = w.dims[1] * max(1.0, groups)
        out.extra = CONV_TRANSPOSED
    for k, (word, number) in enumerate((("stride_w", at[3]), ("pad_w", at[2]), ("dilation_w", at[4]))):
        its = given.number(number, width, dims[7 + k])
        if its != dims[7 + k]:
            out.extra += f" {word}={its:.0f}"
    if inner:
        out.extra += (f" filter_d={w.dims[2]:.0f} stride_d={given.number(at[3], 0, 1.0):.0f} "
                      f"pad_d={given.number(at[2], 0, 0.0):.0f}")
    is_nhwc = x.rank == 4 and x.strides[1] == 1 and x.dims[1] > 1
    out.layout = "NHWC" if is_nhwc else "NCDHW" if inner else "NCHW"
    return dims[7] > 0 and dims[8] >= 0 and groups == given.number(at[5], 0, groups)


def rope_shape(out, given, at):
    """Positions, queries, keys, the size of a head."""
    positions, q, k = given.tensor(at[0], 1), given.tensor(at[1], 2), given.tensor(at[2], 2)
    size = given.number(at[3], 0, 0.0)
    if not positions or not q or not size > 0 or (positions.rank > 1 and positions.dims[0] != q.dims[0]):
        return False  # tokens with several positions each
    tokens = positions.count()
    heads = (q.count() + (k.count() if k else 0.0)) / tokens / size if tokens else math.nan
    out.set_dims(tokens, heads, size)
    out.dtype = out.total = q.dtype
    return heads == heads and is_whole_number(heads)


def gate_shape(out, given, at):
    """Scores [tokens, experts], choices [tokens, top]; another place of the scores in schemas that lack an input
    before."""
    choices, other = given.tensor(at[1], 2), at[2] if len(at) > 2 else 0
    scores = given.tensor(at[0], 2) or (given.tensor(other, 2) if other else None)
    if not scores or not choices or scores.dims[0] != choices.dims[0] or scores.dims[1] <= choices.dims[1]:
        return False
    out.set_dims(scores.dims[0], scores.dims[1], choices.dims[1])
    out.dtype = out.total = scores.dtype
    return True


def align_shape(out, given, at):
    """Choices [tokens, top], the number of experts."""
    choices = given.tensor(at[0], 2)
    out.set_dims(choices.dims[0] if choices else 0, given.number(at[1], 0, 0.0), choices.dims[1] if choices else 0)
    return out.dims[1] >= out.dims[2] > 0


def gather_shape(out, given, at):
    """Table, indices; the dimension that is indexed, where it is not always the first."""
    table, index = given.tensor(at[0], 1), given.tensor(at[1], 1)
    if not table or not index or given.number(at[2], 0, 0.0) != 0:
        return False
    out.set_dims(index.count(), table.count() / table.dims[0] if table.dims[0] > 0 else 0.0)
    out.dtype = out.total = table.dtype
    return True


# ---- families ----

WHOLE = ("aten::_scaled_dot_product_flash_attention", "aten::_scaled_dot_product_efficient_attention",
         "aten::_scaled_dot_product_cudnn_attention", "aten::convolution", "aten::convolution_backward")

FAMILIES = [Family(names.split(), kind, shape, at) for names, kind, shape, at in (
    ("triton_poi_*", "elementwise", pointwise_shape, (0,)),  # its name has what was fused, of which it is no one
    ("triton_red_* triton_per_*", "reduction", reduction_shape, (-1,)),
    ("aten::mv", "gemm", gemm_shape, (1, 0, 1)),
    ("aten::addmv aten::addmv_", "gemm", gemm_shape, (2, 1, 1)),
    ("aten::mm aten::bmm aten::_int_mm aten::matmul aten::_scaled_mm trtllm::cublas_scaled_mm", "gemm", gemm_shape,
     (0, 1, 0)),
    ("aten::addmm aten::baddbmm aten::_addmm_activation aten::addmm_ *cutlass_scaled_mm", "gemm", gemm_shape,
     (1, 2, 0)),
    ("*wvSplitK *LLMM1 *LLMM_Silu", "gemm", gemm_shape, (1, 0, 1)),
    ("aten::linear vllm::rocm_unquantized_gemm* vllm::rocm_aiter_*gemm* vllm::gemm_with_dynamic_quant aiter::gemm_* "
     "aiter::_gemm_* aiter::batched_gemm_* aiter::*gemm_a* aiter::tuned_gemm", "gemm", gemm_shape, (0, 1, 1)),
    ("*awq_gemm", "gemm", packed_gemm_shape, (0, 2)),   # scales [groups, N]
    ("*gptq_gemm", "gemm", packed_gemm_shape, (0, 1)),  # weights [K / 8, N]
    ("aten::_grouped_mm aten::_scaled_grouped_mm primus_turbo*grouped_gemm*", "moe_gemm", grouped_shape, (0, 1)),
    ("*inplace_fused_experts *outplace_fused_experts aiter::fused_moe_ aiter::fused_moe aiter::ck_moe "
     "vllm::rocm_aiter_fused_moe vllm::rocm_aiter_asm_moe_tkw1", "moe_gemm", fused_experts_shape, (0, 4)),
    ("aiter::fmoe aiter::fmoe_*", "moe_gemm", fused_experts_shape, (1, -1, 8)),
    ("*ck_moe_stage1*", "moe_gemm", experts_stage_shape, (0, 1, 7)),
    ("*ck_moe_stage2*", "moe_gemm", experts_stage_shape, (0, 2, -1)),
    # Of these a name alone.
    ("*fused_moe* *fused_experts* *fused_marlin_moe *moe_forward* *moe_gemm* *cutlass_moe*", "moe_gemm",
     fused_experts_shape, (-1, -1, -1)),
    ("aten::_scaled_dot_product_flash_attention aten::_scaled_dot_product_flash_attention_for_cpu", "attention",
     attention_shape, (0, 0, 4, -1, -1)),
    ("aten::_scaled_dot_product_efficient_attention aten::_scaled_dot_product_cudnn_attention", "attention",
     attention_shape, (0, 0, 6, -1, -1)),
    ("aten::scaled_dot_product_attention aten::_scaled_dot_product_attention_math", "attention", attention_shape,
     (0, 0, 5, -1, -1)),
    ("aten::_flash_attention_forward", "attention", attention_shape, (0, 1, 8, 3, 5)),
    ("aten::_efficient_attention_forward", "attention", attention_shape, (0, 1, 9, 4, 6)),
    ("flash_attn::_flash_attn_forward FlashAttnFunc aiter::mha_fwd aiter::fmha_v3_fwd aiter::_flash_attn_forward "
     "aiter::wrapper_fmha_v3_fwd", "attention", attention_shape, (0, 1, 5, -1, -1, 6)),
    ("flash_attn::_flash_attn_varlen_forward", "attention", attention_shape, (0, 1, 9, 3, 5, 10)),
    ("*flash_attn*fwd* *unified_attention* *paged_attention* *varlen*forward* *mha*fwd* *fmha*fwd* *mla_decode* "
     "*flash_mla*", "attention", attention_shape, (0, 1, -1, -1, -1)),
    ("aten::native_layer_norm aten::layer_norm aten::_fused_rms_norm aten::rms_norm", "norm", rows_shape, (0, 2, 1)),
    ("aten::native_group_norm", "norm", group_norm_shape, (0, 6)),
    ("aten::group_norm", "norm", group_norm_shape, (0, 1)),
    ("aten::native_batch_norm aten::batch_norm aten::_batch_norm_impl_index aten::cudnn_batch_norm "
     "aten::miopen_batch_norm aten::_native_batch_norm_legit* aten::_batch_norm_with_update", "norm", batch_norm_shape,
     (0,)),
    ("*_backward* *Backward*", "other", pointwise_shape, (0,)),
    ("*rms_norm* *rmsnorm* *layer_norm* *layernorm*", "norm", rows_shape, (0, -1, -1)),
    ("aten::_softmax aten::softmax aten::_log_softmax aten::_safe_softmax", "softmax", softmax_shape, (0, 1)),
    ("aten::miopen_convolution aten::miopen_depthwise_convolution", "conv", conv_shape, (0, 1, 3, 4, 5, 6)),
    ("aten::cudnn_convolution", "conv", conv_shape, (0, 1, 2, 3, 4, 5)),
    ("aten::cudnn_convolution_relu aten::miopen_convolution_relu", "conv", conv_shape, (0, 1, 4, 3, 5, 6)),
    ("aten::convolution aten::_convolution aten::convolution_overrideable", "conv", conv_shape, (0, 1, 4, 3, 5, 8)),
    ("aten::_slow_conv2d_forward aten::thnn_conv2d", "conv", conv_shape, (0, 1, 5, 4, -1, -1)),
    ("aten::_conv_depthwise2d", "conv", conv_shape, (0, 1, 5, 4, 6, -1)),
    ("*rotary_embedding*", "rope", rope_shape, (0, 1, 2, 3)),
    ("*topk_softmax*", "moe_gate", gate_shape, (3, 0, 2)),
    ("*biased_grouped_topk*", "moe_gate", gate_shape, (0, 2)),
    ("*grouped_topk*", "moe_gate", gate_shape, (0, 1)),
    ("*moe_align_block_size*", "moe_gate", align_shape, (0, 1)),
    ("aten::embedding", "gather", gather_shape, (0, 1, -1)),
    ("aten::index_select", "gather", gather_shape, (0, 2, 1)),
    ("aten::sum aten::mean aten::max aten::min aten::amax aten::amin aten::all aten::any aten::argmax aten::argmin "
     "aten::norm aten::linalg_vector_norm aten::var aten::std aten::var_mean aten::std_mean aten::logsumexp aten::prod",
     "reduction", reduction_shape, (0,)),
    ("record_param_comms nccl:* c10d::* symm_mem::*", "communication", reduction_shape, (0,)),
    ("aten::_local_scalar_dense", "copy", reduction_shape, (0,)),
    ("aten::add aten::add_ aten::sub aten::sub_ aten::rsub aten::mul aten::mul_ aten::div aten::div_ aten::gelu "
     "aten::gelu_ aten::silu aten::silu_ aten::relu aten::relu_ aten::clamp aten::clamp_ aten::clamp_min "
     "aten::clamp_min_ aten::clamp_max aten::sigmoid aten::sigmoid_ aten::tanh aten::tanh_ aten::exp aten::exp_ "
     "aten::log aten::sqrt aten::rsqrt aten::reciprocal aten::neg aten::abs aten::pow aten::sin aten::cos "
     "aten::fill_ aten::zero_ aten::where aten::eq aten::ne aten::lt aten::le aten::gt aten::ge "
     "aten::bitwise_* aten::logical_* aten::masked_fill* aten::addcmul* aten::addcdiv* aten::lerp* aten::hardtanh* "
     "aten::leaky_relu* aten::native_dropout aten::bernoulli_ aten::uniform_ aten::normal_ aten::maximum "
     "aten::minimum aten::remainder aten::erf aten::threshold*", "elementwise", pointwise_shape, (0,)),
    ("aten::copy_", "elementwise", copied_shape, (0,)),
    ("*silu_and_mul* *gelu_and_mul* *gelu_tanh_and_mul* *act_and_mul*", "elementwise", gated_shape, (0,)),
)]


def matches(name, glob):
    """'*' stands for any letters."""
    first, *rest = glob.split("*")
    if not rest:
        return name == glob
    if not name.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        found = name.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return name.endswith(rest[-1]) and len(name) - len(rest[-1]) >= at


@functools.cache
def family_of(name):
    """The first of whose names it is one; None."""
    return next((family for family in FAMILIES if any(matches(name, glob) for glob in family.names)), None)


def is_known(given):
    """Is the operator of a signature of a family?"""
    return family_of(given.name) is not None


def is_whole(given):
    """Attention and convolution are several operators inside each other, of which the outer one says what is computed,
    and the inner ones may copy and convert."""
    return given.name in WHOLE


def read_operator(given):
    """The operator of a signature: one that a reader knows, or what its inputs mean."""
    if isinstance(given, Operator):
        return replace(given)
    out = Operator(given.name, shape=given.shape_words())
    out.dtype = out.total = next((one.dtype for one in given.items if one.rank and one.dtype), "")
    family = family_of(given.name)
    if family:
        out.kind = family.kind
        if not family.shape(out, given, family.at):
            return replace(out, dims=[0.0] * MOST_DIMS, layout="", extra="", causal=False)
    return out
