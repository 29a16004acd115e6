# SPDX-License-Identifier: MIT
"""`predict`: one machine, several, JSON, and what is wrong on the command line."""
import json
import pathlib
import re
import signal
import subprocess

from harness import PATIENCE_S, PROGRAM, ROOT, SANITIZED, check, check_run, environment, main, newest, run
from runs import measured

TRIAD = ["predict", "stream_triad", "--set", "n=1Mi,64Mi"]


def one_machine(home):
    done = run(*TRIAD, "--machine", "mi300x", home=home)
    check_run(done, 0, "one machine", stdout=["PREDICTED: nothing was executed", "80 % interval", "limited by", "memory"])
    page = run(*TRIAD, "--machine", "mi300x", "--format", "html", home=home).stdout
    check("Predicted: nothing was executed</bdi>" in page and "PREDICTED" not in page, "the page's heading says it, once")
    [machine] = json.loads(run(*TRIAD, "--machine", "mi300x", "--json", "-", home=home).stdout)["machines"]
    small, large = machine["cases"]
    check(large["method"] == "walk" and large["limiter"] == "memory" and large["bound"] == "HBM", f"large: {large}")
    check(large["low_ns"] < large["time_ns"] < large["high_ns"] and large["time_ns"] > large["lower_bound_ns"], f"times: {large}")
    check(large["time_ns"] > 4 * small["time_ns"], f"{large['time_ns']} against {small['time_ns']}")
    check(0.05 < large["gain_of_a_tenth"]["memory"] < 0.1, f"gains: {large['gain_of_a_tenth']}")


def side_by_side(home):
    done = run(*TRIAD, "--machine", "mi300x,mi210", home=home)
    check_run(done, 0, "side by side", stdout=["mi300x", "mi210", "portability", "mi210: unknown, so taken from a similar GPU: LDS latency from "])
    narrow = run(*TRIAD, "--machine", "mi300x,mi210,mi355x,h100", home=home, COLUMNS="70").stdout.splitlines()
    check("portability" in narrow[1] and "limited by" not in narrow[1], f"columns that are dropped first: {narrow[1]}")
    first, second = json.loads(run(*TRIAD, "--machine", "mi300x,mi210", "--json", "-", home=home).stdout)["machines"]
    check(second["cases"][1]["time_ns"] > 2 * first["cases"][1]["time_ns"], "the slower memory takes longer")
    check(any(what.startswith("LDS latency from") for what in second["borrowed"]), f"borrowed: {second['borrowed']}")


def below_no_bound(home):
    """No prediction is below the lower bound of its case: by stated work for whole suites, and walked, wherever the data lie when a launch begins.
    Of all machines; under sanitizers others walk and plan for a few."""
    if SANITIZED:
        return
    machines = sorted(path.stem for path in (ROOT / "configs/machines").glob("*.json"))
    modes = [{"kernel": "stream_triad", "sweep": {"n": ["256Ki", "1Mi", "4Mi", "8Mi", "32Mi"]}, "measure": {"cache": mode}} for mode in ("hot", "cold", "rotate")]
    modes.append({"kernel": "stream_write", "params": {"n": "64Mi", "groups_per_cu": 1, "traffic_per_cu": 16777216, "nt_from": 0}})  # many passes
    modes.append({"kernel": "stream_triad", "params": {"n": 4096, "groups_per_cu": 1, "traffic_per_cu": 16777216}})  # most workgroups have nothing to do
    (home / "modes.json").write_text(json.dumps({"name": "modes", "summary": "s", "cases": modes}))
    walked = json.loads(run("predict", "modes.json", "--machine", ",".join(machines), "--json", "-", home=home).stdout)["machines"]
    check(len(walked) == len(machines), "every machine")
    both = [(machine["machine"], case, case["time_ns"]) for machine in walked for case in machine["cases"]]
    for name in machines:
        planned = run("plan", "quick", "memory", "--described", "--device", f"sim:{name}", "--json", "-", home=home)
        check_run(planned, 0, f"suites are planned for {name}")
        both += [(name, case, case.get("predicted_ns")) for case in json.loads(planned.stdout)["cases"]]
    known = [(name, case["id"], time_ns / case["lower_bound_ns"]) for name, case, time_ns in both if time_ns and case.get("lower_bound_ns")]
    below = [row for row in known if row[2] < 0.999]
    wrong = [case["id"] for machine in walked for case in machine["cases"] if any("manifest states" in note for note in case["notes"])]
    check(not wrong, f"what they state they ask for: {wrong}")
    check(len(known) > 30 * len(machines) and not below, f"{len(below)} of {len(known)} are below: {below[:9]}")


