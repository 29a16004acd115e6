# SPDX-License-Identifier: MIT
"""What goes wrong during a run: kernels that crash, hang, lie or do not compile; Ctrl-C; a full disk; two runs at once."""
import json
import os
import pathlib
import resource
import signal
import subprocess

from harness import PATIENCE_S, PROGRAM, SANITIZED, check, check_run, environment, load, main, run

SOURCE = """#include "portable.h"

extern "C" __global__ void good(uint32_t *out, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * i;
}

extern "C" __global__ void wrong(uint32_t *out, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i == 17 ? 35 : 2 * i;
}

extern "C" __global__ void null_pointer(uint32_t *out, uint64_t address)
{
    out[0] = *reinterpret_cast<volatile uint32_t *>(address);
}

extern "C" __global__ void division(uint32_t *out, uint32_t divisor)
{
    out[0] = opaque(7u) / opaque(divisor);
}

extern "C" __global__ void endless(uint32_t *out, uint32_t stop)
{
    volatile uint32_t *flag = out;
    while (flag[0] != stop)
        memory_fence_compiler();
}

extern "C" __global__ void slow(uint32_t *out, uint32_t rounds)
{
    for (uint32_t k = 0; k < rounds; k++)
        memory_fence_compiler();
    out[threadIdx.x] = 2 * threadIdx.x;
}

extern "C" __global__ void divergent(uint32_t *out, uint32_t odd)
{
    if (threadIdx.x == odd) {
        __syncthreads();
        out[0] = 1;
    } else {
        __syncthreads();
        out[1] = 2;
    }
}

static long libc_fork() __asm__("fork");
static void libc_usleep(unsigned) __asm__("usleep");
static int libc_fesetround(int) __asm__("fesetround");

extern "C" __global__ void forks(uint32_t *out, uint32_t n)
{
    static uint32_t launches = 0;
    if (++launches == 9)
        libc_fork();
    for (uint32_t i = 0; i < n; ++i)
        out[i] = 2 * i;
}

extern "C" __global__ void forks_away(uint32_t *out, uint32_t n)
{
    static uint32_t launches = 0;
    if (++launches == 9 && libc_fork() == 0)
        for (;;)
            libc_usleep(1000000);
    for (uint32_t i = 0; i < n; ++i)
        out[i] = 2 * i;
}

extern "C" __global__ void rounds_up(uint32_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
        out[i] = 2 * i;
#ifdef __x86_64__
    libc_fesetround(0x800);
    __builtin_ia32_ldmxcsr(0xdfc0); /* and denormals are zero */
#endif
}

extern "C" __global__ void rounds(uint32_t *out, uint32_t n)
{
    const float small = opaque(0x1p-140f), third = opaque(1.0f) / opaque(3.0f);
    for (uint32_t i = 0; i < n; ++i)
        out[i] = small * opaque(2.0f) == 0x1p-139f && third == 0x1.555556p-2f && opaque(1.0f) + opaque(0x1p-30f) == 1.0f ? 2 * i : 0;
}

extern "C" __global__ void lists(uint32_t *out, uint32_t n)
{
    if (threadIdx.x < n)
        out[threadIdx.x] = 10 + threadIdx.x;
}
"""
BROKEN = '#include "portable.h"\n#error "no such hardware"\n'


def manifest(name, second=("n", "n"), **more):
    argument = {"value": second[1], "type": "u32"} | more.pop("argument", {})
    described = {
        "name": name, "summary": name, "params": {"n": 64}, "code": {"source": "faults.hip", "symbol": name},
        "buffers": {"out": {"type": "u32", "count": "n", "role": "out"}},
        "launch": {"grid": [1], "block": ["n"], "args": ["out", argument]},
        "check": {"expect": {"out": "2 * i"}}}
    return described | more


MANIFESTS = [
    manifest("good"),
    manifest("wrong"),
    manifest("null_pointer", argument={"value": "0", "type": "u64"}),
    manifest("division", second=("zero", "0")),
    manifest("endless", second=("stop", "4294967295")),
    manifest("slow", second=("rounds", "1000000")),
    manifest("divergent", second=("odd", "3")),
    *(manifest(name, launch={"grid": [1], "block": [1], "args": ["out", {"value": "n", "type": "u32"}]})
      for name in ("forks", "forks_away", "rounds_up", "rounds")),
    manifest("broken", code={"source": "broken.hip", "symbol": "broken"}),
    manifest("no_symbol", code={"source": "faults.hip", "symbol": "nowhere"}),
    manifest("one_argument", code={"source": "faults.hip", "symbol": "good"}, launch={"grid": [1], "block": ["n"], "args": ["out"]}),
    manifest("lists", params={"n": 64, "lens": [1, 2, 3]}, check={"expect": {"out": "10 + i"}},
             metrics={"largest": {"buffer": "out", "reduce": "max", "expr": "x + sum(lens)", "unit": "things"}}),
]

