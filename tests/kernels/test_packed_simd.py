# SPDX-License-Identifier: MIT
"""stream_triad's code for the CPU is packed SIMD: in the loop over whole tiles every addition and every store works on full
vector registers, and the FMA kernel keeps its operands in registers."""
import pathlib
import platform
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import harness  # noqa: E402


def build(kernel, source, home, *settings):
    cache = pathlib.Path(home) / kernel
    done = harness.run("build", kernel, "--device", "cpu", "--cache", cache, *settings, home=home)
    harness.check_run(done, 0, f"build {kernel}")
    objects = sorted(cache.glob(f"{source}-*.so"))
    harness.check(len(objects) == 1, f"{kernel}: {len(objects)} shared objects")
    return objects[0] if objects else None


def instructions(path, symbol):
    """The function's instructions as (address, text)."""
    text = harness.subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True,
                                  check=True).stdout
    body = re.search(rf"^[0-9a-f]+ <[^>]*{symbol}[^>]*>:\n(.*?)(?:\n\n|\Z)", text, flags=re.M | re.S)
    harness.check(body is not None, f"{path.name} has no {symbol}")
    lines = re.findall(r"^\s*([0-9a-f]+):\s+(.*?)\s*$", body[1], flags=re.M) if body else []
    return [(int(address, 16), line) for address, line in lines]


def loops(code):
    """Bodies of innermost loops: from the target of a backward jump to the jump, with no jump back inside."""
    found = []
    for at, (address, line) in enumerate(code):
        jump = re.match(r"j\w+\s+([0-9a-f]+)", line)
        if not jump or int(jump[1], 16) > address:
            continue
        begin = next((k for k, (start, _) in enumerate(code) if start == int(jump[1], 16)), None)
        if begin is not None:
            body = [text for _, text in code[begin:at]]
            if not any(re.match(r"j", text) for text in body):
                found.append(body)
    return found


def check_triad(home, dtype):
    path = build("stream_triad", "stream", home, "--set", f"dtype={dtype}")
    if not path:
        return
    suffix = "pd" if dtype == "f64" else "ps"
    best = 0
    for body in loops(instructions(path, "simt_plain_stream_triad")):
        packed = [line for line in body if re.match(rf"v?(fmadd\d+|add|mul){suffix}\b", line)]
        scalar = [line for line in body if re.match(r"v?\w+s[sd]\s+.*%xmm", line) and "mov" not in line]
        stores = [line for line in body if re.search(r"%[xyz]mm\d+,[^%]*\(", line)]
        if packed and not scalar and stores:
            best = max(best, len(packed))
    harness.check(best >= 4, f"stream_triad {dtype}: no loop of packed arithmetic and stores in {path.name}")


def check_fma(home):
    path = build("fma_peak", "fma_peak", home)
    if not path:
        return
    best = 0
    for body in loops(instructions(path, "simt_plain_fma_peak")):
        fused = [line for line in body if re.match(r"vfn?madd\w+p[sd]", line)]
        memory = [line for line in body if "mm" in line and "(" in line]
        if fused and not memory:
            best = max(best, len(fused))
    harness.check(best >= 16, f"fma_peak: no loop of fused multiply-adds on registers alone in {path.name}")


def main():
    if platform.machine() != "x86_64":
        print(f"skipped: the patterns are x86-64's, this is {platform.machine()}")
        return 77
    if not shutil.which("objdump"):
        print("skipped: there is no objdump")
        return 77
    with harness.scratch() as home:
        for dtype in ("f32", "f64"):
            folder = pathlib.Path(home) / dtype
            folder.mkdir()
            check_triad(folder, dtype)
        check_fma(home)
    return harness.finish()


sys.exit(main())
