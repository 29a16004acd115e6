# SPDX-License-Identifier: MIT
"""Nothing of a stranger's is executed, obeyed or believed: folders that are not the user's alone, compiler flags that load code,
kernels that look for open files or speak on standard output, and names made of terminal escapes and formulas."""
import csv
import io
import json
import os
import re
import subprocess
import xml.etree.ElementTree as xml

from harness import PATIENCE_S, PROGRAM, QUICK, check, check_run, environment, load, main, run

SOURCE = """#include "portable.h"

static int libc_fcntl(int, int, ...) __asm__("fcntl");
static long libc_read(int, void *, unsigned long) __asm__("read");
static long libc_write(int, const void *, unsigned long) __asm__("write");

extern "C" __global__ void speaks(uint32_t *out, uint32_t open_file)
{
    char text[1];
    libc_write(1, "a kernel speaks\\n", 16);
    out[0] = libc_fcntl((int)open_file, 1) >= 0 || libc_read(0, text, 1) > 0; /* 1: F_GETFD */
}
"""


def write_kernel(folder, **code):
    folder.mkdir(exist_ok=True)
    (folder / "speaks.hip").write_text(SOURCE)
    described = {"name": "speaks", "summary": "speaks", "params": {"file": 99}, "code": {"source": "speaks.hip", "symbol": "speaks"} | code,
                 "buffers": {"out": {"type": "u32", "count": "1", "role": "out"}},
                 "launch": {"grid": [1], "block": [1], "args": ["out", {"value": "file", "type": "u32"}]},
                 "check": {"expect": {"out": "0"}}}
    (folder / "speaks.json").write_text(json.dumps(described))


