# SPDX-License-Identifier: MIT
"""The CPU device is worth measuring only if its kernels are packed SIMD: looks at the machine code of stream_triad, whose lanes
work on packs, of a kernel with one element per lane, where the loop over work-items itself must have become vectors, of the peak
kernels, whose loops must leave memory alone, and of the matrix product, whose loop must keep its sums in registers; for every level
of x86-64 that this processor has, because smaller registers are fewer, too."""
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from harness import PROGRAM, check, finish, run, scratch  # noqa: E402

SOURCE = """#include "portable.h"
extern "C" __global__ void axpy(T *a, const T *b, const T *c, T s, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + s * c[i];
}
"""
MANIFEST = {
    "name": "axpy", "summary": "one element per lane", "params": {"n": 4096, "dtype": "f32"},
    "code": {"source": "axpy.hip", "symbol": "axpy", "defines": {"T": "{ctype(dtype)}"}},
    "buffers": {"a": {"type": "{dtype}", "count": "n", "role": "out"}, "b": {"type": "{dtype}", "count": "n", "role": "in", "fill": "i % 7"},
                "c": {"type": "{dtype}", "count": "n", "role": "in", "fill": "i % 5"}},
    "launch": {"grid": ["ceil_div(n, 256)"], "block": [256],
               "args": ["a", "b", "c", {"value": "3", "type": "{dtype}"}, {"value": "n", "type": "u64"}]},
    "check": {"expect": {"a": "i % 7 + 3 * (i % 5)"}}}
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
ARITHMETIC = re.compile(r"^v?(?:fn?m(?:add|sub)\d*|add|mul)([ps])([sdh])$")
LETTERS = {"f32": "s", "f64": "d", "f16": "h", "i8": "i", "bf16": "b"}
DOTS = {"vpdpbusd": "i", "vdpbf16ps": "b"}
VECTOR = re.compile(r"%([xyz])mm\d")
MEMORY, STACK = "(", "(%rsp"  # what operands of loads, stores and spills have


def flags_of_processor():
    path = pathlib.Path("/proc/cpuinfo")
    return set(path.read_text(encoding="utf-8").split()) if path.exists() else set()


FLAGS = flags_of_processor()
# The widest register, chains of fma_peak and sums of gemm_register in registers, and a flag that every processor of the level has.
LEVELS = {"x86-64-v4": ("z", 24, 24, "avx512bw"), "x86-64-v3": ("y", 12, 12, "avx2"), "x86-64": ("x", 12, 8, "sse2")}


def loops(listing):
    """Bodies of innermost loops: from the target of a backward jump to the jump, with no other such jump inside."""
    code = [(int(m[1], 16), m[2], m[3].split("#")[0]) for m in map(LINE.match, listing.splitlines()) if m]
    spans = []
    for address, name, operands in code:
        target = re.match(r"(?:0x)?([0-9a-f]+)\b", operands) if name.startswith("j") else None
        if target and code[0][0] <= int(target[1], 16) <= address:
            spans.append((int(target[1], 16), address))
    inner = [s for s in spans if not any(t != s and s[0] <= t[0] and t[1] <= s[1] for t in spans)]
    return [[(name, operands) for at, name, operands in code if first <= at <= last] for first, last in inner]


def arithmetic(body, letter):
    """How many packed and scalar operations on this type the loop has, and the register they work on."""
    packed, scalar, width = 0, 0, ""
    for name, operands in body:
        found = ARITHMETIC.match(name)
        if DOTS.get(name, found and found[2]) != letter:
            continue
        if name in DOTS or found[1] == "p":
            packed += 1
            width = max([width, *VECTOR.findall(operands)])
        else:
            scalar += 1
    return packed, scalar, width


def touches(body, what):
    return any(VECTOR.search(operands) and what in operands for _, operands in body)


def verdict(listing, letter, depth, avoids=None):
    """The widest register of a loop that does `depth` packed operations and no single ones, on memory as it lies, and avoids memory
    or the stack; or nothing. That is the tile loop, which has the time; what is left at the end of a slice may be slower."""
    found = [""]
    for body in loops(listing):
        packed, scalar, width = arithmetic(body, letter)
        if avoids and touches(body, avoids):
            continue
        if packed >= depth and not scalar and not any("gather" in name or "scatter" in name for name, _ in body):
            found.append(width)
    return max(found)


