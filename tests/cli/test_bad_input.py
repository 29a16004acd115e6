# SPDX-License-Identifier: MIT
"""Bad input gets exit code 2 and one message that says where (file:line:column, JSON pointer) and what; nothing is written.

In the texts below `@` marks the place that the message must name; it is taken out before the file is written."""
import json
import os

from harness import ROOT, check, check_run, main, run

DEVICE = ["--device", "sim:h100"]  # whose kernels nobody compiles to predict them

MANIFEST = """{ "name": "probe", "summary": "b = 2a",
  "params":  { "n": 4096, "dtype": "f32", "block": 256, "zero": 0, "groups": 1, "lens": [1, 2, 3] },
  "limits":  { "dtype": ["f32", "f64"] },
  "code":    { "source": "probe.hip", "symbol": "probe", "defines": { "T": "{ctype(dtype)}" } },
  "buffers": { "b": { "type": "{dtype}", "count": "n", "role": "out" },
               "a": { "type": "{dtype}", "count": "n", "role": "in", "fill": "i % 7" } },
  "launch":  { "grid": ["ceil_div(n, block) * groups"], "block": ["block"], "args": ["b", "a", { "value": "n", "type": "u64" }] },
  "work":    { "read": "n * bytes(dtype)", "write": "n * bytes(dtype)" },
  "check":   { "params": { "n": 1000 }, "expect": { "b": "2 * (i % 7)" } } }
"""
SOURCE = """#include "portable.h"
extern "C" __global__ void probe(T *b, const T *a, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = 2 * a[i];
}
"""


def suite(case):
    return '{ "name": "s",\n  "cases": [ { "kernel": "probe", ' + case + " } ] }\n"


