# SPDX-License-Identifier: MIT
"""What is around a GPU's measurement, on stand-ins for libamdhip64, ROCTX and /sys: telemetry, an idle check, the machine file by
PCI id and partition mode, and --profile."""
import json
import pathlib
import shutil
import struct
import sys

from harness import CLANG, DOUBLES, QUICK, check, check_run, load, main, run

CARD = "sys/bus/pci/devices/ffff:00:00.0"
SOURCE = """#include "portable.h"

extern "C" __global__ void store(uint32_t *to, uint32_t value)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
"""
STORE = {"name": "store", "summary": "to = 42", "params": {"n": 64}, "code": {"source": "store.hip", "symbol": "store"},
         "buffers": {"to": {"type": "u32", "count": "n", "role": "out"}},
         "launch": {"grid": ["n / 16"], "block": [16], "args": ["to", {"value": "42", "type": "u32"}]},
         "work": {"write": "4*n"}, "check": {"expect": {"to": "42"}}}


def write(home, name, content):
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else (content + "\n").encode())


def metrics():
    """gpu_metrics 1.8 as an MI300X has it, little-endian: 51 degrees, 402 W, eight clocks, 1300 MHz memory, residencies."""
    table = bytearray(b"\xff" * 3360)
    struct.pack_into("<HBB", table, 0, 3360, 1, 8)
    struct.pack_into("<HHHH", table, 4, 51, 45, 40, 402)
    struct.pack_into("<5I", table, 44, 1, 20000, 3, 4, 5)
    struct.pack_into("<8H", table, 296, *[1700] * 8)
    struct.pack_into("<H", table, 336, 1300)
    return bytes(table)


def write_suite(home, calibration=True):
    suite = {"name": "suite", "defaults": {"measure": QUICK | {"calibration": calibration}}, "cases": [{"kernel": "store", "sweep": {"n": [64, 80]}}]}
    write(home, "suite.json", json.dumps(suite))


def write_all(home):
    write(home, "k/store.hip", SOURCE)
    write(home, "k/store.json", json.dumps(STORE))
    write_suite(home)
    for name, content in (("vendor", "0x1002"), ("device", "0x74a1"), ("unique_id", "f1c2d3e4a5b60718"), ("serial_number", "P-1"),
                          ("current_compute_partition", "SPX"), ("current_memory_partition", "NPS1"), ("mem_info_vram_used", "300000000"),
                          ("gpu_metrics", metrics())):
        write(home, f"{CARD}/{name}", content)
    write(home, "sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4711")
    write(home, "sys/class/kfd/kfd/topology/nodes/1/properties", f"location_id 0\ndomain {0xffff}")


def run_here(home, *arguments, **more):
    extra = {"ROOFTILE_HIP_LIBRARY": str(DOUBLES / "libfake_hip.so"), "ROOFTILE_SYSFS": str(home / "sys")} | CLANG | more
    done = run("run", "suite.json", "--kernels", "k", "--device", "hip:0", "-o", "r.json", *arguments, home=home, **extra)
    return done, load(home / "r.json") if done.returncode in (0, 1) else None


def warnings(result, code):
    return [w for w in result["environment"]["warnings"] if w.startswith(code)]


def needs_a_compiler(home):
    done = run("build", "store", "--kernels", "k", "--arch", "gfx942", home=home, **CLANG)
    if "no compiler" in done.stdout + done.stderr:
        print("no compiler for AMD targets")
        sys.exit(77)


def quiet_card(home):
    done, result = run_here(home)
    check_run(done, 0, "a quiet card")
    check(not warnings(result, "W007") and not warnings(result, "W008"), f"nothing to warn of: {result['environment']['warnings']}")
    for case in result["cases"]:
        for when in ("before", "after"):
            sense = case["telemetry"][when]
            check(sense["power_w"] == 402 and sense["temp_c"] == 51 and sense["core_hz"] == 1.7e9, f"{when}: {sense}")
        check("throttled" not in case["flags"], f"flags {case['flags']}")
    check(result["machine"]["name"] == "mi300x", "an MI300X in one piece has the ceilings of an MI300X")


