# SPDX-License-Identifier: MIT
"""Kernels that are functions of a library, on a stand-in for OpenBLAS; ratios to them."""
import json
import os
import pathlib

from harness import CLANG, PROGRAM, QUICK, ROOT, check, check_run, load, main, run

DOUBLES = pathlib.Path(os.environ.get("ROOFTILE_TEST_DOUBLES") or (PROGRAM.parent.parent / "tests/double" if PROGRAM else "."))
FAKE = {"ROOFTILE_OPENBLAS": str(DOUBLES / "libfake_openblas.so")}
SHORT = ["--min-time", "1us", "--max-time", "1ms", "-q"]
SUITE = {"name": "s", "defaults": {"params": {"n": 33, "k": 17}},
         "cases": [{"kernel": "gemm_naive", "sweep": {"m": [8, 24, 40]}}, {"kernel": "gemm_library", "sweep": {"m": [8, 24]}}],
         "derive": [{"name": "of library", "method": "ratio", "kernel": "gemm_naive", "to": "gemm_library", "y": "flops_per_s"}]}


def library(home):
    done = run("check", "--run", "gemm_library", "--device", "cpu:threads=1", home=home, **FAKE)
    check_run(done, 0, "check on the stand-in")
    check("1 kernel: 1 verified, 0 wrong or broken, 0 skipped" in done.stdout, done.stdout)
    done = run("check", "--inject-faults", "gemm_library", home=home, **FAKE)
    check_run(done, 0, "check --inject-faults on the stand-in")
    (home / "s.json").write_text(json.dumps(SUITE))
    done = run("run", home / "s.json", *SHORT, "--device", "cpu:threads=1", "--out", home / "out.json", home=home, **FAKE)
    check_run(done, 0, "run on the stand-in")
    check("of library: gemm_naive " in done.stdout.replace("\n  ", " ") and "1 without a counterpart" in done.stdout.replace("\n  ", " "), done.stdout)
    check("gemm_library is FakeBLAS for 1, 1 thread\n" in done.stdout, done.stdout)
    result = load(home / "out.json")
    for case in result["cases"]:
        said = case["code"].get("library")
        check(said == ("FakeBLAS for 1, 1 thread" if case["kernel"] == "gemm_library" else None), f"{case['id']}: library {said}")
    value = result["derived"][0]["value"]
    check(len(value["points"]) == 2 and value["unmatched"] == 1, f"{value}")


OWN = {"name": "own", "summary": "s", "params": {"n": 16}, "code": {"source": "own.hip", "symbol": "doubled", "defines": {"FACTOR": "2"}},
       "buffers": {"d": {"type": "f32", "count": "n * n", "role": "out"}, "e": {"type": "f32", "count": "n * n", "role": "out"},
                   "a": {"type": "f32", "count": "n * n", "role": "in", "fill": "i % 5"}},
       "steps": [{"launch": {"library": "openblas", "symbol": "gemm_f32_f32", "grid": [1], "block": [1],
                             "args": ["d", "a", "a", "a", *[{"value": "n", "type": "u32"}] * 6, *[{"value": "0", "type": "u64"}] * 3,
                                      {"value": "1", "type": "f64"}, {"value": "0", "type": "f64"}, *[{"value": "0", "type": "u32"}] * 2,
                                      {"value": "1", "type": "u32"}]}},
                 {"launch": {"grid": ["n"], "block": ["n"], "args": ["e", "a"]}}],
       "work": {"read": "4 * n * n"}}


def beside_own(home):
    """A launch of a library's function beside one of our own code."""
    (home / "k").mkdir()
    (home / "k/own.hip").write_text('#include "portable.h"\nextern "C" __global__ void doubled(float *e, const float *a)\n'
                                    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; e[i] = FACTOR * a[i]; }\n")
    expected = {"d": {"expr": " + ".join(f"((floor(i / n) * n + {k}) % 5) * (({k} * n + i % n) % 5)" for k in range(16)), "abs": "0"}, "e": "2 * (i % 5)"}
    (home / "k/own.json").write_text(json.dumps(OWN | {"check": {"expect": expected}}))
    done = run("check", "--run", "own", "--kernels", "k", "--device", "cpu:threads=1", home=home, cwd=home, **FAKE)
    check_run(done, 0, "a library beside own code")
    check("1 verified" in done.stdout, done.stdout)
    done = run("check", "--run", "own", "--kernels", "k", "--device", "cpu", home=home, cwd=home, ROOFTILE_OPENBLAS="/nowhere.so")
    check("the device has no openblas" in done.stdout, done.stdout)


def missing(home):
    done = run("run", "gemm_library", "--device", "cpu", "--quick", "-q", home=home, ROOFTILE_OPENBLAS="/nowhere.so")
    check_run(done, 3, "without a library", stdout=["the device has no openblas (/nowhere.so: ", "1 skipped"])
    check_run(run("run", "gemm_library", "--device", "sim:mi300x", "--quick", "-q", home=home), 0, "a library is predicted by description")
    done = run("inspect", "gemm_library", "--arch", "gfx942", home=home, **CLANG)
    check(done.returncode != 0 and "it calls the library hipblaslt" in done.stderr, done.stderr)


