# SPDX-License-Identifier: MIT
"""What a case is: resumed, compared and joined only with itself; and what a run says of itself with its exit code."""
import json
import os
import re
import signal
import subprocess

from harness import PATIENCE_S, PROGRAM, QUICK, check, check_run, environment, load, main, run

SOURCE = """#include "portable.h"

extern "C" __global__ void add(uint32_t *out, const uint32_t *in, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 1u; /* CODE */
}
"""
MANIFEST = {
    "name": "add", "summary": "adds one", "class": "memory", "params": {"n": 4096, "far": 0},
    "code": {"source": "add.hip", "symbol": "add"},
    "require": [{"expr": "far == 0", "reason": "nothing reaches that far"}],
    "buffers": {"in": {"type": "u32", "count": "n", "role": "in", "fill": "7"}, "out": {"type": "u32", "count": "n", "role": "out"}},
    "launch": {"grid": ["ceil_div(n, 64)"], "block": [64], "args": ["out", "in", {"value": "n", "type": "u32"}]},
    "work": {"read": "4*n", "write": "4*n"}, "check": {"expect": {"out": "8"}}}
CPU = ["--kernels", "k", "--device", "cpu:threads=1"]


def write(home, manifest=MANIFEST, source=SOURCE):
    (home / "k").mkdir(exist_ok=True)
    (home / "k/add.hip").write_text(source)
    (home / "k/add.json").write_text(json.dumps(manifest))
    for name, times, values in (("s", QUICK, [2048, 4096]), ("long", {"warmup": "1 us", "warmup_max": "1 ms", "min_time": "60 ms", "max_time": "60 ms", "timer": "host"}, [1024, 2048, 3072, 4096])):
        cases = [{"kernel": "add", "sweep": {"n": values}}]
        (home / f"{name}.json").write_text(json.dumps({"name": name, "defaults": {"measure": times | {"timer": "host"}}, "cases": cases}))


def other(**changes):
    return MANIFEST | changes


FEW = {"type": "u32", "count": "n", "role": "in", "fill": "7 + 0 * i"}
CHANGES = {  # what is written otherwise: what is said to have changed
    "code": (MANIFEST, SOURCE.replace("in[i] + 1u", "in[i] + (n > 5u ? 1u : 2u)")),
    "launch": (other(launch=MANIFEST["launch"] | {"grid": ["2 * ceil_div(n, 64)"]}), SOURCE),
    "input data": (other(buffers=MANIFEST["buffers"] | {"in": FEW | {"fill": "i % 2 * 0 + 7", "align_offset": "64"}}), SOURCE),
    "verification": (other(check={"expect": {"out": {"expr": "8", "abs": "1"}}}), SOURCE),
    "work": (other(work={"read": "4*n", "write": "4*n", "flops": "n", "unit": "vector_f32"}), SOURCE)}


def measured(done):
    return [json.loads(line)["case"]["params"]["n"] for line in done.stdout.splitlines()]


