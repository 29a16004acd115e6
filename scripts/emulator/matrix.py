# SPDX-License-Identifier: MIT
"""Matrix instructions of CDNA (v_mfma, v_smfmac) and RDNA (v_wmma, v_swmmac): which element lies where, and what it is worth.

Layouts: ROCm/amd_matrix_instruction_calculator and the instruction set documents, "Matrix Arithmetic". Products are summed in f64 and
rounded once. In the formulas e counts the elements of a lane, g = lane / M or N the lane's group."""
import functools
import re

import numpy as np

from launch import NOT_SUPPORTED, Problem

# ---- numbers ----


def small_float(bits, exponent_bits, bias, kind):
    """The value of each code. kind: fnuz has one NaN, at negative zero; ieee has infinities; finite has NaN at all ones (8 bits only)."""
    mantissa_bits = bits - 1 - exponent_bits
    values = np.empty(1 << bits)
    for code in range(1 << bits):
        exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
        mantissa = (code & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
        value = (1 + mantissa) * 2.0 ** (exponent - bias) if exponent else mantissa * 2.0 ** (1 - bias)
        is_top = exponent == (1 << exponent_bits) - 1
        if kind == "ieee" and is_top:
            value = np.nan if mantissa else np.inf
        elif kind == "finite" and bits == 8 and is_top and mantissa == 1 - 2.0 ** -mantissa_bits:
            value = np.nan
        values[code] = -value if code >> bits - 1 else value
    if kind == "fnuz":
        values[1 << bits - 1] = np.nan
    return values


FP8 = {"fnuz": {"fp8": small_float(8, 4, 8, "fnuz"), "bf8": small_float(8, 5, 16, "fnuz")},
       "ocp": {"fp8": small_float(8, 4, 7, "finite"), "bf8": small_float(8, 5, 15, "ieee")}}
F6, F4 = {"f6": small_float(6, 2, 1, "finite"), "bf6": small_float(6, 3, 3, "finite")}, small_float(4, 2, 1, "finite")
BITS = {"f64": 64, "f32": 32, "xf32": 32, "f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8, "f6": 6, "bf6": 6, "i4": 4, "f4": 4}


def fp8(kind, arch):
    """The value of each code of fp8 or bf8."""
    return FP8["fnuz" if arch == "gfx942" else "ocp"][kind]


def fp8_codes(values, kind, arch):
    """The codes nearest to these, ties to even; beyond the largest it is infinity, or NaN where there is none."""
    table = fp8(kind, arch)
    finite = np.isfinite(table[:128])
    largest, top = int(np.flatnonzero(finite)[-1]), table[:128][finite]
    steps = np.append(top, 2 * top[-1] - top[-2])  # what would come next
    high = np.clip(np.searchsorted(steps, abs(values)), 1, largest + 1)
    below, above = abs(values) - steps[high - 1], steps[high] - abs(values)
    codes = np.where((below < above) | ((below == above) & (high % 2 == 1)), high - 1, high)
    is_fnuz = np.isnan(table[128])
    over = 0x80 if is_fnuz else largest + 1 if np.isinf(table[largest + 1]) else 0x7F
    is_over = (abs(values) > steps[-1]) | (codes > largest)
    signed = codes | np.where(np.signbit(values) & ((codes > 0) | (not is_fnuz)), 0x80, 0)
    signed = np.where(is_over, over if is_fnuz else over | np.where(np.signbit(values), 0x80, 0), signed)
    return np.where(np.isnan(values), 0x80 if is_fnuz else 0x7F, signed).astype(np.uint32)


def fields(words, bits):
    """[registers, lanes] of 32 bits as [lanes, elements] of so many."""
    columns = np.ascontiguousarray(words.T)
    if bits >= 8:
        return columns.view(f"<u{bits // 8}")
    stream = np.unpackbits(columns.view(np.uint8), axis=1, bitorder="little")
    count = stream.shape[1] // bits
    return (stream[:, :count * bits].reshape(-1, count, bits) << np.arange(bits)).sum(axis=2)


def decode(words, kind, arch, is_signed=True):
    raw = fields(words, BITS[kind])
    if kind in ("f64", "f32", "f16"):
        return raw.view(f"<f{BITS[kind] // 8}").astype(float)
    if kind == "xf32":  # f32 with a significand of 11 bits
        return ((raw + 0x0FFF + (raw >> 13 & 1)) & 0xFFFFE000).astype(np.uint32).view(np.float32).astype(float)
    if kind == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32).astype(float)
    if kind in ("i8", "i4"):
        values, half = raw.astype(np.int64), 1 << BITS[kind] - 1
        return (values ^ half) - half if is_signed else values
    if kind in ("fp8", "bf8"):
        return fp8(kind, arch)[raw]
    return (F4 if kind == "f4" else F6[kind])[raw]


def encode(values, kind):
    """[lanes, elements] as [registers, lanes]."""
    if kind == "bf16":
        bits = values.astype(np.float32).view(np.uint32)
        rounded = np.where(np.isnan(values), bits | 0x400000, bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        raw = rounded.astype(np.uint16)
    else:
        raw = values.astype({"f64": np.float64, "f32": np.float32, "f16": np.float16, "i32": np.int64}[kind])
        raw = raw.astype(np.uint64).astype(np.uint32) if kind == "i32" else raw
    return np.ascontiguousarray(raw).view(np.uint32).T


# ---- operands ----


INLINE = {"0.5": 0.5, "-0.5": -0.5, "1.0": 1.0, "-1.0": -1.0, "2.0": 2.0, "-2.0": -2.0, "4.0": 4.0, "-4.0": -4.0, "0.15915494": 0.15915494309189535}


def registers(text):
    """("v", first, count) of v[2:5], a7, s3; None of a constant."""
    found = re.fullmatch(r"([vas])(?:(\d+)|\[(\d+):(\d+)\])", text)
    if not found:
        return None
    file, one, first, last = found.groups()
    return file, int(one or first), 1 if one else int(last) - int(first) + 1


def read(wave, text):
    file, first, count = registers(text)
    if file == "s":
        return np.repeat(wave.s[first:first + count, None], wave.lanes, axis=1)
    return getattr(wave, file)[first:first + count]


def write(wave, text, words):
    """Matrix instructions write all lanes, whatever EXEC says."""
    file, first, count = registers(text)
    getattr(wave, file)[first:first + count] = words[:count]


def constant(text):
    return INLINE[text] if text in INLINE else int(text, 0)


# ---- which element lies where: index arrays [lanes, elements] ----


class Shape:
    """Of an instruction's name: M, N, K, blocks, the types of A, B and C."""

    def __init__(self, instruction, arch):
        name = instruction.mnemonic.replace("_e64", "").replace("_1k", "")
        found = re.fullmatch(r"v_(mfma|smfmac|wmma|swmmac)(?:_scale)?_([a-z]+\d+)_(\d+)x(\d+)x(\d+)_?(?:(\d+)b_)?(.*)", name)
        if not found:
            raise Problem(NOT_SUPPORTED, f"no {name}")
        self.kind, self.out = found.group(1), found.group(2)
        self.m, self.n, self.k = (int(word) for word in found.groups()[2:5])
        types = found.group(7).split("_")
        if types == ["f8f6f4"]:
            formats = ["fp8", "bf8", "f6", "bf6", "f4"]
            types = [formats[instruction.option("cbsz")], formats[instruction.option("blgp")]]
        self.a, self.b = (word.replace("iu", "i") for word in (types * 2)[:2])
        self.is_sparse = self.kind in ("smfmac", "swmmac")
        self.wave = 64 if self.kind in ("mfma", "smfmac") else 32
        self.arch = arch
        self.blocks = 1
        if self.kind == "mfma":  # B fills the wave: 64 lanes of so many elements
            per_lane = registers(instruction.operands[2])[2] * 32 // BITS[self.b]
            per_lane = 1 if self.b == "f64" else per_lane
            self.blocks = max(1, 64 * per_lane // (self.n * self.k)) if self.b not in ("f6", "bf6", "f4") else 1


def lanes_of(shape, rows, per_lane, run):
    """(block, row, k) of the elements of A or B."""
    lane, e = np.arange(shape.wave)[:, None], np.arange(per_lane)[None, :]
    row = lane % rows + 0 * e
    if shape.wave == 64:
        group = lane // rows
        return group % shape.blocks + 0 * e, row, group // shape.blocks * per_lane + e
    if shape.arch.startswith("gfx11"):
        return 0 * e + 0 * lane, row, e + 0 * lane
    run = min(run, per_lane)
    return 0 * e + 0 * lane, row, 2 * run * (e // run) + run * (lane // 16) + e % run


def places_of_c(shape):
    """(block, row, column) of the elements of C and D."""
    lane = np.arange(shape.wave)[:, None]
    e = np.arange(shape.m * shape.n * shape.blocks // shape.wave)[None, :]
    column = lane % shape.n + 0 * e
    if shape.wave == 32:
        return 0 * e + 0 * lane, 2 * e + lane // 16 if shape.arch.startswith("gfx11") else 8 * (lane // 16) + e, column
    group, groups = lane // shape.n, 64 // shape.n
    if shape.out == "f64":
        return group % shape.blocks + 0 * e, group // shape.blocks + groups // shape.blocks * e, column
    if shape.m == 4:
        return group + 0 * e, e + 0 * lane, column
    per_block = shape.m * shape.n // 64
    inner = e % per_block
    return e // per_block + 0 * lane, 4 * groups * (inner // 4) + 4 * group + inner % 4, column


@functools.lru_cache(maxsize=None)
def places(key):
    """Of a Shape's members: the three index arrays."""
    shape = Shape.__new__(Shape)
    shape.__dict__.update(key)
    stored_k = shape.k // 2 if shape.is_sparse else shape.k
    half = 1 if shape.wave == 64 or not shape.arch.startswith("gfx11") else 2
    a = lanes_of(shape, shape.m, shape.m * stored_k * shape.blocks * half // shape.wave, 64 // BITS[shape.a])
    run = (128 if shape.is_sparse else 64) // BITS[shape.b]
    b = lanes_of(shape, shape.n, shape.n * shape.k * shape.blocks * half // shape.wave, run)
    return a, b, places_of_c(shape)


# ---- the instruction ----


def spread(shape, index_words, a_values, a_places, instruction):
    """Of each 4 elements of a row a sparse A has two; 2 bits of the index say which. The set of the index: cbsz, abid; index_key."""
    bits = 2 * a_values.shape[1]
    sets = max(1, 32 // bits)
    chosen = instruction.option("abid") % sets if shape.wave == 64 and not instruction.option("cbsz") else instruction.option("index_key") % sets
    e = np.arange(a_values.shape[1])[None, :]
    wide = index_words.astype(np.uint64)
    position = wide[0][:, None] >> (bits * chosen + 2 * e).astype(np.uint64) & 3 if bits <= 32 else fields(index_words, 4)[:, :0]
    block, row, k = a_places
    return block, row, k // 2 * 4 + position.astype(int)


def scales(wave, instruction):
    """Per lane 2^(e - 127) of A and B, a byte of the last two operands each (op_sel, op_sel_hi)."""
    found = []
    low, high = instruction.option("op_sel", (0, 0, 0)), instruction.option("op_sel_hi", (0, 0, 0))
    for number, text in enumerate(instruction.operands[4:6]):
        words = read(wave, text)[0] if registers(text) else np.full(wave.lanes, constant(text), np.uint32)
        found.append(2.0 ** ((words >> 8 * (low[number] + 2 * high[number]) & 0xFF).astype(float) - 127))
    return found


def accumulator(wave, shape, text, count, opsel):
    """C as [lanes, elements]."""
    if not registers(text):
        return np.full((wave.lanes, count), constant(text), float if shape.out != "i32" else np.int64)
    if shape.out == "i32":
        return read(wave, text).T.view(np.int32).astype(np.int64) if False else np.ascontiguousarray(read(wave, text).T).view(np.int32).astype(np.int64)
    values = decode(read(wave, text), shape.out, shape.arch)
    return values[:, opsel::2] if values.shape[1] == 2 * count else values  # gfx11: one f16 per register


def execute(wave, instruction):
    """D = A * B + C; sparse: D += A * B, the last operand being the index."""
    shape = instruction.shape
    d_text, a_text, b_text, c_text = instruction.operands[:4]
    a_places, b_places, c_places = places(tuple(sorted((key, value) for key, value in shape.__dict__.items())))
    a_count, b_count, c_count = a_places[2].shape[1], b_places[2].shape[1], c_places[1].shape[1]
    neg_low, neg_high = instruction.option("neg_lo", (0, 0, 0)), instruction.option("neg_hi", (0, 0, 0))
    a = decode(read(wave, a_text), shape.a, shape.arch, bool(neg_low[0]) or shape.wave == 64)[:, :a_count]
    b = decode(read(wave, b_text), shape.b, shape.arch, bool(neg_low[1]) or shape.wave == 64)[:, :b_count]
    if "_scale_" in instruction.mnemonic:
        of_a, of_b = scales(wave, instruction)
        a, b = a * of_a[:, None], b * of_b[:, None]
    if shape.is_sparse:
        a_places = spread(shape, read(wave, c_text), a, a_places, instruction)
        c_text = d_text
    exact = np.int64 if shape.out == "i32" else float
    full_a, full_b = np.zeros((shape.blocks, shape.m, shape.k), exact), np.zeros((shape.blocks, shape.n, shape.k), exact)
    full_a[a_places], full_b[b_places] = a, b
    opsel = instruction.option("op_sel", (0, 0, 0))[2] if shape.arch.startswith("gfx11") and shape.out in ("f16", "bf16") else 0
    c = accumulator(wave, shape, c_text, c_count, opsel)
    if neg_high[2] and shape.out != "i32":
        c = abs(c)
    if neg_low[2] and shape.out != "i32":
        c = -c
    d = np.einsum("bmk,bnk->bmn", full_a, full_b)[c_places] + c
    if shape.out == "i32" and instruction.option("clamp"):
        d = np.clip(d, -(1 << 31), (1 << 31) - 1)
    if shape.arch.startswith("gfx11") and shape.out in ("f16", "bf16"):  # the other half of each register stays
        both = np.ascontiguousarray(read(wave, d_text).T).view(np.uint16)
        both[:, opsel::2] = np.ascontiguousarray(encode(np.repeat(d, 2, axis=1), shape.out).T).view(np.uint16)[:, ::2]
        return write(wave, d_text, both.view(np.uint32).T)
    return write(wave, d_text, encode(d, shape.out))


def find(instruction, arch):
    """The function that executes it; NOT_SUPPORTED: an option that is not understood."""
    unknown = [name for name in ("cbsz", "abid", "blgp") if instruction.option(name)]
    instruction.shape = Shape(instruction, arch)
    if unknown and not instruction.shape.is_sparse and "f8f6f4" not in instruction.mnemonic:
        raise Problem(NOT_SUPPORTED, f"no {instruction.mnemonic} with {unknown[0]}")
    return execute
