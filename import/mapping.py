# SPDX-License-Identifier: MIT
"""Which kernel of ours stands for an operator, with which parameters, as text of JSON. Where the CPU device would take
minutes over a matrix product in loops, another kernel stands for it there. What has no kernel says why. And what a
tuned kernel would do for it, as predictions by description take it."""
import math
import re

from operators import BYTES, CONV_TRANSPOSED

MOST_FLOPS_IN_LOOPS = "5e8"  # what the CPU device may be asked to do in loops
OTHER_FORMAT = {"e4m3": "e4m3fnuz", "e4m3fnuz": "e4m3", "e5m2": "e5m2fnuz", "e5m2fnuz": "e5m2"}


class No(Exception):
    """Why no kernel of ours does it."""


def sizes(**named):
    """Whole numbers, as JSON has them."""
    return "".join(f'"{name}": {value:.0f}, ' for name, value in named.items())


def stored_total(o):
    """The type in which a product's results are stored: kernels and libraries here have none of 8 bits, and sums of i8
    are i32."""
    if o.kind not in ("gemm", "moe_gemm"):
        return o.total
    if o.dtype == "i8":
        return "i32" if o.total in ("i8", "f16", "bf16", "f32") else o.total
    return "bf16" if BYTES.get(o.total) == 1 else o.total


def typed(o, params, with_total):
    """The parameters with the operator's types."""
    total = f', "total": "{stored_total(o)}"' if with_total else ""
    return f'{{{params}"dtype": "{o.dtype}"{total}}}'


# ---- products ----

def tile_of(o, dtype):
    """A tile no higher than the product, and deep enough that a workgroup can move its K tiles in 16 bytes for each
    lane, and transpose them where they lie the other way round. Devices with OCP's 8-bit floats may compute them as
    f16, and have fewer registers left for sums."""
    is_low, is_transposed = o.dims[1] <= 64, o.ta or not o.tb
    if dtype not in ("f16", "bf16"):
        if is_transposed:
            return sizes(BM=128, BK=128, LDS=1)
        if is_low:
            return sizes(BM=64, WM=2, WN=4, BK=128)
        return sizes(BM=128, WN=4, BK=64) if dtype in ("e4m3", "e5m2") else sizes(BK=64)
    if is_low:
        return sizes(BM=64, WM=1, WN=4, BK=64) if o.ta else sizes(BM=64, WM=1, WN=4)
    return sizes(BM=128) if o.dims[1] <= 128 else ""


def map_gemm(row, o):
    """One generation of AMD's GPUs has 8-bit floats in the FNUZ formats, all others in OCP's."""
    batch, m, n, k = o.dims[:4]
    shape = sizes(m=m, n=n, k=k, batch=batch) + sizes(TA=o.ta, TB=o.tb)
    is_vector = o.dtype in ("f32", "f64")
    row["library"] = "gemm_library"
    row["library_params"] = typed(o, shape + ("" if is_vector else '"units": "matrix", '), True)
    if is_vector:
        return "gemm_register", typed(o, shape, False)
    if batch == 1 and m == 1 and o.tb and o.dtype in ("f16", "bf16"):
        return "gemv", f'{{{sizes(m=n, k=k)}"dtype": "{o.dtype}", "vector": "{o.dtype}"}}'
    row["cpu_kernel"], row["cpu_params"] = "gemm_register", f'{{{shape}"dtype": "f32"}}'
    row["cpu_library"] = "gemm_library"
    other = OTHER_FORMAT.get(o.dtype)
    if other:
        row["other_params"] = f'{{{shape}{tile_of(o, other)}"dtype": "{other}", "total": "{stored_total(o)}"}}'
    row["is_fnuz"] = o.dtype.endswith("fnuz") and bool(other)
    return "gemm_matrix", typed(o, shape + tile_of(o, o.dtype), True)


def map_moe_gemm(row, o):
    """Its tile on the CPU device is the manifest's."""
    rows, n, k, experts = o.dims[:4]
    shape = sizes(rows=rows, n=n, k=k, experts=experts)
    tile = sizes(BM=32, WM=1, WN=4) if rows <= 32 * experts else ""
    row["cpu_exclude"] = "2 * rows * n * k > " + MOST_FLOPS_IN_LOOPS
    row["cpu_kernel"], row["cpu_params"] = "moe_gemm", typed(o, shape, True)
    return "moe_gemm", typed(o, shape + tile, True)


