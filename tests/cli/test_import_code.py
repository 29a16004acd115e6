# SPDX-License-Identifier: MIT
"""The code of a trace's kernels from folders: Triton's cache with what PyTorch's compiler chose, and a launch that kerncap kept. What
comes out runs as it is, on a stand-in for libamdhip64."""
import json
import struct

from harness import CLANG, DOUBLES, check, check_run, code_object, load, main, run

QUICK = ["--min-time", "1us", "--max-time", "1ms", "-q"]
HIP = {"ROOFTILE_HIP_LIBRARY": str(DOUBLES / "libfake_hip.so"), **CLANG}


def trace(home, dims, values, operator=True, grid=4):
    """A launch of `store` in 5 us, by an operator of PyTorch's compiler or by nobody."""
    arguments = {"Input Dims": dims, "Input Strides": [[1] if size else [] for size in dims], "Concrete Inputs": values,
                 "Input type": ["int" if size else "Scalar" for size in dims], "kernel_backend": "triton", "num_warps": 1, "num_stages": 2,
                 "kernel_hash": "cabc"}
    events = [{"ph": "X", "cat": "cpu_op", "name": "store", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "args": arguments}] if operator else []
    events += [{"ph": "X", "cat": "cuda_runtime", "name": "hipModuleLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": {"correlation": 1}},
               {"ph": "X", "cat": "kernel", "name": "store", "ts": 20, "dur": 5,
                "args": {"device": 0, "correlation": 1, "grid": [grid, 1, 1], "block": [16, 1, 1]}}]
    (home / "trace.json").write_text(json.dumps({"traceEvents": events}))
    return home / "trace.json"


def variant(folder, *args, warps=1, note=0, **more):
    """Other metadata make other code."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "store.hsaco").write_bytes(code_object("gfx942", "store", *args, **{".sgpr_count": note}))
    (folder / "store.json").write_text(json.dumps({"name": "store", "num_warps": warps, "num_stages": 2, "shared": 128,
                                                   "target": {"backend": "hip", "arch": "gfx942", "warp_size": 16}} | more))
    (folder / "store.ttir").write_text("tt.func public @store(%out_ptr0: !tt.ptr<i32>, %xnumel: i32) {")


def manifest(home, *inputs, name="mine", code=0):
    done = run("import", *inputs, "-o", home / f"{name}.json", home=home)
    check_run(done, code, f"import {inputs}")
    path = home / f"{name}.kernels/store.json"
    return (load(path) if path.exists() else None), done.stderr


def from_triton(home):
    """By name, warps and stages; where two fit, the one that PyTorch's compiler chose; else none."""
    variant(home / "cache/AAAA", "pointer", 4, "pointer", warps=4, note=1)
    variant(home / "cache/BBBB", "pointer", 4, "pointer", note=2)
    variant(home / "cache/CCCC", "pointer", 4, "pointer", note=2)  # a copy
    made, _ = manifest(home, trace(home, [[64], []], ["", "42"]), home / "cache")
    check(made["launch"] == {"grid": ["4"], "block": ["16"], "shared": "128", "args": ["out_ptr0", {"value": "42", "type": "i32"}, None]}, f"{made['launch']}")
    check(made["buffers"] == {"out_ptr0": {"type": "i32", "count": "64", "role": "out"}} and made["work"]["write"] == "256", f"{made}")
    suite = load(home / "mine.json")
    case = suite["cases"][0]
    check(suite["kernels"] == ["mine.kernels"] and (case["kernel"], case["traced_ns"]) == ("store", 5000), f"{suite}")
    check_run(run("plan", home / "mine.json", "--device", "sim:mi300x", home=home), 0, "planned", stdout="store")
    variant(home / "scratch/A", "pointer", 4, "pointer", "pointer", global_scratch_size=0, profile_scratch_size=256)
    scratch, said = manifest(home, trace(home, [[64], []], ["", "42"]), home / "scratch", name="scratch")
    check(scratch and scratch["launch"]["args"][2:] == [None, "profile_scratch"] and scratch["work"]["write"] == "256" and
          scratch["buffers"]["profile_scratch"] == {"type": "u8", "count": "256 * 4 * 1 * 1", "role": "temp"}, f"{said} {scratch}")
    trace(home, [[64], []], ["", "42"])
    variant(home / "cache/DDDD", "pointer", 4, "pointer", note=3)
    made, said = manifest(home, home / "trace.json", home / "cache", name="two", code=2)
    check(not made and "2 variants of store have its warps and stages" in said, said)
    (home / "inductor").mkdir()
    (home / "inductor/cabc.best_config").write_text(json.dumps({"num_warps": 1, "triton_cache_hash": "DDDD"}))
    made, said = manifest(home, home / "trace.json", home / "cache", home / "inductor", name="chosen")
    check(made and (home / "chosen.kernels/store.hsaco").read_bytes() == (home / "cache/DDDD/store.hsaco").read_bytes(), said)