def listed(home):
    with_nics(home)
    done = run("devices", home=home, ROOFTILE_HIP_LIBRARY=str(DOUBLES / "libfake_hip.so"), ROOFTILE_SYSFS=str(home / "sys"), COLUMNS="400")
    check_run(done, 0, "devices", stdout=["Fake Instinct 0", "mode SPX/NPS1", ", NIC mlx5_0 PHB 400 Gb/s active, 1 NIC farther away"])
    _, result = run_here(home)
    nic = {"name": "mlx5_0", "state": "active", "distance": "PHB", "max_bytes_per_s": 5e10}
    check(result["environment"]["device"]["nics"] == [nic, {"name": "mlx5_1"}], f"network cards are facts: {result['environment']['device']}")


def with_nics(home):
    """A card below the GPU's host bridge, and one of which nothing more is known."""
    host = home / "sys/devices/pci0000:00"
    host.mkdir(parents=True)
    (home / CARD).rename(host / pathlib.Path(CARD).name)
    (home / CARD).symlink_to(host / pathlib.Path(CARD).name)
    for name, folder in ("mlx5_0", host / "0000:00:01.0"), ("mlx5_1", home / "sys/devices/pci0000:80/0000:80:01.0"):
        folder.mkdir(parents=True)
        (home / f"sys/class/infiniband/{name}").mkdir(parents=True)
        (home / f"sys/class/infiniband/{name}/device").symlink_to(folder)
    write(home, "sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)")
    write(home, "sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE")


def no_sysfs(home):
    done, result = run_here(home, ROOFTILE_SYSFS=str(home / "nothing"))
    check_run(done, 0, "without /sys")
    check(result["cases"][0]["telemetry"]["before"]["power_w"] is None, "what is not known is null")


def busy_card(home):
    write(home, "sys/class/kfd/kfd/proc/999999991/vram_4711", "40000000000")
    write(home, "sys/class/kfd/kfd/proc/999999992/vram_4711", "1000000")
    write(home, f"{CARD}/mem_info_vram_used", "41300000000")
    done, result = run_here(home)
    check_run(done, 0, "a busy card", stderr=["W007", "is not idle: 1 other process uses the GPU, and 40.2 GB of its memory are in use"])
    check(len(warnings(result, "W007")) == 1, f"the result says it too: {result['environment']['warnings']}")
    write_suite(home, calibration=False)
    check_run(run_here(home)[0], 0, "a busy card, no calibration rates", stderr="W007")
    write_suite(home)
    write(home, f"{CARD}/mem_info_vram_used", "300000000")
    for pid in (999999991, 999999992):
        (home / f"sys/class/kfd/kfd/proc/{pid}/vram_4711").unlink()


def parts_of_a_card(home):
    write(home, f"{CARD}/current_compute_partition", "CPX")
    done, result = run_here(home)
    check_run(done, 0, "an eighth of a card", stderr=["W008", "divided as CPX/NPS1", "SPX/NPS1", "--machine"])
    check(len(warnings(result, "W008")) == 1, f"the result says it too: {result['environment']['warnings']}")
    check(all(c["roofline"]["fraction_of_ceiling"] is None for c in result["cases"]), "no ceiling is guessed")
    done, result = run_here(home, "--machine", "mi300x")
    check(result["machine"]["name"] == "mi300x", "what the user names is taken")
    write(home, f"{CARD}/current_compute_partition", "SPX")
    write(home, f"{CARD}/device", "0x740f")
    done, result = run_here(home)
    check_run(done, 0, "another number of units", stderr=["W008", "304 compute units", "with 104"])
    write(home, f"{CARD}/device", "0x1234")
    done, result = run_here(home)
    check_run(done, 0, "a card nobody knows", stderr="W001")
    check(not warnings(result, "W008"), "nothing is known of its modes")
    write(home, f"{CARD}/device", "0x74a1")


