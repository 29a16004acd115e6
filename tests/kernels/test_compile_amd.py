# SPDX-License-Identifier: MIT
"""Every kernel compiles for every AMD target at its default parameters, in every dtype that it takes, and keeps all it has in
registers: no spills, no scratch memory. Needs a clang that knows the target, no GPU and no ROCm."""
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import harness  # noqa: E402

TARGETS = ["gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1151", "gfx1200",
           "gfx1201"]
MUST_BE_ZERO = ["private_segment_fixed_size", "sgpr_spill_count", "vgpr_spill_count"]


def find_tool(name):
    """The newest: a tool without a version in its name is often an old one."""
    for suffix in (*(f"-{version}" for version in range(25, 13, -1)), ""):
        if shutil.which(name + suffix):
            return name + suffix
    return None


def knows(compiler, target):
    return harness.subprocess.run([compiler, "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-E", "-x", "c",
                                   "/dev/null"], capture_output=True).returncode == 0


def kernels_by_dtypes():
    """{"f32,f64": [names]} from the manifests' limits; "" for those that have no choice of dtypes."""
    groups = {}
    for path in sorted((harness.ROOT / "kernels").glob("*/*.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if "oracle" not in manifest.get("tags", []):
            dtypes = manifest.get("limits", {}).get("dtype", [])
            groups.setdefault(",".join(dtypes), []).append(manifest["name"])
    return groups


def kernels_of(readelf, path):
    """{kernel: {metadata key: value}} from the code object's notes, which llvm-readelf prints as YAML."""
    notes = harness.subprocess.run([readelf, "--notes", path], capture_output=True, text=True, check=True).stdout
    kernels = {}
    for block in re.split(r"^  - ", notes, flags=re.M)[1:]:
        facts = dict(re.findall(r"^ {4}\.(\w+): +(\S+)$", "    " + block, flags=re.M))
        if "symbol" in facts:
            kernels[facts.get("name", path)] = facts
    return kernels


def check_objects(readelf, cache, target):
    objects = sorted(cache.glob("*.hsaco"))
    harness.check(len(objects) > 0, f"{target}: no code object was written")
    seen = 0
    for path in objects:
        for kernel, facts in kernels_of(readelf, path).items():
            seen += 1
            for key in MUST_BE_ZERO:
                harness.check(facts.get(key) == "0", f"{target} {path.name} {kernel}: {key} is {facts.get(key)}")
    harness.check(seen >= len(objects), f"{target}: {seen} kernels described in {len(objects)} code objects")
    return seen


def main():
    readelf = find_tool("llvm-readelf")
    if not readelf:
        print("skipped: there is no llvm-readelf")
        return 77
    compiler = find_tool("clang++")
    if not compiler:
        print("skipped: there is no clang++")
        return 77
    groups = kernels_by_dtypes()
    harness.check(sum(map(len, groups.values())) > 10, f"only these kernels: {groups}")
    targets = [target for target in TARGETS if knows(compiler, target)]
    if not targets:
        print(f"skipped: {compiler} knows no AMD target")
        return 77
    with harness.scratch() as home:
        for target in targets:
            cache = pathlib.Path(home) / target
            for dtypes, names in groups.items():
                settings = ["--set", f"dtype={dtypes}"] if dtypes else []
                done = harness.run("build", *names, "--arch", target, *settings, "--jobs", 2, "--cache", cache, home=home)
                harness.check_run(done, 0, f"build {' '.join(names)} {' '.join(settings)} --arch {target}")
            print(f"{target}: {check_objects(readelf, cache, target)} kernels", flush=True)
    return harness.finish()


sys.exit(main())
