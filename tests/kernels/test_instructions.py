# SPDX-License-Identifier: MIT
"""The loops that are measured hold the instructions that are named, so many of them and nothing that would be measured in
their place (instructions/FAMILY.json): each kernel is compiled for targets of its row (objects.py says for which) and disassembled. The loop is, of those
that hold no other, the one with the most of the instructions that are asked for, then the largest.

  set          parameters, as for `rooftile inspect --set`
  archs        targets
  straight     true: a kernel without any loop; what is said of the loop is then said of all of it
  loop_has     {pattern: how many instructions of the loop begin with it}
  loop_share   {pattern: the least share of the loop's vector, matrix, LDS and memory instructions that begin with it}
  loop_chain   a pattern: each instruction that begins with it reads what the one before wrote
  loop_lacks   patterns that no instruction of the loop begins with

No instruction of the whole wave (WMMA, v_permlane16) may be where lanes are switched off. Patterns are regular expressions
for the start of an instruction's text, up to a word's end: ds_(read|load)_b32 does not match ds_read_b32x. Needs no GPU."""
import re
import sys

from disassembly import check_tables, disassembled, innermost_loops, instructions
from objects import harness

WORK = r"(v|ds|global|buffer|flat|scratch|s_load|s_buffer_load)_"


def count(pattern, loop):
    return sum(bool(re.match(rf"(?:{pattern})(?!\w)", instruction)) for instruction in loop)


def registers(operand):
    """{"v4", "v5"} of v[4:5]; the word itself when it is no register."""
    name = operand.strip().split(" ")[0].strip("-|")
    span = re.fullmatch(r"([vsa])\[(\d+):(\d+)\]", name)
    return {f"{span[1]}{k}" for k in range(int(span[2]), int(span[3]) + 1)} if span else {name}


# These add to what they write.
ACCUMULATES = re.compile(r"v_(dual_|pk_)?(fmac|dot\d+(c|acc))_")


def is_chain(instructions):
    written, read = [], []
    for instruction in instructions:
        mnemonic, _, operands = instruction.partition(" ")
        first, *others = map(registers, operands.split(","))
        written.append(first)
        read.append(set().union(*others, first if ACCUMULATES.match(mnemonic) else set()))
    return len(written) > 1 and all(before & now for before, now in zip(written, read[1:]))


def check_shape(row, loop, what, listing):
    """How much of the loop is what it measures, and does it depend on itself?"""
    work = [instruction for instruction in loop if re.match(WORK, instruction)]
    for pattern, least in row.get("loop_share", {}).items():
        found = count(pattern, work)
        harness.check(found >= least * len(work) > 0, f"{what}: {found} of {len(work)} are {pattern}\n    {listing}")
    if "loop_chain" in row:
        chain = [instruction for instruction in loop if count(row["loop_chain"], [instruction])]
        harness.check(is_chain(chain), f"{what}: {row['loop_chain']} is not one chain\n    {listing}")


def check_row(row, _, text, what, __):
    harness.check(bool(row.get("loop_has") or row.get("loop_share")), f"{row['kernel']}: a row must name what the loop has")
    harness.check("may switch lanes off" not in " ".join(text.split()), f"{what}: what all lanes do together is in a branch")
    loops = [[instruction for _, instruction in loop] for loop in innermost_loops(text)]
    if row.get("straight"):
        harness.check(not loops, f"{what}: there is a loop")
        loops = [instructions(text)]
    harness.check(bool(loops), f"{what}: no loop")
    if not loops:
        return
    asked = [*row.get("loop_has", {}), *row.get("loop_share", {})]
    loop = max(loops, key=lambda loop: (sum(count(pattern, loop) for pattern in asked), len(loop)))
    listing = "\n    ".join(loop)
    for pattern, wanted in row.get("loop_has", {}).items():
        found = count(pattern, loop)
        harness.check(found == wanted, f"{what}: {found} of {pattern} in the loop, not {wanted}\n    {listing}")
    check_shape(row, loop, what, listing)
    for pattern in row.get("loop_lacks", []):
        harness.check(not count(pattern, loop), f"{what}: {pattern} in the loop\n    {listing}")


if __name__ == "__main__":
    sys.exit(check_tables("instructions", check_row, disassembled))
