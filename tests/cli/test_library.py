# SPDX-License-Identifier: MIT
"""Kernels that are functions of a library, on a stand-in for OpenBLAS; ratios to them; the shares of a layer."""
import json
import os
import pathlib
import subprocess
import sys

from harness import PROGRAM, ROOT, check, check_run, finish, load, run, scratch

DOUBLES = pathlib.Path(os.environ.get("ROOFTILE_TEST_DOUBLES") or (PROGRAM.parent.parent / "tests/double" if PROGRAM else "."))
FAKE = {"ROOFTILE_OPENBLAS": str(DOUBLES / "libfake_openblas.so")}
SHORT = ["--min-time", "1us", "--max-time", "1ms", "-q"]
SUITE = {"name": "s", "defaults": {"params": {"n": 33, "k": 17}},
         "cases": [{"kernel": "gemm_naive", "sweep": {"m": [8, 24, 40]}}, {"kernel": "gemm_library", "sweep": {"m": [8, 24]}}],
         "derive": [{"name": "of library", "method": "ratio", "kernel": "gemm_naive", "to": "gemm_library", "y": "flops_per_s"}]}


def library(home):
    done = run("check", "--run", "gemm_library", "--device", "cpu:threads=1", home=home, **FAKE)
    check_run(done, 0, "check on the stand-in")
    check("1 kernels: 1 verified, 0 wrong or broken, 0 skipped" in done.stdout, done.stdout)
    done = run("check", "--prove", "gemm_library", home=home, **FAKE)
    check_run(done, 0, "check --prove on the stand-in")
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


def missing(home):
    for device, extra, why in (("cpu", {"ROOFTILE_OPENBLAS": "/nowhere.so"}, "the device has no openblas (/nowhere.so: "),
                               ("sim:mi300x", {}, "the device has no openblas: libraries are opened on the CPU device only")):
        done = run("run", "gemm_library", "--device", device, "--quick", "-q", home=home, **extra)
        check_run(done, 0, f"without a library on {device}")
        check(why in done.stdout and "1 skipped" in done.stdout, done.stdout)
    done = run("inspect", "gemm_library", "--arch", "gfx942", home=home)
    check(done.returncode != 0 and "it calls the library openblas" in done.stderr, done.stderr)


def layers(home):
    made = subprocess.run([sys.executable, str(ROOT / "scripts/llm_shapes")], capture_output=True, text=True, check=True).stdout
    check(made == (ROOT / "configs/shapes/llm_layer.json").read_text(), "configs/shapes/llm_layer.json is not what scripts/llm_shapes prints")
    done = run("run", "llm_layer", *SHORT, "--filter", "small.prefill*", "--out", home / "layer.json", home=home)
    check_run(done, 0, "a small layer")
    result = load(home / "layer.json")
    check(all(case["verification"]["status"] == "pass" for case in result["cases"]), "not every kernel of the layer is verified")
    value = result["derived"][0]["value"]
    check(len(value.get("parts", [])) == 9 and abs(sum(part["share"] for part in value["parts"]) - 1) < 1e-9, f"{value}")
    check("attention  attention_prefill" in done.stdout, done.stdout)


def main():
    with scratch() as folder:
        home = pathlib.Path(folder)
        library(home)
        missing(home)
        layers(home)
    finish()


if __name__ == "__main__":
    sys.exit("the program is missing: test_library.py PROGRAM" if not PROGRAM else main())
