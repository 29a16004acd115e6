# SPDX-License-Identifier: MIT
"""What frameworks, profilers and libraries write, in small: shapes, calls and times come out, and a suite that runs."""
import csv
import gzip
import json
import re
import signal
import sqlite3
import subprocess

import runs
from harness import PATIENCE_S, PROGRAM, ROOT, SANITIZED, check, check_run, environment, load, main, peak, run

try:
    import jsonschema
    schema = jsonschema.Draft202012Validator(load(ROOT / "configs/schema/import.schema.json"))
except ImportError:
    schema = None
TRACES = ROOT / "tests/data/traces"


def connect(path):
    """Statements that wait for no disk."""
    db = sqlite3.connect(path)
    db.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
    return db


def imported(home, *files, code=0, **extra):
    done = run("import", *files, "--json", "-", home=home, **extra)
    check_run(done, code, f"import {files}")
    return by_schema(json.loads(done.stdout)) if not code else done.stderr


def by_schema(document):
    wrong = list(schema.iter_errors(document))[:1] if schema else []
    check(not wrong, f"the schema: {wrong and [problem.message[:200] for problem in wrong[0].context]}")
    return document


def rows_of(found):
    return {(row["operator"], row["shape"]): row for row in found["rows"]}


def near(value, expected, relative=1e-12):
    return value is not None and abs(value - expected) <= relative * max(abs(expected), 1)


# ---- Kineto ----

def to_a_ns(ns, us, calls):
    """The other tool counts in doubles of us since the start of the machine, which are a quarter of a ns apart."""
    return abs(ns - 1e3 * us) <= calls


def bert(home):
    """The numbers of another tool for the same trace, to a nanosecond for each call."""
    expected = load(TRACES / "bert_mi300x_expected.json")
    found = imported(home, TRACES / "bert_mi300x.json.gz")
    names = {"computation_time": "compute_ns", "exposed_comm_time": "exposed_communication_ns", "exposed_memcpy_time": "exposed_copy_ns",
             "busy_time": "busy_ns", "idle_time": "idle_ns", "total_time": "span_ns", "total_comm_time": "communication_ns",
             "total_memcpy_time": "copy_ns"}
    for name, ms in expected["timeline_ms"].items():
        check(to_a_ns(found["timeline"][names[name]], ms * 1e3, 61), f"{name}: {found['timeline'][names[name]]} is not {ms} ms")
    operators = {one["operator"]: one for one in found["operators"]}
    check(len(operators) == len(expected["operators"]), f"{list(operators)}")
    for name, calls, us in expected["operators"]:
        one = operators.get(name, {"calls": 0, "total_ns": 0})
        check(one["calls"] == calls and to_a_ns(one["total_ns"], us, calls), f"{name}: {one}, not {calls} calls in {us} us")
    rows = rows_of(found)
    for m, n, k, calls, *us in expected["gemm"]:
        row = rows[("aten::addmm", f"M={m} N={n} K={k}")]
        times = [row[key] for key in ("total_ns", "median_ns", "min_ns", "max_ns")]
        check(row["calls"] == calls and all(to_a_ns(ns, one, calls) for ns, one in zip(times, us)) and (row["dtype"], row["layout"]) == ("bf16", "TN"), f"{row}")
    for b, h, kv, s, all_keys, d, calls, *us in expected["attention"]:
        row = rows[("aten::_scaled_dot_product_flash_attention", f"B={b} H={h} HKV={kv} S={s} SKV={all_keys} D={d} DV={d}")]
        check(row["calls"] == calls and to_a_ns(row["total_ns"], us[0], calls) and to_a_ns(row["median_ns"], us[1], calls), f"{row}")
    check(found["device"] == "AMD Instinct MI300X VF" and rows[("aten::addmm", "M=141 N=512 K=512")]["lower_bound_ns"] > 0,
          "no lower bound on the trace's own GPU")
    for row in found["rows"]:
        known = row["kind"] in ("gemm", "norm", "elementwise", "gather", "reduction")
        check((row["estimate_ns"] is not None) == known, f"an estimate: {row}")
        check(not known or row["lower_bound_ns"] is None or row["lower_bound_ns"] < row["estimate_low_ns"] < row["estimate_ns"] < row["estimate_high_ns"], f"{row}")
        check(row["kind"] != "gemm" or 0.5 < row["estimate_ns"] / row["median_ns"] < 2, f"tuned products on a GPU of the model's: {row}")


def kernel(name, start, length, correlation=0, **args):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": length,
            "args": {"device": 0, "stream": 7, "correlation": correlation} | args}


def op(name, start, length, dims, types=None, tid=1, strides=None, values=None):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length,
            "args": {"External id": start, "Input Dims": dims, "Input type": types or ["c10::Half"] * len(dims),
                     "Input Strides": strides or [], "Concrete Inputs": values or []}}


def call(name, start, correlation, tid=1, **args):
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": tid, "ts": start, "dur": 1, "args": {"correlation": correlation} | args}


def write(home, name, events, **members):
    (home / name).write_text(json.dumps({"schemaVersion": 1, "traceEvents": events} | members))
    return home / name


def trees(home):
    """The innermost operator on the thread launches; calls of one operator are one call; other threads are others."""
    events = [op("aten::linear", 0, 100, [[4, 8], [16, 8], []]), op("aten::addmm", 10, 50, [[16], [4, 8], [8, 16]], strides=[[1], [8, 1], [1, 8]]),
              call("hipLaunchKernel", 20, 1), call("hipLaunchKernel", 30, 2), kernel("split", 200, 10, 1), kernel("reduce", 205, 10, 2),
              op("aten::relu", 12, 30, [[32]], tid=2), call("hipLaunchKernel", 25, 3, tid=2), kernel("relu", 300, 5, 3),
              kernel("ncclDevKernel_AllReduce", 302, 10, 4, stream=9), call("hipLaunchKernel", 310, 4)]
    found = imported(home, write(home, "tree.json", events))
    rows = rows_of(found)
    gemm = rows[("aten::addmm", "M=4 N=16 K=8")]
    check(gemm["calls"] == 1 and near(gemm["total_ns"], 15e3), f"two overlapping kernels of one call are 15 us: {gemm}")
    check(gemm["layout"] == "TN" and gemm["kernel"] == "gemm_matrix" and gemm["gpu_kernels"] == "split; reduce", f"{gemm}")
    check(rows[("aten::relu", "n=32 inputs=1")]["total_ns"] == 5e3, f"{rows}")
    line = found["timeline"]
    check((line["compute_ns"], line["communication_ns"], line["exposed_communication_ns"], line["idle_ns"]) == (20e3, 10e3, 7e3, 85e3), f"{line}")


def streams(home):
    """What runs at once on one device counts once, whatever its streams; devices count by themselves."""
    found = imported(home, write(home, "streams.json", [
        kernel("a", 0, 10), kernel("b", 5, 10, stream=2), kernel("inside", 6, 2, stream=3), kernel("nccl", 2, 20, stream=4),
        kernel("Memcpy", 14, 4, stream=5) | {"cat": "gpu_memcpy"}, kernel("d", 30, 10), kernel("other", 0, 40, device=1)]))
    line = found["timeline"]
    check([line[key] for key in ("compute_ns", "communication_ns", "copy_ns", "exposed_communication_ns", "exposed_copy_ns", "busy_ns", "idle_ns", "span_ns", "devices")] ==
          [65e3, 20e3, 4e3, 7e3, 0, 72e3, 8e3, 80e3, 2], f"{line}")
    check(found["total_ns"] == 96e3, f"{found['total_ns']}")


def graphs(home):
    """What a graph replays has no operator; launches that were captured, and an eager trace, have; else nothing is claimed."""
    names = ["norm_kernel", "gemm_kernel", "norm_kernel", "gemm_kernel"]
    replay = [call("hipGraphLaunch", 10, 9)] + [kernel(name, 100 + 10 * k, 5, 9) for k, name in enumerate(names)]
    shapes = [[[4, 8]], [[4, 8], [8, 16]], [[4, 16]], [[4, 16], [16, 8]]]
    eager, capture = [], [call("hipStreamBeginCapture", 1, 1)]
    for k, name in enumerate(names):
        kind = "aiter::rmsnorm" if "norm" in name else "aten::mm"
        eager += [op(kind, 1000 + 100 * k, 50, shapes[k]), call("hipLaunchKernel", 1010 + 100 * k, 20 + k), kernel(name, 5000 + 10 * k, 7, 20 + k)]
        capture += [op(kind, 1000 + 100 * k, 50, shapes[k]), call("hipLaunchKernel", 1010 + 100 * k, 20 + k, kernel=name)]
    graph = write(home, "graph.json", replay)
    alone = imported(home, graph)
    check(any("--shapes" in note for note in alone["notes"]), f"{alone['notes']}")
    check(alone["explained_ns"] == 0 and all(row["source"] == "none" for row in alone["rows"]), f"{alone['rows']}")
    for more in ([write(home, "capture.json", capture)], ["--shapes", write(home, "eager.json", eager)]):
        filled = imported(home, graph, *more)
        rows = rows_of(filled)
        check(filled["total_ns"] == 20e3 == filled["explained_ns"], f"{more}: {filled['total_ns']} {filled['explained_ns']}")
        check(rows[("aten::mm", "M=4 N=8 K=16")]["source"] == "capture" and ("aiter::rmsnorm", "rows=4 columns=16") in rows, f"{list(rows)}")
    # Replays may run branches in any order: nodes are numbered as they were captured. The operator around a launch is of no kernel in it.
    nodes = [op("aten::add", 9, 3, [[2], [2]]) | {"tid": 5}, call("hipGraphLaunch", 10, 9), call("hipGraphLaunch", 300, 10)]
    nodes += [kernel(name, 200 - 10 * k, 5, 9) for k, name in enumerate(names)]
    for k, event in enumerate(nodes[3:]):
        event["args"] |= {"External id": 9, "graph id": 7, "graph node id": (7 << 32) + k}
    path = write(home, "nodes.json", nodes)
    rows = rows_of(imported(home, path, "--shapes", write(home, "eager.json", eager)))
    check(rows[("aten::mm", "M=4 N=8 K=16")]["source"] == "capture" and rows[("aiter::rmsnorm", "rows=4 columns=8")]["min_ns"] == 5e3, f"{list(rows)}")
    later = [kernel("norm_kernel", 170, 7, 9), kernel("norm_kernel", 180, 9, 9)]
    for k, event in enumerate(later):
        event["args"] |= {"graph id": 7, "graph node id": 1 - k}
    first = next(row for row in imported(home, write(home, "later.json", later), "--shapes", home / "eager.json")["rows"] if row["shape"] == "rows=4 columns=8")
    check(first["total_ns"] == 9e3, f"the first node ran last: {first}")
    alone = imported(home, path)
    check({row["operator"]: row["calls"] for row in alone["rows"]} == {"norm_kernel": 2, "gemm_kernel": 2, "launch of a graph": 1}, f"{alone['rows']}")
    check(any("4 kernels of 1 launch of graphs, 20.0 us" in note for note in alone["notes"]) and any("1 of 2 launches" in note for note in alone["notes"]), f"{alone['notes']}")
    unlike = [event for event in eager if event["ts"] not in (1300, 1310, 5030)]  # one product less: which is it?
    shy = imported(home, graph, "--shapes", write(home, "unlike.json", unlike))
    check(all(row["source"] == "none" for row in shy["rows"] if row["operator"] == "gemm_kernel") or
          [row["shape"] for row in shy["rows"] if row["operator"] == "aten::mm"] == ["M=4 N=16 K=8"], f"{shy['rows']}")


def clipped(home):
    """Durations that overlap on a stream end where the next one starts, whatever their order in the file; a graph's kernels may overlap."""
    def pair(long, correlation=None):
        return [kernel("k" if k % 2 else "long", 100 * k, long if k == 4 else 95, correlation or k + 1) for k in range(8)]
    for events, total, less in ((pair(95), 8 * 95, None), (pair(5000), 7 * 95 + 100, "4.90 ms"), (pair(5000)[::-1], 7 * 95 + 100, "4.90 ms"),
                                (pair(101), 7 * 95 + 101, None), (pair(5000, correlation=3), 7 * 95 + 5000, None),
                                ([event | {"args": event["args"] | {"stream": k}} for k, event in enumerate(pair(5000))], 7 * 95 + 5000, None)):
        found = imported(home, write(home, "overlap.json", events))
        check(found["total_ns"] == total * 1e3, f"{found['total_ns']}, not {total}")
        check(len(found["notes"]) == bool(less) and all(f"1 GPU events end where the next one starts, {less} less" in note for note in found["notes"]), f"{found['notes']}")


