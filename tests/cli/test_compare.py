# SPDX-License-Identifier: MIT
"""Trials, `run --ab`, `compare` and `aa`: a build that is many times as slow is found, whatever the two are; the same build is never
slower for sure from one trial; nothing bad that is fed to compare makes a green verdict."""
import copy
import glob
import json
import re
import shutil
import signal
import statistics
import subprocess

from harness import PATIENCE_S, PROGRAM, ROOT, check, check_run, environment, load, main, run
from runs import stretch

SOURCE = """#include "portable.h"

extern "C" __global__ void spin(uint32_t *out, uint32_t n, uint32_t one)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x = i;
    for (uint32_t k = 0; k < TRIPSu; k++)
        x = (x * one) ^ (one - 1u);
    if (i < n)
        out[i] = x;
}
"""
MANIFEST = {
    "name": "spin", "summary": "spins", "class": "compute", "params": {"n": 4096},
    "code": {"source": "spin.hip", "symbol": "spin"},
    "buffers": {"out": {"type": "u32", "count": "n", "role": "out"}},
    "launch": {"grid": ["ceil_div(n, 64)"], "block": [64],
               "args": ["out", {"value": "n", "type": "u32"}, {"value": "1", "type": "u32"}]},
    "work": {"write": "4*n", "items": "n"}, "check": {"expect": {"out": "i"}}}
KPI = {"name": "rate", "method": "geomean", "of": "items_per_s", "cases": ["spin"]}
CPU = ["--device", "cpu:threads=1"]
QUICK = ["--min-time", "2ms", "--max-time", "30ms", "--timer", "host", *CPU]  # which timer `auto` takes depends on how busy the machine is
SIM = ["--device", "sim:h100"]  # of an AMD GPU it compiles and walks the code


def make_kernels(home):
    """So much slower that no neighbour on the machine hides it."""
    for name, trips in (("ka", 40), ("kb", 1000), ("same", 40)):
        (home / name).mkdir()
        (home / name / "spin.hip").write_text(SOURCE.replace("TRIPS", str(trips)))
        (home / name / "spin.json").write_text(json.dumps(MANIFEST))
    (home / "s.json").write_text(json.dumps({"name": "s", "defaults": {"measure": {"calibration": False}}, "cases": [{"kernel": "spin", "sweep": {"n": [2048, 4096]}}], "kpis": [KPI]}))


def case_of(result, part):
    return next(c for c in result["cases"] if part in c["id"])


def compared(home, base, new, *more):
    done = run("compare", base, new, "--format", "json", *more, home=home)
    return done, json.loads(done.stdout) if done.stdout.startswith("{") else None


def validate(home, kind, document):
    try:
        import jsonschema
    except ImportError:
        return print("SKIPPED: the schemas (python3-jsonschema is not installed)")
    schema = json.loads(run("schema", kind, home=home).stdout)
    errors = [f"{list(e.absolute_path)}: {e.message[:200]}" for e in jsonschema.Draft202012Validator(schema).iter_errors(document)]
    check(not errors, f"the {kind} schema: {errors[:3]}")


# ---- trials ----


def trials(home):
    check_run(run("run", "s.json", "--kernels", "ka", *QUICK, "--trials", "3", "-o", "t3.json", home=home), 0, "three trials")
    result = load(home / "t3.json")
    check(result["run"]["trials"] == 3, "the run says how many")
    for case in result["cases"]:
        own = case["trials"]
        check([t["index"] for t in own] == [0, 1, 2], f"{case['id']}: a line for each trial")
        check(case["stats"]["median_ns"] == statistics.median(t["median_ns"] for t in own), f"{case['id']}: the median of their medians")
        check(case["measurement"]["n"] == sum(t["n"] for t in own), f"{case['id']}: all samples")
    kpi = result["kpis"][0]
    check(len(kpi["trial_values"]) == 3 and all(kpi["trial_values"]), f"the key figure of each trial: {kpi}")
    check_run(run("run", "stream_copy", "--set", "n=1Mi..8Mi+1Mi", *SIM, "--trials", "4", "-o", "order.json", home=home), 0, "trials of eight cases")
    result = load(home / "order.json")
    orders = [tuple(case["trials"][k]["order_index"] for case in result["cases"]) for k in range(4)]
    check(len(set(orders)) > 1 and all(sorted(order) == list(range(8)) for order in orders), f"each trial has an order of its own: {orders}")
    check_run(run("run", "stream_copy", "--set", "n=1Mi..8Mi+1Mi", *SIM, "--trials", "4", "-o", "again.json", home=home), 0, "again")
    again = load(home / "again.json")
    again["run"]["argv"] = result["run"]["argv"]
    check(again == result, "and the same ones for the same seed")


