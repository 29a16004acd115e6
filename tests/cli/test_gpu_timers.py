# SPDX-License-Identifier: MIT
"""Timers, held back starts, clocks and cold caches of a GPU, on stand-ins for libamdhip64 and libcuda whose time is virtual: a launch
takes 12 us, an event 3 us, a walk through a working set 100 us or, after a flush, 200 us. The vendor is the second argument, and what
differs between them is in VENDORS: CUDA has no timer of a kernel alone, but NVML and the sizes of arguments."""
import dataclasses
import json
import re
import sys

from harness import CLANG, DOUBLES, check, check_run, load, main, run, skip

QUICK = ["--quick", "--min-time", "1ms", "-o", "r.json"]
LAUNCH, EVENT = 12000, 3000


@dataclasses.dataclass(frozen=True)
class Vendor:
    backend: str
    archs: str
    machine: str  # of the stand-in's GPU
    cache_bytes: int  # of that, which a flush fills twice
    own_timer: str  # what `auto` takes for long kernels
    capture: str  # what a library without graphs lacks
    stuck_ticks: int
    tick_ns: float
    timers: tuple  # how each sees one launch: name, time, launches a sample, is the start held back, the second timer

    def library(self, kind=""):
        return f"libfake_{self.backend}{kind}.so"


def batched(launch, count):
    return launch + EVENT / count


