# SPDX-License-Identifier: MIT
"""The history of the program: runs made from one real result go in, verdicts and exit codes come out; and what bad input gets."""
import copy
import json
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess

import runs
from harness import PATIENCE_S, PROGRAM, ROOT, check, check_dashboard, check_run, environment, load, main, metric_families, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

DB = "data/history.db"


class Bench:
    """One history in a home of its own."""

    def __init__(self, home, base):
        self.home, self.base = home, base

    def fresh(self):
        shutil.rmtree(self.home / "data", ignore_errors=True)
        return self

    def history(self, *args, **extra):
        return run("history", *args, home=self.home, **extra)

    def add(self, run, *args, **how):
        name = runs.write(self.home, runs.make(self.base, run, **how))
        return self.history("add", name, *args)

    def add_all(self, wanted, **how):
        for run in wanted:
            check_run(self.add(run, **how), 0, f"add run {run}")

    def gate(self, code, what, stdout=None, *args):
        done = self.history("gate", *args)
        check_run(done, code, what, stdout=stdout)
        return done

    def dump(self):
        """All that the database holds; None when it is not there."""
        if not (self.home / DB).exists():
            return None
        with sqlite3.connect(f"file:{self.home / DB}?mode=ro", uri=True) as db:
            return list(db.iterdump())


