# SPDX-License-Identifier: MIT
"""The kernels' results in the shapes that check.params leaves out (shapes.json): GPU work-groups on the CPU device at both
wavefront sizes, tails, slices that are empty, f64."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import harness  # noqa: E402


def main():
    suite = pathlib.Path(__file__).resolve().parent / "shapes.json"
    with harness.scratch() as home:
        for wave in (64, 32):
            out = pathlib.Path(home) / f"{wave}.json"
            done = harness.run("run", suite, "--device", f"cpu:wave={wave}", "--out", out, home=home, timeout=800)
            harness.check(out.exists(), f"wave {wave}: no result, exit {done.returncode}\n{done.stderr[-3000:]}")
            if not out.exists():
                continue
            cases = harness.load(out)["cases"]
            harness.check(len(cases) > 500, f"wave {wave}: only {len(cases)} cases")
            for case in cases:
                harness.check(case["status"] == "ok" and case["verification"]["status"] == "pass",
                              f"wave {wave}: {case['id']}: {case['status']} {case.get('verification')}")
    return harness.finish()


sys.exit(main())
