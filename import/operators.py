# SPDX-License-Identifier: MIT
"""Operators: what they work on, by the names of DIMS, and an operator's inputs as a trace has them."""
import functools
import json
import re
from dataclasses import dataclass, field

DIMS = {
    "other": (),
    "gemm": ("B", "M", "N", "K"),
    "attention": ("B", "H", "HKV", "S", "SKV", "D", "DV"),
    "norm": ("rows", "columns"),
    "softmax": ("rows", "columns"),
    "elementwise": ("n", "inputs", "rows"),
    "reduction": ("n",),
    "moe_gemm": ("rows", "N", "K", "experts"),
    "moe_gate": ("tokens", "experts", "top"),
    "conv": ("N", "C", "H", "W", "K", "R", "S", "stride", "pad", "dilation", "groups", "D"),
    "rope": ("tokens", "heads", "dim"),
    "gather": ("rows", "columns"),
    "rnn": ("layers", "N", "T", "H", "I"),
    "copy": ("bytes",),
    "communication": ("n", "size", "ranks", "root", "nodes"),
}
MOST_SIZE = 1e15  # a double still counts there
MOST_DIMS, MOST_INPUTS, MOST_RANK = 14, 48, 8
CONV_TRANSPOSED = " transposed"
EXPERTS_TOGETHER = " gate, up and down together"  # `extra` of a mixture's products as one

BYTES = {"f64": 8, "f32": 4, "xf32": 4, "f16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1, "e4m3fnuz": 1, "e5m2fnuz": 1,
         "i64": 8, "u64": 8, "i32": 4, "u32": 4, "i16": 2, "u16": 2, "i8": 1, "u8": 1}
# Words of libraries are whole, those of others a part of what a trace says.
WHOLE_WORDS = {"s": "f32", "d": "f64", "h": "f16", "c": "c64", "z": "c128", "f32_c": "c64", "f64_c": "c128",
               "f8_r": "e4m3", "bf8_r": "e5m2", "f8_fnuz_r": "e4m3fnuz", "bf8_fnuz_r": "e5m2fnuz", "f4_r": "e2m1"}
PARTS = {"e4m3fnuz": "e4m3fnuz", "e5m2fnuz": "e5m2fnuz", "e4m3": "e4m3", "e5m2": "e5m2", "bfloat16": "bf16",
         "float4": "e2m1", "complex<float>": "c64", "complex<double>": "c128", "half": "f16", "float16": "f16",
         "double": "f64", "float64": "f64", "float": "f32", "unsigned char": "u8", "uint8": "u8", "uint32": "u32",
         "uint64": "u64", "int8": "i8", "int64": "i64", "char": "i8", "long": "i64", "short": "i16", "int": "i32",
         "bool": "bool"}
OTHER_WORDS = {"fp64": "f64", "fp32": "f32", "single": "f32", "tf32": "xf32", "fp16": "f16", "fp8_e4m3": "e4m3",
               "fp8_e5m2": "e5m2"} | {name: name for name in BYTES}


@functools.cache
def dtype_of_trace(word):
    """"c10::BFloat16" is bf16; None: it is no type that is known."""
    word = word.lower()
    found = WHOLE_WORDS.get(word) or next((dtype for part, dtype in PARTS.items() if part in word), None)
    return found or OTHER_WORDS.get(word.removesuffix("_r"))  # "f16_r"


def product_type(a, b):
    """Of a product of both: theirs, or where they differ one of its own, "bf16*e4m3", which has no rate."""
    return b if a == b or not a else a if not b else f"{a}*{b}"


@dataclass
class Operator:
    """Dimensions that are not known are 0, texts that are not known ""."""
    name: str
    kind: str = "other"
    dims: list = field(default_factory=lambda: [0.0] * MOST_DIMS)
    dtype: str = ""        # of the inputs
    total: str = ""        # of the result
    ta: bool = False       # GEMM: A, B transposed in row-major order
    tb: bool = False
    causal: bool = False
    layout: str = ""
    shape: str = ""        # the inputs in words, where the kind has no dimensions of its own
    extra: str = ""        # behind the dimensions, what they cannot say: " transposed", " pad_w=2"

    def set_dims(self, *dims):
        """The first dimensions of its kind; the others are not known."""
        self.dims = [float(dim) for dim in dims] + [0.0] * (MOST_DIMS - len(dims))

    def key(self):
        """Equal for equal operators. Sizes are whole."""
        return (self.name, self.kind, tuple(f"{dim:.0f}" for dim in self.dims[:len(DIMS[self.kind])]), self.dtype,
                self.total, self.layout, self.shape, self.extra, self.ta, self.tb, self.causal)

    def shape_words(self):
        """"M=141 N=512 K=512"; "" unknown."""
        words = [f"{name}={dim:.0f}" for k, (name, dim) in enumerate(zip(DIMS[self.kind], self.dims))
                 if (dim > 0 or (self.kind == "conv" and k == 8 and self.dims[0] > 0)) and
                 not (self.kind == "gemm" and k == 0 and dim == 1)]
        if not words:
            return self.shape
        return " ".join(words) + (" causal" if self.causal else "") + self.extra


