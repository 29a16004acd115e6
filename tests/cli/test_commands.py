# SPDX-License-Identifier: MIT
"""What each command gives at the least, colours and streams, and the installed tree."""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess

from harness import PATIENCE_S, PROGRAM, ROOT, check, check_run, environment, load, main, run

ESCAPE = "\x1b"
SIM = ["--device", "sim:h100"]  # whose kernels nobody compiles to predict them
KERNELS = {"dot_peak", "fma_peak", "gemm_buffered", "launch_empty", "pointer_chase", "softmax_row", "stream_add", "stream_copy",
           "stream_dot", "stream_read", "stream_scale", "stream_triad", "stream_write"}


def pure(done, what):
    check_run(done, 0, what)
    try:
        return json.loads(done.stdout)
    except ValueError as cause:
        check(False, f"{what}: standard output is not JSON ({cause}):\n{done.stdout[:500]}")
        return {}


def listings(home):
    names = run("list", "--names", home=home).stdout.split()
    check(KERNELS <= set(names), f"list --names lacks {KERNELS - set(names)}")
    table = run("list", home=home)
    check_run(table, 0, "list", stdout=sorted(KERNELS) + ["quick", "characterize"])
    check(KERNELS <= set(re.findall(r"[a-z_0-9]+", json.dumps(pure(run("list", "--json", "-", home=home), "list --json -")))), "list --json has the kernels")
    check_run(run("list", "stream_triad", home=home), 0, "list of a kernel", stdout=["n  ", "64Mi", "dtype", "f32, f64", "BabelStream", "every element"])
    check_run(run("list", "stream_triat", home=home), 2, "list of an unknown kernel", stderr="did you mean 'stream_triad'?")
    filtered = run("list", "--names", "--filter", "stream_*", home=home).stdout.split()
    check(filtered and all(name.startswith("stream_") for name in filtered), f"list --filter: {filtered}")
    others = run("list", "--names", "--filter", "!stream_*", home=home).stdout.split()
    check(others and not set(others) & set(filtered) and "gemm_buffered" in others, f"list --filter '!stream_*': {others[:5]}")
    devices = run("devices", home=home)
    check_run(devices, 0, "devices", stdout=["cpu", "sim:mi300x", "sim:rx7900xtx"])
    check("cpu" in json.dumps(pure(run("devices", "--json", "-", home=home), "devices --json -")), "devices --json has the CPU")
    check_run(run("devices", "--json", "d.json", home=home), 0, "devices --json FILE")
    check("cpu" in json.dumps(load(home / "d.json")), "devices --json FILE has the CPU")
    plan = pure(run("plan", "stream_copy", *SIM, "--set", "n=1Mi,2Mi", "--json", "-", home=home), "plan --json -")
    check(len(plan["cases"]) == 2 and plan["cases"][0]["id"].startswith("stream_copy/n=1048576;dtype=f32;"), f"plan --json: {plan}")
    check(pure(run("run", "stream_copy", *SIM, "-o", "-", home=home), "run -o -")["cases"][0]["status"] == "ok", "run -o - is the result")
    events = [json.loads(line) for line in run("run", "stream_copy", *SIM, "--format", "jsonl", home=home).stdout.splitlines()]
    check([e["event"] for e in events].count("case") == 1 and all("event" in e for e in events), f"jsonl events: {events}")