def map_attention(row, o):
    """Of a prompt, or of one query for each sequence."""
    batch, heads, kv_heads, queries, keys, d, dv = o.dims[:7]
    shape = sizes(batch=batch, heads_q=heads, heads_kv=kv_heads, D=d)
    if d not in (64, 128, 256) or dv != d or not (queries > 0 and keys > 0 and batch > 0):
        raise No(f"attention_prefill has no heads of {d:.0f}" if d > 0 and queries > 0 else
                 "the length of its context is not in the trace")
    row["cpu_exclude"] = "4 * D * heads_q * batch * n * 512 > " + MOST_FLOPS_IN_LOOPS
    if o.extra:
        raise No("no kernel of ours has a window of keys" if "window" in o.extra else
                 "whether it is causal is not in the trace")
    if queries == 1:
        return "attention_decode", typed(o, shape + sizes(n=keys), True)
    if keys < queries:
        raise No("it has more queries than keys")
    return "attention_prefill", typed(o, shape + sizes(n=queries, past=keys - queries, causal=o.causal), True)


# ---- rows and memory ----

def map_rows(kernel, o, columns_held):
    """Longer rows are read twice."""
    hold = sizes(HOLD=0) if o.dims[1] > columns_held else ""
    return kernel, typed(o, sizes(rows=o.dims[0], columns=o.dims[1]) + hold, False)


def map_norm(_, o):
    """By the operator's name."""
    if "batch_norm" in o.name:
        raise No("no kernel of ours normalises a channel of all images")
    is_rms = "rms" in o.name
    return map_rows("add_rmsnorm" if is_rms and "add" in o.name else "rmsnorm" if is_rms else "layernorm", o, 16384)


def map_softmax(_, o):
    """Short rows stay in registers."""
    return map_rows("softmax_short", o, 1024) if o.dims[1] <= 1024 else map_rows("softmax_long", o, 16384)


def bytes_of(dtype):
    """Of an element; None: the type is not known."""
    return BYTES.get("u8" if dtype == "bool" else dtype)


def map_elementwise(_, o):
    """Bytes alone count: of other types as many bytes of f32. A copy may convert."""
    if not bytes_of(o.dtype):
        raise No("its type is not known")
    count = o.dims[0] * float(bytes_of(o.dtype) + BYTES.get(o.total, bytes_of(o.dtype))) / 2
    if "silu_and_mul" in o.name and o.dtype in ("f32", "f16", "bf16") and o.dims[2] > 0:
        return "silu_mul", typed(o, sizes(rows=o.dims[2], columns=o.dims[0] / o.dims[2] / 2), False)
    words = math.ceil(count / 4) if math.isfinite(count) else count
    kernel = "stream_init" if o.name in ("aten::fill_", "aten::zero_") else \
        "stream_add" if o.dims[1] > 1 else "stream_copy"
    return kernel, f'{{"n": {words:.0f}}}'


def map_reduction(_, o):
    """One sum."""
    return "reduction", typed(o, sizes(n=o.dims[0]), False)


def map_rope(_, o):
    """Rotary positions."""
    return "rope", typed(o, sizes(tokens=o.dims[0], heads=o.dims[1], dim=o.dims[2]), False)


# ---- others ----

def map_gate(_, o):
    """The choice of experts, and the plan of their rows."""
    kernel = "moe_plan" if "moe_align" in o.name else "moe_gate"
    if o.dims[2] > 8:
        raise No(f"{kernel} takes up to 8 experts for a token")
    if "grouped" in o.name:
        raise No("moe_gate has no groups of experts")
    return kernel, "{" + sizes(tokens=o.dims[0], EXPERTS=o.dims[1], TOP=o.dims[2])[:-2] + "}"


def map_conv(row, o):
    """Forward alone."""
    names = "images channels height width filters R S stride pad".split()
    if o.dims[9] != 1 or o.dims[10] > 1 or o.dims[11] > 0:
        raise No("conv_implicit has no " + ("third dimension" if o.dims[11] > 0 else "dilation and no groups"))
    if "backward" in o.name:
        raise No("no kernel of ours computes gradients of convolutions")
    if o.extra:
        raise No("no kernel of ours computes transposed convolutions" if "transposed" in o.extra else
                 "conv_implicit has one stride and one padding for both axes")
    shape = sizes(**dict(zip(names, o.dims)))
    if o.dtype in ("f16", "bf16") and o.dims[5] * o.dims[6] > 32:  # more taps than conv_implicit has
        return "conv_direct", f'{{{shape}"dtype": "f16", "total": "f16"}}'  # bytes and products count alike
    if o.dtype == "f32":
        return "conv_direct", typed(o, shape, True)
    row["cpu_kernel"], row["cpu_params"] = "conv_direct", f'{{{shape}"dtype": "f32", "total": "f32"}}'
    return "conv_implicit", typed(o, shape, True)


