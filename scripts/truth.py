# SPDX-License-Identifier: MIT
"""Times that others measured, beside what the program predicts for them. Files are CSV with a header, whose columns
tell what the rows are:

    target,cus,dtype,scales,m,n,k,kernel,split_k,time_us (library, out_dtype, source_file)     tuned GEMMs
    gpu,op,dtype,shape,kernel,block,time_us                    element-wise, softmax, ln, linear, bmm of PyTorch
    database,direction,dtype,n,c,h,w,k,out_h,out_w,filter,groups,time_us                       naive convolutions
    kernel_name,problem_size,min_ms (machine)                       programs, by kernels of these names; mi300a

Other columns are ignored. A row that cannot be right is kept with its problem, and skipped in all figures: one with an
invalid number, a time that is not positive, or a time below what the vendor's peaks allow.
"""
import csv
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

TYPES = {"fp8": ("fp8", 1), "bf16": ("bf16", 2), "i8": ("i8", 1), "fp4": ("fp4", 0.5), "f16": ("f16", 2), "f32": ("f32", 4), "FP32": ("f32", 4),
         "FP16": ("f16", 2), "BF16": ("bf16", 2), "fp16": ("f16", 2), "fp32": ("f32", 4), "INT8": ("i8", 1)}
GEMM_MACHINES = {("gfx942", 304): "mi300x", ("gfx942", 80): "mi308x", ("gfx942", 228): "mi300a", ("gfx950", 256): "mi355x", ("gfx90a", 104): "mi210",
                 ("gfx90a", 110): "mi250x", ("gfx908", 120): "mi100", ("gfx1100", 96): "rx7900xtx", ("gfx1201", 64): "rx9070xt"}
CONVOLUTION_MACHINES = {"gfx906_60": "mi50", "gfx90a68": "mi210", "gfx90a6e": "mi250x", "gfx908": "mi100", "gfx1030_36": "rx6800xt",
                        "gfx942130": "mi300x", "gfx942e4": "mi300a"}
SHORT_PROGRAM_NS = 1e4  # what is much longer than a launch says more of a model
SLACK = 0.99  # of the least time: data sheets round, and clocks exceed what they name
GEMM_LARGE = 4096
STREAM_OVER_CACHE = 4


class Problem(Exception):
    """Why a row is skipped."""


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def numbers(text, missing=()):
    """The numbers of "128x64x3"."""
    found = [number(word) for word in text.split("x")] if text else []
    return [] if any(map(math.isnan, found)) else found + list(missing[len(found):])


def typed(name):
    kind, size = TYPES.get(name, (name, 0))
    return {"type": kind, "out_bytes": max(2, size)} | ({"in_bytes": size} if size else {})


# ---- kinds of rows ----


def read64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


XXH3_SECRET = bytes.fromhex("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248e")


def is_held_out(m, n, k):
    """A fifth of the shapes, which no constant is fitted on, by XXH3's hash of their numbers in 9 to 32 characters."""
    data, mask = f"{m:.0f},{n:.0f},{k:.0f}".encode(), 2**64 - 1
    size = len(data)

    def folded(a, b):
        return (a * b & mask) ^ (a * b >> 64)

    def mixed(at, secret):
        return folded(read64(data, at) ^ read64(XXH3_SECRET, secret), read64(data, at + 8) ^ read64(XXH3_SECRET, secret + 8))

    if not 9 <= size <= 32:
        return False
    if size <= 16:
        low = read64(data, 0) ^ read64(XXH3_SECRET, 24) ^ read64(XXH3_SECRET, 32)
        high = read64(data, size - 8) ^ read64(XXH3_SECRET, 40) ^ read64(XXH3_SECRET, 48)
        value = size + int.from_bytes(low.to_bytes(8, "little"), "big") + high + folded(low, high)
    else:
        value = size * 0x9E3779B185EBCA87 + mixed(0, 0) + mixed(size - 16, 16)
    value &= mask
    value = (value ^ value >> 37) * 0x165667919E3779F9 & mask
    return (value ^ value >> 32) % 5 == 0


