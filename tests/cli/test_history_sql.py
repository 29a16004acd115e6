# SPDX-License-Identifier: MIT
"""The queries in docs/history.md run as they stand on a history of CPU results, whose runs follow a script: twelve of them, one
case 20 % slower from the ninth on, one case wrong in the last. Columns and rows are what the document's headings promise."""
import copy
import json
import pathlib
import re
import sqlite3

from harness import ROOT, check, check_run, finish, load, run, scratch

RUNS, STEP, SLOWER = 12, 8, 1.2
DAY = 86400
FIRST = 1699000000 - 11 * DAY
QUICK = {"warmup": "1 ms", "warmup_max": "1 ms", "min_time": "1 ms", "max_time": "50 ms", "min_samples": 3,
         "max_samples": 5, "precision": 0.9}
SUITE = {"name": "s", "defaults": {"measure": QUICK}, "cases": [{"kernel": "stream_copy", "sweep": {"n": [4096, 8192, 16384]}}],
         "kpis": [{"name": "bandwidth", "method": "geomean", "of": "bytes_per_s", "cases": ["stream_copy/n=8192;*"]}]}
VALUES = {"${channel}": "nightly", "${case}": "stream_copy/n=4096;%", "${__from}": f"{(FIRST - DAY) * 1000}",
          "${__to}": f"{(FIRST + (RUNS + 1) * DAY) * 1000}"}
# Per heading, for each of its queries: columns, rows.
WANTED = {
    "Variables of the dashboard": [("channel", 1), ("device", 1)],
    "Last value of every case (table)": [("label mode timer seconds fraction status started_at", 3)],
    "Cases over time (time series)": [("time value metric", RUNS)],
    "Alarms (annotations)": [("time title text tags", 1)],
    "Key figures over time (time series)": [("time value metric", RUNS)],
    "Share of the ceiling over time (time series)": [("time value metric", 0)],  # no ceiling is known here
    "Worst regressions now (table)": [("label kind percent since cause commits found", 1)],
    "Noise of every case (table)": [("label mode pairs percent", 3)],
    "What did not count (table)": [("time label status git_commit", 1)],
    "Runs (state timeline, or a stat of the last one)": [("time measured others git_commit", RUNS)]}


def stamp(seconds):
    done = sqlite3.connect(":memory:").execute("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', ?, 'unixepoch')", (seconds,))
    return done.fetchone()[0]


def set_time(case, time_ns):
    """A result whose numbers do not fit together is refused: every sample took the same time."""
    stats, rates = case["stats"], case["throughput"]
    for name in ("bytes_per_s", "items_per_s", "flops_per_s"):
        rates[name] = rates[name] and rates[name] * stats["median_ns"] / time_ns
    stats.update(dict.fromkeys((f"{name}_ns" for name in ("median", "min", "p05", "q1", "q3", "p95", "max", "mean")), time_ns), ci95_ns=[time_ns, time_ns])
    stats.update(dict.fromkeys(("sd_ns", "mad_ns", "rel_noise", "drift"), 0))
    case["samples_ns"] = [time_ns] * case["measurement"]["n"]


def make_run(result, number):
    made = copy.deepcopy(result)
    made["run"].update(id=f"00000000-0000-4000-8000-{number:012d}", commit=f"{number:040x}",
                       started_at=stamp(FIRST + number * DAY), finished_at=stamp(FIRST + number * DAY + 60))
    for part in made["run"].get("parts") or []:
        part.update(id=made["run"]["id"], started_at=made["run"]["started_at"])
    for k, case in enumerate(made["cases"]):
        wobble = 1 + 0.001 * ((5 * number + 3 * k) % 7 - 3)
        set_time(case, 1e6 * (k + 1) * wobble * (SLOWER if k == 0 and number >= STEP else 1))
    if number == RUNS - 1:
        made["cases"][2].update(status="failed", reason="element 3 is 4, not 5")
    made["kpis"][0]["value"] = made["cases"][1]["throughput"]["bytes_per_s"]
    return made


def make_history(home):
    (home / "s.json").write_text(json.dumps(SUITE))
    check_run(run("run", "s.json", "--device", "cpu:threads=1", "-o", "r.json", home=home), 0, "a run")
    result = load(home / "r.json")
    for case in result["cases"]:
        case["flags"] = []
    for number in range(RUNS):
        (home / "n.json").write_text(json.dumps(make_run(result, number)))
        check_run(run("history", "add", "n.json", "--db", "h.db", home=home), 0, f"run {number + 1}")
        done = run("history", "gate", "--db", "h.db", home=home)
        check(done.returncode == (1 if number > STEP else 0), f"run {number + 1}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def queries(text):
    heading = ""
    for part in re.finditer(r"^### ([^\n]*)$|^```sql\n(.*?)^```$", text, flags=re.M | re.S):
        heading = part[1] or heading
        if part[2]:
            yield heading, part[2]


def main():
    with scratch() as folder:
        home = pathlib.Path(folder)
        make_history(home)
        db = sqlite3.connect(f"file:{home}/h.db?mode=ro", uri=True)
        VALUES["${device}"] = db.execute("SELECT name FROM device").fetchone()[0].replace("'", "''")
        found = {}
        for heading, query in queries((ROOT / "docs/history.md").read_text()):
            sql = re.sub(r"\$\{\w+\}", lambda name: VALUES[name[0]], query)
            done = db.execute(sql)
            rows = done.fetchall()
            found.setdefault(heading, []).append((" ".join(c[0] for c in done.description), len(rows)))
            if heading.startswith("Worst"):
                check(abs(rows[0][2] - 20) < 1 and rows[0][3].startswith(stamp(FIRST + STEP * DAY)[:10]), f"the regression: {rows}")
            if heading.startswith("Noise"):
                check(0.05 < rows[-1][3] < 1, f"0.2 % of noise is found: {rows}")
            if heading.startswith("What did not"):
                check(rows[0][2] == "failed", f"the wrong case: {rows}")
            if "(time series)" in heading or "annotations" in heading:
                check(all(FIRST <= row[0] < FIRST + RUNS * DAY for row in rows), f"{heading}: times are seconds")
        check(found == WANTED, f"every query has its columns and rows:\n{found}\nwanted:\n{WANTED}")
        db.close()
        columns = {view: [row[1] for row in sqlite3.connect(home / "h.db").execute(f"PRAGMA table_info({view})")]
                   for view in ("measurements", "alarms")}
        text = (ROOT / "docs/history.md").read_text()
        for view, names in columns.items():
            table = text[text.index(f"| `{view}` |"):].split("\n\n")[0]
            told = re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in table.splitlines()[2:]))
            check(sorted(told) == sorted(names), f"the table of {view} has its columns: {sorted(set(told) ^ set(names))}")
    finish()


if __name__ == "__main__":
    main()