def no_code(home):
    """Where nothing is walked the stated work is all there is: of other code, and for those who do not want to wait."""
    for words in (["--machine", "h100"], ["--machine", "mi300x", "--described"]):
        [machine] = json.loads(run(*TRIAD, *words, "--json", "-", "--cache", "empty", home=home).stdout)["machines"]
        check(all(case["method"] == "description" for case in machine["cases"]), f"{words}: {machine['cases']}")
    check(not list(home.glob("empty/*")), "nothing is compiled for it")
    triad, legend = ["stream_triad", "--described"], "~: predicted by the work that the manifest states"
    for words in (["plan", *triad, "--device", "sim:mi300x"], ["plan", *triad, "--device", "sim:mi300x,sim:h100"], ["run", *triad, "--device", "sim:mi300x"],
                  ["predict", *triad, "--machine", "mi300x"], ["predict", *triad, "--machine", "mi300x,mi210"], ["explain", *triad, "--machine", "mi300x"]):
        done = run(*words, home=home)
        check_run(done, 0, " ".join(words), stdout=[legend])
        check(re.search(r" ~[0-9.]+ [um]s", done.stdout), f"its time is marked: {done.stdout}")
    walked = run("plan", "stream_triad", "--device", "sim:mi300x", home=home)
    check("~" not in walked.stdout, f"what is walked is not: {walked.stdout}")
    done = run("plan", "stream_triad", "--device", "sim:mi300x", home=home, ROOFTILE_KERNEL_COMPILER="/nowhere/clang++", ROOFTILE_CACHE="empty")
    check_run(done, 0, "no compiler", stdout=[legend, "stream_triad: by the stated work: ROOFTILE_KERNEL_COMPILER: /nowhere/clang++ is not"])


def lines_on_cpu(home):
    """A CPU's bytes say nothing of how accesses lie: the same source, compiled for a GPU and walked, does."""
    memory = {"name": "DRAM", "bandwidth": {"vendor": {"value": 3e10, "source": "made up"}}}
    (home / "small.json").write_text(json.dumps({
        "name": "small", "title": "small", "kind": "vendor", "facts": {"cus": 1, "core_hz": 3e9}, "levels": [memory], "units": [],
        "launch_ns": {"value": 1000, "source": "made up"}}))
    words = ["access_read", "--device", "cpu:threads=1", "--machine", str(home / "small.json"), "--set", "elements=256Ki", "--set", "stride=1,16,1024"]
    done = run("run", *words, "--quick", "--min-time", "1ms", "--max-time", "5ms", "-o", "r.json", home=home)
    check_run(done, 0, "three strides")
    ran = [case["prediction"] for case in json.loads((home / "r.json").read_text())["cases"]]
    planned = json.loads(run("plan", *words, "--json", "-", home=home).stdout)["cases"]
    check(all(one["method"] == "walk" and not one["notes"] for one in ran), f"walked: {ran}")
    check([one["time_ns"] for one in ran] == [case["predicted_ns"] for case in planned], "run and plan")
    near, lines, pages = (one["time_ns"] for one in ran)
    check(lines > 3 * near, f"a line for each access takes longer: {near} {lines} {pages}")


