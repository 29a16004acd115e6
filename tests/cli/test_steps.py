# SPDX-License-Identifier: MIT
"""Kernels of several steps, from a folder of the user's: launches with defines of their own, copies, fills, marks, repeats,
untimed and setup steps, metrics, variants, sweeps, cache modes and timers, all on the CPU device."""
import json
import re

from harness import check, check_run, load, main, run

# Each PART has one kernel: a launch finds its symbol only in the code object that its own defines made.
SOURCE = """#include "portable.h"

#if PART == 1
extern "C" __global__ void scale(uint32_t *mid, const uint32_t *in, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        mid[i] = FACTOR * in[i];
}
#elif PART == 2
extern "C" __global__ void shift(uint32_t *out, const uint32_t *mid, const uint32_t *table, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = mid[i] + FACTOR + table[i];
}
#elif PART == 3
extern "C" __global__ void bump(uint32_t *counter, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        counter[i] += FACTOR;
}
#elif PART == 4
extern "C" __global__ void exchange(uint32_t *a, uint32_t n, uint32_t run, uint32_t far)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, k = i ^ far;
    if (i >= n || k <= i)
        return;
    const uint32_t x = a[i], y = a[k];
    if ((i & run) ? x < y : x > y) {
        a[i] = y;
        a[k] = x;
    }
}
#elif PART == 5
struct gather {
    float *to;
    const uint16_t *scale; /* one, as long as the others are not */
    struct {
        const float *from;
        uint8_t kind;
    } source;
    uint32_t n;
    double more[40];
};
extern "C" __global__ void gather(gather by_value, const uint32_t *index, const float *none)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < by_value.n)
        by_value.to[i] = none || by_value.source.kind != 7 ? -1.0f : by_value.source.from[index[i]] + (float)by_value.more[39] * *by_value.scale;
}
#endif
"""


def launch(symbol, args, **more):
    count = {"value": "n", "type": "u32"}
    return {"grid": ["ceil_div(n, 64)"], "block": [64], "symbol": symbol, "args": [*args, count]} | more


SCALE = {"launch": launch("scale", ["mid", "in"], defines={"PART": "1", "FACTOR": "{factor}"})}
SHIFT = {"launch": launch("shift", ["out", "copy", "table"], defines={"PART": "2"})}
BUMP = {"launch": launch("bump", ["counter"], defines={"PART": "3"}), "repeat": "times"}
TABLE = [{"fill": {"buffer": "table", "byte": 1}}, {"sync": True}]
MIDDLE = [{"record": "scaled"}, {"wait": "scaled", "stream": 1}, {"copy": {"to": "copy", "from": "mid"}}, {"sync": True}]


def buffer(role, **more):
    return {"type": "u32", "count": "n", "role": role} | more


def manifest(name, steps, buffers, expect, **more):
    return {
        "name": name, "summary": name, "params": {"n": 1000, "factor": 3, "times": 4},
        "variants": [{"backend": "cpu", "params": {"factor": 7}}],
        "code": {"source": "parts.hip", "defines": {"PART": "0", "FACTOR": "{factor + 1}"}},
        "buffers": {"in": buffer("in", fill="i % 5"), "mid": buffer("temp"), "copy": buffer("temp"), "table": buffer("temp"),
                    "out": buffer("out")} | buffers,
        "setup": TABLE, "steps": steps, "work": {"read": "4*n", "write": "4*n"},
        "check": {"params": {"n": 65}, "expect": {"out": "factor * (i % 5) + factor + 1 + 16843009"} | expect}} | more


COUNTER = {"counter": buffer("inout", fill="i % 3", reset="fill")}
MANIFESTS = [
    # Everything timed, nothing to reset: launches may be timed in batches.
    manifest("pair", [SCALE, *MIDDLE, SHIFT], {}, {}),
    # An untimed step first, and a buffer that is reset before each launch: neither can be batched.
    manifest("counted", [{"fill": {"buffer": "mid", "byte": 0}, "timed": False}, SCALE, *MIDDLE, SHIFT, BUMP], COUNTER,
             {"counter": "i % 3 + times * (factor + 1)"},
             metrics={"most": {"buffer": "counter", "reduce": "max", "expr": "(x - 2) / times", "unit": "bumps"},
                      "total": {"buffer": "out", "reduce": "sum"}}),
    # A define of the one launch breaks only this kernel; the code's own defines break none here.
    manifest("broken", [SCALE, *MIDDLE, {"launch": launch("shift", ["out", "copy", "table"], defines={"PART": "2", "FACTOR": ")"})}], {}, {}),
    # Its symbol is in the first launch's object only.
    manifest("elsewhere", [SCALE, *MIDDLE, {"launch": launch("scale", ["out", "copy"], defines={"PART": "2"})}], {}, {}),
    manifest("scattered", [SCALE, *MIDDLE, {"fill": {"buffer": "mid", "byte": 0}, "timed": False}, SHIFT], {}, {}),
]


