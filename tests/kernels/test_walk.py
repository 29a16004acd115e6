#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions that the walk executes against those of an emulator (tests/data/emulated), for code objects that are the same.
test_walk.py ROOFTILE; the program that walks lies beside it in the build."""
import csv
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "emulator"))
from launch import code_sha256, unbundle  # noqa: E402

# A few kernels of each kind: compiling all of them for every target is what other tests do.
KERNELS = ["stream_copy", "reduction", "gemm_matrix", "softmax_row", "gather", "attention_decode"]


def rows_of(path):
    with path.open(encoding="ascii") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def walked(program, arch):
    run = subprocess.run([program, arch, *KERNELS], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for line in dict.fromkeys(run.stdout.splitlines()):
        fields = line.split(",")
        if len(fields) >= 9:
            yield dict(zip(["object", "kernel", "symbol", "grid", "block", "waves", "instructions", "per_wave", "unknown"], fields))


def main(rooftile):
    program = pathlib.Path(rooftile).parent.parent / "tests" / "kernels" / "walk_counts"
    compared = unknown = 0
    for path in sorted((ROOT / "tests" / "data" / "emulated").glob("*.csv")):
        recorded = {}
        for row in rows_of(path):
            recorded.setdefault((row["code_sha256"], row["symbol"], row["grid"], row["block"]), []).append(row)
        for row in walked(program, path.stem):
            # The same code, launched alike: any of its launches must have executed as much.
            rows = recorded.get((code_sha256(unbundle(pathlib.Path(row["object"]).read_bytes())), row["symbol"], row["grid"], row["block"]), [])
            if row["unknown"]:
                unknown += 1
            elif rows:
                compared += 1
                assert any(row["instructions"] == other["instructions"] and other["per_wave"] in ("", row["per_wave"]) for other in rows), (
                    path.stem, row, [other["instructions"] for other in rows])
    print(f"{compared} launches execute what was recorded, {unknown} depend on data that is not known")
    # Another compiler makes other code: nothing to compare with is no fault.
    if not compared:
        sys.exit(77)


if __name__ == "__main__":
    os.environ.setdefault("ROOFTILE_CACHE", os.environ.get("ROOFTILE_TEST_CACHE", ""))
    main(sys.argv[1])
