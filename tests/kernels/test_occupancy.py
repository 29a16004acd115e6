# SPDX-License-Identifier: MIT
"""Occupancy against LLVM's own: kernels that clobber registers and own LDS are compiled for five targets, and what the
compiler prints as '; Occupancy:' must follow from what `rooftile inspect` finds in the code object.

LLVM prints waves per SIMD by the smallest of registers and LDS, rounds workgroups up to whole waves per SIMD, and does not
ask how many workgroups fit by registers; so the limits are compared, put together in LLVM's way. Its differences to the
hardware, which the program does not share, are exempted here one by one, and counted:
  lds     LDS is not rounded up to its granule of 512 bytes
  sgprs   on gfx9 LLVM's steps are 80, 88 and 100 SGPRs; allocation goes in steps of 16"""
import itertools
import json
import math
import re

from objects import harness

TARGETS = {"gfx90a": 512, "gfx942": 512, "gfx1030": 256, "gfx1100": 256, "gfx1201": 256}  # most registers of a wave
LDS = [0, 512, 4096, 8192, 12288, 16384, 21845, 32768, 40000, 65536]
BLOCKS = [64, 128, 256, 384, 512, 1024]
LDS_GRANULE, LDS_BYTES, LEAST_KERNELS = 512, 65536, 300


def uses_of(target):
    """(VGPRs, AGPRs, SGPRs, LDS, block): every pair of register count and LDS at several blocks, not all combinations."""
    has_agprs = TARGETS[target] == 512
    vgprs = [(v, 0, 0) for v in (24, 64, 65, 72, 80, 96, 97, 120, 128, 144, 168, 192, 216, 240, 256)]
    agprs = [(v, a, 0) for v, a in ((32, 32), (61, 4), (64, 65), (100, 60), (128, 128), (200, 200))] if has_agprs else []
    sgprs = [(24, 0, s) for s in (40, 80, 88, 90, 96, 98, 100)]
    registers = vgprs + agprs + sgprs
    for number, ((v, a, s), lds) in enumerate(itertools.product(registers, LDS)):
        for block in (BLOCKS[number % len(BLOCKS)], BLOCKS[(number * 5 + 2) % len(BLOCKS)]):
            # A compiler spills what a workgroup of this size has no registers for: those are no test.
            waves = math.ceil(block / (64 if has_agprs else 32)) / 4
            if max(1, math.ceil(waves)) * (math.ceil(v / 4) * 4 + a) <= (512 if has_agprs else 1024):
                yield v, a, s, lds, block


def source_of(uses):
    lines = ['target triple = "amdgcn-amd-amdhsa"']
    for number, (v, a, s, lds, block) in enumerate(uses):
        clobbers = ",".join(f"~{{{kind}{count - 1}}}" for kind, count in (("v", v), ("a", a), ("s", s)) if count)
        if lds:
            lines.append(f"@lds{number} = internal addrspace(3) global [{lds} x i8] undef, align 4")
        lines.append(f"define amdgpu_kernel void @k{number}() #{number} {{")
        if lds:
            lines.append(f"  store volatile i8 1, ptr addrspace(3) @lds{number}")
        lines.append(f'  call void asm sideeffect "", "{clobbers}"()\n  ret void\n}}')
        lines.append(f'attributes #{number} = {{ nounwind "amdgpu-flat-work-group-size"="{block},{block}" }}')
    return "\n".join(lines) + "\n"


def tool(*words):
    done = harness.subprocess.run([str(word) for word in words], capture_output=True, text=True)
    harness.check(done.returncode == 0, f"{words[0]}: {done.stderr[-1000:]}")
    return done.returncode == 0


def printed(assembly):
    """{kernel: {"Occupancy": 8, "TotalNumVgprs": ...}} from the comments behind each kernel."""
    found = {}
    for name, body in re.findall(r"^(k\d+):(.*?)^; Occupancy", assembly + "\n", flags=re.M | re.S):
        found[name] = {key: int(value) for key, value in re.findall(r"^; (\w+): (\d+)", body, flags=re.M)}
    for name, value in re.findall(r"^(k\d+):.*?^; Occupancy: (\d+)", assembly, flags=re.M | re.S):
        found[name]["Occupancy"] = int(value)
    return found


