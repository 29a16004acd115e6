# SPDX-License-Identifier: MIT
"""Which kernels are compiled for which GPUs, in which types and modes, and doing so. The code objects go to one folder (the cache
that ROOFTILE_TEST_CACHE names), each is compiled once, and every test of code reads it there.

A plain run compiles a sample, always the same one. Each kernel is compiled for the newest CDNA, gfx950, as `check --run`
verifies it (which test_emulated.py builds upon), and with its default parameters for one RDNA, chosen by the number of its source in
the list: with waves of 32, and for another one with waves of 64 if it asks for the wave. Every third source is compiled for an older
CDNA too, and every eighth and half of the matrix kernels for gfx1250. Each type is compiled for one target, of
matrix kernels for one with MFMA and one with WMMA. ROOFTILE_TEST_ALL=1 (scripts/test --all) compiles every type for every target, and
every mode."""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "cli"))
import harness  # noqa: E402

EVERYTHING = bool(os.environ.get("ROOFTILE_TEST_ALL"))
NEWEST_CDNA, CDNA_WAVE32 = "gfx950", "gfx1250"
MATRIX_TARGETS = [["gfx90a", "gfx942", "gfx950"], ["gfx1100", "gfx1201"]]
FP8_TARGETS = ["gfx942", "gfx950", "gfx1201"]
ASKS_FOR_WAVE = re.compile(r"tile\.h|__shfl|wave_size|wave_\w+\(|__ballot")
LOOPS = ("-pragma-unroll-threshold=1", "-unroll-full-max-count=1", "-unroll-max-count=1")
MODES = [(32, 0), (64, 0), (32, 1)]  # of RDNA: wave, CU mode; the first is the default


@dataclasses.dataclass(frozen=True)
class Kernel:
    name: str
    stem: str  # of its source: objects are named STEM-HASH
    number: int  # its source's place in the list
    dtypes: tuple  # the default comes first; empty where there is no choice
    is_matrix: bool  # only some targets and wave sizes have its instructions
    may_spill: bool
    needs_newer: bool  # a compiler can be too old for it
    asks_for_wave: bool  # it is other code at another size of the wave
    require: str  # what it needs of a device
    check: tuple  # (name, value) of the parameters that it is verified at
    compiled_in: frozenset  # names of parameters that its code is compiled for; the others are told at run time

    @property
    def takes_shapes_at_32(self):
        """In a sample waves of 32 have either its shapes (test_shapes.py) or its check size (verified.py), waves of 64 the other, too."""
        return self.asks_for_wave and sum(self.name.encode()) % 2 == 0


def clang():
    """For ROOFTILE_KERNEL_COMPILER, so that all tests get the same objects, and no other compiler is asked first."""
    return harness.newest("clang++")


def quick_clang(home):
    """The environment in which the newest clang optimises little and unrolls nothing, `#pragma unroll` or not: unrolled, as verified.py
    has kernels at waves of 64, they take it four times as long and compute the same. With ROOFTILE_TEST_ALL=1 the plain one."""
    compiler = clang()
    if not compiler or EVERYTHING:
        return {}
    wrapper = pathlib.Path(os.environ.get("ROOFTILE_TEST_CACHE", home)) / "clang-quick"
    if not wrapper.exists():
        flags = " ".join(f"-mllvm {flag}" for flag in LOOPS)
        draft = wrapper.with_name(f"{wrapper.name}.{os.getpid()}")  # tests begin at once
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(f'#!/bin/sh\nexec {shutil.which(compiler)} "$@" -O1 {flags}\n')
        draft.chmod(0o755)
        draft.rename(wrapper)
    return {"ROOFTILE_KERNEL_COMPILER": str(wrapper)}


def names_in(code, let):
    """Of parameters, and of other names, that defines and flags are made of."""
    let = {name.split("(")[0]: text for name, text in let.items()}  # "rounds(n)" is a function
    names, more = frozenset(), frozenset(re.findall(r"\w+", json.dumps(code)))
    while more > names:
        names = more
        more |= frozenset(word for name in names & let.keys() for word in re.findall(r"\w+", json.dumps(let[name])))
    return names