# Texts of a suite, the pointer of the value at fault (None: none), parts of the message.
SUITES = {
    # the text itself
    "empty": ("@", None, "the document is empty"),
    "cut": ('{ "name": "s", "cases": [@', "/cases/0", "the document ends where a value is expected"),
    "no value": ('{ "name": @, "cases": [] }', None, "expected a value, found ','"),
    "bare word": ('{ "name": @nul }', None, "expected a value, found 'nul'"),
    "comment": ('{ @/* no */ "name": "s" }', None, "JSON has no comments"),
    "trailing comma": ('{ "name": "s", "cases": [ { "kernel": "probe" }, @] }', "/cases", "a comma before ']'"),
    "second document": ('{ "name": "s", "cases": [ { "kernel": "probe" } ] }\n@{}', None, "expected the end of the document"),
    "byte order mark": ("@\ufeff{}", None, "a byte order mark"),
    "raw tab": ('{ "name": "a@\tb" }', None, "control character 0x09 in a string"),
    "nul": ('{ "name": "a@\\u0000b" }', None, "\\u0000 is not allowed"),
    "half a pair": ('{ "name": "@\\ud800" }', None, "surrogate pair"),
    "open string": ('{ "name": "abc@\n }', "/name", "control character 0x0a in a string"),
    "01": ('{ "name": "s", "cases": [ { "kernel": "probe", "params": { "n": @01 } } ] }', None, "superfluous 0"),
    "1.": ('{ "name": "s", "cases": [ { "kernel": "probe", "params": { "n": 1.@ } } ] }', None, "a digit after the decimal point"),
    "1e999": (suite('"params": { "n": @1e999 }'), "/cases/0/params/n", "beyond the range of a double"),
    "NaN": (suite('"params": { "n": @NaN }'), None, "expected a value, found 'NaN'"),
    "Infinity": (suite('"params": { "n": @Infinity }'), None, "expected a value, found 'Infinity'"),
    "-Infinity": (suite('"params": { "n": -@Infinity }'), None, "expected a digit"),
    # its keys and types
    "duplicate key": ('{ "name": "s",\n  "cases": [],\n @"name": "t" }', "/name", None),
    "unknown key": ('{ "name": "s", @"case": [] }', "/case", "unknown key; did you mean 'cases'?"),
    "unknown key, nothing near": ('{ "name": "s", @"zzzzzzzz": [] }', "/zzzzzzzz", "unknown key"),
    "unknown key of a case": (suite('@"sweeps": {}'), "/cases/0/sweeps", "did you mean 'sweep'?"),
    "unknown key of measure": (suite('"measure": { @"min_tim": "1 s" }'), "/cases/0/measure/min_tim", "did you mean 'min_time'?"),
    "missing key": ('@{ "name": "s" }', None, "the key 'cases' is missing"),
    "not an object": ("@[]", None, "must be an object, not an array"),
    "cases as object": ('{ "name": "s", "cases": @{} }', "/cases", "must be an array, not an object"),
    "no case": ('{ "name": "s", "cases": @[] }', "/cases", "at least one case"),
    "name as number": ('{ "name": @1, "cases": [] }', "/name", "must be a string, not a number"),
    "kernel as number": ('{ "name": "s", "cases": [ { "kernel": @7 } ] }', "/cases/0/kernel", "must be a string, not a number"),
    "time without unit": (suite('"measure": { "min_time": @"soon" }'), "/cases/0/measure/min_time", "must be a duration"),
    "time as number": (suite('"measure": { "min_time": @5 }'), "/cases/0/measure/min_time", None),
    "zero timeout": (suite('"measure": { "timeout": @"0 s" }'), "/cases/0/measure/timeout", "a timeout of zero"),
    "samples beyond 2^53": (suite('"measure": { "min_samples": @18014398509481984 }'), "/cases/0/measure/min_samples", "whole number"),
    "half a sample": (suite('"measure": { "min_samples": @1.5 }'), "/cases/0/measure/min_samples", "whole number from 0 to 2^53"),
    "precision of two": (suite('"measure": { "precision": @2 }'), "/cases/0/measure/precision", "between 0 and 1"),
    "unknown cache mode": (suite('"measure": { "cache": @"cool" }'), "/cases/0/measure/cache", "did you mean 'cold'?"),
    # sweeps
    "sweep that never ends": (suite('"sweep": { "n": @"16..1Gi*1" }'), "/cases/0/sweep/n", "never ends: its factor must be above 1"),
    "step of zero": (suite('"sweep": { "n": @"1..9+0" }'), "/cases/0/sweep/n", "never ends: its step must be above 0"),
    "step lost in rounding": (suite('"sweep": { "n": @"1..1e300+1" }'), "/cases/0/sweep/n", "never ends: its step is lost"),
    "backward": (suite('"sweep": { "n": @"64..16*2" }'), "/cases/0/sweep/n", "starts above its end"),
    "geometric from zero": (suite('"sweep": { "n": @"0..16*2" }'), "/cases/0/sweep/n", "must start above 0"),
    "too many values": (suite('"sweep": { "n": @"1..100000000" }'), "/cases/0/sweep/n", "values, more than 1000000"),
    "too many cases": ('{ "name": "s", "cases": [ @{ "kernel": "probe", "sweep": { "n": "1..4000", "block": "1..4000" } } ] }',
                       "/cases/0", "more than 1000000"),
    "too many cases in the sum": ('{ "name": "s", "cases": [ { "kernel": "probe", "sweep": { "n": "1..900000" } },\n @{ "kernel": "probe", '
                                  '"sweep": { "n": "1..900000" } } ] }', "/cases/1", "more than 1000000"),
    "empty sweep": (suite('"sweep": { "n": @[] }'), "/cases/0/sweep/n", "at least one value"),
    "min without max": (suite('"sweep": { "n": @{ "min": 1 } }'), "/cases/0/sweep/n", "'max' is missing"),
    "swept and fixed": (suite('"params": { "n": 1 }, "sweep": { @"n": [1, 2] }'), "/cases/0/sweep/n", "stands in params too"),
    "zip of unequal lengths": (suite('"sweep": { "n": [1, 2], "block": [64, 128, 256] }, "zip": [["n", @"block"]]'), "/cases/0/zip/0/1",
                               "zipped parameters advance together"),
    "zip of the unswept": (suite('"sweep": { "n": [1, 2] }, "zip": [["n", @"block"]]'), "/cases/0/zip/0/1", "'block' is not swept"),
    # names
    "unknown kernel": ('{ "name": "s", "cases": [ { "kernel": @"prob" } ] }', "/cases/0/kernel", "did you mean 'probe'?"),
    "unknown parameter": (suite('"params": { @"blok": 1 }'), "/cases/0/params/blok", "did you mean 'block'?"),
    "unknown swept parameter": (suite('"sweep": { @"nn": [1] }'), "/cases/0/sweep/nn", "has no parameter 'nn'"),
    "value outside its limits": (suite('"params": { "dtype": @"i8" }'), "/cases/0/params/dtype", "not among its limits: f32, f64"),
    "text for a number": (suite('"params": { "n": @"many" }'), "/cases/0/params/n", "is a number, but 'many' is text"),
    "unknown name in exclude": (suite('"sweep": { "n": [1, 2] }, "exclude": [@"m > 3"]'), "/cases/0/exclude/0", "unknown name 'm' at column 1"),
    "division by zero in exclude": (suite('"sweep": { "n": [1, 2] }, "exclude": [@"n / zero > 1"]'), "/cases/0/exclude/0", "division by zero"),
    "missing kernel folder": ('{ "name": "s", "kernels": [@"nowhere"], "cases": [ { "kernel": "probe" } ] }', "/kernels/0", "there is no folder"),
    # values that no case can have
    "grid of zero": (suite('"params": { "groups": 0 }'), None, ["probe: ", "s.json:2:14: /cases/0: ", "k/probe.json:7:25: /launch/grid/0: ", "is 0"]),
    "no element": (suite('"params": { "n": 0 }'), None, ["/buffers/b/count", "buffer 'b' has no elements"]),
    "block above the limit": (suite('"params": { "block": 2048 }'), None, ["/launch/block", "2048"]),
    "size that overflows": (suite('"params": { "n": 9007199254740992 }'), None, ["buffer 'b'", "beyond 2^53"]),
    "size beyond 2^53": (suite('"params": { "n": 18014398509481984 }'), None, "beyond 2^53"),
    "half an element": (suite('"params": { "n": 0.5 }'), None, "not a whole number"),
}

