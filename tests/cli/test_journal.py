# SPDX-License-Identifier: MIT
"""What is measured is never lost: runs are killed at random moments, hung up, ended twice and met by full disks, and every case that
was finished is there afterwards. 20 kills; 200 with ROOFTILE_TEST_ALL."""
import fcntl
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

from harness import PATIENCE_S, PROGRAM, QUICK, check, check_run, environment, load, main, run

CPU = ["--device", "cpu:threads=1"]
SIM = ["--device", "sim:mi300x"]


def write_suites(home):
    for name, last in (("cpu", 12 * 256), ("sim", 250 * 256)):
        cases = [{"kernel": "stream_copy", "sweep": {"n": f"256..{last}+256"}}]
        (home / f"{name}.json").write_text(json.dumps({"name": name, "defaults": {"measure": QUICK}, "cases": cases}))
    check_run(run("build", "cpu.json", *CPU, home=home), 0, "the kernels are compiled before")


def start(home, *arguments, preexec=None, **more):
    return subprocess.Popen([str(PROGRAM), "run", *arguments, "--format", "jsonl"], env=environment(home, **more), cwd=home, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=preexec)


def cases_of(lines):
    """Of whole events only: the last may be cut by the kill."""
    events = [json.loads(line) for line in lines if line.endswith("\n")]
    return [event["case"] for event in events if event["event"] == "case"]


def read_cases(child, count):
    lines = []
    while len(cases_of(lines)) < count:
        line = child.stdout.readline()
        if not line:
            break
        lines.append(line)
    return lines


def end(child):
    """The rest of what it says; its communicate() would lose what was read ahead of a line."""
    output, stderr = child.stdout.read(), child.stderr.read()
    child.wait(PATIENCE_S)
    return output, stderr


def plan_id(case):
    return case["id"].split(";timer=")[0]


def kept_in(home, name):
    """The cases of a killed run's journal, or of the result where it came so far; a last line may be cut."""
    journal, result = home / f"{name}.journal", home / name
    if not journal.exists():
        return load(result)["cases"] if result.exists() else []
    cases = [json.loads(line) for line in journal.read_text().splitlines(True)[1:] if line.endswith("\n")]
    return [{key: value for key, value in case.items() if key != "line_sum"} for case in cases]


def one_kill(home, name, suite, device, moment, before):
    """Goes on with what is there, kills it, and returns the cases that are there then."""
    there = (home / name).exists() or (home / f"{name}.journal").exists()
    child = start(home, suite, *device, "-o", name, *(["--resume", name] if there else []))
    lines = read_cases(child, moment[0])
    time.sleep(moment[1])
    child.kill()
    rest, stderr = end(child)
    if child.returncode != -signal.SIGKILL:
        check(child.returncode == 0, f"{name}: exit {child.returncode}: {stderr}")
    lines += rest.splitlines(True)
    kept = {plan_id(case): case for case in kept_in(home, name)}
    lost = [case["id"] for case in [*before.values(), *cases_of(lines)] if kept.get(plan_id(case)) != case]
    check(not lost, f"{name}: killed after {moment}, lost {lost}")
    return kept, child.returncode == 0


def kills(home):
    """At random moments: before, between and in cases, while the journal becomes the result; each goes on where the last one stopped."""
    chance = random.Random(14)
    count, finished, kept = (200 if os.environ.get("ROOFTILE_TEST_ALL") else 20), 0, {}
    planned = {name: [plan_id(c) for c in json.loads(run("plan", f"{name}.json", *device, "--json", "-", home=home).stdout)["cases"]]
               for name, device in (("cpu", CPU), ("sim", SIM))}
    for number in range(count):
        kind = "sim" if number % 5 >= 3 else "cpu"
        name, device = f"kill_{kind}.json", SIM if kind == "sim" else CPU
        moment = (chance.randrange(4), chance.random() * 0.4) if kind == "cpu" else (chance.choice([0, 0, 100, 249]), chance.random() * 0.05)
        kept[kind], ended = one_kill(home, name, f"{kind}.json", device, moment, kept.get(kind, {}))
        if ended:
            finished += 1
            check(list(kept[kind]) == planned[kind], f"{name}: every case once, in the plan's order")
            check(not (home / f"{name}.journal").exists(), f"{name}: the journal is folded into the result")
            (home / name).unlink()
            kept[kind] = {}
    print(f"{count} kills, {finished} runs came to their end")
    for kind, device in (("cpu", CPU), ("sim", SIM)):
        name = f"kill_{kind}.json"
        there = ["--resume", name] if kept[kind] else []
        check_run(run("run", f"{kind}.json", *device, "-o", name, *there, home=home), 0, f"the end of {name}")
        result = load(home / name)
        check([plan_id(c) for c in result["cases"]] == planned[kind] and result["run"]["status"] == "complete", f"{name} is whole")
        check(all(c == kept[kind].get(plan_id(c), c) for c in result["cases"]), f"{name}: cases of killed runs are as they were")