def misspelt(home):
    """A word that is the name of no library is a wrong command line; one that is, but is not installed, is not measured."""
    for name, code in (("rocblass", 2), ("rocblas", 3)):
        (home / "own.json").write_text(json.dumps({"name": "own", "cases": [{"kernel": "gemm_library", "params": {"library": name}}]}))
        for command in (["run", "./own.json", "-o", "own.result.json"], ["run", "./own.json", "--strict", "-q"],
                        ["run", "gemm_library", "--set", f"library={name}"]):
            done = run(*command, "--device", "cpu", home=home)
            check_run(done, code, f"library={name}: {command[:2]}")
            check(code == 3 or f"library={name} is not among its limits: openblas, " in done.stderr, done.stderr)
        check((home / "own.result.json").exists() == (code == 3), "nothing is written of a wrong suite")


# Library, its variable and stand-in, the backend, and pairs of types: of operands, and of the result.
GPU_LIBRARIES = (("cublaslt", "CUBLASLT", "cuda", (("f16", "f32"), ("e4m3", "f16"))),
                 ("rocblas", "ROCBLAS", "hip", (("f16", "f32"), ("xf32", "f32"))),
                 ("hipblaslt", "HIPBLASLT", "hip", (("f16", "f32"), ("e4m3", "f16"))))


def on_gpu(backend, *libraries):
    """Environment of a GPU that is a stand-in, with stand-ins for these libraries."""
    return {"ROOFTILE_HIP_LIBRARY": "/nowhere.so", "ROOFTILE_CUDA_LIBRARY": "/nowhere.so", "ROOFTILE_NVML_LIBRARY": "/nowhere.so",
            f"ROOFTILE_{backend.upper()}_LIBRARY": str(DOUBLES / f"libfake_{backend}.so"),
            **{f"ROOFTILE_{name}": str(DOUBLES / f"libfake_{name.lower()}.so") for name in libraries}} | (CLANG if backend == "hip" else {})


def gpus(home):
    """The whole way on stand-ins for GPU and library: every layout, odd sizes, with and without C, checked by the reference."""
    for name, variable, backend, types in GPU_LIBRARIES:
        case = {"kernel": "gemm_library", "params": {"library": name, "m": 13, "n": 21, "k": 7, "gap": 1, "batch": 2, "alpha": 2},
                "sweep": {"dtype": [t[0] for t in types], "total": [t[1] for t in types], "TA": [0, 1], "TB": [0, 1], "beta": [0, -1]},
                "zip": [["dtype", "total"]]}
        (home / "gpu.json").write_text(json.dumps({"name": "gpu", "defaults": {"measure": QUICK}, "cases": [case]}))
        done = run("run", home / "gpu.json", "-q", "--timer", "host", "--device", f"{backend}:0", "--out", home / "out.json", home=home,
                   **on_gpu(backend, variable))
        check_run(done, 0, f"run on the stand-in for {name}")
        cases = load(home / "out.json")["cases"]
        wrong = [case["id"] for case in cases if case["verification"]["status"] != "pass"]
        check(len(cases) == 16 and not wrong, f"{name}: {len(cases)} cases, not verified: {wrong}")
        said = {case["code"].get("library") for case in cases}
        check(len(said) == 1 and said.pop().startswith(f"{name} ") and all(len(case["code"]["object_sha256"]) == 64 for case in cases), f"{name}: {said}")
    for timer in ("batch", "graph", "event"):
        done = run("run", "gemm_library", "--set", "m=8", "--set", "n=8", "--set", "k=8", *SHORT, "--timer", timer, "--device", "cuda:0", home=home,
                   **on_gpu("cuda", "CUBLASLT"))
        check_run(done, 0, f"timer {timer}")
        check("1 measured, 1 verified" in done.stdout, f"timer {timer}: {done.stdout}")


def gpus_without(home):
    """What a library, or the device, does not have is a case that is skipped, with the reason; what fails is an error."""
    sizes = ("--set", "m=8", "--set", "n=8", "--set", "k=8")
    for extra, told, outcome, why in (
            ((), {"ROOFTILE_CUBLASLT": "/nowhere.so"}, "1 skipped", "the device has no cublaslt (/nowhere.so: "),
            (("--set", "library=rocblas"), {}, "1 skipped", "the device has no library 'rocblas'; it may have cublaslt"),
            (("--set", "dtype=e4m3fnuz"), {}, "1 skipped", "the device has no gemm_e4m3fnuz_f16: cublaslt knows no e4m3fnuz"),
            ((), {"FAKE_BLAS_NONE": "1"}, "1 skipped", "the device has no algorithm of cublaslt for f16 to f16"),
            ((), {"FAKE_BLAS_VERSION": "100200"}, "1 skipped", "the device has no cublaslt that is new enough"),
            ((), {"FAKE_BLAS_FAIL": "cublasLtMatmul:1:14"}, "1 error", "cublasLtMatmul: a fake error (14)")):
        done = run("run", "gemm_library", *sizes, *extra, *SHORT, "--device", "cuda:0", home=home, **(on_gpu("cuda", "CUBLASLT") | told))
        check(why in " ".join(done.stdout.split()) and outcome in done.stdout, f"{told}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    main(library, beside_own, missing, misspelt, gpus, gpus_without)
