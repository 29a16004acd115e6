# SPDX-License-Identifier: MIT
"""Lines that ROCm's libraries log so that a call can be repeated with their own benchmark, wherever in a line they
begin: hipblaslt-bench, rocblas-bench (and the YAML of both), MIOpenDriver; what these print of the call: its time; and
products that AITER has no tuned kernel of.

BLAS counts in columns: D (m x n) = op(A) op(B). PyTorch's row-major y = x W^T (tokens x out) is m = out, n = tokens, A
the weights. Rows here are row-major: M = n, N = m, and the operator's name has what the line says."""
import math
import re

from fields import Fields, split_options, split_pairs
from operators import CONV_TRANSPOSED, Operator, blas_gemm, dtype_of_trace, leading_number, product_type

HIPBLASLT, ROCBLAS, MIOPEN, YAML, YAML_LT = STARTS = (
    "hipblaslt-bench", "rocblas-bench", "MIOpenDriver", "rocblas_function", "function: matmul")
FORWARD, DATA, WEIGHTS = 1, 2, 4  # bits of MIOpenDriver's -F
FUNCTION = "f|function|rocblas_function"
OF_WIDTH = (("v|conv_stride_w", "stride_w", 1), ("q|pad_w", "pad_w", 0), ("j|dilation_w", "dilation_w", 1))
AITER_TABLES = {"blockscale": "e4m3", "a4w4": "e2m1", "bf16": "bf16"}  # where a line does not say the type


def type_of(f, names, otherwise):
    """A type by our name, or as the library calls it."""
    word = f.text(names, otherwise)
    return (dtype_of_trace(word) if word else None) or word


def letter_of(function):
    """"rocblas_dgemm_strided_batched": its letter is the type; "" where it has none, as gemm_ex."""
    return function[0] if len(function) > 3 and function[0] in "sdczh" and function.startswith("ge", 1) else ""


def first_number(text):
    """0: it begins with none."""
    return leading_number(text)[0] or 0.0


def find_start(text, at):
    """(where the first program's name stands, the name or None). Comments are no calls, but for a prompt of root."""
    behind = text[at:].lstrip(" \t")
    if behind.startswith("#") and not behind.startswith(("# ./", "# /")):
        return at, None
    found = [(text.find(start, at), k) for k, start in enumerate(STARTS)]
    place, k = min((one for one in found if one[0] >= 0), default=(at, None))
    return place, None if k is None else STARTS[k]