def arguments(home):
    """A 1 may have been compiled in; what does not go together is said, and the kernel that stands for it stays."""
    variant(home / "one/A", "pointer", 4, "pointer")
    made, _ = manifest(home, trace(home, [[64], [], []], ["", "1", "7"]), home / "one", name="folded")
    check(made and made["launch"]["args"][1] == {"value": "7", "type": "i32"}, f"{made}")
    (home / "one/A/store.hsaco").rename(home / "store.kept")
    made, said = manifest(home, home / "trace.json", home / "one", name="gone", code=2)
    check(not made and "one has no code of kernels: no .hsaco" in said, said)
    (home / "store.kept").rename(home / "one/A/store.hsaco")
    for dims, values in (([[64], [64]], ["", ""]), ([[64], []], ["", ""]), ([[]], ["3"])):
        made, said = manifest(home, trace(home, dims, values), home / "one", name="unlike", code=2)
        check(not made and "are not those of the trace" in said, f"{dims}: {said}")
    check_run(run("import", home / "one", home=home), 2, "a folder alone", stderr="beside a trace")
    check_run(run("import", home / "trace.json", home / "one", home=home), 2, "no -o", stderr="-o SUITE.json")


def from_kerncap(home):
    """Values as they were passed, memory as far as it reached; the kernel runs."""
    folder = home / "capture"
    folder.mkdir()
    (folder / "kernel.hsaco").write_bytes(code_object("gfx942", "store", "pointer", 4))
    (folder / "kernarg_raw.bin").write_bytes(struct.pack("<QI", 0x7000, 42))
    (folder / "memory_regions.json").write_text(json.dumps({"regions": [{"base": 0x1000, "size": 16}, {"base": 0x6F00, "size": 0x200}]}))
    meta = {"kernel_name": "store(unsigned*, unsigned)", "kernel_symbol": "store.kd", "lds_size": 64, "grid": {"x": 64, "y": 1, "z": 1},
            "block": {"x": 16, "y": 1, "z": 1}}
    (folder / "metadata.json").write_text(json.dumps(meta))
    made, said = manifest(home, trace(home, [], [], operator=False), folder, name="kept")
    check(made and made["buffers"]["arg0"] == {"type": "u8", "count": "256", "role": "inout", "fill": "0"}, f"{made} {said}")
    check(made["launch"]["grid"] == ["4"] and made["launch"]["shared"] == "64" and [byte["value"] for byte in made["launch"]["args"][1]["struct"]] ==
          ["42", "0", "0", "0"], f"{made}")
    done = run("run", home / "kept.json", "--device", "hip", *QUICK, "-o", home / "r.json", home=home, **HIP)
    check_run(done, 0, "it runs")
    case = load(home / "r.json")["cases"][0]
    check(case["status"] == "ok" and case["traced_ns"] == 5000 and case["stats"]["median_ns"] > 0, f"{case['status']} {case.get('status_reason')}")
    (folder / "kernarg_raw.bin").write_bytes(struct.pack("<QI", 0x9000, 42))
    made, said = manifest(home, home / "trace.json", folder, name="wild", code=2)
    check(not made and "has not all arguments" in said, said)


if __name__ == "__main__":
    main(from_triton, arguments, from_kerncap)
