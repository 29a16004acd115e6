# SPDX-License-Identifier: MIT
"""`rooftile merge`: trials whose times are made from a prediction, and predictions, joined into one run."""
import itertools
import json
import statistics

from harness import check, check_run, main, run
from runs import measured

TRIALS = ["t1.json", "t2.json", "t3.json"]
SUITE = ["stream_copy", "stream_triad", "--device", "sim:mi300x"]


def load(home, name):
    return json.loads((home / name).read_text())


def make_trials(home):
    for seed, name in enumerate(TRIALS, 1):
        check_run(run("run", *SUITE, "--seed", str(seed), "-o", name, home=home), 0, name)
        (home / f"sim{name}").write_bytes((home / name).read_bytes())
        (home / name).write_text(json.dumps(measured(load(home, name), 1 + 0.01 * (seed % 3))))


def merges(home):
    done = run("merge", *TRIALS, "-o", "run.json", home=home)
    check_run(done, 0, "merge")
    check(done.stdout == "", "merge writes nothing to standard output")
    merged, trials = load(home, "run.json"), [load(home, name) for name in TRIALS]
    check(merged["run"]["trials"] == 3 and len(merged["run"]["parts"]) == 3, "three trials")
    for case in merged["cases"]:
        own = [next(c for c in t["cases"] if c["id"] == case["id"])["stats"] for t in trials]
        check(case["stats"]["median_ns"] == statistics.median(s["median_ns"] for s in own), f"{case['id']}: median of medians")
        check(case["stats"]["min_ns"] == min(s["min_ns"] for s in own), f"{case['id']}: the least of all")
        check(sum(t["n"] for t in case["trials"]) == case["measurement"]["n"], f"{case['id']}: all samples")
    check_run(run("report", "run.json", home=home), 0, "report of a merged run", stdout=["2 cases: 2 measured"])
    check_run(run("merge", *(f"sim{name}" for name in TRIALS), "-o", "sim.json", home=home), 0, "predictions")
    for case in load(home, "sim.json")["cases"]:
        check(len(case["trials"]) == 3 and case["stats"] is None and not any(trial["n"] or trial["median_ns"] for trial in case["trials"]), f"{case}")
    check_run(run("report", "sim.json", home=home), 0, "report of merged predictions", stdout=["2 cases: 2 predicted", "80 % interval"])


def any_order(home):
    want = (home / "run.json").read_bytes()
    for order in itertools.permutations(TRIALS):
        check_run(run("merge", *order, "-o", "again.json", home=home), 0, f"merge {order}")
        check((home / "again.json").read_bytes() == want, f"the order {order} makes no difference")
    check_run(run("merge", "t3.json", "t1.json", "-o", "half.json", home=home), 0, "two of them")
    check_run(run("merge", "half.json", "t2.json", "-o", "again.json", home=home), 0, "and the third")
    check(load(home, "again.json")["run"]["parts"] == load(home, "run.json")["run"]["parts"], "in two steps they are the same trials")


def refused(home):
    check_run(run("run", "stream_copy", "--device", "sim:mi210", "--seed", "9", "-o", "other.json", home=home), 0, "another device")
    (home / "other.json").write_text(json.dumps(measured(load(home, "other.json"))))
    text = (home / "t1.json").read_text()
    better = load(home, "t1.json")
    better["cases"][0]["throughput"]["bytes_per_s"] *= 1.0001
    (home / "better.json").write_text(json.dumps(better, indent=3))
    (home / "cut.json").write_text(text[: len(text) // 2])
    for what, arguments, messages in (
            ("one file twice", ["t1.json", "t2.json", "t1.json"], ["t1.json and t1.json have the same trial"]),
            ("a run and its trial", ["run.json", "t2.json"], ["have the same trial"]),
            ("two devices", ["t1.json", "other.json"], ["are not of one run", "device"]),
            ("no such file", ["t1.json", "nowhere.json"], ["nowhere.json"]),
            ("half a file", ["cut.json", "t2.json"], ["cut.json:"]),
            ("a better median", ["better.json", "t2.json"], ["better.json:", "/cases/0/throughput", "edited or is corrupt"])):
        done = run("merge", *arguments, "-o", "out.json", home=home)
        check_run(done, 2, what, stderr=messages)
        check(not (home / "out.json").exists(), f"{what}: nothing is written")
    check_run(run("merge", "t1.json", "-o", "out.json", home=home), 2, "one file alone")
    check_run(run("merge", "t1.json", "t2.json", home=home), 2, "without -o", stderr=["-o"])


if __name__ == "__main__":
    main(make_trials, merges, any_order, refused)