class Bench:
    """The command of a library's benchmark; its result may follow.

    answered: whose time was read, of MIOpenDriver bits of directions. drives: MIOpenDriver said its own command, and
    logs its own calls. signature: of the call whose time was read last, of MIOpenDriver's command."""

    def __init__(self, trace, aiter_product):
        self.trace, self.aiter_product = trace, aiter_product
        self.begin(None, Fields())

    def begin(self, program, options, signature=None, drives=False):
        """Another command."""
        self.program, self.options, self.signature, self.drives = program, options, signature, drives
        self.answered, self.call = 0, None

    # ---- products ----

    def read_product(self, operator, f, program, function):
        """A product, or a matrix times a vector: op(A) x, where A has m rows and n columns."""
        a, b = (f.text(f"trans{side}|transpose{side}", "N")[0] in "TtCc" for side in "AB")
        m, n = f.number("m|M|sizem", 0.0), f.number("n|N|sizen", 0.0)
        mnk = (m, n, f.number("k|K|sizek", 0.0))
        is_vector = "gemv" in function
        if is_vector:
            mnk = (n, 1.0, m) if a else (m, 1.0, n)
        if not all(size > 0 for size in mnk):
            if f.get("yaml") is None:  # a list of calls, whose results follow
                self.trace.skip(f"a line of {program} without -m, -n and -k was skipped")
            return False
        blas_gemm(operator, mnk, f.number("batch_count|batch", 1.0), a, b)
        operator.name = f"{program} gemv -m {m:.0f} -n {n:.0f}" if is_vector else \
            f"{program} -m {m:.0f} -n {n:.0f} -k {mnk[2]:.0f}"
        return True

    def read_blas(self, f, program):
        """None: it is no call. Of other functions than products the sizes are words."""
        is_lt = program in (HIPBLASLT, YAML_LT)
        function = "matmul" if is_lt else f.text(FUNCTION, "gemm" if f.get("incx") is None else "gemv")
        function = function.removeprefix("rocblas_")
        every = f.text("r|precision", letter_of(function) or ("" if program == YAML else "f32_r"))
        a = type_of(f, "a_type", every)
        operator = Operator("", total=type_of(f, "d_type|c_type", every))
        operator.dtype = product_type(a, type_of(f, "b_type", a))
        if is_lt or "gemm" in function or "gemv" in function:
            return operator if self.read_product(operator, f, "hipblaslt" if is_lt else "rocblas", function) else None
        operator.name = f"rocblas {function}"
        operator.shape = " ".join(f"{name}={f.text(f'{name}|{name.upper()}', '')}" for name in "mnk")
        return operator if f.get(FUNCTION) is not None else None

    def take_result(self, row):
        """Several results of one call are its solutions, of which the fastest counts."""
        is_lt = row.get("hipblaslt-Gflops|hipblaslt-GB/s") is not None
        us = row.number("us|rocblas-us", 0.0)
        program = HIPBLASLT if is_lt else ROCBLAS
        row.behind = self.options if self.program == program else None
        operator = self.read_blas(row, program) if 0 < us < math.inf else None
        if not operator:
            self.trace.skip("a result without a time was skipped")
            return
        key = operator.key()
        call = self.call if self.answered and key == self.signature else self.trace.add_call(operator, 1.0, us * 1e3)
        call.time_ns = min(call.time_ns, us * 1e3)
        self.answered, self.signature, self.call = 1, key, call

    # ---- MIOpen ----

    def read_conv(self, operator, f):
        """MIOpenDriver's own defaults where the line does not say."""
        is_deep = f.number("spatial_dim|_", 2.0) > 2
        asked = (("n|batchsize", 100), ("c|in_channels", 3), ("H|in_h", 32), ("W|in_w", 32), ("k|out_channels", 32),
                 ("y|fil_h", 3), ("x|fil_w", 3), ("u|conv_stride_h", 1), ("p|pad_h", 0), ("l|dilation_h", 1),
                 ("g|group_count", 1))
        dims = [f.number(names, float(usual)) for names, usual in asked]
        dims.append(f.number("in_d", 32.0) if is_deep else 0.0)
        if not all(0 < dim < math.inf for dim in dims[:8]):  # the stride is the last of what must be positive
            self.trace.skip("a line of MIOpenDriver with sizes that make no sense was skipped")
            return None
        operator.set_dims(*dims)
        operator.kind, operator.name = "conv", "MIOpen convolution"
        operator.layout = f.text("in_layout|I", "NCDHW" if is_deep else "NCHW")
        operator.extra = CONV_TRANSPOSED if f.text("m|mode", "") == "trans" else ""
        for k, (names, word, usual) in enumerate(OF_WIDTH):
            its = f.number(names, float(usual))
            if its != dims[7 + k]:
                operator.extra += f" {word}={its:.0f}"
        return operator

    def read_driver(self, f):
        """Batch normalisation, pooling and others have their arguments in words. None: it is no call."""
        word = f.word or ""
        types = {"bfp16": "bf16", "fp16": "f16", "int8": "i8"}
        operator = Operator(f"MIOpen {word}", dtype=next((types[part] for part in types if part in word), "f32"))
        operator.total = operator.dtype
        if word.startswith("conv"):
            return self.read_conv(operator, f)
        if word.startswith("rnn"):
            asked = (("l|num_layer", 1), ("n|batchsize", 4), ("k|seq_len", 10), ("H|hid_h", 32), ("W|in_h", 32))
            operator.kind, operator.name = "rnn", f"MIOpen {f.text('m|mode', 'rnn')}"
            operator.set_dims(*(f.number(names, float(usual)) for names, usual in asked))
            return operator
        operator.shape = " ".join(f"{key}={value}" for key, value in list(zip(f.keys, f.values))[:12])
        return operator if word else None

    def add_direction(self, direction, time_ns):
        """One of the directions that were asked for."""
        operator = self.read_driver(self.options)
        if not operator:
            return
        if operator.kind == "conv":
            operator.name += {FORWARD: " forward", DATA: " data gradient, backward"}.get(
                direction, " weight gradient, backward")
        elif operator.kind == "rnn":
            operator.name += " forward" if direction == FORWARD else " backward"
        self.trace.add_call(operator, 1.0, time_ns)
        self.answered |= direction

    def driver_time(self, line):
        """"GPU Kernel Time Backward Data Conv. Elapsed: 0.0194 ms (average)", or of older drivers the last column of
        "stats: fwd-conv3x3u1, 128, ..., 0.0194"."""
        _, elapsed, behind = line.partition("GPU Kernel Time")[2].partition("Elapsed:")
        ms = first_number(behind) if elapsed else \
            first_number(line.rpartition(",")[2]) if line.startswith("stats: ") and "," in line else 0.0
        if self.program != MIOPEN or not 0 < ms < math.inf:
            return False
        is_weights = any(word in line for word in ("Weights", "WrW", "bwdw"))
        direction = WEIGHTS if is_weights else DATA if "ackward" in line or "bwd" in line else FORWARD
        if not self.answered & direction:
            self.add_direction(direction, ms * 1e6)
        return True

    # ---- commands ----

    def end(self):
        """What was asked for and has no result."""
        if self.program == MIOPEN:
            asked = self.options.number("F|forw", 0.0)
            directions = int(asked) % 8 if 0 <= asked < 1 << 31 else 0
            is_many = (self.options.word or "").startswith(("conv", "rnn"))
            directions = (directions or FORWARD | DATA | WEIGHTS) if is_many else FORWARD
            for direction in FORWARD, DATA, WEIGHTS:
                if directions & ~self.answered & direction and (is_many or not self.answered):
                    self.add_direction(direction, math.nan)
        elif self.program and not self.answered:
            operator = self.read_blas(self.options, self.program)
            if operator:
                self.trace.add_call(operator, self.options.number("call_count", 1.0), math.nan)
        self.begin(None, Fields())

    def take_command(self, program, text, is_bare):
        """A call: options, from behind the name of its program to the end of the text. MIOpenDriver repeats its own
        command and logs the calls that it makes for it: these are no further ones."""
        signature = None
        if program in (YAML, YAML_LT):
            options = split_pairs(text)
        else:
            options = split_options(text[re.match("[^ \t]*", text).end():])
        if program == MIOPEN:
            operator = self.read_driver(options) if options.word else None
            signature = operator and operator.key()
            repeats = self.program == MIOPEN and signature == self.signature and (is_bare or self.drives)
            if not operator or repeats:
                self.drives = self.drives or is_bare
                return bool(operator)
        if not options.keys:  # it is the name of a tool
            return False
        self.end()
        if program == MIOPEN or self.read_blas(options, program):
            self.begin(program, options, signature, program == MIOPEN and is_bare)
        return True

    def read_device(self, line):
        """"Device ID 0 : AMD Instinct MI100 gfx908:sramecc+:xnack-"."""
        _, colon, name = line.partition("Device ID ")[2].partition(" : ")
        name, found, arch = (" " + name).partition(" gfx")
        if not colon or not found:
            return False
        self.trace.set_device(name[1:], "gfx" + re.match("[^: \r]*", arch)[0], 0.0)
        return True

    def read_aiter(self, line):
        """"[aiter] shape is M:64, N:16384, K:5120, q_dtype_w:torch.int8, not found tuned config in .../a8w8_tuned.csv":
        where it does not say the type, the table does."""
        at = line.find("shape is ")
        if at < 0 or "M:" not in line[at:]:
            return False
        _, found, table = line[at:].partition("tuned config")
        pairs = split_pairs(line[at:])
        named = next((dtype for part, dtype in AITER_TABLES.items() if found and part in table), None)
        if named:
            pairs.add("q_dtype_w", named)
        self.aiter_product(self.trace, pairs)
        return True

    def take(self, line):
        """Where several processes write into one file a line has several calls."""
        at, program = find_start(line, 0)
        taken = False
        if program in (YAML, YAML_LT):
            return self.take_command(program, line, False)
        while program:
            following, after = find_start(line, at + len(program))
            is_further = after in (HIPBLASLT, ROCBLAS, MIOPEN)
            taken = self.take_command(program, line[at:following - 1 if is_further else None], at == 0) or taken
            at, program = following, after if is_further else None
        return taken or self.driver_time(line) or self.read_device(line) or self.read_aiter(line)