def signals(home):
    """A hang-up, and two signals at once as timeout(1) sends them, end a run in order; nohup's run goes on."""
    for what, sent in {"SIGHUP": [signal.SIGHUP], "SIGTERM twice": [signal.SIGTERM, signal.SIGTERM]}.items():
        child = start(home, "cpu.json", *CPU, "-o", "signal.json")
        lines = read_cases(child, 2)
        for number in sent:
            os.killpg(child.pid, number)
        rest, stderr = end(child)
        check(child.returncode == 130, f"{what}: exit {child.returncode}: {stderr}")
        result = load(home / "signal.json")
        check(result["run"]["status"] == "interrupted" and len(result["cases"]) >= len(cases_of(lines)), f"{what}: the partial result")
        check(all(c["status"] == "ok" for c in result["cases"]), f"{what}: the signal is not taken for a crash")
        check(not (home / "signal.json.journal").exists(), f"{what}: no journal is left")
    child = start(home, "cpu.json", *CPU, preexec=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    lines = read_cases(child, 2)
    os.killpg(child.pid, signal.SIGHUP)
    rest, stderr = end(child)
    check(child.returncode == 0 and len(cases_of(lines + rest.splitlines(True))) == 12, f"nohup: exit {child.returncode}: {stderr}")


def reader_is_slow(home):
    """A signal, or the end of a budget, while output waits for its reader: no half a line, and not the exit code of a full disk."""
    child = start(home, "cpu.json", *CPU, "-o", "slow.json")
    fcntl.fcntl(child.stdout, fcntl.F_SETPIPE_SZ, 4096)
    deadline = time.monotonic() + PATIENCE_S
    while not kept_in(home, "slow.json") and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)  # until the pipe is full
    child.send_signal(signal.SIGTERM)
    time.sleep(0.1)
    output, stderr = end(child)
    check(child.returncode == 130 and "standard output" not in stderr, f"exit {child.returncode}: {stderr}")
    check(output.endswith("\n") and len(cases_of(output.splitlines(True))) == len(load(home / "slow.json")["cases"]), "whole lines")


def killed(home, *arguments, cases=3, **more):
    child = start(home, *arguments, **more)
    read_cases(child, cases)
    child.kill()
    end(child)


def damage(journal, whole, number, chance):
    """A flipped bit, a byte that is lost, a line that is lost, twice there or cut, or one end of the file that is gone."""
    at, lines = chance.randrange(len(whole)), whole.splitlines(True)
    line = chance.randrange(1, len(lines))
    journal.write_bytes([
        lambda: whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1:], lambda: whole[:at] + whole[at + 1:],
        lambda: b"".join(lines[:line] + lines[line + 1:]), lambda: b"".join(lines[:line] + lines[line - 1:]),
        lambda: b"".join(lines[:line]) + lines[line][:-9] + b"".join(lines[line + 1:]), lambda: whole[:at], lambda: whole[at:],
        lambda: whole[:at] + b"\0" * 64 + whole[at + 64:]][number % 8]())


