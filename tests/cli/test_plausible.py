# SPDX-License-Identifier: MIT
"""The plausibility gate, against machine files that claim or measured too little: physics is a finding, a measured ceiling that
can be measured again is lifted, one that cannot be is a finding that says what to do."""
import json

from harness import check, check_run, load, main, run

FAST = ["--device", "cpu:threads=1", "--quick", "--max-time", "60ms", "-o", "r.json"]
FMA = ["fma_peak", "--set", "dtype=f32"]
COPY = ["stream_copy", "--set", "n=1Mi", "--set", "dtype=f32"]
HUGE = {"vendor": {"value": 1e16, "source": "more than any machine"}}


def measured(by, value=1e6):
    # A wide interval: the gate must not hang on how quiet the machine of this test is.
    return {"measured": {"value": value, "by": by, "ci_rel": 0.5}}


def machine(home, unit=HUGE, near=HUGE, memory=HUGE):
    described = {
        "name": "by_hand", "title": "Machine made by hand",
        "levels": [{"name": "near", "capacity_bytes": {"value": 1 << 20, "source": "a guess"}, "bandwidth": near},
                   {"name": "memory", "bandwidth": memory}],
        "units": [{"name": "vector_f32", "peak": unit}, {"name": "vector_f64", "peak": HUGE}],
        # Longer than any case: what bounds a case is then its launch, and its ceiling still another.
        "launch_ns": {"value": 1e12, "source": "a guess"}}
    (home / "machine.json").write_text(json.dumps(described))
    return ["--machine", "machine.json"]


def measure(home, kernel, code, what, **ceilings):
    done = run("run", *kernel, *FAST, *machine(home, **ceilings), home=home)
    check_run(done, code, what)
    result = load(home / "r.json")
    return done, result, result["cases"][0]


def peaks(result, name):
    machine = result["machine"]
    ceilings = [(level["name"], level.get("bandwidth", {})) for level in machine["levels"]] + [(unit["name"], unit["peak"]) for unit in machine["units"]]
    return [ceiling["measured"]["value"] for key, ceiling in ceilings if key == name and "measured" in ceiling]


def ceilings(home):
    _, _, case = measure(home, FMA, 0, "ceilings out of reach")
    check("impossible" not in case["flags"], f"nothing is impossible below huge ceilings: {case['flags']}")
    fma, flops = case["id"], case["throughput"]["flops_per_s"]
    _, _, case = measure(home, COPY, 0, "ceilings out of reach")
    copy, rate = case["id"], case["throughput"]["bytes_per_s"]

    done, result, case = measure(home, FMA, 1, "faster than physics", unit={"vendor": {"value": 1e6, "source": "a mistake"}})
    check(case["flags"].count("impossible") == 1 and "ceiling_raised" not in case["flags"], f"faster than physics: {case['flags']}")
    check("vendor" in case["status_reason"] and "vector_f32" in case["status_reason"], f"the reason: {case['status_reason']}")
    check(case["status"] == "ok", "its status stays ok: it ran and its result is right")
    check("impossible" in done.stdout and "vector_f32" in done.stdout, f"the table says so:\n{done.stdout}")

    _, result, case = measure(home, FMA, 0, "faster than a measured unit", unit=measured(fma))
    check("ceiling_raised" in case["flags"] and "impossible" not in case["flags"], f"the ceiling is lifted: {case['flags']} {case['status_reason']}")
    check(peaks(result, "vector_f32")[0] > flops / 20, f"the raised ceiling is recorded: {peaks(result, 'vector_f32')}, the kernel had {flops}")

    # Both levels by one case: each is measured again in its turn.
    _, result, case = measure(home, COPY, 0, "faster than measured levels", near=measured(copy), memory=measured(copy))
    check("ceiling_raised" in case["flags"] and "impossible" not in case["flags"], f"both ceilings are lifted: {case['flags']} {case['status_reason']}")
    for level in ("near", "memory"):
        check(peaks(result, level)[0] > rate / 20, f"{level}: {peaks(result, level)}, the kernel had {rate}")

    # Nobody knows how these were measured: no other kernel stands in, the ceiling stays, and the user learns the way out.
    for by in ("", "by hand", "no_such_kernel/n=1", fma.replace("dtype=f32", "dtype=f99"), fma.split("/")[0] + "/nonsense=1"):
        done, result, case = measure(home, FMA, 1, f"a ceiling by '{by}'", unit=measured(by))
        check(case["flags"].count("impossible") == 1 and "ceiling_raised" not in case["flags"], f"a ceiling by '{by}': {case['flags']}")
        check("no case is known that could measure this ceiling again" in case["status_reason"], f"a ceiling by '{by}': {case['status_reason']}")
        check(peaks(result, "vector_f32") == [1e6], f"a ceiling by '{by}' stays: {peaks(result, 'vector_f32')}")


