#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fleets of made-up results: who is found slow, missing, broken, drifting, and what each output says of it."""
import copy
import json
import pathlib
import random
import re
import resource
import time
import uuid

try:
    import jsonschema
except ImportError:
    jsonschema = None

from harness import CLANG, DOUBLES, ROOT, check, check_dashboard, finish, metric_families, run, scratch
from runs import measured, stretch

SCHEMA = jsonschema and json.loads((ROOT / "configs/schema/fleet.schema.json").read_text())


class Fleet:
    def __init__(self, base, folder, seed=1):
        self.base, self.folder, self.random = base, folder, random.Random(seed)
        folder.mkdir()

    def add(self, node, device, slow=1, spread=0.003, devices=0, rank=0, world=0, name=None, change=None, hz=None, together=None):
        result = copy.deepcopy(self.base)
        result["run"]["id"] = str(uuid.UUID(int=self.random.getrandbits(128)))
        result["run"]["job"] = {"engine": None, "id": None, "rank": rank, "world": world, "node": node, "local_rank": 0, "devices": devices,
                                "started_together_ns": together}
        result["environment"]["device"]["uuid"] = f"GPU-{node}-{device}"
        result["environment"]["device"]["id"] = f"hip:{device}"
        result["environment"]["device"]["driver"] = "6.4"
        for case in result["cases"]:
            stretch(case, (slow if isinstance(slow, (int, float)) else slow.get(case["kernel"], 1)) * self.random.lognormvariate(0, spread))
            if hz:
                case["measurement"]["core_hz"] = hz
        if change:
            change(result)
        path = self.folder / (name or f"{node}.{device}.{self.random.getrandbits(32):08x}.json")
        path.write_text(json.dumps(result))
        return path


def fleet(folder, *args, home):
    ended = run("fleet", folder, *args, home=home)
    return ended


def as_json(folder, *args, home):
    ended = fleet(folder, *args, "--json", "-", home=home)
    check(ended.stdout.startswith("{"), f"JSON: {ended.stderr}")
    return ended.returncode, json.loads(ended.stdout)


def main():
    with scratch() as home:
        home = pathlib.Path(home)
        made = run("run", "stream_copy", "stream_triad", "--set", "n=64Mi", "--device", "sim:mi300x", "-o", "base.json", home=home)
        check(made.returncode == 0, made.stderr)
        line = run("run", "stream_copy", "--device", "sim:mi300x", "--filter", "nothing", "--format", "nagios", home=home)
        check(line.returncode in (2, 3), f"nothing to run is never OK: {line.returncode}")
        line = run("run", "stream_copy", "--set", "n=16Ti", "--device", "sim:mi300x", "--format", "nagios", home=home)
        check(line.returncode == 3 and line.stdout.startswith("ROOFTILE UNKNOWN - "), f"nothing was measured: {line.stdout} {line.stderr}")
        base = measured(json.loads((home / "base.json").read_text()))
        for case in base["cases"]:
            case.pop("samples_ns", None)
        judge(base, home)
        causes(base, home)
        drift_and_modes(base, home)
        bad_input(base, home)
        many(base, home)
        every_device(home)
        suites(home)
    finish()


def suites(home):
    """`node` fits a prolog and `fleet` has a part for everything that breaks, on any device; what a device lacks is said."""
    for device in ("sim:mi300x", "sim:h100", "sim:rx6800xt", "cpu"):
        for suite, least, most_s in (("node", 4, 15), ("fleet", 11, 180)):
            ended = run("plan", suite, "--device", device, "--json", "-", "-q", home=home)
            planned = json.loads(ended.stdout)
            ready = [case for case in planned["cases"] if case["state"] == "ready"]
            check(ended.returncode == 0 and len(ready) >= least, f"{suite} on {device}: {len(ready)} cases {ended.stderr}")
            check(planned["estimate_ns"] < most_s * 1e9, f"{suite} on {device} takes {planned['estimate_ns'] / 1e9:.0f} s")
            check(all(case["reason"] for case in planned["cases"] if case["state"] != "ready"), f"{suite} on {device}: why not")
            largest = max(case["buffer_bytes"] for case in ready)
            if suite == "fleet" and device != "cpu":
                memory = json.loads((ROOT / f"configs/machines/{device[4:]}.json").read_text())["facts"]["memory_bytes"]["value"]
                check(memory / 4 < largest <= memory / 2, f"{device}: a pattern over {largest} bytes of {memory}")
            has = any(case["id"].startswith("matrix_peak") for case in planned["cases"])
            check(has == (device in ("sim:mi300x", "sim:h100")), f"{suite} on {device}: matrix cores {has}")
    ended = run("run", "node", "--device", "cpu", "--budget", "20s", "--quick", "--format", "nagios", home=home)
    check(ended.returncode == 0 and ended.stdout.startswith("ROOFTILE OK - ") and ended.stdout.count("\n") == 1, f"{ended.stdout} {ended.stderr}")