def least(*counts):
    return min(count for count in counts if count is not None)


def llvm_waves(occupancy, by_lds, by_sgprs):
    """Our limits put together as LLVM does."""
    by = occupancy["workgroups_by"]
    groups = least(by_lds, by["waves"], by["barriers"])
    waves = math.ceil(groups * occupancy["waves_per_workgroup"] / occupancy["simds"])
    return min(occupancy["waves_per_simd_max"], max(waves, 1), occupancy["waves_by_vgprs"], by_sgprs)


def llvm_sgpr_waves(sgprs):
    return 10 if sgprs <= 80 else 9 if sgprs <= 88 else 8 if sgprs <= 100 else 7


def compare(target, kernel, use, comments, exempted):
    occupancy = kernel["occupancy"]
    lds, block = use[3:]
    what = f"{target} {kernel['name']}: VGPRs {use[0]}, AGPRs {use[1]}, SGPRs {use[2]}, LDS {lds}, block {block}"
    by_lds, by_sgprs = occupancy["workgroups_by"]["lds"], occupancy["waves_by_sgprs"]
    harness.check(occupancy["block"] == block and kernel["lds_bytes"] == lds, f"{what}: not read so")
    harness.check(kernel["registers"]["vgprs"] == comments.get("TotalNumVgprs", comments["NumVgprs"]),
                  f"{what}: {kernel['registers']} against {comments}")
    harness.check(kernel["registers"]["vgprs_allocated"] == occupancy["vgprs_allocated"],
                  f"{what}: the descriptor allocates {kernel['registers']}, occupancy says {occupancy['vgprs_allocated']}")
    if llvm_waves(occupancy, by_lds, by_sgprs) == comments["Occupancy"]:
        return harness.check(True, what)
    pool = LDS_BYTES * (2 if occupancy["unit"] == "WGP" else 1)
    if lds % LDS_GRANULE and llvm_waves(occupancy, pool // lds, by_sgprs) == comments["Occupancy"]:
        exempted["lds"] += 1
    elif kernel["registers"]["sgprs"] > 80 and \
            llvm_waves(occupancy, by_lds, llvm_sgpr_waves(kernel["registers"]["sgprs"])) == comments["Occupancy"]:
        exempted["sgprs"] += 1
    else:
        harness.check(False, f"{what}: LLVM says {comments}, not as in {occupancy}")


def compare_target(home, target, exempted):
    uses = list(uses_of(target))
    source, assembly, relocatable, code = (home / f"{target}.{suffix}" for suffix in ("ll", "s", "o", "co"))
    source.write_text(source_of(uses))
    clang = [harness.newest("clang"), "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib"]
    if not (tool(*clang, "-O1", "-S", source, "-o", assembly) and tool(*clang, "-c", assembly, "-o", relocatable) and
            tool(harness.newest("ld.lld"), "-shared", relocatable, "-o", code)):
        return 0
    done = harness.run("inspect", code, "--json", "-", home=home)
    harness.check_run(done, 0, f"inspect {target}")
    if done.returncode:
        return 0
    kernels = json.loads(done.stdout)["files"][0]["objects"][0]["kernels"]
    comments = printed(assembly.read_text())
    harness.check(len(kernels) == len(comments) == len(uses), f"{target}: {len(kernels)} of {len(uses)} kernels, {len(comments)} comments")
    for kernel in kernels:
        compare(target, kernel, uses[int(kernel["name"][1:])], comments[kernel["name"]], exempted)
    return len(kernels)


def everything(home):
    for name in ("clang", "ld.lld"):
        if not harness.newest(name):
            harness.skip(f"{name} is not installed")
    exempted = {"lds": 0, "sgprs": 0}
    counts = {target: compare_target(home, target, exempted) for target in TARGETS}
    total = sum(counts.values())
    harness.check(total >= LEAST_KERNELS, f"only {total} kernels were compared")
    harness.check(sum(exempted.values()) < total / 5, f"{exempted} of {total} are exempted: too many for a comparison")
    print(f"{total} kernels: {counts}; exempted: {exempted}")


if __name__ == "__main__":
    harness.main(everything)
