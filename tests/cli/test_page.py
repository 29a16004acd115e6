# SPDX-License-Identifier: MIT
"""The HTML report: pages of a run of the processor, of the sim device, of two results, of thousands of cases and of hostile names,
looked at by a browser (tests/page). Skipped, with the reason, where there is no browser or no Node."""
import copy
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

from harness import PATIENCE_S, QUICK, ROOT, check, load, main, run, skip
from runs import measured, stretch

MODULES = ROOT / "build/page"
HOSTILE = ["<img src=x onerror=pwned=1>", "\"><script>pwned=1</script>", "</script><b>", "\u202eright to left\u2066", "a'b\"c`d", "start" + "x" * 9990 + "stop!"]


def browser():
    return next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name)) and not is_snap(found)), None)


def is_snap(path):
    return "snap" in str(pathlib.Path(path).resolve()) or b"snap" in pathlib.Path(path).read_bytes()[:2000]


def missing():
    if not shutil.which("node"):
        return "there is no Node"
    if not (MODULES / "node_modules/playwright-core").is_dir() or not (MODULES / "node_modules/axe-core").is_dir():
        return f"playwright-core and axe-core are not in {MODULES}: scripts/install_deps --tests"
    return None if browser() else "there is no chromium, or it is a snap, which a test cannot drive"


def pages(home):
    suite = {"name": "page", "defaults": {"measure": QUICK},
             "cases": [{"kernel": "stream_triad", "sweep": {"n": "64Ki..4Mi*2"}}, {"kernel": "pointer_chase", "params": {"steps": 64}, "sweep": {"footprint": "4Ki..128Ki*2"}}],
             "kpis": [{"name": "triad", "of": "fraction", "method": "max", "cases": ["stream_triad/n=4194304*"]}]}
    (home / "page.json").write_text(json.dumps(suite))
    folder = home / "pages"
    folder.mkdir()
    for name, arguments in {"cpu": ["page.json", "--device", "cpu"], "sim": ["page.json", "--device", "sim:mi300x"], "sim2": ["page.json", "--device", "sim:mi300x", "--seed", 2],
                            "other": ["page.json", "--device", "sim:h100"]}.items():
        done = run("run", *arguments, "-o", f"{name}.result.json", home=home)
        check((home / f"{name}.result.json").exists(), f"{name}: {done.stderr[-400:]}")
    for name, results in {"cpu": ["cpu"], "sim": ["sim"], "two": ["sim", "sim2"], "devices": ["sim", "other"]}.items():
        done = run("report", *(f"{r}.result.json" for r in results), "-o", folder / f"{name}.html", home=home)
        check(done.returncode == 0, f"{name}: {done.stderr}")
    upright = re.findall(r'rotate\(-90\)">([^<]*)<', (folder / "devices.html").read_text())
    check(upright == [load(home / f"{name}.result.json")["environment"]["device"]["name"] for name in ("sim", "other")], f"columns without their machines: {upright}")
    for name in ("sim", "other"):
        result = load(home / f"{name}.result.json")
        result["cases"] = [c | {"id": c["id"].replace(";mode=", f";copy={k};mode=")} for k in range(45) for c in result["cases"][:1]]
        (home / f"many_{name}.json").write_text(json.dumps(result))
    many = run("report", "many_sim.json", "many_other.json", "--format", "html", home=home).stdout
    check("The first 40 cases that several machines have are drawn, 5 more are not." in many, "rows that are not drawn")
    heads = re.findall(r'<th scope="col"[^>]*>(?:<button[^>]*>)?([^<]*)<', (folder / "sim.html").read_text())
    check(heads.count("predicted") == 1 and "80 % interval" in heads and "\u00b195 %" not in heads, f"a prediction and its interval stand once: {heads}")
    check("more are not" not in (folder / "devices.html").read_text(), "all rows are drawn")
    two = (folder / "two.html").read_text()
    check('data-picture="intervals"' not in two, "bars of cases of which nothing is known")
    check(len(re.findall(r"<th scope=\"row\">triad</th>(<td class=n>[\d.]+ %){2}", two)) == 1, "a share is a percentage in a comparison, too")
    suites(home, folder)
    again = run("report", "sim.result.json", "--format", "html", home=home)
    check(again.stdout == (folder / "sim.html").read_text(), "the same result gives the same page")
    return folder, load(home / "sim.result.json")