def parameters(home):
    """Every parameter of a shipped kernel is described; one's own kernels may go without."""
    listed = {kernel["name"]: kernel for kernel in json.loads(run("list", "--json", "-", home=home).stdout)["kernels"]}
    check(all(param.get("doc") for kernel in listed.values() for param in kernel["params"]), "a parameter without a doc")
    check_run(run("list", "stream_triad", home=home), 0, "list of a kernel", stdout=["elements of each array", "type of the elements: f32, f64"])
    own = home / "own"
    own.mkdir()
    manifest = load(ROOT / "kernels/launch/launch_empty.json")
    (own / manifest["code"]["source"]).write_text((ROOT / "kernels/launch" / manifest["code"]["source"]).read_text())
    del manifest["doc"]
    (own / "bare.json").write_text(json.dumps(manifest | {"name": "bare"}))
    check_run(run("check", "bare", "--kernels", own, home=home), 0, "check of one's own kernel")
    (own / "bare.json").write_text(json.dumps(manifest | {"name": "bare", "doc": {"block": 3}}))
    check_run(run("check", "bare", "--kernels", own, home=home), 2, "a doc that is a number", stderr="bare.json:1:")


def targets(home):
    """docs/targets.md names the products that the program names."""
    known = {row["target"]: row["products"] for row in json.loads(run("list", "--targets", "--json", "-", home=home).stdout)["targets"]}
    table = re.findall(r"^\| ((?:gfx|sm_)\w+) \| ([^|]+) \|", (ROOT / "docs/targets.md").read_text(), flags=re.M)
    check(len(table) > 10 and dict(table).items() <= known.items(), f"{set(table) - set(known.items())}")


def versions(home):
    check(re.fullmatch(r"rooftile \d+\.\d+\.\d+.*\n", run("--version", home=home).stdout), "--version")
    version = pure(run("--version", "--json", home=home), "--version --json")
    check({"name", "version", "compiler", "libraries"} <= set(version), f"--version --json: {version}")


def schemas(home):
    listed = run("schema", home=home)
    check_run(listed, 0, "schema", stdout=["suite", "manifest", "machine", "result"])
    check(pure(run("schema", "suite", home=home), "schema suite")["$schema"].endswith("2020-12/schema"), "schema suite")
    check_run(run("schema", "suite", "-o", "s.json", home=home), 0, "schema -o")
    check(load(home / "s.json")["$id"], "schema -o writes the file")


def completions(home):
    for shell, syntax in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])):
        done = run("completion", shell, home=home)
        check_run(done, 0, f"completion {shell}", stdout="rooftile completion words -- ")
        path = home / f"completion.{shell}"
        path.write_text(done.stdout)
        if shutil.which(shell):
            parsed = subprocess.run([*syntax, path], capture_output=True, text=True)
            check(parsed.returncode == 0, f"{shell} cannot read its completion: {parsed.stderr}")
    ask = f"source {home}/completion.bash; COMP_WORDS=(rooftile ru); COMP_CWORD=1; COMP_LINE='rooftile ru'; COMP_POINT=11; "
    ask += "$(complete -p rooftile | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo ${COMPREPLY[@]}"
    path = os.pathsep.join([str(PROGRAM.parent), os.environ["PATH"]])
    answer = subprocess.run(["bash", "-c", ask], env=environment(home, PATH=path), capture_output=True, text=True)
    check(answer.stdout.split() == ["run"], f"bash completes 'rooftile ru' to: {answer.stdout}{answer.stderr}")
    for words, wanted in ((["ru"], {"run"}), (["he"], {"help"}), (["--vers"], {"--version"}), (["run", "qui"], {"quick", ":json"}),
                          (["run", "quick", "--device", "sim:mi300"], {"sim:mi300a", "sim:mi300x"}), (["run", "--device=sim:mi300x"], {"--device=sim:mi300x"}),
                          (["build", "--arch", "gfx94"], {"gfx942"}), (["run", "stream_copy", "--set", "dtype=f6"], {"dtype=f64"}),
                          (["run", "-o", "x"], {":file"}), (["run", "--cache", ""], {":folder"}), (["completion", ""], {"bash", "zsh", "fish"}),
                          (["run", "--timer", "ev"], {"event"}), (["no_command", ""], None)):
        offered = run("completion", "words", "--", *words, home=home)
        found = {line.split("\t")[0] for line in offered.stdout.splitlines()}
        check(offered.returncode == 0 and (wanted is None or found == wanted), f"'rooftile {' '.join(words)}' completes to {found}: {offered.stderr}")
    check("run\tmeasure kernels" in run("completion", "words", "--", "", home=home).stdout, "candidates say what they are")