def kernels_are_alone(home):
    write_kernel(home / "k")
    (home / "speaks.json").write_text(json.dumps({"name": "s", "defaults": {"measure": QUICK}, "cases": [{"kernel": "speaks"}]}))
    with open(home / "secret", "w+", encoding="ascii") as secret:
        os.dup2(secret.fileno(), 99)
        for form in ("json", "jsonl"):
            done = subprocess.run([str(PROGRAM), "run", "speaks.json", "--kernels", "k", "--device", "cpu", "--format", form], env=environment(home), cwd=home,
                                  input="secret", capture_output=True, text=True, pass_fds=(99,), timeout=PATIENCE_S)
            check(done.returncode == 0, f"a kernel finds an open file: exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
            check("a kernel speaks" in done.stderr and "a kernel speaks" not in done.stdout, "what a kernel says goes to standard error")
            for line in [done.stdout] if form == "json" else done.stdout.splitlines():
                json.loads(line)
        os.close(99)


def flags_only_compile(home):
    for flag in ("-fplugin=./evil.so", "-fuse-ld=./evil"):
        write_kernel(home / "k", flags=["-O2", flag])
        done = run("run", "speaks", "--kernels", "k", "--device", "cpu", home=home)
        check_run(done, 2, flag, stderr=[f"'{flag}'", "--allow-flags", "speaks/"])
    marker = home / "ran"
    (home / "evil").write_text(f"#!/bin/sh\ntouch {marker}\n")
    (home / "evil").chmod(0o755)
    write_kernel(home / "k", flags=[f"-fuse-ld={home}/evil"])
    for arguments in (["run", "speaks"], ["check", "speaks", "--run"], ["build", "speaks"]):
        done = run(*arguments, "--kernels", "k", "--device", "cpu", "--force", home=home)
        check(done.returncode == 2 and not marker.exists(), f"{arguments[0]}: exit {done.returncode}: {done.stderr}")
    run("build", "speaks", "--kernels", "k", "--device", "cpu", "--force", "--allow-flags", home=home, ROOFTILE_CACHE=str(home / "c"))
    check(marker.exists(), "--allow-flags takes them")


def spoil(folder, how):
    folder.parent.mkdir(parents=True, exist_ok=True)
    if how == "link":
        (folder.parent / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to("elsewhere")
        return
    folder.mkdir(mode=0o700)
    if how == "writable":
        folder.chmod(0o777)
    elif how == "foreign":
        os.chown(folder, 12345, 12345)


def folders_are_the_users(home):
    """Cache and data folder: refused with the reason and the variable that names another."""
    words = {"link": "is a link", "writable": "others may write into it", "foreign": "belongs to user 12345"}
    for how in ("link", "writable", *(["foreign"] if os.geteuid() == 0 else [])):
        mine = home / how
        spoil(mine / ".cache/rooftile", how)
        done = run("build", "speaks", "--kernels", home / "k", "--device", "cpu", "--allow-flags", home=mine, ROOFTILE_CACHE="", TMPDIR=str(mine))
        check(words[how] in done.stderr and "ROOFTILE_CACHE" in done.stderr, f"cache, {how}: {done.stderr}")
        check(not list((mine / ".cache/rooftile").iterdir()), f"cache, {how}: nothing is written into it")
        spoil(mine / ".local/share/rooftile", how)
        done = run("run", "stream_copy", "--device", "cpu", "--quick", home=mine, ROOFTILE_DATA="")
        check_run(done, 3, f"data, {how}", stderr=[words[how], "ROOFTILE_DATA"])
    fresh = home / "fresh"
    fresh.mkdir()
    run("history", "add", "none.json", home=fresh, ROOFTILE_DATA="")
    check((fresh / ".local/share/rooftile").stat().st_mode & 0o777 == 0o700, "a new one is the user's alone")


HOSTILE = "=cmd|'/C x'!A0\033]0;owned\007\033[2J\u009b31m\x7f<b>|`"


def spread(value, key=""):
    """Hostile text in every string of a result that names something."""
    if isinstance(value, dict):
        return {k: v if k in ("caches", "levels", "units", "figures", "links") else spread(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [spread(v, key) for v in value]
    named = ("label", "kernel", "class", "tags", "name", "status_reason", "reason", "title", "driver", "compiler", "commit", "branch", "note", "warnings", "os")
    return HOSTILE + value if isinstance(value, str) and key in named else value


def names_are_harmless(home):
    suite = {"name": "s", "cases": [{"kernel": "stream_copy", "sweep": {"n": [1024, 2048, 1 << 24]}}],
             "kpis": [{"name": "bandwidth", "method": "geomean", "of": "bytes_per_s", "cases": ["stream_copy/*"]}]}
    (home / "suite.json").write_text(json.dumps(suite))
    check_run(run("run", "suite.json", "--device", "sim:mi300x", "-o", "r.json", "--label", "a=b", home=home), 0, "a result")
    result = load(home / "r.json")
    hostile = spread(result)
    for at, case in zip(hostile["cases"], result["cases"]):
        at["id"] = HOSTILE + case["id"]
        at["status"], at["params"] = "failed", case["params"] | {"dtype": HOSTILE}
    hostile["environment"]["device"]["backend"] = result["environment"]["device"]["backend"]
    (home / "hostile.json").write_text(json.dumps(hostile))
    for form in ("table", "csv", "json", "jsonl", "markdown", "junit", "openmetrics", "google-benchmark", "bmf", "github-action-benchmark", "github-action-benchmark-bigger"):
        done = run("report", "hostile.json", "-v", "--format", form, home=home)
        check(done.returncode == 0, f"{form}: exit {done.returncode}: {done.stderr}")
        harmless(done.stdout, form)
        if form == "junit":
            xml.fromstring(done.stdout)
        if form == "csv":
            cells = [cell for row in csv.reader(io.StringIO(done.stdout, newline="")) for cell in row]
            check(any(cell.startswith("'=cmd") for cell in cells), "csv: there is a formula to defuse")
            check(not [c for c in cells if re.match(r"[=+@\t\r-]", c) and not re.fullmatch(r"-?[\d.e+-]+", c)], "csv: a cell is a formula")
    for arguments in (["report", "hostile.json", "--html", "h.html"], ["compare", "hostile.json", "hostile.json"],
                      ["compare", "hostile.json", "hostile.json", "--format", "markdown"], ["merge", "hostile.json", "r.json", "-o", "m.json"]):
        done = run(*arguments, home=home)
        harmless(done.stdout + done.stderr, " ".join(arguments))
    if (home / "h.html").exists():
        harmless((home / "h.html").read_text(), "html")


def harmless(text, what):
    found = re.search(r"[^\x00-\x1f\x7f]{0,30}[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f].{0,30}", text)
    check(not found, f"{what}: a control character in {found and found[0]!r}")


def live_names_are_harmless(home):
    """Of a suite and on the command line, in messages and progress."""
    name = HOSTILE + "x"
    (home / "bad.json").write_text(json.dumps({"name": name, "cases": [{"kernel": name}]}))
    for arguments in (["run", "bad.json", "--device", "sim:mi300x"], ["run", name], ["list", name], ["run", "stream_copy", "--device", name],
                      ["report", name], ["run", "stream_copy", "--device", "sim:mi300x", "--label", f"a={name}", "--format", "json"],
                      ["run", "stream_copy", "--device", "sim:mi300x", "--set", f"dtype={name}", "--progress", "always"]):
        done = run(*arguments, home=home)
        harmless(done.stdout, " ".join(map(repr, arguments)))
        harmless(re.sub(r"\r?\033\[K", "", done.stderr), " ".join(map(repr, arguments)))


if __name__ == "__main__":
    main(kernels_are_alone, flags_only_compile, folders_are_the_users, names_are_harmless, live_names_are_harmless)