# Replacements in MANIFEST, the pointer, parts of the message.
MANIFESTS = {
    "unknown key": ('"summary"', '@"sumary"', "/sumary", "did you mean 'summary'?"),
    "unknown key of a buffer": ('"fill": "i % 7"', '@"fil": "i"', "/buffers/a/fil", "did you mean 'fill'?"),
    "wrong role": ('"role": "out"', '"role": @"output"', "/buffers/b/role", "known are in, out, inout, temp"),
    "unknown name": ('"ceil_div(n, block) * groups"', '@"ceil_div(m, block)"', "/launch/grid/0", "unknown name 'm' at column 10"),
    "unknown function": ('"ceil_div(n, block) * groups"', '@"ceildiv(n, block)"', "/launch/grid/0", "did you mean 'ceil_div'?"),
    "assignment": ('"fill": "i % 7"', '"fill": @"i = 3"', "/buffers/a/fill", "assignment is not possible at column 3"),
    "comma": ('"fill": "i % 7"', '"fill": @"1,2"', "/buffers/a/fill", "found ',' at column 2"),
    "chained comparison": ('"fill": "i % 7"', '"fill": @"1 < i < 3"', "/buffers/a/fill", "comparisons cannot follow each other"),
    "open bracket": ('"fill": "i % 7"', '"fill": @"(i % 7"', "/buffers/a/fill", "is not closed"),
    "list as a number": ('"fill": "i % 7"', '"fill": @"i % lens"', "/buffers/a/fill", "is a list; use sum, max or len"),
    "unknown generator": ('"fill": "i % 7"', '"fill": { "gen": @"unifrom" }', "/buffers/a/fill/gen", "did you mean 'uniform'?"),
    "unknown buffer": ('"args": ["b", "a",', '"args": ["b", @"c",', "/launch/args/1", "unknown"),
    "expectation of an input": ('"expect": { "b"', '"expect": { @"a"', "/check/expect/a", "is not an output"),
    "no source": ('"source": "probe.hip"', '"source": @"nothing.hip"', "/code/source", "there is no file"),
    "no verification": ('"expect": { "b": "2 * (i % 7)" }', '"expect": { }', None, "b"),
    "duplicate key": ('"block": 256,', '"block": 256, @"block": 128,', "/params/block", None),
    "division by zero": ('"ceil_div(n, block) * groups"', '@"n / zero"', "/launch/grid/0", "division by zero"),
    # work that nothing can do
    "unknown unit": ('"write": "n * bytes(dtype)"', '"flops": "n", "unit": @"vector_fp32"', "/work/unit", "there is no unit 'vector_fp32'"),
    "more bytes than there are": ('"read": "n * bytes(dtype)"', '"read": @"30 * n * bytes(dtype)"', "/work/read",
                                  "but the buffers that are read hold"),
    "more written than there is": ('"write": "n * bytes(dtype)"', '"write": @"2 * n * bytes(dtype)"', "/work/write", "the buffers that are written hold"),
    "a footprint of more": ('"write": "n * bytes(dtype)"', '"write": "n * bytes(dtype)", "footprint": @"3 * n * bytes(dtype)"', "/work/footprint", "but the buffers hold"),
}