def untimed(home):
    """What has no time is counted, and spoils no median, no span and no total; a launch whose kernel is missing is counted too."""
    def mm(k, event=True, when=None, length=50):
        return [op("aten::mm", 100 * k + 1, 90, [[64, 64], [64, 64]]), call("hipLaunchKernel", 100 * k + 2, k + 1)] + event * [kernel("k", 1e6 + 100 * k if when is None else when, length, k + 1)]
    whole = sum((mm(k) for k in range(10)), [])
    for lack, word in ((lambda k: mm(k, when=0, length=0), "counted, not timed (the first at byte"), (lambda k: mm(k, length=-3), "counted, not timed"),
                       (lambda k: mm(k, length=None), "counted, not timed"), (lambda k: mm(k, event=False), "10 of 20 launches have no kernel in it")):
        found = imported(home, write(home, "untimed.json", whole + sum((lack(k) for k in range(10, 20)), [])))
        row, = found["rows"]
        check((row["calls"], row["total_ns"], row["median_ns"], row["min_ns"], found["timeline"]["span_ns"]) == (20, 500e3, 50e3, 50e3, 950e3), f"{row} {found['timeline']}")
        check(len(found["notes"]) == 1 and word in found["notes"][0], f"{found['notes']}")
    late = whole + [kernel("before", 5, 7, 999)]  # launched before the recording began
    found = imported(home, write(home, "late.json", late))
    check(found["total_ns"] == 507e3 and not found["notes"], f"it ran: {found['total_ns']} {found['notes']}")
    exact = [kernel("k", 1712138000000000 + 10 * k + 0.125, 1.001) for k in range(1000)]  # us since 1970, of which a double holds quarters
    check(near(imported(home, write(home, "exact.json", exact))["total_ns"], 1001e3), "times stay exact")
    columns = [column.strip('"') for column in HEADS["7.0"].split(",")]
    lines = [HEADS["7.0"]] + [",".join(str((VALUES | {"Kernel_Name": "k", "Start_Timestamp": start, "End_Timestamp": end}).get(column, 1)) for column in columns)
                              for start, end in ((0, 0), (BIG, BIG + 900000), (BIG + 1000, BIG + 2000))]
    (home / "zero.csv").write_text("\n".join(lines))
    found = imported(home, home / "zero.csv")
    check((found["rows"][0]["calls"], found["rows"][0]["total_ns"], found["timeline"]["span_ns"]) == (3, 2000, 2000) and len(found["notes"]) == 2, f"{found}")


def cut(home):
    """A trace that ends before the events of the GPU shows its operators, and says where it ends."""
    head = '{"traceEvents": [' + ", ".join(json.dumps(op("aten::mm", 100 * k, 90, [[64, 32], [32, 16]])) for k in range(3))
    for tail, calls in ((', {"ph": "X", "cat": "cpu_o', 3), (", " + json.dumps(call("hipLaunchKernel", 110, 7)) + ", {", 1)):
        (home / "cut.json").write_text(head + tail)
        found = imported(home, home / "cut.json")
        row, = found["rows"]
        check((row["operator"], row["shape"], row["calls"], row["total_ns"]) == ("aten::mm", "M=64 N=16 K=32", calls, None), f"{row}")
        check(any(f"cut off at byte {len(head + tail)}, before the events of a GPU" in note for note in found["notes"]), f"{found['notes']}")
    done = run("import", write(home, "plain.json", [kernel("k", 0, 5)]), "-o", "none.json", home=home)
    check_run(done, 2, "no suite is no reason to show no table", stdout="5.00 us", stderr="there is no suite to write")


def memory(home):
    """What 300 bytes for each event allow: 200,000 of them, whose launches alternate, cost no more than that."""
    used = []
    for count in (10_000, 210_000):
        with open(home / "many.json", "w") as out:  # line by line: what this process holds counts as the child's
            out.write('{"traceEvents": [')
            out.writelines(json.dumps(kernel(f"k{k % 7}", 10 * k + k % 13, 5, grid=[k % 50 + 1, 1, 1], block=[64, 1, 1])) + ",\n"
                           for k in range(count))
            out.write("{}]}")
        done, rss = peak("import", "many.json", home=home)
        check_run(done, 0, "many events")
        used.append(rss)
    check(SANITIZED or used[1] - used[0] < 300 * 200_000, f"{(used[1] - used[0]) / 200_000:.0f} bytes for an event")


def names(home):
    """What a kernel's name says is said, and is no shape."""
    tensile = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN_LDSB0_GSU4_ISA942"
    found = imported(home, write(home, "names.json", [kernel(tensile, 0, 5, grid=[3, 2, 1], block=[256, 1, 1]), kernel("triton_poi_fused_add_0", 10, 5),
                                                      kernel("fmha_fwd_hd128_bf16_causal_group", 20, 5)]))
    rows = {row["operator"]: row for row in found["rows"]}
    gemm = rows[tensile]
    check((gemm["kind"], gemm["dtype"], gemm["layout"], gemm["shape"], gemm["source"]) == ("gemm", "bf16", "TN", None, "none"), f"{gemm}")
    check(gemm["kernel_traits"] == "TN tile 64x32x256 MFMA 16x16 split K 4, N <= 192, M <= 64", gemm["kernel_traits"])
    check(rows["triton_poi_fused_add"]["kind"] == "elementwise" and "D=128 causal" in rows["fmha_fwd_hd128_bf16_causal_group"]["kernel_traits"], f"{rows}")
    check(found["explained_ns"] == 0, "a kernel's name explains no time")
    numbered = [kernel(f"triton_poi_fused_add_mul_{k}", 10 * k, 5, grid=[8 if k < 3 else 16, 1, 1], block=[256, 1, 1]) for k in range(4)]
    rows = [(row["operator"], row["shape"], row["calls"]) for row in imported(home, write(home, "numbered.json", numbered))["rows"]]
    check(sorted(rows) == [("triton_poi_fused_add_mul", "16 workgroups of 256", 1), ("triton_poi_fused_add_mul", "8 workgroups of 256", 3)], f"{rows}")
    line = "hipblaslt-bench -m 48 -n 5 -k 64 --transA T --transB N --a_type bf16_r --d_type bf16_r --compute_type f32_r\n"
    (home / "lt.log").write_text("noise\n" + line)
    found = imported(home, home / "names.json", home / "lt.log")
    row = next(row for row in found["rows"] if row["kind"] == "gemm")
    check((row["shape"], row["source"], row["total_ns"], row["calls"]) == ("M=5 N=48 K=64", "log", 5e3, 1), f"{row}")


def shown_names(home):
    """Results, arguments and namespaces are cut first, and no two rows look alike; times are in the table at every width."""
    path = write(home, "shown.json", [kernel(f"void ns::{space}::work<int, ns::Op<float> >(float*, int)", 100 * k, 9 - k) for k, space in enumerate("ab")])
    for width in "80", "100", "132":
        lines = run("import", path, home=home, COLUMNS=width).stdout.splitlines()
        check(any("9.00 us" in line and line.startswith("work<int, Op<float> > ") for line in lines) and any("work<int, Op<float> > #2" in line for line in lines), f"{lines}")
    check({row["operator"][:13] for row in imported(home, path)["rows"]} == {"void ns::a::w", "void ns::b::w"}, "data has whole names")


def mangled_names(home):
    """Mangled names are shown as their source has them, those of PyTorch's kernels without namespaces; one kernel is one row."""
    mangled = "_ZN2ns4workIfEEvPT_i"  # void ns::work<float>(float*, int)
    path = write(home, "mangled.json", [kernel(mangled, 0, 5), kernel(mangled + ".kd", 10, 5), kernel("void ns::work<float>(float*, int)", 20, 5),
                                        kernel("_Zinvalid", 30, 1)])
    rows = {row["operator"]: row["calls"] for row in imported(home, path)["rows"]}
    check(rows == {"void ns::work<float>(float*, int)": 3, "_Zinvalid": 1}, f"{rows}")
    plain = {"void at::native::(anonymous namespace)::layer_norm_kernel<float, at::Op<c10::Half> >(int, float*)": "layer_norm_kernel<float, Op<Half> >",
             "std::enable_if<true, int>::type a::b<3>::kernel<4>(int)": "kernel<4>", "void one<f(a::b&)::{lambda(int)#1}>(x::y)": "one<f(b&)::{lambda(int)#1}>",
             "cutlass::device_kernel<flash::Fwd<128>>": "device_kernel<Fwd<128>>", "Memcpy HtoD (Pinned -> Device)": "Memcpy HtoD (Pinned -> Device)",
             "aiter::fmoe_bf16": "aiter::fmoe_bf16", "void cut::off<int": "void cut::off<int"}
    lines = run("import", write(home, "plain.json", [kernel(name, 10 * k, 5) for k, name in enumerate(plain)]), home=home, COLUMNS="132").stdout
    check(all(f"\n{short} " in lines for short in plain.values()), lines)
    alike = [f"kernel_of_a_long_name_{'x' * 20}{k}{'y' * 20}_and_its_tail" for k in range(3)]
    for width in "60", "80", "132":
        lines = run("import", write(home, "alike.json", [kernel(name, 10 * k, 5 - k) for k, name in enumerate(alike)]), home=home, COLUMNS=width).stdout.splitlines()
        shown = [re.sub(r"[0-9.]+ us|[0-9.]+ %|^ *[0-9]+", "", line) for line in lines if "kernel_" in line and ".." in line and "explained" not in line]
        check(len(set(shown)) >= 3, f"{width}: {lines}")


def mixed_products(home):
    """A product of two types has a type of its own, no kernel that stands for it and no rate of either type."""
    line = "hipblaslt-bench -m 512 -n 512 -k 512 --transA T --transB N --a_type %s --b_type %s --d_type bf16_r --compute_type f32_r\n"
    for a, b, dtype in (("f8_r", "bf8_r", "e4m3*e5m2"), ("f16_r", "i8_r", "f16*i8"), ("bf16_r", "bf16_r", "bf16")):
        (home / "two.log").write_text(line % (a, b))
        row, = imported(home, home / "two.log")["rows"]
        check(row["dtype"] == dtype and (row["kernel"] is None) == ("*" in dtype), f"{a} {b}: {row}")
    for a, dtype in (("torch.bfloat16", "bf16*e4m3"), ("torch.float8_e4m3fn", "e4m3")):
        (home / "two.csv").write_text(f"token,model_dim,inter_dim,expert,topk,act_type,dtype,q_dtype_a,q_dtype_w,us\n16,512,256,8,2,silu,torch.bfloat16,{a},torch.float8_e4m3fn,9\n")
        row, = imported(home, home / "two.csv")["rows"]
        check(row["dtype"] == dtype, f"{a}: {row}")
    for a, b in (("c10::BFloat16", "signed char"), ("c10::BFloat16", "c10::Float8_e4m3fn"), ("float", "c10::Half")):
        events = [op("aten::mm", 0, 9, [[512, 512], [512, 512]], [a, b]), call("hipLaunchKernel", 1, 1), kernel("g", 20, 5, 1)]
        path = write(home, "two.json", events, deviceProperties=[{"name": "AMD Instinct MI355X", "numSms": 256}])
        row, = imported(home, path)["rows"]
        check("*" in row["dtype"] and all(row[key] is None for key in ("kernel", "lower_bound_ns", "estimate_ns")), f"{a} {b}: {row}")


def diff(home):
    old = write(home, "a.json", [kernel("same", 0, 10), kernel("gone", 20, 5)])
    new = write(home, "b.json", [kernel("same", 0, 8), kernel("new", 20, 4)])
    done = run("import", "--diff", old, new, "--json", "-", home=home)
    check_run(done, 0, "diff")
    found = {row["operator"]: row for row in by_schema(json.loads(done.stdout))["changes"]}
    check(found["same"]["difference_ns"] == -2e3 and near(found["same"]["change"], -0.2), f"{found['same']}")
    check(found["gone"]["state"] == "gone" and found["new"]["state"] == "new", f"{found}")
    for arguments, rows, text in ((["--diff", old, new], 3, "What changed between two traces"), ([old], 2, "Where the time goes")):
        lines = list(csv.DictReader(run("import", *arguments, "--format", "csv", home=home).stdout.splitlines()))
        check(len(lines) == rows and {"same", "gone"} <= {line["operator"] for line in lines}, f"{arguments} as CSV: {lines}")
        for name in "markdown", "html":
            check_run(run("import", *arguments, "--format", name, home=home), 0, f"{arguments} as {name}", stdout=text)
    page = run("import", ROOT / "tests/data/traces/bert_mi300x.json.gz", "--format", "html", home=home).stdout
    check('data-picture="operators"' in page and re.search(r'<th scope="row">aten::addmm</th><td[^>]*>M=141 N=512 K=512<', page), "a page: a picture, then rows that begin with their operator")
    check_run(run("import", old, "--format", "jsonl", home=home), 2, "a format of runs", stderr="table, markdown, json, csv or html")
    check_run(run("import", "--diff", old, new, home=home), 0, "a table", stdout=["A: ", "b.json", "-2.00 us", "+4.00 us", "-5.00 us"])
    check_run(run("import", old, "--diff", old, new, home=home), 2, "--diff and a file")
    check_run(run("import", home=home), 2, "no file")
    (home / "damaged.json.gz").write_bytes(b"\x1f\x8b\x08\x00garbage")
    check_run(run("import", "damaged.json.gz", home=home), 2, "damage", stderr="its compression is damaged from the beginning")


