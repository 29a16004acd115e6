# SPDX-License-Identifier: MIT
"""scripts/emulate without the emulator, which a machine for tests has not: what is missing is said, and the library it puts in
place of ROCm's compiles, is found, and says what it cannot do."""
import os
import pathlib
import shutil
import subprocess
import sys

import harness

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts/emulate"


def emulate(*arguments, **environment):
    env = {key: value for key, value in os.environ.items() if key != "TINYGRAD"} | environment
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, env=env, check=False)


def usage(home):
    for arguments, environment, code, text in (
            (["--help"], {}, 0, "Usage: scripts/emulate"),
            ([], {}, 2, "which target?"),
            (["gfx906"], {}, 2, "gfx906 is not emulated"),
            (["--nonsense", "gfx942"], {}, 2, "unknown option --nonsense"),
            (["--log"], {}, 2, "--log needs a file"),
            (["gfx942"], {}, 2, "TINYGRAD is not set"),
            (["gfx942"], {"TINYGRAD": str(home)}, 2, "must be a checkout of tinygrad")):
        done = emulate(*arguments, **environment)
        harness.check(done.returncode == code and text in done.stdout + done.stderr, f"emulate {arguments}: {done.returncode} {done.stderr}")


def library(home):
    compiler = next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), None)
    if not compiler:
        print("skipped: no C compiler")
        return
    made = home / "libamdhip64.so"
    done = subprocess.run([compiler, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
                           ROOT / "scripts/emulator/hip.c", "-o", made, "-ldl", "-lpthread"], capture_output=True, text=True, check=False)
    harness.check(done.returncode == 0, done.stderr)
    devices = harness.run("devices", home=home, ROOFTILE_HIP_LIBRARY=made, EMULATOR_ARCH="gfx1100")
    harness.check(devices.returncode == 0 and "emulated gfx1100" in devices.stdout, devices.stdout + devices.stderr)


EIGHT_BITS = """
import numpy as np, matrix
for arch, kind, largest, over in (("gfx942", "fp8", 240, 0x80), ("gfx942", "bf8", 57344, 0x80), ("gfx950", "fp8", 448, 0x7f), ("gfx950", "bf8", 57344, 0x7c)):
    table = matrix.fp8(kind, arch)
    codes = np.flatnonzero(np.isfinite(table))
    assert table[codes].max() == largest, (arch, kind, table[codes].max())
    same = table[matrix.fp8_codes(table[codes], kind, arch)]
    assert (same == table[codes]).all() and (np.signbit(same) == np.signbit(table[codes])).all(), (arch, kind)
    between = (table[0:126] + table[1:127]) / 2
    assert (matrix.fp8_codes(between[np.isfinite(between)], kind, arch) % 2 == 0).all(), (arch, kind, "ties")
    assert list(matrix.fp8_codes(np.array([1e9, np.nan]), kind, arch))[0] == over, (arch, kind)
assert matrix.fp8("fp8", "gfx942")[0x38] == matrix.fp8("fp8", "gfx950")[0x38] / 2
"""


def numbers(home):
    """The codes of 8-bit floats: OCP's, and FNUZ's on gfx942, rounded to the nearest."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "scripts/emulator"), "PYTHONDONTWRITEBYTECODE": "1"}
    for python in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run([python, "-c", EIGHT_BITS], capture_output=True, text=True, check=False, cwd=home, env=environment)
        if "No module named 'numpy'" not in done.stderr:
            return harness.check(done.returncode == 0, done.stderr)
    print("skipped: no numpy")


if __name__ == "__main__":
    harness.main(usage, library, numbers)
