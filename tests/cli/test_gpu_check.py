# SPDX-License-Identifier: MIT
"""scripts/gpu_check: its steps on the processor with suites of a few short cases, and every way in which it must not say that all
is well: a wrong kernel, no time, no GPU, a step that breaks, hangs or lies, a program that cannot be built."""
import copy
import html.parser
import json
import os
import shutil
import signal
import subprocess
import time
import uuid

import test_gpu_faults
from harness import DOUBLES, PATIENCE_S, PROGRAM, QUICK, ROOT, SANITIZED, check, check_run, environment, load, main, run
from runs import stretch

SCRIPT = ROOT / "scripts/gpu_check"
STEPS = ["verification", "characterisation", "libraries", "quick", "noise"]
# Chases and empty launches have no ceiling, so nothing can seem impossible, however short they are.
SUITES = {
    "quick": {"cases": [{"kernel": "pointer_chase", "params": {"steps": 64}, "sweep": {"footprint": [4096, 8192]}}],
              "kpis": [{"name": "memory latency", "method": "max", "of": "ns_per_item", "cases": ["pointer_chase"]}]},
    "characterize": {"cases": [{"kernel": "stream_read", "params": {"traffic_per_cu": 65536}, "sweep": {"n": "1Ki..128Ki*2"}}, {"kernel": "pointer_chase", "params": {"steps": 64, "footprint": 4096}}]},
    "libraries": {"cases": [{"kernel": "launch_empty", "params": {"block": 1}}, {"kernel": "pointer_chase", "params": {"steps": 64, "footprint": 4096}}],
                  "derive": [{"name": "ours <b>", "method": "ratio", "kernel": "pointer_chase", "to": "launch_empty", "y": "time_ns"}]}}


def make_configs(home):
    configs = home / "configs"
    configs.mkdir()
    for name in ("schema", "machines"):
        (configs / name).symlink_to(ROOT / "configs" / name)
    for name, suite in SUITES.items():
        (configs / f"{name}.json").write_text(json.dumps({"name": name, "defaults": {"measure": QUICK}} | suite))
    test_gpu_faults.write_kernels(home)
    wrong = test_gpu_faults.STORE | {"name": "wrong", "summary": "claims 43", "check": {"expect": {"to": "43"}}}
    (home / "k/wrong.json").write_text(json.dumps(wrong))
    (home / "k/include").symlink_to(ROOT / "kernels/include")


def gpu_check(home, *arguments, dir="out", rooftile=PROGRAM, script=SCRIPT, **extra):
    if "--budget" not in arguments:  # the machine may be busy
        arguments = [*arguments, "--budget", PATIENCE_S]
    given = ["--dir", str(home / dir), *(["--rooftile", str(rooftile)] if rooftile else []), *map(str, arguments)]
    env = environment(home, ROOFTILE_CONFIGS=str(home / "configs"), **extra)
    done = subprocess.run([str(script), *given], env=env, cwd=home, capture_output=True, text=True, timeout=PATIENCE_S)
    document = load(home / dir / "check.json") if (home / dir / "check.json").exists() else None
    page = (home / dir / "check.html").read_text() if (home / dir / "check.html").exists() else ""
    if document:
        check(document["exit_code"] == done.returncode, f"{dir}: exit {done.returncode}, the document says {document['exit_code']}")
        validate(document, dir)
        check(bool(page) == bool(set(document["documents"]) & set(STEPS)), f"{dir}: a page of what was measured")
        if page:
            check_page(page, document, dir)
    return done, document, page


def validate(document, what):
    try:
        import jsonschema
    except ImportError:
        return
    schema = load(ROOT / "configs/schema/checkup.schema.json")
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document))
    check(not errors, f"{what}: {[e.message[:200] for e in errors[:3]]}")


class Page(html.parser.HTMLParser):
    """Balanced tags, and nothing that a browser would fetch. HTML lets the next cell or the row's end close a cell."""
    VOID = {"meta", "br", "link", "img", "wbr"}
    CELLS = {"td", "th"}

    def __init__(self):
        super().__init__()
        self.open, self.bad, self.ids, self.links = [], [], set(), []

    def end_cell(self):
        if self.open and self.open[-1] in self.CELLS:
            self.open.pop()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in self.CELLS:
            self.end_cell()
        if tag in ("link", "img", "iframe") or "src" in attrs:
            self.bad.append(f"<{tag}>")
        if "href" in attrs:
            self.links.append(attrs["href"])
        self.ids.add(attrs.get("id"))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in {"tr", "thead", "tbody", "table"}:
            self.end_cell()
        if not self.open or self.open.pop() != tag:
            self.bad.append(f"</{tag}>")


