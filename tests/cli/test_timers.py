# SPDX-License-Identifier: MIT
"""Timers, held back starts, clocks and cold caches of a GPU, on a stand-in for libamdhip64 whose time is virtual: a launch takes
12 us, an event 3 us, a walk through a working set 100 us or, after a flush, 200 us."""
import json
import os
import pathlib
import sys

from harness import PROGRAM, check, check_run, finish, load, run, scratch

DOUBLES = pathlib.Path(os.environ.get("ROOFTILE_TEST_DOUBLES") or (PROGRAM.parent.parent / "tests/double" if PROGRAM else "."))
QUICK = ["--device", "hip:0", "--quick", "--min-time", "1ms", "-o", "r.json"]
LAUNCH, EVENT = 12000, 3000


def measure(home, *arguments, library="fake_hip", code=0, kernel="launch_empty", **fake):
    """One case on the stand-in; its result and what was said about it."""
    extra = {"FAKE_HIP_" + name: str(value) for name, value in fake.items()}
    done = run("run", kernel, *QUICK, *arguments, home=home, ROOFTILE_HIP_LIBRARY=str(DOUBLES / f"lib{library}.so"), **extra)
    check_run(done, code, f"{library} {arguments} {fake}")
    result = load(home / "r.json")
    return result["cases"][0], result, done.stderr


def near(value, expected, part=1e-4):
    return value is not None and abs(value - expected) <= part * expected


def expect(case, what, timer, time_ns, batch, blocking=None, part=1e-4):
    measured = case["measurement"] or {}
    check(measured.get("timer") == timer and case["id"].endswith(f";timer={timer}"), f"{what}: {case['id']} {case['status_reason']}")
    check(near((case["stats"] or {}).get("median_ns"), time_ns, part), f"{what}: {case['stats']}")
    check(measured.get("batch") == batch, f"{what}: a batch of {measured.get('batch')}")
    if blocking is not None:
        check(measured.get("blocking_start") is blocking, f"{what}: blocking start {measured.get('blocking_start')}")


def batched(launch, count):
    return launch + EVENT / count


