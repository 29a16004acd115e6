# SPDX-License-Identifier: MIT
"""Every manifest is checked, and every kernel runs at its check size and is verified on the CPU device, with its work-items in three
orders (--orders); or faults put in on purpose must be noticed (--inject-faults). Of a sample waves of 64 run all kernels, waves of 32 every
second one of those whose source asks for the wave (test_shapes.py has the others), their loops not unrolled: the rest is the same code at
both sizes.   verified.py PROGRAM WAVE OPTION..."""
import sys

import objects
from objects import harness


def everything(home):
    wave, options = sys.argv[2], sys.argv[3:]
    kernels = objects.read_kernels(home)
    names = [] if wave == "64" or objects.EVERYTHING else [kernel.name for kernel in kernels if kernel.asks_for_wave and not kernel.takes_shapes_at_32]
    objects.say_sampled(len(names or kernels), len(kernels), f"kernels at waves of {wave}")
    done = harness.run("check", *names, *options, "--device", f"cpu:wave={wave}", home=home, **(objects.quick_clang(home) if wave == "32" else {}))
    print(done.stdout)
    harness.check_run(done, 0, " ".join(["check", *options]))


if __name__ == "__main__":
    harness.main(everything)