def a_change_is_seen(home):
    write(home)
    check_run(run("run", "s.json", *CPU, "-o", "base.json", home=home), 0, "the base")
    for case in load(home / "base.json")["cases"]:
        check(set(case["identity"]) == {"code", "launch", "inputs", "check", "work", "device"} and
              all(re.fullmatch("[0-9a-f]{16}", part) for part in case["identity"].values()), f"every part is known: {case['identity']}")
    same_time = load(home / "base.json")
    same_time["cases"][0]["identity"]["inputs"] = "0123456789abcdef"
    (home / "same_time.json").write_text(json.dumps(same_time))
    check_run(run("compare", "base.json", "same_time.json", home=home), 0, "a change that moved no time is said",
              stdout="though no time moved by it: input data, in 1 case (add n=2Ki")
    resume = ["run", "s.json", *CPU, "--format", "jsonl", "--resume", "base.json", "-o", "again.json"]
    done = run(*resume, home=home)
    check_run(done, 0, "the same")
    check(not measured(done) and "W016" not in done.stderr, f"what is the same is not measured again: {done.stderr}")
    for word, (manifest, source) in CHANGES.items():
        write(home, manifest, source)
        done = run(*resume, home=home)
        check_run(done, 0, f"another {word}", stderr=f"W016: 2 cases of base.json must be measured again, not the same any more: {word}\n")
        check(sorted(measured(done)) == [2048, 4096], f"another {word}: {measured(done)}")
        done = run("compare", "base.json", "again.json", "--format", "json", home=home)
        case = json.loads(done.stdout)["cases"][0]
        said = case.get("changes") or case["reason"]
        check(case["state"] == ("refused" if word == "work" else "judged") and word in said, f"compare, another {word}: {case}")
        check(word != "launch" or "launch (grid 32 to 64)" in said, f"compare: before and after: {said}")
        done = run("merge", "base.json", "again.json", "-o", "both.json", home=home)
        check_run(done, 2, f"merge, another {word}", stderr=[f"not the same {word}", "add/n=2048"])
    write(home, other(summary="adds 1", buffers=MANIFEST["buffers"] | {"in": FEW}), SOURCE.replace("/* CODE */", "// code"))
    done = run(*resume, home=home)
    check(not measured(done) and not done.returncode, f"the same in other words: {measured(done)}{done.stderr}")
    write(home)


def elsewhere(home):
    threads = 2 if len(os.sched_getaffinity(0)) > 1 else None
    for what, device, words in (("threads", f"cpu:threads={threads}", "compute units or threads '1' and '2'"),
                                ("a wave", "cpu:threads=1,wave=32", "wave '64' and '32'"), ("a model", "sim:mi300x", "one is predicted")):
        if "None" in device:
            continue
        done = run("run", "s.json", "--kernels", "k", "--device", device, "--resume", "base.json", "-o", "x.json", home=home)
        check_run(done, 2, f"resume with another {what}", stderr=["base.json and this run are not of one run", words])
        check(not (home / "x.json").exists(), f"resume with another {what}: nothing is written")
    document = load(home / "base.json")
    document["environment"]["device"]["driver"] = "Linux 2.4"
    (home / "older.json").write_text(json.dumps(document))
    done = run("run", "s.json", *CPU, "--resume", "older.json", home=home)
    check_run(done, 2, "resume after an upgrade", stderr="driver 'Linux 2.4' and '")


