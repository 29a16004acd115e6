# SPDX-License-Identifier: MIT
"""`model-error`: the table, row by row, and truth files with something wrong."""
import csv
import json

from harness import check, check_run, main, run

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
                                        "1 rows are of kernels or machines of which there is no model"])
    data = json.loads(run("model-error", "--truth", path, "--json", "-", home=home).stdout)
    line = data["errors"][0]
    check(line["rows"] == 3 and line["median"] < 0.2 and line["coverage"] == 1 and line["bound_right"] == 1, f"errors: {line}")
    check([row["line"] for row in data["left_out"]] == [5, 6], f"left out: {data['left_out']}")
    rows = list(csv.DictReader(run("model-error", "--truth", path, "--format", "csv", home=home).stdout.splitlines()))
    check(len(rows) == 6 and float(rows[0]["low_ns"]) < float(rows[0]["predicted_ns"]) < float(rows[0]["high_ns"]), f"row by row: {rows[0]}")
    check(rows[0]["bound"] == "HBM" and rows[5]["predicted_ns"] == "", f"bound: {rows}")


def bad_files(home):
    for name, text, message in (("empty.csv", "", "no column tells what its rows are"),
                                ("short.csv", "gpu,op,dtype,time_us\n", "has 'op' but no column 'shape'"),
                                ("binary.csv", "op,\0", "is no text")):
        done = run("model-error", "--truth", write(home, name, text), home=home)
        check_run(done, 2, name, stderr=[name, message])
    check_run(run("model-error", home=home), 2, "no file", stderr="--truth names the file of measured times")
    check_run(run("model-error", "--truth", str(home / "none.csv"), home=home), 2, "missing", stderr="none.csv")
    broken = write(home, "models.json", '{ "models": [ { "family": "gemm", "low": 0 } ] }')
    path = write(home, "truth.csv", HEAD)
    check_run(run("model-error", "--truth", path, "--models", broken, home=home), 2, "models", stderr="/models/0/low")



main(table, bad_files)