def gaps(home):
    """Between events nothing runs: how long, around which kernels, and how long the host had not launched what comes next. Kernels are summed by name."""
    events = [call("hipLaunchKernel", 0, 1), kernel("void ns::first<int>(int)", 10, 10, 1), call("hipLaunchKernel", 60, 2), kernel("second", 70, 10, 2),
              call("hipLaunchKernel", 61, 3), kernel("second", 90, 10, 3), kernel("inside", 91, 2, stream=9), kernel("unknown", 101, 1)]
    found = imported(home, write(home, "gaps.json", events))
    line = found["timeline"]
    check([(gap["length_ns"], gap["host_ns"], gap["start_ns"], gap["after"], gap["before"]) for gap in line["gaps"]] ==
          [(50e3, 40e3, 10e3, "first<int>", "second"), (10e3, 0, 70e3, "second", "second"), (1e3, None, 90e3, "second", "unknown")], f"{line['gaps']}")
    check((line["gap_count"], line["host_ns"], line["idle_ns"]) == (3, 40e3, 61e3), f"{line}")
    check([(one["operator"], one["calls"], one["total_ns"]) for one in found["kernels"]] ==
          [("second", 2, 20e3), ("void ns::first<int>(int)", 1, 10e3), ("inside", 1, 2e3), ("unknown", 1, 1e3)], f"{found['kernels']}")
    lines = run("import", "gaps.json", home=home, COLUMNS="200").stdout.splitlines()
    check(lines[-2].startswith("33.0 us of GPU time, idle 66 % of 92.0 us; second takes 61 % of it") and
          "% of the time for the host, longest 50.0 us before second" in lines[-1], f"{lines[-2:]}")


def pages(home):
    """-o x.html is a page, never a suite: verdict and action, large figures, operators with what tuned kernels would win, kernels, gaps; two traces side by side."""
    bert = TRACES / "bert_mi300x.json.gz"
    for more in [], ["--format", "html"]:
        check_run(run("import", bert, "-o", "page.html", *more, home=home), 0, f"a page {more}", stdout="")
    page = (home / "page.html").read_text()
    verdict = re.search(r'<div class="verdict[^>]*>(.*?)</div>', page, re.S)[1]
    check("AMD Instinct MI300X VF: 391 us of GPU time, idle 89 % of 3.50 ms" in verdict and "waits 58 % of the time for the host" in verdict, verdict)
    check(all(word in page for word in ('class="tiles"', "waiting for the host", "By operator and shape", ">to win<", ">tuned<", ">lower bound<", "Idle, overlap and gaps", "The longest gaps", "By kernel",
                                        "MT16x16x128 MI16x16x1")), "what the page has")
    check_run(run("import", bert, "-o", "suite.json", "--format", "markdown", home=home), 0, "a suite, and the table", stdout="### Where the time goes")
    check(load(home / "suite.json")["cases"], "a suite")
    (home / "code").mkdir()
    check_run(run("import", bert, "code", "-o", "page.html", home=home), 2, "code beside a page", stderr="go beside -o SUITE.json")
    check_run(run("import", "--diff", bert, bert, "-o", "two.html", home=home), 0, "two traces", stdout="")
    two = (home / "two.html").read_text()
    check(all(word in two for word in ("GPU time: 391 us, then 391 us", "no operator takes longer in B", ">of A<", ">of B<", "idle, waiting for the host")), "side by side")
    rows = [row for row in imported(home, bert)["rows"] if row["worth_ns"]]
    check(all(near(row["worth_ns"], row["total_ns"] - row["calls"] * row["estimate_ns"], 1e-9) for row in rows) and len(rows) > 2, f"{rows}")
    check({row["bound"] for row in imported(home, bert)["rows"]} >= {"matrix_bf16", None}, "bounds have names")


# ---- rocprofv3 ----

HEADS = {
    "6.2": '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Private_Segment_Size",'
           '"Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"',
    "6.3": '"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp",'
           '"Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"',
    "7.0": '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp",'
           '"LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z",'
           '"Grid_Size_X","Grid_Size_Y","Grid_Size_Z"',
}
BIG = 1700000000000000000  # ns since 1970, which a double does not hold
VALUES = {"Kind": "KERNEL_DISPATCH", "Kernel_Name": 'void f<int, "x">(float*, int)', "Workgroup_Size_X": 64, "Grid_Size_X": 1024}


def profiles(home):
    for version, head in HEADS.items():
        columns = [column.strip('"') for column in head.split(",")]
        lines = [head]
        for start, end in ((BIG + 1, BIG + 1001), (BIG + 1003, BIG + 2003)):
            values = VALUES | {"Start_Timestamp": start, "End_Timestamp": end, "Agent_Id": "Agent 2"}
            lines.append(",".join('"{}"'.format(str(values.get(column, 1)).replace('"', '""')) for column in columns))
        (home / f"{version}.csv").write_text("\r\n".join(lines) + "\r\n")
        found = imported(home, home / f"{version}.csv")
        row = found["rows"][0]
        check((row["operator"], row["calls"], row["total_ns"], found["timeline"]["idle_ns"]) == (VALUES["Kernel_Name"], 2, 2000, 2), f"{version}: {row}")
    agents = [{"id": {"handle": 11}, "type": 1, "name": "cpu"}, {"id": {"handle": 12}, "type": 2, "name": "gfx950", "product_name": "AMD Instinct MI355X", "cu_count": 256}]
    dispatch = {"start_timestamp": BIG, "end_timestamp": BIG + 500, "dispatch_info": {"agent_id": {"handle": 12}, "kernel_id": 7,
                "workgroup_size": {"x": 64, "y": 1, "z": 1}, "grid_size": {"x": 640, "y": 1, "z": 1}}}
    tools = [{"metadata": {"pid": pid}, "agents": agents, "kernel_symbols": [{"kernel_id": 7, "kernel_name": "_Zk", "formatted_kernel_name": f"k{pid}()"}],
              "buffer_records": {"kernel_dispatch": [dispatch]}} for pid in (1, 2)]
    (home / "sdk.json").write_text(json.dumps({"rocprofiler-sdk-tool": tools}, indent=2))
    found = imported(home, home / "sdk.json")
    check({row["operator"] for row in found["rows"]} == {"k1()", "k2()"} and (found["arch"], found["cus"]) == ("gfx950", 256), f"{found}")
    (home / "stats.csv").write_text('"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"k(int)",4,4000,1000.0,100.0\n')
    check(imported(home, home / "stats.csv")["rows"][0]["median_ns"] == 1000, "stats")


def rocpd(home, version, graph, track):
    """A database of two processes; each has its own ids. Schemas: with columns of graphs from 3.0.2, with tracks in 4.1."""
    path = home / f"{version}.db"
    with connect(path) as db:
        for number in (1, 2):
            suffix, guid = f"_000{number}_ab", f"guid-{number}"
            key = f'id INTEGER PRIMARY KEY, guid TEXT DEFAULT "{guid}" NOT NULL'
            where = "track_id INTEGER" if track else "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, queue_id INTEGER, stream_id INTEGER"
            graphs = ", graph_exec_id INTEGER DEFAULT 0, graph_node_id INTEGER DEFAULT 0" if graph else ""
            sizes = ", ".join(f"{what}_size_{axis} INTEGER" for what in ("workgroup", "grid") for axis in "xyz")
            copy_where = "track_id INTEGER" if track else "dst_agent_id INTEGER"
            db.executescript(f"""
                CREATE TABLE "rocpd_metadata{suffix}" (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
                CREATE TABLE "rocpd_string{suffix}" ({key}, string TEXT);
                CREATE TABLE "rocpd_info_agent{suffix}" ({key}, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, name TEXT, product_name TEXT,
                                                         extdata JSONB DEFAULT "{{}}");
                CREATE TABLE "rocpd_track{suffix}" ({key}, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER);
                CREATE TABLE "rocpd_info_kernel_symbol{suffix}" ({key}, kernel_name TEXT, display_name TEXT);
                CREATE TABLE "rocpd_kernel_dispatch{suffix}" ({key}, {where}, kernel_id INTEGER, dispatch_id INTEGER, start BIGINT, "end" BIGINT, {sizes}{graphs});
                CREATE TABLE "rocpd_memory_copy{suffix}" ({key}, {copy_where}, start BIGINT, "end" BIGINT, name_id INTEGER, size INTEGER);
                INSERT INTO "rocpd_metadata{suffix}" (tag, value) VALUES ('schema_version', '{version}');
                INSERT INTO "rocpd_string{suffix}" (id, string) VALUES (3, 'MEMORY_COPY_HOST_TO_DEVICE');
                INSERT INTO "rocpd_info_agent{suffix}" (id, nid, pid, type, absolute_index, name, product_name, extdata)
                    VALUES (1, 1, 1, 'CPU', 0, 'cpu', 'EPYC', '{{}}'), (2, 1, 1, 'GPU', 1, 'gfx942', 'AMD Instinct MI300X', '{{"cu_count": 304}}');
                INSERT INTO "rocpd_track{suffix}" (id, nid, pid, tid, agent_id) VALUES (5, 1, 1, 1, 2);
                INSERT INTO "rocpd_info_kernel_symbol{suffix}" (id, kernel_name, display_name) VALUES (9, '_Zk', 'k{number}(int)');
                INSERT INTO "rocpd_kernel_dispatch{suffix}" ({"track_id" if track else "nid, pid, tid, agent_id"}, kernel_id, dispatch_id, start, "end",
                    workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z)
                    VALUES ({"5" if track else "1, 1, 1, 2"}, 9, 1, {BIG}, {BIG + 1000 * number}, 64, 1, 1, 640, 1, 1);
                INSERT INTO "rocpd_memory_copy{suffix}" ({"track_id" if track else "dst_agent_id"}, start, "end", name_id, size)
                    VALUES ({"5" if track else "2"}, {BIG + 3000}, {BIG + 3500}, 3, 64);
                CREATE VIEW IF NOT EXISTS rocpd_kernel_dispatch AS SELECT * FROM "rocpd_kernel_dispatch{suffix}";
                CREATE VIEW IF NOT EXISTS rocpd_memory_copy AS SELECT * FROM "rocpd_memory_copy{suffix}";""")
    return path


def stamped(path):
    """As the first schema had it: times are rows of their own."""
    with connect(path) as db:
        for suffix in ("_0001_ab", "_0002_ab"):
            db.execute(f'CREATE TABLE "rocpd_timestamp{suffix}" (id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, value BIGINT)')
            for table in (f"rocpd_kernel_dispatch{suffix}", f"rocpd_memory_copy{suffix}"):
                for time in ("start", "end"):
                    db.execute(f'ALTER TABLE "{table}" ADD COLUMN {time}_id INTEGER')
                    db.execute(f'INSERT INTO "rocpd_timestamp{suffix}" (guid, value) SELECT guid, "{time}" FROM "{table}"')
                    db.execute(f'UPDATE "{table}" SET {time}_id = (SELECT max(id) FROM "rocpd_timestamp{suffix}")')
        db.executescript("DROP VIEW rocpd_kernel_dispatch; DROP VIEW rocpd_memory_copy;" +
                         "".join(f'ALTER TABLE "rocpd_{table}_000{number}_ab" RENAME COLUMN "{time}" TO "{time}_was";' for number in (1, 2)
                                 for table in ("kernel_dispatch", "memory_copy") for time in ("start", "end")))
    return path


