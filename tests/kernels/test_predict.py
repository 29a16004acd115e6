#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predictions from code, of programs whose times on an MI300A are published (tests/truth/mi300a): what is beyond doubt holds, and
the same question has the same answer. test_predict.py ROOFTILE; the program that predicts lies beside it in the build."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "truth" / "mi300a"
# Measured on a real MI300A (sarchlab/mgpusim, gpu_perf_scripts/mi300a.csv), in nanoseconds; and what bounds them.
MEASURED = {("relu", 1024): (5000, "launch"), ("relu", 16777216): (36500, "MALL"), ("relu", 134217728): (353900, "HBM"),
            ("vectoradd", 16777216): (51000, "MALL"), ("matrixmultiplication", 256): (39400, "latency"),
            ("matrixtranspose", 4096): (36000, "MALL"), ("atax", 2048): (1282400, "latency")}


def predicted(program, kernel, sizes):
    command = [program, ROOT / "configs" / "machines" / "mi300a.json", "--kernels", PROGRAMS, kernel, "n=" + ",".join(map(str, sizes))]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    rows = {}
    for line in run.stdout.splitlines():
        label, time_ns, low_ns, high_ns, method, bound = line.split(",")[:6]
        rows[int(label.split("n=")[1].split(";")[0])] = (float(time_ns), float(low_ns), float(high_ns), method, bound)
    return rows


def test_rows_of_workgroups(rooftile):
    """37 and 38 rows of workgroups are as many for the fullest compute unit: which one is sampled makes no difference."""
    command = [rooftile, "predict", "gemm_buffered", "--machine", "mi300x", "--set", "m=4736,4864", "--set", "n=5376", "--set", "k=4096", "--json", "-"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    odd, even = (case["time_ns"] for case in json.loads(run.stdout)["machines"][0]["cases"])
    assert 0.97 < odd / even < 1.03, (odd, even)


def test_bands_of_tiles(rooftile):
    """A GEMM that orders its tiles in bands reads its panels from L2 wherever in a band the sampled workgroup is, first or last: a
    little more work takes a little longer."""
    command = [rooftile, "predict", "gemm_matrix", "--machine", "mi300x", "--set", "m=3840", "--set", "n=3840..4608+256", "--set", "k=1792", "--json", "-"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    times = [case["time_ns"] for case in json.loads(run.stdout)["machines"][0]["cases"]]
    assert all(0.97 < after / before < 1.15 for before, after in zip(times, times[1:])), times


def test_runs_of_a_permutation(rooftile):
    """Where a large permutation leads to is known: runs of four move a quarter of the lines of single elements."""
    command = [rooftile, "predict", "scatter", "--machine", "mi300x", "--set", "RUN=1,4", "--set", "elements=16Mi", "--json", "-"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    single, runs = (case["time_ns"] for case in json.loads(run.stdout)["machines"][0]["cases"])
    assert 3 < single / runs < 5, (single, runs)


def main(rooftile):
    test_runs_of_a_permutation(rooftile)
    test_rows_of_workgroups(rooftile)
    test_bands_of_tiles(rooftile)
    program = pathlib.Path(rooftile).parent.parent / "tests" / "kernels" / "predict_times"
    for kernel in sorted({name for name, _ in MEASURED}):
        sizes = sorted(size for name, size in MEASURED if name == kernel)
        rows = predicted(program, kernel, sizes)
        assert rows == predicted(program, kernel, sizes), f"{kernel}: two answers to one question"
        for size in sizes:
            time_ns, low_ns, high_ns, method, bound = rows[size]
            measured_ns, expected = MEASURED[kernel, size]
            print(f"{kernel} {size}: {time_ns:.0f} ns predicted, {measured_ns} ns measured, {bound}")
            assert method == "walk" and bound == expected, (kernel, size, rows[size])
            assert low_ns < time_ns < high_ns and 0.5 < time_ns / measured_ns < 2, (kernel, size, rows[size])


if __name__ == "__main__":
    main(sys.argv[1])
