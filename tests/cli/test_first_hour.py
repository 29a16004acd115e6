# SPDX-License-Identifier: MIT
"""Command lines as somebody types them in the first hour: each works, or says in a line or two what is wrong and what to write."""
import json
import os
import re
import shlex
import subprocess

from harness import PROGRAM, QUICK, check, check_run, code_object, environment, load, main, run
from runs import measured

SIM = "--device sim:mi300x"
SOURCE = """#include "portable.h"
extern "C" __global__ void mine(float *y, const float *x, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
"""
MANIFEST = {"name": "mine", "summary": "y = 2x", "params": {"n": 4096, "block": 64}, "code": {"source": "mine.hip", "symbol": "mine"},
            "buffers": {"y": {"type": "f32", "count": "n", "role": "out"}, "x": {"type": "f32", "count": "n", "role": "in", "fill": "i % 7"}},
            "launch": {"grid": ["ceil_div(n, block)"], "block": ["block"], "args": ["y", "x", {"value": "n", "type": "u64"}]},
            "work": {"read": "4*n", "write": "4*n"}, "check": {"params": {"n": 99}, "expect": {"y": "2 * (i % 7)"}}}

# Command line, exit code, words that must appear. SIM stands for a device that predicts.
LINES = [
    # names of files, kernels and suites
    ("run ./mine.json SIM", 0, "1 case: 1 predicted"),
    ("run mine SIM", 0, "1 case: 1 predicted"),
    ("check mine.json", 0, "1 kernel compared"),
    ("list mine", 0, "y = 2x"),
    ("plan mine SIM", 0, "1 case (1 ready)"),
    ("run broken SIM", 2, "broken.json:1:; a comma before"),
    ("run renamed SIM", 2, "the kernel of renamed.json is named 'other'; 'rooftile run renamed.json'"),
    ("run mine.hip SIM", 2, "a kernel's source; give its manifest, mine.json"),
    ("run ./mine.hip SIM", 2, "give its manifest, ./mine.json"),
    ("run mine.hsaco SIM", 2, "'rooftile inspect mine.hsaco --manifest -o NAME.json' writes the beginning of one"),
    ("run ./mine.hsaco SIM", 2, "compiled code; image"),
    ("inspect mine.hip", 2, "a kernel's source; give its manifest"),
    ("run stream_triad --device sim:h100 -o folder", 3, "folder is a folder, where a file is to be written"),
    ("run folder SIM", 2, "folder is a folder; --kernels folder"),
    ("run ./folder SIM", 2, "./folder is a folder; --kernels ./folder"),
    ("run r.json", 2, "r.json is a result; 'rooftile report r.json'"),
    ("plan ./r.json", 2, "is a result"),
    ("report suite.json", 2, "suite.json is a suite; 'rooftile run suite.json'"),
    ("report mine.json", 2, "the manifest of a kernel"),
    ("report quick", 2, "there is no file 'quick'; a result is wanted"),
    ("compare r.json suite.json", 2, "suite.json is a suite"),
    ("merge r.json suite.json -o m.json", 2, "suite.json is a suite"),
    ("history add suite.json", 2, "suite.json is a suite"),
    ("run mine SIM --resume suite.json", 2, "suite.json is a suite"),
    ("run mine SIM --machine r.json", 2, "r.json is a result; a machine file is wanted"),
    ("run mine SIM --machine mi300", 2, "there is no machine 'mi300'; mi300x; did you mean 'mi300a'?"),
    ("run mine SIM --machine sim:mi300x", 2, "did you mean 'mi300x'?"),
    ("explain r.json --machine mi300", 2, "there is no machine 'mi300'; did you mean 'mi300a'?"),
    ("run mine --device sim:gfx942", 2, "is a target, where a machine is wanted: one of mi300a, mi300x"),
    ("run qiuck SIM", 2, "did you mean 'quick'?"),
    ("run stream_traid SIM", 2, "did you mean 'stream_triad'?"),
    ("list qiuck", 2, "did you mean 'quick'?"),
    ("run stream_triad.hip SIM", 2, "did you mean 'stream_triad'?"),
    ("run stream_triad.json SIM", 2, "there is no file 'stream_triad.json'; did you mean 'stream_triad'?"),
    ("run memory/stream_triad SIM", 2, "did you mean 'stream_triad'?"),
    ("list quick.json", 2, "did you mean 'quick'?"),
    ("run STREAM_TRIAD SIM", 2, "did you mean 'stream_triad'?"),
    ("run triad SIM", 2, "did you mean 'stream_triad'?"),
    ("run stream SIM", 2, "'stream*' in quotes names"),
    ("run notes.txt SIM", 2, "notes.txt is a file, but no kernel or suite"),
    ("run stream_triad,stream_copy SIM", 2, "unknown kernel or suite; without commas"),
    ("run 'stream_c*' SIM", 0, "stream_copy"),
    ("run 'zz*' SIM", 2, "no kernel matches 'zz*'"),
    # words in the wrong place
    ("predict mine mi300x", 2, "'mi300x' is a machine: write --machine mi300x"),
    ("predict mine --machine all", 0, "mi300x; rx9070xt"),
    ("plan mine --device sim:all", 0, "sim:mi300x; sim:rx9070xt"),
    ("explain mine --machine all", 2, "explain takes one machine at a time"),
    ("explain mine mi300x", 2, "write --machine mi300x"),
    ("roofline mi300x", 2, "write --machine mi300x"),
    ("plan mine --device mi300", 2, "this build has hip, cuda, cpu, sim; did you mean 'sim:mi300a'?"),
    ("plan mine mi300x", 2, "write --device sim:mi300x"),
    ("list mi300x", 2, "write rooftile roofline --machine mi300x"),
    ("inspect mine mi300x", 2, "write --arch mi300x"),
    ("roofline --machine mi300x", 0, "HBM"),
    ("roofline --machine mi300x -o m.json", 2, "nothing is measured or written"),
    ("roofline --device sim:mi300x", 2, "'rooftile roofline --machine mi300x' shows"),
    ("run help", 0, "Examples:"),
    ("history help", 0, "Examples:"),
    ("list kernels", 2, "'rooftile list' shows"),
    ("list machines", 2, "'rooftile devices' shows"),
    ("list 'stream_*'", 2, "'stream_*' is a pattern: --filter 'stream_*'"),
    ("list --tag matrix", 2, "did you mean '--filter'?"),
    ("list --list", 2, "'--list' is an option of fleet, not of list; 'rooftile list' shows"),
    ("--list", 2, "'rooftile list' shows"),
    ("run all SIM", 2, "'*' in quotes"),
    ("run matmul SIM", 2, "did you mean 'gemm'?"),
    ("check --kernel mine", 2, "named without an option"),
    ("check --all", 2, "without a name every kernel is checked"),
    ("predict mine --machine 'mi300x, mi210'", 0, "mi210"),
    ("predict mine -m mi300x", 2, "--machine NAME, such as mi300x"),
    ("run mine/n=4 SIM", 2, "a parameter is --set NAME=VALUE; 'rooftile run mine --filter ID'"),
    ("run mine:n=4 SIM", 2, "a parameter is --set NAME=VALUE"),
    ("run mine --exclude x", 2, "--filter '!PATTERN'"),
    ("run mine --cpu", 2, "such as cpu or sim:mi300x"),
    ("run mine --list-devices", 2, "'rooftile devices' shows them"),
    ("compare --baseline r.json r.json", 2, "files are named without an option"),
    ("build mine --arch native", 2, "'rooftile devices' names the target"),
    ("check --orders", 2, "give --run, too"),
    ("new kernel", 2, "kernels/README.md shows how"),
    ("completion tcsh", 2, "there is no completion for 'tcsh', only for bash, zsh and fish"),
    ("history list", 2, "did you mean 'show'?"),
    ("run mine -n 1Mi", 2, "unknown option '-n'; --set n=VALUE"),
    ("run -b stream_copy", 2, "kernels are named without an option"),
    ("run mine -a n=4", 2, "a parameter is --set"),
    ("run mine --benchmark_filter=x", 2, "did you mean '--filter'?"),
    ("run mine --benchmark_repetitions=3", 2, "did you mean '--trials'?"),
    ("run mine --min-runs 5", 2, "--min-time and --max-time"),
    ("run mine --export-json x.json", 2, "the format is --format NAME"),
    ("run mine --format yaml", 2, "did you mean 'json'?"),
    ("run mine --kernel-name x", 2, "kernels and suites are named without an option"),
    ("run mine --threads 2", 2, "--device cpu:threads=N"),
    ("report r.json --plot", 2, "-o FILE.html and -o FILE.svg have pictures"),
    ("stat mine", 2, "did you mean 'run'?"),
    ("record mine", 2, "did you mean 'run'?"),
    ("run mine --benchmark_out_format=json", 2, "the format is --format NAME"),
    ("run mine --benchmark_enable_random_interleaving", 2, "--keep-order keeps that of the suite"),
    ("run mine --lock-gpu-clocks base", 2, "samples at a fallen clock do not count"),
    ("run mine --stopping-criterion entropy", 2, "--min-time and --max-time"),
    ("run mine --roof-only", 2, "'rooftile roofline' measures"),
    ("run mine --output-directory x", 2, "did you mean '--out-dir'?"),
    ("run mine -s n=4", 2, "a parameter is --set"),
    ("run mine SIM -o r.json.gz", 2, "such files are not written"),
    ("run mine SIM --cache=cold", 2, "--cache cold: it names a folder; the state of caches is --cache-mode hot, cold or rotate"),
    ("run mine SIM -o new/folder/", 3, "new/folder/ is a folder, where a file is to be written"),
    ("compare r.json folder", 2, "folder is a folder, where a result is wanted\n"),
    ("run mine SIM --set n=0x10", 2, "such as 4Ki or 1e6"),
    ("run mine --iters 100", 2, "--min-time and --max-time"),
    ("run mine --hip-trace", 2, "--profile"),
    ("run mine --cold", 2, "--cache-mode hot, cold or rotate"),
    ("run mine --gpu 0", 2, "did you mean '--device'?"),
    ("run mine --Device cpu", 2, "did you mean '--device'?"),
    ("run mine --arch gfx942", 2, "'rooftile build --arch'"),
    ("predict mine --device mi300x", 2, "the machine is --machine"),
    ("all_reduce_perf -b 8", 2, "'rooftile run collectives'"),
    ("rocprof mine", 2, "rocprofv3 --kernel-trace -- rooftile run KERNEL --profile"),
    ("gate", 2, "'rooftile history'"),
    ("report r.json --csv", 2, "--format NAME"),
    ("report r.json -o r.pdf", 2, "such files are not written; .html"),
    ("report folder", 2, "of folder a site is made: say with -o where"),
    ("report r.json --picture kernels", 0, "<svg"),
    ("compare --base r.json --new r.json", 2, "files are named without an option"),
    ("run mine SIM --kernels r.json", 2, "r.json is a result, where a folder of kernels is wanted"),
    ("run mine --kernels stream_copy", 2, "kernels are named without an option"),
    ("quick", 2, "'rooftile run quick' measures it"),
    ("stream_copy", 2, "'rooftile run stream_copy' measures it"),
    ("./mine.json", 2, "'rooftile run ./mine.json' measures it"),
    ("bench quick", 2, "did you mean 'run'?"),
    ("rnu quick", 2, "did you mean 'run'?"),
    ("--device cpu run quick", 2, "'--device' stands behind its command"),
    ("run SIM -- quick --dry-run", 2, "'--dry-run' stands behind '--'"),
    ("run cpu", 2, "'cpu' is no kernel or suite; --device cpu"),
    ("run quick gfx942", 2, "--arch gfx942"),
    ("run mine n=1Mi", 2, "--set n=1Mi"),
    ("run plan quick", 2, "'plan' is a command"),
    ("run", 2, "expects at least 1 argument (SUITE|KERNEL...), got 0; rooftile run quick"),
    ("report", 2, "expects at least 1 argument (RESULT...), got 0"),
    ("report r.json r.json", 2, "several results make a page: --format html; 'rooftile compare' compares two"),
    ("compare r.json", 2, "expects 2 arguments (BASE NEW), got 1"),
    ("devices cpu", 2, "expects no argument, got 1"),
    ("history add", 2, "'rooftile history add' expects at least 1 argument (RESULT...), got 0"),
    ("history gate now", 2, "'rooftile history gate' expects no argument, got 1"),
    # devices and targets
    ("run mine --device gpu", 3, "there is no GPU here; 'rooftile devices'; --device cpu"),
    ("run mine --device 0", 3, "there is no GPU here"),
    ("run mine --device gpu:1", 3, "there is no GPU here"),
    ("plan mine --device CPU", 0, "1 case (1 ready)"),
    ("plan mine --device sim:MI300X", 0, "1 case (1 ready)"),
    ("plan mine --device mi300x", 2, "did you mean 'sim:mi300x'"),
    ("plan mine --device gfx942", 2, "which is a target; --arch gfx942"),
    ("run mine --device gpu0", 2, "did you mean 'gpu:0'?"),
    ("run mine --device hip1", 2, "did you mean 'hip:1'?"),
    ("plan mine --device cup", 2, "did you mean 'cpu'?"),
    ("plan mine --device sim:mi999", 2, "there is no machine 'mi999'; mi300x"),
    ("build mine --arch mi300x", 0, "gfx942: "),
    ("build mine --arch MI210", 0, "gfx90a: "),
    ("build mine --arch sm90 --cache c", None, "sm_90"),
    ("build mine --arch compute_90 --cache c", None, "sm_90"),
    ("build mine --arch amdgcn", 2, "--arch amdgcn: there is no such target; 'rooftile list --targets'"),
    ("build mine --arch cdna3", 2, "did you mean 'gfx942'?"),
    ("build mine --arch mi300", 2, "did you mean 'gfx942'?"),
    ("build mine --arch gfx942,gfx949", 2, "--arch gfx949: there is no such target, and no compiler here knows it; did you mean 'gfx942'?"),
    ("inspect mine --arch gfx999", 2, "--arch gfx999: there is no such target, and no compiler here knows it"),
    ("build mine -mcpu=gfx942", 2, "did you mean '--arch'?"),
    ("build mine -arch=sm_90", 2, "did you mean '--arch'?"),
    ("run mine --sort time", 2, "'--sort' is an option of report, not of run"),
    ("list --trials 3", 2, "'--trials' is an option of run, "),
    ("build mine --offload-arch gfx942", 2, "did you mean '--arch'?"),
    # values
    ("run stream_copy SIM --set dtype=fp64", 0, "1 case: 1 predicted"),
    ("run stream_copy SIM --set dtype=double,float", 0, "dtype=f32"),
    ("run stream_copy SIM --set dtype=f23", 2, "not among its limits: f32, f64"),
    ("run mine SIM --set n=10GB", 2, "numbers may end in Ki Mi Gi Ti or k M G T"),
    ("run mine SIM --set n=1Mi-4Mi", 2, "a range is 1Mi..64Mi*2"),
    ("run mine SIM --set n", 2, "--set n: expected NAME=VALUES; as in --set n=1Mi"),
    ("run mine SIM --set n:1Mi", 2, "as in --set n=1Mi"),
    ("run mine SIM --set n=1Ki..2Mi", 2, "*2 behind it doubles"),
    ("run mine SIM --set n=-1", 2, "'n' is -1, not a whole number of 0 or more"),
    ("run mine SIM --set blocksize=64", 2, "did you mean 'block'?"),
    ("run mine SIM --set size=64", 2, "it has n, block, wave and cumode"),
    ("run mine SIM --filter stream", 2, "as in '*stream*'"),
    ("run mine SIM --filter block=64*", 2, "as in '*block=64*'"),
    ("report r.json --filter block=9*", 2, "as in '*block=9*'"),
    ("run mine SIM --set n=", 2, "expected name=value"),
    ("run mine SIM --set N=1Mi", 2, "no selected kernel has a parameter 'N'; did you mean 'n'?"),
    ("run mine SIM --set 'n = 1Mi'", 0, "1 case: 1 predicted"),
    ("run mine SIM --n 1Mi", 2, "--set n=VALUE"),
    ("run mine SIM --block=64", 2, "--set block=VALUE"),
    ("run mine SIM --timeout 30", 2, "not a duration; 0.5s"),
    ("run mine SIM --min-time 5s --max-time 1s", 2, "--max-time 1s is shorter than --min-time 5s"),
    ("run mine SIM --trials many", 2, "expected a whole number"),
    ("run mine SIM --out", 2, "option '--out' needs a value"),
    ("run mine SIM --format md", 2, "did you mean 'markdown'?"),
    ("run mine SIM --format cuneiform", 2, "expected one of table"),
    ("run mine SIM --cache-mode warm", 2, "did you mean 'hot'?"),
    ("run mine SIM -o a.json --json b.json", 2, "give one of them"),
    ("run mine SIM --dry-run", 0, "1 case (1 ready)"),
    ("run mine SIM --ab clang++-no clang++-never", 2, "there is no folder, compiler or code object 'clang++-no'"),
    ("report r.json --sort tme", 2, "did you mean 'time'?"),
    ("report r.json --filter stream", 2, "no case matches the filter 'stream'; '*stream*'"),
    ("report r.json --top 0", 2, "expected a whole number"),
    ("run mine SIM -o r.csv", 2, "is JSON; 'rooftile report RESULT -o r.csv'"),
    ("run mine SIM -o plan.json --format csv --dry-run", 0, "1 case (1 ready)"),
    ("history show -o h.csv", 2, "'rooftile history export' writes CSV"),
    ("check -o c.json", 2, "--run"),
]