def nsys(home, name, columns, kernels=True):
    """Two processes whose correlation ids are alike and whose only device is device 0: each sees another GPU. One replays a graph."""
    path = home / name
    with connect(path) as db:
        db.executescript("""
            CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT);
            INSERT INTO StringIds VALUES (1, 'void gemm<float>(float*)'), (2, 'gemm'), (3, '_Z4gemmIfEvPf'), (4, 'cudaLaunchKernel_v7000'), (5, 'cudaGraphLaunch_v10000');
            CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER);
            INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 132, 9, 0), (1, 'NVIDIA H100 80GB HBM3', 132, 9, 0);
            CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT, numMultiprocessors INTEGER);
            INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 100, 'a', 132), (1, 0, 200, 'b', 132);
            CREATE TABLE NVTX_EVENTS (start INTEGER, "end" INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, "end" INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, "end" INTEGER, deviceId INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000, 3100, 0);
            CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, "end" INTEGER, deviceId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER);""")
        db.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({', '.join(columns)})") if kernels else None
        for pid in (100, 200):
            process = (1 << 56) | (pid << 24)
            values = {"start": 1000, '"end"': 1000 + pid, "deviceId": 0, "correlationId": 7, "globalPid": process, "demangledName": 1, "shortName": 2, "mangledName": 3,
                      "gridX": 8, "gridY": 1, "gridZ": 1, "blockX": 128, "blockY": 1, "blockZ": 1}
            db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({', '.join('?' * len(columns))})", [values.get(c) for c in columns]) if kernels else None
            db.execute("INSERT INTO NVTX_EVENTS VALUES (10, 50, 59, ?, NULL, ?)", (f"aten::mm, op_id = 1, sizes = [[{pid}, 8], [8, 16]]", process + pid))
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (20, 21, ?, 7, 4), (30, 31, ?, 8, 5)", (process + pid, process + pid))
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (4000, 9000, 0, 8, ?, 3)", ((1 << 56) | (200 << 24),))
    return path


KERNEL_COLUMNS = ["start", '"end"', "deviceId", "contextId", "streamId", "correlationId", "globalPid", "demangledName", "shortName", "registersPerThread",
                  "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"]


def nsys_versions(home):
    for name, columns in (("2021", KERNEL_COLUMNS), ("2022", KERNEL_COLUMNS + ["mangledName", "graphNodeId"]),
                          ("2025", KERNEL_COLUMNS[:4] + ["greenContextId"] + KERNEL_COLUMNS[4:] + ["mangledName", "graphNodeId", "graphId"])):
        found = imported(home, nsys(home, f"{name}.sqlite", columns))
        rows = rows_of(found)
        for pid in (100, 200):
            check(rows[("aten::mm", f"M={pid} N=16 K=8")]["total_ns"] == pid, f"{name}: {rows}")
        check(rows[("CUDA graph 3", None)]["total_ns"] == 5000 and any("--cuda-graph-trace=node" in note for note in found["notes"]), f"{name}: {found}")
        check((found["timeline"]["devices"], found["timeline"]["busy_ns"], found["arch"]) == (2, 100 + 200 + 5000 + 100, "sm_90"), f"{name}: {found['timeline']}")
    for missing, name in (("demangledName", "gemm"), ("shortName", "void gemm<float>(float*)"), ("correlationId", "void gemm<float>(float*)")):
        found = imported(home, nsys(home, f"{missing}.sqlite", [c for c in KERNEL_COLUMNS if c != missing]))
        check(any(row["operator"] == name or row["gpu_kernels"] == name for row in found["rows"]), f"{missing}: {found['rows']}")
    check({row["operator"] for row in imported(home, nsys(home, "graphs.sqlite", [], kernels=False))["rows"]} == {"CUDA graph 3", "memory copy"}, "graphs alone")
    calls = nsys(home, "calls.sqlite", [], kernels=False)
    with connect(calls) as db:
        db.execute("DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY")
        db.execute("DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
    alone = run("import", calls, "--json", "-", home=home)
    check(alone.returncode in (0, 2) and "CUDA graph" not in alone.stdout, f"calls that launched nothing: {alone.returncode} {alone.stderr}")


def database_graphs(home):
    """Databases number the nodes of graphs, too: kernels of a replay are of the operators that the capture had, whatever their order in time."""
    eager = [event for k, name in enumerate(("norm", "gemm", "norm")) for event in
             (op("aten::mm" if name == "gemm" else "aiter::rmsnorm", 1000 + 100 * k, 50, [[4 + k, 8], [8, 16]] if name == "gemm" else [[4 + k, 8]]),
              call("hipLaunchKernel", 1010 + 100 * k, 20 + k), kernel(name, 5000 + 10 * k, 7, 20 + k))]
    shapes = write(home, "eager.json", eager)
    with connect(home / "nodes.sqlite") as db:
        db.executescript("""CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (0, 'norm'), (1, 'gemm'), (2, 'norm');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "end" INTEGER, deviceId INTEGER, correlationId INTEGER, shortName INTEGER, graphNodeId INTEGER);""")
        db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, ?, ?, ?)",
                       [(10000 * launch - 100 * k, 10000 * launch - 100 * k + 5 + k, launch, k, (7 << 32) + 1 + k) for launch in (1, 2) for k in range(3)])
    with connect(home / "nodes.db") as db:
        guid = 'guid TEXT DEFAULT "g"'
        db.executescript(f"""CREATE TABLE rocpd_info_kernel_symbol (id INTEGER, {guid}, kernel_name TEXT); INSERT INTO rocpd_info_kernel_symbol (id, kernel_name) VALUES (0, 'norm'), (1, 'gemm'), (2, 'norm');
            CREATE TABLE rocpd_info_agent (id INTEGER, {guid}, nid INTEGER, type TEXT, absolute_index INTEGER, name TEXT, product_name TEXT, extdata TEXT); INSERT INTO rocpd_info_agent VALUES (2, 'g', 1, 'GPU', 1, 'gfx942', 'AMD Instinct MI300X', '');
            CREATE TABLE rocpd_event (id INTEGER, {guid}, correlation_id INTEGER);
            CREATE TABLE rocpd_kernel_dispatch (id INTEGER, {guid}, agent_id INTEGER, kernel_id INTEGER, start INTEGER, "end" INTEGER, {", ".join(f"{what}_size_{axis} INTEGER" for what in ("workgroup", "grid") for axis in "xyz")},
                                                event_id INTEGER, graph_exec_id INTEGER, graph_node_id INTEGER);""")
        for launch in (1, 2):
            for k in range(3):
                db.execute("INSERT INTO rocpd_event VALUES (?, 'g', ?)", (10 * launch + k, 90 + launch))
                db.execute("INSERT INTO rocpd_kernel_dispatch VALUES (?, 'g', 2, ?, ?, ?, 64, 1, 1, 64, 1, 1, ?, 5, ?)",
                           (10 * launch + k, k, 10000 * launch - 100 * k, 10000 * launch - 100 * k + 5 + k, 10 * launch + k, k))
    for name in "nodes.sqlite", "nodes.db":
        found = imported(home, home / name, "--shapes", shapes)
        rows = {row["shape"]: (row["calls"], row["total_ns"], row["source"]) for row in found["rows"]}
        check(rows == {"rows=4 columns=8": (2, 10, "capture"), "M=5 N=16 K=8": (2, 12, "capture"), "rows=6 columns=8": (2, 14, "capture")}, f"{name}: {rows}")
        alone = imported(home, home / name)
        check(any("6 kernels of 2 launches of graphs" in note for note in alone["notes"]), f"{name}: {alone['notes']}")


def databases(home):
    for version, graph, track in (("3.0.0", False, False), ("3.0.2", True, False), ("3.0.5", True, False), ("4.1.0", True, True)):
        found = imported(home, rocpd(home, version, graph, track))
        rows = {row["operator"]: row for row in found["rows"]}
        check(rows["k1(int)"]["total_ns"] == 1000 and rows["k2(int)"]["total_ns"] == 2000, f"{version}: {rows}")
        check(rows["MEMORY_COPY_HOST_TO_DEVICE"]["calls"] == 2 and (found["device"], found["arch"], found["cus"]) == ("AMD Instinct MI300X", "gfx942", 304),
              f"{version}: {found}")
        check((found["timeline"]["devices"], found["timeline"]["busy_ns"], found["timeline"]["span_ns"]) == (1, 2500, 3500), f"{version}: {found['timeline']}")
    early = imported(home, stamped(rocpd(home, "3", False, True)))
    check({row["operator"]: row["total_ns"] for row in early["rows"]} == {"k1(int)": 1000, "k2(int)": 2000, "MEMORY_COPY_HOST_TO_DEVICE": 1000}, f"{early}")
    check(early["timeline"] == found["timeline"], f"{early['timeline']}")
    nsys_versions(home)
    database_graphs(home)
    (home / "packed.db.gz").write_bytes(gzip.compress((home / "3.0.0.db").read_bytes()))
    check(imported(home, home / "packed.db.gz")["total_ns"] == found["total_ns"], "a compressed database")
    path = home / "nsys.sqlite"
    with connect(path) as db:
        db.executescript((ROOT / "tests/fuzz/seeds/database/nsys.sql").read_text())
    found = imported(home, path)
    rows = {row["operator"]: row for row in found["rows"]}
    check(rows["aten::mm"]["shape"] == "M=4 N=16 K=8" and rows["aten::mm"]["total_ns"] == 1000, f"{rows}")
    check(rows["void gemm<float>(float*)"]["total_ns"] == 2000 and found["device"] == "NVIDIA H100 80GB HBM3", f"{rows}")


# ---- logs and tables ----

