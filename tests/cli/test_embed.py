# SPDX-License-Identifier: MIT
"""The library: its examples, and a program that uses it wrongly."""
import os
import subprocess
import sys

from harness import PROGRAM, ROOT, check, environment, main, newest

LIBRARY = PROGRAM.parent.parent / "lib" / "librooftile.so"
SIM = ["--device", "sim:mi300x"]
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]

# What a hostile or careless caller does: argv[1] is the library.
CALLER = """
import ctypes, json, os, sys
library = ctypes.CDLL(sys.argv[1])
library.rooftile_open.restype = ctypes.c_void_p
for name in ("plan", "result", "error"):
    getattr(library, "rooftile_" + name).restype = ctypes.c_char_p
words = [b"--device", b"sim:mi300x", None]
handle = ctypes.c_void_p(library.rooftile_open((ctypes.c_char_p * 3)(*words)))
function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
suite = json.dumps({"name": "t", "cases": [{"kernel": "stream_triad", "sweep": {"n": [65536, 131072]}}]}).encode()
seen = []
def run(text, answer):
    return library.rooftile_run(handle, text, function(lambda _, line: seen.append(line) or answer), None)
"""
CALLS = {
    "a suite that is no JSON": 'assert run(b\'{ "name": "t",\\n oops }\', 0) == 2 and b":2:2: " in library.rooftile_error(handle), '
                               'library.rooftile_error(handle)',
    "an unknown key": 'assert run(b\'{ "name": "t", "case": [] }\', 0) == 2 and b":1:16: /case: " in library.rooftile_error(handle)',
    "a plan": 'assert len(json.loads(library.rooftile_plan(handle, suite))["cases"]) == 2 and not seen',
    "a plan of nothing": 'assert library.rooftile_plan(handle, b"") is None and b"empty" in library.rooftile_error(handle)',
    "two runs": 'assert run(suite, 0) == run(suite, 0) == 0 and len(seen) == 4 and len(json.loads(library.rooftile_result(handle))["cases"]) == 2',
    "a run after a bad one": 'assert run(b"", 0) == 2 and library.rooftile_result(handle) == b"" and run(suite, 0) == 0 and '
                             'library.rooftile_error(handle) == b""',
    "a callback that fails": 'run(suite, 1)\nassert len(seen) == 1, seen\nassert run(suite, 0) == 0 and len(seen) == 3',
    "no callback": 'assert library.rooftile_run(handle, suite, None, None) == 0 and library.rooftile_result(handle)',
    "closed streams": 'for fd in (0, 1, 2): os.close(fd)\nassert run(suite, 0) == 0 and len(seen) == 2',
    "signals that are ignored": 'import signal\nfor one in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGTERM): signal.signal(one, signal.SIG_IGN)\n'
                                'run(suite, 1)\nassert len(seen) == 1',
    "no program": 'os.environ["ROOFTILE_PROGRAM"] = "/nowhere/rooftile"\nhandle = ctypes.c_void_p(library.rooftile_open(None))\n'
                  'assert run(suite, 0) == 3 and b"/nowhere/rooftile" in library.rooftile_error(handle)',
}


def run(*words, home, **extra):
    return subprocess.run([*map(str, words)], env=environment(home, LD_LIBRARY_PATH=str(LIBRARY.parent), **extra), cwd=home, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL)


def examples(home):
    done = run("cc", "-std=c11", *STRICT, ROOT / "examples/tuner.c", f"-I{ROOT}/include", f"-L{LIBRARY.parent}", "-lrooftile", "-o", "tuner", home=home)
    check(done.returncode == 0, f"the example does not compile: {done.stderr}")
    found = [run(home / "tuner", *SIM, home=home), run(sys.executable, ROOT / "examples/tuner.py", LIBRARY, *SIM, home=home)]
    check(all(done.returncode == 0 and done.stdout.startswith("TM=") for done in found), f"the examples: {found}")
    check(found[0].stdout == found[1].stdout, f"they disagree: {found}")
    wrong = run(home / "tuner", "--devcie", "cpu", home=home)
    check(wrong.returncode == 2 and "did you mean '--device'?" in wrong.stderr, f"a wrong option: {wrong}")


def interface(home):
    (home / "it.h").write_text("#include <rooftile/rooftile.h>\n")
    for compiler in (["cc", "-xc", "-std=c99"], [newest("clang++"), "-xc++", "-std=c++11"]):
        done = run(*compiler, *STRICT, "-fsyntax-only", f"-I{ROOT}/include", "it.h", home=home)
        check(done.returncode == 0, f"{compiler}: {done.stderr}")
    names = run("nm", "-D", "--defined-only", LIBRARY, home=home).stdout.split()[2::3]
    check(names and all(name.startswith("rooftile_") for name in names), f"it exports {names}")
    used = run("nm", "-D", "--undefined-only", LIBRARY, home=home).stdout.split()
    check(not {"exit", "_exit", "abort", "fork"} & {name.split("@")[0] for name in used}, f"it calls {used}")


def callers(home):
    for name, call in CALLS.items():
        done = run(sys.executable, "-c", CALLER + call, LIBRARY, home=home, TMPDIR=str(home / "tmp"))
        check(done.returncode == 0, f"{name}: {done.stdout}{done.stderr}")
    left = [p.name for p in (home / "tmp").iterdir()] if (home / "tmp").is_dir() else []
    check(not left, f"left behind: {left}")


def tests(home):
    os.makedirs(home / "tmp")
    examples(home)
    interface(home)
    callers(home)


if __name__ == "__main__":
    main(tests)
