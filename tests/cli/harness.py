# SPDX-License-Identifier: MIT
"""What the tests of the program share: running it in a clean environment, and reporting what went wrong."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
SANITIZED = bool(PROGRAM) and b"__asan_init" in PROGRAM.read_bytes()  # their shadow and quarantine are no memory of ours
# Stand-ins for libraries of GPUs' vendors.
DOUBLES = pathlib.Path(os.environ.get("ROOFTILE_TEST_DOUBLES") or (PROGRAM.parent.parent / "tests/double" if PROGRAM else "."))
# Ends what hangs. No test depends on how long something takes: the machine may be busy.
PATIENCE_S = 1800
# `measure` of a suite whose times do not matter.
QUICK = {"warmup": "1 us", "warmup_max": "100 us", "min_time": "1 us", "max_time": "1 ms", "min_samples": 2, "max_samples": 3, "precision": 0.9,
         "calibration": False}
failures = []
checks = 0


def newest(name):
    """A tool of LLVM's: one without a version in its name is often an old one. None: there is none."""
    names = [*(f"{name}-{version}" for version in range(25, 13, -1)), name]
    return next((found for found in names if shutil.which(found)), None)


# For tests that compile for AMD GPUs, where it does not matter with what: a hipcc that does not know the target is asked again and
# again, which takes longer than the rest of the test.
CLANG = {"ROOFTILE_KERNEL_COMPILER": newest("clang++")}


def environment(home, **extra):
    """Nothing of the user's settings, caches or terminal. Compiled kernels are shared between tests, unless one asks for a cache of its own."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "ROOFTILE_DATA": str(home / "data"),
           "SOURCE_DATE_EPOCH": "1700000000"}
    if "ROOFTILE_TEST_CACHE" in os.environ:
        env["ROOFTILE_CACHE"] = os.environ["ROOFTILE_TEST_CACHE"]
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            env[name] = os.environ[name]
    env.update({k: v for k, v in extra.items() if v is not None})
    return env


def scratch():
    return tempfile.TemporaryDirectory(prefix="rooftile-test-")


def peak(*args, home, **extra):
    """(what was done, its maximum RSS in bytes)"""
    with open(home / "peak.out", "w+") as out, open(home / "peak.err", "w+") as err:
        child = subprocess.Popen([str(PROGRAM), *map(str, args)], env=environment(home, **extra), cwd=home, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(args, child.returncode, out.read(), err.read()), usage.ru_maxrss * 1024


def run(*args, home, cwd=None, **extra):
    """Without the lines of progress, which depend on how long something takes."""
    done = subprocess.run([str(PROGRAM), *map(str, args)], env=environment(pathlib.Path(home), **extra),
                          cwd=cwd or home, capture_output=True, text=True, timeout=PATIENCE_S)
    done.stderr = re.sub(r"^\.\.\. .*\n", "", done.stderr, flags=re.M)
    return done


def dashboard_metrics(prefix):
    """{family: labels that it is asked by} of Grafana's dashboard, for the families that begin so."""
    asked = {}
    for expression in dashboard_expressions():
        for family, matchers in re.findall(r"(rooftile_\w+)(?:\{([^}]*)\})?", expression):
            if family.startswith(prefix):
                asked.setdefault(family, set()).update(re.findall(r"(\w+)=~", matchers))
    check(asked, f"the dashboard shows {prefix}*")
    return asked


def dashboard_expressions():
    """What Grafana's dashboard asks Prometheus, with its variables as they are for 'All'."""
    board = load(ROOT / "configs/dashboards/grafana.json")
    asked = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    asked += [annotation["expr"] for annotation in board["annotations"]["list"]]
    return [re.sub(r"\$\w+", ".*", expression) for expression in asked]


def check_dashboard(prefix, families):
    """Each family that the dashboard asks for is among what the program wrote, of a measurement or a prediction, with these labels."""
    families = {family.replace("_predicted_", "_"): samples for family, samples in families.items()}
    for family, labels in dashboard_metrics(prefix).items():
        check(family in families, f"the dashboard asks for {family}, which is not written: {sorted(families)}")
        check(all(labels <= set(sample) for sample, _ in families.get(family, [])), f"{family} has the labels {labels}")


def metric_families(text):
    """{family: [(labels, value)]} of OpenMetrics 1.0, read strictly: each family once and in one piece, its head before its samples, its
    unit the end of its name, no series twice."""
    families, units, name = {}, {}, None
    lines = text.split("\n")
    check(lines[-2:] == ["# EOF", ""] and "# EOF" not in lines[:-2], "OpenMetrics ends with one EOF")
    for line in lines[:-2]:
        word, family, rest = (line.split(" ", 3) + [""])[1:4] if line.startswith("# ") else (None, None, None)
        if word == "HELP":
            name = family
            check(name not in families and rest, f"{name} begins once, with help")
            families[name] = []
        elif word:
            check(family == name and not families[name] and word in ("TYPE", "UNIT"), f"{line}: in its family's head")
            check(word == "UNIT" or rest == "gauge", line)
            check(word == "TYPE" or name.endswith("_" + rest), f"{line}: the unit ends the name")
            units.setdefault(word, {})[name] = rest
        else:
            sample = re.fullmatch(r'(\w+)\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)+)\} ([-+0-9.e]+)', line)
            check(sample and sample[1] == name, f"{line!r}: a sample of {name}")
            labels = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', sample[2])
            check(len(dict(labels)) == len(labels) and dict(labels) not in [known for known, _ in families[name]], f"{line}: twice")
            families[name].append((dict(labels), float(sample[3])))
    check(set(units.get("TYPE", ())) == set(families) and all(families.values()), "each family has a type and a sample")
    return families