def one_timer(home):
    """A kernel at the threshold of the automatic choice: later trials keep to the first one's."""
    check_run(run("run", "stream_copy", "--set", "n=16Ki..4Mi*2", *SIM, "--trials", "5", "-o", "timers.json", home=home), 0, "trials near the threshold")
    for case in load(home / "timers.json")["cases"]:
        check(len(case["trials"]) == 5 and case["status"] == "ok", f"{case['id']}: five trials under one timer")


def merged_by_hand(home):
    for k in (1, 2, 3):
        check_run(run("run", "s.json", "--kernels", "ka", *QUICK, "--seed", k, "-o", f"m{k}.json", home=home), 0, f"trial {k}")
    check_run(run("merge", "m1.json", "m2.json", "m3.json", "-o", "merged.json", home=home), 0, "merge")
    one, other = load(home / "t3.json"), load(home / "merged.json")
    check([c["id"] for c in one["cases"]] == [c["id"] for c in other["cases"]], "the same cases")
    keys = [[sorted(set(case) - {"samples_ns_reason"}) for case in result["cases"]] for result in (one, other)]  # said of many samples
    check(keys[0] == keys[1], "of the same shape")
    check(all(len(a["trials"]) == len(b["trials"]) for a, b in zip(one["cases"], other["cases"])), "and of as many trials")
    check(other["run"]["trials"] == 3 and len(other["kpis"][0]["trial_values"]) == 3, "and key figures")
    done, comparison = compared(home, "t3.json", "merged.json")
    check(comparison and comparison["summary"]["cases"] == 2 and comparison["cases"][0]["new_trials"] == 3, f"and comparable: {done.stderr}")


def trials_refused(home):
    for what, arguments, message in (
            ("--profile with trials", ["--trials", "2", "--profile"], "--profile measures nothing"),
            ("too many trials", ["--trials", "65"], "at most 64"),
            ("--resume with --ab", ["--ab", "ka", "kb", "--resume", "t3.json"], "not with --ab"),
            ("--profile with --ab", ["--ab", "ka", "kb", "--profile"], "--profile measures nothing"),
            ("--ab on standard output", ["--ab", "ka", "kb", "-o", "-"], "two results"),
            ("--ab in another format", ["--ab", "ka", "kb", "--format", "csv"], "a comparison has no format 'csv'"),
            ("--ab with nothing", ["--ab", "ka", "nowhere"], "there is no folder, compiler or code object 'nowhere'"),
            ("--ab of two kinds", ["--ab", "ka", "s.json"], "give two of a kind"),
            ("--ab of one", ["--ab", "ka"], "--ab")):
        done = run("run", "spin", "--kernels", "ka", *QUICK, *arguments, home=home)
        check_run(done, 2, what, stderr=message)
    check_run(run("aa", "spin", "--kernels", "ka", *QUICK, "--trials", "65", home=home), 2, "aa of too many trials", stderr="at most 64")


# ---- A and B in turns ----


def slower(home, what, document, attribution="code"):
    check(document is not None, f"{what}: a comparison")
    if not document:
        return
    validate(home, "compare", document)
    verdicts = [c.get("verdict", c["state"]) for c in document["cases"]]
    check(verdicts == ["slower"] * len(verdicts), f"{what}: {json.dumps(document['cases'])[:2000]}")
    check(all(c["ratio"] > 4 for c in document["cases"] if "ratio" in c), f"{what}: by far: {[c.get('ratio') for c in document['cases']]}")
    check(all(c.get("attribution") == attribution for c in document["cases"]), f"{what}: because of the {attribution}")


