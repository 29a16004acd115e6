# SPDX-License-Identifier: MIT
"""Every kernel compiles for every AMD target that a compiler here knows, with clang and with hipcc, for some in every dtype, and
on RDNA for both wave sizes and both modes. The code objects must say what was asked for, and keep all they have in registers: no spills, no
scratch memory, unless the manifest has the tag "scratch". A kernel whose min_llvm is newer than the compiler is skipped
with that reason. Needs no GPU and no ROCm."""
import json
import os
import pathlib
import re
import shutil
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import harness  # noqa: E402

WITHOUT_SCRATCH = {"private_segment_fixed_size": "0", "sgpr_spill_count": "0", "vgpr_spill_count": "0"}
# The targets of each RDNA generation that are compiled in every way.
ALL_MODES = ["gfx1030", "gfx1100", "gfx1201"]
MODES = [(32, 0), (64, 0), (32, 1)]  # wave, CU mode; the first is the default
# Targets whose code is that of a neighbour but for the name: clang compiles them, an old hipcc need not.
TWINS = ["gfx1101", "gfx1102"]
# Those that kernels are compiled for in every dtype they know; for the others in their default one. With ROOFTILE_TEST_ALL=1 more.
ALL_DTYPES = {"clang++": ["gfx90a", "gfx942", "gfx1201"], "hipcc": ["gfx90a"]}
if os.environ.get("ROOFTILE_TEST_ALL"):
    ALL_DTYPES = {"clang++": ["gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"], "hipcc": ["gfx906", "gfx90a", "gfx1100"]}


def find_tool(name):
    """The newest: a tool without a version in its name is often an old one."""
    for suffix in (*(f"-{version}" for version in range(25, 13, -1)), ""):
        if shutil.which(name + suffix):
            return name + suffix
    return None


def read_kernels():
    """({"f32,f64": [names]} from the manifests' limits; "" for those that have no choice of dtypes, {name: its source's stem},
    sources that may use scratch memory, sources that only some targets and wave sizes have instructions for, kernels with a min_llvm)"""
    groups, sources, scratch, partial, picky = {}, {}, set(), set(), set()
    for path in sorted((harness.ROOT / "kernels").glob("*/*.json")):
        manifest = harness.read_manifest(path)
        if "oracle" in manifest.get("tags", []) or "source" not in manifest.get("code", {}):
            continue
        dtypes = manifest.get("limits", {}).get("dtype", [])
        groups.setdefault(",".join(dtypes), []).append(manifest["name"])
        sources[manifest["name"]] = pathlib.Path(manifest["code"]["source"]).stem
        if "scratch" in manifest.get("tags", []):
            scratch.add(sources[manifest["name"]])
        if "matrix" in manifest.get("tags", []):
            partial.add(sources[manifest["name"]])
        if "min_llvm" in manifest["code"]:
            picky.add(manifest["name"])
    return groups, sources, scratch, partial, picky


def targets_of(compiler, home):
    """The rows of `rooftile list --targets --json -` for one compiler."""
    done = harness.run("list", "--targets", "--json", "-", home=home, ROOFTILE_KERNEL_COMPILER=compiler)
    harness.check_run(done, 0, f"list --targets with {compiler}")
    return [row for row in json.loads(done.stdout) if row["target"].startswith("gfx")]


def facts_of(readelf, path):
    """[{metadata key: value}] of the kernels in a code object, from its notes, which llvm-readelf prints as YAML."""
    notes = harness.subprocess.run([readelf, "--notes", path], capture_output=True, text=True, check=True).stdout
    blocks = [dict(re.findall(r"^ {4}\.(\w+): +(\S+)$", "    " + block, flags=re.M))
              for block in re.split(r"^  - ", notes, flags=re.M)[1:]]
    return [facts for facts in blocks if "symbol" in facts]


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


def check_object(readelf, path, want, modes, what):
    kernels = facts_of(readelf, path)
    found = modes_of(path)
    harness.check(len(kernels) > 0 and len(kernels) == len(found), f"{what}: {len(kernels)} kernels, descriptors {found}")
    for name, mode in found.items():
        harness.check(mode == modes, f"{what} {name}: wave and WGP mode are {mode}, not {modes}")
    for facts in kernels:
        for key, value in want.items():
            harness.check(facts.get(key) == value, f"{what} {facts['name']}: {key} is {facts.get(key)}, not {value}")
    return len(kernels)


