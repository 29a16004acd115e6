# SPDX-License-Identifier: MIT
"""What the names of kernels say. Tensile's (rocBLAS, hipBLASLt) have the whole problem type and tile; those of
Composable Kernel, AITER and Triton parts of it. Sizes are in none of them: with the grid they bound M and N, which is
said as a bound and never taken for a shape."""
import re

from operators import blas_layout
from shapes import matches

# ---- Tensile: Cijk_Alik_Bljk_BBS_BH_..._MT64x32x256_MI16x16x1_..._GSU4_... ----

TYPES = {"F8N": "e4m3fnuz", "B8N": "e5m2fnuz", "F8": "e4m3", "B8": "e5m2", "I8": "i8", "H": "f16", "B": "bf16",
         "S": "f32", "D": "f64", "I": "i32", "C": "c64", "Z": "c128"}


def tensile_type(letters):
    """(the type that they begin with or None, the letters behind it)"""
    found = next((word for word in TYPES if letters.startswith(word)), "")
    return TYPES.get(found), letters[len(found):]


def flags_follow(part):
    """Of these B (beta) comes first."""
    return part.startswith("_B") and not part.startswith("_Bias")


def tensile_types(operator, part):
    """"BBS_BH": inputs, result and sum, then flags; new names have "F8_BS_BH". Old ones have one type and the flags in
    one part: "SB", "HBH"."""
    given, part = tensile_type(part)
    total, part = tensile_type(part)
    if not given:
        return
    operator.dtype = operator.total = given
    if part.startswith("_"):
        if not flags_follow("_" + part[1:].partition("_")[2] if "_" in part[1:] else ""):
            return
        total, part = tensile_type(part[1:])
    if total:
        of_sum, part = tensile_type(part)
        if of_sum and flags_follow(part):
            operator.total = total


def three(name, word):
    """Up to three numbers between 'x' behind the word's first place."""
    found = re.match(r"\d+(?:x\d+){0,2}", name.partition(word)[2], re.A)
    return [float(number) for number in found[0].split("x")] if found else []


def read_tensile(operator, name, grid):
    """Its traits in words; None: it is no kernel of Tensile's. Tiles are in BLAS's order, m of the columns: a grid of
    gx workgroups covers at most gx tiles."""
    if not name.startswith(("Cijk_", "Custom_Cijk_")):
        return None
    a, b = name.find("_A"), name.find("_Bl")
    b = b if b >= 0 else name.find("_Bj")
    operator.kind = "gemm"
    operator.tb = a >= 0 and name.startswith("_Al", a)  # l, the inner index, comes first: A is stored transposed
    operator.ta = b >= 0 and name.startswith("_Bj", b)
    operator.layout = blas_layout(operator.ta, operator.tb)
    types = name.find("_", b + 1) if b >= 0 else -1
    if types >= 0:
        tensile_types(operator, name[types + 1:])
    traits, tile, matrix = operator.layout, three(name, "_MT"), three(name, "_MI")
    if len(tile) == 3:
        traits += " tile {:.0f}x{:.0f}x{:.0f}".format(*tile)
    if len(matrix) >= 2:
        traits += " MFMA {:.0f}x{:.0f}".format(*matrix)
    split = re.search(r"(?:^|_)GSU(\d+)", name, re.A)
    if split and int(split[1]) > 1:
        traits += f" split K {int(split[1])}"
    if "_SK3" in name or "_SK1" in name:
        traits += " stream-K"
    if len(tile) == 3 and grid[0] > 1 and grid[1] > 1:
        traits += f", N <= {tile[0] * grid[0]:.0f}, M <= {tile[1] * grid[1]:.0f}"
    elif len(tile) == 3 and grid[0] > 0:
        traits += f", {grid[0] * max(1.0, grid[1]):.0f} tiles"
    return traits


# ---- names for people ----