# Command lines, parts of the message.
COMMANDS = {
    "unknown command": (["rnu"], "unknown command 'rnu'; did you mean 'run'?"),
    "unknown command, nothing near": (["frobnicate"], "unknown command 'frobnicate'; try 'rooftile --help'"),
    "case for a command": (["probe/n=1"], "unknown command 'probe/n=1'"),
    "no argument": (["run"], "'rooftile run' expects at least 1 argument (SUITE|KERNEL...), got 0"),
    "unknown option": (["run", "probe", "--devcie", "cpu"], "unknown option '--devcie'; did you mean '--device'?"),
    "unknown short option": (["run", "probe", "-Z"], "unknown option '-Z'"),
    "option of another command": (["devices", "--set", "n=1"], "'--set' is an option of run, plan"),
    "option without its value": (["run", "probe", "--set"], "option '--set' needs a value"),
    "value that is an option": (["run", "probe", "--set", "--quick"], "next is the option '--quick'"),
    "value for a flag": (["run", "probe", "--quick=yes"], "option '--quick' takes no value"),
    "unknown format": (["run", "probe", "--format", "tabel"], "did you mean 'table'?"),
    "unknown cache mode": (["run", "probe", "--cache-mode", "warm"], "--cache-mode warm"),
    "seed that is no number": (["run", "probe", "--seed", "x"], "--seed x: expected a whole number"),
    "seed beyond 64 bits": (["run", "probe", "--seed", "18446744073709551616"], "expected a whole number"),
    "no jobs": (["build", "probe", "--jobs", "0"], "--jobs 0: expected a whole number from 1"),
    "time that is none": (["run", "probe", *DEVICE, "--min-time", "5"], "--min-time 5: not a duration"),
    "negative timeout": (["run", "probe", *DEVICE, "--timeout", "-1s"], "--timeout -1s"),
    "set without a value": (["run", "probe", *DEVICE, "--set", "n"], "--set n: expected NAME=VALUES"),
    "set of an unknown parameter": (["run", "probe", *DEVICE, "--set", "blok=1"], "did you mean 'block'?"),
    "set twice": (["run", "probe", *DEVICE, "--set", "n=1", "--set", "n=2"], "'n' is set twice"),
    "set to nothing": (["run", "probe", *DEVICE, "--set", "n="], "--set n="),
    "set to a sweep without end": (["run", "probe", *DEVICE, "--set", "n=1..9*1"], "never ends"),
    "set to NaN": (["run", "probe", *DEVICE, "--set", "n=nan"], "nan"),
    "set to infinity": (["run", "probe", *DEVICE, "--set", "n=inf"], "inf"),
    "set to a type outside its limits": (["run", "probe", *DEVICE, "--set", "dtype=f16"], "f16"),
    "too many values": (["run", "probe", *DEVICE, "--set", "n=1..20000000"], "more than 1000000"),
    "unknown kernel": (["run", "stream_triat", *DEVICE], "unknown kernel or suite 'stream_triat'; did you mean 'stream_triad'?"),
    "unknown backend": (["run", "probe", "--device", "gqu"], "unknown device 'gqu'"),
    "backend nearly right": (["run", "probe", "--device", "cpuu"], "cpu"),
    "unknown machine of sim": (["run", "probe", "--device", "sim:mi300y"], "there is no machine 'mi300y'; known: a100, b200, h100, "),
    "wave of 48": (["run", "probe", "--device", "cpu:wave=48"], "48"),
    "nothing left by the filter": (["run", "probe", *DEVICE, "--filter", "zzz*"], "no case matches the filter 'zzz*'"),
    "missing suite": (["run", "nowhere.json", *DEVICE], "there is no file 'nowhere.json'"),
    "missing machine": (["run", "probe", *DEVICE, "--machine", "nowhere.json"], "nowhere.json"),
    "missing kernel folder": (["run", "probe", *DEVICE, "--kernels", "nowhere"], "nowhere"),
    "missing result": (["report", "nowhere.json"], "there is no file 'nowhere.json', where a result is wanted"),
    "missing resume": (["run", "probe", *DEVICE, "--resume", "nowhere.json"], "there is no file 'nowhere.json', where a result is wanted"),
    "folder as suite": (["run", "./k", *DEVICE], "./k is a folder"),
    "unknown schema": (["schema", "suiet"], "did you mean 'suite'?"),
    "unknown shell": (["completion", "bsh"], "bash"),
    "too many arguments": (["schema", "a", "b"], "got 2, from 'b' on"),
    "several results, no page": (["report", "a.json", "b.json"], "several results make a page: --format html"),
    "result that is a suite": (["report", "good.json"], "good.json"),
}


