# SPDX-License-Identifier: MIT
"""`plan` and `run` of several devices: one table for people, one plan or result for each."""
import json

from harness import ROOT, check, check_run, load, main, run

PAIR = ["--device", "sim:mi300x,sim:rx7900xtx"]


def row_of(done, label):
    return next((line.split() for line in done.stdout.splitlines() if line.split()[:1] == [label]), [])


def plans(home):
    words = ["plan", "stream_triad", "--set", "dtype=f32,f64", "--filter", "*n=*"]
    done = run(*words, *PAIR, home=home)
    check_run(done, 0, "two plans", stdout=["sim:mi300x", "sim:rx7900xtx", "on AMD Instinct MI300X", "on AMD Radeon RX 7900 XTX"])
    alone = [json.loads(run(*words, "--device", device, "--json", "-", home=home).stdout) for device in PAIR[1].split(",")]
    both = json.loads(run(*words, *PAIR, "--json", "-", home=home).stdout)["plans"]
    check(both == alone, "the JSON has each device's own plan")
    check([[case["request"] for case in plan["cases"]] for plan in both] == [[0, 1], [0, 1]], "what is asked is numbered")
    slow = both[0]["cases"][1]["predicted_ns"] / both[1]["cases"][1]["predicted_ns"]
    row = row_of(done, "dtype=f64")
    check(row[3] == both[0]["cases"][1]["bound"] and row[-1] == f"{slow:.3g}x", f"one row, its bound and speed {slow}: {row}")


SMALL = [word for size in "mnk" for word in ("--set", f"{size}=256")]  # a product's turns are walked


def other_variants(home):
    """What is asked joins two cases, not their ids: these have the tile of their device."""
    words = ["plan", "gemm_matrix", *SMALL, "--set", "dtype=f16", *PAIR]
    both = json.loads(run(*words, "--json", "-", home=home).stdout)["plans"]
    first, second = (plan["cases"][0] for plan in both)
    check(first["id"] != second["id"] and first["request"] == second["request"], f"one case each: {first['id']} {second['id']}")
    rows = [line for line in run(*words, home=home).stdout.splitlines() if line.startswith("gemm_matrix")]
    check(len(rows) == 1, f"one row: {rows}")


def skipped_on_one(home):
    done = run("plan", "gemm_matrix", *SMALL, "--set", "dtype=f16,e4m3fnuz", "--device", "sim:mi300x,sim:h100", home=home)
    check_run(done, 0, "skipped on one", stdout="sim:h100: the device has no matrix instruction for e4m3fnuz")
    check(row_of(done, "dtype=e4m3fnuz")[-3:] == ["-", "-", "-"], f"no time there: {done.stdout}")


def machines(home):
    """--machine has ceilings of the device, and other devices are named with --device: which, is said. A file that is there is taken by whoever
    takes a machine."""
    for words, meant in ((["plan", "stream_triad", "--machine", "h100"], "rooftile plan stream_triad --device sim:h100"),
                         (["run", "stream_triad", "--set", "n=1Ki", "--machine", "mi300x"], "rooftile run stream_triad --set n=1Ki --device sim:mi300x"),
                         (["plan", "stream_triad", "--device", "sim:mi300x", "--machine", "mi308x"], "rooftile plan stream_triad --device sim:mi308x"),
                         (["plan", "stream_triad", "--device", "cpu", "--machine", "mi300x,mi210"], "rooftile plan stream_triad --device sim:mi300x")):
        check_run(run(*words, home=home), 2, " ".join(words), stderr=[f"'{meant}'", "and the device is "])
    file = load(ROOT / "configs/machines/mi300x.json")
    file["title"] = "Fast X"
    file["levels"][-1]["bandwidth"]["vendor"]["value"] *= 4
    (home / "fast.json").write_text(json.dumps(file))
    file["levels"] = []
    (home / "flat.json").write_text(json.dumps(file))
    for words in (["predict", "stream_triad", "--machine", "fast.json"], ["explain", "stream_triad", "--machine", "fast.json"], ["roofline", "--machine", "fast.json"],
                  ["plan", "stream_triad", "--device", "sim:mi300x", "--machine", "fast.json"], ["plan", "stream_triad", "--device", "sim:fast.json"],
                  ["run", "stream_triad", "--device", "sim:fast.json"], ["predict", "stream_triad", "--machine", "mi300x,fast.json"]):
        check_run(run(*words, home=home), 0, " ".join(words))
    check_run(run("roofline", "--machine", "fast.json", home=home), 0, "shown", stdout="Fast X")
    for words in (["predict", "stream_triad", "--machine", "flat.json"], ["plan", "stream_triad", "--device", "sim:flat.json"]):
        check_run(run(*words, home=home), 2, " ".join(words), stderr="flat.json:1:1: it has no memory level")
    check_run(run("predict", "stream_triad", "--machine", "none.json", home=home), 2, "no such file", stderr="there is no machine 'none.json'")
    twice = [json.loads(run("plan", "stream_triad", "--device", "sim:mi300x", "--machine", name, "--json", "-", home=home).stdout)["cases"][0]["lower_bound_ns"] for name in ("mi300x", "fast.json")]
    check(twice[1] < 0.5 * twice[0], f"the file's ceilings: {twice}")


