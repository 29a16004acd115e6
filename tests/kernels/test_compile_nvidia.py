# SPDX-License-Identifier: MIT
"""Every kernel compiles for NVIDIA GPUs. Needs no GPU, and not both compilers:
  - nvcc, where there is one: cubins for sm_90a, sm_80 and sm_100a, as far as it knows them, that keep all they have in registers
    (no stack frame, unless the manifest has the tag "scratch")
  - clang from LLVM 19 on, where there is one: PTX for sm_90a and sm_80, without a CUDA toolkit, that calls nothing, has no arrays
    outside of registers, and has the instructions that the measured loops are about. Where ptxas is at hand it must take that PTX
    and keep all in registers too.
At the defaults; with ROOFTILE_TEST_ALL=1 in every dtype."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import harness  # noqa: E402

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
    "service_hold": [r"ld\.relaxed\.sys\.", r"st\.release\.sys\.", r"nanosleep"],
    "service_clock": [r"%clock64"],
}


# Settings of `build` that the defaults leave out, for all types that tensor cores take.
MATRIX_SETTINGS = {("dtype=bf16,xf32,f16",): ["gemm_matrix"], ("dtype=i8", "total=i32", "BK=64"): ["gemm_matrix"],
                   ("dtype=f64", "total=f64", "BK=16", "BM=128", "BN=64"): ["gemm_matrix"],
                   ("dtype=e4m3", "BK=64", "BM=128", "BN=64"): ["gemm_matrix"],
                   ("dtype=bf16", "D=64,128,256"): ["attention_prefill", "attention_decode"]}


def read_kernels(all_dtypes):
    """({("dtype=f32,f64",): [names]} from the manifests' limits; () for those with no choice of dtypes, sources that may use a stack)"""
    groups, stacks = {}, set()
    for path in sorted((harness.ROOT / "kernels").glob("*/*.json")):
        manifest = harness.read_manifest(path)
        if "oracle" in manifest.get("tags", []) or "source" not in manifest.get("code", {}):
            continue
        dtypes = manifest.get("limits", {}).get("dtype", []) if all_dtypes else []
        groups.setdefault(("dtype=" + ",".join(dtypes),) if dtypes else (), []).append(manifest["name"])
        if "scratch" in manifest.get("tags", []):
            stacks.add(pathlib.Path(manifest["code"]["source"]).stem)
    return groups, stacks


def without_nvcc():
    """An environment in which only clang is found."""
    folders = [folder for folder in os.environ["PATH"].split(os.pathsep) if not (pathlib.Path(folder) / "nvcc").exists()]
    return {"PATH": os.pathsep.join(folders), "CUDA_HOME": "/nonexistent"}


def known_targets(wanted, home, **environment):
    done = harness.run("list", "--targets", "--json", "-", home=home, **environment)
    harness.check_run(done, 0, "list --targets")
    rows = {row["target"]: row for row in json.loads(done.stdout) if row["compiler"]}
    return [target for target in wanted if target in rows], rows


def build(target, groups, suffix, home, **environment):
    """Paths of the code objects of all kernels."""
    objects, cache = set(), pathlib.Path(home) / f"{target}-{suffix}"
    for settings, names in groups.items():
        words = [word for setting in settings for word in ("--set", setting)]
        done = harness.run("build", *names, "--arch", target, *words, "--jobs", 2, "--cache", cache, "-v", home=home, timeout=600,
                           **environment)
        harness.check_run(done, 0, f"build {len(names)} kernels {' '.join(words)} --arch {target}")
        objects |= set(re.findall(rf"^ +(\S+\.{suffix})$", done.stdout, flags=re.M))
    harness.check(len(objects) > 20, f"{target}: only {len(objects)} code objects")
    return sorted(objects)


def stem_of(path):
    return pathlib.Path(path).name.rsplit("-", 1)[0]


def inspect(objects, target, home):
    """(path, kernel) of each, as `rooftile inspect` reads them."""
    done = harness.run("inspect", *objects, "--json", "-", home=home)
    harness.check_run(done, 0, f"inspect {len(objects)} objects for {target}")
    for file in json.loads(done.stdout)["files"] if done.returncode == 0 else []:
        for code in file["objects"]:
            harness.check(code["target"] == target, f"{file['path']}: is for {code['target']}, not {target}")
            for kernel in code["kernels"]:
                yield file["path"], kernel


def check_cubins(objects, target, stacks, home):
    count = 0
    for path, kernel in inspect(objects, target, home):
        what = f"nvcc {target} {stem_of(path)} {kernel['name']}"
        harness.check(0 < kernel["registers"]["vgprs"] <= 255, f"{what}: {kernel['registers']['vgprs']} registers")
        harness.check(stem_of(path) in stacks or kernel["scratch_bytes"] == 0, f"{what}: a stack of {kernel['scratch_bytes']} bytes")
        count += 1
    print(f"nvcc {target}: {len(objects)} code objects, {count} kernels", flush=True)


def check_text(path, target, stacks):
    """What the PTX of one source says by itself."""
    what, text = f"clang {target} {stem_of(path)}", pathlib.Path(path).read_text()
    harness.check(re.search(rf"^\.target {target}$", text, flags=re.M), f"{what}: no '.target {target}'")
    harness.check(stem_of(path) in stacks or not re.search(r"^\s*\.local\s", text, flags=re.M), f"{what}: an array outside of registers")
    harness.check(not re.search(r"^\s*(?:\.func|call)\b", text, flags=re.M), f"{what}: a function that is called")
    return text


def check_instructions(texts, target):
    for stem, wanted in INSTRUCTIONS.items():
        harness.check(stem in texts, f"clang {target}: nothing was compiled of {stem}")
        for pattern in wanted if stem in texts else []:
            harness.check(re.search(pattern, texts[stem]), f"clang {target} {stem}: no instruction like {pattern}")


def assemble(ptxas, path, target, stacks):
    done = subprocess.run([ptxas, "-v", f"-arch={target}", "-o", "/dev/null", path], capture_output=True, text=True, timeout=300)
    what = f"ptxas {target} {stem_of(path)}"
    harness.check(done.returncode == 0, f"{what}: exit {done.returncode}\n{done.stderr[-1500:]}")
    for kernel, stack in re.findall(r"Function properties for (\S+)\n\s+(\d+) bytes stack frame", done.stderr):
        harness.check(stem_of(path) in stacks or int(stack) == 0, f"{what} {kernel}: a stack of {stack} bytes")


def check_ptx(objects, target, stacks, home):
    texts, count = {}, 0
    for path in objects:
        texts[stem_of(path)] = texts.get(stem_of(path), "") + check_text(path, target, stacks)
    check_instructions(texts, target)
    for path, kernel in inspect(objects, target, home):
        harness.check(kernel["registers"]["vgprs"] is None, f"{path} {kernel['name']}: PTX cannot tell how many registers")
        count += 1
    ptxas = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
    if ptxas:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda path: assemble(ptxas, path, target, stacks), objects))
    print(f"clang {target}: {len(objects)} sources to PTX, {count} kernels, {'by' if ptxas else 'not by'} ptxas", flush=True)


def main():
    with harness.scratch() as home:
        groups, stacks = read_kernels(bool(os.environ.get("ROOFTILE_TEST_ALL")))
        with_nvcc, rows = known_targets(NVCC_TARGETS, home)
        with_nvcc = [target for target in with_nvcc if rows[target]["llvm"] == 0]
        alone = without_nvcc()
        with_clang, _ = known_targets(CLANG_TARGETS, home, **alone)
        if not with_nvcc and not with_clang:
            print("skipped: there is no nvcc, and no clang from LLVM 19 on, that knows one of " + ", ".join(NVCC_TARGETS))
            return 77
        for target in with_clang:
            check_ptx(build(target, groups, "ptx", home, **alone), target, stacks, home)
        for target in with_nvcc:
            check_cubins(build(target, groups | MATRIX_SETTINGS, "cubin", home), target, stacks, home)
    return harness.finish()


sys.exit(main())