def place(text):
    """The text without its mark, and the line:column of the mark."""
    before, mark, after = text.partition("@")
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return before + after, f"{line}:{column}" if mark else None


def expect_error(home, what, arguments, fragments, **extra):
    done = run(*arguments, home=home, **extra)
    check_run(done, 2, what, stderr=["rooftile: error: ", *fragments])
    check(not (home / "out.json").exists(), f"{what}: the result file was written")
    check(len(done.stderr) < 2500, f"{what}: the message is {len(done.stderr)} bytes long")
    check(not [p for p in home.iterdir() if p.name.startswith((".out", "out"))], f"{what}: something half-written was left behind")
    return done


def parts(text):
    return [] if text is None else [text] if isinstance(text, str) else text


def write_kernels(home, manifest=MANIFEST):
    folder = home / "k"
    folder.mkdir(exist_ok=True)
    (folder / "probe.json").write_text(manifest)
    (folder / "probe.hip").write_text(SOURCE)


def suites(home):
    run_it = ["run", "s.json", "--kernels", "k", *DEVICE, "-o", "out.json"]
    for name, (marked, pointer, message) in SUITES.items():
        text, where = place(marked)
        (home / "s.json").write_text(text)
        fragments = parts(message)
        if where:
            fragments = [f"s.json:{where}: " + (f"{pointer}: " if pointer else ""), *fragments]
        expect_error(home, f"suite, {name}", run_it, fragments)


