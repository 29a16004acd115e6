#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What explain says of a fault that is put into a kernel of each family, one at a time (defects/): it names the fault first, and
what it says the fault costs is what the prediction falls by in the kernel without it. test_explain.py ROOFTILE"""
import json
import pathlib
import subprocess
import sys

MANIFEST = pathlib.Path(__file__).resolve().parent / "defects" / "defects.json"
FAMILIES = "stream,norm,gemm,attention,conv"
FAULTS = {"conflicts": "bank conflicts", "uncoalesced": "uncoalesced accesses", "spills": "spills", "narrow": "narrow accesses", "atomics": "atomics"}
LEAST = 0.05  # of the time: what costs less is no fault of this kernel (a stream has no LDS)
WITHIN = 0.3
PARTS = "fault", "groups", "launches", "lds_kib", "block"
# What differs between a faulty kernel and its twin: machine, what both are, one parameter with and without the fault.
RUNS = [("mi300x", {"rounds": 60, "fault": "none,conflicts,uncoalesced,narrow"}, "fault", None, None),
        ("mi300x", {"rounds": 24, "fault": "none,unspilled,spills,atomics"}, "fault", None, None),
        ("mi300x", {"rounds": 96, "groups": 2432, "lds_kib": "4,16", "family": "norm,conv"}, "lds_kib", "16", "occupancy"),
        ("mi300x", {"rounds": 32, "groups": "304,305", "block": 1024, "family": "gemm,attention,conv"}, "groups", "305", "tail"),
        ("mi300x", {"rounds": 32, "launches": "1,32", "family": "stream,gemm"}, "launches", "32", "launch"),
        ("rx7900xtx", {"rounds": 64, "groups": 96, "block": 64, "fault": "none,chain", "family": "gemm,attention,conv"}, "fault", "chain", "dependent chain")]


def explained(rooftile, machine, sets):
    command = [rooftile, "explain", MANIFEST, "--machine", machine, "--json", "-"]
    for name, value in ({"family": FAMILIES} | sets).items():
        command += ["--set", f"{name}={value}"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    cases = []
    for case in json.loads(run.stdout)["cases"]:
        params = dict(part.split("=") for part in case["standing"]["id"].split("/")[1].split(";") if "=" in part)
        notes = [note for note in case["notes"] if not note.startswith('"work" of its manifest')]  # faults do more than the kernel's work
        assert not notes, notes
        cases.append((params, case["standing"]["predicted_ns"], case["causes"]))
    return cases


def pairs(rooftile):
    """Of each fault its family, its time, its causes, and the time of its twin."""
    for machine, sets, param, faulty, name in RUNS:
        cases = explained(rooftile, machine, sets)
        for params, time_ns, causes in cases:
            cause = name or FAULTS.get(params["fault"])
            if not cause or (faulty and params[param] != faulty):
                continue
            sound = {"spills": "unspilled"}.get(params["fault"], "none") if param == "fault" else sets[param].split(",")[0]
            [twin_ns] = [other_ns for other, other_ns, _ in cases if other == params | {param: sound}]
            yield f"{params['family']} on {machine}", cause, time_ns, causes, twin_ns


def main(rooftile):
    named = right = count = 0
    seen = set()
    for what, cause, time_ns, causes, twin_ns in pairs(rooftile):
        saved = 1 - twin_ns / time_ns
        if saved < LEAST:
            continue
        count += 1
        seen.add((what, cause))
        first = causes[0]["cause"] if causes else "nothing"
        said = next((item["share"] for item in causes if item["cause"] == cause), 0)
        named += first == cause
        right += abs(said / saved - 1) <= WITHIN
        print(f"{what}: {cause} takes {saved:.0%}, is said to take {said:.0%}" + ("" if first == cause else f"; but {first} is named first"))
    assert len({cause for _, cause in seen}) == 9 and count >= 25, f"only {sorted(seen)}"
    print(f"{named} of {count} named first, {right} of {count} within {WITHIN:.0%}")
    assert named >= 0.9 * count and right >= 0.9 * count


if __name__ == "__main__":
    main(sys.argv[1])
