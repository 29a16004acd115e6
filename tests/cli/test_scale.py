# SPDX-License-Identifier: MIT
"""Large inputs and small limits: memory in proportion, and an error instead of a crash. Memory is counted, never time."""
import json
import pathlib
import re
import resource
import struct
import subprocess

from harness import CLANG, PROGRAM, SANITIZED, check, check_run, environment, main, newest, peak, run

SIM = ["--device", "sim:mi300x"]
MIB = 1 << 20


def below(limit, what, done, code, **texts):
    done, bytes_used = done
    check_run(done, code, what, **texts)
    check(SANITIZED or bytes_used < limit, f"{what}: {bytes_used / MIB:.0f} MiB, at most {limit / MIB:.0f} were expected")


def suite(home, name, cases):
    (home / name).write_text(json.dumps({"name": name, "cases": cases}))
    return f"./{name}"


def many_entries(home):
    """An array that is copied for every entry takes 10 GB here, a reference that is kept although another takes its place 60 MB, a row
    of the table for each 11 MB, a tree of the JSON 50 MB."""
    count = 10000
    own = suite(home, "entries.json", [{"kernel": "gemm_buffered", "params": {"m": 64 * (k % 100 + 1), "n": 64 * (k // 100 + 1), "k": 256}}
                                       for k in range(count)])
    words = ["--described", *SIM]  # a walk of each would take a minute
    done = peak("plan", own, *words, home=home)
    below(68 * MIB, "10,000 entries", done, 0, stdout=f"{count} cases ({count} ready)")
    below(76 * MIB, "the same as JSON", peak("plan", own, *words, "--json", "plan.json", home=home), 0)
    large = suite(home, "large.json", [{"kernel": "gemm_buffered", "params": {"m": 4096 + 64 * k, "n": 8192, "k": 8192}} for k in range(count)])
    below(68 * MIB, "10,000 large ones", peak("plan", large, *words, home=home), 0, stdout=f"{count} cases")


def sweeps_are_counted_first(home):
    """Twelve parameters of 900,000 values each would be 260 MB before anybody multiplied."""
    words = "n m k block VEC tile a b c d e f".split()
    wide = {word: "1..900000" for word in words}
    below(80 * MIB, "wide sweeps", peak("plan", suite(home, "wide.json", [{"kernel": "stream_triad", "sweep": wide}]), *SIM, home=home), 2,
          stderr="the sweeps expand to more than 1000000 cases")
    zipped = suite(home, "zip.json", [{"kernel": "stream_triad", "sweep": wide, "zip": [words]}])
    below(80 * MIB, "wide zips", peak("plan", zipped, *SIM, home=home), 2, stderr="more than 1000000 cases")
    sets = [part for word in words for part in ("--set", f"{word}=1..900000")]
    below(80 * MIB, "wide --set", peak("plan", "stream_triad", *sets, *SIM, home=home), 2,
          stderr="--set m=1..900000: with it the sweeps have more than 1000000 values")
    product = ["--set", "n=1..4000", "--set", "block=1..4000"]
    below(80 * MIB, "a product", peak("plan", "stream_triad", *product, *SIM, home=home), 2, stderr="more than 1000000 cases")
    (home / "shapes.json").write_text(json.dumps({"shapes": [{"name": f"s{k}", "params": {"block": 64}} for k in range(2000)]}))
    shaped = suite(home, "shaped.json", [{"kernel": "stream_triad", "sweep": {"n": "1..1000"}, "shapes": {"file": "shapes.json"}}])
    below(80 * MIB, "shapes and sweeps", peak("plan", shaped, *SIM, home=home), 2,
          stderr="expands to 2000000 cases, more than 1000000")


def an_entry_is_read_once(home):
    """A bundle of 4,096 equal entries, half of them with bytes of their own: one disassembly shows them all."""
    objdump = newest("llvm-objdump")
    built = run("build", "stream_triad", "--arch", "gfx942", "-v", home=home, **CLANG)
    found = re.search(r"^\s+(/\S+)$", built.stdout, re.MULTILINE)
    check(objdump and found, f"an object and its disassembler: {built.stdout}{built.stderr}")
    if not found:
        return
    code, count = pathlib.Path(found[1]).read_bytes(), 4096
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", count)
    names = [b"hipv4-amdgcn-amd-amdhsa--gfx942" + b"-" * (k % 2) for k in range(count)]
    start = len(head) + sum(24 + len(name) for name in names)
    for k, name in enumerate(names):
        head += struct.pack("<QQQ", start + len(code) * (k % 2), len(code), len(name)) + name
    (home / "many.hipfb").write_bytes(head + code + code)
    tool = home / "objdump"
    tool.write_text(f'#!/bin/sh\necho once >> {home}/calls\nexec {objdump} "$@"\n')
    tool.chmod(0o755)
    done = run("inspect", "./many.hipfb", "--json", "-", home=home, ROOFTILE_OBJDUMP=str(tool))
    check_run(done, 0, "4,096 equal entries")
    objects = json.loads(done.stdout or '{"files": [{"objects": []}]}')["files"][0]["objects"]
    check([(o["bundle_id"], o["entries"]) for o in objects] == [(names[0].decode(), count)] and objects[0]["kernels"], "one object, shown once")
    calls = (home / "calls").read_text().count("once") if (home / "calls").exists() else 0
    check(calls == 1, f"disassembled {calls} times")


def limited(home, *args, limit, value, **extra):
    def apply():
        resource.setrlimit(limit, (value, value))
    return subprocess.run([str(PROGRAM), *map(str, args)], env=environment(home, **extra), cwd=home, capture_output=True, text=True, preexec_fn=apply)


def small_limits(home):
    done = limited(home, "list", limit=resource.RLIMIT_STACK, value=256 * 1024)
    check_run(done, 3, "a small stack", stderr="the stack is limited to 256 KiB")
    for words in (("plan", "quick", *SIM, "--json", "p.json"), ("run", "quick", *SIM, "-o", "r.json"), 
                  ("schema", "result", "-o", "s.json")):
        done = limited(home, *words, limit=resource.RLIMIT_FSIZE, value=1024)
        check_run(done, 3, f"a small limit of file sizes: {words}", stderr="File too large")
        check(not list(home.glob("?.json")) and not list(home.glob("*.tmp-*")), f"{words}: nothing is left behind")
    check_run(run("run", "quick", *SIM, "-o", "r.json", home=home), 0, "a run")
    done = limited(home, "history", "add", "r.json", "--db", "h.db", limit=resource.RLIMIT_FSIZE, value=1024)
    check_run(done, 3, "a database beyond the limit", stderr="h.db")


main(many_entries, sweeps_are_counted_first, an_entry_is_read_once, small_limits)