def every_device(home):
    """A launcher starts one process for each node; each measures all of its GPUs, one result for each."""
    hip = {"ROOFTILE_HIP_LIBRARY": str(DOUBLES / "libfake_hip.so"), "ROOFTILE_SYSFS": str(home / "sys"), "FAKE_HIP_DEVICES": "2"} | CLANG
    kernel = ("run", "launch_empty", "--quick", "--device", "all", "--out-dir", "out", "--budget", "60s", "-q")
    if run("build", "launch_empty", "--arch", "gfx942", home=home, **CLANG).returncode:
        return print("SKIPPED: no compiler for AMD GPUs: all devices of a node")
    for rank in (0, 1):
        ended = run(*kernel, home=home, **hip, SLURM_PROCID=str(rank), SLURM_NTASKS="3", SLURM_LOCALID="0", SLURM_JOB_ID="7", SLURMD_NODENAME=f"n{rank}")
        check(ended.returncode == 0, f"rank {rank}: {ended.stderr}")
    names = sorted(path.name for path in (home / "out").iterdir())
    check(names == ["n0.hip-0.json", "n0.hip-1.json", "n1.hip-0.json", "n1.hip-1.json"], f"a result for each: {names}")
    job = json.loads((home / "out/n1.hip-0.json").read_text())["run"]["job"]
    check(job == {"engine": "slurm", "id": "7", "rank": 1, "world": 3, "node": "n1", "local_rank": 0, "devices": 2, "started_together_ns": None}, f"{job}")
    code, document = as_json(home / "out", home=home)
    check(document["missing"] == ["rank 2 of 3"] and document["summary"]["devices"] == 4, f"the third rank is missing: {document['missing']}")
    (home / "out/n1.hip-1.json").unlink()
    check("1 of 2 devices of n1" in as_json(home / "out", home=home)[1]["missing"], "and a device of a node")

    # All at once, behind one another, or both; one that hangs costs itself alone.
    at_once = ("run", "launch_empty", "--quick", "--device", "all", "-q", "--budget", "20s", "--out-dir")
    ended = run(*at_once, "both", "--together", "both", home=home, **hip, SLURMD_NODENAME="n0")
    check(ended.returncode == 0 and "with all others at once" in ended.stdout, f"both: {ended.stdout} {ended.stderr}")
    began = {path.name: json.loads(path.read_text())["run"]["job"]["started_together_ns"] for path in (home / "both").iterdir()}
    check(sorted(began) == ["n0.hip-0.json", "n0.hip-0.together.json", "n0.hip-1.json", "n0.hip-1.together.json"], f"alone and together: {began}")
    check(began["n0.hip-0.json"] is None and began["n0.hip-0.together.json"] == began["n0.hip-1.together.json"] > 0, f"one start: {began}")
    started = time.monotonic()
    ended = run(*at_once, "hang", "--together", "node", "--budget", "12s", home=home, **(hip | {"FAKE_HIP_DEVICES": "3"}), FAKE_HIP_ON="1",
                FAKE_HIP_FAIL="hipModuleLaunchKernel:20:hang", SLURMD_NODENAME="n0")
    check(time.monotonic() - started < 60, "the budget holds")
    hung = {path.name: json.loads(path.read_text())["cases"][0]["status"] for path in (home / "hang").iterdir()}
    check(hung == {"n0.hip-0.together.json": "ok", "n0.hip-1.together.json": "skipped", "n0.hip-2.together.json": "ok"}, f"{hung} {ended.stderr}")
    warned = json.loads((home / "hang/n0.hip-0.together.json").read_text())["environment"]["warnings"]
    check(any("W020: 1 time this device began without" in line for line in warned) and ended.returncode == 3, f"and that is said: {ended.returncode} {warned}")

    for extra, code, words in (({"RANK": "2", "WORLD_SIZE": "3", "SLURM_PROCID": "1", "SLURM_NTASKS": "3"}, 2, "contradict each other"),
                               ({"FAKE_HIP_DEVICES": "0", "ROOFTILE_CUDA_LIBRARY": "/nonexistent.so"}, 3, "--device all: there is none here")):
        ended = run(*kernel, home=home, **(hip | extra))
        check(ended.returncode == code and words in ended.stderr, f"{extra}: {ended.returncode} {ended.stderr}")
    local = ("run", "launch_empty", "--quick", "--device", "local", "--out-dir", "local", "-q")
    ended = run(*local, home=home, **hip, OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_LOCAL_RANK="1")
    names = [path.name for path in (home / "local").iterdir()]
    check(ended.returncode == 0 and len(names) == 1 and names[0].endswith(".1.hip-1.json"), f"the rank's own: {names} {ended.stderr}")
    ended = run(*local, home=home, **hip, OMPI_COMM_WORLD_RANK="2", OMPI_COMM_WORLD_SIZE="3", OMPI_COMM_WORLD_LOCAL_RANK="2")
    check(ended.returncode == 2 and "has 2 GPUs" in ended.stderr, f"a rank without a GPU: {ended.stderr}")
    ended = run("run", "launch_empty", "--quick", "--device", "cpu", "--out-dir", "pods", "-q", home=home, JOB_COMPLETION_INDEX="4", NODE_NAME="pod-4")
    check(ended.returncode == 0 and json.loads((home / "pods/pod-4.cpu.json").read_text())["run"]["job"]["engine"] == "kubernetes", ended.stderr)


