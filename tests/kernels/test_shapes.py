# SPDX-License-Identifier: MIT
"""The kernels' results in the shapes that check.params leaves out (shapes/FAMILY.json, suites): GPU work-groups on the CPU
device, tails, slices that are empty, other dtypes; those that know the wavefront at both of its sizes. A case may be skipped
only for what its manifest requires, and each kernel must be verified by some case, unless it needs instructions that not
every processor has. Of the cases that both sizes can run each is run at one, in turns; with ROOFTILE_TEST_ALL=1 at both."""
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


def plan(suite, wave, home):
    """{kernel: [(id, can it run?)]} of a suite's cases."""
    done = harness.run("plan", suite, "--device", f"cpu:wave={wave}", "--json", "-", home=home)
    harness.check_run(done, 0, f"plan {suite.stem} wave {wave}")
    cases = {}
    for case in json.loads(done.stdout)["cases"]:
        cases.setdefault(case["id"].split("/")[0], []).append((case["id"], case["state"] == "ready"))
    return cases


def choose(suite, wave, kernels, home):
    """Ids of the cases to run at this size. Where the sizes have different cases (equal ones are one), all of them."""
    own, others = plan(suite, wave, home), plan(suite, 96 - wave, home)
    for name, cases in own.items():
        other = others.get(name, [])
        in_turns = kernels[name].asks_for_wave and len(other) == len(cases) and not objects.EVERYTHING
        for number, (case, runs) in enumerate(cases):
            if not kernels[name].asks_for_wave:
                mine = wave == 64
            elif in_turns and runs and other[number][1]:
                mine = number % 2 == (wave == 32)
            else:
                mine = runs or wave == 64
            if mine:
                yield case


def run_suites(wave, kernels, home):
    """The cases of all suites on a CPU device with waves of so many lanes."""
    cases = []
    for suite in SUITES:
        names = sorted(set(choose(suite, wave, kernels, home)))
        filters = [word for name in names for word in ("--filter", name)]
        out = pathlib.Path(home) / f"{suite.stem}{wave}.json"
        done = harness.run("run", suite, "--device", f"cpu:wave={wave}", "--out", out, *filters, home=home) if names else None
        harness.check(not names or out.exists(), f"{suite.stem} wave {wave}: no result\n{done and done.stderr[-3000:]}")
        cases += harness.load(out)["cases"] if out.exists() else []
    return cases


def everything(home):
    kernels = {kernel.name: kernel for kernel in objects.read_kernels(home, without_source=True)}
    tried, verified, count = set(), set(), 0
    for wave in (64, 32):
        cases = run_suites(wave, kernels, home)
        count += len(cases)
        for case in cases:
            harness.check(is_fine(case, kernels[case["kernel"]]), f"wave {wave}: {case['id']}: {case['status']} {case.get('status_reason')} "
                                                                  f"{case.get('verification')}")
            tried.add(case["kernel"])
            if case["status"] == "ok":
                verified.add(case["kernel"])
    harness.check(count >= LEAST_CASES, f"only {count} cases")
    print(f"{count:,} cases" if objects.EVERYTHING else f"sampled: {count:,} cases, each at one size of the wave; scripts/test --all has both")
    for name in sorted(tried - verified):
        harness.check(bool(FEATURES.search(kernels[name].require)), f"{name}: every case was skipped")


if __name__ == "__main__":
    harness.main(everything)