def logs(home):
    (home / "mixed.log").write_text(
        "MIOpen(HIP): Info [x] nothing\n"
        "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver convbfp16 -n 64 -c 256 -H 56 -W 56 -k 128 -y 1 -x 1 -p 0 -q 0 -u 2 -v 2 -l 1 -j 1 -m conv -g 1 -F 1 -t 1\n"
        "rnn -n 256 -W 30 -H 256 -l 2\n"
        "MIOpen(HIP): Command [LogCmdRNN] MIOpenDriver.exe rnn -n 256 -W 30 -H 250 -l 2 -b 1 -m lstm -k 45 -F 2 -t 1\n"
        "[info] hipblaslt-bench --api_method c -m 28672 -n 512 -k 4096 --transA T --transB N --batch_count 1 --a_type bf16_r --b_type bf16_r --c_type f32_r"
        " --d_type f32_r --new_option 7 --any_stride --alpha -1.5\n"
        "#./rocblas-bench -f gemm_ex -r bf16_r --transposeA N --transposeB N -m 1 -n 1 -k 1\n"
        "# ./bin/MIOpenDriver convfp16 -n 4 -c 8 -H 9 -W 9 -k 8 -y 3 -x 3 -p 1 -q 2\n"  # root's prompt
        "MIOpenDriver conv -n -1 -c nan -H inf\n\0\0hipblaslt-bench -m 7 -n 9 -k 8\n"
        "./rocblas-bench -f gemm_strided_batched_ex -r h --transposeA N --transposeB T -m 33 -n 32 -k 31 --batch_count 200\n"
        "./rocblas-bench -f gemm_strided_batched_ex -r h --transposeA N --transposeB T -m 33 -n 32 -k 31 --batch_count 200\n"
        "./rocblas-bench -f gemm -r f64_c --transposeA N --transposeB N -m 3 -n 5 -k 7\n"
        "- {'rocblas_function': 'gemm_ex', 'transA': 'N', 'transB': 'N', 'M': 320, 'N': 588, 'K': 4096, 'a_type': 'f16_r', 'd_type': 'f16_r', 'call_count': 7}\n"
        "hipblaslt-bench -m 5\n"
        # two processes wrote this line
        "hipblaslt-bench -m 64 -n 8 -k 32 --transA T --transB N --a_type i8_r --d_type i32_r --activation_type none  ./hipblaslt-bench -m 96 -n 8 -k 32"
        " --transA N --a_type f16_r --d_type f16_r\n")
    found = imported(home, home / "mixed.log")
    have = {(row["kind"], row["shape"], row["dtype"], row["total"], row["layout"], row["calls"]) for row in found["rows"]}
    check(have == {("conv", "N=64 C=256 H=56 W=56 K=128 R=1 S=1 stride=2 pad=0 dilation=1 groups=1", "bf16", "bf16", "NCHW", 1),
                   ("rnn", "layers=2 N=256 T=45 H=250 I=30", "f32", "f32", None, 1),
                   ("gemm", "M=512 N=28672 K=4096", "bf16", "f32", "TN", 1),
                   ("gemm", "B=200 M=32 N=33 K=31", "f16", "f16", "NT", 2),
                   ("gemm", "M=5 N=3 K=7", "c128", "c128", "NN", 1),
                   ("gemm", "M=588 N=320 K=4096", "f16", "f16", "NN", 7),
                   ("conv", "N=4 C=8 H=9 W=9 K=8 R=3 S=3 stride=1 pad=1 dilation=1 groups=1 pad_w=2", "f16", "f16", "NCHW", 1),
                   ("gemm", "M=9 N=7 K=8", "f32", "f32", "NN", 1),
                   ("gemm", "M=8 N=64 K=32", "i8", "i32", "TN", 1), ("gemm", "M=8 N=96 K=32", "f16", "f16", "NN", 1)}, f"{have}")
    check(any("without -m, -n and -k" in note for note in found["notes"]), f"{found['notes']}")
    (home / "tuned.csv").write_text("Validator,PT_VERSION,2.6.0\nValidator,GCN_ARCH_NAME,gfx1201\n"
                                    "GemmTunableOp_Half_TN,tn_152064_3_5120_ld_5120_5120_152064,Gemm_Hipblaslt_85530,2.48601\n"
                                    "GemmStridedBatchedTunableOp_BFloat16_NT,nt_64_128_32_B_12_ld_64_128_64,Default,0.5\nGemmTunableOp_Half_TN,broken,x,1\n")
    found = imported(home, home / "tuned.csv")
    rows = {row["shape"]: row for row in found["rows"]}
    check(near(rows["M=3 N=152064 K=5120"]["median_ns"], 2486010) and rows["M=3 N=152064 K=5120"]["dtype"] == "f16" and found["arch"] == "gfx1201", f"{rows}")
    check(rows["B=12 M=128 N=64 K=32"]["dtype"] == "bf16" and "(the first at line 5)" in found["notes"][0], f"{rows} {found['notes']}")
    (home / "aiter.csv").write_text("cu_num,M,N,K,q_dtype_w,libtype,us,kernelName\n304,16,1024,8192,torch.float8_e4m3fnuz,asm,12.5,k\n")
    row = imported(home, home / "aiter.csv")["rows"][0]
    check((row["shape"], row["dtype"], row["layout"], row["median_ns"]) == ("M=16 N=1024 K=8192", "e4m3fnuz", "TN", 12500), f"{row}")
    (home / "batched.csv").write_text("B,M,N,K\n16,1,1280,8192\n")
    row = imported(home, home / "batched.csv")["rows"][0]
    check((row["shape"], row["dtype"], row["total"]) == ("B=16 M=1 N=1280 K=8192", None, None), f"{row}")
    (home / "untuned.csv").write_text("GemmTunableOp_BFloat16_TN,tn_1280_64_8192_ld_8192_8192_1280\n")
    row = imported(home, home / "untuned.csv")["rows"][0]
    check((row["shape"], row["calls"], row["total_ns"]) == ("M=64 N=1280 K=8192", 1, None), f"{row}")
    for name in "hipLaunchKernel", "hsa_signal_wait", "KERNEL_DISPATCH":  # tables of calls on the host, of domains
        (home / "api.csv").write_text(f'"Name","Calls","TotalDurationNs"\n"{name}",4,4000\n')
        check("of no kernel" in imported(home, home / "api.csv", code=2), name)
    (home / "moe.csv").write_text("token,model_dim,inter_dim,expert,topk,dtype,q_dtype_w,use_g1u1\n32,4096,1536,128,8,torch.bfloat16,torch.bfloat16,1\n")
    check({row["shape"] for row in imported(home, home / "moe.csv")["rows"]} == {"rows=256 N=4608 K=4096 experts=128 gate, up and down together"}, "AITER's mixtures")


def named(home, name, text):
    """Rows as (operator, shape, types, calls, microseconds) of a text."""
    (home / name).write_text(text)
    found = imported(home, home / name)
    return found, {(row["operator"], row["shape"], f'{row["dtype"]}>{row["total"]}', row["calls"], row["median_ns"] and round(row["median_ns"] / 1e3, 3)) for row in found["rows"]}


LT_HEAD = "[0]:transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,beta,ldb,a_type,b_type,c_type,d_type,compute_type,bias_type,hipblaslt-Gflops,hipblaslt-GB/s,us\n"
DRIVER = "conv -n 8 -c 4 -H 6 -W 6 -k 16 -y 3 -x 3 -p 1 -q 1"
CONV = "N=8 C=4 H=6 W=6 K=16 R=3 S=3 stride=1 pad=1 dilation=1 groups=1"


def results(home):
    """What a benchmark prints of a call is that call's time, whatever else is in the log."""
    found, rows = named(home, "results.log",
        "Device ID 0 : AMD Instinct MI100 gfx908:sramecc+:xnack-\nwith 34.3 GB memory, max. SCLK 1502 MHz, max. MCLK 1200 MHz\n"
        "hipblaslt-bench -f matmul -r s -m 1 -n 16000 -k 16000 -i 50\n" + LT_HEAD +
        "    T,N,0,1,1,16000,16000,1,1,0,16000,f32_r,f32_r,f32_r,f32_r,f32_r,f32_r,240.0,447.0,2133.0\n"
        "    T,N,0,1,1,16000,16000,1,1,0,16000,f32_r,f32_r,f32_r,f32_r,f32_r,f32_r,200.0,400.0,2500.0\nWinner: 0\n"  # another solution of the call
        "rocblas-bench -f gemv -r d -m 300 -n 200 --transposeA T\ntransA,M,N,alpha,lda,incx,beta,incy,rocblas-Gflops,rocblas-GB/s,us\nT,300,200,1,300,1,0,1, 450.0, 900.0, 11.5\n"
        "rocblas-bench -f gemm_ex -m 1 -n 7 -k 9 -r s\ntransA,transB,M,N,K,alpha,lda,beta,ldb,ldc,ldd,batch_count,rocblas-Gflops,us\nN,N,1,7,9,1,1,0,9,1,1,1, 180.0, nan\n"
        "rocblas-bench -f gemv -r h -m 30 -n 20\n"
        "hipblaslt-bench --yaml calls.yaml\n" + LT_HEAD + "N,N,0,2,5,6,7,1,1,0,1,f8_r,f8_r,f16_r,f16_r,f32_r,f32_r,1,1,3\nN,N,0,1,8,9,10,1,1,0,1,bf16_r,bf16_r,bf16_r,bf16_r,f32_r,f32_r,1,1,4\n")
    check(rows == {("hipblaslt -m 1 -n 16000 -k 16000", "M=16000 N=1 K=16000", "f32>f32", 1, 2133), ("rocblas gemv -m 300 -n 200", "M=1 N=200 K=300", "f64>f64", 1, 11.5),
                   ("rocblas -m 1 -n 7 -k 9", "M=7 N=1 K=9", "f32>f32", 1, None), ("rocblas gemv -m 30 -n 20", "M=1 N=30 K=20", "f16>f16", 1, None),
                   ("hipblaslt -m 5 -n 6 -k 7", "B=2 M=6 N=5 K=7", "e4m3>f16", 1, 3), ("hipblaslt -m 8 -n 9 -k 10", "M=9 N=8 K=10", "bf16>bf16", 1, 4)}, f"{rows}")
    check((found["device"], found["arch"]) == ("AMD Instinct MI100", "gfx908") and "without a time was skipped (the first at line 13)" in found["notes"][0], f"{found['notes']}")
    bounds = {row["operator"]: (row["lower_bound_ns"], row["estimate_ns"]) for row in found["rows"]}
    check(820e3 < bounds["hipblaslt -m 1 -n 16000 -k 16000"][0] < 840e3, f"the GPU that the log names has bounds: {bounds}")
    for echo in "", "MIOpenDriver " + DRIVER + " -F 1\n", "MIOpenDriver " + DRIVER + " -F 1\nMIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver " + DRIVER + " -F 1 -t 1\n":
        found, rows = named(home, "driver.log", "$ ./bin/MIOpenDriver " + DRIVER + " -F 1\n" + echo +
                            "MIOpen Forward Conv. Algorithm: 1\nWall-clock Time Forward Conv. Elapsed: 9 ms\nGPU Kernel Time Forward Conv. Elapsed: 0.019413 ms (average)\n"
                            "stats: name, n, c, ho, wo, x, y, k, flopCnt, bytesRead, bytesWritten, GFLOPs, GB/s, timeMs\nstats: fwd-conv3x3u1, 8, 4, 6, 6, 3, 3, 16, 1, 1, 1, 1, 1, 0.019413\n")
        check(rows == {("MIOpen convolution forward", CONV, "f32>f32", 1, 19.413)}, f"{echo}: {rows}")
    found, rows = named(home, "all.log", "MIOpenDriver convfp16 " + DRIVER[5:] + "\nGPU Kernel Time Backward Weights Conv. Elapsed: 0.5 ms\n./MIOpenDriver pool -H 4\n./MIOpenDriver pool -H 4\n"
                        "GPU Kernel Time Forward Pooling Elapsed: 0.25 ms\n")
    check({row for row in rows if row[0].startswith("MIOpen conv")} == {("MIOpen convolution forward", CONV, "f16>f16", 1, None), ("MIOpen convolution data gradient, backward", CONV, "f16>f16", 1, None),
                                                                         ("MIOpen convolution weight gradient, backward", CONV, "f16>f16", 1, 500)}, f"{rows}")
    logged = "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver " + DRIVER + " -F 1 -t 1\n"
    check({row[3] for row in named(home, "two.log", 2 * logged)[1]} == {2}, "a library's log has every call")


def lists(home):
    """Shapes without times: YAML of the libraries, AITER's products without a kernel; the function's letter is the type."""
    _, rows = named(home, "calls.yaml", "# a comment with rocblas_function\n"
        '- { rocblas_function: "rocblas_dgemm", transA: "N", transB: "N", M:  1024, N:  8, K:  16, iters: 10 }\n'
        "- {'rocblas_function': 'rocblas_hgemm', 'transA': 'T', 'M': 3, 'N': 4, 'K': 5, 'call_count': 5}\n"
        "- {rocblas_function: rocblas_sgemm_strided_batched, transA: T, transB: N, M: 64, N: 32, K: 128, batch_count: 48, call_count: 12}\n"
        "- {rocblas_function: rocblas_zgemm, M: 2, N: 3, K: 4}\n- {rocblas_function: rocblas_cgemv, transA: N, M: 6, N: 7}\n- {rocblas_function: gemm_ex, M: 9, N: 9, K: 9}\n"
        "- {rocblas_function: gemm_ex, M: 9, N: 9, K: 8, a_type: f6_r, d_type: bf16_r}\n"
        "- {function: matmul, M: 160, N: 10, K: 20, transA: T, transB: N, batch_count: 1, bias_source: d, a_type: bf16_r, b_type: bf16_r, c_type: bf16_r, d_type: f32_r, compute_type: c_f32_r, call_count: 3}\n")
    check(rows == {("rocblas -m 1024 -n 8 -k 16", "M=8 N=1024 K=16", "f64>f64", 1, None), ("rocblas -m 3 -n 4 -k 5", "M=4 N=3 K=5", "f16>f16", 5, None),
                   ("rocblas -m 64 -n 32 -k 128", "B=48 M=32 N=64 K=128", "f32>f32", 12, None), ("rocblas -m 2 -n 3 -k 4", "M=3 N=2 K=4", "c128>c128", 1, None),
                   ("rocblas gemv -m 6 -n 7", "M=1 N=6 K=7", "c64>c64", 1, None), ("rocblas -m 9 -n 9 -k 9", "M=9 N=9 K=9", "None>None", 1, None),
                   ("rocblas -m 9 -n 9 -k 8", "M=9 N=9 K=8", "f6_r>bf16", 1, None), ("hipblaslt -m 160 -n 10 -k 20", "M=10 N=160 K=20", "bf16>f32", 3, None)}, f"{rows}")
    _, rows = named(home, "server.log", "(Worker_TP4 pid=892) [aiter] shape is M:8192, N:1024, K:3072, not found tuned config in /tmp/aiter_configs/a8w8_blockscale_tuned_gemm.csv, will use default config!\n"
        "[aiter] import [module_gemm] under /usr/x.so\n[aiter] shape is M:64, N:16384, K:5120, q_dtype_w:torch.int8, not found tuned config in /x/a8w8_tuned_gemm.csv, will use default config!\n"
        "[aiter] shape is B:16, M:1, N:1280, K:8192, not found tuned config in CKGEMM, will use default config!\n"
        "[aiter] shape is M:4, N:4096, K:96 dtype='torch.bfloat16' otype='torch.float32' bias=False, scaleAB=False, not found tuned config in /tmp/aiter_configs/bf16_tuned_gemm.csv\n")
    check({row[1:3] for row in rows} == {("M=8192 N=1024 K=3072", "e4m3>bf16"), ("M=64 N=16384 K=5120", "i8>bf16"), ("B=16 M=1 N=1280 K=8192", "None>None"), ("M=4 N=4096 K=96", "bf16>f32")}, f"{rows}")