def build(compiler, names, target, settings, cache, home):
    """{path of the code object: id of the case that asked for it}, names of the kernels that need a newer LLVM"""
    words = [word for setting in settings for word in ("--set", setting)]
    done = harness.run("build", *names, "--arch", target, *words, "--jobs", 2, "--cache", cache, "-v", home=home,
                       ROOFTILE_KERNEL_COMPILER=compiler)
    harness.check_run(done, 0, f"{compiler}: build {' '.join(names)} {' '.join(words)} --arch {target}")
    asked = re.findall(r"^(?:compiled|cached) +(\S+)\n +(\S+\.hsaco)$", done.stdout, flags=re.M)
    skipped = set(re.findall(r"^skipped +([^/\n]+)/[^\n]*: needs LLVM \d+, but what compiles for", done.stdout, flags=re.M))
    return {pathlib.Path(path): case for case, path in asked}, skipped


def stem_of(path):
    """The source's: objects are named SOURCE-HASH.hsaco."""
    return path.name.rsplit("-", 1)[0]


def check_objects(readelf, objects, row, wave, cumode, scratch):
    harness.check(len(objects) > 0, f"{row['target']} wave={wave} cumode={cumode}: no code object was written")
    count = 0
    for path, case in sorted(objects.items()):
        what = f"{row['target']} wave={wave} cumode={cumode} {case}"
        want = {"wavefront_size": str(wave)}
        if stem_of(path) not in scratch:
            want.update(WITHOUT_SCRATCH)
        if path.read_bytes()[:8] == b"__CLANG_":
            path = unbundle(path, row["target"], path.with_suffix(".co"))
        if path:
            count += check_object(readelf, path, want, (wave, int(row["wgp"] and not cumode)), what)
    return count


def never_compiled(row, home):
    """A target that nobody here knows is said to be one, once."""
    done = harness.run("build", "--arch", row["target"], home=home)
    harness.check_run(done, 1, f"build --arch {row['target']}")
    want = f"{row['target']}: never compiled: no compiler at hand knows {row['target']} (needs LLVM {row['needs_llvm']})"
    harness.check(done.stdout.startswith(want) and done.stdout.count("\n") == 1, f"not '{want}': {done.stdout}")


def check_compiler(compiler, readelf, groups, sources, scratch, partial, picky, home):
    """Every target, some in every dtype; the ways of RDNA at the defaults."""
    names = [name for group in groups.values() for name in group]
    known = [row for row in targets_of(compiler, home) if row["compiler"] and not (compiler == "hipcc" and row["target"] in TWINS)]
    for row in known:
        target, wave = row["target"], 32 if row["wave32"] else 64
        cache = pathlib.Path(home) / compiler / target
        objects, skipped = {}, set()
        every = target in ALL_DTYPES[re.sub(r"-\d+$", "", compiler)]
        for dtypes, group in (groups if every else {"": names}).items():
            some, too_new = build(compiler, group, target, [f"dtype={dtypes}"] if dtypes else [], cache, home)
            objects.update(some)
            skipped |= too_new
        count = check_objects(readelf, objects, row, wave, 0, scratch)
        for wave, cumode in MODES[1:] if target in ALL_MODES else []:
            objects, _ = build(compiler, names, target, [f"wave={wave}", f"cumode={cumode}"], cache, home)
            # Kernels that every run needs besides its own are there too, compiled as the device is used.
            asked = {path: case for path, case in objects.items() if f"wave={wave};" in case}
            missing = {sources[name] for name in names if name not in skipped} - {stem_of(path) for path in asked} - partial
            harness.check(not missing, f"{compiler} {target}: wave={wave} cumode={cumode} gave nothing of {missing}")
            count += check_objects(readelf, asked, row, wave, cumode, scratch)
        harness.check(skipped <= picky and (compiler == "hipcc" or not skipped),
                      f"{compiler} {target}: needs a newer LLVM: {skipped}")
        skips = f", skipped (they need a newer LLVM): {', '.join(sorted(skipped))}" if skipped else ""
        print(f"{compiler} {target}: {count} kernels{skips}", flush=True)
    return len(known)


def main():
    readelf = find_tool("llvm-readelf")
    compilers = [name for name in (find_tool("clang++"), "hipcc") if name and shutil.which(name)]
    if not readelf or not compilers:
        print("skipped: there is no llvm-readelf, or neither clang++ nor hipcc")
        return 77
    groups, sources, scratch, partial, picky = read_kernels()
    harness.check(sum(map(len, groups.values())) > 10, f"only these kernels: {groups}")
    with harness.scratch() as home:
        count = sum(check_compiler(compiler, readelf, groups, sources, scratch, partial, picky, home) for compiler in compilers)
        if not count:
            print(f"skipped: {' and '.join(compilers)} know no AMD target")
            return 77
        done = harness.run("list", "--targets", "--json", "-", home=home)
        for row in json.loads(done.stdout):
            if not row["compiler"] and row["target"].startswith("gfx"):
                never_compiled(row, home)
    return harness.finish()


sys.exit(main())