def blas_layout(ta, tb):
    """"TN" of y = x W^T: column-major, where our B comes first."""
    return "NT"[tb] + "NT"[ta]


def blas_gemm(out, mnk, batch, a_transposed, b_transposed):
    """A product as BLAS has it, column-major, turned into row-major order."""
    m, n, k = mnk
    out.kind = "gemm"
    out.set_dims(batch if batch > 0 else 1, n, m, k)
    out.ta, out.tb = b_transposed, a_transposed
    out.layout = blas_layout(b_transposed, a_transposed)


# ---- numbers in texts ----

NUMBER = re.compile(r"\s*([-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|inf(?:inity)?|nan))", re.I | re.A)


def leading_number(text):
    """(the number that the text begins with or None, what follows it)"""
    found = NUMBER.match(text)
    return (float(found[1]), text[found.end():]) if found else (None, text)


def leading_whole(text):
    """The whole number that the text begins with; 0 where there is none."""
    found = re.match(r"\s*\+?(\d{1,15})", text, re.A)
    return int(found[1]) if found else 0


def number_of(value, otherwise):
    """A value of JSON as a number, also one in quotes. Digits with a point are read as text, to be exact."""
    if type(value) is str:
        try:
            return float(value)
        except ValueError:
            number, _ = leading_number(value)
            return otherwise if number is None else number
    if type(value) is int:
        return float(value) if abs(value) < 1 << 1023 else float("inf")
    return value if type(value) is float else otherwise


def text_of(value):
    """A value of JSON as text: a string without its quotes, others as they are written."""
    if value is None:
        return ""
    return value.replace("\0", "?") if type(value) is str else json.dumps(value)


# ---- inputs ----

@dataclass
class Input:
    """Rank 0: no tensor. `value`: of a scalar or list, as text."""
    dims: list = field(default_factory=list)
    strides: list = field(default_factory=list)
    dtype: str = ""
    value: str = ""

    def __post_init__(self):
        self.rank = len(self.dims)
        self.strides = (self.strides + [0.0] * MOST_RANK)[:MOST_RANK]

    def count(self, without=0):
        """The product of all dimensions but the last `without`."""
        product = 1.0 if self.rank > without else 0.0
        for dim in self.dims[:max(0, self.rank - without)]:
            product *= dim
        return product


def numbers_in(values):
    """Sizes of a tensor; of a list of tensors those of the first one."""
    out = []
    for value in values[:MOST_RANK] if type(values) is list else ():
        if type(value) is list:
            return numbers_in(value)
        out.append(number_of(value, 0.0))
    return out


class Inputs:
    """What a trace says of an operator's call: lists of sizes, types, strides and values."""

    def __init__(self, name, dims=None, types=None, strides=None, values=None, triton=None):
        self.name, self.triton = name, triton
        self.lists = [given if type(given) is list else [] for given in (dims, types, strides, values)]

    @functools.cached_property
    def items(self):
        """The inputs, as far as any of the lists goes."""
        dims, types, strides, values = self.lists
        count = min(MOST_INPUTS, max(map(len, self.lists)))

        def at(listed, k):
            return listed[k] if k < len(listed) else None
        return [Input(numbers_in(at(dims, k)), numbers_in(at(strides, k)),
                      dtype_of_trace(text_of(at(types, k))) or "" if k < len(types) else "", text_of(at(values, k)))
                for k in range(count)]

    def tensor(self, at, least_rank):
        """The input of this number, if it is a tensor of at least this rank; None."""
        return self.items[at] if 0 <= at < len(self.items) and self.items[at].rank >= least_rank else None

    def number(self, at, k, otherwise):
        """Element k of a list such as "[1, 2]", or the scalar; `otherwise` where there is none."""
        if not 0 <= at < len(self.items):
            return otherwise
        given = self.items[at].value
        text = given.lstrip("[( ")
        is_list = text != given
        for _ in range(k):
            _, comma, behind = text.partition(",")
            if not comma and is_list:  # one number stands for all of them
                break
            text = behind
        number, _ = leading_number(text)
        if number is not None:
            return number
        return 1.0 if text.startswith("True") else 0.0 if text.startswith("False") else otherwise

    def shape_words(self):
        """"[141,512] ([512] [512])": where nothing else is known of the operator; a list in parentheses."""
        return sizes_in_words(self.lists[0])


def sizes_in_words(sizes):
    """Of each tensor "[141,512]"; what is no tensor is left out."""
    words = []
    for value in sizes:
        if type(value) is not list or not value:
            continue
        if type(value[0]) is list:
            words.append(f"({sizes_in_words(value)})")
        else:
            words.append("[" + ",".join(f"{number_of(size, 0.0):.0f}" for size in value) + "]")
    return " ".join(words)