CODE = re.compile(r"[^<(]*[A-Za-z0-9_][<(]")  # template or function arguments follow the name
NAMELESS = "(anonymous namespace)::"


def without_scope(out):
    """The text before a last "NAMESPACE::" or "CLASS<...>::"; an enclosing function stays."""
    depth, at = 0, len(out)
    while at and (depth or out[at - 1].isalnum() or out[at - 1] in "_~>"):
        at -= 1
        depth += (out[at] == ">") - (depth > 0 and out[at] == "<")
    return out[:at]


def plain_name(name):
    """A C++ function's name without its result's type, its arguments and all namespaces; Tensile's with no more than
    types, tile, instruction and split; any other name as it is."""
    tensile = re.match(r"(?:Custom_)?(Cijk_.*?)_MT", name)
    if tensile:
        types = re.split(r"_(?:Bias|HA?|SAV|UserArgs|MT)_", tensile[1] + "_MT_")[0]
        return " ".join([types, *re.findall(r"_(M[TI]\d+x[\dx]+|GSU(?![01]_)\d+|SK[1-9])(?=_|$)", name)])
    if not CODE.match(name) and NAMELESS[:-2] not in name:
        return name
    out, depth, at = "", 0, 0
    while at < len(name):
        while name.startswith(NAMELESS, at):
            at += len(NAMELESS)
        letter = name[at:at + 1]
        if not letter or (letter == "(" and not depth):
            break
        depth += (letter in "(<[{") - (letter in ")>]}")
        if name.startswith("::", at) and out and out[-1] not in ")}":
            out = without_scope(out)
            at += 1
        elif letter == " " and not depth:  # the text so far was the result's type
            out = ""
        else:
            out += letter
        at += 1
    return out if out and not depth else name


# ---- Composable Kernel, AITER, flash attention, Triton: by words; the first that matches ----

WORDS = (
    ("attention", "*fmha*fwd* *FmhaFwd* attn_fwd* *flash_fwd* *paged_attention* *unified_attention* *mla_* "
     "*sdpa*fprop* *flash_attn* triton_tem_*flex_attention* *FlashAttnFwd* *fmha_cutlassF*"),
    ("other", "*fmha*bwd* *FmhaBwd* *flash_bwd* *FlashAttnBwd* *sdpa*bprop* *fmha_cutlassB*"),
    ("moe_gemm", "*fused_moe* *moe_gemm* *MoeGemm* *fmoe* _matmul_ogs*"),
    ("moe_gate", "*topk*softmax* *topkGating* *grouped_topk*"),
    ("conv", "*igemm*"),
    ("elementwise", "*convert*"),
    ("conv", "*conv_fwd* *conv_bwd* *convolution* *_fprop_* *_dgrad_* *_wgrad_*"),
    ("gemm", "*DeviceGemm* *GridwiseGemm* *ck_tile*Gemm* *gemm* *gemv* *Gemv* *wvSplitK* nvjet_* triton_tem_*mm* "
     "triton_tem_*"),
    ("conv", "*Conv* *conv*"),
    ("norm", "*msnorm* *layer_norm* *LayerNorm* *ayernorm* *rms_norm* *BatchNorm* *GroupNorm*"),
    ("softmax", "*oftmax* *oftMax*"),
    ("rope", "*rotary_embedding*"),
    ("reduction", "*reduce_kernel*"),
    ("elementwise", "*elementwise* *act_and_mul*"),
    ("communication", "*nccl* *cross_device_reduce* *multimem_all_reduce* *_shot_all_reduce_*"),
    ("copy", "*copyBuffer* Memcpy* MEMORY_COPY*"),
)

# Kernels of PyTorch's compiler: "triton_poi_fused_add_native_layer_norm_7". "": it is one of WORDS.
INDUCTOR = {"triton_poi_": ("fused pointwise", "elementwise"), "triton_red_": ("fused reduction", "reduction"),
            "triton_per_": ("persistent reduction", "reduction"), "triton_for_": ("fused foreach", "elementwise"),
            "triton_tem_": ("template", "")}