def split_of(field, kind):
    """Composable Kernel's split is the power of two, other libraries' the number itself. 0: the name has a split, and nothing says how many."""
    split = number(field("split_k"))
    name = field("kernel")
    if not split > 0 and re.search("split_?k|wkc_accum|skinny", name, re.IGNORECASE):
        told = re.search(r"split_?k_?(\d+)(?![\dx])", name, re.IGNORECASE)
        return int(told[1]) if told else 0
    counted = field("library") in ("flydsl", "opus") or (field("kernel").startswith("_ZN") and kind != "fp4")
    return 1 if not split > 0 else split if counted else 2 ** min(split, 10)


def read_gemm(field):
    launch = typed(field("dtype")) | {"family": "gemm", "cold": True, "scales": field("scales"), "kernel": field("kernel"),
                                      "m": number(field("m")), "n": number(field("n")), "k": number(field("k"))}
    split = split_of(field, launch["type"])
    launch |= {"split": split} if split else {}
    if field("out_dtype") == "float32":
        launch["out_bytes"] = 4
    if "preshuffle" in field("kernel") and field("scales") == "1x128x128":
        launch["scales"] = "1x128x128 shuffled"
    m, n, k = (launch[name] for name in "mnk")
    return {"machine": GEMM_MACHINES.get((field("target"), number(field("cus"))), ""), "family": f"GEMM {launch['type']} {field('scales')}",
            "label": f"{m:.0f}x{n:.0f}x{k:.0f} {field('kernel')[:60]}", "source": field("source_file"), "held_out": is_held_out(m, n, k), "launch": launch}


def read_torch(field):
    op, shape = field("op"), numbers(field("shape"))
    row = {"machine": field("gpu").lower(), "family": "", "label": f"{op} {field('shape')}"}
    gemm = op in ("linear", "bmm")
    launch = typed(field("dtype")) | {"op": op, "kernel": field("kernel")}
    if len(shape) != (4 if gemm else 2):
        return row | {"problem": "the shape has not as many numbers as its operator"}
    if gemm:
        split = re.search(r"GSU(\d*)", field("kernel"))
        batch, m, k, n = shape
        launch |= {"family": op, "batch": batch, "m": m, "k": k, "n": n, "split": max(1, int(split[1] or 0)) if split else 1}
        return row | {"family": "batched GEMM f32" if op == "bmm" else "GEMM f32", "launch": launch}
    family, title = {"softmax": ("softmax", "softmax"), "ln": ("layer_norm", "layer norm")}.get(op, ("elementwise", "element-wise"))
    # Operators of two tensors read one more than those of one; "addu" takes a number as its second.
    operands = 3 if op in ("add", "mul", "div", "pow", "sub") else 2
    return row | {"family": title, "launch": launch | {"family": family, "rows": shape[0], "columns": shape[1], "operands": operands}}


def read_convolution(field):
    forward = field("direction") == "F"
    # MIOpen's keys name first what a direction reads: backwards that is the gradient of the output.
    sizes = [("images", "n"), ("channels_in", "c" if forward else "k"), ("channels_out", "k" if forward else "c"), ("groups", "groups")]
    pairs = [("filter", math.nan), ("stride", 1), ("dilation", 1), ("pad", 0)]
    near, far = [number(field("h")), number(field("w"))], [number(field("out_h")), number(field("out_w"))]
    launch = typed(field("dtype")) | {name: number(field(column)) for name, column in sizes}
    sides = {name: numbers(field(name) or "", [missing] * 2)[:2] or [missing] * 2 for name, missing in pairs}
    sides |= {"in": near if forward else far, "out": far if forward else near}
    launch |= {f"{name}_{axis}": side for name, pair in sides.items() for axis, side in zip("hw", pair)}
    launch |= {"family": "convolution", "op": {"B": "backward", "W": "weights"}.get(field("direction")[:1], "forward"),
               "channels_last": field("layout") == "NHWC",
               "from_idle": True}  # a find step compiles a kernel, launches it to warm up, and once more
    machine = next((name for start, name in CONVOLUTION_MACHINES.items() if field("database").startswith(start)), "")
    label = (f"{launch['op']} {launch['type']} n={launch['images']:.0f} c={launch['channels_in']:.0f} k={launch['channels_out']:.0f} "
             f"{field('h')}x{field('w')} filter {field('filter')}")
    return {"machine": machine, "family": "naive convolution", "label": label, "launch": launch}


