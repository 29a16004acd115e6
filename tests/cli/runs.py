# SPDX-License-Identifier: MIT
"""Runs made up from one real result: every case at a level of its own with seeded noise, consistent in all that a reader checks."""
import copy
import datetime
import json
import random

from harness import check_run, load, run

CASES = 12
NOISE = 0.003
FIRST = datetime.datetime(2026, 3, 1, 2, 0, 0)


def measure(home, name="base.json"):
    """One short real run of 12 cases of a class, three trials each; returns it with quiet levels in place of what was measured. The
    timer is named, because what `auto` takes depends on how busy the machine is, and ceilings are not calibrated: no time of it is kept."""
    suite = {"name": "sizes", "defaults": {"measure": {"calibration": False}},
             "cases": [{"kernel": "stream_copy", "sweep": {"n": [1024 * k for k in range(1, CASES + 1)]}}]}
    (home / "sizes.json").write_text(json.dumps(suite))
    done = run("run", "sizes.json", "--device", "cpu", "--trials", "3", "--quick", "--min-time", "1ms",
               "--max-time", "5ms", "--timer", "batch", "-o", name, home=home)
    check_run(done, 0, "a real run")
    base = load(home / name)
    for k, case in enumerate(sorted(base["cases"], key=lambda c: c["params"]["n"])):
        set_time(case, 1e6 * (1 + k), [1, 1, 1])
    return base


def set_time(case, median, trials):
    """`trials` are relative to the median, their own median is 1."""
    scale = median / case["stats"]["median_ns"]
    for key, value in case["stats"].items():
        if key == "ci95_ns":
            case["stats"][key] = [v * scale for v in value]
        elif key.endswith("_ns") and value is not None:
            case["stats"][key] = value * scale
    for trial, ratio in zip(case["trials"], trials):
        trial["median_ns"], trial["min_ns"] = median * ratio, median * ratio * 0.9
    if case["throughput"]["bytes_per_s"]:
        case["throughput"]["bytes_per_s"] = (case["work"]["bytes_read"] + case["work"]["bytes_written"]) / median * 1e9
    if case["throughput"].get("flops_per_s"):
        case["throughput"]["flops_per_s"] = case["work"]["flops"] / median * 1e9
    case.pop("samples_ns", None)
    case.pop("samples_file", None)


def when(run):
    return (FIRST + datetime.timedelta(days=run)).strftime("%Y-%m-%dT%H:%M:%SZ")


def make(base, run, ratios=None, noise=NOISE, commit=None, change=None):
    """The result of one run. `ratios`: factors by n, or one for all; `change` may alter the rest."""
    rng = random.Random(1000 + run)
    result = copy.deepcopy(base)
    result["run"] |= {"id": f"{run:08d}-0000-4000-8000-000000000000", "started_at": when(run), "finished_at": when(run),
                      "commit": commit or f"{run:02d}" * 20}
    for k, part in enumerate(result["run"]["parts"]):
        part |= {"id": f"{run:08d}-0000-4000-8000-00000000000{k}", "started_at": when(run)}
    for case in sorted(result["cases"], key=lambda c: c["params"]["n"]):
        ratio = ratios if isinstance(ratios, (int, float)) else (ratios or {}).get(case["params"]["n"], 1)
        set_time(case, case["stats"]["median_ns"] * ratio * (1 + rng.gauss(0, noise)), [0.999, 1, 1.001])
    if change:
        change(result)
    return result


def write(home, result, name="run.json"):
    (home / name).write_text(json.dumps(result))
    return name


TIMES = ("median_ns", "min_ns", "p05_ns", "q1_ns", "q3_ns", "p95_ns", "max_ns", "mean_ns", "sd_ns", "mad_ns")


def stretch(case, factor):
    """The same case, had it taken `factor` times as long."""
    stats = case["stats"]
    for key in TIMES:
        stats[key] = stats[key] and stats[key] * factor
    stats["ci95_ns"] = [value * factor for value in stats["ci95_ns"]]
    if "samples_ns" in case:
        case["samples_ns"] = [value * factor for value in case["samples_ns"]]
    rates = [(case["throughput"], key) for key in case["throughput"] if key.endswith("_per_s")]
    for group, key in (*rates, (case["roofline"], "fraction_of_ceiling")):
        group[key] = group.get(key) and group[key] / factor
    error = case["prediction"].get("error_rel")
    if error is not None:
        case["prediction"]["error_rel"] = (1 + error) * factor - 1


def measured(result, factor=1):
    """The result of a prediction as if three samples had been taken of every case, all of the time that it predicts, times `factor`."""
    result = copy.deepcopy(result) | {"predicted": False}
    for case in result["cases"]:
        if case["status"] != "ok":
            continue
        time_ns = round(case["prediction"]["time_ns"] * factor, 3)
        case["id"] = case["id"].replace(";timer=sim", ";timer=batch")
        case["measurement"] |= {"timer": "batch", "batch": 1, "n": 3, "stop_reason": "precise"}
        case["stats"] = dict.fromkeys(TIMES, time_ns) | {"ci95_ns": [time_ns, time_ns], "sd_ns": 0, "mad_ns": 0, "rel_noise": 0, "lag1": None,
                                                         "drift": 0, "modes": 1}
        case["samples_ns"] = [time_ns] * 3
        case["telemetry"] = {at: {f"violation_{why}": 0 for why in ("power", "thermal", "hbm", "vr", "prochot")} for at in ("before", "after")}
        for rate, amount in (("flops_per_s", ("flops",)), ("bytes_per_s", ("bytes_read", "bytes_written")), ("items_per_s", ("items",))):
            if case["throughput"].get(rate):
                case["throughput"][rate] = sum(case["work"][name] for name in amount) / time_ns * 1e9
    return result