def map_communication(_, o):
    """Between the devices of one node."""
    in_place = o.layout == "in-place"
    of_ours = ["all_reduce", "all_gather", "reduce_scatter"]
    of_ours += [] if in_place else ["broadcast", "all_to_all", "send_recv"]
    if o.name not in of_ours:
        raise No("no kernel of ours does this in place" if in_place else "no kernel of ours does this")
    if o.dims[4] > 1:
        raise No("it ran on several nodes, and ours takes the devices of one")
    if not o.dims[2] > 1:
        raise No("how many ranks took part is not known, or it was one")
    root = sizes(root=o.dims[3]) if o.name == "broadcast" else ""
    return o.name + ("_in_place" if in_place else ""), typed(o, sizes(size=o.dims[1], devices=o.dims[2]) + root, False)


def map_copy(_, o):
    """TransferBench: "G0 -> GPU00:004 -> G1", whose executor is that GPU's DMA engine or a kernel on it; C is the
    host."""
    found = re.match(r"([CG])\s*(\d{0,3})\s*->\s*(\S)\S+\s*->\s*([CG])\s*(\d{0,3})", o.name, re.A)
    if not found or found[1] == found[4] == "C":
        raise No("no kernel of ours does this")
    source, origin, executor, target, to = found.groups()
    size = f'"size": {o.dims[0]:.0f}'
    if executor not in "DG":
        raise No("no kernel of ours copies with the CPU's threads")
    by_kernel, to_host = executor == "G", target == "C"
    if source != target:
        kernel = "kernel_copy" if by_kernel else "copy_to_host" if to_host else "copy_to_device"
        return kernel, f'{{{size}{", " if by_kernel and to_host else ""}' + \
            ('"from": "device", "to": "pinned"}' if by_kernel and to_host else "}")
    if int(origin) == int(to):
        if by_kernel:
            raise No("no kernel of ours does this")
        return "copy_on_device", f"{{{size}}}"
    return "kernel_copy_peer" if by_kernel else "copy_peer", f'{{{size}, "from": {int(origin)}, "to": {int(to)}}}'


MAPS = {"gemm": map_gemm, "attention": map_attention, "norm": map_norm, "softmax": map_softmax,
        "elementwise": map_elementwise, "reduction": map_reduction, "moe_gemm": map_moe_gemm, "moe_gate": map_gate,
        "conv": map_conv, "rope": map_rope, "communication": map_communication, "copy": map_copy}


def map_row(row, o):
    """Fills kernel, params, library of a row. Returns how what stands for it differs; None: it does not."""
    row["why"] = "no kernel of ours does this"
    to_kernel = MAPS.get(o.kind)
    if to_kernel and not o.dims[0] > 0:
        row["why"] = "its shape is not known"
    elif to_kernel and not o.dtype and o.kind not in ("copy", "moe_gate"):
        row["why"] = "its type is not known"
    elif to_kernel:
        try:
            row["kernel"], row["params"] = to_kernel(row, o)
            row["why"] = ""
        except No as why:
            row["why"] = str(why)
    if stored_total(o) != o.total and row["kernel"] and o.total:
        return f"products of {o.dtype} with results of {o.total}: kernels here store {stored_total(o)}"
    return None


# ---- what a tuned kernel would do ----

def described_product(o, *bmnk):
    """A product of the operator's types."""
    stored = "u8" if o.dtype == "bool" else o.dtype
    element = float(BYTES[stored])
    return {"family": "gemm", "type": "fp8" if stored.startswith(("e4m3", "e5m2")) else stored,
            "scales": "row" if element < 2 else "none", "in_bytes": element,
            "out_bytes": float(bytes_of(o.total) or element)} | {key: float(size) for key, size in zip("bmnk", bmnk)}


