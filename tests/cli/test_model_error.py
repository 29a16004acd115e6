# SPDX-License-Identifier: MIT
"""`model-error`: the table, row by row, and truth files with something wrong."""
import csv
import json
import subprocess
import sys

from harness import PROGRAM, ROOT, check, check_run, main, run
from runs import measured

HEAD = "gpu,op,dtype,shape,kernel,grid_workgroups_or_items,block,time_us\n"
# Streams of 3 x 400 MB at 0.8 of the memory's bandwidth; the fourth is faster than the memory.
ROWS = ["MI210,add,f32,10000x10000,k,1,256,916", "MI210,add,f32,20000x10000,k,1,256,1832", "MI210,relu,f32,10000x10000,k,1,256,611",
        "MI210,add,f32,10000x10000,k,1,256,100", "MI210,add,f32,10000x10000,k,1,256,none", "MI9999,add,f32,100x100,k,1,256,10"]


def write(home, name, text):
    path = home / name
    path.write_text(text)
    return str(path)


def table(home):
    path = write(home, "truth.csv", HEAD + "\n".join(ROWS) + "\n")
    done = run("model-error", "--truth", path, home=home)
    check_run(done, 0, "table", stdout=["element-wise", "mi210", "faster than the machine's peaks allow", "the time is no positive number",
                                        "rows whose kernel or machine has no model: 1"])
    data = json.loads(run("model-error", "--truth", path, "--json", "-", home=home).stdout)
    line = data["errors"][0]
    check(line["rows"] == 3 and line["median"] < 0.2 and line["coverage"] == 1 and line["bound_right"] == 1, f"errors: {line}")
    check([row["line"] for row in data["skipped"]] == [5, 6], f"skipped rows: {data['skipped']}")
    rows = list(csv.DictReader(run("model-error", "--truth", path, "--format", "csv", home=home).stdout.splitlines()))
    check(len(rows) == 6 and float(rows[0]["low_ns"]) < float(rows[0]["predicted_ns"]) < float(rows[0]["high_ns"]), f"row by row: {rows[0]}")
    check(rows[0]["bound"] == "HBM" and rows[5]["predicted_ns"] == "", f"bound: {rows}")


def bad_files(home):
    for name, text, message in (("empty.csv", "", "no column tells what its rows are"),
                                ("short.csv", "gpu,op,dtype,time_us\n", "has 'op' but no column 'shape'"),
                                ("binary.csv", "op,\0", "is no text")):
        done = run("model-error", "--truth", write(home, name, text), home=home)
        check_run(done, 2, name, stderr=[name, message])
    check_run(run("model-error", home=home), 2, "no file", stderr="give results, or --truth")
    check_run(run("model-error", "--truth", str(home / "none.csv"), home=home), 2, "missing", stderr="none.csv")
    broken = write(home, "models.json", '{ "models": [ { "family": "gemm", "low": 0 } ] }')
    path = write(home, "truth.csv", HEAD)
    check_run(run("model-error", "--truth", path, "--models", broken, home=home), 2, "models", stderr="/models/0/low")


def results(home):
    """The predictions that stand beside measurements in results."""
    check_run(run("run", "stream_triad", "--set", "n=1Mi,4Mi", "--device", "sim:mi300x", "--quick", "--isolate", "-o", "s.json", home=home), 0, "a result")
    check_run(run("model-error", "s.json", home=home), 2, "of a prediction", stderr="is a prediction itself")
    result = measured(json.loads((home / "s.json").read_text()))
    whole = [case for case in result["cases"] if "isolate=" not in case["id"]]
    for case, factor in zip(whole, (1.5, 0.5)):
        case["prediction"] |= {"time_ns": case["stats"]["median_ns"] * factor, "low_ns": case["stats"]["median_ns"] / 2,
                               "high_ns": case["stats"]["median_ns"] * factor * 1.2, "bound": "HBM"}
    (home / "m.json").write_text(json.dumps(result))
    done = run("model-error", "m.json", home=home)
    check_run(done, 0, "a result", stdout=["stream_triad", "mi300x", "in the interval"])
    [line] = json.loads(run("model-error", "m.json", "--json", "-", home=home).stdout)["errors"]
    check(line["rows"] == 2 and abs(line["median"] - 0.5) < 1e-6 and abs(line["coverage"] - 0.5) < 1e-6, f"errors: {line}")
    rows = list(csv.DictReader(run("model-error", "m.json", "m.json", "--format", "csv", home=home).stdout.splitlines()))
    check(len(rows) == 4 and rows[0]["family"] == "stream_triad" and rows[0]["bound"] == "HBM", f"row by row: {rows}")
    check_run(run("model-error", "m.json", "--truth", "t.csv", home=home), 2, "both", stderr="not both")


