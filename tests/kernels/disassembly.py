# SPDX-License-Identifier: MIT
"""What the tests of the kernels' code read from `rooftile inspect --isa`."""
import re

# Address, class as `inspect` prints it, what it does, then the instruction: the mnemonic is the first word with an underscore.
INSTRUCTION = re.compile(r"^ +[0-9a-f]+ ([a-zA-Z][\w-]*(?: [a-z]+)?)(.*?)\s((?:\w+ )*?)([a-z]+[0-9]*_\w+.*)$")


def innermost_loops(text):
    """[[(clocks of the matrix unit or 0, instruction)]] of the loops that hold no other."""
    open_loops, loops = [], []
    for line in text.splitlines():
        if re.search(r"; loop \d+ \{", line):
            for loop in open_loops:
                loop["innermost"] = False
            open_loops.append({"innermost": True, "instructions": []})
        elif re.search(r"; \} loop \d+", line):
            loop = open_loops.pop()
            if loop["innermost"]:
                loops.append(loop["instructions"])
        elif open_loops and (match := INSTRUCTION.match(line)):
            clocks = re.search(r"(\d+) clk", match[2]) if match[1] == "matrix" else None
            open_loops[-1]["instructions"].append((int(clocks[1]) if clocks else 0, match[4]))
    return loops


def instructions(text):
    """All of them, in order, whatever loops there are."""
    return [match[4] for line in text.splitlines() if (match := INSTRUCTION.match(line))]