def plan_and_sim(home):
    """A pass over the steps takes what the plan says, however its launches are repeated."""
    launch = {"launch": {"grid": ["n"], "block": [64], "args": ["in"]}}
    for name, steps in (("plain", [launch]), ("repeated", [launch | {"repeat": "8"}]), ("looped", [{"loop": {"repeat": "4", "steps": [launch, launch]}}])):
        (home / f"{name}.json").write_text(json.dumps({
            "name": name, "summary": name, "params": {"n": 1048576}, "code": {"source": "empty.hip", "symbol": "empty"},
            "buffers": {"in": {"type": "f32", "count": "n", "role": "inout", "fill": "1"}}, "steps": steps,
            "work": {"read": "4000 * n", "footprint": "4 * n"}, "check": {"params": {"n": 64}, "expect": {"in": "1"}}}))
        (home / "empty.hip").write_text('#include "portable.h"\nextern "C" __global__ void empty(float *in) { (void)in; }\n')
        words = [str(home / f"{name}.json"), "--device", "sim:mi300x", "--quick"]
        planned = run("plan", *words, "--json", "-", home=home)
        ran = run("run", *words, "-o", "-", home=home)
        check_run(planned, 0 if name == "looped" else 1, f"{name} is planned")
        check_run(ran, 0 if name == "looped" else 1, f"{name} runs")
        forecast = json.loads(planned.stdout)["cases"][0]["predicted_ns"]
        [case] = json.loads(ran.stdout)["cases"]
        [machine] = json.loads(run("predict", str(home / f"{name}.json"), "--machine", "mi300x", "--json", "-", home=home).stdout)["machines"]
        check(abs(case["prediction"]["time_ns"] / forecast - 1) < 1e-5, f"{name}: planned {forecast}, ran {case['prediction']}")
        check(name == "looped" or any("manifest states" in note for note in machine["cases"][0]["notes"]), f"{name}: bytes that no code asks for: {machine['cases'][0]['notes']}")
        check(machine["cases"][0]["method"] == "walk", f"{name}: its code was not walked: {machine['cases'][0]['notes']}")
        check(abs(machine["cases"][0]["time_ns"] / forecast - 1) < 1e-6, f"{name}: planned {forecast}, predicted otherwise")


def one_number(home):
    """plan, predict, a run on sim and explain say the same of a case, to the last digit, in whatever company it is asked for: with code to
    walk and without, in every cache mode, and (not under sanitizers) where there is more than a dozen of code objects to compile."""
    modes = [{"kernel": "stream_triad", "params": {"n": "1Mi"}, "measure": {"cache": mode}} for mode in ("hot", "cold", "rotate")]
    few = [*modes, {"kernel": "gemm_buffered", "sweep": {"m": [128, 512]}, "params": {"n": 512, "k": 512}}, {"kernel": "small_copy", "params": {"size": "1Mi"}}]
    (home / "few.json").write_text(json.dumps({"name": "few", "summary": "s", "cases": few}))
    many = [] if SANITIZED else [("quick", "mi300x", "softmax_row*")]
    for suite, machine, some in (*many, ("few.json", "rx9070xt", "gemm*"), ("few.json", "h100", "stream*"), ("few.json", "mi210", "*")):
        def cases(*words):
            done = run(*words, "--json" if words[0] != "run" else "-o", "-", home=home)
            check_run(done, 0, " ".join(words))
            found = json.loads(done.stdout)
            return found["machines"][0]["cases"] if "machines" in found else found["cases"]

        planned = {case["id"]: case["predicted_ns"] for case in cases("plan", suite, "--device", f"sim:{machine}")}
        others = {"predict": {case["id"]: case["time_ns"] for case in cases("predict", suite, "--machine", machine)},
                  "run": {case["id"].removesuffix(";timer=sim"): (case["prediction"] or {}).get("time_ns") for case in cases("run", suite, "--device", f"sim:{machine}")},
                  "explain": {case["standing"]["id"]: case["standing"]["predicted_ns"] for case in cases("explain", suite, "--machine", machine, "--filter", some)}}
        for command, times in others.items():
            off = [(name, planned.get(name), time_ns) for name, time_ns in times.items() if planned.get(name) != time_ns]
            check(times and not off and (command == "explain" or len(times) == len(planned)), f"{machine}: {command} is off: {off}")


