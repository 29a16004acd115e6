# SPDX-License-Identifier: MIT
"""Errors of predictions: `model-error` for results, scripts/model_error for times of others, and files with something wrong."""
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


def script(*words):
    return subprocess.run([sys.executable, ROOT / "scripts" / "model_error", PROGRAM, *words], capture_output=True, text=True, check=False)


def rows_of(*words):
    return list(csv.DictReader(script("--rows", *words).stdout.splitlines()))


def table(home):
    path = write(home, "truth.csv", HEAD + "\n".join(ROWS) + "\n")
    check_run(script(path), 0, "table", stdout=["element-wise", "mi210", "faster than the machine's peaks allow", "the time is no positive number",
                                              "rows whose kernel or machine has no model: 1"])
    data = json.loads(script("--json", path).stdout)[path]
    line = data["errors"][0]
    check(line["rows"] == 3 and line["median"] < 0.2 and line["coverage"] == 1 and line["bound_right"] == 1, f"errors: {line}")
    check([row["line"] for row in data["skipped"]] == [5, 6], f"skipped rows: {data['skipped']}")
    rows = rows_of(path)
    check(len(rows) == 6 and float(rows[0]["low_ns"]) < float(rows[0]["predicted_ns"]) < float(rows[0]["high_ns"]), f"row by row: {rows[0]}")
    check(rows[0]["bound"] == "HBM" and rows[5]["predicted_ns"] == "", f"bound: {rows}")


def kinds(home):
    """All kinds of files are read; what cannot be right is kept with its reason."""
    folder = ROOT / "scripts"
    sys.path.insert(0, str(folder))
    import truth

    def read(name, text):
        return truth.read_rows(write(home, name, text))

    [row] = read("g.csv", "target,cus,dtype,scales,m,n,k,kernel,split_k,time_us,library,source_file,out_dtype\n"
                 'gfx942,304,fp8,row,16,32,64,"a,""b""",3,1.5,ck,x.csv,\n')
    check(row["machine"] == "mi300x" and row["launch"]["kernel"] == 'a,"b"' and row["time_ns"] == 1500 and not row["problem"], f"GEMM: {row}")
    check(row["launch"]["split"] == 8, "of Composable Kernel it is a power")
    named = read("s.csv", "target,cus,dtype,scales,m,n,k,kernel,split_k,time_us\n" + "".join(
        f"gfx942,80,bf16,none,1024,200,5120,{kernel},0,30\n" for kernel in ("a_t16x64x64_split_k8_b", "b_splitk_legacy_512x128x128x64_2x4", "c_128x128x64_")))
    check([row["launch"].get("split") for row in named] == [8, None, 1], f"splits that names tell: {named}")
    bmm, power = read("t.csv", "gpu,op,dtype,shape,kernel,block,time_us,more\r\nMI100,bmm,f32,2x3x4x5,MT16x32x8,64,7,1\r\nMI210,pow,f32,10x20,k,256,8,2\r\n")
    check(bmm["launch"]["k"] == 4 and power["launch"]["operands"] == 3 and power["machine"] == "mi210", f"torch: {bmm} {power}")
    [row] = read("c.csv", "database,direction,dtype,n,c,h,w,k,out_h,out_w,filter,pad,groups,time_us\ngfx906_60,W,FP16,1,2,3,4,5,6,7,1x3,0x1,1,9\n")
    check(row["machine"] == "mi50" and [row["launch"][name] for name in ("filter_h", "filter_w", "pad_h", "pad_w", "stride_w")] == [1, 3, 0, 1, 1], f"convolution: {row}")
    [row] = read("p.csv", "kernel_name,problem_size,min_ms\nvectoradd,1024,0.0042\n")
    check(abs(row["time_ns"] - 4200) < 1e-6 and row["machine"] == "mi300a", f"program: {row}")
    for line, problem in (("10x20,k,256,8", ""), ("10x20,k,256,0", "time is no"), ("10x20,k,256,-1", "time is no"), ("10x20,k,256,nan", "time is no"),
                          ("10x20,k,256,fast", "time is no"), ("10x-20,k,256,8", "size is no"), ("10,k,256,8", "not as many numbers"),
                          ("10x20", "not as many fields"), ("10x20,k,256,8,9", "not as many fields")):
        [row] = read("l.csv", f"gpu,op,dtype,shape,kernel,block,time_us\nMI100,add,f32,{line}\n")
        check(problem in row["problem"] if problem else not row["problem"], f"{line}: {row['problem']}")
    check([truth.is_held_out(*shape) for shape in ((16, 800, 5120), (32, 100, 5120), (16384, 16384, 53248))] == [True, False, False], "the fifth held out")