BATCH = -(-2000000 // LAUNCH)
MANY = batched(LAUNCH, BATCH)
VENDORS = {
    "hip": Vendor("hip", "gfx942,gfx90a", "mi300x", (32 + 256) * 2**20, "dispatch", "hipStreamBeginCapture", 2000, 10,
                  (("dispatch", LAUNCH, 1, False, "batch"), ("event", LAUNCH + EVENT, 1, True, "batch"), ("batch", MANY, BATCH, True, "dispatch"),
                   ("graph", MANY, BATCH, True, "dispatch"))),
    "cuda": Vendor("cuda", "sm_90a", "h200", 60 * 2**20, "event", "cuStreamBeginCapture_v2", 20000, 8,
                   (("event", LAUNCH + EVENT, 1, True, None), ("batch", MANY, BATCH, True, None), ("graph", MANY, BATCH, True, None)))}
VENDOR = VENDORS.get(sys.argv[2] if len(sys.argv) > 2 else "", VENDORS["hip"])
IS_HIP = VENDOR.backend == "hip"


def measure(home, *arguments, kind="", code=0, kernel="launch_empty", nvml="/nonexistent.so", **fake):
    """One case on the stand-in; its result and what was said about it."""
    name = VENDOR.backend.upper()
    extra = {f"FAKE_{name}_{key}": str(value) for key, value in fake.items()}
    extra |= {f"ROOFTILE_{name}_LIBRARY": str(DOUBLES / VENDOR.library(kind)), "ROOFTILE_NVML_LIBRARY": nvml} | (CLANG if IS_HIP else {})
    done = run("run", kernel, "--device", f"{VENDOR.backend}:0", *QUICK, *arguments, home=home, **extra)
    check_run(done, code, f"{VENDOR.library(kind)} {arguments} {fake}")
    result = load(home / "r.json")
    return result["cases"][0], result, done.stderr + done.stdout


def near(value, expected, part=1e-4):
    return value is not None and abs(value - expected) <= part * expected


def expect(case, what, timer, time_ns, batch, blocking=None, part=1e-3):
    measured = case["measurement"] or {}
    check(measured.get("timer") == timer and case["id"].endswith(f";timer={timer}"), f"{what}: {case['id']} {case['status_reason']}")
    check(near((case["stats"] or {}).get("median_ns"), time_ns, part), f"{what}: {case['stats']}")
    check(measured.get("batch") == batch, f"{what}: a batch of {measured.get('batch')}")
    if blocking is not None:
        check(measured.get("blocking_start") is blocking, f"{what}: blocking start {measured.get('blocking_start')}")


def needs_a_compiler(home):
    if run("build", "launch_empty", "--arch", VENDOR.archs, home=home, **(CLANG if IS_HIP else {})).returncode:
        skip(f"no compiler knows {VENDOR.archs}")


def every_timer(home):
    """What each sees of one launch of 12 us, and the same under a second timer. Nobody is warned of what no driver can, and who asks for
    it is told."""
    for timer, time_ns, count, blocking, cross in VENDOR.timers:
        case, result, said = measure(home, "--timer", timer)
        expect(case, timer, timer, time_ns, count, blocking)
        second, found = case["measurement"]["cross"], result["calibration"]
        check(cross is None or (second["timer"] == cross and near(second["time_ns"], LAUNCH, 0.01)), f"{timer}: crossed with {second}")
        check(not IS_HIP or (near(found["dispatch_null_ns"], LAUNCH) and near(found["null_launch_ns"], LAUNCH + EVENT)), f"{timer}: {found}")
        check(IS_HIP or near(found["timer_tick_ns"], VENDOR.tick_ns), f"the step of the clock: {found}")
        check("W010" not in said, f"{timer}: {said}")
    case, _, _ = measure(home, "--timer", "host")
    check(case["measurement"]["timer"] == "host" and case["measurement"]["batch"] == 1, f"host: {case['measurement']}")
    if not IS_HIP:
        case, _, _ = measure(home, "--timer", "dispatch")
        check("the cuda device does not tell a kernel's own times" in (case["status_reason"] or "") or case["measurement"]["timer"] == "event",
              f"dispatch: {case['status']} {case['status_reason']}")


def chosen_by_length(home):
    """auto: from 10 us on the launch's own time, below it a batch; never a batch with cold caches."""
    cold, rotate = (["--cache-mode", mode, "--machine", VENDOR.machine] for mode in ("cold", "rotate"))
    rows = [(10001, [], VENDOR.own_timer, 1), (1000, [], "batch", 900)]
    if IS_HIP:
        rows += [(9990, [], "batch", 200), (9990, cold, "dispatch", 1), (1000, rotate, None, None)]
    for length, arguments, timer, count in rows:
        case, _, _ = measure(home, *arguments, code=0 if timer else 3, KERNEL_NS=length)
        if timer is None:
            check(case["status"] == "skipped" and "use cache mode cold" in case["status_reason"], f"rotate: {case['status_reason']}")
            continue
        time_ns = length if timer == "dispatch" else batched(length, count)
        expect(case, f"{length} ns {arguments}", timer, time_ns, count, timer != "dispatch", part=2e-3)


def what_is_missing(home):
    """Each thing that a library lacks costs only itself, and is said once."""
    case, _, said = measure(home, kind="_bare")
    expect(case, "a bare library", "event", LAUNCH + EVENT, 1, False)
    check(case["measurement"]["cycles"] is None and "no pinned memory" in case["measurement"]["cycles_reason"], f"a bare library: {case['measurement']}")
    check("no pinned memory" in case["measurement"]["blocking_start_reason"], f"a bare library: {case['measurement']}")
    case, _, _ = measure(home, "--timer", "graph", kind="_bare", code=3)
    check(case["status"] == "skipped" and f"lacks {VENDOR.capture}" in case["status_reason"], f"no graphs: {case['status_reason']}")
    case, _, _ = measure(home, "--timer", "event", SYNC=1)
    check("only after it has run" in case["measurement"]["blocking_start_reason"], f"no queue: {case['measurement']}")
    if IS_HIP:
        case, _, said = measure(home, NO_DISPATCH=1)
        expect(case, "no dispatch timer", "event", LAUNCH + EVENT, 1, True)
        check(said.count("W010") == 1 and "hipExtModuleLaunchKernel" in said, f"no dispatch timer: {said}")
        case, _, _ = measure(home, kind="_old")
        expect(case, "an old library", "dispatch", LAUNCH, 1)
        check(near(case["measurement"]["cycles"], 2.1 * LAUNCH), f"an old library: {case['measurement']}")


def launches_that_run_at_once(home):
    case, _, _ = measure(home, SYNC=1, KERNEL_NS=2500)
    expect(case, "no queue", "batch", batched(2500, 799), 799, False, part=2e-3)
    check("only after it has run" in case["measurement"]["blocking_start_reason"], f"no queue: {case['measurement']}")


def clocks(home):
    """The counter of constant rate is CUDA's in nanoseconds, whatever the step of the events' clock."""
    timer = [] if IS_HIP else ["--timer", "graph"]
    for told, mhz in (("2100", 2100), ("1500", 1500)):
        case, _, _ = measure(home, *timer, CLOCK=told)
        check(near(case["measurement"]["cycles"], mhz * case["stats"]["median_ns"] / 1000, 1e-3), f"{told} MHz: {case['measurement']}")
        check(near(case["measurement"]["core_hz"], mhz * 1e6), f"{told} MHz: {case['measurement']}")
    for told, reason in (("stuck", f"went 0 of {VENDOR.stuck_ticks} ticks"), ("wrap", "20 bits may have gone round")):
        case, _, _ = measure(home, CLOCK=told)
        check(case["status"] == "ok" and case["measurement"]["cycles"] is None, f"{told}: {case['measurement']}")
        check(reason in (case["measurement"]["cycles_reason"] or ""), f"{told}: {case['measurement']}")
    if IS_HIP:
        case, result, _ = measure(home, NO_RATE=1)
        check(near(result["calibration"]["timer_tick_ns"], VENDOR.tick_ns) and near(case["measurement"]["cycles"], 2.1 * LAUNCH),
              f"a rate that is not told: {case['measurement']}")


def slow_clock(home):
    """A few samples at half the clock do not count; many make the case throttled. The warm-up takes some 3,400 probes."""
    long = ["--min-time", "20ms"]
    case, _, _ = measure(home, *long, CLOCK="2100,4000,1000,8")
    check(case["measurement"]["n_discarded"].get("clock") in (4, 5) and "throttled" not in case["flags"], f"slow for a moment: {case['measurement']}")
    check(case["measurement"]["n"] >= 1600 and near(case["stats"]["max_ns"], LAUNCH), f"slow for a moment: {case['stats']}")
    case, _, _ = measure(home, *long, CLOCK="2100,4000,1650,16")
    check(not case["measurement"]["n_discarded"], f"slower, but not slow: {case['measurement']}")
    # On a busy machine the warm-up is cut short and takes fewer probes: look for the first moment that is behind it.
    for begin in (3420, 2400, 1600, 1000, 600, 300):
        case, _, _ = measure(home, "--max-time", "3s", CLOCK=f"2100,{begin},1000,60")
        if "throttled" in case["flags"]:
            break
    check("throttled" in case["flags"] and "below 75 % of where the case began" in (case["status_reason"] or ""), f"slow: {case['flags']} {case['status_reason']}")


def cold_caches(home):
    cold = ["--cache-mode", "cold", "--machine", VENDOR.machine]
    case, result, said = measure(home, *cold)
    check(case["measurement"]["flush_method"] == "kernel" and case["measurement"]["flush_bytes"] >= 2 * VENDOR.cache_bytes, f"cold: {case['measurement']}")
    found = result["calibration"]
    check(found["flush_verdict"] == "works" and near(found["flush_reread_cold_ns"], 200e3, 0.05) and near(found["flush_reread_hot_ns"], 100e3, 0.05), f"cold: {found}")
    check("W011" not in said and "W012" not in said, f"cold: {said}")
    _, result, said = measure(home, *cold, FLUSH=0)
    check("in doubt: reading " in result["calibration"]["flush_verdict"] and "again took only 1.00 times" in result["calibration"]["flush_verdict"],
          f"no flush: {result['calibration']}")
    check(said.count("W012") == 1, f"no flush: {said}")


def without_a_machine_file(home):
    """1 GiB, said to be a guess. The stand-in has no room for its kernel's buffer, so memory is filled instead."""
    case, result, said = measure(home, "--cache-mode", "cold", "--max-time", "100ms")
    check(case["measurement"]["flush_method"] == "fill" and case["measurement"]["flush_bytes"] == 2**30, f"no machine file: {case['measurement']}")
    check("W011" in said and "1.00 GiB" in said, f"no machine file: {said}")


def three_arms(home):
    """The host's clock is real here and the events' is not, so they cannot agree; nor may a graph or a launch go missing."""
    suite = home / "arms.json"
    suite.write_text(json.dumps({"name": "arms", "cases": [{"kernel": "launch_arms", "params": {"launches": 20}, "sweep": {"arm": [0, 1, 2]}, "measure": {"timer": "host"}}],
                                 "derive": [{"name": "arms", "method": "three_arm", "kernel": "launch_arms", "x": "arm", "y": "counted"}]}))
    _, result, _ = measure(home, kernel=suite)
    check([c["status"] for c in result["cases"]] == ["ok"] * 3, f"arms: {[c['status_reason'] for c in result['cases']]}")
    for case in result["cases"]:
        second = case["measurement"]["cross"]
        check(case["measurement"]["timer"] == "host" and second["timer"] == "event" and near(second["time_ns"], 20 * LAUNCH, 0.02), f"arms: {case['id']}: {second}")
    said = result["derived"][0]["value"]
    check(said["verdict"] == "disagree" and len(said["arms"]) == 3 and all(arm["counted"] == 20 for arm in said["arms"]), f"arms: {said}")
    check(len(said["disagree"]) == 3 and all("by the host's clock" in text for text in said["disagree"]), f"arms: {said}")
    _, result, _ = measure(home, kernel=suite, code=1, LOSE=1000)
    lost = [c["status_reason"] for c in result["cases"] if c["status"] == "failed"]
    check(len(lost) == 3 and all("metric 'counted' is" in text or re.search(r"wrong result: .*counter\[0\]", text) for text in lost), f"lost launches: {lost}")
    check(sum(" failed: " in text for text in result["derived"][0]["value"]["disagree"]) == 3, f"lost launches: {result['derived'][0]['value']}")
    _, result, _ = measure(home, kernel=suite, kind="_bare")
    said = result["derived"][0]["value"]
    check([c["status"] for c in result["cases"]] == ["ok", "ok", "skipped"], f"no graphs: {[c['status_reason'] for c in result['cases']]}")
    check(any("lacks hipStreamBeginCapture" in text for text in said["not_compared"]), f"no graphs: {said}")


def telemetry(home):
    """NVML's numbers, and the machine file that the card's PCI id chooses."""
    case, result, said = measure(home, nvml=str(DOUBLES / "libfake_nvml.so"), NAME="NVIDIA H200")
    gpu, sense = result["environment"]["device"], case["telemetry"]["after"]
    check(gpu["driver"] == "CUDA 13.2, driver 580.159.04" and gpu["vbios"] == "96.00.BC.00.02" and gpu["power_cap_w"] == 700, f"device: {gpu}")
    check(near(sense["power_w"], 512.345) and sense["temp_c"] == 61, f"telemetry: {sense}")
    check("HBM 4.80 TB/s" in said and "W001" not in said, f"the machine file of 10de:2335 was not found: {said}")


STORE = """#include "portable.h"

extern "C" __global__ void store(uint32_t *to, uint32_t value)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
"""


def write_store(home, params, buffers, *launches):
    """The stand-in's own kernel, launched with each of these first arguments; `to` must come out as 42."""
    (home / "k").mkdir(exist_ok=True)
    (home / "k/store.hip").write_text(STORE)
    (home / "k/store.json").write_text(json.dumps({
        "name": "store", "summary": "to = 42", "params": params, "code": {"source": "store.hip", "symbol": "store"}, "buffers": buffers,
        "steps": [{"launch": {"grid": ["n / 16"], "block": [16], "args": [to, {"value": "42", "type": "u32"}]}} for to in launches],
        "check": {"expect": {"to": "42"}}}))


def hashes(home):
    """A byte of 300 MiB is overwritten far from their ends. The device's hashes tell, or where they do not work the memory that is read
    back; and a device whose hashes stop telling shows that it is they who are asked."""
    write_store(home, {"n": 16}, {"to": {"type": "u32", "count": "n", "role": "out"}, "x": {"type": "u32", "count": "75Mi + 1", "role": "in", "fill": "0"}},
                "to", {"buffer": "x", "offset": "4 * 40000000"})
    for fake, code in ({}, 1), ({"HASH": 0}, 1), ({"HASH": 2}, 0):
        case, _, _ = measure(home, "--kernels", "k", kernel="store", code=code, **fake)
        said = case["status_reason"] or ""
        check(("input x[40000000] was overwritten: it is 42, and was 0" in said) == bool(code), f"hashes {fake}: {case['status']} {said}")
        check(case["verification"].get("not_checked") is None, f"hashes {fake}: {case['verification']}")


def arguments(home):
    """CUDA tells the sizes of arguments: a wrong one is refused before it is launched."""
    write_store(home, {"n": 64}, {"to": {"type": "u32", "count": "n", "role": "out"}}, "to")
    case, _, _ = measure(home, "--kernels", "k", kernel="store")
    check(case["status"] == "ok", f"right sizes: {case['status_reason']}")
    case, _, _ = measure(home, "--kernels", "k", kernel="store", code=3, SECOND_ARGUMENT=8)
    check("argument 2 of kernel 'store' has 8 bytes, the manifest gives 4" in (case["status_reason"] or ""), f"a wrong size: {case['status_reason']}")


if __name__ == "__main__":
    both = [needs_a_compiler, every_timer, chosen_by_length, what_is_missing, clocks, cold_caches, hashes]
    main(*both, *([launches_that_run_at_once, slow_clock, without_a_machine_file, three_arms] if IS_HIP else [telemetry, arguments]),
         doubles=[VENDOR.library()])
