# SPDX-License-Identifier: MIT
"""Every export is read by the tool it is for: compare.py, promtool, xmllint, a JSON Schema validator; and says what it must."""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from harness import ROOT, check, check_dashboard, check_run, dashboard_expressions, failures, load, main, metric_families, run
from runs import measured

SOURCE = """#include "portable.h"

extern "C" __global__ void twice(uint32_t *out, uint32_t n, uint32_t wrong)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * i + (i == 17 ? wrong : 0u);
}
"""
MANIFEST = {
    "name": "twice", "summary": "twice", "params": {"n": 65536, "wrong": 0},
    "code": {"source": "twice.hip", "symbol": "twice"},
    "buffers": {"out": {"type": "u32", "count": "n", "role": "out"}},
    "launch": {"grid": ["ceil_div(n, 64)"], "block": [64],
               "args": ["out", {"value": "n", "type": "u32"}, {"value": "wrong", "type": "u32"}]},
    "require": [{"expr": "n < 10000000", "reason": "too large <for> \"this\" & that"}],
    "work": {"write": "4*n", "items": "n"},
    "check": {"expect": {"out": "2 * i"}}}
QUICK = {"warmup": "1 ms", "warmup_max": "1 ms", "min_time": "1 ms", "max_time": "50 ms", "min_samples": 3, "max_samples": 5, "precision": 0.9}
SUITE = {"name": "s", "defaults": {"measure": QUICK},
         "cases": [{"kernel": "twice", "sweep": {"n": [4096, 8192, 20000000]}}, {"kernel": "twice", "params": {"wrong": 1}}],
         "kpis": [{"name": "good <rate>", "method": "geomean", "of": "bytes_per_s", "cases": ["twice/*wrong=0*"]},
                  {"name": "with the wrong one", "method": "geomean", "of": "bytes_per_s", "cases": ["twice"]},
                  {"name": "slowest", "method": "max", "of": "ns_per_item", "cases": ["twice/*wrong=0*"]}]}
HOSTILE = 'GPU <"x"> & | `y` \\ \n*z*'

# What Bencher and github-action-benchmark document of their formats.
NUMBER = {"type": "number"}
BMF = {"type": "object", "additionalProperties": {
    "type": "object", "additionalProperties": {
        "type": "object", "required": ["value"], "additionalProperties": False,
        "properties": {"value": NUMBER, "lower_value": NUMBER, "upper_value": NUMBER}}}}
GHA = {"type": "array", "items": {
    "type": "object", "required": ["name", "unit", "value"], "additionalProperties": False,
    "properties": {"name": {"type": "string"}, "unit": {"type": "string"}, "value": NUMBER,
                   "range": {"type": "string"}, "extra": {"type": "string"}}}}


def export(home, form, source="r.json"):
    done = run("report", source, "--format", form, home=home)
    check_run(done, 0, f"report --format {form}")
    return done.stdout


def nothing_measured(home):
    """A prediction has its own interval, and neither samples nor statistics, in no format."""
    result = load(home / "p.json")
    for case in result["cases"]:
        known = case["prediction"]
        check(case["stats"] is None and case["telemetry"] is None and "samples_ns" not in case and case["measurement"]["n"] == 0, f"no samples: {case}")
        check(0 < known["low_ns"] < known["time_ns"] < known["high_ns"], f"an interval: {known}")
    shown = {name: run("report", "p.json", "--format", name, home=home).stdout for name in ("table", "csv", "html", "markdown", "junit", "openmetrics")}
    for row in csv.DictReader(io.StringIO(shown["csv"])):
        check(row["kind"] == "predicted" and not any(row[key] for key in ("median_ns", "n", "batch", "ci95_low_ns", "ci95_high_ns", "min_ns", "max_ns")), f"{row}")
        check(float(row["predicted_low_ns"]) < float(row["predicted_ns"]) < float(row["predicted_high_ns"]), f"{row}")
    for name in ("table", "html", "markdown"):
        check("80 % interval" in shown[name] and "\u00b195 %" not in re.sub("<script.*</script>", "", shown[name], flags=re.S) and "predicted" in shown[name].lower(), f"{name}: {shown[name][:2000]}")
    check("\u00b1" not in shown["junit"] and " .. " in shown["junit"] and "PREDICTED" in shown["junit"], f"{shown['junit']}")
    check("case_time_interval_ratio" not in shown["openmetrics"] and "rooftile_predicted_case_time_low_seconds" in shown["openmetrics"], "openmetrics")
    old = measured(result) | {"predicted": True}
    for case in old["cases"]:
        case["measurement"]["timer"] = "sim"
    (home / "old.json").write_text(json.dumps(old))
    check(run("report", "old.json", "--format", "table", home=home).stdout == shown["table"], "samples that earlier versions made of it are left out")