def check_params(manifest):
    """(name, value) of the parameters a kernel is verified at; how it is compiled, wave and CU mode, is said apart."""
    return tuple((name, value) for name, value in manifest.get("check", {}).get("params", {}).items() if name not in ("wave", "cumode"))


def read_kernels(home, without_source=False):
    """All kernels but references, in the order of their names."""
    done = harness.run("list", "--json", "-", home=home)
    harness.check_run(done, 0, "list")
    found = []
    for listed in json.loads(done.stdout)["kernels"]:
        path = pathlib.Path(listed["path"])
        manifest = harness.read_manifest(path)
        code, require = manifest.get("code", {}), json.dumps(manifest.get("require", ""))
        if listed["reference"] or not ("source" in code or without_source):
            continue
        source = (path.parent / code["source"]).read_text(encoding="utf-8") if "source" in code else ""
        asks = bool(ASKS_FOR_WAVE.search(json.dumps(manifest) + source))
        dtype = next((param for param in listed["params"] if param["name"] == "dtype"), {})
        dtypes = sorted(dtype.get("limits", []), key=lambda name: name != dtype["default"])
        found.append((listed, pathlib.Path(code.get("source", "")).stem, tuple(dtypes), ("min_llvm" in code, asks, require, check_params(manifest), names_in(code, manifest.get("let", {})))))
    stems = sorted({stem for _, stem, _, _ in found})
    harness.check(len(found) > 100, f"only {len(found)} kernels")
    return [Kernel(listed["name"], stem, stems.index(stem), dtypes, "matrix" in listed["tags"], "scratch" in listed["tags"], *more)
            for listed, stem, dtypes, more in found]


def targets_of(compiler, home, **environment):
    """The rows of `rooftile list --targets --json -` that this compiler can compile for; None: any compiler."""
    done = harness.run("list", "--targets", "--json", "-", home=home, ROOFTILE_KERNEL_COMPILER=compiler, **environment)
    harness.check_run(done, 0, f"list --targets with {compiler}")
    return [row for row in json.loads(done.stdout)["targets"] if row["compiler"]]


class Orders:
    """What is to be compiled: {(target, wave, CU mode): [(kernel's name, parameters)]}, each once."""

    def __init__(self):
        self.asked = {}

    def add(self, target, wave, cumode, name, params=None):
        cases = self.asked.setdefault((target, wave, cumode), [])
        if (name, params or {}) not in cases:
            cases.append((name, params or {}))

    def __len__(self):
        return sum(map(len, self.asked.values()))


def variants(kernel):
    """Parameters for each of its types; the first are the defaults."""
    return [{}] + [{"dtype": dtype} for dtype in kernel.dtypes[1:]]


def every_order(kernels, rows):
    """The whole matrix: every type for every target, and every mode."""
    orders = Orders()
    for row in rows:
        modes = MODES if row["wgp"] else [(64 if row["wave64"] else 32, 0)]
        for wave, cumode in modes:
            for kernel in kernels:
                for params in variants(kernel) if (wave, cumode) == modes[0] else [{}]:
                    orders.add(row["target"], wave, cumode, kernel.name, params)
                if row["target"] == NEWEST_CDNA:
                    orders.add(row["target"], wave, cumode, kernel.name, dict(kernel.check))
    return orders


