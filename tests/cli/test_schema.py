# SPDX-License-Identifier: MIT
"""Every shipped suite, manifest and machine file, and results that the program writes, against configs/schema with an
independent validator; and the schemas against files with one thing wrong."""
import copy
import hashlib
import json
import pathlib
import struct
import sys

from harness import PROGRAM, ROOT, check, check_run, closed, finish, read_manifest, run, scratch

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

QUICK = ["--quick", "--min-time", "2ms", "--max-time", "20ms"]


def no_constants(name):
    raise ValueError(f"{name} is not JSON")


def strict(path):
    return json.loads(pathlib.Path(path).read_text(), parse_constant=no_constants)


def validator(kind):
    schema = strict(ROOT / f"configs/schema/{kind}.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    check(schema.get("$schema") == "https://json-schema.org/draft/2020-12/schema", f"{kind}: $schema")
    check("$id" in schema, f"{kind}: $id")
    return jsonschema.Draft202012Validator(closed(schema) if kind == "result" else schema)


def problems(kind, document):
    return [f"/{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validators[kind].iter_errors(document)]


def valid(kind, document, what):
    found = problems(kind, document)
    check(not found, f"{what}: {found[:3]}")


def invalid(kind, document, path, change, what):
    """`change` of the object at `path` must not pass."""
    broken = copy.deepcopy(document)
    target = broken
    for key in path:
        target = target[key]
    change(target)
    check(problems(kind, broken), f"{what}: passes as a {kind}")


def put(key, value):
    def change(target):
        target[key] = value
    return change


def drop(key):
    def change(target):
        del target[key]
    return change


def complete(machine, name):
    """A fact of predictions is there, or null with what was looked through."""
    for fact in ("core_hz", "dispatch_hz", "lds_latency_ns", "launch_next_ns"):
        check(fact in machine["facts"], f"{name} does not say whether {fact} is known")
    check("launch_ns" in machine, f"{name} does not say whether launch_ns is known")
    for level in machine["levels"]:
        for fact in ("bandwidth", "latency_ns"):
            check(fact in level, f"{name} does not say whether {fact} of {level['name']} is known")


def shipped():
    suites = sorted(ROOT.glob("configs/*.json"))
    machines = sorted(ROOT.glob("configs/machines/*.json"))
    manifests = sorted(ROOT.glob("kernels/**/*.json"))
    check(len(suites) >= 2 and len(machines) >= 4 and len(manifests) >= 11, f"{len(suites)} suites, {len(machines)} machines, {len(manifests)} manifests")
    for kind, paths in (("suite", suites), ("machine", machines), ("manifest", manifests), ("models", ROOT.glob("configs/models/described.json")), ("families", ROOT.glob("configs/models/families.json"))):
        for path in paths:
            valid(kind, strict(path), path.relative_to(ROOT))
            if kind == "machine":
                complete(strict(path), path.name)
            if kind == "manifest":
                valid(kind, read_manifest(path), f"{path.relative_to(ROOT)} over what it extends")


def broken_suites():
    suite = {"name": "s", "summary": "t", "defaults": {"params": {"block": 64}, "measure": {"min_time": "0.2 s"}, "tags": ["x"]},
             "cases": [{"kernel": "k", "params": {"n": 1}, "sweep": {"a": "1..4*2", "b": [1, 2], "c": {"min": 1, "max": 4, "step": 1, "exclude": [2]},
                                                                      "d": {"values": ["f32"]}},
                        "zip": [["a", "b"]], "exclude": ["n > 3"], "measure": {"cache": "cold", "precision": 0.01}, "tags": ["y"]}],
             "derive": [{"name": "levels", "method": "change_points", "kernel": "k", "x": "bytes", "y": "ns_per_item", "group": ["dtype"]},
                        {"name": "of", "method": "ratio", "kernel": "k", "to": "l", "y": "flops_per_s", "group": ["dtype"]},
                        {"name": "layer", "method": "shares", "layers": "*.*", "parts": {"qkv": 1, "rope": 2}}]}
    valid("suite", suite, "a suite that uses everything")
    for what, path, change in (
            ("unknown key", (), put("case", [])), ("no cases", (), drop("cases")), ("no name", (), drop("name")),
            ("empty cases", (), put("cases", [])), ("cases as object", (), put("cases", {})),
            ("unknown key of a case", ("cases", 0), put("sweeps", {})), ("no kernel", ("cases", 0), drop("kernel")),
            ("kernel as number", ("cases", 0), put("kernel", 1)), ("unknown measure key", ("cases", 0, "measure"), put("min_tim", "1 s")),
            ("unknown cache mode", ("cases", 0, "measure"), put("cache", "warm")), ("precision of two", ("cases", 0, "measure"), put("precision", 2)),
            ("zip of one", ("cases", 0), put("zip", [["a"]])), ("exclude as text", ("cases", 0), put("exclude", "n > 3")),
            ("unknown key of a sweep", ("cases", 0, "sweep", "c"), put("stop", 4)), ("tags as text", ("cases", 0), put("tags", "dram")),
            ("null parameter", ("cases", 0, "params"), put("n", None)), ("derive without method", ("derive", 0), drop("method")),
            ("a curve without x", ("derive", 0), drop("x")), ("a curve with parts", ("derive", 0), put("parts", {"a": 1})),
            ("a ratio to nothing", ("derive", 1), drop("to")), ("a ratio with x", ("derive", 1), put("x", "n")),
            ("shares without parts", ("derive", 2), drop("parts")), ("shares of a kernel", ("derive", 2), put("kernel", "k"))):
        invalid("suite", suite, path, change, what)


def broken_manifests():
    triad = read_manifest(ROOT / "kernels/memory/stream_triad.json")
    for what, path, change in (
            ("unknown key", (), put("sumary", "x")), ("no name", (), drop("name")), ("name with a slash", (), put("name", "a/b")),
            ("no code", (), drop("code")), ("no launch", (), drop("launch")), ("source and image", ("code",), put("image", "x.hsaco")),
            ("source and library", ("code",), put("library", "openblas")),
            ("unknown role", ("buffers", "a"), put("role", "output")), ("no type", ("buffers", "a"), drop("type")),
            ("unknown key of a buffer", ("buffers", "b"), put("fil", "i")), ("unknown generator", ("buffers", "b"), put("fill", {"gen": "unifrom"})),
            ("ring without stride", ("buffers", "b"), put("fill", {"gen": "ring"})), ("four dimensions", ("launch",), put("grid", ["1", "1", "1", "1"])),
            ("grid as text", ("launch",), put("grid", "1")), ("work as text", (), put("work", "2*n")),
            ("wave of 48", ("variants", 0), put("wave", 48)), ("unknown key of check", ("check",), put("expects", {}))):
        invalid("manifest", triad, path, change, what)


def broken_machines():
    path = sorted(ROOT.glob("configs/machines/*.json"))[0]
    machine = strict(path)
    for what, where, change in (("unknown key", (), put("cuss", 1)), ("no name", (), drop("name")), ("name as number", (), put("name", 3))):
        invalid("machine", machine, where, change, what)


def check_samples(home, name, result):
    """All of them: in the file, or beside it as f64."""
    for case in result["cases"]:
        count, inline, beside = case["measurement"]["n"], case.get("samples_ns"), case.get("samples_file")
        check(len(inline or []) == count or (beside and beside["count"] == count), f"{name}: {case['id']} has not its {count} samples")
        if beside:
            data = (home / beside["path"]).read_bytes()
            check(len(data) == 8 * count and hashlib.sha256(data).hexdigest() == beside["sha256"], f"{name}: {beside['path']} is not as described")
            values = sorted(struct.unpack(f"<{count}d", data))
            check(values[0] == case["stats"]["min_ns"] and values[-1] == case["stats"]["max_ns"], f"{name}: the samples are not those of the statistics")


def results(home):
    (home / "k").mkdir()
    (home / "k/liar.hip").write_text('#include "portable.h"\nextern "C" __global__ void liar(uint32_t *a)\n{\n    a[0] = 1;\n}\n')
    (home / "k/liar.json").write_text(json.dumps({
        "name": "liar", "summary": "says 1", "code": {"source": "liar.hip", "symbol": "liar"}, "params": {"n": 1},
        "buffers": {"a": {"type": "u32", "count": "n", "role": "out"}},
        "launch": {"grid": [1], "block": [1], "args": ["a"]}, "check": {"expect": {"a": "2"}}}))
    (home / "k/broken.hip").write_text("#error no\n")
    (home / "k/broken.json").write_text((home / "k/liar.json").read_text().replace("liar", "broken"))
    runs = {"sim": (0, ["stream_copy", "gemm_buffered", "pointer_chase", "--device", "sim:mi300x"]),
            "sim-samples": (0, ["stream_copy", "--device", "sim:mi210", "--samples"]),
            "cpu": (0, ["stream_copy", "launch_empty", "--set", "n=4096", "--device", "cpu", "--label", "a=b", *QUICK]),
            "cpu-samples": (0, ["stream_copy", "--set", "n=4096", "--device", "cpu", "--samples", *QUICK]),
            "skips-and-errors": (1, ["liar", "broken", "stream_copy", "--set", "n=1,4096", "--set", "block=1,100", "--device", "cpu", "--kernels", "k", *QUICK]),
            "cold": (0, ["stream_copy", "--set", "n=4096", "--device", "sim:mi300x", "--cache-mode", "cold"])}
    for name, (code, arguments) in runs.items():
        done = run("run", *arguments, "-o", f"{name}.json", home=home)
        check_run(done, code, name)
        result = strict(home / f"{name}.json")
        valid("result", result, f"result {name}")
        check(result["schema_version"] == "2.0.0", f"{name}: schema_version")
        if result["machine"]:
            valid("machine", result["machine"], f"machine of {name}")
        if "samples" in name:
            check_samples(home, name, result)
        lines = (home / f"{name}.json").read_text().splitlines()
        ids = [json.dumps(c["id"]) for c in result["cases"]]
        check(all(sum(id_ in line for line in lines) == 1 for id_ in ids) and len(ids) == len(set(ids)), f"{name}: one case per line")
    statuses = {c["status"] for c in strict(home / "skips-and-errors.json")["cases"]}
    check(statuses >= {"ok", "failed", "error", "skipped"}, f"skips-and-errors has only {statuses}")
    check_run(run("check", "stream_copy", "softmax_row", "--run", "--device", "cpu", "-o", "check.json", home=home), 0, "check --run")
    checked = strict(home / "check.json")
    valid("result", checked, "result of check --run")
    check(checked["run"]["started_at"] and checked["run"]["finished_at"], f"check --run: when? {checked['run']}")
    done = run("check", "stream_copy", "--run", "--device", "cpu", "--budget", "1us", "-o", "check.json", home=home)
    check(done.returncode == 3 and "W015" in done.stderr and strict(home / "check.json")["run"]["status"] == "interrupted", f"check --budget: {done.stderr}")


def broken_results(home):
    result = strict(home / "cpu.json")
    for what, path, change in (
            ("no schema_version", (), drop("schema_version")), ("no cases", (), drop("cases")), ("unknown status", ("cases", 0), put("status", "fine")),
            ("unknown flag", ("cases", 0), put("flags", ["slow"])), ("median as text", ("cases", 0, "stats"), put("median_ns", "5")),
            ("no id", ("cases", 0), drop("id")), ("unknown key", (), put("extra", 1)), ("unknown key of a case", ("cases", 0), put("extra", 1)),
            ("unknown timer", ("cases", 0, "measurement"), put("timer", "sundial")), ("seed as text", ("run",), put("seed", "1")),
            ("unknown verdict", ("cases", 0, "verification"), put("status", "maybe")), ("unknown run status", ("run",), put("status", "done"))):
        invalid("result", result, path, change, what)
    extended = copy.deepcopy(result)
    extended["cases"][0].setdefault("ext", {})["mine"] = {"anything": [1]}
    valid("result", extended, "extensions under ext")


def broken_comparisons(home):
    for seed in "12":
        check_run(run("run", "stream_copy", "--set", "n=1Mi,2Mi", "--device", "sim:mi300x", "--trials", "3", "--seed", seed, "-o", f"side{seed}.json",
                      home=home), 0, "a side")
    check_run(run("compare", "side1.json", "side2.json", "--json", "c.json", home=home), 0, "compare")
    check_run(run("aa", "stream_copy", "--set", "n=4096", "--device", "cpu", "--quick", "--max-time", "2ms", "--trials", "8", "--json", "aa.json",
                  home=home), 0, "aa")
    comparison, noise = strict(home / "c.json"), strict(home / "aa.json")
    valid("compare", comparison, "a comparison")
    valid("noise", noise, "aa --json")
    (stored,) = (home / "data/noise").glob("*.json")
    valid("noise", strict(stored), "the noise file")
    for what, path, change in (
            ("unknown key", (), put("extra", 1)), ("no cases", (), put("cases", [])), ("exit code 3", ("summary",), put("exit_code", 3)),
            ("unknown verdict", ("cases", 0), put("verdict", "worse?")), ("judged without a verdict", ("cases", 0), drop("verdict")),
            ("unknown key of a case", ("cases", 0), put("extra", 1)), ("refused without a reason", ("cases", 0), put("state", "refused")),
            ("one bound", ("cases", 0), put("ratio_ci", [1])), ("a share above one", ("cases", 0), put("p", 2))):
        invalid("compare", comparison, path, change, what)
    for what, path, change in (
            ("unknown key", (), put("extra", 1)), ("no fingerprint", (), drop("fingerprint")), ("noise below 0", ("cases", 0), put("sigma", -1)),
            ("trials as text", ("cases", 0), put("trials", "8")), ("unknown key of a class", ("classes", 0), put("extra", 1))):
        invalid("noise", noise, path, change, what)


def the_program_prints_them(home):
    for kind in validators:
        done = run("schema", kind, home=home)
        check_run(done, 0, f"schema {kind}")
        check(done.stdout == (ROOT / f"configs/schema/{kind}.schema.json").read_text(), f"schema {kind} is not configs/schema's")


validators = {}


def main():
    for kind in ("suite", "manifest", "machine", "models", "families", "result", "compare", "noise", "import"):
        validators[kind] = validator(kind)
    shipped()
    broken_suites()
    broken_manifests()
    broken_machines()
    with scratch() as folder:
        home = pathlib.Path(folder)
        results(home)
        broken_results(home)
        broken_comparisons(home)
        the_program_prints_them(home)
    finish()


if __name__ == "__main__":
    sys.exit("the program is missing: test_schema.py PROGRAM" if not PROGRAM else main())