def man_page(home):
    done = run("man", home=home)
    check_run(done, 0, "man", stdout=[".Dd", ".Sh NAME", ".Sh EXIT STATUS", "stream_triad"])
    if shutil.which("mandoc"):
        lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning"], input=done.stdout, capture_output=True, text=True)
        check(lint.returncode == 0, f"mandoc: {lint.stdout}")
    check_run(run("man", "-o", "rooftile.1", home=home), 0, "man -o")
    check((home / "rooftile.1").read_text() == done.stdout, "man -o writes the page")


def reports(home):
    check_run(run("run", "stream_copy", "gemm_buffered", *SIM, "-o", "r.json", home=home), 0, "run -o")
    for form, text in (("table", "stream_copy"), ("csv", "stream_copy"), ("json", "stream_copy"), ("jsonl", "stream_copy")):
        check_run(run("report", "r.json", "--format", form, home=home), 0, f"report --format {form}", stdout=text)
    rows = run("report", "r.json", "--format", "csv", home=home).stdout.splitlines()
    check(len(rows) == 3 and len({row.count(",") for row in rows if '"' not in row}) <= 1, f"CSV: {rows}")
    check_run(run("report", "r.json", "--format", "csv", "-o", "r.csv", home=home), 0, "report -o")
    check((home / "r.csv").read_text().splitlines() == rows, "report -o writes the file")
    table = run("run", "stream_copy", "gemm_buffered", *SIM, home=home).stdout.splitlines()
    shown = run("report", "r.json", home=home).stdout.splitlines()
    check(shown[:-1] == table[:-1], "the report of the file is the table of the run")
    check("explain r.json" in shown[-1] and "--machine" in table[-1], f"what to do with a file, and without one: {shown[-1]}; {table[-1]}")


def on_terminal(home, *arguments, **extra):
    """What the program writes when standard output is a terminal."""
    parent, child = pty.openpty()
    done = subprocess.Popen([str(PROGRAM), *arguments], env=environment(home, TERM="xterm", **extra), cwd=home, stdout=child, stderr=subprocess.DEVNULL)
    os.close(child)
    output = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # EIO: the other end is closed
            break
        if not part:
            break
        output += part
    os.close(parent)
    done.wait(timeout=PATIENCE_S)
    return output.decode()


def colours(home):
    command = ["run", "stream_copy", "gemm_buffered", *SIM]
    done = run(*command, home=home, TERM="xterm")
    check(ESCAPE not in done.stdout + done.stderr, "escapes in a pipe")
    check(ESCAPE in run(*command, "--color", "always", home=home, TERM="xterm").stdout, "--color always gives colours in a pipe")
    check(ESCAPE in run(*command, "--color", "always", home=home, TERM="xterm", NO_COLOR="1").stdout, "the option wins over NO_COLOR")
    check(ESCAPE in run(*command, home=home, TERM="xterm", FORCE_COLOR="1").stdout, "FORCE_COLOR gives colours in a pipe")
    check(ESCAPE not in run(*command, home=home, TERM="xterm", FORCE_COLOR="0").stdout, "FORCE_COLOR=0 forces nothing")
    check(ESCAPE in on_terminal(home, *command), "colours on a terminal")
    check(ESCAPE not in on_terminal(home, *command, NO_COLOR="1"), "NO_COLOR on a terminal")
    check(ESCAPE in on_terminal(home, *command, NO_COLOR=""), "an empty NO_COLOR says nothing")
    check(ESCAPE not in on_terminal(home, *command, "--color", "never"), "--color never on a terminal")
    for machine in (["--format", "csv"], ["--format", "jsonl"], ["--format", "json"], ["-o", "-"]):
        check(ESCAPE not in run(*command, *machine, "--color", "always", home=home).stdout, f"escapes in {machine}")


