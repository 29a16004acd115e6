# SPDX-License-Identifier: MIT
"""Kernels compile for AMD GPUs: with the newest clang and with hipcc, for every target that they know, in every type, and on RDNA
for both wave sizes and both modes; a sample of all that, unless ROOFTILE_TEST_ALL is set (objects.py). What other tests look at is
compiled here too. The code objects must say what was asked for, and keep all they have in registers: no spills, no scratch memory,
unless the manifest has the tag "scratch". A kernel whose min_llvm is newer than the compiler is skipped with that reason. Needs no
GPU and no ROCm."""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import objects
from objects import harness

WITHOUT_SCRATCH = {"private_segment_fixed_size": "0", "sgpr_spill_count": "0", "vgpr_spill_count": "0"}
# Targets whose code is that of a neighbour but for the name: clang compiles them, an old hipcc need not.
TWINS = ["gfx1101", "gfx1102"]


def facts_of(readelf, paths):
    """{path: [{metadata key: value}]} of the kernels in code objects, from their notes, which llvm-readelf prints as YAML."""
    notes = subprocess.run([readelf, "--notes", *paths], capture_output=True, text=True, check=True).stdout
    files = re.split(r"^File: (.*)\n", notes, flags=re.M)[1:] if len(paths) > 1 else [paths[0], notes]
    found = {}
    for path, text in zip(files[::2], files[1::2]):
        blocks = [dict(re.findall(r"^ {4}\.(\w+): +(\S+)$", "    " + block, flags=re.M)) for block in re.split(r"^  - ", text, flags=re.M)[1:]]
        found[pathlib.Path(path)] = [facts for facts in blocks if "symbol" in facts]
    return found


def unbundle(bundle, target, out):
    """The code object of a hipcc's offload bundle: magic, count, then offset, size and name of each entry."""
    data = bundle.read_bytes()
    at = 24 + 8
    for _ in range(int.from_bytes(data[24:32], "little")):
        offset, size, length = (int.from_bytes(data[at + 8 * k:at + 8 * k + 8], "little") for k in range(3))
        name = data[at + 24:at + 24 + length].decode()
        if name.endswith(target):
            out.write_bytes(data[offset:offset + size])
            return out
        at += 24 + length
    harness.check(False, f"{bundle.name}: no entry for {target}")
    return None


def modes_of(path):
    """{kernel: (wave, WGP mode)} from the kernel descriptors, which the hardware reads: every NAME.kd of the symbol table."""
    data = path.read_bytes()
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + size * k) for k in range(count)]
    modes = {}
    for kind, offset, length, strings in ((s[1], s[4], s[5], s[6]) for s in sections):
        for at in range(offset, offset + length, 24) if kind == 2 else ():  # SHT_SYMTAB
            name_at, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            start = sections[strings][4] + name_at
            name = data[start:data.index(b"\0", start)].decode()
            if name.endswith(".kd"):
                descriptor = sections[section][4] + value - sections[section][3]
                rsrc1, = struct.unpack_from("<I", data, descriptor + 48)
                properties, = struct.unpack_from("<H", data, descriptor + 56)
                modes[name[:-3]] = (32 if properties >> 10 & 1 else 64, rsrc1 >> 29 & 1)
    return modes


def check_object(path, kernels, want, mode, what):
    found = modes_of(path)
    harness.check(len(kernels) > 0 and len(kernels) == len(found), f"{what}: {len(kernels)} kernels, descriptors {found}")
    for name, its in found.items():
        harness.check(its == mode, f"{what} {name}: wave and WGP mode are {its}, not {mode}")
    for facts in kernels:
        for key, value in want.items():
            harness.check(facts.get(key) == value, f"{what} {facts['name']}: {key} is {facts.get(key)}, not {value}")
    return len(kernels)


def check_objects(readelf, made, row, key, scratch, home):
    """How many kernels they hold."""
    target, wave, cumode = key
    plain = {}
    for path in made:
        if path.read_bytes()[:8] == b"__CLANG_":
            out = unbundle(path, target, pathlib.Path(home) / f"{path.stem}.co")
            plain |= {out: path} if out else {}
        else:
            plain[path] = path
    count = 0
    for path, kernels in facts_of(readelf, sorted(plain)).items() if plain else []:
        stem = objects.stem_of(plain[path])
        want = {"wavefront_size": str(wave)} | ({} if stem in scratch else WITHOUT_SCRATCH)
        count += check_object(path, kernels, want, (wave, int(row["wgp"] and not cumode)), f"{key} {made[plain[path]]}")
    return count