# Kernels of one launch that counts, for what steps do beside launching: PART 3 adds FACTOR to each element.
def counter_manifest(name, steps, expect="4", role="out", metrics=None, **more):
    add = {"value": "n", "type": "u32"}
    for step in steps:
        for inner in [step, *step.get("loop", {}).get("steps", [])]:
            if inner.get("launch") == "bump":
                inner["launch"] = {"grid": ["ceil_div(n, 64)"], "block": [64], "args": ["counter", add]}
    return {"name": name, "summary": name, "params": {"n": 130}, "code": {"source": "parts.hip", "symbol": "bump", "defines": {"PART": "3", "FACTOR": "4"}},
            "buffers": {"counter": {"type": "u32", "count": "n", "role": role} | more}, "steps": steps, "work": {"items": "1"},
            "metrics": metrics or {}, "check": {"expect": {"counter": expect}}}


def plain_launch(**more):
    return {"launch": "bump"} | more


PER_RUN = {"per_run": {"buffer": "counter", "reduce": "max", "expr": "x / runs", "expect": "8"}}
MORE = [
    counter_manifest("cleared", [plain_launch()], reset="zero"),
    counter_manifest("looped", [{"loop": {"repeat": "2", "steps": [plain_launch(), {"sync": True}]}}], "8", "inout", PER_RUN, fill="0"),
    counter_manifest("miscounted", [plain_launch()], "4", "inout", PER_RUN, fill="0"),
    counter_manifest("loaded", [{"load": True}, plain_launch(timed=False)], "4", "inout", fill="0"),
    counter_manifest("elsewhere_in_time", [plain_launch(stream=1)], "4", "inout", fill="0"),
    counter_manifest("fresh", [{"alloc": "counter", "timed": False}, {"fill": {"buffer": "counter", "byte": 0}, "timed": False}, plain_launch()]),
    counter_manifest("backwards", [plain_launch(), {"load": True}], "4", "inout", fill="0"),
]
# A bitonic sort: a loop whose rounds launch once more each time; and all that an argument can be.
SORT = manifest(
    "sort", [{"loop": {"repeat": "log2(n)", "index": "s", "steps": [
        {"repeat": "s + 1", "index": "r", "launch": launch("exchange", ["out"], defines={"PART": "4"})},
        {"copy": {"to": "copy", "from": "out"}}]}}],
    {"out": buffer("inout", fill="i * 797 % n", reset="fill")}, {"out": "i", "in": "i"}, setup=[], params={"n": 4096})
SORT["buffers"] = {name: SORT["buffers"][name] for name in ("copy", "out")}
SORT["steps"][0]["loop"]["steps"][0]["launch"]["args"] += [{"value": "2 << s", "type": "u32"}, {"value": "1 << s - r", "type": "u32"}]
SORT |= {"check": {"params": {"n": 256}, "expect": {"out": "i"}}, "variants": [], "code": {"source": "parts.hip"}}
GATHER = {
    "name": "gather", "summary": "a struct by value and a null pointer", "params": {"n": 1000}, "code": {"source": "parts.hip", "symbol": "gather", "defines": {"PART": "5"}},
    "buffers": {"raw": {"type": "f32", "count": "n", "role": "temp", "fill": "xor(i, 5) & 0xff"}, "from": {"type": "f32", "count": "n", "role": "in", "fill": "raw[n - 1 - i]"},
                "scale": {"type": "u16", "count": "8", "role": "in", "fill": "i + 1"}, "index": buffer("in", fill={"gen": "permutation"}), "to": {"type": "f32", "count": "n", "role": "out"}},
    "launch": {"grid": ["ceil_div(n, 64)"], "block": [64], "args": [
        {"struct": ["to", {"buffer": "scale", "offset": "4"}, {"struct": ["from", {"value": "7", "type": "u8"}]}, {"value": "n", "type": "u32"},
                    {"value": "0", "type": "f64", "repeat": "39"}, {"value": "0.5", "type": "f64"}]}, "index", None]},
    "work": {"items": "n"}, "check": {"params": {"n": 70}, "expect": {"to": "from[index[i]] + 0.5 * scale[2]"}}}