def judge(base, home):
    healthy = Fleet(base, home / "healthy")
    for node in range(1, 5):
        for device in range(2):
            healthy.add(f"n{node}", device, devices=2, hz=2.1e9)
    code, document = as_json(healthy.folder, "--expect", "n[1-4]", home=home)
    check(code == 0 and document["summary"]["alike"] == 8, f"eight that are alike: {code} {document['summary']}")
    check(not document["outliers"] and not document["drift"] and document["good_nodes"] == ["n1", "n2", "n3", "n4"], "nothing is found")
    (home / "baseline.json").write_text(json.dumps(document))
    if SCHEMA:
        jsonschema.validate(document, SCHEMA)

    sick = Fleet(base, home / "sick", seed=2)
    for node in range(1, 5):
        for device in range(2):
            if (node, device) != (4, 1):
                slow = node == 3 and device == 1
                sick.add(f"n{node}", device, devices=2, slow={"stream_copy": 1.06} if slow else 1, hz=1.9e9 if slow else 2.1e9)
    args = ("--expect", "n[1-5]")
    code, document = as_json(sick.folder, *args, home=home)
    slow = document["outliers"]
    if SCHEMA:
        jsonschema.validate(document, SCHEMA)
    check(code == 1 and [entry["device"] for entry in slow] == ["n3 hip:1"], f"one is slow: {slow}")
    page = fleet(sick.folder, "--format", "html", home=home).stdout
    check('data-picture="strip-1"' in page and '<text class="label" x' in page and ">n3 hip:1</text>" in page, "a page: the slow one has its name in the strip")
    check(re.search(r'<th scope="row">n3 hip:1</th><td><span class="bad">slow</span>.*?1 of 2 devices of n4</th><td><span class="bad">missing</span>', page, re.S), "a page: devices first")
    check("2 of 8 devices not healthy: n3 hip:1 stream_copy" in page and 'class="verdict bad"' in page, "a page: what they have stands above it")
    check(re.search(r'<tr class="heading"><th scope="rowgroup" colspan="\d+">AMD Instinct MI300X', page) and re.search(r'<td class=n>\d+\.\d<td class=n>\d+<td>clock', page), "a page: cases stand below their group, z has one digit")
    check(0.04 < slow[0]["slower_by"] < 0.08 and "stream_copy" in slow[0]["metric"], "by how much, and in what")
    check(slow[0]["cause"] == "clock" and "1.90 GHz" in slow[0]["why"], f"its clock is low: {slow[0]}")
    check(document["missing"] == ["n5", "1 of 2 devices of n4"], f"who is missing: {document['missing']}")
    listed = fleet(sick.folder, *args, "--list", "bad", home=home)
    check(listed.stdout.split() == ["n3", "n4", "n5"] and listed.returncode == 1, f"to exclude: {listed.stdout}")
    check(fleet(sick.folder, *args, "--list", "good", home=home).stdout.split() == ["n1", "n2"], "to use")
    check(fleet(sick.folder, "--confirm", home=home).stdout == "n3 hip:1\n", "to measure again")
    line = fleet(sick.folder, *args, "--format", "nagios", home=home)
    check(line.returncode == 2 and line.stdout.startswith("ROOFTILE CRITICAL - ") and line.stdout.count("\n") == 1 and " | slow=1;;0 " in line.stdout,
          f"a plugin's line: {line.stdout}")
    families = metric_families(fleet(sick.folder, "--format", "openmetrics", home=home).stdout)
    check_dashboard("rooftile_fleet", families)
    done = run("report", sick.folder, "-o", "site", home=home)
    index = (home / "site/index.html").read_text() if done.returncode == 0 else done.stderr
    check("OUTLIERS" in index and f'<a href="fleet-{pathlib.Path(sick.folder).name}.html"' in index, f"a site of a fleet: {index[-600:]}")
    bad = [labels["device"] for labels, value in families["rooftile_fleet_device_bad"] if value]
    check(bad == ["n3 hip:1"], f"metrics: {bad}")
    table = fleet(sick.folder, *args, home=home).stdout
    check(re.search(r"^n3 hip:1 +slow .* stream_copy \d", table, re.M) and "slow device" not in table and "n5 missing" in table
          and max(map(len, table.splitlines())) <= 100 and "\n7 devices: 1 slow" in table, f"a terminal: a line for each, the verdict last: {table}")
    check("slow device" in fleet(sick.folder, *args, "-v", home=home).stdout, "with --verbose the cases behind it")
    failures = [line for line in fleet(sick.folder, "--format", "junit", home=home).stdout.splitlines() if "<failure" in line]
    check(len(failures) == 2 and all(("slower by" in line) == ('type="slow"' in line) for line in failures), f"JUnit: {failures}")
    check("n3 hip:1" in fleet(sick.folder, "--format", "markdown", home=home).stdout, "Markdown names it")

    slower = Fleet(base, home / "slower", seed=3)
    for device in range(8):
        slower.add("n1", device, devices=8, slow=1.2 if device == 5 else 1, hz=2.1e9)
    page = fleet(slower.folder, "--format", "html", home=home).stdout
    cases = len(as_json(slower.folder, home=home)[1]["outliers"])
    check(cases > 1 and f'<th scope="row" rowspan="{cases}"><span class="bad">n1 hip:5</span>' in page, f"a page: a device once, its {cases} cases beside it")

    # A second run decides: it is slow only where both are.
    sick.add("n3", 1, devices=2, hz=2.1e9)
    code, document = as_json(sick.folder, home=home)
    check(not document["outliers"], f"slow in one of two runs: {document['outliers']}")
    sick.add("n2", 0, devices=2, slow=1.06), sick.add("n2", 0, devices=2, slow=1.07)
    code, document = as_json(sick.folder, home=home)
    check({(entry["device"]) for entry in document["outliers"]} <= {"n2 hip:0"}, "two of three runs are not all")

    # Few devices tell nothing by themselves, but much against what others reached.
    few = Fleet(base, home / "few", seed=3)
    few.add("n7", 0, hz=2.1e9), few.add("n7", 1, slow=1.08, hz=2.1e9)
    check(as_json(few.folder, home=home)[0] == 4, "two are too few")
    check("cannot be judged" in fleet(few.folder, home=home).stdout, "and that is said")
    code, document = as_json(few.folder, "--baseline", home / "baseline.json", home=home)
    check(code == 1 and {entry["device"] for entry in document["outliers"]} == {"n7 hip:1"}, f"against a baseline: {document['outliers']}")
    ok = fleet(healthy.folder, "--format", "nagios", "--baseline", home / "baseline.json", home=home)
    check(ok.returncode == 0 and ok.stdout.startswith("ROOFTILE OK - 8 devices"), ok.stdout)

    # What one device alone shows between its runs hides no other.
    noisy = Fleet(base, home / "noisy", seed=5)
    for device in range(8):
        noisy.add("n1", device, slow=1.06 if device == 5 else 1)
    noisy.add("n1", 2, slow=1.08)
    _, document = as_json(noisy.folder, home=home)
    check({entry["device"] for entry in document["outliers"]} == {"n1 hip:5"}, f"beside a noisy one: {document['outliers']}")

    # Another size under the same label is another case, also in a baseline.
    def other_size(result):
        for case in result["cases"]:
            case["id"] = case["id"].replace("n=67108864", "n=33554432")

    for device in range(8):
        noisy.add("n2", device, slow=2, change=other_size)
    _, document = as_json(noisy.folder, "--baseline", home / "baseline.json", home=home)
    names = [metric["name"] for metric in document["metrics"]]
    check(len(set(names)) == 4 and "stream_copy n=33554432" in names, f"labels: {names}")
    against = {metric["name"]: metric["against_baseline"] for metric in document["metrics"]}
    check(against["stream_copy n=33554432"] is None and abs(against["stream_copy n=67108864"]) < 0.01, f"{against}")

    # What all at once cost each.
    both = Fleet(base, home / "together", seed=9)
    for device in range(8):
        both.add("n1", device, devices=8)
        both.add("n1", device, devices=8, slow={"stream_copy": 1.25 if device == 5 else 1.2}, together=1e9)
    code, document = as_json(both.folder, home=home)
    beside = {metric["name"].split()[0]: metric["against_alone"] for metric in document["metrics"] if metric["name"].endswith(" together")}
    check(0.18 < beside["stream_copy"] < 0.22 and abs(beside["stream_triad"]) < 0.01, f"slower than alone: {beside}")
    check([entry["metric"].endswith(" together") for entry in document["outliers"]] == [True], f"{document['outliers']}")
    told = " ".join(fleet(both.folder, home=home).stdout.split())
    check("slower than alone while all devices of a node run, n1 hip:5 the most" in told, told)
    if SCHEMA:
        jsonschema.validate(document, SCHEMA)

    # A group that is slow as a whole.
    shared = Fleet(base, home / "shared", seed=4)
    for device in range(8):
        shared.add("n1", device, slow=1.07)
    check(as_json(shared.folder, home=home)[0] == 0, "alike among themselves")
    code, document = as_json(shared.folder, "--baseline", home / "baseline.json", home=home)
    check(code == 1 and not document["outliers"] and all(metric["low"] for metric in document["metrics"]), "the group, not its devices")