def profile(home):
    log = home / "roctx.log"
    done, result = run_here(home, "--profile", ROOFTILE_ROCTX_LIBRARY=str(DOUBLES / "libfake_roctx.so"), FAKE_ROCTX_LOG=str(log))
    check_run(done, 0, "--profile", stdout=["profiled"])
    wanted = []
    for case in result["cases"]:
        name = case["id"].split(";timer=")[0]
        wanted += [f"push {name}", "push warm", "pop", "push timed", "pop", "pop"]
        check(case["flags"] == ["profiled"] and case["status"] == "ok" and case["measurement"]["n"] == 1, f"{case['id']}: {case['flags']} {case['measurement']}")
        check(case["verification"]["status"] == "skipped", f"{case['id']} is not verified")
    check(log.read_text().splitlines() == wanted, f"ranges in the order of the suite: {log.read_text()}")
    check({"profile": "not a measurement"}.items() <= result["run"]["labels"].items(), f"labels {result['run']['labels']}")
    check(not warnings(result, "W009"), "the ranges are marked")
    done, result = run_here(home, "--profile", ROOFTILE_ROCTX_LIBRARY=str(home / "nothing.so"))
    check_run(done, 0, "--profile without ROCTX", stderr=["W009", "librocprofiler-sdk-roctx.so"])
    check(done.stderr.count("W009") == 1 and len(warnings(result, "W009")) == 1, f"said once: {done.stderr}")
    done = run("run", "store", "--profile", "--kernels", "k", "--device", "sim:mi300x", home=home)
    check_run(done, 0, "--profile on a device without ranges")


def emulated(home):
    """Verified like any other device, and nobody takes its times for those of a GPU. Two ways to be one: a library of AMD's
    emulator is preloaded, or an emulator is the HIP library."""
    preloaded, whole = home / "librocjitsu.so.0", home / "libemulator.so"
    shutil.copy(DOUBLES / "libfake_roctx.so", preloaded)
    shutil.copy(DOUBLES / "libfake_hip.so", whole)
    here = {"ROOFTILE_SYSFS": str(home / "sys"), "COLUMNS": "400"}
    for name, more in (("rocjitsu", {"ROOFTILE_HIP_LIBRARY": str(DOUBLES / "libfake_hip.so"), "LD_PRELOAD": str(preloaded)}),
                       ("emulator", {"ROOFTILE_HIP_LIBRARY": str(whole)})):
        check_run(run("devices", home=home, **here, **more), 0, "devices", stdout=[f"gfx942, emulated by {name}"])
        done, result = run_here(home, **here, **more)
        check_run(done, 0, name, stdout=["EMULATED: no GPU executed it", "2 emulated, 2 verified"])
        check("median error" not in done.stdout and result["environment"]["device"]["emulated"] == name, done.stdout)
        for case in result["cases"]:
            check("emulated" in case["flags"] and case["status"] == "ok" and case["verification"]["status"] == "pass", f"{case['id']}: {case['flags']}")
            check(case["prediction"].get("error_rel") is None, f"no error of a prediction: {case['prediction']}")
    refuses = "a run on an emulated GPU is no measurement"
    for words in (["compare", "r.json", "r.json"], ["compare", "--devices", "r.json", "r.json"], ["history", "add", "r.json"]):
        check_run(run(*words, home=home), 2, words, stderr=refuses)
    done = run("fleet", "r.json", home=home)
    check(done.returncode != 0 and refuses in done.stdout + done.stderr, f"fleet: {done}")
    for words in (["roofline"], ["aa", "suite.json", "--kernels", "k"]):
        check_run(run(*words, "--device", "hip:0", home=home, **here, **more, **CLANG), 2, words, stderr="emulated")
    for form, says in (("html", "EMULATED: no GPU executed it"), ("junit", "EMULATED"), ("openmetrics", "rooftile_emulated_case_ok{"),
                       ("google-benchmark", "emulated: "), ("csv", ",emulated")):
        check_run(run("report", "r.json", "--format", form, home=home), 0, form, stdout=says)


if __name__ == "__main__":
    main(write_all, needs_a_compiler, quiet_card, listed, no_sysfs, busy_card, parts_of_a_card, profile, emulated, doubles=["libfake_roctx.so"])