def validated(bench, done, what):
    gate = json.loads(done.stdout)
    if jsonschema:
        schema = load(ROOT / "configs/schema/gate.schema.json")
        jsonschema.Draft202012Validator.check_schema(schema)
        found = [f"/{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in jsonschema.Draft202012Validator(schema).iter_errors(gate)]
        check(not found, f"{what}: {found[:3]}")
    again = bench.history("gate", "--format", "json")
    check(again.stdout == done.stdout, f"{what}: the second gate says something else")
    return gate


def findings(gate):
    return {(s["finding"], s["id"].split(";")[0]) for s in gate["series"] if s["finding"]}


def quiet_runs(bench):
    bench.fresh().add_all(range(3))
    bench.gate(0, "three runs", ["LEARNING: 12 learning", "from its seventh run on"])
    bench.gate(4, "three runs, strictly", "LEARNING", "--strict")
    bench.add_all(range(3, 10))
    done = bench.gate(0, "ten quiet runs", "NO REGRESSION: 12 quiet", "--strict")
    check("\n\n\n" not in done.stdout and not any(l.endswith(" ") for l in done.stdout.splitlines()), "the table has stray blanks")
    gate = validated(bench, bench.history("gate", "--format", "json"), "gate of quiet runs")
    check(not findings(gate) and gate["summary"]["quiet"] == 12 and gate["runs"] == 10, f"quiet runs: {gate['summary']}")
    check(gate["run_id"].startswith("00000009-"), "run_id is not the previous run's")


def one_step(bench):
    bench.fresh().add_all(range(10))
    bench.add_all([10], ratios={1024: 1.05})
    bench.gate(0, "one run of +5 %", ["stream_copy n=1Ki  TENTATIVE", "NO CONFIRMED REGRESSION: 1 tentative, 11 quiet", "--confirm SUITE"])
    bench.gate(4, "one run of +5 %, strictly", None, "--strict")
    bench.add_all([11], ratios={1024: 1.05})
    bench.gate(1, "two runs of +5 %", ["stream_copy n=1Ki  SLOWER", "since 2026-03-11", "REGRESSION: 1 slower, 11 quiet",
                                        "next: rooftile history show 'stream_copy n=1Ki'", "environment, 090909090909"[:11]])
    gate = validated(bench, bench.history("gate", "--format", "json"), "gate of a step")
    check(findings(gate) == {("confirmed", "stream_copy/n=1024")}, f"a step: {findings(gate)}")
    worst = gate["series"][0]
    check(0.03 < worst["shift"] < 0.07 and worst["slower"] and worst["since"] == runs.when(10) and worst["commits"] == "090909090909..101010101010"
          and worst["attribution"] == "environment" and abs(worst["baseline"] / 1e6 - 1) < 0.01, f"a step: {worst}")
    check(gate["summary"]["exit_code"] == 1, "exit_code in the JSON")
    bench.add_all([12, 13], ratios={1024: 1.05})
    metrics = metric_families(bench.gate(1, "metrics", None, "--format", "openmetrics").stdout)
    check([value for _, value in metrics["rooftile_gate_regression"]] == [1], "metrics: the verdict")
    check_dashboard("rooftile_gate", metrics)
    (labels, change), = metrics["rooftile_gate_change_ratio"]
    check(0.04 < change < 0.06 and labels["worse"] == "1" and "n=1024" in labels["case"], f"metrics: what changed, and how much: {labels}")
    bench.gate(1, "four runs of +5 %", ["stream_copy n=1Ki  STILL SLOWER", "since 2026-03-11", "1 still slower"])
    shown = bench.history("show")
    check_run(shown, 0, "show", stdout=["case ", "last 14 runs", "open: +5."])
    widths = {len(line.split("batch")[0]) for line in shown.stdout.splitlines() if "batch" in line}
    check(len(widths) == 1, f"show: columns at {widths}")
    check_run(bench.history("show", "stream_copy n=1Ki"), 0, "show one", stdout=["stream_copy/n=1024;", "% from here on (open)", "2026-03-14T02:00:00"])
    page = bench.history("show", "stream_copy n=1Ki", "--format", "html").stdout
    check('data-picture="series-1"' in page and page.count('class="corridor"') > 1 and re.search(r'<text class="quiet"[^>]*>\+5\.\d %</text>', page),
          "a page: the series with its bands and where it moved")
    check("\u2581" not in page and page.count(">stream_copy n=1Ki<") < 4, "a page: what the picture shows is not said again")
    verdict = bench.gate(1, "the verdict as a page", None, "--format", "html").stdout
    check(re.search(r"still slower", verdict, re.I) and 'data-picture="series-1"' in verdict and 'class="mark bad">REGRESSION<' in verdict, "gate: a page with its verdict and how it went")
    site(bench)
    check_run(bench.history("accept", "*n=1024;*"), 2, "accept without a reason", stderr="--reason")
    check_run(bench.history("accept", "--reason", "more accurate, #7"), 0, "accept", stderr="baseline of 1 series")
    bench.gate(0, "after accept", "1 learning")
    check_run(bench.history("accept", "--reason", "x"), 2, "accept again", stderr="nothing is open or missing")
    check_run(bench.history("check"), 0, "check", stdout="the history is sound")


def site(bench):
    """A folder of pages: the index leads to each, and each says what the commands say."""
    done = run("report", "--history", DB, "-o", "site", home=bench.home)
    check_run(done, 0, "a site", stderr="1 page: site/index.html")
    index = (bench.home / "site/index.html").read_text()
    pages = re.findall(r'<a href="([\w.-]+\.html)"', index)
    check(len(pages) == 1 and pages[0].startswith("nightly-") and "REGRESSION" in index, f"the index: {pages}")
    leads = '<a class="index" href="index.html"'
    check(leads in (bench.home / "site" / pages[0]).read_text() and leads not in index, "a page leads back to the index")
    page = (bench.home / "site" / pages[0]).read_text()
    check("STILL SLOWER" in page and "<svg" in page and "stream_copy n=1Ki" in page, "a page has the verdict and the series")
    check("n=1Ki 5." in index and "slower since 2026-03-11 (environment)" in index and re.search(r"<td>none</td>|<td>none<", index), "the index has the last change, and no run is missing")
    check(max(map(len, pages)) < 80, f"short addresses: {pages}")
    check(all(text.count("Content-Security-Policy") == 1 for text in (index, page)), "nothing but its own script runs in a page")
    for args, code, words in ((["--history", DB], 2, "say with -o where"), (["--history", "none.db", "-o", "x"], 2, "there is no history none.db"),
                              (["--history", DB, "-o", "x", "--format", "csv"], 2, "a site is pages"), ([], 2, "expects at least 1 argument (RESULT...), got 0"),
                              (["--history", DB, "missing", "-o", "x"], 2, "folders of a fleet's results")):
        check_run(run("report", *args, home=bench.home), code, f"report {args}", stderr=words)


def news(bench):
    """Series of a kernel that moved together are one row; an improvement stays in the verdict for two weeks; missing nights are counted."""
    bench.fresh().add_all(range(10))
    bench.add_all([12, 13], ratios={1024 * k: 0.9 for k in (1, 2)})
    done = bench.gate(0, "two are faster", ["stream_copy, 2 of 12  FASTER", "-10 % since 2026-03-13", "stream_copy, 2 of 12: 1", "% faster since"])
    check(done.stdout.splitlines()[-1].startswith("NO REGRESSION: 2 faster, 10 quiet"), f"the verdict is the last line: {done.stdout}")
    bench.add_all(range(14, 21), ratios={1024 * k: 0.9 for k in (1, 2)})
    bench.gate(0, "and days later", ["stream_copy, 2 of 12  FASTER", "2 still faster, 12 quiet"])
    gate = validated(bench, bench.history("gate", "--format", "json"), "gate of improvements")
    check(findings(gate) == {("improved", "stream_copy/n=1024"), ("improved", "stream_copy/n=2048")}, f"improvements: {findings(gate)}")
    check_run(run("report", "--history", DB, "-o", "site", home=bench.home), 0, "a site")
    index = (bench.home / "site/index.html").read_text()
    check('<span class="doubt">2</span>' in index and "NO REGRESSION" in index, "two nights are missing")
    page = bench.history("gate", "--format", "html").stdout
    check(page.count('data-picture="series-') == 1 and 'href="#series-1"' in page, "a picture of what changed, none of quiet series")
    bench.add_all(range(21, 33), ratios={1024 * k: 0.9 for k in (1, 2)})
    bench.gate(0, "weeks later", "NO REGRESSION: 12 quiet")


def suite_step(bench):
    bench.fresh().add_all(range(10))
    bench.add_all([10, 11], ratios=1.03)
    check_run(bench.history("gate", "--json", "gate.json"), 1, "table and JSON", stdout="all memory cases  SLOWER")
    gate = validated(bench, bench.gate(1, "the whole suite, +3 %", None, "--format", "json"), "gate of a suite step")
    check(findings(gate) == {("confirmed", "suite:memory")}, f"a suite step: {findings(gate)}")
    check(load(bench.home / "gate.json") == gate, "--json is not --format json")
    bench.add_all([12, 13], ratios=1.03)
    bench.gate(1, "the whole suite, later", ["all memory cases  STILL SLOWER", "1 still slower, 12 quiet"])
    check_run(bench.history("show"), 0, "show of a suite step", stdout="all memory cases: open: +")
    check_run(bench.history("accept", "suite:memory", "--reason", "firmware"), 0, "accept a class")
    bench.gate(0, "the whole suite, accepted", "NO REGRESSION: 12 quiet")


def without(*sizes):
    def change(result):
        result["cases"] = [c for c in result["cases"] if c["params"]["n"] not in sizes]
    return change


def fail(result):
    case = next(c for c in result["cases"] if c["params"]["n"] == 2048)
    case["verification"] |= {"status": "fail"}
    case |= {"status": "failed", "status_reason": "c[17] is 3.5, expected 4"}


def skip(result):
    case = next(c for c in result["cases"] if c["params"]["n"] == 2048)
    case |= {"status": "failed", "status_reason": "x" * 300 + "\x1b[31m\nsecond <b>line</b> | cell"}


def missing_and_broken(bench):
    bench.fresh().add_all(range(8))
    bench.add_all([8], change=without(4096))
    bench.gate(1, "a missing case", ["stream_copy n=4Ki  MISSING", "not in this run", "1 missing"])
    check_run(bench.history("accept", "stream_copy n=4Ki", "--reason", "retired"), 0, "accept a missing case")
    bench.gate(0, "a missing case, accepted", "NO REGRESSION: 11 quiet")
    check_run(bench.history("show"), 0, "show of a retired case", stdout="accepted as gone")
    bench.add_all([9], change=lambda r: (without(4096)(r), fail(r)))
    done = bench.gate(1, "a wrong result", ["stream_copy n=2Ki  BROKEN", "verification: c[17] is 3.5, expected 4"])
    check("accept" not in done.stdout, "the gate advises to accept a wrong result")
    bench.add_all([10], change=skip)
    done = bench.gate(1, "a hostile reason", "BROKEN")
    check("\x1b" not in done.stdout and all(len(l) < 400 for l in done.stdout.splitlines()), "the gate prints control characters or endless lines")
    done = bench.gate(1, "a hostile reason in markdown", None, "--format", "markdown")
    check("<b>" not in done.stdout and all(l.replace("\\|", "").count("|") in (0, 5) for l in done.stdout.splitlines()), f"markdown cells:\n{done.stdout}")
    junit = bench.gate(1, "junit", ["<testsuite name=", "failures=\"1\""], "--format", "junit")
    import xml.etree.ElementTree
    tree = xml.etree.ElementTree.fromstring(junit.stdout)
    check(len(list(tree.iter("testcase"))) == 12 and len(list(tree.iter("failure"))) == 1, "junit counts")
    families = metric_families(bench.gate(1, "openmetrics", None, "--format", "openmetrics").stdout)
    check({labels["state"]: value for labels, value in families["rooftile_gate_series"]}["broken"] == 1, "metrics: how many findings")
    check("rooftile_gate_change_ratio" not in families, "metrics: what is broken has not changed by a number")
    validated(bench, bench.history("gate", "--format", "json"), "gate with a failure")


def new_kernel(result):
    result["environment"]["host"]["kernel"] = "9.9.9"
    result["environment"]["fingerprint"] = "e" * 64


def environment_change(bench):
    bench.fresh().add_all(range(10))
    check_run(bench.add(10, ratios=1.1, change=new_kernel), 0, "add", stderr="the environment changed since the run before")
    bench.gate(0, "another kernel", ["the environment changed, so every series starts anew: kernel 9.9.9 (was ", "the median", "LEARNING"])
    bench.gate(4, "another kernel, strictly", None, "--strict")
    gate = validated(bench, bench.history("gate", "--format", "json"), "gate of another environment")
    check(gate["environment_changed"] and abs(gate["environment_shift"] - 0.1) < 0.01, f"environment: {gate['environment_shift']}")
    bench.add_all(range(11, 18), ratios=1.1, change=new_kernel)
    bench.gate(0, "a week later", "NO REGRESSION: 12 quiet", "--strict")
    check(">environment</text>" in bench.history("show", "stream_copy n=1Ki", "--format", "html").stdout, "a page: where the environment changed")


def other_timer(bench):
    def change(result):
        case = next(c for c in result["cases"] if c["params"]["n"] == 2048)
        case["measurement"]["timer"] = "event"
        case["id"] = case["id"].replace("timer=batch", "timer=event")
    bench.fresh().add_all(range(8))
    bench.add_all([8], change=change)
    bench.gate(0, "another timer", ["stream_copy n=2Ki  TIMER", "timed by event this run, by batch before"])
    bench.gate(4, "another timer, strictly", None, "--strict")


def confirmation(bench):
    """The suite is the real kernel, whose true times are far from the made-up ones: all trials of the case must be in the run then."""
    suite = {"name": "again", "summary": "the cases of the runs", "cases": [{"kernel": "stream_copy", "sweep": {"n": [1024 * k for k in range(1, 13)]},
             "measure": {"min_time": "1 ms", "max_time": "5 ms", "timer": "batch"}}]}
    (bench.home / "again.json").write_text(json.dumps(suite))
    bench.fresh().add_all(range(8))
    check_run(bench.history("gate", "--confirm", "again.json"), 0, "nothing to confirm", stdout="NO REGRESSION")
    bench.add_all([8], ratios={1024: 1.2})
    done = bench.history("gate", "--confirm", "again.json", "--trials", "2", "--device", "cpu")
    check("measuring 1 case again" in done.stderr, f"confirm:\n{done.stdout}{done.stderr}")
    with sqlite3.connect(bench.home / DB) as db:
        rows = db.execute("SELECT length(p.trials) / 8, remeasured FROM point p JOIN run n ON n.id = run WHERE remeasured").fetchall()
    check(rows == [(5, 2)], f"confirmed points: {rows}\n{done.stderr[-1500:]}")
    part = bench.base["environment"]["device"]["name"][:8].upper()
    done = bench.history("gate", "--confirm", "again.json", "--trials", "1", "--device", part, ROOFTILE_DEVICE="cpu:threads=1")
    check("measuring 1 case again" in done.stderr, f"confirm on a part of a name:\n{done.stdout}{done.stderr}")
    check_run(bench.history("check"), 0, "check after confirm")
    bench.fresh().add_all(range(8))
    bench.add_all([8], ratios={1024: 1.2})
    check_run(bench.history("gate", "--confirm", "no-such-suite"), 2, "an unknown suite", stderr="no-such-suite")


def confirmed_at_once(bench):
    """What is as slow when it is measured again is red in its first run: the history has a thousandth of the least real
    time, so that no noise of a busy machine is as large. Some of the others can be stalls."""
    least = min(c["stats"]["median_ns"] for c in load(bench.home / "base.json")["cases"])
    fast = Bench(bench.home, copy.deepcopy(bench.base))
    for case in fast.base["cases"]:
        runs.set_time(case, least * 0.001, [1, 1, 1])
    fast.fresh().add_all(range(8))
    fast.add_all([8], ratios={1024: 1000})
    fast.gate(0, "a thousand times as slow, once", "stream_copy n=1Ki  TENTATIVE")
    check_run(fast.history("gate", "--confirm", "again.json", "--trials", "3", "--device", "cpu"), 1, "and when it is measured again",
              stdout=["stream_copy n=1Ki  SLOWER", "REGRESSION"], stderr="measuring 1 case again")
    fast.gate(1, "and the next gate says the same", "stream_copy n=1Ki  SLOWER")
    fast.fresh().add_all(range(8))
    fast.add_all([8], ratios={1024: 1000}, change=other_code)
    done = fast.history("gate", "--confirm", "again.json", "--trials", "1", "--device", "cpu")
    check_run(done, 2, "the kernel that was measured is not there any more", stderr=["W014", "nothing that was measured again"])
    (bench.home / "none.json").write_text(json.dumps({"name": "none", "cases": [{"kernel": "stream_copy", "params": {"n": 1024}, "measure": {"timer": "batch"}}]}))
    check_run(fast.history("gate", "--confirm", "none.json", "--device", "cpu", ROOFTILE_KERNEL_COMPILER="/nowhere", ROOFTILE_CACHE=str(bench.home / "no")), 3,
              "nothing can be measured again", stderr="nothing could be measured again")


def other_code(result):
    for case in result["cases"]:
        case["identity"]["code"] = "0123456789abcdef"


def changed_inputs(bench):
    def change(result):
        case = next(c for c in result["cases"] if c["params"]["n"] == 2048)
        case["identity"]["inputs"] = "0123456789abcdef"
    bench.fresh().add_all(range(8))
    bench.add_all([8], ratios={2048: 1.5}, change=change)
    bench.gate(0, "other input data", ["stream_copy n=2Ki  CHANGED", "input data changed: it starts anew", "1 changed"])
    bench.gate(4, "other input data, strictly", None, "--strict")
    validated(bench, bench.history("gate", "--format", "json"), "gate of other input data")
    check_run(bench.history("show", "stream_copy n=2Ki"), 0, "show of other input data", stdout="input data changed: it starts anew")


def exports(bench):
    bench.fresh().add_all(range(3))
    done = bench.history("export")
    check_run(done, 0, "export", stdout="started_at,channel,device,arch,kind,case_id,timer,mode,class,value,unit,better,status,flags,git_commit,run_id")
    check(len(done.stdout.splitlines()) == 1 + 36, "lines of the export")
    done = bench.history("export", "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    check(len(rows) == 36 and all(r["unit"] == "ns" and r["value"] > 9e5 for r in rows), f"jsonl: {rows[:1]}")
    with sqlite3.connect(bench.home / DB) as db:
        check(sorted(v for (v,) in db.execute("SELECT value FROM measurements")) == sorted(r["value"] for r in rows), "jsonl is not exact")
    check_run(bench.history("prune", "--keep", "2"), 0, "prune", stderr="1 run was dropped")
    check_run(bench.history("prune"), 2, "prune without a number", stderr="--keep")


def refused(bench, what, code, words, *args, **extra):
    """The message, and nothing changed."""
    before = bench.dump()
    check_run(bench.history(*args, **extra), code, what, stderr=words)
    check(bench.dump() == before, f"{what}: the database changed")


def bad_runs(bench):
    home = bench.home
    bench.fresh()
    refused(bench, "gate without a history", 2, "there is no history", "gate")
    refused(bench, "show without a history", 2, "'rooftile history add' makes one", "show")
    refused(bench, "a verb that there is not", 2, "did you mean 'gate'?", "gat")
    bench.add_all(range(3))
    good = runs.make(bench.base, 3)

    def bad(what, words, change, code=2):
        result = copy.deepcopy(good)
        change(result)
        refused(bench, what, code, words, "add", runs.write(home, result))

    def at(time):
        return lambda r: r["run"].update(started_at=time)

    bad("the same run twice", "in the history already", lambda r: r["run"].update(id=runs.make(bench.base, 1)["run"]["id"]))
    bad("a clock that went backwards", "a clock went backwards, or the result is old (--backfill", at("2026-02-01T02:00:00Z"))
    bad("a future date", "in the future: a clock is wrong", at("2190-01-01T00:00:00Z"))
    bad("an interrupted run", "the run is interrupted", lambda r: r["run"].update(status="interrupted"))
    bad("no case", "a run without results is no run", lambda r: r.update(cases=[]))
    bad("only failures", "a run without results is no run", lambda r: [c.update(status="failed", status_reason="no") for c in r["cases"]])
    bad("a profile", "--profile is no measurement", lambda r: r["run"]["labels"].update(profile="not a measurement"))
    bad("another schema", "schema", lambda r: r.update(schema_version="1.1.0"))
    bad("a time edited by hand", "edited or is corrupt", lambda r: r["cases"][0]["trials"][1].update(median_ns=r["cases"][0]["trials"][1]["median_ns"] * 1.0005))
    bad("NaN", "", lambda r: r["cases"][0]["stats"].update(median_ns=float("nan")))
    (home / "run.json").write_text(json.dumps(good)[:5000])
    refused(bench, "a truncated file", 2, "run.json", "add", "run.json")
    refused(bench, "a file that is not there", 2, "nowhere.json", "add", "nowhere.json")
    done = run("run", "stream_copy", "--device", "sim:mi300x", "-o", "sim.json", home=home)
    check_run(done, 0, "a prediction")
    refused(bench, "a prediction", 2, "a prediction is no run", "add", "sim.json")
    refused(bench, "another channel", 2, "has no run in the channel 'weekly'", "gate", "--channel", "weekly")
    refused(bench, "another device", 2, "of a device 'MI300X'", "gate", "--device", "MI300X")
    refused(bench, "accept what is not there", 2, "no series matches", "accept", "gemm*", "--reason", "x")
    refused(bench, "an unknown format", 2, "table, json, markdown or junit", "gate", "--format", "csv")
    bench.add_all([3])


def bad_files(bench):
    home, db = bench.home, bench.home / DB
    bench.fresh().add_all(range(3))
    sound = db.read_bytes()

    def broken(what, words, content, *args, code=2):
        db.write_bytes(content)
        for verb in (["gate"], ["show"], ["add", "run.json"]):
            done = bench.history(*verb)
            check_run(done, code, f"{what}: {verb[0]}", stderr=words)
        check(db.read_bytes() == content, f"{what}: the file changed")

    runs.write(home, runs.make(bench.base, 3))
    broken("not an SQLite file", "not an SQLite file", b"{}\n" * 1000)
    broken("an empty file's beginning", "not an SQLite file", b"\0" * 100 + sound[100:])
    other = home / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE recipes (name)")
    broken("another program's file", "no history of rooftile", other.read_bytes())
    newer = bytearray(sound)
    newer[60:64] = (77).to_bytes(4, "big")
    broken("a newer schema", "schema version 77", bytes(newer))
    damaged = bytearray(sound)
    for page in range(2, len(sound) // 4096, 1):
        damaged[page * 4096:page * 4096 + 64] = b"\xa5" * 64
    db.write_bytes(bytes(damaged))
    for verb in (["gate"], ["show"], ["add", "run.json"]):
        check_run(bench.history(*verb), 2, f"damaged pages: {verb[0]}", stderr="damaged")
    done = bench.history("check")
    check(done.returncode in (1, 2), f"check of damaged pages: exit {done.returncode}")
    db.write_bytes(sound[:len(sound) // 2])
    check_run(bench.history("gate"), 2, "a truncated history", stderr="damaged")
    db.write_bytes(sound)
    check_run(bench.history("add", "run.json"), 0, "the sound file again")


def flipped_bits(bench):
    """What is exported from a damaged history is what was added: the other rows are named. An older one has no sums, and is read."""
    home, db, chance = bench.home, bench.home / DB, random.Random(9)
    bench.fresh().add_all(range(4))
    with sqlite3.connect(db) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
        check(connection.execute("SELECT count(*) FROM point WHERE sum IS NULL").fetchone() == (0,), "each row has a sum")
    sound, rows = db.read_bytes(), set(bench.history("export").stdout.splitlines())
    told = 0
    for _ in range(60):
        at = chance.randrange(4096, len(sound))
        db.write_bytes(sound[:at] + bytes([sound[at] ^ 1 << chance.randrange(8)]) + sound[at + 1:])
        done = bench.history("export")
        check(done.returncode in (0, 2), f"byte {at}: exit {done.returncode}: {done.stderr}")
        check(set(done.stdout.splitlines()) <= rows, f"byte {at}: {set(done.stdout.splitlines()) - rows}")
        told += "is damaged and does not count" in done.stderr
    check(told, f"damaged rows are named: {told}")
    db.write_bytes(sound)
    with sqlite3.connect(db) as connection:
        connection.execute("UPDATE point SET value = 2 * value WHERE run = 2")
        connection.execute("UPDATE point SET sum = 1 WHERE run = 3")
    done = bench.history("check")
    check_run(done, 1, "check", stdout="in run 3 is damaged and does not count")
    check("in run 2" not in done.stdout, "what another program changed counts")
    bench.fresh().add_all(range(4))
    with sqlite3.connect(db) as connection:
        for table in ("device", "environment", "identity", "run", "series", "point", "accepted", "alarm"):
            connection.executescript(f"DROP TRIGGER {table}_changes; DROP INDEX {table}_no_sum; ALTER TABLE {table} DROP COLUMN sum")
        connection.execute("PRAGMA user_version = 4")
    check(set(bench.history("export").stdout.splitlines()) == rows, "a history without sums is read")
    check_run(bench.history("prune", "--keep", "9"), 0, "which is written to")
    with sqlite3.connect(db) as connection:
        check(connection.execute("SELECT count(*) FROM point WHERE sum IS NULL").fetchone() == (0,), "gets them")


def locked(bench):
    bench.fresh().add_all(range(7))
    writer = sqlite3.connect(bench.home / DB, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    runs.write(bench.home, runs.make(bench.base, 7))
    for verb in (["add", "run.json"], ["gate"], ["accept", "*", "--reason", "x"], ["prune", "--keep", "2"]):
        check_run(bench.history(*verb, ROOFTILE_BUSY_MS="50"), 3, f"a locked history: {verb[0]}", stderr="another program has been writing to it")
    check_run(bench.history("show"), 0, "show while another program writes", stdout="7 runs")
    writer.execute("ROLLBACK")
    writer.close()
    check_run(bench.history("add", "run.json"), 0, "after the lock")
    bench.gate(0, "after the lock", "NO REGRESSION")


def predictions(bench):
    """The median error of each run's predictions, below the cases; a run without any has none."""
    def off_by(errors):
        def change(result):
            for case, error in zip(result["cases"], errors):
                case["prediction"] = (case.get("prediction") or {}) | {"time_ns": case["stats"]["median_ns"] * (1 + error), "error_rel": error}
            for case in result["cases"][len(errors):]:
                case["prediction"] = {"error_rel": None}
        return change
    bench.fresh().add_all([0], change=off_by([]))
    check("predictions" not in bench.history("show").stdout, "no prediction, no figure")
    bench.add_all([1], change=off_by([0.1, -0.3, 0.2]))
    check_run(bench.history("show"), 0, "the error of predictions", stdout="median error of predictions: 20.0 % in this run")
    bench.add_all([2], change=off_by([]))
    check_run(bench.history("show"), 0, "none any more", stdout="median error of predictions: none in this run")
    with sqlite3.connect(bench.home / DB) as db:
        stored = [error for error, in db.execute("SELECT prediction_error FROM run ORDER BY started")]
    check(stored[0] is None and abs(stored[1] - 0.2) < 1e-9 and stored[2] is None, f"stored: {stored}")


def full_disk(bench):
    bench.fresh().add_all(range(7))
    before = bench.dump()
    runs.write(bench.home, runs.make(bench.base, 7))

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    done = subprocess.run([str(PROGRAM), "history", "add", "run.json"], env=environment(bench.home), cwd=bench.home, capture_output=True,
                          text=True, preexec_fn=limit, timeout=PATIENCE_S)
    check_run(done, 3, "a full disk", stderr="nothing was changed")
    check(bench.dump() == before, "a full disk: the database changed")
    check_run(bench.history("add", "run.json"), 0, "after the full disk")


def every_part(home):
    bench = Bench(home, runs.measure(home))
    for part in (quiet_runs, one_step, news, suite_step, missing_and_broken, environment_change, other_timer, changed_inputs, confirmation, confirmed_at_once, exports, bad_runs,
                 bad_files, flipped_bits, locked, full_disk):
        part(bench)


def schema(home):
    done = run("schema", "gate", home=home)
    check(done.stdout == (ROOT / "configs/schema/gate.schema.json").read_text(), "schema gate is not configs/schema's")


if __name__ == "__main__":
    main(every_part, schema)