def make_results(home):
    (home / "k").mkdir()
    (home / "k/twice.hip").write_text(SOURCE)
    (home / "k/twice.json").write_text(json.dumps(MANIFEST))
    (home / "s.json").write_text(json.dumps(SUITE))
    done = run("run", "s.json", "--kernels", "k", "--device", "cpu:threads=1", "-o", "r.json", home=home)
    check_run(done, 1, "a run with a wrong result")
    result = load(home / "r.json")
    result["environment"]["device"]["name"] = HOSTILE
    (home / "r.json").write_text(json.dumps(result))
    check_run(run("run", "stream_triad", "--set", "n=1Mi,2Mi", "--device", "sim:mi300x", "-o", "p.json", home=home), 0, "a prediction")
    nothing_measured(home)
    return {case["id"].split(";timer")[0]: case for case in result["cases"]}


def key_figures(home, cases):
    kpis = {kpi["name"]: kpi for kpi in load(home / "r.json")["kpis"]}
    good = [case["throughput"]["bytes_per_s"] for name, case in cases.items() if "wrong=0" in name and case["status"] == "ok"]
    check(len(good) == 2, "two cases were measured")
    check(abs(kpis["good <rate>"]["value"] / (good[0] * good[1]) ** 0.5 - 1) < 1e-9, "the geometric mean is that of the two cases")
    check(kpis["good <rate>"]["unit"] == "B/s", "with its unit")
    check(kpis["with the wrong one"]["value"] is None and "1 of 3 cases have no value" in json.dumps(kpis["with the wrong one"]),
          f"no figure is made from a part of its cases: {kpis['with the wrong one']}")
    table = export(home, "table")
    check("key figure " in table and "none: 1 of 3 cases" in table, "the table shows them")


def junit(home):
    text = export(home, "junit")
    root = ElementTree.fromstring(text)
    suite = root[0]
    check((suite.get("tests"), suite.get("failures"), suite.get("skipped"), suite.get("errors")) == ("4", "1", "1", "0"), "JUnit counts")
    failures = [(case.get("name"), case.find("failure")) for case in suite.iter("testcase") if case.find("failure") is not None]
    check(len(failures) == 1 and failures[0][1].get("type") == "verification" and "out[17] is 35, expected 34" in failures[0][1].get("message"),
          "the wrong result is a failure with its element")
    check(any(p.get("value") == HOSTILE for p in suite.iter("property")), "hostile text survives XML")
    skipped = [case.find("skipped") for case in suite.iter("testcase") if case.find("skipped") is not None]
    check(len(skipped) == 1 and 'too large <for> "this" & that' in skipped[0].get("message"), "a skipped test says why")
    (home / "junit.xml").write_text(text)
    if not shutil.which("xmllint"):
        return print("SKIPPED: xmllint (libxml2-utils) is not installed")
    for broken in (False, True):
        if broken:
            (home / "junit.xml").write_text(text.replace(' hostname="', ' host="'))
        done = subprocess.run(["xmllint", "--noout", "--schema", ROOT / "tests/data/junit.xsd", home / "junit.xml"], capture_output=True, text=True)
        check((done.returncode == 0) != broken, f"xmllint {'accepts a broken file' if broken else 'refuses'}: {done.stderr[-800:]}")


def promtool():
    for place in (shutil.which("promtool"), ROOT / "build/tools/usr/bin/promtool"):
        if place and pathlib.Path(place).exists():
            return place
    return None