def sample(kernels, rows):
    orders = Orders()
    names = [row["target"] for row in rows]
    rdna = [row["target"] for row in rows if row["wgp"]]
    cdna = [row["target"] for row in rows if row["wave64"] and not row["wgp"]]
    older = [name for name in cdna if name != NEWEST_CDNA]

    def add(choice, number, kernel, params, mode=0):
        if choice:
            target = choice[number % len(choice)]
            orders.add(target, *(MODES[mode] if target in rdna else (64 if target in cdna else 32, 0)), kernel.name, params)

    for kernel in kernels:
        add([name for name in cdna if name == NEWEST_CDNA], 0, kernel, dict(kernel.check))
        if kernel.number % 3 == 0 or NEWEST_CDNA not in cdna:
            add(older, kernel.number // 3, kernel, {})
        if kernel.number % (2 if kernel.is_matrix else 8) == 0:
            add([name for name in names if name == CDNA_WAVE32], 0, kernel, {})
        add(rdna, kernel.number, kernel, {}, mode=0 if kernel.number % 3 else 2)
        if kernel.asks_for_wave:
            add(rdna, kernel.number + 3, kernel, {}, mode=1)
        for number, params in enumerate(variants(kernel)[1:]):
            is_fp8 = re.match(r"e\dm\d(fnuz)?", params["dtype"])
            choices = [FP8_TARGETS[:1] if is_fp8[1] else FP8_TARGETS[1:]] if is_fp8 else MATRIX_TARGETS if kernel.is_matrix else [names]
            for choice in choices:
                add([name for name in names if name in choice], kernel.number + 1 + number, kernel, params)
    return orders


def tables(folder, known):
    """(row, targets) of FOLDER/*.json, of the targets that the compiler knows. In a sample a row is looked at for one of its targets, and
    rows take turns."""
    files = sorted((FOLDER / folder).glob("*.json"))
    rows = [row for file in files for row in json.loads(file.read_text(encoding="utf-8"))]
    harness.check(len(rows) > 0, f"no rows in {folder}")
    archs = [[arch for arch in row["archs"] if arch in known] for row in rows]
    whole = sum(map(len, archs))
    if whole < sum(len(row["archs"]) for row in rows):
        print(f"{folder}: not for {', '.join(sorted({arch for row in rows for arch in row['archs']} - known))}, which {clang()} does not know")
    chosen = [(row, own if EVERYTHING else [own[number % len(own)]]) for number, (row, own) in enumerate(zip(rows, archs)) if own]
    return chosen, sum(len(targets) for _, targets in chosen), whole


def add_tables(orders, known, *folders):
    """What tests of instructions look at."""
    for folder in folders:
        for row, targets in tables(folder, known)[0]:
            for target in targets:
                params = dict(row.get("set", {}))
                wave = params.pop("wave", 64 if target.startswith("gfx9") else 32)
                orders.add(target, wave, params.pop("cumode", 0), row["kernel"], params)


def say_sampled(asked, whole, what):
    """Said in every run, so that nobody takes a part for the whole."""
    print(f"all {whole:,} {what}" if asked >= whole else f"sampled: {asked:,} of {whole:,} {what}; scripts/test --all has the rest", flush=True)


def mode_of(key):
    """What ids of cases say that are compiled in another mode than the default."""
    _, wave, cumode = key
    return "cumode=1" if cumode else "wave=64" if key[0].startswith("gfx1") and wave == 64 else ""


def build(home, key, cases, compiler=None, **environment):
    """Compiles for one target: {path of the code object: id of the case that asked for it}, {kernel: why it was skipped}"""
    target, wave, cumode = key
    suite = pathlib.Path(home) / f"{target}-{wave}-{cumode}.json"
    suite.write_text(json.dumps({"name": "objects", "cases": [{"kernel": name, "params": params} for name, params in cases]}))
    words = ["--set", f"wave={wave}", "--set", f"cumode={cumode}"] if mode_of(key) else []
    done = harness.run("build", suite, "--arch", target, *words, "--jobs", os.cpu_count(), "-v", home=home,
                       ROOFTILE_KERNEL_COMPILER=compiler, **environment)
    harness.check_run(done, 0, f"{compiler}: build for {target} wave={wave} cumode={cumode}")
    asked = re.findall(r"^(?:compiled|cached) +(\S+)\n +(\S+\.(?:hsaco|ptx|cubin))$", done.stdout, flags=re.M)
    skipped = dict(re.findall(r"^skipped +([^/:\n]+)[^:\n]*: (.*)$", done.stdout, flags=re.M))
    return {pathlib.Path(path): case for case, path in asked}, skipped


def stem_of(path):
    return pathlib.Path(path).name.rsplit("-", 1)[0]
