# SPDX-License-Identifier: MIT
"""Device faults are data: every required function of a vendor's library fails, aborts or hangs in a run of a few cases. The run ends
in time, the result is valid and names the reason, and the other cases are measured. What differs between vendors is in VENDORS; the
vendor is the second argument. Each function fails at its first call and at a late one, in a sample not with every code at both."""
import concurrent.futures
import dataclasses
import json
import os
import re
import sys

from harness import DOUBLES, QUICK, ROOT, check, check_run, load, main, run, skip


OUT_OF_MEMORY, INVALID_IMAGE, NO_BINARY, NOT_FOUND, ILLEGAL_ADDRESS, TIME_OUT, LAUNCH_FAILURE = 2, 200, 209, 500, 700, 702, 719
NO_DEVICE, DESTROYED, NEVER_HEARD_OF = 100, 709, 4242
# What each function is told, besides what some are.
FOR_ALL = [DESTROYED, NEVER_HEARD_OF]
WATCHDOG = "5 s"  # nobody works meanwhile, and cases that do not hang must end before it even on a busy machine
EVERYTHING = bool(os.environ.get("ROOFTILE_TEST_ALL"))


@dataclasses.dataclass(frozen=True)
class Vendor:
    backend: str
    library: str  # the stand-in with required functions only
    arch: str
    special: dict  # codes that a function is told too
    cleaning: set  # nobody can do anything about their failure, so nobody hears of it
    opening: set  # called while a device is opened, and never again
    closing: set  # called when a worker ends, which it does without ceremony: only the unit tests see them
    calibrating: list
    hanging: list
    launch: str
    shrug: set = frozenset()  # of `opening`: what they tell is unknown then
    unheard: dict = dataclasses.field(default_factory=dict)  # calls before the first case that may fail unheard: the step of the clock, calibration

    def variable(self, name):
        return f"FAKE_{self.backend.upper()}_{name}"


HIP = Vendor("hip", "libfake_hip_bare.so", "gfx90a",
             {"hipMalloc": [OUT_OF_MEMORY], "hipModuleLoad": [INVALID_IMAGE, NO_BINARY, OUT_OF_MEMORY], "hipModuleGetFunction": [NOT_FOUND],
              "hipModuleLaunchKernel": [LAUNCH_FAILURE, ILLEGAL_ADDRESS, OUT_OF_MEMORY],
              "hipDeviceSynchronize": [LAUNCH_FAILURE, ILLEGAL_ADDRESS, TIME_OUT], "hipInit": [NO_DEVICE], "hipGetDeviceCount": [NO_DEVICE]},
             cleaning={"hipFree", "hipModuleUnload", "hipStreamDestroy", "hipEventDestroy"},
             opening={"hipInit", "hipGetDeviceCount", "hipSetDevice", "hipDeviceGetAttribute", "hipDeviceGetName", "hipMemGetInfo", "hipEventCreateWithFlags"},
             closing={"hipStreamDestroy", "hipEventDestroy"},
             calibrating=["hipMalloc", "hipModuleLoad", "hipModuleLaunchKernel", "hipDeviceSynchronize", "hipEventElapsedTime"],
             hanging=["hipMemcpy", "hipModuleLaunchKernel", "hipDeviceSynchronize"], launch="hipModuleLaunchKernel",
             shrug={"hipDeviceGetAttribute"}, unheard={"hipDeviceSynchronize": 1})