def bad_files(home):
    for name, text, message in (("empty.csv", "", "no column tells what its rows are"),
                                ("short.csv", "gpu,op,dtype,time_us\n", "has 'op' but no column 'shape'"),
                                ("binary.csv", "op,\0", "is no text")):
        check_run(script(write(home, name, text)), 1, name, stderr=[name, message])
    check_run(script(str(home / "none.csv")), 1, "missing", stderr="none.csv")
    check_run(run("model-error", home=home), 2, "no result", stderr="at least 1 argument")
    broken = write(home, "models.json", '{ "models": [ { "family": "gemm", "low": 0 } ] }')
    check_run(script(write(home, "truth.csv", HEAD), "--models", broken), 2, "models", stderr="/models/0/low")


def launches(home):
    """Launches by description, each on its machine."""
    gemm = {"machine": "mi300x", "family": "gemm", "type": "bf16", "scales": "none", "in_bytes": 2, "out_bytes": 2, "m": 4096, "n": 4096, "k": 4096}
    path = write(home, "launches.json", json.dumps({"launches": [gemm, gemm | {"machine": "mi210"}, gemm | {"machine": "none"}, gemm | {"family": "none"}]}))
    check_run(run("predict", path, home=home), 0, "launches", stdout=["gemm", "mi300x", "mi210"])
    rows = json.loads(run("predict", path, "--json", "-", home=home).stdout)["launches"]
    check(0 < rows[0]["least_ns"] < rows[0]["time_ns"] < rows[1]["time_ns"] and rows[0]["low_ns"] < rows[0]["high_ns"], f"times: {rows}")
    check(rows[2]["time_ns"] is None and "memory" not in rows[2] and rows[3]["time_ns"] is None and rows[3]["memory"] == "HBM", f"unknown ones: {rows}")
    thin = gemm | {"machine": "mi308x", "m": 1024, "n": 200, "k": 5120, "kernel": "b_splitk_512x128x128x64_2x4"}
    path = write(home, "split.json", json.dumps({"launches": [thin, thin | {"split": 1}, thin | {"split": 5}]}))
    chosen, whole, five = (row["time_ns"] for row in json.loads(run("predict", path, "--json", "-", home=home).stdout)["launches"])
    check(chosen == five < whole / 2, f"16 tiles in as many parts as fill 80 compute units: {chosen} {whole} {five}")
    for what, message in (({"m": 0}, "/launches/0/m"), ({"filter_w": 1e9}, "a filter of more than"), ({"sides": 3}, "sides")):
        bad = write(home, "bad.json", json.dumps({"launches": [gemm | what]}))
        check_run(run("predict", bad, home=home), 2, "a bad launch", stderr=["bad.json", message])


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
    check_run(script("--manifests", kernels, path), 0, "the script", stdout=["HIP programs above 10 us", "double_it 16384x16384", "rows whose kernel or machine has no model: 2"])
    rows = rows_of("--manifests", kernels, path)
    times = [float(row["predicted_ns"] or 0) for row in rows]
    check(abs(times[0] / 1.65e6 - 1) < 0.25 and times[1] == times[0] and 0 < times[2] < 2e4 and times[3:] == [0, 0], f"times: {times}")
    check(rows[0]["bound"] == "HBM" and rows[0]["raw_ns"] == rows[0]["predicted_ns"] and rows[2]["machine"] == "mi300a", f"row: {rows}")
    check_run(script("--manifests", home / "none", path), 1, "no folder", stderr="no such folder")
    (kernels / "double_it.hip").write_text("double_it")
    check_run(script("--manifests", kernels, path), 0, "no code", stderr=["double_it", "not predicted"])
    (kernels / "double_it.json").write_text(json.dumps(manifest | {"launch": 1}))
    check_run(script("--manifests", kernels, path), 2, "broken", stderr="double_it.json")


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


main(table, kinds, bad_files, launches, results, programs, one_family_held_out)
