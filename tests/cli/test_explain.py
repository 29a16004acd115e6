# SPDX-License-Identifier: MIT
"""`explain`: causes of kernels on machines that are not here, counters that rocprofv3 wrote, and mistakes."""
import csv
import io
import json
import sqlite3

from harness import check, check_run, main, run
from runs import measured

NAIVE = ["explain", "transpose_naive", "--set", "rows=2048", "--set", "columns=2048", "--machine", "mi300x"]


def explained(home, *words):
    done = run(*words, "--json", "-", home=home)
    check_run(done, 0, " ".join(words))
    return json.loads(done.stdout)["cases"]


def one_screen(home):
    done = run(*NAIVE, home=home)
    check_run(done, 0, "one screen", stdout=["PREDICTED, not measured", "80 % interval", "least time", "what costs time", "uncoalesced accesses",
                                             "What would help most: let neighbouring lanes", "rocprofv3 --pmc ", "--profile"])
    check(len(done.stdout.splitlines()) < 50, f"it is one screen:\n{done.stdout}")
    [case] = explained(home, *NAIVE)
    first = case["causes"][0]
    check(first["cause"] == "uncoalesced accesses" and first["share"] > 0.5 and "lines of 128 bytes" in first["evidence"], f"causes: {case['causes']}")
    ranks = [(not cause["can_change"], -cause["cost_ns"]) for cause in case["causes"]]
    check(ranks == sorted(ranks), f"the most costly first, then the work itself: {ranks}")
    check(any(cause["cause"] == "memory traffic" and cause["share"] > 0.9 for cause in case["causes"]), "its largest term has a row")
    check(all(0 < cause["cost_ns"] < case["standing"]["predicted_ns"] for cause in case["causes"]), "no cause costs more than all")


def a_kernel_without_a_fault(home):
    [case] = explained(home, "explain", "stream_copy", "--set", "n=256Mi", "--machine", "mi300x")
    check(all(cause["share"] < 0.1 or not cause["can_change"] for cause in case["causes"]), f"a stream is at its ceiling: {case['causes']}")
    level = case["standing"]["level"]
    check(level["name"] == "HBM" and level["bytes"] == 2**31 and 3e12 < level["bytes_per_s"] < 5.3e12, f"what its memory carries: {level}")
    done = run("explain", "stream_copy", "--set", "n=256Mi", "--machine", "mi300x", home=home)
    check_run(done, 0, "words", stdout=["through HBM     2.00 GiB at ", "of the vendor peak", "terms           memory ", "\nunknown, so taken from a similar GPU: "])
    check("Nothing that could be changed costs" in done.stdout, f"and says so: {done.stdout}")


