# SPDX-License-Identifier: MIT
"""Timers, held back starts, clocks, cold caches, telemetry and arguments of an NVIDIA GPU, on stand-ins for libcuda and NVML whose
time is virtual: a launch takes 12 us, an event 3 us, a walk through a working set 100 us or, after a flush, 200 us."""
import json
import os
import pathlib
import sys

from harness import PROGRAM, check, check_run, finish, load, run, scratch

DOUBLES = pathlib.Path(os.environ.get("ROOFTILE_TEST_DOUBLES") or (PROGRAM.parent.parent / "tests/double" if PROGRAM else "."))
QUICK = ["--device", "cuda:0", "--quick", "--min-time", "1ms", "-o", "r.json"]
LAUNCH, EVENT = 12000, 3000


def measure(home, *arguments, library="fake_cuda", code=0, kernel="launch_empty", nvml="/nonexistent.so", **fake):
    """One case on the stand-in; its result and what was said about it."""
    extra = {"FAKE_CUDA_" + name: str(value) for name, value in fake.items()}
    done = run("run", kernel, *QUICK, *arguments, home=home, ROOFTILE_CUDA_LIBRARY=str(DOUBLES / f"lib{library}.so"), ROOFTILE_NVML_LIBRARY=nvml, **extra)
    check_run(done, code, f"{library} {arguments} {fake}")
    result = load(home / "r.json")
    return result["cases"][0], result, done.stderr + done.stdout


def near(value, expected, part=1e-4):
    return value is not None and abs(value - expected) <= part * expected


def expect(case, what, timer, time_ns, batch, part=1e-3):
    measured = case["measurement"] or {}
    check(measured.get("timer") == timer and near((case["stats"] or {}).get("median_ns"), time_ns, part) and measured.get("batch") == batch,
          f"{what}: {measured.get('timer')} {case['stats']} in batches of {measured.get('batch')}, {case['status_reason']}")