def manifests(home):
    for name, (old, new, pointer, message) in MANIFESTS.items():
        check(MANIFEST.count(old) == 1, f"manifest, {name}: '{old}' stands {MANIFEST.count(old)} times in the manifest")
        text, where = place(MANIFEST.replace(old, new))
        write_kernels(home, text)
        fragments = parts(message)
        if where:
            fragments = [f"k/probe.json:{where}: {pointer}: ", *fragments]
        expect_error(home, f"manifest, {name}", ["run", "probe", "--kernels", "k", *DEVICE, "-o", "out.json"], fragments)
        if name != "division by zero":  # which depends on the values, so it is the case's
            done = run("check", "--kernels", "k", home=home)
            check_run(done, 2, f"check of manifest, {name}", stdout=fragments)
    write_kernels(home)


def command_lines(home):
    (home / "good.json").write_text(suite('"params": { "n": 4096 }'))
    for name, (arguments, message) in COMMANDS.items():
        if "probe" in arguments and "--kernels" not in arguments:
            arguments = [*arguments, "--kernels", "k"] if arguments[-1] != "--set" else ["run", "--kernels", "k", "probe", "--set"]
        if arguments[0] == "run" and arguments[-1] != "--set" and len(arguments) > 1:
            arguments = [arguments[0], "-o", "out.json", *arguments[1:]]
        expect_error(home, f"command line, {name}", arguments, [message])


def large_and_deep(home):
    deep = home / "deep.json"
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        deep.write_text('{ "name": "s", "cases": ' + opening * 10000 + "1" + closing * 10000 + "}")
        expect_error(home, "nested 10,000 deep", ["run", "deep.json", *DEVICE, "-o", "out.json"], ["deep.json:1:", "nested deeper than"])
    big = home / "big.json"
    with big.open("wb") as f:
        f.write(b'{ "name": "s", "cases": [] }')
        f.truncate(100 * 1000 * 1000 + 1)  # sparse: the size must be looked at before the file is read
    expect_error(home, "100 MB", ["run", "big.json", *DEVICE, "-o", "out.json"], ["big.json: has 100000001 bytes, more than the 100 MB limit"])
    with big.open("ab") as f:
        f.truncate(500 * 1000 * 1000 + 1)  # results are larger: 10,000 cases with samples and clocks are 150 MB
    expect_error(home, "500 MB as result", ["report", "big.json"], ["big.json: has 500000001 bytes, more than the 500 MB limit"])
    big.write_text('{ "name": "s", "cases": [' + '{"kernel":"probe"},' * 60000 + '{"kernel":"probe" "x"}] }')
    expect_error(home, "a fault at the end of 1 MB", ["run", "big.json", *DEVICE, "-o", "out.json"], ["/cases/60000: expected ',' or '}'"])
    (home / "bytes.json").write_bytes(b'{ "name": "s\xff" }')
    expect_error(home, "no UTF-8", ["run", "bytes.json", *DEVICE, "-o", "out.json"], ["bytes.json:1:", "invalid UTF-8"])
    (home / "nul.json").write_bytes(b'{ "name": "s"\0 }')
    expect_error(home, "a zero byte", ["run", "nul.json", *DEVICE, "-o", "out.json"], ["nul.json:1:", "found byte 0x00"])


def unreadable(home):
    if os.geteuid() == 0:
        return  # root reads everything
    secret = home / "secret.json"
    secret.write_text("{}")
    secret.chmod(0)
    expect_error(home, "unreadable", ["run", "secret.json", *DEVICE, "-o", "out.json"], ["secret.json: Permission denied"])