def journals_are_results(home):
    """Everything that reads a result reads what a killed run left, without a last line that was cut short."""
    killed(home, "cpu.json", *CPU, "-o", "part.json", cases=5)
    journal = home / "part.json.journal"
    kept = kept_in(home, "part.json")
    journal.write_text(journal.read_text() + json.dumps(kept[0])[:-40])
    check_run(run("report", "part.json", home=home), 0, "the partial result is shown", stdout="interrupted: the same command with --resume part.json goes on", stderr="cut short")
    shown = json.loads(run("report", "part.json.journal", "--format", "json", home=home).stdout)
    check(shown["cases"] == kept and shown["run"]["status"] == "interrupted", "by its own name too")
    compared = run("compare", "part.json", "part.json", home=home)
    check(compared.returncode == 0, f"compared: {compared.stderr}")
    lines = journal.read_text().splitlines(True)
    for what, text in {"zeros": lines[:-1] + ["\0" * 400 + "\n"], "a line that is none": lines[:-1] + ['{"id": }\n']}.items():
        journal.write_text("".join(text))
        check_run(run("report", "part.json", home=home), 0, what, stderr="cut short")
    journal.write_text("".join(lines[:2] + ['{"id": }\n'] + lines[2:]))
    damaged = run("report", "part.json", "--format", "json", home=home)
    check_run(damaged, 0, "damage in the middle", stderr="part.json.journal:3: this line is damaged and does not count")
    check(json.loads(damaged.stdout)["cases"] == kept, "costs that line alone")
    chance, whole = random.Random(5), "".join(lines).encode()
    for number in range(40):
        damage(journal, whole, number, chance)
        done = run("report", "part.json", "--format", "json", home=home)
        check(done.returncode in (0, 2), f"damage {number}: exit {done.returncode}: {done.stderr}")
        read = json.loads(done.stdout)["cases"] if not done.returncode else []
        check(all(case in kept for case in read), f"damage {number}: what is read is what was written")
        check(done.returncode or number % 8 in (5, 6) or len(read) >= len(kept) - 2, f"damage {number}: {len(read)} of {len(kept)} are read: {done.stderr}")
        check(not done.returncode or "no line that begins a run is whole" in done.stderr or "before it began" in done.stderr, f"damage {number}: only a head is needed: {done.stderr}")
    old = [re.sub(r',"line_sum":"\w+"', "", line) for line in lines]
    journal.write_text("".join(old))
    check(json.loads(run("report", "part.json", "--format", "json", home=home).stdout)["cases"] == kept, "an older journal is read")
    journal.write_text("".join(old[:2] + ['{"id": }\n'] + old[2:]))
    check_run(run("report", "part.json", home=home), 0, "a bad line of an older one", stderr="part.json.journal:3: this line is damaged")
    journal.write_text("")
    check_run(run("report", "part.json", home=home), 2, "an empty one", stderr="killed before it began")


def nothing_is_overwritten(home):
    killed(home, "cpu.json", *CPU, "-o", "again.json")
    kept = kept_in(home, "again.json")
    child = start(home, "cpu.json", *CPU, "-o", "again.json")
    read_cases(child, 1)
    child.send_signal(signal.SIGSTOP)  # so that it has not ended
    second = run("run", "cpu.json", *CPU, "-o", "again.json", home=home)
    child.send_signal(signal.SIGCONT)
    check_run(second, 3, "two runs to one file", stderr="another run is writing it")
    stderr = end(child)[1]
    check(child.returncode == 0 and "again.json.old.journal" in stderr, f"a run that did not end is put aside: {stderr}")
    check(kept_in(home, "again.json.old") == kept, "its cases are there")
    done = run("run", "cpu.json", *CPU, "-o", "rest.json", "--resume", "again.json.old", home=home)
    check_run(done, 0, "and can be gone on with")
    check({plan_id(c): c for c in load(home / "rest.json")["cases"]}.items() >= {plan_id(c): c for c in kept}.items(), "as they were")


