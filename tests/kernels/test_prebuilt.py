# SPDX-License-Identifier: MIT
"""Kernels are compiled ahead of time: the CMake target `kernels` fills a cache for ROOFTILE_ARCHS, and a machine without any
compiler takes all of it from there, and nothing else. scripts/test has the target compile the code of two suites (ROOFTILE_PREBUILT), with
--all of every kernel."""
import re
import shutil

from objects import harness

KERNELS = ["stream_dot", "softmax_row", "launch_empty"]


def check_cmake_target(home):
    """`cmake --build . --target kernels` of the build folder that the program is from."""
    build = harness.PROGRAM.parent.parent
    cmake = shutil.which("cmake")
    if not cmake or not (build / "CMakeCache.txt").exists():
        return
    found = re.search(r"^ROOFTILE_ARCHS:STRING=(.*)$", (build / "CMakeCache.txt").read_text(), flags=re.M)
    harness.check(found, "ROOFTILE_ARCHS is not an option of CMake")
    made = harness.subprocess.run([cmake, "--build", build, "--target", "kernels"], capture_output=True, text=True,
                                  env=harness.environment(home, **harness.CLANG))
    harness.check(made.returncode == 0, f"the target kernels: {made.stdout[-2000:]}{made.stderr[-2000:]}")
    words = re.search(r"^ROOFTILE_PREBUILT:STRING=(.*)$", (build / "CMakeCache.txt").read_text(), flags=re.M)[1].split(";")
    print(f"compiled ahead: {' '.join(words) or 'every kernel'}")
    done = harness.run("build", *filter(None, words), "--arch", found[1].replace(";", ","), "--cache", build / "kernels-cache", home=home, **harness.CLANG)
    harness.check_run(done, 0, "build after the target kernels")
    tallies = re.findall(r"(\d+) code objects: (\d+) compiled, (\d+) from the cache", done.stdout)
    harness.check(len(tallies) == len(found[1].split(";")), f"not one line per target: {done.stdout}")
    for total, compiled, cached in tallies:
        harness.check(compiled == "0" and cached == total, f"the target kernels had not compiled everything: {done.stdout}")


def check_without_compiler(home, cache):
    bare = home / "bare"
    bare.mkdir()
    words = ["build", *KERNELS, "--arch", "gfx1030", "--set", "wave=32,64"]
    first = harness.run(*words, "--cache", cache, home=home)
    harness.check_run(first, 0, "build with a compiler", stdout=" 0 failed")
    there = harness.run(*words, "--cache", cache, home=bare, PATH="/nowhere")
    harness.check_run(there, 0, "build without a compiler", stdout=[" 0 compiled", " 0 failed", " 0 skipped"])
    harness.check(re.findall(r"^gfx1030: (\d+)", first.stdout) == re.findall(r"^gfx1030: (\d+)", there.stdout),
                  f"not the same code objects: {first.stdout} and {there.stdout}")
    other = harness.run(*words, "--set", "cumode=1", "--cache", cache, home=bare, PATH="/nowhere")
    harness.check_run(other, 1, "build of another mode without a compiler", stdout="no compiler found")
    none = harness.run(*words, "--cache", bare / "empty", home=bare, PATH="/nowhere")
    harness.check_run(none, 1, "build without a compiler and without a cache", stdout="apt install clang")


def everything(home):
    done = harness.run("list", "--targets", "--json", "-", home=home)
    compilers = {row["target"]: row["compiler"] for row in harness.json.loads(done.stdout)["targets"]}
    if not compilers["gfx1030"] or not compilers["gfx942"]:
        harness.skip("no compiler knows gfx1030 and gfx942")
    check_without_compiler(home, home / "cache")
    check_cmake_target(home)


if __name__ == "__main__":
    harness.main(everything)