def check_page(text, document, what):
    page = Page()
    page.feed(text)
    check(text.startswith("<!DOCTYPE html>") and not page.open and not page.bad, f"{what}: the page: {page.bad} {page.open}")
    check(all(link.startswith("#") and link[1:] in page.ids for link in page.links), f"{what}: links {page.links}")
    for number, name in enumerate([name for name in document["documents"] if name in STEPS], 1):
        check(f"device-{number}" in page.ids or len(set(document["documents"]) & set(STEPS)) == 1, f"{what}: the page has no part {name}")


def step(document, name):
    found = [s for s in document["steps"] if s["name"] == name] if document else []
    check(len(found) == 1, f"{name}: {len(found)} steps")
    return found[0] if found else {"verdict": None}


def all_is_well(home):
    done, document, page = gpu_check(home, "--device", "cpu:threads=1", "--kernels", "pointer_chase", "--kernels", "launch_empty", dir="well")
    check(done.returncode == 0, f"all is well: exit {done.returncode}\n{done.stdout}{done.stderr}")
    if not document:
        return
    check([s["name"] for s in document["steps"]] == STEPS, f"steps {[s['name'] for s in document['steps']]}")
    check({s["verdict"] for s in document["steps"]} == {"pass"} and document["verdict"] == "pass", f"verdicts: {done.stdout}")
    check(set(document["documents"]) == {*STEPS, "machine", "noise_learned", "model_error"}, f"documents {list(document['documents'])}")
    archive(home)
    check(document["documents"]["noise"]["run"]["trials"] == 10, "ten processes")
    check("ours &lt;b&gt;" in page and ">no findings<" in page and "pass: All is well" in done.stdout, "the page says what came out, with names escaped")
    check(not (home / "data").exists(), "what others learned was left alone")


def archive(home):
    """check.json is what the files beside it are, for who calibrates by it."""
    out = home / "out-of-check"
    out.mkdir()
    (out / "check.json").write_bytes((home / "well/check.json").read_bytes())
    both = {case["id"] for name in ("quick", "libraries") for case in load(home / f"well/{name}.json")["cases"]}
    done = run("report", out / "check.json", "--format", "json", "-o", "report.json", cwd=out, home=home)
    found = [case["id"] for case in load(out / "report.json")["cases"]]
    check(done.returncode == 0 and sorted(found) == sorted(both) and len(both) > 2, f"{found} {both} {done.stderr}")
    done = run("model-error", out / "check.json", "--json", "error.json", cwd=out, home=home)
    error = load(home / "well/check.json")["documents"]["model_error"]
    rows = {one["family"]: one["rows"] for one in load(out / "error.json")["errors"]}
    check(done.returncode == 0 and rows["all"] == len(both) and set(rows) == {one["family"] for one in error["errors"]}, f"{rows} {error} {done.stderr}")
    done = run("predict", out / "check.json", "--machine", "mi300x", "--filter", "pointer_chase*", "--json", "-", home=home)
    check(done.returncode == 0 and json.loads(done.stdout), f"predict: {done.stderr}")
    plans = [run("plan", "pointer_chase", "--device", "cpu:threads=1", "--machine", machine, "--json", "-", home=home)
             for machine in (out / "check.json", home / "well/machine.json")]
    check(plans[0].returncode == 0 and plans[0].stdout.replace("out-of-check/check.json", "well/machine.json") == plans[1].stdout, f"{plans[0].stderr}")
    (out / "none.json").write_text(json.dumps({"documents": {}}))
    done = run("model-error", out / "none.json", home=home)
    check(done.returncode == 2 and "no result of the steps quick and libraries" in done.stderr, done.stderr)


def beside_the_fleet(home):
    """What healthy devices took is a baseline: slower than these is a finding; where they say nothing, nothing is said."""
    fleet = home / "fleet"
    fleet.mkdir()
    base = load(home / "well/quick.json")
    for name, factor, code in (("slower", 100, 0), ("faster", 0.01, 1)):
        for k in range(5):
            result = copy.deepcopy(base)
            for case in result["cases"]:
                case.pop("samples_ns", None)
                stretch(case, factor * (1 + k / 1000))
            result["run"]["id"] = str(uuid.UUID(int=k))
            result["environment"]["device"]["uuid"] = f"GPU-{k}"
            (fleet / f"{name}{k}.json").write_text(json.dumps(result))
        check_run(run("fleet", *sorted(fleet.glob(f"{name}*.json")), "--json", f"{name}.json", home=home, cwd=home), 0, name)
        done, document, page = gpu_check(home, "--device", "cpu:threads=1", "--steps", "quick", "--baseline", f"{name}.json", dir=f"by-{name}")
        found = step(document, "baseline")
        check(done.returncode == code, f"{name}: {done.returncode} {done.stdout} {done.stderr}")
        check(found["verdict"] == ("findings" if code else "pass"), f"{name}: {found}")
    check("latency cases" in done.stdout, f"which of them: {done.stdout}")
    done, _, _ = gpu_check(home, "--baseline", "nowhere.json", dir="by-none")
    check(done.returncode == 2 and "nowhere.json cannot be read" in done.stderr, done.stderr)