def never_compiled(row, home):
    """A target that nobody here knows is said to be one, once."""
    done = harness.run("build", "--arch", row["target"], home=home)
    harness.check_run(done, 1, f"build --arch {row['target']}")
    want = f"{row['target']}: never compiled: no compiler at hand knows {row['target']} (needs LLVM {row['needs_llvm']})"
    harness.check(done.stdout.startswith(want) and done.stdout.count("\n") == 1, f"not '{want}': {done.stdout}")


class Coverage:
    """Every kernel was compiled in each of its types, and for each kind of target, or has a reason not to be."""

    def __init__(self):
        self.made, self.skipped = set(), {}

    def add(self, key, cases, skipped):
        for name, params in cases:
            kind = "CDNA" if key[0].startswith("gfx9") or key[0] == objects.CDNA_WAVE32 else "RDNA"
            for what in (f"{name} {params}", f"{name} for {kind}, waves of {key[1]}"):
                if name in skipped:
                    self.skipped[what] = skipped[name]
                else:
                    self.made.add(what)

    def check(self, kernels):
        wanted = [f"{kernel.name} {params}" for kernel in kernels for params in objects.variants(kernel)]
        for kernel in kernels:
            wave64 = ["RDNA, waves of 64"] if kernel.asks_for_wave else []
            wanted += [f"{kernel.name} for {kind}" for kind in ["CDNA, waves of 64", "RDNA, waves of 32", *wave64]]
        for what in wanted:
            harness.check(what in self.made or what in self.skipped, f"not compiled: {what}")
            if what not in self.made and what in self.skipped:
                print(f"compiled for no target of the sample: {what}: {self.skipped[what]}")


def hipcc_orders(kernels, rows):
    """Of a sample every fourth source's kernels for one target, in one mode."""
    if objects.EVERYTHING:
        return objects.every_order(kernels, rows)
    orders = objects.Orders()
    for kernel in (kernel for kernel in kernels if kernel.number % 4 == 1):
        row = rows[kernel.number // 4 % len(rows)]
        mode = objects.MODES[kernel.number // 4 % 2] if row["wgp"] else (64, 0)
        orders.add(row["target"], *mode, kernel.name)
    return orders


def check_compiler(compiler, readelf, kernels, home):
    is_hipcc = compiler == "hipcc"
    rows = [row for row in objects.targets_of(compiler, home)
            if row["target"].startswith("gfx") and not (is_hipcc and row["target"] in TWINS)]
    if not rows:
        return 0
    orders = hipcc_orders(kernels, rows) if is_hipcc else objects.EVERYTHING and objects.every_order(kernels, rows) or objects.sample(kernels, rows)
    objects.say_sampled(len(orders), len(objects.every_order(kernels, rows)), f"kernels, types, targets and modes with {compiler}")
    if not is_hipcc:
        objects.add_tables(orders, {row["target"] for row in rows}, "instructions", "quality")
    scratch = {kernel.stem for kernel in kernels if kernel.may_spill}
    newer = {kernel.name for kernel in kernels if kernel.needs_newer}
    coverage = Coverage()
    for key, cases in orders.asked.items():
        row = next(row for row in rows if row["target"] == key[0])
        made, skipped = objects.build(home, key, cases, compiler)
        # Kernels that every run needs besides its own are there too, compiled as the device is used.
        made = {path: case for path, case in made.items() if path.suffix == ".hsaco" and objects.mode_of(key) in case}
        harness.check(made or {name for name, _ in cases} <= skipped.keys(), f"{key}: no code object was written")
        count = check_objects(readelf, made, row, key, scratch, home)
        coverage.add(key, cases, skipped)
        too_old = {name for name, why in skipped.items() if "needs LLVM" in why}
        harness.check(too_old <= newer and (is_hipcc or not too_old), f"{compiler} {key[0]}: needs a newer LLVM: {too_old}")
        print(f"{compiler} {key[0]} wave={key[1]} cumode={key[2]}: {count} kernels", flush=True)
    if not is_hipcc:
        coverage.check(kernels)
    return len(rows)


def main():
    readelf = harness.newest("llvm-readelf")
    compilers = [name for name in (objects.clang(), "hipcc") if name and shutil.which(name)]
    if not readelf or not compilers:
        print("skipped: there is no llvm-readelf, or neither clang++ nor hipcc")
        return 77
    with harness.scratch() as home:
        kernels = objects.read_kernels(home)
        if not sum(check_compiler(compiler, readelf, kernels, home) for compiler in compilers):
            print(f"skipped: {' and '.join(compilers)} know no AMD target")
            return 77
        for row in json.loads(harness.run("list", "--targets", "--json", "-", home=home).stdout)["targets"]:
            if not row["compiler"] and row["target"].startswith("gfx"):
                never_compiled(row, home)
    return harness.finish()


if __name__ == "__main__":
    sys.exit(main())
