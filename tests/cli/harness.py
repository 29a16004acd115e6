# SPDX-License-Identifier: MIT
"""What the tests of the program share: running it in a clean environment, and reporting what went wrong."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
failures = []
checks = 0


def environment(home, **extra):
    """Nothing of the user's settings, caches or terminal."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "ROOFTILE_DATA": str(home / "data"),
           "SOURCE_DATE_EPOCH": "1700000000"}
    if "ROOFTILE_TEST_CACHE" in os.environ:
        env["ROOFTILE_CACHE"] = os.environ["ROOFTILE_TEST_CACHE"]
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            env[name] = os.environ[name]
    env.update({k: v for k, v in extra.items() if v is not None})
    return env


def scratch():
    return tempfile.TemporaryDirectory(prefix="rooftile-test-")


def run(*args, home, cwd=None, timeout=300, **extra):
    return subprocess.run([str(PROGRAM), *map(str, args)], env=environment(pathlib.Path(home), **extra),
                          cwd=cwd or home, capture_output=True, text=True, timeout=timeout)


def check(holds, what):
    """Counts one check; a failed one is reported at the end with the others."""
    global checks
    checks += 1
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)


def check_run(done, code, what, stdout=None, stderr=None):
    """The exit code, and texts that must appear."""
    check(done.returncode == code, f"{what}: exit {done.returncode}, expected {code}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    for stream, wanted in ((done.stdout, stdout), (done.stderr, stderr)):
        for text in [wanted] if isinstance(wanted, str) else wanted or []:
            check(text in stream, f"{what}: '{text}' is missing in:\n{stream[-3000:]}")


def load(path):
    return json.loads(pathlib.Path(path).read_text())


def finish():
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)