# Kernel, status, exactly what the reason must say.
FATES = {
    "good": ("ok", ""),
    "wrong": ("failed", "out[17] is 35, expected 34"),
    "null_pointer": ("crashed", "SIGSEGV"),
    "division": ("crashed", "SIGFPE"),
    "endless": ("timeout", "no answer after 2 s while verifying"),
    "forks": ("error", "the kernel started a process"),
    "forks_away": ("error", "the kernel started a process"),
    "rounds_up": ("ok", ""),
    "rounds": ("ok", ""),
    "divergent": ("error", "wait at different barriers"),
    "broken": ("error", "no such hardware"),
    "no_symbol": ("error", "nowhere"),
    "one_argument": ("error", "takes 2 arguments, the manifest gives 1"),
    "lists": ("ok", ""),
}
QUICK = {"warmup": "1 ms", "warmup_max": "1 ms", "min_time": "1 ms", "max_time": "50 ms", "min_samples": 3, "max_samples": 5, "precision": 0.9}


def write_kernels(home):
    folder = home / "k"
    folder.mkdir()
    (folder / "faults.hip").write_text(SOURCE)
    (folder / "broken.hip").write_text(BROKEN)
    for described in MANIFESTS:
        (folder / (described["name"] + ".json")).write_text(json.dumps(described, indent=1))


def write_suite(home, name, cases, measure=QUICK):
    (home / f"{name}.json").write_text(json.dumps({"name": name, "defaults": {"measure": measure}, "cases": cases}, indent=1))


def kernel_of(case):
    return case["id"].split("/")[0]


def fates(home):
    """Every fault is its case's status; all other cases are as if it had not been there."""
    cases = [{"kernel": name} for name in FATES if name not in ("good", "endless")]
    cases += [{"kernel": "endless", "measure": {"timeout": "2 s"}}, {"kernel": "good", "sweep": {"n": [32, 48, 64, 96]}}]
    write_suite(home, "faults", cases)
    done = run("run", "faults.json", "--kernels", "k", "--device", "cpu:threads=2", "-o", "r.json", home=home)
    check_run(done, 1, "a run with faults")
    result = load(home / "r.json")
    check(result["run"]["status"] == "complete", "the run is complete")
    check(len(result["cases"]) == len(FATES) + 3, f"{len(result['cases'])} cases, expected {len(FATES) + 3}")
    for case in result["cases"]:
        status, reason = FATES[kernel_of(case)]
        check(case["status"] == status, f"{case['id']} is {case['status']} ({case['status_reason']}), expected {status}")
        check(reason in (case["status_reason"] or ""), f"{case['id']}: '{reason}' is missing in: {case['status_reason']}")
        check((case["stats"] is not None and case["measurement"]["n"] >= 1) == (status == "ok"),
              f"{case['id']}: statistics of a case that is {status}: {case['stats']}")
        check(case["verification"]["status"] == {"ok": "pass", "failed": "fail"}.get(status, "skipped"),
              f"{case['id']}: verification {case['verification']}")
    check(all(kernel_of(c) in done.stdout for c in result["cases"]), f"the table shows every case:\n{done.stdout}")
    check("no such hardware" in done.stdout + done.stderr, "the compiler's own words are shown")
    metrics = [c for c in result["cases"] if kernel_of(c) == "lists"][0]
    found = [(m["name"], m["value"], m["unit"]) for m in metrics["metrics"]]
    check(found == [("largest", 73 + 1 + 2 + 3, "things")], f"the metric is the largest element and the sum of the list: {found}")
    alone = run("run", "good", "--kernels", "k", "--device", "cpu", "--quick", "--max-time", "50ms", "--min-time", "5ms", home=home)
    check_run(alone, 0, "a good kernel in a folder of bad ones")
    only = run("run", "broken", "--kernels", "k", "--device", "cpu", home=home)
    check_run(only, only.returncode or 3, "nothing but a kernel that does not compile", stdout=[])
    check(only.returncode in (1, 3), f"nothing but a kernel that does not compile: exit {only.returncode}")


def arithmetic_is_reset(home):
    """A kernel that sets a rounding of its own sets it for nobody else."""
    write_suite(home, "rounds", [{"kernel": name, "sweep": {"n": [32, 48, 64, 96, 128]}} for name in ("rounds_up", "rounds")])
    done = run("run", "rounds.json", "--kernels", "k", "--device", "cpu:threads=2", "-q", home=home)
    check_run(done, 0, "another rounding", stdout="10 verified")


