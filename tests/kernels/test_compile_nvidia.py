# SPDX-License-Identifier: MIT
"""Every kernel compiles for NVIDIA GPUs. Needs no GPU, and not both compilers:
  - nvcc, where there is one: cubins for sm_90a, sm_80 and sm_100a, as far as it knows them, that keep all they have in registers
    (no stack frame, unless the manifest has the tag "scratch")
  - clang from LLVM 19 on, where there is one: PTX for sm_90a and sm_80, without a CUDA toolkit, that calls nothing, has no arrays
    outside of registers, and has the instructions that the measured loops are about. Where ptxas is at hand it must take that PTX
    and keep all in registers too.
Every second source, and all whose instructions are looked for, at their defaults for one target; with ROOFTILE_TEST_ALL=1 in every type for all of them."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import objects
from objects import harness, stem_of

NVCC_TARGETS = ["sm_90a", "sm_80", "sm_100a"]
CLANG_TARGETS = ["sm_90a", "sm_80"]

# What PTX of a source must hold, wherever the source is compiled for.
INSTRUCTIONS = {
    "stream": [r"ld\.global\.(?:nc\.|cs\.)?v[24]\.", r"st\.global\.(?:cs\.)?v[24]\."],
    "lds": [r"ld\.shared\.v[24]\.", r"st\.shared\.v[24]\."],
    "atomic": [r"(?:atom|red)\.(?:relaxed\.\w+\.)?(?:global|shared)\."],
    "fma_peak": [r"fma\.rn\.f32"],
    "dot_peak": [r"dp4a\.s32\.s32"],
    "matrix_peak": [r"mma\.sync\.aligned\.m16n8k"],
    "matrix_chain": [r"mma\.sync\.aligned\.m16n8k"],
    "matrix_overlap": [r"mma\.sync\.aligned\.m16n8k"],
    "gemm_matrix": [r"mma\.sync\.aligned\.m16n8k"],
    "moe_gemm": [r"mma\.sync\.aligned\.m16n8k"],
    "conv_implicit": [r"mma\.sync\.aligned\.m16n8k"],
    "attention_prefill": [r"mma\.sync\.aligned\.m16n8k", r"ld\.global\.(?:nc\.)?v[24]\.", r"ld\.shared\.v4\.", r"cvt\.rn\.f16x2\.f32", r"ex2\.approx\."],
    "attention_decode": [r"mma\.sync\.aligned\.m16n8k", r"ld\.global\.(?:nc\.)?v[24]\.", r"ld\.shared\.v4\.", r"cvt\.rn\.f16x2\.f32"],
    "softmax": [r"ex2\.approx\."],
    "lane_exchange": [r"shfl\.sync\.\w+\.b32"],
    "op_chain": [r"(?:ex2|lg2|rsqrt|sin|rcp|sqrt)\.approx\."],
    "service_blocking": [r"ld\.relaxed\.sys\.", r"st\.release\.sys\.", r"nanosleep"],
    "service_clock": [r"%clock64"],
}


# Parameters that the defaults leave out, for all types that tensor cores take.
MATRIX = [("gemm_matrix", {"dtype": "bf16"}), ("gemm_matrix", {"dtype": "xf32"}), ("gemm_matrix", {"dtype": "i8", "total": "i32", "BK": 64}),
          ("gemm_matrix", {"dtype": "f64", "total": "f64", "BK": 16, "BM": 128, "BN": 64}),
          ("gemm_matrix", {"dtype": "e4m3", "BK": 64, "BM": 128, "BN": 64})]
MATRIX += [(name, {"dtype": "bf16", "D": size}) for name in ("attention_prefill", "attention_decode") for size in (64, 128, 256)]


def orders_for(kernels, targets, more):
    """Of a sample every second source, and those in INSTRUCTIONS, for one target, at the defaults; else all for all, in every type."""
    orders = objects.Orders()
    for kernel in kernels:
        if not objects.EVERYTHING and kernel.number % 2 and kernel.stem not in INSTRUCTIONS:
            continue
        for target in targets if objects.EVERYTHING else [targets[kernel.number % len(targets)]]:
            for params in objects.variants(kernel) if objects.EVERYTHING else [{}]:
                orders.add(target, 32, 0, kernel.name, params)
    for number, case in enumerate(more):
        for target in targets if objects.EVERYTHING else [targets[number % len(targets)]]:
            orders.add(target, 32, 0, *case)
    return orders


def without_nvcc():
    """An environment in which only clang is found."""
    folders = [folder for folder in os.environ["PATH"].split(os.pathsep) if not (pathlib.Path(folder) / "nvcc").exists()]
    return {"PATH": os.pathsep.join(folders), "CUDA_HOME": "/nonexistent"}


def inspect(paths, target, home):
    """(path, kernel) of each, as `rooftile inspect` reads them."""
    done = harness.run("inspect", *paths, "--json", "-", home=home)
    harness.check_run(done, 0, f"inspect {len(paths)} objects for {target}")
    for file in json.loads(done.stdout)["files"] if done.returncode == 0 else []:
        for code in file["objects"]:
            harness.check(code["target"] == target, f"{file['path']}: is for {code['target']}, not {target}")
            for kernel in code["kernels"]:
                yield file["path"], kernel


def check_cubins(made, target, stacks, home):
    count = 0
    for path, kernel in inspect(made, target, home):
        what = f"nvcc {target} {stem_of(path)} {kernel['name']}"
        harness.check(0 < kernel["registers"]["vgprs"] <= 255, f"{what}: {kernel['registers']['vgprs']} registers")
        harness.check(stem_of(path) in stacks or kernel["scratch_bytes"] == 0, f"{what}: a stack of {kernel['scratch_bytes']} bytes")
        count += 1
    print(f"nvcc {target}: {len(made)} code objects, {count} kernels", flush=True)


def check_text(path, target, stacks):
    """What the PTX of one source says by itself."""
    what, text = f"clang {target} {stem_of(path)}", pathlib.Path(path).read_text()
    harness.check(re.search(rf"^\.target {target}$", text, flags=re.M), f"{what}: no '.target {target}'")
    harness.check(stem_of(path) in stacks or not re.search(r"^\s*\.local\s", text, flags=re.M), f"{what}: an array outside of registers")
    harness.check(not re.search(r"^\s*(?:\.func|call)\b", text, flags=re.M), f"{what}: a function that is called")
    return text


def check_instructions(texts, target):
    for stem in INSTRUCTIONS.keys() & texts.keys():
        for pattern in INSTRUCTIONS[stem]:
            harness.check(re.search(pattern, texts[stem]), f"clang {target} {stem}: no instruction like {pattern}")


def assemble(ptxas, path, target, stacks):
    done = subprocess.run([ptxas, "-v", f"-arch={target}", "-o", "/dev/null", path], capture_output=True, text=True, timeout=300)
    what = f"ptxas {target} {stem_of(path)}"
    harness.check(done.returncode == 0, f"{what}: exit {done.returncode}\n{done.stderr[-1500:]}")
    for kernel, stack in re.findall(r"Function properties for (\S+)\n\s+(\d+) bytes stack frame", done.stderr):
        harness.check(stem_of(path) in stacks or int(stack) == 0, f"{what} {kernel}: a stack of {stack} bytes")


def check_ptx(made, target, stacks, home):
    """The stems of the sources."""
    texts, count = {}, 0
    for path in made:
        texts[stem_of(path)] = texts.get(stem_of(path), "") + check_text(path, target, stacks)
    check_instructions(texts, target)
    for path, kernel in inspect(made, target, home):
        harness.check(kernel["registers"]["vgprs"] is None, f"{path} {kernel['name']}: PTX cannot tell how many registers")
        count += 1
    ptxas = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
    if ptxas:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda path: assemble(ptxas, path, target, stacks), made))
    print(f"clang {target}: {len(made)} sources to PTX, {count} kernels, {'by' if ptxas else 'not by'} ptxas", flush=True)
    return set(texts)


def check_compiler(what, kernels, targets, more, home, **environment):
    """PTX of clang, cubins of nvcc."""
    orders = orders_for(kernels, targets, more)
    whole = len(targets) * (sum(len(objects.variants(kernel)) for kernel in kernels) + len(more))
    objects.say_sampled(len(orders), whole, f"kernels, types and targets with {what}")
    stacks, seen = {kernel.stem for kernel in kernels if kernel.may_spill}, set()
    for key, cases in orders.asked.items():
        made, _ = objects.build(home, key, cases, **environment)
        made = sorted(path for path in made if path.suffix == (".ptx" if what == "clang" else ".cubin"))
        harness.check(len(made) > 10, f"{what} {key[0]}: only {len(made)} code objects")
        if what == "clang":
            seen |= check_ptx(made, key[0], stacks, home)
        else:
            check_cubins(made, key[0], stacks, home)
    harness.check(what != "clang" or INSTRUCTIONS.keys() <= seen, f"nothing was compiled of {INSTRUCTIONS.keys() - seen}")


def main():
    with harness.scratch() as home:
        kernels = objects.read_kernels(home)
        rows = {row["target"]: row for row in objects.targets_of(None, home)}
        with_nvcc = [target for target in NVCC_TARGETS if target in rows and rows[target]["llvm"] == 0]
        alone = without_nvcc()
        rows = {row["target"] for row in objects.targets_of(None, home, **alone)}
        with_clang = [target for target in CLANG_TARGETS if target in rows]
        if not with_nvcc and not with_clang:
            print("skipped: there is no nvcc, and no clang from LLVM 19 on, that knows one of " + ", ".join(NVCC_TARGETS))
            return 77
        if with_clang:
            check_compiler("clang", kernels, with_clang, [], home, **alone)
        if with_nvcc:
            check_compiler("nvcc", kernels, with_nvcc, MATRIX, home)
    return harness.finish()


if __name__ == "__main__":
    sys.exit(main())