def copies(home):
    """A copy or fill on the device is a launch: of a few bytes it is not free, and of no size its time is certain."""
    done = run("predict", "small_copy", "--set", "size=4,1Mi,64Mi", "--machine", "mi300x,rx9070xt", "--json", "-", home=home)
    check_run(done, 0, "copies on a device")
    for machine in json.loads(done.stdout)["machines"]:
        times = [case["time_ns"] for case in machine["cases"]]
        check(1e3 < times[0] < times[1] < times[2], f"{machine['machine']}: {times}")
        check(all(case["low_ns"] < 0.9 * case["time_ns"] < case["high_ns"] / 1.1 for case in machine["cases"]), f"intervals: {machine['cases']}")


def what_others_read(home):
    """All workgroups read the same data, whose lines one has from the other: twice as much takes twice as long, where most passes of the
    loop are not walked too."""
    done = run("predict", "stream_read_shared", "--machine", "mi300x", "--set", "traffic_per_cu=16777216", "--set", "n=8Mi,16Mi", "--json", "-", home=home)
    check_run(done, 0, "shared data")
    less, more = (case["time_ns"] for case in json.loads(done.stdout)["machines"][0]["cases"])
    check(1.8 < more / less < 2.3, f"8Mi: {less}, 16Mi: {more}")


def work_against_code(home):
    """A manifest whose work is not what its code does, by more than 2 in either direction, is a finding; within that it is none."""
    odd = run("predict", "stream_copy", "--set", "n=8448,10000,16385", "--machine", "mi300x,rx9070xt", "-q", home=home)
    check(odd.returncode == 0 and "manifest states" not in odd.stdout, f"a last workgroup that is cut off stands for no other: {odd.stdout[-500:]}")
    (home / "axpy.hip").write_text('#include "portable.h"\nextern "C" __global__ void axpy(float *y, const float *x, float a)\n'
                                   "{\n    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n    y[i] = a * x[i] + y[i];\n}\n")
    right = {"flops": "2 * n", "unit": "vector_f32", "read": "8 * n", "write": "4 * n", "footprint": "8 * n"}
    for name, change, words in (("right", {}, None), ("half_more", {"flops": "3 * n"}, None), ("many_flops", {"flops": "90 * n"}, "operations, the walked code does at most"),
                                ("few_flops", {"flops": "n / 2"}, "operations, the walked code does"), ("few_bytes", {"read": "n", "write": "n"}, "the walked code moves at least"),
                                ("an_item_each", {"items": "n"}, None), ("many_items", {"items": "1000 * n"}, "items, the walked code has work for at most"),
                                ("many_bytes", {"read": "8 * n * 20", "footprint": "8 * n"}, "the walked code asks for at most")):
        (home / f"{name}.json").write_text(json.dumps({
            "name": name, "summary": name, "params": {"n": 4194304}, "code": {"source": "axpy.hip", "symbol": "axpy"},
            "buffers": {"y": {"type": "f32", "count": "n", "role": "inout", "fill": "1"}, "x": {"type": "f32", "count": "n", "role": "in", "fill": "2"}},
            "launch": {"grid": ["n / 256"], "block": [256], "args": ["y", "x", {"type": "f32", "value": 2}]}, "work": right | change,
            "check": {"params": {"n": 1024}, "expect": {"y": "5"}}}))
        for words_of in (["predict", str(home / f"{name}.json"), "--machine", "mi300x,rx7900xtx", "--json", "-"],
                         ["plan", str(home / f"{name}.json"), "--device", "sim:mi210"]):
            done = run(*words_of, home=home)
            check_run(done, 1 if words else 0, f"{words_of[0]} {name}", **({"stdout": words} if words else {}))
            check(words or "manifest states" not in done.stdout, f"{name}: nothing is wrong: {done.stdout[-600:]}")
    # Of experts with few rows and many: the workgroup that is walked is like no other.
    experts = [f"--set={key}" for key in "rows=128 n=1536 k=2048 experts=128 dist=skewed skew=1 BM=32 WM=1 WN=4".split()]
    check_run(run("predict", "moe_gemm", "--machine", "rx7900xtx", *experts, home=home), 0, "work that offsets share out")