def causes(base, home):
    """Why it is slow, by the telemetry that stands beside its times: one case is slow on one device."""
    def sensed(hz=2.1e9, ceiling=None, kind=None, case_id=None, **after):
        def change(result):
            case = result["cases"][0]
            case["measurement"]["core_hz"] = hz
            case["telemetry"]["before"].update(violation_power=0, violation_thermal=0)
            case["telemetry"]["after"].update({"temp_c": 60, "power_w": 600, "memory_hz": 1.3e9} | after)
            case["id"], case["label"] = case_id or case["id"], case_id or case["label"]
            case["class"] = kind or case["class"]
            if ceiling:
                case["roofline"].update(ceiling_name=ceiling, bound=ceiling)
        return change

    low = 1.7e9
    for cause, why, usual, ill in (
            ("clock", "1.70 GHz where others hold 2.10 GHz", {}, {"hz": low}), ("heat", "at 75 C", {}, {"hz": low, "temp_c": 75}),
            ("heat", "at 60 C", {}, {"hz": low, "violation_thermal": 50}), ("power", "throttled by power at 750 W", {}, {"hz": low, "violation_power": 50, "power_w": 750}),
            ("memory", "memory at 900 MHz", {}, {"memory_hz": 9e8}), ("memory", "its clock is that of the others", {}, {}),
            ("link", "", {"case_id": "copy_peer/from=0;to=1", "ceiling": "peer_link"}, {}), ("host", "", {"case_id": "copy_to_host/size=1", "ceiling": "host_link"}, {}),
            ("host", "", {"case_id": "launch_x", "kind": "launch"}, {"hz": low}), ("unknown", "", {"kind": "compute"}, {})):
        folder = home / f"cause-{cause}-{len(list(home.glob('cause-*')))}"
        made = Fleet(base, folder, seed=11)
        for device in range(8):
            made.add("n1", device, slow={"stream_copy": 1.1} if device == 5 else 1, change=sensed(**usual, **(ill if device == 5 else {})))
        found = [(entry["device"], entry["cause"]) for entry in as_json(folder, home=home)[1]["outliers"]]
        told = as_json(folder, home=home)[1]["outliers"][0]["why"] or "" if found else ""
        check(found == [("n1 hip:5", cause)] and why in told, f"{cause} by {ill}: {found} {told}")