def without_a_file(home):
    """The journal lies in the data folder, and its name is said when it is all there is."""
    folder = home / "data/journals"
    shutil.rmtree(folder, ignore_errors=True)
    killed(home, "cpu.json", *CPU)
    journals = list(folder.iterdir())
    check(len(journals) == 1 and len(kept_in(folder, journals[0].stem)) >= 3, f"a killed run without -o: {journals}")
    done = run("run", "cpu.json", *CPU, "--resume", str(journals[0]), home=home)
    check_run(done, 0, "goes on from there")
    check(list(folder.iterdir()) == journals, "a run that was shown leaves nothing")
    journals[0].unlink()
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([str(PROGRAM), "run", "cpu.json", *CPU, "-q"], env=environment(home), cwd=home, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
    journals = list(folder.iterdir())
    check(done.returncode == 3 and len(journals) == 1 and str(journals[0]) in done.stderr, f"full output, also with -q: {done.stderr}")
    check(len(kept_in(folder, journals[0].stem)) == 12, "all of it")


def result_cannot_be_written(home):
    """Found out at the end: the journal has everything, and --resume makes the result of it without measuring anything."""
    child = start(home, "cpu.json", *CPU, "-o", "late.json", "-q")
    lines = read_cases(child, 1)
    (home / "late.json").mkdir()
    rest, stderr = end(child)
    check(child.returncode == 3 and "late.json.journal" in stderr, f"exit {child.returncode}: {stderr}")
    (home / "late.json").rmdir()
    done = run("run", "cpu.json", *CPU, "-o", "late.json", "--resume", "late.json", "--format", "jsonl", home=home)
    check_run(done, 0, "the result is made of the journal")
    check(not cases_of(done.stdout.splitlines(True)), "nothing is measured again")
    measured = {plan_id(c): c for c in cases_of(lines + rest.splitlines(True))}
    check(measured == {plan_id(c): c for c in load(home / "late.json")["cases"]}, "as it was measured")


def place_is_tried_before(home):
    """A link into a folder that is not there: said with the reason, before anything is measured."""
    (home / "gone.json").symlink_to("nowhere/r.json")
    for command in (["run", "cpu.json", *CPU], ["roofline", "cpu.json", *CPU]):
        done = run(*command, "-o", "gone.json", home=home)
        check_run(done, 3, command[0], stderr="gone.json: cannot write into the folder ./nowhere: No such file or directory")
        check("[1/" not in done.stderr and not list(home.glob("gone.json.*")), f"{command[0]}: nothing was begun: {done.stderr}")


def at_most(size):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


def no_room_for_the_journal(home):
    """What does not fit is warned about, what fits is whole."""
    child = start(home, "cpu.json", *CPU, "-o", "small.json", preexec=at_most(16384))
    output, stderr = end(child)
    check(child.returncode == 3, f"exit {child.returncode}")
    for words in ("W018", "small.json.journal cannot be written (File too large)", "what was measured is in small.json.journal ("):
        check(words in stderr, f"'{words}' is missing in: {stderr}")
    kept, measured = kept_in(home, "small.json"), cases_of(output.splitlines(True))
    check(0 < len(kept) < len(measured) and kept == measured[:len(kept)], f"{len(kept)} of {len(measured)} cases fit")
    check((home / "small.json.journal").read_bytes().endswith(b"\n"), "no part of a line is left")
    check(not [p for p in home.iterdir() if ".tmp-" in p.name and "small" in p.name], "no part of a result is left")


def rescue(home):
    """A full disk that the journal met too: the result goes to a new file in the temporary folder, which is said with -q as well."""
    where = home / "full"
    where.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", where], capture_output=True).returncode:
        return
    try:
        done = run("run", "cpu.json", *CPU, "-q", "-o", "full/r.json", home=home, TMPDIR=str(home))
        saved = list(home.glob("rooftile-*.json"))
        check(done.returncode == 3 and len(saved) == 1 and str(saved[0]) in done.stderr, f"{saved}: {done.stderr}")
        check("\n  n=3Ki " in done.stdout, f"the table is shown: {done.stdout}")
        check(len(load(saved[0])["cases"]) == 12 and saved[0].stat().st_mode & 0o777 == 0o600, "all of it, for nobody else")
        check(not list(where.iterdir()), "nothing is left on the full disk")
    finally:
        subprocess.run(["umount", where], check=True)


def history_commit(home):
    """The disk fills up inside SQLite's commit: an error that says so, and the history is as it was."""
    check_run(run("run", "sim.json", *SIM, "-o", "h.json", home=home), 0, "a result")
    result = load(home / "h.json")
    for number in range(2):
        result["run"].update(id=f"00000000-0000-4000-8000-{number:012d}", started_at=f"2026-01-0{number + 1}T00:00:00Z", finished_at=f"2026-01-0{number + 1}T00:01:00Z")
        result["predicted"] = False
        (home / f"h{number}.json").write_text(json.dumps(result))
    first = run("history", "add", "h0.json", "--db", "h.db", home=home)
    check_run(first, 0, "the first run")
    size = (home / "h.db").stat().st_size
    for limit in (4096, 65536, size // 2):
        done = subprocess.run([str(PROGRAM), "history", "add", "h1.json", "--db", "h.db"], env=environment(home), cwd=home, capture_output=True, text=True,
                              preexec_fn=at_most(limit), timeout=PATIENCE_S)
        check(done.returncode == 3 and "h.db" in done.stderr, f"limit {limit}: exit {done.returncode}: {done.stderr}")
        with sqlite3.connect(home / "h.db") as db:
            check(db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "the history is sound")
            check(db.execute("SELECT count(*) FROM run").fetchone() == (1,), "and has what it had")
    check_run(run("history", "add", "h1.json", "--db", "h.db", home=home), 0, "with room again")


def trials_in(result):
    return {(plan_id(c), t["index"]): t["median_ns"] for c in result["cases"] for t in c.get("trials") or [{"index": 0, "median_ns": c["stats"]["median_ns"]}]}


def trials(home):
    """Killed twice, in the second trial and in the third: one file, which --resume takes by the result's name, and nothing is measured again."""
    kept, command = {}, ["cpu.json", *CPU, "--trials", "3", "-o", "t.json"]
    for cases, more in ((14, []), (13, ["--resume", "t.json"])):
        killed(home, *command, *more, cases=cases)
        check(sorted(p.name for p in home.glob("t.*")) == ["t.json.journal"], f"journals: {sorted(home.glob('t.*'))}")
        shown = run("report", "t.json", "--format", "json", home=home)
        check_run(shown, 0, "the killed trials are shown", stderr="in ")
        before, kept = kept, trials_in(json.loads(shown.stdout))
        check(before.items() <= kept.items() and len(kept) >= len(before) + cases - 1, f"{len(kept)} are kept, {len(before)} were before")
    done = run("run", *command, "--resume", "t.json", "--format", "jsonl", home=home)
    check_run(done, 0, "the rest")
    result = load(home / "t.json")
    check(len(cases_of(done.stdout.splitlines(True))) == 36 - len(kept), "only what was not measured")
    check(result["run"]["status"] == "complete" and len(result["run"]["parts"]) == 3 and len(trials_in(result)) == 36, f"{result['run']}")
    check(kept.items() <= trials_in(result).items() and not list(home.glob("t.json.*")), "as it was measured, and no journal is left")
    killed(home, *command, cases=14)
    killed(home, *command, cases=1)
    check(len(trials_in(json.loads(run("report", "t.json.old", "--format", "json", home=home).stdout))) >= 13, "put aside whole")


def ceilings(home):
    """`roofline` keeps what it measures beside --result, or in the data folder."""
    command = [str(PROGRAM), "roofline", "cpu.json", *CPU, "-o", "m.json"]
    for more, folder in (["--result", "behind.json"], home), ([], home / "data/journals"):
        before = set(folder.glob("*.journal"))
        child = subprocess.Popen([*command, *more], env=environment(home), cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        journals, deadline = [], time.monotonic() + PATIENCE_S
        while not journals and child.poll() is None and time.monotonic() < deadline:
            journals = [path for path in folder.glob("*.journal") if path not in before and path.read_text().count("\n") > 2]
            time.sleep(0.002)
        child.kill()
        end(child)
        check(len(journals) == 1, f"a killed roofline {more}: {journals}")
        check(len(load_journal(home, journals[0])) >= 2, "has the cases of it")
        journals[0].unlink()


def load_journal(home, path):
    return json.loads(run("report", path, "--format", "json", home=home).stdout)["cases"]


if __name__ == "__main__":
    main(write_suites, kills, signals, reader_is_slow, journals_are_results, nothing_is_overwritten, without_a_file,
         result_cannot_be_written, place_is_tried_before, no_room_for_the_journal, rescue, history_commit, trials, ceilings)