def data_sheets(home):
    """Half of the data sheet's bandwidth is a finding of `rooftile roofline`; what others reached is none."""
    for path in (ROOT / "configs/machines").glob("*.json"):
        memory = load(path)["levels"][-1]["bandwidth"]
        effective = memory.get("effective", {}).get("value", memory["vendor"]["value"]) / memory["vendor"]["value"]
        check(0.5 < memory.get("least", 0) < effective, f"{path.name}: {memory}")


def a_wrong_kernel(home):
    done, document, page = gpu_check(home, "--device", "cpu", "--steps", "verification", "--kernels", "store", "--kernels", "wrong", dir="wrong",
                                     ROOFTILE_KERNELS=str(home / "k"))
    check(done.returncode == 1, f"a wrong kernel: exit {done.returncode}\n{done.stdout}{done.stderr}")
    check(step(document, "verification")["verdict"] == "findings" and "43" in done.stdout, f"a wrong kernel: {done.stdout}")
    check(">findings<" in page and "findings: Something is wrong" in done.stdout, "a wrong kernel: the page")


def no_time(home):
    done, document, page = gpu_check(home, "--device", "cpu", "--steps", "verification", "--budget", "1", dir="late", ROOFTILE_CACHE=str(home / "cold"))
    check(done.returncode == 4, f"no time: exit {done.returncode}\n{done.stdout}{done.stderr}")
    check(step(document, "verification")["verdict"] == "incomplete" and "the time budget of 1s ran out" in page, f"no time: {done.stdout}")
    check("incomplete: Nothing is wrong in what was seen, but not everything was seen" in done.stdout, f"no time: {done.stdout}")


def little_time(home):
    """The ceilings first; where they cannot all be measured, those that were learned before are taken."""
    learned = home / "learned/machines"
    learned.mkdir(parents=True)
    done = run("roofline", "--device", "cpu:threads=1", "--quick", "-q", home=home, ROOFTILE_CONFIGS=str(home / "configs"), ROOFTILE_DATA=str(learned.parent))
    check_run(done, 0, "ceilings that are learned")
    os.chmod(learned.parent, 0o700)
    own, = map(load, learned.iterdir())
    own["title"] = "learned before"
    next(learned.iterdir()).write_text(json.dumps(own))
    program = home / "no-ceilings"
    program.write_text(f"""#!/usr/bin/env bash
if [ "$1" = roofline ]; then echo "warning W015: the time budget ran out"; exit 4; fi
exec "{PROGRAM}" "$@"
""")
    program.chmod(0o755)
    done, document, _ = gpu_check(home, "--device", "cpu:threads=1", "--kernels", "pointer_chase", "--steps", "verification,characterisation,quick",
                                  "--budget", "200", dir="short", rooftile=program, ROOFTILE_DATA=str(learned.parent))
    order = [line.split(" ")[1].rstrip(",") for line in done.stderr.splitlines() if " at most " in line]
    check(order == ["characterisation", "verification", "quick"], f"the ceilings first: {order}")
    check("learned before" in json.dumps(document["documents"]["quick"]["machine"]), f"ceilings of before: {document['documents']['quick']['machine']}")


def no_gpu(home):
    nowhere = {"ROOFTILE_HIP_LIBRARY": "/nonexistent.so", "ROOFTILE_CUDA_LIBRARY": "/nonexistent.so"}
    done, document, _ = gpu_check(home, dir="none", **nowhere)
    check(done.returncode == 3 and not document, f"no GPU: exit {done.returncode}\n{done.stderr}")
    for words in ("there is no GPU here", "hip\n", "cuda\n", "--device cpu checks"):
        check(words in done.stderr, f"no GPU: '{words}' is missing in {done.stderr}")


