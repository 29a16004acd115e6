# SPDX-License-Identifier: MIT
"""Every kernel compiles for NVIDIA GPUs with nvcc, keeps all it has in registers (no stack frame, unless the manifest has the
tag "scratch"). One target at the defaults; with ROOFTILE_TEST_ALL=1 all
of sm_80, sm_90a and sm_100a that nvcc knows, in every dtype. Needs no GPU."""
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import harness  # noqa: E402

TARGETS = ["sm_90a", "sm_80", "sm_100a"]


def read_kernels(all_dtypes):
    """({"f32,f64": [names]} from the manifests' limits; "" for those that have no choice of dtypes, sources that may use a stack)"""
    groups, stacks = {}, set()
    for path in sorted((harness.ROOT / "kernels").glob("*/*.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if "oracle" in manifest.get("tags", []) or "source" not in manifest.get("code", {}):
            continue
        dtypes = manifest.get("limits", {}).get("dtype", []) if all_dtypes else []
        groups.setdefault(",".join(dtypes), []).append(manifest["name"])
        if "scratch" in manifest.get("tags", []):
            stacks.add(pathlib.Path(manifest["code"]["source"]).stem)
    return groups, stacks


def check_objects(objects, target, stacks, home):
    """Registers and stack of every kernel, as `rooftile inspect` reads them. How many kernels there are."""
    done = harness.run("inspect", *sorted(objects), "--json", "-", home=home)
    harness.check_run(done, 0, f"inspect {len(objects)} objects for {target}")
    count = 0
    for file in json.loads(done.stdout)["files"] if done.returncode == 0 else []:
        stem = pathlib.Path(file["path"]).name.rsplit("-", 1)[0]
        for code in file["objects"]:
            harness.check(code["target"] == target, f"{file['path']}: is for {code['target']}, not {target}")
            for kernel in code["kernels"]:
                what = f"{target} {stem} {kernel['name']}"
                harness.check(0 < kernel["registers"]["vgprs"] <= 255, f"{what}: {kernel['registers']['vgprs']} registers")
                harness.check(stem in stacks or kernel["scratch_bytes"] == 0, f"{what}: a stack of {kernel['scratch_bytes']} bytes")
                count += 1
    return count


def check_target(target, groups, stacks, home):
    objects, cache = set(), pathlib.Path(home) / target
    for dtypes, names in groups.items():
        words = ["--set", f"dtype={dtypes}"] if dtypes else []
        done = harness.run("build", *names, "--arch", target, *words, "--jobs", 2, "--cache", cache, "-v", home=home)
        harness.check_run(done, 0, f"build {' '.join(names)} {' '.join(words)} --arch {target}")
        objects |= set(re.findall(r"^ +(\S+\.cubin)$", done.stdout, flags=re.M))
    harness.check(len(objects) > 20, f"{target}: only {len(objects)} code objects")
    print(f"{target}: {len(objects)} code objects, {check_objects(objects, target, stacks, home)} kernels", flush=True)


def main():
    every = bool(os.environ.get("ROOFTILE_TEST_ALL"))
    with harness.scratch() as home:
        done = harness.run("list", "--targets", "--json", "-", home=home)
        harness.check_run(done, 0, "list --targets")
        known = {row["target"] for row in json.loads(done.stdout) if row["compiler"]}
        targets = [target for target in TARGETS if target in known]
        if not targets:
            print("skipped: there is no nvcc that knows one of " + ", ".join(TARGETS))
            return 77
        groups, stacks = read_kernels(every)
        for target in targets if every else targets[:1]:
            check_target(target, groups, stacks, home)
    return harness.finish()


sys.exit(main())