def a_result(home):
    """Cases of a result on another machine, scaled by what the model missed where they were measured."""
    check_run(run("run", "stream_triad", "stream_copy", "--set", "n=64Mi", "--device", "sim:a100", "--quick", "-o", "s.json", home=home), 0, "a result")
    sim = json.loads((home / "s.json").read_text())
    ran = measured(sim)
    ran["cases"][0]["prediction"]["time_ns"] /= 1.25
    ran["cases"][1]["prediction"]["limiter"] = "launch"
    (home / "m.json").write_text(json.dumps(ran))
    plain, scaled = ([case for case in json.loads(run("predict", name, "--machine", "h100", "--json", "-", home=home).stdout)["machines"][0]["cases"]]
                     for name in ("s.json", "m.json"))
    check(abs(scaled[0]["time_ns"] / plain[0]["time_ns"] - 1.25) < 1e-3 and scaled[0]["from"]["machine"] == "a100", f"scaled: {scaled[0]}")
    check(scaled[1]["time_ns"] == plain[1]["time_ns"] and "something else" in scaled[1]["from"]["uncalibrated"], f"not scaled: {scaled[1]}")
    done = run("predict", "m.json", "--machine", "h100,h200", "--filter", "stream_triad", home=home)
    check_run(done, 0, "one case on two", stdout=["a100", "h200", "speed", "times as fast as a100", "1 scaled by what it took"])
    check("stream_copy" not in done.stdout, "--filter chooses")
    direct = json.loads(run("predict", "stream_triad", "--set", "n=64Mi", "--machine", "h100", "--json", "-", home=home).stdout)
    check(direct["machines"][0]["cases"][0]["time_ns"] == plain[0]["time_ns"], "as if it had been asked for there")
    sim["cases"][0]["kernel"] = "gone"
    (home / "g.json").write_text(json.dumps(sim))
    check_run(run("predict", "g.json", "--machine", "h100", home=home), 0, "a kernel that is not here", stdout="stream_copy", stderr="'gone' is not known here")
    for words, message in ((["m.json", "--filter", "gemm*"], "matches the filter"), (["m.json", "gemm"], "stands alone"), (["m.json", "--set", "n=3"], "stands alone")):
        check_run(run("predict", *words, "--machine", "h100", home=home), 2, str(words), stderr=message)


def code_of_others(home):
    """A code object without a manifest: its launch is assumed, which is said, and the interval is wider."""
    built = run("build", "stream_triad", "--arch", "gfx942", "-v", home=home)
    check_run(built, 0, "an object")
    path = re.search(r"(/\S*/stream-\w+\.hsaco)", built.stdout)
    check(path, f"no object: {built.stdout[:500]}")
    (home / "theirs.co").write_bytes(pathlib.Path(path[1]).read_bytes())
    few = ["theirs.co", "--filter", "stream_triad", "--set", "n=16Ki"]  # every argument is as large: so many turns of a loop are walked
    words = ["predict", *few, "--machine", "mi300x"]
    [machine] = json.loads(run(*words, "--json", "-", home=home).stdout)["machines"]
    case = machine["cases"][0]
    check(case["method"] == "walk" and case["high_ns"] > 2 * case["time_ns"] and any("assumed: n=16384" in note for note in case["notes"]), f"{case}")
    check_run(run("explain", *few, "--machine", "mi300x", home=home), 0, "explained", stdout="assumed: ")
    check_run(run("predict", *few, "--machine", "mi210,mi300x", home=home), 0, "one has other code", stdout="is for gfx942")
    check_run(run("predict", "theirs.co", "--machine", "mi300x", home=home), 2, "many kernels", stderr="choose one with --filter")
    check(not list(home.rglob("code-*.json")), "nothing of it is left")
    (home / "theirs.co").write_bytes(b"\177ELF nothing")
    check_run(run(*words, home=home), 2, "a broken object", stderr="theirs.co")


