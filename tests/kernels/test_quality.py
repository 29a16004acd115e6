# SPDX-License-Identifier: MIT
"""How good the code of the best matrix kernels is, told from their disassembly (quality/FAMILY.json): the main loop, that is the
innermost one with the most matrix work, of each kernel and target of a row.

  set        parameters, as for `rooftile inspect --set`
  archs      targets
  share      the least share of the loop's issue clocks that are matrix instructions, or {target: share}. Matrix instructions
             take what AMD's matrix instruction calculator says (src/code/isa_matrix.c), others 4 clocks on CDNA (64
             lanes on 16) and 1 on RDNA, transcendentals four times that, waits none: another wave issues meanwhile
  loads      bytes of each load from memory
  lds_reads  bytes of each LDS read, any of these
  prefetch   how many K tiles a turn of the loop works on: between a load and the first wait for it lies at least the matrix work of
             one K tile; with one K tile no wait is for a load that the same turn issued
  occupancy  waves per SIMD, at least
  lacks      patterns that no instruction of the loop begins with

None of them may spill or use scratch memory. Needs no GPU."""
import json
import re
import sys

from disassembly import check_tables, innermost_loops, inspect, settings
from objects import harness

WIDTHS = {"b128": 16, "dwordx4": 16, "b96": 12, "dwordx3": 12, "b64": 8, "dwordx2": 8, "b32": 4, "dword": 4, "2addr_b64": 16,
          "2addr_stride64_b64": 16, "2addr_b32": 8, "2addr_stride64_b32": 8}
WAIT_LOADS = re.compile(r"vmcnt\((\d+)\)|^s_wait_loadcnt(?:_dscnt)? (0x[0-9a-f]+|\d+)")


def other_clocks(instruction, arch):
    if re.match(r"s_wait|s_nop|s_delay_alu|s_barrier_wait|s_clause", instruction):
        return 0
    quarter = re.match(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_", instruction)
    return (4 if arch.startswith("gfx9") else 1) * (4 if quarter else 1)


def read_bytes(instruction):
    """Of an LDS read; ds_read2_* takes two of its width."""
    name = instruction.split()[0]
    twice = 2 if re.match(r"ds_read2", name) else 1
    width = name.split("_", 2)[2] if not twice == 2 else name.rsplit("_", 1)[1]
    return twice * WIDTHS.get(width, 0)


def hurried_wait(loop, k_tiles):
    """The first wait, in three turns of the loop, for a load with less matrix work since then than one K tile has; or None."""
    whole = sum(clocks for clocks, _ in loop)
    done, issued = 0, []
    for turn in range(3):
        for clocks, instruction in loop:
            done += clocks
            if re.match(r"(global|buffer|flat)_load", instruction):
                issued.append((turn, done))
            match = WAIT_LOADS.search(instruction)
            left = int(match[1] or match[2], 0) if match else len(issued)
            for when, work in issued[:max(len(issued) - left, 0)]:
                if done - work < 0.9 * whole / k_tiles or (k_tiles == 1 and when == turn):
                    return instruction
            issued = issued[-left:] if left else []
    return None


def share_of(loop, arch):
    matrix = sum(clocks for clocks, _ in loop)
    other = sum(other_clocks(instruction, arch) for clocks, instruction in loop if not clocks)
    return matrix / (matrix + other) if matrix else 0


def check_loop(row, loop, arch, what):
    share, least = share_of(loop, arch), row["share"][arch] if isinstance(row["share"], dict) else row["share"]
    listing = "\n    ".join(f"{clocks or other_clocks(instruction, arch):3} {instruction}" for clocks, instruction in loop)
    harness.check(share >= least, f"{what}: {share:.3f} of the clocks are matrix instructions, not {least}\n    {listing}")
    names = [instruction.split()[0] for _, instruction in loop]
    loads = [name for name in names if re.match(r"(global|buffer|flat|scratch)_load", name)]
    harness.check(bool(loads) and all(WIDTHS.get(name.split("_")[2]) == row["loads"] for name in loads), f"{what}: loads are {loads}")
    reads = [name for name in names if re.match(r"ds_(read|load)", name)]
    harness.check(bool(reads) and all(read_bytes(name) in row["lds_reads"] for name in reads), f"{what}: LDS reads are {reads}")
    wait = hurried_wait(loop, row["prefetch"]) if row.get("prefetch") else None
    harness.check(not wait, f"{what}: '{wait}' comes too soon after its loads\n    {listing}")
    for pattern in row.get("lacks", []):
        harness.check(not any(re.match(pattern, instruction) for _, instruction in loop), f"{what}: {pattern} in the loop\n    {listing}")
    print(f"{what}: {100 * share:.1f} %", flush=True)


def as_launched(home, row, arch):
    """By its name: what the launch has to do with it counts here."""
    done = inspect(home, row["kernel"], arch, *settings(row), "--isa")
    harness.check_run(done, 0, f"inspect {row['kernel']} for {arch}")
    return done.stdout


def check_registers(row, arch, home, what):
    facts = inspect(home, row["kernel"], arch, *settings(row), "--json", "-")
    harness.check_run(facts, 0, what)
    kernel, = [kernel for file in json.loads(facts.stdout)["files"] for made in file["objects"] for kernel in made["kernels"]
               if kernel["name"] == row["kernel"]][:1]
    off = [finding for finding in kernel["findings"] if finding["code"] == "lanes-off"]
    harness.check(not off, f"{what}: what all lanes do together is in a branch: {off}")
    spills = kernel["registers"]["vgpr_spills"], kernel["registers"]["sgpr_spills"], kernel["scratch_bytes"]
    harness.check(spills == (0, 0, 0), f"{what}: spilled VGPRs, SGPRs, scratch bytes: {spills}")
    if "occupancy" in row:
        least = row["occupancy"][arch] if isinstance(row["occupancy"], dict) else row["occupancy"]
        waves = kernel["occupancy"]["waves_per_simd"]
        harness.check(waves >= least, f"{what}: {waves} waves per SIMD, not {least}")


def check_row(row, arch, text, what, home):
    loops = innermost_loops(text)
    harness.check(any(clocks for loop in loops for clocks, _ in loop), f"{what}: no loop with matrix instructions")
    if loops:
        # Loops of equal matrix work: the prefetched one waits for less than the one that ends it and is the shorter.
        loop = min(loops, key=lambda loop: (-sum(clocks for clocks, _ in loop), len(loop)))
        check_loop(row, loop, arch, what)
    check_registers(row, arch, home, what)


if __name__ == "__main__":
    sys.exit(check_tables("quality", check_row, as_launched))