# Operators whose names have underscores themselves.
WITH_UNDERSCORES = (
    "native_layer_norm_backward native_layer_norm native_group_norm native_dropout _log_softmax _safe_softmax _softmax "
    "_to_copy _unsafe_view _unsafe_index _scaled_mm layer_norm rms_norm batch_norm group_norm flex_attention_backward "
    "flex_attention index_put index_select masked_fill max_pool2d_with_indices new_zeros new_ones full_like ones_like "
    "zeros_like int_mm").split()
# Types as CK's template arguments, CUDA's functors, Triton's and AITER's names write them, where only one is meant.
TYPE_WORDS = {"f8_fnuz_t": "e4m3fnuz", "f8_ocp_t": "e4m3", "f4x2": "e2m1", "Fp4": "e2m1", "Fp8": "fp8", "fp8": "fp8",
              "bf16": "bf16", "BFloat16": "bf16", "bfloat16": "bf16", "bhalf_t": "bf16", "DF16b": "bf16",
              "_fp16": "f16", "Half": "f16", "half_t": "f16", "_Float16": "f16", "_f16": "f16", "<float": "f32"}


def made_by_inductor(name):
    """(what it is in words, its kind); None: PyTorch's compiler did not make it."""
    return INDUCTOR.get(name[:len("triton_poi_")])


def name_of_kind(name):
    """The name of a kernel that PyTorch's compiler made without its number, else the name."""
    return re.sub(r"_\d+$", "", name, flags=re.A) if made_by_inductor(name) else name


def fused_operators(name):
    """The operators behind "fused_", which stand between underscores."""
    found, rest = [], name.partition("_fused_")[2]
    while rest:
        word = next((whole for whole in WITH_UNDERSCORES if rest == whole or rest.startswith(whole + "_")), None)
        word = word or rest[0] + rest[1:].partition("_")[0]
        if not re.fullmatch("[0-9]*", rest):  # its number
            found.append(word)
        rest = rest[len(word):].removeprefix("_")
    return ": " + ", ".join(found) if found else ""


def traits_in(kind, name):
    """AITER: bf16gemm_..._64x64_..., fmha_fwd_hd128_bf16_causal...; CK: <..., 256, 128, 64, ...> in the block's
    sizes."""
    head = re.match(r"\d+", name.partition("_hd")[2], re.A)
    traits = f" D={int(head[0])}" if kind == "attention" and head else ""
    traits += " causal" if "causal" in name else ""
    tile = re.search(r"(?<![a-zA-Z0-9])(\d+)x(\d+)(?:x(\d+))?", name, re.A)
    sizes = [int(size or 0) for size in tile.groups()] if tile else [0, 0, 0]
    if sizes[0] >= 8 and sizes[1] >= 8:
        traits += " tile " + "x".join(str(size) for size in sizes if size)
    return traits


def read_kernel_name(operator, name, grid, block):
    """Its kind, and for GEMMs types, transposes and tile. Returns its traits in words; None: the name tells nothing."""
    traits = read_tensile(operator, name, grid)
    if traits is not None:
        return traits
    made = made_by_inductor(name)
    kind = made[1] if made and made[1] else next(
        (kind for kind, globs in WORDS if any(matches(name, glob) for glob in globs.split())), None)
    if kind is None and not made:
        return None
    operator.kind = kind or "other"
    operator.dtype = operator.total = next((dtype for word, dtype in TYPE_WORDS.items() if word in name), "")
    if made:
        traits = made[0] + fused_operators(name)
    else:
        traits = ("attention, backward" if kind == "other" else kind) + traits_in(kind, name)
    if grid[0] > 0:
        groups, items = (sizes[0] * max(1.0, sizes[1]) * max(1.0, sizes[2]) for sizes in (grid, block))
        traits += f", {groups:.0f} workgroups of {items:.0f}"
    return traits
