# SPDX-License-Identifier: MIT
"""HIP as people write it: the kernels of hip/, in the style of tutorials and with none of our headers, are verified on the CPU device in
three orders of work-items, at both sizes of a wave, and compile for AMD GPUs without ROCm. Their manifests call them by their plain names
and fit their code objects. What plain HIP may not have is an error that says what to write instead."""
import json
import re
import sys

import objects
from objects import harness

check = harness.check
FOLDER = objects.FOLDER / "hip"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))

KERNEL = "a kernel begins with extern \"C\" __global__ (in plain HIP __global__ is enough) and is no template: make the template a __device__"
HOST = "between #ifndef __HIP_DEVICE_COMPILE__ and #endif"
# Source, what the error says on the CPU and for gfx942; None: it compiles.
MISTAKES = {
    "template": ("template <int B> __global__ void k(float *a) { a[threadIdx.x] = B; }", KERNEL, KERNEL),
    "launch": ("__global__ void k(float *a) { a[0] = 1; }\nvoid start(float *a) { k<<<1, 64>>>(a); }", HOST, HOST),
    "host": ("__global__ void k(float *a) { a[0] = 1; }\nvoid start(float *a) { hipMalloc(&a, 4); }", HOST, HOST),
    "groups": ("#include <hip/hip_cooperative_groups.h>\n__global__ void k(float *a) { a[0] = 1; }", "write __syncthreads()", "write __syncthreads()"),
    "instruction": ("__global__ void k(float *a) { a[0] = __builtin_amdgcn_rcpf(a[0]); }", "#if defined(__AMDGCN__)", None),
    "printf": ("#include <cstdio>\n__global__ void k(float *a) { printf(\"%f\", a[0]); }", None, "store what is to be seen in a buffer"),
    "function": ("#include <cmath>\n__global__ void k(float *a) { a[0] = lgammaf(a[0]); }", None, "hip/hip_math.h lists those that they have"),
    "twice": ("#include \"portable.h\"\n#include <hip/hip_runtime.h>\n__global__ void k(float *a) { a[0] = 1; }",
              "include hip/hip_runtime.h, which has all of portable.h, first or alone", None),
}


def verified_on_the_cpu(home):
    check(len(NAMES) > 20, f"only {len(NAMES)} kernels")
    for wave in (64, 32):
        done = harness.run("check", *NAMES, "--kernels", FOLDER, "--run", "--orders", "--device", f"cpu:wave={wave}", home=home)
        harness.check_run(done, 0, f"check --run --orders at waves of {wave}")
        check(done.stdout.count(f"{len(NAMES)} kernels: {len(NAMES)} verified") == 3, done.stdout)


def the_readme_is_right(home):
    """kernels/README.md, "HIP as you wrote it": its two files."""
    text = (harness.ROOT / "kernels/README.md").read_text(encoding="utf-8")
    for name in ("saxpy.hip", "saxpy.json"):
        block = re.search(rf"^`{name}`\n\n((?:    .*\n|\n)+)", text, re.M)
        (home / name).write_text(re.sub(r"^    ", "", block[1], flags=re.M))
    harness.check_run(harness.run("check", "saxpy", "--kernels", ".", "--run", "--orders", "--device", "cpu", home=home), 0, "saxpy of the README")


def compile_for_gpus(home):
    """A sample compiles each kernel for one CDNA and one RDNA."""
    known = {row["target"] for row in objects.targets_of(objects.clang(), home)} if objects.clang() else set()
    for family in (["gfx942", "gfx90a", "gfx950"], ["gfx1201", "gfx1100"]):
        targets = [target for target in family if target in known]
        for number, target in enumerate(targets):
            names = NAMES if objects.EVERYTHING else NAMES[number::len(targets)]
            done = harness.run("check", *names, "--kernels", FOLDER, "--arch", target, home=home, ROOFTILE_KERNEL_COMPILER=objects.clang())
            harness.check_run(done, 0, f"check --arch {target}")
            print(f"{target}: {len(names)} of {len(NAMES)} kernels")


def mistakes_are_explained(home):
    manifest = {"summary": "a mistake", "buffers": {"a": {"type": "f32", "count": "64", "role": "out"}},
                "launch": {"grid": [1], "block": [64], "args": ["a"]}, "work": {"items": "1"}, "check": {"expect": {"a": "0"}}}
    folder = home / "mistakes"
    folder.mkdir()
    for mistake, (source, on_cpu, on_gpu) in MISTAKES.items():
        name = f"mistake_{mistake}"
        includes = "" if "portable.h" in source else "#include <hip/hip_runtime.h>\n"
        (folder / f"{name}.hip").write_text(f"{includes}{source}\n")
        (folder / f"{name}.json").write_text(json.dumps({"name": name, **manifest, "code": {"source": f"{name}.hip", "symbol": "k"}}))
        for want, where in ((on_cpu, ["--device", "cpu"]), (on_gpu, ["--arch", "gfx942"])):
            if "gfx942" in where and not objects.clang():
                continue
            done = harness.run("build", name, "--kernels", folder, *where, home=home, ROOFTILE_KERNEL_COMPILER=objects.clang())
            check(done.returncode == (1 if want else 0), f"{name} {where}: exit {done.returncode}: {done.stdout}{done.stderr}")
            check(not want or want in done.stdout + done.stderr, f"{name} {where}: not '{want}': {done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(harness.main(verified_on_the_cpu, the_readme_is_right, compile_for_gpus, mistakes_are_explained))