LIAR = {
    "name": "liar", "summary": "reads its buffer once and claims that it did so a hundred thousand times", "params": {"n": 4096, "passes": 100000},
    "code": {"source": "liar.hip", "symbol": "liar"},
    "buffers": {"b": {"type": "f32", "count": "n", "role": "out"}, "a": {"type": "f32", "count": "n", "role": "in", "fill": "i % 7"}},
    "launch": {"grid": [1], "block": [1], "args": ["b", "a", {"value": "n", "type": "u32"}]},
    "work": {"read": "4 * n * passes", "footprint": "8 * n"}, "check": {"expect": {"b": "i % 7 + 1"}}}
LIAR_SOURCE = """#include "portable.h"
extern "C" __global__ void liar(float *b, const float *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
        b[i] = a[i] + 1;
}
"""


def physics(home):
    """What no core can load, add or take the power of is impossible without any machine file, and with one that allows it; a kernel that
    does what it says is not."""
    folder = home / "k"
    folder.mkdir()
    (folder / "liar.hip").write_text(LIAR_SOURCE)
    (folder / "liar.json").write_text(json.dumps(LIAR))
    run_liar = ["run", "liar", "--kernels", folder, *FAST]
    for options in ([], machine(home)):
        done = run(*run_liar, *options, home=home)
        check_run(done, 1, f"more bytes than a core can load: {options}")
        case = load(home / "r.json")["cases"][0]
        check(case["flags"].count("impossible") == 1 and "L1's derived peak" in case["status_reason"], f"{options}: {case['flags']} {case['status_reason']}")
    done = run(*run_liar, "--set", "passes=1", home=home)
    check_run(done, 0, "an honest kernel without a machine file")
    (folder / "liar.json").write_text(json.dumps({**LIAR, "work": {"read": "4 * n", "flops": "n * passes", "unit": "vector_f32"}}))
    done = run(*run_liar, home=home)
    result = load(home / "r.json")
    known = result["environment"]["device"]["flops_per_clock_f32"] > 0
    check(done.returncode == known and ("impossible" in result["cases"][0]["flags"]) == known, f"more FLOPs than a core can do: {result['cases'][0]['flags']}")


CLAIMS = { # "work", the kernel's class, the words of the reason
    "claims_bytes": ({"items": "4 * n * passes", "item": "B"}, None, "the load and store unit's derived peak"),
    "claims_prefix": ({"items": "n * passes / 100", "item": "KiB"}, None, "the load and store unit's derived peak"),
    "claims_plural": ({"items": "4 * n * passes", "item": "bytes"}, None, "the load and store unit's derived peak"),
    "claims_operations": ({"items": "n * passes", "item": "GFLOP"}, None, "all arithmetic's derived peak"),
    "claims_other_unit": ({"flops": "n * passes", "unit": "matrix_f16"}, None, "all arithmetic's derived peak"),
    "claims_anything": ({"items": "n * passes", "item": "token"}, None, "the clock's derived peak"),
    "claims_nothing": ({"items": "n * passes"}, None, "the clock's derived peak"),
    "claims_latency": ({"items": "n * passes"}, "latency", "the clock, step by step's derived peak"),
    "claims_launch": ({"items": "n * passes"}, "launch", "the clock's derived peak")}


