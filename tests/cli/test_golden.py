# SPDX-License-Identifier: MIT
"""What the program prints on the sim device, byte for byte; scripts/accept changes an expectation on purpose."""
import csv
import re
import shlex

import golden
from harness import check, check_run, load, main, run

COMMANDS = ["run", "plan", "build", "check", "import", "roofline", "list", "devices", "report", "schema", "completion", "man"]


def outputs(home):
    for name in golden.names():
        done = run(*golden.arguments(name), home=home)
        check(done.returncode == 0, f"{name}: exit {done.returncode}\n{done.stderr}")
        difference = golden.difference(name, done.stdout)
        check(not difference, f"{name} (on purpose? scripts/accept {name}):\n{difference}")
        again = run(*golden.arguments(name), home=home)
        check(again.stdout == done.stdout, f"{name}: the second time is different")


def every_command_has_its_help(home):
    listed = run("--help", home=home).stdout
    for command in COMMANDS:
        check(f"help-{command}" in golden.names(), f"there is no golden help-{command}")
        check(re.search(rf"^  {command} ", listed, re.M), f"--help does not list {command}")
        long = run(command, "--help", home=home)
        check(long.stdout == run(command, "-h", home=home).stdout == run("help", command, home=home).stdout, f"{command}: --help, -h and help agree")
        check(long.stderr == "", f"{command} --help writes to standard error: {long.stderr}")
        check(all(len(line) <= 80 for line in long.stdout.splitlines()), f"{command} --help is wider than 80 columns:\n{long.stdout}")
    check(all(len(line) <= 80 for line in listed.splitlines()), f"--help is wider than 80 columns:\n{listed}")


def examples_work(home):
    """Those of --help that need no file: with `plan` in place of `run`, on a device that is everywhere."""
    tried = 0
    for command in ("", "run", "plan", "list", "devices", "schema"):
        for line in run(*filter(None, [command]), "--help", home=home).stdout.splitlines():
            example = re.match(r"  (rooftile .*?)(  .*)?$", line)
            words = shlex.split(example[1])[1:] if example else []
            if not words or words[0] not in ("run", "plan", "list", "devices", "schema") or re.search(r"[<>|]|\.json", example[1]):
                continue
            if words[0] in ("run", "plan"):
                words = ["plan", *words[1:], *([] if "--device" in words else ["--device", "sim:mi300x"])]
            check_run(run(*words, home=home), 0, f"example '{example[1]}'")
            tried += 1
    check(tried >= 8, f"only {tried} examples found")


def predictions_say_so(home):
    """Nothing that shows a number of the sim device may pass for a measurement."""
    device = ["stream_copy", "gemm_buffered", "--device", "sim:mi300x"]
    for what, arguments in {"table": ["run", *device], "csv": ["run", *device, "--format", "csv"], "jsonl": ["run", *device, "--format", "jsonl"],
                            "json": ["run", *device, "--format", "json"], "plan": ["plan", *device], "devices": ["devices"]}.items():
        done = run(*arguments, home=home)
        check("predicted" in done.stdout.lower(), f"{what} does not say that it is predicted:\n{done.stdout[:2000]}")
    lines = run("run", *device, "--progress", "never", home=home).stderr.splitlines()
    cases = [line for line in lines if re.search(r"stream_copy|gemm_buffered", line)]
    check(len(cases) == 2 and all("predicted" in line for line in cases), f"the lines of the cases do not say so: {lines}")
    run("run", *device, "-o", "r.json", home=home)
    result = load(home / "r.json")
    check(result["predicted"] is True, "the result file does not say so")
    check(all(c["measurement"]["timer"] == "sim" for c in result["cases"]), "the timer of the result file is not sim")
    for form in ("table", "csv", "jsonl", "json"):
        check("predicted" in run("report", "r.json", "--format", form, home=home).stdout.lower(), f"report as {form} does not say so")


def the_share_is_of_the_bound(home):
    """In every format: the achieved rate over that of the roof that bounds the case; without a roof there is none."""
    shares = 0
    for suite, device in [("quick", "h100"), ("memory", "a100"), ("compute", "h100"), ("attention", "h100")]:
        check_run(run("run", suite, "--device", f"sim:{device}", "-o", "r.json", home=home), 0, f"{suite} on {device}")
        rows = {row["id"]: row for row in csv.DictReader(run("report", "r.json", "--format", "csv", home=home).stdout.splitlines())}
        for case in load(home / "r.json")["cases"]:
            roof, what = case["roofline"], f"{suite} on {device}: {case['label']}: {case['roofline']}"
            share, name = roof["fraction_of_ceiling"], roof["ceiling_name"]
            if case["status"] != "ok":
                continue
            check(name in (None, roof["bound"]) and (share is None) == (name is None) == (not roof["ceiling_value"]), what)
            check(share is None or 0 < share < 1.1, what)
            row = rows[case["id"]]
            check(row["bound"] == (roof["bound"] or "") and (row["fraction_of_ceiling"] == "") == (share is None), f"{what}: in CSV {row}")
            if share is None or name == "transcendental":
                continue
            rate = case["throughput"]["bytes_per_s" if roof["bound_is_memory"] else "flops_per_s"]
            check(abs(rate / roof["ceiling_value"] / share - 1) < 1e-6, what)
            shares += 1
    check(shares > 50, f"only {shares} cases have a share")


def only_the_seed_matters(home):
    command = ["run", "stream_copy", "--set", "n=1Mi,4Mi", "--format", "csv", "--device", "sim:mi300x"]
    first = run(*command, "--seed", "1", home=home).stdout
    check(first == run(*command, home=home).stdout, "the seed is 1 without --seed")
    check(first == run(*command, "--keep-order", home=home).stdout, "results do not depend on the order of running")
    check(first == run(*command, "--seed", "2", home=home).stdout, "a prediction has no noise that a seed could change")


def result_files_are_equal(home):
    for name in ("a", "b"):
        (home / name).mkdir()
        check_run(run("run", "stream_copy", "gemm_buffered", "--device", "sim:mi210", "-o", "r.json", home=home, cwd=home / name), 0, name)
    for path in (home / "a").iterdir():
        check(path.read_bytes() == (home / "b" / path.name).read_bytes(), f"two runs with one seed differ in {path.name}")


if __name__ == "__main__":
    main(outputs, every_command_has_its_help, examples_work, predictions_say_so, the_share_is_of_the_bound, only_the_seed_matters, result_files_are_equal)