def openmetrics(home):
    text = export(home, "openmetrics")
    families = metric_families(text)
    check(all(name.startswith("rooftile_") for name in families), "each name is ours")
    case_ok = families["rooftile_case_ok"]
    check(len(case_ok) == 3, "a case that failed is there as 0, a skipped one is not")
    check({labels["kernel"] for labels, _ in case_ok} == {"twice"}, "samples name their kernel")
    check(sorted(labels["param_n"] for labels, _ in case_ok) == ["4096", "65536", "8192"], "and its parameters")
    check(all(labels["param_wrong"] == "0" for labels, _ in families["rooftile_case_time_seconds"]), "a wrong result has no time")
    rate, slowest = (families[f"rooftile_kpi_{unit}"][0] for unit in ("bytes_per_second", "seconds"))
    kpis = {kpi["name"]: kpi["value"] for kpi in load(home / "r.json")["kpis"]}
    check(rate[0]["kpi"] == "good <rate>" and abs(rate[1] / kpis["good <rate>"] - 1) < 1e-8, f"a key figure in its unit: {rate}")
    check(slowest[0]["kpi"] == "slowest" and abs(slowest[1] * 1e9 / kpis["slowest"] - 1) < 1e-8, f"another unit is another family: {slowest}")
    predicted = metric_families(export(home, "openmetrics", "p.json"))
    check("rooftile_case_time_seconds" not in predicted, "predictions have families of their own")
    check_dashboard("rooftile_case", predicted | families)
    check_dashboard("rooftile_run", families)
    tool = promtool()
    if not tool:
        return print("SKIPPED: there is no promtool; scripts/test fetches it")
    for source in ("r.json", "p.json"):
        done = subprocess.run([tool, "check", "metrics"], input=export(home, "openmetrics", source), capture_output=True, text=True)
        check(done.returncode == 0 and not done.stderr.strip(), f"promtool: {done.stdout}{done.stderr}")
    done = subprocess.run([tool, "check", "metrics"], input=text.replace("# EOF", "rooftile_case_ok{"), capture_output=True, text=True)
    check(done.returncode != 0, "promtool notices a broken line")
    rules = [{"record": f"rooftile:{k}", "expr": expression} for k, expression in enumerate(dashboard_expressions())]
    for broken in (False, True):
        if broken:
            rules[0]["expr"] += ")"
        (home / "rules.yml").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
        done = subprocess.run([tool, "check", "rules", home / "rules.yml"], capture_output=True, text=True)
        check((done.returncode == 0) != broken, f"the dashboard's queries, {'one broken' if broken else 'as shipped'}: {done.stdout}{done.stderr}")


def google_benchmark(home, cases):
    text = export(home, "google-benchmark")
    data = json.loads(text)
    entries = {entry["name"]: entry for entry in data["benchmarks"]}
    check(data["context"]["json_schema_version"] == 1 and len(entries) == 3, "google-benchmark entries")
    for name, entry in entries.items():
        if "wrong=1" in name:
            check(entry["error_occurred"] and "verification" in entry["error_message"], "a wrong result is an error there")
        else:
            check(entry["real_time"] == cases[name]["stats"]["median_ns"], f"{name}: its time")
    (home / "old.json").write_text(text)
    for entry in data["benchmarks"]:
        entry["real_time"] *= 2
    (home / "new.json").write_text(json.dumps(data))
    compare = pathlib.Path(os.environ.get("GBENCH_COMPARE", "/usr/share/benchmark/compare.py"))
    if not compare.exists():
        return print("SKIPPED: google/benchmark's compare.py (libbenchmark-tools) is not installed")
    # The package belongs to the distribution's own Python, and so does its scipy.
    for python in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run([python, compare, "--no-color", "benchmarks", home / "old.json", home / "new.json"], capture_output=True, text=True)
        if "ModuleNotFoundError" not in done.stderr:
            break
    else:
        return print("SKIPPED: compare.py needs scipy")
    check(done.returncode == 0 and "twice/n=4096" in done.stdout and "+1.0000" in done.stdout, f"compare.py: {done.stdout}{done.stderr}")


def dashboards(home, cases):
    try:
        import jsonschema
    except ImportError:
        jsonschema = None
        print("SKIPPED: the schemas (python3-jsonschema is not installed)")
    bmf = json.loads(export(home, "bmf"))
    smaller = json.loads(export(home, "github-action-benchmark"))
    bigger = json.loads(export(home, "github-action-benchmark-bigger"))
    if jsonschema:
        for value, schema in ((bmf, BMF), (smaller, GHA), (bigger, GHA)):
            jsonschema.Draft7Validator(schema).validate(value)
    good = [name for name, case in cases.items() if case["status"] == "ok"]
    check(sorted(name for name in bmf if not name.startswith("kpi/")) == sorted(good), "Bencher gets what counts, nothing else")
    for name in good:
        latency = bmf[name]["latency"]
        check(latency["lower_value"] <= latency["value"] <= latency["upper_value"], f"{name}: an interval around its value")
    check("kpi/good <rate>" in bmf and "kpi/with the wrong one" not in bmf, "key figures with a value")
    check({e["name"] for e in smaller} == set(good) | {"kpi/slowest"}, f"smaller is better: {[e['name'] for e in smaller]}")
    check({e["unit"] for e in bigger} == {"B/s"} and any(e["name"] == "kpi/good <rate>" for e in bigger), "bigger is better")
    check(all(name.startswith("PREDICTED ") for name in json.loads(export(home, "bmf", "p.json"))), "predictions say so in their names")


