# SPDX-License-Identifier: MIT
"""What the tests of the kernels' code read from `rooftile inspect --isa`."""
import json
import re
import shutil

import objects
from objects import harness

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


def settings(row):
    return [word for name, value in row.get("set", {}).items() for word in ("--set", f"{name}={value}")]


def inspect(home, kernel, target, *options):
    """Of a kernel that is compiled already (objects.py), or is now."""
    return harness.run("inspect", kernel, "--arch", target, *options, home=home, ROOFTILE_KERNEL_COMPILER=objects.clang())


def disassembled(home, row, target):
    """The disassembly of what a kernel launches, from the object that test_compile_amd.py made. `inspect KERNEL` would have it
    compiled again, with line tables, and executed to see which loops turn."""
    name = row["kernel"]
    done = harness.run("build", name, "--arch", target, *settings(row), "-v", home=home, ROOFTILE_KERNEL_COMPILER=objects.clang())
    harness.check_run(done, 0, f"build {name} for {target}")
    path = re.search(rf"^(?:compiled|cached) +{name}/.*\n +(\S+\.hsaco)$", done.stdout, flags=re.M)[1]
    done = harness.run("inspect", path, "--isa", home=home)
    harness.check_run(done, 0, f"inspect {path}")
    manifest = harness.read_manifest(next(harness.ROOT.glob(f"kernels/*/{name}.json")))
    symbols = set(re.findall(r'"symbol": "(\w+)"', json.dumps(manifest))) or {name}
    texts = [text for text in re.split(r"^kernel ", done.stdout, flags=re.M)[1:] if text.split()[0] in symbols]
    harness.check(texts, f"{path}: no kernel {symbols}")
    return "".join(texts)


def check_tables(folder, check_row, read):
    """check_row(row, target, text of the disassembly, what it is, home) for what is chosen of FOLDER/*.json, where
    read(home, row, target) gives the text; the test's exit code."""
    if not harness.newest("llvm-objdump") or not shutil.which(objects.clang() or "clang++"):
        print("skipped: there is no clang, or no llvm-objdump")
        return 77
    with harness.scratch() as home:
        known = {row["target"] for row in objects.targets_of(objects.clang(), home)}
        chosen, count, whole = objects.tables(folder, known)
        objects.say_sampled(count, whole, "rows and targets")
        for row, targets in chosen:
            for target in targets:
                what = " ".join([row["kernel"], *settings(row)[1::2], target])
                check_row(row, target, read(home, row, target), what, home)
    return harness.finish()