DOUBLE = """#include "portable.h"
extern "C" __global__ void double_it(float *a, const float *b, unsigned int n)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = 2 * b[i];
}
"""


def programs(home):
    """Times of programs, by kernels of their names that are not ours: walked, n x n where the kernel has n alone."""
    kernels = home / "mine"
    kernels.mkdir()
    (kernels / "double_it.hip").write_text(DOUBLE)
    manifest = {"name": "double_it", "summary": "a = 2 b", "params": {"n": 4096}, "code": {"source": "double_it.hip", "symbol": "double_it"},
                "buffers": {"a": {"type": "f32", "count": "n * n", "role": "out"}, "b": {"type": "f32", "count": "n * n", "role": "in", "fill": "i % 7"}},
                "launch": {"grid": ["ceil_div(n * n, 256)"], "block": ["256"], "args": ["a", "b", {"value": "n * n", "type": "u32"}]},
                "work": {"read": "4 * n * n", "write": "4 * n * n"}, "check": {"params": {"n": 33}, "expect": {"a": "i % 7 * 2"}}}
    (kernels / "double_it.json").write_text(json.dumps(manifest))
    # 2 x 4 bytes of 16384 x 16384 at 1.3 TB/s; the same twice; a size that n alone is not; a kernel that is not there
    times = ["double_it,16384x16384,1.65,mi210", "double_it,16384x16384,1.60,mi210", "double_it,64,0.005,", "double_it,64x32,0.005,", "triple_it,64,0.005,"]
    path = write(home, "programs.csv", "kernel_name,problem_size,min_ms,machine\n" + "\n".join(times) + "\n")
    script = [sys.executable, ROOT / "scripts" / "model_error", PROGRAM, "--manifests"]
    done = subprocess.run([*script, kernels, path], capture_output=True, text=True, check=False)
    check_run(done, 0, "the script", stdout=["HIP programs above 10 us", "double_it 16384x16384", "rows whose kernel or machine has no model: 2"])
    rows = list(csv.DictReader(run("model-error", "--truth", path, "--kernels", kernels, "--format", "csv", home=home).stdout.splitlines()))
    times = [float(row["predicted_ns"] or 0) for row in rows]
    check(abs(times[0] / 1.65e6 - 1) < 0.25 and times[1] == times[0] and 0 < times[2] < 2e4 and times[3:] == [0, 0], f"times: {times}")
    check(rows[0]["bound"] == "HBM" and rows[0]["raw_ns"] == rows[0]["predicted_ns"] and rows[2]["machine"] == "mi300a", f"row: {rows}")
    check_run(subprocess.run([*script, home / "none", path], capture_output=True, text=True, check=False), 1, "no folder", stderr="no such folder")
    (kernels / "double_it.hip").write_text("double_it")
    check_run(run("model-error", "--truth", path, "--kernels", kernels, home=home), 0, "no code", stderr=["double_it", "not predicted"])
    (kernels / "double_it.json").write_text(json.dumps(manifest | {"launch": 1}))
    check_run(run("model-error", "--truth", path, "--kernels", kernels, home=home), 2, "broken", stderr="double_it.json")


def leave_out(folder):
    return subprocess.run([sys.executable, ROOT / "scripts" / "fit_models", PROGRAM, folder, "--leave-out"], capture_output=True, text=True, check=False)


def one_family_held_out(home):
    """Constants that were fitted without a family predict it as well as with it, and where they do not that is found."""
    models = ROOT / "configs" / "models" / "described.json"
    before = models.read_bytes()
    done = leave_out(ROOT / "tests" / "data" / "truth")
    check_run(done, 0, "families held out", stdout=["mi100 elementwise", "mi210 layer_norm", "without"])
    name = "torch_ops_mi100_mi210.csv"
    rows = [f"{card},{op},f32,1024x1024,k,1,256,{us}" for card in ("MI100", "MI210") for op, us, count in (("add", 16, 4), ("softmax", 12, 4), ("ln", 24, 40))
            for _ in range(count)]
    (home / name).write_text(HEAD + "\n".join(rows) + "\n")
    odd = leave_out(home)
    check(odd.returncode == 1, f"a family of its own is found: {odd.stdout}{odd.stderr}")
    check(models.read_bytes() == before, "nothing is written")


main(table, bad_files, results, programs, one_family_held_out)