def items(home):
    """Items are judged whatever they are called; honest ones pass."""
    folder = home / "i"
    folder.mkdir()
    (folder / "liar.hip").write_text(LIAR_SOURCE)
    for name, (work, kind, _) in CLAIMS.items():
        (folder / f"{name}.json").write_text(json.dumps(LIAR | {"name": name, "work": work} | ({"class": kind} if kind else {})))
    known = load(home / "r.json")["environment"]["device"]["flops_per_clock_f32"] > 0
    done = run("run", *CLAIMS, "--kernels", folder, *FAST, home=home)
    check_run(done, 1, "items faster than a clock")
    for case in load(home / "r.json")["cases"]:
        words = CLAIMS[case["kernel"]][2]
        check(not known or ("impossible" in case["flags"] and words in case["status_reason"]), f"{case['kernel']}: {case['flags']} {case['status_reason']}")
    done = run("run", *CLAIMS, "--kernels", folder, *FAST, "--set", "passes=1", "--filter", "!claims_op*", "--filter", "!claims_other*", "--filter", "!claims_latency*", home=home)
    check_run(done, 0, "as many as there are")


def no_peak(home):
    """A unit that the machine file has no peak of is said, on the row and in the result."""
    described = json.loads((home / "machine.json").read_text())
    described["units"] = [{"name": "vector_f64", "peak": HUGE}]
    (home / "machine.json").write_text(json.dumps(described))
    done = run("run", *FMA, *FAST, "--machine", "machine.json", home=home)
    check_run(done, 0, "a machine file without the unit", stdout=["no_ceiling"])
    case = load(home / "r.json")["cases"][0]
    check("no_ceiling" in case["flags"] and "no peak of vector_f32" in case["status_reason"], f"{case['flags']} {case['status_reason']}")
    case = json.loads(run("run", "fma_peak", "--set", "dtype=f64", *FAST[:-2], "-o", "-", "--machine", "machine.json", home=home).stdout)["cases"][0]
    check("no_ceiling" not in case["flags"], f"a unit that it has: {case['flags']}")


def divisions(home):
    """A CPU divides beside its polynomials: what these reach is no ceiling of reciprocals."""
    done = run("run", "transcendental_peak", "--set", "OP=rcp", *FAST, home=home)
    check_run(done, 3, "reciprocals of a CPU", stdout="a CPU's rcp is an instruction, not what its exponentials take")
    size = ["--set", "rows=16", "--set", "columns=100"]
    check_run(run("run", "silu_mul", *size, *FAST, home=home), 0, "an exponential and a division")
    check(load(home / "r.json")["cases"][0]["work"]["transcendentals"] == 1600, "the exponential counts")
    check_run(run("run", "silu_mul", *size, "--device", "sim:mi300x", "-o", "r.json", home=home), 0, "on a GPU")
    check(load(home / "r.json")["cases"][0]["work"]["transcendentals"] == 3200, "both count")


def what_is_honest_passes(home):
    """A stride that passes over pixels reads fewer; a tolerance holds for other inputs than those of the first seed; two floats compile."""
    check_run(run("run", "occupancy_fma", "--set", "WIDTH=8", *FAST, home=home), 0, "two floats of a CPU")
    check_run(run("run", "dot_peak", "--set", "WIDTH=4", *FAST, home=home), 3, "dot products of four bytes", stdout="dot products")
    conv = [f"--set={name}" for name in ("R=1", "S=1", "stride=2", "pad=0", "channels=256", "filters=16")]
    check_run(run("run", "conv_direct", *conv, *FAST, home=home), 0, "every other pixel")
    for seed in ("2", "3", "7"):
        size = ["--set", "dtype=f64", "--set", "PAIRS=1,12", "--seed", seed]
        check_run(run("run", "fma_peak", *size, *FAST, home=home), 0, f"multiply-adds of seed {seed}")


if __name__ == "__main__":
    main(ceilings, physics, items, no_peak, divisions, what_is_honest_passes)