def read_program(field):
    name, time_ns = field("kernel_name"), number(field("min_ms")) * 1e6
    row = {"machine": field("machine") or "mi300a", "label": f"{name} {field('problem_size')}", "program": name, "sizes": numbers(field("problem_size"))[:3],
           "time_ns": time_ns, "family": "HIP programs above 10 us" if time_ns > SHORT_PROGRAM_NS else "HIP programs up to 10 us"}
    if name in ("vectoradd", "relu"):  # the others cannot be described
        row["launch"] = typed("f32") | {"family": "elementwise", "op": "add" if name == "vectoradd" else "relu", "rows": number(field("problem_size")),
                                        "columns": 1, "operands": 3 if name == "vectoradd" else 2}
    return row


KINDS = [("target,cus,dtype,scales,m,n,k,kernel,split_k,time_us", read_gemm), ("op,gpu,dtype,shape,kernel,time_us", read_torch),
         ("direction,database,dtype,n,c,k,filter,out_h,out_w,groups,time_us", read_convolution), ("kernel_name,problem_size,min_ms", read_program)]


def positive(*values):
    return all(value > 0 and math.isfinite(value) for value in values)


def check_numbers(row):
    """What a row cannot be right with, before its machine is known."""
    launch = row.get("launch", {})
    may_be_zero = ("pad_h", "pad_w", "dilation_h", "dilation_w")
    if not positive(*(value for name, value in launch.items() if not isinstance(value, (str, bool)) and name not in may_be_zero)):
        raise Problem("a size is no positive number")
    if not positive(row["time_ns"]):
        raise Problem("the time is no positive number")


def kind_of(head, path):
    for columns, read in KINDS:
        first, *others = columns.split(",")
        if first in head:
            for column in others:
                if column not in head:
                    sys.exit(f"{path}: has '{first}' but no column '{column}'")
            return read
    return sys.exit(f"{path}: no column tells what its rows are: 'target' of GEMMs, 'op' of operators, 'direction' of convolutions or "
                    "'kernel_name' of programs")


