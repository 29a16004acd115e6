#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what one run of `rooftile check --run` on the emulator found: tests/data/emulated/ARCH.csv.
record.py RESULT.json LOG OUT.csv COMPILER; called by scripts/emulate --record, whose rows of other kernels stay."""
import csv
import itertools
import json
import pathlib
import sys

HEADER = """\
# Kernels executed on an emulated GPU at their check sizes (scripts/emulate --record). A row is a launch of one of a kernel's code
# objects; launches that are alike are one row. A kernel that could not run has one row without a launch, whose verdict is the reason.
#   code_sha256   of the sections of the code object that a GPU is given (.text, descriptors, metadata), without the compiler's name
#   kernels       whose case has this code object, separated by spaces; - it is a further step of one, or serves every run
#   verdict       of these kernels
#   grid, block   workgroups, and work-items of each; lds_bytes: of a workgroup, static and dynamic
#   waves         in the launch; instructions: executed by all of them together
#   per_wave      executed by each wave, in the order of workgroups (x first) and of waves in them: 15*71 are 15 waves with 71 each;
#                 empty where that is longer than 200 characters
# An instruction counts when a wave issues it, whatever EXEC says: s_endpgm, s_nop, waits and branches count, too; VOPD counts once.
# Clocks that a kernel reads advance by 16 with each reading.
"""
COMPILER = "# compiler: "
COLUMNS = ["code_sha256", "kernels", "verdict", "symbol", "grid", "block", "lds_bytes", "waves", "instructions", "per_wave"]
MOST_CHARACTERS = 200


def run_lengths(counts):
    words = []
    for count, alike in itertools.groupby(counts):
        length = len(list(alike))
        words.append(f"{length}*{count}" if length > 1 else str(count))
    text = " ".join(words)
    return text if len(text) <= MOST_CHARACTERS else ""


def read_rows(path):
    if not path.exists():
        return []
    with path.open(encoding="ascii") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def verdict_of(case):
    if case["status"] == "ok":
        return "verified" if (case["verification"] or {}).get("status") == "pass" else "not verified"
    return f"{case['status']}: {case['status_reason']}"


def rows_of(result, launches):
    cases = {}
    for case in result["cases"]:
        cases.setdefault((case["code"] or {}).get("object_sha256"), []).append(case)
    seen = set()
    for launch in launches:
        its = cases.get(launch["sha256"], [])
        row = {"code_sha256": launch["code_sha256"], "kernels": " ".join(sorted({case["kernel"] for case in its})) or "-",
               "verdict": "; ".join(sorted({verdict_of(case) for case in its})) or "-", "symbol": launch["symbol"],
               "grid": "x".join(map(str, launch["grid"])), "block": "x".join(map(str, launch["block"])), "lds_bytes": launch["lds_bytes"],
               "waves": len(launch["instructions"]), "instructions": sum(launch["instructions"]), "per_wave": run_lengths(launch["instructions"])}
        if tuple(row.values()) not in seen:
            seen.add(tuple(row.values()))
            yield row
    launched = {launch["sha256"] for launch in launches}
    for digest, its in cases.items():
        for case in its if digest not in launched else []:
            yield dict.fromkeys(COLUMNS, "") | {"kernels": case["kernel"], "verdict": verdict_of(case)}


def main(result_path, log_path, out_path, compiler):
    if not pathlib.Path(result_path).exists():
        sys.exit("the check wrote no result: nothing is recorded")
    result = json.loads(pathlib.Path(result_path).read_text(encoding="utf-8"))
    log = pathlib.Path(log_path)
    launches = [json.loads(line) for line in log.read_text(encoding="ascii").splitlines()] if log.exists() else []
    rows, out = list(rows_of(result, launches)), pathlib.Path(out_path)
    ran = {case["kernel"] for case in result["cases"]}
    digests = {row["code_sha256"] for row in rows}
    rows += [row for row in read_rows(out) if not set(row["kernels"].split()) & ran and row["code_sha256"] not in digests - {""}]
    rows.sort(key=lambda row: tuple(str(row[column]) for column in ["kernels", "symbol", "code_sha256", "grid", "block", "per_wave"]))
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="ascii", newline="") as file:
        file.write(f"{HEADER}{COMPILER}{compiler}\n")
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{out}: {len(rows)} rows")


if __name__ == "__main__":
    main(*sys.argv[1:])