def over(base, own):
    """A JSON value over another as in manifests: objects are merged, null takes a key away, all else replaces."""
    if not isinstance(base, dict) or not isinstance(own, dict):
        return own
    merged = {k: over(v, own[k]) if k in own else v for k, v in base.items() if own.get(k, v) is not None}
    return merged | {k: v for k, v in own.items() if k not in base}


def read_manifest(path):
    """The manifest at this path, with those that it extends below it."""
    own = json.loads(path.read_text(encoding="utf-8"))
    if "extends" not in own:
        return own
    base = read_manifest(path.with_name(own.pop("extends") + ".json"))
    return over({k: v for k, v in base.items() if k not in ("name", "summary")}, own)


def closed(schema):
    """A JSON schema in which no object may have other keys: readers are open, what the program writes is not."""
    if isinstance(schema, list):
        return [closed(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: closed(value) for key, value in schema.items()}
    if isinstance(copy.get("properties"), dict) and copy.get("type") == "object":
        copy["additionalProperties"] = False
    return copy


def packed(value):
    """msgpack, as far as metadata needs it."""
    if isinstance(value, dict):
        return b"\xdf" + struct.pack(">I", len(value)) + b"".join(packed(k) + packed(v) for k, v in value.items())
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(packed, value))
    if isinstance(value, int):
        return b"\xce" + struct.pack(">I", value)
    return b"\xdb" + struct.pack(">I", len(value)) + value.encode()


MACHINES = {"gfx906": 0x2F, "gfx908": 0x30, "gfx90a": 0x3F, "gfx942": 0x4C, "gfx950": 0x4F, "gfx1030": 0x36, "gfx1100": 0x41, "gfx1201": 0x4E}


def code_object(target, symbol, *args, **more):
    """An AMD code object without instructions, for stand-ins that execute none: an ELF file of nothing but its metadata note, and in its
    flags the target, without features, as LLVM numbers it. Arguments are "pointer" or a size in bytes."""
    listed, offset = [], 0
    for arg in args:
        size = 8 if arg == "pointer" else arg
        offset = (offset + size - 1) // size * size
        listed.append({".offset": offset, ".size": size, ".value_kind": "global_buffer" if arg == "pointer" else "by_value"})
        offset += size
    kernel = {".name": symbol, ".symbol": symbol + ".kd", ".args": listed, ".kernarg_segment_size": offset, ".wavefront_size": 64} | more
    data = packed({"amdhsa.target": "amdgcn-amd-amdhsa--" + target, "amdhsa.kernels": [kernel]})
    note = struct.pack("<III8s", 7, len(data), 32, b"AMDGPU") + data + bytes(-len(data) % 4)
    header = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 64, 3, 3, 224, 1, 0, 64, 0, MACHINES.get(target.split(":")[0], 0), 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 4, 4, 120, 120, 120, len(note), len(note), 4) + note


def bundle(entries):
    """A plain offload bundle."""
    table, data = b"", b""
    start = 32 + sum(24 + len(name) for name, _ in entries)
    for name, content in entries:
        table += (start + len(data)).to_bytes(8, "little") + len(content).to_bytes(8, "little") + len(name).to_bytes(8, "little") + name
        data += content
    return b"__CLANG_OFFLOAD_BUNDLE__" + len(entries).to_bytes(8, "little") + table + data


def check(holds, what):
    """Counts one check; a failed one is reported at the end with the others."""
    global checks
    checks += 1
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)


def check_run(done, code, what, stdout=None, stderr=None):
    """The exit code, and texts that must appear, wherever lines are wrapped."""
    check(done.returncode == code, f"{what}: exit {done.returncode}, expected {code}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    for stream, wanted in ((done.stdout, stdout), (done.stderr, stderr)):
        for text in [wanted] if isinstance(wanted, str) else wanted or []:
            check(text in stream or " ".join(text.split()) in " ".join(stream.split()), f"{what}: '{text}' is missing in:\n{stream[-3000:]}")


def load(path):
    return json.loads(pathlib.Path(path).read_text())


def finish():
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def main(*groups, doubles=()):
    """Calls each with a folder that all of them share, and says how it went."""
    if not PROGRAM:
        sys.exit(f"the program is missing: {sys.argv[0]} PROGRAM")
    for name in doubles:
        if not (DOUBLES / name).exists():
            skip(f"{name} is not built")
    with scratch() as folder:
        for group in groups:
            group(pathlib.Path(folder))
    finish()