def ab_kernels(home):
    done = run("run", "s.json", *QUICK, "--ab", "ka", "kb", "--trials", "5", "--format", "json", "-o", "out/ab.json", home=home)
    check_run(done, 1, "many times as slow")
    document = json.loads(done.stdout)
    slower(home, "kernel folders", document)
    check(document["kpis"][0]["verdict"] == "worse", f"and so is the key figure: {document['kpis']}")
    a, b = load(home / "out/ab.a.json"), load(home / "out/ab.b.json")
    check(a["run"]["trials"] == b["run"]["trials"] == 5, "five trials of both are kept")
    done, again = compared(home, "out/ab.a.json", "out/ab.b.json")
    check(done.returncode == 1 and again["cases"] == document["cases"], "and compare says the same of the files")
    done, faster = compared(home, "out/ab.b.json", "out/ab.a.json")
    check(done.returncode == 0 and all(c["verdict"] == "faster" for c in faster["cases"]), "the other way round it is faster")
    check_run(run("compare", "out/ab.a.json", "out/ab.b.json", home=home), 1, "the table", stdout=["SLOWER", "WORSE", "2 cases: 2 slower"])


def ab_objects(home):
    objects = {}
    for name in ("ka", "kb"):
        check_run(run("build", "spin", "--kernels", name, *CPU, "--cache", f"objects-{name}", home=home), 0, f"build {name}")
        objects[name] = [path for path in glob.glob(str(home / f"objects-{name}/*")) if open(path, "rb").read(4) == b"\x7fELF"]
    check(all(len(found) == 1 for found in objects.values()), f"one object each: {objects}")
    for name, found in objects.items():
        shutil.copy(found[0], home / f"{name}.so")
    arguments = ["run", "spin", "--kernels", "ka", *QUICK, "--ab", "ka.so", "kb.so", "--trials", "5", "--format", "json"]
    done = run(*arguments, home=home)
    check_run(done, 1, "two code objects")
    slower(home, "code objects", json.loads(done.stdout) if done.stdout else None)
    done = run("run", "spin", "stream_copy", "--set", "n=4096", "--kernels", "ka", *QUICK, "--ab", "ka.so", "kb.so", home=home)
    check_run(done, 2, "an object for two kernels", stderr="a code object stands for one compiled variant")


def ab_compilers(home):
    found = [path for version in range(25, 13, -1) if (path := shutil.which(f"clang++-{version}"))]
    if len(found) < 2:
        return print("SKIPPED: --ab with compilers (there are not two clang++)")
    done = run("run", "spin", "--kernels", "ka", *QUICK, "--ab", found[0], found[-1], "--trials", "3", "--format", "json", home=home)
    check(done.returncode in (0, 1), f"two compilers: exit {done.returncode}\n{done.stderr[-2000:]}")
    document = json.loads(done.stdout)
    validate(home, "compare", document)
    check(any(d["what"] == "kernel compiler" and d["base"] != d["new"] for d in document["differences"]), f"they are named: {document['differences']}")
    check(document["cases"][0]["state"] == "judged", "and the case is judged")


def interrupted(home):
    command = [str(PROGRAM), "run", "spin", "--set", "n=2048..65536*2", *CPU, "--min-time", "100ms", "--ab", "ka", "kb", "--trials", "60", "-o", "cut.json"]
    child = subprocess.Popen(command, env=environment(home), cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = []
    for line in child.stderr:  # the first case of the first trial is through
        lines.append(line)
        if line.startswith("["):
            break
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE_S)
    check(child.returncode == 130, f"Ctrl-C: exit {child.returncode}\n{''.join(lines)}{err[-2000:]}")
    check("nothing to compare" in err and "MISSING" not in out, f"a cut trial makes no findings: {out}{err[-500:]}")
    check(not list(home.glob("cut*.json")), "and leaves no half file")
    check("what was measured is in cut.a.json.journal" in err, f"but its journal: {err[-500:]}")


# ---- aa ----