def disassemble(tool, path):
    return subprocess.run([tool, "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout


def the_judge_can_say_no():
    scalar = "10: vmovss (%rax), %xmm0\n14: vfmadd213ss %xmm1, %xmm2, %xmm0\n18: addq $4, %rax\n1c: jne 0x10 <f+0x10>\n"
    packed = scalar.replace("ss", "ps").replace("xmm", "zmm")
    check(verdict(packed, "s", 1) == "z", "a packed loop is not seen")
    check(not verdict(scalar, "s", 1), "a scalar loop counts as packed")
    check(not verdict(packed, "d", 1), "another type's loop counts")
    check(not verdict(packed, "s", 2), "one operation counts as two")
    check(not verdict(packed.replace("jne", "nop"), "s", 1), "code outside of loops counts")
    check(not verdict(packed.replace("vmovps", "vgatherqps"), "s", 1), "gathered vectors count")
    check(not verdict(packed, "s", 1, MEMORY), "a load is not seen")
    check(verdict(packed.replace("(%rax)", "%zmm7"), "s", 1, MEMORY) == "z", "registers are not seen")
    check(verdict(packed, "s", 1, STACK) == "z", "a load counts as a spill")
    check(not verdict(packed.replace("(%rax)", "0x40(%rsp)"), "s", 1, STACK), "a spill is not seen")
    check(verdict(packed.replace("vfmadd213ps", "vpdpbusd"), "i", 1) == "z", "a dot product is not seen")


def built(home, kernel, *settings, device="cpu"):
    """The object of the kernel."""
    done = run("build", kernel, "-v", "--device", device, "--kernels", "k", *settings, home=home)
    objects = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("/") and "_reference-" not in line]
    check(done.returncode == 0 and len(objects) == 1, f"{kernel} {settings}: build -v names no object:\n{done.stdout}{done.stderr}")
    return objects[:1]


def reads_lds_once(home, tool):
    """A read of 16 bytes is one instruction: keep() takes a vector as it is, not word by word."""
    for path in built(home, "lds_read"):
        listing = disassemble(tool, path)
        reads = [[operands for name, operands in body if "(" in operands and not name.startswith("nop")] for body in loops(listing)]
        check(any(len(read) == 8 and all("%xmm" in operands for operands in read) for read in reads), f"lds_read: accesses of all loops: {reads}")


def look_at(home, tool, level, kernel, values, depth, avoids=None):
    settings = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    what = f"{kernel} {' '.join(settings)} for {level}"
    objects = built(home, kernel, *settings, device=f"cpu:level={level}")
    if not objects:
        return
    listing = disassemble(tool, objects[0])
    letter, widest = LETTERS[values["dtype"]], LEVELS[level][0]
    found = verdict(listing, letter, depth, avoids)
    check(found == widest, f"{what}: packed arithmetic in registers '{found}mm', the level has {widest}mm; packed, scalar and width of all "
          f"loops of {objects[0]}: {[arithmetic(body, letter) for body in loops(listing)]}")


def look_at_level(home, tool, level):
    """Sums of a matrix product: TM rows of two packs of columns, and K is unrolled by four."""
    peaks, sums = LEVELS[level][1:3]
    for dtype, size in (("f32", 4), ("f64", 8)):
        look_at(home, tool, level, "stream_triad", {"dtype": dtype}, 8)
        look_at(home, tool, level, "stream_triad", {"dtype": dtype, "nt_from": 1}, 8)
        look_at(home, tool, level, "stream_triad", {"dtype": dtype, "WIDTH": size, "DEPTH": 1}, 1)
        if level != "x86-64":  # a vector of elements that may be beyond the end needs masked stores
            look_at(home, tool, level, "axpy", {"dtype": dtype}, 1)
        look_at(home, tool, level, "fma_peak", {"dtype": dtype}, peaks, MEMORY)
        look_at(home, tool, level, "gemm_register", {"dtype": dtype}, 4 * sums, STACK)


def main():
    tool = next((t for t in ("llvm-objdump-19", "llvm-objdump", "objdump") if shutil.which(t)), None)
    if not tool or platform.machine() != "x86_64":
        print("needs objdump and an x86-64 processor")
        sys.exit(77)
    the_judge_can_say_no()
    with scratch() as folder:
        home = pathlib.Path(folder)
        (home / "k").mkdir()
        (home / "k/axpy.hip").write_text(SOURCE)
        (home / "k/axpy.json").write_text(json.dumps(MANIFEST))
        reads_lds_once(home, tool)
        for level, facts in LEVELS.items():
            if facts[3] in FLAGS:
                look_at_level(home, tool, level)
        for kernel, dtype, depth, feature in (("fma_peak", "f16", 24, "avx512_fp16"), ("dot_peak", "i8", 48, "avx512_vnni"),
                                              ("dot_peak", "bf16", 48, "avx512_bf16")):
            if feature in FLAGS:
                look_at(home, tool, "x86-64-v4", kernel, {"dtype": dtype}, depth, MEMORY)
    finish()


if __name__ == "__main__":
    sys.exit("the program is missing: test_simd.py PROGRAM" if not PROGRAM else main())