def the_gpu_is_found(home):
    library = DOUBLES / "libfake_hip.so"
    if not library.exists():
        return
    done, document, _ = gpu_check(home, "--steps", "verification", "--kernels", "store", dir="gpu", ROOFTILE_HIP_LIBRARY=str(library),
                                  ROOFTILE_CUDA_LIBRARY="/nonexistent.so", ROOFTILE_KERNELS=str(home / "k"))
    check(document and document["device"] == "hip:0", f"the GPU: exit {done.returncode}\n{done.stdout}{done.stderr}")
    if document and "no compiler" not in json.dumps(document):
        check(done.returncode == 0, f"the GPU: exit {done.returncode}\n{done.stdout}{done.stderr}")


def steps_that_break(home):
    """One that dies, one that leaves half a file and says that all is well, one that says nothing is wrong and has nothing."""
    program = home / "breaks"
    program.write_text(f"""#!/usr/bin/env bash
for k in "$@"; do [ "$last" = -o ] && out=$k; last=$k; done
case "$1 $2" in
  "run libraries") echo "none: no case matches the filter"; kill -SEGV $$ ;;
  "run quick") echo '{{"schema_version":' >"$out"; exit 0 ;;
  'check --run') echo '{{}}' >"$out"; exit 0 ;;
esac
exec "{PROGRAM}" "$@"
""")
    program.chmod(0o755)
    done, document, page = gpu_check(home, "--device", "cpu", "--steps", "verification,libraries,quick", "--kernels", "pointer_chase", dir="broken", rooftile=program)
    check(done.returncode == 3, f"broken steps: exit {done.returncode}\n{done.stdout}{done.stderr}")
    for name in ("verification", "libraries", "quick"):
        check(step(document, name)["verdict"] == "broken", f"broken steps: {name} is {step(document, name)}")
    check("broken: Something could not be built or measured" in done.stdout and not page, f"broken steps: {done.stdout}")


def nothing_to_run(home):
    done, document, _ = gpu_check(home, "--device", "cpu", "--steps", "libraries,quick", "--kernels", "launch_empty", dir="nothing")
    check(done.returncode == 0 and [s["name"] for s in document["steps"]] == ["libraries"], f"nothing to run: {done.stdout}{done.stderr}")
    for steps in ("quick", "verification"):
        done, document, _ = gpu_check(home, "--device", "cpu", "--steps", steps, "--kernels", "strem_copy", dir="nothing")
        check(done.returncode == 3, f"no such kernel, {steps}: exit {done.returncode} {done.stdout}{done.stderr}")


def interrupted(home):
    """In the middle of a step, which ends too."""
    started = subprocess.Popen([str(SCRIPT), "--dir", str(home / "stopped"), "--rooftile", str(PROGRAM), "--device", "cpu", "--steps", "verification"],
                               env=environment(home, ROOFTILE_CACHE=str(home / "colder")), stderr=subprocess.PIPE, text=True)
    started.stderr.readline()
    while not (home / "colder").exists():  # it compiles
        time.sleep(0.02)
    started.send_signal(signal.SIGTERM)
    _, errors = started.communicate(timeout=PATIENCE_S)
    check(started.returncode == 130 and "interrupted" in errors, f"interrupted: exit {started.returncode} {errors}")
    check(not (home / "stopped/check.json").exists(), "interrupted: there is a document")


def the_budget(home):
    """Of a run: the result says what is missing, and can be gone on with."""
    suite = home / "configs/quick.json"
    done = run("run", suite, "--device", "cpu", "--budget", "1us", "-o", "cut.json", home=home)
    result = load(home / "cut.json")
    check(done.returncode == 3 and "W015" in done.stderr, f"--budget 1us: exit {done.returncode} {done.stderr}")
    check(result["run"]["status"] == "interrupted", f"--budget 1us: {result['run']['status']}")
    check(all(c["status"] == "skipped" and "the time budget of 1us ran out" in c["status_reason"] for c in result["cases"]), "--budget 1us: the reasons")
    done = run("run", suite, "--device", "cpu", "--budget", "60min", "--resume", "cut.json", "-o", "whole.json", home=home)
    result = load(home / "whole.json")
    check(done.returncode == 0 and result["run"]["status"] == "complete" and {c["status"] for c in result["cases"]} == {"ok"}, f"--resume: {done.stderr}")
    done = run("roofline", "--device", "cpu", "--budget", "1us", "-o", "ceilings.json", home=home)
    check(done.returncode == 3 and not (home / "ceilings.json").exists(), f"ceilings of nothing: exit {done.returncode} {done.stderr}")
    done = run("run", suite, "--device", "cpu", "--budget", "soon", home=home)
    check(done.returncode == 2 and "--budget soon: not a duration" in done.stderr, f"--budget soon: {done.stderr}")