def aa(home):
    arguments = ["spin", "--kernels", "ka", "--set", "n=2048,4096", *QUICK]
    check_run(run("aa", *arguments, "--trials", "4", home=home), 0, "four trials teach nothing", stdout="fewer than 8 trials",
              stderr="aa: 4 trials will teach nothing: at least 8 are needed")
    check(not (home / "data/noise").exists(), "and write nothing")
    done = run("aa", *arguments, "--trials", "8", "--json", "aa.json", home=home)
    check_run(done, 0, "eight trials", stdout=["2 cases, 8 trials each", "learned:"])
    files = list((home / "data/noise").glob("*.json"))
    check(len(files) == 1, f"one noise file: {files}")
    validate(home, "noise", load(files[0]))
    validate(home, "noise", load(home / "aa.json"))
    check(len(load(files[0])["cases"]) == 2 and all(c["trials"] == 8 for c in load(files[0])["cases"]), "with both cases")
    done, comparison = compared(home, "t3.json", "t3.json")
    check(comparison["learned_noise"] is True and not any("never measured" in a for a in comparison["advice"]), f"compare reckons with it: {done.stderr}")
    check_run(run("aa", "spin", "--kernels", "ka", "--set", "n=1024", *QUICK, "--trials", "8", "--format", "html", home=home), 0, "another case, as a page", stdout=["<h1><bdi>The noise of ", "1 case, 8 trials each"])
    check(len(load(files[0])["cases"]) == 3, "what was learned before stays")
    text = files[0].read_text()
    for what, broken in (("half a noise file", text[: len(text) // 2]), ("another version", text.replace("noise/1/", "noise/9/"))):
        files[0].write_text(broken)
        check_run(run("compare", "t3.json", "t3.json", home=home), 2, what, stderr=["the learned noise", "rooftile aa"])
    files[0].write_text(text.replace(load(home / "aa.json")["fingerprint"], "0" * 64))
    check_run(run("compare", "t3.json", "t3.json", home=home), 2, "noise of another machine", stderr="another environment")
    files[0].unlink()
    check_run(run("aa", "stream_copy", *SIM, "--trials", "8", home=home), 2, "aa of the simulator", stderr="a prediction has no noise")


# ---- compare ----


def deterministic(home):
    check_run(run("run", "stream_copy", "stream_triad", "--set", "n=1Mi..32Mi*2", *SIM, "--trials", "3", "-o", "p1.json", home=home), 0, "base")
    check_run(run("run", "stream_copy", "stream_triad", "--set", "n=1Mi..32Mi*2", *SIM, "--trials", "3", "--seed", "9", "-o", "p2.json", home=home), 0, "new")
    (home / "elsewhere").mkdir()
    texts = {run("compare", "p1.json", "p2.json", "--format", "json", home=home).stdout for _ in range(2)}
    texts.add(run("compare", home / "p1.json", "../p2.json", "--format", "json", home=home, cwd=home / "elsewhere").stdout)
    check_run(run("compare", "p1.json", "p2.json", "--json", "c.json", "-o", "c.txt", home=home), 0, "into files")
    texts.add((home / "c.json").read_text())
    check(len(texts) == 1 and len(texts.pop()) > 2000, "the same bytes, wherever it runs")
    document = load(home / "c.json")
    validate(home, "compare", document)
    check(document["predicted"] and (home / "c.txt").read_text().startswith("PREDICTED"), "and it says that nothing was executed")


def one_against_one(home):
    check_run(run("run", "spin", "--kernels", "kb", "--set", "n=2048,4096", *QUICK, "-o", "slow1.json", home=home), 0, "one trial")
    done, document = compared(home, "m1.json", "slow1.json", "--filter", "spin")
    check(document and document["summary"]["slower"] == document["summary"]["faster"] == document["summary"]["same"] == 0, f"never confirmed: {done.stdout[:500]}{done.stderr}")
    check(done.returncode == 0 and any("--trials 5" in a for a in document["advice"]), "and says what to do")
    check_run(run("compare", "m1.json", "slow1.json", "--filter", "spin", "--strict", home=home), 4, "doubt with --strict")
    done, document = compared(home, "t3.json", "t3.json")
    check(done.returncode == 0 and all(c["verdict"] in ("same", "inconclusive") for c in document["cases"]), "a file against itself is never slower")


def changed(home, name, change, source="t3.json"):
    document = copy.deepcopy(load(home / source))
    change(document)
    (home / name).write_text(json.dumps(document))
    return name


def put(value, *path):
    def change(document):
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value
    return change


def shorten(stats):
    """Times that agree with each other, but not with the samples."""
    for key, value in stats.items():
        if key.endswith("_ns") and value:
            stats[key] = [time * 0.9999 for time in value] if isinstance(value, list) else value * 0.9999


def bad_input(home):
    text = (home / "t3.json").read_text()
    (home / "empty.json").write_text("")
    (home / "cut.json").write_text(text[: len(text) * 2 // 3])
    (home / "nan.json").write_text(text.replace('"median_ns":', '"median_ns":NaN,"was":', 1))
    (home / "deep.json").write_text("[" * 100000)
    (home / "twice.json").write_text('{"schema_version": "2.0.0", "schema_version": "2.0.0"}')
    changed(home, "version.json", put("1.1.0", "schema_version"))
    changed(home, "median.json", lambda d: shorten(d["cases"][0]["stats"]))
    changed(home, "device.json", put("Another CPU", "environment", "device", "name"))
    changed(home, "dup.json", lambda d: d["cases"].append(d["cases"][0]))
    changed(home, "profile.json", put(["profiled"], "cases", 0, "flags"))
    changed(home, "nocases.json", put([], "cases"))
    for name, message in (("empty.json", "empty.json"), ("cut.json", "cut.json:"), ("nan.json", "nan.json:"), ("deep.json", "deep.json:"),
                          ("twice.json", "twice.json:1:"), ("version.json", "schema_version"), ("median.json", "edited or is corrupt"),
                          ("device.json", "different devices"), ("dup.json", "twice"), ("profile.json", "--profile"), (".", "folder"),
                          ("nowhere.json", "nowhere.json"), ("s.json", "s.json is a suite")):
        for pair in ((name, "t3.json"), ("t3.json", name)):
            done = run("compare", *pair, home=home)
            check_run(done, 2, f"compare {pair}", stderr=message)
            check(done.stdout == "", f"compare {pair}: no verdict")
    check_run(run("compare", "nocases.json", "nocases.json", home=home), 2, "nothing against nothing", stderr="no case to compare")
    check_run(run("compare", "t3.json", "nocases.json", home=home), 1, "everything is missing", stdout="2 missing")
    check_run(run("compare", "t3.json", "p1.json", home=home), 2, "measured and predicted", stderr="predicted")
    check_run(run("compare", "t3.json", "t3.json", "--filter", "nothing", home=home), 2, "a filter that leaves none", stderr="the filter leaves none")
    check_run(run("compare", "t3.json", "t3.json", "--format", "csv", home=home), 2, "a format for runs", stderr="table, json, markdown or junit")
    for option, value in (("--alpha", "2"), ("--alpha", "nan"), ("--delta", "-1%"), ("--delta", "1.5x"), ("--delta", "0")):
        check_run(run("compare", "t3.json", "t3.json", option, value, home=home), 2, f"{option} {value}", stderr=option)
    check_run(run("compare", "t3.json", "t3.json", "-o", "t3.json/x", home=home), 3, "nowhere to write")


def findings(home):
    def wrong(document):
        document["cases"][0]["verification"]["status"] = "fail"
        document["cases"][0]["verification"]["reason"] = "out[3] is 1, expected 2"
    def timer(document):
        for case in document["cases"]:
            case["measurement"]["timer"] = "batch"
            case["id"] = case["id"].split(";timer")[0] + ";timer=batch"
    done, document = compared(home, "t3.json", changed(home, "wrong.json", wrong))
    check(done.returncode == 1 and document["cases"][0]["state"] == "broken" and "expected 2" in done.stdout, f"a wrong result: {done.stdout[-1500:]}{done.stderr}")
    validate(home, "compare", document)
    done, document = compared(home, changed(home, "batch.json", timer), "t3.json")
    check(document and [c["state"] for c in document["cases"]] == ["refused"] * 2 and "timed by 'batch'" in document["cases"][0]["reason"], f"another timer: {done.stderr}")
    check(done.returncode == 2, "a comparison of nothing is not green")
    validate(home, "compare", document)
    page = run("compare", "t3.json", "wrong.json", "-o", "changes.html", home=home)
    both = run("report", "t3.json", "wrong.json", "--format", "html", home=home)
    check(page.returncode == 1 and (home / "changes.html").read_text() == both.stdout, f"a page, as report writes it: {page.stderr}")
    for form in ("junit", "markdown"):
        done = run("compare", "t3.json", "wrong.json", "--format", form, home=home)
        check_run(done, 1, form, stdout="broken")
        if form == "junit" and shutil.which("xmllint"):
            (home / "c.xml").write_text(done.stdout)
            lint = subprocess.run(["xmllint", "--noout", "--schema", ROOT / "tests/data/junit.xsd", home / "c.xml"], capture_output=True, text=True)
            check(lint.returncode == 0, f"xmllint: {lint.stderr[-500:]}")


def said_once(home):
    """Undecided cases of a kernel are one row, and how many trials a side has in its line alone."""
    def slower(document):
        document["environment"]["fingerprint"] = "0" * 64
        for case in document["cases"]:
            stretch(case, 2)
    check_run(run("run", "s.json", "--kernels", "ka", *QUICK, "-o", "t1.json", home=home), 0, "one trial")
    for form, heading in (("table", "\nspin, all 2 .* SUSPECT  environment \\(the same code\\)\n"), ("markdown", "\\| spin, all 2 \\| .* \\| SUSPECT \\| environment")):
        told = run("compare", "t1.json", changed(home, "slower.json", slower, "t1.json"), "--format", form, home=home).stdout
        check(len(re.findall(heading, told)) == 1 and told.count("environment") < 4 and " v 1 trials" not in told, f"{form}: {told}")
    narrow = run("compare", "t1.json", "slower.json", home=home, COLUMNS="80").stdout
    check("% interval" in narrow and max(map(len, narrow.splitlines())) <= 80, f"80 columns have the interval: {narrow}")

    def built_by(compiler, code):
        def change(document):
            document["run"]["commit"] = "ab" * 20
            document["environment"]["compiler"] = compiler
            for case in document["cases"]:
                case["identity"]["code"] = code
        return change
    old = changed(home, "old_compiler.json", built_by("clang 19", "0" * 16), "t1.json")
    new = changed(home, "new_compiler.json", built_by("clang 20", "1" * 16), "slower.json")
    told = run("compare", old, new, home=home).stdout
    check("compiler: code" in told and "SUSPECT" in told, f"the same commit, another compiler: {told}")


def side_by_side(home):
    """Two different devices: no verdict, but how many times as fast, how near to each one's ceilings, and what bounds differ."""
    for device in ("h100", "a100"):
        check_run(run("run", "stream_copy", "fma_peak", "launch_empty", "--device", f"sim:{device}", "-o", f"{device}.json", "-q", home=home), 0, device)
    refused = run("compare", "h100.json", "a100.json", home=home)
    check(refused.returncode == 2 and "--devices sets them side by side" in refused.stderr, f"what to do instead: {refused.stderr}")
    other = load(home / "a100.json")
    other["cases"][0].update(status="failed", status_reason="c[3] is 1, expected 2")
    other["cases"][1]["roofline"]["bound"] = "HBM"
    other["cases"].pop()
    (home / "other.json").write_text(json.dumps(other))
    done = run("compare", "h100.json", "other.json", "--devices", "--format", "json", home=home)
    check_run(done, 0, "a finding is no verdict")
    both = json.loads(done.stdout)
    check((both["other_bounds"], both["only_a"], both["only_b"]) == (1, 1, 0), f"{both}")
    check(both["cases"][0]["speed"] is None and both["cases"][0]["reason"] == "B: failed: c[3] is 1, expected 2", f"{both['cases'][0]}")
    h100, a100 = load(home / "h100.json")["cases"][1], other["cases"][1]
    check(h100["work"]["flops"] != a100["work"]["flops"], "each has work for its own compute units")
    rates = [case["throughput"]["flops_per_s"] for case in (h100, a100)]
    check(abs(both["speed"] - rates[1] / rates[0]) < 1e-3, f"of the one that both have: {both['speed']} {rates}")
    check(both["cases"][1]["b_share"] == a100["roofline"]["fraction_of_ceiling"], "of its own ceiling")
    check({ceiling["ceiling"]: round(ceiling["ratio"], 2) for ceiling in both["ceilings"]} == {"memory": 0.61, "vector_f32": 0.29}, f"{both['ceilings']}")
    try:
        import jsonschema
        jsonschema.validate(both, json.loads((ROOT / "configs/schema/devices.schema.json").read_text()))
    except ImportError:
        print("SKIPPED: python3-jsonschema is not installed")
    text = run("compare", "h100.json", "other.json", "--devices", home=home).stdout
    check("B is 0.292 times as fast; another bound in 1; without a verdict" in text and "only A has 1 more case, only B 0" in text, text)
    for extra, words in ((["--format", "junit"], "no verdict"), (["--filter", "nothing"], "no case in common that the filter leaves")):
        done = run("compare", "h100.json", "a100.json", "--devices", *extra, home=home)
        check(done.returncode == 2 and words in done.stderr, f"{extra}: {done.stderr}")


if __name__ == "__main__":
    main(make_kernels, trials, one_timer, merged_by_hand, trials_refused, ab_kernels, ab_objects, ab_compilers, interrupted, aa, deterministic,
         one_against_one, bad_input, findings, said_once, side_by_side)