def as_csv(home):
    """One table: a row for each cause of each case, however many counters there are."""
    done = run("explain", "transpose_naive", "--set", "rows=2048", "--set", "columns=1024,2048", "--machine", "mi300x", "--format", "csv", home=home)
    check_run(done, 0, "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    check(len({row["case"] for row in rows}) == 2 and all(float(row["cost_ns"]) > 0 and bool(row["remedy"]) == (row["can_change"] == "true") for row in rows), f"rows: {rows}")


def a_chase(home):
    """One lane that follows pointers: wider accesses are no help, and no ceiling says anything of it."""
    [case] = explained(home, "explain", "pointer_chase", "--set", "footprint=32Mi", "--machine", "mi300x")
    check([cause["cause"] for cause in case["causes"]][:1] == ["chain of loads"], f"causes: {case['causes']}")
    check(case["standing"]["lower_bound_ns"] is None and case["standing"]["ceiling_share"] is None, f"no ceiling: {case['standing']}")
    done = run("explain", "gemm_matrix", "--machine", "mi300x", home=home)
    check_run(done, 0, "words that run it", stdout="rooftile run gemm_matrix --profile")


def an_untiled_product(home):
    """Each line of its data crosses L1 many times: a tile in LDS or registers would reuse it."""
    (home / "untiled.hip").write_text("""#include "portable.h"
        extern "C" __global__ void untiled(const float *a, const float *b, float *c, unsigned n)
        {
            const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
            float sum = 0;
            for (unsigned k = 0; k < n; k++)
                sum += a[y * n + k] * b[k * n + x];
            c[y * n + x] = sum;
        }""")
    square = {"type": "f32", "count": "n * n", "role": "in", "fill": "1"}
    manifest = {"name": "untiled", "summary": "s", "params": {"n": 1024}, "code": {"source": "untiled.hip", "symbol": "untiled"},
                "buffers": {"a": square, "b": square, "c": {"type": "f32", "count": "n * n", "role": "out"}},
                "launch": {"grid": ["n / 16", "n / 16"], "block": [16, 16], "args": ["a", "b", "c", {"value": "n", "type": "u32"}]},
                "work": {"read": "8 * n * n", "write": "4 * n * n", "flops": "2 * n * n * n", "unit": "vector_f32"}, "check": {"params": {"n": 16}, "expect": {"c": "n"}}}
    (home / "untiled.json").write_text(json.dumps(manifest))
    [case] = explained(home, "explain", "untiled.json", "--machine", "mi300x")
    check(case["causes"][0]["cause"] == "no reuse" and "L1" in [cause["cause"][:2] for cause in case["causes"]], f"causes: {case['causes']}")


def forgotten_lds(home):
    """Dynamic LDS has no size in the code: a launch that has less than its kernel touches is named."""
    (home / "forgets.hip").write_text("""#include "portable.h"
        extern "C" __global__ void turned(float *out)
        {
            DYNAMIC_SHARED(float, t);
            t[threadIdx.x] = threadIdx.x;
            __syncthreads();
            out[blockIdx.x * blockDim.x + threadIdx.x] = t[blockDim.x - 1 - threadIdx.x];
        }""")
    manifest = {"name": "forgets", "summary": "s", "code": {"source": "forgets.hip", "symbol": "turned"}, "work": {"write": "262144"}, "check": {"expect": {"out": "255 - i % 256"}},
                "buffers": {"out": {"type": "f32", "count": 65536, "role": "out"}}, "launch": {"grid": [256], "block": [256], "args": ["out"]}}
    for more, said in ({"shared": 1024}, False), ({}, True):
        (home / "forgets.json").write_text(json.dumps(manifest | {"launch": manifest["launch"] | more}))
        done = run("predict", "forgets.json", "--machine", "mi300x", home=home)
        check_run(done, 0, "LDS")
        check(("it touches 1024 bytes of LDS, and the launch has 0" in done.stdout) == said, f"{more}: {done.stdout}")


def several_cases(home):
    done = run("explain", "stream_triad", "--set", "n=1Ki,64Mi", "--machine", "mi300x", home=home)
    check_run(done, 0, "several cases", stdout=["largest cost", "launch", "One case in full"])


def no_code(home):
    [case] = explained(home, "explain", "stream_triad", "--set", "n=1Ki", "--machine", "h100")
    check(case["causes"][0]["cause"] == "launch" and case["standing"]["method"] == "description", f"said: {case}")


def counters_of_a_copy(home):
    """8 MiB read and 8 MiB written, as rocprof counted them on these cards."""
    for machine, reads in ("mi100", 131072), ("mi210", 131072), ("mi300a", 65536), ("mi300x", 65536), ("mi350x", 65536):
        [case] = explained(home, "explain", "stream_copy", "--set", "n=1Mi", "--set", "dtype=f64", "--machine", machine)
        counted = {counter["counter"]: counter["predicted"] for counter in case["counters"]}
        check(counted["TCP_TCC_READ_REQ_sum"] == reads and counted.get("TCP_TCC_WRITE_REQ_sum", 131072) == 131072, f"{machine}: {counted}")


def counters_are_read(home):
    [case] = explained(home, *NAIVE)
    names = [counter["counter"] for counter in case["counters"]]
    check(names[0] == "TCP_TCC_READ_REQ_sum" and all(name in case["counter_command"] for name in names), f"counters: {names}")
    expected = case["counters"][0]["predicted"]
    head = '"Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"\n'
    rows = "".join(f'{launch},"transpose_naive(float*, int)","{names[0]}",{expected * factor},1,2\n' for launch, factor in ((1, 2.5), (2, 3.5)))
    (home / "c.csv").write_text(head + rows + f'3,"other","{names[0]}",1,1,2\n')
    database = sqlite3.connect(home / "c.db")
    database.executescript(f"""
        CREATE TABLE rocpd_kernel_dispatch_1(id, guid, event_id, kernel_id, start, end, grid_size_x, grid_size_y, grid_size_z, workgroup_size_x,
                                             workgroup_size_y, workgroup_size_z);
        CREATE TABLE rocpd_info_kernel_symbol_1(id, guid, kernel_name);
        CREATE TABLE rocpd_info_pmc_1(id, guid, name);
        CREATE TABLE rocpd_info_agent_1(id, guid, name, product_name, type, extdata, absolute_index, nid);
        CREATE TABLE rocpd_pmc_event_1(id, guid, event_id, pmc_id, value);
        INSERT INTO rocpd_kernel_dispatch_1 VALUES (1, 'g', 7, 1, 10, 20, 64, 1, 1, 64, 1, 1);
        INSERT INTO rocpd_info_kernel_symbol_1 VALUES (1, 'g', 'transpose_naive.kd');
        INSERT INTO rocpd_info_pmc_1 VALUES (1, 'g', '{names[0]}');
        INSERT INTO rocpd_pmc_event_1 VALUES (1, 'g', 7, 1, {expected * 2}), (2, 'g', 7, 1, {expected});""")
    database.commit()
    database.close()
    for name in "c.csv", "c.db":
        [read] = explained(home, *NAIVE, "--counters", name)
        counter = read["counters"][0]
        check(abs(counter["measured"] / expected - 3) < 1e-3 and counter["verdict"] == "more than predicted", f"{name}: {counter}")
        check("measured" not in read["counters"][1] or read["counters"][1]["measured"] is None, "what was not counted has no value")


def ablation_twins(home):
    """run --isolate: behind each case its twins, which are compiled apart, verified by nobody and part of no figure."""
    words = ["stream_triad", "--set", "n=1Mi", "--device", "sim:mi300x", "--quick"]
    check_run(run("run", *words, "--isolate", "-o", "i.json", home=home), 0, "run --isolate")
    result = json.loads((home / "i.json").read_text())
    names = [case["id"].split(";timer=")[0].split(";isolate=")[1:] for case in result["cases"]]
    check(names == [[], ["loads"], ["math"], ["one_workgroup"]], f"twins: {names}")
    whole, *twins = result["cases"]
    check(all(twin["label"].endswith("isolate=" + name) and "isolate" in twin["tags"] for twin, [name] in zip(twins, names[1:])), "they say what they are")
    check(all(twin["verification"].get("verdict") != "pass" and not twin["throughput"]["bytes_per_s"] for twin in twins), "nothing is said of their work")
    check(twins[2]["code"]["grid"] == [1, 1, 1] and whole["code"]["grid"] != [1, 1, 1], "one workgroup")
    done = run("build", "stream_triad", "--isolate", "--arch", "gfx942", home=home)
    check_run(done, 0, "twins are compiled", stdout="code objects")
    manifest = {"name": "odd", "summary": "odd", "code": {"source": "odd.hip", "symbol": "odd"}, "launch": {"grid": [1], "block": [64], "args": ["a"]},
                "buffers": {"a": {"type": "f32", "count": 64, "role": "out"}}, "check": {"expect": {"a": "0"}}, "isolate": ["stores"]}
    (home / "odd.json").write_text(json.dumps(manifest))
    (home / "odd.hip").write_text("\n")
    check_run(run("plan", "odd.json", "--device", "sim:mi300x", home=home), 2, "an unknown twin", stderr="loads, math and one_workgroup")


def a_result(home):
    """Cases of a result by id, label or kernel; what was measured is set against what is predicted."""
    words = ["softmax_row", "stream_triad", "--device", "sim:mi300x", "--quick", "--isolate", "-o", "r.json"]
    check_run(run("run", *words, home=home), 0, "a result")
    both = explained(home, "explain", "r.json")
    check([case["case"] for case in both] == ["softmax_row", "stream_triad"] and "measured_ns" not in both[0]["standing"], f"predicted: {both}")
    result = measured(json.loads((home / "r.json").read_text()))
    (home / "m.json").write_text(json.dumps(result))
    done = run("explain", "m.json", "--filter", "stream_triad*", home=home)
    check_run(done, 0, "measured", stdout=["measured ", "times the prediction", "measured alone", "loads", "of the shorter part is hidden"])
    [case] = explained(home, "explain", "m.json", "--filter", "softmax_row")
    median = next(case["stats"]["median_ns"] for case in result["cases"] if case["kernel"] == "softmax_row" and "isolate" not in case["id"])
    check(case["standing"]["measured_ns"] == median, f"measured: {case['standing']}")
    check([twin["twin"] for twin in case["twins"]] == ["loads", "math", "one_workgroup"] and all(twin["share"] > 0 for twin in case["twins"]), f"{case['twins']}")
    for words, message in ((["m.json", "--filter", "gemm*"], "matches the filter"), (["m.json", "--machine", "h100"], "it is sm_90a")):
        check_run(run("explain", *words, home=home), 2, str(words), stderr=message)


def mistakes(home):
    (home / "none.csv").write_text('"Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value"\n1,"other","SQ_WAVES",3\n')
    for words, code, message in ((["explain", "stream_triad"], 2, "--machine names the machines"), ([*NAIVE[:-1], "mi300x,mi210"], 2, "one machine at a time"),
                                 ([*NAIVE, "--counters", "none.csv"], 2, "none of these counters"), ([*NAIVE, "--counters", "gone.csv"], 2, "gone.csv")):
        check_run(run(*words, home=home), code, str(words), stderr=message)


main(one_screen, a_kernel_without_a_fault, as_csv, a_chase, an_untiled_product, forgotten_lds, several_cases, no_code, counters_of_a_copy,
     counters_are_read, ablation_twins, a_result, mistakes)