def suites(home, folder):
    """Results of several suites on one device: each has its part, called after its file."""
    shutil.copy(home / "sim.result.json", home / "first.json")
    check(run("run", "stream_copy", "gemm_matrix", "--device", "sim:mi300x", "-o", "second.json", home=home).returncode == 0, "another suite")
    done = run("report", "first.json", "second.json", "-o", folder / "suites.html", home=home)
    page = (folder / "suites.html").read_text()
    check(" \u2192</text>" in page, "what lies beyond 1000 FLOP/B is named at the edge")
    check(done.returncode == 0 and 'id="device-1">first' in page and 'id="device-2">second' in page and "machines-map" not in page, f"parts of suites: {done.stderr}")


def with_cases(home, folder, name, result, count, labels):
    """A page of `count` cases made from those there are; returns it."""
    cases = []
    for k in range(count):
        case = copy.deepcopy(result["cases"][k % len(result["cases"])])
        case["label"] = labels[k % len(labels)] if labels else f"{case['label']} {k}"
        case["id"] = case["id"].replace(";timer=", f";copy={k};timer=")
        case.pop("samples_ns", None)
        cases.append(case)
    (home / f"{name}.result.json").write_text(json.dumps(result | {"cases": cases, "derived": [], "kpis": []}))
    done = run("report", f"{name}.result.json", "-o", folder / f"{name}.html", home=home)
    check(done.returncode == 0, f"{name}: {done.stderr[-400:]}")
    return (folder / f"{name}.html").read_text()


def size(home):
    """Of 500 cases of many kernels, each measured time with digits of its own."""
    done = run("run", "norm", "gemm", "memory", "latency", "compute", "attention", "moe", "conv", "--device", "sim:mi300x", "-o", "all.json", home=home)
    check(done.returncode == 0, done.stderr[-400:])
    predicted = load(home / "all.json")
    step = len(predicted["cases"]) / 500
    predicted |= {"cases": [predicted["cases"][int(k * step)] for k in range(500)], "derived": [], "kpis": []}
    times, digits = measured(predicted), random.Random(1)
    for case in times["cases"]:
        case.pop("samples_ns", None)
        for key, (low, high) in {"min_ns": (0.8, 0.9), "p05_ns": (0.9, 0.95), "q1_ns": (0.95, 1), "q3_ns": (1, 1.05), "p95_ns": (1.05, 1.1), "max_ns": (1.1, 1.2)}.items():
            if case["stats"]:
                case["stats"][key] *= digits.uniform(low, high)
    for name, result in {"predicted": predicted, "times": times}.items():
        (home / f"{name}.json").write_text(json.dumps(result))
        page = run("report", f"{name}.json", "--format", "html", home=home).stdout
        check(page.count('<tr id="case=') == 500 and len(page.encode()) < 500000, f"500 cases {name}: {len(page.encode())} bytes")