LINKS = """          Device: 0,  AMD EPYC 9K84 96-Core Processor
          Device: 1,  AMD Instinct MI300X,  GPU-f1,  c2:0.0
          Device: 2,  AMD Instinct MI300X,  GPU-f2,  c4:0.0

          Inter-Device Access

          D/D       0         1         2

          0         1         1         1

          Unidirectional copy peak bandwidth GB/s

          D/D       0           1           2

          0         N/A         55.364      54
          1         56.147      2100.419    48

          Bidirectional copy peak bandwidth GB/s

          D/D       0           1

          1         83.489      N/A
"""
SCALING = """GPU-GFX Scaling benchmark:
- Copying 4096 bytes from GPU 1 to other devices

NumCUs   CPU00       GPU00     
   1      7.22        11.00     
 Best    34.21(  8)   48.50( 20)
"""
SCHMOO = """Bytes to transfer: 4096 Local GPU: 0 Remote GPU: 1
       | Local Read  | Local Write | Local Copy  | Remote Read | Remote Write| Remote Copy |
  #CUs |G00->G00->N00|N00->G00->G00|G00->G00->G00|G01->G00->N00|N00->G00->G01|G00->G00->G01|
|------|-------------|-------------|-------------|-------------|-------------|-------------|
   4   |   11.00     |   12.00     |   13.00     |   14.00     |   15.00     |   16.00     |
"""
HEALTHCHECK = """Testing HBM performance [READ]             ........PASS
Testing unidirectional host to device copy
   GPU 00: Measured  52.11 Limit  48.50
   GPU 01: Measured  47.11 Limit  48.50
FAIL (1 test(s))
 GPU 01: Measured:  47.11 GB/s      Criteria:  48.50 GB/s
Testing bidirectional host<->device copies ........FAIL (8 test(s))
 GPU 00: Measured:  86.17 GB/s      Criteria:  87.30 GB/s
Testing all-to-all XGMI copies             ........FAIL (56 test(s))
 GPU 01 to GPU 00:  41.22 GB/s      Criteria:  43.65 GB/s
 GPU 01:  40.30 GB/s      Criteria:  43.65 GB/s
"""
ONE_TO_ALL = """      Executing (G0 -> G0 -> G*)
        GPU 1        GPU 2        GPU 3
      ---------------------------------
          49.409                             1 4 (G0 G0 G1)
                        48.5                 1 4 (G0 D0 G2)
          40.1          41.5                 2 4 (G0 G0 G1) (G0 G0 G2)
│ Rank  GPU │ MaxBw (GB/s)   AvgBw (GB/s)   MinBw (GB/s) │
├-----┼----┤
│     0   1 │      4101.11       4011.22       3901.33   │
└-----┴----┘
"""


def links(home):
    """Matrices of links of rocm_bandwidth_test, and TransferBench's presets; one rank has no link."""
    def rates(text):
        found = named(home, "links.log", text)[0]
        return found, {row["operator"]: row["algorithm_bytes_per_s"] and round(row["algorithm_bytes_per_s"] / 1e9, 3) for row in found["rows"]}
    found, rows = rates(LINKS)
    check(rows == {"C0 -> DMA -> G0": 55.364, "C0 -> DMA -> G1": 54, "G0 -> DMA -> C0": 56.147, "G0 -> DMA -> G0": 2100.419, "G0 -> DMA -> G1": 48,
                   "at once with others: G0 -> DMA -> C0": 83.489} and found["device"] == "AMD Instinct MI300X", f"{rows}")
    check(rates(SCALING)[1] == {"G1 -> GPU -> C0": 34.21, "G1 -> GPU -> G0": 48.5}, f"{rates(SCALING)[1]}")
    found, rows = rates(SCHMOO)
    check(rows["G00 -> GPU00:004 -> G01"] == 16 and len(rows) == 6 and {row["kernel"] for row in found["rows"] if row["operator"].startswith("G00")} == {"kernel_copy_peer", None}, f"{rows}")
    found, rows = rates(HEALTHCHECK)
    check(rows == {"C -> DMA -> G0": 52.11, "C -> DMA -> G1": 47.11, "at once with others: C <-> DMA <-> G0": 86.17, "at once with others: G1 -> GPU -> G0": 41.22}, f"{rows}")
    check(any("host<->device: 8 below its limit" in note for note in found["notes"]) and any("VERBOSE=1" in note for note in found["notes"]), f"{found['notes']}")
    check({row["kernel"] for row in found["rows"] if row["operator"].startswith("C ->")} == {"copy_to_device"}, f"{found['rows']}")
    (home / "pass.log").write_text(HEALTHCHECK.splitlines()[0])
    check_run(run("import", "pass.log", home=home), 2, "nothing but passes", stderr="VERBOSE=1 prints them")
    check(rates(ONE_TO_ALL)[1] == {"G0 -> GPU00:004 -> G1": 49.409, "G0 -> DMA -> G2": 48.5, "at once with others: G0 -> GPU00:004 -> G1": 40.1,
                                   "at once with others: G0 -> GPU00:004 -> G2": 41.5, "G1 -> GPU -> N": 4011.22}, f"{rates(ONE_TO_ALL)[1]}")
    check(rates("Test 1:\n     Transfer 00  ,  33.554 GB/s ,    2.000 ms ,     67108864 bytes , G0 -> GPU00:004 -> G1\n")[1] == {"G0 -> GPU00:004 -> G1": 33.554}, "a CSV of TransferBench")
    one = ("#  Rank  0 Group  0 Pid 1 on node1 device  0 [0000:05:00] AMD Instinct MI300X\n#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
           "1000000 250000 float sum -1 50.00 20.00 0.00 0 0.07 13500.00 0.00 0\n")
    for times in 1, 8:
        found, rows = rates("# Collective test starting: all_reduce_perf\n" + times * one)
        check(rows == {"all_reduce": None} and "one rank took part" in found["notes"][0] and all(row["bus_bytes_per_s"] is None for row in found["rows"]), f"{rows} {found['notes']}")


