# SPDX-License-Identifier: MIT
"""The kernels' results in the shapes that check.params leaves out (shapes/FAMILY.json, suites): GPU work-groups on the CPU
device, tails, slices that are empty, other dtypes. A case may be skipped
only for what its manifest requires, and each kernel must be verified by some case, unless it needs instructions that not
every processor has. Loops stay loops here: unrolled, as verified.py has them at check.params, they take the compiler four times as
long and compute the same. Of a sample one of a kernel's code objects is compiled, for one size of the wave (objects.py says which), and
does all that it can; with ROOFTILE_TEST_ALL=1 all are, for both sizes."""
import json
import pathlib
import re

import objects
from objects import harness

SUITES = sorted((pathlib.Path(__file__).resolve().parent / "shapes").glob("*.json"))
LEAST_CASES = 400
FEATURES = re.compile(r"device\.(f16|bf16_dot|i8_dot)\b")


def is_fine(case, kernel):
    if case["status"] == "skipped":
        return kernel.require != '""' and "the device has no" in case["status_reason"]
    return case["status"] == "ok" and case["verification"]["status"] == "pass"


def plan(suite, wave, kernels, home):
    """{kernel: {what its code is compiled for: [(id, can it run?)]}} of a suite's cases."""
    done = harness.run("plan", suite, "--device", f"cpu:wave={wave}", "--json", "-", home=home)
    harness.check_run(done, 0, f"plan {suite.stem} wave {wave}")
    found = {}
    for case in json.loads(done.stdout)["cases"]:
        name, settings = case["id"].split("/", 1)
        code = ";".join(setting for setting in settings.split(";") if setting.split("=")[0] in kernels[name].compiled_in)
        found.setdefault(name, {}).setdefault(code, []).append((case["id"], case["state"] == "ready"))
    return found


def able(codes):
    """What a kernel's code is compiled for, where it can run."""
    return [code for code, cases in codes.items() if any(runs for _, runs in cases)]


def choose(plans, wave, kernels):
    """Ids of the cases to run at this size: all that one code object can do (the CPU's compiler takes seconds for one), chosen among those
    that can run, at the other size if none can at the kernel's own; and the cases that nothing can run, which are looked at, too."""
    for name, codes in plans[wave].items():
        own, other = (32, 64) if kernels[name].takes_shapes_at_32 else (64, 32)
        if not objects.EVERYTHING and wave != own and (able(plans[own][name]) or not able(plans[other][name])):
            continue
        for code, cases in codes.items():
            for case, runs in cases:
                if objects.EVERYTHING or code in able(codes)[-1:] or not runs:
                    yield case


def run_suites(wave, kernels, home):
    """The cases of all suites on a CPU device with waves of so many lanes."""
    cases = []
    for suite in SUITES:
        names = sorted(set(choose({size: plan(suite, size, kernels, home) for size in (64, 32)}, wave, kernels)))
        filters = [word for name in names for word in ("--filter", name)]
        out = pathlib.Path(home) / f"{suite.stem}{wave}.json"
        done = harness.run("run", suite, "--device", f"cpu:wave={wave}", "--out", out, *filters, home=home, **objects.quick_clang(home)) if names else None
        harness.check(not names or out.exists(), f"{suite.stem} wave {wave}: no result\n{done and done.stderr[-3000:]}")
        cases += harness.load(out)["cases"] if out.exists() else []
    return cases


def everything(home):
    kernels = {kernel.name: kernel for kernel in objects.read_kernels(home, without_source=True)}
    tried, verified, count, whole = set(), set(), 0, 0
    for wave in (64, 32):
        whole += sum(len(cases) for suite in SUITES for codes in plan(suite, wave, kernels, home).values() for cases in codes.values())
        cases = run_suites(wave, kernels, home)
        count += len(cases)
        for case in cases:
            harness.check(is_fine(case, kernels[case["kernel"]]), f"wave {wave}: {case['id']}: {case['status']} {case.get('status_reason')} "
                                                                  f"{case.get('verification')}")
            tried.add(case["kernel"])
            if case["status"] == "ok":
                verified.add(case["kernel"])
    harness.check(count >= LEAST_CASES, f"only {count} cases")
    objects.say_sampled(count, whole, "cases at both sizes of the wave")
    for name in sorted(tried - verified):
        is_library = not kernels[name].stem  # which need not be installed
        harness.check(is_library or bool(FEATURES.search(kernels[name].require)), f"{name}: every case was skipped")


if __name__ == "__main__":
    harness.main(everything)
