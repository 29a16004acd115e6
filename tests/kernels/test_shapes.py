# SPDX-License-Identifier: MIT
"""The kernels' results in the shapes that check.params leaves out (shapes.json): GPU work-groups on the CPU device, tails,
slices that are empty, other dtypes; those that know the wavefront at both of its sizes."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import harness  # noqa: E402

# Wavefront size, kernels ([]: all), least number of cases.
RUNS = [(64, [], 350), (32, ["stream_read", "stream_dot", "softmax_row", "matrix_*", "tile_*"], 150)]
# Not every processor has their dtypes, and no wave size has all matrix instructions.
NOT_EVERYWHERE = ["fma_peak", "dot_peak", "matrix_peak", "tile_check", "tile_cover"]
# Those of them that some case of a run must have shown.
SOMEWHERE = {64: NOT_EVERYWHERE[2:], 32: ["matrix_peak", "tile_check", "tile_cover"]}


def is_fine(case):
    if case["kernel"] in NOT_EVERYWHERE and case["status"] == "skipped":
        return "the device has no" in case["status_reason"]
    return case["status"] == "ok" and case["verification"]["status"] == "pass"


def main():
    suite = pathlib.Path(__file__).resolve().parent / "shapes.json"
    with harness.scratch() as home:
        for wave, kernels, least in RUNS:
            filters = [word for kernel in kernels for word in ("--filter", kernel)]
            out = pathlib.Path(home) / f"{wave}.json"
            done = harness.run("run", suite, "--device", f"cpu:wave={wave}", "--out", out, *filters, home=home, timeout=800)
            harness.check(out.exists(), f"wave {wave}: no result, exit {done.returncode}\n{done.stderr[-3000:]}")
            if not out.exists():
                continue
            cases = harness.load(out)["cases"]
            harness.check(len(cases) >= least, f"wave {wave}: only {len(cases)} cases")
            verified = {case["kernel"] for case in cases if case["status"] == "ok"}
            harness.check(verified >= set(SOMEWHERE[wave]), f"wave {wave}: verified are only {sorted(verified)}")
            for case in cases:
                harness.check(is_fine(case), f"wave {wave}: {case['id']}: {case['status']} {case.get('status_reason')} "
                                             f"{case.get('verification')}")
    return harness.finish()


sys.exit(main())
