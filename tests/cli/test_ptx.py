# SPDX-License-Identifier: MIT
"""NVIDIA without a CUDA toolkit: clang writes PTX where no nvcc is found, a cubin and PTX are never taken for each other, and PTX is
shown as what it is, without numbers that only the driver can know. Needs clang from LLVM 19 on; takes nvcc as well where there is one."""
import json
import os
import pathlib
import re
import shutil
import sys

from harness import check, check_run, finish, run, scratch

TOOLS = [f"{name}-{version}" for version in range(25, 18, -1) for name in ("clang++", "ld.lld")] + ["clang++"]


def clang_only(folder):
    """PATH and CUDA_HOME with which no nvcc is found."""
    folder.mkdir()
    for tool in TOOLS:
        if shutil.which(tool):
            (folder / tool).symlink_to(os.path.realpath(shutil.which(tool)))
    return {"PATH": str(folder), "CUDA_HOME": "/nonexistent"}


def built(done, what):
    """The object of the kernel itself, which is the first."""
    paths = re.findall(r"^ +(/\S+)$", done.stdout, flags=re.M)
    check(paths, f"{what}: no object in\n{done.stdout}{done.stderr}")
    return pathlib.Path(paths[0]) if paths else None


def check_text(ptx, home):
    done = run("inspect", ptx, "--filter", "stream_copy", home=home)
    check_run(done, 0, "inspect of PTX", ["PTX", "sm_90a: ", "the driver's choice, when it compiles this PTX", "stack unknown",
                                          "unknown: it is PTX: registers are the driver's choice", "no disassembly: it is PTX"])
    check("0 per thread" not in done.stdout, f"inspect of PTX tells registers:\n{done.stdout}")
    done = run("inspect", ptx, home=home)
    check(re.search(r"^ +stream_copy +driver +0 +- +- +1024 ", done.stdout, flags=re.M), f"table of PTX:\n{done.stdout}")
    done = run("inspect", ptx, "--json", "-", home=home)
    check_run(done, 0, "inspect of PTX as JSON")
    file = json.loads(done.stdout)["files"][0]
    kernel = next(kernel for kernel in file["objects"][0]["kernels"] if kernel["name"] == "stream_copy")
    check(file["container"] == "PTX" and file["objects"][0]["target"] == "sm_90a", f"container and target: {done.stdout[:600]}")
    check(all(value is None for value in kernel["registers"].values()), f"registers: {kernel['registers']}")
    check(kernel["scratch_bytes"] is None and kernel["lds_bytes"] == 0, "scratch and LDS of PTX")
    check([arg["size_bytes"] for arg in kernel["arguments"]] == [8, 8, 8, 8, 4], f"arguments: {kernel['arguments']}")


def check_fallback(home, alone, clang):
    words = ["build", "stream_copy", "--arch", "sm_90a", "--cache", home / "objects", "-v"]
    ptx = built(run(*words, home=home, **alone), "build with clang")
    if not ptx:
        return
    text = ptx.read_text()
    check(ptx.suffix == ".ptx" and ".target sm_90a" in text and ".version 8.4" in text, f"{ptx}: {text[:300]}")
    check(re.search(r"^\.maxntid +1024", text, flags=re.M), "launch bounds are not in the PTX")
    again = run(*words, home=home, **alone)
    check("cached   stream_copy" in again.stdout and built(again, "again") == ptx, f"the second time:\n{again.stdout}")
    check_text(ptx, home)
    with_all = run(*words, home=home)
    check_run(with_all, 0, "build with every compiler")
    other = built(with_all, "build with every compiler")
    if other and other.suffix == ".cubin":
        check("compiled stream_copy" in with_all.stdout, f"PTX was taken for a cubin:\n{with_all.stdout}")
        own = run(*words, home=home, ROOFTILE_KERNEL_COMPILER=clang)
        check(built(own, "a compiler of one's own").suffix == ".ptx", f"ROOFTILE_KERNEL_COMPILER={clang}:\n{own.stdout}{own.stderr}")


def check_messages(home, alone):
    rows = run("list", "--targets", home=home, **alone)
    check(re.search(r"sm_90a .*CUDA 12\.0, LLVM 19\s+\S.*\(LLVM \d+\), as PTX", rows.stdout), f"list --targets:\n{rows.stdout}")
    empty = home / "empty"
    empty.mkdir()
    done = run("build", "stream_copy", "--arch", "sm_90a", "--cache", home / "none", home=home, PATH=str(empty), CUDA_HOME="/nonexistent")
    check(done.returncode != 0, "built without a compiler")
    check("install CUDA's nvcc and set CUDA_HOME, or clang 19 or later" in done.stdout + done.stderr, f"the hint:\n{done.stdout}{done.stderr}")


def main():
    with scratch() as folder:
        home = pathlib.Path(folder)
        alone = clang_only(home / "path")
        rows = json.loads(run("list", "--targets", "--json", "-", home=home, **alone).stdout)["targets"]
        clang = next((row["compiler"] for row in rows if row["target"] == "sm_90a"), None)
        if not clang:
            print("skipped: no clang from LLVM 19 on")
            return 77
        check_fallback(home, alone, clang)
        check_messages(home, alone)
    return finish()


sys.exit(main())