def every_timer(home):
    """What each sees of one launch of 12 us, and the same under a second timer."""
    batch = -(-2000000 // LAUNCH)
    for timer, time_ns, count, blocking, cross in (("dispatch", LAUNCH, 1, False, "batch"), ("event", LAUNCH + EVENT, 1, True, "batch"),
                                                   ("batch", batched(LAUNCH, batch), batch, True, "dispatch"),
                                                   ("graph", batched(LAUNCH, batch), batch, True, "dispatch")):
        case, result, _ = measure(home, "--timer", timer)
        expect(case, timer, timer, time_ns, count, blocking, part=1e-3)
        second = case["measurement"]["cross"]
        check(second["timer"] == cross and near(second["time_ns"], LAUNCH, 0.01), f"{timer}: crossed with {second}")
        found = result["calibration"]
        check(near(found["dispatch_null_ns"], LAUNCH) and near(found["null_launch_ns"], LAUNCH + EVENT), f"{timer}: {found}")
    case, _, _ = measure(home, "--timer", "host")
    check(case["measurement"]["timer"] == "host" and case["measurement"]["batch"] == 1, f"host: {case['measurement']}")


def chosen_by_length(home):
    """auto: from 10 us on the launch's own time, below it a batch; never a batch with cold caches."""
    for length, arguments, timer, count in ((10001, [], "dispatch", 1), (9990, [], "batch", 200), (9990, ["--cache-mode", "cold", "--machine", "mi300x"], "dispatch", 1),
                                            (1000, [], "batch", 900), (1000, ["--cache-mode", "rotate", "--machine", "mi300x"], None, None)):
        case, _, _ = measure(home, *arguments, KERNEL_NS=length)
        if timer is None:
            check(case["status"] == "skipped" and "use cache mode cold" in case["status_reason"], f"rotate: {case['status_reason']}")
            continue
        time_ns = length if timer == "dispatch" else batched(length, count)
        expect(case, f"{length} ns {arguments}", timer, time_ns, count, timer == "batch", part=2e-3)


def what_is_missing(home):
    """Each thing that a library lacks costs only itself, and is said once."""
    case, _, said = measure(home, NO_DISPATCH=1)
    expect(case, "no dispatch timer", "event", LAUNCH + EVENT, 1, True)
    check(said.count("W010") == 1 and "hipExtModuleLaunchKernel" in said, f"no dispatch timer: {said}")
    case, _, said = measure(home, library="fake_hip_bare")
    expect(case, "a bare library", "event", LAUNCH + EVENT, 1, False)
    check(case["measurement"]["cycles"] is None and "no pinned memory" in case["measurement"]["cycles_reason"], f"a bare library: {case['measurement']}")
    check("no pinned memory" in case["measurement"]["blocking_start_reason"], f"a bare library: {case['measurement']}")
    case, _, _ = measure(home, "--timer", "graph", library="fake_hip_bare")
    check(case["status"] == "skipped" and "lacks hipStreamBeginCapture" in case["status_reason"], f"no graphs: {case['status_reason']}")
    case, _, _ = measure(home, library="fake_hip_old")
    expect(case, "an old library", "dispatch", LAUNCH, 1)
    check(near(case["measurement"]["cycles"], 2.1 * LAUNCH), f"an old library: {case['measurement']}")


def launches_that_run_at_once(home):
    case, _, _ = measure(home, SYNC=1, KERNEL_NS=2500)
    expect(case, "no queue", "batch", batched(2500, 799), 799, False, part=2e-3)
    check("only after it has run" in case["measurement"]["blocking_start_reason"], f"no queue: {case['measurement']}")


def clocks(home):
    for told, mhz in (("2100", 2100), ("1500", 1500)):
        case, _, _ = measure(home, CLOCK=told)
        check(near(case["measurement"]["cycles"], mhz * LAUNCH / 1000), f"{told} MHz: {case['measurement']}")
        check(near(case["measurement"]["core_hz"], mhz * 1e6), f"{told} MHz: {case['measurement']}")
    for told, reason in (("stuck", "went 0 of 2000 ticks"), ("wrap", "20 bits may have gone round")):
        case, _, _ = measure(home, CLOCK=told)
        check(case["status"] == "ok" and case["measurement"]["cycles"] is None, f"{told}: {case['measurement']}")
        check(reason in case["measurement"]["cycles_reason"], f"{told}: {case['measurement']}")
    case, result, _ = measure(home, NO_RATE=1)
    check(near(result["calibration"]["timer_tick_ns"], 10) and near(case["measurement"]["cycles"], 2.1 * LAUNCH), f"a rate that is not told: {case['measurement']}")


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
    cold = ["--cache-mode", "cold"]
    case, result, said = measure(home, *cold, "--machine", "mi300x")
    check(case["measurement"]["flush_method"] == "kernel" and case["measurement"]["flush_bytes"] >= 2 * (32 + 256) * 2**20, f"cold: {case['measurement']}")
    found = result["calibration"]
    check(found["flush_verdict"] == "works" and near(found["flush_reread_cold_ns"], 200e3, 0.05) and near(found["flush_reread_hot_ns"], 100e3, 0.05), f"cold: {found}")
    check("W011" not in said and "W012" not in said, f"cold: {said}")
    _, result, said = measure(home, *cold, "--machine", "mi300x", FLUSH=0)
    check("in doubt: reading 16.0 MiB again took only 1.00 times" in result["calibration"]["flush_verdict"], f"no flush: {result['calibration']}")
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
    check(len(lost) == 3 and all("metric 'counted' is" in text or "wrong result: counter" in text for text in lost), f"lost launches: {lost}")
    check(sum(" failed: " in text for text in result["derived"][0]["value"]["disagree"]) == 3, f"lost launches: {result['derived'][0]['value']}")
    _, result, _ = measure(home, kernel=suite, library="fake_hip_bare")
    said = result["derived"][0]["value"]
    check([c["status"] for c in result["cases"]] == ["ok", "ok", "skipped"], f"no graphs: {[c['status_reason'] for c in result['cases']]}")
    check(any("lacks hipStreamBeginCapture" in text for text in said["not_compared"]), f"no graphs: {said}")


def main():
    if not (DOUBLES / "libfake_hip.so").exists():
        print("the stand-ins for libamdhip64 are not built")
        sys.exit(77)
    with scratch() as folder:
        home = pathlib.Path(folder)
        if run("build", "launch_empty", "--arch", "gfx942,gfx90a", home=home).returncode:
            print("no compiler knows gfx942 and gfx90a")
            sys.exit(77)
        for group in (every_timer, chosen_by_length, what_is_missing, launches_that_run_at_once, clocks, slow_clock, cold_caches, without_a_machine_file, three_arms):
            group(home)
    finish()


if __name__ == "__main__":
    sys.exit("the program is missing: test_timers.py PROGRAM" if not PROGRAM else main())