FAST = ["--kernels", "k", "--device", "cpu:threads=2", "--quick", "--min-time", "2ms", "--max-time", "40ms"]


def write_kernels(home):
    (home / "k").mkdir()
    (home / "k/parts.hip").write_text(SOURCE)
    for described in MANIFESTS + MORE + [SORT, GATHER]:
        (home / "k" / (described["name"] + ".json")).write_text(json.dumps(described, indent=1))


def cases_of(home, *arguments, code=0, what=""):
    done = run("run", *arguments, *FAST, "-o", "r.json", home=home)
    check_run(done, code, what or " ".join(map(str, arguments)))
    return load(home / "r.json")["cases"] if (home / "r.json").exists() else []


def verified(case, n):
    """Passed with every element of the output compared."""
    check(case["status"] == "ok" and case["verification"]["status"] == "pass", f"{case['id']}: {case['status']} {case['status_reason']}")
    check(case["verification"]["method"] == "expect" and case["verification"]["checked"] >= n, f"{case['id']}: {case['verification']}")


def parameters(case):
    return {name: case["params"][name] for name in ("n", "factor", "times")}


def sweeps(home):
    """Zipped and excluded values, a variant, metrics, and codes shared by all sizes."""
    suite = {"name": "steps", "cases": [
        {"kernel": "counted", "sweep": {"n": [64, 1000, 3000], "times": [1, 2, 5], "factor": [7, 9]}, "zip": [["n", "times"]],
         "exclude": ["n == 1000 && factor == 9"]},
        {"kernel": "pair"}]}
    (home / "steps.json").write_text(json.dumps(suite))
    planned = run("plan", "steps.json", "--kernels", "k", "--device", "cpu", "--json", "-", home=home)
    check_run(planned, 0, "plan")
    check(json.loads(planned.stdout)["code_objects"] == 6, f"three parts at two factors, those of pair among them: {json.loads(planned.stdout)['code_objects']}")
    cases = cases_of(home, "steps.json")
    want = [(n, f, t) for n, t in ((64, 1), (1000, 2), (3000, 5)) for f in (7, 9) if (n, f) != (1000, 9)] + [(1000, 7, 4)]
    check([tuple(parameters(c).values()) for c in cases] == want, f"values: {[parameters(c) for c in cases]}")
    for case in cases:
        n, factor, times = parameters(case).values()
        verified(case, n)
        if case["kernel"] == "pair":
            continue
        total = sum(factor * (i % 5) + factor + 1 + 0x01010101 for i in range(n))
        metrics = {m["name"]: (m["value"], m["unit"]) for m in case["metrics"]}
        check(metrics == {"most": (factor + 1, "bumps"), "total": (total, "")}, f"{case['id']}: metrics {metrics}")
    hashes = {c["id"]: c["code"]["object_sha256"] for c in cases}
    check(len(set(hashes.values())) == 3, f"counted at two factors and pair: {hashes}")


def timers(home):
    """What can be batched is when asked to; a step that is not timed, or a reset, forbids it."""
    for kernel, timer, batched in (("pair", "batch", True), ("pair", "host", False), ("counted", "batch", False)):
        case = cases_of(home, kernel, "--timer", timer)[0]
        verified(case, 1000)
        found = case["measurement"]["timer"], case["measurement"]["batch"] > 1
        check(found == ("batch" if batched else "host", batched), f"{kernel} --timer {timer}: {found}")


def cache_modes(home):
    for mode in ("hot", "cold", "rotate"):
        case = cases_of(home, "pair", "--cache-mode", mode, "--set", "n=1Mi")[0]
        verified(case, 1 << 20)
        measurement = case["measurement"]
        check(measurement["cache_mode"] == mode and f";mode={mode}" in case["id"], f"{mode}: {measurement['cache_mode']} {case['id']}")
        method, size = measurement["flush_method"], measurement["flush_bytes"]
        held = 5 * 4 << 20
        good = {"hot": not method and not size, "cold": method == "evict" and size == held,
                "rotate": method == "rotate" and size >= 2 * held and size % held == 0}
        check(good[mode], f"{mode}: flush {method} of {size} bytes")