def mixed(home):
    """Files of several kinds in one, and cut ones: what is right is used, what is not is said with its line."""
    kernels = "Kernel_Name,Start_Timestamp,End_Timestamp\n" + "".join(f'"k<a, b>(int)",{100 * k + 1},{100 * k + 51}\n' for k in range(5))
    whole = (kernels + "hipblaslt-bench -m 16 -n 4 -k 8 -r h\n" + "GemmTunableOp_Half_TN,tn_16_4_8_ld_8_8_16,Default,0.5\n" + LINKS + SCALING + "M,N,K,q_dtype_w,us\n4,16,8,torch.bfloat16,2\n"
             "Kernel_Name,Start_Timestamp,End_Timestamp\nlast,600,640\n- {rocblas_function: rocblas_dgemm, M: 1, N: 2, K: 3, transA: N, transB: N, lda: 4, ldb: 5}\n")
    found, rows = named(home, "mixed.json", whole)  # and its name says another kind
    check(found["timeline"]["busy_ns"] == 290 and {("k<a, b>(int)", 5), ("last", 1), ("hipblaslt -m 16 -n 4 -k 8", 1), ("GemmTunableOp_Half_TN", 1), ("G1 -> GPU -> C0", 1), ("aiter gemm", 1), ("rocblas -m 1 -n 2 -k 3", 1)} <=
          {(row["operator"], row["calls"]) for row in found["rows"]}, f"{rows}")
    for length in range(60, len(whole), 97):
        (home / "cut.txt").write_text(whole[:length])
        found = imported(home, home / "cut.txt")
        check(found["events"] >= min(5, max(0, (length - 44) // 34)) and all(note["operator"] for note in found["rows"]), f"{length}: {found['events']}")
    found, _ = named(home, "torn.csv", kernels[:-9])
    check(found["events"] == 5 and found["notes"] == [f"{home}/torn.csv: a row with 2 of 3 columns was skipped (the first at line 6)"] or found["events"] == 4, f"{found['events']} {found['notes']}")


def types(home):
    """Every word for a type in every role: a suite that plans, or a reason; an unknown word is no type, and complex is not real."""
    words = "f64_r f32_r xf32_r f16_r bf16_r i8_r i32_r f8_r bf8_r f8_fnuz_r bf8_fnuz_r f4_r f6_r bf6_r f32_c f64_c s d h c z".split()
    lines = [f"hipblaslt-bench -m 64 -n 64 -k 128 --transA T --a_type {words[a]} --b_type {words[a]} --c_type {words[d]} --d_type {words[d]}\n"
             for a in range(len(words)) for d in range(len(words))]
    lines += [f"rocblas-bench -f gemm -r {word} -m 64 -n 64 -k 128\n" for word in words]
    lines += [f"MIOpenDriver conv{word} -n 1 -c 8 -H 8 -W 8 -k 8 -y 3 -x 3 -F 1\n" for word in ("", "fp16", "bfp16", "int8", "fp8", "bfp8")]
    (home / "types.log").write_text("".join(lines))
    torch = ["c10::Half", "c10::BFloat16", "float", "double", "signed char", "unsigned char", "int", "long int", "bool", "c10::complex<float>", "c10::Float8_e4m3fn",
             "c10::Float8_e5m2fnuz", "c10::Float4_e2m1fn_x2", "c10::Float8_e8m0fnu", "Scalar", ""]
    events, shapes = [], {"aten::mm": [[64, 64], [64, 64]], "aten::_scaled_mm": [[64, 64], [64, 64]], "vllm::rms_norm": [[7, 512]] * 2, "aten::_softmax": [[6, 50]], "aten::add": [[4, 100], [100]],
                          "aten::sum": [[4, 1000]], "aten::copy_": [[64], [64]], "_C::silu_and_mul": [[4, 16], [4, 32]], "aten::_grouped_mm": [[64, 128], [8, 128, 256]],
                          "aten::_scaled_dot_product_flash_attention": [[1, 2, 40, 64]] * 3, "aten::convolution": [[1, 16, 9, 9], [8, 16, 3, 3], [8]], "aten::embedding": [[64, 64], [9]]}
    values = {"aten::convolution": ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "", "", "1"], "aten::_softmax": ["", "-1"]}
    for k, (name, first, second) in enumerate((name, first, second) for name in shapes for first in torch for second in {first, "c10::BFloat16"}):
        events += [op(name, 100 * k, 90, shapes[name], [first] + [second] * 2, values=values.get(name)), call("hipLaunchKernel", 100 * k + 1, k + 1), kernel("k", 1e7 + 10 * k, 5, k + 1)]
    for path in home / "types.log", write(home, "types.json", events):
        check_run(run("import", path, "-o", home / "types_suite.json", home=home), 0, f"{path}: all types", stderr="")
        for machine in "mi300x", "rx9070xt":
            check(run("plan", home / "types_suite.json", "--device", f"sim:{machine}", home=home).returncode < 2, f"{path} on {machine}: tiny kernels may do less than they state")
    (home / "fp8.log").write_text("hipblaslt-bench -r f8_r -m 512 -n 512 -k 512\nhipblaslt-bench -m 64 -n 64 -k 128 --a_type i8_r --b_type i8_r --d_type bf16_r\n")
    check_run(run("import", home / "fp8.log", "-o", home / "fp8.json", home=home), 0, "results of 8 bits", stdout=["results of e4m3: kernels here store bf16", "results of bf16: kernels here store i32"], stderr="")
    check({case["params"].get("total") for case in load(home / "fp8.json")["cases"]} == {"bf16", "i32", None}, "what stands for them")
    rows = [row for row in imported(home, home / "types.log")["rows"] if row["kind"] == "gemm"]
    known = {"f64", "f32", "xf32", "f16", "bf16", "i8", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"}
    check({row["dtype"] for row in rows} > known | {"f6_r", "c64", "c128", "e2m1"}, f"{ {row['dtype'] for row in rows} }")
    for row in rows:
        check(row["kernel"] or "is not among its limits" in row["no_kernel_reason"], f"{row}")
        check(not row["kernel"] or (row["dtype"] in known and (row["total"] in ("f64", "f32", "f16", "bf16", "i32", "i8") or "e" in row["total"])) or row["kernel"] == "gemm_register", f"{row}")


def models(home):
    llama = {"hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "num_hidden_layers": 32,
             "vocab_size": 128256, "torch_dtype": "bfloat16", "rms_norm_eps": 1e-5}
    (home / "config.json").write_text(json.dumps(llama))
    rows = {row["operator"]: row for row in imported(home, home / "config.json", "--decode", "--batch", "16", "--tokens", "8192", "--tp", "2")["rows"]}
    check((rows["qkv"]["shape"], rows["qkv"]["calls"]) == ("M=16 N=3072 K=4096", 32), f"{rows['qkv']}")
    check(rows["attention"]["shape"] == "B=16 H=16 HKV=4 S=1 SKV=8192 D=128 DV=128" and rows["attention"]["kernel"] == "attention_decode", f"{rows['attention']}")
    check((rows["down"]["shape"], rows["lm_head"]["shape"]) == ("M=16 N=4096 K=7168", "M=16 N=64128 K=4096"), f"{rows}")
    deep = llama | {"n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "n_shared_experts": 1,
                    "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128}
    (home / "deep.json").write_text(json.dumps({"model_type": "x", "text_config": deep}))
    rows = {row["operator"]: row for row in imported(home, home / "deep.json", "--tokens", "128")["rows"]}
    check(rows["experts gate_up"]["shape"] == "rows=1024 N=4096 K=4096 experts=256" and rows["experts gate_up"]["calls"] == 29, f"{rows}")
    check(rows["attention"]["shape"] == "B=1 H=32 HKV=32 S=128 SKV=128 D=192 DV=128 causal" and not rows["attention"]["kernel"], f"{rows['attention']}")
    check(rows["gate_up"]["calls"] == 3 and rows["kv_a"]["shape"] == "M=128 N=576 K=4096", f"{rows}")
    (home / "old.json").write_text(json.dumps({"n_embd": 768, "n_head": 12, "n_layer": 12, "vocab_size": 50257, "activation_function": "gelu_new",
                                               "quantization_config": {"quant_method": "gptq"}}))
    old = imported(home, home / "old.json", "--tokens", "128")
    rows = {row["operator"]: row["shape"] for row in old["rows"]}
    check(rows["up"] == "M=128 N=3072 K=768" and rows["activation"].startswith("n=393216 ") and not {"rope", "gate_up"} & set(rows), f"{rows}")
    check(any("quantised (gptq), and are taken as bf16" in note for note in old["notes"]), f"{old['notes']}")
    mixed = deep | {"kv_lora_rank": None, "n_shared_experts": None, "shared_expert_intermediate_size": 5632, "sliding_window": 128,
                    "layer_types": ["sliding_attention", "full_attention"] * 16}
    (home / "mixed.json").write_text(json.dumps(mixed))
    for more, seen in (["--decode"], {" S=1 SKV=128 D=128 DV=128", " S=1 SKV=512 D=128 DV=128"}), ([], {" S=512 SKV=512 D=128 DV=128 causal", " S=512 SKV=512 D=128 DV=128 causal window=127"}):
        rows = imported(home, home / "mixed.json", "--tokens", "512", *more)["rows"]
        found = {row["shape"]: row for row in rows if row["operator"] == "attention"}
        check(set(found) == {"B=1 H=32 HKV=8" + shape for shape in seen} and all(row["calls"] == 16 for row in found.values()), f"{found}")
        check(all(row["kernel"] is None for shape, row in found.items() if "window" in shape), f"{found}")
        check({row["shape"][-14:] for row in rows if row["operator"] == "shared gate_up"} == {"N=11264 K=4096"}, f"{rows}")


# ---- the suite ----

def suites(home):
    """What comes out plans and runs; weights make one number, which compare carries."""
    done = run("import", TRACES / "bert_mi300x.json.gz", "-o", home / "bert.json", home=home)
    check_run(done, 0, "a suite of the trace")
    page = run("import", TRACES / "bert_mi300x.json.gz", "--format", "html", home=home)
    check("aten::_<wbr>scaled_<wbr>dot_<wbr>product_<wbr>flash_<wbr>attention<" in page.stdout and "gelu_<wbr>" not in page.stdout and "aten::add_</" in page.stdout, "long names break behind underscores")
    check("explained: 99 %" in done.stdout, f"the suite's name changes what is shown: {done.stdout[:200]}")
    for width in 80, 100, 120, 200:
        shown = run("import", TRACES / "bert_mi300x.json.gz", home=home, COLUMNS=str(width)).stdout
        check(max(map(len, shown.splitlines())) <= width and "M=141 N=2048 K=512" in shown, f"COLUMNS={width}:\n{shown}")
    suite = load(home / "bert.json")
    weights = {(case["kernel"], case["params"].get("n")): case for case in suite["cases"]}
    check(weights[("gemm_matrix", 512)]["weight"] in (17, 4) and all("traced_ns" in case for case in suite["cases"]), f"{weights}")
    check_run(run("check", home / "bert.json", home=home), 0, "the suite is sound")
    check_run(run("run", home / "bert.json", "--device", "sim:mi300x", "-o", home / "sim.json", home=home), 0, "on sim")
    result = load(home / "sim.json")
    ours = [case for case in result["cases"] if case["kernel"] != "gemm_library" and case["status"] == "ok"]
    kpi = result["kpis"][0]
    check(kpi["name"] == "weighted time" and len(ours) == kpi["case_count"] and
          near(kpi["value"], sum(case["weight"] * case["prediction"]["time_ns"] for case in ours), 1e-9), f"{kpi}")
    done = run("report", home / "sim.json", home=home, COLUMNS="80")
    shown = run("import", TRACES / "bert_mi300x.json.gz", home=home, COLUMNS="400").stdout
    check("with constants of gemm bf16 on mi355x" in shown, shown)
    found = imported(home, TRACES / "bert_mi300x.json.gz", "--machine", "h100")
    check(all(row["estimate_ns"] is None for row in found["rows"]), "constants of another vendor")
    check(max(map(len, done.stdout.split("Roofline (")[0].splitlines())) <= 80, done.stdout)
    done = run("report", home / "sim.json", home=home, COLUMNS="200")
    check("traced" in done.stdout and "27.3 us" in done.stdout, done.stdout)
    library = {case["label"].split(" ", 1)[-1]: case["prediction"]["time_ns"] for case in result["cases"] if case["kernel"] == "gemm_library"}
    traced = sum(case["weight"] * case["traced_ns"] for case in ours)
    best = sum(case["weight"] * min(case["prediction"]["time_ns"], library.get(case["label"].split(" ", 1)[-1], 1e9)) for case in ours)
    whole = next(line for line in done.stdout.splitlines() if line.startswith("all of these")).split()
    check(whole[3:5] == [f"{traced / 1e3:.0f}", "us"] and whole[5:7] == [f"{kpi['value'] / 1e3:.0f}", "us"], f"{whole}: {traced} {kpi}")
    check(whole[-2:] == [f"{100 * (best / traced - 1):+.0f}", "%"], f"{whole}: {best} of {traced}")
    done = run("compare", home / "sim.json", home / "sim.json", home=home)
    check("weighted time" in done.stdout, done.stdout)
    small = [op("aten::mm", 0, 9, [[4, 8], [8, 16]], ["float"] * 2), call("hipLaunchKernel", 1, 1), kernel("g", 20, 5, 1),
             op("aten::add", 10, 9, [[64], [64]], ["float"] * 2), call("hipLaunchKernel", 11, 2), kernel("a", 30, 2, 2)]
    check_run(run("import", write(home, "small.json", small), "-o", home / "small_suite.json", home=home), 0, "a small suite")
    check_run(run("run", home / "small_suite.json", "--device", "cpu", "--quick", "--filter", "!gemm_library", "-o", home / "cpu.json", home=home), 0, "on the CPU")
    check(all(case["verification"]["status"] == "pass" for case in load(home / "cpu.json")["cases"]), "verified on the CPU")
    check_run(run("history", "add", home / "cpu.json", home=home), 0, "a run for the history")
    check_run(run("history", "show", home=home), 0, "the history carries the key figure", stdout="weighted time")
    done = run("predict", home / "small_suite.json", "--machine", "mi300x,mi210", "--json", "-", home=home)
    check_run(done, 0, "a forecast of the trace")
    for machine in json.loads(done.stdout)["machines"]:  # of products the library's, as its tuned kernels are described, stand for the trace's
        used = [case["time_ns"] for case in machine["cases"] if not case["id"].startswith("gemm_register")]
        check(len(used) == 2 and near(machine["weighted_time_ns"], sum(used), 1e-9), f"{machine['machine']}: {machine['weighted_time_ns']} {used}")
    write(home, "known.json", small, deviceProperties=[{"name": "AMD Instinct MI300X", "numSms": 304}])
    check_run(run("import", home / "known.json", "-o", home / "known_suite.json", home=home), 0, "the trace's GPU is known")
    check(load(home / "known_suite.json")["traced_on"] == "mi300x", "the suite knows the GPU")
    sums = {}
    for machines in "mi300x", "mi355x", "mi355x,mi300x":
        for machine in json.loads(run("predict", home / "known_suite.json", "--machine", machines, "--json", "-", home=home).stdout)["machines"]:
            sums[machines, machine["machine"]] = machine["weighted_time_ns"]
    done = run("predict", home / "known_suite.json", "--machine", "mi300x", home=home)
    marked = [line.split()[0] for line in done.stdout.splitlines() if " *" in line]
    check(marked == ["stream_add"] and "*: our kernel's time in the place of the trace's" in done.stdout, f"ours is marked, the library's is not: {done.stdout}")
    check(near(sums["mi300x", "mi300x"], 7e3, 1e-9) and near(sums["mi355x,mi300x", "mi300x"], 7e3, 1e-9), f"where it was traced it takes what it took: {sums}")
    check(near(sums["mi355x", "mi355x"], sums["mi355x,mi300x", "mi355x"], 1e-9) and 3.5e3 < sums["mi355x", "mi355x"] < 14e3, f"elsewhere the traced times scale: {sums}")
    check_run(run("predict", home / "known_suite.json", "--machine", "mi355x", home=home), 0, "a forecast says so", stdout="the trace's own times, scaled from mi300x")
    few = small + [call("hipLaunchKernel", 49, 3), kernel("somebody's own", 50, 30, 3)]
    check_run(run("import", write(home, "few.json", few), "-o", home / "few_suite.json", home=home), 0, "most is unexplained")
    done = run("predict", home / "few_suite.json", "--machine", "h100", home=home)
    check("too much for a total" in done.stdout.replace("\n", " ") and "alike" not in done.stdout, done.stdout)
    done = run("predict", home / "small_suite.json", "--machine", "mi300x,mi210", home=home)
    check("mi210: weighted time" in done.stdout and " x that of mi300x; traced 7.00 us" in done.stdout, done.stdout)
    check_run(run("predict", home / "small_suite.json", "--machine", "mi300x", "--format", "csv", home=home), 2, "a forecast as CSV", stderr="table, markdown, json or html")
    partly = small + [call("hipLaunchKernel", 49, 3), kernel("somebody's own", 50, 3, 3)]
    check_run(run("import", write(home, "partly.json", partly), "-o", home / "partly_suite.json", home=home), 0, "a suite of a part")
    check(load(home / "partly_suite.json")["traced_ns"] == 10e3, "the suite knows how long all of the trace took")
    done = run("predict", home / "partly_suite.json", "--machine", "h100", home=home)
    check_run(done, 0, "a part is forecast", stdout="the other 3.00 us (30 %) of the trace have no forecast")
    done = run("predict", home / "partly_suite.json", "--machine", "h100", "--json", "-", home=home)
    check(near(json.loads(done.stdout)["machines"][0]["traced_rest_ns"], 3e3), "the rest as data")
    check_run(run("import", write(home, "none.json", [kernel("k", 0, 1)]), "-o", home / "no.json", home=home), 2, "nothing to measure")


def weighted(result):
    """The key figure as it follows from the cases, in all and for each trial."""
    cases = [case for case in result["cases"] if "library" not in case["tags"]]
    kpi = result["kpis"][0]
    kpi["value"] = sum(case["weight"] * case["stats"]["median_ns"] for case in cases)
    kpi["trial_values"] = [sum(case["weight"] * case["trials"][k]["median_ns"] for case in cases) for k in range(3)]


def worth(home):
    """A change of the traced program's kernels, from its trace to the verdict on the whole program: the product takes 60 % of its
    weighted time and gets 10 % slower, so the whole gets 6 % slower."""
    events = []
    for k in range(3):
        events += [op("aten::mm", 100 * k, 9, [[4, 8], [8, 16]], ["float"] * 2), call("hipLaunchKernel", 100 * k + 1, k + 1), kernel("g", 1000 + 10 * k, 5, k + 1)]
    events += [op("aten::add", 500, 9, [[64], [64]], ["float"] * 2), call("hipLaunchKernel", 501, 9), kernel("a", 2000, 10, 9)]
    check_run(run("import", write(home, "program.json", events), "-o", home / "program_suite.json", home=home), 0, "a suite of the program")
    suite = load(home / "program_suite.json")
    suite["cases"] = [case for case in suite["cases"] if "library" not in case["tags"]]  # the CPU's library may not be here
    suite["defaults"]["measure"] |= {"warmup": "1 ms", "warmup_max": "1 ms", "min_time": "1 ms", "max_time": "10 ms", "calibration": False}
    (home / "program_suite.json").write_text(json.dumps(suite))
    nightly = subprocess.run(["bash", str(ROOT / "scripts/nightly"), "--rooftile", str(PROGRAM), "--suite", "program_suite.json", "--device", "cpu", "--dir", "runs",
                              "--lock-dir", str(home), "--no-ceilings", "--channel", "program"], env=environment(home), cwd=home, capture_output=True, text=True,
                             timeout=PATIENCE_S, check=False)
    check_run(nightly, 0, "the nightly job", stdout=["weighted time", "LEARNING"])
    base = load(next((home / "runs").glob("2*/run.json")))
    check([case["weight"] for case in sorted(base["cases"], key=lambda c: c["kernel"])] == [3, 1] and base["kpis"][0]["name"] == "weighted time", f"{base['kpis']}")
    levels = {16: 200_000, 64: 400_000}  # ns, by n: three products, one sum
    for case in base["cases"]:
        runs.set_time(case, levels[case["params"]["n"]], [0.999, 1, 1.001])
    for number, ratios in enumerate([None] * 9 + [{16: 1.1}] * 2):
        name = runs.write(home, runs.make(base, number, ratios=ratios, change=weighted), f"r{number}.json")
        check_run(run("history", "add", name, "--channel", "trace", home=home), 0, f"run {number}")
        if number == 8:
            check_run(run("history", "gate", "--channel", "trace", home=home), 0, "a quiet program", stdout="3 quiet")
    done = run("history", "gate", "--channel", "trace", "--format", "json", home=home)
    check_run(done, 1, "a regression of the program")
    found = {series["label"]: series for series in json.loads(done.stdout)["series"] if series["finding"]}
    check("weighted time" in found and 0.05 < found["weighted time"]["shift"] < 0.07 and found["weighted time"]["slower"], f"{list(found.items())[:3]}")
    done = run("compare", "r8.json", "r10.json", "--format", "json", home=home)
    check_run(done, 1, "two results of it")
    kpi = json.loads(done.stdout)["kpis"][0]
    check(kpi["verdict"] == "worse" and 0.05 < kpi["ratio"] - 1 < 0.07, f"{kpi}")
    done = run("report", "r10.json", home=home, COLUMNS="120")
    check_run(done, 0, "what it is worth", stdout=["operator of the trace", "all of these", "processor"])


def kinds(home):
    """Each kind of operator has a kernel that runs with its parameters: on a GPU whatever the layout, and on the CPU device."""
    bf16, i8, f8 = "c10::BFloat16", "signed char", "c10::Float8_e4m3"
    found = [("aten::mm", [[m, 128], [128, 96]], [t] * 2, [[128, 1] if a else [1, m], [96, 1] if b else [1, 128]], []) for m in (64, 300)
             for t in (bf16, i8, f8) for a in (0, 1) for b in (0, 1)]
    found += [("aten::mm", [[1, 128], [128, 96]], [bf16] * 2, [[128, 1], [1, 128]], []),
              ("aten::_scaled_dot_product_flash_attention", [[1, 2, 40, 64]] * 3, [bf16] * 3, [], ["", "", "", "0.", "True"]),
              ("aten::native_layer_norm", [[6, 130], [], [130], [130]], [bf16] * 4, [], []), ("vllm::rms_norm", [[7, 512]] * 2, [bf16] * 2, [], []),
              ("aten::_softmax", [[6, 50]], [bf16], [], ["", "-1"]), ("aten::add", [[4, 100], [100]], [bf16] * 2, [], []),
              ("aten::sum", [[4, 1000]], [bf16], [], []), ("_C::rotary_embedding", [[10], [10, 256], [10, 128], []], [bf16] * 3, [], ["", "", "", "128"]),
              ("aten::convolution", [[1, 3, 20, 30], [8, 3, 7, 7], [8]], [bf16] * 3, [], ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "", "", "1"]),
              ("aten::convolution", [[1, 16, 9, 9], [8, 16, 3, 3], [8]], [bf16] * 3, [], ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "", "", "1"]),
              ("aten::_grouped_mm", [[64, 128], [8, 128, 256]], [bf16] * 2, [], []), ("_moe_C::topk_softmax", [[32, 2]] * 3 + [[32, 8]], [bf16] * 4, [], []),
              ("_C::silu_and_mul", [[4, 16], [4, 32]], [bf16] * 2, [], [])]
    events = []
    for k, (name, dims, types, strides, values) in enumerate(found):
        events += [op(name, 100 * k, 90, dims, types, strides=strides, values=values), call("hipLaunchKernel", 100 * k + 1, k + 1), kernel("k", 1e6 + 10 * k, 5, k + 1)]
    check_run(run("import", write(home, "kinds.json", events), "-o", home / "kinds_suite.json", home=home), 0, "one of each")
    check(len({case["kernel"] for case in load(home / "kinds_suite.json")["cases"]}) >= 15, "a kernel for each kind")
    suite = load(home / "kinds_suite.json")
    matrices = [k for k, case in enumerate(suite["cases"]) if case["kernel"] == "gemm_matrix"]
    for number, machine in enumerate(("mi300x", "rx9070xt")):
        cases = [case for k, case in enumerate(suite["cases"]) if k not in matrices[number::2]]  # half of the layouts for each: compilers take a second for one
        (home / "half_suite.json").write_text(json.dumps(suite | {"cases": cases}))
        check_run(run("run", home / "half_suite.json", "--device", f"sim:{machine}", "-o", home / "kinds_sim.json", home=home), 0, f"sim:{machine}")
        skipped = {case["label"]: case["status_reason"] for case in load(home / "kinds_sim.json")["cases"]
                   if case["status"] != "ok" and case["kernel"] != "gemm_library"}
        check(not skipped, f"{machine}: {skipped}")
    few = ["--filter", "moe*", "--filter", "gemv", "--filter", "attention*", "--filter", "conv*"]
    check_run(run("run", home / "kinds_suite.json", "--device", "cpu", "--quick", "--min-time", "1ms", "--max-time", "2ms", *few, "-o", home / "kinds_cpu.json",
                  home=home), 0, "on the CPU")
    cases = load(home / "kinds_cpu.json")["cases"]
    check(len(cases) == 6 and all(case["verification"]["status"] == "pass" for case in cases), f"{[(c['kernel'], c['status_reason']) for c in cases]}")


# ---- bad input ----

def damage(home):
    whole = (TRACES / "bert_mi300x.json.gz").read_bytes()
    text = gzip.decompress(whole)
    (home / "cut.json.gz").write_bytes(whole[:len(whole) * 9 // 10])
    (home / "half.json").write_bytes(text[:len(text) * 9 // 10])
    for name in ("cut.json.gz", "half.json"):
        found = imported(home, home / name)
        check(found["rows"] or found["notes"], f"{name}: {found}")
        check(any("at byte" in note for note in found["notes"]), f"{name}: {found['notes']}")
    noisy = text.replace(b',{"ph"', b',, {]"ph"', 3)
    (home / "noisy.json").write_bytes(noisy)
    found = imported(home, home / "noisy.json")
    check(found["events"] > 50 and any("damaged at byte" in note for note in found["notes"]), f"{found['events']} {found['notes']}")
    events = [kernel("x" * 10000, 0, 5), kernel("back", 10, -3), kernel("good", 20, 5), {"ph": "X", "cat": "kernel", "name": "none", "args": {}}]
    found = imported(home, write(home, "odd.json", events))
    check(found["events"] == 4 and found["timeline"]["busy_ns"] == 10e3 and any("counted, not timed" in note for note in found["notes"]), f"{found['notes']}")
    for options in [], ["--verbose"], ["--diff", "odd.json"]:
        done = run("import", *options, "odd.json", home=home, COLUMNS="80")
        check_run(done, 0, f"a long name {options}")
        check(max(map(len, done.stdout.splitlines())) <= 80 and "x..x" in done.stdout, f"{options}: {done.stdout[:2000]}")
    (home / "bom.json").write_bytes(b"\xef\xbb\xbf" + json.dumps({"traceEvents": [kernel("k", 0, 2)]}).encode())
    check(imported(home, "bom.json")["total_ns"] == 2e3, "a mark of UTF-8")
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        (home / "wide.csv").write_bytes('"Name","Calls","TotalDurationNs"\n"k",4,4000\n'.encode(encoding))
        check("wide.csv is text in UTF-16: iconv" in imported(home, "wide.csv", code=2), encoding)
    bad = [kernel("back", 9, -5), kernel("back", 9, -5), kernel("k", 0, 2), kernel("lost", float("nan"), 1), kernel("b", 0, 1) | {"ph": "B"}]
    found = imported(home, write(home, "bad.json", bad))
    notes = {note.split(": ", 1)[1] for note in found["notes"]}
    first = (home / "bad.json").read_text().index('{"ph"')
    check(f"a GPU event without a time is counted, not timed (the first at byte {first}) (3 times)" in notes and len(notes) == 2 and found["total_ns"] == 2e3, f"{found}")
    check(any("phase B or E" in note for note in notes), f"{notes}")
    (home / "sizes.csv").write_text("M,N,K,us\n-16,8,8,1\n1e300,8,8,1\n16,8,8,nan\n16,8\n")
    found = imported(home, "sizes.csv")
    check([row["shape"] for row in found["rows"]] == ["M=8 N=16 K=8"] or [row["shape"] for row in found["rows"]] == ["M=16 N=8 K=8"], f"{found['rows']}")
    check([note.split("line ")[1] for note in found["notes"]] == ["2)", "3)", "5)"], f"{found['notes']}")
    plain = [op("aten::mm", 0, 9, []), call("hipLaunchKernel", 1, 1), kernel("g", 20, 5, 1)]
    del plain[0]["args"]["Input Dims"]
    check("record_shapes=True" in imported(home, write(home, "plain.json", plain))["notes"][0], "how to get shapes")
    check("only operators of the host" in imported(home, write(home, "host.json", plain[:1]), code=2), "no GPU")
    (home / "empty").write_text("")
    (home / "prose.txt").write_text("nothing that a profiler wrote\n")
    (home / "other.json").write_text('{"name": "a suite"}')
    (home / "other.db").unlink(missing_ok=True)
    with connect(home / "other.db") as db:
        db.execute("CREATE TABLE t (x)")
    for name in ("empty", "prose.txt", "other.json", "other.db", "missing.json", "."):
        why = imported(home, name, code=2)
        check(name in why, f"{name}: {why}")
    for name, words in (("empty", "is empty"), ("bad.json", "by Python 3.11 or later, and there is no python3 on PATH")):
        (home / name).touch()
        check_run(run("import", name, home=home, PATH=str(home) if name == "bad.json" else None), 3 if name == "bad.json" else 2, name, stderr=words)
    (home / "torn.db").write_bytes((home / "3.0.0.db").read_bytes()[:9000] if (home / "3.0.0.db").exists() else b"SQLite format 3\0")
    done = run("import", home / "torn.db", home=home)
    check(done.returncode in (0, 2) and done.stderr, f"{done.returncode}")


def interrupted(home):
    """Ctrl-C ends the program that reads the files, too: nobody is left who would read the pipe."""
    with subprocess.Popen([str(PROGRAM), "import", "-"], env=environment(home), cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdin.write(b"{" * (2 << 20))  # more than a pipe holds: somebody reads
        child.stdin.flush()
        child.send_signal(signal.SIGINT)
        child.stdout.read()
        check(child.wait(PATIENCE_S) == 130, f"Ctrl-C: {child.returncode}")
        try:
            child.stdin.write(b" " * (2 << 20))
            child.stdin.flush()
            check(False, "the reader still reads")
        except BrokenPipeError:
            check(True, "the reader has ended")
        finally:
            try:
                child.stdin.close()
            except BrokenPipeError:
                pass


if __name__ == "__main__":
    main(bert, trees, streams, gaps, pages, graphs, clipped, untimed, cut, memory, names, shown_names, mangled_names, mixed_products, diff, profiles, databases, logs, results, lists, links, mixed, types, models, suites, worth, kinds, damage, interrupted)
