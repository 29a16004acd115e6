# SPDX-License-Identifier: MIT
"""scripts/nightly from end to end on the CPU: runs that are good, wrong, interrupted, refused, and out of disk. No verdict here
rests on a time: no history gets old enough to be judged."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import xml.etree.ElementTree as ElementTree

from harness import PATIENCE_S, PROGRAM, ROOT, check, check_run, environment, main, skip

SOURCE = """#include "portable.h"

extern "C" __global__ void twice(uint32_t *out, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * i;
}
"""
MANIFEST = {
    "name": "twice", "summary": "twice", "params": {"n": 65536}, "code": {"source": "twice.hip", "symbol": "twice"},
    "buffers": {"out": {"type": "u32", "count": "n", "role": "out"}},
    "launch": {"grid": ["ceil_div(n, 64)"], "block": [64], "args": ["out", {"value": "n", "type": "u32"}]},
    "work": {"write": "4*n", "items": "n"}, "check": {"expect": {"out": "2 * i"}}}
QUICK = {"warmup": "1 ms", "warmup_max": "1 ms", "min_time": "1 ms", "max_time": "50 ms", "min_samples": 3,
         "max_samples": 5, "precision": 0.9, "calibration": False}
LONG = {"warmup": "1 ms", "warmup_max": "1 ms", "min_time": "300 s", "max_time": "400 s", "timeout": "500 s", "max_samples": 10000000}
REPORTS = {"run.json", "summary.md", "gate.json", "junit.xml", "metrics.prom", "run.csv", "gbench.json", "bmf.json", "log.txt"}


def suite(measure, kernel="k"):
    return {"name": "tiny", "kernels": [kernel], "defaults": {"measure": measure},
            "cases": [{"kernel": "twice", "sweep": {"n": [4096, 8192]}}],
            "kpis": [{"name": "rate", "method": "geomean", "of": "bytes_per_s", "cases": ["twice"]}]}


def make(home):
    for folder, source in (("k", SOURCE), ("wrong", SOURCE.replace("2 * i", "2 * i + (n == 8192)")),
                           ("worse", SOURCE.replace("2 * i", "2 * i + 1"))):
        (home / folder).mkdir()
        (home / folder / "twice.hip").write_text(source)
        (home / folder / "twice.json").write_text(json.dumps(MANIFEST))
    for name, content in (("tiny", suite(QUICK)), ("long", suite(LONG)), ("wrong", suite(QUICK, "wrong")),
                          ("worse", suite(QUICK, "worse"))):
        (home / f"{name}.json").write_text(json.dumps(content))
    for folder in ("locks", "collector"):
        (home / folder).mkdir()


def command(home, *more, suite="tiny.json", folder="runs"):
    return ["bash", str(ROOT / "scripts/nightly"), "--rooftile", str(PROGRAM), "--suite", str(home / suite), "--device", "cpu:threads=1",
            "--dir", str(home / folder), "--lock-dir", str(home / "locks"), "--no-ceilings", *map(str, more)]


def clean(home):
    env = environment(home)
    del env["SOURCE_DATE_EPOCH"]  # runs have their own times
    return env | {"TMPDIR": str(home)}  # where a result goes for which the disk has no room


def run(home, *more, **where):
    done = subprocess.run(command(home, *more, **where), env=clean(home), cwd=home, capture_output=True, text=True, timeout=PATIENCE_S)
    time.sleep(1.1)  # a history takes one run a second
    return done


def runs(home):
    with sqlite3.connect(home / "runs/history.db") as db:
        return db.execute("SELECT count(*) FROM run").fetchone()[0]


def folders(home, partial=False):
    return sorted(p.name for p in (home / "runs").iterdir() if p.is_dir() and not p.is_symlink() and
                  p.name.startswith("2") and p.name.endswith(".partial") == partial)


def free(home):
    return subprocess.run(["flock", "-n", home / "locks/rooftile-cpu.lock", "true"], check=False).returncode == 0


def good(home):
    done = run(home, "--textfile-dir", home / "collector")
    check_run(done, 0, "the first run", stdout=["LEARNING", "tiny.json, 3 trials", "rate"])
    check(len(folders(home)) == 1 and not folders(home, partial=True), "has one folder, and nothing half done")
    latest = home / "runs/latest"
    check(latest.is_symlink() and os.readlink(latest) == folders(home)[0], "which 'latest' leads to")
    check({p.name for p in latest.iterdir()} == REPORTS, f"with every report: {sorted(p.name for p in latest.iterdir())}")
    check((latest / "summary.md").read_text() == done.stdout, "and the summary that was printed")
    for name in ("run.json", "gate.json", "gbench.json", "bmf.json"):
        check(json.loads((latest / name).read_text()), f"{name} is JSON")
    check(len(list(ElementTree.parse(latest / "junit.xml").iter("testcase"))) == 3, "two cases and a key figure are in junit.xml")
    check(json.loads((latest / "run.json").read_text())["run"]["trials"] == 3, "of three trials")
    published = sorted(p.name for p in (home / "collector").iterdir())
    check(published == ["rooftile-cpu-nightly.prom"], f"the collector has its file and no other: {published}")
    metrics = home / "collector" / published[0]
    check(metrics.read_bytes() == (latest / "metrics.prom").read_bytes() and metrics.stat().st_mode & 0o44 == 0o44, "readable to all")
    check(runs(home) == 1 and free(home), "one run is in the history, and the device is free")
    check_run(run(home), 0, "the second run", stdout="LEARNING")
    check(runs(home) == 2 and len(folders(home)) == 2 and os.readlink(latest) == folders(home)[-1], "is one more")
    check_run(run(home, "--strict"), 4, "a run that is unsure", stdout="LEARNING")


def wrong(home):
    done = run(home, suite="wrong.json")
    check_run(done, 1, "a run with a wrong kernel", stdout=["twice", "wrong"])
    check("LEARNING" not in done.stdout[:200], f"its headline is no harmless one: {done.stdout[:200]}")
    check(runs(home) == 4, "and it is in the history")
    check_run(run(home, suite="worse.json"), 1, "a run with nothing right", stderr="no case of this result counts")
    check(runs(home) == 4 and len(folders(home, partial=True)) == 1, "is not, and its folder says why")


def unfinished(home, number, name, leader):
    """A second run meets the first; then the first is told to stop: its process alone, or its group as by Ctrl-C."""
    before = runs(home), len(folders(home)), len(folders(home, partial=True))
    first = subprocess.Popen(command(home, suite="long.json"), env=clean(home), cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, start_new_session=True)
    while not any("==> run" in (p.parent / "log.txt").read_text() for p in (home / "runs").glob("*.partial/WHAT-THIS-IS.txt")  # the log is older
                  if str(first.pid) in p.read_text()) and first.poll() is None:
        time.sleep(0.1)
    if first.poll() is not None:
        check(False, f"the first run ended by itself: {first.communicate()}")
        return
    refused = run(home)
    check_run(refused, 3, "a second run on the device", stderr=["another run is on this device", f"process {first.pid}, user"])
    check(len(folders(home, partial=True)) == before[2] + 1, "leaves no folder of its own")
    (os.kill if leader else os.killpg)(first.pid, number)
    out, err = first.communicate(timeout=PATIENCE_S)
    check(first.returncode == 130, f"{name}: exit {first.returncode}\n{out}{err}")
    check(f"interrupted by {name}" in err, f"{name} is named: {err}")
    check(free(home), "its children have ended, and the device is free")
    check((runs(home), len(folders(home))) == before[:2], "the history and the finished runs are as before")
    left = home / "runs" / folders(home, partial=True)[-1]
    what = (left / "WHAT-THIS-IS.txt").read_text()
    check(f"interrupted by {name}" in what and "'run'" in what, f"what is left says what it is: {what}")
    time.sleep(1.1)
    check_run(run(home), 0, "the next run", stdout="LEARNING")
    check(runs(home) == before[0] + 1, "is in the history")


def refused(home):
    for what, code, arguments, message in (
            ("an unknown option", 2, ["--trails", "3"], "unknown option '--trails'"),
            ("an option without its value", 2, ["--trials"], "--trials needs a value"),
            ("no number", 2, ["--trials", "x"], "--trials x: not a number"),
            ("a missing suite", 2, ["--suite", home / "nowhere.json"], "nowhere.json cannot be read"),
            ("an unknown suite", 2, ["--suite", "nigthly"], "nigthly"),
            ("a prediction", 2, ["--device", "sim:mi300x"], "predicts and measures nothing"),
            ("no such device", 3, ["--device", "hip:7"], "hip:7"),
            ("no collector", 2, ["--textfile-dir", home / "nowhere"], "there is no folder"),
            ("no program", 3, ["--rooftile", home / "nowhere"], "there is no program"),
            ("no history", 2, ["--db", home / "tiny.json"], "tiny.json")):
        before = runs(home)
        done = run(home, *arguments)
        check_run(done, code, what, stderr=[message])
        check(done.stdout == "" and runs(home) == before, f"{what}: nothing is reported or added")
    check_run(subprocess.run(["bash", ROOT / "scripts/nightly", "--help"], capture_output=True, text=True, check=False), 0, "--help",
              stdout="Usage: scripts/nightly")


def locks(home):
    trap = home / "locks2"
    trap.mkdir()
    (home / "precious").write_text("precious")
    (trap / "rooftile-cpu.lock").symlink_to(home / "precious")
    check_run(run(home, "--lock-dir", trap), 3, "a lock that is a link", stderr="is not a plain file")
    (trap / "rooftile-cpu.lock").unlink()
    (trap / "rooftile-cpu.lock").symlink_to(home / "made")
    check_run(run(home, "--lock-dir", trap), 3, "a lock that leads nowhere", stderr="is not a plain file")
    check((home / "precious").read_text() == "precious" and not (home / "made").exists(), "nothing was written through it")
    (trap / "rooftile-cpu.lock").unlink()
    os.mkfifo(trap / "rooftile-cpu.lock")
    check_run(run(home, "--lock-dir", trap), 3, "a lock that is a pipe", stderr="is not a plain file")


def broken_build(home):
    tools = home / "tools"
    tools.mkdir()
    (tools / "cmake").write_text("#!/bin/sh\necho 'there is no compiler today'\nexit 1\n")
    (tools / "cmake").chmod(0o755)
    arguments = [a for a in command(home, "--build-dir", home / "built") if a not in ("--rooftile", str(PROGRAM))]
    env = clean(home)
    done = subprocess.run(arguments, env=env | {"PATH": f"{tools}:{env['PATH']}"}, cwd=home, capture_output=True, text=True, check=False)
    check_run(done, 3, "a build that fails", stderr=["there is no compiler today", "configure failed"])


def kept(home):
    (home / "runs/notes").mkdir()
    (home / "runs/2020-01-01T000000Z.partial").mkdir()
    (home / "runs/2020-01-01").mkdir()
    check_run(run(home, "--keep", 2), 0, "a run that tidies up")
    check(len(folders(home)) == 3, f"two runs stay: {folders(home)}")  # with 2020-01-01, which is no run's name
    check((home / "runs/notes").is_dir() and (home / "runs/2020-01-01").is_dir(), "and what is no run")
    check(not (home / "runs/2020-01-01T000000Z.partial").exists(), "but no unfinished run from before them")
    check(runs(home) == 2, "the history keeps as many")


def full_disk(home):
    small = home / "small"
    small.mkdir()
    setup = f"mount -t tmpfs -o size=24k none {small}"
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "sh", "-c", setup], capture_output=True, check=False).returncode:
        print("skipped: no small file system can be made here, so no disk was full")
        return
    script = f"{setup} && {' '.join(command(home, '--db', home / 'other.db', folder='small'))}; code=$?; ls {small}; exit $code"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], env=clean(home), cwd=home, capture_output=True, text=True, check=False)
    check(done.returncode == 3, f"a full disk: exit {done.returncode}\n{done.stdout}{done.stderr}")
    check("o space left" in done.stderr or "disk is full" in done.stderr, f"says so: {done.stderr}")
    check(".partial" in done.stdout and "latest" not in done.stdout, f"and no run is there: {done.stdout}")


def needs_flock(_):
    if not shutil.which("flock"):
        skip("there is no flock (util-linux)")


def told_by_the_keyboard(home):
    unfinished(home, signal.SIGINT, "SIGINT", leader=False)


def told_alone(home):
    unfinished(home, signal.SIGTERM, "SIGTERM", leader=True)


if __name__ == "__main__":
    main(needs_flock, make, good, wrong, told_by_the_keyboard, told_alone, refused, locks, broken_build, kept, full_disk)