CUDA = Vendor("cuda", "libfake_cuda_bare.so", "sm_90a",
              {"cuMemAlloc_v2": [OUT_OF_MEMORY], "cuModuleLoadDataEx": [INVALID_IMAGE, NO_BINARY, OUT_OF_MEMORY], "cuModuleGetFunction": [NOT_FOUND],
               "cuLaunchKernel": [LAUNCH_FAILURE, ILLEGAL_ADDRESS, OUT_OF_MEMORY],
               "cuCtxSynchronize": [LAUNCH_FAILURE, ILLEGAL_ADDRESS, TIME_OUT], "cuInit": [NO_DEVICE], "cuDeviceGetCount": [NO_DEVICE]},
              cleaning={"cuMemFree_v2", "cuModuleUnload", "cuStreamDestroy_v2", "cuEventDestroy_v2", "cuDevicePrimaryCtxRelease_v2"},
              opening={"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
                       "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemGetInfo_v2", "cuEventCreate"},
              closing={"cuStreamDestroy_v2", "cuEventDestroy_v2", "cuDevicePrimaryCtxRelease_v2"},
              calibrating=["cuMemAlloc_v2", "cuModuleLoadDataEx", "cuLaunchKernel", "cuCtxSynchronize", "cuEventElapsedTime"],
              hanging=["cuMemcpy", "cuLaunchKernel", "cuCtxSynchronize"], launch="cuLaunchKernel",
              shrug={"cuDeviceGetAttribute", "cuDriverGetVersion"},
              unheard={"cuEventRecord": 64, "cuEventElapsedTime": 63, "cuCtxSynchronize": 2})
VENDORS = {"hip": HIP, "cuda": CUDA}

SIZES = [64, 80, 96]
SOURCE = """#include "portable.h"

extern "C" __global__ void store(uint32_t *to, uint32_t value)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
"""
STORE = {
    "name": "store", "summary": "to = 42", "params": {"n": 64}, "code": {"source": "store.hip", "symbol": "store"},
    "buffers": {"to": {"type": "u32", "count": "n", "role": "out", "fill": "7"}, "other": {"type": "u32", "count": "n", "role": "temp"}},
    "steps": [{"fill": {"buffer": "other", "byte": 1}, "timed": False},
              {"copy": {"to": "other", "from": "to", "bytes": "4*n"}, "stream": 1, "timed": False},
              {"record": "copied", "stream": 1, "timed": False}, {"wait": "copied", "timed": False},
              {"launch": {"grid": ["n / 16"], "block": [16], "args": ["to", {"value": "42", "type": "u32"}]}}],
    "check": {"expect": {"to": "42"}}}


def required_functions(vendor):
    """From the symbol table itself, so that none can be forgotten."""
    text = (ROOT / "src/device/gpu_calls.h").read_text()
    column = 2 if vendor.backend == "hip" else 1
    shared = [row[column] for row in re.findall(r"\bX\((\w+), (\w+), (\w+),\s*\\?\s*GPU_REQUIRED\b", text)]
    return shared + re.findall(rf"\b{vendor.backend.upper()}\((\w+), GPU_REQUIRED\b", text)


def write_kernels(home):
    (home / "k").mkdir()
    (home / "bare").mkdir()
    (home / "bare/include").symlink_to(ROOT / "kernels/include")
    (home / "k/store.hip").write_text(SOURCE)
    (home / "k/store.json").write_text(json.dumps(STORE))
    cases = [{"kernel": "store", "sweep": {"n": SIZES}}]
    (home / "suite.json").write_text(json.dumps({"name": "suite", "defaults": {"measure": QUICK}, "cases": cases}))


def run_with(vendor, home, name, fail=None, once=True, arguments=(), calibrated=False, **more):
    """A run on the stand-in; with `once` the first process that comes to the failing call is the only one that fails. Calibration
    takes most of the time of a run, so that only some have the kernels for it."""
    mark = home / f"{name}.failed"
    extra = {f"ROOFTILE_{vendor.backend.upper()}_LIBRARY": str(DOUBLES / vendor.library), vendor.variable("FAIL"): fail,
             vendor.variable("ONCE"): str(mark) if once else None, "ROOFTILE_NVML_LIBRARY": "/nonexistent.so",
             "ROOFTILE_KERNELS": None if calibrated else str(home / "bare")}
    done = run("run", "suite.json", "--kernels", "k", "--device", f"{vendor.backend}:0", "--keep-order", "-q", "-o", f"{name}.json", *arguments, home=home,
               **(extra | more))
    return done, load(home / f"{name}.json") if (home / f"{name}.json").exists() else None, mark.exists()