def sweeps(home):
    """They end with the best and how sure that is; what changes nothing is named."""
    words = ["stream_triad", "--set", "n=1Ki,64Mi", "--set", "block=128,256"]
    done = run("predict", *words, "--machine", "h100", home=home)
    check_run(done, 0, "no effect", stdout="h100: the forecast does not depend on block of stream_triad")
    check("fastest" not in done.stdout and "depend on n" not in done.stdout, f"sizes are not ranked:\n{done.stdout}")
    check_run(run("plan", *words, "--device", "sim:h100", home=home), 0, "a plan", stdout="the forecast does not depend on block of stream_triad")
    tiles = ["predict", "gemm_matrix", "--set", "m=4Ki", "--set", "n=4Ki", "--set", "k=4Ki", "--set", "BM=64,256", "--set", "BN=128,256", "--machine", "mi300x"]
    done = run(*tiles, home=home)
    check_run(done, 0, "tiles", stdout=["mi300x: the fastest is gemm_matrix BM=256 BN=128", "before gemm_matrix BM=64", "no registers"])


def waiting(home):
    """What takes long says how far it is, in a pipe too, and Ctrl-C ends it with the compilers that it has started."""
    (home / "slow++").write_text(f"""#!/bin/sh
        case "$*" in *stream.hip*) echo $$ > '{home}/child'; sleep 1000;; esac
        exec {newest("clang++")} "$@"
        """)
    (home / "slow++").chmod(0o755)
    slow = environment(home, ROOFTILE_KERNEL_COMPILER=str(home / "slow++"), ROOFTILE_CACHE=str(home / "slow"))
    for words in (TRIAD + ["--machine", "mi300x"], ["plan", "stream_triad", "--device", "sim:mi300x"], ["inspect", "stream_triad", "--arch", "gfx942"]):
        child = subprocess.Popen([PROGRAM, *words], env=slow, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = child.stderr.readline()
        check("... compiling for gfx942: 0 of 1 (stream.hip)" in line, f"{words}: {line}")
        compiler = int((home / "child").read_text())
        child.send_signal(signal.SIGINT)
        out, said = child.communicate(timeout=PATIENCE_S)
        check(child.returncode == 130 and not out and "interrupted" in said, f"{words}: {child.returncode} {out} {said}")
        check(not pathlib.Path(f"/proc/{compiler}").exists(), f"{words}: the compiler goes on")
    for quiet in (["--quiet"], ["--progress", "never"]):
        child = subprocess.Popen([PROGRAM, *TRIAD, "--machine", "mi300x", *quiet], env=slow, cwd=home, stderr=subprocess.PIPE, text=True)
        try:
            child.communicate(timeout=3)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
        check("..." not in child.communicate(timeout=PATIENCE_S)[1], f"{quiet}: silent")


def mistakes(home):
    for words, message in ((TRIAD, "--machine names the machines"), ([*TRIAD, "--machine", "mi300y"], "there is no machine 'mi300y'"),
                           ([*TRIAD, "--machine", "mi210,mi210"], "twice"), (["predict", "nothing_such", "--machine", "mi210"], "nothing_such")):
        check_run(run(*words, home=home), 2, str(words), stderr=message)


main(one_machine, side_by_side, below_no_bound, no_code, lines_on_cpu, plan_and_sim, one_number, copies, what_others_read, work_against_code, a_result, code_of_others, sweeps, waiting, mistakes)