def usage(home):
    for arguments in (["--steps", "nothing"], ["--budget", "0"], ["--budget", "soon"], ["--device", "cpu\";"], ["--what"], ["--dir"], ["--steps", "build"]):
        done = subprocess.run([str(SCRIPT), *arguments], env=environment(home), cwd=home, capture_output=True, text=True, timeout=PATIENCE_S)
        check(done.returncode == 2 and "error:" in done.stderr, f"{arguments}: exit {done.returncode} {done.stderr}")
    done = subprocess.run([str(SCRIPT), "--help"], env=environment(home), cwd=home, capture_output=True, text=True, timeout=PATIENCE_S)
    check(done.returncode == 0 and "Exit codes" in done.stdout, "--help")


def sampled_compiler(home):
    """A C compiler that compiles every eighth source, assembler, and what has the build's version in it; of the others it gives the objects
    that the program under test is made of. With ROOFTILE_TEST_ALL=1, or where these are not gcc's, the plain one."""
    objects = PROGRAM.parent.parent / "CMakeFiles"
    if os.environ.get("ROOFTILE_TEST_ALL") or SANITIZED or not shutil.which("gcc") or not objects.exists():
        return None
    sources = sorted(path.relative_to(ROOT) for path in (ROOT / "src").rglob("*.[cS]"))
    own = [source for number, source in enumerate(sources) if number % 8 == 0 or source.suffix == ".S" or "rooftile_version.h" in (ROOT / source).read_text()]
    check(len(own) > 20, f"sources that are compiled: {len(own)} of {len(sources)}")
    (home / "own").write_text("".join(f"{source}\n" for source in own))
    compiler = home / "sampled-cc"
    compiler.write_text(f'''#!/bin/sh
known=$(echo {objects}/*/"$3.o")
if [ "$2" = -c ] && [ -f "$known" ] && ! grep -qxF "$3" {home}/own; then exec cp "$known" "$5"; fi
echo "$3" >>{home}/compiled
exec gcc "$@"
''')
    compiler.chmod(0o755)
    return str(compiler)


def the_build(home):
    """With a C compiler alone; -O0 because only that it works is asked here."""
    tree = home / "tree"
    (tree / "scripts").mkdir(parents=True)
    for name in ("gpu_check", "build_plain"):
        shutil.copy(ROOT / "scripts" / name, tree / "scripts")
    for name in ("src", "include", "cmake"):
        (tree / name).mkdir()
    (tree / "CMakeLists.txt").touch()
    for name in ("kernels", "configs"):
        (tree / name).symlink_to(ROOT / name)
    here = {"rooftile": None, "script": tree / "scripts/gpu_check", "ROOFTILE_DEPS": None, "CC": "/bin/false"}
    done, document, _ = gpu_check(home, dir="unbuilt", **here)
    check(done.returncode == 3 and "cannot be built" in done.stderr and not document, f"no compiler: exit {done.returncode} {done.stderr}")
    program = tree / "build/release/bin/rooftile"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{PROGRAM}" "$@"\n')
    program.chmod(0o755)
    few = ("--device", "cpu:threads=1", "--steps", "quick", "--kernels", "pointer_chase")
    done, document, _ = gpu_check(home, *few, dir="built", **here)
    check(done.returncode == 0 and "takes the program that is built: " in done.stderr, f"a build: {done.stderr}")
    for path, text in ((tree / "src/new.c", ""), (tree / "build/release/CMakeCache.txt", "CMAKE_BUILD_TYPE:STRING=Debug\n")):
        path.write_text(text)
        os.utime(program, ns=(time.time_ns() + (10**9 if "Debug" in text else -10**12),) * 2)
        done, document, _ = gpu_check(home, *few, dir="built", **here)
        check(done.returncode == 3 and "takes the program" not in done.stderr, f"{path.name}: {done.stderr}")
    done = subprocess.run([str(ROOT / "scripts/build_plain"), str(home / "plain")], env=environment(home, CFLAGS="-O0", CC=sampled_compiler(home)), cwd=home,
                          capture_output=True, text=True, timeout=PATIENCE_S)
    check(done.returncode == 0, f"build_plain: {done.stderr[-2000:]}")
    said = subprocess.run([str(home / "plain/bin/rooftile"), "--version"], capture_output=True, text=True, timeout=PATIENCE_S)
    check(said.returncode == 0 and said.stdout.startswith("rooftile "), f"build_plain: {said.stdout}{said.stderr}")


if __name__ == "__main__":
    main(make_configs, all_is_well, beside_the_fleet, data_sheets, a_wrong_kernel, no_time, little_time, no_gpu, the_gpu_is_found, steps_that_break, nothing_to_run, interrupted,
         the_budget, usage, the_build)