def hostile_site(home, folder):
    """Pages of a history and of a fleet whose devices, nodes and cases have hostile names."""
    (home / "nodes").mkdir()
    result = load(home / "cpu.result.json")
    for k in range(3):
        for case, label in zip(result["cases"], HOSTILE * 3):
            case["label"] = label
        result["environment"]["device"] |= {"name": HOSTILE[0] + HOSTILE[3], "uuid": f"GPU-{k}"}
        result["run"] |= {"id": f"0000000{k}-0000-4000-8000-000000000000", "started_at": f"2026-01-0{k + 1}T00:00:00Z"}
        (home / f"nodes/{k}.json").write_text(json.dumps(result | {"run": result["run"] | {"job": {"engine": None, "id": None, "rank": 0, "world": 0, "node": HOSTILE[k],
            "local_rank": 0, "devices": 1, "started_together_ns": None}}}))
        result["environment"]["device"]["uuid"] = "GPU-0"
        (home / "one.json").write_text(json.dumps(result))
        done = run("history", "add", "one.json", "--channel", HOSTILE[3] + HOSTILE[2], home=home)
        check(done.returncode == 0, f"history: {done.stderr[-400:]}")
    done = run("report", "--history", "data/history.db", "nodes", "-o", "site", home=home)
    made = sorted((home / "site").glob("*.html")) if done.returncode == 0 else []
    check(len(made) == 3, f"a site of hostile names: {made} {done.stderr[-400:]}")
    for k, page in enumerate(made):
        shutil.copy(page, folder / f"site_{k}.html")


def rounded(data):
    """Fractions with nine digits, as pages have them."""
    if isinstance(data, dict):
        return {key: rounded(value) for key, value in data.items()}
    return [rounded(value) for value in data] if isinstance(data, list) else float(f"{data:.9g}") if isinstance(data, float) else data