def key_figures_everywhere(home):
    """Every format that can carry the figures does, with their units; a row of CSV is a case."""
    table = list(csv.DictReader(io.StringIO(export(home, "csv"))))
    check([row["id"].split(";timer")[0] for row in table] == [case["id"].split(";timer")[0] for case in load(home / "r.json")["cases"]],
          "csv: a row is a case")
    events = [json.loads(line) for line in export(home, "jsonl").splitlines()]
    check([event["kpi"]["name"] for event in events if event["event"] == "kpi"] == [kpi["name"] for kpi in SUITE["kpis"]], "jsonl")
    context = json.loads(export(home, "google-benchmark"))["context"]
    check(context["rooftile_kpi slowest"]["unit"] == "ns" and context["rooftile_kpi slowest"]["value"] > 0, f"google-benchmark: {context}")
    for form in ("table", "markdown", "junit", "openmetrics", "bmf", "github-action-benchmark"):
        check("slowest" in export(home, form), f"{form}: the figures are there")


def markdown(home):
    text = export(home, "markdown")
    check("1 failed" in text and "1 skipped" in text and "| verification |" in text, f"markdown says what went wrong: {text[:600]}")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    figures = [row for row in rows if row.startswith(("| good", "| with the wrong", "| slowest"))]
    check(len(figures) == 3 and "B/s |" in figures[0] and "e+" not in figures[0] and "none: " in figures[1], f"markdown: figures for people: {figures}")
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    check(len(tables) >= 3 and all(len({len(re.findall(r"(?<!\\)\|", row)) for row in table}) == 1 for table in tables), f"no cell breaks its row: {tables}")
    check("<\"x\">" not in text, "no HTML from a name")
    case = load(home / "r.json")
    template = next(c for c in case["cases"] if c["status"] == "ok")
    case["cases"] = [json.loads(json.dumps(template).replace("n=4096", f"n={k}")) for k in range(2000)]
    (home / "many.json").write_text(json.dumps(case))
    text = export(home, "markdown", "many.json")
    check(len(text) < 65536 and " more; all are in the result file" in text, f"a comment of {len(text)} characters")


def documented(home):
    """Each line of docs/dashboard.md runs and has something to say of a measured result or of a predicted one."""
    shell, python = re.findall(r"```\w+\n(.*?)```", (ROOT / "docs/dashboard.md").read_text(), re.S)
    lines = [line for line in shell.splitlines() if not line.startswith("#")]
    (home / "dashboard").mkdir()
    said = {line: [] for line in lines}
    (home / "m.json").write_text(json.dumps(measured(load(home / "p.json"))))
    for source in ("r.json", "m.json"):
        for name in ("result.json", "old.json"):
            shutil.copy(home / source, home / "dashboard" / name)
        for line in lines if shutil.which("jq") else ():
            done = subprocess.run(line, shell=True, cwd=home / "dashboard", capture_output=True, text=True)
            check(done.returncode == 0 and not done.stderr, f"{line}: {done.stderr}")
            said[line].append(done.stdout)
    if not shutil.which("jq"):
        return print("SKIPPED: docs/dashboard.md (jq is not installed)")
    check(len(lines) == 10 and all(any(texts) for texts in said.values()), f"each says something: {[k for k, v in said.items() if not any(v)]}")
    check(json.loads(said[lines[1]][0]) == {"ok": 2, "skipped": 1, load(home / "r.json")["cases"][3]["status"]: 1}, f"counts: {said[lines[1]]}")
    check(all(line.endswith("\t1") for line in said[lines[9]][1].splitlines()), "a result beside itself")
    try:
        import pandas  # noqa: F401
    except ImportError:
        return print("SKIPPED: pandas in docs/dashboard.md (python3-pandas is not installed)")
    shutil.copy(home / "r.json", home / "dashboard/result.json")
    done = subprocess.run([sys.executable, "-c", python], cwd=home / "dashboard", capture_output=True, text=True)
    check(done.returncode == 0, f"pandas: {done.stderr}")
    check("twice" in done.stdout and (home / "dashboard/cases.csv").read_text().count("\n") == 3, f"pandas: {done.stdout}")


def everything(home):
    cases = make_results(home)
    key_figures(home, cases)
    junit(home)
    openmetrics(home)
    google_benchmark(home, cases)
    dashboards(home, cases)
    markdown(home)
    key_figures_everywhere(home)
    documented(home)


if __name__ == "__main__":
    main(everything)