def streams(home):
    command = ["run", "stream_copy", "gemm_buffered", *SIM]
    plain = run(*command, home=home)
    check("stream_copy" in plain.stderr and "stream_copy" in plain.stdout, "in a pipe: a line per case on stderr, the table on stdout")
    check("\r" not in plain.stderr, "no progress bar in a pipe")
    quiet = run(*command, "-q", home=home)
    check(quiet.stderr == "" and quiet.stdout == plain.stdout, f"-q: {quiet.stderr}")
    shown = run(*command, "--progress", "always", home=home).stderr  # nothing where every case took less than a tick
    check(ESCAPE in shown or "stream_copy" not in shown, "--progress always replaces the lines")
    check(len(run(*command, "-v", home=home).stderr) >= len(plain.stderr), "-v says no less")


def build_names_what_it_skips(home):
    done = run("build", "dot_peak_i4", "scalar_chase", "--device", "cpu", home=home)
    check_run(done, 0, "build of what a CPU lacks", stdout=["skipped  dot_peak_i4: the device has no i4 dot products", "code objects"])


def plan_says_what_is_to_compile(home):
    words, own = ["launch_empty", "--device", "cpu"], {"ROOFTILE_CACHE": str(home / "cache")}
    check_run(run("plan", *words, home=home, **own), 0, "plan before a build", stdout=["(1 to compile:"])
    check_run(run("build", *words, home=home, **own), 0, "build", stdout=["1 code object"])
    done = run("plan", *words, home=home, **own)
    check_run(done, 0, "plan after a build", stdout=["not counting compilation"])
    check("to compile" not in done.stdout, "everything is compiled")


def build_prints_objects(home):
    done = run("build", "launch_empty", "-v", "--device", "cpu", home=home)
    check_run(done, 0, "build -v", stdout=["1 code object", "launch_empty"])
    again = run("build", "launch_empty", "-v", "--device", "cpu", home=home)
    check_run(again, 0, "build again", stdout=["0 compiled", "1 from the cache"])
    objects = [line.strip() for line in again.stdout.splitlines() if line.strip().startswith("/")]
    check(len(objects) == 1 and pathlib.Path(objects[0]).stat().st_size > 0, f"build -v prints the object: {again.stdout}")


def build_references(home):
    """What results are compared with runs on the processor: a GPU machine without clang brings it along."""
    kernels = home / "some_kernels"
    for path in "include/*.*", "include/hip/*", "norm/softmax_row.*", "norm/row.h", "reference/softmax_reference.*", "reference/reference_exp.h":
        (kernels / path).parent.mkdir(parents=True, exist_ok=True)
        for source in (ROOT / "kernels").glob(path):
            shutil.copy(source, (kernels / path).parent)
    for what in r"[1-9] compiled", "0 compiled":
        done = run("build", "softmax_row", "--references", "--arch", "gfx942", home=home, ROOFTILE_KERNELS=str(kernels), ROOFTILE_CACHE=str(home / "brought"))
        check_run(done, 0, "build --references")
        check(re.search(f"references for 1 target: {what}, 0 failed", done.stdout), f"{what}: {done.stdout}")


def checks(home):
    check_run(run("check", home=home), 0, "check", stdout=["0 broken"])
    check_run(run("check", "quick", "characterize", home=home), 0, "check of the shipped suites", stdout=["suite "])
    integers = "--set dtype=i8 --set total=i32 --set BK=64".split()
    check_run(run("check", "--run", "gemm_matrix", "--device", "cpu", *integers, home=home), 0, "integer products", stdout=["1 verified"])
    check_run(run("check", "--run", "stream_copy", "--device", "cpu", "--set", "n=1234", home=home), 0, "--set wins over check.params", stdout=["1234 elements"])
    check_run(run("plan", "gemm_matrix", "--device", "sim:mi300x", *integers, "--set", "alpha=0.5", home=home), 3, "half of an integer",
              stdout=["have a whole alpha and beta, not 0.5"])


