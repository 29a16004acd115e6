# SPDX-License-Identifier: MIT
"""What manifests claim of occupancy is what the code objects say (`rooftile check`): kernels that limit themselves to so many waves
per SIMD by LDS, VGPRs or AGPRs, on targets of each kind of register file and in both modes of RDNA. Claims that are off by one
must be found. And what they claim of the work is what the instructions can do. Needs no GPU."""
import json
import pathlib
import re
import shutil

from objects import harness

# (target, kernel, what is set, how many cases are compared and none differs)
RIGHT = [
    ("gfx908", "occupancy_fma", "VGPRS=1 waves=1,4,8", 3),
    ("gfx908", "occupancy_fma", "AGPRS=1 waves=2,4", 2),
    ("gfx90a", "occupancy_read", "AGPRS=1 waves=1,4,8", 3),
    ("gfx942", "occupancy_read", "lds=1 waves=1,2,3,4,5,6,7,8", 8),
    ("gfx942", "occupancy_read", "VGPRS=1 waves=1,2,5,8", 4),
    ("gfx942", "placement", "lds=1 waves=1,8", 2),
    ("gfx1030", "occupancy_read", "lds=1 waves=2,16 wave=32,64 cumode=0,1", 8),
    ("gfx1100", "occupancy_chase", "VGPRS=1 waves=5,12,16", 3),
    ("gfx1201", "occupancy_read", "lds=1 waves=2,3,4,6,8,12,16", 7),
]

# The claim that is off, and the sentence that must come of it.
WRONG = [
    ({"exactly": "waves + 1"}, "lds=1 waves=4",
     "the manifest states 5 waves per SIMD, gfx942 holds 4 of this launch, limited by LDS (8192 bytes)"),
    ({"least": "5"}, "VGPRS=1 waves=4",
     "the manifest states at least 5 waves per SIMD, gfx942 holds 4 of this launch, limited by VGPRs (128)"),
    ({"least": "3"}, "VGPRS=1 waves=4", None),
]


def check_claims(home, arch, kernel, settings, *options):
    words = [word for setting in settings.split() for word in ("--set", setting)]
    return harness.run("check", kernel, "--arch", arch, *words, *options, home=home, **harness.CLANG)


def check_right(home, arch, kernel, settings, count):
    what = f"{arch} {kernel} {settings}"
    done = check_claims(home, arch, kernel, settings)
    harness.check_run(done, 0, what)
    found = re.search(r"^(\d+) kernels? compared with code for \w+: none differs", done.stdout, re.M)
    harness.check(found and int(found[1]) == count, f"{what}: not {count} compared: {done.stdout}")


def check_wrong(home, claim, settings, sentence):
    """A copy of a kernel with another claim."""
    source = harness.ROOT / "kernels/occupancy"
    folder = pathlib.Path(home) / "kernels"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    manifest = json.loads((source / "occupancy_read.json").read_text(encoding="utf-8"))
    manifest.update(name="claims", occupancy=claim)
    (folder / "claims.json").write_text(json.dumps(manifest), encoding="utf-8")
    for name in ("occupancy_read.hip", "reserve.h"):
        shutil.copy(source / name, folder)
    done = check_claims(home, "gfx942", "claims", settings, "--kernels", folder)
    harness.check(done.returncode == (2 if sentence else 0), f"{claim} {settings}: exit {done.returncode}: {done.stdout}{done.stderr}")
    harness.check(not sentence or f"differs  claims: {sentence}" in done.stdout, f"{claim} {settings}: {done.stdout}")


# What `work` states and the code cannot do: what of the work is another, and the sentence.
NSTREAM = {
    "name": "nstream", "summary": "a += b + 3 c", "params": {"n": 16384},
    "code": {"source": "nstream.hip", "symbol": "nstream"},
    "buffers": {"a": {"type": "f32", "count": "n", "role": "inout", "fill": "i % 11"}, "b": {"type": "f32", "count": "n", "role": "in", "fill": "i % 7"}},
    "launch": {"grid": ["n / 256"], "block": [256], "args": ["a", "b"]},
    "work": {"read": "8 * n", "write": "4 * n", "flops": "2 * n", "unit": "vector_f32"}, "check": {"params": {"n": 4096}, "expect": {"a": "i % 11 + 3 * (i % 7)"}}}
NSTREAM_SOURCE = """#include "portable.h"
extern "C" __global__ void nstream(float *a, const float *b)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    a[i] += 3 * b[i];
}
"""
WORKS = [
    ({}, None),
    ({"flops": "30 * n"}, "the manifest states 1.229e+05 operations, the instructions of the launch can do"),
    ({"read": "40 * n", "footprint": "8 * n"}, "the manifest states 1.638e+05 bytes read, the instructions of the launch can do 3.4"),
    ({"transcendentals": "n"}, "the manifest states 4096 transcendental operations, the instructions of the launch can do 0"),
]


def check_work(home, work, sentence):
    folder = pathlib.Path(home) / "work"
    folder.mkdir(exist_ok=True)
    (folder / "nstream.hip").write_text(NSTREAM_SOURCE, encoding="utf-8")
    (folder / "nstream.json").write_text(json.dumps({**NSTREAM, "work": {**NSTREAM["work"], **work}}), encoding="utf-8")
    done = harness.run("check", "nstream", "--arch", "gfx942", "--kernels", folder, home=home, **harness.CLANG)
    harness.check(done.returncode == (2 if sentence else 0), f"{work}: exit {done.returncode}: {done.stdout}{done.stderr}")
    harness.check(not sentence or sentence in done.stdout, f"{work}: {done.stdout}")


def check_uncounted(home):
    """Exponentials in a loop that nobody counted."""
    folder = pathlib.Path(home) / "uncounted"
    shutil.copytree(harness.ROOT / "kernels/norm", folder)
    manifest = json.loads((folder / "softmax_row.json").read_text(encoding="utf-8"))
    manifest.update(name="uncounted", work={key: value for key, value in manifest["work"].items() if "transcendentals" not in key})
    (folder / "softmax_row.json").write_text(json.dumps(manifest), encoding="utf-8")
    done = harness.run("check", "uncounted", "--arch", "gfx942,gfx1100", "--kernels", folder, home=home, **harness.CLANG)
    harness.check(done.returncode == 2 and done.stdout.count('counts no "transcendentals"') == 2, f"exponentials that are not counted: {done.stdout}")
    done = harness.run("check", "softmax_row", "softmax_long", "silu_mul", "rmsnorm", "moe_gate", "transcendental_peak", "stream_triad",
                       "--arch", "gfx942,gfx1100", home=home, **harness.CLANG)
    harness.check_run(done, 0, "the work of kernels with exponentials and roots")


def everything(home):
    if not harness.CLANG["ROOFTILE_KERNEL_COMPILER"]:
        harness.skip("there is no clang")
    for row in RIGHT:
        check_right(home, *row)
    for row in WRONG:
        check_wrong(home, *row)
    for row in WORKS:
        check_work(home, *row)
    check_uncounted(home)


if __name__ == "__main__":
    harness.main(everything)
