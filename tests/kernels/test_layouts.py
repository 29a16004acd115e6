# SPDX-License-Identifier: MIT
"""Matrix fragments as gfx950 and gfx1250 have them compute right results on the CPU device: K of 32, 64 and 128, floats of 4 and 6
bits, and gfx1250's layout in waves of 32 lanes. No hardware has shown that one: these tests hold tile.h to its table, no more."""
from objects import harness

# wave, kernel, settings, cases that must be verified
ROWS = [
    (64, "matrix_peak_mx", {"FORMAT": "2,3,4"}, 3),
    (64, "matrix_peak_fp8", {"dtype": "e4m3"}, 1),
    (64, "gemm_matrix", {"dtype": "e4m3", "BK": 128, "M": 16}, 1),
    (32, "tile_check", {"table": 1250, "dtype": "f16", "K": 32}, 1),
    (32, "tile_check", {"table": 1250, "dtype": "i8", "K": 64}, 1),
    (32, "tile_cover", {"table": 1250, "dtype": "e4m3", "K": 64}, 1),
    (32, "matrix_peak", {"layout": 1250}, 1),
    (32, "matrix_peak_mx", {"layout": 1250, "FORMAT": 2}, 1),
    (32, "gemm_matrix", {"layout": 1250, "dtype": "e4m3", "BK": 64}, 1),
    (32, "attention_prefill", {"layout": 1250}, 1),
]


def check_row(home, wave, kernel, settings, verified):
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    done = harness.run("check", kernel, "--run", "--device", f"cpu:wave={wave}", *words, home=home)
    harness.check_run(done, 0, f"{kernel} {settings}, waves of {wave}", stdout=[f": {verified} verified, 0 wrong or broken, 0 skipped"])


def everything(home):
    for row in ROWS:
        check_row(home, *row)


def another_size(home):
    """The reference follows the parameters: not only the size that `check` takes is right."""
    done = harness.run("run", "matrix_chain", "--device", "cpu", "--set", "loops=1,3", "--quick", home=home)
    harness.check_run(done, 0, "matrix_chain", stdout="2 cases: 2 measured, 2 verified")


if __name__ == "__main__":
    harness.main(everything, another_size)