def hostile_results(home):
    """Result files are input too."""
    done = run("run", "probe", "--kernels", "k", *DEVICE, "-o", "r.json", home=home)
    check_run(done, 0, "a good run")
    text = (home / "r.json").read_text()
    check('"schema_version"' in text, "the result has a schema_version")
    for name, broken, message in (
            ("cut", text[: text.index('"cases"')], "the document ends where"),
            ("another major version", text.replace('"2.0.0"', '"1.1.0"'), "results of format 1 cannot be read"),
            ("no cases", '{ "schema_version": "2.0.0" }', "missing"),
            ("seed as text", text.replace('"seed": 1', '"seed": "one"'), "/run/seed"),
            ("status of its own", text.replace('"status":"ok"', '"status":"fine"'), "fine")):
        (home / "x.json").write_text(broken)
        for command in (["report", "x.json"], ["run", "probe", "--kernels", "k", *DEVICE, "--resume", "x.json", "-o", "out.json"]):
            expect_error(home, f"result, {name}, {command[0]}", command, ["x.json", message])
    more = text.replace('"schema_version"', '"from_the_future": [1, 2], "schema_version"', 1)
    (home / "x.json").write_text(more)
    check_run(run("report", "x.json", home=home), 0, "unknown keys of a newer result are ignored")


def planted(home):
    """What others put in the way: a link where --out-dir writes, escapes in a machine file's names, a device for a history."""
    folder = home / "shared"
    folder.mkdir()
    for name in ("n0.sim-h100.json", "n0.cpu.json"):
        (home / f"victim.{name}").write_text("precious")
        (folder / name).symlink_to(f"../victim.{name}")
    done = run("run", "probe", "--kernels", "k", "--device", "cpu", "--quick", "--out-dir", "shared", "-q", home=home, SLURMD_NODENAME="n0")
    check_run(done, 0, "a planted link")
    check((home / "victim.n0.cpu.json").read_text() == "precious" and not (folder / "n0.cpu.json").is_symlink(), "what it names is as it was")
    machine = json.loads((ROOT / "configs/machines/mi300x.json").read_text())
    for part in ("levels", "units"):
        for row in machine[part]:
            row["name"] += "" if part == "units" else "\x1b[31mX\u0007"
    machine["title"] += "\x1b]0;X\u0007"
    (home / "escapes.json").write_text(json.dumps(machine))
    for command in (["run", "stream_triad", "gemm_buffered", "--device", "sim:./escapes.json"], ["roofline", "--machine", "./escapes.json"],
                    ["plan", "gemm_buffered", "--device", "sim:./escapes.json"], ["predict", "stream_triad", "--machine", "./escapes.json"]):
        done = run(*command, home=home)
        check_run(done, 0, f"{command[0]} with escapes in names")
        check("\x1b" not in done.stdout + done.stderr and "\a" not in done.stdout + done.stderr, f"{command[0]}: an escape came through")
    for verb in (["gate"], ["add", "r.json"], ["show"], ["prune", "--keep", "4000000000"]):
        expect_error(home, f"a device as history, {verb[0]}", ["history", *verb, "--db", "/dev/null"], ["/dev/null is a device, not a history"])
    check_run(run("report", "r.json", "--top", "100000", home=home), 0, "--top beyond what there is")


def one_bad_value_among_good_ones(home):
    """A run that cannot be measured as it was asked for does not start; `plan` shows which cases are wrong."""
    command = ["probe", "--kernels", "k", *DEVICE, "--set", "n=0,64"]
    expect_error(home, "one bad value among good ones", ["run", *command, "-o", "out.json"], ["probe n=0: ", "buffer 'b' has no elements"])
    check_run(run("plan", *command, home=home), 2, "plan of a bad value", stdout=["error\n", "buffer 'b' has no elements", "2 cases (1 ready)"])
    check_run(run("run", *command, "--filter", "!*/n=0;*", home=home), 0, "the good ones alone")


def good(home):
    check_run(run("run", "probe", "--kernels", "k", *DEVICE, home=home), 0, "the kernel that is broken below is good")


if __name__ == "__main__":
    main(write_kernels, good, suites, manifests, command_lines, large_and_deep, unreadable, hostile_results, planted, one_bad_value_among_good_ones)
