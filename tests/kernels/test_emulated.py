# SPDX-License-Identifier: MIT
"""What scripts/emulate --record found holds for the code objects made here: those whose hash is in tests/data/emulated are the ones
that were executed instruction by instruction and verified. A kernel whose code is another one now is named as skipped: its verdict is not known. Nothing is
compiled that kernels.compile_amd has not compiled, and nothing is executed."""
import csv
import re
import shutil
import subprocess
import sys

import objects
from objects import harness

ROOT = objects.FOLDER.parent.parent
sys.path.insert(0, str(ROOT / "scripts/emulator"))
from launch import code_sha256, unbundle  # noqa: E402

LEAST = 100  # code objects
COMPILER = "# compiler: "


def read_record(path):
    """(the compiler, rows)"""
    lines = path.read_text(encoding="ascii").splitlines()
    compiler = next(line[len(COMPILER):] for line in lines if line.startswith(COMPILER))
    return compiler, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def total(per_wave):
    """(waves, instructions) of "86 15*71"."""
    pairs = [(int(count or 1), int(each)) for count, each in re.findall(r"(?:(\d+)\*)?(\d+)", per_wave)]
    return sum(count for count, _ in pairs), sum(count * each for count, each in pairs)


def check_rows(path, rows):
    """Every kernel is verified or says why not, and the counts fit each other."""
    kernels = {name for row in rows for name in row["kernels"].split()} - {"-"}
    harness.check(len(kernels) > 150, f"{path.name}: only {len(kernels)} kernels")
    for row in rows:
        harness.check(row["verdict"] in ("verified", "-") or row["verdict"].startswith("skipped: "), f"{path.name}: {row['kernels']}: {row['verdict']}")
        if row["code_sha256"]:
            grid, block = ([int(word) for word in row[key].split("x")] for key in ("grid", "block"))
            size = 64 if path.name.startswith("gfx9") else 32
            waves = grid[0] * grid[1] * grid[2] * -(-block[0] * block[1] * block[2] // size)
            harness.check(int(row["waves"]) == waves and int(row["instructions"]) >= waves, f"{path.name}: {row}")
            harness.check(not row["per_wave"] or total(row["per_wave"]) == (waves, int(row["instructions"])), f"{path.name}: {row}")


def compare(target, rows, cases, kernels, compiler, home):
    """How many code objects of these cases were emulated. Those that are not, compiled as their kernel is verified, are named; other
    types and parameters are only counted."""
    made, _ = objects.build(home, (target, 64 if target.startswith("gfx9") else 32, 0), cases, compiler)
    digests, verified_at = {row["code_sha256"] for row in rows}, {kernel.name: dict(kernel.check) for kernel in kernels}
    known = {path: code_sha256(unbundle(path.read_bytes())) in digests for path in made if path.suffix == ".hsaco"}
    for name in sorted(name for name, params in cases if params == verified_at[name]):
        its = [path for path, case in made.items() if case.startswith(f"{name}/") and path in known]
        if its and not any(known[path] for path in its):
            print(f"skipped: not emulated as it is now: {target} {name}")
    print(f"{target}: {sum(known.values())} of {len(known)} code objects were emulated")
    return sum(known.values())


def main():
    compiler = objects.clang()
    if not compiler or not shutil.which(compiler):
        print("skipped: there is no clang++")
        return 77
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    matched, told = 0, set()
    with harness.scratch() as home:
        kernels = objects.read_kernels(home)
        asked = objects.sample(kernels, [row for row in objects.targets_of(compiler, home) if row["target"].startswith("gfx")]).asked
        for path in sorted((ROOT / "tests/data/emulated").glob("*.csv")):
            by, rows = read_record(path)
            told.add(by)
            check_rows(path, rows)
            wave = 64 if path.stem.startswith("gfx9") else 32
            matched += compare(path.stem, rows, asked.get((path.stem, wave, 0), []), kernels, compiler, home)
    print(f"{matched} code objects are those that were emulated (made with {', '.join(sorted(told))}; here: {version})")
    if matched < LEAST and version not in told:
        print(f"skipped: another compiler makes other code; fewer than {LEAST} code objects have a verdict")
        return harness.finish() or 77
    harness.check(matched >= LEAST, f"fewer than {LEAST} code objects have a verdict: scripts/emulate --record executes them as they are now")
    return harness.finish()


if __name__ == "__main__":
    sys.exit(main())