def every_timer(home):
    """There is no timer of a kernel alone: nobody is warned of what no driver can, and who asks for it is told."""
    batch = -(-2000000 // LAUNCH)
    for timer, time_ns, count in (("event", LAUNCH + EVENT, 1), ("batch", LAUNCH + EVENT / batch, batch), ("graph", LAUNCH + EVENT / batch, batch)):
        case, result, said = measure(home, "--timer", timer)
        expect(case, timer, timer, time_ns, count)
        check(case["measurement"]["blocking_start"] is True and "W010" not in said, f"{timer}: {case['measurement']} {said}")
        check(near(result["calibration"]["timer_tick_ns"], 8), f"the step of the clock: {result['calibration']}")
    case, _, _ = measure(home, "--timer", "host")
    check(case["measurement"]["timer"] == "host" and case["measurement"]["batch"] == 1, f"host: {case['measurement']}")
    case, _, _ = measure(home, "--timer", "dispatch")
    check("the cuda device does not tell a kernel's own times" in (case["status_reason"] or "") or case["measurement"]["timer"] == "event",
          f"dispatch: {case['status']} {case['status_reason']}")
    for length, timer, count in ((10001, "event", 1), (1000, "batch", 900)):
        case, _, _ = measure(home, KERNEL_NS=length)
        expect(case, f"auto, {length} ns", timer, length + EVENT / count, count, part=2e-3)


def what_is_missing(home):
    case, _, _ = measure(home, library="fake_cuda_bare")
    expect(case, "a bare library", "event", LAUNCH + EVENT, 1)
    check("no pinned memory" in case["measurement"]["cycles_reason"] and "no pinned memory" in case["measurement"]["blocking_start_reason"],
          f"a bare library: {case['measurement']}")
    case, _, _ = measure(home, "--timer", "graph", library="fake_cuda_bare")
    check(case["status"] == "skipped" and "lacks cuStreamBeginCapture_v2" in case["status_reason"], f"no graphs: {case['status_reason']}")
    case, _, _ = measure(home, SYNC=1)
    check("only after it has run" in case["measurement"]["blocking_start_reason"], f"no queue: {case['measurement']}")


def clocks(home):
    """The counter of constant rate is in nanoseconds, whatever the step of the events' clock."""
    for told, mhz in (("2100", 2100), ("1500", 1500)):
        case, _, _ = measure(home, "--timer", "graph", CLOCK=told)
        check(near(case["measurement"]["cycles"], mhz * case["stats"]["median_ns"] / 1000, 1e-3), f"{told} MHz: {case['measurement']}")
        check(near(case["measurement"]["core_hz"], mhz * 1e6), f"{told} MHz: {case['measurement']}")
    for told, reason in (("stuck", "went 0 of 20000 ticks"), ("wrap", "20 bits may have gone round")):
        case, _, _ = measure(home, CLOCK=told)
        check(case["status"] == "ok" and reason in (case["measurement"]["cycles_reason"] or ""), f"{told}: {case['measurement']}")


def cold_caches(home):
    case, result, said = measure(home, "--cache-mode", "cold", "--machine", "h200")
    check(case["measurement"]["flush_method"] == "kernel" and case["measurement"]["flush_bytes"] >= 2 * 60 * 2**20, f"cold: {case['measurement']}")
    check(result["calibration"]["flush_verdict"] == "works" and "W011" not in said, f"cold: {result['calibration']} {said}")
    _, result, said = measure(home, "--cache-mode", "cold", "--machine", "h200", FLUSH=0)
    check("in doubt" in result["calibration"]["flush_verdict"] and said.count("W012") == 1, f"no flush: {result['calibration']}")


def telemetry(home):
    """NVML's numbers, and the machine file that the card's PCI id chooses."""
    case, result, said = measure(home, nvml=str(DOUBLES / "libfake_nvml.so"), NAME="NVIDIA H200")
    gpu, sense = result["environment"]["device"], case["telemetry"]["after"]
    check(gpu["driver"] == "CUDA 13.2, driver 580.159.04" and gpu["vbios"] == "96.00.BC.00.02" and gpu["power_cap_w"] == 700, f"device: {gpu}")
    check(near(sense["power_w"], 512.345) and sense["temp_c"] == 61, f"telemetry: {sense}")
    check("HBM 4.80 TB/s" in said and "W001" not in said, f"the machine file of 10de:2335 was not found: {said}")


def arguments(home):
    """CUDA tells the sizes of arguments: a wrong one is refused before it is launched."""
    (home / "k").mkdir()
    (home / "k/store.hip").write_text('#include "portable.h"\n\nKERNEL void store(uint32_t *to, uint32_t value)\n{\n    to[blockIdx.x * blockDim.x + threadIdx.x] = value;\n}\nKERNEL_EXPORT(store)\n')
    (home / "k/store.json").write_text(json.dumps({
        "name": "store", "summary": "to = 42", "params": {"n": 64}, "code": {"source": "store.hip", "symbol": "store"},
        "buffers": {"to": {"type": "u32", "count": "n", "role": "out"}},
        "launch": {"grid": ["n / 16"], "block": [16], "args": ["to", {"value": "42", "type": "u32"}]}, "check": {"expect": {"to": "42"}}}))
    case, _, _ = measure(home, "--kernels", "k", kernel="store")
    check(case["status"] == "ok", f"right sizes: {case['status_reason']}")
    case, _, _ = measure(home, "--kernels", "k", kernel="store", code=3, SECOND_ARGUMENT=8)
    check("argument 1 of kernel 'store' has 8 bytes, the manifest gives 4" in (case["status_reason"] or ""), f"a wrong size: {case['status_reason']}")


def main():
    if not (DOUBLES / "libfake_cuda.so").exists():
        print("the stand-ins for libcuda are not built")
        sys.exit(77)
    with scratch() as folder:
        home = pathlib.Path(folder)
        if run("build", "launch_empty", "--arch", "sm_90a", home=home).returncode:
            print("no compiler knows sm_90a")
            sys.exit(77)
        for group in (every_timer, what_is_missing, clocks, cold_caches, telemetry, arguments):
            group(home)
    finish()


if __name__ == "__main__":
    sys.exit("the program is missing: test_cuda_timers.py PROGRAM" if not PROGRAM else main())