def stopped(home, number, *more, cases):
    """A run of trials that gets this signal after so many cases. Of a budget the signal is its timer's."""
    child = subprocess.Popen([str(PROGRAM), "run", "long.json", *CPU, "--format", "jsonl", "-o", "part.json", *more], env=environment(home), cwd=home,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(cases):
        child.stdout.readline()
    child.send_signal(number)
    _, errors = child.communicate(timeout=PATIENCE_S)
    return child.returncode, errors, load(home / "part.json")


def trials_go_on(home):
    for what, number, code, more, cases in (("Ctrl-C in the second trial", signal.SIGINT, 130, [], 6), ("Ctrl-C in the first trial", signal.SIGINT, 130, [], 2),
                                            ("time in the second trial", signal.SIGALRM, 0, ["--budget", "60min"], 6),
                                            ("time in the first trial, strictly", signal.SIGALRM, 4, ["--budget", "60min", "--strict"], 2)):
        done, errors, part = stopped(home, number, "--trials", "3", *more, cases=cases)
        check(done == code or done == 4 == code, f"{what}: exit {done}, expected {code}\n{errors}")
        check(part["run"]["status"] == "interrupted", f"{what}: the run is {part['run']['status']}")
        kept = {(c["id"], t["index"]): t["median_ns"] for c in part["cases"] for t in c.get("trials") or [{"index": 0, "median_ns": (c["stats"] or {}).get("median_ns")}] if c["status"] == "ok"}
        check(len(kept) >= cases - 1, f"{what}: {len(kept)} of {cases} are kept")
        go_on = run("run", "long.json", *CPU, "--format", "jsonl", "--trials", "3", "--resume", "part.json", "-o", "whole.json", home=home)
        whole = load(home / "whole.json")
        check_run(go_on, 0, f"{what}: resume")
        check(len(measured(go_on)) == 12 - len(kept), f"{what}: {len(measured(go_on))} are measured, {len(kept)} were there")
        check(whole["run"]["status"] == "complete" and whole["run"]["trials"] == 3 and len(whole["run"]["parts"]) == 3, f"{what}: {whole['run']}")
        found = {(c["id"], t["index"]): t["median_ns"] for c in whole["cases"] for t in c["trials"]}
        check(len(found) == 12 and all(found[key] == kept[key] for key in kept), f"{what}: every trial of every case, once: {sorted(found)}")
        check(not any("only in" in (c["status_reason"] or "") for c in whole["cases"]), f"{what}: nothing lacks")
        check(len({(p["id"], p["trial_index"]) for p in whole["run"]["parts"]}) == 3, f"{what}: parts {whole['run']['parts']}")
    again = run("run", "long.json", *CPU, "--format", "jsonl", "--resume", "whole.json", "-o", "whole.json", home=home)
    check_run(again, 0, "a complete run")
    check(not measured(again) and load(home / "whole.json")["run"]["trials"] == 3, "nothing is left to do")


def nothing_measured(home):
    """Not 0: nothing was found out."""
    far = ["--set", "far=1"]
    (home / "far.json").write_text(json.dumps({"name": "far", "cases": [{"kernel": "add", "params": {"far": 1}}]}))
    for what, *arguments in (("run", "run", "add", *CPU, *far), ("trials", "run", "add", *CPU, *far, "--trials", "2"), ("sim", "run", "add", "--kernels", "k", "--device", "sim:mi300x", *far),
                             ("aa", "aa", "add", *CPU, *far, "--trials", "2"), ("A and B", "run", "add", "--ab", "k", "k", "--device", "cpu:threads=1", *far, "--trials", "1"),
                             ("check", "check", "far.json", *CPU, "--run", *far), ("faults", "check", "far.json", *CPU, "--inject-faults", *far),
                             ("a library of another device", "run", "gemm_library", "--device", "cpu:threads=1", "--set", "library=cublaslt"),
                             ("no time", "run", "s.json", *CPU, "--budget", "1us", "--strict"), ("no time to check", "check", "add", *CPU, "--run", "--budget", "1us"),
                             ("no time for ceilings", "roofline", "--device", "cpu:threads=1", "--budget", "1us", "-o", "machine.json")):
        done = run(*arguments, home=home)
        check_run(done, 3, f"nothing measured: {what}")
    check(not (home / "machine.json").exists(), "no ceilings of nothing")
    check_run(run("run", "gemm_library", "--device", "cpu", "--set", "library=opnblas", home=home), 2, "a value that its parameter has not", stderr="openblas")
    for backend in ("hip", "cuda"):
        missing = {f"ROOFTILE_{backend.upper()}_LIBRARY": "/nowhere/lib.so"}
        check_run(run("run", "add", "--kernels", "k", "--device", backend, home=home, **missing), 3, "the file of a library that is misspelt", stderr="/nowhere/lib.so")


def cut(home):
    """Time runs out after the first case."""
    for more, code in (([], 0), (["--strict"], 4)):
        done, errors, part = stopped(home, signal.SIGALRM, "--budget", "60min", *more, cases=1)
        check(done == code or (more and done == 4), f"cut {more}: exit {done}, expected {code}\n{errors}")
        check(any(c["status"] == "ok" for c in part["cases"]) and any(c["status"] == "skipped" for c in part["cases"]), f"cut {more}: {[c['status'] for c in part['cases']]}")


if __name__ == "__main__":
    main(a_change_is_seen, elsewhere, trials_go_on, nothing_measured, cut)