def the_page_itself(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    check("default-src 'none'" in policy and "unsafe-eval" not in policy and re.search(r"script-src 'sha256-[A-Za-z0-9+/=]+'$", policy), policy)
    rows, marks = re.findall(r'<tr id="case=([^"]*)"', page), [int(n) for n in re.findall(r' data-c="(\d+)"', page)]
    check(marks and max(marks) <= len(rows) and set(marks) == set(range(1, len(rows) + 1)), f"each case has marks, each of which is a case: {sorted(set(marks))} of {len(rows)}")
    check(re.search(r'<g data-s="\d+" data-l="HBM">', page) and re.search(r'<g data-k="0">', page), "ceilings and the legend can be chosen")
    places = [page.index(words) for words in ('<div class="verdict doubt">', 'class="tiles"', ">Where time can be won</h2>", 'data-picture="roofline"', ">All cases</h2>")]
    check(places == sorted(places), f"the verdict, key figures, time to win, pictures, then all cases: {places}")
    check(all(re.search(rf'<details id="{name}"><summary>', page) for name in ("ceilings", "environment")), "what is read once is folded")
    check(len(re.findall(r"<script>", page)) == 1, "one script")
    check(not re.search(r'\b(src|href)="(?!#)', page), "nothing is fetched")


def pictures(home):
    for name in ("roofline", "kernels", "curve-1"):
        done = run("report", "sim.result.json", "--format", "svg", "--picture", name, home=home)
        check(done.returncode == 0 and done.stdout.startswith("<?xml") and "xmlns=" in done.stdout and "<title" in done.stdout, f"{name}: {done.stderr}")
    done = run("report", "sim.result.json", "--format", "svg", "--picture", "nothing", home=home)
    check(done.returncode == 2 and "roofline, kernels" in done.stderr, done.stderr)
    done = run("report", "sim.result.json", "sim2.result.json", home=home)
    check(done.returncode == 2 and "--format html" in done.stderr, done.stderr)


def trace(home, result):
    """Of many kernels, those that the trace spent the most in, the longest first; the last case has the longest."""
    cases = [result["cases"][0] | {"id": f"k{k}", "kernel": f"kernel_{k}", "weight": 2, "traced_ns": 1000.0 * (k + 1)} for k in range(20)]
    (home / "traced.result.json").write_text(json.dumps(result | {"cases": cases, "derived": [], "kpis": []}))
    done = run("report", "traced.result.json", "--format", "svg", "--picture", "trace", home=home)
    named = re.findall(r">(kernel_\d+)<", done.stdout)
    check(named == [f"kernel_{k}" for k in range(19, 3, -1)], f"{named} {done.stderr}")


def heat_maps(home, result):
    """Grids of numbers and of names, up to 64 values wide; a wider one is said to be left out."""
    for columns, drawn in ((64, True), (65, False)):
        cases = [result["cases"][0] | {"id": f"k{n}{dtype}", "kernel": "grid", "params": {"n": n, "dtype": dtype}} for n in range(columns) for dtype in ("f32", "f64", "f16")]
        (home / "grid.result.json").write_text(json.dumps(result | {"cases": cases, "derived": [], "kpis": []}))
        done = run("report", "grid.result.json", "--format", "svg", "--picture", "map-1", home=home)
        check((done.returncode == 0) == drawn and (not drawn or all(f">{name}<" in done.stdout for name in ("f32", "f64", "f16", "0"))), done.stderr)
        page = run("report", "grid.result.json", "--format", "html", home=home).stdout
        check(("grid over n and dtype is not drawn: over 64 values" in page) != drawn, f"{columns} columns")


def sparse_grid(home, result):
    """Of sweeps that overlap in a grid, the grid; a sweep of what stays in one place is no curve."""
    cases = [result["cases"][0] | {"id": f"k{n}{p}", "kernel": "grid", "params": {"n": n, "p": p}} for n in range(1, 60) for p in range(4) if p == 0 or n < 8]
    (home / "sparse.result.json").write_text(json.dumps(result | {"cases": cases, "derived": [], "kpis": []}))
    svg = run("report", "sparse.result.json", "--format", "svg", "--picture", "map-1", home=home).stdout
    check(svg.count('class="h0"') == 28 and ">59<" not in svg and "few cases have are skipped" in svg, svg[-2000:])
    several = [result["cases"][0] | {"id": f"s{n}{p}", "kernel": "sweep", "label": f"sweep n={n} p={p}", "params": {"n": n, "p": p}} for p in (64, 128, 1024) for n in (1, 8, 64, 512, 4096)]
    (home / "several.result.json").write_text(json.dumps(result | {"cases": several, "derived": [], "kpis": []}))
    legend = re.findall(r">sweep p=([^<]*)<", run("report", "several.result.json", "--format", "svg", "--picture", "curve-1", home=home).stdout)
    check(legend == ["64", "128", "1024"] or legend == ["64", "128", "1Ki"], f"curves in the order of the sweep: {legend}")
    near = [result["cases"][0] | {"id": f"k{n}", "kernel": "near", "params": {"n": 1000 + n}} for n in range(8)]
    (home / "near.result.json").write_text(json.dumps(result | {"cases": near, "derived": [], "kpis": []}))
    check('data-picture="curve' not in run("report", "near.result.json", "--format", "html", home=home).stdout, "a curve of one place")
    (home / "near.result.json").write_text(json.dumps(result | {"cases": near + result["cases"], "derived": [], "kpis": []}))
    done = run("report", "near.result.json", "--format", "svg", "--picture", "nothing", home=home)
    check("curve-1" in done.stderr, f"curves are counted from 1: {done.stderr}")


def latencies(home, result):
    """Only what is swept by its footprint is drawn over footprints, with the caches that one work-item has; waves at a barrier are not."""
    chase = next(c for c in result["cases"] if c["kernel"] == "pointer_chase")
    cases = [chase | {"id": f"c{k}", "params": chase["params"] | {"footprint": 4096 << k}, "work": chase["work"] | {"footprint_bytes": 4096 << k}} for k in range(15)]
    cases += [chase | {"id": f"b{k}", "kernel": "barrier", "label": f"barrier waves={1 << k}", "params": {"waves": 1 << k}, "work": chase["work"] | {"footprint_bytes": 1024 << k}}
              for k in range(5)]
    (home / "latency.result.json").write_text(json.dumps(result | {"cases": cases, "derived": [], "kpis": []}))
    page = run("report", "latency.result.json", "--format", "html", home=home).stdout
    curves = re.findall(r'<a href="#curve-\d">([^<]*)<', page)
    check(curves == ["Latency over footprint", "barrier: Latency over waves"], f"{curves}")
    run("run", "latency", "--filter", "tlb_chase*", "--device", "sim:h100", "-o", "tlb.result.json", home=home)
    legend = set(re.findall(r">(tlb_chase [^<]*)<", run("report", "tlb.result.json", "--format", "svg", "--picture", "curve-1", home=home).stdout))
    check("tlb_chase side-by-side page=0" in legend and "tlb_chase page=4Ki" in legend, f"lines without pages say what they are: {legend}")
    svg = run("report", "latency.result.json", "--format", "svg", "--picture", "curve-1", home=home).stdout
    tick = {size: float(x) for x, size in re.findall(r'class="tick"[^>]* x="([^"]*)"[^>]*>([0-9]+ [KM]iB)<', svg)}
    edges = [float(x) for x in re.findall(r'class="boundary" x1="([^"]*)"', svg)][:2]
    low, high = tick["16 KiB"], tick["64 KiB"]
    sizes = [16 * 4 ** ((x - low) / (high - low)) for x in edges]
    bare = json.loads((home / "latency.result.json").read_text())
    bare["machine"]["levels"] = []
    (home / "bare.result.json").write_text(json.dumps(bare))
    check("Dotted lines" in svg and "Dotted lines" not in run("report", "bare.result.json", "--format", "html", home=home).stdout, "what is not there is not explained")
    check(len(sizes) == 2 and abs(sizes[0] / 32 - 1) < 0.05 and abs(sizes[1] / 4096 - 1) < 0.05, f"L1 of a CU and L2 of a die in KiB: {sizes}")


def names(home, result):
    """Names have the parameters that tell cases apart, and none that follow from another one."""
    cases = [result["cases"][0] | {"id": f"k{k}", "label": f"gemm m={k} {'hot ' if k == 1 else ''}LONG_PARAMETER=1 OTHER_PARAMETER={2 if k == 3 else 4}", "kernel": "gemm"} for k in range(6)]
    (home / "names.result.json").write_text(json.dumps(result | {"cases": cases, "derived": [], "kpis": []}))
    page = run("report", "names.result.json", "--format", "html", home=home).stdout
    rows = re.findall(r'<tr id="case=k\d/\w+"[^>]*><th>([^<]*)<', page)
    check(rows == [f"gemm m={k}" for k in range(6)], f"{rows}")
    check("unless said otherwise" not in page, "what does not vary is not explained")
    check('"col" class="n">error<' not in page, "a column that knows nothing")


def clock_held(home, result):
    """Vendor peaks stand at the clock held too, where that is lower."""
    for share, drawn in ((0.3, True), (1, False)):
        clock = share * result["machine"]["facts"]["core_hz"]
        cases = [c | {"measurement": c["measurement"] | {"core_hz": clock}} for c in result["cases"]]
        (home / "held.result.json").write_text(json.dumps(result | {"cases": cases}))
        svg = run("report", "held.result.json", "--format", "svg", "--picture", "roofline", home=home).stdout
        peaks = [float(y) for y, end in re.findall(r'class="vendor" x1="[^"]*" y1="([^"]*)" x2="[^"]*" y2="([^"]*)"', svg) if y == end]
        ticks = [float(re.search(rf'class="tick"[^>]* y="([^"]*)"[^>]*>{tick} TFLOP/s<', svg)[1]) for tick in (1, 10)]
        lower = 10 ** ((min(peaks) - max(peaks)) / (ticks[0] - ticks[1]))
        check(len(peaks) == 1 + drawn and abs(lower - share) < 0.02 and ("at the clock that cases held" in svg) == drawn, f"{share}: {peaks}, {lower}")


def documents(home, folder):
    """Pages of no result: a fleet with a slow device, a trace; and with hostile names, those of predictions and traces."""
    (home / "fleet").mkdir()
    result = load(home / "cpu.result.json")
    for k in range(8):
        device = copy.deepcopy(result)
        for n, case in enumerate(device["cases"] if k == 5 else []):
            stretch(case, 1.1 + 0.03 * n)
        device["environment"]["device"] |= {"uuid": f"GPU-{k}", "id": f"hip:{k}"}
        device["run"] |= {"id": f"0000000{k}-0000-4000-8000-000000000000", "job": {"engine": None, "id": None, "rank": 0, "world": 0, "node": "node-with-a-name", "local_rank": 0,
                                                                                "devices": 8, "started_together_ns": None}}
        (home / f"fleet/{k}.json").write_text(json.dumps(device))
    named = measured(load(home / "sim.result.json"))
    for case, label in zip(named["cases"], HOSTILE * 3):
        case["label"] = label
    (home / "named.json").write_text(json.dumps(named))
    events = [{"ph": "X", "cat": "kernel", "name": name, "ts": 9 * k, "dur": 2 + k, "pid": 0, "tid": 1, "args": {"stream": 1}} for k, name in enumerate(HOSTILE)]
    (home / "names.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    for name, arguments in {"doc_fleet": ["fleet", "fleet"], "doc_import": ["import", ROOT / "tests/data/traces/bert_mi300x.json.gz"], "site_import": ["import", "names.json"],
                            "site_predict": ["predict", "named.json", "--machine", "mi355x"], "site_explain": ["explain", "named.json"]}.items():
        done = run(*arguments, "--format", "html", home=home)
        check(done.returncode in (0, 1) and done.stdout.startswith("<!DOCTYPE html>"), f"{name}: {done.stderr[-400:]}")
        (folder / f"{name}.html").write_text(done.stdout)


def forecasts(home, folder):
    """Predictions have a picture for each machine."""
    for machines in ("mi300x", "mi300x,h100"):
        done = run("predict", "stream_triad", "--set", "n=1Mi,64Mi", "--machine", machines, "--format", "html", home=home)
        bars = re.findall(r'data-picture="forecast-(\d)"', done.stdout)
        check(done.returncode == 0 and len(bars) == len(machines.split(",")), f"{machines}: {bars} {done.stderr[-400:]}")
        check(re.search(r'class="label"[^>]*>stream_triad n=64Mi<', done.stdout), f"a bar for each case: {re.findall(r'class=.label.[^>]*>([^<]*)<', done.stdout)}")
    (folder / "doc_forecast.html").write_text(done.stdout)


def padded_name(home, result):
    """Some processors pad their names with blanks: people do not see them, keys keep them."""
    result = copy.deepcopy(result)
    result["environment"]["device"]["name"] = "A CPU   "
    (home / "padded.result.json").write_text(json.dumps(result))
    shown = {form: run("report", "padded.result.json", "--format", form, home=home).stdout for form in ("table", "html", "csv")}
    check("on A CPU, " in shown["table"] and "<title>page on A CPU</title>" in shown["html"] and "A CPU   " in shown["csv"], "a name with blanks at its end")


def nothing_known(home):
    """Rows that have a reason and no value, all of them, say the reason; what nothing is known of has no section."""
    run("run", "links", "--device", "sim:mi300x", "-o", "links.result.json", home=home)
    page = run("report", "links.result.json", "--format", "html", home=home).stdout
    check(">nothing predicted</span>" in page and "Where time can be won" not in page, "a page of nothing")
    check("none: all of its cases were skipped: the device has no peer" in page and page.count(">skipped</span>") == len(load(home / "links.result.json")["cases"]), "reasons of what has no value")
    check(re.search(r'<td class="long">(<span[^>]*>)?none: all of its', page), "a reason is words, also where it stands in the only column of numbers")


def skipped(home, result):
    """Reasons have the room of the values that are not there, others a line below the name; a part of a run says so."""
    cases = [c | {"id": f"k{k}", "status": "skipped" if k == 1 else "ok", "status_reason": "for <b> reasons" if k == 1 else ""} for k, c in enumerate(result["cases"][:3])]
    derived = {"name": "knee", "method": "knee", "kernel": "stream_triad", "group": "dtype=f32;n=65536", "x": "n", "y": "time_ns", "rows": "", "finding": "", "value": {"error": "too few"}}
    (home / "part.result.json").write_text(json.dumps(result | {"cases": cases, "derived": [derived], "kpis": [], "run": result["run"] | {"status": "interrupted"}}))
    page = run("report", "part.result.json", "--format", "html", home=home).stdout
    check(re.search(r'<td colspan="\d+" class="long"><span class="dim">skipped</span> <span class="note">for &lt;b&gt; reasons</span></tr>', page), "a reason in the room of values")
    check("<p>interrupted: the same command with --resume sim.result.json goes on</p>" in page and "knee dtype=f32 n=64Ki: none: too few" in page, "a part of a run, and a group in words")


def one_sample(home, result):
    """One sample has no spread. A long name is shown by its two ends, of whole letters."""
    result = measured(result)
    for case in result["cases"]:
        case["measurement"]["n"] = 1
        case["samples_ns"] = case["samples_ns"][:1]
    result["cases"][0]["label"] = "x" * 79 + "\u00e9" * 40
    result["cases"][1]["flags"] = ["interference"]
    (home / "one.result.json").write_text(json.dumps(result | {"derived": [], "kpis": []}))
    page = run("report", "one.result.json", "--format", "html", home=home).stdout
    check("\u00b195 %" not in page and "\u00b10 %" not in page, "a spread of one sample")
    svg = run("report", "one.result.json", "--format", "svg", "--picture", "kernels", home=home).stdout
    check("<title" in svg and "x" * 79 not in svg, "a long name in a picture")
    check('<a data-flag="interference">interference</a>' in page, "a flag leads to its cases")
    check(re.search(r"\d+ of \d+ cases? (was|were) disturbed.*: do not compare", page) and ">With interference<" not in page, "no sentence on interference")


def sizes(home, result):
    """Copies of all kernels are drawn over the size of a message, not over what memory they take."""
    cases = [result["cases"][0] | {"id": f"{kernel}{k}", "kernel": kernel, "label": f"{kernel} size={1 << k}", "params": {"size": 1024 << k}} for kernel in ("one", "two") for k in range(6)]
    (home / "sizes.result.json").write_text(json.dumps(result | {"cases": cases, "derived": [], "kpis": []}))
    page = run("report", "sizes.result.json", "--format", "html", home=home).stdout
    check(re.findall(r'<a href="#curve-\d">([^<]*)<', page) == ["Bandwidth over size"], "one picture of all sizes")


def test(home):
    folder, result = pages(home)
    the_page_itself((folder / "sim.html").read_text())
    pictures(home)
    trace(home, result)
    heat_maps(home, result)
    sparse_grid(home, result)
    latencies(home, result)
    names(home, result)
    clock_held(home, result)
    nothing_known(home)
    padded_name(home, result)
    forecasts(home, folder)
    skipped(home, result)
    sizes(home, result)
    one_sample(home, result)
    with_cases(home, folder, "hostile", result, len(HOSTILE), HOSTILE)
    hostile_site(home, folder)
    documents(home, folder)
    size(home)
    with_cases(home, folder, "many", result, 5000, None)
    svg = run("report", "many.result.json", "--format", "svg", "--picture", "roofline", home=home).stdout
    places = re.findall(r"M([^m]*)m", re.search(r'class="mark s0" d="([^"]*)"', svg)[1])
    check(800 < len(places) < 1300 and len(set(places)) == 7, f"of 2,700 marks of seven cases some of all are drawn: {len(places)} at {len(set(places))} places")
    check(svg.count('class="mark s0"') == 2, "marks are one path, and one of the legend")
    why = missing()
    if why:
        skip(f"no browser looked at the pages: {why}")
    done = subprocess.run(["node", str(ROOT / "tests/page/test_page.mjs"), str(MODULES), browser(), str(folder)], capture_output=True, text=True, timeout=PATIENCE_S)
    print(done.stdout, done.stderr, file=sys.stderr)
    check(done.returncode == 0, "what a browser saw")
    check(rounded(load(folder / "sim.json")) == rounded({"results": [result]}), "the JSON inside is the result")


if __name__ == "__main__":
    main(test)