def drift_and_modes(base, home):
    def older(result):
        result["environment"]["device"]["driver"] = "6.2"

    def governed(result):
        result["environment"]["host"]["governor"] = "powersave"

    def wired(result, down=False):
        card = {"state": "active", "max_bytes_per_s": 5e10, "max_width": 16}  # lanes in use are not known: not none
        result["environment"]["device"]["nics"] = [{"name": f"mlx5_{k}"} | ({"state": "down"} if down and k == 5 else card) for k in range(8)]

    changes = {3: lambda result: (wired(result), older(result)), 7: lambda result: (wired(result), governed(result)), 9: lambda result: wired(result, down=True)}
    drift = Fleet(base, home / "drift", seed=5)
    for device in range(12):
        drift.add(f"n{device}", 0, change=changes.get(device, wired), slow=1.2 if device == 3 else 1)
    code, document = as_json(drift.folder, home=home)
    found = {(entry["key"], entry["value"], entry["devices"]) for entry in document["drift"]}
    check(("driver", "6.2", "n3 hip:0") in found and ("governor", "powersave", "n7 hip:0") in found, f"drift: {found}")
    check(("network cards", "7 active at 400 Gb/s, 1 down", "n9 hip:0") in found, f"a card that is down is drift: {found}")
    check(code == 4 and not document["outliers"] and document["summary"]["not_judged"] == 1, "another driver is drift, not slow; one is not judged")
    page = fleet(drift.folder, "--format", "html", home=home).stdout
    check(set(re.findall(r'rowgroup" colspan="\d+">([^<]*)<', page)) == {f"AMD Instinct MI300X, driver {version}" for version in ("6.2", "6.4")}, "groups are called by what tells them apart")
    modes = Fleet(base, home / "modes", seed=6)
    for device in range(64):
        modes.add(f"n{device // 8}", device % 8, slow=1.14 if device // 8 in (2, 5) else 1)
    code, document = as_json(modes.folder, home=home)
    check(code == 1 and not document["outliers"] and {metric["modes"] for metric in document["metrics"]} == {2}, "two groups are no 16 outliers")
    check("two groups: 48 devices at" in fleet(modes.folder, home=home).stdout and "on n2, n5" in fleet(modes.folder, home=home).stdout, "where they are")

    far = Fleet(base, home / "far", seed=12)
    for device in range(8):
        far.add(f"n{device}", 0, slow=10 if device % 2 else 1)
    code, document = as_json(far.folder, home=home)
    check(code == 1 and document["summary"]["alike"] == 4, f"ten times as slow needs no majority: {code} {document['summary']}")
    check(fleet(far.folder, "--list", "bad", home=home).stdout.split() == ["n1", "n3", "n5", "n7"], "the slower ones are bad")

    # What --budget left out is no fault of the device; a run that was killed is, and so is one that measured nothing.
    def cut(late, kept=1):
        def change(result):
            result["run"]["status"] = "interrupted"
            for case in result["cases"][kept:]:
                case.update(status="skipped", status_reason="the time budget of 20s ran out before this was run" if late else "interrupted")
        return change

    budget = Fleet(base, home / "budget", seed=13)
    for device in range(8):
        budget.add(f"n{device}", 0, change={2: cut(True), 5: cut(False), 6: cut(True, 0)}.get(device))
    check(fleet(budget.folder, "--list", "bad", home=home).stdout.split() == ["n5", "n6"], "a budget's end is not broken")


def bad_input(base, home):
    two = Fleet(base, home / "two", seed=8)
    for node in range(8):
        two.add(f"n{node}", 0, rank=min(node, 6), world=8)
    check(as_json(two.folder, home=home)[1]["missing"] == ["rank 7 of 8 (rank 6 is on n6 and on n7: are these files of several runs?)"],
          "two results of one rank")
    two.add("n8", 0, slow=1.08)
    junit = fleet(two.folder, "--format", "junit", home=home).stdout
    check("device n8 hip:0, verdict slow, slower by +8" in junit and "slower (cause unknown)" in junit, f"JUnit says why: {junit}")
    mixed = Fleet(base, home / "mixed", seed=7)
    first = None
    for device in range(8):
        path = mixed.add("n1", device)
        first = first or path
    (mixed.folder / "half.json").write_text(first.read_text()[:4000])
    (mixed.folder / "other.json").write_text("{}")
    (mixed.folder / "again.json").write_text(first.read_text())
    code, document = as_json(mixed.folder, home=home)
    check(code == 1 and document["summary"]["unread"] == 2 and document["summary"]["duplicates"] == 1, f"{document['summary']}")
    check(document["summary"]["alike"] == 8, "what could be read is judged")

    def wrong(result):
        result["cases"][0].update(status="failed", status_reason="c[3] is 1, expected 2")
        result["cases"][0]["verification"].update(status="fail", wrong=1)

    mixed.add("n2", 0, change=wrong)
    broken = fleet(mixed.folder, "--list", "bad", home=home)
    check(broken.stdout == "n2\n" and broken.returncode == 1, f"a wrong result: {broken.stdout}")
    (home / "empty").mkdir()
    for args, code, words in ((["empty"], 3, "no result was read"), (["nowhere"], 2, "no file or folder nowhere"),
                              ([mixed.folder, "--expect", "n[1-"], 2, "[ without its ]"),
                              ([mixed.folder, "--expect", "n1-2].[1-4]"], 2, "] without its ["),
                              ([mixed.folder, "--expect", "n[5-2]"], 2, "ends before it begins"),
                              ([mixed.folder, "--baseline", first], 2, "is no fleet's document"), ([mixed.folder, "--format", "bmf"], 2, "no format 'bmf'"),
                              ([mixed.folder, "--expect", "n[1-999999999]"], 2, "more than")):
        ended = run("fleet", *args, home=home)
        check(ended.returncode == code and words in ended.stderr, f"{args}: {ended.returncode} {ended.stderr}")
    ended = run("fleet", "empty", "--format", "nagios", home=home)
    check(ended.returncode == 3 and ended.stdout.startswith("ROOFTILE UNKNOWN - nothing was measured"), ended.stdout)


def many(base, home):
    """Time and memory grow with the number of results: a tenth of what is promised for ten thousand, under far more than a tenth of it."""
    fleet_of = Fleet(base, home / "many", seed=8)
    for device in range(1000):
        fleet_of.add(f"n{device // 8:04}", device % 8, slow=1.05 if device == 501 else 1, spread=0.005)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, document = as_json(fleet_of.folder, home=home)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"1000 results: {spent:.2f} s of CPU, at most {after.ru_maxrss >> 10} MB")
    check({entry["device"] for entry in document["outliers"]} == {"n0062 hip:5"}, f"the one: {document['outliers']}")
    check(code == 1, "exit code")


main()
