# SPDX-License-Identifier: MIT
"""Instructions that all lanes of a wave do together stay where all lanes are: matrix products and exchanges of lanes whose
result only some lanes use, in a branch, are computed before it. LLVM before 22 moves WMMA and v_permlane16 into the branch (22 still
the WMMA of gfx11), where the other lanes' part is missing: clang 19 is asked where there is one, and the newest. Needs no GPU."""
import json
import re
import shutil

import objects
from disassembly import instructions
from objects import harness

SOURCE = """
#include "portable.h"
#include "tile.h"
extern "C" __global__ void late_use(float *__restrict out, const uint16_t *__restrict in, uint32_t n)
{
#if MATRIX
    using fragment = tile<16, 16, 16, tile_f16, float>;
    const auto c = tile_mma<fragment>(tile_load_a<fragment>(in, 16), tile_load_b<fragment>(in + 256, 16), tile_fill<fragment>(0));
    const float result = c[0] + c[1];
#else
    const float own = static_cast<float>(in[threadIdx.x]);
    const float result = own + EXCHANGE(own, 0x76543210u, 0xfedcba98u);
#endif
    out[n + threadIdx.x] = 1; /* something between, so that there is a place to move from */
    if (threadIdx.x < n)
        out[threadIdx.x] = result;
}
"""
MANIFEST = {
    "name": "late_use", "summary": "uses in some lanes what all of them computed", "class": "compute",
    "params": {"n": 5},
    "code": {"source": "late_use.hip", "symbol": "late_use"},
    "buffers": {"out": {"type": "f32", "count": "n + device.wave", "role": "out"},
                "in": {"type": "u16", "count": "512", "role": "in", "fill": "i % 7"}},
    "launch": {"grid": ["1"], "block": ["device.wave"], "args": ["out", "in", {"value": "n", "type": "u32"}]},
    "work": {"write": "4 * n", "items": "n"},
    "check": {"expect": {"out": "0"}},  # only compiled here
}
# Name, defines, what the instruction begins with, targets that have it.
ROWS = [("matrix", {"MATRIX": "1"}, r"v_wmma|v_mfma", ("gfx90a", "gfx942", "gfx1100", "gfx1201")),
        ("row", {"MATRIX": "0", "EXCHANGE": "row_permute"}, r"v_permlane16_", ("gfx1030", "gfx1100", "gfx1201")),
        ("other", {"MATRIX": "0", "EXCHANGE": "row_permute_other"}, r"v_permlanex16_", ("gfx1030", "gfx1100", "gfx1201"))]
NARROWER = re.compile(r"v_cmpx_|s_and_saveexec_")


def write_kernel(folder, defines):
    folder.mkdir()
    (folder / "late_use.hip").write_text(SOURCE, encoding="utf-8")
    manifest = MANIFEST | {"code": MANIFEST["code"] | {"defines": defines}}
    (folder / "late_use.json").write_text(json.dumps(manifest), encoding="utf-8")


def check_order(home, folder, arch, wanted, compiler):
    done = harness.run("inspect", "late_use", "--arch", arch, "--kernels", folder, "--isa", home=home, ROOFTILE_KERNEL_COMPILER=compiler)
    code = instructions(done.stdout)
    at = [i for i, line in enumerate(code) if re.match(wanted, line)]
    branches = [i for i, line in enumerate(code) if NARROWER.match(line)]
    harness.check(done.returncode == 0 and at and branches and max(at) < min(branches),
                  f"{folder.name} on {arch}, {compiler}: exit {done.returncode}, at {at}, branches at {branches}\n{done.stderr}")


def everything(home):
    compilers = sorted({name for name in ("clang++-19", objects.clang()) if name and shutil.which(name)})
    if not compilers:
        harness.skip("there is no clang")
    if "clang++-19" not in compilers:
        print(f"there is no clang++-19: only {compilers[0]}, which needs it for the WMMA of gfx11 alone")
    for name, defines, wanted, archs in ROWS:
        folder = home / name
        write_kernel(folder, defines)
        for compiler in compilers:
            for arch in archs:
                check_order(home, folder, arch, wanted, compiler)


if __name__ == "__main__":
    harness.main(everything)