def runs(home):
    done = run("run", "stream_triad", "--set", "n=4096", "--set", "dtype=f32,f64", *PAIR, "-o", "out/r.json", home=home)
    check_run(done, 0, "two devices", stdout=["bound", "out/r.sim-rx7900xtx.json"])
    for name in ("mi300x", "rx7900xtx"):
        result, single = load(home / f"out/r.sim-{name}.json"), home / f"{name}.json"
        check_run(run("run", "stream_triad", "--set", "n=4096", "--set", "dtype=f32,f64", "--device", f"sim:{name}", "-o", single, home=home), 0, name)
        check(result["cases"] == load(single)["cases"], f"{name}: as if it were alone")
    check_run(run("report", "out/r.sim-mi300x.json", home=home), 0, "each is a result")
    check(not (home / "out/r.json").exists(), "and no other file")


def one_is_broken(home):
    """A device that is not there costs only itself."""
    done = run("run", "stream_triad", "--set", "n=4096", "--device", "cuda,sim:h100", "-o", "b.json", home=home,
               ROOFTILE_CUDA_LIBRARY=str(home / "none.so"))
    check_run(done, 3, "one is missing", stdout="sim:h100: NVIDIA H100", stderr="error: cuda: ")
    check((home / "b.sim-h100.json").exists() and not (home / "b.cuda.json").exists(), "the other was run")
    warned = load(home / "b.sim-h100.json")["environment"]["warnings"]
    check(warned == [], f"what is said of one device is not said of the next: {warned}")


def mistakes(home):
    for words, message in {
        ("plan", "quick", "--device", "sim:h100,sim:h100"): "'sim:h100' is named twice",
        ("predict", "stream_copy", "--machine", "h100,h100"): "'sim:h100' is named twice",
        ("list", "--targets", "gfx942"): "list --targets",
        ("plan", "quick", "--device", "sim:h100,cud"): "unknown device 'cud'; did you mean 'cuda'?",
        ("plan", "quick", "--device", "sim:h100,"): "--device sim:h100,: no device after the last comma",
        ("run", "quick", "--device", ",sim:h100"): "--device ,sim:h100: no device before a comma",
        ("plan", "quick", "--device", "sim:h100,sim:mi210,cpu", "--machine", "a100,h100"): "--device names 3 and --machine 2",
        ("run", "quick", "--device", "sim:h100,cpu", "-o", "-"): "several devices have a result each",
        ("run", "quick", "--device", "sim:h100,cpu", "--format", "csv"): "--format csv shows one device",
        ("run", "quick", "--device", "sim:h100,cpu", "--resume", "r.json"): "are for one device",
    }.items():
        check_run(run(*words, home=home), 2, " ".join(words), stderr=message)
    done = run("plan", "stream_triad", "--device", "cpu:wave=32,threads=1,sim:h100", home=home)
    check_run(done, 0, "commas inside a device", stdout=["cpu:wave=32,threads=1", "sim:h100"])


main(plans, other_variants, skipped_on_one, machines, runs, one_is_broken, mistakes)