def nothing_goes_on(home):
    """What a kernel started ends with its case."""
    write_suite(home, "forks", [{"kernel": name} for name in ("forks", "forks_away")])
    done = run("run", "forks.json", "--kernels", "k", "--device", "cpu:threads=2", "-q", home=home)
    check(done.returncode in (1, 3), f"kernels that fork: exit {done.returncode}\n{done.stdout}")
    left = [path.name for path in pathlib.Path("/proc").glob("[0-9]*") if str(home).encode() in said_by(path / "environ")]
    check(not left, f"processes that go on: {left}")


def without_proc(home):
    """Memory of which /proc says nothing is not none. LeakSanitizer needs /proc, and takes its options from there."""
    write_suite(home, "bare", [{"kernel": "good"}])
    apart = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if SANITIZED or subprocess.run([*apart, "true"], capture_output=True).returncode:
        return
    root = pathlib.Path(__file__).resolve().parents[2]
    there = environment(home) | {"ROOFTILE_CONFIGS": str(root / "configs"), "ROOFTILE_KERNELS": str(root / "kernels")}
    done = subprocess.run([*apart, str(PROGRAM), "run", "bare.json", "--kernels", "k", "--device", "cpu:threads=2"], env=there, cwd=home,
                          capture_output=True, text=True, timeout=PATIENCE_S)
    check_run(done, 0, "no /proc", stdout="1 verified")


def starved(home):
    """On a machine that is busy with other things a kernel gets its time of a processor, however late."""
    write_suite(home, "slow", [{"kernel": "slow", "measure": {"timeout": "1 s"}}])
    command = ["run", "slow.json", "--kernels", "k", "--device", "cpu:threads=1"]
    check_run(run(*command, home=home), 0, "with nothing else to do", stdout="1 verified") # and it is compiled
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)})
    others = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    done = subprocess.run(["nice", "-n", "12", str(PROGRAM), *command], cwd=home, env=environment(home), capture_output=True, text=True,
                          timeout=PATIENCE_S)
    others.kill()
    others.wait()
    os.sched_setaffinity(0, everywhere)
    check_run(done, 0, "a busy machine", stdout="1 verified")