def read_rows(path):
    """Dictionaries with line, machine, family, label, source, held_out, time_ns; launch as `rooftile predict` takes it, or program
    and sizes; problem."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    if "\0" in text:
        sys.exit(f"{path}: is no text")
    lines = csv.reader(text.splitlines())
    head = next(lines, [])
    read = kind_of(head, path)
    rows = []
    for at, fields in enumerate(lines, 2):
        if fields and fields != [""]:
            values = dict(zip(head, fields))

            def field(name, values=values):
                return values.get(name, "")

            row = {"line": at, "source": "", "held_out": False, "time_ns": number(field("time_us")) * 1e3, "problem": ""} | read(field)
            try:
                if len(fields) != len(head):
                    raise Problem("it has not as many fields as the head")
                if not row["problem"]:
                    check_numbers(row)
            except Problem as problem:
                row["problem"] = str(problem)
            rows.append(row)
    return rows


# ---- predictions ----


def run(words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(max(1, done.returncode))
    return json.loads(done.stdout)


def written(folder, name, value):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        json.dump(value, file)
    return path


def predict_launches(program, rows, models, folder):
    """Sets predicted_ns, low_ns, high_ns, raw_ns, bound and, of the machine, least_ns, memory, cached_bytes, launch_ns."""
    asked = [row for row in rows if row["machine"] and not row["problem"]]
    launches = [row.get("launch", {"family": "none"}) | {"machine": row["machine"]} for row in asked]
    path = written(folder, "launches.json", {"launches": launches})
    options = ["--models", models] if models else []
    for row, found in zip(asked, run([program, "predict", path, "--json", "-", *options])["launches"]):
        row |= {key: value for key, value in found.items() if key not in ("family", "machine", "time_ns")}
        row["predicted_ns"] = found["time_ns"]
        if "launch" in row and row["time_ns"] < SLACK * found.get("least_ns", 0):
            row["problem"] = "it is faster than the machine's peaks allow"


def manifests_of(folders):
    found = {}
    for path in (path for folder in folders for path in sorted(pathlib.Path(folder).rglob("*.json"))):
        try:
            manifest = json.loads(path.read_text())
            found.setdefault(manifest["name"], set(manifest["params"]))
        except (ValueError, KeyError, TypeError):
            found.setdefault(path.stem, {"n"})  # the program says what is wrong with it
    return found


def params_of(row, known):
    """n; m and n; m, n and k. A parameter that the kernel lacks has to be n: n x n."""
    names = {1: "n", 2: "mn", 3: "mnk"}.get(len(row["sizes"]), "")
    sizes = dict(zip(names, row["sizes"]))
    if not names or any(name not in known and size != sizes["n"] for name, size in sizes.items()):
        return None
    return {name: int(size) for name, size in sizes.items() if name in known} or None


def predict_programs(program, rows, folders, folder):
    """The rows whose kernels the folders have: compiled for the machine and walked. No constant of theirs is fitted."""
    known = manifests_of(folders)
    cases = {}  # by machine, kernel and size
    for row in rows:
        params = params_of(row, known[row["program"]]) if not row["problem"] and row.get("program") in known else None
        if params:
            cases.setdefault(row["machine"], {}).setdefault(row["label"], {"kernel": row["program"], "params": params})
    words = [word for one in folders for word in ("--kernels", one)]
    for machine, of_machine in cases.items():
        path = written(folder, "programs.json", {"name": "truth", "summary": "programs", "cases": list(of_machine.values())})
        found = run([program, "predict", path, "--machine", machine, "--json", "-", *words])
        labels = list(of_machine)
        said = None
        for case in found["machines"][0]["cases"]:
            label = labels[case["request"]]
            if case.get("method") == "walk" and case["time_ns"]:
                for row in (row for row in rows if row["label"] == label and row["machine"] == machine):
                    row |= {"predicted_ns": case["time_ns"], "raw_ns": case["time_ns"], "bound": case["bound"]} | {
                        key: case[key] for key in ("low_ns", "high_ns")}
            elif said != (said := (case.get("notes") or [case.get("reason") or "it has no code"])[0]):
                print(f"{label}: not predicted: {said}", file=sys.stderr)


def judge_bound(row):
    """Sets bound_right where the bound is beyond doubt: memory for streams of four times the last cache, the matrix unit for GEMMs with M,
    N and K of at least 4096, launch for what takes less than two of them."""
    launch = row.get("launch", {})
    bytes_each = launch.get("in_bytes", 0) * (launch.get("operands", 2) if launch.get("family") == "elementwise" else 2)
    moved = launch.get("rows", 0) * launch.get("columns", 0) * bytes_each
    if "batch" in launch or "split" in launch:
        beyond_doubt = "matrix_" if min(launch[name] for name in "mnk") >= GEMM_LARGE else None
    else:
        streams = launch.get("family") in ("elementwise", "softmax")
        beyond_doubt = row["memory"] if streams and moved > STREAM_OVER_CACHE * row["cached_bytes"] else None
    if not beyond_doubt and row["time_ns"] < 2 * row["launch_ns"]:
        beyond_doubt = "launch"
    if beyond_doubt:
        row["bound_right"] = row["bound"].startswith(beyond_doubt)


def predict(program, rows, models=None, folders=()):
    """Sets the rows' predictions; predicted_ns is None where there is no model of the kernel or the machine."""
    for row in rows:
        row |= {"predicted_ns": None, "low_ns": None, "high_ns": None, "raw_ns": None, "bound": ""}
    with tempfile.TemporaryDirectory() as folder:
        predict_launches(program, rows, models, folder)
        predict_programs(program, rows, folders, folder)
    for row in rows:
        if row["predicted_ns"] and not row["problem"]:
            judge_bound(row)
    return rows


def quantile(values, share):
    values = sorted(values)
    place = share * (len(values) - 1)
    low = int(place)
    return values[low] + (place - low) * (values[min(low + 1, len(values) - 1)] - values[low])