def statuses(result):
    return [c["status"] for c in result["cases"]] if result else None


def nothing_fails(vendor, home):
    done = run("build", "store", "--kernels", "k", "--arch", vendor.arch, home=home)
    if "no compiler" in done.stdout + done.stderr:
        skip(f"no compiler for {vendor.arch}")
    done, result, _ = run_with(vendor, home, "well")
    check_run(done, 0, "without a fault")
    check(statuses(result) == ["ok"] * len(SIZES), f"without a fault: {done.stderr}")


def late_call(vendor, home, function):
    """The number of a call that a process of a run comes to, as late as can be told in a few runs; 0: it calls that never."""
    before = vendor.unheard.get(function, 0)
    for nth in (32, 8, 2, 1):
        if run_with(vendor, home, f"count-{function}-{nth}", f"{function}:{before + nth}:0")[2]:
            return before + nth
    return 0


def check_fault(vendor, home, function, nth, what, calibrated=False):
    """One process fails once: that is one case's error, or none was lost; every other case is measured."""
    where = f"{function} call {nth} {what}{' calibrated' * calibrated}"
    done, result, failed = run_with(vendor, home, where.replace(" ", "-"), f"{function}:{nth}:{what}", calibrated=calibrated)
    check(failed, f"{where}: there was no such call")
    check(done.returncode in (0, 1, 3), f"{where}: exit {done.returncode}\n{done.stderr}")
    check("Sanitizer" not in done.stderr, f"{where}:\n{done.stderr}")
    if function in vendor.opening:
        # Without a device there is nothing to measure, and the reason is said; some attributes may be unknown.
        ignored = function in vendor.shrug and what != "abort" and done.returncode == 0
        said = "the worker process died while opening the device" if what == "abort" else function
        check(ignored or (done.returncode == 3 and result is None and said in done.stderr), f"{where}: exit {done.returncode} {done.stderr}")
        return
    check(result, f"{where}: no result\n{done.stderr}")
    if result is None:
        return
    check(result["run"]["status"] == "complete", f"{where}: the run is {result['run']['status']}")
    check(len(result["cases"]) == len(SIZES), f"{where}: {len(result['cases'])} cases")
    bad = [c for c in result["cases"] if c["status"] != "ok"]
    # Before the first case launches of an empty kernel are timed: when that fails, what they cost stays unknown.
    spared = calibrated and not bad and (what != "abort" or "died while calibrating" in " ".join(result["environment"]["warnings"]))
    check(len(bad) <= 1, f"{where}: {[(c['status'], c['status_reason']) for c in bad]}")
    expected = "crashed" if what == "abort" else "error"
    for case in bad:
        reason = case["status_reason"] or ""
        check(case["status"] == expected, f"{where}: {case['status']}: {reason}")
        check("SIGABRT" in reason if what == "abort" else function in reason or "no kernel" in reason, f"{where}: the reason is '{reason}'")
        check(what in ("abort", NOT_FOUND) or f"({what})" in reason or f"error {what}" in reason, f"{where}: no code in '{reason}'")
        check(case["stats"] is None or case["measurement"]["n"] > 0, f"{where}: statistics of nothing")
    check(done.returncode == (1 if bad else 0), f"{where}: exit {done.returncode} with {len(bad)} bad cases")
    if what == "abort" or function not in vendor.cleaning:
        check(bad or spared, f"{where}: nobody noticed")


def faults_of(vendor, home, function):
    late = late_call(vendor, home, function)
    if function in vendor.closing:
        check(late == 0, f"{function} is called in a run: it can be tested here")
        return
    check(late > 0, f"{function} is required, and no run calls it")
    first = 1 + vendor.unheard.get(function, 0)
    codes = vendor.special.get(function, []) + FOR_ALL + ["abort"]
    for code in codes if EVERYTHING or late == first else codes[:-2] + ["abort"]:
        check_fault(vendor, home, function, first, code)
    for code in [] if late == first else codes if EVERYTHING else codes[-2:]:
        check_fault(vendor, home, function, late, code)
    if function in vendor.calibrating:
        for code in (LAUNCH_FAILURE, "abort"):
            check_fault(vendor, home, function, 1 + vendor.unheard.get(function, 0), code, calibrated=True)