def installed(home):
    """Moved to another place, started from the root: it finds its kernels, suites and machines beside itself."""
    build = PROGRAM.parent.parent
    if not (build / "cmake_install.cmake").exists() or not shutil.which("cmake"):
        return
    stage = home / "stage"
    done = subprocess.run(["cmake", "--install", build, "--prefix", stage], capture_output=True, text=True, timeout=PATIENCE_S)
    check(done.returncode == 0, f"cmake --install: {done.stderr}")
    moved = home / "some where" / "else"
    moved.parent.mkdir()
    stage.rename(moved)
    program = moved / "bin/rooftile"
    check(program.exists(), f"installed: {[str(p.relative_to(moved)) for p in moved.rglob('*')][:20]}")
    if not program.exists():
        return

    def there(*arguments):
        return subprocess.run([program, *arguments], env=environment(home), cwd="/", capture_output=True, text=True, timeout=PATIENCE_S)

    check_run(there("run", "stream_copy", *SIM), 0, "installed: run on sim", stdout=["stream_copy"])
    check_run(there("run", "stream_copy", "--set", "n=4096", "--device", "cpu", "--quick", "--max-time", "20ms", "--min-time", "1ms"), 0,
              "installed: run on the CPU")
    check_run(there("plan", "quick", *SIM), 0, "installed: the suite quick")
    check_run(there("schema", "suite"), 0, "installed: schema", stdout="2020-12")
    check_run(there("list", "--json", "-"), 0, "installed: list", stdout=str(moved))
    check(not re.search(r"/stage/", there("list", "--json", "-").stdout), "installed: nothing of the old place")
    pages = [str(p.relative_to(moved)) for p in moved.rglob("rooftile.1*")]
    check(pages, "installed: the man page")
    check(list(moved.rglob("completions/rooftile")) and list(moved.rglob("_rooftile")) and list(moved.rglob("rooftile.fish")), "installed: completions")


def packaged(home):
    """A Debian package runs from where it is unpacked, and what was installed can be taken away again."""
    build = PROGRAM.parent.parent
    if not (build / "CPackConfig.cmake").exists() or not shutil.which("cpack") or not shutil.which("dpkg-deb"):
        return

    def tool(*words):
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, cwd=home, env=dict(os.environ, DESTDIR=str(home / "root")))
        check(done.returncode == 0, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    tool("cpack", "-G", "DEB", "--config", str(build / "CPackConfig.cmake"), "-B", str(home / "packages"))
    package = next((home / "packages").glob("*.deb"))
    tool("dpkg-deb", "-x", str(package), str(home / "unpacked"))
    check(re.search(r"libc6 \(>= 2\.\d+\)", tool("dpkg-deb", "-f", str(package), "Depends")), "packaged: for this glibc and later ones")
    done = subprocess.run([home / "unpacked/usr/bin/rooftile", "plan", "stream_copy", *SIM], env=environment(home), cwd="/", capture_output=True, text=True)
    check_run(done, 0, "packaged: plan on sim", stdout=["stream_copy"])
    tool("cmake", "--install", str(build), "--prefix", "/opt")
    check((home / "root/opt/bin/rooftile").exists(), "installed below DESTDIR")
    tool("cmake", "--build", str(build), "--target", "uninstall")
    left = [str(path) for path in (home / "root").rglob("*") if path.is_file() or path.name == "rooftile"]
    check(not left, f"uninstalled, but left: {left}")


if __name__ == "__main__":
    main(listings, parameters, targets, versions, schemas, completions, man_page, reports, colours, streams, build_names_what_it_skips, plan_says_what_is_to_compile,
         build_prints_objects, build_references, checks, installed, packaged)