def beside_launches(home):
    """What is reset is so before it is verified, too; loops, fresh code and memory; counters that prove what ran."""
    cases = {c["kernel"]: c for c in cases_of(home, "cleared", "looped", "miscounted", "loaded", "fresh", "elsewhere_in_time", code=1)}
    for kernel in ("cleared", "looped", "loaded", "fresh", "elsewhere_in_time"):
        verified(cases[kernel], 130)
    check(cases["looped"]["metrics"][0]["value"] == 8, f"looped: {cases['looped']['metrics']}")
    check(cases["loaded"]["measurement"]["batch"] == 1, f"loaded: code that is loaded once, but a batch of {cases['loaded']['measurement']['batch']}")
    case = cases["miscounted"]
    check(case["status"] == "failed" and "metric 'per_run' is 4, expected 8, after" in case["status_reason"], f"miscounted: {case['status']} {case['status_reason']}")
    for kernel, timer, said in (("looped", "dispatch", "more than one plain launch"), ("loaded", "event", "timer event does not see load and alloc steps"),
                                ("elsewhere_in_time", "event", "timer event sees stream 0"), ("pair", "dispatch", "more than one plain launch"),
                                ("looped", "graph", "more than timed launches on stream 0")):
        check_run(run("run", kernel, *FAST, "--timer", timer, home=home), 2, f"{kernel} --timer {timer}", stderr=said)
    check_run(run("run", "backwards", *FAST, home=home), 2, "a launch before load", stderr="a launch stands before the load step")


def indexes_and_structs(home):
    """Steps that count their rounds, verified; the same kernels on every rotation of their buffers; faults are seen."""
    for case in cases_of(home, "sort", "gather") + cases_of(home, "gather", "--cache-mode", "rotate", "--set", "n=128Ki"):
        verified(case, 1000)
    check_run(run("check", "sort", "gather", "--inject-faults", "--kernels", "k", "--device", "cpu:threads=2", home=home), 0, "faults",
              stdout=["one changed output element: noticed in 2 kernels, unnoticed in 0", "one changed input element: noticed in 2 kernels, unnoticed in 0"])
    done = run("check", "sort", "gather", "--kernels", "k", "--arch", "gfx942", home=home)
    check_run(done, 0, "arguments", stdout="none differs")
    for what, change, said in (
            ("long", {"value": "0", "type": "f64", "repeat": "40"}, "the manifest passes a struct of 368 bytes, the kernel takes 360 (by value)"),
            ("huge", {"value": "0", "type": "f64", "repeat": "1Mi"}, "a struct by value of more than 65536 bytes")):
        broken = json.loads(json.dumps(GATHER | {"name": what}))
        broken["launch"]["args"][0]["struct"][4] = change
        (home / f"k/{what}.json").write_text(json.dumps(broken))
        check_run(run("check", what, "--kernels", "k", "--arch", "gfx942", home=home), 2, what, stdout=said)
    many = json.loads(json.dumps(SORT | {"name": "many"}).replace("s + 1", "n * 100").replace("1 << s - r", "1"))
    (home / "k/many.json").write_text(json.dumps(many))
    for kernel, n, said in (("sort", 3, "'log2(n)' is 1.58496250072116, not a whole number"), ("many", 4096, "more than 65536 steps, each round of an index counted")):
        check_run(run("plan", kernel, "--kernels", "k", "--device", "cpu", "--set", f"n={n}", home=home), 2, f"{kernel}, n={n}", stdout=said)


def faults(home):
    """A launch that does not compile, or whose symbol is not in its own code object, is its case's fault alone."""
    cases = {c["kernel"]: c for c in cases_of(home, "broken", "elsewhere", "pair", code=1)}
    check(cases["pair"]["status"] == "ok", "the good kernel runs")
    check(cases["broken"]["status"] == "error" and re.match("does not compile: .*error: ", cases["broken"]["status_reason"]), f"broken: {cases['broken']['status_reason']}")
    check(cases["elsewhere"]["status"] == "error" and "'scale'" in cases["elsewhere"]["status_reason"], f"elsewhere: {cases['elsewhere']['status_reason']}")
    done = run("run", "scattered", *FAST, home=home)
    check_run(done, 2, "timed steps with others between", stderr="an untimed step stands between timed ones")
    done = run("check", "pair", "counted", "--run", "--kernels", "k", "--device", "cpu:threads=2", home=home)
    check_run(done, 0, "check --run", stdout=["ok       pair", "ok       counted"])


if __name__ == "__main__":
    main(write_kernels, sweeps, timers, cache_modes, beside_launches, indexes_and_structs, faults)