def other_size(size, filter_size, stride, pad, dilation, is_transposed):
    """The result of a window that goes over an image; of a transposed convolution the image that such windows come
    from."""
    window = dilation * (filter_size - 1) + 1
    if is_transposed:
        return (size - 1) * stride + window - 2 * pad
    return math.floor((size + 2 * pad - window) / max(1.0, stride)) + 1


def described_convolution(o):
    """A transposed convolution is the data gradient of one whose result is its image. A filter of one pixel is a
    product; there is no model of tuned kernels for others."""
    d = o.dims
    is_transposed = CONV_TRANSPOSED in o.extra

    def of_width(name, height):
        found = re.search(rf" {name}=(-?\d+)", o.extra)
        return float(found[1]) if found else height
    given = (d[2], d[3])
    made = (other_size(d[2], d[5], d[7], d[8], d[9], is_transposed),
            other_size(d[3], d[6], of_width("stride_w", d[7]), of_width("pad_w", d[8]), of_width("dilation_w", d[9]),
                       is_transposed))
    if d[11] > 0 or not made[0] > 0 or not made[1] > 0:
        return None
    if d[5] == d[6] == 1 and d[8] == 0 and d[10] <= 1 and not o.extra and "backward" not in o.name:
        return described_product(o, 1, d[0] * made[0] * made[1], d[4], d[1])
    channels = (d[4], d[1]) if is_transposed else (d[1], d[4])
    images = (made, given) if is_transposed else (given, made)
    return {"family": "convolution", "type": o.dtype, "in_bytes": float(bytes_of(o.dtype)),
            "op": "backward" if is_transposed else "forward", "images": d[0], "channels_in": channels[0],
            "channels_out": channels[1], "groups": max(1.0, d[10]), "in": images[0], "out": images[1],
            "filter": (d[5], d[6])}


def described_elements(o, count, arrays, element_bytes):
    """Arrays that are read or written."""
    return {"family": "elementwise", "type": o.dtype, "in_bytes": element_bytes, "rows": count,
            "columns": 1.0, "operands": arrays}


def describe(o):
    """None: there is no model of it."""
    d, element = o.dims, bytes_of(o.dtype)
    if not element or not d[0] > 0:
        return None
    element = float(element)
    if o.kind == "gemm":
        if min(d[1], d[2]) == 1:  # it reads a matrix once
            return described_elements(o, d[0] * max(d[1], d[2]) * d[3], 1.0, element)
        return described_product(o, *d[:4])
    if o.kind == "moe_gemm":  # each expert multiplies its share of the rows
        batch = max(1.0, min(d[3], d[0]))
        return described_product(o, batch, math.ceil(d[0] / batch), d[1], d[2])
    if o.kind == "conv":
        return described_convolution(o)
    if o.kind in ("norm", "softmax"):
        return {"family": "softmax" if o.kind == "softmax" else "layer_norm", "type": o.dtype, "in_bytes": element,
                "rows": d[0], "columns": d[1]}
    if o.kind == "elementwise":
        both = (element + BYTES[o.total]) / 2 if o.total in BYTES else element  # a copy may convert
        is_filled = o.name in ("aten::fill_", "aten::zero_")
        arrays = 1.5 if d[2] > 0 else 1.0 if is_filled else d[1] + 1  # 1.5: halves of one input
        return described_elements(o, d[0], arrays, both)
    if o.kind == "reduction":
        return described_elements(o, d[0], 1.0, element)
    if o.kind == "rope":
        return described_elements(o, d[0] * d[1] * d[2], 2.0, element)
    return described_elements(o, d[0] * d[1], 2.0, element) if o.kind == "gather" else None


def flops_of(o, described):
    """Of one call; NaN: not known. Of a convolution by its description."""
    d, flops = o.dims, 0.0
    if o.kind == "conv" and described and described["family"] == "gemm":
        flops = 2 * max(1.0, described["b"]) * described["m"] * described["n"] * described["k"]
    elif o.kind == "conv" and described:
        flops = 2 * described["images"] * described["channels_out"] * math.prod(described["out"]) * \
            described["channels_in"] / described["groups"] * math.prod(described["filter"])
    elif o.kind == "attention":
        flops = 2 * d[0] * d[1] * d[3] * d[4] * (d[5] + d[6]) / (2 if o.causal else 1)
    elif o.kind in ("gemm", "moe_gemm"):
        flops = 2 * d[0] * d[1] * d[2] * (d[3] if o.kind == "gemm" else 1)
    return flops if flops > 0 else math.nan