def said_by(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def build_says_it_too(home):
    done = run("build", "broken", "good", "--kernels", "k", "--device", "cpu", home=home)
    check_run(done, 1, "build", stdout=["broken.hip:2:2: error: \"no such hardware\"", "1 failed"])


def start(home, *arguments, **more):
    return subprocess.Popen([str(PROGRAM), *arguments], env=environment(home), cwd=home, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True, **more)


def interrupt_and_resume(home):
    """Ctrl-C reaches the whole process group: a valid partial result, exit 130; --resume does the rest and nothing twice."""
    write_suite(home, "long", [{"kernel": "good", "sweep": {"n": "16..176+16"}}], QUICK | {"min_time": "150 ms", "max_time": "150 ms", "max_samples": 10000})
    arguments = ["run", "long.json", "--kernels", "k", "--device", "cpu", "--format", "jsonl", "--label", "a=b"]
    child = start(home, *arguments, "-o", "part.json")
    lines, cases = [], 0
    while cases < 3:
        line = child.stdout.readline()
        if not line:
            break
        lines.append(json.loads(line))
        cases += lines[-1]["event"] == "case"
    os.killpg(child.pid, signal.SIGINT)
    rest, stderr = child.communicate(timeout=PATIENCE_S)
    check(child.returncode == 130, f"interrupted: exit {child.returncode}\n{stderr}")
    part = load(home / "part.json")
    check(part["run"]["status"] == "interrupted", f"run.status is {part['run']['status']}")
    check(3 <= len(part["cases"]) < 11 and all(c["status"] == "ok" for c in part["cases"]), f"{len(part['cases'])} cases in the partial result")
    check("interrupted" in stderr, f"stderr says so: {stderr}")
    check_run(run("report", "part.json", home=home), 0, "a partial result can be shown")
    done = run(*arguments, "--resume", "part.json", "-o", "part.json", home=home)
    check_run(done, 0, "resume")
    whole = load(home / "part.json")
    planned = run("plan", "long.json", "--kernels", "k", "--device", "cpu", "--json", "-", home=home)
    ids = [c["id"] for c in json.loads(planned.stdout)["cases"]]
    check(whole["run"]["status"] == "complete", "the resumed run is complete")
    check([c["id"].split(";timer=")[0] for c in whole["cases"]] == ids, "every case once, in the order of the plan")
    measured = [json.loads(line)["case"]["id"] for line in done.stdout.splitlines() if json.loads(line)["event"] == "case"]
    kept = {c["id"]: c for c in part["cases"]}
    check(not set(measured) & set(kept), "what was measured is not measured again")
    check(all(c["stats"] == kept[c["id"]]["stats"] for c in whole["cases"] if c["id"] in kept), "kept cases are unchanged")
    other = run(*arguments[:4], "--device", "sim:mi300x", "--resume", "part.json", home=home)
    check_run(other, 2, "resume on another device", stderr="are not of one run")


def write_old(home, where):
    (where / "r.json").write_text("the old result\n")
    return ["run", "good", "--kernels", str(home / "k"), "--device", "sim:mi300x", "--set", "n=1..200", "-q", "-o", str(where / "r.json")]


def untouched(where, what):
    check((where / "r.json").read_text() == "the old result\n", f"{what}: the old result was touched")
    check([p.name for p in where.iterdir()] == ["r.json"], f"{what}: left behind: {[p.name for p in where.iterdir()]}")


def no_more_bytes():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def file_limit(home):
    where = home / "limited"
    where.mkdir()
    child = start(home, *write_old(home, where), preexec_fn=no_more_bytes)
    stderr = child.communicate(timeout=PATIENCE_S)[1]
    check(child.returncode == 3 and "File too large" in stderr, f"file limit: exit {child.returncode}\n{stderr}")
    untouched(where, "file limit")


def full_disk(home):
    where = home / "full"
    where.mkdir()
    mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", where], capture_output=True).returncode == 0
    if not mounted:
        return
    try:
        done = run(*write_old(home, where), home=home, TMPDIR=str(home))
        check_run(done, 3, "full disk", stderr=["No space left on device"])
        untouched(where, "full disk")
        saved = list(home.glob("rooftile-*.json"))
        check(len(saved) == 1 and len(load(saved[0])["cases"]) == 200, f"full disk: the measurements were saved elsewhere: {saved}")
        for path in saved:
            path.unlink()
    finally:
        subprocess.run(["umount", where], check=True)


def full_standard_output(home):
    for arguments in (["list"], ["run", "good", "--kernels", "k", "--device", "sim:mi300x"], ["plan", "good", "--kernels", "k", "--device", "sim:mi300x"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([str(PROGRAM), *arguments], env=environment(home), cwd=home, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
        check(done.returncode == 3 and "cannot write standard output" in done.stderr, f"full output of {arguments[0]}: exit {done.returncode} {done.stderr}")
        closed = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', str(PROGRAM), *arguments], env=environment(home), cwd=home, stderr=subprocess.PIPE, text=True,
                                timeout=PATIENCE_S, check=False)
        check(closed.returncode == 3 and "cannot write standard output" in closed.stderr, f"closed output of {arguments[0]}: exit {closed.returncode} {closed.stderr}")


def unwritable_folder(home):
    (home / "file").write_text("")
    done = run("run", "good", "--kernels", "k", "--device", "sim:mi300x", "-o", "file/r.json", home=home)
    check_run(done, 3, "a result below a file", stderr="file")
    done = run("run", "good", "--kernels", "k", "--device", "sim:mi300x", "-o", "new/folder/r.json", home=home)
    check_run(done, 0, "folders of the result are made")
    check((home / "new/folder/r.json").exists(), "the result is there")


def shared_cache(home):
    """Both find an empty cache, want the same kernels, and neither may see half of an object."""
    command = ["run", "good", "lists", "--kernels", "k", "--device", "cpu", "--cache", str(home / "shared"), "--quick", "--min-time", "1ms", "--max-time", "10ms"]
    both = [start(home, *command, "-o", f"{k}.json") for k in range(2)]
    for k, child in enumerate(both):
        stdout, stderr = child.communicate(timeout=PATIENCE_S)
        check(child.returncode == 0, f"run {k} of two with one cache: exit {child.returncode}\n{stdout}{stderr}")
        check([c["status"] for c in load(home / f"{k}.json")["cases"]] == ["ok", "ok"], f"run {k} of two with one cache")
    check(list((home / "shared").iterdir()), "the cache is used")


if __name__ == "__main__":
    # Kernels crash on purpose here: a sanitizer's handlers would turn the signals into exit codes.
    os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "handle_segv=0:handle_sigfpe=0"]))
    main(write_kernels, fates, arithmetic_is_reset, nothing_goes_on, without_proc, starved, build_says_it_too, interrupt_and_resume, file_limit, full_disk, full_standard_output, unwritable_folder, shared_cache)