def hangs(vendor, home, function):
    """Only the watchdog ends it."""
    late = late_call(vendor, home, function)
    done, result, failed = run_with(vendor, home, f"hang-{function}", f"{function}:{late}:hang", arguments=["--timeout", WATCHDOG])
    check(failed, f"{function} does not hang")
    check_run(done, 1, f"{function} hangs")
    check(sorted(statuses(result) or []) == ["ok"] * (len(SIZES) - 1) + ["timeout"], f"{function} hangs: {statuses(result)}")
    reasons = [c["status_reason"] for c in result["cases"] if c["status"] == "timeout"] if result else []
    check(reasons and f"no answer after {WATCHDOG} while" in reasons[0], f"{function} hangs: {reasons}")


def again_and_again(vendor, home, what, status, reason):
    """A fault that each process meets: it costs every case, and the run still ends in order."""
    done, result, _ = run_with(vendor, home, f"always-{what}", f"{vendor.launch}:1:{what}", once=False)
    check_run(done, 1 if status == "crashed" else 3, f"always {what}")
    found = [(c["status"], c["status_reason"]) for c in result["cases"]] if result else []
    check(len(found) == len(SIZES) and all(s == status and reason in r for s, r in found), f"always {what}: {found}\n{done.stderr}")


def lost_for_good(vendor, home):
    """A device that vanishes in the middle: what was measured before is kept."""
    launch = late_call(vendor, home, vendor.launch) // 2  # not in the last case, however many launches a busy machine takes
    done, result, _ = run_with(vendor, home, "vanish", f"{vendor.launch}:{launch}:{LAUNCH_FAILURE}", **{vendor.variable("GONE"): str(home / "vanish.failed")})
    check_run(done, 3, "a device that vanishes", stderr=["finds no GPU"])
    check(result and result["run"]["status"] == "interrupted", "a device that vanishes: the result is not the whole run")
    found = statuses(result)
    check(found and len(found) < len(SIZES) and found[-1] == "error" and set(found[:-1]) <= {"ok"}, f"a device that vanishes: {found}")


def another_device(home):
    """As when two emulators share the file that says which device they emulate: the next worker finds another one."""
    launch = late_call(HIP, home, HIP.launch) // 2
    done, result, _ = run_with(HIP, home, "other", f"{HIP.launch}:{launch}:abort", FAKE_HIP_OTHER=str(home / "other.failed"))
    check_run(done, 3, "another device", stderr=["hip:0 is now Fake Instinct 0 (gfx1100), but the code was compiled for gfx90a"])
    check(result and result["run"]["status"] == "interrupted", "another device: the result is not the whole run")


def everything(home):
    vendor = VENDORS[sys.argv[2]]
    if not (DOUBLES / vendor.library).exists():
        skip(f"{vendor.library} is not built")
    functions = required_functions(vendor)
    check(len(functions) >= 20 and vendor.launch in functions, f"the symbol table was not understood: {functions}")
    write_kernels(home)
    nothing_fails(vendor, home)
    jobs = [(faults_of, f) for f in functions] + [(hangs, f) for f in vendor.hanging] + [(lost_for_good,)]
    jobs += [(again_and_again, str(LAUNCH_FAILURE), "error", f"{vendor.launch}: error 719"), (again_and_again, "abort", "crashed", "SIGABRT")]
    jobs = [(job, vendor, home, *arguments) for job, *arguments in jobs] + [(another_device, home)] * (vendor is HIP)
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for done in [pool.submit(*job) for job in jobs]:
            done.result()
    print("every code at every call" if EVERYTHING else "sampled: codes at the first and at a late call; scripts/test --all has every code at both")


if __name__ == "__main__":
    main(everything)