def files(home):
    (home / "mine.hip").write_text(SOURCE)
    (home / "mine.json").write_text(json.dumps(MANIFEST))
    (home / "suite.json").write_text(json.dumps({"name": "s", "kernels": ["."], "cases": [{"kernel": "mine", "measure": QUICK}]}))
    (home / "mine.hsaco").write_bytes(code_object("gfx942", "mine", "pointer", "pointer", 8))
    (home / "folder").mkdir()
    (home / "broken.json").write_text('{ "name": "broken", }')
    (home / "renamed.json").write_text(json.dumps(MANIFEST | {"name": "other"}))
    (home / "notes.txt").write_text("hello\n")
    check_run(run("run", "./mine.json", *SIM.split(), "--set", "block=64,128", "-o", "r.json", home=home), 0, "a result to ask about")


def lines(home):
    files(home)
    for line, code, words in LINES:
        done = run(*shlex.split(line.replace("SIM", SIM)), home=home,
                   ROOFTILE_HIP_LIBRARY="/dev/null", ROOFTILE_CUDA_LIBRARY="/dev/null")
        check(code is None or done.returncode == code, f"{line}: exit {done.returncode}, expected {code}\n{done.stdout[-500:]}{done.stderr[-1000:]}")
        for word in words.split("; "):
            check(word in done.stdout + done.stderr, f"{line}: '{word}' is missing in:\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
        if done.returncode == 2:
            check(len(done.stderr) < 400 and done.stderr.count("\n") <= 2, f"{line}: more than two lines:\n{done.stderr}")


def sweeps_answer(home):
    """Case times are made up, so that what is best, and what is not known to be, is known."""
    predicted = load(home / "r.json")
    result = measured(predicted)
    first = result["cases"][0]

    def case(block, time, spread, **more):
        made = json.loads(json.dumps(first)) | more
        made["id"] = re.sub("block=[0-9]+", f"block={block}", made["id"])
        made["label"], made["params"] = f"mine block={block}", made["params"] | {"block": block}
        made["samples_ns"] = made["stats"] = None
        samples = sorted([time - spread, time, time + spread])
        made["measurement"]["n"] = 3
        made["samples_ns"] = samples
        made["stats"] = first["stats"] | {key: samples[at] for key, at in
                                          {"median_ns": 1, "min_ns": 0, "max_ns": 2, "p05_ns": 0, "q1_ns": 0, "q3_ns": 2, "p95_ns": 2, "mean_ns": 1}.items()}
        made["stats"]["ci95_ns"] = [samples[0], samples[2]]
        amount = made["work"]["bytes_read"] + made["work"]["bytes_written"]
        made["throughput"]["bytes_per_s"] = amount / time * 1e9
        made["roofline"]["fraction_of_ceiling"] = made["roofline"]["lower_bound_ns"] / time
        return made

    def shown(cases, *words):
        (home / "made.json").write_text(json.dumps(result | {"cases": cases}))
        done = run("report", "made.json", *words, home=home)
        check_run(done, 0, f"report made.json {words}")
        return done.stdout

    four = [case(64, 1000, 10), case(128, 1015, 10), case(256, 2500, 10), case(512, 1500, 10)]
    lines = shown(four).splitlines()
    check("best: block=64, 2.5 times the worst; within noise of block=128" in lines, f"the best of four: {lines[-3:]}")
    lines = shown(four[:2]).splitlines()
    check("best: none, all 2 are within noise of each other: block=64, block=128" in lines, f"no best: {lines[-3:]}")
    twice = {key: 2 * value for key, value in first["work"].items() if value and key.startswith(("bytes", "items", "flops", "foot"))}
    other = case(256, 1000, 10, work=first["work"] | twice)
    lines = shown([*four[:2], other | {"id": other["id"].replace("n=4096", "n=8192")}]).splitlines()
    check("best: none, all 2 that do the same work are within noise of each other: block=64, block=128" in lines, f"not all are compared: {lines[-3:]}")
    (home / "predicted.json").write_text(json.dumps(predicted))
    lines = run("report", "predicted.json", home=home).stdout.splitlines()
    check(any(line.startswith("best: none, all 2 are within the interval of each other: block=") for line in lines), f"of predictions their intervals count: {lines[-3:]}")
    check("best:" not in shown([four[0], four[2] | {"status": "failed", "status_reason": "wrong result"}]), "a wrong result is none to compare")
    wide = case(256, 2500, 10, work=first["work"] | {"bytes_read": 10**6, "items": 77})
    check("best:" not in shown([four[0], wide]), "another work for each item cannot be compared")

    order = re.findall(r"block=(\d+) ", shown(four, "--sort", "time"))
    check(order[:4] == ["64", "128", "512", "256"], f"--sort time: {order}")
    check(re.findall(r"block=(\d+) ", shown(four, "--sort", "-rate", "--top", "2"))[:2] == ["256", "512"], "--sort -rate")
    check(re.findall(r"block=(\d+)", shown(four, "--sort", "-block", "--format", "csv"))[:2] == ["512", "256"], "--sort -block, as CSV")
    text = shown(four, "--filter", "*block=128*")
    check("block=128" in text and "block=256" not in text and "1 case:" in text, f"--filter: {text}")

    skipped = [case(block, 1000, 10, status="skipped", status_reason=f"it takes {block} GiB, the device has 16 GiB") for block in (64, 128, 256)]
    for made in skipped:
        made.update(samples_ns=None, stats=None, flags=[])
        made["measurement"]["n"] = 0
        made["throughput"] = made["throughput"] | {"bytes_per_s": None}
    text = shown([four[3], *skipped])
    check("mine: 3 cases" in text and text.count("skipped") == 2 and "it takes 64 GiB" in text, f"a family of skipped cases is one row: {text}")
    check(shown([four[3], *skipped], "--format", "csv").count("it takes") == 3, "in CSV each has its own")


def one_rate(home):
    """A kernel's rate is bytes in all rows or FLOPs in all, also where small sizes are bound by something else."""
    done = run("run", "gemm_buffered", "--set", "m=64,4096", "--set", "n=64,4096", *SIM.split(), "-q", home=home)
    rates = re.findall(r"[\d.]+ [kMGT](B|FLOP)/s", done.stdout.split("Roofline")[0])
    check(len(rates) == 4 and len(set(rates)) == 1, f"rates of one kernel: {rates}\n{done.stdout}")


def one_name(home):
    """The last lines call a case as its row does: without what all cases have in common."""
    done = run("run", "softmax_row", "stream_read", "--set", "wave=64", "--set", "n=64Mi,256Mi", *SIM.split(), "-q", home=home, COLUMNS="200")
    check("most time to win: stream_read n=256Mi, " in done.stdout, f"another name than in the table:\n{done.stdout[-400:]}")


def at_least_this_long(home):
    """--min-time moves a shorter limit along, of --quick or of the defaults, as a suite's min_time does."""
    times = [json.loads(run("plan", "mine", "--set", "block=1", "--device", "cpu", *words, "--json", "-", home=home).stdout)["cases"][0]["estimate_ns"]
             for words in (["--quick"], ["--quick", "--min-time", "7s"], ["--min-time", "7s"], ["--max-time", "1ms"])]
    check(times[0] < 7e9 and times[1] > 7e9 and times[2] > 7e9 and times[3] < times[2], f"estimates: {times}")


def outputs(home):
    """-o and --json mean the same in every command, and a file's name says its format."""
    device = SIM.split()
    for words in (["plan", "mine", *device], ["list", "mine"], ["report", "r.json"], ["inspect", "mine.hsaco"], ["compare", "r.json", "r.json"],
                  ["aa", "mine", *device, "--trials", "8", "-q"]):
        run(*words, "-o", "a.json", home=home)
        run(*words, "--json", "b.json", home=home)
        first, second = load(home / "a.json"), load(home / "b.json")
        for document in (first, second):
            document.pop("learned_at", None)
        check(first == second, f"{words}: -o and --json differ")
    check(load(home / "plan.json")["cases"][0]["state"] == "ready", "run --dry-run -o writes the plan")
    check_run(run("run", "mine", *device, "--json", "c.json", "-q", home=home), 0, "run --json", stdout="mine")
    check(load(home / "c.json")["cases"][0]["kernel"] == "mine", "run --json is the result")
    for name, begin in (("r.csv", "id,"), ("r.md", "### "), ("r.xml", "<?xml"), ("r.txt", "PREDICTED")):
        check_run(run("report", "r.json", "-o", name, home=home), 0, f"report -o {name}")
        check((home / name).read_text().startswith(begin), f"{name} is no such file")


def files_that_surprise(home):
    """A folder that is made is said, and so is a journal that is newer than the result; an error is short."""
    done = run("run", "mine", *SIM.split(), "-o", "some/where/c.json", home=home)
    check_run(done, 0, "a folder that is not there", stderr="made the folder some/where\n")
    check_run(run("run", "mine", *SIM.split(), "-o", "some/where/c.json", home=home), 0, "a folder that is there")
    check("made the folder" not in run("run", "mine", *SIM.split(), "-o", "some/where/c.json", home=home).stderr, "it is there")
    for k, words in enumerate((["plan", "mine", *SIM.split()], ["list"], ["report", "r.json"], ["compare", "r.json", "r.json"], ["devices"], ["schema", "result"],
                               ["predict", "mine", "--machine", "mi300x"])):
        done = run(*words, "-o", f"made/{k}/o.json", home=home)
        check_run(done, 0, f"{words} -o into a folder that is not there", stderr=f"made the folder made/{k}\n")
    (home / "some/where/c.json.journal").write_text("")
    done = run("report", "some/where/c.json", home=home)
    check_run(done, 0, "an older result", stdout="mine", stderr="c.json is older than some/where/c.json.journal, of a run that goes on or was killed")
    said = run("run", "mine", *SIM.split(), "--set", "n=-1", home=home).stderr
    check(len(said) < 200 and said.startswith("rooftile: error: mine: "), f"parameters that nobody named are not said: {said}")


def columns(home):
    for width in (60, 80, 140):
        done = run("report", "r.json", home=home, COLUMNS=str(width))
        widest = max(map(len, done.stdout.splitlines()))
        check(width * 0.6 < widest <= width, f"COLUMNS={width}: {widest} columns")
        for words in (["plan", "quick", *SIM.split()], ["list"],
                      ["list", "gemm_buffered"], ["list", "--targets"], ["report", "r.json", "-v"], ["devices"], ["check", "mine"],
                      ["predict", "mine", "--machine", "all"], ["plan", "stream_triad", "gemm_buffered", "--device", "sim:mi300x,sim:h100,sim:b200"], ["run", "--help"], ["history", "--help"]):
            done = run(*words, home=home, COLUMNS=str(width))
            long = [line for line in done.stdout.splitlines() if len(line) > width and "rooftile " not in line]  # examples are copied
            check(not long and done.stdout, f"COLUMNS={width} {words}: {long[:1]}")


def the_same_name_twice(home):
    for folder in ("twice/a", "twice/b"):
        (home / folder).mkdir(parents=True)
        (home / folder / "mine.hip").write_text(SOURCE)
        (home / folder / "twin.json").write_text(json.dumps(MANIFEST | {"name": "twin"}))
    (home / "twice/r.json").write_text((home / "r.json").read_text())
    (home / "twice/suite.json").write_text(json.dumps({"name": "s", "cases": [{"kernel": "twin"}]}))
    for words in (["run", "twin", *SIM.split()], ["plan", "twice/suite.json", *SIM.split()], ["check", "twin"], ["list", "twin"], ["build", "twin"]):
        check_run(run(*words, "--kernels", "twice", home=home), 2, f"{words}: which of the two?", stderr=["twice/a/twin.json", "twice/b/twin.json"])
    done = run("list", "--kernels", "twice", home=home).stdout
    check("r.json" not in done and "suite.json" not in done.split("problems")[-1], f"results and suites are no broken manifests: {done[-600:]}")


def completion(home):
    params = run("list", "--params", "mine", "stream_copy", "--kernels", ".", "no_kernel", home=home).stdout.split()
    check({"n=", "block=", "dtype=f32", "dtype=f64"} <= set(params) and len(params) == len(set(params)), f"list --params: {params}")
    ask = ("source completion.bash; compopt() { :; }; COMP_LINE='rooftile WORDS'; COMP_POINT=${#COMP_LINE}; _rooftile; echo \"${COMPREPLY[@]}\"")
    (home / "completion.bash").write_text(run("completion", "bash", home=home).stdout)
    for line, wanted in (("run stream_copy --set dt", "dtype=f32 dtype=f64"), ("run stream_copy --set dtype=f6", "f64"), ("build --arch gfx94", "gfx942")):
        answer = subprocess.run(["bash", "-c", ask.replace("WORDS", line)], cwd=home, capture_output=True, text=True,
                                env=environment(home, PATH=os.pathsep.join([str(PROGRAM.parent), os.environ["PATH"]])))
        check(answer.stdout.split() == wanted.split(), f"bash completes '{line}' to: {answer.stdout}{answer.stderr}")


def fibers(home):
    """Rows whose kernel ran as fibers are marked, others are not."""
    suite = {"name": "f", "cases": [{"kernel": "softmax_row", "params": {"rows": 4, "columns": 256, "block": block}, "measure": QUICK} for block in (1, 64)]}
    (home / "fibers.json").write_text(json.dumps(suite))
    done = run("run", "fibers.json", "--device", "cpu", "-o", "fibers-result.json", "--keep-order", home=home)
    check_run(done, 0, "softmax_row with and without barriers", stdout=["fibers (1): "])
    flags = [case["flags"] for case in load(home / "fibers-result.json")["cases"]]
    check(["fibers" in each for each in flags] == [False, True], f"flags: {flags}")


if __name__ == "__main__":
    main(lines, sweeps_answer, one_rate, one_name, at_least_this_long, outputs, files_that_surprise, columns, the_same_name_twice, completion, fibers)
